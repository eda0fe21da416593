"""Random statements of one line."""

from __future__ import annotations

from .expressions import Expressions


class SimpleStatements(Expressions):
    """Assignments, mutations, effects, and lines that fail."""

    def assign(self, indent: int) -> None:
        value = self.tensor()
        self.emit(indent, f"{self.bound('tensors', 't', indent)} = {value}")

    def assign_int(self, indent: int) -> None:
        value = self.number()
        self.emit(indent, f"{self.bound('ints', 'i', indent)} = ({value}) % 11")

    def mutate(self, indent: int) -> None:
        a, t = self.number(), self.tensor(1)
        items, table, thing = self.a_list(), self.a_table(), self.an_object()
        self.emit(indent, self.pick(
            f"{items}.append({a} % 7)", f"{items}[0] = {a} % 5", f"{table}['k'] = {a} % 9",
            f"{table}['n{self.count}'] = {a} % 3", f"{thing}.v = ({a}) % 6",
            f"{thing}.bump({a} % 3)", f"{thing}.log.append({t}.shape)", f"{items}.sort()",
            f"{items}.reverse()", f"{items}[-1:] = [{a} % 4, 2]",
            f"{items}.pop() if len({items}) > 2 else None", f"{table}.setdefault('s', {a} % 5)",
            f"{table}.pop('s', None)", f"{items} += [{a} % 3]", f"{items}[{a} % 2] += 1",
            f"{table}['k'] += {a} % 2", f"{thing}.v += 1", f"{thing}.doubled = {a} % 8",
            f"{table}.update(k={a} % 4, u=1)", f"{items}.insert({a} % 3, {a} % 5)",
            f"{items}.extend(q + 1 for q in {items}[:2])", f"del {items}[1:3]",
            f"{items}.remove({a} % 3) if {a} % 3 in {items} else None",
            f"heapq.heapify({items})", f"bisect.insort({items}, {a} % 9)",
            f"{table}.popitem() if len({table}) > 2 else None", f"{thing}.extra = {t}",
            f"vars({thing})['w'] = {a} % 5", f"setattr({thing}, 'w{self.count % 2}', {t})",
            f"{items}.sort(key=lambda q: -q)", f"{items}[:] = sorted({items}, reverse=True)",
            f"{table}[{self.number(1)} % 3, 'pair'] = {a} % 4", f"{items}.clear()",
        ))
        if f"{items} +=" in self.lines[-1] and items not in self.names.own:
            self.names.rebound[items] = None

    def effect(self, indent: int) -> None:
        a, thing = self.number(), self.an_object()
        if self.rarely(0.15):
            value = f"int({self.a_tensor()}.sum().item()) % 5"
            return self.emit(indent, f"{self.bound('ints', 'i', indent)} = {value}")
        self.emit(indent, self.pick(
            "G[0] = (G[0] + 1) % 5", f"{thing}.log.append({a})", 'print(end="")', f"print({a})",
            f"H = {a} % 6", f"{self.a_table()}['t'] = {self.a_tensor()}.shape[0]",
            f"{thing}.log.append(re.sub('a', 'b', 'aaa'))", f"{thing}.log.append(Obj.made({a}).v)",
            f"Obj.kind = 'kind{self.count}'", f"gw.rand(2); {thing}.log.append({a})",
        ))
        if self.lines[-1].strip().startswith("H = "):
            self.names.rebound["H"] = None

    def in_place(self, indent: int) -> None:
        name, other = self.a_tensor(), self.a_tensor()
        value = self.number()
        if name not in self.names.own:
            self.names.rebound[name] = None
        self.emit(indent, self.pick(
            f"{name} = {name} + {value}", f"{name}.add_({value})", f"{name} *= {value}",
            f"{name}[0] = {value}", f"{name}[1, 2] = {value}", f"{name}[:, 1:] = {value}",
            f"{name}.copy_({other}.clone())", f"{name}.view(-1)[2] = {value}",
            f"{name}[1].add_({other}[0])", f"{name} += {other}", f"{name}.T[0] = {value}",
            f"{name}.relu_()", f"{name}[{name} > 1] = {value}", f"{name}.detach().mul_({value})",
        ))

    def alias(self, indent: int) -> None:
        """A second name, or a place in a container, for what there is already."""
        tensor, items, table = self.a_tensor(), self.a_list(), self.a_table()
        thing = self.an_object()
        kind, value = self.random.choice([
            ("lists", items), ("lists", f"list({items})"), ("tables", table),
            ("tables", f"dict({table}, k={self.number()} % 5)"),
            ("tables", f"collections.defaultdict(int, {table})"), ("tensors", tensor),
            ("tensors", f"{tensor}.view(3, 4)"), ("objects", f"Child({self.number()} % 7)"),
            ("objects", thing), ("lists", f"{thing}.log"), ("tensors", f"{tensor}.T.T"),
        ])
        self.emit(indent, f"{self.bound(kind, kind[0], indent)} = {value}")
        self.emit(indent, self.pick(
            f"{thing}.extra = {tensor}", f"{thing}.log.append({items})",
            f"{thing}.table = {table}", f"{thing}.other = {self.an_object()}",
        ))

    def unpack(self, indent: int) -> None:
        a, b = self.fresh("u"), self.fresh("u")
        source = self.pick(
            "(1, 2, 3)", f"[*{self.a_list()}[:4], 4]", "range(3)", "'abc'",
            f"{{**{self.a_table()}, 'y': 1}}", f"counted({self.number()})", "Pair(1)",
            f"(q for q in {self.a_list()}[:4])", f"Loud(3, {self.an_object()}.log)",
        )
        target = self.pick(f"{a}, *{b}", f"*{b}, {a}", f"[{a}, *{b}]")
        self.emit(indent, f"{target} = {source}")
        self.emit(indent, f"{self.an_object()}.log.append({b})")

    def swap(self, indent: int) -> None:
        a, b = self.a_tensor(), self.a_tensor()
        for name in (a, b):
            if name not in self.names.own:
                self.names.rebound[name] = None
        self.emit(indent, f"{a}, {b} = {b}, {a} * 2")

    def trouble(self, indent: int) -> None:
        """A line that may raise."""
        a, items, thing = self.number(), self.a_list(), self.an_object()
        self.emit(indent, self.pick(
            f"risky({a})", f"{thing}.v = risky({a}, limit=1)", f"{self.a_table()}[{a}]",
            f"{items}[{a}]", f"{a} // ({self.number()} % 2)",
            f"assert {self.condition()}, 'checked'", f"{thing}.missing",
            f"raise Trouble('here', {a})", f"raise Worse({a})", f"helper({self.a_tensor()}, j=1)",
            f"spread(scale={a})", f"first, second = {items}", f"{self.a_tensor()} @ gw.ones(7)",
            f"{self.a_tensor()}[{a} + 2]", f"next(iter([][{a}:]))", "'a' + 1", "int('x')",
            f"Loud({a}, {thing}.log).nothing", f"{items}.remove({a} + 100)", "gw.stack([])",
            f"raise {self.pick('KeyError', 'ValueError')}({a}) from Trouble('cause')",
            f"raise KeyError({a}) from None", f"dict([{a}])", f"{items}.index(-{a})",
            f"Wrapped({a}).missing", "{Ranked(1)}", "Point(3)", "Base()", "Lazy(1).fixed = 1",
            f"Point(1).b = {a}", "net(gw.ones(3, 5))", "net.nothing", f"{thing}.log[{a}:'a']",
            f"gw.cat([{self.a_tensor()}, gw.ones(2)])", f"{self.a_tensor()}.reshape(5, -1)",
        ))
