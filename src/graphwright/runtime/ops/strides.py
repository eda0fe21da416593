"""Stride rules: broadcasting, layouts of outputs, strides of reshaped views.

Written with arithmetic and comparisons on sizes only, so that sizes may be symbolic.
Formulas follow PyTorch's TensorIterator (reorder_dimensions) and computeStride.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Sizes = tuple[Any, ...]


def product(sizes: Sequence[Any]) -> Any:
    """Product of sizes; 1 for none."""
    total: Any = 1
    for size in sizes:
        total = total * size
    return total


def _widens(size: Any) -> bool:
    """Whether strides grow by a size. One that may be 0 is assumed to be or not to be."""
    return bool(size > 1 if size.__class__ is int else size != 0)


def contiguous_strides(shape: Sequence[Any]) -> Sizes:
    """Row-major strides; a size of 0 counts as 1."""
    strides: list[Any] = []
    step: Any = 1
    for size in reversed(shape):
        strides.append(step)
        if _widens(size):
            step = step * size
    strides.reverse()
    return tuple(strides)


def is_contiguous(shape: Sizes, strides: Sizes) -> bool:
    """Whether elements lie in row-major order without gaps."""
    if strides == contiguous_strides(shape) or any(size == 0 for size in shape):
        return True
    expected: Any = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected = expected * size
    return True


def is_dense(shape: Sizes, strides: Sizes) -> bool:
    """Whether the elements fill their memory without overlap, in whatever order of dims."""
    if is_contiguous(shape, strides):
        return True
    kept = [(stride, size) for size, stride in zip(shape, strides, strict=True) if size != 1]
    kept.sort(key=lambda pair: pair[0])
    expected: Any = 1
    for stride, size in kept:
        if stride != expected:
            return False
        expected = expected * size
    return True


def nesting(strides: Sizes) -> list[int]:
    """The dimensions by their strides, fastest first."""
    return sorted(range(len(strides)), key=lambda dim: (strides[dim], -dim))


def may_overlap(shape: Sizes, strides: Sizes) -> bool:
    """Whether elements may share memory: whether no dim steps over all that faster ones span."""
    if 0 in shape or is_contiguous(shape, strides):
        return False
    last: Any = 0
    for dim in nesting(strides):
        if shape[dim] != 1:
            if strides[dim] <= last:
                return True
            last = last + (shape[dim] - 1) * strides[dim]
    return False


def dense_order(shape: Sizes, strides: Sizes) -> tuple[int, ...] | None:
    """The dimensions of a dense tensor, fastest first; None if its memory has gaps.

    Strides of dimensions of size 1 say nothing about memory, but programs can read them: they
    too have to be what the sizes give.
    """
    order = nesting(strides)
    expected: Any = 1
    for dim in order:
        if strides[dim] != expected:
            return None
        if shape[dim]:
            expected = expected * shape[dim]
    return tuple(order)


def same_shape(a: Sizes, b: Sizes) -> bool:
    """Whether two shapes are equal.

    Tuples compare their items before their lengths, and comparing symbolic sizes leaves a guard
    behind: so the lengths come first.
    """
    return len(a) == len(b) and a == b


def broadcast_shapes(name: str, shapes: Sequence[Sizes]) -> Sizes:
    """The shape to which all broadcast. Raises RuntimeError where they do not."""
    first = shapes[0]
    if all(same_shape(shape, first) for shape in shapes[1:]):
        return first
    ndim = max(len(shape) for shape in shapes)
    result: list[Any] = [1] * ndim
    for shape in shapes:
        lead = ndim - len(shape)
        for i, size in enumerate(shape):
            at = lead + i
            if size == 1:
                continue
            if result[at] == 1:
                result[at] = size
            elif result[at] != size:
                raise RuntimeError(
                    f"{name}: the sizes {result[at]} and {size} do not match at dimension {at} "
                    f"of the broadcast shape; operands have shapes "
                    f"{', '.join(str(list(s)) for s in shapes)}"
                )
    return tuple(result)


def broadcast_strides(shape: Sizes, strides: Sizes, target: Sizes) -> Sizes:
    """Strides of a tensor expanded to `target`: 0 along broadcast dims."""
    lead = len(target) - len(shape)
    expanded: list[Any] = [0] * lead
    for i, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        same = size is target[lead + i] or size == target[lead + i]
        expanded.append(stride if same else 0)
    return tuple(expanded)


def _should_swap(shape: Sizes, operands: Sequence[Sizes], inner: int, outer: int) -> int:
    for strides in operands:
        a, b = strides[inner], strides[outer]
        if a == 0 or b == 0:
            continue
        if a < b:
            return -1
        if a > b:
            return 1
        if shape[inner] > shape[outer]:
            return 1
    return 0


def permutation(shape: Sizes, operands: Sequence[Sizes]) -> list[int]:
    """Dims from fastest to slowest, by the strides of the operands in order of importance."""
    ndim = len(shape)
    perm = list(range(ndim - 1, -1, -1))
    for i in range(1, ndim):
        at = i
        for j in range(i - 1, -1, -1):
            order = _should_swap(shape, operands, perm[j], perm[at])
            if order > 0:
                perm[j], perm[at] = perm[at], perm[j]
                at = j
            elif order < 0:
                break
    return perm


def strides_in_order(shape: Sizes, perm: Sequence[int]) -> Sizes:
    """Dense strides where `perm` lists dims from fastest to slowest."""
    strides: list[Any] = [0] * len(shape)
    step: Any = 1
    for dim in perm:
        strides[dim] = step
        if _widens(shape[dim]):
            step = step * shape[dim]
    return tuple(strides)


def _channels_last(shape: Sizes, strides: Sizes) -> bool:
    """Whether the channels of images lie together, in row-major order of the places."""
    expected: Any = 1
    for dim in (1, *range(len(shape) - 1, 1, -1), 0):
        if shape[dim] == 1:
            continue
        if strides[dim] != expected:
            return False
        expected = expected * shape[dim]
    return True


def _iterated_strides(shape: Sizes, operands: Sequence[Sizes]) -> Sizes:
    """Of operands whose layouts differ. A size of 0 counts, as it does in no other layout."""
    strides: list[Any] = [0] * len(shape)
    step: Any = 1
    order = permutation(shape, operands)
    if order == list(range(len(shape) - 1, -1, -1)):
        return contiguous_strides(shape)
    for dim in order:
        strides[dim] = step
        step = step * shape[dim]
    return tuple(strides)


def is_with_number(name: str, operands: Sequence[Any]) -> bool:
    """Whether a number is an operand as a tensor would be; else numbers say what is done."""
    paired = name == "where" or (len(operands) == 2 and name != "pow")
    return paired and not all(hasattr(operand, "shape") for operand in operands)


def pointwise_strides(
    shape: Sizes, operands: Sequence[tuple[Sizes, Sizes]], numbers: bool = False
) -> Sizes:
    """Strides of a pointwise result for operands given as (shape, strides).

    `numbers`: an operand is one, which has no dims to be like those of the others.
    """
    if len(shape) < 2:
        return contiguous_strides(shape)
    if not numbers and all(same_shape(own, shape) for own, _ in operands):
        if all(is_contiguous(own, strides) for own, strides in operands):
            return contiguous_strides(shape)
        if len(shape) in (4, 5) and all(_channels_last(*operand) for operand in operands):
            return strides_in_order(shape, [1, *range(len(shape) - 1, 1, -1), 0])
        first = operands[0][1]
        if all(strides == first for _, strides in operands) and is_dense(shape, first):
            return first
    expanded = [broadcast_strides(own, strides, shape) for own, strides in operands]
    return _iterated_strides(shape, expanded)


def preserved_strides(shape: Sizes, strides: Sizes) -> Sizes:
    """Strides of `empty_like`, `clone`: kept where dense, else dense in the same order."""
    if is_dense(shape, strides):
        return strides
    return strides_in_order(shape, permutation(shape, [strides]))


def infer_size(name: str, shape: Sizes, size: Sizes) -> Sizes:
    """Replace a -1 in `size`. Raises RuntimeError where the element counts differ."""
    total = product(shape)
    known: Any = 1
    hole = None
    for i, n in enumerate(size):
        if n.__class__ is int and n < 0:
            if n != -1:
                raise RuntimeError(f"{name}: invalid shape dimension {n}")
            if hole is not None:
                raise RuntimeError(f"{name}: only one dimension can be inferred")
            hole = i
        else:
            known = known * n
    if hole is None:
        if known != total:
            raise RuntimeError(
                f"{name}: shape {list(size)} is invalid for input of size {total} "
                f"(shape {list(shape)})"
            )
        return size
    if known == 0:
        raise RuntimeError(
            f"{name}: cannot infer the size of dimension {hole} of {list(size)} for an input "
            f"of shape {list(shape)}: it may be anything"
        )
    missing = total // known
    if missing * known != total:
        raise RuntimeError(
            f"{name}: shape {list(size)} is invalid for input of size {total} "
            f"(shape {list(shape)})"
        )
    return (*size[:hole], missing, *size[hole + 1 :])


def view_strides(shape: Sizes, strides: Sizes, size: Sizes) -> Sizes | None:
    """Strides of a view of another shape; None where a copy is needed."""
    if strides == contiguous_strides(shape):
        return contiguous_strides(size)
    if product(shape) == 0:
        return strides if same_shape(shape, size) else contiguous_strides(size)
    return _split_chunks(shape, strides, size)


def _split_chunks(shape: Sizes, strides: Sizes, size: Sizes) -> Sizes | None:
    """Fill `size` from the right with chunks of dims that are contiguous in memory."""
    result: list[Any] = [0] * len(size)
    at = len(size) - 1
    base = strides[-1] if strides else 1
    chunk: Any = 1
    taken: Any = 1
    for dim in range(len(shape) - 1, -1, -1):
        chunk = chunk * shape[dim]
        ends = dim == 0 or (shape[dim - 1] != 1 and strides[dim - 1] != chunk * base)
        if not ends:
            continue
        while at >= 0 and (taken < chunk or size[at] == 1):
            result[at] = taken * base
            taken = taken * size[at]
            at -= 1
        if taken != chunk:
            return None
        if dim > 0:
            base = strides[dim - 1]
            chunk, taken = 1, 1
    return tuple(result) if at < 0 else None
