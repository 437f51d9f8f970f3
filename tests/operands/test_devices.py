"""What is known of GPUs, and when one repays the copies, without a GPU."""

from __future__ import annotations

from importlib import invalidate_caches
from pathlib import Path

import numpy as np
import pytest

import semiring as sr
from semiring.operands import devices


@pytest.mark.parametrize("device", ["gpu", "cuda"])
def test_a_missing_gpu_is_said(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "gpu_name", lambda: None)
    with pytest.raises(sr.SemiringError, match=r"no GPU was found; install semiring\[cu12\]"):
        sr.matmul(np.zeros((2, 2)), np.zeros((2, 2)), sr.min_plus, device=device)


def test_the_gpu_gets_what_repays_the_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    """More threads put it off, a context that is there already brings it forward, and integers stay on the CPU."""
    monkeypatch.setattr(devices, "gpu_name", lambda: "some GPU")
    A = np.zeros((1500, 1500), np.float32)

    def goes(threads: int, warm: bool, array: np.ndarray = A) -> bool:
        monkeypatch.setenv("SEMIRING_NUM_THREADS", str(threads))
        monkeypatch.setattr(devices, "_is_warm", lambda: warm)
        return devices.repays(sr.min_plus, [array.dtype], array.nbytes, float(len(array)) ** 3)

    assert goes(2, warm=True)
    assert not goes(2, warm=False)
    assert not goes(200, warm=True)
    assert not goes(2, warm=True, array=A.astype("i4"))
    assert goes(2, warm=False, array=np.broadcast_to(np.float32(0), (9000, 9000)))


def test_what_info_says_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "gpu_name", lambda: None)
    ((what, text),) = devices.gpu_facts()
    assert what == "gpu"
    assert text.startswith("none: CuPy")


def test_an_empty_folder_is_not_cupy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python imports it as a package without anything in it."""
    before = devices.has_cupy()
    (tmp_path / "cupy").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    invalidate_caches()
    assert devices.has_cupy() == before
    if not before:
        monkeypatch.setattr(devices, "gpu_name", devices.gpu_name.__wrapped__)
        assert devices.gpu_name() is None
        assert dict(devices.gpu_facts())["gpu"] == "none: CuPy is not installed"
