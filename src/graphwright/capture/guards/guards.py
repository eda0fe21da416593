"""What a captured graph assumed, in a form that prints and that C evaluates.

A `Guard` says one thing about the value of one source (some: about several values). The
`GuardBuilder` collects them while a frame is captured; `compile` turns the collection into a
`GuardProgram`, which the dispatcher and the frame hook evaluate before each run of the entry.
`explain_failure` names the first guard that does not hold, with the old and the new value.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from types import CodeType, FunctionType
from typing import Any

from graphwright.capture import _eval_frame
from graphwright.capture.effects.class_templates import settled
from graphwright.capture.guards.assembler import Assembler
from graphwright.capture.guards.source import CodeSource, Source
from graphwright.capture.guards.text import class_module, describe, describe_items, strides_text
from graphwright.capture.guards.tree import TreeAssembler
from graphwright.runtime.record import Record, replace


class GuardKind(StrEnum):
    """What a guard says; the value is the name of the check in the C program."""

    TYPE = "type"
    IDENTITY = "is"
    EQUALS = "equals"
    LENGTH = "length"
    KEYS = "keys"
    MEMBERS = "members"
    MISSING = "missing"
    PRESENT = "present"
    NOT_NONE = "not_none"
    TRUTH = "truth"
    TENSOR = "tensor"
    SAME = "same"
    VERSION = "version"
    DISTINCT = "distinct"
    NO_OVERLAP = "no_overlap"
    GRAD_MODE = "grad_mode"
    MODES = "modes"
    RELATION = "relation"


class TensorLayout(Record):
    """What a graph assumes of one tensor input.

    sizes: one int per dimension, None where the size is symbolic (any size >= `min_size`).
    strides: a tuple of ints or None per dimension; "contiguous"; ("order", permutation) for a
        dense layout, outermost dimension first, whose strides are the products of the inner sizes
        even in dimensions of size 1; or None where the graph does not depend on strides.
    """

    cls: type
    dtype: object
    device: object
    sizes: tuple[int | None, ...]
    strides: tuple[object, ...] | str | None
    requires_grad: bool
    min_size: int = 2


class ShapeRelation(Record):
    """`lhs op rhs` over integer expressions; `symbols` says where each symbol's value is found."""

    op: str
    lhs: object
    rhs: object
    symbols: tuple[tuple[str, Source], ...]


class Guard(Record, eq=False):
    """One assumption: `kind` about the values of `sources`, with what was seen as `payload`."""

    kind: GuardKind
    sources: tuple[Source, ...]
    payload: Any = None

    @property
    def source(self) -> Source | None:
        """The first source, None for guards on the interpreter's state."""
        return self.sources[0] if self.sources else None

    def sentence(self) -> str:
        """The guard as a Python-like statement, the same text in every run."""
        return _SENTENCES[self.kind](self)


class GuardFailure(Record):
    """The guard that did not hold: the user's expression, what was assumed, what is there now."""

    guard: Guard
    source: str
    expected: str
    actual: str

    def __str__(self) -> str:
        return f"{self.source}: expected {self.expected}, got {self.actual}"


class GuardBuilder:
    """Collects the guards of one captured frame, each once, in the order they were made."""

    def __init__(self) -> None:
        self.guards: list[Guard] = []
        self._seen: set[object] = set()

    def _add(self, guard: Guard, key: object) -> None:
        sources = settled(guard.sources)
        if sources is None:
            return
        if sources != guard.sources:
            guard = replace(guard, sources=sources)
        identity = (guard.kind, guard.sources, key)
        if identity not in self._seen:
            self._seen.add(identity)
            self.guards.append(guard)

    def type_match(self, source: Source, cls: type) -> None:
        """`type(value) is cls`."""
        if (GuardKind.TYPE, (source,), id(cls)) not in self._seen:
            self._add(Guard(GuardKind.TYPE, (source,), _reference(cls)), id(cls))

    def id_match(self, source: Source, value: object) -> None:
        """`value` is this very object; held weakly where its type allows."""
        if (GuardKind.IDENTITY, (source,), id(value)) not in self._seen:
            self._add(Guard(GuardKind.IDENTITY, (source,), _reference(value)), id(value))

    def equals(self, source: Source, value: object) -> None:
        """Same type and same value: None, bool, int, float (bits: -0.0 and nan are themselves),
        complex, str, bytes, range, slice, Ellipsis, and tuples or frozensets of these."""
        if not _eval_frame.is_constant(value):
            raise TypeError(f"{source}: {type(value).__qualname__} values cannot be guarded by ==")
        self._add(Guard(GuardKind.EQUALS, (source,), value), (type(value), _written(value)))

    def list_length(self, source: Source, length: int) -> None:
        """`len(value)` of a list, tuple, dict, set, frozenset, str or bytes (or a subclass)."""
        self._add(Guard(GuardKind.LENGTH, (source,), length), length)

    tuple_length = list_length
    length = list_length

    def dict_keys(self, source: Source, keys: Iterable[object]) -> None:
        """The keys of a dict, in order: constants by value, others by identity, held weakly where
        their type allows; MISSING stands for any key, which has guards of its own."""
        wanted = tuple(map(_weakly, keys))
        self._add(Guard(GuardKind.KEYS, (source,), wanted), tuple(map(id, wanted)))

    def set_members(self, source: Source, members: Iterable[object]) -> None:
        """A set or frozenset holds exactly these constants."""
        wanted = frozenset(members)
        self._add(Guard(GuardKind.MEMBERS, (source,), wanted), repr(sorted(map(repr, wanted))))

    def set_order(self, source: Source, members: Iterable[object]) -> None:
        """A set or frozenset gives exactly these constants, in this order."""
        wanted = tuple(members)
        self._add(Guard(GuardKind.MEMBERS, (source,), wanted), repr(wanted))

    def missing(self, source: Source) -> None:
        """Reading the source (an attribute, key, global or cell) finds nothing."""
        self._add(Guard(GuardKind.MISSING, (source,)), None)

    def present(self, source: Source) -> None:
        """Reading the source finds something."""
        self._add(Guard(GuardKind.PRESENT, (source,)), None)

    def not_none(self, source: Source) -> None:
        """The value exists and is not None."""
        self._add(Guard(GuardKind.NOT_NONE, (source,)), None)

    def truth(self, source: Source, value: bool) -> None:
        """`bool(value) is value` of a built-in number, string or container."""
        self._add(Guard(GuardKind.TRUTH, (source,), value), value)

    def tensor_match(self, source: Source, layout: TensorLayout) -> None:
        """A tensor of this class, dtype, device, layout and requires_grad."""
        self._add(Guard(GuardKind.TENSOR, (source,), layout), layout)

    def class_version(self, source: Source, cls: type) -> None:
        """Nothing was stored in a class, or in those that it derives from, since."""
        version = _eval_frame.type_version(cls)
        self._add(Guard(GuardKind.VERSION, (source,), version), version)

    def same_object(self, first: Source, second: Source) -> None:
        """Both sources hold one object."""
        self._add(Guard(GuardKind.SAME, (first, second)), None)

    def no_alias(self, sources: Sequence[Source]) -> None:
        """All sources hold different objects."""
        if len(sources) > 1:
            self._add(Guard(GuardKind.DISTINCT, tuple(sources)), None)

    def no_overlap(self, mutated: Sequence[Source], others: Sequence[Source]) -> None:
        """No mutated tensor shares addresses with another of the tensors (by extents)."""
        guard = Guard(GuardKind.NO_OVERLAP, (*mutated, *others), len(mutated))
        self._add(guard, len(mutated))

    def code_match(self, source: Source, function: FunctionType) -> None:
        """A Python function with this very code object (closures of one `def` share it)."""
        self.id_match(CodeSource(source), function.__code__)

    def grad_mode(self, enabled: bool) -> None:
        """Whether gradients are recorded."""
        self._add(Guard(GuardKind.GRAD_MODE, (), enabled), enabled)

    def modes(self, bits: int) -> None:
        """Mode bits (autocast, inference, TF32, ...) and current GPU: `guarded_modes`."""
        self._add(Guard(GuardKind.MODES, (), bits), bits)

    def shape_relation(
        self, op: str, lhs: object, rhs: object, symbols: Mapping[str, Source]
    ) -> None:
        """`lhs op rhs` (op: == != < <= > >=) over `runtime.symbolic` expressions or ints."""
        relation = ShapeRelation(op, lhs, rhs, tuple(sorted(symbols.items())))
        sources = tuple(source for _, source in relation.symbols)
        self._add(Guard(GuardKind.RELATION, sources, relation), (op, str(lhs), str(rhs)))

    def extend(self, guards: Iterable[Guard]) -> None:
        """Take over guards collected elsewhere."""
        for guard in guards:
            self._add(guard, id(guard))


def compile(
    guards: Iterable[Guard], code: CodeType, inputs: Sequence[Source] = ()
) -> _eval_frame.GuardProgram:
    """The program that checks `guards` on a call of `code` and then fetches `inputs`."""
    assembler = Assembler(code)
    ordered = sorted(guards, key=_likely_to_fail)
    for guard in ordered:
        assembler.check(guard.kind.value, guard.sources, guard.payload)
    registers = [assembler.load(source) for source in inputs]
    plain = assembler.program(ordered, registers)
    tree = TreeAssembler(code, ordered, inputs)
    for guard in ordered:
        tree.check(guard.kind.value, guard.sources, guard.payload)
    return tree.program_over(plain, inputs)


def explain_failure(
    program: _eval_frame.GuardProgram, function: FunctionType, slots: Sequence[object]
) -> GuardFailure | None:
    """The first guard that does not hold for these arguments, None if all hold."""
    failed = program.failure(function, tuple(slots))
    if failed is None:
        return None
    index, values = failed
    guard: Guard = program.guards[index]
    return _FAILURES.get(guard.kind, _plain_failure)(guard, values)


def _reference(value: object) -> object:
    """A weak reference where the type allows one: an entry must not keep user objects alive."""
    try:
        return weakref.ref(value)
    except TypeError:
        return _Strong(value)


def _written(value: object) -> object:
    """Text that is unique to a constant; Python refuses to write large ints as decimals."""
    if type(value) is int:
        return value
    if type(value) is tuple or type(value) is frozenset:
        return type(value)(map(_written, value))
    if type(value) is range or type(value) is slice:
        return tuple(map(_written, (value.start, value.stop, value.step)))
    return repr(value)


def _weakly(key: object) -> object:
    """What a key is compared with."""
    if key is _eval_frame.MISSING or _eval_frame.is_constant(key):
        return key
    if type(key) is tuple:
        return tuple(map(_weakly, key))
    reference = _reference(key)
    return key if isinstance(reference, _Strong) else reference


class _Strong(Record, eq=False):
    """Stands in for a weak reference to an object that cannot have one."""

    value: object

    def __call__(self) -> object:
        return self.value


_EARLY = {
    GuardKind.GRAD_MODE: 0,
    GuardKind.MODES: 0,
    GuardKind.TENSOR: 1,
    GuardKind.RELATION: 4,
    GuardKind.DISTINCT: 5,
    GuardKind.NO_OVERLAP: 5,
}


def _likely_to_fail(guard: Guard) -> int:
    """Sort key: arguments before the rest, single values before groups."""
    if guard.kind in _EARLY and guard.kind is not GuardKind.TENSOR:
        return _EARLY[guard.kind]
    source = guard.source
    return 1 if source is not None and source.root is source else 3


def _target(guard: Guard) -> object:
    reference = guard.payload
    return reference() if callable(reference) else reference


def _keys_text(keys: Sequence[object]) -> str:
    meant = [key() if type(key) is weakref.ref else key for key in keys]
    texts = ["*" if key is _eval_frame.MISSING else describe(key) for key in meant]
    return describe_items(texts)


def _layout_text(layout: TensorLayout) -> str:
    sizes = ", ".join("*" if size is None else str(size) for size in layout.sizes)
    grad = ", requires_grad" if layout.requires_grad else ""
    strides = strides_text(layout.strides)
    return f"{layout.cls.__name__}({layout.dtype}, {layout.device}, [{sizes}]{strides}{grad})"


def _relation_text(guard: Guard) -> str:
    relation: ShapeRelation = guard.payload
    names = ", ".join(f"{symbol} = {source}" for symbol, source in relation.symbols)
    return f"{relation.lhs} {relation.op} {relation.rhs}" + (f"  where {names}" if names else "")


def _modes_text(bits: int) -> str:
    modes, gpu = bits & (1 << 24) - 1, bits >> 24
    return f"mode bits are {modes}" + (f", and cuda:{gpu} is current" if gpu else "")


def _overlap_text(guard: Guard) -> str:
    mutated = ", ".join(map(str, guard.sources[: guard.payload]))
    others = ", ".join(map(str, guard.sources[guard.payload :]))
    return f"no overlap of ({mutated}) with ({others})"


def _members_of(guard: Guard) -> str:
    ordered = type(guard.payload) is tuple
    return f"(*{guard.source},)" if ordered else str(guard.source)


_SENTENCES = {
    GuardKind.TYPE: lambda g: f"type({g.source}) is {describe(_target(g))}",
    GuardKind.IDENTITY: lambda g: f"{g.source} is {describe(_target(g))}",
    GuardKind.EQUALS: lambda g: f"{g.source} == {describe(g.payload)}",
    GuardKind.LENGTH: lambda g: f"len({g.source}) == {g.payload}",
    GuardKind.KEYS: lambda g: f"list({g.source}) == {_keys_text(g.payload)}",
    GuardKind.MEMBERS: lambda g: f"{_members_of(g)} == {describe(g.payload)}",
    GuardKind.MISSING: lambda g: f"{g.source} does not exist",
    GuardKind.PRESENT: lambda g: f"{g.source} exists",
    GuardKind.NOT_NONE: lambda g: f"{g.source} is not None",
    GuardKind.TRUTH: lambda g: f"bool({g.source}) is {g.payload}",
    GuardKind.TENSOR: lambda g: f"{g.source} is {_layout_text(g.payload)}",
    GuardKind.SAME: lambda g: f"{g.sources[0]} is {g.sources[1]}",
    GuardKind.VERSION: lambda g: f"{g.source} has the members that it had",
    GuardKind.DISTINCT: lambda g: f"({', '.join(map(str, g.sources))}) are different objects",
    GuardKind.NO_OVERLAP: _overlap_text,
    GuardKind.GRAD_MODE: lambda g: f"grad mode is {'on' if g.payload else 'off'}",
    GuardKind.MODES: lambda g: _modes_text(g.payload),
    GuardKind.RELATION: _relation_text,
}


def _plain_failure(guard: Guard, values: Sequence[Any]) -> GuardFailure:
    source = str(guard.source) if guard.sources else "interpreter state"
    actual = ", ".join(describe(value) for value in values) or "something else"
    return GuardFailure(guard, source, guard.sentence(), actual)


def _value_failure(guard: Guard, values: Sequence[Any]) -> GuardFailure:
    target = _target(guard) if guard.kind is GuardKind.IDENTITY else guard.payload
    return GuardFailure(guard, str(guard.source), describe(target), describe(values[0]))


def _members_failure(guard: Guard, values: Sequence[Any]) -> GuardFailure:
    if type(guard.payload) is not tuple or not isinstance(values[0], (set, frozenset)):
        return _value_failure(guard, values)
    kind: Any = set if isinstance(values[0], set) else frozenset
    found = tuple(kind.__iter__(values[0]))
    return GuardFailure(guard, _members_of(guard), describe(guard.payload), describe(found))


def _type_failure(guard: Guard, values: Sequence[Any]) -> GuardFailure:
    missing = values[0] is _eval_frame.MISSING
    actual = describe(values[0] if missing else type(values[0]))
    return GuardFailure(guard, f"type({guard.source})", describe(_target(guard)), actual)


def _version_failure(guard: Guard, values: Sequence[Any]) -> GuardFailure:
    return GuardFailure(guard, str(guard.source), "the members that it had", "others")


_BUILTIN = ("builtins", "collections")


def _length_failure(guard: Guard, values: Sequence[Any]) -> GuardFailure:
    value = values[0]
    kind = type(value)
    counted = class_module(kind) in _BUILTIN and hasattr(kind, "__len__")
    actual = str(len(value)) if counted else describe(value)
    return GuardFailure(guard, f"len({guard.source})", str(guard.payload), actual)


def _keys_failure(guard: Guard, values: Sequence[Any]) -> GuardFailure:
    value = values[0]
    is_dict = issubclass(type(value), dict)
    actual = describe(list(dict.keys(value))) if is_dict else describe(value)
    return GuardFailure(guard, f"list({guard.source})", _keys_text(guard.payload), actual)


def _tensor_failure(guard: Guard, values: Sequence[Any]) -> GuardFailure:
    layout: TensorLayout = guard.payload
    value, source = values[0], str(guard.source)
    if type(values[0]) is not layout.cls:
        return _type_failure(Guard(guard.kind, guard.sources, _Strong(layout.cls)), values)
    for attr in ("dtype", "device", "requires_grad"):
        wanted, found = getattr(layout, attr), getattr(value, attr)
        if wanted != found:
            return GuardFailure(guard, f"{source}.{attr}", str(wanted), str(found))
    shape = tuple(value.shape)
    if len(shape) != len(layout.sizes):
        return GuardFailure(guard, f"{source}.ndim", str(len(layout.sizes)), str(len(shape)))
    for dim, (wanted, found) in enumerate(zip(layout.sizes, shape, strict=True)):
        if wanted is None and found < layout.min_size:
            text = f"at least {layout.min_size}"
            return GuardFailure(guard, f"{source}.shape[{dim}]", text, str(found))
        if wanted is not None and wanted != found:
            return GuardFailure(guard, f"{source}.shape[{dim}]", str(wanted), str(found))
    strides = strides_text(layout.strides).removeprefix(", ")
    return GuardFailure(guard, f"{source}.stride()", strides, str(tuple(value.stride())))


_FAILURES = {
    GuardKind.TYPE: _type_failure,
    GuardKind.IDENTITY: _value_failure,
    GuardKind.EQUALS: _value_failure,
    GuardKind.MEMBERS: _members_failure,
    GuardKind.TRUTH: _value_failure,
    GuardKind.LENGTH: _length_failure,
    GuardKind.KEYS: _keys_failure,
    GuardKind.TENSOR: _tensor_failure,
    GuardKind.VERSION: _version_failure,
}
