"""Einsums of arrays on a GPU: those of the host, for random expressions, every kind of algebra and dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu.device import on_device
from gpu.test_convolve import CASES, elements
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr

cupy = pytest.importorskip("cupy")
inf = np.inf


@st.composite
def expressions(draw: st.DrawFn) -> tuple[str, list[tuple[int, ...]]]:
    """An expression and the shapes of its operands."""
    letters = "abcdef"[: draw(st.integers(1, 6))]
    sizes = {a: draw(st.sampled_from([1, 2, 3, 5])) for a in letters}
    if draw(st.integers(0, 9)) == 0:
        sizes[draw(st.sampled_from(letters))] = 0
    terms = draw(st.lists(st.text(letters, max_size=3), min_size=1, max_size=4))
    known = sorted(set("".join(terms)))
    output = draw(st.permutations(known))[: draw(st.integers(0, min(3, len(known))))]
    return f"{','.join(terms)}->{''.join(output)}", [tuple(sizes[a] for a in term) for term in terms]


def same(S: sr.Semiring, found: Any, wanted: Any) -> None:
    wanted = np.asarray(wanted)
    assert isinstance(found, cupy.ndarray) and found.shape == wanted.shape
    found = found.get()
    if S is sr.log:
        eps = np.finfo(found.dtype).eps
        np.testing.assert_allclose(found, wanted, rtol=64 * eps, atol=512 * eps)
    elif wanted.dtype.names:
        for field in wanted.dtype.names:
            np.testing.assert_array_equal(found[field], wanted[field])
    else:
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


def check(S: sr.Semiring, text: str, *arrays: np.ndarray, **options: Any) -> None:
    same(S, sr.einsum(text, *map(on_device, arrays), S=S, **options), sr.einsum(text, *arrays, S=S, **options))


SUMMED = [case for case in CASES if case[1] not in ("i1", "u1", "f2")]  # whose terms of four factors have room


@pytest.mark.parametrize(("S", "dtype"), SUMMED, ids=lambda x: getattr(x, "name", x))
def test_random_expressions(S: sr.Semiring, dtype: str | None) -> None:
    @settings(max_examples=25, deadline=None)
    @given(expression=expressions(), checked=st.booleans())
    def compare(expression: tuple[str, list[tuple[int, ...]]], checked: bool) -> None:
        text, shapes = expression
        arrays = [elements(S, dtype, shape, k) for k, shape in enumerate(shapes)]
        check(S, text, *arrays, check=checked)

    compare()


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
def test_winners_are_the_terms(dtype: str) -> None:
    """The places of an axis tell a term that is the answer, which need not be the host's if several are."""

    @settings(max_examples=40, deadline=None)
    @given(expression=expressions())
    def compare(expression: tuple[str, list[tuple[int, ...]]]) -> None:
        text, shapes = expression
        arrays = [elements(sr.min_plus, dtype, shape, k) for k, shape in enumerate(shapes)]
        value, places = sr.einsum(text, *map(cupy.asarray, arrays), S=sr.min_plus, argmax=True)
        wanted, known = sr.einsum(text, *arrays, S=sr.min_plus, argmax=True)
        same(sr.min_plus, value, wanted)
        assert places.keys() == known.keys()
        terms, output = text.split("->")
        zero = sr.min_plus.zero_in(np.dtype(dtype))
        for at, total in np.ndenumerate(np.asarray(wanted)):
            chosen = {a: int(places[a].get()[at]) for a in places} | dict(zip(output, at, strict=True))
            if total == zero:
                assert all(chosen[a] == -1 for a in places)
                continue
            factors = zip(terms.split(","), arrays, strict=True)
            assert sum(float(A[tuple(chosen[a] for a in term)]) for term, A in factors) == total

    compare()


def test_larger_arrays() -> None:
    rng = np.random.default_rng(0)
    kinds = (sr.min_plus, "f4"), (sr.max_min, "f4"), (sr.plus_times, "f8"), (sr.log, "f4"), (sr.counting, "i8")
    for S, dtype in kinds:
        A, B, C = (rng.integers(0, 9, shape).astype(dtype) for shape in ((60, 40, 50), (50, 30, 40), (30, 60)))
        for text, arrays in (
            ("ijk,klj->il", (A, B)), ("ijk,klj,li->i", (A, B, C)), ("ijk->kj", (A,)), ("ijk->", (A,)),
            ("ijk,li->ijkl", (A[:20, :10], C[:, :20])), ("ij,ij->ij", (C, C)), ("ij,j->ij", (C, C[0])),
            ("ijk,klj->ilkj", (A[:9], B)),
        ):
            check(S, text, *arrays)


def test_strides_diagonals_names_and_numbers() -> None:
    A, v = elements(sr.min_plus, "f4", (6, 6, 6), 0), elements(sr.min_plus, "f4", (6,), 1)
    check(sr.min_plus, "iij->j", A)
    check(sr.min_plus, "iii->i", A)
    check(sr.min_plus, "kji->ijk", A)
    check(sr.min_plus, "...j,j->...", A[:, ::2], v)
    check(sr.min_plus, "row column depth, depth -> row", A[::-1, :, ::-1], v)
    found = sr.einsum("ijk,k,->ij", cupy.asarray(A), cupy.asarray(v), 2.0, S=sr.min_plus)
    same(sr.min_plus, found, sr.einsum("ijk,k,->ij", A, v, 2.0, S=sr.min_plus))
    found = sr.einsum(cupy.asarray(A), [0, 1, 2], cupy.asarray(v), [2], [1, 0], S=sr.min_plus)
    same(sr.min_plus, found, sr.einsum(A, [0, 1, 2], v, [2], [1, 0], S=sr.min_plus))


def test_operands_of_the_host_move_to_the_gpu() -> None:
    A, v = elements(sr.min_plus, "f4", (6, 7), 0), elements(sr.min_plus, "f4", (7,), 1)
    for text in ("ij,j->i", "ij,j->ij"):
        for x, y in ((cupy.asarray(A), v), (A, cupy.asarray(v))):
            same(sr.min_plus, sr.einsum(text, x, y, S=sr.min_plus), sr.einsum(text, A, v, S=sr.min_plus))
    named = sr.Matrix(A.astype("f8")[:6, :6], sr.min_plus, names=list("uvwxyz"))
    other = cupy.asarray(A.astype("f8")[:6, :6])
    same(sr.min_plus, sr.einsum("ij,jk->ik", named, other), sr.einsum("ij,jk->ik", named, other.get()))
    found = sr.einsum("ij,ij->ij", named, other)
    assert isinstance(found, sr.Matrix) and list(found.names) == list("uvwxyz")
    assert (found.to_numpy() == sr.einsum("ij,ij->ij", named, other.get()).to_numpy()).all()


def test_the_answer_is_its_own_and_may_be_written_to_an_array() -> None:
    A, B = cupy.asarray(elements(sr.min_plus, "f4", (8, 8), 0)), cupy.asarray(elements(sr.min_plus, "f4", (8, 8), 1))
    for text, operands in (("ij->ji", (A,)), ("ij,kj->ki", (A, B)), ("ij,ij->j", (A, B)), ("ii->i", (A,))):
        wanted = sr.einsum(text, *(X.get() for X in operands), S=sr.min_plus)
        strided = cupy.empty((*wanted.shape, 2), "f4")[..., 0]
        for out in (cupy.empty(wanted.shape, "f4"), np.empty(wanted.shape, "f4"), strided):
            assert sr.einsum(text, *operands, S=sr.min_plus, out=out) is out
            assert (cupy.asnumpy(out) == wanted).all()
        kept = [X.copy() for X in operands]
        sr.einsum(text, *operands, S=sr.min_plus)[...] = 0
        assert all((X == Y).all() for X, Y in zip(operands, kept, strict=True))


def test_what_is_refused() -> None:
    A, bad = cupy.ones((3, 3)), cupy.full((3, 3), np.nan)
    for text in ("ij,jk->ik", "ij,jk,kl->il", "ij,ij->ij", "ij,kl->ijkl"):
        operands = [A, bad, A][: text.count(",") + 1]
        with pytest.raises(sr.SemiringError, match=r"operand 1\[0, 0\] is NaN"):
            sr.einsum(text, *operands, S=sr.min_plus)
    with pytest.raises(sr.SemiringError, match=r"operand 0\[0, 0\] is NaN"):
        sr.einsum("ij->i", bad, S=sr.min_plus)
    with pytest.raises(sr.SemiringError, match="out must be"):
        sr.einsum("ij->i", A, S=sr.min_plus, out=cupy.ones(4))
    with pytest.raises(sr.SemiringError, match="out must be"):
        sr.einsum("ij->i", A.get(), S=sr.min_plus, out=cupy.ones(3))
    with pytest.raises(sr.SemiringError, match="convert one"):
        sr.einsum("ij,jk,kl->il", A, A.astype("f4"), A, S=sr.min_plus)
    large = cupy.full((3, 3), 100, "i1")
    with pytest.raises(sr.SemiringError, match="int8"):
        sr.einsum("ij,jk,kl->il", large, large, large, S=sr.min_plus)


def test_the_plan_names_the_gpu() -> None:
    A = cupy.ones((9, 9))
    plan = sr.plan("einsum", "ij,jk,kl->il", A, A, A, S=sr.min_plus)
    assert "3" in str(plan) and plan.device == cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    assert (plan.run().get() == 3).all()


@pytest.mark.parametrize("text", ["ij,jk->ik", "ij->i", "ij->j", "ij,jk->i", "ij,jk,kl->il", "ij,j->", "ij,kj->ki"])
def test_winners_of_records(text: str) -> None:
    """Of equal terms the first one, as on the CPU."""
    S, lengths = sr.shortest_hops, {"i": 33, "j": 50, "k": 41, "l": 20}
    shapes = [tuple(lengths[a] for a in axes) for axes in text.split("->")[0].split(",")]
    arrays = [elements(S, None, shape, k) for k, shape in enumerate(shapes)]
    value, places = sr.einsum(text, *map(on_device, arrays), S=S, argmax=True)
    wanted, known = sr.einsum(text, *arrays, S=S, argmax=True)
    same(S, value, wanted)
    assert places.keys() == known.keys()
    for axis, which in known.items():
        np.testing.assert_array_equal(cupy.asnumpy(places[axis]), which)
