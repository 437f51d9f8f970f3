"""Instructions on vectors of eight words, compiled, against Python's integers and NumPy."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.kernels.cpu.bits import vectors
from semiring.kernels.cpu.bits.vectors import (
    PIVOTS,
    SUBSET,
    TABLES,
    VECTOR,
    compiled,
    disjoin,
    load,
    load_byte,
    lookup,
    meet,
    pack_bytes,
    remove,
    store,
    store_byte,
    transpose_tile,
    unpack_bytes,
)
from semiring.kernels.cpu.compile.raw import trailing_zeros

quick = settings(max_examples=80)
WORDS = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63, 2**64 - 1]) | st.integers(0, 63).map(lambda b: 1 << b)
VECTORS = st.lists(WORDS, min_size=VECTOR, max_size=VECTOR).map(lambda words: np.array(words, np.uint64))


@compiled
def unite(target: int, left: int, right: int) -> None:
    disjoin(target, left, right)


@compiled
def subtract(target: int, source: int) -> None:
    remove(target, source)


@compiled
def shared(left: int, right: int) -> Any:
    return meet(left, right)


@compiled
def add_subsets(target: int, tables: int, word: Any) -> None:
    lookup(target, tables, word)


@compiled
def of_words(source: int, target: int, lowest: Any) -> None:
    """Copy a vector, and say where the lowest bit of each word is that has one."""
    for i in range(len(lowest)):
        word = load(source + 8 * i)
        store(target + 8 * i, word)
        lowest[i] = trailing_zeros(word) if word else -1


@compiled
def pack(source: int) -> Any:
    return pack_bytes(source)


@compiled
def unpack(target: int, word: Any) -> None:
    unpack_bytes(target, word)


@compiled
def transpose(tile: int) -> None:
    transpose_tile(tile)


@compiled
def copy_byte(source: int, target: int) -> None:
    store_byte(target, load_byte(source))


@quick
@given(VECTORS, VECTORS)
def test_of_two_vectors(x: np.ndarray, y: np.ndarray) -> None:
    result = np.zeros(VECTOR, np.uint64)
    unite(result.ctypes.data, x.ctypes.data, y.ctypes.data)
    assert (result == (x | y)).all()
    assert shared(x.ctypes.data, y.ctypes.data) == sum(1 << i for i in range(VECTOR) if x[i] & y[i])
    lowest = np.zeros(VECTOR, np.int64)
    of_words(x.ctypes.data, result.ctypes.data, lowest)
    assert (result == x).all()
    assert lowest.tolist() == [w and (w & -w).bit_length() - 1 if w else -1 for w in x.tolist()]
    subtract(result.ctypes.data, y.ctypes.data)
    assert (result == (x & ~y)).all()
    unite(x.ctypes.data, x.ctypes.data, y.ctypes.data)  # in place
    assert (x & y == y).all()


@quick
@given(WORDS, st.integers(0, 2**32 - 1), VECTORS)
def test_look_ups(word: int, seed: int, before: np.ndarray) -> None:
    """Any tables: the row of each that six bits of the word name, the last four in the last."""
    assert SUBSET * (TABLES - 1) < PIVOTS <= SUBSET * TABLES
    tables = np.random.default_rng(seed).integers(0, 2**64, (TABLES, 2**SUBSET, VECTOR), np.uint64)
    result = before.copy()
    add_subsets(result.ctypes.data, tables.ctypes.data, np.uint64(word))
    named = [tables[t, word >> SUBSET * t & (1 << SUBSET) - 1] for t in range(TABLES)]
    assert (result == reduce(or_, named, before)).all()


@pytest.mark.parametrize("skip", [0, 1, 3, 8])
@quick
@given(word=WORDS)
def test_bytes_at_any_address(skip: int, word: int) -> None:
    room = np.full(64 + 16, 7, np.uint8)
    unpack(room[skip:].ctypes.data, np.uint64(word))
    assert room[skip : skip + 64].tolist() == [word >> j & 1 for j in range(64)]
    assert (room[:skip] == 7).all() and (room[skip + 64 :] == 7).all()
    room[skip : skip + 64] *= 130  # whatever is not zero is true
    assert pack(room[skip:].ctypes.data) == word


@quick
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.02, 0.5, 1]))
def test_transposes(seed: int, density: float) -> None:
    bits = np.random.default_rng(seed).random((64, 64)) < density
    tile = np.packbits(bits, axis=1, bitorder="little").view("<u8").reshape(64).astype(np.uint64)
    room = np.full(64 + 2, 99, np.uint64)
    room[1:-1] = tile
    transpose(room[1:].ctypes.data)
    found = np.unpackbits(room[1:-1].astype("<u8").view("u1").reshape(64, 8), axis=1, bitorder="little")
    assert (found == bits.T).all() and room[[0, -1]].tolist() == [99, 99]


def test_one_bit_of_a_tile_at_a_time() -> None:
    """Every stage of the exchange by itself."""
    for i in range(64):
        for j in (0, 1, 2, 7, 8, 31, 32, 63):
            tile = np.zeros(64, np.uint64)
            tile[i] = np.uint64(1 << j)
            transpose(tile.ctypes.data)
            assert np.flatnonzero(tile).tolist() == [j] and int(tile[j]) == 1 << i


def test_single_bytes() -> None:
    room = np.array([1, 200, 3], np.uint8)
    copy_byte(room.ctypes.data + 1, room.ctypes.data)
    assert room.tolist() == [200, 200, 3]


def test_what_is_compiled_lets_other_threads_run_and_is_kept() -> None:
    for function in (unite, vectors.compiled(lambda x: x)):
        assert function.targetoptions["nogil"] and function.targetoptions["error_model"] == "numpy"
        assert type(function._cache).__name__ == "MachineCode"
