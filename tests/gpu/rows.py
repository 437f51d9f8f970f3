"""A GPU that the host plays, for chains of rows that go by products of the engine, which are NumPy's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu import reading as reads
from gpu.compiled import Compiled
from gpu.host import Array, Host

import semiring as sr
from semiring.algebra.elements import full
from semiring.kernels.cuda.dense import outer
from semiring.operands import device
from semiring.shapes.sequences import forward_by_products, forward_on_gpu


class Engine:
    """Products of matrices in the memory of a GPU that the host plays, by NumPy."""

    def __init__(self, low: Any):
        assert low.is_identity
        self.S = low.algebra

    def multiply(self, C: Any, A: Any, B: Any) -> None:
        self.multiply_stack(C[None], A[None], B[None])

    def multiply_stack(self, C: Any, A: Any, B: Any) -> None:
        assert all(isinstance(X, Array) for X in (C, A, B)) and C.shape == (len(A), A.shape[1], B.shape[2])
        assert len(A) == len(B) == len(C)
        ops, a, b = self.S.over(C.dtype), plain(A), plain(B)
        found = full(np.empty(C.shape, C.dtype), ops.zero)
        with np.errstate(all="ignore"):
            for k in range(a.shape[2]):
                found = ops.add(found, ops.mul(*np.broadcast_arrays(a[:, :, k, None], b[:, k, None])))
        plain(C, False)[...] = found


class Winners(Engine):
    """The same, with the terms that won."""

    def multiply(self, A: Any, B: Any) -> Any:  # type: ignore[override]
        assert len(A) == len(B)
        values, which = sr.matmul(plain(A), plain(B), self.S, device="cpu", argmax=True)
        return A.host.array(values), A.host.array(which.astype("i4"))


def plain(X: Any, copy: bool = True) -> np.ndarray:
    found = X.view(np.ndarray)
    return found.copy() if copy else found


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Host:
    """A GPU that refuses the kernel of short rows, and whose products are those of the CPU."""
    host = Host(None)
    host.stand_in(monkeypatch)
    monkeypatch.setattr(outer, "Module", Compiled(host, folder).module)
    monkeypatch.setattr(outer, "multiprocessors", lambda: 1)
    outer._function.cache_clear()
    reads.stand_in(monkeypatch, device)
    monkeypatch.setattr(forward_on_gpu, "geometry_of", lambda low, n: None)
    monkeypatch.setattr(forward_by_products, "kernel", Engine)
    monkeypatch.setattr("semiring.kernels.cuda.choose.array_kernel", lambda low: low)
    monkeypatch.setattr("semiring.kernels.cuda.dense.winners.winners_kernel", Winners)
    return host
