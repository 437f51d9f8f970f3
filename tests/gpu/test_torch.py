"""Tensors on a GPU stay there, and have the derivatives that they have on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr

torch = pytest.importorskip("torch")
srt: Any = pytest.importorskip("semiring.torch")

ALGEBRAS = [
    sr.plus_times, sr.log, sr.min_plus, sr.max_plus, sr.viterbi, sr.max_times, sr.min_times, sr.max_min, sr.min_max,
]


def elements(S: sr.Semiring, *shape: int, seed: int = 0) -> Any:
    """Some of them absent."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.1, 0.9, shape)
    x = {"plus-times": x / shape[-1], "log": np.log(x / shape[-1]), "max-plus": -x, "min-times": 1 + x}.get(S.name, x)
    return torch.from_numpy(np.where(rng.random(shape) < 0.2, float(S.zero), x))


def derivatives(f: Any, given: list[Any], place: str) -> list[Any]:
    """The answer, and the derivatives with respect to all that is given of a number that depends on all of it."""
    given = [x.detach().to(place).requires_grad_() for x in given]
    answer = f(*given)
    G = torch.from_numpy(np.random.default_rng(7).standard_normal(tuple(answer.shape)))
    return [answer.detach(), *torch.autograd.grad(answer, given, G.to(answer))]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("S", ALGEBRAS, ids=lambda S: S.name)
def test_derivatives_are_those_of_the_cpu(S: sr.Semiring, dtype: str) -> None:
    close = {"rtol": 1e-4, "atol": 1e-4} if dtype == "float32" else {"rtol": 1e-9, "atol": 1e-9}
    for shapes in (((3, 5, 7), (3, 7, 4)), ((70, 33), (33, 65)), ((2, 1, 40), (40, 1))):
        given = [elements(S, *shape, seed=i).to(getattr(torch, dtype)) for i, shape in enumerate(shapes)]
        there, here = (derivatives(lambda a, b: srt.matmul(a, b, S), given, place) for place in ("cuda", "cpu"))
        for x, y in zip(there, here, strict=True):
            assert x.is_cuda and x.dtype == y.dtype
            torch.testing.assert_close(x.cpu(), y, **close)
    for shape in ((1, 1), (3, 9, 9), (2, 64, 64), (70, 70)):
        given = [elements(S, *shape).to(getattr(torch, dtype))]
        there, here = (derivatives(lambda a: srt.closure(a, S), given, place) for place in ("cuda", "cpu"))
        for x, y in zip(there, here, strict=True):
            torch.testing.assert_close(x.cpu(), y, **close)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("S", ALGEBRAS, ids=lambda S: S.name)
@pytest.mark.parametrize("n", [3, 12, 70])
def test_derivatives_of_chains_and_scans_are_those_of_the_cpu(S: sr.Semiring, dtype: str, n: int) -> None:
    """One matrix and many, padded and joined sequences, from both ends; of longer rows than registers hold."""
    close = {"rtol": 1e-3, "atol": 1e-3} if dtype == "float32" else {"rtol": 1e-8, "atol": 1e-8}
    shapes = (2, n), (n, n), (2, 5, n), (2, 4, n, n), (7, n)
    x, A, e, stack, joined = (elements(S, *s, seed=i).to(getattr(torch, dtype)) for i, s in enumerate(shapes))
    for f, given in (
        (lambda x, a, e: srt.forward(x, a, S, emissions=e), [x, A, e]),
        (lambda x, a, e: srt.forward(x, a, S, emissions=e, lengths=[5, 2], reverse=True), [x, stack, e]),
        (lambda x, a, e: srt.forward(x, a, S, emissions=e, lengths=torch.tensor([5, 2])), [x, A, joined]),
        (lambda x, a: srt.forward(x, a, S, steps=6), [x, A]),
        (lambda a, x: srt.scan(a, S, axis=1, initial=x), [stack, x[:, None]]),
        (lambda a: srt.scan(a, S, axis=1, reverse=True), [stack]),
        (lambda a: srt.chain(a.movedim(1, 0), S), [stack]),
    ):
        there, here = (derivatives(f, given, place) for place in ("cuda", "cpu"))
        for found, wanted in zip(there, here, strict=True):
            assert found.is_cuda and found.dtype == wanted.dtype
            torch.testing.assert_close(found.cpu(), wanted, **close)


def test_work_is_done_on_the_stream_that_is_current() -> None:
    A = elements(sr.log, 200, 64, 64).float().cuda()
    expected = srt.closure(A, sr.log)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        found = srt.closure(A * 1, sr.log, check=False) + 0
    torch.cuda.current_stream().wait_stream(stream)
    torch.testing.assert_close(found, expected)


def test_without_checks_nothing_waits() -> None:
    """What was asked for before is still running when the call returns."""
    A = elements(sr.log, 50, 32, 32).float().cuda().requires_grad_()
    G = torch.ones_like(A)
    for _ in range(2):  # the first compile, and take memory
        srt.closure(A, sr.log, check=False).backward(G)
    expected = A.grad.clone()
    A.grad = None
    torch.cuda.synchronize()
    torch.cuda._sleep(2_000_000_000)  # cycles, about a second
    srt.closure(A, sr.log, check=False).backward(G)
    assert not torch.cuda.current_stream().query()
    torch.testing.assert_close(A.grad * 2, expected)


def test_verbs_give_tensors_on_the_gpu_for_such() -> None:
    A = torch.tensor([[0.0, 3.0], [1.0, 0.0]], device="cuda")
    for answer in (sr.closure(A, sr.min_plus), sr.matmul(A, A, sr.min_plus), sr.solve(A, A, sr.min_plus)):
        assert isinstance(answer, torch.Tensor) and answer.device == A.device
    with pytest.raises(sr.SemiringError, match=r"semiring\.torch"):
        sr.closure(A.clone().requires_grad_(), sr.min_plus)
