"""Rows of tables: products with a sparse factor, compared with other libraries."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from report import Row, median


def sparse_times_dense(n: int) -> list[Row]:
    """Compare eight entries in each row, 64 columns, with SciPy's ordinary product."""
    import numpy as np
    from scipy.sparse import csr_array

    import semiring as sr

    rng = np.random.default_rng(2)
    columns = rng.integers(0, n, (n, 8))
    found = []
    for dtype in ("f4", "f8"):
        A = csr_array((rng.random(8 * n).astype(dtype), columns.ravel(), np.arange(0, 8 * n + 1, 8)), (n, n))
        A.sum_duplicates()
        B = rng.random((n, 64)).astype(dtype)
        C, i = sr.matmul(A, B, sr.min_plus), int(rng.integers(n))
        part = slice(A.indptr[i], A.indptr[i + 1])
        assert np.allclose(C[i], (A.data[part, None] + B[A.indices[part]]).min(axis=0))
        found.append(Row(f"sparse × dense, {n:,} rows of 8, 64 columns, min-plus, {A.dtype}",
                         median(lambda A=A, B=B: sr.matmul(A, B, sr.min_plus), 9), "SciPy's (+, ×)",
                         median(lambda A=A, B=B: A @ B, 9), "0.5×"))
    return found


def few_columns(n: int) -> list[Row]:
    """Measure eight entries in each row, times a vector and eight columns, with and without `prepare`."""
    import numpy as np
    from scipy.sparse import csr_array

    import semiring as sr

    rng = np.random.default_rng(2)
    columns = (np.arange(n)[:, None] + np.sort(rng.integers(-500, 500, (n, 8)), axis=1)) % n
    A = csr_array((rng.random(8 * n), columns.ravel().astype("i4"), np.arange(0, 8 * n + 1, 8, dtype="i4")), (n, n))
    A.sum_duplicates()
    B, prepared = rng.random((n, 8)), sr.prepare(A, sr.min_plus)
    found = []
    for what, right in (("a vector", B[:, 0].copy()), ("8 columns", B)):
        peer, theirs = "SciPy's (+, ×)", median(lambda b=right: A @ b, 9)
        product = graphblas_product(A, right)
        if product is not None:
            peer, theirs = "python-graphblas", median(product, 9)
        for how, given, check in (("", A, True), (", unchecked", A, False), (", prepared", prepared, True)):
            ours = median(lambda M=given, b=right, c=check: sr.matmul(M, b, sr.min_plus, check=c), 9)
            found.append(Row(f"sparse × {what}, {n:,} rows of 8, min-plus{how}", ours, peer, theirs, "1×"))
    return found


def graphblas_product(A: Any, B: Any) -> Callable[[], object] | None:
    """Return the product over min-plus by python-graphblas, if it is installed."""
    try:
        import graphblas
    except ImportError:
        return None
    left = graphblas.io.from_scipy_sparse(A)
    if getattr(B, "ndim", 0) == 2:
        sparse = not hasattr(B, "flags")
        right = graphblas.io.from_scipy_sparse(B) if sparse else graphblas.Matrix.from_dense(B)
        return lambda: left.mxm(right, graphblas.semiring.min_plus).new().wait()
    vector = graphblas.Vector.from_dense(B)
    return lambda: left.mxv(vector, graphblas.semiring.min_plus).new().wait()


def sparse_times_sparse(n: int) -> list[Row]:
    """Compare the square of a random matrix with eight entries in each row; SciPy's columns are sorted too."""
    import numpy as np
    from scipy.sparse import csr_array

    import semiring as sr

    rng = np.random.default_rng(2)
    A = csr_array((rng.random(8 * n), rng.integers(0, n, 8 * n), np.arange(0, 8 * n + 1, 8)), (n, n))
    A.sum_duplicates()
    what = f"sparse × sparse, {n:,} rows of 8"
    found = [Row(f"{what}, plus-times", median(lambda: sr.matmul(A, A, sr.plus_times)), "SciPy, sorted",
                 median(lambda: (A @ A).sort_indices()), "1×")]
    product = graphblas_product(A, A)
    if product is not None:
        found.append(Row(f"{what}, min-plus", median(lambda: sr.matmul(A, A, sr.min_plus)), "python-graphblas",
                         median(product), "2×"))
    return found


def triangles(n: int) -> list[Row]:
    """Compare the triangles of an R-MAT graph, by a product under a mask, with that of GraphBLAS."""
    import numpy as np
    from scipy.sparse import coo_array, csr_array, tril

    import semiring as sr

    try:
        import graphblas
    except ImportError:
        return []
    graph = sr.random_graph(n, "rmat", seed=1)
    A = coo_array((np.ones(len(graph)), (graph.sources, graph.targets)), (n, n)).tocsr()
    found = []
    for dtype in (np.float64, np.int64):
        L = csr_array(tril(((A + A.T) > 0).astype(dtype), -1))
        left = graphblas.io.from_scipy_sparse(L)

        def theirs(left: Any = left) -> Any:
            C = graphblas.Matrix(left.dtype, n, n)
            C(left.S) << graphblas.semiring.plus_pair(left @ left)
            return C.reduce_scalar(graphblas.monoid.plus).new().value

        assert sr.matmul(L, L, sr.counting, mask=L).sum() == theirs()
        what, peer = f"triangles of R-MAT, {n:,} vertices, a product under a mask, {L.dtype}", median(theirs, 5)
        for how, M in (("", L), (", prepared", sr.prepare(L, sr.counting))):
            ours = median(lambda M=M: sr.matmul(M, M, sr.counting, mask=M).sum(), 5)
            found.append(Row(f"{what}{how}", ours, "python-graphblas", peer, "1×"))
    return found
