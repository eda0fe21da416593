"""Complex numbers: their parts, conjugates, absolute values; which rules of gradients hold.

Gradients follow PyTorch: the gradient of a real loss with respect to z = x + iy is
dL/dx + i dL/dy, so that a step against it descends.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.dtype_rules import require_dtype
from graphwright.runtime.ops.kernels import allocate, copy_into, elementwise
from graphwright.runtime.ops.pointwise.arithmetic import pointwise_spec
from graphwright.runtime.ops.strides import preserved_strides
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.ops.tensor_spec import TensorSpec, ViewSpec
from graphwright.runtime.ops.views.basic import as_view
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

# -- complex tensors as real ones and back


def _as_real_meta(input: Any) -> ViewSpec:
    if not input.dtype.is_complex:
        raise RuntimeError(
            f"view_as_real is only supported for complex tensors, got {input.dtype}"
        )
    strides = tuple(2 * s for s in input.stride())
    return ViewSpec(
        (*input.shape, 2), (*strides, 1), input.storage_offset(), input.dtype.to_real()
    )


def _as_complex_meta(input: Any) -> ViewSpec:
    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(
            f"view_as_complex is only supported for float32 and float64, got {input.dtype}"
        )
    if not input.shape:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if input.shape[-1] != 2:
        raise RuntimeError(f"Tensor must have a last dimension of size 2, got {describe(input)}")
    strides = input.stride()
    if strides[-1] != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(s % 2 for s in strides[:-1]) or input.storage_offset() % 2:
        raise RuntimeError("Tensor must have strides and an offset divisible by 2")
    return ViewSpec(
        tuple(input.shape[:-1]), tuple(s // 2 for s in strides[:-1]),
        -(input.storage_offset() // 2), input.dtype.to_complex(),
    )


define(
    "view_as_real(Tensor input)",
    Kind.VIEW,
    meta=_as_real_meta,
    vjp=lambda ctx, grad: ops.view_as_complex(ops.contiguous(grad)),
    eager=lambda input: as_view(input, _as_real_meta(input)),
    method=False,
    doc="""View of a complex tensor as real and imaginary parts.

    Args:
        input: a complex tensor of shape [...].

    Returns: a real tensor of shape [..., 2] that shares memory with `input`.

    Raises:
        RuntimeError: `input` is not complex.

    Example:
        >>> gw.view_as_real(gw.tensor([1 + 2j]))
        tensor([[1., 2.]])
    """,
)
define(
    "view_as_complex(Tensor input)",
    Kind.VIEW,
    meta=_as_complex_meta,
    vjp=lambda ctx, grad: ops.view_as_real(grad),
    eager=lambda input: as_view(input, _as_complex_meta(input)),
    method=False,
    doc="""View of pairs of real numbers as complex numbers: the inverse of `view_as_real`.

    Args:
        input: a float32 or float64 tensor of shape [..., 2]; the stride of the last dim is 1,
            the others and the storage offset are even.

    Returns: a complex tensor of shape [...] that shares memory with `input`.

    Raises:
        RuntimeError: `input` has another dtype, shape or strides.

    Example:
        >>> gw.view_as_complex(gw.tensor([[1.0, 2.0]]))
        tensor([1.+2.j])
    """,
)


def _imag(input: Any) -> Any:
    if not input.dtype.is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return ops.select(ops.view_as_real(input), -1, 1)


define(
    "real(Tensor input)",
    Kind.COMPOSITE,
    decompose=lambda input: (
        ops.select(ops.view_as_real(input), -1, 0) if input.dtype.is_complex else input
    ),
    method=False,
    doc="""Real part of each element.

    Args:
        input: a tensor of any shape and dtype.

    Returns: a view of a complex tensor; a real tensor itself.

    Example:
        >>> gw.real(gw.tensor([3 + 4j]))
        tensor([3.])
    """,
)
define(
    "imag(Tensor input)",
    Kind.COMPOSITE,
    decompose=_imag,
    method=False,
    doc="""Imaginary part of each element.

    Args:
        input: a complex tensor of any shape.

    Returns: a real view of `input`.

    Raises:
        RuntimeError: `input` is not complex.

    Example:
        >>> gw.imag(gw.tensor([3 + 4j]))
        tensor([4.])
    """,
)


def _pair_dtype(name: str, a: Any, b: Any) -> Any:
    if a.dtype is not b.dtype or a.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError(
            f"{name}: Expected both inputs to be of one dtype, float32 or float64, got "
            f"{a.dtype.name} and {b.dtype.name}"
        )
    return a.dtype.to_complex()


def _complex_eager(real: Any, imag: Any) -> Tensor:
    dtype = _pair_dtype("complex", real, imag)
    parts = {dtypes.complex64: np.float32, dtypes.complex128: np.float64}[dtype]

    def join(a: Any, b: Any, out: Any) -> None:
        out.real, out.imag = a.real.astype(parts), b.real.astype(parts)

    return elementwise("complex", join, (real, imag), dtype, dtype)


define(
    "complex(Tensor real, Tensor imag)",
    Kind.POINTWISE,
    meta=lambda real, imag: pointwise_spec(
        "complex", (real, imag), _pair_dtype("complex", real, imag)
    ),
    vjp=lambda ctx, grad: (ops.real(grad), ops.imag(grad)),
    eager=_complex_eager,
    method=False,
    doc="""Complex numbers of the given parts, `real + i imag`, broadcast.

    Args:
        real, imag: tensors of one dtype, float32 or float64, that broadcast to one shape.

    Returns: a complex64 or complex128 tensor of the broadcast shape.

    Raises:
        RuntimeError: the dtypes differ or are others, or the shapes do not broadcast.

    Example:
        >>> gw.complex(gw.tensor([1.0]), gw.tensor([2.0]))
        tensor([1.+2.j])
    """,
)


def _polar(abs: Any, angle: Any) -> Any:
    _pair_dtype("polar", abs, angle)
    return ops.complex(ops.mul(abs, ops.cos(angle)), ops.mul(abs, ops.sin(angle)))


define(
    "polar(Tensor abs, Tensor angle)",
    Kind.COMPOSITE,
    decompose=_polar,
    method=False,
    doc="""Complex numbers of the given polar coordinates, `abs * e^(i angle)`, broadcast.

    Args:
        abs, angle: tensors of one dtype, float32 or float64, that broadcast; angles in radians.

    Returns: a complex64 or complex128 tensor of the broadcast shape.

    Raises:
        RuntimeError: the dtypes differ or are others, or the shapes do not broadcast.

    Example:
        >>> gw.polar(gw.tensor([2.0]), gw.tensor([0.0]))
        tensor([2.+0.j])
    """,
)

# -- conjugates


define(
    "conjugated(Tensor input)",
    Kind.POINTWISE,
    meta=lambda input: pointwise_spec("conjugated", (input,), input.dtype),
    vjp=lambda ctx, grad: ops.conjugated(grad),
    eager=lambda input: elementwise(
        "conjugated", np.conjugate, (input,), input.dtype, input.dtype
    ),
    method=False,
    public=False,
)


def _conjugate(input: Any) -> Any:
    """A real tensor is its own conjugate."""
    return ops.conjugated(input) if input.dtype.is_complex else input


for _name in ("conj", "conj_physical"):
    define(
        f"{_name}(Tensor input)",
        Kind.COMPOSITE,
        decompose=_conjugate,
        doc=f"""Complex conjugate of each element, computed rather than marked.

        Args:
            input: a tensor of any shape and dtype.

        Returns: a tensor of the dtype of `input`; a real tensor itself.

        Example:
            >>> gw.{_name}(gw.tensor([3 + 4j]))
            tensor([3.-4.j])
        """,
    )
define(
    "conj_physical_(Tensor input)", Kind.INPLACE, functional="conj_physical", public=False
)


def _define_resolved(name: str, what: str) -> None:
    """Conjugates and negatives are computed, not marked: there is nothing to resolve."""

    def resolved(input: Any) -> Any:
        if not isinstance(input, _core.TensorBase):
            raise TypeError(
                f"{name}(): argument 'input' must be Tensor, not {type(input).__name__}"
            )
        return input

    define(
        f"{name}(Tensor input)",
        Kind.COMPOSITE,
        decompose=resolved,
        doc=f"""The tensor itself: {what} are computed at once, never marked on a view.

        Args:
            input: a tensor of any shape and dtype.

        Raises:
            TypeError: `input` is not a tensor.

        Example:
            >>> gw.{name}(gw.tensor([1, 2]))
            tensor([1, 2])
        """,
    )


_define_resolved("resolve_conj", "conjugates")
_define_resolved("resolve_neg", "negatives")


# -- absolute value, direction, angle


def _abs_meta(input: Any) -> TensorSpec:
    require_dtype("abs", input.dtype, bool=False)
    return pointwise_spec("abs", (input,), input.dtype.to_real())


def _abs_eager(input: Any) -> Tensor:
    dtype = input.dtype
    require_dtype("abs", dtype, bool=False)
    if not dtype.is_complex:
        return elementwise("abs", np.absolute, (input,), dtype, dtype)
    strides = preserved_strides(input.shape, input.stride())
    out = allocate(input.shape, strides, dtype.to_real())
    np.absolute(input._nd, out._nd)
    return out


define(
    "abs(Tensor input)",
    Kind.POINTWISE,
    meta=_abs_meta,
    vjp=lambda ctx, grad: ops.mul(
        grad, ops.sgn(ctx.input) if ctx.input.dtype.is_complex else ops.sign(ctx.input)
    ),
    saves=("input",),
    eager=_abs_eager,
    doc="""Absolute value of each element; of complex numbers `sqrt(re^2 + im^2)`.

    The gradient at 0 is 0.

    Args:
        input: a tensor of any shape.

    Returns: a tensor of the dtype of `input`; of complex numbers that of their parts.

    Raises:
        NotImplementedError: `input` is of bool.

    Example:
        >>> gw.abs(gw.tensor([-1.0, 2.0]))
        tensor([1., 2.])
        >>> gw.abs(gw.tensor([3 + 4j]))
        tensor([5.])
    """,
)


def _abs_into_meta(input: Any) -> TensorSpec:
    if input.dtype.is_complex:
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return _abs_meta(input)


def _abs_into(input: Any) -> Any:
    _abs_into_meta(input)
    copy_into(input, _abs_eager(input))
    _core.bump_version(input)
    return input


define(
    "abs_(Tensor input)",
    Kind.INPLACE,
    meta=_abs_into_meta,
    functional="abs",
    eager=_abs_into,
    public=False,
)


def _sgn(input: Any) -> Any:
    if not input.dtype.is_complex:
        return ops.sign(input)
    size = ops.abs(input)
    zero = ops.eq(size, 0)
    return ops.where(zero, 0.0, ops.div(input, ops.where(zero, 1, size)))


define(
    "sgn(Tensor input)",
    Kind.COMPOSITE,
    decompose=_sgn,
    doc="""Direction of each element: `x / abs(x)` of complex numbers, `sign` of real ones; 0 at 0.

    Args:
        input: a tensor of any shape and dtype.

    Example:
        >>> gw.sgn(gw.tensor([3 + 4j, 0]))
        tensor([0.6000+0.8000j, 0.0000+0.0000j])
    """,
)
define("sgn_(Tensor input)", Kind.INPLACE, functional="sgn", public=False)


def _angle(input: Any) -> Any:
    if input.dtype.is_complex:
        return ops.atan2(ops.imag(input), ops.real(input))
    if not input.dtype.is_floating_point:
        input = ops.to_dtype(input, dtypes.get_default_dtype())
    turned = ops.where(ops.lt(input, 0), math.pi, ops.zeros_like(input))
    return ops.where(ops.isnan(input), input, turned)


define(
    "angle(Tensor input)",
    Kind.COMPOSITE,
    decompose=_angle,
    doc="""Angle of each element in the complex plane, in radians from -pi to pi.

    It is 0 for real numbers that are not negative, pi for negative ones, nan for nan.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Returns: a tensor of the dtype of `input`; of complex numbers that of their parts.

    Example:
        >>> gw.angle(gw.tensor([1j, -1 + 0j]))
        tensor([1.5708, 3.1416])
    """,
)
