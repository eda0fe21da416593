"""`save` and `load`, and which format a file has."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, BinaryIO

from graphwright.runtime.naming import NAMING
from graphwright.saving.allowed import how_to_allow
from graphwright.saving.checkpoint import (
    checkpoint_parts,
    is_checkpoint,
    read_checkpoint,
    refuse_legacy,
)
from graphwright.saving.files import Path, Reader, content_of, write_atomically
from graphwright.saving.placing import placing
from graphwright.saving.state import read_state, state_parts

FORMATS = ("safetensors", "torch")
_ENDINGS = {".safetensors": "safetensors", ".pt": "torch", ".pth": "torch"}


def _format_for(f: Path | BinaryIO, format: str | None) -> str:
    """The format that the argument, the path's ending or the process says, in this order."""
    if format is None:
        ending = os.path.splitext(os.fspath(f))[1] if isinstance(f, str | os.PathLike) else ""
        stands_in = NAMING.root == "torch"
        return _ENDINGS.get(ending, "torch" if stands_in else "safetensors")
    if format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, not {format!r}")
    return format


def save(
    obj: Any,
    f: Path | BinaryIO,
    pickle_module: Any = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    *,
    format: str | None = None,
) -> None:
    """Write a nested state, such as {"model": .., "optimizer": .., "step": 3}, to one file.

    In a safetensors file stand the elements of each tensor, in a torch file whole storages,
    also of views; it further holds storages, tensors of the meta device, attributes of
    tensors, and objects of classes that `serialization.add_safe_globals` allows.

    Args:
        obj: dicts (also OrderedDict, as of `state_dict`, and Counter), lists, tuples, sets,
            sizes, numbers, strings, bytes, bytearrays, None, bools, dtypes, devices, layouts,
            and tensors of every dtype, nested at most 100 deep. Tensors that share memory
            share it after loading; `requires_grad` and Parameters are kept, gradients and
            history are not. Subclasses of numbers, NumPy's scalars too, are saved as plain
            numbers. Of a GPU's tensors the device is saved.
        f: a path, where the file appears whole or not at all, or a binary file object.
        pickle_module, pickle_protocol: have no effect.
        format: "safetensors", or "torch" for the zip archive of `torch.save`, which PyTorch
            loads with `weights_only=True`. Where it is None, the endings .safetensors, .pt
            and .pth of a path say it; everything else is written as "safetensors", and as
            "torch" in a program whose `import torch` means graphwright.

    Raises:
        TypeError: for any other object; the message names where it is in `obj`.
        ValueError: for what is nested too deep, or contains itself; for an unknown format,
            and where the torch format of before 1.6 is asked for.
        RuntimeError: where one memory is there as two dtypes, which a torch file cannot hold.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> gw.save({"weight": gw.tensor([1.0, 2.0])}, file)
        >>> gw.load(io.BytesIO(file.getvalue()))["weight"]
        tensor([1., 2.])
    """
    parts: Iterable[Any]
    if _format_for(f, format) == "safetensors":
        parts = state_parts(obj)
    elif _use_new_zipfile_serialization:
        parts = checkpoint_parts(obj)
    else:
        raise ValueError(
            "save writes the zip format of PyTorch 1.6 and later, not the one before: leave out "
            "_use_new_zipfile_serialization=False"
        )
    if isinstance(f, str | os.PathLike):
        write_atomically(f, parts)
        return
    for part in parts:
        f.write(part)


def load(
    f: Path | BinaryIO,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    encoding: str = "utf-8",
) -> Any:
    """Object that `save` or `torch.save` wrote to a file.

    Of any other safetensors file the tensors by name. The first bytes say which format a file
    has. No code of a file's choice ever runs. There is none in a safetensors file. The pickle
    in a torch file is read by an interpreter that makes tensors, storages, containers,
    numbers, strings, bytes, sizes, dtypes, devices and layouts, and refuses all else by name,
    unless `serialization.add_safe_globals` has allowed it.

    Args:
        f: a path or a binary file object.
        map_location: where tensors are put: None for where they were, a device ("cpu", "cuda",
            "meta"), a dict of such by where they were ("cpu", "cuda:0"), or a function of a
            storage and of where it was, which returns that storage or another, or None to leave
            it.
        pickle_module: must be None.
        weights_only: of a torch file True or None, which is the same; False is refused.
        mmap: whether the tensors' memory is the file's, read when first touched; what is
            written to them stays in this process. The file may be replaced meanwhile, by
            `save` too, but not truncated. None maps safetensors files that are given by path,
            and no others.
        encoding: of the strings that Python 2 pickled; "bytes" leaves them so.

    Returns: the object that was saved.

    Raises:
        RuntimeError: for a device that is not there; InvalidArchive for a torch file that is
            cut short or damaged.
        TypeError: where `map_location` is none of these.
        InvalidFile: (a ValueError) for anything malformed; RefusedObject (also a
            `pickle.UnpicklingError`) for what the file wants and must not have.
        ValueError: for `weights_only=False`; for `mmap=True` where `f` is no path.
        OSError: where the file cannot be read.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> gw.save({"step": 3}, file)
        >>> gw.load(io.BytesIO(file.getvalue()))
        {'step': 3}
    """
    place = placing(map_location)
    is_path = isinstance(f, str | os.PathLike)
    if mmap and not is_path:
        raise ValueError("load maps files that are given by path: f is a file object")
    content = content_of(f, mmap is not False)
    if not is_checkpoint(content):
        refuse_legacy(content)
        return read_state(Reader(content, is_path and mmap is not False), place)
    if weights_only is False or pickle_module is not None:
        raise ValueError(
            "load(weights_only=False) would run whatever code the file holds, which graphwright "
            "never does: leave it out, and allow classes that you trust with "
            f"{how_to_allow()}"
        )
    return read_checkpoint(content, bool(mmap), place, encoding)
