"""`semiring explain`."""

from __future__ import annotations

from pathlib import Path

from cli.calling import refused


def test_steps_as_text(call, roads: Path) -> None:
    out = call("explain", roads, "--algebra", "min-plus").out
    assert out.startswith("min-plus, Floyd–Warshall: 4 vertices, 64 operations, 5 of them changes\n")
    assert ("  d(Ayr, Dale) ← d(Ayr, Dale) ⊕ d(Ayr, Bute) ⊗ d(Bute, Dale)  = min(∞, 3 + 4) = 7  by Ayr → Bute → Dale"
            in out)
    blocked = "explain", roads, "--algebra", "min-plus", "--method", "blocked"
    assert "Walks that leave the block Ayr, Bute: walks within it come first" in call(*blocked).out
    assert "Walks that leave the block Ayr, Bute, Coll" in call(*blocked, "--tile", 3).out


def test_a_page(call, roads: Path, tmp_path: Path) -> None:
    page, places = tmp_path / "page.html", tmp_path / "places.csv"
    places.write_text("Ayr,0,0\nBute,1,1\nColl,1,0\nDale,2,0\n")
    assert call("explain", roads, "--algebra", "max-min", "-o", page, "--positions", places,
                "--title", "Roads <wide>").out == ""
    text = page.read_text(encoding="utf-8")
    assert "<title>Roads &lt;wide&gt;</title>" in text
    assert '"start":["max_min","floyd-warshall"]' in text
    assert '"positions":[[0.0,0.75],[0.5,0.25],[0.5,0.75],[1.0,0.75]]' in text


def test_refusals(call, roads: Path, tmp_path: Path) -> None:
    common = "explain", roads, "--algebra"
    answer = call(*common, "min-plus", "-o", tmp_path / "page.pdf")
    assert "a page cannot be written to such a file: use .html" in refused(answer)
    assert "squaring needs an idempotent" in refused(call(*common, "plus-times", "--method", "squaring"))
    assert "tile must be a number" in refused(call(*common, "min-plus", "--tile", 0))
    many = tmp_path / "many.csv"
    many.write_text("\n".join(f"{i},{i + 1}" for i in range(20)))
    assert "1 to 12 vertices, but this one has 21" in refused(call("explain", many, "--algebra", "boolean"))
