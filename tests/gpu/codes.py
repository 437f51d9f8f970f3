"""The codes of elements in storage, C++ of one element, read as Python: what they do is then tried without a GPU."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

DTYPES = {
    "signed char": "i1", "unsigned char": "u1", "short": "i2", "unsigned short": "u2", "int": "i4", "unsigned": "u4",
    "long long": "i8", "unsigned long long": "u8", "float": "f4", "double": "f8",
}
CAST = re.compile(rf"\(({'|'.join(DTYPES)})\)(x|0x[0-9a-f]+)")


def cast(name: str, value: Any) -> np.generic:
    """A number as another type: integers keep their lowest bits."""
    dtype = np.dtype(DTYPES[name])
    if dtype.kind == "f":
        return dtype.type(value)
    return np.array(int(value) % 2 ** (8 * dtype.itemsize), f"u{dtype.itemsize}").view(dtype)[()]


def function(code: str) -> Callable[[Any], Any]:
    """A code of `{0}` as a function of one element."""
    text = re.sub(r"\b(0x[0-9a-f]+)u(?:ll)?", r"\1", code.replace("{0}", "x"))
    text = CAST.sub(r"cast('\1', \2)", text).replace("!(", "not (").replace("&&", "and").replace("||", "or")
    compiled = compile(_conditional(text), code, "eval")
    return lambda x: eval(compiled, {"x": x, "cast": cast, "true": True, "false": False})


def _conditional(text: str) -> str:
    condition, found, rest = text.partition(" ? ")
    yes, _, no = rest.partition(" : ")
    return f"{yes} if {condition} else ({_conditional(no)})" if found else text
