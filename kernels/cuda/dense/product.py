"""The tiled product on matrices in device memory; product.cu is its kernel."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from semiring.kernels.cuda.compile.geometry import ProductGeometry, narrow_geometries, product_geometries
from semiring.kernels.cuda.compile.launch import Function, Module, compile_ahead, memory, multiprocessors
from semiring.kernels.cuda.compile.program import Program, word_filler

MOST_STACKED = 65535  # matrices of a stack in one launch
LEAST_PART, MOST_PARTS = 256, 64  # terms of a product that are a part of k, and how many parts there are
PART_BYTES = 64 << 20  # of memory that answers of parts take, at most
READING, WAITING = 0.93, 0.15  # time of large tiles, which read less, and what the first tile of a multiprocessor waits
TERM = 1.45e-12  # seconds on one of an H200's multiprocessors, times the weight and the size
LAUNCH, BANDWIDTH = 15e-6, 2e12  # seconds of a launch more, in Python; bytes of parts that are joined in a second
FEW, MANY = 4, 16  # steps of k that are written out for a first call, and from how many on the compiler takes long


class View(NamedTuple):
    """A stack of matrices in device memory, all in bytes: where it begins, from row to row, from matrix to matrix."""

    address: int
    ld: int
    next: int
    rows: int
    columns: int

    def part(self, rows: slice, columns: slice, size: int) -> View:
        """The matrices cut to a range of rows and of columns."""
        top, left = rows.start or 0, columns.start or 0
        bottom = self.rows if rows.stop is None else rows.stop
        right = self.columns if columns.stop is None else columns.stop
        return View(self.address + top * self.ld + left * size, self.ld, self.next, bottom - top, right - left)

    @property
    def is_aligned(self) -> bool:
        """Whether every row of every matrix begins on a multiple of 16 bytes."""
        return not (self.address | self.ld | self.next) % 16


class Gap(NamedTuple):
    """Rows or columns that a product leaves out: from `at` on, `size` of them."""

    at: int
    size: int


NO_GAP = Gap(0, 0)
EVERY = slice(None)


class Product:
    """C ⊕= A ⊗ B and C = A ⊗ B for one program: whole tiles first, then what is left at the edges."""

    elements = 1  # of a row of B and C that a word holds

    def __init__(self, text: Program):
        self.text = text
        self.size = text.size
        self.large, self.small, self.least = product_geometries(self.size, text.weight)
        self.narrow = narrow_geometries(self.size, text.weight)

    @lru_cache(1024)  # noqa: B019 (kernels live as long as the process)
    def function(self, geometry: ProductGeometry, whole_tiles: bool) -> Function:
        """The kernel for whole tiles, or the one for edges."""
        module = Module(self.text.product(geometry, whole_tiles))
        name = "product" if whole_tiles else "product_edge"
        return module.function(name, geometry.threads, geometry.shared_bytes(self.size))

    def first(self, geometry: ProductGeometry) -> Function:
        """The kernel for whole tiles; until threads have compiled it, one with few steps of k written out.

        That one computes the same in the same order, takes 3 % longer, and is compiled in a fifth of the time.
        """
        full = self.function(geometry, True)
        return full if geometry.UNROLL < MANY or full.at_hand() else self.function(replace(geometry, UNROLL=FEW), True)

    def needed(self, m: int, k: int, n: int, padded: bool) -> list[Function]:
        """The kernels that the product of two matrices needs, which are in whole tiles or not."""
        g = self.geometry(m, n, 1)
        has_tiles = g.has_whole_tiles(self.size) and m >= g.BM and k >= g.BK and n >= self.elements * g.BN
        whole = [self.first(g)] if padded or has_tiles else []
        return whole if padded else [*whole, self.function(g, False)]

    def geometry(self, m: int, n: int, batch: int) -> ProductGeometry:
        """Large tiles, or small ones where large ones would leave multiprocessors idle, or much of a tile empty."""
        side = min(m, n)
        if self.narrow and side <= self.narrow[0].BM < max(m, n):
            return self.narrow[m > n]
        if side <= self.small.BM:
            return self.least if side <= self.least.BM else self.small
        return min((self.large, self.small), key=lambda g: self._step(g, _tiles(g, m, n) * batch))

    def _step(self, g: ProductGeometry, tiles: int) -> float:
        """How long a step of k takes, in terms: as many as the multiprocessor with the most tiles computes."""
        most = -(-tiles // multiprocessors())
        return (most * (READING if g is self.large else 1) + WAITING) * g.BM * g.BN

    def parts(self, m: int, k: int, n: int, batch: int) -> tuple[ProductGeometry, int, int]:
        """The tiles for parts of k that are products of their own, how many of them there are, and how long each is.

        There is more than one where C has few tiles, or leaves multiprocessors idle at the end, and k is long.
        """
        return self._parts(m, k, n, batch, multiprocessors())

    @lru_cache(1024)  # noqa: B019
    def _parts(self, m: int, k: int, n: int, batch: int, _there: int) -> tuple[ProductGeometry, int, int]:
        g = self.geometry(m, n, batch)
        best = g, 1, k
        if g is self.large:
            return best
        term, tiles = TERM * self.text.weight * max(self.size, 4), _tiles(g, m, n) * batch
        least, answer = self._step(g, tiles) * k * term, m * n * batch * self.size
        for count in range(2, min(k // LEAST_PART, MOST_PARTS, PART_BYTES // max(answer, 1)) + 1):
            length = -(-k // (count * g.BK)) * g.BK
            whole, rest = divmod(k, length)
            seconds = self._step(g, tiles * whole) * length * term + LAUNCH + count * answer / BANDWIDTH
            if rest:  # is another launch
                seconds += self._step(g, tiles) * rest * term + LAUNCH
            if seconds < least:
                least, best = seconds, (g, -(-k // length), length)
        return best

    def __call__(
        self, C: View, A: View, B: View, batch: int, accumulate: bool, g: ProductGeometry | None = None
    ) -> None:
        """Any shapes; batches beyond what one launch takes are cut. The tiles are those of `geometry`, or given."""
        if not (C.rows and C.columns):
            return
        for start in range(0, batch, MOST_STACKED):
            c, a, b = (v._replace(address=v.address + start * v.next) for v in (C, A, B))
            count = min(batch - start, MOST_STACKED)
            self._stack(g or self.geometry(C.rows, C.columns, count), c, a, b, count, accumulate)

    def _stack(self, g: ProductGeometry, C: View, A: View, B: View, batch: int, accumulate: bool) -> None:
        m, n, k = C.rows // g.BM * g.BM, C.columns // g.BN * g.BN, A.columns // g.BK * g.BK
        if not (m and n and k and C.is_aligned and A.is_aligned and B.is_aligned and g.has_whole_tiles(self.size)):
            self._edge(g, C, A, B, batch, accumulate)
            return
        size, top, left, first = self.size, slice(m), slice(n), slice(k)
        self._whole(
            g, C.part(top, left, size), A.part(top, first, size), B.part(first, left, size), batch, accumulate
        )
        if k < A.columns:
            rest = slice(k, None)
            self._edge(g, C.part(top, left, size), A.part(top, rest, size), B.part(rest, left, size), batch, True)
        if m < C.rows:
            rest = slice(m, None)
            self._edge(g, C.part(rest, EVERY, size), A.part(rest, EVERY, size), B, batch, accumulate)
        if n < C.columns:
            rest = slice(n, None)
            left_of = A.part(top, EVERY, size)
            self._edge(g, C.part(top, rest, size), left_of, B.part(EVERY, rest, size), batch, accumulate)

    def whole(
        self, g: ProductGeometry, C: View, A: View, B: View, batch: int, accumulate: bool,
        rows: Gap = NO_GAP, columns: Gap = NO_GAP,
    ) -> None:
        """Whole tiles only. With a gap, C, A and B are matrices that have the gap in them, at bounds of tiles."""
        self._whole(g, C, A, B, batch, accumulate, rows, columns)

    def _whole(
        self, g: ProductGeometry, C: View, A: View, B: View, batch: int, accumulate: bool,
        rows: Gap = NO_GAP, columns: Gap = NO_GAP,
    ) -> None:
        down, across = (C.rows - rows.size) // g.BM, (C.columns - columns.size) // g.BN
        if down and across:
            kernel = self.first(g)
            kernel(
                down * across, batch, A.address, A.ld, A.next, B.address, B.ld, B.next, C.address, C.ld, C.next,
                down, across, A.columns // g.BK, *rows, *columns, int(accumulate),
            )
            if kernel is not (full := self.function(g, True)):
                compile_ahead([full])

    def cover(self, C: View, A: View, B: View, batch: int, accumulate: bool) -> None:
        """As a call, but by the smallest tiles where they leave no edge: for stacks of small matrices.

        They keep twelve blocks on a multiprocessor, which is no slower up to 512 rows (1,000 rows: 12.1 T by them,
        12.0 T by larger ones) and faster where few larger ones would be left over (100 of 500 rows: 11.2 T, 9.5 T).
        """
        g, wide = self.least, C.columns // self.elements
        whole = not (C.rows % g.BM or wide % g.BN or A.columns % g.BK) and g.has_whole_tiles(self.size)
        if whole and C.is_aligned and A.is_aligned and B.is_aligned:
            self.whole(g, C, A, B, batch, accumulate)
        else:
            self(C, A, B, batch, accumulate)

    def _edge(self, g: ProductGeometry, C: View, A: View, B: View, batch: int, accumulate: bool) -> None:
        tiles = -(-C.rows // g.BM) * -(-C.columns // g.BN)
        self.function(g, False)(
            tiles, batch, A.address, A.ld, A.next, B.address, B.ld, B.next, C.address, C.ld, C.next,
            C.rows, C.columns, A.columns, int(accumulate),
        )


class WordProduct(Product):
    """A product whose words hold several elements of a row of B and C; A has one element a word, filled in here.

    Views and gaps are in elements, as for `Product`.

    Parameters
    ----------
    text : Program
        On words of 32 bits.
    dtype : dtype
        Of an element: 16-bit integers, two a word.
    """

    elements = 2

    def __init__(self, text: Program, dtype: np.dtype):
        super().__init__(text)
        self.dtype = dtype

    @cached_property
    def _fill(self) -> Function:
        return Module(word_filler(self.dtype)).function("fill_words", 256)

    def fits(self, *views: View) -> bool:
        """Whether every row begins with a word, and ends with one."""
        return not any(v.address % 4 or v.ld % 4 or v.next % 4 or v.columns % 2 for v in views)

    def __call__(
        self, C: View, A: View, B: View, batch: int, accumulate: bool, g: ProductGeometry | None = None
    ) -> None:
        """Any shapes that `fits` accepts."""
        a, _kept = self.filled(A, batch)
        super().__call__(_in_words(C), a, _in_words(B), batch, accumulate, g)

    def whole(
        self, g: ProductGeometry, C: View, A: View, B: View, batch: int, accumulate: bool,
        rows: Gap = NO_GAP, columns: Gap = NO_GAP,
    ) -> None:
        a, _kept = self.filled(A, batch)
        gap = Gap(columns.at // 2, columns.size // 2)
        self._whole(g, _in_words(C), a, _in_words(B), batch, accumulate, rows, gap)

    def filled(self, A: View, batch: int) -> tuple[View, object]:
        """A with a word for each element, and the memory it is in."""
        words = memory(batch * A.rows * A.columns * 4)
        self._fill(A.rows, batch, A.address, A.ld, A.next, words.ptr, A.rows, A.columns)
        return View(words.ptr, A.columns * 4, A.rows * A.columns * 4, A.rows, A.columns), words


def _tiles(g: ProductGeometry, m: int, n: int) -> int:
    return -(-m // g.BM) * -(-n // g.BN)


def _in_words(v: View) -> View:
    return v._replace(columns=v.columns // 2)
