"""Sparse factors, their analyses and labels in files: what is kept, and how it is written and read again.

`pairs` and `factors` say which arrays they keep; what all have is here, each part's reader below its writer.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from shutil import disk_usage
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from semiring.algebra.arguments import truth_value, whole_number
from semiring.algebra.by_name import algebra
from semiring.algebra.semiring import Semiring
from semiring.algorithms.sparse.analysis import Analysis
from semiring.errors import SemiringError
from semiring.files.bundles import Bundle, path_of, write_bundle
from semiring.graphs.texts import clip_repr, shown
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.lowering.base import Lowering
from semiring.machine.memory import in_words
from semiring.operands.devices import to_host
from semiring.operands.sparse import Sparse

if TYPE_CHECKING:
    from .substitution import Substitution

BLOCK = 256  # rows of the closure that are computed at once by default
FACTORS, ANALYSIS, LABELS = "sparse factors", "an analysis", "labels"  # kinds of files
# The arrays of an analysis; the others follow from these.
PARTS = ("order", "first", "pointer", "boundary", "parent", "position", "entry_pointer", "entry", "entry_row",
         "entry_column", "indptr", "indices")
PLAIN = (str, int, float, bool, type(None))


class Saving:
    """The methods of `SparseFactors` that stream the closure and write files."""

    n: int
    _by: Substitution

    def blocks(
        self, rows: int = BLOCK, *, reflexive: bool = True, in_order: bool = False
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the closure in blocks of rows; none is kept.

        Parameters
        ----------
        rows : int
            Rows of a block, 1 or more.
        reflexive : bool
            Whether the empty walk counts.
        in_order : bool
            True: rows come as the vertices are numbered. False: neighbours come together, which is faster.

        Yields
        ------
        vertices : int64 array, shape (rows,)
            The numbers of the vertices whose rows these are.
        block : ndarray, shape (rows, n)

        Raises
        ------
        SemiringError
            When `rows` is not a whole number of at least 1, as soon as the first block is asked for, or a result has
            no place in the dtype.

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> F = sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
        >>> [(v.tolist(), b.tolist()) for v, b in F.blocks(rows=1, in_order=True)]
        [([0], [[0.0, 2.0]]), ([1], [[3.0, 0.0]])]
        """
        rows, reflexive = whole_number(rows, "rows", 1), truth_value(reflexive, "reflexive")
        vertices = np.arange(self.n) if truth_value(in_order, "in_order") else self._by.analysis.order
        for some, block in self._stream(vertices, rows, reflexive):
            yield some, self._by.A.as_shown(block)

    def _stream(self, vertices: np.ndarray, rows: int, reflexive: bool) -> Iterator[tuple[np.ndarray, Any]]:
        parts = [vertices[begin : begin + rows] for begin in range(0, self.n, rows)]
        return self._by.engine.stream(self._by, parts, reflexive)

    def save(self, path: str | Path, *, reflexive: bool = True, rows: int = BLOCK) -> np.memmap:
        """Write the closure to a .npy file, block by block, and map it into memory.

        Parameters
        ----------
        path : path
            Taken as it is; a file that is there is overwritten.
        reflexive : bool
            Whether the empty walk counts.
        rows : int
            Rows that are computed at once.

        Returns
        -------
        memmap, shape (n, n)

        Raises
        ------
        SemiringError
            If the disk has no room for it, `rows` is not a whole number of at least 1, or a result does not fit in the
            dtype.
        OSError
            When the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> F = sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     F.save(Path(folder) / "distances.npy").tolist()
        [[0.0, 2.0], [3.0, 0.0]]
        """
        path, rows = Path(path), whole_number(rows, "rows", 1)  # before what is there is overwritten
        reflexive = truth_value(reflexive, "reflexive")
        F = self._by
        size, free = F.n * F.n * F.A.dtype.itemsize, disk_usage(path.absolute().parent).free
        if size > free:
            raise SemiringError(f"{path} needs {in_words(size)} and the disk has {in_words(free)} left")
        out = np.lib.format.open_memmap(path, mode="w+", dtype=F.A.dtype, shape=(F.n, F.n))
        for vertices, block in self._stream(F.analysis.order, rows, reflexive):
            out[vertices] = to_host(block)
        out.flush()
        return out

    def save_factors(self, path: str | Path) -> None:
        """Write the factors to a file that `semiring.open_factors` opens.

        Parameters
        ----------
        path : path
            The file is written whole or not at all; one that is there is replaced.

        Raises
        ------
        SemiringError
            For factors on a GPU or of Python objects, for an algebra of functions without names, and for names that
            are not texts, numbers or tuples.
        OSError
            When the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> F = sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     F.save_factors(Path(folder) / "roads.factors")
        ...     sr.open_factors(Path(folder) / "roads.factors").row(0)
        array([0., 2.])
        """
        file, low, by = path_of(path), self._by.lowering, self._by
        if low.on_gpu or low.kind != "numba":
            what = "on a GPU" if low.on_gpu else "of Python objects"
            raise SemiringError(f"factors {what} are not saved: save_analysis keeps the analysis, which takes longest, "
                                "for sr.factor(A, S, order=sr.open_analysis(path))" +
                                ("; or factor with device='cpu'" if low.on_gpu else ""))
        rows, panels = cast(Any, by.fronts).kept()
        about = about_matrix(by.A, low, by.check) | {
            "order": by.analysis.method, "compiled": low.compiled, "rows": rows, "closed": by.closed is not None,
            "rounded": by.rounded is not None,
        }
        arrays = _arrays_of(by.analysis) | {"panels": panels} | _vector("values", by.A.values)
        if by.rounded is not None:
            arrays["rounded"] = by.rounded.astype(np.int64)
        if by.closed is not None:
            arrays |= _vector("closed", by.closed.reshape(-1))
        write_bundle(file, FACTORS, about, arrays)

    def save_analysis(self, path: str | Path) -> None:
        """Write the order and the structure to a file, for any weights on the same edges.

        Parameters
        ----------
        path : path
            As of `save_factors`.

        Raises
        ------
        SemiringError
            When `path` is not the name of a file.
        OSError
            When the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> import scipy.sparse as sp
        >>> import semiring as sr
        >>> A = sp.csr_array([[0, 2.0], [3.0, 0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sr.factor(A, sr.min_plus).save_analysis(Path(folder) / "roads.analysis")
        ...     analysis = sr.open_analysis(Path(folder) / "roads.analysis")
        >>> sr.factor(2 * A, sr.min_plus, order=analysis).row(0)
        array([0., 4.])
        """
        analysis = self._by.analysis
        write_bundle(path_of(path), ANALYSIS, {"order": analysis.method}, _arrays_of(analysis))


def open_analysis(path: str | Path) -> Analysis:
    """Open an analysis that `SparseFactors.save_analysis` wrote.

    Pass it to ``sr.factor(A, S, order=…)``.

    Parameters
    ----------
    path : path

    Returns
    -------
    Analysis

    Raises
    ------
    SemiringError
        If the file holds something else, is damaged, or has another version.
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
    return read_analysis(Bundle(path_of(path), ANALYSIS))


def key_of_algebra(S: Semiring) -> str:
    """A key of an algebra, the same in every process.

    Raises
    ------
    SemiringError
        If functions are part of it that have no expression and no name.
    """
    declared = S.declared_as
    if declared is None:
        raise SemiringError(f"{S.name} is declared by functions without a name, so that no file can identify "
                            "them: put them at the top of a module, or write them with NumPy's operations")
    return blake2b(declared.encode(), digest_size=16).hexdigest()


def about_matrix(A: Sparse, low: Lowering, check: bool) -> dict[str, Any]:
    """Metadata of a matrix: all but its entries."""
    return {
        "algebra": A.S.name, "declared": key_of_algebra(A.S), "dtype": _written_dtype(A.dtype),
        "callers_dtype": _written_dtype(A.callers_dtype), "names": _written_names(A.names), "of_graph": A.of_graph,
        "library": A.library, "check": bool(check), "lowering": low.name,
        "storage": [c.str for c in low.components],
    }


def opened(path: Any, kind: str, S: Semiring | str | None) -> tuple[Bundle, Semiring, np.dtype]:
    """Open a file; return it, its algebra (the caller's, or from the catalogue) and the dtype of its elements."""
    file = Bundle(path_of(path), kind)
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
    return file, S, _read_dtype(file, "dtype", S)


def matrix_of(file: Bundle, rows: Rows, S: Semiring) -> Sparse:
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
    return A.answering_in(_read_dtype(file, "callers_dtype", S))


def require_storage(file: Bundle, low: Lowering) -> None:
    """Refuse a file whose elements another version of the library stored in another way."""
    stored = low.name, [c.str for c in low.components]
    if stored != (file.about.get("lowering"), file.about.get("storage")):
        file.refuse(f"it stores elements as {shown(file.about.get('lowering'))} in {shown(file.about.get('storage'))}, "
                    f"and this version of the library as {low.name} in {stored[1]}")


def _written_dtype(dtype: np.dtype) -> str:
    """A dtype as .npy files have it."""
    return repr(np.lib.format.dtype_to_descr(dtype))


def _read_dtype(file: Bundle, what: str, S: Semiring) -> np.dtype:
    try:
        found = np.lib.format.descr_to_dtype(ast.literal_eval(str(file.about.get(what))))
    except Exception:  # NumPy's reader raises nearly anything
        file.refuse(f"{shown(file.about.get(what))} is not a dtype")
    if found.hasobject:
        file.refuse("it holds Python objects")
    return next((known for known in (S.default_dtype, *S.dtypes) if known == found), found)


def _written_names(names: Sequence[Any] | None) -> str | None:
    """Names in JSON, in which only tuples become lists.

    Raises
    ------
    SemiringError
        For a name that JSON does not have.
    """
    return None if names is None else json.dumps([_written_name(name) for name in names])


def _written_name(name: Any) -> Any:
    plain = name.item() if isinstance(name, np.generic) else name
    if type(plain) is tuple:
        return [_written_name(part) for part in plain]
    if type(plain) not in PLAIN:
        raise SemiringError(f"a vertex is called {clip_repr(name)}: a file keeps names that are texts, numbers or "
                            "tuples of these; rename the vertices")
    return plain


def _name(written: Any) -> Any:
    return tuple(_name(part) for part in written) if isinstance(written, list) else written


def _vector(name: str, array: np.ndarray) -> dict[str, np.ndarray]:
    """An array for each field of the elements."""
    fields = array.dtype.names
    return {f"{name}.{k}": array[f] for k, f in enumerate(fields)} if fields else {f"{name}.0": array}


def read_vector(file: Bundle, name: str, dtype: np.dtype, count: int) -> np.ndarray:
    """A vector from an array for each field of its elements."""
    if not dtype.names:
        return file.array(f"{name}.0", dtype, count)
    result = np.empty(count, dtype)
    for k, f in enumerate(dtype.names):
        result[f] = file.array(f"{name}.{k}", dtype[f], count)
    return result


def _arrays_of(analysis: Analysis) -> dict[str, np.ndarray]:
    """The arrays of an analysis, in 32 bits if all numbers fit."""
    return {name: _narrow(getattr(analysis, name)) for name in PARTS}


def _narrow(array: np.ndarray) -> np.ndarray:
    most = np.iinfo(np.int32).max
    return array.astype(np.int32) if int(array.max(initial=0)) <= most else array.astype(np.int64)


def read_analysis(file: Bundle) -> Analysis:
    """Read an analysis and check all indices, which compiled code then follows."""
    found = {name: file.array(name, (np.int32, np.int64)).astype(np.int64) for name in PARTS}
    order, first, pointer, boundary, parent = (found[name] for name in PARTS[:5])
    n, m, nnz = len(order), len(first) - 1, len(found["indices"])
    check_permutation(file, order, n)
    check_tree(file, n, first, parent)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    position, entry = found["position"], found["entry"]
    _check_pointer(file, "boundaries", pointer, m, len(boundary))
    _check_pointer(file, "entries", found["entry_pointer"], m, nnz)
    _check_pointer(file, "rows", found["indptr"], n, nnz)
    check_permutation(file, entry, nnz)
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


def check_permutation(file: Bundle, array: np.ndarray, n: int) -> None:
    """Refuse an array that does not have each number below n once."""
    inside = len(array) == n and bool(((array >= 0) & (array < n)).all())
    if not inside or (np.bincount(array, minlength=n) > 1).any():
        file.refuse("an order in it does not have each number once")


def check_tree(file: Bundle, n: int, first: np.ndarray, parent: np.ndarray) -> None:
    """Refuse a tree unless supernodes follow one another and parents come later."""
    m = len(first) - 1
    sound = m >= 0 and first[0] == 0 and first[-1] == n and (np.diff(first) > 0).all() and len(parent) == m
    if not sound or not ((parent == -1) | ((parent > np.arange(m)) & (parent < m))).all():
        file.refuse("its tree of supernodes does not hold together")


def _check_pointer(file: Bundle, what: str, pointer: np.ndarray, count: int, end: int) -> None:
    if len(pointer) != count + 1 or pointer[0] != 0 or pointer[-1] != end or (np.diff(pointer) < 0).any():
        file.refuse(f"its {what} do not hold together")
