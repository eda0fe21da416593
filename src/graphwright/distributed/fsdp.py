"""Sharding a model over processes: names alone."""

from graphwright.distributed.absent import absent

__path__: list[str] = []     # its own modules are this one

__getattr__ = absent("distributed.fsdp", "shards a model over processes", """
    BackwardPrefetch CPUOffload CPUOffloadPolicy FSDPModule FullOptimStateDictConfig
    FullStateDictConfig FullyShardedDataParallel LocalOptimStateDictConfig LocalStateDictConfig
    MixedPrecision MixedPrecisionPolicy ModuleWrapPolicy OffloadPolicy OptimStateDictConfig
    OptimStateKeyType ShardedGradScaler ShardedOptimStateDictConfig ShardedStateDictConfig
    ShardingStrategy StateDictConfig StateDictSettings StateDictType UnshardHandle
    always_wrap_policy enable_wrap fully_shard register_fsdp_forward_method
    size_based_auto_wrap_policy transformer_auto_wrap_policy wrap
""")
