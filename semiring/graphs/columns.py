"""Find the columns of a table of edges by their names: the two ends, the weights, and the direction.

If the names say nothing, the first columns are used: the two ends and then a weight. If there are more, an error asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semiring.errors import GraphError

from .names import is_hashable, is_integer, is_missing, is_truth, near
from .texts import quoted


class Unclear(GraphError):
    """An error for columns or attributes that are ambiguous, and that the caller can name."""


class _Clear:
    """A value for `weight`: use weights only if they are unambiguous, for questions that do not need them."""

    def __repr__(self) -> str:
        return "'weight'"


IF_CLEAR: Any = _Clear()
MISSING = object()  # in place of the weight of an edge that lacks the attribute
WeightColumns = str | int | list[Any] | tuple[Any, ...] | None  # one column, several that make records, or none

# Names for the two ends of an edge, each of the first with each of the second; the first match counts.
CALLED = (
    ("from", "to"), ("source src", "target tgt destination dest dst sink"), ("u", "v"),
    ("origin orig", "destination dest dst"), ("start begin", "end finish"), ("row", "col column"),
    ("sender", "receiver recipient"), ("parent", "child"), ("predecessor", "successor"), ("citing", "cited"),
    ("follower", "followee"), ("caller", "callee"), ("buyer", "seller"), ("payer", "payee"), ("reporter", "partner"),
    ("pickup", "dropoff"), ("departure depart dep", "arrival arrive arr"), ("init initial", "term terminal"),
    ("inlet", "outlet"), ("upstream", "downstream"), ("anode", "bnode"), ("inode", "jnode"), ("ego", "alter"),
    ("current", "next"), ("regulator", "target"), ("exporter", "importer"), ("subject", "object"),
    ("von", "nach"), ("origen", "destino"), ("origem", "destino"), ("origine", "destination"),
)
ENDS = tuple((a, b) for first, second in CALLED for a in first.split() for b in second.split())
# These may also be names of vertices, so they do not make a line a heading.
NUMBERED = (("1", "2"), ("0", "1"), ("a", "b"), ("i", "j"), ("o", "d"), ("head", "tail"), ("tail", "head"))
EITHER_WAY = ("head", "tail")  # arcs go from tail to head, statements of knowledge from head to tail: as they stand
NODES = {"id", "ids", "node", "nodeid", "nodes", "vertex", "vertexid", "stop", "stopid", "no", "nr", "number"}
# Other properties of an end, in addition to its name: the times of a journey, for example.
TOLD = re.compile("(time|date|lat).*|.*(time|date)|day|hour|year|age|lon|lng|long|longitude|type|kind|weights?|w|cost|"
                  "length|distance|dist|score|value|size|count|speed|capacity|degree")
PLACES = ("x", "y")  # coordinates, unless nothing else could be the ends
SAVED = ("", "unnamed: 0", "index", "__index_level_0__")  # names of a saved index
KEYS = ("id", "ids", "key", "keys", "fid", "gid", "eid", "oid", "edge", "osmid", "uuid")
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
WORD = re.compile(r"[^\W0-9_]+|[0-9]+")

# Columns that say whether an edge goes both ways, and their values: False if it does not.
DIRECTIONS = {
    "type": {"directed": False, "undirected": True},
    "directed": {"true": False, "1": False, "yes": False, "false": True, "0": True, "no": True},
    "isbidirectional": {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False},
}
DIRECTIONS["bidirectional"] = DIRECTIONS["isbidirectional"]
DIRECTIONS["isdirected"] = DIRECTIONS["directed"]

Sample = Callable[[int], Any]  # the first element of a column


class Chosen(NamedTuple):
    """The positions of the chosen columns."""

    source: int
    target: int
    weights: tuple[int, ...]  # none, one, or several that make records
    ways: int | None = None  # of what says which edges go both ways

    @property
    def taken(self) -> tuple[int, ...]:
        """The columns of the ends and the weights, in this order."""
        return self.source, self.target, *self.weights


class _Pair(NamedTuple):
    """Two columns whose names match as the two ends of an edge."""

    rank: int
    order: int  # of the pair of names in the table above
    rest: str  # the common rest of both names
    source: int
    target: int


def table_columns(
    header: Sequence[Any], weight: WeightColumns, source: str | int | None = None, target: str | int | None = None,
    levels: int = 0, sample: Sample = lambda k: None,
) -> Chosen:
    """Choose the columns of a table that hold the source, the target and the weights (none, one or several).

    Parameters
    ----------
    header : sequence
        The names of the columns; integers if they have no names.
    weight, source, target
        The names or numbers that the caller passed.
    levels : int
        The number of first columns that are levels of an index.
    sample : callable
        The first element of a column, if there is one: only numbers can be the weight if nothing names it.

    Raises
    ------
    GraphError
        For a column that does not exist, is used twice, or shares its name with others, and if the choice is not
        clear.
    """
    several = isinstance(weight, (list, tuple))
    if len(header) < 2:
        raise GraphError(f"a table of edges needs two columns or more, but this one has {quoted(list(header))}")
    if (source is None) != (target is None):
        raise GraphError("source= and target= name the two ends of an edge: pass both, or neither")
    heavy: list[int] = []
    if isinstance(weight, (list, tuple)):
        heavy = [_column(header, name, "weight", levels) for name in weight]
    elif (found := place_of(header, "weight" if weight in (None, IF_CLEAR) else weight, levels)) is not None:
        heavy = [found]
    if source is None or target is None:
        ends = _ends(header, weight, heavy, levels)
    else:
        ends = _column(header, source, "source", levels), _column(header, target, "target", levels)
        _refuse_twice(header, ends)
        if weight in (None, "weight", IF_CLEAR):
            heavy = [k for k in heavy if k not in ends]
    free = [k for k in range(levels, len(header)) if k not in ends and k not in heavy]
    ways = next((k for k in free if _says_ways(header[k], partial(sample, k))), None)
    if weight is None:
        heavy = []
    elif not several and not heavy:
        heavy = _guessed(header, weight, [k for k in free if k != ways], sample)
    _refuse_twice(header, (*ends, *heavy))
    return Chosen(*ends, tuple(heavy), ways)


def _ends(header: Sequence[Any], weight: WeightColumns, heavy: Sequence[int], levels: int) -> tuple[int, int]:
    """The columns of the ends, if the caller does not name them."""
    known = (_known(header[:levels], ()) if levels > 1 else None) or _known(header, heavy)
    if weight not in (None, "weight", IF_CLEAR):
        pair = min(_pairs(header, ()), default=None)
        if pair is not None and pair.rank < 3 and (end := next((k for k in heavy if k in pair[-2:]), None)) is not None:
            raise GraphError(f"the column {quoted(header[end])} holds an end of the edges, not their weights: pass "
                             "weight=None")
    if known is not None:
        return known.source, known.target
    light = [k for k in range(levels if levels == 1 else 0, len(header)) if k not in heavy]
    if len(light) < 2 and not heavy:
        raise GraphError("a table of edges needs two columns or more, but this one has "
                         f"{quoted(list(header[levels:]))}")
    if len(light) < 2:
        raise GraphError(
            f"of the columns {quoted(list(header))} one is the weight, which leaves one for the two ends of an edge"
        )
    unsaved = [k for k in light if not _is_saved(header, k)]
    light = unsaved if len(unsaved) > 1 else light
    named = not all(map(is_integer, header))
    keyed = any(map(is_key, (header[k] for k in light))) and len(light) > 2
    if named and (len(light) > (2 if heavy else 3) or keyed):
        raise Unclear(f"which columns are the two ends of an edge? None of {quoted([header[k] for k in light])} is "
                         f"called as ends are, such as from and to: pass source={quoted(header[light[0]])} and "
                         f"target={quoted(header[light[1]])}, say")
    return light[0], light[1]


def _guessed(header: Sequence[Any], weight: Any, free: Sequence[int], sample: Sample) -> list[int]:
    """The column of weights if the caller names none: the only other column, or the only one with numbers."""
    if weight not in ("weight", IF_CLEAR):
        raise GraphError(f"no column is called {quoted(weight)}{near(weight, [header[k] for k in free])}; the columns "
                         f"are {quoted(list(header))}")
    found = [k for k in free if not is_key(header[k]) and not _is_saved(header, k)]
    if len(found) > 1:
        found = [k for k in found if _is_number(sample(k))] or found
    if len(found) > 1 and weight is IF_CLEAR:
        return []
    if len(found) > 1:
        raise Unclear(which_weight("columns", [header[k] for k in found]))
    return found


def which_weight(what: str, names: Sequence[Any]) -> str:
    """Ask which of some columns or attributes is the weight."""
    return (f"which of the {what} {quoted(list(names))} is the weight? Pass weight={quoted(names[0])}, say, or "
            "weight=None for none")


def only_attribute(edges: Iterable[Mapping[Any, Any]], weight: WeightColumns) -> Any:
    """The attribute with the weights if none is called weight: the only one with numbers; None if there is none.

    Raises
    ------
    GraphError
        If there are several, or some edges lack it.

    Examples
    --------
    >>> only_attribute([{"km": 3, "road": "A1"}, {"km": 2.5}], "weight")
    'km'
    """
    counts: dict[Any, int] = {}
    others, m = set(), 0
    for attributes in edges:
        m += 1
        for name, value in attributes.items():
            if isinstance(value, Number) and not is_truth(value):
                counts[name] = counts.get(name, 0) + 1
            elif value is not None:
                others.add(name)
    found = [name for name in counts if name not in others and not is_key(name)]
    if not found or (weight is IF_CLEAR and (len(found) > 1 or counts[found[0]] < m)):
        return None
    if len(found) > 1:
        raise Unclear(which_weight("attributes", found))
    if counts[found[0]] < m:
        raise Unclear(f"{m - counts[found[0]]} of {m} edges have no {quoted(found[0])}, the only attribute of "
                         f"numbers: pass weight={quoted(found[0])} to count them as 1, or weight=None for no weights")
    return found[0]


def attribute_weights(
    ends: tuple[Sequence[Any], Sequence[Any]], weights: list[Any], weight: Any, default: Any,
    attributes: Callable[[], list[str]],
) -> list[Any] | None:
    """Weights that are an attribute, MISSING for edges without it; None if no edge has it, and none must.

    Raises
    ------
    GraphError
        If no edge has an attribute that the caller names, or some edges have no number.
    """
    lacking = [i for i, w in enumerate(weights) if w is MISSING]
    if len(lacking) == len(weights):
        if weights and weight not in (None, "weight"):
            hint = near(weight, attributes())
            raise GraphError(f"no edge has the attribute {quoted(weight)}{hint}; weight=None leaves weights out")
        return None
    if lacking and default is None:
        if not all(w is MISSING or isinstance(w, Number) for w in weights):
            i = lacking[0]
            raise GraphError(f"edge {i} ({quoted(ends[0][i])} → {quoted(ends[1][i])}) has no {quoted(weight)} and "
                             "others do: pass default=")
        default = 1
    return [default if w is MISSING else w for w in weights]


def names_ends(header: Sequence[Any]) -> bool:
    """Whether the names of columns match as ends of edges, and are unlikely as names of vertices.

    >>> names_ends(["id", "from_node", "to_node"]), names_ends(["a", "b"]), names_ends(["node1", "node2"])
    (True, False, False)
    """
    try:
        found = _known(header, ())
    except GraphError:  # more than once
        return True
    return found is not None and found.rank < 3


def called_as_ends(header: Sequence[Any]) -> bool:
    """Whether two columns have names of ends.

    >>> called_as_ends(["from", "to", "km"]), called_as_ends(["ayr", "bute"])
    (True, False)
    """
    return any(True for _ in _pairs(header, ()))


def _known(header: Sequence[Any], heavy: Sequence[int]) -> _Pair | None:
    """The pair of columns with names of ends.

    Raises
    ------
    GraphError
        If there are several pairs.
    """
    pairs = sorted(_pairs(header, heavy))
    if not pairs or pairs[0].rank in (0, 3):
        return pairs[0] if pairs else None
    best = {pair[-2:]: pair for pair in sorted(pairs, key=lambda pair: pair[-2:]) if pair.rank == pairs[0].rank}
    found = min(best.values(), key=lambda pair: len(pair.rest))
    if all(pair.rest.startswith(found.rest) and (pair is found or pair.rest != found.rest) for pair in best.values()):
        return found  # the airports, and not their other properties
    listed = " or ".join(f"{quoted(header[pair.source])} and {quoted(header[pair.target])}" for pair in best.values())
    raise Unclear(f"which columns are the two ends of an edge, {listed}? Pass source={quoted(header[found.source])} "
                     f"and target={quoted(header[found.target])}, say")


def _pairs(header: Sequence[Any], heavy: Sequence[int]) -> Iterator[_Pair]:
    """All pairs of columns whose names may be those of ends."""
    called: dict[str, dict[tuple[str, str], int]] = {}
    for k, name in enumerate(header):
        if isinstance(name, str) and k not in heavy:
            for word, rest in _words(name):
                called.setdefault(word, {}).setdefault(rest, k)
    for order, (first, second) in enumerate((*ENDS, *NUMBERED)):
        firsts, seconds = called.get(first, {}), called.get(second, {})
        for rest in firsts.keys() & seconds.keys():
            source, target = firsts[rest], seconds[rest]
            both, alone = "".join(rest), order >= len(ENDS)
            told = TOLD.fullmatch(both) or (alone and both in PLACES)
            if source == target or told or (not both and first.isdigit()):
                continue
            if first in EITHER_WAY:
                source, target = sorted((source, target))
            rank = 5 if both in PLACES else 3 * alone + (0 if not both else 1 if alone or both in NODES else 2)
            yield _Pair(rank, order, both, source, target)


ALL = dict.fromkeys(word for pair in (*ENDS, *NUMBERED) for word in pair)


def _words(name: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """The names of ends that a name contains, with the text before and after each.

    >>> list(_words("from_node"))
    [('from', ('', 'node'))]
    """
    words = _split(name)
    whole = "".join(words)
    for word in ALL:
        found = [("".join(words[:k]), "".join(words[k + 1 :])) for k, each in enumerate(words) if each == word]
        if len(word) > 1 and not found:  # without a separator, as in fromnodeid
            if whole.startswith(word):
                found.append(("", whole[len(word) :]))
            if whole.endswith(word):
                found.append((whole[: -len(word)], ""))
        for rest in found:
            yield word, rest


def _split(name: Any) -> list[str]:
    return [word.lower() for word in WORD.findall(CAMEL.sub(" ", str(name)))]


def plain(name: Any) -> str:
    """A name for comparisons: lower case, without separators between its words."""
    return "".join(_split(name)) or str(name)


def _is_saved(header: Sequence[Any], k: int) -> bool:
    """Whether a column is an index that was saved with the table: the first column, or named as Arrow does.

    Two columns without names are levels of an index, which may be ends.
    """
    called = str(header[k]).strip().lower()
    return called == SAVED[-1] or (k == 0 and called in SAVED and header[:2] != ["", ""])


def is_key(name: Any) -> bool:
    """Whether the name of a column is that of edge numbers, which are not weights.

    >>> is_key("link_id"), is_key("key"), is_key("lid")
    (True, True, False)
    """
    return plain(name) in KEYS or _split(name)[1:][-1:] == ["id"]


def _is_number(x: Any) -> bool:
    return isinstance(x, Number) and not is_truth(x) and not is_missing(x)


def _says_ways(name: Any, first: Callable[[], Any]) -> bool:
    """Whether a column says which edges go both ways, by its name and its first element."""
    return _way(first()) in known if (known := DIRECTIONS.get(plain(name))) else False


def _way(x: Any) -> str:
    return str(x).strip().lower().removesuffix(".0")


def go_both_ways(name: Any, values: Sequence[Any], place: Callable[[int], str]) -> NDArray[np.bool_]:
    """Read from a column which edges go both ways.

    Raises
    ------
    GraphError
        For an edge with an unknown value; `place` names it.
    """
    known = DIRECTIONS[plain(name)]
    for i, value in enumerate(values):
        if _way(value) not in known:
            raise GraphError(f"{place(i)}: the column {quoted(name)} holds {quoted(value)}; to say whether an "
                             f"edge goes both ways it must be one of {', '.join(known)}")
    return np.fromiter((known[_way(value)] for value in values), bool, len(values))


def turned(columns: list[np.ndarray], both: NDArray[np.bool_]) -> tuple[list[np.ndarray], bool]:
    """The columns of edges, sources and targets first, and whether edges go one way.

    If only some go both ways, each of these occurs once more after the others, reversed.
    """
    if both.all() or not both.any():
        return columns, not both.any()
    sources, targets, *weights = columns
    back = both & (sources != targets).astype(bool)
    pairs = ((sources, targets), (targets, sources), *((w, w) for w in weights))
    return [np.concatenate([first, then[back]]) for first, then in pairs], True


def place_of(header: Sequence[Any], name: Any, levels: int = 0) -> int | None:
    """The position of a column by its name (ignoring case, if that is unique) or by its number; or None.

    Numbers count from 0 behind the levels of an index.

    >>> place_of(["from", "to", "km"], "KM"), place_of(["from", "to", "km"], 2), place_of([0, 1, 2], "2")
    (2, 2, 2)
    """
    if not is_hashable(name) or is_truth(name):
        return None
    if name in header:
        return list(header).index(name)
    same = [str(column).strip().lower() for column in header]
    if isinstance(name, str) and same.count(name.strip().lower()) == 1:
        return same.index(name.strip().lower())
    number = int(name) if isinstance(name, str) and re.fullmatch("[0-9]{1,9}", name) else name
    return levels + int(number) if is_integer(number) and 0 <= number < len(header) - levels else None


def _column(header: Sequence[Any], name: Any, what: str, levels: int) -> int:
    """The position of a column.

    Raises
    ------
    GraphError
        If there is none, or two in different spelling.
    """
    found = place_of(header, name, levels)
    if found is None:
        raise GraphError(f"no column is called {quoted(name)}{near(name, list(header))}, needed as the {what}; "
                         f"the columns are {quoted(list(header))}")
    return found


def _refuse_twice(header: Sequence[Any], chosen: Sequence[int]) -> None:
    twice = next((k for i, k in enumerate(chosen) if k in chosen[:i]), None)
    if twice is not None:
        raise GraphError(f"the column {quoted(header[twice])} is used twice: pass different ones as source, "
                         "target and weights")
    names = list(header)
    for k in chosen:
        if names[k] != "" and names.count(names[k]) > 1:
            other = next(j for j, name in enumerate(names) if name == names[k] and j != k)
            raise GraphError(f"two columns are called {quoted(names[k])}, numbers {min(k, other)} and "
                             f"{max(k, other)}: rename one, or leave it out")


def in_records(names: Sequence[Any], columns: Sequence[Any]) -> np.ndarray:
    """Combine columns of numbers into records with their names.

    Raises
    ------
    GraphError
        For a column that does not hold numbers.
    """
    parts = [np.asarray(column) for column in columns]
    called = [str(name) or f"column {k}" for k, name in enumerate(names)]
    for name, part in zip(called, parts, strict=True):
        if part.dtype.kind not in "biuf":
            raise GraphError(f"the column {quoted(name)} holds {part.dtype}, but a component of a weight is a number")
    made = np.empty(len(parts[0]), [(name, part.dtype) for name, part in zip(called, parts, strict=True)])
    for name, part in zip(called, parts, strict=True):
        made[name] = part
    return made


def says_edges(header: Sequence[str]) -> bool:
    """Whether names of columns say that the rows below are edges, and not those of a matrix of these vertices."""
    words = ["".join(WORD.findall(name.lower())) for name in header]
    return names_ends(header) or any(word in KEYS or TOLD.fullmatch(word) for word in words)
