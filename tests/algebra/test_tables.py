"""Tables for notebooks: rows and headings, every text escaped, and who has one."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.algebra.tables import CAPTION, PADDING, WHOLE, Cut, dtype_text, html_table

A = np.array([[np.inf, 3.0], [1.0, np.inf]])
SHOWN = {
    "Semiring": sr.min_plus, "LawReport": sr.check_laws(sr.plus_min), "Plan": sr.plan("closure", A, sr.min_plus),
    "SparsePlan": sr.plan("factor", sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus),
    "Factors": sr.factor(A, sr.min_plus), "SparseFactors": sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus),
    "Graph": sr.as_graph([("<a>", "b", 2.0)]), "Paths": sr.paths(sr.as_graph([("<a>", "b", 2.0)]), sr.min_plus),
    "StagedPaths": sr.paths(sr.as_graph([("<a>", "b", (2, 1))]), (sr.max_min, sr.min_plus)),
    "Nearest": sr.nearest(sr.as_graph([("<a>", "b", 2.0)]), sr.min_plus, "<a>"),
    "Reachability": sr.reach([("<a>", "b")]),
    "Matrix": sr.Matrix(A, sr.min_plus, ["<a>", "b"]), "Path": sr.paths([("<a>", "b", 2.0)], sr.min_plus)["<a>", "b"],
    "PackedMatrix": sr.pack([("<a>", "b")]),
}


def test_head_and_rows():
    page = html_table("&", [("a", "<b>")], ["x", "y"])
    assert page == (f'<table cellpadding="{PADDING}" style="text-align: left">'
                    f'<caption style="{CAPTION}">&amp;</caption>'
                    '<thead><tr><th scope="col">x</th><th scope="col">y</th></tr></thead>'
                    '<tbody><tr><th scope="row">a</th><td>&lt;b&gt;</td></tr></tbody></table>')
    assert "<tr><td></td><th" in html_table("&", [("a", "b")], ["", "y"]), "a corner without text is not a heading"


@pytest.mark.parametrize("kind", SHOWN)
def test_notebooks_show_a_table(kind):
    page = ElementTree.fromstring(SHOWN[kind]._repr_html_())  # it is well formed
    assert page.tag == "table" and type(SHOWN[kind]).__name__ == kind
    rows = page.findall("./tbody/tr")
    assert page.findtext("caption") and rows and all(len(row) == len(rows[0]) for row in rows)


LONG = "the village of <Much Wenlock>"
NAMED = sr.as_graph([(LONG, "b", 2.0), ("b", "c", -3.0), ("c", LONG, 1.0)])
TRADES = sr.as_graph([("a", "b", frozenset({(9, 0), (3, 5)})), ("b", "c", frozenset({(1, 1)}))])
EDGES = sr.as_graph([(a, b, frozenset([frozenset([a + b])])) for a, b in (("a", "b"), ("b", "c"), ("a", "c"))])


@pytest.mark.parametrize("view", [
    sr.adjacency(NAMED, sr.min_plus), NAMED, sr.paths(NAMED, sr.min_plus), sr.paths(NAMED, sr.min_plus)[LONG, "c"],
    sr.nearest(NAMED, sr.min_plus, LONG), sr.reach(NAMED), sr.closure_rows(NAMED, sr.min_plus, [LONG], targets=["b"]),
    sr.compare(NAMED, [sr.min_plus]), sr.compare(NAMED, [sr.min_plus], source=LONG, target="c"),
], ids=lambda view: type(view).__name__)
def test_cut_names_tell_the_whole(view):
    page = ElementTree.fromstring(view._repr_html_())
    cells = [cell for cell in page.iter() if cell.tag in ("td", "th", "text") and "…" in (cell.text or "")]
    assert cells
    if isinstance(view, sr.Graph):
        assert LONG in (page.find("caption").get("title") or "") and "…" in page.findtext("caption")
    if isinstance(view, sr.Comparison):
        told = page.findtext(".//{http://www.w3.org/2000/svg}desc")
        assert f"{LONG} to b, 2" in told and "…" not in told
    for cell in cells:
        whole = cell.get("title") or cell.findtext("{http://www.w3.org/2000/svg}title")
        assert whole is not None and LONG in whole


def test_a_long_walk_tells_all_of_its_vertices():
    chain = sr.as_graph([(i, i + 1, 1.0) for i in range(30)])
    for view in (sr.path(chain, sr.min_plus, 0, 30), sr.paths(chain, sr.min_plus)[0, 30]):
        if hasattr(view, "_repr_html_"):
            cell = ElementTree.fromstring(view._repr_html_()).findall(".//td")[-1]
            assert cell.text == "0 → 1 → 2 → 3 → 4 → … → 26 → 27 → 28 → 29 → 30"
            assert cell.get("title") == " → ".join(map(str, range(31)))
    assert sr.paths(chain, sr.min_plus)[3, 0]._repr_html_().count("No path") == 1
    assert len(Cut("a…", "a" * 10**6).whole) == WHOLE + 1


def test_sets_are_written_as_sets():
    trades, edges = sr.closure(TRADES, sr.pareto), sr.closure(EDGES, sr.why)
    for M, text in ((trades, "{(3, 5), (9, 0)}"), (trades, "{(4, 6), (10, 1)}"), (edges, "{{ac}, {ab, bc}}")):
        cells = [cell.text for cell in ElementTree.fromstring(M._repr_html_()).iter("td")]
        assert text in cells and text in repr(M) and "frozenset" not in repr(M) + M._repr_html_()
    assert "{(3, 5), (9, 0)}" in TRADES._repr_html_() and "frozenset" not in TRADES._repr_html_()
    R = sr.compare(TRADES, [sr.pareto])
    assert "frozenset" not in repr(R) + R._repr_html_() + R._repr_svg_() and "{(4, 6), (10, 1)}" in R._repr_html_()
    many = sr.adjacency([("a", "b", frozenset({(i, 20 - i) for i in range(20)}))], sr.pareto)
    (cell,) = [cell for cell in ElementTree.fromstring(many._repr_html_()).iter("td") if cell.get("title")]
    assert cell.text.endswith("…") and cell.get("title").count("), (") == 19


def test_regular_expressions_are_written_as_in_a_textbook():
    a, b = sr.letter("a"), sr.letter("b")
    x = sr.regex.star(sr.regex.add(a, b))
    assert x._repr_html_() == '<code style="overflow-wrap: anywhere">(a|b)*</code>' and str(x) == "(?:a|b)*"
    M = sr.closure(sr.adjacency([("s", "s", sr.regex.add(a, b))], sr.regex))
    assert ">(a|b)*</td>" in M._repr_html_() and "(a|b)*" in repr(M)


def test_types_of_records_are_words():
    S = sr.Semiring("walks", fields={"km": "f8", "m": "i8"}, zero=(np.inf, 0), one=(0, 0), product_only=True,
                    add=lambda x, y: np.where(x.km <= y.km, x, y), mul=lambda x, y: (x.km + y.km, x.m + y.m))
    view = S._repr_html_()
    assert '<th scope="row">dtypes</th><td>(km float64, m int64)' in view and "offsets" not in view
    M = sr.adjacency([("a", "b", (1.0, 2))], sr.shortest_count)
    F = sr.factor(M.array, sr.shortest_count)
    L = sr.factor(sr.as_graph([("a", "b", (1.0, 2))]), sr.shortest_count)
    for shown in (repr(M), repr(F), repr(L), repr(F.plan), repr(sr.plan("closure", M)), L._repr_html_()):
        assert "(dist float64, count float64)" in shown and "offsets" not in shown and "<f8" not in shown, shown
    assert dtype_text(np.dtype([("a", "f4", 3), ("b", "?")])) == "(a 3 × float32, b bool)"


def test_packed_matrices_are_shown_in_bits():
    M = sr.pack(np.eye(3, 130, 1, dtype=bool))
    page = ElementTree.fromstring(M._repr_html_())
    heads = [cell.text for cell in page.findall("./thead/tr/*")][1:]
    assert heads == ["0", "1", "2", "3", "4", "…", "125", "126", "127", "128", "129"]
    rows = [[cell.text for cell in row.findall("td")] for row in page.findall("./tbody/tr")]
    assert rows == [["1" if j == i + 1 else "…" if j == 5 else "·" for j in range(11)] for i in range(3)]
    wide = np.zeros((70, 70), bool)
    wide[69, 68] = wide[2, 66] = True
    page = ElementTree.fromstring(sr.pack(wide)._repr_html_())
    rows = [[cell.text for cell in row] for row in page.findall("./tbody/tr")]
    assert rows[5] == ["…"] * 12 and rows[2][8] == "1" and rows[-1][10] == "1"
    assert sum(row[1:].count("1") for row in rows) == 2
    assert "<tbody></tbody>" in sr.pack(np.zeros((0, 0), bool))._repr_html_()


def test_what_is_told():
    laws = sr.check_laws(sr.plus_min)._repr_html_()
    assert ">plus-min: not a semiring on" in laws and '<th scope="row">⊗ distributes on the left</th><td>✗</td>' in laws
    assert "With a = 2, b = 3, c = 5, a ⊗ (b ⊕ c) = 2 but" in laws
    assert '<th scope="row">⊕ is associative</th><td>✓</td>' in laws
    plan = SHOWN["Plan"]._repr_html_()
    assert all(f'<th scope="row">{row}</th>' in plan for row in SHOWN["Plan"].rows())
    assert '<th scope="row">edges</th><td>2</td>' in SHOWN["SparseFactors"]._repr_html_()
