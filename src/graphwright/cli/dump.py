"""`graphwright dump`: every stage between the bytecode and the machine code."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import graphwright as gw
from graphwright.cli.errors import UserError
from graphwright.cli.loading import load_target, make_inputs
from graphwright.cli.options import add_backend, add_target
from graphwright.cli.output import folder_for_output, say
from graphwright.face.stage_dumps import STAGES


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
    parser.add_argument("--train", action="store_true",
                        help="give floating-point inputs a gradient, so that there is a backward")
    parser.add_argument("--out", type=Path, help="write one file for each stage into this folder")
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
    module, function = load_target(arguments.target)
    inputs = make_inputs(module, function, arguments.inputs)
    if arguments.train:
        inputs = tuple(requiring_grad(value) for value in inputs)
    compiled = gw.compile(function, backend=backend)
    if arguments.train:
        compiled(*inputs)
    else:
        with gw.no_grad():
            compiled(*inputs)
    try:
        texts = gw.compiler.dump(compiled, arguments.stages)
    except ModuleNotFoundError as missing:
        raise UserError(f"this stage needs {missing.name}, which is not installed",
                        f"pip install {missing.name}") from None
    if not texts:
        raise UserError("no graph was captured",
                        f"graphwright explain {arguments.target} says why")
    if arguments.out:
        write(arguments.out, texts)
    else:
        for stage, text in texts.items():
            say(f"==== {stage} ====\n{text.rstrip()}\n")


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
