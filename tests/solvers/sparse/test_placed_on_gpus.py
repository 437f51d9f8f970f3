"""Sparse matrices as arrays on the GPU: what the dense solvers there are given, and where answers go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from gpu.host import Array, Host

import semiring as sr
from semiring.kernels.cuda.compile import staging
from semiring.operands.device import Device
from semiring.operands.read import operand
from semiring.solvers.sparse import on_gpus
from semiring.solvers.ways import TO_GPU


@pytest.fixture(autouse=True)
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    host = Host()
    host.stand_in(monkeypatch)
    monkeypatch.setattr(staging, "upload", host.array)
    monkeypatch.setattr(staging, "download", np.array)
    return host


def test_answers_of_a_matrix_stay_there_and_those_of_a_graph_do_not() -> None:
    A = sp.csr_array([[0, 2.0], [3.0, 0]])
    given = on_gpus._placed(operand(A, sr.min_plus))
    assert isinstance(given, Device) and isinstance(given.wrap(given.array), Array)
    assert given.array.tolist() == [[np.inf, 2], [3, np.inf]]
    graph = on_gpus._placed(operand(sr.as_graph([("a", "b", 2.0)]), sr.min_plus))
    answer: Any = graph.wrap(graph.array)
    assert answer["a", "b"] == 2 and type(answer.to_numpy()) is np.ndarray


def test_what_is_there_stays(host: Host) -> None:
    B = Device(host.array(np.ones((2, 1))), sr.min_plus, "B")
    assert on_gpus._placed(B) is B


def test_the_first_solver_of_arrays_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(on_gpus, "require_gpu", lambda *_: None)
    monkeypatch.setattr(on_gpus, "first_offer", lambda task: asked.append(task) or "a plan")
    from semiring.solvers.task import Task, options

    task = Task("closure", sr.min_plus, (sp.csr_array([[0, 2.0], [3.0, 0]]),), options(device="gpu"))
    assert task.kind == TO_GPU and on_gpus.offer(task) == "a plan"
    assert asked[0].kind == "device"
