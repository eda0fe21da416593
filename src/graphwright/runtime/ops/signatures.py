"""The functions and methods of ops, and their parameters as users give them: the schema's, under
PyTorch's and NumPy's names, and what functions take beside them.

`_core.OpFunction` asks here how to bind a call (`describe`), for its signature and its docstring.
What a call rarely has is done here too: the older overloads, `out=`, `memory_format=`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime._core import OpFunction, OpMethod
from graphwright.runtime.dispatch import not_bound
from graphwright.runtime.ops.aliases import ALIASES, Renamed
from graphwright.runtime.ops.argument_forms import NORMALISERS, given_dim
from graphwright.runtime.ops.deprecated_overloads import (
    BEHIND,
    NUMBERS,
    number_behind,
    number_first,
)
from graphwright.runtime.ops.out import is_plain, with_out
from graphwright.runtime.ops.out_forms import OUT_FORMS
from graphwright.runtime.ops.schema import REQUIRED, Param
from graphwright.runtime.ops.table import Op, op
from graphwright.runtime.record import Record
from graphwright.runtime.tensor.memory_format import check_placement, in_format

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

FORMATTED = frozenset(
    {
        *("clone", "empty", "empty_like", "full_like", "ones_like", "rand_like"),
        *("randint_like", "randn_like", "zeros_like"),
    }
)
"""The ops that take `memory_format`."""

ALL_GIVEN, SIZES, ONE_OR_MORE = 1, 2, 3
"""What a parameter does with all further positional arguments: takes their tuple; takes them, or
the one sequence that they are; takes one as it is, and several as a tuple."""


class Declared(Record):
    """A parameter as a function or method has it; `collects` is 0 for one argument."""

    param: Param
    seconds: tuple[str, ...]
    collects: int
    kwonly: bool

    @property
    def name(self) -> str:
        return self.param.name


def op_function(name: str, target: str, module: str) -> OpFunction:
    """The function of the op `target` that a module has by a name."""
    return OpFunction(op(target), name, name, module)


def op_method(name: str, target: str, owner: type) -> OpMethod:
    """The method of the op `target` that a class has by a name."""
    return OpMethod(op(target), name, f"{owner.__qualname__}.{name}", owner.__module__)


def declared(entry: Op, name: str, method: bool) -> list[Declared]:
    """The parameters of the function or method `name` of an op, in the order of its schema."""
    alias = ALIASES.get(name.removesuffix("_"))
    renamed = alias.parameters if isinstance(alias, Renamed) and name != entry.name else {}
    params = entry.schema.params
    found: list[Declared] = []
    kwonly = False
    for number, param in enumerate(params):
        default = param.default
        if method and METHOD_REQUIRED.get(entry.name) == param.name:
            default = REQUIRED
        own = Param(renamed.get(param.name, param.name), param.type, default, param.kwonly)
        collects = _collects(params, number, method)
        kwonly = kwonly or param.kwonly
        seconds = () if method and number == 0 else _second_names(entry, param, method)
        found.append(Declared(own, seconds, collects, kwonly))
        kwonly = kwonly or collects > 0
    return found


def _collects(params: tuple[Param, ...], number: int, method: bool) -> int:
    kind = params[number].type
    if kind in ("object*", "Operands*"):
        return ALL_GIVEN
    if method and number == 1 and kind == "Ints*?":
        return ONE_OR_MORE
    sizes = number == len(params) - 1 if method else number == 0 and kind == "Size*"
    return SIZES if sizes and kind.endswith("*") else 0


def _second_names(entry: Op, param: Param, method: bool) -> tuple[str, ...]:
    names = NUMPY_NAMES | KEYWORDS
    if not method:
        names |= FUNCTION_NAMES.get(entry.name, {})
    found = (names[param.name],) if param.name in names else ()
    return (*found, "other") if entry.name in OVERLOADED and param.name == "dim" else found


def others(entry: Op, method: bool) -> dict[str, Any]:
    """What is given by name beside the op's own parameters, with the defaults."""
    found: dict[str, Any] = {}
    if not method and entry.name in OUT_FORMS:
        found["out"] = None
    if entry.name in FORMATTED:
        found["memory_format"] = None
    if not method and "factory" in entry.tags:
        found |= {"layout": None, "pin_memory": False, "requires_grad": False}
    return found


def describe(function: OpFunction) -> tuple[Any, ...]:
    """How calls of a function are bound, as `GwBinding` in binding.h has it."""
    entry: Any = function.__gw_op__
    method = isinstance(function, OpMethod)
    params = declared(entry, function.__name__, method)
    more = others(entry, method)
    names = [one.param.name for one in params]
    plain = [one for one in params if not one.kwonly]
    makes = "requires_grad" in more and names[0] != "input" and "device" in names
    slot, is_list = entry.tensor_slots[0] if entry.tensor_slots else (-1, False)
    return (
        tuple([_described(entry, one) for one in params]),
        len(plain), plain[-1].collects if plain else 0, slot, is_list,
        names.index("device") if makes else -1,
        "out" in more, is_plain(entry), "memory_format" in more, "requires_grad" in more,
        entry.name in NUMBERS,
    )  # fmt: skip


def _described(entry: Op, one: Declared) -> tuple[Any, ...]:
    param = one.param
    known: tuple[Callable[..., Any] | None, int | None]
    known = NORMALISERS.get(param.type, (None, None))
    convert, more_dims = known
    beside_dim = entry.name in OVERLOADED and param.name == "keepdim"
    if beside_dim:
        convert = partial(given_dim, entry.name)
    return (
        param.name, param.type, one.seconds, param.default, convert, more_dims or 0,
        param.default is REQUIRED, NEVER_NONE.get(entry.name) == param.name, beside_dim,
        param.name in KEYWORDS,
    )  # fmt: skip


def signature(function: OpFunction) -> inspect.Signature:
    """What `inspect.signature` gives: second names are left out."""
    entry: Any = function.__gw_op__
    method = isinstance(function, OpMethod)
    found = []
    for number, one in enumerate(declared(entry, function.__name__, method)):
        kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
        default = inspect.Parameter.empty if one.param.default is REQUIRED else one.param.default
        if one.collects:
            kind, default = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.empty
        elif one.kwonly:
            kind = inspect.Parameter.KEYWORD_ONLY
        name = "self" if method and number == 0 else one.param.name
        found.append(inspect.Parameter(name, kind, default=default))
    found += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
              for name, default in others(entry, method).items()]
    return inspect.Signature(found)


def document(function: OpFunction) -> str:
    """The docstring of an op's function or method; empty where none is given."""
    entry: Any = function.__gw_op__
    if entry.doc:
        return str(entry.doc)
    functional = entry.functional if entry.is_inplace else None
    if functional is None or not functional.doc:
        return ""
    return f"In place: writes what `{functional.name}` gives into the tensor, and returns it."


def _older(function: OpFunction, args: tuple[Any, ...], out: Any) -> Any:
    """A call that has more positional arguments than the op has parameters."""
    entry: Any = function.__gw_op__
    if function.__name__ in BEHIND:
        return number_behind(entry, function.__name__, args, out)
    return number_first(entry, args, out, method=isinstance(function, OpMethod))


_core.set_binding_hooks(
    describe=describe, not_bound=not_bound, with_out=with_out, older=_older,
    check_placement=check_placement, in_format=in_format, document=document, signature=signature,
)  # fmt: skip
