"""Differences, integrals and derivatives of samples along one dim."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.argument_forms import wrap_dim
from graphwright.runtime.ops.dtype_rules import is_inexact
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

# -- differences


def _check_diff(input: Any, n: int, other: Any, dim: int) -> None:
    if other is None:
        return
    if other.ndim != input.ndim:
        raise RuntimeError(
            "diff expects prepend or append to be the same dimension as input, "
            f"got {describe(other)} and {describe(input)}"
        )
    for d, (a, b) in enumerate(zip(other.shape, input.shape, strict=True)):
        if d != dim and a != b:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input "
                f"except along the differencing dimension {dim}, "
                f"got {describe(other)} and {describe(input)}"
            )


def _diff(input: Any, n: int, dim: int, prepend: Any, append: Any) -> Any:
    if not input.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    for other in (prepend, append):
        _check_diff(input, n, other, dim)
    if n == 0:
        return ops.clone(input)
    parts = tuple(t for t in (prepend, input, append) if t is not None)
    result = ops.cat(parts, dim) if len(parts) > 1 else input
    subtract = ops.logical_xor if result.dtype is dtypes.bool else ops.sub
    for _ in range(min(n, result.shape[dim])):
        size = result.shape[dim]
        later = ops.slice(result, dim, 1, size) if size else result
        earlier = ops.slice(result, dim, 0, size - 1) if size else result
        result = subtract(later, earlier)
    return result


define(
    "diff(Tensor input, int n=1, Dim dim=-1, Tensor? prepend=None, Tensor? append=None)",
    Kind.COMPOSITE,
    decompose=_diff,
    doc="""Differences of neighbours along one dim, `x_{i+1} - x_i`, taken `n` times.

    Args:
        input: a tensor of at least one dim; of bools, the differences are exclusive ors.
        n: how many times, at least 0.
        dim: the dim along which elements are neighbours.
        prepend: a tensor put before `input` along `dim`, equal in its other sizes; none if
            None.
        append: the same, put behind it.

    Returns: a tensor of the dtype of `input`, shorter by `n` along `dim`; 0 is the least size.

    Raises:
        RuntimeError: `input` has no dims, `n` is negative, or the shapes do not match.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.diff(gw.tensor([1, 4, 9, 16]), n=2)
        tensor([2, 2])
    """,
)


# -- integrals


def _widths(y: Any, x: Any, dx: Any, dim: int) -> Any:
    """The distances of the places `x`, shaped to multiply slices of y; else the number dx."""
    if x is None:
        return 1 if dx is None else dx
    if x.ndim == 0:
        raise RuntimeError("trapezoid: x needs at least one dimension, got a 0-d tensor")
    if x.ndim == 1:
        if y.shape[dim] != x.shape[0]:
            raise RuntimeError(
                "trapezoid: There must be one `x` value for each sample point, "
                f"got {describe(x)} and {describe(y)}"
            )
        x = ops.reshape(x, (-1, *(1,) * (y.ndim - 1 - dim)))
        return _diff(x, 1, x.ndim - y.ndim + dim, None, None)
    at = x.ndim - y.ndim + dim if x.ndim < y.ndim else dim
    return _diff(x, 1, at, None, None)


def _pairs(y: Any, x: Any, dx: Any, dim: Any) -> tuple[Any, int]:
    """Areas of the trapezoids, and the dim in the result."""
    at = wrap_dim(dim, y.ndim)
    for values in (y, x):
        if values is not None and values.dtype is dtypes.bool:
            raise RuntimeError(f"trapezoid: bool is not supported, got {describe(values)}")
    if x is not None and dx is not None:
        raise TypeError("trapezoid: x and dx cannot both be given")
    size = y.shape[at]
    sums = ops.add(ops.slice(y, at, 1, size), ops.slice(y, at, 0, max(size - 1, 0)))
    areas = ops.mul(ops.mul(sums, _widths(y, x, dx, at)), 0.5)
    return areas, at + areas.ndim - y.ndim


def _trapezoid(y: Any, x: Any, dx: Any, dim: Any) -> Any:
    if y.shape and y.shape[wrap_dim(dim, y.ndim)] == 0:
        at = wrap_dim(dim, y.ndim)
        shape = (*y.shape[:at], *y.shape[at + 1 :])
        return ops.full(shape, 0, dtype=y.dtype, device=y.device)
    areas, at = _pairs(y, x, dx, dim)
    return ops.sum(areas, (at,))


def _cumulative_trapezoid(y: Any, x: Any, dx: Any, dim: Any) -> Any:
    areas, at = _pairs(y, x, dx, dim)
    return ops.cumsum(areas, at)


_INTEGRALS: dict[str, Any] = {
    "trapezoid": _trapezoid,
    "cumulative_trapezoid": _cumulative_trapezoid,
}
_INTEGRAL_DOCS = {
    "trapezoid": """\
    Integral along one dim, by the trapezoidal rule: `sum (y_i + y_i+1) (x_i+1 - x_i) / 2`.

    Args:
        y: a tensor of values.
        x: the places of the values: a vector, or a tensor that broadcasts with `y`; evenly
            spaced if None.
        dx: the spacing of places where `x` is None; 1 if None.
        dim: the dim to integrate along.

    Returns: a tensor of the shape of `y` without `dim`.

    Raises:
        RuntimeError: `y` or `x` is bool, or `x` has another number of places than `y` along
            `dim`.
        TypeError: both `x` and `dx` are given.
        IndexError: `y` has no such dim.

    Example:
        >>> gw.trapezoid(gw.tensor([1.0, 5.0, 10.0]), dx=2)
        tensor(21.)
    """,
    "cumulative_trapezoid": """\
    Running integral along one dim by the trapezoidal rule; see `trapezoid`.

    Args:
        y: a tensor of values.
        x: the places of the values: a vector, or a tensor that broadcasts with `y`; evenly
            spaced if None.
        dx: the spacing of places where `x` is None; 1 if None.
        dim: the dim to integrate along.

    Returns: a tensor of the shape of `y`, shorter by 1 along `dim`.

    Raises:
        RuntimeError: `y` or `x` is bool, or `x` has another number of places than `y` along
            `dim`.
        TypeError: both `x` and `dx` are given.
        IndexError: `y` has no such dim.

    Example:
        >>> gw.cumulative_trapezoid(gw.tensor([1.0, 5.0, 10.0]))
        tensor([ 3.0000, 10.5000])
    """,
}
for _name, _rule in _INTEGRALS.items():
    define(
        f"{_name}(Tensor y, Tensor? x=None, *, Scalar? dx=None, int dim=-1)",
        Kind.COMPOSITE,
        decompose=_rule,
        method=False,
        doc=_INTEGRAL_DOCS[_name],
    )


# -- finite differences


def _central(values: Any, dim: int, steps: Any) -> Any:
    """Second order in the inside, for even (a number) or uneven (a vector) steps."""
    size = values.shape[dim]
    after, before = ops.slice(values, dim, 2, size), ops.slice(values, dim, 0, size - 2)
    if not isinstance(steps, Tensor):
        return ops.div(ops.sub(after, before), 2 * steps)
    here = ops.slice(values, dim, 1, size - 1)
    count = steps.shape[0]
    left = ops.slice(steps, 0, 0, count - 1)
    right = ops.slice(steps, 0, 1, count)
    total = ops.add(left, right)
    weights = (
        ops.div(ops.neg(right), ops.mul(left, total)),
        ops.div(ops.sub(right, left), ops.mul(left, right)),
        ops.div(left, ops.mul(right, total)),
    )
    shape = (-1, *(1,) * (values.ndim - 1 - dim))
    terms = [
        ops.mul(ops.reshape(w, shape), v)
        for w, v in zip(weights, (before, here, after), strict=True)
    ]
    return ops.add(ops.add(terms[0], terms[1]), terms[2])


def _step(steps: Any, index: int) -> Any:
    return ops.select(steps, 0, index) if isinstance(steps, Tensor) else steps


def _edge(values: Any, dim: int, steps: Any, order: int, last: bool) -> Any:
    """One-sided differences at the first or the last place."""
    size = values.shape[dim]
    at = [size - 1, size - 2, size - 3] if last else [0, 1, 2]
    near = _step(steps, -1 if last else 0)
    sign = 1 if last else -1
    a, b = (ops.slice(values, dim, i, i + 1) for i in at[:2])
    if order == 1:
        return ops.div(ops.mul(ops.sub(a, b), sign), near)
    c = ops.slice(values, dim, at[2], at[2] + 1)
    far = _step(steps, -2 if last else 1)
    total = near + far
    first = (2 * near + far) / (near * total)
    third = near / (far * total)
    inner = ops.sub(ops.mul(a, first), ops.mul(b, total / (near * far)))
    return ops.mul(ops.add(inner, ops.mul(c, third)), sign)


def _gradient_spacings(spacing: Any, count: int) -> list[Any]:
    if spacing is None:
        return [1.0] * count
    if isinstance(spacing, list | tuple):
        if len(spacing) != count:
            raise RuntimeError(
                "gradient expected spacing to be unspecified, a scalar, or a list of length "
                f"equal to the number of dims ({count}), got length {len(spacing)}"
            )
        return list(spacing)
    return [spacing] * count


def _gradient(input: Any, spacing: Any, dim: Any, edge_order: int) -> tuple[Any, ...]:
    if edge_order not in (1, 2):
        raise RuntimeError(f"gradient only supports edge_order=1 and edge_order=2, "
                           f"got {edge_order}")
    if dim is None:
        dims = list(range(input.ndim))
    else:
        given = dim if isinstance(dim, list | tuple) else (dim,)
        dims = [wrap_dim(d, input.ndim) for d in given]
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"gradient: dim {list(given)} names a dimension twice")
    if input.dtype in (dtypes.bool, dtypes.uint8):
        raise RuntimeError(f"gradient does not support {describe(input)}")
    if not is_inexact(input.dtype):
        input = ops.to_dtype(input, dtypes.get_default_dtype())
    results = []
    for d, step in zip(dims, _gradient_spacings(spacing, len(dims)), strict=True):
        if input.shape[d] < edge_order + 1:
            raise RuntimeError(
                f"gradient expected each dimension size to be at least {edge_order + 1}, "
                f"got {describe(input)}"
            )
        places = step
        if isinstance(step, Tensor):
            if step.ndim != 1 or step.shape[0] != input.shape[d]:
                raise RuntimeError(
                    "gradient expected each element of spacing to have one place for each "
                    f"element along dim {d} of {describe(input)}, got {describe(step)}"
                )
            places = _diff(step, 1, 0, None, None)
        parts = [_edge(input, d, places, edge_order, False)]
        if input.shape[d] > 2:
            parts.append(_central(input, d, places))
        parts.append(_edge(input, d, places, edge_order, True))
        results.append(ops.cat(tuple(parts), d))
    return tuple(results)


define(
    "gradient(Tensor input, *, object spacing=None, Ints? dim=None, int edge_order=1)",
    Kind.COMPOSITE,
    decompose=_gradient,
    method=False,
    doc="""Numerical derivatives of samples along each dim, by finite differences.

    Inside it is the central difference, of second order, which is exact for parabolas also
    with uneven spacing; at both edges it is a one-sided one.

    Args:
        input: a tensor of samples; integers are converted to the default dtype.
        spacing: the distance of samples: a number for all dims, or a list with a number or a
            vector of places for each dim; 1 if None.
        dim: the dim or dims; all if None.
        edge_order: 1 or 2, the order of the one-sided differences.

    Returns: a tuple with a tensor of the shape of `input` for each dim.

    Raises:
        RuntimeError: a dim has fewer than `edge_order + 1` samples or is named twice,
            `edge_order` is another number, `input` is bool or uint8, or the spacing does not
            suit the dims.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.gradient(gw.tensor([1.0, 4.0, 9.0, 16.0]))
        (tensor([3., 4., 6., 7.]),)
    """,
)
