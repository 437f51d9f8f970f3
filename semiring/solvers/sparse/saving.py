"""Sparse factors, their analysis and labels of vertices, written to files; `opening` opens these."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from shutil import disk_usage
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from semiring.algebra.arguments import truth_value, whole_number
from semiring.algebra.semiring import Semiring
from semiring.algorithms.sparse.analysis import Analysis
from semiring.errors import SemiringError
from semiring.files.bundles import path_of, write_bundle
from semiring.graphs.texts import clip_repr
from semiring.kernels.lowering.base import Lowering
from semiring.machine.memory import in_words
from semiring.operands.devices import to_host
from semiring.operands.sparse import Sparse

if TYPE_CHECKING:
    from .pairs import Labels
    from .substitution import Substitution

BLOCK = 256  # rows of the closure that are computed at once by default
FACTORS, ANALYSIS, LABELS = "sparse factors", "an analysis", "labels"  # kinds of files
# The arrays of an analysis; the others follow from these.
PARTS = ("order", "first", "pointer", "boundary", "parent", "position", "entry_pointer", "entry", "entry_row",
         "entry_column", "indptr", "indices")
PLAIN = (str, int, float, bool, type(None))


class Saving:
    """What `SparseFactors` writes to files."""

    _by: Substitution

    def save(self, path: str | Path, *, reflexive: bool = True, rows: int = BLOCK) -> np.memmap:
        """The closure straight into a .npy file, which is then mapped into memory; it may be larger than memory.

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
            When the disk has no room for it, `rows` is not a whole number of at least 1, or a result has no place in
            the dtype.
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
        order = F.analysis.order
        parts = [order[i : i + rows] for i in range(0, F.n, rows)]
        for vertices, block in F.engine.stream(F, parts, reflexive):
            out[vertices] = to_host(block)
        out.flush()
        return out

    def save_factors(self, path: str | Path) -> None:
        """The factors into a file, from which `semiring.open_factors` has them in another process, without eliminating.

        Parameters
        ----------
        path : path
            The file is written whole or not at all; one that is there is replaced.

        Raises
        ------
        SemiringError
            For factors on a GPU and of Python objects, an algebra that cannot be told from others, and names that are
            not texts, numbers or tuples.
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
        about = about_matrix(by.A, low, by.check) | about_analysis(by.analysis) | {
            "compiled": low.compiled, "rows": rows, "closed": by.closed is not None, "rounded": by.rounded is not None,
        }
        arrays = arrays_of(by.analysis) | {"panels": panels} | components("values", by.A.values)
        if by.rounded is not None:
            arrays["rounded"] = by.rounded.astype(np.int64)
        if by.closed is not None:
            arrays |= components("closed", by.closed.reshape(-1))
        write_bundle(file, FACTORS, about, arrays)

    def save_analysis(self, path: str | Path) -> None:
        """The order and the structure alone into a file, for any weights on the same edges; finding them costs most.

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
        write_bundle(path_of(path), ANALYSIS, about_analysis(self._by.analysis), arrays_of(self._by.analysis))


def write_labels(L: Labels, path: Any) -> None:
    """See `Labels.save`."""
    tree = L._reader.tree
    about = about_matrix(L._A, L._reader.lowering, L._check) | {"n": L.n, "facts": _facts(L._A)}
    write_bundle(path_of(path), LABELS, about, {
        "place": L._place, "first": tree.first, "parent": tree.parent, "label_at": tree.label_at,
        "X": L._X.elements.bytes, "Y": L._Y.elements.bytes,
    })


def key_of_algebra(S: Semiring) -> str:
    """What tells an algebra from others, in any process.

    Raises
    ------
    SemiringError
        Where functions are part of it that have no expression and no name.
    """
    declared = S.declared_as
    if declared is None:
        raise SemiringError(f"{S.name} is declared by functions that have no name by which a file could tell them from "
                            "others: put them at the top of a module, or write them with NumPy's operations")
    return blake2b(declared.encode(), digest_size=16).hexdigest()


def about_matrix(A: Sparse, low: Lowering, check: bool) -> dict[str, Any]:
    """What is known of a matrix but for its entries, and how its elements are stored."""
    return {
        "algebra": A.S.name, "declared": key_of_algebra(A.S), "dtype": written_dtype(A.dtype),
        "callers_dtype": written_dtype(A.callers_dtype), "names": _written_names(A.names), "of_graph": A.of_graph,
        "library": A.library, "check": bool(check), "lowering": low.name,
        "storage": [c.str for c in low.components],
    }


def about_analysis(analysis: Analysis) -> dict[str, Any]:
    """What an analysis is, beside its arrays."""
    return {"order": analysis.method}


def arrays_of(analysis: Analysis) -> dict[str, np.ndarray]:
    """Its arrays, in 32 bits where that does."""
    return {name: _narrow(getattr(analysis, name)) for name in PARTS}


def components(name: str, array: np.ndarray) -> dict[str, np.ndarray]:
    """A vector by the fields of its elements."""
    fields = array.dtype.names
    return {f"{name}.{k}": array[f] for k, f in enumerate(fields)} if fields else {f"{name}.0": array}


def written_dtype(dtype: np.dtype) -> str:
    """A dtype as .npy files have it."""
    return repr(np.lib.format.dtype_to_descr(dtype))


def _narrow(array: np.ndarray) -> np.ndarray:
    most = np.iinfo(np.int32).max
    return array.astype(np.int32) if int(array.max(initial=0)) <= most else array.astype(np.int64)


def _facts(A: Sparse) -> dict[str, Any]:
    """Facts as JSON has them."""
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in asdict(A.facts).items()}


def _written_names(names: Sequence[Any] | None) -> str | None:
    """Names as JSON has them; tuples are lists there, and nothing else is.

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
