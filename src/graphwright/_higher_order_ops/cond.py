"""`cond`."""

from graphwright.runtime.control import cond

__all__ = ["cond"]
