"""What dispatch asks where a tensor stands for a batch: an op's level, and its rule.

A rule `rule(op, args, level)` computes the op for all examples at once. Its arguments are those of
dispatch, in which every tensor is a `BatchedTensor` of that level and at least one is batched; its
ops run on what these hold. It gives a tensor, or a tuple of them, whose first dimension counts
examples. Ops without a rule run as their decomposition, or as a loop over the examples.
"""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime._core import TensorBase
from graphwright.runtime.batching import functions
from graphwright.runtime.batching.fallback import loop
from graphwright.runtime.batching.levels import Level, below, innermost, is_running
from graphwright.runtime.batching.randomness import DRAWS, check_randomness
from graphwright.runtime.batching.rules import load, rule_of
from graphwright.runtime.batching.tensor import BatchedTensor, wrap, wrap_view
from graphwright.runtime.dispatch import BATCHED, GRAD, HOOKS, dispatch
from graphwright.runtime.op_errors import complete
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Kind, Op
from graphwright.runtime.tape.function import MAPPING

Args = tuple[Any, ...]


def _tensors(args: Args) -> list[BatchedTensor]:
    """The tensors among bound arguments that belong to a level."""
    found = []
    for arg in args:
        if type(arg) is BatchedTensor:
            found.append(arg)
        elif type(arg) is tuple:
            found += [item for item in arg if type(item) is BatchedTensor]
    return found


def _level_of(tensors: list[BatchedTensor]) -> Level:
    """The innermost level among them. Raises RuntimeError for one that has ended."""
    level = max([tensor.level for tensor in tensors], key=lambda level: level.depth)
    if not is_running(level):
        raise complete(RuntimeError(
            "vmap: a tensor has escaped from inside a function being vmapped over and is used "
            "after the call has ended. This is a user error; return it from the function instead."
        ))
    return level


def _lift(value: Any, level: Level) -> Any:
    """A tensor as one of `level`; anything else as it is."""
    if isinstance(value, tuple):
        return tuple([_lift(item, level) for item in value])
    if not isinstance(value, TensorBase):
        return value
    if type(value) is BatchedTensor and value.level is level:
        return value
    return wrap(value, level, batched=False)


def lifted(args: Args, flags: int) -> tuple[Args, int]:
    """Arguments and flags as the innermost level sees them that one of the tensors belongs to.

    There a gradient is recorded only for tensors of that level: what others require is the
    business of the levels below.
    """
    tensors = _tensors(args)
    if not tensors:
        return args, flags
    level = _level_of(tensors)
    needs = any([t.requires_grad for t in tensors if t.level is level])
    flags = flags | BATCHED if needs else (flags | BATCHED) & ~GRAD
    return tuple([_lift(arg, level) for arg in args]), flags


def batched(op: Op, args: Args) -> Any:
    """`op` of arguments that `lifted` gave."""
    tensors = _tensors(args)
    level, rule = tensors[0].level, rule_of(op)
    if rule is None and op.decompose is not None:
        return op.decompose(*args)
    if op.is_inplace:
        return _write(op, args, tensors)
    if op.name not in DRAWS and not any([tensor.batched for tensor in tensors]):
        return _wrapped(op, args, below(level, _shared, op, args), level, False)
    if rule is None and "data_dependent" in op.tags:
        raise complete(RuntimeError(
            f"vmap: We do not support batching operators that can output dynamic shape. "
            f"Attempted to vmap over {op.name}"
        ))
    return _wrapped(op, args, below(level, rule or loop, op, args, level), level, True)


def _shared(op: Op, args: Args) -> Any:
    """The op once for all examples."""
    return dispatch(op, tuple([_held(arg) for arg in args]))


def _held(value: Any) -> Any:
    if type(value) is tuple:
        return tuple([_held(item) for item in value])
    return value.value if type(value) is BatchedTensor else value


def _wrapped(op: Op, args: Args, out: Any, level: Level, batched: bool) -> Any:
    """What a rule gave, as tensors of the level."""
    if type(out) is tuple or type(out) is list:
        return tuple([_wrapped(op, args, item, level, batched) for item in out])
    if not isinstance(out, TensorBase):
        return out
    source = args[0] if op.is_view else None
    if source is None or source.batched is not batched:
        return wrap(out, level, batched)
    view = wrap_view(source, out)
    return view if op.differentiable else view._alias()


def _write(op: Op, args: Args, tensors: list[BatchedTensor]) -> Any:
    """An in-place op: its rule where it is pointwise, else its functional form copied back.

    Raises RuntimeError where what all examples share would become different for each.
    """
    target, functional = args[0], op.functional
    assert functional is not None
    if not target.batched and any([tensor.batched for tensor in tensors]):
        raise complete(RuntimeError(
            f"vmap: {op.name}(self, *extra_args) is not possible because there exists a Tensor in "
            "extra_args that has more elements than `self`. This happened due to it being vmapped "
            "over but `self` not being vmapped over. Please try to use out-of-place operators "
            f"instead of {op.name}."
        ))
    rule = rule_of(op) or (rule_of(functional) if functional.kind is Kind.POINTWISE else None)
    if not target.batched:
        below(target.level, _shared, op, args)
    elif rule is not None:
        below(target.level, rule, op, args, target.level)
    else:
        result = batched(functional, args)
        below(target.level, ops.copy_, target.value, result.value)
    _core.bump_version(target)
    return target


_RANDOM = frozenset({
    "activations.dropout", "random.distributions", "random.draws", "random.gamma",
    "random.inplace",
})


def draw(op: Op, args: Args) -> Any:
    """An op of random numbers, as the innermost level wants them; NotImplemented for others."""
    if op.family not in _RANDOM or op.is_inplace:
        return NotImplemented
    if op.name not in DRAWS:
        return NotImplemented if op.decompose is None else op.decompose(*args)
    if _tensors(args):
        return NotImplemented
    level = innermost()
    assert level is not None
    if op.name != "rand":
        return dispatch(op, _lift(args, level))
    check_randomness(op, level, False)
    if level.randomness == "same":
        return below(level, _shared, op, args)
    size, *rest = args
    return wrap(below(level, dispatch, op, ((level.size, *size), *rest)), level)


load()
MAPPING.forward = functions.forward
HOOKS.lifted, HOOKS.batched, HOOKS.draw = lifted, batched, draw
