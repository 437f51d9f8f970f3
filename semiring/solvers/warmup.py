"""Compile ahead of need what an algebra's closures, products and searches will ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semiring.algebra.by_name import algebra
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.texts import clip_repr
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.build import code_of, kernel, sparse_kernel
from semiring.kernels.choose import choose
from semiring.kernels.cpu.compile.price import always, has_numba, loads_numba
from semiring.kernels.cpu.dense.scan import SCANNED, scan
from semiring.kernels.cpu.sparse.buckets import bucket_kernel, suits
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.operands.sparse import Sparse

from .acyclic import levels_of
from .fronts import analysis_of
from .search import Search, form_of
from .sparse_factors import SparseFactors
from .trees import best_trees


def warmup(*algebras: Semiring | str, dtypes: Any = None, sparse: bool = False) -> None:
    """Compile what matrices over some algebras need, and keep it on disk for this and later processes.

    Without it compiling begins by itself once that repays: small work is done by NumPy at once, and large or repeated
    work waits a second or two the first time. Call this while an image is built or a service starts.

    Parameters
    ----------
    *algebras : Semiring or str
        Declared algebras, or names of the catalogue.
    dtypes : dtype or sequence of dtype, optional
        Of the matrices to come. By default each algebra's own default.
    sparse : bool
        Whether sparse matrices and graphs will come too: elimination, products and searches.

    Raises
    ------
    SemiringError
        Without Numba, for a name that is not in the catalogue, or a dtype that cannot carry an algebra.

    Notes
    -----
    It covers the form that ordinary data take. Data for which another one is faster, such as truth values, which are
    packed, may still compile once more. Kernels for a GPU are compiled when they first run there, and kept in the
    same directory.

    Examples
    --------
    >>> import semiring as sr
    >>> sr.warmup(sr.min_plus, dtypes="f8")
    """
    if not has_numba() or not loads_numba():
        raise SemiringError("there is no Numba, so nothing can be compiled; install numba")
    with always():
        for given in algebras:
            S = algebra(given)
            for dtype in _dtypes(S, dtypes):
                _warm(S, S.resolve_dtype(dtype), sparse)


def _dtypes(S: Semiring, dtypes: Any) -> list[np.dtype]:
    if dtypes is None:
        return [S.default_dtype]
    several = isinstance(dtypes, Sequence) and not isinstance(dtypes, str)
    try:
        return [np.dtype(dtype) for dtype in (dtypes if several else [dtypes])]
    except TypeError:
        raise SemiringError(f"{clip_repr(dtypes)} are not dtypes; give one as NumPy names it, or several") from None


def _warm(S: Semiring, dtype: np.dtype, sparse: bool) -> None:
    if dtype.char in SCANNED:
        scan(np.zeros((1, 1), dtype))
    dense = choose(S, dtype, Facts(largest=1), 2, in_place=False)
    for low in dict.fromkeys([dense, choose(S, dtype, Facts(largest=1), 2, in_place=False, packed=False)]):
        if low.kind != "objects":
            _run_blocks(S, low)
    if sparse and dense.kind != "objects":
        _run_rows(S, dtype)


def _elements(S: Semiring, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """An array of the algebra's zero."""
    result = np.empty(shape, dtype)
    result[...] = S.zero_in(dtype)
    return result


def _run_blocks(S: Semiring, low: Lowering) -> None:
    engine = kernel(low)
    A, C = (low.encode(_elements(S, low.dtype, (1, 1)), True) for _ in range(2))
    engine.multiply(C, A, A)
    if not S.product_only:
        engine.close(C)


def _run_rows(S: Semiring, dtype: np.dtype) -> None:
    offsets, columns = np.array([0, 1, 1]), np.array([1], np.int32)
    given = Sparse(Rows(offsets, columns, _elements(S, dtype, (1,)), 2), S, "A")
    low = choose(S, dtype, Facts(largest=1), 2, in_place=False, packed=False)
    B = low.encode(_elements(S, dtype, (2, 2)), True)
    sparse_kernel(low).times_dense(B.copy(), given.stored(low, True), B)
    if S.product_only:
        return
    F = SparseFactors(given, analysis_of(given, "natural"), check=False)
    F.rows([0])
    F.weight(0, 1)
    if S.selective:
        F._walk(0, 1)
    levels_of(given.rows, np.array([1, 0])).substitute(low, B, False)
    if S.selective:
        form = form_of(given)
        one_by_one = "buckets" if form.bounded and suits(form.low) else "search"
        ways: dict[str, dict[str, Any]] = {
            one_by_one: {"buckets": one_by_one == "buckets"}, "sweep": {"together": True}, "levels": {"alike": True},
        }
        for purpose, way in ways.items():
            if purpose == one_by_one or form.bounded:
                code_of(form.low, purpose).repays(0.0)
                Search(S, given, replace(form, **way)).rows(np.array([0]), False)
        if one_by_one == "buckets":  # which edges as good as one, as this is, do without
            _ = bucket_kernel(form.low).in_buckets.pass_buckets.made()
        row = _elements(S, dtype, (1, 2))
        row[0, 0] = S.one_in(dtype)
        best_trees(given, row, np.array([0]))  # by rows of a search, and for any values
        best_trees(given, row, np.array([0]), backwards=True)
