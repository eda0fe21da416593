"""Control flow in C: calls, loops, branches, functions."""

from __future__ import annotations

from collections.abc import Sequence

from graphwright.codegen.emit import c_prelude as prelude
from graphwright.codegen.emit.c_memory import CMemory
from graphwright.codegen.emit.c_prelude import memory_kind
from graphwright.codegen.emit.regs import Body, Branch, Following, Function, Loop, Reg

_PARAMETERS = {"ctx": "const gw_ctx *ctx", "ptrs": "void **ptrs", "sizes": "const int64_t *sizes",
               "row": "const int64_t *row", "closure": "void *closure",
               "out": "int64_t *out", "begin": "int64_t begin", "end": "int64_t end"}


class CControl(CMemory):
    """The part of the C builder that moves between blocks and functions."""

    def parallel(self, context: Reg, body: Body) -> None:
        self.block.lines.append(f"ctx->parallel_for(ctx, {self._with_closure(body)});")

    def _with_closure(self, body: Body) -> str:
        """A body's function, its closure, which is declared here, its count and grain."""
        name, count = body.function.name, self._localise(body.count)
        captures = sorted(body.function.captured.values(), key=lambda c: c.slot)
        values = ", ".join(self._localise(c.outer).text for c in captures) or "0"
        closure = self.fresh("closure")
        self.block.lines.append(f"struct {name} {closure} = {{{values}}};")
        return f"{name}_body, &{closure}, {count.text}, {body.grain}"

    def call(self, function: Function, args: list[Reg]) -> Reg:
        arguments = ", ".join(a.text for a in args)
        return self._named(self.block, "i32", 1, f"{function.name}({arguments})")

    def call_gemm(
        self, context: Reg, dtype_code: int, args: list[Reg], then: Following | None,
    ) -> None:
        texts = ", ".join(self._localise(a).text for a in args)
        following = self._following(then)
        self.block.lines.append(f"ctx->gemm(ctx, {dtype_code}, {texts}, {following});")

    def _following(self, then: Following | None) -> str:
        """The address of what follows a result, which is declared here."""
        if then is None:
            return "0"
        name = self.fresh("then")
        values = f"{self._with_closure(then.body)}, {self._localise(then.each).text}"
        self.block.lines.append(f"const gw_then {name} = {{{values}}};")
        return f"&{name}"

    def call_routine(
        self, context: Reg, number: int, arrays: Sequence[Reg | None], sizes: Sequence[Reg],
        numbers: Sequence[float], then: Following | None,
    ) -> Reg:
        pointers = ", ".join("0" if a is None else self._localise(a).text for a in arrays)
        lengths = ", ".join(self._localise(s).text for s in sizes)
        factors = ", ".join(self.literal(x, "f64") for x in numbers) or "0"
        return self._named(
            self.block, "i32", 1,
            f"ctx->routines[{number}](ctx, (void *[]){{{pointers}}}, (int64_t[]){{{lengths}}}, "
            f"(double[]){{{factors}}}, {self._following(then)})")

    def call_enter_stage(self, context: Reg, stage: int) -> Reg:
        return self._named(self.block, "i32", 1, f"ctx->enter_stage(ctx, {stage})")

    def claim(self, flag: Reg) -> Reg:
        flag = self._localise(flag)
        return self._named(self.block, "b", 1,
                           f"__atomic_exchange_n({flag.text}, 1, __ATOMIC_RELAXED) == 0")

    def return_(self, value: int | None) -> None:
        self.block.lines.append("return;" if value is None else f"return {value};")

    def return_register(self, value: Reg) -> None:
        self.block.lines.append(f"return {value.text};")

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
        if function.is_outlined:
            self._finish_outlined(function)
            return
        params = ", ".join(_PARAMETERS.get(name, f"void *{name}") for name, _ in function.params)
        name, result = function.name, "void" if function.result == "void" else "int32_t"
        linkage = "static " if function.is_part else ""
        if function.is_body:
            captures = sorted(function.captured.values(), key=lambda c: c.slot)
            fields = [f"{self._declaration(c.inner, f'v{c.slot}')};" for c in captures]
            fields = fields or ["char none;"]
            self.module.append(f"\nstruct {name} {{ {' '.join(fields)} }};")
            linkage, name = "static ", name + "_body"
        self.module.append(f"\n{linkage}{result} {name}({params}) {{")
        self.module += _indented(function.entry.lines)
        self.module.append("}")

    def _finish_outlined(self, function: Function) -> None:
        params = ", ".join(f"{self._type(kind, function.lanes)} {name}"
                           for name, kind in function.params)
        result = self._type(function.result, function.lanes)
        head = f"static __attribute__((noinline)) {result} {function.name}({params}) {{"
        self.module += ["", head, *_indented(function.entry.lines), "}"]

    def text(self) -> str:
        return "\n".join([prelude.ABI, *self._types.values(), *self._helpers.values(),
                          *self.module, ""])


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]
