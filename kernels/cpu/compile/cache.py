"""Generated modules and their machine code: kept for the process, and on disk for later ones.

Nothing on disk is believed. A module runs from the text in hand, whatever its file says; machine code runs if it has
the digest that the index of its function lists, and the index counts if it has its own. What fails is made anew and
written over. Files that others could write are not read at all. What cannot be written costs later processes time, and
nothing else.
"""

from __future__ import annotations

import functools
import hashlib
import linecache
import os
import stat
import sys
import tempfile
import threading
import warnings
from contextlib import suppress
from math import inf
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from semiring.errors import SemiringWarning

GENERATED = "semiring_generated_"  # begins the names of generated modules
# Modules whose functions and constants go into the machine code of others.
SHARED = (
    "raw.py", "lanes.py", "lane_rows.py", "lane_powers.py", "lane_folds.py", "lane_prefixes.py", "lane_steps.py",
    "lane_stacks.py", "scalar.py", "jit.py", "passes.py", "parts.py", "inference.py",
    "../bits/vectors.py", "../bits/loops.py",
    "../dense/step_gradients_loops.py",
    "../../blocks/bits.py", "../../numpy/structure.py",
)

KINDS = frozenset({".py", ".nbi", ".nbc", ".tmp", ".rents"})  # endings of what lies in the cache directory
RENTS, MOST_RENTS = "interpreted.rents", 500  # a line of name and seconds for each function; how many are kept

_lock = threading.RLock()
_modules: dict[str, ModuleType] = {}


def cache_directory() -> Path | None:
    """The folder for generated modules and their machine code.

    ``SEMIRING_CACHE_DIR``, else the platform's cache directory. None where there cannot be one, or where others than
    this user and the administrator can write to it; the latter with a warning.
    """
    try:
        directory = _wanted()
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = directory.stat()
    except (OSError, RuntimeError):  # RuntimeError: this user has no home
        return None
    if not _trusted(status):
        _warn(directory)
        return None
    return directory


def _wanted() -> Path:
    if chosen := os.environ.get("SEMIRING_CACHE_DIR"):
        return Path(chosen).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "semiring"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "semiring" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "semiring"


def _trusted(status: os.stat_result) -> bool:
    """Whether only this user and the administrator can write to what has this status."""
    if not hasattr(os, "geteuid"):  # Windows: the user's own directories are private there
        return True
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@functools.cache
def _warn(directory: Path) -> None:
    warnings.warn(
        f"others can write to the cache directory {directory}, so compiled code is neither read from it nor kept, and "
        f"every process compiles again; make it yours alone (chown, chmod 700), or set SEMIRING_CACHE_DIR to a "
        f"directory that is",
        SemiringWarning,
        stacklevel=2,
    )


@functools.cache
def _shared() -> bytes:
    folder = Path(__file__).parent
    return b"\0".join((folder / name).read_bytes() for name in SHARED)


def stem(name: str, text: str) -> str:
    """A file name for a module: a readable part, and a hash of its text and of what other modules add to its code."""
    digest = hashlib.sha256(_shared() + b"\0" + text.encode()).hexdigest()[:20]
    readable = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)
    return f"{readable[:80]}_{digest}"


@functools.cache
def stem_of(module_name: str) -> str:
    """The file name of a module that is loaded already: a generated one, or one of the library's own."""
    if module_name.startswith(GENERATED):
        return module_name.removeprefix(GENERATED)
    file = sys.modules[module_name].__file__
    assert file is not None
    return stem(module_name.rpartition(".")[2], Path(file).read_text(encoding="utf-8"))


def load(name: str, text: str, *, shown: bool = True) -> ModuleType:
    """The generated module `text`, run once in a process.

    If it is `shown` it is written to the cache directory, for people to read. What serves all algebras need not be: it
    is a template of the library's with a few numbers before it.
    """
    key = stem(name, text)
    with _lock:
        if key not in _modules:
            _modules[key] = _run(key, text, cache_directory() if shown else None)
        return _modules[key]


def _run(key: str, text: str, directory: Path | None) -> ModuleType:
    path = f"<{GENERATED}{key}>"
    if directory is not None:  # for people and debuggers to read; it is never read back
        file = directory / f"{key}.py"
        path = str(file)
        if _read(file) != text.encode():
            _write(file, text.encode())
    linecache.cache[path] = len(text), None, text.splitlines(keepends=True), path  # tracebacks show what was run
    module = ModuleType(GENERATED + key)
    module.__file__ = path
    sys.modules[module.__name__] = module  # Numba looks the module of a function up by name
    try:
        exec(compile(text, path, "exec"), module.__dict__)
    except BaseException:
        del sys.modules[module.__name__]
        raise
    return module


class Function(NamedTuple):
    """A function of a generated module, which is compiled when it is first needed.

    Parameters
    ----------
    module, text : str
        Name and text of the module, as `load` takes them.
    name : str
    shown : bool
        As for `load`.
    """

    module: str
    text: str
    name: str
    shown: bool = True

    @property
    def on_disk(self) -> str:
        """The name under which its machine code is kept."""
        return f"{stem(self.module, self.text)}.{self.name}"

    def make(self) -> Any:
        """The function, compiled now or loaded from the disk."""
        return getattr(load(self.module, self.text, shown=self.shown), self.name).made()


class Entries:
    """The machine code of one function on disk, an entry for each signature and kind of machine.

    ``NAME.DIGEST.nbc`` holds an entry, under the start of its own digest, so that processes that write at once write
    to different files or the same bytes. ``NAME.nbi`` lists them, a line of key and digest each, after a digest of all
    these lines.

    Parameters
    ----------
    name : str
        Names the function and everything that its code depends on beside the key.
    """

    def __init__(self, name: str):
        self.name = name

    def load(self, key: str) -> bytes | None:
        """The entry of a key, as it was saved; None where there is none, or not as it was saved."""
        directory = cache_directory()
        if directory is None:
            return None
        digest = self._index(directory).get(key)
        if digest is None:
            return None
        file = self._file(directory, digest)
        data = _read(file)
        if data is None or hashlib.sha256(data).hexdigest() != digest:
            with suppress(OSError):
                file.unlink()
            return None
        return data

    def save(self, key: str, data: bytes) -> None:
        """Keep an entry if the disk takes it, in place of an earlier one with this key."""
        directory = cache_directory()
        if directory is None:
            return
        digest = hashlib.sha256(data).hexdigest()
        if _write(self._file(directory, digest), data):
            index = self._index(directory) | {key: digest}
            lines = "".join(f"{key} {digest}\n" for key, digest in index.items()).encode()
            _write(directory / f"{self.name}.nbi", hashlib.sha256(lines).hexdigest().encode() + b"\n" + lines)

    def _file(self, directory: Path, digest: str) -> Path:
        return directory / f"{self.name}.{digest[:16]}.nbc"

    def _index(self, directory: Path) -> dict[str, str]:
        """The digests by key; empty where the index is not as it was written."""
        data = _read(directory / f"{self.name}.nbi") or b""
        digest, _, lines = data.partition(b"\n")
        if hashlib.sha256(lines).hexdigest().encode() != digest:
            return {}
        return dict(map(str.split, lines.decode().splitlines()))


def kept_rents() -> dict[str, float]:
    """Seconds that earlier processes took for the work of functions that they did not compile, by the functions' names.

    A program that changes this file can make the library compile too early or too late, and nothing else.
    """
    directory = cache_directory()
    lines = b"" if directory is None else _read(directory / RENTS) or b""
    rents = {}
    for line in lines.decode(errors="replace").splitlines():
        name, _, seconds = line.partition(" ")
        with suppress(ValueError):  # not a line of ours
            if 0 <= (value := float(seconds)) < inf:
                rents[name] = value
    return rents


def keep_rents(rents: dict[str, float]) -> None:
    """Keep what functions have taken by now, in place of what was known of them; the oldest are forgotten."""
    directory = cache_directory()
    if directory is None:
        return
    known = {name: seconds for name, seconds in kept_rents().items() if name not in rents} | rents
    lines = [f"{name} {seconds:.6f}\n" for name, seconds in known.items()]
    _write(directory / RENTS, "".join(lines[-MOST_RENTS:]).encode())


def clear_cache() -> int:
    """Delete generated modules and machine code of earlier calls from the disk.

    What this process has loaded stays in use. Nothing else in the directory is touched.

    Returns
    -------
    int
        Bytes that are free again.

    Examples
    --------
    >>> import semiring as sr
    >>> sr.clear_cache() >= 0  # doctest: +SKIP
    True
    """
    directory, freed = cache_directory(), 0
    for file in sorted(directory.iterdir()) if directory is not None else []:
        with suppress(OSError):  # another process was faster, or it may not be deleted
            if file.suffix in KINDS and file.is_file():
                size = file.stat().st_size
                file.unlink()
                freed += size
    return freed


def _read(path: Path) -> bytes | None:
    """What a file holds; None where it is absent, unreadable, or something that others could have put there."""
    try:
        status = path.lstat()
        return path.read_bytes() if stat.S_ISREG(status.st_mode) and _trusted(status) else None
    except OSError:
        return None


def _write(path: Path, data: bytes) -> bool:
    """Whether `data` could be written: all of it, in one step, or nothing (a full or read-only disk, a quota)."""
    draft = None
    try:
        descriptor, draft = tempfile.mkstemp(suffix=".tmp", dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(draft, path)
        draft = None
        return True
    except OSError:
        return False
    finally:
        if draft is not None:
            with suppress(OSError):
                os.unlink(draft)
