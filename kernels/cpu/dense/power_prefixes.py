"""Prefixes of log-sum-exp along an axis of an array, compiled: a vector of the processor takes some sequences at once.

    x as (outer, length, inner)    elements lie one after the other
      → columns                    side by side, if `inner` is more than 1
      → or lines                   of which each lane gathers its own elements
      → or chunks of a long line   as lines: first their sums, then the prefixes after the sum of all earlier chunks

See power_prefixes_template.py, and prefixes.py for other operations.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import numpy as np

from semiring.kernels.cpu.compile.program import Program, has_fma, name_of
from semiring.kernels.cpu.compile.rules import LANES, vectors
from semiring.kernels.cpu.compile.templated import Templated
from semiring.kernels.lowering.base import Lowering
from semiring.machine.pieces import ranges, share
from semiring.machine.threads import scratch

from .lanes import geometry, is_inside

BLOCK = 128  # terms that are summed up in turn
LONG = 1 << 9  # elements of a line from which it is cut into chunks, if there are few lines
CHUNK = 1 << 15  # bytes of a chunk, and a line of the cache more: lanes read from different sets of the cache
CACHE_LINE = 64
TASK = 1 << 14  # elements from which a share of the work is worth a call
LEVELS = 64  # of the stack of totals


class PowerPrefixKernel(Templated):
    """Prefixes of the log-sum-exp of a lowering: see power_prefixes_template.py.

    Parameters
    ----------
    lowering : Lowering
        Of floats in single or double precision, stored as they are.
    """

    template = Path(__file__).with_name("power_prefixes_template.py")
    exact = False
    functions = ("power_prefixes",)

    def __init__(self, lowering: Lowering):
        self.lowering = lowering
        (part,) = lowering.components
        self._item = part.itemsize
        self.count, _, masked = geometry((part,))
        self.program = _program(lowering, self.count, masked)

    def prefixes(self, x: np.ndarray, _scanned: Callable[[np.ndarray], np.ndarray]) -> np.ndarray | None:
        """All prefixes along the second of three axes; parameters and result as of `PrefixKernel.prefixes`.

        Those of the sums of chunks are computed here, too.
        """
        out, failed = np.empty_like(x), np.zeros(1, np.int64)
        outer, length, inner = x.shape
        if inner == 1 and outer < self.count and length >= LONG:
            for line, to in zip(x[..., 0], out[..., 0], strict=True):
                self._by_chunks(line, to, failed)
        elif inner == 1:
            self._lines(x[..., 0], out[..., 0], failed)
        else:
            spans = ranges(inner, min(max(x.size // TASK // outer, 1), -(-inner // self.count)))
            share(lambda i, first, last: self._some(x[i].T[first:last], out[i].T[first:last], failed),
                  [(i, *span) for i in range(outer) for span in spans], None)
        return None if failed[0] else out

    def _lines(
        self, x: np.ndarray, out: np.ndarray, failed: np.ndarray, before: np.ndarray | None = None,
        sums: np.ndarray | None = None,
    ) -> None:
        """Lines of adjacent elements, on several threads."""
        vectors = -(-len(x) // self.count)
        spans = [(a * self.count, min(b * self.count, len(x)))
                 for a, b in ranges(vectors, min(max(x.size // TASK, 1), vectors))]
        share(lambda first, last: self._some(
            x[first:last], out[first:last], failed, None if before is None else before[first:last],
            None if sums is None else sums[first:last]), spans, None)

    def _some(
        self, x: np.ndarray, out: np.ndarray, failed: np.ndarray, before: np.ndarray | None = None,
        sums: np.ndarray | None = None,
    ) -> None:
        """Sequences along the second axis of an array of any strides."""
        _memory, room = scratch(2 * self.count * self._item * (3 + LEVELS))
        self.module.power_prefixes(
            x.ctypes.data, out.ctypes.data, x.strides[0], x.strides[1], len(x), x.shape[1], BLOCK, room,
            0 if before is None else before.ctypes.data, 0 if sums is None else sums.ctypes.data, failed.ctypes.data,
        )

    def _by_chunks(self, x: np.ndarray, out: np.ndarray, failed: np.ndarray) -> None:
        """One long line."""
        length = min(CHUNK // self._item, -(-len(x) // (2 * self.count))) + CACHE_LINE // self._item
        whole = len(x) - len(x) % length
        chunks, to = x[:whole].reshape(-1, length), out[:whole].reshape(-1, length)
        sums, before = np.empty(len(chunks), x.dtype), np.empty(len(chunks) + 1, x.dtype)
        self._lines(chunks, to, failed, sums=sums)
        if failed[0]:
            return
        before[0] = self.lowering.zero[0]
        self._some(sums.reshape(1, -1), before[1:].reshape(1, -1), failed)
        self._lines(chunks, to, failed, before)
        if whole < len(x):
            self._some(x[whole:].reshape(1, -1), out[whole:].reshape(1, -1), failed, before[-1:])


def _program(lowering: Lowering, count: int, masked: bool) -> Program:
    """The text of the form of log-sum-exp, and of the test of elements."""
    parts, form = lowering.components, lowering.log_sum
    assert form is not None
    text = vectors("inside_vectors", "a", [is_inside(lowering)], parts, [np.dtype(bool)], LANES)
    made = (f"PowerPrefixes(np.{parts[0].type.__name__}, COUNT, 1, MASKED, {form.binary}, {form.negated}, {has_fma()}, "
            "inside_vectors)")
    imported = "from semiring.kernels.cpu.compile.lane_prefixes import PowerPrefixes\n\n"
    prelude = f"{imported}COUNT = {count}\nMASKED = {masked}\n\n\n{text}\n\nby = {made}\n\n"
    digest = blake2b(prelude.encode(), digest_size=4).hexdigest()
    return Program(f"power_prefixes_{name_of(parts)}_{digest}", parts, lowering.zero, lowering.one, prelude)
