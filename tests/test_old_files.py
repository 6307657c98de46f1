"""Files that version 1 has written are still read.

`tests/fixtures/version1` was made by the last code that wrote version 1: every policy
was played for twelve rounds in two dimensions and saved. `expected.json` holds what
that code said of it then, and how it played the next eighteen rounds.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import wsbnb

FOLDER = Path(__file__).parent / "fixtures" / "version1"
SAID = json.loads((FOLDER / "expected.json").read_text())
X, REWARDS = np.array(SAID["X"]), np.array(SAID["rewards"])
NAMES = sorted(SAID["policies"])
LINEAR = [name for name in NAMES if "radius_times_width" in SAID["policies"][name]]
ADAPTIVE = [name for name in NAMES if name.startswith(("Disc", "Band", "Surp"))]
#: These draw other numbers than they did, or in another order.
OTHER_DRAWS = ["Uniform", *(name for name in ADAPTIVE if "Surprise" not in name)]


def load(name):
    return wsbnb.load(FOLDER / f"{name}.json"), SAID["policies"][name]


def play(policy):
    chosen = []
    for arms, paid in zip(X, REWARDS, strict=True):
        k = policy.pull(arms)
        policy.update(arms[k], paid[k])
        chosen.append(k)
    return chosen


#: Policies that came after version 1.
YOUNGER = {"ChangePoints", "LogisticTS", "LogisticUCB", "RandomWalkLinTS"}


def test_every_class_is_there():
    classes = {json.loads(path.read_text()).get("class") for path in FOLDER.iterdir()}
    named = [name for name in wsbnb.__all__ if isinstance(getattr(wsbnb, name), type)]
    policies = {
        name for name in named if issubclass(getattr(wsbnb, name), wsbnb.Policy)
    }
    assert policies - {"Policy", "LinearPolicy"} - YOUNGER <= classes


@pytest.mark.parametrize("name", [name for name in NAMES if name != "Oracle"])
def test_the_estimate_is_the_one_that_was_saved(name):
    policy, said = load(name)
    post = policy.posterior
    np.testing.assert_allclose(post.mean, said["mean"], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(post.cov, said["cov"], rtol=1e-12, atol=1e-14)
    # Of a mixture it is a weighted mean, whose last bit depends on the processor.
    assert post.rounds == pytest.approx(said["rounds"], rel=1e-15)
    assert post.squared_weight_sum == pytest.approx(said["squares"], rel=1e-14)


@pytest.mark.parametrize("name", LINEAR)
def test_settings_and_widths_are_those_that_were_saved(name):
    """In other units: radius and width have changed, their product has not."""
    policy, said = load(name)
    parts = policy.explain(X[0])
    product = parts["radius"] * parts["width"]
    if policy.n_normals in (0, 1) and name != "Uniform":
        # The trials for the eigenvalue bound of "cxv" may end a step apart.
        rtol = 5e-3 if name == "WSBLinUCB" else 1e-11
        np.testing.assert_allclose(product, said["radius_times_width"], rtol=rtol)
    content = json.loads((FOLDER / f"{name}.json").read_text())
    given = {k: v for k, v in content["params"].items() if v is not None}
    if "horizon" not in given:  # then nothing was split, whatever the word
        given.pop("split", None)
    assert len(given) > 2
    for setting, value in given.items():
        assert np.array_equal(getattr(policy, setting), value), setting


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OTHER_DRAWS])
def test_it_plays_on_as_it_would_have(name):
    """The same arms with the same normals, for longer than the window remembers."""
    policy, said = load(name)
    tol = (5e-3 if name == "WSBLinUCB" else 1e-10) * np.abs(said["scores"]).max()
    np.testing.assert_allclose(policy.scores(X[0]), said["scores"], rtol=0, atol=tol)
    assert play(policy) == said["pulls"]


@pytest.mark.parametrize("name", ADAPTIVE)
def test_the_master_knows_what_it_knew(name):
    policy, said = load(name)
    seen = 0
    for fact in ("weights", "probabilities", "current_discount", "alarms", "statistic"):
        if fact in said:
            expected = said[fact]
            got = getattr(policy, fact)
            if expected is None:
                assert got is None
            else:
                np.testing.assert_allclose(got, expected, rtol=1e-12)
            seen += 1
    assert seen
    if "Surprise" in name:
        assert policy.alarms == tuple(said["alarms"]) != ()


@pytest.mark.parametrize("name", NAMES)
def test_it_is_saved_again_in_the_new_words(name, tmp_path):
    policy, _ = load(name)
    policy.save(tmp_path / "policy.json")
    assert json.loads((tmp_path / "policy.json").read_text())["version"] == 2
    again = wsbnb.load(tmp_path / "policy.json")
    np.testing.assert_equal(again._get_state(), policy._get_state())
    assert play(again) == play(policy)


@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_reset(name):
    policy, _ = load(name)
    policy.reset()
    fresh = type(policy)(**policy.get_params())
    np.testing.assert_equal(policy._get_state(), fresh._get_state())


@pytest.mark.parametrize("name", [name for name in NAMES if name != "Oracle"])
def test_damaged_files_of_version_1(name, tmp_path):
    """There was no checksum: what a round trusts is checked."""
    content = json.loads((FOLDER / f"{name}.json").read_text())
    path = tmp_path / "policy.json"
    known = ("P", "h", "counts", "log_evidence", "log_weights", "statistic", "clock")
    window = ("ring_x", "ring_r", "ring_w") if name == "SWLinUCB" else ()
    for key in set(known + window) & set(content["state"]):
        for junk in ("x", [], [[9.0]], {"a": 1}, -1.5, [1e400] * 4, None):
            state = {**content["state"], key: junk}
            path.write_text(json.dumps({**content, "state": state}))
            with pytest.raises(ValueError, match="policy.json"):
                wsbnb.load(path)
        del state[key]
        path.write_text(json.dumps({**content, "state": state}))
        with pytest.raises(ValueError, match="policy.json"):
            wsbnb.load(path)
