"""Closures, equations and factors over the reals against inverses of more digits: `make fuzz-reals`.

Draws matrices whose 1 − A is regular, asks for each in a few ways, and prints every error and every refusal as a seed
that draws the matrix again. Ends with status 1 if there was one.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from reals import asked, differs, drawn

import semiring as sr


def main() -> int:
    """Draw and ask."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="matrices")
    parser.add_argument("--seed", type=int, default=0, help="of the first")
    parser.add_argument("--most", type=int, default=200, help="largest order")
    parser.add_argument("--all", action="store_true", help="ask for each in every way, not in three")
    given = parser.parse_args()
    start, wrong, refused, answers, worst = time.monotonic(), 0, 0, 0, 0.0
    for seed in range(given.seed, given.seed + given.count):
        random = np.random.default_rng(seed)
        case = drawn(random, given.most)
        for way, ask, expected in asked(case, random, not given.all):
            answers += 1
            try:
                error = differs(case, ask(), expected)
            except sr.SemiringError as e:
                refused += 1
                print(f"seed {seed}, n = {len(case.A)}, {way}: refused, {str(e)[:90]}", flush=True)
                continue
            worst = max(worst, error)
            if not error <= 1:
                wrong += 1
                print(f"seed {seed}, n = {len(case.A)}, {way}: off by {error:.3g} times what is allowed", flush=True)
    print(f"{given.count:,} matrices, {answers:,} answers, {wrong} wrong, {refused} refused, the largest error "
          f"{worst:.2g} of what is allowed, {time.monotonic() - start:.0f} s")
    return int(bool(wrong or refused))


if __name__ == "__main__":
    sys.exit(main())
