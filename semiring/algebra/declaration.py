"""The operations of a declared algebra as expressions, or on Python objects if they cannot be traced."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.errors import SemiringError, SemiringWarning, TraceError

from . import stars
from .arithmetic import Operations
from .expression import Traced, apply, constant, equals, split_undefined
from .tracing import TooManyBranches, trace

if TYPE_CHECKING:
    from .semiring import Semiring

NEEDED = "add", "mul"
EXAMPLES = {
    "add": "np.minimum",
    "mul": "np.add",
    "star": "lambda a: np.where(a >= 0, 0.0, np.nan)",
    "carrier": "lambda a: a >= 0",
}
NUMERIC = (bool, int, float, complex, np.generic, tuple, type(None))


def functions(name: str, **given: Any) -> dict[str, Any]:
    """The operations that declare an algebra, by name; None for those with a default.

    Raises
    ------
    SemiringError
        For an operation that cannot be called, unless it is already an expression, as one from another process is.
    """
    for what, operation in given.items():
        if not callable(operation) and not isinstance(operation, Traced) and (operation is not None or what in NEEDED):
            raise SemiringError(f"{name}: {what} must be a function, such as {EXAMPLES[what]}, not {operation!r}")
    return given


def runs_on_objects(
    name: str, callables: Mapping[str, Any], zero: Any, one: Any, fields: Mapping[str, np.dtype] | None, dtype: Any
) -> bool:
    """Whether elements are Python objects: if dtype=object, if 0 or 1 is an object, or if tracing fails.

    Raises
    ------
    SemiringError
        For a dtype other than object.
    TraceError
        If an operation on numbers can have no expression.
    """
    if dtype is not None:
        if np.dtype(dtype).kind != "O":
            raise SemiringError(f"{name}: dtype can only be object, not {dtype!r}: data bring their own dtype")
        return True
    if not fields and (not isinstance(zero, NUMERIC) or not isinstance(one, NUMERIC)):
        return True
    try:
        for what, arity in (("add", 2), ("mul", 2), ("star", 1)):
            if callables[what] is not None:
                trace(callables[what], arity, fields)
    except (TooManyBranches, TypeError, AttributeError) as e:
        if fields:
            raise TraceError(f"{name}: {e}") from None
        warnings.warn(
            f"{name}: the operations cannot be traced ({e}); they run on Python objects, one by one, on "
            "the CPU. Write them with NumPy ufuncs for speed, or pass dtype=object to say that this is meant",
            SemiringWarning,
            stacklevel=4,
        )
        return True
    except TraceError as e:
        raise TraceError(f"{name}: {e}") from None
    return False


def traced_operations(S: Semiring, callables: dict[str, Any]) -> Operations:
    """The operations as expressions, with zero made to absorb; the functions themselves are not kept.

    Raises
    ------
    TraceError
        If an operation has no expression.
    """
    names = S.fields
    try:
        for what, arity in (("add", 2), ("mul", 2), ("star", 1), ("carrier", 1)):
            if callables[what] is not None:
                callables[what] = trace(callables[what], arity, names, predicate=what == "carrier")
        plus, raw, star, carrier = (callables[what] for what in ("add", "mul", "star", "carrier"))
        zero = stars.as_constants(S.components_of(S.zero))
        belongs = constant(True) if carrier is None else carrier.outputs[0]
        if S.one is None:
            total, domain = Traced(zero, 1, raw.width), constant(False)
        elif star is not None:
            total, domain = split_undefined(star)
        else:
            total, domain = stars.bounded_star(plus, stars.as_constants(S.components_of(S.one)))
    except TraceError as e:
        raise TraceError(f"{S.name}: {e}") from None
    absorbed = apply("logical_or", equals(raw.operand(0), zero), equals(raw.operand(1), zero))
    times = tuple(apply("where", absorbed, z, e) for z, e in zip(zero, raw.outputs, strict=True))
    return Operations(plus, raw, Traced(times, 2, raw.width), total, domain, belongs)
