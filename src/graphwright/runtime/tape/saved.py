"""What a node keeps for its vjp: saved tensors, checked by version, and metadata.

`saved_tensors_hooks` may replace what is kept by something else, such as a file's name.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.ops.tensor_spec import TensorSpec

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors "
    "after they have already been freed). Saved intermediate values of the graph are freed "
    "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to "
    "backward through the graph a second time or if you need to access saved tensors after "
    "calling backward."
)

INFERENCE = (
    "Inference tensors cannot be saved for backward. To work around you can make a clone to get "
    "a normal tensor and use it in autograd."
)

def alias_of(tensor: Any) -> Any:
    """An alias with the same version counter and no history, unknown to dispatch."""
    return tensor._alias()


Pack = Callable[[Any], Any]


class _Packing(threading.local):
    """Pairs of pack and unpack hooks of this thread; the innermost last."""

    def __init__(self) -> None:
        self.stack: list[tuple[Pack, Pack]] = []
        self.refusal: str | None = None


class _Active:
    """How many pairs of hooks there are in all threads; saving asks nothing more if none."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


PACKING = _Packing()
ACTIVE = _Active()


class SavedTensor:
    """A tensor and the version at which it was saved.

    An output is saved as a detached alias: holding the output itself would close a cycle
    through its own grad_fn. Unpacking gives the alias that grad_fn back. Under hooks `tensor`
    is metadata only, and `packed` holds what pack gave and what brings the tensor back.
    """

    __slots__ = ("is_output", "packed", "tensor", "version")

    def __init__(
        self, tensor: Any, is_output: bool = False, version: int | None = None
    ) -> None:
        """version: at which it has been held since; no hook is asked then."""
        if tensor.is_inference():
            raise RuntimeError(INFERENCE)
        self.tensor = tensor
        self.version = tensor._version if version is None else version
        self.is_output = is_output
        self.packed: _Packed | None = None
        if version is None and packing() and not tensor.is_fake:
            self.packed = _Packed(tensor, is_output)
            self.tensor = metadata(tensor)

    def unpack(self, node: Any, output_nr: int = 0) -> Any:
        """The tensor. Raises RuntimeError where it was changed in place since."""
        tensor = self.tensor
        if self.packed is not None:
            tensor = self.packed.unpack()
        elif tensor._version != self.version:
            raise RuntimeError(self._modified(node, output_nr))
        if self.is_output and _core.grad_enabled() and tensor.grad_fn is None:
            if not tensor.dtype.is_floating_point and not tensor.dtype.is_complex:
                return tensor
            tensor = alias_of(tensor)
            tensor.grad_fn, tensor.output_nr = node, output_nr
        return tensor

    def _modified(self, node: Any, output_nr: int) -> str:
        tensor = self.tensor
        maker = node if self.is_output else tensor.grad_fn
        origin = None
        if maker is not None:
            origin = maker.name(), output_nr if self.is_output else tensor.output_nr
        return modified(f"{tensor.dtype} {list(tensor.shape)}", origin, tensor._version,
                        self.version, node.name())


class SavedValues:
    """Arguments or results of a call: the tensors among them as `SavedTensor`, together.

    values: a tuple. Results have to be detached.
    """

    __slots__ = ("_packed", "_values", "_versions")

    def __init__(self, values: tuple[Any, ...]) -> None:
        self._packed: list[Any] | None = None
        self._versions = _core.versions(values)
        if packing():
            self._packed = [
                SavedTensor(value) if isinstance(value, _core.TensorBase) else value
                for value in values
            ]
            values = ()
        self._values = values

    def unpack(self, node: Any, places: tuple[int, ...]) -> list[Any]:
        """The values at these places. Raises RuntimeError as `SavedTensor.unpack` does."""
        values = self._values
        if self.are_unchanged(places):
            return [values[place] for place in places]
        found = [self[place] for place in places]
        return [value.unpack(node) if isinstance(value, SavedTensor) else value
                for value in found]

    def are_unchanged(self, places: tuple[int, ...]) -> bool:
        """Whether none of these was written in place since, and none was given to hooks."""
        return self._packed is None and _core.same_versions(
            self._values, self._versions, places)

    def __getitem__(self, place: int) -> Any:
        """A SavedTensor, or the value that is no tensor."""
        if self._packed is not None:
            return self._packed[place]
        value = self._values[place]
        if not isinstance(value, _core.TensorBase):
            return value
        return SavedTensor(value, version=memoryview(self._versions).cast("q")[place])


def modified(
    what: str, maker: tuple[str, int] | None, version: int, expected: int, saver: str
) -> str:
    """PyTorch's refusal to read a saved tensor that was written in place since."""
    origin = "" if maker is None else f", which is output {maker[1]} of {maker[0]},"
    return (
        "one of the variables needed for gradient computation has been modified by an "
        f"inplace operation: [{what}]{origin} is at version {version}; expected version "
        f"{expected} instead. Hint: it was saved by {saver}; enable anomaly detection to find "
        "the operation that failed to compute its gradient, with "
        "autograd.set_detect_anomaly(True)."
    )


def packing() -> bool:
    """Whether hooks of this thread replace what is saved."""
    return bool(ACTIVE.count and PACKING.stack)


@contextmanager
def saved_as_it_is() -> Iterator[None]:
    """Within it no hook of this thread replaces what is saved."""
    stack, PACKING.stack = PACKING.stack, []
    try:
        yield
    finally:
        PACKING.stack = stack


class _Packed:
    """What a pack hook gave, the hook that undoes it, and where the tensor's gradient goes."""

    __slots__ = ("edge", "unpack_hook", "value")

    def __init__(self, tensor: Any, is_output: bool) -> None:
        pack, self.unpack_hook = PACKING.stack[-1]
        self.edge: Any = None
        if not is_output and tensor.requires_grad:
            self.edge = (tensor, 0) if tensor.is_leaf else (tensor.grad_fn, tensor.output_nr)
        version = tensor._version
        with _NoGrad():
            self.value = pack(tensor)
        if tensor._version != version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as "
                "input to pack hook can not be modified by in-place operations as this can lead "
                "to unexpected side-effects."
            )

    def unpack(self) -> Any:
        tensor = self.unpack_hook(self.value)
        if not isinstance(tensor, _core.TensorBase):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                f"type {type(tensor).__name__}"
            )
        if self.edge is None or not _core.grad_enabled():
            return tensor
        if tensor is self.edge[0]:
            return tensor
        return LEADING_TO.make(tensor, self.edge)


class _NoGrad:
    """Grad mode off, for the time of a pack hook."""

    __slots__ = ("previous",)

    def __enter__(self) -> None:
        self.previous = _core.grad_enabled()
        _core.set_grad_enabled(False)

    def __exit__(self, *exc: object) -> None:
        _core.set_grad_enabled(self.previous)


class _LeadingTo:
    """Set by `node`: an alias of a tensor whose gradient goes to a given edge."""

    __slots__ = ("make",)

    def __init__(self) -> None:
        self.make: Callable[[Any, Any], Any]


LEADING_TO = _LeadingTo()


def metadata(tensor: Any) -> TensorSpec:
    """Shape, strides, dtype, device and place in the storage, without the data."""
    return TensorSpec(
        tensor.shape, tensor.stride(), tensor.dtype, tensor.device, tensor.storage_offset()
    )
