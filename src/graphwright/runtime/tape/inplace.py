"""In-place ops on the tape: rebasing history, also of the base when a view is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.dispatch import FAKE, HOOKS, MODES, below_autograd
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Op, op
from graphwright.runtime.tape.node import Edge, Node, OpNode, gradient_edge, make_node
from graphwright.runtime.tape.saved import SavedTensor, metadata
from graphwright.runtime.tensor.view_methods import strided_from, view_extent

_as_strided = op("as_strided")


class CopySlices(Node):
    """History of a base after one of its views was written by `inner`.

    Gradient of the base's old value: the incoming one with the view's part replaced by what
    `inner` makes of that part.

    Raises: DataDependent where a graph would have to know at which place a view lies.
    """

    __slots__ = ("base", "inner", "position", "view")

    def __init__(self, base: Any, base_edge: Edge, view: Any, inner: OpNode) -> None:
        super().__init__("CopySlices", [base_edge, *inner.edges[1:]])
        self.base = metadata(base), base.storage_offset()
        self.view = view.shape, view.stride(), view.storage_offset() - base.storage_offset()
        self.inner = inner
        self.position = getattr(view, "position", None)
        self.outputs.append((base.shape, base.dtype, base.device))

    def release(self) -> None:
        self.inner.release()

    def compute(self, grads: list[Any]) -> Sequence[Any]:
        if self.position is not None:
            self.position.item()
        base = self.base[0]
        shape, strides, offset = self.view
        extent = view_extent(base.shape, base.strides)
        flat = grads[0].new_zeros((extent,), dtype=base.dtype, device=base.device)
        result = ops.as_strided(flat, base.shape, base.strides)
        ops.copy_(result, grads[0])
        replaced = strided_from(flat, offset, shape, strides)
        part = ops.clone(replaced)
        inner = self.inner.compute([part])
        if inner[0] is None:
            ops.fill_(replaced, 0)
        else:
            ops.copy_(replaced, inner[0])
        return [result if self.edges[0] is not None else None, *inner[1:]]


class _Unplaced(Node):
    """History of a view at a place that no graph knows, in a base that was written since."""

    __slots__ = ("position",)

    def __init__(self, view: Any, base: Any, position: Any) -> None:
        super().__init__("AsStrided", [gradient_edge(base)])
        self.position = position
        self.outputs.append((view.shape, view.dtype, view.device))

    def compute(self, grads: list[Any]) -> Sequence[Any]:
        """Raises: DataDependent."""
        self.position.item()
        raise AssertionError("a position that is no fake tensor")


_AMBIGUOUS = (
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
    "your code by moving both the view and the inplace either both inside the no_grad block (if "
    "you don't want the inplace to be tracked) or both outside (if you want it to be tracked)."
)


OF_LEAF = "a leaf Variable that requires grad is being used in an in-place operation."


def _check_view(name: str, view: Any) -> None:
    """Raise RuntimeError where the view must not be written while gradients are recorded."""
    origin = _core.view_origin(view)
    if origin & 2:
        raise RuntimeError(
            f"{name}: the tensor is a view and is being modified inplace. This view is the output "
            "of a function that returns multiple views. Such functions do not allow the output "
            "views to be modified inplace. You should replace the inplace operation by an "
            "out-of-place one."
        )
    if origin & 1:
        raise RuntimeError(
            f"{name}: a view was created in no_grad mode and is being modified inplace with grad "
            f"mode enabled. {_AMBIGUOUS}"
        )
    base = view._base
    if view.requires_grad and base.grad_fn is None:
        raise RuntimeError(
            f"{name}: a view of {OF_LEAF}"
        )


def _check_not_leaf(name: str, tensor: Any) -> None:
    if tensor._base is not None:
        _check_view(name, tensor)
    if tensor.requires_grad and tensor.grad_fn is None:
        raise RuntimeError(
            f"{name}: {OF_LEAF}"
        )


def record_inplace(entry: Op, args: tuple[Any, ...], flags: int) -> Any:
    """Run the in-place op below autograd and give its target the new history."""
    target = args[0]
    _check_not_leaf(entry.name, target)
    functional = entry.functional
    assert functional is not None
    if functional.decompose is not None and not callable(functional.vjp):
        # Of a copy, as its parts may save their input, which this write replaces.
        return ops.copy_(target, functional.decompose(ops.clone(target), *args[1:]))
    tracing = bool(flags & (MODES | FAKE))
    node = make_node(functional, args, skip=0)
    if 0 in functional.saved_slots:
        need = functional.saved_slots[0]
        if need is None or need in node.needing:
            node.args[0] = SavedTensor(ops.clone(target))  # type: ignore[index]
    _core.with_grad_mode(None, below_autograd, entry, args, flags & ~1)
    if functional.saved_outputs:
        node.save_outputs(target, not tracing)
    if not _carries_gradients(target.dtype):
        return target
    if target._base is None:
        node.outputs.append((target.shape, target.dtype, target.device))
        target.grad_fn, target.output_nr = node, 0
    else:
        _rebase(target, node)
    return target


def _rebase(view: Any, node: OpNode) -> None:
    base = view._base
    node.outputs.append((view.shape, view.dtype, view.device))
    base.grad_fn, base.output_nr = CopySlices(base, gradient_edge(base), view, node), 0
    _regenerate(view, base)


def _regenerate(view: Any, base: Any) -> None:
    """The view's history anew, as a strided view of its base."""
    position = getattr(view, "position", None)
    if position is not None:
        view.grad_fn, view.output_nr = _Unplaced(view, base, position), 0
        return
    geometry = (view.shape, view.stride(), view.storage_offset())
    node = OpNode(_as_strided, [gradient_edge(base)], [metadata(base), *geometry])
    node.outputs.append((view.shape, view.dtype, view.device))
    view.grad_fn, view.output_nr = node, 0


def _present_history(view: Any) -> Any:
    """The grad_fn of a view, regenerated where its base was written after it was made."""
    _regenerate(view, view._base)
    return view.grad_fn


def _carries_gradients(dtype: Any) -> bool:
    return bool(dtype.is_floating_point or dtype.is_complex)


_core.set_view_hook(_present_history)
HOOKS.record_inplace = record_inplace
