"""Large host arrays to the device and back, over pinned pieces."""

from __future__ import annotations

import numpy as np


def test_host_arrays_over_pinned_pieces() -> None:
    """More than one piece, of rows that are not a divisor of it, strided and in Fortran order."""
    from semiring.kernels.cuda.compile.staging import download, upload

    rng = np.random.default_rng(9)
    for A in (
        rng.random((3001, 2003)), rng.random((700, 6000))[:, ::2], rng.random((50, 300, 400)),
        np.asfortranarray(rng.random((2500, 1700)).astype("f4")), np.zeros((1, 9_000_000), "i2"),
    ):
        np.testing.assert_array_equal(upload(A).get(), A)
        np.testing.assert_array_equal(download(upload(A)), A)
