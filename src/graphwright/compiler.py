"""`gw.compiler`: controls of the compiler, and what it did."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from graphwright.capture import _eval_frame
from graphwright.capture.frame.dynamic_marks import mark_dynamic, mark_static
from graphwright.capture.frame.stance import RecompileError, set_stance
from graphwright.capture.vm.allowed import DISABLED, allow_in_graph, is_compiling
from graphwright.compat.compiler_marks import (
    assume_constant_result,
    cudagraph_mark_step_begin,
    is_exporting,
    nested_compile_region,
)
from graphwright.face.api import compilation_of, compilations, compile
from graphwright.face.explain import Stats
from graphwright.face.native_backends import BACKENDS
from graphwright.face.notices import forget as forget_notices
from graphwright.face.notices import set_notices
from graphwright.face.stage_dumps import STAGES, stages_of

__all__ = [
    "RecompileError", "allow_in_graph", "assume_constant_result", "compile",
    "cudagraph_mark_step_begin", "disable", "dump", "graph_break",
    "is_compiling", "is_dynamo_compiling", "is_exporting", "list_backends", "mark_dynamic",
    "mark_static", "nested_compile_region", "reset", "set_notices", "set_stance", "stats",
]

F = TypeVar("F", bound=Callable[..., Any])


is_dynamo_compiling = is_compiling


def disable(function: F | None = None, *, recursive: bool = True) -> Any:
    """Keep a function out of capture; a decorator.

    A captured function that calls it breaks its graph there.

    Args:
        function: a Python function. None: return a decorator.
        recursive: also keep out what the function calls. False: functions that it calls are
            captured in their turn; `function` itself is marked and returned.
    """
    if function is None:
        return functools.partial(disable, recursive=recursive)
    if not recursive:
        function.__dict__[DISABLED] = True
        return function

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        return _eval_frame.run_unhooked(function, *args, **kwargs)

    run.__dict__[DISABLED] = True
    return run


@disable
def graph_break() -> None:
    """End the graph of a captured function here; nothing otherwise."""


def reset() -> None:
    """Forget all compiled code, records and observed sizes, of every compiled function."""
    for compilation in compilations():
        compilation.reset()
    forget_notices()
    _eval_frame.reset_all()


def stats(compiled: Callable[..., Any]) -> Stats:
    """How many graphs, breaks, fallbacks, recompiles and kernels a compiled callable has.

    Raises:
        TypeError: `gw.compile` did not return it.
    """
    return Stats.of(compilation_of(compiled).record)


def dump(compiled: Callable[..., Any], stages: Iterable[str] | None = None) -> dict[str, str]:
    """What a compiled callable became, as text by stage.

    Args:
        compiled: what `gw.compile` returned, after it has been called.
        stages: of `STAGES`; None: all but Triton's.

    Raises:
        TypeError: `gw.compile` did not return it.
        ValueError: an unknown stage.
    """
    unknown = sorted(set(stages or ()) - set(STAGES))
    if unknown:
        raise ValueError(f"unknown stages {', '.join(unknown)}; there are {', '.join(STAGES)}")
    return stages_of(compilation_of(compiled).record, stages)


def list_backends() -> list[str]:
    """The names that `gw.compile(backend=...)` takes."""
    return sorted(BACKENDS)
