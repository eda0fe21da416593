"""Tensors of a file of `torch.save`: storages by their records, and views of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from graphwright.nn.parameter import Parameter
from graphwright.runtime import _core
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dtypes import dtype as DType
from graphwright.runtime.tensor.elements import elements
from graphwright.runtime.tensor.storage import TypedStorage, UntypedStorage
from graphwright.runtime.tensor.subclasses import as_class
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.saving.archive import Archive, InvalidArchive
from graphwright.saving.header import InvalidFile, quoted
from graphwright.saving.layouts import check_part, part_of
from graphwright.saving.placing import Place
from graphwright.saving.unpickling import Budget, Named, RefusedObject, set_attributes

Make = Callable[["Storages", Budget, tuple[Any, ...]], Any]

_ALIGNED = 16
"""Bytes at a multiple of which every dtype's elements may lie."""
_COMPUTED = 4
"""How much memory conjugates and negatives may take, in multiples of the file's."""


class StorageType(Named):
    """What `torch.FloatStorage` and its like are in a file: the dtype of elements."""

    __slots__ = ("dtype",)

    def __init__(self, name: str, dtype: DType) -> None:
        super().__init__(name, self._refuse)
        self.dtype = dtype

    def _refuse(self, storages: Any, budget: Any, args: Any) -> Any:
        raise RefusedObject(f"the pickle calls {quoted(self.name)}, which is no function here")


class Storages:
    """The storages of an archive, each made once, and the tensors over them.

    Args:
        archive: the file.
        mapped: whether tensors lie in the archive's memory.
        swapped: whether the bytes of elements are in the other order than this machine's.
        place: where they go.
    """

    def __init__(self, archive: Archive, mapped: bool, swapped: bool, place: Place) -> None:
        self._archive, self._mapped, self._swapped = archive, mapped, swapped
        self._place = place
        self._computable = _COMPUTED * sum(e - b for b, e in archive.records.values())
        self._made: dict[str, tuple[UntypedStorage, DType]] = {}
        self._flat: dict[tuple[int, DType], Tensor] = {}

    def persistent(self, identity: Any) -> TypedStorage:
        """The storage that the id ("storage", type, key, location, size) stands for."""
        if type(identity) is not tuple or len(identity) != 5 or identity[0] != "storage":
            raise RefusedObject("the pickle refers to something outside that is no storage")
        _, kind, key, location, size = identity
        if type(kind) is not StorageType or type(key) is not str or type(location) is not str:
            raise InvalidFile("the pickle describes a storage in an unknown way")
        name = f"data/{key}"
        if name not in self._archive.records:
            raise InvalidArchive(f"the archive has no record for the storage {quoted(key)}")
        raw = self._archive.array(name)
        if type(size) is not int:
            raise InvalidFile("the pickle describes a storage in an unknown way")
        if size != raw.size // kind.dtype.itemsize:
            raise InvalidArchive(
                f"the storage {quoted(key)} is declared to have {quoted(str(size))} elements of "
                f"{kind.dtype.name}, but its record has {raw.size} bytes"
            )
        if key not in self._made:
            made = self._place(raw.size, lambda: self._read(name, kind.dtype), location)
            self._made[key] = made, kind.dtype
        storage, first = self._made[key]
        if self._swapped and first is not kind.dtype:
            raise InvalidFile(f"the storage {quoted(key)} has two dtypes in another byte order")
        found: TypedStorage = TypedStorage._of(storage._holder, kind.dtype)
        return found

    def _read(self, name: str, dtype: DType) -> UntypedStorage:
        raw = self._archive.array(name)
        if self._mapped and not self._swapped and raw.ctypes.data % _ALIGNED == 0 and raw.size:
            holder: Tensor = _core.from_ndarray(Tensor, raw, dtypes.uint8)
        else:
            self._archive.check(name)
            holder = _core.empty(Tensor, (raw.size,), dtypes.uint8)
            np.copyto(holder._nd, raw)
            if self._swapped:
                size = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
                parts = holder._nd[: raw.size // size * size].view(f"u{size}")
                parts.byteswap(inplace=True)
        found: UntypedStorage = UntypedStorage._of(holder, dtypes.uint8)
        return found

    def tensor(
        self, storage: Any, dtype: Any, offset: Any, shape: Any, strides: Any, grad: Any
    ) -> Tensor:
        """A tensor over part of a storage, checked against its size."""
        if type(storage) is not TypedStorage or not isinstance(dtype, DType):
            raise InvalidFile("the pickle describes a tensor in an unknown way")
        if self._swapped and dtype is not storage.dtype and dtype.itemsize > 1:
            raise InvalidFile(f"elements of {dtype.name} are in another machine's byte order")
        shape, strides = _listed(shape), _listed(strides)
        if storage.device.type == "meta":
            count = storage._holder.numel() // dtype.itemsize
            check_part(count, offset, shape, strides)
            found: Tensor = _core.meta(Tensor, tuple(shape), tuple(strides), dtype, Device("meta"))
        else:
            view = part_of(self._whole(storage, dtype), offset, shape, strides)
            found = _core.detach(Tensor, view)
        return with_gradient(found, grad)

    def count(self, size: int) -> None:
        """Count bytes that are computed. InvalidFile where there are too many for the file."""
        self._computable -= size
        if self._computable < 0:
            raise InvalidFile("the file has conjugates or negatives of more than it holds")

    def _whole(self, storage: TypedStorage, dtype: DType) -> Tensor:
        """All elements; once for all tensors that share them."""
        key = id(storage._holder), dtype
        if key not in self._flat:
            whole: Tensor = TypedStorage._of(storage._holder, dtype)._flat()
            if dtype is dtypes.bool and whole.numel() and elements(whole).view(np.uint8).max() > 1:
                raise InvalidFile("the file has a bool that is neither 0 nor 1")
            self._flat[key] = whole
        return self._flat[key]


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def with_gradient(tensor: Tensor, grad: Any) -> Tensor:
    """The tensor, which requires gradients if `grad`. InvalidFile where it cannot."""
    if type(grad) is not bool:
        raise InvalidFile("the pickle describes a tensor in an unknown way")
    if grad and not (tensor.is_floating_point() or tensor.dtype.is_complex):
        raise InvalidFile("the pickle wants gradients of an integer tensor")
    tensor.requires_grad = grad
    return tensor


def _parts(args: tuple[Any, ...], count: int, more: int = 0) -> list[Any]:
    """The arguments, with None for those that are left out."""
    if not count <= len(args) <= count + more:
        raise InvalidFile("the pickle describes a tensor in an unknown way")
    return [*args, *[None] * (count + more - len(args))]


def _check_hooks(hooks: Any) -> None:
    if hooks is not None and (type(hooks) is not OrderedDict or hooks):
        raise RefusedObject("the pickle has hooks of a tensor, which are functions")


def _rebuild_tensor(storages: Storages, budget: Budget, args: tuple[Any, ...]) -> Tensor:
    storage, offset, shape, strides = _parts(args, 4)
    kind = getattr(storage, "dtype", None)
    return storages.tensor(storage, kind, offset, shape, strides, False)


def _rebuild_tensor_v2(storages: Storages, budget: Budget, args: tuple[Any, ...]) -> Tensor:
    storage, offset, shape, strides, grad, hooks, metadata = _parts(args, 6, 1)
    _check_hooks(hooks)
    kind = getattr(storage, "dtype", None)
    found = storages.tensor(storage, kind, offset, shape, strides, grad)
    return _marked(storages, found, metadata)


def _rebuild_tensor_v3(storages: Storages, budget: Budget, args: tuple[Any, ...]) -> Tensor:
    storage, offset, shape, strides, grad, hooks, dtype, metadata = _parts(args, 7, 1)
    _check_hooks(hooks)
    found = storages.tensor(storage, dtype, offset, shape, strides, grad)
    return _marked(storages, found, metadata)


def _marked(storages: Storages, tensor: Tensor, metadata: Any) -> Tensor:
    """What PyTorch marks as a conjugate or negative, computed: here no tensor has such marks."""
    if metadata is None:
        return tensor
    if type(metadata) is not dict or not set(metadata) <= {"conj", "neg"}:
        raise InvalidFile("the pickle describes a tensor in an unknown way")
    for mark, compute in (("conj", Tensor.conj_physical), ("neg", Tensor.neg)):
        if metadata.get(mark):
            storages.count(tensor.numel() * tensor.dtype.itemsize)
            grad = tensor.requires_grad
            tensor = compute(tensor.detach()).requires_grad_(grad)
    return tensor


def _rebuild_parameter(storages: Storages, budget: Budget, args: tuple[Any, ...]) -> Tensor:
    data, grad, hooks = _parts(args, 3)
    return _parameter(data, grad, hooks)


def _rebuild_parameter_with_state(
    storages: Storages, budget: Budget, args: tuple[Any, ...]
) -> Tensor:
    data, grad, hooks, state = _parts(args, 4)
    made = _parameter(data, grad, hooks)
    set_attributes(made, state)
    return made


def _parameter(data: Any, grad: Any, hooks: Any) -> Parameter:
    _check_hooks(hooks)
    if not isinstance(data, Tensor):
        raise InvalidFile("the pickle makes a parameter of what is no tensor")
    with_gradient(data.detach(), grad)
    return Parameter(data, grad)


def _rebuild_meta(storages: Storages, budget: Budget, args: tuple[Any, ...]) -> Tensor:
    dtype, shape, strides, grad = _parts(args, 4)
    shape, strides = _listed(shape), _listed(strides)
    if not isinstance(dtype, DType):
        raise InvalidFile("the pickle describes a tensor in an unknown way")
    check_part(2**63, 0, shape, strides)
    made: Tensor = _core.meta(Tensor, tuple(shape), tuple(strides), dtype, Device("meta"))
    return with_gradient(made, grad)


def _rebuild_from_type(storages: Storages, budget: Budget, args: tuple[Any, ...]) -> Tensor:
    """A tensor that has attributes, or is of a subclass that the user allowed."""
    function, kind, inner, state = _parts(args, 4)
    name = function.name if isinstance(function, Named) else ""
    make = REBUILD.get(name.removeprefix("torch._utils."))
    if make is None or type(inner) is not tuple:
        raise RefusedObject("the pickle makes a tensor by a function that makes none")
    made: Tensor = make(storages, budget, inner)
    if isinstance(kind, type) and issubclass(kind, Tensor):
        made = as_class(kind, made)
    elif not isinstance(kind, Named) or kind.name != "torch.Tensor":
        raise RefusedObject("the pickle makes a tensor of a class that is no class of tensors")
    if state:
        set_attributes(made, state)
    return made


REBUILD: dict[str, Make] = {
    "_rebuild_tensor": _rebuild_tensor,
    "_rebuild_tensor_v2": _rebuild_tensor_v2,
    "_rebuild_tensor_v3": _rebuild_tensor_v3,
    "_rebuild_parameter": _rebuild_parameter,
    "_rebuild_parameter_with_state": _rebuild_parameter_with_state,
    "_rebuild_meta_tensor_no_storage": _rebuild_meta,
}
"""By their names in `torch._utils`."""

FROM_TYPE = {"_rebuild_from_type_v2": _rebuild_from_type}
"""By its name in `torch._tensor`."""
