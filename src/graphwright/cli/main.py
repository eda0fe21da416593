"""The `graphwright` command: argument parsing, and one line instead of a traceback."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from graphwright.cli import bench, doctor, dump, explain, run
from graphwright.cli.errors import UserError
from graphwright.cli.output import finished
from graphwright.runtime.stderr_notices import write_line

DESCRIPTION = """\
Run a PyTorch program on graphwright, or see what graphwright makes of a Python function: every
stage from bytecode to machine code, why the graph breaks where it does, and what it costs.
"""

EXAMPLES = """\
examples:
  graphwright run --compile train.py --epochs 3
  graphwright dump model.py:forward --input 'float32[128,784]' --stage loops
  graphwright explain train.py:step
  graphwright bench model.py:Net --input 'float32[1,3,32,32]'
  graphwright doctor

FILE.py:FUNCTION names a function, a module instance or a module class in a file. Inputs are given
by --input (a dtype with a shape, or a Python literal), once for each argument; without it the
file's function example_inputs() or FUNCTION_inputs() is asked for a tuple.
"""


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    top = argparse.ArgumentParser(
        prog="graphwright", description=DESCRIPTION, epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in (run, dump, explain, bench, doctor):
        module.add_parser(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; after a user's mistake the exit status is 2."""
    try:
        with finished():
            parsed = parser().parse_args(arguments)
            if not hasattr(parsed, "is_program"):
                parsed.run(parsed)
                return
        parsed.run(parsed)  # its output and exit status are its own
    except UserError as error:
        write_line(f"graphwright: {error}")
        raise SystemExit(error.status) from None
