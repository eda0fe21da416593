"""Random Python functions over tensors, numbers and containers, for comparing two ways to run."""

from __future__ import annotations

import random

_HEADER = '''
import contextlib
import graphwright as gw

class Trouble(Exception):
    pass

class Manager:
    def __init__(self, log, swallow=False):
        self.log = log
        self.swallow = swallow
    def __enter__(self):
        self.log.append("in")
        return len(self.log)
    def __exit__(self, kind, error, traceback):
        self.log.append("out" if kind is None else kind.__name__)
        return self.swallow

@contextlib.contextmanager
def managed(log):
    log.append("begin")
    try:
        yield len(log)
    finally:
        log.append("end")

def risky(n, limit=3):
    if n > limit:
        raise Trouble(f"{n} exceeds {limit}")
    return n + 1

def counted(n):
    for i in range(abs(n) % 4):
        yield i * 2
    return "done"

class Obj:
    def __init__(self, v):
        self.v = v
        self.log = []
    def bump(self, d=1):
        self.v = self.v + d
        return self.v

G = [1]

def helper(t, k=2):
    r = t * k
    return r + 1

def spread(first, *rest, scale=1, **more):
    return (first + len(rest)) * scale + len(more)

def noisy(t):
    r = t + 1
    print(end="")
    return r * 2
'''


class Program:
    """Writes one function `f(x, y, n, items, table, obj)`; `text` is its module's source.

    What comes first in a list of choices is the simplest: there shrinking ends.
    """

    def __init__(self, chance: random.Random) -> None:
        self.random = chance
        self.lines: list[str] = []
        self.tensors = ["x", "y"]
        self.ints = ["n"]
        self.count = 0
        self._statements(1, self.random.randint(1, 9))
        names = ", ".join([*self.tensors[-3:], *self.ints[-3:], "items", "table", "obj.v"])
        self.lines.append(f"    return {names}")
        body = "\n".join(self.lines)
        self.text = f"{_HEADER}\n\ndef f(x, y, n, items, table, obj):\n{body}\n"

    def _fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def _pick(self, *options: str) -> str:
        return self.random.choice(options)

    def tensor(self, depth: int = 0) -> str:
        """An expression that gives a tensor of shape [3, 4]."""
        if depth > 2 or self.random.random() < 0.35:
            return self.random.choice(self.tensors)
        a, b = self.tensor(depth + 1), self.tensor(depth + 1)
        return self._pick(
            f"({a} + {b})", f"({a} * {self.number()})", f"gw.relu({a})", f"helper({a})",
            f"helper({a}, k={self.number()})", f"({a} - {b}).tanh()", f"{a}.T.reshape(3, 4)",
            f"gw.maximum({a}, {b})", f"({a} if {self.condition()} else {b})",
            f"[{a}, {b}][{self.number()} % 2]", f"sum([{a}, {b}])", f"(lambda t: t + {b})({a})",
            f"noisy({a})" if self.random.random() < 0.3 else f"({a} / 2)",
            f"max([{a}, {b}], key=lambda t: t.shape[0])", f"gw.where({a} > 0, {a}, {b})",
            f"spread({a}, {b}, scale={self.number()})", f"(lambda *p, k=1: p[-1] * k)({a}, {b})",
            f"dict(p={a}, q={b})['q']", f"spread(*[{a}, 1], **{{'z': 2}})",
        )

    def number(self, depth: int = 0) -> str:
        """An expression that gives an int."""
        if depth > 1 or self.random.random() < 0.4:
            return self._pick(*self.ints, str(self.random.randint(-2, 4)), "len(items)", "G[0]")
        a, b = self.number(depth + 1), self.number(depth + 1)
        return self._pick(
            f"({a} + {b})", f"({a} * {b})", f"abs({a})", f"max({a}, {b})", "x.shape[1]",
            "table['k']", "table.get('z', 3)", "obj.v", f"sum(i for i in range(abs({a}) % 4))",
            f"len([q for q in items if q > {b}])", "len({q % 3 for q in items})",
            f"len({{str(k): {b} for k in table}})", f"sum(counted({a}))",
            f"len('%s-%s' % ({a}, {b}))",
            "len(f'{n}-{obj.v:>3}')",
            f"next(iter(items), {a})", f"divmod({a}, 3)[1]", f"min([{a}, {b}, 7])",
            f"({a} if {b} else 2)",
        )

    def condition(self) -> str:
        """An expression with a truth value."""
        a, b = self.number(1), self.number(1)
        if self.random.random() < 0.15:
            return f"{self.random.choice(self.tensors)}.sum() > {a}"
        return self._pick(
            f"{a} > {b}", f"{a} == {b} or {b}", f"not {a}", f"{a} in items", "'k' in table",
            f"isinstance({self.random.choice(self.tensors)}, gw.Tensor)", f"0 < {a} <= 5",
            f"({self._fresh('z')} := {a}) > 1", f"any(q == {a} for q in items)",
            f"all([{a} < 9, {b} < 9])",
        )

    def _statements(self, indent: int, count: int) -> None:
        for _ in range(count):
            self._statement(indent)

    def _emit(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def _statement(self, indent: int) -> None:
        kinds = [
            self._assign, self._assign, self._assign_int, self._mutate, self._mutate,
            self._if, self._for, self._while, self._closure, self._effect, self._comprehension,
            self._try, self._with, self._match, self._raise, self._unpack, self._in_place,
            self._class, self._generator,
        ]
        if indent > 3:
            kinds = kinds[:5]
        self.random.choice(kinds)(indent)

    def _assign(self, indent: int) -> None:
        value = self.tensor()
        name = self._fresh("t") if indent == 1 else self.random.choice(self.tensors)
        self._emit(indent, f"{name} = {value}")
        if name not in self.tensors:
            self.tensors.append(name)

    def _assign_int(self, indent: int) -> None:
        value = self.number()
        name = self._fresh("i") if indent == 1 else self.random.choice(self.ints)
        self._emit(indent, f"{name} = ({value}) % 11")
        if name not in self.ints:
            self.ints.append(name)

    def _mutate(self, indent: int) -> None:
        a, t = self.number(), self.tensor(1)
        self._emit(indent, self._pick(
            f"items.append({a} % 7)", f"items[0] = {a} % 5", f"table['k'] = {a} % 9",
            f"table['n{self.count}'] = {a} % 3", f"obj.v = ({a}) % 6", f"obj.bump({a} % 3)",
            f"obj.log.append({t}.shape)", "items.sort()", "items.reverse()",
            f"items[-1:] = [{a} % 4, 2]", "items.pop() if len(items) > 2 else None",
            f"table.setdefault('s', {a} % 5)", "table.pop('s', None)",
        ))

    def _if(self, indent: int) -> None:
        self._emit(indent, f"if {self.condition()}:")
        self._statements(indent + 1, self.random.randint(1, 2))
        if self.random.random() < 0.6:
            self._emit(indent, "else:")
            self._statements(indent + 1, self.random.randint(1, 2))

    def _for(self, indent: int) -> None:
        name = self._fresh("j")
        source = self._pick(
            "range(3)", "(1, 2)", "list(items)[:3]", "sorted(table)[:2]", "enumerate('ab')",
            "zip((1, 2), (3, 4))", "table.copy().items()", "reversed([1, 2])",
        )
        self._emit(indent, f"for {name} in {source}:")
        self._statements(indent + 1, self.random.randint(1, 2))
        if self.random.random() < 0.3:
            self._emit(indent + 1, f"if {self.condition()}:")
            self._emit(indent + 2, self._pick("break", "continue"))

    def _while(self, indent: int) -> None:
        name = self._fresh("w")
        self._emit(indent, f"{name} = 0")
        self._emit(indent, f"while {name} < 2:")
        self._emit(indent + 1, f"{name} += 1")
        self._statements(indent + 1, 1)

    def _closure(self, indent: int) -> None:
        if indent > 1:
            return self._assign(indent)
        name, out = self._fresh("g"), self._fresh("t")
        outer = self.random.choice([t for t in self.tensors if t not in ("x", "y")] or ["x"])
        self._emit(indent, f"def {name}(a, b={self.number()}):")
        if outer != "x" and self.random.random() < 0.5:
            self._emit(indent + 1, f"nonlocal {outer}")
            self._emit(indent + 1, f"{outer} = {outer} + 1")
        self._emit(indent + 1, f"return a * b + {outer}")
        self._emit(indent, f"{out} = {name}({self.tensor()})")
        self.tensors.append(out)

    def _effect(self, indent: int) -> None:
        self._emit(indent, self._pick(
            'print(end="")', "G[0] = (G[0] + 1) % 5", f"obj.log.append({self.number()})",
            f"q{self.count} = {self.random.choice(self.tensors)}.sum().item()",
        ))

    def _comprehension(self, indent: int) -> None:
        name = self._fresh("t") if indent == 1 else self.random.choice(self.tensors)
        self._emit(indent, f"{name} = sum([{self.tensor(1)} * c for c in range(1, 3)])")
        if name not in self.tensors:
            self.tensors.append(name)

    def _block(self, indent: int) -> None:
        self._statements(indent, self.random.randint(1, 2))

    def _try(self, indent: int) -> None:
        self._emit(indent, "try:")
        self._block(indent + 1)
        if self.random.random() < 0.6:
            self._trouble(indent + 1)
        shape = self.random.randint(0, 3)
        if shape < 3:
            kind = self._pick("Trouble", "(Trouble, KeyError)", "Exception", "ValueError")
            name = self._fresh("e")
            self._emit(indent, f"except {kind} as {name}:")
            self._emit(indent + 1, f"obj.log.append(str({name}))")
            self._block(indent + 1)
        if shape == 1:
            self._emit(indent, "else:")
            self._block(indent + 1)
        if shape >= 2:
            self._emit(indent, "finally:")
            self._block(indent + 1)

    def _trouble(self, indent: int) -> None:
        a = self.number()
        self._emit(indent, self._pick(
            f"risky({a})", f"obj.v = risky({a}, limit=1)", f"table[{a}]", f"items[{a}]",
            f"{a} // ({self.number()} % 2)", f"assert {self.condition()}, 'checked'",
            "obj.missing", f"raise Trouble('here', {a})",
        ))

    def _raise(self, indent: int) -> None:
        self._emit(indent, f"if {self.condition()} and n == 3:")
        self._emit(indent + 1, self._pick(
            f"raise Trouble({self.number()})", "raise KeyError('k') from None", "return x, items",
            f"raise ValueError({self.number()}) from Trouble('cause')",
        ))

    def _with(self, indent: int) -> None:
        name = self._fresh("m")
        manager = self._pick(
            "gw.no_grad()", f"Manager(obj.log) as {name}", "Manager(obj.log, True)",
            f"managed(obj.log) as {name}", "contextlib.suppress(Trouble, KeyError)",
            "Manager(obj.log), gw.no_grad()",
        )
        self._emit(indent, f"with {manager}:")
        self._block(indent + 1)
        if self.random.random() < 0.4:
            self._trouble(indent + 1)

    def _match(self, indent: int) -> None:
        a, b = self._fresh("p"), self._fresh("p")
        subject = self._pick("items", "table", "n", "(n, obj.v)", "obj")
        self._emit(indent, f"match {subject}:")
        for pattern in (f"[1, {a}, *_]", "{'k': 0}", f"({a}, {b}) if {a}", "Obj(v=2)", "1 | 2"):
            if self.random.random() < 0.5:
                self._emit(indent + 1, f"case {pattern}:")
                self._block(indent + 2)
        self._emit(indent + 1, "case _:")
        self._block(indent + 2)

    def _unpack(self, indent: int) -> None:
        a, b = self._fresh("u"), self._fresh("u")
        source = self._pick("(n, 2, 3)", "[*items, 4]", "range(3)", "'abc'", "{**table, 'y': 1}")
        self._emit(indent, f"{a}, *{b} = {source}")
        self._emit(indent, f"items.append(len({b}))")

    def _in_place(self, indent: int) -> None:
        name, other = self.random.choice(self.tensors), self.random.choice(self.tensors)
        value = self.number()
        self._emit(indent, self._pick(
            f"{name} = {name} + {value}", f"{name}.add_({value})", f"{name} *= {value}",
            f"{name}[0] = {value}", f"{name}[1, 2] = {value}", f"{name}[:, 1:] = {value}",
            f"{name}.copy_({other}.clone())",
        ))

    def _class(self, indent: int) -> None:
        name, out = self._fresh("o"), self._fresh("i")
        self._emit(indent, f"{name} = Obj({self.number()})")
        self._emit(indent, f"{name}.bump()")
        self._emit(indent, f"{name}.extra = {self.tensor(1)}")
        self._emit(indent, f"table['{out}'] = {name}.v % 5 + len({name}.log)")

    def _generator(self, indent: int) -> None:
        if indent > 1:
            return self._assign(indent)
        name, out = self._fresh("g"), self._fresh("t")
        self._emit(indent, f"def {name}(a):")
        self._emit(indent + 1, f"for k in range({self.number()} % 3 + 1):")
        self._emit(indent + 2, "yield a * k")
        self._emit(indent, f"{out} = sum({name}({self.tensor()}))")
        self.tensors.append(out)
