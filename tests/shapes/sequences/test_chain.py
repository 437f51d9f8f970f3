"""Products in a row: as from left to right, and in no more multiply-adds than any other order."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from bridge import same_bits
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.shapes.sequences.chain import best_splits

inf = np.inf
quick = settings(max_examples=60, suppress_health_check=list(HealthCheck))


def orders(first: int, last: int) -> list[Any]:
    """All ways to set brackets, as nested pairs."""
    if first == last:
        return [first]
    return [(a, b) for k in range(first, last) for a in orders(first, k) for b in orders(k + 1, last)]


def cost(order: Any, sizes: list[int]) -> tuple[int, int, int]:
    """Rows and columns of a product, and the multiply-adds that it takes."""
    if isinstance(order, int):
        return sizes[order], sizes[order + 1], 0
    (m, k, a), (_, n, b) = (cost(part, sizes) for part in order)
    return m, n, a + b + m * k * n


def chosen(splits: dict[tuple[int, int], int], first: int, last: int) -> Any:
    if first == last:
        return first
    k = splits[first, last]
    return chosen(splits, first, k), chosen(splits, k + 1, last)


@quick
@given(st.lists(st.integers(0, 9), min_size=3, max_size=7))
def test_no_order_takes_less(sizes: list[int]) -> None:
    splits = best_splits(list(pairwise(sizes)))
    count = len(sizes) - 1
    best = min(cost(order, sizes)[2] for order in orders(0, count - 1))
    assert cost(chosen(splits, 0, count - 1), sizes)[2] == best


@quick
@given(st.lists(st.permutations(range(3)), min_size=2, max_size=4), st.booleans(), st.booleans(), st.booleans(),
       st.randoms(use_true_random=False))
def test_names_are_put_in_one_order_whatever_is_multiplied_first(
    permuted: list[list[int]], before: bool, after: bool, graphs: bool, random: Any
) -> None:
    """A product of a vector and a matrix forgets the names, and the next matrix would be taken by position."""
    arrays = [np.array([[random.randint(0, 9) for _ in range(3)] for _ in range(3)], "f8") for _ in permuted]
    ends = [np.array([random.randint(0, 9) for _ in range(3)], "f8") for _ in range(2)]
    named: list[Any] = [sr.Matrix(A[np.ix_(order, order)], sr.min_plus, ["abc"[i] for i in order])
                        for A, order in zip(arrays, permuted, strict=True)]
    if graphs:
        named = [sr.as_graph(M.to_frame(), names=M.names) for M in named]
    first = permuted[0]
    left, right = ([end] if wanted else [] for end, wanted in zip(ends, (before, after), strict=True))
    plain = [A[np.ix_(first, first)] for A in arrays]
    expected = reduce(lambda A, B: sr.matmul(A, B, sr.min_plus), [*left, *plain, *right])
    found = sr.chain([*left, *named, *right], sr.min_plus)
    assert np.array_equal(sr.adjacency(found, sr.min_plus).array if isinstance(found, sr.Graph) else found, expected)


@pytest.mark.parametrize("beside", [(2, 2), (3, 2, 2), (1, 2)], ids=str)
@pytest.mark.parametrize("last", [False, True], ids=["first", "last"])
def test_labels_of_a_series_are_vertices_whatever_is_multiplied_first(beside: tuple[int, ...], last: bool) -> None:
    M = sr.Matrix(np.array([[0.0, 1.0], [2.0, 0.0]]), sr.min_plus, ["a", "b"])
    A = np.arange(np.prod(beside), dtype=float).reshape(beside)
    x, labelled = np.array([7.0, 1.0]), pd.Series([1.0, 7.0], index=["b", "a"])
    if not last:
        A = np.ascontiguousarray(np.swapaxes(A, -1, -2))
    rows = [[M, A], [A, M]][last]
    by_place, by_label = ([*rows, v] if last else [v, *rows] for v in (x, labelled))
    assert np.array_equal(sr.chain(by_label, sr.min_plus), sr.chain(by_place, sr.min_plus)), by_label
    with pytest.raises(sr.GraphError, match="'b' is in"):
        sr.chain([*rows, labelled.rename({"b": "c"})] if last else [labelled.rename({"b": "c"}), *rows], sr.min_plus)


def test_neighbours_with_other_names_are_refused() -> None:
    A, B = (sr.Matrix(np.zeros((2, 2)), sr.min_plus, names) for names in ("ab", "ac"))
    with pytest.raises(sr.GraphError, match=r"matrices\[1\] and matrices\[2\] have different vertices: 'b'"):
        sr.chain([np.zeros(2), A, B])


def test_equal_shapes_are_multiplied_from_left_to_right() -> None:
    assert chosen(best_splits([(3, 3)] * 4), 0, 3) == (((0, 1), 2), 3)
    assert chosen(best_splits([(3, 3), (3, 3), (3,)]), 0, 2) == (0, (1, 2))
    assert chosen(best_splits([(3,), (3, 3), (3, 3)]), 0, 2) == ((0, 1), 2)


@pytest.mark.parametrize("what", ["array", "stack", "sparse", "prepared", "ends"])
@pytest.mark.parametrize("S", [sr.min_plus, sr.max_min, sr.plus_times, sr.shortest_hops], ids=lambda S: S.name)
def test_the_product_is_that_from_left_to_right(S: sr.Semiring, what: str) -> None:
    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        sizes = data.draw(st.lists(st.integers(1, 4), min_size=3, max_size=6))
        random = np.random.default_rng(data.draw(st.integers(0, 99)))
        matrices: list[Any] = []
        for i, shape in enumerate(pairwise(sizes)):
            leading = data.draw(st.sampled_from([(), (2,), (3, 1)])) if what in ("stack", "ends") else ()
            A = np.zeros((*leading, *shape), S.default_dtype)
            for field in A.dtype.names or (None,):
                numbers = random.integers(1, 5, A.shape)
                if field is None:
                    A = numbers.astype(A.dtype)
                else:
                    A[field] = numbers
            if what == "ends" and i in (0, len(sizes) - 2):
                A = A[(0,) * len(leading)][0] if i == 0 else A[(0,) * len(leading)][:, 0]
            matrices.append(A)
        # from left to right, of matrices: a vector and a stack make a stack of vectors
        rows = [A[None, :] if A.ndim == 1 and i == 0 else A[:, None] if A.ndim == 1 else A
                for i, A in enumerate(matrices)]
        expected = reduce(lambda X, Y: sr.matmul(X, Y, S), rows)
        if what == "ends":
            expected = expected[..., 0, 0]
        given_ = matrices
        if what == "sparse" and not S.is_record:
            given_ = [sp.csr_array(A) if i % 2 else A for i, A in enumerate(matrices)]
        if what == "prepared":
            given_ = [sr.prepare(A, S) for A in matrices]
        found = sr.chain(given_, S)
        found = found.toarray() if sp.issparse(found) else found
        assert np.shape(found) == expected.shape and same_bits(np.asarray(found), np.asarray(expected))

    check()


def test_kinds_and_names() -> None:
    M = sr.adjacency([("a", "b", 3.0), ("b", "c", 4.0), ("c", "a", 1.0)], sr.min_plus)
    found = sr.chain([M, M, M])
    assert isinstance(found, sr.Matrix) and found.names == M.names
    assert same_bits(found.array, sr.power(M, sr.min_plus, 3).array)
    G = sp.csr_array(([3.0, 4, 1], ([0, 1, 2], [1, 2, 0])), shape=(3, 3))
    assert sp.issparse(sr.chain([G, G, G], sr.min_plus))
    b = np.zeros(3)
    assert same_bits(sr.chain([G, G, b], sr.min_plus), sr.matmul(G, sr.matmul(G, b, sr.min_plus), sr.min_plus))
    with pytest.raises(sr.GraphError):
        sr.chain([M, sr.adjacency([("x", "y", 1.0), ("y", "z", 1.0)], sr.min_plus)])


def test_where_the_order_may_matter_it_is_from_left_to_right() -> None:
    random = np.random.default_rng(0)
    shapes = [(5, 1), (1, 5), (5, 1), (1, 4)]
    matrices = [random.integers(0, 9, shape).astype(float) for shape in shapes]
    assert sr.plus_min.product_only
    expected = reduce(lambda X, Y: sr.matmul(X, Y, sr.plus_min), matrices)
    assert same_bits(sr.chain(matrices, sr.plus_min), expected)
    other = sr.matmul(matrices[0], sr.matmul(matrices[1], sr.matmul(*matrices[2:], sr.plus_min), sr.plus_min),
                      sr.plus_min)
    assert not np.array_equal(other, expected)


def test_what_does_not_fit() -> None:
    A = np.zeros((2, 3))
    for wrong in ([], "", "a", "ab", 3, np.zeros((0, 2, 3))):
        with pytest.raises(sr.SemiringError, match="chain needs a sequence of one or more matrices, or an array of"):
            sr.chain(wrong, sr.min_plus)
    for given_, message in (
        ([A, A], r"matrices\[0\] of shape \(2, 3\) and matrices\[1\] of shape \(2, 3\) do not fit: one has 3 col"),
        ([A, np.zeros(3), A], r"matrices\[1\] has shape \(3,\): it must be a matrix"),
        ([A, np.zeros((3, 3)), np.zeros(3, "f4")], r"matrices\[1\] is float64 and matrices\[2\] is float32"),
        ([np.zeros((2, 2, 3)), np.zeros((3, 3, 3))], r"leading axes \(3,\) of matrices\[1\] do not broadcast with"),
        ([np.full((2, 2), np.nan), A], r"\[0, 0\] is NaN"),
        ([A, 3], "must be a matrix"),
        ([np.full((2, 2), np.nan)], r"matrices\[0\]\[0, 0\] is NaN"),
        ([np.zeros(3)], r"matrices\[0\] has shape \(3,\): it must be a matrix, since it is the only one"),
        ([3], r"matrices\[0\] has shape \(\): it must be a matrix"),
    ):
        with pytest.raises(sr.SemiringError, match=message):
            sr.chain(given_, sr.min_plus)
    with pytest.raises(sr.SemiringError, match="chain of ndarray and ndarray needs an algebra"):
        sr.chain([A, A.T])
    for few in ([A], np.zeros((0, 2, 2))):
        with pytest.raises(sr.SemiringError, match="chain of ndarray needs an algebra"):
            sr.chain(few)


@pytest.mark.parametrize("count", [2, 3, 4, 7])
def test_what_is_not_an_element_is_named_as_it_was_passed(count: int) -> None:
    for at in range(count):
        stack = np.zeros((count, 2, 2))
        stack[at, 1, 0] = np.nan
        with pytest.raises(sr.SemiringError, match=rf"^matrices\[{at}, 1, 0\] is NaN"):
            sr.chain(stack, sr.min_plus)
        with pytest.raises(sr.SemiringError, match=rf"^matrices\[{at}\]\[1, 0\] is NaN"):
            sr.chain(list(stack), sr.min_plus)
        ends = [stack[0, 1], *stack[1:-1], stack[-1, :, 0]]
        with pytest.raises(sr.SemiringError, match=rf"^matrices\[{at}\]\["):
            sr.chain(ends, sr.min_plus)
    with pytest.raises(sr.SemiringError, match="counting: a result is"):
        sr.chain(np.full((count, 1, 1), 100, "u1"), sr.counting)


@pytest.mark.parametrize("dtype", ["f8", ">f4", "f2", "i4", "u1"])
@pytest.mark.parametrize("S", [sr.min_plus, sr.plus_times, sr.max_min, sr.log, sr.shortest_hops], ids=lambda S: S.name)
def test_one_matrix_is_its_own_product_and_none_are_the_identity(S: sr.Semiring, dtype: str) -> None:
    numbers = np.random.default_rng(0).integers(1, 50, (1, 2, 3, 3)).astype(dtype)
    eye = sr.power(numbers[0], S, 0)
    for check in (True, False):
        found = sr.chain(numbers, S, check=check)
        assert found.dtype == eye.dtype and same_bits(found, sr.power(numbers[0], S, 1))
        assert not np.shares_memory(found, numbers)
        assert same_bits(sr.chain([numbers[0, 1]], S, check=check), found[1])
        none = sr.chain(numbers[:0], S, check=check)
        assert none.dtype == eye.dtype and same_bits(none, eye)
        assert same_bits(sr.chain([none, numbers[0]] if not S.is_record else [none, found], S), found)
    assert same_bits(sr.chain([numbers[0, 0, :2]], S), sr.chain(numbers, S)[0, :2])  # two rows, three columns


def test_one_matrix_comes_back_as_its_own_kind() -> None:
    M = sr.adjacency([("a", "b", 3.0), ("b", "c", 4.0), ("c", "a", 1.0)], sr.min_plus)
    found = sr.chain([M])
    assert isinstance(found, sr.Matrix) and found is not M and same_bits(found.array, M.array)
    assert found.names == M.names
    rows = sp.csr_array(([3.0, 4, 1], ([0, 1, 2], [1, 2, 0])), shape=(3, 4))
    assert np.array_equal(sr.chain([rows], sr.min_plus).toarray(), rows.toarray())
    graph = sr.as_graph([("a", "b", 2.0)])
    assert isinstance(sr.chain([graph], sr.min_plus), sr.Graph)
    bits = sr.pack(np.eye(70, dtype=bool))
    alone = sr.chain([bits], sr.boolean)
    assert isinstance(alone, sr.PackedMatrix) and alone == bits and not np.shares_memory(alone.words, bits.words)
    assert same_bits(sr.chain([sr.prepare(M.array, sr.min_plus)], sr.min_plus), M.array)
    assert same_bits(sr.chain(M.array[None], sr.plus_min), M.array)
    with pytest.raises(sr.SemiringError, match="a product of no matrices is not known"):
        sr.chain(M.array[None][:0], sr.plus_min)


@pytest.mark.parametrize("count", [2, 3, 5, 8, 13, 100])
def test_an_array_of_matrices_is_multiplied_in_pairs(count: int) -> None:
    A = np.random.default_rng(count).integers(0, 50, (count, 2, 4, 4)).astype("f8")
    want = reduce(lambda x, y: (x[..., :, :, None] + y[..., None, :, :]).min(-2), A)
    assert np.array_equal(sr.chain(A, sr.min_plus), want)
    assert np.array_equal(sr.chain(A[:, 0], sr.min_plus), want[0])
    least = reduce(lambda x, y: np.minimum(x[:, :, None], y[None]).sum(1), A[:, 0])  # plus-min, strictly in order
    assert np.array_equal(sr.chain(A[:, 0], sr.plus_min), least)


def test_an_array_of_many_matrices_takes_a_product_each() -> None:
    A = np.random.default_rng(0).integers(0, 50, (5000, 3, 3)).astype("f8")
    assert np.array_equal(sr.chain(A, sr.min_plus), sr.scan(A, sr.min_plus)[-1])
