"""An algebra on single elements, for people who step through a closure: its operations, and elements as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from semiring.algebra.notation import written
from semiring.algebra.objects import Regex
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.texts import shown_infinities

from .javascript import components_in_page

ROUNDING = 1e-12  # of the largest weight: an improvement that may be rounding alone


class Elements:
    """The operations of an algebra on single elements.

    Numbers and records are in the dtype of pages: doubles if the algebra lives in floats.

    Parameters
    ----------
    S : Semiring
    dtype : dtype, optional
        Another one: integers of 64 bits, where doubles would round.

    Attributes
    ----------
    zero, one : element
    diverges, unit : bool
        Whether improving cycles are refused, and whether every star is 1; cycles that a declared star sums are allowed.
    sets : bool
        Whether elements are sets of bits.
    limits : dict of int to float
        The integers that stand for ±∞.
    live : bool
        Whether pages can compute with it; otherwise they show the results of Python.
    """

    def __init__(self, S: Semiring, dtype: np.dtype | None = None):
        self.S, self.live = S, True
        summing = S.completed or S
        self.diverges, self.unit = summing.may_diverge, summing.has_unit_stars
        try:
            parts = components_in_page(S) if dtype is None else (dtype,)
        except SemiringError:
            parts, self.live = (S.default_dtype,), S.name == "regex"
        self.dtype = S.default_dtype if S.fields or len(parts) > 1 else parts[0]
        self.sets = S.name.startswith("bitset") and self.dtype == np.uint64
        self.limits = {} if self.sets or self.dtype.kind not in "iu" else shown_infinities(S, self.dtype)
        A = self._arithmetic = S.over(self.dtype)
        self.zero, self.one = A.zero, A.one
        if self.dtype.kind == "O":
            self._functions: Mapping[str, Callable[..., Any]] = A.scalar
        else:
            self._functions = {"add": A.add, "mul": A.mul, "star": A.star, "defined": A.defined}
        self.scale = 1.0  # the largest weight

    def add(self, x: Any, y: Any) -> Any:
        """x ⊕ y."""
        return self._call("add", x, y)

    def mul(self, x: Any, y: Any) -> Any:
        """x ⊗ y."""
        return self._call("mul", x, y)

    def star(self, a: Any) -> Any:
        """a*; None if it does not exist."""
        if self.unit:
            return self.one
        return self._call("star", a) if self._call("defined", a) else None

    def _call(self, name: str, *elements: Any) -> Any:
        with np.errstate(all="ignore"):
            found = self._functions[name](*elements)
        return found if self.dtype.kind == "O" else found[()]

    def same(self, x: Any, y: Any) -> bool:
        """Whether two elements are equal; regular expressions are equal if their texts are."""
        if isinstance(x, Regex) and isinstance(y, Regex):
            return x.text == y.text
        return x is y or bool(np.all((x == y) | ((x != x) & (y != y)))) if self.dtype.kind == "f" else bool(x == y)

    def improves(self, a: Any) -> bool:
        """Whether a cycle of weight a is better than to stay, so that each further round is better still."""
        if not self.diverges:
            return False
        best = self.add(self.one, a)
        if self.same(best, self.one):
            return False
        finite = self.dtype.kind == "f" and bool(np.isfinite(best) & np.isfinite(self.one))
        return not (finite and abs(float(best) - float(self.one)) <= ROUNDING * self.scale)

    def element(self, value: Any) -> Any:
        """A value of another dtype as an element: limits of integers that stand for ∞ become ∞.

        Raises
        ------
        SemiringError
            If it is not in the carrier, is complex, or is too large.
        """
        if self.dtype.kind == "O":
            found = value
            inside = bool(self._functions["carrier"](found))
        else:
            if isinstance(value, (np.void, np.generic)):
                value = value.item()
            if isinstance(value, complex):
                raise SemiringError(f"{self.S.name}: {written(value)} is complex, but pages compute with real numbers")
            if self.S.lift is not None and isinstance(value, (int, float)):
                value = self.S.lift(np.array([float(value)]))[0].item()
            try:
                if isinstance(value, int) and self.dtype.kind == "f" and int(float(value)) != value:
                    raise SemiringError(f"{self.S.name}: {value} has too many digits for a page")
                found = self._arithmetic.element(value)
            except OverflowError:
                raise SemiringError(f"{self.S.name}: {value} does not fit {self.dtype}, a page's dtype") from None
            inside = bool(np.all(self._arithmetic.contains(np.asarray(found))))
        if not inside:
            raise SemiringError(f"{self.S.name}: {written(found)} is not an element of its carrier")
        return found

    def text(self, x: Any) -> str:
        """An element as a person writes it."""
        if self.sets and x is not None:
            return set_text(int(x))
        return written(self.limits.get(int(x), x) if self.limits and x is not None else x)


def set_text(bits: int) -> str:
    """The set whose members are the bits of a 64-bit word, or what it lacks if that is shorter.

    >>> set_text(0b101), set_text(0), set_text(2**64 - 1), set_text(2**64 - 3)
    ('{0, 2}', '∅', 'all', 'all but {1}')
    """
    inside = [i for i in range(64) if bits >> i & 1]
    if len(inside) in (0, 64):
        return "all" if inside else "∅"
    if len(inside) <= 32:
        return f"{{{', '.join(map(str, inside))}}}"
    return f"all but {{{', '.join(str(i) for i in range(64) if not bits >> i & 1)}}}"
