"""Several copies of one policy that differ in the discount, kept in stacked arrays.

The recursion of all experts is one NumPy expression instead of one compiled call per
expert: calling a compiled function costs more than the arithmetic in it. It is the
recursion of `kernels.observe`, and a test holds the two together.
"""

import numpy as np

from wsbnb import _validate, kernels
from wsbnb.policies import LinearPolicy, rules, saving
from wsbnb.policies.base import _TOO_LARGE, PosteriorSnapshot, _as_stored
from wsbnb.policies.theory import outside_on_purpose

FIELDS = ("P", "h", "P_tilde", "counts", "bound")


# --- the template -------------------------------------------------------------------


def template(base):
    """A new policy like `base`, given as a policy or as `described` writes it."""
    if isinstance(base, dict):
        return _from_description(base)
    _check_class(type(base))
    return with_discount(base, base.discount)


def with_discount(base, discount):
    """A new policy that differs from `base` in the discount alone."""
    with outside_on_purpose():  # what there is to warn of, `base` has said
        return type(base)(**{**base.get_params(), "discount": float(discount)})


def described(base):
    """A policy as plain data: class, settings, and a witness of its size."""
    return {
        "class": type(base).__name__,
        "params": base.get_params(),
        "prior_precision": base._rule.prior.P0.copy(),
    }


def _from_description(words):
    needed = {"class", "params", "prior_precision"}
    if set(words) != needed or not isinstance(words["params"], dict):
        raise ValueError(
            f"base must be a policy or a dict with {sorted(needed)}, got {words!r:.200}"
        )
    known = {name: cls for name, cls in saving._REGISTRY.items() if _is_suitable(cls)}
    cls = known[_validate.choice("base class", words["class"], tuple(known))]
    # Only as much memory is taken as the description itself has taken.
    witness = _validate.matrix("base prior_precision", words["prior_precision"])
    size = len(witness)
    if words["params"].get("dim", size) != size or witness.shape != (size, size):
        raise ValueError(
            f"base prior_precision must be a square matrix of the policy's dimension, "
            f"got shape {witness.shape}"
        )
    return cls(**words["params"])


def _is_suitable(cls):
    return (
        isinstance(cls, type)
        and issubclass(cls, LinearPolicy)
        and "discount" in cls._setting_names()
        and all(
            getattr(cls, name) is getattr(LinearPolicy, name)
            for name in ("_choose", "_learn", "_learn_all")
        )
    )


def _check_class(cls):
    if not _is_suitable(cls) or saving._REGISTRY.get(cls.__name__) is not cls:
        raise TypeError(
            "base must be a policy of this package with a discount, such as WSBLinTS, "
            f"or a registered class like that with an unchanged round, got {cls!r}"
        )


# --- the experts --------------------------------------------------------------------


class ExpertBank:
    """One estimator per discount; all learn, any one of them can choose."""

    def __init__(self, base, discounts):
        self.rules = [with_discount(base, g)._rule for g in discounts]
        self.noise_variance = base.noise_std**2
        self.unit_noise = base._unit_noise
        self.n_normals = base.n_normals
        settings, self._prior = self.rules[0].settings, self.rules[0].prior
        self._local = bool(settings.local)
        self._bounded = settings.penalty in (kernels.CXV, kernels.TRIANGLE)
        self._precision, self._cap = settings.precision, settings.P0_largest
        self._gamma = np.array([float(g) for g in discounts])
        self._one_step = self._factors(1.0)
        self.restart()

    def restart(self):
        """Every expert back to the prior."""
        states = [rules.new_state(rule) for rule in self.rules]
        self.arrays = {
            field: np.stack([getattr(state, field) for state in states])
            for field in FIELDS
        }

    def _factors(self, steps):
        """What `advance` multiplies and adds, for a given number of rounds."""
        f = self._gamma**steps
        P0, h0 = self._prior.P0, self._prior.h0
        return {
            "f": f,
            "P": (f[:, None, None], (1.0 - f)[:, None, None] * P0),
            "h": (f[:, None], (1.0 - f)[:, None] * h0),
            "P_tilde": (f[:, None, None] ** 2, (1.0 - f**2)[:, None, None] * P0),
            "counts": np.stack([np.ones_like(f), f, f**2, np.ones_like(f)], axis=1),
        }

    # -- learning --------------------------------------------------------------------

    def advance(self, steps=1.0):
        """Let rounds pass: every expert fades by its own discount."""
        factors = self._one_step if steps == 1.0 else self._factors(steps)
        for field in ("P", "h", "P_tilde") if self._local else ("P", "h"):
            factor, rest = factors[field]
            self.arrays[field] *= factor
            self.arrays[field] += rest
        self.arrays["counts"] *= factors["counts"]
        self.arrays["counts"][:, kernels.CLOCK] += steps
        if self._bounded:
            f, bound = factors["f"], self.arrays["bound"][:, kernels.BOUND]
            loose = (1.0 + 1e-14) / (f / bound + (1.0 - f) / self._cap)
            np.minimum(self._cap, loose, out=bound)

    def absorb(self, x, reward):
        """Add one observation at full weight."""
        scaled = self._precision * x
        outer = self._precision * (x[:, None] * x)
        self.arrays["P"] += outer
        self.arrays["h"] += scaled * reward
        if self._local:
            self.arrays["P_tilde"] += outer
        self.arrays["counts"] += _ONE_MORE

    def learn(self, x, reward, decay):
        """One observation, after a round has passed if `decay`."""
        if decay:
            self.advance()
        self.absorb(x, reward)

    def predict(self, x):
        """Mean and variance of the reward of arm x, one per expert."""
        y = np.linalg.solve(self.arrays["P"], x[:, None])[:, :, 0]
        mean = (self.arrays["h"] * y).sum(axis=1)
        spread = y @ x
        if self.unit_noise:
            return mean, self.noise_variance * (1.0 + spread)
        return mean, self.noise_variance + spread

    def check(self):
        """Refuse a state in which a later round would fail."""
        try:
            sound = _definite(self.arrays["P"])
            if self._local:
                sound = sound and _definite(self.arrays["P_tilde"])
            sound = sound and (np.abs(self.arrays["h"]) < 1e300).all()
        except np.linalg.LinAlgError:
            sound = False
        if not sound:
            raise ValueError(_TOO_LARGE)

    # -- choosing --------------------------------------------------------------------

    def state(self, j):
        """The state of expert j for the compiled code; it shares the memory."""
        a = self.arrays
        d = a["h"].shape[1]
        return kernels.State(
            a["P"][j],
            a["h"][j],
            a["P_tilde"][j],
            a["counts"][j],
            a["bound"][j],
            np.empty((0, d)),
            np.empty(0),
            np.empty(0),
        )

    def choose(self, j, X, rng):
        """The arm that expert j plays."""
        X_T = np.ascontiguousarray(X.T)
        normals = rng.standard_normal(self.n_normals)
        work = kernels.make_work(*X_T.shape)
        arm = kernels.choose(self.rules[j], self.state(j), X_T, normals, work)
        if arm < 0:
            raise ValueError(_TOO_LARGE)
        return arm

    def scores(self, j, X, rng):
        """The scores behind `choose`; changes nothing but the generator given."""
        X_T = np.ascontiguousarray(X.T)
        work = kernels.make_work(*X_T.shape)
        normals = rng.standard_normal(self.n_normals)
        kernels.score(self.rules[j], self.state(j), X_T, normals, work)
        return work.rows[kernels.SCORES]

    # -- reading ---------------------------------------------------------------------

    def posterior(self, weights):
        """The Gaussian with the mean and the covariance of a mixture of experts."""
        scale = 1.0 / self.noise_variance if self.unit_noise else 1.0
        covs = np.linalg.inv(scale * self.arrays["P"])
        means = np.einsum("jab,jb->ja", covs, scale * self.arrays["h"])
        mean = weights @ means
        away = means - mean
        cov = np.einsum("j,jab->ab", weights, covs) + (weights[:, None] * away).T @ away
        precision = np.linalg.inv((cov + cov.T) / 2)
        precision = (precision + precision.T) / 2
        return PosteriorSnapshot(
            precision,
            precision @ mean,
            (scale * self._prior.P0, self._prior.mu0),
            float(self.noise_variance**0.5),
            weights @ self.arrays["counts"],
        )

    # -- copies and files --------------------------------------------------------------

    def copy_arrays(self):
        return {field: array.copy() for field, array in self.arrays.items()}

    def set_arrays(self, stored, base):
        """Arrays from a file; each expert is checked as a policy of its own."""
        arrays = {
            field: _as_stored(field, stored[field], self.arrays[field].shape)
            for field in FIELDS
        }
        for j, gamma in enumerate(self._gamma):
            empty = {"ring_x": [], "ring_r": [], "ring_w": []}
            row = {field: arrays[field][j] for field in FIELDS}
            with_discount(base, gamma)._set_state({**row, **empty})
        self.arrays = arrays


def _definite(matrices):
    return np.isfinite(np.linalg.cholesky(matrices)).all()


_ONE_MORE = np.zeros(4)
_ONE_MORE[[kernels.WEIGHT_SUM, kernels.SQUARED_WEIGHT_SUM]] = 1.0
