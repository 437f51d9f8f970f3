"""Operands whose vertices have names stand in one order, whatever order they came in."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.operands.align import aligned, alike, same_dtype
from semiring.operands.operand import Operand
from semiring.operands.read import read

WEIGHTS = np.array([[np.inf, 3.0], [1.0, np.inf]])
VERTICES = ["a", "b", "c", "d"]
MAKES: dict[str, Callable[[sr.Matrix], Any]] = {
    "Matrix": lambda M: M,
    "prepared": lambda M: sr.prepare(M),
    "Graph": lambda M: sr.as_graph(
        [(M.names[i], M.names[j], M.array[i, j]) for i in range(M.n) for j in range(M.n) if M.array[i, j] < np.inf],
        names=M.names,
    ),
}
TWO: dict[str, Callable[[Any, Any], Any]] = {
    "matmul": lambda A, B: sr.matmul(A, B, sr.min_plus),
    "accumulate": lambda A, B: sr.matmul(np.full((len(VERTICES),) * 2, np.inf), A, sr.min_plus, accumulate=B),
    "solve": lambda A, B: sr.solve(A, B, sr.min_plus),
    "Factors.solve": lambda A, B: sr.factor(A, sr.min_plus).solve(B),
    "plan": lambda A, B: sr.plan("matmul", A, B, sr.min_plus).run(),
}


def elements(answer: Any) -> np.ndarray:
    return np.asarray(sr.adjacency(answer, sr.min_plus) if isinstance(answer, sr.Graph) else answer)


@pytest.mark.parametrize("verb", TWO)
@settings(max_examples=30)
@given(
    st.lists(st.sampled_from([0.0, 1.0, 2.5, np.inf]), min_size=32, max_size=32), st.permutations(range(4)),
    st.sampled_from(sorted(MAKES)), st.sampled_from(sorted(MAKES)),
)
def test_another_order_of_the_same_names_changes_nothing(
    verb: str, weights: list[float], order: list[int], left: str, right: str
) -> None:
    A, B = np.array(weights).reshape(2, 4, 4)
    first = sr.Matrix(A, sr.min_plus, VERTICES)
    moved = sr.Matrix(B[np.ix_(order, order)], sr.min_plus, [VERTICES[i] for i in order])
    found = TWO[verb](MAKES[left](first), MAKES[right](moved))
    if verb != "accumulate":  # there the first operand is an array, and so is the answer
        assert found.names == VERTICES
    np.testing.assert_array_equal(elements(found), np.asarray(TWO[verb](A, B)))


@pytest.mark.parametrize("verb", TWO)
@pytest.mark.parametrize("make", MAKES)
def test_other_names_are_refused(verb: str, make: str) -> None:
    A = np.array([[0.0, 1.0], [2.0, 0.0]])
    one, other = (MAKES[make](sr.Matrix(A, sr.min_plus, names)) for names in (["a", "b"], ["a", "x"]))
    if verb == "accumulate":
        one, other = (sr.Matrix(np.zeros((4, 4)), sr.min_plus, [*VERTICES[:3], last]) for last in "dx")
    with pytest.raises(sr.GraphError, match=r"have different vertices: '[bd]' is in [AB] and not in [Ba]"):
        TWO[verb](one, other)


def test_what_stands_alike_is_itself() -> None:
    A = np.array([[0.0, 1.0], [2.0, 0.0]])
    names = ["a", "b"]
    first, other, plain = (read(sr.Matrix(A, sr.min_plus, n), sr.min_plus) for n in (names, list(names), None))
    assert aligned(other, first, "B") is other
    assert aligned(plain, first, "B") is plain and aligned(first, plain, "B") is first


def test_byte_order_and_kind_stay() -> None:
    first = read(sr.Matrix(np.eye(2), sr.plus_times, ["a", "b"]), sr.plus_times)
    given_ = read(sr.Matrix(np.array([[1, 2], [3, 4]], ">f8"), sr.plus_times, ["b", "a"]), sr.plus_times, "B")
    moved = aligned(given_, first, "B")
    assert moved.callers_dtype == np.dtype(">f8") and moved.what == "B" and moved.of_graph
    wrapped = moved.wrap(moved.array)
    assert wrapped.names == ["a", "b"] and wrapped.array.tolist() == [[4, 3], [2, 1]]


def named(names: list[str] | None, S: sr.Semiring = sr.min_plus) -> Operand:
    return read(sr.Matrix(WEIGHTS, S, names), S)


def test_operands_of_one_product_have_one_dtype() -> None:
    a, b = read(WEIGHTS, sr.min_plus, "A"), read(WEIGHTS.astype("f4"), sr.min_plus, "B")
    assert same_dtype(a) == same_dtype(a, a) == np.float64
    for operands in ((a, b), (a, a, b), (a, b, a)):
        with pytest.raises(sr.SemiringError, match=r"^A is float64 and B is float32; convert one with \.astype\(…\)$"):
            same_dtype(*operands)
    swapped = read(WEIGHTS.astype(">f8"), sr.min_plus, "B")
    assert same_dtype(a, swapped) == np.float64, "byte orders are none of its business"


def test_names_are_alike_where_both_have_the_same_or_none() -> None:
    array, first, other, none = read(WEIGHTS, sr.min_plus), named(["a", "b"]), named(["x", "y"]), named(None)
    graph = read(sr.as_graph([("a", "b", 1.0)]), sr.min_plus)
    for left, right, same in (
        (array, array, True), (first, named(["a", "b"]), True), (first, graph, True), (none, none, True),
        (first, other, False), (first, array, False), (array, none, False), (none, first, False),
    ):
        assert alike(left, right) is same and alike(right, left) is same


def test_stacks_of_xarray_meet_by_their_labels() -> None:
    """Rows and columns in any order, of stacks, vectors and matrices; and the answers of closures, too."""
    xarray = pytest.importorskip("xarray")
    S, names, order, rng = sr.min_plus, ["a", "b", "c"], [2, 0, 1], np.random.default_rng(0)
    A, B, C = (xarray.DataArray(rng.random((2, 3, 3)), dims=("t", "u", "v"), coords={"u": names, "v": names})
               for _ in range(3))
    x = A[0, :, 0]
    M = sr.Matrix(rng.random((3, 3)), S, names)
    product = sr.matmul(A, B, S)
    for found, expected in (
        (sr.closure(A[:, :, order], S), sr.closure(A, S)),
        (sr.power(A[:, order], S, 2)[:, [1, 2, 0]][:, :, [1, 2, 0]], sr.power(A, S, 2)),
        (sr.matmul(A, B[:, order], S), product),
        (sr.matmul(A[:, :, order], B, S), product),
        (sr.matmul(A[:, order], B[:, :, order], S), product[:, order][:, :, order]),
        (sr.matmul(A, B, S, accumulate=C[:, order][:, :, order]), sr.matmul(A, B, S, accumulate=C)),
        (sr.matmul(A, x[order], S), sr.matmul(A, x, S)),
        (sr.matmul(x, A[:, order], S), sr.matmul(x, A, S)),
        (sr.matmul(M, A[:, order], S), sr.matmul(M, A, S)),
        (sr.solve(A[:, :, order], B[:, order], S), sr.solve(A, B, S)),
        (sr.solve(A[:, :, order], B[:, :, order], S, left=True), sr.solve(A, B, S, left=True)),
        (sr.closure(sr.prepare(A[:, :, order], S), S), sr.closure(A, S)),
    ):
        assert np.array_equal(found, expected)
    other = B.assign_coords(u=["a", "b", "d"])
    with pytest.raises(sr.GraphError, match="'c' is in the columns of A and not in the rows of B"):
        sr.matmul(A, other, S)
    with pytest.raises(sr.GraphError, match="rows of A"):
        sr.closure(other, S)
    with pytest.raises(sr.GraphError, match="another order than the labels of the stack"):
        sr.matmul(A[:, :, order], M, S)
    assert np.array_equal(sr.matmul(A.to_numpy(), other, S), product), "positions, where one has no labels"


LABELS: dict[str, tuple[list[Any] | None, list[Any] | None, list[int] | str | None]] = {
    # of what meets: of A, of B, and the order of B; why it is refused; None: by position
    "turned": (["a", "b", "c"], ["c", "a", "b"], [1, 2, 0]),
    "other": (["a", "b", "c"], ["c", "a", "d"], "different vertices"),
    "integers": ([10, 20, 30], [30, 10, 20], [1, 2, 0]),
    "counted and turned": ([0, 1, 2], [2, 0, 1], [1, 2, 0]),
    "turned and counted": ([2, 0, 1], [0, 1, 2], [2, 0, 1]),
    "counted and floats": ([0, 1, 2], [2.0, 0.0, 1.0], [1, 2, 0]),
    "counted and others": ([0, 1, 2], [10, 20, 30], "different vertices|are the integers"),
    "counted and later ones": ([0, 1, 2], [1, 2, 3], "different vertices|are the integers"),
    "counted and texts": ([0, 1, 2], ["2", "0", "1"], "different vertices|are the integers"),
    "others and counted": ([10, 20, 30], [0, 1, 2], "different vertices|are the integers"),
}
KINDS = ("Matrix", "own", "sparse", "prepared", "xarray", "stack", "series", "vector")


def labelled(kind: str, array: np.ndarray, labels: list[Any], axis: int) -> Any:
    """Elements with labels, along one axis if the other one has names of its own; vectors are the first row."""
    pd, xr = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    if kind in ("series", "vector"):
        vector = array[0] if axis else array[:, 0]
        return pd.Series(vector, labels) if kind == "series" else xr.DataArray(vector, dims="k", coords={"k": labels})
    names = [labels, labels]
    if kind in ("own", "stack"):
        names[1 - axis] = ["x", "y", "z"]
    if kind == "stack":
        return xr.DataArray(array[None], dims=("t", "u", "v"), coords=dict(zip("uv", names, strict=True)))
    if kind == "xarray":
        return xr.DataArray(array, dims=("u", "v"), coords=dict(zip("uv", names, strict=True)))
    M = sr.Matrix(array, sr.min_plus, names[0], columns=names[1] if kind == "own" else None)
    return sr.prepare(M, sr.min_plus) if kind == "prepared" else M.hold("sparse") if kind == "sparse" else M


@pytest.mark.parametrize("case", LABELS)
@pytest.mark.parametrize("verb", ["matmul", "einsum", "chain"])
def test_what_meets_is_matched_by_labels_whatever_it_is(verb: str, case: str) -> None:
    """Of every two kinds, and never by position if labels say something else."""
    S, (mine, others, expected) = sr.min_plus, LABELS[case]
    A, B = np.random.default_rng(1).integers(1, 50, (2, 3, 3)).astype(float)
    offenders = []
    for first in KINDS:
        for second in KINDS:
            one, other = labelled(first, A, mine, 1), labelled(second, B, others, 0)
            left, right = first in ("series", "vector"), second in ("series", "vector")
            stacks = [("..." if kind == "stack" else "") for kind in (first, second)]
            spelt = f"{stacks[0]}{'j' if left else 'ij'},{stacks[1]}{'j' if right else 'jk'}->"
            spelt += max(stacks) + ("" if left else "i") + ("" if right else "k")
            call = {
                "matmul": lambda one=one, other=other: sr.matmul(one, other, S),
                "einsum": lambda one=one, other=other, spelt=spelt: sr.einsum(spelt, one, other, S=S),
                "chain": lambda one=one, other=other: sr.chain([one, other], S),
            }[verb]
            try:
                found = np.asarray(elements(call()), float).reshape(-1)
            except sr.SemiringError as e:
                by_kind = ("another order than the labels of the stack", "was prepared", "times an array of shape",
                           r"rows of (matrices\[.\]) and the columns of \1")
                says = [expected] if isinstance(expected, str) else []
                if not any(re.search(x, str(e)) for x in (*says, *by_kind)):
                    offenders.append((first, second, str(e)))
                continue
            if isinstance(expected, str):
                offenders.append((first, second, "is matched by position"))
                continue
            both = second not in ("own", "stack", "series", "vector") and first != "stack"
            answers = [(A[:, :, None] + B[expected][None]).min(1)]
            answers.append(answers[0][:, expected] if both else answers[0])
            parts = [X[0 if left else slice(None), 0 if right else slice(None)].reshape(-1) for X in answers]
            if not any(np.array_equal(found, part) for part in parts):
                offenders.append((first, second, "is wrong"))
    assert not offenders, offenders


def test_integers_beside_vertices_without_names_are_those_vertices() -> None:
    """Of matrices, in products, by element and with a mask; in another number of vertices they are refused."""
    S, A = sr.min_plus, np.arange(9.0).reshape(3, 3)
    plain, turned = sr.Matrix(A, S), sr.Matrix(A[np.ix_([2, 0, 1], [2, 0, 1])], S, [2, 0, 1])
    for call in (lambda X: sr.matmul(plain, X), lambda X: plain | X, lambda X: sr.solve(plain, X)):
        assert np.array_equal(call(turned).array, call(plain).array) and call(turned).names is None
    assert (turned | plain).equals(turned) and np.array_equal(sr.matmul(turned, plain).array, (turned @ turned).array)
    for other in (sr.Matrix(A, S, [10, 20, 30]), sr.as_graph([(0, 3, 1.0)])):
        with pytest.raises(sr.GraphError, match="have different vertices"):
            sr.matmul(plain if isinstance(other, sr.Matrix) else turned, other)


def test_a_chain_keeps_what_stacks_and_series_are_called() -> None:
    """A product of two of them has no labels: all are in one order before."""
    pd, xr = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    rng, names, order = np.random.default_rng(0), ["a", "b", "c"], [2, 0, 1]
    A, B, C = (xr.DataArray(rng.random((2, 3, 3)), dims=("t", "u", "v"), coords={"u": names, "v": names})
               for _ in range(3))
    x = pd.Series(rng.random(3), names)
    for given_, shuffled in (([A, B, C], [A, B[:, order], C[:, order]]), ([A, B, x], [A, B, x.iloc[order]]),
                             ([x, A, B], [x, A[:, order], B[:, order]])):
        assert np.array_equal(sr.chain(shuffled, sr.min_plus), sr.chain(given_, sr.min_plus))
