"""The demo answers, checks itself, notices when an answer is wrong, and draws."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from semiring import cli
from semiring.cli import demo
from semiring.graphs.graph import Graph


@pytest.fixture(scope="module")
def square() -> Graph:
    """Four junctions on a ring with a chord of length 0, and two beside it."""
    ends = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [1, 3], [4, 5]])
    lengths = np.array([1.0, 2.0, 4.0, 5.0, 0.0, 9.5])
    return Graph(ends[:, 0], ends[:, 1], 6, lengths, directed=False)


@pytest.fixture(scope="module")
def answers(square: Graph) -> demo.Answers:
    return demo.ask(square)


def test_answers(answers: demo.Answers) -> None:
    assert answers.pieces == [4, 2]
    assert answers.stray.tolist() == [4, 5]
    assert (sorted(answers.ends), answers.distance, answers.route) == ([4, 5], 9.5, [4, 5])
    assert (answers.longest, answers.fewest) == (9.5, 1)
    # 0–1 1, 0–2 3, 0–3 1, 1–2 2, 1–3 0, 2–3 2, and 4–5
    assert answers.mean == pytest.approx((1 + 3 + 1 + 2 + 0 + 2 + 9.5) / 7)


def test_scipy_agrees(square: Graph, answers: demo.Answers) -> None:
    assert all(c.deviation <= demo.TOLERANCE for c in demo.check(square, answers))


@pytest.mark.parametrize("change, what", [
    ({"pieces": [4, 1, 1]}, "pieces"),
    ({"distance": 9.5 + 1e-6}, "farthest"),
    ({"route": [4, 3, 5]}, "the shortest route"),
    ({"longest": 9.0}, "the longest road"),
    ({"fewest": 2}, "the fewest roads"),
    ({"direct": [4, 3, 5]}, "the route of fewest roads"),
    ({"distances": "one less"}, "all distances"),
    ({"distances": "one cut"}, "all distances"),
])
def test_a_wrong_answer_is_noticed(square: Graph, answers: demo.Answers, change: dict, what: str) -> None:
    if "distances" in change:
        wrong = answers.distances.copy()
        wrong[0, 2] = np.inf if change["distances"] == "one cut" else wrong[0, 2] - 1e-6
        change = {"distances": wrong}
    failed = [c.what for c in demo.check(square, replace(answers, **change)) if not c.deviation <= demo.TOLERANCE]
    assert what in failed


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # as everywhere but in tests
def test_the_first_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "minnesota.png"
    assert cli.main(["demo", "--plot", str(picture)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "2,642 junctions, 3,303 roads, 4 of length 0" in out
    assert "2, of 2,640 and 2 junctions" in out
    assert "0 and 2623: 846.4 km by a route of 136 roads" in out
    assert "connected pairs is 237.6 km" in out
    assert "32.4 km: every way has a road at least that long" in out
    assert "97 roads lead from one to the other" in out
    assert "agrees on every answer" in out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_disagreement_is_said_and_returned(monkeypatch: pytest.MonkeyPatch, square: Graph) -> None:
    ask = demo.ask
    monkeypatch.setattr(demo, "minnesota", lambda: (square, np.zeros((6, 2))))
    monkeypatch.setattr(demo, "ask", lambda roads: replace(ask(roads), longest=1.0))
    out = io.StringIO()
    assert demo.run(out=out) is False
    assert "disagrees on the longest road: 1.0 here, 9.5 there, 8.5 apart" in out.getvalue()
