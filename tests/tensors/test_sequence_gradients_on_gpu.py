"""Derivatives of chains and scans on a GPU that the host plays: those of the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu import reading as reads
from gpu.compiled import Compiled, Report, is_available
from gpu.host import Array, Host
from tensors.test_gradients import ALGEBRAS, elements
from tensors.test_sequence_gradients import LAYOUTS

import semiring as sr
from semiring.kernels.cuda.dense import chains, exchange, folds, outer, steps
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.operands import dense, device
from semiring.shapes.sequences import chain, forward_on_gpu, scan_on_gpu
from semiring.tensors import sequence_gradients
from semiring.tensors.sequence_gradients import forward_gradients, scan_gradients
from semiring.tensors.sequence_operands import last_product, last_product_gradient

pytestmark = pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[Host]:
    yield stand_in(monkeypatch, folder)
    for cached in (chains._module, outer._function, steps._function):
        cached.cache_clear()


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Host:
    """A GPU with the kernels of rows, products of sequences, sums, and products by element.

    As CuPy does, its arrays refuse operations with arrays of the host.
    """
    host = Host(None)
    host.stand_in(monkeypatch)
    module = Compiled(host, folder).module
    for each in (chains, folds, outer, steps):
        monkeypatch.setattr(each, "Module", module)
    for each in (chains, folds, outer):
        monkeypatch.setattr(each, "multiprocessors", lambda: 2)
    monkeypatch.setattr(folds, "memory", host.memory)
    for each in (chains, folds):
        monkeypatch.setattr(each, "_made", {})
    for cached in (chains._module, outer._function, steps._function):
        cached.cache_clear()
    for each in (exchange, forward_on_gpu, scan_on_gpu):
        monkeypatch.setattr(each, "report", lambda: Report(host))
    monkeypatch.setattr(chain, "_is_array_on_gpu", lambda x: isinstance(x, Array))
    reads.stand_in(monkeypatch, dense, device)
    usual = Array.__array_ufunc__

    def strictly(x: Array, ufunc: Any, method: str, *given: Any, **options: Any) -> Any:
        assert all(isinstance(each, Array) or not np.ndim(each) for each in given), "an array of the host"
        return usual(x, ufunc, method, *given, **options)

    monkeypatch.setattr(Array, "__array_ufunc__", strictly)

    def as_data(low: CudaLowering, x: Any) -> Any:
        """Integers of the order of floats as these."""
        if low.is_identity:
            return x
        bits = np.array(x)
        return host.array((bits ^ (bits >> (8 * x.itemsize - 1) & np.iinfo(bits.dtype).max)).view(low.dtype))

    monkeypatch.setattr(CudaLowering, "decode", as_data)
    return host


def same(found: Any, wanted: Any) -> None:
    assert (found is None) == (wanted is None)
    if found is not None:
        assert isinstance(found, Array) and found.dtype == wanted.dtype
        np.testing.assert_allclose(np.array(found), wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("S", [
    pytest.param(S, marks=[] if S in (sr.log, sr.max_plus) else pytest.mark.slow) for S in ALGEBRAS
], ids=lambda S: S.name)
def test_chains(S: sr.Semiring, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    for terms in (sequence_gradients.ON_GPU, 20):
        monkeypatch.setattr(sequence_gradients, "ON_GPU", terms)
        for options in LAYOUTS:
            shapes, options = options["shapes"], {k: v for k, v in options.items() if k != "shapes"}
            operands = [elements(S, shape, 1 + k, 0.3) for k, shape in enumerate(shapes)]
            emitted = operands[2] if len(operands) > 2 else None
            y = sr.forward(*operands[:2], S, emissions=emitted, **options)
            G = np.random.default_rng(3).standard_normal(y.shape)
            wanted = forward_gradients(S, G, y, *operands, **options)
            given = [host.array(x) for x in operands]
            rows = sr.forward(*given[:2], S, emissions=given[2] if len(given) > 2 else None, **options)
            found = forward_gradients(S, host.array(G), rows, *given, **options)
            for ours, theirs in zip(found, wanted, strict=True):
                same(ours, theirs)


@pytest.mark.parametrize("S", [
    sr.log, sr.max_min, *(pytest.param(S, marks=pytest.mark.slow) for S in (sr.plus_times, sr.min_plus))
], ids=lambda S: S.name)
def test_scans_and_products(S: sr.Semiring, host: Host) -> None:
    A, first = elements(S, (2, 4, 3, 3), 1, 0.2), elements(S, (2, 2, 3), 2, 0.2)
    for reverse, x in ((False, None), (True, None), (False, first), (True, first.swapaxes(1, 2))):
        P = sr.scan(A, S, axis=1, reverse=reverse, initial=x)
        G = np.random.default_rng(3).standard_normal(P.shape)
        wanted = scan_gradients(S, G, P, A, x, reverse=reverse)
        given = [host.array(X) for X in (G, P, A)]
        found = scan_gradients(S, *given, None if x is None else host.array(x), reverse=reverse)
        for ours, theirs in zip(found, wanted, strict=True):
            same(ours, theirs)
    G = np.random.default_rng(3).standard_normal((2, 3, 3))
    same(last_product(S, host.array(A)), last_product(S, A))
    same(last_product_gradient(S, host.array(G), host.array(A)), last_product_gradient(S, G, A))
    same(last_product(S, host.array(A[:, :1])), A[:, 0])


def test_powers_that_are_infinite(host: Host) -> None:
    x, A = np.array([0.0, np.inf]), np.array([[0.0, np.inf], [-np.inf, 1.0]])
    y = sr.forward(x, A, sr.log, steps=3)
    G = np.ones(y.shape)
    wanted = forward_gradients(sr.log, G, y, x, A, steps=3)
    found = forward_gradients(sr.log, *map(host.array, (G, y, x, A)), steps=3)
    for ours, theirs in zip(found[:2], wanted[:2], strict=True):
        same(ours, theirs)
