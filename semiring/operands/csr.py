"""Sparse matrices in: edges of any make as checked compressed rows, never dense."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.kernels.facts import Facts

from .operand import examine


@dataclass(frozen=True, eq=False)
class Csr:
    """A square matrix over an algebra by its edges; what is not there is zero.

    Attributes
    ----------
    algebra : Semiring
    n : int
    indptr, indices : int64 array
        Compressed rows; indices ascend in each row, and none occurs twice.
    values : ndarray, shape (nnz,)
    names : list or None
        Of the vertices.
    of_graph : bool
        Whether it was given as a graph, so that answers are a `Matrix` too.
    """

    algebra: Semiring
    n: int
    indptr: NDArray[np.int64]
    indices: NDArray[np.int64]
    values: np.ndarray
    names: list | None
    of_graph: bool = False

    @property
    def dtype(self) -> np.dtype:
        """Of the elements."""
        return self.values.dtype

    @property
    def nnz(self) -> int:
        """Number of edges."""
        return len(self.indices)

    def wrap(self, array: np.ndarray) -> Any:
        """A square answer of the kind that the dense methods give."""
        from semiring.graphs.matrix import Matrix

        return Matrix(array, self.algebra, self.names) if self.of_graph else array

    def dense(self) -> np.ndarray:
        """The matrix with its zeros."""
        from semiring.graphs.adjacency import zeros

        array = zeros(self.algebra, self.n, self.dtype)
        array[np.repeat(np.arange(self.n), np.diff(self.indptr)), self.indices] = self.values
        return array

    def with_values(self, values: np.ndarray) -> Csr:
        """Other weights on the same edges, row by row."""
        from semiring.graphs.weights import elements, refuse_nan

        rows = np.repeat(np.arange(self.n), np.diff(self.indptr))

        def edge(i: int) -> str:
            return f"edge {i} ({rows[i]} → {self.indices[i]})"

        refuse_nan(values, edge)
        return replace(self, values=np.ascontiguousarray(elements(self.algebra, values, self.dtype, edge)))

    def facts(self) -> Facts:
        """What a lowering's condition asks for, the zeros between the edges included."""
        everything = np.empty(self.nnz + 1, self.dtype)
        everything[:-1] = self.values
        everything[-1] = self.algebra.zero_in(self.dtype)
        return examine(self.algebra, self.dtype, [("A", everything[None])])


def has_edges(A: Any) -> bool:
    """Whether something is a matrix given by its edges: SciPy sparse, a `Graph` or a NetworkX graph."""
    graph = sys.modules.get("semiring.graphs.graph")
    home = type(A).__module__
    return home.startswith(("scipy.sparse", "networkx.")) or (graph is not None and isinstance(A, graph.Graph))


def read(A: Any, S: Semiring, what: str = "A") -> Csr:
    """A SciPy sparse matrix, a `Graph` or a NetworkX graph as compressed rows.

    Every stored entry is an edge, also of weight 0; entries of the same place combine with ⊕.

    Parameters
    ----------
    A : SciPy sparse matrix or array, Graph or NetworkX graph
    S : Semiring
    what : str
        Its name in messages.

    Raises
    ------
    SemiringError
        When it is not square, the dtype cannot carry the algebra, or a weight is NaN or outside the carrier; the edge
        is named.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> import semiring as sr
    >>> twice = sp.coo_array(([5.0, 3.0, 0.0], ([0, 0, 1], [1, 1, 0])), (2, 2))
    >>> A = read(twice, sr.min_plus)
    >>> A.indices.tolist(), A.values.tolist()
    ([1, 0], [3.0, 0.0])
    """
    from semiring.graphs.adjacency import require_rows
    from semiring.graphs.graph import as_graph
    from semiring.graphs.weights import elements, unweighted

    shape = getattr(A, "shape", None)
    if shape is not None and (len(shape) != 2 or shape[0] != shape[1]):
        raise SemiringError(f"{what} must be a square matrix, and is {' × '.join(map(str, shape))}")
    graph, of_graph = as_graph(A), not type(A).__module__.startswith("scipy.sparse")
    require_rows(graph.n)
    if graph.weights is not None:
        # Weights of a graph find a dtype; those of a matrix have one, which is kept.
        kept = not of_graph and S.default_dtype.kind not in "bOV"
        dtype = S.resolve_dtype(graph.weights.dtype) if kept else None
        values = elements(S, graph.weights, dtype, graph._edge)
    elif len(graph):
        values = np.repeat(unweighted(S, None, None), len(graph))
    else:
        values = np.empty(0, S.resolve_dtype(S.default_dtype))
    sources, targets = graph.sources, graph.targets
    if not graph.directed:
        back = sources != targets  # a self-loop already goes both ways
        sources, targets = np.concatenate([sources, targets[back]]), np.concatenate([targets, sources[back]])
        values = np.concatenate([values, values[back]])
    keys, values = _coalesced(sources * graph.n + targets, values, graph.n, S)
    rows = keys // max(graph.n, 1)
    indptr = np.searchsorted(rows, np.arange(graph.n + 1))
    return Csr(S, graph.n, indptr, keys - rows * graph.n, values, graph.names, of_graph)


def _coalesced(keys: NDArray[np.int64], values: np.ndarray, n: int, S: Semiring) -> tuple[np.ndarray, np.ndarray]:
    """Keys in ascending order, each once; values of equal keys combine with ⊕."""
    from semiring.graphs.adjacency import scatter, stable_order

    step = np.diff(keys)
    if not (step > 0).all():
        if (step < 0).any():
            order = stable_order(keys, n * n)
            keys, values = keys[order], values[order]
        fresh = np.concatenate([[True], np.diff(keys) != 0])
        if not fresh.all():
            combined = np.empty(int(fresh.sum()), values.dtype)
            scatter(combined, np.cumsum(fresh) - 1, values, S.add)
            keys, values = keys[fresh], combined
    return keys, np.ascontiguousarray(values)
