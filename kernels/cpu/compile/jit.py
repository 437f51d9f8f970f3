"""Numba's ``njit`` for the library's own functions: they compile whatever the user's settings, and `cache` keeps them.

The kernels work on addresses, by intrinsics that exist in machine code only, so that ``NUMBA_DISABLE_JIT``, with which
people debug their own functions, cannot apply to them.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import hashlib
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import llvmlite
import numba
import numba.core.config
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps
from numba.core.types import unliteral

from semiring.machine.interrupts import interrupts_kept

from . import cache as files
from .beside import is_missing
from .collecting import collect_again
from .passes import FewPasses, ForIndices, ForParts

config: Any = numba.core.config


def njit(
    signatures: Sequence[Any] = (), *, cache: bool = False, literals: bool = True, light: bool = False, **options: Any
) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a function of the library.

    Parameters
    ----------
    signatures : sequence of numba.core.typing.Signature, optional
        All that there will be, compiled at the first call; without any, for the types of each call when it comes.
    cache : bool, optional
        Keep the machine code on disk. The function may be neither a closure nor depend on modules beside its own and
        those of ``cache.SHARED``.
    literals : bool
        Whether callers that pass the number 0 get other code than those that pass a variable, as Numba has it.
    light : bool
        Whether LLVM takes fewer passes; for loops that wait for memory.
    **options
        As of ``numba.njit``. A function with neither wrappers nor `signatures` is a part of its callers (see parts.py):
        it may raise nothing.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        alone = bool(signatures) or not options.get("no_cpython_wrapper")
        pipeline = ForParts if not alone else ForIndices if light else FewPasses
        with _enabled():
            dispatcher = numba.njit(pipeline_class=pipeline, **options)(function)
        dispatcher.compile = functools.partial(_compile if literals else _compile_for_all, dispatcher.compile)
        if cache:
            dispatcher._cache = MachineCode(function)
        if signatures:
            dispatcher.declared = signatures
            dispatcher.made = functools.partial(_made, dispatcher)
            dispatcher._compile_for_args = functools.partial(_first_call, dispatcher)
        return dispatcher

    return decorate


def _first_call(dispatcher: Any, *arguments: Any) -> Any:
    """What a dispatcher asks for when it has no code for a call: itself, compiled for what was declared."""
    _compile_declared(dispatcher)
    return dispatcher


def _made(dispatcher: Any) -> Any:
    """The function, compiled now, so that timing its calls does not include compiling."""
    _compile_declared(dispatcher)
    return dispatcher


def _compile_declared(dispatcher: Any) -> None:
    if not dispatcher._can_compile:
        return
    with global_compiler_lock:
        if dispatcher._can_compile:  # no other thread was first
            for signature in dispatcher.declared:
                dispatcher.compile(signature)
            dispatcher.disable_compile()


def address_of(dispatcher: Any) -> int:
    """The address of the machine code of a function with one signature, for `raw.call`; it stays valid."""
    _compile_declared(dispatcher)
    (compiled,) = dispatcher.overloads.values()
    address: int = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    return address


def called_from_c(dispatcher: Any) -> int:
    """The address of a function with one signature, and with a wrapper for C, as C calls it; it stays valid."""
    _compile_declared(dispatcher)
    (compiled,) = dispatcher.overloads.values()
    address: int = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name)
    return address


@functools.lru_cache(4096)
def from_python(address: int, count: int) -> Callable[..., int]:
    """The function at an address (see `address_of`) for Python, which it lets run on: `count` integers in, one out.

    It must raise nothing. Numba's functions put the result where their first argument says, and what they raise where
    the second does.
    """
    number, pointer = ctypes.c_int64, ctypes.c_void_p
    function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(number), pointer, *[number] * count)(address)

    def call(*arguments: int) -> int:
        result, raised = number(), pointer()
        function(result, ctypes.byref(raised), *arguments)
        return result.value

    return call


def _compile(compile: Callable[..., Any], signature: Any) -> Any:
    with _enabled():  # Numba decorates functions of its own meanwhile
        return compile(signature)


def _compile_for_all(compile: Callable[..., Any], signature: tuple[Any, ...]) -> Any:
    """`_compile`, for numbers of the types of those that are written out."""
    return _compile(compile, tuple(unliteral(each) for each in signature))


@functools.cache
def _import_what_compiles() -> None:
    """Let Numba import what it knows of Python and NumPy, but not SciPy, which would take it as long again.

    One of its modules checks on import whether SciPy provides a BLAS, which only linear algebra needs. The check is
    postponed until then.
    """
    name = "numba.np.arraymath"
    if name not in sys.modules and "scipy.linalg" not in sys.modules:
        linalg: Any = import_module("numba.np.linalg")
        ask, linalg.ensure_blas = linalg.ensure_blas, lambda: None
        try:
            arrays: Any = import_module(name)
        finally:
            linalg.ensure_blas = ask
        arrays.ensure_blas = ask
        arrays._HAVE_BLAS = _HasBlas(ask)


class _HasBlas:
    """True where there is a BLAS, which is asked for when somebody wants to know.

    Parameters
    ----------
    ask : callable
        Raises ImportError where there is none.
    """

    def __init__(self, ask: Callable[[], None]):
        self._ask = ask

    def __bool__(self) -> bool:
        try:
            self._ask()
        except ImportError:
            return False
        return True


@contextmanager
def _enabled() -> Iterator[None]:
    """Let Numba compile; its lock keeps the setting for the others as it was, and the garbage collector waits."""
    with global_compiler_lock:
        config.reload_config()  # now, or Numba does on the way and meets a change of the environment
        wanted, config.DISABLE_JIT = config.DISABLE_JIT, 0
        collecting = gc.isenabled()
        gc.disable()
        try:
            with interrupts_kept():
                yield
        finally:
            config.DISABLE_JIT = wanted
            collect_again(collecting)


class MachineCode(_Cache):
    """What a dispatcher asks for compiled code before it compiles, and gives it to afterwards."""

    def __init__(self, function: Callable[..., Any]):
        self.entries = files.Entries(f"{files.stem_of(function.__module__)}.{function.__name__}")

    @property
    def cache_path(self) -> str | None:
        directory = files.cache_directory()
        return None if directory is None else str(directory)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        rtsys.initialize(target_context)  # all that machine code needs; what Numba compiles with takes 0.3 s to import
        data = self.entries.load(_key(signature, target_context.codegen()))
        if data is None:
            is_missing(self.entries.name)
            _import_what_compiles()
            return None
        return CompileResult._rebuild(target_context, *pickle.loads(data))

    def save_overload(self, signature: Any, compiled: Any) -> None:
        if not compiled.library.has_dynamic_globals:  # addresses of this process
            self.entries.save(_key(signature, compiled.codegen), dumps(compiled._reduce()))
            compiled.library._shared_module = None  # a copy for callers, made to be saved; they would have it made anew

    def enable(self) -> None:
        """It is always on."""

    def disable(self) -> None:
        """It is always on."""

    def flush(self) -> None:
        """Entries are found by all that they depend on: none is ever stale."""


def _key(signature: Any, codegen: Any) -> str:
    """Hash of the argument types, the processor, and the versions that made the code."""
    parts = signature, codegen.magic_tuple(), numba.__version__, llvmlite.__version__, sys.version
    return hashlib.sha256(repr(parts).encode()).hexdigest()
