"""Compare packed Boolean matrices on the CPU with other libraries; the table is in docs/site/benchmarks.md.

    python docs/benchmarks/boolean.py [--threads 2] [--quick] [--write]

Operands are packed and answers stay packed, unless the row says otherwise; peers get what they take. Every row is a
ratio of medians within this run, on the same cores. Answers are compared. `boolean_gpu.py` measures the GPU.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from report import Row, main, median, once


def edges_of(n: int, degree: float, acyclic: bool) -> tuple[Any, Any]:
    """Return random edges, without cycles on request."""
    import numpy as np

    rng = np.random.default_rng(n)
    ends = rng.integers(0, n, (2, int(n * degree)))
    if acyclic:
        ends = np.sort(ends[:, ends[0] != ends[1]], axis=0)
    order = rng.permutation(n)
    return order[ends[0]], order[ends[1]]


def closures(n: int) -> list[Row]:
    """Measure closures of random digraphs."""
    import igraph
    import numpy as np

    from semiring.kernels.cpu.bits.engine import transitive_closure
    from semiring.kernels.cpu.bits.matrix import PackedMatrix

    rows = []
    for what, degree, acyclic, goal in (
        ("average degree 8", 8, False, "0.10 s"),
        ("average degree 1", 1, False, ""),
        ("acyclic, average degree 8", 8, True, ""),
        ("acyclic, average degree 100", 100, True, ""),
    ):
        sources, targets = edges_of(n, degree, acyclic)
        A = PackedMatrix.from_edges(sources, targets, n)

        def ours(A: PackedMatrix = A) -> PackedMatrix:
            R = A.copy()
            transitive_closure(R)
            return R

        graph = igraph.Graph(n, list(zip(*A.to_sparse().nonzero(), strict=True)), directed=True)
        reached: list[Any] = []
        theirs = once(lambda g=graph, r=reached: r.extend(g.neighborhood(order=n, mode="out")))
        R = ours()
        some = np.random.default_rng(0).integers(0, n, 100)
        assert R.count() == sum(map(len, reached))
        assert all(sorted(reached[v]) == np.flatnonzero(R[int(v)]).tolist() for v in some)
        work = f"transitive closure, n = {n:,}, {what}, {A.count():,} edges"
        rows.append(Row(work, median(ours), "igraph neighborhood", theirs, goal))
    return rows


def products(n: int) -> list[Row]:
    """Compare products with NumPy's product of floats."""
    import numpy as np

    import semiring as sr
    from semiring.kernels.cpu.bits.matrix import PackedMatrix

    rng = np.random.default_rng(1)
    rows = []
    for density in (0.001, 0.5):
        a, b = (rng.random((n, n), np.float32) < density for _ in range(2))
        A, B = PackedMatrix.from_dense(a), PackedMatrix.from_dense(b)
        floats = a.astype(np.float32), b.astype(np.float32)
        assert np.array_equal(sr.matmul(A, B, sr.boolean).to_dense(), floats[0] @ floats[1] > 0)
        ours = median(lambda A=A, B=B: sr.matmul(A, B, sr.boolean))
        theirs = once(lambda f=floats: f[0] @ f[1] > 0)
        rows.append(Row(f"product, n = {n:,}, {density:.1%} dense", ours, "NumPy on float32", theirs, ""))
    return rows


def bit_sets(n: int) -> list[Row]:
    """Compare closures over sets of labels: one Boolean closure for each label, or one over words."""
    import numpy as np

    import semiring as sr
    from semiring.kernels.build import kernel
    from semiring.kernels.cpu.bits.lowering import bit_planes
    from semiring.kernels.cpu.bits.planes import PlanesKernel
    from semiring.kernels.facts import Facts
    from semiring.kernels.lowering.general import general
    from semiring.solvers.dense.schedules import SCHEDULES

    rows = []
    for dtype, labels in (("u1", 8), ("u8", 64)):
        A = np.zeros((n, n), dtype)
        sources, targets = edges_of(n, 8, False)
        A[sources, targets] = np.random.default_rng(2).integers(0, 2**labels, len(sources), dtype=dtype)
        low, words = bit_planes(sr.bitset_may, A.dtype, Facts(largest=2**labels - 2)), general(sr.bitset_may, A.dtype)

        def by_planes(A: Any = A, low: Any = low) -> Any:
            planes = low.encode(A, True)
            PlanesKernel().close(planes)
            return low.decode(planes)

        def by_words(A: Any = A, words: Any = words) -> Any:
            C = A.copy()
            SCHEDULES["r-kleene"](C, kernel(words), kernel(words).tile)
            return C

        assert np.array_equal(by_planes(), by_words())
        rows.append(Row(f"closure over sets of {labels} labels, n = {n:,}, array to array", median(by_planes),
                        "our general kernel", median(by_words), "1×"))
    return rows


def questions(n: int) -> list[Row]:
    """Measure what people do with a closure."""
    import numpy as np

    import semiring as sr
    from semiring.kernels.cpu.bits.matrix import PackedMatrix
    from semiring.results.acyclic import transitive_reduction
    from semiring.results.reachability import reach

    A = PackedMatrix.from_edges(*edges_of(n, 8, True), n)
    large = 100_000 * n // 8192
    G = sr.Graph(*edges_of(large, 8, True), large)
    R = reach(A)
    dense = A.to_dense()
    i, j = np.random.default_rng(3).integers(0, n, (2, 10_000_000))
    return [
        Row(f"transitive reduction, acyclic, n = {n:,}, average degree 8", median(lambda: transitive_reduction(A), 3),
            "", None, ""),
        Row(f"transitive reduction of a graph, acyclic, n = {large:,}, average degree 8",
            median(lambda: transitive_reduction(G), 3), "", None, "3 s"),
        Row("10,000,000 pairs asked of a closure", median(lambda: R.pairs(i, j), 3), "", None, ""),
        Row(f"packing a bool array, n = {n:,}", median(lambda: PackedMatrix.from_dense(dense)), "", None, ""),
    ]


def rows(quick: bool) -> list[Row]:
    """Return all rows of the table."""
    n = 512 if quick else 8192
    return closures(n) + products(n // 2) + bit_sets(max(n // 4, 1024)) + questions(n)


if __name__ == "__main__":
    main(__doc__, "boolean-benchmark", rows, ["igraph"])
