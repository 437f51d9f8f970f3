"""The oracle is right by its own laws and by brute force, and its comparison catches the errors it is there for."""

from __future__ import annotations

import ast
import itertools
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import oracle
import pytest
import strategies
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import (
    ALGEBRAS,
    Algebra,
    Matrix,
    Undefined,
    adjacency_call,
    assert_same,
    broken_laws,
    check,
    closure_by_elimination,
    closure_by_walks,
    closure_call,
    flags_of,
    for_dtype,
    from_numpy,
    has_improving_cycle,
    inf,
    is_improving,
    k_best,
    matmul,
    matmul_call,
    mod_p,
    saturating_min_plus,
    solve_by_iteration,
    solve_call,
    to_numpy,
    weight_of,
)

quick = settings(
    max_examples=8,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
every_algebra = pytest.mark.parametrize("algebra", ALGEBRAS.values(), ids=str)
every_dtype = pytest.mark.parametrize(
    ("algebra", "dtype"),
    [(for_dtype(algebra, dtype), dtype) for algebra in ALGEBRAS.values() for dtype in strategies.dtypes(algebra)],
    ids=lambda value: "-".join(re.findall(r"\w+\d*", str(value))),
)


# The table.


def test_the_oracle_imports_nothing_but_numpy_and_the_standard_library() -> None:
    tree = ast.parse(Path(str(oracle.__file__)).read_text(encoding="utf-8"))
    imported = {
        str(node.module if isinstance(node, ast.ImportFrom) else alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert imported - {"numpy"} <= set(sys.stdlib_module_names)


def test_every_row_is_there_once() -> None:
    assert [algebra.row for algebra in ALGEBRAS.values()] == list(range(1, 27))
    assert list(ALGEBRAS) == (
        "boolean min_plus max_plus max_min min_max viterbi max_times min_times plus_times counting log gf2 mod_p "
        "lukasiewicz bitset_may bitset_must gcd_lcm saturating_min_plus shortest_count shortest_hops "
        "widest_shortest k_best expectation pareto why regex"
    ).split()
    assert set(strategies.DTYPES) == set(ALGEBRAS)


@every_algebra
def test_laws_and_flags_hold_on_the_samples(algebra: Algebra) -> None:
    assert algebra.zero in algebra.samples and algebra.one in algebra.samples
    assert broken_laws(algebra) == []
    assert flags_of(algebra) == algebra.flags


@pytest.mark.parametrize(
    "algebra",
    [mod_p(2), mod_p(3), mod_p(101), saturating_min_plus(1), saturating_min_plus(255), k_best(1), k_best(4)],
    ids=str,
)
def test_laws_hold_for_other_parameters(algebra: Algebra) -> None:
    assert broken_laws(algebra) == []
    assert flags_of(algebra) == algebra.flags


@every_algebra
def test_star_is_the_sum_of_powers_where_that_is_reached(algebra: Algebra) -> None:
    reached = 0
    for a in algebra.samples:
        powers = closure_by_walks(algebra, [[a]])
        if powers is not None:
            assert algebra.close(algebra.star(a), powers[0][0])
            reached += 1
    assert reached >= 1
    if algebra.bounded:
        assert reached == len(algebra.samples)


def test_star_is_undefined_where_the_table_says_so() -> None:
    for name in ("plus_times", "gf2", "mod_p"):
        undefined = [a for a in ALGEBRAS[name].samples if ALGEBRAS[name].star(a) is None]
        assert undefined == [1]
    assert oracle.expectation.star((1, 5)) is None
    with pytest.raises(Undefined) as caught:
        closure_by_elimination(oracle.plus_times, [[0, 0, 0], [0, 0.5, 0.5], [0, 1, 0]])
    assert caught.value.vertex == 2  # after vertex 1 its pivot is 1 · (1/2)* · (1/2) = 1


def shortest_widest() -> Algebra:
    def plus(a: tuple, b: tuple) -> tuple:
        return max(a, b, key=lambda x: (x[0], -x[1]))

    return Algebra(
        "shortest_widest", 0, (-inf, inf), (inf, 0), plus,
        lambda a, b: (min(a[0], b[0]), oracle.sum_zero_above(a[1], b[1])), lambda a: (inf, 0), "IS-C",
        ((-inf, inf), (inf, 0), (1, 1), (2, 5), (3, 1)),
    )


def plus_min() -> Algebra:
    return Algebra("plus_min", 0, 0, inf, oracle.sum_zero_above, min, lambda a: inf, "---C", (0, inf, 1, 2, 3))


@pytest.mark.parametrize("algebra", [shortest_widest(), plus_min()], ids=str)
def test_the_laws_refuse_the_counter_examples(algebra: Algebra) -> None:
    broken = dict(broken_laws(algebra))
    assert {"left distributive", "right distributive"} <= set(broken)
    a, b, c = broken["left distributive"]
    assert algebra.times(a, algebra.plus(b, c)) != algebra.plus(algebra.times(a, b), algebra.times(a, c))


@every_algebra
def test_the_laws_refuse_a_wrong_zero_one_or_star(algebra: Algebra) -> None:
    zero, one, star = algebra.zero, algebra.one, algebra.star
    assert broken_laws(replace(algebra, zero=one, one=zero))
    wrong = next(a for a in algebra.samples if a not in (zero, one)) if len(algebra.samples) > 2 else one
    assert broken_laws(replace(algebra, zero=wrong))
    # Almost everywhere 0* = 1; answering 0 instead breaks the star law.
    assert broken_laws(replace(algebra, star=lambda a: zero if a == zero else star(a)))


# Closures against one another, the fixpoint equations, and brute force.


@every_algebra
def test_closures_agree_and_solve_their_equation(algebra: Algebra) -> None:
    dtypes = strategies.dtypes(algebra)
    # The shortest integers too, as the numbers next to their ends differ.
    dtype = min(dtypes, key=lambda dtype: dtype.itemsize)
    drawn = strategies.matrices(algebra, dtype, size(algebra)) | strategies.acyclic(algebra, dtype)
    if dtype != dtypes[0]:
        drawn |= strategies.matrices(algebra, dtypes[0], size(algebra)) | strategies.acyclic(algebra, dtypes[0])
    algebra = for_dtype(algebra, dtype)

    @settings(quick, max_examples=25)
    @given(drawn)
    def run(array: np.ndarray) -> None:
        A = from_numpy(algebra, array)
        try:
            closed = closure_by_elimination(algebra, A)
        except Undefined as undefined:
            assert algebra.base in ("gf2", "mod_p")
            assert 0 <= undefined.vertex < len(A)
            return
        for product in (matmul(algebra, A, closed), matmul(algebra, closed, A)):
            equal(algebra, closed, oracle.matadd(algebra, oracle.identity(algebra, len(A)), product))
        walks = closure_by_walks(algebra, A, steps=30)
        if walks is not None:
            equal(algebra, closed, walks)
        if algebra.idempotent:
            assert walks is not None
        if walks is not None and A:
            solution = solve_by_iteration(algebra, A, A, steps=60)
            assert solution is not None
            equal(algebra, matmul(algebra, closed, A), solution)

    run()


def size(algebra: Algebra) -> int:
    """Exact fractions grow quickly; the others may have a few vertices more."""
    return 4 if algebra.cancels else min(6, strategies.most_vertices(algebra))


def equal(algebra: Algebra, A: Matrix, B: Matrix) -> None:
    for row, other in zip(A, B, strict=True):
        for a, b in zip(row, other, strict=True):
            assert algebra.close(a, b), f"{a} and {b}"


def simple_paths(A: Matrix, zero: object, i: int, j: int) -> Iterator[tuple[int, ...]]:
    """All paths from i to j that visit no vertex twice, the empty one included."""
    if i == j:
        yield (i,)
        return
    others = [v for v in range(len(A)) if v not in (i, j)]
    for length in range(len(others) + 1):
        for inner in itertools.permutations(others, length):
            path = (i, *inner, j)
            if all(A[u][v] != zero for u, v in itertools.pairwise(path)):
                yield path


@pytest.mark.parametrize("name", ["min_plus", "max_min", "shortest_count", "viterbi", "widest_shortest", "why"])
def test_closure_is_the_sum_over_simple_paths(name: str) -> None:
    algebra = ALGEBRAS[name]

    @settings(quick, max_examples=25)
    @given(strategies.matrices(algebra, strategies.dtypes(algebra)[0], 4))
    def run(array: np.ndarray) -> None:
        A = from_numpy(algebra, array)
        if name == "shortest_count":
            # Only where cycles have a length do shortest walks visit no vertex twice.
            A = [[(d + 1, c) if d < inf else (d, c) for d, c in row] for row in A]
        closed = closure_by_elimination(algebra, A)
        for i, j in itertools.product(range(4), repeat=2):
            total = algebra.zero
            for path in simple_paths(A, algebra.zero, i, j):
                total = algebra.plus(total, weight_of(algebra, A, path))
            assert closed[i][j] == total

    run()


@pytest.mark.parametrize("name", ["counting", "gf2", "mod_p", "regex", "plus_times", "expectation", "k_best", "log"])
def test_closure_of_an_acyclic_graph_is_the_sum_over_all_paths(name: str) -> None:
    algebra = ALGEBRAS[name]
    n = 3 if algebra.objects else 5

    @settings(quick, max_examples=25)
    @given(strategies.acyclic(algebra, strategies.dtypes(algebra)[-1], n))
    def run(array: np.ndarray) -> None:
        A = from_numpy(algebra, array)
        closed = closure_by_elimination(algebra, A)
        for i, j in itertools.product(range(n), repeat=2):
            total = algebra.zero
            for path in simple_paths(A, algebra.zero, i, j):
                total = algebra.plus(total, weight_of(algebra, A, path))
            assert algebra.close(closed[i][j], total)

    run()


def test_boolean_closure_of_every_graph_with_three_vertices() -> None:
    for bits in itertools.product([False, True], repeat=9):
        A = [list(bits[0:3]), list(bits[3:6]), list(bits[6:9])]
        closed = closure_by_elimination(oracle.boolean, A)
        for i in range(3):
            seen = {i}
            while more := {v for u in seen for v in range(3) if A[u][v]} - seen:
                seen |= more
            assert [j in seen for j in range(3)] == closed[i]


def test_closures_worked_by_hand() -> None:
    assert closure_by_elimination(oracle.min_plus, [[inf, 2], [-1, inf]]) == [[0, 2], [-1, 0]]
    assert closure_by_elimination(oracle.min_plus, [[inf, 2], [-3, inf]]) == [[-inf, -inf], [-inf, -inf]]
    assert closure_by_walks(oracle.min_plus, [[inf, 2], [-3, inf]]) is None
    # An infinitely short edge does not create a path where there is none.
    assert closure_by_elimination(oracle.min_plus, [[inf, -inf], [inf, inf]]) == [[0, -inf], [inf, 0]]
    assert closure_by_elimination(oracle.counting, [[0, 2, 0], [0, 1, 3], [0, 0, 0]]) == [
        [1, inf, inf], [0, inf, inf], [0, 0, 1],
    ]
    half, two_thirds, four_thirds = Fraction(1, 2), Fraction(2, 3), Fraction(4, 3)
    assert closure_by_elimination(oracle.plus_times, [[0, half], [half, 0]]) == [
        [four_thirds, two_thirds], [two_thirds, four_thirds],
    ]
    assert closure_by_elimination(oracle.gf2, [[0, 1], [0, 0]]) == [[1, 1], [0, 1]]
    assert closure_by_elimination(oracle.mod_p(7), [[3]]) == [[3]]  # (1 − 3) · 3 = −6 = 1
    a, b = oracle.language("a"), oracle.language("b")
    none: frozenset[str] = frozenset()
    closed = closure_by_elimination(oracle.regex, [[a, b], [none, none]])
    assert closed == [[oracle.language("a*"), oracle.language("a*b")], [none, oracle.language("ε")]]
    assert closure_by_elimination(oracle.min_plus, []) == []


# Cycles.


def cycles(n: int) -> Iterator[tuple[int, ...]]:
    for length in range(1, n + 1):
        yield from itertools.permutations(range(n), length)


@pytest.mark.parametrize("name", ["min_plus", "max_plus", "max_times", "viterbi", "max_min"])
def test_improving_cycles_against_all_simple_cycles(name: str) -> None:
    algebra = ALGEBRAS[name]
    seen = set()

    @settings(quick, max_examples=200)
    @given(strategies.matrices(algebra, "float64", 4, safe=False))
    def run(array: np.ndarray) -> None:
        A = from_numpy(algebra, array)
        expected = any(is_improving(algebra, A, cycle) for cycle in cycles(4))
        assert has_improving_cycle(algebra, A) == expected
        seen.add(expected)

    run()
    assert seen == ({False} if algebra.bounded else {False, True})


def test_improving_cycles_are_judged_exactly() -> None:
    tiny = 2.0**-60
    assert has_improving_cycle(oracle.min_plus, [[inf, 1 + 2**-40], [-1 - 2**-40 - tiny, -tiny]])
    assert not has_improving_cycle(oracle.min_plus, [[inf, 0.1], [-0.1, 0]])
    assert has_improving_cycle(oracle.min_plus, [[inf, 0.1, inf], [inf, inf, 0.2], [-0.30000000000000004, inf, inf]])
    assert is_improving(oracle.min_plus, [[inf, 1], [-2, inf]], [0, 1])
    assert is_improving(oracle.min_plus, [[inf, 1], [-2, inf]], [0, 1, 0])
    assert not is_improving(oracle.min_plus, [[inf, 1], [inf, inf]], [0, 1])
    with pytest.raises(ValueError, match="selective"):
        has_improving_cycle(oracle.counting, [[1]])


# Arrays.


@every_dtype
def test_what_strategies_draw(algebra: Algebra, dtype: np.dtype) -> None:
    drawn = st.tuples(strategies.matrices(algebra, dtype), strategies.acyclic(algebra, dtype))

    @quick
    @given(drawn, st.data())
    def run(arrays: tuple[np.ndarray, np.ndarray], data: st.DataObject) -> None:
        for array in arrays:
            assert array.dtype == dtype and array.ndim == 2 and array.shape[0] == array.shape[1]
            A = from_numpy(algebra, array)
            assert np.array_equal(to_numpy(algebra, A, dtype, array.shape), array)
            if algebra.selective:
                assert not has_improving_cycle(algebra, A)
            view = data.draw(strategies.views(array))
            assert view.dtype == dtype and np.array_equal(view, array)
        walk = from_numpy(algebra, arrays[1])
        for _ in walk:
            walk = matmul(algebra, walk, from_numpy(algebra, arrays[1]))
        assert all(x == algebra.zero for row in walk for x in row)

    run()


def test_strategies_reach_what_they_promise() -> None:
    seen: dict[str, int] = dict.fromkeys(
        ["empty", "nine", "loop", "negative", "zero weight", "next to the sentinel", "full", "tie"], 0
    )

    @settings(quick, max_examples=1200)
    @given(strategies.matrices(oracle.min_plus, "int32"))
    def run(array: np.ndarray) -> None:
        edges = array[array < 2**31 - 1]
        seen["empty"] += array.size == 0
        seen["nine"] += len(array) == 9
        seen["loop"] += bool((np.diagonal(array) < 2**31 - 1).any())
        seen["negative"] += bool((array < 0).any())
        seen["zero weight"] += bool((array == 0).any())
        seen["next to the sentinel"] += bool((array == 2**31 - 2).any())
        seen["full"] += array.size > 1 and edges.size == array.size
        seen["tie"] += len(set(edges.tolist())) < edges.size

    run()
    assert min(seen.values()) >= 3, seen


def test_views_differ_in_memory_and_not_in_value() -> None:
    array = np.arange(12, dtype="int16").reshape(3, 4)
    views = strategies.views_of(array)
    for view in views.values():
        assert np.array_equal(view, array)
    assert views["Fortran"].flags.f_contiguous and not views["strided"].flags.contiguous
    assert views["reversed"].strides == (-8, -2) and not views["read-only"].flags.writeable
    assert views["rows reversed"].strides[0] < 0 < views["rows reversed"].strides[1]


def test_integers_spell_infinities_with_the_ends_of_their_dtype() -> None:
    array = np.array([[127, -128, 126, -127]], "int8")
    assert from_numpy(oracle.min_plus, array) == [[inf, -inf, 126, -127]]
    assert from_numpy(oracle.counting, array) == [[inf, -128, 126, -127]]
    assert from_numpy(oracle.gcd_lcm, array) == [[127, -128, 126, -127]]
    assert from_numpy(oracle.min_plus, np.array([[255, 0]], "uint8")) == [[inf, 0]]
    assert from_numpy(oracle.max_min, np.array([[255, 0]], "uint8")) == [[inf, -inf]]
    assert to_numpy(oracle.min_plus, [[inf, -inf, 200, -200, 5]], "int8").tolist() == [[127, -128, 127, -128, 5]]
    records = np.array([[(127, 0)]], [("dist", "i1"), ("count", "u2")])
    assert from_numpy(oracle.shortest_count, records) == [[(inf, 0)]]
    with pytest.raises(OverflowError):
        to_numpy(oracle.gcd_lcm, [[200]], "int8")
    with pytest.raises(OverflowError):
        to_numpy(oracle.plus_times, [[Fraction(1, 2)]], "int8")
    assert oracle.fits(oracle.counting, [[126, inf]], "int8") and not oracle.fits(oracle.counting, [[127]], "int8")
    assert not oracle.fits(oracle.counting, [[70000]], "float16")


def test_fields_are_read_by_name_and_not_by_place() -> None:
    array = np.array([[(7, 2.5)]], [("count", "i4"), ("dist", "f4")])
    assert from_numpy(oracle.shortest_count, array) == [[(2.5, 7)]]
    assert to_numpy(oracle.shortest_count, [[(2.5, 7)]], array.dtype) == array


@settings(quick, max_examples=100)
@given(st.recursive(st.sampled_from(["a", "b", "(?:)"]), lambda x: st.one_of(
    st.tuples(x, x).map("".join),
    st.tuples(x, x).map(lambda p: f"(?:{p[0]}|{p[1]})"),
    x.map(lambda e: f"(?:{e})*"),
), max_leaves=6))
def test_languages_are_those_of_the_re_module(expression: str) -> None:
    words = {"".join(w) for length in range(6) for w in itertools.product("ab", repeat=length)}
    assert oracle.language(expression) == {word for word in words if re.fullmatch(expression, word)}


def test_languages_of_signs_and_of_text_that_does_not_parse() -> None:
    assert oracle.language("∅") == oracle.language("a∅") == oracle.language("∅b") == frozenset()
    assert oracle.language("∅*") == oracle.language("ε") == oracle.language("") == {""}
    assert oracle.language("a?b+") == {"a" * x + "b" * y for x in (0, 1) for y in range(1, 6 - x)}
    assert oracle.language(oracle.expression(frozenset({"", "ab"}))) == {"", "ab"}
    for text in ("(a", "a)", "*", "a|*"):
        with pytest.raises(ValueError, match=r"cannot read|not closed"):
            oracle.language(text)


# Planted errors. First a closure on arrays that is right, in another way than the oracle's; then with one mistake.


def closure_of_array(
    algebra: Algebra, array: np.ndarray, pivots: slice = slice(None), mistake: str = ""
) -> np.ndarray:
    """Gauss–Jordan in place, pivot by pivot."""
    plus, times = algebra.plus, algebra.times
    A = from_numpy(algebra, array)
    vertices = range(len(A))
    for k in vertices[pivots]:
        others = [i for i in vertices if i != k]
        s = algebra.star(A[k][k])
        if mistake != "no star":
            for j in others:
                A[k][j] = times(A[k][j], s) if mistake == "swapped" else times(s, A[k][j])
        if mistake == "read after write":
            for i in others:
                A[i][k] = times(A[i][k], s)
        for i in others:
            for j in others:
                A[i][j] = plus(A[i][j], times(A[i][k], A[k][j]))
        if mistake != "read after write":
            for i in others:
                A[i][k] = times(A[i][k], s)
        A[k][k] = A[k][k] if mistake == "no identity" else plus(s, s) if mistake == "identity twice" else s
    return to_numpy(algebra, A, array.dtype, array.shape)


@every_dtype
def test_a_right_closure_passes_and_every_wrong_entry_is_caught(algebra: Algebra, dtype: np.dtype) -> None:
    n = 3
    planted = 0

    @quick
    @given(strategies.matrices(algebra, dtype, n), st.integers(0, n - 1), st.integers(0, n - 1), st.data())
    def run(A: np.ndarray, i: int, j: int, data: st.DataObject) -> None:
        nonlocal planted
        try:
            expected = closure_by_elimination(algebra, from_numpy(algebra, A))
        except Undefined:
            return
        right = closure_of_array(algebra, A)
        assert_same(algebra, expected, right)
        check(algebra, closure_call(algebra, A, lambda A: closure_of_array(algebra, A)))
        others = [x for x in algebra.samples if stores(algebra, x, dtype)]
        others = [x for x in others if not algebra.close(x, expected[i][j], eps=2.0**-9)]
        other = to_numpy(algebra, [[data.draw(st.sampled_from(others))]], dtype)
        wrong = right.copy()
        wrong[i, j] = other[0, 0]
        with pytest.raises(AssertionError, match=re.escape(f"entry ({i}, {j}) is ")):
            assert_same(algebra, expected, wrong, "the call")
        planted += 1

    run()
    assert planted


def stores(algebra: Algebra, element: object, dtype: np.dtype) -> bool:
    """Can an array of the dtype hold exactly this element?"""
    try:
        return from_numpy(algebra, to_numpy(algebra, [[element]], dtype)) == [[element]]
    except OverflowError:
        return False


def caught(algebra: Algebra, call: oracle.Call) -> str:
    with pytest.raises(AssertionError) as failure:
        check(algebra, call, "planted")
    return str(failure.value)


def repeat(message: str) -> list:
    """Run the code of a message against stand-ins for the library, and return the arguments they are given."""
    functions = ("closure", "matmul", "solve", "adjacency")
    calls: list = []
    makers = {"mod_p": mod_p, "saturating_min_plus": saturating_min_plus, "k_best": k_best}
    recorders = {name: lambda *given, **_: calls.append(given) for name in functions}
    names = SimpleNamespace(**(ALGEBRAS | makers | recorders))
    lines = message.partition("The smallest input that fails:\n")[2]
    exec("\n".join(line.removeprefix("    ") for line in lines.splitlines()), {"np": np, "sr": names})
    assert len(calls) == 1
    return [given for given in calls[0] if not isinstance(given, Algebra)]


DENSE = np.array(
    [[9, 1, 9, 4, 9], [9, 9, 2, 9, 9], [1, 9, 9, 9, 7], [9, 9, 9, 0, 1], [2, 9, 9, 9, 9]], "float32"
)


def weighted(algebra: Algebra, dtype: object) -> np.ndarray:
    """The same graph of five vertices in any scalar algebra whose elements may be 0, 1, 2, 4 and 7."""
    return to_numpy(algebra, [[algebra.zero if x == 9 else int(x) for x in row] for row in DENSE], dtype)


@pytest.mark.parametrize("dtype", ["float32", "int16", "uint8"])
def test_a_missed_pivot_is_caught_and_shrunk_to_two_edges(dtype: str) -> None:
    algebra = oracle.min_plus
    A = weighted(algebra, dtype)
    check(algebra, closure_call(algebra, A, lambda A: closure_of_array(algebra, A)))

    def wrong(A: np.ndarray) -> np.ndarray:
        closed = closure_of_array(algebra, A, slice(None, -1))
        np.fill_diagonal(closed, 0)
        return closed

    message = caught(algebra, closure_call(algebra, A, wrong))
    (small,) = repeat(message)
    assert small.dtype == dtype and small.shape == (3, 3)
    assert len(oracle.edges_of(algebra, small)) == 2
    assert message.startswith("min_plus, planted: entry (")
    assert not np.array_equal(wrong(small), closure_of_array(algebra, small))


@pytest.mark.parametrize(
    ("mistake", "name", "dtype"),
    [
        ("no star", "plus_times", "float64"),
        ("no star", "plus_times", "float32"),
        ("no star", "regex", "object"),
        ("no star", "counting", "int32"),
        ("swapped", "regex", "object"),
        ("read after write", "plus_times", "float32"),
        ("read after write", "mod_p", "int8"),
        ("read after write", "k_best", "d0,d1,d2"),
        ("no identity", "min_plus", "int32"),
        ("no identity", "boolean", "bool"),
        ("identity twice", "counting", "int64"),
        ("identity twice", "log", "float32"),
        ("identity twice", "gf2", "uint8"),
    ],
)
def test_a_wrong_pivot_step_is_caught(mistake: str, name: str, dtype: str) -> None:
    algebra = ALGEBRAS[name]
    kind = strategies.dtypes(algebra)[0] if algebra.fields else np.dtype(dtype)
    matrices: dict[str, list[list]] = {
        "plus_times": [[0.25, 0.25, 0], [0.5, 0, 0.125], [0, 0.25, 0.25]],
        "regex": [["a", "b", "∅"], ["∅", "ε", "b"], ["a", "∅", "∅"]],
        "counting": [[1, 1, 0], [0, 0, 2], [0, 0, 0]],
        "mod_p": [[3, 1, 0], [2, 0, 4], [0, 5, 2]],
        "k_best": [
            [(1, inf, inf), (inf, inf, inf), (0, inf, inf)],
            [(0, 5, inf), (inf, inf, inf), (inf, inf, inf)],
            [(inf, inf, inf)] * 3,
        ],
        "min_plus": [[inf, 3, inf], [inf, inf, 2], [1, inf, inf]],
        "boolean": [[False, True], [False, False]],
        "log": [[-3.0, -4.0], [-inf, -5.0]],
        "gf2": [[0, 1], [0, 0]],
    }
    A = [[oracle.language(x) for x in row] for row in matrices[name]] if name == "regex" else matrices[name]
    array = to_numpy(algebra, A, kind)
    check(algebra, closure_call(algebra, array, lambda A: closure_of_array(algebra, A)))
    message = caught(algebra, closure_call(algebra, array, lambda A: closure_of_array(algebra, A, mistake=mistake)))
    (small,) = repeat(message)
    assert small.dtype == kind and len(small) <= len(array)


def test_reading_after_writing_is_no_mistake_in_idempotent_algebras() -> None:
    A = weighted(oracle.min_plus, "float32")
    check(
        oracle.min_plus,
        closure_call(oracle.min_plus, A, lambda A: closure_of_array(oracle.min_plus, A, mistake="read after write")),
    )


@every_algebra
def test_swapped_operands_are_caught(algebra: Algebra) -> None:
    dtype = strategies.dtypes(algebra)[0]
    here = for_dtype(algebra, dtype)
    elements = [x for x in here.samples if x != here.zero and stores(here, x, dtype)]
    a, b = (elements + elements)[:2]
    A = to_numpy(here, [[a, here.zero], [here.zero, here.zero]], dtype)
    B = to_numpy(here, [[here.zero, b], [here.zero, here.zero]], dtype)

    def multiply(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        product = matmul(here, from_numpy(here, A), from_numpy(here, B), B.shape[1])
        return to_numpy(here, product, dtype, (A.shape[0], B.shape[1]))

    check(here, matmul_call(here, A, B, multiply))


    def swapped(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return multiply(B, A)

    message = caught(here, matmul_call(here, A, B, swapped))
    assert f"sr.matmul(A, B, sr.{here.name})" in message


def swap(times: Callable, a: object, b: object) -> object:
    return times(b, a)


def test_swapped_factors_are_caught_where_the_order_matters_and_nowhere_else() -> None:
    for name, caught_here in [("regex", True), ("min_plus", False)]:
        algebra = ALGEBRAS[name]
        swapped = replace(algebra, times=partial(swap, algebra.times))
        entries = [[3, 4]] if name == "min_plus" else [[oracle.language("a"), oracle.language("b")]]
        A = to_numpy(algebra, entries, "object" if algebra.objects else "int8")
        B = to_numpy(algebra, [[entries[0][1]]] * 2, A.dtype)

        def wrong(A: np.ndarray, B: np.ndarray, swapped: Algebra = swapped) -> np.ndarray:
            product = matmul(swapped, from_numpy(swapped, A), from_numpy(swapped, B), B.shape[1])
            return to_numpy(swapped, product, A.dtype, (A.shape[0], B.shape[1]))

        call = matmul_call(algebra, A, B, wrong)
        if caught_here:
            small_a, small_b = repeat(caught(algebra, call))
            assert small_a.shape == small_b.shape == (1, 1)
        else:
            check(algebra, call)


@pytest.mark.parametrize(
    ("name", "weights", "dtype"),
    [
        ("min_plus", (2, 5), "float32"),
        ("counting", (1, 1), "int64"),
        ("gf2", (1, 1), "uint8"),
        ("max_min", (7, 3), "uint8"),
    ],
)
def test_the_last_of_parallel_edges_winning_is_caught(name: str, weights: tuple, dtype: str) -> None:
    algebra = ALGEBRAS[name]
    edges = [(0, 1, 1), (1, 2, weights[0]), (3, 0, 1), (1, 2, weights[1]), (2, 3, 1)]

    def last(edges: list) -> np.ndarray:
        A = to_numpy(algebra, [[algebra.zero] * 4 for _ in range(4)], dtype)
        for i, j, weight in edges:
            A[i, j] = weight
        return A

    def combined(edges: list) -> np.ndarray:
        return to_numpy(algebra, oracle.adjacency(algebra, edges, 4), dtype)

    check(algebra, adjacency_call(algebra, edges, 4, combined))
    (small,) = repeat(caught(algebra, adjacency_call(algebra, edges, 4, last)))
    assert small == [(1, 2, weights[0]), (1, 2, weights[1])]


@pytest.mark.parametrize(
    ("algebra", "dtype", "minimum"),
    [
        (oracle.min_plus, "int32", np.minimum),
        (oracle.min_plus, "int64", np.minimum),
        (oracle.max_plus, "int8", np.maximum),
        (oracle.max_plus, "int32", np.maximum),
    ],
    ids=str,
)
def test_a_sentinel_that_does_not_absorb_is_caught(algebra: Algebra, dtype: str, minimum: np.ufunc) -> None:
    better = -5 if algebra is oracle.min_plus else 5
    A = to_numpy(algebra, [[algebra.zero, better, 3], [algebra.zero] * 3, [algebra.zero] * 3], dtype)

    def careless(A: np.ndarray) -> np.ndarray:
        D = A.astype(object)  # integers that do not overflow
        np.fill_diagonal(D, 0)
        for k in range(len(D)):
            D = minimum(D, D[:, k : k + 1] + D[k : k + 1, :])
        return D.astype(A.dtype)

    limits = np.iinfo(dtype)
    off = limits.max - 5 if algebra is oracle.min_plus else limits.min + 5
    assert off in careless(A)
    message = caught(algebra, closure_call(algebra, A, careless))
    assert re.search(rf"is -?\d+, not {algebra.zero};", message)
    (small,) = repeat(message)
    assert len(oracle.edges_of(algebra, small)) == 1
    for almost in (1, 5):
        wrong = closure_of_array(algebra, A)
        wrong[1, 0] -= almost * (1 if algebra is oracle.min_plus else -1)
        with pytest.raises(AssertionError, match=r"entry \(1, 0\)"):
            assert_same(algebra, closure_by_elimination(algebra, from_numpy(algebra, A)), wrong)


@pytest.mark.parametrize("name", ["min_plus", "max_plus", "max_times", "counting", "log"])
def test_a_nan_where_zero_should_absorb_is_caught(name: str) -> None:
    algebra = ALGEBRAS[name]
    far = -algebra.zero if algebra.zero in (inf, -inf) else inf
    A = to_numpy(algebra, [[algebra.zero, far], [algebra.zero, algebra.zero]], "float64")
    ufuncs = {
        "min_plus": (np.minimum, np.add), "max_plus": (np.maximum, np.add), "max_times": (np.maximum, np.multiply),
        "counting": (np.add, np.multiply), "log": (np.logaddexp, np.add),
    }
    plus, times = ufuncs[name]

    def careless(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return plus.reduce(times(A[:, :, None], B[None, :, :]), axis=1, initial=algebra.zero)

    assert np.isnan(careless(A, A)).any()
    assert "is nan, not" in caught(algebra, matmul_call(algebra, A, A, careless))


def test_squaring_where_it_counts_walks_twice_is_caught() -> None:
    algebra = oracle.counting
    A = to_numpy(algebra, [[0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]], "int32")

    def squared(A: np.ndarray) -> np.ndarray:
        power = A + np.eye(len(A), dtype=A.dtype)
        for _ in range(2):
            power = power @ power
        return power

    (small,) = repeat(caught(algebra, closure_call(algebra, A, squared)))
    assert small.shape == (2, 2) and small.sum() == 1


def test_rounding_is_allowed_and_more_than_rounding_is_caught() -> None:
    for algebra, x in [(oracle.plus_times, 1 / 3), (oracle.log, -1 / 3), (oracle.counting, 1e7)]:
        for dtype in (np.float32, np.float64):
            eps = float(np.finfo(dtype).eps)
            assert_same(algebra, [[x]], np.array([[x * (1 + 4 * eps)]], dtype))
            with pytest.raises(AssertionError, match="entry"):
                assert_same(algebra, [[x]], np.array([[x * (1 + 400 * eps)]], dtype))
    with pytest.raises(AssertionError, match="entry"):
        assert_same(oracle.max_min, [[0.5]], np.array([[np.nextafter(np.float32(0.5), np.float32(1))]]))
    with pytest.raises(AssertionError, match="entry"):
        assert_same(oracle.counting, [[10]], np.array([[11]], "int64"))
    # With one large entry, a sum that cancels may be wrong by the rounding of that one.
    assert_same(oracle.plus_times, [[2**40, 0]], np.array([[2**40, 2.0**-14]]))
    with pytest.raises(AssertionError, match=r"entry \(0, 1\)"):
        assert_same(oracle.plus_times, [[1, 0]], np.array([[1, 2.0**-14]]))


def test_another_shape_dtype_field_or_kind_is_caught() -> None:
    algebra = oracle.min_plus
    A = to_numpy(algebra, [[inf, 3], [inf, inf]], "int16")

    def right(A: np.ndarray) -> np.ndarray:
        return closure_of_array(algebra, A)

    check(algebra, closure_call(algebra, A, right))
    wrong: list[tuple[Callable, str]] = [
        (lambda A: right(A).T, "entry (0, 1) is inf, not 3"),
        (lambda A: right(A)[:1], "shape (1, 2), not (2, 2)"),
        (lambda A: right(A)[None], "shape (1, 0, 0), not (0, 0)"),
        (lambda A: right(A).astype("float64"), "dtype float64, not int16"),
        (lambda A: right(A).tolist(), "a list, not an array"),
    ]
    for run, fault in wrong:
        assert fault in caught(algebra, closure_call(algebra, A, run))
    renamed = np.zeros((1, 1), [("dist", "f8"), ("hops", "f8")])
    with pytest.raises(AssertionError, match="fields"):
        assert_same(oracle.shortest_count, [[(0, 0)]], renamed)
    with pytest.raises(AssertionError, match="shape"):
        assert_same(algebra, [], np.zeros((1, 1)))
    assert_same(algebra, [], np.zeros((0, 0)))


def test_a_changed_input_is_caught() -> None:
    def overwriting(A: np.ndarray) -> np.ndarray:
        A[...] = closure_of_array(oracle.min_plus, A)
        return A.copy()

    A = weighted(oracle.min_plus, "float64")
    assert "changed its input A" in caught(oracle.min_plus, closure_call(oracle.min_plus, A, overwriting))


def test_a_solution_without_its_right_hand_side_is_caught() -> None:
    algebra = oracle.min_plus
    A = weighted(algebra, "int16")
    B = to_numpy(algebra, [[inf, 0], [inf, inf], [3, inf], [inf, inf], [inf, 1]], "int16")

    def solve(A: np.ndarray, B: np.ndarray, reflexive: bool = True) -> np.ndarray:
        a, b = from_numpy(algebra, A), from_numpy(algebra, B)
        x = solve_by_iteration(algebra, a, b)
        assert x is not None
        return to_numpy(algebra, x if reflexive else matmul(algebra, a, x, B.shape[1]), A.dtype, B.shape)

    check(algebra, solve_call(algebra, A, B, solve))
    message = caught(algebra, solve_call(algebra, A, B, lambda A, B: solve(A, B, reflexive=False)))
    small_a, small_b = repeat(message)
    assert small_a.shape == (1, 1) and small_b.shape == (1, 1)


def test_the_message_shows_records_and_objects_as_code() -> None:
    algebra = oracle.shortest_count
    A = to_numpy(algebra, [[(inf, 0), (1, 2)], [(inf, 0), (inf, 0)]], strategies.dtypes(algebra)[1])
    (small,) = repeat(caught(algebra, closure_call(algebra, A, lambda A: A)))
    assert small.dtype == A.dtype
    A = to_numpy(oracle.why, [[oracle.why.zero, oracle.why.samples[2]], [oracle.why.zero] * 2], object)
    message = caught(oracle.why, closure_call(oracle.why, A, lambda A: A.T))
    (small,) = repeat(message)
    assert small.dtype == object and len(small) == 1  # the identity is missing already in one vertex
