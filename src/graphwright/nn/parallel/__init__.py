"""Modules over several devices or processes, of which there is one."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from graphwright.nn.parallel.data_parallel import DataParallel, data_parallel
from graphwright.runtime.naming import missing as _missing

if TYPE_CHECKING:
    from graphwright.nn.parallel.distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]


def __getattr__(name: str) -> Any:
    if name != "DistributedDataParallel":
        raise _missing(__name__, name)
    distributed = _import_module("graphwright.nn.parallel.distributed")
    return distributed.DistributedDataParallel
