"""The library seen from above: who imports whom, and which way a call takes."""

import ast
import os
import pathlib
import subprocess
import sys
from typing import Any

import wsbnb

PACKAGE = pathlib.Path(wsbnb.__file__).parent

# Where each room stands in the picture: (column, row). Imports go from right to left.
PLACES = {
    "kernels": (0.0, 1),
    "weights": (1.0, 2),
    "posterior": (1.9, 1),
    "exploration": (2.4, 2),
    "bounds": (3.2, 0),
    "policies": (3.8, 1),
    "environments": (4.6, 0),
    "adaptive": (5.2, 2),
    "results": (5.9, 0),
    "simulation": (6.6, 1),
    "fitting": (3.8, 2.7),
    "replaying": (8.0, 0),
    "paper": (8.0, 1.6),
}

# Carried out in a process of its own, as plain Python, so that the kernels leave
# traces too. Only calls count; the code that runs while a module loads does not.
_TRACER = """
import sys
import wsbnb
{before}
seen = []
def look(frame, event, argument):
    path = frame.f_code.co_filename
    if event == "call" and frame.f_code.co_name != "<module>" and {package!r} in path:
        name = path.partition({package!r})[2].lstrip("/\\\\").replace("\\\\", "/")
        if name not in seen:
            seen.append(name)
sys.setprofile(look)
{code}
sys.setprofile(None)
print(*seen)
"""


def imports() -> dict[str, set[str]]:
    """The rooms that each room imports.

    A room is a module or a folder of the package. Foundations (`_validate` and the
    like), doors and what only draws are left out.

    Returns
    -------
    dict
        Room to the set of rooms that it imports.

    Examples
    --------
    >>> sorted(imports()["posterior"])
    ['kernels', 'weights']
    """
    found: dict[str, set[str]] = {room: set() for room in PLACES}
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if room in found:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found[room] |= set(_rooms_in(tree)) - {room}
    return found


def _rooms_in(tree):
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not node.module:
            continue
        first, _, rest = node.module.partition(".")
        names = [rest] if rest else [alias.name for alias in node.names]
        if first == "wsbnb":
            yield from (n.split(".")[0] for n in names if n.split(".")[0] in PLACES)


def walk(code: str, before: str = "") -> list[str]:
    """The files of the package that some code passes through, in order.

    Parameters
    ----------
    code : str
        Python code; `wsbnb` is imported.
    before : str, optional
        Code to prepare it, whose way is not counted.

    Returns
    -------
    list of str
        Files relative to the package, in the order of their first call.
    """
    script = _TRACER.format(code=code, before=before, package=str(PACKAGE))
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def draw_rooms(ax: Any, way: list[str] | None = None) -> None:
    """Draw rooms and imports; number the rooms on a way in their order.

    An import is not drawn if a longer way of imports leads to the same room.

    Parameters
    ----------
    ax : matplotlib Axes
    way : list of str, optional
        Files as from :func:`walk`.
    """
    order = dict.fromkeys(name.split("/")[0].removesuffix(".py") for name in way or [])
    steps = {room: i + 1 for i, room in enumerate(r for r in order if r in PLACES)}
    for room, others in _direct(imports()).items():
        for other in others:
            _arrow(ax, PLACES[room], PLACES[other])
    for room, (x, y) in PLACES.items():
        face = "#ffe3b3" if room in steps else "white"
        ax.text(
            x, y, room, ha="center", va="center", fontsize=9.5, zorder=3,
            bbox={"boxstyle": "round,pad=0.45", "facecolor": face, "edgecolor": "0.3"},
        )  # fmt: skip
        if room in steps:
            ax.text(
                x, y + 0.32, str(steps[room]), ha="center", va="center", zorder=4,
                fontsize=9.5, color="white",
                bbox={"boxstyle": "circle,pad=0.22", "color": "#0072b2"},
            )  # fmt: skip
    ax.set_xlim(-0.5, 8.5)
    ax.set_ylim(-0.4, 3.0)
    ax.axis("off")


def _direct(graph):
    """The graph without the edges that follow from others."""

    def reached(room):
        return set().union(*({o} | reached(o) for o in graph[room]))

    return {
        room: others - set().union(*(reached(other) for other in others))
        for room, others in graph.items()
    }


def _arrow(ax, start, end):
    ax.annotate(
        "", xy=end, xytext=start, zorder=1,
        arrowprops={
            "arrowstyle": "-|>", "color": "0.6", "shrinkA": 16, "shrinkB": 24,
            "linewidth": 0.9,
        },
    )  # fmt: skip
