"""Products with sparse matrices against the oracle and the dense product, and what they refuse."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
import strategies
from bridge import ours
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cpu.sparse import structure
from semiring.kernels.cpu.sparse.product import SparseKernel
from semiring.kernels.cpu.sparse.structure import transpose
from semiring.kernels.lowering.general import general
from semiring.operands.convert import as_sparse
from semiring.operands.devices import gpu_name
from semiring.operands.read import read
from semiring.operands.sparse import Sparse

inf = np.inf
quick = settings(max_examples=30, suppress_health_check=list(HealthCheck))
# One for each form of arithmetic; every (algebra, dtype) here is compiled, which takes a second.
CASES = [
    ("boolean", "?"), ("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "i4"), ("min_plus", "u1"), ("max_min", "f4"),
    ("plus_times", "f8"), ("counting", "i8"), ("log", "f8"), ("gf2", "?"), ("mod_p", "i4"), ("bitset_must", "u2"),
    ("gcd_lcm", "i4"), ("max_times", "f8"),
]


def compressed(A: Any, S: sr.Semiring) -> Sparse:
    """An operand by its entries."""
    return as_sparse(read(A, S))


def sparse(S: sr.Semiring, array: np.ndarray, random: np.random.Generator) -> Any:
    """A sparse matrix of some format with these elements: zeros mostly left out, columns in any order."""
    zero = S.zero_in(array.dtype)
    kept = (array != zero) | (random.random(array.shape) < 0.1)
    rows, columns = np.nonzero(kept)
    order = random.permutation(len(rows))
    rows, columns = rows[order], columns[order]
    values = array[rows, columns]
    index = random.choice([np.int32, np.int64])
    kind = random.choice(["csr", "unsorted csr", "csc", "coo", "lil"])
    if kind in ("csr", "unsorted csr"):
        order = np.lexsort((columns, rows)) if kind == "csr" else np.argsort(rows, kind="stable")
        offsets = np.searchsorted(rows[order], np.arange(array.shape[0] + 1)).astype(index)
        return sp.csr_array((values[order], columns[order].astype(index), offsets), shape=array.shape)
    made = sp.coo_array((values, (rows.astype(index), columns.astype(index))), shape=array.shape)
    if kind == "lil" and (array[~kept] == 0).all() and not (array[kept] == 0).any():
        return made.tolil()
    return made.tocsc() if kind == "csc" else made


def dense(S: sr.Semiring, A: Any) -> np.ndarray:
    """What a sparse answer stands for."""
    assert sp.issparse(A) and A.format == "csr" and A.has_canonical_format
    entries = A.tocoo()
    result = np.full(A.shape, S.zero_in(A.dtype))
    assert (entries.data != S.zero_in(A.dtype)).all()
    result[entries.row, entries.col] = entries.data
    return result


def untouched(A: Any) -> tuple:
    return tuple(np.copy(getattr(A, name)) for name in ("data", "indices", "indptr") if hasattr(A, name))


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_products_are_the_oracles(name: str, dtype: str) -> None:
    S = oracle.for_dtype(oracle.ALGEBRAS[name], np.dtype(dtype))
    T = ours(S)

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        m, k, n = (data.draw(st.sampled_from([0, 1, 2, 3, 5])) for _ in range(3))
        A, B, C = (
            data.draw(strategies.matrices(S, dtype, shape, data.draw(st.booleans())))
            for shape in ((m, k), (k, n), (m, n))
        )
        expected = oracle.matmul(S, oracle.from_numpy(S, A), oracle.from_numpy(S, B), n)
        total = oracle.matadd(S, oracle.from_numpy(S, C), expected)
        assume(oracle.fits(S, expected, dtype) and oracle.fits(S, total, dtype))
        random = np.random.default_rng(data.draw(st.integers(0, 1000)))
        a, b = sparse(T, A, random), sparse(T, B, random)
        before = untouched(a), untouched(b)
        view = data.draw(strategies.views(B))
        text = f"A = {A!r}, B = {B!r}"
        oracle.assert_same(S, expected, sr.matmul(a, view, T), text)
        oracle.assert_same(S, expected, sr.matmul(data.draw(strategies.views(A)), b, T), text)
        oracle.assert_same(S, expected, dense(T, sr.matmul(a, b, T)), text)
        oracle.assert_same(S, total, sr.matmul(a, view, T, accumulate=C), f"{text}, C = {C!r}")
        oracle.assert_same(S, total, sr.matmul(A, b, T, accumulate=C), f"{text}, C = {C!r}")
        for now, then in zip((untouched(a), untouched(b)), before, strict=True):
            assert all(np.array_equal(x, y) for x, y in zip(now, then, strict=True)), "an operand was changed"

    check()


@pytest.mark.parametrize(("m", "k", "n"), [(300, 5000, 700), (5000, 300, 2), (1, 4000, 4000), (700, 64, 1)])
def test_large_products_are_the_dense_ones(m: int, k: int, n: int) -> None:
    """Several threads, panels and strips; more columns than the bits of two words of words."""
    random = np.random.default_rng(m)
    A, B = np.full((m, k), inf), np.full((k, n), inf)
    for X in (A, B):
        some = random.random(X.shape) < 0.02
        X[some] = random.integers(0, 50, some.sum())
    expected = sr.matmul(A, B, sr.min_plus)
    a, b = (sp.csr_array(from_dense(X)) for X in (A, B))
    for x in (B, np.asfortranarray(B), np.repeat(B, 2, axis=1)[:, ::2]):
        assert (sr.matmul(a, x, sr.min_plus) == expected).all()
    for x in (A, np.asfortranarray(A)):
        assert (sr.matmul(x, b, sr.min_plus) == expected).all()
    assert (dense(sr.min_plus, sr.matmul(a, b, sr.min_plus)) == expected).all()
    out = np.asfortranarray(np.empty((m, n)))
    assert sr.matmul(a, B, sr.min_plus, out=out) is out
    assert (out == expected).all()


def from_dense(A: np.ndarray) -> Any:
    rows, columns = np.nonzero(np.isfinite(A))
    return sp.coo_array((A[rows, columns], (rows, columns)), shape=A.shape)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_do_not_depend_on_the_threads(threads: int) -> None:
    """To the bit, also where ⊕ rounds; and SciPy's own product is near."""
    random = np.random.default_rng(3)
    A = sp.random_array((3000, 2500), density=0.004, random_state=random, format="csr")
    B = random.random((2500, 65))
    K = SparseKernel(SparseKernel.of(general(sr.plus_times, np.dtype("f8"))).program, threads)
    rows = compressed(A, sr.plus_times).rows
    C = np.empty((3000, 65))
    K.times_dense(C, rows, B)
    assert (sr.matmul(A, B, sr.plus_times) == C).all()
    assert np.allclose(C, A @ B, rtol=1e-13)
    T = transpose(rows)
    found, reference = K.times_sparse(rows, T), A @ A.T
    assert np.allclose(sp.csr_array((found.values, found.columns, found.offsets)).toarray(), reference.toarray())
    assert len(found.columns) == reference.nnz


def test_vectors_on_either_side() -> None:
    A = sp.csr_array(([3.0, 4.0, 0.0], ([0, 1, 1], [1, 2, 0])), shape=(2, 3))
    assert sr.matmul(A, np.array([1.0, 2, 3]), sr.min_plus).tolist() == [5, 1]
    assert sr.matmul(np.array([1.0, 2]), A, sr.min_plus).tolist() == [2, 4, 6]
    assert sr.matmul(A, np.array([1.0, 2, 3]), sr.min_plus, accumulate=np.array([0.0, 9])).tolist() == [0, 1]
    assert sr.matmul(A, np.array([1.0, 2, 3, 4, 5, 6])[::2], sr.min_plus).tolist() == [6, 1]


def test_factors_keep_their_order() -> None:
    """Over (max, "right projection" guarded by 0), a ⊗ b is not b ⊗ a."""
    right = sr.Semiring("last", add=np.maximum, mul=lambda a, b: np.where((a == 0) | (b == 0), 0, b), zero=0, one=1,
                        dtypes="f", samples=[0, 1], product_only=True, carrier=lambda a: a >= 0)
    A, B = np.array([[5.0, 0], [2, 3]]), np.array([[7.0, 0], [0, 4]])
    expected = sr.matmul(A, B, right)
    a, b = sp.csr_array(A), sp.csr_array(B)
    assert not (expected == sr.matmul(B, A, right)).all()
    for x, y in ((a, B), (A, b)):
        assert (sr.matmul(x, y, right) == expected).all()
    assert (dense(right, sr.matmul(a, b, right)) == expected).all()


# Other operands.


def test_numbers_are_edges_of_a_boolean_matrix() -> None:
    A = sp.csr_array(([0.0, 2.5], ([0, 1], [1, 0])), shape=(2, 2))
    B = sp.csr_array(np.eye(2, dtype=bool))
    assert dense(sr.boolean, sr.matmul(A, B, sr.boolean)).tolist() == [[False, True], [True, False]]


def test_records_multiply_as_compressed_rows() -> None:
    """SciPy holds no records, a graph does."""
    S = sr.shortest_hops
    rows = compressed(sr.as_graph([(0, 1, (2.0, 1)), (1, 0, (0.5, 2)), (1, 1, (0.0, 1))]), S).rows
    A = np.full((2, 2), S.zero_in(rows.values.dtype), rows.values.dtype)
    for i in range(2):
        part = slice(rows.offsets[i], rows.offsets[i + 1])
        A[i, rows.columns[part]] = rows.values[part]
    K = SparseKernel.of(general(S, A.dtype))
    expected = sr.matmul(A, A, S)
    C = np.empty_like(A)
    K.times_dense(C, rows, A)
    assert (expected == C).all()
    K.dense_times(C, A, rows)
    assert (expected == C).all()
    assert (K.times_sparse(rows, rows).values == expected[expected != S.zero_in(A.dtype)]).all()


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "unsorted"])
def test_nan_is_refused_with_its_place(kind: str) -> None:
    A = sp.coo_array(([1.0, np.nan, 2.0], ([2, 2, 0], [3, 1, 0])), shape=(4, 5))
    A = sp.csr_array((A.data[[2, 0, 1]], np.array([0, 3, 1]), np.array([0, 1, 1, 3, 3])), shape=(4, 5)) if (
        kind == "unsorted") else A.asformat(kind)
    with pytest.raises(sr.SemiringError, match=r"A\[2, 1\] is NaN"):
        sr.matmul(A, np.ones(5), sr.min_plus)
    with pytest.raises(sr.SemiringError, match=r"B\[2, 1\] is NaN"):
        sr.matmul(np.ones(4), A, sr.min_plus)


def test_bad_operands() -> None:
    A = sp.csr_array(np.array([[1.0, 2], [3, 4]]))
    refused = [
        (lambda: sr.matmul(A, np.ones(3), sr.min_plus), "do not fit"),
        (lambda: sr.matmul(A, np.ones(2, "f4"), sr.min_plus), "convert one"),
        (lambda: sr.matmul(A, np.ones((2, 2, 2)), sr.min_plus), "1-D or 2-D"),
        (lambda: sr.matmul(A, np.array([1.0, np.nan]), sr.min_plus), r"B\[1\] is NaN"),
        (lambda: sr.matmul(A, A, sr.min_plus, out=np.empty((2, 2))), "need a dense operand"),
        (lambda: sr.matmul(A, np.ones(2), sr.min_plus, out=np.empty(3)), "out must be"),
        (lambda: sr.matmul(A, np.ones(2), sr.min_plus, accumulate=np.ones(3)), "accumulate has shape"),
        (lambda: sr.matmul(A, A, sr.min_plus, device="tpu"), "device must be 'cpu' or 'gpu'"),
        (
            lambda: sr.matmul(A, A, sr.min_plus, device="gpu"),
            "no GPU was found" if gpu_name() is None else "a sparse A can only be multiplied by a dense B",
        ),
        (lambda: sr.matmul(A, A, sr.viterbi), r"A\[0, 1\] is 2: it is outside"),
        (lambda: sr.matmul(A, A, sr.shortest_hops), "records as elements, which no SciPy"),
        (lambda: sr.matmul(A, A, sr.why), "Python objects, which a SciPy"),
        (lambda: sr.matmul(A.astype(complex), A, sr.min_plus), "cannot live in complex128"),
    ]
    for call, message in refused:
        with pytest.raises(sr.SemiringError, match=message):
            call()


@pytest.mark.skipif(gpu_name() is not None, reason="there is a GPU")
def test_a_gpu_that_is_not_there() -> None:
    with pytest.raises(sr.SemiringError, match="no GPU was found"):
        sr.matmul(sp.csr_array(np.eye(2)), np.ones(2), sr.min_plus, device="gpu")


def test_integers_beyond_the_machine() -> None:
    """Sums of more than 64 bits are Python's, and an answer that does not fit is refused."""
    big = 2**62
    A, B = sp.csr_array(np.array([[big, 5], [0, 7]])), np.array([[-big], [2]])
    assert sr.matmul(A, B, sr.min_plus).tolist() == [[0], [9]]
    assert sr.matmul(B.T.copy(), A, sr.min_plus).tolist() == [[0, -big + 5]]
    assert dense(sr.min_plus, sr.matmul(A, sp.csr_array(B), sr.min_plus)).tolist() == [[0], [9]]
    with pytest.raises(sr.SemiringError, match="cannot hold"):
        sr.matmul(A, np.array([[big], [2**63 - 2]]), sr.max_plus)


# Structure.


@settings(max_examples=60)
@given(data=st.data())
def test_structure_of_products_and_transposes(data: st.DataObject) -> None:
    random = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    m, k = (data.draw(st.integers(1, 40)) for _ in range(2))
    n = data.draw(st.sampled_from([1, 63, 64, 65, 4096, 4097, 9000]))
    A = sp.random_array((m, k), density=data.draw(st.sampled_from([0, 0.1, 0.9])), random_state=random, format="csr")
    B = sp.random_array((k, n), density=data.draw(st.sampled_from([0, 0.002, 0.2])), random_state=random, format="csr")
    a, b = ((X.indptr.astype(np.int64), X.indices.astype(np.int32)) for X in map(sorted_rows, (A, B)))
    offsets, columns = structure.product_structure(a, b, n)
    expected = sorted_rows(sp.csr_array((A != 0).astype(int) @ (B != 0).astype(int)))
    assert (offsets == expected.indptr).all() and (columns == expected.indices).all()
    assert structure.state_of(offsets, columns, n) == structure.FINE
    turned, sources, order = structure.transposed(*b, n)
    expected = sorted_rows(sp.csr_array(B.T))
    assert (turned == expected.indptr).all() and (sources == expected.indices).all()
    assert (sorted_rows(B).data[order] == expected.data).all()


def sorted_rows(A: Any) -> Any:
    A = A.copy()
    A.sort_indices()
    return A


def test_states_of_rows() -> None:
    def state(offsets: list[int], columns: list[int]) -> int:
        return structure.state_of(np.array(offsets, np.int64), np.array(columns, np.int32), 5)

    assert state([0, 2, 2, 3], [1, 4, 0]) == structure.FINE
    assert state([0], []) == structure.FINE
    assert state([0, 2, 3], [1, 1, 0]) == structure.SORTED
    assert state([0, 2, 3], [2, 1, 0]) == structure.UNSORTED
    assert state([0, 3], [1, 1, 0]) == structure.UNSORTED
    assert state([0, 2, 3], [1, 5, 0]) == structure.BROKEN
    assert state([0, 2, 1], [1, 2]) == structure.BROKEN
    assert state([1, 2], [1, 2]) == structure.BROKEN


def test_elements_are_looked_at_unless_the_caller_says_not_to(monkeypatch: pytest.MonkeyPatch) -> None:
    A = sp.csr_array(([np.nan, 1.0], ([0, 1], [1, 0])), (2, 2))
    b = np.array([5.0, 7.0])
    with pytest.raises(sr.SemiringError, match=r"A\[0, 1\] is NaN"):
        sr.matmul(A, b, sr.min_plus)
    with pytest.raises(sr.SemiringError, match=r"A\[0, 1\] is NaN"):
        sr.closure(A, sr.min_plus, check=False)
    monkeypatch.setattr("semiring.operands.sparse.examine", None)
    monkeypatch.setattr("semiring.operands.dense.examine", None)
    assert sr.matmul(A, b, sr.min_plus, check=False)[1] == 6.0


def test_broken_rows_are_refused_even_so() -> None:
    A = sp.csr_array((2, 2))
    A.indptr, A.indices, A.data = np.array([0, 1, 1], np.int32), np.array([5], np.int32), np.array([1.0])
    with pytest.raises(sr.SemiringError, match="indices are outside"):
        sr.matmul(A, np.ones(2), sr.min_plus, check=False)


@quick
@given(
    st.lists(st.lists(st.integers(-1, 4), max_size=4), min_size=1, max_size=4), st.booleans(),
    st.sampled_from([sr.min_plus, sr.plus_times, sr.max_times, sr.max_min]), st.sampled_from(["f4", "f8", "i4"]),
    st.lists(st.sampled_from([0.0, 1.0, -1.0, 2.5, inf, np.nan]), min_size=20, max_size=20), st.booleans(),
    st.sampled_from([None, np.int32, np.int64]), st.booleans(),
)
def test_a_product_with_a_vector_is_that_with_columns(
    rows: list[list[int]], ascending: bool, S: sr.Semiring, dtype: str, numbers: list[float], check: bool,
    index: Any, accumulate: bool,
) -> None:
    """Rows that the product looks at on its way: the answer, or the refusal, is that of rows looked at before."""
    rows = [sorted({abs(j) for j in row}) if ascending else row for row in rows]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(index or np.int32)
    with np.errstate(invalid="ignore"):
        data = np.array(numbers).astype(dtype)
    count = int(offsets[-1])
    A = sp.csr_array((data[:count], np.zeros(count, np.int32), offsets), (len(rows), 4))
    A.indices = np.array([j for row in rows for j in row], index or np.int32)
    b, C = data[:4], data[4 : 4 + len(rows)]
    more = {"accumulate": C} if accumulate else {}
    both = {"accumulate": np.stack([C, C], axis=1)} if accumulate else {}

    def outcome(B: np.ndarray, **more: Any) -> Any:
        try:
            return sr.matmul(A, B, S, check=check, **more)
        except sr.SemiringError as error:
            return str(error)

    expected, found = outcome(np.stack([b, b], axis=1), **both), outcome(b, **more)
    if not check and np.isnan(data).any():  # what comes of that is not defined
        return
    if isinstance(expected, str):
        assert isinstance(found, str) and found.split("[")[0] == expected.split("[")[0]
        return
    assert not isinstance(found, str), found
    assert np.array_equal(found, expected[:, 0], equal_nan=True)


@pytest.mark.parametrize("dtype", ["u1", "i8"])
@pytest.mark.parametrize("compiling", ["by_numpy", "machine_code"])
def test_ordinary_sums_of_integers_run_only_where_they_fit(
    dtype: str, compiling: str, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(compiling)  # so that no code of other tests goes first, which is at hand
    top, seen = int(np.iinfo(dtype).max), set()
    for step, accumulated in product(range(-2, 4), (0, 1)):
        most = int((top / 3) ** 0.5) + step  # 3 terms
        A, B = np.full((4, 3), most, dtype), np.full((3, 2), most, dtype)
        C = np.full((4, 2), accumulated * most, dtype)
        exact = 3 * most**2
        for right in (B, sp.csr_array(B)):
            options = {"accumulate": C} if accumulated and right is B else {}
            total = exact + (most if options else 0)
            name = sr.plan("matmul", sp.csr_array(A), right, sr.counting, **options).lowering.name
            seen.add(name)
            assert name != "ordinary sums" or total < top - 1
            if total < (top - 1 if dtype == "i8" else top):
                found = sr.matmul(sp.csr_array(A), right, sr.counting, **options)
                assert (found == total).sum() == 8 and found.dtype == dtype
            else:
                with pytest.raises(sr.SemiringError, match="cannot hold"):
                    sr.matmul(sp.csr_array(A), right, sr.counting, **options)
    assert "ordinary sums" in seen and len(seen) == 2


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("offset", [0, 500, -100_000])
@pytest.mark.parametrize("compiling", ["by_numpy", "machine_code"])
def test_log_sums_one_after_the_other_are_within_their_bound(
    dtype: str, offset: float, compiling: str, request: pytest.FixtureRequest
) -> None:
    """Terms that are nearly equal and far from 0, so that every partial sum is rounded at its full size."""
    request.getfixturevalue(compiling)
    random, terms, eps = np.random.default_rng(0), 700, np.finfo(dtype).eps
    A, B = ((offset + 0.01 * random.random(shape)).astype(dtype) for shape in ((7, terms), (terms, 9)))
    powers = np.exp(A.astype("g") - offset)[:, :, None] * np.exp(B.astype("g") - offset)
    exact = np.log(powers.sum(axis=1)) + 2 * offset
    within = eps * terms * (4 + np.abs(exact) / 2)
    left, right, mask = sp.csr_array(A), sp.csr_array(B), np.zeros((7, 9), bool)
    mask[[0, 3, 3], [2, 0, 8]] = True
    for found in (sr.matmul(left, right, sr.log).toarray(), sr.matmul(left, B, sr.log), sr.matmul(A, right, sr.log)):
        assert (np.abs(found - exact) <= within).all()
    for found in (sr.matmul(left, B[:, 0], sr.log), sr.matmul(A, B[:, 0], sr.log)):
        assert (np.abs(found - exact[:, 0]) <= within[:, 0]).all()
    for wanted in (mask, ~mask):
        for factors in ((A, B), (left, right)):
            found = sr.matmul(*factors, sr.log, mask=wanted)
            found = found.toarray() if sp.issparse(found) else found
            assert (np.abs(found - exact) <= within)[wanted].all()
