"""Complex numbers on a GPU that the host plays: sequences, and products by element, are those of the CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu import nvrtc
from gpu.compiled import is_available
from gpu.host import Host
from tensors.test_sequence_gradients_on_gpu import stand_in

import semiring as sr
from semiring.errors import SemiringError
from semiring.kernels.cuda.choose import choose, without_facts
from semiring.kernels.cuda.compile.chains import chain_geometry, chain_source
from semiring.kernels.cuda.compile.convolution import convolution_source
from semiring.kernels.cuda.compile.folds import fold_source
from semiring.kernels.cuda.compile.geometry import product_geometries
from semiring.kernels.cuda.compile.program import OPTIONS, exchange_source, program
from semiring.kernels.cuda.compile.steps import step_geometry, step_source
from semiring.kernels.cuda.compile.thin import thin_geometries, thin_source
from semiring.kernels.cuda.dense import outer
from semiring.kernels.cuda.dense.exchange import Findings
from semiring.kernels.cuda.dense.prefixes import Prefixes
from semiring.kernels.cuda.sparse import masked
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
    near(outer.outer(without_facts(S, A.dtype), host.array(A), host.array(A[:, ::-1])), A * A[:, ::-1])
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


@nvrtc.needs_compiler
@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_every_kernel_of_products_and_sums_compiles(dtype: str) -> None:
    """Those that read data, and those that read storage."""
    low = without_facts(S, np.dtype(dtype))
    made, text, texts = low.for_product(DeviceFacts(has_zero=False)), program(low), [exchange_source(low)]
    steps, thin = step_geometry(text.size, text.weight, 5), thin_geometries(text.size, text.weight, False)
    assert steps
    for form in (low, made):
        texts += [step_source(form, steps), convolution_source(form, False), outer.source(form), masked.source(form)]
        texts += [thin_source(form, g, part, looks) for g, part in zip(thin, ("STACK", "VECTORS"), strict=False)
                  for looks in (True, False)]
        for lines in (1, 9):
            g = chain_geometry(text.size, text.weight, 9, lines, False)
            assert g
            texts += [chain_source(form, g, looks, reverse) for looks in (True, False) for reverse in (True, False)]
    for op in ("add", "mul"):
        kernel = Prefixes(low, op, True)
        for geometry, file in ((kernel.folds.geometry, "folds"), (kernel.geometry, "prefixes")):
            texts.append(fold_source(low, op, geometry, True, kernel.folds.ordered, file))
    for geometry in product_geometries(text.size, text.weight):
        texts.append(text.product(geometry, False))
    for source in dict.fromkeys(texts):
        assert not nvrtc.complaint(source, *OPTIONS, "--gpu-architecture=compute_80", "--device-debug")
