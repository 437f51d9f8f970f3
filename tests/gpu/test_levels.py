"""From file to file on a GPU, through all three memories: bit for bit the closures of the whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu.elements import algebra, draw

import semiring as sr
from semiring.solvers.beyond import levels

CASES = [("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "i4"), ("min_plus", "i2"), ("max_min", "f4"),
         ("bitset_may", "u8")]


@pytest.fixture(autouse=True, params=[None, 4 << 20], ids=["whole", "little"])
def room(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of the GPU's memory, or so little that tiles are evicted."""
    if request.param is not None:
        monkeypatch.setattr(levels, "available_on_device", lambda: request.param)


@pytest.mark.parametrize("host", ["2M", "24M"])
@pytest.mark.parametrize("n", [1, 200, 1100])
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_it_is_the_closure(name: str, dtype: str, n: int, host: str, tmp_path: Path) -> None:
    S = algebra(name)
    A = draw(S, np.dtype(dtype), (n, n), np.random.default_rng(n))
    np.save(tmp_path / "w.npy", A)
    found = sr.closure(tmp_path / "w.npy", S, out=tmp_path / "c.npy", device="gpu", memory=host, checkpoint=1e-3)
    np.testing.assert_array_equal(found, sr.closure(A, S, device="gpu"))


def test_sums_and_records(tmp_path: Path) -> None:
    n, asked = 700, {"out": tmp_path / "c.npy", "device": "gpu", "tile": 128}
    A = np.random.default_rng(0).random((n, n)) / n
    options: dict[str, Any] = asked
    found = sr.closure(A, sr.plus_times, **options)
    np.testing.assert_allclose(found, np.linalg.inv(np.eye(n) - A), rtol=1e-6, atol=1e-9)
    S, random = sr.shortest_hops, np.random.default_rng(2)
    R = S.array([[(float(random.integers(1, 9)), 1) for _ in range(300)] for _ in range(300)])
    R[random.random((300, 300)) < 0.9] = S.zero_in(R.dtype)
    np.testing.assert_array_equal(sr.closure(R, S, **options), sr.closure(R, S, device="cpu"))


def test_what_has_no_closure(tmp_path: Path) -> None:
    A = np.full((500, 500), 3.0, np.float32)
    A[7, 8] = A[8, 7] = -1
    with pytest.raises(sr.NoClosureError, match="weight -2"):
        sr.closure(A, sr.min_plus, out=tmp_path / "c.npy", device="gpu", tile=128)
    with pytest.raises(sr.NoClosureError):
        sr.closure(np.eye(300), sr.plus_times, out=tmp_path / "c.npy", device="gpu", tile=128)


class Stop(Exception):
    """Somebody pulls the plug."""


@pytest.mark.parametrize("S", [sr.min_plus, sr.plus_times], ids=lambda S: S.name)
def test_it_goes_on_from_the_last_commit(S: sr.Semiring, tmp_path: Path) -> None:
    n = 1000
    A = np.random.default_rng(0).random((n, n)) / n
    asked: dict[str, Any] = {"out": tmp_path / "c.npy", "device": "gpu", "tile": 128, "memory": "8M"}
    expected = np.array(sr.closure(A, S, **asked))
    (tmp_path / "c.npy").unlink()
    for at in (0.2, 0.5, 0.9):
        def stop(part: float, at: float = at) -> None:
            if part > at:
                raise Stop

        with pytest.raises(Stop):
            sr.closure(A, S, **asked, checkpoint=0.01, resume=True, progress=stop)
    assert np.array_equal(sr.closure(A, S, **asked, resume=True), expected)
