"""`Builder`: the machine that both syntaxes share. It decides where code goes; they spell it.

A pure operation is placed in the outermost block where its operands exist, and computed there
once: common subexpressions and loop invariants need no later pass. Loads stay in their loop, or
move to its `guard` block (which runs once before a loop that has at least one turn). A function
that uses a value of the function around it reads it through its closure.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence

from graphwright.codegen.emit.regs import (
    BITS,
    FLOATS,
    Block,
    Body,
    Branch,
    Capture,
    Following,
    Function,
    Loop,
    Operand,
    Reg,
)
from graphwright.codegen.target import Machine

COMPARISONS = frozenset(("eq", "ne", "lt", "le", "gt", "ge", "uno"))


_FORMATS = {
    "i8": "<b", "u8": "<B", "i16": "<h", "i32": "<i", "i64": "<q", "f32": "<f", "f64": "<d",
}


def _reinterpreted(value: int | float, source: str, kind: str) -> int | float:
    """The literal of another kind that has the same bits (float32 1.0 as int32: 0x3f800000)."""
    raw = struct.pack(_FORMATS[source], value)
    result: int | float = struct.unpack(_FORMATS[kind], raw)[0]
    return result


class Builder(ABC):
    """Builds one module of native code, one function inside the other."""

    has_fma: bool
    has_rounding: bool
    has_half: bool
    wide_lanes: bool

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.module: list[str] = []
        self.functions: list[Function] = []
        self.block: Block
        self.floor: Block
        self._suspended: list[tuple[Block, Block]] = []
        self._count = 0
        self._tables: dict[str, Reg] = {}
        self.outlined: Collection[str] = ()
        self._outlined: dict[tuple[object, ...], Function] = {}

    @property
    def function(self) -> Function:
        return self.functions[-1]

    def fresh(self, stem: str = "t") -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def can_scale(self, kind: str, lanes: int) -> bool:
        """Whether `emit("scale", (a, b))` gives a * 2^b, rounded once, for such values."""
        return False

    def can_look_up(self, kind: str, lanes: int) -> bool:
        """Whether `look_up` is there for such values."""
        return False

    def look_up(self, table: tuple[float, ...], index: Reg) -> Reg:
        """table[index & 15] of 16 float32 values, in one instruction."""
        items = ", ".join(f"float {self.literal(v, 'f32')}" for v in table)
        return self.emit("look_up", (index,), "f32", index.lanes, f"<{items}>")

    # -- what a syntax provides ---------------------------------------------------------------

    @abstractmethod
    def literal(self, value: int | float, kind: str) -> str:
        """A scalar literal."""

    @abstractmethod
    def define(
        self, block: Block, op: str, args: tuple[Reg, ...], kind: str, lanes: int, extra: str,
    ) -> str:
        """Append the line that computes `op` to the block; the name of its result."""

    @abstractmethod
    def load(self, pointer: Reg, index: Reg, lanes: int, mask: Reg | None, other: Reg | None,
             hoist: bool) -> Reg:
        """pointer[index .. index+lanes), `other` (0 if None) where the mask is false."""

    @abstractmethod
    def strided(self, pointer: Reg, first: Reg, lanes: int, step: int) -> Reg:
        """pointer[first + step * lane] for each lane. `step` is neither 0 nor 1, and small: all
        between the least and the greatest of these elements is read too."""

    @abstractmethod
    def gather(self, pointer: Reg, index: Reg, mask: Reg | None, other: Reg | None) -> Reg:
        """pointer[index[lane]] for each lane, `other` (0 if None) where the mask is false."""

    @abstractmethod
    def store(self, pointer: Reg, index: Reg, value: Reg, mask: Reg | None) -> None:
        """pointer[index .. index+lanes) = value, where the mask holds."""

    @abstractmethod
    def scatter(self, pointer: Reg, index: Reg, value: Reg, mask: Reg | None) -> None:
        """pointer[index[lane]] = value[lane] for each lane where the mask holds."""

    @abstractmethod
    def strided_store(self, pointer: Reg, first: Reg, value: Reg, step: int) -> None:
        """pointer[first + step * lane] = value[lane]; `step` as for `strided`."""

    @abstractmethod
    def local_array(self, kind: str, count: int) -> Reg:
        """A pointer to `count` elements on the stack."""

    @abstractmethod
    def table(self, name: str, kind: str, values: tuple[int, ...]) -> Reg:
        """A pointer to a constant table of the module."""

    @abstractmethod
    def field(self, pointer: Reg, offset: int, kind: str) -> Reg:
        """The field of that kind `offset` bytes after `pointer`."""

    @abstractmethod
    def pointer(self, pointers: Reg, number: Reg) -> Reg:
        """Element `number` of an array of pointers."""

    @abstractmethod
    def parallel(self, context: Reg, body: Body) -> None:
        """Run a body on the pool."""

    @abstractmethod
    def call(self, function: Function, args: list[Reg]) -> Reg:
        """Call a finished function that gives a status: that status."""

    @abstractmethod
    def call_gemm(
        self, context: Reg, dtype_code: int, args: list[Reg], then: Following | None,
    ) -> None:
        """Call ctx->gemm with the arguments that follow the dtype, and what follows the product;
        its status is discarded."""

    @abstractmethod
    def call_routine(
        self, context: Reg, number: int, arrays: Sequence[Reg | None], sizes: Sequence[Reg],
        numbers: Sequence[float], then: Following | None,
    ) -> Reg:
        """Call the routine of that number (see abi.h), None for NULL, and what follows its first
        result: its status."""

    @abstractmethod
    def call_enter_stage(self, context: Reg, stage: int) -> Reg:
        """Call ctx->enter_stage: its status."""

    @abstractmethod
    def address(self, base: Reg, byte_offset: Reg, element: str) -> Reg:
        """A pointer to `element`s, `byte_offset` bytes after `base`."""

    @abstractmethod
    def return_(self, value: int | None) -> None:
        """Leave the function."""

    @abstractmethod
    def return_register(self, value: Reg) -> None:
        """Leave the function of an outlined operation."""

    @abstractmethod
    def claim(self, flag: Reg) -> Reg:
        """Atomically set the int32 at `flag` to 1; true for the one that found 0."""

    @abstractmethod
    def _open_loop(self, loop: Loop, stem: str) -> None: ...

    @abstractmethod
    def _close_loop(self, loop: Loop, following: list[Reg]) -> list[Reg]: ...

    @abstractmethod
    def _close_branch(self, branch: Branch, results: list[Reg], otherwise: list[Reg],
                      returns: bool) -> list[Reg]: ...

    @abstractmethod
    def _finish(self, function: Function) -> None: ...

    @abstractmethod
    def _capture(self, function: Function, reg: Reg, slot: int) -> Reg: ...

    @abstractmethod
    def text(self) -> str:
        """The whole module."""

    # -- functions, loops, branches --------------------------------------------------------------

    def open_function(
        self, name: str, params: list[tuple[str, str]], result: str, lanes: int = 0,
    ) -> list[Reg]:
        """Start a function; its parameters as registers. `lanes`: of an outlined operation."""
        if self.functions:
            self._suspended.append((self.block, self.floor))
        function = Function(name, params, result, lanes)
        self.functions.append(function)
        self.block = self.floor = function.entry
        return [self._parameter(function, text, kind) for text, kind in params]

    def _parameter(self, function: Function, text: str, kind: str) -> Reg:
        return Reg(self, text, kind, function.lanes or 1, function.entry, element="i8")

    def call_outlined(self, name: str, args: tuple[Reg, ...], rule: Callable[..., Reg]) -> Reg:
        """`rule(self, *args)`, a pure rule, emitted once as a function of the module and called.

        A literal argument is not passed: the function is specialised for it.
        """
        lanes = max(arg.lanes for arg in args)
        key = (name, lanes, *((a.kind, a.text if a.block is None else "") for a in args))
        given = tuple(self.broadcast(a, lanes) for a in args if a.block is not None)
        if not given:
            return rule(self, *args)
        function = self._outlined.get(key)
        if function is None:
            params = [(f"x{n}", arg.kind) for n, arg in enumerate(given)]
            passed = iter(self.open_function(self.fresh(f"{name}_"), params, "?", lanes))
            inside = [arg if arg.block is None else next(passed) for arg in args]
            result = self.broadcast(rule(self, *inside), lanes)
            self.function.result = result.kind
            self.return_register(result)
            function = self._outlined[key] = self.close_function()
        return self.emit("call", given, function.result, lanes, function.name)

    def close_function(self) -> Function:
        function = self.functions.pop()
        self._finish(function)
        if self.functions:
            self.block, self.floor = self._suspended.pop()
        return function

    def open_loop(self, start: Reg, stop: Reg, step: int, carried: list[Reg], stem: str = "i",
                  never_empty: bool = False) -> Loop:
        """for index in range(start, stop, step), carrying values; see `close_loop`."""
        start, stop = self._localise(start), self._localise(stop)
        initial = [self._localise(c) for c in carried]
        guard = Block(self.function, self.block, guard=True)
        body = Block(self.function, guard)
        guard.always = never_empty
        loop = Loop(start, [], start, stop, step, initial, guard, body, never_empty)
        self._open_loop(loop, stem)
        self.block = body
        return loop

    def close_loop(self, loop: Loop, following: list[Reg] | None = None) -> list[Reg]:
        """End the loop's body with the carried values of the next turn; the final ones."""
        following = [self._localise(f) for f in following or []]
        results = self._close_loop(loop, following)
        parent = loop.guard.parent
        assert parent is not None
        self.block = parent
        return results

    def open_branch(self, condition: Reg) -> Branch:
        """What follows runs only where the scalar `condition` holds."""
        block = Block(self.function, self.block, pinned=True)
        block.label = self.fresh("L")
        branch = Branch(self._localise(condition), block, self.floor, block.label)
        self.block = self.floor = block
        return branch

    def close_branch(self, branch: Branch, results: list[Reg] | None = None,
                     otherwise: list[Reg] | None = None, returns: bool = False) -> list[Reg]:
        """End the branch: `results` where it ran, `otherwise` where not."""
        results = [self._localise(r) for r in results or []]
        otherwise = [self._localise(r) for r in otherwise or []]
        merged = self._close_branch(branch, results, otherwise, returns)
        parent = branch.block.parent
        assert parent is not None
        self.block, self.floor = parent, branch.floor
        return merged

    # -- placement --------------------------------------------------------------------------------

    def _localise(self, reg: Reg) -> Reg:
        """`reg` as this function sees it: read from the closure if an outer one computed it."""
        if reg.block is None or reg.block.function is self.function:
            return reg
        return self._import(len(self.functions) - 1, reg)

    def _import(self, level: int, reg: Reg) -> Reg:
        function = self.functions[level]
        assert reg.block is not None
        if reg.block.function is function:
            return reg
        found = function.captured.get(reg.text)
        if found is None:
            outer = self._import(level - 1, reg)
            slot = len(function.captured)
            found = Capture(outer, self._capture(function, reg, slot), slot)
            function.captured[reg.text] = found
        return found.inner

    def _place(self, args: tuple[Reg, ...]) -> Block:
        """The outermost block where all of `args` exist."""
        place = self.floor
        for arg in args:
            if arg.block is not None and arg.block.depth > place.depth:
                place = arg.block
        return place

    def hoisted_place(self, args: tuple[Reg, ...]) -> Block:
        """Where a load of a read-only buffer may go: out of loops that have at least one turn."""
        lowest, place = self._place(args), self.block
        while place is not lowest:
            parent = place.parent
            assert parent is not None
            if place.guard and not place.always:
                break
            place = parent
        return place

    def emit(self, op: str, args: tuple[Reg, ...], kind: str, lanes: int, extra: str = "") -> Reg:
        """The pure operation `op`, computed once where its operands exist."""
        args = tuple(self._localise(a) for a in args)
        if op == "relabel":
            return Reg(self, args[0].text, kind, lanes, args[0].block, args[0].value)
        block = self._place(args)
        key = (op, kind, lanes, extra, *(a.text for a in args), *(a.kind for a in args))
        found = block.memo.get(key)
        if found is None:
            name = self.define(block, op, args, kind, lanes, extra)
            found = block.memo[key] = Reg(self, name, kind, lanes, block)
        return found

    # -- operations -------------------------------------------------------------------------------

    def const(self, value: int | float | bool, kind: str) -> Reg:
        """A scalar literal; narrow floats take their bit pattern."""
        value = float(value) if kind in FLOATS else int(value)
        return Reg(self, self.literal(value, kind), kind, value=value)

    def lift(self, value: Operand, like: Reg) -> Reg:
        """A Python number as a literal of `like`'s kind; registers stay."""
        return value if isinstance(value, Reg) else self.const(value, like.kind)

    def broadcast(self, reg: Reg, lanes: int) -> Reg:
        if reg.lanes == lanes:
            return reg
        assert reg.lanes == 1, reg
        if reg.block is None:
            return Reg(self, self.splat_literal(reg, lanes), reg.kind, lanes, value=reg.value)
        return self.emit("splat", (reg,), reg.kind, lanes)

    @abstractmethod
    def splat_literal(self, reg: Reg, lanes: int) -> str:
        """A literal with all lanes equal to the scalar literal `reg`."""

    def uniform(self, *args: Reg) -> tuple[Reg, ...]:
        """The operands with equal lanes."""
        lanes = max(a.lanes for a in args)
        return tuple(self.broadcast(a, lanes) for a in args)

    def binary(self, op: str, a: Operand, b: Operand) -> Reg:
        """add sub mul div, and or xor shl ashr lshr, sdiv srem, comparisons, uno, umulhi."""
        if not isinstance(a, Reg):
            assert isinstance(b, Reg)
            a = self.lift(a, b)
        b = self.lift(b, a)
        folded = self._folded(op, a, b)
        if folded is not None:
            return folded
        a, b = self.uniform(a, b)
        kind = "b" if op in COMPARISONS else a.kind
        return self.emit(op, (a, b), kind, a.lanes)

    def _folded(self, op: str, a: Reg, b: Reg) -> Reg | None:
        """Integer arithmetic on literals, and its neutral elements."""
        if a.kind not in ("i64", "i32") or (a.value is None and b.value is None):
            return None
        if a.value is not None and b.value is not None and op in ("add", "sub", "mul"):
            x, y = int(a.value), int(b.value)
            value = x + y if op == "add" else x - y if op == "sub" else x * y
            if abs(value) < 1 << (BITS[a.kind] - 1) and a.lanes == b.lanes == 1:
                return self.const(value, a.kind)
        if b.value == 0 and op in ("add", "sub") and b.lanes <= a.lanes:
            return a
        if a.value == 0 and op == "add" and a.lanes <= b.lanes:
            return b
        if b.value == 1 and op in ("mul", "sdiv") and b.lanes <= a.lanes:
            return a
        if a.value == 1 and op == "mul" and a.lanes <= b.lanes:
            return b
        return None

    def opaque(self, a: Reg) -> Reg:
        """A scalar integer of which the compiler behind does not know how it was computed."""
        return self.emit("opaque", (a,), a.kind, 1)

    def unary(self, op: str, a: Reg) -> Reg:
        """neg abs sqrt floor ceil trunc round."""
        return self.emit(op, (a,), a.kind, a.lanes)

    def fma(self, a: Operand, b: Operand, c: Operand) -> Reg:
        """a*b + c rounded once (emulated exactly enough for cancellation without hardware)."""
        like = next(v for v in (a, b, c) if isinstance(v, Reg))
        x, y, z = self.uniform(self.lift(a, like), self.lift(b, like), self.lift(c, like))
        if self.has_fma:
            return self.emit("fma", (x, y, z), x.kind, x.lanes)
        return self._emulated_fma(x, y, z)

    def _emulated_fma(self, x: Reg, y: Reg, z: Reg) -> Reg:
        """Dekker's product (Numer. Math. 18, 1971), then the sum: right where it cancels."""
        splitter = 4097.0 if x.kind == "f32" else 134217729.0
        product = x * y
        x_high = x * splitter - (x * splitter - x)
        y_high = y * splitter - (y * splitter - y)
        x_low, y_low = x - x_high, y - y_high
        error = ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
        total = product + z
        exact = total + error
        return self.select(self.unary("abs", error) < self.infinity(x), exact, total)

    def infinity(self, like: Reg) -> Reg:
        return self.const(float("inf"), like.kind)

    def select(self, mask: Reg, a: Operand, b: Operand) -> Reg:
        """a where the mask holds, else b."""
        if not isinstance(a, Reg):
            assert isinstance(b, Reg)
            a = self.lift(a, b)
        b = self.lift(b, a)
        lanes = max(mask.lanes, a.lanes, b.lanes)
        if mask.value is not None:
            return self.broadcast(a if mask.value else b, lanes)
        args = (self.broadcast(mask, lanes), self.broadcast(a, lanes), self.broadcast(b, lanes))
        return self.emit("select", args, a.kind, lanes)

    def convert(self, a: Reg, kind: str) -> Reg:
        """Numeric conversion between integers, floats and truth values (not half precision)."""
        if a.kind == kind:
            return a
        if kind == "b":
            return a.ne(0)
        if {a.kind, kind} <= {"i8", "u8"}:
            return self.bitcast(a, kind)
        if a.kind in FLOATS and kind in ("i8", "u8", "i16"):
            return self.convert(self.convert(a, "i32"), kind)
        if a.value is not None and a.lanes == 1 and a.kind not in FLOATS and kind in FLOATS:
            return self.const(a.value, kind)
        return self.emit("convert", (a,), kind, a.lanes, a.kind)

    def bitcast(self, a: Reg, kind: str) -> Reg:
        """The same bits as another kind of equal width."""
        if a.kind == kind:
            return a
        if a.value is not None and a.lanes == 1:
            return self.const(_reinterpreted(a.value, a.kind, kind), kind)
        return self.emit("bitcast", (a,), kind, a.lanes, a.kind)

    def iota(self, lanes: int, kind: str = "i64") -> Reg:
        """0, 1, 2, ..."""
        return Reg(self, self.iota_literal(lanes, kind), kind, lanes)

    @abstractmethod
    def iota_literal(self, lanes: int, kind: str) -> str: ...

    def halves(self, a: Reg) -> tuple[Reg, Reg]:
        """The lower and the upper lanes."""
        low = self.emit("low", (a,), a.kind, a.lanes // 2)
        return low, self.emit("high", (a,), a.kind, a.lanes // 2)

    def interleave(self, words: list[Reg]) -> Reg:
        """w0[0] w1[0] w2[0] w3[0] w0[1] ... of four vectors."""
        return self.emit("interleave", tuple(words), words[0].kind, 4 * words[0].lanes)

    def lane(self, a: Reg, index: Reg) -> Reg:
        """The lane of that number, a scalar."""
        return self.emit("lane", (a, index), a.kind, 1)

    def any(self, mask: Reg) -> Reg:
        """Whether any lane of the mask holds."""
        return mask if mask.lanes == 1 else self.emit("any", (mask,), "b", 1)

    def fold_halves(self, a: Reg, combine: Callable[[Reg, Reg], Reg]) -> Reg:
        """Combine the lanes of `a` two by two, in an order that depends on their number only."""
        while a.lanes > 1:
            a = combine(*self.halves(a))
        return a
