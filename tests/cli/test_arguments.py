"""What each command takes, and how arguments that do not fit are refused."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from methods import METHODS

import semiring as sr
from semiring.cli import closure, commands, questions
from semiring.cli.arguments import BAD_INPUT, MEANT, parser


def test_version_and_help(call) -> None:
    assert call("--version").out == f"semiring {sr.__version__}\n"
    for arguments in ([], ["closure"], ["solve"], ["laws"], ["catalogue"], ["info"], ["demo"], ["nearest"],
                      ["power"], ["cycle-mean"], ["longest-path"], ["components"], ["order"]):
        answer = call(*arguments, "--help")
        assert answer.status == 0 and answer.out.startswith("usage: semiring")


def test_alone_it_prints_the_help(call) -> None:
    answer = call()
    assert (answer.status, answer.err) == (0, "") and answer.out == call("--help").out


def parsed(*arguments: str) -> Namespace:
    return parser().parse_args(arguments)


GRAPH = ["g.csv", "--algebra", "min-plus"]
COMMANDS = {
    "closure": (GRAPH, closure.run), "solve": ([*GRAPH, "b.csv"], commands.run_solve),
    "laws": (["boolean"], commands.run_laws), "catalogue": ([], commands.run_catalogue),
    "info": ([], commands.run_info), "demo": ([], commands.run_demo),
    "nearest": ([*GRAPH, "--from", "A"], questions.run_nearest), "power": ([*GRAPH, "2"], questions.run_power),
    "cycle-mean": (GRAPH, questions.run_cycle_mean), "longest-path": (["g.csv"], questions.run_longest_path),
    "components": (["g.csv"], questions.run_components), "order": (["g.csv"], questions.run_order),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_runs_its_own(name: str) -> None:
    arguments, run = COMMANDS[name]
    assert parsed(name, *arguments).run is run


@pytest.mark.parametrize("name", ["closure", "solve"])
def test_what_is_not_said_is_left_to_the_file(name: str) -> None:
    arguments = parsed(name, *COMMANDS[name][0])
    assert (arguments.file, arguments.algebra, arguments.weight) == (Path("g.csv"), "min-plus", "weight")
    for option in ("output", "dtype", "directed", "format", "header", "names", "append"):
        assert getattr(arguments, option) is None, option
    assert arguments.compact is False


@pytest.mark.parametrize(("option", "name", "value"), [
    (["--directed"], "directed", True), (["--undirected"], "directed", False), (["--unweighted"], "weight", None),
    (["--weight", "weight", "--weight", "km"], "weight", ["weight", "km"]), (["--weight", "km"], "weight", "km"),
    (["--header"], "header", True), (["--no-header"], "header", False),
    (["--text-names"], "names", str), (["-o", "c.npy"], "output", Path("c.npy")), (["--compact"], "compact", True),
    (["--append=-1,inf"], "append", "-1,inf"), (["--from", "A"], "source", ["A"]),
    (["--to", "B", "--to", "C"], "target", ["B", "C"]),
    (["--limit", "5,inf"], "limit", "5,inf"), (["--progress"], "progress", True),
    (["--no-progress"], "progress", False),
    (["--not-reflexive"], "not_reflexive", True), (["--plot", "p.png"], "plot", Path("p.png")),
    (["--positions", "p.csv"], "positions", Path("p.csv")), (["--method", "blocked"], "method", "blocked"),
    (["--packed"], "packed", True), (["--path"], "path", True), (["--format", "mtx"], "format", "mtx"),
    ([], "method", "auto"), ([], "packed", False),
])
def test_options(option: list[str], name: str, value: Any) -> None:
    found = getattr(parsed("closure", *GRAPH, *option), name)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(("arguments", "command", "words"), [
    (["close"], "semiring", "there is no command 'close'; did you mean semiring closure?"),
    (["path", "g.csv"], "semiring", "no command 'path'; use semiring closure GRAPH --algebra min-plus --path"),
    (["qqq"], "semiring", "there is no command 'qqq'; see"),
    (["closure", "g.csv"], "semiring closure", "required: --algebra"),
    (["closure", *GRAPH, "--alg", "x"], "semiring", "unrecognized arguments: --alg x"),
    (["closure", *GRAPH, "--unweighted", "--weight", "km"], "semiring closure", "not allowed with argument"),
    (["closure", *GRAPH, "--header", "--no-header"], "semiring closure", "not allowed with argument"),
    (["solve", *GRAPH], "semiring solve", "required: RHS"), (["laws"], "semiring laws", "required: ALGEBRA"),
    (["nearest", *GRAPH], "semiring nearest", "one of the arguments --from --to is required"),
    (["power", *GRAPH, "x"], "semiring power", "invalid int value: 'x'"),
    (["components", "g.csv", "--algebra", "boolean"], "semiring", "unrecognized arguments"),
    (["laws", "a", "b"], "semiring", "unrecognized arguments: b"),
    (["info", "--plot", "p.png"], "semiring", "unrecognized arguments"),
    (["closure", *GRAPH, "--from"], "semiring closure", "expected one argument"),
])
def test_what_does_not_fit_ends_in_one_line_that_names_the_help(
    capsys: pytest.CaptureFixture[str], arguments: list[str], command: str, words: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        parsed(*arguments)
    out, err = capsys.readouterr()
    assert caught.value.code == BAD_INPUT == 2 and out == ""
    assert err.startswith("semiring: ") and err.endswith(f"; see {command} --help\n") and err.count("\n") == 1
    assert words in err


def test_the_help_names_every_method(call) -> None:
    shown = " ".join(call("closure", "--help").out.split())
    assert all(method in shown for method in METHODS if method != "auto")


@pytest.mark.parametrize("meant", MEANT)
def test_what_a_name_means_is_a_command(meant: str) -> None:
    words = meant.partition(",")[0].replace("GRAPH", "g.csv").replace(" K", " 2").replace(" N", " 5").split()[1:]
    if words[0] in ("solve", "power", "cycle-mean", "explain"):
        words += ["--algebra", "min-plus"]
    assert parsed(*words).run
    assert not set(MEANT[meant].split()) & set(parser().commands)
