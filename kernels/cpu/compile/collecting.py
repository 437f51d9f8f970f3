"""Python's garbage collector, which does not look at what compiling leaves.

Compiling makes a million objects, most of which live on. The collector would look at them again and again meanwhile,
and at all of them once when it goes on.
"""

from __future__ import annotations

import gc


def collect_again(collecting: bool) -> None:
    """Let the collector go on, if it was on before; what there is now counts as old, which it looks at least often.

    Objects that were put out of its sight (``gc.freeze``) would come back with the others: where there are some, all
    stay as they are.
    """
    if not collecting or gc.isenabled():
        return
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()
    gc.enable()
