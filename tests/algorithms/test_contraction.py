"""Orders of products of arrays with named axes: valid, and for a few arrays the cheapest."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semiring.algorithms.contraction import (
    Network,
    Pairs,
    eliminated,
    exact,
    greedy,
    in_turn,
    new_pairs,
    order,
    place,
    product_size,
    refined,
    runs,
)


@st.composite
def networks(draw: st.DrawFn, most: int = 6) -> Network:
    arrays = draw(st.lists(st.integers(0, 63), min_size=1, max_size=most))
    every = 0
    for axes in arrays:
        every |= axes
    sizes = draw(st.lists(st.integers(1, 7), min_size=6, max_size=6))
    return Network(arrays, draw(st.integers(0, 63)) & every, sizes)


def all_orders(left: list[int], free: int, neighbours: bool) -> list[Pairs]:
    """Every order in which arrays can be multiplied; with `neighbours` each product takes the place of its factors."""
    if len(left) == 1:
        return [[]]
    found = []
    for i, j in pairwise(range(len(left))) if neighbours else combinations(range(len(left)), 2):
        rest = [*left[:i], free, *left[i + 1 : j], *left[j + 1 :]]
        found += [[(left[i], left[j]), *more] for more in all_orders(rest, free + 1, neighbours)]
    return found


def is_complete(pairs: Pairs, count: int) -> bool:
    """Whether each array and each product but the last is used once, after it is there."""
    used = [n for pair in pairs for n in pair]
    there = all(max(pair) < count + k for k, pair in enumerate(pairs))
    return there and sorted(used) == list(range(2 * count - 2))


@given(networks(5))
def test_no_order_of_a_few_arrays_costs_less(network: Network) -> None:
    count = len(network.arrays)
    for neighbours, found in ((False, exact(network)), (True, runs(network))):
        assert is_complete(found, count)
        best = min(network.cost(pairs) for pairs in all_orders([*range(count)], count, neighbours))
        assert network.cost(found) == best


@given(networks(12))
def test_every_order_multiplies_all_arrays_once(network: Network) -> None:
    count = len(network.arrays)
    orders = [order(network), order(network, commutes=False), greedy(network), in_turn(count)]
    orders += [eliminated(network, score) for score in (product_size, new_pairs, place)]
    assert all(is_complete(pairs, count) for pairs in orders)
    assert network.cost(orders[0]) <= min(map(network.cost, orders[2:3] + orders[4:]))


@given(networks(12))
def test_a_refined_order_costs_no_more(network: Network) -> None:
    for pairs in (in_turn(len(network.arrays)), greedy(network)):
        found = refined(network, pairs)
        assert is_complete(found, len(network.arrays))
        assert network.cost(found) <= network.cost(pairs) * (1 + 1e-9)


def test_the_cost_is_that_of_the_axes_which_others_have() -> None:
    network = Network([0b00111, 0b01110, 0b11001], 0b10000, [2, 3, 5, 7, 11])
    assert network.cost([(0, 1), (2, 3)]) == (2 * 3 * 5 * 7 + 2 * 7) + (2 * 7 * 11 + 11)
    assert network.cost([(1, 2), (0, 3)]) == (2 * 3 * 5 * 7 * 11 + 2 * 3 * 5 * 11) + (2 * 3 * 5 * 11 + 11)


def test_refining_quarters_the_work_of_a_wide_grid() -> None:
    side = 10
    arrays = [1 << v | 1 << v + step for v in range(side * side) for step, there in
              ((1, (v + 1) % side), (side, v + side < side * side)) if there]
    network = Network(arrays, 0, [4] * (side * side))
    assert network.cost(order(network)) < network.cost(eliminated(network, new_pairs)) / 3.5


@pytest.mark.parametrize("side", [4, 6, 10])
def test_a_grid_is_summed_along_its_narrow_side(side: int) -> None:
    """No order does without products of as many axes as a side is long."""
    arrays = [1 << v | 1 << v + step for v in range(side * side) for step, there in
              ((1, (v + 1) % side), (side, v + side < side * side)) if there]
    network = Network(arrays, 0, [4] * (side * side))
    assert network.cost(order(network)) <= 1.2 * side * side * 4.0 ** (side + 1)


def test_many_arrays_without_a_common_axis_and_one_axis_of_many_arrays() -> None:
    apart = Network([1 << i for i in range(60)], (1 << 60) - 1, [1] * 60)
    star = Network([1 << i | 1 << 60 for i in range(60)], 0, [2] * 61)
    assert is_complete(order(apart), 60)
    assert is_complete(order(star), 60)
