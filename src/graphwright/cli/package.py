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
from graphwright.export.packaging import package as packaged
from graphwright.export.packaging.linking import LINKERS
from graphwright.export.packaging.targets import NATIVE, TARGETS


def add_parser(commands: Any) -> None:
    """The subcommand's grammar."""
    parser = commands.add_parser(
        "package", help="make a C library of an exported program",
        description="Write NAME.so, NAME.h and NAME.safetensors: the program of a file that "
                    "`graphwright export` wrote, for programs in C. Needs a C compiler or "
                    "ziglang.")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="NAME",
                        help="the files without their suffixes; the last part begins the names of "
                             "the C functions")
    parser.add_argument("--target", choices=(NATIVE, *TARGETS), default=NATIVE,
                        help="the processor (native: this one)")
    parser.add_argument("--linker", choices=LINKERS, default="auto",
                        help="what compiles and links (auto: cc where it makes code for the "
                             "target, else zig)")
    parser.add_argument("--embed", action="store_true",
                        help="put the weights into the library, instead of a file of their own")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, compile and write."""
    program = read(arguments.file)
    try:
        with writing(arguments.output, "--output"):
            made = packaged(program, arguments.output, target=arguments.target,
                            linker=arguments.linker, embed_weights=arguments.embed)
    except ExportError as error:
        raise UserError(str(error), "docs/package.md says what a package can have", FAILED
                        ) from None
    except CompilerMissing as error:
        raise UserError(str(error), "docs/package.md says what each target needs", FAILED
                        ) from None
    except ValueError as error:
        raise UserError(str(error), "for example: -o out/model") from None
    for path in made.files:
        say(f"{path}: {path.stat().st_size:,} bytes")
