"""Which of several cases failed, where a test runs them in a loop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def noted(*case: object) -> Iterator[None]:
    """Name the case in an error that comes of it."""
    try:
        yield
    except Exception as error:
        error.add_note(f"case: {', '.join(map(str, case))}")
        raise
