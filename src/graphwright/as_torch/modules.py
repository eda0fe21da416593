"""`graphwright run --compile`: calls of modules are compiled wherever they are made."""

from __future__ import annotations

import types
from typing import Any

from graphwright.capture._eval_frame import CompiledFunction
from graphwright.capture.frame.python_support import hook_problem
from graphwright.face import native_backends
from graphwright.face.api import Compilation, OptimizedModule
from graphwright.jit import Scripting
from graphwright.nn import Module


def compile_modules() -> None:
    """Compile each call of an `nn.Module` that code which is not compiled makes.

    A class is compiled once, for all of its instances: those of another shape share one version
    with symbolic sizes. Modules that compiled code calls are part of its graph. Holds for classes
    that exist and for those to come, in the whole process, and for good. So are functions that
    `jit.script` is given from now on.
    """
    problem = hook_problem()
    if problem is not None:
        native_backends.warn_once(f"graphwright: everything runs eagerly: {problem}")
        return
    Scripting.compiled = True
    Module.__init_subclass__ = _subclassed  # type: ignore[assignment]
    classes = [Module]
    while classes:
        known = classes.pop()
        compile_calls(known)
        classes += known.__subclasses__()


@classmethod  # type: ignore[misc]
def _subclassed(cls: type[Module], **kwargs: Any) -> None:
    super(Module, cls).__init_subclass__(**kwargs)
    compile_calls(cls)


def compile_calls(kind: type[Module]) -> None:
    """Let the calls of a class's instances run code that is compiled for this class alone.

    Nothing changes where what `compile` made calls them, or no Python function does.
    """
    call: Any = kind.__call__
    if isinstance(call, CompiledFunction):
        call = call.__wrapped__
    if type(call) is not types.FunctionType or issubclass(kind, OptimizedModule):
        return
    own = types.FunctionType(
        call.__code__.replace(), call.__globals__, call.__name__, call.__defaults__,
        call.__closure__,
    )
    own.__kwdefaults__, own.__qualname__ = call.__kwdefaults__, call.__qualname__
    own.__module__, own.__doc__ = call.__module__, call.__doc__
    compilation = Compilation("auto", fullgraph=False, dynamic=None)
    compilation.label = kind.__qualname__
    type.__setattr__(kind, "__call__", compilation.compile(own))
