"""Mutated files of every format: none may end the process, hang, leak a raw exception, or be misread in silence.

    python tests/fuzz/files.py --count 1000 --seed 7 --formats csv mtx

Batches run in child processes, so that a crash is seen and its file kept. What the library reads is compared with
`file_oracle`, which shares no code with it. Exit status 1 if anything fails.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import file_oracle

BATCH = 1000
BASES = 300  # archives to begin with
PATIENCE = 20.0  # seconds that one file may take
MEMORY = 1 << 30  # bytes that a batch may take beyond what the process has at its start
ENDINGS = {"csv": ".csv", "tsv": ".tsv", "edges": ".txt", "mtx": ".mtx", "gr": ".gr", "npy": ".npy", "npz": ".npz",
           "graphml": ".graphml"}
TEXTS = ("csv", "tsv", "edges", "mtx", "gr", "graphml")
PLANTS = ("misread", "raw", "abort", "hang")
CONTROL = [chr(c) for c in [*range(32), *range(127, 160)]]

# Files to begin with


def numbers(r: random.Random) -> str:
    return r.choice([
        lambda: str(r.randrange(10)), lambda: str(r.randrange(-999, 1000)), lambda: repr(r.uniform(-9, 9)),
        lambda: f"{r.uniform(0, 1e6):.3e}", lambda: str(r.randrange(2**63)), lambda: f"{r.randrange(100)}.",
    ])()


def names(r: random.Random) -> str:
    return r.choice(
        ["Ayr", "Bute", "St Ives", "007", "Øst", "木", "a", "b", "1b", "१", "x,y", 'q"q', "#1", "u", "v", "12"]
    )


def edge_list(r: random.Random, mark: str) -> bytes:
    m = r.choice([1, 2, 3, 8, 60, 400]) if r.random() < 0.5 else r.randrange(1, 6)
    named, width = r.random() < 0.35, r.choice([2, 3, 3, 4])
    span = r.choice([5, 50, 10**4, 10**10])
    whole = r.random() < 0.4
    lines = []
    for _ in range(m):
        row = [names(r) if named and r.random() < 0.9 else str(r.randrange(span)) for _ in range(2)]
        row += [str(r.randrange(99)) if whole else numbers(r) for _ in range(width - 2)]
        if named and mark != " ":
            row = [f'"{f.replace(chr(34), chr(34) * 2)}"' if set(f) & {mark, '"', "#"} else f for f in row]
        lines.append(mark.join(row))
    head = r.choice(["", "", "from{0}to", "Site A{0}Site B", "id{0}weight", "u{0}v", "source{0}target"]).format(mark)
    if head:
        lines.insert(0, mark.join([head, *["weight", "lanes"][: width - 2]]))
    if r.random() < 0.2:
        lines.insert(0, r.choice(["# Undirected graph", "% sym weighted", "% sym", "% bip", "# remark é"]))
    return r.choice(["\n", "\n", "\r\n", "\r"]).join([*lines, ""]).encode()


def labelled(r: random.Random, mark: str) -> bytes:
    """The table of a matrix."""
    kind, n = r.randrange(4), r.randrange(6)
    labels = [[str(i), str(7 * i), f'"{i}"', r.choice(["Ayr", "007", "木", '"x,y"', '"q""q"', '""']) + "b" * i][kind]
              if kind != 3 or i else "a" for i in range(n)]
    rows = [[label, *(r.choice(["", numbers(r), str(r.randrange(9))]) for _ in range(n))] for label in labels]
    if r.random() < 0.2:
        r.shuffle(rows)
    text = [mark.join([r.choice(["", "", '""']), *labels]), *map(mark.join, rows)]
    return r.choice(["\n", "\r\n", "\r"]).join([*text, ""]).encode()


def square(r: random.Random, mark: str) -> bytes:
    """A matrix of plain numbers, as NumPy saves it."""
    n, one = r.randrange(1, 6), r.choice([numbers, lambda r: str(r.randrange(3)), lambda r: f"{r.uniform(-9, 9):.18e}"])
    rows = [mark.join(one(r) for _ in range(n)) for _ in range(n)]
    return "\n".join([*["# remark"] * r.randrange(2), *rows, ""]).encode()


def gr(r: random.Random) -> bytes:
    n, m = r.randrange(1, 30), r.choice([0, 1, 3, 100])
    arcs = [
        f"a {r.randrange(1, n + 1)} {r.randrange(1, n + 1)} {r.choice([str(r.randrange(99)), numbers(r)])}"
        for _ in range(m)
    ]
    return "\n".join([*["c x"] * r.randrange(2), f"p sp {n} {m}", *arcs, ""]).encode()


def mtx(r: random.Random) -> bytes:
    layout = r.choice(["coordinate", "coordinate", "array"])
    field = r.choice(["real", "integer", "pattern", "complex", "double", "unsigned-integer"])
    symmetry = r.choice(["general", "general", "symmetric", "skew-symmetric", "hermitian"])
    n = r.choice([1, 2, 3, 7, 20])
    head = [f"%%MatrixMarket matrix {layout} {field} {symmetry}", *["% " + "x" * 300] * r.randrange(2)]

    def value(i: int, j: int) -> str:
        if field == "pattern":
            return ""
        one = (lambda: str(r.randrange(-9 * ("u" not in field), 99))) if "integer" in field else (lambda: numbers(r))
        parts = [one() for _ in range(1 + (field == "complex"))]
        if symmetry == "hermitian" and i == j and r.random() < 0.95:
            parts[1:] = ["0"] * (field == "complex")
        return " ".join(parts)

    low = {"symmetric": 0, "hermitian": 0, "skew-symmetric": 1}.get(symmetry)
    places = [(i, j) for j in range(n) for i in range(0 if low is None else j + low, n)]
    if layout == "array":
        return "\n".join([*head, f"{n} {n}", *[value(i, j) for i, j in places], ""]).encode()
    kept = [p for p in places if r.random() < 0.5]
    lines = [f"{i + 1} {j + 1} {value(i, j)}".strip() for i, j in kept]
    return "\n".join([*head, f"{n} {n} {len(lines)}", *lines, ""]).encode()


def array(r: random.Random) -> np.ndarray:
    """Edges or a matrix."""
    random_ = np.random.default_rng(r.randrange(2**32))
    kind = r.choice(["f8", ">f4", "i8", "i4", "u1", "b1", "c16", "f2", "U3", "records"])
    m, width = r.randrange(1, 9), r.choice([2, 3])
    if kind == "records":
        found = np.zeros(m, [("a", "i4"), ("b", "u8"), ("w", "f8")][:width])
        for field in found.dtype.names:
            found[field] = random_.integers(0, 5, m)
        return found
    shape = (m, m) if r.random() < 0.5 else (m, width)
    found = random_.integers(0, 4, shape)
    return (
        found.astype(np.str_)
        if kind == "U3"
        else np.asfortranarray(found.astype(kind))
        if m % 2
        else found.astype(kind)
    )


def npy(r: random.Random) -> bytes:
    file = io.BytesIO()
    found = array(r)
    np.save(file, found)
    if r.random() < 0.3:
        np.save(file, np.zeros((), found.dtype))
    return file.getvalue()


def npz(r: random.Random) -> bytes:
    import scipy.sparse as sp

    file = io.BytesIO()
    random_ = np.random.default_rng(r.randrange(2**32))
    n = r.choice([2, 4, 6])
    kind = r.choice(["coo", "csr", "csc", "bsr", "dia", "matrix", "columns", "one"])
    if kind == "matrix":
        arrays = {
            "matrix": random_.integers(0, 3, (n, n)).astype(r.choice(["f8", "i4", "?"])),
            "algebra": np.array("x"),
        }
        arrays["zero"] = np.zeros((), arrays["matrix"].dtype)
        arrays["names"] = r.choice([np.arange(n) + 5, np.array([chr(97 + i) for i in range(n)])])
        np.savez(file, **arrays)
    elif kind == "columns":
        a, b, w = random_.integers(0, n, (3, 5))
        keys = r.choice([("row", "col", "data"), ("sources", "targets", "weights"), ("from", "to", "weight")])
        extra = r.choice([{}, {"n": np.array(n)}, {"shape": np.array([n, n])}, {"names": np.array(list("abcdef")[:n])}])
        np.savez(file, **dict(zip(keys, (a, b, w / 2), strict=True)), **extra)
    elif kind == "one":
        np.savez(file, array(r))
    else:
        dense = random_.integers(0, 3, (n, n)) * r.choice([1.0, 1])
        sp.save_npz(file, sp.coo_array(dense).asformat(kind), compressed=r.random() < 0.5)
    return file.getvalue()


def graphml(r: random.Random) -> bytes:
    nodes = [r.choice([f"n{i}", str(i), str(i + 5), f"é{i}"]) for i in range(r.randrange(1, 6))]
    kind = r.choice(["int", "double", "string", "boolean", "long", "float"])
    value = {"boolean": lambda: "true", "int": lambda: "3", "long": lambda: "-4",
             "double": lambda: r.choice([numbers(r), "0x1.8p+1"])}.get(kind, lambda: numbers(r))
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    default = f"<default>{value()}</default>" if r.random() < 0.3 else ""
    lines.append(
        f'<key id="d0" for="edge" attr.name="{r.choice(["weight", "weight", "km"])}" attr.type="{kind}">{default}</key>'
    )
    lines.append(f'<graph edgedefault="{r.choice(["directed", "undirected"])}">')
    lines += [f'<node id="{v}"/>' for v in nodes]
    if r.random() < 0.2:  # a group
        lines.append('<node id="group"><graph edgedefault="directed"><node id="member"/></graph></node>')
        nodes += ["group", "member"]
    for _ in range(r.randrange(6)):
        data = f'<data key="d0">{value()}</data>' if r.random() < 0.8 else ""
        way = r.choice(["", "", ' directed="true"', ' directed="false"'])
        lines.append(f'<edge source="{r.choice(nodes)}" target="{r.choice(nodes)}"{way}>{data}</edge>')
    return "\n".join([*lines, "</graph>", "</graphml>"]).encode()


SEEDS: dict[str, Callable[[random.Random], bytes]] = {
    "csv": lambda r: r.choice([edge_list, edge_list, labelled, square])(r, r.choice(",,;")),
    "tsv": lambda r: r.choice([edge_list, edge_list, labelled, square])(r, "\t"),
    "edges": lambda r: r.choice([edge_list, edge_list, square])(r, r.choice([" ", " ", "\t", ","])),
    "gr": gr, "mtx": mtx, "npy": npy, "npz": npz, "graphml": graphml,
}

# Mutations

ODD = [
    *[
        "",
        "-1",
        "0",
        "00",
        "007",
        "+3",
        "-0",
        "1e3",
        "1E400",
        "1e-400",
        "nan",
        "inf",
        "-Infinity",
        "0x1F",
        "1_000",
        "3,5",
    ],
    *["1,000.25", "1d3", "8.5abc", "9" * 30, "9" * 5000, str(2**63), str(2**63 - 1), str(2**64), str(-(2**63)), "1e18"],
    *[
        "٣",
        "१२",
        "³",
        "Ⅷ",
        "１",
        "1🎉",
        "木",
        "½",
        "−1",
        "1\u00a0",
        "\u2028",
        "\ufeff1",
        "\x1b[31m",
        "\0",
        '"',
        '""',
        '"a',
    ],
    *["#", "%", ".", "-", "1.", ".5", "1..2", "--1", "1e", "true", "None", "&#7;", "&amp;", "<", "'", "\\", "\t", " "],
]
LINE_ENDS = [b"\n", b"\r\n", b"\r", b"\n\n", b"\n\r", b"\x0b", b"\x0c", b"\x1c", b"\x85", b"\xe2\x80\xa8"]


def spans(data: bytes, wanted: bytes) -> list[tuple[int, int]]:
    """Where runs of bytes of a set lie."""
    found, start = [], None
    for i, byte in enumerate(data[:4000]):
        if byte in wanted:
            start = i if start is None else start
        elif start is not None:
            found.append((start, i))
            start = None
    return found


def mutated(r: random.Random, data: bytes, text: bool) -> bytes:
    at = r.randrange(len(data) + 1)
    end = min(len(data), at + r.choice([1, 1, 2, 5, 30]))
    way = r.randrange(12)
    if way == 0 and at < len(data):
        return data[:at] + bytes([data[at] ^ (1 << r.randrange(8))]) + data[at + 1 :]
    if way == 1:
        return data[:at] + bytes(r.randrange(256) for _ in range(r.choice([1, 1, 2, 4]))) + data[at:]
    if way == 2:
        return data[:at] + data[end:]
    if way == 3:
        return data[:end] + data[at:]
    if way == 4:
        return data[:at]
    if way in (5, 6, 7):  # a number or a word for an odd one
        runs = spans(data, b"0123456789.+-eE" if r.random() < 0.7 else bytes(range(33, 127)))
        if not runs:
            return data + b"1"
        a, b = r.choice(runs)
        odd = r.choice(ODD).encode()
        return data[:a] + (odd[: b - a].ljust(b - a) if not text and r.random() < 0.7 else odd) + data[b:]
    if way == 8:
        ends = [i for i, byte in enumerate(data) if byte == 10] or [0]
        i = r.choice(ends)
        return data[:i] + r.choice(LINE_ENDS) + data[i + 1 :]
    if way == 9:
        return r.choice([b"\xef\xbb\xbf" + data, b"\xff\xfe" + data, b"\0" + data, data + b"\0" * 9, data * 2])
    if way == 10:  # two numbers swapped
        runs = spans(data, b"0123456789.")
        if len(runs) < 2:
            return data
        (a, b), (c, d) = sorted(r.sample(runs, 2))
        return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]
    byte = bytes([r.choice(b'0123456789,;\t \n\r"#%.-+eE<>/=\x00\xff\x80')])
    return data[:at] + byte + data[at + 1 :]


def npz_mutated(r: random.Random, data: bytes) -> bytes:
    """Mutations within the members of an archive, which a checksum would hide otherwise."""
    file = io.BytesIO()
    try:
        zipfile.ZipFile(io.BytesIO(data)).namelist()
    except Exception:  # damaged by an earlier mutation
        return mutated(r, data, False)
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            try:
                member = old.read(name)
            except Exception:
                return mutated(r, data, False)  # as it is damaged already
            if r.random() < 0.4:
                member = mutated(r, member, False) if r.random() < 0.5 else values_mutated(r, member)
            if r.random() < 0.03:
                continue
            if r.random() < 0.03:
                name = r.choice(["n", "names", "shape", "data", "zero"]) + ".npy"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # two members of one name are wanted here
                new.writestr(zipfile.ZipInfo(name), member)  # of no date, so that a seed gives the same bytes again
    return file.getvalue()


def values_mutated(r: random.Random, member: bytes) -> bytes:
    """An array with an odd number, or of another dtype or shape."""
    try:
        found = np.lib.format.read_array(io.BytesIO(member), allow_pickle=False)
    except Exception:  # damaged by an earlier mutation
        return member
    found = found.copy()
    way = r.randrange(5)
    if way < 2 and found.size and found.dtype.kind in "iuf":
        odd = r.choice([-1, 0, 1, 9, 2**31, 2**62, -(2**63), 999_999_999])
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.reshape(-1)[r.randrange(found.size)] = np.array(odd, np.int64).astype(found.dtype)
    elif way == 2 and found.dtype.kind in "iufb":
        found = found.astype(r.choice(["f8", "i4", "u8", "?", "c8", "i1", ">i8", "M8[s]", "U5"]))
    elif way == 3 and found.ndim:
        flat = found.reshape(-1)
        found = r.choice([found[None], flat, found[:0], flat[:1].reshape(())] if found.size else [found[None]])
    elif found.ndim:
        found = np.concatenate([found, found[:1]])
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asarray(found), allow_pickle=False)
    return file.getvalue()


@cache
def base(seed: int, format: str, index: int) -> bytes:
    """A file to begin with that is slow to make, kept for the next mutation."""
    return SEEDS[format](random.Random(f"{seed}/{format}/base {index}"))


def case(seed: int, format: str, index: int) -> tuple[str, bytes, dict[str, Any]]:
    """The name, the bytes and the options of one file."""
    r = random.Random(f"{seed}/{format}/{index}")
    data = base(seed, format, r.randrange(BASES)) if format == "npz" else SEEDS[format](r)
    for _ in range(r.choice([0, 1, 1, 1, 2, 4])):
        inside = format == "npz" and r.random() < 0.7
        data = npz_mutated(r, data) if inside else mutated(r, data, format in TEXTS)
    options: dict[str, Any] = {}
    if r.random() < 0.2:
        options["directed"] = r.random() < 0.5
    if r.random() < 0.2:
        options["weight"] = None
    if format in ("csv", "tsv", "edges") and r.random() < 0.2:
        options["header"] = r.random() < 0.5
    if format in ("csv", "tsv", "edges", "graphml") and r.random() < 0.1:
        options["names"] = str
    name = f"g{ENDINGS[format]}"
    if r.random() < 0.05:
        name, data = name + ".gz", gzip.compress(data, 1)
        if r.random() < 0.5:
            data = mutated(r, data, False)
    return name, data, options


# Judging


def said(graph: Any) -> tuple:
    """What the library read, in plain Python."""
    label = (lambda v: v) if graph.names is None else (lambda v: graph.names[v])
    weights = [None] * len(graph) if graph.weights is None else graph.weights.tolist()
    edges = [
        (label(a), label(b), w) for a, b, w in zip(graph.sources.tolist(), graph.targets.tolist(), weights, strict=True)
    ]
    return graph.n, graph.names, graph.directed, edges


def same(ours: tuple, other: file_oracle.Read) -> bool:
    plain = lambda edges: sorted(repr((a, b, w)) for a, b, w in edges)  # noqa: E731
    return (ours[0], ours[1], ours[2]) == (other.n, other.names, other.directed) and plain(ours[3]) == plain(
        other.edges
    )


def fault_of(format: str, path: Path, data: bytes, options: dict[str, Any], read: Callable) -> str | None:
    """What is wrong with how the library takes a file; None if nothing is."""
    import semiring as sr

    ours = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", sr.SemiringWarning)
            graph = read(path, **options)
        ours, message = said(graph), repr(graph)
    except (sr.SemiringError, OSError) as e:
        message = str(e)
    except Exception as e:
        return f"raw {type(e).__name__}: {e}"
    if any(c in message for c in CONTROL):
        return f"a control character in {message!r}"
    try:
        plain = gzip.decompress(data) if path.suffix == ".gz" else data
        other = file_oracle.READERS[format](plain, **options) if plain else None
    except (file_oracle.Bad, OSError, EOFError):
        other = None
    except file_oracle.Unread:
        return None
    except Exception as e:
        # a damaged stream of gzip, or an array that the slow reader cannot take apart
        if ours is None or path.suffix == ".gz":
            return None
        return f"read as {ours}, and the oracle failed: {type(e).__name__}: {e}"
    if ours is not None and other is None:
        return f"read as {str(ours)[:300]}, which the oracle refuses"
    if ours is None and other is not None and format not in ("npy", "npz"):
        return f"refused ({message[:200]}), which the oracle reads as {str(other)[:200]}"
    if ours is not None and not same(ours, other):
        return f"read as {str(ours)[:300]}, by the oracle as {str(other)[:300]}"
    return None


def planted(plant: str | None, read: Callable) -> Callable:
    """A reader with a fault, to see that it is found."""

    def wrong(path: Path, **options: Any) -> Any:
        if plant == "hang":
            time.sleep(3600)
        graph = read(path, **options)
        if plant == "raw":
            raise KeyError("planted")
        if plant == "abort":
            os.abort()
        graph.sources[:1] = 0
        return graph

    return wrong if plant else read


def batch(seed: int, format: str, start: int, count: int, folder: Path, plant: str | None) -> None:
    """Run some files in this process: a line for each that begins, and one for each fault."""
    import semiring as sr
    from semiring.files import numerals

    if start // BATCH % 2:  # the ways of large tables, and the seams between their blocks
        numerals.FILE_CHARACTERS, numerals.BLOCK = 0, 7
    read = planted(plant, sr.read_graph)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    for index in range(start, start + count):
        print(f"at {index}", flush=True)
        name, data, options = case(seed, format, index)
        path = folder / name
        path.write_bytes(data)
        fault = fault_of(format, path, data, options, read)
        if fault:
            print("fault " + json.dumps([index, fault]), flush=True)
        path.unlink()


# In the parent


def run(
    seed: int, format: str, count: int, folder: Path, plant: str | None, patience: float
) -> Iterator[tuple[int, str]]:
    """The faults of a format, each with the index of its file."""
    start = 0
    while start < count:
        size = min(BATCH, count - start)
        command = [sys.executable, __file__, "--batch", json.dumps([seed, format, start, size, str(folder), plant])]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        try:
            out, err = process.communicate(timeout=patience + size * 0.5 if plant != "hang" else patience)
            ended = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            ended = None
        lines = out.splitlines()
        for line in lines:
            if line.startswith("fault "):
                yield tuple(json.loads(line.removeprefix("fault ")))
        if ended == 0:
            start += size
            continue
        last = max((int(line[3:]) for line in lines if line.startswith("at ")), default=start)
        yield last, "hangs" if ended is None else f"ends the process ({ended}): {err[-300:]}"
        start = last + 1


def kept(seed: int, format: str, index: int) -> str:
    """The folder of a failing file, which is written there."""
    folder = Path(tempfile.gettempdir()) / "semiring-fuzz"
    folder.mkdir(exist_ok=True)
    name, data, _ = case(seed, format, index)
    file = folder / f"{format}-{seed}-{index}-{name}"
    file.write_bytes(data)
    return str(file)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=2000, help="files of each format")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--formats", nargs="+", choices=[*ENDINGS], default=[*ENDINGS])
    parser.add_argument("--plant", choices=PLANTS, help="a fault in the reader, which must be found")
    parser.add_argument("--self-check", action="store_true", help="find each planted fault, then end")
    parser.add_argument(
        "--patience", type=float, default=PATIENCE, help="seconds that a batch may take beyond the usual"
    )
    parser.add_argument("--batch", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.batch:
        seed, format, start, count, folder, plant = json.loads(arguments.batch)
        batch(seed, format, start, count, Path(folder), plant)
        return 0
    if arguments.self_check:
        return self_check()
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    failures = 0
    try:
        for format in arguments.formats:
            began, faults = time.monotonic(), 0
            for index, fault in run(
                arguments.seed, format, arguments.count, folder, arguments.plant, arguments.patience
            ):
                faults += 1
                if faults <= 20:
                    print(f"{format} {index}: {fault}\n    {kept(arguments.seed, format, index)}", flush=True)
            seconds = time.monotonic() - began
            print(
                f"{format}: {arguments.count} files, {faults} faults, seed {arguments.seed}, {seconds:.0f} s",
                flush=True,
            )
            failures += faults
    finally:
        shutil.rmtree(folder)
    print(f"{arguments.count * len(arguments.formats)} files, {failures} faults, seed {arguments.seed}")
    return 1 if failures else 0


def self_check() -> int:
    """Whether each planted fault is found; 1 if one is not."""
    missed = 0
    for plant in PLANTS:
        command = [sys.executable, __file__, "--formats", "csv", "--count", "1" if plant == "hang" else "60"]
        done = subprocess.run([*command, "--plant", plant, "--patience", "5"], capture_output=True, text=True)
        found = done.returncode == 1 and " 0 faults" not in done.stdout
        missed += not found
        print(f"{plant}: {'found' if found else 'missed'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
