"""Functions that read the locals of the frames that call them, such as evaluators of texts."""

from __future__ import annotations

import types
from collections.abc import Iterator

from graphwright.capture.frame.resume import origin_of, refuse_any_break

_DEEPEST = 4


def check_readers(function: types.FunctionType, code: types.CodeType) -> None:
    """Refuse any graph break in `code` if it may call a function that reads its callers' locals.

    The functions that the code names are searched: globals, variables of enclosing functions,
    functions of modules; and the functions of their own modules that those name.
    """
    for found in _named(function, origin_of(code).code):
        if _reads_locals(found):
            refuse_any_break(f"{found.__qualname__}() looks at the locals of its callers")


def _named(function: types.FunctionType, code: types.CodeType) -> Iterator[types.FunctionType]:
    """The functions that a code names."""
    for cell in function.__closure__ or ():
        try:
            held = cell.cell_contents
        except ValueError:      # it is empty
            continue
        if type(held) is types.FunctionType:
            yield held
    for name in code.co_names:
        value = function.__globals__.get(name)
        if type(value) is types.FunctionType:
            yield value
        elif type(value) is types.ModuleType:
            members = (vars(value).get(member) for member in code.co_names)
            yield from (held for held in members if type(held) is types.FunctionType)


def _reads_locals(function: types.FunctionType) -> bool:
    """Whether the function, or one of its module that it leads to, reads `f_locals`."""
    globals_ = function.__globals__
    seen, reached = {id(function)}, [function]
    for _ in range(_DEEPEST):
        if any("f_locals" in found.__code__.co_names for found in reached):
            return True
        named = [globals_.get(name) for found in reached for name in found.__code__.co_names]
        reached = []
        for held in named:
            if type(held) is types.FunctionType and id(held) not in seen:
                seen.add(id(held))
                if held.__globals__ is globals_:
                    reached.append(held)
    return False
