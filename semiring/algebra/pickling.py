"""Algebras as data: declarations with expressions in place of functions, which another process declares again."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.errors import SemiringError

from .evaluate import numpy_function
from .expression import Traced, flattened, operand
from .laws import FLAGS
from .tracing import Symbol, node

if TYPE_CHECKING:
    from .semiring import Semiring

FLOAT = (np.dtype("f8"),)
ELEMENTS = ("zero", "one", "samples")


class TracedLift:
    """A lift as expressions: the components that a plain number becomes.

    Parameters
    ----------
    traced : Traced
        The expressions, over one number.

    Examples
    --------
    >>> TracedLift(Traced((operand(0), operand(0)), 1, 1))(np.array([2.5]))
    (array([2.5]), array([2.5]))
    """

    def __init__(self, traced: Traced):
        self.traced = traced
        self._call = numpy_function(traced.outputs, 1, FLOAT, FLOAT * len(traced.outputs))

    def __call__(self, weights: np.ndarray) -> tuple[Any, ...]:
        """The components, each an array, or one number for all."""
        return self._call((weights,))

    def __reduce__(self) -> tuple[type[TracedLift], tuple[Traced]]:
        return TracedLift, (self.traced,)


def as_data(S: Semiring) -> dict[str, Any]:
    """The arguments that declare an algebra again; all can be pickled.

    Raises
    ------
    pickle.PicklingError
        If a function has no expression, and no name by which another process can import it.
    """
    data: dict[str, Any] = dict(S._callables) | {
        "name": S.name, "notation": S.notation, "description": S.description, "zero": S.zero, "one": S.one,
        "fields": S.fields, "dtype": object if S.traced is None else None, "dtypes": S.kinds or None,
        "samples": S._samples, "product_only": S.product_only,
        "lift": None if S.lift is None else _lift(S, S.lift.declared),
    }
    data |= {flag: getattr(S, flag) for flag in FLAGS}
    for what in ("add", "mul", "star", "carrier", "lift", "zero", "one", "samples"):
        _refuse_nameless(S, what, data[what])
    return data


def key_of(data: dict[str, Any]) -> str:
    """A text that is the same for equal declarations, in every process; long samples are cut.

    For Python objects it leaves out elements and notation: their texts may differ between processes, as those of sets
    do. `is_declared_so` compares them.
    """
    shown = {k: (flattened(v.outputs), v.arity, v.width) if isinstance(v, Traced) else v for k, v in data.items()}
    if isinstance(data["lift"], TracedLift):
        shown["lift"] = flattened(data["lift"].traced.outputs)
    if data["dtype"] is object:
        shown = {k: _name(v) if callable(v) else v for k, v in shown.items() if k not in (*ELEMENTS, "notation")}
    return repr(sorted(shown.items()))


def is_declared_so(S: Semiring, data: dict[str, Any]) -> bool:
    """Whether an algebra of the same key has this declaration; Python objects are compared by their own equality."""
    if data["dtype"] is not object:
        return True
    return all(S._callables[what] == data[what] for what in ("add", "mul", "star", "carrier")) and all(
        mine is given or bool(np.all(mine == given)) for mine, given in ((S.zero, data["zero"]), (S.one, data["one"]))
    )


def _name(function: Callable[..., Any]) -> str:
    """The name by which another process imports a function; a module that was run has several names."""
    module = getattr(function, "__module__", None)
    own = module in ("__main__", "__mp_main__")
    return f"{'__main__' if own else module}.{getattr(function, '__qualname__', type(function).__qualname__)}"


def _lift(S: Semiring, declared: Callable[..., Any]) -> Callable[..., Any]:
    """A lift as expressions if it can be traced, else the function."""
    if isinstance(declared, TracedLift):
        return declared
    try:
        parts = S.components_of(declared(Symbol(operand(0))))
        return TracedLift(Traced(tuple(map(node, parts)), 1, 1))
    except (SemiringError, TypeError, ValueError, AttributeError):  # it cannot be traced
        return declared


def _refuse_nameless(S: Semiring, what: str, value: Any) -> None:
    try:
        pickle.dumps(value)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise pickle.PicklingError(
            f"{S.name}: {what} has no expression and cannot be pickled ({error}): make it a function at the top of a "
            "module that both processes import, or write it with NumPy's operations, so that it can be traced"
        ) from None
