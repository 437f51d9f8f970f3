"""The program that measures the ladder: predictions, exponents, energy, and a whole run on small graphs."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.teach.ladder import RUNGS

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def history(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """docs/benchmarks/history.py."""
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "benchmarks"))
    monkeypatch.setenv("SEMIRING_COMPILE", "always")  # as the program sets it
    return import_module("history")


def test_larger_sizes_are_predicted_by_the_last_two(history: ModuleType) -> None:
    record = history.Record("floyd", "min-plus", "float32")
    assert history.prediction(record, 100) == 0
    record.times = [(100, 1.0)]
    assert history.prediction(record, 200) == 8
    record.times = [(100, 1.0), (200, 4.0)]
    assert history.prediction(record, 400) == pytest.approx(16)
    record.times = [(100, 1.0), (200, 1.0)]  # an exponent below 2 is one of overheads
    assert history.prediction(record, 400) == 4


def test_a_rung_runs_under_an_algebra_that_it_takes(history: ModuleType) -> None:
    rungs = {rung.name: rung for rung in RUNGS}
    assert history.begun(rungs["floyd"], sr.min_plus, np.dtype("f4")).algebra == "min-plus"
    assert history.begun(rungs["warshall"], sr.min_plus, np.dtype("f4")).algebra == "boolean"
    record = history.begun(rungs["squaring"], sr.plus_times, np.dtype("f4"))
    assert (record.algebra, record.dtype, record.refused) == ("max-min", "float32", "")
    assert history.taken(record) == (sr.max_min, np.dtype("f4"))

    class Picky:
        name, device = "picky", "cpu"

        @staticmethod
        def refuses(S: sr.Semiring, dtype: np.dtype, n: int) -> str | None:
            return f"nothing over {S.name}" if S is not sr.boolean else None

        @staticmethod
        def close(A: np.ndarray, S: sr.Semiring) -> np.ndarray:
            raise sr.SemiringError("nothing at all")

    assert history.begun(Picky, sr.min_plus, np.dtype("f4")).refused == "nothing over min-plus"
    G = sr.random_graph(5, degree=2, weights=(3, 3))
    A = history.matrix(G, sr.boolean, np.dtype(bool))
    assert A.dtype == bool and A.sum() == 10
    assert (history.matrix(G, sr.min_plus, np.dtype("f4")) < np.inf).sum() == 10


def test_what_has_no_room_is_told_and_what_is_wrong_ends_the_run(history: ModuleType) -> None:
    class Rung:
        name, device = "full", "cpu"

        @staticmethod
        def close(A: np.ndarray, S: sr.Semiring) -> np.ndarray:
            raise MemoryError("no room")

    A = np.zeros((3, 3), "f4")
    assert history.timed(Rung, A, A, sr.min_plus, "cpu", 1.0, 0.0) == "3 vertices: no room"
    floyd = next(rung for rung in RUNGS if rung.name == "floyd")
    assert 0 < history.timed(floyd, A, A, sr.min_plus, "cpu", 1.0, 0.0) < 60
    with pytest.raises(SystemExit, match=r"floyd: .* is not that of semiring.closure"):
        history.timed(floyd, A, A + 1, sr.min_plus, "cpu", 1.0, 0.0)

    class Picky(Rung):
        @staticmethod
        def close(A: np.ndarray, S: sr.Semiring) -> np.ndarray:
            raise sr.SemiringError("weights have to be even")

    assert history.check(Picky, sr.min_plus, np.dtype("f4")) == "weights have to be even"


@pytest.mark.parametrize("rung", [rung for rung in RUNGS if rung.device == "cpu"], ids=lambda rung: rung.name)
def test_a_wrong_answer_ends_the_run(history: ModuleType, rung: Any) -> None:
    S, dtype = (sr.boolean, np.dtype(bool)) if rung.name == "warshall" else (sr.min_plus, np.dtype("f4"))
    assert history.check(rung, S, dtype) == ""

    class Wrong:
        name, device = rung.name, "cpu"

        @staticmethod
        def close(A: np.ndarray, S: sr.Semiring) -> np.ndarray:
            answer = rung.close(A, S).copy()
            answer[3, 4] = answer[0, 0] if answer[3, 4] != answer[0, 0] else S.zero_in(answer.dtype)
            return answer

    with pytest.raises(SystemExit, match="is not the oracle's"):
        history.check(Wrong, S, dtype)


def test_energy_is_what_the_counter_tells_without_idling(history: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, joules = [0.0], [0.0]
    monkeypatch.setattr(history.time, "perf_counter", lambda: clock[0])

    def sleep(seconds: float) -> None:
        clock[0] += seconds
        joules[0] += 10 * seconds  # watts when idle

    def work() -> None:
        clock[0] += 0.25
        joules[0] += 0.25 * 10 + 5

    monkeypatch.setattr(history.time, "sleep", sleep)
    monkeypatch.setattr(history.Meter, "_reader", lambda self, device: lambda: joules[0])
    meter = history.Meter("cpu")
    assert meter.idle == pytest.approx(10)
    assert meter.closure(work) == pytest.approx(5)

    def named(self: Any, device: str) -> Any:
        self.source = "a counter"
        return lambda: joules[0]

    monkeypatch.setattr(history.Meter, "_reader", named)
    assert history.Meter("cpu").source == "a counter"
    monkeypatch.setattr(history.Meter, "_reader", lambda self, device: None)
    assert history.Meter("cpu").closure(work) is None


def test_a_run_checks_times_and_writes(
    history: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs" / "site").mkdir(parents=True)
    monkeypatch.setattr(history, "ROOT", tmp_path)
    monkeypatch.setattr(history, "cpu_limit", lambda S, dtype: 0.001)
    monkeypatch.setattr(history.Meter, "_reader", lambda self, device: None)
    rungs = ["floyd", "warshall", "closure"]
    command = ["history.py", "--device", "cpu", "--sizes", "32", "64", "--rungs", *rungs, "--write", "--plots"]
    monkeypatch.setattr(sys, "argv", [*command, str(tmp_path / "plots")])
    history.main()
    shown = capsys.readouterr().out
    assert all(name in shown for name in rungs) and "nothing that can be read here" in shown
    found = json.loads((tmp_path / "docs" / "site" / "ladder_cpu.json").read_text(encoding="utf-8"))
    assert [[n for n, _ in record["times"]] for record in found["rungs"]] == [[32, 64]] * 3
    assert found["rungs"][0]["share"] > 0 and found["rungs"][1]["share"] is None
    assert {file.stem for file in (tmp_path / "plots").iterdir()} == {"time_cpu", "share_cpu", "ladder_cpu"}
    some = [*command[: command.index("--rungs")], "--rungs", "closure", "--write"]
    monkeypatch.setattr(sys, "argv", some)
    history.main()  # the others stay
    again = json.loads((tmp_path / "docs" / "site" / "ladder_cpu.json").read_text(encoding="utf-8"))
    assert again["rungs"][:2] == found["rungs"][:2] and again["rungs"][2] != found["rungs"][2]
    monkeypatch.setattr(sys, "argv", [*some, "--seconds", "3"])
    with pytest.raises(SystemExit, match="seconds 20, these rungs with 3"):
        history.main()
    monkeypatch.setattr(sys, "argv", ["history.py", "--rungs", "floid"])
    with pytest.raises(SystemExit, match="unknown rungs floid"):
        history.main()


def test_the_limit_is_that_of_an_inner_loop(history: ModuleType) -> None:
    assert 1e-4 < history.cpu_limit(sr.min_plus, np.dtype("f4")) < 100
