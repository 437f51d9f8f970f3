"""Algebras whose elements are Python objects: antichains of costs, of edge sets, and regular expressions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from math import inf
from numbers import Real
from typing import Any, TypeAlias

from semiring.errors import SemiringError

from .languages import same_words
from .semiring import Semiring

Costs: TypeAlias = frozenset[tuple[float, ...]]
Sets: TypeAlias = frozenset[frozenset[Any]]


def non_dominated(costs: Iterable[tuple[float, ...]]) -> Costs:
    """The vectors that are not dominated: no other vector is at most as large in every component.

    Examples
    --------
    >>> sorted(non_dominated([(1, 5), (2, 2), (3, 3)]))
    [(1, 5), (2, 2)]
    """
    kept: list[tuple[float, ...]] = []
    for c in sorted(set(costs)):  # lexicographic order: only an earlier vector can dominate a later one
        if not any(all(x <= y for x, y in zip(k, c, strict=True)) for k in kept):
            kept.append(c)
    return frozenset(kept)


def minimal(sets: Iterable[frozenset[Any]]) -> Sets:
    """The sets that contain no other of the sets.

    Examples
    --------
    >>> [sorted(s) for s in minimal([frozenset("a"), frozenset("ab")])]
    [['a']]
    """
    kept: list[frozenset[Any]] = []
    for s in sorted(set(sets), key=len):
        if not any(k <= s for k in kept):
            kept.append(s)
    return frozenset(kept)


def _are_costs(x: Any) -> bool:
    """Whether x is an antichain of vectors that are not negative, all of one length."""
    if not isinstance(x, frozenset) or not all(isinstance(c, tuple) for c in x) or len(set(map(len, x))) > 1:
        return False
    return all(isinstance(v, Real) and float(v) >= 0 for c in x for v in c) and non_dominated(x) == x


def _are_sets(x: Any) -> bool:
    """Whether x is an antichain of sets."""
    return isinstance(x, frozenset) and all(isinstance(s, frozenset) for s in x) and minimal(x) == x


FREE: Costs = frozenset({(0, 0)})  # 1, for any number of costs: no vector is less than it


def _better(x: Costs, y: Costs) -> Costs:
    """⊕ of `pareto`."""
    if x == FREE or y == FREE:
        return FREE
    _refuse_mixed(x, y)
    return non_dominated(x | y)


def _sums(x: Costs, y: Costs) -> Costs:
    """⊗ of `pareto`."""
    if x == FREE or y == FREE:
        return y if x == FREE else x
    _refuse_mixed(x, y)
    return non_dominated(tuple(a + b for a, b in zip(p, q, strict=True)) for p in x for q in y)


def _refuse_mixed(x: Costs, y: Costs) -> None:
    """Refuse to compare vectors of different lengths."""
    p, q = next(iter(x), None), next(iter(y), None)
    if p is not None and q is not None and len(p) != len(q):
        raise SemiringError(
            f"pareto: a vector of {len(p)} costs meets one of {len(q)}, {p} and {q}: give every edge the same "
            "number of costs"
        )


pareto = Semiring(
    "pareto", "(finite antichains ≥ 0, non-dominated ∪, non-dominated sums, ∅, {(0, 0)})", dtype=object,
    idempotent=True, bounded=True, commutative=True, carrier=_are_costs, add=_better, mul=_sums,
    zero=frozenset(), one=FREE, star=lambda a: FREE,
    samples=[frozenset({(1, 4), (3, 2)}), frozenset({(2, 2)}), frozenset({(0, 7), (5, 0)}), frozenset({(2, 0)})],
    description="all best trade-offs between two or more costs",
)

why = Semiring(
    "why", "(antichains of sets, minimal ∪, minimal pairwise ∪, ∅, {∅})", dtype=object,
    idempotent=True, bounded=True, commutative=True, carrier=_are_sets,
    add=lambda x, y: minimal(x | y), mul=lambda x, y: minimal(p | q for p in x for q in y),
    zero=frozenset(), one=frozenset({frozenset()}), star=lambda a: frozenset({frozenset()}),
    samples=[frozenset({frozenset("a")}), frozenset({frozenset("ab"), frozenset("c")}), frozenset({frozenset("bc")})],
    description="minimal sets of edges that connect two vertices (provenance)",
)


# The number of parts of each kind of expression.
KINDS = {"empty": (0, 0), "letter": (0, 0), "iteration": (1, 1), "concatenation": (2, inf), "alternative": (2, inf)}


class Regex:
    """A regular expression over single letters, in the syntax of Python's `re`.

    ∅ matches nothing, and ε the empty word.

    `letter` makes the first ones, and the operations of the algebra `regex` combine them. Two are equal if they match
    the same words.

    Attributes
    ----------
    kind : str
        "empty", "letter", "concatenation", "alternative" or "iteration"; ε is the iteration of ∅.
    parts : tuple of Regex
        Its parts; empty for "empty" and "letter".
    text : str
        The expression as text.
    nullable : bool
        Whether it matches the empty word.
    written : str
        Python code for a letter; empty for other expressions, which operations make from letters.

    Raises
    ------
    SemiringError
        If `kind` is a different word, such as the text of an expression: texts are not parsed.

    Notes
    -----
    Expressions are equal if they match the same words; see `semiring.algebra.languages`. The time is about proportional
    to the square of their length, but it may be exponential, as no method is known that never is.

    Examples
    --------
    >>> import semiring as sr
    >>> a, b = sr.letter("a"), sr.letter("b")
    >>> x = sr.regex.star(sr.regex.add(a, b))
    >>> x, x == sr.regex.star(sr.regex.add(b, a)), x.matches("abba")
    (Regex('(?:a|b)*'), True, True)
    """

    __slots__ = ("kind", "nullable", "parts", "text")

    def __new__(cls, kind: str, parts: tuple[Regex, ...] = (), text: str = "") -> Regex:
        """Refuse an unknown kind."""
        fits = kind in KINDS and KINDS[kind][0] <= len(parts) <= KINDS[kind][1]
        if not fits or (kind == "letter" and not text):
            raise SemiringError(
                f"Regex({kind!r}) is not an expression, because texts are not parsed: combine letters, such as "
                "sr.letter(\"a\"), by operations of sr.regex: sr.regex.add(sr.letter(\"a\"), sr.letter(\"b\")) is a|b"
            )
        return super().__new__(cls)

    def __init__(self, kind: str, parts: tuple[Regex, ...] = (), text: str = ""):
        self.kind = kind  # "empty", "letter", "concatenation", "alternative", "iteration"; ε is ∅*
        self.parts = parts
        self.text = text or self._spell()
        of_parts = [p.nullable for p in parts]
        self.nullable: bool = (
            kind == "iteration"
            or (kind == "concatenation" and all(of_parts))
            or (kind == "alternative" and any(of_parts))
        )

    def _spell(self) -> str:
        def bracket(p: Regex, *loose: str) -> str:
            return f"(?:{p.text})" if p.kind in loose else p.text

        if self.kind in ("empty", "letter") or self._is_epsilon:
            return {"empty": "∅", "iteration": "ε"}.get(self.kind, "")
        if self.kind == "alternative":
            return "|".join(p.text for p in self.parts)
        if self.kind == "concatenation":
            return "".join(bracket(p, "alternative") for p in self.parts)
        return f"{bracket(self.parts[0], 'alternative', 'concatenation', 'iteration')}*"

    @property
    def written(self) -> str:
        """Python code for a letter; empty for all other expressions."""
        return f"sr.letter({self.text!r})" if self.kind == "letter" else ""

    @property
    def _is_epsilon(self) -> bool:
        """Whether it is the expression ε, perhaps as a copy or from another process."""
        return self.kind == "iteration" and self.parts[0].kind == "empty"

    def letters(self) -> frozenset[str]:
        """Return the letters that occur.

        Returns
        -------
        frozenset of str

        Examples
        --------
        >>> import semiring as sr
        >>> sorted(sr.regex.mul(sr.letter("b"), sr.letter("a")).letters())
        ['a', 'b']
        """
        return frozenset(c.text for c in (self,) if self.kind == "letter").union(*(p.letters() for p in self.parts))

    def derivative(self, a: str) -> Regex:
        """Return the derivative by a letter: what may follow this letter.

        Parameters
        ----------
        a : str
            One letter.

        Returns
        -------
        Regex
            It matches w exactly if this expression matches a followed by w.

        Notes
        -----
        J. A. Brzozowski, Derivatives of regular expressions (1964).

        Examples
        --------
        >>> import semiring as sr
        >>> sr.regex.mul(sr.letter("a"), sr.letter("b")).derivative("a")
        Regex('b')
        """
        if self.kind == "letter":
            return EPSILON if self.text == a else EMPTY
        if self.kind == "alternative":
            return reduce(alternative, (p.derivative(a) for p in self.parts))
        if self.kind == "iteration":
            return concatenation(self.parts[0].derivative(a), self)
        if self.kind == "concatenation":
            head, tail = self.parts[0], reduce(concatenation, self.parts[1:])
            after = concatenation(head.derivative(a), tail)
            return alternative(after, tail.derivative(a)) if head.nullable else after
        return EMPTY

    def matches(self, word: str) -> bool:
        """Test whether a word is in the language.

        Parameters
        ----------
        word : str

        Returns
        -------
        bool

        Examples
        --------
        >>> import semiring as sr
        >>> x = sr.regex.star(sr.letter("a"))
        >>> x.matches("aaa"), x.matches("ab")
        (True, False)
        """
        return reduce(Regex.derivative, word, self).nullable

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Regex):
            return NotImplemented
        return self.text == other.text or same_words(self, other)

    def __hash__(self) -> int:
        return hash(self.nullable)

    def __reduce__(self) -> tuple[type[Regex], tuple[str, tuple[Regex, ...], str]]:
        return Regex, (self.kind, self.parts, self.text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Regex({self.text!r})"

    @property
    def _shown(self) -> str:
        """The text with the parentheses of a textbook."""
        return self.text.replace("(?:", "(")

    def _repr_html_(self) -> str:
        return f'<code style="overflow-wrap: anywhere">{self._shown}</code>'


EMPTY = Regex("empty", text="∅")
EPSILON = Regex("iteration", (EMPTY,), text="ε")


def letter(text: str) -> Regex:
    """Return the regular expression that matches one letter.

    Parameters
    ----------
    text : str
        One letter or digit.

    Returns
    -------
    Regex

    Raises
    ------
    SemiringError
        If the text is not one letter or digit, or is ε, which stands for the empty word.

    Examples
    --------
    >>> import semiring as sr
    >>> a, b = sr.letter("a"), sr.letter("b")
    >>> print(sr.regex.add(a, sr.regex.mul(b, sr.regex.star(a))))
    a|ba*
    """
    if not isinstance(text, str) or len(text) != 1 or not text.isalnum():
        raise SemiringError(f"letter({text!r}) takes a single letter or digit")
    if text == EPSILON.text:
        raise SemiringError(f"letter({text!r}): ε is the empty word, sr.regex.one; choose another letter")
    return Regex("letter", text=text)


def alternative(x: Regex, y: Regex) -> Regex:
    """x | y; alternatives are sorted, without duplicates."""
    parts = {p.text: p for r in (x, y) for p in (r.parts if r.kind == "alternative" else (r,)) if p.kind != "empty"}
    if len(parts) <= 1:
        return next(iter(parts.values()), EMPTY)
    return Regex("alternative", tuple(parts[t] for t in sorted(parts, key=lambda t: (len(t), t))))


def concatenation(x: Regex, y: Regex) -> Regex:
    """x followed by y."""
    if "empty" in (x.kind, y.kind):
        return EMPTY
    if x._is_epsilon or y._is_epsilon:
        return y if x._is_epsilon else x
    return Regex("concatenation", tuple(p for r in (x, y) for p in (r.parts if r.kind == "concatenation" else (r,))))


def iteration(x: Regex) -> Regex:
    """x*: any number of x, also zero."""
    if x._is_epsilon or x.kind == "empty":
        return EPSILON
    return x if x.kind == "iteration" else Regex("iteration", (x,))


regex = Semiring(
    "regex", "(regular expressions, |, concatenation, ∅, ε)", dtype=object,
    idempotent=True, carrier=lambda x: isinstance(x, Regex),
    add=alternative, mul=concatenation, zero=EMPTY, one=EPSILON, star=iteration,
    samples=[letter("a"), concatenation(letter("b"), iteration(letter("a"))), alternative(letter("b"), EPSILON)],
    description="automaton to regular expression",
)
