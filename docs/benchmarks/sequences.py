"""Compare chains, scans, hidden Markov models and alignments with loops of NumPy, PyTorch and hmmlearn.

    python docs/benchmarks/sequences.py [--scale 1]

Each row is a ratio within this run: the least of some interleaved times, after both answers were compared. Loops are
those that users write: over the steps of all sequences at once, or over pairs. hmmlearn and PyTorch are optional.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np
from report import seconds

import semiring as sr

Row = tuple[str, Callable[[], Any], str, Callable[[], Any]]  # work, ours, the peer, theirs


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1, help="factor of the numbers of steps, sequences and pairs")
    scale = parser.parse_args().scale
    rng = np.random.default_rng(0)
    rows = [*chains(rng, scale), *hidden_markov(rng, scale), *alignments(rng, scale)]
    if find_spec("torch"):
        rows += derivatives(rng, scale)
    for work, ours, peer, theirs in rows:
        for found, wanted in zip(ours(), theirs(), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)
        mine, other = np.inf, np.inf
        for _ in range(5):
            mine, other = min(mine, timed(ours)), min(other, timed(theirs))
        print(f"{work:58} {seconds(mine):>8}   {peer:38} {seconds(other):>8} {other / mine:7.1f}×", flush=True)


def timed(work: Callable[[], Any]) -> float:
    """Return how long a call takes."""
    begin = perf_counter()
    work()
    return perf_counter() - begin


def chains(rng: np.random.Generator, scale: float) -> Iterator[Row]:
    """A long chain, and all products of a sequence of matrices."""
    steps, n = int(100_000 * scale), 16
    x, A, e = np.log(rng.random(n)), np.log(rng.random((n, n))), np.log(rng.random((steps, n)))
    P = np.exp(A)

    def scaled() -> Any:
        rows, state, size = np.empty_like(e), np.exp(x), 0.0
        for t, factors in enumerate(np.exp(e)):
            state = (state @ P if t else state) * factors
            total = state.sum()
            size, state = size + np.log(total), state / total
            rows[t] = np.log(state) + size
        return (rows,)

    yield (f"forward, log, {steps:,} steps of {n} states", lambda: (sr.forward(x, A, sr.log, emissions=e),),
           "a loop with scaling", scaled)
    stack = rng.random((steps // 10, n, n)).astype("f4")

    def folded() -> Any:
        found = [stack[0]]
        for B in stack[1:]:
            found.append((found[-1][:, :, None] + B).min(1))
        return (np.stack(found),)

    yield (f"scan, min-plus, {len(stack):,} matrices of order {n}, float32", lambda: (sr.scan(stack, sr.min_plus),),
           "a loop of products", folded)


def hidden_markov(rng: np.random.Generator, scale: float) -> Iterator[Row]:
    """Posterior probabilities and best states of sequences of different lengths, against hmmlearn."""
    if not find_spec("hmmlearn"):
        return
    from hmmlearn.hmm import GaussianHMM

    n, lengths = 8, rng.integers(5, 120, int(200 * scale))
    model = GaussianHMM(n, "diag", implementation="log")
    model.startprob_, model.transmat_ = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(n), n)
    model.means_, model.covars_ = rng.normal(size=(n, 1)) * 3, np.ones((n, 1))
    seen = rng.normal(size=(lengths.sum(), 1)) * 3
    start, A, ends = np.log(model.startprob_), np.log(model.transmat_), np.cumsum(lengths) - 1

    def ours() -> Any:
        e = -0.5 * ((seen - model.means_[:, 0]) ** 2 + np.log(2 * np.pi))
        ahead = sr.forward(start, A, sr.log, emissions=e, lengths=lengths)
        behind = sr.forward(np.zeros(n), A, sr.log, emissions=e, lengths=lengths, reverse=True)
        total = sr.log.sum(ahead[ends], axis=1)
        posterior = np.exp(ahead + behind - np.repeat(total, lengths)[:, None])
        best = sr.forward(start, A, sr.max_plus, emissions=e, lengths=lengths, argmax=True)
        return total.sum(), posterior, best.states()

    for implementation in ("log", "scaling"):
        def theirs(implementation: str = implementation) -> Any:
            model.implementation = implementation
            return *model.score_samples(seen, lengths), model.decode(seen, lengths)[1]

        yield f"posterior and best states, {len(lengths)} sequences", ours, f"hmmlearn, {implementation}", theirs


def alignments(rng: np.random.Generator, scale: float) -> Iterator[Row]:
    """Scores of pairs by diagonals of all of them, as in the how-to."""
    pairs, n, gap = int(1000 * scale), 100, -2.0
    a, b = rng.integers(0, 4, (2, pairs, n))
    gaps = gap * np.arange(n + 1)

    def align(S: sr.Semiring) -> Any:
        letters, backwards = a.T.copy(), b.T[::-1].copy()
        before, last, row = (np.full((n + 1, pairs), S.zero) for _ in range(3))
        last[0] = S.one
        for d in range(1, 2 * n + 1):
            lo, hi = max(1, d - n), min(n, d - 1)
            score = np.where(letters[lo - 1 : hi] == backwards[n - d + lo : n - d + hi + 1], 1.0, -1.0)
            alone = S.mul(S.add(last[lo - 1 : hi], last[lo : hi + 1]), gap)
            row[lo : hi + 1] = S.add(alone, S.mul(before[lo - 1 : hi], score))
            row[0] = gaps[d] if d <= n else S.zero
            if d <= n:
                row[d] = gaps[d]
            before, last, row = last, row, before
        return (last[-1],)

    def one_by_one(plus: np.ufunc) -> Any:
        found = np.empty(pairs)
        for p in range(pairs):
            before = gaps
            for x in a[p]:
                row = before + gap
                row[1:] = plus(row[1:], before[:-1] + np.where(x == b[p], 1.0, -1.0))
                before = plus.accumulate(row - gaps) + gaps
            found[p] = before[-1]
        return (found,)

    for S, plus in ((sr.max_plus, np.maximum), (sr.log, np.logaddexp)):
        yield (f"{pairs:,} alignments of {n} letters, {S.name}", lambda S=S: align(S), "row by row, pair by pair",
               lambda plus=plus: one_by_one(plus))


def derivatives(rng: np.random.Generator, scale: float) -> Iterator[Row]:
    """The loss of a conditional random field and its derivatives, against a loop in PyTorch."""
    import torch

    from semiring import torch as srt

    batch, steps, n = int(64 * scale), 100, 16
    given = [torch.from_numpy(rng.standard_normal(shape)) for shape in ((n,), (n, n), (batch, steps, n))]

    def loop(x: Any, A: Any, e: Any) -> Any:
        row = x + e[:, 0]
        for t in range(1, steps):
            row = (row[:, :, None] + A).logsumexp(1) + e[:, t]
        return row

    def last(x: Any, A: Any, e: Any) -> Any:
        return srt.forward(x, A, sr.log, emissions=e)[:, -1]

    def step(rows: Callable[..., Any]) -> Any:
        leaves = [x.clone().requires_grad_() for x in given]
        rows(*leaves).logsumexp(-1).sum().backward()
        return [x.grad for x in leaves]

    yield (f"CRF and derivatives, {batch} sequences of {steps} steps, {n} labels", lambda: step(last),
           "a loop of torch.logsumexp", lambda: step(loop))


if __name__ == "__main__":
    main()
