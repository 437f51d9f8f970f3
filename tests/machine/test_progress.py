"""The bar on stderr: for people who wait, and only for them."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from cli.calling import Terminal

from semiring.machine import progress
from semiring.machine.progress import told

ERASED = "\x1b[2K"  # what makes a terminal wipe a line


@pytest.mark.parametrize("terminal, patience, shown", [(True, 0.0, True), (True, 60.0, False), (False, 0.0, False)])
def test_the_bar(monkeypatch: pytest.MonkeyPatch, terminal: bool, patience: float, shown: bool) -> None:
    stderr = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setenv("TERM", "xterm")
    with progress.bar("closing") as report:
        for i in range(5):
            report(i / 4)
    assert ("closing" in stderr.getvalue()) is shown


def terminal(monkeypatch: pytest.MonkeyPatch, patience: float = 0.0) -> Terminal:
    """A terminal in place of stderr."""
    stderr = Terminal()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setenv("TERM", "xterm")
    return stderr


def test_nothing_is_shown_of_work_that_reports_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = terminal(monkeypatch)
    with progress.bar("closing"):
        pass
    assert stderr.getvalue() == ""


def test_the_bar_shows_the_part_that_is_done_and_is_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    stderr = terminal(monkeypatch)
    with progress.bar("closing") as report:
        report(0.25)
        report(1.0)
    written = stderr.getvalue()
    assert "100%" in written
    assert ERASED in written[written.rindex("100%") :]


def test_the_bar_waits_for_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal(monkeypatch, 1.0)
    clock = iter([10.0, 10.5, 10.999, 11.0, 11.5])
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    shown: list[float] = []

    @contextmanager
    def bar(description: str, work: float):
        assert (description, work) == ("closing", 0.0)
        yield shown.append

    monkeypatch.setattr(progress, "_rich_bar", bar)
    with progress.bar("closing") as report:
        for fraction in (0.1, 0.2, 0.3, 0.4):
            report(fraction)
    assert shown == [0.3, 0.4], "from one second after the beginning"


@pytest.mark.parametrize("patience", [0.0, 60.0])
def test_errors_go_through_and_the_bar_goes_away(monkeypatch: pytest.MonkeyPatch, patience: float) -> None:
    stderr = terminal(monkeypatch, patience)
    with pytest.raises(KeyboardInterrupt), progress.bar("closing") as report:
        report(0.5)
        raise KeyboardInterrupt
    written = stderr.getvalue()
    assert ("closing" in written) is (patience == 0)
    assert (ERASED in written[written.rfind("closing") :]) is (patience == 0)


def test_no_terminal_gets_nothing_and_loads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_rich_bar", None)
    with progress.bar("closing") as report:
        assert report(0.5) is None
    assert stream.getvalue() == ""


def test_lines_for_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    report = progress.Lines("closing")
    for fraction in (0.0, 0.04, 0.1, 0.15, 0.3, 0.3, 1.0, 1.0):
        report(fraction)
    assert capsys.readouterr().err == "semiring: closing: 10 %\nsemiring: closing: 30 %\nsemiring: closing: 100 %\n"


def test_rate_and_time_left_count_from_the_first_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter([100.0, 110.0, 130.0])
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    lines = progress.Lines("closing")
    lines.work = 1e12
    for fraction in (0.5, 0.6, 0.75):  # a run that goes on at one half
        lines(fraction)
    assert capsys.readouterr().err.splitlines() == [
        "semiring: closing: 50 %",
        "semiring: closing: 60 %, 10 G multiply-adds/s, 0:40 left",
        "semiring: closing: 70 %, 8.33 G multiply-adds/s, 0:30 left",
    ]


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0:00"), (75, "1:15"), (3600, "1:00:00"), (90061, "25:01:01")])
def test_spans_of_time(seconds: float, text: str) -> None:
    assert progress._span(seconds) == text


def test_what_is_reported_ends_with_all() -> None:
    for parts, last in (([0.2, 0.7], 1.0), ([], 1.0), ([0.5, 1.0], 1.0)):
        heard: list[float] = []
        with told(heard.append, "work") as report:
            for part in parts:
                report(part)
        assert heard[: len(parts)] == parts and heard[-1] == last


def test_nobody_is_told_that_what_failed_is_done() -> None:
    heard: list[float] = []
    with pytest.raises(ZeroDivisionError), told(heard.append, "work") as report:
        report(0.5)
        raise ZeroDivisionError
    assert heard == [0.5]


def test_a_bar_or_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []

    @contextmanager
    def bar(what: str, work: float) -> Iterator[Callable[[float], None]]:
        shown.append(what)
        yield shown.append
        shown.append("away")

    monkeypatch.setattr(progress, "bar", bar)
    with told(False, "quiet") as report:
        report(0.5)
    assert not shown
    with told(True, "min-plus closure") as report:
        report(0.5)
    assert shown == ["min-plus closure", 0.5, 1.0, "away"]
