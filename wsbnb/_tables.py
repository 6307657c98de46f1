"""Frames: checked where they come in, and as tables for the page."""

import re
import zlib
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from wsbnb._validate import choice, integer, text


def checked_frame(
    name: str, frame: Any, columns: Sequence[str], numbers: Sequence[str] = ()
) -> pd.DataFrame:
    """A DataFrame that has some columns, and in some of them numbers."""
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"{name} must be a pandas DataFrame, got {frame!r}")
    needed = [*columns, *numbers]
    missing = [column for column in needed if column not in frame.columns]
    if missing:
        raise ValueError(
            f"{name} needs the columns {', '.join(needed)}; missing "
            f"{', '.join(missing)}, got {', '.join(map(str, frame.columns))}"
        )
    for column in numbers:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            raise TypeError(f"{name} must have numbers in the column {column}")
    return frame


def filled_frame(
    name: str, frame: Any, columns: Sequence[str], numbers: Sequence[str] = ()
) -> pd.DataFrame:
    """The same, with at least one row."""
    if checked_frame(name, frame, columns, numbers).empty:
        raise ValueError(f"{name} must have at least one row, got none")
    return frame


def _in_words(precision: int) -> Any:
    """A function that writes an entry of a table: numbers rounded, zero unsigned."""

    def write(entry: Any) -> str:
        if not isinstance(entry, float):  # whole numbers and words as they are
            return str(entry)
        if np.isnan(entry):
            return "–"
        text = f"{entry:.{precision}f}"
        return text.removeprefix("-") if float(text) == 0 else text

    return write


def _holds_words(column: pd.Series) -> bool:
    """Whether most entries of a column are words, not numbers, numbers as text too."""
    return bool(column.map(lambda e: bool(re.match(r"[^\W\d]", str(e)))).mean() > 0.5)


def _words_to_the_left(frame: pd.DataFrame) -> list[Any]:
    """Styles for the columns of words: numbers stand in line at the right."""
    words = [
        place
        for place in range(frame.shape[1])
        if not pd.api.types.is_numeric_dtype(frame.dtypes.iloc[place])
        and _holds_words(frame.iloc[:, place])
    ]
    left = [("text-align", "left")]
    return [{"selector": f".col{place}", "props": left} for place in words]


def styled_table(
    frame: pd.DataFrame | pd.Series,
    caption: str | None = None,
    precision: int = 1,
    best: Literal["min", "max"] | None = None,
) -> Any:
    """A frame as a table for the page (needs jinja2, which the book installs).

    Parameters
    ----------
    frame : DataFrame or Series
        A series is a table of one column.
    caption : str, optional
        The book puts a number before it.
    precision : int
        Digits after the point. What rounds to zero has no sign. Columns of words are
        set to the left, all others to the right.
    best : {"min", "max", None}
        Set the best number of each column in bold.

    Returns
    -------
    pandas Styler

    Examples
    --------
    >>> import pandas as pd
    >>> table = styled_table(pd.DataFrame({"regret": [1.25, 3.0]}), best="min")
    >>> "font-weight: bold" in table.to_html()
    True
    """
    if not isinstance(frame, pd.DataFrame | pd.Series):
        raise TypeError(f"frame must be a pandas DataFrame or Series, got {frame!r}")
    choice("best", best, ("min", "max", None))
    precision = integer("precision", precision, minimum=0, maximum=300)
    if caption is not None:
        text("caption", caption)
    frame = pd.DataFrame(frame)
    # A fixed uuid: otherwise the page differs from build to build.
    number = zlib.crc32(f"{caption}{frame.to_csv()}".encode())
    table = frame.style.format(_in_words(precision)).set_uuid(f"t{number:08x}")
    table = table.set_table_attributes('class="dataframe"')
    table = table.set_table_styles(_words_to_the_left(frame))
    if best:
        numbers = list(frame.select_dtypes("number").columns)
        mark = table.highlight_min if best == "min" else table.highlight_max
        table = mark(subset=numbers, props="font-weight: bold")
    return table if caption is None else table.set_caption(caption)
