"""Writes bytecode for CPython 3.11 to 3.13; callers never ask for the version.

Instructions are collected as `Written`; `finish` has them encoded.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

from graphwright.capture._eval_frame import called
from graphwright.capture.effects.class_templates import refuse_template
from graphwright.capture.emit.encode import JUMPS, LEAVES, Encoder, Free, Label, Written

_VERSION = sys.version_info[:2]


class CodeBuilder:
    """Collects instructions that replace the body of one code object.

    Arguments stay in their slots; temporaries are new locals. `target` is a code object whose
    signature, free variables, name, file and first line the new code takes over. `unchecked`:
    calls are written that do not look for signals, whose handlers may raise.
    """

    def __init__(self, target: types.CodeType) -> None:
        self.target = target
        self.instructions: list[Written | Label] = []
        self.line = target.co_firstlineno
        self.columns: tuple[int, int, int] | None = None
        self._temporaries = 0
        self.unchecked = False
        self._prologue()

    def _prologue(self) -> None:
        if self.target.co_freevars:
            self.emit("COPY_FREE_VARS", len(self.target.co_freevars))
        self.emit("RESUME", 0)

    def emit(self, name: str, *arg: Any) -> None:
        """Append one instruction at the current line."""
        self.instructions.append(Written(name, arg, self.line, self.columns))

    def mark(self, label: Label) -> None:
        """Place a label here."""
        self.instructions.append(label)

    def temporary(self) -> str:
        """The name of a new local that no user code can have."""
        self._temporaries += 1
        return f"$gw{self._temporaries}"

    # loads and stores

    def load_local(self, name: str) -> None:
        self.emit("LOAD_FAST", name)

    def store_local(self, name: str) -> None:
        self.emit("STORE_FAST", name)

    def load_global(self, name: str) -> None:
        self.emit("LOAD_GLOBAL", (False, name))

    def store_global(self, name: str) -> None:
        self.emit("STORE_GLOBAL", name)

    def delete_global(self, name: str) -> None:
        self.emit("DELETE_GLOBAL", name)

    def load_deref(self, name: str) -> None:
        self.emit("LOAD_DEREF", Free(name))

    def store_deref(self, name: str) -> None:
        self.emit("STORE_DEREF", Free(name))

    def load_closure(self, name: str) -> None:
        """Push the cell object of a free variable."""
        self.emit("LOAD_FAST" if _VERSION >= (3, 13) else "LOAD_CLOSURE", Free(name))

    def load_const(self, value: object) -> None:
        refuse_template(value)
        if not interned_by_code(value):
            self.emit("LOAD_CONST", value)
            return
        self.emit("LOAD_CONST", [value])
        self.emit("LOAD_CONST", 0)
        self.subscript()

    def load_attr(self, name: str) -> None:
        self.emit("LOAD_ATTR", (False, name) if _VERSION >= (3, 12) else name)

    def store_attr(self, name: str) -> None:
        """[value, object] -> []."""
        self.emit("STORE_ATTR", name)

    def delete_attr(self, name: str) -> None:
        self.emit("DELETE_ATTR", name)

    def subscript(self) -> None:
        """[container, key] -> [container[key]]."""
        self.emit("BINARY_SUBSCR")

    def store_subscript(self) -> None:
        """[value, container, key] -> []."""
        self.emit("STORE_SUBSCR")

    # stack

    def pop(self) -> None:
        self.emit("POP_TOP")

    def drop_below(self, count: int) -> None:
        """Drop as many values from under the uppermost one."""
        for _ in range(count):
            self.swap(2)
            self.pop()

    def push_null(self) -> None:
        self.emit("PUSH_NULL")

    def copy(self, depth: int) -> None:
        self.emit("COPY", depth)

    def swap(self, depth: int) -> None:
        self.emit("SWAP", depth)

    # values

    def build(self, kind: str, count: int) -> None:
        """`kind` is tuple, list, set, map, string or slice."""
        self.emit(f"BUILD_{kind.upper()}", count)

    def binary(self, op: int) -> None:
        """`op` is an argument of BINARY_OP."""
        self.emit("BINARY_OP", op)

    # calls

    def begin_call(self, function: Callable[..., object]) -> None:
        """Push a constant callable and what a call needs around it."""
        self.begin_call_with(lambda: self.load_const(function))

    def begin_call_with(self, push: Callable[[], None]) -> None:
        """As `begin_call`, for a callable that `push` puts on the stack."""
        if self.unchecked:
            self.load_const(called)
            push()
        elif _VERSION >= (3, 13):
            push()
            self.push_null()
        else:
            self.push_null()
            push()

    def end_call(self, n_args: int, keywords: tuple[str, ...] = ()) -> None:
        """Call with `n_args` arguments, of which the last ones go by `keywords`."""
        if self.unchecked:
            self._end_unchecked(n_args, keywords)
            return
        if keywords and _VERSION >= (3, 13):
            self.load_const(keywords)
            self.emit("CALL_KW", n_args)
            return
        if keywords:
            self._keyword_names(keywords)
        if _VERSION < (3, 12):
            self.emit("PRECALL", n_args)
        self.emit("CALL", n_args)

    def _end_unchecked(self, n_args: int, keywords: tuple[str, ...]) -> None:
        if keywords:
            self.load_const(keywords)
            self.build("tuple", n_args + 2)
        self.build("tuple", 1 if keywords else n_args + 1)
        self.subscript()

    def _keyword_names(self, keywords: tuple[str, ...]) -> None:
        self.emit("KW_NAMES", keywords)

    def make_function(self, code: types.CodeType, closure: bool) -> None:
        """[closure tuple?] -> [function of `code` with the running frame's globals]."""
        self.load_const(code)
        if _VERSION >= (3, 13):
            self.emit("MAKE_FUNCTION")
            if closure:
                self.emit("SET_FUNCTION_ATTRIBUTE", 8)
        else:
            self.emit("MAKE_FUNCTION", 8 if closure else 0)

    def forget_unused(self, unbound: Iterable[str], ends: bool = False) -> None:
        """Drop what no later instruction reads: temporaries, and those arguments.

        ends: the frame does; the locals that were stored go, too.
        """
        self.emit("FORGET", tuple(unbound), "" if ends else "$gw")

    def settle(self) -> None:
        """Carry out `forget_unused`, once the instructions behind it are written."""
        self.instructions = _forgetting(self.instructions)

    # control

    def return_value(self) -> None:
        self.emit("RETURN_VALUE")

    def begin_try(self, handler: Label) -> None:
        """From here an exception empties the stack, is pushed, and goes on at `handler`."""
        self.emit("TRY_BEGIN", handler)

    def end_try(self) -> None:
        self.emit("TRY_END")

    def finish(self, all_locals: bool = False) -> types.CodeType:
        """The code object; its argument slots are those of the target, or all of its slots."""
        target = self.target
        n_slots = target.co_nlocals if all_locals else n_argument_slots(target)
        slots = target.co_varnames[:n_slots]
        return Encoder(slots, target.co_freevars).encode(self.instructions, target)


def interned_by_code(value: object) -> bool:
    """Whether another object would take the place of a constant: code objects intern names."""
    if type(value) in (tuple, frozenset):
        return any(map(interned_by_code, value))  # type: ignore[call-overload]
    if type(value) is not str or not value.isascii() or not value.replace("_", "a").isalnum():
        return False
    return sys.intern(value) is not value


def n_argument_slots(code: types.CodeType) -> int:
    """How many leading locals the caller binds, *args and **kwargs included."""
    flags = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return code.co_argcount + code.co_kwonlyargcount + flags


def _forgetting(written: list[Written | Label]) -> list[Written | Label]:
    """Carry out FORGET.

    None is stored first, since a local that is not bound on every way here cannot be deleted. One
    that is left bound would be among the frame's locals that debuggers and tracebacks show, and
    live for as long as anybody holds the frame.
    """
    result: list[Written | Label] = []
    read = _Read(written)
    stored = [_local(item, "STORE_FAST") for item in written]
    for item in reversed(written):
        stored.pop()
        if isinstance(item, Written) and item.name == "FORGET":
            unbound, prefix = item.arg
            going = [name for name in stored if name and name.startswith(prefix)]
            for name in dict.fromkeys([*unbound, *going]):
                if name not in read.later:
                    result.append(Written("DELETE_FAST", (name,), item.line))
                    result.append(Written("STORE_FAST", (name,), item.line))
                    result.append(Written("LOAD_CONST", (None,), item.line))
            continue
        read.before(item)
        result.append(item)
    return result[::-1]


class _Read:
    """The locals that may be read from here on, while instructions are walked from last to first.

    All jumps go forward, those to handlers among them: what a label leads to is known above it.
    """

    def __init__(self, written: list[Written | Label]) -> None:
        self.later: frozenset[str] = frozenset()
        self._from: dict[Label, frozenset[str]] = {}
        self._handlers = [item.arg[0] for item in written
                          if isinstance(item, Written) and item.name == "TRY_BEGIN"]
        self._caught: frozenset[str] = frozenset()

    def before(self, item: Written | Label) -> None:
        """Go from behind an instruction or label to before it."""
        if isinstance(item, Label):
            self._from[item] = self.later
        elif item.name == "TRY_END":
            self._caught = self._from[self._handlers.pop()]
        elif item.name == "TRY_BEGIN":
            self._caught = frozenset()
        else:
            if item.name in LEAVES:
                self.later = frozenset()
            if item.name in JUMPS:
                self.later |= self._from[item.arg[0]]
            self.later |= {_local(item, "LOAD_FAST")} | self._caught


def _local(item: Written | Label, name: str) -> str:
    """The local of an instruction of that name; empty for any other."""
    if isinstance(item, Written) and item.name == name and isinstance(item.arg[0], str):
        return item.arg[0]
    return ""
