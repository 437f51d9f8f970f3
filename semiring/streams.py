"""Opening files, compressed or not, and saying which line of one is wrong."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn

from .errors import GraphError

OPENERS: dict[str, Callable] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def suffix(path: Path) -> str:
    """The ending that names the format, without that of a compression."""
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] in OPENERS:
        endings.pop()
    return endings[-1] if endings else ""


def open_file(path: Path, mode: str, **options: Any) -> IO[Any]:
    return OPENERS.get(path.suffix.lower(), open)(path, mode, **options)


def open_text(path: Path) -> IO[str]:
    return open_file(path, "rt", encoding="utf-8-sig", newline="")


def fail(path: Path, line: int, found: str, expected: str) -> NoReturn:
    raise GraphError(f"{path}, line {line}: found {found}, expected {expected}")


@contextmanager
def about(where: str) -> Iterator[None]:
    """Errors of the code inside say which file, and perhaps line, they are about."""
    try:
        yield
    except GraphError as e:
        raise GraphError(f"{where}: {e}") from None
