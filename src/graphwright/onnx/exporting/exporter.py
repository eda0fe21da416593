"""`gw.onnx.export`: a function, a module or an exported program as an ONNX model."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graphwright.export import export as recorded
from graphwright.export.dynamic_shapes import DerivedDim, Dim, Hint, specs_of
from graphwright.export.errors import ExportError
from graphwright.export.exported_program import ExportedProgram, require_cpu
from graphwright.export.recording import argument_labels, parameter_names
from graphwright.export.size_rules import size_rules
from graphwright.onnx.errors import OnnxExporterError, require_onnx
from graphwright.onnx.exporting.ops.random import DRAWING
from graphwright.onnx.exporting.preparing import Prepared, line_of, prepare
from graphwright.onnx.exporting.program import ONNXProgram
from graphwright.onnx.exporting.registry import DEFAULT, NEWEST, OLDEST
from graphwright.onnx.exporting.translation import translate
from graphwright.onnx.marks import EXPORTS
from graphwright.runtime.symbolic.expr import Sym
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.utils._pytree import tree_flatten, tree_map

Model = Callable[..., Any] | ExportedProgram


_REFUSED: dict[str, tuple[Any, str]] = {
    "custom_translation_table": (None, "graphwright exports by its own forms"),
    "custom_opsets": (None, "graphwright writes ONNX's own operators only"),
    "export_modules_as_functions": (False, "graphwright writes one flat graph"),
    "export_params": (True, "graphwright writes no models without weights"),
    "report": (False, "`verify` says what is wrong with a file"),
    "profile": (False, "gw.profiler measures an export"),
    "dump_exported_program": (False, "gw.export.save writes the exported program"),
}
"""Options of PyTorch's that mean something else than the default: their default, and why not."""
_WITHOUT_EFFECT = frozenset([
    "verbose", "dynamo", "optimize", "fallback", "artifacts_dir", "do_constant_folding",
    "autograd_inlining", "training", "operator_export_type",
])
"""Options of PyTorch's that choose among its exporters, or what it prints."""


def export(
    model: Model, args: tuple[Any, ...] = (),
    f: str | os.PathLike[str] | None = None, *, kwargs: dict[str, Any] | None = None,
    input_names: Sequence[str] | None = None, output_names: Sequence[str] | None = None,
    opset_version: int | None = None, dynamic_shapes: Any = None,
    dynamic_axes: Mapping[str, Any] | None = None, verify: bool = True,
    external_data: bool | None = None, keep_initializers_as_inputs: bool = False,
    strict: bool = False, **options: Any,
) -> ONNXProgram:
    """Write a function or a module as an ONNX model.

    The call is recorded as by `gw.export.export`, in the mode, training or eval, that the module
    is in. Ops that ONNX has stay whole; others are decomposed. What the program writes in place
    (statistics of batch norm, a cache among the arguments) is a further output, NAME_updated.

    Args:
        model: a function, an `nn.Module` or an `ExportedProgram`.
        args: its arguments, tensors and containers of them; one tensor alone is one argument.
        f: the path of the file; None: nothing is written.
        kwargs: arguments by keyword.
        input_names, output_names: names of the first inputs and outputs; others are named after
            the program's arguments and ops.
        opset_version: from 18 to 26, 23 if None: the first with Attention.
        dynamic_shapes: as `gw.export.export` takes it; a text stands for `Dim.DYNAMIC` with that
            name.
        dynamic_axes: the same in PyTorch's older form, by `input_names`.
        verify: run the model before anything is written, on the arguments and on other sizes,
            and compare with the program.
        external_data: write large tensors to a second file, `f` with ".data"; None: where the
            model would be larger than the 2 GB that one file can hold.
        keep_initializers_as_inputs: list the weights among the inputs.
        strict: also follow the function's bytecode, as `gw.export.export` does; PyTorch's export
            to ONNX does not.
        options: PyTorch's other options; those that would change the file are refused.

    Returns: an `ONNXProgram`: `model_proto`, `save(path)`, and the model itself to be called.

    Raises:
        OnnxExporterError: (a RuntimeError) the function is no single graph, has ops without an
            ONNX form (all are named), holds for fewer sizes than asked for, or its model computes
            something else (the first value that differs is named); nothing is written.
        ImportError: the package onnx is not installed.
        OSError: the path cannot be written.
        TypeError, NotImplementedError: an option that there is not.

    Example:
        >>> batch = gw.export.Dim("batch")
        >>> layer = gw.nn.Linear(4, 2)
        >>> made = gw.onnx.export(layer, (gw.rand(3, 4),), dynamic_shapes=({0: batch},))
        >>> [node.op_type for node in made.model_proto.graph.node]
        ['Gemm']
    """
    _check_options(options)
    require_onnx("onnx.export")
    opset = DEFAULT if opset_version is None else opset_version
    if not OLDEST <= opset <= NEWEST:
        raise ValueError(f"onnx.export: opset_version has to be from {OLDEST} to {NEWEST}, not "
                         f"{opset}")
    args = tuple(args) if isinstance(args, tuple | list) else (args,)
    kwargs, input_names, output_names = kwargs or {}, input_names or (), output_names or ()
    _check_names(input_names, output_names)
    if f is not None:
        _check_path(f)
    if dynamic_axes:
        dynamic_shapes = _shapes_of_axes(dynamic_axes, input_names, args, dynamic_shapes)
    program, dims, labels = _recorded(model, args, kwargs, dynamic_shapes, strict)
    try:
        require_cpu(program, "onnx.export checks what it writes on the CPU")
    except ExportError as error:
        raise OnnxExporterError(str(error)) from error
    prepared = prepare(program, opset)
    if verify:
        _refuse_random(prepared)
    elif prepared.assumed:
        raise OnnxExporterError(
            f"the file may hold only where {prepared.assumed[0]}, which verify=True tests: leave "
            "that size static, or give sizes that are equal one Dim")
    input_names = [*input_names, *labels[len(input_names):]]
    graph = translate(program, prepared, opset, dims, input_names, output_names)
    made = ONNXProgram(program, prepared, graph, keep_initializers_as_inputs)
    made.publish(f, external_data, _example(prepared, args, kwargs) if verify else None)
    return made


def _check_options(options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if name in _REFUSED:
            default, why = _REFUSED[name]
            if value is not default and value != default:
                raise NotImplementedError(f"onnx.export: {name}={value!r} is not there: {why}")
        elif name not in _WITHOUT_EFFECT:
            raise TypeError(f"onnx.export() got an unexpected keyword argument '{name}'")


def _check_names(input_names: Sequence[str], output_names: Sequence[str]) -> None:
    names = [*input_names, *output_names]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"onnx.export: '{twice[0]}' names more than one input or output")


def _check_path(path: str | os.PathLike[str]) -> None:
    """Raise OSError for a path that cannot be written, before any work is done."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", os.fspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", folder)
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, "nothing can be written there", folder)


# -- the program


def _recorded(
    model: Model, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: Any, strict: bool
) -> tuple[ExportedProgram, dict[str, str], list[str]]:
    """The program, names of its size symbols, and names of its inputs."""
    if isinstance(model, ExportedProgram):
        if dynamic_shapes is not None:
            raise ValueError("onnx.export: an ExportedProgram has its dynamic sizes already; "
                             "dynamic_shapes is for functions and modules")
        return model, {}, []
    known: dict[str, Hint] = {}
    shapes = tree_map(
        lambda one: known.setdefault(one, Hint(one)) if isinstance(one, str) else one,
        dynamic_shapes)
    try:
        with EXPORTS:
            program = recorded(model, args, kwargs, dynamic_shapes=shapes, strict=strict)
    except ExportError as error:
        raise OnnxExporterError(str(error)) from error
    leaves, spec = tree_flatten((args, kwargs))
    names = parameter_names(model, args, kwargs)
    specs = specs_of(shapes, names, spec, leaves)
    labels = [label.replace(".", "_") for label, leaf in zip(
        argument_labels(names, spec), leaves, strict=True) if isinstance(leaf, Tensor)]
    return program, _names(program, specs, leaves), labels


def _names(
    program: ExportedProgram, specs: Sequence[Mapping[int, Any]], leaves: Sequence[Any]
) -> dict[str, str]:
    """Size symbol -> the name that the user gave it, each name once."""
    said = [spec for spec, leaf in zip(specs, leaves, strict=True) if isinstance(leaf, Tensor)]
    found: dict[str, str] = {}
    for node, spec in zip(size_rules(program).inputs, said, strict=True):
        for dim, one in spec.items():
            size = node.meta["val"].shape[dim]
            name = one.__name__ if isinstance(one, Dim) else getattr(one, "name", "")
            if one in (Dim.DYNAMIC, Dim.AUTO) or isinstance(one, DerivedDim) or not name:
                continue
            if isinstance(size, SymInt) and isinstance(size.expr, Sym):
                symbol = size.expr.name
                if symbol not in found and name not in found.values():
                    found[symbol] = name
    return found


def _shapes_of_axes(
    axes: Mapping[str, Any], names: Sequence[str], args: tuple[Any, ...], shapes: Any
) -> Any:
    """`dynamic_axes`, by input name, as `dynamic_shapes`. Names of outputs say nothing new."""
    if shapes is not None:
        raise ValueError("onnx.export: give dynamic_shapes or dynamic_axes, not both")
    if not all(isinstance(one, Tensor) for one in args) or len(names) < len(args):
        raise ValueError("onnx.export: dynamic_axes needs a name in input_names for each "
                         "argument, all of which have to be tensors; dynamic_shapes has no such "
                         "limits")
    found = []
    for name in names[: len(args)]:
        said = axes.get(name, {})
        found.append(dict(said) if isinstance(said, Mapping) else
                     {dim: Dim.DYNAMIC for dim in said})
    return tuple(found)


def _example(
    prepared: Prepared, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Tensor, ...]:
    leaves = [one for one in tree_flatten((args, kwargs))[0] if isinstance(one, Tensor)]
    count = prepared.state.count(None)
    if len(leaves) != count:
        raise ValueError(f"onnx.export: verifying runs the program, which takes {count} "
                         f"tensors; args has {len(leaves)}. Give an example of its arguments, or "
                         "pass verify=False")
    return tuple(leaves)


def _refuse_random(prepared: Prepared) -> None:
    for node in prepared.module.graph.nodes:
        name = getattr(node.target, "name", "")
        if name in DRAWING and not (name == "dropout" and (not node.args[2] or not node.args[1])):
            raise OnnxExporterError(
                f"the program draws random numbers by {name}{line_of(node)}, of which each run "
                "has others, so that the file cannot be verified: export the module in eval mode, "
                "or pass verify=False")
