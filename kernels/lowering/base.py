"""How an algebra is computed on data of a dtype: what is stored, which expressions run, how results come back.

A lowering is chosen by what the expressions are and by facts about the data, never by an algebra's name. Each is an
isomorphism on the elements that can occur, so that closures and products may run wholly on the encoded side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np

from semiring.algebra.elements import sequence
from semiring.algebra.evaluate import numpy_function
from semiring.algebra.expression import Expression, Traced, apply, constant, equals
from semiring.algebra.proofs import Range
from semiring.algebra.semiring import Semiring
from semiring.kernels.facts import Facts

from .logsum import LogSum


class Test(NamedTuple):
    """Whether an operand of ⊗ is zero, and ⊗ of operands that are not."""

    absorbed: Expression
    mul: Traced


class ByElement(NamedTuple):
    """How one element of the data enters storage and leaves it, as Python that Numba compiles, of `{0}`.

    Attributes
    ----------
    enter, leave : str
    strange : str
        Whether the form may be wrong for an element of the data.
    leaves : str
        Whether the data's dtype cannot hold an element of a result.
    bits : bool
        Whether `enter` takes, and `leave` gives, the bits of an element as an integer.
    """

    enter: str = "{0}"
    leave: str = "{0}"
    strange: str = "False"
    leaves: str = "False"
    bits: bool = False


AS_IT_IS = ByElement()


@dataclass(frozen=True, eq=False)  # made once for each condition, and kept: one object is one lowering
class Lowering:
    """An algebra on storage of its own; `recode` holds the functions behind `encode` and `decode`."""

    on_gpu: ClassVar[bool] = False  # whether data and storage are in a GPU's memory

    name: str
    reason: str
    algebra: Semiring
    dtype: np.dtype  # of the data
    storage: np.dtype
    kind: str  # "numba", "cuda", "packed", "planes" or "objects": which engine runs it
    add: Traced
    mul: Traced  # as it may stand under ⊕, which may drop what is not an element
    scale: Traced  # ⊗ whose result is stored
    star: Traced
    defined: Expression
    zero: tuple[Any, ...]
    one: tuple[Any, ...]
    fused_sum: bool = False  # ⊗ of floats is x + y, and ⊕ drops NaN
    blas: bool = False  # ⊕ and ⊗ are + and × of a float type that BLAS knows
    inverts: bool = False  # and the star is 1 / (1 − a), so that closures are inverses
    dual: bool = False  # of dual numbers over the reals, whose first parts have inverses for closures
    log_sum: LogSum | None = None  # ⊕ is a log-sum-exp and ⊗ the sum: products by BLAS, of powers
    recode: tuple[Callable[[np.ndarray, bool], Any], Callable[[Any], np.ndarray]] | None = None
    clean: Callable[[np.ndarray], None] | None = None  # writes zero wherever storage has something that reads as zero
    flipped: int = 0  # the bits of negative numbers that storage has flipped, if this is all that `encode` does
    by_element: ByElement | None = AS_IT_IS  # `recode` for compiled code; None where only whole arrays are converted
    compiled: bool = True  # else NumPy runs the expressions as they stand
    within: Range | None = None  # where all elements lie, if that is known of the data and more than of the carrier

    @cached_property
    def is_identity(self) -> bool:
        """Whether storage holds the data as they are."""
        return self.recode is None

    @cached_property
    def drops_nan(self) -> bool:
        """Whether NaN, if it comes up, never stays in a result: ⊕ is min or max."""
        return self.kind not in ("numba", "cuda") or self.add.is_plain("minimum", "maximum")

    def encode(self, array: np.ndarray, copy: bool) -> Any:
        """An array of the data's dtype in storage; its own memory may be used where `copy` is false."""
        return np.array(array, copy=copy or None) if self.recode is None else self.recode[0](array, copy)

    def decode(self, stored: Any) -> np.ndarray:
        """Storage as an array of the data's dtype, in the same memory where that is possible."""
        return stored if self.recode is None else self.recode[1](stored)

    def cleaned(self, stored: np.ndarray) -> np.ndarray:
        """Storage that something was computed in, as `encode` would have it: zero is zero to the bit."""
        if self.clean is not None:
            self.clean(stored)
        return stored

    @cached_property
    def components(self) -> tuple[np.dtype, ...]:
        """Storage dtypes of an element's components."""
        return tuple(self.storage[f] for f in self.storage.names) if self.storage.names else (self.storage,)

    @cached_property
    def interpreted(self) -> Self:
        """The same, run by NumPy."""
        return replace(self, compiled=False)

    @cached_property
    def in_machine_code(self) -> Self:
        """The same, compiled."""
        return replace(self, compiled=True)

    @cached_property
    def compiles(self) -> Self:
        """The same without the functions that convert data: what is compiled for it, and can be sent to a process."""
        return self if self.recode is None else replace(self, recode=None, clean=None)

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """What compiled code depends on."""
        return (
            self.kind, self.add, self.mul, self.scale, self.star, self.defined, self.components, self.zero, self.one,
            self.fused_sum, self.blas, self.inverts, self.log_sum, self.within,
            self.algebra if self.kind == "objects" else None,
        )

    @cached_property
    def test_for_zero(self) -> Test | None:
        """The test that `mul` begins with, and ⊗ without it; None where there is no test."""
        ops, first = self.algebra.traced, self.mul.outputs[0]
        assert ops
        zero = [constant(z) for z in self.algebra.components_of(self.algebra.zero)]
        absorbed = apply("logical_or", *(equals(ops.raw_mul.operand(i), zero) for i in range(2)))
        if any(e.op != "where" or e.args[:2] != (absorbed, z) for e, z in zip(self.mul.outputs, zero, strict=False)):
            return None
        return Test(first.args[0], replace(self.mul, outputs=tuple(e.args[2] for e in self.mul.outputs)))

    @cached_property
    def by_library(self) -> bool:
        """Whether products are ordinary matrix products, by BLAS: of the numbers, or of their powers."""
        return self.blas or self.log_sum is not None

    def for_product(self, facts: Facts) -> Lowering:
        """The form for C ⊕ A ⊗ B of data of which the facts hold: none of the results is multiplied again."""
        return self

    @cached_property
    def without_test(self) -> Self:
        """The same for C ⊕ A ⊗ B of data without a zero, where ⊗ begins with a test for it; else this form itself."""
        test = self.test_for_zero
        if test is None:
            return self
        return replace(self, name="no zero", reason="no element is zero, so that none needs a test", mul=test.mul)

    def empty(self, shape: tuple[int, ...]) -> Any:
        """A matrix in storage that holds anything."""
        return np.empty(shape, self.storage)

    @cached_property
    def unit(self) -> Any:
        """1 in storage."""
        return self.one[0] if not self.storage.names else np.array(self.one, self.storage)

    def matrix_bytes(self, n: int) -> int:
        """Bytes of a matrix of n × n in storage."""
        return n * n * self.storage.itemsize

    def add_one(self, diagonal: np.ndarray) -> np.ndarray:
        """1 ⊕ each element of a vector in storage."""
        if self.kind == "objects":
            ones = sequence([self.algebra.one] * len(diagonal), np.dtype(object))
            return np.asarray(self.algebra.over(object).add(ones, diagonal))
        names = diagonal.dtype.names  # algebras whose records differ in the names of their fields share an engine
        parts = tuple(diagonal[f] for f in names) if names else (diagonal,)
        results = numpy_function(self.add.outputs, 2, self.components, self.components)(self.one, parts)
        if not names:
            return np.asarray(results[0])
        out = np.empty_like(diagonal)
        for f, r in zip(names, results, strict=True):
            out[f] = r
        return out

    def improves(self, diagonal: np.ndarray) -> np.ndarray:
        """Test which elements of a vector in storage change 1: 1 ⊕ a ≠ 1."""
        total = self.add_one(diagonal)
        if self.kind == "objects":  # they may be sequences, which NumPy would take for arrays
            return np.fromiter((bool(x != self.unit) for x in total.tolist()), bool, len(total))
        return np.asarray(total != self.unit)


AnyLowering = TypeVar("AnyLowering", bound=Lowering)
