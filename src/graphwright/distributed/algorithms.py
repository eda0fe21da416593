"""How processes agree on gradients: names alone."""

from graphwright.distributed.absent import absent

__path__: list[str] = []     # its own modules are this one

__getattr__ = absent("distributed.algorithms", "is about several processes", """
    CheckpointImpl CheckpointWrapper Join JoinHook Joinable ModelAverager PeriodicModelAverager
    apply_activation_checkpointing checkpoint_wrapper debugging_hooks default_hooks
    optimizer_overlap_hooks post_localSGD_hook powerSGD_hook quantization_hooks
""")
