"""The engine: an iterative walk of the tape, newest node first.

A node's sequence number exceeds those of all nodes that its edges lead to, so a heap ordered
by it reaches every node after all of its users, without counting dependencies. Leaves come as
soon as they are complete, where hooks see it: then the edges to them are counted before.

State lives in one run, so hooks and custom functions may start further runs, and threads may run
at once.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from importlib import import_module
from itertools import chain
from typing import Any, NamedTuple

from graphwright.runtime import _core
from graphwright.runtime._core import TensorBase
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.strides import is_dense
from graphwright.runtime.spans import Kind, Timed
from graphwright.runtime.tape import anomaly
from graphwright.runtime.tape.node import HOOKED, AccumulateGrad, Node, gradient_edge
from graphwright.runtime.torch_function import FUNCTIONS

Key = tuple[int, int]  # (id of node or leaf, output number)


class _Passes(threading.local):
    """The passes that this thread is in; those of hooks and custom functions are the last."""

    def __init__(self) -> None:
        self.running: list[_Run] = []


_PASSES = _Passes()


def endings() -> dict[Any, Callable[[], None]]:
    """What the running pass of this thread calls when it has ended, by keys of the callers'."""
    return _PASSES.running[-1].endings


class _Run:
    """One pass: pending gradients by node, leaves as they are complete, gradients asked for.

    before: the leaves that follow a node, by its id, in the order of its edges; by 0 those of the
    start.
    uses: how many edges to a leaf are left, by its id; counted where leaves have hooks.
    latest: the sequence number of the last node before a leaf.
    """

    def __init__(self, retain_graph: bool, wanted: dict[Key, int] | None) -> None:
        self.retain_graph = retain_graph
        self.heap: list[tuple[int, Node]] = []
        self.pending: dict[int, list[Any]] = {}
        self.leaves: dict[int, tuple[Any, Any]] = {}
        self.wanted = wanted
        self.results: dict[Key, Any] = {}
        self.allowed: set[int] | None = None
        self.endings: dict[Any, Callable[[], None]] = {}
        self.uses: Counter[int] = Counter()
        self.before: dict[int, list[int]] = {}
        self.latest = sys.maxsize

    def counts(self) -> bool:
        """Whether somebody sees when leaves are complete."""
        return len(HOOKED) > 0

    def send(self, edge: tuple[Any, int], grad: Any) -> None:
        """Add `grad` to what is pending at `edge`."""
        target, number = edge
        key = id(target)
        if isinstance(target, TensorBase):
            seen = self.leaves.pop(key, None)
            self.leaves[key] = (target, grad if seen is None else ops.add(seen[1], grad))
            return
        buffer = self.pending.get(key)
        if buffer is None:
            buffer = self.pending[key] = [None] * max(target.output_count, number + 1)
            heappush(self.heap, (-target.sequence, target))
        seen = buffer[number]
        buffer[number] = grad if seen is None else ops.add(seen, grad)

    def run(self) -> None:
        """Process all pending nodes."""
        heap, pending, allowed, before = self.heap, self.pending, self.allowed, self.before
        compute = self._compute_in_span if _core.is_profiling() else self._compute
        while heap:
            node = heappop(heap)[1]
            grads = pending.pop(id(node))
            if node.output_hooks is not None and not node.hands_hooks_on():
                _run_output_hooks(node, grads)
            if node.prehooks:
                grads = _run_prehooks(node, grads)
            if self.wanted is not None:
                self._capture(node, grads)
                if allowed is not None and id(node) not in allowed:
                    continue
            inputs = compute(node, grads)
            for edge, grad in zip(node.edges, inputs, strict=True):
                if edge is None or grad is None:
                    continue
                if allowed is not None and not self._useful(edge):
                    continue
                self.send(edge, grad)
            if id(node) in before:
                del grads, inputs       # leaves own their gradients
                grad = None
                self.latest = node.sequence
                self.pass_edges(before[id(node)])

    def count(self, starts: Sequence[tuple[Any, int]]) -> None:
        """Count the edges to leaves, from these on, and list the leaves before which a node is."""
        seen: set[int] = set()
        nodes: list[Node] = []
        key = 0
        edges: Sequence[tuple[Any, int] | None] = starts
        while True:
            leaves: list[int] = []
            for edge in edges:
                if edge is None or (self.allowed is not None and not self._useful(edge)):
                    continue
                target = edge[0]
                if isinstance(target, TensorBase):
                    leaves.append(id(target))
                elif id(target) not in seen:
                    seen.add(id(target))
                    nodes.append(target)
            if leaves:
                self.before[key] = leaves
            if not nodes:
                break
            node = nodes.pop()
            if node.output_hooks is not None:
                node.hands_hooks_on()
            key = id(node)
            edges = node.edges if self.allowed is None or key in self.allowed else ()
        self.uses = Counter(chain.from_iterable(self.before.values()))

    def pass_edges(self, leaves: Sequence[int]) -> None:
        """Finish the leaves to which edges were passed, these, if they were the last ones."""
        for key in leaves:
            self.uses[key] -= 1
            if self.uses[key] == 0 and key in self.leaves:
                self.finish_leaf(key)

    def _compute(self, node: Node, grads: list[Any]) -> Sequence[Any]:
        if node.checked:
            wanted = [edge is not None and (self.allowed is None or self._useful(edge))
                      for edge in node.edges]
            node.check(grads, wanted, not self.retain_graph)
        inputs = _checked(node, grads) if anomaly.STATE.enabled else node.compute(grads)
        if node.hooks:
            for hook in tuple(node.hooks.values()):
                changed = hook(tuple(inputs), tuple(grads))
                if changed is not None:
                    inputs = _as_many(changed, inputs, "gradient inputs")
        if not self.retain_graph:
            node.release()
        return inputs

    def _compute_in_span(self, node: Node, grads: list[Any]) -> Sequence[Any]:
        with Timed(node.name(), Kind.NODE):
            return self._compute(node, grads)

    def _useful(self, edge: tuple[Any, int]) -> bool:
        assert self.allowed is not None and self.wanted is not None
        target, number = edge
        return id(target) in self.allowed or (id(target), number) in self.wanted

    def _capture(self, node: Node, grads: list[Any]) -> None:
        assert self.wanted is not None
        for number, grad in enumerate(grads):
            if (id(node), number) in self.wanted:
                self.results[id(node), number] = grad

    def finish_leaves(self) -> None:
        """Finish the leaves that are left."""
        self.latest = 0
        for key in tuple(self.leaves):
            self.finish_leaf(key)

    def finish_leaf(self, key: int) -> None:
        """Run the leaf's hooks; accumulate into .grad, or capture what was asked for."""
        leaf, grad = self.leaves.pop(key)
        extra = leaf._autograd
        node = None
        if extra is not None:
            for hook in tuple(extra.hooks.values()):
                grad = _hooked(hook, grad)
            node = extra.accumulator and extra.accumulator()
        if self.wanted is not None:
            if (key, 0) in self.wanted:
                self.results[key, 0] = grad
            return
        if node is not None and node.prehooks:
            (grad,) = _run_prehooks(node, [grad])
        if leaf.grad_fn is not None:
            raise RuntimeError(MOVED)
        if _core.is_profiling():
            with Timed("AccumulateGrad", Kind.NODE):
                _accumulate(leaf, grad)
        else:
            _accumulate(leaf, grad)
        if node is not None and node.hooks:
            for hook in tuple(node.hooks.values()):
                hook((), (grad,))


MOVED = (
    "leaf variable has been moved into the graph interior: it was frozen after its use and then "
    "written in place by what has a history"
)


def _checked(node: Node, grads: list[Any]) -> Sequence[Any]:
    """`node.compute` under anomaly detection."""
    try:
        inputs = node.compute(grads)
    except (RuntimeError, TypeError, ValueError, ArithmeticError):
        anomaly.warn(node)
        raise
    if anomaly.STATE.check_nan:
        anomaly.check(node, inputs)
    return inputs


def _as_many(changed: Any, present: Sequence[Any], what: str) -> Sequence[Any]:
    """What a hook has returned in place of gradients: as many as there were."""
    values = changed if isinstance(changed, tuple | list) else (changed,)
    if len(values) != len(present):
        raise RuntimeError(
            f"hook has returned an incorrect number of {what} (got {len(values)}, but expected "
            f"{len(present)})"
        )
    return values


def _run_prehooks(node: Node, grads: list[Any]) -> list[Any]:
    assert node.prehooks is not None
    for hook in tuple(node.prehooks.values()):
        changed = hook(tuple(grads))
        if changed is not None:
            grads = list(_as_many(changed, grads, "gradient outputs"))
    return grads


RETAINING = -1
"""Hooks that keep `.grad` run after all others: those of output n are under RETAINING - n."""


def _hooked(hook: Any, grad: Any) -> Any:
    """The gradient after a tensor's hook."""
    changed = hook(grad)
    if changed is None:
        return grad
    if not isinstance(changed, TensorBase):
        raise TypeError(
            f"expected a Tensor or None from a hook, but got {type(changed).__name__}"
        )
    if changed.shape != grad.shape:
        name = getattr(hook, "__name__", hook)
        raise RuntimeError(
            f"hook '{name}' has changed the size of value: from {list(grad.shape)} to "
            f"{list(changed.shape)}"
        )
    return changed


def _run_output_hooks(node: Node, grads: list[Any]) -> None:
    assert node.output_hooks is not None
    for number in node.hook_order(len(grads)):
        grad = grads[number]
        if grad is None:
            continue
        for key in (number, RETAINING - number):
            for hook in tuple(node.output_hooks.get(key, {}).values()):
                grad = _hooked(hook, grad)
        grads[number] = grad


def _accumulate(leaf: Any, grad: Any) -> None:
    """Add to `leaf.grad`, unless the leaf was frozen after its use: then only hooks run.

    The first gradient is copied where something else may hold it.
    """
    if leaf.requires_grad:
        current = leaf._grad
        if current is None:
            if _core.grad_enabled():
                leaf.grad = grad if grad.stride() == leaf.stride() else _laid_out(grad, leaf)
            else:
                private = _core.is_private(grad, leaf, _OWN_REFERENCES)
                leaf.grad = grad if private else _laid_out(grad.detach(), leaf)
        elif _core.grad_enabled():
            leaf.grad = ops.add(current, grad)
        else:
            ops.add_(current, grad)
    extra = leaf._autograd
    if extra is not None and extra.accumulate_hooks:
        for hook in tuple(extra.accumulate_hooks.values()):
            hook(leaf)


def _laid_out(grad: Any, leaf: Any) -> Any:
    """A copy of `grad` with the strides of the leaf, where those are of a dense tensor."""
    if grad.stride() == leaf.stride() or not is_dense(leaf.shape, leaf.stride()):
        return ops.clone(grad)
    return ops.copy(leaf.detach(), grad)


_OWN_REFERENCES = 3
"""Of a gradient that only the engine can see: by the frames of finish_leaf and _accumulate, and
the call that asks."""


def _reachable_towards(roots: list[Node], wanted: dict[Key, int]) -> set[int]:
    """Ids of nodes from which a wanted input can be reached."""
    seen: dict[int, Node] = {}
    stack = list(roots)
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen[id(node)] = node
        if node.output_hooks is not None:
            node.hands_hooks_on()
        stack.extend(e[0] for e in node.edges if e is not None and isinstance(e[0], Node))
    users: dict[int, list[int]] = {}
    pending: list[int] = []
    for key, node in seen.items():
        for edge in node.edges:
            if edge is not None:
                users.setdefault(id(edge[0]), []).append(key)
                if (id(edge[0]), edge[1]) in wanted:
                    pending.append(key)
    allowed: set[int] = set()
    while pending:
        key = pending.pop()
        if key not in allowed:
            allowed.add(key)
            pending += users.get(key, ())
    return allowed


class GradientEdge(NamedTuple):
    """A place in the graph: output `output_nr` of `node`; may stand for a tensor as an input."""

    node: Node
    output_nr: int


def edge_of(tensor: Any) -> tuple[Any, int] | None:
    """The edge of a tensor, or of a GradientEdge."""
    if not isinstance(tensor, GradientEdge | TensorBase):
        raise TypeError(
            "all inputs have to be Tensors or GradientEdges, but got "
            f"{type(tensor).__name__}"
        )
    if isinstance(tensor, GradientEdge):
        if isinstance(tensor.node, AccumulateGrad):
            return tensor.node.variable, 0
        return tensor.node, tensor.output_nr
    return gradient_edge(tensor)


def _initial_gradient(tensor: Any, grad: Any, number: int) -> Any:
    if grad is None:
        if isinstance(tensor, GradientEdge) or tensor.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        if tensor.dtype.is_complex:
            raise RuntimeError(
                "grad can be implicitly created only for real scalar outputs but got "
                f"{tensor.dtype}"
            )
        return ops.full_like(tensor, 1)
    if not isinstance(grad, TensorBase):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(grad).__name__}")
    if not isinstance(tensor, GradientEdge) and grad.shape != tensor.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{number}] has a shape of {list(grad.shape)} and "
            f"output[{number}] has a shape of {list(tensor.shape)}."
        )
    if not isinstance(tensor, GradientEdge) and grad.device != tensor.device:
        raise RuntimeError(
            f"invalid gradient at index {number} - expected device {tensor.device} but got "
            f"{grad.device}")
    if not isinstance(tensor, GradientEdge) and grad.dtype.is_complex != tensor.dtype.is_complex:
        raise RuntimeError(
            f"grad_output[{number}] has the dtype {grad.dtype.name} and output[{number}] "
            f"{tensor.dtype.name}: both must be complex, or neither."
        )
    return grad


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return (value,) if isinstance(value, TensorBase | GradientEdge) else tuple(value)


def _start(run: _Run, tensors: tuple[Any, ...], grads: Any) -> None:
    gradients = (None,) * len(tensors) if grads is None else _as_tuple(grads)
    if len(gradients) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(gradients)} gradients")
    starts = []
    for number, (tensor, grad) in enumerate(zip(tensors, gradients, strict=True)):
        edge = edge_of(tensor)
        if edge is None:
            raise RuntimeError(
                f"element {number} of tensors does not require grad and does not have a grad_fn"
            )
        starts.append((edge, _initial_gradient(tensor, grad, number)))
    if run.wanted is not None:
        roots = [edge[0] for edge, _ in starts if isinstance(edge[0], Node)]
        run.allowed = _reachable_towards(roots, run.wanted)
    if run.counts():
        run.count([edge for edge, _ in starts])
    while starts:
        run.send(*starts.pop(0))
    run.pass_edges(run.before.get(0, ()))


def _execute(run: _Run, tensors: tuple[Any, ...], grads: Any, create_graph: bool) -> None:
    def execute() -> None:
        _core.set_overrides_enabled(False)      # until with_grad_mode puts the thread's state back
        _core.set_modes(_core.modes() & ~FUNCTIONS)
        _PASSES.running.append(run)
        try:
            _start(run, tensors, grads)
            run.run()
            run.finish_leaves()
            for ending in tuple(run.endings.values()):
                ending()
        finally:
            _PASSES.running.pop()

    with Timed("autograd::engine::execute", Kind.LIBRARY):
        _core.with_grad_mode(create_graph, execute)


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Accumulate into the leaves' `.grad` the gradients of `tensors`.

    `grad_tensors` (once called `grad_variables`) may be omitted for one-element tensors. With
    `inputs` only those receive gradients. Raises RuntimeError where a tensor needs no grad, the
    graph was freed, both names of `grad_tensors` are given, and within `vmap`.
    """
    if _core.levels():
        raise RuntimeError(
            "backward() called inside a function being vmapped over. This is not supported: "
            "please use func.grad or func.vjp there, or call backward() outside of vmap"
        )
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if inputs is not None and not isinstance(inputs, TensorBase) and not len(inputs):
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    if create_graph:
        warnings.warn(
            "Using backward() with create_graph=True will create a reference cycle between the "
            "parameter and its gradient which can cause a memory leak. We recommend using "
            "autograd.grad when creating the graph to avoid this. If you have to use this "
            "function, make sure to reset the .grad fields of your parameters to None after use "
            "to break the cycle and avoid the leak.",
            stacklevel=3,
        )
    roots = _as_tuple(tensors)
    keep = create_graph if retain_graph is None else retain_graph
    if inputs is None:
        _execute(_Run(keep, None), roots, grad_tensors, create_graph)
        return
    chosen = _as_tuple(inputs)
    found = _gradients(roots, grad_tensors, chosen, keep, create_graph)
    for tensor, grad in zip(chosen, found, strict=True):
        if grad is not None:
            _core.with_grad_mode(create_graph, _accumulate, tensor, grad)


def gradients_in_order(
    roots: tuple[Any, ...], grads: Any, inputs: tuple[Any, ...]
) -> list[tuple[int, Any]]:
    """Positions in `inputs`, all leaves, and gradients, as `backward` completes them.

    Those that it does not reach are the last, with None.
    """
    found, order = _gradients_of(roots, grads, inputs, False, False)
    positions = sorted(range(len(inputs)), key=lambda i: order.get(i, len(inputs)))
    return [(i, found[i]) for i in positions]


def _gradients(
    roots: tuple[Any, ...], grads: Any, inputs: tuple[Any, ...], keep: bool, create_graph: bool
) -> list[Any]:
    return _gradients_of(roots, grads, inputs, keep, create_graph)[0]


def _gradients_of(
    roots: tuple[Any, ...], grads: Any, inputs: tuple[Any, ...], keep: bool, create_graph: bool
) -> tuple[list[Any], dict[int, int]]:
    """The gradients, and by the positions of inputs that were reached the order of that."""
    keys: list[Key] = []
    for tensor in inputs:
        edge = edge_of(tensor)
        if edge is None:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        if isinstance(edge[0], Node):
            edge = edge[0].place(edge[1])
        keys.append((id(edge[0]), edge[1]))
    wanted = {key: i for i, key in enumerate(keys)}
    run = _Run(keep, wanted)
    _execute(run, roots, grads, create_graph)
    order = {wanted[key]: place for place, key in enumerate(run.results)}
    return [run.results.get(key) for key in keys], order


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Gradients of `outputs` with respect to `inputs`, leaving `.grad` alone.

    `inputs` may be GradientEdges. An input that was not used raises RuntimeError, unless
    `allow_unused` (then None) or `materialize_grads` (then zeros). `only_inputs` is always so.
    With `is_grads_batched` the first dimension of each of `grad_outputs` counts vectors, and so
    does that of the results.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but "
            "got: allow_unused=False."
        )
    roots, chosen = _as_tuple(outputs), _as_tuple(inputs)
    if not chosen:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    if materialize_grads and any(isinstance(edge, GradientEdge) for edge in chosen):
        raise RuntimeError("materialize_grads cannot be used when the given input is a "
                           "GradientEdge")  # fmt: skip
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        found = _batched(roots, grad_outputs, chosen, keep, create_graph)
    else:
        found = _gradients(roots, grad_outputs, chosen, keep, create_graph)
    if materialize_grads:
        return tuple(
            ops.zeros_like(tensor.detach()) if g is None else g
            for tensor, g in zip(chosen, found, strict=True)
        )
    index = next((i for i, g in enumerate(found) if g is None), None)
    if not allow_unused and index is not None:
        raise RuntimeError(
            f"The differentiated Tensor at index {index} appears to not have been used in the "
            "graph. Set allow_unused=True if this is the desired behavior."
        )
    return tuple(found)


def _batched(
    roots: tuple[Any, ...], grads: Any, inputs: tuple[Any, ...], keep: bool, create_graph: bool
) -> list[Any]:
    """One pass with all vectors at once."""
    if grads is None:
        raise RuntimeError("is_grads_batched=True needs grad_outputs")
    vectors = _as_tuple(grads)
    reached: list[bool] = []

    def one(*given: Any) -> tuple[Any, ...]:
        rest = iter(given)
        row = tuple([None if v is None else next(rest) for v in vectors])
        found = _gradients(roots, row, inputs, keep, create_graph)
        reached[:] = [g is not None for g in found]
        return tuple([g for g in found if g is not None])

    vmap = import_module("graphwright.runtime.batching.vmap").vmap
    found = iter(vmap(one)(*[v for v in vectors if v is not None]))
    return [next(found) if is_reached else None for is_reached in reached]
