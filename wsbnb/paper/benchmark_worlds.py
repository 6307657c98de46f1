"""The benchmark's worlds, as data: a name, one line of why, and the rules.

To add a world, append one `BenchmarkWorld` to `WORLDS`.
"""

from dataclasses import dataclass

import numpy as np

from wsbnb import _validate
from wsbnb import environments as we
from wsbnb._types import Any, Array

#: How a parameter can move; the decision guide has one row for each.
KINDS = ("jumps", "drift", "still")
_HORIZON, _VARIANCE = 4000, 0.15


@dataclass(frozen=True)
class Known:
    r"""What a policy is told about the world that it is going to meet.

    Attributes
    ----------
    dim, horizon, n_arms : int
    noise_std : float
        As believed, which is not always true.
    prior_mean : array
    prior_cov : float
    variation : float
        The exact :math:`B_T` of the trial; only the settings of theory look at it.
    """

    dim: int
    horizon: int
    n_arms: int
    noise_std: float
    prior_mean: Array
    prior_cov: float
    variation: float


@dataclass(frozen=True)
class BenchmarkWorld:
    """One row of the benchmark.

    Parameters
    ----------
    name : str
    why : str
        One line: what the world asks.
    kind : {"jumps", "drift", "still"}
        How its parameter moves.
    environment : Environment
    noise_factor : float, default 1
        Policies believe in this multiple of the true noise level.
    prior_norm : float, default 0
        Length of the prior mean, which points away from the first parameter.
    prior_std : float, default 1
        Standard deviation of the prior in every direction.

    Examples
    --------
    >>> from wsbnb.paper import WORLDS
    >>> WORLDS["still"].environment.variation
    0.0
    """

    name: str
    why: str
    kind: str
    environment: we.Environment
    noise_factor: float = 1.0
    prior_norm: float = 0.0
    prior_std: float = 1.0

    def __post_init__(self) -> None:
        _validate.text("name", self.name)
        _validate.text("why", self.why)
        _validate.choice("kind", self.kind, KINDS)
        _validate.instance("environment", self.environment, we.Environment)
        _validate.positive("noise_factor", self.noise_factor)
        _validate.nonnegative("prior_norm", self.prior_norm)
        _validate.positive("prior_std", self.prior_std)

    @property
    def noise_known(self) -> bool:
        """Whether the noise is Gaussian and of the size that policies are told."""
        gaussian = isinstance(self.environment.noise, we.GaussianNoise)
        return gaussian and self.noise_factor == 1.0

    def known(self, world: we.World) -> Known:
        """What policies are told before a trial.

        Parameters
        ----------
        world : World

        Returns
        -------
        Known
        """
        _validate.instance("world", world, we.World)
        first = world.parameters(0, 1)[0]
        away = np.zeros(world.dim)
        if self.prior_norm:
            away = -self.prior_norm * first / np.linalg.norm(first)
        return Known(
            dim=world.dim,
            horizon=world.horizon,
            n_arms=world.n_arms,
            noise_std=self.noise_factor * world.noise_std,
            prior_mean=away,
            prior_cov=self.prior_std**2,
            variation=world.variation,
        )


def _env(
    path: Any, dim: int = 6, arms: Any = None, noise: Any = None, **more: Any
) -> Any:
    arms = arms or we.FixedArms(48)
    noise = noise or we.GaussianNoise(_VARIANCE**0.5)
    return we.Environment(path, arms, noise, _HORIZON, dim, **more)


_JUMPS = we.AbruptPath(we.OrthogonalAnchors(4))
_TOUR = we.SlowPath(we.OrthogonalAnchors(4))
_WALK = we.RandomWalkPath(0.01)
_REVERTING = we.MeanRevertingPath(reach=0.5, relaxation=300.0)
_BUSY = we.AbruptPath(we.RandomAnchors(10))
_REST = we.StationaryPath()

_ROWS = (
    # How the parameter moves.
    ("rare jumps", "the paper's abrupt scenario: three jumps at right angles",
     "jumps", _env(_JUMPS)),
    ("frequent jumps", "a new place every 200 rounds: little time to profit",
     "jumps", _env(we.AbruptPath(we.RandomAnchors(20)))),
    ("recurring jumps", "back and forth between three places: old data were right",
     "jumps", _env(we.AbruptPath(we.RecurringAnchors(16, places=3)))),
    ("slow drift", "three quarter circles in 4000 rounds: the paper's slow text",
     "drift", _env(_TOUR)),
    ("fast drift", "four full circles: never in one place",
     "drift", _env(we.SlowPath(we.PlaneAnchors(17)))),
    ("random walk", "small steps everywhere: a long way that leads nowhere",
     "drift", _env(_WALK)),
    ("mean reversion", "strays from home and is pulled back: old data are half right",
     "drift", _env(_REVERTING)),
    ("one coordinate", "one feature swings, five stand still: forget only one",
     "drift", _env(we.OneCoordinatePath(cycles=4.0))),
    ("still", "nothing moves: what does the readiness to forget cost?",
     "still", _env(_REST)),
    ("still and loud", "nothing moves, noise as large as the largest reward",
     "still", _env(_REST, noise=we.GaussianNoise(1.0))),
    ("still, 16 features", "nothing moves, more to learn",
     "still", _env(_REST, dim=16)),
    ("jumping, then still", "ten jumps, rest, ten jumps, rest: the speed changes",
     "jumps", _env(we.ChainedPath((_BUSY, _REST, _BUSY, _REST)))),
    # Arms and dimension.
    ("fresh arms", "new arms in every round: arms explore by themselves",
     "drift", _env(_TOUR, arms=we.RedrawnArms(48))),
    ("few arms", "six arms: a change may go unseen by the arm that is played",
     "jumps", _env(_JUMPS, arms=we.FixedArms(6))),
    ("many arms", "256 arms: small gaps, more to confuse",
     "drift", _env(_WALK, arms=we.FixedArms(256))),
    ("correlated arms", "six groups of eight that look alike",
     "drift", _env(_REVERTING, arms=we.ClusteredArms(48, groups=6, spread=0.3))),
    ("two features", "the smallest problem, three jumps",
     "jumps", _env(_JUMPS, dim=2)),
    ("16 features", "drift in more dimensions",
     "drift", _env(_TOUR, dim=16)),
    ("32 features", "jumps in many dimensions: a restart is expensive",
     "jumps", _env(_JUMPS, dim=32)),
    # Noise.
    ("low noise", "a fifteenth of the variance: little need to average",
     "drift", _env(_WALK, noise=we.GaussianNoise(0.1))),
    ("high noise", "noise as large as the largest reward",
     "drift", _env(_TOUR, noise=we.GaussianNoise(1.0))),
    ("heavy noise", "clipped Student noise: outliers look like changes",
     "jumps", _env(_JUMPS, noise=we.BoundedHeavyNoise(_VARIANCE**0.5))),
    ("noise believed half", "σ given too small by a factor of 2",
     "drift", _env(_TOUR), {"noise_factor": 0.5}),
    ("noise believed double", "σ given too large by a factor of 2",
     "jumps", _env(_JUMPS), {"noise_factor": 2.0}),
    # What the model gets wrong.
    ("wrong prior", "a prior at ½ ± ½ on the wrong side",
     "drift", _env(_TOUR), {"prior_norm": 0.5, "prior_std": 0.5}),
    ("curved rewards", "the mean bends by up to 0.3: no linear model is right",
     "drift", _env(_WALK, rewards=we.CurvedRewards(0.3))),
    ("two outcomes", "rewards are yes or no: noise depends on the arm",
     "jumps", _env(_JUMPS, noise=we.Clicks("signed"))),
)  # fmt: skip

#: The benchmark's worlds by name.
WORLDS = {
    name: BenchmarkWorld(name, why, kind, environment, **(more[0] if more else {}))
    for name, why, kind, environment, *more in _ROWS
}
