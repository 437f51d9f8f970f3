"""Sums of products of arrays with named axes: as explicit loops over all axes, for every algebra."""

from __future__ import annotations

import contextlib
import itertools
import re
from functools import reduce
from typing import Any

import families
import numpy as np
import oracle
import pytest
import strategies
from bridge import ours, to_library
from generated import Generated
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from networks import by_nests

import semiring as sr
from semiring.kernels.cpu.dense.lanes import fits
from semiring.kernels.facts import Facts
from semiring.solvers.forms import plain_form

inf = np.inf
few = settings(max_examples=12, suppress_health_check=list(HealthCheck))
FAMILIES = families.families()
ODD = ("relations on two points", "triangular matrices over plus-times", "min-plus, x + 100", "viterbi, 3 − 2 x",
       "semiring 17 of 4 elements", "tuples (1, 1) in order, as it is, as it is, f8 f8", "field of 9")


@st.composite
def expressions(draw: st.DrawFn, operands: int = 5, axes: int = 6, size: int = 3) -> tuple[list[str], str, dict]:
    """The axes of some operands and of the answer, and the size of each axis."""
    letters = "abcdef"[: draw(st.integers(1, axes))]
    sizes = {a: draw(st.integers(1, size)) for a in letters}
    if draw(st.integers(0, 7)) == 0:
        sizes[draw(st.sampled_from(letters))] = 0
    terms = draw(st.lists(st.text(letters, max_size=3), min_size=1, max_size=operands))
    known = sorted(set("".join(terms)))
    output = draw(st.permutations(known))[: draw(st.integers(0, min(3, len(known))))]
    return terms, "".join(output), sizes


@st.composite
def connected(draw: st.DrawFn, operands: int = 5, axes: int = 6, size: int = 3) -> tuple[list[str], str, dict]:
    """The same, where no axis is summed in one operand alone, and at least three have axes."""
    terms, output, sizes = draw(expressions(operands, axes, size))
    terms = [term or "a" for term in terms] + ["a"] * (3 - len(terms))
    sizes.setdefault("a", 2)
    for axis in sorted(set("".join(terms)) - set(output)):
        if sum(axis in term for term in terms) == 1:
            k = draw(st.sampled_from([k for k, term in enumerate(terms) if axis not in term]))
            terms[k] += axis
    return terms, output, sizes


def points(letters: list[str], sizes: dict[str, int]) -> Any:
    """All places of some axes."""
    for place in itertools.product(*(range(sizes[a]) for a in letters)):
        yield dict(zip(letters, place, strict=True))


def at(element: Any, term: str, place: dict[str, int]) -> Any:
    for a in term:
        element = element[place[a]]
    return element


def by_loops(
    algebra: oracle.Algebra, terms: list[str], output: str, sizes: dict[str, int], given: list[Any]
) -> dict[tuple[int, ...], Any]:
    """The answer by its definition: all terms of an entry, one after the other."""
    summed = sorted(set("".join(terms)) - set(output))
    answer = {}
    for free in points(list(output), sizes):
        total = algebra.zero
        for place in points(summed, sizes):
            factors = [at(A, term, free | place) for term, A in zip(terms, given, strict=True)]
            total = algebra.plus(total, reduce(algebra.times, factors))
        answer[tuple(free.values())] = total
    return answer


def wide(algebra: oracle.Algebra) -> list[np.dtype]:
    """The dtypes in which products of five factors have room."""
    return [d for d in strategies.dtypes(algebra) if d.names or d.kind in "bO" or d.itemsize >= 4]


def array(data: st.DataObject, algebra: oracle.Algebra, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    count = int(np.prod(shape))
    some = strategies.elements(algebra, dtype, limits=False)
    values = data.draw(st.lists(st.just(algebra.zero) | some, min_size=count, max_size=count))
    flat = to_library(algebra, oracle.to_numpy(algebra, [values], dtype, (1, count)))
    return flat.reshape(shape)


def compare(algebra: oracle.Algebra, wanted: dict[tuple[int, ...], Any], got: Any) -> None:
    found = np.empty((), object) if algebra.objects else np.asarray(got)
    if algebra.objects and isinstance(got, np.ndarray):
        found = got
    elif algebra.objects:
        found[()] = got
    oracle.assert_same(algebra, [[*wanted.values()]] if wanted else [[]], found.reshape(1, -1))


ALGEBRAS = [pytest.param(a, id=a.name) for a in oracle.ALGEBRAS.values()]


@pytest.mark.parametrize("given_algebra", ALGEBRAS)
def test_an_einsum_is_what_its_loops_give(given_algebra: oracle.Algebra) -> None:
    compare_with_loops(given_algebra, few, expressions)


@pytest.mark.slow
@pytest.mark.parametrize("given_algebra", ALGEBRAS)
def test_nests_give_what_loops_give(given_algebra: oracle.Algebra) -> None:
    S = ours(given_algebra)
    fitting = [dtype for dtype in wide(given_algebra) if fits(plain_form(S, dtype, Facts(), 3))]
    with by_nests() as answers:
        compare_with_loops(given_algebra, few, connected)
        for dtype in fitting:  # few examples may all be too simple for nests
            one = S.eye(2, dtype)
            assert np.array_equal(sr.einsum("ab,bc,cd->ad", one, one, one, S=S), one)
    assert any(answers) or not S.commutative or not fitting


def compare_with_loops(given_algebra: oracle.Algebra, few: Any, drawn: Any) -> None:
    algebra = given_algebra
    S = ours(algebra)
    small = 2 if algebra.base in ("regex", "why", "pareto") else 3
    operands = 3 if algebra.base == "regex" else 5

    @few
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        terms, output, sizes = data.draw(drawn(operands, 3 if small == 2 else 6, small))
        dtype = data.draw(st.sampled_from(wide(given_algebra)))
        algebra = oracle.for_dtype(given_algebra, dtype)
        arrays = [array(data, algebra, dtype, tuple(sizes[a] for a in term)) for term in terms]
        kept = [A.copy() for A in arrays]
        text = f"{','.join(terms)}->{output}"
        lists = [oracle.from_numpy(algebra, A) for A in arrays]
        wanted = by_loops(algebra, terms, output, sizes, lists)
        got = sr.einsum(text, *arrays, S=S)
        compare(algebra, wanted, got)
        assert all(A.tobytes() == B.tobytes() for A, B in zip(arrays, kept, strict=True)) or dtype.kind == "O"
        assert not any(isinstance(got, np.ndarray) and np.shares_memory(got, A) for A in arrays)
        if algebra.selective and not algebra.ulps:
            value, places = sr.einsum(text, *arrays, S=S, argmax=True)
            compare(algebra, wanted, value)
            assert set(places) == set("".join(terms)) - set(output)
            for free, total in wanted.items():
                place = dict(zip(output, free, strict=True)) | {a: int(np.asarray(w)[free]) for a, w in places.items()}
                if total == algebra.zero:
                    assert all(place[a] == -1 for a in places)
                    continue
                factors = [at(A, term, place) for term, A in zip(terms, lists, strict=True)]
                assert reduce(algebra.times, factors) == total

    check()


def spread(x: np.ndarray, term: str, letters: list[str], sizes: dict[str, int]) -> np.ndarray:
    """An operand with all axes, in the order of the letters."""
    for k in reversed(range(len(term))):
        if term[k] in term[:k]:
            first = term.index(term[k])
            x = np.moveaxis(np.diagonal(x, 0, first, k), -1, first)
            term = term[:k] + term[k + 1 :]
    x = x.transpose([term.index(a) for a in letters if a in term])
    x = x[tuple(slice(None) if a in term else None for a in letters)]
    return np.broadcast_to(x, [sizes[a] for a in letters])


@pytest.mark.parametrize("name", ODD)
def test_generated_algebras_sum_in_the_same_way(name: str) -> None:
    g: Generated = FAMILIES[name]
    S = g.declare(sr)
    dtype = g.record_dtypes[0] if g.record_dtypes else np.dtype("i8" if g.base.dtype.kind == "i" else "f8")
    if not g.record_dtypes and S.kinds[0] == "u":
        dtype = np.dtype("u4")

    @few
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        terms, output, sizes = data.draw(expressions(5, 5))
        rng = np.random.default_rng(data.draw(st.integers(0, 999)))
        arrays = []
        for term in terms:
            shape = tuple(sizes[a] for a in term)
            arrays.append(g.draw(rng, 1, max(int(np.prod(shape)), 1), dtype, 1)[0, : int(np.prod(shape)), 0]
                          .reshape(shape))
        summed = sorted(set("".join(terms)) - set(output))
        letters = [*output, *summed]
        base = g.base
        parts = [spread(g.from_data(A), t, letters, sizes) for A, t in zip(arrays, terms, strict=True)]
        terms_each = int(np.prod([sizes[a] for a in summed]))
        product = reduce(base.times, parts).reshape(*(sizes[a] for a in output), terms_each)
        total = base.full(product.shape[:-1], base.zero)
        for k in range(product.shape[-1]):
            total = base.plus(total, product[..., k])
        text = f"{','.join(terms)}->{output}"
        got = np.asarray(sr.einsum(text, *arrays, S=S))
        scale = max([float(np.max(g.scale(A.reshape(1, -1)))) for A in arrays if A.size and not dtype.names] or [1.0])
        wide = np.full((1, 1), scale ** len(arrays)) if not dtype.names else g.scale(got.reshape(1, -1))
        assert not g.differs(total.reshape(1, -1), got.reshape(1, -1), wide).any()

    check()


def test_an_axis_may_have_any_name_and_there_may_be_more_than_letters() -> None:
    A = np.arange(6.0).reshape(2, 3)
    wanted = sr.matmul(A, A.T, sr.max_plus)
    for got in (
        sr.einsum("ik,jk->ij", A, A, S=sr.max_plus),
        sr.einsum("row time, column time -> row column", A, A, S="max-plus"),
        sr.einsum(A, [0, 9], A, [5, 9], [0, 5], S=sr.max_plus),
        sr.einsum(A, ("a", 1), A, ("b", 1), S=sr.max_plus, optimize=False),
    ):
        assert np.array_equal(got, wanted)
    chain = ", ".join(f"x{i} x{i + 1}" for i in range(120))
    square = np.array([[0.0, 1.0], [2.0, 5.0]])
    got = sr.einsum(f"{chain} -> x0 x120", *[square] * 120, S=sr.min_plus)
    assert np.array_equal(got, sr.power(square, sr.min_plus, 120))


@pytest.mark.parametrize("text", ["ij,jk->ik", "ij,jk,kl->li", "ij->j", "ii->i", "ij->ji", "ij->"])
@pytest.mark.parametrize("order", "<>")
def test_an_answer_is_written_to_an_array(text: str, order: str) -> None:
    A = np.arange(9.0).reshape(3, 3)
    given = [A] * (text.count(",") + 1)
    wanted = np.asarray(sr.einsum(text, *given, S=sr.min_plus))
    out = np.full((2, *wanted.shape), np.nan, order + "f8")[1, ...]
    assert sr.einsum(text, *given, S=sr.min_plus, out=out) is out
    assert np.array_equal(out, wanted)
    if wanted.shape == A.shape:
        assert sr.einsum(text, *given, S=sr.min_plus, out=A) is A
        assert np.array_equal(A, wanted)
    for wrong in (np.empty((4, *wanted.shape)), wanted.astype("f4"), np.ma.array(wanted), wanted.tolist()):
        with pytest.raises(sr.SemiringError, match="out must be a writable, unmasked float64 array of shape"):
            sr.einsum(text, *given, S=sr.min_plus, out=wrong)
    with pytest.raises(sr.SemiringError, match="leave out out"):
        sr.einsum(text, *given, S=sr.min_plus, out=out, argmax=True)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_is_no_element_is_refused_wherever_it_is(data: st.DataObject) -> None:
    terms, output, sizes = data.draw(expressions(4, 4))
    arrays = [np.ones(tuple(sizes[a] for a in term)) for term in terms]
    some = [k for k, A in enumerate(arrays) if A.size]
    if some:
        k = data.draw(st.sampled_from(some))
        at = tuple(data.draw(st.integers(0, length - 1)) for length in arrays[k].shape)
        arrays[k][at] = np.nan
        place = f"operand {k}[{', '.join(map(str, at or (0,)))}] is NaN"
        with pytest.raises(sr.SemiringError, match=re.escape(place)):
            sr.einsum(f"{','.join(terms)}->{output}", *arrays, S=sr.min_plus)


def test_entries_beside_a_diagonal_are_looked_at() -> None:
    A, one = np.ones((3, 3)), np.ones(())
    wrong = np.array([[1.0, np.nan, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    for nests in (contextlib.nullcontext(), by_nests()):
        with nests:
            for text, k, *given in (("aa->", 0, wrong), (",,aa->", 2, one, one, wrong), ("ab,bc,cc->a", 2, A, A, wrong),
                                    ("aa,ab->b", 0, wrong, A), ("ab,bc,cd,aa->d", 3, A, A, A, wrong)):
                with pytest.raises(sr.SemiringError, match=rf"operand {k}\[0, 1\] is NaN"):
                    sr.einsum(text, *given, S=sr.min_plus)


def test_operands_are_examined_once() -> None:
    """A step that looks at what it reads is enough; a product by element looks at its answer only."""
    A, v = np.ones((9, 4, 4)), np.ones(9)
    for text, arrays, unseen in (
        ("bij,bjk->bki", [A, A], ()), ("bij,bjk,bkl->bil", [A, A, A], ()), ("bij->b", [A], ()), ("bij->jib", [A], (0,)),
        ("b,bij->bij", [v, A], (0, 1)), ("b,bij->b", [v, A], (0,)), ("bii,b->", [A, v], (0,)),
        (",b,b->", [v[0], v, v], (0,)),
    ):
        steps = sr.plan("einsum", text, *arrays, S=sr.min_plus).steps
        assert steps.unseen == unseen, text


def test_entries_are_not_checked_if_the_caller_says_so() -> None:
    A = np.array([[1.0, np.nan]])
    assert np.isnan(sr.einsum("ij,k->ijk", A, A[0], S=sr.min_plus, check=False)).sum() == 3
    with pytest.raises(sr.SemiringError, match=r"operand 0\[0, 1\] is NaN"):
        sr.einsum("ij,k->ijk", A, A[0], S=sr.min_plus)
    with pytest.raises(sr.SemiringError, match="check must be True or False"):
        sr.einsum("ij->i", A, S=sr.min_plus, check="no")
