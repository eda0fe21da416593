"""What the registrations of hooks return, under PyTorch's name for it."""

from graphwright.runtime.tape.node import RemovableHandle

__all__ = ["RemovableHandle"]
