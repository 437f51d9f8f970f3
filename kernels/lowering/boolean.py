"""Whether zero and one of an algebra are the Boolean algebra, for which a bit is enough."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from semiring.algebra.semiring import Semiring


@lru_cache(1024)
def is_boolean(S: Semiring, dtype: np.dtype) -> bool:
    """Whether {0, 1} is the Boolean algebra within S: 1 ⊕ 1 = 1 and 1* = 0* = 1 (the rest is a law)."""
    if S.traced is None or dtype.names or dtype.kind == "O" or S.product_only:
        return False
    A = S.over(dtype)
    both = np.array([A.zero, A.one], dtype)
    return bool(A.add(A.one, A.one) == A.one and A.defined(both).all() and (A.star(both) == A.one).all())
