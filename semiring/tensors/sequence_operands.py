"""Chains and scans as the operators of tensor libraries take them: with leading axes that such a library may add to.

When a library maps a function over an axis, each operand gets one more leading axis. So all operands of a chain have
the same number of leading axes here, and a matrix for all steps has an axis of steps of length 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semiring.algebra.arguments import truth_value
from semiring.algebra.semiring import Semiring
from semiring.operands.devices import is_on_gpu, module_of
from semiring.shapes.sequences.chain import chain
from semiring.shapes.sequences.forward import forward
from semiring.shapes.sequences.layout import layout
from semiring.shapes.sequences.scan import fit_initial, scan

from .sequence_gradients import forward_gradients, scan_gradients

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Chains:
    """How the sequences of a call of `forward` lie in its operands.

    Attributes
    ----------
    rows : int
        Rows of a sequence with its padding, or of all sequences.
    joined : bool
        Whether sequences come one after the other.
    emits : bool
        Whether there are emissions.
    reverse : bool
    """

    rows: int
    joined: bool
    emits: bool
    reverse: bool

    def values(self, S: Semiring, *given: np.ndarray) -> np.ndarray:
        """The rows, for x, the stack, emissions and lengths; without the latter two where there are none."""
        if self._is_mapped(*given):
            return self._each(lambda *each: (self.values(S, *each),), *given)[0]
        x, stack, options = self._options(*given)
        answer: np.ndarray = forward(x, stack, S, **options)
        return answer

    def gradients(self, S: Semiring, G: np.ndarray, rows: np.ndarray, *given: np.ndarray) -> tuple[np.ndarray, ...]:
        """The derivatives for x, the stack and emissions."""
        if self._is_mapped(*given):
            return self._each(lambda g, r, *each: self.gradients(S, g, r, *each), G, rows, *given)
        x, stack, options = self._options(*given)
        found = forward_gradients(S, G, rows, x, stack, **options)
        return tuple(each for each in found if each is not None)

    def _options(self, x: np.ndarray, stack: np.ndarray, *rest: np.ndarray) -> tuple[Any, Any, dict[str, Any]]:
        options: dict[str, Any] = {"reverse": self.reverse}
        if self.emits:
            options["emissions"], *rest = rest  # type: ignore[assignment]
        else:
            options["steps"] = self.rows - 1
        if rest:
            options["lengths"] = rest[0]
        return x, stack, options

    def _is_mapped(self, *given: np.ndarray) -> bool:
        """Whether sequences that come one after the other have leading axes, which `forward` would not know."""
        return self.joined and given[2].ndim > 2

    @staticmethod
    def _each(compute: Callable[..., tuple[Any, ...]], *given: np.ndarray) -> tuple[Any, ...]:
        return tuple(module_of(parts[0]).stack(parts) for parts in zip(*map(compute, *given), strict=True))


def chains_of(x: Any, stack: Any, emissions: Any, lengths: Any, steps: int | None, reverse: bool) -> Chains:
    """Find how the sequences lie from arrays of any kind; lengths are examined when there are rows to compute.

    Raises
    ------
    SemiringError
        If shapes do not fit together.
    """
    emits = emissions is not None
    if emits and lengths is not None and emissions.ndim == 2:
        return Chains(emissions.shape[0], True, True, truth_value(reverse, "reverse"))
    found = layout(tuple(x.shape), tuple(stack.shape), tuple(emissions.shape) if emits else None, None, steps)
    return Chains(found.shape[-2], False, emits, truth_value(reverse, "reverse"))


def with_axes(chains: Chains, x: Any, stack: Any, emissions: Any) -> tuple[Any, ...]:
    """The operands with as many leading axes as any of them has; also of libraries whose arrays have `reshape`."""
    if stack.ndim == 2:
        stack = stack.reshape(1, *stack.shape)
    own = [(x, 1), (stack, 3), *([(emissions, 2)] if chains.emits else [])]
    if chains.joined:
        return tuple(array for array, _ in own)
    most = max(array.ndim - axes for array, axes in own)
    return tuple(array.reshape(*(1,) * (most - array.ndim + axes), *array.shape) for array, axes in own)


def initial_with_axes(stack: Any, initial: Any, reverse: bool) -> Any:
    """The matrix before a stack of shape (…, T, n, n), or None, with as many leading axes as its sequences have.

    Raises
    ------
    SemiringError
        If it does not fit.
    """
    if initial is None:
        return None
    fit_initial(tuple(stack.shape), tuple(initial.shape), truth_value(reverse, "reverse"))
    return initial.reshape(*(1,) * (stack.ndim - 1 - initial.ndim), *initial.shape)


def products(S: Semiring, stack: np.ndarray, initial: np.ndarray | None, reverse: bool) -> np.ndarray:
    """The scan of stacks of shape (…, T, n, n)."""
    answer: np.ndarray = scan(stack, S, axis=-3, reverse=reverse, initial=initial)
    return answer


def last_product(S: Semiring, stack: Any) -> Any:
    """The chain of stacks of shape (…, T, n, n)."""
    if stack.shape[-3] == 1:  # which `chain` would copy
        return products(S, stack, None, False)[..., 0, :, :]
    matrices: Any = module_of(stack).moveaxis(stack, -3, 0)
    return chain(matrices, S, device="gpu" if is_on_gpu(stack) else "cpu")


def last_product_gradient(S: Semiring, G: Any, stack: Any) -> Any:
    """The derivative for a stack of a number whose derivative for its chain is G."""
    every = products(S, stack, None, False)
    of_every = module_of(stack).zeros(every.shape, G.dtype)
    if stack.shape[-3]:
        of_every[..., -1, :, :] = G
    return scan_gradients(S, of_every, every, stack)[0]
