"""Where the tensors of a file are put: what `map_location` says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright.runtime import _core
from graphwright.runtime.cuda.devices import is_available, placed
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.storage import TypedStorage, UntypedStorage
from graphwright.runtime.tensor.tensor import Tensor

Make = Callable[[], UntypedStorage]
Place = Callable[[int, Make, str], UntypedStorage]
"""The storage to use for one of so many bytes, which the function reads, from a device."""


def placing(location: Any) -> Place:
    """The rule that `map_location` is: None, a device, a dict of devices or a function.

    Raises:
        RuntimeError: for a device that is not there; of a dict, when it is asked for.
        TypeError: where `location` is none of these.
    """
    if location is None:
        return restored
    if isinstance(location, dict):
        return lambda size, make, tag: restored(size, make, location.get(tag, tag))
    if isinstance(location, str | Device):
        _kind(location)
        return lambda size, make, tag: restored(size, make, location)
    if not callable(location):
        raise TypeError(
            "map_location must be a device, a dict of devices or a function, not "
            f"{type(location).__name__}"
        )
    return lambda size, make, tag: _chosen(location, make(), tag)


def restored(size: int, make: Make, place: Any) -> UntypedStorage:
    """Memory on the device `place` with what `make` reads, or none for the meta device."""
    kind = _kind(place)
    if kind == "cpu":
        return make()
    if kind == "cuda":
        there: UntypedStorage = make().cuda(place)
        return there
    holder = _core.meta(Tensor, (size,), (1,), dtypes.uint8, Device("meta"))
    made: UntypedStorage = UntypedStorage._of(holder, dtypes.uint8)
    return made


def _kind(place: Any) -> str:
    """The kind of a device that is there."""
    if not isinstance(place, str | Device):
        raise TypeError(f"map_location must lead to devices, not to {type(place).__name__}")
    kind = str(place).partition(":")[0]
    if kind == "cuda" and is_available():
        placed(Device(place))
    elif kind not in ("cpu", "meta"):
        raise RuntimeError(
            f"Attempting to deserialize object on a {kind[:60]} device, which is not available: "
            "use load with map_location=device('cpu')"
        )
    return kind


def _chosen(function: Any, own: UntypedStorage, tag: str) -> UntypedStorage:
    """As a function of the storage and of where it was has it: None leaves it there."""
    given = function(own, tag)
    if given is None:
        return restored(own.nbytes(), lambda: own, tag)
    if not isinstance(given, UntypedStorage | TypedStorage):
        raise TypeError(f"map_location must give a storage or None, not {type(given).__name__}")
    return given.untyped()


class Placed:
    """Tensors of a file over the memory that a rule has for them, each storage placed once."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._known: dict[tuple[int, str], tuple[UntypedStorage, UntypedStorage]] = {}

    def __call__(self, tensor: Tensor, tag: str = "cpu") -> Tensor:
        """A tensor that was read, there where the rule puts what was on the device `tag`."""
        own, key = tensor.untyped_storage(), (id(tensor._storage), tag)
        if key not in self._known:
            self._known[key] = own, self._place(own.nbytes(), lambda: own, tag)
        _, given = self._known[key]
        if given.device.type == "meta":
            return tensor.to("meta")
        if given._memory._address() == own._memory._address():
            return tensor
        flat = TypedStorage._of(given._holder, tensor.dtype)._flat()
        view = _core.as_view(
            Tensor, flat, tensor.shape, tensor.stride(), tensor.storage_offset())
        return _core.detach(Tensor, view)
