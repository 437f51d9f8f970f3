"""A timetable: the page's period, critical edges, transient and slack against all cycles and a long simulation."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from teach.node import NODE

import semiring as sr
from semiring.teach.page import script
from semiring.teach.timetable import explain_timetable

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
Edge = tuple[int, int, int]
ROUNDS = 700  # of the simulation


def cycles(n: int, edges: list[Edge]) -> list[list[int]]:
    """All simple cycles, as lists of edges; each begins with its least vertex."""
    found = []

    def further(path: list[int], root: int, seen: set[int]) -> None:
        at = edges[path[-1]][1] if path else root
        for e, (u, v, _) in enumerate(edges):
            if u == at and v == root:
                found.append([*path, e])
            elif u == at and v > root and v not in seen:
                further([*path, e], root, seen | {v})

    for root in range(n):
        further([], root, {root})
    return found


def reachable(n: int, edges: list[Edge], source: int) -> set[int]:
    seen, new = {source}, [source]
    while new:
        u = new.pop()
        for a, v, _ in edges:
            if a == u and v not in seen:
                seen.add(v)
                new.append(v)
    return seen


class Facts:
    """What the page should find, by enumeration."""

    def __init__(self, n: int, edges: list[Edge], start: list[int]):
        self.n, self.edges, self.start = n, edges, start
        self.cycles = cycles(n, edges)
        self.reach = [reachable(n, edges, v) for v in range(n)]
        component = [frozenset(u for u in self.reach[v] if v in self.reach[u]) for v in range(n)]
        self.components = sorted(set(component), key=min)
        self.means = {c: max((self.mean(k) for k in self.cycles if edges[k[0]][0] in c), default=None)
                      for c in self.components}
        self.best = [k for k in self.cycles if self.mean(k) == self.means[component[edges[k[0]][0]]]]
        self.critical = {e for k in self.best for e in k}
        self.component = component
        rates = [[m for c, m in self.means.items() if m is not None and v in self.reach[min(c)]] for v in range(n)]
        self.rates = [max(means, default=None) for means in rates]
        self.cyclicity = math.lcm(*(self.cyclicity_of(c) for c in self.components))

    def mean(self, cycle: list[int]) -> Fraction:
        return Fraction(sum(self.edges[e][2] for e in cycle), len(cycle))

    def cyclicity_of(self, component: frozenset[int]) -> int:
        """Of the components of the critical graph: cycles that share a vertex, directly or by others."""
        groups: list[tuple[set[int], int]] = []
        for k in self.best:
            vertices, length = {self.edges[e][0] for e in k}, len(k)
            if not vertices <= component:
                continue
            for other in [g for g in groups if g[0] & vertices]:
                groups.remove(other)
                vertices, length = vertices | other[0], math.gcd(length, other[1])
            groups.append((vertices, length))
        return math.lcm(*(length for _, length in groups))

    def slack(self, e: int) -> Fraction | None:
        through = [k for k in self.cycles if e in k]
        mean = self.means[self.component[self.edges[e][0]]]
        return min((mean * len(k) - sum(self.edges[x][2] for x in k) for k in through), default=None)

    def rounds(self, count: int, edges: list[Any] | None = None, start: list[Any] | None = None) -> list[list[Any]]:
        x = [list(self.start if start is None else start)]
        for _ in range(count):
            now = x[-1]
            arrivals = [(v, now[u] + w) for u, v, w in edges or self.edges if now[u] is not None]
            x.append([max((z for to, z in arrivals if to == v), default=None) for v in range(self.n)])
        return x

    def repeats(self, x: list[list[Any]], t: int, d: int) -> bool:
        return all(x[t + d][v] is None if x[t][v] is None
                   else self.rates[v] is not None and x[t + d][v] == x[t][v] + d * self.rates[v] for v in range(self.n))


def networks(count: int, seed: int) -> Iterator[tuple[int, list[Edge], list[int]]]:
    random = np.random.default_rng(seed)
    for _ in range(count):
        n, share = int(random.integers(1, 6)), random.choice([0.15, 0.3, 0.5, 0.9])
        largest = int(random.choice([3, 12, 4000]))
        edges = [(u, v, int(random.integers(-1 if largest < 9 else 0, largest + 1)))
                 for u in range(n) for v in range(n) if random.random() < share]
        start = [int(x) for x in random.integers(0, 6, n)] if random.random() < 0.5 else [0] * n
        yield n, edges, start


ANSWER = """const big = x => Array.isArray(x) ? x.map(big) : typeof x === "bigint" ? String(x)
  : x === Infinity ? "inf" : x;
process.stdout.write(JSON.stringify(asked_.map(([n, edges, start]) => {
  const {components, rates, cyclicity, slackOfMean, x, scale, transient, period, slackOfTimes} =
    analysed(n, edges.map(([u, v, w]) => [u, v, BigInt(w)]), start.map(BigInt));
  return big([components.map(c => [c.vertices, c.mean, c.critical, c.cycles, c.cyclicity]), rates, cyclicity,
    slackOfMean, x, scale, transient, period, slackOfTimes]);
})));"""


def in_node(folder: Path, asked: list[Any]) -> list[Any]:
    assert NODE is not None
    driver, given = folder / "driver.cjs", folder / "asked.json"
    read = 'const asked_ = JSON.parse(require("fs").readFileSync(process.argv[2], "utf8"));\n'
    driver.write_text("\n".join([script("values"), script("maxplus"), read, ANSWER]), encoding="utf-8")
    given.write_text(json.dumps(asked), encoding="utf-8")
    done = subprocess.run([NODE, str(driver), str(given)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def number(x: Any) -> Fraction | None:
    return None if x is None else Fraction(int(x[0]), int(x[1]))


@needs_node
def test_what_the_page_finds_is_so(tmp_path: Path) -> None:
    asked = list(networks(150, 0))
    kinds = {"acyclic": 0, "several rates": 0, "cyclicity": 0, "a transient": 0}
    for (n, edges, start), found in zip(asked, in_node(tmp_path, asked), strict=True):
        F = Facts(n, edges, start)
        components, rates, cyclicity, slack, x, scale, transient, period, slack_of_times = found
        assert [frozenset(c[0]) for c in components] == F.components
        assert [number(c[1]) for c in components] == [F.means[c] for c in F.components]
        assert [int(c[4]) for c in components] == [F.cyclicity_of(c) for c in F.components]
        assert {e for c in components for e in c[2]} == F.critical
        for _, mean, _, walks, _ in components:
            for walk in walks:
                weights = [next(w for u, v, w in edges if (u, v) == step) for step in pairwise(walk)]
                assert walk[0] == walk[-1] and Fraction(sum(weights), len(weights)) == number(mean)
        assert [number(r) for r in rates] == F.rates and int(cyclicity) == F.cyclicity
        assert [number(s) for s in slack] == [F.slack(e) for e in range(len(edges))]
        simulated = F.rounds(ROUNDS)
        assert [[None if z is None else Fraction(int(z), int(scale)) for z in row] for row in x] == simulated[: len(x)]
        c = F.cyclicity
        first = after_last([not F.repeats(simulated, t, c) for t in range(ROUNDS - c + 1)])
        if transient is None:
            assert first > ROUNDS - 3 * c or len(x) > 3000
            continue
        assert transient == first
        assert period == next(d for d in range(1, c + 1) if c % d == 0
                              and all(F.repeats(simulated, s, d) for s in range(first, first + c)))
        kinds["acyclic"] += not F.cycles
        kinds["several rates"] += len(set(F.rates)) > 1
        kinds["cyclicity"] += c > 1
        kinds["a transient"] += first > 3
        check_slack_of_times(F, simulated[first], slack_of_times, min(2 * c + 12, ROUNDS - first))
    assert min(kinds.values()) > 10, kinds


def after_last(holds: list[bool]) -> int:
    """The position from which on nothing holds."""
    return next((t + 1 for t in range(len(holds) - 1, -1, -1) if holds[t]), 0)


def check_slack_of_times(F: Facts, at: list[Any], slack: list[Any], rounds: int) -> None:
    """Delay an edge by its slack in every round, then by a little more: what changes?"""
    before = F.rounds(rounds, start=at)
    for e, given in enumerate(slack):
        u, v, w = F.edges[e]
        if given == "inf" and F.rates[u] is not None:
            continue  # it gains time in every round, so only late rounds allow any delay
        most = Fraction(10**6) if given == "inf" else number(given)
        assert most is not None
        tries = [(most, True)] if given == "inf" else [(most, True), (most + Fraction(1, 7), False)]
        for more, same in tries:
            changed = [*F.edges[:e], (u, v, w + more), *F.edges[e + 1 :]]
            after = F.rounds(rounds, edges=changed, start=at)
            assert (after == before) is same, (F.edges, e, given)


@needs_node
def test_the_greatest_mean_is_that_of_the_library(tmp_path: Path) -> None:
    asked = [(n, edges, [0] * n) for n, edges, _ in networks(40, 5)]
    for (n, edges, _), found in zip(asked, in_node(tmp_path, asked), strict=True):
        A = np.full((n, n), -np.inf)
        for u, v, w in edges:
            A[u, v] = w
        means = [number(c[1]) for c in found[0] if c[1] is not None]
        assert sr.cycle_mean(A, sr.max_plus)[0] == pytest.approx(float(max(means)) if means else -np.inf)
        x, scale = np.zeros((n, 1)), int(found[5])
        for row in found[4][:4]:
            assert [-np.inf if z is None else int(z) / scale for z in row] == pytest.approx(x[:, 0].tolist())
            x = sr.matmul(A.T.copy(), x, sr.max_plus)


@needs_node
def test_a_timetable_that_settles_late(tmp_path: Path) -> None:
    # A loop of 1000 a round, and one of 999 that is 600 ahead: its event waits for the other one after 1,600 rounds.
    edges = [(0, 0, 1000), (1, 1, 999), (0, 1, 0), (1, 0, 0)]
    *_, transient, period, _ = in_node(tmp_path, [(2, edges, [0, 600])])[0]
    x = Facts(2, edges, [0, 600]).rounds(2500)
    late = after_last([x[t + 1] != [z + 1000 for z in x[t]] for t in range(2500)])
    assert (transient, period) == (late, 1) and late == 1600
    apart = [*edges[:3], (1, 0, -(10**6))]
    assert in_node(tmp_path, [(2, apart, [0, 10**5])])[0][6] is None  # it would after 100,000


def test_text_and_refusals() -> None:
    E = explain_timetable(sr.as_graph([("a", "b", 2.5), ("b", "c", 1)]))
    assert str(E) == "3 events, 2 durations\nIt has no cycle, and so no cycle time"
    assert repr(E) == "<TimetableExplanation: 3 events, 2 durations>"
    assert str(explain_timetable([[2.0, 5.0], [3.5, 3.0]])).endswith("The cycle time is 17/4: 0 → 1 → 0")
    with pytest.raises(sr.SemiringError, match="networks of 1 to 12 vertices, but this one has 13"):
        explain_timetable(np.zeros((13, 13)))
    with pytest.raises(sr.SemiringError, match=r"at most 3 decimals, but 0\.1234 has more"):
        explain_timetable([[0.1234]])
    with pytest.raises(sr.SemiringError, match="a number up to 1,000,000, not ∞"):
        explain_timetable([[np.inf]])


def test_the_page_is_small(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    explain_timetable().save(file)
    assert file.stat().st_size <= 52_000
    assert "http" not in file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
