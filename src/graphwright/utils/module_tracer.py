"""Tracing the ops that a thread runs, and the modules that they run in."""

from __future__ import annotations

from typing import Any

from graphwright.nn.global_hooks import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from graphwright.nn.module import Module
from graphwright.runtime import _core
from graphwright.runtime.dispatch import TRACE, dispatch
from graphwright.runtime.ops.table import Op


class ModuleTracer:
    """Between `start` and `stop` each op goes to `record(op, args)`, which a subclass defines.

    Attributes:
        inside: what `path_of` calls the modules that are running, the outermost first.
    """

    whole_functions = for_native_code = False
    fused_kernels = True

    def __init__(self) -> None:
        self.inside: list[str] = []
        self._handles: list[Any] = []
        self._before: Any = None

    def path_of(self, module: Module) -> str:
        """The name of a module, before it is entered."""
        raise NotImplementedError

    def start(self) -> None:
        """Trace this thread's ops from here on."""
        self._handles = [register_module_forward_pre_hook(self._begin),
                         register_module_forward_hook(self._end, always_call=True)]
        self._before = _core.set_tracer(self), _core.modes() & TRACE
        _core.set_modes(_core.modes() | TRACE)

    def stop(self) -> None:
        """End it; who traced before does so again."""
        tracer, traced = self._before
        _core.set_tracer(tracer)
        _core.set_modes(_core.modes() & ~TRACE | traced)
        for handle in self._handles:
            handle.remove()

    def _begin(self, module: Module, args: Any) -> None:
        self.inside.append(self.path_of(module))

    def _end(self, module: Module, args: Any, output: Any) -> None:
        self.inside.pop()


def run_untraced(op: Op, args: tuple[Any, ...]) -> Any:
    """Run an op from within `record`, without being asked again."""
    tracer, modes = _core.set_tracer(None), _core.modes()
    _core.set_modes(modes & ~TRACE)
    try:
        return dispatch(op, args)
    finally:
        _core.set_tracer(tracer)
        _core.set_modes(modes)
