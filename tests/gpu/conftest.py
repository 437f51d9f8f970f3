"""Without a GPU these tests are skipped."""

from __future__ import annotations

import pytest
from gpu.device import has_device


@pytest.fixture(autouse=True)
def device() -> None:
    if not has_device():
        pytest.skip("there is no GPU, or no CuPy")
