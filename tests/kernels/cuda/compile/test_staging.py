"""Large host arrays to the device and back, over pieces whose copies arrive as late as the events allow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu.host import Array, Host

from semiring.kernels.cuda.compile import staging


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    """Pieces of 1,000 bytes; what a stream is given is done when somebody waits for it, and not before."""
    host = Host(0)
    host.stand_in(monkeypatch)
    monkeypatch.setattr(staging, "PIECE", 1000)
    monkeypatch.setattr(staging, "LEAST_BYTES", 1000)
    return host


ARRAYS = {
    "in C order": lambda rng: rng.random((301, 20)),
    "every other column": lambda rng: rng.random((70, 60))[:, ::2],
    "in Fortran order": lambda rng: np.asfortranarray(rng.random((90, 17)).astype("f4")),
    "stack": lambda rng: rng.integers(0, 99, (50, 3, 7), "i2"),
    "rows longer than a piece": lambda rng: rng.random((9, 400)),
    "one row": lambda rng: rng.random((1, 900)),
    "vector": lambda rng: rng.random(900),
    "small": lambda rng: rng.random((3, 4)),
    "none": lambda rng: rng.random((0, 4)),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_there_and_back(name: str, host: Host) -> None:
    """What is in a piece stays until it was sent, and is not read before it has arrived."""
    A = ARRAYS[name](np.random.default_rng(1))
    there = staging.upload(A)
    assert isinstance(there, Array) and there.flags.c_contiguous and there.dtype == A.dtype
    np.testing.assert_array_equal(there, A)
    given = host.empty(A.shape, A.dtype)
    assert staging.upload(A, given) is given
    np.testing.assert_array_equal(given, A)
    back = staging.download(there)
    assert type(back) is np.ndarray
    np.testing.assert_array_equal(back, A)
    assert not host.streams[0].work


@pytest.mark.parametrize(("rows", "width"), [(1, 1), (7, 1000), (7, 1001), (999, 1), (1000, 3), (1001, 300)])
def test_runs(rows: int, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row once, in order; as many at a time as fit in a piece, or one that does not."""
    monkeypatch.setattr(staging, "PIECE", 1000)
    runs = list(staging._runs(np.empty((rows, width), "u1")))
    assert [i for run in runs for i in range(rows)[run]] == list(range(rows))
    assert all((run.stop - run.start) * width <= max(1000, width) for run in runs)
    assert len(runs) == -(-rows // max(1000 // width, 1))


def test_small_arrays_have_a_piece_for_most_threads() -> None:
    """Powers of 2, up to the piece of a large array."""
    arrays = [np.broadcast_to(np.uint8(0), (n << 20,)) for n in (4, 12, 16, 32, 64, 90, 4096)]
    sizes = [staging._piece_bytes(array) >> 20 for array in arrays]
    assert sizes == [1, 2, 2, 4, 8, 8, 8]


@pytest.mark.parametrize("threads", [1, 2, 8, 100])
@pytest.mark.parametrize("rows", [1, 3, 50])
def test_lanes_carry_every_row(rows: int, threads: int, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the event that is given: work of another stream that begins late is not overtaken."""
    import cupy

    monkeypatch.setattr(staging, "thread_count", lambda _: threads)
    first, second = np.arange(rows * 90.0).reshape(rows, 90), np.full((rows, 30), -1.0)
    there, late = host.empty((rows, 30), float), cupy.cuda.Stream()
    late.give(lambda: there.view(np.ndarray).fill(7))
    ready = cupy.cuda.Event()
    ready.record(late)
    staging.send(first[:, ::3], there, ready)
    np.testing.assert_array_equal(there, first[:, ::3])
    late.give(lambda: there.view(np.ndarray).__imul__(2))
    ready.record(late)
    staging.fetch(there, second, ready)
    np.testing.assert_array_equal(second, 2 * first[:, ::3])


def test_an_error_of_a_lane_is_the_callers(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "_Piece", None)
    with pytest.raises(TypeError, match="not callable"):
        staging.upload(np.zeros((301, 20)))


@pytest.mark.parametrize("dtype", ["f4", [("weight", "f8"), ("count", "i4")]])
@pytest.mark.parametrize("threads", [1, 3, 99])
def test_one_byte_of_each_page_is_touched(dtype: Any, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "STRETCH", 2 * staging.PAGE)
    A = np.zeros((70, 90), dtype)
    memory = A.reshape(-1).view(np.uint8)
    memory[:] = 7
    staging.touch(A, threads)
    assert np.array_equal(np.flatnonzero(memory == 0), np.arange(0, memory.size, staging.PAGE))
    staging.touch(np.empty((0, 4), dtype), threads)


@pytest.mark.parametrize(("rows", "pinned"), [(1, 1), (2, 2), (9, 2)])
def test_pieces_are_pinned_when_they_are_needed(
    rows: int, pinned: int, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One thread moves rows of a piece each by two pieces at most."""
    made: list[int] = []

    class Noted(staging._Piece):
        def __init__(self, size: int):
            made.append(size)
            super().__init__(size)

    monkeypatch.setattr(staging, "_Piece", Noted)
    monkeypatch.setattr(staging, "thread_count", lambda _: 1)
    monkeypatch.setattr(staging, "_piece_bytes", lambda _: 800)
    A, there = np.random.default_rng(2).random((rows, 100)), host.empty((rows, 100))
    staging.send(A, there)
    np.testing.assert_array_equal(there, A)
    assert made == [800] * pinned
