"""`explain_product`: a matrix product as one block of threads of a GPU computes it, to click through."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields, replace
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.by_name import algebra
from semiring.algebra.catalogue import catalogue
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.kernels.cuda.choose import without_facts
from semiring.kernels.cuda.compile.geometry import ProductGeometry, product_geometries
from semiring.kernels.cuda.compile.program import is_linear, packed_program, program
from semiring.kernels.lowering.boolean import is_boolean
from semiring.operands.read import operand
from semiring.solvers.task import own_algebra

from .elements import Elements
from .explanation import entries_of, length_of
from .javascript import components_in_page, function, runtime
from .page import assembled, element_as_json, script, stripped, tight
from .questions import chances
from .shown import Shown
from .words import signs

MOST = 16  # rows, columns and steps that a page shows
DRAWN = {"TM": 4, "TN": 4, "LM": 4, "LN": 4, "VECTOR": 4, "BK": 8}  # a drawn tile has these fractions of the library's
OFFERED = ("min_plus", "max_plus", "max_min", "viterbi", "plus_times", "boolean", "counting")
DTYPES = tuple(map(np.dtype, ("f4", "f8", "i4", "i8", "?")))


class Counts(NamedTuple):
    """What a block of threads loads and computes.

    Attributes
    ----------
    from_global, from_shared : int
        Elements loaded from global and from shared memory.
    operations : int
        Pairs of a ⊗ and a ⊕.
    """

    from_global: int
    from_shared: int
    operations: int


class ProductExplanation(Shown):
    """One block of a product, step by step; `semiring.explain_product` makes it.

    It prints the tile of the library's kernel and what this tile saves. A notebook shows it as the page that `save`
    writes.

    Attributes
    ----------
    semiring : Semiring
    A, B : list of lists
        The factors, as elements of the page.
    tiles : mapping of str to ProductGeometry
        The tile of the library's kernel for large products, by dtype.
    title : str
        The title of the page.
    height : int
        The height of a notebook's frame in pixels, where the page cannot choose it.

    Examples
    --------
    >>> import semiring as sr
    >>> print(sr.explain_product([[1.0, 4.0]], [[2.0], [0.5]], sr.min_plus))
    min-plus, a product of 1 × 2 and 2 × 1
    float64: 128 × 64 elements a block, 256 threads of 8 × 4 each, 16 steps of k in each of 3 buffers
      1,024 steps of k: 196,608 loads from global memory, where the naive product has 16,777,216
    float32: 128 × 128 elements a block, 256 threads of 8 × 8 each, 32 steps of k in each of 2 buffers
      1,024 steps of k: 262,144 loads from global memory, where the naive product has 33,554,432
    int32: 128 × 128 elements a block, 256 threads of 8 × 8 each, 32 steps of k in each of 2 buffers
      1,024 steps of k: 262,144 loads from global memory, where the naive product has 33,554,432
    int64: 128 × 64 elements a block, 256 threads of 8 × 4 each, 16 steps of k in each of 3 buffers
      1,024 steps of k: 196,608 loads from global memory, where the naive product has 16,777,216
    """

    height = 1150

    def __init__(self, S: Semiring, factors: dict[Semiring, tuple[Rows, Rows]], title: str):
        self.semiring, self.factors, self.title = S, factors, title
        self.A, self.B = factors[S]
        self.tiles = {name: found[0] for name, _, _, found in library_tiles(S)}

    def __repr__(self) -> str:
        return f"<ProductExplanation: {self._summary()}>"

    def __str__(self) -> str:
        lines = [self._summary()]
        for name, g in self.tiles.items():
            tiled, naive = counts(g, g.BM, g.BN, 1024), naive_counts(g.BM, g.BN, 1024)
            lines += [
                f"{name}: {g.BM} × {g.BN} elements a block, {g.threads} threads of {g.TM} × {g.TN} each, "
                f"{g.BK} steps of k in each of {g.STAGES} buffers",
                f"  1,024 steps of k: {tiled.from_global:,} loads from global memory, where the naive product has "
                f"{naive.from_global:,}",
            ]
        return "\n".join(lines)

    def _summary(self) -> str:
        return f"{self.semiring.name}, a product of {len(self.A)} × {len(self.B)} and {len(self.B)} × {len(self.B[0])}"

    def _page(self) -> str:
        tiles: dict[ProductGeometry, int] = {}
        factors: dict[str, int] = {}  # as JSON: algebras of numbers have the same
        offered = [_algebra(S, A, B, tiles, factors) for S, (A, B) in self.factors.items()]
        functions = ",".join(f"{json.dumps(S.name)}: {_operations(S)}" for S in self.factors)
        data = {"title": self.title, "algebras": offered, "factors": [json.loads(text) for text in factors],
                "numbers": [field.name for field in fields(ProductGeometry)],
                "library": [_numbers(g) for g in tiles], "drawn": [_numbers(drawn(g)) for g in tiles]}
        scripts = [tight(stripped(runtime())) if "R." in functions else "", f"const OPERATIONS={{{tight(functions)}}};",
                   *map(script, ("values", "tile", "frame", "player", "tiles"))]
        return assembled("tiles", self.title, data, scripts, ("page", "tiles"))


Rows = list[list[Any]]


def explain_product(A: Any, B: Any, S: Semiring | str | None = None, *, title: str | None = None) -> ProductExplanation:
    """Show how a block of GPU threads computes a product, tile by tile.

    The page steps through the library's own kernel: rows of A and columns of B are copied to shared memory, and each
    thread keeps some elements of the result in registers. It counts the loads that this saves, compared with a
    product in which each thread reads its row and its column.

    Parameters
    ----------
    A, B : array_like, sparse matrix or graph, shapes (m, k) and (k, n)
        As for `matmul`, with 1 to 16 rows and columns.
    S : Semiring or str, optional
        Default: the algebra of A and B, if one is a `Matrix`.
    title : str, optional
        The title of the page.

    Returns
    -------
    ProductExplanation
        It prints the library's tiles; notebooks show the page, and `save` writes it. No GPU is needed.

    Raises
    ------
    SemiringError
        If a side is longer than 16 or the shapes do not fit, or if S works on Python objects.

    Notes
    -----
    The tile of the library depends on the size of an element and on the cost of ⊕ and ⊗. The page draws it to scale,
    without values; the tile that is stepped through has a sixteenth of its sides, with the same layout of threads.

    Examples
    --------
    >>> import semiring as sr
    >>> E = sr.explain_product([[1.0, 4.0]], [[2.0], [0.5]], sr.min_plus)
    >>> E.tiles["float32"].BM, E.tiles["float32"].BN
    (128, 128)
    """
    S = algebra(S) if S is not None else own_algebra("explain_product", [A, B])
    components_in_page(S)  # refuses objects
    left, right = operand(A, S), operand(B, S)
    for name, shape in (("A", left.shape), ("B", right.shape)):
        if len(shape) != 2:
            raise SemiringError(f"{name} must be a matrix of two axes, but has the shape {shape}: pass one matrix")
    (m, k), (rows, n) = left.shape, right.shape
    if k != rows:
        raise SemiringError(f"A has {k} columns, but B has {rows} rows")
    if not (0 < m <= MOST and 0 < k <= MOST and 0 < n <= MOST):
        raise SemiringError(f"explain_product shows products of 1 to {MOST} rows, columns and steps, not of {m} × {k} "
                            f"and {k} × {n}: pass a part, as in A[:8, :8]")
    own = entries_of(left, Elements(S)), entries_of(right, Elements(S))
    factors = {S: (_rows(own[0], m, k, Elements(S)), _rows(own[1], k, n, Elements(S)))}
    places = [(at, place) for at, entries in enumerate(own) for place in entries]
    lengths = [length_of(own[at][place], number) for number, (at, place) in enumerate(places)]
    for T in map(catalogue.__getitem__, OFFERED):
        made = _made(Elements(T), lengths) if T is not S else None
        if made is not None:
            found: tuple[dict[Any, Any], dict[Any, Any]] = {}, {}
            for (at, place), value in zip(places, made, strict=True):
                found[at][place] = value
            factors[T] = _rows(found[0], m, k, Elements(T)), _rows(found[1], k, n, Elements(T))
    return ProductExplanation(S, factors, title or "A tile's way through a product")


def counts(g: ProductGeometry, rows: int, columns: int, depth: int) -> Counts:
    """What a block loads and computes for some rows and columns of C, within its tile.

    >>> counts(product_geometries(4, 2)[0], 128, 128, 32)
    Counts(from_global=8192, from_shared=131072, operations=524288)
    """
    steps = -(-depth // g.BK) * g.BK
    threads = g.LM * g.LN * g.WM * g.WN  # a warp of a drawn tile has fewer than 32
    return Counts((rows + columns) * depth, threads * (g.TM + g.TN) * steps, g.BM * g.BN * steps)


def naive_counts(rows: int, columns: int, depth: int) -> Counts:
    """The same where each thread computes one element from its row and its column.

    >>> naive_counts(128, 128, 32)
    Counts(from_global=1048576, from_shared=0, operations=524288)
    """
    return Counts(2 * rows * columns * depth, 0, rows * columns * depth)


def drawn(g: ProductGeometry) -> ProductGeometry:
    """The tile that is stepped through: a quarter of a thread's and of a warp's sides, and an eighth of the depth.

    >>> g = product_geometries(4, 2)[0]
    >>> g.BM, g.BN, g.BK, drawn(g).BM, drawn(g).BN, drawn(g).BK
    (128, 128, 32, 8, 8, 4)
    """
    return replace(g, **{name: max(1, getattr(g, name) // by) for name, by in DRAWN.items()})


def library_tiles(S: Semiring) -> Iterator[tuple[str, bool, str, tuple[ProductGeometry, ...]]]:
    """For each dtype its name, whether zero absorbs, what else large products run on, and the kernel's three tiles.

    >>> import semiring as sr
    >>> [(name, tiles[0].BM, tiles[0].BN) for name, _, _, tiles in library_tiles(sr.k_best(3))]
    [('24 bytes', 64, 32)]
    """
    for dtype in dict.fromkeys([S.default_dtype, *DTYPES]):
        if dtype != S.default_dtype and dtype not in S.dtypes:
            continue
        try:
            low = without_facts(S, dtype)
        except SemiringError:
            continue  # no form of it runs on a GPU
        text = program(low)
        if low.absorbs and packed_program(low):
            continue  # two elements a word
        note = ""
        if is_linear(low):
            note = "Products of ordinary numbers run in NVIDIA's library instead, which is faster still"
        elif dtype.kind == "b" and is_boolean(S, dtype):
            note = "Truth values are packed, 32 in a word, and multiplied by other kernels"
        elif low.log_sum:
            note = "Large products of logarithms run as ordinary products of powers where no power underflows"
        name = dtype.name if dtype.names is None else f"{dtype.itemsize} bytes"
        yield name, low.absorbs, note, product_geometries(text.size, text.weight)


def _algebra(
    S: Semiring, A: Rows, B: Rows, tiles: dict[ProductGeometry, int], factors: dict[str, int]
) -> dict[str, Any]:
    E = Elements(S)
    at = [factors.setdefault(json.dumps([list(map(element_as_json, row)) for row in X]), len(factors)) for X in (A, B)]
    return {
        "name": S.name, "signs": signs(S), "zero": element_as_json(E.zero), "sets": E.sets, "factors": at,
        "tiles": [{"dtype": name, "note": note, "absorbs": absorbs,
                   "at": [tiles.setdefault(g, len(tiles)) for g in dict.fromkeys(found)]}
                  for name, absorbs, note, found in library_tiles(S)],
    }


def _numbers(g: ProductGeometry) -> list[int]:
    return [int(value) for value in astuple(g)]


def _operations(S: Semiring) -> str:
    dtypes, ops = components_in_page(S), S.traced
    assert ops is not None
    return f"{{add: {function(ops.add, dtypes)}, mul: {function(ops.mul, dtypes)}}}"


def _rows(entries: dict[tuple[int, int], Any], m: int, n: int, E: Elements) -> Rows:
    return [[entries.get((i, j), E.zero) for j in range(n)] for i in range(m)]


def _made(E: Elements, lengths: Sequence[float]) -> list[Any] | None:
    """Elements made from lengths; None if none fits."""
    tried = [lengths, chances(lengths, []), [1] * len(lengths)]
    for values in reversed(tried) if E.S.name == "boolean" else tried:
        try:
            return [E.element(x) for x in values]
        except (SemiringError, OverflowError):
            continue
    return None
