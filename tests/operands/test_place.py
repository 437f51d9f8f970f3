"""Where operands are put: with the one that is on a GPU, or where the work repays the copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.operands import devices
from semiring.operands import place as module
from semiring.operands.device import Device
from semiring.operands.operand import Operand
from semiring.operands.place import place
from semiring.operands.read import read

A = np.zeros((3, 3))


def test_host_arrays_stay_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "gpu_name", lambda: None)
    A = np.zeros((3, 3))
    given = read(A, sr.min_plus)
    assert place([given], None, 1e18) == [given]


def test_only_work_that_repays_the_copy_asks_for_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked() -> str:
        raise AssertionError("CuPy would be imported for little work")

    monkeypatch.setattr(devices, "gpu_name", asked)
    assert sr.closure(np.zeros((3, 3)), sr.min_plus).tolist() == [[0] * 3] * 3


class Way(list[tuple[str, str]]):
    """What was done, and with an operand of which kind."""


@pytest.fixture
def way(monkeypatch: pytest.MonkeyPatch) -> Way:
    """A GPU that is always worth while, and copies that do nothing."""
    done = Way()

    def noted(what: str) -> Any:
        def copy(given: Operand) -> Operand:
            done.append((what, given.kind))
            return given

        return copy

    def repays(S: sr.Semiring, dtypes: Sequence[np.dtype], nbytes: int, work: float) -> bool:
        done.append(("predicted", f"{[str(d) for d in dtypes]} {nbytes} {work:g}"))
        return work > 100

    monkeypatch.setattr(module, "on_device", noted("there"))
    monkeypatch.setattr(module, "on_host", noted("back"))
    monkeypatch.setattr(module, "repays", repays)
    monkeypatch.setattr(module, "require_gpu", lambda S, device, dtype: done.append(("required", str(device))))
    return done


def kinds(*names: str) -> list[Operand]:
    """Operands of some kinds, of 3 × 3."""
    made: dict[str, Operand] = {
        "dense": read(A, sr.boolean), "sparse": read(sp.csr_array((3, 3), dtype=bool), sr.boolean),
        "packed": read(PackedMatrix.zeros(3, 3), sr.boolean), "device": Device(A, sr.boolean),
    }
    return [made[name] for name in names]


def test_what_is_on_a_gpu_draws_the_others_there(way: Way) -> None:
    for others in (["dense"], ["packed"], ["dense", "packed"]):
        way.clear()
        place(kinds(*others, "device"), None)
        assert way == [("there", kind) for kind in (*others, "device")]
        way.clear()
        place(kinds("device", *others), "gpu", 1e9)
        assert way == [("there", kind) for kind in ("device", *others)], "that there is one needs no question"


def test_entries_go_there_as_an_array(way: Way) -> None:
    place(kinds("sparse", "device"), None)
    assert way == [("there", "dense"), ("there", "device")]


def test_the_cpu_is_where_everything_can_go(way: Way) -> None:
    given = kinds("device", "dense", "sparse")
    place(given, "cpu", 1e9)
    assert way == [("back", "device"), ("back", "dense"), ("back", "sparse")]
    way.clear()
    here = kinds("dense", "sparse")
    assert place(here, "cpu", 1e9) == here and not way


@pytest.mark.parametrize("device", ["gpu", "cuda"])
def test_a_gpu_that_is_asked_for_has_to_be_there(device: str, way: Way) -> None:
    place(kinds("dense", "packed"), device)
    assert way == [("required", device), ("there", "dense"), ("there", "packed")]


def test_only_arrays_go_there_unasked(way: Way) -> None:
    few = kinds("dense", "dense")
    assert place(few, None, 100) == few and way == [("predicted", "['float64', 'float64'] 144 100")]
    way.clear()
    place(few, None, 101)
    assert way[1:] == [("required", "None"), ("there", "dense"), ("there", "dense")]
    for given, work in ((few, 0.0), (kinds("dense", "packed"), 1e9), (kinds("sparse"), 1e9)):
        way.clear()
        assert place(given, None, work) == given and not way
