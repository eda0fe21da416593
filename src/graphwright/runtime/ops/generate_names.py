"""Names under which the generated wrappers take parameters, besides those of the schema, and what
may not be given: the tables, and the statements that come first in a wrapper.
"""

from __future__ import annotations

from graphwright.runtime.ops.schema import REQUIRED, Param
from graphwright.runtime.ops.table import Op

NUMPY_NAMES = {"dim": "axis", "keepdim": "keepdims"}
"""NumPy's names of parameters, which are taken as well."""

FUNCTION_NAMES = {
    "pow": {"input": "self"},
    "split": {"input": "tensor", "split_size": "split_size_or_sections"},
}
"""Names that PyTorch's function has for parameters to which its method gives others."""

NEVER_NONE = {
    **dict.fromkeys(("max", "median", "min", "nanmedian", "prod"), "dim"),
    **dict.fromkeys(("squeeze", "squeeze_copy"), "dim"),
    **dict.fromkeys(("trapezoid", "cumulative_trapezoid"), "x"),
    "arange": "end",
    "linalg_matrix_rank": "tol",
    "linalg_pinv": "rcond",
    "repeat_interleave": "repeats",
    "where": "input",
    **dict.fromkeys(("std", "std_mean", "var", "var_mean"), "unbiased"),
}
"""A parameter of each that may be left out, but not be None."""

METHOD_REQUIRED = {"repeat_interleave": "repeats"}
"""A parameter of each that methods, other than functions, have to be given."""

OVERLOADED = frozenset({"max", "min"})
"""The ops whose `dim` may be another tensor, but not beside `keepdim`."""

KEYWORDS = {"from_": "from"}
"""Names of parameters that are words of Python, which are given as `**{name: value}`."""


def second_names(op: Op, method: bool) -> dict[str, tuple[str, ...]]:
    """The second names of parameters, by the first."""
    names = NUMPY_NAMES if method else NUMPY_NAMES | FUNCTION_NAMES.get(op.name, {})
    given = [p.name for p in op.schema.params if p.name in names]
    found: dict[str, tuple[str, ...]] = {name: (names[name],) for name in given}
    if op.name in OVERLOADED:
        found["dim"] += ("other",)
    return found


def conversions(op: Op, method: bool = False, indent: str = "    ") -> str:
    """The statements that take what is given by second names and by words of Python.

    These come after the other positional parameters: defaults of keyword-only ones cost a call
    ten times as much. What is given by position there, or before them as `surplus`, is refused.
    """
    text = ""
    seconds = second_names(op, method)
    if has_surplus(op, method):
        text += f'{indent}if surplus is not ...:\n{indent}    refuse_surplus("{op.name}")\n'
    if method and spreads(op):
        name = op.schema.params[1].name
        default = default_of(op, op.schema.params[1])
        call = f'spread("{op.name}", {name}_, {name}, {default})'
        text += f"{indent}if {name}_:\n{indent}    {name} = {call}\n"
    for param, following in zip(op.schema.params, (*op.schema.params[1:], None), strict=True):
        default = default_of(op, param)
        if param.name in KEYWORDS:
            text += (
                f"{indent}if words:\n{indent}    {param.name} = by_word("
                f'"{op.name}", "{KEYWORDS[param.name]}", {param.name}, {default}, words, '
                f"{following.name if following else None})\n"
            )
        for name in seconds.get(param.name, ()):
            text += _taken_from(op, param, name, indent)
    return text + _refusals(op, method, indent)


def _taken_from(op: Op, param: Param, name: str, indent: str) -> str:
    """The statement that takes a parameter from its second name."""
    first = f'"{op.name}", "{param.name}", {param.name}, {default_of(op, param)},'
    call, second = f"{indent}    {param.name} = same_as(", f'"{name}", {name}'
    if len(call + first + second) > 96:
        inner = f"\n{indent}        "
        call += f"{inner}{first}{inner}{second},\n{indent}    )\n"
    else:
        call += f"{first} {second})\n"
    return f"{indent}if {name} is not ...:\n{call}"


def _refusals(op: Op, method: bool, indent: str) -> str:
    """The statements that refuse None, and a tensor for `dim` beside `keepdim`."""
    text = ""
    if op.name in NEVER_NONE:
        name, other = NEVER_NONE[op.name], "if"
        if not method or METHOD_REQUIRED.get(op.name) != name:
            text += f"{indent}if {name} is ...:\n{indent}    {name} = None\n"
            other = "elif"
        call = f'refuse_none("{op.name}", "{name}")'
        text += f"{indent}{other} {name} is None:\n{indent}    {call}\n"
    if op.name in OVERLOADED:
        call = f'given_dim("{op.name}", dim)'
        text += f"{indent}if keepdim is ...:\n{indent}    keepdim = False\n"
        text += f"{indent}elif dim.__class__ is not int:\n{indent}    dim = {call}\n"
    return text


def has_surplus(op: Op, method: bool) -> bool:
    """Whether a second name could be given by position, and its first name's default too."""
    plain = [p for p in op.schema.params if p.name in second_names(op, method) and not p.kwonly]
    return any(default_of(op, p) not in ("...", "REQUIRED") for p in plain) and not (
        method and spreads(op)
    )


def spreads(op: Op) -> bool:
    """Whether the method takes the ints of its first parameter one by one too."""
    return len(op.schema.params) > 1 and op.schema.params[1].type == "Ints*?"


def default_of(op: Op, param: Param) -> str:
    """The expression that stands for an argument that is not given."""
    tells = op.name in OVERLOADED and param.name == "keepdim"
    if tells or NEVER_NONE.get(op.name) == param.name:
        return "..."
    return "REQUIRED" if param.default is REQUIRED else repr(param.default)
