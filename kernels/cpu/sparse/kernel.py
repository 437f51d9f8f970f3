"""What kernels over compressed rows begin with: a program, its compiled module, and work shared by threads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import cached_property
from types import ModuleType

from semiring.kernels.cpu.compile import cache
from semiring.kernels.cpu.compile.program import Program
from semiring.kernels.cpu.compile.rounds import Pace, share_by_pace
from semiring.machine.threads import thread_count


class RowsKernel:
    """A compiled module over compressed rows, for one semiring in one storage type.

    Parameters
    ----------
    program : Program
    threads : int, optional
        As for `CpuKernel`. Results do not depend on it.
    """

    def __init__(self, program: Program, threads: int | None = None):
        self.program, self.dtype, self.threads = program, program.dtype, thread_count(threads)
        self._paces: defaultdict[str, Pace] = defaultdict(Pace)  # by the compiled function

    @cached_property
    def module(self) -> ModuleType:
        """The compiled module, whose functions are compiled when they are first called."""
        return cache.load(*self._text)

    @property
    def _text(self) -> tuple[str, str]:
        """Name and text of the module."""
        raise NotImplementedError

    def _share(self, name: str, function: Callable[[int, int], None], count: int, each: float) -> None:
        """Call a function with ranges of so many lines that take so many steps each."""
        share_by_pace(function, count, each, self._paces[name], self.threads)
