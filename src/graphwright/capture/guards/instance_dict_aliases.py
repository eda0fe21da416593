"""An object and its `__dict__` that a frame is given apart: one is another name of the other.

The frame may hold both where a graph was broken between `table = thing.__dict__` and a change of
the table. Each has a tracker of its own, so the graph is broken before either is changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphwright.capture.exc import Unsupported
from graphwright.capture.trackers.containers.mappings import DictVariable
from graphwright.capture.trackers.values.namespaces import dictoffset_of, instance_dict
from graphwright.capture.trackers.values.objects import ObjectVariable

if TYPE_CHECKING:
    from graphwright.capture.trackers.base import VariableTracker
    from graphwright.capture.vm.translator import Translator


def check_instance_dicts(tx: Translator) -> None:
    """A break before the first change of an object or of its `__dict__`, if both were met."""
    effects = tx.side_effects
    changed: dict[VariableTracker | None, int] = {}
    for (owner, _), step in effects.stored.items():
        changed[owner] = min(step, changed.get(owner, step))
    for container, step in effects.mutated.items():
        changed[container] = step
    if not changed:
        return
    met = [tracker for tracker in tx.output.met() if tracker.source is not None]
    if not any(isinstance(tracker, DictVariable) for tracker in met):
        return
    for thing in met:
        if isinstance(thing, ObjectVariable) and dictoffset_of(type(thing.value)):
            table = tx.output.tracked(instance_dict(thing.value))
            steps = [changed[part] for part in (thing, table) if part in changed]
            if table is not None and steps:
                reason = Unsupported("GB0010", f"the __dict__ of {thing.describe()}, as a dict")
                reason.blame(min(steps))
                raise reason
