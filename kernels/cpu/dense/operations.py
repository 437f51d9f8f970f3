"""The operations of one semiring as machine code, for whatever walks tiles, fronts or trees: addresses of functions."""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np

from semiring.kernels.cpu.compile import cache
from semiring.kernels.cpu.compile.program import COMBINE, Program, source

TEMPLATE = Path(__file__).with_name("operations_template.py")


class Operations:
    """The compiled operations of a program, each when it is first asked for.

    Parameters
    ----------
    program : Program

    Attributes
    ----------
    constants : int
        Address of the packed elements zero and one.
    """

    def __init__(self, program: Program):
        self.program = program
        columns = zip(program.components, program.zero, program.one, strict=True)
        self._memory = b"".join(np.array([zero, one], component).tobytes() for component, zero, one in columns)
        self.constants = np.frombuffer(self._memory, np.uint8).ctypes.data

    @functools.cached_property
    def module(self) -> ModuleType:
        """The module that is compiled: see operations_template.py."""
        return cache.load(*self._text)

    @functools.cached_property
    def multiply(self) -> int:
        """Rows of C ← C ⊕ A ⊗ B, packed."""
        return self._address("multiply")

    @functools.cached_property
    def close_pivots(self) -> int:
        """Some pivots among themselves."""
        return self._address("close_pivots")

    @functools.cached_property
    def add_scattered(self) -> int:
        """Entries added to where they stand in a larger matrix."""
        return self._address("add_scattered")

    @functools.cached_property
    def combine_entries(self) -> int:
        """The ⊕ of stored entries ⊗ entries of a column."""
        return self._address("combine_entries")

    @functools.cached_property
    def add_multiples(self) -> int:
        """A row of C ← C ⊕ A ⊗ B, of any width."""
        return self._address("add_multiples")

    @functools.cached_property
    def total(self) -> int:
        """One element of a product."""
        return self._address("total")

    def code(self, *functions: str) -> list[cache.Function]:
        """What is compiled for some of them."""
        return [cache.Function(*self._text, function) for function in functions]

    @property
    def _text(self) -> tuple[str, str]:
        program = self.program
        return program.name, source(replace(program, prelude=program.prelude + program.combine), TEMPLATE)

    def _address(self, function: str) -> int:
        from semiring.kernels.cpu.compile.jit import address_of  # it imports Numba

        return address_of(getattr(self.module, function))


@functools.lru_cache(256)
def operations(program: Program) -> Operations:
    """The operations of a program, compiled once."""
    return Operations(program)


def exchanged(given: Program) -> Program:
    """The same semiring with the operands of ⊗ exchanged."""
    prelude = re.sub(r"^def times\(", "def times_as_declared(", given.prelude, flags=re.MULTILINE)
    prelude += "\n@inline\ndef times(a, b, unit):\n    return times_as_declared(b, a, unit)\n\n\n"
    combine = given.combine
    if combine != COMBINE:  # which calls `times`
        combine = combine.replace("def combine(x, a, b, unit)", "def combine(x, b, a, unit)")
    return replace(given, name=f"{given.name}_exchanged", prelude=prelude, combine=combine)
