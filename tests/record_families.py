"""The generated algebras of records: products, lexicographic ones, dual numbers, matrices, two best, polynomials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import SimpleNamespace

import bases
import numpy as np
import record_bases
from bases import REAL, Base
from generated import MOVES, STAY, Generated, Move, inside_text, number

inf = np.inf

def by_components(
    name: str, base: Base, components: Sequence[tuple[str, Move, str]], add: Sequence[str], mul: Sequence[str],
    star: Sequence[str] | None, carrier: str | None, *, tolerance: float = 0.0, samples: str | None = None,
    other: Sequence[str] = (),
) -> Generated:
    """An algebra of records: a field of the library's, a move and a dtype for each field p, q, r of the base's.

    The texts name the components of the operands {x.p}, {y.p}, {x.q} and so on; `other` are dtypes to compute in, too.
    """

    def operand(letter: str) -> SimpleNamespace:
        texts = {}
        for f, (library, move, _) in zip("pqr", components, strict=False):
            text = f"{letter}.{library}"
            texts[f] = text if move is STAY else f"({move.back_text.format(x=text)})"
        return SimpleNamespace(**texts)

    x, y = operand("x"), operand("y")

    def result(texts: Sequence[str]) -> str:
        outputs = []
        for text, (_, move, _) in zip(texts, components, strict=True):
            inner = text.format(x=x, y=y)
            outputs.append(inner if move is STAY else move.text.format(x=f"({inner})"))
        return f"({', '.join(outputs)})"

    with np.errstate(all="ignore"):
        zero, one = (
            tuple(float(m.forth(REAL.type(v))) for v, (_, m, _) in zip(e, components, strict=True))
            for e in (base.zero, base.one)
        )
    fields = ", ".join(f"{library!r}: {kind!r}" for library, _, kind in components)
    lines = [
        f"fields={{{fields}}}", f"add=lambda x, y: {result(add)}", f"mul=lambda x, y: {result(mul)}",
        f"zero=({', '.join(map(number, zero))})", f"one=({', '.join(map(number, one))})",
    ]
    lines += [f"star=lambda x: {result(star)}"] if star else []
    lines += [f"carrier=lambda x: {carrier.format(x=x)}"] if carrier else []
    lines += [f"samples={samples}"] if samples else []
    names = [library for library, _, _ in components]
    dtypes = [np.dtype(list(zip(names, kinds, strict=True)), align=True)
              for kinds in ([kind for _, _, kind in components], list(other)) if kinds]
    return Generated(
        name, f"sr.Semiring({name!r},\n    " + ",\n    ".join(lines) + ")", base,
        tuple((n, f, m) for n, f, (_, m, _) in zip(names, "pqr", components, strict=False)), zero, one,
        tolerance=tolerance, declared_star=star is not None, record_dtypes=tuple(dtypes),
    )


_GUARDED = "np.where(np.logical_or({a} == 0, {b} == 0), 0, {a} * {b})"


def _of(base: Base, which: str, field: str) -> str:
    """An operation of a base on one field of records, in which 0 · ∞ has to be spelled."""
    if which == "mul" and base.texts["mul"] == "{a} * {b}" and base.interval[1:] == (inf, "[]"):
        return _GUARDED.format(a=f"{{x.{field}}}", b=f"{{y.{field}}}")
    return base.texts[which].format(a=f"{{x.{field}}}", b=f"{{y.{field}}}", one=number(base.one))


def in_order() -> Iterator[Generated]:
    """Signed tuples in lexicographic order, of two and three components: cycles improve in any of them, after ties."""
    move = {m.name: m for m in MOVES}
    safe, signed, later = (0.0, 1.0, 2.0, 5.0), (-1.0, 0.0, 1.0, 2.0), (0.0, 0.0, 1.0, -1.0)
    for number_, (signs, moves, kinds) in enumerate((
        ((1, 1), ("as it is", "as it is"), ("f8", "f8")),
        ((1, 1), ("−x", "as it is"), ("f8", "f8")),
        ((1, -1), ("as it is", "x + 100"), ("f8", "f8")),
        ((-1, -1), ("as it is", "as it is"), ("f8", "f8")),
        ((-1, 1), ("as it is", "as it is"), ("i4", "i4")),
        ((1, 1), ("as it is", "as it is"), ("i8", "f8")),
        ((1, 1, 1), ("as it is", "as it is", "as it is"), ("f8", "f8", "f8")),
        ((-1, 1, -1), ("−x", "as it is", "x + 100"), ("f8", "f8", "f8")),
        ((1, 1, -1), ("as it is", "as it is", "as it is"), ("i2", "i4", "i8")),
    )):
        base = record_bases.tuples(f"tuples {signs} in order", signs, (safe, later, signed))
        fields, whole = "pqr"[: len(signs)], "i" in "".join(kinds)
        wins = ""
        for f, sign in zip(reversed(fields), reversed(signs), strict=True):
            a, b = (f"{{{letter}.{f}}}" for letter in ("xy" if number_ % 2 == 0 else "yx"))
            below = "<" if sign > 0 else ">"
            wins = f"({a} {below} {b}) | ({a} == {b}) & ({wins})" if wins else f"{a} {below}= {b}"
        sides = "{x.%s}, {y.%s}" if number_ % 2 == 0 else "{y.%s}, {x.%s}"
        sums = [f"{{x.{f}}} + {{y.{f}}}" for f in fields]
        if whole:  # in which nothing else keeps zero zero
            none = f"({{x.p}} == {number(signs[0] * inf)}) | ({{y.p}} == {number(signs[0] * inf)})"
            sums = [f"np.where({none}, {number(sign * inf)}, {t})" for sign, t in zip(signs, sums, strict=True)]
        finite = " & ".join(f"(abs({{x.{f}}}) < np.inf)" for f in fields)
        if whole:
            finite = " & ".join(f"({{x.{f}}} < np.inf) & ({{x.{f}}} > -np.inf)" for f in fields)
        nothing = " & ".join(f"({{x.{f}}} == {number(s * inf)})" for f, s in zip(fields, signs, strict=True))
        yield by_components(
            f"{base.name}, {', '.join(moves)}, {' '.join(kinds)}", base,
            [(f"c{i}", move[m], k) for i, (m, k) in enumerate(zip(moves, kinds, strict=True))],
            [f"np.where({wins}, {sides % (f, f)})" for f in fields], sums, None, f"({finite}) | ({nothing})",
            other=() if whole else ("f4",) * len(signs),
        )


    least, most = "sr.min_plus", "sr.max_plus"
    for signs, code in (
        ((1, 1), f"sr.lexicographic({least}, {least}, fields=['c0', 'c1'])"),
        ((-1, 1), f"sr.lexicographic({most}, {least}, fields=['c0', 'c1'])"),
        ((1, -1, 1), f"sr.lexicographic(sr.lexicographic({least}, {most}), {least}, fields=['c0', 'c1', 'c2'])"),
        ((-1, -1, -1), f"sr.lexicographic({most}, sr.lexicographic({most}, {most}), fields=['c0', 'c1', 'c2'])"),
    ):
        base = record_bases.tuples(f"lexicographic {signs}", signs, (safe, later, signed), signed=False)
        names = [f"c{i}" for i in range(len(signs))]
        dtypes = tuple(np.dtype([(f, kind) for f in names], align=True) for kind in ("f8", "f4"))
        parts = tuple((c, f, STAY) for c, f in zip(names, "pqr", strict=False))
        yield Generated(base.name, code, base, parts, base.zero, base.one, record_dtypes=dtypes)


def records() -> Iterator[Generated]:
    """Direct and lexicographic products, dual numbers, triangular matrices, two best, polynomials."""
    real = {b.name: b for b in bases.REALS}
    move = {m.name: m for m in MOVES}
    for i, (p, q, first, second, kinds) in enumerate((
        ("min-plus ≥ 0", "max-min", "as it is", "as it is", ("f8", "f4")),
        ("min-plus ≥ 0", "viterbi", "x + 100", "as it is", ("f8", "f8")),
        ("viterbi", "viterbi", "as it is", "1 − x", ("f4", "f8")),
        ("max-min", "fuzzy", "−x", "as it is", ("f8", "f8")),
        ("lukasiewicz", "min-plus up to 60", "as it is", "−x", ("f8", "i4")),
        ("min-plus up to 60", "min-plus up to 60", "as it is", "x + 100", ("i2", "i8")),
        ("fuzzy", "min-times", "x + 100", "as it is", ("f8", "f8")),
        ("max-plus ≤ 0", "min-plus ≥ 0", "as it is", "3 − 2 x", ("f8", "f8")),
        ("min-plus ≥ 0", "min-plus up to 60", "√x", "as it is", ("f8", "u1")),
        ("plus-times", "plus-times", "as it is", "x + 100", ("f8", "f8")),
        ("plus-times", "min-plus ≥ 0", "as it is", "as it is", ("f8", "f4")),
        ("plus-times up to ∞", "fuzzy", "as it is", "as it is", ("f8", "f8")),
        ("min-plus", "max-plus", "as it is", "as it is", ("f8", "f4")),
        ("max-plus", "min-plus", "x + 100", "−x", ("f8", "f8")),
        ("min-plus", "max-min", "as it is", "as it is", ("f4", "f8")),
    )):
        a, b = real[p], real[q]
        moves = (move[first], move[second])
        base = record_bases.pair(a, b, i)
        exact = base.exact and all(m.exact for m in moves)
        text = {w: [_of(a, w, "p"), _of(b, w, "q")] for w in ("add", "mul", "star")}
        yield by_components(
            f"{base.name}, {first}, {second}", base, [("u", moves[0], kinds[0]), ("v", moves[1], kinds[1])],
            text["add"], text["mul"], text["star"] if i % 3 or not base.has("bounded") else None,
            " & ".join(filter(None, (inside_text(a, moves[0], "x.u"), inside_text(b, moves[1], "x.v")))) or None,
            tolerance=0.0 if exact else 256.0,
            samples=repr([]) if "i" in kinds[0] + kinds[1] and i % 2 else None,
        )
    yield from in_order()
    less = "({x.p} < {y.p})"
    tie = "({x.p} == {y.p})"
    one_zero = "(({x.p} < np.inf) | ({x.q} == %s))"
    known = record_bases.lexicographic()
    for key, ties, times, star, inside in (
        ("counted", "{x.q} + {y.q}", _GUARDED.format(a="{x.q}", b="{y.q}"),
         "np.where(({x.p} == 0) & ({x.q} > 0), np.inf, 1)",
         "({x.p} >= 0) & ({x.q} >= 0) & (({x.q} == 0) | ({x.q} >= 1)) & " + one_zero % "0"),
        ("hops", "np.minimum({x.q}, {y.q})", "{x.q} + {y.q}", "0",
         "({x.p} >= 0) & ({x.q} >= 0) & " + one_zero % "np.inf"),
        ("signed hops", "np.minimum({x.q}, {y.q})", "{x.q} + {y.q}", None,
         "({x.p} > -np.inf) & ({x.q} >= 0) & ({x.q} < np.inf) & ({x.p} < np.inf)"
         " | ({x.p} == np.inf) & ({x.q} == np.inf)"),
        ("wide", "np.maximum({x.q}, {y.q})", "np.minimum({x.q}, {y.q})", "np.inf",
         "({x.p} >= 0) & " + one_zero % "-np.inf"),
    ):
        for first, second in (("as it is", "as it is"), ("−x", "x + 100"), ("x + 100", "−x")):
            moves = (move[first], move[second])
            add = [f"np.where({less}, {{x.p}}, {{y.p}})",
                   f"np.where({less}, {{x.q}}, np.where({tie}, {ties}, {{y.q}}))"]
            yield by_components(
                f"{known[key].name}, {first}, {second}", known[key],
                [("cost", moves[0], "f8"), ("beside", moves[1], "f8")], add, ["{x.p} + {y.p}", times],
                ["0", star] if star else None, inside, other=("f4", "f8"),
            )
    for first, second in (("as it is", "as it is"), ("−x", "x/1024 − 5")):
        yield by_components(
            f"dual numbers, {first}, {second}", record_bases.dual_numbers(),
            [("p", move[first], "f8"), ("r", move[second], "f8")], ["{x.p} + {y.p}", "{x.q} + {y.q}"],
            ["{x.p} * {y.p}", "{x.p} * {y.q} + {x.q} * {y.p}"],
            ["np.where({x.p} == 1, np.nan, 1 / (1 - {x.p}))",
             "np.where({x.p} == 1, np.nan, {x.q} / ((1 - {x.p}) * (1 - {x.p})))"],
            "(abs({x.p}) < np.inf) & (abs({x.q}) < np.inf)", tolerance=256.0,
        )
    inverse = "np.where({x.%s} == 1, np.nan, 1 / (1 - {x.%s}))"
    for p, s in (("min-plus ≥ 0", "0"), ("max-min", "np.inf"), ("plus-times", inverse)):
        a = real[p]
        plus = {f: _of(a, "add", f) for f in "pqr"}
        mul = a.texts["mul"]
        first, second = (f"({mul})".format(a=f"{{x.{f}}}", b=f"{{y.{g}}}") for f, g in ("pq", "qr"))
        above = a.texts["add"].format(a=first, b=second)
        between = "np.where(({x.p} == 1) | ({x.r} == 1), np.nan, {x.q} / ((1 - {x.p}) * (1 - {x.r})))"
        stars = [s.replace("%s", "p"), between if "%" in s else "{x.q}", s.replace("%s", "r")]
        yield by_components(
            f"triangular matrices over {p}", record_bases.triangular(a), [(f, STAY, "f8") for f in ("a", "b", "d")],
            list(plus.values()), [_of(a, "mul", "p"), above, _of(a, "mul", "r")], stars,
            " & ".join(filter(None, (inside_text(a, STAY, f"x.{f}") for f in "abd"))) or None,
            tolerance=256.0 if p == "plus-times" else 0.0,
            other=("f4", "f4", "f4"),
        )
    a, b, c, d = "{x.p}", "{x.q}", "{y.p}", "{y.q}"
    yield by_components(
        "two best", record_bases.two_best(), [("d0", STAY, "f8"), ("d1", STAY, "f8")],
        [f"np.minimum({a}, {c})", f"np.minimum(np.maximum({a}, {c}), np.minimum({b}, {d}))"],
        [f"{a} + {c}", f"np.minimum({a} + {d}, {b} + {c})"], ["0", a], f"({a} >= 0) & ({b} >= {a})",
        samples="[(0, 1), (1, 1), (2.5, 7), (3, np.inf), (1, 4), (0, 0)]", other=("f4", "f4"),
    )
    for declared in (True, False):
        yield by_components(
            f"tropical polynomials, star {'declared' if declared else 'derived'}", record_bases.polynomials(),
            [(f, STAY, "f8") for f in ("c0", "c1", "c2")], [f"np.minimum({{x.{f}}}, {{y.{f}}})" for f in "pqr"],
            ["{x.p} + {y.p}", "np.minimum({x.p} + {y.q}, {x.q} + {y.p})",
             "np.minimum(np.minimum({x.p} + {y.r}, {x.r} + {y.p}), {x.q} + {y.q})"],
            ["0", "{x.q}", "np.minimum({x.r}, 2 * {x.q})"] if declared else None,
            "({x.p} >= 0) & ({x.q} >= 0) & ({x.r} >= 0)",
        )
