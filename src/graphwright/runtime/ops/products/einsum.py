"""`einsum` in PyTorch's full syntax, with a contraction path of our own.

Operands are reduced to tensors whose labels differ and each occur once. Pairs of them are then
contracted, in the order that costs the fewest multiplications (all orders are compared up to
six operands, beyond that the cheapest next step is taken), each pair as one batched matrix
product.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from graphwright.runtime import _core
from graphwright.runtime.dispatch import GRAD
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.products.einsum_order import contraction_path, kept_after
from graphwright.runtime.ops.products.vectors import require_tensors
from graphwright.runtime.ops.strides import contiguous_strides, product
from graphwright.runtime.ops.table import Kind, define
from graphwright.runtime.symbolic.symint import hint_of
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.tensor import Tensor

Labels = tuple[str, ...]
_ELLIPSIS = "..."


# -- reading the equation


def _terms(text: str, what: str) -> list[str]:
    """Labels of one operand; the ellipsis is one label."""
    found: list[str] = []
    at = 0
    while at < len(text):
        if text.startswith(_ELLIPSIS, at):
            if _ELLIPSIS in found:
                raise RuntimeError(f"einsum(): found '.' for {what} for which an ellipsis was "
                                   "already found")
            found.append(_ELLIPSIS)
            at += 3
            continue
        char = text[at]
        if char == ".":
            raise RuntimeError(f"einsum(): found '.' for {what} that is not part of any ellipsis")
        if not (char.isascii() and char.isalpha()):
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {at} for {what}, subscripts must be "
                f"in [a-zA-Z], got '{char}'"
            )
        found.append(char)
        at += 1
    return found


@lru_cache(maxsize=1024)
def _parsed(equation: str) -> tuple[list[list[str]], list[str] | None]:
    if not isinstance(equation, str):
        raise TypeError(
            f"einsum(): argument 'equation' must be str, not {type(equation).__name__}"
        )
    left, arrow, right = equation.replace(" ", "").partition("->")
    inputs = [_terms(part, f"operand {i}") for i, part in enumerate(left.split(","))]
    return inputs, _terms(right, "the output") if arrow else None


def _letter(number: Any) -> str:
    """The label of a number of the sublist format."""
    if number is Ellipsis:
        return _ELLIPSIS
    if not 0 <= number < 52:
        raise ValueError(
            f"einsum(): subscripts of the sublist format lie in [0, 52), got {number}"
        )
    return chr(ord("A") + number) if number < 26 else chr(ord("a") + number - 26)


def _from_sublists(values: Sequence[Any]) -> tuple[list[list[str]], list[str] | None, list[Any]]:
    tensors, inputs = list(values[0 : len(values) // 2 * 2 : 2]), []
    for sublist in values[1::2]:
        inputs.append([_letter(n) for n in sublist])
    output = [_letter(n) for n in values[-1]] if len(values) % 2 else None
    return inputs, output, tensors


def _expanded(labels: list[str], ndim: int, index: int) -> Labels:
    """The ellipsis as labels "0", "1".. counted from the right; one label for each dim."""
    covered = ndim - len(labels) + 1
    if _ELLIPSIS not in labels:
        if len(labels) != ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(labels)}) does not "
                f"match the number of dimensions ({ndim}) for operand {index} and no ellipsis "
                "was given"
            )
        return tuple(labels)
    if covered < 0:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({len(labels) - 1}) is more "
            f"than the number of dimensions ({ndim}) for operand {index}"
        )
    at = labels.index(_ELLIPSIS)
    hidden = [str(i) for i in range(covered - 1, -1, -1)]
    return (*labels[:at], *hidden, *labels[at + 1 :])


def _output_labels(output: list[str] | None, inputs: list[Labels]) -> Labels:
    """The labels of the result; without "->", those that occur once, in alphabetic order."""
    every = [label for labels in inputs for label in labels]
    hidden = sorted({label for label in every if label.isdigit()}, key=int, reverse=True)
    if output is None:
        once = sorted(label for label in set(every) if label.isalpha() and every.count(label) == 1)
        return (*hidden, *once)
    for label in output:
        if output.count(label) > 1:
            raise RuntimeError(
                f"einsum(): output subscript {label} appears more than once in the output"
            )
        if label != _ELLIPSIS and label not in every:
            raise RuntimeError(
                f"einsum(): output subscript {label} does not appear in the equation for any "
                "input operand"
            )
    return tuple(
        inner for label in output for inner in (hidden if label == _ELLIPSIS else [label])
    )


# -- operands with distinct labels


def _sizes(inputs: Sequence[Labels], operands: list[Any]) -> dict[str, Any]:
    """The size of each label. Raises RuntimeError where sizes differ and neither is 1."""
    sizes: dict[str, Any] = {}
    for index, (labels, operand) in enumerate(zip(inputs, operands, strict=True)):
        for label, size in zip(labels, operand.shape, strict=True):
            known = sizes.get(label, 1)
            if known == 1:
                sizes[label] = size
            elif size not in (1, known):
                raise RuntimeError(
                    f"einsum(): subscript {label} has size {size} for operand {index} which does "
                    f"not broadcast with previously seen size {known}"
                )
    return sizes


def _diagonal(labels: Labels, operand: Any) -> tuple[Labels, Any]:
    """Repeated labels of one operand become its diagonal."""
    while len(set(labels)) != len(labels):
        label = next(x for x in labels if labels.count(x) > 1)
        first = labels.index(label)
        second = labels.index(label, first + 1)
        if operand.shape[first] != operand.shape[second]:
            raise RuntimeError(
                f"einsum(): subscript {label} is repeated for an operand whose dims have sizes "
                f"{operand.shape[first]} and {operand.shape[second]}: {describe(operand)}"
            )
        operand = ops.diagonal(operand, 0, first, second)
        labels = (*(x for i, x in enumerate(labels) if i not in (first, second)), label)
    return labels, operand


def _reduced(
    labels: Labels, operand: Any, kept: set[str], sizes: dict[str, Any], dtype: Any
) -> tuple[Labels, Any]:
    """Without dims of size 1 that broadcast, and summed over labels that nothing else needs."""
    summed = tuple(i for i, x in enumerate(labels) if x not in kept)
    if summed:
        operand = ops.sum(operand, summed, dtype=dtype)
        labels = tuple(x for x in labels if x in kept)
    for i in range(len(labels) - 1, -1, -1):
        if operand.shape[i] == 1 and sizes[labels[i]] != 1:
            operand = ops.squeeze(operand, i)
            labels = (*labels[:i], *labels[i + 1 :])
    return labels, operand


# -- one contraction


def _arranged(operand: Any, labels: Labels, groups: tuple[Labels, ...]) -> Any:
    """Dims in the order of the groups, each group one dim."""
    order = tuple([labels.index(x) for group in groups for x in group])
    if order != tuple(range(len(order))):
        operand = ops.permute(operand, order)
    if all(len(group) == 1 for group in groups):
        return operand
    shape: list[Any] = []
    at = 0
    for group in groups:
        shape.append(product(operand.shape[at : at + len(group)]))
        at += len(group)
    return ops.reshape(operand, tuple(shape))


def _aligned(operand: Any, labels: Labels, wanted: Labels) -> Any:
    """Dims as in `wanted`, with size 1 where the operand lacks a label."""
    order = tuple(labels.index(x) for x in wanted if x in labels)
    operand = ops.permute(operand, order) if order else operand
    at = iter(operand.shape)
    return ops.reshape(operand, tuple(next(at) if x in labels else 1 for x in wanted))


def _contracted(
    a: tuple[Labels, Any], b: tuple[Labels, Any], kept: Labels, sizes: dict[str, Any]
) -> tuple[Labels, Any]:
    """The product of two operands, summed over their common labels that are not kept."""
    left, right = a[0], b[0]
    common = [x for x in left if x in right]
    summed = tuple(x for x in common if x not in kept)
    batch = tuple(x for x in common if x in kept)
    rows = tuple(x for x in left if x not in right)
    columns = tuple(x for x in right if x not in left)
    labels = (*batch, *rows, *columns)
    if not summed:
        return labels, ops.mul(_aligned(a[1], left, labels), _aligned(b[1], right, labels))
    shape = tuple(sizes[x] for x in labels)
    alone = len(rows) == len(columns) == 1 and len(batch) <= 1
    if batch:
        first = _arranged(a[1], left, (batch, rows, summed))
        second = _arranged(b[1], right, (batch, summed, columns))
        found = ops.bmm(first, second)
        return labels, found if alone else ops.reshape(found, shape)
    first = _arranged(a[1], left, (rows, summed))
    second = _arranged(b[1], right, (summed, columns))
    found = ops.mm(first, second)
    return labels, found if alone else ops.reshape(found, shape)


def _einsum(equation: Any, operands: tuple[Any, ...]) -> Any:
    if isinstance(equation, Tensor):
        terms, output, tensors = _from_sublists((equation, *operands))
    else:
        terms, output = _parsed(equation)
        tensors = list(operands)
    require_tensors("einsum", tensors)
    if len(tensors) == 2 and len(terms) == 2 and output is not None:
        plan = _pair_plan((tuple(terms[0]), tuple(terms[1])), tuple(output))
        if plan is not None and _fit(plan, *tensors):
            return _multiplied(plan, *tensors)
    if not tensors:
        raise RuntimeError("einsum(): must specify at least one operand")
    if len(terms) != len(tensors):
        relation = "fewer" if len(tensors) < len(terms) else "more"
        raise RuntimeError(
            f"einsum(): {relation} operands were provided than specified in the equation "
            f"({len(tensors)} and {len(terms)})"
        )
    inputs, result = _labelled(
        tuple(map(tuple, terms)),
        None if output is None else tuple(output),
        tuple(x.ndim for x in tensors),
    )
    return _evaluated(inputs, tensors, result)


class _Pair(NamedTuple):
    """A product of two operands as one matrix product: the orders of their dims, how many of
    them are batch dims, rows, summed and columns, which dims have to agree, the result's order."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    counts: tuple[int, int, int, int]
    common: tuple[tuple[int, int], ...]
    order: tuple[int, ...] | None


@lru_cache(maxsize=1024)
def _pair_plan(terms: tuple[Labels, Labels], output: Labels) -> _Pair | None:
    """None where labels repeat or are dropped without being summed over, or nothing is summed."""
    left, right = terms
    for labels in (left, right, output):
        if _ELLIPSIS in labels or len(set(labels)) != len(labels):
            return None
    common = [x for x in left if x in right]
    summed = [x for x in common if x not in output]
    batch = [x for x in common if x in output]
    rows = [x for x in left if x not in right]
    columns = [x for x in right if x not in left]
    result = [*batch, *rows, *columns]
    if not summed or set(result) != set(output):
        return None
    order = tuple(result.index(x) for x in output)
    return _Pair(
        tuple(left.index(x) for x in (*batch, *rows, *summed)),
        tuple(right.index(x) for x in (*batch, *summed, *columns)),
        (len(batch), len(rows), len(summed), len(columns)),
        tuple((left.index(x), right.index(x)) for x in common),
        None if order == tuple(range(len(order))) else order,
    )


def _fit(plan: _Pair, a: Any, b: Any) -> bool:
    """Whether the operands are plain ones of the plan's ranks, with nothing to broadcast."""
    if _core.dispatch_flags((a, b)) != 0 or a.dtype is not b.dtype:
        return False
    if a.ndim != len(plan.left) or b.ndim != len(plan.right):
        return False
    first, second = a.shape, b.shape
    return all([first[i] == second[j] for i, j in plan.common])


def _multiplied(plan: _Pair, a: Any, b: Any) -> Any:
    a, b = _permuted(a, plan.left), _permuted(b, plan.right)
    batch, rows, summed, columns = plan.counts
    first, second = a.shape, b.shape
    if batch == 0 and rows == summed == columns == 1:
        out = ops.mm(a, b)
    else:
        lead, inner = first[:batch], (math.prod(first[batch + rows :]),)
        one = (math.prod(lead),) if batch else ()
        a = ops.reshape(a, (*one, math.prod(first[batch : batch + rows]), *inner))
        b = ops.reshape(b, (*one, *inner, math.prod(second[batch + summed :])))
        out = (ops.bmm if batch else ops.mm)(a, b)
        out = ops.reshape(out, (*first[: batch + rows], *second[batch + summed :]))
    return out if plan.order is None else ops.permute(out, plan.order)


def _permuted(x: Any, order: tuple[int, ...]) -> Any:
    return x if order == tuple(range(len(order))) else ops.permute(x, order)


@lru_cache(maxsize=1024)
def _labelled(
    terms: tuple[Labels, ...], output: Labels | None, ndims: tuple[int, ...]
) -> tuple[tuple[Labels, ...], Labels]:
    """The labels of each operand and of the result, without ellipses."""
    pairs = zip(terms, ndims, strict=True)
    inputs = tuple(_expanded(list(t), ndim, i) for i, (t, ndim) in enumerate(pairs))
    return inputs, _output_labels(None if output is None else list(output), list(inputs))


def _evaluated(inputs: Sequence[Labels], tensors: list[Any], result: Labels) -> Any:
    sizes = _sizes(inputs, tensors)
    parts: dict[frozenset[int], tuple[Labels, Any]] = {}
    dtype = tensors[0].dtype if len(tensors) > 1 else None
    for index, (labels, operand) in enumerate(zip(inputs, tensors, strict=True)):
        if operand.dtype is not tensors[0].dtype:
            raise RuntimeError(
                f"einsum(): expected operands of one dtype, got {describe(tensors[0])} and "
                f"{describe(operand)}"
            )
        others = {x for i, other in enumerate(inputs) if i != index for x in other}
        own = _diagonal(labels, operand)
        parts[frozenset([index])] = _reduced(*own, {*others, *result}, sizes, dtype)
    names = tuple(parts[frozenset([i])][0] for i in range(len(tensors)))
    hints = tuple(sorted((x, int(hint_of(n))) for x, n in sizes.items()))
    for left, right in contraction_path(names, result, hints):
        kept = kept_after(left | right, names, result)
        a, b = parts.pop(left), parts.pop(right)
        pair = _contracted(a, b, kept, sizes)
        parts[left | right] = _reduced(*pair, set(kept), sizes, dtype)
    ((labels, value),) = parts.values()
    order = tuple(labels.index(x) for x in result)
    return value if order == tuple(range(len(order))) else ops.permute(value, order)


# -- few elements: one nest of loops


class _Nest(NamedTuple):
    """Sizes of the labels, the result's first; each operand's strides; those of the result."""

    sizes: tuple[int, ...]
    steps: tuple[tuple[int, ...], ...]
    strides: tuple[int, ...]


def _steps_of(labels: Labels, shape: tuple[int, ...], order: tuple[str, ...]) -> tuple[int, ...]:
    """Strides of a contiguous operand along all labels; one that occurs twice is a diagonal."""
    steps = dict.fromkeys(order, 0)
    for label, size, stride in zip(labels, shape, contiguous_strides(shape), strict=True):
        steps[label] += stride if size > 1 else 0
    return tuple(steps.values())


@lru_cache(maxsize=1024)
def _nest(equation: str, shapes: tuple[tuple[int, ...], ...]) -> _Nest | None:
    """None where the nest is too long for loops without BLAS, or the result is a view."""
    like = [_core.meta(Tensor, x, contiguous_strides(x), dtypes.float32, _META) for x in shapes]
    strides = _einsum(equation, tuple(like)).stride()
    terms, output = _parsed(equation)
    inputs, result = _labelled(
        tuple(map(tuple, terms)),
        None if output is None else tuple(output),
        tuple(map(len, shapes)),
    )
    sizes = _sizes(inputs, like)
    is_view = len(inputs) == 1 and set(result) == set(inputs[0])
    if is_view or math.prod(sizes.values()) > _MOST_STEPS:
        return None
    order = (*result, *(x for x in sizes if x not in result))
    steps = tuple(_steps_of(x, shape, order) for x, shape in zip(inputs, shapes, strict=True))
    return _Nest(tuple(sizes[x] for x in order), steps, tuple(strides))


_META = Device("meta")
_MOST_STEPS = 4096
_FEW = 3
"""Operands up to which the gradients are products of all others rather than those of the parts."""


def _plain_labels(equation: str, ndims: tuple[int, ...]) -> tuple[tuple[Labels, ...], Labels]:
    """The labels of the operands and of the result, in an equation without ellipses."""
    terms, output = _parsed(equation)
    return _labelled(tuple(map(tuple, terms)), None if output is None else tuple(output), ndims)


@lru_cache(maxsize=1024)
def _view_of(
    equation: str, shape: tuple[int, ...]
) -> tuple[list[tuple[int, int]], tuple[int, ...]] | None:
    """The dims whose diagonals are taken, and the order of those that are left; None where some
    are summed over, or sizes differ."""
    inputs, result = _plain_labels(equation, (len(shape),))
    labels, pairs, sizes = list(inputs[0]), [], list(shape)
    while len(set(labels)) != len(labels):
        label = next(x for x in labels if labels.count(x) > 1)
        first = labels.index(label)
        second = labels.index(label, first + 1)
        if sizes[first] != sizes[second]:
            return None
        pairs.append((first, second))
        labels = [*(x for i, x in enumerate(labels) if i not in (first, second)), label]
        size = sizes[first]
        sizes = [*(n for i, n in enumerate(sizes) if i not in (first, second)), size]
    if set(labels) != set(result):
        return None
    return pairs, tuple(labels.index(x) for x in result)


def _is_plain(equation: Any, operands: tuple[Any, ...]) -> bool:
    """Whether there is a real tensor for each term of a text."""
    return (
        equation.__class__ is str
        and len(operands) == len(_parsed(equation)[0])
        and all([x.__class__ is Tensor and not x.dtype.is_complex for x in operands])
    )


def _turned(equation: str, operands: tuple[Any, ...]) -> Any:
    """A view, where one operand is only turned; else None."""
    operand, view = operands[0], None
    if len(operands) == 1:
        view = _view_of(equation, tuple(operand.shape))
    if view is None:
        return None
    for first, second in view[0]:
        operand = ops.diagonal(operand, 0, first, second)
    return operand if view[1] == tuple(range(len(view[1]))) else ops.permute(operand, view[1])


def _einsum_eager(equation: Any, operands: tuple[Any, ...]) -> Any:
    if not _is_plain(equation, operands):
        return _einsum(equation, operands)
    view = _turned(equation, operands)
    if view is not None:
        return view
    nest = _nest(equation, tuple([x.shape for x in operands]))
    if nest is not None:
        out = _core.contract(Tensor, operands, *nest)
        if out is not None:
            return out
    return _einsum(equation, operands)


# -- few elements, recorded: one node


def _nest_eager(operands: Any, equation: str) -> Tensor:
    return _einsum_eager(equation, tuple(operands))


def _nest_vjp(ctx: Any, grad: Any) -> tuple[list[Any]]:
    """The result is linear in each operand, so that its gradient is a product with the others."""
    operands = ctx.operands
    inputs, result = _plain_labels(ctx.equation, tuple(len(x.shape) for x in operands))
    return ([
        _toward(i, inputs, result, operands, grad) if needed else None
        for i, needed in enumerate(ctx.needs["operands"])
    ],)  # fmt: skip


def _toward(
    index: int, inputs: Sequence[Labels], result: Labels, operands: Sequence[Any], grad: Any
) -> Any:
    """The gradient of one operand.

    Labels that it alone has were summed over; along those in which it has size 1 it was expanded.
    """
    own, shape, diagonals = _without_repeats(inputs[index], operands[index].shape)
    rest = [i for i in range(len(inputs)) if i != index]
    known = {*result, *(x for i in rest for x in inputs[i])}
    letters = {x: _letter(n) for n, x in enumerate(sorted(known))}
    parts = (result, *(inputs[i] for i in rest))
    terms = ",".join("".join(letters[x] for x in labels) for labels in parts)
    kept = [x for x, size in zip(own, shape, strict=True) if x in known and size != 1]
    order = "".join(letters[x] for x in kept)
    found = ops.einsum(f"{terms}->{order}", grad, *(operands[i] for i in rest))
    for dim, label in enumerate(own):
        found = found if label in kept else ops.unsqueeze(found, dim)
    pairs = zip(found.shape, shape, strict=True)
    found = ops.expand(found, tuple(size if n == 1 else n for n, size in pairs))
    for whole, first, second in reversed(diagonals):
        found = ops.diagonal_backward(found, whole, 0, first, second)
    return found


def _without_repeats(
    labels: Labels, shape: Sequence[Any]
) -> tuple[Labels, tuple[Any, ...], list[tuple[tuple[Any, ...], int, int]]]:
    """Labels and sizes after the diagonals that `_diagonal` takes, and the shapes and dims of
    these.
    """
    diagonals = []
    own, sizes = tuple(labels), tuple(shape)
    while len(set(own)) != len(own):
        label = next(x for x in own if own.count(x) > 1)
        first = own.index(label)
        second = own.index(label, first + 1)
        diagonals.append((sizes, first, second))
        kept = [i for i in range(len(own)) if i not in (first, second)]
        own = (*(own[i] for i in kept), label)
        sizes = (*(sizes[i] for i in kept), sizes[first])
    return own, sizes, diagonals


def _recorded(equation: Any, operands: tuple[Any, ...]) -> Any:
    """The parts; of few elements, where only gradients are wanted, one product of all."""
    plain = len(operands) <= _FEW and _is_plain(equation, operands)
    if plain and _core.dispatch_flags(operands) == GRAD:
        view = _turned(equation, operands)
        if view is not None:
            return view
        if _nest(equation, tuple([x.shape for x in operands])) is not None:
            return ops.einsum_nest(operands, equation)
    return _einsum(equation, operands)


define(
    "einsum_nest(Tensor[] operands, object equation)",
    Kind.COMPOSITE,
    vjp=_nest_vjp,
    saves=("operands",),
    decompose=lambda operands, equation: _einsum(equation, tuple(operands)),
    eager=_nest_eager,
    method=False,
    public=False,
)
define(
    "einsum(object equation, Operands* operands)",
    Kind.COMPOSITE,
    decompose=_recorded,
    eager=_einsum_eager,
    method=False,
    doc="""Sum of products in Einstein's notation: labels that the output lacks are summed over.

    The order of contractions of many operands is chosen by the sizes.

    Args:
        equation: labels of each operand and of the output, such as "ij,jk->ik"; "..." stands
            for dims that are broadcast; a label twice in one operand is a diagonal. Without
            "->" the output has the labels that occur once, in alphabetical order. Instead,
            operands and lists of label numbers may alternate, the output's list last.
        operands: one tensor for each term, or a list of them, of one dtype.

    Returns: a tensor with the dims of the output's labels.

    Raises:
        RuntimeError: the equation does not fit the operands, or sizes of a label differ.
        TypeError: the equation is no string.

    Example:
        >>> gw.einsum("ij,jk->ki", gw.tensor([[1, 2], [3, 4]]), gw.tensor([[1], [1]]))
        tensor([[3, 7]])
        >>> gw.einsum("ii", gw.eye(3))
        tensor(3.)
    """,
)
