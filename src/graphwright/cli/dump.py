"""`graphwright dump`: every stage between the bytecode and the machine code."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import graphwright as gw
from graphwright.cli.errors import NOTHING_COMPILED, UserError, users_code
from graphwright.cli.loading import load_call
from graphwright.cli.options import add_backend, add_html, add_json, add_target, add_train
from graphwright.cli.output import folder_for_output, json_alone, say, say_tree, write_html
from graphwright.codegen.target import TritonMissing
from graphwright.face.api import Explained
from graphwright.face.stage_dumps import STAGES, stages_of


def add_parser(commands: Any) -> None:
    """The subcommand's grammar."""
    parser = commands.add_parser(
        "dump", help="print the stages of a compilation",
        description="Compile a function and print what it became, stage by stage: "
                    f"{', '.join(STAGES)}.")
    add_target(parser)
    add_backend(parser)
    parser.add_argument("--stage", action="append", choices=STAGES, dest="stages",
                        help="only this stage; repeat it for several (default: those of the "
                             "backend used)")
    add_train(parser)
    parser.add_argument("--out", type=Path, metavar="OUT",
                        help="write one file for each stage into this folder")
    add_json(parser)
    add_html(parser)
    parser.set_defaults(run=run)


def backend_for(stages: list[str] | None, backend: str) -> str:
    """The backend that makes the stages asked for.

    Raises:
        UserError: they need both.
    """
    wanted = {stage for stage in stages or () if stage in ("c", "llvm")}
    if backend != "auto" or not wanted:
        if wanted - {backend, "auto"} and backend != "auto":
            other = min(wanted - {backend})
            raise UserError(f"--backend {backend} has no stage '{other}'", "omit --backend")
        return backend
    if len(wanted) == 2:
        raise UserError("the stages c and llvm come from different backends", "ask for one")
    return wanted.pop()


def run(arguments: argparse.Namespace) -> None:
    """Compile, then print or write the stages."""
    backend = backend_for(arguments.stages, arguments.backend)
    with json_alone(arguments.json) as emit:
        explained = called(arguments, backend, arguments.train)
        texts = stages(explained, arguments.stages)
        if not texts:
            raise UserError("no graph was captured",
                            f"graphwright explain {arguments.target} says why", NOTHING_COMPILED)
        if arguments.json:
            emit({"target": arguments.target, "backend": backend, "stages": texts})
        elif not arguments.out:
            for stage, text in texts.items():
                say_tree(f"==== {stage} ====\n{text.rstrip()}\n")
        if arguments.out:
            write(arguments.out, texts)
        if arguments.html:
            write_html(arguments.html, explained.explanation())


def called(arguments: argparse.Namespace, backend: str, grad: bool) -> Explained:
    """The target, after one call with gradients recorded or not."""
    _, function, inputs = load_call(arguments.target, arguments.inputs)
    if arguments.train:
        inputs = tuple(requiring_grad(value) for value in inputs)
    explained = Explained(function, "", backend=backend)
    with users_code(arguments.target), gw.set_grad_enabled(grad):
        explained(*inputs)
    return explained


def stages(explained: Explained, wanted: list[str] | None) -> dict[str, str]:
    """The text of each stage.

    Raises:
        UserError: one needs a library that is not installed.
    """
    try:
        return stages_of(explained.record, wanted)
    except TritonMissing as missing:
        raise UserError(missing.problem, missing.remedy) from None


def write(out: Path, texts: dict[str, str]) -> None:
    """Write a file for each stage, and print its path."""
    paths = {stage: out / f"{stage}.txt" for stage in texts}
    with folder_for_output(out):
        for stage, path in paths.items():
            path.write_text(texts[stage], encoding="utf-8", errors="backslashreplace")
    for path in paths.values():
        say(str(path))


def requiring_grad(value: Any) -> Any:
    """Floating-point tensors with a gradient; anything else as it is."""
    if isinstance(value, gw.Tensor) and value.dtype.is_floating_point:
        return value.detach().requires_grad_()
    return value
