"""Bad input: which error, what it says, and that nothing changes."""

import copy
import functools

import numpy as np
import pytest
from scipy import sparse

import wsbnb
from tests import zoo
from wsbnb.exploration import Greedy
from wsbnb.weights import Exponential, Polynomial

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
    (WRLS, "dim", [2.5, "2", None, True], TypeError, "whole number"),
    (WRLS, "dim", [2**16, 1e300], ValueError, "at most 32768"),
    (WRLS, "regularization", [0.0, -1.0], ValueError, "positive"),
    (WRLS, "regularization", [NAN], ValueError, "finite"),
    (UCB, "delta", [0.0, 1.0, -0.5, 2.0], ValueError, "between 0 and 1"),
    (UCB, "delta", [NAN], ValueError, "finite"),
    (UCB, "delta", ["0.1", None], TypeError, "real number"),
    (UCB, "param_bound", [-1.0], ValueError, "zero or positive"),
    (UCB, "param_bound", [1e200], ValueError, "at most 1e+150"),
    (UCB, "arm_bound", [0.0, -1.0], ValueError, "positive"),
    (UCB, "radius_scale", [-0.1], ValueError, "zero or positive"),
    (UCB, "radius_scale", [NAN, INF], ValueError, "finite"),
    (UCB, "radius_scale", ["1", None, True], TypeError, "real number"),
    (SPLIT, "horizon", [0, -5], ValueError, "at least 1"),
    (SPLIT, "horizon", [10.5, "10"], TypeError, "whole number"),
    (SPLIT, "split", ["sometimes", 3], ValueError, "'anytime'"),
    (["WSBLinUCB"], "radius", ["det"], ValueError, "'lambda_max'"),
    (["WSBLinUCB"], "penalty", ["none"], ValueError, "'triangle'"),
    (SCALED, "scale", [-0.1], ValueError, "zero or positive"),
    (SCALED, "scale", [1e200], ValueError, "at most 1e+150"),
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
    (WSB, "prior_cov", [np.ones(2), np.ones(4)], ValueError, "diagonal of length 3"),
    (WSB, "prior_cov", [np.zeros(3), [1.0, -1.0, 1.0]], ValueError, "eigenvalue"),
    (WSB, "prior_cov", [0.0, -2.0], ValueError, "positive definite"),
    (WSB, "prior_cov", [None, "1.0"], TypeError, "real numbers"),
    (zoo.LINEAR, "rng", [-1], ValueError, "at least 0"),
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


def test_badly_conditioned_prior():
    with pytest.raises(ValueError, match="prior_cov"):
        zoo.make("WSBLinTS", 2, prior_mean=[0, 0], prior_cov=np.diag([1e-320, 1.0]))
    for gap, sound in ((5e-15, True), (1e-15, False)):  # the first can also be played
        prior = dict(prior_mean=[0, 0], prior_cov=[[1.0, 1.0], [1.0, 1.0 + gap]])
        if sound:
            zoo.make("WSBLinTS", 2, **prior).pull(np.eye(2))
        else:
            with pytest.raises(ValueError, match="prior_cov must be well enough cond"):
                zoo.make("WSBLinTS", 2, **prior)


# --- playing -------------------------------------------------------------------------

HIDDEN = np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False])
DAY = np.datetime64("2020-01-01")
LOOP: list = []
LOOP.append(LOOP)  # a list within itself
DEEP = functools.reduce(lambda inner, _: [inner], range(2_000), 1.0)
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
    (None, TypeError, "X must be an array of real numbers, got NoneType: None"),
    ([[1.0, None, 3.0]], ValueError, "X must be finite, got nan at index (0, 1)"),
    (np.ma.masked_less(EYE, 0.5), ValueError, "X must have no masked entries, got 6"),
    (sparse.csr_array(EYE), TypeError, "X must be a dense array, got csr_array"),
    (EYE.astype(str), TypeError, "text '1.0'"),
    (EYE.astype(str).astype(object), TypeError, "text '1.0'"),
    (np.array([[INF, -INF, 0.0]]), ValueError, "X must be finite, got inf"),
    ([[1.0, 2.0, 3.0], [1.0]], TypeError, "X must be an array of real numbers"),
    ([[1.0, "a", 3.0]], TypeError, "X must be an array of real numbers"),
    (LOOP, TypeError, "X must be an array of real numbers, got list"),
    (DEEP, TypeError, "X must be an array of real numbers, got list"),
    (np.ones((2, 3)) * 1j, TypeError, "complex"),
    ([HIDDEN, [1.0, 2.0, 3.0]], ValueError, "X must have no masked entries, got 1"),
    ((EYE[0], [1.0, np.ma.masked, 3.0]), ValueError, "no masked entries, got 1"),
    (EYE.astype(np.dtypes.StringDType()), TypeError, "text '1.0'"),
    (np.array([[1.0, np.complex128(2j), 3.0]], dtype=object), TypeError, "complex128"),
    (np.array([[1.0, DAY, 3.0]], dtype=object), TypeError, "datetime64 2020"),
    (np.array([[1.0, DAY - DAY, 3.0]], dtype=object), TypeError, "timedelta64"),
]
UPDATES = [
    (np.ones(3), DEEP, TypeError, "reward must be a real number, got <list object"),
    ([1.0, NAN, 0.0], 1.0, ValueError, "x must be finite, got nan at index (1,)"),
    ([1.0, 0.0, 0.0], NAN, ValueError, "reward must be finite, got nan"),
    ([1.0, 0.0, 0.0], -INF, ValueError, "reward must be finite, got -inf"),
    ([1.0, 0.0, 0.0], None, TypeError, "reward must be a real number, got None"),
    (None, 1.0, TypeError, "x must be an array of real numbers, got NoneType"),
    (sparse.csr_array(EYE), [1.0] * 3, TypeError, "x must be a dense array"),
    (np.ma.masked_less(EYE[0], 0.5), 1.0, ValueError, "x must have no masked entries"),
    (EYE, np.ma.masked_less([0.0, 1.0, 2.0], 0.5), ValueError, "reward must have no"),
    (EYE, ["1", "2", "3"], TypeError, "reward must be an array of real numbers"),
    (EYE, [1j, 0.0, 0.0], TypeError, "complex"),
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
    ([HIDDEN, HIDDEN], [1.0, 2.0], ValueError, "x must have no masked entries, got 2"),
    (EYE, [1.0, np.ma.masked, 1.0], ValueError, "reward must have no masked entries"),
    (EYE[0], DAY - DAY, TypeError, "reward must be a real number, got np.timedelta64"),
]


def played(name, rounds=12, **changes):
    policy = zoo.make(name, **changes)
    X, rewards = zoo.problem(0, rounds, 3, 4)
    for arms, paid in zip(X, rewards, strict=True):
        k = policy.pull(arms)
        policy.update(arms[k], paid[k])
    return policy


def everything(policy):
    """What was learnt, the residuals, the generator, and what a reader sees."""
    seen = copy.deepcopy((policy._get_state(), policy._rng.bit_generator.state))
    if isinstance(policy, wsbnb.LinearPolicy):
        post = policy.posterior
        seen += (post.mean, post.cov)
    return seen


def assert_unchanged(policy, before):
    np.testing.assert_equal(everything(policy), before)


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


@pytest.mark.parametrize("name", zoo.ALL)
@pytest.mark.parametrize("decay", ["no", 1, 0, None, [True]])
def test_decay_is_true_or_false(name, decay):
    """`decay="no"` must not count as a yes."""
    policy = played(name)
    before = everything(policy)
    with pytest.raises(TypeError, match="decay must be True or False, got"):
        policy.update(EYE[0], 1.0, decay=decay)
    assert_unchanged(policy, before)
    policy.update(EYE[0], 1.0, decay=np.True_)


@pytest.mark.parametrize("name", zoo.LINEAR)
def test_bad_ages(name):
    policy = played(name)
    before = everything(policy)
    with pytest.raises(ValueError, match="age must be zero or positive, got -1"):
        policy.update(EYE[0], 1.0, age=-1)
    with pytest.raises(TypeError, match="age must be a real number, got '3 days'"):
        policy.update(EYE[0], 1.0, age="3 days")
    if name == "SWLinUCB":
        with pytest.raises(ValueError, match="age 0 for a sliding window"):
            policy.update(EYE[0], 1.0, age=1)
    assert_unchanged(policy, before)


TOO_LARGE = [
    ([1e200, 0.0, 0.0], 1.0),
    ([1.0, 0.0, 0.0], 1e308),
    ([[1.0, 0.0, 0.0], [1e12, 1e12, -1e12]], [1.0, 1.0]),
]


@pytest.mark.parametrize("name", zoo.LINEAR)
@pytest.mark.parametrize("x, reward", TOO_LARGE)
def test_numbers_too_large_for_the_matrix(name, x, reward):
    """Finite, but the precision would overflow or lose its definiteness."""
    policy = played(name)
    before = everything(policy)
    with pytest.raises(ValueError, match="x and reward must keep the precision matrix"):
        policy.update(x, reward)
    assert_unchanged(policy, before)


@pytest.mark.parametrize("seed", range(12))
def test_a_pivot_that_rounding_has_made_is_refused(seed):
    """Two times in seconds as features: the sign of what is left of the prior is luck.

    What was learnt by luck could be saved, and not always be loaded again.
    """
    rng, policy = np.random.default_rng(seed), zoo.make("LinTS", 3)
    with pytest.raises(ValueError, match="positive definite in double precision"):
        for _ in range(4):
            began = 1.7e9 + rng.uniform(0.0, 1e6)
            x = [began, began + rng.uniform(0.0, 100.0), 1.0]
            before = everything(policy)
            policy.update(x, rng.standard_normal())
    assert_unchanged(policy, before)
    policy.update([0.1, 0.2, 1.0], 0.5)


@pytest.mark.parametrize("size", [3.0e6, 4.0e6, 6.0e6])
@pytest.mark.parametrize(
    "rule", [Exponential(0.99), Polynomial(0.7, of="age")], ids=str
)
def test_what_was_learnt_can_be_played_from(size, rule):
    """Every rule refuses the same arms; one that a pull refuses is in for good."""
    prior = dict(prior_mean=[0.0, 0.0], prior_cov=1.0, noise_std=0.1)
    post = wsbnb.WSBPosterior(**prior, forgetting=rule)
    policy = wsbnb.LinearPolicy(post, Greedy(), rng=0)
    before = everything(policy)
    if size > 3.0e6:  # two equal features, of which the prior cannot be told any more
        with pytest.raises(ValueError, match="positive definite in double precision"):
            policy.update([size, size], 1.0)
        assert_unchanged(policy, before)
    else:
        policy.update([size, size / 2.0], 1.0)
    assert policy.pull(EYE[:2, :2]) in (0, 1)


@pytest.mark.parametrize("name", zoo.ALL)
def test_scores_refuse_what_pull_refuses_and_nothing_else(name):
    """The width of such arms leaves the range of doubles; some have no use for it."""
    for size in (1e140, 1e150, 1e152, 1e154, 1e160, 1e300):
        policy, refused = played(name), []
        for method in (policy.scores, policy.pull):
            try:
                assert np.isfinite(method(size * EYE)).all()
                refused.append(False)
            except ValueError as error:
                assert "X must give every arm a finite" in str(error)
                refused.append(True)
        assert refused[0] == refused[1]


@pytest.mark.parametrize("name", ["WSBLinTS", "WSBLinUCB", "DLinTS", "SWLinUCB"])
@pytest.mark.parametrize("d", [1, 4, 5, 9])
@pytest.mark.filterwarnings("ignore::wsbnb.TheoryWarning")
def test_an_infinite_precision_is_seen_in_every_place(name, d):
    """Rows are factorised four at a time, the last ones apart."""
    policy = zoo.make(name, d)
    before = everything(policy)
    for i in range(d):
        with pytest.raises(ValueError, match="largest precision entry of inf"):
            policy.update(1e200 * np.eye(d)[i], 1.0)
        assert_unchanged(policy, before)


def test_a_large_number_that_fits_is_learnt():
    for name in zoo.LINEAR:
        policy = played(name)
        policy.update([1e3, 0.0, 0.0], 1e6)
        assert np.isfinite(policy.posterior.mean).all()
        assert np.isfinite(policy.scores(EYE)).all()


@pytest.mark.parametrize("name", [n for n in zoo.LINEAR if n != "Uniform"])
def test_arms_without_a_finite_score(name):
    """A pull that is refused has drawn nothing and improved no eigenvalue bound."""
    policy = played(name)
    before = everything(policy)
    huge = np.array([[1e308, 1e308, 1e308], [1e308, -1e308, 1e308]])
    for method in (policy.pull, policy.scores):
        with pytest.raises(ValueError, match="X must give every arm a finite score"):
            method(np.vstack([huge, -huge, 1e308 * EYE, -1e308 * EYE]))
        # Not the last bit of the mean as it is read: D-LinTS uses up the factor.
        np.testing.assert_equal(everything(policy)[:2], before[:2])


def test_residuals_survive_a_refused_update():
    policy = played("WSBLinTS", rounds=40)
    collected = list(policy._noise_check.collected)
    assert len(collected) > 10
    for x, reward in TOO_LARGE:
        with pytest.raises(ValueError):
            policy.update(x, reward)
    assert policy._noise_check.collected == collected


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

    policy = WSBLinTS(prior_mean=[0.0], prior_cov=[[1.0]], noise_std=0.5, discount=0.9)
    with pytest.raises(TypeError, match="wsbnb.register"):
        policy.save(tmp_path / "p.json")
    with pytest.raises(ValueError, match="'WSBLinTS', which stands for wsbnb.policies"):
        wsbnb.register(WSBLinTS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arm", [-1, 3, 1.7, NAN])
def test_a_subclass_must_choose_an_arm(arm):
    """-1 would be the last one, 1.7 the second."""

    class Odd(wsbnb.WSBLinTS):
        def _choose(self, X):
            return arm

    policy = Odd(**zoo.settings("WSBLinTS", 3))
    with pytest.raises(ValueError, match=f"_choose must return 0 to 2, got {arm}"):
        policy.pull(EYE)
