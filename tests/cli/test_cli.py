"""The command line: answers on stdout, one line on stderr for bad input, exit statuses."""

from __future__ import annotations

import io
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from cli.calling import command, refused
from engines import slow_but

from semiring import cli
from semiring.cli.arguments import COMMANDS

# Bad input


@pytest.mark.parametrize("arguments, words", [
    (["closur"], "'closur'"),
    (["closure"], "required: FILE, --algebra"),
    (["closure", "ROADS", "--algebra", "min-pluss"], "did you mean 'min_plus'?"),
    (["closure", "ROADS", "--algebra", "min-plus", "--method", "blokced"], "did you mean 'blocked'?"),
    (["closure", "ROADS", "--algebra", "plus-times", "--method", "squaring"], "idempotent"),
    (["closure", "ROADS", "--algebra", "plus-min"], "not a semiring"),
    (["closure", "ROADS", "--algebra", "min-plus", "--dtype", "flaot32"], "did you mean 'float32'?"),
    (["closure", "ROADS", "--algebra", "viterbi", "--dtype", "int32"], "cannot live in int32"),
    (["closure", "ROADS", "--algebra", "min-plus", "--from", "Bude"], "did you mean 'Bute'?"),
    (["closure", "ROADS", "--algebra", "min-plus", "--path", "--not-reflexive"], "leave out --path"),
    (["closure", "ROADS", "--algebra", "plus-times", "--path"], "need a selective ⊕"),
    (["closure", "ROADS", "--algebra", "plus-times", "--path", "--from", "Ayr", "--to", "Dale"], "needs a selective ⊕"),
    (["closure", "ROADS", "--algebra", "min-plus", "--limit", "far"], "--limit far: 'far' is not a number"),
    (["closure", "ROADS", "--algebra", "min-plus", "--limit", "1,2"], "an element of min-plus has one number"),
    (["closure", "ROADS", "--algebra", "min-plus", "--from", "Ayr", "-o", "c.mtx"], "cannot be written to such a "
                                                                                    "file: use .csv, .tsv, .npy"),
    (["closure", "ROADS", "--algebra", "min-plus", "--path", "-o", "c.npy"], "c.npy: lines of pairs cannot be written"),
    (["solve", "-", "-", "--algebra", "min-plus"], "standard input can be read only once"),
    (["order", "ROADS", "-o", "nowhere/order.csv"], "there is no folder nowhere"),
    (["closure", "ROADS", "--algebra", "min-plus", "-o", "c.xyz"], "c.xyz"),
    (["closure", "ROADS", "--algebra", "min-plus", "-o", "nowhere/c.npy"], "nowhere"),
    (["closure", "roads.cvs", "--algebra", "min-plus"], "roads.cvs"),
    (["closure", "nothing.csv", "--algebra", "min-plus"], "there is no file nothing.csv"),
    (["closure", "ROADS", "--algebra", "viterbi"], "outside the carrier"),
    (["closure", "ROADS", "--algebra", "min-plus", "--directed", "--undirected"], "not allowed with"),
    (["closure", "ROADS", "--algebra", "min-plus", "--weight", "mk"], "did you mean 'km'?"),
    (["closure", "ROADS", "--algebra", "none.py:x"], "there is no file none.py"),
    (["laws", "boolaen"], "did you mean 'boolean'?"),
    (["demo", "--plott", "x"], "--plott"),
])
def test_one_line_for_bad_input(
    call, roads: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(roads.parent)
    assert words in refused(call(*[roads if a == "ROADS" else a for a in arguments]))


@pytest.mark.parametrize("text, words", [
    ("a,b,1\nb,c\n", "line 2"),
    ("a,b,1\nb,c,x\n", "line 2"),
    ("a,b,1\nb,c,nan\n", "line 2"),
    ("a,b,1\nb,c,-3\nc,a,1\n", "the cycle"),
    ("0,1000000,1\n", "of memory"),
])
def test_bad_graphs(call, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "g.csv").write_text(text)
    assert words in refused(call("closure", tmp_path / "g.csv", "--algebra", "min-plus", "--dtype", "f8"))


@pytest.mark.parametrize("data", [
    "Åland,1\n".encode("latin-1"), b"Ayr,\0\n", b'"Ayr,1\n', b"", b"\x93NUMPY\x01\x00v\x00{'descr'", b"PK\x03\x04",
    b"Ayr,Bute,\xd9\xa3\n",
])
@pytest.mark.parametrize("ending", [".csv", ".npy", ".npz", ".mtx", ".gr", ".graphml", ".csv.gz"])
def test_files_that_are_none(call, roads: Path, tmp_path: Path, data: bytes, ending: str) -> None:
    file = tmp_path / f"bad{ending}"
    file.write_bytes(data)
    common = "--algebra", "min-plus"
    assert str(file) in refused(call("closure", file, *common))
    assert str(file) in refused(call("solve", roads, file, *common))
    pytest.importorskip("matplotlib")
    ends = "--from", "Ayr", "--to", "Bute"
    drawn = call("closure", roads, *common, *ends, "--positions", file, "--plot", tmp_path / "p.png")
    assert str(file) in refused(drawn)


@pytest.mark.parametrize("options, words", [
    *[(["--dtype", text], "NumPy has no dtype") for text in ("(", "f4;", "99999999999f4", "[('a'", "f" * 9000)],
    (["--from", "9" * 5000], "no vertex is called"),
    (["--from", "\x1b[2J"], "no vertex is called '\\x1b[2J'"),
    (["--from", "١"], "no vertex is called '١'"),
    (["--weight", "\x1b"], "no column is called '\\x1b'"),
    (["--algebra", f"mod_p({'9' * 5000})"], "unknown algebra"),
    (["--algebra", "mod_p(١)"], "unknown algebra"),
    (["-o", "folder.csv"], "folder.csv"),
    (["--header", "--no-header"], "not allowed with"),
])
def test_one_line_for_odd_arguments(
    call, roads: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], words: str
) -> None:
    monkeypatch.chdir(roads.parent)
    (roads.parent / "folder.csv").mkdir()
    assert words in refused(call("closure", roads, "--algebra", "min-plus", *options))


def test_the_graph_may_come_through_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=("a,b,1\n",), daemon=True)
    writer.start()
    ends = "--from", "a", "--to", "b"
    done = command("closure", tmp_path / "pipe", "--algebra", "min-plus", *ends, "--format", "csv", timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "a\tb\t1\n", "")
    writer.join(5)
    done = command("closure", "/dev/stdin", "--algebra", "min-plus", *ends, "--format", "csv", input="a,b,2\n")
    assert done.stdout == "a\tb\t2\n"
    done = command("closure", "/dev/stdin", "--algebra", "min-plus", *ends, "--format", "cvs", input="a,b,2\n")
    assert done.returncode == 2 and "no format is called 'cvs'; did you mean 'csv'?" in done.stderr


@pytest.mark.parametrize(("name", "text", "rows"), [
    ("edges", "a,b,1\nb,c,2\n", "a\tc\t3\n"), (None, "a b 1\nb c 2\n", "a\tc\t3\n"),
    (None, "a\tb\t1\nb\tc\t2\n", "a\tc\t3\n"),
])
def test_standard_input_is_a_list_of_edges_or_what_is_said(
    call, monkeypatch: pytest.MonkeyPatch, name: str | None, text: str, rows: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    more = ["--format", name] if name else []
    answer = call("closure", "-", "--algebra", "min-plus", "--from", "a", "--to", "c", *more)
    assert (answer.status, answer.out, answer.err) == (0, rows, "")


def test_what_standard_input_may_hold(call, roads: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def given(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    given(b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 4\n")
    assert call("closure", "-", "--algebra", "min-plus", "--format", "mtx").rows[1] == ["0", "0.0", "4.0"]
    expected = [["Ayr", "7"], ["Bute", "4"], ["Coll", "7"], ["Dale", "0"]]
    array = io.BytesIO()
    np.save(array, np.array([2**63 - 1] * 3 + [0]))
    for goals in (b"Dale,0\n", b"vertex\tprice\nDale\t0\n", array.getvalue()):
        given(goals)
        assert call("solve", roads, "-", "--algebra", "min-plus").rows == expected
    for wrong, words in ((b"", "standard input is empty"), (b"a,b,1\nb,c,x\n", "standard input, line 2"),
                         (b"a,b,nan\n", "standard input, line 1")):
        given(wrong)
        assert words in refused(call("closure", "-", "--algebra", "min-plus"))


# Streams, in processes of their own


def test_process_statuses_and_streams(roads: Path) -> None:
    done = command("closure", roads, "--algebra", "min-plus", "--from", "Ayr", "--to", "Dale")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Ayr\tDale\t7\n", "")
    done = command("closure", roads, "--algebra", "min-pluss")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    done = command("laws", "plus-min", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (1, "") and "not distribute" in done.stdout


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("0,999,1\n")
    with subprocess.Popen(
        [sys.executable, "-m", "semiring", "closure", str(tmp_path / "g.csv"), "--algebra", "min-plus"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout and process.stderr
        process.stdout.read(100)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == cli.BROKEN_PIPE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
@pytest.mark.parametrize("arguments", slow_but([
    [("catalogue",)], [("--help",)], [("--version",)], [("closure", "ROADS", "--algebra", "min-plus", "--path")],
], 0, 3))
def test_a_full_disk_is_one_line(roads: Path, arguments: tuple[str, ...]) -> None:
    called = [sys.executable, "-m", "semiring", *(str(roads) if a == "ROADS" else a for a in arguments)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(called, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and done.stderr == "semiring: the answer: No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="how a shell closes streams")
@pytest.mark.parametrize(("arguments", "status", "out", "problem"), slow_but([
    ("catalogue >&-", 2, "", "standard output: Bad file descriptor"),
    ("--help >&-", 2, "", "standard output: Bad file descriptor"),
    ("closure ROADS --algebra min-plus -o OUT >&-", 0, "", ""),
    ("closure - --algebra min-plus <&-", 2, "", "standard input is closed"),
    ("closure nowhere.csv --algebra min-plus 2>&-", 2, "", ""),
    ("closure ROADS --algebra min-plus --from Ayr --to Dale 2>&-", 0, "Ayr\tDale\t7\n", ""),
], 0, 3, 5))
def test_streams_that_the_shell_closed(
    roads: Path, tmp_path: Path, arguments: str, status: int, out: str, problem: str
) -> None:
    arguments = arguments.replace("ROADS", shlex.quote(str(roads))).replace("OUT", shlex.quote(str(tmp_path / "c.csv")))
    done = subprocess.run(f"{shlex.quote(sys.executable)} -m semiring {arguments}", shell=True, capture_output=True,
                          text=True)
    assert (done.returncode, done.stdout) == (status, out)
    assert done.stderr == (f"semiring: {problem}\n" if problem else "")


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("".join(f"{i},{(i + 1) % 2000},1\n" for i in range(2000)))
    (tmp_path / "d.csv").write_text("before")
    with subprocess.Popen(
        [sys.executable, "-m", "semiring", "closure", "g.csv", "--algebra", "min-plus", "--path", "-o", "d.csv"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # shells let what runs behind them ignore it
    ) as process:
        while not list(tmp_path.glob(".d.csv.*")):  # what is being written
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.communicate() == (b"", b"")
    assert process.returncode == cli.INTERRUPTED
    assert (tmp_path / "d.csv").read_text() == "before"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["d.csv", "g.csv"]


def test_an_interrupt_within_code_in_a_string_has_the_same_status(tmp_path: Path) -> None:
    """Of which CPython keeps that it was not caught there, so that ``python -m`` would end by the signal."""
    (tmp_path / "interrupted.py").write_text(
        "import sys\n"
        "from types import SimpleNamespace\n"
        "from semiring import cli\n"
        "cli.parser = lambda: SimpleNamespace(parse_args=lambda argv: exec('raise KeyboardInterrupt'))\n"
        "sys.exit(cli.main([]))\n")
    done = subprocess.run([sys.executable, "-m", "interrupted"], capture_output=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (cli.INTERRUPTED, b"", b"")


def test_an_interrupt_while_a_class_is_made_has_the_same_status(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.11 raises a RuntimeError then, from the interrupt."""
    def parse(error: BaseException) -> None:
        raise RuntimeError("Error calling __set_name__") from error

    for error, status in ((KeyboardInterrupt(), cli.INTERRUPTED), (ValueError(), None)):
        monkeypatch.setattr(cli, "parser", lambda error=error: SimpleNamespace(parse_args=lambda argv: parse(error)))
        if status is None:
            with pytest.raises(RuntimeError):
                cli.main([])
        else:
            assert cli.main([]) == status


def test_progress_is_told_when_it_is_asked_for(call, roads: Path) -> None:
    asked = call("closure", roads, "--algebra", "min-plus", "--from", "Ayr", "--progress")
    assert asked.err == "semiring: closure: 100 %\n" and asked.out
    assert call("closure", roads, "--algebra", "min-plus", "--from", "Ayr", "--no-progress").err == ""


def test_interrupt_is_quiet(call, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setitem(COMMANDS, "info", replace(COMMANDS["info"], run=stop))
    answer = call("info")
    assert (answer.status, answer.out, answer.err) == (130, "", "")
