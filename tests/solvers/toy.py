"""Two ways of one file, to see that a file and rows are all that a way, an option and a verb need.

`closure` with `backwards`, and the verb `columns`, are those of the transposed matrix.
"""

from __future__ import annotations

from dataclasses import replace

from semiring.solvers.plan import Plan
from semiring.solvers.task import Task, first_offer
from semiring.solvers.ways import way

ROWS = (
    way("closure", "toy", "method device check", "backwards", {"dense"}),
    way("columns", "toy", "device", kinds={"dense"}),
)


def offer(task: Task) -> Plan:
    verb = "closure" if task.verb == "closure" else "closure_rows"
    transposed = task.operands[0].array.T  # type: ignore[attr-defined]
    there = first_offer(Task(verb, task.S, (transposed,), replace(task.options, backwards=False), task.arguments))
    return replace(there, operation=task.verb, method=f"{there.method}, backwards",
                   runner=lambda plan: there.run().T)
