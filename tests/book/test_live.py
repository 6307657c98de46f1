"""The kernels in the page: a real browser plays them, and the library agrees."""

import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import wsbnb
from tests import live_cases, zoo
from tests.book import browser as look
from wsbnb import interactive
from wsbnb.weights import Exponential, Restart, SlidingWindow

ROOT = pathlib.Path(__file__).resolve().parents[2]
ASSETS = ROOT / "book" / "_assets"
sys.path.insert(0, str(ROOT / "tools"))
import sphinx_live  # noqa: E402

WIDGETS = """
<div class="wsbnb-live" data-live="{}" data-policies="WSBLinTS DLinTS"
 data-knobs="discount scale noise" data-world="still" data-question="How many times?"
 data-pair="WSBLinTS:0.9:1 WSBLinTS:1:1" data-rounds="500" data-path="turn"
 data-noise="0.39" data-title="A title"><p>still</p></div>"""
KINDS = ["arena", "posterior", "learner", "knob", "speed", "guess", "draw", "track"]
READY = "[data-live={}][data-ready]"


def curve():
    """A question whose answer is a falling line."""
    x = np.arange(0.0, 101.0)
    return interactive.drawn_guess(
        x,
        {"answer": 100 - x},
        "Draw it & see",
        "It falls.",
        "round",
        "value",
        given={"flat": np.full(x.size, 100.0)},
    )._repr_html_()


def page(kind):
    body = curve() if kind == "draw" else WIDGETS.format(kind)
    scripts = [*sphinx_live.SCRIPTS, "live/arena.js"]
    tags = "".join(f'<script defer src="{name}"></script>' for name in scripts)
    return (
        '<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>live</title>'
        '<link rel="icon" href="data:,"><link rel="stylesheet" href="live/live.css">'
        f"{tags}</head><body><main><h1>Live</h1>{body}</main></body></html>"
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
        ({"noise": None}, "noise must be 150 numbers, got null"),
        ({"noise": ["a"] * 150}, "noise must be finite numbers"),
        ({"expected": None}, "expected must be T rows of K numbers, got null"),
        ({"expected": [[0.0] * 3] * 150}, "expected[0] must be 4 numbers"),
        ({"expected": [[0.0] * 4] * 149 + [None]}, "expected[149] must be 4 numbers"),
        ({"arms": []}, "arms must be K rows of d numbers"),
        ({"arms": [[1.0, 2.0]]}, "arms[0] must be 3 numbers"),
        ({"arms": 3}, "arms must be K rows of d numbers"),
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


@pytest.mark.parametrize(
    "policy, settings, words",
    [
        ("DLinTS", {"dim": 2.5}, "dim must be a whole number, got 2.5"),
        ("SWLinUCB", {"dim": 2, "length": 0}, "length must be a number between 1"),
        ("SWLinUCB", {"dim": 2, "length": 7.5}, "length must be a whole number"),
        ("RestartLinUCB", {"dim": 2, "period": "9"}, "period must be a number"),
        ("DLinUCB", {"dim": 2, "split": "horizon"}, "horizon must be given"),
        ("DRandLinUCB", {"dim": 2, "perturbation": "t"}, "perturbation must be one of"),
    ],
)
def test_wrong_settings_are_refused(policy, settings, words, tab):
    usual = {"regularization": 1.0, "noise_std": 1.0}
    if policy.startswith("D"):
        usual["discount"] = 0.9
    order = {"policy": policy, "settings": usual | settings, "arms": [[1, 0]]}
    order |= {"expected": [[1.0]], "noise": [0.0], "normals": [[0.0, 0.0]]}
    said = tab.evaluate(
        "order => { try { wsbnb.play(order); return 'no' } catch (e) "
        "{ return e.message } }",
        order,
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


def waits_for_words(tab, words, which=0):
    """What is said at last; it comes a quarter of a second later, or when it can."""
    tab.wait_for_function(
        "([words, which]) => document.querySelectorAll('.wl-said')[which]"
        ".textContent.includes(words)",
        arg=[words, which],
    )
    return tab.locator(".wl-said").nth(which).inner_text()


def waits_for_other_words(tab, words):
    tab.wait_for_function(
        "words => document.querySelector('.wl-said').textContent !== words", arg=words
    )
    return tab.locator(".wl-said").inner_text()


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
        rounds = tab.get_by_role("slider", name="round", exact=True)
        tab.get_by_role("button", name="one round on").click()
        waits_for_words(tab, "Round 12:", 1)
        rounds.press("ArrowLeft")
        waits_for_words(tab, "Round 11:", 1)
        tab.get_by_role("button", name="play", exact=True).click()
        tab.wait_for_function(
            "slider => Number(slider.value) > 10", arg=rounds.element_handle()
        )
        tab.get_by_role("button", name="pause").click()
        waits_for_words(tab, f"Round {int(rounds.input_value()) + 1}:", 1)


def test_arena_in_python_makes_the_same_comparison(browser, served):
    """The copied code runs, and both means agree within their errors."""
    address = "#T=500&trials=40&p=WSBLinTS~0.98~1!DLinUCB~0.98~0.15!Uniform~1~1"
    with look.Visit(browser, served, f"arena.html{address}") as visit:
        wait_for_comparison(visit.tab, 1)
        said = waits_for_words(visit.tab, "mean of 40 trials")
        code = visit.tab.locator("pre").text_content()
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


EVERYBODY = [
    "WSBLinUCB WSBRandLinUCB WSBLinTS DLinUCB LBWeightUCB DRandLinUCB".split(),
    "DLinTS LinUCB SWLinUCB RestartLinUCB LinTS Greedy".split(),
]
#: Rules that do not follow the discount, or as a number of rounds.
RULES = {"LinUCB": Exponential(1.0), "LinTS": Exponential(1.0)}
RULES |= {"SWLinUCB": SlidingWindow(20), "RestartLinUCB": Restart(20)}


def test_copied_code_knows_every_policy(browser, served):
    """Its classes and settings are the library's, with all numbers other than 1."""
    for names in EVERYBODY:
        rows = "!".join(f"{name}~0.95~0.4" for name in names)
        address = f"#T=100&trials=2&d=3&mean=0.5&cov=0.3&w=walk&arms=redrawn&p={rows}"
        with look.Visit(browser, served, f"arena.html{address}") as visit:
            wait_for_comparison(visit.tab, 1)
            code = visit.tab.locator("pre").text_content()
        made = {}
        with wsbnb.outside_on_purpose():
            exec(code.split("results =")[0], made)  # the simulation is tested above
        policies = list(made["policies"].values())
        assert [type(policy).__name__ for policy in policies] == names
        assert made["environment"].dim == 3 and made["environment"].horizon == 100
        for name, policy in zip(names, policies, strict=True):
            assert policy.posterior.forgetting == RULES.get(name, Exponential(0.95))
            assert np.isclose(policy.noise_std, 0.15**0.5)
            if name.startswith("WSB"):
                assert policy.posterior.prior_mean.tolist() == [0.5, 0.0, 0.0]
                np.testing.assert_allclose(policy.posterior.prior_cov, 0.3 * np.eye(3))


def test_arena_can_be_stopped(browser, served):
    address = "#T=20000&trials=400&d=16&p=WSBLinUCB~0.98~1!DLinUCB~0.98~1"
    with look.Visit(browser, served, f"arena.html{address}") as visit:
        tab = visit.tab
        tab.get_by_role("progressbar", name="trials done").wait_for()
        tab.get_by_role("button", name="stop").click()
        tab.wait_for_function(
            "() => document.querySelector('.wl-said').textContent === 'Stopped.'"
        )
        assert not tab.get_by_role("progressbar", name="trials done").is_visible()


def test_presets_ask_a_question_until_something_is_changed(browser, served):
    with look.Visit(browser, served, "arena.html") as visit:
        tab = visit.tab
        preset = tab.get_by_role("button", name="Nothing moves")
        preset.click()
        assert "nothing to forget" in tab.locator(".wl-story").inner_text()
        assert preset.get_attribute("aria-pressed") == "true"
        assert "w=still" in tab.evaluate("location.hash")
        tab.get_by_label("seed").fill("5")
        tab.get_by_label("seed").press("Enter")
        assert tab.locator(".wl-story").inner_text() == ""
        tab.go_back()
        assert "nothing to forget" in tab.locator(".wl-story").inner_text()


def test_a_curve_is_drawn_before_the_answer(browser, served):
    with look.Visit(browser, served, "draw.html") as visit:
        tab = visit.tab
        show = tab.get_by_role("button", name="show the answer")
        show.click()
        waits_for_words(tab, "Draw your curve first")
        assert tab.locator("path[stroke='#0b4f9e']").count() == 0
        box = tab.locator(".wl-sketch").bounding_box()
        tab.mouse.move(box["x"] + 1, box["y"] + box["height"] * (1 - 1 / 1.15))
        tab.mouse.down()
        edge = box["x"] + box["width"] - 1, box["y"] + box["height"] - 1
        tab.mouse.move(*edge)  # one stroke, the right line
        tab.mouse.up()
        show.click()
        said = waits_for_words(tab, "on average")
        assert said.endswith("It falls.")
        assert float(said.split("off by ")[1].split()[0]) < 3
        assert tab.locator("path[stroke='#0b4f9e']").count() == 1
        tab.get_by_role("button", name="draw again").click()
        assert tab.locator("path[stroke='#0b4f9e']").count() == 0


def test_a_curve_is_drawn_with_keys_and_said(browser, served):
    with look.Visit(browser, served, "draw.html") as visit:
        tab = visit.tab
        hand = tab.get_by_role("slider", name="your curve")
        hand.focus()
        for key in ["PageUp", "PageUp", "End", "ArrowDown", "ArrowDown"]:
            hand.press(key)
        # two times five fortieths of 115 at the left, two fortieths less at the right
        assert hand.get_attribute("aria-valuetext") == "at 100: 23"
        hand.press("Home")
        assert hand.get_attribute("aria-valuetext") == "at 0: 28.7"
        tab.get_by_role("button", name="show the answer").click()
        waits_for_words(tab, "You were off by")


def test_an_estimate_follows_and_shakes_as_noise_says(browser, served):
    with look.Visit(browser, served, "track.html") as visit:
        tab = visit.tab
        said = waits_for_words(tab, "away")
        first = float(said.split("is ")[1].split()[0])
        noise = tab.get_by_role("slider", name="noise σ")
        noise.press("Home")  # none at all: only the lag is left
        assert noise.get_attribute("aria-valuetext") == "0"
        said = waits_for_other_words(tab, said)
        second = float(said.split("is ")[1].split()[0])
    # a memory of 20 rounds at a turn of 1.5 π in 900 rounds lags by 0.1
    assert second < first and 0.07 < second < 0.13


def test_the_prior_can_be_stretched_and_turned(browser, served):
    with look.Visit(browser, served, "posterior.html") as visit:
        tab = visit.tab
        axis = tab.get_by_role("slider", name="first axis of the prior")
        before = axis.get_attribute("aria-valuetext")
        outline = tab.locator("path[stroke='#6c6c6c']").first
        drawn = outline.get_attribute("d")
        axis.press("ArrowUp")
        waits_for_words(tab, "You turned or stretched the prior")
        assert axis.get_attribute("aria-valuetext") != before
        assert outline.get_attribute("d") != drawn


def test_the_learner_gets_an_answer(browser, served):
    with look.Visit(browser, served, "learner.html") as visit:
        tab = visit.tab
        arm = tab.get_by_role("button", name="arm 1")
        arm.wait_for()
        for _ in range(60):
            arm.click()
        tab.get_by_label("Predict").fill("40")
        tab.get_by_role("button", name="show me").click()
        assert "You guessed 40" in waits_for_words(tab, "Your regret is")


def test_the_answer_comes_after_the_guess(browser, served):
    with look.Visit(browser, served, "guess.html") as visit:
        tab = visit.tab
        press = tab.get_by_role("button", name="play it")
        press.click()
        waits_for_words(tab, "Type a number first")
        tab.get_by_label("How many times?").fill("3")
        press.click()
        said = waits_for_words(tab, "You guessed 3")
        ratio = float(said.split("It is ")[1].split(":")[0])
    assert ratio > 2  # forgetting costs where nothing moves


def test_silence_leads_back_to_the_prior(browser, served):
    with look.Visit(browser, served, "posterior.html") as visit:
        tab = visit.tab
        tab.wait_for_selector(READY.format("posterior"))
        before = waits_for_words(tab, ".")
        tab.get_by_role("button", name="observe arm 1").press("Enter")
        assert "(-0.40, 0.20)" not in waits_for_other_words(tab, before)
        for _ in range(12):
            tab.get_by_role("button", name="let 10 rounds pass").click()
        waits_for_words(tab, "(-0.40, 0.20)")


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
