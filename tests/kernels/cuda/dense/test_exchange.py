"""Data into storage and out of it, the kernels played by NumPy: what is looked at, and what is made of it."""

from __future__ import annotations

from typing import Any
from weakref import ref

import numpy as np
import pytest
from gpu import codes
from gpu.host import Host
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import semiring as sr
from semiring.kernels.cuda.choose import choose, without_facts
from semiring.kernels.cuda.dense import exchange
from semiring.kernels.cuda.dense.exchange import (
    HIGH_LIMIT,
    LEAVES,
    LOW_LIMIT,
    NOT_A_NUMBER,
    OTHER,
    TINY,
    ZERO,
    Exchange,
    Findings,
    look_at,
    report,
)
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.kernels.facts import DeviceFacts

DTYPES = [np.dtype(d) for d in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")]


class Played:
    """The kernels of exchange.cu for one lowering of numbers, which count how often each element is looked at."""

    def __init__(self, host: Host):
        self.host, self.seen = host, 0
        self.low: CudaLowering | None = None

    def module(self, _source: str) -> Any:
        return self

    def function(self, name: str, threads: int) -> Any:
        return lambda *arguments: self.host.give(lambda: getattr(self, name)(*arguments))

    def take_in(
        self, blocks: int, _: int, source: int, ld: int, following: int, rows: int, columns: int, batch: int,
        target: int, ldt: int, next_t: int, tall: int, wide: int, lanes: int, zero: int, one: int, tally: int, to: int,
    ) -> None:
        assert self.low and blocks and lanes & (lanes - 1) == 0
        encode = codes.function(self.low.codes.encode)
        for s in range(batch):
            found = self.host.at(source + s * following, ld, rows, columns, self.low.dtype)[:tall, :wide]
            for x in found.ravel():
                self._look_at(x, (zero, one), tally)
            if target:
                there = self.host.at(target + s * next_t, ldt, tall, wide, self.low.storage)
                inside = [[encode(x) for x in row] for row in found]
                there[...] = self.low.zero[0]
                there[: len(found), : found.shape[1]] = np.reshape(inside, found.shape)
        self._send(tally, to)

    def hand_out(
        self, blocks: int, _: int, source: int, ld: int, following: int, rows: int, columns: int, batch: int,
        target: int, ldt: int, next_t: int, lanes: int, failed: int, tally: int, to: int,
    ) -> None:
        assert self.low and blocks and not failed
        _, decode, leaves = map(codes.function, self.low.codes)
        for s in range(batch):
            found = self.host.at(source + s * following, ld, rows, columns, self.low.storage).copy()
            there = self.host.at(target + s * next_t, ldt, rows, columns, self.low.dtype)
            there[...] = np.reshape([decode(y) for y in found.ravel()], found.shape)
            self._tally(tally)[2] |= LEAVES * any(leaves(y) for y in found.ravel())
        self._send(tally, to)

    inspect = None

    def _tally(self, address: int) -> np.ndarray:
        return self.host.at(address, 0, 1, 4, "i8")[0]

    def _look_at(self, x: Any, ends: tuple[int, int], address: int) -> None:
        self.seen += 1
        tally, number = self._tally(address), x.item()
        zero, one = (from_key(end, x.dtype) for end in ends)
        tally[2] |= ZERO if number == zero else OTHER * (number != one)
        if x.dtype.kind == "f":
            tally[2] |= TINY * bool(x != 0 and abs(x) < (2.0**-511 if x.itemsize == 8 else 2.0**-63))
            limit = NOT_A_NUMBER * np.isnan(x) | HIGH_LIMIT * (number == np.inf) | LOW_LIMIT * (number == -np.inf)
        else:
            limits = np.iinfo(x.dtype)
            limit = HIGH_LIMIT * (number == limits.max) | LOW_LIMIT * (number == limits.min)
        tally[2] |= limit
        if not limit:
            key = to_key(x)
            tally[:2] = min(tally[0], key), max(tally[1], key)

    def _send(self, address: int, to: int) -> None:
        if to:
            tally = self._tally(address)
            self.host.at(to, 0, 1, 3, "i8")[0] = tally[:3]
            tally[:] = exchange.EMPTY


def to_key(x: Any) -> int:
    """Integers in the order of the numbers, as exchange.cu has them: a float's bits, those of negative ones flipped."""
    if x.dtype.kind == "f":
        bits = int(np.float64(x).view("u8"))
        return bits if bits < 1 << 63 else (1 << 63) - 1 - bits
    return int(x) - (x.dtype == np.uint64) * (1 << 63)


def from_key(key: int, dtype: np.dtype) -> float:
    if dtype.kind == "f":
        return np.uint64(key if key >= 0 else (1 << 63) - 1 - key).view("f8").item()
    return key + (dtype == np.uint64) * (1 << 63)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Played:
    """What is launched goes to a host that does it late, with no exchange and no report from before."""
    host = Host(0)
    played = Played(host)
    host.stand_in(monkeypatch)
    scrap = host.array(np.array(exchange.EMPTY))
    for name, value in {
        "_module": played.module, "multiprocessors": lambda: 3, "current_device": lambda: 0,
        "synchronize": host.finish, "_free": {}, "_exchanges": {}, "_nowhere": lambda: scrap.ptr,
    }.items():
        monkeypatch.setattr(exchange, name, value)
    return played


@given(data=st.data(), dtype=st.sampled_from(DTYPES))
def test_keys_are_in_the_order_of_the_numbers(data: st.DataObject, dtype: np.dtype) -> None:
    """And lead back to them; −0 comes before 0."""
    finite = {"allow_nan": False, "allow_infinity": False} if dtype.kind == "f" else {}
    x, y = (np.asarray(data.draw(hnp.from_dtype(dtype, **finite)), dtype) for _ in range(2))
    assert exchange._key(x) == to_key(x)
    number = exchange._number(exchange._key(x), dtype)
    assert number == x.item() and np.signbit(number) == np.signbit(x)
    assert (exchange._key(x) < exchange._key(y)) == ((x.item(), not np.signbit(x)) < (y.item(), not np.signbit(y)))


def test_facts() -> None:
    """Nothing found is not a number at all; a least number of −5 is larger than a greatest of 3."""
    nothing = Findings(*exchange.EMPTY[:3]).facts(np.dtype("i4"))
    assert nothing == DeviceFacts(largest=0, least=np.inf, two_valued=True, has_zero=False, has_tiny=False)
    assert Findings(-5, 3, LOW_LIMIT | OTHER | ZERO | TINY).facts(np.dtype("i4")) == DeviceFacts(5, True, least=-5)
    found = Findings(2, 7, HIGH_LIMIT | ZERO).facts(np.dtype("i1"))
    assert found == DeviceFacts(7, False, True, True, least=2, has_tiny=False)
    assert Findings(0, 0, OTHER).facts(sr.shortest_hops.default_dtype) == DeviceFacts()
    large = Findings(-(1 << 63), (1 << 63) - 1, OTHER).facts(np.dtype("u8"))
    assert (large.least, large.largest) == (0, (1 << 64) - 1)


def test_a_copy_of_rows_stays_until_the_launch(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tally of a first call would get its memory otherwise, before the launch has read it."""
    copies, copy_rows, addresses = list[Any](), exchange.rows_of, exchange._addresses

    def copied(A: Any) -> Any:
        found = copy_rows(A)
        copies.append(ref(found))
        return found

    def asked(*given: Any) -> tuple[int, int]:
        played.host.finish()  # what was given holds arrays, too
        assert copies[-1]() is not None
        return addresses(*given)

    monkeypatch.setattr(exchange, "rows_of", copied)
    monkeypatch.setattr(exchange, "_addresses", asked)
    played.low = choose(sr.min_plus, np.dtype("i4"), DeviceFacts(9, high_limit=True), 8, in_place=False)
    A = np.arange(35, dtype="i4").reshape(1, 5, 7)
    A[0, 2, 3] = np.iinfo("i4").max
    there = played.host.array(A)
    for view, wanted in (
        (there, A), (there.swapaxes(1, 2), A.swapaxes(1, 2)), (there[:, :, ::2], A[:, :, ::2]),
    ):
        stored = played.low.encode(view, True)
        assert np.array_equal(stored.get(), np.where(wanted == A.max(), played.low.zero[0], wanted))
    assert len(copies) == 3


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1"])
def test_every_element_is_looked_at_once(dtype: str, played: Played) -> None:
    rng, host = np.random.default_rng(0), played.host
    played.low = without_facts(sr.min_plus, np.dtype(dtype))
    A = host.array(rng.integers(2, 90, (4, 30, 20)), dtype)
    cuts = {"whole": A, "matrix": A[1], "every other": A[:, ::2, 1::3], "turned": A[0].T, "none": A[:, :0]}
    for name, part in cuts.items():
        part[..., -1:, -1:] = np.inf if dtype[0] == "f" else np.iinfo(dtype).max
        played.seen = 0
        facts = look_at(played.low, [part]).facts(np.dtype(dtype))
        assert played.seen == part.size, name
        finite = part[part < 95].tolist()
        assert facts == DeviceFacts(
            max(finite, default=0), False, name != "none", not finite, least=min(finite, default=np.inf),
            has_zero=name != "none", has_tiny=False,
        ), name


def test_long_runs_are_shared_out_in_lines(played: Played) -> None:
    """However few columns they have: a row a thread would leave most threads without work."""
    played.low = without_facts(sr.min_plus, np.dtype("i1"))
    taken: list[int] = []
    played.take_in = lambda *arguments: taken.extend(arguments[5:8])  # type: ignore[method-assign]
    exchange.exchange(played.low).look_at(played.host.array(np.zeros((33_792, 2), "i1")), report())
    played.host.finish()
    assert taken == [66, 1024, 1]


def test_arrays_together_and_reports_again(played: Played) -> None:
    """Several arrays are waited for once; a report that was read begins anew, one that was not stays another's."""
    played.low = low = without_facts(sr.min_plus, np.dtype("f4"))
    A, B = (played.host.array(x, "f4") for x in ([[3, np.nan]], [[-7, np.inf]]))
    assert look_at(low, [A, B]) == Findings(to_key(np.float32(-7)), to_key(np.float32(3)),
                                            NOT_A_NUMBER | HIGH_LIMIT | OTHER | ZERO)
    assert look_at(low, [played.host.array([[0, np.inf]], "f4")]).flags == HIGH_LIMIT | ZERO
    assert look_at(low, [played.host.array([[0, -1e-20]], "f4")]).flags == OTHER | TINY
    mine = report()
    assert report() is not mine
    mine.read()
    assert report() is mine


@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 5)])
def test_into_storage_and_back(shape: tuple[int, ...], played: Played) -> None:
    """Zeros of the semiring around the data on the way in; only the data on the way out."""
    known = DeviceFacts(largest=9, least=-9)
    played.low = low = choose(sr.min_plus, np.dtype("i4"), known, 3, in_place=False)
    host, way = played.host, Exchange(low)
    data = np.random.default_rng(0).integers(-9, 10, shape).astype("i4")
    data[..., 0, 1] = np.iinfo("i4").max
    A, found = host.array(data), report()
    stored = host.empty((*shape[:-2], 4, 8), low.storage)
    way.take_in(A, stored, found, last=True)
    assert found.read().facts(low.dtype) == DeviceFacts(9, False, True, False, least=-9, has_tiny=False)
    assert low.storage == np.int16
    assert (stored[..., 3:, :] == low.zero[0]).all() and (stored[..., 5:] == low.zero[0]).all()
    np.testing.assert_array_equal(stored[..., :3, :5], np.where(data > 9, low.zero[0], data))
    back = host.empty(shape, "i4")
    way.hand_out(stored, back)
    host.finish()
    np.testing.assert_array_equal(back, data)


def test_a_result_that_leaves_its_dtype_is_told(played: Played) -> None:
    played.low = low = choose(sr.min_plus, np.dtype("i1"), DeviceFacts(largest=100, least=0), 2, in_place=False)
    host, found = played.host, report()
    results = host.array([[50, 126], [low.zero[0], 0]], low.storage)
    Exchange(low).hand_out(results, host.empty((2, 2), "i1"), into=found)
    assert not found.read().flags & LEAVES
    results[0, 0] = 127
    Exchange(low).hand_out(results, host.empty((2, 2), "i1"), into=found)
    assert found.read().flags & LEAVES


@given(rows=st.integers(0, 10**6), columns=st.integers(0, 10**6))
def test_threads_of_a_row(rows: int, columns: int) -> None:
    """A power of two that divides a block of threads, four elements or more for each; and some blocks, not too many."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(exchange, "multiprocessors", lambda: 132)
        lanes, blocks = exchange._share(rows, columns)
    assert exchange.THREADS % lanes == 0 and (lanes == 1 or 4 * lanes < 2 * columns)
    assert lanes == exchange.THREADS or 4 * lanes >= columns
    assert 1 <= blocks <= 132 * exchange.RESIDENT
