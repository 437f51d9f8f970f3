"""Figures of the ladder page: measured times, a picture for each idea, and rungs that open to their code."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from drawing import Drawing, Table, bars, curves, graph, grid
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from semiring.teach.ladder import RUNGS
from semiring.teach.rung import Rung

HERE = Path(__file__).parent
NO_BREAK = "\u00a0"
MADE = {  # the module of a rung, and the picture of its idea
    "floyd": "vertex", "tran": "vertex", "floyd_warshall": "vertex", "warshall": "words", "words": "words",
    "squaring": "product", "tiled": "tiles", "elimination": "corner", "r_kleene": "halves",
    "harish_narayanan": "relaxed", "kemp": "relaxed", "on_gpus": "relaxed",
}

STEPS = {  # a rung, the one below it, and what the step changes
    "cpu": (
        ("venkataraman", "floyd", "a block stays in the cache for t vertices, not for one only"),
        ("r-kleene", "floyd", "halves of halves fit in every cache, without a t"),
        ("tiled-squaring", "squaring", "the operands of a tile are read once for many elements"),
        ("iterative", "venkataraman", "most of the work becomes products, which keep their result in registers"),
        ("buluc-gilbert-budak", "iterative", "the recursion makes the products as large as they can be"),
        ("all-cores", "buluc-gilbert-budak", "tiles of a product go to all cores"),
        ("storage", "all-cores", "facts about the data choose another form of the elements"),
        ("closure", "storage", "the plan chooses all of this from facts about the data"),
    ),
    "gpu": (
        ("kemp", "harish-narayanan", "atomic minima instead of a second array, and several sources in a launch"),
        ("zuccato-lena-1", "tran-floyd", "three launches per block, not one per vertex; operands still from memory"),
        ("zuccato-lena-2", "zuccato-lena-1", "operands in shared memory"),
        ("zuccato-lena-2.1", "zuccato-lena-2", "threads that run together read different banks"),
        ("zuccato-lena-3", "zuccato-lena-2.1", "parts of a round run at the same time, on streams"),
        ("zuccato-lena-4", "zuccato-lena-3", "all launches are recorded once, as a graph"),
        ("katz-kider", "zuccato-lena-2.1", "neighbouring threads read a row, so nothing needs padding"),
        ("kemp-out-of-core", "katz-kider", "the matrix stays on the host"),
        ("deng", "deng-naive", "the product reads tiles from shared memory"),
        ("pandey-sharma", "katz-kider", "Kleene's recursion around the phases: the rest is products"),
        ("buluc-gilbert-budak-gpu", "pandey-sharma", "products that keep 64 elements per thread in registers"),
        ("buluc-gilbert-budak-gpu", "buluc-gilbert-budak-iterative", "recursion, not one block after the other"),
        ("three-operands", "registers", "one instruction takes the minimum of three"),
        ("look-ahead", "three-operands", "the next pivot is closed while the rest is computed"),
        ("sixteen-bits", "ordered-integers", "two elements in each word"),
        ("closure-gpu", "look-ahead", "the plan chooses all of this from facts about the data"),
    ),
}


STAGES = {  # the stages of the story, and their rungs
    "cpu": {
        "From elements to words, and from vertices to blocks": (
            "floyd", "warshall", "squaring", "carre", "tiled-squaring", "venkataraman", "r-kleene"),
        "From blocks to products, and to the whole machine": (
            "iterative", "buluc-gilbert-budak", "all-cores", "storage", "closure"),
    },
    "gpu": {
        "One thread for each vertex, and sparse graphs": (
            "harish-narayanan", "kemp", "tran-relaxation", "sparse-elimination"),
        "Operands from memory": ("tran-floyd", "zuccato-lena-1", "deng-naive"),
        "Shared memory": ("katz-kider", "kemp-out-of-core", "zuccato-lena-2", "zuccato-lena-2.1", "zuccato-lena-3",
                          "zuccato-lena-4", "deng"),
        "Products": ("pandey-sharma", "buluc-gilbert-budak-iterative", "buluc-gilbert-budak-gpu",
                     "buluc-gilbert-budak-lu", "registers"),
        "Instructions": (
            "three-operands", "look-ahead", "ordered-integers", "sixteen-bits", "tensor-cores", "closure-gpu"),
    },
}


def pictures() -> dict[str, Drawing]:
    """The ideas: which elements are read, and which change."""
    n = 6
    places = range(n)
    return {
        "vertex": grid(
            "Round k reads row k and column k, and updates every element",
            [["k" if i == j == 2 else "·" for j in places] for i in places],
            [[1.0 if i == j == 2 else 0.55 if 2 in (i, j) else 0.12 for j in places] for i in places]),
        "words": grid(
            "Row k is united with every row that reaches k, a word at a time",
            [["1" if j == 2 and i in (0, 4) else "k" if i == 2 else "" for j in places] for i in places],
            [[0.9 if i == 2 else 0.45 if i in (0, 4) else 0.0 for j in places] for i in places]),
        "product": grid(
            "An element of A ⊗ A takes a row of A and a column",
            [["c" if (i, j) == (1, 4) else "a" if i == 1 else "b" if j == 4 else "" for j in places] for i in places],
            [[1.0 if (i, j) == (1, 4) else 0.5 if i == 1 or j == 4 else 0.0 for j in places] for i in places]),
        "tiles": grid(
            "A tile of A ⊗ A takes a row of tiles and a column of them, one pair at a time",
            [["C" if i // 2 == 0 and j // 2 == 2 else "A" if i // 2 == 0 else "B" if j // 2 == 2 else ""
              for j in places] for i in places],
            [[1.0 if i // 2 == 0 and j // 2 == 2 else 0.6 if (i // 2, j // 2) in ((0, 1), (1, 2))
              else 0.25 if i // 2 == 0 or j // 2 == 2 else 0.0 for j in places] for i in places]),
        "corner": grid(
            "A pivot block is eliminated from the rows below it, and what is left is a smaller matrix",
            [["D" if i == j == 1 else "R" if i == 1 and j > 1 else "C" if j == 1 and i > 1 else "X" if min(i, j) > 1
              else "" for j in places] for i in places],
            [[1.0 if i == j == 1 else 0.5 if 1 in (i, j) and max(i, j) > 1 and min(i, j) == 1 else
              0.15 if min(i, j) > 1 else 0.0 for j in places] for i in places]),
        "blocks": grid(
            "The pivot block is closed, its rows and columns multiplied by it, and the rest takes their product",
            [["D" if i // 2 == j // 2 == 1 else "R" if i // 2 == 1 else "C" if j // 2 == 1 else "X" for j in places]
             for i in places],
            [[1.0 if i // 2 == j // 2 == 1 else 0.5 if 1 in (i // 2, j // 2) else 0.12 for j in places]
             for i in places]),
        "halves": grid(
            "The first half P is closed, then what is left of the second, Z; products join them",
            [["PQ"[j > 2] if i < 3 else "YZ"[j > 2] for j in places] for i in places],
            [[[[0.9, 0.35], [0.35, 0.65]][i > 2][j > 2] for j in places] for i in places]),
        "relaxed": graph(
            "A vertex that improved offers its neighbours a walk",
            [("s", "a", 3), ("s", "b", 1), ("b", "a", 1), ("a", "c", 2)],
            {"s": (0, 0.5), "a": (1, 0), "b": (1, 1), "c": (2, 0)}, ["s", "b", "a"]),
    }


PICTURES = pictures()


def picture(rung: Rung) -> Drawing:
    """The idea of a rung; blocks around a pivot where its module has no other."""
    return PICTURES[MADE.get(rung.module.rpartition(".")[2], "blocks")]


def code(rung: Rung) -> str:
    """Return the page of code of a rung."""
    found = find_spec(rung.module)
    assert found is not None and found.origin is not None, rung.module
    return Path(found.origin).read_text(encoding="utf-8")


def measured(device: str) -> dict[str, Any] | None:
    """Return what docs/benchmarks/history.py measured on a device, or None."""
    file = HERE / f"ladder_{device}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def seconds(t: float) -> str:
    """Return a time as people write it, on one line."""
    text = f"{t:.2f} s" if t >= 1 else f"{t * 1e3:.3g} ms" if t >= 1e-3 else f"{t * 1e6:.3g} µs"
    return text.replace(" ", NO_BREAK)


def rate(T: float) -> str:
    """A number of multiply-adds, in three digits."""
    return f"{T:,.0f}" if T >= 1000 else f"{T:.3g}"


def percent(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}" if share >= 0.01 else f"{share:.1%}"


def caption(found: dict[str, Any]) -> str:
    """Return the machine and the settings of a table."""
    limit = "" if found["limit"] is None else f"; the limit is {found['limit']:.3g} T"
    energy = (f"energy by {found['energy']}, {found['idle']:g} W idle subtracted" if found["energy"]
              else "no counter of energy could be read")
    return f"{found['machine']}, {found['algebra']}, {found['dtype']}, {found['date']}{limit}; {energy}"


def table(device: str) -> Any:
    """Return all measured rungs of a device, at their largest sizes."""
    found = measured(device)
    if found is None:
        return missing(device)
    titles = {rung.name: rung.title for rung in RUNGS}
    rows = []
    for record in found["rungs"]:
        title = titles.get(record["name"], record["name"])
        if not record["times"]:
            rows.append([title, "", "", "", "", "", record["refused"]])
            continue
        n, last = record["times"][-1]
        asked = record["algebra"] == found["algebra"]
        joules = record["joules"]
        rows.append([
            title + ("" if asked else f" ({record['algebra']})"), f"{n:,}", seconds(last),
            rate(n**3 / last / 1e12), percent(record["share"]),
            "" if record["exponent"] is None else f"{record['exponent']:.2f}",
            "" if joules is None else (f"{joules:.3g}{NO_BREAK}J, n{NO_BREAK}={NO_BREAK}{record['metered']:,}: "
                                       f"{rate(record['metered']**3 / joules / 1e9)}{NO_BREAK}G a joule"),
        ])
    head = ["rung", "largest n in time", "time", "T", "of the limit", "exponent", "energy of a closure"]
    kept = [k for k in range(len(head)) if k == 0 or any(row[k] for row in rows)]  # no column is empty
    return Table(caption(found), [head[k] for k in kept], [[row[k] for k in kept] for row in rows])


class Figures:
    """Figures below each other, each under its title."""

    def __init__(self, drawings: Sequence[Drawing]):
        self.drawings = drawings

    def _repr_html_(self) -> str:
        drawn = (f"<figure><figcaption>{escape(each.title)}</figcaption>{each._repr_html_()}</figure>"
                 for each in self.drawings)
        return f'<div class="figures">{"".join(drawn)}</div>'


def times(device: str) -> Any:
    """Time against n, both on logarithmic axes: a figure for each stage, the other rungs pale; predictions dashed."""
    found = measured(device)
    if found is None:
        return missing(device)
    lines = {record["name"]: (record["times"], record["predicted"]) for record in found["rungs"] if record["times"]}
    staged = {name for names in STAGES[device].values() for name in names}
    stages = STAGES[device] | {"Other rungs": tuple(lines.keys() - staged)}
    return Figures([
        curves(f"{stage}: seconds against vertices", [(name, *lines[name]) for name in names if name in lines],
               [each for name, each in lines.items() if name not in names])
        for stage, names in stages.items() if lines.keys() & {*names}])


def ladder(device: str, share: bool = False) -> Any:
    """A bar for each rung that had the algebra asked for, at its largest size, as in the table.

    In 10⁹ multiply-adds a second, or in percent of the limit.
    """
    found = measured(device)
    if found is None or (share and found["limit"] is None):
        return missing(device)
    unit = found["limit"] * 1e10 if share else 1e9
    last = {record["name"]: record["times"][-1] for record in found["rungs"]
            if record["times"] and record["algebra"] == found["algebra"]}
    rows = [(f"{name}, n = {n:,}", float(f"{n**3 / t / unit:.3g}")) for name, (n, t) in last.items()]
    what = "Percent of the limit" if share else "10⁹ multiply-adds a second"
    return Figures([bars(f"{what}, each rung at the largest size n that it reached in time", rows)])


def gain(before: float, after: float) -> str:
    """How many times as fast the second is."""
    times = before / after
    return f"{times:,.0f}×" if times >= 10 else f"{times:.1f}×" if times >= 1 else f"{times:.2f}×"


def steps(device: str) -> Table:
    """Return the gain of each step, at the smallest and the largest size that both rungs reached."""
    found = measured(device)
    if found is None:
        return missing(device)
    times = {record["name"]: dict(record["times"]) for record in found["rungs"]}
    titles = {rung.name: rung.title for rung in RUNGS}
    rows = []
    for rung, before, what in STEPS[device]:
        both = sorted(times.get(rung, {}).keys() & times.get(before, {}).keys())
        ends = [f"{gain(times[before][n], times[rung][n])}, n{NO_BREAK}={NO_BREAK}{n:,}"
                for n in sorted({both[0], both[-1]} if both else ())]
        rows.append([titles[rung], titles[before], what, *ends, *[""] * (2 - len(ends))])
    return Table("How many times as fast", ["rung", "after", "what changed", "small", "large"], rows)


def claims() -> Table:
    """Return what the papers report, and what their methods do here, where a rung is one."""
    found = measured("gpu")
    if found is None:
        return missing("gpu")
    records = {record["name"]: record for record in found["rungs"]}

    def here(name: str, what: str) -> str:
        n, t = records[name]["times"][-1]
        return f"{what}: {seconds(t)} for n{NO_BREAK}={NO_BREAK}{n:,}"

    n, searched = records["harish-narayanan"]["times"][-1]
    share = percent(records["buluc-gilbert-budak-gpu"]["share"])
    rows = [
        ["2007", "P. Harish, P. J. Narayanan",
         "one source in a graph of 10 million vertices in about 1.5 s, on an NVIDIA 8800 GTX (abstract)",
         f"another size: {seconds(searched / n)} for each source of a graph of {n:,} vertices; most of that is waiting "
         "for the host between rounds"],
        ["2008", "G. J. Katz, J. T. Kider", "graphs larger than the GPU's memory (abstract)",
         here("katz-kider", "the three phases, with the matrix in the GPU's memory") + "; "
         + here("kemp-out-of-core", "Kemp's, with the matrix on the host")],
        ["2010", "A. Buluç, J. R. Gilbert, C. Budak",
         "recursion on an NVIDIA 8800: more than two orders of magnitude faster than their CPU code on an Opteron "
         "(abstract); 67 % of the peak", f"{share} of the limit; their CPU code was not measured"],
        ["2010", "B. Lund, J. W. Smith",
         "registers and stages of shared memory: about five times as fast as the best before (abstract)",
         "no rung follows this paper"],
        ["2012", "K. Matsumoto, N. Nakasato, S. G. Sedukhin",
         "up to 1.1 Tflop/s in single precision on an Intel Core i7 2600K with an AMD Radeon HD 6970 (abstract)",
         "no rung follows this paper"],
    ]
    return Table("What papers report, and their methods here", ["year", "who", "what they report", "here"], rows)


def missing(device: str) -> Table:
    """A note in place of numbers."""
    command = f"python docs/benchmarks/history.py --device {device} --write"
    return Table("Not measured yet", ["command"], [[command]])


class Rungs:
    """All rungs of a device; each opens to its idea, its reason and its page of code."""

    def __init__(self, device: str):
        self.rungs: Sequence[Rung] = [rung for rung in RUNGS if rung.device == device]
        found = measured(device)
        self.records = {} if found is None else {record["name"]: record for record in found["rungs"]}

    def _repr_html_(self) -> str:
        return "".join(map(self._one, self.rungs))

    def _one(self, rung: Rung) -> str:
        record = self.records.get(rung.name)
        time = ""
        if record and record["times"]:
            n, last = record["times"][-1]
            time = f" – {seconds(last)} for {n:,} vertices"
        facts = [("Source", rung.source), ("Idea", rung.idea), ("What limits it", rung.limit)]
        if rung.filled_in:
            facts.append(("Filled in here", rung.filled_in))
        told = "".join(f"<p><strong>{name}.</strong> {escape(text)}</p>" for name, text in facts)
        if rung.module.startswith("semiring.algorithms."):
            told += f"<p>The page of code, <code>{rung.module}</code>:</p>"
            page = highlight(code(rung), PythonLexer(), HtmlFormatter(cssclass="highlight"))
        else:
            told += f"<p>The switches are in <code>{rung.module}</code>.</p>"
            page = ""
        return (f'<details id="{rung.device}-{rung.name}"><summary>{rung.year}: {escape(rung.title + time)}</summary>'
                f"{picture(rung)._repr_html_()}{told}{page}</details>")
