"""The environments of the paper's experiments, with the choices it leaves open."""

from wsbnb import _validate as validate
from wsbnb._types import AnchorName, ArmName, Scenario
from wsbnb.environments.anchors import OrthogonalAnchors, PlaneAnchors, RandomAnchors
from wsbnb.environments.arms import FixedArms, RedrawnArms
from wsbnb.environments.noise import GaussianNoise
from wsbnb.environments.paths import AbruptPath, SlowPath, StationaryPath
from wsbnb.environments.world import Environment

_ANCHORS = {
    "orthogonal": OrthogonalAnchors,
    "independent": RandomAnchors,
    "plane": PlaneAnchors,
}
_ARMS = {"fixed": FixedArms, "redrawn": RedrawnArms}


def paper_environment(
    scenario: Scenario,
    dim: int,
    horizon: int = 4000,
    n_arms: int = 48,
    noise_variance: float = 0.15,
    anchors: AnchorName = "orthogonal",
    arms: ArmName = "fixed",
    closed_tour: bool = False,
) -> Environment:
    """The synthetic problem of the paper's experiments: four anchors, L = S = 1.

    The paper fixes T = 4000, K = 48, noise variance 0.15 and unit norms. It does not
    say how anchors and arms are drawn; the arguments cover the readings.

    Parameters
    ----------
    scenario : {"abrupt", "slow", "still"}
        Jump between the anchors, move along the arcs between them, or stay on the
        first one for all rounds.
    dim : int
        Dimension d.
    horizon, n_arms : int
        T and K.
    noise_variance : float
        Variance of the Gaussian noise.
    anchors : {"orthogonal", "independent", "plane"}
        How the four anchors are drawn.
    arms : {"fixed", "redrawn"}
        Whether the arms are drawn once per trial or in every round.
    closed_tour : bool
        Whether the slow path returns to the first anchor.

    Returns
    -------
    Environment

    Examples
    --------
    >>> from wsbnb.environments import paper_environment
    >>> paper_environment("abrupt", dim=2).path
    AbruptPath(anchors=OrthogonalAnchors(count=4))
    """
    validate.choice("scenario", scenario, ("abrupt", "slow", "still"))
    rule = _ANCHORS[validate.choice("anchors", anchors, tuple(_ANCHORS))](4)
    closed = validate.flag("closed_tour", closed_tour)
    if scenario == "abrupt":
        path = AbruptPath(rule)
    elif scenario == "slow":
        path = SlowPath(rule, closed=closed)
    else:
        path = StationaryPath()
    arm_rule = _ARMS[validate.choice("arms", arms, tuple(_ARMS))]
    variance = validate.nonnegative("noise_variance", noise_variance)
    return Environment(
        path=path,
        arms=arm_rule(validate.integer("n_arms", n_arms)),
        noise=GaussianNoise(variance**0.5),
        horizon=horizon,
        dim=dim,
    )
