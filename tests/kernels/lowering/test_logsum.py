"""Log-sum-exp is recognised by its expressions, however it is declared, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.choose import choose
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.general import general
from semiring.kernels.lowering.logsum import LogSum, log_sum

inf, F8 = np.inf, np.dtype("f8")


def declared(add: Callable[..., Any], mul: Callable[..., Any] = np.add, zero: float = -inf) -> sr.Semiring:
    return sr.Semiring("declared", add=add, mul=mul, zero=zero, product_only=True)


@pytest.mark.parametrize(("S", "form"), [
    (sr.log, LogSum()),
    (declared(np.logaddexp), LogSum()),
    (declared(lambda a, b: np.logaddexp(b, a), lambda a, b: b + a), LogSum()),
    (declared(np.logaddexp2), LogSum(binary=True)),
    (declared(lambda a, b: -np.logaddexp(-a, -b), zero=inf), LogSum(negated=True)),
    (declared(lambda a, b: -np.logaddexp2(-b, -a), zero=inf), LogSum(binary=True, negated=True)),
    (declared(lambda a, b: -np.logaddexp(-a, -b)), None),  # its zero would be +∞
    (declared(lambda a, b: np.logaddexp(a, b) + 1), None),
    (declared(np.logaddexp, np.maximum), None),
    (declared(np.logaddexp, np.subtract), None),
    (declared(np.maximum), None),
    (sr.plus_times, None),
    (sr.min_plus, None),
    (sr.expectation, None),
])
def test_forms(S: sr.Semiring, form: LogSum | None) -> None:
    assert S.traced
    assert log_sum(S.traced, S.zero, F8) == form


def test_no_integers() -> None:
    assert sr.log.traced
    assert log_sum(sr.log.traced, sr.log.zero, np.dtype("i4")) is None


def test_the_general_lowering_says_so() -> None:
    low = general(sr.log, F8)
    assert (low.name, low.log_sum, low.blas, low.by_library) == ("log-sum-exp", LogSum(), False, True)
    assert replace(low, log_sum=None).key != low.key, "the engines differ"
    half = choose(sr.log, np.dtype("f2"), Facts(), 3, in_place=False)
    assert half.storage == np.float32 and half.log_sum == LogSum()
