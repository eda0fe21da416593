"""`with lock:` in a graph: the compiled code runs while the thread holds the lock.

Guards read what the block reads, and its writes come after the graph. So an `Entry` takes the
locks of its frame before it looks at its guards for the last time, and gives them back when its
code has run. It does not wait for a lock that another thread has: that call runs natively. And
nothing else of the program runs meanwhile, which might want the lock: neither after a break nor
in a node of the graph.
"""

from __future__ import annotations

import threading
import types
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.guards.text import is_of_package
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.values.objects import ObjectVariable
from graphwright.ir.graph.node import Node
from graphwright.runtime._core import OpFunction

if TYPE_CHECKING:
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]

PLAIN, REENTRANT = type(threading.Lock()), type(threading.RLock())
KINDS = (PLAIN, REENTRANT)
LOCKS = "locks end the graph"
"""What a translation learns whose code cannot run under the locks that it takes."""


def take(tx: Translator, lock: VariableTracker) -> VariableTracker:
    """The bound `__exit__` of a lock that a `with` block takes."""
    lock = lock.realize()
    if LOCKS in tx.output.state.lessons or not isinstance(lock, ObjectVariable):
        unsupported("GB0004", "a lock: until it is taken other threads may change what is read")
    if lock.source is None:
        unsupported("GB0004", "a lock that the frame has made")
    taken, inside = tx.side_effects.locks, tx.side_effects.inside
    if lock.value in inside and lock.python_type() is PLAIN:
        unsupported("GB0004", "a lock that the frame has and would wait for")
    tx.guards.id_match(lock.source, lock.value)
    taken[id(lock.value)] = lock.value
    inside.append(lock.value)
    return _Leave(lock.value)


class _Leave(VariableTracker):
    """The `__exit__` of a lock, which is given back when the code of the frame has run."""

    def __init__(self, lock: Any) -> None:
        self.lock = lock

    def describe(self) -> str:
        return "__exit__ of a lock"

    def python_type(self) -> type:
        return types.BuiltinMethodType

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        tx.side_effects.inside.remove(self.lock)
        return tx.constant(None)


def may_be_held(output: OutputGraph) -> bool:
    """Whether nothing of the program runs in the graph or after it."""
    return not output.side_effects.calls and all(map(_is_plain, output.graph.nodes))


def _is_plain(node: Node) -> bool:
    """Whether a node runs no code of the program."""
    if node.op != "call_function":
        return node.op in ("placeholder", "call_method", "output")
    target: Any = node.target
    if type(target) is types.FunctionType:
        return is_of_package(target.__module__)
    return type(target) in (types.BuiltinFunctionType, OpFunction)
