"""`gw.ops`: the user's own ops, and those of the op table, as `torch.ops.NAMESPACE.NAME`."""

from __future__ import annotations

import functools
import types
from typing import Any, NoReturn

from graphwright._higher_order_ops import cond_and_while
from graphwright.library.aten import aten_op
from graphwright.library.custom import CustomOp
from graphwright.runtime.naming import missing, public_name


class OpOverloads:
    """An op of several declarations: each is an attribute by its overload name.

    A call takes the first whose declaration the arguments fit. Raises the RuntimeError of the last
    where none does.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name
        self._overloads: dict[str, CustomOp] = {}

    def __repr__(self) -> str:
        return self.__name__

    def __getattr__(self, name: str) -> CustomOp:
        if name.startswith("__") or name not in self._overloads:
            raise AttributeError(
                f"The underlying op of '{self.__name__}' has no overload name '{name}'"
            )
        return self._overloads[name]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        *first, last = self._overloads.values()
        chosen = next((one for one in first if one.accepts(args, kwargs)), last)
        return chosen(*args, **kwargs)

    def overloads(self) -> list[str]:
        """The names of the overloads, in the order in which they were declared."""
        return list(self._overloads)

    def _put(self, op: CustomOp) -> None:
        self._overloads[op.overloads()[0]] = op

    def _remove(self, op: CustomOp) -> None:
        del self._overloads[op.overloads()[0]]


def put(op: CustomOp) -> None:
    """Let `gw.ops.NAMESPACE.NAME` be the op, or have it among its overloads."""
    space = getattr(ops, op.namespace)
    held = vars(space).get(op.__name__)
    alone = held is None or (isinstance(held, CustomOp) and held.overloads() == ["default"])
    if alone and op.overloads() == ["default"]:
        setattr(space, op.__name__, op)
        return
    if not isinstance(held, OpOverloads):
        several = OpOverloads(f"{op.namespace}.{op.__name__}")
        if held is not None:
            several._put(held)
        held = several
        setattr(space, op.__name__, held)
    held._put(op)


def remove(op: CustomOp) -> None:
    """Take the op out of its namespace, where it is still there."""
    space = vars(getattr(ops, op.namespace))
    held = space.get(op.__name__)
    if isinstance(held, OpOverloads):
        held._remove(op)
    if held is op or (isinstance(held, OpOverloads) and not held.overloads()):
        del space[op.__name__]


def _namespace(name: str) -> types.ModuleType:
    """`gw.ops.NAME`, which is empty until an op of that namespace is made."""
    if name.startswith("__"):
        raise missing("graphwright.ops", name)
    made = ops.__dict__[name] = types.ModuleType(f"graphwright.ops.{name}")
    made.__dict__["__getattr__"] = functools.partial(_FINDERS.get(name, _no_op), made.__name__)
    if name == "higher_order":
        vars(made).update(cond=cond_and_while.cond, while_loop=cond_and_while.while_loop_with)
    return made


def _no_op(namespace: str, name: str) -> NoReturn:
    raise missing(namespace, name)


def _aten(namespace: str, name: str) -> Any:
    found = None if name.startswith("__") else aten_op(name)
    if found is None:
        raise missing(namespace, name)
    setattr(ops.aten, name, found)
    return found


def _no_prims(namespace: str, name: str) -> NoReturn:
    if name.startswith("__"):
        raise missing(namespace, name)
    raise AttributeError(
        f"{public_name(namespace)}.{name}: graphwright has no prims of PyTorch's; its ops are "
        f"those of {public_name('graphwright.ops')}.aten, and decompose into its own primitives"
    )


_FINDERS: dict[str, Any] = {"aten": _aten, "prims": _no_prims}


def _load_library(path: Any) -> NoReturn:
    """Raises OSError: libraries of operators for PyTorch need its C++ library."""
    raise OSError(f"ops.load_library: graphwright has no C++ library of PyTorch's, which {path} "
                  "needs. library.custom_op makes an op of a function in any library")


ops = types.ModuleType("graphwright.ops", "The user's own ops: `gw.ops.NAMESPACE.NAME`.")
ops.__dict__.update(__getattr__=_namespace, load_library=_load_library)
