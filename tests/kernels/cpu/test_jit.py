"""The library's own functions compile whatever the user's settings of Numba are; the user's follow these."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest
from numba import int64
from numba.core import config

from semiring.kernels.cpu.jit import njit

ROOT = Path(__file__).parents[3]

# A call for every module that compiles, which it prints, and a function of the user's own.
EVERYTHING = """
import sys, numba, numpy as np, scipy.sparse, semiring as sr
A = np.array([[0, 1, 0.5], [np.inf, 0, 2], [1, np.inf, 0]])
print(sr.closure(A, sr.min_plus).tolist(), sr.matmul(A, A, sr.log).tolist())
print(sr.closure(A < 1, sr.boolean).tolist(), sr.matmul(A < 2, A < 1, sr.boolean).tolist())
print([e.tolist() for e in sr.pack(A < 1).nonzero()])
print(sr.closure(np.array([[1, 2], [4, 8]], np.uint8), sr.bitset_may).tolist())
i = np.arange(400)
street = scipy.sparse.csr_array((1.0 + i % 7, (i, (i + 1) % 400)))
F = sr.factor(street, sr.min_plus)
print(F.row(3).sum(), F.solve(np.where(i == 0, 0, np.inf)).sum(), F.reduce("mean"))
print(sr.closure_rows(street, sr.min_plus, [5]).sum(), sr.matmul(street, street, sr.min_plus).sum())
print(sr.reach(street).descendant_counts()[:3].tolist())
user = numba.njit(lambda x: x + 1)
print(user(1), file=sys.stderr)
print(type(user).__name__, sorted(m for m in sys.modules if m.startswith("semiring.kernels.cpu")), file=sys.stderr)
"""


def run(**settings: str) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", EVERYTHING], capture_output=True, text=True, timeout=600, env={**os.environ, **settings}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr
