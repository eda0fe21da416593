"""Dual numbers, after `torch.autograd.forward_ad`: a tangent beside every tensor.

Tangents are not carried forward: `unpack_dual` computes them from the recorded graph, by two
passes in reverse (the vector-Jacobian product is linear in its vector, and its own
vector-Jacobian product with the tangent is the Jacobian's product with the tangent). Functions
must therefore be twice differentiable, and a tangent costs two backward passes. An
`autograd.Function` with a `jvp` has it called by the second.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, NamedTuple

from graphwright.autograd.grad_mode import enable_grad, is_grad_enabled
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tape.engine import grad
from graphwright.runtime.tape.forward_mode import pushing
from graphwright.runtime.tensor.tensor import Tensor

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]


class UnpackedDualTensor(NamedTuple):
    """A tensor and its tangent, which is None where it depends on no dual tensor."""

    primal: Tensor
    tangent: Tensor | None


_LEVELS: list[list[tuple[Tensor, Tensor]]] = []
"""For each level that is entered, the dual tensors that were made and their tangents."""


def enter_dual_level() -> int:
    """Begin a level, and give its number. Raises RuntimeError inside of another."""
    if _LEVELS:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _LEVELS.append([])
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level: its dual tensors are plain ones. Raises RuntimeError outside of any."""
    if not _LEVELS or level not in (None, 0):
        raise RuntimeError("Trying to exit a forward AD level that was not the last one")
    _LEVELS.pop()


class dual_level:
    """`with dual_level():` a level for the block."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """An alias of `tensor` with a tangent of its shape and dtype.

    Raises RuntimeError outside of a level and for tangents that do not fit, ValueError for
    integers.
    """
    if not _LEVELS:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for part in (tensor, tangent):
        if not (part.dtype.is_floating_point or part.dtype.is_complex):
            raise ValueError(
                f"Expected tensor and tangent to be floating point or complex, got {part.dtype}"
            )
    if tensor.shape != tangent.shape or tensor.dtype is not tangent.dtype:
        raise RuntimeError(
            "Expected tangent to have the same shape and dtype as the tensor: "
            f"{list(tangent.shape)} {tangent.dtype.name}, {list(tensor.shape)} {tensor.dtype.name}"
        )
    with enable_grad():
        dual = ops.alias(tensor) if tensor.requires_grad else tensor.detach().requires_grad_()
    _LEVELS[-1].append((dual, tangent))
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The tensor and its tangent, which both keep their history by tensors that are not dual."""
    known = _LEVELS[-1] if _LEVELS else []
    for dual, tangent in known:
        if dual is tensor:
            return UnpackedDualTensor(tensor.detach(), tangent)
    if not known or not tensor.requires_grad:
        return UnpackedDualTensor(tensor, None)
    outer = is_grad_enabled() and reaches_others(tensor, [dual for dual, _ in known])
    return UnpackedDualTensor(tensor if outer else tensor.detach(), _tangent(tensor, known, outer))


def reaches_others(value: Tensor, inputs: list[Tensor]) -> bool:
    """Whether `value` also depends on leaves that are not among `inputs`."""
    known = {id(tensor) for tensor in inputs}
    seen: set[int] = set()
    stack = [value.grad_fn]
    while stack:
        node = stack.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        for target, _ in (edge for edge in node.edges if edge is not None):
            if not isinstance(target, Tensor):
                stack.append(target)
            elif id(target) not in known:
                return True
    return False


def _rows(tensor: Tensor, duals: list[Tensor], vector: Tensor) -> Any:
    """The cotangents of the dual tensors by `vector` at `tensor`; None where there is none."""
    return grad(tensor, duals, vector, create_graph=True, allow_unused=True)


def _tangent(
    tensor: Tensor, known: list[tuple[Tensor, Tensor]], outer: bool
) -> Tensor | None:
    """The sum over the dual tensors of d tensor / d dual times its tangent.

    `outer`: it can be differentiated by other tensors that `tensor` depends on.
    """
    outer = outer or any(tangent.requires_grad for _, tangent in known)
    with enable_grad():
        vector = ops.zeros_like(tensor.detach()).requires_grad_()
        products: Any = pushing(_rows, tensor, [dual for dual, _ in known], vector)
        pairs = [
            (product, tangent)
            for product, (_, tangent) in zip(products, known, strict=True)
            if product is not None
        ]
        if not pairs:
            return None
        linear = [(p, t) for p, t in pairs if p.requires_grad]
        if not linear:
            return ops.zeros_like(tensor.detach())
        found: Any = grad(
            [p for p, _ in linear],
            vector,
            [t for _, t in linear],
            create_graph=outer,
            allow_unused=True,
        )[0]
    return ops.zeros_like(tensor.detach()) if found is None else found
