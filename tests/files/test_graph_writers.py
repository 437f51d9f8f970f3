"""Matrices as GraphML, GML, Pajek and DIMACS: what others read, and what is refused; test_round_trip has the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr


def graphs(names: list[Any] | None, value: Any = 2.5, dtype: str = "f8") -> sr.Matrix:
    return sr.Matrix(np.array([[np.inf, value], [np.inf, np.inf]], dtype), sr.min_plus, names)


@pytest.mark.parametrize(("ending", "M", "words"), [
    (".graphml", graphs(["a", "b\0"]), r"GraphML cannot hold the name 'b\\x00'"),
    (".gml", graphs(["()", "b"]), r"GML cannot hold the name '\(\)'"),
    (".net", graphs(["a", "b\nc"]), "Pajek cannot hold the name"),
    (".net", graphs(["a", "b\0"]), r"Pajek cannot hold the name 'b\\x00'"),
    (".graphml", graphs([7, "a"]), "names are integers, as 7, and texts, as 'a'"),
    (".gr", graphs(["a", "b"]), "vertices have names, such as 'a', and DIMACS only numbers them: write .graphml"),
    (".gr", graphs(None), "whole numbers, and entry 0 → 1 is 2.5"),
    (".gr", graphs(None, -np.inf), "whole numbers, and entry 0 → 1 is -inf"),
    (".graphml", sr.Matrix(np.ones((1, 1), "c16"), sr.plus_times), "complex"),
    (".gml", sr.adjacency([(0, 1, (1.0, 1))], sr.shortest_hops), "records"),
])
def test_what_formats_of_graphs_cannot_hold(tmp_path: Path, ending: str, M: sr.Matrix, words: str) -> None:
    with pytest.raises(sr.SemiringError, match=words):
        sr.write_matrix(tmp_path / f"m{ending}", M)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", [".graphml", ".gml", ".net"])
def test_networkx_reads_what_is_written(tmp_path: Path, ending: str) -> None:
    nx = pytest.importorskip("networkx")
    M = sr.adjacency([("Ayr", 'a "b" & <c>', 1e-5), ('a "b" & <c>', "Ayr", 0.0), ("Ayr", "Ayr", 3.0)], sr.min_plus)
    sr.write_matrix(tmp_path / f"m{ending}", M)
    reads = {".graphml": nx.read_graphml, ".gml": nx.read_gml, ".net": nx.read_pajek}
    G = reads[ending](tmp_path / f"m{ending}")
    assert sorted(G.edges(data="weight")) == sorted(
        [("Ayr", 'a "b" & <c>', 1e-5), ('a "b" & <c>', "Ayr", 0.0), ("Ayr", "Ayr", 3.0)]
    )


def test_files_of_other_programs_are_as_they_should_be(tmp_path: Path) -> None:
    """The text of each format, whose comment aside it could be anybody's."""
    M = sr.Matrix(np.array([[np.inf, 3.0], [0.0, np.inf]]), sr.min_plus)
    sr.write_matrix(tmp_path / "m.gr", M)
    note = '{"algebra": "min\\u002dplus", "dtype": "float64", "names": null}'
    assert (tmp_path / "m.gr").read_text().splitlines() == [
        f"c semiring-matrix {note}", "p sp 2 2", "a 1 2 3", "a 2 1 0"]
    sr.write_matrix(tmp_path / "m.net", M)
    assert (tmp_path / "m.net").read_text().splitlines() == [
        f"% semiring-matrix {note}", "*Vertices 2", '1 "0"', '2 "1"', "*Arcs", "1 2 3.0", "2 1 0.0"]
