"""Options of the command line: what makes no sense is refused beside any other option, so that none is dropped."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.calling import Answer

import semiring as sr
from semiring import cli
from semiring.cli import questions
from semiring.cli.arguments import COMMANDS, parser
from semiring.cli.options import CLOSURE, GRAPH, STORED, of_verb, option, refuse
from semiring.solvers import ways


def closure_options(folder: Path) -> dict[str, tuple[list[Any] | None, list[Any] | None]]:
    """Of `closure`, arguments that make sense, and some that do not where an option takes a value."""
    return {
        "--from": (["--from", "Ayr"], ["--from", "Nowhere"]), "--to": (["--to", "Coll"], ["--to", "Nowhere"]),
        "--path": (["--path"], None), "--limit": (["--limit", 5], ["--limit", "near"]),
        "--not-reflexive": (["--not-reflexive"], None), "--tol": (["--tol", 0.5], ["--tol", -1]),
        "--packed": (["--packed"], None), "--memory": (["--memory", "1M"], ["--memory", "much"]),
        "--checkpoint": (["--checkpoint", 60], ["--checkpoint", -1]), "--resume": (["--resume"], None),
        "--devices": (["--devices", 1], ["--devices", "all"]), "--device": (["--device", "cpu"], ["--device", "tpu"]),
        "--on": (None, ["--on", "all"]), "--method": (["--method", "blocked"], ["--method", "fastest"]),
        "--plot": (["--plot", folder / "c.png"], ["--plot", folder / "none" / "c.png"]),
        "--positions": (["--positions", folder / "places.csv"], ["--positions", folder / "none.csv"]),
        "-o": (["-o", folder / "c.npy"], ["-o", folder / "c.docx"]), "--undirected": (["--undirected"], None),
        "--format": (["--format", "edges"], ["--format", "docx"]), "--header": (["--header"], None),
        "--text-names": (["--text-names"], None), "--compact": (["--compact"], None),
        "--weight": (["--weight", "km"], ["--weight", "miles"]), "--dtype": (["--dtype", "f8"], ["--dtype", "f7"]),
        "--append": (None, ["--append", "1"]), "--progress": (["--progress"], None),
    }


def test_what_makes_no_sense_is_refused_beside_every_other_option(call, roads: Path, tmp_path: Path) -> None:
    (tmp_path / "places.csv").write_text("Ayr,0,0\nBute,1,0\nColl,0,1\nDale,1,1\n")
    options, found = closure_options(tmp_path), []
    for first, second in permutations(options, 2):
        bad, good = options[first][1], options[second][0]
        if bad is None or good is None:
            continue
        algebra = "boolean" if "--packed" in good else "min-plus"
        answer: Answer = call("closure", roads, "--algebra", algebra, *bad, *good)
        if answer.status != 2 or not answer.err:
            found.append(f"{bad} beside {good}: status {answer.status}, {answer.err}")
    assert not found, "\n".join(found)


def test_two_options_are_both_honoured_or_one_is_refused_by_name(call, roads: Path, tmp_path: Path) -> None:
    (tmp_path / "places.csv").write_text("Ayr,0,0\nBute,1,0\nColl,0,1\nDale,1,1\n")
    options, found = closure_options(tmp_path), []
    for first, second in combinations(options, 2):
        if options[first][0] is None or options[second][0] is None:
            continue
        for file in tmp_path.glob("c.*"):
            file.unlink()
        asked = [*options[first][0], *options[second][0]]
        algebra = "boolean" if "--packed" in asked else "min-plus"
        answer: Answer = call("closure", roads, "--algebra", algebra, *asked)
        if answer.status == 2:
            if not any(name.lstrip("-") in answer.err for name in (first, second)) and "GPU" not in answer.err:
                found.append(f"{asked}: {answer.err}")
            continue
        found += [f"{asked}: no effect of {name}" for name in (first, second)
                  if not seen(name, answer, tmp_path, asked)]
    assert not found, "\n".join(found)


def seen(name: str, answer: Answer, folder: Path, asked: list[Any]) -> bool:
    """Whether an option had its effect, as far as it can be seen."""
    rows, to_file = answer.rows, "-o" in asked
    pairs = any(option in asked for option in ("--from", "--to", "--path", "--limit")) and not to_file
    if name == "-o":
        return (folder / "c.npy").exists() and answer.out == ""
    if name == "--plot":
        return (folder / "c.png").exists()
    if name == "--from":
        return to_file or all(row[0] == "Ayr" for row in rows)
    if name == "--to":
        return to_file or all(row[1] == "Coll" for row in rows)
    if name == "--path":
        return all(len(row) > 3 for row in rows if row[0] != row[1] and row[2] != "inf")
    if name == "--limit":
        return all(float(row[2]) <= 5 for row in rows)
    if name == "--not-reflexive":
        values = np.load(folder / "c.npy") if to_file else None
        if values is not None:
            return values.ndim == 2 and (len(values) < 4 or not values.diagonal().any() or bool((values[0] != 0).all()))
        return not any(row[0] == row[1] and row[2] == "0" for row in rows) if pairs else True
    return True


def test_two_options_are_refused_where_the_library_refuses_them(call, roads: Path, tmp_path: Path) -> None:
    """Both follow from the table of ways."""
    library = {"--tol": {"tol": 0.5}, "--packed": {"packed": True}, "--memory": {"memory": "1M"}, "--resume":
               {"resume": True}, "--checkpoint": {"checkpoint": 60.0}, "--devices": {"devices": 1}, "--device":
               {"device": "cpu"}, "--method": {"method": "blocked"}, "--not-reflexive": {"reflexive": False}}
    assert {row.flag for row in CLOSURE if row.parameter} - {"--limit", "--on"} == set(library)
    options = closure_options(tmp_path)
    for first, second in combinations(library, 2):
        asked = library[first] | library[second]
        to_file = asked.keys() & {"memory", "resume", "checkpoint"}
        refused = ""
        try:
            sr.closure(sr.read_graph(roads), "boolean" if "packed" in asked else "min-plus",
                       out=tmp_path / "d.npy" if to_file else None, **asked)
        except sr.SemiringError as e:
            refused = str(e)
        answer: Answer = call("closure", roads, "--algebra", "boolean" if "packed" in asked else "min-plus", "-o",
                              tmp_path / "c.npy", *options[first][0], *options[second][0])
        assert ("has no option" in refused) == ("has no option" in answer.err), (first, second, refused, answer.err)


NO_FLAG = {  # options that have no meaning for a file that is read, computed on once, and printed
    "closure": {"check", "overwrite", "tile", "on_divergence", "max_edges", "gpu_memory"}, "solve": {"check", "left"},
    "power": {"check"}, "nearest": set(), "cycle_mean": set(),
}


@pytest.mark.parametrize("verb", NO_FLAG)
def test_options_of_a_command_are_those_of_its_verb(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both follow from the table of ways: an option that a way takes is one of the command."""
    rows = of_verb(verb)
    assert {STORED.get(row.name, row.name) for row in rows} | NO_FLAG[verb] == ways.options_of(verb)
    given = {row.flag for row in COMMANDS[verb.replace("_", "-")].options}
    assert given >= {row.flag for row in rows}
    monkeypatch.setattr(ways, "WAYS", (*ways.WAYS, ways.way(verb, "toy", "tol")))
    assert "--tol" in {row.flag for row in of_verb(verb)}


def test_a_command_passes_its_options_on(call, roads: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(questions, "power", lambda A, S, k, **more: seen.append(more) or sr.power(A, S, k, **more))
    plain, asked = (call("power", roads, "2", "--algebra", "min-plus", *more) for more in ((), ("--device", "cpu")))
    assert seen == [{}, {"device": "cpu"}] and plain.out == asked.out and not asked.status
    rhs = roads.with_name("rhs.csv")
    rhs.write_text("Ayr,0\n")
    answers = [call("solve", roads, rhs, "--algebra", "min-plus", *more) for more in ((), ("--device", "cpu"))]
    assert answers[0].out == answers[1].out and not answers[1].status


@pytest.mark.parametrize(("arguments", "why"), [
    (("explain", "--positions", "places.csv"), "--positions is for the page"),
    (("explain", "--title", "Roads"), "--title is for the page"),
    (("explain", "--tile", 3), "--tile is for methods with blocks"),
])
def test_what_only_a_page_has(call, roads: Path, arguments: tuple[Any, ...], why: str) -> None:
    command, *more = arguments
    answer = call(command, roads, "--algebra", "min-plus", *more)
    assert answer.status == 2 and why in answer.err


def test_what_is_compiled_needs_an_algebra(call) -> None:
    for more in (("--dtype", "f4"), ("--sparse",)):
        answer = call("warmup", "--clear", *more)
        assert answer.status == 2 and "name an algebra" in answer.err


ROWS = (*GRAPH, *CLOSURE)
GIVEN = {
    "--weight": ["km"], "--append": ["1"], "--source": ["a"], "--target": ["b"], "--format": ["csv"],
    "--decimal": [","], "--absent": ["0"], "--label": ["id"], "--dtype": ["f4"], "-o": ["c.npy"], "--from": ["a"],
    "--to": ["b"], "--limit": ["5"], "--tol": ["0"], "--memory": ["1G"], "--checkpoint": ["0"], "--devices": ["2"],
    "--device": ["cpu"], "--on": ["mpi"], "--method": ["blocked"], "--plot": ["p.png"], "--positions": ["p.csv"],
}


def test_a_row_knows_whether_its_option_is_given() -> None:
    plain = ["closure", "g.csv", "--algebra", "min-plus"]
    always = {"file", "--algebra"}
    assert {row.flag for row in ROWS if row.is_given(parser().parse_args(plain))} == always
    for row in ROWS:
        if row.flag not in {*always, "--progress"}:
            arguments = parser().parse_args([*plain, row.flag, *GIVEN.get(row.flag, [])])
            assert {other.flag for other in ROWS if other.is_given(arguments)} == {*always, row.flag}


def test_what_messages_say_in_python_is_an_option_of_the_library() -> None:
    verbs = sr.read_graph, sr.adjacency, sr.closure, sr.paths
    known = {name for verb in verbs for name in signature(verb).parameters}
    for row in ROWS:
        assert not row.parameter or row.parameter.partition("=")[0] in known, row
        said = "pass " + (row.parameter if "=" in row.parameter else f"{row.parameter}=7")
        expected = row.flag if "=" in row.parameter else f"{row.flag} 7"
        assert not row.parameter or cli._line(said) == f"pass {expected}"


def test_an_option_is_a_row(call, roads: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row of a command is all that parsing, help and refusals need."""
    seen = []
    row = option("--colour", "the colour of {kinds} graphs", "colour", metavar="NAME")
    toy = replace(COMMANDS["order"], options=(*COMMANDS["order"].options, row),
                  run=lambda arguments: seen.append((arguments.colour, row.is_given(arguments))) or 0)
    monkeypatch.setitem(COMMANDS, "order", toy)
    assert call("order", roads, "--colour", "red").status == call("order", roads).status == 0
    assert seen == [("red", True), (None, False)]
    assert "--colour NAME the colour of uniform" in " ".join(call("order", "--help").out.split())
    with pytest.raises(sr.SemiringError, match="in grey: leave out --colour"):
        refuse(parser().parse_args(["order", "g.csv", "--colour", "red"]), "in grey", [row])
