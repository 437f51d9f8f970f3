"""Compare the closure over log-sum-exp and its derivative with loops in PyTorch.

    python docs/benchmarks/torch_gradients.py [count [n]]

1,000 matrices of order 64 in single precision, on the GPU where there is one. Every row is a ratio within this run:
forward and backward together, until the device is done. Answers and derivatives are compared.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

from report import imported

import semiring as sr

torch = imported("torch")


def eliminated(A: Any) -> Any:
    """Apply Floyd, Warshall and Kleene's rule to a stack, each pivot for all matrices at once, as users write it."""
    n = A.shape[-1]
    X = A
    for k in range(n):
        star = -torch.log1p(-torch.exp(X[..., k, k]))
        column = X[..., :, k] + star[..., None]
        X = torch.logaddexp(X, column[..., :, None] + X[..., k, None, :])
    return torch.logaddexp(X, torch.where(torch.eye(n, dtype=torch.bool, device=A.device), 0.0, -torch.inf))


def one_by_one(A: Any) -> Any:
    """Apply the same rule, matrix by matrix."""
    return torch.stack([eliminated(a) for a in A])


def step(closure: Callable[[Any], Any], A: Any, G: Any) -> tuple[Any, Any]:
    """Return the closures, and the gradient of A for the gradient G of the closures."""
    A = A.detach().requires_grad_()
    X = closure(A)
    X.backward(G)
    return X.detach(), A.grad


def seconds(closure: Callable[[Any], Any], A: Any, G: Any, times: int) -> float:
    """Return the median of some steps."""
    found = []
    for _ in range(times):
        finished()
        began = perf_counter()
        step(closure, A, G)
        finished()
        found.append(perf_counter() - began)
    return median(found)


def finished() -> None:
    """Wait for the device."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def main(count: int = 1000, n: int = 64) -> None:
    """Print the table."""
    from semiring import torch as srt

    place = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    A = torch.log(torch.rand(count, n, n, device=place) / n)
    G = torch.randn(count, n, n, device=place)
    ours, unchecked = (lambda a: srt.closure(a, sr.log)), (lambda a: srt.closure(a, sr.log, check=False))
    expected = step(eliminated, A.double(), G.double())
    for closure in (ours, unchecked, eliminated):
        for found, right in zip(step(closure, A, G), expected, strict=True):
            torch.testing.assert_close(found.double(), right, rtol=2e-4, atol=2e-4)
    few = max(1, min(count, 20))
    name = torch.cuda.get_device_name() if place == "cuda" else "CPU"
    mine = seconds(ours, A, G, 21)
    print(f"{name}, PyTorch {torch.__version__}: log-sum-exp closure and derivative, {count} of order {n}, float32\n")
    alone = seconds(one_by_one, A[:few], G[:few], 3) * count / few
    for what, other in (
        ("semiring.torch.closure", mine),
        ("the same, check=False", seconds(unchecked, A, G, 21)),
        ("a loop over pivots, all matrices at once", seconds(eliminated, A, G, 5)),
        (f"a loop over pivots, matrix by matrix ({few} of them, times {count / few:g})", alone),
    ):
        print(f"{what:75} {other * 1e3:10.2f} ms {other / mine:8.1f} ×")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
