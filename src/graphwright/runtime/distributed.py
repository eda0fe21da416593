"""Whether several processes train together: they do not, and scripts that ask are told so."""

from __future__ import annotations


def is_available() -> bool:
    """Whether there is a package for communication between processes: False."""
    return False


def is_initialized() -> bool:
    """Whether this process belongs to a group: False."""
    return False


is_torchelastic_launched = is_nccl_available = is_gloo_available = is_mpi_available = is_available
