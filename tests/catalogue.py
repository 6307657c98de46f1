"""What the careless calls start from: arguments that work, objects, and exceptions."""

import functools

import numpy as np

import wsbnb
import wsbnb.paper
from tests import catalogue_lab as lab
from tests import zoo
from wsbnb.adapters.features import WithFeatures

D, T, K = 3, 6, 4
RNG = np.random.default_rng(5)
ARMS = RNG.standard_normal((K, D)) / 4.0
PATH = RNG.standard_normal((T, D)) / 4.0
REWARDS = RNG.standard_normal(T)
ROW = 0.9 ** np.arange(T - 1, -1, -1.0)
TABLE = wsbnb.weights.Exponential(0.9).matrix(T)


def base():
    return zoo.make("WSBLinTS", D)


def environment():
    return wsbnb.paper_environment("abrupt", dim=D, horizon=8, n_arms=K)


def results():
    rng = np.random.default_rng(0)  # the same trials each time, as merging wants
    regret = np.cumsum(rng.random((4, 2, T)), axis=2)
    return wsbnb.Results(regret, ["A", "B"], np.arange(4), np.arange(1, T + 1))


def settings(thing):
    """The settings of any policy or posterior of the zoo, by class name."""
    return lambda: zoo.settings(thing, D)


class Doubling:
    """A transformer in the manner of scikit-learn."""

    def transform(self, X):
        return 2.0 * np.asarray(X)


DATA = {
    "name": "made up",
    "arms": lambda: np.broadcast_to(ARMS, (T, K, D)).copy(),
    "rewards": lambda: np.ones((T, K)),
    "times": lambda: np.arange(T),
    "arm_names": tuple("abcd"),
    "feature_names": tuple("xyz"),
    "source": "nowhere",
}


def fleet():
    """Four users, two of whom have taught something."""
    made = wsbnb.Fleet(base(), users=4, rng=1)
    made.update([0, 2, 2], ARMS[:3], [0.3, -0.2, 0.5])
    return made


def dataset():
    made = {key: value() if callable(value) else value for key, value in DATA.items()}
    return wsbnb.datasets.Dataset(**made)


#: Arguments that work, by name; functions are called for a new value each time.
SETTINGS = {
    "X": lambda: PATH.copy(),
    "algorithm": "ucb",
    "anchors": lambda: wsbnb.environments.OrthogonalAnchors(2),
    "arm_bound": 1.0,
    "arms": lambda: wsbnb.environments.FixedArms(K),
    "array": lambda: PATH.copy(),
    "base": base,
    "bend": 0.2,
    "baseline": lambda: REWARDS + 1.0,
    "block_length": 2,
    "change_points": (),
    "cls": lambda: wsbnb.WSBLinTS,
    "count": 2,
    "cycles": 2,
    "cov": lambda: 0.5 * np.eye(D),
    "data": lambda: (np.broadcast_to(ARMS, (T, K, D)), np.ones((T, K))),
    "delta": 0.05,
    "dim": D,
    "discount": 0.9,
    "discounts": (0.9, 0.99),
    "environment": environment,
    "exploration": lambda: wsbnb.exploration.Thompson(),
    "function": lambda: lambda s, t: np.ones(np.shape(s)),
    "groups": 2,
    "horizon": T,
    "length": 4,
    "level": 0.9,
    "matrix": lambda: TABLE.copy(),
    "n_jobs": 1,
    "noise": lambda: wsbnb.environments.GaussianNoise(0.3),
    "noise_std": 0.4,
    "param_bound": 1.7,
    "parameter": lambda: PATH[0].copy(),
    "parameter_now": lambda: PATH[0].copy(),
    "parameters": lambda: PATH.copy(),
    "parameters_past": lambda: PATH.copy(),
    "parts": lambda: (wsbnb.environments.StationaryPath(),),
    "path": lambda: wsbnb.environments.StationaryPath(),
    "period": 4,
    "points": 3,
    "policies": base,
    "policy": base,
    "posterior": lambda: wsbnb.WRLS(dim=D, regularization=0.7, discount=0.9),
    "power": 1,
    "prior_cov": lambda: zoo.prior(D)[1],
    "prior_mean": lambda: zoo.prior(D)[0],
    "progress": False,
    "reach": 0.4,
    "regularization": 0.7,
    "relaxation": 20.0,
    "repeats": 1,
    "rewards": lambda: REWARDS.copy(),
    "rounds": 5,
    "scenario": "abrupt",
    "seed": 0,
    "series": lambda: REWARDS.copy(),
    "spread": 0.1,
    "squared_weight_sum": 4.0,
    "std": 0.4,
    "step": 0.01,
    "trial": 2,
    "trials": 1,
    "values": lambda: REWARDS.copy(),
    "variation": 1.0,
    "weight_sum": 4.0,
    "weights": lambda: ROW.copy(),
}
#: What differs for one name. None as a value leaves the argument to its default.
SPECIAL = {
    "Environment": {"anchors": None, "rewards": None},
    "RandomWalkLinTS": {**zoo.settings("RandomWalkLinTS", D)},
    "fit_log": {
        "X": lambda: np.tile(PATH, (4, 1)),
        "rewards": lambda: np.tile(REWARDS, 4),
        "prior_scales": (0.1, 1.0),
    },
    "paper_environment": {
        "anchors": "orthogonal",
        "arms": "fixed",
        "noise_variance": 0.1,
        "n_arms": 2,
    },
    "tuned_discount": {"rule": "ucb"},
    "bounds.regret_order": {"algorithm": "WSBLinUCB"},
    "drift_bound": {"weights": lambda: ROW[1:]},
    "bounds.drift_bound_path": {"weights": None},
    "bounds.forgetting_sum": {"weights": None},
    "bounds.log_det_term": {"weights": None},
    "bounds.potential_bound": {"weights": None},
    "bounds.potential_sum": {"weights": None},
    "bounds.drift_sum_bound": {"weights": None},
    "bounds.randomised_constants": {"weights": None},
    "bounds.regret_bound_randomised": {"weights": None, "parameters": None},
    "bounds.regret_bound_ucb": {"weights": None, "parameters": None},
    "environments.GivenAnchors": {
        "array": lambda: PATH / np.linalg.norm(PATH, axis=1)[:, None]
    },
    "environments.GivenArms": {"array": lambda: ARMS.copy()},
    "environments.CallablePath": {"function": lambda: lambda t: PATH[t % T]},
    "environments.CallableArms": {"function": lambda: lambda t, rng: ARMS},
    "Oracle": {"parameters": lambda: PATH.copy()},
    "Fleet": {"template": base, "users": 4, "rng": 1},
    "off_policy": {
        "target": lambda: np.full((T, K), 1.0 / K),
        "arms": lambda: ARMS.copy(),
        "chosen": lambda: np.arange(T) % K,
        "propensities": lambda: np.full(T, 1.0 / K),
        "draws": 20,
        "least": 2,
    },
    "adapters.features.WithFeatures": {"transformer": Doubling},
    "adapters.river.RiverPolicy": {"features": lambda: dict(enumerate(ARMS))},
    "datasets.Dataset": DATA,
    "datasets.ChoiceLog": {
        "name": "made up",
        "arms": lambda: ARMS.copy(),
        "chosen": lambda: np.arange(T) % K,
        "propensities": lambda: np.full(T, 1.0 / K),
        "source": "nowhere",
    },
    "paper.Setting": {"noise": None, "anchors": None, "arms": None},
    "paper.Player": {"algorithm": "WSB-LinUCB", "variation": None},
    "paper.Cell": {
        "setting": lambda: wsbnb.paper.Setting("abrupt", 2),
        "player": lambda: wsbnb.paper.Player("WSB-LinUCB"),
    },
    "paper.PaperCell": {"algorithm": "WSB-LinUCB"},
    "paper.Protocol": {"name": "own", "anchors": None, "arms": None},
    "paper.printed_table": {"number": 2},
    "WSBPosterior": {"forgetting": None},
    "WRLS": {"forgetting": None},
}
SPECIAL |= {name: {**zoo.settings(name, D)} for name in zoo.ALL}

SPECIAL |= lab.SPECIAL

#: Not called, and why.
LEFT_OUT = {
    "wsbnb.TheoryWarning": "a warning, which takes any words",
    "wsbnb.paper.record": "an hour, for the package's own record",
    "wsbnb.paper.write_guide": "replaces a module of the package if no path is given",
}
#: Called, too: public, but not at the door or in a room.
ELSEWHERE = [
    "wsbnb.adapters.features.WithFeatures",
    "wsbnb.adapters.river.RiverPolicy",
]
#: Bases that others fill, and a rule without weights: made, but not used.
WITHOUT_BEHAVIOUR = {
    wsbnb.Policy,
    wsbnb.exploration.Exploration,
    wsbnb.weights.WeightRule,
    wsbnb.weights.RandomWalk,
}
#: What may be raised beside ValueError and TypeError.
DOCUMENTED = {
    "check_policy": AssertionError,
    "load": OSError,
    "paper.read_benchmark": OSError,
    "paper.run_benchmark": OSError,
    "cache.store": OSError,
    "benchmark.write": OSError,
}
#: What stores results where `cache` says; a name may be no folder.
DOCUMENTED |= {name: OSError for name, words in lab.SPECIAL.items() if "cache" in words}
#: In place of what takes any number of arguments.
WRAPPED = {"wsbnb.compile": lambda policies: wsbnb.compile(policies)}
#: Infinite by definition where nothing of the past is kept; see their docstrings. And
#: a ratio to nothing, and records, which hold what they are given.
MAY_BE_INFINITE = {
    "paired_interval",
    "bounds.ErrorParts",
    "bounds.ExplorationConstants",
    "bounds.RegretBound",
    "bounds.drift_sum_bound",
    "bounds.forgetting_sum",
    "bounds.log_det_term",
    "bounds.potential_bound",
    "bounds.regret_bound_ucb",
    "bounds.regret_bound_randomised",
    "bounds.randomised_constants",
}


# --- objects whose methods are called -------------------------------------------------


@functools.cache
def objects():
    """Things with methods, each with the arguments that work for them."""
    found = {name: zoo.make(name, D) for name in zoo.ALL}
    found["DiscountMixture"] = wsbnb.DiscountMixture(
        base(), discounts=(0.9, 1.0), rng=0
    )
    found["BanditOverDiscounts"] = wsbnb.BanditOverDiscounts(
        zoo.make("WSBLinUCB", D), discounts=(0.9, 1.0), horizon=20, rng=0
    )
    found["SurpriseRestart"] = wsbnb.SurpriseRestart(base(), rng=0)
    found["ChangePoints"] = wsbnb.ChangePoints(base(), rng=0)
    found["Master"] = wsbnb.adaptive.Master(zoo.make("WSBLinUCB", D), horizon=64, rng=0)
    found |= {name: zoo.make(name, D) for name in (*zoo.LOGISTIC, "RandomWalkLinTS")}
    mean, cov = zoo.prior(D)
    prior = dict(prior_mean=mean, prior_cov=cov, noise_std=zoo.SIGMA)
    for word, rule in RULES.items():
        found[f"posterior {word}"] = wsbnb.WSBPosterior(**prior, forgetting=rule)
    found["composed age"] = wsbnb.LinearPolicy(
        wsbnb.WSBPosterior(**prior, forgetting=RULES["age"]),
        wsbnb.exploration.Optimism(penalty="exact", param_bound=zoo.S),
    )
    found["WRLS"] = wsbnb.WRLS(dim=D, regularization=0.7, discount=0.9)
    found["results"] = results()
    found["fleet"] = fleet()
    found["features"] = WithFeatures(base(), Doubling())
    found["dataset"] = dataset()
    found["environment"] = environment()
    found["world"] = environment().world(0)
    found |= {f"weights {word}": rule for word, rule in RULES.items()}
    found["weights custom"] = wsbnb.weights.CustomWeights(lambda s, t: s / t)
    return found | lab.objects()


RULES = {
    "exponential": wsbnb.weights.Exponential(0.9),
    "window": wsbnb.weights.SlidingWindow(4),
    "restart": wsbnb.weights.Restart(4),
    "round": wsbnb.weights.Polynomial(1.5, of="round"),
    "age": wsbnb.weights.Polynomial(1.5, of="age"),
}
#: What methods take, where it differs from `SETTINGS`.
METHODS = {
    "X": lambda: ARMS.copy(),
    "x": lambda: ARMS[1].copy(),
    "reward": 0.3,
    "decay": True,
    "draws": 50,
    "age": 0,
    "steps": 1,
    "rng": None,
    "theta": lambda: PATH[0].copy(),
    "size": 2,
    "policy": "A",
    "policies": lambda: ["A"],
    "baseline": "A",
    "trials": lambda: [0, 2],
    "other": results,
    "start": 1,
    "stop": 4,
    "over": "trials",
    "t": 3,
    "T": 3,
    "s": 2,
    "rewards": lambda: REWARDS[:K].copy(),
    "seed": 0,
    "name": "path",
    "noise": True,
    "users": 2,
    "user": 2,
    "count": 1,
    "iterations": 3,
    "prior_mean": lambda: zoo.prior(D)[0],
    "prior_cov": lambda: zoo.prior(D)[1],
    "index": lambda: [0, 2],
    "at": 2,
    "rounds": 5,
}
#: `copy` is tested with the files; `compiled` is for the kernels; names are free text.
#: The rules of an environment are not among the objects: their methods are called by
#: the environment, which has checked what it hands on.
NOT_METHODS = {
    "save",
    "compiled",
    "compiled_radius",
    "generator",
    "normals",
    "replace",
    "restore",
    "outcomes",
    "template",
    "with_changes",
}
