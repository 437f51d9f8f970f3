"""`einsum`: sums of products of arrays with named axes, over any algebra.

    einsum("ij,jk->ik", A, B, S=S)
      → one product of two arrays as they are: `matmul`                        direct, kept by expression and shapes
      → parse, fit      which axes each operand has                            notation.py
      → operands        read, of one dtype, vertices in one order              reading.py
      → one product of two matrices, one of them sparse or packed: `matmul`
      → Steps           sums of single axes, then pairs, in the cheapest order contraction.py, algorithms/contraction.py
      → nests           many pairs of arrays with short axes, at once          nested.py, nests.py
      → run             else each pair as a stack of products                  running.py, on_gpu.py
      → assignment      with argmax: the walk back                             nested.py, running.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from semiring.algebra.catalogue import catalogue
from semiring.algebra.elements import equal, full
from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import dtype_text
from semiring.errors import LawError, SemiringError
from semiring.kernels.numpy.folds import NotElements
from semiring.machine.memory import require
from semiring.matrices import matmul
from semiring.operands.devices import is_on_gpu, to_host, upload
from semiring.operands.operand import Operand
from semiring.solvers.forms import written
from semiring.solvers.plan import Plan
from semiring.solvers.products.arrays import can_hold
from semiring.solvers.task import UNCHECKED_BYTES, Task, options

from ..planned import SHAPES
from . import nested as nested_way
from .contraction import Optimize, Steps, read_optimize
from .notation import Axis, Terms, fit, parse, read_lists, refuse_count
from .on_gpu import run_on_gpu
from .planning import plan_of
from .reading import STORED, Operands, algebra_of
from .running import assignment, refuse_range, run

ndarray = np.ndarray
P = ParamSpec("P")
R = TypeVar("R")
KEPT = 1024  # expressions with shapes that are known at once
Turn = tuple[int, ...] | None
DIRECT: dict[tuple[str, tuple[int, ...], tuple[int, ...]], tuple[Turn, Turn] | None] = {}


def with_short_way(build: Callable[P, R]) -> Callable[P, R]:
    """Make the verb of the function that builds its task: a single product of two arrays goes to `matmul` at once."""
    SHAPES[build.__name__] = build  # type: ignore[assignment]

    @wraps(build)
    def computed(expression: Any, *operands: Any, **chosen: Any) -> Any:
        if len(operands) == 2 and chosen.keys() <= {"S", "out", "check"}:
            A, B = operands
            if type(A) is type(B) and (type(A) is ndarray or is_on_gpu(A)) and type(expression) is str:
                turn = _direct(expression, A.shape, B.shape)
                if turn is not None:
                    return _product(A, B, turn, expression, **chosen)
        return build(expression, *operands, **chosen).answer()  # type: ignore[attr-defined]

    return computed  # type: ignore[return-value]


@with_short_way
def einsum(
    expression: Any, *operands: Any, S: Semiring | str | None = None, argmax: bool = False, optimize: Optimize = True,
    out: Any = None, check: bool = True,
) -> Any:
    """Sum products of arrays over axes, as `numpy.einsum` does, over a semiring.

    Each entry of the answer is the ⊕, over all axes that the answer lacks, of the ⊗ of one entry of each operand:
    ``einsum("ij,jk->ik", A, B, S=S)`` is the matrix product, ``einsum("ij->i", A, S=S)`` sums rows.

    Parameters
    ----------
    expression : str
        The axes of each operand, with commas between operands, and after ``->`` those of the answer. Axes are letters,
        as in ``"bij,jk->bik"``. If a term has a blank between two axes, a digit or an underscore, all axes are names:
        ``"batch i j, j k -> batch i k"``. An axis that is twice in an operand takes its diagonal. ``...`` stands for
        axes without a name, which broadcast as in NumPy. Without ``->`` the answer has those axes, and then the axes
        that occur once, sorted.
    *operands : array_like, any shapes
        One for each term: NumPy or CuPy arrays of any strides, vectors and numbers too, or what `matmul` takes. All
        have one dtype; Python numbers adapt to it. If one is on a GPU, the einsum is computed there. If two operands
        have names along one axis, as each `Matrix` may, the second is put into the order of the first. Sparse and
        packed matrices stay so if the einsum is a product of two matrices, which `matmul` then computes; otherwise they
        are made dense. Instead of an expression, a list of axes can follow each operand:
        ``einsum(A, [0, 1], B, [1, 2], [0, 2], S=S)``; the last one is for the answer. An axis is then any integer,
        string or tuple.
    S : Semiring or str, optional
        Default: the algebra of a `Matrix` or of a prepared operand.
    argmax : bool
        Also return which term each entry is: the place along each axis that is summed. Needs a selective ⊕.
    optimize : bool or sequence
        True: find the order with the fewest multiply-adds. False: multiply from left to right. Or a path as
        `numpy.einsum_path` and opt_einsum's ``contract_path`` give it.
    out : ndarray, optional
        Where to write the answer: writable, of the answer's shape and dtype, in any byte order. It is returned. It may
        be an operand. It is a CuPy array only if an operand is on the GPU.
    check : bool
        Whether to check the entries; without it the answer is undefined where one is not an element.

    Returns
    -------
    ndarray or Matrix, shape (…), or scalar
        With the axes of the answer in their order, of the dtype and kind of the first operand. If that is a `Matrix`,
        the answer is one if it has two axes, both of which are rows or columns of a `Matrix`. Otherwise it is a CuPy
        array if any operand is on a GPU. A product of two matrices, of which one is sparse or packed, is what `matmul`
        returns.
    argmax : dict of ndarray of int32
        If wanted: for each axis that is summed, its place in the winning term, by the axes of the answer; −1 where the
        answer is zero. If several terms are equal, one of them. A `csr_array` in a product of two sparse matrices.

    Raises
    ------
    LawError
        If `argmax` is wanted and ⊕ does not select.
    SemiringError
        If the expression cannot be read, shapes or dtypes do not fit, an entry is not an element, no algebra is given,
        or memory is short.
    GraphError
        If one axis has different names of vertices in two operands.

    Notes
    -----
    By the distributive law axes that only one operand has are summed first, and then two arrays at a time are
    multiplied. If ⊗ does not commute, operands keep their order, and only neighbours are multiplied. Over an algebra
    with products only, where the law may not hold, operands are multiplied from left to right, and all axes are summed
    with the last product. ``sr.plan("einsum", …)`` shows the steps. Floats are rounded as in `matmul` in each step. The
    order of the steps: R. Dechter, Bucket elimination: a unifying framework for reasoning (1999).

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> A, v = np.array([[0.0, 3.0], [1.0, 5.0]]), np.array([4.0, 0.0])
    >>> sr.einsum("ij,j->i", A, v, S=sr.min_plus)
    array([3., 5.])

    The best pair, and where it is:

    >>> value, places = sr.einsum("row column, row ->", A, v, S=sr.min_plus, argmax=True)
    >>> print(value, places["row"], places["column"])
    1.0 1 0
    """
    return EinsumTask(expression, operands, S, argmax, optimize, out, check)


def _direct(expression: str, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[Turn, Turn] | None:
    """How to turn two arrays so that their product is the answer; None if a product needs more than that."""
    key = expression, a, b
    if key not in DIRECT:
        if len(DIRECT) >= KEPT:
            DIRECT.clear()
        fitted = fit(parse(expression), (a, b))
        DIRECT[key] = _turns(fitted.operands[0], fitted.operands[1], fitted.output)
    return DIRECT[key]


def _turns(
    left: tuple[Axis | None, ...], right: tuple[Axis | None, ...], output: tuple[Axis, ...]
) -> tuple[Turn, Turn] | None:
    """The orders of axes in which two arrays are stacks that `matmul` multiplies into the answer."""
    both = [a for a in left if a in right]
    summed = [a for a in both if a not in output]
    batch = [a for a in both if a in output]
    rows, columns = ([a for a in own if a not in both] for own in (left, right))
    if len({*left}) < len(left) or len({*right}) < len(right) or None in (*left, *right):
        return None
    if len(summed) != 1 or len(columns) > 1 or tuple(batch + rows + columns) != output:
        return None
    if batch and not (len(rows) == 1 and columns):  # without a batch, `matmul` repeats B for all but the last rows
        return None
    orders = (batch + rows + summed, left), (batch + summed + columns, right)
    first, second = (None if tuple(to) == own else tuple(own.index(a) for a in to) for to, own in orders)
    return first, second


def _product(
    A: Any, B: Any, turn: tuple[Turn, Turn], expression: str, S: Any = None, **others: Any
) -> Any:
    """The answer by one product; an error names the operands as they were passed, if it is about one of them."""
    first, second = turn
    left = A if first is None else A.transpose(first)
    right = B if second is None else B.transpose(second)
    try:
        return matmul(left, right, S, **others)
    except SemiringError:
        EinsumTask(expression, (A, B), S).given.examine()
        raise


@lru_cache(KEPT)
def _steps(
    terms: Terms, shapes: tuple[tuple[int, ...], ...], commutes: bool, distributes: bool, optimize: Any
) -> Steps:
    return Steps(fit(terms, shapes), commutes, distributes, optimize)


class EinsumTask:
    """An einsum: its operands, read, and its steps.

    Parameters
    ----------
    expression, operands, S, argmax, optimize, out, check
        As for `einsum`.
    """

    def __init__(
        self, expression: Any, operands: tuple[Any, ...], S: Any, argmax: bool = False, optimize: Optimize = True,
        out: Any = None, check: bool = True,
    ):
        given = list(operands)
        if isinstance(expression, str):
            terms = parse(expression)
        else:
            given, terms = read_lists([expression, *operands])
        _refuse_algebra(given)
        refuse_count(terms, len(given))
        self.options, self.out = options(argmax=argmax, check=check), out
        self.S, self.terms, self.argmax = algebra_of(given, S), terms, bool(argmax)
        if self.argmax and not self.S.selective:
            raise LawError(f"argmax needs a selective ⊕ (one whose result is always one of its operands); in "
                           f"{self.S.name} {self.S._law_report.flags['selective']}")
        if self.argmax and out is not None:
            raise SemiringError("argmax=True returns the answer and the winning terms: leave out out")
        how = read_optimize(optimize)
        self.given = Operands(given, self.S)
        self.steps = _steps(terms, self.given.shapes, self.S.commutative, not self.S.product_only, how)
        self.given.align(self.steps.fitted)
        self.product = self._of_stored()
        if self.product is None:
            self._check_out()

    def _of_stored(self) -> Task | None:
        """The product of two matrices of which one is sparse or packed; None for any other einsum."""
        fitted, X = self.steps.fitted, self.given.operands
        if not self.given.stored(("sparse",) if self.argmax else STORED) or max(len(A.shape) for A in X) > 2:
            return None
        turn = _turns(fitted.operands[0], fitted.operands[1], fitted.output) if len(X) == 2 else None
        if turn is None or any(A.on_gpu and t is not None for A, t in zip(X, turn, strict=True)):
            return None
        factors = [A if t is None else _transposed(A) for A, t in zip(X, turn, strict=True)]
        return Task("matmul", self.S, factors, self.options, (self.out,))

    def _check_out(self) -> None:
        shape = tuple(self.steps.sizes[a] for a in self.steps.fitted.output)
        reachable = self.given.on_gpu or not is_on_gpu(self.out)
        holds = reachable and can_hold(self.out, shape, self.S, self.given.dtype)
        if self.out is not None and not holds:
            raise SemiringError(f"out must be a writable, unmasked {dtype_text(self.given.dtype)} array of shape "
                                f"{shape}")

    def plan(self) -> Plan:
        """What would be computed, in which order; nothing is allocated."""
        if self.product is not None:
            return self.product.plan()
        return plan_of(self.S, self.given, self.terms.text, self.steps, self.argmax, self.options.check,
                       lambda _: self.answer())

    def answer(self) -> Any:
        """The answer."""
        if self.product is not None:
            return self._multiplied(self.product)
        steps, S, check = self.steps, self.S, self.options.check
        nested = nested_way.offer(steps, S, self.given, self.argmax, check)
        needed = nested.bytes if nested else steps.bytes(self.given.dtype.itemsize, self.argmax)
        if needed > UNCHECKED_BYTES:
            require(needed, *self.plan().shortage, on_gpu=self.given.on_gpu)
        try:
            found = nested.answer(self.given.as_arrays(), self.argmax, check) if nested else None
            result, places = found or self._by_products(check)
        except (SemiringError, NotElements) as e:
            self.given.examine()  # which says what is wrong, and where, if it is an operand
            if isinstance(e, NotElements):
                refuse_range(S, self.given.dtype)
            if len(steps.steps) == 1:
                raise
            raise SemiringError(f"on the way to the answer, in arrays between it and the operands: {e}") from None
        if self.out is not None:
            return written(self.out, result)
        answer = self.given.wrapped(result, steps.fitted.output)
        if not self.argmax:
            return answer
        return answer, {axis: which[()] for axis, which in places.items()}

    def _by_products(self, check: bool) -> tuple[Any, dict[Axis, Any]]:
        """The answer by products of stacks; if wanted with the places of its winning terms."""
        steps, S = self.steps, self.S
        if check:
            self.given.examine(None if self.given.dtype == object else steps.unseen)
        with nested_way.renting(steps, S, self.given, self.argmax, check):
            compute = run_on_gpu if self.given.on_gpu else run
            result, won = compute(steps, S, self.given.as_arrays(), self.argmax, check)
        if not self.argmax or len(steps.fitted.output) == len(steps.sizes):  # no axis is summed
            return result, {}
        nothing = is_zero(result, S.over(result.dtype).zero)
        return result, assignment(steps, won, nothing)

    def _multiplied(self, product: Task) -> Any:
        """The answer of `matmul`."""
        try:
            found = product.answer()
        except SemiringError:
            self.given.examine()  # which calls the operands as they were passed
            raise
        if not self.argmax:
            return found
        (axis,) = set(self.steps.sizes).difference(self.steps.fitted.output)
        return found[0], {axis: found[1]}


def is_zero(result: Any, zero: Any) -> Any:
    """Tell for each element of an answer whether it is zero, on its device.

    The host compares records of a GPU, in a copy.
    """
    if is_on_gpu(result) and result.dtype.names is None:
        return result == zero
    if not is_on_gpu(result):
        return np.asarray(equal(result, full(result, zero)), bool)
    from semiring.kernels.cuda.compile.launch import in_c_order

    copy = to_host(in_c_order(result))
    return upload(np.asarray(equal(copy, full(copy, zero)), bool))


def _refuse_algebra(given: Sequence[Any]) -> None:
    """Refuse an algebra among the operands."""
    if any(isinstance(A, Semiring) or (isinstance(A, str) and A.replace("-", "_") in catalogue) for A in given):
        raise SemiringError("einsum takes the algebra by name, after the operands: S=sr.min_plus")


def _transposed(X: Operand) -> Operand:
    """A transposed matrix; answers are still of its kind."""
    return X.T.changed(of_graph=X.of_graph, answers=X.answers, library=X.library, callers_dtype=X.callers_dtype)
