"""The ladder on a GPU."""

from __future__ import annotations

from .rung import Rung

GPU_RUNGS: tuple[Rung, ...] = ()
