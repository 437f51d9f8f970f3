"""A kernel that counts the multiply-adds that pass through it, so that schedules need not know of progress."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast

from semiring.kernels.interface import Kernel, Report, StackKernel


class Counting:
    """A kernel that reports the share of `work` done after each operation."""

    def __init__(self, kernel: Kernel[Any], work: int, report: Report):
        self._kernel, self._work, self._report = kernel, max(work, 1), report
        self._done = 0

    @classmethod
    @contextmanager
    def under(cls, bar: AbstractContextManager[Report], kernel: Kernel[Any], work: int) -> Iterator[Kernel[Any]]:
        """A counting kernel for as long as a progress bar is shown; at the end all the work is done."""
        with bar as report:
            counting = cls(kernel, work, report)
            yield cast("Kernel[Any]", counting)  # what it does not count it hands on
            if counting._done < counting._work:
                report(1.0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._kernel, name)

    def _count(self, amount: int) -> None:
        self._done += amount
        self._report(min(self._done / self._work, 1.0))

    def multiply_add(self, C: Any, A: Any, B: Any) -> None:
        """As the kernel does; counts m n k."""
        self._kernel.multiply_add(C, A, B)
        self._count(C.shape[0] * C.shape[1] * A.shape[1])

    def multiply(self, C: Any, A: Any, B: Any) -> None:
        """As the kernel does; counts m n k."""
        self._kernel.multiply(C, A, B)
        self._count(C.shape[0] * C.shape[1] * A.shape[1])

    def left(self, D: Any, R: Any) -> None:
        """As the kernel does; counts m m n."""
        self._kernel.left(D, R)
        self._count(D.shape[0] * R.shape[0] * R.shape[1])

    def right(self, C: Any, D: Any) -> None:
        """As the kernel does; counts m n n."""
        self._kernel.right(C, D)
        self._count(D.shape[0] * C.shape[0] * C.shape[1])

    def close(self, D: Any) -> int:
        """As the kernel does; counts n³."""
        pivot: int = self._kernel.close(D)
        self._count(D.shape[0] ** 3)
        return pivot

    def close_stack(self, D: Any) -> Any:
        """As the kernel does; counts n³ for each."""
        failed = cast("StackKernel[Any]", self._kernel).close_stack(D)
        self._count(D.shape[0] * D.shape[1] ** 3)
        return failed
