"""`t_`, `detach_`, ... of tensors that the frame made: the tensor becomes a view of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphwright.capture.exc import unsupported
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.values.exceptions import raise_in_frame
from graphwright.runtime.tensor.view_methods import VIEW_NOT_DETACHED

if TYPE_CHECKING:
    from graphwright.capture.trackers.tensors.tensor import TensorVariable
    from graphwright.capture.vm.translator import Translator
    from graphwright.runtime.fake.fake_tensor import FakeTensor

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

    That is no view where the owner is none. A break for what others hold as well: tensors from
    outside, and those with a history, whose memory counts as written. `detach_` refuses views.
    """
    fake = owner.present().fake
    is_view = fake._base is not None
    if name == "detach_" and is_view and owner.source is None:
        _refuse_detaching(tx, fake)
    if owner.source is not None or (fake.requires_grad and name != "detach_"):
        unsupported("GB0025", f"{name}() of {owner.describe()}")
    view = tx.output.run(tx, "call_method", IN_PLACE_VIEWS[name], [owner, *args], kwargs)
    if not is_view and name != "detach_":
        view = tx.output.run(tx, "call_method", "detach", [view], {})
    tx.output.rebind(owner, view)
    return owner


def _refuse_detaching(tx: Translator, view: FakeTensor) -> None:
    """The frame's error: what a graph returns need not be a view that refuses by itself."""
    sizes = ", ".join([str(int(size)) for size in view.shape])
    raise_in_frame(
        RuntimeError, [tx.constant(f"{VIEW_NOT_DETACHED} {view.dtype.name}[{sizes}]")]
    )
