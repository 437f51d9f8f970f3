"""Python's garbage collector, which looks once at what compiling leaves.

Compiling makes a million objects. The collector would look at them again and again meanwhile, and at all objects once
when it goes on. Most of what one function leaves is garbage that refers to itself, a megabyte or more, which nothing
but the collector frees. So it looks once at what was made meanwhile, which takes some hundredths of the time of
compiling it.
"""

from __future__ import annotations

import gc


def collect_again(collecting: bool) -> None:
    """Let the collector go on, if it was on before; what there is now counts as old, which it looks at least often.

    It looks once at what was made since it was off. Objects that were put out of its sight (``gc.freeze``) would come
    back with the others: where there are some, all stay as they are.
    """
    if not collecting or gc.isenabled():
        return
    gc.collect(0)
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()
    gc.enable()
