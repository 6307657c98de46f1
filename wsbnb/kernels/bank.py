"""Many estimates of one parameter side by side, and who of them chooses.

Members differ in how they forget (each has a discount), in when they started and, where
the prior has an axis more, in their prior. They are the state of one estimate with one
more axis. All learn from every observation; a
*master* picks the member that chooses, and learns from how well they predicted.
"""

import math
from collections import namedtuple

from wsbnb.kernels.compiling import by_type, compiled, entry, inlined, where_given
from wsbnb.kernels.estimate import (
    ARM,
    CLOCK,
    FIRST,
    SQUARED_WEIGHT_SUM,
    WEIGHT_SUM,
    State,
    _square,
    factorise_precision,
    fade_and_add,
    loosen,
)
from wsbnb.kernels.explore import best_arm, rescaled, score
from wsbnb.kernels.linear import dot, solve_vector
from wsbnb.kernels.vectors import borrowed, get

#: As `State`, with one row for each member; `gamma` are their discounts.
Members = namedtuple("Members", "gamma sums counts squares bound")
#: What the members expect of the next reward, one row each: mean, variance.
MEAN, VARIANCE = range(2)

# Masters, as types that the compiler sees. What they know is a vector, `own`.

#: Members are weighted by their predictive likelihood, which fades by `rho` a round.
Mixture = namedtuple("Mixture", "rho")
#: EXP3 over members, in blocks of `block` rounds.
Blocks = namedtuple("Blocks", "block rate low high restart")
#: One member, restarted when a CUSUM of its squared residuals passes the threshold.
Surprise = namedtuple("Surprise", "threshold inflation")
#: The first `discounted` members forget steadily, the others never: each of them
#: believes that the present began in another round. After t rounds it may begin anew
#: with the chance ``1 / period``, or with a growth of 1 ``1 / (period + t)``. A
#: newcomer then takes the place of the lightest of these members, and the part `keep`
#: of what the leader knows. A discounted one takes over `share` times as often, and a
#: member that forgets explores with the part `calm` of the rule's scale. The given
#: noise level counts as much as `trust` rounds of residuals. When a discounted member
#: is drawn, the one with the next shorter memory chooses with the chance `haste`.
Changes = namedtuple("Changes", "discounted period growth share keep calm trust haste")

#: What a master wants restarted: nobody, everybody before or after they have learnt
#: from the reward, or, after it, from NEWCOMER downwards the member ``NEWCOMER - who``.
NOBODY, EVERYBODY, EVERYBODY_AFTERWARDS, NEWCOMER = -1, -2, -3, -4

#: Log weights are kept above this: ``exp`` of it is a number still.
LIGHTEST = -700.0
#: Beyond this logs of weights have lost digits, and are brought to size once more.
FAR = -1e6
#: What `Changes` knows after the log weights and the births of n members, from 2 n on;
#: the last is the variance of the noise in units of the given one.
AGE, SINCE, ALARMS, LOST, NOISE = range(5)
#: A residual counts for the noise with at most so many variances: one that is larger
#: is an outlier, or a change. And the noise stays between these multiples.
SHOCK, QUIETEST, LOUDEST = 16.0, 1e-6, 1e6


# --- the members ----------------------------------------------------------------------


@where_given
def _row(array, index):
    return array[index]


@inlined
def member(members, j):
    """One member as the state of an estimate; it shares the memory."""
    return State(
        members.sums[j],
        members.counts[j],
        _row(members.squares, j),
        _row(members.bound, j),
        None,
    )


@inlined
def _prior_of(prior, j):
    """[P0; h0] of a member: its own, or the one that all share."""
    return prior.sums[j if prior.sums.shape[0] > 1 else 0]


@compiled
def predict_all(prior, members, work, expected):
    """Mean and variance of the next reward of the arm in row ARM, for every member."""
    v, d = work.vectors, members.sums.shape[1] - 1
    sound = True
    for j in range(members.gamma.size):
        sums = members.sums[j]
        sound = factorise_precision(sums, d, work.factor, sums, d) and sound
        for i in range(d):
            v[FIRST, i] = v[ARM, i]
        solve_vector(work.factor, d, v, FIRST)
        expected[MEAN, j] = dot(v, FIRST, work.factor, d, d)
        expected[VARIANCE, j] = 1.0 / prior.precision + dot(v, FIRST, v, FIRST, d)
    work.fresh[0] = 0.0
    return sound


@compiled
def learn_all(prior, members, work, reward, steps, weight):
    """Every member fades by its own discount, then all add the observation."""
    d = members.sums.shape[1] - 1
    push = weight * prior.precision
    for j in range(members.gamma.size):
        f = members.gamma[j] if steps == 1.0 else members.gamma[j] ** steps
        state = member(members, j)
        P0 = _prior_of(prior, j)
        fade_and_add(state.sums, P0, d, f, push, work.vectors, reward)
        _square(state.squares, P0, d, f * f, weight * push, work.vectors)
        loosen(state.bound, f)
        counts = state.counts
        counts[CLOCK] += steps
        counts[WEIGHT_SUM] = f * counts[WEIGHT_SUM] + weight
        counts[SQUARED_WEIGHT_SUM] = (
            f * f * counts[SQUARED_WEIGHT_SUM] + weight * weight
        )


@compiled
def restart(prior, members, work, j):
    """One member back to the prior."""
    d = members.sums.shape[1] - 1
    state, P0 = member(members, j), _prior_of(prior, j)
    fade_and_add(state.sums, P0, d, 0.0, 0.0, work.vectors, 0.0)
    _square(state.squares, P0, d, 0.0, 0.0, work.vectors)
    loosen(state.bound, 0.0)
    for i in range(state.counts.size):
        state.counts[i] = 0.0


# --- who chooses ----------------------------------------------------------------------


@inlined
def draw(log_weights, n, u, floor):
    """An index drawn with weights ``exp(log_weights)``, mixed with a uniform share."""
    largest = log_weights[0]
    for j in range(n):
        largest = max(largest, log_weights[j])
    total = 0.0
    for j in range(n):
        total += math.exp(log_weights[j] - largest)
    passed = 0.0
    for j in range(n):
        share = math.exp(log_weights[j] - largest) / total
        passed += (1.0 - floor) * share + floor / n
        if u < passed:
            return j
    return n - 1


@inlined
def uniform(luck, t):
    """A number between 0 and 1: the angle of two normals is uniform."""
    return 0.5 + math.atan2(luck[t, 0], luck[t, 1]) / (2.0 * math.pi)


def _pick_mixture(master, own, n, luck, t):
    return draw(own, n, uniform(luck, t), 0.0)


def _pick_changes(master, own, n, luck, t):
    j = draw(own, n, uniform(luck, t), 0.0)
    if 0 < j < master.discounted:
        square = luck[t, 0] * luck[t, 0] + luck[t, 1] * luck[t, 1]
        if math.exp(-0.5 * square) < master.haste:  # uniform, too
            j -= 1
    return j


def _pick_blocks(master, own, n, luck, t):
    if own[n] < 0.0:
        own[n] = draw(own, n, uniform(luck, t), master.rate)
    return int(own[n])


def _pick_only(master, own, n, luck, t):
    return 0


#: The member for the next choice.
pick = by_type(
    {
        Mixture: _pick_mixture,
        Blocks: _pick_blocks,
        Surprise: _pick_only,
        Changes: _pick_changes,
    }
)


def _fully(master, own, members, j):
    return 1.0


def _calmly(master, own, members, j):
    spread = math.sqrt(own[2 * members.gamma.size + NOISE])
    return master.calm * spread if members.gamma[j] < 1.0 else spread


#: How much of the rule's exploration a member does.
boldness = by_type(
    {Mixture: _fully, Blocks: _fully, Surprise: _fully, Changes: _calmly}
)


@inlined
def log_density(expected, j, reward):
    """Log of the predictive density of a reward."""
    residual, variance = reward - expected[MEAN, j], expected[VARIANCE, j]
    return -0.5 * (residual * residual / variance + math.log(2.0 * math.pi * variance))


def _credit_mixture(master, own, n, expected, reward, steps):
    fading = master.rho**steps
    for j in range(n):
        own[j] = fading * own[j] + log_density(expected, j, reward)
    return NOBODY


def _credit_blocks(master, own, n, expected, reward, steps):
    if own[n] < 0.0:  # nobody to credit: no choice led to this reward
        return NOBODY
    own[n + 1] += 1.0
    own[n + 2] += reward
    if own[n + 1] < master.block:
        return NOBODY
    mean = own[n + 2] / own[n + 1]
    gain = min(max((mean - master.low) / (master.high - master.low), 0.0), 1.0)
    largest, total = own[0], 0.0
    for j in range(n):
        largest = max(largest, own[j])
    for j in range(n):
        total += math.exp(own[j] - largest)
    k = int(own[n])
    share = math.exp(own[k] - largest) / total
    chance = (1.0 - master.rate) * share + master.rate / n
    own[k] += master.rate * gain / (chance * n)
    own[n], own[n + 1], own[n + 2] = -1.0, 0.0, 0.0
    return EVERYBODY_AFTERWARDS if master.restart else NOBODY


def _credit_surprise(master, own, n, expected, reward, steps):
    residual = reward - expected[MEAN, 0]
    surprise = residual * residual / expected[VARIANCE, 0]
    v = master.inflation
    own[0] = max(0.0, own[0] + 0.5 * ((1.0 - 1.0 / v) * surprise - math.log(v)))
    own[1] += 1.0
    if own[0] <= master.threshold:
        return NOBODY
    own[0] = 0.0
    return EVERYBODY


@inlined
def _log_total(own, n):
    largest, total = own[0], 0.0
    for j in range(n):
        largest = max(largest, own[j])
    for j in range(n):
        total += math.exp(own[j] - largest)
    return largest + math.log(total)


@inlined
def _normalise(own, n):
    """Let weights sum to one; return the log of what they summed to."""
    total = _log_total(own, n)
    for j in range(n):
        own[j] = max(own[j] - total, LIGHTEST)
    return total


@inlined
def _heaviest(own, n, born_after):
    """The heaviest member born after a round, and what all of these weigh."""
    best, total = -1, 0.0
    for j in range(n):
        if own[n + j] > born_after:
            total += math.exp(own[j])
            if best < 0 or own[j] > own[best]:
                best = j
    return best, total


@inlined
def _sound_alarm(own, n):
    """Members younger than the declared beginning hold the majority: move it."""
    best, total = _heaviest(own, n, own[2 * n + SINCE])
    if total > 0.5:
        own[2 * n + SINCE] = own[n + best]
        own[2 * n + ALARMS] += 1.0


@inlined
def _log(weight):
    """Log of a weight, which may have vanished."""
    return max(math.log(weight), LIGHTEST) if weight > 0.0 else LIGHTEST


@compiled
def bear(master, own, n, steps):
    """Let `steps` rounds pass in which the present may have begun; return who is new.

    The lightest of the members that never forget makes room. Its weight is lost.
    """
    known, first = 2 * n, int(master.discounted)
    t = own[known + AGE]
    if master.growth > 0.0:  # the product of 1 - 1 / (period + s) telescopes
        chance = steps / (master.period + t + steps)
    else:
        chance = -math.expm1(steps * math.log1p(-1.0 / master.period))
    out = first
    for j in range(first, n):
        if own[j] < own[out]:
            out = j
    own[known + LOST] += math.exp(own[out])
    own[out] = LIGHTEST
    total = _log_total(own, n)
    taken = master.share * chance if first > 0 else 0.0
    for j in range(n):
        weight = (1.0 - taken) * math.exp(max(own[j] - total, LIGHTEST))
        if j < first:
            weight += taken / first
        own[j] = _log((1.0 - chance) * weight)
    own[out] = _log(chance)
    own[known + AGE] = t + steps
    own[n + out] = t + steps
    return NEWCOMER - out


@inlined
def _learn_noise(master, own, n, expected, reward):
    """Move the noise towards the members' squared residuals, by their weights."""
    surprise = 0.0
    for j in range(n):
        residual = reward - expected[MEAN, j]
        squared = residual * residual / expected[VARIANCE, j]
        surprise += math.exp(own[j]) * min(squared, SHOCK)
    noise = own[2 * n + NOISE] * (1.0 + (surprise - 1.0) / (master.trust + 1.0))
    own[2 * n + NOISE] = min(max(noise, QUIETEST), LOUDEST)


def _credit_changes(master, own, n, expected, reward, steps):
    for j in range(n):
        expected[VARIANCE, j] *= own[2 * n + NOISE]
        own[j] += log_density(expected, j, reward)
    if _normalise(own, n) < FAR:
        _normalise(own, n)
    _learn_noise(master, own, n, expected, reward)
    _sound_alarm(own, n)
    return bear(master, own, n, steps) if steps > 0.0 else NOBODY


#: Learn how well the members predicted; say who is to be restarted.
credit = by_type(
    {
        Mixture: _credit_mixture,
        Blocks: _credit_blocks,
        Surprise: _credit_surprise,
        Changes: _credit_changes,
    }
)


@compiled
def inherit(prior, members, work, leader, j, keep):
    """One member takes over what another knows, faded once: its doubt has widened."""
    d = members.sums.shape[1] - 1
    state, other, P0 = member(members, j), member(members, leader), _prior_of(prior, j)
    _copy_rows(state.sums, other.sums)
    fade_and_add(state.sums, P0, d, keep, 0.0, work.vectors, 0.0)
    _copy_rows(state.squares, other.squares)
    _square(state.squares, P0, d, keep * keep, 0.0, work.vectors)
    _copy_numbers(state.bound, other.bound)
    loosen(state.bound, keep)
    _copy_numbers(state.counts, other.counts)
    state.counts[WEIGHT_SUM] *= keep
    state.counts[SQUARED_WEIGHT_SUM] *= keep * keep


@inlined
def _copy_rows(to, source):
    if to is not None:
        for i in range(source.shape[0]):
            for c in range(source.shape[1]):
                to[i, c] = source[i, c]


@inlined
def _copy_numbers(to, source):
    if to is not None:
        for i in range(source.size):
            to[i] = source[i]


def _renew_nobody(master, own, prior, members, work, who):
    pass


def _renew_newcomer(master, own, prior, members, work, who):
    j, n = NEWCOMER - who, members.gamma.size
    if j < 0:
        return
    restart(prior, members, work, j)
    if master.keep > 0.0:
        leader = 0 if j > 0 else 1
        for i in range(n):
            if i != j and own[i] > own[leader]:
                leader = i
        inherit(prior, members, work, leader, j, master.keep)


#: Give the newcomer its state, after all have learnt.
renew = by_type(
    {
        Mixture: _renew_nobody,
        Blocks: _renew_nobody,
        Surprise: _renew_nobody,
        Changes: _renew_newcomer,
    }
)


@inlined
def _restart_everybody(prior, members, work):
    for j in range(members.gamma.size):
        restart(prior, members, work, j)


# --- rounds ---------------------------------------------------------------------------


@entry
def play_bank(
    master,
    exploration,
    prior,
    members,
    own,
    work,
    expected,
    arms,
    rewards,
    noise,
    normals,
    luck,
    chosen,
    raised,
    steps,
    weight,
    choosing,
    learning,
):
    """As `rounds.play`, for a bank of members under a master.

    `luck` (n, 2) are normals that pick the members, `raised` (n,) receives 1 where
    somebody was restarted. Returns the number of rounds that could be played.
    """
    exploration, prior = borrowed(exploration), borrowed(prior)
    members, own, work = borrowed(members), borrowed(own), borrowed(work)
    expected, arms, rewards = borrowed(expected), borrowed(arms), borrowed(rewards)
    noise, normals, luck = borrowed(noise), borrowed(normals), borrowed(luck)
    chosen, raised = borrowed(chosen), borrowed(raised)
    d, n = arms.shape[1], members.gamma.size
    for t in range(chosen.size):
        X_T = arms[t if arms.shape[0] > 1 else 0]
        k = 0
        if choosing:
            j = pick(master, own, n, luck, t)
            work.fresh[0] = 0.0
            rule = rescaled(exploration, boldness(master, own, members, j))
            sound = score(rule, member(members, j), work, X_T, normals, t)
            k = best_arm(work.rows, X_T.shape[1]) if sound else -1
            chosen[t] = k
            if k < 0:
                return t
        if learning:
            for i in range(d):
                work.vectors[ARM, i] = get(X_T, i, k)
            reward = get(rewards, t, k) + noise[t]
            if not predict_all(prior, members, work, expected):
                return t
            who = credit(master, own, n, expected, reward, steps)
            raised[t] = 0 if who == NOBODY else 1
            if who == EVERYBODY:
                _restart_everybody(prior, members, work)
            learn_all(prior, members, work, reward, steps, weight)
            if who == EVERYBODY_AFTERWARDS:
                _restart_everybody(prior, members, work)
            renew(master, own, prior, members, work, who)
    return chosen.size


@entry
def let_pass(master, prior, members, own, work, steps):
    """Time passes for a bank under `Changes`, and nothing is observed."""
    prior, members = borrowed(prior), borrowed(members)
    own, work = borrowed(own), borrowed(work)
    learn_all(prior, members, work, 0.0, steps, 0.0)
    who = bear(master, own, members.gamma.size, steps)
    renew(master, own, prior, members, work, who)
    work.fresh[0] = 0.0


@entry
def follow(prior, members, work, expected, X, rewards, predicted):
    """Learn a log of arms and rewards; keep what was expected before each reward.

    `X` is (n, d), `predicted` (2, n, members): mean and variance of the reward.
    """
    prior, members, work = borrowed(prior), borrowed(members), borrowed(work)
    expected, X, rewards = borrowed(expected), borrowed(X), borrowed(rewards)
    predicted = borrowed(predicted)
    for t in range(rewards.size):
        for i in range(X.shape[1]):
            work.vectors[ARM, i] = X[t, i]
        if not predict_all(prior, members, work, expected):
            return t
        for j in range(members.gamma.size):
            predicted[MEAN, t, j] = expected[MEAN, j]
            predicted[VARIANCE, t, j] = expected[VARIANCE, j]
        learn_all(prior, members, work, rewards[t], 1.0, 1.0)
    return rewards.size
