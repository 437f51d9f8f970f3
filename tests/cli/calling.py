"""What the tests of the command line share: answers, refusals, processes, a terminal, a graph and an algebra."""

from __future__ import annotations

import csv
import io
import subprocess
import sys

ROADS = "from,to,km\nAyr,Bute,3\nAyr,Coll,2\nBute,Coll,6\nBute,Dale,4\nColl,Dale,7\n"
OWN = """
import numpy as np
import semiring as sr
reliability = sr.Semiring("reliability", add=np.maximum, mul=np.multiply, zero=0.0, one=1.0,
                          carrier=lambda a: (0 <= a) & (a <= 1))
number = 3
"""


class Answer:
    """What a command left: its status, and what it wrote."""

    def __init__(self, status: int, out: str, err: str):
        self.status, self.out, self.err = status, out, err

    @property
    def rows(self) -> list[list[str]]:
        return list(csv.reader(io.StringIO(self.out), delimiter="\t"))


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def refused(answer: Answer) -> str:
    """The one line of a bad input."""
    assert answer.status == 2
    assert answer.out == ""
    assert answer.err.startswith("semiring: ") and answer.err.endswith("\n") and answer.err.count("\n") == 1
    return answer.err


def command(*arguments: object, **options) -> subprocess.CompletedProcess:
    """A command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "semiring", *map(str, arguments)], capture_output=True, text=True, **options
    )
