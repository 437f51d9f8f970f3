"""Lines of text as rows of fields: what separates them, quotation marks, and which lines are comments."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from semiring.errors import GraphError
from semiring.graphs.texts import shown

from .numerals import is_number
from .streams import BLANKS, WORD, numbered_lines

COMMENTS = ("#", "%")
SEPARATES = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # the first line of a list for Excel
QUOTATION = re.compile(r'"(?:[^"]|"")*"')
FIELD = re.compile(rf'"((?:[^"\\]|\\.|"")*)"(?=[{BLANKS}]|$)|([^{BLANKS}]+)')  # between blanks, quoted as by R
DECIMAL = re.compile(r"[-+]?\d+,\d+")  # a number with a decimal comma


def is_passed_over(line: str) -> bool:
    """Whether the first line of a row is empty or a comment."""
    bare = line.strip(" \r\n")
    return not bare or bare.startswith(COMMENTS) or SEPARATES.fullmatch(bare) is not None


def first_record(text: str, line: int, raw: str) -> str:
    """The first line of data, and the lines to which a quotation at its beginning extends."""
    if raw.lstrip(BLANKS).startswith('"'):
        more = numbered_lines(text, line + 1)
        while raw.count('"') % 2 and (found := next(more, None)):
            raw += found[1]
    return raw


def separator_of(line: str, decimal: str = ".") -> str | None:
    """The separator that gives a line the most fields; None for blanks."""
    line = QUOTATION.sub("", line)
    mark = max("\t;,".replace(decimal, ""), key=line.count)
    if mark not in line:
        return None
    blanks = WORD.findall(line)
    if mark == "\t" and len(blanks) > len(line.split(mark)) and all(map(is_number, blanks)):
        return None  # numbers between blanks and tabs, not names with blanks
    if mark == "," and len(blanks) > 2 and all(DECIMAL.fullmatch(word) for word in blanks if mark in word):
        return None  # decimal commas between blanks; the reader of weights reports them
    return mark


def fields_of(line: str, separator: str | None) -> list[str]:
    return words_of(line) if separator is None else next(csv.reader([line], delimiter=separator))


def words_of(line: str) -> list[str]:
    """The fields of a line between blanks; quoted fields may contain blanks.

    >>> words_of('"New York" "B" 5" 3')
    ['New York', 'B', '5"', '3']
    """
    if '"' not in line:
        return WORD.findall(line)
    return [word or re.sub(r'\\(.)|""', lambda mark: mark[1] or '"', text) for text, word in FIELD.findall(line)]


def rows_of(
    path: Path, lines: Iterable[tuple[int, str]], separator: str | None,
    is_edge: Callable[[list[str]], bool] | None = None, before: list[str] | None = None,
    marked: list[int] | None = None,
) -> Iterator[tuple[int, list[str]]]:
    """The fields of each row with its first line number, without empty lines and comments.

    After a row (`before` is a row above these lines), a line that begins like a comment is also a row if it has as many
    fields, no blank after the mark, and `is_edge` agrees; `marked` collects the numbers of such lines.
    """
    at = first = 0
    within = False  # whether a quotation is open
    width = len(before or ())

    def is_comment(line: str) -> bool:
        bare = line.lstrip(BLANKS)
        if not bare.startswith(COMMENTS):
            return False
        if is_edge is None or not width or not bare.lstrip("#%")[:1].strip(BLANKS):
            return True
        fields = fields_of(bare, separator)
        if len(fields) != width or not is_edge([field.strip(BLANKS) for field in fields]):
            return True
        if marked is not None:
            marked.append(at)
        return False

    def bare() -> Iterator[str]:
        nonlocal at, first, within
        for at, line in lines:
            if within:
                yield line
            else:
                first, within = at, True  # until the row ends
                yield "" if is_comment(line) else line

    if separator is None:
        found: Iterable[list[str]] = map(words_of, bare())
    else:
        found = csv.reader(bare(), delimiter=separator, skipinitialspace=True, strict=True)
    try:
        for row in found:
            within = False
            fields = [field.strip(BLANKS) for field in row]
            if len(fields) > 1 or any(fields):
                width = width or len(fields)
                yield first, fields
    except csv.Error as e:
        expected = 'fields that are in quotation marks as a whole or not at all'
        raise GraphError(f"{shown(path)}, line {at}: {shown(e)}; expected {expected}") from None
