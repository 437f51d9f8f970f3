"""Complex numbers on a GPU that the host plays: sequences, and products by element, are those of the CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu.compiled import is_available
from gpu.host import Host
from test_sequence_gradients_on_gpu import stand_in

import semiring as sr
from semiring.errors import SemiringError
from semiring.kernels.cuda.choose import choose, without_facts
from semiring.kernels.cuda.dense.exchange import Findings
from semiring.kernels.cuda.dense.outer import outer
from semiring.kernels.facts import DeviceFacts
from semiring.operands.device import Device
from semiring.solvers.task import Task, options

pytestmark = pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")
S = sr.plus_times


def numbers(dtype: str, *shape: int) -> np.ndarray:
    rng = np.random.default_rng(len(shape))
    found = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    found[rng.random(shape) < 0.1] = 0
    return np.asarray(found, dtype)


def near(found: Any, wanted: np.ndarray) -> None:
    assert isinstance(found, np.ndarray) and found.dtype == wanted.dtype
    eps = 100 * float(np.finfo(wanted.dtype).eps)
    np.testing.assert_allclose(np.array(found), wanted, rtol=eps, atol=eps * np.abs(wanted).max())


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_sequences(dtype: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    host: Host = stand_in(monkeypatch, tmp_path)
    x, A, e = numbers(dtype, 2, 3), numbers(dtype, 2, 6, 3, 3), numbers(dtype, 2, 7, 3)
    for reverse in (False, True):
        near(sr.scan(host.array(A), S, axis=1, reverse=reverse), sr.scan(A, S, axis=1, reverse=reverse))
        wanted = sr.forward(x, A, S, emissions=e, reverse=reverse, lengths=[7, 4])
        given = [host.array(X) for X in (x, A, e)]
        near(sr.forward(*given[:2], S, emissions=given[2], reverse=reverse, lengths=[7, 4]), wanted)
    near(sr.chain(host.array(A[0]), S), sr.chain(A[0], S))
    near(outer(without_facts(S, A.dtype), host.array(A), host.array(A[:, ::-1])), A * A[:, ::-1])
    A[1, 2, 0, 1] = np.nan
    with pytest.raises(SemiringError, match=r"\[1, 2, 0, 1\] is NaN"):
        sr.scan(host.array(A), S, axis=1)


def test_the_form_holds_numbers_as_they_are() -> None:
    low = choose(S, np.dtype("c16"), DeviceFacts(), 3, in_place=False)
    assert low.is_identity and low.storage == np.dtype("c16") and low.components == (np.dtype("f8"),) * 2
    assert low is without_facts(S, np.dtype("c16")) and low.zero == (0, 0) and low.one == (1, 0) and low.blas
    assert Findings(0, 1, 0).facts(np.dtype("c16")) == DeviceFacts()


def test_closures_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host()
    host.stand_in(monkeypatch)
    A = Device(host.array(np.eye(3, dtype="c16")), S, "A")
    for verb, arguments in (("closure", ()), ("solve", ())):
        with pytest.raises(SemiringError, match=f"in {verb} complex numbers are computed on the CPU only"):
            Task.within(verb, A, options(), arguments, beside=[A] if verb == "solve" else [])
