"""The command line: answers on stdout, one line on stderr for bad input, exit statuses."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import semiring as sr
from semiring import cli
from semiring.cli import commands
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.machine import progress

ROADS = "from,to,km\nAyr,Bute,3\nAyr,Coll,2\nBute,Coll,6\nBute,Dale,4\nColl,Dale,7\n"
OWN = """
import numpy as np
import semiring as sr
reliability = sr.Semiring("reliability", add=np.maximum, mul=np.multiply, zero=0.0, one=1.0,
                          carrier=lambda a: (0 <= a) & (a <= 1))
number = 3
"""


class Answer:
    def __init__(self, status: int, out: str, err: str):
        self.status, self.out, self.err = status, out, err

    @property
    def rows(self) -> list[list[str]]:
        return list(csv.reader(io.StringIO(self.out), delimiter="\t"))


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]):
    def run(*arguments: object) -> Answer:
        capsys.readouterr()
        try:
            status = cli.main([str(a) for a in arguments])
        except SystemExit as e:
            status = int(e.code or 0)
        return Answer(status, *capsys.readouterr())

    return run


@pytest.fixture
def roads(tmp_path: Path) -> Path:
    file = tmp_path / "roads.csv"
    file.write_text(ROADS)
    return file


def refused(answer: Answer) -> str:
    """The one line of a bad input."""
    assert answer.status == 2
    assert answer.out == ""
    assert answer.err.startswith("semiring: ") and answer.err.endswith("\n") and answer.err.count("\n") == 1
    return answer.err


def command(*arguments: object, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "semiring", *map(str, arguments)], capture_output=True, text=True, **options
    )


# closure


@pytest.mark.parametrize("algebra, value", [
    ("min-plus", "7"), ("min_plus", "7"), ("max-plus", "16"), ("max-min", "3"), ("boolean", "1"),
    ("saturating_min_plus(8)", "7"),
])
def test_one_pair(call, roads: Path, algebra: str, value: str) -> None:
    answer = call("closure", roads, "--algebra", algebra, "--from", "Ayr", "--to", "Dale")
    assert (answer.status, answer.out, answer.err) == (0, f"Ayr\tDale\t{value}\n", "")


def test_rows_and_columns(call, roads: Path) -> None:
    answer = call("closure", roads, "--algebra", "min-plus", "--from", "Bute")
    assert [row[0] for row in answer.rows] == ["Bute"] * 4
    assert [row[1:] for row in answer.rows] == [["Ayr", "inf"], ["Bute", "0"], ["Coll", "6"], ["Dale", "4"]]
    answer = call("closure", roads, "--algebra", "min-plus", "--to", "Dale", "--dtype", "f8")
    assert answer.out == "Ayr\tDale\t7.0\nBute\tDale\t4.0\nColl\tDale\t7.0\nDale\tDale\t0.0\n"


def test_path_ends_the_line(call, roads: Path) -> None:
    ends = "--from", "Ayr", "--to", "Dale", "--path"
    assert call("closure", roads, "--algebra", "min-plus", *ends).rows == [["Ayr", "Dale", "7", "Ayr", "Bute", "Dale"]]
    longest = call("closure", roads, "--algebra", "max-plus", *ends)
    assert longest.rows == [["Ayr", "Dale", "16", "Ayr", "Bute", "Coll", "Dale"]]
    back = "--from", "Dale", "--to", "Ayr", "--path"
    assert call("closure", roads, "--algebra", "min-plus", *back, "--dtype", "f4").rows == [["Dale", "Ayr", "inf"]]


@pytest.mark.parametrize("algebra, dtype", [
    ("min-plus", None), ("min-plus", "f4"), ("max-min", None), ("max-min", "f8"), ("boolean", None),
])
def test_matrix_is_as_in_a_file(call, roads: Path, tmp_path: Path, algebra: str, dtype: str | None) -> None:
    options = ["--algebra", algebra, *(["--dtype", dtype] if dtype else [])]
    answer = call("closure", roads, *options)
    assert answer.status == 0
    silent = call("closure", roads, *options, "-o", tmp_path / "c.tsv")
    assert (silent.status, silent.out) == (0, "")
    assert (tmp_path / "c.tsv").read_text() == answer.out
    assert answer.rows[0] == ["", "Ayr", "Bute", "Coll", "Dale"]
    assert answer.rows[4][:4] == ["Dale", "", "", ""]


def test_matrix_of_numbered_vertices(call, tmp_path: Path) -> None:
    file = tmp_path / "g.csv"
    file.write_text("0,1,0.5\n1,2,0.25\n")
    C = call("closure", file, "--algebra", "viterbi")
    assert C.rows == [["", "0", "1", "2"], ["0", "1.0", "0.5", "0.125"], ["1", "", "1.0", "0.25"], ["2", "", "", "1.0"]]


def test_array_file(call, roads: Path, tmp_path: Path) -> None:
    assert call("closure", roads, "--algebra", "min-plus", "--dtype", "f4", "-o", tmp_path / "c.npy").status == 0
    C = np.load(tmp_path / "c.npy")
    assert C.dtype == np.float32 and C[0].tolist() == [0, 3, 2, 7]


def test_direction_reflexivity_and_weights(call, roads: Path) -> None:
    back = ["closure", roads, "--algebra", "min-plus", "--from", "Dale", "--to", "Ayr"]
    assert call(*back, "--undirected").rows[0][2] == "7"
    assert call(*back, "--directed", "--dtype", "f8").rows[0][2] == "inf"
    assert call(*back, "--undirected", "--unweighted", "--dtype", "f8").rows[0][2] == "2.0"
    assert call(*back, "--undirected", "--weight", "km").rows[0][2] == "7"
    stay = ["closure", roads, "--algebra", "min-plus", "--from", "Ayr", "--to", "Ayr", "--undirected"]
    assert call(*stay).rows[0][2] == "0"
    assert call(*stay, "--not-reflexive").rows[0][2] == "4"


@pytest.mark.parametrize("method", ["floyd-warshall", "blocked", "r-kleene", "squaring", "elimination"])
def test_methods(call, roads: Path, method: str) -> None:
    answer = call("closure", roads, "--algebra", "min-plus", "--method", method, "--from", "Ayr", "--to", "Dale")
    assert answer.out == "Ayr\tDale\t7\n"


def test_integer_vertices_and_compact(call, tmp_path: Path) -> None:
    file = tmp_path / "far.txt"
    file.write_text("7 1000000 2\n1000000 12 3\n")
    options = "--algebra", "min-plus", "--compact"
    assert call("closure", file, *options, "--from", 7, "--to", 12).out == "7\t12\t5\n"
    assert "vertex" in refused(call("closure", file, *options, "--from", 8))


def test_records(call, roads: Path) -> None:
    ends = "--from", "Ayr", "--to", "Dale"
    common = ["closure", roads, "--algebra", "shortest-hops"]
    assert call(*common, "--append", 1, *ends, "--path").rows == [["Ayr", "Dale", "(7.0, 2.0)", "Ayr", "Bute", "Dale"]]
    assert call(*common, "--unweighted", "--append", 1, *ends).rows == [["Ayr", "Dale", "(2.0, 2.0)"]]
    assert "--append 1,2 makes 3 components" in refused(call(*common, "--append", "1,2", *ends))
    assert "'x' is not a number" in refused(call(*common, "--append", "x", *ends))
    assert "min-plus has one" in refused(call("closure", roads, "--algebra", "min-plus", "--append", 1))
    assert call(*common, "--append", 1).rows[4] == ["Dale", "", "", "", "(0.0, 0.0)"]


def test_own_algebra(call, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "g.csv").write_text("a,b,0.5\nb,c,0.5\na,c,0.125\n")
    mine = f"{tmp_path / 'mine.py'}:reliability"
    answer = call("closure", tmp_path / "g.csv", "--algebra", mine, "--from", "a", "--to", "c")
    assert answer.out == "a\tc\t0.25\n"


# closure --packed


def test_packed_file(call, tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    edges = random.integers(0, 600, (700, 2))
    file, out = tmp_path / "g.csv", tmp_path / "reach.npy"
    file.write_text("".join(f"{a},{b}\n" for a, b in [*edges, (599, 599)]))

    def closed(directed: bool = True, reflexive: bool = True) -> np.ndarray:
        A = sr.adjacency(sr.read_graph(file, directed=directed), sr.boolean)
        return sr.closure(A, sr.boolean, reflexive=reflexive).array

    for options, expected in (
        ([], closed()), (["--method", "r-kleene"], closed()), (["--not-reflexive"], closed(reflexive=False)),
        (["--undirected"], closed(directed=False)),
    ):
        answer = call("closure", file, "--algebra", "boolean", "--packed", "-o", out, *options)
        assert (answer.status, answer.out, answer.err) == (0, "", "")
        found = PackedMatrix.load(out)
        assert found.shape == (600, 600) and np.array_equal(found, expected)
        assert np.load(out).nbytes == 600 * 128


def test_packed_pairs(call, roads: Path) -> None:
    common = "closure", roads, "--algebra", "boolean"
    for text in ("--from Bute", "--to Dale", "--from Dale --to Ayr", "--from Ayr --to Ayr"):
        ends = text.split()
        for more in ([], ["--not-reflexive"], ["--undirected", "--compact"]):
            packed = call(*common, "--packed", *ends, *more)
            assert (packed.status, packed.err) == (0, "") and packed.rows
            assert packed.out == call(*common, *ends, *more).out


@pytest.mark.parametrize("options, words", [
    ([], "--packed needs -o OUT.npy"),
    (["-o", "reach.csv"], "reach.csv: a packed matrix is written as .npy"),
    (["-o", "nowhere/reach.npy"], "there is no folder nowhere"),
    (["--from", "Ayr", "--to", "Dale", "--path"], "leave out --path"),
    (["-o", "r.npy", "--plot", "r.png"], "leave out --plot"),
    (["-o", "r.npy", "--dtype", "f4"], "leave out --dtype"),
    (["--from", "Bude"], "did you mean 'Bute'?"),
    (["-o", "r.npy", "--method", "blokced"], "did you mean 'blocked'?"),
    (["-o", "r.npy", "--algebra", "min-plus"], "algebras of False and True, such as sr.boolean, not for min-plus"),
    (["-o", "r.npy", "--algebra", "gf2"], "not for gf2"),
])
def test_what_is_not_packed(
    call, roads: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], words: str
) -> None:
    monkeypatch.chdir(roads.parent)
    assert words in refused(call("closure", roads, "--algebra", "boolean", "--packed", *options))
    assert not (roads.parent / "r.npy").exists()


# solve


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


@pytest.mark.parametrize("text, words", [
    ("Dale,0\nDael,1\n", "line 2: no vertex is called 'Dael'; did you mean 'Dale'?"),
    ("Dale,0\nDale,1\n", "line 2: found vertex 'Dale' again, expected one line for each"),
    ("Dale,0\nColl,x\n", "line 2: found 'x', expected a number"),
    ("Dale,0\nColl,nan\n", "line 2: found NaN, expected a number"),
    ("Dale,0\nColl,1,2\n", "line 2: found 3 fields, expected 2"),
    ("Dale,0.5\n", "line 1: the weight 0.5 does not fit int64: pass another dtype"),
    ("Coll,1\nDale,1e300\n", "line 2: the weight 1e+300 does not fit int64"),
    ("Dale,-inf\n", "line 1: the weight -inf does not fit int64"),
    (f"Dale,{2**63}\n", f"line 1: the weight {2**63} does not fit int64"),
    ("vertex,price\n", "holds only the line of column names ['vertex', 'price']"),
    ("# nothing\n", "holds nothing: expected lines of a vertex and numbers"),
])
def test_bad_right_hand_sides(call, roads: Path, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "b.csv").write_text(text)
    assert words in refused(call("solve", roads, tmp_path / "b.csv", "--algebra", "min-plus"))


# laws, catalogue, info


def test_laws(call, tmp_path: Path) -> None:
    answer = call("laws", "max-min")
    assert answer.status == 0 and "distributes" in answer.out and answer.err == ""
    for name in ("plus-min", "shortest_widest"):
        answer = call("laws", name)
        assert answer.status == 1 and "✗ ⊗ distributes on the left fails" in answer.out and answer.err == ""
    (tmp_path / "mine.py").write_text(OWN)
    assert call("laws", f"{tmp_path / 'mine.py'}:reliability").status == 0
    (tmp_path / "means.py").write_text(OWN.replace("np.maximum", "lambda a, b: (a + b) / 2"))
    answer = call("laws", f"{tmp_path / 'means.py'}:reliability")
    assert answer.status == 1 and "is not a semiring: ⊕ is associative fails" in answer.out


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


def test_version_and_help(call) -> None:
    assert call("--version").out == f"semiring {sr.__version__}\n"
    for arguments in ([], ["closure"], ["solve"], ["laws"], ["catalogue"], ["info"], ["demo"]):
        answer = call(*arguments, "--help")
        assert answer.status == 0 and answer.out.startswith("usage: semiring")


# Pictures


def test_heat_map_and_map(call, roads: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "closure.png"
    answer = call("closure", roads, "--algebra", "min-plus", "--plot", picture)
    assert (answer.status, answer.out) == (0, "") and picture.read_bytes().startswith(b"\x89PNG")
    places = tmp_path / "places.csv"
    places.write_text("town,longitude,latitude\nAyr,-4.6,55.4\nBute,-5.1,55.8\nColl,-6.5,56.6\nDale,-5.0,56.0\n")
    way = tmp_path / "way.svg"
    ends = "--from", "Ayr", "--to", "Dale"
    answer = call("closure", roads, "--algebra", "min-plus", *ends, "--positions", places, "--plot", way)
    assert (answer.status, answer.out) == (0, "Ayr\tDale\t7\n")
    assert way.read_text().startswith("<?xml")


def test_pictures_that_cannot_be_drawn(call, roads: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    common = "closure", roads, "--algebra", "min-plus"
    ends = "--from", "Ayr", "--to", "Dale"
    picture, places = tmp_path / "p.png", tmp_path / "places.csv"
    places.write_text("Ayr,0,0\nBute,1,0\nColl,1,1\n")
    assert "Dale has no place" in refused(call(*common, *ends, "--positions", places, "--plot", picture))
    assert "--positions needs --from and --to" in refused(call(*common, "--positions", places, "--plot", picture))
    assert "add --plot" in refused(call(*common, *ends, "--positions", places))
    back = "--from", "Dale", "--to", "Ayr"
    places.write_text("Ayr,0,0\nBute,1,0\nColl,1,1\nDale,2,2\n")
    assert "no way from Dale to Ayr" in refused(call(*common, *back, "--positions", places, "--plot", picture))
    assert "nowhere" in refused(call(*common, "--plot", tmp_path / "nowhere" / "p.png"))
    answer = call(*common, "--plot", tmp_path / "p.nonsense")
    assert "cannot be written" in refused(answer)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install matplotlib" in refused(call(*common, "--plot", picture))
    assert not picture.exists()


# Bad input


@pytest.mark.parametrize("arguments, words", [
    ([], "required: COMMAND"),
    (["closur"], "'closur'"),
    (["closure"], "required: FILE, --algebra"),
    (["closure", "ROADS", "--algebra", "min-pluss"], "did you mean 'min_plus'?"),
    (["closure", "ROADS", "--algebra", "min-plus", "--method", "blokced"], "did you mean 'blocked'?"),
    (["closure", "ROADS", "--algebra", "plus-times", "--method", "squaring"], "idempotent"),
    (["closure", "ROADS", "--algebra", "plus-min"], "not a semiring"),
    (["closure", "ROADS", "--algebra", "min-plus", "--dtype", "flaot32"], "did you mean 'float32'?"),
    (["closure", "ROADS", "--algebra", "viterbi", "--dtype", "int32"], "cannot live in int32"),
    (["closure", "ROADS", "--algebra", "min-plus", "--from", "Bude"], "did you mean 'Bute'?"),
    (["closure", "ROADS", "--algebra", "min-plus", "--path"], "--path needs --from and --to"),
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
    *[(["--dtype", text], "NumPy knows no dtype") for text in ("(", "f4;", "99999999999f4", "[('a'", "f" * 9000)],
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


def test_an_algebra_s_file_that_ends_the_process_is_bad_input(call, roads: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import sys; sys.exit(0)")
    assert "cannot be run: SystemExit" in refused(call("closure", roads, "--algebra", f"{tmp_path / 'mine.py'}:x"))


def test_how_a_list_is_to_be_read(call, tmp_path: Path) -> None:
    file = tmp_path / "g.csv"
    file.write_text("u,v\nv,w\n")
    common = "closure", file, "--algebra", "boolean", "--from", "v", "--to", "w"
    answer = call(*common, "--header")
    assert (answer.out, answer.err) == ("v\tw\t1\n", "")
    assert call("closure", file, "--algebra", "boolean", "--from", "u", "--to", "w", "--no-header").out == "u\tw\t1\n"
    with pytest.warns(sr.SemiringWarning, match="is taken for names of columns"):
        sr.read_graph(file)
    done = command(*common)
    assert (done.returncode, done.stdout) == (0, "v\tw\t1\n")
    assert done.stderr.startswith("semiring: warning: ") and done.stderr.count("\n") == 1
    file.write_text("7,8\n")
    assert call("closure", file, "--algebra", "boolean", "--text-names").rows[0] == ["", "7", "8"]


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


def test_a_negative_cycle_is_named(call, tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("Ayr,Bute,1\nBute,Coll,-3\nColl,Ayr,1\nDale,Ayr,5\n")
    line = refused(call("closure", tmp_path / "g.csv", "--algebra", "min-plus"))
    assert all(name in line for name in ("Ayr", "Bute", "Coll")) and "Dale" not in line


@pytest.mark.parametrize("text, words", [
    ("1 / 0", "ZeroDivisionError"),
    ("x = (", "SyntaxError"),
    (OWN.replace("np.maximum", "lambda a, b: (a + b) / 2"), "not a semiring"),
    (OWN.replace("reliability =", "reliably ="), "did you mean 'reliably'?"),
    ("reliability = 3", "is not a Semiring, but int"),
])
def test_bad_files_of_algebras(call, roads: Path, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "mine.py").write_text(text)
    assert words in refused(call("closure", roads, "--algebra", f"{tmp_path / 'mine.py'}:reliability"))


# Streams, in processes of their own


def test_process_statuses_and_streams(roads: Path) -> None:
    done = command("closure", roads, "--algebra", "min-plus", "--from", "Ayr", "--to", "Dale")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Ayr\tDale\t7\n", "")
    done = command("closure", roads, "--algebra", "min-pluss")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    done = command("laws", "plus-min", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (1, "") and "distributes" in done.stdout


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


def test_interrupt_is_quiet(call, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "run_info", stop)
    answer = call("info")
    assert (answer.status, answer.out, answer.err) == (130, "", "")


# The bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


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


def test_tables_for_a_terminal(monkeypatch: pytest.MonkeyPatch, roads: Path) -> None:
    stdout = Terminal()
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setenv("COLUMNS", "200")
    assert cli.main(["catalogue"]) == 0
    assert "saturating_min_plus" in stdout.getvalue() and "\t" not in stdout.getvalue()
    assert cli.main(["closure", str(roads), "--algebra", "min-plus"]) == 0
    assert "Matrix 4 × 4 over min-plus" in stdout.getvalue()
