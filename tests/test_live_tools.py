"""How the page's module is made: the format, what is refused, which page gets it."""

import pathlib
import platform
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools" / "live")]
import sphinx_live  # noqa: E402
import wasm  # noqa: E402


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 2**32 - 1])
def test_numbers_are_written_and_read(number):
    written = wasm.uleb(number)
    assert wasm.read_uleb(b"x" + written + b"y", 1) == (number, 1 + len(written))


def imports(*names):
    entries = [b"\x03env" + wasm._word(name) + b"\0\0" for name in names]
    return wasm.uleb(len(entries)) + b"".join(entries)


def test_a_module_that_no_page_can_serve_is_refused():
    wasm.check_imports(b"")
    wasm.check_imports(imports("log1p", "pow"))
    with pytest.raises(ValueError, match="NRT_Allocate"):
        wasm.check_imports(imports("log", "NRT_Allocate"))


def test_exports_are_put_before_the_code():
    header = b"\0asm\1\0\0\0"
    symbol = b"\x00\x00\x02" + wasm._word("play")  # a function, number 2
    table = b"\x08" + wasm.uleb(1 + len(symbol)) + b"\x01" + symbol
    linking = wasm._word("linking") + b"\x02" + table
    parts = [(2, imports("log")), (3, b"\x01\x00"), (10, b"code"), (0, linking)]
    binary = header + b"".join(
        bytes([n]) + wasm.uleb(len(part)) + part for n, part in parts
    )
    made = list(wasm.sections(wasm.with_exports(binary, ["play"])))
    assert [number for number, _ in made] == [2, 3, 7, 10]
    assert dict(made)[7] == b"\x01\x04play\x00\x02"


def test_the_machine_must_be_forgotten_before_numba_wakes(tmp_path):
    import numba  # noqa: F401

    with pytest.raises(RuntimeError, match="process of its own"):
        wasm.compiled_alone(tmp_path)


def test_the_kept_module_is_of_these_sources():
    """Says no when a kernel has changed; the book then compiles for itself."""
    fresh = sphinx_live.is_made_of(sphinx_live.KEPT, sphinx_live.stamp())
    assert fresh, "run `make live` and commit tools/live/kept"


@pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"),
    reason="the bytes of the repository were made on Linux, x86_64",
)
def test_the_same_sources_give_the_same_bytes(tmp_path):
    sphinx_live.compile_into(tmp_path, sphinx_live.stamp())
    made, kept = map(sphinx_live.module_in, (tmp_path, sphinx_live.KEPT))
    assert made == kept, "run `make live` and commit tools/live/kept"


def test_the_stamp_follows_the_kernels_that_are_used():
    used = {pathlib.Path(path).stem for path in sphinx_live.kernels()}
    assert used == {"compiling", "estimate", "explore", "linear", "rounds", "vectors"}


def test_another_stamp_is_not_taken(tmp_path):
    assert not sphinx_live.is_made_of(tmp_path, "abc")
    (tmp_path / sphinx_live.CARRIER).write_text("/* abc */\n")
    assert sphinx_live.is_made_of(tmp_path, "abc")
    assert not sphinx_live.is_made_of(tmp_path, "ab")


class App:
    def __init__(self):
        self.files = []

    def add_js_file(self, name, **options):
        self.files.append(name)

    add_css_file = add_js_file


@pytest.mark.parametrize(
    "body, arena, count",
    [
        ("<p>nothing</p>", False, 0),
        ('<div class="wsbnb-live" data-live="knob"></div>', False, 5),
        ('<div class="wsbnb-live" data-live="arena"></div>', True, 6),
    ],
)
def test_only_live_pages_carry_the_scripts(body, arena, count):
    app = App()
    sphinx_live.add_scripts(app, "page", "page.html", {"body": body}, None)
    assert len(app.files) == count and ("live/arena.js" in app.files) == arena
    assets = ROOT / "book" / "_assets"
    for name in app.files:
        assert name == "live-wasm.js" or (assets / name).is_file()


TRACK = (
    '<div class="wsbnb-live" data-live="track" data-path="flip" data-noise="0.7"\n'
    ' data-title="A &amp; B">\n<p>This picture is live.</p>\n</div>'
)


@pytest.mark.parametrize(
    "element, words",
    [
        (TRACK, "A &amp; B"),
        (TRACK.replace("flip", "turn"), "θ₂ (reward units)"),
        (TRACK.replace("track", "posterior"), "prior, 95 %"),
        (TRACK.replace("track", "speed"), "kB"),
    ],
)
def test_a_still_picture_stays_where_nothing_is_live(element, words):
    made = sphinx_live.with_stills(f"<p>a</p>{element}<p>b</p>")
    assert words in made and made.count("This picture is live.") == 1
    assert ("<svg" in made) == ("kB" not in words)
    assert made.startswith("<p>a</p><div") and made.endswith("</div><p>b</p>")


def test_an_element_with_a_picture_of_its_own_is_left_alone():
    own = '<div class="wsbnb-live" data-live="draw"><figure></figure></div>'
    assert sphinx_live.with_stills(own) == own
    other = TRACK.replace("track", "arena")  # its page has a still picture
    assert sphinx_live.with_stills(other) == other
