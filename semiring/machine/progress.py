"""Progress on stderr: a bar for people who wait, lines for those who read a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

PATIENCE = 1.0  # seconds of work before a bar appears


@contextmanager
def bar(description: str) -> Iterator[Callable[[float], None]]:
    """Show how far work has come, on stderr.

    Nothing is shown when stderr is not a terminal, nor before the work has lasted a second. The bar is wiped when the
    work ends.

    Parameters
    ----------
    description : str
        What is being done, in a few words.

    Yields
    ------
    callable
        To be called with the part that is done, between 0 and 1.

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
                shown = stack.enter_context(_rich_bar(description))
            if shown is not None:
                shown(fraction)

        yield report


@contextmanager
def _rich_bar(description: str) -> Iterator[Callable[[float], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(description, total=1.0)
        yield lambda fraction: progress.update(task, completed=fraction)


class Lines:
    """Reports progress on stderr in a line for each tenth of the work that is done, for logs.

    Parameters
    ----------
    description : str
        What is being done, in a few words.

    Examples
    --------
    >>> report = Lines("closing")
    >>> report(0.05)
    """

    def __init__(self, description: str):
        self._description, self._told = description, 0

    def __call__(self, fraction: float) -> None:
        tenth = int(10 * fraction + 1e-9)
        if tenth > self._told:
            self._told = tenth
            print(f"semiring: {self._description}: {10 * tenth} %", file=sys.stderr, flush=True)
