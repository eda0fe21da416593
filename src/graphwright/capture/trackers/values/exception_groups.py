"""Exception groups split by type, as `except*` does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.containers.sequences import ListVariable
from graphwright.capture.trackers.values.exceptions import ExceptionVariable

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Match = Callable[[ExceptionVariable], bool]


def split_group(
    tx: Translator, group: ExceptionVariable, match: Match
) -> tuple[ExceptionVariable | None, ExceptionVariable | None]:
    """The matching and the remaining part of a group, each None if empty."""
    if match(group):
        return group, None
    if not issubclass(group.cls, BaseExceptionGroup):
        return None, group
    if group.cls not in (ExceptionGroup, BaseExceptionGroup) or group.args is None:
        unsupported("GB0008", f"except* of {group.describe()}")
    inside, outside = [], []
    for part in group.args[1].realize().unpack(tx):
        if not isinstance(part, ExceptionVariable):
            unsupported("GB0008", f"except* of a group with {part.describe()}")
        yes, no = split_group(tx, part, match)
        inside += [yes] if yes is not None else []
        outside += [no] if no is not None else []
    return _derived(tx, group, inside), _derived(tx, group, outside)


def _derived(
    tx: Translator, group: ExceptionVariable, parts: list[ExceptionVariable]
) -> ExceptionVariable | None:
    """A group of some parts, as `split()` derives it: cause and context are copied."""
    if not parts:
        return None
    if "__notes__" in group.attributes:
        unsupported("GB0008", f"except* of {group.describe()} with notes")
    assert group.args is not None
    made = ExceptionVariable(group.cls, [group.args[0], ListVariable(list(parts))])
    made.raised = True
    for name in ("__cause__", "__context__"):
        if name in group.attributes:
            made.attributes[name] = group.attributes[name]
    made.attributes["__suppress_context__"] = tx.constant(True)
    return made
