"""`forward` of long rows on a GPU that the host plays: the CPU's answers and messages, for all layouts of sequences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu.compiled import Compiled, is_available
from gpu.host import Array, Host
from gpu.played import Dense
from gpu.rows import plain, stand_in
from gpu.sums import TRIANGULAR
from gpu.winners import Tracking
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cuda import choose
from semiring.kernels.cuda.dense import engine, outer, product, thin, winners
from semiring.shapes.sequences import forward_by_products, forward_on_gpu
from semiring.shapes.sequences.forward_by_products import Places

pytestmark = pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")

inf = np.inf
CASES = {
    "min-plus": (sr.min_plus, "f8"), "min-plus f4": (sr.min_plus, "f4"), "log": (sr.log, "f8"),
    "plus-times": (sr.plus_times, "f8"), "boolean": (sr.boolean, "?"), "viterbi": (sr.viterbi, "f4"),
    "triangular": (TRIANGULAR, TRIANGULAR.default_dtype),
}


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[Host]:
    yield stand_in(monkeypatch, folder)
    outer._function.cache_clear()


def numbers(S: sr.Semiring, dtype: Any, shape: tuple[int, ...], seed: int) -> np.ndarray:
    rng, kind = np.random.default_rng(seed), np.dtype(dtype)
    found = np.empty(shape, kind)
    if kind.names:
        for field in kind.names:
            found[field] = rng.integers(0, 9, shape)
    elif S in (sr.log, sr.plus_times):
        found[...] = rng.normal(size=shape)
    else:
        found[...] = rng.integers(0, 2 if kind.kind == "b" or S is sr.viterbi else 9, shape)
    found[rng.random(shape) < 0.2] = S.zero_in(kind)
    return found


def compare(host: Host, S: sr.Semiring, x: Any, A: Any, e: Any, argmax: bool = False, **options: Any) -> None:
    options |= {"argmax": argmax}
    wanted = sr.forward(x, A, S, emissions=e, **options)
    on_gpu = host.array(x), host.array(A), None if e is None else host.array(e)
    found = sr.forward(*on_gpu[:2], S, emissions=on_gpu[2], **options)
    if argmax:
        np.testing.assert_array_equal(np.array(found.states()), wanted.states())
        assert found.back.dtype == wanted.back.dtype and isinstance(found.back, Array)
        found, wanted = found.values, wanted.values
    assert isinstance(found, Array) and found.shape == wanted.shape and found.dtype == wanted.dtype
    if S in (sr.log, sr.plus_times):
        np.testing.assert_allclose(plain(found), wanted, rtol=1e-12, atol=1e-12)
    else:
        np.testing.assert_array_equal(plain(found), wanted)


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(list(CASES)), n=st.sampled_from([1, 2, 5, 9]), rows=st.sampled_from([1, 2, 7]),
    batch=st.sampled_from([(), (1,), (3,), (2, 3)]), x_axes=st.sampled_from(["all", "none", "last"]),
    stack=st.sampled_from(["one", "shared", "all", "each", "last"]), emits=st.booleans(), reverse=st.booleans(),
    argmax=st.booleans(), lengths=st.sampled_from(["none", "some", "ascending"]), seed=st.integers(0, 99),
)
def test_sequences_of_any_layout(
    folder: Path, name: str, n: int, rows: int, batch: tuple[int, ...], x_axes: str, stack: str, emits: bool,
    reverse: bool, argmax: bool, lengths: str, seed: int,
) -> None:
    S, dtype = CASES[name]
    rng = np.random.default_rng(seed)
    x = numbers(S, dtype, {"all": (*batch, n), "none": (n,), "last": (*batch[-1:], n)}[x_axes], seed)
    A = numbers(S, dtype, {
        "one": (n, n), "shared": (rows - 1, n, n), "all": (*batch, rows - 1, n, n), "each": (*batch, 1, n, n),
        "last": (*batch[-1:], rows - 1, n, n)}[stack], seed + 1)
    e = numbers(S, dtype, (*batch, rows, n), seed + 2) if emits else None
    options: dict[str, Any] = {} if emits else {"steps": rows - 1}
    if batch and lengths != "none" and not (emits and not batch):
        given_lengths = rng.integers(0, rows + 1, batch)
        options["lengths"] = np.sort(given_lengths, axis=None).reshape(batch) if lengths == "ascending" else (
            given_lengths)
    leading = np.broadcast_shapes(x.shape[:-1], A.shape[:-3])
    if not emits and leading != batch:
        options.pop("lengths", None)
    with pytest.MonkeyPatch.context() as monkeypatch:
        host = stand_in(monkeypatch, folder)
        compare(host, S, x, A, e, argmax and S.selective, reverse=reverse, **options)
        outer._function.cache_clear()


@pytest.mark.parametrize("name", ["min-plus", "triangular"])
@pytest.mark.parametrize("reverse", [False, True])
def test_sequences_one_after_the_other(host: Host, name: str, reverse: bool) -> None:
    S, dtype = CASES[name]
    lengths = [3, 1, 5, 5, 2]
    x, e = numbers(S, dtype, (5, 6), 0), numbers(S, dtype, (16, 6), 1)
    for A in (numbers(S, dtype, (6, 6), 2), numbers(S, dtype, (11, 6, 6), 3)):
        compare(host, S, x, A, e, reverse=reverse, lengths=lengths)
        compare(host, S, x[0], A, e, S.selective, reverse=reverse, lengths=lengths)


def test_views_are_read_as_they_are(host: Host) -> None:
    for name in ("min-plus", "triangular"):
        S, dtype = CASES[name]
        x, A, e = (numbers(S, dtype, s, i) for i, s in enumerate([(3, 4), (6, 4, 4), (3, 7, 4)]))
        wanted = sr.forward(x, A, S, emissions=e)
        wide = host.array(np.zeros((3, 14, 6), x.dtype))
        part = wide[:, ::2, 2:]
        plain(part, False)[...] = e
        found = sr.forward(host.array(x[:, ::-1].copy())[:, ::-1], host.array(A.swapaxes(1, 2).copy()).swapaxes(1, 2),
                           S, emissions=part)
        np.testing.assert_array_equal(plain(found), wanted)


def test_empty_arrays(host: Host) -> None:
    compare(host, sr.min_plus, np.zeros(3), np.zeros((3, 3)), np.zeros((0, 5, 3)))
    compare(host, sr.min_plus, np.zeros(3), np.zeros((3, 3)), np.zeros((0, 3)))
    compare(host, sr.min_plus, np.zeros((2, 3)), np.zeros((3, 3)), np.zeros((2, 4, 3)), lengths=[0, 0])


def test_messages_are_those_of_the_cpu(host: Host) -> None:
    for place, what in enumerate(("x", "stack", "emissions")):
        arrays = [np.ones(4), np.ones((5, 4, 4)), np.ones((6, 4))]
        arrays[place][(-1,) * arrays[place].ndim] = np.nan
        messages = []
        for given_arrays in (arrays, [host.array(X) for X in arrays]):
            with pytest.raises(sr.SemiringError) as error:
                sr.forward(*given_arrays[:2], sr.min_plus, emissions=given_arrays[2])
            messages.append(str(error.value))
        assert messages[0] == messages[1] and messages[0].startswith(f"{what}[") and "NaN" in messages[0]
    A = np.full((3, 4, 4), 1e200)
    A[1:, 1] *= -1
    messages = []
    for x, stack in ((np.full(4, 1e200), A), (host.array(np.full(4, 1e200)), host.array(A))):
        with pytest.raises(sr.SemiringError, match="numbers leave the range") as error:
            sr.forward(x, stack, sr.plus_times)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_a_plan_says_why(host: Host) -> None:
    given_arrays = host.array(np.zeros(90)), host.array(np.zeros((90, 90)))
    plan = sr.plan("forward", *given_arrays, sr.min_plus, steps=4)
    assert plan.method == "one product after the other" and "columns of at most 256 bytes" in plan.reasons["method"]
    assert plan.memory == 5 * 90 * 8 * 2


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("argmax", [False, True])
def test_by_the_engine_of_a_device(monkeypatch: pytest.MonkeyPatch, folder: Path, count: int, argmax: bool) -> None:
    """Its products are played by NumPy; rows have more elements than registers hold."""
    n, geometry, winners_kernel = 40, forward_on_gpu.geometry_of, winners.winners_kernel
    host = stand_in(monkeypatch, folder)
    played = [kind(host, "f8", np.minimum, np.add, np.inf) for kind in (Dense, Tracking)]
    for module, kernels in ((engine, played[0]), (product, played[0]), (winners, played[1])):
        monkeypatch.setattr(module, "Module", kernels.module)
    monkeypatch.setattr(product, "multiprocessors", lambda: 3)
    monkeypatch.setattr(thin, "Module", Compiled(host, folder).module)
    monkeypatch.setattr(thin, "multiprocessors", lambda: 2)
    engines = {}
    monkeypatch.setattr(forward_by_products, "kernel", lambda low: engines.setdefault(low, engine.CudaKernel(low)))
    monkeypatch.setattr(choose, "array_kernel", forward_by_products.kernel)
    monkeypatch.setattr(winners, "winners_kernel", winners_kernel.__wrapped__)
    monkeypatch.setattr(forward_on_gpu, "geometry_of", geometry)
    S, dtype = CASES["min-plus"]
    x, e = numbers(S, dtype, (count, n), 0), numbers(S, dtype, (count, 5, n), 1)
    for A in (numbers(S, dtype, (n, n), 2), numbers(S, dtype, (count, 4, n, n), 3)):
        for reverse in (False, True):
            compare(host, S, x, A, e, argmax, reverse=reverse)
            compare(host, S, x, A, None if len(A) == count else e, argmax, reverse=reverse, lengths=[5, 2, 0][:count])
    assert bool(played[1].launched) == argmax and (argmax or "product_edge" in played[0].launched)


@pytest.mark.parametrize(("first", "turn", "places"), [
    ([4], 3, [[4], [7]]), ([1, 3, 5], -1, [[1, 3, 5], [0, 2, 4]]), ([2, 2], 1, [[2], [3]]),
])
def test_places_that_are_evenly_spaced(first: list[int], turn: int, places: list[list[int]]) -> None:
    found, numbers = Places(np.array(first), turn), np.arange(9)
    assert found.shared == (len(first) > 1 and len(places[0]) == 1)
    for t, wanted in enumerate(places):
        assert numbers[found.at(t, len(first))].tolist() == wanted
