"""Python's garbage collector, which does not look at what compiling leaves.

Compiling makes a million objects. The collector would look at them again and again meanwhile, and at all of them once
when it goes on. The first functions leave objects that live on; of later ones most are garbage that refers to itself,
some 200 bytes each, which nothing but the collector frees. So it looks at all objects once after many were left.
"""

from __future__ import annotations

import gc

MANY = 250_000  # objects: what some twenty functions leave; a look takes a fiftieth of the time of compiling those

_left = 0  # objects that compiling left since the last look


def collect_again(collecting: bool) -> None:
    """Let the collector go on, if it was on before; what there is now counts as old, which it looks at least often.

    It looks at everything once if much was left since it did. Objects that were put out of its sight (``gc.freeze``)
    would come back with the others: where there are some, all stay as they are.
    """
    global _left
    if not collecting or gc.isenabled():
        return
    _left += gc.get_count()[0]
    if _left >= MANY:
        gc.collect()
        _left = 0
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()
    gc.enable()
