"""Slow and obvious readers of every format, which import nothing of ours: what a file says, field by field.

Each takes the bytes of a file and what a caller of `semiring.read_graph` may say, and returns a `Read` or raises `Bad`.
"""

from __future__ import annotations

import csv
import io
import math
import re
import zipfile
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Any
from xml.etree import ElementTree

import numpy as np

BLANK = " \t\n\r\f\v"
NONE = object()
BRACE = "\ue000"


class Bad(Exception):
    """The file is none of its format."""


class Unread(Exception):
    """What the file says is not read by this oracle."""


@dataclass
class Read:
    """A graph: edges as (source, target, weight), vertices by name where there are names."""

    n: int
    names: list | None
    directed: bool
    edges: list[tuple[Any, Any, Any]]


# Words


def check(condition: Any, why: str) -> None:
    if not condition:
        raise Bad(why)


def decoded(data: bytes, errors: str = "strict") -> str:
    try:
        text = data.decode("utf-8", errors)
    except UnicodeDecodeError:
        raise Bad("not UTF-8") from None
    check("\0" not in text, "NUL")
    return text[1:] if text[:1] == "\ufeff" else text


def lines_of(text: str) -> list[str]:
    """Lines with their ends."""
    lines, line = [], ""
    for i, letter in enumerate(text):
        line += letter
        if letter == "\n" or (letter == "\r" and text[i + 1 : i + 2] != "\n"):
            lines.append(line)
            line = ""
    return [*lines, line] if line else lines


def words_of(line: str) -> list[str]:
    for blank in BLANK[1:]:
        line = line.replace(blank, " ")
    return [word for word in line.split(" ") if word]


def whole(text: str) -> int | None:
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits or any(d not in "0123456789" for d in digits):
        return None
    value = 0
    for d in digits.lstrip("0")[:400]:  # which is beyond every limit
        value = 10 * value + "0123456789".index(d)
    return -value if text[0] == "-" else value


def canonical(text: str) -> bool:
    """Whether an integer is spelled in the one way that counts."""
    digits = text[1:] if text[:1] == "-" else text
    return whole(text) is not None and text != "-0" and (digits == "0" or digits[0] in "123456789")


def real(text: str) -> float | None:
    """A number, NaN too; None for anything else, and for one too large."""
    mantissa, letter, exponent = text.lower().partition("d")
    if letter and exponent[:1] in ("+", "-") and "e" not in mantissa:  # as Fortran writes it
        text = f"{mantissa}e{exponent}"
    if text.lower().lstrip("+-") in ("inf", "infinity", "nan") and len(text) - len(text.lstrip("+-")) < 2:
        return float(text)
    if not text or any(c not in "0123456789+-.eE" for c in text):
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isinf(value) else value


def weight_of(text: str) -> float:
    value = real(text)
    check(value is not None and value == value, f"weight {text!r}")
    return value  # type: ignore[return-value]


def weights_of(texts: list[str]) -> list:
    """Integers if all are and fit, else floats."""
    floats = [weight_of(t) for t in texts]
    integers = [whole(t) for t in texts]
    if all(i is not None and -(2**63) <= i < 2**63 for i in integers):
        return integers
    return floats


# Lists of edges


def blank_words(line: str) -> list[str]:
    """Words between blanks, of which those in quotation marks may hold some."""
    words, at = [], 0
    while at < len(line):
        if line[at] in BLANK:
            at += 1
            continue
        if line[at] == '"':
            text, end = "", at + 1
            while end < len(line):
                if line[end] == "\\" and end + 1 < len(line) and line[end + 1] != "\n":
                    text, end = text + line[end + 1], end + 2
                elif line[end : end + 2] == '""' and line[end + 2 : end + 3] not in ("", *BLANK):
                    text, end = text + '"', end + 2
                elif line[end] == '"':
                    break
                else:
                    text, end = text + line[end], end + 1
            if line[end : end + 1] == '"' and line[end + 1 : end + 2] in ("", *BLANK):
                words.append(text)
                at = end + 1
                continue
        word = words_of(line[at:])[0]
        words.append(word)
        at += len(word)
    return words


def fields_of(text_lines: list[str], mark: str | None, weights: Any = (), width: int = 0) -> list[list[str]]:
    """Rows of fields; as in CSV where there is a mark.

    Below the first row, a line that begins as a comment is a row if it has as many fields, no blank behind the marks
    and numbers in the columns of `weights`; without a mark it has two fields, or a number behind the first.
    """
    rows: list[list[str]] = []
    row: list[str] = []
    field, state = "", "row"

    def is_comment(line: str) -> bool:
        return line.lstrip(BLANK)[:1] in ("#", "%") and line.lstrip(BLANK) != ""

    def is_row(line: str) -> bool:
        behind = line.lstrip(BLANK).lstrip("#%")[:1]
        if not rows or behind == "" or behind in BLANK:
            return False
        alone = line.lstrip(BLANK)
        try:
            row = blank_words(alone) if mark is None else fields_of(["x" + alone], mark)[0]
        except Bad:
            return False
        if len(row) != (width or len(rows[0])) or any(k >= len(row) or real(row[k]) is None for k in weights):
            return False
        return mark is not None or len(row) == 2 or any(real(f) is not None for f in row[1:])

    for line in text_lines:
        if state != "quoted" and is_comment(line) and not is_row(line):
            continue
        if mark is None:
            if blank_words(line):
                rows.append(blank_words(line))
            continue
        if state != "quoted":
            row, field, state = [], "", "field"
        for letter in [*line, None]:
            check(len(field) <= 131072, "a field too long")
            if state == "quoted":
                if letter == '"':
                    state = "quote"
                elif letter is not None:
                    field += letter
            elif letter is None or letter in "\r\n":
                if state != "done":
                    row.append(field)
                state = "done"
            elif state == "done":
                raise Bad("text after the end of a line")
            elif letter == mark:
                row.append(field)
                field, state = "", "field"
            elif state == "quote":
                check(letter == '"', "text after a quotation")
                field += '"'
                state = "quoted"
            elif state == "field" and letter == " ":
                pass
            elif state == "field" and letter == '"':
                state = "quoted"
            else:
                field += letter
                state = "plain"
        if state == "quoted":
            continue
        trimmed = [f.strip(BLANK) for f in row]
        if len(trimmed) > 1 or any(trimmed):
            rows.append(trimmed)
    check(state != "quoted", "a quotation without end")
    return rows


def square_of(lines: list[str], listed: bool) -> tuple[Any, str] | None:
    """A matrix without labels, or with labels but no empty corner, as rows of texts, and which of these it is."""
    rows: list[list[str]] = []
    separator: str | None = None
    for line in lines:
        bare = line.strip(BLANK)
        if line.strip(" \r\n") == "" or line.lstrip(" ")[:1] in ("#", "%"):
            said = bare.lstrip(" #%").lower()
            word = "".join(c if c.isalnum() or c == "_" else " " for c in said).split()[:1]
            if bare.lower().startswith("%%matrixmarket") or word in (["sym"], ["asym"], ["bip"]) or any(
                    said.startswith(x) for x in ("directed graph", "undirected graph", "fromnodeid", "nodes: ")):
                break
            continue
        outside = unquoted(line)
        if not rows:
            counts = {m: outside.count(m) for m in "\t;,"}
            separator = max(counts, key=lambda m: counts[m])
            if not counts[separator]:
                separator = None
            elif separator == "\t" and len(outside.split()) > counts["\t"] + 1:
                separator = None if all(real(w) is not None for w in outside.split()) else separator
        if separator is None:
            fields, text = [], line + " "
            at = 0
            while at < len(text):
                end = text.find('"', at + 1) if text[at] == '"' else -1
                while end >= 0 and text[end + 1 : end + 2] == '"':
                    end = text.find('"', end + 2)
                if text[at] in BLANK:
                    at += 1
                elif text[at] == '"' and end >= 0:
                    fields.append(text[at : end + 1].strip('"'))
                    at = end + 1
                else:
                    start = at
                    while text[at] not in BLANK:
                        at += 1
                    fields.append(text[start:at].strip('"'))
        else:
            try:
                fields = fields_of([line.replace("#", "\ue001").replace("%", "\ue002")], separator)[0]
            except (Bad, IndexError):
                return None
            fields = [f.replace("\ue001", "#").replace("\ue002", "%") for f in fields]
        rows.append(fields)
        if len(rows) > len(rows[0]) + 2:
            return None
    if not rows or not rows[0]:
        return None
    head, body = rows[0], rows[1:]
    is_number = lambda t: real(t) is not None  # noqa: E731
    for across in (head[1:], head):
        cornerless = across is head
        shaped = len(body) == len(across) > 0 and all(len(row) == len(across) + 1 for row in body)
        if shaped and sorted(across) == sorted(row[0] for row in body) and len(set(across)) == len(across):
            sure = cornerless or len(across) > 1 or head[0].lower() == "from"
            cells = all(c == "" or c.lower() in ("true", "false") or is_number(c) for row in body for c in row[1:])
            if sure and cells and (cornerless or not is_number(head[0])):
                return None, "labelled"  # which the library alone reads
    named = not all(map(is_number, head))
    square = body if named else rows
    if len(square) != len(head) or not all(len(r) == len(head) and all(map(is_number, r)) for r in square):
        return None
    if named:
        return None, "named"
    n = len(head)
    ends = n > 1 and all(whole(c) is not None and c[0] != "-" for row in square for c in row[:2])
    if ends and listed:
        return None
    turned = [list(column) for column in zip(*square, strict=True)]
    sure = n > 3 and (len({square[i][i] for i in range(n)}) == 1 or turned == square
                      or all(c in ("0", "1") for row in square for c in row))
    return square, "asks" if ends and not sure else "plain"


def read_square(rows: list[list[str]], directed: Any, weight: Any) -> Read:
    """The graph of a matrix, in which 0 and what is infinite or no number mean no edge."""
    integers = [[whole(c) for c in row] for row in rows]
    fits = all(i is not None and -(2**63) <= i < 2**63 for row in integers for i in row)
    values = integers if fits else [[float(c) for c in row] for row in rows]
    edges = [(i, j, None if weight is None else x) for i, row in enumerate(values) for j, x in enumerate(row)
             if x != 0 and (fits or math.isfinite(x))]
    return Read(len(rows), None, directed is not False, edges)


def table_of(lines: list[str]) -> tuple[list[str], str] | None:
    """The lines of a table of a matrix and what separates its fields; None of another text."""
    for k, line in enumerate(lines):
        if line.strip(" \r\n") == "" or line.lstrip(" ")[:1] in ("#", "%"):
            continue
        if line.strip(BLANK) == '""':
            return lines[k:], ","
        if line.strip(BLANK) == "":
            return None
        bare = line.lstrip(" ")
        if bare[:2] == '""':
            bare = bare[2:].lstrip(" ")
        return (lines[k:], bare[0]) if bare[:1] in (",", ";", "\t") and bare else None
    return None


def marked_rows(lines: list[str], mark: str) -> list[list[tuple[str, bool]]]:
    """Rows of fields, each with whether it is in quotation marks."""
    rows: list[list[tuple[str, bool]]] = []
    text, at = "".join(lines), 0
    ends = {0}
    for line in lines:
        ends.add(max(ends) + len(line))
    while at < len(text):
        line_end = min(e for e in ends if e > at)
        line = text[at:line_end]
        if line.strip(" \r\n") == "" or line.lstrip(" ")[:1] in ("#", "%"):
            at = line_end
            continue
        row: list[tuple[str, bool]] = []
        while True:
            while text[at : at + 1] == " ":
                at += 1
            if text[at : at + 1] == '"':
                field, at = "", at + 1
                while True:
                    check(at < len(text), "a quotation without end")
                    if text[at] == '"' and text[at + 1 : at + 2] == '"':
                        field, at = field + '"', at + 2
                    elif text[at] == '"':
                        at += 1
                        break
                    else:
                        field, at = field + text[at], at + 1
                check(text[at : at + 1] in ("", mark, "\r", "\n"), "text after a quotation")
                row.append((field, True))
            else:
                start = at
                while at < len(text) and text[at] not in (mark, "\r", "\n"):
                    at += 1
                row.append((text[start:at].strip(BLANK), False))
            check(len(row[-1][0]) <= 131072, "a field too long")
            if text[at : at + 1] == mark:
                at += 1
                continue
            at += 2 if text[at : at + 2] == "\r\n" else 1
            break
        rows.append(row)
    return rows


def read_table(lines: list[str], mark: str, directed: Any, weight: Any, names: Any) -> Read:
    head, *rows = marked_rows(lines, mark)
    across, down = head[1:], [row[0] for row in rows]
    check(all(len(row) == len(head) for row in rows), "rows of other lengths")
    columns, labels = [text for text, _ in across], [text for text, _ in down]
    check(len(set(labels)) == len(labels) and sorted(labels) == sorted(columns), "labels")
    plain = [text for text, marked in across + down if not marked]
    called: list[Any] | None = labels
    if names is not str and all(canonical(text) and len(text) <= 4000 for text in plain):
        called = [text if marked else whole_of(text) for text, marked in down]
        if called == list(range(len(called))) and labels == columns:
            called = None
    edges, values = [], []
    for i, row in enumerate(rows):
        for k, (cell, _) in enumerate(row[1:]):
            bare = cell.strip(BLANK)
            if bare.lower() == "true":
                bare = "1"
            if bare and bare.lower() != "false":
                edges.append((i, labels.index(columns[k])))
                if whole(bare) is not None:
                    check(len(bare) <= 4000, "too long")
                    values.append(whole_of(bare))
                else:
                    values.append(weight_of(bare))
    if sum(a != b for a, b in edges) == len(rows) * (len(rows) - 1):  # nothing is empty but on the diagonal
        apart = [v for (a, b), v in zip(edges, values, strict=True) if a != b]
        gone = [x for xs in ([0], [math.inf, -math.inf]) if any(v in xs for v in apart) for x in xs]
        left = [(e, v) for e, v in zip(edges, values, strict=True) if v not in gone]
        edges, values = [e for e, _ in left], [v for _, v in left]
    if all(isinstance(v, int) for v in values):
        kept: list[Any] = values
    else:
        large = any(isinstance(v, int) and abs(v) > 2**53 for v in values)
        kept = values if large else [float(v) for v in values]
    if weight is None:
        kept = [None] * len(edges)
    label = (lambda i: i) if called is None else (lambda i: called[i])
    found = [(label(a), label(b), w) for (a, b), w in zip(edges, kept, strict=True)]
    return Read(len(labels), called, directed is not False, found)


def whole_of(text: str) -> int:
    """An integer of any length."""
    digits = text.lstrip("+-")
    return -int(digits) if text[0] == "-" else int(digits)


def unquoted(line: str) -> str:
    """A line without what is in quotation marks, which are doubled inside."""
    kept, at = "", 0
    while at < len(line):
        end, next_ = None, at + 1
        while line[at] == '"' and next_ < len(line):
            if line[next_] == '"':
                end = next_
                if line[next_ + 1 : next_ + 2] != '"':
                    break
                next_ += 1
            next_ += 1
        if end is None:
            kept += line[at]
            at += 1
        else:
            at = end + 1
    return kept


def read_list(data: bytes, directed: Any = None, weight: Any = "weight", header: Any = None, names: Any = None,
              listed: bool = False) -> Read:
    lines = lines_of(decoded(data))
    table = table_of(lines) if header is None else None
    if table is not None and not is_saved(*table):
        return read_table(*table, directed, weight, names)
    square = square_of(lines, listed) if header is None else None
    if square is not None:
        check(square[1] != "asks", "edges or a matrix?")
        if square[0] is None:
            raise Unread(square[1])
        return read_square(square[0], directed, weight)
    first, undirected, bipartite = None, False, False
    for k, line in enumerate(lines):
        bare = line.strip(BLANK)
        if bare[:1] in ("#", "%") and bare:
            said = bare.lstrip("#% ").lower()
            word = said.split()[0] if said.split() else ""
            undirected = undirected or said.startswith("undirected graph") or word == "sym"
            bipartite = bipartite or (bare[0] == "%" and word == "bip")
        elif bare:
            first = k
            break
    check(first is not None, "no edges")
    line, following = lines[first], first + 1
    while line.lstrip(BLANK)[0] == '"' and line.count('"') % 2 and following < len(lines):
        line, following = line + lines[following], following + 1
    mark: str | None = None
    outside = unquoted(line)
    for m in "\t;,":
        if outside.count(m) > (outside.count(mark) if mark else 0):
            mark = m
    if (
        mark == "\t"
        and len(words_of(line)) > len(line.split("\t"))
        and all(real(w) is not None for w in words_of(line))
    ):
        mark = None
    commas = [w.lstrip("+-") for w in words_of(outside) if "," in w]
    if mark == "," and len(words_of(outside)) > 2 and all(
        w.count(",") == 1 and all(part.isdecimal() for part in w.split(",")) for w in commas
    ):
        mark = None  # decimal commas between blanks
    rows = fields_of(lines[first:], mark)
    check(len(rows[0]) >= 2, "one column")
    named = names_ends(rows[0]) or (weight not in (None, "weight") and weight.lower() in [f.lower() for f in rows[0]])
    numbers = [[real(f) is not None for f in row] for row in rows[:2]]
    is_header = header
    if header is None:
        beside = [is_real and (k > 0 or rows[0][0] != "") for k, is_real in enumerate(numbers[1])] if rows[1:] else []
        weights = [k for k, is_real in enumerate(beside[: len(rows[0])]) if is_real and k > 1 and weight is not None]
        is_header = named or (not any(numbers[0]) and any(beside) and not any(meant(rows[0][k]) for k in weights))
    short = len(rows) > 1 and len(rows[1]) == len(rows[0]) + 1
    if header is not False and short and (named or header):  # as R writes it
        is_header = True
        rows[0] = ["", *rows[0]]
    check(is_header or rows[0][0] != "", "an empty first field")
    columns: list = rows[0] if is_header else list(range(len(rows[0])))
    check(len(rows) > is_header, "no edges")
    a, b, w = columns_of(columns, weight, rows[bool(is_header)])
    if is_header:
        rows = fields_of(lines[first:], mark, () if w is None else (w,), len(columns))[1:]
    else:
        rows = fields_of(lines[first:], mark, () if w is None else (w,))
    check(all(len(row) == len(columns) for row in rows), "another number of fields")
    ends = [(row[a], row[b]) for row in rows]
    check(all(x and y for x, y in ends), "no vertex")
    check(not (bipartite and ends[0][0].isdecimal() and ends[0][1].isdecimal()), "two sides with the same numbers")
    values: list = [None] * len(rows)
    if w is not None:
        values = weights_of([row[w] for row in rows])
    one_way = not undirected if directed is None else directed
    integers = [[whole(t) for t in pair] for pair in ends]
    plain = all(canonical(t) for pair in ends for t in pair)
    if names is str or not plain:
        order = list(dict.fromkeys(t for pair in ends for t in pair))
        return Read(len(order), order, one_way, [(x, y, v) for (x, y), v in zip(ends, values, strict=True)])
    check(all(0 <= i < 2**64 for ints in integers for i in ints), "a vertex that is not a position or an id")
    largest = max(i for ints in integers for i in ints)
    far = largest >= 2**20 and largest >= 64 * 2 * len(rows)
    order = sorted({i for ints in integers for i in ints}) if far else None
    n = len(order) if order else largest + 1
    return Read(n, order, one_way, [(x, y, v) for (x, y), v in zip(integers, values, strict=True)])


def columns_of(columns: list, weight: Any, row: list[str]) -> tuple[int, int, int | None]:
    chosen = chosen_columns(columns, weight, row)
    check(all(columns.count(columns[k]) == 1 for k in chosen if k is not None and columns[k] != ""), "a shared name")
    return chosen


FIRM = [("from", "to"), *((a, b) for a in ("source", "src")
                          for b in ("target", "tgt", "destination", "dest", "dst", "sink")),
        ("u", "v"), *((a, b) for a in ("origin", "orig") for b in ("destination", "dest", "dst")),
        *((a, b) for a in ("start", "begin") for b in ("end", "finish")), ("row", "col"), ("row", "column")]
LOOSE = [("1", "2"), ("a", "b"), ("i", "j"), ("o", "d")]  # of the words that generated files may hold
NO_WEIGHTS = ("id", "ids", "key", "keys", "fid", "gid", "eid", "oid", "edge", "osmid", "uuid")


def words_in(name: str) -> list[str]:
    spaced = re.sub("([a-z])([A-Z])", r"\1 \2", re.sub("([A-Z])([A-Z][a-z])", r"\1 \2", name))
    return [word.lower() for word in re.findall(r"[^\W0-9_]+|[0-9]+", spaced)]


def ends_in(columns: list, skip: Any) -> tuple[int, int, int] | None:
    """How firmly two columns are called as ends, and which they are."""
    found = set()
    for order, (a, b) in enumerate(FIRM + LOOSE):
        for i, j in permutations([k for k in range(len(columns)) if k != skip and isinstance(columns[k], str)], 2):
            rests = []
            for word, name in ((a, columns[i]), (b, columns[j])):
                words = words_in(name)
                whole_name = "".join(words)
                rest = {("".join(words[:k]), "".join(words[k + 1 :])) for k, each in enumerate(words) if each == word}
                if len(word) > 1 and not rest:
                    rest |= {("", whole_name[len(word) :])} if whole_name.startswith(word) else set()
                    rest |= {(whole_name[: -len(word)], "")} if whole_name.endswith(word) else set()
                rests.append(rest)
            for before, behind in rests[0] & rests[1]:
                loose, rest_text = order >= len(FIRM), before + behind
                if not (rest_text == "" and a.isdigit()):
                    rank = 3 * loose + (0 if not rest_text else 1 if loose or rest_text in ("id", "node") else 2)
                    found.add((rank, 0 if rank in (1, 2, 4) else order, i, j))
    if not found:
        return None
    best = min(found)
    rivals = {(i, j) for rank, _, i, j in found if rank == best[0]}
    check(best[0] in (0, 3) or len(rivals) == 1, "which ends?")
    return best[0], best[2], best[3]


def meant(text: str) -> bool:
    """Whether a text stands for a weight and is not a number: it begins with a digit, or says that nothing is known."""
    words = ("na", "n/a", "null", "none", "true", "false")
    if text.lower() in words or not text.strip("-–—?.") or text.lstrip("-+−")[:1] == "∞":
        return True
    start = 0
    while start < 2 and text[start : start + 1] and not (text[start].isalnum() or text[start] in "_ "):
        start += 1
    return any(text[k:].lstrip(" ")[:1].isdecimal() for k in range(start + 1))


def names_ends(columns: list) -> bool:
    try:
        found = ends_in(columns, None)
    except Bad:
        return True
    return found is not None and found[0] < 3


def is_saved(lines: list[str], mark: str) -> bool:
    """Whether what begins as a table does is one of edges, with an index that has no name."""
    rows = []
    for line in lines:
        if line.strip(" \r\n") and line.lstrip(" ")[:1] not in ("#", "%"):
            rows.append(next(csv.reader([line], delimiter=mark, skipinitialspace=True)))
    texts = [cell.strip(BLANK) for cell in rows[1][1:]] if len(rows) > 1 else []
    of_edges = names_ends(rows[0]) or rows[0][1:2] == [""]
    of_edges = of_edges or any(text[:1].isalpha() and real(text) is None for text in texts)
    return of_edges and len(rows) > 1 and bool(rows[1]) and rows[1][0] not in rows[0]


def chosen_columns(columns: list, weight: Any, row: list[str]) -> tuple[int, int, int | None]:
    plain = [str(c).strip().lower() for c in columns]
    name = "weight" if weight is None else weight
    heavy = columns.index(name) if name in columns else None
    if heavy is None and plain.count(str(name).strip().lower()) == 1:
        heavy = plain.index(str(name).strip().lower())
    known = ends_in(columns, heavy)
    if weight not in (None, "weight"):
        among = ends_in(columns, None)
        check(not (among and among[0] < 3 and heavy in among[1:]), "the weight is an end")
    light = [k for k in range(len(columns)) if k != heavy]
    check(len(light) >= 2, "no two ends")

    def saved(k: int) -> bool:
        return plain[k] == "__index_level_0__" or (
            k == 0 and plain[k] in ("", "unnamed: 0", "index") and columns[:2] != ["", ""])

    def is_key(k: int) -> bool:
        words = words_in(str(columns[k]))
        return "".join(words) in NO_WEIGHTS or (len(words) > 1 and words[-1] == "id")

    if known:
        a, b = known[1:]
    else:
        others = [k for k in light if not saved(k)]
        light = others if len(others) > 1 else light
        if isinstance(columns[0], str):
            check(len(light) <= (3 if heavy is None else 2), "which ends?")
            check(len(light) < 3 or not any(map(is_key, light)), "which ends?")
        a, b = light[:2]
    if weight is None:
        return a, b, None
    if heavy is not None:
        return a, b, heavy
    check(weight == "weight", "no such column")
    free = [k for k in range(len(columns)) if k not in (a, b)]
    ways = [k for k in free if "".join(words_in(str(columns[k]))) == "type" and k < len(row)
            and row[k].lower() in ("directed", "undirected")]
    rest = [k for k in free if k not in ways and not is_key(k) and not saved(k)]
    numeric = [k for k in rest if k < len(row) and (value := real(row[k])) is not None and value == value]
    rest = numeric if len(rest) > 1 and numeric else rest
    check(len(rest) <= 1, "which column?")
    return a, b, rest[0] if rest else None


# DIMACS and Matrix Market


def read_gr(data: bytes, directed: Any = None, weight: Any = "weight") -> Read:
    n = m = None
    ends, texts = [], []
    for line in lines_of(decoded(data)):
        words = words_of(line)
        if not words or words[0] == "c":
            continue
        if n is None:
            check(words[:2] == ["p", "sp"] and len(words) == 4, "no problem")
            n, m = whole(words[2]), whole(words[3])
            check(n is not None and m is not None and 0 <= n < 2**63 and 0 <= m < 2**63, "no size")
            continue
        check(words[0] == "a" and len(words) == 4, "no arc")
        pair = [whole(w) for w in words[1:3]]
        check(all(v is not None and 1 <= v <= n for v in pair), "no vertex")
        ends.append([v - 1 for v in pair])
        texts.append(words[3])
    check(n is not None and m == len(ends), "another number of arcs")
    values = weights_of(texts) if weight is not None else [weight_of(t) and None for t in texts]
    return Read(
        n,
        None,
        directed is not False,
        [(a, b, None if weight is None else v) for (a, b), v in zip(ends, values, strict=True)],
    )


def read_mtx(data: bytes, directed: Any = None, weight: Any = "weight") -> Read:
    lines = lines_of(decoded(data, "replace"))
    check(lines, "empty")
    head = lines[0].lower().split()
    check(len(head) == 5 and head[:2] == ["%%matrixmarket", "matrix"], "no banner")
    layout, field, symmetry = head[2:]
    check(layout in ("coordinate", "array"), "layout")
    check(field in ("real", "double", "integer", "unsigned-integer", "complex", "pattern"), "field")
    check(symmetry in ("general", "symmetric", "skew-symmetric", "hermitian"), "symmetry")
    check(field != "pattern" or (layout != "array" and symmetry != "skew-symmetric"), "pattern")
    check(symmetry != "hermitian" or field == "complex", "hermitian")
    rows = [words_of(line) for line in lines[1:] if line.strip(BLANK) and line.lstrip(BLANK)[0] != "%"]
    check(rows, "no size")
    size = [whole(w) for w in rows[0]]
    check(len(size) == (3 if layout == "coordinate" else 2), "size")
    check(all(s is not None and 0 <= s < 2**63 for s in size), "size")
    check(size[0] == size[1], "not square")
    n, entries = size[0], []
    parts = {"complex": 2, "pattern": 0}.get(field, 1)
    for row in rows[1:]:
        skip = 2 if layout == "coordinate" else 0
        check(len(row) == skip + parts, "numbers in a line")
        place = [whole(w) for w in row[:skip]]
        check(all(p is not None and 1 <= p <= n for p in place), "outside")
        values: list = []
        for word in row[skip:]:
            if field in ("integer", "unsigned-integer"):
                values.append(whole(word))
                low = 0 if field[0] == "u" else -(2**63)
                check(values[-1] is not None and low <= values[-1] < 2**64, "no integer")
            else:
                values.append(weight_of(word))
        value = complex(*values) if parts == 2 else values[0] if parts else None
        entries.append((*place, value))
    if "integer" in field:
        found = [e[-1] for e in entries]
        check(not found or max(found) < 2**63 or min(found) >= 0, "no dtype")
    if layout == "coordinate":
        check(len(entries) == size[2], "another number of entries")
        entries = [(i - 1, j - 1, v) for i, j, v in entries]
    else:
        start = {"general": lambda j: 0, "skew-symmetric": lambda j: j + 1}.get(symmetry, lambda j: j)
        check(n <= 10_000, "too large for this reader")
        places = [(i, j) for j in range(n) for i in range(start(j), n)]
        check(len(places) == len(entries), "another number of entries")
        entries = [(i, j, v) for (i, j), (v,) in zip(places, entries, strict=True) if v != 0 and abs(v) < math.inf]
    if symmetry != "general":
        stored = {(i, j) for i, j, _ in entries}
        check(not any(i != j and (j, i) in stored for i, j in stored) or layout == "array", "both halves")
    if symmetry == "skew-symmetric":
        check(all(i != j or v == 0 for i, j, v in entries), "a diagonal")
        apart = [v for i, j, v in entries if i != j]
        wide = any(v >= 2**63 for *_, v in entries) if "integer" in field else False
        check("integer" not in field or not apart or (not wide and min(apart) > -(2**63)), "65 bits")
        entries += [(j, i, -v) for i, j, v in entries if i != j]
    if symmetry == "hermitian":
        check(all(v.imag == 0 for i, j, v in entries if i == j), "a diagonal that is not real")
        entries += [(j, i, v.conjugate()) for i, j, v in entries if i != j]
    if weight is None:
        entries = [(i, j, None) for i, j, _ in entries]
    return Read(n, None, symmetry != "symmetric" and directed is not False, entries)


# Arrays


def array_of(file: io.BytesIO) -> np.ndarray:
    try:
        found = np.lib.format.read_array(file, allow_pickle=False)
    except Exception as e:
        raise Bad(str(e)) from None
    for kind in kinds(found.dtype):
        check(kind in "biufcUS", "a dtype without numbers or texts")
    return found


def kinds(dtype: np.dtype) -> str:
    if dtype.subdtype:
        return kinds(dtype.subdtype[0])
    return "".join(kinds(dtype[f]) for f in dtype.names) if dtype.names else dtype.kind


def read_npy(data: bytes, directed: Any = None, weight: Any = "weight") -> Read:
    file = io.BytesIO(data)
    array = array_of(file)
    zero = array_of(file) if file.tell() < len(data) else None
    check(file.tell() == len(data), "more bytes")
    return of_array(array, zero, directed, weight)


def of_array(array: np.ndarray, zero: Any, directed: Any, weight: Any) -> Read:
    if array.ndim == 2 and array.shape[0] == array.shape[1]:
        return of_matrix(array, zero, None, directed, weight)
    check(zero is None, "a zero of no matrix")
    if array.dtype.names:
        check(array.ndim == 1 and len(array.dtype.names) in (2, 3), "fields")
        columns = [array[f].tolist() for f in array.dtype.names]
    else:
        check(array.ndim == 2 and array.shape[1] in (2, 3), "shape")
        columns = [array[:, k].tolist() for k in range(array.shape[1])]
    return of_columns(columns, None, None, directed, weight)


def of_matrix(matrix: np.ndarray, zero: Any, names: Any, directed: Any, weight: Any) -> Read:
    n = len(matrix)
    if zero is not None:
        if matrix.dtype == np.float64 and zero.shape == () and zero.dtype.kind in "iu":  # integers beside infinities
            ends = np.iinfo(zero.dtype)
            whole = [[{np.inf: ends.max, -np.inf: ends.min}.get(x) if np.isinf(x) else x for x in row]
                     for row in matrix.tolist()]
            if all(x == x and x == int(x) and ends.min <= x <= ends.max for row in whole for x in row):
                matrix = np.array([[int(x) for x in row] for row in whole], zero.dtype).reshape(matrix.shape)
        check(zero.shape == () and zero.dtype.newbyteorder("=") == matrix.dtype.newbyteorder("="), "zero")
    else:
        check(matrix.dtype.kind in "biufc", "no numbers")
    edges = []
    for i in range(n):
        for j in range(n):
            x = matrix[i, j]
            present = bool(x != zero) if zero is not None else bool(x != 0) and bool(np.isfinite(x))
            if present:
                edges.append((i, j, x.tolist()))
    kept = weight is not None and matrix.dtype.kind != "b"
    edges = [(i, j, v if kept else None) for i, j, v in edges]
    check(all(is_weight(v) for *_, v in edges), "NaN")
    check(names is None or (len(names) == n and len(set(names)) == n), "names")
    return Read(n, names, directed is not False, [named(e, names) for e in edges])


def named(edge: tuple, names: Any) -> tuple:
    return edge if names is None else (names[edge[0]], names[edge[1]], edge[2])


def is_weight(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(is_weight, value))
    return value is None or value == value


def of_columns(columns: list, n: Any, names: Any, directed: Any, weight: Any) -> Read:
    a, b = columns[:2]
    values = columns[2] if len(columns) == 3 and weight is not None else [None] * len(a)
    check(len(a) == len(b) == len(values), "lengths")
    check(all(is_weight(v) for v in values), "NaN")
    ends = [*a, *b]
    check(not any(isinstance(v, (bool, complex)) for v in ends), "truth values or complex numbers")
    numeric = [all(isinstance(v, (int, float)) for v in end) for end in (a, b)]
    for end, plain in zip((a, b), numeric, strict=True):
        if plain:
            check(all(math.isfinite(v) and v == int(v) for v in end), "no position")
            check(all(-(2**63) <= v < (2**63 if isinstance(v, float) else 2**64) for v in end), "no 64 bits")
    a, b = ([int(v) for v in end] if plain else end for end, plain in zip((a, b), numeric, strict=True))
    pairs = list(zip(a, b, values, strict=True))
    directed = directed is not False
    if not all(numeric) or (names and any(isinstance(x, int) for x in names)):
        if names is None:
            names = list(dict.fromkeys(v for x, y, _ in pairs for v in (x, y)))
        check(n is None or n == len(names), "n")
        check(len(set(names)) == len(names) and all(v in set(names) for v in (*a, *b)), "no name")
        return Read(len(names), names, directed, pairs)
    if names is not None:
        check(n is None or n == len(names), "n")
        n = len(names)
        check(len(set(names)) == n, "names")
    largest = max([*a, *b], default=-1)
    check(min([*a, *b], default=0) >= 0, "negative")
    if n is None:
        n = largest + 1
        if n > 2**20 and n > 64 * (len(a) + len(b)):
            names = sorted({*a, *b})
            return Read(len(names), names, directed, pairs)
    check(largest < n, "outside")
    return Read(n, names, directed, [named(e, names) for e in pairs])


def read_npz(data: bytes, directed: Any = None, weight: Any = "weight") -> Read:
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        listed = [entry.filename for entry in archive.infolist()]
        check(all(e.compress_type in (0, 8) for e in archive.infolist()), "compression")
        keys = [name.removesuffix(".npy") for name in listed]
        check(len(set(keys)) == len(keys), "two of one name")
    except Bad:
        raise
    except Exception as e:
        raise Bad(str(e)) from None

    class Arrays(dict):
        def __missing__(self, key: str) -> np.ndarray:
            check(key in keys, f"no {key}")
            try:
                member = archive.read(listed[keys.index(key)])
            except Exception as e:
                raise Bad(str(e)) from None
            file = io.BytesIO(member)
            self[key] = array_of(file)
            check(file.tell() == len(member), "more bytes")
            return self[key]

    z = Arrays()

    def column(key: str, allowed: str, dimensions: int = 1) -> list:
        check(z[key].ndim == dimensions and z[key].dtype.kind in allowed, key)
        return z[key].tolist()

    if "format" in keys:
        return of_sparse(z, column, keys, directed, weight)
    names = column("names", "iuU") if "names" in keys else None
    if "matrix" in keys:
        check(z["matrix"].ndim == 2 and z["matrix"].shape[0] == z["matrix"].shape[1], "square")
        return of_matrix(z["matrix"], z["zero"] if "zero" in keys else None, names, directed, weight)
    ends = [("row", "col"), ("sources", "targets"), ("from", "to"), ("source", "target"), ("src", "dst"), ("u", "v")]
    pair = next((p for p in ends if set(p) <= set(keys)), None)
    if pair is None:
        check(len(keys) == 1, "no ends")
        return of_array(z[keys[0]], None, directed, weight)
    columns = [column(end, "iufU") for end in pair]
    values = next((k for k in ("data", "weights", "weight") if k in keys), None)
    if values and weight is not None:
        columns.append(column(values, "biufcV"))
    n = None
    if "n" in keys:
        n = column("n", "iu", 0)
        check(n >= 0, "n")  # type: ignore[operator]
    elif "shape" in keys:
        shape = column("shape", "iu")
        check(len(shape) == 2 and shape[0] == shape[1] >= 0, "shape")
        n = shape[0]
    return of_columns(columns, n, names, directed, weight)


def of_sparse(z: Any, column: Any, keys: list, directed: Any, weight: Any) -> Read:
    check(z["format"].shape == () and z["format"].dtype.kind in "US", "format")
    kind = z["format"].item()
    kind = kind.decode("latin-1") if isinstance(kind, bytes) else kind
    check(kind in ("coo", "csr", "csc", "bsr", "dia"), "format")
    shape = column("shape", "iu")
    check(len(shape) == 2 and shape[0] == shape[1] >= 0, "shape")
    n = shape[0]
    data = column("data", "biufc", {"bsr": 3, "dia": 2}.get(kind, 1))
    entries: list[tuple] = []
    if kind == "coo":
        if "coords" in keys:
            coords = column("coords", "iu", 2)
            check(len(coords) == 2, "coords")
            rows, columns = coords
        else:
            rows, columns = column("row", "iu"), column("col", "iu")
        check(len(rows) == len(columns) == len(data), "lengths")
        entries = list(zip(rows, columns, data, strict=True))
    elif kind == "dia":
        offsets = column("offsets", "iu")
        check(len(offsets) == len(data) and len(set(offsets)) == len(offsets), "offsets")
        check(all(-n <= k <= n for k in offsets), "offsets")
        for k, diagonal in zip(offsets, data, strict=True):
            for j, v in enumerate(diagonal):
                if 0 <= j - k < n and j < n and v != 0:
                    entries.append((j - k, j, v))
    else:
        indices, offsets = column("indices", "iu"), column("indptr", "iu")
        high, wide = z["data"].shape[1:] if kind == "bsr" else (1, 1)
        step = (wide if kind == "csc" else high) or 1
        check(n % step == 0 and len(offsets) == n // step + 1 and offsets[0] == 0, "offsets")
        check(all(x <= y for x, y in pairwise(offsets)), "offsets")
        check(offsets[-1] <= len(indices) and offsets[-1] <= len(data), "offsets")
        for major in range(len(offsets) - 1):
            for k in range(offsets[major], offsets[major + 1]):
                if kind == "csr":
                    entries.append((major, indices[k], data[k]))
                elif kind == "csc":
                    entries.append((indices[k], major, data[k]))
                else:
                    for p in range(high):
                        for q in range(wide):
                            place = major * high + p, indices[k] * wide + q
                            check(0 <= place[1] < n, "outside")
                            if data[k][p][q] != 0:
                                entries.append((*place, data[k][p][q]))
    check(all(0 <= i < n and 0 <= j < n for i, j, _ in entries), "outside")
    truth = z["data"].dtype.kind == "b"
    if truth:
        entries = [e for e in entries if e[2]]
    edges = [(i, j, None if truth or weight is None else v) for i, j, v in entries]
    check(all(is_weight(v) for *_, v in edges), "NaN")
    return Read(n, None, directed is not False, edges)


# GraphML


def read_graphml(data: bytes, directed: Any = None, weight: Any = "weight", names: Any = None) -> Read:
    """Where no attribute is called weight, the only one of a type of numbers that edges have is the weight."""
    plain, keys, _ = read_weighted(data, directed, weight, names)
    if weight != "weight" or not plain.edges or "weight" in [name for name, *_ in keys.values()]:
        return plain
    found = []
    for name in {name for name, kind, _ in keys.values() if kind in ("int", "long", "float", "double")}:
        try:
            read, _, lacking = read_weighted(data, directed, name, names)
        except Bad as e:
            if str(e) == "no such attribute":
                continue
            raise
        words = words_in(name)
        if "".join(words) not in NO_WEIGHTS and words[1:][-1:] != ["id"]:
            found.append((read, lacking))
    check(len(found) < 2, "which attribute?")
    check(not found or not found[0][1], "some edges lack it")
    return found[0][0] if found else plain


def read_weighted(data: bytes, directed: Any, weight: Any, names: Any) -> tuple[Read, dict[str, tuple], int]:
    """With an attribute for weights; the attributes, and how many edges lack this one."""
    check(b"<!ENTITY" not in data, "entities")
    try:
        # a brace ends a namespace in this parser's names, also where a namespace holds one
        root = ElementTree.fromstring(data.replace(b"}", BRACE.encode()))
        for element in root.iter():
            element.text = element.text and element.text.replace(BRACE, "}")
            for key, value in element.items():
                element.set(key, value.replace(BRACE, "}"))
    except Exception as e:
        raise Bad(str(e)) from None
    tag = lambda e: e.tag.rpartition("}")[2]  # noqa: E731
    check(tag(root) == "graphml", "root")
    everywhere = [tag(e) for e in root.iter()]
    check("hyperedge" not in everywhere, "hyperedge")
    keys: dict[str, tuple[str, str, Any]] = {}
    for key in root:
        if tag(key) == "key" and key.get("for", "all") in ("edge", "all"):
            label = key.get("id")
            check(label is not None and label not in keys, "key")
            name, kind = key.get("attr.name", label), key.get("attr.type", "string")
            check(name != weight or all(name != other for other, *_ in keys.values()), "two weights")
            keys[label] = (name, kind, NONE)
            for child in key:
                if tag(child) == "default" and name == weight:
                    check(not len(child), "elements in a value")
                    keys[label] = (name, kind, xml_value(child.text, kind))
    graphs = [e for e in root if tag(e) == "graph"]
    check(len(graphs) == 1 and graphs[0].get("edgedefault") in ("directed", "undirected"), "graph")
    one_way = graphs[0].get("edgedefault") == "directed"
    nodes, edges, ways = [], [], []

    def walk(graph: Any) -> None:
        check(graph.get("edgedefault") in ("directed", "undirected"), "edgedefault")
        for child in graph:
            inside.append((graph, child))
            for e in child:
                check(tag(e) != "graph" or tag(child) == "node", "a graph elsewhere")
                if tag(e) == "graph":
                    walk(e)

    inside: list[tuple[Any, Any]] = []
    walk(graphs[0])
    check(everywhere.count("graph") == 1 + sum(tag(e) == "graph" for _, child in inside for e in child), "graphs")
    for graph, e in inside:
        if tag(e) == "node":
            check(e.get("id") is not None, "id")
            nodes.append(e.get("id"))
        if tag(e) == "edge":
            check(e.get("source") is not None and e.get("target") is not None, "ends")
            way = e.get("directed", "true" if graph.get("edgedefault") == "directed" else "false")
            check(way in ("true", "1", "false", "0"), "directed")
            ways.append(way in ("true", "1"))
            value = NONE
            for child in e:
                if tag(child) == "data":
                    check(child.get("key") in keys, "key")
                    name, kind, _ = keys[child.get("key")]
                    if name == weight:
                        check(value is NONE and not len(child), "two values")
                        value = xml_value(child.text, kind)
            edges.append([e.get("source"), e.get("target"), value])
    check(len(set(nodes)) == len(nodes) and all(v in set(nodes) for e in edges for v in e[:2]), "nodes")
    for name, _, default in keys.values():
        if name == weight:
            for e in edges:
                e[2] = default if e[2] is NONE else e[2]
    if all(e[2] is NONE for e in edges):
        check(not edges or weight in (None, "weight"), "no such attribute")
        edges = [[*e[:2], None] for e in edges]
    lacking = sum(e[2] is NONE for e in edges)
    edges = [(a, b, 1 if w is NONE else w) for a, b, w in edges]
    types = {type(w) for *_, w in edges}
    exact = all(type(w) is not int or int(float(w)) == w for *_, w in edges)
    if len(types) > 1 and (float not in types or exact):  # in one array
        edges = [(a, b, float(w) if float in types else int(w)) for a, b, w in edges]
    one_way = (any(ways) if ways else one_way) and directed is not False
    edges += [(b, a, w) for (a, b, w), way in zip(edges, ways, strict=True) if one_way and not way and a != b]
    integers = [whole(name) for name in nodes]
    plain = all(canonical(t) and -(2**63) <= i < 2**64 for i, t in zip(integers, nodes, strict=True))
    if names is str or not plain:
        return Read(len(nodes), nodes, one_way, edges), keys, lacking
    edges = [(int(a), int(b), w) for a, b, w in edges]
    if set(integers) == set(range(len(nodes))):
        return Read(len(nodes), None, one_way, edges), keys, lacking
    return Read(len(nodes), integers, one_way, edges), keys, lacking


def xml_value(text: str | None, kind: str) -> Any:
    text = (text or "").strip(" \t\r\n")
    if kind == "boolean":
        check(text.lower() in ("true", "false", "0", "1"), "truth value")
        return text.lower() in ("true", "1")
    integer = whole(text)
    fits = integer is not None and -(2**63) <= integer < 2**63
    if text.lstrip("+-")[:2].lower() == "0x" and kind not in ("int", "long"):
        try:
            return float.fromhex(text)
        except (ValueError, OverflowError):
            raise Bad("hexadecimal") from None
    if kind in ("int", "long"):
        check(fits, "integer")
        return integer
    return integer if fits and kind not in ("float", "double") else weight_of(text)


READERS = {"csv": read_list, "tsv": read_list, "edges": read_list, "mtx": read_mtx, "gr": read_gr, "npy": read_npy,
           "npz": read_npz, "graphml": read_graphml}
