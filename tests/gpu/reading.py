"""Arrays of a GPU that the host plays are read and examined as those of CuPy."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from gpu.host import Array

from semiring.kernels.facts import DeviceFacts, Facts
from semiring.operands import dense, examine, read
from semiring.operands.device import read_cupy


def stand_in(monkeypatch: pytest.MonkeyPatch, *modules: ModuleType) -> None:
    """From now on they are, and facts in the modules are those that a GPU finds."""

    def read_array(A: Any, S: Any, what: str) -> Any:
        return read_cupy(A, S, what) if isinstance(A, Array) else dense.read_array(A, S, what)

    def examined(S: Any, dtype: Any, arrays: Any) -> Facts:
        found = examine.examine(S, dtype, [(what, np.array(x)) for what, x in arrays])
        return DeviceFacts(**vars(found))

    monkeypatch.setattr(read, "read_array", read_array)
    for module in modules:
        monkeypatch.setattr(module, "examine", examined)
