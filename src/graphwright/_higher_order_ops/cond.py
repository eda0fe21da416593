"""`cond`."""

from graphwright._higher_order_ops.cond_and_while import cond

__all__ = ["cond"]
