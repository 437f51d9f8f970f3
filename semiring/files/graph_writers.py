"""Matrices to files of graphs: GraphML, GML, Pajek and DIMACS.

An edge for each entry that is not zero; what the formats have no place for stands in a comment (`notes`). What one
cannot hold is refused, with the name or the entry.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO
from xml.sax.saxutils import quoteattr

import numpy as np

from semiring.errors import SemiringError
from semiring.graphs.matrix import Matrix
from semiring.graphs.texts import quoted, shown, shown_infinities, with_infinities

from .notes import comment, single_kind
from .writers import BLOCK, kept_names, utf8

NO_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
NO_LINE = re.compile("[\n\0]")
NO_GML = re.compile(r"\(\)|\[\]")  # NetworkX reads an empty tuple and an empty list
EXACT = 2**53  # integers up to which are floats
Write = Callable[[TextIO], object]


def write_graphml(path: Path, M: Matrix) -> None:
    names = _texts(path, M, "GraphML", NO_XML.search)
    ids = list(map(quoteattr, map(str, range(M.n)) if names is None else map(str, names)))
    kind = "double" if M.dtype.kind == "f" or _has_infinity(M) else "long"
    edge = "    <edge source={} target={}><data key=\"weight\">{}</data></edge>\n"
    with utf8(path) as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        file.write(f"<!--{comment(M, names)}-->\n")
        file.write('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        if M.dtype.kind != "b":
            file.write(f'  <key id="weight" for="edge" attr.name="weight" attr.type="{kind}"/>\n')
        file.write('  <graph edgedefault="directed">\n')
        file.writelines(f"    <node id={name}/>\n" for name in ids)
        for u, v, weight in _edges(path, M, "GraphML", 2**63 - 1):
            if weight is None:
                file.write(f"    <edge source={ids[u]} target={ids[v]}/>\n")
            else:
                file.write(edge.format(ids[u], ids[v], repr(weight).upper().replace("E", "e")))
        file.write("  </graph>\n</graphml>\n")


def write_gml(path: Path, M: Matrix) -> None:
    names = _texts(path, M, "GML", NO_GML.fullmatch)
    with utf8(path) as file:
        file.write(f"# {comment(M, names)}\ngraph [\n  directed 1\n")
        for i in range(M.n):
            label = "" if names is None else f' label "{_in_ascii(str(names[i]))}"'
            file.write(f"  node [ id {i}{label} ]\n")
        for u, v, weight in _edges(path, M, "GML", 2**63 - 1):
            shown_weight = "" if weight is None else f" weight {_gml_number(weight)}"
            file.write(f"  edge [ source {u} target {v}{shown_weight} ]\n")
        file.write("]\n")


def write_pajek(path: Path, M: Matrix) -> None:
    names = _texts(path, M, "Pajek", NO_LINE.search)
    with utf8(path) as file:
        file.write(f"% {comment(M, names)}\n*Vertices {M.n}\n")
        for i in range(M.n):
            label = str(i if names is None else names[i]).replace("\\", "\\\\").replace('"', '\\"')
            file.write(f'{i + 1} "{label}"\n')
        file.write("*Arcs\n")
        for u, v, weight in _edges(path, M, "Pajek", EXACT):
            file.write(f"{u + 1} {v + 1}\n" if weight is None else f"{u + 1} {v + 1} {weight!r}\n")


def write_dimacs(path: Path, M: Matrix) -> None:
    if M.names is not None:
        raise SemiringError(f"{shown(path)}: DIMACS numbers its vertices, and these have names, as "
                            f"{quoted((*M.names, '')[0])}: write .graphml, or Matrix(M.array, M.semiring) without them")
    count = np.count_nonzero(M.array != M.semiring.zero_in(M.dtype))
    with utf8(path) as file:
        file.write(f"c {comment(M, None)}\np sp {M.n} {count}\n")
        for u, v, weight in _edges(path, M, "DIMACS", EXACT if M.dtype.kind == "f" else 2**63 - 1):
            length = 1 if weight is None else weight
            if isinstance(length, float) and not (length.is_integer() and abs(length) <= EXACT):
                raise SemiringError(f"{shown(path)}: DIMACS holds lengths that are whole numbers, and entry "
                                    f"{_entry(M, u, v)} is {length}: write .graphml, or round the matrix")
            file.write(f"a {u + 1} {v + 1} {int(length)}\n")


def _texts(path: Path, M: Matrix, form: str, holds_no: Callable[[str], Any]) -> list[int | str] | None:
    """Names of one kind, each of which the format can hold; None for positions."""
    if M.names is None:
        return None
    names = kept_names(path, M.names)
    single_kind(path, names)
    bad = next((name for name in names if holds_no(str(name))), None)
    if bad is not None:
        raise SemiringError(f"{shown(path)}: {form} cannot hold the name {quoted(bad)}: write .csv, or rename the "
                            "vertex")
    return names


def _edges(path: Path, M: Matrix, form: str, largest: int) -> Iterator[tuple[int, int, int | float | None]]:
    """The entries that are not zero, as ends and weights; None for weights that are all true."""
    rows, columns = np.nonzero(M.array != M.semiring.zero_in(M.dtype))
    meant = shown_infinities(M.semiring, M.dtype) if _has_infinity(M) else {}
    for start in range(0, len(rows), BLOCK):
        i, j = rows[start : start + BLOCK], columns[start : start + BLOCK]
        values = M.array[i, j]
        weights: Sequence[Any]
        if values.dtype.kind == "b":
            wrong, weights = np.flatnonzero(~values), [None] * len(values)
        elif values.dtype.kind == "f":
            wrong, weights = np.empty(0, int), values.astype(np.float64).tolist()  # whose shortest texts are exact
        else:
            weights = [meant.get(w, w) for w in values.tolist()]
            wrong = np.flatnonzero([np.isfinite(w) and abs(w) > largest + (w < 0 and largest > EXACT) for w in weights])
        if len(wrong):
            at = int(wrong[0])
            entry = _entry(M, int(i[at]), int(j[at]))
            raise SemiringError(f"{shown(path)}: {form} cannot hold entry {entry}, which is {values[at]}: write .npz "
                                "or .mtx")
        yield from zip(i.tolist(), j.tolist(), weights, strict=True)


def _has_infinity(M: Matrix) -> bool:
    """Whether an integer that is not the algebra's zero stands for ∞, beside none that floats would round."""
    present = M.array[M.array != M.semiring.zero_in(M.dtype)]
    return present.dtype.kind in "iu" and with_infinities(present, M.semiring).dtype.kind == "f"


def _entry(M: Matrix, u: int, v: int) -> str:
    return " → ".join(quoted(x if M.names is None else M.names[x]) for x in (u, v))


def _in_ascii(text: str) -> str:
    """A text as GML has it: other characters than those of ASCII, & and quotation marks by their numbers."""
    return re.sub(r'[^ -~]|[&"]', lambda found: f"&#{ord(found[0])};", text)


def _gml_number(weight: float) -> str:
    """A number as GML spells it; a power of ten needs a point before it."""
    text = repr(weight).upper().replace("INF", "+INF").replace("-+", "-")
    return text.replace("E", ".0E") if "E" in text and "." not in text else text
