"""`wsbnb.recommend`: follows from the record, builds what the benchmark played."""

import math

import numpy as np
import pytest

import wsbnb
from wsbnb import _guide, paper, recommending
from wsbnb.paper import guide

JUMPS = {"noise_std": 0.4, "moves": "jumps"}


def test_guide_follows_from_the_record():
    """`wsbnb._guide` is what `write_guide` makes of the record, number by number."""
    kept = paper.recorded_benchmark()
    rows = [tuple(row) for row in paper.guide_rows(kept).itertuples(index=False)]
    assert [tuple(row) for row in _guide.ROWS] == rows
    assert list(_guide.WORLDS) == guide.guide_worlds(kept)
    assert set(kept.scores["commit"]) == set(_guide.MADE_BY.split(", "))


def test_written_guide_is_the_module(tmp_path):
    kept = paper.recorded_benchmark()
    namespace = {}
    path = paper.write_guide(kept, tmp_path / "copy.py")
    exec(compile(path.read_text(), "copy", "exec"), namespace)
    assert [tuple(r) for r in namespace["ROWS"]] == [tuple(r) for r in _guide.ROWS]
    assert [tuple(w) for w in namespace["WORLDS"]] == [tuple(w) for w in _guide.WORLDS]


@pytest.mark.parametrize("name", recommending.BUILDERS)
@pytest.mark.parametrize("memory", [75.0, math.inf])
def test_builders_build_what_the_benchmark_played(name, memory):
    place = paper.WORLDS["wrong prior"]
    known = place.known(place.environment.world(0))
    prior = {
        "prior_mean": known.prior_mean,
        "prior_cov": known.prior_cov,
        "noise_std": known.noise_std,
    }
    with wsbnb.outside_on_purpose():
        mine = recommending.BUILDERS[name](prior, 0.25, memory, known.horizon)
        theirs = paper.CONTENDERS[name].build(known, 0.25, memory)
    assert repr(mine.get_params()) == repr(theirs.get_params())


@pytest.mark.parametrize("trust", [False, True])
@pytest.mark.parametrize("moves", recommending.MOVES)
def test_best_row_of_the_kind_is_taken(moves, trust):
    rows = [row for row in _guide.ROWS if (row.moves, row.trusted) == (moves, trust)]
    words = {"noise_std": 0.4, "moves": moves, "trust_noise": trust, "rng": 0}
    advice = wsbnb.recommend(6, **words)
    assert advice.ratio == min(row.ratio for row in rows) == rows[0].ratio
    assert advice.low <= advice.ratio <= advice.high and advice.ratio <= advice.worst
    assert (advice.name, advice.scale) == (rows[0].policy, rows[0].scale)
    assert advice.worst_world in advice.reason and advice.world in advice.reason
    others = [row.policy for row in rows if row.policy != advice.name]
    assert advice.alternatives == tuple(sorted(set(others), key=others.index))
    prior = {"prior_mean": np.zeros(6), "prior_cov": 1.0, "noise_std": 0.4}
    words["horizon"] = 700
    with wsbnb.outside_on_purpose():
        build = recommending.BUILDERS[rows[0].policy]
        expected = build(prior, rows[0].scale, rows[0].memory, 700)
    told = wsbnb.recommend(6, **words)
    assert repr(told.policy.get_params()) == repr(expected.get_params())
    said = f"{rows[0].ratio:.2f} times that of the best tuned in hindsight "
    said += f"({rows[0].low:.2f} to {rows[0].high:.2f}; at worst {rows[0].worst:.1f}"
    assert said in told.reason and f"Scale {rows[0].scale:g};" in told.reason
    assert told.reason.endswith(f"ratio was {rows[0].by_world[told.world]:.2f}.")
    X = np.eye(6)
    k = advice.policy.pull(X)
    advice.policy.update(X[k], 0.3)
    assert wsbnb.recommend(6, **words).policy.pull(X) == k


def test_rows_of_the_guide_by_hand():
    """From the regrets of the record alone: geometric means over the worlds."""
    scores = paper.recorded_benchmark().scores
    means = scores.set_index(["footing", "policy", "world"]).filter(regex=r"^r\d+$")
    means = means.mean(axis=1)
    for row in _guide.ROWS:
        kept = "carried" if row.moves == "unknown" else "kind"
        found = []
        for footing in (kept, "theory"):
            ratios = {
                world: means[footing, row.policy, world]
                / means["tuned"].xs(world, level="world").min()
                for world in row.by_world
            }
            if ratios == pytest.approx(row.by_world, abs=6e-4):
                found.append(ratios)
        ratios = found[0]
        product = math.prod(ratios.values()) ** (1 / len(ratios))
        assert row.ratio == pytest.approx(product, abs=6e-4)
        assert row.worst == pytest.approx(max(ratios.values()), abs=6e-4)
        assert row.worst_world == max(ratios, key=ratios.get)


def test_arms_count_half_where_worlds_are_compared(monkeypatch):
    """Eight times the arms are nearer than four times the features."""
    worlds = _guide.World("a", 6, 48, 0.4), _guide.World("b", 24, 6, 0.4)
    monkeypatch.setattr(_guide, "WORLDS", worlds)
    for dim, n_arms, noise, name in (
        (6, 6, 0.4, "a"),
        (6, 6, 4.0, "a"),
        (12, 6, 0.4, "b"),
        (12, None, 0.4, "a"),
        (13, None, 0.4, "b"),
    ):
        assert recommending._most_like(("a", "b"), dim, n_arms, noise) == name


def test_the_world_most_like_yours():
    assert wsbnb.recommend(6, n_arms=48, **JUMPS).world == "rare jumps"
    assert wsbnb.recommend(40, n_arms=48, **JUMPS).world == "32 features"
    assert wsbnb.recommend(2, **JUMPS).world == "two features"
    assert wsbnb.recommend(6, n_arms=4, **JUMPS).world == "few arms"
    loud = wsbnb.recommend(6, noise_std=1.2, moves="still")
    assert loud.world == "still and loud"


def test_trust_leaves_out_the_worlds_whose_noise_is_not_as_told():
    for row in _guide.ROWS:
        places = [paper.WORLDS[name] for name in row.by_world]
        assert {p.kind for p in places} == (
            {row.moves} if row.moves != "unknown" else {"still", "jumps", "drift"}
        )
        strange = {p.name for p in places if not p.noise_known}
        assert strange == set() or not row.trusted
    every = next(r for r in _guide.ROWS if (r.moves, r.trusted) == ("jumps", False))
    assert {"heavy noise", "noise believed double"} <= set(every.by_world)


def test_a_log_sets_noise_prior_and_memory(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    theta = np.cumsum(0.05 * rng.normal(size=(600, 3)), axis=0)
    rewards = (X * theta).sum(axis=1) + 0.3 * rng.normal(size=600)
    fit = wsbnb.fit_log(X, rewards)
    first = next(r for r in _guide.ROWS if (r.moves, r.trusted) == ("drift", False))
    row = first._replace(policy="WSB-LinTS", memory=75.0, fixed=True)
    monkeypatch.setattr(_guide, "ROWS", (row,))
    words = {"moves": "drift", "log": (X, rewards)}
    advice = wsbnb.recommend(3, **words)
    assert advice.memory == fit.memory == advice.fit.memory
    assert advice.policy.noise_std == fit.noise_std
    assert advice.policy.discount == fit.discount and "from the log" in advice.reason
    told = wsbnb.recommend(3, noise_std=0.5, **words)
    assert told.policy.noise_std == 0.5
    row = row._replace(policy="Surprise restart", fixed=False)
    monkeypatch.setattr(_guide, "ROWS", (row,))
    assert wsbnb.recommend(3, **words).memory == 75.0


@pytest.mark.parametrize("memory", [40.0, 100.0])
def test_a_walk_follows_as_fast_as_the_memory_of_its_rate(memory):
    """After a jump both are (1 - 1/e) of the way after `memory` rounds."""
    d, sigma, variance = 3, 0.5, 2.0
    prior = {"prior_mean": np.zeros(d), "prior_cov": variance, "noise_std": sigma}
    rate = recommending.walk_rate(memory, d, sigma, variance * np.eye(d))
    assert rate == recommending.walk_rate(memory, d, sigma, [variance] * d)
    walk = wsbnb.weights.RandomWalk(rate)
    posts = [
        wsbnb.WSBPosterior(**prior, forgetting=walk),
        wsbnb.WSBPosterior(**prior, discount=1 - 1 / memory),
    ]
    n = d * int(10 * memory)
    X = np.tile(np.eye(d), (n // d, 1))
    later = X[: d * round(memory / d)]
    for post in posts:
        post.update(X, np.zeros(n))  # settled at zero
        post.update(later, np.ones(len(later)))
        np.testing.assert_allclose(post.mean, 1 - np.exp(-1), atol=0.06)
    assert recommending.walk_rate(np.inf, d, sigma, variance) == 0.0


def test_rate_of_a_walk_by_hand():
    """2 * 0.25 / (100^2 * 2): a prior of two variances counts by their mean."""
    for cov in ([1.0, 3.0], [[1.0, 0.5], [0.5, 3.0]]):
        assert recommending.walk_rate(100, 2, 0.5, cov) == pytest.approx(2.5e-5)


def test_without_a_horizon_the_radius_holds_at_any_time():
    prior = {"prior_mean": np.zeros(2), "prior_cov": 1.0, "noise_std": 0.3}
    policy = recommending.BUILDERS["WSB-LinUCB"](prior, 0.1, 100.0, None)
    assert policy.split == "anytime" and policy.delta == 1 / 10_000


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ({}, ValueError, "noise_std must be given"),
        ({"noise_std": -1.0}, ValueError, "noise_std"),
        ({"noise_std": 1.0, "moves": "fast"}, ValueError, "moves.*fast"),
        ({"noise_std": 1.0, "n_arms": 0}, ValueError, "n_arms"),
        ({"noise_std": 1.0, "horizon": 0.5}, TypeError, "horizon"),
        ({"noise_std": 1.0, "prior_mean": [1.0]}, ValueError, "prior_mean"),
        ({"noise_std": 1.0, "trust_noise": 2}, TypeError, "trust_noise"),
        ({"log": 3}, TypeError, "log must be a pair"),
        ({"log": (np.ones((5, 2)), np.ones(5))}, ValueError, r"log\[0\]"),
    ],
)
def test_bad_arguments_are_refused(words, error, message):
    with pytest.raises(error, match=message):
        wsbnb.recommend(3, **words)
