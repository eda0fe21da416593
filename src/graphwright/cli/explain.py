"""`graphwright explain`: graphs, breaks with reasons and advice, guards, recompiles."""

from __future__ import annotations

import argparse
from typing import Any

import graphwright as gw
from graphwright.cli.loading import load_target, make_inputs
from graphwright.cli.options import add_target
from graphwright.cli.output import say


def add_parser(commands: Any) -> None:
    """The subcommand's grammar."""
    parser = commands.add_parser(
        "explain", help="why the graph breaks, what is guarded, what was recompiled",
        description="Compile and call a function once; print its graphs, graph breaks and guards.")
    add_target(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Call the function compiled, and print the explanation."""
    module, function = load_target(arguments.target)
    inputs = make_inputs(module, function, arguments.inputs)
    say(str(gw.explain(function)(*inputs)))
