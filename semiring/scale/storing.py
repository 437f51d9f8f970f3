"""What a caller asks of a closure that goes to a file: where to, within how much memory, with which commits."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from semiring.errors import SemiringError
from semiring.graphs.texts import quoted, shown

from .stores import ENDINGS, FORMED

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
NUMBERS = (int, float, np.integer, np.floating)
MOST = 1 << 63  # bytes, which no machine has


@dataclass(frozen=True)
class Storing:
    """Where a closure goes, and how.

    Attributes
    ----------
    out : Path
    memory : int or None
        Bytes for tiles.
    checkpoint : float or None
        Seconds between commits.
    resume : bool
    hops : Path or None
        Where next hops go, of best paths.
    """

    out: Path
    memory: int | None = None
    checkpoint: float | None = None
    resume: bool = False
    hops: Path | None = None

    @property
    def folder(self) -> Path:
        """What there is before the closure is whole."""
        return self.out.with_name(f"{self.out.name}.partial")


def storing_or_memory(
    out: Any, memory: Any, checkpoint: Any, resume: Any, device: Any, next_hops: Any = None
) -> tuple[Storing | None, int | None]:
    """A file that is written to, or how many bytes of a GPU may be used: `memory` is of one of the two."""
    if out is memory is checkpoint is next_hops is None and resume is False:
        return None, None
    on_gpu = isinstance(device, str) and device in ("gpu", "cuda")
    if on_gpu and out is checkpoint is next_hops is None and resume is False:
        return None, bytes_of(memory)
    return storing(out, memory, checkpoint, resume, next_hops), None


def storing(out: Any, memory: Any, checkpoint: Any, resume: Any, next_hops: Any = None) -> Storing | None:
    """What was asked for, checked; None where nothing was.

    Raises
    ------
    SemiringError
    """
    if out is None:
        for name, value in (
            ("memory", memory), ("checkpoint", checkpoint), ("resume", resume or None), ("next_hops", next_hops),
        ):
            if value is not None:
                raise SemiringError(f"{name}= is of closures that go to a file: give out= too, a path that ends in "
                                    f"{' or '.join(ENDINGS)}" + (", or device='gpu'" if name == "memory" else ""))
        return None
    path = _writable(out, "out", ENDINGS)
    hops = None if next_hops is None else _writable(next_hops, "next_hops", ENDINGS[:1])
    if hops is not None and hops.absolute() == path.absolute():
        raise SemiringError(f"next_hops={shown(hops)} is out, too: give another name")
    number = isinstance(checkpoint, NUMBERS) and not isinstance(checkpoint, bool)
    if checkpoint is not None and not (number and 0 < checkpoint < np.inf):
        raise SemiringError(f"checkpoint is a number of seconds, more than 0, and is {quoted(checkpoint)}")
    if resume is not True and resume is not False:
        raise SemiringError(f"resume must be True or False, and is {quoted(resume)}")
    every = None if checkpoint is None else float(checkpoint)
    return Storing(path, None if memory is None else bytes_of(memory), every, resume, hops)


def _writable(given: Any, what: str, endings: tuple[str, ...]) -> Path:
    """The path of a file that may be written, or overwritten.

    Raises
    ------
    SemiringError
    """
    try:
        path = Path(given)
    except TypeError:
        raise SemiringError(f"{what} must be a path, and is {quoted(given)}") from None
    if path.suffix not in endings:
        raise SemiringError(f"{what}={shown(path)}: it is written as {' or '.join(endings)}")
    try:
        os.lstat(path.with_name(f"{path.name}.partial"))  # the longest name that is needed
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as e:
        raise SemiringError(f"{what}={shown(path)}: no file can be called so: {getattr(e, 'strerror', None) or e}"
                            ) from None
    folder = path.absolute().parent
    if not folder.is_dir():
        raise SemiringError(f"{what}={shown(path)}: there is no folder {shown(path.parent)}")
    if path.suffix == ".npy" and path.is_dir():
        raise SemiringError(f"{what}={shown(path)} is a folder, and a file would take its place: give another name")
    if path.suffix == ".zarr" and path.exists() and not any((path / name).is_file() for name in FORMED):
        raise SemiringError(f"{what}={shown(path)} is there and holds something other than a zarr array: give another "
                            "name")
    if not os.access(folder, os.W_OK):
        raise SemiringError(f"{what}={shown(path)}: nothing may be written to the folder {shown(folder)}")
    return path


def bytes_of(text: Any) -> int:
    """An amount of memory: a number of bytes, or a number with K, M, G or T for powers of 1,024.

    Raises
    ------
    SemiringError
        If it is neither.

    Examples
    --------
    >>> bytes_of("8G") == bytes_of("8 GiB") == bytes_of(8 << 30)
    True
    """
    if isinstance(text, NUMBERS) and not isinstance(text, bool) and 0 < text <= MOST and int(text) == text:
        return int(text)
    found = re.fullmatch(r"\s*(\d+\.?\d*)\s*([KMGT]?)(i?B)?\s*", text, re.IGNORECASE) if isinstance(text, str) else None
    size = 0 if found is None else float(found[1]) * UNITS[found[2].upper()]
    if not 1 <= size <= MOST:
        raise SemiringError(f"memory is a number of bytes, or a text such as '8G' or '500M', and is {quoted(text)}")
    return int(size)
