"""Long chains of rows in chunks, on a GPU that the host plays: the CPU's answers for all ways to lay sequences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu import reading as reads
from gpu import rows
from gpu.compiled import Compiled, Report, is_available
from gpu.host import Host
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cuda.choose import choose
from semiring.kernels.cuda.dense import chains, outer, steps
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.kernels.facts import DeviceFacts
from semiring.operands import device
from semiring.shapes.sequences import forward_in_chunks, forward_on_gpu
from semiring.shapes.sequences.forward_in_chunks import LONG, SHORT, are_faster, length_of, seconds, stay_within

pytestmark = pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")

CASES = {
    "min-plus f4": (sr.min_plus, "f4"), "max-plus f8": (sr.max_plus, "f8"), "log f8": (sr.log, "f8"),
    "log f4": (sr.log, "f4"), "max-min f4": (sr.max_min, "f4"), "min-plus i4": (sr.min_plus, "i4"),
    "boolean": (sr.boolean, "?"), "plus-times f8": (sr.plus_times, "f8"), "viterbi f4": (sr.viterbi, "f4"),
}


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[Host]:
    yield stand_in(monkeypatch, folder)


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Host:
    """A GPU on which every sequence of more than a few rows is cut, and chunks again."""
    host = Host(None)
    host.stand_in(monkeypatch)
    module = Compiled(host, folder).module
    for each in (chains, outer, steps):
        monkeypatch.setattr(each, "Module", module)
    for each in (chains, outer):
        monkeypatch.setattr(each, "multiprocessors", lambda: 2)
    for cached in (chains._module, outer._function, steps._function):
        cached.cache_clear()
    monkeypatch.setattr(chains, "_made", {})
    monkeypatch.setattr(CudaLowering, "encode", lambda low, x, _: host.array(in_storage(low, plain(x))))
    monkeypatch.setattr(CudaLowering, "decode", lambda low, x: host.array(as_data(low, plain(x))))
    monkeypatch.setattr(forward_on_gpu, "report", lambda: Report(host))
    reads.stand_in(monkeypatch, device)
    monkeypatch.setattr(forward_in_chunks, "LAUNCHES", 0.0)
    monkeypatch.setattr(forward_in_chunks, "EACH", 0.0)
    monkeypatch.setattr(forward_in_chunks.ShortRows, "step", SHORT._replace(product=0.0))
    monkeypatch.setattr(forward_in_chunks, "LEAST_LENGTH", 3)
    monkeypatch.setattr(forward_in_chunks, "BYTES", 1 << 10)
    return host


def in_storage(low: CudaLowering, x: np.ndarray) -> np.ndarray:
    """Floats that are only compared as integers of their order; the infinity of integers where sums have room."""
    if low.is_identity:
        return x
    if low.dtype.kind == "f":
        bits = x.view(f"i{x.itemsize}")
        return bits ^ (bits >> (8 * x.itemsize - 1) & np.iinfo(bits.dtype).max)
    return np.where(x == np.iinfo(low.dtype).max, low.zero[0], x).astype(low.storage)


def as_data(low: CudaLowering, x: np.ndarray) -> np.ndarray:
    if low.is_identity:
        return x
    if low.dtype.kind == "f":
        return (x ^ (x >> (8 * x.itemsize - 1) & np.iinfo(x.dtype).max)).view(low.dtype)
    return np.where(x > low.zero[0] // 2, np.iinfo(low.dtype).max, x.astype(low.dtype))


def plain(X: Any) -> np.ndarray:
    return np.array(X.view(np.ndarray))


def numbers(S: sr.Semiring, dtype: Any, shape: tuple[int, ...], seed: int) -> np.ndarray:
    rng, kind = np.random.default_rng(seed), np.dtype(dtype)
    found = np.empty(shape, kind)
    if S is sr.log:
        found[...] = rng.normal(size=shape, scale=4)
    elif S is sr.plus_times:
        found[...] = rng.normal(size=shape)
    elif S is sr.viterbi:
        found[...] = 1 - 0.1 * rng.random(shape)
    else:
        found[...] = rng.integers(0, 2 if kind.kind == "b" else 9, shape)
    found[rng.random(shape) < 0.2] = S.zero_in(kind)
    return found


def compare(host: Host, S: sr.Semiring, x: Any, A: Any, e: Any, **options: Any) -> None:
    wanted = sr.forward(x, A, S, emissions=e, **options)
    on_gpu = host.array(x), host.array(A), None if e is None else host.array(e)
    plan = sr.plan("forward", *on_gpu[:2], S, emissions=on_gpu[2], **options)
    found = sr.forward(*on_gpu[:2], S, emissions=on_gpu[2], **options)
    assert plan.method == forward_on_gpu.CHUNKS and found.dtype == wanted.dtype
    same(S, plain(found), wanted)
    if not S.selective:
        return
    won, ours = (sr.forward(*given[:2], S, emissions=given[2], argmax=True, **options) for given in ((x, A, e), on_gpu))
    same(S, plain(ours.values), wanted)
    if S is not sr.viterbi:  # of floats that round, other terms may win
        there = wanted != S.zero_in(wanted.dtype)
        rows = np.arange(wanted.shape[-2])
        ends = won._layout.rows_at + (won._layout.lengths - 1 if options.get("reverse") else 0)
        there.reshape(-1, there.shape[-1])[ends[won._layout.lengths > 0]] = False
        assert rows.size and np.array_equal(plain(ours.back)[there], won.back[there])
        assert np.array_equal(np.asarray(ours.states()), won.states())


def same(S: sr.Semiring, found: np.ndarray, wanted: np.ndarray) -> None:
    if S is sr.plus_times:
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max(-1, keepdims=True).max())
    elif S is sr.log or S is sr.viterbi:
        eps = np.finfo(wanted.dtype).eps
        np.testing.assert_allclose(found, wanted, rtol=99 * eps, atol=999 * eps)
    else:
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.slow
@settings(max_examples=40, deadline=None, phases=[Phase.generate])
@given(
    name=st.sampled_from(list(CASES)), n=st.sampled_from([1, 3, 4]), count=st.sampled_from([9, 20, 61]),
    batch=st.sampled_from([(), (1,), (3,)]), one=st.booleans(), emits=st.booleans(), reverse=st.booleans(),
    uneven=st.booleans(), seed=st.integers(0, 99),
)
def test_sequences_of_any_layout(
    folder: Path, name: str, n: int, count: int, batch: tuple[int, ...], one: bool, emits: bool, reverse: bool,
    uneven: bool, seed: int,
) -> None:
    S, dtype = CASES[name]
    x = numbers(S, dtype, (*batch, n), seed)
    A = numbers(S, dtype, (n, n) if one else (*batch, count - 1, n, n), seed + 1)
    e = numbers(S, dtype, (*batch, count, n), seed + 2) if emits else None
    options: dict[str, Any] = {} if emits else {"steps": count - 1}
    if uneven and batch:
        options["lengths"] = [count, 0, count // 2][: batch[0]]
    with pytest.MonkeyPatch.context() as monkeypatch:
        host = stand_in(monkeypatch, folder)
        monkeypatch.setattr(forward_on_gpu, "are_faster", lambda *_: True)
        compare(host, S, x, A, e, reverse=reverse, **options)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("name", "emits"), [("min-plus f4", True), ("max-min f4", False), ("log f8", True)])
def test_some_sequences(host: Host, name: str, emits: bool, reverse: bool) -> None:
    """One after the other, of one matrix or many, in views."""
    S, dtype = CASES[name]
    x, e = numbers(S, dtype, (2, 4), 0), numbers(S, dtype, (70, 4), 1)
    compare(host, S, x, numbers(S, dtype, (68, 4, 4), 2), e, lengths=[30, 40], reverse=reverse)
    compare(host, S, x[0], numbers(S, dtype, (4, 4), 2), e, lengths=[30, 40], reverse=reverse)
    compare(host, S, x, 9 * numbers(S, dtype, (2, 1, 4, 4), 2) if S is sr.plus_times else numbers(
        S, dtype, (2, 1, 4, 4), 2), e.reshape(2, 35, 4), reverse=reverse)
    A = numbers(S, dtype, (69, 4, 4), 2)
    wanted = sr.forward(x[0], A, S, emissions=e if emits else None, reverse=reverse)
    turned = host.array(np.ascontiguousarray(A.swapaxes(1, 2)[::-1]))[::-1].swapaxes(1, 2)
    found = sr.forward(host.array(x[0]), turned, S, emissions=host.array(e) if emits else None, reverse=reverse)
    same(S, plain(found), wanted)


@pytest.mark.parametrize("name", ["min-plus f4", "log f8", "boolean", "plus-times f8"])
@pytest.mark.parametrize("reverse", [False, True])
def test_rows_that_registers_do_not_hold(
    name: str, reverse: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One matrix and many, with emissions and not, of several sequences; the engine is NumPy."""
    host = rows.stand_in(monkeypatch, folder)
    monkeypatch.setattr(forward_on_gpu, "are_faster", lambda *_: True)
    monkeypatch.setattr(forward_in_chunks, "LAUNCHES", 0.0)
    monkeypatch.setattr(forward_in_chunks, "EACH", 0.0)
    monkeypatch.setattr(forward_in_chunks, "geometry_of", lambda low, n: None)
    monkeypatch.setattr(forward_in_chunks.LongRows, "step", LONG._replace(product=0.0))
    monkeypatch.setattr(forward_in_chunks, "LEAST_LENGTH", 3)
    monkeypatch.setattr(forward_in_chunks, "BYTES", 1 << 10)
    S, dtype = CASES[name]
    x, e = numbers(S, dtype, (2, 4), 0), numbers(S, dtype, (2, 61, 4), 1)
    for A in (numbers(S, dtype, (4, 4), 2), numbers(S, dtype, (2, 60, 4, 4), 2), numbers(S, dtype, (60, 4, 4), 2)):
        compare(host, S, x, A, e, reverse=reverse)
        compare(host, S, x, A, None, reverse=reverse, steps=60, lengths=[61, 20])
    compare(host, S, x[0], numbers(S, dtype, (4, 4), 3), e.reshape(-1, 4), lengths=[61, 0, 61], reverse=reverse)


def test_short_and_many_sequences_stay_whole() -> None:
    assert not are_faster(np.array([100]), 16, 4, SHORT) and not are_faster(np.full(65, 10**6), 16, 4, SHORT)
    assert are_faster(np.full(64, 10**6), 16, 4, SHORT) and not are_faster(np.full(64, 10**4), 16, 4, SHORT)
    assert are_faster(np.array([10**6, 0]), 16, 4, SHORT) and not are_faster(np.array([0]), 16, 4, SHORT)
    assert are_faster(np.array([10**4]), 128, 4, LONG) and not are_faster(np.array([10**4]), 700, 4, LONG)
    assert length_of(10**5, SHORT) == 100 and length_of(10**5, LONG) == 32
    assert seconds(10**6, 60, 8, SHORT) > seconds(10**6, 8, 8, SHORT)


def test_rows_of_which_registers_hold_no_products(host: Host) -> None:
    """A step of their products is one of the engine."""
    given = host.array(np.zeros(64, "f4")), host.array(np.zeros((64, 64), "f4"))
    assert not forward_in_chunks.ShortRows.fit(choose(sr.log, np.dtype("f4"), DeviceFacts(), 9, in_place=False), 64)
    assert sr.plan("forward", *given, sr.log, steps=10**6).method == forward_on_gpu.CHUNKS
    assert sr.plan("forward", *given, sr.log, steps=10**3).method == "rows of sequences side by side"


def test_products_that_may_leave_the_numbers_are_not_made() -> None:
    def stays(S: sr.Semiring, dtype: str, largest: float, rows: int = 10**4) -> bool:
        facts = DeviceFacts(largest=largest, least=0)
        return stay_within(S, choose(S, np.dtype(dtype), facts, 2 * rows, in_place=False), facts, rows)

    assert stays(sr.min_plus, "f4", 9) and stays(sr.log, "f8", 1e9) and stays(sr.max_min, "f4", 3e38)
    assert stays(sr.min_plus, "i4", 9) and stays(sr.boolean, "?", 1)
    assert not stays(sr.min_plus, "f4", 1e35) and not stays(sr.log, "f4", 1e35)
    assert not stays(sr.plus_times, "f8", 1) and not stays(sr.viterbi, "f4", 1)
    assert not stays(sr.counting, "i8", 1) and not stays(sr.min_plus, "f2", 1) and not stays(sr.min_plus, "i2", 9)


def test_the_best_states_of_a_long_sequence(host: Host) -> None:
    """Probabilities that round: the states are worth the best value."""
    n, rows = 4, 200
    x, A, e = (1 - np.random.default_rng(k).random(s, "f4") / 10 for k, s in enumerate(((n,), (n, n), (rows, n))))
    for reverse in (False, True):
        given = [host.array(X) for X in (x, A)]
        options: dict[str, Any] = {"emissions": host.array(e), "argmax": True, "reverse": reverse}
        assert sr.plan("forward", *given, sr.viterbi, **options).method == forward_on_gpu.CHUNKS
        found = sr.forward(*given, sr.viterbi, **options)
        states = np.asarray(found.states())
        factors = [*A[states[:-1], states[1:]], *e[np.arange(rows), states][int(reverse) :]]
        factors.append(x[states[-1 if reverse else 0]])
        best = plain(found.values)[0 if reverse else -1].max()
        np.testing.assert_allclose(best, np.prod(np.array(factors, "f8")), rtol=rows * 4e-7)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("small", [1e-16, 1e16])
def test_products_that_leave_the_numbers_are_noticed_at_the_seams(
    host: Host, small: float, reverse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows stay normal numbers, and products of three matrices do not."""
    rows, n = 40, 3
    A = np.random.default_rng(0).random((rows - 1, n, n), "f4")
    A /= A.sum(1, keepdims=True)
    for ends in (slice(3), slice(-3, None)):
        A[ends] *= np.float32(small)
    A[10:14] *= np.float32(1e11 if small < 1 else 1e-11)
    x = np.full(n, 1e37 if small < 1 else 1e-37, "f4")
    again: list[Any] = []
    real = forward_on_gpu._run
    monkeypatch.setattr(forward_on_gpu, "_run", lambda *given: again.append(given) or real(*given))
    found = sr.forward(host.array(x), host.array(A), sr.plus_times, reverse=reverse)
    assert again
    np.testing.assert_allclose(plain(found), sr.forward(x, A, sr.plus_times, reverse=reverse), rtol=rows * 1e-6)
    monkeypatch.setattr(forward_on_gpu, "are_faster", lambda *_: False)
    whole = sr.forward(host.array(x), host.array(A), sr.plus_times, reverse=reverse)
    np.testing.assert_array_equal(plain(found), plain(whole))
