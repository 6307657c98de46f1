"""Would another policy have done better? Answers from a log with known propensities."""

import numpy as np

from wsbnb import _validate
from wsbnb._types import TYPE_CHECKING, ArrayLike
from wsbnb.dependence import block_bootstrap, suggested_block_length
from wsbnb.policies.base import Policy
from wsbnb.posterior import WSBPosterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["off_policy"]

#: Level at which the mean weight must not differ from 1.
_SUSPICION = 0.999
#: Series made by the bootstrap.
_DRAWS = 2000


def off_policy(
    target: Policy | ArrayLike,
    arms: ArrayLike,
    chosen: ArrayLike,
    rewards: ArrayLike,
    propensities: ArrayLike,
    model: WSBPosterior | None = None,
    draws: int = 1000,
    least: float = 100,
    level: float = 0.95,
    seed: int = 0,
) -> "pd.DataFrame":
    r"""What a policy would have earned per round, from the log of another one.

    With :math:`p_t` the logged propensity, :math:`\pi_t` the target's probabilities and
    :math:`w_t = \pi_t(a_t)/p_t` four estimates are made:

    - *replay*: rounds in which the target chooses the logged arm are kept (each with
      probability :math:`\min_s p_s/p_t`, so that little is left unless the logged
      propensities are nearly equal); a policy learns from these rounds only, as it
      would if it had played (:cite:t:`li2011unbiased`);
    - *IPS*: the mean of :math:`w_tr_t`;
    - *SNIPS*: the same over the mean of :math:`w_t`
      (:cite:t:`swaminathan2015self`);
    - *DR*: the mean of :math:`\sum_a\pi_t(a)q_t(a) + w_t(r_t - q_t(a_t))`, doubly
      robust (:cite:t:`dudik2014doubly`), with the model's predictions :math:`q_t` made
      before it learns the reward of round t.

    Parameters
    ----------
    target : Policy or array of shape (n, K)
        A policy, or its probabilities for every round, with zeros behind the last arm
        of a round that has fewer than others. In the last three estimates a policy
        learns from every logged round, and :math:`\pi_t` is what it would play next.
        It is copied.
    arms : array of shape (K, d) or (n, K, d), or list of n arrays of shape (K, d)
        What could be chosen: always the same, or a set for each round. In a list K may
        differ from round to round.
    chosen : array of int of shape (n,)
        The arm that was played.
    rewards : array of shape (n,)
        What it paid.
    propensities : array of shape (n,)
        The probability with which it was played, known and not estimated.
    model : WSBPosterior, optional
        For *DR*, as it is before the first round; it is copied. By default the
        posterior of a target policy; without one there is no *DR*.
    draws : int, default 1000
        For probabilities of a policy that have no formula. The noise of these draws
        does not bias the estimates, which are linear in :math:`\pi_t`.
    least : float, default 100
        Smallest effective number of rounds for which a value is given.
    level : float, default 0.95
        Of the intervals.
    seed : int, default 0
        For draws, replay and bootstrap.

    Returns
    -------
    DataFrame
        One row per estimate: value, se, low, high (by blocks of neighbouring rounds,
        :func:`wsbnb.block_bootstrap`), effective_size (:math:`(\sum w)^2/\sum w^2`, for
        *replay* the rounds kept), mean_weight (1 but for chance), block_length and
        refused: why there is no value or no interval, or an empty text.

    Notes
    -----
    The estimates are about the time of the log. Where the world drifts they average
    over it, and the intervals speak of other logs that drift as often. A value is
    refused if too few rounds bear it, or if the mean weight differs from 1 by more than
    chance: then propensities are wrong, or the target plays arms that the log never
    could. Where all rewards that count are equal, such as no click at all, there is a
    value without an interval.

    Examples
    --------
    >>> import numpy as np, wsbnb
    >>> rng = np.random.default_rng(0)
    >>> X = np.eye(2)
    >>> chosen = rng.integers(0, 2, 4000)  # a coin was thrown
    >>> rewards = np.where(chosen == 0, 0.7, 0.2) + 0.1 * rng.normal(size=4000)
    >>> always_first = np.tile([1.0, 0.0], (4000, 1))
    >>> table = wsbnb.off_policy(always_first, X, chosen, rewards, np.full(4000, 0.5))
    >>> table.loc["SNIPS", ["value", "effective_size"]].round(2).tolist()
    [0.7, 1971.0]
    """
    import pandas as pd

    log = _Log(arms, chosen, rewards, propensities)
    table = _checked_target(target, model, log)
    draws = _validate.integer("draws", draws)
    least = _validate.positive("least", least)
    level = _validate.probability("level", level)
    streams = np.random.SeedSequence(_validate.seed("seed", seed)).spawn(3)
    generators = [np.random.default_rng(stream) for stream in streams]
    kept = _replayed(target, table, log, generators[0])
    ones = np.ones(len(kept))
    rows = {"replay": _row(kept, ones, kept, least, level, streams[2])}
    w, q = _followed(target, table, model, log, draws, generators[1])
    for name, series in _series(w, q, log.rewards).items():
        rows[name] = _row(series, w, log.rewards, least, level, streams[2])
    return pd.DataFrame(rows).T.astype({name: float for name in _NUMBERS})


# --- the log --------------------------------------------------------------------------


class _Log:
    """Checked arrays, and the arms of a round."""

    def __init__(self, arms, chosen, rewards, propensities):
        self.rewards = _validate.vector("rewards", rewards)
        _validate.bounded("rewards", np.abs(self.rewards).max())
        n = self.size = len(self.rewards)
        self._rows, self._sizes, self._starts = _arms(arms, n)
        self.dim, self.most = self._rows.shape[1], int(self._sizes.max())
        self.chosen = _validate.arm_numbers("chosen", chosen, self._sizes)
        self.propensities = _validate.chances("propensities", propensities, n)
        _validate.ordinary("propensities", self.propensities.min())

    def offered(self, t):
        start = self._starts[t]
        return self._rows[start : start + self._sizes[t]]

    def missing(self):
        """Where a table with a column for each arm has none, shape (n, K)."""
        return np.arange(self.most) >= self._sizes[:, None]


def _arms(arms, n):
    """All rows; how many arms each round has, and where they begin."""
    ragged = _validate.ragged("arms", arms)
    if ragged is not None:
        rows, sizes = ragged
        count, starts = len(sizes), np.cumsum(sizes) - sizes
    else:
        array = _validate.finite_array("arms", arms)
        if array.ndim not in (2, 3) or 0 in array.shape:
            raise ValueError(
                "arms must have shape (K, d) or (n, K, d), or be a list of n sets of "
                f"shape (K, d), got shape {array.shape}"
            )
        K, d = array.shape[-2:]
        fixed = array.ndim == 2
        count, sizes = n if fixed else len(array), np.full(n, K)
        rows, starts = array.reshape(-1, d), np.arange(n) * (0 if fixed else K)
    if count != n:
        raise ValueError(f"arms must have a set for each of {n} rewards, got {count}")
    return rows, sizes, starts


def _checked_target(target, model, log):
    """The probabilities in a table, or None for a policy."""
    if model is not None and not isinstance(model, WSBPosterior):
        raise TypeError(f"model must be a WSBPosterior, got {model!r}")
    for name, part in (("target", target), ("model", model)):
        dim = getattr(part, "dim", None)
        if dim not in (None, log.dim):
            raise ValueError(f"{name} must have dimension {log.dim}, got {dim}")
    return None if isinstance(target, Policy) else _probabilities(target, log)


def _probabilities(target, log):
    p = _validate.matrix("target", target, rows=log.size, cols=log.most)
    sums = p.sum(axis=1)
    if p.min() < 0.0 or np.abs(sums - 1.0).max() > 1e-8:
        worst = sums[np.abs(sums - 1.0).argmax()]
        raise ValueError(
            "target must hold probabilities that sum to 1 in each row, got a smallest "
            f"entry of {p.min()} and a sum of {worst}"
        )
    if p[log.missing()].any():
        t = int(np.flatnonzero((p * log.missing()).any(axis=1))[0])
        raise ValueError(
            "target must be 0 where a round has no arm, got probability "
            f"{p[t][log.missing()[t]].max()} there in round {t}"
        )
    return p


# --- the estimates --------------------------------------------------------------------


def _replayed(target, table, log, rng):
    """Rewards of the rounds in which the target plays what was played."""
    policy = None if table is not None else target.copy(rng.spawn(1)[0])
    luck = rng.random((log.size, 2))
    keep = log.propensities.min() / log.propensities
    kept = []
    for t in range(log.size):
        X = log.offered(t)
        if policy is not None:
            arm = policy.pull(X)
        else:
            arm = min(np.searchsorted(np.cumsum(table[t]), luck[t, 0]), len(X) - 1)
        if arm != log.chosen[t] or luck[t, 1] >= keep[t]:
            continue
        kept.append(log.rewards[t])
        if policy is not None:
            policy.update(X[arm], log.rewards[t])
    return np.array(kept)


def _followed(target, table, model, log, draws, rng):
    """Weights, and what the model expects: of the target's arms, of the logged one."""
    pi = table
    if pi is None:
        policy, pi = target.copy(), np.zeros((log.size, log.most))
        model = getattr(target, "posterior", None) if model is None else model
        for t in range(log.size):
            X = log.offered(t)
            pi[t, : len(X)] = policy.propensities(X, draws=draws, seed=rng)
            policy.update(X[log.chosen[t]], log.rewards[t])
    rounds = np.arange(log.size)
    w = pi[rounds, log.chosen] / log.propensities
    return w, None if model is None else _expected(model.copy(), pi, log)


def _expected(model, pi, log):
    q = np.empty((log.size, 2))
    for t in range(log.size):
        X, k = log.offered(t), log.chosen[t]
        means, _ = model.predict(X, noise=False)
        q[t] = pi[t, : len(X)] @ means, means[k]
        model.update(X[k], log.rewards[t])
    return q


def _series(w, q, rewards):
    """Numbers whose mean is the estimate (for SNIPS: to first order)."""
    share = w.mean()
    with np.errstate(over="ignore", invalid="ignore"):  # said below
        value = (w @ rewards) / w.sum() if share > 0.0 else 0.0
        series = {
            "IPS": w * rewards,
            "SNIPS": value + w * (rewards - value) / (share or 1.0),
        }
        if q is not None:
            series["DR"] = q[:, 0] + w * (rewards - q[:, 1])
    most = max(np.abs(values).max() for values in series.values())
    if not most <= _validate.LARGEST:
        raise ValueError(
            "rewards over propensities must be at most "
            f"{_validate.LARGEST:g} in size, got {most:g}"
        )
    return series


_NUMBERS = (
    "value",
    "se",
    "low",
    "high",
    "effective_size",
    "mean_weight",
    "block_length",
)


def _row(series, w, rewards, least, level, seed):
    """An estimate with its interval, or why there is none."""
    share = w / w.max() if w.any() else w  # no square overflows
    size = float(share.sum() ** 2 / (share @ share)) if w.any() else 0.0
    row = dict.fromkeys(_NUMBERS, np.nan)
    row |= {"effective_size": size, "refused": ""}
    if size < least:
        row["refused"] = f"{size:.0f} effective rounds; at least {least:g} are needed"
        return row
    row["mean_weight"] = float(w.mean())
    length = suggested_block_length(series)
    if np.abs(w - 1.0).max() > 1e-9:
        block, rng = suggested_block_length(w), np.random.default_rng(seed)
        around = block_bootstrap(w, block, _DRAWS, _SUSPICION, rng)
        if not around["low"] <= 1.0 <= around["high"]:
            row["refused"] = (
                f"the mean weight is {w.mean():.3g} and not 1: wrong propensities, or "
                "arms that the log could not play"
            )
            return row
    counted = rewards[w > 0.0]
    if np.ptp(counted) == 0.0:
        row["refused"] = (
            f"no interval: all {len(counted)} rewards that count are {counted[0]:g}"
        )
        return row | {"value": float(series.mean())}
    found = block_bootstrap(series, length, _DRAWS, level, np.random.default_rng(seed))
    found["value"] = found.pop("mean")
    return row | found | {"block_length": length}
