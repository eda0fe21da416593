"""`graphwright export` and `graphwright show`: exported programs as files, and ONNX models."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from graphwright import onnx
from graphwright.cli.errors import FAILED, UserError
from graphwright.cli.loading import load_call
from graphwright.cli.options import add_json, add_target
from graphwright.cli.output import json_alone, say, writing
from graphwright.export import Dim, ExportedProgram, ExportError, InvalidProgram, load, save
from graphwright.export import export as recorded
from graphwright.nn import Module

_OPEN = re.compile(r"\[([^\]]*)\]")
_FIRST = 5
"""The example's size for the first dynamic size; others have the sizes behind it."""


def add_parser(commands: Any) -> None:
    """The grammar of both subcommands."""
    parser = commands.add_parser(
        "export", help="write a function or module with its weights to one file",
        description="Record one call as a graph and write it with its weights to one file, which "
                    "`graphwright show` describes and gw.export.load reads; or as an ONNX model.")
    add_target(parser)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="OUT",
                        help="the file, by convention ending in .gwx; an ONNX model where it ends "
                             "in .onnx")
    parser.add_argument("--opset", type=int, metavar="N",
                        help="of an ONNX model: the version of its operators (default: 23)")
    parser.add_argument("--no-verify", action="store_false", dest="verify",
                        help="write an ONNX model without running it first")
    parser.add_argument("--train", action="store_true",
                        help="leave a module in training mode (default: eval mode)")
    parser.add_argument("--no-strict", action="store_false", dest="strict",
                        help="record the call without looking at the function's bytecode")
    parser.epilog = ("A size in --input may be ?, for a dynamic one, or a name, for sizes that "
                     "are equal: --input 'float32[?,128]', --input 'int64[batch,length]'.")
    parser.set_defaults(run=run)
    shown = commands.add_parser(
        "show", help="describe a file that `export` wrote",
        description="Print the graph, the signature and the sizes of an exported program.")
    shown.add_argument("file", type=Path, metavar="FILE")
    add_json(shown)
    shown.set_defaults(run=show)


def run(arguments: argparse.Namespace) -> None:
    """Record and write."""
    specs, shapes = dynamic_inputs(arguments.inputs)
    _, target, inputs = load_call(arguments.target, specs)
    if isinstance(target, Module):
        target.train(arguments.train)
    if arguments.output.suffix == ".onnx":
        _write_onnx(arguments, target, inputs, shapes)
        return
    try:
        program = recorded(target, inputs, dynamic_shapes=shapes or None, strict=arguments.strict)
        with writing(arguments.output, "--output") as path:
            save(program, path)
    except ExportError as error:
        raise UserError(str(error), "docs/export.md says what a program can have", FAILED
                        ) from None
    say(f"{arguments.output}: {summary(program)}")


def _write_onnx(
    arguments: argparse.Namespace, target: Any, inputs: tuple[Any, ...], shapes: list[Any]
) -> None:
    try:
        with writing(arguments.output, "--output") as path:
            made = onnx.export(target, inputs, path, dynamic_shapes=shapes or None,
                               opset_version=arguments.opset, verify=arguments.verify,
                               strict=arguments.strict)
    except (onnx.OnnxExporterError, ValueError) as error:
        raise UserError(str(error), "docs/onnx.md says what a model can have", FAILED) from None
    except ImportError as error:
        raise UserError(str(error), "pip install 'graphwright[onnx]'") from None
    checked = f", verified by {made.verified_by}" if made.verified_by else ", not verified"
    say(f"{arguments.output}: {made}{checked}")


def dynamic_inputs(specs: list[str]) -> tuple[list[str], list[Any]]:
    """The specs with a size for each ? and name, and what is dynamic of each argument."""
    known: dict[str, tuple[Dim, int]] = {}
    free = _FIRST
    plain, shapes = [], []
    for spec in specs:
        found = _OPEN.search(spec) if re.match(r"\w+\[", spec) else None
        parts = [part.strip() for part in found[1].split(",")] if found else []
        dynamic: dict[int, Any] = {}
        for place, part in enumerate(parts):
            if part == "?":
                dynamic[place], parts[place] = Dim.DYNAMIC, str(free)
                free += 1
            elif part.isidentifier():
                if part not in known:
                    known[part] = (Dim(part), free)
                    free += 1
                dynamic[place], parts[place] = known[part][0], str(known[part][1])
        plain.append(spec if not dynamic or found is None else
                     f"{spec[: found.start()]}[{','.join(parts)}]")
        shapes.append(dynamic or None)
    return plain, shapes if any(shapes) else []


def summary(program: ExportedProgram) -> str:
    """One line: how large, and for which sizes."""
    weights = sum(tensor.numel() * tensor.element_size()
                  for tensor in (*program.state_dict.values(), *program.constants.values()))
    ranges = ", ".join(f"{name} in {one}" for name, one in program.range_constraints.items())
    written = program.graph_signature.buffers_to_mutate
    return (f"{len(program.graph.nodes)} nodes, {len(program.graph_signature.parameters)} "
            f"parameters, {weights:,} bytes of weights"
            + (f", writes {len(written)} of its inputs" if written else "")
            + (f", for {ranges}" if ranges else ""))


def read(path: Path) -> ExportedProgram:
    """The program of a file. Raises: UserError if there is none."""
    try:
        return load(path)
    except FileNotFoundError:
        raise UserError(f"there is no file {path}", "name one that `graphwright export` wrote"
                        ) from None
    except (InvalidProgram, OSError) as error:
        raise UserError(f"{path}: {error}", "write it anew with `graphwright export`") from None


def show(arguments: argparse.Namespace) -> None:
    """Print what a file holds."""
    program = read(arguments.file)
    signature = program.graph_signature
    with json_alone(arguments.json) as emit:
        if arguments.json:
            emit({"file": str(arguments.file), "nodes": len(program.graph.nodes),
                  "parameters": signature.parameters, "buffers": signature.buffers,
                  "constants": signature.lifted_tensor_constants,
                  "inputs": [str(one) for one in signature.user_inputs],
                  "outputs": [str(one) for one in signature.user_outputs],
                  "written": [*signature.buffers_to_mutate.values(),
                              *signature.user_inputs_to_mutate],
                  "ranges": {name: [one.lower, one.upper]
                             for name, one in program.range_constraints.items()}})
        else:
            say(f"{arguments.file}: {summary(program)}\n{program}")
