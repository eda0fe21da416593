"""Batch normalisation whose statistics are those of all processes of a group."""

from __future__ import annotations

from typing import Any

from graphwright.nn.layers.batch_norm import _BatchNorm
from graphwright.nn.module import Module
from graphwright.runtime.tensor.tensor import Tensor


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation of [N, C, *]; there is one process here, so as `BatchNorm1d` and so on.

    `process_group` is kept and changes nothing.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {input.ndim}D input)")
        if input.shape[1] == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """`module` with this class in place of all batch normalisations in it.

        Their parameters, statistics and modes are taken over; other modules stay the same.
        """
        result = module
        if isinstance(module, _BatchNorm):
            result = cls._of(module, process_group)
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result

    @classmethod
    def _of(cls, module: _BatchNorm, process_group: Any) -> SyncBatchNorm:
        made = cls(
            module.num_features, module.eps, module.momentum, module.affine,
            module.track_running_stats, process_group, bias=module.bias is not None,
        )  # fmt: skip
        made._parameters.update(module._parameters)
        made._buffers.update(module._buffers)
        made.training = module.training
        return made
