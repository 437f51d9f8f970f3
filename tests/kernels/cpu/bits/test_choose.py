"""Packing, unpacking and single entries: the same by compiled code and by NumPy, and which of them is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semiring.kernels.blocks.bits import PackedRows
from semiring.kernels.cpu.bits import choose, engine, entries
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.numpy import bits

sizes = st.sampled_from([0, 1, 63, 64, 65, 128, 130]) | st.integers(0, 100)
few = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def code(monkeypatch: pytest.MonkeyPatch) -> Code:
    """What is bought is up to the test."""
    code = Code(list)
    monkeypatch.setenv("SEMIRING_COMPILE", "never")
    monkeypatch.setattr(choose, "CODE", code)
    return code


def by_both(code: Code, work: Callable[[], Any]) -> list[Any]:
    """What NumPy gives, and what compiled code does; of the first alone the time is counted."""
    code.bought, code.spent = False, 0.0
    answers = [work()]
    spent, code.bought = code.spent, True
    assert spent > 0
    answers.append(work())
    assert code.spent == spent
    return answers


@few
@given(sizes, sizes, st.integers(0, 2**32 - 1), st.sampled_from(["?", "u1", "i4", "f8"]), st.integers(0, 40))
def test_both_give_the_same(code: Code, m: int, n: int, seed: int, kind: str, count: int) -> None:
    rng = np.random.default_rng(seed)
    array = (rng.random((m, n)) < rng.choice([0.05, 0.5])) * np.array(3, kind).astype(kind)
    there = array != 0
    array.flags.writeable = False

    def pack() -> PackedMatrix:
        matrix = PackedMatrix.empty(m, n)
        matrix.words[...] = 2**64 - 1
        choose.pack(matrix, array, 2)
        return matrix

    def unpack() -> np.ndarray:
        out = np.full((m, n), 7, kind)
        choose.unpack(matrix, out, 2)
        return out

    def put() -> PackedMatrix:
        changed = matrix.copy()
        choose.set_entries(changed, rows, columns)
        return changed

    matrix, other = by_both(code, pack)
    assert matrix == other and matrix.count() == there.sum()
    assert not (matrix.words != other.words).any(), "what lies behind the last column"
    frozen = matrix.copy()
    frozen.words.flags.writeable = False
    matrix, changed = frozen, there.copy()
    for out in by_both(code, unpack):
        assert out.dtype == kind and np.array_equal(out, there.astype(kind))
    for turned in by_both(code, lambda: choose.transposed(matrix, 2)):
        assert type(turned) is PackedMatrix
        code.bought = False
        assert np.array_equal(turned.to_dense(), there.T)
    rows, columns = (rng.integers(0, max(size, 1), count if m and n else 0) for size in (m, n))
    changed[rows, columns] = True
    for found in by_both(code, put):
        code.bought = False
        assert np.array_equal(found.to_dense(), changed)
    first, last = sorted(rng.integers(0, m + 1, 2).tolist())
    total = int(there[first:last].sum())
    for found in by_both(code, lambda: choose.columns_of(matrix, first, last, total)):
        assert found.dtype == np.int64 and np.array_equal(found, np.nonzero(there[first:last])[1])


def test_views_amid_other_bits(code: Code) -> None:
    around = ~PackedMatrix.zeros(9, 300)
    view = around[2:7, 64:128]
    view.words[...] = 0
    for bought in (False, True):
        code.bought = bought
        choose.set_entries(view, np.array([1, 4]), np.array([0, 63]))
        assert choose.columns_of(view, 0, 5, 2).tolist() == [0, 63]
        assert choose.transposed(view).count() == 2
        out = np.empty((5, 64), np.int8)
        choose.unpack(view, out)
        assert np.argwhere(out).tolist() == [[1, 0], [4, 63]]
    assert around.count() == 9 * 300 - 5 * 64 + 2


@pytest.mark.parametrize("bought", [False, True])
def test_who_is_asked(bought: bool, code: Code, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the other; and what is asked first is whether it repays, more for more entries."""
    called: list[str] = []
    for who, module in (("NumPy", bits), ("compiled", engine), ("compiled", entries)):
        for name in ("pack", "unpack", "transposed", "set_entries", "columns_of", "list_columns"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, lambda *a, who=who: called.append(who))
    predicted: list[float] = []
    monkeypatch.setattr(Code, "repays", lambda self, seconds: predicted.append(seconds) or bought)
    for n in (10, 1000):
        M, array, some = PackedRows.zeros(n, n), np.zeros((n, n), bool), np.zeros(n, np.int64)
        choose.pack(M, array)
        choose.unpack(M, array)
        choose.transposed(M)
        choose.set_entries(M, some, some)
        choose.columns_of(M, 0, n, 0)
    assert called == ["compiled" if bought else "NumPy"] * 10
    assert all(0 < few < many for few, many in zip(predicted[:5], predicted[5:], strict=True))


@pytest.mark.parametrize("call", [
    lambda: PackedMatrix.from_dense(np.eye(3), threads=0),
    lambda: PackedMatrix.from_dense(np.asfortranarray(np.ones((2, 3))), threads=-1),
    lambda: PackedMatrix.identity(3).to_dense(threads=0),
    lambda: PackedMatrix.identity(3).transpose(threads=0),
])
def test_fewer_threads_than_one_are_refused(call: Callable[[], Any], code: Code) -> None:
    code.bought = True
    with pytest.raises(ValueError):
        call()
    code.bought = False
    with pytest.raises(ValueError):
        call()
