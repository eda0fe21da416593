"""`while_loop`."""

from graphwright._higher_order_ops.cond_and_while import while_loop

__all__ = ["while_loop"]
