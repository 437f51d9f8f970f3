"""Matrices of bits as they lie in memory; the kernels of words and blocks go through NVRTC, which needs no GPU."""

from __future__ import annotations

import numpy as np
import pytest
from gpu import nvrtc
from gpu.host import Host
from gpu.nvrtc import needs_compiler
from gpu.played_bits import Bits as Played

from semiring.kernels.cuda.bits import words
from semiring.kernels.cuda.bits.words import CLOSE, WORDS, Bits, Geometry
from semiring.kernels.cuda.compile.program import OPTIONS


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("architecture", ["80", "89", "90a", "100", "120"])
def test_kernels_become_machine_code(architecture: str) -> None:
    for geometry in (WORDS, CLOSE):
        complaint = nvrtc.complaint(geometry.source(), *OPTIONS, f"--gpu-architecture=sm_{architecture}")
        assert not complaint, f"{geometry.file}: {complaint}"
        assert geometry.shared == 0, "what a kernel declares, the compiler has checked"


@needs_compiler
def test_a_broken_kernel_is_noticed() -> None:
    """The check can fail, and the message cites the file."""
    broken = WORDS.source().replace("transposed(pair.x, lane)", "turned(pair.x, lane)")
    accepted, log = nvrtc.compile(broken, (*OPTIONS, "--gpu-architecture=sm_90a"))
    assert not accepted and "bits/words.cu(" in log


def test_where_the_bits_of_a_matrix_lie() -> None:
    M = Bits(4096, 48, 100, 300)
    assert M.pairs == 5 and M.is_aligned
    assert M.part(3, 10, 64, 300) == Bits(4096 + 3 * 48 + 8, 48, 7, 236)
    assert M.part(0, 100, 128, 192).is_aligned and not M.part(0, 100, 64, 300).is_aligned
    assert not Bits(4096, 40, 100, 300).is_aligned
    assert [Bits(0, 0, 1, columns).pairs for columns in (0, 1, 64, 65)] == [0, 1, 1, 2]


def test_tiles_cover_a_matrix() -> None:
    g = Geometry("bits/words.cu", 64, 256, 32, (("DOWN", 2), ("ACROSS", 3)))
    assert [g.tiles(*shape) for shape in ((0, 5), (1, 1), (64, 256), (65, 257))] == [(0, 1), (1, 1), (1, 1), (2, 2)]
    prelude = g.source().splitlines()[:3]
    assert prelude == ['#line 1 "prelude"', "constexpr int DOWN = 2;", "constexpr int ACROSS = 3;"]


@pytest.mark.parametrize("rows", [0, 1, 64, 65])
@pytest.mark.parametrize("columns", [0, 1, 512, 513])
def test_scratch_has_room_for_whole_slabs(rows: int, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    Played(Host(), monkeypatch)
    M, taken = words.scratch(rows, columns)
    assert M[2:] == (rows, columns) and M.is_aligned and M.address == taken.ptr and M.ld >= 8 * M.pairs
    assert taken.size >= -(-rows // 64) * 64 * M.ld


def truths(rows: int, columns: int) -> np.ndarray:
    return np.random.default_rng(rows).random((rows, columns)) < 0.4


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Played:
    return Played(Host(), monkeypatch)


def test_a_matrix_taller_than_a_grid_is_transposed_in_parts(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MOST_DOWN", 1)
    A = truths(600, 100)
    M, T = words.scratch(600, 100)[0], words.scratch(100, 600)[0]
    played.write(M.address, M.ld, A)
    words.transpose(M, T)
    np.testing.assert_array_equal(played.truths(T.address, T.ld, 100, 600), A.T)
    assert played.launched == ["transpose"] * 3


def test_what_lies_beside_a_block_stays(played: Played) -> None:
    """Copied, cleared, given a diagonal; a block of nothing asks for nothing."""
    A, B = truths(50, 300), truths(90, 192)
    M, N = words.scratch(50, 300)[0], words.scratch(90, 192)[0]
    played.write(M.address, M.ld, A)
    played.write(N.address, N.ld, B)
    words.copy(M.part(10, 20, 64, 192), N.part(80, 90, 0, 128))
    A[10:20, 64:192] = B[80:90, :128]
    words.clear(M.part(30, 40, 256, 300))
    A[30:40, 256:] = False
    words.set_diagonal(M.part(5, 9, 128, 192))
    A[range(5, 9), range(128, 132)] = True
    for nothing in (M.part(3, 3, 0, 300), M.part(0, 50, 64, 64)):
        words.copy(nothing, nothing)
        words.clear(nothing)
        words.set_diagonal(nothing)
    np.testing.assert_array_equal(played.truths(M.address, M.ld, 50, 300), A)
    assert played.launched == ["clear", "set_diagonal"]


def test_which_slabs_hold_anything(played: Played) -> None:
    A = np.zeros((200, 70), bool)
    A[63, 69] = A[199, 0] = True
    M, found = words.scratch(200, 70)[0], played.host.memory(4)
    played.write(M.address, M.ld, A)
    words.some(M, found.ptr)
    assert found.tolist() == [1, 0, 0, 1]
