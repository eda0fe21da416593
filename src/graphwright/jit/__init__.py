"""`torch.jit` without TorchScript: marks leave functions as they are, `trace` records a graph.

Nothing is written or read in TorchScript's format: `save` and `load` say what to use.
"""

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

from graphwright.futures import Future
from graphwright.jit import annotations
from graphwright.jit.marks import (
    Attribute,
    RecursiveScriptModule,
    ScriptModule,
    ScriptWarning,
    TracerWarning,
    _overload,
    _overload_method,
    _script_if_tracing,
    annotate,
    enable_onednn_fusion,
    export,
    freeze,
    ignore,
    interface,
    is_scripting,
    is_tracing,
    isinstance,
    no_script,
    optimize_for_inference,
    script_if_tracing,
    script_method,
    set_fusion_strategy,
    unused,
)
from graphwright.runtime.naming import missing as _missing

if TYPE_CHECKING:
    from graphwright.jit.traced import ScriptFunction, TopLevelTracedModule, trace

T = TypeVar("T")

__all__ = [
    "Attribute", "Final", "Future", "RecursiveScriptModule", "ScriptFunction", "ScriptModule",
    "ScriptWarning", "TopLevelTracedModule", "TracerWarning", "_overload", "_overload_method",
    "_script_if_tracing", "annotate", "annotations", "enable_onednn_fusion", "export", "fork",
    "freeze", "ignore", "interface", "is_scripting", "is_tracing", "isinstance", "load",
    "optimize_for_inference", "save", "script", "script_if_tracing", "script_method",
    "set_fusion_strategy", "trace", "unused", "wait",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """What records graphs is imported when it is asked for."""
    if name not in ("ScriptFunction", "TopLevelTracedModule", "trace"):
        raise _missing(__name__, name)
    from graphwright.jit import traced

    globals()[name] = getattr(traced, name)
    return globals()[name]


class Scripting:
    """`compiled`: whether `script` compiles functions, as `graphwright run --compile` asks."""

    compiled = False


def script(obj: T, **options: Any) -> T:
    """The function, class or module itself; compiled under `graphwright run --compile`."""
    if Scripting.compiled and type(obj) is types.FunctionType:
        from graphwright.face.api import compile

        return compile(obj)  # type: ignore[call-overload]
    return obj


def save(m: Any, f: Any, **options: Any) -> NoReturn:
    """Raises NotImplementedError."""
    no_script()


def load(f: Any, *args: Any, **options: Any) -> NoReturn:
    """Raises NotImplementedError."""
    raise NotImplementedError(
        "jit.load: graphwright does not read TorchScript. Make the model from its Python code and "
        "load its weights with load_state_dict"
    )


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """The future of a call, which is made at once."""
    future: Future[Any] = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future[Any]) -> Any:
    """The result of what `fork` called."""
    return future.wait()
