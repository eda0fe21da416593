"""`out=`: an op's result written into a tensor of the caller's, as in PyTorch."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.dispatch import GRAD, HOOKS, OVERRIDE, dispatch, dispatch_as_given
from graphwright.runtime.errors import DataDependent, describe
from graphwright.runtime.ops.table import Kind, Op, op
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.promotion import can_cast

_copy = op("copy_")

# Ops that cast nothing to the dtype of `out`, and those whose `out` may not share memory with an
# argument; others refuse `out` tensors that overlap an argument in part.
APART = frozenset(
    {
        *("cat", "cross", "gather", "index_select", "kthvalue", "linalg_cross", "masked_select"),
        *("stack", "take"),
    }
)
_EXACT = """
    abs addbmm addmm addmv alias_copy all amax amin any argmax argmin as_strided_copy avg_pool2d
    avg_pool3d baddbmm bitwise_not bmm bucketize ceil clamp clamp_max clamp_min complex
    conj_physical cross diag diagonal_copy dot expand_copy float_power floor frac gelu
    hardshrink heaviside histc index_add index_copy index_reduce inner isin isneginf isposinf
    lerp linalg_cholesky linalg_cross linalg_det linalg_eigvalsh linalg_inv linalg_ldl_solve
    linalg_lu_solve linalg_matrix_norm linalg_multi_dot linalg_norm linalg_solve
    linalg_solve_triangular linalg_svdvals linalg_vecdot linalg_vector_norm linear log_softmax
    logcumsumexp logsigmoid lu_solve matmul matrix_power mm msort multinomial mv nan_to_num
    nanquantile neg nonzero nonzero_static norm ormqr permute_copy quantile renorm round scatter
    scatter_add scatter_reduce searchsorted sgn sign signbit slice_scatter softmax softplus
    softshrink squeeze_copy t_copy take_along_dim tensordot transpose_copy tril triu trunc
    unfold_copy unsqueeze_copy vdot view_copy where
"""
EXACT = (APART - {"cat", "stack"}) | frozenset(_EXACT.split())

# Those that write after all is read, so that `out` may share memory with an argument in part.
LATE = frozenset(
    {
        *("alias_copy", "bucketize", "cholesky", "cholesky_inverse", "cholesky_solve"),
        *("linalg_cholesky", "linalg_householder_product", "linalg_inv", "log_softmax"),
        *("logsigmoid", "lu_solve", "matrix_power", "mvlgamma", "ormqr", "slice_scatter"),
        *("softmax", "special_ndtr", "tril", "triu"),
    }
)

# Those that find a truth write it as uint8 too; those that join tensors raise TypeError.
TRUTHS = frozenset({"all", "any"})
JOINED = frozenset({"cat", "column_stack", "dstack", "hstack", "stack", "vstack"})

# Those that write the results along one dim only.
ALONG = frozenset({"median", "nanmedian"})

# Those that resize `out` without a warning.
RESIZING = frozenset(
    {"addbmm", "eye", "full", "linspace", "logsigmoid", "lu", "narrow_copy", "ones", "zeros"}
)

# Sums and products are made in the dtype of `out`, whatever that is.
TYPED = frozenset({"cumprod", "cumsum", "prod", "sum"})


_NOT_ASKED = object()


def with_out(op: Op, args: tuple[Any, ...], out: Any, result: Any = _NOT_ASKED) -> Any:
    """Run `op` on its bound arguments, write its result into `out` and return `out`.

    `result`: what `_core.compute_out` has given already, None where it had to run nothing.

    `out` has another shape: it is resized, mostly with a UserWarning unless it was empty. Its
    dtype may be another one of a category at least as high. It may be one of the arguments.
    Classes with a say, of arguments or of `out`, are asked about the function with its `out`.

    Raises TypeError where `out` is no tensor (or tuple of as many as the op returns), or a dim is
    missing, RuntimeError where gradients would be recorded, `out` is on another device, the
    result's dtype cannot be cast to that of `out`, or elements of `out` share memory with each
    other or, in part, with an argument.
    """
    if op.name in ALONG and args[1] is None:
        raise TypeError(f"{op.name}() missing required argument 'dim', beside 'out'")
    single = isinstance(out, _core.TensorBase)
    outs = (out,) if single else out
    if result is _NOT_ASKED and (single or out.__class__ is tuple):
        first = outs[0] if outs and isinstance(outs[0], _core.TensorBase) else None
        result = _core.compute_out(op, _typed_by_out(op, args, first), out)
        if result is out or (isinstance(result, tuple) and result[:1] and result[0] is first):
            return result
    if result is None or result is _NOT_ASKED:
        if _core.dispatch_flags((*args, *_members(out))) & OVERRIDE:
            answer = HOOKS.overridden(op, args, out=out)
            if answer is not NotImplemented:
                return answer
        _check_outs(op, args, outs)
        typed = _typed_by_out(op, args, outs[0] if outs else None)
        result = dispatch_as_given(op, typed)
    if isinstance(result, _core.TensorBase):
        if outs is out:
            raise _no_tensor(op, out)
        write_out(op, args, result, out)
        return out
    if outs is not out or len(outs) != len(result):
        raise TypeError(
            f"{op.name}(): argument 'out' must be a tuple of {len(result)} Tensors, not "
            f"{len(outs) if outs is out else type(out).__name__}"
        )
    for part, target in zip(result, outs, strict=True):
        _require_dtype(op.name, part, target)
        write_out(op, args, part, target)
    return tuple(outs) if type(result) in (tuple, list) else type(result)(*outs)


def _members(out: Any) -> tuple[Any, ...]:
    return tuple(out) if isinstance(out, tuple | list) else (out,)


def _check_outs(op: Op, args: tuple[Any, ...], outs: Any) -> None:
    """Raise what `with_out` says of tensors that could not be written."""
    if not isinstance(outs, tuple | list):
        raise _no_tensor(op, outs)
    for target in outs:
        if not isinstance(target, _core.TensorBase):
            raise TypeError(
                f"{op.name}(): argument 'out' must be tuple of Tensors, but found element of type "
                f"{type(target).__name__}"
            )
    if (_core.dispatch_flags(args) | _core.dispatch_flags(tuple(outs))) & GRAD:
        raise RuntimeError(
            f"{op.name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        )
    if op.name in APART:
        for target in outs:
            _check_memory(op, args, target)


def _no_tensor(op: Op, out: Any) -> TypeError:
    return TypeError(f"{op.name}(): argument 'out' must be Tensor, not {type(out).__name__}")


def _check_memory(op: Op, args: tuple[Any, ...], out: Any) -> None:
    """Raise RuntimeError where a write to `out` would change another element, or an argument."""
    if any(n > 1 and s == 0 for n, s in zip(out.shape, out.stride(), strict=True)):
        raise RuntimeError(
            f"{op.name}: unsupported operation: more than one element of the written-to tensor "
            f"refers to a single memory location. Please clone() the tensor before performing "
            f"the operation; it is {describe(out)}"
        )
    if op.name in LATE:
        return
    for argument in _tensors(args):
        if _overlap(argument, out, op.name in APART):
            raise RuntimeError(
                f"{op.name}: unsupported operation: some elements of the input tensor and the "
                "written-to tensor refer to a single memory location. Please clone() the tensor "
                f"before performing the operation; they are {describe(argument)} and "
                f"{describe(out)}"
            )


def _tensors(args: tuple[Any, ...]) -> list[Any]:
    """The tensors among arguments and in their lists."""
    found = []
    for value in args:
        for one in value if isinstance(value, tuple | list) else (value,):
            if isinstance(one, _core.TensorBase):
                found.append(one)
    return found


def _overlap(a: Any, b: Any, whole: bool) -> bool:
    """Whether two dense tensors share memory, other than (unless `whole`) by being the same."""
    if whole and a is b:
        return True
    if a._storage is not b._storage or not (_dense(a) and _dense(b)):
        return False
    (begin, end), (other, other_end) = _place(a), _place(b)
    if (begin, end, a.stride()) == (other, other_end, b.stride()):
        return whole
    return bool(begin < other_end and other < end)


def _place(tensor: Any) -> tuple[Any, Any]:
    """Where a dense tensor's elements begin and end, in bytes of their storage."""
    size = tensor.dtype.itemsize
    begin = tensor.storage_offset() * size
    return begin, begin + tensor.numel() * size


def _dense(tensor: Any) -> bool:
    """Whether the elements fill their memory, each its own place."""
    layout = list(zip(tensor.shape, tensor.stride(), strict=True))
    reach = 1 + sum((n - 1) * s for n, s in layout)
    overlaps = any(n > 1 and s == 0 for n, s in layout)
    return bool(tensor.numel() == reach) and not overlaps


@cache
def _place_of_dtype(op: Op) -> tuple[int, bool, bool]:
    """Which argument the dtype is, or -1; whether `out` always gives it; whether it may."""
    makes = "factory" in op.tags or op.kind in (Kind.CREATION, Kind.RANDOM) or op.name in TYPED
    index = op.names.index("dtype") if "dtype" in op.names else -1
    return index, makes, op.kind is Kind.REDUCTION and op.name != "mean"


def is_plain(op: Op) -> bool:
    """Whether the arguments of an op stay the same beside `out`."""
    return _place_of_dtype(op)[0] < 0 and op.name not in ALONG


def _typed_by_out(op: Op, args: tuple[Any, ...], out: Any) -> tuple[Any, ...]:
    """Factories, and reductions where it can hold the input, take the dtype of `out`; factories
    its device, too."""
    if out is not None and "device" in op.names:
        place = op.names.index("device")
        args = (*args[:place], args[place] or out.device, *args[place + 1 :])
    index, makes, reduces = _place_of_dtype(op)
    if index < 0 or out is None or args[index] is not None:
        return args
    if not makes and not (reduces and can_cast(args[0].dtype, out.dtype)):
        return args
    return (*args[:index], out.dtype, *args[index + 1 :])


def _require_dtype(name: str, result: Any, out: Any) -> None:
    """Raise RuntimeError where `out` is of another dtype: the results of ops with several."""
    if result.dtype is not out.dtype:
        raise RuntimeError(
            f"{name} expects out of dtype {result.dtype.name}, got {out.dtype.name}"
        )


def write_out(op: Op, args: tuple[Any, ...], result: Any, out: Any) -> None:
    """Copy what `op` gave for `args` into `out`, which takes its shape."""
    name = op.name
    if out.device != result.device:
        raise RuntimeError(
            f"{name}: Expected all tensors to be on the same device, but found at least two "
            f"devices: the result on {result.device}, out on {out.device}"
        )
    if name in EXACT and not (name in TRUTHS and out.dtype is dtypes.uint8):
        _require_dtype(name, result, out)
    if not can_cast(result.dtype, out.dtype):
        raise (TypeError if name in JOINED else RuntimeError)(
            f"{name}: result type {result.dtype.name} can't be cast to the desired output type "
            f"{out.dtype.name}"
        )
    if out.shape != result.shape:
        if out.is_fake:
            raise DataDependent(f"{name}: out= of another shape is resized")
        if out.numel() != 0 and name not in RESIZING:
            warnings.warn(
                "An output with one or more elements was resized since it had shape "
                f"{list(out.shape)}, which does not match the required output shape "
                f"{list(result.shape)}. This behavior is deprecated; to reuse a tensor t as the "
                "output, resize it to zero elements before with t.resize_(0).",
                UserWarning,
                stacklevel=3,
            )
        out.resize_(result.shape)
    _check_memory(op, args, out)
    dispatch(_copy, (out, result))
