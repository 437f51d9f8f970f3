"""Numbers as files spell them: plain ASCII, nothing before or after.

Tables of such numbers go through NumPy's fast reader, which is right for ASCII alone: it asks C which characters are
digits, and C answers wrongly beyond Latin-1. Everything else goes field by field.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

INTEGER = re.compile(r"[+-]?[0-9]+")
CANONICAL = re.compile(r"0|-?[1-9][0-9]*")  # the one way to write each integer
NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE)
PLAIN = bytes(range(32, 127)) + b"\t\r\n"
LONGEST = 20  # digits and sign of the longest 64-bit integer


def number(text: str) -> float | None:
    """The number that a text is, or None; one too large for a float is none, NaN is one."""
    if not NUMBER.fullmatch(text):
        return None
    value = float(text)
    return None if math.isinf(value) and text[-1] in "0123456789." else value


def integer(text: str, low: int = -(2**63), high: int = 2**63 - 1) -> int | None:
    """The integer that a text is, or None if it is none from low to high, which have no more than 20 characters."""
    if not INTEGER.fullmatch(text):
        return None
    digits = text.lstrip("+-0") or "0"
    if len(digits) > LONGEST:  # Python refuses to read thousands of digits
        return None
    value = -int(digits) if text[0] == "-" else int(digits)
    return value if low <= value <= high else None


def integers(texts: Sequence[str]) -> NDArray[np.int64] | None:
    """Texts as 64-bit integers, or None if one is no such integer."""
    values = list(map(integer, texts))
    return None if None in values else np.array(values, dtype=np.int64)


def table(text: str, dtype: np.dtype, separator: str | None) -> np.ndarray | None:
    """The lines of a text of plain numbers, or None if any is not just what the dtype says.

    A float that is too large for its 64 bits, which would be read as infinite, makes it None too.
    """
    if not text.isascii() or text.encode("ascii").translate(None, PLAIN):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = np.loadtxt(io.StringIO(text, newline=""), dtype=dtype, delimiter=separator, comments=None, ndmin=1)
        except (ValueError, Warning):
            return None
    for field in dtype.names or ():
        if found.dtype[field].kind == "f" and not np.isfinite(found[field]).all():
            return None
    return found


def has_other_spellings(text: str) -> bool:
    """Whether a field of an ASCII text may be an integer in another spelling than the one without sign or zeros before.

    It says so of some texts that have none, such as those with the number -0.5, never the other way round.
    """
    a = np.frombuffer(b"\n" + text.encode("ascii") + b"\n\n", np.uint8)
    first = np.flatnonzero(_apart(a[:-2])) + 1  # characters behind a separator
    begin, then = a[first], a[first + 1]
    digit = (then >= ord("0")) & (then <= ord("9"))
    zero = begin == ord("0")
    signed = (begin == ord("+")) | ((begin == ord("-")) & (then == ord("0")))
    return bool((signed | (zero & digit)).any())


def _apart(characters: np.ndarray) -> np.ndarray:
    """Where separators stand: blanks, tabs, ends of lines, comma, semicolon."""
    return (characters <= ord(" ")) | (characters == ord(",")) | (characters == ord(";"))
