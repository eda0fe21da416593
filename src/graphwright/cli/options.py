"""The arguments that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path

STDOUT = "-"
"""The value of `--json` that stands for standard output."""


def add_target(parser: argparse.ArgumentParser) -> None:
    """FILE.py:FUNCTION and --input."""
    parser.add_argument("target", metavar="FILE.py:FUNCTION",
                        help="the function, module or module class")
    parser.add_argument("--input", action="append", default=[], metavar="SPEC", dest="inputs",
                        help="one argument: 'float32[4,8]', or a Python literal; repeat it")


def add_backend(parser: argparse.ArgumentParser) -> None:
    """--backend."""
    parser.add_argument("--backend", default="auto", choices=["auto", "llvm", "c"],
                        help="which native backend (default: auto)")


def add_train(parser: argparse._ActionsContainer) -> None:
    """--train."""
    parser.add_argument("--train", action="store_true",
                        help="give floating-point inputs a gradient, so that there is a backward")


def add_json(parser: argparse.ArgumentParser) -> None:
    """--json."""
    parser.add_argument("--json", nargs="?", const=STDOUT, metavar="OUT",
                        help="print one JSON document to standard output, or write it to the file "
                             "OUT; docs/cli.md lists its keys")


def add_html(parser: argparse.ArgumentParser) -> None:
    """--html."""
    parser.add_argument("--html", type=Path, metavar="OUT",
                        help="write a page that shows every stage to the file OUT")


PROGRAMS = ("run", "profile")
"""The commands whose further words are a program's own."""


def spelled_out(words: list[str]) -> list[str]:
    """The command line with a value for `--json` before a target or a file of an exported
    program, which is not its value."""
    command = next((word for word in words if not word.startswith("-")), "")
    if command in PROGRAMS:
        return words
    return [f"--json={STDOUT}" if word == "--json" and (
                ".py:" in following or following.endswith(".gwx")) else word
            for word, following in zip(words, (*words[1:], ""), strict=False)]
