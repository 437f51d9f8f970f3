"""Products of Boolean matrices with one bit an entry, on matrices in device memory.

C ⊕= A ⊗ B, with B transposed (T = B^T), so that every entry of C compares two rows of bits. Three kernels do it:
product_wgmma.cu where the device is of compute capability 9.0, product_mma.cu on others that multiply 1-bit matrices,
and product_lop.cu where such instructions are missing or emulated. Each also writes C^T if that is wanted.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from ctypes import CDLL, POINTER, addressof, c_ubyte, c_uint, c_ulonglong, c_void_p, string_at
from functools import lru_cache
from struct import unpack
from typing import Any, NamedTuple

from semiring.kernels.cuda.compile.launch import Function, capability, current_device, memory, multiprocessors
from semiring.kernels.cuda.dense.product import NO_GAP, Gap

from .words import Bits, Geometry, clear, copy, module_of, scratch, some, transpose, words_function

COUNTED_COLUMNS = 32_768  # columns of A up to which counters may begin at 0; see bits.cuh
SLAB, ACROSS = 64, 256  # rows and columns that flags of tiles speak of
MAPPED = 16  # numbers of 8 bytes in a tensor map, one argument of a kernel


class Known(NamedTuple):
    """What is known of a product's tiles, as addresses of bytes; 0: nothing. See product_wgmma.cu."""

    full: int = 0  # whether 16 rows × 256 columns of C are full, column by column; the product keeps this up to date
    full_ld: int = 0  # from one column to the next: 4 for each 64 rows
    settled: int = 0  # which tiles leave C as it is

    def part(self, top: int, left: int = 0) -> Known:
        """What is known of C from a row and a column on, which are multiples of 64 and 256."""
        full = self.full and self.full + top // 16 + left // ACROSS * self.full_ld
        return Known(full, self.full_ld)


NOTHING = Known()


def wgmma_geometry(warpgroups: int = 3, stages: int = 4) -> Geometry:
    """64 rows a warpgroup: three, whose counts fill the registers of a multiprocessor."""
    stage = (64 * warpgroups + 256) * 128
    # With each two barriers of 8 bytes and the number of a tile; and they begin on a multiple of 1,024 bytes.
    shared = 1024 + stages * (stage + 20)
    constants = (("WARPGROUPS", warpgroups), ("STAGES", stages))
    return Geometry("bits/product_wgmma.cu", 64 * warpgroups, 256, 128 * warpgroups, constants, shared)


def mma_geometry(down: int = 2, across: int = 2, stages: int = 3) -> Geometry:
    """64 × 64 a warp."""
    constants = (("DOWN", down), ("ACROSS", across), ("STAGES", stages))
    shared = stages * 64 * (down + across) * 128
    return Geometry("bits/product_mma.cu", 64 * down, 64 * across, 32 * down * across, constants, shared)


GEOMETRIES = {
    "wgmma": wgmma_geometry(),
    "mma": mma_geometry(),
    "lop": Geometry("bits/product_lop.cu", 128, 128, 256),
}


def kernels_of(device_capability: tuple[int, int]) -> tuple[str, ...]:
    """The kernels that run on a device at the rate of its hardware, fastest first."""
    major, _ = device_capability
    # From 10.0 on the 1-bit instructions are emulated; before 8.0 there are none that count common bits.
    return ("wgmma", "mma", "lop") if major == 9 else ("mma", "lop") if major == 8 else ("lop",)


def choose(rows: int, columns: int) -> str:
    """The kernel for a product of this shape on the current device."""
    names = kernels_of(capability(current_device()))
    if names[0] == "wgmma" and (rows <= 64 or columns <= 128):
        return "mma"  # most of a tile of 192 × 256 would be empty
    return names[0]


def multiply(
    C: Bits, A: Bits, T: Bits, accumulate: bool, CT: Bits | None = None, *,
    gap: Gap = NO_GAP, known: Known = NOTHING, kernel: str | None = None, blocks: int = 0, times: int = 1,
) -> None:
    """C ← A ⊗ T^T, or C ⊕ that, and CT ← C^T.

    Parameters
    ----------
    C, A, T : Bits
        m × n, m × k, n × k. C may overlap A where ⊕ is into C and A may see any of its new entries.
    accumulate : bool
    CT : Bits, optional
        n × m, with room for a multiple of 64 rows.
    gap : Gap
        Rows of C and A that stay as they are; multiples of 64. Not together with CT.
    known : Known
        What is kept of full tiles, and which tiles are passed over (by the kernel "wgmma"; others compute them).
    kernel : {"wgmma", "mma", "lop"}, optional
        Which to use; by default the fastest for the device and the shape.
    blocks : int
        Multiprocessors to use at most, where the kernel lets itself be held to that; 0 for all.
    times : int
        How often to do it: C and CT may be A and T.
    """
    m = C.rows - gap.size
    if m <= 0 or not C.columns:
        return
    if not A.columns:
        for part in () if accumulate else _parts(C, gap):
            clear(part)
        if CT:
            transpose(C, CT)
        return
    A, _kept_a = _operand(A)
    T, _kept_t = _operand(T)
    kernel = kernel or choose(m, C.columns)
    if kernel == "wgmma":
        _multiply_in_place(C, A, T, accumulate, CT, gap, known, blocks, times)
        return
    for c, a in [*zip(_parts(C, gap), _parts(A, gap), strict=True)] * times:
        _multiply_by_tiles(c, a, T, accumulate, CT, kernel)


def _parts(M: Bits, gap: Gap) -> list[Bits]:
    """The rows above and below a gap."""
    if not gap.size:
        return [M]
    parts = (M.part(0, gap.at, 0, M.columns), M.part(gap.at + gap.size, M.rows, 0, M.columns))
    return [part for part in parts if part.rows]


def known_tiles(A: Bits) -> tuple[Known, Any]:
    """Flags for the tiles of a matrix of which nothing is known yet, and their memory; see `choose`."""
    from cupy.cuda import get_current_stream, runtime

    if choose(A.rows, A.columns) != "wgmma":
        return NOTHING, None
    ld, across = 4 * -(-A.rows // SLAB), -(-A.columns // ACROSS)
    taken = memory(ld * across)
    runtime.memsetAsync(taken.ptr, 0, ld * across, get_current_stream().ptr)
    return Known(taken.ptr, ld), taken


def settled(C: Bits, A: Bits, T: Bits, gap: Gap, known: Known) -> tuple[Known, Any]:
    """Find the tiles of C ⊕ A ⊗ T^T that are C already: full, or without entries in A or T.

    Returns
    -------
    Known
        `known`, which has the flags of C's full tiles, and these; itself if it has none.
    object
        Memory, which must be kept until the product is launched.
    """
    g = GEOMETRIES["wgmma"]
    down, across = g.tiles(C.rows - gap.size, C.columns)
    if not known.full or not down * across:
        return known, None
    slabs = [-(-M.rows // SLAB) for M in (A, T)]
    taken = memory(sum(slabs) + down * across)
    *flags, out = taken.ptr, taken.ptr + slabs[0], taken.ptr + sum(slabs)
    for M, flag in zip((A, T), flags, strict=True):
        some(M, flag)
    words_function("settle")(
        -(-down * across // 256), 1, known.full, known.full_ld, *flags, C.rows, T.rows, *gap, g.BM // SLAB,
        down, across, out,
    )
    return known._replace(settled=out), taken


def _multiply_in_place(
    C: Bits, A: Bits, T: Bits, accumulate: bool, CT: Bits | None, gap: Gap, known: Known, blocks: int, times: int
) -> None:
    g = GEOMETRIES["wgmma"]
    down, across = g.tiles(C.rows - gap.size, C.columns)
    grid = min(down * across, blocks or multiprocessors())
    arguments = (
        *tensor_map(A, SLAB), *tensor_map(T, ACROSS), C.address, C.ld, *_place(CT),
        C.rows, 2 * C.pairs, *gap, -(-A.columns // 1024), down, across, *known, int(accumulate),
    )
    for _ in range(times):
        _wgmma(CT is not None, A.columns <= COUNTED_COLUMNS)(grid, 1, *arguments)


def _multiply_by_tiles(C: Bits, A: Bits, T: Bits, accumulate: bool, CT: Bits | None, kernel: str) -> None:
    down, across = GEOMETRIES[kernel].tiles(C.rows, C.columns)
    _tiled(kernel)(
        down * across, 1, A.address, A.ld, T.address, T.ld, C.address, C.ld, *_place(CT),
        C.rows, 2 * C.pairs, T.rows, 8 * A.pairs, down, across, int(accumulate),
    )


def _place(matrix: Bits | None) -> tuple[int, int]:
    return (matrix.address, matrix.ld) if matrix else (0, 0)


class MappedFunction(Function):
    """A kernel whose first two arguments are tensor maps, given as `MAPPED` numbers each."""

    def begins(self, count: int) -> Iterable[int]:
        """The numbers with which arguments begin."""
        return [0, MAPPED, *range(2 * MAPPED, count)]


@lru_cache(4)
def _wgmma(both: bool, short: bool) -> MappedFunction:
    g = GEOMETRIES["wgmma"]
    return MappedFunction(module_of(g), "multiply_bits" + "_both" * both + "_short" * short, g.threads, g.shared)


@lru_cache(4)
def _tiled(kernel: str) -> Function:
    g = GEOMETRIES[kernel]
    return module_of(g).function("multiply_bits", g.threads, g.shared)


@lru_cache(4096)
def tensor_map(M: Bits, rows: int) -> tuple[int, ...]:
    """What the copy engine needs to know of a matrix of which it fetches boxes of 128 bytes × `rows`."""
    room = (c_ubyte * 192)()
    address = (addressof(room) + 63) & ~63
    status = _encoder()(
        address, _BYTES, 2, M.address, (c_ulonglong * 2)(8 * M.pairs, M.rows), (c_ulonglong * 1)(M.ld),
        (c_uint * 2)(128, rows), (c_uint * 2)(1, 1), _NOT_INTERLEAVED, _SWIZZLE_128, _PROMOTE_256, _ZEROS_OUTSIDE,
    )
    if status:
        raise RuntimeError(f"the driver refused a tensor map of {M} with status {status}")
    return unpack("<16Q", string_at(address, 128))


# As in the driver's header.
_BYTES, _NOT_INTERLEAVED, _SWIZZLE_128, _PROMOTE_256, _ZEROS_OUTSIDE = 0, 0, 3, 3, 0


@lru_cache(1)
def _encoder() -> Any:
    driver = CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    encode = driver.cuTensorMapEncodeTiled
    sizes, boxes = POINTER(c_ulonglong), POINTER(c_uint)
    encode.argtypes = [c_void_p, c_uint, c_uint, c_void_p, sizes, sizes, boxes, boxes, *[c_uint] * 4]
    return encode


def _operand(M: Bits) -> tuple[Bits, Any]:
    """The matrix, or a copy whose rows begin where kernels read them, and the copy's memory."""
    if M.is_aligned:
        return M, None
    copied, taken = scratch(M.rows, M.columns)
    copy(copied, M)
    return copied, taken
