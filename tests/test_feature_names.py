"""Names of features are kept with the policy and checked; threads lose nothing."""

import pickle
import threading

import numpy as np
import pandas as pd
import pytest

import wsbnb
from tests import zoo
from wsbnb.policies.theory import outside_on_purpose

NAMES = ["price", "age", "news"]
FRAME = pd.DataFrame(np.arange(12.0).reshape(4, 3), columns=NAMES)
SWAPPED = FRAME[["age", "price", "news"]]


@pytest.mark.parametrize("name", ["WSBLinTS", "SWLinUCB", "Oracle"])
def test_reordered_columns_are_refused(name):
    policy = zoo.make(name)
    policy.pull(FRAME)
    assert policy.feature_names == tuple(NAMES)
    before = policy.scores(FRAME)
    calls = [
        lambda: policy.pull(SWAPPED),
        lambda: policy.scores(SWAPPED),
        lambda: policy.update(SWAPPED, np.ones(4)),
        lambda: policy.update(SWAPPED.iloc[0], 1.0),
        lambda: policy.pull(FRAME.rename(columns={"age": "years"})),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"must have the features \['price'"):
            call()
    assert (policy.scores(FRAME) == before).all()
    policy.update(FRAME.iloc[1], 0.5)
    policy.pull(FRAME.to_numpy())  # arrays have no names


def test_features_of_one_name_are_refused():
    """They were kept and saved, and then no file with them could be loaded."""
    policy, twice = zoo.make("WSBLinTS"), FRAME.set_axis(["a", "b", "a"], axis=1)
    for call in (
        lambda: policy.pull(twice),
        lambda: policy.scores(twice),
        lambda: policy.update(twice.iloc[0], 1.0),
    ):
        with pytest.raises(ValueError, match=r"different names, got \['a', 'b', 'a'"):
            call()
    assert policy.feature_names is None


def test_names_come_from_an_update_or_by_hand():
    policy = zoo.make("WSBLinTS")
    policy.scores(FRAME)
    policy.pull(pd.DataFrame(FRAME.to_numpy()))  # numbers are no names
    assert policy.feature_names is None
    policy.update(FRAME.iloc[0], 1.0)
    assert policy.feature_names == tuple(NAMES)
    policy.feature_names = None
    policy.feature_names = ["a", "b", "c"]
    with pytest.raises(ValueError, match="X must have the features"):
        policy.pull(FRAME)
    for bad in (["a", "b"], ["a", "a", "b"], [1, 2, 3]):
        with pytest.raises(ValueError, match="feature_names must be 3 different"):
            policy.feature_names = bad
    for bad in ("abc", 3):  # a word is not a list of its letters
        with pytest.raises(TypeError, match="feature_names must be a list"):
            policy.feature_names = bad
    assert policy.feature_names == ("a", "b", "c")


@pytest.mark.parametrize("name", ["WSBLinTS", "Oracle", "ChangePoints"])
def test_a_refused_call_gives_no_names(name):
    policy = zoo.make("Oracle")
    if name != "Oracle":  # far from 0, so that whatever is drawn overflows
        policy = zoo.make("WSBLinTS", prior_mean=[9.0, 9.0, 9.0])
    if name == "ChangePoints":
        policy = wsbnb.ChangePoints(policy, rng=0)
    for call in (
        lambda: policy.pull(1.6e307 * FRAME),
        lambda: policy.update(FRAME, np.ones(4), decay=1),
    ):
        with pytest.raises((ValueError, TypeError), match="X must give|decay must be"):
            call()
    assert policy.feature_names is None
    policy.update(FRAME, np.ones(4))
    assert policy.feature_names == tuple(NAMES)


def test_names_stay_with_copies_and_files(tmp_path):
    policy = zoo.make("WSBLinTS")
    policy.pull(FRAME)
    policy.save(tmp_path / "p.json")
    others = [wsbnb.load(tmp_path / "p.json"), pickle.loads(pickle.dumps(policy))]
    others += [policy.copy(), policy.clone(), policy.set_params(discount=0.9)]
    for other in others:
        assert other.feature_names == tuple(NAMES)


def test_threads_on_one_policy_lose_no_update():
    policy = wsbnb.WSBLinTS(
        prior_mean=np.zeros(3), prior_cov=1.0, noise_std=0.5, discount=1.0, rng=0
    )
    X, each = np.eye(3), 800

    def work():
        with outside_on_purpose():  # rewards without noise
            for _ in range(each):
                policy.pull(X)
                policy.scores(X)
                policy.update(X[0], 1.0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert policy.rounds == 4 * each
    assert policy.posterior.precision[0, 0] == pytest.approx(1 + 4 * each / 0.25)
