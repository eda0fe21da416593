"""`while_loop`."""

from graphwright.runtime.control import while_loop

__all__ = ["while_loop"]
