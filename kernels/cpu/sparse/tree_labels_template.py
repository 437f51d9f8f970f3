"""Labels along the tree of supernodes, for one size of element: one vertex's, all of them, and what two of them say.

Never imported as it stands; see `tree_labels.py`, which puts a header and the helpers of `../dense/template.py` before
the text below the line ``# Template``. What ⊕ and ⊗ do is in functions of the algebra, whose addresses are arguments.

The label of a vertex holds an element for every vertex of the supernodes above it, its own included, from the root
down: those of supernode a from ``label_at[a]`` on. So two labels agree on their common supernodes, at the beginning.
``spots`` says for every boundary vertex where it stands in the labels of those below it. Panels are those of
`fronts_template.py`: by columns S* and S* ⊗ F[S, U] for the labels of sources, by rows (F[U, S] ⊗ S*)ᵀ for those of
targets, which take no S*.
"""

from __future__ import annotations

from typing import Any

from numba import int64, types

from semiring.kernels.cpu.compile.raw import ANY, call, load, stay_apart, store
from semiring.kernels.cpu.dense.template import ELEMENT, ROWS, compiled, entry, fill, inline, one_of, round_up, zero_of

# Template

INDEX = int64[::1]
TREE = types.UniTuple(INDEX, 7)  # first, pointer, parent and owner of `Analysis`, label_at, spots, panel_at


@compiled
def pick(spots: Any, begin: int, count: int, label: int, plane: int, target: int, target_plane: int) -> None:
    """What a label has for some boundary vertices, side by side."""
    stay_apart()
    for q in range(count):
        store(ELEMENT, target, target_plane, q, ANY, load(ELEMENT, label, plane, spots[begin + q], ANY))


@compiled
def put_back(spots: Any, begin: int, count: int, label: int, plane: int, source: int, source_plane: int) -> None:
    """And back."""
    stay_apart()
    for q in range(count):
        store(ELEMENT, label, plane, spots[begin + q], ANY, load(ELEMENT, source, source_plane, q, ANY))


@compiled
def climb(
    tree: Any, v: int, panels: int, panel_plane: int, own: int, label: int, plane: int, buffer: int, b_plane: int,
    add_multiples: int, constants: int, one: int,
) -> None:
    """The label of v: 1 for v itself, up the tree, times S* on every level if `own`."""
    first, pointer, parent, owner, label_at, spots, panel_at = tree
    a, zero = owner[v], zero_of(constants)
    k, depth = v - first[a], int64(1)  # of v's own supernode only v has something
    fill(label, plane, int64(0), label_at[a] + first[a + 1] - first[a], zero)
    store(ELEMENT, label, plane, label_at[a] + k, ANY, one_of(constants))
    while a >= 0:
        s, u, here = first[a + 1] - first[a], pointer[a + 1] - pointer[a], label_at[a]
        if u:
            down = panel_at[a] + round_up(s, ROWS) * s
            pick(spots, pointer[a], u, label, plane, buffer, b_plane)
            call(add_multiples, (
                label, plane, here + k, panels, panel_plane, down + k * u, u, buffer, b_plane, 0, u, depth, one,
            ))
            put_back(spots, pointer[a], u, label, plane, buffer, b_plane)
        if own:
            for i in range(s):
                store(ELEMENT, buffer, b_plane, i, ANY, load(ELEMENT, label, plane, here + i, ANY))
            fill(label, plane, here, s, zero)
            call(add_multiples, (
                buffer, b_plane, k, panels, panel_plane, panel_at[a] + k * s, s, label, plane, here, s, depth, one,
            ))
        a = parent[a]
        if a >= 0:
            k, depth = int64(0), first[a + 1] - first[a]


@inline
def shared(s: int, t: int, first: Any, parent: Any, owner: Any, label_at: Any) -> int:
    """The number of vertices of the supernodes above both, or of both."""
    a, b = owner[s], owner[t]
    while a != b and a >= 0 and b >= 0:
        if a < b:  # a parent has the larger number
            a = parent[a]
        else:
            b = parent[b]
    return label_at[a] + first[a + 1] - first[a] if a == b and a >= 0 else int64(0)


@entry(TREE, INDEX, INDEX, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64, int64,
       int64, int64, int64, int64)
def between(
    tree: Any, sources: Any, targets: Any, out: int, out_plane: int, by_columns: int, by_rows: int, panel_plane: int,
    X: int, Y: int, plane: int, buffer: int, b_plane: int, begin: int, end: int, forwards: int, backwards: int,
    total: int, constants: int, one: int,
) -> None:
    """out[i] ← A*[sources[i], targets[i]] for i from `begin` to `end`, by a label of each."""
    first, _, parent, owner, label_at, _, _ = tree
    for i in range(begin, end):
        s, t = sources[i], targets[i]
        count = shared(s, t, first, parent, owner, label_at)
        if count:
            climb(tree, s, by_columns, panel_plane, int64(1), X, plane, buffer, b_plane, forwards, constants, one)
            climb(tree, t, by_rows, panel_plane, int64(0), Y, plane, buffer, b_plane, backwards, constants, one)
        call(total, (X, plane, 0, Y, plane, 0, count, buffer, b_plane, out, out_plane, i, one))


@entry(INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, int64, int64, int64, int64, int64, int64, int64, int64, int64,
       int64)
def label_all(
    first: Any, pointer: Any, boundary: Any, owner: Any, label_at: Any, panel_at: Any, starts: Any,
    panels: int, panel_plane: int, own: int, label: int, plane: int, begin: int, end: int, add_multiples: int,
    constants: int, one: int,
) -> None:
    """The labels of the vertices of supernodes from `end` − 1 down to `begin`: those above have theirs.

    Row k of S* ⊗ F[S, U] times the labels of U, and, if `own`, row k of S* itself; else 1.
    """
    zero = zero_of(constants)
    for a in range(end - 1, begin - 1, -1):
        s, u, above = first[a + 1] - first[a], pointer[a + 1] - pointer[a], label_at[a]
        down = panel_at[a] + round_up(s, ROWS) * s
        for k in range(s):
            here = starts[first[a] + k]
            fill(label, plane, here, above + s, zero)
            if own:
                for j in range(s):
                    x = load(ELEMENT, panels, panel_plane, panel_at[a] + k * s + j, ANY)
                    store(ELEMENT, label, plane, here + above + j, ANY, x)
            else:
                store(ELEMENT, label, plane, here + above + k, ANY, one_of(constants))
            for q in range(u):
                w = boundary[pointer[a] + q]
                length = label_at[owner[w]] + first[owner[w] + 1] - first[owner[w]]
                call(add_multiples, (
                    panels, panel_plane, down + k * u + q, label, plane, starts[w], int64(0), label, plane, here,
                    length, int64(1), one,
                ))


@entry(INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX, int64, int64, int64, int64, int64, int64, int64, int64,
       int64, int64, int64, int64, int64)
def tell(
    first: Any, parent: Any, owner: Any, label_at: Any, sources: Any, targets: Any, x_starts: Any, y_starts: Any,
    across: int, X: int, x_plane: int, Y: int, y_plane: int, buffer: int, b_plane: int, out: int, out_plane: int,
    begin: int, end: int, total: int, one: int,
) -> None:
    """What labels say of sources from `begin` to `end`, each with every target if `across`, else with its own."""
    width = len(targets) if across else int64(1)
    for i in range(begin, end):
        for j in range(width):
            t = j if across else i
            count = shared(sources[i], targets[t], first, parent, owner, label_at)
            call(total, (
                X, x_plane, x_starts[i], Y, y_plane, y_starts[t], count, buffer, b_plane, out, out_plane,
                i * width + j, one,
            ))
