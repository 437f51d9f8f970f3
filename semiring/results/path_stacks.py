"""Best paths in every matrix of a stack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from semiring.errors import GraphError
from semiring.graphs.texts import clip_repr, count_text
from semiring.operands.dense import Dense
from semiring.operands.devices import is_on_gpu, to_host, upload
from semiring.solvers.task import Task

from .paths import Paths
from .staged_paths import StagedPaths


class StackedPaths:
    """Best paths in each graph of a stack; `semiring.paths` makes them.

    `R[i]` are the paths in matrix i, `R[i, j]` if the stack has two axes; iterating goes over all of them, in order.

    Attributes
    ----------
    shape : tuple of int
        The axes of the stack.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> A = np.array([[[np.inf, 3.0], [1.0, np.inf]], [[np.inf, 5.0], [np.inf, np.inf]]])
    >>> R = sr.paths(A, sr.min_plus)
    >>> R[1][0, 1], len(R)
    (Path(weight=5.0, vertices=[0, 1]), 2)
    >>> R.weights[:, 0, 1]
    array([3., 5.])
    """

    def __init__(self, shape: tuple[int, ...], each: Sequence[Paths]):
        self.shape, self._each = shape, list(each)
        self._numbers = np.arange(prod(shape)).reshape(shape)

    @property
    def weights(self) -> Any:
        """The values of best walks, as in `Paths`: shape (…, k, n)."""
        return self._stacked([R.weights for R in self._each])

    @property
    def next_hop(self) -> Any:
        """The vertex after the source on each path, as in `Paths`: int32, shape (…, k, n)."""
        return self._stacked([R.next_hop for R in self._each])

    @property
    def predecessors(self) -> Any:
        """The vertex before each on the path to it, as in `Paths`: int32, shape (…, k, n)."""
        return self._stacked([R.predecessors for R in self._each])

    def _stacked(self, parts: list[Any]) -> Any:
        if not parts:
            raise GraphError("there are no matrices in the stack, and no paths")
        there = is_on_gpu(parts[0])
        stack = np.empty((len(parts), *parts[0].shape), parts[0].dtype)  # np.stack would change the byte order
        for place, part in zip(stack, parts, strict=True):
            place[...] = to_host(part)
        stack = stack.reshape(*self.shape, *stack.shape[1:])
        return upload(stack) if there else stack

    def __getitem__(self, index: Any) -> Paths:
        try:
            found = self._numbers[index]
        except (IndexError, TypeError, ValueError, OverflowError):
            found = None
        if found is None or np.ndim(found):
            raise GraphError(f"paths in a stack of {' × '.join(map(str, self.shape))} matrices need the index of a "
                             f"matrix, and then vertices: R[i][source, target]; not {clip_repr(index)}")
        return self._each[int(found)]

    def __iter__(self) -> Iterator[Paths]:
        return iter(self._each)

    def __len__(self) -> int:
        return len(self._each)

    def __repr__(self) -> str:
        return f"StackedPaths(in {count_text(len(self), 'matrix', 'matrices')}: {self._each[0] if self._each else '—'})"


def paths_of(task: Task, found: Any) -> Paths | StackedPaths:
    """Turn a solver's result into `Paths` or `StackedPaths`.

    Parameters
    ----------
    task : Task
        A tolerance may have changed the weights of its operand.
    found : tuple or list of tuple
        Weights, tree and the vertices of the rows; for a stack a list of these.
    """
    given, (_, limit, ends) = task.given[0], task.arguments
    limited = limit is not None
    kind = Paths if given.S.stages is None else StagedPaths
    if not isinstance(found, list):
        weights, tree, starts = found
        return kind(given, weights, tree, starts, ends, limited)
    assert isinstance(given, Dense)
    matrices = map(given.matrix, np.ndindex(*given.shape[:-2]))
    each = [kind(A, weights, tree, starts, ends, limited)
            for A, (weights, tree, starts) in zip(matrices, found, strict=True)]
    return StackedPaths(given.shape[:-2], each)
