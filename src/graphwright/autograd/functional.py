"""Jacobians, Hessians and products with them; after `torch.autograd.functional`.

`func` takes the inputs (tensors) and gives a tensor or a tuple of them. With `create_graph`
results can be differentiated again; `strict` raises RuntimeError where an output does not depend
on an input, instead of giving zeros. All functions raise TypeError for what is no tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.autograd.grad_mode import enable_grad
from graphwright.runtime._core import TensorBase
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tape.engine import grad

Tensors = tuple[Any, ...]
Func = Callable[..., Any]


def _as_tensors(value: Any, what: str, of: str) -> tuple[bool, Tensors]:
    """Whether `value` was a tuple, and the tensors in it."""
    values = value if isinstance(value, tuple) else (value,)
    for index, tensor in enumerate(values):
        if isinstance(tensor, TensorBase):
            continue
        if isinstance(value, tuple):
            raise TypeError(
                f"The {what} given to {of} must be either a Tensor or a tuple of Tensors but the "
                f"value at index {index} has type {type(tensor)}."
            )
        raise TypeError(
            f"The {what} given to {of} must be either a Tensor or a tuple of Tensors but the "
            f"given {what} has type {type(tensor)}."
        )
    return isinstance(value, tuple), values


def _inputs(inputs: Any, of: str, create_graph: bool) -> tuple[bool, Tensors]:
    """Fresh inputs to differentiate by: views with `create_graph`, else leaves."""
    was_tuple, values = _as_tensors(inputs, "inputs", of)
    if create_graph:
        made = tuple(
            ops.view_as(v, v) if v.requires_grad else v.detach().requires_grad_() for v in values
        )
    else:
        made = tuple(v.detach().requires_grad_() for v in values)
    return was_tuple, made


def _outputs(func: Func, inputs: Tensors, of: str, strict: bool) -> tuple[bool, Tensors]:
    was_tuple, outputs = _as_tensors(func(*inputs), "outputs of the user-provided function", of)
    if strict:
        for index, out in enumerate(outputs):
            if not out.requires_grad:
                raise RuntimeError(
                    f"Output {index} of the user-provided function does not require gradients. "
                    f"The outputs must be computed in a differentiable manner from the input "
                    "when running in strict mode."
                )
    return was_tuple, outputs


def _unpacked(was_tuple: bool, values: Any) -> Any:
    values = tuple(values)
    return values if was_tuple else values[0]


def _grad(
    outputs: Tensors,
    inputs: Tensors,
    vectors: Tensors | None,
    create_graph: bool,
    strict: bool,
    of: str,
) -> Tensors:
    """Gradients, with zeros where there is no dependence."""
    kept = [i for i, out in enumerate(outputs) if out.requires_grad]
    if not kept:
        return tuple(ops.zeros_like(i.detach()) for i in inputs)
    weights = None if vectors is None else tuple(vectors[i] for i in kept)
    found = grad(
        tuple(outputs[i] for i in kept),
        inputs,
        weights,
        retain_graph=True,
        create_graph=create_graph,
        allow_unused=True,
    )
    if strict:
        for index, value in enumerate(found):
            if value is None:
                raise RuntimeError(
                    f"{of}: the output of the user-provided function is independent of input "
                    f"{index}. This is not allowed in strict mode."
                )
            if create_graph and not value.requires_grad:
                raise RuntimeError(
                    f"{of}: the gradient with respect to input {index} is independent of the "
                    "inputs. This is not allowed in strict mode when create_graph=True."
                )
    return tuple(
        ops.zeros_like(i.detach()) if g is None else g for i, g in zip(inputs, found, strict=True)
    )


def _vectors(v: Any, like: Tensors, of: str, scalar: bool) -> Tensors:
    """The vector `v`, or one for a lone one-element tensor; of the shapes of `like`."""
    if v is None:
        if not scalar or len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if the user-provided function of {of} has a "
                "single element to be multiplied with."
            )
        return (ops.ones_like(like[0].detach()),)
    _, values = _as_tensors(v, "v", of)
    if len(values) != len(like):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(values)}."
        )
    for index, (value, one) in enumerate(zip(values, like, strict=True)):
        if value.shape != one.shape:
            raise RuntimeError(
                f"Entry {index} in v has invalid size: should be {list(one.shape)} but got "
                f"{list(value.shape)}."
            )
    return values


def vjp(
    func: Func, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(func(inputs), v transposed times the Jacobian); `v` has the outputs' shapes."""
    with enable_grad():
        was_tuple, values = _inputs(inputs, "vjp", create_graph)
        is_tuple, outputs = _outputs(func, values, "vjp", strict)
        vectors = _vectors(v, outputs, "vjp", scalar=True)
        found = _grad(outputs, values, vectors, create_graph, strict, "vjp")
    shown = outputs if create_graph else [out.detach() for out in outputs]
    return _unpacked(is_tuple, shown), _unpacked(was_tuple, found)


def jvp(
    func: Func, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(func(inputs), the Jacobian times v); `v` has the inputs' shapes.

    The derivative of u -> u^T J in direction v: two backward passes.
    """
    with enable_grad():
        _, values = _inputs(inputs, "jvp", create_graph)
        vectors = _vectors(v, values, "jvp", scalar=True)
        is_tuple, outputs = _outputs(func, values, "jvp", strict)
        probes = tuple(ops.zeros_like(out.detach()).requires_grad_() for out in outputs)
        rows = _grad(outputs, values, probes, True, strict, "jvp")
        found = _grad(rows, probes, vectors, create_graph, False, "jvp")
    shown = outputs if create_graph else [out.detach() for out in outputs]
    return _unpacked(is_tuple, shown), _unpacked(is_tuple, found)


def _scalar(func: Func, of: str) -> Func:
    """`func`, checked to give a single value."""

    def checked(*inputs: Any) -> Any:
        out = func(*inputs)
        was_tuple, outputs = _as_tensors(out, "outputs of the user-provided function", of)
        if was_tuple and len(outputs) != 1:
            raise RuntimeError(f"The function given to {of} should return a single Tensor")
        if outputs[0].numel() != 1:
            raise RuntimeError(
                f"The Tensor returned by the function given to {of} should contain a single "
                "element"
            )
        return ops.reshape(outputs[0], ())

    return checked


def hvp(
    func: Func, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(func(inputs), the Hessian times v) of a function that gives one value."""
    with enable_grad():
        was_tuple, values = _inputs(inputs, "hvp", create_graph)
        vectors = _vectors(v, values, "hvp", scalar=True)
        out = _outputs(_scalar(func, "hvp"), values, "hvp", strict)[1]
        first = _grad(out, values, None, True, strict, "hvp")
        probes = tuple(ops.zeros_like(i.detach()).requires_grad_() for i in values)
        rows = _grad(first, values, probes, True, strict, "hvp")
        found = _grad(rows, probes, vectors, create_graph, False, "hvp")
    return out[0] if create_graph else out[0].detach(), _unpacked(was_tuple, found)


def vhp(
    func: Func, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(func(inputs), v transposed times the Hessian) of a function that gives one value."""
    with enable_grad():
        was_tuple, values = _inputs(inputs, "vhp", create_graph)
        vectors = _vectors(v, values, "vhp", scalar=True)
        out = _outputs(_scalar(func, "vhp"), values, "vhp", strict)[1]
        first = _grad(out, values, None, True, strict, "vhp")
        found = _grad(first, values, vectors, create_graph, strict, "vhp")
    return out[0] if create_graph else out[0].detach(), _unpacked(was_tuple, found)


def _check_options(strategy: str, vectorize: bool, strict: bool) -> None:
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            'function has more outputs than inputs, "forward-mode" tends to be more performant. '
            'Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode" and not vectorize:
        raise NotImplementedError("strategy='forward-mode' needs vectorize=True")
    if vectorize and strict:
        raise RuntimeError(
            "jacobian: `strict=True` and `vectorize=True` are not "
            "supported together. Please either set `strict=False` or `vectorize=False`."
        )


def jacobian(
    func: Func,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """All first derivatives: a tensor of shape output.shape + input.shape.

    With several outputs a tuple of them, with several inputs each a tuple. One backward pass
    for each element of the outputs, or with `vectorize` one for all of them at once.
    """
    _check_options(strategy, vectorize, strict)
    with enable_grad():
        was_tuple, values = _inputs(inputs, "jacobian", create_graph)
        is_tuple, outputs = _outputs(func, values, "jacobian", strict)
        result = []
        for out in outputs:
            if vectorize:
                result.append(_unpacked(was_tuple, _rows_at_once(out, values, create_graph)))
                continue
            rows = [
                _grad((flat,), values, None, create_graph, strict, "jacobian")
                for flat in (ops.unbind(ops.reshape(out, (-1,)), 0) if out.numel() else ())
            ]
            result.append(_unpacked(was_tuple, _stacked(rows, out, values)))
    return _unpacked(is_tuple, result)


def _rows_at_once(out: Any, values: Tensors, create_graph: bool) -> list[Any]:
    """The Jacobian of one output by each of the inputs."""
    count = out.numel()
    if not out.requires_grad or not count:
        return _stacked([], out, values)
    basis = ops.eye(count, dtype=out.dtype, device=out.device).reshape((count, *out.shape))
    found = grad(
        out, values, basis, retain_graph=True, create_graph=create_graph,
        is_grads_batched=True, materialize_grads=True,
    )  # fmt: skip
    return [
        ops.reshape(ops.expand(g, (count, *v.shape)), (*out.shape, *v.shape))
        for g, v in zip(found, values, strict=True)
    ]


def _stacked(rows: list[Tensors], out: Any, values: Tensors) -> list[Any]:
    if not rows:
        return [
            ops.zeros((*out.shape, *value.shape), dtype=value.dtype, device=value.device)
            for value in values
        ]
    return [
        ops.reshape(ops.stack([row[i] for row in rows], 0), (*out.shape, *value.shape))
        for i, value in enumerate(values)
    ]


def hessian(
    func: Func,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """All second derivatives of a function that gives one value.

    A tensor of shape input.shape + input.shape; with several inputs a tuple of tuples.
    """
    was_tuple, values = _as_tensors(inputs, "inputs", "hessian")
    single = _scalar(func, "hessian")

    def gradient(*inner: Any) -> Any:
        found = jacobian(single, inner, create_graph=True, strict=strict)
        return found if was_tuple else found[0]

    rows = jacobian(
        gradient, values, create_graph, strict, vectorize, outer_jacobian_strategy
    )
    return rows if was_tuple else rows[0]
