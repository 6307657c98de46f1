"""Files of the adaptive policies: every bit is kept, and a hostile file is refused."""

import copy
import json

import numpy as np
import pytest

import wsbnb
from tests import zoo
from tests.test_adaptive import MAKERS, bandit, mixture, play, surprise

pytestmark = pytest.mark.filterwarnings("ignore::wsbnb.TheoryWarning")


def written(maker, path, name="DLinTS"):
    policy = maker(zoo.make(name))
    play(policy)
    policy.save(path)
    return json.loads(path.read_text())


def refused(content, path):
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="policy.json"):
        wsbnb.load(path)


@pytest.mark.parametrize("maker", MAKERS)
def test_file_keeps_every_bit(maker, tmp_path):
    policy = maker(zoo.make("WSBLinTS"))
    play(policy, rounds=18)
    policy.save(tmp_path / "policy.json")
    again = wsbnb.load(tmp_path / "policy.json")
    np.testing.assert_equal(again._get_state(), policy._get_state())
    assert repr(again) == repr(policy)
    assert play(again, 5) == play(policy, 5)
    for each in (policy, again):
        each.reset()
    np.testing.assert_equal(again._get_state(), policy._get_state())


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize(
    "changes",
    [
        {"class": "os.system"},
        {"class": "Oracle"},
        {"class": None},
        {"params": {}},
        {"params": {"dim": 3, "command": "true"}},
        {"prior_precision": [[1.0]]},
        {"prior_precision": []},
        {"prior_precision": 1.0},
        {"more": 1},
    ],
    ids=range(9),
)
def test_hostile_base(maker, changes, tmp_path):
    path = tmp_path / "policy.json"
    content = written(maker, path)
    content["params"]["base"].update(changes)
    refused(content, path)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("dim", [10**9, 10**30, 0, -3, 3.5, "3", None, [3]])
def test_a_huge_dimension_takes_no_memory(maker, dim, tmp_path):
    path = tmp_path / "policy.json"
    content = written(maker, path)
    content["params"]["base"]["params"]["dim"] = dim
    refused(content, path)


@pytest.mark.parametrize("maker", MAKERS)
def test_damaged_states(maker, tmp_path):
    path = tmp_path / "policy.json"
    content = written(maker, path)
    for field in content["state"]:
        for junk in (
            "x",
            [],
            [[1.0]],
            -1.5,
            {"a": 1},
            [1e400, 1e400, 1e400, 1e400],
            [[9] * 4] * 4,
        ):
            damaged = copy.deepcopy(content)
            damaged["state"][field] = junk
            if field == "alarms" and junk == []:
                continue  # no alarm yet: a sound state
            if field == "total" and junk == -1.5:
                continue  # a sum of rewards may be that
            refused(damaged, path)
        del damaged["state"][field]
        refused(damaged, path)
    indefinite = copy.deepcopy(content)
    indefinite["state"]["P"][0][0][0] = -1.0
    refused(indefinite, path)


@pytest.mark.parametrize(
    ("maker", "changes"),
    [
        (bandit, {"current": 4}),
        (bandit, {"current": -1}),
        (bandit, {"current": True}),
        (bandit, {"count": 7}),
        (bandit, {"current": None, "count": 3}),
        (surprise, {"statistic": 0.9}),
        (surprise, {"alarms": [3, 3]}),
        (surprise, {"alarms": [3, 26]}),
        (surprise, {"alarms": [0]}),
        (mixture, {"log_evidence": [0.0, 0.0, 0.0]}),
    ],
)
def test_impossible_states(maker, changes, tmp_path):
    path = tmp_path / "policy.json"
    content = written(maker, path)
    content["state"].update(changes)
    refused(content, path)


def test_too_many_discounts_in_a_file(tmp_path):
    path = tmp_path / "policy.json"
    content = written(mixture, path)
    content["params"]["discounts"] = np.linspace(0.1, 1.0, 100_000).tolist()
    refused(content, path)
