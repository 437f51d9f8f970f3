"""Numbers as files spell them, and tables of them."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from semiring.files import numerals
from semiring.files.numerals import integer, integers, number, table


@settings(max_examples=500)
@given(text=st.text(alphabet="0123+-.eE,; \t\n\r", max_size=14), block=st.sampled_from([1, 3, 5, 1 << 16]))
def test_other_spellings_are_found_across_blocks(text, block):
    other = re.search(r"(?:^|(?<=[ \t\r\n,;]))(?:\+|0[0-9]|-0(?:[ \t\r\n,;0-9+-]|$))", text)
    kept, numerals.BLOCK = numerals.BLOCK, block
    try:
        assert numerals._is_plain(text.encode(), True) is (other is None)
        assert numerals._is_plain(text.encode(), False)
        assert not numerals._is_plain(text.encode() + b"\x1c", False)
    finally:
        numerals.BLOCK = kept


SPELLED = st.text(alphabet="0123456789+-.eE_ infatyxINF٣", max_size=8) | st.floats().map(repr) | st.integers().map(str)


@settings(max_examples=400)
@given(SPELLED)
@example("1e400")
@example("-.5")
@example("5.")
@example("-iNf")
@example("infinity")
@example("+NaN")
@example("1_0")
@example("٣")
@example("1\n")
def test_a_number_is_what_python_reads_in_plain_ascii(text: str) -> None:
    try:
        expected = float(text) if text.isascii() and text.strip() == text and "_" not in text else None
    except ValueError:
        expected = None
    if expected is not None and math.isinf(expected) and not text.lower().endswith(("inf", "infinity")):
        expected = None  # beyond all floats
    found = number(text)
    assert found == expected or (found != found and expected != expected)


LIMITS = [(-(2**63), 2**63 - 1), (0, 2**64 - 1), (1, 3)]


@settings(max_examples=300)
@given(SPELLED | st.integers(-(2**66), 2**66).map(str), st.sampled_from(LIMITS))
@example("0" * 5000 + "7", LIMITS[0])
@example("9" * 5000, LIMITS[1])
@example("-" + "0" * 30, LIMITS[1])
@example("", LIMITS[1])
@example("+", LIMITS[1])
def test_an_integer_is_one_between_its_limits(text: str, limits: tuple[int, int]) -> None:
    digits, value = text.lstrip("+-").lstrip("0"), None
    if re.fullmatch(r"[+-]?[0-9]+", text) and len(digits) < 30:  # with more it is beyond all limits
        value = int(digits or "0") * (-1 if text[0] == "-" else 1)
    low, high = limits
    assert integer(text, low, high) == (value if value is not None and low <= value <= high else None)


def test_integers_are_all_of_64_bits_or_none() -> None:
    found = integers([str(-(2**63)), "+7", "007", str(2**63 - 1)])
    assert found is not None and found.tolist() == [-(2**63), 7, 7, 2**63 - 1] and found.dtype == np.int64
    for text in ("1.0", "", " 1", str(2**63), "x"):
        assert integers(["1", text]) is None
    assert integers([]).tolist() == []


ROW = np.dtype([("a", "i8"), ("b", "i8"), ("w", "f8")])


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize(("separator", "mark"), [(",", ","), (None, "  "), ("\t", "\t")])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_tables_of_plain_numbers(
    monkeypatch: pytest.MonkeyPatch, separator: str | None, mark: str, end: str, large: bool
) -> None:
    if large:
        monkeypatch.setattr(numerals, "FILE_CHARACTERS", 4)  # through a file in memory, where there are such
    rows = [(0, 1, 2.5), (2**63 - 1, -3, -0.0), (7, 10**6, 1e300), (1, 1, 5e-324)]
    text = end.join(mark.join(map(repr, row)) for row in rows)
    for ending in ("", end, end + end):
        found = table(text + ending, ROW, separator)
        assert found is not None and found.tolist() == rows


@pytest.mark.parametrize("text", [
    "1,2", "1,2,3,4", "1,2,3\n1,2\n", "1,2,x", "1.0,2,3", "1,2,1e400", "1,2,inf", "1,2,nan", '1,2,"3"', "1,2,3\x0b",
    "1,2,3 # c", f"{2**63},2,3", "1,,3", "1,2,0x10", "1,2,1_0", "1,2,٣", "١,2,3", "1,2,3\x00",
])
def test_tables_with_anything_else_are_left_to_others(text: str) -> None:
    assert table("1,2,3\n", ROW, ",") is not None
    assert table(f"1,2,3\n{text}", ROW, ",") is None
    assert table(text, ROW, ",") is None


def test_one_spelling_of_each_integer_where_that_is_asked() -> None:
    for text in ("007,1,2", "+1,1,2", "1,-0,2", "1,1,+2"):
        assert table(text, ROW, ",") is not None and table(text, ROW, ",", canonical=True) is None
    for text in ("7,1,0.5", "0,0,-0.5", "-7,10,0", "100,1,1e-05"):
        assert table(text, ROW, ",", canonical=True) is not None
