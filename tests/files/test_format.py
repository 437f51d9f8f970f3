"""What the caller says of a file: values that mean nothing, which options were given, and numbers with commas."""

from __future__ import annotations

from pathlib import Path

import pytest
from files.reading import refused

from semiring.files.format import Format, Options
from semiring.graphs.graph import Graph


@pytest.mark.parametrize(("options", "message"), [
    ({"weight": []}, "weight=[] names no column: pass weight=None"),
    ({"decimal": "x"}, "decimal='x' is not a decimal mark: pass '.' or ','"),
    ({"names": int}, "names=<class 'int'> is not a type of names: pass names=str"),
])
def test_values_that_mean_nothing(options, message) -> None:
    with refused(message):
        Options(**options)


def test_the_options_that_were_given() -> None:
    assert Options().asked == Options(weight="km", directed=False, compact=True).asked == []
    assert Options(weight=["km", "toll"], names=str, absent=float("nan"), decimal=",").asked == [
        "weights", "decimal", "absent", "names"]
    assert Options().one_way and not Options(directed=False).one_way
    assert Options(decimal=",").number("2,5") == Options().number("2.5") == 2.5
    assert Options(decimal=",").number("2.5") is Options().number("2,5") is None


def test_a_format_needs_a_name_and_a_reader() -> None:
    def read(path: Path, data: bytes, options: Options) -> Graph:
        raise NotImplementedError

    form = Format(name="x", endings=(".x",), title="X", content="x", read=read)
    assert form.write is form.matrix is form.noted is None and form.named and not (form.takes or form.holds)
