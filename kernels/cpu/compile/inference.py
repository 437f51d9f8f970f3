"""Types of functions inferred with a memory: what an operator gives for some types is looked up once in a process.

Numba asks again for each place where an operator stands, and again each time that it goes over a function until no type
changes; most of it is ``+``, ``<`` and ``x[i]`` of the same few types. Each answer takes it a search through all that
was ever declared for the operator, and these searches took most of the time of inferring types.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NopythonTypeInference
from numba.core.typing.context import Context

_known: dict[tuple[Any, tuple[types.Type, ...]], Any] = {}  # of the processor that Numba compiles for


class Remembering(Context):
    """A typing context with the declarations of another, and a memory.

    What single instructions of Numba's own do is remembered for the process. What Numba compiles for some types depends
    on the settings of the function that calls it too, and is remembered as long as the context lives, which is for one.

    Parameters
    ----------
    context : numba.core.typing.Context
    """

    __slots__ = ("context", "here")

    def __init__(self, context: Any):
        self.__dict__ = context.__dict__
        self.context = context
        self.here: dict[tuple[Any, tuple[types.Type, ...]], Any] = {}

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """The signature of a call; None if there is none."""
        declared: Any = func if isinstance(func, types.Type) else self._lookup_global(func)
        of_numba = declared is None or type(declared) is types.Function
        if kws or not of_numba or not all(isinstance(each, types.Type) for each in args):  # indices are values, say
            return self.context.resolve_function_type(func, args, kws)
        key = func, tuple(args)
        found = _known.get(key) or self.here.get(key)
        if found is None:
            found = self.context.resolve_function_type(func, args, kws)
            if found is not None:
                own = declared is None or declared.get_impl_key(found) is declared.typing_key
                (_known if own else self.here)[key] = found
        return found


@register_pass(mutates_CFG=True, analysis_only=False)
class InferTypes(NopythonTypeInference):
    """Numba's pass, with a memory."""

    _name = "infer_types"

    def run_pass(self, state: Any) -> Any:
        """Type the function of a compiler's state; whether it changed."""
        context = state.typingctx
        state.typingctx = Remembering(context)
        try:
            return super().run_pass(state)
        finally:
            state.typingctx = context
