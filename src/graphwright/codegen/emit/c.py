"""C with vector extensions: the text of a module, for GCC or Clang."""

from __future__ import annotations

import math
import struct

from graphwright.codegen.emit import c_prelude as prelude
from graphwright.codegen.emit.c_control import CControl
from graphwright.codegen.emit.c_prelude import vector_kind
from graphwright.codegen.emit.regs import BITS, FLOATS, Block, Reg
from graphwright.codegen.target import Machine

_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^",
    "sdiv": "/", "srem": "%", "udiv": "/", "urem": "%", "shl": "<<", "ashr": ">>", "lshr": ">>",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}
_COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")
_ON_MASKS = {"eq": "~({} ^ {})", "ne": "{} ^ {}", "lt": "~{} & {}", "gt": "{} & ~{}",
             "le": "~{} | {}", "ge": "{} | ~{}"}
_UNSIGNED_OPS = ("lshr", "shl", "udiv", "urem")


class CBuilder(CControl):
    """Builds C; `text()` is the module."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.has_fma = machine.has("fma")
        self.has_rounding = machine.has("sse4_1")
        self.has_half = self.wide_lanes = False

    def literal(self, value: int | float, kind: str) -> str:
        if kind in FLOATS:
            suffix = "f" if kind == "f32" else ""
            if kind == "f32":
                value = _as_float32(value)
            if math.isnan(value):
                return f'__builtin_nan{suffix}("")'
            if math.isinf(value):
                return f"{'-' if value < 0 else ''}__builtin_inf{suffix}()"
            short = repr(value)
            exact = short if kind == "f64" else _shortest_float32(value)
            return f"({exact}{suffix})" if exact.startswith("-") else exact + suffix
        if kind == "b":
            return "1" if value else "0"
        bits = BITS[kind]
        value = int(value) & ((1 << bits) - 1)
        if kind != "u8" and value >> (bits - 1):
            value -= 1 << bits
        if value == -(1 << (bits - 1)) and bits >= 32:
            return f"(-{-value - 1}{'LL' if bits == 64 else ''} - 1)"
        text = f"{value}{'LL' if bits == 64 and abs(value) >> 31 else ''}"
        return f"({text})" if value < 0 else text

    def splat_literal(self, reg: Reg, lanes: int) -> str:
        kind, text = vector_kind(reg.kind), reg.text
        if reg.kind == "b":
            text = "-1" if reg.value else "0"
        return f"{self._splat(kind, lanes)}({text})"

    def _splat(self, kind: str, lanes: int) -> str:
        return self._helper(f"splat_{self._vector(f'{kind}x{lanes}')}", prelude.splat, kind, lanes)

    def iota_literal(self, lanes: int, kind: str) -> str:
        return f"(({self._type(kind, lanes)}){{{', '.join(map(str, range(lanes)))}}})"

    def define(
        self, block: Block, op: str, args: tuple[Reg, ...], kind: str, lanes: int, extra: str,
    ) -> str:
        name = self.fresh()
        if op == "call":
            value = f"{extra}({', '.join(a.text for a in args)})"
        else:
            value = self._spell(op, args, kind, lanes)
        block.lines.append(f"const {self._type(kind, lanes)} {name} = {value};")
        return name

    def _spell(self, op: str, args: tuple[Reg, ...], kind: str, lanes: int) -> str:
        first, texts = args[0], [a.text for a in args]
        if op in _COMPARE and len(args) == 2:
            return self._comparison(op, args)
        if op == "uno":
            same = f"({texts[0]} != {texts[0]})"
            either = same if texts[0] == texts[1] else f"({same} | ({texts[1]} != {texts[1]}))"
            return self._as_mask(either, first)
        if op in _INFIX and len(args) == 2:
            return self._infix(op, args, kind, lanes)
        if op == "select":
            if lanes == 1:
                return f"{texts[0]} ? {texts[1]} : {texts[2]}"
            element = vector_kind(kind)
            for name in (f"i{BITS[element]}x{lanes}", f"{element}x{lanes}"):
                self._vector(name)
            helper = self._helper(f"select_{element}x{lanes}", prelude.select, element, lanes)
            return f"{helper}({', '.join(texts)})"
        if op == "neg":
            return f"-{texts[0]}"
        if op in ("sqrt", "floor", "ceil", "trunc", "round", "fma", "abs"):
            return self._float_function(op, texts, kind, lanes)
        if op == "convert":
            return self._conversion(first, kind, lanes)
        if op == "bitcast":
            if lanes > 1 or {first.kind, kind} == {"i8", "u8"}:
                return f"({self._type(kind, lanes)}){texts[0]}"
            helper = self._helper(f"{kind}_of_{first.kind}", prelude.bitcast_scalar, first.kind,
                                  kind)
            return f"{helper}({texts[0]})"
        return self._lanes_op(op, args, kind, lanes)

    def _lanes_op(self, op: str, args: tuple[Reg, ...], kind: str, lanes: int) -> str:
        first, texts = args[0], [a.text for a in args]
        if op == "splat":
            value = f"-(int32_t){texts[0]}" if kind == "b" else texts[0]
            return f"{self._splat(vector_kind(kind), lanes)}({value})"
        if op in ("low", "high"):
            if lanes == 1:
                picked = f"{texts[0]}[{int(op == 'high')}]"
                return f"{picked} != 0" if kind == "b" else picked
            element = vector_kind(kind)
            self._vector(f"{element}x{lanes}")
            helper = self._helper(f"half_{element}x{2 * lanes}", prelude.half, element, lanes)
            return f"{helper}({texts[0]}, {int(op == 'high')})"
        if op == "lane":
            return f"{texts[0]}[{texts[1]}]"
        if op == "any":
            helper = self._helper(f"any_i32x{first.lanes}", prelude.any_lane, first.lanes)
            return f"{helper}({texts[0]})"
        if op == "interleave":
            picks = ", ".join(f"{t}[{i}]" for i in range(lanes // 4) for t in texts)
            return f"({self._type(kind, lanes)}){{{picks}}}"
        if op == "opaque":
            return texts[0]
        assert op == "umulhi", op
        if lanes > 1:
            self._vector(f"u32x{lanes}")
            self._vector(f"u64x{lanes}")
        suffix = kind if lanes == 1 else f"i32x{lanes}"
        helper = self._helper(f"umulhi_{suffix}", prelude.high_product, kind, lanes)
        return f"{helper}({', '.join(texts)})"

    def _as_mask(self, text: str, operand: Reg) -> str:
        """A vector comparison's result as 32-bit flags."""
        if operand.lanes == 1 or BITS[operand.kind] == 32:
            return text
        return f"__builtin_convertvector({text}, {self._type('b', operand.lanes)})"

    def _comparison(self, op: str, args: tuple[Reg, ...]) -> str:
        a, b = args[0].text, args[1].text
        if args[0].kind == "b" and args[0].lanes > 1:
            return _ON_MASKS[op].format(a, b)
        return self._as_mask(f"({a} {_INFIX[op]} {b})", args[0])

    def _infix(self, op: str, args: tuple[Reg, ...], kind: str, lanes: int) -> str:
        a, b = (r.text for r in args)
        if op not in _UNSIGNED_OPS or kind not in prelude.UNSIGNED:
            return f"{a} {_INFIX[op]} {b}"
        word = prelude.UNSIGNED[kind]
        if lanes > 1:
            word = self._vector(f"{word}x{lanes}")
            return f"({self._type(kind, lanes)})(({word}){a} {_INFIX[op]} ({word}){b})"
        name = f"uint{BITS[kind]}_t"
        return f"({self._type(kind)})(({name}){a} {_INFIX[op]} ({name}){b})"

    def _float_function(self, op: str, texts: list[str], kind: str, lanes: int) -> str:
        joined = ", ".join(texts)
        if op == "abs":
            if lanes == 1:
                return f"__builtin_fabs{'f' if kind == 'f32' else ''}({joined})"
            flags, top = self._type(f"i{BITS[kind]}", lanes), BITS[kind] - 1
            word = "INT32_MAX" if top == 31 else "INT64_MAX"
            return f"({self._type(kind, lanes)})(({flags}){joined} & {word})"
        if lanes == 1:
            name = "roundeven" if op == "round" else op
            if op == "round":
                name = "rint"
            return f"__builtin_{name}{'f' if kind == 'f32' else ''}({joined})"
        self._float_helper(op, kind, lanes)
        return f"{op}_{kind}x{lanes}({joined})"

    def _float_helper(self, op: str, kind: str, lanes: int) -> None:
        if lanes * BITS[kind] > 512:
            self._float_helper(op, kind, lanes // 2)
        self._vector(f"{kind}x{lanes}")
        self._helper(f"{op}_{kind}x{lanes}", prelude.float_function, op, kind, lanes)

    def _conversion(self, a: Reg, kind: str, lanes: int) -> str:
        to = self._type(kind, lanes)
        if lanes == 1:
            return f"({to}){a.text}"
        source = f"({a.text} & 1)" if a.kind == "b" else a.text
        return f"__builtin_convertvector({source}, {to})"


def _as_float32(value: float) -> float:
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def _shortest_float32(value: float) -> str:
    """The shortest decimal that reads back as this float32."""
    for digits in range(6, 10):
        text = f"{value:.{digits}g}"
        if _as_float32(float(text)) == value:
            break
    return text if "." in text or "e" in text else text + ".0"
