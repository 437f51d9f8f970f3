"""Single elements of a closure from sparse factors, by labels along the tree of supernodes, on the CPU.

A* = X ⊗ Y, where row s of X and column t of Y are zero but for the vertices of the supernodes above s and above t:
every walk from s to t goes through the highest supernode that it meets, which is above both. These parts of X and Y are
the labels of s and of t. That of one vertex takes a climb up the tree; those of all are found from the root down.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semiring.kernels.cpu.compile import cache
from semiring.kernels.cpu.compile.program import geometry, name_of, shared_source, text_of, words_of
from semiring.kernels.cpu.compile.rounds import Pace, share_by_pace
from semiring.kernels.cpu.dense.choose import dense_kernel
from semiring.kernels.cpu.dense.walk import TEMPLATE as BLOCKS
from semiring.kernels.lowering.base import Lowering
from semiring.machine.pieces import share

from .fronts import Fronts, Planes, exchanged_operations, fields

if TYPE_CHECKING:
    from semiring.algorithms.sparse.analysis import Analysis

TEMPLATE = Path(__file__).with_name("tree_labels_template.py")


@lru_cache(256)
def _source(components: tuple[np.dtype, ...]) -> tuple[str, str]:
    """Name and text of the generated module."""
    basic = text_of(BLOCKS).partition("\n@entry(")[0]
    return f"tree_labels_{name_of(components)}", shared_source(components, TEMPLATE, f"{basic}\n{text_of(TEMPLATE)}")


@lru_cache(256)
def _module(components: tuple[np.dtype, ...]) -> ModuleType:
    return cache.load(*_source(components), shown=False)


def code(lowering: Lowering) -> list[cache.Function]:
    """The compiled functions for pairs."""
    functions, exchanged = dense_kernel(lowering).operations, exchanged_operations(lowering)
    return [
        *functions.code("add_multiples", "total"),
        *(exchanged.code("add_multiples") if exchanged is not functions else []),
        cache.Function(*_source(words_of(lowering.components)), "between", shown=False),
    ]


@lru_cache(4)
def places_of(analysis: Analysis) -> tuple[np.ndarray, np.ndarray]:
    """The positions of vertices in labels, for any weights.

    Returns
    -------
    label_at : int64 array, shape (m,)
        Where those of each supernode begin.
    spots : int64 array
        Where each boundary vertex stands.
    """
    a = analysis
    label_at, parents, sizes = np.zeros(len(a.parent), np.int64), a.parent.tolist(), a.pivots.tolist()
    found = label_at.tolist()
    for i in range(len(found) - 1, -1, -1):  # parents come later
        if parents[i] >= 0:
            found[i] = found[parents[i]] + sizes[parents[i]]
    label_at[:] = found
    owner = a.owner[a.boundary]
    return label_at, label_at[owner] + a.boundary - a.first[owner]


class LabelSet:
    """The labels of some vertices, those of each adjacent.

    Attributes
    ----------
    vertices : int64 array, shape (k,)
        In the order of elimination.
    starts : int64 array, shape (k + 1,)
        Where that of each begins, and behind the last.
    elements : Planes
    """

    def __init__(self, vertices: np.ndarray, starts: np.ndarray, elements: Planes):
        self.vertices, self.starts, self.elements = vertices, starts, elements


class Tree(NamedTuple):
    """What says which supernodes two vertices have in common, and where these stand in labels."""

    first: np.ndarray
    parent: np.ndarray
    owner: np.ndarray
    label_at: np.ndarray


class LabelReader:
    """What labels say, once they are made.

    Parameters
    ----------
    lowering : Lowering
    tree : Tree
    thread_count : int
    """

    def __init__(self, lowering: Lowering, tree: Tree, thread_count: int):
        self.lowering, self.tree, self.threads = lowering, tree, thread_count
        self.lengths = tree.label_at + np.diff(tree.first)
        self.longest = int(self.lengths.max(initial=1))
        self.operations = dense_kernel(lowering).operations
        self.module = _module(words_of(lowering.components))
        self._pace = Pace()

    def told(self, X: LabelSet, Y: LabelSet, i: np.ndarray, j: np.ndarray, across: bool) -> np.ndarray:
        """What the i-th labels of X and the j-th of Y say, in storage: in pairs, or each with each if `across`."""
        shape = (len(i), len(j)) if across else (len(i),)
        components = self.lowering.components
        out, tell, total = Planes(components, int(np.prod(shape))), self.module.tell, self.operations.total
        sources, targets, x_starts, y_starts = X.vertices[i], Y.vertices[j], X.starts[i], Y.starts[j]
        x, y = X.elements, Y.elements

        def part(begin: int, end: int) -> None:
            sums = Planes(components, geometry(components).lanes)
            tell(
                *self.tree, sources, targets, x_starts, y_starts, int(across), x.address, x.plane, y.address, y.plane,
                sums.address, sums.plane, out.address, out.plane, begin, end, total, 1,
            )

        share_by_pace(part, len(i), self.longest * (len(j) if across else 1.0), self._pace, self.threads)
        return self.stored(out, shape)

    def stored(self, found: Planes, shape: tuple[int, ...]) -> np.ndarray:
        """Planes as an array in storage."""
        out: np.ndarray = self.lowering.empty(shape)
        for target, part in zip(fields(out), found.parts, strict=True):
            target[...] = part[: out.size].reshape(shape)
        return out


class TreeLabels:
    """Labels of the vertices of factors, and what they say.

    Parameters
    ----------
    fronts : Fronts
        Eliminated. All vertices here are places in the order of elimination.
    """

    def __init__(self, fronts: Fronts):
        self.fronts, a = fronts, fronts.analysis
        label_at, spots = places_of(a)
        self.reader = LabelReader(fronts.lowering, Tree(a.first, a.parent, a.owner, label_at), fronts.threads)
        self._tree = a.first, a.pointer, a.parent, a.owner, label_at, spots, fronts.layout.panel_at
        self._free: list[tuple[Planes, Planes, Planes]] = []
        self._pace = Pace()
        self._climb = float(self.reader.longest) ** 2  # terms of a climb, about

    @cached_property
    def _forwards(self) -> int:
        return self.fronts.operations.add_multiples

    @cached_property
    def _backwards(self) -> int:
        return exchanged_operations(self.fronts.lowering).add_multiples

    def between(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """A*[s, t] of pairs, in storage; each climbs the tree from both ends.

        Parameters
        ----------
        sources, targets : int64 array, shape (k,)
        """
        fronts, out, by = self.fronts, Planes(self.fronts.lowering.components, len(sources)), self.fronts.operations
        columns, rows = fronts.by_columns(), fronts.panels
        forwards, backwards, between = self._forwards, self._backwards, self.reader.module.between

        def some(begin: int, end: int) -> None:
            with self._memory() as (X, Y, buffer):
                between(
                    self._tree, sources, targets, out.address, out.plane, columns.address, rows.address, rows.plane,
                    X.address, Y.address, X.plane, buffer.address, buffer.plane, begin, end, forwards, backwards,
                    by.total, by.constants, 1,
                )

        share_by_pace(some, len(sources), 2 * self._climb, self._pace, fronts.threads)
        return self.reader.stored(out, (len(sources),))

    @property
    def whole(self) -> int:
        """Elements that the labels of all vertices take, both ways."""
        return 2 * int((self.reader.lengths * self.fronts.analysis.pivots).sum())

    def all(self) -> tuple[LabelSet, LabelSet]:
        """The labels of all vertices, as sources and as targets."""
        vertices, fronts, a = np.arange(self.fronts.analysis.n), self.fronts, self.fronts.analysis
        label_all, constants = self.reader.module.label_all, fronts.operations.constants
        forwards, backwards, label_at = self._forwards, self._backwards, self.reader.tree.label_at
        both = self._empty(vertices), self._empty(vertices)
        sides = (fronts.by_columns(), 1, forwards), (fronts.panels, 0, backwards)
        # Of a supernode s rows of u labels that are as long as those of its parent, about; counted from the root down.
        work = (a.pivots * (a.reach * label_at + self.reader.lengths))[::-1]
        before, m = np.concatenate([[0], np.cumsum(work)]), len(a.parent)

        def one(number: int) -> None:
            (panels, own, operation), found, pace = sides[number], both[number], Pace()
            for first, last in pace.rounds(before):
                label_all(
                    a.first, a.pointer, a.boundary, a.owner, label_at, fronts.layout.panel_at, found.starts,
                    panels.address, panels.plane, own, found.elements.address, found.elements.plane, m - last,
                    m - first, operation, constants, 1,
                )

        share(one, [(0,), (1,)], fronts.threads)
        return both

    def _empty(self, vertices: np.ndarray) -> LabelSet:
        lengths = self.reader.lengths[self.fronts.analysis.owner[vertices]]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return LabelSet(vertices, starts, Planes(self.fronts.lowering.components, int(starts[-1])))

    @contextmanager
    def _memory(self) -> Iterator[tuple[Planes, Planes, Planes]]:
        """Room for two labels and what is picked from them; for one thread at a time."""
        components, layout = self.fronts.lowering.components, self.fronts.layout
        try:
            memory = self._free.pop()
        except IndexError:
            X, Y = (Planes(components, self.reader.longest) for _ in range(2))
            memory = X, Y, Planes(components, layout.wide + layout.sizes.lanes)
        yield memory
        self._free.append(memory)
