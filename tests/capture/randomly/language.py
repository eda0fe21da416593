"""Random statements for the rest of the language: what other families do not come to."""

from __future__ import annotations

from .wider import Wider


class Language(Wider):
    """Copies, views of dicts, indices, in-place forms, warnings, groups, annotations, async."""

    def statement(self, indent: int) -> None:
        raise NotImplementedError

    def copied(self, indent: int) -> None:
        """Copies of trees: what is one object inside of them stays one."""
        thing, items, table = self.an_object(), self.a_list(), self.a_table()
        name, a, log = self.fresh("c"), self.a_tensor(), f"{self.an_object()}.log"
        self.emit(indent, f"{name} = " + self.pick(
            f"copy.copy({items})", f"copy.deepcopy([{items}, {items}])", f"copy.copy({thing})",
            f"copy.deepcopy({{'t': {a}.detach(), 'k': [{table}]}})", f"copy.copy({a})",
            f"copy.deepcopy(Data(1, rest=[{items}]))", f"copy.deepcopy({a}.detach())",
            f"copy.copy(Point({self.number(1)}, t={a}))", "copy.deepcopy(Pair([1], (2, [3])))",
            f"copy.deepcopy(Slotted({items}))", f"copy.copy(collections.deque({items}[:2]))",
        ))
        self.emit(indent, f"{log}.append({name})")
        if self.rarely(0.5):
            self.mutate(indent)

    def looked_at(self, indent: int) -> None:
        """Views of dicts, frozen sets, slices, ranges, bytes and enumerations."""
        items, table, n = self.a_list(), self.a_table(), self.number(1)
        log = f"{self.an_object()}.log"
        self.emit(indent, f"{log}.append(" + self.pick(
            f"sorted(map(str, {table}.keys() & {{'k', 'b', 'z'}}))", f"'k' in {table}.keys()",
            f"len({table}.items() - {{('b', 2)}})", f"list({table}.values())[::-1]",
            f"next(reversed({table}.keys()), None)", f"{table}.keys() == {{'k', 'b'}}",
            f"frozenset({items}[:3]) >= {{{n}}}", f"sorted(frozenset([1, {n}]) | {{2}})",
            f"{items}[slice({n} % 3, None)][:4]", f"slice(None, {n}).indices(4)",
            f"range({n}, 9, 3)[-1:]", f"{n} in range(0, 9, 2)", f"range(3).index({n} % 4)",
            f"(1, 2, {n}).count({n})", f"bytearray([1, {n} % 9]).hex()", f"Level({n} % 2 * 2 + 1)",
            f"Level.HIGH > {n}", "Access.READ in Access.BOTH", f"pow(2, {n} % 5, 7)",
            "(Access.BOTH ^ Access.READ).name", f"Level.LOW + {n}", "[*Level.__members__]",
            f"int.from_bytes(bytes([{n} % 9]), 'big')", f"round({n} / 3, 1)",
            f"[*map(type, ({n}, rate, mode))]", f"dict.fromkeys({items}[:3], {n} % 3)",
            f"type('Made', (Obj,), {{'kind': {n}}}).kind", f"{table} | {{'m': {n} % 4}}",
            f"Guarded({n}).v", f"Guarded({n}).by_two()", f"Guarded(1).kind_of({items})",
            f"Guarded(1).kind_of({n} % 3)", "Guarded[int]", f"f'{{Guarded(1):{n}}}'",
            "Registered['factor']", "'factor' in Registered",
            f"functools.cmp_to_key(lambda p, q: q - p)({n}) < functools.cmp_to_key(max)(2)",
            f"sorted({items}[:4], key=functools.cmp_to_key(lambda p, q: q - p))",
        ) + ")")

    def indexed(self, indent: int) -> None:
        """Tensors read and written by lists, masks, tensors of positions, and ellipses."""
        a, n, v = self.a_tensor(), self.number(1), self.fresh("v")
        place = self.pick(
            "[0, -1]", ":, [0, 2]", "..., -1", "None, 1:", "gw.tensor([0, 1]), 1:", "-1",
            "[[0], [-1]], [0, 2]", f"{a} > {n}", f"({a} > 0) & ({a} < 2)", "::2, 1", "0, [1, 3]",
            "gw.arange(2)", f"gw.tensor([True, False] * 2)[:len({a})]", f"gw.tensor({n} % 2)",
            f"{n} % 2", f"..., {n} % 3:", "()", "slice(1, None), ...", f"({a} > 0).any(1)",
            "[True, False, False]", ":, None, 0",
        )
        if self.rarely(0.5):
            self.emit(indent, f"{v} = {a}[{place}]")
            return self.emit(indent, f"{self.an_object()}.log.append({v})")
        self.emit(indent, f"{v} = {a}.detach().clone()")
        self.emit(indent, self.pick(
            f"{v}[{place}] = {n}", f"{v}[{place}] += {n}", f"{v}[{place}] = {v}[{place}] * 2",
            f"{v}[{place}] = gw.tensor(1.5)", f"{v}[{place}] *= {a}[{place}].detach()",
        ))
        self.emit(indent, f"{self.bound('tensors', 't', indent)} = {a} + {v}")

    def rewritten(self, indent: int) -> None:
        """In-place forms of operations, and the operators that assign."""
        a, b, n, v = self.a_tensor(), self.a_tensor(), self.number(1), self.fresh("v")
        made = self.pick(f"{a} * 1", f"{a}.clone()", f"{a}.detach().clone()", f"net({a})", a)
        self.emit(indent, f"{v} = {made}")
        for _ in range(self.random.randint(1, 2)):
            self.emit(indent, self.pick(
                f"{v}.sub_({b})", f"{v}.div_(2)", f"{v} -= {n}", f"{v} /= 2", f"{v} **= 2",
                f"{v}.tanh_()", f"{v}.sigmoid_()", f"{v}.addcmul_({a}, {b}, value=0.5)",
                f"{v}.masked_fill_({b} > 0, {n})", f"{v}.index_add_(0, gw.tensor([0]), {v}[:1])",
                f"{v}.scatter_add_(0, gw.zeros(1, 4, dtype=gw.int64), gw.ones(1, 4))",
                f"{v}.fill_diagonal_({n})", f"{v}.t_().t_()", f"{v}.unsqueeze_(0).squeeze_(0)",
                f"{v}.lerp_({b}, 0.25)", f"{v}.neg_().abs_()", f"{v}.cumsum_(0)", f"{v}.round_()",
                f"{v}.clamp_(-1, 1).exp_()", f"{v}.addmm_({b}, gw.ones(4, 4))",
                f"{v} @= gw.eye(4)", f"{v}.where({b} > 0, 0)", f"{v}.triu_()",
                f"{v}.floor_()", f"{v}.swapdims_(0, 1)",
                f"gw.sub({a}.detach(), 1, out={v})", f"{v}.set_({b}.detach())", f"{v} %= 3",
                f"{v}.resize_(min(2, {v}.numel() // 2), 2)" if made != a else f"{v}.zero_()",
                f"{v}.dropout_(0.5)",
                f"{v}.bernoulli_(0.5)", f"{v}.requires_grad_(flag)", f"{v}.detach_()",
            ))
        self.emit(indent, f"{self.an_object()}.log.append({v})")

    def warned(self, indent: int) -> None:
        """Warnings and log records, but for the compiler's: the texts, and their lines."""
        n, log, name = self.number(1), f"{self.an_object()}.log", self.fresh("m")
        if self.rarely(0.4):
            return self.emit(indent, self.pick(
                f"LOGGER.info('n is %s', {n})", f"LOGGER.warning(f'{{mode}} {{{n}}}')",
                f"LOGGER.debug({n})", f"{log}.append(LOGGER.isEnabledFor(logging.INFO))",
            ))
        self.emit(indent, f"with warnings.catch_warnings(record=True) as {name}:")
        self.emit(indent + 1, self.pick(
            "warnings.simplefilter('always')", "warnings.simplefilter('always')",
            "warnings.simplefilter('error')", "warnings.simplefilter('ignore')",
        ))
        self.block(indent + 1, 1)
        self.emit(indent + 1, self.pick(
            "warnings.warn('n is large')",
            f"{log}.append(warning_of(mode))", "warnings.warn(DeprecationWarning('old'))",
        ))
        self.block(indent + 1, 1)
        kept = f"for q in {name} if 'graphwright: ' not in str(q.message)"
        self.emit(indent, f"{log}.append([(str(q.message), q.lineno) {kept}])")

    def grouped(self, indent: int) -> None:
        """Groups of exceptions, nested, taken apart, and handled in part."""
        name, log, n = self.fresh("e"), f"{self.an_object()}.log", self.number(1)
        self.emit(indent, "try:")
        self.block(indent + 1, 1)
        self.emit(indent + 1, self.pick(
            f"raise ExceptionGroup('g', [Trouble({n}), ValueError(2)])",
            f"raise ExceptionGroup('a', [ExceptionGroup('b', [KeyError({n})]), Trouble(1)])",
            f"raise Trouble({n})", f"{log}.append(risky({n}))",
        ))
        kinds = self.random.sample(["Trouble", "KeyError", "(ValueError, IndexError)"], 2)
        for kind in kinds:
            self.emit(indent, f"except* {kind} as {name}:")
            self.emit(indent + 1, f"{log}.append({name}.exceptions[0].args)")
            if self.rarely(0.4):
                self.block(indent + 1, 1)
            if self.rarely(0.2):
                self.emit(indent + 1, self.pick("raise", f"raise Worse({n}) from {name}"))
        if self.rarely(0.4):
            self.emit(indent, self.pick("else:", "finally:"))
            self.block(indent + 1, 1)

    def annotated(self, indent: int) -> None:
        """Annotations, casts and names of the module, read and written by name."""
        n, a, log = self.number(1), self.a_tensor(), f"{self.an_object()}.log"
        name = self.fresh("i")
        self.emit(indent, self.pick(
            f"{name}: int = {n}; {log}.append({name})", f"{log}.append(typing.cast(int, {n}))",
            f"{log}.append(typing.cast('gw.Tensor', {a}))", f"{name}: 'nothing'",
            f"globals()['SCALE'] = {n} % 3 + 1", f"{log}.append(globals()['H'])",
            f"{log}.append(typing.get_origin(list[int]) is list)",
            f"{log}.append(typing.TYPE_CHECKING)", f"{log}.append(__name__)",
            f"{name} = {log}.append; {name}({n})", f"{log}.append(f.__name__)",
            f"{name}, {log}[:1] = {n}, [{n}]", f"{name} = {self.an_object()}.v = {n} % 5",
            f"({name} := [{n}]).append(1); {log}.append({name})", f"del {log}[:1], {log}[:1]",
            f"for {self.an_object()}.v in range({n} % 3): pass",
            f"{log}.append(callable(placed))",
        ))

    def outside(self, indent: int) -> None:
        """Functions that graphs leave alone or take whole, and asynchronous ones."""
        a, b, n = self.a_tensor(), self.a_tensor(), self.number(1)
        log = f"{self.an_object()}.log"
        self.emit(indent, f"{self.bound('tensors', 't', indent)} = " + self.pick(
            f"unseen({a}, {log})", f"whole({a}, by={n})", f"placed({a}, {n})",
            f"placed({a}, by={n}, log={log})", f"placed(t={a}, by=2)",
            f"Scaled.apply({a}, gw.ones(()), {n})[0]", f"sum(Scaled.apply({a}, {b}[0, 0], 2))",
            f"finished(gathered({a}, {log}, {n}))", f"finished(waiting({a}))",
            f"Registered({a}).run()", f"gw.compiler.disable(helper)({a})",
            f"unseen(whole(unseen({a}, {log})), {log})", f"managed({log})(helper)({a}, 2)",
            f"gw.no_grad()(helper)({a})", f"(lambda *, t: t + {n})(t={a})",
            f"dict(net.named_children())['linear']({a})", f"net.get_submodule('layers.0')({a})",
            f"sum(p.sum() for _, p in net.named_parameters()) + {a}",
            f"[m for m in net.modules() if isinstance(m, gw.nn.Linear)][-1]({a})",
            f"net.get_parameter('linear.weight')[0] * {a}",
            f"gw.nn.Sequential(net.linear, *net.layers)({a})", f"net.state_dict()['seen'] * {a}",
            f"copy.deepcopy(net.linear)({a})", f"(net.layers[{n} % 2:] or net.named)[-1]({a})",
        ))

    def redirected(self, indent: int) -> None:
        """Managers of the library around statements."""
        name, log = self.fresh("s"), f"{self.an_object()}.log"
        manager, after = self.random.choice([
            (f"contextlib.redirect_stdout(io.StringIO()) as {name}", f"{name}.getvalue()"),
            (f"contextlib.closing(guarded({log}, 2)) as {name}", f"next({name}, 'closed')"),
            (f"contextlib.nullcontext({self.number(1)}) as {name}", name),
            (f"Manager({log}) as {name}, managed({log}) as {name}b", f"{name} < {name}b"),
        ])
        self.emit(indent, f"with {manager}:")
        self.block(indent + 1)
        if self.rarely(0.3):
            self.emit(indent + 1, f"print({self.number(1)})")
        self.emit(indent, f"{log}.append({after})")
