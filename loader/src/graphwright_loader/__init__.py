"""Runs programs that graphwright has packaged, with NumPy arrays."""

from __future__ import annotations

import os
import re
import threading
import weakref
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import cffi
import numpy as np

__all__ = ["Argument", "Model", "ModelError", "load"]
__version__ = "0.1.0"

_DTYPES = {
    "float": np.float32, "double": np.float64, "int64_t": np.int64, "int32_t": np.int32,
    "int16_t": np.int16, "int8_t": np.int8, "uint8_t": np.uint8, "_Bool": np.bool_,
    "_Float16": np.float16, "uint16_t (bfloat16)": np.uint16,
}
_NAME = re.compile(r"/\* (\w+): a program packaged by graphwright")
_INPUT = re.compile(r"^ \*   inputs\[\d+\]  (\w+): ([^\[]+)\[([^\]]*)\]( \(written\))?$", re.M)
_OUTPUT = re.compile(r"^ \*   outputs\[\d+\]: ([^\[]+)\[([^\]]*)\]$", re.M)
_EMBEDDED = re.compile(r"^ \* weights: NULL for those that the library has", re.M)
_NOT_FOR_CFFI = re.compile(r'^#.*$|^extern "C" \{$|^\}$', re.M)


class ModelError(RuntimeError):
    """What a packaged program has refused, in its words."""


class Argument(NamedTuple):
    """An input or output of a program.

    name: "" of an output. shape: a size each, in the header's words: "8", "s0", "2*s0 + 1".
    written: whether the program writes to it.
    """

    name: str
    dtype: np.dtype[Any]
    shape: tuple[str, ...]
    written: bool = False


def load(
    path: str | os.PathLike[str], *, weights: str | os.PathLike[str] | None = None,
    threads: int = 1, seed: int = 0,
) -> Model:
    """A model of a packaged program.

    Args:
        path: the library, NAME.so; NAME.h is read beside it.
        weights: a safetensors file; None: the weights in the library, or NAME.safetensors.
        threads: how many run the program.
        seed: of its random numbers.

    Raises:
        FileNotFoundError: the library, its header or the weights are not there.
        ModelError: the header is none of a package, or the file does not have the weights.
        OSError: the library cannot be loaded on this machine.

    Example:
        >>> with load("regress.so") as model:       # doctest: +SKIP
        ...     y = model(np.ones((3, 8), np.float32))
    """
    return Model(Path(path), None if weights is None else Path(weights), threads, seed)


class Model:
    """A packaged program with its weights; `load` makes it. A call runs it.

    Several threads may call it: they take turns. `close`, the end of a `with` block, or the
    garbage collector release it.

    Attributes:
        name: of the program.
        inputs, outputs: what it takes and returns.
        embedded: whether the library has the weights.
    """

    def __init__(self, path: Path, weights: Path | None, threads: int, seed: int) -> None:
        text = _existing(path.with_suffix(".h")).read_text()
        found = _NAME.search(text)
        if found is None:
            raise ModelError(f"{path.with_suffix('.h')} is no header of a package")
        self.name = found[1]
        self.inputs = tuple(
            Argument(name, np.dtype(_DTYPES[dtype]), _sizes(shape), bool(written))
            for name, dtype, shape, written in _INPUT.findall(text))
        self.outputs = tuple(Argument("", np.dtype(_DTYPES[dtype]), _sizes(shape))
                             for dtype, shape in _OUTPUT.findall(text))
        self.embedded = _EMBEDDED.search(text) is not None
        self._lock = threading.Lock()
        self._ffi = ffi = cffi.FFI()
        ffi.cdef(_NOT_FOR_CFFI.sub("", text))
        self._library = ffi.dlopen(str(_existing(path).resolve()))
        if weights is None and not self.embedded:
            weights = path.with_suffix(".safetensors")
        file = ffi.NULL if weights is None else os.fsencode(_existing(weights))
        place = ffi.new(f"{self.name} **")
        failed = self._function("create")(place, file, threads, seed)
        self._model = place[0]
        self._free = weakref.finalize(self, _release, self._function("free"), self._model,
                                      os.getpid())
        self._raise_if(failed)
        self._run_function = self._function("run")
        self._given, self._given_sizes = self._tensors(self.inputs)
        self._results, self._result_sizes = self._tensors(self.outputs)

    def __call__(self, *arrays: Any) -> Any:
        """Run the program.

        arrays: one for each input, of its dtype; they are copied where they are not in row-major
            order, but for those that the program writes.

        Returns: a new array, or a tuple of them where there is not one output.

        Raises:
            TypeError: another number of arrays, or another dtype.
            ValueError: an input that the program writes is read-only or not in row-major order.
            ModelError: sizes outside of the program's ranges, indices out of bounds, no memory.
        """
        if len(arrays) != len(self.inputs):
            raise TypeError(f"{self.name} takes {len(self.inputs)} arrays, not {len(arrays)}")
        given = [_checked(array, one) for array, one in zip(arrays, self.inputs, strict=True)]
        with self._lock:
            return self._run(given)

    def _run(self, given: list[np.ndarray[Any, Any]]) -> Any:
        self._raise_if_closed()
        for place, array in enumerate(given):
            tensor, sizes = self._given[place], self._given_sizes[place]
            tensor.data, tensor.rank = self._address(array), array.ndim
            for dim, size in enumerate(array.shape[: len(sizes)]):
                sizes[dim] = size
        for place in range(len(self.outputs)):
            self._results[place].data = self._ffi.NULL
        self._raise_if(self._run_function(self._model, self._given, self._results))
        made = tuple(self._array(place) for place in range(len(self.outputs)))
        return made[0] if len(made) == 1 else made

    def _tensors(self, arguments: tuple[Argument, ...]) -> tuple[Any, list[Any]]:
        """An array of gw_tensor with room for sizes, and the sizes."""
        tensors = self._ffi.new("gw_tensor[]", len(arguments) or 1)
        sizes = [self._ffi.new("int64_t[]", len(one.shape) or 1) for one in arguments]
        for place, one in enumerate(sizes):
            tensors[place].sizes = one
        return tensors, sizes

    def _address(self, array: np.ndarray[Any, Any]) -> Any:
        """Of the elements; any where there are none, as a program takes no null pointer."""
        address: int = array.__array_interface__["data"][0]
        return self._ffi.cast("void *", address or 64)

    def _array(self, place: int) -> np.ndarray[Any, Any]:
        """A copy of a result, which lies in the model's memory until the next run."""
        dtype = self.outputs[place].dtype
        sizes = self._result_sizes[place]
        array = np.empty([sizes[dim] for dim in range(self._results[place].rank)], dtype)
        self._ffi.memmove(self._address(array), self._results[place].data, array.nbytes)
        return array

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the weights, and what the program has learnt, to a safetensors file: whole, or
        ModelError."""
        self._with_path("save", path)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Take the weights of a safetensors file. ModelError, and nothing changed, where it does
        not have them."""
        self._with_path("load", path)

    def _with_path(self, part: str, path: str | os.PathLike[str]) -> None:
        with self._lock:
            self._raise_if_closed()
            self._raise_if(self._function(part)(self._model, os.fsencode(path)))

    def close(self) -> None:
        """Release the model; a second time does nothing."""
        with self._lock:
            self._free()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        inputs = ", ".join(f"{one.name}: {one.dtype}[{', '.join(one.shape)}]"
                           for one in self.inputs)
        outputs = ", ".join(f"{one.dtype}[{', '.join(one.shape)}]" for one in self.outputs)
        return f"<{self.name}({inputs}) -> {outputs}>"

    def _function(self, part: str) -> Any:
        return getattr(self._library, f"{self.name}_{part}")

    def _raise_if(self, failed: int) -> None:
        if failed:
            text = self._ffi.string(self._function("error")(self._model))
            raise ModelError(text.decode(errors="replace"))

    def _raise_if_closed(self) -> None:
        if not self._free.alive:
            raise ModelError(f"the model of {self.name} is closed")


def _release(free: Any, model: Any, process: int) -> None:
    """Release a model where it was made: a forked process has none of its threads."""
    if os.getpid() == process:
        free(model)


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there, or no file")
    return path


def _sizes(shape: str) -> tuple[str, ...]:
    return tuple(re.split(r", (?![^(]*\))", shape)) if shape else ()


def _checked(array: Any, wanted: Argument) -> np.ndarray[Any, Any]:
    """The array as the program takes it. Sizes are checked by the program itself."""
    found = np.asarray(array)
    if found.dtype != wanted.dtype and not (
            wanted.dtype == np.uint16 and found.dtype.name == "bfloat16"):
        raise TypeError(f"{wanted.name} is an array of {wanted.dtype}, not of {found.dtype}")
    flags = found.flags
    if wanted.written and not (found is array and flags.carray):
        raise ValueError(f"the program writes to {wanted.name}: it takes a writable array in "
                         "row-major order")
    plain = flags.c_contiguous and flags.aligned
    return found if plain else np.require(found, requirements=("C", "A"))
