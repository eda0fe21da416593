"""Ops of the user's own, after `torch.library`: one node of a graph, whatever they do inside.

    @gw.library.custom_op("mylib::sine", mutates_args=())
    def sine(x: gw.Tensor) -> gw.Tensor:
        return gw.from_numpy(np.sin(x.numpy()))

    sine.register_fake(lambda x: gw.empty_like(x))
    sine.register_autograd(lambda ctx, grad: grad * ctx.cosine, setup_context=...)

or, where the declaration is a string,

    gw.library.define("mylib::sine", "(Tensor x) -> Tensor")
    gw.library.impl("mylib::sine", "cpu", lambda x: gw.from_numpy(np.sin(x.numpy())))

Compiled code calls the function as it is; the fake implementation gives the output's shape.
It is also `gw.ops.mylib.sine`.
"""

from __future__ import annotations

from graphwright.library.aten import AtenOp
from graphwright.library.custom import CustomOp
from graphwright.library.declaration import infer_schema
from graphwright.library.keys import fallthrough_kernel
from graphwright.library.namespaces import OpOverloads, ops
from graphwright.library.registry import (
    Library,
    custom_op,
    define,
    impl,
    impl_abstract,
    register_autograd,
    register_fake,
    register_kernel,
)

CustomOpDef = CustomOp

__all__ = [
    "AtenOp", "CustomOp", "CustomOpDef", "Library", "OpOverloads", "custom_op", "define",
    "fallthrough_kernel", "impl", "impl_abstract", "infer_schema", "ops", "register_autograd",
    "register_fake", "register_kernel",
]  # fmt: skip
