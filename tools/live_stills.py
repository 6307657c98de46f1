"""A still picture for each live one: what remains in print and without JavaScript.

`still(kind, words)` is HTML, computed by the library with the settings that the live
picture starts with; `words` are the element's data attributes. None where the page has
its own still picture.
"""

import numpy as np

import wsbnb
import wsbnb.environments as we
from wsbnb.interactive import StillFigure, still_figure

ROUNDS, TRIALS, DISCOUNT, NOISE = 2000, 24, 0.98, 0.39
PRIOR = {"WSBLinUCB", "WSBRandLinUCB", "WSBLinTS"}
PATHS = {
    "jumps": lambda: we.AbruptPath(we.OrthogonalAnchors(2)),
    "moves": lambda: we.SlowPath(we.OrthogonalAnchors(2)),
    "still": we.StationaryPath,
}


def still(kind, words):
    make = KINDS.get(kind)
    return make(words)._repr_html_() if make else None


# --- regret ---------------------------------------------------------------------------


def policy(name, discount, scale=1.0, noise=NOISE, horizon=ROUNDS):
    """A policy with the settings that `settingsOf` of widgets.js gives it."""
    words = {"noise_std": noise, "discount": discount}
    if name in PRIOR:
        words |= {"prior_mean": [0.0, 0.0], "prior_cov": 1.0}
    else:
        words |= {"dim": 2, "regularization": 1.0}
    if name in ("WSBLinUCB", "DLinUCB", "LBWeightUCB"):
        words |= {"radius_scale": scale, "horizon": horizon}
    elif name != "Greedy":
        words["scale"] = scale
    with wsbnb.outside_on_purpose():
        return getattr(wsbnb, name)(**words)


def regret(policies, title, path="jumps", noise=NOISE, rounds=ROUNDS):
    """Mean regret of named policies, 48 arms in the plane."""
    environment = we.Environment(
        path=PATHS[path](),
        arms=we.FixedArms(48),
        noise=we.GaussianNoise(noise),
        horizon=rounds,
        dim=2,
    )
    words = {"trials": TRIALS, "seed": 1, "points": 80, "progress": False}
    run = wsbnb.simulate(policies, environment, n_jobs=1, **words)
    means = run.curves.groupby(["policy", "round"]).regret.mean()
    lines = {
        name: (means[name].index.to_numpy(float), means[name].to_numpy())
        for name in policies
    }
    return still_figure(
        lines,
        title,
        f"Mean of {TRIALS} trials.",
        "round",
        "regret so far (reward units)",
    )


def knob(words):
    scale = float(words.get("scale", 1.0))
    names = words["policies"].split()
    policies = {
        wsbnb.plotting.policy_name(policy(n, DISCOUNT)): policy(n, DISCOUNT, scale)
        for n in names
    }
    first = next(iter(policies))
    policies[f"{first} with γ = 1"] = policy(names[0], 1.0, scale)
    return regret(policies, words["title"], words.get("world", "jumps"))


def guess(words):
    noise, rounds = float(words.get("noise", NOISE)), int(words.get("rounds", ROUNDS))
    policies = {}
    for text in words["pair"].split():
        name, discount, scale = text.split(":")
        made = policy(name, float(discount), float(scale), noise, rounds)
        label = wsbnb.plotting.policy_name(made)
        policies[f"{label} with γ = {discount}, scale {scale}"] = made
    world = words.get("world", "jumps")
    return regret(policies, words["question"], world, noise, rounds)


def learner(words):
    policies = {f"γ = {g}": policy("WSBLinTS", g, noise=0.3) for g in (1.0, 0.95)}
    title = "Two learners, sixty rounds, one change in the middle"
    return regret(policies, title, noise=0.3, rounds=60)


# --- estimates ------------------------------------------------------------------------


def posterior(words):
    """Prior and posterior of the picture that can be dragged, after four rounds."""
    turn = np.linspace(0, 2 * np.pi, 73)
    rim = np.column_stack([np.cos(turn), np.sin(turn)])
    a, b = np.deg2rad(60), np.array([0.5, 0.3])
    axes = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) * b
    truth, mean = np.array([0.8, 0.5]), np.array([-0.4, 0.2])
    belief = wsbnb.WSBPosterior(
        prior_mean=mean, prior_cov=axes @ axes.T, noise_std=0.5, discount=0.9
    )

    def outline():
        root = np.linalg.cholesky(belief.cov)
        return tuple((belief.mean + 2.45 * rim @ root.T).T)

    before = outline()
    for k in (0, 1, 0, 2):
        x = rim[9 * k]
        belief.update(x, float(x @ truth))
    plus = truth + 0.1 * np.array([[-1, 0], [1, 0], [0, 0], [0, 1], [0, -1]])
    return still_figure(
        {"posterior, 95 %": outline()},
        "A prior, and the posterior after four observations",
        "",
        "θ₁ (reward units)",
        "θ₂ (reward units)",
        fixed={"prior, 95 %": before, "true parameter": tuple(plus.T)},
        equal=True,
    )


def track(words):
    """Discounted least squares behind a truth that flips, or turns."""
    rng = np.random.default_rng(1)
    turns = words["path"] == "turn"
    T = 900 if turns else 600
    if turns:
        angles = np.linspace(0, 1.5 * np.pi, T), rng.uniform(0, 2 * np.pi, T)
        theta, X = (np.column_stack([np.cos(a), np.sin(a)]) for a in angles)
    else:
        theta, X = np.where(np.arange(T) < 200, 1.0, -1.0)[:, None], np.ones((T, 1))
    noise = float(words["noise"]) * rng.standard_normal(T)
    fit = wsbnb.WRLS(dim=X.shape[1], regularization=0.05, discount=0.95)
    path = []
    for x, reward in zip(X, (X * theta).sum(axis=1) + noise, strict=True):
        fit.update(x, reward)
        path.append(fit.theta_hat)
    path, rounds = np.array(path), np.arange(1.0, T + 1)
    labels = ("θ₁ (reward units)", "θ₂ (reward units)")
    labels = labels if turns else ("round", "estimate (reward units)")
    points = (lambda a: tuple(a.T)) if turns else (lambda a: (rounds, a[:, 0]))
    lines, fixed = {"estimate, γ = 0.95": points(path)}, {"truth": points(theta)}
    return still_figure(lines, words["title"], "", *labels, fixed=fixed, equal=turns)


# --- what a round costs ---------------------------------------------------------------


def speed(words):
    """What the page carries, and the native microseconds that it was given."""
    import sphinx_live

    size = len(sphinx_live.module_in(sphinx_live.compiled()))
    said = (
        f"<p>The module has {size / 1000:.0f} kB, all live scripts and styles of a "
        f"page together at most {sphinx_live.weight() / 1000:.0f} kB.</p>"
    )
    rows = [entry.split(":") for entry in words.get("native", "").split()]
    if not rows:
        return StillFigure(said, "speed")
    names = "policy", "dimension", "native, µs"
    top = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows
    )
    table = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return StillFigure(f"{table}{said}", "speed")


KINDS = {
    "speed": speed,
    "knob": knob,
    "guess": guess,
    "learner": learner,
    "posterior": posterior,
    "track": track,
}
