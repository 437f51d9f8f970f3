"""The passes of Numba that the library's own functions need, which cost a third of what all of them do.

Left out is what has nothing to do there: ``with`` blocks, closures and generators, functions that are inlined before
types are known, arithmetic on whole arrays, and a check of the function after each pass.
"""

from __future__ import annotations

from typing import Any, ClassVar

from numba.core import typed_passes as typed
from numba.core import untyped_passes as untyped
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager

from .inference import InferTypes
from .parts import Light, Part, Whole


class FewPasses(CompilerBase):
    """A compiler of functions that hold loops, conditions, calls, numbers and elements of arrays.

    What they call of Numba's own is compiled as Numba does.
    """

    library: ClassVar[type[Whole]] = Whole

    def define_pipelines(self) -> list[PassManager]:
        """The passes, and where the code goes."""
        library = self.library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        library.enable_object_caching()
        self.state.library = library
        passes = _Unchecked("few passes")
        for each in PASSES:
            passes.add_pass(each, each._name)
        passes.finalize()
        return [passes]


class ForParts(FewPasses):
    """The same for functions that only compiled functions call."""

    library = Part


class ForIndices(FewPasses):
    """The same for loops over arrays of indices."""

    library = Light


class _Unchecked(PassManager):
    _ENFORCING = False


PASSES: tuple[Any, ...] = (
    untyped.TranslateByteCode,
    untyped.FixupArgs,
    untyped.IRProcessing,
    untyped.RewriteSemanticConstants,
    untyped.DeadBranchPrune,
    untyped.GenericRewrites,
    untyped.ReconstructSSA,
    InferTypes,
    typed.PreLowerStripPhis,
    typed.IRLegalization,
    typed.NativeLowering,
    typed.NoPythonBackend,
)
