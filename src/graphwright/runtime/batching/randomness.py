"""Random numbers under vmap: none, the same for all examples, or different ones."""

from __future__ import annotations

from typing import Any

from graphwright.runtime.batching.levels import Level
from graphwright.runtime.batching.rules import rule
from graphwright.runtime.batching.tensor import BatchedTensor, spread, whole
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.op_errors import complete
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import Op

DRAWS = frozenset({"binomial", "poisson", "rand", "standard_gamma"})
"""The ops that all other random ops are made of."""

_ERROR = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' "
    "or 'different' randomness flags on vmap or perform the randomness operation out of vmap"
)


def check_randomness(op: Op, level: Level, differs: bool) -> None:
    """Raise RuntimeError where a level wants no random numbers, or the same for all examples
    although their distributions are different."""
    if level.randomness == "error":
        raise complete(RuntimeError(_ERROR))
    if level.randomness == "same" and differs:
        raise complete(RuntimeError(
            f"vmap: Cannot ask for same randomness in {op.name} of a tensor that differs between "
            "examples"
        ))


@rule("binomial", "poisson", "standard_gamma")
def draw_elements(op: Op, args: tuple[Any, ...], level: Level) -> Any:
    """One number for each element of the tensors, which have one shape."""
    tensors = [arg for arg in args if type(arg) is BatchedTensor]
    check_randomness(op, level, any([tensor.batched for tensor in tensors]))
    if level.randomness == "same":
        shared = [arg.value if type(arg) is BatchedTensor else arg for arg in args]
        return spread(dispatch(op, tuple(shared)), level)
    own = [ops.contiguous(whole(arg)) if type(arg) is BatchedTensor else arg for arg in args]
    return dispatch(op, tuple(own))
