"""Tables for notebooks: rows and headings, every text escaped, and who has one."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.algebra.tables import CAPTION, html_table

A = np.array([[np.inf, 3.0], [1.0, np.inf]])
SHOWN = {
    "Semiring": sr.min_plus, "LawReport": sr.check_laws(sr.plus_min), "Plan": sr.plan("closure", A, sr.min_plus),
    "SparsePlan": sr.plan("factor", sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus),
    "Factors": sr.factor(A, sr.min_plus), "SparseFactors": sr.factor(sp.csr_array([[0, 2.0], [3.0, 0]]), sr.min_plus),
    "Graph": sr.as_graph([("<a>", "b", 2.0)]), "Paths": sr.paths(sr.as_graph([("<a>", "b", 2.0)]), sr.min_plus),
    "StagedPaths": sr.paths(sr.as_graph([("<a>", "b", (2, 1))]), (sr.max_min, sr.min_plus)),
    "Nearest": sr.nearest(sr.as_graph([("<a>", "b", 2.0)]), sr.min_plus, "<a>"),
    "Reachability": sr.reach([("<a>", "b")]),
    "Matrix": sr.Matrix(A, sr.min_plus, ["<a>", "b"]),
}


def test_head_and_rows():
    page = html_table("&", [("a", "<b>")], ["x", "y"])
    assert page == (f'<table><caption style="{CAPTION}">&amp;</caption>'
                    '<thead><tr><th scope="col">x</th><th scope="col">y</th></tr></thead>'
                    '<tbody><tr><th scope="row">a</th><td>&lt;b&gt;</td></tr></tbody></table>')
    assert "<tr><td></td><th" in html_table("&", [("a", "b")], ["", "y"]), "a corner without text is not a heading"


@pytest.mark.parametrize("kind", SHOWN)
def test_notebooks_show_a_table(kind):
    page = ElementTree.fromstring(SHOWN[kind]._repr_html_())  # it is well formed
    assert page.tag == "table" and type(SHOWN[kind]).__name__ == kind
    rows = page.findall("./tbody/tr")
    assert page.findtext("caption") and rows and all(len(row) == len(rows[0]) for row in rows)


def test_what_is_told():
    laws = sr.check_laws(sr.plus_min)._repr_html_()
    assert ">plus-min: not a semiring on" in laws and '<th scope="row">⊗ distributes on the left</th><td>✗</td>' in laws
    assert "With a = 2, b = 3, c = 5, a ⊗ (b ⊕ c) = 2 but" in laws
    assert '<th scope="row">⊕ is associative</th><td>✓</td>' in laws
    plan = SHOWN["Plan"]._repr_html_()
    assert all(f'<th scope="row">{row}</th>' in plan for row in SHOWN["Plan"].rows())
    assert '<th scope="row">edges</th><td>2</td>' in SHOWN["SparseFactors"]._repr_html_()
