"""Arrays as operands: which dtype carries them, what is refused, and the type in which answers go back."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.operands.dense import Dense, carried_by, read_array, read_matrix, read_nested, refuse_dtype

inf = np.inf


def matrix(n: int) -> np.ndarray:
    random = np.random.default_rng(0)
    A = random.integers(1, 50, (n, n)).astype(float)
    A[random.random((n, n)) < 0.8] = inf
    return A


def test_lists_and_byte_orders() -> None:
    assert sr.closure([[inf, 1], [inf, inf]], sr.min_plus).tolist() == [[0, 1], [inf, 0]]
    assert sr.closure([[False, True], [False, False]], "boolean").tolist() == [[True, True], [False, True]]
    swapped = matrix(5).astype(">f8")
    result = sr.closure(swapped, sr.min_plus)
    assert (result == sr.closure(matrix(5), sr.min_plus)).all()
    assert (swapped == matrix(5)).all()
    assert sr.closure([[(inf, inf), (1.0, 1)], [(inf, inf), (inf, inf)]], sr.shortest_hops)[0, 1].item() == (1, 1)


def test_records_in_any_layout() -> None:
    S = sr.shortest_hops
    packed = np.zeros((3, 3), np.dtype([("hops", "i2"), ("cost", "f4")]))
    packed["cost"], packed["hops"] = inf, np.iinfo("i2").max
    packed[0, 1], packed[1, 2] = (1, 2.5), (1, 0.5)
    closed = sr.closure(packed, S)
    assert closed.dtype == packed.dtype
    assert closed[0, 2].item() == (2, 3.0)


def test_an_array_that_can_carry_the_algebra_stays_where_it_is() -> None:
    for A in (matrix(4), matrix(4)[::-1, ::2], np.asfortranarray(matrix(3)), np.zeros((2, 3, 3), "f2"), np.float64(3)):
        A = np.asarray(A)
        given = read_array(A, sr.min_plus, "B")
        assert given.array is A and (given.kind, given.what, given.shape) == ("dense", "B", A.shape)
        assert given.nbytes == A.nbytes and given.dtype == given.callers_dtype == A.dtype
        assert given.wrap(A) is A and not given.of_graph and given.names is None


@pytest.mark.parametrize(("given", "S", "carrier"), [
    (">f8", sr.min_plus, "f8"), (">i4", sr.min_plus, "i4"), ("<f4", sr.min_plus, "f4"), ("f8", sr.boolean, "f8"),
])
def test_answers_go_back_in_the_callers_byte_order(given: str, S: sr.Semiring, carrier: str) -> None:
    A = np.array([[0, 1], [1, 0]], given)
    operand = read_array(A, S, "A")
    assert operand.dtype == np.dtype(carrier) and operand.array.dtype.isnative
    assert operand.array.tolist() == A.tolist()
    assert operand.wrap(operand.array).dtype == np.dtype(given)


def test_what_is_masked_is_no_edge() -> None:
    A = np.ma.masked_array([[1.0, np.nan], [2.0, 3.0]], mask=[[False, True], [False, True]])
    for S, zero in ((sr.min_plus, inf), (sr.max_plus, -inf), (sr.plus_times, 0)):
        given = read_array(A, S, "A")
        assert type(given.array) is np.ndarray and given.array.tolist() == [[1, zero], [2, zero]]
    fields = [("cost", "f8"), ("hops", "f8")]
    masked = np.array([(True, True), (False, False)], [(name, "?") for name, _ in fields])
    records = np.ma.masked_array(np.ones(2, fields), masked)
    assert read_array(records, sr.shortest_hops, "C").array.tolist() == [(inf, inf), (1, 1)]
    records.mask["hops"][1] = True
    with pytest.raises(sr.SemiringError, match=r"^C\[1\] is masked in some of its fields only"):
        read_array(records, sr.shortest_hops, "C")


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_subclasses_that_multiply_in_their_own_way_are_plain_inside() -> None:
    A = np.matrix([[0.0, 1.0], [2.0, 3.0]])
    given = read_array(A, sr.min_plus, "A")
    assert type(given.array) is np.ndarray and np.shares_memory(given.array, A)


def test_a_matrix_keeps_its_names_and_its_algebra() -> None:
    M = sr.Matrix(np.array([[0, 3], [7, 0]], ">i4"), sr.min_plus, ["a", "b"])
    given = read_matrix(M, sr.min_plus, "A")
    assert given.of_graph and given.names == ["a", "b"] and given.dtype == np.int32
    back = given.wrap(given.array)
    assert isinstance(back, sr.Matrix) and back.names == ["a", "b"] and back["a", "b"] == 3
    assert back.array.dtype == np.dtype(">i4")


@pytest.mark.parametrize(("A", "S", "dtype", "elements"), [
    ([[0, 1], [2, 3]], sr.min_plus, "i8", [[0, 1], [2, 3]]),
    ([[0, 0.5]], sr.min_plus, "f8", [[0, 0.5]]),
    ([[0, 1]], sr.plus_times, "f8", [[0, 1]]),
    ([[0, 1]], sr.boolean, "i8", [[0, 1]]),
    ([[False, True]], sr.boolean, "?", [[False, True]]),
    ([], sr.min_plus, "f8", []),
    (5, sr.min_plus, "i8", 5),
    ([[(1.0, 2)]], sr.shortest_hops, None, [[(1.0, 2.0)]]),
])
def test_nested_lists_are_in_the_dtype_that_the_algebra_would_take(
    A: object, S: sr.Semiring, dtype: str | None, elements: object
) -> None:
    given = read_nested(A, S, "A")
    assert given.dtype == (S.default_dtype if dtype is None else np.dtype(dtype))
    assert given.array.tolist() == elements


@pytest.mark.parametrize(("A", "S", "message"), [
    ([[1, 2], [3]], sr.min_plus, "^A is not a matrix: .*; pass a NumPy array, a sparse matrix or a graph$"),
    ([["a"]], sr.min_plus, r"^A\[0, 0\] is 'a', which is not a number$"),
    ([[0, b"1"], [2, 3]], sr.min_plus, r"^A\[0, 1\] is b'1', which is not a number$"),
    ("here", sr.min_plus, "^A is 'here', which is not a number$"),
    (None, sr.min_plus, "^A is of type NoneType, and not a matrix; pass"),
    ({"a": {"b": 1}}, sr.min_plus, "^A is of type dict, and not a matrix; pass"),
    ([[1j]], sr.min_plus, "min-plus cannot live in complex128"),
    ([[(1.0, 2, 3)]], sr.shortest_hops, "^A is not a matrix"),
    ([[object()]], sr.max_min, None),
])
def test_lists_that_are_no_matrix(A: object, S: sr.Semiring, message: str | None) -> None:
    if message is None:  # objects are looked at when their facts are asked for
        assert read_nested(A, S, "A").dtype == object
        return
    with pytest.raises(sr.SemiringError, match=message):
        read_nested(A, S, "A")


def test_dtypes_that_hold_no_numbers() -> None:
    text = r"^X has elements of dtype {}, which are not numbers; shortest-hops lives in "
    for dtype, shown in (([("cost", "f8"), ("hops", "U3")], "<U3"), ([("cost", "M8[s]"), ("hops", "f8")], "datetime")):
        with pytest.raises(sr.SemiringError, match=text.format(f".*{shown}.*")):
            refuse_dtype(np.dtype(dtype), sr.shortest_hops, "X")
    for dtype in ("f8", "i4", "?", "c16"):
        refuse_dtype(np.dtype(dtype), sr.min_plus, "X")
    for dtype in ("U3", "M8[s]", [("cost", "f8")]):  # whether the algebra lives in it is asked later
        refuse_dtype(np.dtype(dtype), sr.min_plus, "X")
        with pytest.raises(sr.SemiringError, match="min-plus cannot live in"):
            read_array(np.zeros((2, 2), dtype), sr.min_plus, "X")


def test_an_array_is_converted_only_where_its_dtype_cannot_carry_the_algebra() -> None:
    A = np.zeros((2, 2), "f4")
    assert carried_by(A, sr.min_plus) is A
    whole = np.zeros((2, 2), "i8")
    assert carried_by(whole, sr.plus_times, literal=True).dtype == np.float64, "Python's numbers have no dtype"
    assert carried_by(whole, sr.plus_times).dtype == np.float64
    with pytest.raises(sr.SemiringError, match="gf2 cannot live in float32"):
        carried_by(A, sr.gf2)
    B = A.astype(A.dtype.newbyteorder())
    assert carried_by(B, sr.min_plus).dtype.isnative and not B.dtype.isnative


def test_facts_and_the_form_that_follows() -> None:
    given = Dense(np.array([[0.0, 5.0], [inf, -3.0]]), sr.min_plus)
    assert (given.facts.largest, given.facts.high_limit, given.facts.low_limit) == (5, True, False)
    facts, low = given.form(2)
    assert facts is given.facts and low.dtype == np.float64
    ones = Dense(np.array([[0.0, inf], [inf, 0.0]]), sr.min_plus)
    assert ones.form(2)[1].kind == "packed" != Dense(ones.array[None], sr.min_plus).form(2)[1].kind
    with pytest.raises(sr.SemiringError, match=r"^Q\[0, 1\] is NaN"):
        Dense(np.array([[0, np.nan]]), sr.min_plus, "Q").form(2)


def test_elements_in_storage_are_a_copy_where_that_is_wanted() -> None:
    A = matrix(3)
    given = Dense(A, sr.min_plus)
    low = given.form(3)[1]
    assert low.is_identity
    assert np.shares_memory(given.stored(low, False), A) and not np.shares_memory(given.stored(low, True), A)
    assert given.unstored(low, given.stored(low, True)).tolist() == A.tolist()
