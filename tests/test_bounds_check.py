"""The checks that only the bounds need, one by one."""

from types import SimpleNamespace

import numpy as np
import pytest

from wsbnb.bounds import _check


def test_a_number_stays_a_number_and_a_list_becomes_an_array():
    for value in (2.5, 0.0, np.float64(2.5), np.array(2.5)):
        assert type(_check.nonnegative_values("x", value)) is float
    for values in ([2.5, 0.0], (2.5,), np.array([1, 2]), []):
        found = _check.nonnegative_values("x", values)
        assert type(found) is np.ndarray and found.tolist() == list(values)
    for value in (-1e-9, [1.0, -1e-9], np.array(-1.0)):
        with pytest.raises(ValueError, match="x must be zero or positive, got -1"):
            _check.nonnegative_values("x", value)
    for ragged in ([[1, 2], [3]], ([1], 2.0)):
        with pytest.raises(TypeError, match="x must be an array"):
            _check.nonnegative_values("x", ragged)


def test_whole_numbers():
    for value in (3, 3.0, np.int64(3), np.array(3)):
        found = _check.round_numbers("t", value, 3)
        assert type(found) is float and found == 3.0
    found = _check.round_numbers("t", [3, 5], 3)
    assert found.dtype == np.float64 and found.tolist() == [3.0, 5.0]
    assert _check.round_numbers("t", np.array([], dtype=int), 3).size == 0
    for value in (2, [3, 2]):
        with pytest.raises(ValueError, match="t must be at least 3, got 2"):
            _check.round_numbers("t", value, 3)
    for value in (3.5, [3.0, 4.0]):
        with pytest.raises(TypeError, match="t must .*whole number"):
            _check.round_numbers("t", value, 3)
    with pytest.raises(TypeError, match="t must be an array"):
        _check.round_numbers("t", [[3], [4, 5]], 3)


def test_rows_may_be_none_but_columns_must_be():
    for cols in (1, 3):
        assert _check.rows("X", np.empty((0, cols))).shape == (0, cols)
        assert _check.rows("X", np.empty((0, cols)), cols=cols).shape == (0, cols)
        with pytest.raises(ValueError, match="X must have 2 columns, got shape"):
            _check.rows("X", np.empty((0, cols)), cols=2)
    assert _check.rows("X", [[1, 2]], cols=2).tolist() == [[1.0, 2.0]]
    for wrong in (np.empty((0, 0)), np.empty((2, 0)), np.empty(0), np.ones(3), 1.0):
        with pytest.raises(ValueError, match="X must be a non-empty matrix"):
            _check.rows("X", wrong)
    for wrong in (np.ones((2, 3)), np.ones((1, 1))):
        with pytest.raises(ValueError, match="X must have 2 columns"):
            _check.rows("X", wrong, cols=2)


def test_values_by_row():
    assert _check.row_values("r", [], 0).shape == (0,)
    assert _check.row_values("r", [1, 2], 2).tolist() == [1.0, 2.0]
    for value, length in (([1.0], 0), ([], 1), ([1.0, 2.0], 1), ([[1.0]], 1)):
        with pytest.raises(ValueError, match="r must"):
            _check.row_values("r", value, length)


def test_weights():
    assert _check.weight_row("w", [0.0, 0.5, 1.0], 3).tolist() == [0.0, 0.5, 1.0]
    for bad in (-1e-9, 1.0 + 1e-9, 1.5):
        with pytest.raises(ValueError, match=rf"w must lie in \[0, 1\], got {bad}"):
            _check.weight_row("w", [0.5, bad], 2)
    table = np.tril(np.full((3, 3), 0.5))
    assert (_check.weight_matrix("w", table) == table).all()
    for bad in (-0.1, 1.1):
        with pytest.raises(ValueError, match=rf"w must lie in \[0, 1\], got {bad}"):
            _check.weight_matrix("w", np.array([[1.0, 0.0], [bad, 1.0]]))
    for shape in ((2, 3), (3, 2)):
        with pytest.raises(ValueError, match="w must be square"):
            _check.weight_matrix("w", np.zeros(shape))
    with pytest.raises(ValueError, match="w must have 2 rows"):
        _check.weight_matrix("w", table, size=2)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        wrong = table.copy()
        wrong[i, j] = 0.1
        with pytest.raises(ValueError, match="w must be lower triangular"):
            _check.weight_matrix("w", wrong)


def test_exactly_one():
    for given in ((1, None, None), (None, 0, None), (None, None, ())):
        _check.exactly_one(**dict(zip("abc", given)))
    with pytest.raises(ValueError, match="one of a and b, got neither"):
        _check.exactly_one(a=None, b=None)
    with pytest.raises(ValueError, match="one of a and b and c, got a, c"):
        _check.exactly_one(a=1, b=None, c=2)


def test_the_longest_arm():
    _check.arms_within_bound(np.empty((0, 2)), 0.5)
    _check.arms_within_bound(np.array([[0.6, -0.8], [0.1, 0.0]]), 1.0)
    _check.arms_within_bound(np.array([[1.0 + 1e-9]]), 1.0)  # to the last bit
    for length in (1.0 + 1.5e-9, 1.1, 1.9):
        with pytest.raises(ValueError, match="arm_bound must be at least the longest"):
            _check.arms_within_bound(np.array([[0.0, 0.1], [0.0, -length]]), 1.0)
    with pytest.raises(ValueError, match="longest arm, 0.5, got 0.3"):
        _check.arms_within_bound(np.array([[0.3, 0.4]]), 0.3)


def returning(value, infinite=False):
    @_check.within_range(infinite=infinite)
    def function(size=1.0, other=None):
        if isinstance(value, Exception):
            raise value
        return value

    return function


@pytest.mark.parametrize("wrap", [float, np.float64, np.atleast_1d, "part", "tuple"])
def test_numbers_that_do_not_fit_are_refused(wrap):
    """As they are, in an array, in a tuple, and as a field of what is returned."""
    for number, fits, fits_if_infinite in (
        (1.0, True, True),
        (np.inf, False, True),
        (-np.inf, False, True),
        (np.nan, False, False),
    ):
        if wrap == "part":
            value = SimpleNamespace(fine=0.0, part=number)
        else:
            value = (0.0, number) if wrap == "tuple" else wrap(number)
        for infinite, allowed in ((False, fits), (True, fits_if_infinite)):
            call = returning(value, infinite)
            if allowed:
                assert call(3.0) is value
                continue
            words = "size must be less extreme: function does not fit"
            with pytest.raises(ValueError, match=words):
                call(3.0)


@pytest.mark.parametrize("error", [OverflowError(), np.linalg.LinAlgError()])
def test_arithmetic_that_fails_is_refused_in_words(error):
    for infinite in (False, True):
        with pytest.raises(ValueError, match="size must be less extreme"):
            returning(error, infinite)(3.0)
    with pytest.raises(KeyError):
        returning(KeyError())(3.0)


def test_the_most_extreme_arguments_are_named():
    """Zeros and words are not extreme; half as many digits still are."""
    given = {"a": -1e300, "b": 1e150, "c": 0.0, "d": "x", "e": None, "f": True}
    said = _check._too_extreme("f", given | {"g": [0.0, 1e-160], "h": 1e100})
    assert said.startswith("a and b and g must be less extreme: f does not fit")
    assert said.endswith("got a=-1e+300, b=1e+150, g=[0.0, 1e-160]")
    said = _check._too_extreme("f", {"a": [1e300] * 40})
    assert said.endswith(f"got a={[1e300] * 40!r}"[: 60 + len("got ")])
    assert _check._too_extreme("f", {"d": "x"}).startswith(" must be")


def test_a_quotient_keeps_its_digits_or_is_refused():
    tiny = np.finfo(float).tiny
    assert _check.quotient(3.0, 2.0) == 1.5 and _check.quotient(3.0, 2.0, 2) == 2.25
    assert _check.quotient(0.0, 1e300, 2) == 0.0  # nothing is no loss
    assert _check.quotient(tiny, 1.0) == tiny and _check.quotient(0.5, 1.0) == 0.5
    for top, bottom, power in (
        (tiny, 1.1, 1), (1e-170, 1.0, 2), (1.0, 1e170, 2), (1e200, 1e-200, 1)
    ):  # fmt: skip
        with pytest.raises(OverflowError):
            _check.quotient(top, bottom, power)
