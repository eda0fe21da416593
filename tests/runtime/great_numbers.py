"""Calls of ops with one integer replaced by one that is far too great, or negative.

    python -m tests.runtime.great_numbers eager|meta|compiled SEED COUNT

runs a sample of COUNT of them by that seed (0: all), in a process of little memory, and prints
each call before it is made and what came of it, if that is neither a result nor a plain error.
"""

from __future__ import annotations

import random
import resource
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import graphwright as gw
from graphwright.face.native_backends import CompilerError
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.ops.table import TABLE

from .layouts import build, numpy_type
from .samples import ALL, Arr

MEMORY = 4 << 30
PLAIN = (RuntimeError, IndexError, ValueError, TypeError, MemoryError)
NUMBERS = (2**31, 2**32, 2**60 + 1, 2**61 + 1, 2**62, 2**62 + 1, (2**64 + 2) // 3, 2**63 - 1,
           -(2**63), -(2**62), -3, 2**64)
"""Times a few sizes some of them are small again in 64 bits, or 0."""
OF_STEPS = frozenset(n for n in ALL if n == "round" or "polynomial" in n)
"""Their integers are orders and digits, neither sizes nor places."""


class Call(NamedTuple):
    """Sample `sample` of an op, whose argument `key` has the number at `place`: of a sequence, or
    first in a tensor, which may be the one at `place` of a sequence."""

    name: str
    sample: int
    key: int | str
    place: int | None
    number: int


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_index(value: object) -> bool:
    integers = isinstance(value, Arr) and value.kind in ("int", "index", "pivots")
    return integers and 0 not in value.shape


def calls() -> Iterator[Call]:
    """All of them, each argument of an op once."""
    for name, entry in ALL.items():
        seen: set[Any] = set()
        internal = name in TABLE and "internal" in TABLE[name].tags
        for sample, given in enumerate(() if internal or name in OF_STEPS else entry.samples):
            for key, value in [*enumerate(given.args), *given.kwargs.items()]:
                items = enumerate(value) if isinstance(value, tuple) else [(None, value)]
                for place, item in items:
                    kind = (key, place, type(item), type(value))
                    if (_is_int(item) or _is_index(item)) and kind not in seen:
                        seen.add(kind)
                        yield from (Call(name, sample, key, place, n) for n in NUMBERS)


def _replaced(value: Any, number: int) -> Any:
    if not isinstance(value, gw.Tensor):
        return number
    array = value.numpy().copy()
    limits = np.iinfo(array.dtype)
    array.reshape(-1)[0] = max(min(number, limits.max), limits.min)
    return gw.from_numpy(array)


def _arguments(call: Call) -> tuple[list[Any], dict[str, Any]]:
    def leaf(arr: Arr, values: Any) -> Any:
        return gw.from_numpy(values if arr.kind == "complex"
                             else np.array(values).astype(numpy_type(arr, gw.float32)))

    args, kwargs = build(ALL[call.name].samples[call.sample], call.name, leaf)
    given: Any = dict(enumerate(args)) | kwargs
    value = given[call.key]
    if call.place is None:
        given[call.key] = _replaced(value, call.number)
    else:
        items = list(value)
        items[call.place] = _replaced(items[call.place], call.number)
        given[call.key] = tuple(items)
    return [given[i] for i in range(len(args))], {name: given[name] for name in kwargs}


def _on_meta(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_on_meta, value))
    return value.to("meta") if isinstance(value, gw.Tensor) else value


def make(call: Call, mode: str) -> None:
    """Make the call."""
    args, kwargs = _arguments(call)
    function: Callable[..., Any] = getattr(ops, call.name, None) or getattr(
        gw.nn.functional, call.name)
    if mode == "compiled":
        function = gw.compile(lambda *args, **kwargs: getattr(ops, call.name)(*args, **kwargs))
    elif mode == "meta":
        args, kwargs = list(map(_on_meta, args)), {k: _on_meta(v) for k, v in kwargs.items()}
        if "factory" in TABLE[call.name].tags:
            kwargs["device"] = "meta"
    function(*args, **kwargs)


def main(mode: str, seed: str, count: str) -> None:
    """See the module's docstring."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    chosen = list(calls())
    if int(count):
        chosen = random.Random(int(seed)).sample(chosen, int(count))
    for call in chosen:
        print(call, flush=True)
        try:
            make(call, mode)
        except Exception as error:
            if not isinstance(error, PLAIN) or isinstance(error, CompilerError):
                print(f"raised {type(error).__name__}: {error}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
