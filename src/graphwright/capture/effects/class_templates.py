"""Classes made while translating, in place of those that a frame makes with `class` statements.

Such a template lives as long as its translation: what it holds is looked up as in any class, but
neither code nor guards may name it. A guard on what its class statement defines is none; one on
what it inherits is a guard on its first base that existed before.
"""

from __future__ import annotations

import weakref
from typing import NoReturn

from graphwright.capture import _eval_frame
from graphwright.capture.exc import Unsupported
from graphwright.capture.guards.source import (
    TEMPLATES,
    ClassSource,
    ConstSource,
    DerivedSource,
    ForeignGlobalSource,
    LoadWriter,
    MroSource,
    Reloader,
    Source,
)
from graphwright.capture.trackers.values.namespaces import may_change, mro_of, namespace_of
from graphwright.runtime.record import replace


class TemplateSource(ClassSource, eq=False):
    """A class that the frame makes at a step; nothing can read it after the graph."""

    step: int = 0

    def emit(self, cg: Reloader) -> None:
        refuse(self)

    def loads(self, program: LoadWriter) -> int:
        raise NotImplementedError("guards look at what existed before")


def register(template: type, step: int) -> TemplateSource:
    """Note a class that stands for one that the frame makes; its bases do not list it."""
    _eval_frame.unlist_subclass(template)
    source = TemplateSource(weakref.ref(template), template.__qualname__, step)
    TEMPLATES[template] = source
    return source


def refuse(source: TemplateSource) -> NoReturn:
    """A break before the class statement, where the class is needed after the graph."""
    reason = Unsupported("GB0015", f"class {source.name()}, made in the frame, is needed after")
    reason.blame(source.step)
    raise reason


def refuse_template(value: object) -> None:
    """The same, if a constant of the code is such a class, or holds a member of one."""
    if not TEMPLATES:
        return
    if type(value) in (tuple, frozenset):
        for item in value:  # type: ignore[attr-defined]
            refuse_template(item)
    source = TEMPLATES.get(value if isinstance(value, type) else type(value))
    if isinstance(source, TemplateSource):
        refuse(source)


def is_of_template(value: object) -> bool:
    """Whether a constant is a member of an enumeration that the frame makes."""
    return type(value) in TEMPLATES


def settled(sources: tuple[Source, ...]) -> tuple[Source, ...] | None:
    """The sources of a guard without templates; None if there is nothing to guard."""
    if not TEMPLATES:
        return sources
    found = [_settled(source) for source in sources]
    known = tuple([source for source in found if source is not None])
    return known if len(known) == len(sources) else None


def _settled(source: Source) -> Source | None:
    root = source.root
    if isinstance(root, ConstSource) and is_of_template(root.value):
        return None
    if not isinstance(root, TemplateSource):
        return source
    if isinstance(source, MroSource) and isinstance(source.base, TemplateSource):
        return _inherited(source, source.base)
    if isinstance(source, ForeignGlobalSource):
        function = _settled(source.function)
        return replace(source, function=function) if function is not None else None
    base = _settled(source.base) if isinstance(source, DerivedSource) else None
    return replace(source, base=base) if base is not None else None


def _inherited(source: MroSource, owner: TemplateSource) -> Source | None:
    """The attribute of the first base that may change, unless one before it defines it."""
    template = owner.value()  # type: ignore[operator]
    mro = mro_of(template)
    first = next((cls for cls in mro if _changes(cls)), None)
    if first is None:
        return None
    start = mro.index(source.after) + 1 if source.after is not None else 0
    for cls in mro[start:]:
        if _changes(cls):
            break
        if source.attr in namespace_of(cls):
            return None
    after = source.after if source.after is not None and _changes(source.after) else None
    return MroSource(ClassSource.of(first), source.attr, after)


def _changes(cls: type) -> bool:
    """Whether a guard has to look at the class."""
    return cls not in TEMPLATES and may_change(cls)
