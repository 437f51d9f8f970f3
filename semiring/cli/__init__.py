"""The command line: graphs from files, answers as tab-separated text on stdout, one line on stderr for bad input."""

from __future__ import annotations

import ast
import errno
import io
import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from semiring.errors import SemiringError
from semiring.graphs.texts import shown

from .arguments import parser
from .inputs import BAD_INPUT
from .options import SPELLED
from .output import refuse_inputs

# What messages of the library say in Python, and how the command line says it. Texts in quotation marks do not change.
SWITCHES = {said: flag for said, flag in SPELLED.items() if "=" in said}
NAMES = {said.removesuffix("=True"): flag for said, flag in SPELLED.items() if "=" not in said or "=True" in said}
QUOTATION = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
SPOKEN = re.compile(
    rf"(?<![\w=])(?:{QUOTATION})|(?<![\w.<])(?<!without )(?:(?P<switch>{'|'.join(SWITCHES)})\b"
    rf"|(?P<name>{'|'.join(NAMES)})="
    rf"(?P<value>{QUOTATION}|[-+]?\w+(?:\.\w+)*(?:[-+][0-9]+)?)?(?![\w…<]))"
)
INTERRUPTED = 130  # exit status of a shell for Ctrl-C
BROKEN_PIPE = 141  # exit status for a reader that went away


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments. Default: those of the process.

    Returns
    -------
    int
        The exit status: 0 for an answer, 1 for a broken law or a demo that SciPy contradicts, 2 for bad input.
    """
    if sys.stderr is None:  # closed by the shell; print would use standard output instead
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if sys.stdout is None:
        sys.stdout = _Closed()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # for terminals without ⊕
    try:
        arguments = parser().parse_args(argv)
        if vars(arguments).get("on") is None:  # otherwise the first of several processes does it
            refuse_inputs(arguments)
        with _warnings_in_one_line():
            status: int = arguments.run(arguments)
        sys.stdout.flush()
        return status
    except SemiringError as e:
        return _complain(e)
    except MemoryError as e:
        return _complain(f"there is not enough memory: {e or 'use a narrower dtype or a part of the graph'}")
    except BrokenPipeError:
        _drop_stdout()
        return BROKEN_PIPE
    except OSError as e:
        _drop_stdout()
        return _complain(f"{e.filename or 'the answer'}: {e.strerror or e}")
    except KeyboardInterrupt:
        return _interrupted()
    except RuntimeError as e:
        if not isinstance(e.__cause__, KeyboardInterrupt):
            raise
        return _interrupted()  # Python 3.11 raises this if a class was being created


def _interrupted() -> int:
    # If exec was interrupted (dataclasses call it), `python -m` ends by the signal, whatever is returned here. The next
    # exec that succeeds makes CPython forget the signal.
    exec("")
    return INTERRUPTED


class _Closed(io.TextIOBase):
    """Standard output that the shell has closed; writing to it is an error."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")


def _drop_stdout() -> None:
    """Discard buffered output that has no reader or no room; Python would report it at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(problem: object) -> int:
    print("semiring:", _line(problem), file=sys.stderr)
    return BAD_INPUT


def _line(message: object) -> str:
    """A message in one line, with options as the command line spells them.

    >>> _line("which of the columns ['km', 'weight=2'] is the weight? Pass weight='km', say, or weight=None")
    "which of the columns ['km', 'weight=2'] is the weight? Pass --weight km, say, or --unweighted"
    """
    def spelled(found: re.Match[str]) -> str:
        if found["switch"]:
            return SWITCHES[found["switch"]]
        if not found["name"]:
            return found[0]
        value = found["value"] or ""
        if value[:1] in ("'", '"'):
            value = shlex.quote(str(ast.literal_eval(value)))
        follows = value or found.string[found.end() : found.end() + 1] in tuple("/[")
        return f"{NAMES[found['name']]}{' ' if follows else ''}{value.removeprefix('numpy.')}"

    return shown(SPOKEN.sub(spelled, " ".join(str(message).split())))


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    def show(message: Warning | str, *where: Any, **more: Any) -> None:
        print("semiring: warning:", _line(message), file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield
