"""The arguments that dump, explain and bench share."""

from __future__ import annotations

import argparse


def add_target(parser: argparse.ArgumentParser, optional: bool = False) -> None:
    """FILE.py:FUNCTION and --input."""
    parser.add_argument("target", metavar="FILE.py:FUNCTION", nargs="?" if optional else None,
                        help="the function, module or module class")
    parser.add_argument("--input", action="append", default=[], metavar="SPEC", dest="inputs",
                        help="one argument: 'float32[4,8]', or a Python literal; repeat it")


def add_backend(parser: argparse.ArgumentParser) -> None:
    """--backend."""
    parser.add_argument("--backend", default="auto", choices=["auto", "llvm", "c"],
                        help="which native backend (default: auto)")
