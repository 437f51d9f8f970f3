"""These tests are collected where there is a GPU."""

from __future__ import annotations

from gpu.device import has_device

collect_ignore_glob = [] if has_device() else ["*test_*.py"]


def pytest_report_header() -> str | None:
    return None if has_device() else "tests/gpu: not collected, as there is no GPU, or no CuPy"
