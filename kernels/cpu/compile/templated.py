"""Functions that Numba compiles from a program and a template, each when it is first called."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from types import ModuleType

from . import cache
from .program import Program, source


class Templated:
    """The module of a program in a template.

    Attributes
    ----------
    program : Program
    template : Path
    """

    program: Program
    template: Path

    @property
    def text(self) -> tuple[str, str]:
        """The name and the text of the module."""
        return self.program.name, source(self.program, self.template)

    @cached_property
    def module(self) -> ModuleType:
        """The module, whose functions the template describes."""
        return cache.load(*self.text)

    def code(self, *functions: str) -> list[cache.Function]:
        """What is compiled for some of its functions."""
        return [cache.Function(*self.text, function) for function in functions]

    def address(self, function: str) -> int:
        """The address of a compiled function."""
        from .jit import address_of  # it imports Numba

        return address_of(getattr(self.module, function))
