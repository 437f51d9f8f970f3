"""What write_matrix notes in comments of formats of graphs, and the warning about a damaged one."""

from __future__ import annotations

from pathlib import Path

import pytest
from files.reading import refused

import semiring as sr
from semiring.files.notes import noted, noted_dtype


@pytest.mark.parametrize("ending", [".graphml", ".gml", ".net"])
def test_a_damaged_note_is_told(tmp_path: Path, ending: str) -> None:
    """What it says of names, and of itself, is looked at; without it names are what their texts say."""
    path = tmp_path / f"m{ending}"
    sr.write_matrix(path, sr.adjacency([("7", "9", 2.0)], sr.min_plus))
    text = path.read_text()
    for old, new, words in (
        ('"texts"', '"integers"', None), ('"texts"', "null", "expected the positions 0 to 1"),
        ('"texts"', "3", "expected a note of write_matrix"),
        ("float64", "float63", "expected a note of write_matrix"),
        ("semiring-matrix", "another", None), ('{"algebra"', '[["algebra"', "expected a note of write_matrix"),
    ):
        path.write_text(text.replace(old, new))
        if words is None:
            integers = '"integers"' in new or ending == ".graphml"
            assert sr.read_graph(path).names == ([7, 9] if integers else ["7", "9"])
        else:
            with refused(words):
                sr.read_graph(path)


def test_a_note_is_of_its_algebra_and_stands_at_the_head(tmp_path: Path) -> None:
    path = tmp_path / "m.graphml"
    sr.write_matrix(path, sr.adjacency([("a", "b", 2.0)], sr.min_plus, dtype="f4"))
    data = path.read_bytes()
    assert noted_dtype(path, data, sr.min_plus) == "f4" and noted_dtype(path, data, sr.max_plus) is None
    assert noted(path, b" " * 5000 + data) is None
    assert sr.read_matrix(path, sr.max_plus).dtype == "f8"
