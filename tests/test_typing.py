"""Public signatures have types that resolve, and a type checker makes use of them."""

import functools
import importlib
import inspect
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import typing
import venv

import pandas as pd
import pytest

import wsbnb

ROOT = pathlib.Path(__file__).resolve().parents[1]
# What can be had from outside, besides the names at the front door.
BY_NAME = [
    "adaptive",
    "bounds",
    "datasets",
    "dependence",
    "environments",
    "exploration",
    "fitting",
    "interactive",
    "paper",
    "paper.bench",
    "paper.cli",
    "paper.figures",
    "paper.reference",
    "paper.running",
    "plotting",
    "posterior",
    "replaying",
    "results",
    "simulation",
    "warmup",
    "weights",
]


# Imported where it is needed, so that `import wsbnb` is quick: quoted in signatures.
LATE = {"pd": pd}


def public_things():
    """Public functions and classes with a name to show, each once."""
    found = {getattr(wsbnb, name): f"wsbnb.{name}" for name in wsbnb.__all__}
    for module in [importlib.import_module(f"wsbnb.{name}") for name in BY_NAME]:
        names = getattr(module, "__all__", None) or [
            name
            for name, thing in vars(module).items()
            if getattr(thing, "__module__", None) == module.__name__
            and not name.startswith("_")
        ]
        for name in names:
            thing = getattr(module, name)
            if inspect.isclass(thing) or callable(thing):
                found.setdefault(thing, f"{module.__name__}.{name}")
    return {name: thing for thing, name in found.items() if callable(thing)}


def functions_of(cls):
    """The functions behind a class: constructor, methods and properties."""
    for base in cls.__mro__:
        if not base.__module__.startswith("wsbnb"):
            continue
        for name, thing in vars(base).items():
            if name.startswith("_") and name not in ("__init__", "__call__"):
                continue
            for function in unwrapped(thing):
                yield f"{base.__name__}.{name}", function


def unwrapped(thing):
    if isinstance(thing, property):
        return [thing.fget]
    if isinstance(thing, functools.cached_property):
        return [thing.func]
    if isinstance(thing, staticmethod | classmethod):
        return [thing.__func__]
    return [thing] if inspect.isfunction(thing) else []


def missing_types(function):
    """Names of the parameters without a type, and "return"."""
    hints = typing.get_type_hints(function, localns=LATE)
    names = [
        name
        for i, name in enumerate(inspect.signature(function).parameters)
        if not (i == 0 and name in ("self", "cls", "_cls"))
    ]
    return [name for name in [*names, "return"] if name not in hints]


PUBLIC = public_things()


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_public_name_has_all_its_types(name):
    thing = PUBLIC[name]
    if not inspect.isclass(thing):
        assert missing_types(thing) == []
        return
    typing.get_type_hints(thing, localns=LATE)
    found = {where: missing_types(f) for where, f in functions_of(thing)}
    assert {where: names for where, names in found.items() if names} == {}


def test_a_missing_type_is_seen():
    def half(a: int, b, *c: int, **d) -> None: ...

    def without_return(a: int): ...

    class Unknown:
        def method(self, a: "Nowhere"): ...  # noqa: F821

    assert missing_types(half) == ["b", "d"]
    assert missing_types(without_return) == ["return"]
    with pytest.raises(NameError):
        missing_types(Unknown.method)


# Most of --strict, but for the user's file alone: what mypy has stored about NumPy when
# it checked the package then holds for both runs, which halves the time.
STRICT = """\
# mypy: disallow-any-generics, disallow-subclassing-any, disallow-untyped-calls
# mypy: disallow-untyped-decorators, disallow-untyped-defs, strict-equality
# mypy: warn-return-any, warn-unused-ignores
"""
# What a user writes, with every kind of call and with a policy of their own.
GOOD = """
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import wsbnb
from wsbnb import exploration, plotting, weights
from wsbnb.paper import run_cells, table2


class Mine(wsbnb.Policy):
    name = "Mine"

    def _choose(self, X: NDArray[np.float64]) -> int:
        return int(self._rng.integers(len(X)))

    def _learn(self, x: NDArray[np.float64], reward: float, decay: bool) -> None:
        pass

    def _restart(self) -> None:
        pass


class Plain:
    def pull(self, X: NDArray[np.float64]) -> np.intp:
        return np.argmax(X[:, 0])

    def update(self, x: NDArray[np.float64], reward: float) -> None:
        pass


environment = wsbnb.paper_environment("abrupt", dim=3, horizon=400)
discount = wsbnb.tuned_discount(3, 400, environment.variation or 1.0, rule="sharp")
sampler = wsbnb.WSBLinTS(
    prior_mean=[0.0, 0, 0], prior_cov=1, noise_std=0.4, discount=discount, rng=1
)
optimist = wsbnb.WSBLinUCB(
    prior_mean=np.zeros(3),
    prior_cov=np.eye(3),
    noise_std=0.4,
    discount=0.99,
    delta=0.1,
    split="anytime",
    penalty="exact",
    radius_scale=0.3,
)
mixed = wsbnb.DiscountMixture(sampler, rng=np.random.default_rng(0))
arm: int = sampler.pull(np.eye(3))
sampler.update(np.eye(3)[arm], 0.5)
sampler.update(np.eye(3), [0.5, 0.1, 0.2], decay=False)
sampler.update(np.eye(3)[arm], 0.5, age=3)
twin: wsbnb.WSBLinTS = sampler.clone()
width: float = math.sqrt(twin.posterior.cov[0, 0])
twin.set_params(discount=0.9).save(Path("twin.json"))
seconds: float = wsbnb.compile(sampler, mixed)

results = wsbnb.simulate(
    {
        "a": sampler,
        "b": lambda w: wsbnb.Uniform(dim=w.dim),
        "c": Mine(),
        "d": Plain(),
    },
    environment,
    trials=range(3),
    seed=np.random.SeedSequence(1),
)
wsbnb.simulate([sampler, optimist, mixed], environment, trials=4)
plotting.regret_curves(results.curves, band=None).set_title("regret")
table = results.paired("a")
last: NDArray[np.float64] = results.select(["a"]).final("a")
log = np.eye(3), np.ones((5, 3))
differences = wsbnb.replay([sampler], log).paired("WSB-LinTS", over="rounds", seed=1)

stream = wsbnb.WSBPosterior(
    prior_mean=np.zeros(2),
    prior_cov=[1.0, 2.0],
    noise_std=1,
    forgetting=weights.SlidingWindow(5),
)
stream.update([1.0, 0.0], 0.3)
mean, std = stream.predict([1.0, 0.0])
own = wsbnb.LinearPolicy(stream, exploration.Thompson(scale=0.5), rng=0)
fit = wsbnb.fit_log(np.ones((20, 2)), range(20))
tuned = wsbnb.WSBLinTS(**fit.prior, discount=fit.discount)
bound: float = wsbnb.bounds.regret_bound_ucb(
    prior_mean=np.zeros(3),
    prior_cov=np.eye(3),
    noise_std=0.4,
    arm_bound=1,
    param_bound=1,
    horizon=400,
    delta=0.01,
    discount=discount,
    variation=3.0,
    form="sharp",
).total
total: float = wsbnb.bounds.weight_sum(0.9, 5)
totals = wsbnb.bounds.weight_sum(0.9, np.arange(5)).cumsum()
cells = run_cells([cell.cell for cell in table2(dims=[2])], trials=2, cache=False)
finals: list[float] = [result.regret.mean() for result in cells.values()]
wsbnb.check_policy(Plain(), dim=2)
"""

# One line each; every one must be refused, with the word that says why.
WRONG = {
    'wsbnb.WSBLinTS(**prior, discount="0.9")': "arg-type",
    "wsbnb.WSBLinTS(prior_mean=mean, prior_cov=1.0, noise_std=0.4)": "call-arg",
    "wsbnb.WSBLinTS(mean, 1.0, 0.4, 0.9)": "call-arg",
    'wsbnb.WSBLinUCB(**prior, discount=0.9, penalty="none")': "arg-type",
    'wsbnb.drift_bound([mean], [1.0], 1.0, 1.0, form="sharper")': "arg-type",
    'wsbnb.paper_environment("abrupt", dim=2.5)': "arg-type",
    'wsbnb.simulate([1], wsbnb.paper_environment("still", 2))': "list-item",
    "wsbnb.WRLS(dim=2, regularization=1.0, discount=0.9).mean()": "operator",
    "wsbnb.LinearPolicy(wsbnb.WRLS(dim=2, regularization=1.0), 3)": "arg-type",
    "wsbnb.weights.Exponential(0.9).rows(3)": "attr-defined",
}
FIRST_LINES = """\
from typing import Any
import numpy as np
import wsbnb
mean = np.zeros(2)
prior: dict[str, Any] = {"prior_mean": mean, "prior_cov": 1.0, "noise_std": 0.4}
"""


@pytest.fixture(scope="module")
def checker(tmp_path_factory):
    """Run mypy with the project's settings; what it stores is kept for one session."""
    pytest.importorskip("mypy")
    stored = tmp_path_factory.mktemp("mypy")

    def run(*arguments, cwd):
        command = [sys.executable, "-m", "mypy", "--config-file"]
        command += [str(ROOT / "pyproject.toml"), "--cache-dir", str(stored)]
        command += ["--no-error-summary", *arguments]
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        return done.stdout.splitlines()

    return run


@pytest.fixture(scope="module")
def user(tmp_path_factory):
    """An environment into which the package is installed, and its Python."""
    folder = tmp_path_factory.mktemp("user")
    venv.create(folder, with_pip=False)
    (site,) = folder.glob("[Ll]ib/**/site-packages")
    ignore = shutil.ignore_patterns("__pycache__", "data")
    shutil.copytree(ROOT / "wsbnb", site / "wsbnb", ignore=ignore)
    # The packages that wsbnb needs are found where this Python has them.
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (python,) = folder.glob("bin/python") or folder.glob("Scripts/python.exe")
    return python


def test_package_is_clean(checker):
    assert checker("-p", "wsbnb", cwd=ROOT) == []


def test_user_of_the_installed_package_is_helped(checker, user, tmp_path):
    (tmp_path / "good.py").write_text(STRICT + GOOD)
    (tmp_path / "wrong.py").write_text(FIRST_LINES + "\n".join(WRONG) + "\n")
    python = ["--python-executable", str(user)]
    found = checker(*python, "good.py", "wrong.py", cwd=tmp_path)
    assert [line for line in found if line.startswith("good.py")] == []
    first = FIRST_LINES.count("\n") + 1
    for number, (call, word) in enumerate(WRONG.items(), start=first):
        here = [line for line in found if line.startswith(f"wrong.py:{number}: error")]
        assert len(here) == 1 and here[0].endswith(f"[{word}]"), (call, here)
