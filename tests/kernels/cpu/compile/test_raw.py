"""Loads, stores and single instructions on addresses, compiled, against NumPy's views of the same memory."""

from __future__ import annotations

import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import TypingError
from numba.core.errors import RequireLiteralValue

from semiring.kernels.cpu.compile.jit import njit
from semiring.kernels.cpu.compile.raw import (
    ANY,
    PANEL,
    ROW_0,
    as_element,
    combine_block,
    fetch,
    first_component,
    floor,
    fma,
    fold,
    load,
    load_block,
    put,
    record_dtype,
    select,
    store,
    take,
    wide_vectors,
)

compiled = njit(error_model="numpy", nogil=True, cache=True)
i8, u1, f4 = np.int64, np.uint8, np.float32
RECORD = record_dtype([i8, u1, f4])  # with three bytes of padding
MIXED = np.array([(2**62, 255, 0.5), (-3, 0, -np.inf), (7, 9, np.nan)], RECORD)


@compiled
def copy_records(source: int, target: int, n: int) -> None:
    """In a matrix, the last one first."""
    for i in range(n):
        put((i8, u1, f4), target, n - 1 - i, fetch((i8, u1, f4), source, i))


@compiled
def pack_records(source: int, target: int, plane: int, n: int) -> None:
    for i in range(n):
        store((i8, u1, f4), target, plane, i, PANEL, fetch((i8, u1, f4), source, i))


@compiled
def unpack_records(source: int, plane: int, target: int, n: int) -> None:
    for i in range(n):
        put((i8, u1, f4), target, i, load((i8, u1, f4), source, plane, i, ROW_0))


@compiled
def copy_scalars(source: int, packed: int, target: int, n: int) -> None:
    for i in range(n):
        store(f4, packed, n, i, ANY, fetch(f4, source, i))
    for i in range(n):
        put(f4, target, i, load(f4, packed, n, i, ANY))


def test_records_in_a_matrix_are_aligned_structures() -> None:
    room = np.full(3 * RECORD.itemsize, 77, "u1").view(RECORD)
    copy_records(MIXED.ctypes.data, room.ctypes.data, 3)
    assert room.tolist()[:2] == [(7, 9, pytest.approx(np.nan, nan_ok=True)), MIXED.tolist()[1]]
    assert room[2] == MIXED[0]


def test_packed_records_are_planes() -> None:
    """All first components, then all second ones, then all third ones, with room for four elements each."""
    room = np.zeros(4 * (8 + 1 + 4), "u1")
    pack_records(MIXED.ctypes.data, room.ctypes.data, 4, 3)
    assert room[:32].view("i8").tolist() == [2**62, -3, 7, 0]
    assert room[32:36].tolist() == [255, 0, 9, 0]
    np.testing.assert_array_equal(room[36:].view("f4"), np.array([0.5, -np.inf, np.nan, 0], "f4"))
    back = np.zeros(3, RECORD)
    unpack_records(room.ctypes.data, 4, back.ctypes.data, 3)
    for field in RECORD.names:
        np.testing.assert_array_equal(back[field], MIXED[field])


inline = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)


@inline
def step(x: Any, a: Any, b: Any, unit: Any) -> Any:
    return as_element((i8, f4), (x[0] * unit + a[0] * b[0], min(x[1], a[1] + b[1])))


@compiled
def three_rows(a: int, b: int, c: int, width: int) -> None:
    """Two steps of a product of 3 × 2 and 2 × width elements."""
    left = load_block((i8, f4), a, 6, 0, 2, 3, 2)
    for j in range(width):
        combine_block((i8, f4), step, left, 3, b, 2 * width, j, c, 3 * width, j, width, 1)


@given(st.integers(1, 9), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_a_block_of_rows_takes_a_block_of_steps(width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)

    def packed(rows: int, columns: int) -> tuple[np.ndarray, list[np.ndarray]]:
        parts = [rng.integers(-9, 9, (rows, columns)), rng.integers(-9, 9, (rows, columns)).astype(f4)]
        memory = np.frombuffer(bytearray(parts[0].tobytes() + parts[1].tobytes()), "u1")
        return memory, parts

    (a, A), (b, B), (c, C) = packed(3, 2), packed(2, width), packed(3, width)
    three_rows(a.ctypes.data, b.ctypes.data, c.ctypes.data, width)
    wanted = C[0] + A[0] @ B[0], np.minimum(C[1], (A[1][:, :, None] + B[1][None]).min(1))
    assert c.tobytes() == wanted[0].tobytes() + wanted[1].tobytes()


@inline
def digit(state: Any, item: Any, base: int, ends: int) -> Any:
    number, count = state
    return number * base + item[0] - ends * item[1], count + 1


@compiled
def read_digits(a: int, b: int, c: int, base: int, found: Any) -> None:
    found[0], found[1] = fold(digit, (0, 0), ((a, 1),), (base, 0))
    found[2], found[3] = fold(digit, (0, 0), ((a, 1), (b, 2), (c, 3)), (base, 1))


@given(st.integers(-9, 9), st.integers(-9, 9), st.integers(-9, 9), st.integers(-9, 9))
@settings(max_examples=30)
def test_items_are_taken_one_after_the_other(a: int, b: int, c: int, base: int) -> None:
    found = np.zeros(4, i8)
    read_digits(a, b, c, base, found)
    assert found.tolist() == [a, 1, ((a - 1) * base + b - 2) * base + c - 3, 3]


def test_scalars_are_at_their_index() -> None:
    some = np.array([1.5, -0.0, np.inf, 3], "f4")
    packed, back = np.zeros(4, "f4"), np.zeros(4, "f4")
    copy_scalars(some.ctypes.data, packed.ctypes.data, back.ctypes.data, 4)
    assert some.tobytes() == packed.tobytes() == back.tobytes()
    copy_scalars(some.ctypes.data, packed.ctypes.data, back[1:].ctypes.data, 0)
    assert some.tobytes() == back.tobytes()


def test_a_region_is_known_when_it_is_compiled() -> None:
    @njit()
    def unknown(address: int, region: int) -> Any:
        return load(f4, address, 1, 0, region)

    with pytest.raises((RequireLiteralValue, TypingError), match="must be a literal"):
        unknown(np.zeros(1, "f4").ctypes.data, 2)


@pytest.mark.parametrize(("components", "size"), [
    (["f4"], 4), (["?"], 1), (["f8", "f8"], 16), (["u1", "f8"], 16), (["i8", "u1", "f4"], 16), (["u1", "u2", "u1"], 6),
])
def test_structures(components: list[str], size: int) -> None:
    dtype = record_dtype(components)
    assert dtype.itemsize == size and dtype.isalignedstruct == (len(components) > 1)
    assert [dtype[f] for f in dtype.names or ()] == ([] if len(components) == 1 else list(map(np.dtype, components)))
    assert dtype.names is not None or dtype == np.dtype(components[0])


@compiled
def instructions(x: Any, y: Any, z: Any, out: Any) -> None:
    for i in range(len(x)):
        out[0, i] = fma(x[i], y[i], z[i])
        out[1, i] = floor(x[i])
        out[2, i] = select(x[i] < y[i], z[i], x[i])


def nearest(exact: Fraction) -> float:
    return exact.numerator / exact.denominator  # Python rounds it once


numbers = st.floats(-(2.0**60), 2.0**60).filter(lambda x: x == 0 or abs(x) > 1e-60)


@settings(max_examples=100)
@given(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=6))
def test_instructions(triples: list[tuple[float, float, float]]) -> None:
    x, y, z = np.array(triples).T.copy()
    out = np.empty((3, len(x)))
    instructions(x, y, z, out)
    for (p, q, r), fused, below, chosen in zip(triples, *out.tolist(), strict=True):
        assert fused == nearest(Fraction(p) * Fraction(q) + Fraction(r))
        assert below == Fraction(p).__floor__()
        assert chosen == (r if p < q else p)


def test_instructions_on_special_values() -> None:
    """Rounded once: 1 + 2⁻⁵² less than what two roundings would make of it; floor leaves infinities alone."""
    tiny = 2.0**-52
    x, y, z = np.array([[1 + tiny, 1 - tiny, -1], [np.inf, 1, 0], [-np.inf, 0, 5], [-0.0, 1, -0.0], [np.nan, 1, 2]]).T
    out = np.empty((3, 5))
    instructions(x.copy(), y.copy(), z.copy(), out)
    assert out[0].tolist()[:2] == [-(tiny**2), np.inf] and np.isnan(out[0, [2, 4]]).all()
    assert out[1].tolist()[:4] == [1, np.inf, -np.inf, 0] and np.signbit(out[1, 3]) and np.isnan(out[1, 4])
    assert out[2].tolist()[1:4] == [np.inf, 5, -0.0] and np.isnan(out[2, 4])


@compiled
def narrowed(x: Any, y: Any) -> Any:
    """Numba's sum of two bytes is a 64-bit integer."""
    return as_element(u1, x + y), first_component((f4, i8), 3), as_element((u1, f4), (x + y, 2))


def test_elements_have_the_types_of_their_components() -> None:
    assert narrowed(np.uint8(200), np.uint8(100)) == (44, 3.0, (44, 2.0))
    (signature,) = narrowed.nopython_signatures
    assert str(signature.return_type) == "Tuple(uint8, float32, Tuple(uint8, float32))"


@compiled
def take_all(counter: int, most: int, taken: Any) -> int:
    count = 0
    while True:
        number = take(counter)
        if number >= most:
            return count
        taken[number] += 1
        count += 1


def test_each_number_is_taken_once() -> None:
    most, counter = 20_000, np.array([5])
    taken, counts = np.zeros(most, "i4"), []
    workers = [
        threading.Thread(target=lambda: counts.append(take_all(counter.ctypes.data, most, taken))) for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert sum(counts) == most - 5 and counter[0] == most + 4
    assert (taken[:5] == 0).all() and (taken[5:] == 1).all()


@njit(error_model="numpy")  # cached code does not show its text
def total(source: int, n: int) -> float:
    wide_vectors()
    sum_ = f4(0)
    for i in range(n):
        sum_ += load(f4, source, 0, i, ANY)
    return sum_


def test_whole_registers_are_asked_for() -> None:
    values = np.arange(40, dtype="f4")
    assert total(values.ctypes.data, 40) == values.sum()
    (text,) = total.inspect_llvm().values()
    assert '"prefer-vector-width"="512"' in text
