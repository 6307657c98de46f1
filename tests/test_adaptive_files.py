"""Files of the adaptive policies: every bit is kept, and a hostile file is refused."""

import copy
import json

import numpy as np
import pytest

import wsbnb
from tests import zoo
from tests.test_adaptive import (
    GRID,
    MAKERS,
    bandit,
    mixture,
    pairs,
    play,
    surprise,
)
from tests.test_saving import refuse_signed

pytestmark = pytest.mark.filterwarnings("ignore::wsbnb.TheoryWarning")


def written(maker, path, name="DLinTS"):
    policy = maker(zoo.make(name))
    play(policy)
    policy.save(path)
    return json.loads(path.read_text())


@pairs(["WSBLinTS", "WSBLinUCB", "DLinUCB", "DLinTS", "Greedy"], MAKERS)
def test_file_keeps_every_bit(maker, name, tmp_path):
    policy = maker(zoo.make(name))
    play(policy, rounds=18)
    policy.save(tmp_path / "policy.json")
    again = wsbnb.load(tmp_path / "policy.json")
    np.testing.assert_equal(again._get_state(), policy._get_state())
    assert repr(again) == repr(policy)
    assert play(again, 5) == play(policy, 5)
    for each in (policy, again):
        each.reset()
    np.testing.assert_equal(again._get_state(), policy._get_state())


def test_a_setting_may_be_infinite(tmp_path):
    policy = wsbnb.ChangePoints(zoo.make("WSBLinTS"), trust=np.inf, rng=0)
    play(policy)
    policy.save(tmp_path / "policy.json")
    again = wsbnb.load(tmp_path / "policy.json")
    assert again.trust == np.inf and play(again, 5) == play(policy, 5)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "os.system"},
        {"kind": "Oracle"},
        {"kind": "SWLinUCB"},
        {"kind": "WSBPosterior"},
        {"kind": "exploration.Thompson"},
        {"kind": ["DLinTS"]},
        {"kind": None},
        {"noise_std": "__import__('os')"},
        {"noise_std": -1.0},
        {"scale": None},
        {"more": 1},
    ],
    ids=str,
)
def test_hostile_base(maker, changes, tmp_path):
    path = tmp_path / "policy.json"
    content = written(maker, path)
    content["params"]["base"].update(changes)
    refuse_signed(path, content)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("base", [None, 3, "DLinTS", [], {}, {"kind": "DLinTS"}])
def test_no_base(maker, base, tmp_path):
    path = tmp_path / "policy.json"
    content = written(maker, path)
    content["params"]["base"] = base
    refuse_signed(path, content)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("dim", [10**9, 10**30, 20_000, 0, -3, 3.5, "3", None, [3]])
def test_a_huge_dimension_takes_no_memory(maker, dim, tmp_path):
    path = tmp_path / "policy.json"
    content = written(maker, path)
    assert content["params"]["base"]["dim"] == 3
    content["params"]["base"]["dim"] = dim
    refuse_signed(path, content)


JUNK = ["x", [], [[1.0]], -1.5, {"a": 1}, [1e400] * 4, [[9] * 4] * 4, None]


@pytest.mark.parametrize("maker", MAKERS)
def test_damaged_states(maker, tmp_path):
    path = tmp_path / "policy.json"
    content = written(maker, path)
    for field in content["state"]:
        for junk in JUNK:
            if field == "alarms" and junk == []:
                continue  # no alarm yet: a sound state
            state = {**content["state"], field: junk}
            refuse_signed(path, {**content, "state": state})
        state = {k: v for k, v in content["state"].items() if k != field}
        refuse_signed(path, {**content, "state": state})


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("field", ["precision", "shift", "counts", "squares"])
def test_damaged_experts(maker, field, tmp_path):
    path = tmp_path / "policy.json"
    content = written(maker, path)
    for junk in JUNK:
        damaged = copy.deepcopy(content)
        damaged["state"]["experts"][-1][field] = junk
        refuse_signed(path, damaged)
    indefinite = copy.deepcopy(content)
    if field in ("precision", "squares"):
        indefinite["state"]["experts"][0][field][0][0] = -1.0
        refuse_signed(path, indefinite)


@pytest.mark.parametrize("maker", MAKERS)
def test_too_few_experts(maker, tmp_path):
    path = tmp_path / "policy.json"
    content = written(maker, path)
    content["state"]["experts"].pop()
    assert "state experts must be" in refuse_signed(path, content)


def test_experts_cannot_shrink_their_radius(tmp_path):
    path = tmp_path / "policy.json"
    content = written(mixture, path, "WSBLinUCB")
    content["state"]["experts"][1]["bound"][0] *= 0.5
    assert "state bound cannot be" in refuse_signed(path, content)


N = len(GRID)


@pytest.mark.parametrize(
    ("maker", "place", "value"),
    [
        (bandit, N, 4),  # who is in charge
        (bandit, N, -2),
        (bandit, N, 0.5),
        (bandit, N, -1),  # nobody, with rounds counted for him
        (bandit, N + 1, 7),  # rounds of the block
        (bandit, N + 1, -1),
        (bandit, N + 1, 0.5),
        (bandit, 0, None),
        (surprise, 0, 0.9),  # above the threshold
        (surprise, 0, -0.1),
        (surprise, 1, 1.5),  # observations
        (surprise, 1, 2),  # fewer than the alarms say
        (mixture, 0, "x"),
    ],
)
def test_impossible_knowledge(maker, place, value, tmp_path):
    path = tmp_path / "policy.json"
    content = written(maker, path)
    assert maker is not surprise or max(content["state"]["alarms"]) > 2
    content["state"]["own"][place] = value
    refuse_signed(path, content)


@pytest.mark.parametrize("alarms", [[3, 3], [3, 26], [0], [2.5], [-1], ["x"], [4, 3]])
def test_impossible_alarms(alarms, tmp_path):
    path = tmp_path / "policy.json"
    content = written(surprise, path)
    content["state"]["alarms"] = alarms
    assert "alarms" in refuse_signed(path, content)


def test_too_many_discounts_in_a_file(tmp_path):
    path = tmp_path / "policy.json"
    content = written(mixture, path)
    content["params"]["discounts"] = np.linspace(0.1, 1.0, 100_000).tolist()
    assert "at most 256" in refuse_signed(path, content)
