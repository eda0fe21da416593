"""Random statements about tensors that objects hold, gradients amid a frame, functions kept."""

from __future__ import annotations

from .peculiar import Peculiar


class Computing(Peculiar):
    """Writes through holders, backward in the middle, own functions and modules, recursion."""

    def statement(self, indent: int) -> None:
        raise NotImplementedError

    def held(self, indent: int) -> None:
        """Tensors in containers, objects and globals, written by the operators that assign."""
        a, n, thing, log = (
            self.a_tensor(), self.number(1), self.an_object(), f"{self.an_object()}.log")
        name, q = self.fresh("k"), self.fresh("q")
        place, made = self.random.choice([
            (f"{name}[0]", f"{name} = [{a} * 1, {a}.detach()]"), ("pack['b'][-1]", "pass"),
            (f"{name}['t']", f"{name} = {{'t': {a}.clone()}}"), ("pack['a']", "pass"),
            (f"{thing}.t", f"{thing}.t = {a} * 2"), ("TABLE['t']", f"TABLE['t'] = {a}.detach()"),
            (f"{name}.t", f"{name} = Wrapped({a}.clone())"), ("net.seen", "pass"),
            ("SETTINGS.t", f"SETTINGS.t = {a}.detach().clone()"), ("net.linear.bias.data", "pass"),
            (f"{name}[0][1]", f"{name} = ([0, {a}.detach().clone()],)"),
            (f"{name}.first", f"{name} = Holder({a}.detach().clone(), {log})"),
        ])
        self.emit(indent, made)
        if self.rarely(0.5):
            self.emit(indent, f"{q} = {place}")
        else:
            q = place
        for _ in range(self.random.randint(1, 3)):
            self.emit(indent, self.pick(
                f"{place} += {n}", f"{place} *= 2", f"{place}[0] += 1", f"{q} -= {n}",
                f"{place} = {place} + 1", f"{place}.T[:1] *= {n}", f"{place}.add_({q}.detach())",
                f"{q}.view(-1)[:1] = {n}", f"{place}[..., :1].mul_({n})", f"{place} /= 2",
                f"{place}, {name}x = {place} * 2, {place}", f"{place}.copy_({q}.detach().flip(0))",
                f"for {name}r in {place}: {name}r += {n}", f"{place} = {place}.detach()",
                f"for {name}r in {place}.unbind(): {name}r.mul_({n})", f"{place} @= gw.eye(4)",
                f"{place}.data.zero_()", f"{place} = {q}.expand_as({place})",
            ))
            if self.rarely(0.3):
                self.statement(indent)
        self.emit(indent, f"{log}.append({self.pick(place, f'{place} is {q}', f'{q}.sum()')})")
        self.emit(indent, f"{self.bound('tensors', 't', indent)} = {a} + {place}")

    def amid(self, indent: int) -> None:
        """Backward in the middle: gradients that add up, are read, written, cleared; steps."""
        leaf, mid, a, n = self.fresh("w"), self.fresh("z"), self.a_tensor(), self.number(1)
        log = f"{self.an_object()}.log"
        self.emit(indent, f"{leaf} = " + self.pick(
            f"{a}.detach().clone().requires_grad_()", f"gw.nn.Parameter({a}.detach().float() * 1)",
            "net.linear.weight", "gw.ones(4, requires_grad=True)",
        ))
        self.emit(indent, f"{mid} = " + self.pick(
            f"{leaf} * 2", f"{leaf}.tanh()", f"({leaf} * {a}[:1].detach()).relu()",
            f"gw.utils.checkpoint.checkpoint(of_each, {leaf}, use_reentrant=False)",
            f"Squared.apply({leaf})", f"Clamping.apply({leaf}, 1.0)[0]", f"{leaf} @ gw.ones(4, 1)",
        ))
        if self.rarely(0.3):
            self.emit(indent, self.pick(
                f"{mid}.retain_grad()", f"{mid}.register_hook(lambda g: {log}.append(g.sum()))",
                f"{leaf}.register_hook(lambda g: g * {n})",
                f"{mid} = {mid}.detach() + {leaf}.sum()",
            ))
        for _ in range(self.random.randint(1, 3)):
            self.emit(indent, self.pick(
                f"{mid}.sum().backward(retain_graph=True)", f"({leaf} * {n}).sum().backward()",
                f"{mid}.backward(gw.ones_like({mid}), retain_graph=True)",
                f"{leaf}.grad = None", f"{leaf}.grad = {leaf}.grad",
                f"if {leaf}.grad is not None: {leaf}.grad.zero_()", f"{leaf}.grad += 1",
                f"if {leaf}.grad is not None: {leaf}.data -= 0.1 * {leaf}.grad",
                f"with gw.no_grad(): {leaf} -= 0.1 * {leaf}.tanh()",
                f"{leaf}.grad = gw.ones_like({leaf})", f"{log}.append({leaf}.grad)",
                f"{log}.append(gw.autograd.grad({mid}.sum(), {leaf}, retain_graph=True)[0])",
                f"{log}.append(gw.autograd.grad(gw.autograd.grad({mid}.pow(2).sum(), {leaf}, "
                f"create_graph=True)[0].sum(), {leaf}, allow_unused=True))",
                f"{mid} = {mid} + {leaf}.sum()", f"{leaf}.requires_grad_(False)",
                f"{mid}.detach_()", f"{mid}.sum().backward()",
                f"{log}.append(({mid}.requires_grad, {leaf}.is_leaf))", f"{mid}.data.mul_(2)",
            ))
            if self.rarely(0.3):
                self.statement(indent)
        self.emit(indent, f"{self.bound('tensors', 't', indent)} = " + self.pick(
            f"{a} + {leaf}.sum()", f"{a} * {mid}.sum()", f"{a} + {mid}.detach().sum()",
            f"{a} if {leaf}.grad is None else {a} + {leaf}.grad.sum()",
        ))

    def own_function(self, indent: int) -> None:
        """A function with its own backward, or a module, whose class the frame makes."""
        if self.depth > 2:
            return self.assign(indent)
        name, a, n = self.fresh("C"), self.a_tensor(), self.number(1)
        log = f"{self.an_object()}.log"
        target = self.bound("tensors", "t", indent)
        lines, use = self.random.choice([
            ((f"class {name}(gw.autograd.Function):", "    @staticmethod",
              "    def forward(ctx, t, k):", "        ctx.k = k",
              "        ctx.save_for_backward(t)",
              "        return t * k if k > 1 else t.clone()", "    @staticmethod",
              "    def backward(ctx, g):", "        (t,) = ctx.saved_tensors",
              "        return g * ctx.k + t * 0, None"), f"{name}.apply({a}, {n})"),
            ((f"class {name}(gw.nn.Module):", "    def __init__(self):",
              "        super().__init__()", "        self.register_buffer('seen', gw.zeros(4))",
              "        self.weight = gw.nn.Parameter(gw.ones(4))",
              "        self.parts = gw.nn.ModuleList([gw.nn.Tanh(), net.layers[0]])",
              "    def forward(self, t):", "        self.seen += t.detach().sum(0)",
              "        for i, part in enumerate(self.parts):", "            t = part(t) + i",
              "        if {n} > 2:", "            print(end='m')",
              "        return t * self.weight + self.seen"), f"{name}()(({name}()({a})))"),
            ((f"class {name}:", "    def __init__(self, t):", "        self.t = t",
              "    def __iadd__(self, other):", "        self.t += other", "        return self",
              "    def __getattr__(self, key):", "        return getattr(self.t, key)",
              "    @functools.cached_property", "    def total(self):",
              "        {log}.append('total')", "        return self.t.sum()",
              f"k{name} = {name}({{a}}.clone())", f"k{name} += {{n}}",
              f"{{log}}.append(k{name}.total)", f"k{name}.t = k{name} .t * 2"),
             f"k{name}.t * k{name}.total + k{name}.ndim"),
        ])
        for line in lines:
            line = line.replace("{a}", a).replace("{n}", n).replace("{log}", log)
            self.emit(indent, line)
        self.emit(indent, f"{target} = {use}")

    def kept_functions(self, indent: int) -> None:
        """Caches, partials, dispatch and orders of `functools`, made in the frame."""
        name, log = self.fresh("g"), f"{self.an_object()}.log"
        n, a = self.number(1), self.a_tensor()
        lines, uses = self.random.choice([
            ((f"@functools.lru_cache({n} > 1 and 2 or None)", f"def {name}(q, k=1):",
              "    {log}.append(('computed', q))", "    return q * k"),
             (f"{name}({n} % 4)", f"{name}(1, k={n} % 3)", f"{name}.cache_info()",
              f"{name}.cache_clear()", f"[{name}(q % 2) for q in range(3)]", f"{name}([1])")),
            (("@functools.singledispatch", f"def {name}(q):", "    return 'any'",
              f"@{name}.register(int)", "def _(q):", "    return q + 1",
              f"@{name}.register(list)", "def _(q):", f"    return [{name}(p) for p in q[:2]]"),
             (f"{name}({n})", f"{name}(mode)", f"{name}([{n}, mode])", f"{name}({a}.shape)",
              f"{name}.dispatch(bool)({n})")),
            ((f"{name} = functools.partial(functools.partial(spread, 1), scale={{n}})",),
             (f"{name}(2)", f"{name}.keywords", f"{name}(scale=1, w=2)", f"len({name}.args)")),
            (("@functools.total_ordering", f"class {name}:", "    def __init__(self, v):",
              "        self.v = v", "    def __eq__(self, other):",
              "        return self.v == other.v",
              "    def __lt__(self, other):", "        {log}.append('lt')",
              "        return self.v < other.v"),
             (f"{name}({n}) >= {name}(2)", f"{name}(1) > {name}({n})",
              f"[k.v for k in sorted([{name}({n}), {name}(1), {name}(2)], reverse=True)]")),
            ((f"{name} = [lambda q, k=k: q + k * {{n}} for k in range(3)]",),
             (f"{name}[1](2)", f"[g(1) for g in {name}]", f"{name}[0].__defaults__",
              f"functools.reduce(lambda p, g: g(p), {name}, {a}).sum()")),
        ])
        for line in lines:
            self.emit(indent, line.replace("{n}", n).replace("{log}", log))
        for _ in range(self.random.randint(1, 3)):
            self.emit(indent, f"{log}.append({self.random.choice(uses)})")
            if self.rarely(0.3):
                self.statement(indent)

    def recursed(self, indent: int) -> None:
        """Functions that call themselves or each other, with breaks at the bottom or between."""
        a, n, log = self.a_tensor(), self.number(1), f"{self.an_object()}.log"
        if self.rarely(0.5):
            return self.emit(indent, f"{self.bound('tensors', 't', indent)} = " + self.pick(
                f"even({n} % 4, {a})", f"odd(3, {a}) + {a}", f"even({n} % 5, {a}[:1]) + {a}",
                f"falling(3, noisily_falling(2, {a}))",
            ))
        name = self.fresh("g")
        end = self.pick("print(end='b')", "pass", f"{log}.append(d)", f"risky({n})")
        self.emit(indent, f"def {name}(d, *seen, **more):")
        self.emit(indent + 1, "if d <= 0:")
        self.emit(indent + 2, end)
        self.emit(indent + 2, f"return {a} + len(seen) + len(more)")
        self.emit(indent + 1, self.pick(
            f"return {name}(d - 1, *seen, d, **more)", f"return {name}(d - 1, d, k=d) * 2",
            f"return {name}(d - 1) + {name}(d - 2)",
            f"return sum({name}(q) for q in range(d))",
            f"yield_ = {name}(d - 1); return yield_ + d",
        ))
        self.emit(indent, f"{self.bound('tensors', 't', indent)} = {name}({n} % 4)")

    def decided(self, indent: int) -> None:
        """Loops and branches that values of tensors decide, with statements inside."""
        name, a, n = self.fresh("w"), self.a_tensor(), self.number(1)
        log, count = f"{self.an_object()}.log", self.fresh("w")
        self.emit(indent, f"{name}, {count} = {a}.detach().double().sum(), 0")
        self.emit(indent, self.pick(
            f"while {name} < {n} + 2 and {count} < 3:",
            f"while {count} < 2 and {name}.item() < 9:",
            f"for {count} in range(int({name}.abs().clamp(max=2).nan_to_num())):",
            f"while {count} < 3 if {name} > 0 else {count} < 1:",
        ))
        self.emit(indent + 1, f"{count} += 1")
        self.emit(indent + 1, f"{name} = {name} * 2 + 1")
        self.loops += 1
        self.block(indent + 1, 1)
        self.loops -= 1
        if self.rarely(0.4):
            self.emit(indent + 1, f"if {name} > {n}:")
            self.emit(indent + 2, self.pick("break", "continue", f"{log}.append({count})"))
        self.emit(indent, f"{log}.append(({count}, {name}))")

    def replaced(self, indent: int) -> None:
        """Cells that loops, branches and handlers rebind, read by functions made before."""
        cell, read, log, n = (
            self.fresh("c"), self.fresh("f"), f"{self.an_object()}.log", self.number(1))
        q, a = self.fresh("q"), self.a_tensor()
        self.emit(indent, f"{cell} = {n}")
        self.emit(indent, f"{read} = lambda: ({cell}, {a}.shape)")
        self.emit(indent, f"for {q} in {self.pick('range(3)', f'Short({n} % 6)')}:")
        self.emit(indent + 1, self.pick(
            f"{cell} += {q}", f"{cell} = {q}", f"{cell} = [{q}]", f"del {cell}; {cell} = {q}",
            f"{a} = {a} + {q}" if a in self.names.own else f"{cell} = {q}",
        ))
        self.loops += 1
        self.block(indent + 1, 1)
        self.loops -= 1
        self.emit(indent + 1, f"{log}.append({read}())")
        again = self.pick(f"{read}()", f"[{read}() for {q} in (5, 6)]")
        self.emit(indent, f"{log}.append({again})")

    def at_the_end(self, indent: int) -> None:
        """`finally` blocks that rebind, raise and return, one in another."""
        log, n, name = f"{self.an_object()}.log", self.number(1), self.fresh("i")
        self.emit(indent, f"{name} = 0")
        self.emit(indent, "try:")
        self.emit(indent + 1, "try:")
        self.block(indent + 2, 1)
        self.trouble(indent + 2)
        self.emit(indent + 1, "finally:")
        self.emit(indent + 2, f"{name} = {n}")
        self.block(indent + 2, 1)
        if self.rarely(0.3):
            self.emit(indent + 2, self.pick(
                f"raise Worse({n})", f"risky({n})", f"{log}.append(str(sys.exc_info()[1]))",
                f"if {n} > 1: raise",
            ))
        self.emit(indent, self.pick(
            "except (Trouble, LookupError) as error:", "except Exception as error:",
            "except BaseException as error:",
        ))
        self.emit(indent + 1, f"{log}.append(({name}, str(error), "
                  "type(error.__context__).__name__))")
        self.block(indent + 1, 1)
        if self.rarely(0.4):
            self.emit(indent, self.pick("else:", "finally:"))
            self.emit(indent + 1, f"{log}.append({name})")
