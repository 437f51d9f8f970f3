"""Find out which installed distribution needs which others, directly and indirectly.

    python docs/examples/dependencies.py [NAME ...]

Prints what most of the environment rests on, which requirements follow from others, and for each NAME what it needs
and what would break without it.

Requirements are read with `importlib.metadata`. Where the package `packaging` is installed, markers are evaluated for
this machine, and requirements of an extra count if an installed distribution asks for that extra. Without it,
requirements that belong to an extra are left out, and every other marker is taken to hold.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import distributions

import semiring as sr
from semiring.results.acyclic import condensation, transitive_reduction
from semiring.results.reachability import reach

try:
    from packaging.requirements import Requirement
except ImportError:
    Requirement = None

SHOWN = 8  # lines of a list


def canonical(name: str) -> str:
    """Return a distribution's name as the package index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def applying(texts: list[str], extras: set[str]) -> Iterator[tuple[str, set[str]]]:
    """Return the requirements that apply here with these extras."""
    for text in texts:
        if Requirement is not None:
            r = Requirement(text)
            if r.marker is None or any(r.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                yield canonical(r.name), {canonical(extra) for extra in r.extras}
        elif "extra" not in text.partition(";")[2]:
            yield canonical(re.match(r"[\w.-]+", text.strip())[0]), set()


def requirements() -> sr.Graph:
    """Return the graph of installed distributions, with an edge to each requirement."""
    texts = {canonical(d.name): d.requires or [] for d in distributions() if d.name}
    extras: dict[str, set[str]] = {name: set() for name in texts}
    edges: set[tuple[str, str]] = set()
    todo = list(texts)
    while todo:
        name = todo.pop()
        for needed, asked in applying(texts[name], extras[name]):
            if needed in texts:
                edges.add((name, needed))
                if not asked <= extras[needed]:  # an extra may need more
                    extras[needed] |= asked
                    todo.append(needed)
    return sr.as_graph(sorted(edges), names=sorted(texts))


def main(names: list[str]) -> int:
    """Print the answers; return 1 for a name that is not installed."""
    graph = requirements()
    R = reach(graph)
    followers = R.descendant_counts()
    print(f"{graph.n} distributions, {len(graph)} requirements, {followers.sum()} pairs of which one needs the other")

    needed_by = R.ancestor_counts()
    print("\nWithout these most would break:")
    for v in sorted(range(graph.n), key=lambda v: -needed_by[v])[:SHOWN]:
        print(f"  {graph.names[v]:<24} {needed_by[v]:>4} need it")

    components, members = condensation(graph)
    for group in members:
        if len(group) > 1:
            print("\nThese need one another:", ", ".join(group))
    implied = components & ~transitive_reduction(components)
    print(f"\n{implied.count()} requirements follow from others:")
    for needing, needed in list(zip(*implied.to_sparse().nonzero(), strict=True))[:SHOWN]:
        print(f"  {members[needing][0]} needs {members[needed][0]}")

    for name in map(canonical, names):
        if name not in graph.names:
            print(f"{name} is not installed", file=sys.stderr)
            return 1
        print(f"\n{name} needs:", ", ".join(R.descendants(name)) or "nothing")
        print(f"{name} is needed by:", ", ".join(R.ancestors(name)) or "nothing")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
