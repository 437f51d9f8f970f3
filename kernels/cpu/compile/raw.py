"""Loads, stores and a few single instructions on plain addresses, for the generated kernels.

A Numba array index in the innermost loop costs ten times the work it feeds: the compiler has to prove that arrays
do not overlap and that an index does not wrap. These intrinsics take an address as an integer, and say what they
touch. An *element* is one scalar, or a tuple of scalars (a record). It lies in memory in one of two ways:

- in a **matrix**, as NumPy stores it: a scalar, or an aligned structure whose fields are the components in order
  (`fetch`, `put`);
- **packed**, as the kernels read it: one plane for each component, so that a vector load takes neighbours. Component
  ``c`` of element ``index`` lies at ``base + plane · Σ sizes before c + index · size of c``, where ``plane`` is the
  number of elements for which the buffer has room (`load`, `store`).

``element`` is a NumPy scalar class, or a tuple of them. ``region`` is a literal integer: two packed accesses with
different regions never touch the same address, those of `ANY` may touch everything, and a matrix outside (`fetch`,
`put`) never overlaps a packed buffer. The compiler believes this; it is what lets it vectorise without checks at run
time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import RequireLiteralValue
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype

ANY = 0  # may overlap every packed region
PANEL = 1  # the right operand of `multiply` (../dense/operations_template.py)
ROW_0, ROW_1, ROW_2, ROW_3 = 2, 3, 4, 5  # the rows that it updates at once
OUTSIDE = 6  # matrices, which overlap no packed buffer


def record_dtype(components: Any) -> np.dtype:
    """The aligned structure (or the scalar dtype) that holds an element of these components in a matrix."""
    components = tuple(np.dtype(component) for component in components)
    if len(components) == 1:
        return components[0]
    return np.dtype([(f"f{i}", component) for i, component in enumerate(components)], align=True)


def _components(element: Any) -> tuple[types.Type, ...]:
    if isinstance(element, types.NumberClass):
        return (element.instance_type,)
    return tuple(component.instance_type for component in element)


def _value_type(element: Any) -> types.Type:
    components = _components(element)
    return components[0] if len(components) == 1 else types.Tuple(components)


def _literal(region: types.Type) -> int:
    if not isinstance(region, types.IntegerLiteral):
        raise RequireLiteralValue("the region of a packed access must be a literal")
    return int(region.literal_value)


def _tag(builder: ir.IRBuilder, instruction: ir.Instruction, region: int) -> None:
    """Say that `instruction` touches `region` and no other (LLVM's scoped alias analysis)."""
    if region == ANY:
        regions, others = [], [OUTSIDE]
    else:
        regions, others = [region], [other for other in range(1, OUTSIDE + 1) if other != region]
    module = builder.module
    domain = module.add_metadata(["semiring"])

    def scopes(numbers: list[int]) -> Any:
        return module.add_metadata([module.add_metadata([f"semiring region {i}", domain]) for i in numbers])

    if regions:
        instruction.set_metadata("alias.scope", scopes(regions))
    instruction.set_metadata("noalias", scopes(others))


def _places(context: Any, builder: ir.IRBuilder, components: Any, base: Any, plane: Any, index: Any) -> Any:
    """Model and pointer of every component of a packed element."""
    size = 0
    for component in components:
        model = context.data_model_manager[component]
        kind = model.get_data_type()
        start = builder.add(base, builder.mul(plane, ir.Constant(base.type, size))) if size else base
        yield model, builder.gep(builder.inttoptr(start, kind.as_pointer()), [index], inbounds=True)
        size += as_dtype(component).itemsize


def _fields(context: Any, builder: ir.IRBuilder, components: Any, address: Any, index: Any) -> Any:
    """Model and pointer of every component of element `index` (of unit stride) behind an address in a matrix."""
    dtype = record_dtype([as_dtype(component) for component in components])
    offsets = [field[1] for field in (dtype.fields or {}).values()]
    for i, component in enumerate(components):
        model = context.data_model_manager[component]
        kind = model.get_data_type()
        if len(components) == 1:
            yield model, builder.gep(builder.inttoptr(address, kind.as_pointer()), [index], inbounds=True)
        else:
            offset = ir.Constant(address.type, offsets[i])
            step = builder.mul(index, ir.Constant(index.type, dtype.itemsize))
            start = builder.inttoptr(builder.add(address, offset), cgutils.voidptr_t)
            yield model, builder.bitcast(builder.gep(start, [step], inbounds=True), kind.as_pointer())


def _read(context: Any, builder: ir.IRBuilder, value_type: types.Type, places: Any, region: int) -> Any:
    values = []
    for model, pointer in places:
        data = builder.load(pointer)
        _tag(builder, data, region)
        values.append(model.from_data(builder, data))
    if isinstance(value_type, types.BaseTuple):
        return context.make_tuple(builder, value_type, values)
    return values[0]


def _write(context: Any, builder: ir.IRBuilder, value: Any, given: types.Type, places: Any, region: int) -> None:
    values = cgutils.unpack_tuple(builder, value) if isinstance(given, types.BaseTuple) else [value]
    for (model, pointer), part in zip(places, values, strict=True):
        _tag(builder, builder.store(model.as_data(builder, part), pointer), region)


@intrinsic(prefer_literal=True)
def load(typing: Any, element: Any, base: Any, plane: Any, index: Any, region: Any) -> Any:
    """Element `index` of the packed buffer at `base`."""
    components, value_type = _components(element), _value_type(element)
    number = _literal(region)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places = _places(context, builder, components, *arguments[1:4])
        return _read(context, builder, value_type, places, number)

    return value_type(element, types.int64, types.int64, types.int64, region), generate


@intrinsic(prefer_literal=True)
def store(typing: Any, element: Any, base: Any, plane: Any, index: Any, region: Any, value: Any) -> Any:
    """Write element `index` of the packed buffer at `base`."""
    components, value_type = _components(element), _value_type(element)
    number = _literal(region)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places = _places(context, builder, components, *arguments[1:4])
        _write(context, builder, arguments[5], value_type, places, number)
        return context.get_dummy_value()

    return types.void(element, types.int64, types.int64, types.int64, region, value_type), generate


@intrinsic(prefer_literal=True)
def load_block(typing: Any, element: Any, base: Any, plane: Any, index: Any, width: Any, rows: Any, depth: Any) -> Any:
    """`rows` × `depth` elements of the packed buffer at `base`, whose rows have `width`, from `index` on: a tuple."""
    components, value_type = _components(element), _value_type(element)
    height, length = _literal(rows), _literal(depth)
    block = types.UniTuple(value_type, height * length)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _element, base, plane, index, width, *_ = arguments
        values = []
        for i in range(height):
            for k in range(length):
                places = _places(context, builder, components, base, plane, _place(builder, index, width, i, k))
                values.append(_read(context, builder, value_type, places, ANY))
        return context.make_tuple(builder, block, values)

    numbers = [types.int64] * 4
    return block(element, *numbers, rows, depth), generate


@intrinsic(prefer_literal=True)
def combine_block(
    typing: Any, element: Any, combine: Any, left: Any, rows: Any, b: Any, b_plane: Any, b_index: Any, c: Any,
    c_plane: Any, c_index: Any, width: Any, unit: Any,
) -> Any:
    """Column c ← c ⊕ a ⊗ b for `rows` adjacent rows of c and the a of `left` (see `load_block`), k after k.

    ``combine(x, a, b, unit)`` is x ⊕ a ⊗ b; `c_index` is the column's element in the first row of c, and `b_index` that
    of b, both of whose rows have `width`. The text of so many steps would take Numba ten times as long to read as
    their instructions take to write.
    """
    components, value_type = _components(element), _value_type(element)
    height = _literal(rows)
    length = len(left) // height
    step = combine.get_call_type(typing, (value_type, value_type, value_type, unit), {})

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _element, _combine, left, _rows, b, b_plane, b_index, c, c_plane, c_index, width, unit = arguments
        function = context.get_function(combine, step)
        for library in function.libs:
            context.active_code_library.add_linking_library(library)

        def row(i: int) -> Any:
            return _places(context, builder, components, c, c_plane, _place(builder, c_index, width, i, 0))

        def term(k: int) -> Any:
            return _places(context, builder, components, b, b_plane, _place(builder, b_index, width, k, 0))

        values = [_read(context, builder, value_type, row(i), ROW_0 + i) for i in range(height)]
        terms = [_read(context, builder, value_type, term(k), PANEL) for k in range(length)]
        for k in range(length):
            for i in range(height):
                factor = builder.extract_value(left, i * length + k)
                values[i] = function(builder, (values[i], factor, terms[k], unit))
        for i in range(height):
            _write(context, builder, values[i], value_type, row(i), ROW_0 + i)
        return context.get_dummy_value()

    numbers = [types.int64] * 7
    return types.void(element, combine, left, rows, *numbers, unit), generate


@intrinsic
def fold(typing: Any, step: Any, state: Any, items: Any, shared: Any) -> Any:
    """``state = step(state, item, *shared)`` for one item of a tuple after the other, whose number is in its type.

    So one text serves every number of items, and each number has code of its own without a loop.
    """
    kind = step.get_call_type(typing, (state, items[0], *shared), {})

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = context.get_function(step, kind)
        for library in function.libs:
            context.active_code_library.add_linking_library(library)
        _step, value, given, rest = arguments
        others = cgutils.unpack_tuple(builder, rest)
        for item in cgutils.unpack_tuple(builder, given):
            value = function(builder, (value, item, *others))
        return value

    return state(step, state, items, shared), generate


def _place(builder: ir.IRBuilder, index: Any, width: Any, row: int, column: int) -> Any:
    """``index + row · width + column``."""
    down = builder.add(index, builder.mul(width, ir.Constant(index.type, row))) if row else index
    return builder.add(down, ir.Constant(index.type, column)) if column else down


@intrinsic
def fetch(typing: Any, element: Any, address: Any, index: Any) -> Any:
    """The element of a matrix `index` elements (of unit stride) after `address`."""
    components, value_type = _components(element), _value_type(element)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places = _fields(context, builder, components, *arguments[1:3])
        return _read(context, builder, value_type, places, OUTSIDE)

    return value_type(element, types.int64, types.int64), generate


@intrinsic
def put(typing: Any, element: Any, address: Any, index: Any, value: Any) -> Any:
    """Write the element of a matrix `index` elements (of unit stride) after `address`."""
    components, value_type = _components(element), _value_type(element)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places = _fields(context, builder, components, *arguments[1:3])
        _write(context, builder, arguments[3], value_type, places, OUTSIDE)
        return context.get_dummy_value()

    return types.void(element, types.int64, types.int64, value_type), generate


@intrinsic
def as_element(typing: Any, element: Any, value: Any) -> Any:
    """`value` with every component cast to its own type (Numba widens the sum of two small integers)."""
    value_type = _value_type(element)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.cast(builder, arguments[1], value, value_type)

    return value_type(element, value), generate


@intrinsic
def first_component(typing: Any, element: Any, number: Any) -> Any:
    """The integer `number` in the type of component 0."""
    component = _components(element)[0]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.cast(builder, arguments[1], number, component)

    return component(element, number), generate


@intrinsic
def fma(typing: Any, x: Any, y: Any, z: Any) -> Any:
    """x · y + z, rounded once; fast only where the host has the instruction."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return x(x, x, x), generate


@intrinsic
def floor(typing: Any, x: Any) -> Any:
    """The largest whole number ≤ x, as a float (Python's own floor gives an integer, which does not vectorise)."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.call(builder.module.declare_intrinsic("llvm.floor", [arguments[0].type]), arguments)

    return x(x), generate


@intrinsic
def bits_as(typing: Any, kind: Any, x: Any) -> Any:
    """The bits of a number as a number of another type of the same size."""
    made = kind.instance_type

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[1], context.get_value_type(made))

    return made(kind, x), generate


@intrinsic
def select(typing: Any, condition: Any, x: Any, y: Any) -> Any:
    """`x` where `condition`, else `y`, without a branch; both of the type of `x`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.select(*arguments)

    return x(types.boolean, x, x), generate


@intrinsic
def trailing_zeros(typing: Any, word: Any) -> Any:
    """Position of the lowest bit of a word that is not zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def bits_of_bytes(typing: Any, address: Any) -> Any:
    """64 bits that say which of 64 bytes in a packed buffer are not zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = ir.VectorType(ir.IntType(8), 64)
        data = builder.load(builder.inttoptr(arguments[0], vector.as_pointer()), align=1)
        _tag(builder, data, ANY)
        return builder.bitcast(builder.icmp_unsigned("!=", data, vector(None)), ir.IntType(64))

    return types.uint64(types.int64), generate


@intrinsic
def take(typing: Any, address: Any) -> Any:
    """The 64-bit integer at `address`, which it increments; atomic."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = ir.IntType(64)
        pointer = builder.inttoptr(arguments[0], number.as_pointer())
        return builder.atomic_rmw("add", pointer, ir.Constant(number, 1), "monotonic")

    return types.int64(types.int64), generate


@intrinsic
def call(typing: Any, address: Any, arguments: Any) -> Any:
    """Call the compiled function at `address` (see `jit.address_of`): 64-bit integers in, and one out."""
    number = types.int64
    kinds = [number] * len(arguments)

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        convention = context.call_conv
        kind = convention.get_function_type(number, kinds).as_pointer()
        values = [
            context.cast(builder, value, was, number)
            for value, was in zip(cgutils.unpack_tuple(builder, given[1]), arguments, strict=True)
        ]
        function = builder.inttoptr(given[0], kind)
        _status, result = convention.call_function(builder, function, number, kinds, values)
        return result

    return number(types.int64, arguments), generate


@intrinsic(prefer_literal=True)
def room(typing: Any, size: Any) -> Any:
    """The address of so many bytes, a literal, on the stack of the function that calls this; a multiple of 64."""
    count = _literal(size) + 63

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        with builder.goto_entry_block():  # `cgutils.alloca_once` would fill it with zeros, one by one
            memory = builder.alloca(ir.ArrayType(ir.IntType(8), count))
        number = ir.IntType(64)
        up = builder.add(builder.ptrtoint(memory, number), ir.Constant(number, 63))
        return builder.and_(up, ir.Constant(number, -64))

    return types.int64(size), generate


@intrinsic
def clear_exceptions(typing: Any) -> Any:
    """Forget what floats raised, which NumPy would warn of after a loop of a ufunc."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = ir.IntType(32)
        function = ir.FunctionType(number, [number])
        clear = cgutils.get_or_insert_function(builder.module, function, "feclearexcept")
        builder.call(clear, [ir.Constant(number, 0x1F)])
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def wide_vectors(typing: Any) -> Any:
    """Let the function that calls this use whole registers of 512 bits, of which LLVM takes halves on many processors.

    It fears for the clock there. What computes without a pause gains: f32 min-plus from 21.6 to 36.0 G a core of a
    Xeon of 2023, where 512 bits have two units, and loses nothing where they have one.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # llvmlite writes what is in this set, but refuses to add an attribute that has a value.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def stay_apart(typing: Any) -> Any:
    """Keep the function that calls this out of its callers: one copy to compile, and its regions stay its own."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), generate
