"""Files read once, decompressed and decoded; files written whole or not at all."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
from pathlib import Path

import numpy as np
import pytest
from files.reading import COMPRESS, child, refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.files import streams
from semiring.files.streams import about, created, fail, numbered_lines, open_file, read_bytes, suffix, text_of
from semiring.files.verbs import read_graph
from semiring.machine import memory


def test_text_that_is_not_utf8(tmp_path):
    (tmp_path / "g.csv").write_bytes("Åland,Øst\n".encode("latin-1"))
    with refused("g.csv is not UTF-8 text"):
        read_graph(tmp_path / "g.csv")


FULL = """
import resource, sys, numpy as np, semiring as sr
M = sr.adjacency([(i, i * 7 % 150, i / 7) for i in range(150)], sr.min_plus)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    sr.write_matrix(sys.argv[1], M)
except OSError as e:
    print(e.errno, e.filename)
"""


@pytest.mark.parametrize("name", ["m.npy", "m.npz", "m.csv", "m.tsv", "m.mtx", "m.npy.gz", "m.csv.xz", "m.npz.bz2"])
def test_an_error_while_writing_leaves_the_file_that_was_there(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"what was there")
    done = child(FULL, path, env=os.environ | {"TMPDIR": str(tmp_path)})
    assert done.stdout == f"{errno.EFBIG} {path}\n", done.stderr
    assert path.read_bytes() == b"what was there" and [p.name for p in tmp_path.iterdir()] == [name]


def test_what_is_written_keeps_links_and_permissions(tmp_path):
    M = sr.adjacency([(0, 1, 2.0)], sr.min_plus)
    target = tmp_path / "target.npy"
    target.write_bytes(b"")
    target.chmod(0o640)
    (tmp_path / "link.npy").symlink_to(target)
    sr.write_matrix(tmp_path / "link.npy", M)
    assert (tmp_path / "link.npy").is_symlink() and target.stat().st_mode & 0o777 == 0o640
    assert np.array_equal(np.load(target), M)
    sr.write_matrix(tmp_path / "new.csv", M)
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "new.csv").stat().st_mode & 0o777 == 0o666 & ~mask
    with pytest.raises(OSError) as caught:
        sr.write_matrix(tmp_path / "nowhere" / "m.csv", M)
    assert caught.value.errno == errno.ENOENT and caught.value.filename == str(tmp_path / "nowhere" / "m.csv")
    if os.path.exists("/dev/full"):
        (tmp_path / "full.csv").symlink_to("/dev/full")
        with pytest.raises(OSError) as caught:
            sr.write_matrix(tmp_path / "full.csv", M)
        assert caught.value.errno == errno.ENOSPC


@pytest.mark.parametrize(("path", "ending"), [
    ("g.csv", ".csv"), ("g.CSV.GZ", ".csv"), ("g.tar.gz", ".tar"), ("g", ""), ("g.gz", ""), (".csv", ""),
    ("a.b.mtx.xz", ".mtx"), ("folder.csv/g", ""), ("g.bz2.gz", ".bz2"),
])
def test_the_ending_names_the_format(path: str, ending: str) -> None:
    assert suffix(Path(path)) == ending


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 1000])
def test_bytes_come_whole_whatever_the_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, size: int
) -> None:
    monkeypatch.setattr(streams, "CHUNK", 64)
    data = bytes(k * k % 251 for k in range(size))
    (tmp_path / f"g.bin{ending}").write_bytes(COMPRESS[ending](data))
    assert read_bytes(tmp_path / f"g.bin{ending}") == data


def test_memory_is_asked_for_from_the_second_piece_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "CHUNK", 64)
    monkeypatch.setattr(memory, "available_bytes", lambda: 0)
    (tmp_path / "g.csv").write_bytes(b"x" * 64)
    assert len(read_bytes(tmp_path / "g.csv")) == 64
    (tmp_path / "g.csv").write_bytes(b"x" * 100)
    with refused("g.csv, of which 100 bytes are read, needs 164 bytes of memory and 0 bytes", sr.SemiringError):
        read_bytes(tmp_path / "g.csv")


def test_text_is_utf8_without_its_mark() -> None:
    path = Path("g.csv")
    assert text_of(path, "\ufeffÅ\ufeff".encode()) == "Å\ufeff" and text_of(path, b"") == ""
    assert text_of(path, b"\xff1", errors="replace") == "\ufffd1"
    for data, message in (
        (b"ab\n\xff\xfe", "g.csv is not UTF-8 text (invalid start byte in line 2)"),
        (b"\xfe\xff\0a", "it begins like UTF-16: save it as UTF-8"),
        (b"a\r\nb\n\n\0", "g.csv, line 4: found a NUL character, expected text"),
    ):
        with refused(message):
            text_of(path, data)
    with refused("line 1: found a NUL character"):
        text_of(path, b"\xff\0", errors="replace")


LINES = st.lists(st.text(alphabet="ab \f\x0b\x1c\u2028\x85"), min_size=1)


@settings(max_examples=200)
@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_lines_end_where_editors_end_them(lines: list[str], end: str, ended: bool) -> None:
    """And nowhere else, as at a form feed."""
    text = end.join(lines) + end * ended
    wanted = lines if ended or lines[-1] else lines[:-1]
    found = list(numbered_lines(text))
    assert "".join(line for _, line in found) == text
    assert [(number, line.rstrip("\r\n")) for number, line in found] == list(enumerate(wanted, 1))
    assert list(numbered_lines(text, 3)) == found[2:]


def test_errors_say_which_file_and_line() -> None:
    with refused("a\\x1b.csv, line 7: found 'x', expected a number"):
        fail(Path("a\x1b.csv"), 7, "'x'", "a number")
    with refused("b.csv: no vertex"), about("b.csv"):
        raise sr.GraphError("no vertex")
    with pytest.raises(KeyError, match=r"^'b'$"), about("b.csv"):
        raise KeyError("b")
    with refused("not of a graph", sr.SemiringError) as caught, about("b.csv"):
        raise sr.SemiringError("not of a graph")
    assert "b.csv" not in str(caught.value)


@pytest.mark.parametrize("ending", COMPRESS)
def test_a_writer_may_go_back_also_where_it_is_compressed(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"g.bin{ending}"
    with created(path) as file:
        file.write(b"0123456789")
        file.seek(2)
        file.write(b"xy")
        assert not path.exists()
    assert read_bytes(path) == b"01xy456789" and [p.name for p in tmp_path.iterdir()] == [path.name]
    with open_file(path, path, "rb") as file:
        assert file.read(4) == b"01xy"


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_a_writer_that_fails_leaves_what_was_there(tmp_path: Path, ending: str, error: type[BaseException]) -> None:
    path = tmp_path / f"g.bin{ending}"
    path.write_bytes(b"before")
    with pytest.raises(error) as caught, created(path) as file:
        file.write(b"half")
        raise error("in the middle")
    assert path.read_bytes() == b"before" and [p.name for p in tmp_path.iterdir()] == [path.name]
    if error is OSError:
        assert caught.value.filename == str(path) and caught.value.strerror == "in the middle"


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="pipes have no names here")
def test_a_pipe_that_has_a_number_for_a_name_is_written():
    reader, writer = os.pipe()
    try:
        with created(Path(f"/dev/fd/{writer}")) as file:
            file.write(b"all of it")
        assert os.read(reader, 100) == b"all of it"
    finally:
        os.close(reader)
        os.close(writer)


# File objects


FILES = {"csv": "a,b,1\nb,c,2\n", "edges": "a b 1\nb c 2\n", "gml": 'graph [ directed 1 node [ id 0 label "a" ] '
         'node [ id 1 label "b" ] node [ id 2 label "c" ] '
         'edge [ source 0 target 1 weight 1 ] edge [ source 1 target 2 weight 2 ] ]',
         "pajek": '*Vertices 3\n1 "a"\n2 "b"\n3 "c"\n*Arcs\n1 2 1\n2 3 2\n'}


@pytest.mark.parametrize("format", FILES)
@pytest.mark.parametrize("packed", COMPRESS)
def test_what_is_open_is_read_from_where_it_stands(tmp_path, format, packed):
    data = COMPRESS[packed](FILES[format].encode())
    path = tmp_path / f"no-ending-of-{format}"
    path.write_bytes(b"##" + data)
    with open(path, "rb") as file:
        file.seek(2)
        assert list(sr.read_graph(file, format=format).edges()) == [("a", "b", 1), ("b", "c", 2)]
    path.write_bytes(data)
    for file in (path, io.BytesIO(data), io.BufferedReader(io.BytesIO(data))):  # packed or not, whatever it is called
        assert list(sr.read_graph(file, format=format).edges()) == [("a", "b", 1), ("b", "c", 2)]
        if isinstance(file, io.BytesIO):
            file.seek(0)
            assert sr.read_matrix(file, "min-plus", format=format)["a", "b"] == 1
    if not packed:
        assert len(sr.read_graph(io.StringIO(FILES[format]), format=format)) == 2
    elif format == "csv":
        with COMPRESSED[packed](tmp_path / f"g.csv{packed}", "wb") as file:
            file.write(FILES[format].encode())
        with COMPRESSED[packed](tmp_path / f"g.csv{packed}", "rb") as file:
            assert len(sr.read_graph(file, format="csv")) == 2


COMPRESSED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def test_names_that_begin_as_compressed_files_do_are_names(tmp_path):
    (tmp_path / "g.txt").write_text("BZh1 BZh9\nBZh9 c\n")
    assert sr.read_graph(tmp_path / "g.txt", header=False).names == ["BZh1", "BZh9", "c"]


def test_file_objects_that_cannot_be_read(tmp_path):
    closed = io.BytesIO(b"a,b\n")
    closed.close()
    read = io.BytesIO(b"a,b\n")
    read.read()
    (tmp_path / "m.npy").write_bytes(b"\x93NUMPY\xff")
    with open(tmp_path / "m.npy", encoding="utf-8") as text, open(tmp_path / "new", "wb") as written:
        for file, message in (
            (closed, "<BytesIO> cannot be read: I/O operation on closed file"),
            (read, "<BytesIO> is empty from its position on: call seek(0) to go to its beginning"),
            (io.BytesIO(b""), "<BytesIO> is empty"), (text, "cannot be read: 'utf-8' codec can't decode"),
            (written, "cannot be read: read"), (b"a,b\n", "bytes is not a path: pass io.BytesIO(data)"),
            (io.BytesIO(b"\x1f\x8b\x08 no"), "<BytesIO> cannot be read"),
        ):
            with refused(message):
                sr.read_graph(file, format="csv")
    with refused("<BytesIO> has no ending; graphs are read from .csv"):
        sr.read_graph(io.BytesIO(b"a,b\n"))


@pytest.mark.parametrize("format", ["npy", "npz", "csv", "tsv", "mtx", "graphml", "gml", "pajek"])
def test_a_matrix_is_written_to_what_is_open(tmp_path, format):
    M = sr.adjacency([("a", "b", 2.5), ("b", "c", 0.0)], sr.min_plus)
    file = io.BytesIO(b"##")
    file.seek(2)
    sr.write_matrix(file, M, format=format)
    assert file.getvalue()[:2] == b"##"
    file.seek(2)
    assert (sr.read_matrix(file, sr.min_plus, format=format) == M).all()
    sr.write_matrix(tmp_path / "plain", M, format=format)
    if format != "npz":  # which has the time in it
        assert (tmp_path / "plain").read_bytes() == file.getvalue()[2:]
    if format not in ("npy", "npz"):
        text = io.StringIO()
        sr.write_matrix(text, M, format=format)
        assert text.getvalue().encode() == file.getvalue()[2:]
    with gzip.open(tmp_path / "m.csv.gz", "wb") as packed:
        sr.write_matrix(packed, M)
    with open(tmp_path / "n.csv.gz", "wb") as plain:
        sr.write_matrix(plain, M)
    for name in ("m.csv.gz", "n.csv.gz"):
        assert gzip.decompress((tmp_path / name).read_bytes()).startswith(b",a,b,c")
    with refused("no format is called 'cvs'; did you mean 'csv'", sr.SemiringError):
        sr.write_matrix(file, M, format="cvs")
    with refused("<BytesIO>: a matrix is written as .csv", sr.SemiringError):
        sr.write_matrix(file, M)
