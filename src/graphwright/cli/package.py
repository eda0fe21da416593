"""`graphwright package`: a C library of an exported program."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from graphwright.cli.errors import FAILED, UserError
from graphwright.cli.export import read
from graphwright.cli.output import say, writing
from graphwright.codegen.target import CompilerMissing
from graphwright.export import ExportError
from graphwright.export.packaging import TARGETS
from graphwright.export.packaging import package as packaged


def add_parser(commands: Any) -> None:
    """The subcommand's grammar."""
    parser = commands.add_parser(
        "package", help="make a C library of an exported program",
        description="Write NAME.so, NAME.h and NAME.safetensors: the program of a file that "
                    "`graphwright export` wrote, for programs in C. Needs a C compiler.")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="NAME",
                        help="the files without their suffixes; the last part begins the names of "
                             "the C functions")
    parser.add_argument("--target", choices=tuple(TARGETS), default="native",
                        help="the processor (native: this one)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, compile and write."""
    program = read(arguments.file)
    try:
        with writing(arguments.output, "--output"):
            made = packaged(program, arguments.output, target=arguments.target)
    except ExportError as error:
        raise UserError(str(error), "docs/package.md says what a package can have", FAILED
                        ) from None
    except CompilerMissing as error:
        raise UserError(str(error), "install gcc or clang", FAILED) from None
    except ValueError as error:
        raise UserError(str(error), "for example: -o out/model") from None
    for path in (made.library, made.header, made.weights):
        say(f"{path}: {path.stat().st_size:,} bytes")
