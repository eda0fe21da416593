"""Find the function that FILE.py:FUNCTION names, and make the inputs to call it with.

Inputs come from `--input` options, each the spec of a tensor or a Python literal, or else from a
function `example_inputs()` (or `FUNCTION_inputs()`) in the file, which returns a tuple.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import graphwright as gw
from graphwright.cli.errors import UserError, users_code
from graphwright.runtime.tensor.float8 import FORMATS

SPEC = re.compile(
    r"(?P<dtype>[a-z]+[0-9]*(?:_[a-z0-9]+)?)\[(?P<shape>(?: *[0-9]+ *(?:, *[0-9]+ *)*,?)? *)\]"
)
SHORT = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i64": "int64",
         "i32": "int32", "i16": "int16", "i8": "int8", "u8": "uint8"}
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
          "float64", *FORMATS)
EXAMPLE = "graphwright dump model.py:forward --input 'float32[128,784]'"


def load_module(path: Path) -> ModuleType:
    """Import a file as a module of its own name.

    Raises:
        UserError: the file does not exist, is no Python file, or fails to import.
    """
    if not os.path.isfile(path):
        raise UserError(f"there is no file {path}", f"name a Python file, as in: {EXAMPLE}")
    if path.suffix != ".py":
        raise UserError(f"{path} is not a .py file", f"name a Python file, as in: {EXAMPLE}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))
    sys.modules[path.stem] = module
    stand_in_for(path)
    try:
        with users_code(f"importing {path}"):
            spec.loader.exec_module(module)
    except SyntaxError as error:
        line = "" if error.lineno is None else f":{error.lineno}"
        raise UserError(f"{error.filename or path}{line}: {error.msg}", "correct the file's syntax"
                        ) from None
    except ModuleNotFoundError as error:
        raise UserError(f"{path} cannot be imported: {error}", "install what it imports") from None
    return module


def stand_in_for(path: Path) -> None:
    """Let `import torch` mean graphwright, if a file may be written for PyTorch: it imports torch,
    or other libraries that may import it, and not graphwright itself."""
    imported = imports_of(path, set())
    libraries = imported - sys.stdlib_module_names - {"numpy"}
    if libraries and "graphwright" not in imported and "torch" not in sys.modules:
        from graphwright import as_torch

        as_torch.install()


def imports_of(path: Path, seen: set[Path]) -> set[str]:
    """The top-level modules that a file, and those beside it that it imports, import anywhere.

    seen: the files that were looked at; of one without right syntax there are none.
    """
    seen.add(path)
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return set()
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import)
             for alias in node.names}
    names |= {node.module for node in ast.walk(tree)
              if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    found: set[str] = set()
    for name in names:
        local = path.parent.joinpath(*name.split("."))
        files = [file for file in (local.with_suffix(".py"), local / "__init__.py")
                 if file.is_file()]
        if not files:
            found.add(name.partition(".")[0])
        for file in files:
            if file not in seen:
                found |= imports_of(file, seen)
    return found


def load_target(text: str) -> tuple[ModuleType, Callable[..., Any]]:
    """The module and the callable that 'FILE.py:FUNCTION' names (dots reach into classes).

    Raises:
        UserError: the text is of another form, or names nothing callable.
    """
    file, colon, name = text.rpartition(":")
    if not colon or not name:
        raise UserError(f"'{text}' is not of the form FILE.py:FUNCTION", f"for example: {EXAMPLE}")
    module = load_module(Path(file))
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            public = [n for n, v in vars(module).items()
                      if callable(v) and getattr(v, "__module__", "") == module.__name__]
            known = ", ".join(public) or "nothing that can be called"
            raise UserError(f"{file} has no '{name}'", f"it defines: {known}")
        found = getattr(found, part)
    if isinstance(found, type) and issubclass(found, gw.nn.Module):
        found = instantiate(found)
    if not callable(found):
        raise UserError(f"'{name}' in {file} is not callable", "name a function or a module")
    return module, found


def instantiate(kind: type[gw.nn.Module]) -> gw.nn.Module:
    """A module class that needs no arguments, instantiated."""
    try:
        inspect.signature(kind).bind()
    except TypeError as error:
        raise UserError(f"class {kind.__name__} cannot be made without arguments: {error}",
                        "name an instance or a function that uses it") from None
    return kind()


def tensor_of(spec: re.Match[str]) -> gw.Tensor:
    """A tensor of random numbers for 'float32[4,8]', small integers for integer dtypes."""
    name = SHORT.get(spec["dtype"], spec["dtype"])
    if name not in DTYPES:
        raise UserError(f"unknown dtype '{spec['dtype']}'", f"use one of {', '.join(DTYPES)}")
    dtype = getattr(gw, name)
    try:
        shape = tuple(int(part) for part in spec["shape"].split(",") if part.strip())
        if dtype.is_floating_point:
            return gw.randn(shape).to(dtype)
        return gw.randint(0, 2, shape).to(dtype)
    except (RuntimeError, ValueError) as error:
        raise UserError(f"'{spec.group()}' cannot be made: {error}", "give a smaller shape"
                        ) from None


def parse_input(text: str) -> Any:
    """One `--input`: a tensor spec or a Python literal.

    Raises:
        UserError: the text is neither.
    """
    spec = SPEC.fullmatch(text.strip())
    if spec:
        return tensor_of(spec)
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise UserError(f"'{text}' is not an input",
                        "give a dtype and shape like 'float32[4,8]', or a literal") from None


def example_inputs(module: ModuleType, *names: str) -> tuple[Any, ...]:
    """What the file's function for the inputs of a name returns; nothing where it has none.

    Raises:
        UserError: it is no function, or gives no tuple.
    """
    makers = (*(f"{name}_inputs" for name in names), "example_inputs")
    known = [maker for maker in makers if hasattr(module, maker)]
    if not known:
        return ()
    maker = getattr(module, known[0])
    way_out = f"for one argument: def {known[0]}(): return (argument,)"
    if not callable(maker):
        raise UserError(f"{known[0]} is not a function", way_out)
    with users_code(known[0]):
        inputs = maker()
    if not isinstance(inputs, tuple | list):
        raise UserError(f"{known[0]}() returned {type(inputs).__name__}, not a tuple", way_out)
    return tuple(inputs)


def load_call(text: str, specs: Sequence[str]) -> tuple[ModuleType, Callable[..., Any],
                                                        tuple[Any, ...]]:
    """What `load_target` gives, and the arguments to call it with.

    Raises:
        UserError: there is no such target.
    """
    module, function = load_target(text)
    return module, function, make_inputs(module, function, text.rpartition(":")[2], specs)


def make_inputs(module: ModuleType, target: Callable[..., Any], given_name: str,
                specs: Sequence[str]) -> tuple[Any, ...]:
    """The arguments to call `target` with, which the command line calls `given_name`.

    Raises:
        UserError: nothing says what they are, or they do not fit the signature.
    """
    name = getattr(target, "__name__", type(target).__name__)
    given = tuple(parse_input(spec) for spec in specs)
    inputs = given or example_inputs(module, given_name, name)
    called = target.forward if isinstance(target, gw.nn.Module) else target
    try:
        signature = inspect.signature(called)
    except ValueError:  # a builtin without a signature
        return inputs
    try:
        signature.bind(*inputs)
    except TypeError as error:
        raise UserError(f"{name}{signature} cannot be called: {error}",
                        "give each argument by --input 'float32[4,8]', or define "
                        "example_inputs() in the file") from None
    return inputs
