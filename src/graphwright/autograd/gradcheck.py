"""Checks of gradients against central differences; after `torch.autograd.gradcheck`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphwright.autograd.functional import jvp
from graphwright.autograd.grad_mode import enable_grad, no_grad
from graphwright.runtime._core import TensorBase
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tape.engine import grad

Array = np.ndarray[Any, Any]
Func = Callable[..., Any]


class GradcheckError(RuntimeError):
    """A gradient that does not agree with differences; the message says which."""


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _checked(tensor: Any) -> bool:
    return isinstance(tensor, TensorBase) and tensor.requires_grad


def _outputs(func: Func, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs that can carry gradients."""
    return tuple(
        out
        for out in _tuple(func(*inputs))
        if isinstance(out, TensorBase) and (out.dtype.is_floating_point or out.dtype.is_complex)
    )


def _values(outputs: Sequence[Any]) -> list[Array]:
    return [out.detach().numpy().reshape(-1).astype(_wide(out)) for out in outputs]


def _wide(tensor: Any) -> Any:
    return np.complex128 if tensor.dtype.is_complex else np.float64


def _numerical(func: Func, inputs: Sequence[Any], index: int, eps: float) -> list[Array]:
    """For each output its Jacobian with respect to input `index`: (input size, output size).

    Complex inputs: the derivatives in the real and the imaginary direction, side by side.
    """
    tensor = inputs[index]
    steps = (eps, eps * 1j) if tensor.dtype.is_complex else (eps,)
    rows: list[list[Array]] = []
    with no_grad():
        data: Any = tensor.data
        for place in np.ndindex(*tensor.shape):
            for step in steps:
                kept = data[place].item()
                moved = []
                for signed in (step, -step):
                    ops.fill_(data[place], kept + signed)
                    moved.append(_values(_outputs(func, inputs)))
                ops.fill_(data[place], kept)
                rows.append([(a - b) / (2 * eps) for a, b in zip(*moved, strict=True)])
    count = len(_outputs(func, inputs))
    return [np.array([row[i] for row in rows]) for i in range(count)]


def _analytical(
    outputs: Sequence[Any], number: int, inputs: Sequence[Any], nondet: float
) -> list[Array]:
    """For each input the Jacobian of output `number`: (input size, output size).

    The gradient of <w, out> is conj(J^T) w-like: for w = 1 its real part is the derivative of
    Re(out) in the real direction and its imaginary part that in the imaginary direction.
    """
    out = outputs[number]
    parts = (1.0, 1j) if out.dtype.is_complex else (1.0,)
    columns: list[list[Array]] = [[] for _ in inputs]
    for place in np.ndindex(*out.shape):
        found = []
        for part in parts:
            weight = ops.zeros_like(out.detach())
            ops.fill_(weight[place], part)
            first, second = (
                grad(out, list(inputs), weight, retain_graph=True, allow_unused=True)
                for _ in range(2)
            )
            _check_repeatable(first, second, nondet)
            found.append(first)
        for i, tensor in enumerate(inputs):
            columns[i].append(_column([f[i] for f in found], tensor))
    size = [t.numel() * (2 if t.dtype.is_complex else 1) for t in inputs]
    kind = _wide(out)
    return [
        np.array(c, kind).T if c else np.zeros((n, 0), kind)
        for c, n in zip(columns, size, strict=True)
    ]


def _forward(func: Func, inputs: Sequence[Any], chosen: list[int], index: int) -> list[Array]:
    """The Jacobians of `_numerical`, by forward differentiation in each direction."""

    def of_chosen(*given: Any) -> tuple[Any, ...]:
        values = list(inputs)
        for place, value in zip(chosen, given, strict=True):
            values[place] = value
        return _outputs(func, values)

    tensors = tuple(inputs[i].detach() for i in chosen)
    steps = (1.0, 1j) if inputs[index].dtype.is_complex else (1.0,)
    rows: list[list[Array]] = []
    for place in np.ndindex(*inputs[index].shape):
        for step in steps:
            directions = tuple(ops.zeros_like(tensor) for tensor in tensors)
            ops.fill_(directions[chosen.index(index)][place], step)
            rows.append(_values(_tuple(jvp(of_chosen, tensors, directions)[1])))
    count = len(_outputs(func, inputs))
    return [np.array([row[i] for row in rows]) for i in range(count)]


def _column(grads: list[Any], tensor: Any) -> Array:
    """d out[j] in every direction of the input, from the gradients of Re and Im of out[j]."""
    columns = []
    for g in grads:
        if g is None:
            columns.append(np.zeros(tensor.numel() * (2 if tensor.dtype.is_complex else 1)))
            continue
        flat = g.detach().numpy().reshape(-1)
        if tensor.dtype.is_complex:
            columns.append(np.stack([flat.real, flat.imag], 1).reshape(-1).astype(np.float64))
        else:
            columns.append(flat.astype(np.float64))
    return columns[0] if len(columns) == 1 else columns[0] + 1j * columns[1]


def _check_repeatable(first: Any, second: Any, tolerance: float) -> None:
    for a, b in zip(first, second, strict=True):
        if a is None and b is None:
            continue
        gap = np.abs(a.detach().numpy() - b.detach().numpy())
        if gap.size and float(gap.max()) > tolerance:
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and "
                "grad_output multiple times gives different values, although analytical "
                "gradient matches numerical gradient. The tolerance for nondeterminism was "
                f"{tolerance}."
            )


def _check_inputs(inputs: Sequence[Any]) -> list[int]:
    chosen = [i for i, tensor in enumerate(inputs) if _checked(tensor)]
    if not chosen:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the "
            "them have requires_grad=True."
        )
    for i in chosen:
        tensor = inputs[i]
        if tensor.dtype.name not in ("float64", "complex128"):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or "
                "complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex. ",
                stacklevel=4,
            )
        if 0 in tensor.stride() and tensor.numel() > 1 and any(
            n > 1 and s == 0 for n, s in zip(tensor.shape, tensor.stride(), strict=True)
        ):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs "
                "that are non-overlapping to be able to compute the numerical gradients "
                "correctly. You should call .contiguous on the input before passing it to "
                "gradcheck."
            )
    return chosen


def _check_undefined(func: Func, inputs: Sequence[Any], chosen: list[Any]) -> None:
    """Backward must take undefined gradients of some outputs."""
    outputs = [out for out in _outputs(func, inputs) if out.requires_grad]
    if len(outputs) < 2:
        return
    for number in range(len(outputs)):
        out = outputs[number]
        weight = ops.zeros_like(out.detach())
        for found in grad(out, chosen, weight, retain_graph=True, allow_unused=True):
            if found is not None and bool(ops.any(ops.ne(found, 0)).item()):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are "
                    "undefined or zero."
                )


def _check_dtypes(grads: Sequence[Any], inputs: Sequence[Any]) -> None:
    for found, tensor in zip(grads, inputs, strict=True):
        if found is not None and found.dtype is not tensor.dtype:
            raise GradcheckError(f"grad is of dtype {found.dtype}, its input of {tensor.dtype}")


def _agree(
    number: int, index: int, expected: Array, got: Array, atol: float, rtol: float
) -> None:
    """Raise GradcheckError where two Jacobians differ."""
    if expected.shape != got.shape:
        expected = expected.reshape(got.shape)
    if not np.allclose(got, expected, rtol, atol, equal_nan=True):
        raise GradcheckError(
            f"Jacobian mismatch for output {number} with respect to input {index},\n"
            f"numerical:{expected}\nanalytical:{got}\n"
        )


def _check_constant(outputs: Sequence[Any], numerical: Sequence[Sequence[Array]]) -> None:
    """Floats that nothing leads to must not vary with the inputs."""
    for jacobians in numerical:
        for out, jacobian in zip(outputs, jacobians, strict=True):
            if (out.dtype.is_floating_point or out.dtype.is_complex) and jacobian.any():
                raise GradcheckError("Numerical gradient for function expected to be zero")


def _compare(
    func: Func,
    inputs: Sequence[Any],
    eps: float,
    atol: float,
    rtol: float,
    nondet_tol: float,
    check_grad_dtypes: bool,
    forward: bool,
    backward: bool,
) -> None:
    chosen = _check_inputs(inputs)
    tensors = [inputs[i] for i in chosen]
    outputs = _outputs(func, inputs)
    numerical = [_numerical(func, inputs, i, eps) for i in chosen]
    if not any(out.requires_grad for out in outputs):
        _check_constant(outputs, numerical)
        return
    if forward:
        for position, index in enumerate(chosen):
            found = _forward(func, inputs, chosen, index)
            for number, got in enumerate(found):
                _agree(number, index, numerical[position][number], got, atol, rtol)
    for number, out in enumerate(outputs if backward else ()):
        if not out.requires_grad:
            analytical = [np.zeros_like(numerical[i][number]) for i in range(len(chosen))]
        else:
            analytical = _analytical(outputs, number, tensors, nondet_tol)
            if check_grad_dtypes:
                ones = ops.ones_like(out.detach())
                grads = grad(out, tensors, ones, retain_graph=True, allow_unused=True)
                _check_dtypes(grads, tensors)
        for position, index in enumerate(chosen):
            expected = numerical[position][number]
            _agree(number, index, expected, analytical[position], atol, rtol)


def gradcheck(
    func: Func,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """True where the gradients of `func(*inputs)` agree with central differences of width `eps`.

    Inputs that require grad should be float64. GradcheckError (a RuntimeError) where they
    disagree by more than atol + rtol*|numerical|, or False with `raise_exception=False`.
    ValueError where no input requires grad. `fast_mode`, `masked` and the checks of batched
    gradients change nothing.
    """
    if not (check_backward_ad or check_forward_ad):
        raise ValueError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    values = _tuple(inputs)
    try:
        _compare(
            func, values, eps, atol, rtol, nondet_tol, check_grad_dtypes,
            check_forward_ad, check_backward_ad,
        )
        if check_undefined_grad and check_backward_ad:
            _check_undefined(func, values, [v for v in values if _checked(v)])
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _random_weights(outputs: list[Any], spread: bool) -> list[Any]:
    """A tensor of normal numbers for each output; not contiguous with `spread`."""
    rng = np.random.default_rng(0)
    weights = []
    for out in outputs:
        weight = ops.zeros_like(out.detach())
        array = rng.standard_normal(out.shape)
        weight.numpy()[...] = array + (1j * array if out.dtype.is_complex else 0)
        if spread and out.ndim:
            weight = ops.stack([weight, weight], -1)[..., 0]
        weights.append(weight.detach().requires_grad_())
    return weights


def _gradients_of(func: Func, count: int) -> Func:
    """The gradients of `func` as a function of its inputs and of `count` weights after them."""

    def gradients(*args: Any) -> tuple[Any, ...]:
        given, vectors = args[:-count], args[-count:]
        with enable_grad():
            inner = [out for out in _outputs(func, given) if out.requires_grad]
            leaves = [tensor for tensor in given if _checked(tensor)]
            found = grad(inner, leaves, list(vectors), create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradients


def gradgradcheck(
    func: Func,
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """`gradcheck` of the gradients of `func(*inputs)`, weighted by `grad_outputs` (random).

    `check_fwd_over_rev`, `check_rev_over_rev`: differentiate those forward, backward.
    """
    values = _tuple(inputs)
    outputs = [out for out in _outputs(func, values) if out.requires_grad]
    if grad_outputs is None:
        weights = _random_weights(outputs, gen_non_contig_grad_outputs)
    else:
        weights = list(_tuple(grad_outputs))
    try:
        return gradcheck(
            _gradients_of(func, len(weights)),
            (*values, *weights),
            eps=eps,
            atol=atol,
            rtol=rtol,
            raise_exception=raise_exception,
            nondet_tol=nondet_tol,
            check_undefined_grad=check_undefined_grad,
            check_grad_dtypes=check_grad_dtypes,
            check_forward_ad=check_fwd_over_rev,
            check_backward_ad=check_rev_over_rev,
        )
    except ValueError as error:
        if "at least one output" not in str(error):
            raise
        return True
