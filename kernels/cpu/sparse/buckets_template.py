"""Best walks from one source after the other, by labels in buckets. A template: see buckets.py, search_template.py.

A vertex is 16 bytes: its label, and the vertices after and before it in its bucket, so that one line of the cache has
all that an edge asks of its head. Buckets stand in a ring, whose occupied places are marked by bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from semiring.kernels.cpu.compile.raw import as_element, fetch, first_component, put, stay_apart, trailing_zeros
from semiring.kernels.cpu.dense.operations_template import ZERO
from semiring.kernels.cpu.dense.template import ELEMENT, ITEM, compiled, entry

from .search_template import ONE, better, bound_of, extend

# Template

UNREACHED = np.int32(-1)
APART = np.int32(-2)  # in place of the next one: in no bucket
VERTEX = 16  # bytes


@compiled
def bucket_of(label: Any, scale: Any) -> int:
    """The bucket of a label, counted from that of 1."""
    return int64(abs(np.float64(label)) * scale)


@compiled
def push(vertices: int, heads: int, marks: int, slot: int, v: int) -> None:
    """Put a vertex in front of those in a bucket."""
    first = fetch(np.int32, heads, slot)
    put(np.int32, vertices + VERTEX * v, 2, first)
    put(np.int32, vertices + VERTEX * v, 3, UNREACHED)
    if first >= 0:
        put(np.int32, vertices + VERTEX * int64(first), 3, np.int32(v))
    else:
        put(np.uint64, marks, slot >> 6, fetch(np.uint64, marks, slot >> 6) | (np.uint64(1) << np.uint64(slot & 63)))
    put(np.int32, heads, slot, np.int32(v))


@compiled
def drop(vertices: int, heads: int, marks: int, slot: int, v: int) -> None:
    """Take a vertex out of its bucket."""
    after, before = fetch(np.int32, vertices + VERTEX * v, 2), fetch(np.int32, vertices + VERTEX * v, 3)
    if after >= 0:
        put(np.int32, vertices + VERTEX * int64(after), 3, before)
    if before >= 0:
        put(np.int32, vertices + VERTEX * int64(before), 2, after)
    else:
        put(np.int32, heads, slot, after)
        if after < 0:
            kept = ~(np.uint64(1) << np.uint64(slot & 63))
            put(np.uint64, marks, slot >> 6, fetch(np.uint64, marks, slot >> 6) & kept)
    put(np.int32, vertices + VERTEX * v, 2, APART)


@compiled
def occupied(marks: int, words: int, bucket: int) -> int:
    """The first bucket from one on that is not empty, of which there is one in the ring."""
    stay_apart()
    word = (bucket >> 6) & (words - 1)
    bits = fetch(np.uint64, marks, word) >> np.uint64(bucket & 63)
    if bits == 0:
        bucket = (bucket | 63) + 1
        word = (word + 1) & (words - 1)
        while fetch(np.uint64, marks, word) == 0:
            word = (word + 1) & (words - 1)
            bucket += 64
        bits = fetch(np.uint64, marks, word)
    return bucket + trailing_zeros(bits)


@entry(*[int64] * 16)
def pass_buckets(
    X: int, starts: int, sources: int, offsets: int, columns: int, values: int, n: int, scales: int, ring: int,
    first: int, last: int, limit: int, most: int, finished: int, workspace: int, one: int,
) -> None:
    """Rows ``first:last`` of X, where no edge is better than 1: buckets are emptied in turn.

    Row s is that of the best of the sources ``starts[s]:starts[s + 1]``. `scales` holds how many buckets a label of
    size 1 is away from that of 1, and `ring`, a power of two from 64 on, is more than the heaviest edge crosses. Walks
    that are worse than the element `limit`, where it is not 0, are left out. Where vertices leave their buckets more
    than `most` times, a row is given up: `finished` says of each whether it was written. Workspace: n vertices of 16
    bytes, a vertex and a bit of each bucket.
    """
    unit, bound = first_component(ELEMENT, one), bound_of(limit)
    scale = fetch(np.float64, scales, 0)
    vertices, words = workspace, ring >> 6
    heads = vertices + VERTEX * n
    marks = heads + 4 * ring
    for s in range(first, last):
        x = X + s * n * ITEM
        for v in range(n):
            put(ELEMENT, vertices + VERTEX * v, 0, as_element(ELEMENT, ZERO))
            put(np.int32, vertices + VERTEX * v, 2, APART)
        for i in range(ring):
            put(np.int32, heads, i, UNREACHED)
        for i in range(words):
            put(np.uint64, marks, i, np.uint64(0))
        bucket, waiting, taken = int64(0), int64(0), int64(0)
        for i in range(fetch(np.int64, starts, s), fetch(np.int64, starts, s + 1)):
            source = fetch(np.int64, sources, i)
            put(ELEMENT, vertices + VERTEX * source, 0, as_element(ELEMENT, ONE))
            push(vertices, heads, marks, int64(0), source)
            waiting += 1
        while waiting > 0 and taken <= most:
            bucket = occupied(marks, words, bucket)
            u = int64(fetch(np.int32, heads, bucket & (ring - 1)))
            drop(vertices, heads, marks, bucket & (ring - 1), u)
            waiting -= 1
            taken += 1
            x_u = fetch(ELEMENT, vertices + VERTEX * u, 0)
            for p in range(fetch(np.int64, offsets, u), fetch(np.int64, offsets, u + 1)):
                v = int64(fetch(np.int32, columns, p))
                t, x_v = extend(x_u, fetch(ELEMENT, values, p), unit), fetch(ELEMENT, vertices + VERTEX * v, 0)
                if not better(t, x_v) or better(bound, t):
                    continue
                put(ELEMENT, vertices + VERTEX * v, 0, t)
                slot = bucket_of(t, scale) & (ring - 1)
                if fetch(np.int32, vertices + VERTEX * v, 2) != APART:
                    left = bucket_of(x_v, scale) & (ring - 1)
                    if left == slot:
                        continue
                    drop(vertices, heads, marks, left, v)
                else:
                    waiting += 1
                push(vertices, heads, marks, slot, v)
        if waiting == 0:
            for v in range(n):
                put(ELEMENT, x, v, fetch(ELEMENT, vertices + VERTEX * v, 0))
            put(np.uint8, finished, s, np.uint8(1))
