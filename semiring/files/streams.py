"""Reading a file once, writing a file completely or not at all, and errors that name a line."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import re
import sys
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from stat import S_IMODE
from typing import IO, Any, NoReturn, TextIO, cast

from semiring.errors import GraphError, SemiringError, SemiringWarning
from semiring.graphs.names import near
from semiring.graphs.texts import quoted, shown
from semiring.machine.memory import require

from .numerals import integer, number

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
PACKED: dict[Callable[..., Any], re.Pattern[bytes]] = {
    gzip.open: re.compile(rb"\x1f\x8b\x08"), lzma.open: re.compile(rb"\xfd7zXZ\0"),
    bz2.open: re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
}
CHUNK = 1 << 24  # bytes; free memory is checked before each further chunk
BOM = "\ufeff"
BLANKS = " \t\n\r\f\v"
WORD = re.compile(f"[^{BLANKS}]+")
LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


def suffix(path: Path) -> str:
    """The ending of the format, without that of a compression."""
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] in OPENERS:
        endings.pop()
    return endings[-1] if endings else ""


def open_file(file: Path | IO[bytes], path: Path, mode: str) -> IO[bytes]:
    """Open a file, or wrap an open one, with the compression of the path's ending."""
    return OPENERS.get(path.suffix.lower(), _as_it_is)(file, mode)


def _as_it_is(file: Any, mode: str) -> Any:
    return open(file, mode) if isinstance(file, Path) else file


def named(path: str | os.PathLike[str] | IO[Any]) -> tuple[Path | IO[Any], Path]:
    """A file, and its name in messages, whose ending gives the format.

    Raises
    ------
    GraphError
        If the path is bytes.
    """
    if hasattr(path, "read") or hasattr(path, "write"):
        name = getattr(path, "name", None)
        return cast(IO[Any], path), Path(name if isinstance(name, str) else f"<{type(path).__name__}>")
    if isinstance(path, (bytes, bytearray, memoryview)):
        raise GraphError(f"{type(path).__name__} is not a path: pass io.BytesIO(data) to read bytes")
    found = Path(path)
    return found, found


def read_file(file: Path | IO[Any], name: Path) -> bytes:
    """The content of a file, decompressed."""
    if isinstance(file, Path):
        if file.is_dir():
            raise GraphError(f"{shown(file)} is a folder: pass a file in it")
        if not file.exists():
            siblings = sorted(p.name for p in file.parent.iterdir()) if file.parent.is_dir() else []
            raise GraphError(f"there is no file {shown(file)}{near(file.name, siblings)}")
    try:
        data = read_bytes(file, name)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as e:
        raise GraphError(f"{shown(name)} cannot be read: {shown(e)}") from None
    except ValueError as e:  # from file objects that are closed, or open as text that is not UTF-8
        raise GraphError(f"{shown(name)} cannot be read: {shown(e)}; open it with open(path, 'rb')") from None
    if not data:
        behind = not isinstance(file, Path) and file.seekable() and file.tell() > 0
        raise GraphError(f"{shown(name)} is "
                         f"empty{' from its position on: call seek(0) to go to its beginning' * behind}")
    return data


def read_bytes(file: Path | IO[Any], name: Path | None = None) -> bytes:
    """The content of a file, decompressed; messages call it by `name`.

    The file is opened once and read in order, so it may be a pipe. A compression is also recognized by its first bytes,
    because standard input and file objects have no ending.
    """
    if isinstance(file, Path):
        name = name or file
        with open(file, "rb") as plain, open_file(plain, file, "rb") as unpacked:
            data = _all(unpacked, name)
    else:
        name = name or Path(f"<{type(file).__name__}>")
        data = _all(file, name)
    for opener, packed in PACKED.items():
        if packed.match(data):
            return _all(opener(io.BytesIO(data)), name)
    return data


def _all(file: IO[Any], name: Path) -> bytes:
    """The rest of an open file; text as UTF-8."""
    parts: list[bytes] = []
    while part := file.read(CHUNK):
        if parts:
            size = CHUNK * len(parts) + len(part)
            require(size + CHUNK, f"{shown(name)}, of which {size} bytes are read,", "read a part of it")
        parts.append(part.encode() if isinstance(part, str) else part)
    return b"".join(parts)


def text_of(path: Path, data: bytes, errors: str = "strict") -> str:
    """The text of a UTF-8 file."""
    try:
        text = data.decode("utf-8", errors)
    except UnicodeDecodeError as e:
        hint = "; it begins like UTF-16: save it as UTF-8" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        line = data.count(b"\n", 0, e.start) + 1
        raise GraphError(f"{shown(path)} is not UTF-8 text ({e.reason} in line {line}){hint}") from None
    if "\0" in text:
        fail(path, text.count("\n", 0, text.index("\0")) + 1, "a NUL character", "text")
    return text.removeprefix(BOM)


def numbered_lines(text: str, start: int = 1) -> Iterator[tuple[int, str]]:
    """The numbered lines of a text, from a number on, with any line ends."""
    for k, line in enumerate(LINE.finditer(text), 1):
        if k >= start:
            yield k, line[0]


def fail(path: Path, line: int, found: str, expected: str) -> NoReturn:
    raise GraphError(f"{shown(path)}, line {line}: found {found}, expected {expected}")


def weight_of(path: Path, line: int, text: str) -> float:
    """The number in the text of a weight.

    Raises
    ------
    GraphError
        If the text is not a number.
    """
    value = number(text)
    if value is None or value != value:
        fail(path, line, f"the weight {quoted(text)}", "a number that fits 64 bits")
    return value


def vertices_from_one(path: Path, line: int, words: Sequence[str], n: int) -> tuple[int, ...]:
    """The vertices in a line, counted from 1."""
    found = []
    for word in words:
        vertex = integer(word, 1, n)
        if vertex is None:
            fail(path, line, f"vertex {quoted(word)}", f"an integer from 1 to {n}")
        found.append(vertex)
    return tuple(found)


def warn(message: str) -> None:
    """Warn about a file; the warning points to the caller outside of this library."""
    outside = sys._getframe(1)
    depth = 2
    while outside.f_back is not None and outside.f_globals.get("__name__", "").startswith("semiring."):
        outside, depth = outside.f_back, depth + 1
    warnings.warn(shown(message), SemiringWarning, stacklevel=depth)


@contextmanager
def about(where: str) -> Iterator[None]:
    """Errors raised inside name the file, and perhaps the line."""
    try:
        yield
    except GraphError as e:
        raise GraphError(f"{shown(where)}: {e}") from None


class Opened(type(Path())):  # type: ignore[misc]
    """The name of an open file to write to."""

    file: IO[Any]


@contextmanager
def created(path: Path) -> Iterator[IO[bytes]]:
    """A new file, in which a writer can seek; it is compressed at the end if the path says so.

    It is written to a temporary name and then renamed, so an error leaves the old file unchanged. A pipe, or another
    special file, is written at the end.

    Raises
    ------
    OSError
        With the path for its `filename`.
    """
    if isinstance(path, Opened):
        with tempfile.TemporaryFile() as draft:
            yield draft
            if isinstance(path.file, io.TextIOBase):
                draft.seek(0)
                path.file.write(draft.read().decode())
            else:
                packing = isinstance(path.file, (gzip.GzipFile, bz2.BZ2File, lzma.LZMAFile))
                _finish(draft, path.file, path.with_suffix("") if packing else path)
        return
    target = Path(os.path.realpath(path))
    try:
        if path.exists() and not path.is_file():  # by its own name, since a pipe in /dev/fd has no other
            with tempfile.TemporaryFile() as draft, open(path, "wb") as last:
                yield draft
                _finish(draft, last, path)
            return
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:64]}.", dir=target.parent)
        try:
            with os.fdopen(descriptor, "w+b") as file:
                if path.suffix.lower() in OPENERS:
                    with tempfile.TemporaryFile() as draft:
                        yield draft
                        _finish(draft, file, path)
                else:
                    yield file
            os.chmod(name, _mode(target))
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as e:
        # NumPy gives no error number for a full disk
        raise OSError(e.errno or errno.EIO, e.strerror or str(e), str(path)) from None


def _finish(draft: IO[bytes], file: IO[bytes], path: Path) -> None:
    """Copy a draft to a file that is open, compressing as the path says."""
    draft.seek(0)
    if path.suffix.lower() not in OPENERS:
        copyfileobj(draft, file)
        return
    with open_file(file, path, "wb") as packed:
        copyfileobj(draft, packed)


def _mode(target: Path) -> int:
    """The permissions of the replaced file, or of a new one."""
    if target.exists():
        return S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextmanager
def utf8(path: Path) -> Iterator[TextIO]:
    """A new text file in UTF-8."""
    with created(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        try:
            yield text
        except UnicodeEncodeError as e:
            letter = quoted(e.object[e.start])
            raise SemiringError(f"{shown(path)}: {letter} cannot be encoded as UTF-8: rename the vertex") from None
        finally:
            text.detach()
