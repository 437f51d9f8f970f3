"""The CUDA target: a rule table from operations to calls of the functions in ops.cuh, which settle the edge cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from semiring.algebra.evaluate import Rules, lower
from semiring.algebra.expression import Expression
from semiring.algebra.operations import ARITY, OPERATIONS

TYPES = {
    "?": "bool", "i1": "signed char", "u1": "unsigned char", "i2": "short", "u2": "unsigned short", "i4": "int",
    "u4": "unsigned", "i8": "long long", "u8": "unsigned long long", "f4": "float", "f8": "double", "f2": "Half",
}


def memory_type(dtype: np.dtype) -> str:
    """What C++ calls a dtype in memory."""
    return TYPES[dtype.char if dtype.kind == "b" else dtype.str[1:]]


def value_type(dtype: np.dtype) -> str:
    """What C++ calls a dtype in a register: a half is computed with as a float."""
    return "float" if dtype == np.float16 else memory_type(dtype)


def _call(op: str) -> str:
    return f"ops::{op}({', '.join(f'{{{i}}}' for i in range(ARITY[op]))})"


def _convert(text: str, have: np.dtype, want: np.dtype) -> str:
    if have == want:
        return text
    if want.kind == "b":
        return f"({text} != 0)"
    return _rounded(f"({value_type(want)})({text})", want)


def _rounded(text: str, dtype: np.dtype) -> str:
    return f"to_half({text})" if dtype == np.float16 else text


def literal(value: np.generic) -> str:
    """A constant, to its last bit."""
    dtype = value.dtype
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind == "f":
        if dtype.itemsize == 8:
            return f"__longlong_as_double({hex(int(value.view(np.uint64)))}ull)"
        return f"__int_as_float({hex(int(np.float32(value).view(np.uint32)))})"
    if dtype == np.int64:
        return f"(long long){hex(int(value.view(np.uint64)))}ull"
    if dtype == np.uint64:
        return f"{hex(int(value))}ull"
    return f"({memory_type(dtype)}){int(value) & 0xFFFFFFFF:#x}u"


CUDA = Rules(
    table={op: _call(op) for op in OPERATIONS} | {"cast": "{0}"},
    literal=literal,
    convert=_convert,
    result=lambda text, dtype: _rounded(f"({value_type(dtype)})({text})", dtype),
    fused={
        "add": ("ops::multiply_add({0}, {1}, {2})",) * 2,
        "subtract": ("ops::multiply_add({0}, {1}, -{2})", "ops::multiply_add(-{0}, {1}, {2})"),
    },
)

# Where ⊕ rounds anyhow, as no idempotent one does: roots and powers of single precision, approximated by the hardware.
ROUNDED = replace(CUDA, floating={"sqrt": "ops::near_sqrt({0})", "power": "ops::near_power({0}, {1})"})

# For algebras and data in which no float is negative: the order of the bits, with three-operand instructions.
NON_NEGATIVE = replace(
    CUDA, floating={"minimum": "ops::minimum_of_bits({0}, {1})", "maximum": "ops::maximum_of_bits({0}, {1})"}
)


def function(
    name: str,
    parameters: str,
    outputs: Sequence[Expression],
    components: Sequence[np.dtype],
    wanted: Sequence[np.dtype] | None = None,
    rules: Rules = CUDA,
    given: str = "Value",
) -> str:
    """The text of a device function over elements of type `given`: a number, or a structure of numbers f0, f1, …"""
    names = [p.strip() for p in parameters.split(",")]
    single = len(components) == 1

    def read(operand: int, component: int) -> str:
        text = names[operand] if single else f"{names[operand]}.f{component}"
        return f"float({text})" if components[component] == np.float16 else text

    lines, results = lower(outputs, components, components if wanted is None else wanted, rules, read)
    kind = "Value" if wanted is None else value_type(wanted[0])
    value = f"Value{{{', '.join(results)}}}" if wanted is None and not single else results[0]
    head = f"DEVICE {kind} {name}({', '.join(f'{given} {n}' for n in names)}) {{"
    return "\n".join([head, *(f"    const auto {line};" for line in lines), f"    return {value};", "}", ""])


def element(parts: Sequence[np.generic]) -> str:
    """The text of a constant element."""
    return literal(parts[0]) if len(parts) == 1 else f"Value{{{', '.join(map(literal, parts))}}}"
