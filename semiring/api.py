"""The front door: products and closures over any semiring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.operands.pack import is_packed

from .algebra import laws
from .algebra.by_name import algebra
from .algebra.semiring import Semiring
from .algorithms.blocks import UndefinedStar
from .errors import SemiringError
from .kernels.build import kernel as build_kernel
from .kernels.build import stack_kernel
from .kernels.lowering.base import Lowering
from .machine.memory import require
from .operands.csr import has_edges
from .operands.devices import is_on_gpu, settle, to_host, upload
from .operands.operand import Operand, check_square, examine, is_sparse, operand, stacked
from .results.factors import Factors, factor, solve
from .solvers.cycles import check_cycles, may_diverge, undefined_star
from .solvers.schedules import (
    LARGE,
    closed,
    common_dtype,
    encoded,
    in_16_bits,
    lowering_for,
    lowering_without_facts,
    plan_closure,
    product_in_16_bits,
    refuse_overflow,
    reporting,
    stable_closure,
)
from .solvers.task import Plan, check_options

if TYPE_CHECKING:
    from .solvers.costs import SparsePlan

KEPT = 1 << 20  # bytes up to which a matrix that may be overwritten is copied all the same

__all__ = ["Factors", "algebra", "check_laws", "closure", "factor", "matmul", "plan", "solve"]



def check_laws(S: Semiring | str, samples: Sequence[Any] | np.ndarray | None = None) -> laws.LawReport:
    """Try every law of semirings, the star law, and the four flags on samples.

    Parameters
    ----------
    S : Semiring or str
    samples : sequence, optional
        Elements to combine in all ways; those the algebra was declared with when absent.

    Returns
    -------
    LawReport
        Printable; `.ok`, `.failures` with a witness each, `.derived` flags.

    Examples
    --------
    >>> import semiring as sr
    >>> sr.check_laws(sr.max_min).ok
    True
    >>> print(sr.check_laws(sr.plus_min).failures[0])
    ⊗ distributes on the left fails: a ⊗ (b ⊕ c) = (a ⊗ b) ⊕ (a ⊗ c) at a = 1, b = ∞, c = ∞: 1 ≠ 2
    """
    S = algebra(S)
    if samples is None:
        return S._law_report
    if not isinstance(samples, np.ndarray):
        try:
            values = [tuple(v) if S.is_record else v for v in samples]
            parts = [part for v in values for part in v] if S.is_record else values
            if S.default_dtype.kind not in "cO" and any(np.asarray(part).dtype.kind == "c" for part in parts):
                raise TypeError("complex numbers, of which it knows none")
            samples = laws.sequence(values, S.default_dtype)
        except (TypeError, ValueError, OverflowError) as e:
            raise SemiringError(f"samples are no sequence of elements of {S.name}: {e}") from None
    if samples.ndim != 1:
        raise SemiringError(f"samples must be a sequence of elements, and have shape {samples.shape}")
    samples = operand(samples, S, "samples").array
    if samples.dtype.kind == "O":
        examine(S, samples.dtype, [("samples", samples)])
    A = S.over(samples.dtype)
    inside = A.contains(samples)
    if not np.all(inside):
        bad = np.flatnonzero(~inside)[0]
        raise SemiringError(f"samples[{bad}] is {laws.show(samples[bad])}, outside the carrier of {S.name}")
    return laws.check(A, samples, name=S.name, star=not S.product_only)


def matmul(
    A: Any,
    B: Any,
    S: Semiring | str,
    *,
    accumulate: Any = None,
    out: np.ndarray | None = None,
    device: str | None = None,
    check: bool = True,
) -> Any:
    """The matrix product A ⊗ B over a semiring: c_ij = ⊕_k a_ik ⊗ b_kj.

    Parameters
    ----------
    A, B : array_like, shape (…, m, k) and (…, k, n)
        NumPy or CuPy arrays of any strides, SciPy sparse matrices, `Matrix`, or anything with DLPack; vectors and
        leading axes as in `numpy.matmul`. Of the same dtype. Where one is sparse, it stays so.
    S : Semiring or str
    accumulate : array_like, optional
        C of the answer's shape; the answer is then C ⊕ A ⊗ B. It is not changed unless it is `out`.
    out : ndarray, optional
        Where to put the answer.
    device : {None, "cpu", "gpu"}
        Where to compute; ``None``: where the data are, and for large host arrays of floats the GPU if there is one.
    check : bool
        Whether to look at the entries; see `closure`.

    Returns
    -------
    ndarray
        Of the operands' dtype; of A's kind where that is another array type. A SciPy `csr_array` where both are sparse.

    Raises
    ------
    SemiringError
        When shapes do not fit, the dtype cannot carry the algebra, or an entry is not an element.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> A = np.array([[0.0, 3.0], [np.inf, 0.0]])
    >>> sr.matmul(A, A, sr.min_plus)
    array([[ 0.,  3.],
           [inf,  0.]])
    """
    S = algebra(S)
    check_options("auto", device, check=check)
    if is_packed(A) or is_packed(B):
        from .solvers.bits import packed_product

        return packed_product(A, B, S, accumulate=accumulate, out=out)
    if is_sparse(A) or is_sparse(B):
        from .solvers.sparse_products import sparse_matmul

        return sparse_matmul(A, B, S, accumulate=accumulate, out=out, device=device)
    left, right = operand(A, S, "A"), operand(B, S, "B")
    a, b = left.array, right.array
    if is_on_gpu(a) and is_on_gpu(b) and accumulate is None and out is None and check and device != "cpu":
        from .solvers import speculation

        guessed = speculation.product(S, a, b)
        if guessed is not None:
            return left.wrap(guessed)
    dtype = common_dtype(S, ("A", a), ("B", b))
    if a.ndim == 0 or b.ndim == 0:
        raise SemiringError("A and B must be matrices or vectors, not single numbers; S.mul multiplies elements")
    vectors = (a.ndim == 1, b.ndim == 1)
    a, b = (a[None] if vectors[0] else a), (b[:, None] if vectors[1] else b)
    if a.shape[-1] != b.shape[-2]:
        raise SemiringError(f"A of shape {left.array.shape} and B of shape {right.array.shape} do not fit: "
                            f"A has {a.shape[-1]} columns, B has {b.shape[-2]} rows")
    try:
        leading = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise SemiringError(f"leading axes {a.shape[:-2]} and {b.shape[:-2]} do not broadcast") from None
    full = (*leading, a.shape[-2], b.shape[-1])
    shape = tuple(s for i, s in enumerate(full) if not (
        (vectors[0] and i == len(full) - 2) or (vectors[1] and i == len(full) - 1)))
    operands = {"A": a, "B": b}
    if accumulate is not None:
        c = operand(accumulate, S, "accumulate").array
        common_dtype(S, ("A", a), ("accumulate", c))
        if c.shape != shape:
            raise SemiringError(f"accumulate has shape {c.shape}, the product {shape}")
        operands["accumulate"] = c.reshape(full)
    if out is not None and not _can_hold(out, shape, dtype):
        raise SemiringError(f"out must be a writable {dtype} array of shape {shape}, and none with a mask")
    work = np.prod(full, dtype=float) * a.shape[-1]
    placed, back = settle(S, list(operands.values()), device, work)
    if np.prod(full, dtype=float) * dtype.itemsize > LARGE:
        shown = " × ".join(map(str, full))
        require(int(np.prod(full, dtype=float)) * dtype.itemsize, f"the {shown} product", on_gpu=is_on_gpu(placed[0]))
    given = (left.array.shape, right.array.shape, shape)  # positions in messages are those of the caller's arrays
    named = [(what, x.reshape(s)) for what, x, s in zip(operands, placed, given, strict=False)]
    result = back(_examined_product(S, dtype, full, placed, named, check)).reshape(shape)
    if out is not None:
        out[...] = result if is_on_gpu(out) == is_on_gpu(result) else to_host(result)
        return out
    if not shape:
        return result[()]
    return left.wrap(result) if left.names == right.names else result


def _can_hold(out: Any, shape: tuple[int, ...], dtype: np.dtype) -> bool:
    if (not isinstance(out, np.ndarray) and not is_on_gpu(out)) or isinstance(out, np.ma.MaskedArray):
        return False
    return bool(out.shape == shape and out.dtype == dtype and getattr(out.flags, "writeable", True))


def _examined_product(
    S: Semiring, dtype: np.dtype, full: tuple[int, ...], operands: list, named: list[tuple[str, Any]], check: bool
) -> Any:
    """C ⊕ A ⊗ B of elements that are looked at before."""
    on_gpu = is_on_gpu(operands[0])
    if not operands[0].size or not operands[1].size:  # nothing is added to C, or to zero
        examine(S, dtype, named)
        C = operands[2].copy() if len(operands) > 2 else laws.full(np.empty(full, dtype), S.zero_in(dtype))
        return upload(C) if on_gpu and not is_on_gpu(C) else C
    if on_gpu and not check:
        low = lowering_without_facts(S, operands[0], packed=len(full) == 2)
        return low.decode(_product(low, full, *operands))
    low = lowering_for(S, operands[0], examine(S, dtype, named), 3, packed=len(full) == 2)
    if on_gpu and len(operands) == len(full) == 2:
        a, b = operands
        short = product_in_16_bits(low, a, b)
        if short is not None:
            return short
        from .solvers import speculation

        speculation.remember_product(S, a, b, low)
    result = low.decode(_product(low, full, *operands))
    if check:
        refuse_overflow(low, result)
    return result


def _product(low: Lowering, full: tuple[int, ...], a: Any, b: Any, c: Any = None) -> Any:
    """C ⊕ A ⊗ B in storage."""
    a, b = encoded(low, a), encoded(low, b)
    result = low.empty(full) if c is None else low.encode(c, True)
    if len(full) == 2:
        k = build_kernel(low)
        (k.multiply if c is None else k.multiply_add)(result, a, b)
        return result
    many = stack_kernel(low)
    stacks = [stacked(np.broadcast_to(x, (*full[:-2], *x.shape[-2:]))) for x in (a, b)]
    (many.multiply_stack if c is None else many.multiply_add_stack)(stacked(result), *stacks)
    return result


def closure(
    A: Any,
    S: Semiring | str,
    *,
    method: str = "auto",
    reflexive: bool = True,
    overwrite: bool = False,
    device: str | None = None,
    tile: int | None = None,
    check: bool = True,
    packed: bool = False,
    progress: bool | Callable[[float], None] = False,
) -> Any:
    """The closure A* = 1 ⊕ A ⊕ A² ⊕ … of a square matrix: the ⊕ over all walks of the ⊗ along each.

    Parameters
    ----------
    A : array_like, shape (n, n) or (…, n, n)
        A NumPy or CuPy array of any strides, a SciPy sparse matrix (the answer is dense), a `Matrix`, a `Graph`, a
        NetworkX graph, or anything with DLPack. An absent edge is the algebra's zero; dense arrays are taken literally,
        but what a masked array masks is not an edge.
        A stack is closed matrix by matrix.
    S : Semiring or str
        With min_plus the answer holds shortest distances, with boolean reachability, with max_min widest paths.
    method : {"auto", "floyd-warshall", "blocked", "r-kleene", "squaring", "elimination", "sparse"}
        The schedule. All give the same answer, up to rounding where ⊗ rounds. Sparse matrices and graphs are eliminated
        on their structure ("sparse") where that is reckoned to be faster.
    reflexive : bool
        Whether the empty walk counts; otherwise A⁺ = A A*.
    overwrite : bool
        Whether A's own memory may be used. Otherwise A is not changed.
    device : {None, "cpu", "gpu"}
        Where to compute; ``None``: where the data are, and for large host arrays of floats the GPU if there is one.
    tile : int, optional
        Rows of a pivot block.
    check : bool
        Whether to refuse entries that are not elements, and a closure that does not exist. On a GPU this is the only
        thing that waits for the device; without it the form of the algebra that is right for all data runs, and what
        comes of such entries is not defined. On the CPU only the search for improving cycles is left out.
    packed : bool
        Whether to give the closure over `boolean` as a `PackedMatrix`, one bit a pair, and never hold more. A packed A
        is closed so in any case.
    progress : bool or callable
        ``True`` shows a bar on stderr; a callable is given the fraction done.

    Returns
    -------
    ndarray or Matrix or PackedMatrix
        Of A's dtype, and of A's kind where that is another array type.

    Raises
    ------
    NoClosureError
        When there is an improving cycle (in min-plus a negative one), by more than the rounding of its edges explains
        (floats are known to two machine epsilons of their size, whole numbers are exact), or a pivot's star does not
        exist; it names a vertex and, where ⊕ selects, a cycle.
    LawError
        When the method needs a law that the algebra lacks.
    SemiringError
        When A is not square, its dtype cannot carry the algebra, an entry is not an element, or memory is short.

    Notes
    -----
    Each schedule's file in `semiring.algorithms` names its source.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> A = np.array([[np.inf, 3, 10], [np.inf, np.inf, 4], [np.inf, np.inf, np.inf]])
    >>> sr.closure(A, sr.min_plus)
    array([[ 0.,  3.,  7.],
           [inf,  0.,  4.],
           [inf, inf,  0.]])
    """
    S = algebra(S)
    check_options(method, device, tile, progress, reflexive=reflexive, overwrite=overwrite, check=check, packed=packed)
    if packed or is_packed(A):
        from .solvers.bits import packed_closure

        return packed_closure(
            A, S, method=method, reflexive=reflexive, overwrite=overwrite, device=device, tile=tile, progress=progress
        )
    given = None
    if has_edges(A) and not overwrite and tile is None and device in (None, "cpu"):
        from .solvers.elimination import sparse_closure

        given = sparse_closure(A, S, method=method, reflexive=reflexive, check=check, progress=progress)
        if given is not None and not isinstance(given, Operand):
            return given
    given = operand(A, S) if given is None else given
    array = given.array
    usual = (method, reflexive, overwrite, tile, check, progress) == ("auto", True, False, None, True, False)
    guessable = usual and is_on_gpu(array) and device in (None, "gpu", "cuda")
    if guessable:
        from .solvers import speculation

        check_square(array)
        guessed = speculation.closure(S, array)
        if guessed is not None:
            return given.wrap(guessed)
    (array,), back = settle(S, [array], device, check_work(array))
    in_place = overwrite and reflexive and getattr(array.flags, "writeable", True)
    planned, facts = plan_closure(S, array, method, reflexive, overwrite, tile, check)
    low, n = planned.lowering, array.shape[-1]
    if planned.memory > LARGE:
        require(planned.memory, f"the closure of {n} × {n} {array.dtype}", on_gpu=low.on_gpu)
    if reflexive and check and method == "auto" and tile is None:
        short = in_16_bits(low, array, facts)
        if short is not None:
            if in_place:
                array[...] = short
            return given.wrap(back(array if in_place else short))
    kept = array
    if in_place:  # a matrix that takes no room is kept, to tell cycles from rounding and to name them
        kept = array.copy() if check and may_diverge(low) and array.nbytes <= KEPT else None
    if not array.size:
        with reporting(progress, planned, check):  # nothing to do is all done
            pass
        return given.wrap(back(array if in_place else array.copy()))
    original = None if reflexive else low.encode(array, True) if low.kind == "packed" else encoded(low, array)
    try:
        work = closed(planned, array, original, in_place=in_place, check=check, progress=progress)
    except UndefinedStar as e:
        raise undefined_star(S, given.names, e.pivot) from None
    if check and may_diverge(low) and not check_cycles(
        low, work, kept, facts, given.names, stable=planned.method == "squaring"
    ):
        work = stable_closure(planned, kept, original, facts, given.names)
        if in_place:
            array[...] = low.decode(work)
            return given.wrap(back(array))
    elif guessable and planned.method == "floyd-warshall":
        speculation.remember_closure(S, array, low)
    result = low.decode(work)
    if check:
        refuse_overflow(low, result)
    return given.wrap(back(result))


def plan(
    A: Any,
    S: Semiring | str,
    *,
    method: str = "auto",
    reflexive: bool = True,
    overwrite: bool = False,
    device: str | None = None,
    tile: int | None = None,
) -> Plan | SparsePlan:
    """What `closure` would do with the same arguments, without doing it.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> p = sr.plan(np.zeros((300, 300), np.float32), sr.max_min)
    >>> p.method, p.lowering.name, p.work
    ('r-kleene', 'ordered integers', 27000000)
    """
    S = algebra(S)
    check_options(method, device, tile, reflexive=reflexive, overwrite=overwrite)
    if has_edges(A) and not overwrite and tile is None and device in (None, "cpu"):
        from .solvers.elimination import sparse_plan

        planned = sparse_plan(A, S, method=method)
        if planned is not None:
            return planned
    array = operand(A, S).array
    (array,), _ = settle(S, [array], device, check_work(array))
    return plan_closure(S, array, method, reflexive, overwrite, tile)[0]


def check_work(array: Any) -> float:
    """Multiply-adds of the closure of a checked operand."""
    n = check_square(array)
    return prod(array.shape[:-2]) * float(n) ** 3
