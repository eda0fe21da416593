"""Which worker of a `DataLoader` a process is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker this is: number `id` of `num_workers`, its seed and its dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any


class _Current:
    info: WorkerInfo | None = None


CURRENT = _Current()


def get_worker_info() -> WorkerInfo | None:
    """The worker that this process is; None outside of a `DataLoader`'s workers."""
    return CURRENT.info
