"""The operations of one semiring as machine code, for whatever walks tiles, fronts or trees: addresses of functions."""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from semiring.kernels.cpu.compile.program import COMBINE, Program, source
from semiring.kernels.cpu.compile.templated import Templated


class Operations(Templated):
    """The compiled operations of a program, each when it is first asked for.

    Parameters
    ----------
    program : Program

    Attributes
    ----------
    constants : int
        Address of the packed elements zero and one.
    """

    template = Path(__file__).with_name("operations_template.py")

    def __init__(self, program: Program):
        self.program = program
        columns = zip(program.components, program.zero, program.one, strict=True)
        self._memory = b"".join(np.array([zero, one], component).tobytes() for component, zero, one in columns)
        self.constants = np.frombuffer(self._memory, np.uint8).ctypes.data

    @functools.cached_property
    def multiply(self) -> int:
        """Rows of C ← C ⊕ A ⊗ B, packed."""
        return self.address("multiply")

    @functools.cached_property
    def close_pivots(self) -> int:
        """Some pivots among themselves."""
        return self.address("close_pivots")

    @functools.cached_property
    def add_scattered(self) -> int:
        """Entries added to where they stand in a larger matrix."""
        return self.address("add_scattered")

    @functools.cached_property
    def combine_entries(self) -> int:
        """The ⊕ of stored entries ⊗ entries of a column."""
        return self.address("combine_entries")

    @functools.cached_property
    def add_multiples(self) -> int:
        """A row of C ← C ⊕ A ⊗ B, of any width."""
        return self.address("add_multiples")

    @functools.cached_property
    def total(self) -> int:
        """One element of a product."""
        return self.address("total")

    @property
    def text(self) -> tuple[str, str]:
        """The name and the text of the module."""
        program = self.program
        return program.name, source(replace(program, prelude=program.prelude + program.combine), self.template)


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
