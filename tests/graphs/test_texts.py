"""Elements, counts, types and names as people write them, and nothing that a terminal obeys."""

from __future__ import annotations

import ast
import sys
import unicodedata
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algebra.constants import cast_constant
from semiring.algebra.tables import dtype_text
from semiring.graphs.texts import (
    LABEL,
    QUOTED,
    aligned,
    clip,
    clip_repr,
    count_text,
    element_text,
    infinities,
    is_same,
    quoted,
    readable,
    shown,
)

inf = np.inf
# Controls, halves of surrogate pairs, ends of lines; what turns the direction of writing, also for one mark; notes.
CATEGORIES = ("Cc", "Cs", "Zl", "Zp")
TURNING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
MARKS = "\u061c\u200e\u200f\ufff9\ufffa\ufffb"


def test_a_terminal_obeys_these_characters_and_no_others() -> None:
    obeyed, others = [], []
    for letter in map(chr, range(sys.maxunicode + 1)):
        turns = unicodedata.bidirectional(letter) in TURNING or letter in MARKS
        (obeyed if turns or unicodedata.category(letter) in CATEGORIES else others).append(letter)
    assert shown("".join(others)) == "".join(others)
    for letter in obeyed:
        assert shown(letter).isascii() and shown(letter).isprintable(), repr(letter)
    assert "\u200d" in others, "joiners belong to words of many languages"


@settings(max_examples=100)
@given(st.lists(st.sampled_from([*MARKS, "\n", "\x1b", "a", "木", "\\", "\u200d", "\ud800", "é"])))
def test_what_a_text_says_is_still_there(letters: list[str]) -> None:
    found = shown("".join(letters))
    assert found == "".join(map(shown, letters)) == shown(found)
    if "\\" not in letters:
        assert ast.literal_eval(f'"{found}"') == "".join(letters)


def test_what_is_escaped_is_written_as_in_python() -> None:
    assert shown("a\tb\n\x1b[2J\x00\x85\u2028\ud800") == r"a\tb\n\x1b[2J\x00\x85\u2028\ud800"
    assert shown(7) == "7" and shown(None) == "None"


def test_long_texts_are_cut_and_short_ones_are_not() -> None:
    assert clip("x" * LABEL) == "x" * LABEL and clip("x" * (LABEL + 1)) == "x" * (LABEL - 1) + "…"
    assert quoted("x" * (QUOTED - 2)) == repr("x" * (QUOTED - 2))
    assert quoted("x" * 10_000) == "'" + "x" * (QUOTED - 1) + "…"
    assert clip_repr("abc") == "'abc'" and clip_repr("x" * 99) == "'" + "x" * (LABEL - 2) + "…"


def test_what_has_no_short_code_of_its_own() -> None:
    class Silent:
        def __repr__(self) -> str:
            raise ValueError("nothing to say")

    assert quoted(10**5000).startswith(hex(10**5000)[:99]) and len(quoted(10**5000)) == QUOTED + 1
    assert "Silent object at" in quoted(Silent())
    assert quoted("\x1b") == r"'\x1b'" and quoted(["a", None]) == "['a', None]"


@pytest.mark.parametrize(("value", "text"), [
    (inf, "·"), (-inf, "-∞"), (0.0, "0"), (1 / 3, "0.333333"), (1e6, "1e+06"), (np.float32(2.5), "2.5"), (5, "5"),
    (True, "1"), (np.False_, "0"), (np.int8(-3), "-3"), ("a\tb", r"a\tb"), (frozenset({1}), "{1}"),
    (10**20, "1" + "0" * (LABEL - 2) + "…"),
])
def test_elements_in_tables(value: Any, text: str) -> None:
    assert element_text(value, inf, "·") == text


def test_records_and_vectors_in_tables() -> None:
    record = np.array([(inf, 2), (0.5, 1)], [("cost", "f8"), ("hops", "i4")])
    assert [element_text(x, record[1], "·") for x in record] == ["(∞, 2)", "·"]
    vectors = np.array([([1.5, inf], 2), ([0, 0], 0)], [("d", "f8", 2), ("hops", "f8")])
    assert [element_text(x, vectors[1], "·") for x in vectors] == ["([1.5, ∞], 2)", "·"]
    assert element_text(sr.letter("x"), sr.regex.zero, "·") == "x"
    assert element_text(sr.regex.zero, sr.regex.zero, "") == ""


def test_equal_elements() -> None:
    vectors = np.array([([1, 2], 3), ([1, 2], 3), ([1, 9], 3)], [("d", "f8", 2), ("hops", "f8")])
    assert is_same(vectors[0], vectors[1]) and not is_same(vectors[0], vectors[2])
    assert is_same(2, 2.0) and not is_same(np.nan, np.nan)
    assert is_same(frozenset(), frozenset()) and not is_same(frozenset("a"), frozenset())


def test_counts_and_dtypes() -> None:
    assert [count_text(k, "vertex", "vertices") for k in (0, 1, 2)] == ["0 vertices", "1 vertex", "2 vertices"]
    assert dtype_text(np.dtype(">i4")) in (">i4", "int32") and dtype_text(np.dtype("U3")) == "<U3"
    nested = np.dtype([("at\x1b", [("x", "f4"), ("y", "f4")]), ("d", "f8", 2)])
    assert dtype_text(nested) == r"(at\x1b (x float32, y float32), d 2 × float64)"


@settings(max_examples=60)
@given(st.lists(st.floats(allow_nan=False).map("{:.6g}".format) | st.sampled_from(["∞", "·", "-∞", "…"])))
def test_columns_of_numbers(texts: list[str]) -> None:
    found = aligned(texts)
    assert [text.strip() for text in found] == texts and len({len(text) for text in found}) <= 1


def test_integers_that_are_infinities() -> None:
    top, bottom = 2**63 - 1, -(2**63)
    assert infinities(sr.min_plus, np.dtype("i8")) == {top: inf, bottom: -inf}
    assert infinities(sr.counting, np.dtype("i8")) == {top: inf}
    assert infinities(sr.max_min, np.dtype("u1")) == {255: inf, 0: -inf}
    assert infinities(sr.min_plus, np.dtype("u1")) == {255: inf}
    for S in (sr.boolean, sr.gcd_lcm, sr.saturating_min_plus(8), sr.bitset_may, sr.gf2):
        assert infinities(S, np.dtype("u1")) == {}
    assert infinities(sr.min_plus, np.dtype("f8")) == {}


def fewest_hops() -> sr.Semiring:
    """Least costs in integers, and of these the fewest hops."""
    def add(x: Any, y: Any) -> tuple[Any, Any]:
        first = (x[0] < y[0]) | ((x[0] == y[0]) & (x[1] <= y[1]))
        return np.where(first, x[0], y[0]), np.where(first, x[1], y[1])

    def mul(x: Any, y: Any) -> tuple[Any, Any]:
        return sr.saturating_add(x[0], y[0]), sr.saturating_add(x[1], y[1])

    return sr.Semiring("fewest hops", fields={"cost": "i4", "hops": "u1"}, add=add, mul=mul, zero=(inf, inf),
                       one=(0, 0), carrier=lambda x: x[0] >= 0, star=lambda x: (0, 0))


def test_components_of_records_that_are_infinities() -> None:
    S = fewest_hops()
    assert infinities(S, S.default_dtype) == {"cost": {2**31 - 1: inf}, "hops": {255: inf}}
    assert infinities(sr.shortest_hops, sr.shortest_hops.default_dtype) == {}
    x = np.array([(2**31 - 1, 7), (255, 255)], S.default_dtype)
    found = infinities(S, x.dtype)
    assert [element_text(v, None, "·", found) for v in x] == ["(∞, 7)", "(255, ∞)"]
    assert [readable(v, found) for v in x] == [(inf, 7), (255, inf)]
    M = sr.Matrix(np.array([[(0, 0), (2**31 - 1, 255)], [(2**31 - 1, 7), (0, 0)]], S.element_dtype), S)
    assert "2147483647" not in f"{M} {M._repr_html_()}" and "(∞, 7)" in str(M)


@settings(max_examples=60)
@given(st.sampled_from(["f2", "f4", "f8", "i1", "u2", "i8", "u8"]), st.data())
def test_what_is_readable_reads_back(name: str, data: st.DataObject) -> None:
    dtype = np.dtype(name)
    limits = np.iinfo(dtype) if dtype.kind != "f" else None
    numbers = (st.floats(allow_nan=False, width=8 * dtype.itemsize) if limits is None  # type: ignore[arg-type]
               else st.integers(int(limits.min), int(limits.max)))
    value = dtype.type(data.draw(numbers))
    text = str(readable(value, infinities(sr.min_plus, dtype)))
    if dtype.kind == "f":
        assert dtype.type(text) == value
    else:
        assert cast_constant(float(text) if "inf" in text else int(text), dtype) == value


def test_infinities_go_by_the_names_of_components() -> None:
    fields = {"cost": "i4", "legs": ("i2", 2), "width": "f8"}
    S = sr.Semiring("legs", fields=fields, zero=(inf, [inf, 0], inf), one=(0, [0, 0], 0), product_only=True,
                    add=lambda x, y: (x.cost, x.legs, x.width), mul=lambda x, y: (x.cost, x.legs, x.width))
    expected = {"cost": {2**31 - 1: inf}, "legs": {2**15 - 1: inf}}
    assert infinities(S, S.element_dtype) == expected
    turned = np.dtype([("width", "f8"), ("legs", "i2", 2), ("cost", "i4")])
    assert infinities(S, turned) == expected
    numbers = {"cost": {2**31 - 1: inf}, "legs.0": {2**15 - 1: inf}, "legs.1": {}}
    assert infinities(S, S.default_dtype) == numbers
