"""Progress reports: a bar for a terminal and lines for a log on stderr, or the caller's function."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semiring.kernels.interface import Report

PATIENCE = 1.0  # seconds of work before a bar appears


class Pace:
    """The rate and remaining time of work, measured from the first report: earlier work does not count.

    Parameters
    ----------
    work : float
        All multiply-adds.

    Examples
    --------
    >>> pace = Pace(8e9)
    >>> pace.told(0.5), pace.told(0.5)
    ('', '')
    """

    def __init__(self, work: float):
        self._work, self._began = work, (0.0, 0.0)

    def told(self, fraction: float) -> str:
        """The rate and the remaining time, in words; empty while they are unknown."""
        now = time.monotonic()
        if not self._began[0]:
            self._began = now, fraction
        seconds, part = now - self._began[0], fraction - self._began[1]
        if not self._work or seconds <= 0 or part <= 0:
            return ""
        return f"{_count(self._work * part / seconds)} multiply-adds/s, {_span((1 - fraction) * seconds / part)} left"


def _count(number: float) -> str:
    for size, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if number >= size:
            return f"{number / size:.3g} {letter}"
    return f"{number:.0f}"


def _span(seconds: float) -> str:
    minutes, whole = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{whole:02}" if hours else f"{minutes}:{whole:02}"


@contextmanager
def bar(description: str, work: float = 0.0) -> Iterator[Callable[[float], None]]:
    """Show the progress of work on stderr.

    Nothing is shown if stderr is not a terminal, nor in the first second. The bar is removed when the work ends.

    Parameters
    ----------
    description : str
        The work in a few words.
    work : float
        All multiply-adds, if known: the bar then shows how many are done per second.

    Yields
    ------
    callable
        Call it with the fraction that is done, between 0 and 1.

    Examples
    --------
    >>> with bar("closing") as report:
    ...     report(0.5)
    """
    if not sys.stderr.isatty():
        yield lambda fraction: None
        return
    start = time.monotonic()
    shown: Any = None
    with ExitStack() as stack:

        def report(fraction: float) -> None:
            nonlocal shown
            if shown is None and time.monotonic() - start >= PATIENCE:
                shown = stack.enter_context(_rich_bar(description, work))
            if shown is not None:
                shown(fraction)

        yield report


@contextmanager
def _rich_bar(description: str, work: float) -> Iterator[Callable[[float], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    left = TextColumn("{task.fields[pace]}") if work else TimeRemainingColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), left)
    pace = Pace(work)
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(description, total=1.0, pace="")
        yield lambda fraction: progress.update(task, completed=fraction, pace=pace.told(fraction))


class Lines:
    """Report progress on stderr, with a line for each tenth of the work, for logs.

    Parameters
    ----------
    description : str
        The work in a few words.

    Attributes
    ----------
    work : float
        All multiply-adds, if known: each line then shows how many are done per second.

    Examples
    --------
    >>> report = Lines("closing")
    >>> report(0.05)
    """

    def __init__(self, description: str):
        self._description, self._told, self.work = description, 0, 0.0
        self._pace: Pace | None = None

    def __call__(self, fraction: float) -> None:
        if self._pace is None:
            self._pace = Pace(self.work)
        pace, tenth = self._pace.told(fraction), int(10 * fraction + 1e-9)
        if tenth > self._told:
            self._told = tenth
            pace = f", {pace}" if pace else ""
            print(f"semiring: {self._description}: {10 * tenth} %{pace}", file=sys.stderr, flush=True)


@contextmanager
def told(progress: bool | Report, what: str, work: float = 0.0) -> Iterator[Report]:
    """Open the progress report: a bar, the caller's function, or one that does nothing; it always ends at 1.0.

    If the work is known, in multiply-adds, bars and lines also show the rate and the time left.
    """
    if progress is False:
        yield lambda part: None
        return
    last = 0.0
    if isinstance(progress, Lines):
        progress.work = work
    with bar(what, work) if progress is True else nullcontext(progress) as tell:

        def report(part: float) -> None:
            nonlocal last
            last = max(last, part)  # if a solver declines, the next one begins again
            tell(last)

        yield report
        if last < 1.0:
            tell(1.0)


def part_of(report: Report, begin: float, end: float) -> Report:
    """Return the report of a part of the work, from one share of the whole to another."""
    return lambda part: report(begin + (end - begin) * part)
