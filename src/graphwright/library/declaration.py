"""Declarations of ops, as schema strings: `"sine(Tensor x, int n=1) -> Tensor"`.

A function's annotations give such a string too (`infer_schema`), so that there is one form.

    Tensor T? T[] T?[]        a type, with None, a list of them; of Tensor, int or SymInt, float,
                              bool, complex, str, Scalar, ScalarType, Layout, MemoryFormat, Device,
                              Generator
    int[2]                    a list; one number stands for two of it
    Tensor(a!) Tensor!        a tensor that is written; Tensor(a) one that a result may share
    -> Tensor, (Tensor, int), Tensor[], ()
"""

from __future__ import annotations

import ast
import inspect
import re
import typing
from collections.abc import Callable, Iterable, Sequence
from types import UnionType
from typing import Any

from graphwright.runtime._core import TensorBase
from graphwright.runtime.record import Record
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.generator import Generator
from graphwright.runtime.tensor.memory_format import layout, memory_format
from graphwright.runtime.tensor.tensor import Tensor

_REQUIRED: Any = inspect.Parameter.empty
_TYPE = re.compile(
    r"(?P<base>\w+)(?P<alias>!|\([a-z]\w*!?(?: ?-> ?[\w*|]+)?\))?"
    r"(?P<rest>(?:\?|\[\d*\])*)(?:\s+(?P<name>\w+))?"
)


def _is_number(value: Any) -> bool:
    """Whether a value is a number, symbolic or NumPy's."""
    return hasattr(value, "__float__") or hasattr(value, "__index__")


def _is_integer(value: Any) -> bool:
    return hasattr(value, "__index__")


_ACCEPTED: dict[str, Callable[[Any], bool] | type | tuple[type, ...]] = {
    "Tensor": TensorBase,
    **dict.fromkeys(("int", "SymInt"), _is_integer),
    "float": _is_number,
    "complex": lambda value: _is_number(value) or isinstance(value, complex),
    "Scalar": lambda value: _is_number(value) or isinstance(value, complex),
    "bool": lambda value: type(value).__name__ in ("bool", "bool_", "SymBool"),
    "str": str,
    "ScalarType": DType,
    "Layout": layout,
    "MemoryFormat": memory_format,
    "Device": (Device, str),
    "Generator": Generator,
}
"""What a value of each type is: a class, or a function that says."""


class Argument(Record):
    """One argument: `type` is as written, without what says that it is written."""

    name: str
    type: str
    default_value: Any
    kwarg_only: bool
    is_write: bool

    @property
    def has_tensors(self) -> bool:
        """Whether its values are tensors."""
        return self.type.startswith("Tensor")

    def has_default_value(self) -> bool:
        """Whether it may be left out."""
        return self.default_value is not _REQUIRED

    def accepted(self, value: Any) -> Any:
        """The value as the kernel gets it. Raises TypeError where it is not of the type."""
        base, levels = _levels(self.type)
        return _accepted(value, base, levels)


def _levels(type_: str) -> tuple[str, list[str]]:
    """("int", ["[2]", "?"]) of "int[2]?"."""
    base = re.match(r"\w+", type_)
    assert base is not None
    return base[0], re.findall(r"\?|\[\d*\]", type_[base.end() :])


def _accepted(value: Any, base: str, levels: Sequence[str]) -> Any:
    if levels:
        *inner, last = levels
        if last == "?":
            return None if value is None else _accepted(value, base, inner)
        if isinstance(value, list | tuple):
            return [_accepted(part, base, inner) for part in value]
        if last != "[]":
            return [_accepted(value, base, inner)] * int(last[1:-1])
        raise TypeError
    check = _ACCEPTED[base]
    if not (isinstance(value, check) if isinstance(check, type | tuple) else check(value)):
        raise TypeError
    if isinstance(value, TensorBase) and base not in ("Tensor", "Scalar"):
        raise TypeError
    return Device(value) if base == "Device" else value


class FunctionSchema(Record):
    """What goes into an op and comes out of it. `returns` are types; `text` is as printed."""

    name: str
    overload_name: str
    arguments: tuple[Argument, ...]
    returns: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def is_mutable(self) -> bool:
        """Whether an argument is written."""
        return any([argument.is_write for argument in self.arguments])


def _parts(text: str) -> list[str]:
    """Split at the commas that are in no brackets and no quotes."""
    found, depth, quote, start = [], 0, "", 0
    for place, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == "," and depth == 0:
            found.append(text[start:place])
            start = place + 1
        else:
            depth += (char in "([") - (char in ")]")
    return [part for part in [part.strip() for part in [*found, text[start:]]] if part]


def _typed(text: str, schema: str) -> tuple[str, str | None, bool]:
    """(type, name or None, whether it is written) of `Tensor(a!) x`."""
    match = _TYPE.fullmatch(text.strip())
    if match is None or match["base"] not in _ACCEPTED:
        raise RuntimeError(
            f"unknown type specifier '{text.strip()}' in the schema '{schema}'. Known are "
            f"{', '.join(_ACCEPTED)}, with '?' or '[]' behind"
        )
    return match["base"] + match["rest"], match["name"], "!" in (match["alias"] or "")


def _default(text: str, type_: str, schema: str) -> Any:
    """The value of a default as it is written."""
    base, levels = _levels(type_)
    if text == "None":
        return None
    if base == "ScalarType" and isinstance(found := getattr(dtypes, text, None), DType):
        return found
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        value = _REQUIRED
    try:
        return _accepted(value, base, levels)
    except TypeError:
        raise RuntimeError(f"'{text}' is no default for '{type_}' in '{schema}'") from None


def parse_schema(text: str, namespace: str) -> FunctionSchema:
    """The declaration that a string like "name.overload(Tensor x) -> Tensor" means.

    Raises RuntimeError where it is malformed or names a type that does not exist.
    """
    head, arrow, results = text.rpartition("->")
    match = re.fullmatch(r"\s*(\w+)(?:\.(\w+))?\s*\((.*)\)\s*", head, re.DOTALL)
    if not arrow or match is None:
        raise RuntimeError(
            f"expected a schema such as 'name(Tensor x, int n=1) -> Tensor', found '{text}'"
        )
    arguments: list[Argument] = []
    only = False
    for part in _parts(match[3]):
        if part == "*":
            only = True
            continue
        declared, equals, default = part.partition("=")
        type_, name, written = _typed(declared, text)
        if name is None:
            raise RuntimeError(f"'{part}' has no name in the schema '{text}'")
        value = _default(default.strip(), type_, text) if equals else _REQUIRED
        arguments.append(Argument(name, type_, value, only, written))
    names = [argument.name for argument in arguments]
    if len(set(names)) < len(names):
        raise RuntimeError(f"an argument's name is there twice in the schema '{text}'")
    results = results.strip()
    several = results.startswith("(")
    listed = _parts(results[1:-1] if several else results)
    returns = tuple([_typed(part, text)[0] for part in listed])
    return FunctionSchema(
        f"{namespace}::{match[1]}", match[2] or "", tuple(arguments), returns,
        f"{namespace}::{text.strip()}",
    )


# -- from annotations

_PLAIN = {
    int: "SymInt", float: "float", bool: "bool", str: "str", complex: "complex",
    DType: "ScalarType", Device: "Device", Tensor: "Tensor",
}  # fmt: skip
_DEFAULTS = (int, float, bool, str, complex, DType, Device, type(None))


def _written_type(name: str, annotation: Any) -> str:
    """The schema's type of a parameter. Raises ValueError for annotations that have none."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, UnionType):
        some = [one for one in inner if one is not type(None)]
        optional = "?" if len(some) < len(inner) else ""
        if len(some) == 1:
            return _written_type(name, some[0]) + optional
        if all([one in (int, float, bool, complex) for one in some]):
            return "Scalar" + optional
    elif origin in (list, Sequence) and len(inner) == 1:
        return _written_type(name, inner[0]) + "[]"
    elif annotation in _PLAIN:
        return _PLAIN[annotation]
    raise ValueError(
        f"infer_schema(func): Parameter {name} has unsupported type {annotation}. The valid types "
        "are Tensor, int, float, bool, complex, str, dtype, device, numbers (int | float | bool), "
        "and optional ones and lists of these"
    )


def _written_default(name: str, type_: str, default: Any) -> str:
    if default is _REQUIRED:
        return ""
    if not isinstance(default, _DEFAULTS):
        raise ValueError(
            f"infer_schema(func): Parameter {name} has an unsupported default value type "
            f"{type(default)}; numbers, strings, dtypes, devices and None can be written"
        )
    if isinstance(default, DType):
        return f"={default.name}"
    if isinstance(default, str | Device):
        return '="' + str(default).replace("\\", r"\\").replace('"', r"\"") + '"'
    return f"={default}"


def _written_results(annotation: Any) -> str:
    if annotation is inspect.Signature.empty:
        raise ValueError("infer_schema(func): No return type annotation was provided")
    if annotation is None or annotation is type(None):
        return "()"
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is tuple and inner and ... not in inner:
        kinds = [_written_type("return", one) for one in inner]
        return kinds[0] if len(kinds) == 1 else f"({', '.join(kinds)})"
    return _written_type("return", annotation)


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
) -> str:
    """The schema of a function with annotations: "(Tensor x, SymInt n=1) -> Tensor".

    Args:
        prototype_function: every parameter has an annotation, and so has the result.
        mutates_args: the names of the parameters that are written, or "unknown".
        op_name: what stands in front; None: nothing.

    Raises:
        ValueError: an annotation or default has no form in schemas, a parameter is positional
            only or variadic, or a name of `mutates_args` is no parameter's.
    """
    signature = inspect.signature(prototype_function)
    hints = typing.get_type_hints(prototype_function)
    unknown = set(() if mutates_args == "unknown" else mutates_args) - set(signature.parameters)
    if unknown:
        raise ValueError(
            f"infer_schema(func): {sorted(unknown)} in mutates_args were not found in the "
            f"signature {signature}"
        )
    listed: list[str] = []
    for place, (name, parameter) in enumerate(signature.parameters.items()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ValueError(
                "infer_schema(func): We do not support positional-only args, varargs, or "
                f"varkwargs. Got func with signature {signature}"
            )
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in listed:
            listed.append("*")
        if parameter.annotation is _REQUIRED:
            raise ValueError(
                f"infer_schema(func): Parameter {name} must have a type annotation. Got func "
                f"with signature {signature}"
            )
        type_ = _written_type(name, hints[name])
        default = _written_default(name, type_, parameter.default)
        if mutates_args == "unknown" or name in mutates_args:
            if type_.startswith("Tensor"):
                type_ = type_.replace("Tensor", f"Tensor(a{place}!)", 1)
            elif mutates_args != "unknown":
                raise ValueError(
                    f"infer_schema(func): Parameter {name} is in mutates_args but is no tensor"
                )
        listed.append(f"{type_} {name}{default}")
    results = _written_results(hints.get("return", signature.return_annotation))
    return f"{op_name or ''}({', '.join(listed)}) -> {results}"
