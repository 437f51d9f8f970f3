"""What is compiled ahead of a first call: the kernels that the call needs if all its data are like their first row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu.host import Host

import semiring as sr
from semiring.kernels.cuda import ahead
from semiring.kernels.cuda.ahead import begin_call, facts_of_row
from semiring.kernels.cuda.choose import array_kernel, general_on_device
from semiring.kernels.cuda.compile.launch import Function
from semiring.kernels.cuda.dense import product
from semiring.kernels.facts import DeviceFacts


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The functions of all calls."""
    found: list[Any] = []
    monkeypatch.setattr(ahead, "compile_ahead", found.extend)
    monkeypatch.setattr(ahead, "_seen", set())
    monkeypatch.setattr(product, "multiprocessors", lambda: 132)
    monkeypatch.setattr(Function, "at_hand", lambda _: False)
    return found


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    host = Host()
    host.stand_in(monkeypatch)
    return host


@pytest.mark.parametrize(("n", "names"), [
    (64, ["close_stack"]), (500, ["panels", "strips", "rest"]), (1024, ["panels", "strips", "rest"]),
    (2000, ["product", "product", "panels", "strips", "rest", "together"]),
])
def test_a_closure(n: int, names: list[str], begun: list[Any], host: Host) -> None:
    A = host.array(np.broadcast_to(np.float32(1), (n, n)))
    begin_call("closure", sr.min_plus, A)
    assert [f.name for f in begun] == ["take_in", *names, "place", "take_in", "inspect", "hand_out"]
    assert all("minimum_of_bits" in f.module.source for f in begun if f.name in ("panels", "product", "close_stack"))
    begin_call("closure", sr.min_plus, A)
    assert len(begun) == len(names) + 5, "once for each kind of call"
    begin_call("closure", sr.max_min, A)
    ordered = begun[len(names) + 5 :]
    assert [f.name for f in ordered] == ["take_in", *names, "place", "take_in", "inspect", "hand_out"]


def test_products_that_are_soon_compiled_come_first(
    begun: list[Any], host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless those with more steps written out are there."""
    S, A = sr.max_plus, host.array(np.full((2000, 2000), -1, "f4"))
    begin_call("closure", S, A)
    soon = [f for f in begun if f.name == "product"]
    kernel = array_kernel(general_on_device(S, A.dtype)).product
    full = [kernel.function(g, True) for g in (kernel.large, kernel.small)]
    assert all("constexpr int UNROLL = 4;" in f.module.source for f in soon) and not set(full) & set(soon)
    monkeypatch.setattr(Function, "at_hand", lambda _: True)
    ahead._seen.clear()
    begun.clear()
    begin_call("closure", S, A)
    assert [f for f in begun if f.name == "product"] == full


def test_signs_decide_on_the_form(begun: list[Any], host: Host) -> None:
    begin_call("closure", sr.min_plus, host.array(np.full((300, 300), -1, "f4")))
    assert not any("minimum_of_bits(x, t)" in f.module.source for f in begun) and len(begun) == 8


@pytest.mark.parametrize(("shapes", "names"), [
    (((300, 300), (300, 300)), ["place", "product"]), (((5, 7), (7, 9)), ["product_edge"]),
    (((3, 5, 7), (7, 9)), []), (((128, 1024), (1024, 128)), ["place", "product", "together"]),
])
def test_a_product(shapes: Any, names: list[str], begun: list[Any], host: Host) -> None:
    begin_call("matmul", sr.min_plus, *(host.array(np.zeros(s, "f4")) for s in shapes))
    assert [f.name for f in begun] == ["take_in", *names]


@pytest.mark.parametrize(("S", "array"), [
    (sr.plus_times, np.zeros((300, 300), "f4")), (sr.boolean, np.zeros((9, 9), "?")),
    (sr.min_plus, np.zeros((0, 0), "f4")), (sr.min_plus, np.full((9, 9), np.iinfo("i4").min, "i4")),
])
def test_others_compile_what_they_need_themselves(
    S: sr.Semiring, array: np.ndarray, begun: list[Any], host: Host
) -> None:
    """Inverses by a library, truth values, nothing, and data that the call refuses."""
    begin_call("closure", S, host.array(array))
    assert {f.name for f in begun} <= {"take_in", "inspect", "hand_out"}


@pytest.mark.parametrize(("row", "facts"), [
    ([3.0, -2, np.inf], DeviceFacts(3, high_limit=True, least=-2)), ([np.nan, -np.inf], DeviceFacts(low_limit=True)),
])
def test_facts_of_a_row(row: list[float], facts: DeviceFacts, host: Host) -> None:
    A = host.array(np.array([row, [0.0] * len(row)], "f4"))
    assert facts_of_row(A) == facts
    assert facts_of_row(host.array(np.array([row, row]))[None]) == facts
    assert facts_of_row(A.T) == DeviceFacts(), "elements that do not lie side by side are not looked at"
    assert facts_of_row(host.array(np.array([[5, 127, 1]], "i1"))) == DeviceFacts(5, high_limit=True, least=1)
