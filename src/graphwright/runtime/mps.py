"""Apple's GPUs: none, as eager tensors live on the CPU, and the answers say so."""

from graphwright.runtime.cuda import (
    device_count,
    empty_cache,
    is_available,
    manual_seed,
    seed,
    synchronize,
)

__all__ = ["device_count", "empty_cache", "is_available", "manual_seed", "seed", "synchronize"]
