"""Every way to explore on every rule of forgetting, against dense formulas.

The formulas are written out with inverses from batch sums over all rounds; nothing here
knows a recursion or a factor. All pairs are played in plain Python: see
`test_plain_python.py`. A compiled pair costs seconds, and its types meet nowhere
in the kernels but in the round itself; compiled, every way to explore meets one rule,
and every rule one of the ways.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import wsbnb
from tests import zoo
from tests.kernels import PLAIN
from tests.test_posterior import seesaw
from wsbnb import weights
from wsbnb.exploration import (
    Exploration,
    Greedy,
    Optimism,
    RandomisedOptimism,
    Thompson,
    Uniform,
    Widths,
)
from wsbnb.kernels import explore, memory

ROUNDS = 16
RULES = {
    "exponential": weights.Exponential(0.9),
    "window": weights.SlidingWindow(6),
    "restart": weights.Restart(7),
    "round": weights.Polynomial(1.5, of="round"),
    "age": weights.Polynomial(0.7, of="age"),
    "custom": weights.CustomWeights(seesaw),
}
MU3, COV3 = zoo.prior(3)
#: Prior mean, prior covariance, noise level, number of arms.
CASES = {
    "plain": (np.zeros(2), np.eye(2), 1.0, 4),
    "skew": (MU3, COV3, 0.4, 9),
    "one dimension": (np.array([0.7]), np.array([[2.5]]), 0.4, 5),
    "one arm": (MU3, COV3, 0.4, 1),
    "ridge": (np.zeros(3), 0.4**2 / 0.3 * np.eye(3), 0.4, 5),
}
IN_ALL_CASES = pytest.mark.parametrize("case", list(CASES))


def everywhere(names, compiled):
    """Each of `names` with each rule in plain Python; compiled only as in `compiled`.

    Two rules are never compiled, and always there.
    """
    pairs = [
        (name, rule)
        for name, chosen in compiled.items()
        for rule in RULES
        if PLAIN or rule in (*chosen, "age", "custom")
    ]
    return pytest.mark.parametrize(names, pairs)


COMPILED_RULES = ["exponential", "window", "restart", "round"]


def composed(case, rule, exploration, rng=5):
    mean, cov, sigma, _ = CASES[case]
    if case == "ridge":
        post = wsbnb.WRLS(
            dim=3, regularization=0.3, noise_std=sigma, forgetting=RULES[rule]
        )
    else:
        post = wsbnb.WSBPosterior(
            prior_mean=mean, prior_cov=cov, noise_std=sigma, forgetting=RULES[rule]
        )
    return wsbnb.LinearPolicy(post, exploration, rng=rng)


def world(case):
    """Arms (rounds, K, d) and rewards (rounds, K)."""
    mean, _, _, K = CASES[case]
    return zoo.problem(7, ROUNDS, mean.size, K)


def dense(case, rule, X, rewards):
    """Everything that the formulas need, from all rounds at once."""
    mu0, cov0, sigma, _ = CASES[case]
    w = RULES[rule].row(len(X))
    P0 = np.linalg.inv(cov0)
    X = np.reshape(X, (-1, mu0.size))
    P = P0 + (w[:, None] * X).T @ X / sigma**2
    squares = P0 + (w[:, None] ** 2 * X).T @ X / sigma**2
    h = P0 @ mu0 + X.T @ (w * rewards) / sigma**2
    cov = np.linalg.inv(P)
    return SimpleNamespace(
        P0=P0,
        P=P,
        h=h,
        mean=cov @ h,
        squares=squares,
        cov={"posterior": cov, "local": cov @ squares @ cov},
        sum_of_squares=(w**2).sum(),
        t=len(X) + 1,
    )


def follow(case, rule, policy):
    """Play; before each round yield the arms and what the formulas know by then."""
    X, rewards = world(case)
    rows, paid = [], []
    for arms, pays in zip(X, rewards, strict=True):
        yield arms, dense(case, rule, rows, np.array(paid))
        k = policy.pull(arms)
        policy.update(arms[k], pays[k])
        rows.append(arms[k])
        paid.append(pays[k])


def widths(known, norm, arms):
    return np.sqrt(np.einsum("ki,ij,kj->k", arms, known.cov[norm], arms))


def close(got, expected, rtol=1e-9):
    atol = rtol * np.abs(expected).max()
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol)


# --- optimism -------------------------------------------------------------------------

BOUNDS = dict(delta=0.02, param_bound=1.7, arm_bound=2.5)


def noise_radius(case, known, split="anytime", radius="trace", horizon=None):
    mu0, cov0, sigma, _ = CASES[case]
    d, t = mu0.size, known.t
    size = np.trace(cov0) if radius == "trace" else np.linalg.eigvalsh(cov0)[-1]
    delta = 0.02
    if split == "horizon":
        delta = 0.02 / horizon
    elif split == "anytime":
        delta = 0.02 / (2 * t * (1 + math.log(t)) ** 2)
    ratio = size * 2.5**2 * known.sum_of_squares / (d * sigma**2)
    return math.sqrt(2 * math.log(1 / delta) + d * math.log(1 + ratio))


def static_penalty(case):
    """The prior mean and the farthest parameter, both in the norm of the prior."""
    mu0, cov0, _, _ = CASES[case]
    P0 = np.linalg.inv(cov0)
    return math.sqrt(mu0 @ P0 @ mu0) + 1.7 * math.sqrt(np.linalg.eigvalsh(P0)[-1])


@everywhere("norm, rule", {"posterior": COMPILED_RULES, "local": ["exponential"]})
@IN_ALL_CASES
def test_optimism(case, rule, norm):
    """Mean, width, radius and score in every round."""
    exploration = Optimism(**BOUNDS, penalty="static", radius_scale=0.3, norm=norm)
    policy = composed(case, rule, exploration)
    for arms, known in follow(case, rule, policy):
        said = policy.explain(arms)
        mean, width = arms @ known.mean, widths(known, norm, arms)
        radius = 0.3 * (noise_radius(case, known) + static_penalty(case))
        close(said["mean"], mean)
        close(said["width"], width)
        assert said["penalty"] == pytest.approx(static_penalty(case), rel=1e-12)
        assert said["radius"] == pytest.approx(radius, rel=1e-12)
        close(said["score"], mean + radius * width)
        assert policy.copy().pull(arms) == int(np.argmax(mean + radius * width))


@pytest.mark.parametrize("case", ["plain", "skew", "one dimension"])
@pytest.mark.parametrize("split", ["horizon", "none", "anytime"])
@pytest.mark.parametrize("radius", ["trace", "lambda_max"])
def test_constants_of_the_radius(case, split, radius):
    words = dict(split=split, radius=radius, horizon=90)
    policy = composed(
        case, "window", Optimism(**BOUNDS, **words, penalty="static", norm="local")
    )
    for arms, known in follow(case, "window", policy):
        beta = noise_radius(case, known, **words)
        expected = beta + static_penalty(case)
        assert policy.explain(arms)["radius"] == pytest.approx(expected, rel=1e-12)


def test_the_static_penalty_of_a_ridge():
    """In posterior units it is sqrt(lambda) S / sigma."""
    assert static_penalty("ridge") == pytest.approx(math.sqrt(0.3) * 1.7 / 0.4)


@everywhere("penalty, rule", {"exact": ["window"]})
@pytest.mark.parametrize("case", ["plain", "skew", "one dimension"])
def test_the_exact_penalty(case, rule, penalty):
    policy = composed(case, rule, Optimism(**BOUNDS, penalty=penalty))
    mu0 = CASES[case][0]
    for arms, known in follow(case, rule, policy):
        exact = wsbnb.prior_penalty(
            mu0, CASES[case][1], known.cov["posterior"], 1.7, form="exact"
        )
        said = policy.explain(arms)
        assert said["penalty"] == pytest.approx(exact, rel=1e-9)
        assert said["radius"] == pytest.approx(noise_radius(case, known) + exact)


def bound_on_penalty(form, known, mu0):
    M = known.P0 @ known.cov["posterior"] @ known.P0
    top, size = np.linalg.eigvalsh(M)[-1], mu0 @ M @ mu0
    if form == "triangle":
        return math.sqrt(size) + 1.7 * math.sqrt(top)
    return math.sqrt(size + 1.7**2 * top + 2 * 1.7 * np.linalg.norm(M @ mu0))


@everywhere("penalty, rule", {"cxv": ["exponential"], "triangle": ["restart"]})
@pytest.mark.parametrize("case", ["plain", "skew", "one dimension"])
def test_certified_penalties_are_never_too_small(case, rule, penalty):
    """Also where the estimate shrinks: a row leaves, a block ends, weights fall."""
    policy = composed(case, rule, Optimism(**BOUNDS, penalty=penalty))
    mu0 = CASES[case][0]
    X, rewards = zoo.problem(3, 60, mu0.size, 1)
    X[15:30] *= 0.05  # hardly anything is learnt for a while
    ratios = []
    for t in range(60):
        known = dense(case, rule, X[:t, 0], rewards[:t, 0])
        true = bound_on_penalty(penalty, known, mu0)
        ratios.append(policy.explain(X[t])["penalty"] / true)
        policy.pull(X[t])
        policy.update(X[t, 0], rewards[t, 0])
    assert min(ratios) >= 1.0 - 1e-12
    assert np.median(ratios) < 1.1


# --- a random radius ------------------------------------------------------------------

LAWS = {
    "rectified": lambda z: max(z, 0.0),
    "gaussian": lambda z: z,
    "half-normal": abs,
    "radius": abs,
}


@everywhere("norm, rule", {"posterior": ["round"], "local": ["exponential"]})
@IN_ALL_CASES
def test_randomised_optimism(case, rule, norm):
    exploration = RandomisedOptimism(scale=0.7, perturbation="gaussian", norm=norm)
    policy = composed(case, rule, exploration)
    normals = np.random.default_rng(5)
    for arms, known in follow(case, rule, policy):
        eta = 0.7 * normals.standard_normal()
        said = policy.explain(arms)
        assert said["radius"] == pytest.approx(eta, rel=1e-12)
        close(said["score"], arms @ known.mean + eta * widths(known, norm, arms))


@pytest.mark.parametrize("law", list(LAWS))
@pytest.mark.parametrize("case", ["plain", "skew"])
def test_laws(case, law):
    optimism = Optimism(**BOUNDS, penalty="static", radius_scale=99.0)  # not its factor
    exploration = RandomisedOptimism(scale=0.4, perturbation=law, optimism=optimism)
    policy = composed(case, "exponential", exploration)
    normals = np.random.default_rng(5)
    for arms, known in follow(case, "exponential", policy):
        eta = 0.4 * LAWS[law](normals.standard_normal())
        if law == "radius":
            eta *= noise_radius(case, known) + static_penalty(case)
        assert policy.explain(arms)["radius"] == pytest.approx(eta, rel=1e-12, abs=0)


# --- draws ----------------------------------------------------------------------------


def drawn(known, norm, scale, z):
    """The parameter for given normals."""
    if norm == "posterior":
        R = np.linalg.cholesky(known.P).T
        return known.mean + scale * np.linalg.inv(R) @ z
    root = np.linalg.cholesky(known.squares)
    return known.cov["posterior"] @ (known.h + scale * root @ z)


@everywhere("norm, rule", {"posterior": ["exponential"], "local": ["window"]})
@IN_ALL_CASES
def test_thompson(case, rule, norm):
    policy = composed(case, rule, Thompson(scale=0.7, norm=norm))
    normals = np.random.default_rng(5)
    for arms, known in follow(case, rule, policy):
        theta = drawn(known, norm, 0.7, normals.standard_normal(arms.shape[1]))
        close(policy.scores(arms), arms @ theta)
        twin = policy.copy()
        assert twin.pull(arms) == int(np.argmax(arms @ theta))
        close(twin.posterior.mean, known.mean)  # a draw is not what is known
        said = policy.explain(arms)
        close(said["mean"], arms @ known.mean)
        close(said["width"], widths(known, "posterior", arms))


@everywhere("way, rule", {Greedy: ["exponential"]})
@pytest.mark.parametrize("case", ["plain", "skew", "one dimension"])
def test_greedy(case, way, rule):
    policy = composed(case, rule, way())
    for arms, known in follow(case, rule, policy):
        close(policy.scores(arms), arms @ known.mean)
    assert policy.n_normals == 0


@everywhere("way, rule", {Uniform: ["exponential"]})
def test_uniform(way, rule):
    """The arm is the place of an angle on a circle, and what is learnt is learnt."""
    policy = composed("skew", rule, way())
    normals = np.random.default_rng(5)
    for arms, known in follow("skew", rule, policy):
        first, second = normals.standard_normal(2)
        share = 0.5 + math.atan2(first, second) / (2 * math.pi)
        expected = np.eye(len(arms))[int(share * len(arms))]
        np.testing.assert_array_equal(policy.scores(arms), expected)
        close(policy.posterior.mean, known.mean)


def test_so_many_times_as_much():
    """What a master asks of a member: the same way to explore, rescaled."""
    wide = explore.Widths(2.0, 3.0, explore.Plain(1.5))
    assert explore.rescaled(wide, 0.5) == explore.Widths(1.0, 1.5, explore.Plain(1.5))
    assert explore.rescaled(explore.Sample(3.0), 0.5) == explore.Sample(1.5)
    assert explore.rescaled(explore.Chance(0.0), 0.5) == explore.Chance(0.0)


def test_an_angle_of_pi_belongs_to_the_last_arm():
    work = memory.new_work(2, 5)
    normals = np.array([[0.0, -1.0]])
    explore._score_chance(None, None, work, np.zeros((2, 5)), normals, 0)
    assert work.rows[explore.SCORES, :5].tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]


def test_a_scale_of_zero_is_greedy():
    for exploration in (
        Thompson(scale=0.0),
        RandomisedOptimism(scale=0.0),
        Optimism(radius_scale=0.0, penalty="static"),
    ):
        policy = composed("skew", "exponential", exploration)
        for arms, known in follow("skew", "exponential", policy):
            close(policy.scores(arms), arms @ known.mean)


# --- named classes are compositions ---------------------------------------------------

RADIUS = dict(zoo.BOUNDS, radius="lambda_max", penalty="static")
FOREVER = {k: v for k, v in RADIUS.items() if k != "horizon"} | {"split": "none"}


def ridge(**forgetting):
    return wsbnb.WRLS(
        dim=3, regularization=zoo.LAMBDA, noise_std=zoo.SIGMA, **forgetting
    )


def wsb():
    prior = dict(prior_mean=MU3, prior_cov=COV3, noise_std=zoo.SIGMA)
    return wsbnb.WSBPosterior(**prior, discount=zoo.GAMMA)


DISCOUNT = dict(discount=zoo.GAMMA)
#: In the norm of V a scale is in units of the reward, not of sigma.
SCALE = 0.7 / zoo.SIGMA
NAMED = {
    "WSBLinUCB": (wsb(), Optimism(**zoo.BOUNDS)),
    "WSBRandLinUCB": (wsb(), RandomisedOptimism(scale=0.7)),
    "WSBLinTS": (wsb(), Thompson(scale=0.7)),
    "DLinUCB": (ridge(**DISCOUNT), Optimism(**RADIUS, norm="local")),
    "LBWeightUCB": (ridge(**DISCOUNT), Optimism(**RADIUS)),
    "DRandLinUCB": (
        ridge(**DISCOUNT),
        RandomisedOptimism(scale=SCALE, norm="local"),
    ),
    "DLinTS": (ridge(**DISCOUNT), Thompson(scale=SCALE, norm="local")),
    "LinUCB": (ridge(discount=1.0), Optimism(**FOREVER)),
    "SWLinUCB": (ridge(forgetting=weights.SlidingWindow(9)), Optimism(**RADIUS)),
    "RestartLinUCB": (ridge(forgetting=weights.Restart(9)), Optimism(**RADIUS)),
    "LinTS": (ridge(discount=1.0), Thompson(scale=SCALE)),
    "Greedy": (ridge(**DISCOUNT), Greedy()),
    "Uniform": (ridge(**DISCOUNT), Uniform()),
}


def test_every_named_class_is_listed():
    assert sorted(NAMED) == sorted(zoo.LINEAR)


@pytest.mark.parametrize("name", list(NAMED))
def test_named_classes_are_compositions(name):
    named, free = zoo.make(name, rng=3), wsbnb.LinearPolicy(*NAMED[name], rng=3)
    X, rewards = zoo.problem(2, 30, 3, 6)
    for arms, paid in zip(X, rewards, strict=True):
        np.testing.assert_array_equal(named.scores(arms), free.scores(arms))
        k = named.pull(arms)
        assert free.pull(arms) == k
        for policy in (named, free):
            policy.update(arms[k], paid[k])
    assert type(named.exploration) is type(free.exploration)


# --- the parts ------------------------------------------------------------------------


def test_the_posterior_is_copied_with_what_it_has_learnt():
    post = wsb()
    post.update(np.eye(3), [1.0, 2.0, 3.0])
    policy = wsbnb.LinearPolicy(post, Thompson(), rng=0)
    assert policy.rounds == 3 and policy.posterior is not post
    np.testing.assert_array_equal(policy.posterior.precision, post.precision)
    policy.update(np.ones(3), 1.0)
    assert (policy.rounds, post.rounds) == (4, 3)
    policy.reset()
    assert policy.rounds == 0


@pytest.mark.parametrize("squared", [False, True])
def test_squared_weights_do_not_leak_into_the_posterior_s_norm(squared):
    """A posterior that keeps them is measured by them only where this is asked for."""
    prior = dict(prior_mean=MU3, prior_cov=COV3, noise_std=0.4, discount=0.8)
    post = wsbnb.WSBPosterior(**prior, squared_weights=squared)
    X, rewards = zoo.problem(1, 9, 3, 1)
    post.update(X[:, 0], rewards[:, 0])
    policy = wsbnb.LinearPolicy(post, Optimism(penalty="static"))
    expected = np.sqrt(np.einsum("ki,ij,kj->k", X[:, 0], post.cov, X[:, 0]))
    close(policy.explain(X[:, 0])["width"], expected)
    local = Optimism(penalty="static", norm="local")
    if squared:
        w = 0.8 ** np.arange(8.0, -1.0, -1.0)
        P0 = np.linalg.inv(COV3)
        squares = P0 + (w[:, None] ** 2 * X[:, 0]).T @ X[:, 0] / 0.4**2
        expected = np.sqrt(np.diag(post.cov @ squares @ post.cov))
        policy = wsbnb.LinearPolicy(post, local)
        close(policy.explain(np.eye(3))["width"], expected)
    else:
        with pytest.raises(
            ValueError, match="posterior must have squared_weights=True"
        ):
            wsbnb.LinearPolicy(post, local)


def test_which_rounds_are_compiled():
    """Weights that are a Python function, or need every round, are not."""
    for rule in RULES:
        policy = composed("plain", rule, Thompson())
        assert policy.compiled == (rule not in ("age", "custom"))


def test_explorations_are_values():
    assert Optimism(horizon=1e3) == Optimism(horizon=1000) != Optimism()
    assert Optimism(horizon=1e3).split == "horizon" and Optimism().split == "anytime"
    assert len({Thompson(), Thompson(scale=1), Thompson(norm="local")}) == 2
    assert Thompson(scale=0.5).with_changes(norm="local") == Thompson(
        scale=0.5, norm="local"
    )
    with pytest.raises(AttributeError):
        Thompson().scale = 2.0


@pytest.mark.parametrize("way", [Thompson, RandomisedOptimism])
def test_a_scale_becomes_a_plain_number(way):
    """It is printed and saved, and each kind would be compiled for anew."""
    assert [type(way(scale=s).scale) for s in (2, np.float32(0.5))] == [float, float]


def test_settings_of_fixed_widths_are_checked():
    assert type(Widths(width=2).width) is float
    for setting, words in [
        (dict(width=-1.0), "width must be zero or positive"),
        (dict(norm="global"), "norm must be one of"),
    ]:
        with pytest.raises(ValueError, match=words):
            Widths(**setting)


def test_a_way_of_your_own_must_say_what_is_compiled():
    with pytest.raises(NotImplementedError):
        Exploration().compiled(None)


@pytest.mark.parametrize("dim", [1, 4])
def test_normals_per_decision(dim):
    counts = [
        each.normals(dim)
        for each in (Optimism(), RandomisedOptimism(), Thompson(), Greedy(), Uniform())
    ]
    assert counts == [0, 1, dim, 0, 2]


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: Thompson(scale=-1.0), ValueError, "scale must be zero or positive"),
        (lambda: Thompson(scale=1e200), ValueError, "scale must be at most"),
        (lambda: Thompson(norm="global"), ValueError, "norm must be one of"),
        (lambda: Thompson(0.5), TypeError, "positional"),
        (lambda: Optimism(delta=0.0), ValueError, "delta must lie"),
        (lambda: Optimism(delta="0.1"), TypeError, "delta must be a real"),
        (lambda: Optimism(horizon=0), ValueError, "horizon must be at least 1"),
        (lambda: Optimism(horizon=10.5), TypeError, "horizon must be a whole"),
        (lambda: Optimism(split="horizon"), ValueError, "horizon must be .* got None"),
        (lambda: Optimism(split="half"), ValueError, "split must be one of"),
        (lambda: Optimism(radius="det"), ValueError, "radius must be one of"),
        (lambda: Optimism(penalty="none"), ValueError, "penalty must be one of"),
        (lambda: Optimism(radius_scale=-1), ValueError, "radius_scale must be zero"),
        (lambda: Optimism(param_bound=-1), ValueError, "param_bound must be zero"),
        (lambda: Optimism(arm_bound=0), ValueError, "arm_bound must be positive"),
        (lambda: Optimism(norm=2), ValueError, "norm must be one of"),
        (lambda: Optimism().with_changes(delta=2), ValueError, "delta must lie"),
        (
            lambda: RandomisedOptimism(perturbation="cauchy"),
            ValueError,
            "perturbation must be one of .* got 'cauchy'",
        ),
        (
            lambda: RandomisedOptimism(perturbation="radius"),
            ValueError,
            "optimism must be given .* got None",
        ),
        (
            lambda: RandomisedOptimism(optimism=0.05),
            TypeError,
            "optimism must be an Optimism, got 0.05",
        ),
        (lambda: RandomisedOptimism(scale=np.nan), ValueError, "scale must be finite"),
        (
            lambda: wsbnb.LinearPolicy(None, Thompson()),
            TypeError,
            "posterior must be a WSBPosterior, got None",
        ),
        (
            lambda: wsbnb.LinearPolicy(wsb(), "thompson"),
            TypeError,
            "exploration must be one of .* got 'thompson'",
        ),
        (
            lambda: wsbnb.LinearPolicy(wsb(), Thompson),
            TypeError,
            "exploration must be one of",
        ),
        (lambda: wsbnb.LinearPolicy(wsb(), Thompson(), 3), TypeError, "positional"),
        (
            lambda: wsbnb.LinearPolicy(wsb(), Thompson(), rng="x"),
            TypeError,
            "rng must be",
        ),
    ],
)
def test_errors_name_the_argument(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_defaults_are_those_of_the_docstrings():
    given = dict(param_bound=1.0, arm_bound=1.0, radius_scale=1.0)
    assert Optimism() == Optimism(delta=0.05, **given)
    assert RandomisedOptimism() == RandomisedOptimism(scale=1.0)
    assert Thompson() == Thompson(scale=1.0) and Widths() == Widths(width=1.0)


@pytest.mark.parametrize("d", [8, 9, 17])
def test_the_local_norm_of_more_features_than_a_register_holds(d):
    policy, weights_now = zoo.make("DLinUCB", d), zoo.GAMMA ** np.arange(6)[::-1]
    X, rewards = zoo.problem(4, 6, d, 5)
    rows = X[:, 0]
    policy.update(rows, rewards[:, 0])
    ridge = zoo.LAMBDA * np.eye(d)
    P = ridge + (weights_now[:, None] * rows).T @ rows
    squares = ridge + (weights_now[:, None] ** 2 * rows).T @ rows
    cov = zoo.SIGMA**2 * np.linalg.inv(P) @ squares @ np.linalg.inv(P)
    width = np.sqrt(np.einsum("ki,ij,kj->k", X[0], cov, X[0]))
    close(policy.explain(X[0])["width"], width)
