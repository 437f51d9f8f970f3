"""What the tiled product launches, its kernels played by NumPy: all of C, each step of k once, nothing beside C."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu.host import Host
from gpu.played import Dense, halves
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cuda.choose import choose, general_on_device
from semiring.kernels.cuda.compile.program import packed_program, program
from semiring.kernels.cuda.dense import product
from semiring.kernels.cuda.dense.product import Gap, Product, View, WordProduct
from semiring.kernels.facts import DeviceFacts


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Dense:
    """The kernels of + and × on 64-bit numbers: with ⊕ of another kind a step that is done twice would not show."""
    dense = Dense(Host(), "f8", np.add, np.multiply, 0)
    monkeypatch.setattr(product, "Module", dense.module)
    monkeypatch.setattr(product, "multiprocessors", lambda: 3)
    return dense


def plain() -> Product:
    return Product(program(general_on_device(sr.plus_times, np.dtype("f8"))))


def view(array: np.ndarray) -> View:
    address, (following, ld, _) = array.__array_interface__["data"][0], array.strides
    return View(address, ld, following, *array.shape[1:])


def wide_stack(host: Host, batch: int, rows: int, columns: int, skip: int = 0, seed: int = 0) -> np.ndarray:
    """Whole numbers in matrices that begin `skip` elements into memory."""
    memory = host.empty(batch * rows * columns + skip, "f8")
    memory[:] = np.random.default_rng(seed).integers(0, 9, memory.shape)
    return memory[skip:].reshape(batch, rows, columns)


SIDES = st.sampled_from([0, 1, 2, 15, 16, 33, 64, 127, 128, 130, 160])


@settings(max_examples=40)
@given(
    m=SIDES, n=SIDES, k=SIDES, batch=st.integers(1, 3), most=st.integers(1, 3), accumulate=st.booleans(),
    pad=st.sampled_from([0, 1, 2]), skip=st.sampled_from([0, 1, 2]),
)
def test_any_shape(
    m: int, n: int, k: int, batch: int, most: int, accumulate: bool, pad: int, skip: int
) -> None:
    """Aligned or not, in stacks of more than one launch takes; what lies beside C stays."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        dense = Dense(Host(), "f8", np.add, np.multiply, 0)
        monkeypatch.setattr(product, "Module", dense.module)
        monkeypatch.setattr(product, "multiprocessors", lambda: 3)
        monkeypatch.setattr(product, "MOST_STACKED", most)
        A, B, C = (
            wide_stack(dense.host, batch, rows, columns + pad, skip, seed)
            for seed, (rows, columns) in enumerate(((m, k), (k, n), (m, n)))
        )
        a, b, c = A[:, :, :k], B[:, :, :n], C[:, :, :n]
        expected = C.copy()
        expected[:, :, :n] = a @ b + (c if accumulate else 0)
        plain()(view(c), view(a), view(b), batch, accumulate)
    np.testing.assert_array_equal(C, expected)


def test_whole_tiles_are_taken_where_there_are_any(played: Dense) -> None:
    """Most of a large product is whole tiles; a product of less than a tile, or of rows that are not aligned, edges."""
    text = plain()

    def launched(m: int, n: int, k: int, pad: int = 0) -> list[str]:
        played.launched.clear()
        A, B, C = (wide_stack(played.host, 1, r, c + pad)[:, :, :c] for r, c in ((m, k), (k, n), (m, n)))
        for accumulate in (False, True):
            expected = A @ B + (C if accumulate else 0)
            text(view(C), view(A), view(B), 1, accumulate)
            np.testing.assert_array_equal(C, expected)
        return played.launched[: len(played.launched) // 2]

    assert launched(128, 64, 16) == ["product"]
    assert launched(129, 66, 18) == ["product"] + 3 * ["product_edge"]
    assert launched(128, 64, 16, pad=1) == launched(7, 64, 16) == launched(128, 64, 3) == ["product_edge"]
    assert launched(0, 5, 5) == launched(5, 0, 5) == []


def test_a_gap_is_left_out(played: Dense) -> None:
    """Rows and columns of the gap stay as they are, and what B and A hold there counts for nothing."""
    A, B, C = (wide_stack(played.host, 1, *shape) for shape in ((384, 32), (32, 256), (384, 256)))
    expected, text = C + A @ B, plain()
    rows, columns = Gap(128, 128), Gap(64, 64)
    expected[:, 128:256], expected[:, :, 64:128] = C[:, 128:256], C[:, :, 64:128]
    text.whole(text.large, view(C), view(A), view(B), 1, True, rows, columns)
    np.testing.assert_array_equal(C, expected)


def test_small_tiles_keep_multiprocessors_busy(played: Dense) -> None:
    text = plain()
    assert text.geometry(100, 100, 1) is text.small
    assert text.geometry(100, 100, 100) is text.geometry(5000, 5000, 1) is text.large


@pytest.fixture
def on_an_h200(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product, "multiprocessors", lambda: 132)


def plain_min_plus(dtype: str) -> Product:
    facts = DeviceFacts(largest=1, least=0)
    return Product(program(choose(sr.min_plus, np.dtype(dtype), facts, 3, in_place=False).for_product(facts)))


@pytest.mark.usefixtures("on_an_h200")
@pytest.mark.parametrize(("dtype", "shape", "count"), [
    ("f4", (128, 1024, 128), 4), ("f4", (128, 8192, 128), 32), ("f4", (640, 1024, 640), 1), ("f4", (768, 1024, 768), 4),
    ("f4", (1024, 1024, 1024), 1), ("f4", (4096, 4096, 4096), 1), ("f8", (384, 1024, 384), 4),
    ("f8", (768, 2048, 768), 4), ("f8", (1024, 2048, 1024), 1), ("f8", (640, 2048, 640), 8),
])
def test_parts_of_k_as_they_were_fastest_on_an_h200(dtype: str, shape: tuple[int, int, int], count: int) -> None:
    assert plain_min_plus(dtype).parts(*shape, 1)[1] == count


@pytest.mark.usefixtures("on_an_h200")
def test_tiles_are_those_that_end_first() -> None:
    text = plain_min_plus("f8")
    assert text.geometry(1536, 1536, 1) is text.small, "large ones: 3 rounds of 2 at once, the last with few"
    assert text.geometry(2048, 2048, 1) is text.geometry(8192, 8192, 1) is text.large


@given(m=st.integers(17, 3000), k=st.integers(1, 50_000), n=st.integers(17, 3000), there=st.sampled_from([1, 3, 132]))
def test_parts_are_all_of_k(m: int, k: int, n: int, there: int) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(product, "multiprocessors", lambda: there)
        g, count, length = plain_min_plus("f4").parts(m, k, n, 1)
        assert length * (count - 1) < k <= length * count and count <= product.MOST_PARTS
        assert count == 1 or (length % g.BK == 0 and length >= product.LEAST_PART)
        assert count == 1 or count * m * n * 4 <= product.PART_BYTES


def test_words_of_two_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elements of A are filled into words, those of B and C lie two in a word; gaps are in elements."""
    low = choose(sr.min_plus, np.dtype("u2"), DeviceFacts(largest=100, least=0), 2, in_place=False)
    words = packed_program(low)
    assert words
    zero = int(low.zero[0])
    host = Host()
    played = Dense(host, "u4", halves(np.minimum), halves(np.add), zero * 0x10001)
    monkeypatch.setattr(product, "Module", played.module)
    monkeypatch.setattr(product, "memory", host.memory)
    monkeypatch.setattr(product, "multiprocessors", lambda: 3)
    rng, text = np.random.default_rng(0), WordProduct(words, np.dtype("u2"))
    for m, n, k in ((5, 6, 7), (128, 256, 64), (130, 300, 40)):
        A, B, C = (host.array(rng.integers(0, 99, (1, *shape)), "u2") for shape in ((m, k), (k, n), (m, n)))
        expected = np.minimum(C, (A[0, :, :, None] + B[0, None]).min(axis=1))
        assert text.fits(view(C), view(B))
        text(view(C), view(A), view(B), 1, True)
        np.testing.assert_array_equal(C, expected)
    g, gap = text.large, Gap(text.large.BN * 2, text.large.BN * 2)
    m, n, k = g.BM, 6 * g.BN, g.BK
    A, B, C = (host.array(rng.integers(0, 99, (1, *shape)), "u2") for shape in ((m, k), (k, n), (m, n)))
    expected = (A[0, :, :, None] + B[0, None]).min(axis=1)[None]
    expected[:, :, gap.at : gap.at + gap.size] = C[:, :, gap.at : gap.at + gap.size]
    text.whole(g, view(C), view(A), view(B), 1, False, columns=gap)
    np.testing.assert_array_equal(C, expected)


def test_rows_that_do_not_begin_with_a_word() -> None:
    fitting = View(256, 8, 0, 5, 4)
    assert WordProduct.fits(None, fitting)  # type: ignore[arg-type]
    for wrong in (fitting._replace(address=258), fitting._replace(ld=6), fitting._replace(next=2),
                  fitting._replace(columns=3)):
        assert not WordProduct.fits(None, fitting, wrong)  # type: ignore[arg-type]


def test_parts_of_a_view() -> None:
    whole = View(1000, 80, 8000, 100, 10)
    assert whole.part(slice(None), slice(None), 8) == whole
    assert whole.part(slice(3, 5), slice(2, None), 8) == View(1000 + 3 * 80 + 2 * 8, 80, 8000, 2, 8)
    assert whole.part(slice(100, None), slice(0, 0), 8)[3:] == (0, 0)
    assert View(32, 16, 48, 1, 1).is_aligned
    assert not any(View(*(v + 8 * (i == j) for i, v in enumerate((32, 16, 48, 1, 1)))).is_aligned for j in range(3))


@pytest.mark.parametrize(("weight", "soon", "full"), [(1.5, 4, 16), (6, 4, 16), (8, 8, 8)])
def test_a_first_product_does_not_wait_for_the_compiler(
    weight: float, soon: int, full: int, played: Dense, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel that is soon compiled runs until threads have compiled the other one."""
    ran, there = [], set()  # steps that are written out

    def module(source: str) -> Any:
        known, unrolled = played.module(source), int(re.findall(r"constexpr int UNROLL = (\d+);", source)[0])

        def function(*given: Any) -> Any:
            def launch(*arguments: int) -> None:
                ran.append(unrolled)
                known.function(*given)(*arguments)

            launch.at_hand = lambda: unrolled in there  # type: ignore[attr-defined]
            return launch

        return SimpleNamespace(function=function)

    begun: list[Any] = []
    monkeypatch.setattr(product, "Module", module)
    monkeypatch.setattr(product, "compile_ahead", begun.extend)
    text = program(general_on_device(sr.plus_times, np.dtype("f8")))
    text.weight = weight
    P = Product(text)
    A, B, C = (wide_stack(played.host, 1, 128, 128, seed=seed) for seed in range(3))
    for expected in (soon, soon, full):
        if expected == full:
            there.add(full)
        C[...] = -1
        P(view(C), view(A), view(B), 1, False)
        played.host.finish()
        np.testing.assert_array_equal(C, A @ B)
        assert ran == [expected]
        assert begun == [P.function(P.geometry(128, 128, 1), True)] * (expected != full)
        ran.clear()
        begun.clear()
