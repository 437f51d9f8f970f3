"""Generated modules on disk, one directory for each user, so that compiled code outlives the process.

A module's file name holds a hash of its text, of the intrinsics it uses and of Numba's version; it is written once,
and Numba keeps the machine code beside it (with its own check of the host's CPU).
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import sys
import tempfile
import threading
from pathlib import Path
from types import ModuleType

_lock = threading.RLock()
_modules: dict[str, ModuleType] = {}


def cache_directory() -> Path:
    """Where generated modules and their machine code are kept.

    ``SEMIRING_CACHE_DIR``, else the platform's cache directory; when that cannot be written to, a temporary
    directory that goes with the process.
    """
    directory = _wanted()
    return directory if _writable(directory) else _temporary()


def _wanted() -> Path:
    if chosen := os.environ.get("SEMIRING_CACHE_DIR"):
        return Path(chosen).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "semiring"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "semiring" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "semiring"


def _writable(directory: Path) -> bool:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


@functools.cache
def _temporary() -> Path:
    directory = Path(tempfile.mkdtemp(prefix="semiring-"))
    atexit.register(_remove, directory, os.getpid())
    return directory


def _remove(directory: Path, owner: int) -> None:
    if os.getpid() == owner:  # not in a forked child
        shutil.rmtree(directory, ignore_errors=True)


@functools.cache
def _tools() -> bytes:
    """What a generated module depends on beside its own text."""
    parts = [Path(__file__).with_name(name).read_bytes() for name in ("raw.py", "scalar.py")]
    return b"\0".join([importlib.metadata.version("numba").encode(), *parts])


def load(name: str, text: str) -> ModuleType:
    """Import the generated module `text`; from disk, written there first when it is new."""
    digest = hashlib.sha256(_tools() + b"\0" + text.encode()).hexdigest()[:20]
    stem = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name) + "_" + digest
    with _lock:
        if stem not in _modules:
            _modules[stem] = _import(stem, _write(cache_directory(), stem, text))
        return _modules[stem]


def _write(directory: Path, stem: str, text: str) -> Path:
    path = directory / f"{stem}.py"
    if not path.exists():
        descriptor, draft = tempfile.mkstemp(suffix=".py", prefix=stem, dir=directory)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, path)  # another process may have done the same: same name, same text
    return path


def _import(stem: str, path: Path) -> ModuleType:
    module_name = f"semiring_generated_{stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # Numba looks the module of a function up by name
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module_name]
        raise
    return module
