"""Whether ⊕ is the logarithm of a sum of powers, so that products are ordinary ones of the powers."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.arithmetic import Operations
from semiring.algebra.expression import Expression, apply, operand
from semiring.algebra.semiring import Semiring


class LogSum(NamedTuple):
    """x ⊕ y = log(eˣ + eʸ), x ⊗ y = x + y and 0 = −∞, to this base; or the same of −x and −y, negated."""

    binary: bool = False  # to base 2, else to base e
    negated: bool = False  # −log(e⁻ˣ + e⁻ʸ), whose zero is +∞


def log_sum(ops: Operations, zero: Any, dtype: np.dtype) -> LogSum | None:
    """Which form an algebra on floats has, as its expressions show; None where it has none.

    Examples
    --------
    >>> import semiring as sr
    >>> log_sum(sr.log.traced, sr.log.zero, np.dtype("f8"))
    LogSum(binary=False, negated=False)
    >>> log_sum(sr.min_plus.traced, sr.min_plus.zero, np.dtype("f8")) is None
    True
    """
    if dtype.kind != "f" or not ops.raw_mul.is_plain("add") or len(ops.add.outputs) != 1:
        return None
    first, second = operand(0), operand(1)
    for form in (LogSum(binary, negated) for binary in (False, True) for negated in (False, True)):
        if zero == (np.inf if form.negated else -np.inf) and ops.add.outputs[0] in _spelled(form, first, second):
            return form
    return None


def _spelled(form: LogSum, first: Expression, second: Expression) -> list[Expression]:
    op = "logaddexp2" if form.binary else "logaddexp"
    if not form.negated:
        return [apply(op, first, second), apply(op, second, first)]
    first, second = apply("negative", first), apply("negative", second)
    return [apply("negative", apply(op, *pair)) for pair in ((first, second), (second, first))]


@lru_cache(256)
def sums_walks(S: Semiring, form: LogSum) -> bool:
    """Whether stars are sums of walks, −log(1 − eᵃ) for a < 0, as some show, so that closures are sums of powers.

    Examples
    --------
    >>> import semiring as sr
    >>> sums_walks(sr.log, LogSum())
    True
    """
    if S.product_only:
        return False
    A, scale = S.over(np.dtype("f8")), (-1.0 if form.negated else 1.0) / (math.log(2) if form.binary else 1.0)
    walks = -(2.0 ** np.arange(-40, 9.5, 0.5))
    with np.errstate(all="ignore"):
        if not A.defined(walks * scale).all():
            return False
        return np.allclose(A.star(walks * scale), -np.log(-np.expm1(walks)) * scale, 1e-6, 1e-6)
