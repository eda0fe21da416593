"""Dispatch keys, after `torch._C.DispatchKey`: for which tensors or modes a kernel is meant.

graphwright chooses among the kernels of an op of the user's own by the keys in `USED`. Those of
devices that do not exist here are accepted, and nothing is ever called by them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from enum import Enum
from types import TracebackType
from typing import Any, NoReturn

from graphwright.amp import autocast
from graphwright.autograd.grad_mode import no_grad

_DEVICES = (
    *("CPU", "CUDA", "HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "MTIA", "MAIA"),
    *("PrivateUse1", "PrivateUse2", "PrivateUse3", "Meta"),
)
_OF_DEVICES = ("", "Quantized", "Sparse", "SparseCsr", "NestedTensor", "Autograd")
_AUTOCAST = ("CPU", "CUDA", "HPU", "IPU", "MPS", "PrivateUse1", "XPU")
_OTHERS = (
    *("Undefined", "Dense", "Quantized", "Sparse", "SparseCsr", "NestedTensor", "BackendSelect"),
    *("Python", "PythonDispatcher", "PythonTLSSnapshot", "PreDispatch", "Functionalize"),
    *("Conjugate", "Negative", "ZeroTensor", "ADInplaceOrView", "Autograd", "AutogradOther"),
    *("AutogradFunctionality", "CompositeImplicitAutograd", "CompositeExplicitAutograd"),
    *("CompositeImplicitAutogradNestedTensor", "CompositeExplicitAutogradNonFunctional"),
    *("FuncTorchBatched", "FuncTorchBatchedDecomposition", "FuncTorchVmapMode"),
    *("FuncTorchGradWrapper", "FuncTorchDynamicLayerBackMode", "FuncTorchDynamicLayerFrontMode"),
)
_NAMES = (
    *_OTHERS,
    *(kind + device for kind in _OF_DEVICES for device in _DEVICES),
    *("Autocast" + device for device in _AUTOCAST),
)

_make_enum: Any = Enum
DispatchKey = _make_enum("DispatchKey", _NAMES, start=0, module=__name__)
DispatchKey.__doc__ = "For which tensors, or in which mode, a kernel of an op is meant."

AUTOGRAD = ("AutogradCPU", "Autograd")
"""Keys of kernels that compute with gradients themselves, in the order they are looked for."""
KERNELS = (
    *("CPU", "CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd"),
    "CompositeImplicitAutograd",
)
"""Keys of kernels for CPU tensors, in the order they are looked for."""
USED = (*KERNELS, "Meta", *AUTOGRAD, "AutocastCPU")
_ABSENT = frozenset(
    kind + device for kind in (*_OF_DEVICES, "Autocast")
    for device in _DEVICES if device not in ("CPU", "Meta")
)  # fmt: skip


def known_key(key: Any) -> str:
    """The name of a dispatch key, "" for the one of all; RuntimeError for what is none."""
    name = key.name if isinstance(key, DispatchKey) else key
    if name == "":
        return "CompositeImplicitAutograd"
    if name not in DispatchKey.__members__:
        raise RuntimeError(
            f"could not parse dispatch key: {key}. graphwright uses {', '.join(USED)}, and "
            "accepts the others of torch._C.DispatchKey"
        )
    return str(name)


def device_keys(device_types: Any) -> list[str]:
    """The keys of types of devices: ["CPU"] of "cpu", or of several; None and "default" are all.

    RuntimeError for what is no type of a device.
    """
    if device_types in (None, "default"):
        return ["CompositeExplicitAutograd"]
    names = {device.lower(): device for device in _DEVICES if device[-1] not in "123"}
    names["privateuseone"] = "PrivateUse1"
    given = [device_types] if isinstance(device_types, str) else list(device_types)
    for device in given:
        if device not in names:
            raise RuntimeError(
                f"Expected one of {', '.join(names)} device type at start of device string: "
                f"{device}"
            )
    return [names[device] for device in given]


class DispatchKeySet:
    """A set of dispatch keys. Raises TypeError for what is no key."""

    __slots__ = ("_keys",)

    def __init__(self, key: Any) -> None:
        if not isinstance(key, DispatchKey):
            raise TypeError(f"DispatchKeySet(): expected a DispatchKey, got {key!r}")
        self._keys = frozenset([key])

    @classmethod
    def _of(cls, keys: frozenset[Any]) -> DispatchKeySet:
        made = cls.__new__(cls)
        made._keys = keys
        return made

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return self._of(self._keys | other._keys)

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return self._of(self._keys & other._keys)

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        return self._of(self._keys - other._keys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and self._keys == other._keys

    def __hash__(self) -> int:
        return hash(self._keys)

    def __iter__(self) -> Iterator[Any]:
        return iter(sorted(self._keys, key=lambda key: key.value))

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(key.name for key in self)})"

    def has(self, key: Any) -> bool:
        """Whether the key is among them."""
        return key in self._keys

    def add(self, key: Any) -> DispatchKeySet:
        """The set with that key, too."""
        return self | DispatchKeySet(key)

    def remove(self, key: Any) -> DispatchKeySet:
        """The set without that key."""
        return self - DispatchKeySet(key)


class _Below(threading.local):
    """`autograd`: how many blocks of the thread leave out the kernels of `AUTOGRAD`."""

    autograd = 0


BELOW = _Below()


class _ExcludeDispatchKeyGuard:
    """A `with` block that leaves some keys out.

    Without the keys of autograd nothing is recorded, and no kernel of theirs is called; without
    AutocastCPU nothing is cast. Keys of devices that do not exist change nothing. Entering it
    with others raises NotImplementedError.
    """

    def __init__(self, keys: DispatchKeySet) -> None:
        if not isinstance(keys, DispatchKeySet):
            raise TypeError(
                f"_ExcludeDispatchKeyGuard(): expected a DispatchKeySet, got {keys!r}"
            )
        self._names = {key.name for key in keys} - _ABSENT
        self._stack = ExitStack()

    def __enter__(self) -> _ExcludeDispatchKeyGuard:
        others = self._names.difference(AUTOGRAD, ("AutocastCPU",))
        if others:
            raise NotImplementedError(
                f"graphwright cannot leave out the dispatch keys {', '.join(sorted(others))}: it "
                "has no dispatcher by keys; only those of autograd and autocast can be left out"
            )
        if self._names.intersection(AUTOGRAD):
            self._stack.enter_context(no_grad())
            BELOW.autograd += 1
            self._stack.callback(_leave)
        if "AutocastCPU" in self._names:
            self._stack.enter_context(autocast("cpu", enabled=False))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()


def _leave() -> None:
    BELOW.autograd -= 1


class _AutoDispatchBelowAutograd(_ExcludeDispatchKeyGuard):
    """A `with` block in which nothing is recorded and no kernel for autograd is called."""

    def __init__(self) -> None:
        super().__init__(DispatchKeySet(DispatchKey.Autograd))


def fallthrough_kernel() -> NoReturn:
    """Stands for no kernel, where one is registered; raises NotImplementedError when called."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")
