"""LLVM IR: the text of a module, built without LLVM (parsing it is LLVM's first work)."""

from __future__ import annotations

import struct

from graphwright.codegen.emit.llvm_control import LLVMControl
from graphwright.codegen.emit.llvm_types import TYPES, suffix, to_float32, type_of
from graphwright.codegen.emit.regs import BITS, FLOATS, Block, Reg
from graphwright.codegen.target import Machine

_INTEGER = {
    "add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor",
    "shl": "shl", "ashr": "ashr", "lshr": "lshr", "sdiv": "sdiv", "srem": "srem",
    "udiv": "udiv", "urem": "urem",
}
_FLOAT = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_SIGNED = {"eq": "eq", "ne": "ne", "lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge"}
_UNSIGNED = {"eq": "eq", "ne": "ne", "lt": "ult", "le": "ule", "gt": "ugt", "ge": "uge"}
_ORDERED = {
    "eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "uno": "uno",
}
_INTRINSICS = {
    "sqrt": "sqrt", "abs": "fabs", "floor": "floor", "ceil": "ceil", "trunc": "trunc",
    "round": "roundeven", "fma": "fma",
}


class LLVMBuilder(LLVMControl):
    """Builds LLVM IR; `text()` is the module."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.has_fma = machine.has("fma")
        self.has_rounding = machine.has("sse4_1")
        self.has_half = machine.has("f16c")
        self.wide_lanes = True

    def literal(self, value: int | float, kind: str) -> str:
        if kind == "f32":
            value = struct.unpack("<f", struct.pack("<f", to_float32(value)))[0]
        if kind in FLOATS:
            return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        if kind == "b":
            return "true" if value else "false"
        bits = BITS[kind]
        value = int(value) & ((1 << bits) - 1)
        return str(value - (1 << bits) if value >> (bits - 1) else value)

    def splat_literal(self, reg: Reg, lanes: int) -> str:
        return f"splat ({TYPES[reg.kind]} {reg.text})"

    def iota_literal(self, lanes: int, kind: str) -> str:
        return "<" + ", ".join(f"{TYPES[kind]} {i}" for i in range(lanes)) + ">"

    def define(
        self, block: Block, op: str, args: tuple[Reg, ...], kind: str, lanes: int, extra: str,
    ) -> str:
        name = "%" + self.fresh()
        block.lines.append(f"  {name} = {self._spell(block, op, args, kind, lanes, extra)}")
        return name

    def _spell(
        self, block: Block, op: str, args: tuple[Reg, ...], kind: str, lanes: int, extra: str,
    ) -> str:
        first = args[0]
        typed = f"{type_of(first.kind, first.lanes)} {first.text}"
        if len(args) == 2 and op in _INTEGER and first.kind not in FLOATS:
            return f"{_INTEGER[op]} {typed}, {args[1].text}"
        if len(args) == 2 and op in _FLOAT:
            return f"{_FLOAT[op]} {typed}, {args[1].text}"
        if op in _ORDERED and first.kind in FLOATS:
            return f"fcmp {_ORDERED[op]} {typed}, {args[1].text}"
        if op in _SIGNED:
            table = _UNSIGNED if first.kind in ("u8", "b") else _SIGNED
            return f"icmp {table[op]} {typed}, {args[1].text}"
        if op == "select":
            a, b = args[1:]
            ty = type_of(a.kind, a.lanes)
            return f"select {typed}, {ty} {a.text}, {ty} {b.text}"
        if op == "neg":
            return f"fneg {typed}" if kind in FLOATS else f"sub {typed[:-len(first.text)]}" \
                f"{'zeroinitializer' if lanes > 1 else '0'}, {first.text}"
        if op in _INTRINSICS and kind in FLOATS:
            return self._call(f"llvm.{_INTRINSICS[op]}.{suffix(kind, lanes)}", args, kind, lanes)
        if op == "convert":
            return self._conversion(block, first, kind, lanes)
        if op == "bitcast":
            return f"bitcast {typed} to {type_of(kind, lanes)}"
        if op == "look_up":
            return self._look_up(block, first, lanes, extra)
        return self._lanes_op(block, op, args, kind, lanes, extra)

    def _lanes_op(
        self, block: Block, op: str, args: tuple[Reg, ...], kind: str, lanes: int, extra: str,
    ) -> str:
        first = args[0]
        typed = f"{type_of(first.kind, first.lanes)} {first.text}"
        if op == "splat":
            ty, lone = type_of(kind, lanes), "%" + self.fresh()
            block.lines.append(f"  {lone} = insertelement {ty} poison, {typed}, i32 0")
            return f"shufflevector {ty} {lone}, {ty} poison, <{lanes} x i32> zeroinitializer"
        if op in ("low", "high"):
            begin = 0 if op == "low" else lanes
            picks = ", ".join(f"i32 {begin + i}" for i in range(lanes))
            source = type_of(first.kind, first.lanes)
            if lanes == 1:
                return f"extractelement {typed}, i32 {begin}"
            return f"shufflevector {typed}, {source} poison, <{lanes} x i32> <{picks}>"
        if op == "interleave":
            return self._interleave(block, args, kind, lanes)
        if op == "scale":
            return self._scale(block, args, kind, lanes)
        if op == "lane":
            return f"extractelement {typed}, i64 {args[1].text}"
        if op == "any":
            return self._call(f"llvm.vector.reduce.or.v{first.lanes}i1", args, "b", 1)
        if op == "opaque":
            return f'call {TYPES[kind]} asm "", "=r,0"({typed})'
        if op == "umulhi":
            return self._high_product(block, args, kind, lanes)
        if op == "call":
            return self._called(extra, args, kind, lanes)
        if op in ("half_to_f32", "f32_to_half"):
            return self._half(block, op, first, lanes)
        raise AssertionError(op)

    def _scale(self, block: Block, args: tuple[Reg, ...], kind: str, lanes: int) -> str:
        """a * 2^b by AVX-512's instruction, which LLVM has for whole registers only."""
        bits, p = lanes * BITS[kind], "ps" if kind == "f32" else "pd"
        ty = type_of(kind, lanes)
        if bits > 512:
            return self._in_halves(block, "scale", args, kind, lanes, "")
        flags = f"i{max(8, lanes)}"
        a, x = (r.text for r in args)
        types, rounding = f"{ty}, {ty}, {ty}, {flags}", ""
        if bits == 512:
            types, rounding = types + ", i32", ", i32 4"
        name = f"llvm.x86.avx512.mask.scalef.{p}.{bits}"
        self.declared.setdefault(name, f"declare {ty} @{name}({types})")
        return (f"call {ty} @{name}({ty} {a}, {ty} {x}, {ty} zeroinitializer, {flags} -1"
                f"{rounding})")

    def _in_halves(
        self, block: Block, op: str, args: tuple[Reg, ...], kind: str, lanes: int, extra: str,
    ) -> str:
        """An operation on more lanes than a register as two on half of them."""
        parts, few = [], lanes // 2
        for side in ("low", "high"):
            picked = tuple(
                Reg(self, self.define(block, side, (a,), a.kind, few, ""), a.kind, few, block)
                for a in args)
            parts.append(self.define(block, op, picked, kind, few, extra))
        half, every = type_of(kind, few), ", ".join(f"i32 {i}" for i in range(lanes))
        return (f"shufflevector {half} {parts[0]}, {half} {parts[1]}, "
                f"<{lanes} x i32> <{every}>")

    def _look_up(self, block: Block, index: Reg, lanes: int, table: str) -> str:
        if lanes > 16:
            return self._in_halves(block, "look_up", (index,), "f32", lanes, table)
        name, ty = "llvm.x86.avx512.permvar.sf.512", "<16 x float>"
        self.declared.setdefault(name, f"declare {ty} @{name}({ty}, <16 x i32>)")
        return f"call {ty} @{name}({ty} {table}, <16 x i32> {index.text})"

    def can_look_up(self, kind: str, lanes: int) -> bool:
        return self.machine.vector_bits == 512 and kind == "f32" and lanes >= 16

    def can_scale(self, kind: str, lanes: int) -> bool:
        return self.machine.vector_bits == 512 and lanes * BITS[kind] >= 128

    def _interleave(self, block: Block, args: tuple[Reg, ...], kind: str, lanes: int) -> str:
        quarter, pairs = lanes // 4, []
        ty, half = type_of(kind, quarter), type_of(kind, lanes // 2)
        everything = ", ".join(f"i32 {i}" for i in range(2 * quarter))
        for a, b in (args[:2], args[2:]):
            pairs.append("%" + self.fresh())
            block.lines.append(f"  {pairs[-1]} = shufflevector {ty} {a.text}, {ty} {b.text}, "
                               f"<{2 * quarter} x i32> <{everything}>")
        picks = ", ".join(f"i32 {word * quarter + i}" for i in range(quarter) for word in range(4))
        return (f"shufflevector {half} {pairs[0]}, {half} {pairs[1]}, "
                f"<{lanes} x i32> <{picks}>")

    def _call(self, name: str, args: tuple[Reg, ...], kind: str, lanes: int) -> str:
        types = ", ".join(type_of(a.kind, a.lanes) for a in args)
        self.declared.setdefault(name, f"declare {type_of(kind, lanes)} @{name}({types})")
        return self._called(name, args, kind, lanes)

    def _called(self, name: str, args: tuple[Reg, ...], kind: str, lanes: int) -> str:
        typed = ", ".join(f"{type_of(a.kind, a.lanes)} {a.text}" for a in args)
        return f"call {type_of(kind, lanes)} @{name}({typed})"

    def _conversion(self, block: Block, a: Reg, kind: str, lanes: int) -> str:
        typed, to = f"{type_of(a.kind, lanes)} {a.text}", type_of(kind, lanes)
        unsigned = a.kind in ("u8", "b")
        if kind in FLOATS:
            if a.kind in FLOATS:
                word = "fpext" if kind == "f64" else "fptrunc"
            else:
                word = "uitofp" if unsigned else "sitofp"
        elif a.kind in FLOATS:
            raw = "%" + self.fresh()
            block.lines.append(f"  {raw} = fptosi {typed} to {to}")
            return f"freeze {to} {raw}"
        elif BITS[kind] > BITS[a.kind]:
            word = "zext" if unsigned else "sext"
        else:
            word = "trunc"
        return f"{word} {typed} to {to}"

    def _high_product(self, block: Block, args: tuple[Reg, ...], kind: str, lanes: int) -> str:
        """The upper half of an unsigned product."""
        narrow = type_of(kind, lanes)
        scalar = f"i{2 * BITS[kind]}"
        wide = scalar if lanes == 1 else f"<{lanes} x {scalar}>"
        names = []
        for arg in args:
            names.append("%" + self.fresh())
            block.lines.append(f"  {names[-1]} = zext {narrow} {arg.text} to {wide}")
        product, high = "%" + self.fresh(), "%" + self.fresh()
        count = str(BITS[kind]) if lanes == 1 else f"splat ({scalar} {BITS[kind]})"
        block.lines.append(f"  {product} = mul {wide} {names[0]}, {names[1]}")
        block.lines.append(f"  {high} = lshr {wide} {product}, {count}")
        return f"trunc {wide} {high} to {narrow}"

    def _half(self, block: Block, op: str, a: Reg, lanes: int) -> str:
        """Hardware conversion between float32 and the bits of a float16."""
        half = "half" if lanes == 1 else f"<{lanes} x half>"
        bits, single = type_of("i16", lanes), type_of("f32", lanes)
        name = "%" + self.fresh()
        if op == "half_to_f32":
            block.lines.append(f"  {name} = bitcast {bits} {a.text} to {half}")
            return f"fpext {half} {name} to {single}"
        block.lines.append(f"  {name} = fptrunc {single} {a.text} to {half}")
        return f"bitcast {half} {name} to {bits}"
