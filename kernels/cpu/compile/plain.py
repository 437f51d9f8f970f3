"""Loops over integer arrays in plain Python: run as they stand until compiling them repays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, partial, update_wrapper
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

    def __init__(self, function: FunctionType, steps: float, light: bool):
        update_wrapper(self, function)
        self.function, self.steps, self._light = function, steps, light
        self._machine_code: Any = None

    def __call__(self, *arguments: Any) -> Any:
        if (rehearsal := _rehearsal.get()) is not None:
            return rehearsal.run(self, arguments)
        if self._machine_code is None:
            size = sum(a.size for a in arguments if isinstance(a, np.ndarray))
            if not self._code.repays(size * self.steps * STEP):
                return self._code.rent(self.function, *arguments)
        return self.machine_code(*arguments)

    def repays(self, elements: float) -> bool:
        """Whether a call with so many elements in all will be compiled; then Numba is loaded.

        Smaller loops before that call are compiled code at once, if they are on disk: none of them alone repays the
        import.
        """
        return self._machine_code is not None or self._code.repays(elements * self.steps * STEP)

    @property
    def machine_code(self) -> Any:
        """The function as Numba compiles it, at the first call for some types."""
        if self._machine_code is None:
            self._machine_code = self._compiled(no_cfunc_wrapper=True, cache=True, light=self._light)
        return self._machine_code

    @property
    def at_hand(self) -> bool:
        """Whether nothing of it has to be compiled: this process has it, or an earlier one kept it on disk."""
        return self._machine_code is not None or self._code.at_hand

    @cached_property
    def part(self) -> Any:
        """The function as others take it in when they are compiled."""
        return self._compiled(no_cfunc_wrapper=True, no_cpython_wrapper=True)

    def _compiled(self, **options: Any) -> Any:
        from .jit import njit  # it loads Numba

        f, names = self.function, self._globals()
        known = {name: value.part if isinstance(value, Loop) else value for name, value in names.items()}
        known |= {"__name__": f.__module__, "__builtins__": f.__globals__["__builtins__"]}
        bound = FunctionType(f.__code__, known, f.__name__, f.__defaults__)
        bound.__module__ = f.__module__
        return njit(nogil=True, error_model="numpy", literals=False, **options)(bound)

    @cached_property
    def _code(self) -> Code:
        """Its price, with that of the loops that become parts of it."""
        return Code(self._names, shared=True, each=COMPILE * len(self._with_called()))

    def _names(self) -> list[str]:
        return [f"{stem_of(self.function.__module__)}.{self.function.__name__}"]

    def _with_called(self) -> set[Loop]:
        called = [loop._with_called() for loop in self._globals().values() if isinstance(loop, Loop)]
        return {self}.union(*called)

    def _globals(self) -> dict[str, Any]:
        f = self.function
        return {name: f.__globals__[name] for name in f.__code__.co_names if name in f.__globals__}


class Rehearsal:
    """What loops a small example calls, the first time with what: so it is known how they will be compiled.

    Attributes
    ----------
    calls : dict
        From loops, in the order of their first calls, to the arguments of these.
    """

    def __init__(self) -> None:
        self.calls: dict[Loop, tuple[Any, ...]] = {}
        self._depth = 0

    @contextmanager
    def watched(self) -> Iterator[Rehearsal]:
        """Within this context all loops run as they stand, and are noted."""
        token = _rehearsal.set(self)
        try:
            yield self
        finally:
            _rehearsal.reset(token)

    def run(self, loop: Loop, arguments: tuple[Any, ...]) -> Any:
        """A call, which is noted if no loop makes it: those that others call become parts of them."""
        if not self._depth:
            self.calls.setdefault(loop, arguments)
        self._depth += 1
        try:
            return loop.function(*arguments)
        finally:
            self._depth -= 1

    def steps(self) -> list[Callable[[], object]]:
        """What compiles each loop for such arguments."""
        return [partial(_compile_for, loop, arguments) for loop, arguments in self.calls.items()]


def _compile_for(loop: Loop, arguments: tuple[Any, ...]) -> None:
    loop.machine_code._compile_for_args(*arguments)


_rehearsal: ContextVar[Rehearsal | None] = ContextVar("rehearsal", default=None)


def takes(steps: float, light: bool = True) -> Callable[[Callable[..., Any]], Loop]:
    """Decorate a function over arrays and numbers whose loops Numba can compile, and that Python can run as it stands.

    Functions that are decorated alike may call each other. Those that are called become parts of their callers, and may
    neither raise anything nor make arrays, which could find no memory.

    Parameters
    ----------
    steps : float
        For each element of its arguments, with those of the functions that it calls; a step takes Python a microsecond.
    light : bool, optional
        Whether it waits for memory, so that vectors of the processor would not make it faster.
    """

    def decorate(function: Callable[..., Any]) -> Loop:
        assert isinstance(function, FunctionType)
        return Loop(function, steps, light)

    return decorate


compiled = takes(1.0)
