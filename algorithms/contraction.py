"""In which order to multiply many arrays with named axes: the order of an einsum.

An array is the set of its axes, here the bits of an integer. Two arrays L and R become one:

    C = ⊕ L ⊗ R       over the axes of L ∪ R that no other array and not the answer has

It takes |L ∪ R| multiply-adds, the product of all sizes, and C has |L ∪ R| / (sizes of the summed axes) elements. The
order decides between seconds and centuries, and the best one is NP-hard to find. Here:

    exact        dynamic programming over sets of arrays, for a few; over runs of neighbours if ⊗ does not commute
    elimination  sum one axis after the other: multiply the arrays that have it; next the axis of the smallest product,
                 or of the fewest new pairs of neighbours, or in the order given
    greedy       always the pair whose product is smallest, compared with the two
    refined      in an order that is there, the products of a few arrays that take most work are ordered anew by `exact`

The cheapest of elimination and greedy is taken, and refined. R. Dechter, Bucket elimination: a unifying framework for
reasoning (1999); D. G. A. Smith, J. Gray, opt_einsum (2018); J. Gray, S. Kourtis, Hyper-optimized tensor network
contraction (2021), which reconfigures subtrees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from math import prod
from typing import Any

FEW = 7  # arrays of which all orders are compared
NEIGHBOURS = 48  # arrays of which all ways to multiply neighbours are compared
LARGE = 1e7  # multiply-adds and elements from which an order is refined
SWEEPS, DEAREST = 3, 24  # how often an order is refined, and how many products each time,
SHARE = 1 / 256  # each with at least this share of all work
MOST_PAIRS = 4000  # pairs that the greedy order compares; with more it is left out

Pairs = list[tuple[int, int]]  # by number: a product gets the next number


class Network:
    """Arrays with axes.

    Parameters
    ----------
    arrays : sequence of int
        The axes of each array: bit a is set for axis a.
    output : int
        The axes of the answer.
    sizes : sequence of int
        The size of each axis.
    """

    def __init__(self, arrays: Sequence[int], output: int, sizes: Sequence[int]):
        self.arrays, self.output, self.sizes = tuple(arrays), output, tuple(sizes)
        self._size: dict[int, float] = {}

    def part(self, arrays: Sequence[int], output: int) -> Network:
        """Other arrays with the same axes."""
        made = Network(arrays, output, self.sizes)
        made._size = self._size
        return made

    def size(self, axes: int) -> float:
        """The product of the sizes of some axes."""
        found = self._size.get(axes)
        if found is None:
            found = self._size[axes] = float(prod(self.sizes[a] for a in bits(axes)))
        return found

    def products(self, pairs: Pairs) -> Iterator[tuple[int, int, int]]:
        """The number of each product of an order, the axes of its factors together, and its own axes."""
        live = dict(enumerate(self.arrays))
        users = [(self.output >> a & 1) + sum(axes >> a & 1 for axes in self.arrays) for a in range(len(self.sizes))]
        for number, (i, j) in enumerate(pairs, len(self.arrays)):
            both = live[i] & live[j]
            union = live.pop(i) | live.pop(j)
            for a in bits(both):
                users[a] -= 1
            live[number] = union & ~sum(1 << a for a in bits(union) if users[a] < 2)
            yield number, union, live[number]

    def cost(self, pairs: Pairs) -> float:
        """The multiply-adds of an order, and the elements that it writes."""
        return sum(self.size(union) + self.size(axes) for _, union, axes in self.products(pairs))

    def needed(self, others: Iterable[int]) -> int:
        """The axes that other arrays or the answer have."""
        axes = self.output
        for other in others:
            axes |= other
        return axes


def bits(mask: int) -> Iterator[int]:
    """The places of the bits that are set, ascending.

    >>> list(bits(0b1010))
    [1, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def order(network: Network, commutes: bool = True) -> Pairs:
    """The order in which to multiply: pairs of arrays by number, where each product gets the next number.

    If ⊗ does not commute only neighbours are multiplied.

    Examples
    --------
    A chain of matrices of shape 9 × 2, 2 × 9 and 9 × 3 is multiplied from the right:

    >>> order(Network([0b0011, 0b0110, 0b1100], 0b1001, [9, 2, 9, 3]))
    [(1, 2), (0, 3)]
    """
    count = len(network.arrays)
    if not commutes:
        return runs(network) if count <= NEIGHBOURS else in_turn(count)
    if count <= FEW:
        return exact(network)
    found = [eliminated(network, score) for score in (product_size, new_pairs, place)]
    shared = sum(a & b != 0 for a, b in combinations(network.arrays, 2)) if count < 512 else MOST_PAIRS + 1
    if shared <= MOST_PAIRS:
        found.append(greedy(network))
    best = min(found, key=network.cost)
    return refined(network, best) if network.cost(best) > LARGE else best


def in_turn(count: int) -> Pairs:
    """From left to right.

    >>> in_turn(4)
    [(0, 1), (4, 2), (5, 3)]
    """
    return [(count + i - 1 if i else 0, i + 1) for i in range(count - 1)]


def exact(network: Network) -> Pairs:
    """The cheapest order, by dynamic programming over sets of arrays."""
    count = len(network.arrays)
    everything = (1 << count) - 1
    axes = dict.fromkeys(range(1 << count), 0)
    for some in range(1, 1 << count):
        axes[some] = axes[some & (some - 1)] | network.arrays[(some & -some).bit_length() - 1]
    kept = {s: axes[s] & (axes[everything ^ s] | network.output) if s & (s - 1) else axes[s] for s in axes}
    cost = {1 << i: 0.0 for i in range(count)}
    split: dict[int, int] = {}
    for some in sorted(axes, key=int.bit_count):
        if some.bit_count() < 2:
            continue
        left = (some - 1) & some
        while left > some ^ left:  # each split in two once
            right = some ^ left
            total = cost[left] + cost[right] + network.size(kept[left] | kept[right]) + network.size(kept[some])
            if some not in cost or total < cost[some]:
                cost[some], split[some] = total, left
            left = (left - 1) & some
    return _numbered(count, everything, lambda some: (
        None if some not in split else _in_order(split[some], some ^ split[some])))


def _in_order(a: int, b: int) -> tuple[int, int]:
    """Two sets of arrays, that with the first array first."""
    return (a, b) if a & -a < b & -b else (b, a)


def runs(network: Network) -> Pairs:
    """The cheapest order in which neighbours are multiplied, by dynamic programming over runs of arrays."""
    count = len(network.arrays)
    before = [network.output]
    for axes in network.arrays:
        before.append(before[-1] | axes)
    after = [0] * (count + 1)
    for i in reversed(range(count)):
        after[i] = after[i + 1] | network.arrays[i]
    cost, split = {(i, i + 1): 0.0 for i in range(count)}, dict[tuple[int, int], int]()
    kept = {(i, i + 1): axes for i, axes in enumerate(network.arrays)}
    for length in range(2, count + 1):
        for i in range(count - length + 1):
            j = i + length
            for k in range(j - 1, i, -1):
                union = kept[i, k] | kept[k, j]
                own = union & (before[i] | after[j])
                total = cost[i, k] + cost[k, j] + network.size(union) + network.size(own)
                if (i, j) not in cost or total < cost[i, j]:
                    cost[i, j], split[i, j], kept[i, j] = total, k, own
    return _numbered(count, (0, count), lambda run: (
        None if run not in split else ((run[0], split[run]), (split[run], run[1]))), lambda run: run[0])


def _numbered(
    count: int, root: Any, parts: Callable[[Any], tuple[Any, Any] | None],
    leaf: Callable[[Any], int] = lambda some: some.bit_length() - 1,
) -> Pairs:
    """The pairs of a binary tree, from its leaves to its root."""
    pairs: Pairs = []

    def visit(node: Any) -> int:
        two = parts(node)
        if two is None:
            return leaf(node)
        pair = visit(two[0]), visit(two[1])
        pairs.append(pair)
        return count + len(pairs) - 1

    visit(root)
    return pairs


class _Live:
    """The arrays that are left while an order is made."""

    def __init__(self, network: Network):
        self.network, self.pairs = network, Pairs()
        self.axes = dict(enumerate(network.arrays))
        self.having: dict[int, set[int]] = {}  # the arrays that have an axis
        for number, axes in self.axes.items():
            for a in bits(axes):
                self.having.setdefault(a, set()).add(number)

    def union(self, axis: int) -> int:
        """The axes of all arrays that have an axis."""
        found = 0
        for number in self.having[axis]:
            found |= self.axes[number]
        return found

    def kept(self, i: int, j: int) -> int:
        """The axes of the product of two arrays: all that are in another one, or in the answer."""
        both = {i, j}
        union = self.axes[i] | self.axes[j]
        alone = union & ~self.network.output
        return union & ~sum(1 << a for a in bits(alone) if self.having[a] <= both)

    def multiply(self, i: int, j: int) -> int:
        """Multiply two arrays; the number of the product."""
        kept, number = self.kept(i, j), len(self.network.arrays) + len(self.pairs)
        for old in (i, j):
            for a in bits(self.axes.pop(old)):
                self.having[a].discard(old)
        for a in bits(kept):
            self.having[a].add(number)
        self.axes[number] = kept
        self.pairs.append((min(i, j), max(i, j)))
        return number

    def multiply_all(self, some: set[int]) -> int:
        """Multiply some arrays, those with the smallest product first."""
        size = self.network.size
        some = set(some)
        while len(some) > 1:
            i, j = min(combinations(sorted(some), 2), key=lambda p: (size(self.axes[p[0]] | self.axes[p[1]]), p))
            some -= {i, j}
            some.add(self.multiply(i, j))
        return some.pop()


Score = Callable[[_Live, int], float]


def product_size(live: _Live, axis: int) -> float:
    """The elements of the product of all arrays that have an axis."""
    return live.network.size(live.union(axis))


def new_pairs(live: _Live, axis: int) -> float:
    """The pairs of axes that no array has yet, and the product of all that have an axis will have."""
    neighbours = live.union(axis)
    missing = 0
    for a in bits(neighbours):
        missing += (neighbours & ~live.union(a)).bit_count()
    return float(missing)


def place(live: _Live, axis: int) -> float:
    """The place of an axis in the order given."""
    return float(axis)


def eliminated(network: Network, score: Score) -> Pairs:
    """Sum one axis after the other, that of the least score first."""
    live = _Live(network)
    scores = {a: score(live, a) for a in live.having if not network.output >> a & 1}
    while scores:
        axis = min(scores, key=lambda a: (scores[a], a))
        del scores[axis]
        if not live.having[axis]:
            continue
        changed = live.union(axis)
        live.multiply_all(live.having[axis])
        if score is not place:
            for a in bits(changed):
                if a in scores and live.having[a]:
                    scores[a] = score(live, a)
    return _finished(live)


def greedy(network: Network) -> Pairs:
    """Multiply the pair whose product is smallest compared with the two, of those that share an axis."""
    live, size = _Live(network), network.size

    def gain(pair: tuple[int, int]) -> tuple[float, tuple[int, int]]:
        i, j = pair
        return size(live.kept(i, j)) - size(live.axes[i]) - size(live.axes[j]), pair

    gains = {p: gain(p) for p in combinations(sorted(live.axes), 2) if live.axes[p[0]] & live.axes[p[1]]}
    while gains:
        i, j = min(gains, key=gains.__getitem__)
        near = {n for a in bits(live.axes[i] | live.axes[j]) for n in live.having[a]} - {i, j}
        number = live.multiply(i, j)
        gains = {p: g for p, g in gains.items() if i not in p and j not in p}
        near = {n for n in near if live.axes[n] & live.axes[number]}
        gains |= {(n, number): gain((n, number)) for n in near}
    return _finished(live)


def _finished(live: _Live) -> Pairs:
    """The order, after arrays that share no axis are multiplied too: the smallest first."""
    while len(live.axes) > 1:
        i, j = sorted(sorted(live.axes, key=lambda n: (live.network.size(live.axes[n]), n))[:2])
        live.multiply(i, j)
    return live.pairs


class _Tree:
    """The products of an order, whose parts can be ordered anew.

    Attributes
    ----------
    factors : dict
        The two numbers that are multiplied, by the number of the product; the last one is `root`.
    axes : dict
        The axes of all arrays and products, by number.
    """

    def __init__(self, network: Network, pairs: Pairs):
        self.network, first = network, len(network.arrays)
        self.factors = dict(enumerate(pairs, first))
        self.axes = dict(enumerate(network.arrays)) | {number: own for number, _, own in network.products(pairs)}
        self.root = self.last = first + len(pairs) - 1

    def cost(self, number: int) -> float:
        """The multiply-adds of a product, and its elements."""
        i, j = self.factors[number]
        return self.network.size(self.axes[i] | self.axes[j]) + self.network.size(self.axes[number])

    def dearest(self) -> list[int]:
        """The products with the most work."""
        cost = {number: self.cost(number) for number in self.factors}
        least = sum(cost.values()) * SHARE
        return sorted((number for number in cost if cost[number] >= least), key=lambda n: (-cost[n], n))[:DEAREST]

    def reorder(self, top: int) -> bool:
        """Order a product and the dearest of those that lead to it anew; whether that saves work."""
        if top not in self.factors:
            return False
        leaves, inner = [top], list[int]()
        while len(leaves) < FEW and (products := [x for x in leaves if x in self.factors]):
            inner.append(max(products, key=self.cost))
            leaves.remove(inner[-1])
            leaves += self.factors[inner[-1]]
        part = self.network.part([self.axes[x] for x in leaves], self.axes[top])
        pairs = exact(part)
        if part.cost(pairs) > sum(map(self.cost, inner)) * (1 - 1e-9):
            return False
        for x in inner:
            del self.factors[x]
        for (i, j), (_, _, axes) in zip(pairs, part.products(pairs), strict=True):
            number = top if len(leaves) == 2 * len(pairs) else self.last + 1
            self.last = max(self.last, number)
            self.factors[number], self.axes[number] = (leaves[i], leaves[j]), axes
            leaves.append(number)
        return True

    @property
    def pairs(self) -> Pairs:
        """The order, each product after its factors."""
        found, numbers = Pairs(), {k: k for k in range(len(self.network.arrays))}
        waiting = [self.root] if self.factors else []
        while waiting:
            missing = [x for x in self.factors[waiting[-1]] if x not in numbers]
            if not missing:
                done = waiting.pop()
                i, j = (numbers[x] for x in self.factors[done])
                found.append((min(i, j), max(i, j)))
                numbers[done] = len(numbers)
            waiting += missing[:1]
        return found


def refined(network: Network, pairs: Pairs) -> Pairs:
    """A cheaper order: the dearest products, each with some that lead to it, are ordered anew."""
    tree = _Tree(network, pairs)
    for _ in range(SWEEPS):
        if not sum(tree.reorder(number) for number in tree.dearest()):
            break
    return tree.pairs
