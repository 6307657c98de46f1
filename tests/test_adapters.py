"""Adapters against the real clients: river's evaluation, scikit-learn's maps."""

import numpy as np
import pytest

import wsbnb
from tests import zoo
from wsbnb.adapters.features import WithFeatures

bandit = pytest.importorskip("river.bandit")
from wsbnb.adapters.river import RiverPolicy  # noqa: E402


def policy(d, discount=0.99, **words):
    return wsbnb.WSBLinTS(
        prior_mean=np.zeros(d),
        prior_cov=1.0,
        noise_std=0.4,
        discount=discount,
        rng=0,
        **words,
    )


class Machine:
    """What `evaluate` needs of a gym environment: ten machines, the seventh pays."""

    class Space:
        n = 10

        def seed(self, number):
            pass

    action_space = Space()

    def reset(self, seed=None):
        self.rng, self.left = np.random.default_rng(seed), 300

    def step(self, arm):
        self.left -= 1
        reward = float(self.rng.random() < (0.8 if arm == 7 else 0.3))
        return None, reward, self.left == 0, False, {}


def test_evaluate_plays_the_policy():
    guest = RiverPolicy(policy(10), np.eye(10))
    rivals = [guest, bandit.RandomPolicy(seed=0)]
    trace = list(bandit.evaluate(rivals, Machine(), n_episodes=2, seed=1))
    assert len(trace) == 2 * 2 * 300
    ours = [row["reward"] for row in trace if row["policy_idx"] == 0]
    theirs = [row["reward"] for row in trace if row["policy_idx"] == 1]
    assert np.mean(ours) > np.mean(theirs) + 0.15
    late = [r["arm"] for r in trace if r["policy_idx"] == 0 and r["step"] > 200]
    assert np.mean(np.array(late) == 7) > 0.6
    assert guest.policy.rounds == 0.0  # river plays clones


def test_offline_evaluation_is_our_replay():
    """river's replay on uniformly logged rounds keeps what ours keeps."""
    X, rewards = zoo.problem(0, 400, 3, 4)
    chosen = np.random.default_rng(1).integers(0, 4, 400)
    history = [
        (list(range(4)), {"t": t}, int(chosen[t]), float(rewards[t, chosen[t]]))
        for t in range(400)
    ]
    guest = RiverPolicy(policy(3), lambda arm, context: X[context["t"], arm])
    total, used = bandit.evaluate_offline(guest, history)
    twin, kept = policy(3), []
    for t in range(400):
        if twin.pull(X[t]) == chosen[t]:
            kept.append(rewards[t, chosen[t]])
            twin.update(X[t, chosen[t]], kept[-1])
    assert used == len(kept) > 50
    assert total.get() == pytest.approx(np.sum(kept))
    np.testing.assert_array_equal(guest.policy.posterior.mean, twin.posterior.mean)


def test_clones_are_new_and_burn_in_is_rivers():
    guest = RiverPolicy(policy(2), np.eye(2), burn_in=2)
    first = [guest.pull([0, 1])]
    guest.update(0, 1.0)
    guest.update(0, 1.0)
    assert first == [0] and guest.pull([0, 1]) == 1
    assert guest.clone().policy.rounds == 0.0 and guest.policy.rounds == 2.0
    with pytest.raises(TypeError, match="policy must be a wsbnb policy"):
        RiverPolicy("UCB", np.eye(2))
    with pytest.raises(TypeError, match="features must be a function"):
        RiverPolicy(policy(2), 3)
    with pytest.raises(ValueError, match="x must have shape"):
        RiverPolicy(policy(3), np.eye(2)).update(0, 1.0)


def transformers():
    from sklearn.kernel_approximation import Nystroem, RBFSampler
    from sklearn.preprocessing import PolynomialFeatures

    X = np.random.default_rng(0).uniform(-1, 1, (200, 1))
    return [
        PolynomialFeatures(3).fit(X),
        RBFSampler(gamma=2.0, n_components=20, random_state=0).fit(X),
        Nystroem(gamma=2.0, n_components=12, random_state=0).fit(X),
    ]


@pytest.mark.parametrize("which", [0, 1, 2])
def test_curved_rewards_are_learnt_through_features(which):
    made = transformers()[which]
    d = made.transform([[0.0]]).shape[1]
    curved, plain = WithFeatures(policy(d), made), policy(1)
    rng = np.random.default_rng(3)
    lost = np.zeros(2)
    for t in range(400):
        X = rng.uniform(-1, 1, (10, 1))
        pays = 1.0 - X[:, 0] ** 2  # the best arm is in the middle
        for i, each in enumerate((curved, plain)):
            k = each.pull(X)
            each.update(X[k], pays[k] + 0.4 * rng.standard_normal())
            lost[i] += (t >= 200) * (pays.max() - pays[k]) / 200
    assert lost[0] < 0.1 < 0.2 < lost[1], lost


def test_wrapper_is_the_policy_on_transformed_arms():
    made = transformers()[0]
    X = np.linspace(-1, 1, 5)[:, None]
    curved, twin = WithFeatures(policy(4), made), policy(4)
    curved.update(X[:3], [0.1, 0.2, 0.3], age=1.0)
    curved.update(X[4], 0.4)
    twin.update(made.transform(X[:3]), [0.1, 0.2, 0.3], age=1.0)
    twin.update(made.transform(X[4:])[0], 0.4)
    rows = made.transform(X)
    np.testing.assert_array_equal(curved.scores(X), twin.scores(rows))
    np.testing.assert_array_equal(curved.propensities(X), twin.propensities(rows))
    assert [curved.pull(X) for _ in range(9)] == [twin.pull(rows) for _ in range(9)]
    assert curved.name == "WSB-LinTS, PolynomialFeatures"
    with pytest.raises(ValueError, match="X must be finite"):
        curved.pull(X * np.nan)
    with pytest.raises(TypeError, match="transformer must have transform"):
        WithFeatures(policy(4), "squares")
    with pytest.raises(TypeError, match="policy must be a wsbnb policy"):
        WithFeatures("LinTS", made)


def test_a_row_of_a_frame_keeps_its_names():
    """Its features in another order would be learnt as they come."""
    pd = pytest.importorskip("pandas")
    from sklearn.preprocessing import StandardScaler

    frame = pd.DataFrame([[1.0, 9.0], [3.0, 5.0], [4.0, 1.0]], columns=["a", "b"])
    scaler = StandardScaler().fit(frame)
    named, twin = WithFeatures(policy(2), scaler), policy(2)
    named.update(frame.iloc[0], 1.0)
    twin.update(scaler.transform(frame)[0], 1.0)
    np.testing.assert_array_equal(named.policy.posterior.mean, twin.posterior.mean)
    with pytest.raises(ValueError, match="same order"):
        named.update(frame[["b", "a"]].iloc[0], 1.0)


def test_a_refused_reward_is_not_counted_by_river():
    guest = RiverPolicy(zoo.make("WSBLinTS", 2), {"a": [1.0, 0.0], "b": [0.0, 1.0]})
    guest.update("a", 1.0)
    for seen in ((), (None, 1.0, 2.0), ("x",), (None, float("nan"))):
        with pytest.raises((ValueError, TypeError), match="reward|seen"):
            guest.update("b", *seen)
    assert guest.policy.rounds == 1.0 and list(guest._counts.items()) == [("a", 1)]
    with pytest.raises(TypeError, match="reward_obj must be a statistic"):
        RiverPolicy(zoo.make("WSBLinTS", 2), {}, reward_obj=3)
