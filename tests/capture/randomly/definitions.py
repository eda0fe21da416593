"""Random functions, generators, classes and comprehensions inside of the function."""

from __future__ import annotations

from .compound import CompoundStatements
from .writer import Names


class Definitions(CompoundStatements):
    """Definitions, and statements that use what they define."""

    def function(self, indent: int, header: str, own: dict[str, list[str]], end: str) -> None:
        """A nested function: its own names by kind, random statements, and a last line."""
        outer, lines, depth, loops = self.names, self.lines, self.depth, self.loops
        self.names, self.lines, self.depth, self.loops = Names(outer), [], indent, 0
        for kind, names in own.items():
            getattr(self.names, kind).extend(names)
            self.names.own.update(names)
        self.block(indent + 1)
        self.emit(indent + 1, end.replace("TENSOR", self.tensor(1)))
        body, rebound = self.lines, self.names.rebound
        self.names, self.lines, self.depth, self.loops = outer, lines, depth, loops
        self.emit(indent, header)
        self.declare(indent + 1, rebound)
        self.lines += body

    def declare(self, indent: int, rebound: dict[str, None]) -> None:
        """`global` and `nonlocal` for what a function binds and does not own."""
        if "H" in rebound:
            self.emit(indent, "global H")
        names = [name for name in rebound if name != "H"]
        if names and not self.rarely(0.05):
            self.emit(indent, f"nonlocal {', '.join(names)}")

    def closure(self, indent: int) -> None:
        if self.depth > 4:
            return self.assign(indent)
        name, a = self.fresh("g"), self.fresh("a")
        header = f"def {name}({a}, b={self.number()}, *rest, c=1):"
        self.function(indent, header, {"tensors": [a], "ints": ["b", "c"]}, "return TENSOR * b")
        call = self.pick(
            f"{name}({self.tensor(1)})", f"{name}({self.tensor(1)}, 2, 3, c=4)",
            f"{name}(*[{self.a_tensor()}, 3])",
            f"functools.partial({name}, b=2)({self.a_tensor()})",
            f"logged({name})({self.a_tensor()})", f"list(map({name}, [{self.a_tensor()}]))[0]",
            f"sum({name}(t) for t in [{self.a_tensor()}, {self.a_tensor()}])",
        )
        self.emit(indent, f"{self.bound('tensors', 't', indent)} = {call}")

    def generator(self, indent: int) -> None:
        if self.depth > 4:
            return self.assign(indent)
        name, a, log = self.fresh("g"), self.fresh("a"), f"{self.an_object()}.log"
        own = {"tensors": [a]}
        self.emit(indent, f"def {name}_plain({a}):")
        self.emit(indent + 1, f"for k in range({self.number()} % 3 + 1):")
        self.emit(indent + 2, f"yield {a} * k")
        self.function(indent, f"def {name}({a}):", own, f"yield from {name}_plain(TENSOR)")
        use = self.pick(
            f"sum({name}({self.a_tensor()}))", f"list({name}({self.a_tensor()}))[-1]",
            f"next({name}({self.a_tensor()}))", f"max({name}({self.a_tensor()}), key=len)",
        )
        self.emit(indent, f"{self.bound('tensors', 't', indent)} = {use}")
        if self.rarely(0.4):
            self.emit(indent, f"{log}.append(len([*{name}({self.a_tensor()})]))")

    def driven(self, indent: int) -> None:
        """A generator or iterator used piece by piece, with statements between."""
        name, log = self.fresh("it"), f"{self.an_object()}.log"
        source = self.pick(
            f"guarded({log}, 3)", f"delegating({log}, 2)", f"iter({self.a_list()})",
            f"(q * 2 for q in {self.a_list()})", f"zip({self.a_list()}, 'abc')",
            f"enumerate({self.a_list()})", f"map(str, {self.a_list()})", f"iter({self.a_table()})",
            f"itertools.chain({self.a_list()}, 'z')", f"reversed({self.a_list()})",
            "itertools.count(2)", f"Steps({log}, 3)", "itertools.cycle('ab')",
        )
        self.emit(indent, f"{name} = {source}")
        for _ in range(self.random.randint(1, 3)):
            options = [f"{log}.append(next({name}, None))", f"{log}.append(type({name}).__name__)"]
            if source.startswith(("guarded", "delegating")):
                options += [
                    f"{log}.append({name}.send(5))", f"{name}.close()",
                    f"{log}.append({name}.throw(Trouble('thrown')))",
                ]
            elif "count" not in source and "cycle" not in source:
                options += [f"{log}.extend(list({name})[:3])", f"{log}.append(next({name}))"]
            self.emit(indent, self.random.choice(options))
            if self.rarely(0.5):
                self.statement(indent)

    def instance(self, indent: int) -> None:
        name, out = self.fresh("o"), self.fresh("i")
        log = f"{self.an_object()}.log"
        self.emit(indent, f"{name} = {self.pick('Obj', 'Child', 'Obj.made')}({self.number()})")
        self.emit(indent, f"{name}.bump()")
        self.emit(indent, f"{name}.extra = {self.tensor(1)}")
        self.emit(indent, f"{self.a_table()}['{out}'] = {name}.v % 5 + len({name}.log)")
        self.emit(indent, self.pick(
            f"{log}.append({name})", f"{log}.append(Slotted({name}.v).first)",
            f"{log}.append(Data({name}.v) == Data({self.number()}))",
            f"w{name} = Watched({log}); w{name}.a = {self.number()}; del w{name}.a",
            f"s{name} = Slotted(1); s{name}.second = {self.a_tensor()}; {log}.append(s{name})",
            f"{log}.append(dataclasses.replace(Data(1), second={self.number()}))",
            f"l{name} = Loud(1, {log}); l{name} += 1; l{name}[0] = 2; {log}.append(l{name}.v)",
            f"{log}.append([c.name for c in Colour])", f"{log}.append(Pair(1)._replace(left=2))",
        ))
        if indent == self.depth + 1:
            self.names.objects.append(name)
            self.names.own.add(name)

    def local_class(self, indent: int) -> None:
        if self.depth > 2:
            return self.assign_int(indent)
        name, a = self.fresh("C"), self.fresh("a")
        base = self.pick("Obj", "Child", "Loud")
        self.emit(indent, f"class {name}({base}):")
        self.emit(indent + 1, f"squares = [q * q for q in range({self.random.randint(1, 3)})]")
        header = f"def work(self, {a}):"
        self.function(indent + 1, header, {"tensors": [a]}, "return TENSOR + self.squares[0]")
        target = self.bound("tensors", "t", indent)
        made = f"{name}(1, [])" if base == "Loud" else f"{name}(1)"
        self.emit(indent, f"{target} = {name}.work({made}, {self.a_tensor()})")

    def comprehension(self, indent: int) -> None:
        a, items = self.tensor(1), self.a_list()
        log = f"{self.an_object()}.log"
        if self.rarely(0.5):
            self.emit(indent, f"{self.bound('tensors', 't', indent)} = " + self.pick(
                f"sum([{a} * c for c in range(1, 3)])", f"[noisy({a}) for c in (1, 2)][0]",
                f"sum({a} + c for c in range(2))", f"[f() for f in [lambda: {a} * 2]][0]",
                f"[f(2) for f in [lambda q: {a} * c * q for c in (1, 2)]][1]",
                f"{{c: {a} * c for c in (1, 2) if c}}[2]",
            ))
            return
        self.emit(indent, f"{log}.append(" + self.pick(
            f"[q for q in {items}[:4] if q]", f"{{q: q + 1 for q in {items}[:4]}}",
            f"{{q % 4 for q in {items}[:4]}}",
            f"[(p, q) for p in {items}[:2] for q in range(p % 3)]",
            f"[w := q for q in {items}[:4]]", f"[risky(q, limit=4) for q in {items}[:4]]",
            f"[[p for p in range(q % 3)] for q in {items}[:4]]",
            f"[f() for f in [lambda: q for q in {items}[:4]]]",
            f"[print(q) for q in {items}[:2]]", f"[Loud(q, {log}) == 1 for q in {items}[:2]]",
            f"list(q for q in {items}[:4] if not risky(q, limit=8) > 7)",
            f"[n for n in {items}[:4]]",
        ) + ")")

    def coroutine(self, indent: int) -> None:
        name = self.fresh("r")
        self.emit(indent, f"{name} = waiting({self.a_tensor()})")
        self.emit(indent, "try:")
        self.emit(indent + 1, f"{name}.send(None)")
        self.emit(indent, "except StopIteration as stop:")
        self.emit(indent + 1, f"{self.bound('tensors', 't', indent + 1)} = stop.value")

    def forget(self, indent: int) -> None:
        """A name is unbound for a while."""
        name = self.random.choice(self.names.ints)
        if name not in self.names.own:
            return self.assign_int(indent)
        self.emit(indent, f"kept{name} = {name}")
        self.emit(indent, f"del {name}")
        self.emit(indent, "try:")
        self.block(indent + 1)
        self.emit(indent, "except NameError as error:")
        self.emit(indent + 1, f"{self.an_object()}.log.append(type(error).__name__)")
        self.emit(indent, "finally:")
        self.emit(indent + 1, f"{name} = kept{name}")
