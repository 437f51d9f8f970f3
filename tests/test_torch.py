"""Products and closures of PyTorch's tensors: derivatives, stacks, `vmap`, `compile`, and what is refused."""

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
    """Edges that are worse than one, and of which no two walks are equally good."""
    x = np.random.default_rng(seed).uniform(0.1, 0.9, shape)
    x = {"plus-times": x / 10, "log": np.log(x / 10), "max-plus": -x, "min-times": 1 + x}.get(S.name, x)
    return torch.from_numpy(x).requires_grad_()


def finite(X: Any) -> Any:
    return torch.where(torch.isfinite(X), X, 0)


@pytest.mark.parametrize("S", ALGEBRAS, ids=lambda S: S.name)
def test_derivatives(S: sr.Semiring) -> None:
    A, B = elements(S, 2, 3, 4), elements(S, 4, 2, seed=1)
    assert torch.autograd.gradcheck(lambda a, b: srt.matmul(a, b, S), (A, B))
    assert torch.autograd.gradcheck(lambda a: finite(srt.closure(a, S)), elements(S, 2, 4, 4))


@pytest.mark.parametrize("S", ALGEBRAS, ids=lambda S: S.name)
def test_answers_are_those_of_the_verbs(S: sr.Semiring) -> None:
    A = elements(S, 3, 5, 5)
    a = A.detach().numpy()
    np.testing.assert_array_equal(srt.closure(A, S).detach(), sr.closure(a, S))
    np.testing.assert_array_equal(srt.matmul(A, A, S.name).detach(), sr.matmul(a, a, S))
    turned = srt.closure(A.mT, S)
    assert turned.is_contiguous() and torch.equal(turned, srt.closure(A.mT.contiguous(), S))


def test_other_dtypes_have_answers_without_derivatives() -> None:
    A = torch.tensor([[0, 3], [1, 0]], dtype=torch.int32)
    assert srt.closure(A, sr.min_plus).dtype == torch.int32
    assert srt.closure(A.bool(), sr.boolean).all()
    assert srt.closure(A.half(), sr.min_plus).dtype == torch.float16


@pytest.mark.parametrize("S", [sr.log, sr.min_plus], ids=lambda S: S.name)
def test_functions_are_mapped_and_differentiated(S: sr.Semiring) -> None:
    A = elements(S, 3, 4, 4)
    srt.closure(A, S).sum().backward()
    plain = A.detach()
    assert torch.equal(torch.func.vmap(lambda a: srt.closure(a, S))(plain), srt.closure(plain, S))
    assert torch.allclose(torch.func.vmap(torch.func.grad(lambda a: srt.closure(a, S).sum()))(plain), A.grad)
    B = elements(S, 4, 2).detach()
    mapped = torch.func.vmap(lambda a, b: srt.matmul(a, b, S), in_dims=(1, None))(plain, B)
    assert torch.equal(mapped, srt.matmul(plain.movedim(1, 0), B, S))


@pytest.mark.parametrize("S", [sr.log, "min-plus"], ids=str)
def test_compiled_functions_hold_them_as_one_operator(S: Any) -> None:
    def loss(a: Any) -> Any:
        return srt.matmul(srt.closure(a * 2, S), a, S).sum()

    A = elements(sr.log if S is sr.log else sr.min_plus, 4, 4)
    B = A.detach().clone().requires_grad_()
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    assert torch.allclose(compiled(A), loss(B))
    compiled(A).backward()
    loss(B).backward()
    assert torch.allclose(A.grad, B.grad)


@pytest.mark.filterwarnings("error")
def test_derivatives_at_infinity_are_those_of_logaddexp() -> None:
    for a, b, c, d in ((torch.inf, 0, 0, 1), (2e38, 2e38, 0, 1), (-torch.inf, 0, 0, 1), (-torch.inf, torch.inf, 1, 0)):
        A, B = (torch.tensor(x, dtype=torch.float32, requires_grad=True) for x in ([[a, c]], [[b], [d]]))
        srt.matmul(A, B, sr.log).backward()
        sums = A.detach()[0] + B.detach()[:, 0]
        terms = [x.clone().requires_grad_() for x in sums.nan_to_num(-torch.inf, torch.inf, -torch.inf)]
        torch.logaddexp(*terms).backward()
        expected = torch.stack([t.grad for t in terms])
        assert torch.equal(A.grad[0], expected) and torch.equal(B.grad[:, 0], expected)
    A = torch.tensor([[-torch.inf, 1.0], [-torch.inf, 0.5]], requires_grad=True)
    srt.closure(A, sr.log)[0, 1].backward()
    assert torch.equal(A.grad, torch.tensor([[0.0, 1.0], [0.0, 0.0]]))


def test_a_second_derivative_is_refused() -> None:
    A = elements(sr.log, 3, 3)
    for X in (srt.closure(A, sr.log), srt.matmul(A, A, sr.log)):
        (first,) = torch.autograd.grad(X.sum(), A, create_graph=True)
        with pytest.raises(RuntimeError, match="second derivatives are not computed"):
            first.sum().backward()


def test_absent_edges_have_no_derivative_though_what_comes_back_is_no_number() -> None:
    for S in (sr.log, sr.min_plus):
        A = torch.full((3, 3), float(S.zero)).requires_grad_()
        (srt.closure(A, S) * 0 + srt.matmul(A, A, S) * 0).sum().backward()  # 0 · ∞
        assert torch.equal(A.grad, torch.zeros(3, 3))


def test_what_is_refused() -> None:
    A = torch.zeros(2, 3)
    for wrong, error, words in (
        (lambda: srt.matmul([[1.0]], A, sr.log), TypeError, "must be a Tensor"),
        (lambda: srt.closure(A, sr.log), RuntimeError, "square"),
        (lambda: srt.closure(A[0], sr.log), RuntimeError, "two axes"),
        (lambda: srt.matmul(A, A, sr.log), RuntimeError, "last axis"),
        (lambda: srt.matmul(A, A.mT.double(), sr.log), RuntimeError, r"convert one with \.to"),
        (lambda: srt.closure(A[:, :2].to_sparse(), sr.log), TypeError, "to_dense"),
        (lambda: srt.closure(A[:, :2].bfloat16(), sr.log), TypeError, "cannot be computed in torch.bfloat16"),
        (lambda: srt.closure(A[:, :2].half().requires_grad_(), sr.min_plus), ValueError, "float32 or float64"),
        (lambda: srt.closure(A[:, :2].clone().requires_grad_(), sr.lukasiewicz), ValueError, "no derivatives here"),
        (lambda: srt.closure(A[:, :2], sr.shortest_hops), TypeError, "of shortest-hops are records"),
        (lambda: srt.matmul(A, A.mT, "regex"), TypeError, "of regex are Python objects"),
        (lambda: srt.closure(A[:, :2], 3), TypeError, "must be a semiring"),
        (lambda: srt.closure(A[:, :2], "min-plsu"), ValueError, "min_plus"),
        (lambda: srt.closure(A[:, :2] - 1, sr.min_plus), torch.linalg.LinAlgError, "cycle"),
        (lambda: srt.closure(A[:, :2] * torch.nan, sr.min_plus), ValueError, "NaN"),
        (lambda: sr.closure(A[:, :2].clone().requires_grad_(), sr.min_plus), sr.SemiringError, r"semiring\.torch"),
    ):
        with pytest.raises(error, match=words):
            wrong()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "bool"])
def test_verbs_give_tensors_for_tensors(dtype: str) -> None:
    S = sr.boolean if dtype == "bool" else sr.min_plus
    A = torch.tensor([[0, 3], [1, 0]]).to(getattr(torch, dtype))
    for answer in (sr.closure(A, S), sr.matmul(A, A, S), sr.solve(A, A, S), sr.power(A, S, 2), sr.paths(A, S).weights):
        assert isinstance(answer, torch.Tensor) and answer.dtype == A.dtype and answer.device == A.device
