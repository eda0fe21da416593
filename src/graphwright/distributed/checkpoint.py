"""Checkpoints that several processes write: names alone."""

from graphwright.distributed.absent import absent

__path__: list[str] = []     # its own modules are this one

__getattr__ = absent("distributed.checkpoint", "writes what several processes have", """
    DefaultLoadPlanner DefaultSavePlanner FileSystemReader FileSystemWriter
    HuggingFaceStorageReader HuggingFaceStorageWriter StateDictOptions
    _EmptyStateDictLoadPlanner _load_state_dict async_save consolidate_safetensors_files
    dcp_to_torch_save get_model_state_dict get_optimizer_state_dict get_state_dict load
    load_sharded_optimizer_state_dict load_state_dict save save_state_dict set_model_state_dict
    set_optimizer_state_dict set_state_dict torch_save_to_dcp
""")
