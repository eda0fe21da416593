"""Branches on tensors of which one side only raises: `assert (x > 0).all()`.

Before::

    def f(x):
        if x.isnan().any():
            raise ValueError("not a number")
        return x * 2

After::

    def forward(self, x):
        isnan = x.isnan()
        any = isnan.any()
        mul = x * 2
        ne = any.ne(0)
        return (mul, ne)          # and the caller confirms that `ne` is False

The graph goes on along the side that does not raise, and gives the condition as a further result.
Where a call finds it otherwise, what the graph wrote is undone and the frame runs as plain Python,
which raises the error at its place, or handles it. Where that happens again, the next version has
a break at the branch.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture import _eval_frame
from graphwright.capture.frame.per_code import per_code
from graphwright.capture.frame.state import FrameState
from graphwright.capture.guards.source import ConstSource, ItemSource
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.tensors.tensor_item import NumberRead, read_truth
from graphwright.capture.vm.bytecode import decode, handler_of
from graphwright.runtime.record import Record

if TYPE_CHECKING:
    from graphwright.capture.vm.bytecode import Instruction
    from graphwright.capture.vm.translator import Translator
    from graphwright.ir.graph.node import Node

_LEAVING = ("RETURN_", "YIELD_", "SEND", "INSTRUMENTED_")


class Assumption(Record):
    """What a graph takes for granted: a bool that is read from its results, and its truth."""

    read: NumberRead
    nodes: tuple[Node, ...]
    truth: bool


class Refuted(Exception):
    """A call of a graph found otherwise what the graph takes for granted."""


def assumed_jump(tx: Translator, inst: Instruction, value: VariableTracker) -> bool | None:
    """Whether a jump on the truth of a tensor is taken, as its other side only raises.

    None where that is not so: the value itself decides, or the graph ends. It ends, too, where
    calls have found such branches otherwise.
    """
    trust = tx.output.state.trust
    if not isinstance(value, (TensorVariable, NumberRead)) or not trust["holds"]:
        return None
    sides = [_only_raises(tx.code, inst.index + 1), _only_raises(tx.code, inst.target)]
    read = read_truth(tx, value) if sum(sides) == 1 else None
    if read is None:
        return None
    read = read.settled(tx)
    jumps = sides[0]
    truth = jumps is inst.opname.endswith("IF_TRUE")
    tx.output.assumptions.append(Assumption(read, tuple(read.nodes()), truth))
    tx.guards.equals(ItemSource(ConstSource(trust, "branches that raise"), "holds"), True)
    return jumps


@per_code
def _raising(code: types.CodeType) -> dict[int, bool]:
    """What is known of the instructions of `code`."""
    return {}


def _only_raises(code: types.CodeType, index: int) -> bool:
    """Whether all that follows an instruction, up to an exception, is straight or forks."""
    known = _raising(code)
    if index not in known:
        known[index] = _find_only_raises(code, index)
    return known[index]


_LONGEST = 400
_RAISE = ("RAISE_VARARGS", "RERAISE")


def _find_only_raises(code: types.CodeType, index: int) -> bool:
    instructions = decode(code)
    seen: set[int] = set()
    pending = [index]
    while pending:
        at = pending.pop()
        if at in seen:
            continue
        seen.add(at)
        inst = instructions[at]
        if inst.opname in _RAISE:
            if _is_caught(code, inst):
                return False
            continue
        backwards = 0 <= inst.target <= at
        if backwards or len(seen) > _LONGEST or inst.opname.startswith(_LEAVING):
            return False
        if inst.target >= 0:
            pending.append(inst.target)
        if inst.opname != "JUMP_FORWARD":
            pending.append(at + 1)
    return True


def _is_caught(code: types.CodeType, inst: Instruction) -> bool:
    """Whether a `try` block of the same function catches what the branch raises: then neither side
    of the branch is exceptional."""
    handler = handler_of(code, inst)
    if handler is None:
        return False
    return decode(code)[handler.target + 1].opname != "WITH_EXCEPT_START"


def assumed_nodes(assumptions: list[Assumption]) -> list[Node]:
    """The further results that confirming takes."""
    return list(dict.fromkeys(node for assumed in assumptions for node in assumed.nodes))


def confirming(
    run: Callable[..., Any],
    assumptions: list[Assumption],
    first: int,
    refuted: Callable[[], None],
) -> Callable[..., Any]:
    """The graph's callable, which raises `Refuted` where a result is not as assumed.

    first: where the results of `assumed_nodes` begin. refuted: what to call then.
    """
    nodes = assumed_nodes(assumptions)
    expected = [(assumed.read.value, assumed.truth) for assumed in assumptions]

    def confirmed(*args: Any) -> Any:
        results = run(*args)
        found = dict(zip(nodes, results[first:], strict=False))
        for value, truth in expected:
            if value(found) is not truth:
                refuted()
                raise Refuted
        return results

    _eval_frame.skip_code(confirmed.__code__)
    _eval_frame.skip_code(FrameState.note_refutation.__code__)
    return confirmed
