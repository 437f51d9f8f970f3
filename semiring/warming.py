"""Compile what an algebra's closures, products and searches need, before they are called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from semiring.algebra.by_name import algebra
from semiring.algebra.elements import full
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.texts import clip_repr
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.build import PURPOSES, code_of, kernel
from semiring.kernels.choose import choose
from semiring.kernels.cpu.compile.beside import begin
from semiring.kernels.cpu.compile.price import always, has_numba, loads_numba
from semiring.kernels.cpu.dense import lanes
from semiring.kernels.cpu.dense.folds import SINGLE
from semiring.kernels.cpu.dense.nests import LOOPS, nest_loops
from semiring.kernels.cpu.dense.scan import SCANNED, scan
from semiring.kernels.cpu.dense.small import closes, fits, ufunc
from semiring.kernels.cpu.sparse.edge_numbers import EdgeNumbers
from semiring.kernels.cpu.sparse.structure import goes_both_ways, product_structure, state_of, transposed
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general
from semiring.operands.sparse import Sparse

from .small import form
from .solvers.forms import plain_form
from .solvers.paths.search import form_of
from .solvers.sparse.analysis import lowering_of
from .solvers.sparse.analysis import steps as elimination_steps
from .solvers.sparse.traversals import levels_of

Step = Callable[[], object]

BY_VECTORS = "stacks", "closures of stacks", "chains", "spanning tree"  # purposes of dense arrays
FOLDS, PREFIXES = ("sums", "prods"), ("prefix sums", "prefix products")  # of elements as they are


def warmup(*algebras: Semiring | str, dtypes: Any = None, sparse: bool = False) -> None:
    """Compile the kernels of some algebras, and keep them for later processes.

    Without it kernels are compiled once that pays off: NumPy does small work at once, and large or repeated work waits
    a second or two the first time. Call this while an image is built or a service starts.

    Parameters
    ----------
    *algebras : Semiring or str
        Declared algebras, or names of the catalogue.
    dtypes : dtype or sequence of dtype, optional
        The dtypes of the matrices to come. By default each algebra's own default.
    sparse : bool
        Whether sparse matrices and graphs will come too: elimination, products and searches.

    Raises
    ------
    SemiringError
        Without Numba, for a name that is not in the catalogue, or for a dtype that cannot hold an algebra.

    Notes
    -----
    This compiles the form of ordinary data. If another form is faster for some data, as bits are for truth values,
    that form may still be compiled later. Kernels for a GPU are compiled when they first run there, and kept in the
    same directory.

    Examples
    --------
    >>> import semiring as sr
    >>> sr.warmup(sr.min_plus, dtypes="f8")
    """
    if not has_numba() or not loads_numba():
        raise SemiringError("nothing can be compiled without Numba: install numba")
    work = [(S := algebra(given), tuple(S.resolve_dtype(d) for d in _dtypes(S, dtypes))) for given in algebras]
    begin(_steps, work, sparse)
    with always():
        for step in _steps(work, sparse):
            step()


def _dtypes(S: Semiring, dtypes: Any) -> list[np.dtype]:
    if dtypes is None:
        return [S.default_dtype]
    several = isinstance(dtypes, Sequence) and not isinstance(dtypes, str)
    try:
        return [np.dtype(dtype) for dtype in (dtypes if several else [dtypes])]
    except TypeError:
        raise SemiringError(f"{clip_repr(dtypes)} are not dtypes: pass one as NumPy names it, or several") from None


def _steps(work: list[tuple[Semiring, tuple[np.dtype, ...]]], sparse: bool) -> list[Step]:
    """The steps, each of which compiles one function: other processes begin with the last."""
    return [step for S, dtypes in work for dtype in dtypes for step in _steps_for(S, dtype, sparse)]


def _steps_for(S: Semiring, dtype: np.dtype, sparse: bool) -> Iterator[Step]:
    if dtype.char in SCANNED:
        yield partial(scan, np.zeros((1, 1), dtype))
    dense = choose(S, dtype, Facts(largest=1), 2, in_place=False)
    forms = dict.fromkeys([dense, choose(S, dtype, Facts(largest=1), 2, in_place=False, packed=False)])
    for low in forms:
        if low.kind != "objects":
            yield partial(_multiply, low)
            if not S.product_only:
                yield partial(_close, low)
        for name in BY_VECTORS:
            yield from _steps_of(low, name)
        if dtype != np.float16:
            for name in (*FOLDS, *PREFIXES):
                yield from _steps_of(low, name)
    if dtype == np.float16 and dense.kind != "objects":  # folds convert halves on the way, prefixes before it
        for name in FOLDS:
            yield from _steps_of(general(S, dtype), name)
        for name in PREFIXES if SINGLE in S.dtypes else ():
            yield from _steps_of(general(S, SINGLE), name)
    examined = plain_form(S, dtype, Facts(), 3)  # as elements are that a product with few vectors examines meanwhile
    for low in {**forms, examined: None}:
        yield from _steps_of(low, "thin")
    if lanes.fits(examined):  # products of many factors, which are looked at meanwhile too
        yield from _steps_of(examined, "stacks")
        LOOPS.repays(0.0)
        yield nest_loops
    yield from _small_steps(S, dtype)
    if sparse and dense.kind != "objects":
        yield from _sparse_steps(S, dtype)


def _steps_of(low: Lowering, name: str) -> Iterator[Step]:
    """The steps of a purpose, as far as most of its work needs them."""
    if low.kind == "numba" and (purpose := PURPOSES[name]).fits(low):
        code_of(low, name).repays(0.0)
        yield from (function.make for function in purpose.code(low))


def _small_steps(S: Semiring, dtype: np.dtype) -> Iterator[Step]:
    """The steps of small calls."""
    low = form(S, dtype)
    if low is not None and fits(low):
        for verb in ("product", "sum", "closure") if closes(low) else ("product", "sum"):
            code_of(low, f"small {verb}s").repays(0.0)
            yield partial(ufunc, low, verb)


def _encoded(low: Lowering) -> Any:
    return low.encode(full(np.empty((1, 1), low.dtype), low.algebra.zero_in(low.dtype)), True)


def _multiply(low: Lowering) -> None:
    kernel(low).multiply(_encoded(low), _encoded(low), _encoded(low))


def _close(low: Lowering) -> None:
    kernel(low).close(_encoded(low))


def _sparse_steps(S: Semiring, dtype: np.dtype) -> Iterator[Step]:
    """The steps of sparse matrices, for each purpose: compiled for a matrix with one edge of value zero."""
    rows = Rows(np.array([0, 1, 1]), np.array([1], np.int32), full(np.empty(1, dtype), S.zero_in(dtype)), 2)
    given = Sparse(rows, S, "A")
    forms = {
        "products": choose(S, dtype, Facts(largest=1), 2, in_place=False, packed=False),
        "factors": lowering_of(given, room=True), "searches": form_of(given).low,
    }
    edges = rows.offsets, rows.columns
    yield partial(state_of, *edges, 2)
    yield partial(transposed, *edges, 2)
    yield partial(goes_both_ways, rows)
    yield partial(product_structure, edges, edges, 2)
    if not S.product_only:
        yield from elimination_steps(forms["factors"])
        yield partial(levels_of, rows, np.array([1, 0]))
    if S.selective:
        for axis, shape in enumerate([(2, 1), (1, 2)]):
            yield EdgeNumbers(np.zeros(shape, np.int8), np.array([0, 1, 2]), np.zeros(2, np.int32), axis).vertices
    for name, purpose in PURPOSES.items():
        low = forms[purpose.form]
        if low.kind == "numba" and purpose.fits(low):
            code_of(low, name).repays(0.0)
            yield from (function.make for function in (*purpose.code(low), *purpose.seldom(low)))
