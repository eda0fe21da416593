"""The op methods of Tensor."""

from __future__ import annotations

from graphwright.runtime._core import TensorBase
from graphwright.runtime.ops.aliases import names_of_aliases
from graphwright.runtime.ops.op_names import METHODS
from graphwright.runtime.ops.signatures import op_method


class TensorMethods(TensorBase):
    """Mixin of Tensor."""

    __slots__ = ()


_METHODS = dict.fromkeys(METHODS.split())
for _name in _METHODS:
    setattr(TensorMethods, _name, op_method(_name, _name, TensorMethods))
for _name, _target, _renamed in names_of_aliases(_METHODS):
    _method = op_method(_name, _target, TensorMethods) if _renamed else None
    setattr(TensorMethods, _name, _method or vars(TensorMethods)[_target])
