"""Chains and scans of PyTorch's tensors: derivatives, `vmap`, `compile`, and what is refused."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import semiring as sr

torch = pytest.importorskip("torch")
srt: Any = pytest.importorskip("semiring.torch")

from test_torch import ALGEBRAS, elements, finite  # noqa: E402 - which needs PyTorch


def looped(x: Any, stack: Any, e: Any, lengths: Any = None) -> Any:
    """The forward variables over log-sum-exp as PyTorch's users write them, one step after the other."""
    rows = [x + e[..., 0, :]]
    for t in range(1, e.shape[-2]):
        A = stack if stack.ndim == 2 else stack[..., t - 1, :, :]
        rows.append((rows[-1][..., :, None] + A).logsumexp(-2) + e[..., t, :])
    y = torch.stack(rows, -2)
    if lengths is None:
        return y
    return torch.where(torch.arange(e.shape[-2])[:, None] < torch.as_tensor(lengths)[..., None, None], y, -torch.inf)


@pytest.mark.parametrize("S", ALGEBRAS, ids=lambda S: S.name)
def test_derivatives_of_chains_and_scans(S: sr.Semiring) -> None:
    x, A, e, stack = (elements(S, *shape, seed=k) for k, shape in enumerate(((2, 3), (3, 3), (2, 4, 3), (4, 2, 3, 3))))
    options: dict[str, Any] = {"lengths": [4, 2], "reverse": True}
    check = partial(torch.autograd.gradcheck, fast_mode=True)  # of all entries see test_sequence_gradients.py
    assert check(lambda x, a, e: srt.forward(x, a, S, emissions=e), (x, A, e))
    assert check(lambda x, a, e: finite(srt.forward(x, a, S, emissions=e, **options)), (x, A, e))
    assert check(lambda x, a: srt.forward(x, a, S), (x, stack.transpose(0, 1)))
    assert check(lambda a, x: srt.scan(a, S, axis=1, initial=x), (stack.transpose(0, 1), x))
    assert check(lambda a: srt.scan(a, S, reverse=True), stack)
    assert check(lambda a: srt.chain(a, S), stack)


@pytest.mark.parametrize("n", [1, 2])
def test_derivatives_of_one_matrix_from_the_end(n: int) -> None:
    """An array that is turned around has a step back along its axis of one element, which PyTorch refuses."""
    for S in (sr.plus_times, sr.log, sr.min_plus):
        A, x = elements(S, 1, n, n, seed=1), elements(S, n, 1, seed=2)
        assert torch.autograd.gradcheck(lambda a, S=S: srt.scan(a, S, reverse=True), A)
        assert torch.autograd.gradcheck(lambda a, x, S=S: srt.scan(a, S, reverse=True, initial=x), (A, x))


@pytest.mark.parametrize("lengths", [None, [5, 2, 3]])
def test_chains_over_log_are_loops_of_logsumexp(lengths: Any) -> None:
    """Values and derivatives, also with a weight on every row, and of a matrix of zeros that no walk takes."""
    rng = np.random.default_rng(4)
    given = [torch.from_numpy(np.log(rng.random(shape))) for shape in ((4,), (3, 4, 4, 4), (3, 5, 4))]
    given[1][0, 1, 2] = -torch.inf
    G = torch.from_numpy(rng.standard_normal((3, 5, 4)))
    found, wanted = ([x.clone().requires_grad_() for x in given] for _ in range(2))
    y = srt.forward(*found[:2], sr.log, emissions=found[2], lengths=lengths)
    z = looped(*wanted, lengths)
    torch.testing.assert_close(y, z)
    for rows in (y, z):
        (finite(rows) * G).sum().backward()
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours.grad, theirs.grad.nan_to_num())


def test_sequences_that_come_one_after_the_other_are_the_padded_ones() -> None:
    x, A, padded = elements(sr.log, 4), elements(sr.log, 4, 4), elements(sr.log, 2, 3, 4, seed=3)
    joined = torch.cat([padded[0], padded[1, :2]]).detach().requires_grad_()
    y = srt.forward(x, A, "log", emissions=joined, lengths=[3, 2])
    z = srt.forward(x, A, "log", emissions=padded, lengths=torch.tensor([3, 2]))
    assert torch.equal(y, torch.cat([z[0], z[1, :2]]))
    y.sum().backward()
    of_x = x.grad.clone()
    x.grad = None
    finite(z).sum().backward()
    torch.testing.assert_close(joined.grad, torch.cat([padded.grad[0], padded.grad[1, :2]]))
    torch.testing.assert_close(x.grad, of_x)


def test_chains_and_scans_are_mapped() -> None:
    x, A, e, stack = (elements(sr.log, *shape).detach() for shape in ((3,), (3, 3), (5, 4, 3), (4, 5, 3, 3)))
    mapped = torch.func.vmap(lambda e: srt.forward(x, A, sr.log, emissions=e))(e)
    torch.testing.assert_close(mapped, srt.forward(x, A, sr.log, emissions=e))
    joined = torch.func.vmap(lambda e: srt.forward(x, A, sr.log, emissions=e, lengths=[1, 3]))(e)
    each = [srt.forward(x, A, sr.log, emissions=one, lengths=[1, 3]) for one in e]
    assert torch.equal(joined, torch.stack(each))

    def total(a: Any) -> Any:
        joined = srt.forward(x, a, sr.log, emissions=e[0], lengths=[1, 3])
        return joined.sum() + srt.forward(x, a, sr.log, steps=2).sum()

    matrices = stack[0]
    grads = torch.func.vmap(torch.func.grad(total))(matrices)
    torch.testing.assert_close(grads, torch.stack([torch.func.grad(total)(a) for a in matrices]))
    scans = torch.func.vmap(lambda a: srt.scan(a, sr.log, initial=x[None]), 1, 1)(stack)
    torch.testing.assert_close(scans, srt.scan(stack, sr.log, initial=x[None]))
    torch.testing.assert_close(torch.func.vmap(lambda a: srt.chain(a, sr.log), 1)(stack), srt.chain(stack, sr.log))
    of_scan = torch.func.vmap(torch.func.grad(lambda a: srt.scan(a, sr.log)[-1].sum()), 1, 1)(stack)
    of_chain = torch.func.grad(lambda a: srt.chain(a, sr.log).sum())(stack)
    torch.testing.assert_close(of_scan, of_chain)


def test_chains_and_scans_are_compiled() -> None:
    def loss(x: Any, A: Any, e: Any, stack: Any) -> Any:
        rows = srt.forward(x, A, "log", emissions=e * 2, lengths=torch.tensor([3, 1]))
        both = srt.scan(stack, "log").sum() + srt.chain(stack, "log").sum()
        return torch.where(rows > -torch.inf, rows, 0).sum() + both

    shapes = ((3,), (3, 3), (2, 4, 3), (4, 3, 3))
    given, again = ([elements(sr.log, *shape, seed=k) for k, shape in enumerate(shapes)] for _ in range(2))
    srt.forward(*given[:2], "log", steps=2)
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(*given), loss(*again))
    compiled(*given).backward()
    loss(*again).backward()
    for x, y in zip(given, again, strict=True):
        torch.testing.assert_close(x.grad, y.grad)
    x, A, e, stack = (each.detach() for each in given)
    operators, rest = torch.ops.semiring, ("log", 4, False, False)
    for test in ("test_schema", "test_faketensor"):
        for operator, operands in (
            (operators.forward, (x, A[None], e, torch.tensor([3, 1]), *rest)),
            (operators.forward_backward, (e, x[None], A[None, None], e, None, e, *rest)),
            (operators.forward, (x, A[None], None, None, *rest)),
            (operators.scan, (stack, x[None], "log", False)), (operators.scan, (stack, x[:, None], "log", True)),
            (operators.scan_backward, (stack, stack, None, stack, "log", False)),
            (operators.chain, (stack, "log")), (operators.chain_backward, (A, stack, "log")),
        ):
            torch.library.opcheck(operator.default, operands, test_utils=test)


def test_a_second_derivative_is_refused() -> None:
    A = elements(sr.log, 3, 3)
    for X in (srt.chain(A[None], sr.log), srt.scan(A[None], sr.log), srt.forward(A[0], A, sr.log, steps=2)):
        (first,) = torch.autograd.grad(X.sum(), A, create_graph=True)
        with pytest.raises(RuntimeError, match="second derivatives are not computed"):
            first.sum().backward()


def test_what_is_refused() -> None:
    A = torch.zeros(2, 3)
    for wrong, error, words in (
        (lambda: srt.forward([1.0], A, sr.log), TypeError, "x must be a Tensor"),
        (lambda: srt.forward(A.sum(), A, sr.log), RuntimeError, "x must have one axis or more"),
        (lambda: srt.forward(A[0], A, sr.log), ValueError, r"stack must be a square matrix .* has shape \(2, 3\)"),
        (lambda: srt.forward(A[0, :2], A[:, :2], sr.log), ValueError, "pass emissions .* or steps="),
        (lambda: srt.forward(A[0, :2], A[:, :2].double(), sr.log), RuntimeError,
         "stack is torch.float64 on cpu: convert"),
        (lambda: srt.forward(A[0, :2], A[:, :2], sr.log, emissions=A[:, :2], lengths=[3]), ValueError,
         "lengths add up"),
        (lambda: srt.forward(A[0, :2], A[:, :2], sr.log, emissions=A[None, :, :2], lengths=[0.5]), ValueError,
         "whole numbers"),
        (lambda: srt.forward(A[0, :2].to("meta"), A[:, :2], sr.log, steps=1), RuntimeError, "x is on meta"),
        (lambda: srt.forward(A[0, :2].clone().requires_grad_(), A[:, :2], sr.lukasiewicz, steps=1), ValueError,
         "no derivatives here"),
        (lambda: srt.scan(A, sr.log), ValueError, "stack must hold square matrices"),
        (lambda: srt.scan(A[None, :, :2], sr.log, axis=1), ValueError, "axis 1 of a stack"),
        (lambda: srt.scan(A[None, :, :2], sr.log, initial=A), ValueError, r"initial .* has shape \(2, 3\)"),
        (lambda: srt.chain(A, sr.log), ValueError, "stack must hold square matrices"),
        (lambda: srt.chain(A[None, :, :2], sr.shortest_hops), TypeError, "of shortest-hops are records"),
        (lambda: sr.forward(A[0, :2].clone().requires_grad_(), A[:, :2], sr.log, steps=1), sr.SemiringError, "torch"),
    ):
        with pytest.raises(error, match=words):
            wrong()
