"""Tensors over several processes: how they would lie, and names alone of what lays them so."""

from __future__ import annotations

from dataclasses import dataclass

from graphwright.distributed.absent import absent

__path__: list[str] = []     # its own modules are this one


class Placement:
    """How a tensor lies along one dimension of a grid of processes."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each process has a part, cut along `dim` if given."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Whether each process has the whole."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether the whole is the reduction over all processes, by `reduce_op` if given."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """Each process has a part along `dim`."""

    dim: int


@dataclass(frozen=True)
class _StridedShard(Shard):
    """Parts that were cut `split_factor` times before."""

    split_factor: int = 1


@dataclass(frozen=True)
class Replicate(Placement):
    """Each process has the whole."""


@dataclass(frozen=True)
class Partial(Placement):
    """Each process has a summand, or what else `reduce_op` reduces."""

    reduce_op: str = "sum"


__getattr__ = absent("distributed.tensor", "lays tensors over processes", """
    DTensor DeviceMesh compute_local_shape_and_global_offset context_parallel distribute_module
    distribute_tensor empty full implicit_replication ones rand randn set_rotate_method zeros
""")
