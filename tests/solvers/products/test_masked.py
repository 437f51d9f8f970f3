"""Products under a mask against the oracle's product of which the wanted entries are kept, by every way."""

from __future__ import annotations

from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import oracle
import pandas as pd
import pytest
import scipy.sparse as sp
import strategies
from bridge import ours
from engines import by_both
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.solvers.products import masked
from semiring.solvers.products.masked import DOTS, ROWS, SELECT

inf = np.inf
quick = settings(max_examples=12, suppress_health_check=list(HealthCheck))
CASES = [
    ("boolean", "?"), ("min_plus", "f4"), ("min_plus", "u1"), ("max_min", "f8"), ("plus_times", "f8"),
    ("counting", "i8"), ("log", "f8"), ("gf2", "?"), ("bitset_must", "u2"), ("gcd_lcm", "i4"), ("max_times", "f8"),
]
COMPILED = [CASES.index(case) for case in (("min_plus", "u1"), ("counting", "i8"))]
# Pairs, of which ⊗ keeps the first of the one and the last of the other: factors cannot be exchanged.
ENDS = sr.Semiring(
    "ends", add=lambda a, b: a | b, zero=frozenset(), dtype=object, product_only=True,
    mul=lambda a, b: frozenset((p, s) for p, q in a for r, s in b if q == r),
    samples=[frozenset(), frozenset([(0, 1)]), frozenset([(1, 1), (1, 2)])],
)
MASKS = {
    "array": lambda M: M, "Fortran order": np.asfortranarray, "packed": sr.pack, "csr": sp.csr_array,
    "False is stored": lambda M: sp.csr_array((np.zeros(M.sum(), bool), np.nonzero(M)), M.shape),
    "coo, entries twice": lambda M: sp.coo_array((np.ones(2 * M.sum()), np.tile(np.nonzero(M), 2)), M.shape),
    "csc": sp.csc_array, "nested lists": lambda M: M.tolist() if M.size else M,
    "masked array": lambda M: np.ma.masked_array(np.ones(M.shape, bool), ~M),
}


def sparse(S: sr.Semiring, A: np.ndarray) -> Any:
    """A sparse matrix of the elements other than zero."""
    kept = ~np.asarray(S.over(A.dtype).is_zero(A), bool)
    return sp.csr_array((A[kept], np.nonzero(kept)), A.shape)


def dense(S: sr.Semiring, C: Any) -> np.ndarray:
    """What an answer stands for; a sparse one stores no zero."""
    if not sp.issparse(C):
        return np.asarray(C)
    assert C.format == "csr" and C.has_canonical_format and not S.over(C.dtype).is_zero(C.data).any()
    entries, result = C.tocoo(), np.full(C.shape, S.zero_in(C.dtype))
    result[entries.row, entries.col] = entries.data
    return result


REAL = masked._seconds


def by(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """Have every product take one way, if it can."""
    def only(*given: Any) -> dict[str, float]:
        found = REAL(*given)
        return {method: found[method]} if method in found else found

    monkeypatch.setattr(masked, "_seconds", only)


@pytest.mark.parametrize(("name", "dtype", "compiling"), by_both(CASES, *COMPILED))
def test_every_kind_of_operand_and_mask(
    name: str, dtype: str, compiling: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", compiling)
    S = oracle.for_dtype(oracle.ALGEBRAS[name], np.dtype(dtype))
    T = ours(S)

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        m, k, n = (data.draw(st.integers(0, 5)) for _ in range(3))
        by(monkeypatch, data.draw(st.sampled_from([DOTS, ROWS, SELECT])))
        A, B, C = (data.draw(strategies.matrices(S, dtype, shape, True)) for shape in ((m, k), (k, n), (m, n)))
        random = np.random.default_rng(data.draw(st.integers(0, 1000)))
        M = random.random((m, n)) < random.choice([0, 0.2, 0.7, 1])
        complement, kind = data.draw(st.booleans()), data.draw(st.sampled_from(sorted(MASKS)))
        wanted = M ^ complement
        whole = oracle.matmul(S, oracle.from_numpy(S, A), oracle.from_numpy(S, B), n)
        kept = [[whole[i][j] if wanted[i, j] else S.zero for j in range(n)] for i in range(m)]
        total = oracle.matadd(S, oracle.from_numpy(S, C), kept)
        assume(oracle.fits(S, whole, dtype) and oracle.fits(S, total, dtype))
        for left, right in product((lambda X: X, lambda X: sparse(T, X)), repeat=2):
            a, b = left(A), right(B)
            text = f"A = {A!r}, B = {B!r}, M = {M!r}, complement = {complement}, {type(a)}, {type(b)}, {kind}"
            by_entries = isinstance(MASKS[kind](M), sp.sparray) and not complement
            found = sr.matmul(a, b, T, mask=MASKS[kind](M), complement=complement)
            assert sp.issparse(found) == (by_entries or (sp.issparse(a) and sp.issparse(b))), text
            oracle.assert_same(S, kept, dense(T, found), text)
            if not sp.issparse(found):
                out = np.empty_like(found)
                again = sr.matmul(a, b, T, mask=MASKS[kind](M), complement=complement, accumulate=C, out=out)
                assert again is out
                oracle.assert_same(S, total, out, f"{text}, C = {C!r}")

    check()


@pytest.mark.parametrize("dtype", ["u1", "i2", "i8", "u8"])
@pytest.mark.parametrize("compiling", ["by_numpy", "machine_code"])
def test_ordinary_sums_of_integers_run_only_where_they_fit(
    dtype: str, compiling: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(compiling)  # so that no code of other tests goes first, which is at hand
    top, seen = int(np.iinfo(dtype).max), set()

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        m, k, n = (data.draw(st.integers(1, 4)) for _ in range(3))
        drawn = data.draw(st.integers(-3, 2))
        step = drawn if "ordinary sums" in seen else -3  # so that some fit
        most = max(int((top / k) ** 0.5) + step, 1)
        random = np.random.default_rng(data.draw(st.integers(0, 1000)))
        A, B = (random.integers(0, most, shape, dtype, endpoint=True) for shape in ((m, k), (k, n)))
        A[0], B[:, 0] = most, most
        if data.draw(st.integers(0, 3)) == 0:
            A[-1, -1] = top  # ∞
        M = random.random((m, n)) < random.choice([0.3, 1])
        by(monkeypatch, data.draw(st.sampled_from([DOTS, ROWS])))
        held = A.tolist(), B.tolist()
        for a, b, mask in product((A, sparse(sr.counting, A)), (B, sparse(sr.counting, B)), (M, sp.csr_array(M))):
            low = sr.plan("matmul", a, b, sr.counting, mask=mask).lowering
            seen.add(low.name)
            fits = low.name == "ordinary sums"
            assert not fits or (k * most**2 + most < top - 1 and A.max() < top and low.is_identity)
            exact = np.array(held[0], object) @ np.array(held[1], object)
            endless = (top == A).astype(int) @ (B != 0) > 0
            exact = np.where(endless, top, exact)
            first = top - 1 if dtype[1] == "8" else top  # refused: without wider storage one more number stands for it
            if (M & ~endless & (exact >= first)).any():
                with pytest.raises(sr.SemiringError, match="cannot hold"):
                    sr.matmul(a, b, sr.counting, mask=mask)
            else:
                found = dense(sr.counting, sr.matmul(a, b, sr.counting, mask=mask))
                assert found.dtype == dtype and found.tolist() == np.where(M, exact, 0).tolist()

    check()
    assert "ordinary sums" in seen and len(seen) > 1


@pytest.mark.parametrize("method", [DOTS, ROWS, SELECT])
def test_a_matrix_that_is_factor_and_mask_is_read_once(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    by(monkeypatch, method)
    A = sp.random_array((60, 60), density=0.1, format="csr", rng=np.random.default_rng(7))
    wide = sp.csr_array((A.data, A.indices, A.indptr), shape=(60, 90))
    for a, b, mask in [(A, A, A), (A, A.copy(), A.copy()), (A, wide, wide), (wide, wide.T.tocsr(), A)]:
        whole = sr.matmul(a.toarray(), b.toarray(), sr.plus_times)
        kept = np.zeros(mask.shape, bool)
        kept[mask.nonzero()] = True
        for complement in (False, True):
            found = sr.matmul(a, b, sr.plus_times, mask=mask, complement=complement)
            assert np.allclose(dense(sr.plus_times, found), np.where(kept ^ complement, whole, 0))
    broken = sp.csr_array(A.copy())
    broken.indices[3] = 99
    with pytest.raises(sr.SemiringError, match=r"A is 60 × 60.*outside"):
        sr.matmul(broken, broken, sr.plus_times, mask=A)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "?"])
@pytest.mark.parametrize("same", [True, False])
def test_entries_that_are_all_alike_are_read_once(dtype: str, same: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also 0 and −0, which are equal and not alike."""
    monkeypatch.setenv("SEMIRING_COMPILE", "always")
    by(monkeypatch, ROWS)
    S = sr.boolean if dtype == "?" else sr.max_plus if dtype != "i4" else sr.counting
    random = np.random.default_rng(4)
    A, B = (sp.csr_array((random.random((90, 90)) < share).astype(dtype)) for share in (0.1, 0.3))
    A.data[:], B.data[:] = True, -0.0 if dtype[0] == "f" else 1
    if not same:
        A.data[::3], B.data[::5] = 2, 0.0 if dtype[0] == "f" else 3
    M = random.random((90, 90)) < 0.2
    with pytest.MonkeyPatch.context() as patch:
        by(patch, SELECT)
        whole = dense(S, sr.matmul(A, B, S, mask=M))
    found = dense(S, sr.matmul(A, B, S, mask=M))
    assert np.array_equal(found, whole) and np.array_equal(np.signbit(found), np.signbit(whole))


@pytest.mark.parametrize("method", [DOTS, ROWS, SELECT])
@pytest.mark.parametrize("compiling", ["never", "always"])
def test_large_ones(method: str, compiling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several threads; long rows that are searched, that are tables, and that meet no wanted entry."""
    monkeypatch.setenv("SEMIRING_COMPILE", compiling)
    by(monkeypatch, method)
    random = np.random.default_rng(0)
    n = 300
    A = np.full((n, n), inf)
    heads = (random.random(40 * n) ** 3 * n).astype(int)
    A[random.integers(0, n, 40 * n), heads] = random.integers(0, 50, 40 * n)
    A[:9] = np.where(random.random((9, n)) < 0.8, 3.0, A[:9])
    whole = sr.matmul(A, A, sr.min_plus)
    for share in (0.002, 0.05):
        M = (random.random((n, n)) < share) | (np.isfinite(A) & (share > 0.01))
        M[5] = False
        for a, b, mask in product((A, sparse(sr.min_plus, A)), (A, sparse(sr.min_plus, A)), (M, sp.csr_array(M))):
            found = dense(sr.min_plus, sr.matmul(a, b, sr.min_plus, mask=mask))
            assert np.array_equal(found, np.where(M, whole, inf))


def test_objects_and_factors_that_cannot_be_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)

    def drawn(*shape: int) -> np.ndarray:
        found = np.empty(shape, object)
        for at in np.ndindex(shape):
            found[at] = frozenset(tuple(p) for p in random.integers(0, 3, (random.integers(0, 3), 2)).tolist())
        return found

    for method in (DOTS, SELECT):
        by(monkeypatch, method)
        A, B, M = drawn(4, 3), drawn(3, 5), random.random((4, 5)) < 0.4
        whole, found = sr.matmul(A, B, ENDS), sr.matmul(A, B, ENDS, mask=M)
        assert all(found[at] == (whole[at] if M[at] else frozenset()) for at in np.ndindex(4, 5))
        with pytest.raises(sr.SemiringError, match="pass mask as a Boolean array"):
            sr.matmul(A, B, ENDS, mask=sp.csr_array(M))


@pytest.mark.parametrize("machine", ["never", "always"])
def test_a_product_of_machine_numbers_that_does_not_commute(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of two numbers, unless one is 0."""
    monkeypatch.setenv("SEMIRING_COMPILE", machine)
    first = sr.Semiring("first", add=np.maximum, mul=lambda a, b: np.where((a == 0) | (b == 0), 0, a), zero=0, one=1,
                        carrier=lambda a: a >= 0, product_only=True)
    random = np.random.default_rng(3)
    A, B = (random.integers(0, 4, (30, 30)).astype(float) for _ in range(2))
    M = random.random((30, 30)) < 0.2
    wanted = np.where(M, sr.matmul(A, B, first), 0)
    for a, b, method in product((A, sparse(first, A)), (B, sparse(first, B)), (DOTS, ROWS, SELECT)):
        with pytest.MonkeyPatch.context() as patch:
            by(patch, method)
            assert np.array_equal(dense(first, sr.matmul(a, b, first, mask=M)), wanted), (type(a), type(b), method)


def test_records(monkeypatch: pytest.MonkeyPatch) -> None:
    S = sr.shortest_count
    random = np.random.default_rng(1)
    n = 12
    A = S.array([[(float(w), 1) if w < 4 else S.zero for w in row] for row in random.integers(1, 8, (n, n)).tolist()])
    M = random.random((n, n)) < 0.3
    whole = sr.matmul(A, A, S)
    zero = np.array(S.zero, whole.dtype)
    for method in (DOTS, SELECT):
        by(monkeypatch, method)
        assert np.array_equal(sr.matmul(A, A, S, mask=M), np.where(M, whole, zero))
    G = sr.as_graph([(i, j, A[i, j].item()) for i, j in np.ndindex(n, n) if A[i, j] != zero], n)
    found = sr.matmul(G, G, S, mask=sp.csr_array(M))
    assert isinstance(found, sr.Graph)
    assert np.array_equal(sr.adjacency(found, S).array, np.where(M, whole, zero))


# Shapes

@pytest.mark.parametrize("method", [DOTS, SELECT])
def test_vectors_and_stacks(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    by(monkeypatch, method)
    random = np.random.default_rng(2)

    def drawn(*shape: int) -> np.ndarray:
        return random.integers(0, 9, shape).astype(float)

    for a, b in [((3,), (3, 4)), ((4, 3), (3,)), ((3,), (3,)), ((2, 4, 3), (3, 5)), ((4, 3), (2, 3, 5)),
                 ((2, 1, 4, 3), (3, 3, 5)), ((2, 4, 3), (3,)), ((3,), (2, 3, 5)), ((0, 4, 3), (3, 2))]:
        A, B = drawn(*a), drawn(*b)
        whole = np.asarray(sr.matmul(A, B, sr.min_plus))
        for complement in (False, True):
            M = random.random(whole.shape) < 0.5
            found = sr.matmul(A, B, sr.min_plus, mask=M, complement=complement)
            assert np.shape(found) == whole.shape
            assert np.array_equal(found, np.where(np.asarray(M) ^ complement, whole, inf))
        if len(whole.shape) > 2:
            one = random.random(whole.shape[-2:]) < 0.5
            assert np.array_equal(sr.matmul(A, B, sr.min_plus, mask=one), np.where(one, whole, inf))
    A, q = sp.csr_array(drawn(5, 4)), drawn(5)
    M = np.array([True, False, True, False])
    assert np.array_equal(sr.matmul(q, A, sr.plus_times, mask=M), np.where(M, q @ A.toarray(), 0))
    assert np.array_equal(sr.matmul(A.T, q, sr.plus_times, mask=M), np.where(M, q @ A.toarray(), 0))


def test_byte_order_and_views_are_the_callers() -> None:
    A = np.arange(16, dtype=">f8").reshape(4, 4)[::-1, ::-1]
    M = np.eye(4, dtype=bool)
    found = sr.matmul(A, A.T, sr.max_plus, mask=M)
    assert found.dtype == A.dtype and np.array_equal(found, np.where(M, sr.matmul(A, A.T, sr.max_plus), -inf))


def test_the_answer_shares_no_memory_with_the_mask() -> None:
    A = sp.csr_array(np.ones((3, 3)))
    C = sr.matmul(A, A, sr.plus_times, mask=A)
    assert not any(np.shares_memory(getattr(C, x), getattr(A, x)) for x in ("data", "indices", "indptr"))


# Names

ROADS = [("a", "b", 3.0), ("b", "c", 4.0), ("c", "a", 1.0), ("a", "c", 9.0)]


def test_masks_are_put_into_the_order_of_names() -> None:
    G = sr.as_graph(ROADS)
    M = sr.adjacency(ROADS, sr.min_plus)
    whole = M @ M
    marked = [("c", "b"), ("b", "a"), ("a", "a")]
    there = {(x, y): float(whole[x, y]) for x, y in marked}
    order = ["c", "a", "b"]
    masks = [
        sr.as_graph(marked, names=order), nx.DiGraph(marked), sr.adjacency(marked, sr.boolean, names=order),
        pd.DataFrame([[(x, y) in marked for y in order] for x in order], order, order),
        sr.prepare(sr.as_graph(marked, names=order), sr.boolean),
    ]
    for A, mask in product((G, M), masks):
        found = sr.matmul(A, A, sr.min_plus, mask=mask)
        by_entries = A is G or isinstance(mask, (sr.Graph, nx.DiGraph)) or mask is masks[-1]
        assert isinstance(found, sr.Graph if A is G else sr.Matrix)
        assert A is G or found.holder == ("sparse" if by_entries else "dense")
        array = sr.adjacency(found, sr.min_plus) if A is G else found.hold("dense")
        assert {(x, y): float(array[x, y]) for x, y in there} == there
        assert np.isfinite(array.array).sum() == sum(w < inf for w in there.values())
        others = sr.matmul(M, M, sr.min_plus, mask=mask, complement=True)
        assert isinstance(others, sr.Matrix)
        assert ((others | array) == whole).all()
    with pytest.raises(sr.GraphError, match="A and mask have different vertices: 'c' is in A and not in mask"):
        sr.matmul(G, G, sr.min_plus, mask=sr.as_graph([("a", "b"), ("x", "b")]))


def test_rows_and_columns_with_names_of_their_own() -> None:
    A = sr.Matrix([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], sr.plus_times, ["x", "y", "z"], columns=["p", "q"])
    B = sr.Matrix([[10.0, 0.5], [1.0, 0.25]], sr.plus_times, ["q", "p"], columns=["s", "t"])
    whole = A @ B
    mask = sr.Matrix([[True, False, False], [True, True, False]], sr.boolean, ["t", "s"], columns=["z", "x", "y"]).T
    found = sr.matmul(A, B, mask=mask)
    assert (found.row_names, found.column_names) == (whole.row_names, whole.column_names)
    wanted = {("z", "t"), ("z", "s"), ("x", "s")}
    for x, s in product("xyz", "st"):
        assert found[x, s] == (whole[x, s] if (x, s) in wanted else 0)
    with pytest.raises(sr.GraphError, match="different vertices"):
        sr.matmul(A, B, mask=sr.Matrix(np.ones((3, 2), bool), sr.boolean, ["x", "y", "w"], columns=["s", "t"]))


@pytest.mark.parametrize("holders", list(product(("dense", "sparse", "packed"), repeat=3)))
@pytest.mark.parametrize("square", [True, False])
def test_names_stay_whatever_holds_the_matrices(holders: tuple[str, str, str], square: bool) -> None:
    random = np.random.default_rng(8)
    rows, inner, columns = (list("abcd"),) * 3 if square else (["x", "y", "z"], ["p", "q"], ["s", "t", "u", "v"])

    def drawn(rows: list[str], columns: list[str], holder: str) -> Any:
        held = random.random((len(rows), len(columns))) < 0.5
        return sr.Matrix(held, sr.boolean, rows, columns=columns).hold(holder)

    A, B, M = (drawn(*ends, h) for ends, h in zip(((rows, inner), (inner, columns), (rows, columns)), holders,
                                                  strict=True))
    turned = M.T.hold(holders[2]).T if square else sr.Matrix(
        np.asarray(M.hold("dense").array)[::-1], sr.boolean, rows[::-1], columns=columns).hold(holders[2])
    whole, marked = A @ B, M.hold("dense")
    for complement in (False, True):
        found = sr.matmul(A, B, mask=turned, complement=complement)
        assert isinstance(found, (sr.Matrix, sr.Graph))
        found = sr.adjacency(found, sr.boolean) if isinstance(found, sr.Graph) else found
        assert (found.row_names, found.column_names) == (rows, columns)
        for x, y in product(rows, columns):
            assert bool(found[x, y]) == (bool(whole[x, y]) and bool(marked[x, y]) != complement)


@pytest.mark.parametrize("holders", list(product(["dense", "sparse"], repeat=2)), ids="-".join)
@pytest.mark.parametrize("S", [sr.shortest_hops, ENDS, sr.min_plus], ids=lambda S: S.name)
def test_a_matrix_keeps_what_scipy_does_not(S: sr.Semiring, holders: tuple[str, str]) -> None:
    """Records, objects and halves are elements of a sparse answer, with the winning terms too."""
    weights = np.array([[inf, 2, 5], [1, inf, 1]])
    if S is ENDS:
        left, right = np.full((2, 3), frozenset()), np.full((3, 2), frozenset())
        left[0, 1], left[1, 2], right[1, 0], right[2, 1] = map(frozenset, ([(0, 1)], [(1, 1)], [(1, 2)], [(1, 0)]))
    else:
        left = weights.astype("f2") if S is sr.min_plus else S.lift(weights)  # type: ignore[misc]
        right = left.T
    A = sr.Matrix(left, S, ["a", "b"], columns=[0, 1, 2]).hold(holders[0])
    B = sr.Matrix(right, S, [0, 1, 2], columns=["c", "d"]).hold(holders[1])
    whole = A @ B
    for marks in (np.array([[False, True], [True, True]]), np.ones((2, 2), bool)):
        mask = sr.Matrix(marks, sr.boolean, ["a", "b"], columns=["c", "d"]).hold("sparse")
        found = sr.matmul(A, B, S, mask=mask)
        assert found.holder == "sparse" and found.equals(whole.where(marks))
        assert sr.matmul(A, B, S, mask=mask, complement=True).equals(whole.where(~marks))
        if S.selective:
            assert sr.matmul(A, B, S, mask=mask, argmax=True)[0].equals(found)
            assert sr.matmul(A, B, S, argmax=True)[0].equals(whole)


def test_masks_with_labels_are_put_into_the_order_of_the_product() -> None:
    """Data frames, series and arrays of xarray, of any shape, as masks of products and of `where`."""
    xarray = pytest.importorskip("xarray")
    S, marks = sr.plus_times, np.array([[True, False, False], [False, True, True]])
    A = sr.Matrix([[1.0, 2.0], [3.0, 4.0]], S, ["a", "b"])
    B = sr.Matrix([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], S, ["a", "b"], columns=["x", "y", "z"])
    rows, columns = ["b", "a"], ["z", "x", "y"]
    turned = marks[np.ix_([1, 0], [2, 0, 1])]
    frame = pd.DataFrame(turned, rows, columns)
    array = xarray.DataArray(turned, dims=("p", "q"), coords={"p": rows, "q": columns})
    for mask in (frame, array, sr.Matrix(frame, sr.boolean)):
        assert sr.matmul(A, B, mask=mask).equals((A @ B).where(marks))
        assert sr.matmul(A, B, mask=mask, complement=True).equals((A @ B).where(~marks))
        assert B.where(mask).equals(B.where(marks))
    x = np.array([1.0, 5.0])
    for vector in (pd.Series([True, False], rows), xarray.DataArray([True, False], dims="p", coords={"p": rows})):
        for holder in ("dense", "sparse"):
            assert sr.matmul(A.hold(holder), x, mask=vector).tolist() == [0, (A @ x)[1]]
            assert sr.matmul(x, A.hold(holder), mask=vector).tolist() == [0, (x @ A)[1]]
    with pytest.raises(sr.GraphError, match="have different vertices: 'a' is in A and not in mask"):
        sr.matmul(A, x, mask=pd.Series([True, False], ["b", "c"]))
    with pytest.raises(sr.GraphError, match="this data frame is float64: compare its elements"):
        B.where(frame.astype(float))


@pytest.mark.parametrize("holder", ["dense", "sparse", "packed"])
@pytest.mark.parametrize("columns", [list("pqr"), list("abc")])
def test_the_names_of_one_factor_order_a_mask_beside_an_array(holder: str, columns: list[str]) -> None:
    """Rows of a mask follow the names that the product's rows have; an array's columns match by position."""
    random = np.random.default_rng(11)
    rows = list("abc") if columns == list("abc") else list("ab")
    A = sr.Matrix(random.random((len(rows), 3)) < 0.6, sr.boolean, rows, columns=columns).hold(holder)
    marks = random.random((len(rows), 5)) < 0.5
    turned = np.roll(rows, 1).tolist()
    B, named = random.random((3, 5)) < 0.5, pd.DataFrame(marks, rows, list("vwxyz")).loc[turned]
    for complement in (False, True):
        for mask in (named, sr.Matrix(named, sr.boolean), sr.Matrix(named, sr.boolean).hold("sparse")):
            wanted = sr.matmul(A, B, mask=marks, complement=complement)
            found = sr.matmul(A, B, mask=mask, complement=complement)
            assert np.array_equal(dense(sr.boolean, found), wanted)
            other = sr.matmul(B.T, A.T, mask=mask.T, complement=complement)
            assert np.array_equal(dense(sr.boolean, other), wanted.T)
    wrong = pd.DataFrame(marks, [*"xyz"][: len(rows)], list("vwxyz"))
    with pytest.raises(sr.GraphError, match="A and mask have different vertices: 'a' is in A and not in mask"):
        sr.matmul(A, B, mask=wrong)
    if len(rows) == 3:  # a mask over the vertices of A says what an array's columns are
        square, M = random.random((3, 3)) < 0.5, random.random((3, 3)) < 0.5
        over = sr.Matrix(M[np.ix_([2, 0, 1], [2, 0, 1])], sr.boolean, list("cab"))
        assert np.array_equal(sr.matmul(A, square, mask=over), sr.matmul(A, square, mask=M))
        assert np.array_equal(sr.matmul(square, A, mask=over), sr.matmul(square, A, mask=M))


def test_an_undirected_mask_marks_both_ways() -> None:
    A = np.ones((3, 3))
    mask = sr.as_graph([(0, 1)], 3, directed=False)
    assert sr.matmul(A, A, sr.plus_times, mask=mask).toarray().tolist() == [[0, 3, 0], [3, 0, 0], [0, 0, 0]]


# Terms that win

@pytest.mark.parametrize(("name", "dtype", "compiling"), by_both(
    [("min_plus", "f8"), ("max_plus", "i2"), ("max_min", "u1"), ("max_times", "f8"), ("boolean", "?")], 0))
def test_winners_of_wanted_entries(name: str, dtype: str, compiling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the winners of the whole product, which have tests of their own."""
    monkeypatch.setenv("SEMIRING_COMPILE", compiling)
    S = oracle.for_dtype(oracle.ALGEBRAS[name], np.dtype(dtype))
    T = ours(S)

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        m, k, n = (data.draw(st.integers(0, 5)) for _ in range(3))
        A, B = (data.draw(strategies.matrices(S, dtype, shape, True)) for shape in ((m, k), (k, n)))
        random = np.random.default_rng(data.draw(st.integers(0, 1000)))
        M = random.random((m, n)) < random.choice([0, 0.04, 0.7, 1])
        complement, kind = data.draw(st.booleans()), data.draw(st.sampled_from(sorted(MASKS)))
        assume(oracle.fits(S, oracle.matmul(S, oracle.from_numpy(S, A), oracle.from_numpy(S, B), n), dtype))
        whole, terms = sr.matmul(A, B, T, argmax=True)
        kept, zero = M ^ complement, T.zero_in(whole.dtype)
        for left, right in product((lambda X: X, lambda X: sparse(T, X)), repeat=2):
            a, b = left(A), right(B)
            found, which = sr.matmul(a, b, T, mask=MASKS[kind](M), complement=complement, argmax=True)
            assert sp.issparse(found) == sp.issparse(which)
            if sp.issparse(found):
                assert np.array_equal(found.indices, which.indices) and np.array_equal(found.indptr, which.indptr)
                entries, numbers = which.tocoo(), np.full(which.shape, -1, np.int32)
                numbers[entries.row, entries.col] = entries.data
                which = numbers
            assert which.dtype == np.int32
            oracle.assert_same(S, oracle.from_numpy(S, np.where(kept, whole, zero)), dense(T, found), repr((A, B, M)))
            assert np.array_equal(which, np.where(kept, terms, -1)), repr((A, B, M, kind, type(a), type(b)))

    check()


def test_winners_of_stacks_names_and_objects() -> None:
    random = np.random.default_rng(6)
    A, B = (random.integers(0, 9, shape).astype(float) for shape in ((2, 1, 40, 3), (3, 3, 50)))
    whole, terms = sr.matmul(A, B, sr.min_plus, argmax=True)
    for share, complement in product((0.01, 0.5), (False, True)):
        M = random.random((40, 50)) < share
        masks = [M, np.broadcast_to(M, whole.shape), sr.pack(M), *([sp.csr_array(M)] if complement else [])]
        for mask in masks:
            values, which = sr.matmul(A, B, sr.min_plus, mask=mask, complement=complement, argmax=True)
            assert np.array_equal(values, np.where(M ^ complement, whole, inf))
            assert np.array_equal(which, np.where(M ^ complement, terms, -1))
            assert np.array_equal(sr.matmul(A, B, sr.min_plus, mask=mask, complement=complement), values)
    with pytest.raises(sr.SemiringError, match=r"a stack of shape \(2, 3, 40, 50\).*pass mask.toarray\(\) != 0"):
        sr.matmul(A, B, sr.min_plus, mask=sp.csr_array(M))
    values, which = sr.matmul(A[0, 0, 0], B[0], sr.min_plus, mask=M[0], argmax=True)
    assert np.array_equal(which, np.where(M[0], terms[0, 0, 0], -1)) and values.shape == (50,)
    G = sr.as_graph(ROADS)
    found, which = sr.matmul(G, G, sr.min_plus, mask=sr.as_graph([("a", "c"), ("b", "b")], names=["c", "b", "a"]),
                             argmax=True)
    assert isinstance(found, sr.Graph) and list(found.edges()) == [("a", "c", 7.0)] and which.nnz == 1
    F = A[0, 0].astype(object)
    values, which = sr.matmul(F, B[0].astype(object), sr.min_plus, mask=M, argmax=True)
    assert np.array_equal(which, np.where(M, terms[0, 0], -1))
    with pytest.raises(sr.LawError, match="argmax needs a selective"):
        sr.matmul(A, B, sr.plus_times, mask=M, argmax=True)


# What is refused

BAD: list[tuple[Any, str]] = [
    (np.eye(3), "mask has elements of dtype float64.*pass mask != 0"),
    (np.ones((3, 4), bool), r"mask has shape \(3, 4\), the product \(3, 3\)"),
    (sp.csr_array((2, 3)), r"mask has shape \(2, 3\)"), ("yes", "mask must be a Boolean array"),
    (np.ones(3, bool), r"mask has shape \(3,\)"), (sr.pack(np.ones((4, 3), bool)), r"mask has shape \(4, 3\)"),
]


@pytest.mark.parametrize(("mask", "text"), BAD)
def test_masks_that_mark_no_entries_are_refused(mask: Any, text: str) -> None:
    A = np.ones((3, 3))
    for ask in (sr.matmul, lambda *a, **o: sr.plan("matmul", *a, **o)):
        with pytest.raises(sr.SemiringError, match=text):
            ask(A, A, sr.min_plus, mask=mask)


def test_options_that_exclude_each_other() -> None:
    A, M = np.ones((3, 3)), np.eye(3, dtype=bool)
    for options, text in [
        ({"complement": True}, "complement=True is the complement of a mask: pass mask="),
        ({"mask": M, "complement": "yes"}, "complement must be True or False, and is 'yes'"),
        ({"mask": M, "argmax": True, "out": A.copy()}, "leave out accumulate and out"),
        ({"mask": M, "argmax": True, "accumulate": A}, "leave out accumulate and out"),
        ({"mask": sp.csr_array(M), "out": A.copy()}, "accumulate and out need a dense mask"),
        ({"mask": M, "out": np.ones((2, 3))}, "out must be a writable, unmasked float64 array of shape"),
        ({"mask": M, "accumulate": np.ones((2, 3))}, "accumulate has shape"),
    ]:
        with pytest.raises(sr.SemiringError, match=text):
            sr.matmul(A, A, sr.min_plus, **options)
    for options in ({}, {"argmax": True}):  # SciPy has no such matrices
        with pytest.raises(sr.SemiringError, match=r"numbers of 16 bits as elements.*pass mask as a Boolean array"):
            sr.matmul(A.astype("f2"), A.astype("f2"), sr.min_plus, mask=sp.csr_array(M), **options)
    a = sp.csr_array(A)
    with pytest.raises(sr.SemiringError, match="accumulate and out need a dense operand"):
        sr.matmul(a, a, sr.min_plus, mask=M, accumulate=A)
    with pytest.raises(sr.SemiringError, match="a sparse matrix times an array of shape"):
        sr.matmul(a, np.ones((2, 3, 3)), sr.min_plus, mask=M)
    with pytest.raises(sr.SemiringError, match=r"B\[1, 1\] is NaN"):
        sr.matmul(A, np.array([[1, 1, 1], [1, np.nan, 1], [1, 1, 1]]), sr.min_plus, mask=M)
    with pytest.raises(sr.LawError, match="sparse storage"):
        sr.matmul(a, a, sr.Semiring("odd", add=np.maximum, mul=lambda a, b: a + b + 1.0, zero=0.0, product_only=True,
                                   carrier=lambda a: a >= 0), mask=M)


@pytest.mark.parametrize("method", [DOTS, SELECT])
def test_an_entry_that_is_not_wanted_may_leave_the_dtype(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    by(monkeypatch, method)
    A = np.array([[100, 3], [2, 2]], np.int8)
    M = np.array([[False, True], [True, True]])
    assert sr.matmul(A, A, sr.max_plus, mask=M).tolist() == [[-128, 103], [102, 5]]
    with pytest.raises(sr.SemiringError, match="int8"):
        sr.matmul(A, A, sr.max_plus, mask=~M)


# Bits

def test_packed_operands_give_packed_answers() -> None:
    random = np.random.default_rng(0)
    A, B, C, M = (random.random((70, 70)) < 0.1 for _ in range(4))
    whole = sr.matmul(A, B, sr.boolean)
    for mask, complement in product((M, sr.pack(M), sp.csr_array(M)), (False, True)):
        found = sr.matmul(sr.pack(A), B, sr.boolean, mask=mask, complement=complement)
        assert isinstance(found, sr.PackedMatrix) and np.array_equal(found.to_dense(), whole & (M ^ complement))
    out = sr.pack(C)
    assert sr.matmul(sr.pack(A), sr.pack(B), sr.boolean, mask=M, accumulate=sr.pack(C), out=out) is out
    assert np.array_equal(out.to_dense(), C | (whole & M))
    assert "then select" in sr.plan("matmul", sr.pack(A), sr.pack(B), sr.boolean, mask=M).method
    with pytest.raises(sr.SemiringError, match="out must be a PackedMatrix"):
        sr.matmul(sr.pack(A), sr.pack(B), sr.boolean, mask=M, out=C)


# Plans

def test_the_way_is_the_one_of_least_predicted_time() -> None:
    A, thin = np.ones((200, 200)), np.zeros((200, 200), bool)
    thin[3, 4] = True
    L = sp.random_array((200, 200), density=0.05, format="csr", rng=np.random.default_rng(0))
    few = sp.csr_array(([1.0], ([0], [1])), (200, 200))
    for a, mask, complement, method in [
        (A, thin, False, DOTS), (A, thin, True, SELECT), (L, L, False, ROWS), (L, L, True, SELECT),
    ]:
        plan = sr.plan("matmul", a, a, sr.min_plus, mask=mask, complement=complement)
        assert plan.method == method and "the mask wants" in str(plan)
        assert method in plan.seconds or method == SELECT
    p = sr.plan("matmul", sp.csr_array(A), few, sr.min_plus, mask=few)
    assert p.method in (DOTS, ROWS) and sr.matmul(sp.csr_array(A), few, sr.min_plus, mask=few).nnz == 1


def test_warming_compiles_all_of_it() -> None:
    from semiring.kernels.build import PURPOSES
    from semiring.kernels.lowering.general import general

    low = general(sr.min_plus, np.dtype("f8"))
    names = [f.name for p in ("masked", "dots") for f in (*PURPOSES[p].code(low), *PURPOSES[p].seldom(low))]
    assert names == ["by_rows", "by_columns", "by_pairs", "by_dots"]
