"""Options of the command line: what makes no sense is refused beside any other option, so that none is dropped."""

from __future__ import annotations

from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.calling import Answer


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


@pytest.mark.parametrize(("arguments", "why"), [
    (("explain", "--positions", "places.csv"), "--positions is of the page"),
    (("explain", "--title", "Roads"), "--title is of the page"),
    (("explain", "--tile", 3), "--tile is of methods that go by blocks"),
])
def test_what_only_a_page_has(call, roads: Path, arguments: tuple[Any, ...], why: str) -> None:
    command, *more = arguments
    answer = call(command, roads, "--algebra", "min-plus", *more)
    assert answer.status == 2 and why in answer.err


def test_what_is_compiled_needs_an_algebra(call) -> None:
    for more in (("--dtype", "f4"), ("--sparse",)):
        answer = call("warmup", "--clear", *more)
        assert answer.status == 2 and "name an algebra" in answer.err
