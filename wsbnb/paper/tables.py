"""The paper's two tables as specifications, under two readings of the text."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import pandas as pd

from wsbnb import _validate
from wsbnb.paper.algorithms import ALGORITHMS, TABLE
from wsbnb.paper.settings import (
    SCALE_RULES,
    Cell,
    Player,
    Setting,
    dimension,
    dimensions,
    numbers,
    words,
)

SCENARIOS = ("abrupt", "slow")
DIMS = (2, 4, 6, 16, 32)
PRIOR_NORMS = (1, 10, 100)
#: Trials behind each printed mean and standard deviation.
PAPER_TRIALS = 100


@dataclass(frozen=True)
class Protocol:
    r"""A reading of what the paper leaves open.

    Parameters
    ----------
    name : str
    slow_path : {"slow", "still"}
        What the parameter does in the slow scenario.
    slow_variation : float, optional
        :math:`B_T` used for the discount there; default the exact one.
    anchors, arms, closed_tour
        As in :func:`wsbnb.paper_environment`.
    regularization, delta, split, penalty, prior_direction
        As in :class:`Player`.
    perturbation, perturbation_scale
        Law of the two randomised UCB methods and its `scale_rule`.

    Examples
    --------
    >>> CALIBRATED.slow_path, PRINTED.slow_path
    ('still', 'slow')
    """

    name: str
    slow_path: str = "slow"
    slow_variation: float | None = None
    anchors: str = "orthogonal"
    arms: str = "fixed"
    closed_tour: bool = False
    regularization: float = 1.0
    delta: float | None = None
    split: str = "horizon"
    penalty: str = "cxv"
    perturbation: str = "rectified"
    perturbation_scale: str = "plain"
    prior_direction: str = "uniform"

    def __post_init__(self) -> None:
        _validate.text("name", self.name)
        _validate.choice("slow_path", self.slow_path, ("slow", "still"))
        if self.slow_variation is not None:
            _validate.nonnegative("slow_variation", self.slow_variation)
        _validate.choice("perturbation_scale", self.perturbation_scale, SCALE_RULES)
        # The rest are fields of a setting and of a player, which check them.
        words = ("anchors", "arms", "closed_tour")
        Setting("abrupt", 2, **{name: getattr(self, name) for name in words})
        words = ("regularization", "delta", "split", "penalty", "perturbation")
        words += ("prior_direction",)
        Player("WSB-LinUCB", **{name: getattr(self, name) for name in words})


#: What the text says, with a stated choice where it says nothing: half-normal
#: perturbations of scale sigma, and a slow scenario that moves.
PRINTED = Protocol("printed", perturbation="half-normal", perturbation_scale="sigma")

#: What reproduces the printed numbers: rectified standard normal perturbations, and a
#: "slow" parameter that stands still while the discount is computed for four quarter
#: circles. Not a claim about what the authors ran.
CALIBRATED = Protocol("calibrated", slow_path="still", slow_variation=2 * math.pi)

PROTOCOLS = {"calibrated": CALIBRATED, "printed": PRINTED}


@dataclass(frozen=True)
class PaperCell:
    """One cell of the paper's tables, in the paper's words.

    Parameters
    ----------
    scenario : {"abrupt", "slow"}
    algorithm : str
        One of the seven.
    dim : int
    prior_mean_norm : float, default 0
        Norm of the prior mean; 0 in Table 2, and 1, 10 or 100 in the ablation.
    protocol : Protocol or {"calibrated", "printed"}
    trials, seed, horizon : int

    Examples
    --------
    >>> cell = PaperCell("slow", "WSB-LinTS", 2).cell
    >>> cell.setting.scenario, round(cell.player.variation, 4)
    ('still', 6.2832)
    """

    scenario: str
    algorithm: str
    dim: int
    prior_mean_norm: float = 0.0
    protocol: Protocol | str = "calibrated"
    trials: int = 100
    seed: int = 0
    horizon: int = 4000

    def __post_init__(self) -> None:
        _validate.choice("scenario", self.scenario, SCENARIOS)
        _validate.choice("algorithm", self.algorithm, ALGORITHMS)
        dimension("dim", self.dim)
        _validate.integer("horizon", self.horizon, minimum=4)
        _validate.integer("trials", self.trials)
        _validate.seed("seed", self.seed)
        norm = _validate.bounded("prior_mean_norm", self.prior_mean_norm)
        object.__setattr__(self, "prior_mean_norm", norm)  # an array has no hash
        if not isinstance(self.protocol, Protocol):
            _validate.choice("protocol", self.protocol, tuple(PROTOCOLS))

    @property
    def cell(self) -> Cell:
        """The setting and the player that the protocol makes of it."""
        rules = self.protocol
        rules = PROTOCOLS[rules] if isinstance(rules, str) else rules
        slow = self.scenario == "slow"
        setting = Setting(
            rules.slow_path if slow else "abrupt",
            self.dim,
            self.horizon,
            anchors=rules.anchors,
            arms=rules.arms,
            closed_tour=rules.closed_tour,
        )
        return Cell(setting, Player(**self._player(rules, slow)))

    def _player(self, rules, slow):
        """Only what the algorithm uses, so that equal players have equal settings."""
        row = TABLE[self.algorithm]
        words = {"algorithm": row.name}
        words["variation"] = rules.slow_variation if slow else None
        if row.estimator == "WSB":
            words["prior_mean_norm"] = float(self.prior_mean_norm)
            if self.prior_mean_norm:
                words["prior_direction"] = rules.prior_direction
        else:
            words["regularization"] = rules.regularization
        if row.explores == "randucb":
            words["perturbation"] = rules.perturbation
            words["scale_rule"] = rules.perturbation_scale
        elif row.explores == "ucb":
            words |= {"delta": rules.delta, "split": rules.split}
        if row.name == "WSB-LinUCB":
            words["penalty"] = rules.penalty
        return words


def table2(
    dims: Sequence[int] = DIMS, scenarios: Sequence[str] = SCENARIOS, **common: Any
) -> list[PaperCell]:
    """The cells of Table 2: seven algorithms, every dimension, both scenarios.

    Parameters
    ----------
    dims : sequence of int
    scenarios : sequence of {"abrupt", "slow"}
    **common
        Fields of :class:`PaperCell`: protocol, trials, seed, horizon.

    Returns
    -------
    list of PaperCell

    Examples
    --------
    >>> len(table2())
    70
    """
    dims, scenarios = _rows(dims, scenarios)
    return [
        PaperCell(scenario, algorithm, d, **common)
        for scenario in scenarios
        for algorithm in ALGORITHMS
        for d in dims
    ]


def table3(
    dims: Sequence[int] = DIMS,
    scenarios: Sequence[str] = SCENARIOS,
    norms: Sequence[float] = PRIOR_NORMS,
    **common: Any,
) -> list[PaperCell]:
    """The cells of the ablation: three WSB algorithms with prior means far off.

    Parameters
    ----------
    dims, scenarios, **common
        As in :func:`table2`.
    norms : sequence of float
        Norms of the prior mean.

    Returns
    -------
    list of PaperCell

    Examples
    --------
    >>> len(table3())
    90
    """
    dims, scenarios = _rows(dims, scenarios)
    norms = numbers("norms", norms, _validate.bounded)
    return [
        PaperCell(scenario, algorithm, d, norm, **common)
        for scenario in scenarios
        for algorithm in ALGORITHMS
        if TABLE[algorithm].estimator == "WSB"
        for norm in norms
        for d in dims
    ]


def _rows(dims, scenarios):
    """Dimensions and scenarios of a table, checked by their own names."""
    return dimensions(dims), words("scenarios", scenarios, SCENARIOS)


def printed_table(number: int) -> pd.DataFrame:
    """The values printed in the paper.

    Parameters
    ----------
    number : {2, 3}
        Table 2, or the ablation table of the appendix.

    Returns
    -------
    DataFrame
        Columns scenario, algorithm, (prior_mean_norm,) dimension, mean and std, each
        over 100 trials.

    Examples
    --------
    >>> printed_table(2)["mean"].head(2).tolist()
    [455.8, 713.0]
    """
    _validate.choice("number", number, (2, 3))
    file = resources.files("wsbnb.paper") / "data" / f"paper_table{number}.csv"
    with file.open(encoding="utf-8") as handle:
        return pd.read_csv(handle)
