"""Bits from arrays of any dtype and strides, and back, in device memory, which is the host's here."""

from __future__ import annotations

import numpy as np
import pytest
from gpu import nvrtc
from gpu.host import Host
from gpu.played_bits import Bits

from semiring.kernels.cuda.bits import entries
from semiring.kernels.cuda.bits.matrix import DevicePackedMatrix
from semiring.kernels.cuda.compile.program import OPTIONS


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Bits:
    return Bits(Host(), monkeypatch)


@pytest.mark.slow
@nvrtc.needs_compiler
@pytest.mark.parametrize("architecture", ["80", "89", "90a", "100", "120"])
def test_kernels_become_machine_code(architecture: str) -> None:
    for dtype in "?efdFD":
        source = entries.geometry(*entries.numbers_of(np.dtype(dtype))).source()
        assert not nvrtc.complaint(source, *OPTIONS, f"--gpu-architecture=sm_{architecture}")


@pytest.mark.parametrize("dtype", [*"?bBhHiIlLefdFD"])
def test_elements_of_any_kind_and_stride(dtype: str, played: Bits) -> None:
    """An entry is True where it is not zero, as on the host; zeros and ones come back."""
    rng = np.random.default_rng(ord(dtype))
    A = (rng.integers(-3, 4, (37, 150)) * (rng.random((37, 150)) < 0.4)).astype(dtype)
    if dtype in "efdFD":
        A[0, :6] = -0.0, np.nan, np.inf, -np.inf, np.finfo(dtype).smallest_subnormal, 0
    if dtype in "FD":
        A[0, 6:8] = complex(0, 1), complex(0, -0.0)
    room = played.host.array(A)
    for view in (room, room[1:, 3:], room[::2], room[:, ::-3], room.T, room[::-1, 5:6]):
        M = DevicePackedMatrix.from_dense(view)
        np.testing.assert_array_equal(M.get().to_dense(), np.asarray(view) != 0)
        assert M.words[:, M.used_words :].sum() == 0
        out = played.host.array(np.full((view.shape[0], 2 * view.shape[1]), 7, dtype))[:, ::2]
        assert M.to_dense(out=out) is out
        np.testing.assert_array_equal(out, (np.asarray(view) != 0).astype(dtype))
        np.testing.assert_array_equal(M.to_dense(dtype), out)


def test_which_kernel_runs(played: Bits) -> None:
    """Bytes that are adjacent go 16 at a time, unless their limits are looked for."""
    for dtype, step, name in (("?", 1, "pack_bytes"), ("u1", 1, "pack_bytes"), ("i1", 1, "pack_1_1"),
                              ("?", 2, "pack_1_1"),
                              ("f4", 1, "pack_eight_1_4"), ("f4", 2, "pack_1_4"),
                              ("f2", 1, "pack_eight_1_2"), ("c8", 1, "pack_2_4"), ("c16", 1, "pack_2_8")):
        DevicePackedMatrix.from_dense(played.host.array(np.ones((32, 64), dtype))[:, ::step])
        assert played.launched[-1] == name


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16", "i1", "i2", "i4", "i8", "u8", "?"])
def test_what_is_unclear(dtype: str) -> None:
    """NaN and infinities have all bits of the exponent set; the limits of signed integers are their own patterns."""
    kind = np.dtype(dtype)
    pattern = entries.pattern_of(kind)
    real = np.dtype(f"f{kind.itemsize // 2}") if kind.kind == "c" else kind
    values = [0, 1] if real.kind in "bu" else [0, 1, -1]
    if real.kind == "f":
        unclear = [np.inf, -np.inf, np.nan, -np.nan]
        values += [-0.0, np.finfo(real).max, np.finfo(real).smallest_subnormal]
    else:
        unclear = [np.iinfo(real).min, np.iinfo(real).max] if real.kind == "i" else []
    for value, wanted in [*((x, False) for x in values), *((x, True) for x in unclear)]:
        bits = int(np.array(value, real).view(f"u{real.itemsize}"))
        assert bool(bits & pattern.counted) == (value != 0)
        seen = bits & pattern.looked_at
        assert (pattern.looked_at > 0 and seen in (pattern.low, pattern.high)) == wanted
