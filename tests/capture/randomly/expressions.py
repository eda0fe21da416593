"""Random expressions: tensors of shape [3, 4], ints, truth values, containers."""

from __future__ import annotations

from .writer import Writer


class Expressions(Writer):
    """Writes expressions over the names of the function that is being written."""

    def a_tensor(self) -> str:
        return self.random.choice(self.names.tensors)

    def a_list(self) -> str:
        return self.random.choice(self.names.lists)

    def a_table(self) -> str:
        return self.random.choice(self.names.tables)

    def an_object(self) -> str:
        return self.random.choice(self.names.objects)

    def tensor(self, depth: int = 0) -> str:
        """An expression that gives a tensor of shape [3, 4]."""
        if depth > 2 or (depth and self.rarely(0.35)):
            return self.a_tensor()
        a, b = self.tensor(depth + 1), self.tensor(depth + 1)
        if self.rarely(0.25):
            return self._called(a, b)
        return self.pick(
            f"({a} + {b})", f"({a} * {self.number()})", f"gw.relu({a})", f"helper({a})",
            f"helper({a}, k={self.number()})", f"({a} - {b}).tanh()", f"{a}.T.reshape({a}.shape)",
            f"gw.maximum({a}, {b})", f"({a} if {self.condition()} else {b})",
            f"[{a}, {b}][{self.number()} % 2]", f"sum([{a}, {b}])", f"(lambda t: t + {b})({a})",
            f"({a} / 2)", f"max([{a}, {b}], key=lambda t: t.shape[0])",
            f"gw.where({a} > 0, {a}, {b})", f"spread({a}, {b}, scale={self.number()})",
            f"(lambda *p, k=1: p[-1] * k)({a}, {b})", f"dict(p={a}, q={b})['q']",
            f"spread(*[{a}, 1], **{{'z': 2}})", f"({self.number(1)} - {a})", f"abs({a})",
            f"gw.stack([{a}, {b}]).sum(0)", f"{a}.clone()", f"({a} * SCALE)",
        )

    def _called(self, a: str, b: str) -> str:
        log = f"{self.an_object()}.log"
        return self.pick(
            f"decorated({a})", f"falling(2, {a})", f"Obj.twice({a})", f"Loud(1, {log})({a}, 2)",
            f"noisy({a})", f"branching({a}, {log})", f"noisy_inside({a}, {log})",
            f"noisily_falling(1, {a})", f"functools.partial(helper, {a})(3)",
            f"Pair({a}, {b}).right", f"Data({a}, rest=[{b}]).rest[0]",
            f"{a}.view(-1).view(*{a}.shape)",
            f"next(iter([{a}, {b}]))", f"functools.reduce(lambda p, q: p * q, [{a}, {b}, 2])",
            f"list(map(helper, [{a}, {b}]))[1]", f"({{**{{'p': {a}}}}} | {{'q': {b}}})['q']",
            f"{a}[[1, 0]].repeat(2, 1)[:{a}.shape[0]]", f"{a}.expand(2, *{a}.shape)[1]",
            f"[*{a}][0].expand_as({a})",
        )

    def number(self, depth: int = 0) -> str:
        """An expression that gives an int."""
        if depth > 1 or self.rarely(0.4):
            return self.pick(
                *self.names.ints, str(self.random.randint(-2, 4)), f"len({self.a_list()})", "G[0]",
                "H", "SCALE",
            )
        a, b = self.number(depth + 1), self.number(depth + 1)
        if self.rarely(0.25):
            return self._told(a, b)
        items, table, thing = self.a_list(), self.a_table(), self.an_object()
        return self.pick(
            f"({a} + {b})", f"({a} * {b})", f"abs({a})", f"max({a}, {b})",
            f"{self.a_tensor()}.shape[1]", f"{table}['k']", f"{table}.get('z', 3)", f"{thing}.v",
            f"sum(i for i in range(abs({a}) % 4))", f"len([q for q in {items}[:4] if q > {b}])",
            f"len({{q % 3 for q in {items}[:4]}})",
            f"len({{str(k): {b} for k in list({table})}})", f"sum(counted({a}))",
            f"len('%s-%s' % ({a}, {b}))", f"len(f'{{n}}-{{{thing}.v!s:>3}}')",
            f"next(iter({items}), {a})", f"divmod({a}, 3)[1]", f"min([{a}, {b}, 7])",
            f"({a} if {b} else 2)", f"{thing}.doubled", f"{thing}.bump({a} % 3)", f"(-{a} // 3)",
            f"[*{items}, {a}][-1]", f"sum(v for v in [*{table}.values()])", f"({a} or {b})",
            f"({a} and {b})", f"int({a} < {b})", f"cached(abs({a}) % 5)", f"({a} ^ {b})",
        )

    def _told(self, a: str, b: str) -> str:
        """Ints from what says so, asks the C library, or keeps state."""
        items, log = self.a_list(), f"{self.an_object()}.log"
        loud = f"{self.pick('Loud', 'Truthful')}({a}, {log})"
        return self.pick(
            f"len({loud})", f"sum({loud})", f"({loud} + {b})", f"({b} + {loud})", f"{loud}[{b}]",
            f"int({a} in {loud})", f"int({loud} == {b})", f"int({loud} < {b})",
            f"len({loud}.{self.pick('name', 'none')})", f"[7, 8, 9][{loud}]",
            f"len({{{loud}: 1, Loud({b}, {log}): 2}})", f"sorted([{loud}, Loud({b}, {log})])[0].v",
            f"remembering({a})", f"adder({a})({b})", f"pushed({items}, {a} % 9)",
            f"zlib.crc32(b'{self.count}') % 7", f"bisect.bisect({items}, {a})",
            f"max({loud}, Loud({b}, {log})).v", f"len(list(zip({loud}, {items}[:4])))",
            f"sum(Steps({log}, abs({a}) % 3))", f"len(json.dumps({items}[:2]))",
            f"sum(delegating({log}, {a}))", f"int(bool({loud}))", f"len({log})",
            f"int({loud} in [{b}, Loud({b}, {log})])", f"Colour({a}).value",
            f"risky({a}, limit=9)",
        )

    def condition(self) -> str:
        """An expression with a truth value."""
        a, b = self.number(1), self.number(1)
        if self.rarely(0.12):
            return f"{self.a_tensor()}.sum() > {a}"
        items, log = self.a_list(), f"{self.an_object()}.log"
        return self.pick(
            f"{a} > {b}", f"{a} == {b} or {b}", f"not {a}", f"{a} in {items}",
            f"'k' in {self.a_table()}", f"isinstance({self.a_tensor()}, gw.Tensor)",
            f"0 < {a} <= 5", f"({self.fresh('z')} := {a}) > 1",
            f"any(q == {a} for q in {items}[:4])",
            f"all([{a} < 9, {b} < 9])", f"Truthful({a}, {log})", f"Loud({a}, {log})",
            f"{self.a_tensor()} is {self.a_tensor()}", f"not (Truthful({a}, {log}) and {b})",
            f"hasattr({self.an_object()}, 'extra')", f"Loud({a}, {log}) < {b} < 3", f"{items}",
            f"{self.an_object()}.kind == 'child'", f"callable(getattr({self.an_object()}, 'v'))",
            f"issubclass(type({self.an_object()}), Obj)", f"{a} not in ({b}, 1)",
        )
