"""Nodes of the tape, and how dispatch records one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakSet, ref

from graphwright.runtime import _core
from graphwright.runtime._core import TensorBase
from graphwright.runtime.dispatch import FAKE, HOOKS, MODES, below_autograd
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.native.composite_gradients import NAMES
from graphwright.runtime.ops.pointwise.complex_gradients import HOLOMORPHIC
from graphwright.runtime.ops.strides import same_shape
from graphwright.runtime.ops.table import Kind, Op, not_differentiable
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tape.anomaly import STATE, note
from graphwright.runtime.tape.saved import (
    ACTIVE,
    FREED,
    LEADING_TO,
    SavedTensor,
    alias_of,
    metadata,
)

Edge = tuple[Any, int] | None

next_sequence = _core.next_sequence

PYTORCHS_NAMES = {
    "batch_norm_train": "NativeBatchNorm",
    "cholesky_factor": "LinalgCholeskyEx",
    "conjugated": "ConjPhysical",
    "contiguous": "Clone",
    "cross": "LinalgCross",
    "deviation": "Std",
    "embedding_bag_parts": "EmbeddingBag",
    "fliplr": "Flip",
    "gated": "Glu",
    "linalg_inv": "LinalgInvEx",
    "linear": "Addmm",
    "logsigmoid": "LogSigmoid",
    "matrix_exp": "LinalgMatrixExp",
    "median_value": "Median",
    "p_norm": "LinalgVectorNorm",
    "pair_distances": "Cdist",
    "qr_factors": "LinalgQr",
    "running_max": "Cummax",
    "running_min": "Cummin",
    "scatter_src": "Scatter",
    "scatter_value": "Scatter",
    "select_at": "Select",
    "sign_and_log_det": "LinalgSlogdet",
    "singular_factors": "LinalgSvd",
    "solve_matrix": "LinalgSolveEx",
    "symmetric_eigen": "LinalgEigh",
    "to_dtype": "ToCopy",
    "variance": "Var",
}
"""What PyTorch calls the nodes of ops that have other names here."""

OWN_GRAD = 4  # a bit of `_core.view_origin`


class Node(_core.NodeBase):
    """One recorded step. Edges lead to the nodes (or leaf tensors) that made its inputs.

    `sequence` grows with every node, so that along every edge it falls: the engine needs no
    count of dependencies. Subclasses implement `compute(grads) -> list of input gradients`.
    """

    __slots__ = ("__weakref__", "_metadata", "_name")

    edges: Sequence[Edge]
    sequence: int
    outputs: list[tuple[Any, Any, Any]]
    output_count: int
    hooks: dict[int, Callable[..., Any]] | None
    prehooks: dict[int, Callable[..., Any]] | None
    output_hooks: dict[int, dict[int, Callable[..., Any]]] | None
    checked = False

    def __init__(self, name: str, edges: Sequence[Edge]) -> None:
        self._name = name
        self.edges = edges
        self.sequence = next_sequence()
        if STATE.enabled:
            note(self)

    def name(self) -> str:
        """Such as "MulBackward0"."""
        return self._name

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dict for whatever is to be kept with this node."""
        try:
            return self._metadata
        except AttributeError:
            self._metadata: dict[Any, Any] = {}
            return self._metadata

    def compute(self, grads: list[Any]) -> Sequence[Any]:
        raise NotImplementedError

    def check(self, grads: list[Any], wanted: Sequence[bool], releases: bool) -> None:
        """Called first if `checked`; wanted: for each edge, whether its gradient is
        needed. releases: whether `release` is called after `compute`."""

    def release(self) -> None:
        """Drop what was saved; the engine calls it unless the graph is retained."""

    def place(self, number: int) -> tuple[Any, int]:
        """Where all that arrives at an output comes together."""
        return self, number

    def hook_order(self, count: int) -> Sequence[int]:
        """Its outputs, of which there are so many, in the order in which their hooks run."""
        return range(count)

    def hands_hooks_on(self) -> bool:
        """Whether hooks on its outputs run elsewhere: where all that arrives comes together."""
        return False

    def attach(self, out: Any) -> Any:
        """Make this node the grad_fn of its outputs (a tensor, or a tuple or list of them)."""
        if isinstance(out, TensorBase):
            self.outputs.append((out.shape, out.dtype, out.device))
            out.grad_fn = self
            return out
        for number, tensor in enumerate(out):
            if not isinstance(tensor, TensorBase):
                self.outputs.append(((), None, None))
                continue
            self.outputs.append((tensor.shape, tensor.dtype, tensor.device))
            if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
                tensor.grad_fn, tensor.output_nr = self, number
        return out

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """Pairs (node, output number) as in PyTorch; leaves appear as AccumulateGrad."""
        return tuple(
            (None, 0) if edge is None else (_shown(edge[0]), edge[1]) for edge in self.edges
        )

    def _sequence_nr(self) -> int:
        """A number that grows with every node."""
        return self.sequence

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after this node; it may replace the former."""
        if self.hooks is None:
            self.hooks = {}
        return RemovableHandle(self.hooks, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(grad_outputs)` before this node; it may replace them."""
        if self.prehooks is None:
            self.prehooks = {}
        return RemovableHandle(self.prehooks, hook)

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"


class Leading(Node):
    """An identity: hands gradients on to one edge."""

    __slots__ = ()

    def compute(self, grads: list[Any]) -> Sequence[Any]:
        return grads


def leading_to(tensor: Any, edge: tuple[Any, int]) -> Any:
    """An alias of `tensor` whose gradient goes to `edge`."""
    alias = alias_of(tensor)
    return Leading("AliasBackward0", [edge]).attach(alias)


LEADING_TO.make = leading_to


class AccumulateGrad(Node):
    """Stands for a leaf where nodes are listed; its hooks run as the leaf's gradient arrives."""

    __slots__ = ("variable",)

    def __init__(self, variable: Any) -> None:
        super().__init__("AccumulateGrad", ())
        self.variable = variable

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        HOOKED.add(self)
        return super().register_hook(hook)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        HOOKED.add(self)
        return super().register_prehook(hook)


HOOKED: WeakSet[Any] = WeakSet()
"""What has got hooks of leaves: their AutogradExtra and AccumulateGrad."""


def accumulator(leaf: Any) -> AccumulateGrad:
    """The one AccumulateGrad of a leaf, which knows it weakly: who hooks it keeps it."""
    extra = leaf._autograd_extra()
    node: AccumulateGrad | None = extra.accumulator and extra.accumulator()
    if node is None:
        node = AccumulateGrad(leaf)
        extra.accumulator = ref(node)
    return node


def _shown(target: Any) -> Node:
    """What an edge leads to, as users see it."""
    if not isinstance(target, Node):
        return accumulator(target)
    if target.__class__ is OpNode:
        name_node(target)
    return target


class RemovableHandle:
    """Removes a hook: `handle.remove()`, or as a context manager."""

    __slots__ = ("_hooks", "id")

    def __init__(self, hooks: dict[int, Callable[..., Any]], hook: Callable[..., Any]) -> None:
        self._hooks = hooks
        self.id = next_sequence()
        hooks[self.id] = hook

    def remove(self) -> None:
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class Context:
    """What a vjp sees: each parameter and saved output by name, and `needs[name]`.

    The slot keeps CPython 3.13 from storing attributes elsewhere than in the dict.
    """

    __slots__ = ("__dict__", "_unused")

    needs: dict[str, Any]

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__ = values

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the op did not save '{name}'")


class OpNode(Node):
    """A recorded op: its bound arguments with tensors saved or reduced to metadata.

    A node that _core has recorded makes these anew whenever they are read.
    """

    __slots__ = ()

    op: Op
    args: list[Any] | None
    needing: set[int]
    saved_outputs: list[SavedTensor | None]

    def __init__(self, op: Op, edges: Sequence[Edge], args: list[Any] | None) -> None:
        self.edges = edges
        self.sequence = next_sequence()
        self.op = op
        self.args = args
        self.needing = set()
        self.saved_outputs = []
        if STATE.enabled:
            note(self)

    def __getattr__(self, name: str) -> Any:
        """What was saved, by PyTorch's names: `_saved_self`, `_saved_other`, `_saved_result`."""
        if not name.startswith("_saved_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        part = name.removeprefix("_saved_")
        value = getattr(self.context(), {"self": "input", "result": "out"}.get(part, part))
        if isinstance(value, TensorSpec):
            raise AttributeError(f"{self.name()} did not save {part!r}")
        return value

    def name(self) -> str:
        """PyTorch's name of the node, but for the number of the overload."""
        return node_name(self.op)

    def release(self) -> None:
        """A node that has saved nothing can be passed again."""
        if not self.forget() and self.has_saved():
            self.args = None
            self.saved_outputs = []

    def has_saved(self) -> bool:
        """Whether it is passed once only, unless the graph is retained."""
        args = self.args
        if args is None or self.saved_outputs:
            return args is not None
        for slot, need in self.op.saved_slots.items():
            value = args[slot]
            values = value if value.__class__ is list else (value,)
            if any(v.__class__ is SavedTensor for v in values):
                return True
            if value.__class__ in (bool, int, float, complex, SymInt) and (
                need is None or need in self.needing
            ):
                return True  # PyTorch keeps such a number as a tensor
        return False

    def save_outputs(self, out: Any, alias: bool) -> None:
        """`alias`: keep detached aliases; otherwise (tracing) the outputs themselves."""
        outputs = (out,) if isinstance(out, TensorBase) else out
        for number, need in self.op.saved_outputs:
            if need is not None and need not in self.needing:
                self.saved_outputs.append(None)
                continue
            tensor = outputs[number]
            kept = alias_of(tensor) if alias else tensor
            self.saved_outputs.append(SavedTensor(kept, alias))

    def context(self) -> Context:
        """Unpack everything. Raises RuntimeError where freed or changed in place."""
        op, args = self.op, self.args
        if args is None:
            raise RuntimeError(FREED)
        names = op.names
        values: dict[str, Any] = dict(zip(names, args, strict=True))
        for slot in op.saved_slots:
            value = args[slot]
            if value.__class__ is SavedTensor:
                values[names[slot]] = value.unpack(self)
            elif value.__class__ is list:
                values[names[slot]] = [
                    v.unpack(self) if isinstance(v, SavedTensor) else v for v in value
                ]
        for (number, _), saved in zip(op.saved_outputs, self.saved_outputs, strict=True):
            if saved is not None:
                tensor = saved.unpack(self, number)
                values[f"out{number}"] = tensor
                if number == 0:
                    values["out"] = tensor
        values["needs"] = self._needs(args)
        return Context(values)

    def _needs(self, args: list[Any]) -> dict[str, Any]:
        op = self.op
        if op.is_flat:
            slots = zip(op.tensor_slots, self.edges, strict=True)
            return {op.names[slot]: edge is not None for (slot, _), edge in slots}
        needs: dict[str, Any] = {}
        edges = iter(self.edges)
        for slot, is_list in op.tensor_slots:
            if is_list:
                needs[op.names[slot]] = [next(edges) is not None for _ in args[slot]]
            else:
                needs[op.names[slot]] = next(edges) is not None
        return needs

    def compute(self, grads: list[Any]) -> list[Any]:
        plain = _core.plain_gradients(self, grads)
        if plain is not NotImplemented:
            return plain
        op, args = self.op, self.args
        rule: Any = op.rule
        first = grads[0]
        if rule is not_differentiable:      # written in place: nothing of the old value is left
            result: Any = (ops.zeros_like(first),) * len(op.tensor_slots)
        elif first is not None and first.dtype.is_complex and op.name in HOLOMORPHIC:
            result = _conjugated(rule(self.context(), *_conjugated(grads)))
        else:
            result = rule(self.context(), *grads)
        assert args is not None
        if op.is_flat:
            sources: list[Any] = [args[slot] for slot, _ in op.tensor_slots]
            return self._fit(list(result) if result.__class__ is tuple else [result], sources)
        flat: list[Any] = []
        sources = []
        for (slot, is_list), value in zip(op.tensor_slots, result, strict=True):
            if is_list:
                flat.extend(value)
                sources.extend(args[slot])
            else:
                flat.append(value)
                sources.append(args[slot])
        return self._fit(flat, sources)

    def _fit(self, grads: list[Any], sources: list[Any]) -> list[Any]:
        """Sum gradients of broadcast inputs to the input's shape; in its dtype, on its device."""
        edges = self.edges
        for position, grad in enumerate(grads):
            if grad is None:
                continue
            if edges[position] is None:
                grads[position] = None
                continue
            source = sources[position]
            if source.__class__ is SavedTensor:
                source = source.tensor
            alike = grad.dtype is source.dtype and grad.device == source.device
            if not alike or not same_shape(grad.shape, source.shape):
                grads[position] = fit_gradient(self.op, grad, source)
        return grads


def node_name(op: Op) -> str:
    """PyTorch's name of the nodes of an op, but for the number of the overload."""
    name = NAMES.get(op.name, op.name)
    own = name.title().replace("_", "")
    return f"{PYTORCHS_NAMES.get(name, own)}Backward0"


_CLASSES: dict[Op, type[OpNode]] = {}


def name_node(node: OpNode) -> None:
    """Give a node the class of its op's nodes: `MulBackward0`."""
    op = node.op
    named = _CLASSES.get(op)
    if named is None:
        about = f"A recorded `{op.name}`."
        made = type(node_name(op), (OpNode,), {"__slots__": (), "__doc__": about})
        named = _CLASSES.setdefault(op, made)   # another thread may have been first
    node.__class__ = named


_core.set_node_naming(name_node)


def _conjugated(value: Any) -> Any:
    """The conjugates of complex tensors; anything else as it is.

    A rule for real numbers is linear in the gradient, with factors that are the derivative.
    PyTorch's gradient of a holomorphic function is the gradient times the conjugate of its
    derivative: the conjugate of what the rule makes of the conjugate.
    """
    if isinstance(value, list | tuple):
        return type(value)([_conjugated(item) for item in value])
    if value is None or not value.dtype.is_complex:
        return value
    return ops.conjugated(value)


def fit_gradient(op: Op, grad: Any, source: Any) -> Any:
    """`grad` with the shape and dtype of `source`, on its device."""
    if not same_shape(grad.shape, source.shape):
        if op.kind not in (Kind.POINTWISE, Kind.INPLACE) and op.rule is op.vjp:
            raise RuntimeError(
                f"{op.name}: the gradient has shape {list(grad.shape)}, "
                f"the input {list(source.shape)}"
            )
        grad = ops.sum_to_size(grad, source.shape)
    if grad.dtype.is_complex and not source.dtype.is_complex:
        grad = ops.real(grad)
    if grad.dtype is not source.dtype:
        grad = ops.to_dtype(grad, source.dtype)
    return grad if grad.device == source.device else grad.to(source.device)


def gradient_edge(tensor: Any) -> Edge:
    """Where the gradient of `tensor` goes: its grad_fn, the leaf itself, or nowhere."""
    node = tensor.grad_fn
    if node is not None:
        return node, tensor.output_nr
    return (tensor, 0) if requires_own_grad(tensor) else None


def requires_own_grad(tensor: Any) -> bool:
    """Whether a tensor requires gradients itself: some views do only because their base does."""
    own = tensor._base is None or _core.view_origin(tensor) & OWN_GRAD
    return bool(tensor.requires_grad and own)


def _keep(tensor: Any, save: bool) -> SavedTensor | TensorSpec:
    return SavedTensor(tensor) if save else metadata(tensor)


def _edges(op: Op, args: tuple[Any, ...]) -> tuple[list[Edge], set[int]]:
    """The edges of all tensors among `args`, and the slots that need a gradient."""
    edges: list[Edge] = []
    needing: set[int] = set()
    for slot, is_list in op.tensor_slots:
        value = args[slot]
        if is_list:
            edges.extend(None if t is None else gradient_edge(t) for t in value)
            continue
        edge = gradient_edge(value) if isinstance(value, TensorBase) else None
        if edge is not None:
            needing.add(slot)
        edges.append(edge)
    return edges, needing


def make_node(op: Op, args: tuple[Any, ...], skip: int = -1) -> OpNode:
    """The node of `op` on `args`, without outputs yet; the slot `skip` is not saved."""
    edges, needing = _edges(op, args)
    values = list(args)
    for slot, is_list in op.tensor_slots:
        value = args[slot]
        need = op.saved_slots.get(slot, slot)
        save = slot in op.saved_slots and (need is None or need in needing) and slot != skip
        if is_list:
            values[slot] = [None if t is None else _keep(t, save) for t in value]
        elif isinstance(value, TensorBase):
            values[slot] = SavedTensor(value) if save else metadata(value)
    node = OpNode(op, edges, values)
    node.needing = needing
    return node


def record(op: Op, args: tuple[Any, ...], flags: int) -> Any:
    """Run `op` below autograd and hang its node on the outputs."""
    node = make_node(op, args)
    out = _core.with_grad_mode(None, below_autograd, op, args, flags & ~1)
    if op.saved_outputs:
        node.save_outputs(out, not flags & (MODES | FAKE))
    if out.__class__ is tuple or not isinstance(out, TensorBase):
        return node.attach(out)
    if out.dtype.is_floating_point or out.dtype.is_complex:
        node.outputs.append((out.shape, out.dtype, out.device))
        out.grad_fn = node
    return out


HOOKS.record = record
_core.set_record_classes(
    OpNode, SavedTensor, TensorSpec, Context, fit_gradient, STATE, ACTIVE
)
