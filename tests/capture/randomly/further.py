"""Random statements about failing frames, changes under iteration, rows, keys, arrays, chance."""

from __future__ import annotations

from .language import Language


class Further(Language):
    """What is seen of frames that fail, of iterators whose container changes, and of rows."""

    def statement(self, indent: int) -> None:
        raise NotImplementedError

    def failing(self, indent: int) -> None:
        """The frames that an exception goes through hold what ends visibly."""
        name, log, n = self.fresh("e"), f"{self.an_object()}.log", self.number(1)
        call = self.pick(
            f"ends_badly({log}, {n})", f"ends_deeper({log}, {n}, {self.a_tensor()})",
            f"[ends_badly({log}, q) for q in (2, {n})]", f"sum(map(ends_badly, [{log}], [{n}]))",
        )
        self.emit(indent, "try:")
        if self.rarely(0.3):
            self.emit(indent + 1, f"local{name} = Mortal({log})")
        self.emit(indent + 1, f"{log}.append({call})")
        self.emit(indent, self.pick(
            f"except Trouble as {name}:", "except Trouble:",
            f"except (Trouble, KeyError) as {name}:",
        ))
        self.block(indent + 1)
        self.emit(indent + 1, f"{log}.append('handled')")
        if self.rarely(0.3):
            self.emit(indent, "finally:")
            self.block(indent + 1, 1)
        self.emit(indent, f"{log}.append('behind')")

    def changed_under(self, indent: int) -> None:
        """Containers that change while they are iterated over."""
        name, items, table = self.fresh("j"), self.a_list(), self.a_table()
        log, n = f"{self.an_object()}.log", self.number(1)
        source, change = self.random.choice([
            (table, f"{table}['m{self.count}'] = {n} % 3"), (table, f"{table}[{name}] = {n} % 3"),
            (f"{table}.values()", f"{table}.pop('k', None)"),
            (f"list({table}.items())", f"{table}.pop({name}[0])"),
            (items, f"{items}.append(1) if len({items}) < 9 else None"),
            (items, f"{items}.remove({name})"), (f"enumerate({items})", f"del {items}[-1:]"),
            (f"reversed({items})", f"{items}.pop()"), ("{1, 2, 3}", f"{items}.append({name})"),
            (f"zip({items}, {items})", f"{items}.clear()"),
            (f"{items}[:3]", f"{items}.insert(0, {name})"),
        ])
        self.emit(indent, "try:")
        self.emit(indent + 1, f"for {name} in {source}:")
        self.emit(indent + 2, f"if len({items}) > 12: break")
        self.emit(indent + 2, change)
        self.loops += 1
        self.block(indent + 2, 1)
        self.loops -= 1
        self.emit(indent, "except (RuntimeError, KeyError, ValueError) as error:")
        self.emit(indent + 1, f"{log}.append(str(error))")

    def rowed(self, indent: int) -> None:
        """Tensors taken apart by Python, and put together."""
        a, b, n = self.a_tensor(), self.a_tensor(), self.number(1)
        self.emit(indent, f"{self.bound('tensors', 't', indent)} = " + self.pick(
            f"gw.stack([p * q for p, q in zip({a}, {b})])", f"gw.stack(list({a})[::-1])",
            f"gw.stack([row for row in {a} if row.sum() > {n}] or [{a}[0]])",
            f"gw.stack([*map(of_each, {a})]).unsqueeze(-1) + {b}",
            f"[{a}, {b}][int({a}.argmax()) % 2]", f"gw.tensor({a}.tolist()) + {b}",
            f"gw.vmap(lambda t: t * t.sum())({a})", f"gw.vmap(of_each)({a})[:, None] * {b}",
            f"gw.func.grad(of_each)({a}.detach().float())", f"Turning({n} % 3)({a})",
            f"gw.func.functional_call(Turning(1), {{'weight': {a}[0].detach()}}, ({b},))",
            f"sum(row.max() for row in {a}) * {b}", f"{a} * bool(({a} == {b}).all())",
            f"gw.cat([part * i for i, part in enumerate({a}.split(1))])",
            f"min([{a}, {b}], key=lambda t: t.sum().item())",
            f"gw.stack([{a}[i, j] for i in range(len({a})) for j in (0, -1)]).sum() * {b}",
        ))

    def keyed(self, indent: int) -> None:
        """Tensors as keys and with attributes, weak references, arrays, and chance."""
        a, b, n, name = self.a_tensor(), self.a_tensor(), self.number(1), self.fresh("v")
        items, log = self.a_list(), f"{self.an_object()}.log"
        self.emit(indent, self.pick(
            f"{log}.append({{{a}: 1, {b}: 2}}[{a}])", f"{log}.append(len({{{a}, {b}}}))",
            f"{a}.note = {n}; {log}.append(getattr({b}, 'note', None))",
            f"{log}.append(any(q is {a} for q in ({b}, {a})))",
            f"{name} = Named({n}); {log}.append(weakly({name})() is {name}); del {name}; "
            f"{log}.append(len(WEAK))",
            f"{name} = Named(1); r{name} = weakly({name}); {name} = [{name}]; "
            f"{log}.append(r{name}().v); {name}.pop(); {log}.append(r{name}() is None)",
            f"random.seed({n}); {log}.append(random.random())",
            f"{log}.append(random.randrange(9))",
            f"random.shuffle({items}); {log}.append(random.choice([1, 2, {n}]))",
            f"{name} = {a}.detach().numpy(); {name} *= 2; {log}.append(float({name}.sum()) > 1)",
            f"{name} = numpy.ones(4); t{name} = gw.from_numpy({name}); {name}[0] = {n} % 5; "
            f"{log}.append(t{name})",
            f"{log}.append(numpy.asarray({a}.detach()).shape)",
            f"{log}.append({items} * 2 == [*{items}, *{items}])", f"{items}[::2] = {items}[1::2]",
            f"{log}.append([*range({n} % 5)][{n} % 3::-1])", f"{log}.append(1 << {n} % 5 | 2)",
            f"{log}.append(complex({n}, 1) * 2)", f"{log}.append(divmod(-{n}, 4))",
            f"{log}.append(2.0 ** ({n} % 5) // 3)", f"{log}.append(-{n} % 4 - ~{n})",
        ))

    def decorated_here(self, indent: int) -> None:
        """Decorators, recursion and classes with properties, defined inside of the function."""
        if self.depth > 2:
            return self.assign(indent)
        name, a, n = self.fresh("g"), self.a_tensor(), self.number(1)
        log = f"{self.an_object()}.log"
        target = self.bound("tensors", "t", indent)
        lines, use = self.random.choice([
            ((f"def {name}(d, t=None):", "    t = {a} if t is None else t",
              f"    return t if d <= 0 else {name}(d - 1, t * 2) + d"), f"{name}({n} % 4)"),
            ((f"def {name}(function):", "    seen = []", "    @functools.wraps(function)",
              "    def wrapper(*args, **kwargs):", "        seen.append(len(args) + len(kwargs))",
              "        {log}.append(sum(seen))", "        return function(*args, **kwargs)",
              "    return wrapper"), f"{name}(helper)({a}, k={n}) + {name}({name}(helper))({a})"),
            ((f"class {name}:", "    made = 0", "    def __init__(self, t):",
              f"        {name}.made += 1", "        self._t = t", "    @property",
              "    def t(self):", "        return self._t * self.made", "    @t.setter",
              "    def t(self, value):", "        self._t = value + 1", "    @classmethod",
              "    def of(cls, t):", "        made = cls(t)", "        made.t = t",
              "        return made"), f"{name}.of({a}).t + {name}({a}).t"),
            ((f"def {name}():", "    total = {n}", "    try:", "        while True:",
              "            got = yield total", "            total = total + (got or 1)",
              "            if total > 5:", "                return {a}", "    finally:",
              "        {log}.append(total)"), f"next(iter([q for q in {name}()][-1:])) * {a}"),
            ((f"@dataclasses.dataclass(order={n} > 1)", f"class {name}:", "    p: int = {n}",
              "    q: list = dataclasses.field(default_factory=list)",
              "    def with_(self, t):", "        self.q.append(t)", "        return sum(self.q)"),
             f"{name}(2).with_({a}) + {name}().p"),
        ])
        for line in lines:
            line = line.replace("{a}", a).replace("{n}", n).replace("{log}", log)
            self.emit(indent, line)
        self.emit(indent, f"{target} = {use}")

    def left_by_finally(self, indent: int) -> None:
        """Loops that `break`, `continue` and `return` leave through blocks."""
        name, log, a = self.fresh("j"), f"{self.an_object()}.log", self.a_tensor()
        self.emit(indent, f"for {name} in range(3):")
        self.emit(indent + 1, self.pick("try:", f"with managed({log}):", f"with Manager({log}):"))
        block = self.lines[-1].strip()
        self.loops += 1
        self.block(indent + 2, 1)
        self.emit(indent + 2, f"if {self.condition()}:")
        self.emit(indent + 3, self.pick(
            "break", "continue", f"return {a}", f"raise Trouble({name})", f"risky({name})",
        ))
        if block == "try:":
            self.emit(indent + 1, "finally:")
            self.block(indent + 2, 1)
            if self.rarely(0.2):
                self.emit(indent + 2, self.pick("break", "continue"))
        self.loops -= 1
