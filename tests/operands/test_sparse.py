"""Matrices by their entries: how sparse matrices and graphs are read, and what is refused by row and column."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from bridge import same_bits
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.blocks.rows import Rows
from semiring.operands import sparse as module
from semiring.operands.convert import as_sparse
from semiring.operands.read import read
from semiring.operands.sparse import (
    MOST_ROWS,
    Sparse,
    elements_of,
    entries_in,
    read_graph,
    read_scipy,
)

inf = np.inf
quick = settings(max_examples=60)
CLOSED = np.array([[0, 3, 3], [inf, 0, 0], [inf, inf, 0]])


def compressed(A: Any, S: sr.Semiring) -> Sparse:
    """An operand by its entries."""
    return as_sparse(read(A, S))


# SciPy's matrices.


@pytest.mark.parametrize("kind", ["coo", "csr", "csc", "lil", "dok"])
@pytest.mark.parametrize("make", [sp.coo_array, sp.coo_matrix])
def test_sparse(kind: str, make: Any) -> None:
    """What is stored is an edge, also a 0; what is not stored is the algebra's zero."""
    graph = make(([3.0, 0.0, 5.0], ([0, 1, 0], [1, 2, 2])), shape=(3, 3)).asformat(kind)
    assert same_bits(sr.closure(graph, sr.min_plus), CLOSED)
    square = sr.matmul(graph, graph, sr.min_plus)
    assert isinstance(square, sp.csr_array)
    assert (square.nnz, square[0, 2]) == (1, 3)  # everything else is the algebra's zero


def test_sparse_duplicates_and_rectangles() -> None:
    graph = sp.coo_array(([3.0, 1.0], ([0, 0], [1, 1])), shape=(2, 3))
    assert sr.matmul(graph, np.zeros((3, 1)), sr.min_plus).tolist() == [[1], [inf]]
    assert sr.matmul(graph, np.ones((3, 1)), sr.plus_times).tolist() == [[4], [0]]
    assert sr.matmul(np.zeros((1, 2)), graph, sr.max_plus).tolist() == [[-inf, 3, -inf]]


def test_entries_of_one_place_combine_and_explicit_zeros_are_edges() -> None:
    A = sp.coo_array(([5.0, 3.0, 0.0, inf], ([0, 0, 1, 2], [1, 1, 2, 0])), (3, 3))
    twice = sp.csr_array((np.array([5, 3, 0, inf], "f4"), np.array([1, 1, 2, 0]), np.array([0, 2, 3, 4])), (3, 3))
    # (SciPy itself sums what stands twice when it converts.)
    for matrix, first in ((A, 3), (twice, 3), (A.tocsc(), 8)):
        got = sr.factor(matrix, sr.min_plus).closure()
        assert got.dtype == matrix.dtype
        np.testing.assert_array_equal(got, [[0, first, first], [inf, 0, 0], [inf, inf, 0]])


def test_unsorted_and_64_bit_indices() -> None:
    A = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([2, 1, 0]), np.array([0, 2, 2, 3])), (3, 3))
    assert not A.has_sorted_indices
    wide = sp.csr_array((A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)), (3, 3))
    for matrix in (A, wide):
        np.testing.assert_array_equal(
            sr.factor(matrix, sr.min_plus).closure(), [[0, 2, 1], [inf, 0, inf], [4, 6, 0]]
        )


def test_explicit_zeros_are_edges_and_duplicates_combine() -> None:
    coo = sp.coo_array(([5.0, 0, 3, 4, 9], ([0, 0, 0, 0, 1], [1, 0, 1, 1, 2])), shape=(2, 3))
    csr = sp.csr_array((np.array([5.0, 0, 3, 4, 9]), np.array([1, 0, 1, 1, 2]), np.array([0, 4, 5])), shape=(2, 3))
    csc = sp.csc_array((np.array([0.0, 5, 3, 4, 9]), np.array([0, 0, 0, 0, 1]), np.array([0, 1, 4, 5])), shape=(2, 3))
    for S, combined in ((sr.min_plus, 3), (sr.max_plus, 5), (sr.plus_times, 12)):
        for A in (coo, csr, csc):
            rows = compressed(A, S).rows
            assert rows.offsets.tolist() == [0, 2, 3] and rows.columns.tolist() == [0, 1, 2]
            assert rows.values.tolist() == [0, combined, 9]
    assert csr.data.tolist() == [5, 0, 3, 4, 9] and csr.indices.tolist() == [1, 0, 1, 1, 2]


@pytest.mark.parametrize("kind", ["bsr", "dia"])
def test_padding_is_no_edge(kind: str) -> None:
    A = sp.csr_array(np.array([[1.0, 0], [0, 2]])).asformat(kind)
    assert compressed(A, sr.min_plus).rows.values.tolist() == [1, 2]


def test_indices_outside_are_refused() -> None:
    for columns, offsets in (([0, 2], [0, 1, 2]), ([0, -1], [0, 1, 2]), ([0, 1], [0, 2, 1]), ([0, 1], [0, 1, 3])):
        A = sp.csr_array(np.eye(2))
        A.indices, A.indptr = np.array(columns, np.int32), np.array(offsets, np.int32)
        with pytest.raises(sr.SemiringError, match="outside"):
            _ = compressed(A, sr.min_plus).rows
    A = sp.csr_array(np.eye(2))
    A.indices = np.array([0, 2**40])
    with pytest.raises(sr.SemiringError, match="outside"):
        _ = compressed(A, sr.min_plus).rows


def test_padding_of_blocks_is_no_edge() -> None:
    A = sp.csr_array(np.array([[1.0, 0, 0, 0], [0, 2, 0, 0]])).tobsr((2, 2))
    assert A.nnz == 4
    found = compressed(A, sr.min_plus)
    assert found.values.tolist() == [1, 2] and found.indices.tolist() == [0, 1]


def test_fewer_numbers_than_places_are_refused() -> None:
    A = sp.csr_array(np.eye(2))
    A.data = A.data[:1]
    with pytest.raises(sr.SemiringError, match=r"^B is 2 × 2, but some of its indices are outside"):
        read_scipy(A, sr.min_plus, "B")


@quick
@given(st.data(), st.integers(0, 6), st.integers(0, 6), st.sampled_from(["csr", "csc", "coo", "lil", "dok"]))
def test_the_matrix_is_what_is_stored_and_zeros(data: st.DataObject, height: int, width: int, kind: str) -> None:
    places = [(i, j) for i in range(height) for j in range(width)]
    chosen = data.draw(st.lists(st.sampled_from(places), unique=True)) if places else []
    values = data.draw(st.lists(st.integers(1, 9), min_size=len(chosen), max_size=len(chosen)))
    expected = np.full((height, width), inf)
    for at, x in zip(chosen, values, strict=True):
        expected[at] = x
    ends = np.array(chosen, int).reshape(-1, 2).T
    A = sp.coo_array((np.array(values, float), (ends[0], ends[1])), shape=(height, width)).asformat(kind)
    found = read_scipy(A, sr.min_plus, "B")
    assert (found.shape, found.n, found.nnz, found.what) == ((height, width), height, len(chosen), "B")
    assert found.array().tolist() == expected.tolist()
    assert (found.kind, found.dtype, found.names, found.of_graph) == ("sparse", np.float64, None, False)
    assert found.indices.dtype == found.indptr.dtype == np.int64 and found.rows.columns.dtype == np.int32
    assert found.nbytes == 8 * len(chosen) + 4 * len(chosen) + 8 * (height + 1)
    for i in range(height):
        row = found.indices[found.indptr[i] : found.indptr[i + 1]].tolist()
        assert row == sorted(j for k, j in chosen if k == i)


@pytest.mark.parametrize(("given_", "S", "dtype", "elements"), [
    (np.array([2.5, 0.0]), sr.boolean, "?", [True, True]), (np.array([2, 0], "i4"), sr.boolean, "?", [True, True]),
    (np.array([True, False]), sr.boolean, "?", [True, False]), (np.array([1, 2], ">i4"), sr.min_plus, "i4", [1, 2]),
    (np.array([1.5, 2], "f4"), sr.min_plus, "f4", [1.5, 2]),
])
def test_the_dtype_of_stored_numbers(given_: np.ndarray, S: sr.Semiring, dtype: str, elements: list) -> None:
    found = elements_of(S, given_, "A")
    assert found.dtype == np.dtype(dtype) and found.dtype.isnative and found.tolist() == elements


def test_truth_values_are_edges_without_a_weight_where_the_algebra_has_none() -> None:
    A = sp.csr_array((np.array([True, False, True]), ([0, 0, 1], [0, 1, 0])), shape=(2, 2))
    assert compressed(A, sr.boolean).nnz == 3, "a False that is stored is an element"
    for S, one in ((sr.min_plus, 1), (sr.plus_times, 1), (sr.viterbi, 1)):
        found = compressed(A, S)
        assert found.values.tolist() == [one, one] and found.rows.columns.tolist() == [0, 0]


class Stored:
    """What is asked of a sparse matrix, too large for any memory."""

    format = "csr"

    def __init__(self, *shape: int):
        self.shape = shape


def test_shapes_that_no_sparse_matrix_has() -> None:
    with pytest.raises(sr.SemiringError, match=r"^a sparse matrix has two axes, and B has shape \(3,\)"):
        read_scipy(sp.coo_array(np.ones(3)), sr.min_plus, "B")
    for shape in ((MOST_ROWS + 1, 1), (1, MOST_ROWS + 1)):
        text = f"^B is {shape[0]} × {shape[1]}; a sparse matrix may have {MOST_ROWS} rows and columns: if"
        with pytest.raises(sr.SemiringError, match=text):
            read_scipy(Stored(*shape), sr.min_plus, "B")


@pytest.mark.parametrize("kind", ["coo", "csr", "csc"])
@pytest.mark.parametrize(("value", "text"), [(np.nan, "NaN: NaN is not an element of any algebra; remove or correct"),
                                             (3.0, "3: it is outside the carrier of viterbi, ")])
def test_an_entry_that_is_no_element_is_refused_by_row_and_column(kind: str, value: float, text: str) -> None:
    A = sp.coo_array(([0.5, value, 0.5], ([2, 2, 0], [3, 1, 0])), shape=(4, 5)).asformat(kind)
    with pytest.raises(sr.SemiringError, match=rf"^B\[2, 1\] is {text}"):
        read_scipy(A, sr.viterbi, "B").look()


def test_coordinates_outside_are_refused() -> None:
    A = sp.coo_array(([1.0], ([1], [1])), shape=(2, 2))
    for row, column in ((2, 0), (0, 2), (-1, 0), (0, -1)):
        A.coords = (np.array([row]), np.array([column]))
        with pytest.raises(sr.SemiringError, match=r"^B is 2 × 2 and has entries outside$"):
            read_scipy(A, sr.min_plus, "B")


# Graphs and arrays.


def test_graphs_and_dense_matrices_become_rows() -> None:
    graph = sr.as_graph([("a", "b", 3), ("b", "b", 0)], directed=False)
    found = compressed(graph, sr.min_plus)
    assert found.names == ["a", "b"]
    assert found.rows.columns.tolist() == [1, 0, 1] and found.rows.values.tolist() == [3, 3, 0]
    records = sr.as_graph([(0, 1, (2.0, 1)), (0, 1, (2.0, 0))])
    assert compressed(records, sr.shortest_hops).rows.values.tolist() == [(2.0, 0)]
    unweighted = compressed(sr.as_graph([(0, 1), (2, 1)]), sr.min_plus)
    assert unweighted.rows.offsets.tolist() == [0, 1, 1, 2] and unweighted.rows.values.tolist() == [1, 1]
    A = np.array([[inf, 0], [1, inf]])
    assert compressed(A, sr.min_plus).rows.columns.tolist() == [1, 0]
    assert compressed(sr.Matrix(A, sr.min_plus, ["x", "y"]), sr.min_plus).names == ["x", "y"]
    assert compressed(sr.as_graph([], 3), sr.min_plus).shape == (3, 3)


def test_an_undirected_graph_goes_both_ways_and_a_loop_once() -> None:
    graph = sr.as_graph([("a", "b", 2.0), ("b", "b", 1.0)], directed=False)
    found = read_graph(graph, sr.plus_times, "A")
    assert found.array().tolist() == [[0, 2], [2, 1]] and found.of_graph
    answer = found.wrap(found.array())
    assert isinstance(answer, sr.Matrix) and answer.names == ["a", "b"]
    assert type(compressed(sp.csr_array((2, 2)), sr.min_plus).wrap(np.zeros((2, 2)))) is np.ndarray


def test_entries_of_an_array_are_those_that_are_not_zero() -> None:
    A = np.array([[inf, 2.0], [0.0, inf]])
    found = entries_in(A, sr.min_plus, "A", ["x", "y"])
    assert found.values.tolist() == [2, 0] and found.names == ["x", "y"]
    assert entries_in(A[:, :0], sr.min_plus, "A", None).shape == (2, 0)
    with pytest.raises(sr.SemiringError, match=r"^Q must be a matrix, and has shape \(2,\)$"):
        entries_in(A[0], sr.min_plus, "Q", None)


# Entries of any order, and what is made of them.


def test_zero_counts_among_the_facts_for_it_may_be_a_limit() -> None:
    A = sp.csr_array(np.array([[0, 5], [7, 0]], "i2"))
    assert compressed(A, sr.min_plus).facts.high_limit and not compressed(A, sr.max_plus).facts.high_limit
    assert compressed(A, sr.max_plus).facts.low_limit and compressed(A, sr.min_plus).facts.largest == 7
    ones = sp.csr_array((np.zeros(2), ([0, 1], [1, 0])), shape=(2, 2))
    assert compressed(ones, sr.min_plus).facts.two_valued and compressed(ones, sr.min_plus).values.tolist() == [0, 0]


def test_other_weights_on_the_same_edges() -> None:
    graph = compressed(sr.as_graph([("a", "b", 2.0), ("b", "a", 3.0)]), sr.min_plus)
    other = graph.with_values(np.array([5, 7]))
    assert other.values.tolist() == [5, 7] and other.dtype == np.float64 and other.names == ["a", "b"]
    assert other.of_graph and graph.values.tolist() == [2, 3] and other.indptr is graph.indptr
    with pytest.raises(sr.GraphError, match=r"^edge 1 \(1 → 0\): the weight is NaN"):
        graph.with_values(np.array([1, np.nan]))
    likely = compressed(sr.as_graph([("a", "b", 0.5), ("b", "a", 0.5)]), sr.viterbi)
    with pytest.raises(sr.GraphError, match=r"^edge 0 \(0 → 1\): the weight 2 is outside"):
        likely.with_values(np.array([2.0, 0.5]))


def test_elements_in_storage_keep_their_places() -> None:
    given_ = compressed(sp.csr_array(np.array([[0, 5], [7, 0]], "i4")), sr.min_plus)
    low = given_.lowering(given_.facts, 2)
    stored = given_.stored(low, True)
    assert isinstance(stored, Rows) and stored.columns is given_.rows.columns and stored.offsets is given_.rows.offsets
    assert stored.values.dtype == low.storage != np.dtype("i4") and low.decode(stored.values).tolist() == [5, 7]


def test_a_wide_matrix_is_no_square_in_between() -> None:
    wide = sp.csr_array(([2.0], ([0], [7])), shape=(1, 10**6))
    found = sr.matmul(np.zeros((1, 1)), np.full((1, 10**6), 5.0), sr.min_plus, accumulate=wide)
    assert found.shape == (1, 10**6) and found[0, 7] == 2 and found[0, 8] == 5


@settings(max_examples=60)
@given(
    st.sampled_from([sr.min_plus, sr.max_times, sr.plus_times, sr.max_plus, sr.lukasiewicz]),
    st.sampled_from([0, 1, -1, 2, 0.5, np.inf, -np.inf, np.nan]), st.sampled_from([1, 3, 20_000]),
)
def test_facts_of_one_value_are_those_of_all(S: sr.Semiring, value: float, count: int) -> None:
    """Where all entries are alike the first one is looked at; refused is the same entry for the same reason."""
    A = sp.csr_array((np.full(count, value, float), np.arange(count), np.array([0, count])), (1, count))
    whole = read(A, S, "A")
    assert isinstance(whole, Sparse)
    whole.__dict__["alike"] = False
    try:
        expected = whole.facts
    except sr.SemiringError as error:
        with pytest.raises(sr.SemiringError) as found:
            _ = read(A, S, "A").facts
        assert str(found.value) == str(error)
        return
    assert read(A, S, "A").facts == expected


def test_rows_are_looked_at_once_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has been prepared is mended, and a product with a vector does not look at it again."""
    A = sp.csr_array((np.array([2.0, 1.0]), np.array([1, 0]), np.array([0, 2, 2])), (2, 2))
    read_ = read(A, sr.min_plus, "A")
    assert isinstance(read_, Sparse) and not read_.inspected and read_.given.columns.tolist() == [1, 0]
    prepared = sr.prepare(A, sr.min_plus)
    assert isinstance(prepared, Sparse) and prepared.inspected and prepared.given.columns.tolist() == [0, 1]
    monkeypatch.setattr(module, "state_of", None)
    assert sr.matmul(prepared, np.array([5.0, 0.0]), sr.min_plus).tolist() == [2, inf]
    assert prepared.rows is prepared.given
