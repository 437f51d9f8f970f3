"""Products, closures, chains and scans of JAX's arrays: derivatives, stacks, `vmap`, `jit`, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.tensors.gradients import closure_gradient, product_gradients
from semiring.tensors.sequence_gradients import forward_gradients, scan_gradients

jax = pytest.importorskip("jax")
srj: Any = pytest.importorskip("semiring.jax")

ALGEBRAS = [
    sr.plus_times, sr.log, sr.min_plus, sr.max_plus, sr.viterbi, sr.max_times, sr.min_times, sr.max_min, sr.min_max,
]


def elements(S: sr.Semiring, *shape: int, seed: int = 0) -> Any:
    x = np.random.default_rng(seed).uniform(0.1, 0.9, shape).astype("f4")
    x = {"plus-times": x / 10, "log": np.log(x / 10), "max-plus": -x, "min-times": 1 + x}.get(S.name, x)
    return jax.numpy.asarray(x)


@pytest.mark.parametrize("S", ALGEBRAS, ids=lambda S: S.name)
def test_answers_and_derivatives_are_those_of_arrays(S: sr.Semiring) -> None:
    """Which are compared with finite differences in test_gradients.py."""
    A, B = elements(S, 2, 4, 4), elements(S, 4, 3, seed=1)
    a, b = np.asarray(A), np.broadcast_to(np.asarray(B), (2, 4, 3))
    X, back = jax.vjp(jax.jit(lambda x: srj.closure(x, S)), A)
    G = np.random.default_rng(2).standard_normal(X.shape).astype("f4")
    np.testing.assert_array_equal(X, sr.closure(a, S))
    np.testing.assert_allclose(back(jax.numpy.asarray(G))[0], closure_gradient(S, G, a, np.asarray(X)), rtol=1e-6)
    C, back = jax.vjp(lambda x, y: srj.matmul(x, y, S), A, B)
    G = np.random.default_rng(3).standard_normal(C.shape).astype("f4")
    np.testing.assert_array_equal(C, sr.matmul(a, b, S))
    dA, dB = product_gradients(S, G, a, b, np.asarray(C))
    found = back(jax.numpy.asarray(G))
    np.testing.assert_allclose(found[0], dA, rtol=1e-6)
    np.testing.assert_allclose(found[1], dB.sum(0), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("S", ALGEBRAS, ids=lambda S: S.name)
def test_chains_and_scans_are_those_of_arrays(S: sr.Semiring) -> None:
    """Whose derivatives are compared with finite differences in test_sequence_gradients.py."""
    x, A, e, stack = (elements(S, *shape, seed=k) for k, shape in enumerate(((2, 3), (3, 3), (2, 4, 3), (4, 2, 3, 3))))
    rng = np.random.default_rng(1)
    for options in ({}, {"lengths": [4, 2], "reverse": True}):
        rows = jax.jit(lambda x, a, e, options=options: srj.forward(x, a, S, emissions=e, **options))
        y, back = jax.vjp(rows, x, A, e)
        given = [np.asarray(z) for z in (x, A, e)]
        np.testing.assert_array_equal(y, sr.forward(*given[:2], S, emissions=given[2], **options))
        G = rng.standard_normal(y.shape).astype("f4")
        wanted = forward_gradients(S, G, np.asarray(y), *given, **options)
        for found, want in zip(back(jax.numpy.asarray(G)), wanted, strict=True):
            np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)
    plain, first = np.asarray(stack), np.asarray(x)
    for initial, given in ((None, None), (first, x)):
        P, back = jax.vjp(lambda a, given=given: srj.scan(a, S, initial=given), stack)
        np.testing.assert_array_equal(P, sr.scan(plain, S, initial=initial))
        G = rng.standard_normal(P.shape).astype("f4")
        inner = [np.moveaxis(z, 0, -3) for z in (G, np.asarray(P), plain)]
        want = np.moveaxis(scan_gradients(S, *inner, initial)[0], -3, 0)
        np.testing.assert_allclose(back(jax.numpy.asarray(G))[0], want, rtol=1e-5, atol=1e-6)
    last, back = jax.vjp(lambda a: srj.chain(a, S), stack)
    np.testing.assert_array_equal(last, sr.chain(plain, S))
    G = np.zeros(stack.shape, "f4")
    G[-1] = rng.standard_normal(last.shape)
    want = jax.vjp(lambda a: srj.scan(a, S), stack)[1](jax.numpy.asarray(G))[0]
    np.testing.assert_allclose(back(jax.numpy.asarray(G[-1]))[0], want, rtol=1e-6)


def test_chains_and_scans_are_mapped() -> None:
    x, A, e, stack = (elements(sr.log, *shape) for shape in ((3,), (3, 3), (5, 4, 3), (4, 5, 3, 3)))

    def total(e: Any, a: Any = A, **options: Any) -> Any:
        return srj.forward(x, a, sr.log, emissions=e, **options).sum()

    mapped = jax.vmap(lambda e: srj.forward(x, A, sr.log, emissions=e))(e)
    np.testing.assert_array_equal(mapped, srj.forward(x, A, sr.log, emissions=e))
    joined = jax.jit(jax.vmap(jax.grad(lambda e: total(e, lengths=[1, 3]))))(e)
    for found, each in zip(joined, e, strict=True):
        np.testing.assert_allclose(found, jax.grad(lambda e: total(e, lengths=[1, 3]))(each), rtol=1e-6)
    of_A = jax.vmap(jax.grad(lambda a: srj.forward(x, a, sr.log, steps=2).sum()))(stack[0])
    assert of_A.shape == stack[0].shape and np.allclose(of_A[2], jax.grad(
        lambda a: srj.forward(x, a, sr.log, steps=2).sum())(stack[0, 2]))
    scans = jax.vmap(lambda a: srj.scan(a, sr.log, initial=x[None]), 1, 1)(stack)
    np.testing.assert_allclose(scans, srj.scan(stack, sr.log, initial=x[None]), rtol=1e-6)
    of_chain = jax.vmap(jax.grad(lambda a: srj.chain(a, sr.log).sum()), 1, 1)(stack)
    np.testing.assert_allclose(of_chain, jax.grad(lambda a: srj.chain(a, sr.log).sum())(stack), rtol=1e-6)


@pytest.mark.parametrize("S", [sr.log, sr.min_plus], ids=lambda S: S.name)
def test_functions_are_mapped(S: sr.Semiring) -> None:
    A, B = elements(S, 3, 4, 4), elements(S, 4, 2, seed=1)
    np.testing.assert_array_equal(jax.vmap(lambda a: srj.closure(a, S))(A), srj.closure(A, S))
    np.testing.assert_array_equal(jax.vmap(lambda a: srj.matmul(a, B, S), 1)(A), srj.matmul(A.swapaxes(0, 1), B, S))
    whole = jax.grad(lambda a: srj.closure(a, S).sum())(A)
    np.testing.assert_allclose(jax.jit(jax.vmap(jax.grad(lambda a: srj.closure(a, S).sum())))(A), whole, rtol=1e-6)


@pytest.mark.filterwarnings("error")
def test_derivatives_at_infinity() -> None:
    A, B = jax.numpy.array([[jax.numpy.inf, 0.0]]), jax.numpy.array([[0.0], [1.0]])
    dA, dB = jax.grad(lambda a, b: srj.matmul(a, b, sr.log).sum(), (0, 1))(A, B)
    assert dA.tolist() == [[1, 0]] and dB.tolist() == [[1], [0]]
    A = jax.numpy.array([[-jax.numpy.inf, 1.0], [-jax.numpy.inf, 0.5]])
    assert jax.grad(lambda a: srj.closure(a, sr.log)[0, 1])(A).tolist() == [[0, 1], [0, 0]]


def test_what_is_refused() -> None:
    A = jax.numpy.zeros((2, 3))
    for wrong, error, words in (
        (lambda: srj.matmul([[1.0]], A, sr.log), TypeError, "must be a JAX array"),
        (lambda: srj.matmul(A, A, sr.log), TypeError, "last axis"),
        (lambda: srj.closure(A, sr.log), TypeError, "square"),
        (lambda: srj.closure(A[0], sr.log), TypeError, "two axes"),
        (lambda: srj.closure(A[:, :2], sr.shortest_hops), TypeError, "of shortest-hops are records"),
        (lambda: srj.matmul(A, A.T, "regex"), TypeError, "of regex are Python objects"),
        (lambda: srj.closure(A[:, :2], "min-plsu"), sr.SemiringError, "min_plus"),
        (lambda: srj.forward([1.0], A, sr.log), TypeError, "x must be a JAX array"),
        (lambda: srj.forward(A[0], A, sr.log), sr.SemiringError, "stack must be a square matrix"),
        (lambda: srj.forward(A[0, :2], A[:, :2].astype("int32"), sr.min_plus), TypeError, "stack is int32: convert"),
        (lambda: srj.scan(A, sr.log), sr.SemiringError, "stack must hold square matrices"),
        (lambda: srj.scan(A[None, :, :2], sr.log, initial=A), sr.SemiringError, r"initial .* has shape \(2, 3\)"),
        (lambda: srj.chain(A, sr.log), sr.SemiringError, "stack must hold square matrices"),
        (lambda: jax.grad(lambda a: srj.chain(a[None], sr.lukasiewicz).sum())(A[:, :2]), sr.LawError, "no derivatives"),
        (lambda: jax.grad(lambda a: srj.closure(a, sr.lukasiewicz).sum())(A[:, :2]), sr.LawError, "no derivatives"),
    ):
        with pytest.raises(error, match=words):
            wrong()
    with pytest.raises(NotImplementedError, match="second derivatives are not computed"):
        jax.grad(lambda b: jax.grad(lambda a: srj.closure(a, sr.log).sum())(b).sum())(A[:, :2] - 3)
    with pytest.raises(NotImplementedError, match="second derivatives are not computed"):
        jax.grad(lambda b: jax.grad(lambda a: srj.forward(A[0, :2], a, sr.log, steps=2).sum())(b).sum())(A[:, :2])
    with pytest.raises(Exception, match="lengths add up"):
        jax.block_until_ready(srj.forward(A[0, :2], A[:, :2], sr.log, emissions=A[:, :2], lengths=[3]))
    with pytest.raises(Exception, match="cycle"):
        jax.block_until_ready(srj.closure(A[:, :2] - 1, sr.min_plus))


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_verbs_give_arrays_of_jax_for_such(dtype: str) -> None:
    S = sr.boolean if dtype == "bool" else sr.min_plus
    A = jax.numpy.array([[0, 3], [1, 0]]).astype(dtype)
    for answer in (sr.closure(A, S), sr.matmul(A, A, S), sr.solve(A, A, S), sr.power(A, S, 2), sr.paths(A, S).weights):
        assert isinstance(answer, jax.Array) and answer.dtype == A.dtype


def test_an_array_whose_dtype_numpy_lacks_is_refused() -> None:
    with pytest.raises(sr.SemiringError, match="bfloat16, which NumPy lacks"):
        sr.closure(jax.numpy.zeros((2, 2), "bfloat16"), sr.min_plus)


def test_a_plain_verb_within_a_traced_function_names_the_one_to_use() -> None:
    with pytest.raises(sr.SemiringError, match=r"traced by JAX.* semiring\.jax"):
        jax.jit(lambda a: sr.closure(a, sr.min_plus))(jax.numpy.zeros((2, 2)))
