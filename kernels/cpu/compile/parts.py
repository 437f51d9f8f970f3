"""Libraries of machine code that are optimized once, as a whole, and functions that are only parts of others.

Numba optimizes every function and makes machine code of it, then links it into each caller and does both again. Here a
function without outside callers is linked unoptimized, and optimized once together with its caller: half the work for
LLVM.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary


class Whole(JITCodeLibrary):
    """A library whose functions are optimised together, and not one by one before that."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout


class Light(Whole):
    """The same with fewer passes: for loops that wait for memory, so that their instructions do not matter."""

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager(opt=1, loop_vectorize=False, slp_vectorize=False)
        passes.run(self._final_module, builder)


class Part(Whole):
    """A library that is never made into machine code: others take in what it holds."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            if hasattr(library, "_reload_init"):  # from Numba 0.63 on
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """0: there is no such function in this process."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        return _WithoutEnvironments(self._codegen)


class _WithoutEnvironments:
    """A code generator for functions whose environment, which serves exceptions, lies nowhere yet."""

    def __init__(self, codegen: Any):
        self._codegen = codegen

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing: parts raise no exceptions."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)
