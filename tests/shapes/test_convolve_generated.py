"""Convolutions over every generated algebra: the loops over all pairs of elements, by every way on the CPU."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product

import entries
import numpy as np
import pytest
from bases import REAL, Array, Base
from engines import by_both
from entries import ALL, ONE_WAY, drawn, dtypes, judge, laid_out, lives_in, made
from generated import Generated
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.numpy import convex, monotone
from semiring.shapes import convolutions
from semiring.shapes.convolve import part

few = settings(suppress_health_check=list(HealthCheck))
# What has to be changed for short sequences to go each way.
WAYS: dict[str, dict[str, int]] = {
    "as chosen": {}, "element by element": {"FEW": 0}, "blocks": {"BLOCKS_FROM": 0, "SHORTEST": 1, "FEW": 0},
    "powers": {"POWERS_FROM": 0}, "slopes": {"SLOPES_FROM": 0},
}
# The last two add up numbers after a map, so that convexity is not seen.
TROPICAL = ("min-plus ≥ 0, as it is", "min-plus, as it is", "max-plus, as it is", "min-plus with −∞, as it is",
            "viterbi, log x", "max-times, log x", "min-plus, x + 100", "max-plus ≤ 0, exp(−x)")


def by_loops(base: Base, a: Array, b: Array) -> Array:
    """c_i = ⊕_j a_j ⊗ b_{i−j} along all axes, one element of a after the other."""
    c = base.full([m + n - 1 for m, n in zip(a.shape, b.shape, strict=True)], base.zero)
    for at in product(*map(range, a.shape)):
        here = tuple(slice(i, i + n) for i, n in zip(at, b.shape, strict=True))
        c[here] = base.plus(c[here], base.times(np.broadcast_to(a[at], b.shape), b))
    return c


def window(c: Array, a: Array, b: Array, mode: str) -> Array:
    """The part of a full convolution that a mode asks for."""
    parts = [part(m, n, mode) for m, n in zip(a.shape, b.shape, strict=True)]
    return c[tuple(slice(first, first + count) for first, count in parts)]


def by(patch: pytest.MonkeyPatch, way: str) -> None:
    """Have every convolution go a way, if it can."""
    for name, value in WAYS[way].items():
        patch.setattr(convolutions, name, value)
    if way == "slopes":
        patch.setattr(monotone, "repays", lambda *sizes: True)
        patch.setattr(convex, "COST", 0)


def compare(name: str, dtype: np.dtype, left: tuple[int, ...], right: tuple[int, ...], seed: int, way: str) -> bool:
    """Convolve arrays of these shapes in each mode; whether there was an answer to each."""
    g, S = made(name)
    rng = np.random.default_rng(seed)
    A, B = (laid_out(drawn(g, rng, shape, dtype), rng) for shape in (left, right))
    answers = []
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        by(patch, way)
        whole = by_loops(g.base, g.from_data(A), g.from_data(B))
        for mode in ("full", "same", "valid"):
            want = window(whole, A, B, mode)
            text = f"{name}, {dtype}, {left} and {right}, {mode}, seed {seed}, way {way}: a = {A!r}, b = {B!r}"
            found = judge(g, dtype, (A, B), want, np.ones(want.shape, bool),
                          partial(sr.convolve, A, B, S, mode=mode), text)
            answers.append(found is not None)
    return all(answers)


lengths = st.integers(1, 6) | st.integers(1, 33)
shapes = st.tuples(lengths) | st.tuples(st.integers(1, 5), st.integers(1, 9)) | st.tuples(*[st.integers(1, 3)] * 3)


@settings(few, max_examples=160)
@given(name=st.sampled_from(sorted(ALL)) | st.sampled_from(sorted(ONE_WAY)), left=shapes, data=st.data())
def test_convolutions_are_loops(name: str, left: tuple[int, ...], data: st.DataObject) -> None:
    g, S = made(name)
    right = data.draw(st.tuples(*[st.integers(1, 33 if len(left) == 1 else 5)] * len(left)))
    dtype, way = data.draw(st.sampled_from(dtypes(g, S))), data.draw(st.sampled_from(sorted(WAYS)))
    assume(lives_in(g, S, dtype))
    compare(name, dtype, left, right, data.draw(st.integers(0, 2**32)), way)


@pytest.mark.slow
@pytest.mark.parametrize("share", range(8))
def test_convolutions_are_loops_over_each_algebra_in_each_dtype(share: int) -> None:
    rng, ways = np.random.default_rng(share), sorted(WAYS)
    for name in sorted(ALL)[share::8]:
        g, S = made(name)
        for number, dtype in enumerate(dtypes(g, S)):
            if lives_in(g, S, dtype):
                m, n = (int(k) for k in rng.integers(1, 20, 2))
                left, right = ((m,), (n,)) if number % 2 else ((2, m), (n, 2))
                compare(name, dtype, left, right, number, ways[(number + share) % len(ways)])


@pytest.mark.parametrize(("name", "compiling"), by_both([[name] for name in (
    "min-plus ≥ 0, as it is", "relations on two points", "semiring 6 of 4 elements", "viterbi, 3 − 2 x",
    "triangular matrices over plus-times", "maxima of a + 2 b + 1", "plus-times up to ∞, log x", "loose records",
)], 1))
def test_compiled_convolutions_are_loops(name: str, compiling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", compiling)
    g, S = made(name)
    sizes: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
        ((1,), (1,)), ((7,), (3,)), ((2,), (60,)), ((60,), (33,)), ((5, 9), (2, 17)), ((3, 30), (4, 3)),
        ((2, 2, 3), (1, 3, 2))]
    for seed, (left, right) in enumerate(sizes):
        for way in WAYS:
            compare(name, dtypes(g, S)[0], left, right, seed, way)


@settings(few, max_examples=100)
@given(name=st.sampled_from(sorted(ALL)) | st.sampled_from(sorted(ONE_WAY)), data=st.data())
def test_stacks_are_convolved_along_some_axes(name: str, data: st.DataObject) -> None:
    """Whichever axes they are; those of the stack broadcast, and may be empty."""
    g, S = made(name)
    dtype, way = data.draw(st.sampled_from(dtypes(g, S))), data.draw(st.sampled_from(sorted(WAYS)))
    assume(lives_in(g, S, dtype))
    rng, ndim = np.random.default_rng(data.draw(st.integers(0, 2**32))), data.draw(st.integers(2, 3))
    axes = data.draw(st.lists(st.integers(0, ndim - 1), min_size=1, max_size=ndim - 1, unique=True))
    left, right = ([data.draw(st.integers(1, 5)) for _ in range(ndim)] for _ in range(2))
    for i in set(range(ndim)) - set(axes):
        both = data.draw(st.integers(0, 3))
        left[i], right[i] = data.draw(st.sampled_from([(both, both), (both, 1), (1, both)]))
    A, B = (drawn(g, rng, shape, dtype) for shape in (left, right))
    mode = data.draw(st.sampled_from(["full", "same", "valid"]))
    stack = np.broadcast_shapes(*(tuple(n for i, n in enumerate(shape) if i not in axes) for shape in (left, right)))
    x, y = (np.moveaxis(g.from_data(X), axes, range(-len(axes), 0)) for X in (A, B))
    x, y = (np.broadcast_to(z, (*stack, *z.shape[-len(axes) :])) for z in (x, y))
    sizes = [part(m, n, mode)[1] for m, n in zip(x.shape[len(stack) :], y.shape[len(stack) :], strict=True)]
    want = g.base.full((*stack, *sizes), g.base.zero)
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        for at in np.ndindex(*stack):
            want[at] = window(by_loops(g.base, x[at], y[at]), x[at], y[at], mode)
        by(patch, way)
        want = np.moveaxis(want, range(-len(axes), 0), axes)
        given_axes = [a - ndim if rng.integers(2) else a for a in axes]
        judge(g, dtype, (A, B), want, np.ones(want.shape, bool),
              lambda: sr.convolve(laid_out(A, rng), laid_out(B, rng), S, mode=mode, axes=given_axes),
              f"{name}, {dtype}, axes {given_axes}, {mode}, way {way}: a = {A!r}, b = {B!r}")


def bent(g: Generated, rng: np.random.Generator, length: int, dtype: np.dtype, kind: str) -> Array:
    """A convex sequence for min, or concave for max; or one that is bent, turned over, rounded, or ends with zeros."""
    sign = 1 if float(g.base.zero) > 0 else -1
    slopes = np.sort(rng.integers(-9, 9, length) if g.base.potentials else rng.integers(0, 4, length))
    x = np.cumsum((slopes / 4 if dtype.kind == "f" and kind != "rounded" else slopes).astype(REAL))
    if kind == "rounded":
        x /= 10
    if kind == "bent":
        x[rng.integers(length)] += 1 / 4 if dtype.kind == "f" else 1
    if kind == "turned over":
        x = x.max() - x
    if kind == "zeros":
        x[: rng.integers(length)] = np.inf
        x[length - rng.integers(length) :] = np.inf
    least = 0 if g.base.potentials else x[np.isfinite(x)].min(initial=0)
    values = sign * (x - least)
    with np.errstate(all="ignore"):
        data, fits = g.to_data(np.exp(values) if g.name.endswith("log x") else values, dtype)
    data[~fits] = entries.zeros(g, (1,), dtype)[0]
    return data


def compare_bent(
    name: str, dtype: np.dtype, stacks: tuple[tuple[int, ...], ...], sizes: tuple[int, int], kinds: list[str],
    mode: str, seed: int,
) -> str:
    """Convolve stacks of convex sequences and others; by which way."""
    g, S = made(name)
    rng = np.random.default_rng(seed)
    A, B = (np.empty((*stack, k), dtype) for stack, k in zip(stacks, sizes, strict=True))
    for X, kind in zip((A, B), kinds, strict=True):
        for at in np.ndindex(X.shape[:-1]):
            X[at] = bent(g, rng, X.shape[-1], dtype, kind)
    if "rounded" in kinds:
        g = replace(g, tolerance=g.tolerance + 16.0)
    stack = np.broadcast_shapes(*stacks)
    x, y = (np.broadcast_to(g.from_data(X), (*stack, X.shape[-1])) for X in (A, B))
    want = g.base.full((*stack, part(*sizes, mode)[1]), g.base.zero)
    for at in np.ndindex(*stack):
        want[at] = window(by_loops(g.base, x[at], y[at]), x[at], y[at], mode)
    with pytest.MonkeyPatch.context() as patch:
        by(patch, "slopes")
        judge(g, dtype, (A, B), want, np.ones(want.shape, bool),
              lambda: sr.convolve(laid_out(A, rng), laid_out(B, rng), S, mode=mode, axes=-1),
              f"{name}, {dtype}, {mode}: a = {A!r}, b = {B!r}")
        return sr.plan("convolve", A, B, S, mode=mode, axes=-1).method


@settings(few, max_examples=160)
@given(name=st.sampled_from(TROPICAL), m=st.integers(1, 60), n=st.integers(1, 60), data=st.data())
def test_convex_sequences_over_tropical_algebras(name: str, m: int, n: int, data: st.DataObject) -> None:
    """By the ways of convex sequences where ⊕ and ⊗ are min or max and +, and by another way elsewhere."""
    g, S = made(name)
    dtype = data.draw(st.sampled_from([d for d in dtypes(g, S) if d.itemsize > 1]))
    assume(lives_in(g, S, dtype))
    stacks = data.draw(st.sampled_from([((), ()), ((), ()), ((3,), ()), ((2,), (2,)), ((2, 1), (3,))]))
    kinds = [data.draw(st.sampled_from(["convex", "zeros", "bent", "rounded", "turned over"])) for _ in "ab"]
    mode = data.draw(st.sampled_from(["full", "same", "valid"]))
    compare_bent(name, dtype, stacks, (m, n), kinds, mode, data.draw(st.integers(0, 2**32)))


@pytest.mark.parametrize("name", TROPICAL[:4])
@pytest.mark.parametrize("stacks", [((), ()), ((2,), (2,)), ((2, 1), (3,))])
def test_sequences_go_the_way_that_is_meant_for_them(name: str, stacks: tuple[tuple[int, ...], ...]) -> None:
    assert made(name)[1].is_tropical
    for kinds, method in (
        (["convex", "zeros"], "merged slopes"), (["rounded", "rounded"], "merged slopes"),
        (["convex", "turned over"], "divided rows"), (["turned over", "zeros"], "divided rows"),
    ):
        for seed, sizes in enumerate(((40, 40), (40, 33), (7, 50), (50, 7))):
            found = compare_bent(name, np.dtype("f8"), stacks, sizes, kinds, "full", seed)
            assert found == method, (kinds, sizes)
