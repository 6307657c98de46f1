"""A fleet against one posterior, and one policy, for each user."""

import contextlib
import copy
import hashlib
import itertools
import json
import pickle
import threading
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

import wsbnb
from tests import zoo
from wsbnb import _files
from wsbnb.exploration import Greedy, Optimism, RandomisedOptimism, Thompson
from wsbnb.fleet import files
from wsbnb.kernels import memory
from wsbnb.policies.theory import outside_on_purpose

GAMMA, SIGMA = 0.93, 0.4


def template(d, exploration=None, discount=GAMMA):
    mean, cov = zoo.prior(d)
    post = wsbnb.WSBPosterior(
        prior_mean=mean, prior_cov=cov, noise_std=SIGMA, discount=discount
    )
    with outside_on_purpose():
        return wsbnb.LinearPolicy(post, exploration or Thompson(scale=0.7))


def events(seed, n, users, d, K):
    rng = np.random.default_rng(seed)
    return (
        rng.integers(0, users, n),
        rng.standard_normal((n, K, d)),
        rng.standard_normal(n),
    )


def close(fleet, user, post):
    mine = fleet.posterior(user)
    np.testing.assert_allclose(mine.precision, post.precision, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(mine.mean, post.mean, rtol=1e-8, atol=1e-10)
    assert mine.rounds == pytest.approx(post.rounds)
    assert mine.weight_sum == pytest.approx(post.weight_sum)
    assert mine.squared_weight_sum == pytest.approx(post.squared_weight_sum)


@pytest.mark.parametrize(("d", "K"), [(1, 1), (2, 5), (3, 1), (8, 9), (13, 17)])
def test_users_are_posteriors_of_their_own(d, K):
    fleet = wsbnb.Fleet(template(d), users=5, rng=0)
    posts = [template(d).posterior.copy() for _ in range(5)]
    who, X, rewards = events(1, 60, 5, d, K)
    steps, age = np.random.default_rng(2).choice([0.0, 1.0, 2.0, 2.5], (2, 60))
    fleet.update(who, X[:, 0], rewards, steps=steps, age=age)
    for e, u in enumerate(who):
        posts[u].decay(steps[e])
        posts[u].update(X[e, 0], rewards[e], decay=False, age=age[e])
    for u, post in enumerate(posts):
        close(fleet, u, post)
    np.testing.assert_allclose(fleet.mean(), [p.mean for p in posts], rtol=1e-8)
    mean, std = fleet.predict(who, X[:, 0])
    expected = [posts[u].predict(x, noise=False) for u, x in zip(who, X[:, 0])]
    np.testing.assert_allclose(np.c_[mean, std], expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    "exploration",
    [
        Greedy(),
        Optimism(penalty="static", radius_scale=0.3, param_bound=1.7),
        Optimism(penalty="static", horizon=50, arm_bound=2.5),
    ],
)
@pytest.mark.parametrize("K", [1, 7, 16])
def test_chooses_as_policies_of_their_own(exploration, K):
    d, n = 3, 150
    fleet = wsbnb.Fleet(template(d, exploration), users=4)
    policies = [template(d, exploration) for _ in range(4)]
    who, X, rewards = events(3, n, 4, d, K)
    for start in range(0, n, 10):
        part = slice(start, start + 10)
        chosen = fleet.pull(who[part], X[part])
        alone = [policies[u].pull(x) for u, x in zip(who[part], X[part])]
        assert chosen.tolist() == alone
        played = X[part][np.arange(10), chosen]
        fleet.update(who[part], played, rewards[part])
        for u, x, r in zip(who[part], played, rewards[part]):
            policies[u].update(x, r)
    assert len(set(chosen.tolist())) > 1 or K == 1


@pytest.mark.parametrize("law", ["rectified", "gaussian", "half-normal"])
def test_random_radius_is_the_formula(law):
    d, n = 3, 40
    fleet = wsbnb.Fleet(
        template(d, RandomisedOptimism(scale=0.6, perturbation=law)), users=3, rng=5
    )
    who, X, rewards = events(4, n, 3, d, 6)
    fleet.update(who, X[:, 0], rewards)
    eta = np.random.default_rng(5).standard_normal(n)
    eta = {"rectified": eta.clip(0), "gaussian": eta, "half-normal": abs(eta)}[law]
    for e, k in enumerate(fleet.pull(who, X)):
        mean, width = fleet.posterior(who[e]).predict(X[e], noise=False)
        assert k == (mean + 0.6 * eta[e] * width).argmax()


def test_thompson_draws_from_the_users_posterior():
    d, n = 4, 60
    fleet = wsbnb.Fleet(template(d), users=3, rng=9)
    who, X, rewards = events(5, n, 3, d, 6)
    fleet.update(who, X[:, 0], rewards)
    z = np.random.default_rng(9).standard_normal((n, d))
    chosen = fleet.pull(who, X)
    for e, u in enumerate(who):
        post = fleet.posterior(u)
        R = np.linalg.cholesky(post.precision).T
        theta = post.mean + 0.7 * np.linalg.solve(R, z[e])
        assert chosen[e] == (X[e] @ theta).argmax()


def test_batch_equals_events_one_by_one():
    who, X, rewards = events(6, 80, 6, 3, 4)
    one, many = (wsbnb.Fleet(template(3), users=6, rng=1) for _ in range(2))
    chosen = many.pull(who, X)
    many.update(who, X[np.arange(80), chosen], rewards)
    alone = [one.pull(int(u), x) for u, x in zip(who, X)]
    for u, x, k, r in zip(who, X, alone, rewards):
        one.update(int(u), x[k], r)
    assert alone == chosen.tolist()
    assert (one.mean() == many.mean()).all()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_events_have_sets_of_their_own(n):
    """The smallest batches: each event is served with its own arms, not the first."""
    who, X, rewards = events(9, 40, 4, 3, 5)
    fleet = wsbnb.Fleet(template(3, Greedy()), users=4)
    fleet.update(who, X[:, 0], rewards)
    means, seen = fleet.mean(), set()
    for start in range(0, 40 - n, n):
        part = slice(start, start + n)
        chosen = fleet.pull(who[part], X[part])
        expected = [(x @ means[u]).argmax() for u, x in zip(who[part], X[part])]
        assert chosen.tolist() == expected
        seen |= set(expected)
    assert len(seen) > 2


def test_users_without_a_posterior_are_named_not_served():
    """Numbers that no observation can have left: nothing is computed from them."""
    fleet = wsbnb.Fleet(template(3), users=3)
    fleet._users.rows[1, 0] = -1e9
    X = np.eye(3)
    with pytest.raises(ValueError, match="none for event 1"):
        fleet.pull([0, 1, 2], X)
    for call in (fleet.mean, lambda who: fleet.predict(who, X[0])):
        call([0])
        with pytest.raises(ValueError, match="keep the precision"):
            call([1])


def test_shared_arms_and_users_without_events():
    fleet = wsbnb.Fleet(template(2, Greedy()), users=3)
    X = np.eye(2)
    assert fleet.pull([2, 0], X).tolist() == [int(np.argmax(fleet.prior_mean))] * 2
    assert fleet.pull([], X).shape == (0,)
    fleet.update([], np.empty((0, 2)), [])
    np.testing.assert_allclose(fleet.mean(), np.tile(fleet.prior_mean, (3, 1)))


@pytest.mark.parametrize("exploration", [None, Greedy()])
def test_sets_of_different_sizes_are_played_as_one_by_one(exploration):
    who, X, rewards = events(3, 40, 4, 3, 9)
    sizes = np.random.default_rng(4).integers(1, 10, 40)
    sets = [arms[:K] for arms, K in zip(X, sizes)]
    batch, single = (
        wsbnb.Fleet(template(3, exploration), users=4, rng=5) for _ in range(2)
    )
    for fleet in (batch, single):
        fleet.update(who, X[:, 0], rewards)
    chosen = batch.pull(who, sets)
    assert chosen.tolist() == [single.pull(u, arms) for u, arms in zip(who, sets)]
    assert (chosen < sizes).all()
    assert batch.pull(who, tuple(X)).tolist() == single.pull(who, X).tolist()


def test_time_passes_for_some_or_all():
    d = 3
    fleet = wsbnb.Fleet(template(d), users=3)
    posts = [template(d).posterior.copy() for _ in range(3)]
    for u, post in enumerate(posts):
        fleet.update(u, np.arange(1.0, d + 1), 2.0)
        post.update(np.arange(1.0, d + 1), 2.0)
    fleet.decay([2, 0], [1.5, 0.0])
    posts[2].decay(1.5)
    fleet.decay()
    for u, post in enumerate(posts):
        post.decay()
        close(fleet, u, post)
    assert fleet.rounds().tolist() == [2.0, 2.0, 3.5]


def test_a_clock_has_an_end():
    """The last round that a clock can show, to the round."""
    fleet = wsbnb.Fleet(template(2), users=2)
    fleet.decay(1, steps=2**52 - 1)
    fleet.update([0, 1], np.eye(2), [1.0, 2.0])
    assert fleet.rounds().tolist() == [1.0, 2.0**52]
    with pytest.raises(ValueError, match="steps must lead to round 4503599627370496 a"):
        fleet.update([0, 1], np.eye(2), [1.0, 2.0])
    assert fleet.rounds().tolist() == [1.0, 2.0**52]


def test_new_users_and_forgotten_ones():
    fleet = wsbnb.Fleet(template(2), users=2)
    fleet.update([0, 1], np.ones((2, 2)), [1.0, 2.0])
    kept = fleet.mean([0, 1])
    assert fleet.add(3).tolist() == [2, 3, 4] and len(fleet) == 5
    np.testing.assert_array_equal(fleet.mean([0, 1]), kept)
    fleet.reset([1])
    np.testing.assert_allclose(fleet.mean(1)[0], fleet.prior_mean)
    assert (fleet.mean(0)[0] == kept[0]).all()
    policy = fleet.policy(0, rng=3)
    policy.update([1.0, 0.0], 0.5)
    assert fleet.rounds(0)[0] == 1.0 and policy.rounds == 2.0


# --- the shared prior -----------------------------------------------------------------


def hierarchy(seed, users, d, per_user):
    rng = np.random.default_rng(seed)
    mean, root = rng.standard_normal(d), 0.5 * np.tril(rng.standard_normal((d, d)))
    theta = mean + rng.standard_normal((users, d)) @ root.T
    who = np.repeat(np.arange(users), per_user)
    X = rng.standard_normal((len(who), d))
    r = (X * theta[who]).sum(axis=1) + SIGMA * rng.standard_normal(len(who))
    return mean, root @ root.T, who, X, r


def test_new_prior_concerns_everybody_at_once():
    _, _, who, X, r = hierarchy(0, 4, 2, 5)
    fleet = wsbnb.Fleet(template(2), users=4)
    fleet.update(who, X, r)
    fleet.set_prior([1.0, -2.0], [[0.5, 0.1], [0.1, 0.9]])
    post = wsbnb.WSBPosterior(
        prior_mean=[1.0, -2.0],
        prior_cov=[[0.5, 0.1], [0.1, 0.9]],
        noise_std=SIGMA,
        discount=GAMMA,
    )
    post.update(X[who == 2], r[who == 2])
    close(fleet, 2, post)


def test_fitted_prior_is_that_of_the_population():
    mean, cov, who, X, r = hierarchy(1, 3000, 2, 12)
    fleet = wsbnb.Fleet(template(2, discount=1.0), users=3001)
    fleet.update(who, X, r)
    trace = fleet.fit_prior()
    assert (np.diff(trace) > -1e-9).all() and len(trace) > 2
    # Three standard errors of a mean and of a variance over 3000 users.
    error = 3 * np.sqrt(np.diag(cov).max() / 3000)
    np.testing.assert_allclose(fleet.prior_mean, mean, atol=1.5 * error)
    np.testing.assert_allclose(
        fleet.prior_cov, cov, atol=3 * np.diag(cov).max() * np.sqrt(3 / 3000)
    )


def test_evidence_is_the_likelihood_of_the_hierarchical_model():
    """Its rise against dense Gaussians, and its end against an optimiser."""
    _, _, who, X, r = hierarchy(2, 12, 1, 4)
    fleet = wsbnb.Fleet(template(1, discount=1.0), users=12)
    fleet.update(who, X, r)

    def loglik(mean, var):
        total = 0.0
        for u in range(12):
            x = X[who == u, 0]
            cov = SIGMA**2 * np.eye(len(x)) + var * np.outer(x, x)
            total += stats.multivariate_normal(mean * x, cov).logpdf(r[who == u])
        return total / 12

    first = loglik(fleet.prior_mean[0], fleet.prior_cov[0, 0])
    trace = fleet.fit_prior(iterations=3000, tolerance=1e-13)
    last = loglik(fleet.prior_mean[0], fleet.prior_cov[0, 0])
    # What no prior changes is left out of the evidence.
    rest = -0.5 * 48 * np.log(2 * np.pi * SIGMA**2) - 0.5 * r @ r / SIGMA**2
    assert trace[0] + rest / 12 == pytest.approx(first, rel=1e-10)
    assert trace[-1] - trace[0] == pytest.approx(last - first, abs=1e-8)
    best = optimize.minimize(
        lambda p: -loglik(p[0], np.exp(p[1])), [0.0, 0.0], tol=1e-12
    )
    assert last == pytest.approx(-best.fun, abs=1e-7)
    assert fleet.prior_mean[0] == pytest.approx(best.x[0], abs=1e-3)


def test_users_without_data_do_not_teach():
    _, _, who, X, r = hierarchy(3, 20, 2, 6)
    small, large = (wsbnb.Fleet(template(2), users=n) for n in (20, 500))
    for fleet in (small, large):
        fleet.update(who, X, r)
        fleet.fit_prior(iterations=7, tolerance=0)
    np.testing.assert_array_equal(small.prior_cov, large.prior_cov)
    with pytest.raises(ValueError, match="users must hold at least two"):
        large.fit_prior(users=[499, 3])


def test_two_users_of_one_round_each_can_teach():
    """The smallest fleet that has a spread; one step by hand, from dense formulas."""
    fleet = wsbnb.Fleet(template(1, discount=1.0), users=2)
    fleet.update([0, 1], [[1.0], [2.0]], [0.5, -1.0])
    posts = [fleet.posterior(user) for user in (0, 1)]
    mean = np.mean([post.mean for post in posts], axis=0)
    second = np.mean([post.cov + np.outer(post.mean, post.mean) for post in posts], 0)
    trace = fleet.fit_prior(iterations=1)
    assert len(trace) == 1
    np.testing.assert_allclose(fleet.prior_mean, mean)
    np.testing.assert_allclose(fleet.prior_cov, second - np.outer(mean, mean))


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6])
def test_the_prior_is_fitted_until_the_evidence_rests(tolerance):
    _, _, who, X, r = hierarchy(4, 30, 2, 5)
    fleet = wsbnb.Fleet(template(2, discount=1.0), users=30)
    fleet.update(who, X, r)
    rises = np.diff(fleet.fit_prior(iterations=2000, tolerance=tolerance))
    assert len(rises) > 1 and (rises[:-1] >= tolerance).all()
    assert rises[-1] < tolerance
    again = fleet.fit_prior(iterations=2000, tolerance=tolerance)
    assert len(again) == 2  # one step to see that nothing rises any more


# --- files ----------------------------------------------------------------------------


def test_a_file_continues(tmp_path):
    who, X, rewards = events(7, 50, 9, 3, 4)
    fleet = wsbnb.Fleet(template(3), users=9, rng=4)
    fleet.update(who, X[:, 1], rewards)
    fleet.fit_prior(iterations=2)
    fleet.save(tmp_path / "all")
    copies = [wsbnb.Fleet.load(tmp_path / "all"), pickle.loads(pickle.dumps(fleet))]
    copies += [copy.deepcopy(fleet), copy.copy(fleet)]
    expected = fleet.pull(who, X).tolist()
    for again in copies:
        assert again.pull(who, X).tolist() == expected
        assert (again.mean() == fleet.mean()).all()
        again.update(who, X[:, 0], rewards)
    assert fleet.rounds().sum() == 50


def test_some_users_go_to_a_file_and_back(tmp_path):
    who, X, rewards = events(8, 50, 9, 3, 4)
    fleet = wsbnb.Fleet(template(3), users=9)
    fleet.update(who, X[:, 1], rewards)
    fleet.save(tmp_path / "some", users=[7, 2])
    before = fleet.mean()
    fleet.update(who, X[:, 2], rewards)
    assert fleet.restore(tmp_path / "some").tolist() == [7, 2]
    after = fleet.mean()
    same = (after == before).all(axis=1)
    assert same[[2, 7]].all() and not same[[0, 1, 3]].any()
    with pytest.raises(ValueError, match="use restore"):
        wsbnb.Fleet.load(tmp_path / "some")
    with pytest.raises(ValueError, match="users must lie between 0 and 4, got 7"):
        wsbnb.Fleet(template(3), users=5).restore(tmp_path / "some")
    with pytest.raises(ValueError, match="discount"):
        wsbnb.Fleet(template(3, discount=0.5), users=9).restore(tmp_path / "some")


def test_damaged_files_are_refused(tmp_path):
    fleet = wsbnb.Fleet(template(2), users=3)
    fleet.update([0, 1], np.ones((2, 2)), [1.0, 2.0])
    fleet.save(tmp_path / "whole")
    raw = (tmp_path / "whole").read_bytes()
    broken = [b"", raw[:-1], raw[:-8], raw[: len(raw) // 2], b"{}\n" + raw]
    broken += [raw.replace(b'"version": 2', b'"version": 9')]
    flipped = bytearray(raw)
    flipped[-30] ^= 1
    broken += [bytes(flipped), raw.replace(b'"count": 3', b'"count": 9')]
    for n, data in enumerate(broken):
        (tmp_path / str(n)).write_bytes(data)
        with pytest.raises(ValueError, match="is not a whole fleet file"):
            wsbnb.Fleet.load(tmp_path / str(n))


def test_no_digit_of_the_settings_can_be_changed_unnoticed(tmp_path):
    """The first line: prior, noise, discount, generator, version and checksum."""
    fleet, path = wsbnb.Fleet(template(2), users=3, rng=1), tmp_path / "fleet"
    fleet.update([0, 1], np.ones((2, 2)), [1.0, 2.0])
    fleet.save(path)
    line, _, numbers = path.read_bytes().partition(b"\n")
    digits = [i for i, letter in enumerate(line) if chr(letter).isdigit()]
    assert len(digits) > 100
    for i in digits:
        other = b"%d" % ((line[i] - ord("0") + 3) % 10)
        changed = line[:i] + other + line[i + 1 :]
        with contextlib.suppress(ValueError):  # a leading zero is no JSON
            if json.loads(changed) == json.loads(line):
                continue  # a seventeenth digit may stand for the same double
        path.write_bytes(changed + b"\n" + numbers)
        with pytest.raises(ValueError, match="is not a whole fleet file"):
            wsbnb.Fleet.load(path)


def test_a_long_line_of_settings_is_read(tmp_path):
    """A prior of 1000 features takes nine megabytes of text."""
    d = 1000
    settings = {"dim": d, "prior_mean": [0.25] * d, "prior_cov": [[0.25] * d] * d}
    nobody = np.empty(0, dtype=np.int64)
    files.write(tmp_path / "wide", settings, nobody, memory.new_users(3, d))
    header, _, users = files.read(tmp_path / "wide")
    assert settings.items() <= header.items() and len(users.rows) == 3


def test_a_file_of_nobody_is_not_a_fleet(tmp_path):
    """Saved for an empty list of users: whoever loads it has lost everybody."""
    fleet = wsbnb.Fleet(template(2), users=3)
    fleet.save(tmp_path / "nobody", users=[])
    assert fleet.restore(tmp_path / "nobody").tolist() == []
    with pytest.raises(ValueError, match="holds 0 users by number; use restore"):
        wsbnb.Fleet.load(tmp_path / "nobody")


def forge(path, text=None, **settings):
    """Change the first line of a file as one who can make a checksum; None removes."""
    line, _, numbers = path.read_bytes().partition(b"\n")
    header = {**json.loads(line), **settings}
    header = {k: v for k, v in header.items() if v is not None and k != "sha256"}
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode() + numbers)
    line = text or json.dumps({**header, "sha256": digest.hexdigest()})
    path.write_bytes(line.encode() + b"\n" + numbers)


DEEP = '{"a": ' * 50_000 + "1" + "}" * 50_000


@pytest.mark.parametrize(
    ("users", "changes", "words"),
    [
        (2, {"dim": 2, "count": 3}, "its prior mean has not 2 entries"),
        (0, {"dim": 2}, "its prior mean has not 2 entries"),
        (0, {"dim": 2**40}, "its prior mean has not"),
        (2, {"prior_mean": None}, "'prior_mean'"),
        (2, {"prior_mean": [1.0, [2.0], 3.0]}, "is not a whole fleet file"),
        (2, {"noise_std": None}, "noise_std"),
        (0, {"prior_mean": [0.0] * 99, "prior_cov": 1.0, "dim": 99}, "not 99 rows"),
        (2, {"discount": None}, "discount"),
        (2, {"text": DEEP}, "is not a whole fleet file: maximum recursion"),
    ],
)
@pytest.mark.parametrize("way", ["load", "restore"])
def test_forged_settings_are_refused(way, users, changes, words, tmp_path):
    """Rows of 2 features under a prior of 3 would be read beyond their ends."""
    fleet, path = wsbnb.Fleet(template(3), users=users), tmp_path / "fleet"
    fleet.save(path)
    forge(path, **changes)
    with pytest.raises(ValueError, match=words):
        wsbnb.Fleet.load(path) if way == "load" else fleet.restore(path)


def test_a_file_of_version_1_is_read():
    """Written by the last code with that format; what it said then."""
    path = Path(__file__).parent / "fixtures" / "fleet-version1"
    fleet = wsbnb.Fleet.load(path)
    said = [[0.3098326649149496, -0.05506845526206614], [0.2, -0.1]]
    said += [[0.17954828344864646, 0.37285486134308865]]
    np.testing.assert_allclose(fleet.mean([0, 1, 2]), said, rtol=1e-12)
    pulls = [0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 1]
    assert fleet.pull([0, 1, 2] * 6, np.eye(2)).tolist() == pulls


def test_hidden_files_of_killed_writers_are_swept(tmp_path):
    left = tmp_path / f".fleet.{_files._host()}-{2**22 + 1}-{'0' * 32}"
    left.touch()  # no process can have this number
    wsbnb.Fleet(template(2), users=3).save(tmp_path / "fleet")
    assert [path.name for path in tmp_path.iterdir()] == ["fleet"]


# --- bad input ------------------------------------------------------------------------

X3 = np.ones((4, 3))
HUGE = np.array([[1.0] * 3, [1e160] * 3, [2.0] * 3])
# Whatever is drawn, the score of one of them overflows.
LARGEST = 1.7e308 * np.array([*itertools.product([1.0, -1.0], repeat=3)])


@pytest.mark.parametrize(
    ("error", "words", "call"),
    [
        (ValueError, "users must lie between 0 and 4", lambda f: f.pull([5], X3)),
        (ValueError, "users must lie between 0 and 4", lambda f: f.pull(-1, X3)),
        (ValueError, "4, got -2", lambda f: f.pull([0, -2], X3)),
        (ValueError, "x must", lambda f: f.predict([0, 1], np.full((2, 3), 1e308))),
        (ValueError, "x must", lambda f: f.predict(4, np.full(3, 1e160))),
        (ValueError, "user must be at most 4, got 5", lambda f: f.posterior(5)),
        (ValueError, "X must have shape", lambda f: f.pull([1], np.ones((0, 3)))),
        (TypeError, "users must be a whole number", lambda f: f.pull([1.0], X3)),
        (TypeError, "users must be a whole number", lambda f: f.pull([True], X3)),
        (TypeError, "users must be a whole number", lambda f: f.pull([[1]], X3)),
        (ValueError, "X must have shape", lambda f: f.pull([1], X3[:, :2])),
        (ValueError, "X must have shape", lambda f: f.pull([1], X3[0])),
        (ValueError, "X must have one set", lambda f: f.pull([1], [X3, X3])),
        (ValueError, "X must be finite", lambda f: f.pull([1], X3 * np.nan)),
        (ValueError, "X must have one set", lambda f: f.pull([1], [X3, X3[:2]])),
        (ValueError, "X must be a list", lambda f: f.pull([1, 2], [X3, X3[:2, :2]])),
        (ValueError, "X must be a list", lambda f: f.pull([1, 2], [X3, X3[:0]])),
        (ValueError, "X must be a list", lambda f: f.pull([1, 2], [X3, X3[0]])),
        (
            ValueError,
            "X must be a list of sets of shape .K, 3., got 2 columns",
            lambda f: f.pull([1, 2], [X3[:, :2], X3[:2, :2]]),
        ),
        (ValueError, "X must be fin", lambda f: f.pull([1, 2], [X3, X3[:2] * np.inf])),
        (
            ValueError,
            "none for event 1",
            lambda f: f.pull([1, 2, 3], [X3, LARGEST, X3[:3]]),
        ),
        (ValueError, "reward must be finite", lambda f: f.update(1, X3[0], np.inf)),
        (ValueError, "x must have one row", lambda f: f.update([1], X3, [1.0] * 4)),
        (ValueError, "steps must be zero", lambda f: f.update(1, X3[0], 1.0, steps=-1)),
        (ValueError, "age must be zero", lambda f: f.update(1, X3[0], 1.0, age=-1)),
        (ValueError, "age must be a", lambda f: f.update(1, X3[0], 1, age=[1, 2])),
        (ValueError, "steps must be finite", lambda f: f.decay(steps=np.nan)),
        (ValueError, "steps must be at most", lambda f: f.decay(steps=1e308)),
        (ValueError, "steps must lead to round", lambda f: f.decay(steps=2.0**53)),
        (
            ValueError,
            "steps must lead to round",
            lambda f: f.update([1, 1], X3[:2], [1.0, 1.0], steps=2.0**51.5),
        ),
        (ValueError, "users must be named once", lambda f: f.decay([1, 1])),
        (ValueError, "users must be named once", lambda f: f.save("x", users=[1, 1])),
        (ValueError, "prior_cov must be", lambda f: f.set_prior([0.0] * 3, -1)),
        (ValueError, "prior_mean must have length 3", lambda f: f.set_prior([0.0], 1)),
        (TypeError, "count must be a whole", lambda f: f.add("many")),
        (ValueError, "keep the prec", lambda f: f.update([0, 1], HUGE[:2], [1, 1])),
        (ValueError, "breaks it: 1", lambda f: f.update([0, 1, 2], HUGE, [1, 1, 1])),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's words, uncompiled
def test_bad_input_changes_nothing(error, words, call):
    fleet = wsbnb.Fleet(template(3), users=5, rng=0)
    fleet.update([0, 1, 2, 3], X3, np.arange(4.0))
    twin = copy.deepcopy(fleet)
    with pytest.raises(error, match=words):
        call(fleet)
    who, X, _ = events(0, 30, 5, 3, 4)
    assert (fleet.mean() == twin.mean()).all()
    assert (fleet.rounds() == twin.rounds()).all()
    assert fleet.pull(who, X).tolist() == twin.pull(who, X).tolist()


@pytest.mark.parametrize("name", ["DLinTS", "WSBLinUCB", "SWLinUCB", "RestartLinUCB"])
def test_unsuitable_templates_are_refused(name):
    with pytest.raises(ValueError, match="template must"):
        wsbnb.Fleet(zoo.make(name), users=2)
    with pytest.raises(TypeError, match="template must be a LinearPolicy"):
        wsbnb.Fleet(zoo.make("Oracle"), users=2)


# --- size and threads -----------------------------------------------------------------


def test_a_million_users_are_small():
    fleet = wsbnb.Fleet(template(8, discount=0.99), users=1_000_000)
    assert fleet.nbytes == 1_000_000 * (8 * 8 * 11 // 2 + 24)
    fleet.update([999_999], np.ones((1, 8)), [1.0])
    assert fleet.rounds([999_998, 999_999]).tolist() == [0.0, 1.0]


def test_threads_lose_nothing():
    d, users, rounds = 3, 40, 300
    fleet = wsbnb.Fleet(template(d, discount=1.0), users=users, rng=0)
    X = np.eye(d)

    def work(number):
        rng = np.random.default_rng(number)
        for _ in range(rounds):
            who = rng.integers(0, users, 5)
            fleet.pull(who, X)
            fleet.update(who, X[rng.integers(0, d, 5)], np.ones(5))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert fleet.rounds().sum() == 4 * rounds * 5
    total = sum(np.trace(fleet.posterior(u).precision) for u in range(users))
    start = users * np.trace(np.linalg.inv(fleet.prior_cov))
    assert total - start == pytest.approx(4 * rounds * 5 / SIGMA**2)


class Interrupted:
    """A lock that somebody else holds until the wait for it is interrupted."""

    def __enter__(self):
        raise KeyboardInterrupt

    def __exit__(self, *_):
        pass


@pytest.mark.parametrize(
    "call",
    [
        lambda fleet, path: fleet.save(path / "all"),
        lambda fleet, path: fleet.pull([0, 1, 2], np.eye(3)),
        lambda fleet, path: fleet.update([0, 1, 2], np.eye(3), np.ones(3)),
        lambda fleet, path: copy.copy(fleet),
        lambda fleet, path: pickle.dumps(fleet),
    ],
    ids=["save", "pull", "update", "copy", "pickle"],
)
def test_an_interrupted_wait_leaves_no_user_locked(call, tmp_path):
    """Ctrl-C while a thread has its turn: the other threads go on."""
    fleet = wsbnb.Fleet(template(3), users=5, rng=0)
    held = fleet._turns._locks[2]
    fleet._turns._locks[2] = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        call(fleet, tmp_path)
    fleet._turns._locks[2] = held
    waited = []

    def other():
        waited.extend(lock.acquire(blocking=False) for lock in fleet._turns._locks)

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert all(waited)


def test_what_a_copy_is_made_of_does_not_change():
    """The bytes of a pickle are written after the fleet has given its turn away."""
    fleet = wsbnb.Fleet(template(3), users=4, rng=0)
    state = fleet.__getstate__()
    fleet.update(np.arange(4), np.eye(3)[[0, 1, 2, 0]], np.ones(4))
    assert not any(part.any() for part in state["_users"])


def test_a_long_batch_waits_for_no_thread_of_blas(monkeypatch):
    """Products of long arrays start threads, which are waited for on a busy machine."""
    product, lengths = np.vdot, []

    def noted(a, b):
        lengths.append(a.size)
        return product(a, b)

    monkeypatch.setattr(np, "vdot", noted)
    fleet = wsbnb.Fleet(template(2), users=5, rng=0)
    who, arms, rewards = events(3, 9000, 5, 2, 3)
    k = fleet.pull(who, arms)
    fleet.update(who, arms[np.arange(9000), k], rewards)
    assert max(lengths, default=0) <= 10_000
    for bad in (np.nan, np.inf, -np.inf):
        arms[-1, -1, -1] = bad
        with pytest.raises(ValueError, match=r"at index \(8999, 2, 1\)"):
            fleet.pull(who, arms)
