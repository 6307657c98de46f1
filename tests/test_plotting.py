"""Pictures say what they should: geometry, statistics, labels, errors, styles."""

import base64
import itertools
import json
import re
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import stats

mpl.use("agg")

import matplotlib.pyplot as plt

import wsbnb
from wsbnb import interactive, plotting
from wsbnb.paper import TABLE


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def curves():
    rng = np.random.default_rng(3)
    rows = [
        (policy, trial, t + 1, value)
        for policy in ("WSB-LinTS", "mine")
        for trial in range(7)
        for t, value in enumerate(np.cumsum(rng.random(20)))
    ]
    return pd.DataFrame(rows, columns=["policy", "trial", "round", "regret"])


# ---------------------------------------------------------------- styles


def _linear(color):
    c = np.array(mpl.colors.to_rgb(color))
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def _lab(linear):
    to_xyz = [
        [0.4124, 0.3576, 0.1805],
        [0.2126, 0.7152, 0.0722],
        [0.0193, 0.1192, 0.9505],
    ]
    x = np.array(to_xyz) @ linear / [0.9505, 1.0, 1.089]
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


# Machado, Oliveira & Fernandes (2009), severity 1, on linear RGB.
_EYES = {
    "usual": np.eye(3),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}


@pytest.mark.parametrize("eye", _EYES)
def test_styles_stay_apart_for_colour_blind_readers(eye):
    def seen(color):
        return _lab(np.clip(_EYES[eye] @ _linear(color), 0, 1))

    for one, other in itertools.combinations(plotting.STYLES.values(), 2):
        far = np.linalg.norm(seen(one[0]) - seen(other[0]))
        assert one[1] != other[1] or far > 12, (one, other, far)
    seven = list(plotting.STYLES)[:7]
    for one, other in itertools.combinations(seven, 2):
        pair = [seen(plotting.STYLES[name][0]) for name in (one, other)]
        assert np.linalg.norm(pair[0] - pair[1]) > 8, (one, other)


def test_colours_are_visible_on_white():
    for name, (color, _, _) in plotting.STYLES.items():
        luminance = np.array([0.2126, 0.7152, 0.0722]) @ _linear(color)
        assert 1.05 / (luminance + 0.05) >= 3.0, name


def test_markers_and_line_pairs_are_unique():
    markers = [marker for _, _, marker in plotting.STYLES.values()]
    assert len(set(markers)) == len(markers) == len(TABLE) == 14
    assert len({color for color, _, _ in plotting.STYLES.values()}) == 14


def test_styles_say_what_the_table_of_algorithms_says():
    """Solid: the weighted posterior, and nobody else. One family, one hue."""
    assert list(plotting.STYLES) == list(TABLE)
    for name, row in TABLE.items():
        assert plotting.STYLES[name] == (row.colour, row.line, row.marker)
        assert (row.line == "-") == (row.estimator == "WSB")
    for family, hue in {"randucb": 0.58, "ts": 0.44}.items():
        rows = [r for r in TABLE.values() if r.explores == family and r.in_paper]
        hues = [mpl.colors.rgb_to_hsv(mpl.colors.to_rgb(r.colour))[0] for r in rows]
        assert len(rows) == 2 and np.allclose(hues, hue, atol=0.03)


@pytest.mark.parametrize("name", plotting.STYLES)
def test_style_by_class_name_class_and_instance(name):
    policy = type(name.replace("-", ""), (), {})
    for key in (name.replace("-", ""), policy, policy()):
        assert plotting.policy_style(key) == plotting.policy_style(name)
        assert plotting.policy_name(key) == name


def test_unknown_style_is_the_same_in_another_session():
    code = (
        "from wsbnb.plotting import policy_style\n"
        "print([policy_style(n) for n in ('a', 'b', 'γ = 0.9')])"
    )
    for seed in ("1", "2"):
        out = subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "MPLBACKEND": "agg", "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            check=True,
        )
        here = [plotting.policy_style(n) for n in ("a", "b", "γ = 0.9")]
        assert out.stdout.strip() == str(here)


def test_use_style_sets_and_restores():
    before = dict(mpl.rcParams)
    with plotting.use_style():
        assert mpl.rcParams["axes.spines.top"] is False
        assert mpl.rcParams["figure.facecolor"] == "white"
    assert dict(mpl.rcParams) == before
    style = plotting.use_style()
    assert mpl.rcParams["axes.spines.top"] is False
    style.__exit__()
    assert dict(mpl.rcParams) == before


# ---------------------------------------------------------------- regret curves


def test_regret_curves_draw_mean_and_interval(curves):
    ax = plotting.regret_curves(curves, change_points=(5, 10))
    lines = {line.get_label(): line for line in ax.lines}
    mine = curves[curves.policy == "mine"]
    last = mine[mine["round"] == 20].regret
    assert lines["mine"].get_ydata()[-1] == pytest.approx(last.mean(), rel=1e-12)
    low, high = stats.t.interval(0.95, 6, last.mean(), stats.sem(last))
    band = ax.collections[1].get_paths()[0].vertices
    edge = np.unique(np.round(band[np.isclose(band[:, 0], 20), 1], 9))
    np.testing.assert_allclose([edge.min(), edge.max()], [low, high], rtol=1e-8)
    dashed = [line for line in ax.lines if list(line.get_xdata()) in ([5, 5], [10, 10])]
    assert len(dashed) == 2
    assert "reward units" in ax.get_ylabel() and ax.get_xlabel() == "round"


def test_regret_curves_quantile_band_and_single_trial(curves):
    ax = plotting.regret_curves(curves, band="quantile")
    wsb = curves[(curves.policy == "WSB-LinTS") & (curves["round"] == 20)].regret
    band = ax.collections[0].get_paths()[0].vertices
    edge = band[np.isclose(band[:, 0], 20), 1]
    expected = np.quantile(wsb, [0.1, 0.9])
    np.testing.assert_allclose([edge.min(), edge.max()], expected, rtol=1e-10)
    one = curves[curves.trial == 0]
    assert not plotting.regret_curves(one).collections
    assert not plotting.regret_curves(curves, band=None).collections


def test_regret_curves_use_the_given_axes_and_styles(curves):
    _, ax = plt.subplots()
    ax.set_ylabel("mine")
    back = plotting.regret_curves(curves, ax=ax, styles={"mine": {"color": "#123456"}})
    assert back is ax and ax.get_ylabel() == "mine"
    colors = {line.get_label(): line.get_color() for line in ax.lines}
    assert colors == {"WSB-LinTS": "#00664a", "mine": "#123456"}


def test_tidy_curves_keep_every_number():
    run = np.arange(6.0).reshape(2, 3)
    frame = plotting.tidy_curves({"a": run, "b": 10 + run})
    table = frame[frame.policy == "b"].pivot(
        index="trial", columns="round", values="regret"
    )
    np.testing.assert_array_equal(table.to_numpy(), 10 + run)
    assert list(table.columns) == [1, 2, 3]
    with pytest.raises(ValueError, match=r"runs\['a'\]"):
        plotting.tidy_curves({"a": [1.0, 2.0]})
    with pytest.raises(ValueError, match="runs must map"):
        plotting.tidy_curves({})


def test_regret_curves_refuse_bad_frames(curves):
    with pytest.raises(ValueError, match="missing regret"):
        plotting.regret_curves(curves.drop(columns="regret"))
    with pytest.raises(TypeError, match="DataFrame"):
        plotting.regret_curves([1, 2])
    with pytest.raises(ValueError, match="at least one row"):
        plotting.regret_curves(curves.iloc[:0])
    with pytest.raises(ValueError, match="same rounds"):
        plotting.regret_curves(curves.iloc[1:])
    with pytest.raises(ValueError, match="band"):
        plotting.regret_curves(curves, band="std")
    with pytest.raises(TypeError, match="ax must be"):
        plotting.regret_curves(curves, ax=3)


# ---------------------------------------------------------------- ellipse


@pytest.mark.parametrize("cov", [[[2.0, 0.9], [0.9, 0.7]], np.eye(2), np.diag([1, 9])])
def test_ellipse_points_lie_at_the_radius(cov):
    mean, radius = np.array([0.3, -1.2]), 1.7
    ax = plotting.ellipse(mean, cov, radius=radius, linestyle="--")
    patch = ax.patches[0]
    angle = np.linspace(0, 2 * np.pi, 40)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    points = patch.get_patch_transform().transform(circle)
    away = points - mean
    norm = np.sqrt(np.einsum("ni,ij,nj->n", away, np.linalg.inv(cov), away))
    np.testing.assert_allclose(norm, radius, rtol=1e-10)
    assert ax.get_aspect() == 1.0


def test_ellipse_refuses_bad_input():
    with pytest.raises(ValueError, match="cov"):
        plotting.ellipse([0, 0], [[1, 2], [2, 1]])
    with pytest.raises(ValueError, match="mean"):
        plotting.ellipse([0, 0, 0], np.eye(2))
    with pytest.raises(ValueError, match="radius"):
        plotting.ellipse([0, 0], np.eye(2), radius=0)


# ---------------------------------------------------------------- other pictures


def test_posterior_path_bands_and_truth():
    rounds = np.arange(1, 6)
    mean = np.column_stack([rounds / 5, -rounds / 5])
    std = np.column_stack([1 / rounds, 2 / rounds])
    ax = plotting.posterior_path(rounds, mean, std, truth=np.ones((5, 2)), width=2)
    assert len(ax.lines) == 4 and len(ax.collections) == 2
    band = ax.collections[1].get_paths()[0].vertices
    edge = band[np.isclose(band[:, 0], 5), 1]
    np.testing.assert_allclose([edge.min(), edge.max()], [-1 - 0.8, -1 + 0.8])
    with pytest.raises(ValueError, match="std"):
        plotting.posterior_path(rounds, mean, std[:, :1])
    with pytest.raises(ValueError, match="per round"):
        plotting.posterior_path(rounds[:-1], mean, std)


def test_arm_choices_show_every_pull_and_check_range():
    ax = plotting.arm_choices([1, 2, 3], [0, 4, 2], n_arms=5, best=[1, 1, 2])
    drawn = {line.get_label(): list(line.get_ydata()) for line in ax.lines}
    assert drawn == {"pulled": [0, 4, 2], "best arm": [1, 1, 2]}
    with pytest.raises(ValueError, match="arms must be whole numbers from 0 to 4"):
        plotting.arm_choices([1], [5], n_arms=5)
    with pytest.raises(ValueError, match="best"):
        plotting.arm_choices([1], [0], n_arms=5, best=[0.5])


def test_radius_anatomy_stacks_to_the_total():
    parts = {"drift": [0.0, 1.0], "noise": [2.0, 3.0], "prior": [1.0, 0.5]}
    ax = plotting.radius_anatomy([1, 2], parts)
    top = ax.collections[-1].get_paths()[0].vertices[:, 1].max()
    assert top == pytest.approx(4.5)
    with pytest.raises(ValueError, match="zero or positive"):
        plotting.radius_anatomy([1, 2], {"noise": [1.0, -1.0]})
    with pytest.raises(ValueError, match="per round"):
        plotting.radius_anatomy([1, 2], {"noise": [1.0]})
    with pytest.raises(ValueError, match="parts must map"):
        plotting.radius_anatomy([1, 2], {})


def test_interval_plot_places_and_checks_intervals():
    frame = pd.DataFrame(
        {
            "policy": ["WSBLinTS", "other"],
            "difference": [-3.0, 1.0],
            "low": [-5.0, -1.0],
            "high": [-2.0, 4.0],
        }
    )
    ax = plotting.interval_plot(frame)
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    assert labels == ["WSB-LinTS", "other"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # first row on top
    bars = [c.get_segments()[0][:, 0].tolist() for c in ax.collections]
    assert bars == [[-5.0, -2.0], [-1.0, 4.0]]
    with pytest.raises(ValueError, match="low ≤ difference ≤ high"):
        plotting.interval_plot(frame.assign(low=0.0))
    with pytest.raises(ValueError, match="missing high"):
        plotting.interval_plot(frame.drop(columns="high"))


def test_interval_plot_wants_names():
    """`reset_index` would leave numbers beside the axis."""
    frame = pd.DataFrame({"difference": [1.0], "low": [0.0], "high": [2.0]}, ["mine"])
    [name] = plotting.interval_plot(frame).get_yticklabels()
    assert name.get_text() == "mine"
    with pytest.raises(ValueError, match="name its policies, got numbers such as 0"):
        plotting.interval_plot(frame.reset_index())


def test_adaptive_policies_look_alike_in_every_chapter():
    for long, short in (("Change points", "bank"), ("Discount mixture", "mixture")):
        assert plotting.policy_style(long) == plotting.policy_style(short)
    families = ("bank", "mixture", "surprise", "bandit", "random walk", "MASTER")
    assert len({plotting.policy_style(name)["color"] for name in families}) == 6


def test_words_of_a_table_stand_at_the_left():
    frame = pd.DataFrame({"n": [1.0, 2.0], "why": ["a", "b c"], "range": ["1–2", "3"]})
    html = plotting.styled_table(frame).to_html()
    left = html.partition("</style>")[0]
    assert ".col1 {" in left and ".col0" not in left and ".col2" not in left


def test_styled_table_is_reproducible_and_marks_the_best():
    pytest.importorskip("jinja2")
    frame = pd.DataFrame({"name": ["a", "b"], "regret": [2.345, 1.0]})
    html = plotting.styled_table(frame, caption="C", precision=2, best="min").to_html()
    again = plotting.styled_table(frame, caption="C", precision=2, best="min").to_html()
    assert html == again
    assert "2.35" in html or "2.34" in html
    bold = re.search(r"#(\S+) {\s*font-weight: bold", html).group(1)
    assert re.search(rf'id="{bold}"[^>]*>1\.00<', html)
    with pytest.raises(ValueError, match="best"):
        plotting.styled_table(frame, best="low")
    with pytest.raises(TypeError, match="frame"):
        plotting.styled_table([1])


def test_styled_table_writes_zero_without_sign_and_gaps_as_dashes():
    pytest.importorskip("jinja2")
    values = [-0.04, -0.06, 0.0, np.nan, 12]
    series = pd.Series(values, index=list("abcde"), name="x")
    html = plotting.styled_table(series).to_html()
    shown = re.findall(r"<td[^>]*>(.*?)</td>", html)
    assert shown == ["0.0", "-0.1", "0.0", "–", "12.0"]
    whole = plotting.styled_table(pd.DataFrame({"n": [3, -4], "w": ["a", "b"]}))
    assert re.findall(r"<td[^>]*>(.*?)</td>", whole.to_html()) == ["3", "a", "-4", "b"]
    captions = [plotting.styled_table(series, name).uuid for name in ("one", "two")]
    assert captions[0] != captions[1]  # the same numbers twice on a page


# ---------------------------------------------------------------- sliders


def _payload(widget):
    html = widget._repr_html_()
    text = re.search(r'<script type="application/json">(.*?)</script>', html, re.S)
    return html, json.loads(text.group(1))


def _slider(**options):
    x = np.arange(60.0)
    curves = {f"γ = {g}": {"weight": g**x} for g in (0.8, 0.9, 0.95)}
    return interactive.curve_slider(x, curves, title="Weights", **options)


def test_slider_frames_carry_the_curves():
    html, data = _payload(_slider(start=1, xlabel="age (rounds)"))
    assert data["labels"] == ["γ = 0.8", "γ = 0.9", "γ = 0.95"]
    assert len(data["frames"]) == 3
    # Undo the page coordinates: x and y are affine, the same for every frame.
    x = np.arange(60.0)
    low, high = 0.8**59, 1.0
    low, high = low - 0.04 * (high - low), high + 0.04 * (high - low)
    for discount, frame in zip((0.8, 0.9, 0.95), data["frames"], strict=True):
        points = np.array([p.split(",") for p in frame[0].split()], dtype=float)
        age = (points[:, 0] - 92) / (600 - 92 - 24) * 59
        weight = high - (points[:, 1] - 12) / (360 - 12 - 66) * (high - low)
        np.testing.assert_allclose(age, x, atol=0.01)
        np.testing.assert_allclose(weight, discount**x, atol=3e-4)
    assert data["frames"][1][0] in html.split("<label>")[0]  # drawn without script


def test_slider_is_accessible_offline_and_deterministic():
    html, _ = _payload(_slider(slider_label="discount <γ>", caption="a & b"))
    assert html == _slider(slider_label="discount <γ>", caption="a & b")._repr_html_()
    assert 'type="range"' in html and 'aria-valuetext="γ = 0.8"' in html
    assert 'aria-label="discount &lt;γ&gt;"' in html and "a &amp; b" in html
    assert "http" not in html and " id=" not in html
    assert len(html) < 15_000


def test_sliders_on_one_page_do_not_share_a_key():
    keys = {
        re.search(r'data-wsb="(\w+)"', widget._repr_html_()).group(1)
        for widget in (_slider(), _slider(start=2))
    }
    assert len(keys) == 2


def test_slider_of_figures_and_of_paths():
    figures = []
    for k in (1, 2):
        figure, ax = plt.subplots()
        ax.plot([0, 1], [0, k])
        figures.append(figure)
    html, data = _payload(interactive.slider_figure(figures, ["1", "2"], "Slope"))
    assert data["frames"][0].startswith("data:image/png;base64,")
    assert data["frames"][0] != data["frames"][1] and len(html) < 100_000
    angle = np.linspace(0, 2 * np.pi, 50)
    circles = [{"": (r * np.cos(angle), r * np.sin(angle))} for r in (1, 2)]
    _, data = _payload(
        interactive.slider_figure(circles, ["1", "2"], "Circles", equal=True)
    )
    outer = np.array([p.split(",") for p in data["frames"][1][0].split()], float)
    width, height = np.ptp(outer, axis=0)
    assert width == pytest.approx(height, rel=0.01)


def test_a_view_cuts_lines_and_does_not_bend_them():
    turn = np.linspace(0, 2 * np.pi, 9)
    circle = 5 * np.cos(turn), 5 * np.sin(turn)
    figure = interactive.slider_figure(
        [{"a": circle}], ["1"], "Cut", equal=True, view=((-1, 1), (-1, 1))
    )
    html, data = _payload(figure)
    points = np.array([p.split(",") for p in data["frames"][0][0].split()], float)
    middle = (points.max(axis=0) + points.min(axis=0)) / 2
    radii = np.linalg.norm(points - middle, axis=1)
    np.testing.assert_allclose(radii, radii[0], rtol=1e-3)  # still a circle
    assert radii[0] > 600 and "overflow:hidden" in html
    with pytest.raises(ValueError, match="view must be"):
        interactive.slider_figure([{"a": circle}], ["1"], "t", view=((1, 0), (0, 1)))


def test_parts_of_a_policy_share_its_style_and_stay_out_of_the_legend():
    line = ([0.0, 1.0], [0.0, 1.0])
    names = ["WSB-LinTS", "WSB-LinTS: arm", "mine: arm"]
    frames = [dict.fromkeys(names, line)] * 2
    html, _ = _payload(interactive.slider_figure(frames, ["1", "2"], "Parts"))
    legend, picture = html.split('role="img"')
    strokes = re.findall(r'class="wsb-frame"[^>]*stroke="(#\w+)"', picture)
    color = plotting.policy_style("WSB-LinTS")["color"]
    assert strokes[:2] == [color, color] and strokes[2] != color
    assert ">WSB-LinTS<" in legend and ">mine: arm<" in legend
    assert "WSB-LinTS: arm" not in legend


def test_slider_cannot_end_its_own_script():
    widget = interactive.curve_slider(
        [0, 1], {"</script><b>": [0, 1]}, title="</script>"
    )
    html, data = _payload(widget)
    assert data["labels"] == ["</script><b>"]
    assert html.count("</script>") == 2


def test_slider_refuses_bad_frames():
    line = {"a": ([0, 1], [0, 1])}
    with pytest.raises(ValueError, match="labels"):
        interactive.slider_figure([line], ["1", "2"], "t")
    with pytest.raises(ValueError, match="at least one frame"):
        interactive.slider_figure([], [], "t")
    with pytest.raises(ValueError, match="start"):
        interactive.slider_figure([line], ["1"], "t", start=1)
    with pytest.raises(ValueError, match=r"frames\[1\] must have the lines"):
        interactive.slider_figure([line, {"b": ([0], [0])}], ["1", "2"], "t")
    with pytest.raises(TypeError, match="map line names"):
        interactive.slider_figure([[1, 2]], ["1"], "t")
    with pytest.raises(ValueError, match="length 2"):
        interactive.curve_slider([0, 1], {"1": [1, 2, 3]}, title="t")
    rng = np.random.default_rng(0)
    wild = [{"a": (np.arange(9000), rng.random(9000))} for _ in range(4)]
    with pytest.raises(ValueError, match="300 kB"):
        interactive.slider_figure(wild, list("1234"), "t")


# ---------------------------------------------------------------- in a browser


def test_sliders_work_by_keyboard_in_a_browser(browser, tmp_path):
    """Twice the same widget and a third one on a page: each moves by itself."""
    widgets = (_slider(start=1), _slider(start=1), _slider(start=0))
    page_text = "".join(widget._repr_html_() for widget in widgets)
    page_file = tmp_path / "page.html"
    page_file.write_text(f"<!doctype html><meta charset=utf-8><body>{page_text}")
    page = browser.new_page(viewport={"width": 390, "height": 800})
    errors, requests = [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(page_file.as_uri())
    outputs, inputs = page.locator("output"), page.locator("input")
    assert outputs.all_inner_texts() == ["γ = 0.9", "γ = 0.9", "γ = 0.8"]
    line = page.locator("polyline.wsb-frame")
    before = [line.nth(i).get_attribute("points") for i in range(3)]
    inputs.nth(1).press("ArrowRight")
    after = [line.nth(i).get_attribute("points") for i in range(3)]
    assert outputs.all_inner_texts() == ["γ = 0.9", "γ = 0.95", "γ = 0.8"]
    assert inputs.nth(1).get_attribute("aria-valuetext") == "γ = 0.95"
    moved = [a != b for a, b in zip(before, after, strict=True)]
    assert moved == [False, True, False]
    wide = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    assert wide <= 390 and not errors and len(requests) == 1


def test_pictures_take_what_the_library_returns():
    """Results, paired differences and a posterior, without a conversion."""
    env = wsbnb.paper_environment("abrupt", 2, horizon=60)
    prior = {"prior_mean": [0.0, 0.0], "prior_cov": 1.0, "noise_std": env.noise_std}
    policies = {g: wsbnb.WSBLinTS(**prior, discount=float(g)) for g in ("0.9", "1.0")}
    results = wsbnb.simulate(policies, env, trials=4, progress=False)
    direct = plotting.regret_curves(results)
    by_frame = plotting.regret_curves(results.curves, plt.figure().add_subplot())
    for one, other in zip(direct.lines, by_frame.lines, strict=True):
        np.testing.assert_array_equal(one.get_xydata(), other.get_xydata())
    full = wsbnb.simulate(policies, env, trials=4, points=60, progress=False)
    for paired in (results.paired("1.0"), full.paired("1.0", over="rounds")):
        ax = plotting.interval_plot(paired, plt.figure().add_subplot())
        assert [tick.get_text() for tick in ax.get_yticklabels()] == ["0.9"]
    ax = plotting.marginals(policies["0.9"].posterior, plt.figure().add_subplot())
    assert len(ax.get_yticklabels()) == 2


def test_marginals_show_mean_interval_and_truth():
    prior = {"prior_mean": [1.0, -2.0, 0.5], "prior_cov": [4.0, 1.0, 0.25]}
    post = wsbnb.WSBPosterior(**prior, noise_std=0.5, discount=0.9)
    ax = plotting.marginals(post, truth=[0.0, 1.0, 2.0], width=2.0)
    (bars,) = ax.containers
    np.testing.assert_allclose(bars[0].get_xdata(), [1.0, -2.0, 0.5])
    ends = np.array([segment[:, 0] for segment in bars[2][0].get_segments()])
    np.testing.assert_allclose(ends, [[-3.0, 5.0], [-4.0, 0.0], [-0.5, 1.5]])
    np.testing.assert_allclose(ax.lines[-1].get_xdata(), [0.0, 1.0, 2.0])
    given = plt.figure().add_subplot()
    assert plotting.marginals(post, given) is given
    with pytest.raises(ValueError, match="names must have one label per coordinate"):
        plotting.marginals(post, names=["a"])


# --- what a notebook shows ------------------------------------------------------------

NOTEBOOK = """
import matplotlib.pyplot as plt
import numpy as np
from wsbnb import plotting
plotting.use_style()
---
fig, ax = plt.subplots()
ax.plot([1, 3, 2]);
---
fig, ax = plt.subplots()
ax.scatter(*np.random.default_rng(0).random((2, 9000)));
"""


def outputs_of(cells):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    new = nbformat.v4.new_code_cell
    notebook = nbformat.v4.new_notebook(cells=[new(code) for code in cells])
    nbclient.NotebookClient(notebook, kernel_name="python3").execute()
    return [cell.outputs[0] if cell.outputs else None for cell in notebook.cells]


def test_figures_are_drawings_unless_they_are_large():
    _, small, large = outputs_of(NOTEBOOK.split("---"))
    assert small.data["image/svg+xml"].lstrip().startswith("<?xml")
    assert len(small.data["image/svg+xml"]) <= plotting.LARGEST_DRAWING
    assert "image/svg+xml" not in large.data
    pixels = base64.b64decode(large.data["image/png"])
    width = int.from_bytes(pixels[16:20], "big")  # of the picture itself
    assert width == pytest.approx(2 * large.metadata["image/png"]["width"], abs=2)
    assert pixels[25] == 3  # a palette: a third of the bytes


def test_a_figure_has_the_same_bytes_again():
    def drawing():
        with plotting.use_style():
            fig, ax = plt.subplots()
            ax.plot([1, 3, 2], label="a")
            ax.legend()
            text = plotting._drawing(fig)
            plt.close(fig)
        return text

    assert drawing() == drawing()


@pytest.mark.parametrize("value", [3, 0.25, -1e-12, "a word"])
def test_glue_is_that_of_myst_nb(value, monkeypatch):
    theirs = pytest.importorskip("myst_nb", reason="needs what builds the book")
    from IPython.core import displaypub

    seen = []
    monkeypatch.setattr(
        displaypub.DisplayPublisher,
        "publish",
        lambda self, data, metadata=None, **rest: seen.append((data, metadata)),
    )
    from IPython.core.interactiveshell import InteractiveShell

    InteractiveShell.instance()
    try:
        interactive.glue("name", value)
        theirs.glue("name", value, display=False)
    finally:
        InteractiveShell.clear_instance()
    ours, theirs = ((data, metadata) for data, metadata in seen)
    assert ours == theirs


def test_glue_wants_a_name():
    with pytest.raises(TypeError, match="name must be a string, got 3"):
        interactive.glue(3, "name")
