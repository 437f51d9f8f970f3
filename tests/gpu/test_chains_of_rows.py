"""`forward` of arrays on the GPU: against `forward` on the CPU."""

from __future__ import annotations

import warnings
from typing import Any

import families
import numpy as np
import pytest
from gpu.elements import algebra, draw

import semiring as sr
from semiring.tensors.sequence_gradients import forward_gradients

inf = np.inf
FAMILIES = families.families()
NAMES = [name for name, S in sr.catalogue.items() if S.traced]


def on_gpu(x: Any, A: Any, S: Any, emissions: Any = None, **options: Any) -> Any:
    import cupy

    e = None if emissions is None else cupy.asarray(emissions)
    found = sr.forward(cupy.asarray(x), cupy.asarray(A), S, emissions=e, **options)
    return found


def compare(S: Any, x: Any, A: Any, e: Any = None, **options: Any) -> None:
    import cupy

    wanted, found = sr.forward(x, A, S, emissions=e, **options), on_gpu(x, A, S, e, **options)
    assert isinstance(found, cupy.ndarray) and found.shape == wanted.shape and found.dtype == wanted.dtype
    if wanted.dtype.names or wanted.dtype.kind in "iub" or (S.selective and wanted.dtype.itemsize > 2):
        np.testing.assert_array_equal(found.get(), wanted)
    else:
        eps, steps = np.finfo(wanted.dtype).eps, wanted.shape[-2] if wanted.ndim > 1 else 1
        tolerance = (16 if wanted.dtype.itemsize > 2 else 2) * eps * (steps + 1) * wanted.shape[-1]
        np.testing.assert_allclose(found.get().astype("f8"), wanted.astype("f8"), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", [*NAMES, "users"])
def test_every_algebra(name: str) -> None:
    S, rng = algebra(name), np.random.default_rng(0)
    kinds = {"boolean": "b", "counting": "iu"}.get(name, "biuf")
    for dtype in [S.default_dtype] if S.fields else [d for d in S.dtypes if d.kind in kinds]:
        for n in (3, 16, 70):
            x, A, e = (draw(S, np.dtype(dtype), s, rng) for s in ((2, n), (4, n, n), (2, 5, n)))
            for reverse in (False, True):
                try:
                    sr.forward(x, A, S, emissions=e, reverse=reverse)
                except sr.SemiringError:  # a number leaves the dtype
                    with pytest.raises(sr.SemiringError):
                        on_gpu(x, A, S, e, reverse=reverse)
                    continue
                try:
                    compare(S, x, A, e, reverse=reverse)
                except sr.SemiringError as error:
                    assert S.has_multiples and "pass arrays of the host" in str(error)


def whole_numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    A = rng.integers(0, 50, shape).astype(dtype)
    A[rng.random(shape) < 0.2] = np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max
    return A


@pytest.mark.parametrize("n", [1, 2, 5, 8, 13, 16, 31, 32, 33, 64, 65, 90])
@pytest.mark.parametrize("dtype", ["f4", "i4"])
def test_shapes_lengths_and_winners(n: int, dtype: str) -> None:
    x, e = whole_numbers((7, n), dtype), whole_numbers((7, 90, n), dtype, 1)
    one, many = whole_numbers((n, n), dtype, 2), whole_numbers((7, 89, n, n), dtype, 3)
    lengths = [90, 0, 1, 2, 17, 33, 89]
    for A in (one, many, many[0]):
        for options in ({}, {"lengths": lengths}, {"reverse": True}, {"reverse": True, "lengths": lengths}):
            compare(sr.min_plus, x, A, e, **options)
            wanted = sr.forward(x, A, sr.min_plus, emissions=e, argmax=True, **options)
            found = on_gpu(x, A, sr.min_plus, e, argmax=True, **options)
            assert np.array_equal(found.values.get(), wanted.values)
            assert np.array_equal(found.states().get(), wanted.states())
    compare(sr.min_plus, x[0], one, steps=20)
    compare(sr.min_plus, x[0], one, steps=0)
    flat, joined = e.reshape(-1, n)[: sum(lengths)], [k for k in lengths if k]
    compare(sr.min_plus, x[0], one, flat, lengths=lengths)
    compare(sr.min_plus, x[: len(joined)], many.reshape(-1, n, n)[: sum(joined) - len(joined)], flat, lengths=joined)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("scale", [6, 400])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n", [12, 100])
def test_log_sums(dtype: str, scale: float, reverse: bool, n: int) -> None:
    rng = np.random.default_rng(1)
    x, A, e = ((-rng.random(s) * scale).astype(dtype) for s in ((9, n), (n, n), (9, 200, n)))
    A[3, 4], A[:, 7], e[2, 50] = -inf, -inf, -inf
    wanted = sr.forward(x.astype("f8"), A.astype("f8"), sr.log, emissions=e.astype("f8"), reverse=reverse)
    found = on_gpu(x, A, sr.log, e, reverse=reverse).get().astype("f8")
    assert np.array_equal(found == -inf, wanted == -inf)
    there = wanted > -inf
    error = np.abs(found[there] - wanted[there]) / (1 + np.abs(wanted[there]))
    assert error.max() < 200 * 32 * np.finfo(dtype).eps


@pytest.mark.parametrize("n", [5, 40])
def test_views_and_elements_that_do_not_commute(n: int) -> None:
    import cupy

    triangular = sr.Semiring(
        "triangular", zero=(inf, inf, inf), one=(0, inf, 0), fields={"p": "f8", "q": "f8", "r": "f8"},
        add=lambda x, y: tuple(np.minimum(a, b) for a, b in zip(x, y, strict=True)),
        mul=lambda x, y: (x[0] + y[0], np.minimum(x[0] + y[1], x[1] + y[2]), x[2] + y[2]),
    )
    x, A, e = (np.zeros(s, triangular.default_dtype) for s in ((n,), (9, n, n), (10, n)))
    for X in (x, A, e):
        for i, f in enumerate("pqr"):
            X[f] = whole_numbers(X.shape, "f8", i)
    for reverse in (False, True):
        compare(triangular, x, A, e, reverse=reverse)
    x, A, e = whole_numbers((6,), "f4"), whole_numbers((6, 6), "f4", 1), whole_numbers((20, 6), "f4", 2)
    wanted = sr.forward(x, A, sr.min_plus, emissions=e)
    wide = cupy.zeros((40, 9), "f4")
    wide[::2, 3:] = cupy.asarray(e)
    found = sr.forward(cupy.asarray(x[::-1].copy())[::-1], cupy.asarray(A.T.copy()).T, sr.min_plus,
                       emissions=wide[::2, 3:])
    assert np.array_equal(found.get(), wanted)
    assert sr.forward(cupy.zeros((0, 5)), cupy.zeros((5, 5)), sr.min_plus, emissions=cupy.zeros((0, 6, 5))).shape == (
        0, 6, 5)


@pytest.mark.parametrize(("name", "dtype", "n"), [
    ("min_plus", "f4", 1), ("min_plus", "f4", 16), ("min_plus", "f8", 20), ("min_plus", "i4", 7), ("max_min", "f8", 12),
    ("log", "f4", 16), ("log", "f8", 5), ("boolean", "?", 9), ("max_plus", "f4", 60),
    ("min_plus", "f4", 90), ("log", "f4", 100), ("max_min", "f8", 70), ("log", "f4", 64),
    ("plus_times", "f8", 16), ("plus_times", "f4", 5), ("plus_times", "f8", 80), ("viterbi", "f4", 16),
])
@pytest.mark.parametrize("reverse", [False, True])
def test_long_sequences_are_cut(name: str, dtype: str, n: int, reverse: bool) -> None:
    import cupy

    S, steps = sr.catalogue[name], 20_000 if n < 64 else 50_000 if n == 64 else 2_000
    short = steps // 10 if n == 64 else steps * 2 // 5  # the model cuts 45,000 rows of 64, not 30,000
    rng = np.random.default_rng(0)
    if name == "log":
        x, A, e, many = (-3 * rng.random(s).astype(dtype) for s in ((n,), (n, n), (steps, n), (steps - 1, n, n)))
    elif name in ("plus_times", "viterbi"):  # rows stay near 1
        x, A, e, many = (1 - 1e-3 * rng.random(s) for s in ((n,), (n, n), (steps, n), (steps - 1, n, n)))
        if name == "plus_times":
            A, many = (X / X.sum(-2 + reverse, keepdims=True) for X in (A, many))
            e = np.where(np.arange(steps)[:, None] % 2, e, 1 / e)
        x, A, e, many = (X.astype(dtype) for X in (x, A, e, many))
    else:
        shapes = (n,), (n, n), (steps, n), (steps - 1, n, n)
        x, A, e, many = (rng.integers(0, 2 if dtype == "?" else 9, s).astype(dtype) for s in shapes)
        A[rng.random(A.shape) < 0.2] = many[rng.random(many.shape) < 0.2] = S.zero_in(np.dtype(dtype))
    for matrices, emissions, options in (
        (A, e, {}), (many, e, {}), (many, None, {}), (A, None, {"steps": steps}),
        (A, e, {"lengths": [steps - short, short]}),
    ):
        given = cupy.asarray(x), cupy.asarray(matrices), None if emissions is None else cupy.asarray(emissions)
        plan = sr.plan("forward", *given[:2], S, emissions=given[2], reverse=reverse, **options)
        assert plan.method == "chunks of a sequence side by side"
        wanted = sr.forward(x, matrices, S, emissions=emissions, reverse=reverse, **options)
        found = sr.forward(*given[:2], S, emissions=given[2], reverse=reverse, **options).get()
        if name == "log":
            refuse_errors(found, x, matrices, emissions, reverse, options)
        elif name in ("plus_times", "viterbi"):
            np.testing.assert_allclose(found, wanted, rtol=steps * np.finfo(dtype).eps, atol=1e-30)
        else:
            np.testing.assert_array_equal(found, wanted)
        if S.selective and emissions is not None:
            best = sr.forward(*given[:2], S, emissions=given[2], reverse=reverse, argmax=True, **options)
            np.testing.assert_array_equal(best.values.get(), found)
            if name != "viterbi":
                wins = sr.forward(x, matrices, S, emissions=emissions, reverse=reverse, argmax=True, **options)
                np.testing.assert_array_equal(best.states().get(), wins.states())


def refuse_errors(found: np.ndarray, x: Any, A: Any, e: Any, reverse: bool, options: dict[str, Any]) -> None:
    """Each step may round a row by ε of its elements and by the bound that `forward` states, for terms within e³.

    Terms so near each other are summed as powers in float64 for float32, where NumPy's loop takes 60 times as long.
    """
    eps, n = np.finfo(x.dtype).eps, len(x)
    double = x.dtype == "f4"
    x, A, e = (None if X is None else X.astype("d" if double else "g") for X in (x, A, e))
    begin = 0
    for count in options.get("lengths", [len(found)]):
        rows = range(begin, begin + count)
        now, bound = x, 0.0
        for step, t in enumerate(rows[::-1] if reverse else rows):
            if step:
                a = A if A.ndim == 2 else A[min(t, t + 1 if reverse else t - 1)]
                a, most = a.T if reverse else a, now.max()
                sums = np.log(np.exp(now - most) @ np.exp(a)) + most if double else None
                now = np.logaddexp.reduce(a + now[:, None], 0) if sums is None else sums
            emitted = now if e is None else now + e[t]
            row = now if reverse else emitted
            bound += float(eps) * (n + 40 + float(np.abs(row).max()))
            assert np.abs(found[t] - row).max() <= bound, f"row {t}"
            now = emitted
        begin += count


@pytest.mark.parametrize("name", ["log", "plus_times", "min_plus"])
@pytest.mark.parametrize("n", [8, 70])
@pytest.mark.parametrize("reverse", [False, True])
def test_derivatives_of_long_sequences(name: str, n: int, reverse: bool) -> None:
    import cupy

    S, steps, rng = sr.catalogue[name], 20_000 if n < 64 else 1_000, np.random.default_rng(0)
    x, A, e, G = (rng.random(s) for s in ((n,), (n, n), (steps, n), (steps, n)))
    if name == "plus_times":
        A, e = A / A.sum(-2 + reverse, keepdims=True), 1 + (e - 0.5) / 100
        G -= 0.5
    y = sr.forward(x, A, S, emissions=e, reverse=reverse)
    wanted = forward_gradients(S, G, y, x, A, e, reverse=reverse)
    found = forward_gradients(S, *map(cupy.asarray, (G, y, x, A, e)), reverse=reverse)
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours.get(), theirs, rtol=1e-7, atol=1e-7 * np.abs(theirs).max())


@pytest.mark.parametrize("name", list(FAMILIES)[::5])
def test_generated_algebras(name: str) -> None:
    """Rows that registers hold, and longer ones."""
    known = FAMILIES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        S = known.declare(sr)
    some = np.asarray(S.samples())
    if S.traced is None or some.dtype.kind in "cO":
        return
    rng = np.random.default_rng(0)
    for n in (4, 70):
        x, A, e = (some[rng.integers(0, len(some), s)] for s in ((3, n), (2, n, n), (3, 3, n)))
        for options in ({}, {"reverse": True}, {"lengths": [3, 0, 2]}):
            wanted, found = (outcome(f, x, A, e, S, options) for f in (on_cpu, on_gpu))
            if isinstance(wanted, str) or isinstance(found, str):
                assert isinstance(wanted, str) and isinstance(found, str), f"{wanted} {found}"
            elif not known.tolerance or wanted.dtype.names:
                np.testing.assert_array_equal(found, wanted)
            else:
                near = float(np.finfo(wanted.dtype).eps) * 1e4 * known.tolerance
                np.testing.assert_allclose(found, wanted, rtol=near, atol=near * max(known.largest, 1))


def on_cpu(x: Any, A: Any, S: Any, emissions: Any, **options: Any) -> Any:
    return sr.forward(x, A, S, emissions=emissions, **options)


def outcome(compute: Any, x: Any, A: Any, e: Any, S: Any, options: dict[str, Any]) -> Any:
    """What a call gives, or the message that it refuses with."""
    try:
        found = compute(x, A, S, e, **options)
    except sr.SemiringError as error:
        return str(error)
    return found.get() if hasattr(found, "get") else found


def test_what_is_refused() -> None:
    import cupy

    x, A, e = cupy.zeros(4), cupy.zeros((4, 4)), cupy.zeros((6, 4))
    for what, bad in (("x", x), ("stack", A), ("emissions", e)):
        arrays = {"x": x.copy(), "stack": A.copy(), "emissions": e.copy()}
        arrays[what][(-1,) * bad.ndim] = np.nan
        with pytest.raises(sr.SemiringError, match=rf"{what}\[.*is NaN"):
            sr.forward(arrays["x"], arrays["stack"], sr.min_plus, emissions=arrays["emissions"])
    with pytest.raises(sr.SemiringError, match="x is on a GPU and stack in the host's memory"):
        sr.forward(x, A.get(), sr.min_plus, steps=3)
    with pytest.raises(sr.SemiringError, match="int8"):
        sr.forward(cupy.full(2, 50, "i1"), cupy.full((2, 2), 50, "i1"), sr.min_plus, steps=3)
