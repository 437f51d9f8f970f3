"""An array of a library that only exports DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np


class Exported:
    """It has no other method, and no name."""

    def __init__(self, array: np.ndarray):
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()
