"""What a closure launches, and on which streams, its kernels played by NumPy in any order that events allow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu.compiled import Compiled, is_available
from gpu.host import Array, Host
from gpu.played import Dense

import semiring as sr
from semiring.kernels.cuda.choose import general_on_device
from semiring.kernels.cuda.compile.program import program, sums_of_powers
from semiring.kernels.cuda.dense import closure, product
from semiring.kernels.cuda.dense.closure import Closure, half, outer_block
from semiring.kernels.cuda.dense.product import Product, View

DOUBLE = np.dtype("f8")


def played(monkeypatch: pytest.MonkeyPatch, S: sr.Semiring, seed: int | None = None) -> tuple[Dense, Closure]:
    """A closure over 64-bit floats whose work goes to a host: all of it, but for recorded graphs."""
    host = Host(seed)
    if S is sr.min_plus:
        dense = Dense(host, DOUBLE, np.minimum, np.add, np.inf, 0, lambda a: 0 if a >= 0 else None)
    else:
        dense = Dense(host, DOUBLE, np.add, np.multiply, 0, 1, lambda a: 1 / (1 - a) if a != 1 else None)
    host.stand_in(monkeypatch)
    second = host.stream()
    for name, value in {
        "Module": dense.module, "memory": host.memory, "current_device": lambda: 0, "_urgent": lambda *_: second,
    }.items():
        monkeypatch.setattr(closure, name, value)
    monkeypatch.setattr(product, "Module", dense.module)
    monkeypatch.setattr(product, "multiprocessors", lambda: 3)
    text = program(general_on_device(S, DOUBLE))
    return dense, Closure(text, Product(text), S.idempotent)


def test_what_powers_cannot_close_is_closed_by_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    """`close_powers` as it is played leaves every other matrix as it was, alone and as blocks of larger ones."""
    dense, close_it = played(monkeypatch, sr.plus_times)
    close_it.powers = close_it.text
    for n in (20, 150):
        A = np.stack([matrix(sr.plus_times, n, seed) for seed in range(4)])
        work = dense.host.array(A)
        dense.launched.clear()
        places = View(work.data.ptr, n * 8, n * n * 8, n, n)
        if n == 20:
            close_it.stack(places, places, 4, 0)
        else:
            close_it.stack_by_halves(places, n, 4, 0)
        for s in range(4):
            np.testing.assert_allclose(work[s], expected(sr.plus_times, A[s]), rtol=1e-12)
        assert dense.launched.count("close_powers") == dense.launched.count("close_stack") == (1 if n == 20 else 2)


@pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")
@pytest.mark.parametrize(("name", "dtype"), [("min_plus", "f4"), ("plus_times", "f8"), ("log", "f4")])
def test_small_matrices_share_a_block(
    name: str, dtype: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The kernels compiled for the host: full blocks and others, some matrices without a star."""
    host, S, rng = Host(None), sr.catalogue[name], np.random.default_rng(0)
    host.stand_in(monkeypatch)
    monkeypatch.setattr(closure, "Module", Compiled(host, tmp_path).module)
    monkeypatch.setattr(closure, "memory", host.memory)
    low = general_on_device(S, np.dtype(dtype))
    close_it = Closure(program(low), Product(program(low)), S.idempotent, sums_of_powers(low))
    for n, batch in ((1, 3), (5, 33), (8, 70), (9, 8), (16, 17), (17, 3), (33, 2)):
        A = rng.integers(0, 50, (batch, n, n))
        edges = {"plus_times": A / (100 * n), "min_plus": np.where(A < 25, A, np.inf)}
        A = edges.get(name, np.where(A < 35, -A / 8 - 4, -np.inf)).astype(dtype)
        if name == "plus_times":
            A[batch // 2, 0], A[batch // 2, 0, 0] = 0, 1
        work, failed = host.array(A), host.array(np.full(batch, -1, "i4"))
        places = View(work.data.ptr, n * work.itemsize, n * n * work.itemsize, n, n)
        close_it.stack(places, places, batch, failed.data.ptr)
        for s in range(batch):
            if name == "plus_times" and s == batch // 2:
                assert failed[s] == 0
                continue
            np.testing.assert_allclose(work[s], sr.closure(A[s], S, device="cpu"), rtol=1e-5, atol=1e-6)
            assert failed[s] == -1


def view(A: Array) -> View:
    return View(A.data.ptr, A.strides[0], 0, *A.shape)


def matrix(S: sr.Semiring, n: int, seed: int = 0) -> np.ndarray:
    """A sparse one over min-plus; over plus-times one whose powers vanish."""
    rng = np.random.default_rng(seed)
    if S is sr.min_plus:
        return np.where(rng.random((n, n)) < 3 / n, rng.integers(1, 100, (n, n)), np.inf)
    return rng.random((n, n)) / (2 * n)


def expected(S: sr.Semiring, A: np.ndarray) -> np.ndarray:
    """By one pivot after the other, and by the inverse."""
    if S is not sr.min_plus:
        return np.linalg.inv(np.eye(len(A)) - A)
    A = np.minimum(A, np.where(np.eye(len(A)) == 1, 0, np.inf))
    for k in range(len(A)):
        A = np.minimum(A, A[:, k, None] + A[k])
    return A


def close(dense: Dense, close_it: Closure, A: np.ndarray, spare: int = 0) -> tuple[np.ndarray, int]:
    """A*, in rows that are `spare` elements longer, and what was reported as failed."""
    n = len(A)
    memory = dense.host.array(np.full((n, n + spare), -7.0))
    memory[:, :n] = A
    failed: Any = close_it(view(memory)._replace(columns=n))
    dense.host.finish()
    assert (memory[:, n:] == -7).all()
    return np.array(memory[:, :n]), int(failed[0])


@pytest.mark.parametrize("S", [sr.min_plus, sr.plus_times], ids=lambda S: S.name)
@pytest.mark.parametrize("n", [1, 64, 65, 130, 200, 300])
def test_by_panels(S: sr.Semiring, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One block of threads, one after the other, and from four blocks on with the next pivot ahead of the rest."""
    for seed in range(2 if S.idempotent else 1):
        dense, close_it = played(monkeypatch, S, seed)
        A = matrix(S, n, seed)
        got, failed = close(dense, close_it, A, spare=3)
        np.testing.assert_allclose(got, expected(S, A), rtol=1e-12)
        assert failed == -1
    assert ("strips" in dense.launched) == (S.idempotent and n > 3 * 64)


@pytest.mark.parametrize("S", [sr.min_plus, sr.plus_times], ids=lambda S: S.name)
def test_by_products(S: sr.Semiring, monkeypatch: pytest.MonkeyPatch) -> None:
    """Huge matrices, with the limits lowered: pivots of two blocks, and the products around them."""
    for name, value in {"TILE": 128, "HUGE": 256, "outer_block": lambda n: 128}.items():
        monkeypatch.setattr(closure, name, value)
    for seed in range(2 if S.idempotent else 1):
        dense, close_it = played(monkeypatch, S, seed)
        A = matrix(S, 384, seed)
        got, failed = close(dense, close_it, A)
        np.testing.assert_allclose(got, expected(S, A), rtol=1e-12)
        assert failed == -1 and {"product", "panels"} <= set(dense.launched) and "product_edge" not in dense.launched


@pytest.mark.parametrize(("n", "pivot"), [(10, 3), (64, 63), (130, 70), (300, 299), (384, 200), (384, 383)])
def test_the_first_pivot_without_a_star_is_named(n: int, pivot: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"TILE": 128 if n == 384 else 1024, "HUGE": 256, "outer_block": lambda n: 128}.items():
        monkeypatch.setattr(closure, name, value)
    dense, close_it = played(monkeypatch, sr.plus_times)
    A = np.zeros((n, n))
    A[pivot, pivot] = 1
    if pivot < n - 1:
        A[n - 1, n - 1] = 1
    assert close(dense, close_it, A)[1] == pivot


def test_a_stack_in_one_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    dense, close_it = played(monkeypatch, sr.plus_times)
    host, A = dense.host, np.stack([matrix(sr.plus_times, 20, seed) for seed in range(3)])
    A[1, 5, 5], A[1, 5, :5], A[1, :5, 5] = 1, 0, 0
    given, taken = host.array(A), host.array(np.zeros((3, 20, 25)))
    failed = host.array(np.full(3, -1, "i4"))
    ld = taken.strides[1]
    close_it.stack(
        View(given.data.ptr, 20 * 8, 400 * 8, 20, 20), View(taken.data.ptr, ld, 20 * ld, 20, 20), 3, failed.data.ptr
    )
    for s in (0, 2):
        np.testing.assert_allclose(taken[s, :, :20], expected(sr.plus_times, A[s]))
    assert failed.tolist() == [-1, 5, -1] and (taken[:, :, 20:] == 0).all() and (given == A).all()


@pytest.mark.parametrize("S", [sr.min_plus, sr.plus_times], ids=lambda S: S.name)
@pytest.mark.parametrize(("n", "room"), [(64, 64), (129, 160), (200, 224), (256, 256), (300, 301), (520, 544)])
def test_a_stack_by_halves(S: sr.Semiring, n: int, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In whole tiles with zeros around it, and in a matrix of any size; each launch takes all matrices."""
    dense, close_it = played(monkeypatch, S)
    A = np.stack([matrix(S, n, seed) for seed in range(3)])
    work = dense.host.array(np.full((3, room, room), dense.zero))
    work[:, :n, :n] = A
    close_it.stack_by_halves(View(work.data.ptr, room * 8, room * room * 8, room, room), n, 3, 0)
    for s in range(3):
        np.testing.assert_allclose(work[s, :n, :n], expected(S, A[s]), rtol=1e-12)
    blocks, tiled = sum(name == "close_stack" for name in dense.launched), n > 128 and room % 32 == 0
    assert set(dense.launched) - {"close_stack"} == ({"product"} if tiled else {"product_edge"} if n > 128 else set())
    assert len(dense.launched) == blocks + 6 * (blocks - 1) and blocks <= -(-n // 128) + 1


@pytest.mark.parametrize("pivots", [(130, 3), (299, 200), (0, 299)])
def test_the_first_pivots_of_a_stack_without_stars_are_named(
    pivots: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two in a matrix the first, and nothing of the matrices that have all."""
    dense, close_it = played(monkeypatch, sr.plus_times)
    A, failed = dense.host.array(np.zeros((3, 300, 300))), dense.host.array(np.full(3, -1, "i4"))
    for s, pivot in zip((0, 2), pivots, strict=True):
        A[s, pivot, pivot] = A[s, 299, 299] = 1
    close_it.stack_by_halves(View(A.data.ptr, 300 * 8, 300 * 300 * 8, 300, 300), 300, 3, failed.data.ptr)
    assert failed.tolist() == [pivots[0], -1, pivots[1]]


@pytest.mark.parametrize("side", [32, 64])
def test_where_stacks_are_cut(side: int) -> None:
    """Into two parts of which the first is whole blocks or, where both are small, whole tiles."""
    for n in range(129, 1100):
        h = half(n, side)
        assert 0 < h < n and h % side == 0 and (n < 256 or h % 128 == 0) and abs(h - n / 2) <= 128


def test_a_launch_that_does_not_wait_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail: without the events between streams some order gives a wrong answer."""
    monkeypatch.setattr("gpu.host.Stream.wait_event", lambda *_: None)
    A = matrix(sr.min_plus, 300)
    wanted = expected(sr.min_plus, A)

    def is_right(seed: int) -> bool:
        return np.array_equal(close(*played(monkeypatch, sr.min_plus, seed), A)[0], wanted)

    assert not all(is_right(seed) for seed in range(20))


def test_which_orders_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to a tile any, from the huge ones on those that are whole and aligned; pivots cut them into whole tiles."""
    _, close_it = played(monkeypatch, sr.min_plus)

    def taken(n: int, address: int = 0, ld: int = 0) -> bool:
        return close_it.takes(View(address, ld or 8 * n, 0, n, n))

    assert all(taken(n, address=8) for n in (1, 63, 1024))
    assert not any(taken(n) for n in (1025, 2048, 6100, 6145, 12_800))
    assert taken(6144) and taken(12_288) and taken(13_312)
    assert not taken(6144, address=8) and not taken(6144, ld=8 * 6145)
    assert all(n % outer_block(n) == 0 for n in (6144, 11_776, 12_288, 65_536))
