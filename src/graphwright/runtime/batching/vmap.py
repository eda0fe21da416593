"""`vmap`: a function of one example applied to a batch; `stack_module_state` for ensembles.

The function is called once, with tensors that stand for the examples of the whole batch: see
`batching`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from graphwright.runtime.batching import boundary
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.runtime.trees import leaves_of, rebuilt, with_leaves

Func = Callable[..., Any]
_RANDOMNESS = ("error", "different", "same")


def _name(func: Any) -> str:
    return getattr(func, "__name__", None) or repr(func)


class _Mismatch(Exception):
    """Dims that do not have the structure of the values."""


def _spread(dims: Any, value: Any) -> list[Any]:
    """The dim of each leaf of `value`: one number stands for every leaf below it."""
    if not isinstance(dims, (list, tuple, dict)):
        return [dims for _ in leaves_of(value)]
    if isinstance(dims, dict):
        if not isinstance(value, dict) or dims.keys() != value.keys():
            raise _Mismatch
        pairs = [(dims[key], value[key]) for key in value]
    else:
        if type(value) is not type(dims) or len(dims) != len(value):
            raise _Mismatch
        pairs = list(zip(dims, value, strict=True))
    return [dim for part, held in pairs for dim in _spread(part, held)]


def _in_dims(func: Func, in_dims: Any, args: tuple[Any, ...]) -> list[Any]:
    """The dim of each leaf of the arguments. Raises ValueError; see `vmap`."""
    call = f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{call}expected `in_dims` to be int or a (potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or "
            "you are trying to vmap over a function with no inputs. The latter is unsupported."
        )
    try:
        dims = _spread(in_dims, args)
    except _Mismatch:
        raise ValueError(
            f"{call}in_dims is not compatible with the structure of `inputs`. in_dims has "
            f"structure {in_dims} but inputs has {len(args)} arguments of other structure."
        ) from None
    leaves = leaves_of(args)
    return [_in_dim(call, dim, leaf) for dim, leaf in zip(dims, leaves, strict=True)]


def _in_dim(call: str, dim: Any, leaf: Any) -> int | None:
    """One of them, counted from the first dimension."""
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            f"{call}Got in_dim={dim} for an input but in_dim must be either an integer dimension "
            "or None."
        )
    if not isinstance(leaf, Tensor):
        raise ValueError(
            f"{call}Got in_dim={dim} for an input but the input is of type {type(leaf)}. We "
            "cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
        )
    rank = leaf.ndim
    if dim < -rank or dim >= rank:
        raise ValueError(
            f"{call}Got in_dim={dim} for some input, but that input is a Tensor of "
            f"dimensionality {rank} so expected in_dim to satisfy -{rank} <= in_dim < {rank}."
        )
    return dim % rank


def _batch_size(dims: list[Any], leaves: list[Any]) -> Any:
    """How many examples there are. Raises ValueError where inputs disagree, or none counts."""
    pairs = list(zip(dims, leaves, strict=True))
    sizes = [leaf.shape[dim] for dim, leaf in pairs if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    for size in sizes:
        if size != sizes[0]:
            raise ValueError(
                "vmap: Expected all tensors to have the same size in the mapped dimension, got "
                f"sizes {sizes} for the mapped dimension"
            )
    return sizes[0]


def _out_dims(func: Func, out_dims: Any, out: Any) -> list[Any]:
    """The dim of each leaf of the outputs. Raises ValueError; see `vmap`."""
    call = f"vmap({_name(func)}, ..., out_dims={out_dims})(<inputs>): "
    if isinstance(out_dims, (list, tuple)) and isinstance(out, Tensor) and len(out_dims) == 1:
        out_dims = out_dims[0]
    if not isinstance(out_dims, (int, list, tuple, dict)) and out_dims is not None:
        raise ValueError(
            f"vmap({_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or "
            "a python collection of ints representing where in the outputs the vmapped dimension "
            "should appear."
        )
    try:
        return _spread(out_dims, out)
    except _Mismatch:
        raise ValueError(
            f"{call}out_dims is not compatible with the structure of `outputs`. out_dims has "
            f"structure {out_dims} but outputs have another."
        ) from None


def vmap(
    func: Func,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Func:
    """A function that applies `func` to every example of a batch.

    `func` is called once, and its ops work on all examples at a time. Its tensors have the
    shapes of one example; their values cannot be read, and so cannot decide what it does.

    Args:
        func: a function of tensors, or of structures of them.
        in_dims: the dim of each positional argument that counts examples; None for one that
            all share; may have the structure of nested arguments.
        out_dims: the dim of each output that counts examples; None for what all share.
        randomness: "same" or "different" numbers for the examples; "error" refuses random
            ops.
        chunk_size: how many examples to compute at a time; None for all.

    Returns: a function with the arguments of `func`.

    Raises:
        ValueError: without arguments to map over, for dims that do not exist or whose sizes
            differ, a `chunk_size` below 1, and where `func` returns what is no tensor.
        RuntimeError: for another `randomness`, random ops under "error", and where `func`
            asks for a tensor's value, writes into what all share what differs, or calls
            `backward`.

    Example:
        >>> gw.func.vmap(gw.dot)(gw.tensor([[1, 2], [3, 4]]), gw.tensor([[1, 0], [0, 1]]))
        tensor([1, 4])
    """
    if randomness not in _RANDOMNESS:
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        dims = _in_dims(func, in_dims, args)
        size = _batch_size(dims, leaves_of(args))

        def run(given: Any, count: Any) -> Any:
            return _mapped(func, given, kwargs, dims, count, out_dims, randomness)

        if chunk_size is None or size <= chunk_size:
            return run(args, size)
        return _in_chunks(func, run, args, dims, size, chunk_size, out_dims)

    return wrapped


def _mapped(
    func: Func, args: Any, kwargs: Any, dims: list[Any], size: Any, out_dims: Any, randomness: str
) -> Any:
    """`func` of `size` examples at once."""
    leave = boundary.way_out()
    try:
        boundary.enter(size, randomness)
        examples = [
            leaf if dim is None else boundary.into_batch(leaf, dim)
            for dim, leaf in zip(dims, leaves_of(args), strict=True)
        ]
        out = func(*with_leaves(args, iter(examples)), **kwargs)
        leaves = leaves_of(out)
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                raise ValueError(
                    f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got "
                    f"type {type(leaf)}. Did you mean to set out_dims= to None for output?"
                )
        places = _out_dims(func, out_dims, out)
        for leaf, dim in zip(leaves, places, strict=True):
            if dim is None and boundary.differs(leaf):
                raise ValueError(
                    f"vmap({_name(func)}, ...): `{_name(func)}` can not return a BatchedTensor "
                    "when out_dim is None"
                )
        found = [
            boundary.out_of_batch(leaf, dim) for leaf, dim in zip(leaves, places, strict=True)
        ]
        return rebuilt(out, iter(found))
    finally:
        leave()


def _in_chunks(
    func: Func,
    run: Callable[[Any, Any], Any],
    args: Any,
    dims: list[Any],
    size: Any,
    chunk_size: int,
    out_dims: Any,
) -> Any:
    """`run` of `chunk_size` examples at a time, the results joined."""
    outs = []
    leaves = leaves_of(args)
    for start in range(0, size, chunk_size):
        count = min(chunk_size, size - start)
        parts = [
            leaf if dim is None else ops.narrow(leaf, dim, start, count)
            for dim, leaf in zip(dims, leaves, strict=True)
        ]
        outs.append(run(with_leaves(args, iter(parts)), count))
    columns = zip(*[leaves_of(out) for out in outs], strict=True)
    places = _out_dims(func, out_dims, outs[0])
    joined = [
        column[0] if dim is None else ops.cat(column, dim)
        for column, dim in zip(columns, places, strict=True)
    ]
    return rebuilt(outs[0], iter(joined))


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters and buffers of several models of one architecture, stacked, for `vmap`.

    Args:
        models: a list of Modules of one class and one training mode.

    Returns: `(parameters, buffers)`: dicts of tensors by name, with the models along dim 0.
    Parameters are leaves that require gradients as those of the models do.

    Raises:
        RuntimeError: there are no models, or their classes or training modes differ.

    Example:
        >>> models = [nn.Linear(2, 3), nn.Linear(2, 3)]
        >>> parameters, buffers = gw.func.stack_module_state(models)
        >>> parameters["weight"].shape
        graphwright.Size([2, 3, 2])
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    if any(model.training is not models[0].training for model in models):
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    named = [dict(model.named_parameters()) for model in models]
    parameters = {
        name: ops.stack([own[name].detach() for own in named])
        .requires_grad_(first.requires_grad)
        for name, first in named[0].items()
    }
    kept = [dict(model.named_buffers()) for model in models]
    buffers = {name: ops.stack([own[name] for own in kept]) for name in kept[0]}
    return parameters, buffers
