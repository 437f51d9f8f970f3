"""Sums and products of arrays on a GPU that the host plays: the CPU's answers, and its messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu.compiled import Compiled, is_available
from gpu.host import Array, Host
from gpu.sums import SOFT_MIN, TRIANGULAR, Report, numbers

import semiring as sr
from semiring.kernels.cuda.dense import exchange, folds, prefixes
from semiring.operands.device import read_cupy
from semiring.shapes import reductions, sums

pytestmark = pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")

VERBS = ("sum", "prod", "cumsum", "cumprod")


class Read(Report):
    """A report that is read."""

    def read(self) -> exchange.Findings:
        return exchange.Findings(0, 0, self.flags)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[Host]:
    played = Host(None)
    played.stand_in(monkeypatch)
    module, on_host = Compiled(played, folder).module, sums.operand
    for each in (folds, prefixes):
        monkeypatch.setattr(each, "Module", module)
        monkeypatch.setattr(each, "multiprocessors", lambda: 2)
        monkeypatch.setattr(each, "memory", played.memory)
        monkeypatch.setattr(each, "_made", {})
    monkeypatch.setattr(exchange, "report", lambda: Read(played))
    read = {True: read_cupy, False: on_host}
    monkeypatch.setattr(sums, "operand", lambda x, S, what: read[isinstance(x, Array)](x, S, what))
    yield played


def outcome(compute: Callable[[], Any]) -> Any:
    """What a call gives, or the message that it refuses with."""
    try:
        return np.array(compute())
    except sr.SemiringError as e:
        return str(e)


def compare(host: Host, S: sr.Semiring, verb: str, x: np.ndarray, **options: Any) -> None:
    got, want = (outcome(lambda y=y: getattr(S, verb)(y, **options)) for y in (host.array(x), x))
    if isinstance(want, str) or isinstance(got, str):
        assert got == want
    elif S in (sr.log, SOFT_MIN):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-5)
    else:
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("shape", [(5, 7), (3,), (), (0, 4), (4, 0)])
@pytest.mark.parametrize(("S", "dtype"), [
    (sr.min_plus, "f4"), (sr.log, "f8"), (sr.counting, "i4"), (TRIANGULAR, [(c, "f8") for c in "pqr"]),
    (sr.gcd_lcm, "i4"),
])
def test_answers_are_those_of_the_cpu(host: Host, S: sr.Semiring, dtype: Any, shape: tuple[int, ...]) -> None:
    x = numbers(S, dtype, shape, 0)
    for axis in [None, 0] if shape else [None]:
        for verb in VERBS[:2]:
            for keepdims in (False, True):
                compare(host, S, verb, x, axis=axis, keepdims=keepdims)
            if x.size:
                compare(host, S, verb, x, axis=axis, initial=x.reshape(-1)[0])
        for verb in VERBS[2:]:
            compare(host, S, verb, x, axis=axis)


@pytest.mark.parametrize(("S", "dtype", "value"), [
    (sr.viterbi, "f4", np.nan), (sr.viterbi, "f8", -1), (sr.counting, "i4", 2**31 - 2), (sr.counting, "i4", 2**31 - 1),
    (sr.counting, "i8", 2**63 - 2), (sr.min_plus, "i4", -(2**31)), (sr.min_plus, "i8", 2**63 - 3),
    (sr.gcd_lcm, "i4", 2**31 - 1), (sr.min_plus, "u1", 254),
])
def test_messages_are_those_of_the_cpu(host: Host, S: sr.Semiring, dtype: str, value: Any) -> None:
    for shape, axis in (((40, 33), 0), ((), None)):
        x = np.full(shape, 2 if dtype == "i4" else 1, dtype)
        x.reshape(-1)[x.size // 3] = value
        for verb in VERBS:
            compare(host, S, verb, x, axis=axis)


def test_sums_that_do_not_fit_on_the_way(host: Host) -> None:
    """The result does, so that the host gives it."""
    S = sr.Semiring("whole", add=np.add, mul=np.multiply, zero=0, product_only=True, dtypes="i")
    x = np.array([2**62, 2**62, -(2**62), -(2**62), 5], "i8")
    compare(host, S, "sum", x)


def test_out_is_where_the_array_is(host: Host) -> None:
    x, out = np.arange(12.0).reshape(3, 4), host.empty((4,))
    sr.min_plus.sum(host.array(x), 0, out=out)
    np.testing.assert_array_equal(out, x.min(0))
    for wrong in (np.empty(4), host.empty(3), host.empty(4, "f4")):
        with pytest.raises(sr.SemiringError, match=r"out must be .*, on the GPU as x is"):
            sr.min_plus.sum(host.array(x), 0, out=wrong)


def test_elements_for_which_there_is_no_form_are_refused(host: Host) -> None:
    for verb in VERBS:
        with pytest.raises(sr.SemiringError, match=r"complex numbers are computed on the CPU only; pass x.get\(\)"):
            getattr(sr.plus_times, verb)(host.array(np.ones(3, "c16")))


def test_a_plan_names_the_gpu(host: Host) -> None:
    found = reductions.sum(host.array(np.ones((3, 4))), sr.min_plus, 0).plan()
    assert found.lowering.on_gpu and found.method == "one pass over the GPU's memory" and found.shape == (4,)
