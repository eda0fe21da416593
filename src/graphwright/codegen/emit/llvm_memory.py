"""Memory in LLVM IR: loads, stores, tables, addresses."""

from __future__ import annotations

from graphwright.codegen.emit.builder import Builder
from graphwright.codegen.emit.llvm_types import TYPES, suffix, type_of
from graphwright.codegen.emit.regs import Block, Reg, stored_bytes
from graphwright.codegen.target import Machine


class LLVMMemory(Builder):
    """The part of the LLVM builder that touches memory."""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.declared: dict[str, str] = {}

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
        key = ("address", pointer.text, index.text, index.lanes)
        found = block.memo.get(key)
        if found is None:
            memory = "i8" if pointer.element == "b" else TYPES[pointer.element]
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
        """The element, or 0: what lies in the spare place is not defined."""
        spare, flag = self.local_array("i64", 1), self._localise(mask).text
        chosen = self._line(f"select i1 {flag}, ptr {address}, ptr {spare.text}")
        loaded = self._line(f"load {ty}, ptr {chosen}, align {size}")
        return self._line(f"select i1 {flag}, {ty} {loaded}, {ty} zeroinitializer")

    def _masked_load(self, block: Block, address: str, kind: str, lanes: int, mask: Reg) -> str:
        size, ty = stored_bytes(kind), type_of(kind, lanes)
        mask = self._localise(self.broadcast(mask, lanes))
        name = f"llvm.masked.load.{suffix(kind, lanes)}.p0"
        bits = f"<{lanes} x i1>"
        self.declared.setdefault(name, f"declare {ty} @{name}(ptr, i32, {bits}, {ty})")
        return self._line(f"call {ty} @{name}(ptr {address}, i32 {size}, {bits} {mask.text}, "
                          f"{ty} zeroinitializer)", block)

    def strided(self, pointer: Reg, first: Reg, lanes: int, step: int) -> Reg:
        kind = "i8" if pointer.element == "b" else pointer.element
        low, places, begins = _spread(first, lanes, step)
        ty, name = type_of(kind, lanes), "poison"
        for begin in begins:
            address = self._element(pointer, low + begin)
            part = self._line(f"load {ty}, ptr {address}, align {stored_bytes(kind)}")
            picks = [lanes + place - begin if begin <= place < begin + lanes else lane
                     for lane, place in enumerate(places)]
            name = self._shuffle(ty, name, part, picks)
        if pointer.element == "b":
            flag = self._line(f"icmp ne {ty} {name}, zeroinitializer")
            return Reg(self, flag, "b", lanes, self.block)
        return Reg(self, name, kind, lanes, self.block)

    def _shuffle(self, ty: str, one: str, two: str, picks: list[int]) -> str:
        lanes = ", ".join(f"i32 {pick}" for pick in picks)
        return self._line(f"shufflevector {ty} {one}, {ty} {two}, <{len(picks)} x i32> <{lanes}>")

    def strided_store(self, pointer: Reg, first: Reg, value: Reg, step: int) -> None:
        value = self._stored(value)
        ty, lanes, left = type_of(value.kind, value.lanes), value.lanes, set(range(value.lanes))
        low, places, begins = _spread(first, lanes, step)
        name = self._masked_store(value.kind, lanes)
        for begin in begins:
            lane_of = {places[lane] - begin: lane for lane in sorted(left)
                       if begin <= places[lane] < begin + lanes}
            left -= set(lane_of.values())
            picks = [lane_of.get(i, 0) for i in range(lanes)]
            part = self._shuffle(ty, value.text, "poison", picks)
            flags = ", ".join(f"i1 {str(i in lane_of).lower()}" for i in range(lanes))
            self.block.lines.append(
                f"  call void @{name}({ty} {part}, ptr {self._element(pointer, low + begin)}, "
                f"i32 {stored_bytes(value.kind)}, <{lanes} x i1> <{flags}>)")

    def gather(self, pointer: Reg, index: Reg, mask: Reg | None, other: Reg | None) -> Reg:
        kind = pointer.element
        memory = "i8" if kind == "b" else kind
        lanes, size, ty = index.lanes, stored_bytes(kind), type_of(memory, index.lanes)
        addresses, bits = self._element(pointer, index), f"<{lanes} x i1>"
        name = f"llvm.masked.gather.{suffix(memory, lanes)}.v{lanes}p0"
        flags = "splat (i1 true)"
        if mask is not None:
            flags = self._localise(self.broadcast(mask, lanes)).text
        self.declared.setdefault(
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
        name = self._masked_store(value.kind, value.lanes)
        self.block.lines.append(f"  call void @{name}({ty} {value.text}, ptr {address}, "
                                f"i32 {size}, <{value.lanes} x i1> {mask.text})")

    def _masked_store(self, kind: str, lanes: int) -> str:
        name = f"llvm.masked.store.{suffix(kind, lanes)}.p0"
        self.declared.setdefault(
            name, f"declare void @{name}({type_of(kind, lanes)}, ptr, i32, <{lanes} x i1>)")
        return name

    def scatter(self, pointer: Reg, index: Reg, value: Reg, mask: Reg | None) -> None:
        addresses, value = self._element(pointer, index), self._stored(value)
        lanes, size = value.lanes, stored_bytes(value.kind)
        ty, bits = type_of(value.kind, lanes), f"<{lanes} x i1>"
        flags = "splat (i1 true)"
        if mask is not None:
            flags = self._localise(self.broadcast(mask, lanes)).text
        name = f"llvm.masked.scatter.{suffix(value.kind, lanes)}.v{lanes}p0"
        self.declared.setdefault(
            name, f"declare void @{name}({ty}, <{lanes} x ptr>, i32, {bits})")
        self.block.lines.append(f"  call void @{name}({ty} {value.text}, <{lanes} x ptr> "
                                f"{addresses}, i32 {size}, {bits} {flags})")

    def local_array(self, kind: str, count: int) -> Reg:
        entry = self.function.entry
        key = ("spare", kind, count)
        found = entry.memo.get(key)
        if found is None:
            name = "%" + self.fresh("s")
            entry.lines.insert(0, f"  {name} = alloca [{count} x {TYPES[kind]}], align 64")
            found = entry.memo[key] = Reg(self, name, "ptr", 1, entry, element=kind)
        return found

    def table(self, name: str, kind: str, values: tuple[int, ...]) -> Reg:
        if name not in self._tables:
            items = ", ".join(f"{TYPES[kind]} {self.literal(v, kind)}" for v in values)
            self.module.append(f"@{name} = private unnamed_addr constant "
                               f"[{len(values)} x {TYPES[kind]}] [{items}], align 64")
            self._tables[name] = Reg(self, f"@{name}", "ptr", element=kind)
        return self._tables[name]

    def field(self, pointer: Reg, offset: int, kind: str) -> Reg:
        address = pointer.text
        if offset:
            address = self._line(f"getelementptr i8, ptr {pointer.text}, i64 {offset}")
        size = 8 if kind == "ptr" else stored_bytes(kind)
        name = self._line(f"load {TYPES[kind]}, ptr {address}, align {size}")
        return Reg(self, name, kind, 1, self.block, element="i8")

    def pointer(self, pointers: Reg, number: Reg) -> Reg:
        address = self._line(f"getelementptr ptr, ptr {pointers.text}, i64 {number.text}")
        name = self._line(f"load ptr, ptr {address}, align 8")
        return Reg(self, name, "ptr", 1, self.block, element="i8")

    def address(self, base: Reg, byte_offset: Reg, element: str) -> Reg:
        if byte_offset.value == 0:
            return Reg(self, base.text, "ptr", 1, base.block, element=element)
        name = self._line(f"getelementptr i8, ptr {base.text}, i64 {byte_offset.text}")
        return Reg(self, name, "ptr", 1, self.block, element=element)


def _spread(first: Reg, lanes: int, step: int) -> tuple[Reg, list[int], list[int]]:
    """Lanes that lie `step` apart: the index of the least, where they are from there on, and
    where vectors begin that hold them all and nothing beyond."""
    span = abs(step) * (lanes - 1) + 1
    low = first if step > 0 else first - (span - 1)
    places = [step * lane if step > 0 else span - 1 + step * lane for lane in range(lanes)]
    begins = dict.fromkeys(min(begin, span - lanes) for begin in range(0, span, lanes))
    return low, places, list(begins)
