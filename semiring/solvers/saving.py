"""Sparse factors, their analysis and labels of vertices, written to files; `opening` opens these."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.algorithms.sparse.analysis import Analysis
from semiring.errors import SemiringError
from semiring.files.bundles import path_of, write_bundle
from semiring.graphs.texts import clip_repr
from semiring.kernels.lowering.base import Lowering
from semiring.operands.sparse import Sparse

if TYPE_CHECKING:
    from .pairs import Labels
    from .sparse_factors import SparseFactors

FACTORS, ANALYSIS, LABELS = "sparse factors", "an analysis", "labels"  # kinds of files
# The arrays of an analysis; the others follow from these.
PARTS = ("order", "first", "pointer", "boundary", "parent", "position", "entry_pointer", "entry", "entry_row",
         "entry_column", "indptr", "indices")
PLAIN = (str, int, float, bool, type(None))


def write_factors(F: SparseFactors, path: Any) -> None:
    """See `SparseFactors.save_factors`."""
    file, low, by = path_of(path), F.lowering, F._by
    if low.on_gpu or low.kind != "numba":
        what = "on a GPU" if low.on_gpu else "of Python objects"
        raise SemiringError(f"factors {what} are not saved: save_analysis keeps the analysis, which takes longest, for "
                            "sr.factor(A, S, order=sr.open_analysis(path))" +
                            ("; or factor with device='cpu'" if low.on_gpu else ""))
    rows, panels = cast(Any, by.fronts).kept()
    about = about_matrix(F._A, low, by.check) | about_analysis(F.analysis) | {
        "compiled": low.compiled, "rows": rows, "closed": by.closed is not None, "rounded": by.rounded is not None,
    }
    arrays = arrays_of(F.analysis) | {"panels": panels} | components("values", F._A.values)
    if by.rounded is not None:
        arrays["rounded"] = by.rounded.astype(np.int64)
    if by.closed is not None:
        arrays |= components("closed", by.closed.reshape(-1))
    write_bundle(file, FACTORS, about, arrays)


def write_analysis(analysis: Analysis, path: Any) -> None:
    """See `SparseFactors.save_analysis`."""
    write_bundle(path_of(path), ANALYSIS, about_analysis(analysis), arrays_of(analysis))


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
