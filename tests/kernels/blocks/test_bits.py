"""Rows of bits against Python's integers, whose bits they should be: storage, counts, blocks, and operations."""

from __future__ import annotations

from collections.abc import Callable
from operator import and_, iand, ior, ixor, or_, xor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.errors import SemiringError
from semiring.kernels.blocks import bits as module
from semiring.kernels.blocks.bits import ROW_WORDS, WORD, PackedRows, block, check_writable, frozen, row_words

quick = settings(max_examples=80)
COLUMNS = st.one_of(st.sampled_from([0, 1, 63, 64, 65, 127, 128, 511, 512, 513]), st.integers(0, 200))


def packed(numbers: list[int], columns: int, width: int | None = None, step: int = 1) -> PackedRows:
    """A row for each number; of so many words a row, and every `step`-th row of a larger matrix."""
    width = -(-columns // WORD) if width is None else width
    words = np.full((max(len(numbers) * step, 1), width), 0xDEAD, np.uint64)
    for i, number in enumerate(numbers):
        words[i * step] = np.frombuffer(number.to_bytes(8 * width, "little"), "<u8")
    return PackedRows(words[: len(numbers) * step : step], columns)


def numbers(matrix: PackedRows) -> list[int]:
    """The number that each row is, padding included."""
    return [int.from_bytes(np.ascontiguousarray(row, "<u8").tobytes(), "little") for row in matrix.words]


@st.composite
def rows(draw: st.DrawFn, count: int = 1) -> Any:
    """Rows of bits of one shape, each matrix in words of its own making, and the number of columns."""
    columns, height = draw(COLUMNS), draw(st.integers(0, 4))
    found = []
    for _ in range(count):
        some = draw(st.lists(st.integers(0, 2**columns - 1), min_size=height, max_size=height))
        width = -(-columns // WORD) + draw(st.integers(0, 2))
        found.append((some, packed(some, columns, width, draw(st.sampled_from([1, 3])))))
    return columns, found


@quick
@given(rows(2), st.sampled_from([(or_, ior), (and_, iand), (xor, ixor)]))
def test_entry_by_entry(given_rows: Any, operations: tuple[Callable[..., Any], Callable[..., Any]]) -> None:
    _, ((x, A), (y, B)) = given_rows
    of_two, in_place = operations
    expected = [of_two(p, q) for p, q in zip(x, y, strict=True)]
    C = of_two(A, B)
    assert numbers(C) == expected and C.shape == A.shape
    assert (numbers(A), numbers(B)) == (x, y)
    assert in_place(A, B) is A
    assert numbers(A) == expected and numbers(B) == y
    assert (A == B) == (expected == y)


@quick
@given(rows())
def test_one_matrix(given_rows: Any) -> None:
    columns, ((x, A),) = given_rows
    everything = 2**columns - 1
    assert numbers(~A) == [everything ^ p for p in x]
    assert A.row_degrees().tolist() == [p.bit_count() for p in x]
    assert A.count() == sum(p.bit_count() for p in x)
    assert A.density == A.count() / max(columns * len(x), 1)
    B = A.copy()
    assert numbers(B) == x and B == A and not np.shares_memory(A.words, B.words)
    if x and columns:
        B.words[-1, (columns - 1) // WORD] ^= np.uint64(1 << (columns - 1) % WORD)
        assert B != A and A != B


@quick
@given(rows(), st.data())
def test_a_block_is_a_view_where_its_columns_are_whole_words(given_rows: Any, data: st.DataObject) -> None:
    columns, ((x, A),) = given_rows
    edges = st.one_of(st.integers(0, columns), st.sampled_from(range(0, columns + 1, WORD)))
    left, right = sorted(data.draw(st.tuples(edges, edges)))
    top, bottom = sorted(data.draw(st.tuples(*[st.integers(0, len(x))] * 2)))
    B = block(A, top, bottom, left, right)
    mask = 2 ** (right - left) - 1
    assert B.shape == (bottom - top, right - left)
    assert numbers(B) == [p >> left & mask for p in x[top:bottom]]  # and no bit beyond
    whole = left % WORD == 0 and (right % WORD == 0 or right == columns)
    if bottom > top and right > left:
        assert np.shares_memory(B.words, A.words) == whole
        assert B.words.flags.writeable == whole


def test_slices_are_those_of_sequences() -> None:
    A = packed([1, 2, 4, 8, 16], 200)
    for part in (slice(None), slice(-2, None), slice(1, 3), slice(4, 2), slice(-9, 99)):
        assert numbers(A[part, :]) == [1, 2, 4, 8, 16][part]
        assert A[:, part].shape == (5, len(range(200)[part]))


@pytest.mark.parametrize(("columns", "words"), [(0, 0), (1, 8), (511, 8), (512, 8), (513, 16), (1025, 24)])
def test_rows_are_whole_cache_lines(columns: int, words: int) -> None:
    assert row_words(columns) == words
    for made in (PackedRows.zeros(3, columns), PackedRows.empty(3, columns)):
        assert made.words.shape == (3, words) and made.nbytes == 24 * words
        assert made.words.ctypes.data % (8 * ROW_WORDS) == 0 or not made.words.size
    assert not PackedRows.zeros(3, columns).words.any()
    assert numbers(PackedRows.identity(columns)) == [1 << i for i in range(columns)]


def test_bands_cover_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    A = packed(list(range(1, 8)), 70)
    for size in (1, 16, 17, 48, 1000):
        monkeypatch.setattr(module, "BLOCK", size)
        bands = A.bands()
        assert [i for a, b in bands for i in range(a, b)] == list(range(7))
        assert all(b - a == 1 or 16 * (b - a) <= size for a, b in bands)
        assert A.row_degrees().tolist() == [p.bit_count() for p in range(1, 8)]
        copied, zeros = A.copy(), PackedRows.zeros(7, 70)
        assert copied == A and zeros != A
        assert numbers(block(A, 0, 7, 1, 70)) == [p >> 1 for p in range(1, 8)]
    assert PackedRows.zeros(0, 70).bands() == []


def test_what_is_shown() -> None:
    assert repr(PackedRows.identity(1000)) == "PackedRows(1,000 × 1,000, density 0.001, 125.0 KiB)"


def test_much_is_shown_by_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 64)
    A = ~PackedRows.zeros(100, 512)
    monkeypatch.setattr(module.PackedRows, "count", lambda self: _fail() if len(self.words) > 5 else 512)
    assert repr(A) == "PackedRows(100 × 512, density about 1, 6.2 KiB)"


def _fail() -> int:
    raise AssertionError("a large matrix was read as a whole")


class TestRefusals:
    @pytest.mark.parametrize(("words", "columns", "message"), [
        (np.zeros((2, 2)), 3, "must be a 2-D uint64 array, not 2-D float64"),
        (np.zeros(8, np.uint64), 3, "must be a 2-D uint64 array, not 1-D uint64"),
        (np.zeros((2, 1), np.uint64), 65, "65 columns do not fit 1 words of 64 bits"),
        (np.zeros((2, 1), np.uint64), -1, "-1 columns do not fit"),
        (np.zeros((4, 4), np.uint64)[:, ::2], 3, "words of a row must be adjacent"),
        (np.zeros((4, 4), np.uint64)[::-1], 3, "rows in ascending order"),
        (np.broadcast_to(np.zeros(2, np.uint64), (3, 2)), 3, "rows in ascending order"),
    ])
    def test_words(self, words: np.ndarray, columns: int, message: str) -> None:
        with pytest.raises(SemiringError, match=message):
            PackedRows(words, columns)

    def test_shapes(self) -> None:
        A = PackedRows.zeros(2, 3)
        with pytest.raises(SemiringError, match=r"\(2, 3\) and \(3, 2\) do not fit entry by entry"):
            A | PackedRows.zeros(3, 2)
        with pytest.raises(SemiringError, match="cannot have -1 rows and 3 columns"):
            PackedRows.zeros(-1, 3)
        with pytest.raises(SemiringError, match=r"a packed 10000000 × 10000000 matrix needs 11\.\d TiB"):
            PackedRows.empty(10**7, 10**7)

    def test_other_operands(self) -> None:
        A = PackedRows.zeros(2, 3)
        for other in (np.zeros((2, 3), bool), [[0] * 3] * 2, 1, None):
            assert other != A
            for operation in (or_, and_, xor, ior):
                with pytest.raises(TypeError, match=r"unsupported operand|does not support ufuncs"):
                    operation(A, other)
        with pytest.raises(TypeError, match="unhashable"):
            hash(A)

    def test_what_cannot_be_written_to(self) -> None:
        A = frozen(PackedRows.identity(4))
        with pytest.raises(SemiringError, match=r"read-only; pass a copy\(\)"):
            check_writable(A)
        with pytest.raises(SemiringError, match="read-only"):
            A |= A
        assert numbers(A) == [1, 2, 4, 8]
        check_writable(A.copy())


def test_a_matrix_without_rows_or_columns_has_any_strides() -> None:
    assert PackedRows(np.zeros((0, 3), np.uint64), 5).shape == (0, 5)
    assert PackedRows(np.zeros((3, 0), np.uint64), 0).shape == (3, 0)
