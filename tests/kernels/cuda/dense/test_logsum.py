"""Log-sum-exp on the GPU: what goes to the library, and what to the kernels, both played by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu.host import Host

from semiring.kernels.cuda.dense import logsum
from semiring.kernels.lowering.logsum import LogSum


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    host = Host()
    host.stand_in(monkeypatch)
    return host


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("form", [LogSum(), LogSum(True), LogSum(False, True), LogSum(True, True)])
def test_products(form: LogSum, accumulate: bool, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logsum, "LEAST_TERMS", 0)
    random = np.random.default_rng(0)
    A, B, C = (host.array(random.normal(size=s).astype("f4")) for s in ((2, 9, 8), (2, 8, 7), (2, 9, 7)))
    A[0, 3, 4] = np.nan
    sign, add = (-1 if form.negated else 1), (np.logaddexp2 if form.binary else np.logaddexp)
    with np.errstate(invalid="ignore"):
        wanted = add.reduce(sign * (A[..., None] + B[:, None]), axis=2)
        wanted = sign * (add(wanted, sign * C) if accumulate else wanted)
    asked: list[Any] = []

    def general(c: Any, a: Any, b: Any, add_to_c: bool) -> None:
        assert add_to_c is accumulate
        asked.append((c.shape, a))
        c[...] = 77

    found = host.array(np.array(C))
    logsum.log_sum_product(form)(found, A, B, accumulate, general)
    assert [shape for shape, _ in asked] == [(1, 1, 7)] and np.array_equal(asked[0][1], A[:1, 3:4], equal_nan=True)
    assert (found[0, 3] == 77).all()
    found[0, 3] = wanted[0, 3] = 0
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_small_products_are_for_the_kernels(host: Host) -> None:
    product = logsum.log_sum_product(LogSum())
    assert not product.repays(1, 256, 256, 256) and product.repays(1, 1024, 1024, 1024)
