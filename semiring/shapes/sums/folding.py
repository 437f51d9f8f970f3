"""How an operation of an algebra is folded along axes of an array: the fastest of the ways that are right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from math import prod

import numpy as np
from numpy.lib.stride_tricks import as_strided

from semiring.algebra.elements import is_nan
from semiring.algebra.overflow import ends
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.kernels.build import FOLDED, SCANNED, code_of, renting, repays
from semiring.kernels.cpu.compile.price import has_numba
from semiring.kernels.cpu.dense.folds import SINGLE, FoldKernel, Group, along, fits, grouped
from semiring.kernels.cpu.dense.folds import kernel as fold_kernel
from semiring.kernels.cpu.dense.power_prefixes import PowerPrefixKernel
from semiring.kernels.cpu.dense.prefixes import PrefixKernel
from semiring.kernels.cpu.dense.prefixes import kernel as prefix_kernel
from semiring.kernels.lowering.general import general
from semiring.kernels.lowering.objects import python_integers
from semiring.kernels.lowering.parts import CHUNK
from semiring.kernels.numpy.folds import NotElements, folded, folded_powers, in_blocks, in_pieces, scanned

from .operation import EXACT, Beyond, Operation

LEAST = 1 << 14  # elements from which compiled code is worth its call
ADJACENT = 1 << 10  # adjacent elements from which NumPy's reduction is as fast as memory
FEW_TERMS = 64  # of a result, up to which the results are a good part of the memory that is touched
AT_ONCE = 1 << 22  # elements that a function of NumPy takes at once if it needs no other pass
PURPOSES_OF = {"add": "sums", "mul": "prods"}
RUNNING_OF = {"add": "prefix sums", "mul": "prefix products"}
RUNNING_FROM = 1 << 10  # elements from which compiled prefixes are worth their call
Piece = Callable[..., np.ndarray]


class Fold(Operation):
    """⊕ or ⊗ of an algebra on arrays of a dtype, along axes.

    Parameters
    ----------
    S : Semiring
    op : {"add", "mul"}
    dtype : dtype
    """

    def along(self, x: np.ndarray, axes: Sequence[int]) -> np.ndarray:
        """Fold along some axes, ascending, none of them empty; they stay, with length 1.

        Raises
        ------
        NotElements
            If something in x is not an element.
        SemiringError
            If integers leave the dtype.
        """
        if not x.size:
            return np.empty([1 if a in axes else length for a, length in enumerate(x.shape)], x.dtype)
        if self.parts is not None and x.size >= LEAST and all(abs(x.strides[a]) > x.itemsize for a in axes):
            both = as_strided(x.real, (*x.shape, 2), (*x.strides, x.itemsize // 2))
            return np.ascontiguousarray(self.parts.along(both, axes)).view(self.dtype)[..., 0]
        kernel = self._kernel_for(x, axes)
        if kernel is None:
            return self._by_numpy(x, axes)
        if not repays(kernel.lowering, x.size * FOLDED, PURPOSES_OF[self.op]):
            with renting(kernel.lowering, PURPOSES_OF[self.op]):
                return self._by_numpy(x, axes)
        if kernel.whole:
            return self._of_small_numbers(kernel, x, axes)
        wide = self if self._single is None else fold_of(self.algebra, self.op, SINGLE)
        found = along(kernel, x, axes, partial(wide._by_numpy, look=False))
        if found is None:
            raise NotElements
        return self.narrowed(found)

    def _of_small_numbers(self, kernel: FoldKernel, x: np.ndarray, axes: Sequence[int]) -> np.ndarray:
        """Sums of integers that are all finite elements, and far from the limits of 64 bits, if they are."""
        whole = partial(self.of_whole_numbers, look=False)
        with suppress(Beyond):
            found = along(kernel, x, axes, lambda some, of: in_pieces(whole, some, of, True))
            if found is not None:
                return self.fitted(found)
        return self._by_numpy(x, axes)

    @cached_property
    def parts(self) -> Fold | None:
        """The fold of real and imaginary parts, if these are summed up by themselves."""
        if self.dtype.kind != "c" or self.ufunc is not np.add or not self.all_finite:
            return None
        real = np.dtype(f"f{self.dtype.itemsize // 2}")
        fold = fold_of(self.algebra, self.op, real) if real in self.algebra.dtypes else None
        return fold if fold is not None and fold.ufunc is np.add else None

    def _kernel_for(self, x: np.ndarray, axes: Sequence[int]) -> FoldKernel | None:
        """The kernel that folds an array faster than NumPy does, if there is one."""
        groups = grouped(x, axes)
        kernel = self.compiled if x.size >= LEAST and not self._at_speed(groups, x) else None
        return kernel if kernel is not None and kernel.takes(groups, x) else None

    def method(self, x: np.ndarray, axes: Sequence[int]) -> str:
        """How `along` folds an array, in words."""
        kernel = self._kernel_for(x, axes) if x.size else None
        if kernel is not None and code_of(kernel.lowering, PURPOSES_OF[self.op]).is_due(x.size * FOLDED):
            return "compiled vectors"
        if self.whole is not None:
            return f"numpy.{self.whole.__name__}, in 64 bits"
        if self._form is not None:
            return "powers relative to the maximum, by NumPy"
        return "neighbours in pairs" if self.ufunc is None else f"numpy.{self.ufunc.__name__}"

    def _by_numpy(self, x: np.ndarray, axes: Sequence[int], look: bool = True) -> np.ndarray:
        """Fold by NumPy; only if `look`, refuse what is not an element, such as a partial sum that overflows."""
        if self.whole is not None:
            with suppress(Beyond):
                whole = self.of_whole_numbers
                return self.fitted(in_pieces(whole, x, axes, True, again=_unseen(whole)))
        most = AT_ONCE if self.needs_one_pass else CHUNK
        again = _unseen(self._piece)
        kept = prod(length for axis, length in enumerate(x.shape) if axis not in axes)
        if self.selects and self.needs_one_pass and x.size <= FEW_TERMS * kept:
            most = x.size  # memory for parts of the result takes longer than threads save
        try:
            return self.narrowed(in_pieces(self._piece if look else again, x, axes, self.commutes, most, again))
        except SemiringError:
            return self._exactly(lambda fold, given: in_pieces(
                fold._piece, given, axes, fold.commutes, again=_unseen(fold._piece)), x)

    def _at_speed(self, groups: Sequence[Group], x: np.ndarray) -> bool:
        """Whether a function of NumPy is as fast as memory: along what is adjacent, with no test of each element."""
        inner = groups[-1] if groups else None
        return inner is None or (self.needs_one_pass and self.dtype != np.float16 and inner.length >= ADJACENT
                                 and inner.stride == x.itemsize and inner.goes)

    @cached_property
    def compiled(self) -> FoldKernel | None:
        """The kernel of compiled code; None if there is none, or results of integers have to be looked at."""
        S = self.algebra
        if S.traced is None or not (self.commutes and self.has_neutral) or self.dtype.kind not in "biufV":
            return None
        parts = [self.dtype[f] for f in self.dtype.names] if self.dtype.names else [self.dtype]
        whole = any(part.kind in "iu" for part in parts) and self.whole is not np.add
        if S.working(self.dtype) != self.dtype or (whole and (self.op == "mul" or any(ends(S, self.dtype)))):
            return None
        low = general(S, self.dtype)
        return fold_kernel(low, self.op) if has_numba() and fits(low, self.op) else None

    def running_method(self, x: np.ndarray, axis: int) -> str:
        """How `prefixes` are computed, in words."""
        kernel = self.running if x.size >= RUNNING_FROM else None
        if kernel is not None and code_of(kernel.lowering, RUNNING_OF[self.op]).is_due(x.size * SCANNED):
            return "compiled lines or rows"
        return "prefixes of pairs"

    @cached_property
    def running(self) -> PrefixKernel | PowerPrefixKernel | None:
        """The compiled kernel of prefixes; None if there is none, or results of integers have to be looked at."""
        S, dtype = self.algebra, self.dtype
        if S.traced is None or dtype.kind not in "biufcV" or not has_numba():
            return None
        wide: np.dtype = np.dtype(np.float32) if self._single is not None else dtype
        parts = [wide[f] for f in wide.names] if wide.names else [wide]
        whole = any(part.kind in "iu" for part in parts)
        if S.working(wide) != wide or wide == np.float16 or (whole and (self.op == "mul" or any(ends(S, wide)))):
            return None
        low = general(S, wide)
        exact = all(part.kind in "biu" for part in parts) or (self.op == "add" and S.selective)
        traced = S.traced.add if self.op == "add" else S.traced.raw_mul
        return prefix_kernel(low, self.op, exact or traced.is_plain(*EXACT)) if low.kind == "numba" else None

    def prefixes(self, x: np.ndarray, axis: int) -> np.ndarray:
        """Fold all elements up to each along an axis.

        Raises
        ------
        NotElements
            If something in x is not an element.
        SemiringError
            If integers leave the dtype.
        """
        if x.size >= RUNNING_FROM and (kernel := self.running) is not None:
            if repays(kernel.lowering, x.size * SCANNED, RUNNING_OF[self.op]):
                return self.compiled_prefixes(x, axis)
            with renting(kernel.lowering, RUNNING_OF[self.op]):
                return self._prefixes_by_numpy(x, axis)
        return self._prefixes_by_numpy(x, axis)

    def compiled_prefixes(self, x: np.ndarray, axis: int) -> np.ndarray:
        """`prefixes` by the compiled kernel."""
        kernel = self.running
        assert kernel is not None
        low = kernel.lowering
        tells = self.op == "add" and self.ordinary is not None  # what is not finite stays so to the end
        if not low.is_identity and not tells and not self._are_elements(x):
            raise NotElements
        given = low.encode(np.require(self.widened(x), None, ["C", "A"]), False)
        found = kernel.prefixes(
            given.reshape(prod(x.shape[:axis]), x.shape[axis], -1),
            lambda some: np.asarray(low.encode(scanned(self._operate, low.decode(some)), False)),
        )
        if found is None:
            raise NotElements
        result: np.ndarray = self.narrowed(low.decode(found.reshape(x.shape)))
        if tells and not low.is_identity and not (np.isfinite(result.take(-1, axis)).all() or self._are_elements(x)):
            raise NotElements
        return result

    def _prefixes_by_numpy(self, x: np.ndarray, axis: int) -> np.ndarray:
        if self.whole is not None and x.size:
            with suppress(Beyond):
                return self.running_whole_numbers(x, axis)
        if not self._are_elements(x):
            raise NotElements
        given = np.moveaxis(x, axis, 0)
        try:
            found = scanned(self._operate, self.widened(given))
        except SemiringError:
            found = self._exactly(lambda fold, some: scanned(fold.operate, some), given)
        return np.ascontiguousarray(np.moveaxis(self.narrowed(found), 0, axis))

    def _exactly(self, compute: Callable[[Fold, np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
        """The same in Python integers, of which only a result has to fit the dtype."""
        if self.dtype.kind not in "iu":
            return compute(self, x)
        low = python_integers(self.algebra, self.dtype, "")
        return low.decode(compute(Fold(self.algebra, self.op, np.dtype(object)), low.encode(x, True)))

    @cached_property
    def _piece(self) -> Piece:
        """What folds a piece that stays in the cache."""
        if self._form is not None:
            return self._by_powers
        return self._by_pairs if self.ufunc is None else self._by_ufunc

    def _by_pairs(self, x: np.ndarray, axes: Sequence[int], look: bool = True) -> np.ndarray:
        if look and not self._are_elements(x):
            raise NotElements
        x = self.widened(x)
        for axis in reversed(axes):
            x = folded(self._operate, x, axis)
        return x

    def _by_ufunc(self, x: np.ndarray, axes: Sequence[int], look: bool = True) -> np.ndarray:
        ufunc = self.ufunc
        assert ufunc is not None
        if look and not self.result_tells and not self._are_elements(x):
            raise NotElements
        x = self.widened(x)
        with np.errstate(all="ignore"):
            if self.selects:
                found: np.ndarray = ufunc.reduce(x, axis=tuple(axes), keepdims=True)
            else:
                found = in_blocks(ufunc, x, axes)
        if look and self.result_tells and not np.isfinite(found).all():
            if ufunc is np.multiply:  # an overflow may have met a zero
                return self._by_pairs(x, axes)
            if not self._are_elements(x):
                raise NotElements
        return found

    def _by_powers(self, x: np.ndarray, axes: Sequence[int], look: bool = True) -> np.ndarray:
        assert self._form is not None
        found = folded_powers(self._form, self.widened(x), axes)
        if look and is_nan(found).any() and not self._are_elements(x):
            raise NotElements
        return found


def _unseen(piece: Piece) -> Piece:
    """The same for results of pieces, which are not looked at."""
    return partial(piece, look=False)


@lru_cache(1024)
def fold_of(S: Semiring, op: str, dtype: np.dtype) -> Fold:
    """The fold of an algebra's operation in a dtype, made once."""
    return Fold(S, op, dtype)
