"""Writes the values of a group's members as statements, splicing in what has no buffer.

Statements go to one of two scopes: the body around the inner loops, or the body of the innermost
loop. What does not depend on an inner axis is computed outside, once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from graphwright.codegen.loops import (
    JUMPING_OPS,
    Apply,
    Check,
    Const,
    Fold,
    IndexOf,
    Let,
    Load,
    Local,
    Philox,
    Search,
    Stmt,
    Store,
    Value,
)
from graphwright.codegen.lowering.context import apply, const
from graphwright.codegen.lowering.nodes import (
    Body,
    Index,
    Lookup,
    Mutation,
    Part,
    Pointwise,
    Read,
    Reduction,
    bind,
)
from graphwright.codegen.scheduler.groups import Member, domain_of, written_at
from graphwright.codegen.scheduler.materialised import MAX_DEPTH, Anchors, Storage
from graphwright.codegen.scheduler.reads import bodies
from graphwright.runtime.record import Record, field
from graphwright.runtime.symbolic.expr import Expr, Sym
from graphwright.runtime.tensor.dtypes import bfloat16, float16, float32, int64

Key = tuple[str, Index, Any]

EXACT_OPS = frozenset({"abs", "neg", "max", "min", "where"})
"""Operations that give one of their values, or its negative."""

RESERVED = re.compile(r"[bcdijprsv]\d*")
"""Names of axes and sizes."""


class Scope(Record, frozen=False):
    """Statements of one loop body, and the values already at hand in it."""

    stmts: list[Stmt] = field(default_factory=list)
    values: dict[Key, Value] = field(default_factory=dict)


class Writer:
    """Statements for the members of one group.

    `inner` are the names of the symbols of the inner axes. `names` collects the locals of the
    kernel, to keep them distinct; `sources` are what the group's members read. Inputs are
    overwritten last: `late` at the end of a pass over
    the inner loops, `last` after all passes.
    """

    def __init__(
        self, anchors: Anchors, storage: dict[str, Storage], inner: set[str], names: Names,
        sources: Collection[str | None],
    ) -> None:
        self.anchors = anchors
        self.storage = storage
        self.inner_symbols = set(inner)
        self.has_inner = bool(inner)
        self.names = names
        self.sources = sources
        self.outer = Scope()
        self.inner = Scope()
        self.at_outer = False
        self.folds: list[Fold] = []
        self.late: list[Stmt] = []
        self.last: list[Stmt] = []
        self.normalisers: set[Value] = set()

    @property
    def scope(self) -> Scope:
        """Where statements go now."""
        return self.outer if self.at_outer else self.inner

    @contextmanager
    def outside(self, outside: bool = True) -> Iterator[None]:
        """Within the block everything is computed outside the inner loops."""
        saved, self.at_outer = self.at_outer, outside
        yield
        self.at_outer = saved

    def row_member(self, member: Member) -> None:
        """A member that runs once per element of the inner loops."""
        node = self.anchors.nodes[member.name]
        (domain, body, _), = bodies(node)
        symbols = bind(domain, member.place)
        value = self.body(body, symbols, None)
        if isinstance(node, Reduction):
            name = self.names.new(member.name)
            self.folds.append(Fold(name, node.fold, value))
            return
        self.keep(member, node, value)

    def outer_member(self, member: Member) -> None:
        """A member that runs once per iteration of the outer loops."""
        node = self.anchors.nodes[member.name]
        (domain, body, _), = bodies(node)
        with self.outside():
            self.keep(member, node, self.body(body, bind(domain, member.place), None))

    def keep(self, member: Member, node: Any, value: Value) -> None:
        """Name a member's value for the statements after it, and store it if it has a buffer."""
        index = written_at(node, member)
        target = node.target if isinstance(node, Mutation) else member.name
        storage = self.storage.get(target)
        readers = self.anchors.uses.get(member.name, 0)
        unread = storage is not None and member.name not in self.sources
        shared = isinstance(node, Mutation) or (not unread and (
            readers > 1 or self.at_outer or _nesting(value) > MAX_DEPTH))
        if shared and not isinstance(value, (Local, Const)):
            value = self.let(member.name, value)
        if not isinstance(node, Mutation):
            self.scope.values[member.name, index, None] = value
        if storage is None:
            return
        store = Store(storage.buffer, storage.at(index), value)
        if isinstance(node, Mutation):
            (self.last if self.at_outer else self.late).append(store)
        else:
            self.scope.stmts.append(store)

    def close_pass(self, members: list[Member]) -> tuple[list[Stmt], list[Fold]]:
        """End the inner loop: its statements and folds; the folds' results are known after.

        Folded values are read before inputs are overwritten.
        """
        if self.late:
            self.folds = [Fold(f.name, f.op, self.let(f.name, f.value)) for f in self.folds]
        stmts, folds = self.inner.stmts + self.late, self.folds
        results = [m for m in members
                   if isinstance(self.anchors.nodes[m.name], Reduction)]
        for fold, member in zip(folds, results, strict=True):
            self.know(member, fold.name)
        self.inner, self.folds, self.late = Scope(), [], []
        return stmts, folds

    def finish(self) -> tuple[Stmt, ...]:
        """The body of the outer loops."""
        return (*self.outer.stmts, *self.last)

    def know(self, member: Member, name: str) -> None:
        """From now on the result of a reduction is the local `name`."""
        node = self.anchors.nodes[member.name]
        index = written_at(node, member)
        local = self.outer.values[member.name, index, None] = Local(name, node.dtype)
        if self._sums_exponentials(node):
            self.normalisers.add(local)

    def _sums_exponentials(self, node: Any) -> bool:
        """Whether a reduction is a softmax's denominator: dividing by it is multiplying by its
        inverse, which neither overflows nor loses bits."""
        value = node.body.value
        if node.fold != "sum" or not isinstance(value, Read):
            return False
        source = self.anchors.nodes[self.anchors.reads.base(value.source)]
        return isinstance(source, Pointwise) and source.op == "exp"

    def inverse(self, divisor: Value) -> Value:
        """1 / divisor, computed once per row."""
        key: Key = ("1/", (), divisor)
        with self.outside():
            if key not in self.outer.values:
                one = const(1, divisor.dtype)
                self.outer.values[key] = self.let(
                    "inverse", Apply("div", (one, divisor), divisor.dtype))
        return self.outer.values[key]

    def store_result(self, member: Member) -> None:
        """Store the result of a reduction, if it has a buffer."""
        node = self.anchors.nodes[member.name]
        storage = self.storage.get(member.name)
        if storage is not None:
            index = written_at(node, member)
            value = self.outer.values[member.name, index, None]
            self.outer.stmts.append(Store(storage.buffer, storage.at(index), value))

    def let(self, hint: str, value: Value) -> Local:
        """Bind a value to a local in the current scope."""
        name = self.names.new(hint)
        self.scope.stmts.append(Let(name, value))
        if not self.at_outer:
            self.inner_symbols.add(name)
        return Local(name, value.dtype)

    def body(self, body: Body, symbols: dict[str, Expr], mask: Value | None) -> Value:
        """The value of a body with its index symbols replaced."""
        symbols, renamed = self.prologue(body, symbols, mask)
        return self.value(body.value, symbols, renamed, mask)

    def part(self, part: Part, symbols: dict[str, Expr]) -> tuple[Value, Index]:
        """The value of an assembly's part, and the index that it is written to."""
        symbols, renamed = self.prologue(part.body, symbols, None)
        value = self.value(part.body.value, symbols, renamed, None)
        return value, tuple(i.at(symbols) for i in part.index)

    def prologue(
        self, body: Body, symbols: dict[str, Expr], mask: Value | None
    ) -> tuple[dict[str, Expr], dict[str, Local]]:
        """Write a body's Lets and Checks; `symbols` with their locals, and the locals' names."""
        renamed: dict[str, Local] = {}
        for stmt in body.prologue:
            value = self.value(stmt.value, symbols, renamed, mask)
            if isinstance(stmt, Lookup):
                renamed[stmt.name] = self.search(stmt, value, symbols)
                symbols = {**symbols, stmt.name: Sym(renamed[stmt.name].name)}
                continue
            if mask is not None and isinstance(stmt, Check):    # where it is false anything passes
                value = apply("where", mask, value, const(0, value.dtype), dtype=value.dtype)
            with self.outside(self.at_outer or not self._varies(value)):
                if isinstance(stmt, Let):
                    renamed[stmt.name] = self.let(stmt.name, value)
                    symbols = {**symbols, stmt.name: Sym(renamed[stmt.name].name)}
                else:
                    bound = stmt.bound.at(symbols)
                    self.scope.stmts.append(Check(value, bound, stmt.message))
        return symbols, renamed

    def search(self, lookup: Lookup, value: Value, symbols: dict[str, Expr]) -> Local:
        """Write a lookup with its value, which the local that it is bound to stands for."""
        name, place = self.names.new(lookup.name), Sym(self.names.new(lookup.place.name))
        element = Local(self.names.new(lookup.element.name), lookup.element.dtype)
        bound = {**symbols, lookup.place.name: place}
        source, index = self.anchors.reads.resolve(
            lookup.source, tuple(i.at(bound) for i in lookup.index))
        storage = self.storage[source]
        self.scope.stmts.append(Search(
            name, renamed_local(value, lookup.element, element), storage.buffer,
            storage.at(index), place, lookup.length.at(symbols), element))
        if not self.at_outer:
            self.inner_symbols.add(name)
        return Local(name, int64)

    def _varies(self, value: Value) -> bool:
        """Whether a value changes along the inner axes."""
        if not self.has_inner:
            return True
        if isinstance(value, Apply):
            return any(self._varies(a) for a in value.args)
        if isinstance(value, Load):
            return value.mask is not None or self._is_inner((value.index,))
        if isinstance(value, (IndexOf, Philox)):
            return self._is_inner((value.index,))
        return isinstance(value, Local) and value.name in self.inner_symbols

    def value(
        self, value: Any, symbols: dict[str, Expr], renamed: dict[str, Local],
        mask: Value | None, rounded: bool = False,
    ) -> Value:
        """A value with its index symbols replaced and its Reads resolved.

        `rounded`: half precision is rounded as if it had been stored.
        """
        if isinstance(value, Apply):
            inner = value.op in JUMPING_OPS or (rounded and value.op in EXACT_OPS)
            args = tuple(self.value(a, symbols, renamed, mask, inner) for a in value.args)
            if value.op == "div" and not self.at_outer and args[1] in self.normalisers:
                return Apply("mul", (args[0], self.inverse(args[1])), value.dtype)
            return _simplified(value.op, args, value.dtype, rounded)
        if isinstance(value, Read):
            own = None
            if value.mask is not None:
                own = self.value(value.mask, symbols, renamed, mask)
            index = tuple(i.at(symbols) for i in value.index)
            return self.read(value, index, own, mask)
        if isinstance(value, IndexOf):
            return IndexOf(value.index.at(symbols), value.dtype)
        if isinstance(value, Philox):
            return Philox(value.rng_index, value.index.at(symbols), value.dtype)
        if isinstance(value, Local):
            return renamed.get(value.name, value)
        return value

    def read(self, read: Read, index: Index, own: Value | None, mask: Value | None) -> Value:
        """An element of another node; `own` masks this read, `mask` everything around it."""
        name, index = self.anchors.reads.resolve(read.source, index)
        both = own if mask is None else mask if own is None else apply("and", mask, own)
        if both is None and not self.at_outer and not self._is_inner(index):
            with self.outside():
                return self.fetch(name, index, None, None)
        if own is None:
            return self.fetch(name, index, both, None)
        return self.fetch(name, index, both, read.other)

    def _is_inner(self, index: Index) -> bool:
        """Whether an index changes along the inner axes; without any, all is one scope."""
        return not self.has_inner or any(
            s.name in self.inner_symbols for i in index for s in i.symbols())

    def fetch(
        self, name: str, index: Index, mask: Value | None, other: Const | None
    ) -> Value:
        """The element of a node that is no view: a known local, a load, or an expression."""
        for scope in ((self.outer,) if self.at_outer else (self.inner, self.outer)):
            known = scope.values.get((name, index, None))
            if known is not None:
                return known if other is None else _selected(mask, known, other)
        storage = self.storage.get(name)
        node = self.anchors.nodes[name]
        if storage is not None:
            return self._load(name, storage, index, mask, other)
        key: Key = (name, index, mask)
        found = self.scope.values.get(key)
        if found is None:
            assert isinstance(node, Pointwise), f"{name} is read before it is computed"
            found = self.body(node.body, bind(domain_of(node), index), mask)
            shared = self.anchors.uses.get(name, 0) > 1 or self.at_outer
            if shared and not isinstance(found, (Local, Const, Load)):
                found = self.let(name, found)
            self.scope.values[key] = found
        return found if other is None else _selected(mask, found, other)

    def _load(
        self, name: str, storage: Storage, index: Index, mask: Value | None, other: Const | None
    ) -> Value:
        position = storage.at(index)
        if mask is not None:
            return Load(storage.buffer, position, mask, other or const(0, storage.buffer.dtype))
        load = Load(storage.buffer, position)
        if not self.at_outer:
            return load
        local = self.let(name, load)
        self.outer.values[name, index, None] = local
        return local


class Names(Record, frozen=False):
    """Names of locals in one kernel. outer: those that are known in all kernels."""

    outer: Collection[str] = ()
    taken: set[str] = field(default_factory=set)

    def new(self, hint: str) -> str:
        """A name that is a valid identifier and not taken yet."""
        base = "".join(c if c.isalnum() else "_" for c in hint)
        if RESERVED.fullmatch(base):
            base += "_"
        name, count = base, 0
        while name in self.taken or name in self.outer:
            count += 1
            name = f"{base}_{count}"
        self.taken.add(name)
        return name


def renamed_local(value: Value, old: Local, new: Local) -> Value:
    """A value with one local in place of another."""
    if isinstance(value, Apply):
        return Apply(value.op, tuple(renamed_local(a, old, new) for a in value.args), value.dtype)
    return new if value == old else value


def _nesting(value: Value) -> int:
    """How many operations are spliced into one another."""
    return 1 + max(map(_nesting, value.args), default=0) if isinstance(value, Apply) else 0


def _selected(mask: Value | None, value: Value, other: Const) -> Value:
    return apply("where", mask, value, other, dtype=value.dtype)


def _simplified(op: str, args: tuple[Value, ...], dtype: Any, rounded: bool) -> Value:
    """Apply, unless `rounded` without casts from float32 to half precision and straight back."""
    if op == "cast":
        (inner,) = args
        if inner.dtype is dtype:
            return inner
        if not rounded and isinstance(inner, Apply) and inner.op == "cast" \
                and inner.args[0].dtype is dtype and dtype is float32 \
                and inner.dtype in (float16, bfloat16):
            return inner.args[0]
    return Apply(op, args, dtype)
