"""Bad input: which error, what it says, and that nothing changes."""

import copy

import numpy as np
import pytest

import wsbnb
from tests import zoo

NAN, INF = np.nan, np.inf
EYE = np.eye(3)


def lopsided():
    cov = np.eye(3)
    cov[0, 1] = 0.5
    return cov


# --- constructors --------------------------------------------------------------------

WSB = ["WSBLinUCB", "WSBRandLinUCB", "WSBLinTS"]
WRLS = [name for name in zoo.LINEAR if name not in WSB]
DISCOUNTED = [name for name in zoo.LINEAR if "discount" in zoo.settings(name, 2)]
UCB = [name for name in zoo.LINEAR if "delta" in zoo.settings(name, 2)]
SCALED = [name for name in zoo.LINEAR if "scale" in zoo.settings(name, 2)]
SPLIT = ["DLinUCB", "LBWeightUCB", "WSBLinUCB", "SWLinUCB", "RestartLinUCB"]

# Policies, argument, values, error, words in the message besides the argument's name.
CONSTRUCTORS = [
    (DISCOUNTED, "discount", [0.0, -0.1, 1.0001], ValueError, "(0, 1]"),
    (DISCOUNTED, "discount", [NAN, INF], ValueError, "finite"),
    (DISCOUNTED, "discount", ["0.9", None, True, [0.9]], TypeError, "real number"),
    (zoo.LINEAR, "noise_std", [0.0, -1.0], ValueError, "positive"),
    (zoo.LINEAR, "noise_std", [NAN, INF], ValueError, "finite"),
    (zoo.LINEAR, "noise_std", [1e-170, 1e170], ValueError, "between"),
    (zoo.LINEAR, "noise_std", ["x", None], TypeError, "real number"),
    (WRLS, "dim", [0, -2], ValueError, "at least 1"),
    (WRLS, "dim", [2.0, "2", None, True], TypeError, "whole number"),
    (WRLS, "regularization", [0.0, -1.0], ValueError, "positive"),
    (WRLS, "regularization", [NAN], ValueError, "finite"),
    (UCB, "delta", [0.0, 1.0, -0.5, 2.0], ValueError, "between 0 and 1"),
    (UCB, "delta", [NAN], ValueError, "finite"),
    (UCB, "delta", ["0.1", None], TypeError, "real number"),
    (UCB, "param_bound", [-1.0], ValueError, "zero or positive"),
    (UCB, "arm_bound", [0.0, -1.0], ValueError, "positive"),
    (SPLIT, "horizon", [0, -5], ValueError, "at least 1"),
    (SPLIT, "horizon", [10.5, "10"], TypeError, "whole number"),
    (SPLIT, "horizon", [None], ValueError, "split='anytime'"),
    (SPLIT, "split", ["sometimes", None, 3], ValueError, "'anytime'"),
    (["WSBLinUCB"], "radius", ["det"], ValueError, "'lambda_max'"),
    (["WSBLinUCB"], "penalty", ["none"], ValueError, "'triangle'"),
    (SCALED, "scale", [-0.1], ValueError, "zero or positive"),
    (SCALED, "scale", [NAN], ValueError, "finite"),
    (SCALED, "scale", ["1"], TypeError, "real number"),
    (
        ["DRandLinUCB", "WSBRandLinUCB"],
        "perturbation",
        ["cauchy"],
        ValueError,
        "'radius'",
    ),
    (["DRandLinUCB", "WSBRandLinUCB"], "split", ["never"], ValueError, "'horizon'"),
    (["DRandLinUCB", "WSBRandLinUCB"], "delta", [1.5], ValueError, "between 0 and 1"),
    (["WSBRandLinUCB"], "radius", ["det"], ValueError, "'trace'"),
    (["WSBRandLinUCB"], "penalty", ["none"], ValueError, "'cxv'"),
    (["SWLinUCB"], "length", [0], ValueError, "at least 1"),
    (["SWLinUCB"], "length", [2.5], TypeError, "whole number"),
    (["RestartLinUCB"], "period", [0], ValueError, "at least 1"),
    (WSB, "prior_mean", [[1.0, NAN, 0.0]], ValueError, "finite"),
    (WSB, "prior_mean", [[], EYE], ValueError, "non-empty vector"),
    (WSB, "prior_mean", ["abc", [1.0, "x", 0.0]], TypeError, "real numbers"),
    (WSB, "prior_mean", [np.array([1j, 0, 0])], TypeError, "complex"),
    (WSB, "prior_cov", [lopsided()], ValueError, "symmetric"),
    (WSB, "prior_cov", [np.diag([1.0, 0.0, 1.0]), -EYE], ValueError, "eigenvalue"),
    (WSB, "prior_cov", [np.eye(2), np.ones((3, 2))], ValueError, "shape"),
    (WSB, "prior_cov", [EYE * NAN], ValueError, "finite"),
    (WSB, "prior_cov", [np.ones(3)], ValueError, "matrix"),
    (zoo.LINEAR, "rng", [-1], ValueError, "zero or positive"),
    (
        zoo.LINEAR,
        "rng",
        ["seed", 1.5, np.random.RandomState(0)],
        TypeError,
        "Generator",
    ),
    (["Oracle"], "parameters", [np.ones(3), [[NAN]]], ValueError, ""),
]


@pytest.mark.parametrize(
    "names, argument, values, error, words",
    CONSTRUCTORS,
    ids=[f"{argument}-{words}" for _, argument, _, _, words in CONSTRUCTORS],
)
@pytest.mark.filterwarnings("ignore::wsbnb.TheoryWarning")
def test_constructor(names, argument, values, error, words):
    for name in names:
        for value in values:
            with pytest.raises(error) as caught:
                zoo.make(name, 3, **{argument: value})
            said = str(caught.value)
            assert argument in said, said
            assert words in said, said
            if np.ndim(value) == 0:
                assert repr(value) in said or str(value) in said, said


@pytest.mark.parametrize("name", ["DRandLinUCB", "WSBRandLinUCB"])
def test_radius_law_needs_delta(name):
    with pytest.raises(ValueError, match="delta must be given .* got None"):
        zoo.make(name, perturbation="radius")


def test_badly_conditioned_prior():
    with pytest.raises(ValueError, match="prior_cov"):
        zoo.make("WSBLinTS", 2, prior_mean=[0, 0], prior_cov=np.diag([1e-320, 1.0]))


# --- playing -------------------------------------------------------------------------

PULLS = [
    ([[1.0, NAN, 0.0]], ValueError, "X must be finite, got nan at index (0, 1)"),
    ([[1.0, 0.0, 0.0], [INF, 0.0, 0.0]], ValueError, "got inf at index (1, 0)"),
    (np.empty((0, 3)), ValueError, "X must be a non-empty matrix"),
    (np.empty((2, 0)), ValueError, "X must be a non-empty matrix"),
    ([], ValueError, "X must be a non-empty matrix"),
    ([1.0, 2.0, 3.0], ValueError, "got an array of shape (3,)"),
    (np.ones((2, 3, 1)), ValueError, "got an array of shape (2, 3, 1)"),
    (np.ones((2, 4)), ValueError, "X must have 3 columns, got shape (2, 4)"),
    ("arms", TypeError, "X must be an array of real numbers, got str"),
    (None, (TypeError, ValueError), "X must be"),
    ([[1.0, 2.0, 3.0], [1.0]], TypeError, "X must be an array of real numbers"),
    ([[1.0, "a", 3.0]], TypeError, "X must be an array of real numbers"),
    (np.ones((2, 3)) * 1j, TypeError, "complex"),
]
UPDATES = [
    ([1.0, NAN, 0.0], 1.0, ValueError, "x must be finite, got nan at index (1,)"),
    ([1.0, 0.0, 0.0], NAN, ValueError, "reward must be finite, got nan"),
    ([1.0, 0.0, 0.0], -INF, ValueError, "reward must be finite, got -inf"),
    ([1.0, 0.0, 0.0], None, TypeError, "reward must be a real number, got None"),
    ([1.0, 0.0, 0.0], "2", TypeError, "reward must be a real number, got '2'"),
    ([1.0, 0.0, 0.0], 1j, TypeError, "reward must be a real number, got 1j"),
    ([1.0, 0.0, 0.0], [1.0], TypeError, "reward must be a real number, got [1.0]"),
    (
        [1.0, 0.0],
        1.0,
        ValueError,
        "x must have shape (3,) or (n, 3), got shape (2,)",
    ),
    (1.0, 1.0, ValueError, "x must be the row of features"),
    ([], 1.0, ValueError, "x must have shape (3,) or (n, 3)"),
    ("abc", 1.0, TypeError, "x must be an array of real numbers, got str"),
    (EYE, [1.0, 2.0], ValueError, "reward must have one entry per row of x"),
    (EYE, 1.0, ValueError, "give the row that was played, X[k]"),
    (EYE, [1.0, NAN, 1.0], ValueError, "reward must be finite, got nan at index (1,)"),
    (
        np.ones((2, 2)),
        [1.0, 2.0],
        ValueError,
        "x must have shape (3,) or (n, 3), got shape (2, 2)",
    ),
    (np.array([1j, 0, 0]), 1.0, TypeError, "complex"),
]


def played(name):
    policy = zoo.make(name)
    X, rewards = zoo.problem(0, 12, 3, 4)
    for arms, paid in zip(X, rewards, strict=True):
        k = policy.pull(arms)
        policy.update(arms[k], paid[k])
    return policy


def everything(policy):
    state = copy.deepcopy(policy._get_state())
    return state, copy.deepcopy(policy._rng.bit_generator.state)


def assert_unchanged(policy, before):
    state, generator = everything(policy)
    assert generator == before[1]
    assert state.keys() == before[0].keys()
    for field, value in state.items():
        assert np.array_equal(value, before[0][field]), field


@pytest.mark.parametrize("name", zoo.ALL)
def test_bad_arms(name):
    policy = played(name)
    before = everything(policy)
    for X, error, words in PULLS:
        for method in (policy.pull, policy.scores):
            with pytest.raises(error) as caught:
                method(X)
            assert words in str(caught.value)
            assert_unchanged(policy, before)


@pytest.mark.parametrize("name", zoo.ALL)
def test_bad_observations(name):
    policy = played(name)
    before = everything(policy)
    for x, reward, error, words in UPDATES:
        with pytest.raises(error) as caught:
            policy.update(x, reward)
        assert words in str(caught.value), str(caught.value)
        assert_unchanged(policy, before)


@pytest.mark.parametrize("name", zoo.LINEAR)
@pytest.mark.parametrize(
    "x, reward",
    [
        ([1e200, 0.0, 0.0], 1.0),
        ([1.0, 0.0, 0.0], 1e308),
        ([[1.0, 0.0, 0.0], [1e12, 1e12, -1e12]], [1.0, 1.0]),
    ],
)
def test_numbers_too_large_for_the_matrix(name, x, reward):
    """Finite, but the precision would overflow or lose its definiteness."""
    policy = played(name)
    before = everything(policy)
    try:
        policy.update(x, reward)
    except ValueError as error:
        assert "x and reward must keep the precision matrix finite" in str(error)
        assert_unchanged(policy, before)
    else:  # where the numbers still fit, everything must still work
        assert np.isfinite(policy.posterior.mean).all()
        assert np.isfinite(policy.posterior.cov).all()
        assert np.isfinite(policy.scores(EYE)).all()


@pytest.mark.parametrize("name", zoo.LINEAR)
def test_bad_steps(name):
    policy = played(name)
    before = everything(policy)
    with pytest.raises(ValueError, match="steps must be zero or positive, got -1"):
        policy.decay(-1)
    with pytest.raises(ValueError, match="steps must be finite, got nan"):
        policy.decay(NAN)
    with pytest.raises(TypeError, match="steps must be a real number, got 'a'"):
        policy.decay("a")
    if name in ("SWLinUCB", "RestartLinUCB"):
        with pytest.raises(ValueError, match="steps must be a whole number here"):
            policy.decay(1.5)
    assert_unchanged(policy, before)


def test_oracle_steps():
    policy = played("Oracle")
    with pytest.raises(TypeError, match="steps must be a whole number"):
        policy.decay(1.5)
    assert policy._clock == 12


def test_own_class_needs_registration(tmp_path):
    class WSBLinTS(wsbnb.WSBLinTS):
        """Same name as a registered class, other behaviour."""

    policy = WSBLinTS([0.0], [[1.0]], 0.5, 0.9)
    with pytest.raises(TypeError, match="wsbnb.register"):
        policy.save(tmp_path / "p.json")
    with pytest.raises(ValueError, match="'WSBLinTS', which stands for wsbnb.policies"):
        wsbnb.register(WSBLinTS)
    assert list(tmp_path.iterdir()) == []
