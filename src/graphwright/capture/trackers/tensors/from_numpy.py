"""`from_numpy`, `tensor` and `as_tensor` of NumPy's arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.tensors.arrays import Args, ArrayVariable, Kwargs
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.memory_format import contiguous_format

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator


def over_array(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`from_numpy(array)`."""
    (array,) = (value.realize() for value in (*args, *kwargs.values()))
    if not isinstance(array, ArrayVariable):
        unsupported("GB0004", f"from_numpy() of {array.describe()}")
    return array.as_tensor(tx)


def of_array(
    tx: Translator, args: Args, kwargs: Kwargs, copies: bool
) -> VariableTracker | None:
    """`tensor(array, ...)` or `as_tensor(array, ...)`; None where it is not of an array."""
    data = args[0].realize() if args else None
    if not isinstance(data, ArrayVariable) or len(args) != 1:
        return None
    if kwargs.keys() - {"dtype", "device"}:
        unsupported("GB0004", "a tensor of an array that is made in another way")
    given = {key: value for key, value in kwargs.items() if not value.is_none()}
    tensor = data.as_tensor(tx, shared=not copies and not _converts(tx, data, given))
    if given:
        tensor = tx.output.run(tx, "call_method", "to", [tensor], given)
    if not copies:
        return tensor
    contiguous = {"memory_format": tx.constant(contiguous_format)}
    return tx.output.run(tx, "call_method", "clone", [tensor], contiguous)


def _converts(tx: Translator, array: ArrayVariable, given: Kwargs) -> bool:
    """Whether a tensor of another dtype is asked for, which has memory of its own."""
    dtype = given["dtype"].as_constant() if "dtype" in given else None
    if not isinstance(dtype, dtypes.dtype):
        return False
    return bool(dtype.numpy != array.getattr(tx, "dtype").as_constant())
