"""Pictures with a slider that work in a static page, and numbers for its text.

All frames are computed beforehand and travel inside the page, together with a few
lines of JavaScript: no kernel, no download, no other script. Without JavaScript the
starting frame is still there. Widgets need no identifiers of their own, so any number
of them, even the same one twice, may stand on a page.
"""

import base64
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike
from PIL import Image

from wsbnb._types import Curves, Lines
from wsbnb._validate import flag, integer, several, text, vector
from wsbnb.plotting import STYLES, policy_name, policy_style

_WIDTH, _HEIGHT = 600, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 92, 24, 12, 66
_COLORS = ("#0b4f9e", "#d2420a", "#2f9d74", "#a8329a", "#b87a00", "#5b5b5b")
_DASHES = {"-": "", "--": "8 5", "-.": "9 4 2 4", ":": "2 4"}
_MAX_BYTES = 300_000
_RECORD = "application/papermill.record/"  # what myst-nb looks for in an output
_TICKS = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10])

_CSS = """
.wsb-slider{box-sizing:border-box;max-width:640px;margin:.5em 0;padding:.7em;
background:#fff;color:#222;border:1px solid #ddd;border-radius:6px;
font:15px/1.4 system-ui,sans-serif}
.wsb-slider svg,.wsb-slider img{display:block;width:100%;height:auto;margin:0;
background:#fff;filter:none}
.wsb-slider text{font:15px system-ui,sans-serif;fill:#333}
.wsb-slider .wsb-title{font-weight:600;margin:0 0 .3em}
.wsb-slider .wsb-legend{display:flex;flex-wrap:wrap;gap:.1em 1em;margin:0 0 .3em}
.wsb-slider .wsb-legend svg{display:inline-block;width:30px;height:12px;
vertical-align:middle;margin-right:.35em}
.wsb-slider label{display:flex;flex-wrap:wrap;align-items:center;gap:.2em .7em}
.wsb-slider input{flex:1 1 10em;min-width:8em;height:1.8em;margin:0;
accent-color:#0b4f9e}
.wsb-slider input:focus-visible{outline:3px solid #0b4f9e;outline-offset:2px}
.wsb-slider output{font-weight:600;min-width:5em}
figure.wsb-slider figcaption{margin:.4em 0 0;font:inherit;color:#333;text-align:left}
@media (max-width:500px){.wsb-slider text{font-size:20px}}
"""

_SCRIPT = """
(function(){document.querySelectorAll('[data-wsb="KEY"]:not([data-ready])')
.forEach(function(box){box.setAttribute('data-ready','');
var data=JSON.parse(box.querySelector('script[type="application/json"]').textContent);
var input=box.querySelector('input'),out=box.querySelector('output');
var img=box.querySelector('img.wsb-frame');
var lines=box.querySelectorAll('polyline.wsb-frame');
function show(){var i=+input.value;out.textContent=data.labels[i];
input.setAttribute('aria-valuetext',data.labels[i]);
if(img){img.src=data.frames[i];img.alt=data.alt+', '+data.labels[i];}
else{lines.forEach(function(line,j){
line.setAttribute('points',data.frames[i][j]);});}}
input.addEventListener('input',show);input.value=data.start;show();});})();
"""


class SliderFigure:
    """A picture with a slider; notebooks and pages show it through its HTML.

    Made by :func:`slider_figure` and :func:`curve_slider`.
    """

    def __init__(self, html: str, labels: Iterable[str]) -> None:
        self._html = text("html", html)
        self.labels = tuple(several("labels", labels))

    def _repr_html_(self):
        return self._html

    def __repr__(self) -> str:
        first, last = self.labels[0], self.labels[-1]
        return f"<slider over {len(self.labels)} frames, {first} to {last}>"


def slider_figure(
    frames: Sequence[Figure] | Sequence[Lines],
    labels: Iterable[object],
    title: str,
    caption: str = "",
    slider_label: str = "frame",
    start: int = 0,
    xlabel: str = "",
    ylabel: str = "",
    fixed: Lines | None = None,
    equal: bool = False,
    view: tuple[tuple[float, float], tuple[float, float]] | None = None,
) -> SliderFigure:
    """A slider over frames computed beforehand.

    Parameters
    ----------
    frames : list
        Either matplotlib figures (embedded as small PNGs) or dicts that map a line's
        name to its points ``(x, y)``, each frame with the same names. Lines weigh
        far less; a widget above 300 kB is refused. A policy's line has the policy's
        style; so has a line named ``"policy: part"``, which the legend leaves out.
    labels : list of str
        What the slider says at each frame, e.g. ``"γ = 0.95"``.
    title, caption : str
        The caption states what the reader should see.
    slider_label : str
        What the slider moves.
    start : int
        The frame shown first, and the one shown without JavaScript.
    xlabel, ylabel : str
        Axis labels with units (lines only).
    fixed : dict, optional
        Lines that stay, as name to ``(x, y)`` (lines only).
    equal : bool
        One unit is as long on both axes (lines only).
    view : ((x0, x1), (y0, y1)), optional
        The part of the plane that is shown (lines only); lines are cut at its edge.
        Default: everything.

    Returns
    -------
    SliderFigure

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 5)
    >>> frames = [{"power": (x, x**k)} for k in (1, 2, 3)]
    >>> slider_figure(frames, ["1", "2", "3"], "Powers", slider_label="exponent")
    <slider over 3 frames, 1 to 3>
    """
    frames = several("frames", frames)
    labels = [str(label) for label in several("labels", labels)]
    _check_words(title=title, caption=caption, xlabel=xlabel, ylabel=ylabel)
    _check_words(slider_label=slider_label)
    equal, fixed = flag("equal", equal), {} if fixed is None else fixed
    if not frames:
        raise ValueError("frames must hold at least one frame, got none")
    if len(labels) != len(frames):
        raise ValueError(
            f"labels must have one entry per frame ({len(frames)}), got {len(labels)}"
        )
    start = integer("start", start, minimum=0)
    if start >= len(frames):
        raise ValueError(f"start must be below {len(frames)}, got {start}")
    if all(isinstance(frame, Figure) for frame in frames):
        data = [_png(figure) for figure in frames]
        alt = escape(f"{title}, {labels[start]}")
        picture = f'<img class="wsb-frame" src="{data[start]}" alt="{alt}">'
    else:
        labels_of_axes = xlabel, ylabel
        picture, data = _lines(frames, start, fixed, labels_of_axes, equal, view, title)
    return _widget(picture, data, labels, title, caption, slider_label, start)


def curve_slider(
    x: ArrayLike,
    curves_by_label: Mapping[Any, Curves],
    title: str,
    caption: str = "",
    slider_label: str = "parameter",
    xlabel: str = "",
    ylabel: str = "",
    fixed: Curves | None = None,
    start: int = 0,
) -> SliderFigure:
    """A slider over curves on one common x axis.

    Parameters
    ----------
    x : (n,) array
    curves_by_label : dict
        For each position of the slider, its label and the curve there: a (n,) array,
        or a dict of curve names to (n,) arrays.
    title, caption, slider_label, xlabel, ylabel : str
    fixed : dict, optional
        Curves that do not move, name to (n,) array.
    start : int
        The position shown first.

    Returns
    -------
    SliderFigure

    Examples
    --------
    >>> import numpy as np
    >>> age = np.arange(50)
    >>> curve_slider(
    ...     age,
    ...     {f"γ = {g}": g**age for g in (0.8, 0.9, 0.95)},
    ...     title="Weight of an observation",
    ...     slider_label="discount",
    ...     xlabel="age (rounds)",
    ...     ylabel="weight",
    ... )
    <slider over 3 frames, γ = 0.8 to γ = 0.95>
    """
    x = vector("x", x)
    if not isinstance(curves_by_label, dict) or not curves_by_label:
        raise ValueError(
            f"curves_by_label must map labels to curves, got {curves_by_label!r}"
        )

    def pairs(name, curves):
        if name == "fixed" and not isinstance(curves, dict):
            raise TypeError(f"fixed must map names to curves, got {curves!r}")
        curves = curves if isinstance(curves, dict) else {"": curves}
        return {
            key: (x, vector(f"{name} {key!r}", curve, len(x)))
            for key, curve in curves.items()
        }

    return slider_figure(
        [pairs("curves_by_label", curves) for curves in curves_by_label.values()],
        list(curves_by_label),
        title,
        caption,
        slider_label,
        start,
        xlabel,
        ylabel,
        pairs("fixed", {} if fixed is None else fixed),
    )


def _png(figure):
    """A matplotlib figure as a data URI; few colours keep it small."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    image = Image.open(buffer).convert("RGB").quantize(64)
    small = io.BytesIO()
    image.save(small, format="png", optimize=True)
    return "data:image/png;base64," + base64.b64encode(small.getvalue()).decode()


def _line_styles(names):
    """Colour and dash pattern by name: the policy's own where there is one."""
    styles, free = {}, 0
    for name in names:
        owner = name.partition(":")[0]
        if policy_name(owner) in STYLES:
            style = policy_style(owner)
            dash = style["linestyle"]
            dash = _DASHES[dash] if isinstance(dash, str) else _join(dash[1])
            styles[name] = style["color"], dash
        else:
            styles[name] = _COLORS[free % len(_COLORS)], ""
            free += 1
    return styles


def _is_part(name):
    """Whether a line is named "policy: part"."""
    owner, colon, _ = name.partition(":")
    return bool(colon) and policy_name(owner) in STYLES


def _join(numbers):
    return " ".join(str(number) for number in numbers)


def _check_lines(name, lines):
    if not isinstance(lines, dict) or not lines:
        raise TypeError(
            f"{name} must be a matplotlib Figure or map line names to (x, y), "
            f"got {lines!r}"
        )
    checked = {}
    for key, line in lines.items():
        text(f"{name}, the name of a line,", key)
        if not (isinstance(line, tuple | list | np.ndarray) and len(line) == 2):
            raise TypeError(f"{name} {key!r} must be a pair (x, y), got {line!r}")
        x = vector(f"{name} {key!r} x", line[0])
        checked[key] = x, vector(f"{name} {key!r} y", line[1], len(x))
    return checked


def _check_words(**given):
    for name, words in given.items():
        text(name, words)


def _limits(values, pad):
    low = min(float(v.min()) for v in values)
    high = max(float(v.max()) for v in values)
    if not np.isfinite(2.0 * (high - low)):
        raise ValueError(
            f"lines and frames must span what a double holds, got {low} to {high}"
        )
    if low == high:
        low, high = low - 0.5, high + 0.5
    return low - pad * (high - low), high + pad * (high - low)


def _scales(lines, equal):
    """Data limits of both axes, the same for every frame so that nothing jumps."""
    (x0, x1) = _limits([x for x, _ in lines], 0.04 if equal else 0.0)
    (y0, y1) = _limits([y for _, y in lines], 0.04)
    if equal:
        width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        unit = max((x1 - x0) / width, (y1 - y0) / height)
        x_mid, y_mid = (x0 + x1) / 2, (y0 + y1) / 2
        x0, x1 = x_mid - unit * width / 2, x_mid + unit * width / 2
        y0, y1 = y_mid - unit * height / 2, y_mid + unit * height / 2
    return x0, x1, y0, y1


def _points(x, y, limits):
    """The points attribute of a polyline, in tenths of a pixel, without repeats."""
    x0, x1, y0, y1 = limits
    across = _LEFT + (x - x0) / (x1 - x0) * (_WIDTH - _LEFT - _RIGHT)
    down = _TOP + (y1 - y) / (y1 - y0) * (_HEIGHT - _TOP - _BOTTOM)
    places = np.round(np.column_stack([across, down]), 1)
    keep = np.r_[True, (np.diff(places, axis=0) != 0).any(axis=1)]
    return " ".join(f"{a:g},{b:g}" for a, b in places[keep])


def _axes_svg(limits, xlabel, ylabel):
    x0, x1, y0, y1 = limits
    right, floor = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    marks = []
    for value in _TICKS.tick_values(x0, x1):
        if x0 <= value <= x1:
            at = _LEFT + (value - x0) / (x1 - x0) * (right - _LEFT)
            marks.append(
                f'<path d="M{at:.1f} {_TOP}V{floor}" stroke="#e4e4e4"/>'
                f'<text x="{at:.1f}" y="{floor + 24}" text-anchor="middle">'
                f"{_number(value)}</text>"
            )
    for value in _TICKS.tick_values(y0, y1):
        if y0 <= value <= y1:
            at = _TOP + (y1 - value) / (y1 - y0) * (floor - _TOP)
            marks.append(
                f'<path d="M{_LEFT} {at:.1f}H{right}" stroke="#e4e4e4"/>'
                f'<text x="{_LEFT - 6}" y="{at + 5:.1f}" text-anchor="end">'
                f"{_number(value)}</text>"
            )
    middle, centre = (_LEFT + right) / 2, (_TOP + floor) / 2
    return "".join(marks) + (
        f'<path d="M{_LEFT} {_TOP}V{floor}H{right}" fill="none" stroke="#444"/>'
        f'<text x="{middle}" y="{_HEIGHT - 10}" text-anchor="middle">'
        f"{escape(xlabel)}</text>"
        f'<text transform="translate(24 {centre}) rotate(-90)" text-anchor="middle">'
        f"{escape(ylabel)}</text>"
    )


def _number(value):
    return f"{round(value, 10):g}".replace("-", "−")


def _polyline(points, style, frame):
    color, dash = style
    kind = ' class="wsb-frame"' if frame else ""
    dash = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<polyline{kind} points="{points}" fill="none" stroke="{color}" '
        f'stroke-width="2.2" stroke-linejoin="round"{dash}/>'
    )


def _legend(styles):
    if not any(styles):
        return ""
    entries = "".join(
        f'<span><svg viewBox="0 0 30 12" aria-hidden="true">'
        f"{_polyline('0,6 30,6', style, False)}</svg>{escape(name)}</span>"
        for name, style in styles.items()
        if name and not _is_part(name)
    )
    return f'<div class="wsb-legend">{entries}</div>'


def _window(view):
    """The corners of a view as a line, from which the limits follow."""
    sides = several("view", view, "((x0, x1), (y0, y1))")
    if len(sides) != 2:
        raise ValueError(f"view must be ((x0, x1), (y0, y1)), got {view!r}")
    (x0, x1), (y0, y1) = (vector("view", side, 2) for side in sides)
    if not (x0 < x1 and y0 < y1):
        raise ValueError(f"view must be ((x0, x1), (y0, y1)) in order, got {view!r}")
    return np.array([x0, x1]), np.array([y0, y1])


def _cut(lines):
    """Lines inside the axes only: an inner SVG shows nothing outside itself."""
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    return (
        f'<svg x="{_LEFT}" y="{_TOP}" width="{width}" height="{height}" '
        f'viewBox="{_LEFT} {_TOP} {width} {height}" '
        f'style="width:{width}px;height:{height}px;background:none;overflow:hidden">'
        f"{lines}</svg>"
    )


def _lines(frames, start, fixed, labels, equal, view, title):
    """The SVG of the starting frame, and the points of every frame."""
    frames = [_check_lines(f"frames[{i}]", frame) for i, frame in enumerate(frames)]
    if not isinstance(fixed, dict) or fixed:  # there need not be any
        fixed = _check_lines("fixed", fixed)
    names = list(frames[0])
    for i, frame in enumerate(frames):
        if list(frame) != names:
            raise ValueError(
                f"frames[{i}] must have the lines {names}, got {list(frame)}"
            )
    every = [line for frame in (*frames, fixed) for line in frame.values()]
    limits = _scales(every if view is None else [_window(view)], equal)
    styles = _line_styles(names)
    # What stays is the reference: thin, dark and broken.
    resting = {name: ("#333333", "3 3") for name in fixed}
    data = [[_points(*frame[name], limits) for name in names] for frame in frames]
    still = [
        _polyline(_points(*line, limits), resting[name], False)
        for name, line in fixed.items()
    ]
    moving = [
        _polyline(points, styles[name], True)
        for name, points in zip(names, data[start], strict=True)
    ]
    drawn = "".join(still) + "".join(moving)
    svg = (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{escape(title)}">{_axes_svg(limits, *labels)}'
        f"{drawn if view is None else _cut(drawn)}</svg>"
    )
    return _legend(styles | resting) + svg, data


class StillFigure:
    """A picture as text, with what a live page makes of it.

    Made by :func:`still_figure` and :func:`drawn_guess`.

    Examples
    --------
    >>> figure = still_figure({"line": ([0, 1], [0, 1])}, "A line")
    >>> figure.title
    'A line'
    """

    def __init__(self, html: str, title: str) -> None:
        self._html, self.title = text("html", html), text("title", title)

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return f"<figure {self.title!r}>"


def still_figure(
    lines: Lines,
    title: str,
    caption: str = "",
    xlabel: str = "",
    ylabel: str = "",
    fixed: Lines | None = None,
    equal: bool = False,
) -> StillFigure:
    """Lines in a small picture for a page, drawn like a figure with a slider.

    Parameters
    ----------
    lines : dict
        A line's name to its points ``(x, y)``; a policy's line has the policy's style.
    title, caption, xlabel, ylabel, fixed, equal
        As for :func:`slider_figure`.

    Returns
    -------
    StillFigure

    Examples
    --------
    >>> still_figure({"line": ([0, 1], [0, 1])}, "A line", xlabel="x", ylabel="y")
    <figure 'A line'>
    """
    _check_words(title=title, caption=caption, xlabel=xlabel, ylabel=ylabel)
    labels, fixed = (xlabel, ylabel), {} if fixed is None else fixed
    lines = _check_lines("lines", lines)
    picture, _ = _lines([lines], 0, fixed, labels, flag("equal", equal), None, title)
    words = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    html = (
        f'<style>{_CSS}</style><figure class="wsb-slider">'
        f'<div class="wsb-title">{escape(title)}</div>{picture}{words}</figure>'
    )
    return StillFigure(html, title)


def drawn_guess(
    x: ArrayLike,
    curve: Mapping[str, ArrayLike],
    question: str,
    answer: str = "",
    xlabel: str = "",
    ylabel: str = "",
    given: Mapping[str, ArrayLike] | None = None,
) -> StillFigure:
    """A question whose answer is a curve: the reader draws one, then the page shows it.

    On a live page the reader draws with a pointer, a finger or the arrow keys. Where
    nothing is live (print, a notebook, no JavaScript), the answer stands there.

    Parameters
    ----------
    x : (n,) array
        Where the curve is known.
    curve : dict
        One name and its (n,) values: what is to be guessed.
    question, answer : str
        What is asked, and what the page says when it shows the curve.
    xlabel, ylabel : str
        Axis labels with units.
    given : dict, optional
        Curves that are shown from the beginning.

    Returns
    -------
    StillFigure

    Examples
    --------
    >>> drawn_guess([0, 1, 2], {"square": [0, 1, 4]}, "Draw the square.")
    <figure 'Draw the square.'>
    """
    x = vector("x", x)
    if not (x.size > 1 and (np.diff(x) > 0).all()):
        raise ValueError(f"x must be two or more increasing numbers, got {x}")
    _check_words(question=question, answer=answer, xlabel=xlabel, ylabel=ylabel)
    curves = _named_curves("curve", curve, x.size)
    if len(curves) != 1:
        raise ValueError(f"curve must hold one curve, got {list(curves)}")
    ((name, y),) = curves.items()
    known = _named_curves("given", {} if given is None else given, x.size)
    top = max(float(v.max()) for v in (y, *known.values()))
    low = min(0.0, *(float(v.min()) for v in (y, *known.values())))
    data = {
        "x": _short(x),
        "y": _short(y),
        "name": name,
        "given": {key: _short(v) for key, v in known.items()},
        "limits": [float(x[0]), float(x[-1]), 1.15 * low, 1.15 * top],
        "question": question,
        "answer": answer,
        "xlabel": xlabel,
        "ylabel": ylabel,
    }
    fixed = {key: (x, v) for key, v in known.items()}
    labels = {"caption": answer, "xlabel": xlabel, "ylabel": ylabel}
    still = still_figure({name: (x, y)}, question, fixed=fixed, **labels)
    text = escape(json.dumps(data, ensure_ascii=False))
    html = (
        f'<div class="wsbnb-live" data-live="draw" data-curve="{text}">'
        f"{still._repr_html_()}</div>"
    )
    return StillFigure(html, question)


def _named_curves(argument, curves, count):
    """Checked values by name."""
    if not isinstance(curves, Mapping):
        raise TypeError(f"{argument} must map names to curves, got {curves!r}")
    return {
        text(f"{argument}, the name of a curve,", name): vector(
            f"{argument}[{name!r}]", values, count
        )
        for name, values in curves.items()
    }


def _short(values):
    return [float(f"{v:.4g}") for v in values]


def glue(name: str, value: Any) -> None:
    """Hand a number or a word of a notebook to the text of its page.

    The page shows it wherever its source has a ``glue:text`` role with this name. It is
    the `glue` of myst-nb, without the seconds that the import of that one takes.

    Parameters
    ----------
    name : str
        How the text calls it; each name once in a book.
    value : number or str
        As plain Python has it: the page cannot format NumPy's scalars.

    Examples
    --------
    Nothing is shown; outside a notebook nothing happens at all:

    >>> from wsbnb import interactive
    >>> interactive.glue("answer", 42)
    """
    from IPython import get_ipython
    from IPython.display import display

    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {name!r}")
    if get_ipython() is None:
        return
    record = {f"{_RECORD}text/plain": repr(value)}
    metadata = {"scrapbook": {"name": name, "mime_prefix": _RECORD}}
    display(record, raw=True, metadata=metadata)


def _widget(picture, data, labels, title, caption, slider_label, start):
    payload = {"labels": labels, "frames": data, "alt": title, "start": start}
    # "</" would end the script element early.
    text = json.dumps(payload, ensure_ascii=False).replace("</", "<\\/")
    key = hashlib.sha256((title + text).encode()).hexdigest()[:12]
    caption = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    html = (
        f'<style>{_CSS}</style><figure class="wsb-slider" data-wsb="{key}">'
        f'<div class="wsb-title">{escape(title)}</div>{picture}'
        f"<label><span>{escape(slider_label)}</span>"
        f'<input type="range" min="0" max="{len(labels) - 1}" step="1" '
        f'value="{start}" aria-valuetext="{escape(labels[start])}" '
        f'aria-label="{escape(slider_label)}">'
        f"<output>{escape(labels[start])}</output></label>{caption}"
        f'<script type="application/json">{text}</script></figure>'
        f"<script>{_SCRIPT.replace('KEY', key)}</script>"
    )
    if len(html.encode()) > _MAX_BYTES:
        raise ValueError(
            f"frames make a widget of {len(html.encode()) // 1000} kB; at most "
            f"{_MAX_BYTES // 1000} kB allowed: use fewer frames or fewer points"
        )
    return SliderFigure(html, labels)
