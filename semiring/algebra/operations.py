"""The operations that an algebra may use, and how they are printed."""

from __future__ import annotations

import numpy as np

# All operations that an algebra may use. Each name is a NumPy ufunc except the last six. Tracing turns other spellings
# (clip, square, fmin, deg2rad, select, …) into these.
UFUNCS: dict[str, np.ufunc] = {
    u.__name__: u
    for u in (
        np.add, np.subtract, np.multiply, np.divide, np.floor_divide, np.remainder, np.power,
        np.float_power, np.fmod, np.negative, np.absolute, np.fabs, np.sign, np.signbit, np.copysign, np.heaviside,
        np.sqrt, np.cbrt, np.hypot, np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p,
        np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.arctan2,
        np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh,
        np.floor, np.ceil, np.trunc, np.rint, np.minimum, np.maximum, np.logaddexp, np.logaddexp2,
        np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
        np.logical_and, np.logical_or, np.logical_xor, np.logical_not,
        np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift,
        np.gcd, np.lcm, np.bitwise_count, np.conjugate, np.isnan, np.isinf, np.isfinite,
    )
}
ARITY: dict[str, int] = {name: u.nin for name, u in UFUNCS.items()} | {
    "real": 1, "imag": 1, "where": 3, "cast": 1, "saturating_add": 2, "saturating_multiply": 2,
}
OPERATIONS = tuple(ARITY)
COMMUTATIVE = frozenset(
    "add multiply minimum maximum hypot logaddexp logaddexp2 equal not_equal logical_and logical_or logical_xor "
    "bitwise_and bitwise_or bitwise_xor gcd lcm saturating_add saturating_multiply".split()
)
BITWISE = frozenset("bitwise_and bitwise_or bitwise_xor invert left_shift right_shift bitwise_count".split())
# Operations whose results are truth values, and the meaning of the operators & | ^ ~ between truth values.
PREDICATES = frozenset(
    "less less_equal greater greater_equal equal not_equal logical_and logical_or logical_xor logical_not "
    "isnan isinf isfinite signbit".split()
)
# Operations on complex numbers, which have no order.
COMPLEX = frozenset(
    "add subtract multiply divide power negative conjugate absolute real imag sqrt exp log equal not_equal where cast "
    "isfinite isnan isinf logical_and logical_or logical_xor logical_not saturating_add saturating_multiply".split()
)
ON_CONDITIONS = {
    "bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor", "invert": "logical_not",
}

INFIX = {
    "add": "+", "subtract": "-", "multiply": "·", "divide": "/", "floor_divide": "//", "remainder": "mod",
    "less": "<", "less_equal": "≤", "greater": ">", "greater_equal": "≥", "equal": "=", "not_equal": "≠",
    "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "xor", "logical_and": "and", "logical_or": "or",
    "logical_xor": "xor", "left_shift": "<<", "right_shift": ">>", "power": "**",
    "saturating_add": "+", "saturating_multiply": "·",
}
SHORT = {"minimum": "min", "maximum": "max", "absolute": "abs", "negative": "-", "logical_not": "not"}
