"""The one door: every op passes `dispatch(op, args)`.

Fixed order: autocast, the rules of float8, autograd, vmap, trace, then the fake or the real
kernel. `args` is the fully bound positional tuple in schema order. Later layers hang themselves in
through `HOOKS`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from graphwright.runtime import _core
from graphwright.runtime._core import TensorBase
from graphwright.runtime.common_device import common_device, tensors_of
from graphwright.runtime.errors import describe
from graphwright.runtime.op_errors import INTERNAL, refusal
from graphwright.runtime.ops.int_arguments import plain_integers, plain_number
from graphwright.runtime.ops.schema import REQUIRED
from graphwright.runtime.ops.table import Kind, Op
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dtypes import dtype as DType

GRAD, MODES, FAKE, OTHER_DEVICE, FOREIGN, OVERLAP, BATCHED, OVERRIDE = (
    1, 2, 4, 8, 16, 32, 64, 128)  # fmt: skip
FLOAT8 = 1024
TRACE, AUTOCAST, INFERENCE, COMPILING, MAPPED = 1, 2, 4, 8, 64
_Result = TypeVar("_Result")


class Hooks:
    """Callables that other modules of the runtime provide when they are imported."""

    __slots__ = (
        "autocast", "batched", "draw", "fake_kernel", "gpu_kernel", "lifted", "meta_kernel",
        "overridden", "record", "record_inplace",
    )  # fmt: skip

    def __init__(self) -> None:
        self.autocast: Callable[[Op, tuple[Any, ...]], Any]
        self.batched: Callable[[Op, tuple[Any, ...]], Any]
        self.draw: Callable[[Op, tuple[Any, ...]], Any]
        self.lifted: Callable[[tuple[Any, ...], int], tuple[tuple[Any, ...], int]] | None = None
        self.fake_kernel: Callable[[Op, tuple[Any, ...]], Any] | None = None
        self.gpu_kernel: Callable[[Op, tuple[Any, ...]], Any] | None = None
        self.meta_kernel: Callable[[Op, tuple[Any, ...]], Any] | None = None
        self.overridden: Callable[..., Any]
        self.record: Callable[[Op, tuple[Any, ...], int], Any]
        self.record_inplace: Callable[[Op, tuple[Any, ...], int], Any]


HOOKS = Hooks()


dispatch = _core.dispatch
"""dispatch(op, args): run `op` on `args`; tensors among them decide how. Raises what the op's
rules raise."""

_EXPLAINED = (*INTERNAL, IndexError, RuntimeError, TypeError, ValueError)


def _failed(op: Op, args: tuple[Any, ...], error: Exception) -> Any:
    """The result with numbers made plain, where that helps; else raise what there is to say.

    The frame forgets the error, which holds the frame by its traceback.
    """
    try:
        if not isinstance(error, _EXPLAINED):
            raise error
        plain_integers(op, args)
        plain = _plain_numbers(op, args)
        check_types(op, args if plain is None else plain)
        if plain is None:
            raise refusal(op, args, error) from error.__cause__
    finally:
        del error
    return dispatch(op, plain)


def not_bound(op: Op, args: tuple[Any, ...], error: Exception) -> Any:
    """What an argument's class makes of arguments that could not be brought to their one form.

    Raises what there is to say where no class has a say.
    """
    if _core.dispatch_flags(args) & OVERRIDE:
        answer = HOOKS.overridden(op, args)
        if answer is not NotImplemented:
            return answer
    plain_integers(op, args)
    check_types(op, args)
    raise refusal(op, args, error) from None


_REPEATABLE = frozenset({"zero_", "index_put_", "masked_fill_"})


def _checked(op: Op, args: tuple[Any, ...], flags: int) -> tuple[Any, ...]:
    """The arguments where one is neither tensor nor plain value, or the first overlaps itself."""
    if flags & FOREIGN:
        args = plain_integers(op, args)
        args = _plain_numbers(op, args) or args
        check_types(op, args)
    if flags & OVERLAP and op.is_inplace:
        _check_overlap(op, args, bool(flags & FAKE))
    return args


def _check_overlap(op: Op, args: tuple[Any, ...], fake: bool) -> None:
    target, other = args[0], args[1] if len(args) > 1 else None
    layouts = zip(target.stride(), target.shape, strict=True)
    repeats = any(stride == 0 and size > 1 for stride, size in layouts)
    if op.name == "fill_" and not (repeats and isinstance(other, TensorBase)):
        return                  # the one element is read before any is written
    if not repeats:
        if fake:                # which has no memory that another could share
            return
        what = SOME
    elif op.name in _REPEATABLE or (op.name == "copy_" and _same_elements(target, other)):
        return
    else:
        what = "more than one element of the written-to tensor refers to"
    raise RuntimeError(overlap_text(what))


SOME = "some elements of the input tensor and the written-to tensor refer to"


def overlap_text(what: str) -> str:
    """Why an in-place op is refused: `what` a single memory location."""
    return (
        f"unsupported operation: {what} a single memory location. Please clone() the tensor "
        "before performing the operation."
    )


def _same_elements(a: Any, b: Any) -> bool:
    if a._storage is not b._storage or a.dtype is not b.dtype:
        return False
    return a.storage_offset() == b.storage_offset() and steps(a) == steps(b)


def steps(tensor: Any) -> list[tuple[Any, Any]]:
    """Sizes and strides of the dims of more than one element, which say where elements are."""
    layout = zip(tensor.shape, tensor.stride(), strict=True)
    return [(size, stride) for size, stride in layout if size != 1]


def _dispatch_modes(op: Op, args: tuple[Any, ...], flags: int) -> Any:
    if flags & (FOREIGN | OVERLAP):
        args = _checked(op, args, flags)
        flags &= ~(FOREIGN | OVERLAP)
        if not flags:
            return op.run(*args)
    if flags & MODES and _core.modes() & AUTOCAST:
        out = HOOKS.autocast(op, args)
        if out is not NotImplemented:
            return out
        if op.kind is Kind.COMPOSITE and op.decompose is not None:
            return op.decompose(*args)      # parts of it may be cast, which its kernel is not
    if flags & FLOAT8:
        out = import_module("graphwright.runtime.ops.float8").run(op, args)
        if out is not NotImplemented:
            return out
        flags &= ~FLOAT8
        if not flags:
            return op.run(*args)
    if flags & FAKE and HOOKS.lifted is not None:
        args, flags = HOOKS.lifted(args, flags)
    if flags & MODES and _core.modes() & MAPPED:
        out = HOOKS.draw(op, args)
        if out is not NotImplemented:
            return out
    if flags & GRAD and op.vjp is None and op.functional is None and op.decompose is not None:
        return op.decompose(*args)
    if flags & GRAD and (op.differentiable or op.is_inplace):
        if op.functional is not None:
            return HOOKS.record_inplace(op, args, flags)
        if op.differentiable:
            return HOOKS.record(op, args, flags)
    return below_autograd(op, args, flags)


def dispatch_as_given(op: Op, args: tuple[Any, ...]) -> Any:
    """`dispatch` without autocast, in this op and in those that it is made of."""
    return without_autocast(dispatch, op, args)


def without_autocast(function: Callable[..., _Result], *args: Any) -> _Result:
    """`function(*args)`, whose ops run in their arguments' dtypes."""
    if not _core.modes() & AUTOCAST:
        return function(*args)
    return _core.keeping_modes(_switched_off, function, args)


def _switched_off(function: Callable[..., _Result], args: tuple[Any, ...]) -> _Result:
    _core.set_modes(_core.modes() & ~AUTOCAST)
    return function(*args)


def below_autograd(op: Op, args: tuple[Any, ...], flags: int) -> Any:
    """Trace, or run the fake or the real kernel; of all examples where one stands for them."""
    if flags & BATCHED:
        return HOOKS.batched(op, args)
    if flags & MODES:
        tracer = _core.tracer()
        if tracer is not None:
            out = tracer.record(op, args)
            if out is not NotImplemented:
                return out
            if op.decompose is None:
                raise NotImplementedError(f"{op.name}: refused by the tracer, no decomposition")
            return op.decompose(*args)
    if flags & FAKE:
        if op.meta is None and op.functional is None:
            if op.decompose is None:
                raise NotImplementedError(f"{op.name}: no shape rule")
            return op.decompose(*args)
        assert HOOKS.fake_kernel is not None
        return HOOKS.fake_kernel(op, args)
    if flags & OTHER_DEVICE:
        kind = common_device(op, args).type
        if kind == "cuda":
            return on_cuda().run(op, args)
        if kind == "meta":
            assert HOOKS.meta_kernel is not None
            return HOOKS.meta_kernel(op, args)
        places = sorted({str(tensor.device) for _, tensor in tensors_of(op, args)})
        raise NotImplementedError(f"{op.name}: no kernel for {', '.join(places)}")
    return op.run(*args)


@cache
def on_cuda() -> Any:
    """The module that runs ops on GPUs, imported when the first tensor is to be there."""
    return import_module("graphwright.runtime.cuda.kernels")


_NUMBER = (int, float, complex)
_CLASSES: dict[str, tuple[type, ...]] = {
    "dtype": (DType,),
    "device": (Device, str, int),
    "str": (str,),
    "bool": (bool,),
    "float": (float, int, SymInt),
    "Scalar": (*_NUMBER, SymInt),
    "Scalar|str": (*_NUMBER, SymInt, str),
}
"""What arguments have to be, by the parameter's type, `?` at its end aside."""


PYTHON_TYPES = {
    bool: dtypes.bool,
    int: dtypes.int64,
    float: dtypes.float64,
    complex: dtypes.complex128,
}
"""What Python's own types mean as a dtype."""


def dtype_of(name: str, dtype: Any) -> Any:
    """The dtype that an argument `dtype` stands for, or None. Raises TypeError for others."""
    if dtype is None or isinstance(dtype, dtypes.dtype):
        return dtype
    if isinstance(dtype, type) and dtype in PYTHON_TYPES:
        return PYTHON_TYPES[dtype]
    raise TypeError(f"{name}(): argument 'dtype' must be a dtype, not {type(dtype).__name__}")


def _plain_numbers(op: Op, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """`args` with NumPy scalars and subclasses of numbers as plain ones; None if there are none.

    Kernels test exact types; this is tried after one has failed.
    """
    values = list(args)
    for index, param in enumerate(op.schema.params):
        if param.type in ("dtype", "dtype?") and type(values[index]) is type:
            values[index] = PYTHON_TYPES.get(values[index], values[index])
    _, _, bools, numbers, *_ = op.kinds
    for index in (*bools, *numbers):
        if isinstance(values[index], np.generic):
            values[index] = values[index].item()
    for index, _ in op.tensor_slots:
        item = values[index]
        if type(item) in (int, float, bool, complex) or isinstance(item, TensorBase):
            continue
        if isinstance(item, _NUMBER):
            values[index] = plain_number(item)
        elif hasattr(item, "dtype") and hasattr(item, "item") and not getattr(item, "shape", 1):
            values[index] = item.item()
    changed = any(a is not b for a, b in zip(values, args, strict=True))
    return tuple(values) if changed else None


_NUMERIC = {
    **dict.fromkeys(("int", "Dim", "NewDim", "LoneDim"), "int"),
    **dict.fromkeys(("Size", "Dims", "DimsExact", "DimsGiven", "IntPair"), "tuple of ints"),
    "float": "float",
    **dict.fromkeys(("Scalar", "Scalar|str"), "Number"),
    "bool": "bool",
}
"""Parameters that are numbers, by what Python calls them."""


def _stands_for(value: Any, wanted: str) -> bool:
    """Whether a tensor is taken for a number: one without dims, which may be no bool for an int.

    The truth of a tensor is never asked for.
    """
    dtype = value.dtype
    if wanted == "bool" or value.ndim:
        return False
    inexact = dtype.is_floating_point or dtype.is_complex
    return wanted in ("float", "Number") or not (inexact or dtype is dtypes.bool)


def check_types(op: Op, args: tuple[Any, ...]) -> None:
    """Raise TypeError naming an argument that is missing, or no tensor, number, dtype or device.
    """
    for param, value in zip(op.schema.params, args, strict=False):
        if value is REQUIRED:
            raise TypeError(f"{op.name}() missing required argument '{param.name}'")
        kind = param.type.rstrip("?")
        classes, wanted = _CLASSES.get(kind), _NUMERIC.get(kind)
        absent = value is param.default or (value is None and param.type.endswith("?"))
        if wanted and isinstance(value, TensorBase):
            if not _stands_for(value, wanted):
                raise TypeError(
                    f"{op.name}(): argument '{param.name}' must be {wanted}, "
                    f"not {type(value).__name__} {describe(value)}"
                )
        elif classes and not absent and not isinstance(value, classes):
            raise TypeError(
                f"{op.name}(): argument '{param.name}' must be {wanted or kind}, "
                f"not {type(value).__name__}"
            )
    for index, is_list in op.tensor_slots:
        param, value = op.schema.params[index], args[index]
        optional = "?" in param.type
        values = value if is_list and isinstance(value, list | tuple) else (value,)
        for item in values:
            if isinstance(item, TensorBase) or (item is None and optional):
                continue
            if param.type.startswith("Operand") and isinstance(item, _NUMBER):
                continue
            scalar = hasattr(item, "__index__") or hasattr(item, "dtype")
            if param.type.startswith("Operand") and scalar and not getattr(item, "shape", ()):
                continue
            expected = "Tensor or number" if param.type.startswith("Operand") else "Tensor"
            raise TypeError(
                f"{op.name}(): argument '{param.name}' must be {expected}, "
                f"not {type(item).__name__}"
            )


_core.set_dispatch_hooks(_dispatch_modes, _failed)

__all__ = [
    "HOOKS",
    "PYTHON_TYPES",
    "below_autograd",
    "check_types",
    "dispatch",
    "dispatch_as_given",
    "dtype_of",
    "not_bound",
]
