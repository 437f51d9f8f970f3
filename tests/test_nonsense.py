"""Whatever a public function is given: an answer, or an error of ours that says what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.teach.ladder import close

GOOD = np.array([[0.0, 1.0], [2.0, 0.0]])
NAMED = sr.adjacency([("a", "b", 1.0)], sr.min_plus)
SPARSE = sp.csr_array(GOOD)
STACK, ROW = np.stack([GOOD] * 3), GOOD[0]
REACH, NAMED_REACH = sr.reach([(0, 1)]), sr.reach([("a", "b")])


def heavy() -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_edge(0, 1, weight="heavy")
    return graph


def nowhere(path: Any) -> Any:
    """What cannot name a file: None in place of texts, which can."""
    return None if isinstance(path, str) else path


NONSENSE: dict[str, Callable[[], Any]] = {
    "None": lambda: None, "a string": lambda: "roads", "bytes": lambda: b"x", "a number": lambda: 3,
    "a float": lambda: 2.5, "a dict": lambda: {1: 2}, "a set": lambda: {1, 2}, "an object": object,
    "a function": lambda: len, "a type": lambda: float, "a generator": lambda: (x for x in [1]),
    "a range": lambda: range(4), "a fraction": lambda: Fraction(1, 3), "0-d": lambda: np.array(3.0),
    "a scalar": lambda: np.float64(3),
    "1-d": lambda: np.zeros(3), "no list": list, "an empty row": lambda: [[]], "ragged": lambda: [[1, 2], [3]],
    "ragged tuples": lambda: ((1, 2), (3, 4, 5)), "ragged and deep": lambda: [[[1, 2], [3]], [[4], [5, 6]]],
    "a list of None": lambda: [[None, None], [None, None]], "a list of strings": lambda: [["a", "b"], ["c", "d"]],
    "strings": lambda: np.array([["a", "b"], ["c", "d"]]), "bytes array": lambda: np.zeros((2, 2), "S3"),
    "strings of any length": lambda: np.array([["a", "b"], ["c", "d"]], np.dtypes.StringDType()),
    "strings as objects": lambda: np.array([["a", "b"], ["c", "d"]], object),
    "None as objects": lambda: np.array([[None, 1.0], [2.0, None]], object),
    "mixed objects": lambda: np.array([[1.0, "b"], [2.0, 1.0]], object),
    "complex": lambda: np.zeros((2, 2), complex), "long double": lambda: np.zeros((2, 2), np.longdouble),
    "long complex": lambda: np.zeros((2, 2), np.clongdouble), "times": lambda: np.zeros((2, 2), "M8[s]"),
    "spans": lambda: np.zeros((2, 2), "m8[s]"), "void": lambda: np.zeros((2, 2), "V4"),
    "another record": lambda: np.zeros((2, 2), [("a", "f8")]),
    "a record of text": lambda: np.zeros((2, 2), [("cost", "U3"), ("hops", "f8")]),
    "a record of vectors": lambda: np.zeros((2, 2), [("cost", "f8", (2,)), ("hops", "f8")]),
    "a rectangle": lambda: np.zeros((2, 3)), "NaN": lambda: np.full((2, 2), np.nan),
    "a huge integer": lambda: [[10**400, 1], [2, 3]], "sparse, 1-d": lambda: sp.coo_array(np.zeros(3)),
    "sparse, complex": lambda: sp.csr_array(np.eye(2) * 1j), "sparse, NaN": lambda: sp.csr_array(GOOD * np.nan),
    "sparse, a rectangle": lambda: sp.csr_array(np.ones((2, 3))), "text for weights": heavy,
    "the other byte order": lambda: GOOD.astype(">f8"), "truth values": lambda: np.zeros((2, 2), bool),
    "beyond 64 bits": lambda: 10**30, "ragged numbers": lambda: [0, [1]],
    "the largest integer": lambda: np.uint64(2**64 - 1), "numbers that add up to little": lambda: [2**62] * 4 + [2],
}
ALGEBRAS = [sr.min_plus, sr.boolean, sr.shortest_hops, sr.plus_times, sr.gf2]
MATRICES: dict[str, Callable[[Any, sr.Semiring], Any]] = {
    "closure": lambda x, S: sr.closure(x, S),
    "compare": lambda x, S: sr.compare(x, [S]),
    "closure, packed": lambda x, S: sr.closure(x, S, packed=True),
    "closure, sparse": lambda x, S: sr.closure(x, S, method="sparse"),
    "matmul, left": lambda x, S: sr.matmul(x, S.eye(2), S),
    "matmul, right": lambda x, S: sr.matmul(S.eye(2), x, S),
    "matmul, both": lambda x, S: sr.matmul(x, x, S),
    "matmul, accumulate": lambda x, S: sr.matmul(S.eye(2), S.eye(2), S, accumulate=x),
    "matmul, out": lambda x, S: sr.matmul(S.eye(2), S.eye(2), S, out=x),
    "residual": lambda x, S: sr.residual(x, S.eye(2), S),
    "the bound of residual": lambda x, S: sr.residual(S.eye(2), x, S),
    "chain": lambda x, S: sr.chain([S.eye(2), x, S.eye(2)], S),
    "chain, at its ends": lambda x, S: sr.chain([x, S.eye(2), x], S),
    "scan, at its start": lambda x, S: sr.scan(S.eye(2)[None], S, initial=x),
    "scan": lambda x, S: sr.scan(x, S),
    "forward": lambda x, S: sr.forward(x, S.eye(2), S),
    "forward, the matrix": lambda x, S: sr.forward(S.eye(2)[0], x, S, steps=2),
    "einsum": lambda x, S: sr.einsum("ij,jk->ik", x, S.eye(2), S=S),
    "einsum, sums": lambda x, S: sr.einsum("ij->i", x, S=S),
    "einsum, a number": lambda x, S: sr.einsum("ij,->ij", S.eye(2), x, S=S),
    "Semiring.add": lambda x, S: S.add(x, S.eye(2)),
    "Semiring.mul": lambda x, S: S.mul(S.eye(2), x),
    "Semiring.star": lambda x, S: S.star(x),
    "initial of a sum": lambda x, S: S.sum(S.eye(2), initial=x),
    "initial of products": lambda x, S: S.prod(S.eye(2), 0, initial=x),
    "Semiring.sum": lambda x, S: S.sum(x, axis=0),
    "Semiring.prod": lambda x, S: S.prod(x),
    "Semiring.cumsum": lambda x, S: S.cumsum(x, axis=-1),
    "Semiring.cumprod": lambda x, S: S.cumprod(x),
    "convolve": lambda x, S: sr.convolve(x, S.eye(2), S),
    "convolve, right": lambda x, S: sr.convolve(S.eye(2)[0], x, S),
    "matmul, argmax": lambda x, S: sr.matmul(S.eye(2), x, S, argmax=True),
    "matmul, sparse": lambda x, S: sr.matmul(SPARSE, x, S),
    "close by a rung": lambda x, S: close(x, S),
    "solve, a stack": lambda x, S: sr.solve(np.stack([S.eye(2)] * 2), x, S),
    "solve, left": lambda x, S: sr.solve(x, S.eye(2), S),
    "solve, right": lambda x, S: sr.solve(S.eye(2), x, S),
    "solve, sparse": lambda x, S: sr.solve(SPARSE, x, S),
    "solve, unknowns on the left": lambda x, S: sr.solve(S.eye(2), x, S, left=True),
    "power": lambda x, S: sr.power(x, S, 2),
    "closure, max_edges": lambda x, S: sr.closure(x, S, max_edges=2),
    "closure, masked": lambda x, S: sr.closure(x, S, on_divergence="mask"),
    "cycle_mean": lambda x, S: sr.cycle_mean(x, S),
    "prepare": lambda x, S: sr.prepare(x, S),
    "factor": lambda x, S: sr.factor(x, S),
    "path": lambda x, S: sr.path(x, S, 0, 1),
    "closure_rows": lambda x, S: sr.closure_rows(x, S, [0]),
    "paths": lambda x, S: sr.paths(x, S),
    "paths, in two stages": lambda x, S: sr.paths(x, (sr.max_min, S)),
    "nearest": lambda x, S: sr.nearest(x, S, [0]),
    "eccentricities": lambda x, S: sr.eccentricities(x, S),
    "diameter": lambda x, S: sr.diameter(x, S),
    "radius": lambda x, S: sr.radius(x, S),
    "mean_weight": lambda x, S: sr.mean_weight(x, S),
    "explain": sr.explain,
    "explain_product": lambda x, S: sr.explain_product(x, x, S),
    "explain_timetable": lambda x, S: sr.explain_timetable(x),
    "plan": lambda x, S: sr.plan("closure", x, S),
    "adjacency": lambda x, S: sr.adjacency(x, S),
    "from_dense": lambda x, S: sr.from_dense(x, S),
    "Matrix": lambda x, S: sr.Matrix(x, S),
    "check_laws": lambda x, S: sr.check_laws(S, x),
}
OTHERS: dict[str, Callable[[Any], Any]] = {
    "kernel_calls": lambda x: sr.kernel_calls(x, 4),
    "kernel_calls, order": lambda x: sr.kernel_calls("blocked", x),
    "kernel_calls, tile": lambda x: sr.kernel_calls("blocked", 4, x),
    "path from": lambda x: sr.path(GOOD, sr.min_plus, x, 1),
    "path to": lambda x: sr.path(GOOD, sr.min_plus, 0, x),
    "path from a name": lambda x: sr.path(NAMED, sr.min_plus, x, "b"),
    "places": lambda x: sr.nearest(GOOD, sr.min_plus, x),
    "paths from": lambda x: sr.paths(GOOD, sr.min_plus, sources=x),
    "paths to": lambda x: sr.paths(GOOD, sr.min_plus, targets=x),
    "paths within": lambda x: sr.paths(GOOD, sr.min_plus, limit=x),
    "paths from some within": lambda x: sr.paths(GOOD, sr.min_plus, sources=[0], limit=x),
    "rows of a mean": lambda x: sr.mean_weight(GOOD, sr.min_plus, rows=x),
    "the seed of a mean": lambda x: sr.mean_weight(GOOD, sr.min_plus, seed=x),
    "rows within": lambda x: sr.closure_rows(GOOD, sr.min_plus, [0], limit=x),
    "rows to": lambda x: sr.closure_rows(GOOD, sr.min_plus, [0], targets=x),
    "Table, array": lambda x: sr.Table(x, sr.min_plus, [0], [1]),
    "Table, sources": lambda x: sr.Table(GOOD, sr.min_plus, x, [0, 1]),
    "rows of": lambda x: sr.closure_rows(GOOD, sr.min_plus, x),
    "rows of a name": lambda x: sr.closure_rows(NAMED, sr.min_plus, x),
    "as_graph": sr.as_graph,
    "pack": sr.pack,
    "reach": sr.reach,
    "transitive_reduction": sr.transitive_reduction,
    "condensation": sr.condensation,
    "topological_order": sr.topological_order,
    "find_cycle": sr.find_cycle,
    "components": sr.components,
    "bridges": sr.bridges,
    "longest_path": sr.longest_path,
    "longest_path from": lambda x: sr.longest_path([("a", "b")], x),
    "lexicographic, first": lambda x: sr.lexicographic(x, sr.min_plus),
    "lexicographic, second": lambda x: sr.lexicographic(sr.min_plus, x),
    "lexicographic, fields": lambda x: sr.lexicographic(sr.min_plus, sr.max_min, fields=x),
    "the algebras of paths": lambda x: sr.paths(GOOD, (sr.max_min, x)),
    "the algebra of closure": lambda x: sr.closure(GOOD, x),
    "the axis of sum": lambda x: sr.min_plus.sum(GOOD, x),
    "keepdims": lambda x: sr.min_plus.sum(GOOD, 0, keepdims=x),
    "out of sum": lambda x: sr.min_plus.sum(GOOD, 0, out=x),
    "the axis of cumprod": lambda x: sr.min_plus.cumprod(GOOD, x),
    "out of cumsum": lambda x: sr.min_plus.cumsum(GOOD, 0, out=x),
    "the axis of scan": lambda x: sr.scan(STACK, sr.min_plus, axis=x),
    "reverse of scan": lambda x: sr.scan(STACK, sr.min_plus, reverse=x),
    "initial of scan, at the end": lambda x: sr.scan(STACK, sr.min_plus, reverse=True, initial=x),
    "emissions": lambda x: sr.forward(ROW, GOOD, sr.min_plus, emissions=x),
    "lengths": lambda x: sr.forward(ROW, STACK, sr.min_plus, lengths=x),
    "lengths, one after the other": lambda x: sr.forward(ROW, GOOD, sr.min_plus, emissions=STACK[0], lengths=x),
    "lengths, padded": lambda x: sr.forward(ROW, GOOD, sr.min_plus, emissions=STACK, lengths=x),
    "steps": lambda x: sr.forward(ROW, GOOD, sr.min_plus, steps=x),
    "reverse of forward": lambda x: sr.forward(ROW, STACK, sr.min_plus, reverse=x),
    "argmax of forward": lambda x: sr.forward(ROW, STACK, sr.min_plus, argmax=x),
    "einsum's expression": lambda x: sr.einsum(x, GOOD, S=sr.min_plus),
    "the algebra of einsum": lambda x: sr.einsum("ij,jk->ik", GOOD, GOOD, S=x),
    "argmax of einsum": lambda x: sr.einsum("ij->i", GOOD, S=sr.min_plus, argmax=x),
    "optimize": lambda x: sr.einsum("ij,jk->ik", GOOD, GOOD, S=sr.min_plus, optimize=x),
    "out of einsum": lambda x: sr.einsum("ij->i", GOOD, S=sr.min_plus, out=x),
    "einsum's lists": lambda x: sr.einsum(GOOD, x, S=sr.min_plus),
    "an axis in einsum's lists": lambda x: sr.einsum(GOOD, [0, x], S=sr.min_plus),
    "mode": lambda x: sr.convolve(ROW, ROW, sr.min_plus, mode=x),
    "the axes of convolve": lambda x: sr.convolve(GOOD, GOOD, sr.min_plus, axes=x),
    "the algebra of matmul": lambda x: sr.matmul(GOOD, GOOD, x),
    "the algebra of prepare": lambda x: sr.prepare(GOOD, x),
    "the algebra of adjacency": lambda x: sr.adjacency([(0, 1, 2.0)], x),
    "the algebra of from_dense": lambda x: sr.from_dense(GOOD, x),
    "the algebra of Matrix": lambda x: sr.Matrix(GOOD, x),
    "the algebra of path": lambda x: sr.path(GOOD, x, 0, 1),
    "method": lambda x: sr.closure(GOOD, sr.min_plus, method=x),
    "device": lambda x: sr.closure(GOOD, sr.min_plus, device=x),
    "device of matmul": lambda x: sr.matmul(GOOD, GOOD, sr.min_plus, device=x),
    "power's k": lambda x: sr.power(GOOD, sr.min_plus, x),
    "on_divergence": lambda x: sr.closure(GOOD, sr.min_plus, on_divergence=x),
    "the matrices of chain": lambda x: sr.chain(x, sr.min_plus),
    "the algebra of chain": lambda x: sr.chain([GOOD, GOOD], x),
    "the algebra of residual": lambda x: sr.residual(GOOD, GOOD, x),
    "tol": lambda x: sr.closure(GOOD, sr.min_plus, tol=x),
    "devices": lambda x: sr.closure(GOOD, sr.min_plus, devices=x),
    "devices of factors": lambda x: sr.factor(SPARSE, sr.min_plus, devices=x),
    "memory": lambda x: sr.closure(GOOD, sr.min_plus, device="gpu", memory=x),
    "tile": lambda x: sr.closure(GOOD, sr.min_plus, tile=x),
    "reflexive": lambda x: sr.closure(GOOD, sr.min_plus, reflexive=x),
    "overwrite": lambda x: sr.closure(GOOD.copy(), sr.min_plus, overwrite=x),
    "check": lambda x: sr.closure(GOOD, sr.min_plus, check=x),
    "warmup": lambda x: sr.warmup(x),
    "connect": lambda x: sr.connect(x),
    "on": lambda x: sr.closure(GOOD, sr.min_plus, on=x if x is not None else 0),
    "plan's on": lambda x: sr.plan("closure", GOOD, sr.min_plus, on=x if x is not None else 0),
    "plan's method": lambda x: sr.plan("closure", GOOD, sr.min_plus, method=x),
    "StackedFactors.solve": lambda x: sr.factor(np.stack([GOOD, GOOD]), sr.min_plus).solve(x),
    "StackedPaths": lambda x: sr.paths(np.stack([GOOD, GOOD]), sr.min_plus)[x],
    "paths of a stack from": lambda x: sr.paths(np.stack([GOOD, GOOD]), sr.min_plus, sources=x),
    "Factors.solve": lambda x: sr.factor(GOOD, sr.min_plus).solve(x),
    "Factors.rows": lambda x: sr.factor(GOOD, sr.min_plus).rows(x),
    "Factors.rows to": lambda x: sr.factor(GOOD, sr.min_plus).rows([0], targets=x),
    "Factors.path": lambda x: sr.factor(GOOD, sr.min_plus).path(0, x),
    "factor order": lambda x: sr.factor(SPARSE, sr.min_plus, order=x),
    "SparseFactors.rows to": lambda x: sr.factor(SPARSE, sr.min_plus).rows([0], targets=x),
    "SparseFactors.weight": lambda x: sr.factor(SPARSE, sr.min_plus).weight(x, 0),
    "SparseFactors.table": lambda x: sr.factor(SPARSE, sr.min_plus).table([0], x),
    "Labels.weight": lambda x: sr.factor(SPARSE, sr.min_plus).labels().weight(0, x),
    "Labels.table": lambda x: sr.factor(SPARSE, sr.min_plus).labels().table(x, [0]),
    "SparseFactors.save_factors": lambda x: sr.factor(SPARSE, sr.min_plus).save_factors(nowhere(x)),
    "SparseFactors.save_analysis": lambda x: sr.factor(SPARSE, sr.min_plus).save_analysis(nowhere(x)),
    "Labels.save": lambda x: sr.factor(SPARSE, sr.min_plus).labels().save(nowhere(x)),
    "open_factors": lambda x: sr.open_factors(nowhere(x)),
    "open_analysis": lambda x: sr.open_analysis(nowhere(x)),
    "open_labels": lambda x: sr.open_labels(nowhere(x)),
    "SparseFactors.path": lambda x: sr.factor(SPARSE, sr.min_plus).path(x, 0),
    "SparseFactors.solve": lambda x: sr.factor(SPARSE, sr.min_plus).solve(x),
    "SparseFactors.rows": lambda x: sr.factor(SPARSE, sr.min_plus).rows(x),
    "SparseFactors.row": lambda x: sr.factor(SPARSE, sr.min_plus).row(x),
    "SparseFactors.refactor": lambda x: sr.factor(SPARSE, sr.min_plus).refactor(x),
    "SparseFactors.reduce": lambda x: sr.factor(SPARSE, sr.min_plus).reduce(x) if not callable(x) else None,
    "progress": lambda x: sr.closure(GOOD, sr.min_plus, progress=x) if not callable(x) else None,
    "letter": sr.letter,
    "Semiring.table": lambda x: sr.min_plus.table(x),
    "Semiring.table of records": lambda x: sr.shortest_hops.table(x),
    "Semiring.table of objects": lambda x: sr.why.table(x),
    "Semiring.table in a dtype": lambda x: sr.min_plus.table(x, dtype="i4"),
    "compare, algebras": lambda x: sr.compare(GOOD, x),
    "compare, weights": lambda x: sr.compare(GOOD, [sr.min_plus], weights=x),
    "compare, weights of an algebra": lambda x: sr.compare(GOOD, [sr.min_plus], weights={sr.min_plus: x}),
    "compare, source": lambda x: sr.compare(GOOD, [sr.min_plus], source=x),
    "Semiring.hasse": lambda x: sr.bitset_may.hasse(x),
    "close by a rung, its name": lambda x: close(GOOD, sr.min_plus, rung=x),
    "close by a rung, the device": lambda x: close(GOOD, sr.min_plus, device=x),
    "random_graph, n": lambda x: sr.random_graph(x, p=0.5),
    "random_graph, kind": lambda x: sr.random_graph(4, x),
    "random_graph, degree": lambda x: sr.random_graph(4, degree=x),
    "random_graph, p": lambda x: sr.random_graph(4, p=x),
    "random_graph, weights": lambda x: sr.random_graph(4, p=0.5, weights=x),
    "random_graph, seed": lambda x: sr.random_graph(4, p=0.5, seed=x),
    "Graph, sources": lambda x: sr.Graph(x, [1], 4),
    "Graph, targets": lambda x: sr.Graph([1], x, 4),
    "Graph, both ends": lambda x: sr.closure(sr.Graph(x, x, 4), sr.min_plus),
    "Graph, n": lambda x: sr.Graph([0], [1], x),
    "Graph, weights": lambda x: sr.closure(sr.Graph([0], [1], 2, x), sr.min_plus),
    "Graph, names": lambda x: sr.closure(sr.Graph([0], [1], 2, names=x), sr.min_plus),
    "Matrix, names": lambda x: sr.closure(sr.Matrix(GOOD, sr.min_plus, x), sr.min_plus),
    "as_graph, names": lambda x: sr.as_graph([(0, 1)], names=x),
    "from_dense, names": lambda x: sr.from_dense(GOOD, sr.min_plus, names=x),
    "Reachability": lambda x: sr.Reachability(x).reaches(0, 1),
    "Reachability, names": lambda x: sr.Reachability(REACH.closure, x),
    "Reachability.pairs": lambda x: REACH.pairs(x, 0),
    "Reachability.pairs of names": lambda x: NAMED_REACH.pairs(["a"], x),
    "Reachability.reaches": lambda x: REACH.reaches(0, x),
    "Reachability.descendants": lambda x: NAMED_REACH.descendants(x),
    "PackedMatrix.from_edges": lambda x: sr.PackedMatrix.from_edges([1], x, 4),
}


def answers_or_refuses(call: Callable[[], Any]) -> None:
    """It may answer; what it raises is ours, and says something."""
    try:
        call()
    except sr.SemiringError as e:
        assert len(str(e)) > 10


@pytest.mark.parametrize("what", NONSENSE)
@pytest.mark.parametrize("S", ALGEBRAS, ids=lambda S: S.name)
def test_verbs(S: sr.Semiring, what: str) -> None:
    for call in MATRICES.values():
        answers_or_refuses(lambda call=call: call(NONSENSE[what](), S))


def test_integers_beyond_every_float() -> None:
    """Where a quotient is a float they are refused, and fractions are exact."""
    huge = np.array([[10**400, 1], [2, 3]], object)
    exact = huge * Fraction(1)
    for verb in (lambda A: sr.closure(A, sr.plus_times), lambda A: sr.solve(A, A, sr.plus_times),
                 lambda A: sr.factor(A, sr.plus_times).closure()):
        with pytest.raises(sr.SemiringError, match=r"too large for a float.*fractions\.Fraction"):
            verb(huge)
    X = sr.closure(exact, sr.plus_times)
    assert (np.eye(2, dtype=int) + exact @ X == X).all()


@pytest.mark.parametrize("S", [sr.bitset_may, sr.bitset_must], ids=lambda S: S.name)
def test_the_limit_of_a_dtype_is_no_integer_of_python(S: sr.Semiring) -> None:
    bits = np.array([[1, 2], [3, 4]])
    for verb in (sr.matmul, lambda A, B, S: sr.power(A, S, 3)):  # which combine none with it
        assert (verb(*[bits.astype(object)] * 2, S) == verb(*[bits.astype(np.uint64)] * 2, S)).all()
    for verb in (sr.closure, lambda A, S: sr.solve(A, A, S), lambda A, S: sr.factor(A, S).closure()):
        verb(bits.astype(np.uint64), S)
        with pytest.raises(sr.SemiringError, match="integers of a fixed size"):
            verb(bits.astype(object), S)


@pytest.mark.parametrize("what", NONSENSE)
def test_everything_else(what: str) -> None:
    for call in OTHERS.values():
        answers_or_refuses(lambda call=call: call(NONSENSE[what]()))


REFUSED = {"None", "a string", "an object", "a function", "ragged", "a list of None", "strings", "strings as objects",
           "strings of any length", "None as objects", "mixed objects", "times", "spans", "void",
           "a record of text", "a record of vectors", "NaN"}


@pytest.mark.parametrize("what", sorted(REFUSED))
def test_what_is_no_matrix_is_refused(what: str) -> None:
    for S in (sr.min_plus, sr.plus_times, sr.shortest_hops):
        refuses(S, what)


def refuses(S: sr.Semiring, what: str) -> None:
    for verb in ("closure", "matmul, left", "matmul, right", "factor", "solve, left", "solve, right", "plan"):
        with pytest.raises(sr.SemiringError):
            MATRICES[verb](NONSENSE[what](), S)


@pytest.mark.parametrize("S", [sr.min_plus, sr.log, sr.shortest_hops, sr.boolean], ids=lambda S: S.name)
def test_complex_numbers_are_refused_where_numbers_are_compared(S: sr.Semiring) -> None:
    refuses(S, "complex")


def test_refusals_name_the_operand_the_place_and_what_to_do() -> None:
    for bad, message in (
        (np.array([[1.0, 2.0], ["b", 1.0]], object), r"A\[1, 0\] is 'b': min-plus computes with numbers; mark an"),
        (np.array([[1.0, None], [2.0, 1.0]], object), r"A\[0, 1\] is None: min-plus computes with numbers"),
        (np.zeros((2, 2), "M8[s]"), r"min-plus cannot live in datetime64.*Convert the data"),
        (np.array([["a"]], np.dtypes.StringDType()), r"A has elements of dtype StringDType.*not numbers"),
        ([[1, 2], [3]], r"A is not a matrix: .*pass a NumPy array"),
    ):
        for call in (sr.closure, sr.factor, partial(sr.plan, "closure"), lambda A, S: sr.path(A, S, 0, 1)):
            with pytest.raises(sr.SemiringError, match=message):
                call(bad, sr.min_plus)


@pytest.mark.parametrize("name", ["min-plus", "min_plus", "MIN_PLUS", " min plus "])
def test_algebras_by_name(name: str) -> None:
    """Wherever an algebra is wanted, its name will do."""
    A = np.array([[np.inf, 1.0], [2.0, np.inf]])
    graph = sp.csr_array(([1.0, 2.0], ([0, 1], [1, 0])))
    S = sr.min_plus
    for call in (
        lambda S: sr.closure(A, S), lambda S: sr.matmul(A, A, S), lambda S: sr.solve(A, A, S),
        lambda S: sr.factor(A, S).closure(), lambda S: sr.path(A, S, 0, 1)[1], lambda S: str(sr.plan("closure", A, S)),
        lambda S: str(sr.check_laws(S)), lambda S: np.asarray(sr.adjacency([(0, 1, 2.0)], S)),
        lambda S: np.asarray(sr.from_dense([[0, 1.5], [2, 0]], S)),
        lambda S: np.asarray(sr.Matrix(A, S)), lambda S: sr.closure_rows(graph, S, 0), lambda S: sr.closure(graph, S),
        lambda S: sr.factor(graph, S).closure(), lambda S: sr.solve(graph, A, S), lambda S: sr.matmul(graph, A, S),
        lambda S: np.asarray(sr.closure(sr.Matrix(A, S), S)), lambda S: repr(sr.Matrix(A, S)),
    ):
        assert np.array_equal(call(name), call(S))
    with pytest.raises(sr.SemiringError, match="unknown algebra 'min-pluss': did you mean"):
        sr.adjacency([(0, 1, 2.0)], "min-pluss")


def test_the_table_covers_what_is_public() -> None:
    """A new public function joins the table, or the few that take nothing of a caller's."""
    tested = " ".join([*MATRICES, *OTHERS])
    elsewhere = {"clear_cache", "read_graph", "read_matrix", "write_matrix", "k_best", "mod_p", "saturating_min_plus",
                 "saturating_add", "saturating_multiply"}
    functions = [name for name in sr.__all__ if callable(getattr(sr, name)) and not isinstance(getattr(sr, name), type)
                 and not isinstance(getattr(sr, name), sr.Semiring)]
    assert [name for name in functions if name not in tested and name not in elsewhere] == []


VERTICES: dict[str, Callable[[Any], Any]] = {
    "path": lambda v: sr.path(GOOD, sr.min_plus, v, 1),
    "closure_rows": lambda v: sr.closure_rows(GOOD, sr.min_plus, [0, v]),
    "paths": lambda v: sr.paths(GOOD, sr.min_plus, sources=[0, v]),
    "nearest": lambda v: sr.nearest(GOOD, sr.min_plus, [0, v]),
    "paths, one": lambda v: sr.paths(GOOD, sr.min_plus)[0, v],
    "plan": lambda v: sr.plan("closure_rows", GOOD, sr.min_plus, sources=[v, 0]),
    "plan's targets": lambda v: sr.plan("closure_rows", GOOD, sr.min_plus, sources=[0], targets=[v]),
    "SparseFactors.weight": lambda v: sr.factor(SPARSE, sr.min_plus).weight(v, 0),
    "SparseFactors.row": lambda v: sr.factor(SPARSE, sr.min_plus).row(v),
    "SparseFactors.rows": lambda v: sr.factor(SPARSE, sr.min_plus).rows([v, 0]),
    "SparseFactors.rows of an array": lambda v: sr.factor(SPARSE, sr.min_plus).rows(np.array([v])),
    "Matrix, a row": lambda v: sr.Matrix(GOOD, sr.min_plus)[v],
    "Matrix, an element": lambda v: sr.Matrix(GOOD, sr.min_plus)[0, v],
    "Matrix.index": lambda v: sr.Matrix(GOOD, sr.min_plus).index(v),
    "as_graph": lambda v: sr.as_graph([(0, v), (1, 0)]),
    "as_graph of arrays": lambda v: sr.as_graph((np.array([v]), np.array([0]))),
    "Graph": lambda v: sr.Graph([v, 0], [0, 1], 3),
    "Graph of arrays": lambda v: sr.Graph(np.array([0]), np.array([v]), 3),
    "reaches": lambda v: REACH.reaches(v, 0),
    "pairs": lambda v: REACH.pairs([v, 0], [0, 0]),
    "pairs, the second": lambda v: REACH.pairs([0], [0, v]),
    "pairs, nested": lambda v: REACH.pairs([[0], [v]], [0, 1]),
    "pairs, a tuple": lambda v: REACH.pairs((v, 0), 0),
    "pairs, an array": lambda v: REACH.pairs(np.array([v]), 0),
    "descendants": lambda v: REACH.descendants(v),
    "ancestors": lambda v: REACH.ancestors(v),
    "PackedMatrix.from_edges": lambda v: sr.PackedMatrix.from_edges([v, 0], [0, 1], 2),
    "PackedMatrix, entries": lambda v: REACH.closure[[0, v], [0, 1]],
    "PackedMatrix, rows": lambda v: REACH.closure[[v, 0, 1]],
}


@pytest.mark.parametrize("truth", [True, False, np.True_], ids=repr)
@pytest.mark.parametrize("call", VERTICES)
def test_a_truth_value_is_no_vertex(call: str, truth: Any) -> None:
    """Though Python takes True for 1, and NumPy makes a 1 of it in a list of numbers."""
    VERTICES[call](int(truth))
    with pytest.raises(sr.SemiringError):
        VERTICES[call](truth)


def test_lists_are_taken_for_arrays() -> None:
    """By the constructors, which hold arrays."""
    known = sr.Graph(np.array([0, 1]), np.array([1, 2]), 3, np.array([2.5, 0.0]), ["a", "b", "c"])
    for made in (
        sr.Graph([0, 1], [1, 2], 3, [2.5, 0], ("a", "b", "c")),
        sr.Graph((0, 1), range(1, 3), np.int64(3), (2.5, 0.0), np.array(["a", "b", "c"])),
        sr.Graph(np.array([0, 1], "u1"), np.array([1.0, 2.0]), 3, pd.Series([2.5, 0]), pd.Index(["a", "b", "c"])),
    ):
        assert made.sources.dtype == made.targets.dtype == np.int64 and made.weights is not None
        assert made.names == known.names and type(made.n) is int
        assert np.array_equal(sr.closure(made, sr.min_plus), sr.closure(known, sr.min_plus))
    assert sr.closure(sr.Graph([], [], 2), sr.min_plus).shape == (2, 2)
    assert sr.Graph([0], [1], 2, [sr.letter("x")]).weights.dtype == object
    assert sr.Matrix([[0, 1], [1, 0]], sr.min_plus, ("a", "b")).array.dtype == np.int64


@pytest.mark.parametrize(("call", "message"), [
    (lambda: sr.Graph([0], ["b"], 3), "edge 0: target vertex 'b' is not a position; as_graph takes edges by name"),
    (lambda: sr.Graph([0, 1.5], [1, 1], 3), "edge 1: source vertex 1.5 is not an integer"),
    (lambda: sr.Graph([[0]], [1], 3), r"source vertex \[0\] is not a position"),
    (lambda: sr.Graph(np.zeros((2, 2), int), [0, 1], 3), r"source vertices have shape \(2, 2\)"),
    (lambda: sr.Graph(np.ma.array([0], mask=[True]), [1], 3), "edges have no mask"),
    (lambda: sr.Graph(0, 1, 3), "the source vertices must be a sequence of integers, not 0"),
    (lambda: sr.Graph([0], [1], 2.5), "n must be a whole number of at least 0, and is 2.5"),
    (lambda: sr.Graph([0], [1], 2, 3.0), "weights must be a sequence, one for each edge, not 3.0"),
    (lambda: sr.Graph([0], [1], 2, np.zeros((1, 2))), r"weights of shape \(1, 2\): pass one for each edge"),
    (lambda: sr.Graph([0], [1], 2, names=5), "names must be a sequence, one for each vertex, and are 5"),
    (lambda: sr.Matrix(GOOD, sr.min_plus, 5), "names must be a sequence"),
    (lambda: sr.Matrix(GOOD, sr.min_plus, [["a"], "b"]), r"vertex 0 is called \['a'\], which is not hashable"),
    (lambda: sr.Reachability([[1, 1], [0, 1]]), "closure must be a PackedMatrix.*reach"),
    (lambda: sr.Reachability(REACH.closure, 5), "names must be a sequence"),
    (lambda: REACH.pairs([[0, 1], [1]], 0), "positions of vertices are not an array"),
    (lambda: NAMED_REACH.pairs(3, ["b"]), "sources and targets must be sequences of vertices, not 3"),
])
def test_what_a_constructor_cannot_take_is_named(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(sr.SemiringError, match=message):
        call()
