"""The table of file formats, and the lists, choices and refusals that follow from it."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path

from semiring.errors import GraphError, SemiringError
from semiring.graphs.matrix import Matrix
from semiring.graphs.names import near
from semiring.graphs.texts import quoted, shown

from . import archives, arrays, dimacs, gml, graphml, matrix_market, notes, pajek, parquet, tables, writers
from .format import RESTRICTED, Format, Options
from .streams import OPENERS, suffix

COLUMNS = frozenset(("source", "target", "weights", "names", "absent"))
LINES = COLUMNS | {"header", "decimal"}

FORMATS = {form.name: form for form in (
    Format(
        name="csv", endings=(".csv",), title="CSV", read=tables.read_lines, write=writers.write_table,
        matrix=tables.matrix_of_text, takes=LINES, holds=frozenset(("complex", "records", "objects")),
        content="fields between commas: a labelled table, vertices in the first line and column; or as `.txt`",
    ),
    Format(
        name="tsv", endings=(".tsv",), title="TSV", read=tables.read_lines,
        write=partial(writers.write_table, separator="\t"), matrix=tables.matrix_of_text, takes=LINES,
        holds=frozenset(("complex", "records", "objects")), content="the same between tabs",
    ),
    Format(
        name="txt", endings=(".txt",), title="text", read=tables.read_lines, matrix=tables.matrix_of_text, takes=LINES,
        content="an edge a line, as SNAP and KONECT have it; or rows of plain numbers, as `numpy.savetxt` writes them",
    ),
    Format(
        name="edges", endings=(".edges", ".edgelist", ".el"), title="a list of edges", read=tables.read_lines,
        matrix=tables.matrix_of_text, takes=LINES, listed=True,
        content="an edge a line, even if the lines could be a square of numbers",
    ),
    Format(
        name="mtx", endings=(".mtx",), title="Matrix Market", read=matrix_market.read_mtx,
        write=matrix_market.write_mtx, noted=notes.noted_dtype, takes=frozenset(("absent",)),
        holds=frozenset(("complex",)),
        content="Matrix Market; names and dtype in comments",
    ),
    Format(
        name="gr", endings=(".gr",), title="DIMACS", read=dimacs.read_dimacs, write=dimacs.write_dimacs,
        noted=notes.noted_dtype, named=False,
        content="DIMACS shortest paths; whole numbers, vertices without names",
    ),
    Format(
        name="npy", endings=(".npy",), title=".npy", read=arrays.read_npy, write=arrays.write_npy,
        matrix=arrays.matrix_of_npy, takes=frozenset(("absent",)), holds=frozenset(("complex", "records")),
        content="a NumPy array, and behind it the zero and the names",
    ),
    Format(
        name="npz", endings=(".npz",), title=".npz", read=archives.read_npz, write=archives.write_npz,
        matrix=archives.matrix_of_npz, takes=frozenset(("absent",)), holds=frozenset(("complex", "records")),
        content="the same as an archive; what `scipy.sparse.save_npz` wrote",
    ),
    Format(
        name="graphml", endings=(".graphml",), title="GraphML", read=graphml.read_graphml,
        write=graphml.write_graphml, noted=notes.noted_dtype, takes=frozenset(("weights", "names")),
        content="GraphML",
    ),
    Format(
        name="gml", endings=(".gml",), title="GML", read=gml.read_gml, write=gml.write_gml,
        noted=notes.noted_dtype, takes=frozenset(("weights", "names", "label")), content="GML",
    ),
    Format(
        name="pajek", endings=(".net", ".pajek"), title="Pajek", read=pajek.read_pajek,
        write=pajek.write_pajek, noted=notes.noted_dtype,
        takes=frozenset(("weights", "names", "label", "absent")), content="Pajek; weights are floats",
    ),
    Format(
        name="parquet", endings=(".parquet", ".pq"), title="Parquet", read=parquet.read_parquet,
        write=parquet.write_parquet, matrix=parquet.matrix_of_parquet, noted=parquet.noted_dtype, takes=COLUMNS,
        holds=frozenset(("records",)), needs="PyArrow", content="columns from, to and weight",
    ),
)}

# Formats that other libraries read, by ending: a call that reads the path.
ELSEWHERE = {
    ".gexf": "networkx.read_gexf({})",
    ".dot": "networkx.nx_pydot.read_dot({})", ".gv": "networkx.nx_pydot.read_dot({})",
    ".adjlist": "networkx.read_adjlist({}, create_using=networkx.DiGraph)",
    ".multiadj": "networkx.read_multiline_adjlist({}, create_using=networkx.DiGraph)",
    ".json": "networkx.node_link_graph(json.load(open({})))",
    ".g6": "networkx.read_graph6({})", ".s6": "networkx.read_sparse6({})",
    ".leda": "networkx.read_leda({})", ".p2g": "networkx.read_p2g({})",
    ".pickle": "pickle.load(open({}, 'rb'))", ".pkl": "pickle.load(open({}, 'rb'))",
    ".xlsx": "pandas.read_excel({})", ".xls": "pandas.read_excel({})", ".ods": "pandas.read_excel({})",
    ".feather": "pandas.read_feather({})", ".arrow": "pandas.read_feather({})",
    ".mat": "scipy.io.loadmat({})['NAME']",
}
MORE = {
    ".json": "; if its keys are not nodes and edges, see networkx.node_link_graph",
    ".mat": "; NAME is the name of the matrix in the file",
}
UNPACKED = (".zip", ".tar", ".tgz", ".7z", ".rar", ".zst", ".lz4")  # archives and compressions that are not read
ELEMENTS = {"objects": "Python objects", "records": "records", "complex": "complex numbers"}


def endings(*, written: bool = False, usual: bool = False) -> list[str]:
    """The endings of files that are read, or written; or only the usual one of each format."""
    forms = (form for form in FORMATS.values() if form.write or not written)
    return [ending for form in forms for ending in form.endings[: 1 if usual else None]]


def format_names(*, written: bool = False) -> list[str]:
    """The values of `format=`, for reading or for writing."""
    return [name for name, form in FORMATS.items() if form.write or not written]


def format_of(path: Path, format: str | None, *, written: bool = False) -> Format:
    """The format that the caller names, or that of the path's ending.

    Raises
    ------
    SemiringError
        If the format is unknown or cannot be written; in reading it is a `GraphError`.
    """
    known, error = format_names(written=written), SemiringError if written else GraphError
    if format is not None:
        if format in known:
            return FORMATS[format]
        if not written:
            _refuse_known(path, f".{str(format).lower()}")
        use = "a matrix is written as" if written else "known:"
        raise error(f"no format is called {quoted(format)}{near(format, known)}; {use} {', '.join(known)}")
    found = suffix(path)
    for name in known:
        if found in FORMATS[name].endings:
            return FORMATS[name]
    listed = ", ".join(endings(written=written))
    if written:
        raise error(f"{shown(path)}: a matrix is written as {listed}: pass format= to say which")
    _refuse_known(path, found)
    ending = f"ends in {quoted(found)}" if found else "has no ending"
    raise error(f"{shown(path)} {ending}; graphs are read from {listed}: pass format= to say what it is")


def _refuse_known(path: Path, ending: str) -> None:
    """Name a library that reads a format which is not read here, if there is one.

    Raises
    ------
    GraphError
    """
    if ending in ELSEWHERE:
        call = ELSEWHERE[ending].format(repr(str(path)))
        library = call.partition(".")[0].replace("networkx", "NetworkX")
        raise GraphError(f"{shown(path)}: {ending} is not read here; {library} reads it, for example in "
                         f"sr.closure({call}, S){MORE.get(ending, '')}")
    if ending in UNPACKED:
        raise GraphError(f"{shown(path)} is an archive: unpack it first; only {', '.join(OPENERS)} are decompressed "
                         "here")


def accepted(path: Path, form: Format, options: Options) -> Options:
    """Check options against a format, and return them.

    Raises
    ------
    GraphError
        If the format does not honour one of them.
    """
    for word in options.asked:
        if word not in form.takes:
            others = ", ".join(name for name, other in FORMATS.items() if word in other.takes)
            raise GraphError(f"{shown(path)}: {RESTRICTED[word]} has no meaning in the format {form.name}, only in "
                             f"{others}: leave it out")
    return dataclasses.replace(options, listed=form.listed)


def refuse_elements(path: Path, form: Format, M: Matrix) -> None:
    """Refuse a matrix whose elements or names a format cannot hold.

    Raises
    ------
    SemiringError
    """
    kind = "objects" if M.dtype.hasobject else "records" if M.dtype.names else "complex" if M.dtype.kind == "c" else ""
    if kind and kind not in form.holds:
        able = [other.endings[0] for other in FORMATS.values() if other.write and kind in other.holds]
        raise SemiringError(f"{shown(path)}: elements of {M.semiring.name} are {ELEMENTS[kind]}, which {form.title} "
                            f"cannot hold: write {', '.join(able[:-1])} or {able[-1]}")
    if M.names is not None and not form.named:
        raise SemiringError(f"{shown(path)}: vertices have names, such as {quoted((*M.names, '')[0])}, and "
                            f"{form.title} only numbers them: write .graphml, or Matrix(M.array, M.semiring) without "
                            "names")
