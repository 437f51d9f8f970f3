"""Calls that are launched on a guess: whatever the data are, the answer is that of a careful call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gpu.test_front_door import acyclic, same

import semiring as sr

inf = np.inf


class Guesses:
    """How many calls a guess has answered."""

    def __init__(self) -> None:
        self.closures = self.products = self.passes = 0


@pytest.fixture
def guesses(monkeypatch: pytest.MonkeyPatch) -> Guesses:
    """Counts of the calls whose answer came from a guess; what earlier tests have taught is forgotten."""
    from semiring.solvers.dense import speculation

    counts = Guesses()

    def counted(name: str) -> Callable[..., Any]:
        guess = getattr(speculation, name.removesuffix("s"))

        def call(*arguments: Any) -> Any:
            answer = guess(*arguments)
            setattr(counts, name, getattr(counts, name) + (answer is not None))
            return answer

        return call

    is_right = speculation._is_right

    def looked_at(*arguments: Any) -> bool:
        right = is_right(*arguments)
        counts.closures -= not right  # such an answer is dropped
        return right

    monkeypatch.setattr(speculation, "_is_right", looked_at)
    monkeypatch.setattr(speculation, "closure", counted("closures"))
    monkeypatch.setattr(speculation, "product", counted("products"))
    in_one = speculation._pass

    def passed(*arguments: Any) -> Any:
        answer = in_one(*arguments)
        counts.passes += 1
        return answer

    short = speculation.small_product

    def at_once(*operands: Any) -> Any:
        answer = short(*operands)
        counts.passes += answer is not None
        return answer

    monkeypatch.setattr(speculation, "_pass", passed)
    monkeypatch.setattr(speculation, "small_product", at_once)
    speculation._known.clear()
    return counts


def both(A: np.ndarray, S: sr.Semiring) -> None:
    import cupy

    assert same(sr.closure(cupy.asarray(A), S), sr.closure(A, S, device="cpu"))


@pytest.mark.parametrize("n", [5, 64, 65, 300])
def test_data_of_another_kind_than_before(n: int, guesses: Guesses) -> None:
    """Signs appear and vanish, limits come and go, and sums outgrow the integers that were enough."""
    A = acyclic(sr.min_plus, n, "f4")
    for _ in range(3):
        both(A, sr.min_plus)
    assert guesses.closures == 2, "all but the first"
    B = A.copy()
    B[0, n - 1] = -3
    for data in (B, B, A, A, B):
        both(data, sr.min_plus)
    assert 2 < guesses.closures <= 2 + 2 + 3, "some, and none for data of another kind than the last"
    whole = acyclic(sr.min_plus, n, "i4")
    for weight in (1, 1, 1000, 1000, 300_000, 300_000, 1):
        data = whole.copy()
        data[whole != np.iinfo("i4").max] *= weight
        both(data, sr.min_plus)
    with pytest.raises(sr.SemiringError, match="outside int8"):
        for _ in range(2):
            small = np.full((n, n), 127, "i1")
            small[np.arange(n - 1), np.arange(1, n)] = 100
            both(small, sr.min_plus)


@pytest.mark.parametrize("shape", [(40, 40), (200, 200), (30, 20, 20), (30, 100, 100)])
@pytest.mark.parametrize("name", ["min_plus", "max_min", "viterbi", "counting", "shortest_hops", "plus_times"])
def test_second_and_third_calls(name: str, shape: tuple[int, ...], guesses: Guesses) -> None:
    S = sr.catalogue[name]
    A = acyclic(S, shape[-1], None if S.is_record else "f4" if "f4" in map(str, S.dtypes) else None)
    stack = np.broadcast_to(A, shape).copy() if len(shape) > 2 else A
    for calls in range(3):
        both(stack, S)
        assert guesses.closures == calls


@pytest.mark.parametrize("n", [3, 100])
def test_complaints_are_those_of_a_first_call(n: int, guesses: Guesses) -> None:
    import cupy

    good = cupy.asarray(acyclic(sr.min_plus, n, "f8"))
    for _ in range(2):
        sr.closure(good, sr.min_plus)
        sr.matmul(good, good, sr.min_plus)
    assert guesses.closures == 1 and (guesses.products, guesses.passes) == ((1, 0) if n > 64 else (0, 2))
    bad = good.copy()
    bad[1, 2] = np.nan
    with pytest.raises(sr.SemiringError, match=r"A\[1, 2\] is NaN"):
        sr.closure(bad, sr.min_plus)
    with pytest.raises(sr.SemiringError, match=r"B\[1, 2\] is NaN"):
        sr.matmul(good, bad, sr.min_plus)
    cyclic = good.copy()
    cyclic[0, 1], cyclic[1, 0] = 3, -20
    with pytest.raises(sr.NoClosureError) as caught:
        sr.closure(cyclic, sr.min_plus)
    assert caught.value.cycle
    likely = cupy.full((n, n), 0.5)
    for _ in range(2):
        sr.closure(likely, sr.viterbi)
    assert guesses.closures == 2
    likely[2, 1] = 2
    with pytest.raises(sr.SemiringError, match=r"A\[2, 1\] is 2"):
        sr.closure(likely, sr.viterbi)
    assert guesses.closures == 2, "no answer that is wrong was taken"


def test_a_star_that_vanishes(guesses: Guesses) -> None:
    import cupy

    fine = cupy.full((4, 4), 0.1)
    for _ in range(2):
        sr.closure(fine, sr.plus_times)
    assert guesses.closures == 1
    fine[...] = 0.25  # a chain that nothing leaves
    with pytest.raises(sr.NoClosureError, match="singular"):
        sr.closure(fine, sr.plus_times)
    assert guesses.closures == 1


@pytest.mark.parametrize("shapes", [
    ((30, 40), (40, 50)), ((1, 7), (7, 1)), ((5, 30, 40), (40, 20)), ((90,), (90, 200)), ((3, 2, 200, 90), (90, 1)),
    ((4, 1, 9, 8), (3, 8, 7)), ((130, 90), (90, 70)), ((5, 130, 90), (90, 70)),
])
@pytest.mark.parametrize(("name", "dtype"), [("min_plus", "f4"), ("min_plus", "i4"), ("max_min", "f8"), ("log", "f8")])
def test_products(name: str, dtype: str, shapes: Any, guesses: Guesses) -> None:
    import cupy

    S = sr.catalogue[name]
    rng = np.random.default_rng(3)
    for low in (0, 0, -9, 0):
        A, B = (rng.integers(low, 10, shape).astype(dtype) for shape in shapes)
        want = sr.matmul(A, B, S, device="cpu")
        for check in (True, False):
            assert same(sr.matmul(cupy.asarray(A), cupy.asarray(B), S, check=check), want)
    large = 130 in shapes[0]
    assert (guesses.products > 0) == (large and len(shapes[0]) == 2), "matrices are guessed, stacks are not"
    assert (guesses.passes > 0) == (not large), "stacks of small matrices, and vectors, take one pass"


def test_integers_of_another_kind_than_before(guesses: Guesses) -> None:
    """Weights outgrow the integers that were enough, and the next call knows."""
    import cupy

    A, x = np.full((300, 200), 100, "i2"), np.full(200, 100, "i2")
    for weight, passes in ((1, 0), (1, 1), (-100, 1), (-100, 2), (1, 2)):
        want = sr.matmul(A * np.int16(weight), x, sr.min_plus, device="cpu")
        assert same(sr.matmul(cupy.asarray(A * np.int16(weight)), cupy.asarray(x), sr.min_plus), want)
        assert guesses.passes >= passes
    with pytest.raises(sr.SemiringError, match="outside int16"):
        for _ in range(2):
            sr.matmul(cupy.full((300, 200), 32_000, "i2"), cupy.full(200, 32_000, "i2"), sr.min_plus)


@pytest.mark.parametrize("n", [1, 50, 300, 1500])
@pytest.mark.parametrize(
    ("name", "dtype"), [("min_plus", "f4"), ("min_plus", "i4"), ("max_min", "f4"), ("counting", "i8"), ("log", "f8")]
)
def test_without_checks_the_answer_is_the_same(name: str, dtype: str, n: int) -> None:
    import cupy

    S = sr.catalogue[name]
    A = acyclic(S, n, dtype)
    assert same(sr.closure(cupy.asarray(A), S, check=False), sr.closure(A, S, device="cpu"))


def test_streams_do_not_share_what_they_work_on() -> None:
    import cupy

    matrices = [cupy.asarray(np.roll(acyclic(sr.min_plus, 500, "f4"), 0) * (i + 1)) for i in range(8)]
    wanted = [sr.closure(A.get(), sr.min_plus, device="cpu") for A in matrices]
    sr.closure(matrices[0], sr.min_plus)
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in matrices]
    cupy.cuda.Device().synchronize()
    got = []
    for A, stream in zip(matrices, streams, strict=True):
        with stream:
            got.append(sr.closure(A, sr.min_plus, check=False))
    cupy.cuda.Device().synchronize()
    assert all(same(x, y) for x, y in zip(got, wanted, strict=True))


def test_threads() -> None:
    from concurrent.futures import ThreadPoolExecutor

    import cupy

    A = acyclic(sr.min_plus, 200, "f4")
    matrices = [cupy.asarray(A * i) for i in range(1, 17)]
    wanted = [sr.closure(x.get(), sr.min_plus, device="cpu") for x in matrices]

    def close(x: Any) -> Any:
        with cupy.cuda.Stream(non_blocking=True) as stream:
            result = sr.closure(x, sr.min_plus)
            stream.synchronize()
        return result

    cupy.cuda.Device().synchronize()
    with ThreadPoolExecutor(4) as pool:
        assert all(same(x, y) for x, y in zip(pool.map(close, matrices), wanted, strict=True))
