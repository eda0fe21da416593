"""`autograd.Function` under vmap: by its own method `vmap`, or by running it on examples.

Where the levels below record gradients, these are those of the Function too: its forward and
backward run as those of a Function of whole batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from graphwright.runtime._core import TensorBase
from graphwright.runtime.batching.levels import Level, below, enter, innermost, leave
from graphwright.runtime.batching.tensor import BatchedTensor, whole, wrap
from graphwright.runtime.op_errors import complete
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tape.function import Function, FunctionContext, pull_back
from graphwright.runtime.tape.saved import SavedTensor


class VmapInfo(NamedTuple):
    """The first argument of a Function's `vmap`: the batch size, and how examples draw numbers."""

    batch_size: Any
    randomness: str


def forward(cls: type[Function], ctx: FunctionContext, args: tuple[Any, ...]) -> Any:
    """The results of forward, and what its context is to know.

    Raises RuntimeError for a Function that is not written for vmap.
    """
    level = _level_of(args)
    if level is None:
        return cls._run_forward(ctx, args)
    _check(cls)
    if cls.vmap is not Function.vmap:
        out = _by_method(cls, args, level)
    elif any([_needs(arg, level) for arg in args]):
        out = _by_batch(cls, args, level)
    else:
        out = cls.forward(*args)
    cls.setup_context(ctx, args, out)
    return out


def _level_of(args: Sequence[Any]) -> Level | None:
    """The innermost level of which some argument has examples that differ."""
    found = [arg.level for arg in args if type(arg) is BatchedTensor and arg.batched]
    return max(found, key=lambda level: level.depth, default=None)


def _check(cls: type[Function]) -> None:
    own = cls.vmap is not Function.vmap
    if own and cls.generate_vmap_rule:
        raise complete(RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and "
            "an overriden vmap staticmethod. Please set generate_vmap_rule=False or delete the "
            "overriden vmap staticmethod to avoid ambiguity."
        ))
    if not own and not cls.generate_vmap_rule:
        raise complete(RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please "
            "override and implement the vmap staticmethod or set generate_vmap_rule=True."
        ))
    if cls.setup_context is Function.setup_context:
        raise complete(RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, "
            "jacrev, ...), it must override the setup_context staticmethod."
        ))


def _is_example(value: Any, level: Level) -> bool:
    return type(value) is BatchedTensor and value.level is level


def _held(value: Any, level: Level) -> Any:
    return value.value if _is_example(value, level) else value


def _needs(value: Any, level: Level) -> bool:
    held = _held(value, level)
    return isinstance(held, TensorBase) and held.requires_grad


def _dims(args: Sequence[Any], level: Level) -> tuple[int | None, ...]:
    return tuple([0 if _is_example(arg, level) and arg.batched else None for arg in args])


def _by_method(cls: type[Function], args: tuple[Any, ...], level: Level) -> Any:
    """What the Function's own `vmap` gives."""
    info = VmapInfo(level.size, level.randomness)
    values = [_held(arg, level) for arg in args]
    answer = below(level, cls.vmap, info, _dims(args, level), *values)
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise complete(RuntimeError(
            f"Expected the vmap staticmethod of {cls.__name__} to return (output, out_dims), got "
            f"{type(answer).__name__}"
        ))
    out, out_dims = answer
    if isinstance(out, TensorBase):
        return _example(out, out_dims, level)
    dims = out_dims if isinstance(out_dims, tuple | list) else (out_dims,) * len(out)
    return tuple([_example(item, dim, level) for item, dim in zip(out, dims, strict=True)])


def _example(value: Any, dim: int | None, level: Level) -> Any:
    if not isinstance(value, TensorBase):
        return value
    if dim is None:
        return wrap(value, level, batched=False)
    return wrap(below(level, ops.movedim, value, dim, 0), level)


def _by_batch(cls: type[Function], args: tuple[Any, ...], level: Level) -> Any:
    """What the Function gives as one of whole batches."""
    dims = _dims(args, level)
    whole_function = _over_batches(cls, dims, level)
    out = below(level, whole_function.apply, *[_held(arg, level) for arg in args])
    if isinstance(out, TensorBase):
        return wrap(out, level)
    return tuple([wrap(item, level) if isinstance(item, TensorBase) else item for item in out])


def _examples(values: Sequence[Any], dims: Sequence[int | None]) -> list[Any]:
    """Values of batches as examples of the level that has just begun."""
    level = innermost()
    assert level is not None
    return [
        wrap(value, level, dim is not None) if isinstance(value, TensorBase) else value
        for value, dim in zip(values, dims, strict=True)
    ]


def _whole(value: Any) -> Any:
    """What is to leave the level: the values of all examples."""
    level = innermost()
    assert level is not None
    if not isinstance(value, TensorBase):
        return value
    if not _is_example(value, level):
        value = wrap(value, level, batched=False)
    return below(level, whole, value)


def _over_batches(cls: type[Function], dims: tuple[int | None, ...], level: Level) -> Any:
    """The Function of whole batches that runs `cls` on their examples."""

    class Whole(Function):
        @staticmethod
        def forward(ctx: Any, *values: Any) -> Any:
            enter(level.size, level.randomness)
            try:
                inner = FunctionContext()
                inner.needs_input_grad = ctx.needs_input_grad
                args = tuple(_examples(values, dims))
                out = cls.forward(*args)
                cls.setup_context(inner, args, out)
                results = out if isinstance(out, tuple) else (out,)
                found = {id(item): _whole(item) for item in results}
                kept, own = inner._to_save, _level_of(args)
                assert own is not None
                dims_kept = zip(kept, _dims(kept, own), strict=True)
                ctx.saved_dims = [0 if id(t) in found else dim for t, dim in dims_kept]
                ctx.save_for_backward(*[found.get(id(t), _held(t, own)) for t in kept])
                ctx.mark_non_differentiable(*[found[id(t)] for t in inner._non_differentiable])
                ctx.set_materialize_grads(inner._materialize)
                ctx.inner = inner
                outs = tuple([found[id(item)] for item in results])
                return outs if isinstance(out, tuple) else outs[0]
            finally:
                leave(level.depth)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            saved = ctx.saved_tensors
            enter(level.size, level.randomness)
            try:
                kept = _examples(saved, ctx.saved_dims)
                ctx.inner._saved = [(None if t is None else SavedTensor(t), 0) for t in kept]
                given = _examples(grads, (0,) * len(grads))
                found = pull_back(cls)(ctx.inner, *given)
                found = found if isinstance(found, tuple) else (found,)
                pairs = zip([_whole(grad) for grad in found], dims, strict=True)
                return tuple([
                    grad if grad is None or dim is not None else ops.sum(grad, 0)
                    for grad, dim in pairs
                ])
            finally:
                leave(level.depth)

    Whole.__name__ = Whole.__qualname__ = cls.__name__
    return Whole
