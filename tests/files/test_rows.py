"""Lines of text as rows of fields: separators, quotation marks and comments."""

from __future__ import annotations

from pathlib import Path

import pytest
from files.reading import refused

from semiring.files.rows import fields_of, first_record, is_passed_over, rows_of, separator_of


@pytest.mark.parametrize(("line", "decimal", "separator"), [
    ("a,b;c;d", ".", ";"), ("a b", ".", None), ("1\t2 3", ".", None), ("New York\tAyr", ".", "\t"),
    ('"a,b,c";d', ".", ";"),
    ("0 1 2,5", ".", None), ("0,1 2,5", ".", ","), ("1,5 2,5", ",", None), ("1,5;2,5;3,5", ",", ";"),
])
def test_the_mark_that_makes_most_fields_separates_them(line, decimal, separator):
    assert separator_of(line, decimal) == separator


def test_comments_and_empty_lines_are_passed_over():
    assert all(map(is_passed_over, ["", " \r\n", "# x", "%", "  # x", '"sep=;"', "sep=\t"]))
    assert not any(map(is_passed_over, ["a", '"#"', "sep=;;"]))


def test_the_first_record_ends_with_its_quotation():
    text = '# x\n"a\nb",c\nd,e\n'
    assert first_record(text, 2, '"a\n') == '"a\nb",c\n'
    assert first_record(text, 4, "d,e\n") == "d,e\n"
    assert fields_of('"New York" 3', None) == fields_of('"New York",3', ",") == ["New York", "3"]


def test_a_quotation_may_go_over_lines_in_any_column(tmp_path):
    rows = list(rows_of(Path("g.csv"), [(1, 'a,"b\n'), (2, '# c",1\n'), (3, "#x\n"), (5, "d,e,2")], ","))
    assert rows == [(1, ["a", "b\n# c", "1"]), (5, ["d", "e", "2"])]
    with refused("g.csv, line 2: "):
        list(rows_of(Path("g.csv"), [(1, "a,b\n"), (2, '"c"d,e\n')], ","))
    rows = list(rows_of(Path("g.txt"), [(1, " a\t b \n"), (2, "\n"), (4, "% c\n")], None))
    assert rows == [(1, ["a", "b"])]
