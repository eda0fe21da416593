"""Marks for a GPU's profiler, after `torch.cuda.nvtx`.

There are none yet: RuntimeError without a GPU, NotImplementedError with one.
"""

from graphwright.cuda.presence import LackingObject, lacking

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

mark, range_push, range_pop, range_start, range_end = (
    lacking(f"nvtx.{name}", RuntimeError)
    for name in ("mark", "range_push", "range_pop", "range_start", "range_end")
)


class range(LackingObject):
    """A `with` block between two marks."""
