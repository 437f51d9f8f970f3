"""For these tests: the kernels compiled for the host, on its memory; matrices, and what their closures are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gpu import compiled
from gpu.compiled import Compiled

Play = Callable[..., Compiled]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where kernels are kept once they are compiled."""
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Play:
    """A function of a seed, and of whether streams are played, that makes kernels run on the host from then on."""
    if not compiled.is_available():
        pytest.skip("there is no C++ compiler for the host")
    return lambda seed=0, streams=False: compiled.stand_in(monkeypatch, folder, seed, streams)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20260517)
