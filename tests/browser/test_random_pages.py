"""Random pages, driven step by step: every number, field, equation and walk is Python's, whole numbers to the digit.

Few pages run in `make test-browser`; SEMIRING_PAGES=1000 draws a thousand, and SEMIRING_PAGES=200+50 fifty from 200 on.
"""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
import pytest
from browser.conftest import Opener

import semiring as sr
from semiring.algebra.notation import written
from semiring.teach.page import refusals
from semiring.teach.replay import Replay
from semiring.teach.words import line

FIRST, COUNT = (int(x) for x in f"0+{os.environ.get('SEMIRING_PAGES', '12')}".split("+")[-2:])
inf = np.inf
WHOLE = [1, 2, 3, 7, 12, 10_000, 12_345, 99_999, 1_000_003, 2**31, 2**40 + 1, 2**52 + 1, 2**53 - 1, 2**53]
REALS = [0.5, 0.25, 1.0625, 1 / 3, 2.5, 1234.5678, 22350.25, 1e-7, 1e22, 3.0, 12345.0]
SHARES = [0.5, 0.25, 0.125, 0.0625, 0.3, 1 / 7]


def declared(name: str, **given: Any) -> sr.Semiring:
    return sr.Semiring(name, **given)


# Algebras of one's own, each with weights: numbers, records, 64-bit integers, Python objects.
OWN = {
    "long roads": (sr.min_plus, [2**53 + 1, 2**60, 3**30, 12_345]), "many walks": (sr.counting, [3**20, 10**9 + 7, 1]),
    "wide roads": (sr.max_min, [2**62 + 1, 2**53 + 1, 5]),
    "reliability": (declared("reliability", add=np.maximum, mul=np.multiply, zero=0.0, one=1.0,
                             carrier=lambda a: (a >= 0) & (a <= 1)), SHARES),
    "tickets": (declared("tickets", add=np.minimum, mul=np.add, zero=inf, one=0, carrier=lambda a: a >= 0), WHOLE),
    "roads": (declared("roads", fields={"km": "f8", "m": "f8"}, zero=(inf, -inf), one=(0, inf),
                       add=lambda a, b: (np.minimum(a.km, b.km), np.maximum(a.m, b.m)),
                       mul=lambda a, b: (a.km + b.km, np.minimum(a.m, b.m)), carrier=lambda a: a.km >= 0),
              [(3, 2.5), (12_345, 7), (2**40, 10_001), (0.1, 2)]),
    "sizes": (declared("sizes", dtypes="i", add=np.bitwise_or, mul=np.bitwise_and, zero=0, one=-1),
              [1, 6, 2**53 + 1, 2**62 + 5, -7]),
    "words": (declared("words", add=lambda a, b: a | b, zero=frozenset(), one=frozenset([""]), dtype=object,
                       mul=lambda a, b: frozenset((x + y)[:3] for x in a for y in b),
                       star=lambda a: frozenset(["", *a, *((x + y)[:3] for x in a for y in a),
                                                 *((x + y + z)[:3] for x in a for y in a for z in a)]),
                       samples=[frozenset("p"), frozenset("q"), frozenset(["pq", ""])]),
              [frozenset("p"), frozenset("q"), frozenset(["pq", "r"])]),
}
WEIGHTS: dict[str, Any] = {
    "boolean": [True], "min_plus": [*WHOLE, *REALS], "max_plus": [-1, -12_345, -2.5, -(2**40), 0],
    "max_min": [*WHOLE, *REALS], "min_max": [*WHOLE, *REALS, inf], "viterbi": SHARES, "counting": WHOLE,
    "plus_times": [*SHARES, -2.5, 3, 12_345],
    "gcd_lcm": [2, 12, 12_345, 2**31, 30_030], "bitset_may": [1, 5, 2**40 + 2, 2**63 + 1, 2**64 - 2],
    "bitset_must": [1, 5, 2**63, 2**64 - 2], "mod_p": [1, 2, 6], "gf2": [1],
    "shortest_count": [(12_345, 2), (1, 1), (2.5, 3), (2**40, 10_001)], "shortest_hops": [(12_345, 1), (0.5, 1)],
    "widest_shortest": [(12_345, 7), (2, 100_001)], "k_best": [(1, 12_345, inf), (10_001, inf, inf)],
    "regex": list(map(sr.letter, "xyz")), "pareto": [frozenset({(1, 12_345)}), frozenset({(10_001, 1), (2, 3)})],
    "why": [frozenset({frozenset("a")}), frozenset({frozenset("bc"), frozenset("d")})], "log": [-1.0, -2.5, -12_345.0],
    "lukasiewicz": SHARES, "max_times": SHARES, "min_times": WHOLE,
}

# Clicks "next" to the end under one method, and reads all that a step shows.
DRIVE = """method => {
  const $ = id => document.getElementById(id), select = $("method");
  select.value = method;
  select.dispatchEvent(new Event("change"));
  const found = [];
  const cells = [...document.querySelectorAll("#matrix td[data-i]")];
  for (;;) {
    const target = document.querySelector("#matrix td.target"), mark = $("numbers").querySelector("mark");
    const texts = [...$("numbers").childNodes].map(node => node.textContent);
    found.push({rule: $("rule").textContent, numbers: texts.slice(0, -1).join(""), was: texts.at(-1) ?? "",
      marked: mark && mark.title, walk: $("walk").textContent, failed: $("walk").className === "wrong",
      target: target && [target.textContent, target.title, target.getAttribute("aria-label")],
      texts: cells.map(cell => cell.textContent)});
    if ($("next").getAttribute("aria-disabled") === "true" || found.length > 9999) break;
    $("next").click();
  }
  const fields = [...document.querySelectorAll("#edgelist label")]
    .map(label => [label.firstChild.data, label.querySelector("input").value]);
  return {found, fields, wrong: $("walk").className === "wrong" ? $("walk").textContent : ""};
}"""


def drawn(seed: int) -> tuple[sr.Explanation, list[str]]:
    """A page of a random graph, loops included, and the methods that its algebra allows."""
    random = np.random.default_rng([42, seed])
    name = list({**OWN, **WEIGHTS})[seed % (len(OWN) + len(WEIGHTS))]
    S, pool = OWN.get(name) or (sr.catalogue[name], WEIGHTS[name])
    n = int(random.choice([1, 2, 3] if S.is_object else [1, 2, 3, 3, 4, 4, 5]))
    names = [["a", "B 2", "Αθήνα", "x<y", "long name of a place", "0"][k] for k in random.permutation(6)[:n]]
    share = random.choice([0.3, 0.6])
    places = [(i, j) for i in range(n) for j in range(n) if random.random() < (0.25 if i == j else share)]
    edges = [(names[i], names[j], pool[random.integers(len(pool))]) for i, j in places or [(0, n - 1)]]
    A = sr.adjacency(edges, S)
    E = sr.explain(A, S, tile=int(random.integers(1, 4)), weights={})
    if E.elements.dtype == np.int64 and name in ("long roads", "many walks", "wide roads") and E.closure is not None:
        assert (np.asarray(sr.closure(A, S).array) == np.array(E._replay.values["A"])).all(), "as the library"
    return E, [method for method in E.methods if method not in refusals(S)]


def same_text(shown: str, ours: str) -> bool:
    """A text of the page is Python's; the page cuts one that is very long."""
    return shown == ours or (shown.endswith("…") and len(shown) == 44 and ours.startswith(shown[:-1]))


def exact(E: sr.Explanation, x: Any) -> str:
    """All digits."""
    return E.elements.text(x) if E.elements.dtype.kind in "iu" else written(x, repr)


def same_digits(shown: str, ours: str) -> bool:
    """JavaScript and Python write the same float differently, such as 1e-7 and 1e-07."""
    split = re.compile(r"(−?\d[\d.]*(?:e[+−-]?\d+)?)").split
    pairs = [(p, q) for p, q in zip(split(shown), split(ours), strict=True) if p != q]
    return all(float(p.replace("−", "-")) == float(q.replace("−", "-")) and ("." in q or "e" in q) for p, q in pairs)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_a_random_page_is_python_s(visit: Opener, seed: int) -> None:
    E, allowed = drawn(seed)
    n, elements, page = len(E.names), E.elements, visit(E, link="#by=entry")
    offered = page.evaluate("[...document.querySelectorAll('#method option:not([disabled])')].map(o => o.value)")
    assert set(offered) == set(allowed), E.semiring.name
    given = [[elements.zero] * n for _ in E.names]
    for (u, v), w in zip(E.edges, E.weights[E.semiring], strict=True):
        given[u][v] = w
    for method in offered:
        told = page.evaluate(DRIVE, method)
        for (u, v), (label, field) in zip(E.edges, told["fields"], strict=True):
            assert label == f"{E.names[u]} → {E.names[v]}" and same_digits(field, exact(E, given[u][v])), (seed, label)
        replay = Replay(elements, E.methods[method][2], given)
        assert len(told["found"]) == len(replay.steps) + 1, (seed, method)
        matrices = {"A": [list(row) for row in given]}
        for step, shown in zip([None, *replay.steps], told["found"], strict=True):
            compare(E, method, step, shown, matrices, f"page {seed}, {E.semiring.name}, {method}, {step}")
        assert bool(told["wrong"]) == bool(replay.failure), (seed, method, told["wrong"])
        if replay.failure:
            assert told["wrong"] == E._failure_text(replay.failure)


def compare(E: sr.Explanation, method: str, step: Any, shown: Any, matrices: dict[str, Any], where: str) -> None:
    """One position of a page: its table, and for a step its equations and its walk."""
    elements, n, target = E.elements, len(E.names), None
    if step is not None and step.kind == "copy":
        source = E.methods[method][2][step.call].blocks[1].matrix
        matrices[step.matrix] = [list(row) for row in matrices[source]]
    elif step is not None:
        target = step.row * n + step.column
        matrix = matrices.setdefault(step.matrix, [[elements.zero] * n for _ in range(n)])
        matrix[step.row][step.column] = step.new
    cells = ["·" if elements.same(x, elements.zero) else elements.text(x) for row in matrices["A"] for x in row]
    if target is None:
        assert shown["texts"] == cells, where
        return
    words = line(step, E.names, elements)
    cells[target] = "·" if elements.same(step.new, elements.zero) else elements.text(step.new)
    assert shown["texts"] == cells, where
    assert shown["rule"] == words.rule, where
    was = shown["was"].removesuffix(", no walk").removeprefix(" was ")
    assert was == " unchanged" or same_text(was, elements.text(step.old)), where
    assert len(words.numbers) > 60 or shown["numbers"] == words.numbers, where
    text, title, _ = shown["target"]
    value = exact(E, step.new)
    assert text == "·" or same_digits(title or text, value), where
    assert shown["marked"] is None or same_digits(shown["marked"], value), where
    by = words.walks if words.walks.startswith("combines") else f"by {words.walks}"
    ending = shown["walk"].removesuffix("Done: this is A*").removesuffix(" · ")
    assert shown["failed"] or ending == ("" if words.walks == "no walk" else by), where
