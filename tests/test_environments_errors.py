"""Environments refuse bad input, in words that name it."""

import types

import numpy as np
import pytest

import wsbnb
import wsbnb.environments as we
from tests import zoo


def make(path, arms=None, noise=None, horizon=40, dim=3, **bounds):
    arms = arms or we.FixedArms(5)
    noise = noise or we.GaussianNoise(0.5)
    return we.Environment(path, arms, noise, horizon, dim, **bounds)


def outside_arms(rng, start, stop, dim):
    arms = np.zeros((stop - start, 2, dim))
    arms[np.arange(start, stop) == 70, 1, 0] = 1.5
    return arms


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (lambda: we.RandomAnchors(0), ValueError, "count.*at least 1.*0"),
        (lambda: we.FixedArms(2.5), TypeError, "count.*2.5"),
        (lambda: we.GaussianNoise(-1.0), ValueError, "std.*-1.0"),
        (lambda: we.BoundedHeavyNoise(1.0, cutoff=0.0), ValueError, "cutoff"),
        (lambda: we.RandomWalkPath(np.inf), ValueError, "step.*inf"),
        (lambda: we.GivenPath([[np.nan]]), ValueError, "array.*nan"),
        (lambda: we.GivenArms([1.0, 2.0]), ValueError, r"\(K, d\).*\(2,\)"),
        (lambda: we.GivenArms([[np.inf]]), ValueError, "array.*inf"),
        (lambda: we.GivenArms("abc"), TypeError, "array.*str"),
        (lambda: we.AbruptPath(4), TypeError, "anchors.*AnchorRule.*4"),
        (lambda: we.SlowPath(we.RandomAnchors(2), closed=1), TypeError, "closed.*1"),
        (lambda: we.CallablePath(3), TypeError, "function.*3"),
        (lambda: we.CallablePath(lambda a, b: 0), TypeError, r"\(a, b\)"),
        (lambda: we.CallableArms(None), TypeError, "function.*None"),
        (lambda: make("abrupt"), TypeError, "path.*PathRule.*'abrupt'"),
        (lambda: make(we.StationaryPath(), we.GaussianNoise(1)), TypeError, "arms"),
        (lambda: make(we.StationaryPath(), horizon=0), ValueError, "horizon"),
        (lambda: make(we.StationaryPath(), arm_bound=0.0), ValueError, "arm_bound"),
        (
            lambda: make(we.AbruptPath(we.OrthogonalAnchors(2)), dim=1),
            ValueError,
            "dim of at least 2, got dim = 1",
        ),
        (
            lambda: make(we.SlowPath(we.RandomAnchors(2)), dim=1),
            ValueError,
            "SlowPath.*dim = 1",
        ),
        (lambda: make(we.RandomWalkPath(0.1), dim=1), ValueError, "dim = 1"),
        (lambda: make(we.RandomWalkPath(2.1)), ValueError, "step.*2.0.*2.1"),
        (
            lambda: make(we.AbruptPath(we.RandomAnchors(9)), horizon=8),
            ValueError,
            "horizon.*9.*8",
        ),
        (
            lambda: make(we.SlowPath(we.RandomAnchors(8), closed=True), horizon=8),
            ValueError,
            "horizon.*9.*8 legs.*8",
        ),
        (
            lambda: make(we.AbruptPath(we.GivenAnchors([[0, 0, 1], [0, 0, 1.25]]))),
            ValueError,
            "anchors: row 1 has norm 1.25, above param_bound = 1",
        ),
        (
            lambda: make(we.SlowPath(we.GivenAnchors([[1, 0, 0], [0, 0.5, 0]]))),
            ValueError,
            "common norm.*0.5 in row 1",
        ),
        (
            lambda: make(we.SlowPath(we.GivenAnchors([[0.5, 0, 0], [0, 1, 0]]))),
            ValueError,
            "common norm.*norm 1 in row 1 and 0.5 in row 0",
        ),
        (
            lambda: make(we.SlowPath(we.GivenAnchors(np.zeros((2, 3))))),
            ValueError,
            "above zero",
        ),
        (lambda: make(we.StationaryPath([1.0, 1.0, 0.0])), ValueError, "1.414"),
        (lambda: make(we.StationaryPath([1.0])), ValueError, "parameter.*length 3"),
        (
            lambda: make(we.GivenPath([[0, 0], [1.5, 0]]), horizon=2, dim=2),
            ValueError,
            "path: row 1 has norm 1.5",
        ),
        (lambda: make(we.GivenPath(np.zeros((5, 3)))), ValueError, "40 rows"),
        (
            lambda: make(we.StationaryPath(), we.GivenArms([[0, 0, 0], [0, 3, 4]])),
            ValueError,
            "arms: row 1 has norm 5, above arm_bound = 1",
        ),
        (
            lambda: make(we.StationaryPath(), we.GivenArms(np.eye(2))),
            ValueError,
            "3 columns",
        ),
        (
            lambda: make(we.StationaryPath(), we.GivenArms(np.zeros((9, 2, 3)))),
            ValueError,
            "40 rounds.*9 sets",
        ),
        (
            lambda: make(we.StationaryPath(), we.GivenArms(np.full((40, 2, 3), 2.0))),
            ValueError,
            "arms: round 0, row 0",
        ),
        (
            lambda: (
                make(we.CallablePath(lambda t: [t / 10, 0, 0]))
                .world(0)
                .parameters(5, 20)
            ),
            ValueError,
            "path: round 11 has norm 1.1",
        ),
        (
            lambda: make(we.CallablePath(lambda t: [0.0])).world(0).variation,
            ValueError,
            "round 0.*length 3",
        ),
        (
            lambda: make(we.CallablePath(lambda r, T, d: np.ones((T, d)))).world(0),
            ValueError,
            "path: row 0",
        ),
        (
            lambda: list(
                make(we.StationaryPath(), we.CallableArms(outside_arms), horizon=99)
                .world(0)
                .blocks(99)
            ),
            ValueError,
            "arms: round 70, row 1 has norm 1.5",
        ),
        (
            lambda: (
                make(we.StationaryPath(), we.CallableArms(lambda r, a, b, d: np.eye(3)))
                .world(0)
                .n_arms
            ),
            ValueError,
            r"rounds 0 to 39 must have shape \(rounds, K, d\)",
        ),
        (lambda: make(we.StationaryPath()).world(None), TypeError, "seed.*None"),
        (lambda: make(we.StationaryPath()).world(-1), ValueError, "seed.*-1"),
        (
            lambda: make(we.StationaryPath()).world(0).parameters(0, 41),
            ValueError,
            "stop.*40.*41",
        ),
        (
            lambda: make(we.StationaryPath()).world(0).parameters(5, 4),
            ValueError,
            "stop.*5.*4",
        ),
        (lambda: make(we.StationaryPath()).world(0).blocks(0), ValueError, "size"),
        (lambda: we.paper_environment("fast", 2), ValueError, "scenario.*'fast'"),
        (lambda: we.paper_environment("slow", 2, anchors="x"), ValueError, "anchors"),
        (lambda: we.paper_environment("slow", 2, arms="x"), ValueError, "arms"),
        (
            lambda: we.paper_environment("slow", 2, noise_variance=-1),
            ValueError,
            "noise_variance",
        ),
    ],
)
def test_bad_input_is_refused_with_words(build, error, words):
    with pytest.raises(error, match=words):
        build()


def test_changing_number_of_arms_is_refused():
    def arms(rng, start, stop, dim):
        return np.zeros((stop - start, 2 + (start > 0), dim))

    world = make(we.StationaryPath(), we.CallableArms(arms), horizon=99).world(0)
    with pytest.raises(ValueError, match=r"rounds 64 to 98.*\(35, 2, 3\)"):
        list(world.blocks())


def test_norms_at_the_bound_are_accepted():
    rows = np.random.default_rng(0).standard_normal((40, 3))
    rows *= 0.37 / np.linalg.norm(rows, axis=1, keepdims=True)
    env = make(we.GivenPath(rows), we.GivenArms(rows), param_bound=0.37, arm_bound=0.37)
    assert env.world(0).n_arms == env.n_arms == 40
    for unit in (1.0, 1e-200, 1e200):
        make(we.GivenPath(rows * unit), param_bound=0.37 * unit)
        with pytest.raises(ValueError, match="path: row"):
            make(we.GivenPath(rows * unit * (1 + 1e-8)), param_bound=0.37 * unit)


def played(**own):
    """The final regret in a world some of whose rules are not ours."""
    rules = {"noise": we.GaussianNoise(0.5), "arms": we.FixedArms(5)}
    rules |= {"path": we.StationaryPath()} | own
    env = we.Environment(horizon=40, dim=3, **rules)
    policy = zoo.make("LinTS")
    return wsbnb.simulate([policy], env, trials=1, progress=False).regret[0, 0, -1]


class Own(we.NoiseRule):
    """Noise by a function of a vector of normals."""

    std = 0.5

    def __init__(self, change):
        self.change = change

    def sample(self, rng, n):
        return self.change(self.std * rng.standard_normal(n))


class Narrow(we.RewardRule):
    """Means of the first arm alone: the compiled rounds would read beyond them."""

    def means(self, products):
        return products[:, :1]


def test_what_your_own_rules_return_is_checked():
    """Compiled rounds would read beyond arrays that are too short."""
    assert played(noise=Own(lambda x: x.tolist())) == played()
    for change, words in (
        (lambda x: x[:-1], "must have length 40, got 39"),
        (lambda x: np.append(x, 0.0), "must have length 40, got 41"),
        (lambda x: x * np.nan, "must be finite"),
    ):
        with pytest.raises(ValueError, match=rf"noise.sample\(rng, n\) {words}"):
            played(noise=Own(change))
    with pytest.raises(ValueError, match=r"rewards.means\(products\) must have 5 col"):
        played(rewards=Narrow())


class OwnArms(we.ArmRule):
    """Fixed arms, or those of each round, by a function of an array of normals."""

    def __init__(self, change, rounds=(), fixed=False):
        self.change, self.rounds, self._fixed = change, rounds, fixed

    @property
    def fixed(self):
        return self._fixed

    def blocks(self, rng, horizon, dim, bound, size):
        return [self.change(rng.standard_normal((*self.rounds, dim, 5)))]


def same(array):
    return array


def test_what_your_own_arms_are_is_checked():
    seed = we.StationaryPath(), OwnArms(same), we.GaussianNoise(0.5)
    drawn = next(we.Environment(*seed, 40, 3).world(0).blocks(40)).arms
    plain = played(arms=OwnArms(same))
    assert played(arms=OwnArms(lambda x: x.tolist())) == plain
    assert played(arms=OwnArms(np.asfortranarray)) == plain
    assert played(arms=OwnArms(same, fixed=True)) == plain
    assert played(arms=OwnArms(same, (40,))) != plain and drawn.shape == (3, 5)
    flat, cube = r"must have shape \(3, K\) or \(40, 3, K\), got ", (40,)
    for rule, words in (
        (OwnArms(lambda x: x[:2]), flat + r"\(2, 5\)"),
        (OwnArms(lambda x: x[0]), flat + r"\(5,\)"),
        (OwnArms(lambda x: x[:, :0]), flat + r"\(3, 0\)"),
        (OwnArms(lambda x: x[:-1], cube), flat + r"\(39, 3, 5\)"),
        (OwnArms(lambda x: x[:, :2], cube), flat + r"\(40, 2, 5\)"),
        (OwnArms(same, cube, fixed=True), r"must have shape \(3, K\), got \(40"),
        (OwnArms(lambda x: x * np.inf), "must be finite"),
    ):
        with pytest.raises(ValueError, match="arms.blocks for rounds 0 to 39 " + words):
            played(arms=rule)


def test_your_own_arms_reach_to_the_end_and_stay_as_many():
    parts = we.StationaryPath(), we.GaussianNoise(0.5)
    for blocks, words in (
        ([np.ones((3, 5))], "arms.blocks for rounds 20 to 39 must yield an array"),
        ([np.ones((3, 5)), np.ones((3, 4))], r"20 to 39 must have shape \(3, 5\)"),
        ([np.ones((3, 5)), np.ones((20, 3, 4))], r"or \(20, 3, 5\), got \(20, 3, 4"),
    ):
        rule = OwnArms(same)
        rule.blocks = lambda *_, blocks=blocks: iter(blocks)
        env = we.Environment(parts[0], rule, parts[1], horizon=40, dim=3)
        with pytest.raises(ValueError, match=words):
            list(env.world(0).blocks(20))


class OwnPath(we.PathRule):
    """A constant parameter, by a function of what it should be."""

    def __init__(self, change):
        self.change = change

    def realise(self, seed, horizon, dim, bound):
        path = we.StationaryPath().realise(seed, horizon, dim, bound)
        right, change = path.parameters, self.change
        return types.SimpleNamespace(
            parameters=lambda *rounds: change(right(*rounds)),
            variation=0.0,
            change_points=[],
        )

    def variation(self, horizon, dim, bound):
        return 0.0


def test_what_your_own_path_gives_is_checked():
    assert played(path=OwnPath(lambda x: x.tolist())) == played()
    for change, words in (
        (lambda x: x[:-1], "must have 40 rows"),
        (lambda x: x[:, :2], "must have 3 columns"),
        (lambda x: x[0], "must be a non-empty matrix"),
        (lambda x: x * np.nan, "must be finite"),
    ):
        with pytest.raises(
            ValueError, match=rf"parameters\(0, 40\) of the path {words}"
        ):
            played(path=OwnPath(change))
    env = we.Environment(
        OwnPath(same), we.FixedArms(5), we.GaussianNoise(0.5), horizon=40, dim=3
    )
    assert env.world(0).parameters(7, 7).shape == (0, 3)
    assert env.world(0).parameters(7, 9).shape == (2, 3)
