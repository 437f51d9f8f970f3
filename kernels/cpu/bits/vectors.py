"""Instructions on vectors of eight words, 512 columns of one packed row: loads, unions, table look-ups, transposes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from semiring.kernels.blocks.bits import ROW_WORDS, WORD
from semiring.kernels.cpu.compile.jit import njit

VECTOR = ROW_WORDS  # words of a vector
PIVOTS = WORD  # pivots taken at once: one word of A
SUBSET = 6  # rows of B in one table: 64 vectors
TABLES = -(-PIVOTS // SUBSET)
LANES = ir.VectorType(ir.IntType(64), VECTOR)
BYTES = ir.VectorType(ir.IntType(8), WORD)
WORD_TYPE = ir.IntType(64)


def compiled(function: Callable[..., Any]) -> Any:
    """Compile on the first call, without the GIL, and keep the machine code on disk."""
    return njit(nogil=True, error_model="numpy", cache=True)(function)


# Instructions on raw addresses; LLVM turns the vectors into whatever registers the machine has.

instruction: Any = intrinsic  # a type checker would ask the callers for the typing context


def _at(builder: Any, address: Any, kind: Any, offset: int = 0) -> Any:
    return builder.inttoptr(builder.add(address, WORD_TYPE(offset)), kind.as_pointer())


@instruction
def load(typingctx: Any, address: Any) -> Any:
    """The word at an address."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_at(builder, arguments[0], WORD_TYPE), align=8)

    return types.uint64(types.int64), emit


@instruction
def store(typingctx: Any, address: Any, word: Any) -> Any:
    """Write the word at an address."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[1], _at(builder, arguments[0], WORD_TYPE), align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.uint64), emit


@instruction
def disjoin(typingctx: Any, target: Any, left: Any, right: Any) -> Any:
    """target ← left | right, one vector each."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, left, right = (_at(builder, address, LANES) for address in arguments)
        builder.store(builder.or_(builder.load(left, align=8), builder.load(right, align=8)), target, align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), emit


@instruction
def remove(typingctx: Any, target: Any, source: Any) -> Any:
    """target ← target & ~source, one vector each."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, source = (_at(builder, address, LANES) for address in arguments)
        kept = builder.and_(builder.load(target, align=8), builder.not_(builder.load(source, align=8)))
        builder.store(kept, target, align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), emit


@instruction
def meet(typingctx: Any, left: Any, right: Any) -> Any:
    """Which of the eight words of two vectors share a bit: one bit a word."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        left, right = (builder.load(_at(builder, address, LANES), align=8) for address in arguments)
        shared = builder.icmp_unsigned("!=", builder.and_(left, right), LANES(None))
        return builder.zext(builder.bitcast(shared, ir.IntType(VECTOR)), WORD_TYPE)

    return types.uint64(types.int64, types.int64), emit


@instruction
def lookup(typingctx: Any, target: Any, tables: Any, word: Any) -> Any:
    """target ← target | the rows of the tables that the bits of a word name."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, tables, word = arguments
        pointer = _at(builder, target, LANES)
        result = builder.load(pointer, align=8)
        for table in range(TABLES):
            subset = builder.and_(builder.lshr(word, WORD_TYPE(SUBSET * table)), WORD_TYPE((1 << SUBSET) - 1))
            row = builder.add(tables, builder.mul(subset, WORD_TYPE(8 * VECTOR)))
            entry = _at(builder, row, LANES, (8 * VECTOR << SUBSET) * table)
            result = builder.or_(result, builder.load(entry, align=8))
        builder.store(result, pointer, align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.uint64), emit


@instruction
def pack_bytes(typingctx: Any, address: Any) -> Any:
    """64 bytes as a word: a bit is set where the byte is not zero."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        entries = builder.load(_at(builder, arguments[0], BYTES), align=1)
        return builder.bitcast(builder.icmp_unsigned("!=", entries, BYTES(None)), WORD_TYPE)

    return types.uint64(types.int64), emit


@instruction
def unpack_bytes(typingctx: Any, address: Any, word: Any) -> Any:
    """Write the 64 bits of a word as bytes of 0 and 1."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bits = builder.bitcast(arguments[1], ir.VectorType(ir.IntType(1), WORD))
        builder.store(builder.zext(bits, BYTES), _at(builder, arguments[0], BYTES), align=1)
        return context.get_dummy_value()

    return types.void(types.int64, types.uint64), emit


@instruction
def transpose_tile(typingctx: Any, address: Any) -> Any:
    """Transpose 64 × 64 bits, 64 adjacent words, in place: swap blocks of 32, 16, … 1 off the diagonal."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def every(value: int) -> Any:
            return ir.Constant(LANES, [WORD_TYPE(value)] * VECTOR)

        pointers = [_at(builder, arguments[0], LANES, 8 * VECTOR * i) for i in range(WORD // VECTOR)]
        rows = [builder.load(pointer, align=8) for pointer in pointers]
        block = WORD // 2
        while block:
            low = sum(1 << bit for bit in range(WORD) if not bit & block)  # columns of the left blocks
            shift, distance = every(block), block // VECTOR
            if distance:  # the rows to swap lie in two vectors
                for upper in (i for i in range(WORD // VECTOR) if not i & distance):
                    lower = upper + distance
                    swapped = builder.xor(builder.lshr(rows[upper], shift), rows[lower])
                    swapped = builder.and_(swapped, every(low))
                    rows[lower] = builder.xor(rows[lower], swapped)
                    rows[upper] = builder.xor(rows[upper], builder.shl(swapped, shift))
            else:  # in two lanes of one vector
                partners = ir.Constant(
                    ir.VectorType(ir.IntType(32), VECTOR), [ir.IntType(32)(i ^ block) for i in range(VECTOR)]
                )
                is_upper = [not i & block for i in range(VECTOR)]
                kept = ir.Constant(LANES, [WORD_TYPE(low if upper else low << block) for upper in is_upper])
                chosen = ir.Constant(ir.VectorType(ir.IntType(1), VECTOR), [ir.IntType(1)(upper) for upper in is_upper])
                for i, row in enumerate(rows):
                    other = builder.shuffle_vector(row, ir.Constant(LANES, ir.Undefined), partners)
                    from_lower = builder.shl(builder.and_(other, every(low)), shift)
                    from_upper = builder.and_(builder.lshr(other, shift), every(low))
                    moved = builder.select(chosen, from_lower, from_upper)
                    rows[i] = builder.or_(builder.and_(row, kept), moved)
            block //= 2
        for pointer, row in zip(pointers, rows, strict=True):
            builder.store(row, pointer, align=8)
        return context.get_dummy_value()

    return types.void(types.int64), emit


@instruction
def load_byte(typingctx: Any, address: Any) -> Any:
    """The byte at an address."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_at(builder, arguments[0], ir.IntType(8)))

    return types.uint8(types.int64), emit


@instruction
def store_byte(typingctx: Any, address: Any, value: Any) -> Any:
    """Write the byte at an address."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[1], _at(builder, arguments[0], ir.IntType(8)))
        return context.get_dummy_value()

    return types.void(types.int64, types.uint8), emit
