"""The history of a graph's tensors: leaves that the frame made, and passes made in the frame.

A tensor whose history was passed already leaves the frame with one that refuses another pass.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from graphwright.autograd.grad_mode import INFERENCE
from graphwright.capture import _eval_frame
from graphwright.capture.exc import Unsupported, unsupported
from graphwright.capture.guards.source import AttrSource
from graphwright.capture.trackers.base import Clock
from graphwright.ir.graph.node import Node as IrNode
from graphwright.ir.joint.eager_tape import saved_by
from graphwright.runtime import _core
from graphwright.runtime.batching import boundary
from graphwright.runtime.fake.fake_tensor import FakeTensor
from graphwright.runtime.record import Record
from graphwright.runtime.tape.inplace import CopySlices
from graphwright.runtime.tape.node import Node, OpNode, gradient_edge
from graphwright.runtime.tape.partial import leaves_reached
from graphwright.runtime.tape.saved import FREED
from graphwright.runtime.tensor.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.capture.guards.source import Source
    from graphwright.capture.trackers.tensors.gradient_hooks import Hook
    from graphwright.capture.trackers.tensors.tensor import TensorVariable
    from graphwright.capture.vm.output_graph import OutputGraph


class SpentNode(Node):
    """Where the history of a tensor was freed."""

    __slots__ = ()

    def compute(self, grads: Sequence[Any]) -> NoReturn:
        raise RuntimeError(FREED)


class EarlierNode(Node):
    """The history that a tensor has before the frame: where the tape of the graph begins."""

    __slots__ = ("fake",)

    def __init__(self, fake: FakeTensor) -> None:
        super().__init__("EarlierBackward", ())
        self.fake = fake
        self.attach(fake)

    def compute(self, grads: Sequence[Any]) -> NoReturn:
        raise RuntimeError("a gradient that the graph hands on outside of the frame")


def with_spent_history(tensor: Any, *leaves: Any) -> Any:
    """The tensor, as `backward` left it: passes to these leaves come upon freed memory."""
    return SpentNode("SpentBackward", [gradient_edge(leaf) for leaf in leaves]).attach(tensor)


_eval_frame.skip_code(with_spent_history.__code__)


def with_spent_leaf(tensor: Any, leaf: Any) -> None:
    """The same for one more leaf, made after the tensor."""
    edges = [*tensor.grad_fn.edges, gradient_edge(leaf)]
    SpentNode("SpentBackward", edges).attach(tensor)


_eval_frame.skip_code(with_spent_leaf.__code__)


def apart(tensor: Any) -> Any:
    """The memory of a tensor as `.data` gives it: with a version of its own."""
    return as_leaf(tensor, Tensor, False, True)


_eval_frame.skip_code(apart.__code__)


def as_leaf(tensor: Any, cls: type, requires_grad: bool, is_apart: bool) -> Any:
    """A graph's output as the leaf (a Parameter, for example) that the frame made of it.

    It is an inference tensor if the output is one, whatever the mode is after the graph.
    """
    modes = _core.modes()
    _core.set_modes(modes | INFERENCE if tensor.is_inference() else modes & ~INFERENCE)
    try:
        leaf: Any = (_core.unversioned if is_apart else _core.detach)(cls, tensor)
        leaf.requires_grad = requires_grad
        return leaf
    finally:
        _core.set_modes(modes)


_eval_frame.skip_code(as_leaf.__code__)


class Departure(Record):
    """How a tensor leaves the graph: the node that gives it, and what the frame makes of it.

    finish: a function of what the node gives, of `args` and of the objects that `given` stand for;
        None where that is the tensor itself.
    leaves: those that the frame made and that a spent history leads to; given, too, if they leave.
    single: whether the function makes another object each time.
    """

    node: IrNode
    finish: Callable[..., Any] | None = None
    args: tuple[Any, ...] = ()
    given: tuple[TensorVariable, ...] = ()
    leaves: tuple[TensorVariable, ...] = ()
    single: bool = False


def is_spent(fake: FakeTensor, mode: Any) -> bool:
    """Whether another pass from a fake tensor comes upon freed memory."""
    previous = _core.set_tracer(mode)
    try:
        leaves_reached([fake], [fake.detach()])
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
        elif isinstance(edge[0], EarlierNode):
            leaves[id(edge[0].fake)] = edge[0].fake
        else:
            stack.extend(edge[0].edges)
    return leaves


def leads_to(root: Any, wanted: Node) -> bool:
    """Whether a node is in the history of a tensor."""
    seen: set[Any] = set()
    stack = [gradient_edge(root)]
    while stack:
        edge = stack.pop()
        if edge is None or edge[0] in seen or not isinstance(edge[0], Node):
            continue
        if edge[0] is wanted:
            return True
        seen.add(edge[0])
        stack.extend(edge[0].edges)
    return False


def meets(root: Any, wanted: Node) -> bool:
    """Whether a pass from a tensor gets to a node before it comes upon freed memory."""
    edge = gradient_edge(root)
    pending = {edge[0]} if edge is not None else set()
    while pending:
        node = max(pending, key=lambda node: node.sequence)
        if node is wanted:
            return True
        inner = node.inner if isinstance(node, CopySlices) else node
        if isinstance(inner, SpentNode) or (isinstance(inner, OpNode) and inner.args is None):
            return False
        pending.remove(node)
        pending |= {edge[0] for edge in node.edges
                    if edge is not None and isinstance(edge[0], Node)}
    return False


def is_forbidden(fake: FakeTensor) -> bool:
    """Whether it is a view with an invalid history, such as one written under no_grad."""
    try:
        gradient_edge(fake)
    except RuntimeError:
        return True
    return False


class Tape:
    """What the tape of one graph's fake tensors was used for.

    differentiated: whether gradients were computed in the frame. gradients_read: whether it asked
    for a `.grad` from before. forgotten: arguments whose `.grad` it dropped before anything ran.
    """

    def __init__(self, output: OutputGraph) -> None:
        self.output = output
        self.differentiated = self.gradients_read = False
        self.forgotten: dict[Source, None] = {}
        self.made_leaves: dict[int, tuple[FakeTensor, int]] = {}
        self.hooks: list[Hook] = []
        self._leaving: dict[IrNode, Departure] = {}
        self._leaves_out: dict[int, int] = {}
        self._histories: set[int] = set()
        self._released: set[Node] = set()

    def note_leaf(self, fake: FakeTensor) -> None:
        """Remember a tensor that the frame made and that requires gradients."""
        self.made_leaves.setdefault(id(fake), (fake, Clock.step))

    def leaving(self, value: TensorVariable) -> Departure:
        """How a tensor leaves the graph for the frame."""
        self.output.data.check_leaves(value)
        self.output.recording.check_leaves(value)
        if boundary.is_example(value.fake):
            reason = Unsupported("GB0008", "an example that vmap made leaves it")
            reason.blame(value.born)
            raise reason
        for hook in self.hooks:
            if hook.function is None and hook.owner is value:
                hook.refuse("which leaves the frame with its gradient")
        known = self._leaving.get(value.node)
        if known is None:
            known = self._leaving[value.node] = self._departure(value)
        return known

    def _departure(self, value: TensorVariable) -> Departure:
        for leaf, step in self.made_leaves.values():
            if not leaf.is_leaf:
                reason = Unsupported("GB0023", "a leaf that the frame made was frozen, and then "
                                     "got a history")
                reason.blame(step)
                raise reason
        used = self.differentiated or self.made_leaves or self.hooks
        if value.fake.requires_grad and used and is_forbidden(value.fake):
            self._note_history(self.made_leaves)
            return Departure(value.node)
        made = value.cls is not Tensor or self.is_made_leaf(value.fake)
        if value.source is None and made and value.fake.is_leaf:
            return self._made_leaf(value)
        alone = value.source is None and not value.fake.requires_grad
        if alone and self.output.data.is_apart(value):
            return Departure(value.node, apart, single=True)
        if not value.fake.requires_grad or not used:
            return Departure(value.node)
        return self._without_spent_history(value)

    def _made_leaf(self, value: TensorVariable) -> Departure:
        """A leaf that the frame made: plain in the graph, and no result may lead to it."""
        for hook in self.hooks:
            if hook.owner is value:
                hook.refuse("which leaves the frame")
        self._leaves_out[id(value.fake)] = self.made_leaves.get(
            id(value.fake), (value.fake, value.born))[1]
        self._note_history(())
        node = self.output.graph.call_method("detach", (value.node,))
        node.meta.update(value.node.meta, val=value.fake.detach())
        kept = value.cls, bool(value.fake.requires_grad), self.output.data.is_apart(value)
        return Departure(node, as_leaf, kept, single=True)

    def _note_history(self, leaves: Collection[int]) -> None:
        """A break where a leaf that the frame made leaves it, and a result that leads to it."""
        self._histories.update(leaves)
        for leaf, step in self._leaves_out.items():
            if leaf in self._histories:
                reason = Unsupported("GB0023", "a leaf that the frame made leaves it, and a "
                                     "result whose gradient it has a part in")
                reason.blame(step)
                raise reason

    def _without_spent_history(self, value: TensorVariable) -> Departure:
        leaves = leaves_of([value.fake])
        alone = not leaves.keys() - self.made_leaves.keys()
        if not is_spent(value.fake, self.output.fake_mode):
            for key, (_, step) in self.made_leaves.items():
                if alone and key in leaves:
                    reason = Unsupported("GB0023", "a result leaves the frame whose gradient only "
                                         "leaves have a part in that the frame made")
                    reason.blame(step)
                    raise reason
            self._note_history(leaves)
            for hook in self.hooks:
                if leads_to(value.fake, hook.edge[0]):
                    hook.refuse("which later gradients would meet")
            return Departure(value.node)
        for hook in self.hooks:
            if meets(value.fake, hook.edge[0]):
                hook.refuse("which later gradients would meet")
        node = self.output.graph.call_method("detach", (value.node,))
        node.meta.update(value.node.meta, val=value.fake.detach())
        owners = [self.output.variable_of(leaf) for leaf in leaves.values() if leaf.is_leaf]
        given = tuple(owner for owner in owners if owner.source is not None)
        made = tuple(owner for owner in owners if owner.source is None)
        return Departure(node, with_spent_history, given=given, leaves=made)

    def keeps_memory(self, roots: Sequence[FakeTensor], storages: Collection[int]) -> bool:
        """Whether gradients of `roots` may read these storages (by their ids) later on."""
        if any(map(is_forbidden, roots)):
            return True
        seen: set[Node] = set()
        released = True
        stack = [gradient_edge(root) for root in roots]
        while stack:
            edge = stack.pop()
            node = edge[0] if edge is not None else None
            if not isinstance(node, Node) or node in seen or node in self._released:
                continue
            seen.add(node)
            stack.extend(node.edges)
            if isinstance(node, (SpentNode, EarlierNode)):
                continue
            inner = node.inner if isinstance(node, CopySlices) else node
            if not isinstance(inner, OpNode):
                return True
            if inner.args is not None:
                released = False
                if any(id(saved.tensor._storage) in storages for saved, _ in saved_by(inner)):
                    return True
        if released:
            self._released |= seen
        return False

    def require_history(self) -> None:
        """A break where Python records nothing of what the graph does."""
        if self.output.without_history:
            unsupported("GB0024", "call of checkpoint(), of a function that looks at gradients")

    def note_earlier(self, written: Sequence[Any]) -> bool:
        """Give tensors from outside the history that they have; whether there were such.

        The tape takes them for leaves, as long as nobody writes to them, or to views of them.
        """
        bases = [value if value._base is None else value._base
                 for value in written if isinstance(value, FakeTensor)]
        owners = [self.output.variable_of(base) for base in bases
                  if base.requires_grad and base.grad_fn is None]
        found = [owner for owner in owners if owner.source is not None and self._continues(owner)]
        for owner in found:
            assert owner.source is not None
            self.output.guards.not_none(AttrSource(owner.source, "grad_fn"))
            EarlierNode(owner.fake)
        return bool(found)

    def _continues(self, owner: TensorVariable) -> bool:
        """Whether an argument is the result of operations, and may be written in place."""
        real = self.output.real_inputs()[owner.node]
        of_leaf = real._base is not None and real._base.is_leaf
        return real.grad_fn is not None and not of_leaf

    def is_made_leaf(self, fake: FakeTensor) -> bool:
        """Whether the frame made it, to differentiate by it."""
        return id(fake) in self.made_leaves
