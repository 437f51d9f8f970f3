"""Rows of tables: products with a sparse factor, compared with other libraries."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from report import Row, median, once


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
    """Compare the triangles of an R-MAT graph, by products under a mask, with GraphBLAS and networkit."""
    import numpy as np
    from scipy.sparse import coo_array, csr_array, tril

    import semiring as sr

    graph = sr.random_graph(n, "rmat", seed=1)
    A = coo_array((np.ones(len(graph)), (graph.sources, graph.targets)), (n, n)).tocsr()
    A = csr_array((A + A.T) > 0).astype(np.int64)
    L, found = csr_array(tril(A, -1)), list[Row]()

    def count(M: Any) -> Any:
        return sr.matmul(M, M, sr.counting, mask=M).sum()

    for M in (L.astype(np.float64), L):
        what = f"triangles of R-MAT, {n:,} vertices, a product under a mask, {M.dtype}"
        for how, given in (("", M), (", prepared", sr.prepare(M, sr.counting))):
            ours = median(partial(count, given), 5)
            for peer, theirs in triangles_of_others(M):
                assert theirs() == count(M)
                found.append(Row(f"{what}{how}", ours, peer, median(theirs, 3), "1×"))
    return found + trusses(csr_array(tril(A, -1) + tril(A, -1).T), 5)


def triangles_of_others(L: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Count the triangles of a graph, of which L is the lower triangle, by other libraries if they are installed."""
    with suppress(ImportError):
        import graphblas

        left = graphblas.io.from_scipy_sparse(L)

        def masked() -> Any:
            C = graphblas.Matrix(left.dtype, *L.shape)
            C(left.S) << graphblas.semiring.plus_pair(left @ left)
            return C.reduce_scalar(graphblas.monoid.plus).new().value

        yield "python-graphblas", masked
    with suppress(ImportError):
        import networkit

        edges = L.tocoo()
        graph = networkit.GraphFromCoo((edges.data.astype(float), edges.coords), n=L.shape[0], directed=False)
        graph.indexEdges()

        def scored() -> Any:
            scores = networkit.sparsification.TriangleEdgeScore(graph)
            scores.run()
            return sum(scores.scores()) / 3

        yield "networkit, of each edge", scored


def trusses(A: Any, k: int) -> list[Row]:
    """Compare the k-truss of a graph with that of GraphBLAS by the same steps."""
    import semiring as sr

    try:
        import graphblas
    except ImportError:
        return []

    def ours() -> int:
        T = A
        while True:
            C = sr.matmul(T, T, sr.counting, mask=T)
            C.data = (C.data >= k - 2).astype(C.data.dtype)
            C.eliminate_zeros()
            if C.nnz == T.nnz:
                return int(T.nnz)
            T = C

    given = graphblas.io.from_scipy_sparse(A)

    def theirs() -> int:
        T = given
        while True:
            C = graphblas.Matrix(given.dtype, *A.shape)
            C(T.S) << graphblas.semiring.plus_pair(T @ T)
            C = graphblas.select.valuege(C, k - 2).new()
            if C.nvals == T.nvals:
                return int(T.nvals)
            T = C

    assert ours() == theirs()
    what = f"{k}-truss of R-MAT, {A.shape[0]:,} vertices"
    return [Row(what, median(ours, 3), "python-graphblas", once(theirs), "1×")]
