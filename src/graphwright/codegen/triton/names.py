"""The identifiers of a Triton kernel, and index expressions spelled with them."""

from __future__ import annotations

import builtins
import keyword

from graphwright.codegen.target import KernelFailure
from graphwright.runtime.symbolic.expr import Add, Expr, FloorDiv, Int, Max, Min, Mod, Mul, Sym

SEED, OFFSET, PROGRAM, ERROR = "seed", "offset", "program", "error_ptr"
_RESERVED = {*keyword.kwlist, *dir(builtins), "triton", "tl", "libdevice",
             SEED, OFFSET, PROGRAM, ERROR}


class CannotEmit(KernelFailure):
    """A kernel that has no Triton form; the message says what in it."""


class Names:
    """One table of a kernel's identifiers, so that no two things share one.

    A kernel has two namespaces: buffers, whose names are the user's, and scalars (axes, sizes,
    locals). What the writer adds (masks, blocks, temporaries) has names of its own, and functions
    those that begin with gw_.
    """

    def __init__(self, kernel: str) -> None:
        self._taken = {*_RESERVED, kernel}
        self._given: dict[tuple[str, object], str] = {}
        self._temporaries = 0

    def buffer(self, name: str) -> str:
        """The pointer parameter of a buffer."""
        return self._of("buffer", name, f"{name}_ptr")

    def scalar(self, name: str) -> str:
        """A loop axis, a size or a local."""
        return self._of("scalar", name, name)

    def alias(self, name: str, spelled: str) -> None:
        """Let a scalar be spelled as another identifier of the table."""
        self._given["scalar", name] = spelled

    def has_scalar(self, name: str) -> bool:
        """Whether the source mentions that axis, size or local."""
        return ("scalar", name) in self._given

    def mask(self, axis: str) -> str:
        """Where the axis is within its extent."""
        return self._of("mask", axis, f"mask_{axis}")

    def block(self, axis: str) -> str:
        """The constexpr for how many elements of the axis one program handles at once."""
        return self._of("block", axis, f"BLOCK_{axis}")

    def label(self, key: object, wanted: str) -> str:
        """Whatever else has a name of its own."""
        return self._of("label", key, wanted)

    def temporary(self) -> str:
        """A new name: v1, v2, ..."""
        self._temporaries += 1
        return self._of("temporary", self._temporaries, f"v{self._temporaries}")

    def _of(self, role: str, key: object, wanted: str) -> str:
        if (role, key) not in self._given:
            if wanted.startswith("gw_"):
                wanted = f"x_{wanted}"
            name, number = wanted, 0
            while name in self._taken:
                number += 1
                name = f"{wanted}_{number}"
            self._taken.add(name)
            self._given[role, key] = name
        return self._given[role, key]

    def index(self, expr: Expr) -> str:
        """An index expression in Triton's Python, whose `//` and `%` truncate."""
        if isinstance(expr, Sym):
            return self.scalar(expr.name)
        if isinstance(expr, Int):
            return str(expr)
        if isinstance(expr, Add):
            return " + ".join(self._within(a, (Mul, FloorDiv, Mod)) for a in expr.args)
        parts = [self._within(a, ()) for a in expr.args]
        if isinstance(expr, Mul):
            return " * ".join(parts)
        if isinstance(expr, (Min, Max)):
            name = "tl.minimum" if isinstance(expr, Min) else "tl.maximum"
            text = parts[0]
            for part in parts[1:]:
                text = f"{name}({text}, {part})"
            return text
        assert isinstance(expr, (FloorDiv, Mod))
        number, divisor = parts
        low = expr.a.range()[0]
        if low is not None and low >= 0:
            return f"{number} {'//' if isinstance(expr, FloorDiv) else '%'} {divisor}"
        rest = f"({number} % {divisor} + {divisor}) % {divisor}"
        return rest if isinstance(expr, Mod) else f"({number} - {rest}) // {divisor}"

    def _within(self, expr: Expr, plain: tuple[type[Expr], ...]) -> str:
        """An operand, in parentheses unless it is a number, a name or one of `plain`, whose own
        text is one term."""
        text = self.index(expr)
        term = isinstance(expr, plain)
        if isinstance(expr, (FloorDiv, Mod)):
            low = expr.a.range()[0]
            term = term and low is not None and low >= 0
        return text if isinstance(expr, Sym) or term else atom(text)


def atom(text: str) -> str:
    """An expression as an operand: in parentheses unless it is a name, a number or a call."""
    return text if text.replace("_", "a").isalnum() else f"({text})"
