"""Functions of this package about types, called while translating, and of the generator."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from graphwright import random
from graphwright.autograd import grad_mode
from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import ConstSource
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.callables.functions import PartialVariable
from graphwright.capture.trackers.classes.classes import OperationVariable
from graphwright.capture.trackers.containers.sequences import ListVariable, TupleVariable
from graphwright.capture.trackers.numbers.symint import SymIntVariable
from graphwright.capture.trackers.tensors.from_numpy import of_array, over_array
from graphwright.capture.trackers.tensors.generators import make_generator
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.tensors.tensor_item import may_be_read
from graphwright.capture.trackers.values.constant import ConstantVariable, fold
from graphwright.runtime.batching import boundary
from graphwright.runtime.ops import dtype_rules
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tape.forward_mode import pushing
from graphwright.runtime.tensor import (
    dtypes,
    finfo,
    from_data,
    generator,
    promotion,
    tensor_queries,
)
from graphwright.runtime.tensor.device import device
from graphwright.runtime.tensor.from_python import promoted
from graphwright.runtime.tensor.operators import Operators
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.runtime.torch_function import has_say

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
Handler = Callable[["Translator", Args, Kwargs], VariableTracker]


def _of_constants(function: Any) -> Handler:
    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        values = [arg.realize().as_constant() for arg in args]
        keywords = {key: value.realize().as_constant() for key, value in kwargs.items()}
        return tx.constant(fold(function, *values, **keywords))

    return handler


def _of_tensors(function: Any) -> Handler:
    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        return tx.output.run(tx, "call_function", function, args, kwargs)

    return handler


def _manual_seed(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`manual_seed(seed)` runs before the graph, so nothing may have drawn numbers yet."""
    (seed,) = (value.realize() for value in (*args, *kwargs.values()))
    output = tx.output
    if output.fake_mode.random or output.check_read is not None:
        unsupported("GB0004", "manual_seed() after random numbers were drawn")
    try:
        if not isinstance(seed, SymIntVariable):
            generator.checked_seed(seed.as_constant())
    except (TypeError, RuntimeError) as error:
        unsupported("GB0007", f"{type(error).__name__}: {error}")
    tx.side_effects.refuse_after_calls()
    output.seed = seed
    known = generator.default_generator
    return output.wrap(known, ConstSource(known, "default_generator"))


def _tensor(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`tensor(data, ...)`; numbers may be symbols, or tensors of one element, which are copied."""
    array = of_array(tx, args, kwargs, True)
    if array is not None:
        return array
    copied = _of_items(tx, args[0].realize(), kwargs) if len(args) == 1 else None
    return copied or tx.output.run(tx, "call_function", from_data.tensor, args, kwargs)


def _of_items(tx: Translator, data: VariableTracker, kwargs: Kwargs) -> VariableTracker | None:
    """A tensor of a symbol, or of a list that holds symbols or tensors; None of other data."""
    items: list[VariableTracker] = [data]
    if isinstance(data, (ListVariable, TupleVariable)):
        items = [item.realize() for item in data.items]
    elif not isinstance(data, SymIntVariable):
        return None
    if kwargs.keys() - {"dtype"}:
        return None
    dtype = kwargs["dtype"].realize().as_constant() if "dtype" in kwargs else None
    dtype = dtype or promoted([_example(item) for item in items])
    if dtype is None or not _is_copied(tx, items, dtype):
        return None
    parts = [_copied(tx, item, dtype) for item in items]
    if isinstance(data, SymIntVariable):
        return parts[0]
    return tx.output.run(tx, "call_function", ops.stack, [tx.tuple_of(parts)], {})


def _as_tensor(function: Any) -> Handler:
    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        array = of_array(tx, args, kwargs, False)
        return array or tx.output.run(tx, "call_function", function, args, kwargs)

    return handler


def _example(item: VariableTracker) -> Any:
    if isinstance(item, SymIntVariable):
        return 2
    return item.as_constant() if item.is_constant() else getattr(item, "fake", None)


def _is_copied(tx: Translator, items: list[VariableTracker], dtype: Any) -> bool:
    """Whether some are tensors or symbols, and the dtype holds whatever they are."""
    tensors = [item for item in items if isinstance(item, TensorVariable)]
    numbers = [item for item in items if not isinstance(item, TensorVariable)]
    return (
        any(isinstance(item, (TensorVariable, SymIntVariable)) for item in items)
        and all(may_be_read(tx.output, tensor) for tensor in tensors)
        and all(dtype in (tensor.fake.dtype, dtypes.bool) or dtype.is_floating_point
                for tensor in tensors)
        and all((isinstance(item, SymIntVariable) and dtype in _HOLDING_ANY)
                or (type(item) is ConstantVariable and type(item.value) in (int, float, bool))
                for item in numbers)
        and not (tensors and numbers and not dtype.is_floating_point)
    )


_HOLDING_ANY = (dtypes.bool, dtypes.int64, dtypes.float32, dtypes.float64)
"""The dtypes that refuse no integer."""


def _copied(tx: Translator, item: VariableTracker, dtype: Any) -> VariableTracker:
    """A 0-d tensor of a tensor of one element, or of a number; doubles are rounded once."""
    run = tx.output.run
    if isinstance(item, ConstantVariable):
        return run(tx, "call_function", from_data.tensor, [item], {"dtype": tx.constant(dtype)})
    if isinstance(item, SymIntVariable):
        whole = {"dtype": tx.constant(dtypes.int64)}
        zero = run(tx, "call_function", ops.zeros, [tx.tuple_of([])], whole)
        number = run(tx, "call_method", "add", [zero, item], {})
        return run(tx, "call_method", "to", [number, tx.constant(dtype)], {})
    item = run(tx, "call_method", "detach", [item], {})
    item = run(tx, "call_method", "reshape", [item, tx.tuple_of([])], {})
    exact = [] if dtype is dtypes.bool else [dtypes.float64]
    for kind in (*(exact if dtype.is_floating_point else ()), dtype):
        item = run(tx, "call_method", "to", [item, tx.constant(kind)], {})
    return item


def _is_tensor(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    (value,) = (*args, *kwargs.values())
    return tx.constant(issubclass(value.realize().python_type(), Tensor))


def _way_out(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`boundary.way_out()`: a step of the graph ends the levels."""
    return PartialVariable(
        OperationVariable(boundary.leave, None), [tx.constant(boundary.depth())], {}
    )


def _unknown_values(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`has_values(x)` in the parts of operations: graphs are for any values."""
    return tx.constant(False)


def _call(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`pushing(f, *args)`: the call, as functions of a graph are differentiated by `backward`."""
    function, *given = args
    return function.call(tx, given, kwargs)


def _of_instances(name: str) -> Handler:
    """`Tensor.__add__(x, ...)` is `x.__add__(...)`."""

    def handler(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        first = args[0].realize() if args else None
        if not isinstance(first, TensorVariable):
            unsupported("GB0004", f"{name} of Tensor on what is no tensor")
        return first.call_method(tx, name, args[1:], kwargs)

    return handler


_OPERATORS = {name: f for name, f in vars(Operators).items() if isinstance(f, FunctionType)}
_SUBSCRIPTS = {name: vars(Tensor)[name] for name in ("__getitem__", "__len__", "__setitem__")}

PACKAGE: dict[Any, Handler] = {
    **{function: _of_instances(name) for name, function in (_OPERATORS | _SUBSCRIPTS).items()},
    pushing: _call,
    boundary.way_out: _way_out,
    dtype_rules.has_values: _unknown_values,
    from_data.is_tensor: _is_tensor,
    from_data.tensor: _tensor,
    from_data.as_tensor: _as_tensor(from_data.as_tensor),
    from_data.asarray: _as_tensor(from_data.asarray),
    from_data.from_numpy: over_array,
    random.manual_seed: _manual_seed,
    generator.Generator: make_generator,
    **{
        function: _of_constants(function)
        for function in (
            device, finfo.finfo, finfo.iinfo, promotion.promote_types, tensor_queries.can_cast,
            dtypes.get_default_dtype, grad_mode.is_inference_mode_enabled, has_say,
        )
    },
    **{
        function: _of_tensors(function)
        for function in (from_data.is_floating_point, from_data.is_complex, promotion.result_type)
    },
}  # fmt: skip
