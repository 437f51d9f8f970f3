"""From expressions to compiled Numba code: text, cache, threads."""
