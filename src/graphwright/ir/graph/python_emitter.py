"""`Script`: straight-line Python code that is written once and then called often.

What a program does in each call is known when it is made: which callables run, in which order, on
what. A loop over a list of steps finds that out again each time; the code has it in its text::

    def run(r3):
        r0 = c1((r3, 0))
        del r3
        [r2] = c2(r0)
        return (r2, c3)

Registers are locals, all other objects are the function's globals.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graphwright.ir.graph.node import DICTS, LISTS, Node, map_leaves
from graphwright.runtime.symbolic.expr import Expr
from graphwright.runtime.symbolic.places import text_at

_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "<script>")
"""The functions' file, one of this package: whoever looks for the user's line passes over it."""


class Script:
    """Collects statements, and the objects that they name.

    Args:
        arguments: what the function's arguments are called.
        symbols: size symbol -> (index of an argument, place in it). Their values are read first.
    """

    def __init__(
        self, arguments: Sequence[str], symbols: Mapping[str, tuple[int, int]]
    ) -> None:
        self.arguments = list(arguments)
        self.symbols = symbols
        self.lines: list[str] = []
        self.names: dict[str, Any] = {"__name__": __name__}
        self._known: dict[int, str] = {}
        self._sized = False

    def add(self, line: str) -> None:
        """Append a statement."""
        self.lines.append(line)

    def free(self, registers: Sequence[str]) -> None:
        """Release the values in these registers."""
        if registers:
            self.add(f"del {', '.join(registers)}")

    def constant(self, value: Any) -> str:
        """The text for an object: a name, or what Python has only one of."""
        if value is None or type(value) is bool or (type(value) is int and 0 <= value <= 256):
            return repr(value)
        name = self._known.setdefault(id(value), f"c{len(self._known)}")
        self.names[name] = value
        return name

    def value(self, value: Any, registers: Mapping[Node, str]) -> str:
        """The text for nodes, sizes, constants, and containers of them.

        A container without a node or a size in it is that very object in each call.
        """
        if type(value) is Node:
            return registers[value]
        if not varies(value):
            return self.constant(value)
        size = size_of(value)
        if size is not None:
            self._sized = True
            return f"{self.constant(size)}.evaluate(sizes)"
        kind = type(value)
        if kind in DICTS:
            items = [f"{self.constant(key)}: {self.value(item, registers)}"
                     for key, item in value.items()]
            return f"{{{', '.join(items)}}}"
        if kind is slice:
            parts = self.values((value.start, value.stop, value.step), registers)
            return f"{self.constant(slice)}({parts})"
        parts = self.values(value, registers)
        if kind in LISTS:
            return f"[{parts}]"
        return f"{self.constant(kind)}({parts})" if hasattr(value, "_fields") else f"({parts})"

    def values(self, values: Sequence[Any], registers: Mapping[Node, str]) -> str:
        """The same for each, with a comma after it."""
        return "".join([f"{self.value(value, registers)}, " for value in values]).rstrip(" ")

    def call(self, function: Any, *arguments: str) -> str:
        """The text of a call."""
        return f"{self.constant(function)}({', '.join(arguments)})"

    def function(self) -> Callable[..., Any]:
        """Takes the arguments one by one."""
        return self._compiled(f"def run({', '.join(self.arguments)}):", [])

    def consumer(self) -> Callable[[list[Any]], Any]:
        """Takes a list of the arguments, and them out of it."""
        return self._compiled(
            "def run(given):", [f"[{', '.join(self.arguments)}] = given", "given.clear()"])

    def _compiled(self, head: str, first: list[str]) -> Callable[..., Any]:
        lines = [head, *first, *self._reading_of_sizes(), *self.lines]
        scope = dict(self.names)
        exec(compile("\n    ".join(lines) + "\n", _FILE, "exec"), scope)
        return scope["run"]

    def _reading_of_sizes(self) -> list[str]:
        if not self._sized:
            return []
        items = [f"{name!r}: {text_at(self.arguments[index], place)}"
                 for name, (index, place) in self.symbols.items()]
        return [f"sizes = {{{', '.join(items)}}}"]


def leaves(value: Any) -> list[Any]:
    """What is in nested containers, without numbers, strings, dtypes and None."""
    found: list[Any] = []
    map_leaves(value, found.append)
    return found


def size_of(leaf: Any) -> Expr | None:
    """The expression of a symbolic size."""
    expr = leaf if isinstance(leaf, Expr) else getattr(leaf, "expr", None)
    return expr if isinstance(expr, Expr) else None


def varies(value: Any) -> bool:
    """Whether a value has a node or a size in it."""
    return any(type(leaf) is Node or size_of(leaf) is not None for leaf in leaves(value))
