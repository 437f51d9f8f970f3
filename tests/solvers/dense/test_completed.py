"""Stars that were declared of elements better than 1: every form of a closure, against Lehmann's elimination."""

from __future__ import annotations

import pickle
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from methods import METHODS

import semiring as sr

inf = np.inf


def max_plus(**more: Any) -> sr.Semiring:
    return sr.Semiring(
        "complete max-plus", add=np.maximum, mul=lambda a, b: np.where((a == -inf) | (b == -inf), -inf, a + b),
        zero=-inf, one=0, star=lambda a: np.where(a > 0, inf, 0), carrier=lambda a: a == a, **more,
    )


def objects(a: Any, b: Any) -> Any:
    return -inf if -inf in (a, b) else a + b


def capped(**more: Any) -> sr.Semiring:
    return sr.Semiring("capped", add=np.maximum, mul=lambda a, b: np.minimum(10, a + b), zero=-inf, one=0,
                       carrier=lambda a: (a <= 10) & ((a >= 0) | (a == -inf)), **more)


STARRED = capped(star=lambda a: np.where(a > 0, 10, 0))
ALGEBRAS: dict[str, tuple[sr.Semiring, list[float], list[str]]] = {
    "max-plus": (max_plus(), [-inf, -7, 3, -1, 2, 0, 1.5], ["f8", "f4", "O"]),
    "min-plus": (  # declared as the catalogue's, which refuses
        sr.Semiring("complete min-plus", add=np.minimum, mul=np.add, zero=inf, one=0,
                    star=lambda a: np.where(a < 0, -inf, 0)), [inf, -2, 3, 1, 2, 0, 4], ["f8", "f4", "i8", "i2", "O"]),
    "capped": (STARRED, [-inf, 0.25, 1, 0, 3], ["f8", "f4", "O"]),
    "capped, without a star": (capped(), [-inf, 0.0625, 0.25, 1, 0, 3], ["f8", "f4", "O"]),
    "max-times": (
        sr.Semiring("complete max-times", add=np.maximum, mul=lambda a, b: np.where((a == 0) | (b == 0), 0, a * b),
                    zero=0, one=1, star=lambda a: np.where(a <= 1, 1, inf), carrier=lambda a: a >= 0),
        [0, 0.5, 2, 1, 0.25, 4], ["f8", "f4", "O"]),
    "objects": (
        sr.Semiring("objects", dtype=object, add=max, mul=objects, zero=-inf, one=0, selective=True,
                    star=lambda a: inf if a > 0 else 0, samples=[1, 2, -3, inf]), [-inf, -7, 3, -1, 2, 0], ["O"]),
}


def lehmann(A: np.ndarray, S: sr.Semiring) -> np.ndarray:
    """A* pivot by pivot, by the algebra's own operations on elements."""
    S = S if S.declares_star else STARRED
    X, n, T = A.tolist(), len(A), S.over("f8" if S.traced is not None else object)
    one = np.array([S.one], T.dtype)

    def call(operation: Any, *elements: Any) -> Any:
        return np.asarray(operation(*(np.array([e], T.dtype) for e in elements)))[0]

    for k in range(n):
        star, row, column = call(T.star, X[k][k]), list(X[k]), [X[i][k] for i in range(n)]
        for i in range(n):
            through = call(T.mul, column[i], star)
            X[i] = [call(T.add, X[i][j], call(T.mul, through, row[j])) for j in range(n)]
    for i in range(n):
        X[i][i] = call(T.add, one[0], X[i][i])
    return np.array(X, "f8")


def in_dtype(A: np.ndarray, dtype: str) -> np.ndarray:
    if dtype[0] != "i":
        return A.astype(dtype)
    limits = np.iinfo(dtype)
    made = np.where(np.isinf(A), 0, A).astype(dtype)
    made[np.isposinf(A)], made[np.isneginf(A)] = limits.max, limits.min
    return made


def as_floats(X: Any) -> np.ndarray:
    X = np.asarray(X)
    if X.dtype.kind != "i":
        return X.astype("f8")
    limits = np.iinfo(X.dtype)
    made = X.astype("f8")
    made[limits.max == X], made[limits.min == X] = inf, -inf
    return made


def matrices(name: str) -> Any:
    _, pool, dtypes = ALGEBRAS[name]

    @st.composite
    def draw(draw: Any) -> tuple[np.ndarray, str]:
        dtype, n = draw(st.sampled_from(dtypes)), draw(st.integers(1, 6))
        some = [x for x in pool if dtype[0] != "i" or x == inf or x == int(x)]
        entries = st.sampled_from([pool[0], *some])
        return np.array(draw(st.lists(entries, min_size=n * n, max_size=n * n)), "f8").reshape(n, n), dtype

    return draw()


@pytest.mark.parametrize("name", ALGEBRAS)
@settings(max_examples=15)
@given(data=st.data())
def test_every_form_of_a_closure_asks_the_star(name: str, data: Any) -> None:
    S, pool, _ = ALGEBRAS[name]
    A, dtype = data.draw(matrices(name))
    D, expected, n = in_dtype(A, dtype), lehmann(A, S), len(A)
    b = D[0].copy()
    product = [sr.matmul(X, A[0], S) if dtype != "O" else sr.matmul(X.astype(object), A[0].astype(object), S)
               for X in (expected, expected.T.copy())]
    names = [f"v{k}" for k in range(n)]
    forms: dict[str, Any] = {
        "overwrite": lambda: sr.closure(D.copy(), S, overwrite=True),
        "stack": lambda: sr.closure(np.stack([D, D]), S)[1],
        "mask": lambda: sr.closure(np.stack([D, D]), S, on_divergence="mask").values[1],
        "mask of one": lambda: sr.closure(D, S, on_divergence="mask").values,
        "plan": lambda: sr.plan("closure", D, S).run(),
        "factor": lambda: sr.factor(D, S).closure(),
        "rows": lambda: sr.closure_rows(D, S, range(n)),
        "table": lambda: sr.closure_rows(D, S, list(range(n)), targets=list(range(n))).to_numpy(),
        "Matrix": lambda: sr.Matrix(D, S, names).closure().array,
    } | {method: lambda m=method: sr.closure(D, S, method=m, tile=2) for method in METHODS if method != "squaring"}
    forms |= {"check=False": lambda: sr.closure(D, S, check=False)} if S.declares_star else {}
    solved = {"solve": (lambda: sr.solve(D, b, S), 0), "left": (lambda: sr.solve(D, b, S, left=True), 1),
              "factor": (lambda: sr.factor(D, S).solve(b), 0)}
    if dtype != "O":
        i, j = np.nonzero(pool[0] != A)
        M = sp.csr_array((D[i, j], (i, j)), (n, n))
        forms |= {
            "sparse": lambda: sr.closure(M, S), "on the structure": lambda: sr.closure(M, S, method="sparse"),
            "sparse rows": lambda: sr.closure_rows(M, S, range(n)),
            "sparse factor": lambda: sr.factor(M, S).rows(range(n)),
        }
        solved |= {"sparse solve": (lambda: sr.solve(M, b, S), 0)}
    for form, ask in forms.items():
        assert np.array_equal(as_floats(ask()), expected), form
    for form, (ask, side) in solved.items():
        assert np.array_equal(as_floats(ask()), as_floats(product[side])), form


@pytest.mark.parametrize("most", [7, 8, 11])
def test_records_of_any_number_of_fields_are_summed(most: int) -> None:
    """The shortest length for each sum of tolls, whose star has too many operations for an expression from 8 on."""
    def least(x: Any, y: Any, t: int) -> Any:
        return reduce(np.minimum, [x.d[s] + y.d[t - s] for s in range(t + 1)])

    S = sr.Semiring(f"tolls to {most}", fields={"d": ("f8", most + 1)}, zero=([inf] * (most + 1),),
                    one=([0] + [inf] * most,), add=lambda x, y: (np.minimum(x.d, y.d),),
                    mul=lambda x, y: ([least(x, y, t) for t in range(most + 1)],), carrier=lambda a: (a.d >= 0).all())
    assert S.has_reached_star == (most == 7)

    def road(toll: int, length: float) -> tuple:
        return ([length if t == toll else inf for t in range(most + 1)],)

    A = sr.adjacency([("a", "b", road(1, 3.0)), ("b", "a", road(0, 2.0)), ("b", "c", road(2, 1.0))], S)
    rounds = [5.0 * t for t in range(most + 1)]
    to_c = [inf] * 3 + [5.0 * k + 4 for k in range(most - 2)]
    F = sr.factor(A, S)
    for C in (sr.closure(A, S), F.closure()):
        assert C["a", "a"]["d"].tolist() == rounds and C["a", "c"]["d"].tolist() == to_c
    assert F.rows(["a"])["d"][0, 2].tolist() == to_c == sr.closure_rows(sr.factor(A, S), S, "a")["d"][2].tolist()
    b = sr.solve(A.array, A.array[:, 2].copy(), S)
    assert b["d"][0].tolist() == to_c


def test_powers_that_end_in_0_are_summed_by_products() -> None:
    """Power series up to the 14th power, over the reals: ⊕ is not idempotent, and a cycle of one step ends after 14."""
    n = 15
    S = sr.Semiring(
        "series", fields={"c": ("f8", n)}, zero=([0] * n,), one=([1] + [0] * (n - 1),), add=lambda x, y: (x.c + y.c,),
        mul=lambda x, y: ([sum(x.c[i] * y.c[k - i] for i in range(k + 1)) for k in range(n)],),
        carrier=lambda a: np.all(np.isfinite(a.c)), samples=[([0, 1] + [0] * (n - 2),), ([0, 2, 1] + [0] * (n - 3),)],
    )
    A = S.array([[([0, 2] + [0] * (n - 2),)]])
    assert sr.closure(A, S)[0, 0]["c"].tolist() == [2.0**k for k in range(n)]


@pytest.mark.parametrize(("S", "loop"), [
    (sr.Semiring("endless", add=np.maximum, mul=np.add, zero=-inf, one=0), 1.0),
    (sr.Semiring("overflow", add=np.maximum, mul=np.multiply, zero=0, one=1, carrier=lambda a: a >= 0), 1.5),
    (sr.Semiring("underflow", add=np.minimum, mul=np.multiply, zero=inf, one=1, carrier=lambda a: a >= 0,
                 samples=[0.5, 2, 3, 0.25]), 0.5),
    (sr.Semiring("creeping", add=np.minimum, mul=lambda a, b: 100 + (a - 100) * (b - 100), zero=inf, one=101,
                 carrier=lambda a: a >= 100), 100.5),
], ids=lambda x: getattr(x, "name", ""))
def test_what_rounding_or_overflow_ends_is_no_sum(S: sr.Semiring, loop: float) -> None:
    for A in (np.array([[loop]]), np.array([[loop]], "f4"), np.array([[[loop]]])):
        for verb in (sr.closure, sr.factor, lambda A, S: sr.closure_rows(A, S, 0), lambda A, S: sr.path(A, S, 0, 0)):
            if A.ndim == 2 or verb is sr.closure:
                with pytest.raises(sr.NoClosureError, match="declare it with star="):
                    verb(A, S)
    assert sr.closure(np.array([[[loop]]]), S, on_divergence="mask").exists.tolist() == [False]


@pytest.mark.parametrize("name", ALGEBRAS)
@settings(max_examples=15)
@given(data=st.data())
def test_a_path_is_found_wherever_one_is_best(name: str, data: Any) -> None:
    S, _, _ = ALGEBRAS[name]
    A, dtype = data.draw(matrices(name))
    D, expected = in_dtype(A, dtype), lehmann(A, S)
    for s, t in [(0, 0), (0, len(A) - 1), (len(A) - 1, 0)]:
        try:
            weight, walk = sr.path(D, S, s, t)
        except sr.NoClosureError as e:
            assert S.declares_star and np.isinf(expected[s, t]) and expected[s, t] != S.zero
            assert "sr.closure_rows(A, S" in str(e) and e.cycle
            continue
        assert weight == expected[s, t]
        total = np.array([S.one], "f8")
        for u, v in pairwise(walk or []):
            total = as_floats(S.over("f8" if S.traced else object).mul(total, A[u : u + 1, v]))
        assert total[0] == expected[s, t] if walk else expected[s, t] == S.zero


def test_a_file_is_closed_by_the_star(tmp_path: Path) -> None:
    S, A = max_plus(), np.array([[-inf, 1.0, -3], [2.0, -inf, -inf], [-inf, -inf, -inf]])
    np.save(tmp_path / "a.npy", A)
    sr.closure(tmp_path / "a.npy", S, out=tmp_path / "c.npy")
    assert np.load(tmp_path / "c.npy").tolist() == [[inf] * 3, [inf] * 3, [-inf, -inf, 0]]


def test_what_has_no_star_is_refused() -> None:
    """Where the star exists of some elements better than 1 only."""
    S = max_plus().declared
    partial = sr.Semiring("up to 5", add=np.maximum, mul=S.traced.raw_mul, zero=-inf, one=0, carrier=lambda a: a == a,
                          star=lambda a: np.where(a > 5, np.nan, np.where(a > 0, inf, 0)))
    assert sr.closure(np.array([[3.0]]), partial).tolist() == [[inf]]
    with pytest.raises(sr.NoClosureError, match="vertex 0"):
        sr.closure(np.array([[6.0]]), partial)
    none = sr.Semiring("none", add=np.maximum, mul=np.add, zero=-inf, one=0, star=lambda a: np.where(a > 0, np.nan, 0))
    for T in (none, sr.max_plus, sr.lexicographic(sr.max_plus, sr.min_plus)):
        assert T.may_diverge and T.completed is None
    for T in (none, sr.max_plus):
        with pytest.raises(sr.NoClosureError, match="is improving"):
            sr.closure(np.array([[1.0]]), T)


def test_rounding_is_no_improvement_where_a_star_is_declared() -> None:
    """0.1 + 0.2 − 0.3 is no better than 0 but for rounding."""
    A = np.array([[-inf, 0.1, -inf], [-inf, -inf, 0.2], [-0.3, -inf, -inf]])
    np.testing.assert_allclose(sr.closure(A, max_plus()), sr.closure(A, sr.max_plus), rtol=1e-15)


def test_best_paths_of_all_pairs_and_places_say_where_the_sums_are() -> None:
    A = np.array([[-inf, 1.0], [2.0, -inf]])
    for ask in (lambda: sr.paths(A, max_plus()), lambda: sr.paths(A, max_plus(), sources=[0]),
                lambda: sr.nearest(A, max_plus(), [0]), lambda: sr.closure_rows(A, max_plus(), 0, predecessors=True)):
        with pytest.raises(sr.NoClosureError, match=r"sr\.closure\(A, S\) sums it by the declared star") as e:
            ask()
        assert "sr.path(A, S, source, target)" in str(e.value)
    ring = np.array([[-inf, 1.0], [0.25, -inf]])
    for verb in (sr.paths, lambda A, S: sr.nearest(A, S, [0]),
                 lambda A, S: sr.closure_rows(A, S, 0, predecessors=True)):
        with pytest.raises(sr.LawError, match=r"best walks go round a cycle .* ask sr\.path"):
            verb(ring, capped())
    with pytest.raises(sr.LawError, match="squaring needs"):
        sr.closure(A, max_plus(), method="squaring", check=False)


def test_factors_and_copies_know_the_algebra_that_was_declared() -> None:
    S, A = max_plus(), np.array([[-inf, 1.0], [2.0, -inf]])
    F = sr.factor(A, S)
    assert F.semiring is S and F.solve(A[0]).tolist() == [inf] * 2
    G = sr.adjacency([("a", "b", 1.0), ("b", "a", 2.0)], S)
    assert sr.closure(G, S).semiring is S and (sr.closure(G, S) @ G).semiring is S
    again = pickle.loads(pickle.dumps(S.completed))
    assert again is S.completed and again.declared is S
