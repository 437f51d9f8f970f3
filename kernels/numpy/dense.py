"""The NumPy engine of arrays: an algebra's own expressions on whole arrays, a rank-1 update at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from time import perf_counter
from typing import Any, Self

import numpy as np

from semiring.algebra.evaluate import numpy_function
from semiring.algebra.expression import Expression, postorder
from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.lowering.base import Lowering

from . import library
from .logsum import HOST, LogSumProduct

STRIP = 1 << 15  # elements of C that are worked on at once: with their terms they stay in the cache
CALL = 1.5e-6  # seconds of a call of a NumPy function beside its work
ELEMENT = 0.8e-9  # seconds an element of one simple operation
SLOW = 15  # simple operations that one of these takes
SLOW_ONES = frozenset(
    "exp exp2 expm1 log log2 log10 log1p power float_power logaddexp logaddexp2 gcd lcm where".split()
)


class Operations:
    """The operations of an algebra on arrays of elements as a lowering stores them.

    Records may have other names for their fields than the lowering has: algebras that differ in names share an engine.

    Parameters
    ----------
    lowering : Lowering
        Of machine numbers or records of them.
    """

    def __init__(self, lowering: Lowering):
        self._storage, self._zero, parts = lowering.storage, lowering.zero, lowering.components
        self.zero, self.one = (_element(e, lowering.storage) for e in (lowering.zero, lowering.one))
        add, mul = lowering.add, lowering.scale
        self._select: np.ufunc | None = None
        if len(parts) == 1 and add.is_plain("minimum", "maximum"):
            # They drop a NaN, so that ⊗ may be taken as it may stand under ⊕.
            self._select = np.fmin if add.is_plain("minimum") else np.fmax
            mul = lowering.mul
        self._add = numpy_function(add.outputs, 2, parts, parts)
        self._times = numpy_function(mul.outputs, 2, parts, parts)
        self._scale = numpy_function(lowering.scale.outputs, 2, parts, parts)
        self._star = numpy_function(lowering.star.outputs, 1, parts, parts)
        self._defined = numpy_function((lowering.defined,), 1, parts, (np.dtype(bool),))
        term = _cost(mul.outputs) + _cost(add.outputs)
        self.calls, self.steps = term  # NumPy calls, and simple operations an element, of x ⊕ a ⊗ b

    def accumulate(self, C: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
        """C ← C ⊕ a ⊗ b, element by element; a and b broadcast."""
        terms, parts = self._times(_split(a), _split(b)), _split(C)
        if self._select is not None:
            self._select(parts[0], terms[0], out=parts[0])
            return
        results = self._add(parts, terms)
        if len(parts) > 1:  # a component that stays may be the array itself, which another is written to
            results = tuple(np.array(result) for result in results)
        for part, result in zip(parts, results, strict=True):
            part[...] = result

    def add(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """x ⊕ y."""
        return _joined(self._add(_split(x), _split(y)), np.broadcast_shapes(x.shape, y.shape), x.dtype)

    def scale(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """x ⊗ y, as it is stored."""
        return _joined(self._scale(_split(x), _split(y)), np.broadcast_shapes(x.shape, y.shape), x.dtype)

    def star(self, x: np.ndarray) -> np.ndarray:
        """x*, meaningless where it is not defined."""
        return _joined(self._star(_split(x)), x.shape, x.dtype)

    def defined(self, x: np.ndarray) -> np.ndarray:
        """Test which x have a star."""
        return np.broadcast_to(self._defined(_split(x))[0], x.shape)

    def clear(self, C: np.ndarray) -> None:
        """Make every element 0."""
        for part, zero in zip(_split(C), self._zero, strict=True):
            part[...] = zero

    def zeros(self, shape: tuple[int, ...]) -> np.ndarray:
        """A matrix of zeros."""
        result = np.empty(shape, self._storage)
        self.clear(result)
        return result

    def seconds(self, rounds: float, terms: float) -> float:
        """What so many rounds of `accumulate` with so many terms in all are predicted to take."""
        return rounds * self.calls * CALL + terms * self.steps * ELEMENT * max(self._storage.itemsize / 8, 0.5)


def _element(parts: tuple[Any, ...], dtype: np.dtype) -> Any:
    return np.array(parts, dtype)[()] if dtype.names else dtype.type(parts[0])


def _split(x: np.ndarray) -> tuple[np.ndarray, ...]:
    """The components of elements."""
    return tuple(x[name] for name in x.dtype.names) if x.dtype.names else (x,)


def _joined(results: tuple[Any, ...], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Elements from their components."""
    if dtype.names is None:
        return np.broadcast_to(results[0], shape)
    out = np.empty(shape, dtype)
    for name, part in zip(dtype.names, results, strict=True):
        out[name] = part
    return out


def _cost(outputs: tuple[Expression, ...]) -> np.ndarray:
    """NumPy calls, and simple operations an element."""
    counted = [e.op for e in postorder(outputs) if e.op not in ("input", "constant")]
    return np.array([1 + len(counted), 1 + sum(SLOW if op in SLOW_ONES else 1 for op in counted)], float)


@lru_cache(1024)
def operations(lowering: Lowering) -> Operations:
    """The operations of a lowering."""
    return Operations(lowering)


class ArrayBlocks:
    """What all engines of NumPy arrays do alike; matrices are stacks of one. An engine adds `_product`."""

    tile: int
    _add_one: Callable[[np.ndarray], np.ndarray]  # 1 ⊕ each element of a vector
    _product: Callable[[np.ndarray, np.ndarray, np.ndarray, bool], None]  # C ⊕ A ⊗ B, or A ⊗ B, of stacks

    @property
    def unchecked(self) -> Self:
        """Itself: nothing on the host waits."""
        return self

    def multiply_add(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        """C ← C ⊕ A ⊗ B; C overlaps neither A nor B."""
        self._product(C[None], A[None], B[None], True)

    def multiply(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        """C ← A ⊗ B; what C held is not read. C overlaps neither A nor B."""
        self._product(C[None], A[None], B[None], False)

    def multiply_add_stack(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        """C[s] ← C[s] ⊕ A[s] ⊗ B[s] for every s, in one call; A and B may repeat a matrix by a zero stride."""
        self._product(C, A, B, True)

    def multiply_stack(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        """C[s] ← A[s] ⊗ B[s] for every s, in one call; A and B may repeat a matrix by a zero stride."""
        self._product(C, A, B, False)

    def left(self, D: np.ndarray, R: np.ndarray) -> None:
        """R ← D ⊗ R in place; D is square and does not overlap R."""
        self.multiply(R, D, R.copy())

    def right(self, C: np.ndarray, D: np.ndarray) -> None:
        """C ← C ⊗ D in place; D is square and does not overlap C."""
        self.multiply(C, C.copy(), D)

    def closes_whole(self, n: int) -> bool:
        """Whether `close` is the best way to close a whole matrix of this order."""
        return n <= self.tile

    def add_one(self, A: np.ndarray) -> None:
        """A ← 1 ⊕ A."""
        i = np.arange(A.shape[0])
        A[i, i] = self._add_one(A[i, i])

    def like(self, A: np.ndarray) -> np.ndarray:
        """A matrix of the same shape, in C order."""
        return np.empty(A.shape, A.dtype)

    def equal(self, A: np.ndarray, B: np.ndarray) -> bool:
        """Whether both hold the same elements."""
        return bool(np.array_equal(A, B))

    def assign(self, A: np.ndarray, B: np.ndarray) -> None:
        """A ← B."""
        A[...] = B

    def set_diagonal(self, A: np.ndarray, values: np.ndarray) -> None:
        """a_ii ← the values."""
        i = np.arange(A.shape[0])
        A[i, i] = values


class ArrayKernel(ArrayBlocks):
    """The kernel interface over NumPy arrays in a lowering's storage; see `semiring.kernels.interface`.

    Blocks are NumPy arrays of any strides; what is only read may be read-only. Every entry of C takes its terms in
    ascending k, as in the compiled engine.

    Parameters
    ----------
    lowering : Lowering
        Of machine numbers or records of them.
    code : Code
        Called with the time of each piece of work.
    """

    align = 1
    threads = 1
    place = "CPU, 1 thread, NumPy"  #: where it computes, in words

    def __init__(self, lowering: Lowering, code: Code):
        self._lowering, self.dtype, self._blas = lowering, lowering.storage, lowering.blas
        self._add_one = lowering.add_one
        self._code = code
        #: order of a block that `close` takes directly: it stays in the cache, and what is left to the BLAS is large
        self.tile = 128 if lowering.blas else 32 if lowering.log_sum else 256
        self._log_sums = LogSumProduct(lowering.log_sum, HOST) if lowering.log_sum else None

    @cached_property
    def _operations(self) -> Operations:
        return operations(self._lowering)

    def _product(self, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: bool) -> None:
        (batch, m, n), k = C.shape, A.shape[2]
        if A.shape != (batch, m, k) or B.shape != (batch, k, n):
            library.check_shapes(C, A, B)  # refuses them; a call to find that they fit would take a microsecond
        if self._log_sums:
            self._log_sums(C, A, B, accumulate, self._by_terms)
        elif not (self._blas and library.product(C, A, B, accumulate)):
            self._by_terms(C, A, B, accumulate)

    def _by_terms(self, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: bool) -> None:
        if not accumulate:
            self._operations.clear(C)
        self._add_products(C, A, B)

    def _add_products(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        batch, m, n = C.shape
        depth = A.shape[2]
        accumulate, height = self._operations.accumulate, max(STRIP // max(batch * n, 1), 1)
        began = perf_counter()
        for top in range(0, m, height):
            strip, left = C[:, top : top + height], A[:, top : top + height]
            for k in range(depth):
                accumulate(strip, left[:, :, k, None], B[:, k, None, :])
        self._code.spent += perf_counter() - began  # by hand: `renting` would be two steps more in every small call

    def close(self, D: np.ndarray) -> int:
        """D ← D* in place; returns −1, or the first pivot without a star, and then leaves D as it was."""
        return int(self.close_stack(D[None])[0])

    def close_stack(self, D: np.ndarray) -> np.ndarray:
        """D[s] ← D[s]* for every s; returns −1 or the first pivot without a star, for each."""
        batch, n, columns = D.shape
        if n != columns:
            raise ValueError(f"a block to close must be square, not {n} × {columns}")
        began = perf_counter()
        failed, step = np.full(batch, -1), max(2 * STRIP // max(n * n, 1), 1)
        for first in range(0, batch, step):
            some = slice(first, first + step)
            X = D[some].copy()
            found = np.full(len(X), -1)
            for k in range(n):
                self._eliminate(X, k, found)
            fine = found < 0
            D[some][fine] = X[fine]
            failed[some] = found
        self._code.spent += perf_counter() - began
        return failed

    def _eliminate(self, X: np.ndarray, k: int, failed: np.ndarray) -> None:
        """Pivot k of every matrix: x_ij ← x_ij ⊕ x_ik ⊗ x_kk* ⊗ x_kj, with a star where i or j is k."""
        S, pivots = self._operations, X[:, k, k].copy()
        failed[(failed < 0) & ~S.defined(pivots)] = k
        stars = S.star(pivots)[:, None]
        row, column = S.scale(stars, X[:, k]), X[:, :, k].copy()
        S.accumulate(X, column[:, :, None], row[:, None, :])
        X[:, k], X[:, :, k] = row, S.scale(column, stars)
        X[:, k, k] = stars[:, 0]

    def add(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """x ⊕ y, element by element."""
        return self._operations.add(x, y)

    def zeros(self, shape: tuple[int, ...]) -> np.ndarray:
        """An array of zeros."""
        return self._operations.zeros(shape)

    def diagonal(self, A: np.ndarray, D: np.ndarray) -> np.ndarray:
        """The vector of ⊕ over k of A[i, k] ⊗ D[k, i]: the diagonal of A ⊗ D."""
        if A.shape != D.shape[::-1]:
            raise ValueError(f"shapes {A.shape} and {D.shape} do not fit")
        out = np.empty(A.shape[0], A.dtype)
        self._operations.clear(out)
        for k in range(A.shape[1]):
            self._operations.accumulate(out, A[:, k], D[k])
        return out


def seconds(lowering: Lowering, rounds: float, terms: float) -> float:
    """What the NumPy engine is predicted to take: so many steps of k with so many terms ⊗ in all."""
    if lowering.blas or (lowering.log_sum and rounds >= HOST.least_depth):
        return 1e-5 + terms * 1e-10
    return operations(lowering).seconds(rounds * max(terms / max(rounds, 1) / STRIP, 1), terms)
