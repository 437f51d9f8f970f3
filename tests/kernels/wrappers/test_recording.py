"""What is recorded of a schedule, replayed on arrays, is what the schedule computes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.build import kernel as engine
from semiring.kernels.interface import Kernel
from semiring.kernels.wrappers.recording import Call, Recording, Region, recorded
from semiring.solvers.dense.schedules import SCHEDULES


def replayed(calls: list[Call], A: np.ndarray, kernel: Kernel[np.ndarray]) -> np.ndarray:
    matrices = {"A": A}
    for call in calls:
        blocks = []
        for region in call.blocks:
            matrix = matrices.setdefault(region.matrix, np.empty_like(A))
            blocks.append(matrix[region.rows.start : region.rows.stop, region.columns.start : region.columns.stop])
        if getattr(kernel, call.operation)(*blocks) is True:
            break
    return A


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_replay_is_the_closure(name: str) -> None:
    S = sr.min_plus
    kernel = engine(sr.plan("closure", np.eye(2), S).lowering.interpreted)

    @settings(max_examples=60)
    @given(st.integers(1, 9), st.integers(1, 5), st.integers(0, 10**6))
    def check(n: int, tile: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        A = np.where(rng.random((n, n)) < 0.5, rng.integers(0, 9, (n, n)), np.inf)
        expected = sr.closure(A, S, method="floyd-warshall")
        assert np.array_equal(replayed(recorded(SCHEDULES[name], n, tile), A, kernel), expected)

    check()


def test_what_is_written_down() -> None:
    calls = recorded(SCHEDULES["blocked"], 5, 2)
    assert calls[0] == Call("close", (Region("A", range(2), range(2)),))
    assert {call.operation for call in calls} == {"close", "left", "multiply_add", "right"}
    squares = recorded(SCHEDULES["squaring"], 4, 2)
    assert [call.operation for call in squares][:4] == ["add_one", "multiply", "equal", "assign"]
    assert squares[1].blocks[0].matrix == "B"
    assert recorded(SCHEDULES["r-kleene"], 0, 2) == []


def test_a_recording_is_a_kernel_without_elements() -> None:
    kernel: Kernel[Region] = Recording(3)
    assert kernel.unchecked is kernel and kernel.closes_whole(3) and not kernel.closes_whole(4) and kernel.place
    A = Region("A", range(4), range(4))
    assert A[1:3, 2:].shape == (2, 2) and kernel.like(A) == Region("B", range(4), range(4))
    for ask in (lambda: kernel.diagonal(A, A), lambda: kernel.set_diagonal(A, np.zeros(4))):
        with pytest.raises(NotImplementedError, match="no elements"):
            ask()
