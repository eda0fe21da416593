"""One tensor's values with another one's history: what a write that no tape sees leaves behind.

Where a tensor with a history is written under `no_grad`, or through `detach()`, its gradient goes
on to where it went before, whatever the new values were made of. `carry` says so in a functional
graph, until the gradients are part of it.
"""

from __future__ import annotations

from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops.table import Op, unlisted
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tensor.tensor import Tensor


def carry(value: Any, history: Any) -> Any:
    """`value`, whose gradient is that of `history`, a tensor of its type; in any grad mode."""
    return _core.with_grad_mode(True, dispatch, CARRY, (value, history))


CARRY: Op = unlisted(
    "carry(Tensor value, Tensor history)",
    meta=lambda value, history: TensorSpec(
        value.shape, value.stride(), value.dtype, value.device),
    vjp=lambda ctx, grad: (None, grad),
    saves=(),
    decompose=lambda value, history: value,
    eager=lambda value, history: _core.detach(Tensor, value),
    call=carry,
    family="carried",
)
