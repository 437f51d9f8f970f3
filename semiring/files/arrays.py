"""Graphs from NumPy's .npy files and matrices to them; how every array in a file is checked before it is used."""

from __future__ import annotations

import ast
import dataclasses
import math
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np

from semiring.algebra.constants import outside
from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import dtype_text
from semiring.errors import GraphError, SemiringError
from semiring.graphs.adjacency import adjacency
from semiring.graphs.exports import by_components
from semiring.graphs.graph import Graph, as_graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.names import integers_of
from semiring.graphs.texts import is_same, quoted, shown, with_infinities
from semiring.graphs.weights import elements, refuse_nan

from .format import Options
from .streams import about, created, suffix, warn

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 1 << 16  # characters; enough for records with thousands of fields
HEADER_KEYS = {"descr", "fortran_order", "shape"}
STRAIGHT = "biufcUS"  # kinds of dtype for which every bit pattern is safe to read
LAST_LETTER = 0x10FFFF


def read_npy(path: Path, data: bytes, options: Options) -> Graph:
    array, end = parse_npy(path, data)
    zero, names = _behind(path, data, array, end)
    return from_array(path, array, options, zero, names)


def _behind(path: Path, data: bytes, array: np.ndarray, end: int) -> tuple[np.ndarray | None, list[Any] | None]:
    """What `write_matrix` writes after an array: the zero, and the names if there are any."""
    if end == len(data):
        return None, None
    zero, end = parse_npy(path, data, end)
    if array.dtype == np.uint64 and array.ndim == 2 and zero.dtype == np.int64 and zero.shape == (2,):
        raise GraphError(f"{shown(path)} holds a packed matrix: use PackedMatrix.load")
    if end == len(data):
        return zero, None
    if data[end : end + len(MAGIC)] != MAGIC:
        raise GraphError(f"{shown(path)}: {len(data) - end} extra bytes after the second array")
    names, end = parse_npy(path, data, end)
    if names.ndim != 1 or names.dtype.kind not in "iuU":
        raise GraphError(f"{shown(path)}: the third array has shape {names.shape} and dtype {dtype_text(names.dtype)}; "
                         "expected a list of names, integers or texts")
    if end < len(data):
        raise GraphError(f"{shown(path)}: {len(data) - end} extra bytes after the third array")
    listed: list[Any] = names.tolist()
    return zero, listed


def matrix_of_npy(path: Path, data: bytes, S: Semiring, dtype: np.dtype | None, options: Options) -> Matrix | None:
    """The matrix of a file over an algebra; None for an array of edges."""
    array, end = parse_npy(path, data)
    zero, names = _behind(path, data, array, end)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        return None
    return literal(path, array, zero, names, S, dtype, options)


def literal(
    path: Path, array: np.ndarray, zero: np.ndarray | None, names: list[Any] | None, S: Semiring,
    dtype: np.dtype | None, options: Options,
) -> Matrix | None:
    """A square array as a matrix over an algebra; None if its element for no edge is not this algebra's zero.

    Over truth values, and if the caller passes `absent`, it is the matrix of the array's graph.
    """
    if zero is not None and options.absent is not None:
        return None
    if array.dtype.kind in "US":
        raise GraphError(f"{shown(path)} holds a matrix of {dtype_text(array.dtype)}, not of elements of {S.name}")
    if zero is None and array.dtype.kind in "biufc":
        if options.absent is not None or S.default_dtype.kind == "b":
            return adjacency(from_matrix(path, array, options, names=names), S, dtype=dtype)
        doubt_zeros(path, S, len(_zeros(array)))

    def entry(i: int) -> str:
        return f"{shown(path)}: entry {divmod(i, array.shape[1])}"

    if zero is not None:
        array = whole_again(array, zero)
        same = zero.dtype == array.dtype and zero.shape == () and array.dtype in (*S.dtypes, S.element_dtype)
        if not same or not is_same(zero, np.array(S.zero_in(array.dtype), array.dtype)):
            return None
    flat = array.reshape(-1)
    refuse_nan(flat, entry, "element")
    values = elements(S, flat, array.dtype if zero is not None and dtype is None else dtype, entry)
    if S.is_record and values.dtype == S.default_dtype:  # restore vectors
        values = values.view(S.element_dtype)
    return Matrix(values.reshape(array.shape), S, names)


def whole_again(array: np.ndarray, zero: np.ndarray) -> np.ndarray:
    """Restore integers that were written as floats because of ∞; the zero has their dtype. Other arrays are returned.

    Examples
    --------
    >>> whole_again(np.array([[3.0, np.inf]]), np.array(127, "i1"))
    array([[  3, 127]], dtype=int8)
    """
    dtype = zero.dtype
    if zero.shape != () or dtype.kind not in "iu" or array.dtype != np.float64:
        return array
    limits, endless = np.iinfo(dtype), np.isinf(array)
    finite = np.where(endless, 0, array)
    if (np.floor(finite) != finite).any() or outside(finite, int(limits.min), int(limits.max)).any():
        return array
    found = finite.astype(dtype)
    found[array == np.inf], found[array == -np.inf] = limits.max, limits.min
    return found


def from_array(
    path: Path, array: np.ndarray, options: Options, zero: np.ndarray | None = None, names: list[Any] | None = None
) -> Graph:
    """The graph of an array of edges, or of a square matrix."""
    if array.ndim == 2 and array.shape[0] == array.shape[1]:
        return from_matrix(path, array, options, zero=zero, names=names)
    if zero is not None:
        raise GraphError(f"{shown(path)}: a second array follows the first one, whose shape {array.shape} is not that "
                         "of a matrix")
    if options.absent is not None:
        refuse_absent(path, "an array of edges")
    with about(str(path)):
        graph = as_graph(array, directed=options.one_way)
    return graph if options.weight is not None else dataclasses.replace(graph, weights=None)


def from_matrix(
    path: Path, matrix: np.ndarray, options: Options, *, zero: np.ndarray | None = None, names: list[Any] | None = None
) -> Graph:
    """The graph of a matrix in which `zero` means no edge; by default 0, NaN and ±∞ do."""
    as_written = matrix
    if zero is not None:
        matrix = whole_again(matrix, zero)
        if zero.shape != () or zero.dtype != matrix.dtype:
            raise GraphError(
                f"{shown(path)}: the element that means no edge has shape {zero.shape} and dtype "
                f"{dtype_text(zero.dtype)}; "
                f"expected one element of {dtype_text(matrix.dtype)}"
            )
        if options.absent is not None and matrix.dtype.kind not in "biufc":
            refuse_absent(path, f"elements of {dtype_text(matrix.dtype)}")
        present = matrix != zero
        if options.absent is not None:
            present &= differs(matrix, options.absent)
    elif matrix.dtype.kind in "biufc":
        present = edges_in(path, matrix, options)
    else:
        raise GraphError(
            f"{shown(path)} holds a matrix of {dtype_text(matrix.dtype)}, and it is not known which "
            "element means no edge: write the file with write_matrix, which stores that element"
        )
    sources, targets = np.nonzero(present)
    if matrix is not as_written and not np.isfinite(as_written[present]).all():
        matrix = as_written
    weights = None if options.weight is None or matrix.dtype.kind == "b" else matrix[present]
    with about(str(path)):
        return Graph(sources, targets, len(matrix), weights, names, options.one_way)


def edges_in(path: Path, matrix: np.ndarray, options: Options) -> np.ndarray:
    """Which entries of a matrix are edges: all but `absent`, or by default all but 0, ±∞ and NaN."""
    if options.absent is not None:
        return differs(matrix, options.absent)
    _doubt(path, matrix)
    present: np.ndarray = (matrix != 0) & np.isfinite(matrix)
    return present


def refuse_absent(path: Path, what: str) -> NoReturn:
    """Refuse `absent` for a file that does not write every entry of a matrix."""
    raise GraphError(f"{shown(path)} holds {what}, and absent= is for matrices that write every entry: leave it out")


def differs(matrix: np.ndarray, absent: float) -> np.ndarray:
    """Test which entries differ from a value, which may be NaN."""
    different: np.ndarray = matrix == matrix if absent != absent else matrix != absent
    return different


def _zeros(matrix: np.ndarray) -> np.ndarray:
    """The places of zeros off the diagonal."""
    zeros = matrix == 0
    np.fill_diagonal(zeros, False)
    found: np.ndarray = np.argwhere(zeros)
    return found


def _doubt(path: Path, matrix: np.ndarray) -> None:
    """Warn if a weight may be lost: 0 and ∞ both mean no edge, but a matrix rarely uses both."""
    if matrix.dtype.kind not in "fc" or np.isfinite(matrix).all():
        return
    zeros = _zeros(matrix)
    if len(zeros):
        warn(f"{shown(path)} holds 0, as at {tuple(zeros[0].tolist())}, and ±∞ or NaN, and all of these were read as "
             "no edge: pass absent=numpy.inf or absent=numpy.nan if 0 is a weight, absent=0 if only 0 means no edge")


def doubt_zeros(path: Path, S: Semiring, zeros: int) -> None:
    """Warn if zeros off the diagonal are read as elements, but may mean no edge."""
    if zeros and not S.is_record and not S.is_object and S.zero_in(S.default_dtype) != 0:
        warn(f"{shown(path)} holds 0 off its diagonal, {zeros} times, which was read as a weight, since in {S.name} "
             f"{S.zero_in(S.default_dtype)} means no edge: pass absent=0 if 0 means no edge, absent=numpy.nan if it is "
             "a weight")


def parse_npy(path: Path, data: bytes, start: int = 0, member: str = "") -> tuple[np.ndarray, int]:
    """The array at a position in the bytes of a .npy file, and the position of its end; see `numpy.lib.format`.

    The header's sizes allocate nothing: the array is a view of the bytes, which must be long enough. Objects are
    refused, so nothing is unpickled.
    """
    within = f"array {quoted(member)}: " if member else ""

    def refuse(why: str) -> GraphError:
        return GraphError(f"{shown(path)} is not a file of NumPy arrays of numbers or texts: {within}{why}")

    if data[start : start + 6] != MAGIC or len(data) < start + 10:
        raise refuse("it does not begin as a .npy file does")
    version = data[start + 6]
    if version not in (1, 2, 3) or data[start + 7]:
        raise refuse(f"it has the unknown version {version}.{data[start + 7]}")
    width = 2 if version == 1 else 4
    begin = start + 8 + width
    length = int.from_bytes(data[start + 8 : begin], "little")
    if length > LONGEST_HEADER or begin + length > len(data):
        raise refuse(f"its header would have {length} bytes")
    try:
        dtype, shape, order = _header(data[begin : begin + length].decode("latin-1" if version < 3 else "utf-8"))
    except Exception as e:  # the parsers of Python and NumPy raise many types of errors
        raise refuse(f"its header is {quoted(data[begin : begin + length])} ({shown(e)})") from None
    begin += length
    count = math.prod(shape)
    if not dtype.itemsize or count * dtype.itemsize > len(data) - begin:
        raise refuse(f"{count} elements of {dtype_text(dtype)} need more than the {len(data) - begin} bytes that it "
                     "holds")
    if not count and max(shape) > len(data):  # an empty array may have any sides, and readers allocate by sides
        raise refuse(f"its shape is {quoted(shape)}")
    flat = np.frombuffer(data, dtype, count, begin) if count else np.empty(0, dtype)
    array = _checked(f"{shown(path)}: {within}it", flat).reshape(shape, order=order)
    return array, begin + count * dtype.itemsize


def _header(text: str) -> tuple[np.dtype, tuple[int, ...], Any]:
    """The dtype, the shape and the order of an array."""
    depth = deepest = 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        deepest = max(deepest, depth)
    if deepest > 8:
        raise ValueError("it is nested too deeply")
    found = ast.literal_eval(text.strip(" \n"))
    if not isinstance(found, dict) or set(found) != HEADER_KEYS:
        raise ValueError(f"expected {', '.join(sorted(HEADER_KEYS))}")
    shape = found["shape"]
    sides = shape if isinstance(shape, tuple) and len(shape) <= 8 else (None,)
    if not all(type(side) is int and 0 <= side < 2**63 for side in sides):
        raise ValueError("its shape is not valid")
    if type(found["fortran_order"]) is not bool:
        raise ValueError("its order is not valid")
    dtype = np.lib.format.descr_to_dtype(found["descr"])
    if dtype.subdtype is not None:  # NumPy writes such an axis as part of the shape
        raise ValueError(f"elements of dtype {dtype} are arrays themselves")
    for part in _parts(dtype):
        if part.kind not in STRAIGHT:
            raise ValueError(f"elements of {part} are neither numbers nor texts")
    return dtype, shape, "F" if found["fortran_order"] else "C"


def _parts(dtype: np.dtype) -> list[np.dtype]:
    """The dtypes of all fields, also nested ones."""
    if dtype.subdtype is not None:
        return _parts(dtype.subdtype[0])
    if dtype.names is not None:
        return [part for name in dtype.names for part in _parts(dtype[name])]
    return [dtype]


def _checked(what: str, flat: np.ndarray) -> np.ndarray:
    """Elements in this machine's byte order; refuses bytes that are not elements."""
    if flat.dtype.names is not None:
        dtype = np.dtype([(name, _native(flat.dtype[name])) for name in flat.dtype.names])
        result = np.empty(len(flat), dtype)
        for name in flat.dtype.names:
            result[name] = _checked(f"{what}, field {quoted(name)},", flat[name])
        return result
    if flat.dtype.kind == "b" and (flat.view(np.uint8) > 1).any():
        raise GraphError(f"{what} holds a truth value that is neither 0 nor 1")
    native = flat.astype(_native(flat.dtype), copy=False)
    if flat.dtype.kind == "U" and native.size:
        letters = np.ascontiguousarray(native).view(np.uint32)
        if ((letters > LAST_LETTER) | ((letters >= 0xD800) & (letters <= 0xDFFF))).any():
            raise GraphError(f"{what} holds a text with a character that Unicode does not have")
    return native


def _native(dtype: np.dtype) -> np.dtype:
    return dtype.newbyteorder("=")


class _Sink:
    """Hides from NumPy that this is a file: NumPy then writes through Python, and errors keep their reason."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write = file.write


def save_array(path: Path, *arrays: np.ndarray) -> None:
    """Write a .npy file of an array, with further arrays after it."""
    with created(path) as file:
        for array in arrays:
            np.lib.format.write_array(_Sink(file), np.asanyarray(array), allow_pickle=False)


def write_npy(path: Path, M: Matrix) -> None:
    save_array(path, shown_elements(M), zero_of(M), *([] if M.names is None else [names_array(path, M.names)]))


def shown_elements(M: Matrix) -> np.ndarray:
    """The elements; integers beside ∞ as floats if that is exact (the dtype of the zero says what they were)."""
    stored = by_components(M.array)
    found = stored if stored.dtype.names else with_infinities(stored, M.semiring)
    return found if found.dtype.kind == "f" else stored


def zero_of(M: Matrix) -> np.ndarray:
    """The element that means no edge, as an array."""
    dtype = by_components(M.array).dtype
    return np.array(M.semiring.zero_in(dtype), dtype)


def names_array(path: Path, names: list[Any]) -> np.ndarray:
    """Names as an array of 64-bit integers or of texts."""
    if (whole := integers_of(names)) is not None:
        return whole
    texts = list(map(str, names))
    array = np.array(texts, dtype=np.str_)
    form = suffix(path)
    changed = next((i for i, text in enumerate(array.tolist()) if text != texts[i]), None)
    if changed is not None:
        raise SemiringError(f"{shown(path)}: {form} cannot hold the name {quoted(texts[changed])}, which ends in NUL: "
                            "rename the vertex")
    if len(set(texts)) < len(texts):
        raise SemiringError(f"{shown(path)}: {form} stores names as texts, and two names have the same text: rename "
                            "one")
    others = [name for name in names if not isinstance(name, str)]
    if others:
        warn(f"{shown(path)}: {form} stores names as texts: {quoted(others[0])} becomes {quoted(str(others[0]))}")
    return array
