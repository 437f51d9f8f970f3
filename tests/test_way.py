"""How far a matrix travels on a warm call: files of the library that it passes, and how often it enters one.

Every turn back to a file is a step that a reader has to follow, and a microsecond.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.kernels import interface

HOMES = (Path(sr.__file__).parent, Path(interface.__file__).parent, Path(interface.__file__).parents[1] / "algorithms")


def way(call: Callable[[], Any]) -> list[str]:
    """The files in the order in which functions of theirs are called; calls within a file are not a step.

    Rounds of three steps that repeat are counted once: how many a sweep takes depends on its pace.
    """
    call()
    call()
    files: list[str] = []

    def see(frame: Any, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and any(home in Path(file).parents for home in HOMES) and files[-1:] != [file]:
            files.append(file)
            if files[-3:] == files[-6:-3]:
                del files[-3:]

    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
    return files


def dense() -> Any:
    return np.random.default_rng(0).random((16, 16))


def rows() -> Any:
    return sp.diags_array([np.full(1999, 2.0), np.full(1999, 1.0)], offsets=[1, -1], format="csr")


def spread() -> Any:
    return sp.random_array((400, 400), density=0.01, rng=np.random.default_rng(0), format="csr")


def packed() -> Any:
    return sr.pack(np.random.default_rng(0).random((3000, 3000)) < 0.001)


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize(
    ("make", "S", "files", "entries"),
    [
        (dense, sr.min_plus, 12, 22), (rows, sr.min_plus, 18, 50), (packed, sr.boolean, 12, 40),
        (spread, sr.min_plus, 28, 66),
    ],
)
def test_a_closure_goes_straight(make: Callable[[], Any], S: sr.Semiring, files: int, entries: int) -> None:
    A = make()
    steps = way(lambda: sr.closure(A, S))
    shown = "\n".join(steps)
    assert len(set(steps)) <= files, shown
    assert len(steps) <= entries, shown


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize(("make", "files", "entries"), [(dense, 26, 45), (spread, 32, 90)])
def test_best_paths_go_straight(make: Callable[[], Any], files: int, entries: int) -> None:
    """A closure, and the trees of its values: half as many entries again as the closure has, and the tree's kernel."""
    A = make()
    steps = way(lambda: sr.paths(A, sr.min_plus))
    assert len(set(steps)) <= files and len(steps) <= entries, "\n".join(steps)


@pytest.mark.usefixtures("machine_code")
def test_a_product_goes_straight() -> None:
    A = dense()
    steps = way(lambda: sr.matmul(A, A, sr.min_plus))
    assert len(set(steps)) <= 12 and len(steps) <= 24, "\n".join(steps)


@pytest.mark.usefixtures("by_numpy")
@pytest.mark.parametrize("verb", [lambda A: sr.closure(A, sr.min_plus), lambda A: sr.matmul(A, A, sr.min_plus)])
def test_numpy_is_no_detour(verb: Callable[[Any], Any]) -> None:
    A = dense()
    steps = way(lambda: verb(A))
    assert len(set(steps)) <= 14 and len(steps) <= 32, "\n".join(steps)
