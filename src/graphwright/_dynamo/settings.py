"""`torch._dynamo.config`."""

from __future__ import annotations

import sys
from typing import Any

from graphwright.compat.switches import Switches
from graphwright.face.api import OPTIONS, checked_options

_LIMITS = ("cache_size_limit", "recompile_limit")


class Config(Switches):
    """The limit of versions of a function, under both of its names, and switches that are kept
    and change no result: numbers and sizes become symbolic as `compile(dynamic=)` says.
    """

    def __getattr__(self, name: str) -> Any:
        return OPTIONS["recompile_limit"] if name in _LIMITS else super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _LIMITS:
            OPTIONS["recompile_limit"] = checked_options({"recompile_limit": value})[
                "recompile_limit"]
        else:
            super().__setattr__(name, value)

    def _names(self) -> list[str]:
        return sorted((*super()._names(), *_LIMITS))


config = Config(
    __name__="graphwright._dynamo.config",
    accumulated_cache_size_limit=256, accumulated_recompile_limit=256,
    allow_unspec_int_on_nn_module=True, assume_static_by_default=True,
    automatic_dynamic_shapes=True, capture_dynamic_output_shape_ops=True,
    capture_func_transforms=True, capture_scalar_outputs=True, guard_nn_modules=True,
    inline_inbuilt_nn_modules=True, optimize_ddp=True, skip_fsdp_hooks=True,
    specialize_float=False, specialize_int=False, suppress_errors=False, verbose=False,
)  # fmt: skip
sys.modules["graphwright._dynamo.config"] = config  # type: ignore[assignment]
