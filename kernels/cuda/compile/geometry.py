"""The numbers of each kernel's geometry: tiles of products, and threads of closures."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache

LIGHT = 8  # instructions of a ⊕ and a ⊗ up to which 64 of each and more are written out
SHORT = 2  # … up to which reading registers takes as long as computing, so that it counts in which banks they are
WRITTEN = 48  # … steps of k times them: an inner loop of 64 elements then has 48 KB, which can be fetched in time
SMALL_THREADS = 128  # of a block that closes several small matrices
LARGEST_STACKED = 128  # order up to which a matrix of a stack is closed by one block of threads


@dataclass(frozen=True)
class ProductGeometry:
    """How the tiled product is cut; product.cu has the picture."""

    TM: int  # rows of C that a thread holds
    TN: int  # columns of C that a thread holds
    WM: int  # warps of a block, one below the other
    WN: int  # warps of a block, side by side
    BK: int  # steps of k that are in shared memory at once
    STAGES: int  # tiles of A and B in shared memory: one is read, the others arrive
    RESIDENT: int  # blocks that should fit in a multiprocessor, which limits their registers
    VECTOR: int  # elements that a thread loads at once
    UNROLL: int  # steps of k that are written out
    LM: int = 8  # lanes of a warp, one below the other
    LN: int = 4  # lanes of a warp, side by side
    PAIRED: bool = False  # whether rows of whole tiles of B lie two in one another in shared memory

    @property
    def BM(self) -> int:
        """Rows of C that a block computes."""
        return self.TM * self.LM * self.WM

    @property
    def BN(self) -> int:
        """Columns of C that a block computes."""
        return self.TN * self.LN * self.WN

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return 32 * self.WM * self.WN

    def shared_bytes(self, size: int) -> int:
        """Shared memory of a block for elements of `size` bytes."""
        return self.STAGES * (self.BM * (self.BK * size + 16) + self.BK * self.BN * size)

    def has_whole_tiles(self, size: int) -> bool:
        """Whether whole tiles are copied in runs of 16 bytes, the same number for every thread."""
        across_a, across_b = self.BK * size // 16, self.BN * size // 16
        if size & (size - 1) or self.threads % across_a or self.threads % across_b:
            return False
        return self.BM % (self.threads // across_a) == 0 and self.BK % (self.threads // across_b) == 0

    def constants(self) -> str:
        """The text of the numbers."""
        numbers = asdict(self) | {"BM": self.BM, "BN": self.BN}
        return "".join(f"constexpr int {name} = {int(value)};\n" for name, value in numbers.items())


@dataclass(frozen=True)
class CloseGeometry:
    """How a block is closed; close.cu has the picture."""

    ORDER: int  # rows and columns of the block
    SIDE: int  # threads along each of its sides
    GROUP: int  # elements of a row that a thread loads at once
    UNROLL: int  # steps of k, by the vector, that the product of two blocks writes out
    RESIDENT: int = 1  # blocks of a stack that should fit in a multiprocessor, which limits their registers
    MATRICES: int = 1  # of a stack that a block of threads closes

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.SIDE**2 * self.MATRICES

    def shared_bytes(self, size: int) -> int:
        """Shared memory that `panels` and `rest` ask for: two blocks."""
        return 2 * self.ORDER * ((self.ORDER * size + 31) // 16 * 16)

    def constants(self) -> str:
        """The text of the numbers."""
        return "".join(f"constexpr int {name} = {value};\n" for name, value in asdict(self).items())


def _power_of_two(limit: float) -> int:
    """The largest that is not above a limit."""
    return 1 << int(limit).bit_length() - 1


@lru_cache(256)
def product_geometries(size: int, weight: float) -> tuple[ProductGeometry, ProductGeometry, ProductGeometry]:
    """For elements of `size` bytes, the geometry for large products, for products of few tiles, and for short sides.

    64 registers of accumulators a thread for the first, 32 for the second, whose blocks have twice the threads for
    their work; 16 elements where a ⊕ and a ⊗ take many instructions (`weight`), written out for every element and step.
    The third cuts stacks of small matrices with little waste: its tiles have 32 rows and columns, or fewer.
    """
    light = weight <= LIGHT
    if size in (1, 2, 4) and light:
        unroll = min(32, max(4, _power_of_two(WRITTEN / weight)))
        paired = size == 4 and weight <= SHORT
        return (
            ProductGeometry(8, 8, 2, 4, 32, 2, 2, 4, unroll, PAIRED=paired),
            ProductGeometry(8, 4, 1, 4, 32, 2, 4, 4, unroll, PAIRED=paired),
            ProductGeometry(4, 4, 1, 2, 32, 2, 12, 4, unroll, PAIRED=paired),
        )
    if size == 8 and light:
        unroll = min(16, max(2, _power_of_two(2 * WRITTEN / weight)))
        return (
            ProductGeometry(8, 4, 2, 4, 16, 3, 2, 2, unroll), ProductGeometry(4, 4, 2, 2, 16, 3, 4, 2, unroll),
            ProductGeometry(4, 4, 1, 2, 16, 3, 8, 2, unroll),
        )
    rows, columns = (4, 4) if size <= 16 else (4, 2) if size <= 32 else (2, 2)
    vector = 4 if size in (1, 2, 4) else 2 if size == 8 else 1
    depth = 32 if size in (1, 2, 4) else 16 if size <= 8 else 8
    large, small = (ProductGeometry(rows, columns, m, n, depth, 2, 1, vector, vector) for m, n in ((2, 4), (1, 2)))
    return large, small, small


@lru_cache(256)
def narrow_geometries(size: int, weight: float) -> tuple[ProductGeometry, ProductGeometry] | None:
    """Tiles of 16 rows, and of 16 columns, for products of few of these; None for elements with few in any tile."""
    if size not in (4, 8) or weight > LIGHT:
        return None
    depth, vector, columns = (32, 4, 4) if size == 4 else (16, 2, 2)
    unroll = min(depth, max(vector, _power_of_two(2 * WRITTEN / weight)))
    return (
        ProductGeometry(4, columns, 1, 4, depth, 2, 5, vector, unroll, LM=4, LN=8),
        ProductGeometry(4, 4, 4, 1, depth, 2, 5, vector, unroll),
    )


@lru_cache(256)
def panel_geometry(size: int, light: bool) -> CloseGeometry:
    """The pivot block of a closure: two such blocks of elements fit in shared memory."""
    order, side = (64, 16) if size <= 8 else (32, 16) if size <= 32 else (16, 8)
    return CloseGeometry(order, side, min(_group(size), order // side), 4 if light else 1)


@lru_cache(256)
def stack_geometry(size: int, n: int, light: bool) -> CloseGeometry:
    """For matrices of order n in a stack: as few threads as hold them in registers.

    Where these are 128 registers a thread, the compiler is held to them: 512 threads of several blocks then fit on a
    multiprocessor (1,000 of 128 rows: 9.3 T, 8.1 T with one block).
    """
    order = max(8, 1 << (n - 1).bit_length())
    if order < 32 and size <= 8:
        return CloseGeometry(order, order // 4, _group(size), 1, 1, SMALL_THREADS * 16 // order**2)
    order = max(order, 32)
    per = 8 if size <= 4 and order > 32 and light else 4 if size <= 8 or order == LARGEST_STACKED else 2
    return CloseGeometry(order, order // per, _group(size), 1, 512 * per**2 // order**2 if per == 8 else 1)


def _group(size: int) -> int:
    return 4 if size in (1, 2, 4) else 2
