"""`torch._inductor`: switches of PyTorch's compiler, without effect on this one."""

from __future__ import annotations

import sys
from typing import Any

from graphwright.compat.switches import Switches
from graphwright.face.api import MODES

__all__ = ["config", "list_mode_options", "list_options"]

config = Switches(
    __name__="graphwright._inductor.config",
    benchmark_kernel=False, conv_1x1_as_mm=False, coordinate_descent_check_all_directions=False,
    coordinate_descent_tuning=False, cpp_wrapper=False, debug=False,
    epilogue_fusion=True, fallback_random=True,
    force_fuse_int_mm_with_mul=False, force_same_precision=False, freezing=False,
    fx_graph_cache=True, fx_graph_remote_cache=False, max_autotune=False,
    max_autotune_gemm=False, max_autotune_pointwise=False, max_fusion_size=64,
    pattern_matcher=True,
    reorder_for_locality=True, shape_padding=True, size_asserts=True, split_reductions=True,
    use_mixed_mm=True,
    cpp=Switches(__name__="graphwright._inductor.config.cpp", enable_kernel_profile=False,
                 simdlen=None, threads=-1, weight_prepack=True),
    triton=Switches(__name__="graphwright._inductor.config.triton", cudagraph_trees=True,
                    cudagraphs=False, multi_kernel=0, unique_kernel_names=True),
)  # fmt: skip
sys.modules["graphwright._inductor.config"] = config  # type: ignore[assignment]


def list_mode_options(mode: str | None = None, dynamic: bool | None = None) -> dict[str, Any]:
    """What each mode of `compile` sets, or what one does: nothing, all compile the same code."""
    return {} if mode is not None else {name: {} for name in MODES}


def list_options() -> list[str]:
    """The switches of `config`."""
    return config._names()
