"""What processes of MPI's share: errors, messages in pieces, processors; more of it where closures are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from together import needs_mpi, run

from semiring.scale import ranks
from semiring.scale.ranks import Agreed, agreed, broadcast, ending_together, message_rate, nudge, pieces, raw, wait


class Alone:
    """A communicator of one process."""

    rank, size = 0, 1

    def allgather(self, value: Any) -> list[Any]:
        return [value]

    def Abort(self, status: int) -> None:
        raise AssertionError("one process ends by its own error")


def test_bytes_of_any_elements() -> None:
    for dtype in ("f4", "?", "i8", np.dtype([("a", "f8"), ("b", "i1")], align=True)):
        A = np.zeros((3, 5), dtype)
        raw(A[1:])[...] = 1
        assert raw(A).nbytes == A.nbytes and raw(A[:1]).sum() == 0 and raw(A[1:]).all()
    assert raw(np.empty((0, 4))).nbytes == raw(np.empty((4, 0))).nbytes == 0


def test_messages_are_cut_into_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "PIECE_BYTES", 10)
    A = np.arange(7.0)
    assert [p.nbytes for p in pieces(A)] == [10] * 5 + [6] and pieces(A[:0]) == []
    assert b"".join(p.tobytes() for p in pieces(A)) == A.tobytes()


def test_one_process_sends_nothing() -> None:
    assert broadcast(np.zeros(3), 0, Alone()) == []
    wait([])
    nudge([])


def test_an_error_of_one_is_that_of_all() -> None:
    class Two(Alone):
        def allgather(self, value: Any) -> list[Any]:
            return [value, KeyError("of the other")]

    assert agreed(Alone(), lambda: 3) == 3
    with pytest.raises(Agreed) as caught:
        agreed(Two(), lambda: 3)
    assert caught.value.args[0].args == ("of the other",)
    with pytest.raises(ZeroDivisionError), ending_together(Alone()):
        agreed(Alone(), lambda: 1 // 0)
    with pytest.raises(KeyError), ending_together(Alone()):
        raise KeyError


def test_what_nobody_else_knows_of_ends_the_job(capsys: pytest.CaptureFixture[str]) -> None:
    class Two(Alone):
        size, status = 2, 0

        def Abort(self, status: int) -> None:
            self.status = status

    two = Two()
    with pytest.raises(KeyError), ending_together(two):
        raise KeyError("alone")
    assert two.status == 1 and "rank 0 of 2 failed, which ends the job" in capsys.readouterr().err


@pytest.mark.slow
@needs_mpi
def test_fair_shares() -> None:
    assert run(2, "threads").stdout.count("fine") == 2


def test_one_process_waits_for_no_message() -> None:
    assert message_rate(Alone()) == np.inf
