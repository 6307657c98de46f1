"""The bank on fresh trials: its record, and the arithmetic of the comparison."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import wsbnb
from wsbnb import paper
from wsbnb.paper import fresh
from wsbnb.paper.benchmark import TEST_SEED, TRAIN_SEED


@pytest.fixture(scope="module")
def kept():
    return fresh.recorded_fresh()


def test_record_is_whole(kept):
    assert list(kept["world"].unique()) == list(paper.WORLDS)
    assert (kept.groupby("world").size() == 4).all()
    regrets = kept.filter(regex=r"^r\d+$")
    assert regrets.shape[1] == fresh.TRIALS and (regrets > 0).to_numpy().all()
    assert set(kept["seed"]) == {fresh.SEED} and fresh.SEED not in (
        TRAIN_SEED,
        TEST_SEED,
    )
    assert kept["commit"].str.fullmatch("[0-9a-f]{10}").all()


def test_rival_has_the_setting_of_the_benchmark(kept):
    settings = paper.recorded_benchmark()
    for row in kept[kept.choice == "tuned"].itertuples():
        assert (row.scale, row.memory) == settings.setting(row.world, "WSB-LinTS")
    means = kept.set_index(["world", "choice"]).filter(regex=r"^r\d+$").mean(axis=1)
    for world in paper.WORLDS:
        assert means[world, "hindsight"].item() <= means[world, "tuned"].item()


@pytest.mark.parametrize("world", ["still", "wrong prior"])
def test_rows_can_be_played_again(kept, world):
    """Built here from the public classes, the first trials are the same numbers."""
    place = paper.WORLDS[world]
    rows = kept[kept.world == world].set_index(["policy", "choice"])
    memory = rows.loc[("WSB-LinTS", "hindsight"), "memory"]
    scale = rows.loc[("WSB-LinTS", "hindsight"), "scale"]

    def prior(told):
        return {
            "prior_mean": told.prior_mean,
            "prior_cov": told.prior_cov,
            "noise_std": told.noise_std,
        }

    def bank(cls, scale):
        return lambda world: wsbnb.ChangePoints(
            cls(**prior(place.known(world)), discount=1.0, scale=scale)
        )

    policies = {
        ("Change points", "default"): bank(wsbnb.WSBLinTS, 0.5),
        ("Change points, RandLinUCB", "default"): bank(wsbnb.WSBRandLinUCB, 1.0),
        ("WSB-LinTS", "hindsight"): lambda world: wsbnb.WSBLinTS(
            **prior(place.known(world)), discount=1 - 1 / memory, scale=scale
        ),
    }
    options = {"trials": 3, "seed": fresh.SEED, "n_jobs": 1, "progress": False}
    named = {", ".join(key): build for key, build in policies.items()}
    with wsbnb.outside_on_purpose():
        played = wsbnb.simulate(named, place.environment, **options)
    for key in policies:
        mine = played.final(", ".join(key)).round(2)
        np.testing.assert_array_equal(mine, rows.loc[key, ["r0", "r1", "r2"]])


TRIED = {
    "haste 0": ({"haste": 0.0}, 0.5),
    "calm 0.7": ({"calm": 0.7}, 0.5),
    "share 0.01": ({"share": 0.01}, 0.5),
    "scale 0.35": ({}, 0.35),
    "σ taken as right": ({"trust": np.inf}, 0.5),
    "starts alone": ({"discounts": []}, 0.5),
}


def test_what_was_tried_can_be_played_again():
    rows, place = fresh.recorded_tried(), paper.WORLDS["two features"]
    rows = rows[(rows.world == place.name) & (rows.policy == "Change points")]
    prior = {"prior_mean": np.zeros(2), "prior_cov": 1.0, "discount": 1.0}
    prior["noise_std"] = place.environment.noise_std
    policies = {
        name: wsbnb.ChangePoints(wsbnb.WSBLinTS(**prior, scale=scale), **settings)
        for name, (settings, scale) in TRIED.items()
    }
    (seed,) = set(rows["seed"])
    assert seed not in (fresh.SEED, TRAIN_SEED, TEST_SEED)
    options = {"trials": 2, "seed": seed, "n_jobs": 1, "progress": False}
    played = wsbnb.simulate(policies, place.environment, **options)
    kept = rows.set_index("choice")[["r0", "r1"]]
    for name in policies:
        np.testing.assert_array_equal(played.final(name).round(2), kept.loc[name])


def test_a_change_is_compared_with_the_defaults_of_its_base():
    rows = pd.DataFrame(
        {"world": world, "policy": "bank", "choice": choice, "r0": r, "r1": more}
        for world, choice, r, more in (
            ("a", "default", 2.0, 2.0),
            ("a", "haste 0", 4.0, 4.0),
            ("b", "default", 6.0, np.nan),  # one trial only
            ("b", "haste 0", 3.0, np.nan),
        )
    )
    table = fresh.changed_settings(rows)
    assert table.index.tolist() == [("bank", "haste 0")]
    np.testing.assert_allclose(table.loc[("bank", "haste 0")], [1.0, 1.0, 1.0])


def by_hand():
    keys = [("Change points", "default"), ("WSB-LinTS", "hindsight")]
    values = {"a": ([2.0, 4.0], [4.0, 8.0]), "b": ([6.0, 6.0], [3.0, 3.0])}
    return pd.DataFrame(
        {"world": world, "policy": name, "choice": choice, "r0": r[0], "r1": r[1]}
        for world, pair in values.items()
        for (name, choice), r in zip(keys, pair, strict=True)
    )


def test_comparison_by_hand():
    table = fresh.against(by_hand(), "Change points")
    np.testing.assert_allclose(table["ratio"], [0.5, 2.0, 1.0])
    np.testing.assert_allclose(table.loc["b"], [2.0, 2.0, 2.0])  # no spread
    np.testing.assert_allclose(table.loc["a"], [0.5, 0.5, 0.5])  # paired: none either
    with pytest.raises(ValueError, match="reference"):
        fresh.against(by_hand(), "Change points", "luck")
    with pytest.raises(ValueError, match="policy"):
        fresh.against(by_hand(), "Uniform")


def test_unpaired_trials_make_an_interval():
    rows = by_hand()
    rows.loc[(rows.world == "b") & (rows.choice == "default"), ["r0", "r1"]] = [
        3.0,
        9.0,
    ]
    row = fresh.against(rows, "Change points").loc["b"]
    assert (row.ratio, row.low, row.high) == pytest.approx((2.0, 1.0, 3.0))


def test_intervals_are_those_of_a_bootstrap_of_95_per_cent():
    """Of the pairs in one world; of both worlds for the geometric mean."""
    rng, draws = np.random.default_rng(3), 20_000
    a, b = rng.exponential(size=(2, 25))
    values = {"a": (a, np.ones(25)), "b": (b, 2 + b + rng.exponential(size=25))}
    keys = [("Change points", "default"), ("WSB-LinTS", "hindsight")]
    rows = pd.DataFrame(
        {"world": world, "policy": name, "choice": choice}
        | {f"r{i}": value for i, value in enumerate(regret)}
        for world, pair in values.items()
        for (name, choice), regret in zip(keys, pair, strict=True)
    )
    found = fresh.against(rows, "Change points", draws=draws)
    words = {"n_resamples": draws, "method": "percentile", "rng": 1}

    def ratio(mine, theirs, axis):
        return mine.mean(axis) / theirs.mean(axis)

    def overall(i, j, axis):
        one, other = (
            ratio(*(v[k] for v in values[w]), -1) for w, k in (("a", i), ("b", j))
        )
        return np.sqrt(one * other)

    index = np.arange(25)
    expected = {
        world: stats.bootstrap(pair, ratio, paired=True, **words)
        for world, pair in values.items()
    }
    expected["all worlds"] = stats.bootstrap((index, index), overall, **words)
    for world, known in expected.items():
        row = found.loc[world]
        limits = tuple(known.confidence_interval)
        assert (row.low, row.high) == pytest.approx(limits, rel=0.02), world


def test_worlds_in_the_file_are_not_played_again(tmp_path, monkeypatch):
    monkeypatch.setattr(fresh, "WORLDS", {name: None for name in ("a", "b")})
    by_hand().query("world == 'a'").to_csv(tmp_path / "rows.csv", index=False)
    asked = []

    def play(world):
        asked.append(world)
        return by_hand().query("world == @world")

    monkeypatch.setattr(fresh, "play_fresh", play)
    found = fresh.record_fresh(tmp_path / "rows.csv")
    assert asked == ["b"] and list(found["world"].unique()) == ["a", "b"]
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "rows.csv"), found)


def test_a_world_that_is_interrupted_is_no_row(tmp_path, monkeypatch):
    """Ctrl-C in the middle: `simulate` gives the trials so far, the record refuses."""

    def cut(policies, environment, trials, **options):
        whole = wsbnb.simulate(policies, environment, trials=1, **options)
        return dataclasses.replace(whole, interrupted=True)

    monkeypatch.setattr(fresh, "simulate", cut)
    monkeypatch.setattr(fresh, "WORLDS", {"still": fresh.WORLDS["still"]})
    with pytest.raises(KeyboardInterrupt):
        fresh.record_fresh(tmp_path / "rows.csv")
    assert list(tmp_path.iterdir()) == []
