"""From a lowering to text: that the text means what the algebra does, and that its sizes fit together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cpu.compile import program as module
from semiring.kernels.cpu.compile.program import COMBINE, Geometry, Program, geometry, program, round_up, source, unroll
from semiring.kernels.cpu.dense.operations import Operations
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general

DEFAULT = [general(S, S.default_dtype) for S in map(sr.catalogue.__getitem__, sr.catalogue) if S.traced]
COMPONENTS = st.lists(st.sampled_from(["?", "i1", "u2", "i4", "f4", "i8", "f8"]), min_size=1, max_size=4).map(
    lambda names: tuple(np.dtype(name) for name in names)
)


def meaning(low: Lowering) -> dict[str, Any]:
    """The functions of a prelude as Python runs them, one element at a time."""
    scope: dict[str, Any] = {
        "np": np, "math": math, "inline": lambda f: f, "select": lambda c, x, y: x if c else y,
        "fma": lambda x, y, z: x * y + z, **{t.__name__: t for t in (np.float32, np.float64, np.int32, np.int64)},
    }
    exec(program(low).prelude, scope)
    return scope


@pytest.mark.parametrize("name", ["min_plus", "max_plus", "max_min", "viterbi", "plus_times"])
@pytest.mark.parametrize("fma", [False, True])
def test_what_the_text_means(name: str, fma: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "has_fma", lambda: fma)
    S, low = sr.catalogue[name], general(sr.catalogue[name], np.dtype("f8"))
    text = program(low)
    assert ("fma(" in text.prelude) == (fma and low.fused_sum)
    run, some = meaning(low), S.elements_in(low.dtype).notable
    for a in some:
        with np.errstate(all="ignore"):
            for b in some:
                assert run["plus"](a, b) == S.add(a, b)
                assert run["scaled"](a, b) == S.mul(a, b)
                term = run["times"](a, b, np.float64(1))
                assert term == S.mul(a, b) or (np.isnan(term) and S.mul(a, b) == S.zero)  # ⊕ drops it
            assert run["defined"](a) == (name != "plus_times" or a != 1)
            if run["defined"](a) and not S.may_diverge:
                assert run["star"](a) == S.star(a)


def test_a_step_as_a_whole_where_the_processor_joins_products(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else, and for other elements than floats, ⊗ comes before ⊕."""
    low, whole = general(sr.min_plus, np.dtype("f4")), general(sr.min_plus, np.dtype("i8"))
    for fma in (False, True):
        monkeypatch.setattr(module, "has_fma", lambda fma=fma: fma)
        assert (program(low).combine == COMBINE) is not fma and program(whole).combine == COMBINE
    assert "fma(b, unit, a)" in program(low).combine


def test_records_have_a_function_of_tuples() -> None:
    S = sr.shortest_hops
    run = meaning(general(S, S.default_dtype))
    a, b = (np.float64(2), np.float64(1)), (np.float64(2), np.float64(3))
    assert run["plus"](a, b) == run["plus"](b, a) == a
    assert run["times"](a, b, np.float64(1)) == run["scaled"](a, b) == (4, 4)
    assert run["star"](a) == (0, 0) and run["defined"](a)


@pytest.mark.parametrize("low", DEFAULT, ids=lambda low: low.algebra.name)
def test_the_module_is_python(low: Lowering) -> None:
    text = source(program(low), Operations.template)
    compile(text, "generated", "exec")
    assert "# each" not in text
    assert text.startswith('"""Generated from kernels/cpu/dense/operations_template.py; see there."""\n')
    for name in ("times", "scaled", "plus", "star", "defined"):
        assert text.count(f"def {name}(") == 1


def test_helpers_are_imported_where_they_are_called() -> None:
    imports = {low.algebra.name: program(low).prelude.partition("\n")[0] for low in DEFAULT}
    assert imports["log"] == "from semiring.kernels.cpu.compile.scalar import logaddexp"
    assert imports["gcd-lcm"] == "from semiring.kernels.cpu.compile.scalar import gcd, lcm"
    assert imports["min-plus"] == "@inline"


def test_a_name_for_each_text() -> None:
    names = [program(low).name for low in DEFAULT]
    assert len(set(names)) == len({program(low).prelude for low in DEFAULT}) == len(DEFAULT)
    assert names[0].startswith("bool_") and program(DEFAULT[0]) == program(DEFAULT[0])


class TestSizes:
    @given(st.integers(0, 10**9), st.integers(1, 1000))
    def test_round_up(self, number: int, multiple: int) -> None:
        found = round_up(number, multiple)
        assert found % multiple == 0 and 0 <= found - number < multiple

    @given(COMPONENTS)
    def test_of_elements(self, components: tuple[np.dtype, ...]) -> None:
        sizes = geometry(components)
        assert sizes is geometry(components)  # tilings are found by it
        line = 64 // min(c.itemsize for c in components)
        assert sizes.lanes in {line, max(line, 16)}
        assert sizes.size == sum(c.itemsize for c in components) <= sizes.item
        assert sizes.item == Program("", components, (), (), "").dtype.itemsize
        assert sizes.rows >= 1 and sizes.chunk % sizes.depth == 0 and 0 < sizes.chunk <= module.CHUNK
        assert sizes.width % sizes.lanes == 0 < sizes.width
        assert sizes.width * sizes.size <= max(module.TILE_BYTES, sizes.lanes * sizes.size)

    @given(COMPONENTS, st.integers(1, 300), st.integers(1, 40))
    def test_of_scratch_memory(self, components: tuple[np.dtype, ...], height: int, lanes: int) -> None:
        """Room for a tile of C and `chunk` steps of B and of A; for a block and `depth` of its rows and columns."""
        sizes = geometry(components)
        width = lanes * sizes.lanes
        elements = height * width + sizes.chunk * (width + height)
        assert sizes.product_bytes(height, width) >= elements * sizes.size
        assert sizes.product_bytes(height, width) % sizes.size == 0
        n = height
        assert sizes.close_bytes(n) >= (n * n + 2 * sizes.depth * n) * sizes.size
        # No more than the rounding of every side to rows and vectors takes.
        wide = n + sizes.lanes + sizes.rows
        assert sizes.close_bytes(n) <= (wide * wide + 2 * sizes.depth * wide + sizes.lanes) * sizes.size

    def test_registers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """24 scalars of A with 32 registers, and fewer than 16 with 16."""
        shapes = {}
        for features in ({"avx512f": True}, {"neon": True}, {"avx2": True}):
            monkeypatch.setattr(module, "host_features", lambda features=features: features)
            for count in (1, 2, 3):
                sizes: Geometry = geometry.__wrapped__((np.dtype("f4"),) * count)
                shapes[next(iter(features)), count] = sizes.rows * sizes.depth * count
                assert sizes.rows * sizes.depth * count <= (24 if "avx2" not in features else 12)
        assert shapes["avx512f", 1] == shapes["neon", 1] == 24 and shapes["avx2", 1] == 8

    @pytest.mark.parametrize(("feature", "lanes"), [
        ("avx512f", {1: 64, 2: 32, 4: 16, 8: 8}), ("avx2", {1: 64, 2: 32, 4: 16, 8: 16}),
    ])
    def test_loops_are_long_enough_for_vectors(
        self, feature: str, lanes: dict[int, int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """With 16 registers 8 steps are so few instructions that they are unrolled as a whole, without vectors."""
        monkeypatch.setattr(module, "host_features", lambda: {feature: True})
        for size, expected in lanes.items():
            for count in (1, 2):
                assert geometry.__wrapped__((np.dtype(f"i{size}"),) * count).lanes == expected

    def test_fused_multiply_add(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for features, expected in (({"fma": True}, True), ({"neon": True}, True), ({"avx2": True}, False), ({}, False)):
            monkeypatch.setattr(module, "host_features", lambda features=features: features)
            assert module.has_fma.__wrapped__() == expected

    def test_of_structures(self) -> None:
        def dtype(*names: str) -> np.dtype:
            return Program("", tuple(map(np.dtype, names)), (), (), "").dtype

        assert dtype("f4") == np.float32
        assert dtype("i8", "u1", "u2").itemsize == 16 and dtype("u1", "f8").fields["f1"][1] == 8


def test_unroll_keeps_the_order() -> None:
    text = "head\n  t_I_K = f(a_I, b_K + K, IK)  # each K I\nlast"
    assert unroll(text, I=2, K=2).split("\n") == [
        "head",
        "  t_0_0 = f(a_0, b_0 + 0, IK)",
        "  t_1_0 = f(a_1, b_0 + 0, IK)",
        "  t_0_1 = f(a_0, b_1 + 1, IK)",
        "  t_1_1 = f(a_1, b_1 + 1, IK)",
        "last",
    ]


def test_constants_are_exact() -> None:
    text = source(
        Program(
            "constants",
            (np.dtype("f8"), np.dtype("i8"), np.dtype("bool"), np.dtype("f4")),
            (0.1, 2**63 - 1, True, -np.inf),
            (np.nan, -(2**63), False, np.float32(0.1)),
            "",
        ),
        Operations.template,
    )
    line = {name: next(x for x in text.split("\n") if x.startswith(name)) for name in ("ZERO", "ONE")}
    scope = {"np": np, "inf": np.inf, "nan": np.nan}
    exec("\n".join(line.values()), scope)
    assert scope["ZERO"] == (0.1, 2**63 - 1, True, -np.inf)
    assert np.isnan(scope["ONE"][0])
    assert scope["ONE"][1:] == (-(2**63), False, np.float32(0.1))
