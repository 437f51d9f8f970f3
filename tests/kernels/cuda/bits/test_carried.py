"""Closures of packed matrices on the host by a GPU, which is the host's memory here, in parts that travel."""

from __future__ import annotations

import numpy as np
import pytest
from gpu.host import Host
from gpu.played_bits import Bits

from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cuda.bits import carried, closure
from semiring.kernels.cuda.bits.closure import Schedule

SCHEDULES = [Schedule(), Schedule((128,)), Schedule((256, 128), 1), Schedule((128,), 2, True)]


def reached(A: np.ndarray) -> np.ndarray:
    A = A.copy()
    for k in range(len(A)):
        A |= A[:, k, None] & A[k]
    return A


def drawn(n: int, width: int = 0, seed: int = 0) -> tuple[np.ndarray, PackedMatrix]:
    """Truth values, and the same packed; with so many words in a row."""
    A = np.random.default_rng([n, seed]).random((n, n)) < 1.5 / max(n, 1)
    packed = PackedMatrix.from_dense(A)
    if width:
        words = np.zeros((n, width), np.uint64)
        words[:, : packed.used_words] = packed.words[:, : packed.used_words]
        packed = PackedMatrix(words, n)
    return A, packed


@pytest.mark.parametrize("capability", [(8, 0), (9, 0)])
@pytest.mark.parametrize("how", SCHEDULES, ids=str)
@pytest.mark.parametrize("n", [1, 70, 300, 577])
def test_there_and_back(n: int, how: Schedule, capability: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """In parts of whole words; what a stream is given may be done late; A stays as it is, or is overwritten."""
    monkeypatch.setattr(carried, "ROWS", 192)
    monkeypatch.setattr(carried._Carrying, "rows", 192)
    monkeypatch.setattr(closure, "SMALLEST", 64)
    monkeypatch.setattr(closure, "schedule", lambda n: how)
    Bits(Host(3), monkeypatch, capability)
    A, packed = drawn(n)
    for reflexive in (True, False):
        wanted = reached(A) | (np.eye(n, dtype=bool) & reflexive)
        found = carried.closed(packed, reflexive)
        np.testing.assert_array_equal(found.to_dense(), wanted)
        assert packed == PackedMatrix.from_dense(A) and not found.words[:, found.used_words :].any()
        copy = packed.copy()
        assert carried.closed(copy, reflexive, True) is copy == found
        for width in (packed.used_words, packed.words.shape[1] + 3):
            wide = drawn(n, width)[1]
            np.testing.assert_array_equal(carried.closed(wide, reflexive, True).to_dense(), wanted)
    packed.words.flags.writeable = False
    assert carried.closed(packed, True, True) is not packed


def test_an_error_ends_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    Bits(Host(), monkeypatch)

    def send(*_: object) -> None:
        raise MemoryError("of the device")

    monkeypatch.setattr(carried, "send", send)
    with pytest.raises(MemoryError, match="of the device"):
        carried.closed(drawn(100)[1], True)
