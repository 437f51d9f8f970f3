"""The products of packed Boolean matrices: machine code by NVRTC, which needs no GPU, and what is launched."""

from __future__ import annotations

from ctypes import c_longlong, c_ubyte, c_void_p
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu import nvrtc
from gpu.host import Host
from gpu.nvrtc import needs_compiler
from gpu.played_bits import Bits

from semiring.kernels.cuda.bits import product as bits
from semiring.kernels.cuda.bits import words
from semiring.kernels.cuda.bits.words import Geometry
from semiring.kernels.cuda.compile import launch
from semiring.kernels.cuda.compile.program import OPTIONS
from semiring.kernels.cuda.dense.product import Gap

CAPABILITIES = {"80": (8, 0), "89": (8, 9), "90a": (9, 0), "100": (10, 0), "120": (12, 0)}
SHARED_LIMIT = {"80": 163, "89": 99, "90a": 227, "100": 227, "120": 99}  # KiB that a block may have


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("architecture", CAPABILITIES)
def test_kernels_become_machine_code(architecture: str) -> None:
    """With registers assigned, which rejects what does not fit in a block; no spilled accumulators, no complaint."""
    for name in bits.kernels_of(CAPABILITIES[architecture]):
        accept(bits.GEOMETRIES[name], architecture)


def accept(geometry: Geometry, architecture: str) -> None:
    complaint = nvrtc.complaint(geometry.source(), *OPTIONS, f"--gpu-architecture=sm_{architecture}")
    assert not complaint, f"{geometry.file}: {complaint}"
    assert geometry.shared <= SHARED_LIMIT[architecture] << 10


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize(("warpgroups", "stages"), [(1, 2), (2, 4)])
def test_other_cuts_compile(warpgroups: int, stages: int) -> None:
    accept(bits.wgmma_geometry(warpgroups, stages), "90a")


def test_kernels_for_a_capability() -> None:
    assert bits.kernels_of((9, 0)) == ("wgmma", "mma", "lop")
    assert bits.kernels_of((8, 6))[0] == "mma"
    assert bits.kernels_of((10, 0)) == bits.kernels_of((12, 0)) == ("lop",)


def test_products_of_few_rows_or_columns_take_smaller_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bits, "current_device", lambda: 0)
    for capability, chosen in (((9, 0), ["mma", "mma", "wgmma"]), ((8, 6), ["mma"] * 3), ((12, 0), ["lop"] * 3)):
        monkeypatch.setattr(bits, "capability", lambda _, found=capability: found)
        assert [bits.choose(*shape) for shape in ((64, 1000), (1000, 128), (65, 129))] == chosen


def random_truths(rows: int, columns: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((rows, columns)) < 0.1


def place(played: Bits, truths: np.ndarray, skip: int = 0) -> words.Bits:
    """In rows that begin `skip` words after one that begins on 16 bytes; ones lie around them."""
    rows, columns = truths.shape
    width = -(-columns // 64) + 3 & ~1
    memory = played.host.array(np.full((rows, 8 * width), 255, np.uint8))
    at = words.Bits(memory.ptr + 8 * skip, 8 * width, rows, columns)
    played.write(at.address, at.ld, truths)
    return at


@pytest.mark.parametrize("capability", [(8, 0), (9, 0), (10, 0)])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 1, 1), (70, 130, 65), (200, 300, 100), (3, 5, 0), (0, 5, 5), (5, 0, 5)])
def test_any_shape(m: int, n: int, k: int, capability: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Operands that no kernel reads as they lie are copied; C^T is copied with them."""
    played = Bits(Host(), monkeypatch, capability)
    for skip in (0, 1):
        for accumulate in (False, True):
            A, T, C = random_truths(m, k, 1), random_truths(n, k, 2), random_truths(m, n, 3)
            wanted = (A[:, None] & T).any(axis=2) | (C & accumulate)
            to, _memory = words.scratch(n, m)
            c = place(played, C, skip)
            bits.multiply(c, place(played, A, skip), place(played, T, skip), accumulate, to if skip else None)
            np.testing.assert_array_equal(played.truths(c.address, c.ld, m, n), wanted)
            if m and skip:
                np.testing.assert_array_equal(played.truths(to.address, to.ld, n, m), wanted.T)
            around = played.truths(c.address - 8 * skip, c.ld, m, 8 * c.ld)
            used = slice(64 * skip, 64 * skip + 64 * c.pairs)
            assert around[:, : used.start].all() and around[:, used.stop :].all()


@pytest.mark.parametrize("capability", [(8, 0), (9, 0)])
@pytest.mark.parametrize("gap", [Gap(64, 128), Gap(0, 64), Gap(192, 58), Gap(0, 250)])
def test_rows_are_left_out(gap: Gap, capability: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    played = Bits(Host(), monkeypatch, capability)
    A, T, C = random_truths(250, 100, 1), random_truths(200, 100, 2), random_truths(250, 200, 3)
    wanted = (A[:, None] & T).any(axis=2) | C
    wanted[gap.at : gap.at + gap.size] = C[gap.at : gap.at + gap.size]
    c = place(played, C)
    bits.multiply(c, place(played, A), place(played, T), True, gap=gap)
    np.testing.assert_array_equal(played.truths(c.address, c.ld, 250, 200), wanted)


def test_a_product_with_itself_as_often_as_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A path of ten edges is squared four times."""
    for capability in ((8, 0), (9, 0)):
        played = Bits(Host(), monkeypatch, capability)
        A = np.eye(150, k=1, dtype=bool) & (np.arange(150) < 10)[:, None]
        M, T = place(played, A), words.scratch(150, 150)[0]
        words.transpose(M, T)
        bits.multiply(M, M, T, True, T, times=4)
        reached = played.truths(M.address, M.ld, 150, 150)
        np.testing.assert_array_equal(reached, np.triu(np.ones((150, 150), bool), 1) & (np.arange(150) < 11) & (
            np.arange(150) < 10)[:, None])


def test_tensor_maps_are_arguments_of_128_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first two arguments begin 16 numbers apart, the others one."""
    launches = []

    def played(*grid: Any) -> None:
        places = (c_void_p * 5).from_address(grid[-2])
        launches.append([list((c_longlong * (16 if i < 2 else 1)).from_address(p)) for i, p in enumerate(places)])

    stream = SimpleNamespace(ptr=0)
    driver = SimpleNamespace(device=lambda: 0, stream=lambda: stream, launch=played, error=ArithmeticError)
    monkeypatch.setattr(launch, "_cuda", lambda: driver)
    code = SimpleNamespace(handle=lambda device, name, shared: 1)
    function = bits.MappedFunction(code, "multiply_bits", 384, 0)
    for first in (0, 100):
        function(1, 1, *range(first, first + 35))
    for first, found in zip((0, 100), launches, strict=True):
        numbers = list(range(first, first + 35))
        assert found == [numbers[:16], numbers[16:32], *([n] for n in numbers[32:])]


def test_a_tensor_map_that_the_driver_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is written on a multiple of 64 bytes, and read from there."""
    asked, status = [], 0

    def encode(address: int, *arguments: Any) -> int:
        asked.append((address % 64, arguments[1], arguments[2], *map(list, arguments[3:6])))
        (c_ubyte * 128).from_address(address)[:] = bytes(range(128))
        return status

    monkeypatch.setattr(bits, "_encoder", lambda: encode)
    M = words.Bits(4096, 128, 300, 1000)
    found = bits.tensor_map.__wrapped__(M, 64)
    assert found == tuple(int.from_bytes(range(8 * i, 8 * i + 8), "little") for i in range(16))
    assert asked == [(0, 2, 4096, [128, 300], [128], [128, 64])]
    status = 1
    with pytest.raises(RuntimeError, match=r"the driver refused a tensor map of Bits\(address=4096.+ with status 1"):
        bits.tensor_map.__wrapped__(M, 64)
