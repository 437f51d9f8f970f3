"""Convolutions over log-sum-exp in a GPU's memory: by powers, and by terms where these underflow.

    α = max a    β = max b    G = exp(a − α) ∗ exp(b − β)    c = α + β + log G

Powers are in double precision, so that entries down to α + β − 640 are those of an ordinary convolution, of one fused
multiply-add a term. As in `semiring.kernels.cpu.dense.log_convolution`, an entry is believed if G ≥ 8 k t / ε, for k
terms and t the least normal number: all that underflowed is less than its rounding. The last axis is cut into pieces,
and those with an entry that is not believed are computed by their terms.
"""

from __future__ import annotations

from math import log, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.kernels.cpu.dense.convolution import Windows

from .convolution import convolution

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

LEAST_TERMS = 1e8  # from which some twenty launches and one wait repay
PIECES = 16  # of the last axis
LEAST_PIECE = 1024  # entries
NUMBERS = np.finfo(np.float64)


class LogConvolution:
    """c ← a ∗ b for one lowering.

    Parameters
    ----------
    low : CudaLowering
        Whose ⊕ is a log-sum-exp, and whose storage holds the data as they are.
    reals : CudaLowering
        The ordinary sum and product of numbers in double precision that are finite and not negative.
    """

    def __init__(self, low: CudaLowering, reals: CudaLowering):
        assert low.log_sum is not None
        self.sign = -1.0 if low.log_sum.negated else 1.0
        self.unit = log(2) if low.log_sum.binary else 1.0
        self.terms, self.powers = convolution(low), convolution(reals)

    def __call__(self, windows: Windows, a: Any, b: Any) -> Any:
        """The wanted part of the convolutions of a stack; parameters as for `Convolution`."""
        import cupy

        axes = tuple(range(-len(windows.left), 0))
        (p, top_a), (q, top_b) = (self._powers(x, axes) for x in (a, b))
        G = self.powers(windows, p, q)
        with np.errstate(divide="ignore", invalid="ignore"):
            c = cupy.log(G) / self.unit
            c += top_a + top_b
            c *= self.sign
        c = c.astype(a.dtype)
        least = 8 * min(prod(windows.left), prod(windows.right)) * NUMBERS.tiny / NUMBERS.eps
        self._by_terms(c, ~(least <= G), windows, a, b)
        return c

    def _powers(self, x: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
        """Powers of elements relative to the largest one of each operand of a stack, and its logarithm.

        Where that is infinite powers are NaN or infinite, and so are entries, which are not believed then.
        """
        import cupy

        y = x.astype(np.float64) * self.sign
        top = y.max(axes, keepdims=True)
        with np.errstate(invalid="ignore"):
            y -= top
        y *= self.unit
        return cupy.exp(y), top

    def _by_terms(self, c: Any, doubtful: Any, windows: Windows, a: Any, b: Any) -> None:
        """Compute the pieces of c with entries that are not believed; the host waits to hear which."""
        import cupy

        *lead, count = windows.shape
        piece = max(-(-count // PIECES), LEAST_PIECE)
        places = range(0, count, piece)
        any_of = cupy.stack([doubtful[..., begin : begin + piece].any() for begin in places])
        for begin, some in zip(places, any_of.tolist(), strict=True):
            if some:
                wide = min(piece, count - begin)
                part = windows._replace(
                    first=(*windows.first[:-1], windows.first[-1] + begin), shape=(*lead, wide))
                here = c[..., begin : begin + wide]
                here[...] = cupy.where(doubtful[..., begin : begin + wide], self.terms(part, a, b), here)

    def memory(self, windows: Windows) -> int:
        """Bytes of the answer, of powers and of their convolution."""
        sides = 2 * prod(windows.stack) * (prod(windows.left) + prod(windows.right))
        answer = prod(windows.stack) * prod(windows.shape)
        return 8 * (sides + 2 * answer) + self.powers.memory(windows) + self.terms.memory(windows)


def repays(low: Any, windows: Windows) -> bool:
    """Whether powers take less time than terms."""
    return low.log_sum is not None and low.storage in (np.float32, np.float64) and windows.terms >= LEAST_TERMS


