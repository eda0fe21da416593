"""Random statements with the collections of the library, texts, and tensors written elsewhere."""

from __future__ import annotations

from .everyday import Everyday


class Wider(Everyday):
    """Queues, sets and iterators; formats; `out=`, aliases and seeds; places that hold ends."""

    def statement(self, indent: int) -> None:
        raise NotImplementedError

    def collected(self, indent: int) -> None:
        """A collection of the library, changed, and what is left of it."""
        name, items, n = self.fresh("q"), self.a_list(), self.number(1)
        log = f"{self.an_object()}.log"
        made, changes = self.random.choice([
            (f"collections.deque({items}[:4], maxlen=3)", (
                f"{name}.append({n} % 5)", f"{name}.appendleft({n} % 3)",
                f"{name}.rotate({n} % 4)",
                f"{name}.popleft() if {name} else None", f"{name}.extend({items}[:2])",
                f"{name}.reverse()",
            )),
            (f"collections.Counter({items}[:5])", (
                f"{name}[{n} % 3] += 1", f"{name}.update([1, {n} % 4])", f"{name}.subtract([2])",
                f"del {name}[{n} % 4]", f"{name}['total'] = sum({name}.values())",
            )),
            (f"collections.OrderedDict((q, str(q)) for q in {items}[:4])", (
                f"{name}[{n} % 5] = 'new'", f"{name}.popitem(last=False) if {name} else None",
                f"{name}.move_to_end(next(iter({name}))) if {name} else None",
                f"{name}.setdefault({n} % 6, 'kept')",
            )),
            (f"{{q % 5 for q in {items}[:4]}}", (
                f"{name}.add({n} % 6)", f"{name}.discard({n} % 4)", f"{name} |= {{1, {n} % 7}}",
                f"{name} &= {{0, 1, 2, {n} % 5}}", f"{name}.symmetric_difference_update([1, 2])",
            )),
            (f"collections.ChainMap({{'k': {n} % 3}}, {self.a_table()})", (
                f"{name}['k'] = {n} % 4", f"{name}.pop('k', None)", f"{name}.maps[0].clear()",
                f"{name} = {name}.new_child({{'c': 1}})",
            )),
            (f"collections.defaultdict(list, k=[{n} % 3])", (
                f"{name}['k'].append({n} % 4)", f"{name}[{n} % 3] += [1]",
                f"{name}.pop('k', None)",
                f"{name}['t'].append({self.a_tensor()})",
            )),
        ])
        self.emit(indent, f"{name} = {made}")
        for _ in range(self.random.randint(1, 3)):
            self.emit(indent, self.random.choice(changes))
            if self.rarely(0.2):
                self.statement(indent)
        simple = "set" if made.startswith("{") else "list"
        shown = f"sorted({name})" if simple == "set" else f"list({name})[:3]"
        self.emit(indent, f"{log}.append({self.pick(shown, f'len({name})', f'bool({name})')})")

    def iterated(self, indent: int) -> None:
        """Iterators of the library, chained and consumed in part."""
        items, log, n = self.a_list(), f"{self.an_object()}.log", self.number(1)
        self.emit(indent, f"{log}.append(" + self.pick(
            f"list(itertools.accumulate({items}[:4]))", f"list(itertools.pairwise({items}[:4]))",
            f"[(k, list(g)) for k, g in itertools.groupby({items}[:4], lambda q: q > {n})]",
            f"list(itertools.chain({items}[:2], 'ab', counted({n})))",
            f"list(itertools.zip_longest({items}[:3], 'ab', fillvalue={n}))",
            f"list(itertools.starmap(max, [(1, {n}), (2, 0)]))",
            f"list(itertools.takewhile(lambda q: q < {n}, {items}[:4]))",
            f"list(itertools.dropwhile(lambda q: q < {n}, {items}[:4]))",
            f"list(itertools.combinations({items}[:3], 2))",
            f"list(itertools.islice(itertools.cycle({items}[:2]), 3))",
            f"list(itertools.compress('abc', [1, {n}, 0]))",
            f"list(itertools.filterfalse(None, [{n}, 0, 1]))",
            f"[list(part) for part in itertools.tee({items}[:2])]",
            f"sorted({items}[:4], key=lambda q: (q % 3, -q))", f"min({items}[:3], default={n})",
            f"sorted(['b', 'A', mode], key=str.lower, reverse={n} > 1)",
            f"list(reversed({items}[:3]))", f"dict(enumerate({items}[:3], {n} % 4))",
            f"[*zip(*[(1, {n}), (3, 4)])]", f"max({items}[:3], key=lambda q: -q, default=0)",
            f"functools.reduce(lambda p, q: p * 2 + q, {items}[:4], 1)",
            f"list(map(lambda p, q: p - q, {items}[:3], [1, {n}]))",
            f"any(map(callable, [{n}, len]))", f"sum(map(bool, {items}[:5]))",
        ) + ")")

    def formatted(self, indent: int) -> None:
        """Texts made of values that vary."""
        n, log, thing = self.number(1), f"{self.an_object()}.log", self.an_object()
        self.emit(indent, f"{log}.append(" + self.pick(
            f"f'{{{n}:>5}}|{{rate:<6}}|{{mode!r:^10}}'", f"f'{{{n}=}}'",
            f"'{{a:03d}}'.format(a=int({n}) % 50)", f"'%05.1f' % ({n} % 9)",
            f"str({n}).zfill(4)", "mode.title().center(9, '*')",
            f"','.join(map(str, [{n}, rate]))",
            "mode.partition('e')", "(mode * 2).split('a')", f"mode.replace('m', str({n}))",
            "mode.startswith(('me', 'su'))", f"repr([{n}, mode])", f"ascii({thing}.v)",
            f"f'{{{thing}.v:x^7}}'", f"format({n} % 7, 'b')", f"hex(abs(int({n})) % 99)",
            f"mode.encode()[:{n} % 3]", f"bytes([1, 2])[{n} % 2]", "mode[::-1].upper()",
            "f'{mode:>{4 + 2}}'", f"f'{{{self.a_tensor()}.shape}}'", f"chr(97 + {n} % 5)",
        ) + ")")

    def elsewhere(self, indent: int) -> None:
        """Results written to given tensors, aliases, modes in modes, and seeds."""
        a, b, n, out = self.a_tensor(), self.a_tensor(), self.number(1), self.fresh("m")
        self.emit(indent, f"{out} = " + self.pick(
            f"{a}.detach().clone()", f"gw.empty_like({a}).fill_({n})", f"gw.zeros({a}.shape)",
            f"{a}.new_ones({a}.shape)", f"gw.zeros(2, *{a}.shape)[1]",
        ))
        self.emit(indent, self.pick(
            f"gw.add({a}.detach(), {n}, out={out})", f"gw.tanh({out}, out={out})",
            f"gw.mul({out}, 2, out={out}[:])",
            f"{out}.view(-1)[1:].add_({out}.view(-1)[:-1].clone())",
            f"{out}[:, 0], {out}[:, 1] = {out}[:, 1].clone(), {out}[:, 0].clone()",
            f"{out}.T[1].mul_({n})", f"{out}.index_fill_(0, gw.tensor([0]), {n})",
            f"{out}.scatter_(1, gw.zeros({out}.shape[0], 1, dtype=gw.int64), 1.5)",
            f"{out}.copy_({b}.detach()[:1])", f"{out}.unbind()[0].zero_()",
            f"{out}.index_put_((gw.tensor([0]),), gw.tensor(2.0))",
            f"gw.manual_seed({n} % 5); {out}.uniform_()", f"gw.manual_seed(3); {out}.normal_()",
            f"gw.manual_seed({n} % 4); {out}.add_(gw.rand({out}.shape))",
            f"{out}.swapaxes(0, 1).clamp_(0, 1)", f"{out}.flatten()[0] = {n}",
        ))
        target = self.bound("tensors", "t", indent)
        self.emit(indent, f"{target} = " + self.pick(
            f"{out} * 1", out, f"{out}.view({out}.shape)", f"{{'k': {out}}}['k'] + {a}",
            f"[{out}, {a}][0]", f"{out} + {out}.T.T",
        ))
        if self.rarely(0.4):
            self.emit(indent, "with gw.no_grad(), gw.enable_grad():")
            self.emit(indent + 1, f"{target} = {target} * {self.tensor(2)}")

    def let_go(self, indent: int) -> None:
        """What ends visibly is held by a container or an attribute only, for a while."""
        thing, log = self.an_object(), f"{self.an_object()}.log"
        name, value = self.fresh("b"), f"Mortal({log})"
        if self.rarely(0.4):
            value = f"[{value}]"
        made, end = self.random.choice([
            (f"{name} = {{'a': {value}}}", f"del {name}['a']"),
            (f"{name} = {{'a': {value}}}", f"{name}['a'] = 1"),
            (f"{name} = [1, {value}]", f"{name}.pop()"),
            (f"{name} = [{value}]", f"{name}.clear()"),
            (f"{name} = [{value}, 2]", f"{name}[0] = {self.number(1)}"),
            (f"{name} = [{value}, 2]", f"del {name}[:1]"), (f"{name} = [{value}]", f"{name} = 1"),
            (f"{thing}.end{self.count} = {value}", f"{thing}.end{self.count} = None"),
            (f"{thing}.end{self.count} = {value}", f"del {thing}.end{self.count}"),
            (f"{name} = Obj({value})", f"{name}.v = 1"), (f"{name} = Obj({value})", f"del {name}"),
            (f"{name} = collections.deque([{value}])", f"{name}.popleft()"),
        ])
        self.emit(indent, made)
        self.block(indent)
        self.emit(indent, end)
        self.emit(indent, f"{log}.append('after')")
