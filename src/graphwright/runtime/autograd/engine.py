"""The engine: an iterative walk of the tape, newest node first.

A node's sequence number exceeds those of all nodes that its edges lead to, so a heap ordered
by it reaches every node after all of its users, without counting dependencies. State lives in
one run, so hooks and custom functions may start further runs, and threads may run at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from sys import getrefcount
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime._core import TensorBase
from graphwright.runtime.autograd.node import Node, gradient_edge
from graphwright.runtime.ops import _face as ops

Key = tuple[int, int]  # (id of node or leaf, output number)


class _Run:
    """One pass: pending gradients by node, leaves reached, gradients asked for."""

    def __init__(self, retain_graph: bool, wanted: dict[Key, int] | None) -> None:
        self.retain_graph = retain_graph
        self.heap: list[tuple[int, Node]] = []
        self.pending: dict[int, list[Any]] = {}
        self.leaves: dict[int, tuple[Any, Any]] = {}
        self.wanted = wanted
        self.results: dict[Key, Any] = {}
        self.allowed: set[int] | None = None

    def send(self, edge: tuple[Any, int], grad: Any) -> None:
        """Add `grad` to what is pending at `edge`."""
        target, number = edge
        key = id(target)
        if isinstance(target, TensorBase):
            seen = self.leaves.get(key)
            self.leaves[key] = (target, grad if seen is None else ops.add(seen[1], grad))
            return
        buffer = self.pending.get(key)
        if buffer is None:
            buffer = self.pending[key] = [None] * max(len(target.outputs), number + 1)
            heappush(self.heap, (-target.sequence, target))
        seen = buffer[number]
        buffer[number] = grad if seen is None else ops.add(seen, grad)

    def run(self) -> None:
        """Process all pending nodes."""
        heap, pending, allowed = self.heap, self.pending, self.allowed
        while heap:
            node = heappop(heap)[1]
            grads = pending.pop(id(node))
            if node.output_hooks is not None:
                _run_output_hooks(node, grads)
            if self.wanted is not None:
                self._capture(node, grads)
                if allowed is not None and id(node) not in allowed:
                    continue
            inputs = self._compute(node, grads)
            for edge, grad in zip(node.edges, inputs, strict=True):
                if edge is None or grad is None:
                    continue
                if allowed is not None and not self._useful(edge):
                    continue
                self.send(edge, grad)

    def _compute(self, node: Node, grads: list[Any]) -> Sequence[Any]:
        inputs = node.compute(grads)
        if node.hooks:
            for hook in tuple(node.hooks.values()):
                changed = hook(tuple(inputs), tuple(grads))
                if changed is not None:
                    inputs = changed if isinstance(changed, tuple) else (changed,)
        if not self.retain_graph:
            node.release()
        return inputs

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
        """Run the leaves' hooks; accumulate into .grad, or capture what was asked for."""
        for key, (leaf, grad) in self.leaves.items():
            for hook in leaf_hooks(leaf):
                grad = _replaced(hook(grad), grad)
            if self.wanted is None:
                _accumulate(leaf, grad)
            elif (key, 0) in self.wanted:
                self.results[key, 0] = grad


def leaf_hooks(leaf: Any) -> tuple[Any, ...]:
    extra = leaf._autograd
    return () if extra is None or not extra.hooks else tuple(extra.hooks.values())


def _replaced(changed: Any, grad: Any) -> Any:
    return grad if changed is None else changed


def _run_output_hooks(node: Node, grads: list[Any]) -> None:
    assert node.output_hooks is not None
    for number, hooks in node.output_hooks.items():
        grad = grads[number] if number < len(grads) else None
        if grad is None:
            continue
        for hook in tuple(hooks.values()):
            grad = _replaced(hook(grad), grad)
        grads[number] = grad


def _accumulate(leaf: Any, grad: Any) -> None:
    """Add to `leaf.grad`. The first gradient is copied where something else may hold it."""
    current = leaf.grad
    if current is None:
        if _core.grad_enabled():
            leaf.grad = grad
        else:
            leaf.grad = grad if _is_private(grad, leaf) else ops.clone(grad.detach())
    elif _core.grad_enabled():
        leaf.grad = ops.add(current, grad)
    else:
        ops.add_(current, grad)
    extra = leaf._autograd
    if extra is not None and extra.accumulate_hooks:
        for hook in tuple(extra.accumulate_hooks.values()):
            hook(leaf)


def _is_private(grad: Any, leaf: Any) -> bool:
    """Whether only the engine can see `grad`'s memory, and it is laid out like the leaf's.

    The engine's own references: the leaf table and the frames of finish_leaves, _accumulate
    and this function; and for the storage: the tensor, its array and the call's argument.
    """
    if grad._base is not None or grad.grad_fn is not None or grad.stride() != leaf.stride():
        return False
    if type(grad) is not type(leaf) and not isinstance(leaf, type(grad)):
        return False
    return getrefcount(grad) <= _OWN_REFERENCES and (
        grad._nd is not None and getrefcount(grad._storage) <= 3
    )


# The table's tuple, three frames' variables, and getrefcount's argument.
_OWN_REFERENCES = 5


def _reachable_towards(roots: list[Node], wanted: dict[Key, int]) -> set[int]:
    """Ids of nodes from which a wanted input can be reached."""
    seen: dict[int, Node] = {}
    stack = list(roots)
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen[id(node)] = node
        stack.extend(e[0] for e in node.edges if e is not None and isinstance(e[0], Node))
    allowed: set[int] = set()
    for node in sorted(seen.values(), key=lambda n: n.sequence):
        for edge in node.edges:
            if edge is not None and (
                id(edge[0]) in allowed or (id(edge[0]), edge[1]) in wanted
            ):
                allowed.add(id(node))
                break
    return allowed


def _initial_gradient(tensor: Any, grad: Any) -> Any:
    if grad is None:
        if tensor.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        return ops.full_like(tensor, 1)
    if grad.shape != tensor.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output has a shape of {list(grad.shape)} and output has "
            f"a shape of {list(tensor.shape)}."
        )
    return grad


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return (value,) if isinstance(value, TensorBase) else tuple(value)


def _start(run: _Run, tensors: tuple[Any, ...], grads: Any) -> None:
    gradients = (None,) * len(tensors) if grads is None else grads
    if isinstance(gradients, TensorBase):
        gradients = (gradients,)
    if len(gradients) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(gradients)} gradients")
    starts = []
    for tensor, grad in zip(tensors, gradients, strict=True):
        edge = gradient_edge(tensor)
        if edge is None:
            raise RuntimeError(
                "element 0 of tensors does not require grad and does not have a grad_fn"
            )
        starts.append((edge, _initial_gradient(tensor, grad)))
    if run.wanted is not None:
        roots = [edge[0] for edge, _ in starts if isinstance(edge[0], Node)]
        run.allowed = _reachable_towards(roots, run.wanted)
    for edge, grad in starts:
        run.send(edge, grad)


def _execute(run: _Run, tensors: tuple[Any, ...], grads: Any, create_graph: bool) -> None:
    previous = _core.grad_enabled()
    _core.set_grad_enabled(create_graph)
    try:
        _start(run, tensors, grads)
        run.run()
        run.finish_leaves()
    finally:
        _core.set_grad_enabled(previous)


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Accumulate into the leaves' `.grad` the gradients of `tensors`.

    `grad_tensors` may be omitted for one-element tensors. With `inputs` only those receive
    gradients. Raises RuntimeError where a tensor needs no grad or the graph was freed.
    """
    roots = _as_tuple(tensors)
    keep = create_graph if retain_graph is None else retain_graph
    if inputs is None:
        _execute(_Run(keep, None), roots, grad_tensors, create_graph)
        return
    chosen = _as_tuple(inputs)
    found = _gradients(roots, grad_tensors, chosen, keep, create_graph)
    previous = _core.grad_enabled()
    _core.set_grad_enabled(create_graph)
    try:
        for tensor, grad in zip(chosen, found, strict=True):
            if grad is not None:
                _accumulate(tensor, grad)
    finally:
        _core.set_grad_enabled(previous)


def _gradients(
    roots: tuple[Any, ...], grads: Any, inputs: tuple[Any, ...], keep: bool, create_graph: bool
) -> list[Any]:
    keys: list[Key] = []
    for tensor in inputs:
        edge = gradient_edge(tensor)
        if edge is None:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        keys.append((id(edge[0]), edge[1]))
    run = _Run(keep, {key: i for i, key in enumerate(keys)})
    _execute(run, roots, grads, create_graph)
    return [run.results.get(key) for key in keys]


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Any, ...]:
    """Gradients of `outputs` with respect to `inputs`, leaving `.grad` alone.

    Raises RuntimeError where an input was not used, unless `allow_unused` (then None).
    """
    roots, chosen = _as_tuple(outputs), _as_tuple(inputs)
    keep = create_graph if retain_graph is None else retain_graph
    found = _gradients(roots, grad_outputs, chosen, keep, create_graph)
    if not allow_unused and any(g is None for g in found):
        raise RuntimeError(
            "One of the differentiated Tensors appears to not have been used in the graph. "
            "Set allow_unused=True if this is the desired behavior."
        )
    return tuple(found)
