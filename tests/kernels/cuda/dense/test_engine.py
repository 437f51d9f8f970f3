"""The kernel interface over arrays in device memory, its kernels played by NumPy: strides, padding, refusals."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu.compiled import Compiled, Report, is_available
from gpu.host import Array, Host
from gpu.played import Dense

import semiring as sr
from semiring.algorithms.sparse.elimination import close_front
from semiring.kernels.cuda.choose import general_on_device
from semiring.kernels.cuda.dense import closure, engine, logsum, product, thin
from semiring.kernels.cuda.dense.engine import CudaKernel, view_of

inf = np.inf


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    host = Host()
    host.stand_in(monkeypatch)
    return host


def kernel(monkeypatch: pytest.MonkeyPatch, host: Host, S: sr.Semiring, *operations: Any) -> CudaKernel:
    """The engine of an algebra of 64-bit floats; nothing is recorded."""
    dense = Dense(host, "f8", *operations)
    for module in (closure, engine, product):
        monkeypatch.setattr(module, "Module", dense.module)
    for module in (closure, product):
        monkeypatch.setattr(module, "memory", host.memory)
    monkeypatch.setattr(product, "multiprocessors", lambda: 3)
    monkeypatch.setattr(closure, "current_device", lambda: 0)
    monkeypatch.setattr(closure, "_urgent", lambda *_: host.stream())
    monkeypatch.setattr(closure.Closure, "has_graph", lambda *_: False)
    return CudaKernel(general_on_device(S, np.dtype("f8")))


@pytest.fixture
def min_plus(monkeypatch: pytest.MonkeyPatch, host: Host) -> CudaKernel:
    return kernel(
        monkeypatch, host, sr.min_plus, np.minimum, np.add, inf, 0, lambda a: 0 if a >= 0 else None
    )


def numbers(host: Host, *shape: int, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    return host.array(np.where(rng.random(shape) < 0.5, rng.integers(0, 50, shape), inf))


def best(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.asarray((A[..., :, :, None] + B[..., None, :, :]).min(axis=-2, initial=inf))


def shortest(A: np.ndarray) -> np.ndarray:
    A = np.minimum(A, np.where(np.eye(len(A)) == 1, 0, inf))
    for k in range(len(A)):
        A = np.minimum(A, A[:, k, None] + A[k])
    return A


@pytest.mark.parametrize("shape", [(1, 1, 1), (0, 3, 2), (3, 0, 2), (3, 2, 0), (7, 9, 5), (97, 98, 99), (128, 130, 96)])
@pytest.mark.parametrize("layout", ["part", "transposed", "every other"])
def test_products_of_any_strides(
    layout: str, shape: tuple[int, int, int], host: Host, min_plus: CudaKernel
) -> None:
    """What lies between and around the entries of C stays."""
    m, k, n = shape

    def place(rows: int, columns: int) -> Array:
        return numbers(host, *((columns, rows + 3) if layout == "transposed" else (2 * rows, 2 * columns)))

    def cut(X: np.ndarray, rows: int, columns: int) -> Any:
        return {"part": X[:rows, :columns], "transposed": X.T[:rows], "every other": X[::2, ::2]}[layout]

    a, b, memory = cut(place(m, k), m, k), cut(place(k, n), k, n), place(m, n)
    c = cut(memory, m, n)
    for accumulate in (True, False):
        wanted = np.array(memory)
        cut(wanted, m, n)[...] = np.minimum(best(a, b), c if accumulate else inf)
        (min_plus.multiply_add if accumulate else min_plus.multiply)(c, a, b)
        np.testing.assert_array_equal(memory, wanted)


def test_whole_tiles_are_multiplied_as_they_lie(
    host: Host, min_plus: CudaKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where rows begin at multiples of 16 bytes; other matrices go the general way."""
    general, asked = min_plus._product, list[Any]()
    monkeypatch.setattr(min_plus, "_product", lambda *given: (asked.append(1), general(*given)))
    for m, k, n, first, straight in ((128, 128, 192, 0, True), (128, 128, 128, 2, True), (128, 128, 128, 1, False),
                                     (130, 128, 128, 0, False), (128, 120, 128, 0, False)):
        A, B = (numbers(host, *s, seed=i)[:, first : s[1] - 6 + first] for i, s in enumerate(((m, k + 6), (k, n + 6))))
        for accumulate in (False, True):
            C = numbers(host, m, n, seed=5)
            wanted = np.minimum(C, best(A, B)) if accumulate else best(A, B)
            (min_plus.multiply_add if accumulate else min_plus.multiply)(C, A, B)
            np.testing.assert_array_equal(C, wanted)
        assert len(asked) == (0 if straight else 2), (m, k, n, first)
        asked.clear()


@pytest.mark.parametrize("n", [10, 100])
def test_stacks_that_repeat_a_matrix(n: int, host: Host, min_plus: CudaKernel) -> None:
    A, B, C = numbers(host, 3, n, n), numbers(host, 1, n, n, seed=1), numbers(host, 3, n, n, seed=2)
    repeated = np.broadcast_to(B, (3, n, n), subok=True)
    wanted = np.minimum(C, best(A, np.asarray(repeated)))
    min_plus.multiply_add_stack(C, A, repeated)
    np.testing.assert_array_equal(C, wanted)
    min_plus.multiply_stack(C, repeated, A)
    np.testing.assert_array_equal(C, best(np.asarray(repeated), A))


def test_in_place(host: Host, min_plus: CudaKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    """In strips, since what is read has to be copied first."""
    monkeypatch.setattr(engine, "STRIP_BYTES", 1)
    monkeypatch.setattr(engine, "STRIP_SHARE", 1 << 40)
    D, wide, tall = numbers(host, 20, 20), numbers(host, 20, 300, seed=1), numbers(host, 300, 20, seed=2)
    assert len(engine._strips(300, 160)) == 3
    left, right = best(D, wide), best(tall, D)
    min_plus.left(D, wide)
    min_plus.right(tall, D)
    np.testing.assert_array_equal(wide, left)
    np.testing.assert_array_equal(tall, right)


@pytest.mark.parametrize("n", [0, 1, 64, 90, 97, 130])
def test_closures(n: int, host: Host, min_plus: CudaKernel) -> None:
    for cut in (lambda A: A[::2, :n], lambda A: A[:n, 1 : n + 1], lambda A: A[:n, :n].T):
        A = numbers(host, 2 * n, n + 1)
        block, wanted = cut(A), np.array(A)
        cut(wanted)[...] = shortest(np.asarray(block))
        assert min_plus.close(block) == -1
        np.testing.assert_array_equal(A, wanted)


@pytest.mark.parametrize("n", [0, 1, 33, 128, 130])
def test_stacks_of_closures(n: int, host: Host, min_plus: CudaKernel) -> None:
    A = numbers(host, 2, n, n)
    wanted = [shortest(X) for X in np.asarray(A)]
    assert min_plus.close_stack(A).tolist() == [-1, -1]
    np.testing.assert_array_equal(A, np.reshape(wanted, A.shape))


@pytest.mark.parametrize("layout", ["whole", "part", "transposed"])
@pytest.mark.parametrize("n", [129, 160, 200])
def test_stacks_of_closures_by_halves(
    layout: str, n: int, host: Host, min_plus: CudaKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some at a time where they are many, and what lies around them stays."""
    monkeypatch.setattr(engine, "CLOSED_BYTES", 2 * 8 * 224 * 224)
    memory = numbers(host, 5, n + 3 * (layout == "part"), n)
    A: Any = {"whole": memory, "part": memory[:, 1 : n + 1], "transposed": memory.swapaxes(1, 2)}[layout]
    wanted = np.array(memory)
    inside = {"whole": wanted, "part": wanted[:, 1 : n + 1], "transposed": wanted.swapaxes(1, 2)}[layout]
    inside[...] = [shortest(X) for X in np.asarray(A)]
    assert min_plus.close_stack(A).tolist() == [-1] * 5
    np.testing.assert_array_equal(memory, wanted)


def test_a_part_of_a_stack_is_closed_as_the_whole(
    host: Host, min_plus: CudaKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers that round show the order of pivots: few matrices alone have another order than many."""
    closed: list[int] = []
    monkeypatch.setattr(min_plus, "close", lambda D: closed.append(len(D)) or -1)
    rng = np.random.default_rng(0)
    A = rng.random((3, 150, 150))
    whole, part, alone = (host.array(some.copy()) for some in (A, A[:2], A[:2]))
    min_plus.close_stack(whole)
    with engine.in_a_stack_of(3):
        min_plus.close_stack(part)
    assert not closed and part.tobytes() == whole[:2].tobytes()
    min_plus.close_stack(alone)
    assert closed == [150, 150]


def test_a_missing_star_is_found_at_its_pivot(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    one_over = kernel(
        monkeypatch, host, sr.plus_times, np.add, np.multiply, 0, 1, lambda a: 1 / (1 - a) if a != 1 else None
    )
    for n, pivot in ((10, 3), (100, 70)):
        A, B = (host.array(np.zeros((n, n))) for _ in range(2))
        A[pivot, pivot] = B[pivot, pivot] = 1
        assert one_over.unchecked.close(B) == -1, "the device is not synchronized"
        assert one_over.close(A) == pivot
    for n, pivot in ((5, 4), (150, 149)):
        stack = host.array(np.zeros((3, n, n)))
        stack[1, pivot, pivot] = 1
        assert one_over.close_stack(stack).tolist() == [-1, pivot, -1]


def test_elements(host: Host, min_plus: CudaKernel) -> None:
    A, B = numbers(host, 6, 300), numbers(host, 300, 6, seed=1)
    np.testing.assert_array_equal(min_plus.diagonal(A, B), np.diagonal(best(A, B)))
    square = numbers(host, 200, 200)[::2, ::2]
    before = host.array(np.array(square))
    assert min_plus.equal(square, before) and not min_plus.equal(square, A)
    min_plus.add_one(square)
    assert (np.diagonal(square) == 0).all() and not min_plus.equal(square, before)
    min_plus.set_diagonal(square, np.diagonal(before))
    assert min_plus.equal(square, before)
    other = min_plus.like(square)
    min_plus.assign(other, square)
    assert other.flags.c_contiguous and min_plus.equal(other, square)
    assert min_plus.equal(square[:0], before[:0])


def test_no_zeros_are_added_where_zero_does_not_absorb(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """(0 − 0)² + 1 = 1."""
    S = sr.Semiring("distances", add=np.add, mul=lambda a, b: (a - b) * (a - b) + 1, zero=0, product_only=True)
    distances = kernel(monkeypatch, host, S, np.add, lambda a, b: (a - b) * (a - b) + 1, 0)
    A, B = (host.array(np.random.default_rng(0).integers(0, 9, (100, 100)), float) for _ in range(2))
    C = host.empty((100, 100))
    distances.multiply(C, A, B)
    np.testing.assert_array_equal(C, ((A[:, :, None] - B[None]) ** 2 + 1).sum(axis=1))


def test_what_does_not_fit_is_refused(host: Host, min_plus: CudaKernel) -> None:
    A = numbers(host, 3, 4)
    with pytest.raises(ValueError, match=r"shapes \(1, 3, 4\), \(1, 3, 4\) and \(1, 3, 4\) do not fit"):
        min_plus.multiply(A, A, A)
    with pytest.raises(ValueError, match="must be square, not 3 × 4"):
        min_plus.close(A)
    with pytest.raises(ValueError, match="must be square, not 3 × 4"):
        min_plus.close_stack(A[None])
    with pytest.raises(ValueError, match=r"shapes \(3, 4\) and \(3, 4\) do not fit"):
        min_plus.diagonal(A, A)


@pytest.mark.parametrize(("count", "bytes_each"), [(0, 8), (1, 8), (1000, 1 << 20), (300_000, 1 << 17), (5, 0)])
def test_strips(count: int, bytes_each: int) -> None:
    """One after the other, whole tiles but for the last, each within the memory that may be taken."""
    strips = engine._strips(count, bytes_each)
    assert [i for s in strips for i in (s.start, s.stop)][1:-1:2] == [s.start for s in strips[1:]]
    assert sum(s.stop - s.start for s in strips) == count
    assert all(s.start % engine.ALIGN == 0 for s in strips)
    limit = max(engine.STRIP_BYTES, count * bytes_each // 8, engine.ALIGN * bytes_each)
    assert all((s.stop - s.start) * bytes_each <= limit for s in strips)


@pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")
def test_large_products_over_log_sum_exp_are_of_powers(
    host: Host, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Those of matrices and of stacks; small ones, and what underflows, by the kernels."""
    monkeypatch.setattr(logsum, "LEAST_TERMS", 1000)
    for name, instead in (("Module", Compiled(host, tmp_path).module), ("memory", host.memory),
                          ("multiprocessors", lambda: 3), ("report", lambda: Report(host))):
        monkeypatch.setattr(logsum, name, instead)
    monkeypatch.setattr(logsum, "_made", {})
    log = kernel(monkeypatch, host, sr.log, np.logaddexp, np.add, -inf, 0)
    random, by_terms = np.random.default_rng(0), []
    monkeypatch.setattr(log, "product", lambda C, *_: by_terms.append((C.rows, C.columns)))
    A, B, C = (host.array(random.normal(size=shape)) for shape in ((2, 30, 20), (2, 20, 10), (2, 30, 10)))
    wanted = np.logaddexp(C, np.logaddexp.reduce(A[..., None] + B[:, None], axis=2))
    found = host.array(np.array(C))
    log.multiply_add_stack(found, A, B)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    found = host.array(np.array(C[1].T)).T
    log.multiply_add(found, A[1], B[1])
    np.testing.assert_allclose(found, wanted[1], rtol=1e-12)
    assert by_terms == []
    log.multiply(found[:5, :5], A[1, :5, :5], B[1, :5, :5])
    A[1, 3] = np.nan
    log.multiply(found, A[1], B[1])
    assert by_terms == [(5, 5), (1, 10)]
    assert log.closes_whole(64) and not log.closes_whole(100_000)


@pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")
@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("shape", [
    (5, 3000, 4), (70, 2049, 66), (130, 1100, 100), (1, 900, 5), (40, 900, 1), (20, 1025, 300), (64, 30, 64),
])
def test_a_long_k_is_split_and_vectors_have_kernels_of_their_own(
    host: Host, min_plus: CudaKernel, shape: tuple[int, int, int], layout: str, monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Parts of k, a rest that is shorter, operands by columns, and old answers."""
    monkeypatch.setattr(engine, "THIN_ELEMENTS", 1)
    monkeypatch.setattr(product, "LEAST_PART", 128)
    monkeypatch.setattr(thin, "Module", Compiled(host, tmp_path).module)
    monkeypatch.setattr(thin, "memory", host.memory)
    monkeypatch.setattr(thin, "multiprocessors", lambda: 3)
    m, k, n = shape
    A, B, C = numbers(host, m, k), numbers(host, k, n, seed=1), numbers(host, m, n + 3, seed=2)
    if layout == "columns":
        A, B = (host.array(np.ascontiguousarray(X.T)).T for X in (A, B))
    wanted = best(A, B)
    for accumulate in (False, True):
        old = C.copy()
        (min_plus.multiply_add if accumulate else min_plus.multiply)(C[:, :n], A, B)
        np.testing.assert_array_equal(C[:, :n], np.minimum(old[:, :n], wanted) if accumulate else wanted)
        np.testing.assert_array_equal(C[:, n:], old[:, n:])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("size", [
    (76, 108), (194, 0), (59, 185), (22, 173), (48, 294), (200, 300), (15, 150), (500, 600),
])
def test_what_fronts_compile_is_known_beforehand(
    dtype: str, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    launched: set[Any] = set()
    host = Host()
    host.stand_in(monkeypatch)

    def module(source: str) -> Any:
        def function(name: str, threads: int, shared: int = 0) -> Any:
            def launch(*arguments: int) -> None:
                launched.add((source, name))

            launch.key, launch.at_hand = (source, name), lambda: True  # type: ignore[attr-defined]
            return launch

        return SimpleNamespace(function=function)

    for each in (closure, engine, product):
        monkeypatch.setattr(each, "Module", module)
    for each in (closure, product):
        monkeypatch.setattr(each, "memory", host.memory)
    monkeypatch.setattr(product, "multiprocessors", lambda: 132)
    monkeypatch.setattr(closure, "current_device", lambda: 0)
    monkeypatch.setattr(closure, "_urgent", lambda *_: host.stream())
    monkeypatch.setattr(closure.Closure, "has_graph", lambda *_: False)
    kernel: Any = CudaKernel(general_on_device(sr.min_plus, np.dtype(dtype)))
    F = host.empty((sum(size), sum(size)), dtype)
    kernel.clear(F)
    close_front(F, size[0], kernel, 0)
    known = {f.key for f in kernel.for_front(*size)}
    assert launched <= known and len(known - launched) <= 1


def test_single_elements_are_picked_and_cleared(host: Host, min_plus: CudaKernel) -> None:
    values, places = np.arange(500.0), np.random.default_rng(0).integers(0, 500, 300)
    assert (np.array(min_plus.pick(host.array(values), host.array(places))) == values[places]).all()
    assert min_plus.pick(host.array(values), host.array(places[:0])).shape == (0,)
    F = host.array(np.ones((7, 7)))
    min_plus.clear(F)
    assert (np.array(F) == np.inf).all()


@pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")
def test_the_kernels_that_pick_and_clear(host: Host, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(engine, "Module", Compiled(host, tmp_path).module)
    for dtype in ("f4", "f8"):
        by = CudaKernel(general_on_device(sr.min_plus, np.dtype(dtype)))
        values, places = np.arange(500).astype(dtype), np.random.default_rng(0).integers(0, 500, 300)
        assert (np.array(by.pick(host.array(values), host.array(places))) == values[places]).all()
        F = host.array(np.ones((130, 150), dtype))
        by.clear(F[:129, 3:140])
        wanted = np.ones((130, 150), dtype)
        wanted[:129, 3:140] = inf
        assert (np.array(F) == wanted).all()


@pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")
@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i2"])
def test_the_kernel_that_copies_rows(
    dtype: str, aligned: bool, host: Host, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By 16 bytes or by elements, cut or with zeros to the right and below."""
    monkeypatch.setattr(engine, "Module", Compiled(host, tmp_path).module)
    monkeypatch.setattr(engine, "BLOCKS", 3)
    by = CudaKernel(general_on_device(sr.min_plus, np.dtype(dtype)))
    (ld, skip), zero = (640, 16) if aligned else (643, 3), sr.min_plus.zero_in(np.dtype(dtype))
    A = host.array(np.arange(5 * ld).reshape(5, ld).astype(dtype))
    for columns in (1, 5, 64, 601):
        some = A[1:4, skip : skip + columns]
        for part in (some, some[:2], some[:0]):  # the driver copies few rows
            found = by._copied(part)
            assert found.flags.c_contiguous and np.array_equal(found, part)
        T = host.array(np.full((1, 6, ld), 77, dtype))
        by._place(view_of(some[None]), view_of(T[:, 1:5, skip : skip + columns + 9]))
        wanted = np.full((6, ld), 77, dtype)
        wanted[1:5, skip : skip + columns + 9] = zero
        wanted[1:4, skip : skip + columns] = some
        assert np.array_equal(T[0], wanted)
