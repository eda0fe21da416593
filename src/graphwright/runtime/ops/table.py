"""The op table: one entry per op, data only. Every interpretation reads the same entry.

`define(schema, kind, ...)` fills an entry. Rules are written over the namespace `ops` (the module
`functions`), so that op families never import one another.

An entry that nobody has used is a name: the family that defines it is imported, and its kernel
attached, when one of its fields is first read (`Op.__getattr__`). A family's entries are filled
when all of the family has been imported (`publish`): an import that fails or is interrupted
changes nothing, and the next use imports the family anew.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import Enum
from importlib import import_module
from inspect import cleandoc
from types import ModuleType
from typing import Any

from graphwright.runtime._core import OpBase, grad_enabled
from graphwright.runtime.errors import require_tensor
from graphwright.runtime.locks import held_while_forking
from graphwright.runtime.ops.schema import Schema, parse


class Kind(Enum):
    """What an op does to its inputs; decides the generic parts of its rules."""

    POINTWISE = "pointwise"
    REDUCTION = "reduction"
    VIEW = "view"
    CONTRACTION = "contraction"
    INDEXING = "indexing"
    RANDOM = "random"
    CREATION = "creation"
    COMPOSITE = "composite"
    INPLACE = "inplace"
    OTHER = "other"


class NotDifferentiable:
    """Marks an op whose outputs never carry gradients."""

    def __repr__(self) -> str:
        return "not_differentiable"


not_differentiable = NotDifferentiable()


def no_derivative(name: str) -> Callable[..., Any]:
    """The rule of an op whose outputs require gradients, which nobody has: backward is refused.

    It raises RuntimeError with the op's `name`, as PyTorch does, instead of zeros that look like
    a gradient.
    """

    def vjp(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(f"derivative for {name} is not implemented")

    return vjp


def refuse_gradients(name: str, **constants: Any) -> None:
    """Raise RuntimeError in op `name` for one of its constants that requires a gradient, TypeError
    for one that is neither a tensor nor None."""
    for parameter, tensor in constants.items():
        if tensor is None:
            continue
        require_tensor(name, parameter, tensor)
        if grad_enabled() and tensor.requires_grad:
            raise RuntimeError(
                f"The function '{name}' is not differentiable with respect to argument "
                f"'{parameter}'. This input cannot have requires_grad True."
            )


class Op(OpBase):
    """One op. `call` is its function, `run` what computes it on real CPU tensors.

    meta(*args) gives TensorSpec(s), or a ViewSpec for views. vjp(ctx, *grads) gives one
    gradient per tensor parameter in schema order. decompose(*args) is written with `ops`.
    `rule` is the vjp, or what a composite has instead where its kernel in C runs it: shortcuts.py.
    """

    __slots__ = (
        "call",
        "decompose",
        "differentiable",
        "doc",
        "eager",
        "family",
        "functional",
        "is_flat",
        "is_view",
        "kind",
        "kinds",
        "meta",
        "method",
        "name",
        "names",
        "public",
        "rule",
        "saved_outputs",
        "saved_slots",
        "saves",
        "schema",
        "tags",
        "tensor_slots",
        "vjp",
    )

    family: str
    schema: Schema
    kind: Kind
    meta: Callable[..., Any] | None
    vjp: Callable[..., Any] | NotDifferentiable | None
    rule: Callable[..., Any] | NotDifferentiable | None
    saves: tuple[str, ...]
    decompose: Callable[..., Any] | None
    eager: Callable[..., Any] | None
    functional: Op | None
    doc: str
    tags: frozenset[str]
    method: bool
    differentiable: bool
    is_view: bool
    is_flat: bool
    names: tuple[str, ...]
    tensor_slots: tuple[tuple[int, bool], ...]
    kinds: tuple[tuple[int, ...], ...]
    saved_slots: dict[int, int | None]
    saved_outputs: tuple[tuple[int, int | None], ...]

    def __init__(self, name: str) -> None:
        self.name = name
        self.call: Callable[..., Any] | None = None

    def __getattr__(self, attribute: str) -> Any:
        """A field that is read before it is set: see the module's docstring."""
        if attribute not in FIELDS:
            raise AttributeError(f"an op has no attribute '{attribute}'")
        import_module("graphwright.runtime.ops.families").complete(self, attribute)
        return object.__getattribute__(self, attribute)

    def undefined(self, *args: Any) -> Any:
        """The kernel of an entry that has none."""
        raise NotImplementedError(f"op '{self.name}' is not defined")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.call is None:
            raise NotImplementedError(
                f"op '{self.name}' is not listed in op_names.py: run tools/op_names.py"
            )
        return self.call(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def __reduce__(self) -> tuple[Callable[[str], Op], tuple[str]]:
        return op, (self.name,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Op:
        return self


FIELDS = frozenset({*Op.__slots__, "is_inplace", "run"})
TABLE: dict[str, Op] = {}
UNLISTED = "unlisted"
"""The family of ops that are not in the table."""
_PACKAGE = __name__.rpartition(".")[0] + "."
_PENDING = "_pending"
"""The global of a family that has what fills its entries, by name, until they are published."""
_PUBLISHING = held_while_forking()


def op(name: str) -> Op:
    """The entry of that name; an empty one is made where `define` has not run yet."""
    entry = TABLE.get(name)
    if entry is None:
        entry = TABLE[name] = Op(name)
    return entry


def define(
    schema: str,
    kind: Kind,
    *,
    meta: Callable[..., Any] | None = None,
    vjp: Callable[..., Any] | NotDifferentiable | None = None,
    saves: tuple[str, ...] = (),
    decompose: Callable[..., Any] | None = None,
    eager: Callable[..., Any] | None = None,
    functional: str | None = None,
    method: bool = True,
    public: bool = True,
    tags: tuple[str, ...] = (),
    doc: str = "",
) -> Op:
    """Fill the entry that `schema` names: that of a family when it is published, others at once.

    `saves`: parameters, "out" or "out0", "out1".. kept for the vjp; "input?other" keeps
    `input` only where `other` needs a gradient. `method`: Tensor gets it
    as a method. `public=False` (tag "internal"): not exported as `graphwright.<name>`. `doc`: the
    docstring of its function and method, which the tests run the examples of.

    Raises ValueError where another call defines the entry.
    """
    parsed = parse(schema)
    entry = op(parsed.name)
    module = _defining_module()
    family = module["__name__"].removeprefix(_PACKAGE)
    own = family != module["__name__"]
    if is_defined(entry) and not (own and entry.family == family):
        _refuse_second(entry, family)

    def fill() -> None:
        entry.functional = op(functional) if functional is not None else None
        entry.tags = frozenset(tags) | (frozenset() if public else frozenset({"internal"}))
        entry.method, entry.doc = method, cleandoc(doc)
        if eager is not None or entry.functional is None or kind is not Kind.INPLACE:
            entry.eager = eager
        entry.family = family
        _fill(entry, parsed, kind, meta, vjp, saves, decompose)

    if not own:
        fill()
        return entry
    pending = module.setdefault(_PENDING, {})
    if entry.name in pending:
        raise ValueError(f"op '{entry.name}' is defined twice in {family}")
    pending[entry.name] = fill
    return entry


def _refuse_second(entry: Op, family: str) -> None:
    raise ValueError(f"op '{entry.name}' is defined in {entry.family} and in {family}")


def publish(module: ModuleType) -> None:
    """Fill the entries that a family defines, all of which has been imported.

    What an interrupt leaves unfilled is filled by the next call.
    """
    family = module.__name__.removeprefix(_PACKAGE)
    with _PUBLISHING:
        for name, fill in vars(module).get(_PENDING, {}).items():
            if not is_defined(TABLE[name]):
                fill()
            elif TABLE[name].family != family:
                _refuse_second(TABLE[name], family)
        vars(module).pop(_PENDING, None)


def defines_ops(module: ModuleType) -> bool:
    """Whether a module that has been imported defines ops, which may not be published yet."""
    return _PENDING in vars(module)


def unlisted(
    schema: str,
    *,
    meta: Callable[..., Any],
    vjp: Callable[..., Any],
    saves: tuple[str, ...],
    decompose: Callable[..., Any] | None,
    call: Callable[..., Any],
    eager: Callable[..., Any] | None = None,
    family: str = UNLISTED,
    cls: type[Op] = Op,
) -> Any:
    """An op that is not in the table: it lives as long as the graphs it is in."""
    parsed = parse(schema)
    entry = cls(parsed.name)
    entry.functional = None
    entry.eager = eager
    if eager is not None:
        entry.run = eager
    entry.tags = frozenset({"internal"})
    entry.method, entry.doc = False, ""
    entry.family = family
    entry.call = call
    _fill(entry, parsed, Kind.OTHER, meta, vjp, saves, decompose)
    return entry


def _fill(
    entry: Op,
    parsed: Schema,
    kind: Kind,
    meta: Callable[..., Any] | None,
    vjp: Callable[..., Any] | NotDifferentiable | None,
    saves: tuple[str, ...],
    decompose: Callable[..., Any] | None,
) -> None:
    """Set the fields that follow from the schema and the rules."""
    entry.kind, entry.meta, entry.vjp = kind, meta, vjp
    entry.decompose = decompose
    set_rule(entry, parsed.names, vjp, saves)
    entry.differentiable = callable(vjp) or (
        entry.functional is not None and vjp is not not_differentiable
    )
    entry.is_view = kind is Kind.VIEW
    entry.is_inplace = kind is Kind.INPLACE
    entry.names = parsed.names
    entry.tensor_slots = tuple(
        [
            (i, p.is_tensor_list)
            for i, p in enumerate(parsed.params)
            if p.is_tensor or p.is_tensor_list
        ]
    )
    entry.kinds = parsed.kinds()
    entry.is_flat = not any([is_list for _, is_list in entry.tensor_slots])
    entry.schema = parsed       # last: an entry that has it is complete


def set_rule(entry: Op, names: tuple[str, ...], rule: Any, saves: tuple[str, ...]) -> None:
    """What a node of the op computes gradients by, and what it keeps: see `define`."""
    entry.rule, entry.saves = rule, saves
    kept = [save.partition("?") for save in saves]
    conditions = [(save, names.index(need) if need else None) for save, _, need in kept]
    entry.saved_slots = {names.index(s): need for s, need in conditions if s in names}
    entry.saved_outputs = tuple(
        [(int(s[3:] or 0), need) for s, need in conditions if s not in names]
    )


def is_defined(entry: Op) -> bool:
    """Whether `define` has filled the entry."""
    try:
        object.__getattribute__(entry, "schema")
    except AttributeError:
        return False
    return True


def _defining_module() -> dict[str, Any]:
    """The globals of the module that is being imported and defines an op, perhaps through a
    helper's function."""
    frame = sys._getframe(2)
    while frame.f_code.co_name != "<module>" and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_globals
