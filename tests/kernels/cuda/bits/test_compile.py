"""The kernels over packed Boolean matrices go through NVRTC, which needs no GPU, to machine code."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from gpu import nvrtc

import semiring as sr
from semiring.kernels.cuda.bits import product as bits
from semiring.kernels.cuda.bits.closure import schedule
from semiring.kernels.cuda.bits.words import CLOSE, WORDS, Geometry
from semiring.kernels.cuda.choose import packed_on_device
from semiring.kernels.cuda.compile.program import OPTIONS

pytestmark = pytest.mark.skipif(not nvrtc.is_installed(), reason="the wheel nvidia-cuda-nvrtc is not installed")

CAPABILITIES = {"80": (8, 0), "89": (8, 9), "90a": (9, 0), "100": (10, 0), "120": (12, 0)}
SHARED_LIMIT = {"80": 163, "89": 99, "90a": 227, "100": 227, "120": 99}  # KiB that a block may have


@pytest.mark.parametrize("architecture", CAPABILITIES)
def test_kernels_become_machine_code(architecture: str) -> None:
    """With registers assigned, which rejects what does not fit in a block; no spilled accumulators, no complaint."""
    for name in bits.kernels_of(CAPABILITIES[architecture]):
        accept(bits.GEOMETRIES[name], architecture)
    accept(WORDS, architecture)
    accept(CLOSE, architecture)


def accept(geometry: Geometry, architecture: str) -> None:
    accepted, log = nvrtc.compile(geometry.source(), (*OPTIONS, f"--gpu-architecture=sm_{architecture}"))
    assert accepted and not log.strip("\0 \n"), f"{geometry.file}: {log}"
    assert geometry.shared <= SHARED_LIMIT[architecture] << 10


@pytest.mark.parametrize(("warpgroups", "stages"), [(1, 2), (2, 4)])
def test_other_cuts_compile(warpgroups: int, stages: int) -> None:
    accept(bits.wgmma_geometry(warpgroups, stages), "90a")


def test_a_broken_kernel_is_noticed() -> None:
    """The check can fail, and the message cites the file."""
    broken = WORDS.source().replace("transposed(pair.x, lane)", "turned(pair.x, lane)")
    accepted, log = nvrtc.compile(broken, (*OPTIONS, "--gpu-architecture=sm_90a"))
    assert not accepted and "bits/words.cu(" in log


def test_kernels_for_a_capability() -> None:
    assert bits.kernels_of((9, 0)) == ("wgmma", "mma", "lop")
    assert bits.kernels_of((8, 6))[0] == "mma"
    assert bits.kernels_of((10, 0)) == bits.kernels_of((12, 0)) == ("lop",)


def test_two_valued_data_of_all_algebras_share_a_kernel() -> None:
    boolean, distances = (packed_on_device(S, np.dtype(d)) for S, d in ((sr.boolean, "?"), (sr.min_plus, "f4")))
    assert boolean.key == distances.key and not boolean.is_identity and boolean.kind == "packed"
    assert (distances.zero[0], distances.one[0]) == (np.inf, 0)


@pytest.mark.parametrize("n", [1, 513, 3000, 3073, 8192, 16_384, 40_000, 65_536, 100_000, 262_144, 1_000_000])
def test_blocks_of_a_schedule_divide_each_other(n: int) -> None:
    """Pivots begin on whole 16 bytes, and flags of a level fit the next."""
    blocks = schedule(n).blocks
    assert all(b % 128 == 0 for b in blocks)
    assert all(outer % inner == 0 and outer > inner for outer, inner in pairwise(blocks))
