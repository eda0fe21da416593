"""Running a mutation matrix: one compiled function, called again after each change.

A case is a generator function. It yields `(function, arguments)`, with the arguments given as a
tuple or, where the call mutates them, as a callable that makes them anew; when it is resumed it
changes something and yields again. The function is compiled at the first yield. After each, the
compiled function must return what the plain one returns, twice: once perhaps by capturing, and
once by a cache hit.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from graphwright.capture.frame.frontend import Frontend
from graphwright.runtime import _core
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

Step = tuple[Callable[..., Any], Any]
Case = Callable[[], Iterator[Step]]


def tensor(*shape: int, seed: int = 0, dtype: str = "float32", grad: bool = False) -> Tensor:
    """Random values of a fixed seed, from -2 to 2."""
    values = np.random.default_rng(seed).uniform(-2, 2, shape)
    result = _core.from_ndarray(Tensor, values.astype(dtype), dtypes.BY_NAME[dtype])
    result.requires_grad = grad
    return result


def bits(array: np.ndarray) -> bytes:
    """The elements in row-major order, all nans as one."""
    array = np.ascontiguousarray(array)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return array.tobytes()


def facts(value: Any) -> Any:
    """A value as something that `==` compares: tensors by type, layout and bits."""
    if isinstance(value, Tensor):
        return (
            type(value).__name__,
            str(value.dtype),
            tuple(value.shape),
            tuple(value.stride()),
            value.requires_grad,
            bits(value.detach().numpy()),
        )
    if isinstance(value, float):
        return float, np.float64(value).tobytes()
    if isinstance(value, dict):
        return dict, [(key, facts(item)) for key, item in value.items()]
    if isinstance(value, (tuple, list)):
        return type(value), [facts(item) for item in value]
    return type(value), value


def outcome(function: Callable[..., Any], make: Any) -> Any:
    """What a call returns or raises, and what it left in its arguments."""
    args = make() if callable(make) else make
    try:
        result = facts(function(*args))
    except Exception as error:
        return type(error), str(error), facts(args)
    return result, facts(args)


def run_case(case: Case, frontend: Frontend) -> list[Any]:
    """Run a case; return the distinct outcomes in order, for the test to see that they change."""
    compiled: Any = None
    outcomes = []
    with contextlib.closing(case()) as steps:
        for number, (function, args) in enumerate(steps):
            if compiled is None:
                compiled = frontend.compile(function)
            expected = outcome(function, args)
            for attempt in ("first", "second"):
                found = outcome(compiled, args)
                assert found == expected, f"stale in step {number}, {attempt} call"
            outcomes.append(expected)
    return outcomes


class Cases:
    """The cases of one test file, by decorator."""

    def __init__(self) -> None:
        self.all: list[Case] = []
        self._plain: set[Case] = set()

    def __call__(self, case: Case) -> Case:
        """Add a case of which something is captured."""
        self.all.append(case)
        return case

    def plain(self, case: Case) -> Case:
        """Add a case that may run as plain Python all the way."""
        self._plain.add(case)
        return self(case)

    def check(self, case: Case) -> None:
        """Run a case: nothing is stale, and the changes change something."""
        frontend = Frontend(lambda module, examples: module)
        outcomes, breaks = run_case(case, frontend), frontend.record.breaks
        assert len({repr(outcome) for outcome in outcomes}) > 1, "the changes change nothing"
        assert frontend.record.graphs or case in self._plain, [str(b) for b in breaks]
