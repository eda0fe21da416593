"""Capture callbacks that translate nothing, for tests of the hook and the dispatcher."""

from __future__ import annotations

import types

from graphwright.capture._eval_frame import CompiledFunction, Entry
from graphwright.capture.guards import guards
from graphwright.capture.guards.guards import GuardBuilder
from graphwright.capture.guards.source import LocalSource

NESTED = """
def inner(a): return a * 2
def outer(a):
    return inner(a) + inner(a + 1)
"""


class Callback:
    """Makes entries that run the function's own code, guarded by the types of all arguments."""

    def __init__(self, **entry):
        self.calls = []
        self.told = []
        self.entry = entry

    def __call__(self, function, code, slots, entries):
        self.calls.append((slots, entries))
        builder = GuardBuilder()
        for name, value in zip(code.co_varnames, slots, strict=False):
            builder.type_match(LocalSource(name), type(value))
        return Entry(guards.compile(builder.guards, code), **(self.entry or {"code": code}))

    def limit_reached(self, function, code, slots, entries):
        self.told.append((slots, len(entries)))


def compiled(function, **kwargs):
    callback = Callback()
    return CompiledFunction(function, callback, **kwargs), callback


class Replace:
    """Runs `codes[name]` in place of frames of functions called `name`; records what it saw."""

    def __init__(self, **codes):
        self.codes = {name: getattr(f, "__code__", f) for name, f in codes.items()}
        self.seen = []

    def __call__(self, function, code, slots, entries):
        self.seen.append((code.co_name, slots))
        if code.co_name not in self.codes:
            return None
        replacement = self.codes[code.co_name]
        builder = GuardBuilder()
        for name, value in zip(code.co_varnames, slots, strict=False):
            builder.type_match(LocalSource(name), type(value))
        program = guards.compile(builder.guards, code, [])
        if isinstance(replacement, types.CodeType):
            return Entry(program, code=replacement)
        return replacement(program)

    @property
    def names(self):
        return [name for name, _ in self.seen]


def fresh(source, **namespace):
    """Functions defined by source text: new code objects for each test."""
    exec(source, namespace)
    return types.SimpleNamespace(**namespace)
