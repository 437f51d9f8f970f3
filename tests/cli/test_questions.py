"""`semiring nearest`, `power`, `cycle-mean`, `longest-path`, `components` and `order`."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli.calling import refused


def test_nearest(call, roads: Path, tmp_path: Path) -> None:
    common = "nearest", roads, "--algebra", "min-plus"
    assert call(*common, "--from", "Bute", "--from", "Coll").rows == [
        ["Ayr", "", "inf"], ["Bute", "Bute", "0"], ["Coll", "Coll", "0"], ["Dale", "Bute", "4"]]
    assert call(*common, "--to", "Dale", "--to", "Coll", "--dtype", "f8").rows == [
        ["Ayr", "Coll", "2.0"], ["Bute", "Dale", "4.0"], ["Coll", "Coll", "0.0"], ["Dale", "Dale", "0.0"]]
    assert call(*common, "--from", "Bute", "-o", tmp_path / "n.csv").out == ""
    assert (tmp_path / "n.csv").read_text() == "Ayr,,inf\nBute,Bute,0\nColl,Bute,6\nDale,Bute,4\n"
    assert "did you mean 'Bute'?" in refused(call(*common, "--from", "Bude"))
    assert "does not select" in refused(call("nearest", roads, "--algebra", "plus-times", "--from", "Bute"))


def test_power(call, roads: Path) -> None:
    common = "power", roads, "--algebra"
    assert call(*common, "min-plus", 2).rows == [["Ayr", "Coll", "9"], ["Ayr", "Dale", "7"], ["Bute", "Dale", "13"]]
    assert call(*common, "counting", 0).rows == [[v, v, "1"] for v in ("Ayr", "Bute", "Coll", "Dale")]
    assert call(*common, "min-plus", 4).rows == []
    assert "k must be a whole number" in refused(call(*common, "min-plus", "--", -1))


def test_cycle_mean(call, roads: Path, tmp_path: Path) -> None:
    assert call("cycle-mean", roads, "--algebra", "min-plus").rows == [["inf"]]
    file = tmp_path / "trains.csv"
    file.write_text("a,b,3\nb,a,5\nb,b,2\n")
    assert call("cycle-mean", file, "--algebra", "max-plus").rows == [["4.0", "a", "b", "a"]]
    assert call("cycle-mean", file, "--algebra", "min-plus").rows == [["2.0", "b", "b"]]
    assert refused(call("cycle-mean", file, "--algebra", "max-min"))


def test_longest_path(call, roads: Path, tmp_path: Path) -> None:
    assert call("longest-path", roads).rows == [["16", "Ayr", "Bute", "Coll", "Dale"]]
    assert call("longest-path", roads, "--from", "Bute", "--to", "Coll").rows == [["6", "Bute", "Coll"]]
    assert call("longest-path", roads, "--to", "Ayr").rows == [["0", "Ayr"]]
    assert call("longest-path", roads, "--from", "Dale", "--to", "Ayr").rows == [["-inf"]]
    assert call("longest-path", roads, "--unweighted").rows == [["3.0", "Ayr", "Bute", "Coll", "Dale"]]
    (tmp_path / "round.csv").write_text("a,b,1\nb,a,1\n")
    assert "the graph has a cycle, a → b → a" in refused(call("longest-path", tmp_path / "round.csv"))
    assert "did you mean 'Ayr'?" in refused(call("longest-path", roads, "--from", "Ary"))


def test_components_and_order(call, roads: Path, tmp_path: Path) -> None:
    file = tmp_path / "g.csv"
    file.write_text("a,b,1,2\nb,a,3,4\nb,c d,5,6\ne,f,7,8\n")  # whatever else its columns hold
    assert call("components", file).rows == [["a", "b"], ["c d"], ["e"], ["f"]]
    assert call("components", file, "--weak").rows == [["a", "b", "c d"], ["e", "f"]]
    assert call("order", roads).out == "Ayr\nBute\nColl\nDale\n"
    assert "a → b → a" in refused(call("order", file))
    assert call("order", roads, "-o", tmp_path / "order.tsv").out == ""
    assert (tmp_path / "order.tsv").read_text() == "Ayr\nBute\nColl\nDale\n"


@pytest.mark.parametrize("name", ["components", "order", "longest-path"])
def test_vertices_may_be_numbers(call, tmp_path: Path, name: str) -> None:
    (tmp_path / "g.csv").write_text("0,1\n1,2\n")
    said = refused(call(name, tmp_path / "g.csv"))
    assert "could be 2 edges or a matrix of 2 vertices: pass --no-header for edges" in said
    answer = call(name, tmp_path / "g.csv", "--no-header")
    assert answer.status == 0 and answer.out.split() == (["2.0"] if name == "longest-path" else []) + ["0", "1", "2"]
