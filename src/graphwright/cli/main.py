"""The `graphwright` command: argument parsing, exit codes, one line instead of a traceback."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from graphwright.cli import (
    bench,
    completion,
    doctor,
    dump,
    explain,
    export,
    package,
    profile,
    run,
    warm,
)
from graphwright.cli.errors import EXIT_CODES, FAILED, INTERRUPTED, UserError, show_traceback
from graphwright.cli.options import spelled_out
from graphwright.cli.output import finished, is_unread
from graphwright.runtime.stderr_notices import write_line
from graphwright.version import __version__

DESCRIPTION = """\
Run a PyTorch program on graphwright, or see what graphwright makes of a Python function: every
stage from bytecode to machine code, why the graph breaks where it does, and what it costs.
"""

EXAMPLES = """\
examples:
  graphwright run --compile train.py --epochs 3
  graphwright profile --trace trace.json train.py --epochs 3
  graphwright dump model.py:forward --input 'float32[128,784]' --stage loops
  graphwright explain train.py:step
  graphwright bench model.py:Net --input 'float32[1,3,32,32]'
  graphwright warm model.py:Net --target sm_90
  graphwright doctor

FILE.py:FUNCTION names a function, a module instance or a module class in a file. Inputs are given
by --input (a dtype with a shape, or a Python literal), once for each argument; without it the
file's function example_inputs() or FUNCTION_inputs() is asked for a tuple. In a file that imports
torch, or other libraries and not graphwright, `import torch` gives graphwright.

exit codes (`run` and `profile` have those of the program):
""" + "".join(f"  {code:<4} {meaning}\n" for code, meaning in EXIT_CODES.items())

COMMANDS: tuple[Any, ...] = (
    run,
    profile,
    dump,
    explain,
    bench,
    export,
    package,
    warm,
    doctor,
    completion,
)
"""Modules whose `add_parser` adds a subcommand, or two, to the grammar, with a default `run`."""


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    top = argparse.ArgumentParser(
        prog="graphwright", description=DESCRIPTION, epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    top.add_argument("--debug", action="store_true", help="show whole tracebacks of errors")
    top.set_defaults(parser=top)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in COMMANDS:
        module.add_parser(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; it ends with one of `EXIT_CODES`."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = False
    try:
        with finished():
            parsed = parser().parse_args(spelled_out(words))
            debug = parsed.debug
            if not hasattr(parsed, "is_program"):
                checked(parsed)
                return
        parsed.run(parsed)  # its output and exit status are its own
    except UserError as error:
        if debug:
            raise
        write_line(f"graphwright: {error}")
        raise SystemExit(error.status) from None


def checked(parsed: argparse.Namespace) -> None:
    """Run a subcommand; what the user's program raises is shown as Python shows it."""
    try:
        parsed.run(parsed)
    except UserError:
        raise
    except KeyboardInterrupt:
        if parsed.debug:
            raise
        write_line("graphwright: interrupted")
        raise SystemExit(INTERRUPTED) from None
    except Exception as error:
        unread = isinstance(error, BrokenPipeError) and is_unread()
        if parsed.debug or unread:
            raise
        show_traceback(error)
        raise SystemExit(FAILED) from None
