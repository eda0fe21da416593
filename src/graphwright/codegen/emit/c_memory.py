"""Memory in C: loads, stores, tables, addresses; the types and helpers they need."""

from __future__ import annotations

from collections.abc import Callable

from graphwright.codegen.emit import c_prelude as prelude
from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.c_prelude import c_type, memory_kind
from graphwright.codegen.emit.regs import Block, Reg
from graphwright.codegen.target import Machine

_FIELDS = {16: "seed", 24: "offset", 40: "error_info"}


class CMemory(Builder):
    """The part of the C builder that touches memory."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self._types: dict[str, str] = {}
        self._helpers: dict[str, str] = {}

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
        """A vector as registers hold it, of one as memory does: bytes of bool become a mask."""
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

    def strided(self, pointer: Reg, first: Reg, lanes: int, step: int) -> Reg:
        pointer, first = self._localise(pointer), self._localise(first)
        kind = memory_kind(pointer.element)
        vector = self._vector(f"{kind}x{lanes}")
        helper = self._helper(f"strided_{vector}", prelude.strided, kind, lanes)
        text = f"{helper}({pointer.text} + {first.text}, {step})"
        text = self._from_memory(pointer.element, lanes, text)
        return self._named(self.block, pointer.element, lanes, text)

    def strided_store(self, pointer: Reg, first: Reg, value: Reg, step: int) -> None:
        pointer, first, value = (
            self._localise(pointer), self._localise(first), self._to_memory(value))
        kind = memory_kind(value.kind)
        vector = self._vector(f"{kind}x{value.lanes}")
        helper = self._helper(f"store_strided_{vector}", prelude.store_strided, kind, value.lanes)
        self.block.lines.append(
            f"{helper}({pointer.text} + {first.text}, {value.text}, {step});")

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

    def pointer(self, pointers: Reg, number: Reg) -> Reg:
        name = self.fresh("p")
        self.block.lines.append(f"void *{name} = {pointers.text}[{number.text}];")
        return Reg(self, name, "ptr", 1, self.block, element="i8")

    def address(self, base: Reg, byte_offset: Reg, element: str) -> Reg:
        item, name = self._type(memory_kind(element)), self.fresh("p")
        value = base.text if byte_offset.value == 0 else f"((char *){base.text} + " \
            f"{byte_offset.text})"
        self.block.lines.append(f"{item} *{name} = ({item} *){value};")
        return Reg(self, name, "ptr", 1, self.block, element=element)
