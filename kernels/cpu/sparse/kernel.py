"""What kernels over compressed rows begin with: a program, its compiled module, and work shared by threads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Self

from semiring.kernels.cpu.compile import cache
from semiring.kernels.cpu.compile.program import Program, program, source
from semiring.kernels.cpu.compile.rounds import Pace, share_by_pace
from semiring.kernels.cpu.dense.operations import exchanged
from semiring.kernels.lowering.base import Lowering
from semiring.machine.threads import thread_count

COMPARING = '''\
@inline
def differs(x, y):
    return DIFFERS


@inline
def better(t, x):
    """Whether t improves x: x ⊕ t ≠ x."""
    return differs(as_element(ELEMENT, plus(x, t)), x)


@inline
def extend(x, a, unit):
    """x ⊗ a in the element's own types."""
    return as_element(ELEMENT, times(x, a, unit))


@inline
def bound_of(limit):
    """The element at an address; without one zero, than which nothing is worse."""
    return fetch(ELEMENT, limit, 0) if limit else as_element(ELEMENT, ZERO)


'''


class RowsKernel:
    """A compiled module over compressed rows, for one semiring in one storage type.

    Parameters
    ----------
    program : Program
    threads : int, optional
        As for `CpuKernel`. Results do not depend on it.

    Attributes
    ----------
    template : Path
        What the module is generated from.
    needs : tuple of str
        The functions that most work with the kernel needs.
    """

    template: ClassVar[Path]
    needs: ClassVar[tuple[str, ...]]

    def __init__(self, program: Program, threads: int | None = None):
        self.program, self.dtype, self.threads = program, program.dtype, thread_count(threads)
        self._paces: defaultdict[str, Pace] = defaultdict(Pace)  # by the compiled function

    @classmethod
    def of(cls, lowering: Lowering, *, exchange: bool = False) -> Self:
        """The kernel of a lowering of machine numbers; where the code is the same it is the same kernel.

        `exchange`: with the operands of ⊗ exchanged.
        """
        kind: Any = cls  # a type checker doubts that classes are hashable
        kernel: Self = _of(kind, lowering, exchange)
        return kernel

    @classmethod
    def program_of(cls, lowering: Lowering) -> Program:
        """The Numba text of a lowering, with what the template needs besides."""
        return program(lowering)

    @classmethod
    def text_of(cls, text: Program) -> tuple[str, str]:
        """Name and text of the generated module."""
        return comparing(text, cls.template)

    @classmethod
    def code(cls, lowering: Lowering) -> list[cache.Function]:
        """The compiled functions that most work needs."""
        return [cache.Function(*cls.text_of(cls.program_of(lowering)), name) for name in cls.needs]

    @classmethod
    def seldom(cls, lowering: Lowering) -> list[cache.Function]:
        """Those that some work needs besides."""
        return []

    @cached_property
    def module(self) -> ModuleType:
        """The compiled module, whose functions are compiled when they are first called."""
        return cache.load(*self.text_of(self.program))

    def _share(self, name: str, function: Callable[[int, int], None], count: int, each: float) -> None:
        """Call a function with ranges of so many lines that take so many steps each."""
        share_by_pace(function, count, each, self._paces[name], self.threads)


@lru_cache(1024)
def _of(kind: Any, lowering: Lowering, exchange: bool) -> Any:
    text = kind.program_of(lowering)
    return _made(kind, exchanged(text) if exchange else text)


@lru_cache(1024)
def _made(kind: Any, text: Program) -> Any:
    return kind(text)


def aligned(size: int) -> int:
    """A number of bytes, up to the next whole cache line."""
    return -(-size // 64) * 64


def comparing(text: Program, template: Path) -> tuple[str, str]:
    """Name and text of the generated module of a template that compares elements."""
    parts = [f"(x[{i}] != y[{i}])" for i in range(len(text.components))]
    prelude = text.prelude + COMPARING.replace("DIFFERS", " | ".join(parts) if len(parts) > 1 else "x != y")
    return f"{template.stem.removesuffix('_template')}_{text.name}", source(replace(text, prelude=prelude), template)
