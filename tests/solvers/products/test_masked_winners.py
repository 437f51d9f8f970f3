"""The winning terms of wanted entries of a product, against those of the whole product."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from bridge import same_bits
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.solvers.products import masked_winners

INF = np.inf
UNEVEN = sr.Semiring("uneven", add=np.minimum, mul=lambda a, b: a + 2 * b, zero=INF, product_only=True)
ALGEBRAS: list[tuple[sr.Semiring, str, list[Any]]] = [
    (sr.min_plus, "f8", [INF, INF, -INF, 0.0, -0.0, 1.5, 2.0]), (sr.min_plus, "i4", [0, 1, 2, 2**31 - 1]),
    (sr.max_min, "f4", [-INF, 1.0, 2.0, 3.0]), (sr.max_times, "f8", [0.0, 0.0, 0.5, 1.0]),
    (sr.shortest_hops, "f8", [INF, INF, 1.0, 2.0]), (UNEVEN, "f8", [INF, INF, 0.0, 1.0, 3.0]),
]


@pytest.mark.parametrize("S", [sr.min_plus, sr.max_min], ids=lambda S: S.name)
@pytest.mark.parametrize("sparse", [False, True])
def test_winners_are_those_of_the_whole_product(S: sr.Semiring, sparse: bool) -> None:
    rng = np.random.default_rng(5)
    zero = S.zero_in(np.dtype("f8"))
    A, B = (np.where(rng.random(shape) < 0.5, rng.integers(1, 4, shape), zero) for shape in ((7, 9), (9, 6)))
    M = rng.random((7, 6)) < 0.4
    whole, terms = sr.matmul(A, B, S, argmax=True)
    values, which = sr.matmul(A, B, S, mask=sp.csr_array(M) if sparse else M, argmax=True)
    if sparse:
        found = [sp.coo_array(x) for x in (values, which)]
        stored = M & (terms >= 0)
        for x, expected in zip(found, (whole, terms), strict=True):
            assert sorted(zip(*x.coords, strict=True)) == sorted(zip(*stored.nonzero(), strict=True))
            assert np.array_equal(x.data, expected[x.coords])
    else:
        assert np.array_equal(values[M], whole[M]) and (values[~M] == zero).all()
        assert np.array_equal(which[M], terms[M]) and (which[~M] == -1).all()


def stored(array: np.ndarray, S: sr.Semiring) -> sp.csr_array:
    """The entries of an array other than zero."""
    rows, columns = np.nonzero(array != S.zero_in(array.dtype))
    return sp.csr_array((array[rows, columns], (rows, columns)), shape=array.shape)


@pytest.mark.parametrize(("S", "dtype", "elements"), ALGEBRAS, ids=lambda x: getattr(x, "name", None))
def test_compiled_code_finds_what_numpy_finds(
    S: sr.Semiring, dtype: str, elements: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    @settings(max_examples=60)
    @given(st.integers(0, 999), st.tuples(st.booleans(), st.booleans()), st.booleans(), st.booleans())
    def check(seed: int, sparse: tuple[bool, bool], sparse_mask: bool, complement: bool) -> None:
        random = np.random.default_rng(seed)
        m, k, n = random.integers(0, 40, 3)
        lead = () if any(sparse) or sparse_mask or random.random() < 0.5 else (2,)
        A, B = (random.choice(np.array(elements, dtype), (*lead, *shape)) for shape in ((m, k), (k, n)))
        mask: Any = random.random((m, n)) < random.choice([0.05, 0.4])
        if not S.is_record:  # SciPy holds none
            A, B = (stored(X, S) if by_entries else X for X, by_entries in zip((A, B), sparse, strict=True))
            mask = sp.csr_array(mask) if sparse_mask else mask
        found = []
        for compiles in ("always", "never"):
            monkeypatch.setenv("SEMIRING_COMPILE", compiles)
            monkeypatch.setattr(masked_winners, "_is_compiled", (
                lambda low, there=compiles == "always": there and low.compiled and low.kind == "numba"))
            answers = sr.matmul(A, B, S, mask=mask, complement=complement, argmax=True)
            found.append([(x.indptr, x.indices, x.data) if sp.issparse(x) else (x,) for x in answers])
        for compiled, plain in zip(*found, strict=True):
            assert all(map(same_bits, compiled, plain))

    check()
