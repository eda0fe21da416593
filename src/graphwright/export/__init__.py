"""`gw.export`: a function or module as a graph that leaves the process, after `torch.export`.

`export` records one call as a graph of ops; `save` and `load` keep it as a file without code;
`ExportedProgram.module()` runs it, eagerly or compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.compat.compiler_marks import EXPORTS
from graphwright.export.dynamic_shapes import Dim, dims
from graphwright.export.errors import ExportError, InvalidProgram
from graphwright.export.exported_program import ExportedModule, ExportedProgram
from graphwright.export.files import load, save
from graphwright.export.graph_signature import (
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
)
from graphwright.export.recording import parameter_names, record
from graphwright.export.soundness import check_capture

__all__ = [
    "Dim", "ExportError", "ExportGraphSignature", "ExportedModule", "ExportedProgram", "InputKind",
    "InputSpec", "InvalidProgram", "OutputKind", "OutputSpec", "dims", "export", "load", "save",
]


def export(
    mod: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, *,
    dynamic_shapes: Any = None, strict: bool = True,
    preserve_module_call_signature: tuple[str, ...] = (),
) -> ExportedProgram:
    """Record one call of a function or module as a graph with its state.

    The call runs on tensors without data: no result is computed and no weight changes. Parameters,
    buffers, and the state of optimisers that the function reaches are inputs of the graph, those
    that it writes are written in place: a training step (loss, `backward()`, `step()`) is a
    program as any other, once the optimiser has made its first step. Arguments that are no tensors
    are constants.

    Args:
        mod: a function or an `nn.Module`, in the training or eval mode that it is in.
        args, kwargs: its arguments, tensors and containers of them.
        dynamic_shapes: which sizes are dynamic (default: none): for each parameter by name, or in
            order, a mapping from dim, or a sequence over dims, to a `Dim`, `Dim.DYNAMIC`,
            `Dim.AUTO`, or None.
        strict: also follow the function's bytecode, and refuse what a graph would silently leave
            out: effects on Python objects, calls that cannot be captured.
        preserve_module_call_signature: has to be empty.

    Returns: the program.

    Raises:
        ExportError: (a RuntimeError) the function is no single graph, or does not hold for the
            sizes asked for; the message names the line and what to do.
        TypeError: `mod` cannot be called, or `args` is no tuple.

    Example:
        >>> batch = gw.export.Dim("batch", max=64)
        >>> shapes = ({0: batch},)
        >>> program = gw.export.export(gw.nn.ReLU(), (gw.ones(2, 3),), dynamic_shapes=shapes)
        >>> program.module()(-gw.ones(5, 3)).sum()
        tensor(0.)
    """
    if not callable(mod):
        raise TypeError(f"export takes a function or a module, not {type(mod).__name__}")
    if not isinstance(args, tuple):
        raise TypeError(f"export takes the arguments as a tuple, not a {type(args).__name__}")
    if preserve_module_call_signature:
        raise NotImplementedError("export: graphwright keeps no signatures of submodules")
    kwargs = dict(kwargs or {})
    parameter_names(mod, args, kwargs)
    if not strict:
        return ExportedProgram(record(mod, args, kwargs, dynamic_shapes))
    with EXPORTS:
        check_capture(mod, args, kwargs)
        return ExportedProgram(record(mod, args, kwargs, dynamic_shapes))
