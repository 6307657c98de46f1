"""Weight rules: values by hand, closed forms against sums, conditions by loops."""

import functools
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wsbnb.weights import (
    CustomWeights,
    Exponential,
    Polynomial,
    RandomWalk,
    Restart,
    SlidingWindow,
    WeightRule,
    multiplicatively_consistent,
    nondecreasing_in_s,
)

RULES = [
    Exponential(0.9),
    Exponential(1.0),
    Exponential(1e-200),
    SlidingWindow(1),
    SlidingWindow(4),
    SlidingWindow(100),
    Restart(1),
    Restart(5),
    Restart(100),
    Polynomial(0.0),
    Polynomial(1.5),
    Polynomial(0.3),
    Polynomial(1.5, of="round"),
    Polynomial(7.0, of="round"),
]


def by_loop(rule, T):
    """The two conditions read off the paper, one weight at a time."""
    w = {(s, t): float(rule(s, t)) for t in range(1, T + 1) for s in range(1, t + 1)}
    nondecreasing = all(
        w[s - 1, t] <= w[s, t] + 1e-14 for t in range(1, T + 1) for s in range(2, t + 1)
    )
    consistent = all(
        w[s, t] >= w[t - 1, t] * w[s, t - 1] - 1e-14
        for t in range(2, T + 1)
        for s in range(1, t)
    )
    return nondecreasing, consistent


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("T", [1, 2, 3, 4, 5, 6, 17])
def test_analytic_conditions_match_brute_force(rule, T):
    nondecreasing, consistent = by_loop(rule, T)
    assert rule.is_nondecreasing(T) == nondecreasing
    assert rule.is_consistent(T) == consistent
    assert rule.is_admissible(T) == (nondecreasing and consistent)
    assert 0.0 <= rule.matrix(T).min() and rule.matrix(T).max() <= 1.0


def test_for_ever_is_the_limit_of_finite_answers():
    for rule in RULES:
        assert rule.is_consistent() == by_loop(rule, 110)[1]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_row_matrix_and_sums_agree(rule):
    T = 12
    matrix = rule.matrix(T)
    np.testing.assert_array_equal(matrix, np.tril(matrix))
    for t in range(T + 1):
        row = rule.row(t)
        assert row.shape == (t,)
        if t:
            np.testing.assert_array_equal(matrix[t - 1, :t], row)
            one_by_one = [rule(s, t) for s in range(1, t + 1)]
            # NumPy's power of an array may differ from a number's in the last bit.
            np.testing.assert_allclose(row, one_by_one, rtol=4.5e-16, atol=0)
        assert rule.sum(t) == pytest.approx(row.sum(), rel=1e-14, abs=0)
        assert rule.squared_sum(t) == pytest.approx((row**2).sum(), rel=1e-14, abs=0)


def test_geometric_sum_is_accurate_near_one():
    t, gamma = 4000, 1 - 1e-9
    terms = gamma ** (2.0 * np.arange(t))
    assert Exponential(gamma).squared_sum(t) == pytest.approx(
        np.sort(terms).sum(), rel=1e-12
    )
    with localcontext(prec=60):  # the square of this one is no double
        gamma, t = 1 - 2.0**-30 - 2.0**-50, 2**31
        square = Decimal(gamma) ** 2
        exact = float((1 - square**t) / (1 - square))
    assert Exponential(gamma).squared_sum(t) == pytest.approx(exact, rel=1e-15)


def test_which_rules_the_kernels_know():
    """All that need no more than a bounded memory."""
    for rule in (*RULES, CustomWeights(lambda s, t: s / t)):
        assert (rule.compiled() is not None) == rule.streaming


@pytest.mark.parametrize("rule", [r for r in RULES if r.memory == 0], ids=repr)
def test_one_step_factor_reproduces_the_rows(rule):
    row = np.array([])
    for t in range(1, 20):
        row = np.append(rule.factor(t) * row, 1.0)
        np.testing.assert_allclose(row, rule.row(t), rtol=1e-13)
    assert rule.streaming


def test_memory():
    walk = RandomWalk(0.1)
    for rule in (Exponential(0.9), Restart(3), Polynomial(1.5, of="round"), walk):
        assert rule.memory == 0 and rule.streaming
    assert SlidingWindow(7).memory == 7 and SlidingWindow(7).streaming
    for rule in (Polynomial(1.0), CustomWeights(lambda s, t: s / t)):
        assert rule.memory is None and not rule.streaming
        with pytest.raises(ValueError, match="of a rule that is a recursion"):
            rule.factor(3)
    with pytest.raises(ValueError, match="of a rule that is a recursion"):
        SlidingWindow(7).factor(3)


def test_whole_floats_are_whole_numbers():
    assert SlidingWindow(1e3) == SlidingWindow(1000)
    assert type(Restart(1e3).period) is int


def test_half_floats_are_whole_numbers_and_times_are_none():
    """2**53 is infinity for a float16, and the comparison would warn."""
    assert SlidingWindow(np.float16(3)).length == 3
    with pytest.raises(TypeError, match="length must be a whole number, got np.timed"):
        SlidingWindow(np.timedelta64(3, "s"))


@pytest.mark.parametrize(
    "make, given, kind",
    [
        (Exponential, np.float32(0.5), float),
        (Exponential, 1, float),
        (SlidingWindow, np.int64(2), int),
        (Restart, 2.0, int),
        (Polynomial, 2, float),
        (RandomWalk, 1, float),
    ],
)
def test_settings_become_plain_numbers(make, given, kind):
    """They are printed and saved, and each kind would be compiled for anew."""
    (setting, *_) = vars(make(given)).values()
    assert type(setting) is kind


def test_a_rule_of_your_own_must_say_its_weights():
    with pytest.raises(NotImplementedError):
        WeightRule().row(3)


def test_values_by_hand():
    np.testing.assert_allclose(Exponential(0.5).row(3), [0.25, 0.5, 1.0])
    np.testing.assert_array_equal(SlidingWindow(2).row(3), [0, 1, 1])
    np.testing.assert_array_equal(Restart(2).row(3), [0, 0, 1])
    np.testing.assert_array_equal(Restart(2).row(4), [0, 0, 1, 1])
    np.testing.assert_allclose(Polynomial(2.0).row(3), [1 / 9, 1 / 4, 1])
    np.testing.assert_allclose(Polynomial(2.0, of="round").row(3), [1 / 9, 4 / 9, 1])


@given(st.floats(0.01, 1.0), st.integers(1, 30))
def test_custom_check_agrees_with_the_known_rule(gamma, T):
    custom = CustomWeights(lambda s, t: gamma ** (t - s).astype(float))
    assert custom.is_admissible(T)
    np.testing.assert_allclose(custom.matrix(T), Exponential(gamma).matrix(T))


def test_custom_check_can_say_no():
    window = CustomWeights(lambda s, t: (t - s < 3).astype(float))
    assert window.is_consistent(3) and not window.is_consistent(4)
    older_counts_more = CustomWeights(lambda s, t: 1.0 / s)
    assert not older_counts_more.is_nondecreasing(2)
    assert older_counts_more.is_nondecreasing(1)
    assert not older_counts_more.is_admissible(2)


@pytest.mark.parametrize("excess, allowed", [(1e-12, True), (1.5e-12, False)])
def test_conditions_forgive_rounding_and_no_more(excess, allowed):
    assert nondecreasing_in_s([[1.0, 0.0], [excess, 0.0]]) == allowed
    fading = [[1.0, 0.0, 0.0], [excess, 1.0, 0.0], [0.0, 1.0, 1.0]]
    assert multiplicatively_consistent(fading) == allowed


def test_consistency_is_asked_of_every_round():
    """Here of the second alone: w_24 = 0.1 is less than w_34 w_23."""
    rows = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0.9, 1, 0], [0, 0.1, 0.9, 1]]
    assert not multiplicatively_consistent(rows)
    rows[3][1] = 0.81
    assert multiplicatively_consistent(rows)


@pytest.mark.parametrize("wrong", [1.5, -0.5])
def test_the_weight_that_is_wrong_is_shown(wrong):
    """Zero and one are weights."""
    rule = CustomWeights(lambda s, t: np.array([0.0, 1.0, wrong]))
    with pytest.raises(ValueError, match=rf"weights in \[0, 1\], got {wrong} at t=3"):
        rule.row(3)


def test_custom_weights_show_their_function():
    assert repr(CustomWeights(by_loop)) == "CustomWeights(function=by_loop)"
    nameless = functools.partial(by_loop, T=3)
    assert repr(CustomWeights(nameless)) == f"CustomWeights(function={nameless!r})"


def test_a_random_walk_has_no_weights_and_meets_no_condition():
    walk = RandomWalk(0.1)
    assert not walk.is_nondecreasing() and not walk.is_consistent(7)
    assert not walk.is_admissible()
    with pytest.raises(ValueError, match="has no weights"):
        walk.row(3)


def test_rules_are_values():
    assert Exponential(0.9) == Exponential(0.9) != Exponential(0.8)
    assert len({Restart(3), Restart(3), SlidingWindow(3)}) == 2
    with pytest.raises(AttributeError):
        Exponential(0.9).discount = 0.5


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: Exponential(0.0), ValueError, "discount.*0.0"),
        (lambda: Exponential(1.1), ValueError, "discount.*1.1"),
        (lambda: Exponential("a"), TypeError, "discount"),
        (lambda: SlidingWindow(0), ValueError, "length.*0"),
        (lambda: SlidingWindow(2.5), TypeError, "length.*2.5"),
        (lambda: SlidingWindow(2**40), ValueError, "length.*1099511627776"),
        (lambda: Restart(-1), ValueError, "period.*-1"),
        (lambda: Polynomial(-1.0), ValueError, "power.*-1"),
        (lambda: Polynomial(1.0, of="time"), ValueError, "of.*time"),
        (lambda: CustomWeights(3), TypeError, "function"),
        (lambda: CustomWeights(lambda s, t: 2.0 * s).row(2), ValueError, "2.0 at t=2"),
        (lambda: CustomWeights(lambda s, t: -s / t).row(2), ValueError, "in \\[0, 1"),
        (lambda: CustomWeights(lambda s, t: s * np.nan).row(2), ValueError, "finite"),
        (lambda: CustomWeights(lambda s, t: 1.0).row(2), ValueError, "shape"),
        (lambda: CustomWeights(lambda s, t: s / t).is_admissible(), ValueError, "T"),
        (lambda: Exponential(0.9).row(-1), ValueError, "t.*-1"),
        (lambda: Exponential(0.9).matrix(0), ValueError, "T.*0"),
        (lambda: Exponential(0.9).factor(0), ValueError, "t must.*0"),
        (lambda: RandomWalk(-0.1), ValueError, "rate.*-0.1"),
        (lambda: RandomWalk(1e-300), ValueError, "rate must lie.*1e-300"),
        (lambda: Exponential(0.9)(3, 2), ValueError, "s must"),
        (lambda: Exponential(0.9)(1.5, 2), ValueError, "s must"),
        (lambda: SlidingWindow(3).is_consistent(0), ValueError, "T.*0"),
        (lambda: Exponential(0.9).is_consistent(0), ValueError, "T.*0"),
        (lambda: Exponential(0.9).is_nondecreasing(0), ValueError, "T.*0"),
        (lambda: nondecreasing_in_s(np.ones((2, 3))), ValueError, "matrix.*square"),
        (lambda: Restart(2**53 + 2), ValueError, "period.*9007199254740994"),
    ],
)
def test_bad_input(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize("rule", [Exponential(0.9), SlidingWindow(3), Polynomial(1.0)])
def test_tables_that_no_memory_holds_are_refused(rule):
    with pytest.raises(ValueError, match="T must be small enough for arrays"):
        rule.matrix(2**16)
    with pytest.raises(ValueError, match="t must be small enough for arrays"):
        rule.row(2**31)


def test_a_function_of_your_own_cannot_write_into_your_rounds():
    def clearing(s, t):
        weights = 0.9 ** (t - s)
        s[:] = 0
        return weights

    rounds = np.arange(1, 4)
    CustomWeights(clearing)(rounds, 3)
    assert rounds.tolist() == [1, 2, 3]
