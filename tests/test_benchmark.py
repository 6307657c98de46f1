"""The benchmark of worlds: its parts, its arithmetic, and its record."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import wsbnb
from wsbnb import paper
from wsbnb.paper import benchmark as lab
from wsbnb.paper.benchmark_tables import FOOTINGS
from wsbnb.paper.cli import main

SMALL = (["still", "two features", "rare jumps"], ["LinTS", "Greedy", "Uniform"])


@pytest.fixture(scope="module")
def small():
    return paper.run_benchmark(*SMALL, quick=True, cache=False, n_jobs=1)


# --- worlds and policies --------------------------------------------------------------


def test_worlds_have_names_reasons_and_kinds():
    assert len(paper.WORLDS) >= 20
    assert all(name == world.name for name, world in paper.WORLDS.items())
    assert all(20 <= len(world.why) <= 75 for world in paper.WORLDS.values())
    assert len({repr(world) for world in paper.WORLDS.values()}) == len(paper.WORLDS)
    for kind in ("jumps", "drift", "still"):
        assert sum(world.kind == kind for world in paper.WORLDS.values()) >= 3
    dims = {world.environment.dim for world in paper.WORLDS.values()}
    assert min(dims) == 2 and max(dims) == 32


@pytest.mark.parametrize("name", paper.WORLDS)
def test_kind_says_what_the_parameter_does(name):
    place = paper.WORLDS[name]
    world = place.environment.world(1)
    if place.kind == "still":
        assert world.variation == 0.0
    elif place.kind == "jumps":
        assert len(world.change_points) >= 3
    else:
        assert world.variation > 1.0 and world.change_points == []


def test_policies_are_told_what_the_world_says():
    place = paper.WORLDS["wrong prior"]
    world = place.environment.world(3)
    known = place.known(world)
    first = world.parameters(0, 1)[0]
    np.testing.assert_allclose(known.prior_mean, -0.5 * first)
    assert known.prior_cov == 0.25 and known.variation == world.variation
    half = paper.WORLDS["noise believed half"]
    believed = half.known(half.environment.world(0)).noise_std
    assert believed == half.environment.noise_std / 2


@pytest.mark.parametrize("name", paper.CONTENDERS)
def test_contender_builds_what_its_settings_say(name):
    place, player = paper.WORLDS["noise believed half"], paper.CONTENDERS[name]
    known = place.known(place.environment.world(0))
    with wsbnb.outside_on_purpose():
        policies = [
            player.build(known, *setting)
            for setting in [(None, None), *player.settings()]
        ]
    assert all(isinstance(policy, wsbnb.Policy) for policy in policies)
    params = [repr(policy.get_params()) for policy in policies[1:]]
    different = {(s, m) for s in player.scales for m in player.memories}
    assert len(set(params)) == len(different)


def built(name, scale, memory, world="rare jumps"):
    place = paper.WORLDS[world]
    known = place.known(place.environment.world(0))
    with wsbnb.outside_on_purpose():
        return paper.CONTENDERS[name].build(known, scale, memory), known


def test_theory_is_the_papers_setting():
    """The first column of the benchmark is Table 2."""
    world = paper.WORLDS["rare jumps"].environment.world(0)
    for name in paper.ALGORITHMS:
        mine, _ = built(name, None, None)
        theirs = paper.Player(name).policy(world)
        ignored = {"delta", "horizon", "split"} if "Rand" in name else set()
        for one, other in zip(
            mine.get_params().items(), theirs.get_params().items(), strict=True
        ):
            assert one[0] in ignored or repr(one) == repr(other)


def test_memory_and_scale_arrive():
    policy, known = built("WSB-LinTS", 0.5, 75.0)
    assert policy.discount == 1 - 1 / 75 and policy.scale == 0.5
    policy, _ = built("D-LinTS", 0.5, math.inf)
    assert policy.discount == 1.0
    assert policy.scale == pytest.approx(0.5 * known.noise_std * 2**0.5)
    policy, _ = built("SW-LinUCB", 0.25, 75.0)
    assert policy.length == 150 and policy.radius_scale == 0.25
    policy, _ = built("Restart-LinUCB", 0.25, math.inf)
    assert policy.period == known.horizon
    policy, _ = built("D-RandLinUCB, with its radius", None, None)
    assert policy.perturbation == "radius" and policy.scale == 0.4
    policy, known = built("Random-walk LinTS", 0.5, 75.0, "wrong prior")
    assert policy.rate == pytest.approx(6 * known.noise_std**2 / (75.0**2 * 0.25))
    assert built("Random-walk LinTS", 0.5, math.inf)[0].rate == 0.0
    policy, known = built("Random-walk LinTS", None, None)
    gamma = wsbnb.tuned_discount(6, 4000, known.variation, "thompson", n_arms=48)
    assert policy.rate == pytest.approx(6 * 0.15 * (1 - gamma) ** 2)
    policy, known = built("Change points, RandLinUCB", 0.25, math.inf)
    assert isinstance(policy.base, wsbnb.WSBRandLinUCB) and policy.base.scale == 0.25
    usual = wsbnb.ChangePoints(policy.base)
    for name in ("discounts", "starts", "hazard", "share", "calm", "trust", "haste"):
        assert np.array_equal(getattr(policy, name), getattr(usual, name)), name


def test_master_plays_with_its_papers_constants_and_with_smaller_ones():
    printed, known = built("MASTER", None, None)
    assert printed.factor == 1.0 and printed.base.radius_scale == 1.0
    assert printed.horizon == known.horizon and printed.base.discount == 1.0
    assert printed.rate == known.dim
    assert printed.test_margins(known.horizon)[1] > 1.0  # no test can fail
    tuned, _ = built("MASTER", 0.25, math.inf)
    assert tuned.base.radius_scale == 0.25 and tuned.factor == 0.005
    assert tuned.test_margins(known.horizon)[1] < 1.0


def test_slow_policies_play_only_by_name(monkeypatch):
    names = ["LinTS", "MASTER"]
    monkeypatch.setattr(lab, "CONTENDERS", {n: paper.CONTENDERS[n] for n in names})
    played = []

    def tuned(world, players, *more):
        played.append([player.name for player in players])
        raise KeyboardInterrupt

    monkeypatch.setattr(lab, "_tuned", tuned)
    for words in ({}, {"quick": True}, {"policies": names}):
        with pytest.raises(KeyboardInterrupt):
            paper.run_benchmark(["still"], cache=False, **words)
    assert played == [["LinTS"], ["LinTS"], names]


def test_a_coarse_grid_is_every_other_value():
    player = paper.CONTENDERS["WSB-LinTS"]
    coarse = player.settings(coarse=True)
    assert coarse == [(s, m) for s in (0.12, 0.5, 2.0) for m in (75.0, 480.0, math.inf)]
    assert set(coarse) < set(player.settings())
    assert paper.CONTENDERS["Uniform"].settings(coarse=True) == [(1.0, math.inf)]


# --- arithmetic -----------------------------------------------------------------------


def test_tuning_picks_the_least_regret_and_carrying_leaves_the_world_out(small):
    grid = small.tuning
    here = grid[(grid.policy == "LinTS") & (grid.world == "still")]
    best = here.loc[here.regret.idxmin()]
    assert small.setting("still", "LinTS") == (best.scale, best.memory)
    others = grid[(grid.policy == "LinTS") & (grid.world != "still")]
    geometric = others.groupby("scale").regret.apply(lambda r: np.log(r).mean())
    assert small.setting("still", "LinTS", "carried")[0] == geometric.idxmin()
    kin = grid[(grid.policy == "Greedy") & (grid.world == "two features")]
    assert small.setting("rare jumps", "Greedy", "kind")[1] == (
        kin.loc[kin.regret.idxmin()].memory
    )
    assert small.setting("still", "LinTS", "theory") == (None, None)


def test_training_and_test_trials_differ_and_can_be_played_again(small):
    place = paper.WORLDS["still"]
    scale, memory = small.setting("still", "LinTS")
    for seed, trials, expected in (
        (lab.TRAIN_SEED, 2, None),
        (lab.TEST_SEED, 6, small.finals("still")["LinTS"].to_numpy()),
    ):
        run = wsbnb.simulate(
            {"it": lambda w: built_in(place, w, scale, memory)},
            place.environment,
            trials=trials,
            seed=seed,
            n_jobs=1,
            progress=False,
        )
        if expected is None:
            row = small.tuning.query("world == 'still' and policy == 'LinTS'")
            expected = row.set_index("scale").regret[scale]
            assert round(run.final("it").mean(), 2) == expected
        else:
            np.testing.assert_array_equal(run.final("it").round(2), expected)


def built_in(place, world, scale, memory):
    return paper.CONTENDERS["LinTS"].build(place.known(world), scale, memory)


def test_ratios_ranks_and_profile(small):
    means = small.means("tuned")
    ratios = small.ratios("tuned")
    np.testing.assert_allclose(ratios.min(axis=1), 1.0)
    np.testing.assert_allclose(ratios["Uniform"], means["Uniform"] / means.min(axis=1))
    table = small.relative("tuned").set_index(["world", "policy"])
    for key, row in table.iterrows():
        assert row.ratio == pytest.approx(ratios.loc[key])
        assert row.low <= row.ratio * (1 + 1e-9) and row.ratio <= row.high * (1 + 1e-9)
    assert sorted(table.loc["still", "rank"]) == [1, 2, 3]
    profile = small.profile("tuned", [1.0, 2.0, 1e6])
    assert profile.iloc[0].sum() == pytest.approx(1.0)  # one best in each world
    assert (profile.iloc[-1] == 1.0).all() and profile["Uniform"].iloc[0] == 0.0
    overall = small.overall("tuned")
    for name in small.policies:
        assert overall.loc[name, "all"] == pytest.approx(
            np.exp(np.log(ratios[name]).mean())
        )
        jumping = ratios.loc[["two features", "rare jumps"], name]
        assert overall.loc[name, "jumps"] == pytest.approx(
            np.exp(np.log(jumping).mean())
        )
        assert overall.loc[name, "worst"] == pytest.approx(ratios[name].max())


def test_ranks_and_intervals_against_scipy():
    """Regrets made up: A is best where nothing moves, B in the other world."""
    rng, draws = np.random.default_rng(0), 20_000
    c, d = rng.exponential(3.0, (2, 16)) + 3.0
    finals = {
        "still": {"C": c, "A": np.ones(16), "B": np.full(16, 2.0)},
        "two features": {
            "C": d,
            "A": 2 + rng.exponential(size=16),
            "B": np.full(16, 2.0),
        },
    }
    names = {"scale": 1.0, "memory": math.inf, "regret": 1.0, "footing": "tuned"}
    scores = pd.DataFrame(
        {"world": world, "policy": policy, **names}
        | {f"r{i}": r for i, r in enumerate(regret)}
        for world, row in finals.items()
        for policy, regret in row.items()
    )
    made = paper.Benchmark(scores[["world", "policy", *list(names)[:3]]], scores)
    table = made.relative(draws=draws).set_index(["world", "policy"])
    for world, row in finals.items():
        ranks = stats.rankdata([regret.mean() for regret in row.values()])
        assert table.loc[world, "rank"].tolist() == ranks.tolist()
    assert table.loc["still", ["rank_low", "rank_high"]].to_numpy().tolist() == (
        [[3, 3], [1, 1], [2, 2]]
    )
    overall = made.overall(draws=draws)
    assert overall["mean_rank"].to_dict() == {"A": 1.5, "B": 1.5, "C": 3.0}
    words = {"n_resamples": draws, "method": "percentile", "rng": 1}

    def both(c, d, axis):
        return np.sqrt(c.mean(axis) * d.mean(axis) / 2)

    for data, statistic, limits in (
        ([c], np.mean, table.loc[("still", "C"), ["low", "high"]]),
        ([c], np.mean, overall.loc["C", ["still_low", "still_high"]]),
        ([d / 2], np.mean, overall.loc["C", ["jumps_low", "jumps_high"]]),
        ([c, d], both, overall.loc["C", ["all_low", "all_high"]]),
    ):
        known = stats.bootstrap(data, statistic, **words).confidence_interval
        assert tuple(limits) == pytest.approx(tuple(known), rel=0.01)


def test_transfer_has_ones_on_its_diagonal(small):
    table = small.transfer("LinTS")
    np.testing.assert_allclose(np.diag(table), 1.0)
    assert (table.to_numpy() >= 1.0).all()
    part = small.tuning[small.tuning.policy == "LinTS"].set_index(["world", "scale"])
    there = small.setting("still", "LinTS")[0]
    rows = part.loc["rare jumps"].regret
    assert table.loc["still", "rare jumps"] == pytest.approx(rows[there] / rows.min())


# --- files ----------------------------------------------------------------------------


def test_tables_come_back_from_disk(small, tmp_path):
    small.write(tmp_path)
    again = paper.read_benchmark(tmp_path)
    pd.testing.assert_frame_equal(again.tuning, small.tuning)
    pd.testing.assert_frame_equal(
        again.scores.fillna({"scale": -1.0, "memory": -1.0}),
        small.scores.astype({"scale": float, "memory": float}).fillna(
            {"scale": -1.0, "memory": -1.0}
        ),
    )


def test_a_column_can_be_added_and_replaced(small):
    extra = paper.run_benchmark(
        SMALL[0], ["LinUCB", "Uniform"], quick=True, cache=False, n_jobs=1
    )
    both = small.with_rows_of(extra)
    assert both.worlds == small.worlds
    assert set(both.policies) == {*small.policies, "LinUCB"}
    whole = paper.run_benchmark(
        SMALL[0], [*SMALL[1], "LinUCB"], quick=True, cache=False, n_jobs=1
    )
    for footing in FOOTINGS:
        pd.testing.assert_frame_equal(
            both.means(footing)[whole.policies], whole.means(footing)
        )
    fewer = paper.run_benchmark(
        ["still"], ["LinUCB"], quick=True, cache=False, n_jobs=1
    )
    with pytest.raises(ValueError, match="other must have been played in the worlds"):
        small.with_rows_of(fewer)


def test_a_world_and_a_policy_in_ten_lines(monkeypatch):
    """As the chapter does it: put them into the tables and play one row, one column."""
    we = wsbnb.environments
    jumps = we.AbruptPath(we.RecurringAnchors(4, places=2))
    env = we.Environment(jumps, we.FixedArms(5), we.GaussianNoise(0.3), 200, 2)
    mine = paper.BenchmarkWorld("two seasons", "back and forth", "jumps", env)

    def build(known, scale, memory):
        words = {"noise_std": known.noise_std, "discount": 0.9 if memory else 0.5}
        return wsbnb.WSBLinTS(
            prior_mean=known.prior_mean, prior_cov=1.0, scale=scale or 1.0, **words
        )

    ours = paper.Contender("Mine", build, scales=(0.1, 1.0))
    monkeypatch.setitem(paper.WORLDS, mine.name, mine)
    monkeypatch.setitem(paper.CONTENDERS, ours.name, ours)
    options = {"quick": True, "cache": False, "n_jobs": 1}
    row = paper.run_benchmark(["two seasons"], ["Mine", "Uniform"], **options)
    assert row.means("tuned").loc["two seasons"].idxmin() == "Mine"
    assert set(row.relative("tuned")["kind"]) == {"jumps"}
    column = paper.run_benchmark(["two seasons", "two features"], ["Mine"], **options)
    assert column.worlds == ["two seasons", "two features"]
    np.testing.assert_array_equal(
        column.finals("two seasons", "theory")["Mine"],
        row.finals("two seasons", "theory")["Mine"],
    )


def test_what_is_stored_is_not_played_again(tmp_path, monkeypatch):
    options = {"quick": True, "cache": tmp_path, "n_jobs": 1}
    first = paper.run_benchmark(["still"], ["LinTS"], **options)
    monkeypatch.setattr(lab, "simulate", None)
    again = paper.run_benchmark(["still"], ["LinTS"], **options)
    pd.testing.assert_frame_equal(first.scores, again.scores)
    monkeypatch.undo()
    for path in (tmp_path / "benchmark").iterdir():
        path.write_bytes(path.read_bytes()[:50])  # a damaged file is played again
    again = paper.run_benchmark(["still"], ["LinTS"], **options)
    pd.testing.assert_frame_equal(first.scores, again.scores)


def test_no_bit_of_a_stored_result_can_be_changed_unnoticed(tmp_path):
    store = lab._Store(tmp_path, n_jobs=1)
    what = paper.WORLDS["still"], paper.CONTENDERS["LinTS"], [(1.0, 9.0)], 3, 0
    finals = np.array([[1.0, 2.0, 3.5]])
    store._save(*what, finals)
    path = store._path(*what)
    whole = path.read_bytes()
    assert (store._load(*what) == finals).all()
    for i, byte in enumerate(whole):
        path.write_bytes(whole[:i] + bytes([byte ^ 1 << i % 8]) + whole[i + 1 :])
        found = store._load(*what)
        assert found is None or (found == finals).all()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"worlds": ["mars"]}, "worlds must be"),
        ({"policies": ["luck"]}, "policies must be"),
        ({"quick": "yes"}, "quick"),
    ],
)
def test_unknown_names_are_refused(words, message):
    with pytest.raises((ValueError, TypeError), match=message):
        paper.run_benchmark(**words)


def test_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("WSBNB_CACHE", str(tmp_path / "store"))
    words = ["benchmark", "--quick", "--worlds", "still", "--quiet", "--n-jobs", "1"]
    out = str(tmp_path / "tables")
    assert main([*words, "--policies", "LinTS", "--out", out]) == 0
    assert "LinTS (scale" in capsys.readouterr().out
    assert main([*words, "--policies", "Uniform", "--add-to", out]) == 0
    assert paper.read_benchmark(tmp_path / "tables").policies == ["LinTS", "Uniform"]
    assert main(["benchmark", "--list"]) == 0
    shown = capsys.readouterr().out
    assert "recurring jumps" in shown and "Surprise restart" in shown
    with pytest.raises(SystemExit, match="--add-to"):
        more = ["--worlds", "two features", "--policies", "Uniform"]
        main(["benchmark", "--quick", "--quiet", *more, "--add-to", out])


# --- the record -----------------------------------------------------------------------


def test_record_is_whole():
    kept = paper.recorded_benchmark()
    assert kept.worlds == list(paper.WORLDS)
    assert set(kept.policies) == set(paper.CONTENDERS)
    keys = ["world", "policy", "footing"]
    assert not kept.scores.duplicated(keys).any()
    count = len(kept.worlds) * len(kept.policies) * len(FOOTINGS)
    assert len(kept.scores) == count
    regrets = kept.scores.filter(regex=r"^r\d+$")
    assert regrets.shape[1] == lab.FULL[1] and np.isfinite(regrets.to_numpy()).all()
    assert kept.scores["commit"].str.fullmatch("[0-9a-f]{10}").all()
    sizes = kept.tuning.groupby("policy").size() / len(kept.worlds)
    for name in kept.policies:
        assert sizes[name] == len(paper.CONTENDERS[name].settings())


def test_recorded_settings_follow_from_the_recorded_tuning():
    kept = paper.recorded_benchmark()
    for policy in kept.policies:
        grid = kept.tuning[kept.tuning["policy"] == policy]
        for world in kept.worlds:
            tuned = lab.best_setting(grid, policy, [world])
            assert kept.setting(world, policy, "tuned") == tuned
            kind = paper.WORLDS[world].kind
            kin = lab.carried_setting(grid, policy, world, kind)
            assert kept.setting(world, policy, "kind") == kin
            carried = lab.carried_setting(grid, policy, world)
            assert kept.setting(world, policy, "carried") == carried


@pytest.mark.parametrize(
    ("world", "policies"),
    [
        ("two features", ["WSB-LinTS", "LB-WeightUCB", "Surprise restart"]),
        ("two outcomes", ["WSB-RandLinUCB", "SW-LinUCB"]),
        ("jumping, then still", ["D-LinTS", "Discount mixture"]),
        ("mean reversion", ["D-LinUCB", "Bandit over discounts"]),
        ("few arms", ["Change points", "Change points, RandLinUCB"]),
        ("one coordinate", ["Random-walk LinTS"]),
        ("few arms", ["MASTER"]),
    ],
)
def test_rows_of_the_record_can_be_played_again(world, policies):
    """Test trials of some rows, the same to the last digit that is kept.

    If this fails, the code that decides the numbers has changed, and the record is to
    be made again: `wsbnb benchmark --out wsbnb/paper/data --guide`.
    """
    kept, place = paper.recorded_benchmark(), paper.WORLDS[world]
    players = {
        f"{name} {footing}": lab._builder(
            place, paper.CONTENDERS[name], kept.setting(world, name, footing)
        )
        for name in policies
        for footing in ("theory", "tuned")
    }
    run = wsbnb.simulate(
        players,
        place.environment,
        trials=1 if paper.CONTENDERS[policies[0]].slow else 5,
        seed=lab.TEST_SEED,
        n_jobs=1,
        progress=False,
        points=1,
    )
    for name in policies:
        for footing in ("theory", "tuned"):
            mine = run.final(f"{name} {footing}").round(2)
            stored = kept.finals(world, footing)[name].to_numpy()[: len(mine)]
            np.testing.assert_array_equal(mine, stored)


@pytest.mark.parametrize("world", paper.WORLDS)
def test_every_world_is_the_one_of_the_record(world):
    """Its first test trial, played by a sampler at the setting that is kept."""
    kept, place = paper.recorded_benchmark(), paper.WORLDS[world]
    build = lab._builder(place, paper.CONTENDERS["LinTS"], kept.setting(world, "LinTS"))
    words = {"trials": 1, "seed": lab.TEST_SEED, "n_jobs": 1, "points": 1}
    run = wsbnb.simulate({"it": build}, place.environment, progress=False, **words)
    assert run.final("it").round(2) == kept.finals(world)["LinTS"].iloc[0]


def test_tuning_rows_of_the_record_can_be_played_again():
    kept, place = paper.recorded_benchmark(), paper.WORLDS["two features"]
    player = paper.CONTENDERS["LinUCB"]
    run = wsbnb.simulate(
        {str(s): lab._builder(place, player, (s, math.inf)) for s in player.scales},
        place.environment,
        trials=lab.FULL[0],
        seed=lab.TRAIN_SEED,
        n_jobs=1,
        progress=False,
        points=1,
    )
    part = kept.tuning.query("world == 'two features' and policy == 'LinUCB'")
    found = [round(run.final(str(s)).mean(), 2) for s in player.scales]
    assert part.regret.tolist() == found
