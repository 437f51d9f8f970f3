"""`Semiring`: an algebra (S, ⊕, ⊗, 0, 1), declared once with NumPy operations, and its arithmetic in each dtype."""

from __future__ import annotations

import html
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from . import laws
from .arithmetic import Arithmetic, Operations
from .constants import cast_constant
from .errors import LawError, SemiringError, SemiringWarning, TraceError
from .expression import (
    Expression,
    Traced,
    apply,
    constant,
    operand,
    show,
    split_undefined,
    substitute,
    typed,
)
from .memory import require
from .tracing import trace

SCALAR_DTYPES = tuple(
    np.dtype(d) for d in ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")
)  # fmt: skip
_POOL = (0, 1, 2, 3, 0.5, 0.25, 0.75, 7, -1, -2.5, 5, 12, np.inf, -np.inf)
_RECORD_POOL = (0, 1, 2.5, np.inf)
_LARGE = 1 << 26  # bytes from which it is asked whether they are there
_SMALL_POOL = 64  # records beyond this many are thinned, since laws with three variables try their cube


class Semiring:
    """An algebra with two operations, as expressions that run on every device.

    Parameters
    ----------
    name : str
        What to call it.
    notation : str, optional
        The tuple (S, ⊕, ⊗, 0, 1) for people to read; made from the expressions when absent.
    add, mul : callable
        ⊕ and ⊗ of two elements, written with NumPy ufuncs, operators and ``np.where``. Records arrive with their
        fields as attributes and are returned as a tuple, a mapping or one of the operands.
    zero, one : number, tuple or object
        Neutral elements of ⊕ and ⊗. Zero absorbs. ±∞ in an integer dtype are its limits.
    star : callable, optional
        a* = 1 ⊕ a ⊕ a² ⊕ …, the least solution of x = 1 ⊕ a ⊗ x; NaN where it does not exist. When absent, a* is 1
        where 1 ⊕ a = 1 and does not exist elsewhere.
    fields : mapping of str to dtype, optional
        Components of an element that is a record, in order.
    dtype : ``object``, optional
        Elements are Python objects and the operations are called on them one by one.
    dtypes : str, optional
        The kinds of scalar dtype the algebra lives in, of "f" float, "i" signed, "u" unsigned, "b" bool, best first.
        When absent: floats, and the kinds in which the operations cannot overflow unnoticed.
    carrier : callable, optional
        Which numbers are elements, as an expression: ``lambda a: (0 <= a) & (a <= 1)``. NaN never is.
    samples : sequence, optional
        Elements to try the laws on; a general set of numbers within the carrier when absent.
    idempotent, selective, bounded, commutative : bool, optional
        a ⊕ a = a; a ⊕ b ∈ {a, b}; 1 ⊕ a = 1; a ⊗ b = b ⊗ a. Derived from the samples when absent, checked against
        them when given.
    product_only : bool
        Accept operations that are not a semiring; only `matmul` takes them.
    description : str
        What its closure computes.

    Raises
    ------
    LawError
        When the samples refute a law of semirings, or a flag that was declared.
    TraceError
        When an operation has no expression.

    Notes
    -----
    The laws are those of closed semirings; see D. J. Lehmann, Algebraic structures for transitive closure (1977).

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> sr.Semiring("reliability", add=np.maximum, mul=np.multiply, zero=0.0, one=1.0,
    ...             carrier=lambda a: (0 <= a) & (a <= 1))
    Semiring reliability: (S, max(a, b), a · b, 0, 1)  idempotent, selective, bounded, commutative
    """

    def __init__(
        self,
        name: str,
        notation: str = "",
        *,
        add: Callable,
        mul: Callable,
        zero: Any,
        one: Any,
        star: Callable | None = None,
        fields: Mapping[str, Any] | None = None,
        dtype: Any = None,
        dtypes: str | None = None,
        carrier: Callable | None = None,
        samples: Sequence[Any] | None = None,
        idempotent: bool | None = None,
        selective: bool | None = None,
        bounded: bool | None = None,
        commutative: bool | None = None,
        product_only: bool = False,
        description: str = "",
    ):
        self.name = name
        self.description = description
        self.zero, self.one = zero, one
        self.fields = {f: np.dtype(d) for f, d in fields.items()} if fields else None
        self.product_only = product_only
        self._samples = samples
        self._callables: dict[str, Any] = {"add": add, "mul": mul, "star": star}
        self._arithmetic: dict[np.dtype, Arithmetic] = {}
        self._resolved: dict[np.dtype, np.dtype] = {}
        self.traced = None if self._on_objects(dtype, add, mul) else self._trace(add, mul, star, carrier)
        self.kinds = dtypes or (self._safe_kinds() if self.traced and not fields else "")
        self.notation = notation or self._notation()
        self._law_report = laws.check(self.over(self.default_dtype), self.samples(), name=name, star=not product_only)
        self._settle_flags(
            {"idempotent": idempotent, "selective": selective, "bounded": bounded, "commutative": commutative}
        )

    # Declaration

    def _on_objects(self, dtype: Any, add: Callable, mul: Callable) -> bool:
        if dtype is not None:
            if np.dtype(dtype).kind != "O":
                raise SemiringError(f"{self.name}: dtype may only be object; data bring their own dtype ({dtype!r})")
            return True
        numeric = (bool, int, float, np.generic, tuple)
        if not self.fields and (not isinstance(self.zero, numeric) or not isinstance(self.one, numeric)):
            return True
        try:
            for function in (add, mul):
                trace(function, 2, tuple(self.fields) if self.fields else None)
        except TraceError as e:
            raise TraceError(f"{self.name}: {e}") from None
        except (TypeError, AttributeError) as e:
            if self.fields:
                raise TraceError(f"{self.name}: {e}") from None
            warnings.warn(
                f"{self.name}: the operations cannot be traced ({e}); they run on Python objects, one by one, on "
                "the CPU. Write them with NumPy ufuncs for speed, or pass dtype=object to say that this is meant",
                SemiringWarning,
                stacklevel=4,
            )
            return True
        return False

    def _trace(self, add: Callable, mul: Callable, star: Callable | None, carrier: Callable | None) -> Operations:
        names = tuple(self.fields) if self.fields else None
        try:
            plus, raw = trace(add, 2, names), trace(mul, 2, names)
            zero = tuple(map(constant, self._components(self.zero)))
            one = tuple(map(constant, self._components(self.one)))
            absorbed = apply("logical_or", _equals(raw.operand(0), zero), _equals(raw.operand(1), zero))
            times = tuple(apply("where", absorbed, z, e) for z, e in zip(zero, raw.outputs, strict=True))
            if star is not None:
                total, domain = split_undefined(trace(star, 1, names))
            else:
                # 1 ⊕ a = 1 makes 1 a solution of x = 1 ⊕ a ⊗ x, and the least.
                a = {operand(0, c): one[c] for c in range(raw.width)} | {
                    operand(1, c): operand(0, c) for c in range(raw.width)
                }
                total, domain = Traced(one, 1, raw.width), _equals(substitute(plus.outputs, a), one)
            belongs = constant(True) if carrier is None else trace(carrier, 1, names, predicate=True).outputs[0]
        except TraceError as e:
            raise TraceError(f"{self.name}: {e}") from None
        return Operations(plus, raw, Traced(times, 2, raw.width), total, domain, belongs)

    def _components(self, element: Any) -> tuple:
        if not self.fields:
            return (element,)
        if isinstance(element, Mapping):
            element = tuple(element[f] for f in self.fields)
        if not isinstance(element, (tuple, list)) or len(element) != len(self.fields):
            raise SemiringError(f"{self.name}: {element!r} needs the {len(self.fields)} components {list(self.fields)}")
        return tuple(element)

    def _safe_kinds(self) -> str:
        """Floats always; other kinds where no operation can overflow unnoticed (sums under min or max are checked)."""
        assert self.traced
        ops = self.traced.add.operations() | self.traced.raw_mul.operations()
        bitwise = {"bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift", "gcd", "lcm"}
        if ops & bitwise:
            return "uib"
        harmless = {"minimum", "maximum", "where", "less", "less_equal", "greater", "greater_equal", "equal",
                    "not_equal", "logical_and", "logical_or", "logical_xor", "logical_not", "saturating_add",
                    "saturating_multiply"}  # fmt: skip
        return "fiub" if ops <= harmless else "fiu" if self.is_tropical else "f"

    @cached_property
    def has_multiples(self) -> bool:
        """Whether ⊗ takes least common multiples, which may be much larger than the operands."""
        return self.traced is not None and "lcm" in self.traced.raw_mul.operations()

    @cached_property
    def is_tropical(self) -> bool:
        """Whether ⊕ is min or max, ⊗ is +, and zero the infinity that ⊕ ignores."""
        ops = self.traced
        if ops is None or self.fields or not ops.raw_mul.is_plain("add"):
            return False
        ignored = {"minimum": np.inf, "maximum": -np.inf}
        return any(ops.add.is_plain(op) and self.zero == infinity for op, infinity in ignored.items())

    def _notation(self) -> str:
        if not self.traced:
            names = [getattr(self._callables[k], "__name__", k) for k in ("add", "mul")]
            return f"(S, {names[0]}, {names[1]}, {laws.show(self.zero)}, {laws.show(self.one)})"
        parts = [str(self.traced.add), str(self.traced.raw_mul), laws.show(self.zero), laws.show(self.one)]
        return f"(S, {', '.join(parts)})"

    def _settle_flags(self, declared: Mapping[str, bool | None]) -> None:
        report = self._law_report
        if report.failures and not self.product_only:
            raise LawError(
                f"{self.name} is not a semiring: {report.failures[0]}. Correct the operations, name the carrier "
                "in which the law holds (carrier=…), or pass product_only=True to use it for bare matrix products"
            )
        for flag, value in declared.items():
            verdict = report.flags[flag]
            if value and not verdict.holds:
                raise LawError(f"{self.name} was declared {flag}, but {verdict}; drop the flag or mend the operations")
        self.idempotent, self.selective, self.bounded, self.commutative = (
            report.derived[f] if declared[f] is None else bool(declared[f]) for f in laws.FLAGS
        )
        if self.traced and not self.fields and self.traced.add.is_plain("minimum", "maximum"):
            self.idempotent = self.selective = True

    # Dtypes and elements

    @property
    def is_record(self) -> bool:
        """Whether an element has several named components."""
        return self.fields is not None

    @property
    def is_object(self) -> bool:
        """Whether elements are Python objects, whatever the data."""
        return self.traced is None

    @cached_property
    def dtypes(self) -> tuple[np.dtype, ...]:
        """The dtypes that can carry the algebra, best first."""
        if self.traced is None:
            return (np.dtype(object),)
        if self.fields:
            return (np.dtype(list(self.fields.items()), align=True),)
        return tuple(d for k in self.kinds for d in SCALAR_DTYPES if d.kind == k and not self._refusal(d))

    @property
    def default_dtype(self) -> np.dtype:
        """The dtype of data that bring none."""
        if not self.dtypes:
            raise SemiringError(f"{self.name} lives in no dtype: {self._refusal(np.dtype('f8'))}")
        return self.dtypes[0]

    def _refusal(self, dtype: np.dtype) -> str:
        """Why a scalar dtype cannot carry the algebra; empty when it can."""
        ops = self.traced
        assert ops
        try:
            zero, one = cast_constant(self.zero, dtype), cast_constant(self.one, dtype)
            if zero == one:
                return f"0 and 1 would both be {zero}"
            for outputs in (ops.add.outputs, ops.raw_mul.outputs, ops.star.outputs):
                for step in typed(outputs, [dtype]):
                    for a, d in zip(step.node.args, step.reads, strict=True):
                        if a.op == "constant":
                            cast_constant(a.value, d)
                    if step.node is outputs[0] and step.writes.kind == "f" != dtype.kind:
                        return f"{show(step.node)} is not exact in it"
        except (OverflowError, TypeError) as e:
            return str(e)
        return ""

    def resolve_dtype(self, dtype: Any) -> np.dtype:
        """The dtype in which the algebra works on data of this dtype.

        Raises
        ------
        SemiringError
            When the dtype cannot carry the algebra; the message names those that can.
        """
        dtype = np.dtype(dtype)
        found = self._resolved.get(dtype)
        if found is None:
            found = self._resolved[dtype] = self._resolve_dtype(dtype)
        return found

    def _resolve_dtype(self, dtype: np.dtype) -> np.dtype:
        if dtype.kind == "O" and not self.fields:
            return dtype
        if self.traced is not None and self.fields:
            if dtype.names and set(dtype.names) == set(self.fields):
                return np.dtype([(f, dtype[f]) for f in self.fields], align=True)
            wanted = ", ".join(f"{f} {d.name}" for f, d in self.fields.items())
            raise SemiringError(f"{self.name} works on records ({wanted}), not on {dtype}; build them with S.array(…)")
        # Compared in native byte order: a file may bring the other one.
        if dtype.newbyteorder("=") in self.dtypes:
            return dtype.newbyteorder("=")
        names = ", ".join(d.name for d in self.dtypes)
        why = self._refusal(dtype) if self.traced and dtype in SCALAR_DTYPES and dtype.kind in self.kinds else ""
        raise SemiringError(
            f"{self.name} cannot live in {dtype.name}{f' ({why})' if why else ''}; it lives in {names}. "
            f"Convert the data, for example with .astype({self.default_dtype.name!r})"
        )

    def over(self, dtype: Any) -> Arithmetic:
        """The algebra's operations on arrays of a dtype."""
        dtype = np.dtype(dtype)
        found = self._arithmetic.get(dtype)
        if found is None:
            found = self._arithmetic[dtype] = Arithmetic(self, dtype)
        return found

    def zero_in(self, dtype: Any) -> Any:
        """0 in a dtype."""
        return self.over(dtype).zero

    def one_in(self, dtype: Any) -> Any:
        """1 in a dtype."""
        return self.over(dtype).one

    def array(self, values: Any, dtype: Any = None) -> np.ndarray:
        """An array of elements from nested lists; tuples are records, objects stay whole.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.shortest_hops.array([[(0.0, 0), (2.5, 1)]])["cost"]
        array([[0. , 2.5]])
        """
        dtype = np.dtype(dtype) if dtype is not None else self.default_dtype
        if dtype.kind != "O" or not isinstance(values, (list, tuple)):
            return np.array(values, dtype)
        if values and all(isinstance(row, list) for row in values):
            return np.stack([laws.sequence(row, dtype) for row in values])
        return laws.sequence(values, dtype)

    def eye(self, n: int, dtype: Any = None) -> np.ndarray:
        """The n × n identity matrix: one on the diagonal, zero elsewhere."""
        S = self.over(dtype if dtype is not None else self.default_dtype)
        if n * n * S.dtype.itemsize > _LARGE:
            require(n * n * S.dtype.itemsize, f"a {n} × {n} identity matrix of {S.dtype}")
        result = laws.full(np.empty((n, n), S.dtype), S.zero)
        for i in range(n):
            result[i, i] = S.one
        return result

    def samples(self) -> np.ndarray:
        """Elements to try laws on, in the default dtype; 0 and 1 are always among them."""
        S = self.over(self.default_dtype)
        if self._samples is not None:
            values = list(self._samples)
        elif self.fields:
            grids = np.meshgrid(*[_RECORD_POOL] * len(self.fields), indexing="ij")
            values = list(zip(*(g.ravel().tolist() for g in grids), strict=True))
        elif self.traced is None:
            values = []
        else:
            # In integers the limits are no ordinary elements; where they are 0 or 1, they are among the samples anyway.
            values = [x for x in _POOL if _fits(x, S.dtype) and (S.dtype.kind == "f" or np.isfinite(x))]
        values = [self.zero, self.one, *values]
        if S.dtype.kind not in "OV":
            values = [cast_constant(v, S.dtype) for v in values]
        elif self.fields:
            values = [S.element(v) for v in values]
        array = laws.sequence(values, S.dtype)
        keep = S.contains(array)
        if not keep[:2].all():
            raise SemiringError(f"{self.name}: 0 or 1 is outside the carrier that was declared")
        array = array[keep]
        return array[:: -(-len(array) // _SMALL_POOL)] if len(array) > _SMALL_POOL else array

    # Arithmetic

    def add(self, x: Any, y: Any) -> Any:
        """x ⊕ y, element by element, in the dtype of x.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.min_plus.add([1.0, 5.0], [3.0, 4.0])
        array([1., 4.])
        """
        return self._on_arrays("add", x, y)

    def mul(self, x: Any, y: Any) -> Any:
        """x ⊗ y, element by element, in the dtype of x; zero absorbs."""
        return self._on_arrays("mul", x, y)

    def star(self, x: Any) -> Any:
        """x* = 1 ⊕ x ⊕ x² ⊕ …, element by element.

        Raises
        ------
        SemiringError
            Where the star does not exist.
        """
        array, S = self._elements(x)
        defined = S.defined(array)
        if not np.all(defined):
            bad = array[~defined].flat[0] if array.ndim else array[()]
            raise SemiringError(f"{self.name}: the star of {laws.show(bad)} does not exist")
        result = S.star(array)
        return result[()] if isinstance(result, np.ndarray) else result

    def _on_arrays(self, op: str, x: Any, y: Any) -> Any:
        x, S = self._elements(x)
        y, _ = self._elements(y, S.dtype)
        result = getattr(S, op)(x, y)
        return result[()] if isinstance(result, np.ndarray) else result

    def _elements(self, x: Any, dtype: Any = None) -> tuple[np.ndarray, Arithmetic]:
        if isinstance(x, (np.ndarray, np.generic)):
            x = np.asarray(x)
        elif self.traced is None:
            x = laws.sequence(x, np.dtype(object)) if isinstance(x, list) else laws.sequence([x], np.dtype(object))[0:1]
            x = x if x.size != 1 else x.reshape(())
        else:
            x = np.asarray(x, self.default_dtype if self.fields else None)
        S = self.over(dtype if dtype is not None else self._home(x.dtype))
        if x.dtype.kind == "f" and S.dtype.kind in "iub":
            try:
                exact = [cast_constant(v, S.dtype) for v in x.ravel().tolist()]
            except OverflowError as e:
                raise SemiringError(f"{self.name}: {e}") from None
            return np.array(exact, S.dtype).reshape(x.shape), S
        return np.asarray(x, S.dtype), S

    def _home(self, dtype: np.dtype) -> np.dtype:
        """The dtype of data, or the default one for plain Python numbers that came as int64 or float64."""
        try:
            return self.resolve_dtype(dtype)
        except SemiringError:
            if dtype in (np.dtype("i8"), np.dtype("f8"), np.dtype("?")):
                return self.default_dtype
            raise

    # Showing

    @property
    def flags(self) -> tuple[str, ...]:
        """Names of the flags that hold."""
        return tuple(f for f in laws.FLAGS if getattr(self, f))

    def __repr__(self) -> str:
        return f"Semiring {self.name}: {self.notation}  {', '.join(self.flags) or 'no flags'}"

    def _repr_html_(self) -> str:
        rows = {"(S, ⊕, ⊗, 0, 1)": self.notation, "flags": ", ".join(self.flags) or "none",
                "closure": self.description or "—", "dtypes": ", ".join(map(str, self.dtypes))}  # fmt: skip
        cells = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in rows.items())
        return f"<table><caption>{html.escape(self.name)}</caption>{cells}</table>"


def _equals(x: Sequence[Expression], y: Sequence[Expression]) -> Expression:
    result: Expression | None = None
    for p, q in zip(x, y, strict=True):
        same = apply("equal", p, q)
        result = same if result is None else apply("logical_and", result, same)
    assert result is not None
    return result


def _fits(x: float, dtype: np.dtype) -> bool:
    try:
        cast_constant(x, dtype)
    except OverflowError:
        return False
    return True
