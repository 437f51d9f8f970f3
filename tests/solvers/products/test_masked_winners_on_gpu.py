"""Winning terms under a mask on a GPU that the host plays: selected from the whole product, as on the CPU.

tests/gpu/test_masks.py has those of a GPU.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu.host import Host
from scipy.sparse import csr_array

import semiring as sr
from semiring.operands.dense import Dense
from semiring.operands.device import Device
from semiring.operands.sparse import DeviceSparse
from semiring.operands.wanted import Mask
from semiring.solvers.products import masked_winners_on_gpu as module
from semiring.solvers.products.masked_winners_on_gpu import offer
from semiring.solvers.task import Task, compute, options


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    """The whole product is the CPU's, in the GPU's memory."""
    host = Host()
    host.stand_in(monkeypatch)

    def computed(task: Task) -> Any:
        if task.options.mask is not None:
            return tuple(map(host.array, compute(task)))  # by the host; answers go back to where operands came from
        A, B = (np.array(X.array) for X in task.given)  # type: ignore[attr-defined]
        return tuple(map(host.array, sr.matmul(A, B, task.S, argmax=True, check=task.options.check)))

    def first(task: Task) -> Any:
        A, B = (Dense(np.array(X.array), task.S, X.what) for X in task.given)  # type: ignore[attr-defined]
        return Task("matmul", task.S, [A, B], task.options, (None,)).plan()

    monkeypatch.setattr(module, "compute", computed)
    monkeypatch.setattr(module, "first_offer", first)
    return host


def asked(host: Host, S: sr.Semiring, A: Any, B: Any, mask: Any, complement: bool = False, **given: Any) -> Task:
    operands = [Device(host.array(x), S, what) for x, what in ((A, "A"), (B, "B"))]
    chosen = options(mask=Mask(mask, complement), argmax=True, **given)
    return Task("matmul", S, operands, chosen, (None,))


SHAPES = [
    ((7, 9), (9, 6)), ((1, 1), (1, 1)), ((3, 5, 4), (3, 4, 2)), ((30,), (30, 8)), ((6, 5), (5,)), ((5,), (5,)),
    ((4, 0), (0, 3)),
]


@pytest.mark.parametrize(("a", "b"), SHAPES)
@pytest.mark.parametrize(("S", "dtype"), [(sr.min_plus, "f8"), (sr.max_min, "f4"), (sr.min_plus, "i4")])
def test_values_and_winners_are_the_cpus(host: Host, S: sr.Semiring, dtype: str, a: Any, b: Any) -> None:
    rng = np.random.default_rng(0)
    A, B = (rng.integers(0, 4, shape).astype(dtype) for shape in (a, b))
    mask = rng.random(np.shape(sr.matmul(A, B, S))) < 0.5
    for complement in (False, True):
        wanted = sr.matmul(A, B, S, mask=mask, complement=complement, argmax=True)
        for chosen in (mask, host.array(mask)):
            task = asked(host, S, A, B, chosen, complement)
            found = offer(task).run()
            for x, expected in zip(found, wanted, strict=True):
                assert x.dtype == expected.dtype and np.array_equal(np.array(x), expected)


def test_the_plan_selects_from_the_whole_product(host: Host) -> None:
    plan = offer(asked(host, sr.min_plus, np.ones((4, 5)), np.ones((5, 3)), np.ones((4, 3), bool)))
    assert plan.method == "product, then select" and plan.shape == (4, 3)


def test_an_entry_that_is_not_wanted_may_leave_the_dtype(host: Host) -> None:
    A = np.array([[100, 1], [1, 1]], "i1")
    mask = np.array([[False, True], [True, True]])
    wanted = sr.matmul(A, A, sr.max_plus, mask=mask, argmax=True)
    found = offer(asked(host, sr.max_plus, A, A, host.array(mask))).run()
    for x, expected in zip(found, wanted, strict=True):
        assert np.array_equal(np.array(x), expected)
    with pytest.raises(sr.SemiringError, match="int8"):
        offer(asked(host, sr.max_plus, A, A, host.array(~mask))).run()


def test_the_host_hides_no_error_but_those_of_entries(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as of the GPU's memory: the host would compute all, without a word."""

    def refused(task: Task) -> Any:
        raise sr.SemiringError("the product needs 12 GiB of the GPU's memory and 3 GiB is available")

    task = asked(host, sr.min_plus, np.ones((3, 3)), np.ones((3, 3)), np.eye(3, dtype=bool))
    plan = offer(task)
    monkeypatch.setattr(module, "compute", refused)
    with pytest.raises(sr.SemiringError, match="GPU's memory"):
        plan.run()


@pytest.mark.parametrize("left", [False, True])
def test_a_sparse_matrix_becomes_an_array(host: Host, left: bool) -> None:
    """What is not stored is zero, and wins nowhere."""
    rng = np.random.default_rng(0)
    A, B = (rng.integers(1, 9, shape).astype("f8") for shape in ((6, 7), (7, 5)))
    rows, mask = csr_array((A if left else B) * (rng.random((A if left else B).shape) < 0.4)), rng.random((6, 5)) < 0.6
    wanted = sr.matmul(*((rows, B) if left else (A, rows)), sr.min_plus, mask=mask, argmax=True)
    matrix = SimpleNamespace(get=lambda: rows, shape=rows.shape, dtype=rows.dtype)
    task = asked(host, sr.min_plus, A, B, mask)
    task.given[0 if left else 1] = DeviceSparse(matrix, sr.min_plus, "A" if left else "B")
    for x, expected in zip(offer(task).run(), wanted, strict=True):
        assert np.array_equal(np.array(x), expected)


def test_what_is_refused(host: Host) -> None:
    A, mask = np.ones((3, 3)), np.eye(3, dtype=bool)
    with pytest.raises(sr.SemiringError, match="leave out device='cpu'"):
        offer(asked(host, sr.min_plus, A, A, mask, device="cpu"))
    with pytest.raises(sr.SemiringError, match="pass mask as a Boolean array"):
        offer(asked(host, sr.min_plus, A, A, csr_array(mask)))
    with pytest.raises(sr.SemiringError, match=r"pass a matrix on a GPU as A.get\(\)"):
        task = asked(host, sr.min_plus, A, A, mask)
        for given in task.given:
            given.kind = "sparse"
        offer(task)
