"""Processes that share tensors, after `torch.multiprocessing`.

All of Python's `multiprocessing` is here. What goes through `Queue`, `SimpleQueue`, `Pipe`, `Pool`
and the arguments of a `Process` is moved into shared memory where it is a tensor: both processes
share it then, and what one writes the other reads. Shared memory has no name; it is
freed when the last process that has it closes it, however that ends. A tensor that is in shared
memory (`Tensor.share_memory_()`) stays shared through Python's own queues too.
"""

from __future__ import annotations

import multiprocessing as _plain
from multiprocessing import *  # noqa: F403

from graphwright.multiprocessing import reductions
from graphwright.multiprocessing.context import DefaultContext
from graphwright.multiprocessing.spawn import (
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    spawn,
    start_processes,
)

_STRATEGIES = ("file_descriptor", "file_system")


class _Strategy:
    name = "file_descriptor"


_STRATEGY = _Strategy()


def get_all_sharing_strategies() -> set[str]:
    """The names that `set_sharing_strategy` takes."""
    return set(_STRATEGIES)


def get_sharing_strategy() -> str:
    """The name given last; "file_descriptor" at first."""
    return _STRATEGY.name


def set_sharing_strategy(new_strategy: str) -> None:
    """Accept the name of a strategy: memory travels as descriptors of files without names in any.

    Such files cannot be left behind, need no server and are not limited by /dev/shm. Raises
    AssertionError for another name.
    """
    if new_strategy not in _STRATEGIES:
        raise AssertionError(
            f"invalid sharing strategy {new_strategy!r}, expected one of {sorted(_STRATEGIES)}"
        )
    _STRATEGY.name = new_strategy


_DEFAULT = DefaultContext()
for _name in (
    *("JoinableQueue", "Manager", "Pipe", "Pool", "Process", "Queue", "SimpleQueue"),
    "get_context",
):
    globals()[_name] = getattr(_DEFAULT, _name)

__all__ = [
    *_plain.__all__,
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "reductions",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]
