"""`graphwright explain`: graphs, breaks with reasons and advice, guards, recompiles."""

from __future__ import annotations

import argparse
import ast
import os
import sys
from pathlib import Path
from typing import Any

from graphwright.capture.frame.record import Location
from graphwright.cli.errors import NOTHING_COMPILED, UserError, users_code
from graphwright.cli.loading import load_call
from graphwright.cli.options import add_html, add_json, add_target
from graphwright.cli.output import json_alone, say_tree, write_html
from graphwright.face.api import Explained
from graphwright.face.explain_text import library_of


def add_parser(commands: Any) -> None:
    """The subcommand's grammar."""
    parser = commands.add_parser(
        "explain", help="why the graph breaks, what is guarded, what was recompiled",
        description="Compile and call a function once; print its graphs, graph breaks and "
                    "recompiles, with reasons and advice.")
    add_target(parser)
    parser.add_argument("--guards", action="store_true",
                        help="show every guard with its cost, not only how many of each kind")
    parser.add_argument("--libraries", action="store_true",
                        help="show the frames of libraries too, which are one line without it")
    add_json(parser)
    add_html(parser)
    parser.set_defaults(run=run)


def subject_in_file(target: str, subject: Location) -> Location:
    """What heads the explanation: of an object that a library defines, where the file makes it."""
    if subject.file and library_of(subject) is None:
        return subject
    file, _, name = target.rpartition(":")
    for node in ast.parse(Path(file).read_bytes()).body:
        made = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = [part.id for part in made if isinstance(part, ast.Name)]
        if name.partition(".")[0] in names:
            kind = subject.function.partition(".")[0]
            return Location(os.path.abspath(file), node.lineno,
                            name if name == kind else f"{name}: {kind}")
    return subject


def run(arguments: argparse.Namespace) -> None:
    """Call the function compiled, and print the explanation, also if the function raises."""
    with json_alone(arguments.json) as emit, users_code(arguments.target):
        _, function, inputs = load_call(arguments.target, arguments.inputs)
        explained = Explained(function, "each" if arguments.guards else "together")
        explained.subject = subject_in_file(arguments.target, explained.subject)
        try:
            explained(*inputs)
        finally:
            explanation = explained.explanation(sys.exception())
            if arguments.json:
                emit({"target": arguments.target, **explanation.to_dict(arguments.guards)})
            else:
                say_tree(explanation.text(arguments.guards, arguments.libraries))
            if arguments.html:
                write_html(arguments.html, explanation)
    if explanation.nothing_compiled is not None:
        raise UserError(f"no frame of {explained.subject.function} was compiled",
                        "name a function in Python that computes with tensors",
                        NOTHING_COMPILED)
