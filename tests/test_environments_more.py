"""Further worlds: recurring places, mean reversion, chains, groups, other rewards."""

import pickle

import numpy as np
import pytest
from scipy import special, stats

import wsbnb
import wsbnb.environments as we

PATHS = {
    "recurring": we.AbruptPath(we.RecurringAnchors(7, places=3)),
    "reverting": we.MeanRevertingPath(reach=0.4, relaxation=30.0),
    "one": we.OneCoordinatePath(cycles=1.5),
    "chain": we.ChainedPath(
        (
            we.AbruptPath(we.RandomAnchors(2)),
            we.StationaryPath(),
            we.RandomWalkPath(0.1),
        )
    ),
}


def make(path=None, arms=None, noise=None, horizon=100, dim=3, **more):
    path = path or we.StationaryPath()
    noise = noise or we.GaussianNoise(0.5)
    return we.Environment(path, arms or we.FixedArms(5), noise, horizon, dim, **more)


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("bound", [1.0, 0.3])
def test_paths_keep_to_the_bound_and_know_their_variation(name, bound):
    env = make(PATHS[name], param_bound=bound)
    for seed in range(5):
        world = env.world(seed)
        theta = world.parameters(0, 100)
        assert (np.linalg.norm(theta, axis=1) <= bound * (1 + 1e-12)).all()
        steps = np.linalg.norm(np.diff(theta, axis=0), axis=1)
        assert world.variation == pytest.approx(steps.sum(), rel=1e-12)
        for a, b in ((0, 0), (3, 3), (30, 71), (99, 100), (34, 35), (33, 68)):
            np.testing.assert_array_equal(world.parameters(a, b), theta[a:b])
    again = pickle.loads(pickle.dumps(env))
    assert again == env and hash(again) == hash(env)


def test_recurring_places_return():
    world = make(we.AbruptPath(we.RecurringAnchors(10, places=2))).world(1)
    theta = world.parameters(0, 100)
    np.testing.assert_array_equal(theta[0], theta[25])
    assert (theta[5] != theta[15]).any()
    assert world.change_points == list(range(10, 100, 10))


def test_every_other_place_comes_next_equally_often():
    rng = np.random.default_rng(0)
    anchors = we.RecurringAnchors(30_001, places=4).draw(rng, 3, 1.0)
    _, which = np.unique(anchors, axis=0, return_inverse=True)
    step = (which[1:] - which[:-1]) % 4
    np.testing.assert_allclose(np.bincount(step) / 30_000, [0, *[1 / 3] * 3], atol=0.01)


@pytest.mark.parametrize("dim, lag, bound", [(4, 20, 1.0), (1, 7, 2.0), (6, 1, 0.5)])
def test_mean_reversion_has_its_moments(dim, lag, bound):
    """Stationary from the first round: spread, memory and the home's length."""
    path = we.MeanRevertingPath(reach=0.05, relaxation=20.0)  # never cut at S
    env = make(path, horizon=60, dim=dim, param_bound=bound)
    theta = np.array([env.world(s).parameters(0, 60) for s in range(3000)])
    gap = theta[:, lag:] - theta[:, :-lag]  # 2 reach^2 (1 - e^-lag/20), without home
    spread = (gap**2).sum(axis=2).mean(axis=0)
    expected = 2 * 0.05**2 * (1 - np.exp(-lag / 20))
    np.testing.assert_allclose(spread, expected, rtol=0.15)
    np.testing.assert_allclose(spread.mean(), expected, rtol=0.05)
    home = np.linalg.norm(theta.mean(axis=1), axis=1)
    np.testing.assert_allclose(np.median(home), 0.5 * bound, atol=0.01)


def test_cut_parameters_have_length_s():
    env = make(we.MeanRevertingPath(reach=3.0, relaxation=5.0), param_bound=0.7)
    lengths = np.linalg.norm(env.world(0).parameters(0, 100), axis=1)
    assert (lengths <= 0.7 * (1 + 1e-12)).all() and (lengths > 0.7 - 1e-12).sum() > 50


def test_one_coordinate_moves_as_the_formula_says():
    theta = make(PATHS["one"], dim=4).world(3).parameters(0, 100)
    assert np.ptp(theta[:, 1:], axis=0).max() == 0.0
    assert np.linalg.norm(theta[0, 1:]) == pytest.approx(np.sqrt(0.5))
    # A cosine of period T / 1.5 is minus itself half a period later: no whole rounds
    # here, so use the recurrence x(t+1) + x(t-1) = 2 cos(omega) x(t).
    x, omega = theta[:, 0], 2 * np.pi * 1.5 / 100
    np.testing.assert_allclose(x[2:] + x[:-2], 2 * np.cos(omega) * x[1:-1], atol=1e-12)


def test_one_coordinate_begins_anywhere_on_its_circle():
    """The law of a cosine of a uniform angle, for which SciPy has a name."""
    env = make(PATHS["one"], dim=2, param_bound=3.0)
    first, then = np.array([env.world(s).parameters(0, 2)[:, 0] for s in range(800)]).T
    amplitude = 3.0 * np.sqrt(0.5)
    law = stats.arcsine(loc=-amplitude, scale=2.0 * amplitude)
    assert stats.kstest(first, law.cdf).pvalue > 1e-3
    assert abs((then < first).mean() - 0.5) < 4 * 0.5 / np.sqrt(800)


@pytest.mark.parametrize("bound", [0.5, 1.0, 3.0])
def test_steps_of_a_walk_are_at_most_a_diameter(bound):
    longest = make(we.RandomWalkPath(2.0 * bound), param_bound=bound).world(0)
    theta = longest.parameters(0, 4)
    np.testing.assert_allclose(theta[1:], -theta[:-1], atol=1e-12 * bound)
    with pytest.raises(ValueError, match="step must be at most 2 param_bound"):
        make(we.RandomWalkPath(2.1 * bound), param_bound=bound)


def test_one_anchor_of_any_length():
    """Every rule at a count of one, where there is nothing to turn to."""
    rng = np.random.default_rng(0)
    for rule in (we.PlaneAnchors(1), we.OrthogonalAnchors(1), we.RandomAnchors(1)):
        anchors = rule.draw(rng, 3, 2.5)
        assert anchors.shape == (1, 3)
        assert np.linalg.norm(anchors) == pytest.approx(2.5)
    assert we.GivenAnchors([[1.0, 0.0, 0.5]]).count == 1


@pytest.mark.parametrize(
    "count, closed, legs", [(1, True, 0), (2, True, 2), (4, False, 3)]
)
def test_legs_of_a_tour(count, closed, legs):
    path = we.SlowPath(we.OrthogonalAnchors(count), closed=closed)
    assert path.legs == legs
    for horizon in (3 * legs + 1, 3 * legs + 2):
        env = make(path, horizon=horizon)
        world = env.world(0)
        steps = np.diff(world.parameters(0, horizon), axis=0)
        total = np.linalg.norm(steps, axis=1).sum()
        assert world.variation == pytest.approx(total, abs=1e-12)
        known = path.variation(horizon, 3, 1.0)
        assert known is None or known == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize(
    "row, said", [(1, "norm 0.5 in row 1"), (2, "norm 0.7 in row 2")]
)
def test_anchors_of_a_tour_have_one_length(row, said):
    anchors = np.eye(3)
    anchors[row] *= float(said.split()[1])
    path = we.SlowPath(we.GivenAnchors(anchors))
    with pytest.raises(ValueError, match=f"got {said} and 1 in row 0"):
        make(path)
    with pytest.raises(ValueError, match="got norm 0 in row 0 and 0 in row 0"):
        make(we.SlowPath(we.GivenAnchors(np.zeros((2, 3)))))


def test_what_is_too_long_is_told_in_the_user_s_unit():
    path = we.AbruptPath(we.GivenAnchors([[0.0, 3.0, 4.0]]))
    with pytest.raises(ValueError, match="row 0 has norm 5, above param_bound = 4"):
        make(path, param_bound=4.0)


def test_equal_neighbours_of_a_tour_have_a_known_variation():
    """A leg of no length has one shortest arc, unlike one between opposite points."""
    path = we.SlowPath(we.GivenAnchors([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    known = make(path, dim=2).variation
    steps = np.diff(make(path, dim=2).world(0).parameters(0, 100), axis=0)
    assert known == pytest.approx(np.linalg.norm(steps, axis=1).sum())
    half = we.SlowPath(we.GivenAnchors([[1.0, 0.0], [-1.0, 0.0]]))
    assert make(half, dim=2).variation is None


def test_a_function_that_hides_its_arguments_is_asked_for_one_round():
    path = we.CallablePath(max)  # Python cannot tell what it takes
    assert path._takes(1) and not path._takes(3)


def test_rules_are_written_out_in_short():
    assert repr(we.GivenAnchors(np.ones((2, 4)))).count("1.0") == 8
    assert "<array of shape (3, 3)>" in repr(we.GivenAnchors(np.eye(3)))
    assert repr(we.CallablePath(np.linalg.norm)) == "CallablePath(function=norm)"
    assert "3.5" in repr(we.RandomWalkPath(3.5))


def test_what_is_chosen_if_nothing_is_said():
    assert we.BoundedHeavyNoise(0.5).cutoff == 10.0
    assert we.RecurringAnchors(9).places == 3
    assert we.ClusteredArms(4, groups=2, spread=0.1).fixed is True


def test_blocks_follow_one_another():
    env = make(arms=we.RedrawnArms(5), horizon=1000)
    blocks = list(env.world(0).blocks(300))
    assert [block.start for block in blocks] == [0, 300, 600, 900]
    assert [block.stop for block in blocks] == [300, 600, 900, 1000]


def test_chain_is_its_parts():
    env = make(PATHS["chain"])
    world = env.world(0)
    theta = world.parameters(0, 100)
    jumps = np.flatnonzero(np.linalg.norm(np.diff(theta, axis=0), axis=1) > 0.11) + 1
    assert world.change_points == jumps.tolist() == [17, 34, 67]
    assert np.ptp(theta[34:67], axis=0).max() == 0.0
    steps = np.linalg.norm(np.diff(theta[67:], axis=0), axis=1)
    np.testing.assert_allclose(steps, 0.1, rtol=1e-9)
    alone = we.ChainedPath((we.RandomWalkPath(0.1),))
    assert make(alone).world(0).variation == pytest.approx(9.9)


def test_groups_of_arms():
    arms = we.ClusteredArms(12, groups=3, spread=0.2)
    block = next(make(arms=arms, dim=5, arm_bound=2.0).world(0).blocks())
    X = block.arms
    np.testing.assert_allclose(np.linalg.norm(X, axis=0), 2.0)
    cosines = (X.T @ X) / 4.0
    same = np.equal.outer(np.arange(12) % 3, np.arange(12) % 3)
    assert cosines[same].min() > 0.9 > cosines[~same].max()
    tight = we.ClusteredArms(4, groups=2, spread=0.0)
    X = next(make(arms=tight).world(0).blocks()).arms
    np.testing.assert_allclose(X[:, 0], X[:, 2])
    one = next(make(arms=we.ClusteredArms(1, 1, 0.5), dim=1).world(0).blocks()).arms
    assert abs(one.item()) == pytest.approx(1.0)


# --- rewards --------------------------------------------------------------------------


def test_linear_rewards_are_the_default_and_change_no_bit():
    policy = wsbnb.WSBLinTS(
        prior_mean=np.zeros(3), prior_cov=1.0, noise_std=0.5, discount=0.97
    )
    runs = [
        wsbnb.simulate(policy, env, trials=2, n_jobs=1, progress=False).regret
        for env in (make(), make(rewards=we.LinearRewards()))
    ]
    np.testing.assert_array_equal(*runs)
    straight = make(rewards=we.CurvedRewards(0.0))
    same = wsbnb.simulate(policy, straight, trials=2, n_jobs=1, progress=False)
    np.testing.assert_allclose(same.regret, runs[0], rtol=1e-12)


LINEAR, SIGNED = we.LinearRewards(), we.Clicks("signed")


@pytest.mark.parametrize(
    ("rewards", "noise"),
    [(we.CurvedRewards(-0.4), we.GaussianNoise(0.3)), (LINEAR, SIGNED)],
)
def test_simulation_pays_and_scores_by_the_rule(rewards, noise):
    """Against a loop in plain Python, for a policy that listens."""
    env = make(we.RandomWalkPath(0.05), noise=noise, rewards=rewards, horizon=400)
    post = wsbnb.LinTS(dim=3, regularization=0.7, noise_std=0.5, scale=0.4)
    run = wsbnb.simulate(
        post, env, trials=1, seed=5, n_jobs=1, progress=False, points=400
    )
    world = env.world(wsbnb.trial_seed(5, 0))
    block = next(world.blocks(400))
    twin, total, curve = post.clone(world.generator("exploration")), 0.0, []
    for t in range(400):
        products = block.theta[t] @ block.arms
        means = rewards.means(products)
        k = twin.pull(block.arms.T)
        if noise is SIGNED:
            reward = 1.0 if 2 * block.noise[t] - 1 < means[k] else -1.0
        else:
            reward = products[k] - 0.4 * products[k] ** 2 + block.noise[t]
        twin.update(block.arms[:, k], reward)
        total += means.max() - means[k]
        curve.append(total)
    np.testing.assert_allclose(run.of("LinTS")[0], curve, rtol=1e-9, atol=1e-9)


def test_signed_clicks_have_the_mean():
    products = np.array([[-0.8, 0.0, 0.5, 1.5]])
    noise = SIGNED.sample(np.random.default_rng(1), 40_000)
    many = np.repeat(products, 40_000, axis=0)
    means, paid, rest = SIGNED.outcomes(many, noise)
    assert set(np.unique(paid)) == {-1.0, 1.0} and not rest.any()
    np.testing.assert_allclose(means[0], [-0.8, 0.0, 0.5, 1.0], atol=1e-15)
    np.testing.assert_allclose(paid.mean(axis=0), means[0], atol=0.015)
    assert SIGNED.std == 1.0 and (paid.std(axis=0) < 1.0001).all()


@pytest.mark.parametrize(
    ("rewards", "noise"),
    [(we.CurvedRewards(0.3), we.GaussianNoise(0.3)), (LINEAR, SIGNED)],
)
def test_the_oracle_knows_means_and_not_luck(rewards, noise):
    env = make(we.RandomWalkPath(0.05), noise=noise, rewards=rewards)
    run = wsbnb.simulate(wsbnb.Oracle(), env, trials=3, n_jobs=1, progress=False)
    assert np.abs(run.regret).max() < 1e-9


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: we.RecurringAnchors(4, places=1), ValueError, "places.*2.*1"),
        (lambda: we.MeanRevertingPath(-1.0, 5.0), ValueError, "reach.*-1"),
        (lambda: we.MeanRevertingPath(1.0, 0.0), ValueError, "relaxation"),
        (lambda: we.OneCoordinatePath(np.nan), ValueError, "cycles"),
        (lambda: make(we.OneCoordinatePath(1), dim=1), ValueError, "dim = 1"),
        (lambda: we.ChainedPath(()), TypeError, "parts"),
        (lambda: we.ChainedPath((3,)), TypeError, r"parts\[0\].*PathRule.*3"),
        (lambda: make(PATHS["chain"], horizon=2), ValueError, "horizon.*3.*2"),
        (lambda: make(PATHS["chain"], horizon=3), ValueError, "horizon.*2.*1"),
        (lambda: make(PATHS["chain"], dim=1), ValueError, "dim = 1"),
        (lambda: we.ClusteredArms(3, 4, 0.1), ValueError, "groups.*3.*4"),
        (lambda: we.ClusteredArms(3, 2, 1.0), ValueError, "spread.*1.0"),
        (lambda: make(rewards="linear"), TypeError, "rewards.*RewardRule"),
        (lambda: make(rewards=we.CurvedRewards(0.6)), ValueError, "bend.*0.5.*0.6"),
        (lambda: make(rewards=we.CurvedRewards(-0.6)), ValueError, "bend.*0.5.*-0.6"),
        (
            lambda: make(
                rewards=we.CurvedRewards(0.11), arm_bound=2.0, param_bound=2.5
            ),
            ValueError,
            "within 0.1 of 0 for means up to 5, got 0.11",
        ),
        (lambda: we.Clicks("sign"), ValueError, "link.*signed.*'sign'"),
        (
            lambda: make(noise=SIGNED, rewards=we.CurvedRewards(0.1)),
            ValueError,
            "rewards must be LinearRewards",
        ),
    ],
)
def test_bad_rules_are_refused(build, error, words):
    with pytest.raises(error, match=words):
        build()


def test_the_steepest_curve_that_still_rises():
    """At the ends of what arms can pay the slope 1 + 2 bend m just reaches zero."""
    for bend in (0.1, -0.1):
        env = make(rewards=we.CurvedRewards(bend), arm_bound=2.0, param_bound=2.5)
        m = np.linspace(-5.0, 5.0, 101)
        assert (np.diff(env.rewards.means(m)) > 0.0).all()


@pytest.mark.parametrize("link", ["logistic", "linear", "signed"])
def test_the_largest_spread_of_clicks(link):
    """Where both outcomes are as likely, and nowhere is it larger."""
    clicks = we.Clicks(link)
    chances, _, _ = clicks.outcomes(np.linspace(-3.0, 3.0, 601)[None], np.array([0.5]))
    spread = 2.0 if link == "signed" else 1.0
    p = (chances + 1.0) / 2.0 if link == "signed" else chances
    assert clicks.std == pytest.approx(spread * np.sqrt(p * (1 - p)).max())


@pytest.mark.parametrize(
    "link, chance",
    [
        ("logistic", special.expit),
        ("linear", lambda m: np.clip(m, 0.0, 1.0)),
        ("signed", lambda m: np.clip((1.0 + m) / 2.0, 0.0, 1.0)),
    ],
)
def test_arms_are_clicked_with_the_chance_of_their_mean(link, chance):
    """One uniform number decides for all arms of a round; 0 is no click for certain."""
    means = np.array([[-2.0, 0.0, 0.3], [0.7, 1.0, -1.0]])
    shown, paid, noise = we.Clicks(link).outcomes(means, np.array([0.0, 0.6]))
    p = chance(means)
    clicked = (np.array([[0.0], [0.6]]) < p).astype(float)
    if link == "signed":
        p, clicked = 2.0 * p - 1.0, 2.0 * clicked - 1.0
    np.testing.assert_allclose(shown, p, rtol=1e-15)
    assert paid.tolist() == clicked.tolist() and not noise.any()
