"""What the chapters draw.

Each function takes an axes (or makes one), draws one idea and returns the axes.
An algorithm has the same colour, line style and marker in every picture: the colour
says how it explores (warm: UCB, blue: randomised UCB, green: Thompson sampling), a
solid line says that it uses the WSB posterior, a broken one that it does not.
"""

import base64
import inspect
import io
import sys
import zlib
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, Self

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from numpy.typing import ArrayLike
from scipy import stats

from wsbnb._tables import filled_frame
from wsbnb._tables import styled_table as styled_table
from wsbnb._types import Array, Band
from wsbnb._validate import (
    LARGEST,
    choice,
    covariance,
    finite_array,
    integer,
    matrix,
    positive,
    several,
    text,
    vector,
)
from wsbnb.paper.algorithms import ADAPTIVE_STYLES, TABLE

#: Colour, line and marker of every named policy, from the one table of algorithms.
STYLES = {row.name: (row.colour, row.line, row.marker) for row in TABLE.values()}
#: The true parameter: a black cross wherever it is a point.
TRUTH = dict(color="black", marker="x", ms=8, mew=2, linestyle="none")
_BY_CLASS = {row.cls.__name__: row.name for row in TABLE.values()}
_FALLBACK = ("#5a4fcf", "#9c5b00", "#00797a", "#a03060", "#4f6b1f", "#666688")
_FALLBACK_LINES = ("-", "--", "-.", ":")

_RC = {
    "figure.figsize": (5.8, 3.6),
    "figure.dpi": 110,
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "savefig.facecolor": "white",
    "savefig.dpi": 150,
    "savefig.pad_inches": 0.12,
    "axes.facecolor": "white",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlesize": 12,
    "axes.labelsize": 12,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "font.size": 11.5,
    "legend.fontsize": 10.5,
    "legend.frameon": False,
    "lines.linewidth": 1.9,
    "svg.hashsalt": "wsbnb",  # the same figure gives the same bytes
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "axes.prop_cycle": mpl.cycler(
        color=["#0b4f9e", "#d2420a", "#2f9d74", "#a8329a", "#b87a00", "#5b5b5b"]
    ),
}


class use_style:
    """Turn the book's figure style on; as a context manager, off again at the end.

    Examples
    --------
    >>> import matplotlib as mpl
    >>> before = mpl.rcParams["axes.grid"]
    >>> with use_style():
    ...     mpl.rcParams["axes.grid"]
    True
    >>> mpl.rcParams["axes.grid"] == before
    True
    """

    def __init__(self) -> None:
        self._saved = {key: mpl.rcParams[key] for key in _RC}
        mpl.rcParams.update(_RC)
        if "IPython" in sys.modules:
            _show_sharply(sys.modules["IPython"].get_ipython())

    def _ipython_display_(self):
        """Nothing to see when a cell ends with ``use_style()``."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        mpl.rcParams.update(self._saved)


#: Drawings in more characters than this are shown as pixels instead.
LARGEST_DRAWING = 200_000


def _show_sharply(shell):
    """Let notebooks show figures as drawings (SVG), or as twice as many pixels."""
    if getattr(shell, "kernel", None) is None:
        return
    if not plt.get_fignums():  # the notebook's own choice of format first, then ours
        plt.switch_backend(mpl.get_backend())
    formatters = shell.display_formatter.formatters
    formatters["image/svg+xml"].for_type(Figure, _drawing)
    formatters["image/png"].for_type(Figure, _pixels)


def _drawing(figure):
    """The figure as SVG; None if it is too large to be sent to a reader."""
    from IPython.core.pylabtools import print_figure

    text = print_figure(figure, fmt="svg", metadata={"Date": None, "Creator": None})
    return text if text is not None and len(text) <= LARGEST_DRAWING else None


def _pixels(figure):
    """The figure in twice as many pixels, of 256 colours: a third of the weight."""
    from IPython.core.pylabtools import retina_figure
    from PIL import Image

    shown = retina_figure(figure)
    if shown is None:  # an empty figure
        return None
    picture, few = Image.open(io.BytesIO(shown[0])).convert("RGB"), io.BytesIO()
    picture.quantize(256, dither=Image.Dither.NONE).save(few, "PNG", optimize=True)
    return base64.b64encode(few.getvalue()).decode(), shown[1]


def policy_name(policy: object) -> str:
    """The name a policy carries in pictures, from its name, class or instance.

    Examples
    --------
    >>> policy_name("WSBLinTS"), policy_name("WSB-LinTS"), policy_name("mine")
    ('WSB-LinTS', 'WSB-LinTS', 'mine')
    """
    if not isinstance(policy, str):
        policy = (policy if inspect.isclass(policy) else type(policy)).__name__
    return _BY_CLASS.get(policy, policy)


def policy_style(policy: object) -> dict[str, Any]:
    """Colour, line style and marker of a policy, as keywords for ``ax.plot``.

    Parameters
    ----------
    policy : str, class or instance
        A name as in the paper ("WSB-LinTS"), a class name ("WSBLinTS"), or anything
        else: an unknown name gets a style of its own, the same in every session.

    Examples
    --------
    >>> policy_style("D-LinUCB") == policy_style("DLinUCB")
    True
    >>> policy_style("my policy")["linestyle"]
    ':'
    """
    name = policy_name(policy)
    if name in STYLES or name in ADAPTIVE_STYLES:
        color, linestyle, marker = STYLES.get(name) or ADAPTIVE_STYLES[name]
    else:
        # Not hash(): Python salts it, so the colour would change between sessions.
        number = zlib.crc32(name.encode())
        color = _FALLBACK[number % len(_FALLBACK)]
        linestyle = _FALLBACK_LINES[number // len(_FALLBACK) % len(_FALLBACK_LINES)]
        marker = "."
    return {"color": color, "linestyle": linestyle, "marker": marker}


def _axes(ax: Axes | None) -> Axes:
    if ax is None:
        return plt.subplots()[1]
    if not isinstance(ax, mpl.axes.Axes):
        raise TypeError(f"ax must be a matplotlib Axes or None, got {ax!r}")
    return ax


def _label(ax: Axes, xlabel: str, ylabel: str) -> Axes:
    # A label the caller has set already stays.
    if not ax.get_xlabel():
        ax.set_xlabel(xlabel)
    if not ax.get_ylabel():
        ax.set_ylabel(ylabel)
    return ax


def _names(names: Any, standard: Sequence[str]) -> list[str]:
    """One label per coordinate."""
    if names is None:
        return list(standard)
    given = [str(name) for name in several("names", names)]
    if len(given) != len(standard):
        raise ValueError(
            f"names must have one label per coordinate ({len(standard)}), got {given}"
        )
    return given


def _same_length(name: str, rounds: ArrayLike, *others: Any) -> Array:
    rounds = vector("rounds", rounds)
    _drawable("rounds", rounds)
    for other in others:
        if len(other) != len(rounds):
            raise ValueError(
                f"{name} must have one entry per round ({len(rounds)}), "
                f"got {len(other)}"
            )
    return rounds


def _drawable(name: str, *values: Any) -> None:
    """Refuse what lies beyond any axis; Matplotlib would warn and draw nothing."""
    most = max(np.abs(value).max(initial=0.0) for value in values)
    if not most <= LARGEST:
        raise ValueError(
            f"{name} must reach no further than {LARGEST:g} to be drawn, got {most:g}"
        )


@np.errstate(over="ignore", invalid="ignore")  # what is too large is refused
def _around(name: str, middle: Array, half: Any) -> tuple[Array, Array]:
    """The edges of middle ± half, if they can be drawn."""
    low, high = middle - half, middle + half
    _drawable(name, low, high)
    return low, high


def _band(table: Array, kind: Band) -> Any:
    """Lower and upper edge over the trials (columns) of a rounds × trials table."""
    if kind is None or table.shape[1] < 2:
        return None
    if kind == "quantile":
        return np.quantile(table, [0.1, 0.9], axis=1)
    count = table.shape[1]
    half = stats.t.ppf(0.975, count - 1) * table.std(axis=1, ddof=1) / np.sqrt(count)
    return table.mean(axis=1) - half, table.mean(axis=1) + half


def regret_curves(
    curves: Any,
    ax: Axes | None = None,
    band: Band = "ci",
    change_points: Iterable[float] = (),
    styles: Mapping[str, dict[str, Any]] | None = None,
) -> Axes:
    """Mean cumulative regret of each policy against the round.

    Parameters
    ----------
    curves : DataFrame or Results
        Columns policy, trial, round and regret (cumulative, in reward units), or what
        :func:`wsbnb.simulate` returns.
    ax : Axes, optional
    band : {"ci", "quantile", None}
        Shade the 95 % confidence interval of the mean over trials, or the range
        from the 10 % to the 90 % quantile of the trials, or nothing.
    change_points : sequence of int
        Rounds at which the parameter jumps; drawn as thin vertical lines.
    styles : dict, optional
        Line keywords by policy, on top of :func:`policy_style`.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd
    >>> curves = pd.DataFrame(
    ...     {
    ...         "policy": "WSB-LinTS",
    ...         "trial": [0, 0, 1, 1],
    ...         "round": [1, 2, 1, 2],
    ...         "regret": [0.1, 0.3, 0.2, 0.2],
    ...     }
    ... )
    >>> [line.get_label() for line in regret_curves(curves).lines]
    ['WSB-LinTS']
    """
    curves = getattr(curves, "curves", curves)
    columns = ["policy", "trial"], ["round", "regret"]
    curves = filled_frame("curves", curves, *columns)
    choice("band", band, ("ci", "quantile", None))
    if not isinstance(styles, Mapping | None):
        raise TypeError(f"styles must map policies to keywords, got {styles!r}")
    changes = finite_array("change_points", several("change_points", change_points))
    _drawable("change_points", changes)
    _drawable("curves", curves[["round", "regret"]].to_numpy())
    ax = _axes(ax)
    for when in changes.ravel():
        ax.axvline(when, color="#999999", linewidth=0.9, linestyle=(0, (2, 2)))
    for name, part in curves.groupby("policy", sort=False, observed=True):
        table = part.pivot(index="round", columns="trial", values="regret")
        if table.isna().to_numpy().any():
            raise ValueError(
                f"curves must give every trial of {name} the same rounds, got gaps"
            )
        style = policy_style(name) | {"marker": None} | (styles or {}).get(name, {})
        rounds, values = table.index.to_numpy(), table.to_numpy()
        ax.plot(rounds, values.mean(axis=1), label=policy_name(name), **style)
        edges = _band(values, band)
        if edges is not None:
            ax.fill_between(rounds, *edges, color=style["color"], alpha=0.18, lw=0)
    ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    ax.legend()
    return _label(ax, "round", "cumulative regret (reward units)")


def tidy_curves(runs: Mapping[str, ArrayLike]) -> pd.DataFrame:
    """Arrays of cumulative regret as the frame for pictures of regret.

    Parameters
    ----------
    runs : dict of str to (trials, rounds) array

    Returns
    -------
    DataFrame
        Columns policy, trial, round (from 1) and regret.

    Examples
    --------
    >>> tidy_curves({"mine": [[0.5, 0.7]]}).values.tolist()
    [['mine', 0, 1, 0.5], ['mine', 0, 2, 0.7]]
    """
    if not isinstance(runs, dict) or not runs:
        raise ValueError(f"runs must map names to arrays, got {runs!r}")
    frames = []
    for name, run in runs.items():
        run = matrix(f"runs[{name!r}]", run)
        trial, when = np.indices(run.shape)
        frame = {"trial": trial.ravel(), "round": when.ravel() + 1}
        frames.append(pd.DataFrame({"policy": name, **frame, "regret": run.ravel()}))
    return pd.concat(frames, ignore_index=True)


def ellipse(
    mean: ArrayLike,
    cov: ArrayLike,
    ax: Axes | None = None,
    radius: float = 1.0,
    **style: Any,
) -> Axes:
    """The ellipse {x : (x − mean)ᵀ cov⁻¹ (x − mean) = radius²} and its centre.

    Parameters
    ----------
    mean : (2,) array
    cov : (2, 2) array, symmetric positive definite
    ax : Axes, optional
    radius : float
        In units of the norm that `cov` gives, e.g. a confidence radius.
    **style
        For the outline: color, linestyle, linewidth, alpha, label.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = ellipse([0, 0], [[4, 0], [0, 1]], radius=2)
    >>> patch = ax.patches[0]
    >>> float(patch.width), float(patch.height)
    (8.0, 4.0)
    """
    mean, cov = vector("mean", mean, 2), covariance("cov", cov, 2)
    radius = positive("radius", radius)
    values, vectors = np.linalg.eigh(cov)
    values, vectors = values[::-1], vectors[:, ::-1]
    with np.errstate(over="ignore"):
        width, height = 2 * (radius * np.sqrt(values))
    _around("mean, cov and radius", mean, width)
    fresh = ax is None
    ax = _axes(ax)
    angle = np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0]))
    style = {"color": "#0b4f9e", "linewidth": 1.8} | style
    color = style.pop("color")
    patch = Ellipse(mean, width, height, angle=angle, fill=False, ec=color, **style)
    ax.add_patch(patch)
    ax.plot(*mean, marker="+", color=color, alpha=style.get("alpha"))
    if fresh:
        ax.set_aspect("equal")
    ax.autoscale_view()
    return _label(ax, r"$\theta_1$ (reward units)", r"$\theta_2$ (reward units)")


def marginals(
    posterior: Any,
    ax: Axes | None = None,
    truth: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    width: float = 1.96,
) -> Axes:
    """What a posterior believes about each coordinate, as a dot and an interval.

    Parameters
    ----------
    posterior : object with ``mean`` and ``cov``
        For example ``policy.posterior`` or a :class:`wsbnb.WSBPosterior`.
    ax : Axes, optional
    truth : (d,) array, optional
        The parameter, drawn as dark crosses.
    names : sequence of str, optional
        One label per coordinate.
    width : float
        The interval is mean ± width · std.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np, wsbnb
    >>> post = wsbnb.WSBPosterior(
    ...     prior_mean=np.zeros(2), prior_cov=1.0, noise_std=0.5, discount=0.99
    ... )
    >>> post.update([1.0, 0.0], 0.7)
    >>> ax = marginals(post, names=["price", "news"])
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['price', 'news']
    """
    if not (hasattr(posterior, "mean") and hasattr(posterior, "cov")):
        raise TypeError(f"posterior must have mean and cov, got {posterior!r}")
    mean = vector("posterior.mean", posterior.mean)
    std = np.sqrt(np.diag(covariance("posterior.cov", posterior.cov, mean.size)))
    width = positive("width", width)
    names = _names(names, [f"θ{i + 1}" for i in range(mean.size)])
    with np.errstate(over="ignore"):
        half = width * std
    _around("posterior and width", mean, half)
    if truth is not None:
        truth = vector("truth", truth, mean.size)
        _drawable("truth", truth)
    ax = _axes(ax)
    places = np.arange(mean.size)
    ax.axvline(0.0, color="#444444", linewidth=1.0)
    colour = policy_style("WSB-LinTS")["color"]
    ax.errorbar(mean, places, xerr=half, fmt="o", color=colour, capsize=3)
    if truth is not None:
        ax.plot(truth, places, **TRUTH)
    ax.set_yticks(places, names)
    ax.set_ylim(mean.size - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    return _label(ax, "coefficient (reward units per unit of the feature)", "")


def posterior_path(
    rounds: ArrayLike,
    mean: ArrayLike,
    std: ArrayLike,
    truth: ArrayLike | None = None,
    ax: Axes | None = None,
    width: float = 1.96,
    names: Sequence[str] | None = None,
) -> Axes:
    """Marginals of the posterior over time, with the parameter that they chase.

    Parameters
    ----------
    rounds : (n,) array
    mean, std : (n, d) arrays
        Marginal mean and standard deviation after each round, in reward units.
    truth : (n, d) array, optional
        The parameter in each round; drawn as a thin dark line.
    ax : Axes, optional
    width : float
        The band is mean ± width · std.
    names : sequence of str, optional
        One label per coordinate.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = posterior_path([1, 2], [[0.0], [0.5]], [[1.0], [0.7]], [[0.6], [0.6]])
    >>> len(ax.lines)
    2
    """
    mean = matrix("mean", mean)
    rounds = _same_length("mean", rounds, mean)
    count, dim = mean.shape
    std = matrix("std", std, rows=count, cols=dim)
    truth = None if truth is None else matrix("truth", truth, rows=count, cols=dim)
    names = _names(names, [rf"$\theta_{{{i + 1}}}$" for i in range(dim)])
    width = positive("width", width)
    with np.errstate(over="ignore"):
        low, high = _around("mean, std and width", mean, width * std)
    if truth is not None:
        _drawable("truth", truth)
    ax = _axes(ax)
    for i in range(dim):
        (line,) = ax.plot(rounds, mean[:, i], label=names[i])
        band = {"color": line.get_color(), "alpha": 0.16, "lw": 0}
        ax.fill_between(rounds, low[:, i], high[:, i], **band)
        if truth is not None:
            label = "truth" if i == dim - 1 else None  # last in the legend
            ax.plot(rounds, truth[:, i], color="#222222", lw=1.0, ls="--", label=label)
    ax.legend()
    return _label(ax, "round", "parameter (reward units)")


def arm_choices(
    rounds: ArrayLike,
    arms: ArrayLike,
    n_arms: int,
    ax: Axes | None = None,
    best: ArrayLike | None = None,
) -> Axes:
    """Which arm was pulled in each round.

    Parameters
    ----------
    rounds : (n,) array
    arms : (n,) array of int in 0 … n_arms − 1
    n_arms : int
    ax : Axes, optional
    best : (n,) array of int, optional
        The best arm of each round, drawn as a line behind the choices.

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = arm_choices([1, 2, 3], [0, 1, 1], n_arms=2, best=[1, 1, 1])
    >>> ax.get_ylabel()
    'arm'
    """
    n_arms = integer("n_arms", n_arms)
    rounds = _same_length("arms", rounds, vector("arms", arms))
    ax = _axes(ax)
    for name, given in (("arms", arms), ("best", best)):
        if given is None:
            continue
        given = vector(name, given, len(rounds))
        if given.min() < 0 or given.max() >= n_arms or (given % 1).any():
            raise ValueError(
                f"{name} must be whole numbers from 0 to {n_arms - 1}, "
                f"got values from {given.min():g} to {given.max():g}"
            )
        if name == "arms":
            ax.plot(rounds, given, ".", ms=3.5, color="#0b4f9e", label="pulled")
        else:
            look = {"color": "#f0a868", "lw": 6, "solid_capstyle": "butt", "zorder": 1}
            ax.step(rounds, given, where="mid", label="best arm", **look)
    ax.set_ylim(-0.6, n_arms - 0.4)
    ax.yaxis.set_major_locator(mpl.ticker.MaxNLocator(integer=True))
    if best is not None:
        ax.legend()
    return _label(ax, "round", "arm")


def radius_anatomy(
    rounds: ArrayLike, parts: Mapping[str, ArrayLike], ax: Axes | None = None
) -> Axes:
    """The parts of a confidence radius, stacked, against the round.

    Parameters
    ----------
    rounds : (n,) array
    parts : dict of str to (n,) array
        E.g. ``{"drift": alpha, "noise": beta, "prior": penalty}``, each at least 0.
        Posterior-norm radii carry no unit.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = radius_anatomy([1, 2], {"noise": [1.0, 2.0], "prior": [1.0, 0.5]})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['prior', 'noise']
    """
    if not isinstance(parts, dict) or not parts:
        raise ValueError(f"parts must map names to values, got {parts!r}")
    parts = {name: vector(f"parts[{name!r}]", part) for name, part in parts.items()}
    rounds = _same_length("parts", rounds, *parts.values())
    for name, part in parts.items():
        if part.min() < 0:
            raise ValueError(
                f"parts[{name!r}] must be zero or positive, got {part.min()}"
            )
        _drawable(f"parts[{name!r}]", part)
    ax = _axes(ax)
    known = {"drift": "#d9824f", "noise": "#6ea2d8", "prior": "#4f9b80"}
    spare = iter(["#b48ac0", "#c9b458", "#9a9a9a"] * len(parts))
    colors = [known.get(name) or next(spare) for name in parts]
    ax.stackplot(rounds, *parts.values(), labels=list(parts), colors=colors)
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(handles[::-1], labels[::-1])  # the order in which they lie on the page
    return _label(ax, "round", "radius (no unit)")


def interval_plot(
    frame: pd.DataFrame, ax: Axes | None = None, xlabel: str | None = None
) -> Axes:
    """Paired differences with their confidence intervals, one row per policy.

    Parameters
    ----------
    frame : DataFrame
        Columns policy (or policies as index, as :meth:`wsbnb.Results.paired` gives
        them), difference, low and high (reward units).
    ax : Axes, optional
    xlabel : str, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {
    ...         "policy": ["WSB-LinTS"],
    ...         "difference": [-3.0],
    ...         "low": [-5.0],
    ...         "high": [-1.0],
    ...     }
    ... )
    >>> [tick.get_text() for tick in interval_plot(frame).get_yticklabels()]
    ['WSB-LinTS']
    """
    if isinstance(frame, pd.DataFrame) and "policy" not in frame:
        frame = frame.rename_axis("policy").reset_index()  # as `paired` gives it
    frame = filled_frame("frame", frame, ["policy"], ["difference", "low", "high"])
    if xlabel is not None:
        text("xlabel", xlabel)
    numbered = [name for name in frame.policy if isinstance(name, Real)]
    if numbered:  # `reset_index` leaves the names in a column called "index"
        raise ValueError(
            f"frame must name its policies, got numbers such as {numbered[0]}"
        )
    bad = frame[(frame.low > frame.difference) | (frame.high < frame.difference)]
    if len(bad):
        raise ValueError(
            "frame must have low ≤ difference ≤ high in every row, got "
            f"{bad.iloc[0][['low', 'difference', 'high']].tolist()}"
        )
    _drawable("frame", frame[["low", "high"]].to_numpy())
    ax = _axes(ax)
    ax.axvline(0.0, color="#444444", linewidth=1.0)
    for place, row in enumerate(frame.itertuples()):
        style = {"color": "#44546a", "marker": "o"}  # rows are named beside the axis
        if policy_name(row.policy) in STYLES:
            style = policy_style(row.policy)
        style = style | {"linestyle": "none"}
        reach = [[row.difference - row.low], [row.high - row.difference]]
        ax.errorbar(row.difference, place, xerr=reach, capsize=3, ms=6, **style)
    ax.set_yticks(range(len(frame)), [policy_name(name) for name in frame.policy])
    ax.set_ylim(len(frame) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)
    return _label(ax, xlabel or "difference in regret (reward units)", "")
