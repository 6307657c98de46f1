"""Many policies, one world: same bits whatever the workers, blocks and neighbours."""

import copy
import os
import threading

import joblib
import numpy as np
import pytest

import wsbnb
import wsbnb.environments as we
from tests import zoo
from wsbnb import simulation

HORIZON = 150
GREEDY = {"Greedy": zoo.make("Greedy")}


def environment(arms="redrawn", horizon=HORIZON, dim=3, n_arms=5, scenario="abrupt"):
    return wsbnb.paper_environment(
        scenario, dim, horizon=horizon, n_arms=n_arms, arms=arms
    )


ADAPTIVE = {
    "DiscountMixture": {"discounts": [0.8, 0.95, 1.0]},
    "BanditOverDiscounts": {"discounts": [0.8, 0.95, 1.0], "horizon": 100, "block": 20},
    "SurpriseRestart": {"threshold": 2.0},
    "ChangePoints": {"discounts": [0.8, 1.0], "starts": 4},
}


def adaptive(name, base="WSBLinTS", cls=None):
    return (cls or getattr(wsbnb, name))(zoo.make(base), **ADAPTIVE[name], rng=0)


def policies(names=zoo.LINEAR, dim=3):
    chosen = {name: zoo.make(name, dim) for name in names}
    chosen |= {name: adaptive(name) for name in ADAPTIVE}
    return chosen | {"Oracle": wsbnb.Oracle()}


def run(chosen, env, **options):
    settings = {"trials": 3, "seed": 7, "n_jobs": 1, "progress": False, **options}
    return wsbnb.simulate(chosen, env, **settings)


def assert_same(one, other):
    """All numbers of two results, bit by bit."""
    assert one.policies == other.policies and len(one.regret)
    for name in ("trials", "rounds", "regret", "arms"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.details is None) == (other.details is None)
    for name, table in (one.details or {}).items():
        np.testing.assert_array_equal(table, other.details[name])


# --- the same bits -------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole():
    """What all the other runs must give, too: one worker, everything recorded."""
    return {
        arms: run(policies(), environment(arms), trace=True)
        for arms in ("fixed", "redrawn")
    }


@pytest.mark.parametrize("n_jobs", [2, 8, -1])
def test_workers(whole, n_jobs):
    again = run(policies(), environment(), trace=True, n_jobs=n_jobs)
    assert_same(whole["redrawn"], again)


def which_thread(world):
    seen.add(threading.get_ident())
    return wsbnb.Uniform(dim=world.dim)


seen = set()


def test_threads_are_the_default():
    seen.clear()
    run({"who": which_thread}, environment(), trials=8, n_jobs=2)
    assert seen and threading.get_ident() not in seen


def test_processes():
    """Functions travel too, by value: what they note down stays over there."""
    env = environment(horizon=40)
    here = []

    def factory(world):
        here.append(os.getpid())
        return wsbnb.Uniform(dim=world.dim)

    chosen = {**policies(zoo.SEVEN), "factory": factory}
    one = run(chosen, env)
    assert len(here) == 3
    with joblib.parallel_config(backend="loky", n_jobs=2):
        other = wsbnb.simulate(chosen, env, trials=3, seed=7, n_jobs=2, progress=False)
    assert_same(one, other)
    assert len(here) == 3


@pytest.mark.parametrize("arms", ["fixed", "redrawn"])
@pytest.mark.parametrize("size", [1, 7, 64, 100_000])
def test_block_size(whole, arms, size, monkeypatch):
    for name in ("_REWARDS", "_LONGEST", "_SHORTEST"):
        monkeypatch.setattr(simulation, name, size)
    assert simulation.block_size(1, 3, fixed=True) == size
    assert_same(whole[arms], run(policies(), environment(arms), trace=True))


@pytest.mark.parametrize("numbers", [1, 100, 2**30])
def test_block_size_of_changing_arms(whole, numbers, monkeypatch):
    monkeypatch.setattr(simulation, "_ARM_NUMBERS", numbers)
    assert_same(whole["redrawn"], run(policies(), environment(), trace=True))


def test_block_sizes_by_hand():
    """Rewards of a block fit the cache, arms that change fit the memory."""
    assert simulation.block_size(48, 6, fixed=True) == 2**15 // 48
    assert simulation.block_size(2, 6, fixed=True) == 4096
    assert simulation.block_size(10_000, 6, fixed=True) == 256
    assert simulation.block_size(1000, 100, fixed=False) == 2**20 // 100_000
    assert simulation.block_size(10_000, 1000, fixed=False) == 1


@pytest.mark.parametrize(
    "names", [["WSBLinTS"], ["Uniform", "DLinUCB", "WSBLinTS"], zoo.LINEAR[::-1]]
)
def test_neighbours_do_not_matter(whole, names):
    chosen = {name: zoo.make(name) for name in names}
    part = run(chosen, environment(), trace=True)
    assert_same(part, whole["redrawn"].select(names))


def test_a_neighbour_that_spoils_its_arms_spoils_only_its_own(whole):
    class Spoiling:
        def pull(self, X):
            X *= np.nan
            return 0

        def update(self, x, reward):
            assert np.isfinite(x).all()
            x *= np.nan

    for arms in ("fixed", "redrawn"):
        chosen = {"spoils": Spoiling(), "WSBLinTS": zoo.make("WSBLinTS")}
        both = run(chosen, environment(arms), trace=True)
        assert_same(both.select(["WSBLinTS"]), whole[arms].select(["WSBLinTS"]))
        assert np.isfinite(both.regret).all()


def test_trials_by_number():
    env = environment()
    six = run(policies(), env, trials=6)
    part = run(policies(), env, trials=[4, 1])
    assert part.trials.tolist() == [4, 1]  # in the order asked for
    assert_same(part, six.select(trials=[4, 1]))
    again = run(policies(), env, trials=np.array([1, 4]))
    assert_same(again, six.select(trials=[1, 4]))
    assert run(GREEDY, env, trials=range(2)).trials.tolist() == [0, 1]
    assert run(GREEDY, env, trials=2.0).trials.tolist() == [0, 1]


def test_seeds():
    env, chosen = environment(), policies(["WSBLinTS"])
    one = run(chosen, env, seed=np.random.SeedSequence(7))
    assert_same(run(chosen, env), one)
    assert not np.array_equal(run(chosen, env, seed=8).regret, one.regret)
    spawned = np.random.SeedSequence(7).spawn(2)
    first, second = (run(chosen, env, seed=s) for s in spawned)
    assert not np.array_equal(first.regret, second.regret)
    assert spawned[0].n_children_spawned == 0


def test_templates_stay_as_they_were():
    """And what a template has learnt or drawn does not matter."""
    env = environment()
    chosen = policies()
    one = run(chosen, env)
    for name, policy in chosen.items():
        if name != "Oracle":
            assert policy.posterior.rounds == 0
            policy.pull(np.eye(3))
            policy.update(np.ones(3), 100.0)
    before = copy.deepcopy(chosen["WSBLinTS"]._get_state())
    assert_same(one, run(chosen, env))
    after = chosen["WSBLinTS"]._get_state()
    np.testing.assert_equal(after, before)


# --- compiled and in Python ----------------------------------------------------------


def in_python(name):
    """A subclass that says the same in Python, so that it runs uncompiled."""
    cls = getattr(wsbnb, name)

    def _choose(self, X):
        return cls._choose(self, X)

    twin = type("Python" + name, (cls,), {"_choose": _choose, "name": name})
    if name in ADAPTIVE:
        return adaptive(name, cls=twin)
    return twin(**zoo.settings(name, 3), rng=99)


@pytest.mark.parametrize("arms", ["fixed", "redrawn"])
@pytest.mark.parametrize("name", [*zoo.LINEAR, *ADAPTIVE])
def test_compiled_equals_python(name, arms):
    """Same arms in every round, and the same bits of regret."""
    env = environment(arms)
    options = {"trials": 2, "points": HORIZON}
    policy, plain = policies()[name], in_python(name)
    assert policy.compiled and not plain.compiled
    compiled = run({name: policy}, env, **options)
    assert_same(compiled, run({name: plain}, env, **options))
    assert (compiled.regret[:, 0, -1] > 0).all()


class Clipping(wsbnb.LinTS):
    """Changes what is learnt; the compiled loop would ignore that."""

    def _observations(self, x, reward):
        return super()._observations(x, min(reward, -5.0))


class Shy(wsbnb.DiscountMixture):
    """Plays the first arm, whatever the members say."""

    def _choose(self, X):
        return 0


class First:
    """To be mixed in."""

    def pull(self, X):
        return 0


class Renamed(wsbnb.LinTS):
    """Changes nothing about the round."""

    name = "other"


def test_any_override_leaves_the_compiled_loop():
    assert not Clipping.compiled and not Shy.compiled and Renamed.compiled
    assert not type("Child", (Shy,), {}).compiled
    assert not type("Mixed", (First, wsbnb.LinTS), {}).compiled
    assert type("Unmoved", (wsbnb.LinTS, First), {}).compiled
    shy = adaptive("DiscountMixture", cls=Shy)
    assert (run(shy, environment(), trace=True).arms == 0).all()


COLUMNS = ["radius", "penalty", "width", "mean", *(f"estimate_{i}" for i in range(3))]


def by_hand(policy, env, trial, seed=7):
    """One trial with pull, update and explain: arms, regret, and what explains them."""
    world = env.world(wsbnb.trial_seed(seed, trial))
    policy = policy.clone(world.generator("exploration"))
    total, arms, regret, rows = 0.0, [], [], []
    for block in world.blocks(37):
        for t in range(len(block.noise)):
            X = (block.arms if block.arms.ndim == 2 else block.arms[t]).T
            means = X @ block.theta[t]
            said = policy.explain(X) if hasattr(policy, "explain") else None
            estimate = policy.posterior.mean
            k = policy.pull(X)
            total += means.max() - means[k]
            arms.append(k)
            regret.append(total)
            if said is not None:
                row = [said["radius"], said["penalty"], said["width"][k]]
                rows.append([*row, said["mean"][k], *estimate])
            policy.update(X[k], means[k] + block.noise[t])
    return np.array(arms), np.array(regret), np.array(rows)


@pytest.mark.parametrize("arms", ["fixed", "redrawn"])
@pytest.mark.parametrize("name", [*zoo.LINEAR, *ADAPTIVE])
def test_a_loop_over_pull_and_update_plays_the_same(name, arms):
    """And the trace is what `explain` said before each of these decisions."""
    env, policy = environment(arms), policies()[name]
    results = run({name: policy}, env, trials=[2], points=HORIZON, trace=True)
    played, regret, rows = by_hand(policy, env, 2)
    assert results.arms[0, 0].tolist() == played.tolist()
    np.testing.assert_allclose(results.of(name)[0], regret, rtol=1e-12)
    for j, column in enumerate(COLUMNS):
        if column in results.details:  # a trace holds what the rule computed
            got = results.details[column][0, 0]
            np.testing.assert_allclose(got, rows[:, j], rtol=1e-9, atol=1e-12)
    # Thompson samplers need no widths, adaptive policies explain nothing.
    widths = name in zoo.SEVEN[:5] or name in ("LinUCB", "SWLinUCB", "RestartLinUCB")
    count = 0 if name in ADAPTIVE else 7 if widths else 5
    assert len(results.details) == count


def test_tracing_changes_nothing(whole):
    plain = run(policies(), environment())
    np.testing.assert_array_equal(plain.regret, whole["redrawn"].regret)
    assert plain.arms is None and plain.details is None
    traces = whole["redrawn"].traces
    assert traces.query("policy == 'Oracle'")["radius"].isna().all()
    assert traces["arm"].dtype.kind == "i"


# --- what is recorded ----------------------------------------------------------------


@pytest.mark.parametrize("points", [1, 2, 7, 149, 150, 151, 10_000])
def test_regret_is_exact_however_thin(points):
    env = environment()
    full = run(policies(), env, points=HORIZON)
    thin = run(policies(), env, points=points)
    assert len(thin.rounds) == min(points, HORIZON) and thin.rounds[-1] == HORIZON
    np.testing.assert_array_equal(thin.regret, full.regret[..., thin.rounds - 1])


@pytest.mark.parametrize("horizon, points", [(1, 1), (1, 9), (10, 4), (4000, 200)])
def test_recorded_rounds(horizon, points):
    rounds = simulation.recorded_rounds(horizon, points)
    assert rounds[-1] == horizon and rounds[0] >= 1
    assert (np.diff(rounds) > 0).all() and len(rounds) == min(points, horizon)


def test_each_recorded_round_ends_its_part():
    """Parts of ten thirds of a round, and of ten quarters: in whole rounds."""
    for points, rounds in ((3, [4, 7, 10]), (4, [3, 5, 8, 10])):
        assert simulation.recorded_rounds(10, points).tolist() == rounds


def test_more_points_than_memory_holds_are_refused_by_name():
    with pytest.raises(ValueError, match="points must be small enough"):
        simulation.recorded_rounds(2**45, 2**40)


@pytest.mark.parametrize("arms", ["fixed", "redrawn"])
def test_oracle_has_no_regret_and_others_have(whole, arms):
    results = whole[arms]
    assert (results.of("Oracle") == 0.0).all()
    others = results.select(results.policies[:-1])
    assert (others.regret[:, :, -1] > 0.0).all()
    assert (np.diff(others.regret, axis=2) >= 0.0).all()


def test_oracle_among_equal_arms():
    arms = np.tile([[0.6, 0.8], [0.8, -0.6]], (9, 1))
    env = we.Environment(
        we.StationaryPath(), we.GivenArms(arms), we.GaussianNoise(0.5), 50, 2
    )
    assert run(wsbnb.Oracle(), env).final("Oracle").max() <= 1e-13


def test_worlds_are_shared_by_the_policies_of_a_trial():
    """Two copies of one policy under two names have the same regret."""
    chosen = {"a": zoo.make("WSBLinTS", rng=1), "b": zoo.make("WSBLinTS", rng=2)}
    results = run(chosen, environment())
    np.testing.assert_array_equal(results.of("a"), results.of("b"))
    assert len(set(results.final("a"))) == 3


@pytest.mark.parametrize("name", ["WSBLinTS", "WSBLinUCB", "WSBRandLinUCB"])
def test_a_matrix_that_is_not_definite_any_more_is_an_error(name):
    """Also where only the first rounds are affected, before all directions are seen."""
    prior = dict(prior_mean=np.zeros(3), prior_cov=1e9 * np.eye(3))
    policy = zoo.make(name, 3, **prior, noise_std=1e-9, discount=0.99)
    words = "positive definite in double precision"
    with pytest.raises(ValueError, match=words):
        run(policy, environment())
    with pytest.raises(ValueError, match=words):
        run(wsbnb.DiscountMixture(policy, discounts=[0.9, 1.0]), environment())


# --- environments --------------------------------------------------------------------


def corners(rng, start, stop, dim):
    return rng.choice([-1.0, 1.0], size=(stop - start, 5, dim)) / np.sqrt(dim)


OWN = np.random.default_rng(1).standard_normal((HORIZON, 4, 3))
OWN /= np.linalg.norm(OWN, axis=2, keepdims=True)


@pytest.mark.parametrize(
    "arms",
    [
        we.FixedArms(4),
        we.RedrawnArms(4),
        we.GivenArms(OWN[0]),
        we.GivenArms(OWN),
        we.CallableArms(corners),
        we.FixedArms(1),
    ],
    ids=lambda arms: type(arms).__name__,
)
@pytest.mark.parametrize("size", [4096, 11])
def test_arm_rules(arms, size, monkeypatch):
    for name in ("_REWARDS", "_LONGEST", "_SHORTEST"):
        monkeypatch.setattr(simulation, name, size)
    path = we.AbruptPath(we.OrthogonalAnchors(3))
    env = we.Environment(path, arms, we.GaussianNoise(0.4), HORIZON, 3)
    results = run(zoo.make("DLinTS"), env, trials=[1], points=HORIZON, trace=True)
    played, regret, _ = by_hand(zoo.make("DLinTS"), env, 1)
    assert results.arms[0, 0].tolist() == played.tolist()
    np.testing.assert_allclose(results.regret[0, 0], regret, rtol=1e-12)


def test_one_round():
    results = run(policies(), environment(horizon=1, scenario="still"))
    assert results.rounds.tolist() == [1] and results.regret.shape[2] == 1


# --- policies of other kinds ---------------------------------------------------------


class Turns:
    """Not a `Policy`: plays the arms in turn."""

    def __init__(self):
        self.count = 0

    def pull(self, X):
        self.count += 1
        return self.count % len(X)

    def update(self, x, reward):
        assert np.isfinite(reward)


def test_any_object_that_plays():
    template = Turns()
    env = environment()
    one = run({"turns": template}, env)
    assert template.count == 0
    assert_same(one, run({"turns": template}, env, n_jobs=2))
    assert_same(one, run({"turns": lambda world: Turns()}, env))
    traced = run({"turns": template}, env, points=HORIZON, trace=True)
    assert (traced.arms == np.arange(1, HORIZON + 1) % 5).all()
    assert list(traced.traces) == ["trial", "policy", "round", "arm"]
    assert run(Turns(), env).policies == ["Turns"]


@pytest.mark.parametrize("arm", [-1, 5, 1.5, None, "x", np.array([1])])
def test_an_arm_that_is_not_there_is_refused(arm):
    policy = Turns()
    policy.pull = lambda X: arm
    with pytest.raises(ValueError, match="policies must pull an arm from 0 to 4, got"):
        run({"turns": policy}, environment())


class Built(Turns):
    """A class is a factory, although it has pull and update itself."""

    def __init__(self, world):
        super().__init__()
        self.dim = world.dim


def test_classes_are_factories():
    env = environment()
    assert_same(run({"a": Built}, env), run({"a": Turns()}, env))


def test_factories_see_their_world():
    env = environment()
    worlds = []

    def factory(world):
        worlds.append((world.variation, world.generator("prior").standard_normal()))
        mean = world.generator("prior").standard_normal(world.dim)
        return wsbnb.WSBLinTS(
            prior_mean=mean, prior_cov=1.0, noise_std=0.4, discount=0.95
        )

    one = run({"f": factory}, env)
    assert len(worlds) == 3 and len(set(worlds)) == 3
    assert_same(one, run({"f": factory}, env))


def test_names():
    env = environment(horizon=5)
    pair = [zoo.make("WSBLinTS"), zoo.make("DLinTS")]
    assert run(pair, env).policies == ["WSB-LinTS", "D-LinTS"]
    assert run(tuple(pair), env).policies == ["WSB-LinTS", "D-LinTS"]
    assert run(pair[0], env).policies == ["WSB-LinTS"]
