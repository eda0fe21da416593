"""Marks for a GPU's profiler, after `torch.cuda.nvtx`: RuntimeError, as there is none."""

from graphwright.compat.absent_devices import AbsentObject, refusal

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

mark = range_push = range_pop = range_start = range_end = refusal("cuda", RuntimeError)


class range(AbsentObject):
    """A `with` block between two marks."""
