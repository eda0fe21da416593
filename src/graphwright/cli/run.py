"""`graphwright run`: a program in which `import torch` means graphwright, run as Python does."""

from __future__ import annotations

import argparse
import atexit
import importlib.util
import io
import os
import sys
from importlib.machinery import BuiltinImporter, PathFinder, SourceFileLoader, SourcelessFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any

from graphwright.cli.errors import UserError
from graphwright.runtime.stderr_notices import write_line

EXAMPLE = "graphwright run train.py --epochs 3"
RUNNER = os.path.dirname(os.path.abspath(__file__)) + os.sep
"""The folder of the files that start a program."""


def add_parser(commands: Any) -> None:
    """The subcommand's grammar."""
    parser = commands.add_parser(
        "run", help="run a program in which `import torch` means graphwright",
        description="Run a program that was written for PyTorch, which need not be installed: "
                    "`import torch` gives graphwright. SCRIPT is a Python file, a folder or zip "
                    "file with a __main__.py, or - for standard input.")
    parser.add_argument("--report", action="store_true",
                        help="at the end, list the names that were asked of torch and that "
                             "graphwright lacks, on standard error")
    add_program(parser)
    parser.set_defaults(run=run)


def add_program(parser: argparse.ArgumentParser) -> None:
    """What says which program is run, and how."""
    parser.usage = f"{parser.prog} [options] (SCRIPT | -m MODULE) [ARGUMENT ...]"
    parser.set_defaults(is_program=True, report=False)
    parser.add_argument("--compile", action="store_true",
                        help="compile the calls of all modules, each class once")
    parser.add_argument("--torch-version", metavar="VERSION",
                        help="what torch.__version__ says")
    parser.add_argument("-m", dest="module", nargs=argparse.REMAINDER, metavar="MODULE",
                        help="run a module by its name, as python -m does")
    parser.add_argument("script", nargs=argparse.REMAINDER, metavar="SCRIPT",
                        help="the program, and its arguments")


def run(arguments: argparse.Namespace) -> None:
    """Run the program as `__main__`. What it raises is raised, without this package's frames.

    Raises:
        UserError: there is no such program.
    """
    words = words_of(arguments)
    try:
        _stand_in(arguments)
        _execute(words[0], words[1:], by_name=arguments.module is not None)
    except UserError:
        raise
    except BaseException as error:
        _hide_runner(error)
        raise


def words_of(arguments: argparse.Namespace) -> list[str]:
    """The program and its arguments. UserError where there is none."""
    words: list[str] = arguments.module or arguments.script
    if not words:
        raise UserError(f"{arguments.command}: no program was given",
                        f"for example: graphwright {arguments.command} train.py --epochs 3")
    return words


def _stand_in(arguments: argparse.Namespace) -> None:
    """Let `import torch` mean graphwright, as the options say, here and in child processes."""
    try:
        from graphwright import as_torch

        as_torch.install(arguments.torch_version)
    except ValueError as error:
        raise UserError(str(error), "for example: --torch-version 2.9.1") from None
    if arguments.report:
        atexit.register(lambda: write_line(str(as_torch.report())))
    if arguments.compile:
        from graphwright.as_torch.modules import compile_modules

        compile_modules()


def _execute(program: str, rest: list[str], by_name: bool) -> None:
    """Run a program in a `__main__` module of its own."""
    main = ModuleType("__main__")
    vars(main)["__annotations__"] = {}
    sys.argv[:] = [program, *rest]
    place, find = (os.getcwd(), _module) if by_name else _kind_of(program)
    if not sys.flags.safe_path:
        sys.path[0] = place
    elif find is _archive:
        sys.path.insert(0, place)
    code = find(program, main)
    sys.modules["__main__"] = main
    exec(code, vars(main))


def _kind_of(program: str) -> tuple[str, Any]:
    """The first folder to search for modules, and what finds the program's code."""
    if program == "-":
        return "", _standard_input
    if os.path.isdir(program) or (os.path.isfile(program) and _is_archive(program)):
        return os.path.abspath(program), _archive
    return os.path.dirname(os.path.realpath(program)), _file


def _is_archive(program: str) -> bool:
    import zipfile

    return zipfile.is_zipfile(program)


def _standard_input(program: str, main: ModuleType) -> CodeType:
    try:
        with open(0, "rb", closefd=False) as file:
            source = file.read()
    except OSError as error:
        raise UserError(f"cannot read standard input: {error.strerror}",
                        f"name a Python file, as in: {EXAMPLE}") from None
    vars(main).update(__file__="<stdin>", __cached__=None, __package__=None, __spec__=None,
                      __loader__=BuiltinImporter)
    return compile(source, "<stdin>", "exec", dont_inherit=True)


def _file(program: str, main: ModuleType) -> CodeType:
    path = os.path.abspath(program)
    try:
        with io.open_code(path) as file:
            source = file.read()
    except OSError as error:
        raise UserError(f"cannot open {program}: {error.strerror}",
                        f"name a Python file, as in: {EXAMPLE}") from None
    loader: Any = SourceFileLoader("__main__", path)
    compiled = None
    if program.endswith(".pyc"):
        loader = SourcelessFileLoader("__main__", path)
        compiled = loader.get_code("__main__")
    vars(main).update(__file__=path, __cached__=None, __loader__=loader, __package__=None,
                      __spec__=None)
    return compiled or compile(source, path, "exec", dont_inherit=True)


def _archive(program: str, main: ModuleType) -> CodeType:
    spec = PathFinder.find_spec("__main__", [os.path.abspath(program)])
    if spec is None:
        raise UserError(f"{program} has no __main__.py", "name the file that is to run", 1)
    return _of_spec(spec, main)


def _module(program: str, main: ModuleType) -> CodeType:
    try:
        spec = importlib.util.find_spec(program)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{program}.__main__")
    except ModuleNotFoundError as error:
        if not error.name or not f"{program}.".startswith(f"{error.name}."):
            raise
        spec = None
    if spec is None or spec.loader is None:
        raise UserError(f"there is no module {program} to run", "give its name as in: "
                        "graphwright run -m package.module", 1)
    code = _of_spec(spec, main)
    sys.argv[0] = spec.origin or program
    return code


def _of_spec(spec: Any, main: ModuleType) -> CodeType:
    """The code of a module that was found, which `main` is to be."""
    vars(main).update(__file__=spec.origin, __cached__=spec.cached, __loader__=spec.loader,
                      __package__=spec.parent, __spec__=spec)
    code: CodeType = spec.loader.get_code(spec.name)
    return code


def _hide_runner(error: BaseException) -> None:
    """Show an exception that ends the process as if Python had run the program itself."""
    shown = error.__traceback__
    while shown is not None and shown.tb_frame.f_code.co_filename.startswith(
            (RUNNER, "<frozen importlib.", os.path.dirname(importlib.util.__file__) + os.sep)):
        shown = shown.tb_next
    hook = sys.excepthook

    def show(kind: type[BaseException], value: BaseException, trace: TracebackType | None
             ) -> None:
        if value is error:
            value.__traceback__ = trace = shown
        hook(kind, value, trace)

    sys.excepthook = show
