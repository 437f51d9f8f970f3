"""A*[s, t] for pairs of vertices, and hub labels that give it in constant time."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import dtype_text
from semiring.errors import SemiringError
from semiring.files.bundles import path_of, write_bundle
from semiring.graphs.names import Named, is_hashable
from semiring.graphs.tables import Table
from semiring.graphs.texts import clip_repr, count_text, shown
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile.price import always, has_numba, loads_numba
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.machine.memory import in_words, require
from semiring.operands.entries import COLUMN, OFFSET
from semiring.operands.sparse import Sparse

from ..forms import refuse_overflow
from ..paths.search import answered, refuse_sets
from .analysis import lowering_of
from .files import LABELS, about_matrix, check_permutation, check_tree, matrix_of, opened, require_storage

if TYPE_CHECKING:
    from pathlib import Path

    from semiring.kernels.cpu.sparse.tree_labels import LabelReader, LabelSet

    from .substitution import Substitution


class Pairs(Named):
    """Base class: elements of A* by vertex name or number."""

    _A: Sparse

    def weight(self, source: Any, target: Any) -> Any:
        """Return the element of A* from a vertex to another, or of several pairs.

        Parameters
        ----------
        source, target : vertex or sequence of vertices
            By name, or by number if they have no names. Two sequences are paired element by element; one vertex is
            paired with every vertex of a sequence. `table` takes all pairs, and `path` gives the vertices too.

        Returns
        -------
        scalar or ndarray, shape (k,)
            A Python number or a record for two vertices; an array for sequences.

        Raises
        ------
        GraphError
            For an unknown vertex.
        SemiringError
            When the sequences are not equally long, or a result does not fit the dtype.

        Notes
        -----
        Every walk from s to t passes the highest supernode that it meets, which is an ancestor of both in the
        elimination tree. So two climbs up the tree are enough, over any closed semiring. Sums are rounded in another
        order than those of `rows`.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> F = sr.factor(sp.csr_array([[0, 2.0, 0], [0, 0, 3.0], [1.0, 0, 0]]), sr.min_plus)
        >>> F.weight(0, 2), F.weight([0, 2], [2, 1]).tolist()
        (5.0, [5.0, 3.0])
        """
        single, starts = self._places(source, "source")
        alone, ends = self._places(target, "target")
        if not (single or alone or len(starts) == len(ends)):
            raise SemiringError(f"{len(starts)} sources and {len(ends)} targets: give as many of both, or one of "
                                "either; table(sources, targets) takes each with each")
        starts, ends = (np.ascontiguousarray(x) for x in np.broadcast_arrays(starts, ends))
        found = self._of_pairs(starts, ends)
        return self._A.number(self._A.in_callers_dtype(found)[0]) if single and alone else self._A.as_shown(found)

    def table(self, sources: Any, targets: Any) -> Table:
        """Return the elements of A* from each source to each target, by name.

        Parameters
        ----------
        sources, targets : vertex or sequence of vertices
            By name, or by number where they have no names.

        Returns
        -------
        Table, shape (k, t)

        Raises
        ------
        GraphError
            For an unknown vertex.
        SemiringError
            When a result does not fit the dtype.

        Examples
        --------
        >>> import semiring as sr
        >>> F = sr.factor(sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0)]), sr.min_plus)
        >>> F.table(["a", "b"], ["c"])
        Table 2 × 1 over min-plus, float64
           c
        a  7
        b  4
        """
        starts, ends = self._places(sources, "source")[1], self._places(targets, "target")[1]
        table: Table = answered(self._A, self._across(starts, ends), starts, False, ends)
        return table

    def _of_pairs(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """A*[s, t] of pairs, by number."""
        raise NotImplementedError

    def _across(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """A*[s, t] of all pairs, by number."""
        raise NotImplementedError

    def _places(self, vertices: Any, what: str) -> tuple[bool, np.ndarray]:
        """Numbers of the vertices, and whether one vertex was passed alone."""
        single = isinstance(vertices, (int, np.integer, str)) or (
            self.names is not None and is_hashable(vertices) and vertices in self._positions
        )
        return single, np.array([self.index(vertices)]) if single else self._numbers(vertices, f"{what}s")

    def _numbers(self, sources: Any, what: str = "sources") -> np.ndarray:
        if self.names is None and isinstance(sources, (np.ndarray, range)):
            found = np.asarray(sources)
            if found.ndim == 1 and found.dtype.kind in "iu" and ((found >= 0) & (found < self.n)).all():
                return found.astype(np.int64)
        refuse_sets(sources, what)
        try:
            vertices = list(sources)
        except TypeError:
            raise SemiringError(f"{what} must be a sequence of vertices, and is {clip_repr(sources)}") from None
        return np.array([self.index(v) for v in vertices], np.int64)


def labels_of(F: Substitution) -> Labels:
    """See `SparseFactors.labels`."""
    low = F.lowering
    if low.on_gpu or low.kind != "numba":
        raise SemiringError("labels are of factors on the CPU, whose elements are machine numbers or records of "
                            "them: factor with device='cpu', or ask weight or rows")
    if not (has_numba() and loads_numba()):
        raise SemiringError("labels are made by compiled code: install numba, or ask weight or rows")
    if F.closed is not None:
        raise SemiringError("rounding errors grew in these factors, and labels would have them too: ask weight or "
                            "rows, which use the dense closure")
    from semiring.kernels.cpu.sparse.tree_labels import TreeLabels

    with always():
        F.reconsider(F.n)
        fronts: Any = F.fronts
        labels = TreeLabels(fronts)
        size = labels.whole * low.storage.itemsize
        require(size, f"the labels of {F.n} vertices", "use a narrower dtype, or weight, which needs none")
        X, Y = labels.all()
    return Labels(F.A, F.analysis.place, F.settled, F.check, labels.reader, X, Y)


class Labels(Pairs):
    """Labels of all vertices: two labels give an element of A*.

    Attributes
    ----------
    n : int
    names : list or None

    Notes
    -----
    `SparseFactors.labels` makes them. They are hub labels along the elimination tree, over any closed semiring:
    A* = X ⊗ Y, and the label of a vertex is its row of X and its column of Y, which are zero except at the supernodes
    above it.

    Examples
    --------
    >>> import semiring as sr
    >>> roads = sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0)])
    >>> L = sr.factor(roads, sr.min_plus).labels()
    >>> L.weight("a", "c"), L.weight("c", "a")
    (7.0, inf)
    """

    def __init__(
        self, A: Sparse, place: np.ndarray, settled: bool, check: bool, reader: LabelReader, X: LabelSet, Y: LabelSet
    ):
        self.n, self._A, self.names = A.n, A, None if A.names is None else list(A.names)
        self._place, self._settled, self._check = place, settled, check
        self._reader, self._X, self._Y = reader, X, Y

    def __repr__(self) -> str:
        mean = float(self._X.starts[-1]) / max(self.n, 1)
        vertices, dtype = count_text(self.n, "vertex", "vertices"), dtype_text(self._A.dtype)
        return (f"Labels of {vertices} over {self._A.S.name}, {dtype}: {mean:.0f} elements each way for each, "
                f"{in_words(self.nbytes)}")

    @property
    def semiring(self) -> Semiring:
        """The algebra of the closure."""
        return self._A.S

    @property
    def nbytes(self) -> int:
        """Bytes that the labels take."""
        return self._X.elements.nbytes + self._Y.elements.nbytes

    def save(self, path: str | Path) -> None:
        """Write the labels to a file, which `semiring.open_labels` maps into memory.

        Parameters
        ----------
        path : path
            The file is written whole or not at all; one that is there is replaced.

        Raises
        ------
        SemiringError
            For an algebra of functions without names, and for names that are not texts, numbers or tuples.
        OSError
            When the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import semiring as sr
        >>> L = sr.factor(sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0)]), sr.min_plus).labels()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     L.save(Path(folder) / "roads.labels")
        ...     sr.open_labels(Path(folder) / "roads.labels", mmap=False).weight("b", "c")
        4.0
        """
        tree, A = self._reader.tree, self._A
        facts = {name: x.item() if isinstance(x, np.generic) else x for name, x in asdict(A.facts).items()}
        about = about_matrix(A, self._reader.lowering, self._check) | {"n": self.n, "facts": facts}
        write_bundle(path_of(path), LABELS, about, {
            "place": self._place, "first": tree.first, "parent": tree.parent, "label_at": tree.label_at,
            "X": self._X.elements.bytes, "Y": self._Y.elements.bytes,
        })

    def _of_pairs(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        told = self._reader.told(self._X, self._Y, self._place[starts], self._place[ends], across=False)
        return self._checked(told, starts == ends)

    def _across(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        told = self._reader.told(self._X, self._Y, self._place[starts], self._place[ends], across=True)
        return self._checked(told, starts[:, None] == ends)

    def _checked(self, stored: np.ndarray, own: np.ndarray) -> np.ndarray:
        """Decode elements, with ones on the diagonal if all stars are one; refuse overflow."""
        low: Lowering = self._reader.lowering
        if self._settled:
            stored[own] = np.array(low.unit, stored.dtype)
        result: np.ndarray = low.decode(stored)
        if self._check:
            refuse_overflow(low, result)
        return result


def open_labels(path: str | Path, S: Semiring | str | None = None, *, mmap: bool = True) -> Labels:
    """Open labels that `Labels.save` wrote; a question reads a few pages of them.

    Parameters
    ----------
    path : path
    S : Semiring or str, optional
        As for `open_factors`.
    mmap : bool
        Whether to map the labels into memory: they are available at once, need not fit in it, and processes that open
        the same file share them; do not change the file meanwhile. Otherwise they are read, and their checksums
        verified.

    Returns
    -------
    Labels

    Raises
    ------
    SemiringError
        If the file holds something else, is damaged, or has another version; if S is not the algebra of the labels;
        and without Numba.
    OSError
        When the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import semiring as sr
    >>> F = sr.factor(sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0)]), sr.min_plus)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     F.labels().save(Path(folder) / "roads.labels")
    ...     sr.open_labels(Path(folder) / "roads.labels", mmap=False).weight("a", "c")
    7.0
    """
    if mmap is not True and mmap is not False:
        raise SemiringError(f"mmap must be True or False, and is {shown(repr(mmap))}")
    file, S, dtype = opened(path, LABELS, S)
    if not (has_numba() and loads_numba()):
        raise SemiringError("labels are read by compiled code: install numba")
    n = file.about.get("n")
    if type(n) is not int or not 0 <= n < 1 << 31:
        file.refuse(f"it has {shown(n)} vertices")
    rows = Rows(np.zeros(n + 1, OFFSET), np.empty(0, COLUMN), np.empty(0, dtype), n)
    A = matrix_of(file, rows, S)
    try:
        vars(A)["facts"] = Facts(**file.about["facts"])
    except (KeyError, TypeError):
        file.refuse("it does not say what is known of the weights")
    low = lowering_of(A, room=True)
    low = low if low.compiled else low.in_machine_code
    require_storage(file, low)
    from semiring.kernels.cpu.sparse.fronts import Planes
    from semiring.kernels.cpu.sparse.tree_labels import LabelReader, LabelSet, Tree
    from semiring.machine import threads

    place, first = file.array("place", np.int64, n), file.array("first", np.int64)
    m = len(first) - 1
    parent, label_at = file.array("parent", np.int64, m), file.array("label_at", np.int64, m)
    check_tree(file, n, first, parent)
    check_permutation(file, place, n)
    above = np.where(parent >= 0, label_at[parent] + np.diff(first)[parent], 0) if m else label_at
    if not np.array_equal(label_at, above):
        file.refuse("its labels do not lie along its tree")
    reader = LabelReader(low, Tree(first, parent, np.repeat(np.arange(m), np.diff(first)), label_at),
                         threads.thread_count())
    starts = np.concatenate([[0], np.cumsum(reader.lengths[reader.tree.owner])]).astype(np.int64)
    size, both = sum(c.itemsize for c in low.components), []
    for name in "XY":
        given = file.array(name, np.uint8, int(starts[-1]) * size, mapped=mmap)
        planes = Planes(low.components, int(starts[-1]), given if mmap and len(given) else None)
        if not mmap:
            planes.bytes[...] = given
        both.append(LabelSet(np.arange(n), starts, planes))
    return Labels(A, place, S.has_unit_stars, file.about.get("check") is True, reader, *both)
