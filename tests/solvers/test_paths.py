"""Best paths where ⊗ rounds: the weight is the closure's, the ⊗ along the vertices, and nothing is refused."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr

inf = np.inf


def declared(name: str, mul: object, *, zero: float = inf, one: float = 0.0, high: float = inf) -> sr.Semiring:
    add = np.minimum if zero > one else np.maximum
    low, high = (0.0, high) if zero > one else (0.0, 1.0)
    return sr.Semiring(name, add=add, mul=mul, zero=zero, one=one, carrier=lambda a: (a >= low) & (a <= high))


def rooted(p: float) -> sr.Semiring:
    return declared(f"root {p}", lambda a, b: np.power(np.power(a, 1 / p) + np.power(b, 1 / p), p))


BOUNDED = [
    rooted(2), rooted(3), rooted(1 / 2), rooted(5),
    declared("norm", lambda a, b: np.sqrt(a * a + b * b)),
    declared("log of sum", lambda a, b: np.log1p(np.expm1(a) + np.expm1(b)), high=inf),
    declared("velocities", lambda a, b: (a + b) / (1 + a * b), zero=1.0, high=1.0),
    declared("logs", lambda a, b: np.exp(np.log(a) + np.log(b)), zero=0.0, one=1.0),
    declared("thirds", lambda a, b: a * b / (a + b - a * b), zero=0.0, one=1.0),
]


def elements(S: sr.Semiring, shape: tuple, random: np.random.Generator) -> np.ndarray:
    """Few different ones, so that paths tie and loops nearly do."""
    whole = random.integers(0, 9, shape)
    A = whole / 9.0 if S.zero <= 1 else whole.astype(float) ** 3
    A[random.random(shape) < 0.3] = S.zero
    A[random.random(shape) < 0.1] = S.one
    return A


@pytest.mark.parametrize(
    ("S", "dtype"),
    [*((S, "f8") for S in BOUNDED), *((S, "f4") for S in BOUNDED[:2])],
    ids=lambda x: getattr(x, "name", x),
)
def test_bounded_algebras_whose_product_rounds(S: sr.Semiring, dtype: str) -> None:
    assert S.selective and S.bounded
    rtol = 1e-9 if dtype == "f8" else 1e-3
    for seed in range(6):
        random = np.random.default_rng(seed)
        n = int(random.integers(1, 9))
        A = elements(S, (n, n), random).astype(dtype)
        closed = sr.closure(A, S)
        edges = np.nonzero(S.zero != A)
        graph = sp.csr_array((A[edges], edges), shape=(n, n))
        rows, before = sr.closure_rows(graph, S, range(n), predecessors=True)
        np.testing.assert_allclose(rows, closed, rtol=rtol, atol=1e-6)
        assert (before[rows == S.zero_in(dtype)] < 0).all()
        for source, target in product(range(n), range(n)):
            weight, vertices = sr.path(A, S, source, target)
            np.testing.assert_allclose(weight, closed[source, target], rtol=rtol, atol=1e-6)
            assert (vertices is None) == (weight == S.zero)
            if vertices is not None:
                assert (vertices[0], vertices[-1]) == (source, target) and len(set(vertices)) == len(vertices)
                along = S.one_in(dtype)
                for u, v in pairwise(vertices):
                    along = S.mul(along, A[u, v])
                np.testing.assert_allclose(weight, along, rtol=1e-6)


def cubes(a: np.ndarray) -> np.ndarray:
    return np.sign(a) * np.abs(a) ** 3


CUBIC = sr.Semiring(  # min-plus moved by x³, so that edges may be better than one, and no product is exact
    "cubic", add=np.minimum, zero=inf, one=0.0,
    mul=lambda a, b: np.power(
        np.where(a < 0, -np.power(-a, 1 / 3), np.power(a, 1 / 3))
        + np.where(b < 0, -np.power(-b, 1 / 3), np.power(b, 1 / 3)), 3),
)


@pytest.mark.parametrize("seed", range(10))
def test_cycles_of_weight_one_under_a_product_that_rounds(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = 6
    height = random.normal(size=n) * 5
    true = height[:, None] - height + random.integers(0, 2, (n, n)) * random.random((n, n))
    A = cubes(true)
    expected = cubes(sr.closure(true, sr.min_plus))
    for source, target in product(range(n), range(n)):
        weight, vertices = sr.path(A, CUBIC, source, target)
        np.testing.assert_allclose(weight, expected[source, target], rtol=1e-6, atol=1e-9)
        assert vertices[0] == source and vertices[-1] == target
    np.testing.assert_allclose(sr.closure(A, CUBIC), expected, rtol=1e-6, atol=1e-9)
    A[1, 2] = cubes(true[1, 2] - 30)
    for call in (lambda: sr.path(A, CUBIC, 0, 3), lambda: sr.closure(A, CUBIC), lambda: sr.closure_rows(A, CUBIC, 0)):
        with pytest.raises(sr.NoClosureError) as caught:
            call()
        pairs = list(pairwise(caught.value.cycle))
        assert sum(np.cbrt(A[u, v]) for u, v in pairs) < 0


def test_records_with_costs_of_both_signs() -> None:
    """Potentials leave cycles of cost 0 up to rounding, which is no improvement."""
    def cheaper(x, y):
        return np.where((x.cost < y.cost) | ((x.cost == y.cost) & (x.hops <= y.hops)), x, y)

    S = sr.Semiring(
        "hops", fields={"cost": "f8", "hops": "f8"}, zero=(inf, inf), one=(0, 0), add=cheaper,
        mul=lambda x, y: (x.cost + y.cost, x.hops + y.hops), selective=True, bounded=False,
        carrier=lambda a: (a.hops >= 0) & ((a.cost < inf) | (a.hops == inf)) & ((a.hops < inf) | (a.cost == inf)),
    )
    random = np.random.default_rng(1)
    for _ in range(20):
        height = random.normal(size=6) * 100
        A = np.empty((6, 6), S.default_dtype)
        A["cost"], A["hops"] = height[:, None] - height, 1
        closed = sr.closure(A, S)
        np.testing.assert_allclose(closed["cost"], height[:, None] - height, atol=1e-10)
        assert (closed["cost"].diagonal() == 0).all() and (closed["hops"].diagonal() == 0).all()
        weight, vertices = sr.path(A, S, 0, 5)
        np.testing.assert_allclose(weight["cost"], closed["cost"][0, 5], atol=1e-10)
        assert len(vertices) == weight["hops"] + 1
        A["cost"][2, 4] -= 1
        for call in (lambda: sr.closure(A, S), lambda: sr.path(A, S, 0, 5)):  # noqa: B023
            with pytest.raises(sr.NoClosureError, match="→"):
                call()


def test_path_of_what_is_no_semiring() -> None:
    A = np.array([[1.0, 2.0], [3.0, 4.0]])
    graph = sp.csr_array(A)
    for S in (sr.shortest_widest, sr.plus_min):
        B = A if not S.is_record else S.array([[(1.0, 1.0), (2.0, 2.0)], [(3.0, 3.0), (4.0, 4.0)]])
        verbs = [lambda: sr.path(B, S, 0, 1), lambda: sr.closure_rows(B, S, 0), lambda: sr.closure(B, S),  # noqa: B023
                 lambda: sr.factor(B, S), lambda: sr.solve(B, B, S), lambda: sr.plan(B, S),  # noqa: B023
                 lambda: sr.factor(graph, S), lambda: sr.solve(graph, A, S), lambda: sr.plan(graph, S),  # noqa: B023
                 lambda: sr.closure(graph, S), lambda: sr.closure(graph, S, method="sparse"),  # noqa: B023
                 lambda: sr.closure_rows(graph, S, 0)] # noqa: B023
        for verb in verbs:
            with pytest.raises(sr.LawError, match="is not a semiring, so it has products but no closure"):
                verb()


@pytest.mark.parametrize(
    ("S", "dtype", "first", "second"),
    [(sr.min_plus, "u8", 3, 2**64 - 2), (sr.min_plus, "u8", 1, 2**64 - 2), (sr.min_plus, "i8", 2**62, 2**62),
     (sr.min_plus, "i1", 5, 124), (sr.min_plus, "i1", 3, 124), (sr.min_plus, "i1", -100, -28),
     (sr.max_plus, "i1", 100, 27), (sr.max_plus, "i1", -100, -28), (sr.min_plus, "u1", 1, 254)],
)
def test_a_sum_that_leaves_the_dtype_is_told_as_an_integer(S: sr.Semiring, dtype: str, first: int, second: int) -> None:
    A = sp.csr_array((np.array([first, second], dtype), ([0, 1], [1, 2])), shape=(3, 3))
    weight, vertices = sr.path(A, S, 0, 2)
    assert type(weight) is int and weight == first + second and vertices == [0, 1, 2]
    with pytest.raises(sr.SemiringError, match=f"a result is {first + second}, which .* cannot hold"):
        sr.closure(A, S)
    part, _ = sr.path(A, S, 0, 1)
    assert type(part) is np.dtype(dtype).type and part == first
    nothing, walk = sr.path(A, S, 2, 0)
    assert type(nothing) is np.dtype(dtype).type and nothing == S.zero_in(dtype) and walk is None
