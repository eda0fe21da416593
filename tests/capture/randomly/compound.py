"""Random statements with blocks."""

from __future__ import annotations

from .simple import SimpleStatements


class CompoundStatements(SimpleStatements):
    """Branches, loops, `try`, `with` and `match`, nested in one another."""

    def statement(self, indent: int) -> None:
        """One random statement of any kind."""
        raise NotImplementedError

    def block(self, indent: int, most: int = 2) -> None:
        """One to `most` statements; a simple one where the program is long enough."""
        for _ in range(self.random.randint(1, most)):
            self.budget -= 1
            if self.budget <= 0:
                return self.mutate(indent)
            self.statement(indent)

    def branch(self, indent: int) -> None:
        self.emit(indent, f"if {self.condition()}:")
        self.block(indent + 1)
        if self.rarely(0.3):
            self.emit(indent, f"elif {self.condition()}:")
            self.block(indent + 1)
        if self.rarely(0.6):
            self.emit(indent, "else:")
            self.block(indent + 1)

    def loop(self, indent: int) -> None:
        name = self.fresh("j")
        items, table, log = self.a_list(), self.a_table(), f"{self.an_object()}.log"
        source = self.pick(
            "range(3)", "(1, 2)", f"list({items})[:3]", f"list({table})[:2]", "enumerate('ab')",
            "zip((1, 2), (3, 4))", f"{table}.copy().items()", "reversed([1, 2])",
            f"Loud(2, {log})", f"Steps({log}, 2)", f"counted({self.number()})",
            f"guarded({log}, 2)", f"{table}", f"itertools.islice({items}, 3)",
            f"{{q % 3: 1 for q in {items}[:4]}}", "{3, 1, 2}", f"filter(None, {items}[:3])",
            "itertools.product((1, 2), 'a')", f"{self.a_tensor()}[:2]", f"sorted({items})[:2]",
        )
        self.emit(indent, f"for {name} in {source}:")
        self._loop_body(indent)

    def while_loop(self, indent: int) -> None:
        name = self.fresh("w")
        self.emit(indent, f"{name} = 0")
        self.emit(indent, f"while {name} < 2:")
        self.emit(indent + 1, f"{name} += 1")
        self._loop_body(indent)

    def _loop_body(self, indent: int) -> None:
        self.loops += 1
        self.block(indent + 1)
        if self.rarely(0.3):
            self.emit(indent + 1, f"if {self.condition()}:")
            self.emit(indent + 2, self.pick("break", "continue", "break"))
            self.block(indent + 1, 1)
        self.loops -= 1
        if self.rarely(0.2):
            self.emit(indent, "else:")
            self.block(indent + 1, 1)

    def leave(self, indent: int) -> None:
        """Out of the function, or of the loop, if something holds."""
        self.emit(indent, f"if {self.condition()} and n == {self.random.randint(1, 4)}:")
        options = [
            f"return {self.a_tensor()}, {self.a_list()}", f"raise Trouble({self.number()})",
            f"raise ValueError({self.number()}) from Trouble('cause')",
        ]
        if self.loops:
            options += ["break", "continue"]
        self.emit(indent + 1, self.random.choice(options))

    def attempt(self, indent: int) -> None:
        self.emit(indent, "try:")
        self.block(indent + 1)
        if self.rarely(0.6):
            self.trouble(indent + 1)
        shape = self.random.randint(0, 4)
        if shape < 4:
            self._handler(indent)
        if shape == 1:
            self.emit(indent, "else:")
            self.block(indent + 1)
        if shape >= 2:
            self.emit(indent, "finally:")
            self.block(indent + 1)
            if self.rarely(0.06):
                self.emit(indent + 1, f"return {self.a_tensor()}")

    def _handler(self, indent: int) -> None:
        if self.rarely(0.1):
            return self._group_handler(indent)
        kinds = ["Trouble", "(Trouble, KeyError)", "Exception", "ValueError", "LookupError"]
        for kind in self.random.sample(kinds, self.random.randint(1, 2)):
            name = self.fresh("e")
            self.emit(indent, f"except {kind} as {name}:")
            self._told_of(indent + 1, name)
            self.block(indent + 1)
            if self.rarely(0.15):
                self.emit(indent + 1, self.pick(
                    "raise", f"raise {name}", f"raise Worse({self.number()}) from {name}",
                    f"raise Worse({self.number()})", "raise KeyError('other') from None",
                ))

    def _told_of(self, indent: int, name: str) -> None:
        log = f"{self.an_object()}.log"
        self.emit(indent, self.pick(
            f"{log}.append(str({name}))", f"{log}.append({name}.args)",
            f"{log}.append(type({name}).__name__)", f"{log}.append(repr({name}.__cause__))",
            f"{log}.append(repr({name}.__context__))", f"{name}.add_note('n{self.count}')",
            f"{log}.append(isinstance({name}, Worse) and {name}.code)",
            f"{log}.append(sys.exc_info()[1] is {name})", f"{self.an_object()}.kept = {name}",
        ))

    def _group_handler(self, indent: int) -> None:
        name = self.fresh("e")
        errors = f"[Trouble(1), KeyError({self.number()})]"
        self.emit(indent + 1, f"raise ExceptionGroup('g', {errors})")
        self.emit(indent, f"except* Trouble as {name}:")
        self.emit(indent + 1, f"{self.an_object()}.log.append(len({name}.exceptions))")
        if self.rarely(0.6):
            self.emit(indent, f"except* LookupError as {name}:")
            self.emit(indent + 1, f"{self.an_object()}.log.append({name}.message)")

    def with_block(self, indent: int) -> None:
        name, log = self.fresh("m"), f"{self.an_object()}.log"
        manager = self.pick(
            "gw.no_grad()", f"Manager({log}) as {name}", f"Manager({log}, True)",
            f"managed({log}) as {name}", "contextlib.suppress(Trouble, KeyError)",
            f"Manager({log}), gw.no_grad()", f"translating({log}) as {name}", f"Failing({log})",
            f"contextlib.ExitStack() as {name}", "contextlib.nullcontext()",
            f"managed({log}), Manager({log}, True)", "gw.enable_grad()",
        )
        self.emit(indent, f"with {manager}:")
        if "ExitStack" in manager:
            self.emit(indent + 1, f"{name}.callback({log}.append, 'called')")
            self.emit(indent + 1, f"{name}.enter_context(managed({log}))")
        self.block(indent + 1)
        if self.rarely(0.4):
            self.trouble(indent + 1)

    def match(self, indent: int) -> None:
        a, b, items, thing = self.fresh("p"), self.fresh("p"), self.a_list(), self.an_object()
        subject = self.pick(
            items, self.a_table(), self.number(), f"(n, {thing}.v)", thing, f"Data(1, {a[1:]})",
            f"Colour({self.number()} % 2 + 1)", f"Pair({self.number()})", "f'{n}'",
        )
        self.emit(indent, f"match {subject}:")
        patterns = (
            f"[1, {a}, *_]", "{'k': 0}", f"({a}, {b}) if {a}", "Obj(v=2)", "1 | 2",
            f"{{'k': {a}, **{b}}}", f"Data({a}, second={b})", "Colour.RED", f"str({a})",
            f"[*{a}, 5]", f"Pair(left={a})", f"int() as {a} if {a} > 1", "Child()",
        )
        for pattern in patterns:
            if self.rarely(0.35):
                self.emit(indent + 1, f"case {pattern}:")
                self.block(indent + 2, 1)
        self.emit(indent + 1, "case _:")
        self.block(indent + 2)
