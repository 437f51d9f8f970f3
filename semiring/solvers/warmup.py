"""Compile ahead of need what an algebra's closures, products and searches will ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from semiring.algebra.by_name import algebra
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.texts import clip_repr
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.build import code_of, kernel, sparse_kernel
from semiring.kernels.choose import choose
from semiring.kernels.cpu.compile.beside import begin
from semiring.kernels.cpu.compile.price import always, has_numba, loads_numba
from semiring.kernels.cpu.dense.scan import SCANNED, scan
from semiring.kernels.cpu.sparse import bottleneck
from semiring.kernels.cpu.sparse.buckets import bucket_kernel, suits
from semiring.kernels.cpu.sparse.edge_numbers import NUMBER, EdgeNumbers
from semiring.kernels.cpu.sparse.search import INDEX
from semiring.kernels.cpu.sparse.structure import goes_both_ways, state_of, transposed
from semiring.kernels.cpu.sparse.trees import tree_kernel
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.operands.sparse import Sparse

from .acyclic import levels_of
from .ahead import steps as elimination_steps
from .forms import plain_form
from .fronts import analysis_of, lowering_of
from .search import Form, Search, form_of
from .sparse_factors import SparseFactors
from .sparse_substitution import Substitution
from .trees import best_trees, takes_the_worse

Step = Callable[[], object]


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
        raise SemiringError(f"{clip_repr(dtypes)} are not dtypes; give one as NumPy names it, or several") from None


def _steps(work: list[tuple[Semiring, tuple[np.dtype, ...]]], sparse: bool) -> list[Step]:
    """What compiles, each by itself: other processes begin with the last."""
    return [step for S, dtypes in work for dtype in dtypes for step in _steps_for(S, dtype, sparse)]


def _steps_for(S: Semiring, dtype: np.dtype, sparse: bool) -> Iterator[Step]:
    if dtype.char in SCANNED:
        yield partial(scan, np.zeros((1, 1), dtype))
    dense = choose(S, dtype, Facts(largest=1), 2, in_place=False)
    for low in dict.fromkeys([dense, choose(S, dtype, Facts(largest=1), 2, in_place=False, packed=False)]):
        if low.kind != "objects":
            yield partial(_multiply, low)
            if not S.product_only:
                yield partial(_close, low)
    if sparse and dense.kind != "objects":
        yield from _sparse_steps(S, dtype)


def _elements(S: Semiring, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """An array of the algebra's zero."""
    result = np.empty(shape, dtype)
    result[...] = S.zero_in(dtype)
    return result


def _encoded(low: Lowering, order: int) -> Any:
    return low.encode(_elements(low.algebra, low.dtype, (order, order)), True)


def _multiply(low: Lowering) -> None:
    kernel(low).multiply(_encoded(low, 1), _encoded(low, 1), _encoded(low, 1))


def _close(low: Lowering) -> None:
    kernel(low).close(_encoded(low, 1))


def _sparse_steps(S: Semiring, dtype: np.dtype) -> Iterator[Step]:
    offsets, columns = np.array([0, 1, 1]), np.array([1], np.int32)
    given = Sparse(Rows(offsets, columns, _elements(S, dtype, (1,)), 2), S, "A")
    low = choose(S, dtype, Facts(largest=1), 2, in_place=False, packed=False)
    rows, engine = given.stored(low, True), sparse_kernel(low)
    yield partial(state_of, offsets, columns, 2)
    yield partial(transposed, offsets, columns, 2)
    yield partial(goes_both_ways, rows)
    yield lambda: engine.times_dense(_encoded(low, 2), rows, _encoded(low, 2))
    yield lambda: engine.dense_times(_encoded(low, 2), _encoded(low, 2), rows)
    yield lambda: engine.times_sparse(rows, rows)
    if S.product_only:
        return
    yield from elimination_steps(lowering_of(given, room=True))
    yield lambda: _factors(given).rows([0])
    yield lambda: _factors(given).weight(0, 1)
    if S.selective:
        yield lambda: _factors(given)._walk(0, 1)
    yield lambda: levels_of(given.rows, np.array([1, 0])).substitute(low, _encoded(low, 2), False)
    if S.selective:
        yield from _search_steps(given)


def _factors(given: Sparse) -> SparseFactors:
    return SparseFactors(Substitution(given, analysis_of(given, "natural"), check=False))


def _search_steps(given: Sparse) -> Iterator[Step]:
    form = form_of(given)
    one_by_one = "buckets" if form.bounded and suits(form.low) else "search"
    ways: dict[str, dict[str, Any]] = {
        one_by_one: {"buckets": one_by_one == "buckets"}, "sweep": {"together": True}, "levels": {"alike": True},
    }
    for purpose, way in ways.items():
        if purpose == one_by_one or form.bounded:
            yield partial(_search, given, replace(form, **way), purpose)
    if one_by_one == "buckets":  # which edges as good as one, as this is, do without
        yield lambda: bucket_kernel(form.low).in_buckets.pass_buckets.made()
    row = _elements(given.S, given.dtype, (1, 2))
    row[0, 0] = given.S.one_in(given.dtype)
    for backwards in (False, True):  # by rows of a search, and for any values
        yield partial(best_trees, given, row, np.array([0]), backwards=backwards)
        for purpose, hop in (("trees", NUMBER), ("trees of hubs", INDEX)):
            for part, function in (("module", "grow"), ("rounds", "settle_vertex"), ("rounds", "reach_rest")):
                yield partial(_tree_code, given, backwards, purpose, hop, part, function)
    for axis, shape in enumerate([(2, 1), (1, 2)]):
        yield EdgeNumbers(np.zeros(shape, np.int8), np.array([0, 1, 2]), np.zeros(2, np.int32), axis).vertices
    if takes_the_worse(given.S):
        yield partial(bottleneck.next_hops, 0, *np.empty((3, 0), np.int32))


def _tree_code(given: Sparse, backwards: bool, purpose: str, hop: np.dtype, part: str, function: str) -> None:
    low = plain_form(given.S, given.dtype, given.facts, 3 * given.n + 3)
    if low.kind == "numba" and code_of(low, purpose).repays(0.0):
        kernel = tree_kernel(low, exchange=backwards and not given.S.commutative, hop=hop)
        getattr(getattr(kernel, part), function).made()


def _search(given: Sparse, form: Form, purpose: str) -> None:
    code_of(form.low, purpose).repays(0.0)
    Search(given.S, given, form).rows(np.array([0]), False)
