"""The table of operators: (domain, name) -> functions with the version that each begins with.

A function takes a node's inputs in order and its attributes by name. How an input is passed
follows from the annotation of the parameter:

    Tensor, Tensor | None    a tensor
    list[int], list[float], int    numbers in Python; those of constants and shapes read no tensor
    float, bool              one number in Python
    np.ndarray               an array of str
    Tensor | np.ndarray      a tensor or an array of str
    Any                      the value as it is

An attribute is a keyword of its name, one with a default in ONNX's schema is always given. So one
function serves versions that have an attribute where later ones have an input of that name. Of the
keyword `n_outputs` the value is the number of the node's outputs. A function with `**options`
takes the keywords of the functions that it hands them on to.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import UnionType
from typing import Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from graphwright import Tensor

F = TypeVar("F", bound=Callable[..., Any])

VALUE, TENSOR, INTS, INT, FLOAT, BOOL, STRINGS, EITHER = range(8)
IN_PYTHON = (INTS, INT, FLOAT, BOOL)
"""Kinds of inputs that are numbers in Python."""
_KINDS: dict[Any, int] = {
    Tensor: TENSOR, list[int]: INTS, list[float]: INTS, int: INT, float: FLOAT, bool: BOOL,
    np.ndarray: STRINGS,
}  # fmt: skip

Tensors = Tensor | tuple[Tensor, ...]
"""The result of an operator whose number of outputs is the node's."""
_OF_TENSORS = (
    Tensor, Tensors, Tensor | np.ndarray, tuple[Tensor, ...], tuple[Tensor, Tensor],
    tuple[Tensor, Tensor, Tensor],
)  # fmt: skip

ML = "ai.onnx.ml"
PREVIEW = "ai.onnx.preview"
MICROSOFT = "com.microsoft"
TRAINING = "ai.onnx.preview.training"


def _always(attributes: dict[str, Any]) -> bool:
    return True


def _never(attributes: dict[str, Any]) -> bool:
    return False


class Operator(NamedTuple):
    """How an operator is computed.

    Attributes:
        function: takes inputs and attributes; returns a value, or a tuple of them for several.
        kinds: how each input is passed; the last holds for further ones where `variadic`.
        variadic: whether there may be any number of inputs.
        names: of the parameters that a node may give, in order.
        moves: whether it only moves elements, so that those below a byte stay what they are.
        returns_one: whether it returns a tensor, never a tuple.
        gives_tensors: attributes -> whether it returns nothing but tensors for inputs that are
            tensors and numbers.
        prepare: makes the function's keywords of a node's attributes, once; None where they are
            the attributes.
    """

    function: Callable[..., Any]
    kinds: tuple[int, ...]
    variadic: bool
    names: tuple[str, ...]
    moves: bool
    returns_one: bool
    gives_tensors: Callable[[dict[str, Any]], bool]
    prepare: Callable[..., dict[str, Any]] | None = None


_TABLE: dict[tuple[str, str], list[tuple[int, Operator]]] = {}
SIZE_RULES: dict[str, Callable[..., Any]] = {}
"""Operators of the default domain that compute with sizes: (values..., attributes) -> Sizes, or
None where the operator has to be computed with tensors."""


def op(
    *names: str, since: int = 1, domain: str = "", moves: bool = False,
    gives_tensors: Callable[[dict[str, Any]], bool] | None = None,
    options_of: tuple[Callable[..., Any], ...] = (),
    prepare: Callable[..., dict[str, Any]] | None = None,
) -> Callable[[F], F]:
    """Decorate the function that computes operators from version `since` on.

    Args:
        moves, prepare: as in `Operator`.
        gives_tensors: by default what the annotation of the function's result says.
        options_of: the functions whose keywords `**options` has.
    """
    def enter(function: F) -> F:
        operator = _described(function, moves, gives_tensors, options_of, prepare)
        for name in names:
            _enter(domain, name, since, operator)
        return function

    return enter


def plain(
    name: str, function: Callable[..., Any], *attributes: str, inputs: int = 1, since: int = 1,
    domain: str = "",
) -> None:  # fmt: skip
    """Enter a function of tensors, and of attributes by name, that returns one."""
    names = (*("a", "b", "c")[:inputs], *attributes)
    operator = Operator(function, (TENSOR,) * inputs, False, names, False, True, _always)
    _enter(domain, name, since, operator)


def _enter(domain: str, name: str, since: int, operator: Operator) -> None:
    entries = _TABLE.setdefault((domain, name), [])
    entries.append((since, operator))
    entries.sort(key=lambda entry: entry[0])


def sizes_rule(*names: str) -> Callable[[F], F]:
    """Decorate the function that computes operators on sizes alone."""
    def enter(function: F) -> F:
        SIZE_RULES.update(dict.fromkeys(names, function))
        return function

    return enter


def find(domain: str, name: str, version: int) -> Operator | None:
    """What computes an operator whose schema is of the version; None where nothing does."""
    found = None
    for since, operator in _TABLE.get((domain, name), ()):
        if since <= version:
            found = operator
    return found


def entered() -> set[tuple[str, str]]:
    """(domain, name) of all operators that are computed here."""
    return set(_TABLE)


def _described(
    function: Callable[..., Any], moves: bool,
    gives_tensors: Callable[[dict[str, Any]], bool] | None,
    options_of: tuple[Callable[..., Any], ...], prepare: Callable[..., dict[str, Any]] | None,
) -> Operator:  # fmt: skip
    parameters = inspect.signature(function).parameters
    keywords = [p.name for other in (prepare or function, *options_of)
                for p in inspect.signature(other).parameters.values() if p.kind is p.KEYWORD_ONLY]
    hints = get_type_hints(function)
    positional = [
        p for p in parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)
    ]
    return Operator(
        function,
        tuple(_kind(hints.get(p.name)) for p in positional),
        any(p.kind is p.VAR_POSITIONAL for p in positional),
        (*[p.name for p in positional], *keywords),
        moves,
        hints.get("return") in (Tensor, Tensor | np.ndarray),
        gives_tensors or (_always if hints.get("return") in _OF_TENSORS else _never),
        prepare,
    )


def _kind(hint: Any) -> int:
    if get_origin(hint) in (Union, UnionType):
        members = [member for member in get_args(hint) if member is not type(None)]
        if set(members) == {Tensor, np.ndarray}:
            return EITHER
        hint = members[0] if len(members) == 1 else Any
    return _KINDS.get(hint, VALUE)
