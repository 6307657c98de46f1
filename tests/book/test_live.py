"""The kernels in the page: a real browser plays them, and the library agrees."""

import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

from tests import live_cases, zoo
from tests.book import browser as look
from wsbnb import interactive

ROOT = pathlib.Path(__file__).resolve().parents[2]
ASSETS = ROOT / "book" / "_assets"
sys.path.insert(0, str(ROOT / "tools"))
import sphinx_live  # noqa: E402

WIDGETS = """
<div class="wsbnb-live" data-live="{}" data-policies="WSBLinTS DLinTS"
 data-knobs="discount scale noise" data-world="still" data-question="How many times?"
 data-pair="WSBLinTS:0.9:1 WSBLinTS:1:1" data-rounds="500"><p>still</p></div>"""
KINDS = ["arena", "posterior", "learner", "knob", "speed", "guess"]
READY = "[data-live={}][data-ready]"


def page(kind):
    scripts = [*sphinx_live.SCRIPTS, "live/arena.js"]
    tags = "".join(f'<script defer src="{name}"></script>' for name in scripts)
    return (
        '<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>live</title>'
        '<link rel="icon" href="data:,"><link rel="stylesheet" href="live/live.css">'
        f"{tags}</head><body><main><h1>Live</h1>{WIDGETS.format(kind)}</main></body></html>"
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Small pages with one widget each, and the module as the book gets it."""
    folder = tmp_path_factory.mktemp("live")
    shutil.copytree(ASSETS / "live", folder / "live")
    shutil.copy(sphinx_live.compiled() / "live-wasm.js", folder)
    for kind in KINDS:
        (folder / f"{kind}.html").write_text(page(kind), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def served(folder):
    with look.Site(folder) as site:
        yield site.url


@pytest.fixture(scope="module")
def tab(browser, served):
    with look.Visit(browser, served, "speed.html") as visit:
        assert visit.tab.evaluate("() => wsbnb.ready") is True
        yield visit.tab


@pytest.mark.parametrize("name", zoo.LINEAR)
def test_page_plays_the_arms_of_the_library(name, tab):
    for seed, shape in enumerate([{}, {}, {"d": 1}, {"K": 1}, {"d": 16, "K": 48}]):
        policy, order = live_cases.game(name, seed, **shape)
        chosen, mean, precision = live_cases.answer(policy, order)
        got = tab.evaluate("order => wsbnb.play(order)", live_cases.plain(order))
        assert set(got) == {"chosen", "mean", "precision"}
        assert got["chosen"] == chosen.tolist()
        np.testing.assert_allclose(got["mean"], mean, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(got["precision"], precision, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"policy": "Oracle"}, "policy must be one of"),
        ({"settings": {"gamma": 0.9}}, "settings must be among"),
        ({"settings": {"discount": 2.0}}, "discount must be a number"),
        ({"settings": {"prior_cov": -1.0}}, "prior_cov must be positive definite"),
        ({"settings": {"prior_cov": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}}, "symmetric"),
        (
            {"settings": {"prior_cov": [1.0, 2.0]}},
            "must be a number, 3 numbers",
        ),
        ({"settings": {"noise_std": None}}, "noise_std must be given"),
        ({"noise": [0.0]}, "noise must be 150 numbers"),
        ({"normals": [[0.0]]}, "normals must be 150 rows"),
    ],
)
def test_wrong_orders_are_refused(change, words, tab):
    order = live_cases.plain(live_cases.game("WSBLinTS", 0, d=3, K=4)[1])
    change = {**change, "settings": {**order["settings"], **change.get("settings", {})}}
    said = tab.evaluate(
        "order => { try { wsbnb.play(order); return 'no' } catch (e) "
        "{ return e.message } }",
        {**order, **change},
    )
    assert words in said


@pytest.mark.parametrize("over", ["http", "file"])
@pytest.mark.parametrize("kind", KINDS)
def test_widget_works(kind, over, browser, served, folder):
    base = served if over == "http" else folder.as_uri()
    with look.Visit(browser, base, f"{kind}.html") as visit:
        visit.tab.wait_for_selector(READY.format(kind))
        visit.tab.wait_for_function(
            "() => [...document.querySelectorAll('.wl-said')].some(p => p.textContent)"
        )
        complaints = [*look.script_errors(visit), *look.requests_outside(visit)]
        if over == "http":
            complaints += [
                *look.accessibility(visit),
                *look.poor_contrast(visit, "light"),
                *look.horizontal_overflow(visit),
            ]
    assert not complaints, "\n".join(complaints)


def wait_for_comparison(tab, number):
    tab.wait_for_function(
        f"() => Number(document.querySelector('[data-live]').dataset.done) >= {number}",
        timeout=120_000,
    )


SMALL = "#T=500&trials=5&p=WSBLinTS~0.98~1!WSBLinUCB~0.98~0.15"


def test_arena_keeps_its_state_in_the_address(browser, served):
    with look.Visit(browser, served, f"arena.html{SMALL}") as visit:
        tab = visit.tab
        wait_for_comparison(tab, 1)
        assert tab.locator(".wl-policy").count() == 2
        tab.get_by_role("button", name="add a policy").click()
        wait_for_comparison(tab, 2)
        assert "WSBLinTS~0.95~1" in tab.evaluate("decodeURIComponent(location.hash)")
        tab.go_back()
        wait_for_comparison(tab, 3)
        assert tab.locator(".wl-policy").count() == 2
        assert not list(look.script_errors(visit))


def test_arena_steps_plays_and_scrubs(browser, served):
    with look.Visit(browser, served, f"arena.html{SMALL}&t=10") as visit:
        tab = visit.tab
        wait_for_comparison(tab, 1)
        said = tab.locator(".wl-said").nth(1)
        tab.get_by_role("button", name="one round on").click()
        tab.wait_for_timeout(400)
        assert said.inner_text().startswith("Round 12:")
        tab.get_by_role("slider", name="round", exact=True).press("ArrowLeft")
        tab.wait_for_timeout(400)
        assert said.inner_text().startswith("Round 11:")
        tab.get_by_role("button", name="play", exact=True).click()
        tab.wait_for_timeout(700)
        tab.get_by_role("button", name="pause").click()
        tab.wait_for_timeout(400)
        assert int(said.inner_text().split()[1].rstrip(":")) > 11


def test_arena_in_python_makes_the_same_comparison(browser, served):
    """The copied code runs, and both means agree within their errors."""
    address = "#T=500&trials=40&p=WSBLinTS~0.98~1!DLinUCB~0.98~0.15!Uniform~1~1"
    with look.Visit(browser, served, f"arena.html{address}") as visit:
        wait_for_comparison(visit.tab, 1)
        visit.tab.wait_for_timeout(400)
        code = visit.tab.locator("pre").text_content()
        said = visit.tab.locator(".wl-said").first.inner_text()
    code = code.replace("print(results", "import json\nprint(results") + (
        "print(json.dumps({k: list(results.summary().loc[k, ['mean', 'se']])"
        " for k in policies}))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT
    )
    assert ran.returncode == 0, ran.stderr
    for label, (mean, error) in json.loads(ran.stdout.splitlines()[-1]).items():
        words = said.split(f"{label} ")[1].split()
        here, two_errors = float(words[0]), float(words[2].rstrip(",."))
        gap = np.hypot(two_errors / 2, error)
        assert abs(here - mean) < 5 * gap + 1, label


def test_the_learner_gets_an_answer(browser, served):
    with look.Visit(browser, served, "learner.html") as visit:
        tab = visit.tab
        arm = tab.get_by_role("button", name="arm 1")
        arm.wait_for()
        for _ in range(60):
            arm.click()
        tab.get_by_label("Predict").fill("40")
        tab.get_by_role("button", name="show me").click()
        tab.wait_for_timeout(500)
        text = tab.locator(".wl-said").inner_text()
    assert "Your regret is" in text and "You guessed 40" in text


def test_the_answer_comes_after_the_guess(browser, served):
    with look.Visit(browser, served, "guess.html") as visit:
        tab = visit.tab
        press = tab.get_by_role("button", name="play it")
        press.click()
        said = tab.locator(".wl-said")
        tab.wait_for_timeout(400)
        assert said.inner_text().startswith("Type a number first")
        tab.get_by_label("How many times?").fill("3")
        press.click()
        tab.wait_for_function(
            "() => document.querySelector('.wl-said').textContent.startsWith('You')"
        )
        ratio = float(said.inner_text().split("It is ")[1].split(":")[0])
    assert ratio > 2  # forgetting costs where nothing moves


def test_silence_leads_back_to_the_prior(browser, served):
    with look.Visit(browser, served, "posterior.html") as visit:
        tab = visit.tab
        tab.wait_for_selector(READY.format("posterior"))
        said = tab.locator(".wl-said")
        tab.get_by_role("button", name="observe arm 1").press("Enter")
        tab.wait_for_timeout(400)
        after_one = said.inner_text()
        for _ in range(12):
            tab.get_by_role("button", name="let 10 rounds pass").click()
        tab.wait_for_timeout(400)
        assert "(-0.40, 0.20)" not in after_one
        assert "(-0.40, 0.20)" in said.inner_text()


def test_all_of_it_stays_small():
    """At most 150 kB on a page for everything live."""
    own = sum(file.stat().st_size for file in (ASSETS / "live").iterdir())
    carried = (sphinx_live.compiled() / "live-wasm.js").stat().st_size
    assert own + carried < 150_000


def test_a_cut_picture_stays_true_to_its_axes(browser, tmp_path):
    """A unit circle is two units wide and around 0, whatever leaves the view."""
    turn = np.linspace(0, 2 * np.pi, 49)
    unit = np.cos(turn), np.sin(turn)
    figure = interactive.slider_figure(
        [{"unit": unit, "huge": (9 * unit[0], 9 * unit[1])}],
        ["1"],
        "Cut",
        equal=True,
        view=((-2, 2), (-1.25, 1.45)),
    )
    text = f"<!doctype html><meta charset='utf-8'>{figure._repr_html_()}"
    (tmp_path / "cut.html").write_text(text, encoding="utf-8")
    with look.Visit(browser, tmp_path.as_uri(), "cut.html") as visit:
        box = visit.tab.locator("polyline.wsb-frame").first.bounding_box()
        ticks = {
            word: visit.tab.get_by_text(word, exact=True).first.bounding_box()
            for word in ("0", "2")
        }
    centre = {word: tick["x"] + tick["width"] / 2 for word, tick in ticks.items()}
    assert abs(box["x"] + box["width"] / 2 - centre["0"]) < 2
    assert abs(box["width"] - (centre["2"] - centre["0"])) < 3
