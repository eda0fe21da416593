"""`torch._higher_order_ops`: functions of functions of tensors."""

from graphwright._higher_order_ops.associative_scan import associative_scan
from graphwright._higher_order_ops.cond import cond
from graphwright._higher_order_ops.while_loop import while_loop

__all__ = ["associative_scan", "cond", "while_loop"]
