"""Random statements about patterns, copies, kept state, writes through parts, sizes that vary."""

from __future__ import annotations

from .further import Further


class Assorted(Further):
    """What lasts from call to call, what several names reach, and what only shapes decide."""

    def statement(self, indent: int) -> None:
        raise NotImplementedError

    def matched(self, indent: int) -> None:
        """Class, mapping and sequence patterns, in a function and here."""
        n, log, items = self.number(1), f"{self.an_object()}.log", self.a_list()
        subject = self.pick(
            f"Shape('a', {n})", f"Square('b', {n})", f"Record({self.a_tensor()}, {n})",
            self.a_table(), items, f"[{n}, {items}, 3]", n, f"{n} > 1", "mode", "None", "rate",
            f"({n}, [{n}, *{items}])", f"{{'k': {n}, **{self.a_table()}}}",
            f"{self.a_tensor()}.shape",
        )
        if self.rarely(0.4):
            return self.emit(indent, f"{log}.append(described({subject}))")
        a, b = self.fresh("p"), self.fresh("p")
        self.emit(indent, f"match {subject}:")
        for pattern in self.random.sample([
            f"Square({a}) if {a} != 2", f"Shape(name={a}, size={b})", f"Record(_, {a})",
            f"{{'k': {a}, 'b': {b}}}", f"[{a}, *_, {b}]", f"[_, [{a}, *{b}]]", "Access.BOTH",
            f"(1 | 2 | 3) as {a}", f"float({a})", f"[int({a}), [*{b}], _]", f"{{**{a}}}",
            f"({a}, {b}, _) | [_, {b}, {a}, _]",
        ], 3):
            self.emit(indent + 1, f"case {pattern}:")
            self.emit(indent + 2, f"{log}.append(" + (f"str({a}))" if a in pattern else "'c')"))
            if self.rarely(0.5):
                self.block(indent + 2, 1)
        self.emit(indent + 1, f"case {a}:")
        self.emit(indent + 2, f"{log}.append(type({a}).__name__)")

    def deeply_copied(self, indent: int) -> None:
        """Copies whose parts are, or are not, those of the original; one of the two is changed."""
        a, items, table = self.a_tensor(), self.a_list(), self.a_table()
        log, name, n = f"{self.an_object()}.log", self.fresh("k"), self.number(1)
        made, change, seen = self.random.choice([
            (f"copy.deepcopy([{a}.detach(), {items}])", f"{name}[0].add_(1)", f"len({name}[1])"),
            (f"copy.deepcopy({{'a': {items}, 'b': {items}}})", f"{name}['a'].append({n} % 5)",
             f"{name}['b'] is {name}['a']"),
            (f"copy.copy({table})", f"{name}['k'] = {n} % 7", f"{name} == {table}"),
            ("copy.deepcopy(net.linear)", f"{name}.weight.data.mul_(2)",
             f"{name}.weight is net.linear.weight"),
            (f"copy.deepcopy(Shape({items}, {n}))", f"{name}.name.append(1)", f"{name}.size"),
            (f"copy.copy(Square({items}))", f"{name}.name.append({n} % 3)", f"{name}.area"),
            (f"Record({a}, {n})._replace(n=3)", f"{name} = {name}._replace(t={a} * 2)",
             f"{name}._asdict()['n']"),
            (f"dataclasses.asdict(Data({items}, 1))", f"{name}['first'].append({n} % 3)",
             f"sorted({name})"),
            ("copy.deepcopy(net.layers).eval()", f"{name}[0].bias.data.zero_()",
             f"{name}.training"),
            ("copy.deepcopy(pack['b'])", f"{name}.pop()", f"{name}[0] is pack['b'][0]"),
        ])
        self.emit(indent, f"{name} = {made}")
        if self.rarely(0.4):
            self.statement(indent)
        self.emit(indent, change)
        self.emit(indent, f"{log}.append({seen})")

    def lasting(self, indent: int) -> None:
        """State that the next call finds: caches, methods replaced, defaults, globals."""
        a, n, thing = self.a_tensor(), self.number(1), self.an_object()
        log = f"{thing}.log"
        self.emit(indent, self.random.choice([
            f"{log}.append(of_shape(tuple({a}.shape)))",
            f"{log}.append(of_shape({a}.shape, by={n} % 3))", "of_shape.cache_clear()",
            f"{log}.append(of_shape.cache_info().currsize > 0)",
            "of_none().append(len(of_none()) % 3)", f"{log}.append(len(of_none()) > 2)",
            f"{thing}.bump = lambda d=1: {n} % 5", f"{thing}.__dict__.pop('bump', None)",
            f"{thing}.bump = types.MethodType(lambda self, d=1: self.v, {thing})",
            f"configured.__kwdefaults__['by'] = {n} % 3", f"helper.__defaults__ = ({n} % 4,)",
            "net.memory = Memory()", f"net.scale = {n} % 3", f"net.log.append({n} % 3)",
            f"{self.fresh('m')} = getattr(net, 'memory', Memory())({a}.detach())",
            "Shape.__match_args__ = ()", f"Square.area = property(lambda self: {n} % 9)",
            f"described.note = {n} % 3", f"{log}.append(getattr(described, 'note', None))",
            f"{log}.append(Square('a', 2).area)", f"globals()['H'] = {n} % 4", f"{log}.append(H)",
        ]))

    def stepped(self, indent: int) -> None:
        """A module with hooks that change what goes in and comes out, and state of its own."""
        name, a, n = self.fresh("st"), self.a_tensor(), self.number(1)
        log = f"{self.an_object()}.log"
        self.emit(indent, f"{name} = Step({n} % 3)" + self.pick("", ".eval()"))
        handle = self.fresh("h")
        self.emit(indent, f"{handle} = {name}." + self.pick(
            f"register_forward_hook(shifting({n} % 4))",
            "register_forward_pre_hook(scaling_inputs)",
            f"register_forward_hook(noting({log}))",
            "register_forward_hook(lambda m, i, o: o * i[0].shape[0])",
            f"register_full_backward_hook(lambda m, gi, go: {log}.append(len(gi)))",
            "weight.register_hook(doubled_gradient)",
        ))
        target = self.bound("tensors", "t", indent)
        self.emit(indent, f"{target} = {name}({a})")
        if self.rarely(0.4):
            self.statement(indent)
        self.emit(indent, self.pick(
            f"{handle}.remove()", f"{name}.train({n} > 1)",
            f"{name}.load_state_dict({name}.state_dict())",
            f"{name}.requires_grad_(flag)", f"{name}.weight = gw.nn.Parameter(gw.ones(4))",
            f"{name}.weight.data[{n} % 4] = 3", f"{name}.extra = gw.nn.ReLU()", "pass",
            f"{name}.register_buffer('loose', gw.ones(4))",
            f"{name}.apply(lambda m: setattr(m, 'count', 1))",
        ))
        self.emit(indent, f"{target} = {name}({a}) + {target}")
        self.emit(indent, f"{log}.append(" + self.pick(
            f"{name}.count", f"sorted({name}.state_dict())", f"{name}.average.clone()",
            f"[k for k, _ in {name}.named_parameters()]", f"{name}.loose.clone()",
            f"len(list({name}.children()))",
        ) + ")")

    def parted(self, indent: int) -> None:
        """Writes through parts of a tensor that other names reach, too."""
        a, b, n = self.a_tensor(), self.a_tensor(), self.number(1)
        name = self.fresh("w")
        self.emit(indent, f"{name} = " + self.pick(
            f"{a}.detach().clone()", f"{a}.detach()", f"{a} * 1", f"gw.zeros(4, 4)[1:].add({n})",
            a,
        ))
        p, q = self.fresh("w"), self.fresh("w")
        self.emit(indent, f"{p}, {q} = " + self.pick(
            f"{name}.chunk(2, 1)", f"{name}.split(2, 1)", f"{name}[:, :2], {name}[:, 2:]",
            f"{name}[:, ::2], {name}[:, 1::2]", f"{name}.view(-1, 2, 2).unbind(1)",
            f"{name}.T[:2], {name}.T[2:]", f"{name}[:, :2], {name}[:, 1:3]",
        ))
        for _ in range(self.random.randint(1, 2)):
            self.emit(indent, self.pick(
                f"{p}.add_({q}.detach())", f"{p}.copy_({q}.flip(0).detach())",
                f"{q}.mul_({p}.sum().detach())",
                f"{p}[0], {q}[0] = {q}[0].clone(), {p}[0].clone()", f"{p}[{p} > {n}] = 0",
                f"{q}.masked_fill_({p} > 0, {n})",
                f"{p}.index_add_(0, gw.tensor([0, 0]), {q}[:1].detach().repeat(2, 1))",
                f"{p}[[0, -1]] += 1", f"{q}[gw.tensor([0])] = {n}", f"{p}.diagonal().add_(1)",
                f"{name}.view(-1)[::3].zero_()", f"{p}.unsqueeze(0).squeeze(0).neg_()",
                f"{q}.data.add_(1)", f"{name}.swapaxes(0, 1)[0].fill_({n})", f"{p} += {q}",
                f"{q}[..., None].mul_(2)", f"{name}.clamp_({p}.detach().min(), 2)",
                f"{p}.add_({p}.flip(1).detach())", f"{name}[1:].copy_({name}[:-1].clone())",
            ))
            if self.rarely(0.3):
                self.statement(indent)
        target = self.bound("tensors", "t", indent)
        self.emit(indent, f"{target} = " + self.pick(
            f"{name} + {b}", f"{name}", f"{name} * {p}.sum()", f"gw.cat([{q}, {p}], 1)",
        ))

    def sized(self, indent: int) -> None:
        """Sizes that vary from call to call, in Python and in tensors."""
        a, n, log = self.a_tensor(), self.number(1), f"{self.an_object()}.log"
        s = self.fresh("s")
        self.emit(indent, f"{s} = " + self.pick(
            f"{a}.shape[0]", f"len({a})", f"{a}.numel()", f"{a}.size(0) + len({self.a_list()})",
            f"abs({n}) % 5 + 1", f"max({a}.shape)", f"{a}.shape[0] * 2 - 1",
            f"len({self.a_table()})",
        ))
        self.emit(indent, f"{log}.append(" + self.pick(
            f"gw.arange({s}).sum()", f"gw.ones({s}, 2).cumsum(0)[-1]", f"{s} // 2 + {s} % 3",
            f"[i for i in range({s}) if i % 2][:3]", f"gw.zeros({s}).shape",
            f"{s} > 3 and {s} < 8",
            f"gw.full(({s}, 1), {n}).expand({s}, 3).sum()", f"({s}, -{s}, {s} ** 2, {s} / 2)",
            f"gw.arange({s} * 2).view({s}, 2).T.shape", f"gw.linspace(0, 1, {s}).sum()",
            f"divmod({s}, 3)", f"gw.eye({s})[0].sum()", f"'%d' % {s}", f"hash({s}) == {s}",
            f"{a}.reshape(-1)[:{s}].shape", f"{a}.narrow(1, 0, min({s}, 4)).shape",
            f"gw.nn.functional.pad({a}, (0, {s} % 3)).shape", f"{a}.repeat({s} % 3, 1).shape",
            f"int(str({s})[0])", f"{{{s}: 1}}.get(3, 0)", f"[0] * ({s} % 4)", f"float({s}) * rate",
            f"gw.tril(gw.ones({s}, {s})).sum()", f"{s} is None", f"bool({s})", f"{s}.bit_length()",
            f"gw.arange(12)[-({s} % 5) or None:]", f"sorted([{s}, 3, 5])", f"gw.tensor([{s}, 1])",
            f"{a}.unfold(1, {s} % 3 + 1, 1).shape", f"list({a}.split({s} % 2 + 1))[0].shape",
        ) + ")")
        self.emit(indent, f"{self.bound('tensors', 't', indent)} = {a} * " + self.pick(
            s, f"gw.arange({s}).sum()", f"({s} % 3)", f"gw.ones({a}.shape[0], 1)",
            f"(1 if {s} > 4 else 2)",
        ))

    def counting(self, indent: int) -> None:
        """Cells that several functions write, through breaks, loops and failures."""
        count, add, log = self.fresh("c"), self.fresh("f"), f"{self.an_object()}.log"
        a, n = self.a_tensor(), self.number(1)
        self.emit(indent, f"{count} = {n}")
        self.emit(indent, f"def {add}(k=1):")
        self.emit(indent + 1, f"nonlocal {count}")
        self.emit(indent + 1, f"{count} = {count} + k if {n} != 3 else k")
        if self.rarely(0.4):
            self.emit(indent + 1, "print(end='')")
        self.emit(indent + 1, f"return {a} * {count}")
        self.emit(indent, self.pick(
            f"{add}(); {log}.append({count})", f"{log}.append([{add}(q).shape for q in (1, 2)])",
            f"{count} += 1; {add}({count})", f"gw.stack([{add}(), {add}(2)])",
            f"print({add}().shape)",
        ))
        if self.rarely(0.4):
            self.statement(indent)
        self.emit(indent, f"{self.bound('tensors', 't', indent)} = {add}({count})")
        self.emit(indent, f"{log}.append({count})")

    def thrown_into(self, indent: int) -> None:
        """A generator that catches what is thrown into it, with statements between."""
        name, log, n = self.fresh("it"), f"{self.an_object()}.log", self.number(1)
        made = self.pick(f"tallied({log})", f"summed({log}, {self.a_tensor()})")
        self.emit(indent, f"{name} = {made}")
        self.emit(indent, f"next({name})")
        self.emit(indent, f"{log}.append({name}.send({n}))")
        if self.rarely(0.4):
            self.statement(indent)
        self.emit(indent, "try:")
        self.emit(indent + 1, f"{log}.append({name}.throw(" + self.pick(
            "KeyError('k')", "KeyError", "ValueError('v')", "StopIteration(1)",
        ) + "))")
        self.emit(indent + 1, f"{log}.append({name}.send({self.pick('None', n)}))")
        self.emit(indent + 1, self.pick(f"{name}.close()", f"next({name})", f"list({name})",
        f"del {name}"))
        self.emit(indent, "except (ValueError, StopIteration, RuntimeError) as error:")
        self.emit(indent + 1, f"{log}.append((type(error).__name__, error.args))")
