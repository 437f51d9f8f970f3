"""`semiring solve`, `laws`, `catalogue` and `info`."""

from __future__ import annotations

import sys
import warnings
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest
from cli.calling import OWN, Terminal, refused

import semiring as sr
from semiring import cli


def test_solve(call, roads: Path, tmp_path: Path) -> None:
    goals = tmp_path / "goals.csv"
    goals.write_text("vertex,price\nDale,0\nColl,1\n")
    options = "--algebra", "min-plus", "--dtype", "f8"
    assert call("solve", roads, goals, *options).out == "Ayr\t3.0\nBute\t4.0\nColl\t1.0\nDale\t0.0\n"
    goals.write_text("Dale,0,5\n")
    assert call("solve", roads, goals, *options).rows[0] == ["Ayr", "7.0", "12.0"]
    np.save(tmp_path / "b.npy", np.array([np.inf, np.inf, np.inf, 0.0]))
    assert call("solve", roads, tmp_path / "b.npy", *options).rows[0] == ["Ayr", "7.0"]
    assert call("solve", roads, tmp_path / "b.npy", *options, "-o", tmp_path / "x.npy").out == ""
    assert np.load(tmp_path / "x.npy").tolist() == [7, 4, 7, 0]


def test_laws(call, tmp_path: Path) -> None:
    answer = call("laws", "max-min")
    assert answer.status == 0 and "distributes" in answer.out and answer.err == ""
    for name in ("plus-min", "shortest_widest"):
        answer = call("laws", name)
        assert answer.status == 1 and "✗ ⊗ does not distribute on the left" in answer.out and answer.err == ""
    (tmp_path / "mine.py").write_text(OWN)
    assert call("laws", f"{tmp_path / 'mine.py'}:reliability").status == 0
    (tmp_path / "means.py").write_text(OWN.replace("np.maximum", "lambda a, b: (a + b) / 2"))
    answer = call("laws", f"{tmp_path / 'means.py'}:reliability")
    assert answer.status == 1 and "is not a semiring: ⊕ is not associative" in answer.out


def test_every_algebra_of_the_catalogue_is_listed(call) -> None:
    answer = call("catalogue")
    assert answer.status == 0
    header, *rows = answer.rows
    assert header == ["name", "algebra", "flags", "dtypes", "closure"]
    assert [row[0] for row in rows] == list(sr.catalogue) and len(rows) == 26


def test_info(call) -> None:
    answer = call("info")
    assert answer.status == 0
    facts = dict(answer.rows)
    assert facts["semiring"] == sr.__version__ and facts["numpy"] == np.__version__
    assert int(facts["threads"]) >= 1
    assert {"cpu", "memory", "devices", "cache", "example: method"} <= set(facts)


def test_a_solution_is_an_array_or_printed(call, roads: Path, tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("Dale,0\n")
    common = "solve", roads, tmp_path / "b.csv", "--algebra"
    assert "x.mtx: the solution cannot be written to such a file: use .csv, .tsv, .npy" in refused(
        call(*common, "min-plus", "-o", tmp_path / "x.mtx"))
    assert not (tmp_path / "x.mtx").exists()
    assert call(*common, "min-plus", "-o", tmp_path / "x.csv").out == ""
    assert (tmp_path / "x.csv").read_text() == "Ayr,7\nBute,4\nColl,7\nDale,0\n"
    assert call(*common, "min-plus", "--undirected").rows == [["Ayr", "7"], ["Bute", "4"], ["Coll", "7"], ["Dale", "0"]]


def test_the_row_of_an_algebra(call) -> None:
    rows = {row[0]: row[1:] for row in call("catalogue").rows}
    assert rows["min_plus"] == [
        "(R ∪ {±∞}, min, +, +∞, 0)", "idempotent selective commutative", " ".join(d.name for d in sr.min_plus.dtypes),
        "shortest paths, negative cycles"]
    assert rows["shortest_hops"][2] == "(cost, hops)" and rows["why"][2] == "object"
    assert [row[1].split() for row in rows.values()][1:] == [list(S.flags) for S in sr.catalogue.values()]


def test_on_a_terminal_flags_are_initials(monkeypatch: pytest.MonkeyPatch) -> None:
    stdout = Terminal()
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "dumb")
    assert cli.main(["catalogue"]) == 0
    lines = stdout.getvalue().splitlines()
    words = {line.split()[0]: line.split() for line in lines if line.strip()}
    assert "IS-C" in words["min_plus"] and "ISBC" in words["viterbi"] and "---C" in words["plus_times"]
    assert lines[-1] == " Flags: idempotent, selective, bounded, commutative, by their initials."


def test_what_info_chooses_is_what_the_plan_says(call) -> None:
    rows = call("info").rows
    assert [len(row) for row in rows] == [2] * len(rows) and rows[0] == ["what", "is"]
    facts = dict(rows)
    planned = str(sr.plan("closure", np.arange(2048 * 2048, dtype=np.float32).reshape(2048, 2048), "min-plus"))
    for line in planned.splitlines():
        what, _, choice = line.partition(" ")
        assert facts[f"example: {what}"] == choice.strip()
    assert facts["devices"].split(", ")[0] == "cpu"


def test_a_package_that_is_not_there_is_named(call, monkeypatch: pytest.MonkeyPatch) -> None:
    def version(package: str) -> str:
        if package == "networkx":
            raise PackageNotFoundError(package)
        return "1.2.3"

    monkeypatch.setattr("importlib.metadata.version", version)
    facts = dict(call("info").rows)
    assert facts["networkx"] == "not installed" and facts["rich"] == "1.2.3"


def test_a_random_graph_is_printed_or_written(call, tmp_path: Path) -> None:
    printed = call("random", 50, "--degree", "2,4", "--weights", "1,9", "--seed", 3)
    G = sr.random_graph(50, degree=(2, 4), weights=(1, 9), seed=3)
    assert printed.status == 0 and printed.rows[0] == ["from", "to", "weight"]
    assert [tuple(map(int, row)) for row in printed.rows[1:]] == list(G)
    assert call("random", 50, "--degree", "2,4", "--weights", "1,9", "--seed", 3, "-o", tmp_path / "g.csv").out == ""
    read = sr.read_graph(tmp_path / "g.csv")
    assert list(read) == list(G)
    assert call("random", 9, "--kind", "grid").rows[1:3] == [["0", "1"], ["1", "0"]]
    assert call("random", 9, "-p", 1).rows[-1] == ["8", "7"]
    assert "0.5" in call("random", 9, "--degree", 1, "--weights", "0.5,0.5").out


def test_vertices_without_edges_are_kept_or_told(call, tmp_path: Path) -> None:
    asked = ("random", 12, "--degree", "0,1", "--seed", 3, "--weights", "1,9")
    G = sr.random_graph(12, degree=(0, 1), weights=(1, 9), seed=3)
    assert call(*asked, "-o", tmp_path / "g.npz").err == ""
    read = sr.read_graph(tmp_path / "g.npz")
    assert read.n == 12 and sorted(read) == sorted(G)
    alone = ("random", 12, "--degree", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert "warning: vertices from 0 on have no edges" in call(*alone).err
    call(*alone, "-o", tmp_path / "none.npz")
    assert sr.read_graph(tmp_path / "none.npz").n == 12
    call("random", 9, "--kind", "grid", "-o", tmp_path / "grid.npz")
    streets = sr.read_graph(tmp_path / "grid.npz")
    assert len(streets) == 24 and np.asarray(sr.closure(streets, sr.boolean)).all()


def test_a_random_graph_that_cannot_be_is_refused(call, tmp_path: Path) -> None:
    assert "--degree x: give numbers" in refused(call("random", 9, "--degree", "x"))
    assert "one of degree" in refused(call("random", 9))
    assert "unknown kind" in refused(call("random", 9, "--kind", "tree"))
    answer = call("random", 9, "-p", 1, "-o", tmp_path / "g.npy")
    assert "cannot be written to such a file: use .csv, .tsv, .npz" in refused(answer)
