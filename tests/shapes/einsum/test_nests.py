"""The layout of arrays that are never transposed: one order of axes, rows apart, memory that is used again."""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from networks import networks

from semiring.shapes.einsum.contraction import Product, Steps
from semiring.shapes.einsum.nests import ALIGNED, Contraction, contraction_of
from semiring.shapes.einsum.notation import fit, parse
from semiring.shapes.einsum.running import laid as as_stack


def steps_of(text: str, sizes: dict[str, int]) -> Steps:
    terms = parse(text)
    shapes = tuple(tuple(sizes[a] for a in term) for term in text.split("->")[0].split(","))
    return Steps(fit(terms, shapes), True, True, True)


@settings(max_examples=200, deadline=None)
@given(networks(), st.booleans(), st.sampled_from([1, 8, 4096]))
def test_arrays_lie_as_their_products_need_them(network: tuple[str, dict], keep: bool, item: int) -> None:
    steps = steps_of(*network)
    found = Contraction(steps, item, 8, 8, keep)
    order = {axis: k for k, axis in enumerate(found.order)}
    ends: list[tuple[int, int]] = []
    for number, step in enumerate(found.products, found.first):
        for x in (step.left, step.right):
            axes = found.laid[x].axes
            assert [*axes] == sorted(axes, key=order.__getitem__)
            assert {*axes[: len(step.summed)]} == {*step.summed}, "the axes that are summed come first"
        laid, begin = found.laid[number], found.places[number]
        strides = [laid.strides[a] for a in laid.axes]
        offsets = np.zeros((1,), np.int64)
        for axis, stride in zip(laid.axes, strides, strict=True):
            offsets = (offsets[:, None] + np.arange(steps.sizes[axis]) * stride).reshape(-1)
        assert len({*offsets.tolist()}) == len(offsets) and offsets.max(initial=0) + item <= laid.size
        assert begin % ALIGNED == 0 and begin + laid.size <= found.size
        ends.append((begin, begin + laid.size))
    assert [*found.laid[-1].axes] == [*steps.fitted.output], "the answer is not transposed either"
    used = {x: n for n, step in enumerate(found.products, found.first) for x in (step.left, step.right)}
    for (i, x), (j, y) in combinations(enumerate(ends, found.first), 2):
        if keep or used.get(i, len(used) + 99) >= j:
            assert x[1] <= y[0] or y[1] <= x[0], "arrays that are needed at once overlap"


def test_rows_of_large_arrays_are_apart() -> None:
    sizes = dict.fromkeys("abcdefgh", 8)
    found = Contraction(steps_of("abcd,abe,ef,cdg->fg", sizes), 8, 8, 8, False)
    apart = [laid for laid in found.laid if laid.apart]
    for laid in found.laid[: found.first]:
        assert not laid.apart and laid.size == 8 * prod(sizes[a] for a in laid.axes)
    for laid in apart:
        assert laid.strides[laid.apart[-1]] % 4096


@pytest.mark.parametrize(("text", "sizes", "nested"), [
    ("ab,bc,cd,de->", dict.fromkeys("abcde", 4), True),
    ("ab,bc->ac", dict.fromkeys("abc", 4), False),
    ("ab,bc,cd->ad", dict.fromkeys("abcd", 200), False),
    ("ab,bc,cd,de->", dict.fromkeys("abcde", 0), False),
    ("a,a,a->a", {"a": 1 << 20}, False),
    ("aij,ajk,akl->ail", {"a": 100, "i": 4, "j": 4, "k": 4, "l": 4}, True),
    ("aij,ajk,akl->ail", {"a": 100_000, "i": 4, "j": 4, "k": 4, "l": 4}, False),
    ("aj,ajk,akl->al", {"a": 10_000, "j": 8, "k": 8, "l": 8}, False),
])
def test_which_products_go_by_nests(text: str, sizes: dict[str, int], nested: bool) -> None:
    """Several products, without a large matrix product, one that takes one element after the other, or large operands
    whose axes would have to change places."""
    assert (contraction_of(steps_of(text, sizes), 8, 8, 8, False) is not None) is nested


@settings(max_examples=200, deadline=None)
@given(networks())
def test_copies_of_products_of_stacks_are_known(network: tuple[str, dict]) -> None:
    steps = steps_of(*network)
    found = Contraction(steps, 8, 8, 8, False)
    for step in found.products:
        groups = (step.batch, step.left_free, step.summed), (step.batch, step.summed, step.right_free)
        copied = 0
        for axes, wanted in zip((step.left_axes, step.right_axes), groups, strict=True):
            A = np.zeros([steps.sizes[a] for a in axes])
            copied += 0 if np.shares_memory(A, as_stack(A, axes, wanted, steps.sizes)) else A.size
        assert found.steps.copied(step) == copied


def test_vectors_are_the_axes_that_one_factor_has() -> None:
    """The large factor is read along rows, whichever side of the product it is on."""
    sizes: dict[Any, int] = dict.fromkeys("abcdefg", 4)
    for text in ("abcdef,ab,cg->defg", "ab,abcdef,gc->defg"):
        found = Contraction(steps_of(text, sizes), 8, 8, 8, False)
        step, nest = found.products[-1], found._nests[-1]
        assert isinstance(step, Product) and nest.width >= 4 and nest.terms == step.work
