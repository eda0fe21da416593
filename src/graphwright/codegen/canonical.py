"""A native program as text that is equal for equal programs: what cached kernels are keyed by."""

from __future__ import annotations

from enum import Enum
from typing import Any

from graphwright.codegen.emit.lanes import post_order
from graphwright.codegen.loops import Apply, Load
from graphwright.codegen.program import NativeProgram
from graphwright.runtime.dtypes import dtype
from graphwright.runtime.records import Record, field_names
from graphwright.runtime.symbolic.expr import Expr


class _Writer:
    """Writes each distinct object once, as a numbered line over the numbers of its parts."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.by_id: dict[int, str] = {}
        self.by_text: dict[str, str] = {}

    def write(self, value: Any) -> str:
        if value is None or isinstance(value, (bool, int, str)):
            return repr(value)
        if isinstance(value, float):
            return "nan" if value != value else value.hex()
        if isinstance(value, Enum):
            return str(value.value)
        if isinstance(value, dtype):
            return value.name
        key = id(value)
        if key not in self.by_id:
            if isinstance(value, (Apply, Load)):
                for node in post_order(value, lambda v: id(v) in self.by_id):
                    self.by_id[id(node)] = self._number(self._spell(node))
            else:
                self.by_id[key] = self._number(self._spell(value))
        return self.by_id[key]

    def _spell(self, value: Any) -> str:
        if isinstance(value, Expr):
            ranges = ",".join(
                f"{s.name}:{s.range()}" for s in sorted(value.symbols(), key=lambda s: s.name))
            return f"`{value}` {ranges}"
        if isinstance(value, (tuple, list)):
            return f"({','.join([self.write(v) for v in value])})"
        if isinstance(value, dict):
            return f"{{{','.join(f'{k!r}:{self.write(v)}' for k, v in value.items())}}}"
        assert isinstance(value, Record), value
        parts = [self.write(getattr(value, name)) for name in field_names(type(value))]
        return f"{type(value).__name__}({','.join(parts)})"

    def _number(self, text: str) -> str:
        if text not in self.by_text:
            self.by_text[text] = f"#{len(self.lines)}"
            self.lines.append(text)
        return self.by_text[text]


def canonical_text(program: NativeProgram) -> str:
    """The same text for programs that compile to the same code, in every process."""
    writer = _Writer()
    writer.write(program)
    return "\n".join(writer.lines)
