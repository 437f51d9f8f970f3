"""Products under a mask over every generated algebra: the whole product, of which the wanted entries are kept."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import bases
import entries
import numpy as np
import pytest
import scipy.sparse as sp
from asking import extremes
from bases import Array
from engines import by_both
from entries import ALL, ONE_WAY, drawn, dtypes, judge, laid_out, lives_in, made
from generated import Generated
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.solvers.products import masked
from semiring.solvers.products.masked import DOTS, ROWS, SELECT

REAL = masked._seconds
MASKS = {
    "array": lambda M: M, "Fortran order": np.asfortranarray, "reversed": lambda M: M[::-1, ::-1].copy()[::-1, ::-1],
    "packed": sr.pack, "csr": sp.csr_array, "csc": sp.csc_array, "nested lists": lambda M: M.tolist() if len(M) else M,
    "coo, entries twice": lambda M: sp.coo_array((np.zeros(2 * M.sum()), np.tile(np.nonzero(M), 2)), M.shape),
    "Matrix": lambda M: sr.Matrix(M, sr.boolean, range(len(M)), columns=range(M.shape[1])),
    "sparse Matrix": lambda M: MASKS["Matrix"](M).hold("sparse"),
    "packed Matrix": lambda M: MASKS["Matrix"](M).hold("packed"),
    "edges": lambda M: sr.as_graph(np.nonzero(M), len(M)) if len(M) == M.shape[1] else M,
}
STACKS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((2,), (2,)), ((3,), ()), ((), (2,)), ((2, 1), (3,)), ((0,), (1,)), ((1, 2), (2, 1)))
# Numbers that are added up, also as integers.
SUMS = [f"{name}, as it is" for name in ("min-plus ≥ 0", "min-plus", "min-plus with −∞", "max-plus")]
SIZES = st.integers(0, 6) | st.integers(0, 33)
few = settings(max_examples=100, suppress_health_check=list(HealthCheck))


def only(way: str) -> Any:
    """Predicted times by which products take one way, if they can."""

    def found(*given: Any) -> dict[str, float]:
        seconds = REAL(*given)
        return {way: seconds[way]} if way in seconds else seconds

    return found


def held(g: Generated, S: Any, X: Array, holder: str) -> Any:
    """A factor as an array, as SciPy's compressed rows or as a Matrix."""
    if holder == "array":
        return X
    if holder == "csr":
        kept = ~np.asarray(g.is_constant(X, g.zero))
        return sp.csr_array((X[kept], np.nonzero(kept)), X.shape)
    return sr.Matrix(X, S, range(len(X)), columns=range(X.shape[1])).hold("sparse")


def dense(g: Generated, C: Any) -> Array:
    """What an answer stands for; a sparse one stores no zero."""
    if isinstance(C, sr.Matrix):
        return np.asarray(C.hold("dense").array)
    if not sp.issparse(C):
        return np.asarray(C)
    assert C.format == "csr" and C.has_canonical_format and not g.is_constant(C.data, g.zero).any()
    stored, result = C.tocoo(), entries.zeros(g, C.shape, C.dtype)
    result[stored.row, stored.col] = stored.data
    return result


def asked(g: Generated, *given: Any, **options: Any) -> Array:
    """A product, as an array."""
    return dense(g, sr.matmul(*given, **options))


def holders(S: Any, dtype: np.dtype) -> list[str]:
    """How matrices of these elements may be held."""
    if not S.absorbs:
        return ["array"]
    scipy_has = dtype.kind not in "OV" and dtype != np.float16
    return ["array", "csr", "sparse Matrix"] if scipy_has else ["array", "sparse Matrix"]


def compare(name: str, dtype: np.dtype, m: int, k: int, n: int, seed: int, way: str | None) -> int:
    """Ask for the product of matrices of any make under a mask of any make, and return the number of answers."""
    g, S = made(name)
    rng, base = np.random.default_rng(seed), g.base
    A, B, C = (drawn(g, rng, shape, dtype) for shape in ((m, k), (k, n), (m, n)))
    M = rng.random((m, n)) < rng.choice([0, 0.03, 0.3, 0.7, 1])
    complement, mask = bool(rng.integers(2)), str(rng.choice(sorted(MASKS)))
    with np.errstate(all="ignore"):
        a, b, c = map(g.from_data, (A, B, C))
        whole, total = bases.matmul(base, a, b), bases.matmul(base, a, b, c)
        wanted = M ^ complement
        want, sums = whole.copy(), total.copy()
        want[~wanted], sums[~wanted] = base.full((1,), base.zero)[0], c[~wanted]
    answers = 0
    with pytest.MonkeyPatch.context() as patch:
        if way is not None:
            patch.setattr(masked, "_seconds", only(way))
        for left, right in product(holders(S, dtype), repeat=2):
            x, y = held(g, S, laid_out(A, rng), left), held(g, S, laid_out(B, rng), right)
            marks = MASKS[mask](M)
            if mask == "edges" and marks is M:
                mask = "array"
            text = (f"{name}, {dtype}, {m} × {k} × {n}, seed {seed}, way {way}: {left} times {right} under a mask, "
                    f"{mask}{', complement' * complement}, A = {A!r}, B = {B!r}, M = {M!r}")
            as_rows = mask in ("csr", "csc", "coo, entries twice", "sparse Matrix", "edges") and not complement
            if as_rows and (dtype.kind in "OV" or dtype == np.float16) and "array" in (left, right):
                with pytest.raises(sr.SemiringError, match="no SciPy"):
                    sr.matmul(x, y, S, mask=marks, complement=complement)
                continue
            ask = partial(asked, g, x, y, S, mask=marks, complement=complement)
            found = judge(g, dtype, (A, B), want, wanted, ask, text)
            answers += found is not None
            if found is not None and S.selective and k:
                winners(g, S, (x, y), marks, complement, found, (a, b, want, entries.scale(g, A, B)), text)
            if left == right == "array" and not as_rows:
                out = np.empty((m, n), dtype)
                ask = partial(sr.matmul, x, y, S, mask=marks, complement=complement, accumulate=C, out=out)
                judge(g, dtype, (A, B, C), sums, np.ones((m, n), bool), ask, f"{text}, onto C = {C!r}")
    return answers


def winners(
    g: Generated, S: Any, factors: tuple[Any, Any], marks: Any, complement: bool, found: Array,
    known: tuple[Array, ...], text: str,
) -> None:
    """The terms that win are the first ones that are the answer, and −1 where that is zero."""
    values, which = sr.matmul(*factors, S, mask=marks, complement=complement, argmax=True)
    values = dense(g, values)
    a, b, want, scale = known
    with np.errstate(all="ignore"):
        wrong = values != found if not g.tolerance else g.differs(want, values, scale)
    assert not wrong.any(), f"{text}: with argmax {values!r}, without {found!r}"
    if isinstance(which, sr.Matrix):
        which = which.hold("dense").array
    if sp.issparse(which):
        stored, numbers = which.tocoo(), np.full(which.shape, -1, np.int32)
        numbers[stored.row, stored.col] = stored.data
        which = numbers
    none = np.asarray(g.is_constant(values, g.zero))
    assert which.dtype == np.int32 and np.array_equal(which == -1, none), f"{text}: {which!r} of {values!r}"
    i, j = np.nonzero(~none)
    k = which[i, j]
    with np.errstate(all="ignore"):
        term = g.base.times(a[i, k], b[k, j])
        assert not g.differs(term[None], values[i, j][None], scale).any(), text
        if not g.tolerance:
            before = g.base.equal(g.base.times(a[i], b.T[j]), want[i, j][:, None])
            assert (before.argmax(1) == k).all(), f"{text}: {which!r} are not the first"


@settings(few, max_examples=80)
@given(name=st.sampled_from(sorted(ALL)) | st.sampled_from(sorted(ONE_WAY)), m=SIZES, k=SIZES, n=SIZES, data=st.data())
def test_products_under_masks_are_selections(name: str, m: int, k: int, n: int, data: st.DataObject) -> None:
    g, S = made(name)
    dtype = data.draw(st.sampled_from(dtypes(g, S)))
    assume(lives_in(g, S, dtype))
    way = data.draw(st.sampled_from([None, DOTS, ROWS, SELECT]))
    compare(name, dtype, m, k, n, data.draw(st.integers(0, 2**32)), way)


@settings(few, max_examples=40)
@given(name=st.sampled_from(SUMS), m=st.integers(1, 4), k=st.integers(1, 4), data=st.data())
def test_integers_have_to_fit_only_where_they_are_wanted(name: str, m: int, k: int, data: st.DataObject) -> None:
    g, S = made(name)
    dtype = data.draw(st.sampled_from([d for d in dtypes(g, S) if d.kind in "iu"]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    A, B = drawn(g, rng, (m, k), dtype), drawn(g, rng, (k, m), dtype)
    for X in (A, B):
        X[rng.random(X.shape) < 0.4] = rng.choice(extremes(g, dtype))
    want = bases.matmul(g.base, g.from_data(A), g.from_data(B))
    fits = g.to_data(want, dtype)[1]
    for wanted in (fits, np.ones((m, m), bool), rng.random((m, m)) < 0.5):
        kept = want.copy()
        kept[~wanted] = g.base.zero
        for left, right in product(("array", "csr"), repeat=2):
            x, y = held(g, S, A, left), held(g, S, B, right)
            for way in (DOTS, ROWS, SELECT):
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(masked, "_seconds", only(way))
                    judge(g, dtype, (A, B), kept, wanted, partial(asked, g, x, y, S, mask=wanted),
                          f"{name}, {dtype}, {way}: {left} A = {A!r}, {right} B = {B!r}, mask = {wanted!r}")


@pytest.mark.slow
@pytest.mark.parametrize("share", range(8))
def test_products_under_masks_are_selections_over_each_algebra_in_each_dtype(share: int) -> None:
    rng, ways = np.random.default_rng(share), (None, DOTS, ROWS, SELECT)
    for name in sorted(ALL)[share::8]:
        g, S = made(name)
        for number, dtype in enumerate(dtypes(g, S)):
            if lives_in(g, S, dtype):
                m, k, n = (int(x) for x in rng.integers(0, 12, 3))
                compare(name, dtype, m, k, n, number, ways[(number + share) % 4])


@pytest.mark.parametrize(("name", "compiling"), by_both([[name] for name in (
    "min-plus ≥ 0, as it is", "relations on two points", "semiring 6 of 4 elements", "viterbi, 3 − 2 x",
    "triangular matrices over plus-times", "maxima of a + 2 b + 1", "plus-times up to ∞, log x", "loose records",
)], 1))
def test_compiled_products_under_masks_are_those_of_numpy(
    name: str, compiling: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", compiling)
    g, S = made(name)
    answers, dtype = 0, dtypes(g, S)[0]
    for seed, way in enumerate((None, DOTS, ROWS, SELECT) * 2):
        m, k, n = (int(x) for x in np.random.default_rng(seed).integers(1, 12, 3))
        answers += compare(name, dtype, m, k, n, seed, way)
        assert compare_shapes(name, dtype, (3, 4, 5), (1, 5, 2), seed, way)
    assert answers > 3


def loosely(base: bases.Base, a: Array, b: Array) -> Array:
    """a ⊗ b as `numpy.matmul` has shapes: of vectors, matrices and stacks that broadcast."""
    wide = (a[None] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)
    shape = np.broadcast_shapes(wide[0].shape[:-2], wide[1].shape[:-2])
    x, y = (np.broadcast_to(z, (*shape, *z.shape[-2:])) for z in wide)
    whole = bases.matmul(base, x, y)
    whole = whole[..., 0, :] if a.ndim == 1 else whole
    return whole[..., 0] if b.ndim == 1 else whole


def compare_shapes(
    name: str, dtype: np.dtype, left: tuple[int, ...], right: tuple[int, ...], seed: int, way: str | None
) -> bool:
    """Ask for a product of vectors or stacks under a mask, its own or one for all."""
    g, S = made(name)
    rng, base = np.random.default_rng(seed), g.base
    A, B = (drawn(g, rng, shape, dtype) for shape in (left, right))
    with np.errstate(all="ignore"):
        a, b = map(g.from_data, (A, B))
        want = np.array(loosely(base, a, b))
    shape, complement = want.shape, bool(rng.integers(2))
    marked = shape[-2:] if len(shape) > 2 and rng.integers(2) else shape
    M = np.asarray(rng.random(marked) < rng.choice([0, 0.05, 0.5, 1]))
    wanted = np.broadcast_to(M ^ complement, shape)
    want[~wanted] = base.full((1,), base.zero)[0]
    text = (f"{name}, {dtype}, {left} times {right}, seed {seed}, way {way}: A = {A!r}, B = {B!r}, M = {M!r}, "
            f"complement = {complement}")
    with pytest.MonkeyPatch.context() as patch:
        if way is not None:
            patch.setattr(masked, "_seconds", only(way))
        ask = partial(sr.matmul, laid_out(A, rng), B, S, mask=laid_out(M, rng), complement=complement)
        found = judge(g, dtype, (A, B), want, wanted, ask, text)
        if found is None or not S.selective:
            return found is not None
        values, which = sr.matmul(A, B, S, mask=M, complement=complement, argmax=True)
        judge(g, dtype, (A, B), want, wanted, lambda: values, f"{text}, argmax")
        values, which = np.asarray(values, dtype), np.asarray(which)
        assert which.dtype == np.int32 and np.array_equal(which == -1, g.is_constant(values, g.zero)), text
        if not g.tolerance:
            rows = a if a.ndim > 1 else a[None]
            columns = b if b.ndim > 1 else b[:, None]
            terms = base.times(rows[..., :, None, :], columns[..., None, :, :].swapaxes(-1, -2))
            terms = terms.reshape(*shape, a.shape[-1])
            first = base.equal(terms, want[..., None])
            assert np.array_equal(np.where(which < 0, -1, first.argmax(-1) if first.shape[-1] else -1), which), text
    return True


@st.composite
def factors(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shapes of which at least one is not that of a matrix."""
    m, k, n = (draw(st.integers(0, 5)) for _ in range(3))
    if draw(st.booleans()):
        x, y = draw(st.sampled_from(STACKS))
        return (*x, m, k), (*y, k, n)
    x = draw(st.sampled_from([(), (3,), (2, 2)]))
    return draw(st.sampled_from([((k,), (*x, k, n)), ((*x, m, k), (k,)), ((k,), (k,))]))


@settings(few, max_examples=120)
@given(name=st.sampled_from(sorted(ALL)) | st.sampled_from(sorted(ONE_WAY)), shapes=factors(), data=st.data())
def test_vectors_and_stacks_under_masks(name: str, shapes: tuple[tuple[int, ...], ...], data: st.DataObject) -> None:
    g, S = made(name)
    dtype, way = data.draw(st.sampled_from(dtypes(g, S))), data.draw(st.sampled_from([None, DOTS, SELECT]))
    assume(lives_in(g, S, dtype))
    compare_shapes(name, dtype, shapes[0], shapes[1], data.draw(st.integers(0, 2**32)), way)
