"""cuSOLVER, as CuPy offers it, played by LAPACK: what is laid out in another way than the device needs it fails."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import linalg


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    assert a.flags.f_contiguous and not check_finite and np.isfinite(a).all()
    lu, order = linalg.lu_factor(a, overwrite_a=overwrite_a)
    assert not overwrite_a or np.shares_memory(lu, a), "there would be another copy"
    return lu, order


def lu_solve(factors: Any, b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    assert b.flags.f_contiguous and overwrite_b and not check_finite
    return linalg.lu_solve(factors, b, trans=trans, overwrite_b=True, check_finite=False)


def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on `import cupy` gives NumPy, with LAPACK in the place of cuSOLVER."""
    cupy, solver = ModuleType("cupy"), ModuleType("cupyx.scipy.linalg")
    cupy.__dict__.update({name: value for name, value in vars(np).items() if not name.startswith("__")})
    cupy.asnumpy = np.asarray  # type: ignore[attr-defined]
    solver.lu_factor, solver.lu_solve = lu_factor, lu_solve  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    for name in ("cupyx", "cupyx.scipy"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "cupyx.scipy.linalg", solver)
