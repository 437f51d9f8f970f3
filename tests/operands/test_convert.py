"""One representation as another: the same elements, by whatever way, and what does not fit the other is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.operands import convert
from semiring.operands.convert import as_bits, as_dense, as_packed, as_sparse, on_device, on_host
from semiring.operands.dense import Dense
from semiring.operands.operand import Operand
from semiring.operands.packed import Packed
from semiring.operands.read import read
from semiring.operands.sparse import Sparse

inf = np.inf
quick = settings(max_examples=25)
SIDES = st.sampled_from([0, 1, 2, 3, 63, 64, 65, 130])


def truths(rows: int, columns: int, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    return random.random((rows, columns)) < random.choice([0, 0.1, 1])


def makes(A: np.ndarray) -> dict[str, Any]:
    return {"dense": A, "sparse": sp.csr_array(A), "packed": PackedMatrix.from_dense(A)}


@quick
@given(SIDES, SIDES, st.integers(0, 999), st.sampled_from(["dense", "sparse", "packed"]))
def test_every_way_around_ends_with_the_same_truth_values(rows: int, columns: int, seed: int, first: str) -> None:
    A = truths(rows, columns, seed)
    start = read(makes(A)[first], sr.boolean, "B")
    for one in (as_dense, as_sparse, as_packed):
        for two in (as_dense, as_sparse, as_packed):
            step = two(one(start))
            assert (step.shape, step.what, step.S) == (A.shape, "B", sr.boolean)
            found = as_dense(step).array
            assert type(found) is np.ndarray and found.dtype == bool and np.array_equal(found, A)
    assert isinstance(as_dense(start), Dense) and isinstance(as_sparse(start), Sparse)
    assert isinstance(as_packed(start), Packed) and as_sparse(start).nnz == A.sum()


@pytest.mark.parametrize("S", [sr.min_plus, sr.max_plus, sr.plus_times], ids=lambda S: S.name)
def test_entries_are_those_that_are_not_zero(S: sr.Semiring) -> None:
    A = np.array([[S.zero, 3.0, S.zero], [-2.0, S.one, S.zero]])
    entries = as_sparse(read(A, S))
    assert entries.rows.columns.tolist() == [1, 0, 1] and entries.values.tolist() == [3, -2, S.one]
    assert as_dense(entries).array.tolist() == A.tolist()


def test_what_is_one_already_stays_itself() -> None:
    for kind, one in (("dense", as_dense), ("sparse", as_sparse), ("packed", as_packed)):
        operand = read(makes(truths(3, 3, 1))[kind], sr.boolean)
        assert one(operand) is operand and on_host(operand) is operand


def test_names_of_vertices_go_along() -> None:
    graph = read(sr.as_graph([("a", "b", 3.0)]), sr.min_plus)
    made = as_dense(graph)
    assert made.names == ["a", "b"] and isinstance(made.wrap(made.array), sr.Matrix)
    assert as_sparse(made).names == ["a", "b"]
    assert as_sparse(read(sr.Matrix(made.array, sr.min_plus, ["a", "b"]), sr.min_plus)).names == ["a", "b"]


def test_what_is_no_element_is_refused_by_its_place() -> None:
    A = np.array([[inf, 2.0], [np.nan, inf]])
    with pytest.raises(sr.SemiringError, match=r"^C\[1, 0\] is NaN"):
        as_sparse(read(A, sr.min_plus, "C"))
    with pytest.raises(sr.SemiringError, match=r"^C must be a matrix, and has shape \(2, 2, 2\)"):
        as_sparse(read(np.zeros((2, 2, 2)), sr.min_plus, "C"))


def test_a_bit_is_enough_for_two_values_alone() -> None:
    fuzzy = sr.Semiring("fuzzy", add=np.maximum, mul=np.minimum, zero=0, one=1, dtypes="bf",
                        carrier=lambda a: (a >= 0) & (a <= 1))
    A = np.array([[0.0, 1.0], [1.0, 1.0]])
    assert as_packed(read(A, fuzzy)).matrix.to_dense().tolist() == [[False, True], [True, True]]
    A[0, 0] = 0.5
    with pytest.raises(sr.SemiringError, match=r"^C has entries other than the 0 and 1 of fuzzy, which do not fit in "):
        as_packed(read(A, fuzzy, "C"))
    for shape, shown in (((2, 3, 3), r"\(2, 3, 3\)"), ((3,), r"\(3,\)"), ((), r"\(\)")):
        with pytest.raises(sr.SemiringError, match=rf"^A must be one matrix, and has shape {shown}$"):
            as_packed(read(np.zeros(shape, bool), sr.boolean))
    for S in (sr.min_plus, sr.max_min):
        for given_ in (A, sp.csr_array(A)):
            with pytest.raises(sr.SemiringError, match="one bit per pair is only enough for algebras of False"):
                as_packed(read(given_, S))
            with pytest.raises(sr.SemiringError, match="one bit per pair is only enough"):
                as_bits(given_, S)


def test_a_stored_false_is_no_edge_as_a_bit() -> None:
    A = sp.csr_array((np.array([True, False, True]), ([0, 0, 1], [1, 2, 0])), shape=(2, 3))
    assert as_packed(read(A, sr.boolean)).matrix.to_dense().tolist() == [[False, True, False], [True, False, False]]


def test_bits_of_what_is_read() -> None:
    """By entries they stay entries: the solver for components takes those."""
    A = truths(70, 70, 1)
    assert isinstance(as_bits(sp.csr_array(A), sr.boolean), Sparse)
    assert isinstance(as_bits(sr.as_graph([("a", "b")]), sr.boolean), Sparse)
    for given_ in (A, A.tolist(), A.astype("i4"), PackedMatrix.from_dense(A)):
        found = as_bits(given_, sr.boolean, "C")
        assert isinstance(found, Packed) and found.what == "C" and np.array_equal(found.matrix, A)
    assert as_bits(A, sr.boolean).mine, "the library owns it"  # type: ignore[attr-defined]


def test_answers_go_back_to_where_the_operand_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a GPU: copies there and back are written down."""
    way: list[str] = []

    def copied(where: str) -> Any:
        def copy(array: np.ndarray) -> np.ndarray:
            way.append(where)
            return array.copy()

        return copy

    monkeypatch.setattr(convert, "upload", copied("there"))
    monkeypatch.setattr(convert, "to_host", copied("back"))
    A = np.array([[0, 1], [2, 0]], ">f8")
    given_: Operand = read(sr.Matrix(A, sr.min_plus, ["a", "b"]), sr.min_plus, "B")
    there = on_device(given_)
    assert there.on_gpu and (there.kind, there.what, there.names) == ("device", "B", ["a", "b"]) and way == ["there"]
    assert on_device(there) is there
    answer = there.wrap(there.array)  # type: ignore[attr-defined]
    assert isinstance(answer, sr.Matrix) and answer.names == ["a", "b"] and way == ["there", "back"]
    assert answer.array.dtype == np.dtype(">f8")
    home = on_host(there)
    assert not home.on_gpu and isinstance(home, Dense) and way == ["there", "back", "back"]
    home.wrap(home.array)
    assert way[3:] == ["there", "back"], "back to the GPU, and from there to the caller"


FAR = 2**40 + 1  # which single precision rounds
WHOLE = [("a", "b", 3), ("b", "c", FAR)]
AS_NUMPY: dict[str, Any] = {
    "Graph": lambda: sr.as_graph(WHOLE), "Matrix": lambda: sr.adjacency(WHOLE, sr.min_plus),
    "prepared": lambda: sr.prepare(sr.as_graph(WHOLE), sr.min_plus),
}


@pytest.mark.parametrize("make", AS_NUMPY)
def test_integers_of_graphs_meet_floats_as_in_numpy(make: str) -> None:
    """Rows of their closure are floats where there is ∞, and may be multiplied with them."""
    G, S = AS_NUMPY[make](), sr.min_plus
    A = np.array([[np.inf, 3.0, np.inf], [np.inf, np.inf, FAR], [np.inf] * 3])
    rows = sr.closure_rows(G, S, ["a", "b", "c"])
    for x in (np.array([0.0, np.inf, 0.5]), np.array([1.0, 2.0, 3.0]), np.eye(3), rows):
        for found, wanted in ((sr.matmul(G, x, S), sr.matmul(A, x, S)), (sr.matmul(x, G, S), sr.matmul(x, A, S)),
                              (sr.matmul(G, x, S, accumulate=x), sr.matmul(A, x, S, accumulate=x)),
                              (sr.solve(G, x, S), sr.solve(A, x, S))):
            assert np.asarray(found).dtype == np.float64
            np.testing.assert_array_equal(np.asarray(found), wanted)


def test_integers_that_floats_would_round_are_not_converted() -> None:
    G = sr.as_graph([("a", "b", 2**53 + 1)])
    for x in (np.array([0.0, np.inf]), np.zeros(2, np.float32)):
        with pytest.raises(sr.SemiringError, match=r"convert one with \.astype"):
            sr.matmul(G, x, sr.min_plus)
    assert sr.matmul(G, np.array([0, 1]), sr.min_plus).dtype == np.int64
