"""Rent or buy: compare the time that NumPy takes for work with the time to compile code for it.

The work still to come is unknown. If one rents until the rent has reached the price, and then buys, one never spends
more than twice the optimum (A. R. Karlin, M. S. Manasse, L. Rudolph, D. D. Sleator, Competitive snoopy caching, 1988).
Here NumPy is the rent, and compiled code is bought: for large work at once, and for repeated work once NumPy has taken
as long as compiling would. Code on disk was worth its price to an earlier process, so it is used at once. Only loops
that all algebras share still cost the import of Numba, since they also serve work of a millisecond. The time that
earlier processes took without compiling is kept there too, so that a program that runs every day does not rent for
ever.
"""

from __future__ import annotations

import atexit
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

from semiring.errors import SemiringError, SemiringWarning
from semiring.machine.interrupts import interrupts_wait

from .cache import Function, cache_directory, keep_rents, kept_rents, stem

IMPORT = 0.35  # seconds to import Numba
COMPILE = 0.7  # seconds to compile a function
NOTED = 0.1  # seconds of rent from which on it is noted for later processes
CHOICES = ("auto", "always", "never")

Result = TypeVar("Result")
_always = ContextVar("always", default=False)


def when() -> str:
    """When code is compiled: "auto" (where that repays), "always", "never", or "kept".

    ``SEMIRING_COMPILE`` says which of the first three. If it does not, and ``SEMIRING_CACHE_DIR`` is set, code is to be
    kept there: an algebra's is compiled at its first use, and what all algebras share where that repays. Without
    Numba it is "never".
    """
    if not has_numba():
        return "never"
    if _always.get():
        return "always"
    text = os.environ.get("SEMIRING_COMPILE", "").strip().lower()
    if not text:
        return "kept" if os.environ.get("SEMIRING_CACHE_DIR") else "auto"
    if text not in CHOICES:
        raise SemiringError(f"SEMIRING_COMPILE must be one of {', '.join(CHOICES)}, not {text!r}")
    return text


@contextmanager
def always() -> Iterator[None]:
    """Within this context everything is compiled when it is first used."""
    token = _always.set(True)
    try:
        yield
    finally:
        _always.reset(token)


@cache
def has_numba() -> bool:
    """Whether Numba is there."""
    if "numba" in sys.modules:
        return sys.modules["numba"] is not None
    return find_spec("numba") is not None


@cache
def loads_numba() -> bool:
    """Whether Numba can be imported, which is done; a warning says why not."""
    try:
        with interrupts_wait():
            import_module("numba")
    except Exception as e:  # an ImportError, or whatever else a package that does not fit the others raises
        warnings.warn(
            f"Numba cannot be imported, so nothing is compiled and NumPy does all work ({e}); install versions of "
            "Numba and NumPy that go together",
            SemiringWarning,
            stacklevel=2,
        )
        return False
    return True


class Code:
    """Some functions that can be compiled, and what NumPy took for their work in this process.

    Parameters
    ----------
    names : callable
        Gives the names under which the functions are kept on disk (see `cache.Entries`); called once, when it matters.
    shared : bool
        Whether all algebras share them. Then they cost the import of Numba even if they are on disk.
    number : int
        How many there are, for as long as their names are not asked for.
    each : float
        Seconds to compile one of them.

    Attributes
    ----------
    bought : bool
        Whether this process has the functions, or will have them next.
    spent : float
        Seconds; `rent` adds the time it took, and so do callers that let NumPy do the work by themselves.
    """

    bought = False

    def __init__(
        self, names: Callable[[], Iterable[str]], shared: bool = False, number: int = 1, each: float = COMPILE
    ):
        self._number, self._each, self._shared = number, each, shared
        self._names, self._at_once, self.spent = names, ("always",) if shared else ("always", "kept"), 0.0
        self._missing: int | None = None  # functions that are not on disk
        self._before = 0.0  # seconds that earlier processes took for their work

    @classmethod
    def of(cls, functions: Callable[[], Iterable[Function]], shared: bool = False, number: int = 1) -> Code:
        """That of functions of generated modules."""
        return cls(lambda: [function.on_disk for function in functions()], shared, number)

    @classmethod
    def of_loops(cls, file: Path, functions: tuple[str, ...], each: float = COMPILE) -> Code:
        """That of functions in a module of the library, which all algebras share."""

        def names() -> list[str]:
            begin = stem(file.stem, file.read_text(encoding="utf-8"))
            return [f"{begin}.{name}" for name in functions]

        return cls(names, True, len(functions), each)

    @property
    def at_hand(self) -> bool:
        """Whether none has to be compiled: this process has them, or an earlier one kept them on disk."""
        if self.bought:
            return True
        self._price()  # which looks what is missing
        return not self._missing

    def repays(self, seconds: float) -> bool:
        """Whether to compile for work that takes NumPy so many seconds."""
        if not self.bought:
            self.bought = self.is_due(seconds) and loads_numba()
            if not self.bought and when() != "never":
                _renting[id(self)] = self
        return self.bought

    def pays(self, seconds: float) -> bool:
        """`repays` for work that takes NumPy about so many seconds, which are spent where it does not."""
        if self.repays(seconds):
            return True
        self.spent += seconds
        return False

    def is_due(self, seconds: float) -> bool:
        """Whether `repays` would say so, if Numba can be imported."""
        wanted = when()
        if self.bought or wanted in self._at_once or wanted == "never":
            return self.bought or wanted != "never"
        price = self._price()  # which asks what earlier processes took
        return self.spent + self._before + seconds >= price

    def rent(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Have NumPy do a piece of the work by a function."""
        with self.renting():
            return function(*arguments)

    def renting(self) -> Renting:
        """A context within which NumPy does a piece of the work."""
        return Renting(self)

    def rents(self) -> dict[str, float]:
        """Seconds that this process and those before it took for the work of each function that is not on disk."""
        names = _missing_names(self._names)
        return dict.fromkeys(names, (self.spent + self._before) / len(names)) if names else {}

    def _price(self) -> float:
        """Seconds that the functions cost: an algebra's cost nothing where an earlier process paid."""
        if self._missing is None:
            self._missing, self._before = _look(self._names, self._number)
        imported = IMPORT if "numba" not in sys.modules and (self._missing or self._shared) else 0.0
        return imported + self._missing * self._each


class Renting:
    """A context within which NumPy does work that some code could do."""

    __slots__ = "_began", "_codes"

    def __init__(self, *codes: Code):
        self._codes = codes

    def __enter__(self) -> None:
        self._began = perf_counter()

    def __exit__(self, error: object, *_: object) -> None:
        if error is None:  # work that fails is not paid for
            for code in self._codes:
                code.spent += perf_counter() - self._began


def _look(names: Callable[[], Iterable[str]], number: int = 1) -> tuple[int, float]:
    """How many functions are not on disk, and what earlier processes took for their work."""
    directory, rents = cache_directory(), kept_rents()
    if directory is None or not (rents or any(directory.glob("*.nbi"))):
        return number, 0.0  # what they are called takes a while to find out, and all are missing
    missing = _missing_names(names)
    return len(missing), sum(rents.get(name, 0.0) for name in missing)


def _missing_names(names: Callable[[], Iterable[str]]) -> list[str]:
    directory = cache_directory()
    return [name for name in names() if directory is None or not (directory / f"{name}.nbi").exists()]


_renting: dict[int, Code] = {}  # all that this process rents


@atexit.register
def _tell_later_processes() -> None:
    rents: dict[str, float] = {}
    for code in _renting.values():
        if code.spent >= NOTED and not code.bought:
            rents |= code.rents()
    if rents:
        keep_rents(rents)
