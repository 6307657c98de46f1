"""The certified eigenvalue bound and the prior penalty, in the compiled round."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import linalg

from tests import zoo
from tests.kernels import PLAIN, from_python, random_precision
from wsbnb import bounds
from wsbnb.kernels import estimate, explore, memory

compiled_only = pytest.mark.skipif(PLAIN, reason="too slow without the compiler")
pytestmark = pytest.mark.filterwarnings("ignore::wsbnb.TheoryWarning")  # made-up worlds


def played(d, count, seed=0, **changes):
    """WSB-LinUCB, yielded after each of its decisions."""
    policy = zoo.make("WSBLinUCB", d, **changes)
    X, rewards = zoo.problem(seed, count, d, 6)
    for arms, paid in zip(X, rewards, strict=True):
        k = policy.pull(arms)
        yield policy
        policy.update(arms[k], paid[k])


def top_eigenvalue(policy):
    """lambda_max(P0 P^-1 P0), in extended precision where NumPy has it."""
    post = policy.posterior
    P = post.precision.astype(np.longdouble)
    B = np.array(fresh_precision(post), dtype=np.longdouble)
    d, L = len(P), np.zeros_like(P)
    for i in range(d):
        L[i, i] = np.sqrt(P[i, i] - L[i, :i] @ L[i, :i])
        L[i + 1 :, i] = (P[i + 1 :, i] - L[i + 1 :, :i] @ L[i, :i]) / L[i, i]
    for i in range(d):
        B[i] = (B[i] - L[i, :i] @ B[:i]) / L[i, i]
    return np.linalg.svd(B.astype(float), compute_uv=False)[0] ** 2


def fresh_precision(posterior):
    """P0 as the posterior holds it."""
    new = posterior.copy()
    new.reset()
    return new.precision


def ratio(policy):
    """Bound over true eigenvalue."""
    return policy.posterior._state.bound[explore.BOUND] / top_eigenvalue(policy)


@pytest.mark.parametrize("d", [1, 2, 5] if PLAIN else [1, 2, 3, 5, 8, 16, 17, 32])
@pytest.mark.parametrize("discount", [0.97, 1.0])
def test_eigenvalue_bound_is_never_below(d, discount):
    count = 40 if PLAIN else 600
    ratios = np.array([ratio(p) for p in played(d, count, discount=discount)])
    assert ratios.min() >= 1.0 - 1e-12
    assert ratios[count // 2 :].mean() < 1.2


@compiled_only
@pytest.mark.parametrize("d", [2, 6, 20])
def test_eigenvalue_bound_is_close_on_unit_arms(d):
    """In the paper's setting it is within a few per cent on average."""
    prior = dict(prior_mean=np.zeros(d), prior_cov=np.eye(d))
    policy = zoo.make("WSBLinUCB", d, discount=0.98, **prior)
    rng = np.random.default_rng(d)
    ratios = []
    for _ in range(600):
        X = rng.standard_normal((48, d))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        k = policy.pull(X)
        ratios.append(ratio(policy))
        policy.update(X[k], float(rng.standard_normal()))
    assert min(ratios) >= 1.0 - 1e-12
    assert np.mean(ratios[300:]) < 1.05


@compiled_only
@pytest.mark.parametrize("condition", [1e4, 1e8, 1e12])
@pytest.mark.parametrize("d", [2, 6, 20])
def test_eigenvalue_bound_with_an_ill_conditioned_prior(d, condition):
    cov = random_precision(np.random.default_rng(d), d, condition)
    run = played(d, 300, discount=0.98, prior_cov=cov)
    assert min(ratio(policy) for policy in run) >= 1.0 - 1e-12


@compiled_only
def test_eigenvalue_bound_after_an_abrupt_change_of_arms():
    """All arms in one half space, then in the other: the top eigenvector jumps."""
    policy = zoo.make("WSBLinUCB", 6, discount=0.9)
    rng = np.random.default_rng(4)
    run = []
    for t in range(500):
        X = rng.standard_normal((8, 6))
        X[:, :3] *= 0.0 if (t // 60) % 2 else 1.0
        X[:, 3:] *= 1.0 if (t // 60) % 2 else 0.0
        k = policy.pull(X)
        run.append(ratio(policy))
        policy.update(X[k], float(rng.standard_normal()))
        if t % 37 == 0:
            policy.decay(5.5)
    assert min(run) >= 1.0 - 1e-12
    assert np.mean(run) < 1.2


def test_the_bound_fades_as_it_must():
    """One step of fading by hand: 1 / (f / m + (1 - f) / m0), and not above m0."""
    policy = zoo.make("WSBLinUCB", 3)
    bound = policy.posterior._state.bound
    top = float(np.linalg.eigvalsh(fresh_precision(policy.posterior))[-1])
    assert bound[[0, 2]] == pytest.approx([top, top], rel=1e-12)
    bound[0] = top / 7
    policy.decay(3)
    f = zoo.GAMMA**3
    assert bound[0] == pytest.approx(1 / (7 * f / top + (1 - f) / top), rel=1e-12)
    policy.decay(10_000)
    assert bound[0] == pytest.approx(top, rel=1e-9) and bound[0] <= top


@pytest.mark.parametrize("f", [0.3, 0.9, 1.0])
def test_the_bound_while_the_past_fades(f):
    """One over the mix of the inverses, and a margin for rounding, by fractions."""
    bound = np.array([0.3, 0.05, 0.7])
    from_python(estimate.loosen)(bound, f)
    exact = 1 / (Fraction(f) / Fraction(0.3) + (1 - Fraction(f)) / Fraction(0.7))
    assert 0.8e-14 < Fraction(bound[0]) / exact - 1 < 1.2e-14
    assert bound[1:].tolist() == [0.05, 0.7]
    from_python(estimate.loosen)(bound, 0.0)
    assert bound[0] == 0.7  # nothing is left but the prior


def test_the_bound_while_a_row_leaves():
    """It grows by the share of P that is kept, up to the bound of the prior."""

    def after(kept, before=1e-4):
        bound = np.array([before, 0.05, 0.7])
        from_python(estimate._loosen_by_row)(bound, kept)
        return bound[0]

    for kept in (0.5, 1.5e-3):
        assert after(kept) == pytest.approx(1e-4 / (kept - 1e-9), rel=1e-13)
    assert after(0.5, before=0.6) == 0.7
    edge = 1e-3 + 1e-9
    assert edge - 1e-9 == 1e-3
    assert after(edge) == after(0.5e-3) == after(0.0) == 0.7  # no digit is certain


@pytest.mark.parametrize("d", [1, 2, 7, 8, 9])
def test_what_is_proved_about_the_eigenvalue(d):
    rng = np.random.default_rng(d)
    P0, X = random_precision(rng, d, 20.0), rng.standard_normal((d, d))
    P, square = P0 + X.T @ X, P0 @ P0
    top = linalg.eigh(square, P, eigvals_only=True)[-1]  # that of P0 P^-1 P0
    spare = memory.new_work(d, 1, spare=2).spare
    words = memory.packed(P), memory.packed(square), d
    proved = from_python(explore.shifted_factor)
    assert not proved(*words, top * (1 - 1e-9), spare)
    assert proved(*words, top * (1 + 1e-9), spare)
    assert proved(*words, 1.5 * top, spare)
    R = linalg.cholesky(P - square / (1.5 * top))
    np.testing.assert_allclose(np.triu(spare[1][:d, :d]), R, rtol=1e-9, atol=1e-12)


def at(mean, cov0, precision, S, form):
    """The penalty that the compiled round finds for this precision matrix."""
    words = dict(prior_mean=mean, prior_cov=cov0, param_bound=S, penalty=form)
    policy = zoo.make("WSBLinUCB", len(mean), **words)
    d = len(mean)
    policy.posterior._state.sums[:d, :d] = precision
    return policy.explain(np.eye(d))["penalty"]


@pytest.mark.parametrize("d", [1, 2, 5] if PLAIN else [1, 2, 5, 20])
@pytest.mark.parametrize("S", [0.0, 1e-3, 1.0, 50.0])
def test_exact_penalty(d, S):
    rng = np.random.default_rng(d)
    cov0 = random_precision(rng, d, 20.0)
    X = rng.standard_normal((2 * d, d))
    P = np.linalg.inv(cov0) + X.T @ X
    for size in (0.0, 1e-6, 1.0, 1e4):
        mean = size * rng.standard_normal(d)
        expected = bounds.prior_penalty(mean, cov0, np.linalg.inv(P), S)
        found = at(mean, cov0, P, S, "exact")
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert found >= expected * (1 - 1e-10)


@pytest.mark.parametrize("S", [0.5, 2.0, 30.0])
def test_exact_penalty_in_the_hard_case(S):
    """The mean has no part along the top axis, so the multiplier sits at the edge."""
    cov = np.diag([0.2, 0.5, 1.0])
    for mean in ([1.0, -2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]):
        expected = bounds.prior_penalty(mean, np.eye(3), cov, S)
        found = at(np.array(mean), np.eye(3), np.linalg.inv(cov), S, "exact")
        assert found == pytest.approx(expected, rel=1e-10)


def test_exact_penalty_by_hand():
    """Equal eigenvalues m: sqrt(m) (|mu0| + S). In one dimension as well."""
    found = at(np.array([0.0, 3.0, 0.0]), np.eye(3), np.eye(3) / 0.25, 2.0, "exact")
    assert found == pytest.approx(0.5 * 5.0, rel=1e-11)
    found = at(np.array([3.0]), np.array([[0.25]]), np.array([[8.0]]), 2.0, "exact")
    assert found == pytest.approx(np.sqrt(4.0 * 4.0 / 8.0) * 5.0, rel=1e-11)


#: At odd settings, and at those of Table 2: zero mean, identity, S = 1, d = 2.
STARTS = {"odd": (*zoo.prior(4), zoo.S), "plain": (np.zeros(2), np.eye(2), 1.0)}
STARTS["a mean of length 1"] = (np.array([1.0, 0.0]), np.eye(2), 1.0)


@pytest.mark.parametrize("penalty", ["exact", "cxv", "triangle"])
@pytest.mark.parametrize("start", list(STARTS))
def test_penalty_of_a_run(penalty, start):
    mean, cov, S = STARTS[start]
    d, count = len(mean), 15 if PLAIN else 150
    changes = dict(prior_mean=mean, prior_cov=cov, param_bound=S, penalty=penalty)
    for policy in played(d, count, **changes):
        known = policy.explain(np.eye(d))["penalty"]
        true = bounds.prior_penalty(mean, cov, policy.posterior.cov, S, form=penalty)
        if penalty == "exact":
            assert known == pytest.approx(true, rel=1e-9)
            continue
        most = true * ratio(policy) ** 0.5
        assert true * (1 - 1e-12) <= known <= most * (1 + 1e-9)


@pytest.mark.parametrize("form", ["cxv", "triangle", "exact"])
def test_penalty_without_observations_by_hand(form):
    """M = P0 = 4 I: with a zero mean sqrt(4) S, and not 4 S."""
    found = at(np.zeros(2), 0.25 * np.eye(2), 4.0 * np.eye(2), 3.0, form)
    assert found == pytest.approx(6.0, rel=1e-10 if form == "exact" else 1e-3)


@pytest.mark.skipif(not PLAIN, reason="counts the calls of inner functions")
def test_the_exact_penalty_takes_few_steps(monkeypatch):
    """Newton's, not forty halves; the eigenvalue is not begun from its last digit."""
    called, factors = [], []

    def count(name):
        function = getattr(explore, name)
        monkeypatch.setattr(
            explore, name, lambda *given: called.append(name) or function(*given)
        )

    count("shifted_factor")
    count("_farthest")
    for _ in played(3, 30, penalty="exact"):
        assert called.count("_farthest") <= 8
        factors.append(called.count("shifted_factor"))
        called.clear()
    assert np.median(factors) <= 100
