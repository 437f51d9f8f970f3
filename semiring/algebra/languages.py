"""Whether two regular expressions match the same words.

    an expression → its positions: letters, and after each letter the positions that may be read next

A word leads to a set of positions, and two expressions are equal if every word leads both to sets that agree on whether
the word may end there. Sets that were compared are united, so that what follows from earlier comparisons is not
followed again.

V. M. Glushkov, The abstract theory of automata (1961); J. E. Hopcroft, R. M. Karp, A linear algorithm for testing
equivalence of finite automata (1971).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .objects import Regex

ENDS = 1  # the bit of a set of positions that says that the word may end here


class Positions:
    """The positions of letters in some expressions, as bits of integers.

    Attributes
    ----------
    at : dict of str to int
        The positions of each letter.
    after : list of int
        The set to which each position leads.
    """

    def __init__(self) -> None:
        self.at: dict[str, int] = {}
        self.after = [0]

    def enter(self, x: Regex) -> int:
        """Enter the positions of an expression; return the set where its words begin."""
        first, last = self._enter(x)
        self._follow(last, ENDS)
        return first | (ENDS if x.nullable else 0)

    def _enter(self, x: Regex) -> tuple[int, list[int]]:
        """The positions where words of a part begin, and those where they end."""
        if x.kind == "letter":
            place = len(self.after)
            self.after.append(0)
            self.at[x.text] = self.at.get(x.text, 0) | 1 << place
            return 1 << place, [place]
        first, last = 0, list[int]()
        for i, part in enumerate(x.parts):
            begins, ends = self._enter(part)
            if x.kind == "concatenation":
                self._follow(last, begins)
                if all(p.nullable for p in x.parts[:i]):
                    first |= begins
                last = [*last, *ends] if part.nullable else ends
            else:
                first, last = first | begins, [*last, *ends]
        if x.kind == "iteration":
            self._follow(last, first)
        return first, last

    def _follow(self, places: list[int], following: int) -> None:
        for place in places:
            self.after[place] |= following

    def step(self, positions: int, letter: str) -> int:
        """The set to which a letter leads from a set."""
        found, read = 0, positions & self.at[letter]
        while read:
            lowest = read & -read
            found |= self.after[lowest.bit_length() - 1]
            read ^= lowest
        return found


def same_words(x: Regex, y: Regex) -> bool:
    """Whether two expressions match the same words.

    Examples
    --------
    >>> import semiring as sr
    >>> a, b = sr.letter("a"), sr.letter("b")
    >>> same_words(sr.regex.star(sr.regex.add(a, b)), sr.regex.star(sr.regex.add(b, a)))
    True
    """
    positions = Positions()
    pairs, equal = [(positions.enter(x), positions.enter(y))], list[tuple[int, int]]()
    while pairs:
        one, other = pairs.pop()
        if (one ^ other) & ENDS:
            return False
        if one == other or _completed(one, equal) == _completed(other, equal):
            continue
        equal.append((one, other))
        pairs += [(positions.step(one, a), positions.step(other, a)) for a in positions.at]
    return True


def _completed(positions: int, equal: list[tuple[int, int]]) -> int:
    """A set, with all that its parts are equal to."""
    rules = equal
    while True:
        before, left = positions, list[tuple[int, int]]()
        for rule in rules:
            one, other = rule
            if one & ~positions and other & ~positions:
                left.append(rule)
            else:
                positions |= one | other
        if positions == before:
            return positions
        rules = left
