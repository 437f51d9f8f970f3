"""Packed matrices in ``.npy`` files; `PackedMatrix.save` says how they are laid out."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from semiring.errors import SemiringError
from semiring.kernels.blocks.bits import WORD, AnyRows, PackedRows, row_words

STORED = np.dtype("<u8")


def save(matrix: PackedRows, path: str | os.PathLike[str]) -> None:
    """Write a matrix beside its place first: the words may be mapped from the very file that is replaced."""
    target = _in_a_folder(path)
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    width, used = row_words(matrix.shape[1]), -(-matrix.shape[1] // WORD)
    try:
        with open(draft, "wb") as file:
            header = {"descr": STORED.str, "fortran_order": False, "shape": (matrix.shape[0], width)}
            np.lib.format.write_array_header_1_0(file, header)
            for a, b in matrix.bands():
                block = matrix.words[a:b, :used]
                if used < width:
                    block = np.pad(block, ((0, 0), (0, width - used)))
                np.ascontiguousarray(block, STORED).tofile(file)
            _write_shape(file, matrix.shape)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def load(kind: type[AnyRows], path: str | os.PathLike[str], mmap: bool | str) -> AnyRows:
    """The matrix of a file, mapped or in memory of its own."""
    mode = "r" if isinstance(mmap, bool) else mmap
    if mode not in ("r", "r+", "c"):
        raise SemiringError(f"mmap is True, False, 'r', 'r+' or 'c', not {mmap!r}")
    try:
        words = np.load(path, mmap_mode=mode, allow_pickle=False)  # type: ignore[arg-type]
        if not isinstance(words, np.memmap) or words.ndim != 2 or words.dtype != STORED or not words.flags.c_contiguous:
            raise ValueError("its first array is not one of packed words, 2-D and uint64")
        with open(path, "rb") as file:
            file.seek(words.offset + words.nbytes)
            rows, columns = np.load(file, allow_pickle=False).tolist()
    except (ValueError, TypeError, EOFError) as e:
        raise SemiringError(
            f"{path} holds no packed matrix as PackedMatrix.save writes it ({e}); words from elsewhere are "
            "taken by PackedMatrix(words, columns)"
        ) from None
    matrix = kind(np.asarray(words).view(np.uint64), columns)
    if rows != len(words):
        raise SemiringError(f"{path} says it has {rows} rows, and has {len(words)}")
    if mmap is not False:
        return matrix
    result = matrix.copy()
    rest, used = columns % WORD, -(-columns // WORD)
    beyond = matrix.words[:, used:].any() or (rest and (result.words[:, used - 1] >> np.uint64(rest)).any())
    if beyond:
        raise SemiringError(f"{path} has bits set past its {columns} columns")
    return result


def create(kind: type[AnyRows], path: str | os.PathLike[str], rows: int, columns: int) -> AnyRows:
    """A file of zeros, mapped for writing; the system stores only what is written to it."""
    target = _in_a_folder(path)
    if rows < 0 or columns < 0:
        raise SemiringError(f"a packed matrix cannot have {rows} rows and {columns} columns")
    words = np.lib.format.open_memmap(target, "w+", STORED, (rows, row_words(columns)))
    with open(target, "r+b") as file:
        file.seek(words.offset + words.nbytes)
        _write_shape(file, (rows, columns))
    return kind(np.asarray(words), columns)


def _write_shape(file: object, shape: tuple[int, int]) -> None:
    np.lib.format.write_array(file, np.array(shape, "<i8"), allow_pickle=False)  # type: ignore[arg-type]


def _in_a_folder(path: str | os.PathLike[str]) -> Path:
    """The file that a path leads to, through links."""
    target = Path(path).resolve()
    if not target.parent.is_dir():
        raise SemiringError(f"{path} cannot be written: there is no folder {Path(path).parent}")
    return target
