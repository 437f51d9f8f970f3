"""Options of a closure that is written to a file: the path, memory for tiles, commits."""

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
MOST_BYTES = 1 << 63  # more than any machine has


@dataclass(frozen=True)
class Storing:
    """The output of a closure, and how it is computed.

    Attributes
    ----------
    out : Path
    memory : int or None
        For tiles, in bytes.
    checkpoint : float or None
        Seconds between commits.
    resume : bool
    hops : Path or None
        The file for next hops, for best paths.
    """

    out: Path
    memory: int | None = None
    checkpoint: float | None = None
    resume: bool = False
    hops: Path | None = None

    @property
    def folder(self) -> Path:
        """The temporary path until the closure is complete."""
        return self.out.with_name(f"{self.out.name}.partial")


def storing_or_memory(
    out: Any, memory: Any, checkpoint: Any, resume: Any, device: Any, next_hops: Any = None
) -> tuple[Storing | None, int | None]:
    """Options for an output file, or the bytes of a GPU that may be used: `memory` belongs to one of these."""
    if out is memory is checkpoint is next_hops is None and resume is False:
        return None, None
    on_gpu = isinstance(device, str) and device in ("gpu", "cuda")
    if on_gpu and out is checkpoint is next_hops is None and resume is False:
        return None, bytes_of(memory)
    return storing(out, memory, checkpoint, resume, next_hops), None


def storing(out: Any, memory: Any, checkpoint: Any, resume: Any, next_hops: Any = None) -> Storing | None:
    """Check the options; None if none was passed.

    Raises
    ------
    SemiringError
    """
    if out is None:
        for name, value in (
            ("memory", memory), ("checkpoint", checkpoint), ("resume", resume or None), ("next_hops", next_hops),
        ):
            if value is not None:
                raise SemiringError(f"{name}= is for closures that are written to a file: pass out= too, ending in "
                                    f"{' or '.join(ENDINGS)}" + (", or device='gpu'" if name == "memory" else ""))
        return None
    path = _writable(out, "out", ENDINGS)
    hops = None if next_hops is None else _writable(next_hops, "next_hops", ENDINGS[:1])
    if hops is not None and hops.absolute() == path.absolute():
        raise SemiringError(f"next_hops={shown(hops)} is out, too: choose another name")
    number = isinstance(checkpoint, NUMBERS) and not isinstance(checkpoint, bool)
    if checkpoint is not None and not (number and 0 < checkpoint < np.inf):
        raise SemiringError(f"checkpoint must be a number of seconds, more than 0, and is {quoted(checkpoint)}")
    if resume is not True and resume is not False:
        raise SemiringError(f"resume must be True or False, and is {quoted(resume)}")
    every = None if checkpoint is None else float(checkpoint)
    return Storing(path, None if memory is None else bytes_of(memory), every, resume, hops)


def _writable(given: Any, what: str, endings: tuple[str, ...]) -> Path:
    """Check the path of a file to write, or overwrite.

    Raises
    ------
    SemiringError
    """
    try:
        path = Path(given)
    except TypeError:
        raise SemiringError(f"{what} must be a path, and is {quoted(given)}") from None
    if path.suffix not in endings:
        raise SemiringError(f"{what}={shown(path)}: it must end in {' or '.join(endings)}")
    try:
        os.lstat(path.with_name(f"{path.name}.partial"))  # the longest name that is needed
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as e:
        raise SemiringError(f"{what}={shown(path)} is not a possible name: {getattr(e, 'strerror', None) or e}"
                            ) from None
    folder = path.absolute().parent
    if not folder.is_dir():
        raise SemiringError(f"{what}={shown(path)}: the folder {shown(path.parent)} does not exist")
    if path.suffix == ".npy" and path.is_dir():
        raise SemiringError(f"{what}={shown(path)} is a folder, which a file would replace: choose another name")
    if path.suffix == ".zarr" and path.exists() and not any((path / name).is_file() for name in FORMED):
        raise SemiringError(f"{what}={shown(path)} exists and is not a zarr array: choose another "
                            "name")
    if not os.access(folder, os.W_OK):
        raise SemiringError(f"{what}={shown(path)}: the folder {shown(folder)} is not writable")
    return path


def bytes_of(text: Any) -> int:
    """Read an amount of memory: a number of bytes, or a number with K, M, G or T for powers of 1,024.

    Raises
    ------
    SemiringError
        If it is neither.

    Examples
    --------
    >>> bytes_of("8G") == bytes_of("8 GiB") == bytes_of(8 << 30)
    True
    """
    if isinstance(text, NUMBERS) and not isinstance(text, bool) and 0 < text <= MOST_BYTES and int(text) == text:
        return int(text)
    found = re.fullmatch(r"\s*(\d+\.?\d*)\s*([KMGT]?)(i?B)?\s*", text, re.IGNORECASE) if isinstance(text, str) else None
    size = 0 if found is None else float(found[1]) * UNITS[found[2].upper()]
    if not 1 <= size <= MOST_BYTES:
        raise SemiringError(f"memory must be a number of bytes, or a text such as '8G' or '500M', not {quoted(text)}")
    return int(size)
