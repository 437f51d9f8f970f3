"""`semiring closure`: pairs, rows, matrices and files, by every method; and bits with --packed."""

from __future__ import annotations

import io
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from cli.calling import refused
from methods import METHODS
from together import launcher, needs_mpi

import semiring as sr
from semiring.cli import plot
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.operands.devices import gpu_name


@pytest.mark.parametrize("algebra, value", [
    ("min-plus", "7"), ("min_plus", "7"), ("max-plus", "16"), ("max-min", "3"), ("boolean", "1"),
    ("saturating_min_plus(8)", "7"),
])
def test_one_pair(call, roads: Path, algebra: str, value: str) -> None:
    answer = call("closure", roads, "--algebra", algebra, "--from", "Ayr", "--to", "Dale")
    assert (answer.status, answer.out, answer.err) == (0, f"Ayr\tDale\t{value}\n", "")


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    """A round trip that gains a hundredth: refused, unless weights are known to a tenth."""
    file = tmp_path / "prices.csv"
    file.write_text("a,b,1.0\nb,c,2.0\nc,a,-3.01\n")
    return file


@pytest.mark.parametrize(("asked", "expected"), [
    (("--from", "a", "--to", "c"), "a\tc\t3.2\n"), (("--from", "a", "--to", "c", "--path"), "a\tc\t3.2\ta\tb\tc\n"),
    (("--to", "c"), "a\tc\t3.2\nb\tc\t2.1\nc\tc\t0.0\n"),
    (("--from", "a", "--to", "a", "--not-reflexive"), "a\ta\t0.29\n"),
    (("--from", "a", "--to", "c", "--method", "blocked"), "a\tc\t3.2\n"),
])
def test_a_tolerance(call, prices: Path, asked: tuple[str, ...], expected: str) -> None:
    common = "closure", prices, "--algebra", "min-plus"
    assert "improving" in call(*common, *asked).err
    found = call(*common, *asked, "--tol", 0.1)
    rows = sorted([*row[:2], round(float(row[2]), 9), *row[3:]] for row in found.rows)
    lines = map(str.split, expected.splitlines())
    assert rows == sorted([*row[:2], float(row[2]), *row[3:]] for row in lines), found.err


def test_a_tolerance_of_whole_matrices_and_equations(call, prices: Path, tmp_path: Path) -> None:
    common = "closure", prices, "--algebra", "min-plus", "--tol", 0.1
    whole = np.array([[0, 1.1, 3.2], [-0.81, 0, 2.1], [-2.91, -1.81, 0]])
    for more in (("-o", tmp_path / "c.npy"), ("--memory", "1M", "--checkpoint", 60, "-o", tmp_path / "d.npy")):
        assert call(*common, *more).err == ""
        np.testing.assert_allclose(np.load(more[-1]), whole, atol=1e-12)
    (tmp_path / "b.csv").write_text("a,0\n")
    solved = call("solve", prices, tmp_path / "b.csv", "--algebra", "min-plus", "--tol", 0.1)
    assert [round(float(row[1]), 9) for row in solved.rows] == [0, -0.81, -2.91]
    assert "improving" in call("solve", prices, tmp_path / "b.csv", "--algebra", "min-plus").err
    assert "needs a selective ⊕" in refused(call("closure", prices, "--algebra", "boolean", "--packed", "--from", "a",
                                                    "--tol", 0.1))
    assert "0 or more" in refused(call("closure", prices, "--algebra", "min-plus", "--tol", -1))


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


def test_matrix_of_numbered_vertices(call, tmp_path: Path) -> None:
    file = tmp_path / "g.csv"
    file.write_text("0,1,0.5\n1,2,0.25\n")
    C = call("closure", file, "--algebra", "viterbi")
    assert C.rows == [["", "0", "1", "2"], ["0", "1.0", "0.5", "0.125"], ["1", "", "1.0", "0.25"], ["2", "", "", "1.0"]]


def test_array_file(call, roads: Path, tmp_path: Path) -> None:
    assert call("closure", roads, "--algebra", "min-plus", "--dtype", "f4", "-o", tmp_path / "c.npy").status == 0
    C = np.load(tmp_path / "c.npy")
    assert C.dtype == np.float32 and C[0].tolist() == [0, 3, 2, 7]


def test_a_matrix_that_was_written_is_read(call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "g.csv").write_text('from,to,km\n"7",007,0\n007,"a,b",2.5\n')
    first = call("closure", tmp_path / "g.csv", "--algebra", "min-plus", "--not-reflexive")
    assert first.rows[0] == ["", "7", "007", "a,b"] and first.out.splitlines()[0] == '\t"7"\t007\t"a,b"'
    for ending in (".csv", ".tsv", ".npy", ".npz", ".mtx", ".csv.gz", *([".parquet"] if find_spec("pyarrow") else [])):
        file = tmp_path / f"c{ending}"
        assert call("closure", tmp_path / "g.csv", "--algebra", "min-plus", "--not-reflexive", "-o", file).status == 0
        again = call("closure", file, "--algebra", "min-plus", "--not-reflexive")
        assert again.out == first.out, ending
        assert sr.read_matrix(file, "min-plus").names == ["7", "007", "a,b"]
        told = tmp_path / f"c{ending}.data"
        told.write_bytes(file.read_bytes())
        if ending != ".csv.gz":
            called = {".npy": "npy", ".npz": "npz", ".mtx": "mtx", ".parquet": "parquet"}.get(ending, ending[1:])
            again = call("closure", told, "--format", called, "--algebra", "min-plus", "--not-reflexive")
            assert again.out == first.out, ending
    piped = io.TextIOWrapper(io.BytesIO(first.out.encode()))
    monkeypatch.setattr("sys.stdin", piped)
    assert call("closure", "-", "--algebra", "min-plus", "--not-reflexive").out == first.out


def test_graphs_with_labels(call, tmp_path: Path) -> None:
    (tmp_path / "g.net").write_text('*Vertices 3\n1 "Ayr"\n2 "007"\n3 "far"\n*Arcs\n1 2 2.5\n')
    assert call("closure", tmp_path / "g.net", "--algebra", "min-plus", "--from", "Ayr", "--to", "007").out == (
        "Ayr\t007\t2.5\n")
    assert "g.net, line 3: found a second vertex called 'a'" in refused(call(
        "closure", _file(tmp_path / "g.net", '*Vertices 3\n1 a\n2 a\n3 b\n*Arcs\n'), "--algebra", "min-plus"))


def _file(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_direction_reflexivity_and_weights(call, roads: Path) -> None:
    back = ["closure", roads, "--algebra", "min-plus", "--from", "Dale", "--to", "Ayr"]
    assert call(*back, "--undirected").rows[0][2] == "7"
    assert call(*back, "--directed", "--dtype", "f8").rows[0][2] == "inf"
    assert call(*back, "--undirected", "--unweighted", "--dtype", "f8").rows[0][2] == "2.0"
    assert call(*back, "--undirected", "--weight", "km").rows[0][2] == "7"
    stay = ["closure", roads, "--algebra", "min-plus", "--from", "Ayr", "--to", "Ayr", "--undirected"]
    assert call(*stay).rows[0][2] == "0"
    assert call(*stay, "--not-reflexive").rows[0][2] == "4"


@pytest.mark.parametrize("method", METHODS)
def test_methods(call, roads: Path, method: str) -> None:
    answer = call("closure", roads, "--algebra", "min-plus", "--method", method, "--from", "Ayr", "--to", "Dale")
    assert answer.out == "Ayr\tDale\t7\n"


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
    (["-o", "reach.csv"], "reach.csv: a packed matrix can only be written as .npy"),
    (["-o", "nowhere/reach.npy"], "there is no folder nowhere"),
    (["--from", "Ayr", "--to", "Dale", "--path"], "leave out --path"),
    (["-o", "r.npy", "--plot", "r.png"], "leave out --plot"),
    (["-o", "r.npy", "--dtype", "f4"], "leave out --dtype"),
    (["--from", "Bude"], "did you mean 'Bute'?"),
    (["-o", "r.npy", "--method", "blokced"], "did you mean 'blocked'?"),
    (["-o", "r.npy", "--algebra", "min-plus"], "algebras of False and True, such as sr.boolean, not min-plus"),
    (["-o", "r.npy", "--algebra", "gf2"], "not gf2"),
])
def test_what_is_not_packed(
    call, roads: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], words: str
) -> None:
    monkeypatch.chdir(roads.parent)
    assert words in refused(call("closure", roads, "--algebra", "boolean", "--packed", *options))
    assert not (roads.parent / "r.npy").exists()


def test_a_negative_cycle_is_named(call, tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("Ayr,Bute,1\nBute,Coll,-3\nColl,Ayr,1\nDale,Ayr,5\n")
    line = refused(call("closure", tmp_path / "g.csv", "--algebra", "min-plus"))
    assert all(name in line for name in ("Ayr", "Bute", "Coll")) and "Dale" not in line


def test_a_map_of_several_paths_and_of_infinite_ones(
    call, roads: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    labels: list[list[str]] = []
    monkeypatch.setattr(plot, "_save", lambda figure, file: labels.append(
        [text.get_text() for text in figure.axes[0].get_legend().get_texts()][1:]))
    places = tmp_path / "places.csv"
    places.write_text("Ayr,0,0\nBute,1,0\nColl,1,1\nDale,2,2\n")
    common = "closure", roads, "--algebra", "max-min", "--positions", places, "--plot", tmp_path / "p.png"
    some = call(*common, "--from", "Ayr", "--to", "Ayr", "--to", "Dale", "--to", "Bute")
    assert some.rows == [["Ayr", "Ayr", "inf"], ["Ayr", "Dale", "3"], ["Ayr", "Bute", "3"]]
    assert call(*common, "--from", "Ayr", "--to", "Ayr").out == "Ayr\tAyr\tinf\n"
    assert labels == [["from Ayr to Ayr: ∞, 0 edges", "from Ayr to Dale: 3, 2 edges", "from Ayr to Bute: 3, 1 edge"],
                      ["from Ayr to Ayr: ∞, 0 edges"]]
    many = [option for v in ("Ayr", "Bute", "Coll") for option in ("--from", v, "--to", v)]
    assert "a map shows at most 4 paths, and --from and --to ask for 9" in refused(call(*common, *many))
    assert "no path from Dale to Ayr" in refused(call(*common, "--from", "Dale", "--to", "Dale", "--to", "Ayr"))


def test_several_gpus(call, tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_text("from,to,weight\na,b,1\nb,c,2\n")
    common = "closure", path, "--algebra", "min-plus"
    assert "how many GPUs" in refused(call(*common, "--devices", "many"))
    assert "whole closure" in refused(call(*common, "--devices", 2, "--from", "a"))
    if gpu_name() is None:
        assert "no GPU was found" in refused(call(*common, "--device", "gpu"))
    assert call(*common, "--device", "cpu").out == call(*common).out
    assert "whole closure" in refused(call(*common, "--device", "cpu", "--from", "a"))
    assert "names a GPU twice" in refused(call(*common, "--devices", "1,1"))
    assert "a list of their own numbers" in refused(call(*common, "--devices", "0"))


def test_from_file_to_file(call, tmp_path: Path) -> None:
    A = np.random.default_rng(0).random((150, 150))
    np.save(tmp_path / "w.npy", A)
    common = "closure", tmp_path / "w.npy", "--algebra", "min-plus"
    assert call(*common, "--memory", "1M", "--checkpoint", 60, "--resume", "--out", tmp_path / "c.npy").out == ""
    np.testing.assert_allclose(np.load(tmp_path / "c.npy"), sr.closure(A, sr.min_plus))
    call(*common, "--memory", "1M", "--not-reflexive", "-o", tmp_path / "plus.npy")
    np.testing.assert_allclose(np.load(tmp_path / "plus.npy"), sr.closure(A, sr.min_plus, reflexive=False))
    assert "pass -o too" in refused(call(*common, "--memory", "1M"))
    assert "must end in .npy or .zarr" in refused(call(*common, "--memory", "1M", "-o", tmp_path / "c.csv"))
    assert "memory must be a number of bytes" in refused(call(*common, "--memory", "much", "-o", tmp_path / "c.npy"))
    assert "leave out --memory" in refused(call(*common, "--memory", "1M", "-o", tmp_path / "c.npy", "--from", "1"))


def test_a_graph_goes_to_a_file(call, tmp_path: Path) -> None:
    (tmp_path / "roads.csv").write_text("from,to,weight\na,b,1.5\nb,c,2\na,c,9\n")
    call("closure", tmp_path / "roads.csv", "--algebra", "min-plus", "--memory", "1M", "-o", tmp_path / "c.npy")
    assert np.load(tmp_path / "c.npy").tolist() == [[0, 1.5, 3.5], [np.inf, 0, 2], [np.inf, np.inf, 0]]


def test_lines_tell_the_rate(call, tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.random.default_rng(0).random((300, 300)))
    done = call("closure", tmp_path / "w.npy", "--algebra", "min-plus", "--memory", "600K", "-o", tmp_path / "c.npy",
                "--progress")
    assert "multiply-adds/s, 0:0" in done.err


@pytest.mark.slow
@needs_mpi
def test_by_several_processes_the_first_of_which_prints(roads: Path, prices: Path, tmp_path: Path) -> None:
    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [str(launcher()), "-n", "3", sys.executable, "-m", "semiring", "closure", *map(str, arguments),
                   "--algebra", "min-plus", "--on", "mpi"]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)

    answer = run(roads)
    alone = subprocess.run([sys.executable, "-m", "semiring", "closure", str(roads), "--algebra", "min-plus"],
                           capture_output=True, text=True, check=True)
    assert (answer.returncode, answer.stdout) == (0, alone.stdout)
    plus = subprocess.run([sys.executable, "-m", "semiring", "closure", str(roads), "--algebra", "min-plus",
                           "--not-reflexive"], capture_output=True, text=True, check=True)
    assert run(roads, "--not-reflexive", "--device", "cpu").stdout == plus.stdout != alone.stdout
    known = subprocess.run([sys.executable, "-m", "semiring", "closure", str(prices), "--algebra", "min-plus", "--tol",
                            "0.1"], capture_output=True, text=True, check=True)
    assert run(prices, "--tol", 0.1).stdout == known.stdout and "improving" in run(prices).stderr
    np.save(tmp_path / "w.npy", np.array([[np.inf, 2.0], [3.0, np.inf]]))
    assert run("w.npy", "-o", "c.npy", "--checkpoint", 60).returncode == 0
    assert np.load(tmp_path / "c.npy").tolist() == [[0, 2], [3, 0]]
    for arguments, why in (
        ((roads, "--from", "Ayr"), "leave out --on"), ((tmp_path / "none.csv",), "there is no file"),
        (("w.npy", "-o", "c.csv", "--resume"), "must end in .npy or .zarr"),
        ((roads, "--method", "squaring"), "must be blocked"), ((roads, "--devices", 2), "has no option --devices"),
        *([] if gpu_name() else [((roads, "--device", "gpu"), "no GPU was found by rank 0 on")]),
    ):
        answer = run(*arguments)
        assert answer.returncode == 2 and answer.stdout == ""
        assert answer.stderr.count("semiring:") == 1 and why in answer.stderr


def test_numbers_of_places_are_names(call, tmp_path: Path) -> None:
    """Nothing is allocated for the two thousand million numbers below them."""
    (tmp_path / "places.csv").write_text("from,to,km\n2398472983,17,1\n17,2398472984,2\n2398472984,77,4\n")
    answer = call("closure", tmp_path / "places.csv", "--algebra", "min-plus", "--from", "2398472983", "--to", "77",
                  "--path")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.split() == ["2398472983", "77", "7", "2398472983", "17", "2398472984", "77"]


@pytest.mark.parametrize(("options", "named"), [
    (("--undirected",), "--undirected"), (("--directed",), "--directed"), (("--unweighted",), "--unweighted"),
    (("--weight", "km"), "--weight"), (("--dtype", "f4"), "--dtype"), (("--append", "3"), "--append"),
    (("--compact",), "--compact"), (("--header",), "--header"), (("--no-header",), "--no-header"),
    (("--absent", "0"), "--absent"), (("--label", "id"), "--label"),
    (("--text-names",), "--text-names"), (("--devices", "2"), "--devices"), (("--packed",), "--packed"),
])
def test_what_a_matrix_read_by_tiles_does_not_heed_is_refused(
    call, tmp_path: Path, options: tuple[str, ...], named: str
) -> None:
    np.save(tmp_path / "a.npy", np.array([[0.0, 1.0], [np.inf, 0.0]]))
    out = tmp_path / "c.npy"
    answer = call("closure", tmp_path / "a.npy", "--algebra", "min-plus", "--memory", "1M", "-o", out, *options)
    assert named in refused(answer).partition("leave out")[2]
    assert not out.exists()
