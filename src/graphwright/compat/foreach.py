"""`_foreach_*`: one op for each tensor of a list, as PyTorch's optimisers call them.

A plain form gives a tuple of new tensors; an in-place one writes its tensors and gives their list
back. What stands beside the tensors is one number (or tensor of no dims) for all, a number for
each, or a tensor for each. TypeError for what is no list of tensors, RuntimeError for an empty
one and for lists of different lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphwright import linalg
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor

_ABSENT: Any = object()
_UNARY = """
    abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg
    reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc
"""
_BINARY = "clamp_max clamp_min div maximum minimum mul"
_SAME = {"maximum": "clamp_min", "minimum": "clamp_max"}
"""Ops by their forms that take numbers as well."""
_NUMBERS = (int, float, complex)


def _listed(name: str, tensors: Any) -> tuple[Any, ...]:
    """The tensors of a list or tuple."""
    if not isinstance(tensors, list | tuple):
        raise TypeError(
            f"{name}(): argument 'self' must be tuple of Tensors, not {type(tensors).__name__}"
        )
    if not tensors:
        raise RuntimeError(f"{name}: Tensor list must have at least one tensor.")
    for place, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"{name}(): expected Tensor as element {place} in argument 'self', but got "
                f"{type(tensor).__name__}"
            )
    return tuple(tensors)


def _for_each(name: str, value: Any, count: int) -> list[Any]:
    """A number or a tensor for each of `count` tensors."""
    if isinstance(value, list | tuple):
        if len(value) != count:
            raise RuntimeError(
                f"{name}: the lists must have the same number of elements, got {count} and "
                f"{len(value)}"
            )
        return list(value)
    if isinstance(value, Tensor):
        if value.ndim:
            raise RuntimeError(
                f"{name}: scalar tensor expected to be 0 dim but it has {value.ndim} dimensions "
                f"and {value.numel()} elements."
            )
    elif not isinstance(value, _NUMBERS):
        raise TypeError(
            f"{name}(): expected a number, a Tensor or a list of them, not {type(value).__name__}"
        )
    return [value] * count


def _one_of(name: str, *given: Any) -> Any:
    """The one value that was given, by whichever of its names. Raises TypeError otherwise."""
    values = [value for value in given if value is not _ABSENT]
    if len(values) != 1:
        raise TypeError(f"{name}() takes one operand beside the tensors, got {len(values)}")
    return values[0]


def _mapped(
    name: str, function: Callable[..., Any], inplace: bool, self: Any, *operands: Any
) -> Any:
    """The results of a function of each tensor and what stands beside it."""
    tensors = _listed(name, self)
    columns = [_for_each(name, operand, len(tensors)) for operand in operands]
    results = [function(*row) for row in zip(tensors, *columns, strict=True)]
    return self if inplace else tuple(results)


def _unary(name: str, function: Callable[[Any], Any], inplace: bool) -> Callable[..., Any]:
    def run(self: Any) -> Any:
        return _mapped(name, function, inplace, self)

    return _named(name, run)


def _binary(name: str, function: Callable[..., Any], inplace: bool) -> Callable[..., Any]:
    def run(
        self: Any, other: Any = _ABSENT, *, scalar: Any = _ABSENT, scalars: Any = _ABSENT
    ) -> Any:
        return _mapped(name, function, inplace, self, _one_of(name, other, scalar, scalars))

    return _named(name, run)


def _sum(name: str, function: Callable[..., Any], inplace: bool) -> Callable[..., Any]:
    def run(
        self: Any, other: Any = _ABSENT, *, alpha: Any = 1, scalar: Any = _ABSENT,
        scalars: Any = _ABSENT,
    ) -> Any:
        added = _one_of(name, other, scalar, scalars)
        if isinstance(added, _NUMBERS) and alpha != 1:
            raise TypeError(f"{name}(): alpha is a factor of tensors only")
        return _mapped(name, lambda a, b: function(a, b, alpha=alpha), inplace, self, added)

    return _named(name, run)


def _product(name: str, function: Callable[..., Any], inplace: bool) -> Callable[..., Any]:
    """addcmul and addcdiv: `value` is a number for all, or numbers for each, perhaps a tensor."""

    def run(
        self: Any, tensor1: Any, tensor2: Any, value: Any = _ABSENT, *, scalars: Any = _ABSENT
    ) -> Any:
        factor = 1 if value is scalars else _one_of(name, value, scalars)
        if isinstance(factor, Tensor):
            factor = factor.tolist()
        return _mapped(name, lambda a, b, c, v: function(a, b, c, value=v), inplace, self,
                       _listed(name, tensor1), _listed(name, tensor2), factor)

    return _named(name, run)


def _lerp(name: str, function: Callable[..., Any], inplace: bool) -> Callable[..., Any]:
    def run(
        self: Any, tensors1: Any, weight: Any = _ABSENT, *, weights: Any = _ABSENT,
        scalars: Any = _ABSENT,
    ) -> Any:
        return _mapped(name, function, inplace, self, _listed(name, tensors1),
                       _one_of(name, weight, weights, scalars))

    return _named(name, run)


def _named(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    return function


def _both(makers: Callable[..., Any], *names: str) -> dict[str, Callable[..., Any]]:
    """The plain and the in-place forms of some ops."""
    made = {}
    for op in names:
        for suffix, inplace in (("", False), ("_", True)):
            name = f"_foreach_{op}{suffix}"
            function = getattr(Tensor if inplace else ops, _SAME.get(op, op) + suffix)
            made[name] = makers(name, function, inplace)
    return made


def _foreach_pow(self: Any, exponent: Any) -> Any:
    """Powers: of tensors, or of one number to each of a list of tensors."""
    if isinstance(self, _NUMBERS):
        return _mapped("_foreach_pow", lambda tensor: ops.pow(self, tensor), False, exponent)
    return _mapped("_foreach_pow", ops.pow, False, self, exponent)


def _foreach_pow_(self: Any, exponent: Any) -> Any:
    return _mapped("_foreach_pow_", Tensor.pow_, True, self, exponent)


def _foreach_norm(self: Any, ord: float = 2, dtype: Any = None) -> Any:
    """The vector norm of all elements of each tensor."""
    return _mapped("_foreach_norm", lambda tensor: linalg.vector_norm(tensor, ord, dtype=dtype),
                   False, self)


def _foreach_copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Copies tensors into those of a list."""
    return _mapped("_foreach_copy_", lambda a, b: a.copy_(b, non_blocking), True, self,
                   _listed("_foreach_copy_", src))


def _group_tensors_by_device_and_dtype(
    tensorlistlist: Sequence[Sequence[Tensor | None]], with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[list[list[Tensor | None]], list[int]]]:
    """(device, dtype) of the first list's tensors -> (the lists, of those places; the places).

    The places are empty unless `with_indices`. Raises ValueError for lists of other lengths.
    """
    groups: dict[tuple[Any, Any], tuple[list[list[Tensor | None]], list[int]]] = {}
    for place, row in enumerate(zip(*tensorlistlist, strict=True)):
        first = row[0]
        if first is None:
            raise RuntimeError("the first list has a tensor at each place, got None")
        key = first.device, first.dtype
        lists, places = groups.setdefault(key, ([[] for _ in tensorlistlist], []))
        for found, tensor in zip(lists, row, strict=True):
            found.append(tensor)
        if with_indices:
            places.append(place)
    return groups


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **_both(_unary, *_UNARY.split()),
    **_both(_binary, *_BINARY.split()),
    **_both(_sum, "add", "sub"),
    **_both(_product, "addcmul", "addcdiv"),
    **_both(_lerp, "lerp"),
    "_foreach_clone": _unary("_foreach_clone", ops.clone, False),
    "_foreach_copy_": _foreach_copy_,
    "_foreach_max": _unary("_foreach_max", ops.max, False),
    "_foreach_norm": _foreach_norm,
    "_foreach_pow": _foreach_pow,
    "_foreach_pow_": _foreach_pow_,
    "_foreach_zero_": _unary("_foreach_zero_", Tensor.zero_, True),
}
"""By name; in `graphwright` they are attributes."""
