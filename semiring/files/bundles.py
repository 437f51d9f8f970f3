"""Named arrays and their metadata in one file, which can be mapped into memory.

The file is an uncompressed archive of .npy files, in which the elements of each array begin at a multiple of `PAGE`.
`numpy.load` opens it too. The first member is a JSON text with the format's version. Nothing is unpickled.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NoReturn
from zipfile import ZIP_STORED, ZipFile, ZipInfo
from zlib import crc32

import numpy as np

from semiring.errors import SemiringError
from semiring.graphs.texts import clip_repr, shown

from .streams import OPENERS, created

VERSION = 1
ABOUT = "about.json"
PAGE = 4096  # bytes
PADDING = 0xD935  # an empty field of a member's header, as zipalign uses it
ZIP64 = 20  # bytes of the field with 64-bit sizes in every member's header
FIXED = 30  # bytes of a member's header before its name
ABOUT_BYTES = 1 << 32  # the most bytes of the JSON text
CHUNK = 1 << 26  # bytes per step of the checksum


def path_of(path: Any) -> Path:
    """Check and return a path.

    Raises
    ------
    SemiringError
        If it is not a path, or ends in a compression (compressed files cannot be mapped).
    """
    if not isinstance(path, (str, os.PathLike)) or isinstance(os.fspath(path), bytes) or "\0" in os.fspath(path):
        raise SemiringError(f"path must be the name of a file, not {clip_repr(path)}")
    found = Path(path)
    if found.suffix.lower() in OPENERS:
        raise SemiringError(f"{shown(found)}: this file is mapped into memory and cannot be compressed: use a name "
                            f"without {found.suffix}")
    return found


def write_bundle(path: Path, kind: str, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a file completely, or not at all.

    Parameters
    ----------
    path : Path
    kind : str
        What the file holds; `Bundle` checks it.
    about : mapping
        Metadata that JSON can hold.
    arrays : mapping of str to ndarray
        One-dimensional arrays of numbers.

    Raises
    ------
    OSError
        With the path for its `filename`.
    """
    said = {"kind": kind, "version": VERSION, "byteorder": sys.byteorder, **about}
    with created(path) as file, ZipFile(file, "w", ZIP_STORED) as archive:
        archive.writestr(ZipInfo(ABOUT), json.dumps(said))
        for name, array in arrays.items():
            _write(archive, file, f"{name}.npy", np.ascontiguousarray(array))


def _write(archive: ZipFile, file: IO[bytes], name: str, array: np.ndarray) -> None:
    head = BytesIO()
    np.lib.format.write_array_header_1_0(head, np.lib.format.header_data_from_array_1_0(array))
    entry = ZipInfo(name)
    before = file.tell() + FIXED + len(name) + ZIP64 + 4 + head.tell()
    gap = -before % PAGE
    entry.extra = struct.pack("<HH", PADDING, gap) + bytes(gap)
    with archive.open(entry, "w", force_zip64=True) as member:
        member.write(head.getvalue())
        view = array.view(np.uint8)
        for begin in range(0, len(view), CHUNK):
            member.write(view[begin : begin + CHUNK].data)


class Bundle:
    """A file that `write_bundle` wrote.

    Parameters
    ----------
    path : Path
    kind : str

    Attributes
    ----------
    about : dict

    Raises
    ------
    SemiringError
        If the file holds something else, is damaged, or has another version or byte order.
    OSError
        If it cannot be read.
    """

    def __init__(self, path: Path, kind: str) -> None:
        self.path = path
        with open(path, "rb") as file:  # errors of the system pass unchanged
            self._size = os.fstat(file.fileno()).st_size
        try:
            with ZipFile(path) as archive:
                self._members = {entry.filename: entry for entry in archive.infolist()}
                if len(self._members) < len(archive.infolist()) or self._members[ABOUT].file_size > ABOUT_BYTES:
                    raise ValueError(ABOUT)
                about = json.loads(archive.read(ABOUT))
                known = about["kind"], about["version"], about["byteorder"]
        except Exception:  # zipfile raises many types of errors for a damaged archive
            self.refuse(f"it is not a file of {kind}, or damaged or cut short")
        if known[0] != kind:
            self.refuse(f"it holds {shown(known[0])}, not {kind}")
        if known[1] != VERSION:
            self.refuse(f"it has version {shown(known[1])} of this format, but this library reads {VERSION}")
        if known[2] != sys.byteorder:
            self.refuse(f"it was written on a machine with another byte order, {shown(known[2])}-endian")
        self.about: dict[str, Any] = about

    def refuse(self, why: str) -> NoReturn:
        """Raise an error that names the file."""
        raise SemiringError(f"{shown(self.path)} cannot be opened: {why}; write it again")

    def array(self, name: str, dtype: Any, length: int | None = None, mapped: bool = False) -> np.ndarray:
        """Return a one-dimensional array: read, with its checksum verified, or mapped, with only its size checked.

        `dtype` may be a tuple of dtypes, of which the array must have one.

        Raises
        ------
        SemiringError
            If it is missing, damaged, or has another dtype or length.
        """
        try:
            entry = self._members[f"{name}.npy"]
            if entry.compress_type != ZIP_STORED or entry.flag_bits & 1:
                raise ValueError("compressed or encrypted")
            with open(self.path, "rb") as file:
                file.seek(entry.header_offset)
                head = file.read(FIXED)
                begin = entry.header_offset + FIXED + sum(struct.unpack("<HH", head[26:30]))
                file.seek(begin)
                if np.lib.format.read_magic(file) != (1, 0):
                    raise ValueError("another version of .npy")
                shape, fortran, found = np.lib.format.read_array_header_1_0(file)
                at = file.tell()
            wanted = [np.dtype(d) for d in (dtype if isinstance(dtype, tuple) else (dtype,))]
            sound = found in wanted and len(shape) == 1 and not fortran and not found.hasobject
            size = at - begin + shape[0] * found.itemsize if sound else -1
            sound = sound and size == entry.file_size and begin + size <= self._size and length in (None, shape[0])
        except Exception:  # as above
            sound = False
        if not sound:
            self.refuse(f"its array {name!r} is missing, damaged, or of another shape or dtype")
        if not shape[0]:
            return np.empty(0, found)
        if mapped:
            return np.memmap(self.path, found, "r", at, shape).view(np.ndarray)
        with open(self.path, "rb") as file:
            file.seek(begin)
            total = crc32(file.read(at - begin))
            result = np.fromfile(file, found, shape[0])
        view = result.view(np.uint8)
        for start in range(0, len(view), CHUNK):
            total = crc32(view[start : start + CHUNK].data, total)
        if len(result) != shape[0] or total != entry.CRC:
            self.refuse(f"its array {name!r} has a wrong checksum")
        return result
