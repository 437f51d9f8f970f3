"""Chains and scans of PyTorch's tensors on a GPU that the host plays: values and derivatives are those of the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu.compiled import is_available
from gpu.host import Host

import semiring as sr

torch = pytest.importorskip("torch")
srt: Any = pytest.importorskip("semiring.torch")

from tensors.test_sequence_gradients_on_gpu import stand_in  # noqa: E402
from test_torch import elements  # noqa: E402 - which needs PyTorch

from semiring.tensors import torch_operators  # noqa: E402

pytestmark = pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")


class Arrays:
    """Tensors of the host as arrays on the GPU that it plays, and back."""

    host: Host

    def __init__(self, tensor: Any):
        assert tensor.device.type == "cpu"

    def __enter__(self) -> Arrays:
        return self

    def __exit__(self, *how: Any) -> None:
        """Leave nothing."""

    def array(self, tensor: Any) -> Any:
        return self.host.array(tensor.detach().numpy())

    def tensor(self, array: Any) -> Any:
        assert hasattr(array, "host"), "computed on the host"
        return torch.from_numpy(np.array(array))


@pytest.fixture
def on_gpu(folder: Path) -> Iterator[Callable[[Callable[[], Any]], Any]]:
    """A function that has another one computed on the GPU."""

    def there(compute: Callable[[], Any]) -> Any:
        with pytest.MonkeyPatch.context() as monkeypatch:
            Arrays.host = stand_in(monkeypatch, folder)
            monkeypatch.setattr(torch_operators, "Arrays", Arrays)
            return compute()

    yield there


def derivatives(f: Any, given: list[Any]) -> list[Any]:
    """The answer, and the derivatives of a number that depends on all of it."""
    given = [x.detach().clone().requires_grad_() for x in given]
    answer = f(*given)
    G = torch.from_numpy(np.random.default_rng(7).standard_normal(tuple(answer.shape)))
    return [answer.detach(), *torch.autograd.grad(answer, given, G)]


@pytest.mark.parametrize("S", [
    sr.log, *(pytest.param(S, marks=pytest.mark.slow) for S in (sr.min_plus, sr.plus_times))
], ids=lambda S: S.name)
def test_chains_and_scans(S: sr.Semiring, on_gpu: Any) -> None:
    shapes = (2, 3), (3, 3), (2, 4, 3), (4, 2, 3, 3), (6, 3)
    x, A, e, stack, joined = (elements(S, *shape, seed=k).detach() for k, shape in enumerate(shapes))
    lengths = torch.tensor([4, 2])
    for f, given in (
        (lambda x, a, e: srt.forward(x, a, S, emissions=e), [x, A, e]),
        (lambda x, a, e: srt.forward(x, a, S, emissions=e, lengths=lengths, reverse=True), [x, A, e]),
        (lambda x, a, e: srt.forward(x, a, S, emissions=e, lengths=[4, 2]), [x, A, joined]),
        (lambda x, a: srt.forward(x, a, S), [x, stack.transpose(0, 1)]),
        (lambda a, x: srt.scan(a, S, axis=1, initial=x), [stack.transpose(0, 1), x]),
        (lambda a: srt.scan(a, S, reverse=True), [stack]),
        (lambda a: srt.chain(a, S), [stack]),
        (torch.vmap(lambda x, e: srt.forward(x, A, S, emissions=e, lengths=[4, 2])),
         [torch.stack([x, x]), torch.stack([joined, joined])]),
    ):
        wanted = derivatives(f, given)
        found = on_gpu(lambda f=f, given=given: derivatives(f, given))
        for ours, theirs in zip(found, wanted, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)
