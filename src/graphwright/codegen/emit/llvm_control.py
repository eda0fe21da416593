"""Control flow in LLVM IR: calls, loops, branches, functions."""

from __future__ import annotations

from collections.abc import Sequence

from graphwright.codegen.emit.llvm_memory import LLVMMemory
from graphwright.codegen.emit.llvm_types import TYPES, type_of
from graphwright.codegen.emit.regs import Block, Body, Branch, Following, Function, Loop, Reg

_ROUTINES = 56
"""The offset of that field of `gw_ctx` (runtime/_core/abi.h)."""


class LLVMControl(LLVMMemory):
    """The part of the LLVM builder that moves between blocks and functions."""

    def parallel(self, context: Reg, body: Body) -> None:
        context, count = self._localise(context), self._localise(body.count)
        closure = self._closure(body.function)
        entry = self._line(f"load ptr, ptr {context.text}, align 8")
        self.block.lines.append(
            f"  call void {entry}(ptr {context.text}, ptr @{body.function.name}, ptr {closure}, "
            f"i64 {count.text}, i64 {body.grain})")

    def _closure(self, function: Function) -> str:
        """The values that a finished body function captures, on the stack."""
        captures = sorted(function.captured.values(), key=lambda c: c.slot)
        outer = [self._localise(capture.outer) for capture in captures]
        return self._on_stack("closure", [(type_of(o.kind, o.lanes), o.text) for o in outer])

    def _on_stack(self, stem: str, values: list[tuple[str, str]]) -> str:
        """A pointer to values (type, text), 8 bytes from one to the next."""
        place, size = "%" + self.fresh(stem), max(1, len(values))
        self.function.entry.lines.insert(0, f"  {place} = alloca [{size} x i64], align 8")
        for slot, (kind, text) in enumerate(values):
            address = self._line(f"getelementptr i64, ptr {place}, i64 {slot}")
            self.block.lines.append(f"  store {kind} {text}, ptr {address}, align 8")
        return place

    def call(self, function: Function, args: list[Reg]) -> Reg:
        arguments = ", ".join(f"{TYPES[a.kind]} {a.text}" for a in args)
        status = self._line(f"call i32 @{function.name}({arguments})")
        return Reg(self, status, "i32", 1, self.block)

    def call_gemm(
        self, context: Reg, dtype_code: int, args: list[Reg], then: Following | None,
    ) -> None:
        following = self._following(then)
        address = self._line(f"getelementptr i8, ptr {context.text}, i64 8")
        entry = self._line(f"load ptr, ptr {address}, align 8")
        typed = ", ".join(f"{TYPES[a.kind]} {self._localise(a).text}" for a in args)
        self._line(f"call i32 {entry}(ptr {context.text}, i32 {dtype_code}, {typed}, "
                   f"ptr {following})")

    def _following(self, then: Following | None) -> str:
        """A pointer to what follows a result."""
        return "null" if then is None else self._on_stack("then", [
            ("ptr", f"@{then.body.function.name}"), ("ptr", self._closure(then.body.function)),
            ("i64", self._localise(then.body.count).text), ("i64", str(then.body.grain)),
            ("i64", self._localise(then.each).text)])

    def call_routine(
        self, context: Reg, number: int, arrays: Sequence[Reg | None], sizes: Sequence[Reg],
        numbers: Sequence[float], then: Following | None,
    ) -> Reg:
        lists = [
            self._on_stack("arrays", [
                ("ptr", "null" if a is None else self._localise(a).text) for a in arrays]),
            self._on_stack("lengths", [("i64", self._localise(size).text) for size in sizes]),
            self._on_stack("numbers", [("double", self.literal(x, "f64")) for x in numbers]),
        ]
        table = self.field(context, _ROUTINES, "ptr")
        address = self._line(f"getelementptr ptr, ptr {table.text}, i64 {number}")
        entry = self._line(f"load ptr, ptr {address}, align 8")
        lists.append(self._following(then))
        given = ", ".join(f"ptr {name}" for name in lists)
        status = self._line(f"call i32 {entry}(ptr {context.text}, {given})")
        return Reg(self, status, "i32", 1, self.block)

    def call_enter_stage(self, context: Reg, stage: int) -> Reg:
        address = self._line(f"getelementptr i8, ptr {context.text}, i64 48")
        entry = self._line(f"load ptr, ptr {address}, align 8")
        status = self._line(f"call i32 {entry}(ptr {context.text}, i64 {stage})")
        return Reg(self, status, "i32", 1, self.block)

    def claim(self, flag: Reg) -> Reg:
        flag = self._localise(flag)
        pair = self._line(f"cmpxchg ptr {flag.text}, i32 0, i32 1 monotonic monotonic")
        name = self._line(f"extractvalue {{ i32, i1 }} {pair}, 1")
        return Reg(self, name, "b", 1, self.block)

    def return_(self, value: int | None) -> None:
        self.block.lines.append("  ret void" if value is None else f"  ret i32 {value}")

    def return_register(self, value: Reg) -> None:
        self.block.lines.append(f"  ret {type_of(value.kind, value.lanes)} {value.text}")

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

    def _parameter(self, function: Function, text: str, kind: str) -> Reg:
        return Reg(self, f"%{text}", kind, function.lanes or 1, function.entry, element="i8")

    def _capture(self, function: Function, reg: Reg, slot: int) -> Reg:
        entry = function.entry
        address, name = "%" + self.fresh(), "%" + self.fresh("c")
        entry.lines.insert(0, f"  {name} = load {TYPES[reg.kind]}, ptr {address}, align 8")
        entry.lines.insert(0, f"  {address} = getelementptr i64, ptr %closure, i64 {slot}")
        return Reg(self, name, reg.kind, 1, entry, element=reg.element)

    def _finish(self, function: Function) -> None:
        lanes = function.lanes or 1
        params = ", ".join(f"{type_of(kind, lanes)} %{name}" for name, kind in function.params)
        own = function.is_part or function.is_body or function.is_outlined
        self.module.append(f"define {'internal ' if own else ''}{type_of(function.result, lanes)} "
                           f"@{function.name}({params}) #{int(function.is_outlined)} {{\nentry:")
        self.module.extend(function.entry.lines)
        self.module.append("}")

    def text(self) -> str:
        wide = self.machine.vector_bits
        shared = (f'nounwind "no-builtins" "frame-pointer"="none" '
                  f'"prefer-vector-width"="{wide}" "min-legal-vector-width"="{wide}"')
        attributes = (f"attributes #0 = {{ {shared} }}",
                      f'attributes #1 = {{ {shared} "stackrealign" }}')
        return "\n".join([*self.module, *self.declared.values(), *attributes, ""])
