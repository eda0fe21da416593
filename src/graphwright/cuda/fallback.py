"""Ops without a kernel for GPUs, which run on the CPU: how many, and whether they may."""

from __future__ import annotations

from graphwright.runtime.cuda import fallbacks as record


def fallbacks() -> dict[str, int]:
    """How often each op of tensors on a GPU ran on the CPU, for want of a kernel.

    Such a call waits for the GPU, copies the arguments to main memory, and the result back.

    Returns: a dict of calls by the op's name, since the start or `reset_fallbacks`; empty where
        all ops had kernels.

    Example:
        >>> gw.cuda.fallbacks()
        {}
    """
    return record.counts()


def reset_fallbacks() -> None:
    """Have `fallbacks` count from zero; ops that warned before warn anew."""
    record.clear()


def get_fallback_mode() -> str:
    """What becomes of an op without a kernel for GPUs: "warn", "silent" or "error"."""
    return record.mode()


def set_fallback_mode(mode: str) -> None:
    """Say what becomes of an op without a kernel for GPUs, in all threads.

    Args:
        mode: "warn": it runs on the CPU, and the first call of each op gives a UserWarning.
            "silent": it runs on the CPU. "error": it raises NotImplementedError; the mode at the
            start where the environment has GRAPHWRIGHT_CUDA_STRICT=1, "warn" otherwise.

    Raises ValueError for another mode.
    """
    record.set_mode(mode)
