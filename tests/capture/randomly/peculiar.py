"""Random statements about attributes, comparisons, iterators and managers written in Python."""

from __future__ import annotations

from .assorted import Assorted


class Peculiar(Assorted):
    """Descriptors, hashes, iterators that end early, stacks of managers, stars, collections."""

    def statement(self, indent: int) -> None:
        raise NotImplementedError

    def attributed(self, indent: int) -> None:
        """Descriptors, slots and `__dict__`, read, written, deleted and hidden."""
        name, log = self.fresh("o"), f"{self.an_object()}.log"
        n, a = self.number(1), self.a_tensor()
        self.emit(indent, f"{name} = {self.pick('Holder', 'Strict')}({n}, {log})")
        for _ in range(self.random.randint(1, 3)):
            self.emit(indent, self.pick(
                f"{name}.first += {n}", f"{name}.first = {a}", f"{name}.other = {n}",
                f"vars({name})['first'] = {n}", f"{name}.__dict__['other'] = {n}",
                f"{name}.__dict__.update(v={n}, extra=1)", f"vars({name}).pop('other', None)",
                f"{name}.__dict__ = {{**vars({name}), 'v': {n}}}", f"{name}.__class__ = Holder",
                f"{name}.own = {n}", f"setattr({name}, 'v', {a}.shape[0])", f"del {name}.v",
                f"object.__setattr__({name}, 'v', {n} % 4)", f"del {name}.first",
                f"{name}.__dict__.setdefault('v', 4)", f"{name}.v = [{name}.v]; {name}.v += [{n}]",
                f"{name}.v, {name}.w = {n}, {name}.v", f"{name}._hidden = {n}",
                f"type({name}).made += 1", "Holder.made = 0",
            ))
            if self.rarely(0.3):
                self.statement(indent)
        self.emit(indent, f"{log}.append(" + self.pick(
            f"{name}.v", f"{name}.other", f"{name}.first", f"sorted(vars({name}))", "Holder.first",
            f"getattr({name}, 'own', 'none')", f"{name}.unknown", f"hasattr({name}, 'nothing')",
            f"type({name}).made", f"[k for k in {name}.__dict__ if k != 'log']", "Strict.other",
            f"isinstance({name}, Strict)", f"{name}.__class__.__name__", f"'v' in vars({name})",
        ) + ")")

    def compared(self, indent: int) -> None:
        """Own `__eq__`, `__hash__` and `__lt__` under sets, dicts, lists, sorting and numbers."""
        log, n, items = f"{self.an_object()}.log", self.number(1), self.a_list()
        p, q = f"{self.pick('Rounded', 'Finer')}({n} % 5)", f"{self.pick('Rounded', 'Finer')}(2)"
        if self.rarely(0.3):
            p, q = f"Loud({n} % 5, {log})", f"Loud(2, {log})"
        name = self.fresh("k")
        self.emit(indent, f"{name} = [{p}, {q}, {p}]")
        self.emit(indent, f"{log}.append(" + self.pick(
            f"len(set({name}))", f"len(frozenset({name}) & {{{q}}})", f"{name}.index({q})",
            f"{name}.count({p})", f"{p} in {name}", f"{{{q}: 1, {p}: 2}}.get({q})",
            f"[k.v for k in sorted({name})]", f"min({name}).v", f"{name} == [{q}, {q}, {p}]",
            f"({p}, 1) < ({q}, 2)", f"dict.fromkeys({name}, 1) == {{{p}: 1, {q}: 1}}",
            f"[k.v for k in {{*{name}}} - {{{q}}}]", f"collections.Counter({name})[{p}]",
            f"{p} != {q}", f"'a' == {p}", f"{p} == {n}", f"{name}.remove({q})",
            f"[bool(k) for k in {name}]", f"any({name})", f"not {p}", f"{p} and 1",
            f"{name}[0] is {name}[-1] or {p} == {name}[0]", f"{{{p}}} <= set({name})",
            f"set({name}).isdisjoint([{q}])", f"max({items} and {name}, key=lambda k: -k.v).v",
        ) + ")")
        if self.rarely(0.3):
            self.emit(indent, f"{log}.append(" + self.pick(
                f"Rounded(1) - Finer({n})", f"divmod(Rounded({n}), 2)", f"round(Rounded({n}), 1)",
                f"pow(Rounded(1), 2, {n})", f"-Finer({n} % 4)", f"math.floor(Rounded({n} % 4))",
                f"sum([Rounded(1)], {n})", f"round(Rounded({n} % 9))", "Rounded(1) ** 2",
            ) + ")")

    def ended_early(self, indent: int) -> None:
        """Iterators in Python that end early and begin again, by every consumer."""
        log, n, name = f"{self.an_object()}.log", self.number(1), self.fresh("it")
        self.emit(indent, f"{name} = " + self.pick(
            f"Short({n} % 7)", f"Short({n} % 7)", f"iter(Numbered(1, {n}, 3))",
            f"iter(functools.partial(next, Short({n} % 8)), 1)", f"map(risky, Short({n} % 5))",
            f"(q for q in Short({n} % 8) if q != 2)", f"zip(Short(5), Short({n} % 6))",
            f"through(Short({n} % 6), {log})", f"through(Sent({log}), {log})",
            f"filter(None, Short({n} % 6))", f"itertools.chain(Short(3), Short({n} % 9))",
        ))
        for _ in range(self.random.randint(1, 3)):
            use = self.pick(
                f"list({name})", f"next({name}, 'end')", f"[*{name}]", f"tuple({name})",
                f"sum(1 for _ in {name})", f"dict.fromkeys({name})", f"2 in {name}",
                f"list(zip({name}, 'abc'))", f"list(enumerate({name}))",
                f"sorted({name}, key=str)",
                f"[q for q in {name}][:2]", f"list(itertools.islice({name}, 2))", f"next({name})",
                f"operator.length_hint({name}, 1)", f"max({name}, key=str, default=0)",
            )
            self.emit(indent, f"{log}.append({use})")
            if self.rarely(0.3):
                self.statement(indent)
        if self.rarely(0.4):
            self.emit(indent, f"for {self.fresh('q')} in {name}:")
            self._loop_body(indent)

    def delegated(self, indent: int) -> None:
        """`yield from`: what is sent and thrown goes through, and the result comes back."""
        log, n, name = f"{self.an_object()}.log", self.number(1), self.fresh("it")
        source = self.pick(
            f"Sent({log})", f"tallied({log})", f"guarded({log}, 3)", f"counted({n})",
            f"through(tallied({log}), {log})", f"[1, {n}]", f"echo({self.a_tensor()})",
        )
        self.emit(indent, f"{name} = through({source}, {log})")
        self.emit(indent, "try:")
        self.emit(indent + 1, f"{log}.append(next({name}))")
        for _ in range(self.random.randint(1, 3)):
            self.emit(indent + 1, self.pick(
                f"{log}.append({name}.send(None))", f"{log}.append({name}.send({n} % 4))",
                f"{log}.append({name}.throw(Trouble({n})))", f"{name}.close()",
                f"{log}.append({name}.throw(KeyError('k')))", f"{log}.append(next({name}, 'end'))",
                f"{log}.extend({name})", f"{log}.append({name}.gi_frame is None)",
            ))
            if self.rarely(0.3):
                self.statement(indent + 1)
        self.emit(indent, "except (StopIteration, Trouble, KeyError, AttributeError) as error:")
        self.emit(indent + 1, f"{log}.append((type(error).__name__, error.args))")
        if self.rarely(0.3):
            self.emit(indent, f"del {name}")

    def stacked(self, indent: int) -> None:
        """Stacks of managers that swallow, and what is left of them.

        None fails while it ends: `ExitStack` leaves a cycle of its frame and the exception then.
        """
        name, log = self.fresh("m"), f"{self.an_object()}.log"
        self.emit(indent, self.pick("try:", f"with Swallowing({log}, Exception):"))
        attempt = self.lines[-1].strip() == "try:"
        self.emit(indent + 1, f"with contextlib.ExitStack() as {name}:")
        for _ in range(self.random.randint(1, 3)):
            self.emit(indent + 2, self.pick(
                f"{name}.enter_context(Swallowing({log}, Trouble))",
                f"{name}.enter_context(Manager({log}, True))", f"{name}.callback(helper, 5)",
                f"{name}.callback({log}.append, {self.number(1)})",
                f"{name}.push(lambda *error: {log}.append(error[0] is None))",
                f"{name}.push(lambda *error: error[0] is Trouble)",
                f"{name}.enter_context(gw.no_grad())", f"{name}.pop_all().close()",
                f"{log}.append({name}.enter_context(managed({log})))", f"{name}.close()",
                f"{name}.enter_context(contextlib.closing(guarded({log}, 2)))",
            ))
        self.block(indent + 2)
        if self.rarely(0.5):
            self.trouble(indent + 2)
        if attempt:
            kind = self.pick("Exception", "Trouble", "ValueError")
            self.emit(indent, f"except {kind} as error:")
            self.emit(indent + 1, f"{log}.append((type(error).__name__, "
                      f"type(error.__context__).__name__))")

    def swallowed(self, indent: int) -> None:
        """Managers that swallow, yield twice, and write tensors."""
        name, log, a = self.fresh("m"), f"{self.an_object()}.log", self.a_tensor()
        self.emit(indent, "with " + self.pick(
            f"Swallowing({log}, Trouble, LookupError) as {name}", f"Swallowing({log}, Exception)",
            f"doubled_inside({a}.detach()) as {name}", f"Swallowing({log}), managed({log})",
            f"Swallowing({log}, Exception), twice_yielding({log})",
            f"contextlib.suppress(Exception), managed({log}) as {name}",
            f"Swallowing({log}, ValueError), Failing({log})",
            f"Swallowing({log}, Worse), Failing({log})",
        ) + ":")
        self.block(indent + 1)
        if self.rarely(0.6):
            self.trouble(indent + 1)
        self.emit(indent, f"{log}.append('behind')")

    def starred(self, indent: int) -> None:
        """Stars in calls, displays, targets, loops and indices, of iterables in Python too."""
        log, n, items, table = (
            f"{self.an_object()}.log", self.number(1), self.a_list(), self.a_table())
        a, b, c = self.fresh("u"), self.fresh("u"), self.fresh("u")
        if self.rarely(0.5):
            return self.emit(indent, f"{log}.append(" + self.pick(
                f"spread(1, *Numbered(1, {n}), *[{n}], **Numbered())",
                f"[*{items}[:2], *(1, {n})]",
                f"{{**{table}, **{{'k': {n}}}, **Numbered()}}", f"[*'ab', *Short({n} % 5)]",
                f"spread(*{items}[:3], **{{**Numbered(), 'z': {n}}})",
                f"spread(*({n},), *[], **{{}})",
                f"(lambda *p, k=1, **m: (p, k, sorted(m)))(*{items}[:2], **dict(k={n}, w=1))",
                f"spread(1, scale=2, **{{'scale': {n}}})", f"max(*{items}[:3], {n})",
                f"{{*{items}[:3], {n}}} == {{{n}}}", f"print(*[{n}, 2], sep='-')",
                f"dict({table}, **Numbered())", f"{table} | dict(Numbered()) | {{'k': {n}}}",
                f"[(p, q) for p, *q in [(1, {n}, 3), 'ab']]", f"(*{items}[:2], *range({n} % 3))",
                f"functools.partial(spread, *[1, {n}], scale=2)(*'a', **{{'y': 1}})",
                f"{self.a_tensor()}[*({n} % 2, 1)]", f"[{items}[:2], *[{items}[-1:]]][-1]",
            ) + ")")
        self.emit(indent, self.pick(
            f"{a}, ({b}, *{c}) = {n}, [1, {n}, 3]", f"({a}, *{b}), {c} = 'xyz', {n}",
            f"{a}, *{b}, {c} = {items}", f"*{a}, {b} = {c} = Numbered(1, {n})",
            f"[{a}, *{b}], {c} = Short({n} % 6), 1", f"{a}, {b}, *{c} = {self.a_tensor()}.shape",
            f"for {a}, *{b} in [(1, 2, {n}), 'ab']: {c} = {a}, {b}",
            f"{a} = {b} = {c} = [{n}]; {a} += [1]", f"{c} = {a}, *{b} = 1, {n}, 3",
        ))
        self.emit(indent, f"{log}.append(({b}, {c}))")

    def ordered(self, indent: int) -> None:
        """Collections of the library: their order, equality, arithmetic and views."""
        log, n, items, table = (
            f"{self.an_object()}.log", self.number(1), self.a_list(), self.a_table())
        self.emit(indent, f"{log}.append(" + self.pick(
            f"collections.Counter('abca').most_common({n} % 3)",
            f"collections.Counter({items}[:3]) - collections.Counter([1])",
            f"+collections.Counter(a={n}, b=-1)",
            f"list(collections.Counter(a={n} % 3).elements())",
            f"collections.OrderedDict(a=1, b={n}) == collections.OrderedDict(b={n}, a=1)",
            f"collections.OrderedDict(a=1) | {{'b': {n}}}",
            f"collections.deque({items}, 3).index({n} % 3)",
            f"collections.deque([1, {n}]) + collections.deque([2])",
            f"collections.deque({items}[:2]) == collections.deque({items}[:2])",
            f"dict(collections.ChainMap({{'k': {n}}}, {table}))",
            f"collections.ChainMap({{}}, {table}).parents.get('k')",
            f"collections.defaultdict(lambda: {n})['a']",
            f"list(collections.defaultdict(int, {table}))",
            f"Pair._make([1, {n}])", "Pair._fields", f"Pair(1, {n}) == (1, {n})",
            f"Pair(left={n})._asdict()", f"Pair(2)[{n} % 3]", f"Record(1, {n}).scaled()",
            f"dataclasses.astuple(Data(1, {n}))", f"Data(1, {n}) == Data(1, 2)",
            "[field.name for field in dataclasses.fields(Data)]", f"Colour({n} % 2 + 1).name",
            f"Colour['RED'] is Colour({n} % 2 + 1)", "list(Colour)", f"Access({n} % 4)",
            f"Level({n} % 2 * 2 + 1).name", f"{{Colour.RED: {n}}}[Colour(1)]",
            f"frozenset([1, {n}]) ^ {{2}} == {{1}}", f"hash(frozenset([1, 2])) == hash({n})",
            f"frozenset({items}[:3]).union([{n}], (1,)) > {{1}}", f"{table}.keys() - {{'k'}}",
            f"{table}.items() >= {{('k', {n})}}", f"list({table}.items())[-1]",
            f"list(reversed({table}.values()))", f"{{'b': 1, 'k': {n}}} == {table}",
        ) + ")")
        if self.rarely(0.4):
            self.emit(indent, self.pick(
                f"{table}['k'] = {table}.pop('k', {n})", f"{table} |= {{'k': {n} % 5}}",
                f"for {self.fresh('q')} in [*{table}]: {table}.pop('z', None)",
                f"{table}.update([('y', {n} % 3)])", f"{items}[::2] = {items}[::2][::-1]",
                f"{items}[1:1] = Short({n} % 5)", f"{items} *= {n} % 3",
                f"{items}[:] = [q for q in {items} if q != {n}]",
            ))
            for name in (table, items):
                written = self.lines[-1].strip().startswith((f"{name} |=", f"{name} *="))
                if written and name not in self.names.own:
                    self.names.rebound[name] = None

    def worded(self, indent: int) -> None:
        """Texts by every way of formatting, of attributes and items too."""
        log, n, thing, table = (
            f"{self.an_object()}.log", self.number(1), self.an_object(), self.a_table())
        self.emit(indent, f"{log}.append(" + self.pick(
            f"'{{0[k]}}|{{1.v!r:>4}}'.format({table}, {thing})",
            f"'%(k)s %(k)5.1r' % {{'k': {n}}}",
            f"'{{k:>{{w}}}}'.format(k={n}, w=4)", f"f'{{{n}:>{{abs({n}) % 5 + 1}}}}'",
            f"'{{a}} {{b}}'.format_map(dict(a={n}, b=mode))", f"f'{{mode!a:<8}}{{{n}!s:^4}}'",
            f"string.Template('$a-$b').substitute(a={n}, b=1)",
            f"textwrap.shorten(mode * ({n} % 5), 12)",
            f"'abc'.translate({{97: str({n})}})", f"'a,b'.split(',', {n} % 2)",
            f"'%*d' % (5, {n})",
            f"f'{{rate:+.3e}}|{{{n}:,}}'", f"'{{:{{}}}}'.format({n}, 5)", f"f'{{[{n}, mode]}}'",
            f"f'{{Rounded({n})}}{{Finer(1)!r:>12}}'", f"str(Pair({n}))", f"repr(Data({n}))",
            "f'{Colour.RED} {Level.LOW:d}'", f"'-'.join(f'{{q}}' for q in (1, {n}))",
            f"f'{{{self.a_tensor()}.sum() > {n}}}'", f"f'{{{self.a_tensor()}.dtype}}'",
            f"(mode + str({n})).removeprefix('me')", f"'%s' % (({n}, 1),)", f"'%s %s' % (1, {n})",
            f"f'{{(lambda q: q * 2)({n})}}'", f"'{{}}{{}}'.format(*[{n}, 2])", "'%d' % rate",
            f"mode.encode('utf-16')[:{n} % 4].hex()", f"str(bytes([abs({n}) % 90]), 'ascii')",
        ) + ")")
