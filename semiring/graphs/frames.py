"""Data frames as edges or as matrices over vertices, and matrices as data frames: pandas, Polars, Arrow.

Columns are read by each library itself, so no library needs another one. Any other object with Arrow's PyCapsule
interface (``__arrow_c_stream__``: DuckDB, cuDF, Ibis, …) is read through PyArrow.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.errors import GraphError

from .dataarrays import is_dataarray, labels_of
from .exports import as_declared, entries_of
from .names import alignment, integers_of
from .texts import quoted, with_infinities

if TYPE_CHECKING:
    from .tables import Elements

LIBRARIES = ("pandas", "polars", "pyarrow")  # libraries of data frames, in the order of preference
CORNER = "from"  # the column of the vertices in a square table without an index
ACROSS = "the columns of the data frame"


def is_frame(data: Any) -> bool:
    """Whether this is a data frame or a table of some library.

    Raises
    ------
    GraphError
        For a query that has not run, as in Polars, and for a stream that can be read only once.
    """
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):
        raise GraphError(f"a {type(data).__name__} is a query that has not run: pass its .collect()")
    if hasattr(data, "__arrow_c_stream__") and hasattr(data, "read_all"):
        raise GraphError(f"a {type(data).__name__} can only be read once: pass its .read_all()")
    if hasattr(data, "columns") and hasattr(data, "to_numpy"):
        return True
    return _is_arrow(data) or (hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__array__"))


def _is_arrow(data: Any) -> bool:
    return hasattr(data, "column_names") and hasattr(data, "column") and hasattr(data, "schema")


def library_of(frame: Any) -> str | None:
    """The library that makes such data frames; None if it cannot make answers.

    >>> library_of([("a", "b")]) is None
    True
    """
    name = type(frame).__module__.partition(".")[0]
    return name if name in LIBRARIES else None


def columns_in(frame: Any) -> tuple[list[Any], Callable[[int], np.ndarray]]:
    """The names of a data frame's columns, and a function that reads the column at a position.

    Raises
    ------
    GraphError
        If two columns have the same name, or PyArrow is needed and not installed.
    """
    if hasattr(frame, "columns") and hasattr(frame, "to_numpy"):
        header = list(frame.columns)
        if hasattr(frame, "iloc"):
            found: Callable[[int], np.ndarray] = lambda k: frame.iloc[:, k].to_numpy()  # noqa: E731
        elif hasattr(frame, "to_series"):
            found = lambda k: frame.to_series(k).to_numpy()  # noqa: E731
        else:
            found = lambda k: np.asarray(frame[header[k]].to_numpy())  # noqa: E731
    else:
        table = frame if _is_arrow(frame) else _arrow(frame)
        header, found = list(table.column_names), lambda k: _arrow_column(table.column(k))
    twice = next((k for k, name in enumerate(header) if name in header[:k]), None)
    if twice is not None:
        raise GraphError(f"two columns of the data frame are called {quoted(header[twice])}, numbers "
                         f"{header.index(header[twice])} and {twice}: rename one, or leave it out")
    return header, found


def edge_columns(frame: Any) -> tuple[list[Any], Callable[[int], np.ndarray], Callable[[int], Any], int]:
    """The columns of a data frame of edges: their names, functions that read a column and its first element, and the
    number of first columns that are levels of an index with names or several levels.

    Raises
    ------
    GraphError
        As `columns_in`.
    """
    header, column = columns_in(frame)
    index = getattr(frame, "index", None) if hasattr(frame, "iloc") else None
    names = list(getattr(index, "names", ()))
    levels = [(f"level_{k}" if name is None else name, k) for k, name in enumerate(names) if name not in header]
    if names == [None]:
        levels = []
    first = frame.slice(0, 1) if _is_arrow(frame) else frame.head(1) if hasattr(frame, "head") else frame

    def found(k: int) -> np.ndarray:
        if k >= len(levels):
            return column(k - len(levels))
        made: np.ndarray = frame.index.get_level_values(levels[k][1]).to_numpy()
        return made

    def sample(k: int) -> Any:
        if k < len(levels):
            return None
        values = columns_in(first)[1](k - len(levels))
        return values[0] if len(values) else None

    return [name for name, _ in levels] + header, found, sample, len(levels)


def _arrow(frame: Any) -> Any:
    try:
        return import_module("pyarrow").table(frame)
    except ImportError:
        raise GraphError(f"{type(frame).__name__} is read through PyArrow: pip install pyarrow, or convert it to "
                         "columns of NumPy") from None


def _arrow_column(column: Any) -> np.ndarray:
    """A column of Arrow: numbers with NaN for missing ones, everything else as objects."""
    types = import_module("pyarrow").types
    kind = column.type
    if types.is_floating(kind) or ((types.is_integer(kind) or types.is_boolean(kind)) and not column.null_count):
        made: np.ndarray = column.to_numpy() if hasattr(column, "chunks") else column.to_numpy(zero_copy_only=False)
        return made
    values = column.to_pylist()
    return np.fromiter(values, dtype=object, count=len(values))


def has_labels(data: Any) -> bool:
    """Whether a data frame says which vertices its rows are: by an index, or in the column called "from".

    So does a DataArray of xarray with two axes.

    Without an index, the other columns must be the same vertices, and hold no texts, as columns of ends do.
    """
    if is_pandas(data):
        return True
    if is_dataarray(data):
        return data.ndim == 2
    return not isinstance(data, np.ndarray) and is_frame(data) and _has_corner(data)


def has_index_of(data: Any, names: Sequence[Any] | None) -> bool:
    """Whether this is a data frame of pandas with these names as its index, in any order."""
    return names is not None and is_pandas(data) and {*data.index.tolist()} == {*names}


def has_columns_of(data: Any, names: Sequence[Any] | None) -> bool:
    """Whether this is a data frame of pandas with these names as its columns, in any order."""
    return names is not None and is_pandas(data) and {*data.columns.tolist()} == {*names}


def has_named_rows(data: Any) -> bool:
    """Whether this is a data frame of pandas with only numbers, and an index of strings without a name of its own."""
    if not is_pandas(data) or data.index.nlevels > 1 or data.index.name is not None or not len(data):
        return False
    return all(isinstance(x, str) for x in data.index) and all(kind.kind in "iufb" for kind in data.dtypes)


def is_pandas(data: Any) -> bool:
    """Whether this is a data frame of pandas, or one like it.

    >>> is_pandas([[1.0]])
    False
    """
    return hasattr(data, "columns") and hasattr(data, "index") and hasattr(data, "to_numpy")


def has_index(data: Any) -> bool:
    """Whether this is a series of pandas, a vector with a label for each entry.

    >>> has_index(np.zeros(2)), has_index([1.0])
    (False, False)
    """
    return hasattr(data, "index") and hasattr(data, "iloc") and not hasattr(data, "columns")


def _has_corner(frame: Any) -> bool:
    """Whether a frame without an index is a table of a matrix, as `frame_of` makes it."""
    if not hasattr(frame, "columns") and not _is_arrow(frame):
        frame = _arrow(frame)
    names = list(frame.column_names if hasattr(frame, "column_names") else frame.columns)
    if not names or names[0] != CORNER or len(set(names)) < len(names) or len(names) - 1 != _height(frame):
        return False
    header, column = columns_in(frame)
    same = {str(name) for name in column(0).tolist()} == set(header[1:])
    return same and not any(isinstance(x, str) for x in (column(1).tolist() if header[1:] else ()))


def _height(frame: Any) -> int | None:
    """The number of rows; None where a library does not tell."""
    return frame.num_rows if hasattr(frame, "num_rows") else frame.shape[0] if hasattr(frame, "shape") else None


def is_square(frame: Any) -> bool:
    """Whether a data frame is a matrix over vertices: its index and its columns name some vertices alike.

    Raises
    ------
    GraphError
        If it has two or three rows and columns that are numbered only, and could be edges as well.
    """
    if not has_labels(frame):
        return False
    if not hasattr(frame, "index"):
        return True
    if frame.shape[0] != frame.shape[1] or not frame.shape[0]:
        return False
    index, columns = list(frame.index), list(frame.columns)
    if _are_numbered(index, columns) and len(index) in (2, 3):
        side = len(index)
        raise GraphError(
            f"a data frame of shape ({side}, {side}) could be {side} edges or a matrix of {side} vertices: name the "
            "columns of edges from, to and weight, and give a matrix to from_dense or Matrix"
        )
    return bool(set(index) & set(columns))


def _are_numbered(index: list[Any], columns: list[Any]) -> bool:
    """Whether rows and columns are counted from 0, and not called False and True, which Python takes for 0 and 1."""
    called = any(isinstance(label, bool | np.bool_) for label in (*index[:2], *columns[:2]))
    return index == columns == list(range(len(index))) and not called


def matrix_of(frame: Any, names: Sequence[Any] | None) -> tuple[np.ndarray, list[Any] | None]:
    """The elements of a square data frame, rows and columns in one order, and the names of its vertices.

    Parameters
    ----------
    frame : DataFrame or Table
    names : sequence of hashable, optional
        The order of the vertices; of rows and columns that are only numbered, their names. Default: that of the rows.

    Raises
    ------
    GraphError
        If rows, columns and names are not the same vertices, or one comes twice.
    """
    if hasattr(frame, "index") or is_dataarray(frame):
        index, columns, _ = _both_labels(frame)
        array, (rows, across) = elements_of(frame), _titles(frame)
    else:
        header, column = columns_in(frame)
        index, rows, across = column(0).tolist(), f"the column {quoted(CORNER)}", ACROSS
        called = {str(name): name for name in index}
        columns = [called[name] for name in header[1:]]
        array = side_by_side([column(k) for k in range(1, len(header))], len(index))
    for labels, what in ((index, rows), (columns, across)):
        _refuse_twice(labels, what)
    if _are_numbered(index, columns):
        return array, None if names is None else list(names)
    order = alignment(index, columns, rows, across)
    array = array if order is None else array[:, order]
    if names is None:
        return array, index
    order = alignment(names, index, "names", f"{rows} of the data frame" if hasattr(frame, "index") else rows)
    return array if order is None else array[np.ix_(order, order)], list(names)


def labelled(
    frame: Any, names: Sequence[Any] | None, columns: Sequence[Any] | None
) -> tuple[np.ndarray, list[Any] | None, list[Any] | None]:
    """The elements of a data frame with an index, and the names of its rows and of its columns.

    They are vertices, as for `matrix_of`, unless names of columns are given, or rows and columns share no name, or it
    is a DataArray that is not square.

    Raises
    ------
    GraphError
        As for `matrix_of`; and if the given names are not those of the rows or the columns.
    """
    if not (hasattr(frame, "index") or is_dataarray(frame)):
        array, vertices = matrix_of(frame, names)
        return array, vertices, vertices
    index, header, counted = _both_labels(frame)
    apart = len(index) != len(header) and (all(counted) or is_dataarray(frame))
    if columns is None and not apart and (set(index) & set(header) or not (index and header)):
        try:
            array, vertices = matrix_of(frame, names)
        except GraphError as e:
            if {*index} == {*header}:
                raise
            raise GraphError(f"{e}; or pass columns=, the names of the columns, if these are not vertices") from None
        return array, vertices, vertices
    array = elements_of(frame)
    found: list[list[Any] | None] = []
    rows, across = _titles(frame)
    for axis, (labels, wanted, what) in enumerate(((index, names, rows), (header, columns, across))):
        _refuse_twice(labels, what)
        order = None if wanted is None or counted[axis] else alignment(list(wanted), labels, "names", what)
        array = array if order is None else array.take(order, axis=axis)
        found.append(list(wanted) if wanted is not None else None if counted[axis] else labels)
    return array, found[0], found[1]


def _both_labels(frame: Any) -> tuple[list[Any], list[Any], list[bool]]:
    """The labels of rows and columns, and whether each are counted from 0, as where there are none."""
    if is_dataarray(frame):
        given = labels_of(frame)
        index, header = (list(range(n)) if x is None else x for x, n in zip(given, frame.shape, strict=True))
        return index, header, [labels is None for labels in given]
    index, header = list(frame.index), list(frame.columns)
    return index, header, [labels == list(range(len(labels))) for labels in (index, header)]


def column_labels(frame: Any) -> list[Any] | None:
    """The labels of the columns of a data frame with an index, or of a DataArray; None if they are counted from 0.

    >>> import pandas as pd
    >>> column_labels(pd.DataFrame([[1.0, 2.0]], columns=["a", "b"])), column_labels([[1.0]])
    (['a', 'b'], None)
    """
    if not (is_pandas(frame) or is_dataarray(frame)):
        return None
    _, labels, counted = _both_labels(frame)
    return None if counted[1] else labels


def _titles(frame: Any) -> tuple[str, str]:
    """What errors call the labels of rows and of columns."""
    if is_dataarray(frame):
        rows, columns = (f"the coordinates {quoted(dim)}" for dim in frame.dims)
        return rows, columns
    return "the index", ACROSS


def is_of_truths(frame: Any) -> bool:
    """Whether all elements of a data frame, or of a DataArray, are truth values.

    >>> import pandas as pd
    >>> is_of_truths(pd.DataFrame([[True, False]])), is_of_truths(pd.DataFrame([[True, 0]]))
    (True, False)
    """
    kinds = frame.dtypes if hasattr(frame, "dtypes") else [frame.dtype]
    return bool(len(kinds)) and all(str(kind).lower() in ("bool", "boolean") for kind in kinds)


def elements_of(frame: Any) -> np.ndarray:
    """The elements of a data frame with an index, or of a DataArray."""
    if is_dataarray(frame):
        return np.asarray(frame.to_numpy())
    return side_by_side([_pandas_column(frame.iloc[:, k]) for k in range(frame.shape[1])], len(frame.index))


def _pandas_column(column: Any) -> np.ndarray:
    """A column of pandas': NaN where a number is missing, which is refused with its place."""
    kind = getattr(column.dtype, "kind", "O")
    if kind in "iufb" and not isinstance(column.dtype, np.dtype) and column.isna().any():
        missing: np.ndarray = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return missing
    found: np.ndarray = column.to_numpy()
    return found


def side_by_side(columns: Sequence[np.ndarray], length: int) -> np.ndarray:
    """Columns as an array; as Python's numbers where floats would not hold all integers beside them.

    Examples
    --------
    >>> side_by_side([np.array([1, 2]), np.array([0.5, 1.0])], 2).dtype
    dtype('float64')
    >>> int(side_by_side([np.array([2**53 + 1]), np.array([0.5])], 1)[0, 0])
    9007199254740993
    """
    if not columns:
        return np.empty((length, 0))
    dtype = np.result_type(*(column.dtype for column in columns))
    if dtype.kind == "f" and any(c.dtype.kind in "iu" and _loses(c, dtype) for c in columns):
        dtype = np.dtype(object)
    return np.stack([column.astype(dtype, copy=False) for column in columns], axis=1)


def _loses(integers: np.ndarray, dtype: np.dtype) -> bool:
    """Whether a dtype of floats rounds one of some integers."""
    held = float(2 ** (np.finfo(dtype).nmant + 1))
    return bool(integers.size) and (float(integers.max()) >= held or float(integers.min()) <= -held)


def _refuse_twice(labels: Sequence[Any], what: str) -> None:
    seen: dict[Any, int] = {}
    for k, label in enumerate(labels):
        if seen.setdefault(label, k) != k:
            raise GraphError(f"two of {what} are called {quoted(label)}, numbers {seen[label]} and {k}")


def frame_of(M: Elements, down: Sequence[Any], across: Sequence[Any], long: bool, library: str | None) -> Any:
    """A matrix or a table, whose rows and columns are some vertices, as a data frame; see `Matrix.to_frame`."""
    name, module = frame_library(library or M.library)
    if long:
        rows, columns, values = entries_of(M)
        ends = {CORNER: [down[i] for i in rows], "to": [across[j] for j in columns]}
        return made_of({**ends, "weight": plain(values)}, name, module)
    array = with_infinities(as_declared(M._elements.all(), M.semiring), M.semiring)
    if name == "pandas":
        index, columns_ = (module.Index(list(names), tupleize_cols=False) for names in (down, across))
        return module.DataFrame(plain(array.reshape(-1)).reshape(M.shape), index=index, columns=columns_)
    cells = {str(vertex): plain(array[:, j]) for j, vertex in enumerate(across)}
    if len({CORNER, *cells}) <= len(across):
        raise GraphError(f"columns of {TITLES[name]} are called by texts, all different and none of them 'from'; the "
                         "names of these vertices are not so: use long=True")
    return made_of({CORNER: list(down), **cells}, name, module)


TITLES = {"pandas": "pandas", "polars": "Polars", "pyarrow": "Arrow"}


def made_of(columns: Mapping[str, Any], name: str, module: Any) -> Any:
    """A data frame of columns.

    Raises
    ------
    GraphError
        If the library has no type for what is in a column.
    """
    if name == "pandas":
        return module.DataFrame(dict(columns))
    if name == "polars":
        refusals: tuple[type[Exception], ...] = (TypeError, OverflowError, module.exceptions.PolarsError)
    else:
        refusals = (module.ArrowInvalid, module.ArrowTypeError, module.ArrowNotImplementedError, OverflowError)
    try:
        if name == "polars":
            return module.DataFrame(dict(columns))
        return module.table({called: module.array(_guessed(column)) for called, column in columns.items()})
    except refusals as e:
        raise GraphError(f"{TITLES[name]} has no type for a column of these elements ({str(e).splitlines()[0]}): "
                         "use pandas, or to_numpy") from None


def _guessed(column: Any) -> Any:
    """A column whose type Arrow guesses, which it does not for unsigned integers of 64 bits."""
    found = integers_of(column) if isinstance(column, list) and column and type(column[0]) is int else None
    return column if found is None else found


def frame_library(name: str | None) -> tuple[str, Any]:
    """The name and the module of a library of data frames.

    Where none is named: pandas or Polars, the first that the program has loaded; else the first that is installed.

    Raises
    ------
    GraphError
        If there is no such library, or it is not installed.
    """
    if name is not None and name not in LIBRARIES:
        raise GraphError(f"data frames are made by {', '.join(LIBRARIES)}, and library is {quoted(name)}")
    # PyArrow may be loaded by whatever reads Parquet, and says nothing of what the program works with
    loaded = [library for library in ("pandas", "polars") if library in sys.modules]
    for library in dict.fromkeys([*loaded, *LIBRARIES]) if name is None else (name,):
        try:
            return library, import_module(library)
        except ImportError:
            continue
    raise GraphError(f"there is no {name or ' and no '.join(LIBRARIES)}: pip install {name or LIBRARIES[0]}")


def plain(values: np.ndarray) -> np.ndarray:
    """A column as a data frame holds it: records as tuples."""
    if not values.dtype.names:
        return values
    return np.fromiter(values.tolist(), dtype=object, count=len(values))
