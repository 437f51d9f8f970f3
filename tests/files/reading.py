"""What the tests of files share: writing a file and reading its graph, graphs as lists, what files are made of."""

from __future__ import annotations

import bz2
import gzip
import lzma
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from graphs.listing import listed as listed
from graphs.listing import refused as refused
from hypothesis import strategies as st

import semiring as sr

COMPRESS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
EDGES = [(0, 1, 2.5), (2, 0, 0.0), (1, 2, -1.0)]
MATRIX = sp.coo_array(([2.5, 0.0, -1.0], ([0, 2, 1], [1, 0, 2])), shape=(4, 4))
ONE = {"row": [0], "col": [1]}
COORDINATE = "%%MatrixMarket matrix coordinate {} {}\n"
GRAPHML = (
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="w" for="edge" attr.name="weight" attr.type="int"/>'
    '<key id="d" for="edge" attr.name="km" attr.type="double"><default>1.5</default></key>'
    '<graph edgedefault="directed">{}</graph></graphml>'
)
# What stands in a file of numbers, and characters that are digits to Unicode, to C, or to neither.
FIELD = st.one_of(
    st.integers(-2, 12).map(str),
    st.sampled_from(
        ["07", "+3", "-0", "1.5", "nan", "9" * 20, "1_0", "0x1F", "8.5abc", "1e400", '"3"', "", " 4 ", "7\t"]
    ),
    st.text(alphabet="0123456789.eE+-", min_size=1, max_size=4),
    st.text(alphabet="0١१１³Ⅷ木🎉½é\u00a0\u2028\x1c\x85\ufeff12", min_size=1, max_size=3),
)


def example() -> sr.Matrix:
    """A matrix whose vertices have names, one of them with a comma."""
    return sr.adjacency([("a", "b", 2.5), ("b", "c", 0.0), ("c,d", "a", 1 / 3)], sr.min_plus)


def written(folder: Path, name: str, text: str) -> Path:
    """A file of a text, compressed as its name says."""
    path = folder / name
    path.write_bytes(COMPRESS.get(path.suffix, bytes)(text.encode()))
    return path


def read(folder: Path, name: str, data: str | bytes, **options: Any) -> sr.Graph:
    """The graph of a file that holds just this."""
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return sr.read_graph(path, **options)


def archive(path: Path, **arrays: Any) -> Path:
    """An .npz file of arrays."""
    np.savez(path, **{name: np.asarray(array) for name, array in arrays.items()})
    return path


def raw_npy(header: str, body: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """A .npy file whose header says what it likes."""
    return b"\x93NUMPY" + version + len(header).to_bytes(2, "little") + header.encode("latin-1") + body


def child(code: str, *arguments: object, **options: Any) -> subprocess.CompletedProcess:
    """Code in a process of its own, which may be killed by what it does."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
