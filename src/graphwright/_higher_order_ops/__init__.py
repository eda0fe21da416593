"""`torch._higher_order_ops`: functions of functions of tensors."""

from graphwright._higher_order_ops.associative_scan import associative_scan

__all__ = ["associative_scan"]
