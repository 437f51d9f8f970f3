"""NVRTC from its wheel, through ctypes: compiles CUDA on machines that have no GPU."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest


@cache
def _library() -> Any:
    """The shared library of the wheel `nvidia-cuda-nvrtc` (or `-cu12`); None where it is not installed."""
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(p) for p in spec.submodule_search_locations or ()] if spec else []
    found = [lib for folder in folders for lib in folder.glob("*/lib/libnvrtc.so.*") if "alt" not in lib.name]
    if not found:
        return None
    # NVRTC looks for its builtins by name: loaded before, they are found wherever they lie.
    for builtins in found[0].parent.glob("libnvrtc-builtins.so.*"):
        ctypes.CDLL(str(builtins))
    return ctypes.CDLL(str(found[0]))


def is_installed() -> bool:
    """Whether `compile` can be called."""
    return _library() is not None


needs_compiler = pytest.mark.skipif(not is_installed(), reason="the wheel nvidia-cuda-nvrtc is not installed")


def compile(source: str, options: tuple[str, ...]) -> tuple[bool, str]:
    """Whether the compiler takes a source, and what it says."""
    nvrtc, program, size = _library(), ctypes.c_void_p(), ctypes.c_size_t()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"test.cu", 0, None, None) == 0
    try:
        texts = [option.encode() for option in options]
        status = nvrtc.nvrtcCompileProgram(program, len(texts), (ctypes.c_char_p * len(texts))(*texts))
        assert nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size)) == 0
        log = ctypes.create_string_buffer(size.value)
        assert nvrtc.nvrtcGetProgramLog(program, log) == 0
        return status == 0, log.value.decode()
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def complaint(source: str, *options: str) -> str:
    """What the compiler says of a source, refusals and warnings alike; empty where it takes it without a word."""
    accepted, log = compile(source, options)
    return "" if accepted and not log.strip("\0 \n") else log or "refused"


def complaints(sources: Iterable[str], *options: str) -> list[str]:
    """What the compiler says of those of many sources that it does not take without a word."""
    with ThreadPoolExecutor(2) as pool:  # NVRTC compiles in several threads at once
        return [said for said in pool.map(lambda source: complaint(source, *options), sources) if said]
