"""Records laid out in several ways: fields in another order, packed, vectors as fields or not, another byte order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import semiring as sr

inf = np.inf


def hops_and_costs() -> sr.Semiring:
    """Shortest paths by two costs at once, and by hops beside them; zero differs between the components."""
    return sr.Semiring(
        "hops and costs", fields={"hops": "i4", "costs": ("f8", 2)}, zero=(1000, [inf, inf]), one=(0, [0, 0]),
        add=lambda x, y: (np.minimum(x.hops, y.hops), np.minimum(x.costs, y.costs)),
        mul=lambda x, y: (np.minimum(x.hops + y.hops, 1000), x.costs + y.costs),
        carrier=lambda a: (a.hops >= 0) & (a.hops <= 1000) & (a.costs >= 0).all(),
    )


def layouts(S: sr.Semiring) -> Iterator[np.dtype]:
    """Dtypes of an algebra's records, its own first."""
    own = S.element_dtype
    fields = [(f, own[f].base, own[f].shape) for f in own.names or ()]
    yield own
    yield S.default_dtype
    yield np.dtype(fields)
    yield np.dtype(fields[::-1], align=True)
    yield np.dtype(fields[::-1]).newbyteorder(">")
    yield own.newbyteorder(">")


def laid_out(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Records in another layout."""
    result = np.empty(array.shape, dtype)
    for f in array.dtype.names or ():
        if f in (dtype.names or ()):
            result[f] = array[f]
        else:
            for k in range(array.dtype[f].shape[0]):
                result[f"{f}.{k}"] = array[f][..., k]
    return result


def same(found: np.ndarray, expected: np.ndarray) -> bool:
    """Whether records are those that are expected in the algebra's own layout, field by field."""
    wanted = laid_out(expected, found.dtype)
    return all(np.array_equal(found[f], wanted[f], equal_nan=True) for f in found.dtype.names or ())
