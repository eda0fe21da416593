"""`associative_scan`: all partial results of an associative function of two values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime.batching.vmap import vmap
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

_MODES = ("pointwise", "generic")


def associative_scan(
    combine_fn: Callable[[Any, Any], Any],
    xs: Any,
    dim: int,
    reverse: bool = False,
    combine_mode: str = "pointwise",
) -> Any:
    """(x0, x0 * x1, x0 * x1 * x2, ...) along a dim, `*` being `combine_fn`.

    In log2(n) steps, each of which combines what lies 1, 2, 4, ... apart (Hillis and Steele,
    "Data parallel algorithms", 1986).

    Args:
        combine_fn: an associative function of two values of the structure of `xs`, which returns
            a third one.
        xs: a tensor, or tensors in nested containers; all have n elements along `dim`.
        dim: the dim.
        reverse: begin at the last element.
        combine_mode: "pointwise": `combine_fn` takes many elements at once, elementwise;
            "generic": it takes one element of each tensor, without `dim`.

    Returns:
        The results, of the structure and sizes of `xs`.

    Raises:
        ValueError: another mode, no tensors, or different lengths along `dim`.
        RuntimeError: `combine_fn` returns another structure.
    """
    if combine_mode not in _MODES:
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got "
                         f"{combine_mode}")
    leaves, structure = tree_flatten(xs)
    lengths = [leaf.shape[dim] if isinstance(leaf, Tensor) and leaf.ndim else 0 for leaf in leaves]
    if not leaves or min(lengths) < 1 or len(set(lengths)) > 1:
        raise ValueError("associative_scan: xs must be tensors with the same number of elements "
                         f"along dim {dim}, at least 1; got {lengths}")
    combine = combine_fn if combine_mode == "pointwise" else vmap(combine_fn)
    values = [leaf.movedim(dim, 0) for leaf in leaves]
    values = [ops.flip(value, (0,)) for value in values] if reverse else values
    apart = 1
    while apart < lengths[0]:
        earlier = [value[:-apart] for value in values]
        later = [value[apart:] for value in values]
        joined = _combined(combine, earlier, later, structure)
        values = [ops.cat([v[:apart], j]) for v, j in zip(values, joined, strict=True)]
        apart *= 2
    values = [ops.flip(value, (0,)) for value in values] if reverse else values
    return tree_unflatten([value.movedim(0, dim) for value in values], structure)


def _combined(
    combine: Callable[[Any, Any], Any], one: list[Any], two: list[Any], structure: TreeSpec
) -> list[Any]:
    made, found = tree_flatten(combine(tree_unflatten(one, structure),
                                       tree_unflatten(two, structure)))
    if found != structure:
        raise RuntimeError("associative_scan: combine_fn must return the structure of xs, "
                           f"{structure}, not {found}")
    return made
