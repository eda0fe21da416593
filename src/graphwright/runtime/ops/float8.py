"""What ops do with float8 tensors, of which PyTorch's CPU kernels know few.

Views, copies and picks move the elements as they are. A handful of ops compute: in float32, whose
result is rounded once. Composites are their parts. All other ops refuse float8, which has to be
converted first. There is no promotion: see `promotion.py`.
"""

from __future__ import annotations

from typing import Any

from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.kernels import rounded_number
from graphwright.runtime.ops.table import Kind, Op
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.dtypes import FLOAT8
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.promotion import result_dtype
from graphwright.runtime.tensor.tensor import Tensor

MOVES = frozenset(
    {
        *("_unsafe_view", "as_strided_scatter", "cat", "clone", "constant_pad", "contiguous"),
        *("copy", "diagonal_scatter", "empty", "empty_like", "empty_permuted", "empty_strided"),
        *("eye", "fill", "flip", "full", "full_like", "index", "index_put", "index_select"),
        *("ones", "ones_like", "scalar_tensor", "select_scatter", "slice_scatter", "to_device"),
        *("to_dtype", "view_scatter", "where", "zeros", "zeros_like"),
    }
)
"""Ops beside views that take float8 elements as they are, or make them of numbers."""

COMPUTED = frozenset({"abs", "addmm", "linear", "mm", "mul"})
TESTS = frozenset({"all", "any", "eq", "isfinite", "isinf", "isnan", "isreal", "ne"})

_E8M0 = dtypes.float8_e8m0fnu
_KNOWN = {
    **dict.fromkeys(("abs", "addmm", "index_put", "linear", "mm"), FLOAT8 - {_E8M0}),
    "isfinite": frozenset({dtypes.float8_e5m2, _E8M0}),
    "isinf": frozenset({dtypes.float8_e5m2}),
}
"""The float8 dtypes of ops that PyTorch has not for all of them."""

REFUSED = frozenset(
    {
        *("addmv", "channel_shuffle", "count_nonzero", "dot", "index_fill", "logit"),
        *("masked_fill", "mv", "nan_to_num", "pixel_shuffle", "pixel_unshuffle", "put"),
        *("randint_like", "rms_norm", "square", "take", "tril", "triu", "vdot"),
    }
)
"""Ops that PyTorch has a kernel for, but none for float8, whatever they are composed of here."""

_OWN = frozenset({"_scaled_mm"})
"""Composites that say themselves what float8 is to them."""


def run(op: Op, args: tuple[Any, ...]) -> Any:
    """The result of an op with a float8 tensor or dtype among its arguments.

    NotImplemented where the op is to run as for any other dtype.

    Raises:
        NotImplementedError: the op has no float8 form.
        RuntimeError: its operands have no common dtype.
    """
    name = op.functional.name if op.is_inplace and op.functional is not None else op.name
    asked = next((arg for arg in args if isinstance(arg, DType)), None)
    found = next((tensor.dtype for tensor in _float8(args)), asked)
    if name in REFUSED or found not in _KNOWN.get(name, FLOAT8):
        raise _refusal(op, found)
    if op.is_view or name in MOVES:
        return NotImplemented
    if op.name in _OWN and op.decompose is not None:
        return op.decompose(*args)
    if asked in FLOAT8:
        raise _refusal(op, asked)
    if asked is not None:
        return dispatch(op, _cast(args, asked))
    if op.is_inplace and op.functional is not None and args[0].dtype in FLOAT8:
        return ops.copy_(args[0], dispatch(op.functional, args))
    if op.kind in (Kind.POINTWISE, Kind.INPLACE):
        found = result_dtype(_operands(op, args))
        if found not in FLOAT8:
            return dispatch(op, _cast(args, found))
    if name in TESTS:
        return dispatch(op, _cast(_rounded(op, args, found), dtypes.float32))
    if name in COMPUTED and all(_is_taken(op, operand) for operand in _operands(op, args)):
        wide = _cast(_rounded(op, args, found), dtypes.float32)
        return ops.to_dtype(dispatch(op, wide), found)
    if op.kind is Kind.COMPOSITE and op.decompose is not None:
        return op.decompose(*args)
    if op.kind is Kind.CONTRACTION and name in COMPUTED:
        return NotImplemented       # of several dtypes: its own rule says that it takes one
    raise _refusal(op, found)


def _refusal(op: Op, dtype: Any) -> NotImplementedError:
    return NotImplementedError(
        f"\"{op.name}\" not implemented for '{dtype.name}': convert to another dtype first, as by "
        "Tensor.float()"
    )


def _float8(args: tuple[Any, ...]) -> list[Any]:
    """The float8 tensors among arguments and in their lists."""
    given = [one for arg in args for one in (arg if isinstance(arg, list | tuple) else (arg,))]
    return [one for one in given if isinstance(one, Tensor) and one.dtype in FLOAT8]


def _is_taken(op: Op, operand: Any) -> bool:
    """Whether an op that computes takes an operand: pointwise ones take tensors of any dtype."""
    if not isinstance(operand, Tensor):
        return False
    return op.kind is Kind.POINTWISE or operand.dtype in FLOAT8


def _operands(op: Op, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What is given for the op's tensors; numbers may be among them."""
    return tuple(args[slot] for slot, _ in op.tensor_slots if args[slot] is not None)


def _cast(args: tuple[Any, ...], dtype: DType) -> tuple[Any, ...]:
    """The arguments with float8 tensors in another dtype."""
    return tuple(
        ops.to_dtype(arg, dtype) if isinstance(arg, Tensor) and arg.dtype in FLOAT8 else arg
        for arg in args
    )


def _rounded(op: Op, args: tuple[Any, ...], dtype: Any) -> tuple[Any, ...]:
    """The arguments with operands of other dtypes, and numbers, rounded to the float8 dtype."""
    slots = {slot for slot, _ in op.tensor_slots}
    return tuple(_as_float8(arg, dtype) if at in slots else arg for at, arg in enumerate(args))


def _as_float8(operand: Any, dtype: DType) -> Any:
    if isinstance(operand, Tensor):
        return operand if operand.dtype is dtype else ops.to_dtype(operand, dtype)
    return None if operand is None else rounded_number(operand, dtype)
