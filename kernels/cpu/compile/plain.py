"""Loops over integer arrays in plain Python: run as they stand until compiling them repays."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import Any

import numpy as np

from .cache import stem_of
from .price import Code

STEP = 1e-6  # seconds that such a loop takes in Python for a step
COMPILE = 0.25  # seconds to compile one


class Loop:
    """A function that compiles when that repays; made by `compiled`.

    Attributes
    ----------
    function : function
        As it stands.
    """

    def __init__(self, function: FunctionType, steps: float):
        update_wrapper(self, function)
        self.function, self.steps = function, steps
        self._code = Code(self._names, shared=True, each=COMPILE)
        self._machine_code: Any = None

    def __call__(self, *arguments: Any) -> Any:
        if self._machine_code is None:
            size = sum(a.size for a in arguments if isinstance(a, np.ndarray))
            if not self._code.repays(size * self.steps * STEP):
                return self._code.rent(self.function, *arguments)
        return self.machine_code(*arguments)

    @property
    def machine_code(self) -> Any:
        """The function as Numba compiles it, at the first call for some types."""
        if self._machine_code is None:
            from .jit import njit  # it loads Numba

            f, names = self.function, self._globals()
            known = {name: value.machine_code if isinstance(value, Loop) else value for name, value in names.items()}
            known |= {"__name__": f.__module__, "__builtins__": f.__globals__["__builtins__"]}
            bound = FunctionType(f.__code__, known, f.__name__, f.__defaults__)
            bound.__module__ = f.__module__
            self._machine_code = njit(nogil=True, error_model="numpy", cache=True, literals=False)(bound)
        return self._machine_code

    def _globals(self) -> dict[str, Any]:
        f = self.function
        return {name: f.__globals__[name] for name in f.__code__.co_names if name in f.__globals__}

    def _names(self) -> list[str]:
        """Under which it is kept on disk, and the loops that it calls, which are compiled with it."""
        called = [name for value in self._globals().values() if isinstance(value, Loop) for name in value._names()]
        return list(dict.fromkeys([f"{stem_of(self.function.__module__)}.{self.function.__name__}", *called]))


def takes(steps: float) -> Callable[[Callable[..., Any]], Loop]:
    """Decorate a function over arrays and numbers whose loops Numba can compile, and that Python can run as it stands.

    Functions that are decorated alike may call each other.

    Parameters
    ----------
    steps : float
        For each element of its arguments, with those of the functions that it calls; a step takes Python a microsecond.
    """

    def decorate(function: Callable[..., Any]) -> Loop:
        assert isinstance(function, FunctionType)
        return Loop(function, steps)

    return decorate


compiled = takes(1.0)
