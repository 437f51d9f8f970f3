"""Products under a mask on a GPU: those of the host, of arrays and sparse matrices, with masks of either memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu.device import on_device
from gpu.test_convolve import CASES, elements
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import semiring as sr

cupy = pytest.importorskip("cupy")
sparse = pytest.importorskip("cupyx.scipy.sparse")


def numbers(x: Any) -> np.ndarray:
    return x.get() if isinstance(x, cupy.ndarray) else np.asarray(x)


def same(S: sr.Semiring, found: Any, wanted: Any) -> None:
    assert isinstance(found, cupy.ndarray) and found.shape == wanted.shape
    found = found.get()
    for field in wanted.dtype.names or (...,):
        if S is sr.log:
            eps = np.finfo(found.dtype).eps
            np.testing.assert_allclose(found, wanted, rtol=32 * eps, atol=256 * eps)
        else:
            np.testing.assert_array_equal(found[field], wanted[field])


def same_rows(S: sr.Semiring, found: Any, wanted: Any) -> None:
    assert sparse.isspmatrix_csr(found) and found.shape == wanted.shape
    found = found.get()
    assert found.indptr.tolist() == wanted.indptr.tolist() and found.indices.tolist() == wanted.indices.tolist()
    rtol = 32 * np.finfo(found.dtype).eps if S in (sr.log, sr.plus_times) else 0
    np.testing.assert_allclose(found.data, wanted.data, rtol=rtol, atol=4 * rtol)


@pytest.mark.parametrize(("S", "dtype"), CASES, ids=lambda x: getattr(x, "name", x))
def test_arrays_under_a_dense_mask(S: sr.Semiring, dtype: str | None) -> None:
    rng = np.random.default_rng(0)
    for a, b in (((7, 5), (5, 9)), ((40, 130), (130, 70)), ((3, 6, 5), (3, 5, 4)), ((30,), (30, 8)), ((6, 5), (5,))):
        A, B = elements(S, dtype, a, 1), elements(S, dtype, b, 2)
        shape = np.shape(sr.matmul(A, B, S, device="cpu"))
        mask = rng.random(shape) < 0.3
        for complement in (False, True):
            wanted = sr.matmul(A, B, S, mask=mask, complement=complement, device="cpu")
            for given_mask in (mask, cupy.asarray(mask)):
                found = sr.matmul(on_device(A), on_device(B), S, mask=given_mask, complement=complement)
                same(S, found, wanted)


def test_more_options() -> None:
    rng = np.random.default_rng(0)
    A, B, C = (rng.integers(0, 9, (50, 50)).astype("f4") for _ in range(3))
    mask, S = rng.random((50, 50)) < 0.4, sr.min_plus
    x, y, z = map(cupy.asarray, (A, B, C))
    wanted = sr.matmul(A, B, S, accumulate=C, mask=mask)
    same(S, sr.matmul(x, y, S, accumulate=z, mask=mask), wanted)
    assert (z.get() == C).all()
    out = cupy.empty((50, 50), "f4")
    assert sr.matmul(x, y, S, mask=mask, out=out) is out and (out.get() == sr.matmul(A, B, S, mask=mask)).all()
    same(S, sr.matmul(x, B, S, mask=mask), sr.matmul(A, B, S, mask=mask))
    assert isinstance(sr.matmul(A, B, S, mask=mask, device="gpu"), np.ndarray)
    assert (sr.matmul(A, B, S, mask=mask, device="gpu") == sr.matmul(A, B, S, mask=mask)).all()
    stack = rng.integers(0, 9, (3, 50, 50)).astype("f4")
    same(S, sr.matmul(cupy.asarray(stack), y, S, mask=cupy.asarray(mask)), sr.matmul(stack, B, S, mask=mask))
    assert sr.plan("matmul", x, y, S, mask=mask).method == "product, then select"


@settings(max_examples=40, deadline=None)
@given(S=st.sampled_from([sr.min_plus, sr.max_min, sr.plus_times, sr.log]), dtype=st.sampled_from(["f4", "f8"]),
       shape=st.tuples(*[st.integers(1, 80)] * 3), density=st.sampled_from([0.005, 0.1, 0.9]), complement=st.booleans(),
       there=st.booleans())
def test_a_sparse_mask(
    S: sr.Semiring, dtype: str, shape: tuple[int, int, int], density: float, complement: bool, there: bool
) -> None:
    (m, k, n), rng = shape, np.random.default_rng(0)
    A, B = elements(S, dtype, (m, k), 1), elements(S, dtype, (k, n), 2)
    mask = csr_array((rng.random((m, n)) < density).astype(dtype))
    wanted = sr.matmul(A, B, S, mask=mask, complement=complement)
    chosen = sparse.csr_matrix(mask) if there else mask
    found = sr.matmul(cupy.asarray(A), cupy.asarray(B), S, mask=chosen, complement=complement)
    (same if complement else same_rows)(S, found, wanted)


def random_rows(m: int, n: int, density: float, dtype: str, seed: int) -> csr_array:
    rng = np.random.default_rng(seed)
    return csr_array(rng.integers(1, 9, (m, n)) * (rng.random((m, n)) < density), dtype=dtype)


@settings(max_examples=40, deadline=None)
@given(S=st.sampled_from([sr.min_plus, sr.max_min, sr.plus_times]), dtype=st.sampled_from(["f4", "f8"]),
       shape=st.tuples(*[st.integers(1, 90)] * 3), density=st.sampled_from([0.02, 0.3]),
       kind=st.sampled_from(["sparse", "sparse there", "dense", "dense there"]), complement=st.booleans())
def test_sparse_matrices(
    S: sr.Semiring, dtype: str, shape: tuple[int, int, int], density: float, kind: str, complement: bool
) -> None:
    m, k, n = shape
    A, B = random_rows(m, k, density, dtype, 1), random_rows(k, n, density, dtype, 2)
    mask = random_rows(m, n, 0.2, "f4", 3)
    dense = mask.toarray() != 0
    chosen = {"sparse": mask, "sparse there": sparse.csr_matrix(mask), "dense": dense,
              "dense there": cupy.asarray(dense)}
    wanted = sr.matmul(A, B, S, mask=mask, complement=complement)
    found = sr.matmul(sparse.csr_matrix(A), sparse.csr_matrix(B), S, mask=chosen[kind], complement=complement)
    same_rows(S, found, wanted)
    array = np.asarray(B.toarray(), dtype)
    wanted = sr.matmul(A, array, S, mask=dense, complement=complement)
    found = sr.matmul(sparse.csr_matrix(A), cupy.asarray(array), S, mask=cupy.asarray(dense), complement=complement)
    same(S, found, wanted)


def test_triangles() -> None:
    rng = np.random.default_rng(0)
    L = csr_array(np.tril(rng.random((300, 300)) < 0.1, -1).astype("f8"))
    there = sparse.csr_matrix(L)
    found = sr.matmul(there, there, sr.plus_times, mask=there)
    assert float(found.sum()) == sr.matmul(L, L, sr.plus_times, mask=L).sum() > 0
    assert sr.plan("matmul", there, there, sr.plus_times, mask=there).method == "rows meet columns"


def test_masks_that_were_prepared_or_packed() -> None:
    x, M = cupy.asarray(elements(sr.min_plus, "f4", (40, 40), 1)), cupy.asarray(np.eye(40, k=1, dtype=bool))
    wanted = sr.matmul(x, x, sr.min_plus, mask=M).get()
    for mask in (sr.prepare(M, sr.boolean), sr.pack(M), sr.pack(M.get())):
        assert (sr.matmul(x, x, sr.min_plus, mask=mask).get() == wanted).all()


def test_packed_bits() -> None:
    rng = np.random.default_rng(0)
    A, B, mask = (rng.random((200, 200)) < d for d in (0.02, 0.02, 0.3))
    x, y = (sr.pack(cupy.asarray(X)) for X in (A, B))
    for chosen in (mask, sr.pack(mask), sr.pack(cupy.asarray(mask))):
        for complement in (False, True):
            found = sr.matmul(x, y, sr.boolean, mask=chosen, complement=complement)
            wanted = (A.astype(int) @ B.astype(int) > 0) & (mask ^ complement)
            assert (numbers(found.to_dense()) == wanted).all()


def test_only_wanted_entries_have_to_fit_in_their_dtype() -> None:
    A = np.array([[100, 1], [1, 1]], "i1")
    x = cupy.asarray(A)
    for mask in (np.array([[False, True], [True, True]]), np.array([[True, False], [False, False]])):
        if not mask[0, 0]:
            wanted = sr.matmul(A, A, sr.max_plus, mask=mask)
            same(sr.max_plus, sr.matmul(x, x, sr.max_plus, mask=cupy.asarray(mask)), wanted)
            continue
        with pytest.raises(sr.SemiringError, match="int8"):
            sr.matmul(x, x, sr.max_plus, mask=cupy.asarray(mask))


def test_what_is_refused() -> None:
    x = cupy.ones((4, 4))
    rows = sparse.csr_matrix(x)
    for mask, message in ((x, "says True or False"), (cupy.ones((3, 4), bool), "mask has shape"),
                          (sparse.csr_matrix(cupy.ones((3, 4))), "mask has shape")):
        with pytest.raises(sr.SemiringError, match=message):
            sr.matmul(x, x, sr.min_plus, mask=mask)
    with pytest.raises(sr.SemiringError, match="the product is not computed there"):
        sr.matmul(x.get(), x.get(), sr.min_plus, mask=cupy.ones((4, 4), bool))
    with pytest.raises(sr.SemiringError, match="accumulate and out need a dense mask"):
        sr.matmul(x, x, sr.min_plus, mask=rows, out=x.copy())
    with pytest.raises(sr.SemiringError, match="no sparse matrix of int32"):
        sr.matmul(x.astype("i4"), x.astype("i4"), sr.min_plus, mask=rows)
    with pytest.raises(sr.SemiringError, match="leave out device='gpu'"):
        sr.matmul(rows.get(), rows.get(), sr.min_plus, mask=rows.get(), device="gpu")
    with pytest.raises(sr.SemiringError, match="leave out device='cpu'"):
        sr.matmul(x, x, sr.min_plus, mask=x > 0, device="cpu")
    bad = x.copy()
    bad[1, 2] = np.nan
    with pytest.raises(sr.SemiringError, match=r"B\[1, 2\] is NaN"):
        sr.matmul(x, bad, sr.min_plus, mask=x > 0)


@pytest.mark.parametrize(("S", "dtype"), [
    (sr.min_plus, "f4"), (sr.min_plus, "f8"), (sr.min_plus, "i4"), (sr.max_min, "f4"), (sr.max_min, "f8"),
    (sr.max_plus, "f8"), (sr.viterbi, "f4"), (sr.shortest_hops, None),
], ids=lambda x: getattr(x, "name", x))
def test_winning_terms_of_wanted_entries(S: sr.Semiring, dtype: str | None) -> None:
    """Of equal terms the first one, as on the CPU."""
    rng = np.random.default_rng(0)
    for a, b in (((7, 5), (5, 9)), ((40, 130), (130, 70)), ((300, 200), (200, 256)), ((3, 6, 5), (3, 5, 4)),
                 ((30,), (30, 8)), ((6, 5), (5,)), ((5,), (5,)), ((4, 0), (0, 3))):
        A, B = elements(S, dtype, a, 1), elements(S, dtype, b, 2)
        mask = rng.random(np.shape(sr.matmul(A, B, S, device="cpu"))) < 0.3
        for complement in (False, True):
            wanted = sr.matmul(A, B, S, mask=mask, complement=complement, argmax=True, device="cpu")
            for chosen in (mask, cupy.asarray(mask)):
                values, which = sr.matmul(
                    on_device(A), on_device(B), S, mask=chosen, complement=complement, argmax=True)
                for field in wanted[0].dtype.names or (...,):
                    np.testing.assert_array_equal(numbers(values)[field], wanted[0][field])
                np.testing.assert_array_equal(numbers(which), wanted[1])
                assert isinstance(which, (cupy.ndarray, np.integer))
        if A.dtype.names is None:
            found = sr.matmul(A, B, S, mask=mask, argmax=True, device="gpu")
            for x, expected in zip(found, sr.matmul(A, B, S, mask=mask, argmax=True, device="cpu"), strict=True):
                np.testing.assert_array_equal(x, expected)
    A = np.array([[100, 1], [1, 1]], "i1")
    mask = np.array([[False, True], [True, True]])
    found = sr.matmul(cupy.asarray(A), cupy.asarray(A), sr.max_plus, mask=mask, argmax=True)
    for x, expected in zip(found, sr.matmul(A, A, sr.max_plus, mask=mask, argmax=True), strict=True):
        np.testing.assert_array_equal(numbers(x), expected)
    rows, array = random_rows(40, 60, 0.2, "f8", 1), rng.integers(1, 9, (60, 30)).astype("f8")
    there, mask = sparse.csr_matrix(rows), rng.random((40, 30)) < 0.4
    wanted = sr.matmul(rows, array, sr.min_plus, mask=mask, argmax=True)
    turned = sr.matmul(array.T, rows.T.tocsr(), sr.min_plus, mask=mask.T, argmax=True)
    for found, expected in ((sr.matmul(there, cupy.asarray(array), sr.min_plus, mask=mask, argmax=True), wanted),
                            (sr.matmul(cupy.asarray(array.T), there.T.tocsr(), sr.min_plus, mask=mask.T, argmax=True),
                             turned)):
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_array_equal(numbers(x), y)
    with pytest.raises(sr.SemiringError, match="two sparse matrices would be a sparse matrix of integers"):
        sr.matmul(there, there.T.tocsr(), sr.min_plus, mask=mask[:, :1] & np.ones((1, 40), bool), argmax=True)
    with pytest.raises(sr.SemiringError, match="pass mask as a Boolean array"):
        sr.matmul(cupy.asarray(A), cupy.asarray(A), sr.max_plus, mask=sparse.csr_matrix(cupy.ones((2, 2))), argmax=True)
