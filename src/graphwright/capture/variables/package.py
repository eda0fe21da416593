"""Functions of this package about types: they are called while translating."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.constant import fold
from graphwright.runtime import dtypes, interop, limits, promotion
from graphwright.runtime.device import device

if TYPE_CHECKING:
    from graphwright.capture.translator import Translator

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


PACKAGE: dict[Any, Handler] = {
    **{
        function: _of_constants(function)
        for function in (
            device, limits.finfo, limits.iinfo, promotion.promote_types, promotion.can_cast,
            dtypes.get_default_dtype,
        )
    },
    **{
        function: _of_tensors(function)
        for function in (interop.is_floating_point, interop.is_complex, promotion.result_type)
    },
}  # fmt: skip
