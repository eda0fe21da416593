"""Random statements about gradients, modules, views, and tensors in containers and classes."""

from __future__ import annotations

from .definitions import Definitions


class Modelling(Definitions):
    """What programs do with `net` (a module), `pack` (a dict of tensors) and unusual classes."""

    def statement(self, indent: int) -> None:
        raise NotImplementedError

    def differentiate(self, indent: int) -> None:
        """Gradients by `backward` or `grad` of a leaf made here."""
        leaf = self.fresh("w")
        self.emit(indent, f"{leaf} = {self.a_tensor()}.detach().clone().requires_grad_()")
        loss = self.pick(
            f"({leaf} * {self.tensor(1)}).sum()", f"helper({leaf}).tanh().mean()",
            f"net({leaf}).sum()", f"({leaf} * {leaf}).sum() * {self.number(1)}",
            f"falling(2, {leaf})[0].sum()",
        )
        target = self.bound("tensors", "t", indent)
        if self.rarely(0.3):
            self.emit(indent, f"{target} = gw.autograd.grad({loss}, {leaf})[0]")
            return
        self.emit(indent, f"{loss}.backward()")
        if self.rarely(0.3):
            self.emit(indent, f"{leaf}.sum().backward()")
        self.emit(indent, f"{target} = {self.pick(f'{leaf}.grad', f'{leaf}.grad + {leaf}')}")

    def module(self, indent: int) -> None:
        """A call of the module, or a change of it."""
        t, log = self.a_tensor(), f"{self.an_object()}.log"
        if self.rarely(0.55):
            call = self.pick(
                f"net({t})", f"net({t}, times={self.number(1)})", f"net(t=net({t}))",
                f"net.linear({t})", f"net.layers[0]({t}) + net.seen",
                f"gw.nn.functional.linear({t}, net.linear.weight)",
                f"functools.reduce(lambda p, layer: layer(p), net.layers, {t})",
                f"net.named['norm']({t}) * net.scale", f"net.forward({t}, keep={log})",
                f"Wrapped({t}) @ net({t})", f"gw.nn.functional.dropout({t}, 0.5, net.training)",
                f"sum((p * 1 for p in net.linear.parameters()), {t})",
            )
            return self.emit(indent, f"{self.bound('tensors', 't', indent)} = {call}")
        self.emit(indent, self.pick(
            "net.eval()", f"net.train({self.condition()})", f"net.scale = {self.number()} % 4",
            f"net.seen.add_({self.number()} % 3)", f"net.seen = net.seen + {self.number(1)} % 2",
            f"{log}.append(net.training)", f"{log}.append(net.seen.clone())",
            f"net.linear.requires_grad_({self.condition()})", "net.zero_grad()",
            f"{log}.append([name for name, _ in net.named_parameters()][:2])",
            f"{log}.append(net.linear.weight.grad is None)", f"net.log.append({t}.shape)",
            f"net({t}).sum().backward()", f"{log}.append(net.linear.weight is net.linear.weight)",
            "gw.optim.SGD(net.linear.parameters(), lr=0.1).step()",
            f"with gw.no_grad(): net.linear.weight.mul_({self.number(1)} % 2 + 0.5)",
        ))

    def view(self, indent: int) -> None:
        """In-place operations on views, and on memory that operands share."""
        a, b, v = self.a_tensor(), self.a_tensor(), self.fresh("v")
        value = self.number(1)
        self.emit(indent, f"{v} = " + self.pick(
            f"{a}[1:]", f"{a}.T", f"{a}[:, ::2]", f"{a}.view(-1)[2:]", f"{a}[0]",
            f"{a}.unbind()[1]",
            f"{a}.detach()[1]", f"{a}.unsqueeze(0)", f"{a}.split(2)[0]", f"{a}.diagonal()",
            f"{a}.chunk(2, 1)[-1]", f"{a}.as_strided((2, 2), (1, 1))", f"{a}.flatten()",
        ))
        self.emit(indent, self.pick(
            f"{v}.add_({value})", f"{v} *= {value}", f"{v}[0] = {value}", f"{v}[:1] += {v}[-1:]",
            f"{v}.copy_({v}.flip(0))", f"{a}[1:].add_({a}[:-1])", f"{a}.T.mul_(2)",
            f"gw.add({a}, {b}, out={b})", f"gw.mul({v}, 2, out={v})", f"{a}.copy_({b}.T.T)",
            f"{v}.zero_()", f"{a} += {a}", f"{v}.sub_({v})", f"{b}[:] = {a}", f"{a}.clamp_(min=0)",
            f"{v}.unsqueeze_(0)", f"{a}.mul_({b}).add_({a})", f"halved_in_place({v})",
            f"{a}[0], {a}[1] = {a}[1], {a}[0]", f"{v}.fill_({value}).neg_()",
        ))
        self.emit(indent, f"{self.an_object()}.log.append({v})")

    def packed(self, indent: int) -> None:
        """Tensors in containers."""
        a, log = self.a_tensor(), f"{self.an_object()}.log"
        if self.rarely(0.4):
            value = self.pick(
                "pack['a']", "pack['b'][1]", "picked(pack)", "picked(pack, name='b')",
                "+pack['c'][1]",
                f"picked(pack, name='z', default={a})", "sum(pack['b'])",
                f"max(pack['b'], key=len) + {a}",
                "[q for q in pack.values() if isinstance(q, gw.Tensor)][0]",
                "pack['b'][-1].add_(1)",
                "(pack['a'] if pack['a'] is pack['b'][0] else pack['b'][0])",
                f"gw.cat([*pack['b'], {a}])[:3]",
            )
            return self.emit(indent, f"{self.bound('tensors', 't', indent)} = {value}")
        self.emit(indent, self.pick(
            f"pack['a'] = {a}", f"pack['b'].append({a})", f"pack['b'][0] = {a}",
            f"pack['d'] = {a}.T",
            f"{log}.append(pack['a'] is {a})", f"{log}.append(pack['b'])", "pack['b'].reverse()",
            f"pack['b'][0].mul_({self.number(1)})", "pack.pop('d', None)",
            f"pack['e'] = [{a}, {a}]",
            "pack['a'], pack['b'][0] = pack['b'][0], pack['a']", "del pack['b'][1:2]",
            f"{log}.append([q.shape for q in pack['b']])", f"pack['c'] += ({a},)",
            f"{log}.append({a}.shape[0] * {a}.numel())", f"{log}.append({a}.tolist()[0][:2])",
            "pack.update(a=pack['a'] + 1)", f"{log}.append(len({a}) > {self.number(1)})",
            f"{log}.append({a}.data_ptr() == pack['a'].data_ptr())", f"pack['b'] += [{a} * 2]",
        ))

    def protocol(self, indent: int) -> None:
        """Classes whose operators, attributes and construction are Python."""
        a, n, log = self.a_tensor(), self.number(), f"{self.an_object()}.log"
        if self.rarely(0.4):
            value = self.pick(
                f"(Wrapped({a}) + {n}).t", f"({a} * Wrapped({a})).t", f"({a} + Wrapped({a}))",
                f"Wrapped({a}).tanh()", f"Left({n}).run({a})", f"Both().run({a})",
                f"shifted({a}, by={n})",
                f"Point(1, t={a}).t", f"Wrapped({a})[0].expand(3, 4)", f"ungraded({a})",
                f"(Wrapped(Wrapped({a})) + 1).t.t", f"Right().run({a})",
                f"dataclasses.replace(Point(1), t={a}).t",
                f"operator.itemgetter(1)([1, {a}])", f"operator.attrgetter('t')(Wrapped({a}))",
                f"operator.methodcaller('tanh')({a})", f"{a} * numpy.float32(2)",
                f"shifted.__wrapped__({a})",
            )
            return self.emit(indent, f"{self.bound('tensors', 't', indent)} = {value}")
        self.emit(indent, f"{log}.append(" + self.pick(
            f"Lazy({n}).half", f"Lazy({n}).square", "type(Lazy).__name__",
            f"Ranked({n}) >= Ranked(2)",
            f"sorted([Ranked({n}), Ranked(1)])", f"Point({n}) < Point(2)",
            f"hash(Point({n})) == hash(Point(1))",
            "Both().word", "Both.__mro__[2].__name__", f"Table(a=1)[{n}]", f"Table(a=1).get({n})",
            f"Items([{n}]).append({n})", f"Items({self.a_list()}).total()",
            f"kind_of({self.a_list()})", f"kind_of({n})",
            "isinstance(Both(), Right)", f"getattr(Wrapped({a}), 'missing', {n})",
            "Base.made",
            "shifted.calls", f"Point({n}).__dict__", f"Point(1) == Point({n}, t={a})",
            "super(Both, Both()).word",
            f"functools.partial(max, {n})(1)", f"[*map(operator.neg, {self.a_list()})]",
            f"vars(Left({n}))",
            f"object.__setattr__(Point(1), 'a', {n})", "delattr(Lazy(1), 'square')",
            f"f'{{Ranked({n})!r:>12}}'",
        ) + ")")

    def conversation(self, indent: int) -> None:
        """A generator of tensors that is sent values, with statements between."""
        name, a = self.fresh("it"), self.a_tensor()
        log = f"{self.an_object()}.log"
        self.emit(indent, f"{name} = {self.pick(f'echo({a})', f'running({log}, {a})')}")
        self.emit(indent, f"next({name})")
        for _ in range(self.random.randint(1, 2)):
            self.emit(indent,
            f"{self.bound('tensors', 't', indent)} = {name}.send({self.tensor(2)})")
            if self.rarely(0.3):
                self.statement(indent)
        end = self.pick(f"{name}.send(None)", f"{name}.close()", f"{name}.throw(Trouble('x'))")
        self.emit(indent, "try:")
        self.emit(indent + 1, end)
        self.emit(indent, "except (StopIteration, Trouble) as stop:")
        self.emit(indent + 1, f"{log}.append(stop.args)")

    def mortal(self, indent: int) -> None:
        """A local holds the last reference to something whose end can be seen, for a while."""
        name, log = self.fresh("d"), f"{self.an_object()}.log"
        self.emit(indent, f"{name} = " + self.pick(f"Mortal({log})", f"guarded({log}, 2)"))
        if self.rarely(0.5):
            self.emit(indent, f"next({name}, None) if hasattr({name}, 'send') else None")
        self.block(indent)
        self.emit(indent, self.pick(f"{name} = None", f"del {name}", f"{name} = {log}"))
        self.emit(indent, f"{log}.append('after')")
