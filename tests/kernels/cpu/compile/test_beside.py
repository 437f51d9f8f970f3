"""Several processes compile one list: from both ends, without waiting, and without harm where there can be one only."""

from __future__ import annotations

import gc
import io
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import semiring as sr
from semiring.kernels.cpu.compile import beside
from semiring.kernels.cpu.compile.beside import begin, do_backwards, if_missing, is_missing
from semiring.kernels.cpu.compile.jit import njit
from semiring.kernels.cpu.compile.price import when


def note(file: str, step: int) -> None:
    """A step that says who did it, under which rule."""
    with Path(file).open("a") as f:
        f.write(f"{step} {os.getpid()} {when()}\n")


def steps(file: str, count: int) -> list[Callable[[], object]]:
    return [partial(note, file, i) for i in range(count)]


def endless(file: str) -> list[Callable[[], object]]:
    return [partial(time.sleep, 600), partial(note, file, 1)]


def noted(file: Path) -> list[list[str]]:
    return [line.split() for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture
def several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Processors for three other processes, a directory for what they compile, and a file for what they say."""
    monkeypatch.setenv("SEMIRING_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("SEMIRING_NUM_THREADS", "4")
    return tmp_path / "notes"


def test_others_do_all_steps_and_the_last_ones_first(several: Path) -> None:
    others = begin(steps, str(several), 10)
    assert len(others) == 3
    assert [other.wait(60) for other in others] == [0, 0, 0]
    done = noted(several)
    assert sorted(int(step) for step, _, _ in done) == list(range(10))
    assert {rule for _, _, rule in done} == {"always"}
    by: dict[str, list[int]] = {}
    for step, process, _ in done:
        by.setdefault(process, []).append(int(step))
    assert sorted(by.values(), reverse=True) == [[9, 6, 3, 0], [8, 5, 2], [7, 4, 1]]
    assert str(os.getpid()) not in by


@pytest.mark.parametrize(("threads", "number"), [(1, 0), (2, 1), (3, 2), (64, 3)])
def test_no_more_than_there_are_processors(
    threads: int, number: int, several: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEMIRING_NUM_THREADS", str(threads))
    others = begin(steps, str(several), 1)
    assert len(others) == number
    for other in others:
        other.wait(60)


def no_process(*_: Any, **__: Any) -> None:
    raise AssertionError("a process was started")


def refused(*_: Any, **__: Any) -> None:
    raise BlockingIOError("no more processes")


def test_what_cannot_be_sent_stays_here(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", no_process)
    S = sr.Semiring("here", add=lambda a, b: a | b, mul=lambda a, b: a & b, zero=frozenset(), one=frozenset("x"),
                    dtype=object)
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(S)
    assert begin(steps, S) == []


@pytest.mark.parametrize("program", ["", None, "/opt/app/planner", "C:/planner.exe", "/usr/sbin/uwsgi"])
def test_a_program_that_holds_python_is_not_started_again(
    program: Any, several: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "Popen", no_process)
    monkeypatch.setattr(sys, "executable", program)
    assert begin(steps, str(several), 1) == []


def test_a_frozen_program_is_not_started_again(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", no_process)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert begin(steps, str(several), 1) == []


def test_nothing_is_compiled_that_could_not_be_kept(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", no_process)
    monkeypatch.setattr(beside, "cache_directory", lambda: None)
    assert begin(steps, str(several), 1) == []


def test_where_no_process_may_start_this_one_goes_on(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", refused)
    assert begin(steps, str(several), 1) == []


def test_only_what_is_missing_within_the_context_has_others_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[tuple[Any, ...]] = []
    monkeypatch.setattr(beside, "begin", lambda *work: begun.append(work))
    is_missing("outside")
    with if_missing(steps, "a", 1):
        assert begun == []
        is_missing("one")
        is_missing("two")
        with if_missing(steps, "b", 2):
            is_missing("three")
    is_missing("after")
    assert begun == [(steps, "a", 1), (steps, "b", 2)]


def test_others_begin_at_once_where_something_is_surely_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[tuple[Any, ...]] = []
    monkeypatch.setattr(beside, "begin", lambda *work: begun.append(work))
    with if_missing(steps, "a", 1, surely=True):
        assert begun == [(steps, "a", 1)] and not gc.isenabled()
        is_missing("one")
    assert len(begun) == 1 and gc.isenabled()


def test_others_are_told_with_what_this_process_begins(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_NUM_THREADS", "2")
    with if_missing(asking, str(several), surely=True):
        is_missing("the last")
        (other,) = beside._others
        for _ in range(600):
            if noted(several):
                break
            time.sleep(0.1)
    assert [step for step, _, _ in noted(several)] == ["1"], "which the other passed over, and went on"
    for _ in range(600):
        if other.closed:
            break
        time.sleep(0.1)
    assert beside._others == []
    is_missing("no process listens")


def asking(file: str) -> list[Callable[[], object]]:
    """Steps of which the last begins when this process was told that another does it."""
    return [partial(note, file, 1), partial(begin_when_told, file)]


def begin_when_told(file: str) -> None:
    for _ in range(600):
        if "the last" in beside._begun:
            break
        time.sleep(0.1)
    is_missing("the last")
    note(file, 2)


def test_what_another_process_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "_begun", set())
    file = str(tmp_path / "notes")
    try:
        beside.help_along(io.BytesIO(pickle.dumps((0, 1, pickle.dumps((asking, (file,))))) + b"the last\n"))
    finally:
        gc.enable()
    assert [step for step, _, _ in noted(tmp_path / "notes")] == ["1"]


def test_who_was_told_passes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "_begun", {"one"})
    is_missing("two")
    with pytest.raises(beside.Begun, match="one"):
        is_missing("one")


def test_the_garbage_collector_waits_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "begin", lambda *work: None)
    for before in (True, False):
        (gc.enable if before else gc.disable)()
        try:
            with suppress(KeyError), if_missing(steps, "a", 1):
                assert gc.isenabled() is before
                is_missing("one")
                assert not gc.isenabled()
                raise KeyError
            assert gc.isenabled() is before
        finally:
            gc.enable()


def test_a_function_that_is_not_on_disk_is_missing(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[tuple[Any, ...]] = []
    monkeypatch.setattr(beside, "begin", lambda *work: begun.append(work))
    for expected in (1, 1):  # the second time it is on disk
        function = njit(no_cfunc_wrapper=True, cache=True)(plus_three)
        with if_missing(steps, str(several), 1):
            assert function(4) == 7
        assert len(begun) == expected


def plus_three(x: Any) -> Any:
    return x + 3


def test_they_end_with_this_process(several: Path) -> None:
    """A process that ends in the middle leaves no process behind."""
    code = (
        f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import begin, endless; "
        f"print(*[other.pid for other in begin(endless, {str(several)!r})])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and not done.stderr, done.stderr
    others = [int(word) for word in done.stdout.split()]
    assert len(others) == 3
    until = time.monotonic() + 300
    while any(map(is_alive, others)):
        assert time.monotonic() < until
        time.sleep(0.05)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, signal.SIG_DFL)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_the_steps_of_one_process(tmp_path: Path) -> None:
    try:
        do_backwards(1, 2, pickle.dumps((steps, (str(tmp_path / "notes"), 5))))
    finally:
        gc.enable()
    assert [step for step, _, _ in noted(tmp_path / "notes")] == ["3", "1"]
    assert when() != "always" or os.environ.get("SEMIRING_COMPILE") == "always"
