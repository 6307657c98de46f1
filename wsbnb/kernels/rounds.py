"""One round of a linear bandit, played once or many times, learning or not."""

from wsbnb.kernels.compiling import entry
from wsbnb.kernels.estimate import ARM, learn, predict, refresh
from wsbnb.kernels.explore import best_arm, score
from wsbnb.kernels.linear import project
from wsbnb.kernels.vectors import LANES, borrowed, get, store


@entry
def play(
    exploration,
    forgetting,
    prior,
    state,
    work,
    arms,
    rewards,
    noise,
    normals,
    chosen,
    predicted,
    steps,
    weight,
    choosing,
    learning,
):
    """Play ``chosen.size`` rounds; return how many could be played.

    `arms` is (1, d, K) for a fixed set or (n, d, K). The reward of arm k in round t is
    ``rewards[t, k] + noise[t]``; `normals` has a row for each round. Without `choosing`
    every round has one arm, without `learning` nothing is observed. The clock moves by
    `steps` before each observation, which counts with `weight`. Where `predicted` has
    rows, they receive mean and variance of the expected reward of the arm that is about
    to be learnt from. What the last decision was based on stays in `work`. A round in
    which P is not positive definite ends it all.
    """
    exploration, prior = borrowed(exploration), borrowed(prior)
    state, work = borrowed(state), borrowed(work)
    arms, rewards, noise = borrowed(arms), borrowed(rewards), borrowed(noise)
    normals, chosen = borrowed(normals), borrowed(chosen)
    predicted = borrowed(predicted)
    d = arms.shape[1]
    for t in range(chosen.size):
        X_T = arms[t if arms.shape[0] > 1 else 0]
        k = 0
        if choosing:
            sound = score(exploration, state, work, X_T, normals, t)
            k = best_arm(work.rows, X_T.shape[1]) if sound else -1
            chosen[t] = k
            if k < 0:
                return t
        if learning:
            for i in range(d):
                work.vectors[ARM, i] = get(X_T, i, k)
            if predicted.shape[0] > 0:
                predict(state, work, predicted, t)
            reward = get(rewards, t, k) + noise[t]
            learn(forgetting, prior, state, work, reward, steps, weight)
    if learning:  # the next decision, and whoever reads the estimate, finds the factor
        refresh(state, work)
    return chosen.size


@entry
def expected_rewards(theta, arms, out):
    """``out[t, k]``, the expected reward of arm k in round t."""
    theta, arms, out = borrowed(theta), borrowed(arms), borrowed(out)
    d, K = arms.shape[1], arms.shape[2]
    whole = K // LANES * LANES
    for t in range(theta.shape[0]):
        X_T = arms[t if arms.shape[0] > 1 else 0]
        for k in range(0, whole, LANES):
            store(out, t, k, project(X_T, k, theta, t, d))
        for k in range(whole, K):
            total = 0.0
            for i in range(d):
                total += get(theta, t, i) * get(X_T, i, k)
            out[t, k] = total
