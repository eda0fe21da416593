"""graphwright: a compiler from ordinary Python tensor code to native kernels."""

from graphwright.runtime import _core
from graphwright.runtime.autograd import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from graphwright.runtime.device import device
from graphwright.runtime.dtypes import (
    bfloat16,
    bool,
    dtype,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
)
from graphwright.runtime.interop import (
    as_tensor,
    from_numpy,
    initial_seed,
    is_tensor,
    manual_seed,
    numel,
    tensor,
)
from graphwright.runtime.ops import families
from graphwright.runtime.ops._face import *
from graphwright.runtime.promotion import can_cast, promote_types
from graphwright.runtime.tensor import Tensor
