"""The history of a graph's tensors: leaves that the frame made, and passes made in the frame.

A tensor whose history was passed already leaves the frame with one that refuses another pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from graphwright.capture import _eval_frame
from graphwright.capture.exc import Unsupported
from graphwright.capture.variables.base import Clock
from graphwright.ir.node import Node as IrNode
from graphwright.runtime import _core
from graphwright.runtime.autograd import engine
from graphwright.runtime.autograd.node import Node, gradient_edge
from graphwright.runtime.autograd.saved import FREED
from graphwright.runtime.batching import boundary
from graphwright.runtime.fake import FakeTensor
from graphwright.runtime.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.capture.output_graph import OutputGraph
    from graphwright.capture.variables.tensor import TensorVariable


class SpentNode(Node):
    """Where the history of a tensor was freed."""

    __slots__ = ()

    def compute(self, grads: Sequence[Any]) -> NoReturn:
        raise RuntimeError(FREED)


def with_spent_history(tensor: Any) -> Any:
    """The tensor, as `backward` left it."""
    return SpentNode("SpentBackward", ()).attach(tensor)


_eval_frame.skip_code(with_spent_history.__code__)


def is_spent(fake: FakeTensor, leaves: Sequence[FakeTensor], mode: Any) -> bool:
    """Whether another pass from a fake tensor to these leaves comes upon freed memory."""
    previous = _core.set_tracer(mode)
    try:
        seed = fake.detach()
        engine.grad(fake, leaves, seed, retain_graph=True, allow_unused=True)
    except RuntimeError as error:
        return str(error) == FREED
    finally:
        _core.set_tracer(previous)
    return False


def leaves_of(roots: Sequence[Any]) -> dict[int, FakeTensor]:
    """The leaves that the history of fake tensors leads to, by their ids."""
    leaves: dict[int, FakeTensor] = {}
    seen: set[int] = set()
    stack = [gradient_edge(root) for root in roots]
    while stack:
        edge = stack.pop()
        if edge is None or id(edge[0]) in seen:
            continue
        seen.add(id(edge[0]))
        if isinstance(edge[0], _core.TensorBase):
            leaves[id(edge[0])] = edge[0]  # type: ignore[assignment]
        else:
            stack.extend(edge[0].edges)
    return leaves


def _is_forbidden(fake: FakeTensor) -> bool:
    """Whether it is a view that may not be differentiated any more: reading its history fails."""
    try:
        gradient_edge(fake)
    except RuntimeError:
        return True
    return False


class Tape:
    """What the tape of one graph's fake tensors was used for.

    differentiated: whether gradients were computed in the frame.
    """

    def __init__(self, output: OutputGraph) -> None:
        self.output = output
        self.differentiated = False
        self.made_leaves: dict[int, tuple[FakeTensor, int]] = {}
        self._leaving: dict[IrNode, tuple[IrNode, bool]] = {}

    def note_leaf(self, fake: FakeTensor) -> None:
        """Remember a tensor that the frame made and that requires gradients."""
        self.made_leaves.setdefault(id(fake), (fake, Clock.step))

    def leaving(self, value: TensorVariable) -> tuple[IrNode, bool]:
        """The node that gives a tensor to the frame, and whether its history is spent."""
        if value.cls is not Tensor and value.source is None:
            reason = Unsupported("GB0004", f"a {value.cls.__name__} that the frame made leaves it")
            reason.blame(value.born)
            raise reason
        if boundary.is_example(value.fake):
            reason = Unsupported("GB0008", "an example that vmap made leaves it")
            reason.blame(value.born)
            raise reason
        if not value.fake.requires_grad or not (self.differentiated or self.made_leaves):
            return value.node, False
        if _is_forbidden(value.fake):
            return value.node, False
        known = self._leaving.get(value.node)
        if known is None:
            known = self._leaving[value.node] = self._without_spent_history(value)
        return known

    def _without_spent_history(self, value: TensorVariable) -> tuple[IrNode, bool]:
        leaves = leaves_of([value.fake])
        alone = not leaves.keys() - self.made_leaves.keys()
        for fake, step in self.made_leaves.values():
            if fake is value.fake or (alone and id(fake) in leaves):
                reason = Unsupported("GB0004", "a leaf that the frame made leaves it")
                reason.blame(step)
                raise reason
        if not is_spent(value.fake, list(leaves.values()), self.output.fake_mode):
            return value.node, False
        node = self.output.graph.call_method("detach", (value.node,))
        node.meta.update(value.node.meta, val=value.fake.detach())
        return node, True

    def is_made_leaf(self, fake: FakeTensor) -> bool:
        """Whether the frame made it, to differentiate by it."""
        return id(fake) in self.made_leaves
