"""`t_`, `detach_`, ... of tensors that the frame made: the tensor becomes a view of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphwright.capture.exc import unsupported
from graphwright.capture.variables.base import VariableTracker

if TYPE_CHECKING:
    from graphwright.capture.translator import Translator
    from graphwright.capture.variables.tensor import TensorVariable

IN_PLACE_VIEWS = {
    f"{name}_": name
    for name in (
        *("t", "squeeze", "unsqueeze", "transpose", "swapaxes", "swapdims", "detach"),
        "as_strided",
    )
}
RESIZING = frozenset(["resize_", "resize_as_", "set_"])


def become_view(
    tx: Translator,
    owner: TensorVariable,
    name: str,
    args: list[VariableTracker],
    kwargs: dict[str, VariableTracker],
) -> VariableTracker:
    """`owner.name(...)`: the tracker stands for the node of the view from now on.

    A break for what others hold as well: tensors from outside, and those with a history, whose
    memory counts as written, but for `detach_`, which views refuse.
    """
    fake = owner.present().fake
    refused = fake._base is not None if name == "detach_" else fake.requires_grad
    if owner.source is not None or refused:
        unsupported("GB0025", f"{name}() of {owner.describe()}")
    view = tx.output.run(tx, "call_method", IN_PLACE_VIEWS[name], [owner, *args], kwargs)
    tx.output.rebind(owner, view)
    return owner
