"""Where CUDA kernels are compiled for the host, and the host on which a file's `stand_in` runs them."""

from __future__ import annotations

from pathlib import Path

import pytest
from gpu.host import Host


@pytest.fixture
def host(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, folder: Path) -> Host:
    played: Host = request.module.stand_in(monkeypatch, folder)
    return played
