"""The profiler of a GPU, after `torch.cuda.profiler`: AssertionError, as there is none."""

from graphwright.compat.absent_devices import refusal

__all__ = ["profile", "start", "stop"]

start = stop = profile = refusal("cuda")
