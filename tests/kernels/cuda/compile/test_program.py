"""Texts of kernels: every one of the catalogue, every dtype and every variant goes through NVRTC, without a GPU."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import oracle
import pytest
import strategies
from gpu import nvrtc
from gpu.nvrtc import needs_compiler

import semiring as sr
from semiring.kernels.cuda.choose import choose, general_on_device, ranked
from semiring.kernels.cuda.compile.geometry import (
    product_geometries,
    stack_geometry,
)
from semiring.kernels.cuda.compile.program import (
    OPTIONS,
    Program,
    always_defined,
    boolean_words,
    exchange_source,
    is_linear,
    packed_program,
    program,
    rank_source,
    sums_of_powers,
    word_filler,
)
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.kernels.facts import DeviceFacts

# One for each lowering: nothing is known; within [0, 1]; sums below 32,767, unsigned and signed; sums of 64 bits.
DATA = (
    DeviceFacts(largest=2**13, least=-(2**13)), DeviceFacts(largest=1, least=0), DeviceFacts(largest=2**10, least=0),
    DeviceFacts(largest=2**20, least=-(2**20)), DeviceFacts(largest=2**40, least=-(2**40)),
)
NAMES = [name for name, S in sr.catalogue.items() if S.traced]
# Unoptimised code is made in a third of the time, and is made of the same text; a few are optimised as well.
QUICK = ("--device-debug",)
ARCHITECTURES = ("compute_80", "compute_89", "compute_90a")
OPTIMISED = [
    ("min_plus", "f4"), ("min_plus", "u2"), ("min_plus", "i4"), ("min_plus", "f8"), ("max_min", "f4"), ("k_best", None),
]


def dtypes(S: sr.Semiring, name: str) -> list[np.dtype]:
    if not S.fields:
        return list(S.dtypes)
    (known,) = (A for A in oracle.ALGEBRAS.values() if A.base == name)
    return [S.resolve_dtype(d) for d in strategies.dtypes(known)]


def lowerings_of(S: sr.Semiring, dtype: np.dtype) -> Iterator[CudaLowering]:
    """All lowerings that data of a dtype may get."""
    for known in DATA:
        try:
            yield choose(S, dtype, known, 2, in_place=False)
        except sr.SemiringError as e:
            assert "cpu" in str(e).lower()


def programs(S: sr.Semiring, dtype: np.dtype) -> Iterator[Program]:
    """The programs of those lowerings."""
    for low in lowerings_of(S, dtype):
        yield program(low)
        packed = packed_program(low)
        if packed:
            yield packed


def sources(text: Program) -> Iterator[str]:
    """Every variant of every kernel of a program."""
    for geometry in product_geometries(text.size, text.weight):
        yield text.product(geometry, whole_tiles=False)
        if geometry.has_whole_tiles(text.size):
            yield text.product(geometry, whole_tiles=True)
    if "star(" in text.prelude:  # packed words only multiply
        yield text.panels()
        yield from (text.stack(stack_geometry(text.size, n, text.light)) for n in (32, 64, 128))
        yield text.elements()


def kind(prelude: str) -> str:
    """A prelude but for what its functions do: the type of elements, what is known of the algebra, and the heads."""
    return "\n".join(line.partition("{")[0] if line.startswith("DEVICE ") else line
                     for line in prelude.splitlines() if not line.startswith((" ", "}")))


def needed(some: Iterable[Program], seen: set[str]) -> list[str]:
    """Sources with each prelude in each kernel, and with each variant of a kernel for every kind of prelude.

    A kernel sees of an algebra what its kind says: what its functions do is compiled alike in all variants. `seen` has
    the variants of earlier programs, and gets those of these.
    """
    texts: dict[str, None] = {}
    for p in some:
        kernels = set()
        for text in sources(p):
            variant = text.replace(p.prelude, kind(p.prelude))
            kernel = re.findall(r'^#line 1 "(.+)"$', text, re.MULTILINE)[-1], "#define STACK" in text
            if variant not in seen or kernel not in kernels:
                texts[text] = None
            seen.add(variant)
            kernels.add(kernel)
    return list(texts)


@functools.cache
def catalogued() -> dict[str, list[str]]:
    """The sources that are needed, by the algebra which is the first to need them; min-plus has all of its own."""
    seen: set[str] = set()
    by_name = {}
    for name in sorted(NAMES, key="min_plus".__ne__):
        S = sr.catalogue[name]
        some = [p for d in dtypes(S, name) for p in programs(S, d)]
        by_name[name] = needed(some, seen)
        if name == "min_plus":
            by_name[name] = list(dict.fromkeys(text for p in some for text in sources(p)))
    return by_name


def compile_all(texts: list[str], *options: str) -> None:
    def attempt(text: str) -> str:
        accepted, log = nvrtc.compile(text, (*OPTIONS, *options))
        return "" if accepted and not log.strip("\0 \n") else log + "\n…\n" + text[text.index('"prelude"') :][:2000]

    with ThreadPoolExecutor(4) as pool:
        complaints = [c for c in pool.map(attempt, texts) if c]
    assert not complaints, f"{len(complaints)} of {len(texts)} kernels: {complaints[0]}"


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_every_kernel_compiles(name: str) -> None:
    """No text depends on the architecture, so that they are dealt out among these; all of min-plus go to each."""
    texts = catalogued()[name]
    assert texts and not any("CUDA_ARCH" in text for text in texts)
    for i, architecture in enumerate(ARCHITECTURES):
        some = texts if name == "min_plus" else texts[i :: len(ARCHITECTURES)]
        compile_all(some, f"--gpu-architecture={architecture}", *QUICK)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize(("name", "dtype"), OPTIMISED)
def test_kernels_become_machine_code(name: str, dtype: str | None) -> None:
    """With registers assigned, which rejects what does not fit in a block."""
    S = sr.catalogue[name]
    first = next(programs(S, S.default_dtype if dtype is None else np.dtype(dtype)))
    compile_all(list(dict.fromkeys(sources(first))), "--gpu-architecture=sm_90a")


@pytest.mark.slow
@needs_compiler
def test_words_and_ranks_compile() -> None:
    texts = [word_filler(np.dtype(d)) for d in ("?", "i2", "u2", "f2")] + list(sources(boolean_words()))
    texts += [rank_source(np.dtype(d), np.dtype(r)) for d in ("i4", "u4", "i8", "u8", "f4", "f8") for r in ("u2", "u4")]
    pairs = packed_program(choose(sr.min_plus, np.dtype("f2"), DATA[0], 2, in_place=False))
    assert pairs
    texts += list(sources(pairs))
    for up, rank in ((True, "u2"), (False, "u2"), (True, "u4"), (False, "u4")):
        texts += list(sources(program(ranked(sr.max_min, np.dtype("f8"), up, np.dtype(rank)))))
    compile_all(texts, "--gpu-architecture=compute_80", *QUICK)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_ways_in_and_out_compile(name: str) -> None:
    """For each code of elements in storage: the same, ordered, with another infinity, of another width."""
    S = sr.catalogue[name]
    lowerings = [low for d in dtypes(S, name) for low in lowerings_of(S, d)]
    texts = dict.fromkeys(exchange_source(low) for low in lowerings)
    assert texts
    compile_all(list(texts), "--gpu-architecture=compute_80", *QUICK)


@needs_compiler
def test_a_broken_kernel_is_noticed() -> None:
    """The check can fail: a prelude that does not fit its kernel is refused, and the message cites the file."""
    text = program(choose(sr.min_plus, np.dtype("f4"), DATA[0], 2, in_place=False))
    broken = text.panels().replace("DEVICE Value star(", "DEVICE Value other(")
    accepted, log = nvrtc.compile(broken, (*OPTIONS, "--gpu-architecture=compute_80"))
    assert not accepted and "close.cu(" in log


def form(S: sr.Semiring, dtype: str | np.dtype, known: DeviceFacts = DATA[2]) -> CudaLowering:
    return choose(S, np.dtype(dtype), known, 2, in_place=False)


def test_elements_lie_in_memory_as_in_c() -> None:
    record = sr.Semiring(
        "mixed", fields={"flag": "?", "cost": "f8", "hops": "u2"}, zero=(False, np.inf, 0), one=(True, 0, 1),
        add=lambda a, b: (a[0] | b[0], np.minimum(a[1], b[1]), np.maximum(a[2], b[2])),
        mul=lambda a, b: (a[0] & b[0], a[1] + b[1], a[2] * b[2]), product_only=True,
    )
    text = program(form(record, record.default_dtype))
    assert "struct Value { bool f0; double f1; unsigned short f2; };" in text.prelude
    assert text.size == 24 and [text.dtype.fields[f][1] for f in text.dtype.names] == [0, 8, 16]
    assert "using Value = unsigned short;" in program(form(sr.min_plus, "i4")).prelude
    assert program(form(sr.min_plus, "i4")).dtype == np.uint16


def summed(mul: Callable, carrier: Callable | None = None) -> sr.Semiring:
    return sr.Semiring("users", add=np.add, mul=mul, zero=0, product_only=True, carrier=carrier)


EIGHTHS = sr.Semiring(
    "eighths", add=np.minimum, mul=lambda a, b: a + b + a * b / 8, zero=np.inf, one=0.0, carrier=lambda a: a >= 0
)


@pytest.mark.parametrize(
    ("S", "least", "weight"),
    [
        (sr.min_plus, 0, 1.5), (summed(lambda a, b: np.abs(a - b)), 0, 2), (summed(lambda a, b: (a - b) ** 2), 0, 2),
        (summed(np.minimum, lambda a: a >= 0), 0, 2), (summed(lambda a, b: np.sqrt(a + 1) * b), -1, 2),
        (summed(lambda a, b: np.sqrt(a + 1) * b), 0, 1),
        (summed(lambda a, b: np.sqrt(a + 1) * b, lambda a: a >= 0), 0, 1),
        (EIGHTHS, 0, 2.5),
    ],
    ids=lambda x: getattr(x, "name", str(x)),
)
def test_instructions_are_counted(S: sr.Semiring, least: int, weight: float) -> None:
    """Signs are free, a product of one sign joins a sum, and what has one operand is computed once for many others."""
    known = DeviceFacts(largest=1, least=least, has_zero=False, has_tiny=False)
    assert program(form(S, "f4", known).for_product(known)).weight == weight


@pytest.mark.parametrize(
    ("S", "joins"),
    [
        (EIGHTHS, True), (summed(lambda a, b: (a - b) ** 2), True), (sr.plus_times, False),
        (summed(lambda a, b: a * b / 2), False), (summed(lambda a, b: a * b / 2, lambda a: a >= 0), True),
        (sr.Semiring("less", add=np.minimum, mul=lambda a, b: a + b - a * b / 8, zero=np.inf, one=0.0,
                     carrier=lambda a: a >= 0, product_only=True), False),
    ],
    ids=lambda x: getattr(x, "name", str(x)),
)
def test_a_product_joins_a_sum_unrounded_where_it_has_its_sign(S: sr.Semiring, joins: bool) -> None:
    """Else an infinity that meets the opposite one would not be NaN, and the place would look like a result."""
    assert ("ops::multiply_add(" in program(form(S, "f4")).prelude) is joins


def test_roots_and_powers_are_approximate_only_where_the_sum_rounds() -> None:
    def power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.abs(x * y) ** 0.7

    def better(x: tuple, y: tuple) -> tuple:
        first = (x[0] < y[0]) | ((x[0] == y[0]) & (x[1] <= y[1]))
        return np.where(first, x[0], y[0]), np.where(first, x[1], y[1])

    record = sr.Semiring(
        "least power", fields={"cost": "f4", "edges": "f4"}, zero=(np.inf, np.inf), one=(1, 0), add=better,
        mul=lambda a, b: (power(a[0], b[0]), a[1] + b[1]), product_only=True, samples=[(1, 1), (2, 1), (3, 2)],
    )
    low = form(record, record.default_dtype)
    assert record.selective and not low.drops_nan and "ops::near_" not in program(low).prelude
    least = sr.Semiring("least", add=np.minimum, mul=power, zero=np.inf, one=1, product_only=True)
    assert "ops::near_" not in program(form(least, "f4")).prelude
    assert "ops::near_power" in program(form(summed(power), "f4")).prelude


@pytest.mark.slow
@needs_compiler
def test_forms_of_products_compile() -> None:
    """With and without a test for zero, in both precisions."""
    forms = []
    for mul in (lambda a, b: a * b * 0.5, lambda a, b: np.abs(a - b) ** 1.5, lambda a, b: np.abs(a - b) ** 0.7):
        for dtype in ("f4", "f8", "f2"):
            for has_zero in (True, False):
                known = DeviceFacts(largest=1, least=0, has_zero=has_zero, has_tiny=has_zero)
                forms.append(program(form(summed(mul), dtype, known).for_product(known)))
    compile_all(needed(forms, set()), "--gpu-architecture=compute_80", *QUICK)


def test_what_the_kernels_are_told_of_an_algebra() -> None:
    def told(S: sr.Semiring, dtype: str) -> dict[str, bool]:
        prelude = program(form(S, dtype)).prelude
        return {name: f"constexpr bool {name} = true;" in prelude for name in ("ABSORBS", "UNIT_PIVOTS")}

    distances = sr.Semiring("distances", add=np.add, mul=lambda a, b: (a - b) * (a - b) + 1, zero=0, product_only=True)
    assert told(sr.min_plus, "f8") == {"ABSORBS": True, "UNIT_PIVOTS": True}
    assert told(sr.plus_times, "f8") == {"ABSORBS": True, "UNIT_PIVOTS": False}
    assert told(distances, "f8") == {"ABSORBS": False, "UNIT_PIVOTS": False}
    assert is_linear(form(sr.plus_times, "f4")) and is_linear(form(sr.plus_times, "f8"))
    assert not is_linear(form(sr.min_plus, "f4")) and not is_linear(form(sr.counting, "i4"))
    assert always_defined(form(sr.min_plus, "f4")) and not always_defined(form(sr.plus_times, "f4"))
    assert [program(form(S, "f8")).light for S in (sr.min_plus, sr.log)] == [True, False]


@pytest.mark.parametrize(
    ("S", "dtype", "relax"),
    [
        (sr.min_plus, "i4", "__viaddmin_u16x2(a, b, c)"), (sr.max_plus, "i2", "__viaddmax_s16x2(a, b, c)"),
        (sr.max_min, "u2", "__vmaxu2(c, __vminu2(a, b))"), (sr.max_min, "i2", "__vmaxs2(c, __vmins2(a, b))"),
        (sr.min_plus, "f2", "least_of_halves(c, sums_of_halves(a, b))"),
        (sr.max_min, "f2", "__vmaxs2(c, __vmins2(a, b))"),
        (sr.min_plus, "f4", None), (sr.max_min, "u1", None), (sr.max_min, "i4", None), (sr.gcd_lcm, "u2", None),
        (sr.shortest_hops, sr.shortest_hops.default_dtype, None),
    ],
)
def test_two_elements_a_word(S: sr.Semiring, dtype: str | np.dtype, relax: str | None) -> None:
    """With the instructions for their sign, where there are any."""
    packed = packed_program(form(S, dtype))
    found = re.findall(r"Value relax\(.+\) \{ return (.+); \}", packed.prelude) if packed else [None]
    assert found == [relax]


@pytest.mark.parametrize(("S", "dtype"), [(sr.min_plus, "i4"), (sr.max_plus, "i2"), (sr.min_plus, "f2")])
def test_the_zero_of_a_word_is_that_of_both_elements(S: sr.Semiring, dtype: str) -> None:
    low = form(S, dtype)
    packed = packed_program(low)
    assert packed
    (zero,) = re.findall(r"Value zero\(\) \{ return \(unsigned\)(0x[0-9a-f]+)u; \}", packed.prelude)
    halves = np.array([int(zero, 16)], "u4").view(low.storage)
    assert halves.tolist() == 2 * [low.zero[0].item()]


def test_errors_cite_the_files() -> None:
    """Each part of a text counts its own lines."""
    text = program(form(sr.min_plus, "f4")).elements()
    files = re.findall(r'^#line 1 "(.+)"$', text, re.MULTILINE)
    assert files == ["compile/ops.cuh", "prelude", "compile/memory.cuh", "dense/elements.cu"]


NEGATED = sr.Semiring(
    "negated logarithms", add=lambda a, b: -np.logaddexp2(-a, -b), mul=np.add, zero=np.inf, one=0.0,
    star=lambda a: np.where(a > 0, np.log1p(-np.exp2(-np.maximum(a, 0))) / np.log(2), -np.inf),
)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("S", [sr.log, NEGATED], ids=lambda S: S.name)
def test_closures_by_powers_compile(S: sr.Semiring) -> None:
    for dtype in (np.dtype("f4"), np.dtype("f8")):
        text = sums_of_powers(general_on_device(S, dtype))
        assert text is not None
        for n in (32, 64, 128):
            source = text.powers(stack_geometry(text.size, n, text.light))
            assert not nvrtc.complaint(source, *OPTIONS, "--gpu-architecture=compute_80")


def test_only_closures_over_log_sum_exp_are_computed_by_powers() -> None:
    """Not those of an algebra with the same sums and products that has another star, or none."""
    other = sr.Semiring("without", add=np.logaddexp, mul=np.add, zero=-np.inf, one=0.0, star=lambda a: np.nan)
    for S in (sr.min_plus, sr.plus_times, other):
        assert sums_of_powers(general_on_device(S, np.dtype("f4"))) is None
