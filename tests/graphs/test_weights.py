"""Weights as elements: dtypes, numbers that do not fit, records, objects, and edges without any."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from graphs.listing import refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.graphs.adjacency import adjacency
from semiring.graphs.weights import as_weights, elements, refuse_nan, unweighted

INF = np.inf
HOPS = sr.shortest_hops.default_dtype


@pytest.mark.parametrize(
    ("edges", "S", "options", "dtype"),
    [
        ([(0, 1, 2)], sr.min_plus, {}, np.int64),
        ([(0, 1, 2.0)], sr.min_plus, {}, np.float64),
        ([(0, 1, 2.0)], sr.min_plus, {"dtype": np.int16}, np.int16),
        ([(0, 1, 2.5)], sr.min_plus, {"dtype": "f4"}, np.float32),
        ((np.array([0]), np.array([1]), np.array([3], np.uint8)), sr.max_min, {}, np.uint8),
        ([(0, 1, 2)], sr.plus_times, {}, np.float64),  # plus-times does not live in integers
        ([(0, 1)], sr.min_plus, {}, np.float64),
        ([(0, 1)], sr.min_plus, {"dtype": np.int8}, np.int8),
        ([(0, 1, 6)], sr.bitset_may, {}, np.uint64),
        ([(0, 1, True)], sr.boolean, {}, bool),
        ([(0, 1, 3)], sr.boolean, {}, bool),
        ([(0, 1, 1.0)], sr.boolean, {"dtype": np.uint8}, np.uint8),
        ([(0, 1, Fraction(1, 3))], sr.min_plus, {}, object),
        ([(0, 1, Fraction(1, 4))], sr.min_plus, {"dtype": float}, np.float64),
        ([(0, 1, 2**80)], sr.min_plus, {}, object),
    ],
)
def test_dtype(edges, S, options, dtype):
    M = adjacency(edges, S, **options)
    assert M.dtype == dtype
    expected = edges[0][2] if isinstance(edges, list) and len(edges[0]) == 3 else None
    if expected is not None and dtype is not bool:
        assert M[0, 1] == expected
    assert M.array[0, 0] == S.zero_in(M.dtype)


def test_any_number_is_an_edge_in_the_boolean_algebra_and_false_is_none():
    M = adjacency([(0, 1, 0.0), (1, 2, 3.25)], sr.boolean)
    assert M.array.tolist() == [[False, True, False], [False, False, True], [False, False, False]]
    assert not adjacency([(0, 1, False)], sr.boolean)[0, 1]


def test_numbers_in_the_two_element_field_stay_what_they_are():
    M = adjacency([(0, 1, 0), (1, 0, 1), (1, 1, 1), (1, 1, 1)], sr.gf2, dtype=bool)
    assert M.array.tolist() == [[False, False], [True, False]]
    with refused("edge 0 (0 → 1): the weight 2 does not fit bool"):
        adjacency([(0, 1, 2)], sr.gf2, dtype=bool)


@pytest.mark.parametrize(
    ("S", "value"),
    [(sr.min_plus, 1.0), (sr.max_min, 1.0), (sr.boolean, True), (sr.viterbi, 1.0), (sr.counting, 1.0),
     (sr.shortest_hops, np.array((1.0, 1.0), sr.shortest_hops.default_dtype))],
)
def test_an_edge_without_weight_counts_one(S, value):
    M = adjacency([(0, 1)], S)
    assert M[0, 1] == value and M[1, 0] == S.zero_in(M.dtype)


def test_an_edge_without_weight_that_has_no_natural_one():
    with refused("the edges have no weights, and widest-shortest has no natural one: pass default="):
        adjacency([(0, 1)], sr.widest_shortest)
    with refused("the edges have no weights, and regex has no natural one"):
        adjacency([(0, 1)], sr.regex)
    with refused("in saturating-min-plus(1) on uint64 the weight 1 means no edge: pass default="):
        adjacency([(0, 1)], sr.saturating_min_plus(1))
    assert adjacency([(0, 1)], sr.shortest_hops, default=(1.0, 1))[0, 1].tolist() == (1.0, 1.0)
    assert adjacency([(0, 1)], sr.regex, default=sr.letter("x"))[0, 1] == sr.letter("x")


@pytest.mark.parametrize(
    ("weight", "dtype", "message"),
    [
        (300, "u1", "edge 0 (0 → 1): the weight 300 does not fit uint8: pass another dtype"),
        (-1, "u8", "the weight -1 does not fit uint64"),
        (2.5, "i4", "the weight 2.5 does not fit int32"),
        (INF, "i4", "the weight inf does not fit int32"),
        (2.0**63, "i8", "the weight 9.223372036854776e+18 does not fit int64"),
        (2**80, "i8", "the weight 1208925819614629174706176 does not fit int64"),
        (1e300, "f4", "the weight 1e+300 does not fit float32"),
        (1 + 2j, "f8", "the weight (1+2j) does not fit float64"),
        (1 + 0j, "i8", None),
        (Fraction(1, 3), "i8", "does not fit int64"),
        ("3", "f8", "edge 0 (0 → 1): the weight '3' is not a number"),
        (np.timedelta64(3, "m"), "f8", "the weight np.timedelta64(3,'m') is not a number"),
        (np.datetime64("2026-01-01"), "f8", "is not a number"),
    ],
)
def test_weights_that_do_not_fit(weight, dtype, message):
    if message is None:
        with refused("the weight (1+0j) does not fit int64"):
            adjacency([(0, 1, weight)], sr.min_plus, dtype=dtype)
        return
    with refused(message):
        adjacency([(0, 1, weight)], sr.min_plus, dtype=dtype)


def test_rounding_and_limits_that_fit():
    assert adjacency([(0, 1, 0.1)], sr.min_plus, dtype="f4")[0, 1] == np.float32(0.1)
    assert adjacency([(0, 1, INF)], sr.max_min, dtype="f4")[0, 1] == INF
    assert adjacency([(0, 1, 1 + 0j)], sr.min_plus, dtype="f8")[0, 1] == 1.0
    limit = adjacency([(0, 1, -128.0)], sr.max_min, dtype="i1")
    assert limit.array[0, 1] == -128 and limit[0, 1] == -INF
    weights = np.array([2**63 + 1], np.uint64)
    assert adjacency((np.array([0]), np.array([1]), weights), sr.max_min)[0, 1] == 2**63 + 1


def test_records():
    S = sr.shortest_count
    tuples = adjacency([("a", "b", (2.0, 1)), ("a", "b", (2.0, 4)), ("a", "b", (3.0, 9))], S)
    assert tuples["a", "b"].tolist() == (2.0, 5.0) and tuples["b", "a"].tolist() == (INF, 0.0)
    records = np.array([(1, 2.0), (4, 2.0)], dtype=[("count", "i4"), ("dist", "f4")])
    M = adjacency((np.array([0, 0]), np.array([1, 1]), records), S)
    assert M[0, 1]["dist"] == 2.0 and M[0, 1]["count"] == 5
    assert M.dtype["dist"] == np.float32 and M.dtype["count"] == np.int32
    with refused("edge 1 (1 → 0): the weight is 3.0, and an element of shortest-count is a tuple (dist, count)"):
        adjacency([(0, 1, (1.0, 1)), (1, 0, 3.0)], S)
    with refused("edge 0 (0 → 1): the weight is (1.0, 1, 2), and an element of shortest-count is a tuple"):
        adjacency([(0, 1, (1.0, 1, 2))], S)
    with refused("weights are numbers (float64), and an element of widest-shortest is a tuple (dist, width)"):
        adjacency([(0, 1, 1.0)], sr.widest_shortest)
    columns = np.array([(2.0, 4)], dtype=[("length", "f4"), ("ways", "i8")])  # names that it does not know: in order
    assert adjacency((np.array([0]), np.array([1]), columns), S)[0, 1].tolist() == (2.0, 4)
    half = np.array([(2.0, 4)], dtype=[("dist", "f4"), ("ways", "i8")])
    assert adjacency((np.array([0]), np.array([1]), half), S)[0, 1].tolist() == (2.0, 4)
    with refused("(ways, dist), and an element of shortest-count is a tuple (dist, count): dist is at another"):
        adjacency((np.array([0]), np.array([1]), np.zeros(1, [("ways", "f8"), ("dist", "f8")])), S)
    with refused("weights have the components (a, b, c), and an element of shortest-count is a tuple (dist, count)"):
        adjacency((np.array([0]), np.array([1]), np.zeros(1, [("a", "f8"), ("b", "f8"), ("c", "f8")])), S)
    with refused("weights have the components (x), and an element of shortest-count is a tuple (dist, count)"):
        adjacency((np.array([0]), np.array([1]), np.zeros(1, [("x", "f8")])), S)
    with refused("edge 0 (0 → 1): the weight, component 'count', is NaN"):
        adjacency([(0, 1, (1.0, np.nan))], S)
    with refused("edge 0 (0 → 1): component 'count' of the weight is 'x', not a number"):
        adjacency([(0, 1, (1.0, "x"))], S)
    with refused("edge 0 (0 → 1): the weight 1.5 does not fit int32"):
        adjacency([(0, 1, (1.0, 1.5))], S, dtype=[("dist", "f8"), ("count", "i4")])
    with refused("weights are records (dist, count), but the elements of min-plus are numbers"):
        adjacency((np.array([0]), np.array([1]), np.zeros(1, S.default_dtype)), sr.min_plus)


def test_objects():
    x, y = sr.letter("x"), sr.letter("y")
    M = adjacency([("p", "q", x), ("p", "q", y), ("q", "p", x)], sr.regex)
    assert M.dtype == object and str(M["p", "q"]) == "x|y" and M["p", "p"] == sr.regex.zero
    points = frozenset({(1.0, 2.0)})
    N = adjacency([(0, 1, points)], sr.pareto)
    assert N[0, 1] == points and N[1, 0] == frozenset()


@pytest.mark.parametrize(("column", "dtype"), [
    ([1, 2], "i8"), ([1, np.int8(2)], "i8"), ([1, 2.5], "f8"), ([1, 2j], "c16"), ([True, False], "?"), ([], "f8"),
    ([True, 2], "i8"), ([2**63], "O"), ([-(2**63), 2**63 - 1], "i8"), ([Fraction(1, 3), 1], "O"), (["1"], "O"),
    ([None], "O"), ([(1, 2)], "O"), ([np.float32(1)], "f4"), (np.array([1], ">i2"), ">i2"), (np.array(["a"]), "O"),
    ([2**60 + 1, 2.5], "O"), ([2**60, 2.5], "f8"), ([2**53 + 1, 1j], "O"), ([-(2**64) - 1, 0.5], "O"),
    ([10**400, 0.5], "O"),
    ([np.float32(0.5), np.int64(2**53 + 1)], "O"),
    (np.array([1, 2], object), "i8"), (np.array([(1, 2)], "i4,f4"), "i4,f4"),
], ids=repr)
def test_a_column_keeps_what_its_numbers_are(column, dtype):
    found = as_weights(column)
    assert found.dtype == np.dtype(dtype)
    assert found.tolist() == (column if isinstance(column, list) else column.tolist())


def test_a_column_is_one():
    with refused("weights of shape (2, 2): pass one for each edge"):
        as_weights(np.zeros((2, 2)))


@pytest.mark.parametrize(("values", "message"), [
    (np.array([1, np.nan]), "no. 1: the weight is NaN; leave the edge out, or give it a weight"),
    (np.array([1, np.nan], "f2"), "no. 1: the weight is NaN"),
    (np.array([1, complex(0, np.nan)]), "no. 1: the weight is NaN"),
    (np.array([1, None], object), "no. 1: the weight is None"),
    (np.array([1, np.nan], object), "no. 1: the weight is NaN"),
    (np.array([(1, 2), (1, np.nan)], HOPS), "no. 1: the weight, component 'hops', is NaN"),
    (np.array([([1, np.nan],)], [("d", "f8", 2)]), "no. 0: the weight, component 'd', is NaN"),
], ids=repr)
def test_nothing_without_a_value_is_a_weight(values, message):
    with refused(message):
        refuse_nan(values, lambda i: f"no. {i}")
    refuse_nan(values[:0], lambda i: f"no. {i}")
    for sound in (np.array([1, INF]), np.array([1, 2]), np.array(["nan"], object), np.array([(1, 2)], HOPS)):
        refuse_nan(sound, lambda i: f"no. {i}")


TARGETS = [np.dtype(d) for d in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")]
SOURCES = st.sampled_from(["i8", "u8", "f8", "O"])


@settings(max_examples=200)
@given(st.sampled_from(TARGETS), SOURCES, st.data())
def test_an_integer_is_kept_or_refused_and_never_changed(target, source, data):
    limits = np.iinfo(target)
    near = [limits.min, limits.max, limits.min - 1, limits.max + 1, 0, 2**53, 2**63, 2**64 - 1, -(2**63)]
    number = data.draw(st.sampled_from(near) | st.integers(-(2**65), 2**65))
    try:
        values = np.array([0, number], source)
    except OverflowError:
        return
    exact = int(values[1])  # of a double, which may be another integer
    ends = np.array([0, 0]), np.array([0, 1])
    call = lambda: adjacency((*ends, values), sr.max_min, dtype=target)  # noqa: E731
    if limits.min <= exact <= limits.max:
        assert int(call().array[0, 1]) == exact
    else:
        with refused(f"edge 1 (0 → 1): the weight {values[1]} does not fit {target}"):
            call()


@pytest.mark.parametrize(("dtype", "weight"), [
    ("f4", 1e38), ("f2", 65504.0), ("f4", 1e-50), ("f4", INF), ("f8", 2**1000), ("f4", Fraction(1, 3)), ("u1", -0.0),
    ("u8", 2.0**63), ("i4", 3.0), ("f2", 0.1),
])
def test_floats_round_to_the_nearest(dtype, weight):
    assert adjacency([(0, 1, weight)], sr.max_min, dtype=dtype)[0, 1] == np.dtype(dtype).type(weight)


@pytest.mark.parametrize(("dtype", "weight"), [
    ("f4", 1e39), ("f2", 70000.0), ("f8", 10**400), ("f8", 1 + 1e-300j), ("i8", 2.0**63), ("u8", 2.0**64), ("i8", 1.5),
    ("u1", -1e-300), ("i1", -129.0),
])
def test_but_they_do_not_change_their_size(dtype, weight):
    with refused(f"does not fit {np.dtype(dtype)}"):
        adjacency([(0, 1, weight)], sr.max_min, dtype=dtype)


def test_the_place_is_asked_for_only_where_something_is_wrong():
    def place(i):
        raise AssertionError("nothing is wrong")

    assert elements(sr.min_plus, np.array([1.0, INF]), None, place).tolist() == [1, INF]
    assert elements(sr.boolean, np.array([0.0, 3.5]), None, place).tolist() == [True, True]
    assert elements(sr.gf2, np.array([0.0, 1.0]), "u1", place).tolist() == [0, 1]
    records = elements(sr.shortest_hops, as_weights([(1, 2), (0.5, 1)]), None, place)
    assert records.tolist() == [(1.0, 2.0), (0.5, 1.0)] and records.dtype == HOPS
    assert unweighted(sr.min_plus, "i2", None).tolist() == [1] and unweighted(sr.boolean, None, None).tolist() == [True]


def test_integers_beyond_every_float_are_refused_whatever_the_dtype() -> None:
    for S, dtype in ((sr.gf2, bool), (sr.min_plus, "f8"), (sr.min_plus, "i8")):
        with pytest.raises(sr.GraphError, match="does not fit"):
            sr.adjacency([(0, 1, 10**400)], S, dtype=dtype)
