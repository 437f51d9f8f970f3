"""Arrays that are never compared with an integer beyond their dtype, after which NumPy before 2.2.2 frees anything."""

from __future__ import annotations

from typing import Any

import numpy as np

COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)


class Watched(np.ndarray):
    """Views of it, too; what is computed from it is an ordinary array."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        arrays = [x.view(np.ndarray) if isinstance(x, Watched) else x for x in inputs]
        if ufunc in COMPARISONS:
            dtype = next(x.dtype for x in arrays if isinstance(x, (np.ndarray, np.generic)))
            for x in arrays:
                if type(x) is int and dtype.kind in "iu":
                    assert np.iinfo(dtype).min <= x <= np.iinfo(dtype).max, f"{x} is compared with {dtype}"
        return getattr(ufunc, method)(*arrays, **options)


def watched(values: Any, dtype: Any) -> Watched:
    return np.array(values, dtype).view(Watched)
