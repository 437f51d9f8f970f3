"""Powers and logarithms as polynomials: within a few units of the last place."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from semiring.kernels.cpu.compile.powers import FORMATS, text


def functions(dtype: str, binary: bool) -> dict[str, Any]:
    """The functions, run by NumPy."""
    kind = np.dtype(dtype).type
    names: dict[str, Any] = {
        "np": np, "FIRST": kind, "inline": lambda f: f, "floor": np.floor, "fma": lambda x, y, z: x * y + z,
        "select": np.where, "bits_as": lambda to, x: np.asarray(x).view(to),
    }
    source = re.sub(r"(np\.int\d\d|FIRST)\((?=[ky(eb]|x\b|FIRST)", r"cast(\1, ", text(np.dtype(dtype), binary))
    names["cast"] = lambda to, x: np.asarray(x).astype(to)
    exec(source, names)
    return names


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("dtype", [d.str for d in FORMATS])
def test_errors_are_a_few_units_of_the_last_place(dtype: str, binary: bool) -> None:
    found, eps = functions(dtype, binary), float(np.finfo(dtype).eps)
    least = {"<f8": 700.0, "<f4": 86.0}[np.dtype(dtype).str]
    x = -np.geomspace(1e-6, least, 5000).astype(dtype)
    wide = x.astype(np.longdouble)
    wanted = np.exp2(wide) if binary else np.exp(wide)
    # NumPy rounds twice where the processor rounds once, so that r loses what k log 2 is rounded by
    assert np.all(np.abs(found["power"](x) - wanted) <= 4 * eps * wanted)
    y = np.geomspace(1e-30, 1e30, 5000).astype(dtype)
    logs = (np.log2 if binary else np.log)(y.astype(np.longdouble))
    assert np.all(np.abs(found["logarithm"](y) - logs) <= 4 * eps * np.maximum(1, np.abs(logs)))


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("dtype", [d.str for d in FORMATS])
def test_ends(dtype: str, binary: bool) -> None:
    power = functions(dtype, binary)["power"]
    with np.errstate(all="ignore"):
        assert power(np.zeros(1, dtype))[0] == 1
        assert not power(np.array([-np.inf, -2000.0], dtype)).any()
