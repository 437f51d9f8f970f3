"""The edges of a graph, and their weights under several algebras."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semiring.algebra.by_name import algebra
from semiring.algebra.elements import equal
from semiring.algebra.semiring import Semiring
from semiring.errors import GraphError, SemiringError
from semiring.graphs.adjacency import adjacency
from semiring.graphs.graph import Graph, graph_for
from semiring.graphs.matrix import Matrix
from semiring.graphs.texts import count_text, quoted
from semiring.graphs.weights import as_weights
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.operands.convert import as_dense, on_host
from semiring.operands.operand import Operand
from semiring.operands.read import is_of_edges, read

from .tables import texts


def graph_of(A: Any, S: Semiring) -> Graph:
    """The edges of a graph or a matrix, with their own weights."""
    if is_of_edges(A):
        return graph_for(A)
    if isinstance(A, PackedMatrix):
        A = A.get().to_dense()
    if isinstance(A, np.ndarray) and A.dtype.kind == "b":
        weights, present, names = None, A, None
    else:
        given = A if isinstance(A, Operand) else read(A, A.semiring if isinstance(A, Matrix) else S, "A")
        array = as_dense(on_host(given)).array
        weights, present, names = array, ~given.S.over(array.dtype).is_zero(array), given.names
    if present.ndim != 2 or present.shape[0] != present.shape[1]:
        raise GraphError(f"A must be a square matrix or a graph, and has shape {present.shape}")
    sources, targets = np.nonzero(present)
    chosen = None if weights is None else weights[sources, targets]
    return Graph(sources, targets, len(present), chosen, None if names is None else list(names))


def given_weights(weights: Any, chosen: Sequence[Semiring]) -> dict[Semiring, Any]:
    """The weights that the caller passed, by algebra.

    Raises
    ------
    SemiringError
        If they are not a mapping, or contain an algebra that is not compared.
    """
    if weights is None:
        return {}
    if not isinstance(weights, Mapping):
        raise SemiringError(f"weights must be a mapping of algebras to weights, {{S: …}}, not {quoted(weights)}")
    found = {algebra(S): value for S, value in weights.items()}
    for S in found:
        if S not in chosen:
            raise SemiringError(f"weights contains {S.name}, which is not among the algebras")
    return found


def weighted(graph: Graph, S: Semiring, given: Mapping[Semiring, Any]) -> Matrix:
    """The matrix of the graph over an algebra.

    Raises
    ------
    GraphError
        If edges lack weights for it.
    """
    try:
        return adjacency(replace(graph, weights=_of_edges(graph, S, given[S])) if S in given else graph, S)
    except SemiringError as e:
        raise GraphError(
            f"{S.name} lacks weights on this graph: {e}. Pass weights={{S: …}} for it: a matrix, a mapping of edges to "
            "elements, or a sequence of one element for each edge"
        ) from None


def _of_edges(graph: Graph, S: Semiring, given: Any) -> np.ndarray:
    """One weight for each edge.

    Raises
    ------
    GraphError
        If an edge has none, or there are weights for something else.
    """
    if isinstance(given, Mapping):
        ends = [tuple(edge[:2]) for edge in graph.edges()]
        for edge in given:
            if edge not in ends and (graph.directed or not isinstance(edge, tuple) or edge[::-1] not in ends):
                raise GraphError(f"weights contains {quoted(edge)}, which is not an edge")
        keys = [edge if edge in given or graph.directed else edge[::-1] for edge in ends]
        missing = [edge for edge, key in zip(ends, keys, strict=True) if key not in given]
        if missing:
            raise GraphError(f"the edge {quoted(missing[0])} has no weight")
        return as_weights([given[key] for key in keys])
    if getattr(given, "shape", None) == (graph.n, graph.n):
        return _at_edges(graph, S, as_dense(on_host(read(given, S, "weights"))).array)
    is_list = isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, (str, bytes))
    if not is_list or getattr(given, "ndim", 1) != 1:
        raise GraphError(f"{quoted(given)} is not a matrix of {graph.n} × {graph.n}, a mapping or a sequence")
    if len(given) != len(graph):
        raise GraphError(f"{count_text(len(given), 'weight', 'weights')} for {count_text(len(graph), 'edge', 'edges')}")
    return as_weights(given if isinstance(given, np.ndarray) else list(given))


def _at_edges(graph: Graph, S: Semiring, elements: np.ndarray) -> np.ndarray:
    """The elements of a matrix at the edges.

    Raises
    ------
    GraphError
        If there are others, or an undirected graph has other elements in the opposite direction.
    """
    ends = graph.sources, graph.targets
    values = elements[ends]
    others = ~S.over(elements.dtype).is_zero(elements)
    others[ends] = False
    if not graph.directed:
        others[ends[::-1]] = False
        if not equal(elements[ends[::-1]], values).all():
            raise GraphError("weights are not symmetric, but the graph is undirected")
    if others.any():
        i, j = np.argwhere(others)[0]
        raise GraphError(f"weights[{i}, {j}] is {texts(S, elements[i : i + 1, j])[0]}, but there is no such edge")
    return values
