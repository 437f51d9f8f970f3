"""Compare the CPU engine with other libraries in one run; the table is in docs/site/benchmarks.md.

    python docs/benchmarks/cpu.py [--threads 2] [--quick] [--write]

Every row is a ratio of medians within this run, on the same cores (the process is pinned to `threads` of them): the
machine may be slow, noisy or shared, the ratio says what the library does. Answers are compared before they are timed.
"""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from report import Row, main, median, once


def products(n: int) -> list[Row]:
    import numpy as np
    import tropical_gemm

    import semiring as sr

    rng = np.random.default_rng(0)
    rows = []
    times = {}
    for dtype, peer, need in (
        ("f4", "minplus_matmul", "3.5×"),
        ("f8", "minplus_matmul_f64", "7×"),
        ("i4", "minplus_matmul_i32", "7×"),
    ):
        A, B = ((rng.random((n, n)) * 1000).astype(dtype) for _ in range(2))
        theirs = getattr(tropical_gemm, peer)
        answer = np.asarray(theirs(A, B)).reshape(n, n)
        assert np.allclose(sr.matmul(A, B, sr.min_plus), answer, rtol=1e-5)
        times[dtype] = median(lambda A=A, B=B: sr.matmul(A, B, sr.min_plus))
        rows.append(Row(f"min-plus product {A.dtype}, n = {n}", times[dtype], "tropical-gemm",
                        once(lambda A=A, B=B, f=theirs: f(A, B), 3), need))
    own = sr.Semiring("own", add=np.maximum, mul=lambda a, b: a * b, zero=0.0, one=1.0, carrier=lambda a: a >= 0)
    A, B = (rng.random((n, n)).astype("f4") for _ in range(2))
    rows.append(Row(f"a user's own (max, ×) product float32, n = {n}", median(lambda: sr.matmul(A, B, own)),
                    "our min-plus", times["f4"], "0.85×"))
    return rows


def users_products(n: int) -> list[Row]:
    """Measure unusual expressions against min-plus: each should cost its own instructions and no more."""
    import numpy as np

    import semiring as sr

    rng = np.random.default_rng(6)
    A, B = (rng.random((n, n), "f4") for _ in range(2))
    base = median(lambda: sr.matmul(A, B, sr.min_plus))
    rows = []
    for name, add, mul, zero, need in (
        ("Σ |a − b|", np.add, lambda a, b: np.abs(a - b), 0, "0.65×"),
        ("Σ (a − b)²", np.add, lambda a, b: (a - b) ** 2, 0, "0.65×"),
        ("Σ min(a, b)", np.add, np.minimum, 0, "0.65×"),
        ("Σ ab/2", np.add, lambda a, b: a * b / 2, 0, "0.65×"),
        ("min of a + b + ab/8", np.minimum, lambda a, b: a + b + a * b / 8, np.inf, "0.5×"),
    ):
        S = sr.Semiring("own", add=add, mul=mul, zero=zero, product_only=True, carrier=lambda a: a >= 0)
        some = slice(0, 64)
        wanted = add.reduce(mul(A[some, :, None], B[None, :, some]), axis=1)
        assert np.allclose(sr.matmul(A, B, S)[some, some], wanted, rtol=1e-3)
        rows.append(Row(f"a user's own {name} float32, n = {n}", median(lambda S=S: sr.matmul(A, B, S)),
                        "our min-plus", base, need))
    return rows


def log_sums(n: int, small: int) -> list[Row]:
    """Compare log-sum-exp by BLAS with NumPy's product, and with ⊕ of each term at a small size."""
    import numpy as np

    import semiring as sr
    from semiring.kernels.cpu.dense.engine import DenseKernel
    from semiring.kernels.lowering.general import general

    rng = np.random.default_rng(5)
    rows = []
    for dtype, need in (("f4", "0.3×"), ("f8", "0.3×")):
        A, B = (rng.normal(size=(n, n)).astype(dtype) for _ in range(2))
        rows.append(Row(f"log-sum-exp product {A.dtype}, n = {n}", median(lambda A=A, B=B: sr.matmul(A, B, sr.log)),
                        "NumPy's product of numbers", median(lambda A=A, B=B: A @ B), need))
    A, B = (rng.normal(size=(small, small)).astype("f4") for _ in range(2))
    C, by_terms = np.empty_like(A), DenseKernel(general(sr.log, A.dtype))
    by_terms.multiply(C, A, B)
    for answer in (C, log_sum_exp(A, B)):
        assert np.allclose(sr.matmul(A, B, sr.log), answer, rtol=1e-4, atol=1e-5)
    ours = median(lambda: sr.matmul(A, B, sr.log))
    for peer, run, need in (("NumPy's exp, sum and log by blocks", lambda: log_sum_exp(A, B), "30×"),
                            ("⊕ of each term, compiled", lambda: by_terms.multiply(C, A, B), "30×")):
        rows.append(Row(f"log-sum-exp product float32, n = {small}", ours, peer, once(run), need))
    return rows


def log_sum_exp(A, B):  # type: ignore[no-untyped-def]
    """Return the textbook product, a few rows at a time: the maximum of its terms is taken out of each entry."""
    import numpy as np

    out = np.empty((len(A), B.shape[1]), A.dtype)
    for i in range(0, len(A), 4):
        terms = A[i : i + 4, :, None] + B
        top = terms.max(axis=1, keepdims=True)
        out[i : i + 4] = top[:, 0] + np.log(np.exp(terms - top).sum(axis=1))
    return out


def closures(n: int) -> list[Row]:
    import numpy as np
    from scipy.sparse.csgraph import floyd_warshall

    import semiring as sr

    rng = np.random.default_rng(1)
    A = rng.random((n, n))
    A[rng.random((n, n)) < 0.2] = np.inf
    start = time.perf_counter()
    answer = floyd_warshall(A)
    theirs = time.perf_counter() - start
    rows = []
    for dtype, need in (("f4", "45×"), ("f8", "25×")):
        D = A.astype(dtype)
        assert np.allclose(sr.closure(D, sr.min_plus), answer, rtol=1e-5)
        rows.append(Row(f"all-pairs shortest paths {D.dtype}, n = {n}", median(lambda D=D: sr.closure(D, sr.min_plus)),
                        "SciPy floyd_warshall", theirs, need))
    return rows


def other_libraries(n: int) -> list[Row]:
    """Compare with libraries that are too slow for the large sizes."""
    import graphblas
    import igraph
    import networkx as nx
    import numpy as np

    import semiring as sr

    rng = np.random.default_rng(2)
    A = rng.random((n, n))
    np.fill_diagonal(A, 0)
    ours = median(lambda: sr.closure(A, sr.min_plus))
    G = nx.from_numpy_array(A, create_using=nx.DiGraph)
    rows = [Row(f"all-pairs shortest paths float64, n = {n}", ours, "NetworkX floyd_warshall_numpy",
                once(lambda: nx.floyd_warshall_numpy(G)), "")]
    g = igraph.Graph.Weighted_Adjacency(A.tolist(), mode="directed")
    rows.append(Row(f"all-pairs shortest paths float64, n = {n}", ours, "igraph distances",
                    once(lambda: g.distances(weights="weight")), ""))
    M = graphblas.Matrix.from_dense(A.astype("f4"))
    F = A.astype("f4")
    rows.append(Row(f"min-plus product float32, n = {n}", median(lambda: sr.matmul(F, F, sr.min_plus)),
                    "python-graphblas", once(lambda: M.mxm(M, graphblas.semiring.min_plus).new(), 3), ""))
    return rows


def transitive(n: int, degree: int) -> list[Row]:
    import numpy as np

    import semiring as sr

    rng = np.random.default_rng(3)
    A = np.zeros((n, n), bool)
    A[rng.integers(0, n, n * degree), rng.integers(0, n, n * degree)] = True
    assert np.array_equal(sr.closure(A, sr.boolean), components_and_warshall(A))
    return [Row(f"transitive closure, n = {n}, average degree {degree}, bool to bool",
                median(lambda: sr.closure(A, sr.boolean)),
                "SciPy components + NumPy Warshall", median(lambda: components_and_warshall(A)), "3×")]


def components_and_warshall(A):  # type: ignore[no-untyped-def]
    """Return the closure as a SciPy user would write it: Warshall on the graph of components."""
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    rows, columns = np.nonzero(A)
    graph = csr_array((np.ones(len(rows), np.int8), (rows, columns)), A.shape)
    count, label = connected_components(graph, directed=True, connection="strong")
    R = np.eye(count, dtype=bool)
    R[label[rows], label[columns]] = True
    for k in range(count):
        R[R[:, k]] |= R[k]
    return R[label][:, label]


def overheads(sizes: tuple[int, ...]) -> list[Row]:
    """Measure what calls, imports and first calls cost beside the work, and the memory of closures of some sizes."""
    import numpy as np

    import semiring as sr

    rng = np.random.default_rng(4)
    A = rng.random((16, 16))
    calls = 2000
    warm = median(lambda: [sr.closure(A, sr.min_plus) for _ in range(calls)]) / calls
    loading = """
        import numpy, time
        start = time.perf_counter()
        import semiring
        print(time.perf_counter() - start)
    """
    rows = [
        Row("one warm `closure` call, n = 16", warm, "", None, "60 µs"),
        Row("`import semiring` beyond NumPy's own", process(loading), "", None, "0.25 s"),
    ]
    first = """
        import time; start = time.perf_counter()
        import numpy as np
        A = np.random.default_rng(0).random((100, 100))
        import semiring as sr
        sr.closure(A, sr.min_plus)
        print(time.perf_counter() - start)
    """
    rows.append(Row("first closure in a new process, code cached", process(first), "", None, "1.2 s"))
    memory = """
        import numpy as np
        import semiring as sr

        def status(line):
            with open("/proc/self/status") as file:
                return int(next(row for row in file if row.startswith(line)).split()[1]) * 1024

        sr.closure(np.ones((300, 300), np.float32), sr.min_plus, overwrite=True)
        A = np.empty((SIZE, SIZE), np.float32)
        np.random.default_rng(0).random(out=A, dtype=np.float32)
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # the peak starts anew from what is held now
        before = status("VmRSS")
        sr.closure(A, sr.min_plus, overwrite=True)
        print((status("VmHWM") - before) / A.nbytes)
    """
    for n in sizes:
        share = float(output(memory.replace("SIZE", str(n))))
        work = f"memory of an in-place closure beyond the matrix, n = {n}: {100 * share:.1f} %"
        rows.append(Row(work, 0, "", None, "15 %"))
    return rows


def first_calls(count: int) -> list[Row]:
    """Measure some first calls on a new machine with an empty cache, and in a second process."""
    page = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    example = "\n".join(e.source for e in doctest.DocTestParser().get_examples(page)[:3])
    path = """
        import numpy as np, scipy.sparse as sp
        import semiring as sr
        A = sp.diags_array([np.full(1999, 2.0), np.full(1999, 1.0)], offsets=[1, -1], format="csr")
    """
    warm = """
        import time, numba
        import semiring as sr
        start = time.perf_counter()
        sr.warmup(sr.min_plus, sparse=SPARSE)
        print(time.perf_counter() - start)
    """
    rows = []
    for work, code, need in (
        ("the first example of README.md, whole process", example, "1.0 s"),
        ("a sparse closure of 2,000 vertices, whole process", path + "    sr.closure(A, sr.min_plus)", ""),
        ("factors of it and a row, whole process", path + "    sr.factor(A, sr.min_plus).row(0)", ""),
        ("compiling min-plus for dense matrices", warm.replace("SPARSE", "False"), "2.5 s"),
        ("the same and for sparse ones, with what all algebras share", warm.replace("SPARSE", "True"), ""),
    )[:count]:
        with tempfile.TemporaryDirectory() as folder:
            first, again = (process(code, 1, folder) for _ in range(2))
        rows.append(Row(f"empty cache: {work}", first, "in a second process", again, need))
    return rows


def process(code: str, repeat: int = 5, cache: str | None = None) -> float:
    """Return the median time that a new process takes for some code, or that it prints."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        printed = output(code, cache)
        times.append(time.perf_counter() - start if cache and "print(time" not in code else float(printed))
    return sorted(times)[repeat // 2]


def output(code: str, cache: str | None = None) -> str:
    environment = os.environ | ({} if cache is None else {"XDG_CACHE_HOME": cache, "SEMIRING_COMPILE": "auto"})
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True, env=environment
    ).stdout


def field(n: int) -> list[Row]:
    """Compare closures and equations over the reals with NumPy's LAPACK."""
    import numpy as np

    import semiring as sr

    rng = np.random.default_rng(0)
    A, B, one = rng.random((n, n)) / n, rng.random((n, 8)), np.eye(n)
    assert np.allclose(sr.closure(A, sr.plus_times), np.linalg.inv(one - A))
    return [
        Row(f"closure, plus-times, float64, n = {n:,}", median(lambda: sr.closure(A, sr.plus_times)),
            "numpy.linalg.inv", median(lambda: np.linalg.inv(one - A)), "0.95×"),
        Row(f"equations, plus-times, float64, n = {n:,}, 8 right-hand sides",
            median(lambda: sr.solve(A, B, sr.plus_times)), "numpy.linalg.solve",
            median(lambda: np.linalg.solve(one - A, B)), "0.95×"),
    ]


def rows(quick: bool) -> list[Row]:
    """Return all rows of the table."""
    n = 256 if quick else 2048
    large = products(n) + users_products(n) + log_sums(n, n // 4) + closures(n) + transitive(n if quick else 5000, 8)
    large += other_libraries(n // 2) + field(n // 2) + field(n)
    return large + overheads((n, 2 * n)) + first_calls(1 if quick else 5)


if __name__ == "__main__":
    main(__doc__, "cpu-benchmark", rows, ["graphblas", "igraph", "networkx", "tropical_gemm"])
