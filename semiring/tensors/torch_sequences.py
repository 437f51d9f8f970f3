"""PyTorch operators of chains and scans; their public functions in `semiring.torch` examine what they take.

Axes of sequences are leading ones here, so that `vmap` may add another: stacks have shape (…, T, n, n).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .sequence_gradients import scan_gradients
from .sequence_operands import Chains, last_product, last_product_gradient, products
from .torch_operators import DEVICES, Arrays, Once, algebra_called, computed, define, map_over

_CHAINS = "str algebra, int rows, bool joined, bool reverse"

define(
    f"forward(Tensor x, Tensor stack, Tensor? emissions, Tensor? lengths, {_CHAINS}) -> Tensor",
    f"forward_backward(Tensor G, Tensor x, Tensor stack, Tensor? emissions, Tensor? lengths, Tensor values, {_CHAINS})"
    " -> (Tensor, Tensor, Tensor)",
    "scan(Tensor stack, Tensor? initial, str algebra, bool reverse) -> Tensor",
    "scan_backward(Tensor G, Tensor stack, Tensor? initial, Tensor values, str algebra, bool reverse)"
    " -> (Tensor, Tensor)",
    "chain(Tensor stack, str algebra) -> Tensor",
    "chain_backward(Tensor G, Tensor stack, str algebra) -> Tensor",
)


def _there(*given: torch.Tensor | None) -> list[torch.Tensor]:
    return [x for x in given if x is not None]


def _on_host(lengths: torch.Tensor | None) -> list[np.ndarray]:
    """Numbers of rows, which the host reads; none if there are none."""
    return [] if lengths is None else [lengths.detach().cpu().numpy()]


@torch.library.impl("semiring::forward", DEVICES)
def _forward(
    x: torch.Tensor, stack: torch.Tensor, emissions: torch.Tensor | None, lengths: torch.Tensor | None, algebra: str,
    rows: int, joined: bool, reverse: bool,
) -> torch.Tensor:
    S, chains = algebra_called(algebra), Chains(rows, joined, emissions is not None, reverse)
    given = _there(x, stack, emissions)
    return computed(x, lambda to: to.tensor(chains.values(S, *map(to.array, given), *_on_host(lengths))))


@torch.library.impl("semiring::forward_backward", DEVICES)
def _forward_backward(
    G: torch.Tensor, x: torch.Tensor, stack: torch.Tensor, emissions: torch.Tensor | None,
    lengths: torch.Tensor | None, values: torch.Tensor, algebra: str, rows: int, joined: bool, reverse: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    S, chains = algebra_called(algebra), Chains(rows, joined, emissions is not None, reverse)
    given = _there(G, values, x, stack, emissions)

    def compute(to: Arrays) -> tuple[torch.Tensor, ...]:
        return tuple(map(to.tensor, chains.gradients(S, *map(to.array, given), *_on_host(lengths))))

    found = computed(G, compute)
    return (*found, torch.zeros_like(x)) if emissions is None else found


@torch.library.impl("semiring::scan", DEVICES)
def _scan(stack: torch.Tensor, initial: torch.Tensor | None, algebra: str, reverse: bool) -> torch.Tensor:
    S = algebra_called(algebra)
    return computed(stack, lambda to: to.tensor(
        products(S, to.array(stack), None if initial is None else to.array(initial), reverse)))


@torch.library.impl("semiring::scan_backward", DEVICES)
def _scan_backward(
    G: torch.Tensor, stack: torch.Tensor, initial: torch.Tensor | None, values: torch.Tensor, algebra: str,
    reverse: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    S = algebra_called(algebra)

    def compute(to: Arrays) -> tuple[torch.Tensor, torch.Tensor]:
        of_stack, of_initial = scan_gradients(S, *map(to.array, _there(G, values, stack, initial)), reverse=reverse)
        found = to.tensor(of_stack)
        return found, torch.zeros_like(found) if of_initial is None else to.tensor(of_initial)

    return computed(G, compute)


@torch.library.impl("semiring::chain", DEVICES)
def _chain(stack: torch.Tensor, algebra: str) -> torch.Tensor:
    return computed(stack, lambda to: to.tensor(last_product(algebra_called(algebra), to.array(stack))))


@torch.library.impl("semiring::chain_backward", DEVICES)
def _chain_backward(G: torch.Tensor, stack: torch.Tensor, algebra: str) -> torch.Tensor:
    S = algebra_called(algebra)
    return computed(G, lambda to: to.tensor(last_product_gradient(S, to.array(G), to.array(stack))))


@torch.library.register_fake("semiring::forward")
def _(
    x: torch.Tensor, stack: torch.Tensor, emissions: torch.Tensor | None, lengths: torch.Tensor | None, algebra: str,
    rows: int, joined: bool, reverse: bool,
) -> torch.Tensor:
    if joined and emissions is not None:
        return emissions.new_empty(emissions.shape)
    leading = [x.shape[:-1], stack.shape[:-3], *([] if emissions is None else [emissions.shape[:-2]])]
    return x.new_empty((*torch.broadcast_shapes(*leading), rows, x.shape[-1]))


@torch.library.register_fake("semiring::forward_backward")
def _(
    G: torch.Tensor, x: torch.Tensor, stack: torch.Tensor, emissions: torch.Tensor | None,
    lengths: torch.Tensor | None, values: torch.Tensor, algebra: str, rows: int, joined: bool, reverse: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    last = x if emissions is None else emissions
    return x.new_empty(x.shape), stack.new_empty(stack.shape), x.new_empty(last.shape)


@torch.library.register_fake("semiring::scan")
def _(stack: torch.Tensor, initial: torch.Tensor | None, algebra: str, reverse: bool) -> torch.Tensor:
    if initial is None:
        return stack.new_empty(stack.shape)
    if reverse:
        return stack.new_empty((*stack.shape[:-1], initial.shape[-1]))
    return stack.new_empty((*stack.shape[:-2], initial.shape[-2], stack.shape[-1]))


@torch.library.register_fake("semiring::scan_backward")
def _(
    G: torch.Tensor, stack: torch.Tensor, initial: torch.Tensor | None, values: torch.Tensor, algebra: str,
    reverse: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    return stack.new_empty(stack.shape), stack.new_empty((stack if initial is None else initial).shape)


@torch.library.register_fake("semiring::chain")
def _(stack: torch.Tensor, algebra: str) -> torch.Tensor:
    return stack.new_empty((*stack.shape[:-3], *stack.shape[-2:]))


@torch.library.register_fake("semiring::chain_backward")
def _(G: torch.Tensor, stack: torch.Tensor, algebra: str) -> torch.Tensor:
    return stack.new_empty(stack.shape)


map_over("forward", "forward_backward", "scan", "scan_backward", "chain", "chain_backward")


def _save(ctx: Any, inputs: tuple[Any, ...], output: Any, tensors: int) -> None:
    """Save the inputs, which begin with some tensors or None in place of one, and the output."""
    ctx.others = inputs[tensors:]
    ctx.save_for_backward(*inputs[:tensors], output)


class Forward(torch.autograd.Function):
    """Rows of chains."""

    generate_vmap_rule = True

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what the derivatives need."""
        _save(ctx, inputs, output, 4)

    @staticmethod
    def forward(*given: Any) -> torch.Tensor:
        """Compute them."""
        return torch.ops.semiring.forward(*given)

    @staticmethod
    def backward(ctx: Any, G: torch.Tensor) -> tuple[Any, ...]:
        """Return the derivatives for x, the stack and emissions."""
        derive = _ForwardBackward.apply if torch.is_grad_enabled() else torch.ops.semiring.forward_backward
        *found, of_emissions = derive(G, *ctx.saved_tensors, *ctx.others)
        return *found, None if ctx.saved_tensors[2] is None else of_emissions, None, None, None, None, None


class Scan(torch.autograd.Function):
    """All products of a sequence."""

    generate_vmap_rule = True

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what the derivatives need."""
        _save(ctx, inputs, output, 2)

    @staticmethod
    def forward(*given: Any) -> torch.Tensor:
        """Compute them."""
        return torch.ops.semiring.scan(*given)

    @staticmethod
    def backward(ctx: Any, G: torch.Tensor) -> tuple[Any, ...]:
        """Return the derivatives for the stack and the initial matrix."""
        derive = _ScanBackward.apply if torch.is_grad_enabled() else torch.ops.semiring.scan_backward
        of_stack, of_initial = derive(G, *ctx.saved_tensors, *ctx.others)
        return of_stack, None if ctx.saved_tensors[1] is None else of_initial, None, None


class Chain(torch.autograd.Function):
    """The product of a sequence."""

    generate_vmap_rule = True

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what the derivatives need."""
        _save(ctx, inputs, output, 1)

    @staticmethod
    def forward(*given: Any) -> torch.Tensor:
        """Compute it."""
        return torch.ops.semiring.chain(*given)

    @staticmethod
    def backward(ctx: Any, G: torch.Tensor) -> tuple[Any, ...]:
        """Return the derivatives for the stack."""
        derive = _ChainBackward.apply if torch.is_grad_enabled() else torch.ops.semiring.chain_backward
        return derive(G, ctx.saved_tensors[0], *ctx.others), None


class _ForwardBackward(Once):
    @staticmethod
    def forward(*given: Any) -> Any:
        return torch.ops.semiring.forward_backward(*given)


class _ScanBackward(Once):
    @staticmethod
    def forward(*given: Any) -> Any:
        return torch.ops.semiring.scan_backward(*given)


class _ChainBackward(Once):
    @staticmethod
    def forward(*given: Any) -> Any:
        return torch.ops.semiring.chain_backward(*given)
