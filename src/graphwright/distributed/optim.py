"""Optimisers of several processes: names alone."""

from graphwright.distributed.absent import absent

__getattr__ = absent("distributed.optim", "is an optimiser of several processes", """
    DistributedOptimizer PostLocalSGDOptimizer ZeroRedundancyOptimizer
""")
