"""Every path without a repeated vertex, one by one: slow and obvious answers of which path is best."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

Edges = dict[tuple[int, int], Any]


def simple_paths(edges: Edges, source: int, target: int) -> Iterator[list[int]]:
    """From source to target along edges, no vertex twice; of one vertex to itself the path of no edges."""

    def onwards(path: list[int]) -> Iterator[list[int]]:
        if path[-1] == target:
            yield path
            return
        for a, b in edges:
            if a == path[-1] and b not in path:
                yield from onwards([*path, b])

    yield from onwards([source])


def weight(edges: Edges, path: list[int], times: Callable[[Any, Any], Any], one: Any) -> Any:
    """⊗ along a path."""
    total = one
    for step in pairwise(path):
        total = times(total, edges[step])
    return total


def best(
    edges: Edges, source: int, target: int, key: Callable[[Any], Any], times: Callable[[Any, Any], Any], one: Any
) -> Any:
    """The weight with the least key of all paths; None where there is none."""
    weights = [weight(edges, path, times, one) for path in simple_paths(edges, source, target)]
    return min(weights, key=key, default=None)
