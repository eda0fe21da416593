"""Schema strings of ops: `"sum(Tensor input, Dims dim=None, bool keepdim=False)"`.

A parameter is `Type name`, optionally `= default`; after a lone `*` parameters are
keyword-only. The type decides how a call brings the argument to its one form
(argument_forms.py), which is what every op sees: dims are wrapped to 0..ndim-1, sizes are tuples.

    Tensor Tensor? Tensor[] Tensor?[]   tensors; lists become tuples
    Operand                             a tensor or a Python number
    Dim Dim? NewDim                     one dimension (NewDim: of the result with one more)
    Dims                                int, sequence or None (= all); sorted tuple
    Dims? DimsExact                     Dims, where None and () stay None, or () means no dim
    DimsGiven LoneDim                   Dims, but neither None nor (); or no sequence
    Perm Perm*                          sequence of distinct dimensions, order kept
    Size Size* Size?                    sizes; `*`: the method also takes them one by one
    IntPair IntPair?                    one number for both of two dimensions, or one for each
    int SymInt                          an int; a SymInt is also what has `__index__`
    SymInt|Tensor                       a SymInt, or a tensor that the kernel looks at
    Ints Ints? Ints*?                   an int or a sequence of them, handed through; `*` as above
    Scalar|str Scalar|str?              a number, or a word that the kernel knows
    Ints|None Ints|Tensor Ints|str      Ints, where an item may be None; or a tensor; or a word
    object*                             all positional arguments from here on, as a tuple
    Operands*                           the same, or the items of one list behind an equation
    anything else                       handed through as it is
"""

from __future__ import annotations

import ast
import sys
from typing import Any

from graphwright.runtime.ops.int_arguments import CONVERSIONS
from graphwright.runtime.record import Record


class _Required:
    """The default of parameters that have none."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Any = _Required()

TENSOR_TYPES = frozenset({"Tensor", "Tensor?", "Operand", "Operand?"})
NUMBER_TYPES = frozenset({"float", "float?", "Scalar", "Scalar?"})
SINGLE_TYPES = frozenset({"Dim", "NewDim", "Operand", "SymInt", "SymInt|Tensor", "int"})
TENSOR_LIST_TYPES = frozenset({"Tensor[]", "Tensor?[]"})


class Param(Record):
    """One parameter; `default` is REQUIRED where the schema gives none."""

    name: str
    type: str
    default: Any
    kwonly: bool

    @property
    def is_tensor(self) -> bool:
        return self.type in TENSOR_TYPES

    @property
    def is_tensor_list(self) -> bool:
        return self.type in TENSOR_LIST_TYPES

    @property
    def is_integer(self) -> bool:
        return self.type.rstrip("?") in CONVERSIONS

    @property
    def is_never_none(self) -> bool:
        number = self.is_integer or self.type in NUMBER_TYPES or self.type == "Operand"
        return number and self.default is not None and not self.type.endswith("?")


class Schema(Record):
    """Name and parameters of an op, as parsed from `text`."""

    name: str
    params: tuple[Param, ...]
    text: str

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.params)

    def kinds(self) -> tuple[tuple[int, ...], ...]:
        """The places of parameters whose arguments dispatch looks at: ints, and sequences of
        them; tensors; bools; numbers, which may be optional; ints and numbers that are never
        None; single ints, and tensors or numbers; tensors or None."""
        places = [(place, param.type) for place, param in enumerate(self.params)]
        return (
            tuple([place for place, param in enumerate(self.params) if param.is_integer]),
            *[tuple([place for place, type_ in places if type_ in types])
              for types in (("Tensor",), ("bool",), NUMBER_TYPES)],
            tuple([place for place, param in enumerate(self.params) if param.is_never_none]),
            tuple([place for place, type_ in places if type_.rstrip("?") in SINGLE_TYPES]),
            tuple([place for place, type_ in places if type_ == "Tensor?"]),
        )

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Positional and keyword arguments as one full tuple in schema order, not normalised.

        Raises TypeError on missing, surplus or unknown arguments.
        """
        if len(args) > len(self.params):
            raise TypeError(
                f"{self.name}() takes at most {len(self.params)} arguments ({len(args)} given)"
            )
        bound = list(args)
        for param in self.params[len(args) :]:
            if param.name in kwargs:
                bound.append(kwargs[param.name])
            elif param.default is REQUIRED:
                raise TypeError(f"{self.name}() missing required argument '{param.name}'")
            else:
                bound.append(param.default)
        unknown = set(kwargs) - {p.name for p in self.params[len(args) :]}
        if unknown:
            raise TypeError(
                f"{self.name}() got an unexpected keyword argument '{sorted(unknown)[0]}'"
            )
        return tuple(bound)


def _split(text: str) -> list[str]:
    """Split at top-level commas: defaults may be tuples."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [part for part in [*parts, text[start:].strip()] if part]


_USUAL_DEFAULTS = {"None": None, "True": True, "False": False, "0": 0, "1": 1, "-1": -1}


def _default(text: str) -> Any:
    """The literal meant; the usual ones without starting Python's parser."""
    if text in _USUAL_DEFAULTS:
        return _USUAL_DEFAULTS[text]
    value = ast.literal_eval(text)
    return sys.intern(value) if isinstance(value, str) else value


def parse(text: str) -> Schema:
    """Parse a schema string. Raises ValueError where it is malformed."""
    name, _, rest = text.partition("(")
    if not rest.endswith(")"):
        raise ValueError(f"malformed schema: {text}")
    params: list[Param] = []
    kwonly = False
    for part in _split(rest[:-1]):
        if part == "*":
            kwonly = True
            continue
        declaration, _, default = part.partition("=")
        type_name, _, param_name = declaration.strip().partition(" ")
        value = _default(default) if default else REQUIRED
        params.append(Param(param_name.strip(), type_name, value, kwonly))
    return Schema(name.strip(), tuple(params), text)
