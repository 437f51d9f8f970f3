"""Graphs for NetworkX's functions, and a comparison that sees types: 1 is not 1.0, nor a NumPy scalar."""

from __future__ import annotations

import random
from collections.abc import Iterator
from math import isclose, isinf
from typing import Any

import networkx as nx
import numpy as np
import pytest


def theirs(name: str, *args: Any, **options: Any) -> Any:
    """NetworkX's own answer, or its error."""
    return outcome(getattr(nx, name), *args, backend="networkx", **options)


def ours(name: str, *args: Any, **options: Any) -> Any:
    """The backend's answer, or its error; never NetworkX's own function instead."""
    return outcome(getattr(nx, name), *args, backend="semiring", **options)


def outcome(function: Any, *args: Any, **options: Any) -> Any:
    """An answer with iterators as lists, or the type of the exception and what it says."""
    try:
        found = function(*args, **options)
        return list(found) if isinstance(found, Iterator) else found
    except NotImplementedError:
        raise
    except Exception as error:
        return type(error), str(error)


def same(a: Any, b: Any, rounded: bool = False) -> bool:
    """Whether two answers are equal, with types; floats to the bit, or within rounding."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key], rounded) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y, rounded) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and (np.allclose(a, b, rtol=1e-12) if rounded else np.array_equal(a, b))
    if isinstance(a, float) and rounded:
        return a == b or (not isinf(a) and isclose(a, b, rel_tol=1e-9, abs_tol=1e-12))
    return bool(a == b)


class Roads(nx.DiGraph):  # type: ignore[misc]
    """A class of somebody else."""


def graphs(count: int = 60, classes: Any = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph, Roads)) -> Any:
    """Random graphs: each class, integers and floats, loops, parallel edges, lost weights, parts without a path."""
    return [pytest.param(made(seed, classes[seed % len(classes)]), id=f"{seed}") for seed in range(count)]


def made(seed: int, kind: Any, integers: bool | None = None, connected: bool = False, negative: bool = False) -> Any:
    """A graph whose vertices have mixed names and whose edges have a `weight`, or all have none."""
    rng = random.Random(seed)
    n = rng.choice([1, 2, 5, 9, 14])
    names: list[Any] = [*range(n)] if seed % 2 else [(i, "abc"[i % 3]) if i % 2 else f"v{i}" for i in range(n)]
    G = kind(name="roads", made=seed)
    rng.shuffle(names)
    G.add_nodes_from((v, {"at": i}) for i, v in enumerate(names))
    integers = bool(seed // 2 % 2) if integers is None else integers
    potential = {v: rng.randint(0, 6) if negative else 0 for v in names}
    edges = [(rng.choice(names), rng.choice(names)) for _ in range(rng.randint(0, 3 * n))]
    if connected:
        edges += [(names[i - 1], names[i]) for i in range(n)] if n > 1 else []
    for u, v in edges:
        shift = potential[v] - potential[u]
        weight = rng.randint(0, 9) + shift if integers else rng.choice([0.0, 0.1, 0.25, 0.3, 0.7, 1.5]) + shift
        G.add_edge(u, v, **({} if integers and seed % 7 == 6 else {"weight": weight}), toll=rng.randint(1, 5))
    return G


def acyclic(seed: int, kind: Any = nx.DiGraph) -> Any:
    """A graph without cycles; in another order of the vertices than the topological one."""
    rng = random.Random(seed)
    n = rng.choice([1, 3, 8, 13])
    names = [f"v{i}" for i in rng.sample(range(n), n)]
    G = kind(seed=seed)
    G.add_nodes_from(rng.sample(names, n))
    for _ in range(rng.randint(0, 3 * n)):
        i, j = sorted((rng.randrange(n), rng.randrange(n)))
        if i < j:
            weight = rng.randint(-3, 6) if seed % 2 else rng.choice([-0.5, 0.1, 0.2, 0.3])
            G.add_edge(names[i], names[j], weight=weight)
    return G
