"""For tests of packed Boolean matrices on the device: random truth values, NumPy's answers, the way to the device."""

from __future__ import annotations

from typing import Any

import numpy as np


def entries(shape: tuple[int, int], density: float, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([*shape, seed]).random(shape) < density


def product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return (A.astype("f4") @ B.astype("f4")) > 0


def closure(A: np.ndarray) -> np.ndarray:
    """A⁺ by squaring."""
    A = A.copy()
    while True:
        more = A | product(A, A)
        if (more == A).all():
            return A
        A = more


def on_device(array: np.ndarray) -> Any:
    from semiring.kernels.cuda.bits.matrix import DevicePackedMatrix

    return DevicePackedMatrix.from_dense(array)


def padding(M: Any) -> bool:
    """Whether anything is set beyond the last column."""
    words = M.words.get()
    beyond = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, M.shape[1] :]
    return bool(beyond.any())
