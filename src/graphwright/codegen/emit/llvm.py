"""LLVM IR: the text of a module, built without LLVM (parsing it is LLVM's first work)."""

from __future__ import annotations

import struct

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.regs import (
    BITS,
    FLOATS,
    Block,
    Branch,
    Function,
    Loop,
    Reg,
    stored_bytes,
)
from graphwright.codegen.target import Machine

_TYPES = {
    "b": "i1", "i8": "i8", "u8": "i8", "i16": "i16", "i32": "i32", "i64": "i64",
    "f16": "i16", "bf16": "i16", "f32": "float", "f64": "double", "ptr": "ptr", "void": "void",
}
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


def type_of(kind: str, lanes: int) -> str:
    scalar = _TYPES[kind]
    return scalar if lanes == 1 else f"<{lanes} x {scalar}>"


def _suffix(kind: str, lanes: int) -> str:
    """The type's name in the name of an overloaded intrinsic."""
    name = f"f{BITS[kind]}" if kind in FLOATS else f"i{BITS[kind]}"
    return name if lanes == 1 else f"v{lanes}{name}"


class LLVMBuilder(Builder):
    """Builds LLVM IR; `text()` is the module."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.has_fma = machine.has("fma")
        self.has_rounding = machine.has("sse4_1")
        self.has_half = machine.has("f16c")
        self.has_scale = machine.vector_bits == 512
        self.wide_lanes = True
        self._declared: dict[str, str] = {}

    # -- literals ---------------------------------------------------------------------------------

    def literal(self, value: int | float, kind: str) -> str:
        if kind == "f32":
            value = struct.unpack("<f", struct.pack("<f", _to_float32(value)))[0]
        if kind in FLOATS:
            return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
        if kind == "b":
            return "true" if value else "false"
        bits = BITS[kind]
        value = int(value) & ((1 << bits) - 1)
        return str(value - (1 << bits) if value >> (bits - 1) else value)

    def splat_literal(self, reg: Reg, lanes: int) -> str:
        return f"splat ({_TYPES[reg.kind]} {reg.text})"

    def iota_literal(self, lanes: int, kind: str) -> str:
        return "<" + ", ".join(f"{_TYPES[kind]} {i}" for i in range(lanes)) + ">"

    # -- operations -------------------------------------------------------------------------------

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
            return self._call(f"llvm.{_INTRINSICS[op]}.{_suffix(kind, lanes)}", args, kind, lanes)
        if op == "convert":
            return self._conversion(block, first, kind, lanes)
        if op == "bitcast":
            return f"bitcast {typed} to {type_of(kind, lanes)}"
        return self._lanes_op(block, op, args, kind, lanes)

    def _lanes_op(
        self, block: Block, op: str, args: tuple[Reg, ...], kind: str, lanes: int,
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
        if op == "umulhi":
            return self._high_product(block, args, kind, lanes)
        if op in ("half_to_f32", "f32_to_half"):
            return self._half(block, op, first, lanes)
        raise AssertionError(op)

    def _scale(self, block: Block, args: tuple[Reg, ...], kind: str, lanes: int) -> str:
        """a * 2^b by AVX-512's instruction, which LLVM has for whole registers only."""
        bits, p = lanes * BITS[kind], "ps" if kind == "f32" else "pd"
        ty = type_of(kind, lanes)
        if bits > 512:
            parts, half = [], type_of(kind, lanes // 2)
            for op in ("low", "high"):
                picked = tuple(
                    Reg(self, self.define(block, op, (a,), kind, lanes // 2, ""), kind,
                        lanes // 2, block) for a in args)
                parts.append(self.define(block, "scale", picked, kind, lanes // 2, ""))
            every = ", ".join(f"i32 {i}" for i in range(lanes))
            return (f"shufflevector {half} {parts[0]}, {half} {parts[1]}, "
                    f"<{lanes} x i32> <{every}>")
        flags = f"i{max(8, lanes)}"
        rounding = (", i32", ", i32 4") if bits == 512 else ("", "")
        name = f"llvm.x86.avx512.mask.scalef.{p}.{bits}"
        self._declared.setdefault(
            name, f"declare {ty} @{name}({ty}, {ty}, {ty}, {flags}{rounding[0]})")
        a, b = (r.text for r in args)
        return (f"call {ty} @{name}({ty} {a}, {ty} {b}, {ty} zeroinitializer, {flags} -1"
                f"{rounding[1]})")

    def can_scale(self, kind: str, lanes: int) -> bool:
        return self.has_scale and lanes * BITS[kind] >= 128

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
        result = type_of(kind, lanes)
        types = [type_of(a.kind, a.lanes) for a in args]
        self._declared.setdefault(name, f"declare {result} @{name}({', '.join(types)})")
        typed = ", ".join(f"{t} {a.text}" for t, a in zip(types, args, strict=True))
        return f"call {result} @{name}({typed})"

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

    # -- memory -----------------------------------------------------------------------------------

    def _line(self, text: str, block: Block | None = None) -> str:
        name = "%" + self.fresh()
        (block or self.block).lines.append(f"  {name} = {text}")
        return name

    def _element(self, pointer: Reg, index: Reg) -> str:
        """The name of &pointer[index] (a vector of addresses for a vector index)."""
        pointer, index = self._localise(pointer), self._localise(index)
        if index.value == 0 and index.lanes == 1:
            return pointer.text
        block = self._place((pointer, index))
        key = ("address", pointer.text, index.text)
        found = block.memo.get(key)
        if found is None:
            memory = "i8" if pointer.element == "b" else _TYPES[pointer.element]
            ty = type_of("i64", index.lanes)
            name = self._line(
                f"getelementptr {memory}, ptr {pointer.text}, {ty} {index.text}", block,
            )
            found = block.memo[key] = Reg(self, name, "ptr", index.lanes, block)
        return found.text

    def load(self, pointer: Reg, index: Reg, lanes: int, mask: Reg | None, other: Reg | None,
             hoist: bool) -> Reg:
        kind, hoist = pointer.element, hoist and mask is None
        memory = "i8" if kind == "b" else kind
        deps = tuple(r for r in (pointer, index, mask, other) if r is not None)
        deps = tuple(self._localise(r) for r in deps)
        block = self.hoisted_place(deps) if hoist else self.block
        key = ("load", lanes, *(r.text for r in deps), mask is None)
        if hoist and (found := block.memo.get(key)) is not None:
            return found
        address, size = self._element(pointer, index), stored_bytes(kind)
        ty = type_of(memory, lanes)
        if mask is None:
            name = self._line(f"load {ty}, ptr {address}, align {size}", block)
        elif lanes == 1:
            name = self._scalar_masked_load(address, ty, size, mask)
        else:
            name = self._masked_load(block, address, memory, lanes, mask)
        result = Reg(self, name, memory, lanes, block)
        if kind == "b":
            flag = self._line(f"icmp ne {ty} {name}, {'zeroinitializer' if lanes > 1 else 0}",
                              block)
            result = Reg(self, flag, "b", lanes, block)
        if mask is not None and other is not None and other.value != 0:
            result = self.select(mask, result, other)
        if hoist:
            block.memo[key] = result
        return result

    def _scalar_masked_load(self, address: str, ty: str, size: int, mask: Reg) -> str:
        spare = self.local_array("i64", 1)
        chosen = self._line(f"select i1 {self._localise(mask).text}, ptr {address}, "
                            f"ptr {spare.text}")
        return self._line(f"load {ty}, ptr {chosen}, align {size}")

    def _masked_load(self, block: Block, address: str, kind: str, lanes: int, mask: Reg) -> str:
        size, ty = stored_bytes(kind), type_of(kind, lanes)
        mask = self._localise(self.broadcast(mask, lanes))
        name = f"llvm.masked.load.{_suffix(kind, lanes)}.p0"
        bits = f"<{lanes} x i1>"
        self._declared.setdefault(name, f"declare {ty} @{name}(ptr, i32, {bits}, {ty})")
        return self._line(f"call {ty} @{name}(ptr {address}, i32 {size}, {bits} {mask.text}, "
                          f"{ty} zeroinitializer)", block)

    def gather(self, pointer: Reg, index: Reg, mask: Reg | None, other: Reg | None) -> Reg:
        kind = pointer.element
        memory = "i8" if kind == "b" else kind
        lanes, size, ty = index.lanes, stored_bytes(kind), type_of(memory, index.lanes)
        addresses, bits = self._element(pointer, index), f"<{lanes} x i1>"
        name = f"llvm.masked.gather.{_suffix(memory, lanes)}.v{lanes}p0"
        flags = "splat (i1 true)"
        if mask is not None:
            flags = self._localise(self.broadcast(mask, lanes)).text
        self._declared.setdefault(
            name, f"declare {ty} @{name}(<{lanes} x ptr>, i32, {bits}, {ty})")
        loaded = self._line(f"call {ty} @{name}(<{lanes} x ptr> {addresses}, i32 {size}, "
                            f"{bits} {flags}, {ty} zeroinitializer)")
        result = Reg(self, loaded, memory, lanes, self.block)
        if kind == "b":
            flag = self._line(f"icmp ne {ty} {loaded}, zeroinitializer")
            result = Reg(self, flag, "b", lanes, self.block)
        if mask is not None and other is not None and other.value != 0:
            result = self.select(mask, result, other)
        return result

    def _stored(self, value: Reg) -> Reg:
        value = self._localise(value)
        return self.convert(value, "i8") if value.kind == "b" else value

    def store(self, pointer: Reg, index: Reg, value: Reg, mask: Reg | None) -> None:
        address, value = self._element(pointer, index), self._stored(value)
        size, ty = stored_bytes(value.kind), type_of(value.kind, value.lanes)
        if mask is None:
            self.block.lines.append(f"  store {ty} {value.text}, ptr {address}, align {size}")
            return
        mask = self._localise(self.broadcast(mask, value.lanes))
        if value.lanes == 1:
            spare = self.local_array("i64", 1)
            chosen = self._line(f"select i1 {mask.text}, ptr {address}, ptr {spare.text}")
            self.block.lines.append(f"  store {ty} {value.text}, ptr {chosen}, align {size}")
            return
        name, bits = f"llvm.masked.store.{_suffix(value.kind, value.lanes)}.p0", \
            f"<{value.lanes} x i1>"
        self._declared.setdefault(name, f"declare void @{name}({ty}, ptr, i32, {bits})")
        self.block.lines.append(f"  call void @{name}({ty} {value.text}, ptr {address}, "
                                f"i32 {size}, {bits} {mask.text})")

    def scatter(self, pointer: Reg, index: Reg, value: Reg, mask: Reg | None) -> None:
        addresses, value = self._element(pointer, index), self._stored(value)
        lanes, size = value.lanes, stored_bytes(value.kind)
        ty, bits = type_of(value.kind, lanes), f"<{lanes} x i1>"
        flags = "splat (i1 true)"
        if mask is not None:
            flags = self._localise(self.broadcast(mask, lanes)).text
        name = f"llvm.masked.scatter.{_suffix(value.kind, lanes)}.v{lanes}p0"
        self._declared.setdefault(
            name, f"declare void @{name}({ty}, <{lanes} x ptr>, i32, {bits})")
        self.block.lines.append(f"  call void @{name}({ty} {value.text}, <{lanes} x ptr> "
                                f"{addresses}, i32 {size}, {bits} {flags})")

    def local_array(self, kind: str, count: int) -> Reg:
        entry = self.function.entry
        key = ("spare", kind, count)
        found = entry.memo.get(key)
        if found is None:
            name = "%" + self.fresh("s")
            entry.lines.insert(0, f"  {name} = alloca [{count} x {_TYPES[kind]}], align 64")
            found = entry.memo[key] = Reg(self, name, "ptr", 1, entry, element=kind)
        return found

    def table(self, name: str, kind: str, values: tuple[int, ...]) -> Reg:
        if name not in self._tables:
            items = ", ".join(f"{_TYPES[kind]} {self.literal(v, kind)}" for v in values)
            self.module.append(f"@{name} = private unnamed_addr constant "
                               f"[{len(values)} x {_TYPES[kind]}] [{items}], align 64")
            self._tables[name] = Reg(self, f"@{name}", "ptr", element=kind)
        return self._tables[name]

    def field(self, pointer: Reg, offset: int, kind: str) -> Reg:
        address = pointer.text
        if offset:
            address = self._line(f"getelementptr i8, ptr {pointer.text}, i64 {offset}")
        size = 8 if kind == "ptr" else stored_bytes(kind)
        name = self._line(f"load {_TYPES[kind]}, ptr {address}, align {size}")
        return Reg(self, name, kind, 1, self.block, element="i8")

    def address(self, base: Reg, byte_offset: Reg, element: str) -> Reg:
        if byte_offset.value == 0:
            return Reg(self, base.text, "ptr", 1, base.block, element=element)
        name = self._line(f"getelementptr i8, ptr {base.text}, i64 {byte_offset.text}")
        return Reg(self, name, "ptr", 1, self.block, element=element)

    # -- calls and control ------------------------------------------------------------------------

    def parallel(self, context: Reg, function: Function, count: Reg, grain: int) -> None:
        context, count = self._localise(context), self._localise(count)
        captures = sorted(function.captured.values(), key=lambda c: c.slot)
        size = max(1, len(captures))
        closure = "%" + self.fresh("closure")
        self.function.entry.lines.insert(0, f"  {closure} = alloca [{size} x i64], align 8")
        for capture in captures:
            outer = self._localise(capture.outer)
            address = self._line(f"getelementptr i64, ptr {closure}, i64 {capture.slot}")
            self.block.lines.append(f"  store {type_of(outer.kind, outer.lanes)} {outer.text}, "
                                    f"ptr {address}, align 8")
        entry = self._line(f"load ptr, ptr {context.text}, align 8")
        self.block.lines.append(
            f"  call void {entry}(ptr {context.text}, ptr @{function.name}, ptr {closure}, "
            f"i64 {count.text}, i64 {grain})")

    def call_gemm(self, context: Reg, dtype_code: int, args: list[Reg]) -> None:
        address = self._line(f"getelementptr i8, ptr {context.text}, i64 8")
        entry = self._line(f"load ptr, ptr {address}, align 8")
        typed = ", ".join(f"{_TYPES[a.kind]} {self._localise(a).text}" for a in args)
        self._line(f"call i32 {entry}(ptr {context.text}, i32 {dtype_code}, {typed})")

    def claim(self, flag: Reg) -> Reg:
        flag = self._localise(flag)
        pair = self._line(f"cmpxchg ptr {flag.text}, i32 0, i32 1 monotonic monotonic")
        name = self._line(f"extractvalue {{ i32, i1 }} {pair}, 1")
        return Reg(self, name, "b", 1, self.block)

    def return_(self, value: int | None) -> None:
        self.block.lines.append("  ret void" if value is None else f"  ret i32 {value}")

    def _open_loop(self, loop: Loop, stem: str) -> None:
        loop.body.label = self.fresh("L")
        loop.guard.label = loop.body.label + ".pre"
        loop.index = Reg(self, f"%{self.fresh(stem)}", "i64", 1, loop.body)
        loop.carried = [
            Reg(self, f"%{self.fresh('acc')}", c.kind, c.lanes, loop.body) for c in loop.initial
        ]

    def _close_loop(self, loop: Loop, following: list[Reg]) -> list[Reg]:
        parent, enter = loop.guard.parent, loop.guard.label
        assert parent is not None
        head, latch = enter.removesuffix(".pre"), loop.body.label
        lines, before, after, index = parent.lines, parent.label, head + ".exit", loop.index.text
        if loop.never_empty:
            lines.append(f"  br label %{enter}")
        else:
            test = "%" + self.fresh()
            lines.append(f"  {test} = icmp slt i64 {loop.start.text}, {loop.stop.text}")
            lines.append(f"  br i1 {test}, label %{enter}, label %{after}")
        lines += [f"{enter}:", *loop.guard.lines, f"  br label %{head}", f"{head}:",
                  f"  {index} = phi i64 [ {loop.start.text}, %{enter} ], "
                  f"[ {index}.next, %{latch} ]"]
        for phi, init, follow in zip(loop.carried, loop.initial, following, strict=True):
            lines.append(f"  {phi.text} = phi {type_of(phi.kind, phi.lanes)} [ {init.text}, "
                         f"%{enter} ], [ {follow.text}, %{latch} ]")
        test = "%" + self.fresh()
        lines += [*loop.body.lines,
                  f"  {index}.next = add nsw i64 {index}, {loop.step}",
                  f"  {test} = icmp slt i64 {index}.next, {loop.stop.text}",
                  f"  br i1 {test}, label %{head}, label %{after}", f"{after}:"]
        parent.label = after
        return [
            self._loop_result(loop, parent, before, latch, init, follow)
            for init, follow in zip(loop.initial, following, strict=True)
        ]

    def _loop_result(self, loop: Loop, parent: Block, before: str, latch: str, init: Reg,
                     follow: Reg) -> Reg:
        if loop.never_empty:
            return Reg(self, follow.text, follow.kind, follow.lanes, parent)
        name = "%" + self.fresh()
        parent.lines.append(f"  {name} = phi {type_of(init.kind, init.lanes)} "
                            f"[ {init.text}, %{before} ], [ {follow.text}, %{latch} ]")
        return Reg(self, name, init.kind, init.lanes, parent)

    def _close_branch(self, branch: Branch, results: list[Reg], otherwise: list[Reg],
                      returns: bool) -> list[Reg]:
        parent, block = branch.block.parent, branch.block
        assert parent is not None
        start, join, before = branch.label, branch.label + ".join", parent.label
        lines = parent.lines
        lines += [f"  br i1 {branch.condition.text}, label %{start}, label %{join}", f"{start}:",
                  *block.lines]
        if not returns:
            lines.append(f"  br label %{join}")
        lines.append(f"{join}:")
        parent.label = join
        merged = []
        for yes, no in zip(results, otherwise, strict=True):
            name = "%" + self.fresh()
            lines.append(f"  {name} = phi {type_of(yes.kind, yes.lanes)} [ {yes.text}, "
                         f"%{block.label} ], [ {no.text}, %{before} ]")
            merged.append(Reg(self, name, yes.kind, yes.lanes, parent))
        return merged

    # -- functions --------------------------------------------------------------------------------

    def _parameter(self, function: Function, text: str, kind: str) -> Reg:
        return Reg(self, f"%{text}", kind, 1, function.entry, element="i8")

    def _capture(self, function: Function, reg: Reg, slot: int) -> Reg:
        entry = function.entry
        address, name = "%" + self.fresh(), "%" + self.fresh("c")
        entry.lines.insert(0, f"  {name} = load {_TYPES[reg.kind]}, ptr {address}, align 8")
        entry.lines.insert(0, f"  {address} = getelementptr i64, ptr %closure, i64 {slot}")
        return Reg(self, name, reg.kind, 1, entry, element=reg.element)

    def _finish(self, function: Function) -> None:
        params = ", ".join(f"{_TYPES[kind]} %{name}" for name, kind in function.params)
        linkage = "" if function.name in ("run", "shapes") else "internal "
        self.module.append(
            f"define {linkage}{_TYPES[function.result]} @{function.name}({params}) #0 {{\nentry:")
        self.module.extend(function.entry.lines)
        self.module.append("}")

    def text(self) -> str:
        wide = self.machine.vector_bits
        attributes = (f'attributes #0 = {{ nounwind "no-builtins" "frame-pointer"="none" '
                      f'"prefer-vector-width"="{wide}" "min-legal-vector-width"="{wide}" }}')
        return "\n".join([*self.module, *self._declared.values(), attributes, ""])


def _to_float32(value: float) -> float:
    try:
        struct.pack("<f", value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return value
