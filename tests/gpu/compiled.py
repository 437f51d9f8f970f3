"""CUDA kernels compiled for the host by a C++ compiler and run there, for tests without a GPU; see `host.Host`.

Threads of a block are fibers, which run in any order up to the next barrier, as a seed has it; blocks follow one
another. What threads write between two barriers is seen by those that run after them, so that a missing barrier gives a
wrong answer for some seed. What the compiler is given is the text that NVRTC would get.
"""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu.host import Host

from semiring.kernels.cuda.dense import engine, exchange
from semiring.kernels.cuda.history import blocks, edges, host, matrix

RUNTIME = Path(__file__).with_name("compiled.hpp")
COMMAND = "g++ -std=c++17 -O1 -w -ffp-contract=off -fno-strict-aliasing -fno-gnu-unique -shared -fPIC".split()
ARGUMENTS = 16  # at most, of a kernel; all of them are numbers and addresses of 8 bytes


def is_available() -> bool:
    """Whether there is a compiler for the host, which has fibers."""
    return shutil.which("g++") is not None


class Compiled:
    """What `launch.Module` is, on a host's memory."""

    def __init__(self, host: Host, folder: Path, seed: int = 0):
        self.host, self.folder, self.seed = host, folder, seed
        self.launched: list[str] = []

    def module(self, source: str) -> Any:
        library: list[Any] = []  # compiled when its first kernel is launched

        def function(name: str, threads: int, shared: int = 0) -> Callable[..., None]:
            assert not shared, "dynamic shared memory is not played"

            def launch(across: int, down: int, *arguments: int) -> None:
                assert 0 < across < 1 << 31 and 0 < down <= 65_535 and len(arguments) <= ARGUMENTS
                self.launched.append(name)
                if not library:
                    library.append(_library(source, self.folder))
                self.seed += 1
                self.host.give(lambda seed=self.seed: _run(library[0], name, across, down, threads, seed, arguments))

            launch.at_hand = lambda: True
            return launch

        return SimpleNamespace(function=function)


class Report:
    """What launches write about the data."""

    tally = 0

    def __init__(self, host: Host):
        self.lines = host.array(np.zeros(4, "i8"))
        self.host = self.lines.data.ptr

    def clear(self) -> None:
        self.lines[...] = 0

    @property
    def flags(self) -> int:
        return int(self.lines.tolist()[2])

    def read(self) -> exchange.Findings:
        return exchange.Findings(0, 0, self.flags)


def host_of(monkeypatch: pytest.MonkeyPatch, folder: Path, *modules: Any, multiprocessors: int = 2) -> Host:
    """A host that from now on runs the kernels of some modules of the library."""
    host = Host(None)
    host.stand_in(monkeypatch)
    instead = {"Module": Compiled(host, folder).module, "memory": host.memory,
               "multiprocessors": lambda: multiprocessors}
    for module in modules:
        for name in instead.keys() & vars(module).keys():
            monkeypatch.setattr(module, name, instead[name])
    return host


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path, seed: int = 0, streams: bool = False) -> Compiled:
    """From now on the historical kernels, and those for single elements, run on a host of memory.

    The seed is of the order of threads; with `streams` of that of streams too, and what is given is done when somebody
    waits for it.
    """
    played = Compiled(Host(seed if streams else None), folder, seed)
    played.host.stand_in(monkeypatch)
    for module in (blocks, edges, matrix, engine):
        monkeypatch.setattr(module, "Module", played.module)
    for module in (edges, host):
        monkeypatch.setattr(module, "synchronize", played.host.finish)
    for module in (blocks, edges, matrix):
        module.functions.cache_clear()
    return played


def _run(library: Any, name: str, across: int, down: int, threads: int, seed: int, arguments: tuple[int, ...]) -> None:
    values = (ctypes.c_longlong * ARGUMENTS)(*(int(a) for a in arguments))
    kernel = ctypes.cast(getattr(library, name), ctypes.c_void_p)
    library.run_kernel(kernel, across, down, threads, seed, values)


def _library(source: str, folder: Path) -> Any:
    """The text as a shared library; one that was compiled in this folder before is loaded again."""
    name = hashlib.sha256(source.encode()).hexdigest()[:16]
    library = folder / f"{name}.so"
    if not library.exists():
        text = folder / f"{name}.cpp"
        text.write_text(f'#include "{RUNTIME}"\n{source}', encoding="utf-8")
        command = [*COMMAND, str(text), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert not done.returncode, done.stderr[:4000]
    loaded = ctypes.CDLL(str(library))
    loaded.run_kernel.argtypes = [ctypes.c_void_p, *[ctypes.c_longlong] * 4, ctypes.c_void_p]
    return loaded
