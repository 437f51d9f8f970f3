"""Files of sparse factors, of an analysis and of labels, opened again; `saving` writes these."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from semiring.algebra.by_name import algebra
from semiring.algebra.semiring import Semiring
from semiring.algorithms.sparse.analysis import Analysis
from semiring.errors import SemiringError
from semiring.files.bundles import Bundle, path_of
from semiring.graphs.texts import shown
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile.price import has_numba, loads_numba
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.panels import blocks_of
from semiring.operands.sparse import COLUMN, OFFSET, Sparse

from .analysis import lowering_of
from .factors import SparseFactors
from .pairs import Labels
from .saving import ANALYSIS, FACTORS, LABELS, PARTS, key_of_algebra
from .substitution import HOST, Substitution

if TYPE_CHECKING:
    from pathlib import Path


def open_factors(path: str | Path, S: Semiring | str | None = None) -> SparseFactors:
    """Factors that `SparseFactors.save_factors` wrote: nothing is ordered or eliminated again.

    Parameters
    ----------
    path : path
    S : Semiring or str, optional
        The algebra, which no file holds, since it is code. Default: that of its name in the catalogue.

    Returns
    -------
    SparseFactors
        With the answers of those that were saved, bit for bit, on any machine of the same byte order; all that these
        can do it can, `refactor` with new weights too.

    Raises
    ------
    SemiringError
        For a file of something else, a damaged one or one of another version; for another algebra than that of the
        factors; and when they do not fit in memory.
    OSError
        When the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import semiring as sr
    >>> F = sr.factor(sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0)]), sr.min_plus)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     F.save_factors(Path(folder) / "roads.factors")
    ...     again = sr.open_factors(Path(folder) / "roads.factors")
    >>> again.path("a", "c")
    (7.0, ['a', 'b', 'c'])
    """
    file = Bundle(path_of(path), FACTORS)
    S = _algebra_of(file, S)
    analysis = _analysis(file)
    dtype, parts = _dtype(file, "dtype", S), []
    for k, part in enumerate(_fields(dtype)):
        parts.append(file.array(f"values.{k}", part, analysis.nnz))
    rows = Rows(analysis.indptr.astype(OFFSET), analysis.indices.astype(COLUMN), _joined(parts, dtype), analysis.n)
    A = _described(file, rows, S)
    plan = HOST.plan("factor", lowering_of(A, room=True), analysis, A.nnz, answer=False)
    low = plan.lowering
    _same_storage(file, low)
    compiled = file.about.get("compiled") is True and has_numba() and loads_numba()
    if compiled != low.compiled:
        low = low.in_machine_code if compiled else low.interpreted
    made = Substitution.restored(A, analysis, file.about.get("check") is True, replace(plan, lowering=low))
    panels_for = file.about.get("rows")
    if type(panels_for) is not int or not 1 <= panels_for <= 64:
        file.refuse(f"its panels are laid out for {shown(panels_for)} rows")
    blob = file.array("panels", np.uint8, blocks_of(analysis, panels_for).end * sum(c.itemsize for c in low.components))
    cast(Any, made.fronts).restore(low.encode(A.values, True), panels_for, _planes(blob, low))
    if file.about.get("rounded"):
        made.rounded = file.array("rounded", np.int64)
    if file.about.get("closed"):
        size = analysis.n**2
        closed = [file.array(f"closed.{k}", c, size) for k, c in enumerate(low.components)]
        made.closed = _joined(closed, low.storage).reshape(analysis.n, analysis.n)
    return SparseFactors(made)


def open_analysis(path: str | Path) -> Analysis:
    """The order and structure that `SparseFactors.save_analysis` wrote, for ``sr.factor(A, S, order=…)``.

    Parameters
    ----------
    path : path

    Returns
    -------
    Analysis

    Raises
    ------
    SemiringError
        For a file of something else, a damaged one or one of another version.
    OSError
        When the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import semiring as sr
    >>> roads = sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sr.factor(roads, sr.min_plus).save_analysis(Path(folder) / "roads.analysis")
    ...     analysis = sr.open_analysis(Path(folder) / "roads.analysis")
    >>> sr.factor(roads, sr.max_min, order=analysis).weight("a", "c")
    3.0
    """
    return _analysis(Bundle(path_of(path), ANALYSIS))


def open_labels(path: str | Path, S: Semiring | str | None = None, *, mmap: bool = True) -> Labels:
    """Labels that `Labels.save` wrote, of which a question reads a few pages.

    Parameters
    ----------
    path : path
    S : Semiring or str, optional
        As for `open_factors`.
    mmap : bool
        Whether the labels are mapped into memory, so that they need not fit in it, are there at once, and are shared
        by processes that open the same file; it must stay as it is then. Else they are read, and held against their
        checksums.

    Returns
    -------
    Labels

    Raises
    ------
    SemiringError
        For a file of something else, a damaged one or one of another version; for another algebra than that of the
        labels; and without Numba.
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
    file = Bundle(path_of(path), LABELS)
    S = _algebra_of(file, S)
    if not (has_numba() and loads_numba()):
        raise SemiringError("labels are read by compiled code: install numba")
    n, dtype = file.about.get("n"), _dtype(file, "dtype", S)
    if type(n) is not int or not 0 <= n < 1 << 31:
        file.refuse(f"it has {shown(n)} vertices")
    rows = Rows(np.zeros(n + 1, OFFSET), np.empty(0, COLUMN), np.empty(0, dtype), n)
    A = _described(file, rows, S)
    try:
        vars(A)["facts"] = Facts(**file.about["facts"])
    except (KeyError, TypeError):
        file.refuse("it does not say what is known of the weights")
    low = lowering_of(A, room=True)
    low = low if low.compiled else low.in_machine_code
    _same_storage(file, low)
    from semiring.kernels.cpu.sparse.fronts import Planes
    from semiring.kernels.cpu.sparse.tree_labels import LabelReader, LabelSet, Tree
    from semiring.machine import threads

    place, first = file.array("place", np.int64, n), file.array("first", np.int64)
    m = len(first) - 1
    parent, label_at = file.array("parent", np.int64, m), file.array("label_at", np.int64, m)
    _check_tree(file, n, first, parent)
    _check_permutation(file, place, n)
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


def _algebra_of(file: Bundle, S: Semiring | str | None) -> Semiring:
    """The algebra of a file, which the caller has or the catalogue."""
    name = str(file.about.get("algebra"))
    if S is None:
        try:
            S = algebra(name)
        except SemiringError:
            raise SemiringError(f"{shown(file.path)} is over {shown(name)}, which is not in the catalogue: pass the "
                                "algebra, declared as it was") from None
    S = algebra(S)
    if key_of_algebra(S) != file.about.get("declared"):
        like = "declared in another way" if S.name == name else f"and this is {S.name}"
        raise SemiringError(f"{shown(file.path)} is over {shown(name)}, {like}: pass the algebra it was made with")
    return S


def _same_storage(file: Bundle, low: Lowering) -> None:
    stored = low.name, [c.str for c in low.components]
    if stored != (file.about.get("lowering"), file.about.get("storage")):
        file.refuse(f"it stores elements as {shown(file.about.get('lowering'))} in {shown(file.about.get('storage'))}, "
                    f"and this version of the library as {low.name} in {stored[1]}")


def _described(file: Bundle, rows: Rows, S: Semiring) -> Sparse:
    """A matrix of these entries, with what the file says of it."""
    names, library = file.about.get("names"), file.about.get("library")
    try:
        called = None if names is None else [_name(name) for name in json.loads(names)]
        sound = called is None or len(called) == rows.shape[0] == len(set(called))
    except (TypeError, ValueError, RecursionError):
        sound = False
    if not sound or not (library is None or isinstance(library, str)):
        file.refuse("it does not name each of its vertices")
    A = Sparse(rows, S, "A", called, file.about.get("of_graph") is True).of_library(library)
    return A.answering_in(_dtype(file, "callers_dtype", S))


def _name(written: Any) -> Any:
    return tuple(_name(part) for part in written) if isinstance(written, list) else written


def _dtype(file: Bundle, what: str, S: Semiring) -> np.dtype:
    try:
        found = np.lib.format.descr_to_dtype(ast.literal_eval(str(file.about.get(what))))
    except Exception:  # NumPy's reader raises nearly anything
        file.refuse(f"{shown(file.about.get(what))} is not a dtype")
    if found.hasobject:
        file.refuse("it holds Python objects")
    return next((known for known in (S.default_dtype, *S.dtypes) if known == found), found)


def _fields(dtype: np.dtype) -> list[np.dtype]:
    return [dtype[f] for f in dtype.names] if dtype.names else [dtype]


def _joined(parts: list[np.ndarray], dtype: np.dtype) -> np.ndarray:
    """A vector from the fields of its elements."""
    if not dtype.names:
        return parts[0]
    result = np.empty(len(parts[0]), dtype)
    for f, part in zip(dtype.names, parts, strict=True):
        result[f] = part
    return result


def _planes(blob: np.ndarray, low: Lowering) -> list[np.ndarray]:
    """The components of elements whose bytes stand one plane after the other."""
    count, begin, parts = len(blob) // sum(c.itemsize for c in low.components), 0, []
    for c in low.components:
        parts.append(blob[begin : begin + count * c.itemsize].view(c))
        begin += count * c.itemsize
    return parts


def _analysis(file: Bundle) -> Analysis:
    """An analysis whose indices are all looked at before compiled code follows them."""
    found = {name: file.array(name, (np.int32, np.int64)).astype(np.int64) for name in PARTS}
    order, first, pointer, boundary, parent = (found[name] for name in PARTS[:5])
    n, m, nnz = len(order), len(first) - 1, len(found["indices"])
    _check_permutation(file, order, n)
    _check_tree(file, n, first, parent)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    position, entry = found["position"], found["entry"]
    _check_pointer(file, "boundaries", pointer, m, len(boundary))
    _check_pointer(file, "entries", found["entry_pointer"], m, nnz)
    _check_pointer(file, "rows", found["indptr"], n, nnz)
    _check_permutation(file, entry, nnz)
    owner, s, u = np.repeat(np.arange(m), np.diff(first)), np.diff(first), np.diff(pointer)
    of = np.repeat(np.arange(m), u)
    sound = len(position) == len(boundary) and len(found["entry_row"]) == len(found["entry_column"]) == nnz
    sound = sound and bool(((boundary >= first[of + 1]) & (boundary < n)).all())
    sound = sound and bool(((found["indices"] >= 0) & (found["indices"] < n)).all())
    sound = sound and bool(((parent >= 0) == (u > 0)).all())
    if sound:
        above, front = parent[of], np.repeat(np.arange(m), np.diff(found["entry_pointer"]))
        sound = bool(((position >= 0) & (position < (s + u)[above])).all())
        for index in (found["entry_row"], found["entry_column"]):
            sound = sound and bool(((index >= 0) & (index < (s + u)[front])).all())
    if not sound:
        file.refuse("the structure of its fronts does not hold together")
    return Analysis(
        order, place, first, pointer, boundary, parent, owner, position, found["entry_pointer"], entry,
        found["entry_row"], found["entry_column"], found["indptr"], found["indices"], str(file.about.get("order")),
    )


def _check_permutation(file: Bundle, array: np.ndarray, n: int) -> None:
    inside = len(array) == n and bool(((array >= 0) & (array < n)).all())
    if not inside or (np.bincount(array, minlength=n) > 1).any():
        file.refuse("an order in it does not have each number once")


def _check_tree(file: Bundle, n: int, first: np.ndarray, parent: np.ndarray) -> None:
    """Supernodes follow one another, and parents come later."""
    m = len(first) - 1
    sound = m >= 0 and first[0] == 0 and first[-1] == n and (np.diff(first) > 0).all() and len(parent) == m
    if not sound or not ((parent == -1) | ((parent > np.arange(m)) & (parent < m))).all():
        file.refuse("its tree of supernodes does not hold together")


def _check_pointer(file: Bundle, what: str, pointer: np.ndarray, count: int, end: int) -> None:
    if len(pointer) != count + 1 or pointer[0] != 0 or pointer[-1] != end or (np.diff(pointer) < 0).any():
        file.refuse(f"its {what} do not hold together")
