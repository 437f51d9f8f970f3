"""The vocabulary of a `Matrix` against dictionaries of edges by name, over generated algebras and Python objects."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import families
import numpy as np
import pytest
import scipy.sparse as sp
from graphs.listing import refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr

INF = np.inf
Edges = dict[tuple[Any, Any], Any]
FAMILIES = families.families()
SOME = (
    "min-plus ≥ 0, 1/(1 + x)", "viterbi, 3 − 2 x", "non-negative plus-times, x²", "min-plus up to 60, as it is",
    "semiring 17 of 4 elements", "relations on two points", "triangular matrices over plus-times",
    "tuples (1, 1) in order, as it is, as it is, f8 f8",
)
LETTERS = [sr.letter(x) for x in "abc"]
MADE: dict[str, tuple[sr.Semiring, Callable[[np.random.Generator, int, int], np.ndarray]]] = {}


def made(name: str) -> tuple[sr.Semiring, Callable[[np.random.Generator, int, int], np.ndarray]]:
    """An algebra, and a function that draws matrices over it, with some zeros."""
    if name in MADE:
        return MADE[name]
    if name in FAMILIES:
        g = FAMILIES[name]
        S = g.declare(sr)
        kinds = g.record_dtypes or [d for d in S.dtypes if d == np.dtype("f8")] or S.dtypes
        drawn = lambda rng, m, n: g.draw(rng, 1, m, np.dtype(kinds[0]), n)[0]  # noqa: E731
    else:
        S = sr.catalogue[name]
        dtype = np.dtype("i4") if name == "max_plus" else S.element_dtype
        pool = S.samples().astype(dtype) if dtype.kind != "i" else np.array([0, 3, -7, 12], dtype)

        def drawn(rng: np.random.Generator, m: int, n: int) -> np.ndarray:
            return pool[rng.integers(0, min(len(pool), 6), (m, n))]

    def with_zeros(rng: np.random.Generator, m: int, n: int) -> np.ndarray:
        found = np.array(drawn(rng, m, n))
        zero = np.empty((1,), found.dtype)
        zero.fill(S.zero_in(found.dtype))
        found[rng.random((m, n)) < 0.3] = zero[0]
        return found

    return MADE.setdefault(name, (S, with_zeros))


class Drawn:
    """A matrix by name, and the dictionary of its edges."""

    def __init__(self, name: str, rng: np.random.Generator, rows: list[Any], columns: list[Any], kind: str = "dense"):
        self.S, draw = made(name)
        array = draw(rng, len(rows), len(columns))
        down, across = rng.permutation(len(rows)), rng.permutation(len(columns))
        M = sr.Matrix(array, self.S, [rows[i] for i in down], columns=[columns[j] for j in across])
        self.M = M.hold(kind)
        self.edges = {(rows[i], columns[j]): array[x, y] for x, i in enumerate(down) for y, j in enumerate(across)
                      if not self.is_zero(array[x, y])}

    def is_zero(self, x: Any) -> bool:
        return bool(self.S.over(self.M.dtype).is_zero(np.asarray(x, self.M.dtype).reshape(1))[0])

    def op(self, what: str, x: Any, y: Any) -> Any:
        T = self.S.over(self.M.dtype)
        pair = [np.empty(1, self.M.dtype), np.empty(1, self.M.dtype)]
        pair[0][0], pair[1][0] = x, y
        return getattr(T, what)(*pair)[0]

    def total(self, terms: list[Any]) -> Any:
        found = np.empty(1, self.M.dtype)
        found.fill(self.S.zero_in(self.M.dtype))
        answer = found[0]
        for x in terms:
            answer = self.op("add", answer, x)
        return answer

    def agrees(self, found: sr.Matrix, wanted: Edges, rows: list[Any], columns: list[Any]) -> None:
        """The matrix has these names, and these entries."""
        assert sorted(map(str, found.row_names)) == sorted(map(str, rows)) and found.semiring is self.S
        assert sorted(map(str, found.column_names)) == sorted(map(str, columns))
        found = found.hold("dense")
        for a in rows:
            for b in columns:
                x = found.array[found.index(a), found.index(b, 1)]
                y = wanted.get((a, b))
                if y is None or self.is_zero(y):
                    assert self.is_zero(x), (a, b, x)
                else:
                    assert near(x, y), (a, b, x, y)


def near(x: Any, y: Any) -> bool:
    if isinstance(x, np.void):
        return all(near(x[f], y[f]) for f in x.dtype.names)
    if isinstance(x, np.ndarray):
        return all(near(a, b) for a, b in zip(x.ravel(), np.asarray(y).ravel(), strict=True))
    return bool(x == y) or (isinstance(x, np.floating) and bool(np.isclose(x, y, rtol=1e-9, atol=0)))


@pytest.mark.parametrize("name", [*SOME, "max_plus", "pareto", "boolean"])
@settings(max_examples=12)
@given(st.integers(0, 2**32), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.data())
def test_the_vocabulary_against_dictionaries_of_edges(
    name: str, seed: int, m: int, k: int, n: int, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    of = st.sampled_from(["dense", "sparse"] if name != "boolean" else ["dense", "sparse", "packed"])
    kinds = [data.draw(of) for _ in range(3)]
    R, K, C = [f"r{i}" for i in range(m)], [("k", i) for i in range(k)], list(range(10, 10 + n))
    A, A2, B = (Drawn(name, rng, rows, columns, kind) for (rows, columns), kind in
                zip(((R, K), (R, K), (K, C)), kinds, strict=True))
    op, S = A.op, A.S
    products: dict[tuple[Any, Any], list[Any]] = {}
    for (a, x), u in A.edges.items():
        for (y, b), w in B.edges.items():
            if x == y:
                products.setdefault((a, b), []).append(op("mul", u, w))
    if S.absorbs:
        A.agrees(A.M @ B.M, {at: A.total(terms) for at, terms in products.items()}, R, C)
        A.agrees(sr.matmul(A.M, B.M), {at: A.total(terms) for at, terms in products.items()}, R, C)
    both = {at: op("mul", u, A2.edges[at]) for at, u in A.edges.items() if at in A2.edges}
    union = {at: op("add", A.edges[at], A2.edges[at]) if at in A.edges and at in A2.edges
             else A.edges.get(at, A2.edges.get(at)) for at in {*A.edges, *A2.edges}}
    A.agrees(A.M | A2.M, union, R, K)
    A.agrees(A.M * A2.M, both, R, K)
    A.agrees(A.M.T, {(b, a): w for (a, b), w in A.edges.items()}, K, R)
    A.agrees(A.M.where(A2.M), {at: w for at, w in A.edges.items() if at in A2.edges}, R, K)
    A.agrees(A.M.where(A2.M, complement=True), {at: w for at, w in A.edges.items() if at not in A2.edges}, R, K)
    pairs = {((a, c), (b, d)): op("mul", u, w) for (a, b), u in A.edges.items() for (c, d), w in B.edges.items()}
    A.agrees(A.M.kron(B.M), pairs, [(a, c) for a in R for c in K], [(b, d) for b in K for d in C])
    A.agrees(A.M.map(lambda w: w), A.edges, R, K)
    some = K[: max(k - 1, 1)][::-1]
    A.agrees(A.M[R, some], {at: w for at, w in A.edges.items() if at[1] in some}, R, some)
    assert A.M.nnz == len(A.edges) and {(a, b) for a, b, _ in A.M.edges()} == set(A.edges)
    for a in R:
        for b in K:
            assert ((a, b) in A.M) is ((a, b) in A.edges)
    assert "r0" in A.M or not m
    assert "elsewhere" not in A.M and ("r0", "elsewhere") not in A.M
    sums = [[w for (a, _), w in A.edges.items() if a == row] for row in A.M.row_names]
    for found, terms in zip(A.M.sum(axis=1), sums, strict=True):
        wanted = A.total(terms)
        assert near(found, wanted) or (A.is_zero(wanted) and found == S.zero)
    changed = pickle.loads(pickle.dumps(A.M))
    assert changed.equals(A.M) and A.M.equals(A.M.hold("dense")) and bool((A.M.hold("sparse") == A.M).all())
    assert A.M.equals(A2.M) is (A.edges == A2.edges) or name not in ("boolean", "max_plus")
    if changed.holder == "dense":
        changed.array = changed.array.copy()
    if m:
        changed[R[:1], some] = A2.M[R[:1], some]
        edges = {**{at: w for at, w in A.edges.items() if at[0] != "r0" or at[1] not in some},
                 **{at: w for at, w in A2.edges.items() if at[0] == "r0" and at[1] in some}}
        A.agrees(changed, edges, R, K)


ROADS = sr.Matrix(np.array([[INF, 3.0], [1.0, 7.0], [0.0, INF]]), sr.min_plus, ["ayr", "bute", "coll"],
                  columns=["mill", "shop"])


@pytest.mark.parametrize("kind", ["dense", "sparse", "packed"])
def test_axes_of_a_sum_are_named_as_in_numpy(kind: str) -> None:
    """Whichever way the elements are kept."""
    M = sr.Matrix(np.array([[False, True, False], [False, True, True]]), sr.boolean).hold(kind)
    columns, rows = [False, True, True], [True, True]
    for axis, wanted in ((0, columns), (-2, columns), ((0,), columns), (np.int64(0), columns), (1, rows), (-1, rows),
                         ((-1,), rows), (None, True), ((0, 1), True), ((-1, 0), True), ((), M.to_numpy().tolist())):
        for found in (M.sum(axis), np.sum(M, axis=axis), M.semiring.sum(M, axis)):
            assert type(found) in (np.ndarray, np.bool_) and found.tolist() == wanted
    for axis in (2, -3, "rows", True, 1.0, (0, 0), (0, -2)):
        with refused("axis", sr.SemiringError):
            M.sum(axis)


def test_selected_and_mapped_weights() -> None:
    assert list(ROADS.select(lambda w: w < 5).edges()) == [("ayr", "shop", 3.0), ("bute", "mill", 1.0),
                                                           ("coll", "mill", 0.0)]
    assert next(ROADS.map(lambda w: -w, "max-plus").edges()) == ("ayr", "shop", -3.0)
    hops = ROADS.map(lambda w: w > 0, sr.boolean)
    assert hops.nnz == 3 and hops.semiring is sr.boolean and hops.column_names == ["mill", "shop"]
    letters = sr.adjacency([("a", "b", sr.letter("x")), ("b", "a", sr.letter("y"))], sr.regex)
    assert letters.select(lambda w: w == sr.letter("x")).nnz == 1
    assert list(letters.map(lambda w: 2.0, sr.min_plus).edges()) == [("a", "b", 2.0), ("b", "a", 2.0)]
    with refused("condition must return an array of bool, and returned float64"):
        ROADS.select(lambda w: w)
    with refused("function must return one result for each of the 4 entries"):
        ROADS.map(np.sum)
    with refused("entry ('bute', 'mill')"):
        ROADS.map(lambda w: np.where(w == 1.0, np.nan, w))
    for strange in (np.full(4, "x"), np.full(4, "2026", "M8[D]")):
        with refused("is not a number"):
            ROADS.map(lambda w, strange=strange: strange)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_functions_of_weights_may_write_where_they_are_given(kind: str) -> None:
    M = ROADS.hold(kind)
    for call in (M.map, M.select):
        call(lambda w: np.add(w, 1.0, out=w) > 0)
        assert M.equals(ROADS)


def test_dtypes_keep_infinity_and_refuse_what_does_not_fit() -> None:
    narrow = ROADS.astype("i1")
    assert narrow.array.tolist() == [[127, 3], [1, 7], [0, 127]] and (narrow == ROADS).all()
    assert (narrow.astype("f8") == ROADS).all() and narrow.astype("i8")["ayr", "mill"] == INF
    with refused("entry ('ayr', 'shop'): the weight 2.5 does not fit int8"):
        ROADS.map(lambda w: w - 0.5).astype("i1")
    for weight in (127.0, 128.0):
        with refused(f"the weight {weight} does not fit int8"):
            sr.Matrix([[weight]], sr.min_plus).astype("i1")
    with refused("would become the zero of plus-times in float16"):
        sr.Matrix([[1e-30]], sr.plus_times).astype("f2")


def test_what_is_set_by_name() -> None:
    M = sr.Matrix(ROADS.array.copy(), sr.min_plus, ROADS.row_names, columns=ROADS.column_names)
    M["ayr", "mill"], M["coll"], M[:, "shop"] = 9, [4.0, 5.0], 2.5
    assert M.array.tolist() == [[9.0, 2.5], [1.0, 2.5], [4.0, 2.5]]
    M[["bute", "ayr"], ["shop", "mill"]] = [[1.0, 2.0], [3.0, 4.0]]
    assert M["bute", "shop"] == 1.0 and M["ayr", "mill"] == 4.0
    M[["ayr"], :] = ROADS[["ayr"], :]
    assert M["ayr", "mill"] == INF and ("ayr", "mill") not in M
    whole = ROADS.astype("i2")
    whole["ayr", "shop"] = INF
    assert whole["ayr", "shop"] == INF and whole.array[0, 1] == 2**15 - 1
    for value, message in ((np.zeros(3), "have shape (2,), and the value (3,)"), (np.nan, "outside the carrier"),
                           (ROADS, "a Matrix is set to as many rows")):
        with refused(message):
            M["coll"] = value
    with refused("no column is called 'sho'; did you mean 'shop'?"):
        M["ayr", "sho"] = 1.0
    with refused("int16, which cannot hold 2.5"):
        whole["ayr"] = 2.5
    pairs = sr.adjacency([("a", "b", (2.0, 3))], sr.shortest_count)
    pairs["b", "a"] = (1.0, 4)
    assert pairs["b", "a"].tolist() == (1.0, 4.0)
    sets = sr.adjacency([("a", "b", sr.letter("x"))], sr.regex)
    sets["b", "a"] = sr.letter("y")
    assert sets["b", "a"] == sr.letter("y")
    frozen = sr.Matrix(np.broadcast_to(1.0, (2, 2)), sr.min_plus)
    with refused("the array of this Matrix is read-only"):
        frozen[0, 0] = 2.0


def test_a_row_is_set_to_a_series_by_its_labels() -> None:
    pd, xr = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    labels = ["shop", "mill"]
    for value in (pd.Series([7.0, 8.0], labels), xr.DataArray([7.0, 8.0], dims="k", coords={"k": labels})):
        M = ROADS.hold("sparse").hold("dense")
        M["ayr"] = value
        M["bute", labels] = value
        assert M.row("ayr").tolist() == M.row("bute").tolist() == [8.0, 7.0]
        M[["coll", "ayr"], "mill"] = pd.Series([1.0, 2.0], ["ayr", "coll"])
        assert M.column("mill").tolist() == [1.0, 8.0, 2.0]
    M["ayr"] = pd.Series([5.0, 6.0])
    assert M.row("ayr").tolist() == [5.0, 6.0]
    with refused("'mill' is in A and not in the value"):
        M["ayr"] = pd.Series([7.0, 8.0], ["shop", "inn"])


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_records_are_tuples_where_functions_and_values_are_lists(kind: str) -> None:
    M = sr.adjacency([("a", "b", (3.0, 1)), ("b", "a", (2.0, 4))], sr.shortest_count).hold(kind)
    again = M.map(lambda w: [(2 * dist, count) for dist, count in w.tolist()])
    assert again.holder == kind and list(again.edges()) == [("a", "b", (6.0, 1)), ("b", "a", (4.0, 4))]
    lengths = sr.adjacency([("a", "b", 3.0)], sr.min_plus).hold(kind)
    assert next(lengths.map(lambda w: [(x, 1) for x in w.tolist()], sr.shortest_count).edges()) == ("a", "b", (3.0, 1))
    with refused("an element of shortest-count is a tuple (dist, count)"):
        M["a", "b"] = (1.0, 2, 3)
    with refused("an element of shortest-count is a tuple (dist, count)"):
        M.map(lambda w: [(1.0, 2, 3)] * len(w))
    M["b"] = [(1.0, 2), (5.0, 6)]
    M[["a", "b"], ["a"]] = [[(7.0, 1)], [(8.0, 2)]]
    assert [w for _, _, w in M.edges()] == [(7.0, 1), (3.0, 1), (8.0, 2), (5.0, 6)]
    both = sr.Matrix([[(7.0, 1), (3.0, 1)], [(8.0, 2), (5.0, 6)]], sr.shortest_count)
    assert (both == M).all() and (both.array.tolist() == M).all() and ((M | both.array.tolist()) == (M | both)).all()


def test_lists_of_objects_are_elements() -> None:
    S = sr.catalogue["pareto"]
    some = S.samples()[:2].tolist()
    M = sr.Matrix([some, some[::-1]], S)
    assert M.array.tolist() == [some, some[::-1]] and ([some, some[::-1]] == M).all()
    M[0] = some[::-1]
    assert M.array.tolist() == [some[::-1], some[::-1]]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_values_by_entries_are_set_and_their_names_aligned(kind: str) -> None:
    """A sparse matrix or a graph is not one weight, and packed bits are not numbers."""
    M = ROADS.hold("sparse").hold(kind)
    M[["ayr", "coll"], :] = sp.csr_array(([5.0, 0.0], ([0, 1], [0, 1])), shape=(2, 2))
    assert M.to_numpy().tolist() == [[5.0, INF], [1.0, 7.0], [INF, 0.0]]
    N = sr.adjacency([("a", "b", 3.0), ("b", "c", 4.0)], sr.min_plus).hold(kind)
    N[["b", "a"]] = sr.as_graph([("a", "b", 1.0), ("b", "b", 2.0)])
    assert list(N.edges()) == [("a", "b", 1.0), ("b", "b", 2.0), ("b", "c", 4.0)]
    N[:, :] = N.T
    assert list(N.edges()) == [("b", "a", 1.0), ("b", "b", 2.0), ("c", "b", 4.0)]
    N[:2, 1:] = sr.Matrix([[1.0, 2.0], [3.0, 4.0]], sr.min_plus, ["b", "a"], columns=["c", "b"])
    assert N.to_numpy().tolist() == [[INF, 4.0, 3.0], [1.0, 2.0, 1.0], [INF, 4.0, INF]]
    with refused("such as sr.boolean, not min-plus", sr.SemiringError):
        N[:, :] = sr.pack(np.ones((3, 3), bool))
    with refused("the entries that are set have shape (3, 3), and the Matrix (2, 2)"):
        N[:, :] = sr.as_graph([("a", "b", 1.0)])
    with refused("the value is a Table"):
        N["a"] = sr.closure_rows(sr.as_graph([("a", "b", 1.0)]), sr.min_plus, ["a"], targets=["b"])


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_masks_are_what_a_product_takes(kind: str) -> None:
    M = sr.Matrix(np.arange(9.0).reshape(3, 3), sr.min_plus, ["a", "b", "c"]).hold(kind)
    marks = np.array([[False, True, False], [False, False, True], [False, False, False]])
    edges = [("a", "b", 1.0), ("b", "c", 5.0)]
    stored = sp.csr_array(([0.0, 2.0], ([0, 1], [1, 2])), shape=(3, 3))  # a stored 0 is an entry
    turned = sr.as_graph([("a", "b"), ("b", "c")], names=["c", "a", "b"])
    masked = np.ma.array(np.ones((3, 3), bool), mask=~marks)
    for mask in (marks, stored, stored.tocoo(), turned, sr.pack(marks), masked, sr.Matrix(stored, sr.min_plus)):
        assert list(M.where(mask).edges()) == edges, mask
        assert M.where(mask, complement=True).nnz == 7 and M.where(mask).holder == kind
        assert sr.matmul(M ** 0, M, mask=mask).hold(kind).equals(M.where(mask))
    with refused("A has shape (3, 3) and the mask (2, 2)"):
        M.where(sr.as_graph([("a", "b")]))
    with refused("a mask is an array of bool, a sparse matrix, a graph or a Matrix, and this one is int64"):
        M.where(np.eye(3, dtype=int))
    for key in (marks, M, (marks, slice(None))):
        with refused("a mask of entries is not a key"):
            M[key]
        with refused("a mask of entries is not a key"):
            M[key] = 1.0


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_an_array_is_no_element_and_an_array_of_arrow_is_a_list_of_names(kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    M = ROADS.hold("sparse").hold(kind)
    with refused("the entries that are set have shape (), and the value (1, 1)"):
        M["ayr", "mill"] = [[3.0]]
    assert M[pa.array(["coll", "ayr"]), pa.chunked_array([["shop"]])].equals(M[["coll", "ayr"], ["shop"]])


def test_masked_values_are_zero() -> None:
    M = ROADS.hold("sparse").hold("dense")
    M["bute"] = np.ma.array([3.0, 2.0], mask=[False, True])
    assert M.row("bute").tolist() == [3.0, INF]


@settings(max_examples=15)
@given(st.integers(1, 12), st.integers(0, 2**32))
def test_the_vocabulary_against_graphblas(n: int, seed: int) -> None:
    """Line by line, as the table in docs/site/howto/graphblas.md has it."""
    gb = pytest.importorskip("graphblas")
    rng = np.random.default_rng(seed)

    def both(density: float) -> tuple[sr.Matrix, Any]:
        rows, columns = np.nonzero(rng.random((n, n)) < density)
        values = rng.integers(0, 9, len(rows)).astype(float)
        return (sr.Matrix(sp.coo_array((values, (rows, columns)), (n, n)), sr.min_plus),
                gb.Matrix.from_coo(rows, columns, values, nrows=n, ncols=n))

    def agrees(found: sr.Matrix, wanted: Any) -> None:
        assert found.holder == "sparse" and found.shape == wanted.shape and found.nnz == wanted.nvals
        assert list(found.edges()) == sorted(zip(*(part.tolist() for part in wanted.to_coo()), strict=True))

    (A, a), (B, b), (M, m) = both(0.3), both(0.2), both(0.4)
    plus, least = gb.binary.plus, gb.monoid.min
    some, others = rng.permutation(n)[:3].tolist(), rng.permutation(n)[:2].tolist()
    agrees(A @ B, gb.semiring.min_plus(a @ b).new())
    agrees(sr.matmul(A, B, mask=M), gb.semiring.min_plus(a @ b).new(mask=m.S))
    agrees(sr.matmul(A, B, mask=M, complement=True).hold("sparse"), gb.semiring.min_plus(a @ b).new(mask=~m.S))
    more = m.dup()
    more(accum=gb.binary.min) << gb.semiring.min_plus(a @ b)
    agrees(M | A @ B, more)
    assert np.array_equal(sr.matmul(A.hold("dense"), B, accumulate=M.hold("dense")), (M | A @ B).to_numpy())
    agrees(A.T, a.T.new())
    agrees(A | B, a.ewise_add(b, least).new())
    agrees(A * B, a.ewise_mult(b, plus).new())
    agrees(A.kron(B), a.kronecker(b, plus).new())
    agrees(A.map(lambda w: -w), a.apply(gb.unary.ainv).new())
    agrees(A.select(lambda w: w < 5), a.select(gb.select.valuelt, 5).new())
    agrees(A.where(M), a.dup(mask=m.S))
    agrees(A.where(M, complement=True), a.dup(mask=~m.S))
    assert A.sum(axis=1).tolist() == a.reduce_rowwise(least).new().to_dense(fill_value=INF).tolist()
    part = A[some, others]
    wanted = a[some, others].new()
    assert [(some.index(i), others.index(j), w) for i, j, w in part.edges()] == sorted(
        zip(*(x.tolist() for x in wanted.to_coo()), strict=True))
    a[some, others] << wanted.ewise_add(wanted, plus).new()
    A[some, others] = part * part
    agrees(A, a)
