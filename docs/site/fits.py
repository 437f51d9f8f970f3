"""What measured times say of larger sizes; only sizes whose matrix is larger than the last cache count."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

CACHES = {"cpu": 32 << 20, "gpu": 50 << 20}  # bytes: the L3 of an AMD EPYC, the L2 of an H200
BYTES = {"warshall": 1 / 8, "tensor-cores": 1 / 8, "sixteen-bits": 2}  # an element, if not four bytes

Times = Sequence[Sequence[float]]


def beyond(name: str, times: Times, device: str) -> list[tuple[float, float]]:
    """The orders and times of a rung whose matrix does not fit in the cache."""
    return [(n, t) for n, t in times if n * n * BYTES.get(name, 4) > CACHES[device]]


def exponent(name: str, times: Times, device: str) -> float | None:
    """The exponent e of time ~ nᵉ by least squares of the logarithms, if such sizes span a factor of two."""
    points = [(math.log(n), math.log(t)) for n, t in beyond(name, times, device)]
    if not points or points[-1][0] - points[0][0] < math.log(2) - 1e-9:
        return None
    x, y = (sum(each) / len(points) for each in zip(*points, strict=True))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def predicted(name: str, times: Times, sizes: Iterable[int], device: str) -> list[tuple[int, float]]:
    """Times of larger sizes, from the last one beyond the cache; none if there is no such size.

    By the fitted exponent, or by the cube if there is none.
    """
    known = beyond(name, times, device)
    if not known:
        return []
    (n, t), fitted = known[-1], exponent(name, times, device)
    return [(m, float(t * (m / n) ** (3.0 if fitted is None else fitted))) for m in sizes if m > n]


def refit(found: dict[str, Any]) -> None:
    """Put the exponents and predictions of all rungs of a device into what was measured."""
    sizes = sorted({n for record in found["rungs"] for key in ("times", "predicted") for n, _ in record[key]})
    for record in found["rungs"]:
        name, times = record["name"], record["times"]
        record["exponent"] = exponent(name, times, found["device"])
        record["predicted"] = predicted(name, times, sizes, found["device"])
