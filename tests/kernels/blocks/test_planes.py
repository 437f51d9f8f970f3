"""Planes as the numbers whose bits they are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from semiring.kernels.blocks.bits import PackedRows
from semiring.kernels.blocks.planes import Planes


def made(array: np.ndarray, count: int) -> Planes:
    """The lowest bits of an array, each as a packed matrix, handed over one by one."""
    columns = array.shape[1]
    padded = np.zeros((len(array), -(-columns // 64) * 64), bool)

    def plane(bit: int) -> PackedRows:
        padded[:, :columns] = array >> bit & 1
        return PackedRows(np.packbits(padded, axis=1, bitorder="little").view("<u8"), columns)

    return Planes(plane(bit) for bit in range(count))


def numbers(planes: Planes) -> list[list[int]]:
    found = []
    for i in range(planes.shape[0]):
        bits = [int.from_bytes(plane.words[i].tobytes(), "little") for plane in planes.planes]
        found.append([sum((b >> j & 1) << k for k, b in enumerate(bits)) for j in range(planes.shape[1])])
    return found


@given(
    st.integers(1, 9), st.integers(0, 3), st.sampled_from([1, 63, 64, 65, 130]), st.integers(0, 2**32 - 1),
    st.tuples(*[st.integers(0, 130)] * 4),
)
def test_a_block_has_the_same_columns_of_every_plane(
    count: int, rows: int, columns: int, seed: int, ends: tuple[int, int, int, int]
) -> None:
    array = np.random.default_rng(seed).integers(0, 2**count, (rows, columns))
    planes = made(array, count)
    assert planes.shape == (rows, columns) and len(planes.planes) == count
    assert numbers(planes) == array.tolist()
    part = slice(*ends[:2]), slice(*ends[2:])
    assert planes[part].shape == array[part].shape
    assert numbers(planes[part]) == array[part].tolist()


def test_a_block_of_whole_words_shares_them() -> None:
    planes = made(np.full((3, 200), 5), 3)
    part = planes[1:3, 64:128]
    for whole, some in zip(planes.planes, part.planes, strict=True):
        assert np.shares_memory(whole.words, some.words)
        some.words[:] = 0
    assert [row[64] for row in numbers(planes)] == [5, 0, 0]
    assert [row[63] for row in numbers(planes)] == [5, 5, 5]
