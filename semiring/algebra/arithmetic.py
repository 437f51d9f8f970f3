"""An algebra's operations as expressions, and as NumPy functions on arrays of one dtype."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.errors import SemiringError

from . import overflow
from .constants import nearest_constant, outside
from .elements import EXACT, has_floats, is_nan, kinds_of
from .evaluate import numpy_function, python_function
from .expression import Expression, Traced, rounded
from .stars import declared_star, object_star
from .tracing import saturating_add
from .vectors import convert

if TYPE_CHECKING:
    from .semiring import Semiring


def components(dtype: np.dtype) -> tuple[np.dtype, ...]:
    """The dtypes of an element's components: the fields of a record, else its own dtype."""
    return tuple(dtype[f] for f in dtype.names) if dtype.names else (dtype,)


class Operations:
    """An algebra's operations as expressions. `mul` is `raw_mul` with zero made to absorb."""

    def __init__(
        self, add: Traced, raw_mul: Traced, mul: Traced, star: Traced, defined: Expression, carrier: Expression
    ):
        self.add, self.raw_mul, self.mul = add, raw_mul, mul
        self.star, self.defined, self.carrier = star, defined, carrier


class Arithmetic:
    """An algebra on NumPy arrays of one dtype: the reference that tests compare every kernel with.

    Parameters
    ----------
    S : Semiring
    dtype : dtype
        The dtype of operands and results.
    working : dtype
        The dtype in which expressions are computed; wider if `dtype` is too narrow for the algebra.
    checked : bool
        Refuse integers that leave the dtype. Laws are tested unchecked: sums that saturate, or wrap, obey them.
    """

    def __init__(self, S: Semiring, dtype: np.dtype, working: np.dtype, checked: bool = True):
        self.semiring, self.dtype, self._checked = S, dtype, checked
        self.components, self._work, self._working = components(dtype), components(working), working
        # Halves are computed in single precision, which holds all intermediate values, with constants that are halves.
        self._halves = dtype == working == np.float16
        if self._halves:
            self._work = (np.dtype("f4"),)
        if dtype.kind == "O":
            self.zero, self.one = S.zero, S.one
            self._objects = self._object_functions()
        else:
            self.zero, self.one = self.element(S.zero), None if S.one is None else self.element(S.one)
        # The limit of a narrow dtype that stands for infinity is an ordinary number in the wide one.
        self._turned: list[tuple[Any, Any]] = []
        if self.dtype.kind in "iu" and self._work != self.components:
            wide = Arithmetic(S, working, working)
            pairs = [(self.zero, wide.zero), (self.one, wide.one)]
            self._turned = [(here, there) for here, there in pairs if here is not None and here != there]

    @property
    def unchecked(self) -> Arithmetic:
        """The same arithmetic for testing laws: integers that leave the dtype saturate at its limits, or wrap."""
        return Arithmetic(self.semiring, self.dtype, self._working, checked=False)

    def element(self, value: Any) -> Any:
        """A Python number, or a tuple for records, as a scalar of the dtype."""
        if self.dtype.kind == "O":
            return value
        parts = zip(self.semiring.components_of(value), self.components, strict=True)
        cast = [nearest_constant(v, d) for v, d in parts]
        return np.array(tuple(cast), self.dtype)[()] if self.dtype.names else cast[0]

    def add(self, x: Any, y: Any) -> Any:
        """x ⊕ y."""
        return self._call("add", x, y)

    def mul(self, x: Any, y: Any) -> Any:
        """x ⊗ y, where zero absorbs."""
        if self.dtype.kind in "iu" and self.semiring.is_tropical:
            return self._sum(x, y)
        return self._call("mul", x, y)

    def _sum(self, x: Any, y: Any) -> Any:
        """Sums of integers whose limits stand for infinities: these absorb, and no sum may reach one."""
        limits = np.iinfo(self.dtype)
        opposite = limits.min if self.zero == limits.max else limits.max
        total = np.asarray(saturating_add(np.asarray(x, self.dtype), np.asarray(y, self.dtype)))
        endless = ((x == opposite) | (y == opposite)) & (self.dtype.kind == "i")
        absent = (x == self.zero) | (y == self.zero)
        outside = ~endless & ~absent & ((total == self.zero) | ((total == opposite) & (self.dtype.kind == "i")))
        if outside.any():
            raise SemiringError(f"{self.semiring.name}: a sum leaves {self.dtype.name}; use a wider dtype")
        return np.where(absent, self.zero, np.where(endless, self.dtype.type(opposite), total))

    def raw_mul(self, x: Any, y: Any) -> Any:
        """x ⊗ y as it was declared: 0 ⊗ a may be NaN."""
        if self.dtype.kind in "iu" and self.semiring.is_tropical:
            return self._sum(x, y)  # with the limit that stands for the declared infinity
        return self._call("raw_mul", x, y)

    def star(self, x: Any) -> Any:
        """x*, meaningless where `defined` is false."""
        return self._call("star", x)

    def defined(self, x: Any) -> Any:
        """Test which x have a star."""
        return self._predicate("defined", x)

    def contains(self, x: Any) -> Any:
        """Test which x are elements: in the carrier, and not NaN."""
        if self.dtype.kind == "O" and self.takes_all(np.asarray(x)):
            return np.ones(np.shape(x), bool)
        return self._predicate("carrier", x) & ~is_nan(np.asarray(x))

    def _call(self, op: str, *arrays: Any) -> Any:
        if self.dtype.kind == "O":
            with np.errstate(all="ignore"):  # objects may be NaN, and be compared with it
                return self._objects[op](*arrays)
        outputs = getattr(self.semiring.traced, op).outputs
        if self._halves:
            outputs = rounded(outputs, self.dtype)
        near = overflow.ends(self.semiring, self.dtype) if self._checked and self._has_integers else ()
        if any(near):
            outputs = overflow.kept_apart(outputs, self._work, near)
        function = numpy_function(outputs, len(arrays), self._work, self._work)
        results = function(*map(self._widened, arrays))
        if any(near):
            results = self._inside(op, arrays, results, near)
        if self._checked and self._has_integers and op.endswith("mul") and self.semiring.has_multiples:
            self._refuse_large_multiples(op, *arrays)
        if self._work != self.components:
            results = tuple(map(self._narrowed, results, self.components))
        if self.dtype.names:
            shape = np.broadcast_shapes(*(np.shape(a) for a in arrays))
            out = np.empty(shape, self.dtype)
            for f, r in zip(self.dtype.names, results, strict=True):
                out[f] = r
            return out
        shape = np.broadcast_shapes(*(np.shape(a) for a in arrays))
        return results[0] if np.shape(results[0]) == shape else np.broadcast_to(results[0], shape)

    @cached_property
    def _has_integers(self) -> bool:
        return any(kind.kind in "iu" for kind in self.components)

    def _inside(
        self, op: str, arrays: Sequence[Any], results: Sequence[np.ndarray], near: Sequence[overflow.Ends | None]
    ) -> tuple[np.ndarray, ...]:
        """Check results of integers: those that may have left the dtype are computed again, exactly."""
        found = list(results)
        for c, (ends, kind) in enumerate(zip(near, self._work, strict=True)):
            far = np.isin(results[c], ends.reserved(kind)) if ends else np.False_
            if not ends or not far.any():
                continue
            if self.dtype.names or self._work != self.components:
                overflow.refuse(self.semiring, kind, np.asarray(results[c])[far].flat[0], at_least=True)
            limits = np.iinfo(kind)
            meant = {int(limits.max): np.inf} if ends.infinite else {}
            meant |= {int(limits.min): -np.inf} if ends.infinite and limits.min else {}
            given = (np.broadcast_to(x, far.shape)[far].tolist() for x in arrays)
            exact = [self._exactly(op, [meant.get(x, x) for x in row]) for row in zip(*given, strict=True)]
            least, most = ends.finite(kind)
            codes = {infinity: limit for limit, infinity in meant.items()}
            for value in exact:
                if value not in codes and not least <= value <= most:
                    overflow.refuse(self.semiring, kind, value)
            found[c] = np.array(results[c])
            found[c][far] = [codes.get(value, value) for value in exact]
        return tuple(found)

    def _refuse_large_multiples(self, op: str, x: Any, y: Any) -> None:
        """Refuse least common multiples that leave the dtype, if ⊗ is one."""
        if not self.semiring.traced.raw_mul.is_plain("lcm"):  # type: ignore[union-attr]
            return
        x, y = np.broadcast_arrays(x, y)
        most = np.iinfo(self.dtype).max
        size = np.abs(x // np.maximum(np.gcd(x, y), 1)).astype(float) * np.abs(y.astype(float))
        for pair in zip(x[size > most * 0.99].tolist(), y[size > most * 0.99].tolist(), strict=True):
            exact = self._exactly(op, pair)
            if exact > most:
                overflow.refuse(self.semiring, self.dtype, exact)

    def _exactly(self, op: str, operands: Sequence[Any]) -> Any:
        """Compute an operation on Python integers, and infinities."""
        return self.semiring.over(object)._objects[op](*operands)

    def _widened(self, x: Any) -> tuple[Any, ...]:
        parts = self.split(x)
        if self._work == self.components:
            return parts
        wide = tuple(np.asarray(p).astype(w) for p, w in zip(parts, self._work, strict=True))
        for here, there in self._turned:
            wide = (np.where(parts[0] == here, there, wide[0]),)
        return wide

    def _narrowed(self, result: np.ndarray, dtype: np.dtype) -> np.ndarray:
        for here, there in self._turned:
            result = np.where(result == there, here, result)
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            if outside(result, limits.min, limits.max).any():
                raise SemiringError(f"{self.semiring.name}: a result leaves {dtype}; use a wider dtype")
        with np.errstate(over="ignore"):
            return np.asarray(result).astype(dtype)

    def takes_all(self, x: np.ndarray) -> bool:
        """Whether no carrier tests such objects: there is none, or it asks for finite numbers, which these are."""
        S = self.semiring
        if S.traced is None:
            return S._callables["carrier"] is None and not has_floats(x)
        carrier = S.traced.carrier
        return (carrier.op in ("constant", "isfinite") and all(e.op == "input" for e in carrier.args)
                and kinds_of(x) <= EXACT and (carrier.op != "constant" or bool(carrier.value)))

    def _predicate(self, which: str, x: Any) -> np.ndarray:
        if self.dtype.kind == "O":
            with np.errstate(all="ignore"):
                return np.asarray(self._objects[which](x), bool)
        S = self.semiring
        e = S.carrier_in(self.dtype) if which == "carrier" else getattr(S.traced, which)
        if e.op == "constant":
            return np.full(np.shape(x), e.value, bool)
        outputs = rounded((e,), self.dtype) if self._halves else (e,)
        function = numpy_function(outputs, 1, self._work, (np.dtype(bool),))
        return np.broadcast_to(function(self._widened(x))[0], np.shape(x))

    def is_zero(self, x: Any) -> np.ndarray:
        """Test which x are zero; each object is compared as a whole, even if it is a tuple."""
        if self.dtype.kind == "O":
            return np.asarray(np.frompyfunc(lambda e: _is(e, self.zero), 1, 1)(x), bool)
        return np.asarray(x == self.zero)

    def split(self, x: Any) -> tuple[Any, ...]:
        """The components of an array of elements."""
        return tuple(x[f] for f in self.dtype.names) if self.dtype.names else (x,)

    def _object_functions(self) -> dict[str, Callable[..., Any]]:
        S = self.semiring
        if S.traced is not None:
            add, mul, star = (python_function(t) for t in (S.traced.add, S.traced.raw_mul, S.traced.star))
            defined, carrier = (python_function(Traced((e,), 1, 1)) for e in (S.traced.defined, S.traced.carrier))
            guarded = lambda a, b: S.zero if _is(a, S.zero) or _is(b, S.zero) else mul(a, b)  # noqa: E731
        else:
            add, mul = S._callables["add"], S._callables["mul"]
            declared, belongs = S._callables["star"], S._callables["carrier"]
            star, defined = declared_star(declared) if declared else object_star(add, mul, S.one)
            carrier, guarded = belongs or (lambda a: True), mul
        functions = {"add": (add, 2), "mul": (guarded, 2), "raw_mul": (mul, 2), "star": (star, 1),
                     "defined": (defined, 1), "carrier": (carrier, 1)}
        self.scalar = {k: f for k, (f, _) in functions.items()}
        return {k: np.frompyfunc(f, arity, 1) for k, (f, arity) in functions.items()}


class Rearranged(Arithmetic):
    """An algebra on elements in another layout: fields in another order, vectors as fields, another byte order.

    Parameters
    ----------
    plain : Arithmetic
        In native byte order; for records, on their components in the algebra's order.
    dtype : dtype
        The dtype of operands and results.
    """

    def __init__(self, plain: Arithmetic, dtype: np.dtype):
        self.semiring, self.dtype, self._plain = plain.semiring, dtype, plain
        self.components = plain.components
        self.zero, self.one = (None if e is None else self._back(e)[()] for e in (plain.zero, plain.one))

    def element(self, value: Any) -> Any:
        """A Python number, or a tuple for records, as a scalar of the dtype."""
        return self._back(self._plain.element(value))[()]

    def mul(self, x: Any, y: Any) -> Any:
        """x ⊗ y, where zero absorbs."""
        return self._back(self._plain.mul(self._in_order(x), self._in_order(y)))

    def raw_mul(self, x: Any, y: Any) -> Any:
        """x ⊗ y as it was declared: 0 ⊗ a may be NaN."""
        return self._back(self._plain.raw_mul(self._in_order(x), self._in_order(y)))

    def contains(self, x: Any) -> Any:
        """Test which x are elements: in the carrier, and not NaN."""
        return self._plain.contains(self._in_order(x))

    def is_zero(self, x: Any) -> np.ndarray:
        """Test which x are zero."""
        return self._plain.is_zero(self._in_order(x))

    def split(self, x: Any) -> tuple[Any, ...]:
        """The components of an array of elements."""
        return self._plain.split(self._in_order(x))

    def _call(self, op: str, *arrays: Any) -> Any:
        return self._back(self._plain._call(op, *map(self._in_order, arrays)))

    def _predicate(self, which: str, x: Any) -> np.ndarray:
        return self._plain._predicate(which, self._in_order(x))

    def _in_order(self, x: Any) -> np.ndarray:
        return convert(np.asarray(x), self._plain.dtype)

    def _back(self, x: Any) -> np.ndarray:
        return convert(np.asarray(x), self.dtype)


def _is(a: Any, element: Any) -> bool:
    return a is element or bool(a == element)
