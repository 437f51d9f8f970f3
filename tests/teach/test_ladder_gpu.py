"""The rungs on a GPU are listed without one."""

from __future__ import annotations

import subprocess
import sys

from semiring.teach.ladder_gpu import GPU_RUNGS


def test_they_are_on_a_gpu() -> None:
    assert all(rung.device == "gpu" for rung in GPU_RUNGS)


def test_listing_them_loads_no_cupy() -> None:
    code = "import sys, semiring.teach.ladder_gpu; raise SystemExit('cupy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0
