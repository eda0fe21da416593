"""`vmap`: a function of one example applied to a batch; `stack_module_state` for ensembles.

The function is called once for every row, and the results are stacked: it may do anything that
Python can, and costs as many calls as there are rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphwright.runtime.ops import _face as ops
from graphwright.runtime.random import get_rng_state, set_rng_state
from graphwright.runtime.tensor import Tensor
from graphwright.runtime.trees import of_kind

Func = Callable[..., Any]
_RANDOMNESS = ("error", "different", "same")


def _spread(dims: Any, value: Any, what: str) -> Any:
    """`dims` with the structure of `value`: one number stands for every tensor below it."""
    if dims is None or isinstance(dims, int):
        if isinstance(value, dict):
            return {key: _spread(dims, part, what) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [_spread(dims, part, what) for part in value]
        return dims
    if isinstance(dims, dict) and isinstance(value, dict) and dims.keys() == value.keys():
        return {key: _spread(dims[key], part, what) for key, part in value.items()}
    sequences = isinstance(dims, list | tuple) and isinstance(value, list | tuple)
    if sequences and len(dims) == len(value):
        return [_spread(d, part, what) for d, part in zip(dims, value, strict=True)]
    raise ValueError(f"vmap: {what} is not compatible with the structure of the values")


def _check_dim(dim: int, tensor: Any) -> None:
    if not isinstance(tensor, Tensor):
        raise ValueError(
            f"vmap: got in_dim={dim} for an input of type {type(tensor)}, which cannot be mapped "
            "over; use in_dim=None for it"
        )
    if not -tensor.ndim <= dim < tensor.ndim:
        raise ValueError(
            f"vmap: got in_dim={dim} for a tensor of dimensionality {tensor.ndim}; expected "
            f"-{tensor.ndim} <= in_dim < {tensor.ndim}"
        )


def _sizes(dims: Any, value: Any) -> list[int]:
    """The sizes of all dims that are mapped over."""
    if dims is None:
        return []
    if isinstance(dims, int):
        _check_dim(dims, value)
        return [value.shape[dims]]
    keys = dims if isinstance(dims, dict) else range(len(dims))
    return [size for key in keys for size in _sizes(dims[key], value[key])]


def _row(dims: Any, value: Any, index: int) -> Any:
    """The example at `index`."""
    if dims is None:
        return value
    if isinstance(dims, int):
        return ops.select(value, dims, index)
    if isinstance(dims, dict):
        return {key: _row(dim, value[key], index) for key, dim in dims.items()}
    parts = [_row(dim, part, index) for dim, part in zip(dims, value, strict=True)]
    return of_kind(value, parts)


def _stacked(dims: Any, rows: list[Any]) -> Any:
    """The results of all rows as one, along `dims`."""
    first = rows[0]
    if isinstance(first, Tensor):
        if dims is None:
            return first
        if not -first.ndim - 1 <= dims <= first.ndim:
            raise IndexError(
                f"vmap: out_dim={dims} is out of range for an output of {first.ndim} dims"
            )
        return ops.stack(rows, dims)
    if isinstance(first, dict):
        return {key: _stacked(dims[key], [row[key] for row in rows]) for key in first}
    if isinstance(first, list | tuple):
        parts = [
            _stacked(dim, list(column))
            for dim, column in zip(dims, zip(*rows, strict=True), strict=True)
        ]
        return of_kind(first, parts)
    raise ValueError(
        f"vmap: the function must only return Tensors, got type {type(first)}"
    )


def vmap(
    func: Func,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Func:
    """A function that applies `func` to every example of a batch.

    Args:
        in_dims: the dim of each positional argument that counts examples; None for one that
            all share; may have the structure of nested arguments.
        out_dims: the dim of each output that counts examples.
        randomness: "same" or "different" numbers for the examples; "error" asks for functions
            without any, and is not checked.
        chunk_size: without effect.

    Raises:
        ValueError: without arguments to map over, for dims that do not exist or whose sizes
            differ, and where `func` returns what is no tensor.
    """
    if randomness not in _RANDOMNESS:
        raise RuntimeError(
            f"Only allowed values for randomness are {_RANDOMNESS}, got {randomness}"
        )

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        given: Sequence[Any] = list(args)
        if not given:
            raise ValueError(
                "vmap: the function was called without positional arguments; there is nothing "
                "to map over"
            )
        dims = _spread(in_dims, given, f"in_dims={in_dims}")
        sizes = _sizes(dims, given)
        if not sizes:
            raise ValueError("vmap: in_dims maps over no tensor")
        if len(set(sizes)) > 1:
            raise ValueError(
                "vmap: Expected all tensors to have the same size in the mapped dimension, got "
                f"sizes {sizes} for the mapped dimension"
            )
        rows = _called(func, dims, given, kwargs, sizes[0], randomness)
        return _stacked(_spread(out_dims, rows[0], f"out_dims={out_dims}"), rows)

    return wrapped


def _called(
    func: Func, dims: Any, given: Any, kwargs: Any, count: int, randomness: str
) -> list[Any]:
    """`func` of every row; with the same random numbers in each where that is asked."""
    if count == 0:
        raise ValueError("vmap: the mapped dimension has no elements")
    state = get_rng_state() if randomness == "same" else None
    rows = []
    for index in range(count):
        if state is not None:
            set_rng_state(state)
        rows.append(func(*_row(dims, given, index), **kwargs))
    return rows


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """(parameters, buffers) of several models of one architecture, stacked, by name.

    Parameters are leaves that require gradients as those of the models do. Raises RuntimeError
    for no models, models of different classes or of different training modes.
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    if any(model.training is not models[0].training for model in models):
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    parameters = {
        name: ops.stack([dict(m.named_parameters())[name].detach() for m in models])
        .requires_grad_(first.requires_grad)
        for name, first in models[0].named_parameters()
    }
    buffers = {
        name: ops.stack([dict(m.named_buffers())[name] for m in models])
        for name, _ in models[0].named_buffers()
    }
    return parameters, buffers
