"""Environments: exact variation, laws of the draws, streams, validation."""

import copy
import dataclasses
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import wsbnb.environments as we

NOISES = [
    we.GaussianNoise(0.7),
    we.UniformNoise(0.7),
    we.RademacherNoise(0.7),
    we.BoundedHeavyNoise(0.7),
    we.BoundedHeavyNoise(0.7, cutoff=100.0),
]


def make(path, arms=None, noise=None, horizon=40, dim=3, **bounds):
    arms = arms or we.FixedArms(5)
    noise = noise or we.GaussianNoise(0.5)
    return we.Environment(path, arms, noise, horizon, dim, **bounds)


def circle(t):
    return [0.9 * np.cos(t / 9), 0.9 * np.sin(t / 9), 0.1]


def drawn_path(rng, horizon, dim):
    return rng.uniform(-0.5, 0.5, size=(horizon, dim))


def drawn_arms(rng, start, stop, dim):
    # Two calls per range: only fixed ranges keep the bits independent of the block.
    rows = rng.uniform(-0.3, 0.3, size=(stop - start, 4, dim))
    return rows + 0.01 * rng.standard_normal(dim).clip(-1, 1)


def brute_variation(world):
    path = world.parameters(0, world.horizon)
    return sum(
        float(np.linalg.norm(path[t] - path[t + 1])) for t in range(world.horizon - 1)
    )


def collect(world, size):
    """Paths, arms per round as (T, d, K) and noise, assembled from blocks."""
    blocks = list(world.blocks(size))
    assert [b.start for b in blocks] == list(range(0, world.horizon, size))
    for b in blocks:  # what compiled loops are specialised for
        for array in (b.theta, b.arms, b.noise):
            assert array.flags.c_contiguous and array.flags.writeable
            assert array.dtype == np.float64
    arms = [np.broadcast_to(b.arms, (len(b.noise), *b.arms.shape[-2:])) for b in blocks]
    return (
        np.concatenate([b.theta for b in blocks]),
        np.concatenate(arms),
        np.concatenate([b.noise for b in blocks]),
    )


def all_anchors(count):
    rng = np.random.default_rng(count)
    rows = rng.standard_normal((count, 3))
    given_rows = 1.3 * rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return [
        we.RandomAnchors(count),
        we.OrthogonalAnchors(count),
        we.PlaneAnchors(count),
        we.GivenAnchors(given_rows),
    ]


ALL_PATHS = [
    *[we.AbruptPath(rule) for rule in all_anchors(4)],
    *[we.SlowPath(rule) for rule in all_anchors(4)],
    *[we.SlowPath(rule, closed=True) for rule in all_anchors(5)],
    we.StationaryPath(),
    we.StationaryPath([0.1, 0.2, -0.3]),
    we.RandomWalkPath(0.05),
    we.GivenPath(np.random.default_rng(1).uniform(-0.5, 0.5, (2500, 3))),
    we.CallablePath(circle),
    we.CallablePath(drawn_path),
]


# ---------------------------------------------------------------- exact variation


@pytest.mark.parametrize("path", ALL_PATHS, ids=repr)
def test_variation_is_the_sum_of_steps(path):
    env = make(path, horizon=2500, param_bound=1.3)
    for seed in range(3):
        world = env.world(seed)
        assert world.variation == pytest.approx(brute_variation(world), rel=1e-10)
        if env.variation is not None:
            assert env.variation == world.variation


@settings(max_examples=80, deadline=None)
@given(
    count=st.integers(1, 7),
    extra=st.integers(1, 30),
    dim=st.integers(2, 5),
    closed=st.booleans(),
    rule=st.sampled_from([we.RandomAnchors, we.OrthogonalAnchors, we.PlaneAnchors]),
    seed=st.integers(0, 2**32),
)
def test_variation_for_any_horizon(count, extra, dim, closed, rule, seed):
    anchors, horizon = rule(count), count + extra
    for path in (we.AbruptPath(anchors), we.SlowPath(anchors, closed=closed)):
        world = make(path, horizon=horizon, dim=dim, param_bound=0.6).world(seed)
        assert world.variation == pytest.approx(
            brute_variation(world), rel=1e-9, abs=1e-12
        )


@pytest.mark.parametrize("dim", [2, 3, 32])
def test_orthogonal_abrupt_variation_is_known_before_any_trial(dim):
    env = make(we.AbruptPath(we.OrthogonalAnchors(4)), dim=dim, param_bound=2.5)
    assert env.variation == pytest.approx(3 * np.sqrt(2) * 2.5, rel=1e-14)


def test_variation_that_depends_on_the_trial_is_none():
    for path in (
        we.AbruptPath(we.RandomAnchors(4)),
        we.SlowPath(we.RandomAnchors(4)),
        we.SlowPath(we.OrthogonalAnchors(4), closed=True),
        we.CallablePath(drawn_path),
    ):
        env = make(path)
        assert env.variation is None
        assert env.world(0).variation != env.world(1).variation


def test_open_tour_of_the_paper_has_one_variation_for_all_trials():
    env = we.paper_environment("slow", dim=6)
    assert env.variation == pytest.approx(2 * 3999 * np.sin(np.pi * 3 / (4 * 3999)))
    assert env.world(3).variation == env.variation


def test_single_round_and_single_anchor_do_not_move():
    assert make(we.AbruptPath(we.RandomAnchors(1)), horizon=1).variation == 0.0
    assert make(we.SlowPath(we.RandomAnchors(1), closed=True), horizon=1).variation == 0
    assert make(we.RandomWalkPath(0.1), horizon=1).world(0).variation == 0.0


# ---------------------------------------------------------------- anchors and paths


@pytest.mark.parametrize("dim", [2, 3, 16])
def test_consecutive_anchors_are_orthogonal_and_on_the_sphere(dim):
    rng = np.random.default_rng(0)
    for rule in (we.OrthogonalAnchors(6), we.PlaneAnchors(6)):
        points = rule.draw(rng, dim, 2.0)
        np.testing.assert_allclose(np.linalg.norm(points, axis=1), 2.0, rtol=1e-13)
        inner = np.einsum("ij,ij->i", points[:-1], points[1:])
        np.testing.assert_allclose(inner, 0.0, atol=1e-13)


def test_orthogonal_anchors_are_uniform_given_the_previous_one():
    rng = np.random.default_rng(3)
    draws = np.array([we.OrthogonalAnchors(3).draw(rng, 3, 1.0) for _ in range(4000)])
    # A coordinate of a uniform point on the sphere in three dimensions is uniform.
    for anchor in range(3):
        for i in range(3):
            law = stats.uniform(-1, 2).cdf
            assert stats.kstest(draws[:, anchor, i], law).pvalue > 1e-4
    # Third against first: uniform angle on the circle orthogonal to the second.
    cosine = np.einsum("ij,ij->i", draws[:, 0], draws[:, 2])
    assert stats.kstest(np.arccos(cosine), stats.uniform(0, np.pi).cdf).pvalue > 1e-4


def test_plane_anchors_span_two_dimensions():
    points = we.PlaneAnchors(7).draw(np.random.default_rng(0), 6, 1.0)
    assert np.linalg.matrix_rank(points) == 2
    np.testing.assert_array_equal(points[4:], points[:3])


def test_abrupt_path_holds_anchors_like_array_split():
    rows = np.arange(1.0, 5.0)[:, None] / 4
    world = make(we.AbruptPath(we.GivenAnchors(rows)), horizon=10, dim=1).world(0)
    pieces = np.array_split(np.arange(10), 4)
    want = np.concatenate([np.full(len(p), rows[j, 0]) for j, p in enumerate(pieces)])
    np.testing.assert_array_equal(world.parameters(0, 10)[:, 0], want)
    assert world.change_points == [p[0] for p in pieces[1:]] == [3, 6, 8]


def test_equal_neighbours_are_no_change_point():
    rows = [[0.5], [0.5], [0.1]]
    world = make(we.AbruptPath(we.GivenAnchors(rows)), horizon=9, dim=1).world(0)
    assert world.change_points == [6]


@pytest.mark.parametrize("path", ALL_PATHS[4:], ids=repr)
def test_only_abrupt_paths_have_change_points(path):
    world = make(path, horizon=2500, param_bound=1.3).world(0)
    assert world.change_points == []


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("rule", all_anchors(4)[:3], ids=repr)
def test_slow_path_is_a_geodesic_of_constant_speed(rule, closed):
    legs = 4 if closed else 3
    horizon, bound = legs * 50 + 1, 2.0
    env = make(we.SlowPath(rule, closed), horizon=horizon, dim=4, param_bound=bound)
    path = env.world(5).parameters(0, horizon)
    np.testing.assert_allclose(np.linalg.norm(path, axis=1), bound, rtol=1e-13)
    if closed:
        np.testing.assert_allclose(path[-1], path[0], atol=1e-13)
    for j in range(legs):
        leg = path[50 * j : 50 * j + 51]
        steps = np.linalg.norm(np.diff(leg, axis=0), axis=1)
        np.testing.assert_allclose(steps, steps[0], rtol=1e-9)
        angle = np.arccos(np.clip(leg[0] @ leg[-1] / bound**2, -1, 1))
        np.testing.assert_allclose(  # shortest: the steps' angles add up to the arc's
            50 * 2 * np.arcsin(steps[0] / (2 * bound)), angle, rtol=1e-9
        )
        # Great circle: no curvature out of the plane of the two ends.
        basis, _ = np.linalg.qr(leg[[0, -1]].T)
        np.testing.assert_allclose(leg @ basis @ basis.T, leg, atol=1e-12)


def test_slow_and_abrupt_visit_the_same_anchors():
    for rule in all_anchors(4)[:3]:
        slow = make(we.SlowPath(rule), horizon=31).world(7).parameters(0, 31)
        jump = make(we.AbruptPath(rule), horizon=4).world(7).parameters(0, 4)
        np.testing.assert_allclose(slow[::10], jump, atol=1e-13)


def test_opposite_anchors_take_some_half_circle():
    rows = [[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]
    env = make(we.SlowPath(we.GivenAnchors(rows)), horizon=41)
    first, second = (env.world(s).parameters(0, 41) for s in (0, 1))
    for path in (first, second):
        np.testing.assert_allclose(np.linalg.norm(path, axis=1), 1.0, rtol=1e-13)
        np.testing.assert_allclose(path[[0, -1]], rows, atol=1e-14)
        assert abs(path[20, 0]) < 1e-14
    assert abs(first[20] - second[20]).max() > 0.1
    assert env.variation is None
    assert env.world(0).variation == pytest.approx(80 * np.sin(np.pi / 80))


def test_nearly_opposite_and_nearly_equal_anchors_stay_on_the_sphere():
    for gap in (1e-5, 1e-7, 1e-9, 1e-12):
        for sign in (-1.0, 1.0):
            angle = gap if sign > 0 else np.pi - gap
            rows = [[1.0, 0.0, 0.0], [np.cos(angle), np.sin(angle), 0.0]]
            world = make(we.SlowPath(we.GivenAnchors(rows)), horizon=11).world(0)
            path = world.parameters(0, 11)
            np.testing.assert_allclose(np.linalg.norm(path, axis=1), 1, rtol=1e-12)
            np.testing.assert_allclose(path[-1], rows[1], atol=2e-8)


def test_stationary_path_starts_where_the_other_paths_start():
    start = make(we.StationaryPath()).world(11).parameters(0, 40)
    assert (start == start[0]).all()
    for rule in all_anchors(4)[:3]:
        for path in (we.AbruptPath(rule), we.SlowPath(rule)):
            np.testing.assert_allclose(
                make(path).world(11).parameters(0, 1), start[:1], rtol=1e-15
            )


def test_random_walk_steps_and_norms():
    env = make(we.RandomWalkPath(0.3), horizon=3000, dim=4, param_bound=2.0)
    path = env.world(1).parameters(0, 3000)
    # A few units in the last place: rounding does not add up over the rounds.
    np.testing.assert_allclose(np.linalg.norm(path, axis=1), 2.0, rtol=1e-15)
    steps = np.diff(path, axis=0)
    np.testing.assert_allclose(np.linalg.norm(steps, axis=1), 0.3, rtol=1e-12)
    # Directions are tangent and centred: consecutive steps are uncorrelated.
    cosines = np.einsum("ij,ij->i", steps[1:], steps[:-1]) / 0.09
    assert abs(cosines.mean()) < 5 * cosines.std() / np.sqrt(len(cosines)) + 0.02
    # The path is made in chunks of 1024 rounds: no chunk repeats another's draws.
    for lag in (1024, 2048):
        pairs = np.einsum("ij,ij->i", steps[lag:], steps[:-lag]) / 0.09
        assert abs(pairs.mean()) < 5 * pairs.std() / np.sqrt(len(pairs))


def test_random_walk_rounds_can_be_asked_for_in_any_order():
    env = make(we.RandomWalkPath(0.1), horizon=2600)
    whole = env.world(4).parameters(0, 2600)
    world = env.world(4)
    for start, stop in [(2500, 2600), (0, 3), (1000, 2100), (1024, 1025), (7, 7)]:
        np.testing.assert_array_equal(world.parameters(start, stop), whole[start:stop])


# ---------------------------------------------------------------- arms


@pytest.mark.parametrize("rule", [we.FixedArms, we.RedrawnArms])
def test_arms_lie_on_the_sphere_and_are_uniform(rule):
    env = make(we.StationaryPath(), rule(3000), horizon=2, arm_bound=1.7)
    arms = next(env.world(0).blocks(2)).arms
    assert arms.flags.c_contiguous and arms.dtype == np.float64
    columns = arms.reshape(-1, 3, 3000)[0]
    np.testing.assert_allclose(np.linalg.norm(columns, axis=0), 1.7, rtol=1e-13)
    for coordinate in columns:
        assert stats.kstest(coordinate, stats.uniform(-1.7, 3.4).cdf).pvalue > 1e-4


def test_redrawn_arms_change_and_start_with_the_fixed_ones():
    fixed = next(make(we.StationaryPath(), we.FixedArms(5)).world(2).blocks())
    drawn = next(make(we.StationaryPath(), we.RedrawnArms(5)).world(2).blocks())
    assert fixed.arms.shape == (3, 5) and drawn.arms.shape == (40, 3, 5)
    np.testing.assert_array_equal(fixed.arms, drawn.arms[0])
    assert abs(np.diff(drawn.arms, axis=0)).min() > 0.0


def test_rules_say_whether_their_arms_stay():
    """What is drawn once is handed to the kernels once."""
    for rule in ALL_ARMS:
        world = make(we.StationaryPath(), rule, horizon=2500).world(0)
        assert rule.fixed == (next(world.blocks(9)).arms.ndim == 2)
    assert {rule.fixed for rule in ALL_ARMS} == {True, False}


def test_given_arms_are_handed_out_as_columns():
    rows = np.random.default_rng(0).uniform(-0.5, 0.5, (4, 3))
    block = next(make(we.StationaryPath(), we.GivenArms(rows)).world(0).blocks())
    np.testing.assert_array_equal(block.arms, rows.T)
    assert block.arms.flags.c_contiguous and block.arms.flags.writeable
    sets = np.random.default_rng(0).uniform(-0.5, 0.5, (40, 4, 3))
    world = make(we.StationaryPath(), we.GivenArms(sets)).world(0)
    second = list(world.blocks(30))[1]
    np.testing.assert_array_equal(second.arms, sets[30:].transpose(0, 2, 1))
    assert second.arms.flags.c_contiguous and world.n_arms == 4


def test_callable_arms_see_ordered_ranges():
    assert make(we.StationaryPath(), we.CallableArms(drawn_arms)).n_arms is None
    seen = []

    def arms(rng, start, stop, dim):
        seen.append((start, stop, dim))
        return np.full((stop - start, 2, dim), 0.1)

    world = make(we.StationaryPath(), we.CallableArms(arms), horizon=150).world(0)
    assert sum(len(block.noise) for block in world.blocks(7)) == 150
    assert seen == [(0, 64, 3), (64, 128, 3), (128, 150, 3)]
    assert world.n_arms == 2


# ---------------------------------------------------------------- streams

ALL_ARMS = [
    we.FixedArms(4),
    we.RedrawnArms(4),
    we.GivenArms(np.random.default_rng(2).uniform(-0.5, 0.5, (4, 3))),
    we.GivenArms(np.random.default_rng(2).uniform(-0.5, 0.5, (2500, 4, 3))),
    we.CallableArms(drawn_arms),
]


def assert_same_rounds(one, other):
    for left, right in zip(one, other, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("arms", ALL_ARMS, ids=repr)
@pytest.mark.parametrize("path", ALL_PATHS[4::3], ids=repr)
def test_block_size_changes_no_bit(path, arms):
    world = make(path, arms, horizon=2500, param_bound=1.3).world(9)
    whole = collect(world, 2500)
    assert_same_rounds(whole, (world.parameters(0, 2500), *whole[1:]))
    for size in (1, 7, 64, 1000, 9999):
        assert_same_rounds(whole, collect(world, size))


@settings(max_examples=30, deadline=None)
@given(
    path=st.sampled_from([p for p in ALL_PATHS if not isinstance(p, we.GivenPath)]),
    arms=st.sampled_from([a for a in ALL_ARMS if a != ALL_ARMS[3]]),
    noise=st.sampled_from(NOISES),
    size=st.integers(1, 120),
    seed=st.integers(0, 2**64),
)
def test_same_seed_same_world_in_any_blocks(path, arms, noise, size, seed):
    env = make(path, arms, noise, horizon=100, param_bound=1.3)
    assert_same_rounds(collect(env.world(seed), 100), collect(env.world(seed), size))


def test_different_seeds_differ_and_equal_seeds_agree():
    env = we.paper_environment("abrupt", dim=3, horizon=40)
    first, second = (collect(env.world(s), 40) for s in (0, 1))
    for left, right in zip(first, second, strict=True):
        assert (left != right).all()
    assert_same_rounds(first, collect(env.world(np.random.SeedSequence(0)), 40))


def test_streams_do_not_influence_each_other():
    base = make(we.AbruptPath(we.RandomAnchors(4)), horizon=200)
    theta, arms, noise = collect(base.world(3), 64)
    swaps = {
        "arms": (we.RedrawnArms(9), (theta, None, noise)),
        "path": (we.RandomWalkPath(0.1), (None, arms, noise)),
        "noise": (we.UniformNoise(2.0), (theta, arms, None)),
    }
    for field, (rule, kept) in swaps.items():
        got = collect(dataclasses.replace(base, **{field: rule}).world(3), 64)
        for want, value in zip(kept, got, strict=True):
            if want is not None:
                np.testing.assert_array_equal(value, want)
            else:
                assert value.shape != arms.shape or (value != arms).all()


def test_path_arms_and_noise_are_uncorrelated():
    # All three come from normals: equal streams would show as equal numbers.
    env = make(we.StationaryPath(), we.FixedArms(1), horizon=3)
    rows = []
    for seed in range(400):
        theta, arms, noise = collect(env.world(seed), 3)
        rows.append(np.concatenate([theta[0], arms[0, :, 0], noise]))
    correlation = np.corrcoef(np.array(rows).T)
    assert abs(correlation - np.eye(9)).max() < 5 / np.sqrt(400)


def test_world_leaves_the_seed_alone_and_survives_spawning():
    env = we.paper_environment("abrupt", dim=2, horizon=20)
    seed = np.random.SeedSequence(5, spawn_key=(3,))
    before = collect(env.world(seed), 20)
    assert seed.n_children_spawned == 0
    seed.spawn(4)
    assert_same_rounds(before, collect(env.world(seed), 20))
    other = np.random.SeedSequence(5, spawn_key=(4,))
    assert (collect(env.world(other), 20)[2] != before[2]).all()


def test_spawned_children_never_meet_the_streams_of_the_world():
    seed = np.random.SeedSequence(5)
    world = make(we.StationaryPath()).world(seed)
    noise = collect(world, 40)[2] / 0.5
    for child in seed.spawn(8):
        assert not np.isin(
            np.random.default_rng(child).standard_normal(40), noise
        ).any()


def test_named_generators():
    world = we.paper_environment("abrupt", dim=2, horizon=20).world(1)
    before = collect(world, 20)
    first = world.generator("exploration").standard_normal(50)
    again = world.generator("exploration").standard_normal(50)
    np.testing.assert_array_equal(first, again)
    for name in ("prior", "path", "arms", "noise", ""):
        assert not np.isin(world.generator(name).standard_normal(50), first).any()
        draws = world.generator(name).standard_normal(50)
        assert not np.isin(np.sqrt(0.15) * draws, before[2]).any()
    assert_same_rounds(before, collect(world, 20))
    other = we.paper_environment("slow", dim=7).world(1)
    np.testing.assert_array_equal(
        other.generator("exploration").standard_normal(50), first
    )
    with pytest.raises(TypeError, match="name"):
        world.generator(3)


@pytest.mark.parametrize("arms", [*ALL_ARMS[:3], ALL_ARMS[4]], ids=repr)
@pytest.mark.parametrize("path", [p for p in ALL_PATHS if p != ALL_PATHS[15]], ids=repr)
def test_blocks_may_be_changed_by_the_caller(path, arms):
    world = make(path, arms, param_bound=1.3).world(1)
    before = collect(world, 40)
    for block in world.blocks(40):
        block.arms[:] = 0.0
        block.theta[:] = 0.0
        block.noise[:] = 0.0
    assert_same_rounds(before, collect(world, 40))


@pytest.mark.parametrize(
    "path",
    [
        we.AbruptPath(we.OrthogonalAnchors(4)),
        we.SlowPath(we.RandomAnchors(4), closed=True),
        we.StationaryPath(),
    ],
    ids=repr,
)
def test_ten_million_rounds_need_no_memory(path):
    tracemalloc.start()
    try:
        world = make(path, horizon=10**7, dim=8).world(0)
        assert world.variation >= 0.0
        last = world.parameters(10**7 - 5, 10**7)
        blocks = world.blocks(4096)
        for _ in range(5):
            next(blocks)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    np.testing.assert_allclose(np.linalg.norm(last, axis=1), 1.0, rtol=1e-12)
    assert peak < 4e6


# ---------------------------------------------------------------- data semantics

RULES = [*ALL_PATHS, *ALL_ARMS, *NOISES, *all_anchors(3)]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_rules_are_values(rule):
    twin = pickle.loads(pickle.dumps(rule))
    assert twin == rule == copy.deepcopy(rule)
    assert hash(twin) == hash(rule)
    assert repr(twin) == repr(rule) and len(repr(rule)) < 100
    assert rule.__class__.__name__ in repr(rule)
    assert sum(rule == other for other in RULES) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(rule, dataclasses.fields(rule)[0].name, None)


def test_given_arrays_are_frozen_copies():
    rows = np.array([[0.1, 0.2], [0.3, 0.4]])
    for rule in (we.GivenAnchors(rows), we.GivenPath(rows), we.GivenArms(rows)):
        rows[0, 0] = 9.0
        assert rule.array[0, 0] == 0.1
        for one in (rule, pickle.loads(pickle.dumps(rule))):
            with pytest.raises(ValueError, match="read-only"):
                one.array[0, 0] = 1.0
        rows[0, 0] = 0.1


def test_environment_and_world_pickle():
    env = we.paper_environment("slow", dim=3, anchors="plane", arms="redrawn")
    twin = pickle.loads(pickle.dumps(env))
    assert twin == env and twin.variation == env.variation
    assert env != dataclasses.replace(env, horizon=17) and env != "environment"
    world = env.world(np.random.SeedSequence(4, spawn_key=(2,)))
    world_twin = pickle.loads(pickle.dumps(world))
    assert_same_rounds(collect(world, 999), collect(world_twin, 999))
    assert repr(world_twin) == repr(world) and "spawn_key=(2,)" in repr(world)


# ---------------------------------------------------------------- smallest cases


def test_one_dimension_and_one_arm():
    rows = [[1.0], [-1.0]]
    paths = [
        we.StationaryPath(),
        we.AbruptPath(we.RandomAnchors(2)),
        we.AbruptPath(we.GivenAnchors(rows)),
        we.AbruptPath(we.OrthogonalAnchors(1)),
        we.SlowPath(we.PlaneAnchors(1)),
        we.GivenPath(rows),
    ]
    for path in paths:
        for arms in (we.FixedArms(1), we.RedrawnArms(1), we.GivenArms([[0.5]])):
            world = make(path, arms, horizon=2, dim=1, param_bound=1.0).world(0)
            theta, columns, noise = collect(world, 1)
            np.testing.assert_array_equal(abs(theta), np.ones((2, 1)))
            assert columns.shape == (2, 1, 1) and noise.shape == (2,)
            assert world.n_arms == 1
            assert world.variation == pytest.approx(brute_variation(world))


def test_paper_environment():
    for dim in (2, 4, 6, 16, 32):
        env = we.paper_environment("abrupt", dim)
        world = env.world(0)
        assert (world.horizon, world.dim, world.n_arms) == (4000, dim, 48)
        assert world.noise_std == pytest.approx(np.sqrt(0.15))
        assert world.variation == pytest.approx(3 * np.sqrt(2))
        assert world.change_points == [1000, 2000, 3000]
        still = we.paper_environment("still", dim).world(0)
        assert still.variation == 0.0 and still.change_points == []
        np.testing.assert_allclose(
            still.parameters(3999, 4000), world.parameters(0, 1), rtol=1e-15
        )
    tour = we.paper_environment("slow", 6, anchors="plane", closed_tour=True)
    assert tour.variation == pytest.approx(2 * np.pi, rel=1e-6)
    assert we.paper_environment("slow", 3, anchors="independent").path == we.SlowPath(
        we.RandomAnchors(4)
    )
    assert we.paper_environment("abrupt", 3, arms="redrawn").arms == we.RedrawnArms(48)
