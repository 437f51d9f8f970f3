"""Numbers as files spell them: plain ASCII without anything around them.

Tables of such numbers are read by NumPy's fast reader. It is correct for ASCII only, because it asks C which characters
are digits, and C errs beyond Latin-1. Everything else is read field by field.
"""

from __future__ import annotations

import io
import math
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

INTEGER = re.compile(r"[+-]?[0-9]+")
CANONICAL = re.compile(r"0|-?[1-9][0-9]*")  # the canonical spelling of an integer
NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+|d[+-][0-9]+)?|inf|infinity|nan)",
                    re.IGNORECASE)
FILE_CHARACTERS = 1 << 20  # characters from which a text is read through a file in memory
INTEGER_CHARACTERS = 20  # digits and sign of the longest 64-bit integer


def number(text: str) -> float | None:
    """The number in a text, which may be NaN; None if it is not a number, or too large for a float."""
    if not NUMBER.fullmatch(text):
        return None
    value = float(text.replace("d", "e").replace("D", "e"))  # Fortran's exponents
    return None if math.isinf(value) and text[-1] in "0123456789." else value


def is_number(text: str) -> bool:
    """Whether a text is a number, which may be infinite or NaN."""
    return number(text) is not None


def integer(text: str, low: int = -(2**63), high: int = 2**63 - 1) -> int | None:
    """The integer in a text; None if it is not an integer from low to high. The limits have at most 20 characters."""
    if not INTEGER.fullmatch(text):
        return None
    digits = text.lstrip("+-0") or "0"
    if len(digits) > INTEGER_CHARACTERS:  # Python refuses to read thousands of digits
        return None
    value = -int(digits) if text[0] == "-" else int(digits)
    return value if low <= value <= high else None


def integers(texts: Sequence[str]) -> NDArray[np.int64] | None:
    """Texts as 64-bit integers, or None if one is not an integer of this size."""
    values = list(map(integer, texts))
    return None if None in values else np.array(values, dtype=np.int64)


def table(text: str, dtype: np.dtype, separator: str | None, *, canonical: bool = False) -> np.ndarray | None:
    """The lines of a text of plain numbers; None if a line does not fit the dtype exactly.

    Also None if a float is too large for 64 bits, since it would be read as infinite; and with `canonical`, if an
    integer has a sign or leading zeros.
    """
    if not text.isascii():
        return None
    data = text.encode("ascii")
    if not _is_plain(data, canonical):
        return None
    with _as_a_file(data) as file, warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = np.loadtxt(file, dtype=dtype, delimiter=separator, comments=None, ndmin=1, encoding="ascii")
        except (ValueError, Warning):
            return None
    for field in dtype.names or ():
        if found.dtype[field].kind == "f" and not np.isfinite(found[field]).all():
            return None
    return found


@contextmanager
def _as_a_file(data: bytes) -> Iterator[Any]:
    """Text as `loadtxt` accepts it: a path in memory, which it reads in blocks; or lines, which take twice as long."""
    if len(data) > FILE_CHARACTERS and hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("table"), "wb") as file:
            path = f"/proc/self/fd/{file.fileno()}"
            if os.path.exists(path):
                file.write(data)
                file.flush()
                yield path
                return
    yield io.TextIOWrapper(io.BytesIO(data), encoding="ascii", newline="")


STRANGE, OTHER, SEPARATOR, MINUS, PLUS, ZERO, DIGIT = range(7)


def _kind(character: int) -> int:
    """The class of a character at the beginning of a number; DIGIT excludes 0, STRANGE includes quotation marks."""
    letter = chr(character)
    if not (" " <= letter <= "~" or letter in "\t\r\n") or letter == '"':
        return STRANGE
    if letter in " \t\r\n,;":
        return SEPARATOR
    return {"-": MINUS, "+": PLUS, "0": ZERO}.get(letter, DIGIT if "1" <= letter <= "9" else OTHER)


BLOCK = 1 << 16  # characters
KINDS = bytes(map(_kind, range(256)))


def _is_plain(data: bytes, canonical: bool) -> bool:
    """Whether a table may contain these characters, and with `canonical`, all integers are canonical.

    With `canonical`, no field begins with a plus, a zero before a digit, or a minus before an integer 0.
    """
    for start in range(0, len(data), BLOCK):  # blocks that fit the cache, with their neighbouring characters
        part = b"\n" + data[:BLOCK] if start == 0 else data[start - 1 : start + BLOCK]
        after = data[start + BLOCK : start + BLOCK + 2].ljust(2, b"\n")
        k = np.frombuffer((part + after).translate(KINDS), np.uint8)
        if k.min() == STRANGE:
            return False
        if canonical:
            odd = k[1:-2] - np.uint8(MINUS) <= ZERO - MINUS  # a sign or a zero; what is less wraps round
            begins = np.flatnonzero(odd & (k[:-3] == SEPARATOR))
            first, then, last = k[begins + 1], k[begins + 2], k[begins + 3]
            zeros = (first == ZERO) & (then >= ZERO)
            minus = (first == MINUS) & (then == ZERO) & (last != OTHER)
            if (zeros | minus | (first == PLUS)).any():
                return False
    return True
