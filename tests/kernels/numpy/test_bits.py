"""Packed truth values by NumPy against arrays of bool, and against the compiled engine."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.errors import SemiringError
from semiring.kernels.blocks.bits import PackedRows
from semiring.kernels.cpu.bits import engine
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.numpy import bits
from semiring.kernels.numpy.bits import BitsKernel

EDGES = (0, 1, 2, 63, 64, 65, 127, 128, 129)
sizes = st.sampled_from(EDGES) | st.integers(0, 140)
wide = sizes | st.sampled_from([511, 512, 513])
seeds, densities = st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.02, 0.1, 0.5, 1.0])
KINDS = ("?", "u1", "i1", "i8", "f4", "f8", "f2", "c16")
few = settings(max_examples=30)


def random_bits(seed: int, rows: int, columns: int, density: float) -> np.ndarray:
    return np.random.default_rng(seed).random((rows, columns)) < density


def packed(array: np.ndarray, kind: type[PackedRows] = PackedRows) -> PackedRows:
    """A packed matrix, by Python's own integers."""
    matrix = kind.zeros(*array.shape)
    for i, row in enumerate(array):
        number = int(b"0" + (row[::-1] + np.uint8(48)).tobytes(), 2)
        for w in range(matrix.words.shape[1]):
            matrix.words[i, w] = number >> 64 * w & (2**64 - 1)
    return matrix


def check(matrix: PackedRows, expected: np.ndarray) -> None:
    """Every bit, those past the last column included."""
    assert matrix.shape == expected.shape
    wanted = packed(expected).words
    width = min(matrix.words.shape[1], wanted.shape[1])
    assert np.array_equal(matrix.words[:, :width], wanted[:, :width])
    assert not matrix.words[:, width:].any()


def in_a_larger(array: np.ndarray) -> tuple[PackedMatrix, PackedMatrix, np.ndarray]:
    """The same bits as a view amid ones, what it is a part of, and where its bits are there."""
    rows, columns = array.shape
    around = np.ones((rows + 3, columns + 64), bool)
    around[2 : 2 + rows, 64:] = array
    whole = packed(around, PackedMatrix)
    inside = np.zeros(around.shape, bool)
    inside[2 : 2 + rows, 64:] = True
    return whole[2 : 2 + rows, 64:], whole, inside


def product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return A.astype(np.int32) @ B.astype(np.int32) > 0


def walks(A: np.ndarray) -> np.ndarray:
    """Whether there is a walk of one edge or more, by squaring."""
    found = A
    for _ in range(len(A).bit_length()):
        found = found | product(found, found)
    return found


@few
@given(sizes, wide, densities, seeds, st.sampled_from(KINDS), st.sampled_from(["C", "F", "strided", "read-only"]))
def test_packing_and_unpacking(m: int, n: int, density: float, seed: int, kind: str, layout: str) -> None:
    entries = random_bits(seed, m, n, density)
    array = np.where(entries, np.random.default_rng(seed).choice([1, 2, 64, 127], (m, n)), 0).astype(kind)
    if layout == "strided":
        array = np.repeat(np.repeat(array, 2, 0), 3, 1)[::2, ::3]
    array = np.array(array, order="F") if layout == "F" else array
    array.flags.writeable = layout != "read-only"
    matrix = PackedRows.empty(m, n)
    matrix.words[...] = 2**64 - 1  # an owned matrix may hold anything before
    bits.pack(matrix, array)
    check(matrix, entries)
    found = np.full((2 * m, n), 1, kind, order="F" if layout == "F" else "C")
    matrix.words.flags.writeable = False
    bits.unpack(matrix, found[::2])
    assert np.array_equal(found[::2], entries.astype(kind))
    assert (found[1::2] == 1).all()
    again = packed(entries)
    engine.pack(again, array)
    assert again == matrix


def test_what_is_no_number_is_set() -> None:
    matrix = PackedRows.empty(1, 4)
    with np.errstate(all="raise"):
        bits.pack(matrix, np.array([[np.nan, -0.0, np.inf, 5e-324]]))
    check(matrix, np.array([[True, False, True, True]]))


@few
@given(sizes, wide, densities, seeds)
def test_transposing(m: int, n: int, density: float, seed: int) -> None:
    entries = random_bits(seed, m, n, density)
    view, _, _ = in_a_larger(entries)
    for source in (packed(entries), packed(entries, PackedMatrix), view):
        source.words.flags.writeable = False
        found = bits.transposed(source)
        assert type(found) is type(source)
        check(found, entries.T)
        assert found == engine.transposed(source)


def test_large_matrices_are_converted_by_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = random_bits(0, 300, 70, 0.3)
    for block in (1, 100, 70 * 7, 70 * 64 * 2, 10**6):
        monkeypatch.setattr(bits, "BLOCK", block)
        matrix, found = PackedRows.empty(300, 70), np.empty((300, 70), bool)
        bits.pack(matrix, entries)
        check(matrix, entries)
        bits.unpack(matrix, found)
        assert np.array_equal(found, entries)
        check(bits.transposed(matrix), entries.T)


@few
@given(st.integers(1, 9), st.integers(1, 140), seeds, st.integers(0, 60))
def test_single_entries(m: int, n: int, seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(0, m, count), rng.integers(0, n, count)
    expected = random_bits(seed, m, n, 0.1)
    view, whole, inside = in_a_larger(expected)
    bits.set_entries(view, rows, columns)
    expected[rows, columns] = True
    check(view.copy(), expected)
    assert whole.to_dense()[~inside].all()
    first, last = sorted(rng.integers(0, m + 1, 2).tolist())
    for matrix in (view, packed(expected)):
        found = bits.columns_of(matrix, slice(first, last))
        assert found.dtype == np.int64
        assert found.tolist() == [j for row in expected[first:last] for j in range(n) if row[j]]


@few
@given(sizes, sizes, sizes, densities, seeds)
def test_products(m: int, k: int, n: int, density: float, seed: int) -> None:
    A, B, C = (random_bits(seed + i, *shape, density) for i, shape in enumerate(((m, k), (k, n), (m, n))))
    view, whole, inside = in_a_larger(C)
    a, b = packed(A), in_a_larger(B)[0]
    for operand in (a, b):
        operand.words.flags.writeable = False
    bits.multiply_add(view, a, b)
    check(view.copy(), C | product(A, B))
    assert whole.to_dense()[~inside].all()
    owned, again = packed(C, PackedMatrix), packed(C, PackedMatrix)
    bits.multiply_add(owned, a, b)
    engine.multiply(again, packed(A), packed(B), accumulate=True)
    assert owned == again == view


@few
@given(sizes, st.floats(0, 3), seeds, st.booleans())
def test_closures(n: int, degree: float, seed: int, acyclic: bool) -> None:
    edges = random_bits(seed, n, n, degree / max(n, 1))
    edges = np.triu(edges, 1) if acyclic else edges
    order = np.random.default_rng(seed).permutation(n)
    edges = edges[np.ix_(order, order)]
    view, whole, inside = in_a_larger(edges)
    bits.close_plus(view)
    check(view.copy(), walks(edges))
    assert whole.to_dense()[~inside].all()
    again = packed(edges, PackedMatrix)
    engine.transitive_closure(again, False)
    assert again == view


@few
@given(sizes, seeds)
def test_the_diagonal_alone_is_set(n: int, seed: int) -> None:
    entries, values = random_bits(seed, n, n, 0.5), random_bits(seed, 1, n, 0.5)[0]
    view, whole, inside = in_a_larger(entries)
    bits.set_diagonal(view, values)
    check(view.copy(), np.where(np.eye(n, dtype=bool), values[:, None], entries))
    assert whole.to_dense()[~inside].all()


@few
@given(sizes, sizes, densities, seeds)
def test_the_operations_of_the_interface(n: int, m: int, density: float, seed: int) -> None:
    """Both engines, by the same calls."""
    A, D, R, C = (random_bits(seed + i, *shape, density) for i, shape in
                  enumerate(((n, n), (n, n), (n, m), (m, n))))
    for kernel in (BitsKernel(), engine.BooleanKernel(1)):
        a, d, r, c = (packed(array, PackedMatrix) for array in (A, D, R, C))
        result = ~PackedMatrix.zeros(n, m)
        kernel.multiply(result, d, r)
        check(result, product(D, R))
        kernel.left(d, r)
        check(r, product(D, R))
        kernel.right(c, d)
        check(c, product(C, D))
        for close, wanted in ((kernel.close, walks(D) | np.eye(n, dtype=bool)), (kernel.close_plus, walks(D))):
            closed = d.copy()
            assert close(closed) == -1
            check(closed, wanted)
        assert np.array_equal(kernel.diagonal(packed(C), packed(R)), product(C, R).diagonal())
        other = kernel.like(a)
        assert type(other) is PackedMatrix and other.shape == a.shape
        kernel.assign(other, a)
        assert kernel.equal(other, a) and not np.shares_memory(other.words, a.words)
        kernel.add_one(other)
        check(other, A | np.eye(n, dtype=bool))
        assert kernel.equal(other, a) == bool(A.diagonal().all())
        kernel.set_diagonal(other, A.diagonal())
        check(other, A)


def test_columns_are_listed_by_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bits, "BLOCK", 1 << 16)
    matrix = PackedMatrix.identity(3000)
    tracemalloc.start()
    try:
        assert bits.columns_of(matrix, slice(0, 3000)).tolist() == list(range(3000))
        assert tracemalloc.get_traced_memory()[1] < 2 * matrix.nbytes
    finally:
        tracemalloc.stop()


def test_what_cannot_be_computed_is_refused_and_nothing_is_written() -> None:
    kernel = BitsKernel()
    matrix, ones = PackedMatrix.zeros(10, 100), ~PackedMatrix.zeros(4, 4)
    with pytest.raises(SemiringError, match="only a square matrix has a closure, not one of shape"):
        bits.close_plus(matrix)
    with pytest.raises(SemiringError, match="shapes do not fit"):
        bits.multiply_add(matrix, matrix, matrix)
    frozen = PackedMatrix.identity(4)
    frozen.words.flags.writeable = False
    for change in (lambda C: bits.multiply_add(C, ones, ones), lambda C: kernel.multiply(C, ones, ones),
                   bits.close_plus, kernel.close, lambda C: kernel.left(ones, C)):
        with pytest.raises(SemiringError, match="read-only"):
            change(frozen)
    check(frozen, np.eye(4, dtype=bool))


def test_a_product_that_does_not_fit_is_left_as_it_was() -> None:
    C = PackedMatrix.identity(4)
    with pytest.raises(SemiringError, match="shapes do not fit"):
        BitsKernel().multiply(C, PackedMatrix.identity(3), PackedMatrix.identity(4))
    check(C, np.eye(4, dtype=bool))


def test_the_time_of_each_piece_of_work_is_told() -> None:
    code = Code(list)
    kernel, M, N = BitsKernel(code), PackedMatrix.identity(3), PackedMatrix.identity(3)
    spent = [code.spent]
    for piece in (lambda: kernel.multiply(M, N, N), lambda: kernel.multiply_add(M, N, N), lambda: kernel.left(N, M),
                  lambda: kernel.close(M), lambda: kernel.close_plus(M)):
        piece()
        spent.append(code.spent)
    assert all(before < after for before, after in pairwise(spent))


def test_what_an_engine_says_of_itself() -> None:
    kernel = BitsKernel()
    assert (kernel.place, kernel.threads, kernel.align) == ("CPU, 1 thread, NumPy", 1, 64)
    assert kernel.unchecked is kernel and kernel.closes_whole(10**6)


def test_more_work_is_predicted_to_take_longer() -> None:
    assert bits.seconds(0, 0) == 0
    assert bits.seconds(10, 1e6) < bits.seconds(10, 1e9) and bits.seconds(10, 1e6) < bits.seconds(10**5, 1e6)
