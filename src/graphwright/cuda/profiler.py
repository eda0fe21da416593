"""The profiler of a GPU, after `torch.cuda.profiler`.

It is not there yet: AssertionError without a GPU, NotImplementedError with one.
"""

from graphwright.cuda.presence import lacking

__all__ = ["profile", "start", "stop"]

start, stop, profile = (lacking(f"profiler.{name}") for name in ("start", "stop", "profile"))
