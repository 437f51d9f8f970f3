"""What type checkers say of answers: `make lint` asks mypy, and tests/test_api.py looks at the answers themselves.

Of arrays whose shape or elements mypy does not know it says nothing, where other operands would give other answers.
"""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np

import semiring as sr

Square = np.ndarray[tuple[int, int], np.dtype[np.float64]]
A: Square = np.array([[0.0, 2.0], [1.0, 0.0]])
M = sr.Matrix(A, sr.min_plus, names=["a", "b"])
PLAIN = sr.Matrix(A, sr.min_plus)
G = sr.as_graph([("a", "b", 2.0), ("b", "a", 1.0)])
BITS = sr.pack(A > 0)
S = sr.min_plus

assert_type(sr.closure(A, S), np.ndarray)
assert_type(sr.closure(A, S, method="blocked", tile=1, max_edges=None), np.ndarray)
assert_type(sr.closure([[0.0, 1.0], [2.0, 0.0]], "min_plus"), np.ndarray)
assert_type(sr.closure(M), sr.Matrix)
assert_type(sr.closure(G, S, max_edges=2), sr.Matrix)
assert_type(sr.closure(G, sr.boolean, packed=True), sr.PackedMatrix)
assert_type(sr.closure(BITS, sr.boolean), sr.PackedMatrix)
assert_type(M.closure(), sr.Matrix)
assert_type(sr.adjacency([(0, 1)], sr.boolean).closure(packed=True), sr.PackedMatrix)

assert_type(sr.matmul(A, A, S), np.ndarray)
assert_type(sr.matmul(A, A, S, argmax=True), tuple[Any, Any])
assert_type(sr.closure(A, S, on_divergence="mask"), sr.Closures)
assert_type(sr.matmul(A, A, S, accumulate=A, out=A.copy()), Square)
assert_type(M @ M, sr.Matrix)
assert_type(M @ PLAIN, sr.Matrix)
assert_type(PLAIN @ M, sr.Matrix)
assert_type(M @ A, np.ndarray)
assert_type(M | A, sr.Matrix)
assert_type(M**3, sr.Matrix)
assert_type(M == A, np.ndarray)
assert_type(M != M, np.ndarray)
assert_type(M.T, sr.Matrix)
assert_type(M[["a"]], sr.Matrix)
assert_type(M * 2.0, sr.Matrix)
assert_type(M.where(A > 1), sr.Matrix)
assert_type(M.select(lambda w: w < 5), sr.Matrix)
assert_type(M.map(lambda w: 2 * w, sr.max_plus), sr.Matrix)
assert_type(M.astype("f4"), sr.Matrix)
assert_type(M.kron(M), sr.Matrix)
assert_type(M.row("a"), np.ndarray)
assert_type(M.diagonal(), np.ndarray)
assert_type(M.nnz, int)
assert_type(G @ M, Any)
assert_type(M.to_numpy(), np.ndarray)
assert_type(sr.power(A, S, 3), np.ndarray)
assert_type(sr.power(M, k=3), sr.Matrix)
assert_type(sr.power(G, S, 3), sr.Graph)
assert_type(sr.power(BITS, sr.boolean, 2), sr.PackedMatrix)

F, SPARSE = sr.factor(A, S), sr.factor(G, S)
assert_type(F, sr.Factors)
assert_type(SPARSE, sr.SparseFactors)
assert_type(sr.factor(M, check=False), sr.Factors)
assert_type(F.solve(A), np.ndarray)
assert_type(SPARSE.solve(A), np.ndarray)


def opened() -> None:
    assert_type(sr.open_factors("roads.factors", S), sr.SparseFactors)
    assert_type(sr.open_labels("roads.labels"), sr.Labels)
    assert_type(sr.factor(G, S, order=sr.open_analysis("roads.analysis")), sr.SparseFactors)


assert_type(sr.solve(A, A, S), np.ndarray)
assert_type(sr.solve(G, A, S, left=True), np.ndarray)
assert_type(F.rows([0]), np.ndarray)
assert_type(F.rows([0], targets=[1]), sr.Table)
assert_type(SPARSE.rows(["a"]), np.ndarray)
assert_type(SPARSE.rows(["a"], targets=["b"]), sr.Table)
assert_type(SPARSE.row("a"), np.ndarray)
assert_type(F.path(0, 1), tuple[Any, list[Any] | None])

assert_type(sr.closure_rows(G, S, "a"), np.ndarray)
assert_type(sr.closure_rows(G, S, ["a"], limit=3.0), np.ndarray)
assert_type(sr.closure_rows(M, sources=["a"], predecessors=True), tuple[np.ndarray, np.ndarray])
assert_type(sr.closure_rows(M, sources=["a"], targets=["b"]), sr.Table)
assert_type(sr.path(G, S, "a", "b"), tuple[Any, list[Any] | None])
assert_type(sr.paths(G, S), sr.Paths)
assert_type(sr.paths(G, S).tree("a"), sr.Graph)
assert_type(sr.nearest(M, places=["a"]).places, np.ndarray)
assert_type(sr.plan("closure", A, S), sr.Plan)
assert_type(sr.as_graph(G).reverse(), sr.Graph)

assert_type(S.table(), sr.OperationTables)
assert_type(S.hasse([0.0, 1.0]), sr.HasseDiagram)
assert_type(sr.explain(G, S), sr.Explanation)
assert_type(sr.explain_product(A, A, S), sr.ProductExplanation)
assert_type(sr.explain_timetable(G), sr.TimetableExplanation)
assert_type(sr.compare(G, [S, "max_min"]), sr.Comparison)
assert_type(sr.check_laws(sr.plus_min).failures[0].graph(), sr.LawGraph | None)
