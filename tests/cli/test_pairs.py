"""Values and best paths of some pairs of vertices, against the whole closure, which is found in another way."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from cli.calling import refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring import cli
from semiring.cli import pairs as module
from semiring.cli.inputs import Given
from semiring.cli.pairs import Asked, pairs
from semiring.files.writers import write_lines
from semiring.graphs.texts import is_same, with_infinities
from semiring.machine import memory
from semiring.operands.sparse import read_graph

N = 5
EDGES = st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1), st.integers(0, 6)), max_size=12)
ENDS = st.none() | st.lists(st.integers(0, N - 1), min_size=1, max_size=N, unique=True)
NAMES = st.text("ab ,;#\"'é木", min_size=1, max_size=6).filter(lambda name: name == name.strip())
WEIGHTS = {"boolean": lambda w: w % 2, "shortest_hops": lambda w: (w, 1), "widest_shortest": lambda w: (w, 7 - w)}


def asked_of(name: str, edges: list[tuple[int, int, int]], forward: bool, dtype: str | None = None) -> Given:
    """A graph over an algebra, without cycles where walks round one have no sum."""
    S, weight = sr.catalogue[name], WEIGHTS.get(name, lambda w: w)
    if name == "regex":
        weight = sr.letter
        edges = [(a, b, "abcdefg"[w]) for a, b, w in edges]
    listed = [(a, b, weight(w)) for a, b, w in edges if not forward or a < b]
    graph = sr.as_graph(listed, N, names=[f"v{i}" for i in range(N)])
    return Given(graph, read_graph(graph, S, "A", None if dtype is None else np.dtype(dtype)))


@settings(max_examples=150)
@given(
    st.sampled_from([("min_plus", False, None), ("min_plus", False, "f4"), ("max_min", False, "i2"),
                     ("boolean", False, None), ("boolean", False, "u1"), ("plus_times", True, None),
                     ("counting", True, None), ("shortest_hops", False, None), ("widest_shortest", False, None),
                     ("regex", True, None)]),
    EDGES, ENDS, ENDS, st.booleans(), st.sampled_from([1, 12, 1 << 22]),
)
def test_values_are_those_of_the_closure(
    case: tuple[str, bool, str | None], edges: list, sources: list[int] | None, targets: list[int] | None,
    reflexive: bool, together: int,
) -> None:
    name, forward, dtype = case
    asked = asked_of(name, edges, forward, dtype)
    C = sr.closure(sr.adjacency(asked.graph, asked.S, dtype=dtype), reflexive=reflexive)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "TOGETHER", together)
        found = list(pairs(asked, Asked(sources, targets, reflexive=reflexive)))
    starts, ends = (range(N) if some is None else some for some in (sources, targets))
    assert [pair[:2] for pair in found] == [(f"v{i}", f"v{j}") for i in starts for j in ends]
    wanted = [C[f"v{i}", f"v{j}"] for i in starts for j in ends]  # ∞ of integers is the float
    if name == "regex":  # two spellings of one set of words
        assert [str(p.value) == "∅" for p in found] == [str(x) == "∅" for x in wanted]
    else:
        values = [with_infinities(np.asarray(pair.value), asked.S)[()] for pair in found]  # as they are written
        assert all(is_same(value, x) for value, x in zip(values, wanted, strict=True))


@settings(max_examples=80)
@given(EDGES, ENDS, ENDS, st.none() | st.integers(0, 9), st.booleans(), st.sampled_from(["auto", "blocked"]),
       st.sampled_from([1, 1 << 22]))
def test_paths_go_along_edges_and_weigh_what_they_should(
    edges: list, sources: list[int] | None, targets: list[int] | None, limit: int | None, walks: bool, method: str,
    together: int,
) -> None:
    asked = asked_of("min_plus", edges, False)
    A = sr.adjacency(asked.graph, "min_plus").array
    C = sr.closure(sr.adjacency(asked.graph, "min_plus")).array
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "TOGETHER", together)
        found = list(pairs(asked, Asked(sources, targets, walks, limit, method)))
    none = sr.min_plus.zero_in(C.dtype)
    starts, ends = (range(N) if some is None else some for some in (sources, targets))
    inside = [(i, j) for i in starts for j in ends if (limit is None or C[i, j] <= limit)]
    assert [pair[:2] for pair in found] == [(f"v{i}", f"v{j}") for i, j in inside]
    for (i, j), pair in zip(inside, found, strict=True):
        assert pair.value == C[i, j] or (C[i, j] == none and pair.value == np.inf)
        walk = [int(v[1:]) for v in pair.walk]
        if walk:
            assert (walk[0], walk[-1]) == (i, j)
            assert sum(A[a, b] for a, b in pairwise(walk)) == C[i, j]
        else:
            assert C[i, j] == none or not walks


def test_many_sources_and_targets_of_a_file(call, roads: Path) -> None:
    common = "closure", roads, "--algebra", "min-plus"
    some = call(*common, "--from", "Coll", "--from", "Ayr", "--from", "Coll", "--to", "Dale", "--to", "Bute")
    assert some.rows == [["Coll", "Dale", "7"], ["Coll", "Bute", "inf"], ["Ayr", "Dale", "7"], ["Ayr", "Bute", "3"]]
    all_of = call(*common, "--from", "Ayr", "--path")
    assert all_of.rows == [["Ayr", "Ayr", "0", "Ayr"], ["Ayr", "Bute", "3", "Ayr", "Bute"],
                           ["Ayr", "Coll", "2", "Ayr", "Coll"], ["Ayr", "Dale", "7", "Ayr", "Bute", "Dale"]]
    near = call(*common, "--from", "Ayr", "--limit", 3)
    assert near.rows == [["Ayr", "Ayr", "0"], ["Ayr", "Bute", "3"], ["Ayr", "Coll", "2"]]
    assert call(*common, "--limit", "2", "--path", "--to", "Coll").rows == [
        ["Ayr", "Coll", "2", "Ayr", "Coll"], ["Coll", "Coll", "0", "Coll"]]
    assert len(call(*common, "--path").rows) == 16


def test_records_have_limits_too(call, roads: Path) -> None:
    found = call("closure", roads, "--algebra", "shortest-hops", "--from", "Ayr", "--limit", "7,1")
    assert [row[1] for row in found.rows] == ["Ayr", "Bute", "Coll"], "Dale is 7 away by two roads"


def test_files_of_pairs(call, roads: Path, tmp_path: Path) -> None:
    common = "closure", roads, "--algebra", "min-plus", "--from", "Bute", "--from", "Ayr"
    answer = call(*common, "--path", "-o", tmp_path / "p.csv")
    assert (answer.status, answer.out) == (0, "")
    assert (tmp_path / "p.csv").read_text().splitlines()[:2] == ["Bute,Ayr,inf", "Bute,Bute,0,Bute"]
    assert call(*common, "-o", tmp_path / "p.npy").out == ""
    found = np.load(tmp_path / "p.npy")
    assert found.dtype == np.float64 and found.tolist() == [[np.inf, 0, 6, 4], [0, 3, 2, 7]]
    assert call(*common, "-o", tmp_path / "d.tsv").out == ""
    back = sr.read_graph(tmp_path / "d.tsv")  # a graph: without a walk there is no edge
    again = sr.closure(back, sr.min_plus)
    assert again["Bute", "Ayr"] == np.inf and again["Ayr", "Dale"] == 7


@settings(max_examples=40)
@given(st.lists(NAMES, min_size=2, max_size=4, unique=True), st.sampled_from([".csv", ".tsv"]))
def test_names_that_are_written_are_read_back(names: list[str], ending: str) -> None:
    with TemporaryDirectory() as folder:
        given_file, out = Path(folder) / "g.csv", Path(folder) / f"d{ending}"
        write_lines(given_file, [["from", "to", "km"], *([a, b, 1] for a, b in pairwise(names))])
        assert cli.main(["closure", str(given_file), "--algebra", "min-plus", "--from", names[0], "-o", str(out)]) == 0
        back = sr.read_graph(out, header=False)
    assert list(back.edges()) == [(names[0], name, k) for k, name in enumerate(names)]


def test_nothing_of_all_pairs_is_made_for_a_few(call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 vertices have 4 · 10⁸ pairs, for which no memory is here."""
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 28)
    file = tmp_path / "long.csv"
    file.write_text("".join(f"{i},{i + 1},1\n" for i in range(20_000)))
    assert "memory" in refused(call("closure", file, "--algebra", "counting"))
    for algebra, value in (("min-plus", "20000"), ("counting", "1")):
        for ends in (("--from", 0, "--to", 20_000), ("--to", 20_000, "--from", 0, "--from", 1)):
            assert call("closure", file, "--algebra", algebra, *ends).rows[0] == ["0", "20000", value], algebra
    assert call("closure", file, "--algebra", "min-plus", "--from", 0, "--limit", 1, "--path").rows == [
        ["0", "0", "0", "0"], ["0", "1", "1", "0", "1"]]


@pytest.mark.parametrize("method", ["auto", "blocked"])
def test_a_graph_without_vertices_has_no_pairs(method: str) -> None:
    graph = sr.Graph([], [], 0)
    assert list(pairs(Given(graph, read_graph(graph, sr.min_plus, "A")), Asked(walks=True, method=method))) == []
