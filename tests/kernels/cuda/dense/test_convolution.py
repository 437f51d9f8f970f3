"""Convolutions on the device: the kernels run on the host, and are compared with convolutions on the CPU."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu.compiled import host_of, is_available
from gpu.host import Host
from gpu.sums import TRIANGULAR
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cuda.choose import choose, general_on_device
from semiring.kernels.cuda.dense import convolution
from semiring.kernels.cuda.dense.convolution import Convolution
from semiring.kernels.facts import DeviceFacts
from semiring.shapes.convolve import order

pytestmark = pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")

CASES = {
    "min-plus f4": (sr.min_plus, "f4"), "max-min f8": (sr.max_min, "f8"), "plus-times f8": (sr.plus_times, "f8"),
    "log f4": (sr.log, "f4"), "boolean": (sr.boolean, "?"), "triangular": (TRIANGULAR, "f8,f8,f8"),
}


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path, multiprocessors: int = 2) -> Host:
    host = host_of(monkeypatch, folder, convolution, multiprocessors=multiprocessors)
    monkeypatch.setattr(convolution, "current_device", lambda: 0)
    convolution._kept_tables.cache_clear()
    return host


def numbers(name: str, shape: tuple[int, ...], seed: int, zeros: float) -> np.ndarray:
    S, dtype = CASES[name]
    rng = np.random.default_rng(seed)
    if S is TRIANGULAR:
        found = np.zeros(shape, S.dtypes[0])
        for field in "pqr":
            found[field] = rng.integers(0, 9, shape)
    else:
        found = (rng.normal(size=shape, scale=9) if S.name == "log" else rng.integers(0, 9, shape)).astype(dtype)
    found[rng.random(shape) < zeros] = S.zero_in(found.dtype)
    return found


def compare(
    host: Host, name: str, left: tuple[int, ...], right: tuple[int, ...], mode: str, zeros: float = 0.1,
    facts: DeviceFacts | None = None, axes: Any = None,
) -> None:
    S, _ = CASES[name]
    a, b = numbers(name, left, 1, zeros), numbers(name, right, 2, zeros)
    low = choose(S, a.dtype, DeviceFacts(), 3, in_place=False)
    low = low if low.is_identity else general_on_device(S, a.dtype)
    low = low if facts is None else low.for_product(facts)
    how = order(left, right, mode, axes)
    found = Convolution(low)(how.windows, *(host.array(how.moved(x)) for x in (a, b)))
    found, wanted = how.restored(np.array(found)), sr.convolve(a, b, S, mode=mode, axes=axes)
    if S.name == "log":
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6 * prod(right))
    else:
        np.testing.assert_array_equal(found, wanted)


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(list(CASES)), m=st.integers(1, 90), n=st.integers(1, 90), zeros=st.sampled_from([0, 0.2, 0.9]),
    mode=st.sampled_from(["full", "same", "valid"]), multiprocessors=st.sampled_from([1, 100]),
)
def test_short_sequences(
    folder: Path, name: str, m: int, n: int, zeros: float, mode: str, multiprocessors: int
) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        compare(stand_in(monkeypatch, folder, multiprocessors), name, (m,), (n,), mode, zeros)


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(list(CASES)), left=st.lists(st.integers(1, 9), min_size=2, max_size=4), data=st.data(),
    mode=st.sampled_from(["full", "same", "valid"]), multiprocessors=st.sampled_from([1, 100]),
)
def test_several_dimensions(
    folder: Path, name: str, left: list[int], data: st.DataObject, mode: str, multiprocessors: int
) -> None:
    right = data.draw(st.lists(st.integers(1, 9), min_size=len(left), max_size=len(left)))
    with pytest.MonkeyPatch.context() as monkeypatch:
        host = stand_in(monkeypatch, folder, multiprocessors)
        compare(host, name, tuple(left), tuple(right), mode)


@pytest.mark.parametrize("name", ["min-plus f4", "triangular", "max-min f8"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_long_sequences_are_cut_into_parts(host: Host, name: str, mode: str) -> None:
    long = ((5000,), (1500,)), ((300,), (3000,)), ((2100,), (2100,)), ((70, 300), (3, 5)), ((4, 9), (4, 600))
    for left, right in long:
        compare(host, name, left, right, mode)


@pytest.mark.parametrize("shapes", [((3, 50), (3, 9)), ((3, 50), (9,)), ((50,), (3, 9)), ((2, 3, 50), (3, 9))])
def test_stacks_broadcast(host: Host, shapes: tuple[tuple[int, ...], ...]) -> None:
    compare(host, "min-plus f4", *shapes, "full", axes=-1)
    if len(shapes[0]) < 3:  # records are copied by CuPy's own means otherwise
        compare(host, "triangular", *shapes, "full", axes=-1)


def test_where_no_zero_occurs_none_is_brought_in(host: Host) -> None:
    """A form without a test for zero is right for such data, beyond whose ends nothing may be multiplied."""
    facts = DeviceFacts(has_zero=False, least=1, largest=9, has_tiny=False)
    for name in ("max-min f8", "plus-times f8", "min-plus f4"):
        for left, right in (((300,), (40,)), ((5000,), (1500,)), ((20, 30), (4, 5))):
            compare(host, name, left, right, "full", zeros=0, facts=facts)


def test_tables_hold_places_of_rows(host: Host) -> None:
    table, positions = convolution.tables((2, 2), (1, 2), (0, 1), (2, 1))
    assert positions == 2 * 3
    assert np.array(table).tolist() == [0, 1, 1, 4, 0, 1, -1, 2, 3, -1]
    assert convolution.tables((), (), (), ())[1] == 1


def test_cuts_give_each_multiprocessor_some_blocks(host: Host) -> None:
    low = choose(sr.min_plus, np.dtype("f4"), DeviceFacts(), 3, in_place=False)
    kernels, g = Convolution(low), Convolution(low).geometry
    for left, right in (((100_000,), (100_000,)), ((1 << 20,), (900,)), ((30,), (30,)), ((500, 500), (500, 500))):
        windows = order(left, right, "full", None).windows
        cut = kernels.cut(windows, 1)
        assert cut.wide * cut.parts >= 1 and g.THREADS % cut.wide == 0
        assert cut.parts == -(-right[-1] // cut.tall) * -(-prod(right[:-1]) // cut.deep)
        assert cut.tall % g.RUN == 0 or cut.tall == right[-1]
