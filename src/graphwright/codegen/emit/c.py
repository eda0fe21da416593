"""C with vector extensions: the text of a module, for GCC or Clang."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from graphwright.codegen.emit import c_prelude as prelude
from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.c_prelude import c_type, memory_kind, vector_kind
from graphwright.codegen.emit.regs import BITS, FLOATS, Block, Branch, Function, Loop, Reg
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
_PARAMETERS = {"ctx": "const gw_ctx *ctx", "ptrs": "void **ptrs", "sizes": "const int64_t *sizes",
               "closure": "void *closure", "out": "int64_t *out", "begin": "int64_t begin",
               "end": "int64_t end"}
_FIELDS = {16: "seed", 24: "offset", 40: "error_info"}


class CBuilder(Builder):
    """Builds C; `text()` is the module."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.has_fma = machine.has("fma")
        self.has_rounding = machine.has("sse4_1")
        self.has_half = self.wide_lanes = False
        self._types: dict[str, str] = {}
        self._helpers: dict[str, str] = {}

    # -- types and helpers ------------------------------------------------------------------------

    def _type(self, kind: str, lanes: int = 1) -> str:
        if kind == "ptr":
            return "void *"
        name = c_type(kind, lanes)
        return self._vector(name) if lanes > 1 else name

    def _vector(self, name: str) -> str:
        if name not in self._types:
            self._types[name] = prelude.vector_typedef(name)
        return name

    def _helper(self, name: str, make: Callable[..., str], *args: str | int) -> str:
        """The name of an inline function of the prelude, written when first used."""
        if name not in self._helpers:
            for lanes in (a for a in args if isinstance(a, int) and a > 1):
                self._vector(f"i32x{lanes}")
            self._helpers[name] = make(*args)
        return name

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

    # -- operations -------------------------------------------------------------------------------

    def define(
        self, block: Block, op: str, args: tuple[Reg, ...], kind: str, lanes: int, extra: str,
    ) -> str:
        name = self.fresh()
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

    # -- memory -----------------------------------------------------------------------------------

    def load(self, pointer: Reg, index: Reg, lanes: int, mask: Reg | None, other: Reg | None,
             hoist: bool) -> Reg:
        hoist = hoist and mask is None
        pointer, index = self._localise(pointer), self._localise(index)
        kind = pointer.element
        block = self.hoisted_place((pointer, index)) if hoist else self.block
        key = ("load", lanes, pointer.text, index.text)
        if hoist and (found := block.memo.get(key)) is not None:
            return found
        if lanes == 1:
            value = f"{pointer.text}[{index.text}]"
            if mask is not None:
                value = f"{self._localise(mask).text} ? {value} : 0"
        else:
            value = self._vector_read(pointer, index, lanes, mask)
        result = self._named(block, kind, lanes, value)
        if mask is not None and other is not None and other.value != 0:
            result = self.select(mask, result, other)
        if hoist:
            block.memo[key] = result
        return result

    def _named(self, block: Block, kind: str, lanes: int, value: str) -> Reg:
        name = self.fresh()
        block.lines.append(f"const {self._type(kind, lanes)} {name} = {value};")
        return Reg(self, name, kind, lanes, block)

    def _from_memory(self, kind: str, lanes: int, text: str) -> str:
        """Lanes as they are in memory to lanes as they are computed with."""
        if kind != "b":
            return text
        return f"__builtin_convertvector({text} != 0, {self._type('b', lanes)})"

    def _vector_read(self, pointer: Reg, index: Reg, lanes: int, mask: Reg | None) -> str:
        kind = memory_kind(pointer.element)
        vector = self._vector(f"{kind}x{lanes}")
        address = f"{pointer.text} + {index.text}"
        if mask is None:
            text = f"*(const {vector}_u *)({address})"
        else:
            flags = self._localise(self.broadcast(mask, lanes)).text
            helper = self._helper(f"load_{vector}", prelude.load_masked, kind, lanes)
            text = f"{helper}({address}, {flags})"
        return self._from_memory(pointer.element, lanes, text)

    def gather(self, pointer: Reg, index: Reg, mask: Reg | None, other: Reg | None) -> Reg:
        pointer, index = self._localise(pointer), self._localise(index)
        kind, lanes = memory_kind(pointer.element), index.lanes
        vector = self._vector(f"{kind}x{lanes}")
        self._vector(f"i64x{lanes}")
        if mask is None:
            helper = self._helper(f"gather_{vector}", prelude.gather, kind, lanes)
            text = f"{helper}({pointer.text}, {index.text})"
        else:
            flags = self._localise(self.broadcast(mask, lanes)).text
            helper = self._helper(f"gather_masked_{vector}", prelude.gather_masked, kind, lanes)
            text = f"{helper}({pointer.text}, {index.text}, {flags})"
        text = self._from_memory(pointer.element, lanes, text)
        result = self._named(self.block, pointer.element, lanes, text)
        if mask is not None and other is not None and other.value != 0:
            result = self.select(mask, result, other)
        return result

    def _to_memory(self, value: Reg) -> Reg:
        value = self._localise(value)
        return self.convert(value, "i8") if value.kind == "b" else value

    def store(self, pointer: Reg, index: Reg, value: Reg, mask: Reg | None) -> None:
        pointer, index, value = (
            self._localise(pointer), self._localise(index), self._to_memory(value))
        lanes, lines = value.lanes, self.block.lines
        flags = "" if mask is None else self._localise(self.broadcast(mask, lanes)).text
        if lanes == 1:
            line = f"{pointer.text}[{index.text}] = {value.text};"
            lines.append(line if mask is None else f"if ({flags}) {line}")
            return
        kind = memory_kind(value.kind)
        vector = self._vector(f"{kind}x{lanes}")
        address = f"{pointer.text} + {index.text}"
        if mask is None:
            lines.append(f"*({vector}_u *)({address}) = {value.text};")
        else:
            helper = self._helper(f"store_{vector}", prelude.store_masked, kind, lanes)
            lines.append(f"{helper}({address}, {value.text}, {flags});")

    def scatter(self, pointer: Reg, index: Reg, value: Reg, mask: Reg | None) -> None:
        pointer, index, value = (
            self._localise(pointer), self._localise(index), self._to_memory(value))
        kind, lanes = memory_kind(value.kind), value.lanes
        vector = self._vector(f"{kind}x{lanes}")
        self._vector(f"i64x{lanes}")
        flags = self._localise(self.broadcast(mask or self.const(True, "b"), lanes)).text
        helper = self._helper(f"scatter_{vector}", prelude.scatter_masked, kind, lanes)
        self.block.lines.append(f"{helper}({pointer.text}, {index.text}, {value.text}, {flags});")

    def local_array(self, kind: str, count: int) -> Reg:
        entry, key = self.function.entry, ("local", kind, count)
        found = entry.memo.get(key)
        if found is None:
            name = self.fresh("local")
            entry.lines.insert(
                0, f"{self._type(kind)} {name}[{count}] __attribute__((aligned(64)));")
            found = entry.memo[key] = Reg(self, name, "ptr", 1, entry, element=kind)
        return found

    def table(self, name: str, kind: str, values: tuple[int, ...]) -> Reg:
        if name not in self._tables:
            items = ", ".join(self.literal(v, kind) for v in values)
            self.module.append(f"static const {self._type(kind)} {name}[] = {{{items}}};")
            self._tables[name] = Reg(self, name, "ptr", element=kind)
        return self._tables[name]

    def field(self, pointer: Reg, offset: int, kind: str) -> Reg:
        if pointer.text == "ctx":
            value = f"ctx->{_FIELDS[offset]}"
        else:
            value = f"{pointer.text}[{offset // 8}]"
        name = self.fresh()
        block = self.block
        element = "i64" if pointer.text == "ctx" and kind == "ptr" else ""
        spelled = "int64_t *" if element else self._type(kind)
        block.lines.append(f"{spelled} {name} = {value};".replace("* ", "*"))
        return Reg(self, name, kind, 1, block, element=element)

    def address(self, base: Reg, byte_offset: Reg, element: str) -> Reg:
        item, name = self._type(memory_kind(element)), self.fresh("p")
        value = base.text if byte_offset.value == 0 else f"((char *){base.text} + " \
            f"{byte_offset.text})"
        self.block.lines.append(f"{item} *{name} = ({item} *){value};")
        return Reg(self, name, "ptr", 1, self.block, element=element)

    # -- calls and control ------------------------------------------------------------------------

    def parallel(self, context: Reg, function: Function, count: Reg, grain: int) -> None:
        count = self._localise(count)
        captures = sorted(function.captured.values(), key=lambda c: c.slot)
        values = ", ".join(self._localise(c.outer).text for c in captures) or "0"
        closure = self.fresh("closure")
        self.block.lines += [
            f"struct {function.name} {closure} = {{{values}}};",
            f"ctx->parallel_for(ctx, {function.name}_body, &{closure}, {count.text}, {grain});",
        ]

    def call_gemm(self, context: Reg, dtype_code: int, args: list[Reg]) -> None:
        texts = ", ".join(self._localise(a).text for a in args)
        self.block.lines.append(f"ctx->gemm(ctx, {dtype_code}, {texts});")

    def claim(self, flag: Reg) -> Reg:
        flag = self._localise(flag)
        return self._named(self.block, "b", 1,
                           f"__atomic_exchange_n({flag.text}, 1, __ATOMIC_RELAXED) == 0")

    def return_(self, value: int | None) -> None:
        self.block.lines.append("return;" if value is None else f"return {value};")

    def _open_loop(self, loop: Loop, stem: str) -> None:
        parent = loop.guard.parent
        assert parent is not None
        loop.index = Reg(self, self.fresh(stem), "i64", 1, loop.body)
        for init in loop.initial:
            name = self.fresh("acc")
            parent.lines.append(f"{self._type(init.kind, init.lanes)} {name} = {init.text};")
            loop.carried.append(Reg(self, name, init.kind, init.lanes, loop.body))

    def _close_loop(self, loop: Loop, following: list[Reg]) -> list[Reg]:
        parent, index = loop.guard.parent, loop.index.text
        assert parent is not None
        for carried, follow in zip(loop.carried, following, strict=True):
            if carried.text != follow.text:
                loop.body.lines.append(f"{carried.text} = {follow.text};")
        step = f"{index}++" if loop.step == 1 else f"{index} += {loop.step}"
        first, last = loop.start.text, loop.stop.text
        lines = [f"for (int64_t {index} = {first}; {index} < {last}; {step}) {{",
                 *_indented(loop.body.lines), "}"]
        if loop.guard.lines and not loop.never_empty:
            lines = [f"if ({first} < {last}) {{",
                     *_indented([*loop.guard.lines, *lines]), "}"]
        else:
            lines = [*loop.guard.lines, *lines]
        parent.lines += lines
        return [Reg(self, c.text, c.kind, c.lanes, parent) for c in loop.carried]

    def _close_branch(self, branch: Branch, results: list[Reg], otherwise: list[Reg],
                      returns: bool) -> list[Reg]:
        parent, merged = branch.block.parent, []
        assert parent is not None
        for yes, no in zip(results, otherwise, strict=True):
            name = self.fresh("either")
            parent.lines.append(f"{self._type(no.kind, no.lanes)} {name} = {no.text};")
            branch.block.lines.append(f"{name} = {yes.text};")
            merged.append(Reg(self, name, no.kind, no.lanes, parent))
        parent.lines += [f"if ({branch.condition.text}) {{", *_indented(branch.block.lines), "}"]
        return merged

    # -- functions --------------------------------------------------------------------------------

    def _capture(self, function: Function, reg: Reg, slot: int) -> Reg:
        name = self.fresh("c")
        declared = self._declaration(reg, name)
        function.entry.lines.insert(
            0, f"{declared} = ((const struct {function.name} *)closure)->v{slot};")
        return Reg(self, name, reg.kind, 1, function.entry, element=reg.element)

    def _declaration(self, reg: Reg, name: str) -> str:
        if reg.kind != "ptr":
            return f"{self._type(reg.kind)} {name}"
        if reg.text == "ctx":
            return f"const gw_ctx *{name}"
        return f"{self._type(memory_kind(reg.element)) if reg.element else 'void'} *{name}"

    def _finish(self, function: Function) -> None:
        params = ", ".join(_PARAMETERS[name] for name, _ in function.params)
        name, result = function.name, "void" if function.result == "void" else "int32_t"
        linkage = ""
        if name not in ("run", "shapes"):
            captures = sorted(function.captured.values(), key=lambda c: c.slot)
            fields = [f"{self._declaration(c.inner, f'v{c.slot}')};" for c in captures]
            fields = fields or ["char none;"]
            self.module.append(f"\nstruct {name} {{ {' '.join(fields)} }};")
            linkage, name = "static ", name + "_body"
        self.module.append(f"\n{linkage}{result} {name}({params}) {{")
        self.module += _indented(function.entry.lines)
        self.module.append("}")

    def text(self) -> str:
        return "\n".join([prelude.ABI, *self._types.values(), *self._helpers.values(),
                          *self.module, ""])


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


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
