"""An algebra in each dtype that can carry it: the choice of dtypes, and elements and operations in each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.errors import SemiringError

from .arithmetic import Arithmetic, Operations, Rearranged
from .dtypes import SCALAR_DTYPES, checked_fields, refusal, working_dtype
from .expression import Expression, without_minus_infinity
from .samples import Elements, elements, notable_elements
from .tables import dtype_text
from .vectors import flat_element, flattened

if TYPE_CHECKING:
    from .semiring import Semiring


class Carried:
    """The part of `Semiring` that depends on a dtype.

    Attributes
    ----------
    name : str
    zero, one : number, tuple or object
    fields : dict of str to dtype, or None
    traced : Operations or None
        The operations as expressions; None if they run on Python objects.
    kinds : str
        The kinds of scalar dtype that may carry it, best first.
    """

    name: str
    zero: Any
    one: Any
    fields: dict[str, np.dtype] | None
    traced: Operations | None
    kinds: str
    _samples: Sequence[Any] | None
    _callables: dict[str, Callable[..., Any]]

    def __init__(self) -> None:
        self._arithmetic: dict[np.dtype, Arithmetic] = {}
        self._resolved: dict[np.dtype, np.dtype] = {}
        self._promoted: dict[np.dtype, np.dtype] = {}
        self._working: dict[np.dtype, np.dtype] = {}

    @property
    def _algebra(self) -> Semiring:
        """The algebra of which this is a part."""
        raise NotImplementedError

    @property
    def _has_ends(self) -> bool:
        """Whether numbers near an integer dtype's limits are ordinary elements."""
        raise NotImplementedError

    def components_of(self, element: Any) -> tuple[Any, ...]:
        """Return the components of an element: one, unless it is a record.

        Parameters
        ----------
        element : number, object, tuple, list or mapping
            For a record the fields in order, or by name.

        Returns
        -------
        tuple

        Raises
        ------
        SemiringError
            If a record has the wrong number of components, or a vector in it the wrong length.
        KeyError
            If a mapping lacks a field.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.min_plus.components_of(3), sr.shortest_hops.components_of({"hops": 1, "cost": 2.5})
        ((3,), (2.5, 1))
        """
        if not self.fields:
            return (element,)
        if isinstance(element, Mapping):
            element = tuple(element[f] for f in self.fields)
        if isinstance(element, tuple) and len(element) == self._width != len(self.fields):
            return element  # one number for each place
        if not isinstance(element, (tuple, list)) or len(element) != len(self.fields):
            raise SemiringError(f"{self.name}: {element!r} needs the {len(self.fields)} components {list(self.fields)}")
        parts = flat_element(element, self.fields)
        if parts is None:
            raise SemiringError(f"{self.name}: a vector in {element!r} has the wrong length for {self.element_dtype}")
        return tuple(parts)

    @cached_property
    def _width(self) -> int:
        """The number of numbers in an element."""
        return len(flattened(self.element_dtype).names or ()) if self.fields else 1

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
            return (flattened(self.element_dtype),)
        return tuple(d for k in self.kinds for d in SCALAR_DTYPES if d.kind == k and not refusal(self._algebra, d))

    @property
    def element_dtype(self) -> np.dtype:
        """The default dtype as users write it: a vector in a record is one field."""
        return np.dtype(list(self.fields.items()), align=True) if self.fields else self.default_dtype

    def with_vectors(self, dtype: np.dtype) -> np.dtype:
        """Return a dtype as users write it: a vector is one field, in the same memory.

        Parameters
        ----------
        dtype : dtype
            A dtype from `resolve_dtype`, or one with vectors.

        Returns
        -------
        dtype
            An array in `dtype` can be viewed in this one.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> S = sr.Semiring("two costs", fields={"d": ("f8", 2)}, zero=([np.inf, np.inf],), one=([0, 0],),
        ...                 add=lambda x, y: (np.minimum(x.d, y.d),), mul=lambda x, y: (x.d + y.d,),
        ...                 carrier=lambda a: (a.d >= 0).all())
        >>> S.with_vectors(S.resolve_dtype([("d", "f4", 2)]))["d"]
        dtype(('<f4', (2,)))
        """
        if not self.fields or not any(own.subdtype for own in self.fields.values()):
            return dtype
        given = dtype.names or ()
        base = {f: dtype[f].base if f in given else dtype[f"{f}.0"] for f in self.fields}
        return np.dtype([(f, base[f], own.shape) for f, own in self.fields.items()], align=True)

    @property
    def default_dtype(self) -> np.dtype:
        """The dtype of data that have none.

        Raises
        ------
        SemiringError
            If no dtype can carry the algebra; then it cannot be declared.
        """
        if not self.dtypes:
            tried = {d: refusal(self._algebra, d) for k in self.kinds for d in SCALAR_DTYPES if d.kind == k}
            why = "; ".join(f"{d}: {reason}" for d, reason in tried.items()) or f"dtypes={self.kinds!r} names no kind"
            raise SemiringError(f"{self.name} cannot live in any dtype ({why}); see the parameter dtypes")
        return self.dtypes[0]

    def carrier_in(self, dtype: np.dtype) -> Expression:
        """Return the condition for elements of a dtype.

        In unsigned integers no element is −∞, unless zero or one is.

        Parameters
        ----------
        dtype : dtype
            A dtype from `resolve_dtype`, but not object.

        Returns
        -------
        Expression
            The truth value for an element.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> sr.viterbi.carrier_in(np.dtype("f4"))
        (a ≥ 0) and (a ≤ 1)
        """
        assert self.traced
        everything = dtype.kind != "u" or -np.inf in (self.zero, self.one)
        return self.traced.carrier if everything else without_minus_infinity(self.traced.carrier)

    def working(self, dtype: np.dtype) -> np.dtype:
        """Return the dtype in which the algebra is computed on data of a dtype.

        Parameters
        ----------
        dtype : dtype

        Returns
        -------
        dtype
            The narrowest of its kind, at least as wide as `dtype`, that holds the algebra's constants and in which its
            laws hold.

        Raises
        ------
        SemiringError
            If there is none.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> S = sr.saturating_min_plus(1000)
        >>> S.working(np.dtype("u1")), S.working(np.dtype("u4"))
        (dtype('uint16'), dtype('uint32'))
        """
        found = self._working.get(dtype)
        if found is None:
            found = self._working[dtype] = dtype if dtype.kind == "O" else working_dtype(self._algebra, dtype)
        return found

    def resolve_dtype(self, dtype: Any) -> np.dtype:
        """Return the dtype of results on data of a dtype.

        It is that dtype, in native byte order, if it can carry the algebra.

        Parameters
        ----------
        dtype : dtype or what `numpy.dtype` takes
            Fields of a record may be floats, integers or truth values of any size; vectors may be single numbers.

        Returns
        -------
        dtype
            Vectors in a record are single numbers.

        Raises
        ------
        SemiringError
            If the dtype cannot carry the algebra; the message names those that can.
        TypeError
            If NumPy knows no such dtype.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.min_plus.resolve_dtype(">f4")
        dtype('float32')
        >>> sr.min_plus.resolve_dtype(complex)
        Traceback (most recent call last):
            ...
        semiring.errors.SemiringError: min-plus cannot live in complex128; it lives in float64, ...
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
            flat = self.default_dtype.names or ()
            for order in (tuple(self.fields), flat):
                if dtype.names and set(dtype.names) == set(order) and self._has_shapes(dtype, order):
                    given = checked_fields(self.name, [(f.replace(".", "_"), dtype[f]) for f in order])
                    record = np.dtype(list(zip(order, given.values(), strict=True)), align=True)
                    self.working(flattened(record))
                    return flattened(record)
            wanted = dtype_text(np.dtype([*self.fields.items()]))
            raise SemiringError(f"{self.name} works on records {wanted}, not on {dtype_text(dtype)}; build them with "
                                "S.array(…)")
        # Compared in native byte order: data from a file may have the other one.
        native = dtype.newbyteorder("=") if dtype.kind in "biufcO" else dtype  # strings of any length have none
        if native in self.dtypes:
            self.working(native)
            return native
        names = ", ".join(d.name for d in self.dtypes)
        tried = self.traced and dtype in SCALAR_DTYPES and dtype.kind in self.kinds
        why = refusal(self._algebra, dtype) if tried else ""
        raise SemiringError(
            f"{self.name} cannot live in {dtype.name}{f' ({why})' if why else ''}; it lives in {names}. "
            f"Convert the data, for example with .astype({self.default_dtype.name!r})"
        )

    def promoted(self, dtype: Any) -> np.dtype:
        """Return the dtype in which data of a dtype are computed.

        Whole numbers become floats if the algebra needs floats.

        Parameters
        ----------
        dtype : dtype or what `numpy.dtype` takes

        Returns
        -------
        dtype
            The dtype from `resolve_dtype`, with two exceptions. If the algebra lives in float64 and in no integers,
            integers become float64, as in `numpy.linalg`, and so do truth values if 0 and 1 are the algebra's zero and
            one. If it lives in integers as well, truth values become its default dtype.

        Raises
        ------
        SemiringError
            If the dtype cannot carry the algebra; the message names those that can.
        TypeError
            If NumPy knows no such dtype.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.plus_times.promoted("i4"), sr.min_plus.promoted("i4"), sr.counting.promoted(bool)
        (dtype('float64'), dtype('int32'), dtype('float64'))
        """
        dtype = np.dtype(dtype)
        found = self._promoted.get(dtype)
        if found is None:
            found = self._promoted[dtype] = self.default_dtype if self._grows(dtype) else self.resolve_dtype(dtype)
        return found

    def _grows(self, dtype: np.dtype) -> bool:
        """Whether numbers of a dtype are elements only in the default one: integers as floats, 0 and 1 as numbers."""
        if self.traced is None or self.fields or dtype.kind not in "iub":
            return False
        kinds = {d.kind for d in self.dtypes}
        if dtype.kind == "b":
            return "b" not in kinds and (self.zero, self.one) == (0, 1)
        return self.default_dtype == np.float64 and not kinds & {"i", "u"}

    def _has_shapes(self, dtype: np.dtype, names: Sequence[str]) -> bool:
        """Whether the vectors of a record dtype are as long as the algebra's."""
        return all(dtype[f].shape == (self.fields or {}).get(f, np.dtype("f8")).shape for f in names)

    def over(self, dtype: Any) -> Arithmetic:
        """Return the algebra's operations on arrays of a dtype.

        Parameters
        ----------
        dtype : dtype or what `numpy.dtype` takes

        Returns
        -------
        Arithmetic
            With `add`, `mul`, `star`, `zero`, `one`, and ``contains``, which tests elements.

        Raises
        ------
        SemiringError
            If neither the dtype nor a wider one of its kind can carry the algebra.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> A = sr.min_plus.over("f4")
        >>> A.zero, A.contains(np.array([1, np.nan], np.float32))
        (np.float32(inf), array([ True, False]))
        """
        dtype = np.dtype(dtype)
        found = self._arithmetic.get(dtype)
        if found is None:
            found = self._arithmetic[dtype] = self._over(dtype)
        return found

    def _over(self, dtype: np.dtype) -> Arithmetic:
        given, own = dtype.names, self.default_dtype.names if self.fields else None
        if own and given and set(given) in (set(own), set(self.fields or ())):
            if given != own or not dtype.isnative:
                return Rearranged(self.over(self.resolve_dtype(dtype)), dtype)
        elif not dtype.isnative:
            return Rearranged(self.over(dtype.newbyteorder("=")), dtype)
        return Arithmetic(self._algebra, dtype, self.working(dtype))

    def zero_in(self, dtype: Any) -> Any:
        """Return the algebra's zero as a scalar of a dtype.

        Parameters
        ----------
        dtype : dtype or what `numpy.dtype` takes

        Returns
        -------
        scalar
            In integers the limits stand for ±∞.

        Raises
        ------
        SemiringError
            If neither the dtype nor a wider one of its kind can carry the algebra.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.min_plus.zero_in("f4"), sr.min_plus.zero_in("i2")
        (np.float32(inf), np.int16(32767))
        """
        return self.over(dtype).zero

    def one_in(self, dtype: Any) -> Any:
        """Return the algebra's one as a scalar of a dtype.

        Parameters
        ----------
        dtype : dtype or what `numpy.dtype` takes

        Returns
        -------
        scalar or None
            In integers the limits stand for ±∞. None if a bare product has no one.

        Raises
        ------
        SemiringError
            If neither the dtype nor a wider one of its kind can carry the algebra.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.min_plus.one_in("f4"), sr.max_min.one_in("i2")
        (np.float32(0.0), np.int16(32767))
        """
        return self.over(dtype).one

    def samples(self) -> np.ndarray:
        """Return notable elements in the default dtype, 0 and 1 first.

        They are the declared samples, or a general set.

        Returns
        -------
        ndarray, shape (count,)
            Elements may repeat.

        Raises
        ------
        SemiringError
            If a declared element has the wrong number of components.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.saturating_min_plus(255).samples().tolist()
        [255, 0, 0, 1, 2, 85, 127, 254, 255]
        """
        return notable_elements(self.over(self.default_dtype), self._samples)

    def elements_in(self, dtype: np.dtype) -> Elements:
        """Return elements of a dtype for testing laws.

        Parameters
        ----------
        dtype : dtype
            A dtype that can carry the algebra.

        Returns
        -------
        Elements
            A tuple: notable elements, random ones other than 0 and 1 (both arrays of shape (count,)), and whether
            these are all elements of the algebra. The random ones are the same in each run.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> notable, random, complete = sr.viterbi.elements_in(np.dtype("f4"))
        >>> notable[:2].tolist(), random.dtype, complete
        ([0.0, 1.0], dtype('float32'), False)
        """
        return elements(Arithmetic(self._algebra, dtype, dtype, checked=False), self._samples, ends=self._has_ends)


arithmetic_of = lru_cache(1024)(Carried.over)  # of dtypes; an earlier answer costs no Python
