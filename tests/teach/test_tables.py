"""Operation tables: of all elements where they are few, else of the simplest samples; as text and in notebooks."""

from __future__ import annotations

import math
from itertools import product
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.teach.tables import CLOSED, MOST_ELEMENTS, SAMPLES, beside, closed_under_operations, texts

inf = math.inf
ALGEBRAS = {**sr.catalogue, **sr.counter_examples}


@pytest.mark.parametrize("name", ALGEBRAS)
def test_every_algebra_has_tables_of_what_its_operations_say(name: str) -> None:
    S = ALGEBRAS[name]
    T = S.table()
    k = len(T.elements)
    assert 1 < k <= CLOSED and T.add.shape == T.mul.shape == (k, k) and T.defined.shape == (k,)
    assert T.elements.dtype == T.add.dtype == S.element_dtype
    at = [T.elements[i : i + 1] if S.is_object else T.elements[i] for i in range(k)]
    for i, j in product(range(k), repeat=2):
        for table, op in ((T.add, S.add), (T.mul, S.mul)):
            assert np.array_equal(np.ravel(op(at[i], at[j])), np.ravel(table[i, j]).view(np.ndarray)) or (
                S.is_object and np.ravel(op(at[i], at[j]))[0] == table[i, j])
    if T.star is None:
        assert S.product_only and not T.defined.any()
    else:
        for i in range(k):
            if T.defined[i]:
                assert np.all(S.star(at[i]) == T.star[i])
            else:
                with pytest.raises(sr.SemiringError, match="does not exist"):
                    S.star(at[i])
    known = T.elements.tolist()
    assert T.closed is all(x in known for x in (*T.add.ravel().tolist(), *T.mul.ravel().tolist()))


def test_small_algebras_are_shown_whole() -> None:
    assert sr.boolean.table().elements.tolist() == [False, True] and sr.boolean.table().closed
    assert sr.mod_p(5).table().elements.tolist() == [0, 1, 2, 3, 4]
    three = sr.Semiring("levels", add=np.maximum, mul=np.minimum, zero=0, one=2, dtypes="iu",
                        carrier=lambda a: (a == 0) | (a == 1) | (a == 2))
    assert three.table().elements.tolist() == [0, 2, 1] and three.table().closed
    assert not sr.min_plus.table().closed and len(sr.min_plus.table().elements) == SAMPLES
    assert sr.min_plus.table().elements[:2].tolist() == [inf, 0]


@settings(max_examples=40)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=4, unique=True), st.sampled_from([2, 3, 5, 7, 11, 13]))
def test_what_elements_make_of_each_other(start: list[int], p: int) -> None:
    start = sorted({x % p for x in start})
    known = set(start)
    while made := {z for x, y in product(known, repeat=2) for z in ((x + y) % p, x * y % p)} - known:
        known |= made
    found = closed_under_operations(sr.mod_p(p).over("i8"), np.array(start))
    assert found is not None and set(found.tolist()) == known and found[: len(start)].tolist() == start


def test_what_grows_for_ever_or_leaves_the_carrier_is_given_up() -> None:
    assert closed_under_operations(sr.min_plus.over("f8"), np.array([1.0])) is None
    assert closed_under_operations(sr.plus_times.over("f8"), np.array([1e308])) is None


def test_elements_of_the_caller() -> None:
    T = sr.min_plus.table([3, 1, 1.0, inf])
    assert T.elements.tolist() == [3, 1, inf] and T.add.tolist() == [[3, 1, 3], [1, 1, 1], [3, 1, inf]]
    assert str(sr.min_plus.table([0, 1, inf], dtype="i2")).splitlines()[2] == "⊕  0  1  ∞    ⊗  0  1  ∞    a  a*"
    hops = sr.shortest_hops.table([(0, 0), (2.5, 1)])
    assert hops.mul["cost"].tolist() == [[0, 2.5], [2.5, 5]] and "(2.5, 1)" in str(hops)
    assert sr.boolean.table(np.array([True])).add.tolist() == [[True]]


@pytest.mark.parametrize(("given", "dtype", "message"), [
    ([], None, "0 different elements: pass from 1 to 64 of them"),
    (range(MOST_ELEMENTS + 5), None, "65 different elements: pass from 1 to 64"),
    ([1, "x"], None, "elements are not a sequence of elements of min-plus"),
    ([120, 121], "i1", "a sum leaves int8; use a wider dtype"),
    ([1], complex, "min-plus cannot live in complex128"),
])
def test_what_makes_no_table_is_refused(given: Any, dtype: Any, message: str) -> None:
    with pytest.raises(sr.SemiringError, match=message):
        sr.min_plus.table(given, dtype)


def test_bare_products_have_no_stars() -> None:
    T = sr.plus_min.table([0, 1, 2])
    assert T.star is None and "a*" not in str(T) and T._repr_html_().count("<table") == 2


def test_text_and_notebook() -> None:
    T = sr.mod_p(3).table()
    assert str(T).splitlines() == [
        "mod-3 on 3 elements, of which ⊕ and ⊗ make no others", "", "⊕  0  1  2    ⊗  0  1  2    a  a*",
        "0  0  1  2    0  0  0  0    0   1", "1  1  2  0    1  0  1  2    1   —", "2  2  0  1    2  0  2  1    2   2",
    ]
    page = ElementTree.fromstring(T._repr_html_())
    tables = page.findall(".//table")
    assert [table.findtext("caption") for table in tables] == ["mod-3: a ⊕ b", "mod-3: a ⊗ b", "mod-3: stars"]
    for table in tables:
        assert all(cell.get("scope") == "col" for cell in table.findall("./thead/tr/th"))
        assert [row[0].get("scope") for row in table.findall("./tbody/tr")] == ["row"] * 3
    assert [[cell.text for cell in row] for row in tables[1].findall("./tbody/tr")][2] == ["2", "0", "2", "1"]


def test_blocks_beside_and_below_each_other() -> None:
    assert beside([["ab", "c"], ["d"], ["e"]], gap=1, width=4) == ["ab d", "c", "", "e"]
    assert beside([]) == [] and beside([[]]) == []


def test_sets_are_written_as_in_a_book() -> None:
    pairs = np.empty(2, object)
    pairs[:] = [frozenset({(2, 3.5), (1, inf)}), "x\x1b"]
    assert texts(sr.pareto, pairs) == ["{(1, ∞), (2, 3.5)}", "x\\x1b"]
    long = np.empty(1, object)
    long[0] = frozenset(range(100))
    assert len(texts(sr.why, long)[0]) == 32 and texts(sr.why, long)[0].endswith("…")
