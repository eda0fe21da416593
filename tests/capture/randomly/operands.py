"""Random classes with special methods of operators, and expressions of their instances."""

from __future__ import annotations

import collections
import random

BASES: dict[str, str] = {
    "object": "()", "int": "(3)", "float": "(2.5)", "str": "('ab')", "list": "([1, 2])",
    "dict": "({'a': 1})", "tuple": "((1, 2))", "set": "([1, 2])", "frozenset": "([1, 2])",
    "OrderedDict": "({'a': 1})", "Counter": "('a')", "deque": "([1, 2])",
    "defaultdict": "(int, {'a': 1})", "Exception": "(1)",
}
"""What classes derive from, and how an instance is made."""
PLAIN = ("3", "2.5", "'ab'", "[1, 2]", "{'a': 1}", "(1, 2)", "{1, 2}", "frozenset([1, 2])",
         "None", "True", "OrderedDict(a=1)", "Counter('a')", "deque([1, 2])")
SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "matmul": "@", "truediv": "/", "floordiv": "//",
    "mod": "%", "pow": "**", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
    "lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">=",
}
COMPARISONS = ("lt", "le", "eq", "ne", "gt", "ge")
ARITHMETIC = tuple(name for name in SYMBOLS if name not in COMPARISONS)
OTHERS = ("contains", "bool", "hash", "len", "neg", "getitem")
NAMES = (*COMPARISONS, *(f"{way}{name}" for name in ARITHMETIC for way in ("", "r", "i")), *OTHERS)
WORLD = "\n".join([
    "from collections import Counter, OrderedDict, defaultdict, deque", "CALLS = []",
])


class Operands:
    """Up to four classes, the later ones often of the earlier, and pairs of what they make."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.texts: list[str] = []
        self.bases: dict[str, str] = {}
        for number in range(4):
            self._add(f"C{number}")
        made = [f"{name}{BASES[base]}" for name, base in self.bases.items()]
        self.values = [*made, *chance.sample(PLAIN, 5)]

    def _add(self, name: str) -> None:
        derived = self.bases and self.chance.random() < 0.6
        parent = self.chance.choice([*self.bases] if derived else [*BASES])
        self.bases[name] = self.bases.get(parent, parent)
        methods = [self._method(name, own) for own in NAMES if self._is_own(own)]
        if self.chance.random() < 0.05:
            methods.append(f"    {self.chance.choice(['__eq__', '__hash__'])} = None")
        self.texts.append("\n".join([f"class {name}({parent}):", *(methods or ["    pass"])]))

    def _is_own(self, name: str) -> bool:
        return self.chance.random() < (0.3 if name in COMPARISONS else 0.12)

    def _method(self, cls: str, name: str) -> str:
        results = ["NotImplemented", f"('{cls}.{name}', type(self).__name__)", "True", "False"]
        if name not in OTHERS:
            results.append(f"super().__{name}__(*other)")
        result = self.chance.choice(results[2:4] if name == "bool" else results)
        if name in ("hash", "len"):
            result = "5"
        told = f"CALLS.append(('{cls}.{name}', type(self).__name__))"
        return f"    def __{name}__(self, *other):\n        {told}\n        return {result}"

    def function(self) -> str:
        """`f(x)`, which returns what an expression of two values gives."""
        left, right = self.chance.choice(self.values), self.chance.choice(self.values)
        name = self.chance.choice([*SYMBOLS, "eq", "ne"])
        form = self.chance.choice(("plain", "plain", "plain", "in place", "in", "list", "bool"))
        if form == "in place" and name in ARITHMETIC:
            written = f"v {SYMBOLS[name]}= {right}"
            return f"def f(x):\n    v = {left}\n    {written}\n    return v, x + 1"
        shown = {
            "in": f"{left} in [{right}]", "list": f"[{left}] == [{right}]", "bool": f"not {left}",
        }.get(form, f"{left} {SYMBOLS[name]} {right}")
        return f"def f(x):\n    return ({shown}), x + 1"

    @property
    def world(self) -> str:
        """The classes."""
        return "\n\n".join([WORLD, *self.texts])


def shown(value: object) -> str:
    """What a result looks like, without addresses; an instance of one of the classes by that."""
    if type(value) is tuple:
        return f"({', '.join(map(shown, value))})"
    cls = type(value)
    plain = cls.__module__ in ("builtins", collections.__name__)
    return repr(value) if plain else f"<{cls.__name__}>"
