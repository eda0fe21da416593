"""What PyTorch's documentation of overrides takes from `torch._C`."""

from graphwright.runtime.overrides import DisableTorchFunctionSubclass
from graphwright.runtime.overriding import disabled_torch_function_impl

_disabled_torch_function_impl = disabled_torch_function_impl

__all__ = ["DisableTorchFunctionSubclass", "_disabled_torch_function_impl"]
