"""Fixtures of the command line: a call within this process, and a file of roads."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from cli.calling import ROADS, Answer

from semiring import cli


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    def run(*arguments: object, stdin: bytes | None = None) -> Answer:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        try:
            status = cli.main([str(a) for a in arguments])
        except SystemExit as e:
            status = int(e.code or 0)
        return Answer(status, *capsys.readouterr())

    return run


@pytest.fixture
def roads(tmp_path: Path) -> Path:
    file = tmp_path / "roads.csv"
    file.write_text(ROADS)
    return file
