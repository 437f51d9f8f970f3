"""The rule table of the CUDA target: a call for every operation, constants to the last bit, texts of functions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from gpu import codes
from gpu.test_operations import DTYPES, values
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from semiring.algebra.expression import Expression, constant, operand
from semiring.algebra.operations import OPERATIONS
from semiring.kernels.cuda.compile import rules


def test_every_operation_has_a_rule() -> None:
    assert set(rules.CUDA.table) == set(OPERATIONS)


def test_constants_keep_every_bit() -> None:
    for dtype in DTYPES:
        for value in values(dtype):
            assert isinstance(rules.literal(value), str)
    assert rules.literal(np.float32(-0.0)) == "__int_as_float(0x80000000)"
    assert constant(np.int8(-1)).value == -1


def read(text: str) -> Any:
    """The value of a constant, as C++ reads it."""
    bits = re.fullmatch(r"__(int_as_float|longlong_as_double)\((0x[0-9a-f]+)(?:ull)?\)", text)
    if bits:
        size, number = (4, "f4") if bits[1] == "int_as_float" else (8, "f8")
        return np.array(int(bits[2], 16), f"u{size}").view(number)[()]
    return codes.function(text)(None)


@given(data=st.data(), dtype=st.sampled_from(DTYPES))
def test_constants_are_read_as_they_were(data: st.DataObject, dtype: np.dtype) -> None:
    """A half in the register where it is computed with, a float's; all others in their own type."""
    value = np.asarray(data.draw(hnp.from_dtype(dtype)), dtype)[()]
    found = read(rules.literal(value))
    if dtype.kind == "b":
        assert found is bool(value)
    elif dtype.kind == "f":
        assert found.dtype == (np.float32 if dtype == np.float16 else dtype)
        assert found.astype(dtype).tobytes() == value.tobytes() or (np.isnan(found) and np.isnan(value))
    else:
        assert int(found) == int(value) and (dtype == np.uint64 or found.dtype == dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_types(dtype: np.dtype) -> None:
    """C++ types of the same size and sign; only a half is another in a register than in memory."""
    name = rules.memory_type(dtype)
    assert rules.value_type(dtype) == ("float" if dtype == np.float16 else name)
    if dtype.kind in "iu" or dtype.itemsize > 2:
        assert np.dtype(codes.DTYPES[name]) == dtype
    else:
        assert name == {"b": "bool", "f": "Half"}[dtype.kind]


def lesser(dtype: str, table: Any = rules.CUDA) -> str:
    x, y = operand(0), operand(1)
    return rules.function("plus", "x, t", [Expression("minimum", (x, y))], [np.dtype(dtype)], rules=table)


def test_the_text_of_a_function() -> None:
    assert lesser("i4").splitlines() == [
        "DEVICE Value plus(Value x, Value t) {",
        "    const auto t0 = (int)(ops::minimum(x, t));",
        "    return t0;",
        "}",
    ]


def test_a_half_is_computed_with_as_a_float_and_rounded() -> None:
    assert "= to_half((float)(ops::minimum(float(x), float(t))));" in lesser("f2")


def test_bits_are_compared_where_no_float_is_negative() -> None:
    assert "minimum_of_bits(x, t)" in lesser("f4", rules.NON_NEGATIVE)
    assert "_of_bits" not in lesser("f4") + lesser("i4", rules.NON_NEGATIVE)


def test_components_of_a_record_and_results_of_other_types() -> None:
    """Fields of the operands are read, and a record is put together; or one number of the wanted type comes out."""
    double, whole = np.dtype("f8"), np.dtype("i4")
    cost, hops = operand(0, 0), operand(1, 1)
    text = rules.function("pick", "a, b", [cost, hops], [double, whole])
    assert text.startswith("DEVICE Value pick(Value a, Value b) {") and "return Value{a.f0, b.f1};" in text
    text = rules.function("less", "a, b", [Expression("less", (cost, hops))], [double, whole], [np.dtype(bool)],
                          given="Given")
    assert text.startswith("DEVICE bool less(Given a, Given b) {") and "Value{" not in text
    assert "a.f0" in text and "b.f1" in text
    assert rules.element([np.float64(1), np.int32(-1)]) == (
        "Value{__longlong_as_double(0x3ff0000000000000ull), (int)0xffffffffu}"
    )
    assert rules.element([np.True_]) == "true"
