"""NumPy's walk over tiles and the compiled one: the same bits, and which of them runs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.kernels.cpu.compile import price
from semiring.kernels.cpu.dense.engine import CpuKernel, tiling
from semiring.kernels.cpu.dense.walk import ELEMENT, STEP, TILE, Tiling, Walk, walk

_spec = importlib.util.spec_from_file_location("walk_preludes", Path(__file__).with_name("preludes.py"))
preludes = importlib.util.module_from_spec(_spec)
sys.modules["walk_preludes"] = preludes
_spec.loader.exec_module(preludes)

CASES = {"min_plus": preludes.min_plus("float64"), "plus_times": preludes.plus_times(), "records": preludes.cost_hops()}
WORDS = (np.dtype("u8"),)


def by(compiled: bool, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Walk, "compiles_product", lambda *_: compiled)
    patch.setattr(Walk, "compiles_close", lambda *_: compiled)


@given(
    st.sampled_from(sorted(CASES)),
    st.integers(1, 3),
    st.tuples(st.integers(0, 200), st.integers(0, 300), st.integers(0, 150)),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=60)
def test_both_walks_give_the_same_bits(
    name: str, batch: int, shape: tuple[int, int, int], accumulate: bool, seed: int
) -> None:
    case, (m, n, k), rng = CASES[name], shape, np.random.default_rng(seed)
    A, B, C = case.draw(rng, (batch, m, k)), case.draw(rng, (batch, k, n)), case.draw(rng, (batch, m, n))
    D = case.draw(rng, (batch, min(n, 40), min(n, 40)))
    kernel, answers = CpuKernel(case.program, threads=2), []
    for compiled in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            by(compiled, patch)
            product, closed = C.copy(), D.copy()
            (kernel.multiply_add_stack if accumulate else kernel.multiply_stack)(product, A, B)
            answers.append((product.tolist(), closed.tolist(), kernel.close_stack(closed).tolist(), closed.tolist()))
    assert repr(answers[0]) == repr(answers[1])  # as text, for a NaN equals nothing


@pytest.mark.parametrize("compiled", [False, True])
def test_a_pivot_without_a_star_is_named(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    by(compiled, monkeypatch)
    case = preludes.min_plus("float64")
    D = case.draw(np.random.default_rng(0), (2, 30, 30))
    D[1, 17, 17] = -1
    before = D[1].copy()
    assert CpuKernel(case.program, threads=1).close_stack(D).tolist() == [-1, 17]
    assert np.array_equal(D[1], before)


class TestWhichOfThem:
    @pytest.fixture
    def new(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Walk:
        """A walk that is not compiled."""
        monkeypatch.setenv("SEMIRING_CACHE_DIR", str(tmp_path))
        monkeypatch.delenv("SEMIRING_COMPILE", raising=False)
        return Walk(WORDS)

    def plan(self, new: Walk, n: int) -> tuple[Tiling, int]:
        sizes = CpuKernel(CASES["min_plus"].program).geometry
        return tiling(sizes, 1, n, n, n, 1), -(-n // sizes.chunk)

    def test_small_work_is_walked_by_numpy(self, new: Walk) -> None:
        assert not new.compiles_product(*self.plan(new, 128))
        assert not new.compiles_close(1, 128)

    def test_a_kept_algebra_does_not_bring_the_walk(self, new: Walk) -> None:
        assert price.when() == "kept"
        assert not new.compiles_product(*self.plan(new, 1))

    def test_large_work_is_walked_by_machine_code(self, new: Walk) -> None:
        assert new.compiles_product(*self.plan(new, 20_000))
        assert new.compiles_close(20_000, 128)

    def test_much_small_work_comes_to_the_price(self, new: Walk) -> None:
        calls = int((price.IMPORT + price.COMPILE) / (TILE + STEP)) + 1
        plan = self.plan(new, 1)
        assert any(new.compiles_product(*plan) for _ in range(calls))
        assert new.compiles_product(*plan)
        assert not new.compiles_close(1, 1), "each function has a price of its own"

    def test_what_is_on_disk_is_used_at_once(self, new: Walk, tmp_path: Path) -> None:
        for function in new.code("product", "close"):
            (tmp_path / f"{function.on_disk}.nbi").touch()
        assert new.compiles_product(*self.plan(new, 1))
        assert new.compiles_close(1, 1)

    @pytest.mark.parametrize("said", ["always", "never"])
    def test_as_the_user_says(self, said: str, new: Walk, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SEMIRING_COMPILE", said)
        assert new.compiles_product(*self.plan(new, 1)) == (said == "always")
        assert new.compiles_close(10**6, 128) == (said == "always")

    def test_moving_elements_takes_time(self, new: Walk) -> None:
        narrow, wide = Walk(WORDS), new
        for walked, n in ((narrow, 8), (wide, 120)):
            plan, steps = self.plan(new, n)
            assert plan.tasks == 1
            assert not walked.compiles_product(plan, steps)
        assert wide._product.spent - narrow._product.spent > STEP + ELEMENT * 120**2


def test_algebras_of_elements_of_one_size_share_it() -> None:
    assert walk(WORDS) is walk((np.dtype("u8"),))
    assert walk(WORDS) is not walk((np.dtype("u4"),))
    one, other = (CpuKernel(CASES[name].program) for name in ("min_plus", "plus_times"))
    assert one.walk is other.walk
