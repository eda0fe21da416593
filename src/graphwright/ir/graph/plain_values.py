"""Constants, nodes and sizes of a graph as JSON, and back.

Reading makes nothing but plain values, sizes over known symbols, and nodes that exist: no name in
a file is ever imported or called.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from graphwright.ir.graph.node import Node
from graphwright.runtime.ops.op_names import NAMES
from graphwright.runtime.ops.table import TABLE, Op, op
from graphwright.runtime.symbolic import expr as symbolic
from graphwright.runtime.symbolic.expr import Expr, Int, Sym
from graphwright.runtime.symbolic.shape_env import ShapeEnv
from graphwright.runtime.symbolic.symint import SymInt, sym_int
from graphwright.runtime.tensor import dtypes, memory_format
from graphwright.runtime.tensor.device import device as Device

DEEPEST = 64
_COMBINED = {"+": (symbolic.Add, symbolic.add), "*": (symbolic.Mul, symbolic.mul),
             "//": (symbolic.FloorDiv, symbolic.floordiv), "%": (symbolic.Mod, symbolic.mod),
             "min": (symbolic.Min, symbolic.minimum), "max": (symbolic.Max, symbolic.maximum)}
_FORMATS = {one.name: one for one in vars(memory_format).values()
            if isinstance(one, memory_format.memory_format)}
Refusal = Callable[[str], Exception]
"""Makes the exception for what cannot be written, or is malformed."""
T = TypeVar("T")


class PlainWriter:
    """Writes values. `refusal` makes the exception for one that has no form in JSON."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal

    def value(self, value: Any) -> Any:
        """A constant or a node; tagged where JSON has no such value."""
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int and abs(value) < 1 << 63:
            return value
        if type(value) is float:
            return value if value - value == 0 else {"float": repr(value)}
        if type(value) is complex:
            return {"complex": [self.value(value.real), self.value(value.imag)]}
        if isinstance(value, Node):
            return {"node": value.name}
        if isinstance(value, SymInt):
            return {"int": self.expression(value.expr)}
        if isinstance(value, dtypes.dtype):
            return {"dtype": value.name}
        if isinstance(value, Device):
            return {"device": str(value)}
        if isinstance(value, memory_format.memory_format):
            return {"memory_format": value.name}
        if isinstance(value, tuple | list):
            kind = "list" if isinstance(value, list) else "tuple"
            return {kind: [self.value(part) for part in value]}
        if isinstance(value, slice):
            return {"slice": [self.value(part) for part in (value.start, value.stop, value.step)]}
        if value is ...:
            return {"ellipsis": True}
        raise self.refusal(
            f"a file cannot hold a {type(value).__name__} as a constant: {value!r:.80}")

    def op(self, target: Any) -> str:
        """The name of an op of the table, or of `operator.getitem`."""
        if target is operator.getitem:
            return "getitem"
        if isinstance(target, Op) and TABLE.get(target.name) is target:
            return target.name
        name = getattr(target, "name", getattr(target, "__name__", target))
        raise self.refusal(f"a file cannot hold '{name}', which is no op of graphwright's table")

    def size(self, size: Any) -> Any:
        """An int or a `SymInt`."""
        return self.expression(size.expr) if isinstance(size, SymInt) else int(size)

    def expression(self, one: Expr) -> Any:
        """An expression over symbols, by their names."""
        if isinstance(one, Int):
            return one.value
        if isinstance(one, Sym):
            return one.name
        for sign, (kind, _) in _COMBINED.items():
            if isinstance(one, kind):
                return [sign, *map(self.expression, one.args)]
        raise self.refusal(f"a file cannot hold the size {one}")


class PlainReader:
    """Reads what `PlainWriter` wrote; each part is checked before it is used.

    Args:
        env: has the symbols that sizes may depend on.
        nodes: those that values may name; who reads a graph adds to them.
        refusal: makes the exception for what is malformed.
    """

    def __init__(self, env: ShapeEnv, nodes: Mapping[str, Node], refusal: Refusal) -> None:
        self.env, self.nodes, self.refusal = env, nodes, refusal
        self._depth = 0

    def value(self, written: Any) -> Any:
        """A constant, or a node that is known."""
        if written is None or type(written) in (bool, int, float, str):
            return written
        self._depth += 1
        if self._depth > DEEPEST:
            raise self.refusal(f"values are nested deeper than {DEEPEST}")
        try:
            return self._tagged(self.checked(written, dict, "a value"))
        finally:
            self._depth -= 1

    def _tagged(self, written: dict[str, Any]) -> Any:
        if len(written) != 1:
            raise self.refusal("a value has several tags")
        (tag, content), = written.items()
        if tag == "node":
            if type(content) is not str or content not in self.nodes:
                raise self.refusal(f"{content!r:.60} is no node before the one that uses it")
            return self.nodes[content]
        if tag == "int":
            return sym_int(self.expression(content), self.env)
        if tag == "dtype":
            return self.dtype(content)
        if tag == "device" and content == "cpu":
            return Device("cpu")
        if tag == "memory_format" and type(content) is str and content in _FORMATS:
            return _FORMATS[content]
        if tag == "float" and content in ("inf", "-inf", "nan"):
            return float(content)
        if tag == "ellipsis" and content is True:
            return ...
        if tag in ("tuple", "list", "slice", "complex") and type(content) is list:
            parts = [self.value(part) for part in content]
            if tag == "slice" and len(parts) == 3:
                return slice(*parts)
            if tag == "complex" and [type(part) for part in parts] == [float, float]:
                return complex(*parts)
            if tag in ("tuple", "list"):
                return tuple(parts) if tag == "tuple" else parts
        raise self.refusal(f"{tag!r:.40} is no value that a program can have")

    def size(self, size: Any) -> Any:
        """An int that is not negative, or a `SymInt`."""
        if type(size) is int:
            return self.count(size)
        return sym_int(self.expression(size), self.env)

    def sizes(self, sizes: Any) -> tuple[Any, ...]:
        """A shape or strides."""
        return tuple([self.size(size) for size in self.checked(sizes, list, "a shape")])

    def expression(self, written: Any, depth: int = 0) -> Expr:
        """An expression over the sizes' symbols."""
        if type(written) is int and abs(written) < 1 << 62:
            return Int(written)
        if type(written) is str and written in self.env.symbols:
            return self.env.symbols[written]
        known = type(written) is list and written and type(written[0]) is str and (
            written[0] in _COMBINED)
        if not known or depth > DEEPEST or len(written) < 3:
            raise self.refusal("a size is malformed")
        parts = [self.expression(part, depth + 1) for part in written[1:]]
        make: Any = _COMBINED[written[0]][1]
        found: Expr = parts[0]
        for part in parts[1:]:
            if written[0] in ("//", "%") and part is Int(0):
                raise self.refusal("a size is divided by zero")
            found = make(found, part)
        return found

    def op(self, name: Any) -> Any:
        """The op of the table of that name, or `operator.getitem`."""
        if name == "getitem":
            return operator.getitem
        if type(name) is not str or name not in NAMES:
            raise self.refusal(f"there is no op {name!r:.60}")
        return op(name)

    def checked(self, value: Any, kind: type[T], what: str) -> T:
        """The value, which is to be of that very type."""
        if type(value) is not kind:
            raise self.refusal(f"{what} is no {kind.__name__}")
        return value

    def count(self, value: Any) -> int:
        """An int from 0 to 2^62."""
        if type(value) is not int or not 0 <= value < 1 << 62:
            raise self.refusal(f"{value!r:.40} is no size")
        return value

    def dtype(self, name: Any) -> dtypes.dtype:
        """The dtype of that name."""
        found = getattr(dtypes, name, None) if type(name) is str else None
        if not isinstance(found, dtypes.dtype):
            raise self.refusal(f"{name!r:.40} is no dtype")
        return found
