"""Products of several matrices, in the order with the fewest multiply-adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from semiring.algebra.by_name import algebra
from semiring.algebra.dtypes import refuse_sums
from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import dtype_text
from semiring.errors import SemiringError
from semiring.graphs.dims import labelled
from semiring.graphs.foreign import CUDA, device_of
from semiring.graphs.texts import clip_repr
from semiring.operands.align import aligned, in_order
from semiring.operands.convert import on_host
from semiring.operands.dense import Dense
from semiring.operands.devices import require_gpu
from semiring.operands.operand import Operand
from semiring.operands.read import operand
from semiring.solvers.dense.derived import as_product
from semiring.solvers.options import DEFAULTS, Options
from semiring.solvers.products.arrays import product_shape
from semiring.solvers.task import Task, compute, options, own_algebra


def chain(
    matrices: Sequence[Any], S: Semiring | str | None = None, *, device: str | None = None, check: bool = True
) -> Any:
    """Return the product A₁ ⊗ A₂ ⊗ … ⊗ Aₖ of several matrices.

    They are multiplied in the order that takes the fewest multiply-adds.

    Parameters
    ----------
    matrices : sequence of array_like, sparse matrices or graphs, each of shape (…, m, k)
        One or more, each as for `matmul`; of several, the first one and the last one may be vectors. Or an array of
        shape (T, …, n, n), whose matrices are multiplied in pairs, then these in pairs, and so on, by stacks of
        products; on a GPU in chunks that are computed side by side. `scan` gives all products on the way.
    S : Semiring or str, optional
        Default: the algebra of a `Matrix` or of a prepared operand.
    device : {None, "cpu", "gpu"}
        As in `matmul`.
    check : bool
        As in `matmul`.

    Returns
    -------
    ndarray, csr_array, Matrix, Graph or number, of shape (…, m, n)
        What `matmul` gives for the factors; a copy of a single matrix, and the identity for an array with T = 0.

    Raises
    ------
    SemiringError
        If there are no matrices, unless in an array of shape (0, …, n, n), a single operand is a vector, shapes or
        dtypes do not fit, or an entry is not an element.
    GraphError
        If vertices of two neighbours have different names.

    Notes
    -----
    The order minimizes the sum of m·k·n over all products of (m, k) and (k, n), also for sparse matrices; T. H. Cormen,
    C. E. Leiserson, R. L. Rivest, C. Stein, Introduction to algorithms, section 14.2 (2022). Ties, and so matrices of
    the same shape, are multiplied from left to right, and so are all matrices over an algebra with products only, in
    which the order may matter. Floats are rounded as in `matmul`, differently in each order. Before anything is
    multiplied, neighbours whose vertices have names are put into the order of the first of them, and so is a series
    next to a matrix over vertices. So what arrays next to them mean by position does not depend on the first product.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> A, v = np.array([[0.0, 3.0], [np.inf, 0.0]]), np.array([1.0, 0.0])
    >>> sr.chain([A, A, A, v], sr.min_plus)
    array([1., 0.])
    """
    if _is_array_on_gpu(matrices) and device != "cpu":
        return _on_gpu(matrices, S, options(device=device, check=check))
    try:
        given = list(matrices)
    except TypeError:
        given = []
    asked = options(device=device, check=check)
    if (not given and not _is_stack(matrices)) or isinstance(matrices, (str, bytes)):
        raise SemiringError("chain needs a sequence of one or more matrices, or an array of shape (T, …, n, n), and "
                            f"got {clip_repr(matrices)}")
    S = own_algebra("chain", given or (matrices,)) if S is None else algebra(S)
    refuse_sums(S)
    if len(given) < 2:
        if not given:
            return _identity(matrices, S)
        return labelled(chain, (given,), {}, _alone(operand(given[0], S, "matrices[0]"), asked))
    if isinstance(matrices, np.ndarray) and matrices.ndim > 2 and matrices.shape[-1] == matrices.shape[-2]:
        try:
            return _in_pairs(matrices, S, asked)
        except SemiringError:
            _examine([operand(matrices, S, "matrices")], asked)
            raise
    operands = read = in_one_order([operand(A, S, f"matrices[{i}]") for i, A in enumerate(given)])
    final = shape_of(operands)
    lowest = max(len(A.shape) for A in operands) > 2
    if lowest:  # a product of a vector and a stack is a stack of vectors, which must not become a matrix
        operands = [_as_matrix(A, i == 0) for i, A in enumerate(operands)]
    where = None if S.product_only else best_splits([A.shape for A in operands])

    def product(first: int, last: int) -> Any:
        if first == last:
            return operands[first]
        split = last - 1 if where is None else where[first, last]
        pair = (product(first, split), product(split + 1, last))
        return compute(Task("matmul", S, pair, replace(DEFAULTS, device=asked.device, check=asked.check), (None,)))

    try:
        result = product(0, len(operands) - 1)
    except SemiringError:
        _examine(read, asked)
        raise
    return labelled(chain, (given,), {}, result.reshape(final) if lowest and result.shape != final else result)


def _is_stack(matrices: Any) -> bool:
    """Whether this has the shape (T, …, n, n)."""
    shape = getattr(matrices, "shape", ())
    return isinstance(shape, tuple) and len(shape) > 2 and shape[-1] == shape[-2]


def _is_array_on_gpu(matrices: Any) -> bool:
    """Whether this is one array of two or more square matrices in a GPU's memory."""
    if not hasattr(matrices, "__dlpack_device__") or isinstance(matrices, np.ndarray) or not _is_stack(matrices):
        return False
    return matrices.shape[0] > 1 and device_of(matrices, "matrices") == CUDA


def _alone(A: Operand, asked: Options) -> Any:
    """The product of one matrix: a copy of it, after the checks that a product makes."""
    if len(A.shape) < 2:
        raise SemiringError(f"matrices[0] has shape {A.shape}: it must be a matrix, since it is the only one")
    if asked.device == "gpu" and not A.on_gpu:
        require_gpu(A.S, asked.device, A.dtype)
    _examine([A], asked)
    return as_product(on_host(A) if A.kind == "sparse" else A)


def _examine(operands: Sequence[Operand], asked: Options) -> None:
    """Refuse what is not an element: products call the same place by the operands of the product."""
    if asked.check:
        for A in operands:
            A.look()
            _ = A.facts


def _identity(stack: Any, S: Semiring) -> Any:
    """The product of an array without matrices, of shape (0, …, n, n)."""
    if S.product_only:
        raise SemiringError(f"{S.name} is not a semiring, so a product of no matrices is not known: pass one or more")
    A = on_host(operand(stack, S, "matrices"))
    return as_product(A.with_elements(np.empty(A.shape[1:], A.dtype)).eye())


def _on_gpu(matrices: Any, S: Semiring | str | None, asked: Options) -> Any:
    from .scan_on_gpu import product_of

    S = own_algebra("chain", (matrices,)) if S is None else algebra(S)
    refuse_sums(S)
    A = operand(matrices, S, "matrices")
    assert isinstance(A, Dense)
    return A.wrap(product_of(A, asked.check))


def _in_pairs(stack: np.ndarray, S: Semiring, asked: Options) -> Any:
    """The product of an array's matrices: of neighbours, then of those products, in T − 1 products altogether."""

    def product(A: Any, B: Any) -> Any:
        return compute(Task("matmul", S, (A, B), asked, (None,)))

    if S.product_only:
        return reduce(product, stack)
    rest = None  # what is left over on the right
    while len(stack) > 1:
        if len(stack) % 2:
            rest = stack[-1] if rest is None else product(stack[-1], rest)
            stack = stack[:-1]
        stack = product(stack[::2], stack[1::2])
    return stack[0] if rest is None else product(stack[0], rest)


def in_one_order(operands: Sequence[Operand]) -> list[Operand]:
    """Put neighbours with names of vertices or labels into the order of the first of them.

    A product has no labels, and with an array no names: two neighbours would then be matched by position.

    Raises
    ------
    GraphError
        If the vertices of two neighbours are different.
    """
    made: list[Operand] = []
    first: Operand | None = None
    for A in operands:
        first = (first or A) if A.of_graph else None
        made.append(A if first is None else aligned(A, first, A.what))
    for i in range(1, len(made)):
        made[i - 1], made[i] = in_order(made[i - 1], made[i])
    return [A if A.labels is None else A.changed(labels=None) for A in made]


def shape_of(operands: Sequence[Operand]) -> tuple[int, ...]:
    """The shape of the product; refuses neighbours that do not fit.

    Raises
    ------
    SemiringError
        If two neighbours do not fit; the message has their positions.
    """
    for i, A in enumerate(operands):
        if len(A.shape) < (1 if i in (0, len(operands) - 1) else 2):
            raise SemiringError(f"matrices[{i}] has shape {A.shape}: it must be a matrix; only the first and the last "
                                "can be a vector")
    for i, (A, B) in enumerate(pairwise(operands)):
        if A.dtype != B.dtype:
            raise SemiringError(f"matrices[{i}] is {dtype_text(A.dtype)} and matrices[{i + 1}] is "
                                f"{dtype_text(B.dtype)}; convert one with .astype(…)")
        if A.shape[-1] != B.shape[max(len(B.shape) - 2, 0)]:
            raise SemiringError(f"matrices[{i}] of shape {A.shape} and matrices[{i + 1}] of shape {B.shape} do not "
                                f"fit: one has {A.shape[-1]} columns, the other {B.shape[max(len(B.shape) - 2, 0)]} "
                                "rows")
    leading: tuple[int, ...] = ()
    for i, A in enumerate(operands):
        try:
            leading = np.broadcast_shapes(leading, A.shape[:-2])
        except ValueError:
            raise SemiringError(f"leading axes {A.shape[:-2]} of matrices[{i}] do not broadcast with {leading} of "
                                "those before it") from None
    first, last = operands[0].shape, operands[-1].shape
    return (*leading, *first[-2:-1], *(last[-1:] if len(last) > 1 else ()))


def best_splits(shapes: Sequence[tuple[int, ...]]) -> dict[tuple[int, int], int]:
    """The best split of each run of matrices in two: the one with the fewest multiply-adds.

    Parameters
    ----------
    shapes : sequence of tuple of int
        The shapes of matrices that fit, or of stacks; the first and the last may be vectors.

    Returns
    -------
    dict
        Maps the first and the last position of a run to the last position of its left part, the largest of equals.

    Examples
    --------
    >>> best_splits([(100, 2), (2, 100), (100, 3)])[0, 2]
    0
    """
    cost: dict[tuple[int, int], float] = {(i, i): 0.0 for i in range(len(shapes))}
    whole = {(i, i): shape for i, shape in enumerate(shapes)}  # the shape of each run's product
    splits: dict[tuple[int, int], int] = {}
    for length in range(1, len(shapes)):
        for i in range(len(shapes) - length):
            j = i + length
            for k in range(j - 1, i - 1, -1):
                found = product_shape(whole[i, k], whole[k + 1, j])
                total = cost[i, k] + cost[k + 1, j] + float(prod(found.full)) * found.depth
                if (i, j) not in cost or total < cost[i, j]:
                    cost[i, j], splits[i, j], whole[i, j] = total, k, found.final
    return splits


def _as_matrix(A: Operand, first: bool) -> Operand:
    """A vector as a row if it comes first, else as a column."""
    if len(A.shape) > 1 or not isinstance(A, Dense):
        return A
    array = A.array[None, :] if first else A.array[:, None]
    return A.changed(array=array, shape=array.shape)
