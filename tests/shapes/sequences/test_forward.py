"""Rows of chains are those of explicit loops; forward and backward variables and best states agree with each other."""

from __future__ import annotations

from typing import Any

import bases
import families
import numpy as np
import oracle
import pytest
import strategies
from bridge import ours, to_library
from engines import by_both
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import semiring as sr

inf = np.inf
quick = settings(max_examples=5, suppress_health_check=list(HealthCheck))
CASES = [(name, strategies.dtypes(algebra)[-1]) for name, algebra in oracle.ALGEBRAS.items()]
GENERATED = (
    "relations on two points", "triangular matrices over plus-times", "viterbi, 3 − 2 x",
    "non-negative plus-times, x²", "min-plus × max-plus, as it is, as it is",
    "tuples (1, 1, -1) in order, as it is, as it is, as it is, i2 i4 i8",
)


def looped(S: oracle.Algebra, x: list[Any], matrices: list[Any], e: list[Any] | None, reverse: bool) -> list[Any]:
    """The rows one after the other, by the oracle; there is one more of them than matrices."""
    rows: list[Any] = []
    state = x
    for t in range(len(matrices) + 1):
        at = len(matrices) - t if reverse else t
        if t and reverse:
            state = [row[0] for row in oracle.matmul(S, matrices[at], [[each] for each in state])]
        elif t:
            state = oracle.matmul(S, [state], matrices[at - 1])[0]
        rows.append(state)
        if e is not None:
            state = [S.times(b, a) if reverse else S.times(a, b) for a, b in zip(state, e[at], strict=True)]
            if not reverse:
                rows[-1] = state
    return rows[::-1] if reverse else rows


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_rows_are_those_of_loops(name: str, dtype: np.dtype) -> None:
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        steps, n = data.draw(st.integers(0, 3)), data.draw(st.integers(1, 3))
        reverse, emits, one = (data.draw(st.booleans()) for _ in range(3))
        x = data.draw(strategies.matrices(S, dtype, (1, n)))
        some = [data.draw(strategies.matrices(S, dtype, (n, n))) for _ in range(1 if one else steps)]
        e = data.draw(strategies.matrices(S, dtype, (steps + 1, n))) if emits else None
        read = [oracle.from_numpy(S, A) for A in some] * (steps if one else 1)
        want = looped(S, oracle.from_numpy(S, x)[0], read, None if e is None else oracle.from_numpy(S, e), reverse)
        assume(oracle.fits(S, want, dtype))
        row = to_library(S, x)[0]
        stack = np.stack([to_library(S, A) for A in some]) if some else np.empty((0, n, n), row.dtype)
        options: dict[str, Any] = {"reverse": reverse}
        if e is not None:
            options["emissions"] = to_library(S, e)
        elif one:
            options["steps"] = steps
        given = stack[0] if one else stack
        oracle.assert_same(S, want, sr.forward(row, given, T, **options))
        if S.selective and not S.objects:
            found = sr.forward(row, given, T, argmax=True, **options)
            oracle.assert_same(S, want, found.values)
            states = found.states().tolist()
            end = want[0] if reverse else want[-1]
            best = end[0]
            for each in end[1:]:
                best = S.plus(best, each)
            if best == S.zero:
                assert set(states) == {-1}
            else:
                rows = None if e is None else oracle.from_numpy(S, e)
                total = weight(S, oracle.from_numpy(S, x)[0], read, rows, states, reverse)
                assert S.close(total, best, eps=float(np.finfo(dtype).eps) if dtype.kind == "f" else 0)

    check()


def weight(S: oracle.Algebra, x: list[Any], A: list[Any], e: list[Any] | None, states: list[int], reverse: bool) -> Any:
    """The weight of a sequence of states, in the order in which the rows take it."""
    last = len(states) - 1
    if not reverse:
        total = x[states[0]] if e is None else S.times(x[states[0]], e[0][states[0]])
        for t in range(1, last + 1):
            total = S.times(total, A[t - 1][states[t - 1]][states[t]])
            total = total if e is None else S.times(total, e[t][states[t]])
        return total
    total = x[states[last]]
    for t in range(last, 0, -1):
        total = total if e is None else S.times(e[t][states[t]], total)
        total = S.times(A[t - 1][states[t - 1]][states[t]], total)
    return total


@pytest.mark.parametrize(("name", "compiles"), by_both([[name] for name in GENERATED], 1))
def test_rows_of_generated_algebras(name: str, compiles: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """⊗ that does not commute is never reordered: forward and backward rows meet in the same sum at every step."""
    monkeypatch.setenv("SEMIRING_COMPILE", compiles)
    g = families.families()[name]
    S, rng, steps = g.declare(sr), np.random.default_rng(3), 4
    dtype = g.record_dtypes[0] if g.record_dtypes else S.default_dtype
    count = 40
    A = g.draw(rng, count * (steps - 1), 3, dtype).reshape(count, steps - 1, 3, 3)
    e = g.draw(rng, count, steps, dtype, 3)
    x = g.draw(rng, count, 1, dtype, 3)
    a, b, row = g.from_data(A), g.from_data(e), g.from_data(x)
    with np.errstate(all="ignore"):
        want = [g.base.times(row, b[:, :1])]
        for t in range(1, steps):
            want.append(g.base.times(bases.matmul(g.base, want[-1], a[:, t - 1]), b[:, t : t + 1]))
        fits = np.logical_and.reduce([g.place(each, dtype) for each in want])
        column = row.swapaxes(1, 2)
        back = [column]
        for t in range(steps - 1, 0, -1):
            back.append(bases.matmul(g.base, a[:, t - 1], g.base.times(b[:, t, :, None], back[-1])))
        fits &= np.logical_and.reduce([g.place(each, dtype) for each in back])
    assert fits.sum() > 3
    found = sr.forward(x[fits, 0], A[fits], S, emissions=e[fits])
    behind = sr.forward(x[fits, 0], A[fits], S, emissions=e[fits], reverse=True)
    for t in range(steps):
        assert not g.differs(want[t][fits], found[:, t, None], g.scale(A[fits, 0])).any()
        assert not g.differs(back[steps - 1 - t][fits].swapaxes(1, 2), behind[:, t, None], g.scale(A[fits, 0])).any()


@pytest.mark.parametrize("compiles", ["never", "always"])
def test_views_byte_orders_broadcasts_and_empty_ones(compiles: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", compiles)
    rng = np.random.default_rng(0)
    x, A, e = (rng.integers(0, 9, shape).astype("f8") for shape in ((5,), (5, 5), (6, 5)))
    want = sr.forward(x, A, sr.max_plus, emissions=e)
    turned = sr.forward(x[::-1].copy()[::-1], np.asfortranarray(A), sr.max_plus, emissions=e[::-1].copy()[::-1])
    assert np.array_equal(turned, want)
    wide = np.zeros((12, 11))
    wide[::2, 1::2] = e
    assert np.array_equal(sr.forward(x, A.T.copy().T, sr.max_plus, emissions=wide[::2, 1::2]), want)
    swapped = sr.forward(x.astype(">f8"), A, sr.max_plus, emissions=e)
    assert swapped.dtype == np.dtype(">f8") and np.array_equal(swapped, want)
    both = sr.forward(np.stack([x, x + 1]), A, sr.max_plus, emissions=e)
    assert np.array_equal(both, np.stack([want, want + 1]))
    each = sr.forward(x, np.stack([A, A + 1])[:, None], sr.max_plus, emissions=np.broadcast_to(e, (2, 6, 5)))
    assert np.array_equal(each[0], want) and np.array_equal(each[1], want + np.arange(6)[:, None])
    assert sr.forward(x, A, sr.max_plus, emissions=e[:0]).shape == (0, 5)
    assert sr.forward(x[:0], A[:0, :0], sr.max_plus, emissions=e[:, :0]).shape == (6, 0)
    assert sr.forward(np.zeros((0, 5)), A, sr.max_plus, emissions=np.zeros((0, 6, 5))).shape == (0, 6, 5)
    assert sr.forward(x, A, sr.max_plus, emissions=np.zeros((0, 5)), lengths=[]).shape == (0, 5)
    assert sr.forward(x, A, sr.max_plus, steps=0).tolist() == [x.tolist()]
    assert sr.forward(x, A, sr.max_plus, emissions=e[:0], argmax=True).states().shape == (0,)


def test_integers_that_leave_their_dtype_are_refused() -> None:
    x, A = np.array([100, 100], "i1"), np.full((2, 2), 20, "i1")
    with pytest.raises(sr.SemiringError, match="int8"):
        sr.forward(x, A, sr.min_plus, steps=3)
    assert sr.forward(x.astype("i4"), A.astype("i4"), sr.min_plus, steps=3)[-1].tolist() == [160, 160]


def test_the_plan_says_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", "always")
    x, A, e = np.zeros(4), np.zeros((4, 4)), np.zeros((7, 4))
    plan = sr.plan("forward", x, A, sr.log, emissions=e)
    assert (plan.operation, plan.method, plan.shape, plan.work) == ("forward", "rows as vectors", (7, 4), 6.0 * 16)
    assert plan.memory == 7 * 4 * 8
    assert sr.plan("forward", x, A, sr.max_plus, emissions=e, argmax=True).memory == 7 * 4 * 9
    assert np.array_equal(plan.run(), sr.forward(x, A, sr.log, emissions=e))
    with pytest.raises(sr.SemiringError, match="forward has no option 'emission'"):
        sr.plan("forward", x, A, sr.log, emission=e)
