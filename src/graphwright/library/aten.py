"""`gw.ops.aten.NAME`: the ops of the op table, by PyTorch's names of ops and overloads.

All is read from the table: graphwright has one function for what ATen has several overloads for,
so that each overload which the function's parameters can express is that function.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NoReturn

from graphwright.runtime.cuda.devices import is_available
from graphwright.runtime.naming import NAMING
from graphwright.runtime.ops import functions
from graphwright.runtime.ops.out_forms import OUT_FORMS
from graphwright.runtime.ops.schema import Param
from graphwright.runtime.ops.table import Op
from graphwright.runtime.tensor.device import absence
from graphwright.runtime.tensor.memory_format import check_placement


def _words(param: Param) -> list[str]:
    """The words of overload names that stand for a parameter: ATen's words for its type, and its
    name, of which `rounding_mode` may be `mode`."""
    kind = param.type.rstrip("?*")
    words = [param.name, param.name.rpartition("_")[2]]
    if kind in ("Operand", "object"):
        words += ["Tensor", "Scalar"]
    elif kind in ("Tensor", "Scalar"):
        words.append(kind)
    elif kind in ("Dim", "NewDim", "int", "SymInt", "SymInt|Tensor"):
        words.append("int")
    elif kind.startswith(("Dims", "Size", "Ints", "Perm")):
        words += ["IntList", "int", "sizes"] if kind.startswith("Ints") else ["IntList"]
    return words


class AtenOp:
    """One op of the table under its ATen name; its overloads are attributes.

    A call is one of the op's function, whose first parameter may be named `self`, too. A name of
    an overload that the op's parameters cannot express raises AttributeError, as does `_schema`.
    """

    def __init__(self, name: str, function: Callable[..., Any], entry: Op | None) -> None:
        self.__name__, self.function = name, function
        params = entry.schema.params if entry is not None else ()
        words = [word for param in params for word in _words(param)]
        if entry is not None and entry.name in OUT_FORMS:
            words.append("out")
        self._words = frozenset(words)
        self._names = [param.name for param in params]

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if "self" in kwargs and self._names:
            kwargs[self._names[0]] = kwargs.pop("self")
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"aten.{self.__name__}"

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__") or not self._has(name):
            self._refuse(name)
        return self.function

    def _has(self, name: str) -> bool:
        return name == "default" or all([word in self._words for word in name.split("_")])

    def _refuse(self, name: str) -> NoReturn:
        what = "no schemas of ATen's" if name == "_schema" else f"no overload '{name}'"
        raise AttributeError(
            f"{NAMING.root}.ops.{self!r} of graphwright has {what}: its parameters are "
            f"{', '.join(self._names)}"
        )

    def overloads(self) -> list[str]:
        """The overloads of one word that its parameters can express."""
        return ["default", *sorted(self._words & {"Tensor", "Scalar", "int", "dim", "out"})]


def _to_copy(
    self: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool | None = None, non_blocking: bool = False, memory_format: Any = None,
) -> Any:
    """A copy of a tensor with another dtype, device or order in memory."""
    check_placement("_to_copy", layout, pin_memory)
    more = {} if memory_format is None else {"memory_format": memory_format}
    return self.to(device or self.device, dtype or self.dtype, copy=True, **more)


def _pin_memory(self: Any, device: Any = None) -> Any:
    """A copy in pinned memory. Raises RuntimeError without a GPU."""
    if not is_available():
        raise RuntimeError(f"aten._pin_memory: {absence('accelerator')}")
    return self.pin_memory()


def _refuse_sparse(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: no tensor is sparse."""
    raise NotImplementedError("aten._sparse_addmm: graphwright has no sparse tensors")


_BESIDE: dict[str, Callable[..., Any]] = {
    "_to_copy": _to_copy, "_pin_memory": _pin_memory, "_sparse_addmm": _refuse_sparse,
}  # fmt: skip
"""What is no op of the table: a conversion, and ops for what does not exist here."""


def aten_op(name: str) -> AtenOp | None:
    """The op of that ATen name; None where graphwright has none."""
    beside = _BESIDE.get(name)
    if name.startswith("_foreach_"):
        beside = import_module("graphwright.compat.foreach").FUNCTIONS.get(name)
    if beside is not None:
        return AtenOp(name, beside, None)
    function = vars(functions).get(name)
    entry = getattr(function, "__gw_op__", None)
    if function is None or entry is None:
        return None
    return AtenOp(name, function, entry)
