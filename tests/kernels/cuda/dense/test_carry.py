"""Tiles there and back, on a GPU that the host plays; memory that is pinned, and memory that cannot be."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu.host import Host

from semiring.kernels.cuda.compile import staging
from semiring.kernels.cuda.dense import carry as module
from semiring.kernels.cuda.dense.carry import Pinned, begin_carry, carry, encoded, stage, taken_in


class Refused(Exception):
    pass


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    host = Host(2)
    runtime = host.stand_in(monkeypatch).cuda.runtime
    runtime.memcpyHostToDevice, runtime.memcpyDeviceToHost, runtime.CUDARuntimeError = 1, 2, Refused
    monkeypatch.setattr(module, "synchronize", host.finish)
    return host


def test_a_tile_there_and_back(host: Host) -> None:
    matrix = host.array(np.arange(30.0).reshape(5, 6))
    at_home: Any = np.ndarray.view(matrix, np.ndarray)
    there = host.empty((2, 3), "f8")
    carry(at_home[1:3, 2:5], there)
    assert there.tolist() == [[8, 9, 10], [14, 15, 16]]
    there += 100
    carry(there, at_home[3:5, :3])
    assert at_home[3:, :3].tolist() == [[108, 109, 110], [114, 115, 116]] and at_home[3, 3] == 21
    with pytest.raises(AssertionError):
        carry(at_home[:2, :2], there)


def test_a_diagonal_goes_as_a_column(host: Host) -> None:
    matrix = host.array(np.arange(30.0).reshape(5, 6))
    column: Any = np.ndarray.view(host.empty((5, 1), "f8"), np.ndarray)
    carry(matrix.diagonal()[:, None], column)
    assert column[:, 0].tolist() == matrix.diagonal().tolist()


def test_a_copy_that_is_begun_takes_its_turn(host: Host) -> None:
    there, at_home = host.array(np.ones((2, 3))), np.ndarray.view(host.empty((2, 3), "f8"), np.ndarray)
    at_home[...] = 0
    host.give(lambda: there.fill(7))
    begin_carry(there, at_home)
    assert not at_home.any()
    host.finish()
    assert (at_home == 7).all()


@pytest.mark.parametrize("shape", [(2, 3), (40, 50)])
def test_a_tile_of_memory_that_is_not_pinned(
    host: Host, monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int]
) -> None:
    monkeypatch.setattr(staging, "PIECE", 1000)
    monkeypatch.setattr(staging, "LEAST_BYTES", 1000)
    matrix = np.arange(6000.0).reshape(60, 100)
    kept, place = matrix.copy(), np.s_[7 : 7 + shape[0], 11 : 11 + shape[1]]
    there = host.empty(shape, "i8")  # of the same size: bits are copied
    stage(matrix[place], there)
    assert np.array_equal(there.view("f8"), matrix[place])
    there[...] = np.full(shape, -1.5).view("i8")
    stage(there, matrix[place])
    kept[place] = -1.5
    assert np.array_equal(matrix, kept)
    with pytest.raises(AssertionError):
        stage(matrix, there)


@pytest.fixture
def pins(host: Host, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What is pinned and let go, with its address."""
    import cupy

    pins: list[tuple[str, int]] = []
    cupy.cuda.Device = lambda number: nullcontext()
    cupy.cuda.runtime.hostRegister = lambda address, size, flags: pins.append((f"pin {size}", address))
    cupy.cuda.runtime.hostUnregister = lambda address: pins.append(("let go", address))
    monkeypatch.setattr(module, "current_device", lambda: 0)
    return pins


def test_memory_is_pinned_once_and_let_go(pins: list[tuple[str, int]]) -> None:
    A, B = np.ones((3, 4)), np.ones((0, 4))
    with Pinned() as pinned:
        for array in (A, A.view("i8"), B):
            pinned.add(array, fresh=False)
        assert not pins
        pinned.begin()
        pinned.wait()
        assert pins == [("pin 96", A.ctypes.data)]
    assert pins[1:] == [("let go", A.ctypes.data)] and (A == 1).all()


def test_it_is_let_go_after_an_error(pins: list[tuple[str, int]]) -> None:
    A = np.ones(5)
    with pytest.raises(ZeroDivisionError), Pinned() as pinned:
        pinned.add(A, fresh=False)
        pinned.begin()
        raise ZeroDivisionError
    assert pins == [("pin 40", A.ctypes.data), ("let go", A.ctypes.data)]


def test_what_was_not_begun_is_not_pinned_any_more(pins: list[tuple[str, int]]) -> None:
    with pytest.raises(ZeroDivisionError), Pinned() as pinned:
        pinned.add(np.ones(5), fresh=False)
        raise ZeroDivisionError
    assert not pins


def test_memory_in_use_is_not_written(pins: list[tuple[str, int]]) -> None:
    A = np.full(3000, 1 / 3)
    with Pinned() as pinned:
        pinned.add(A, fresh=False)
    assert (A == 1 / 3).all()
    with Pinned() as pinned:
        pinned.add(A, fresh=True)
    assert A[0] != 1 / 3


def test_memory_that_cannot_be_pinned_is_used_all_the_same(pins: list[tuple[str, int]]) -> None:
    import cupy

    def refuse(*_: int) -> None:
        raise Refused

    cupy.cuda.runtime.hostRegister = refuse
    with Pinned() as pinned:
        pinned.add(np.zeros(3), fresh=True)
        pinned.begin()
    assert not pins


def test_storage_there_and_back(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "upload", host.array)
    monkeypatch.setattr(
        module, "exchange", lambda low: SimpleNamespace(take_in=lambda A, out: np.copyto(out, A * low.factor))
    )
    low: Any = SimpleNamespace(factor=3, encode=lambda values, copy: host.array(values * 3))
    out = np.zeros((1, 2))
    taken_in(low, np.array([[1.0, 2.0]]), out)
    assert out.tolist() == [[3, 6]] and encoded(low, np.array([1.0, 5.0])).tolist() == [3, 15]
