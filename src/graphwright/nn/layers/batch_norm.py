"""Normalisation of channels, over the batch or in every sample, with running statistics."""

from __future__ import annotations

import warnings
from typing import Any

from graphwright.nn import functional as F
from graphwright.nn.layers.norm import _Affine
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.dtypes import int64
from graphwright.runtime.tensor.tensor import Tensor


class _Tracking(_Affine):
    """Weight and bias [C], running mean and variance [C] and how many batches they saw."""

    _version = 2

    def __init__(
        self,
        num_features: int,
        eps: float,
        momentum: float | None,
        affine: bool,
        track_running_stats: bool,
        device: Any,
        dtype: Any,
        bias: bool,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        shape = (num_features,)
        self._make_affine(shape, affine, affine and bias, device, dtype)
        track = track_running_stats
        self.register_buffer(
            "running_mean", ops.zeros(shape, device=device, dtype=dtype) if track else None
        )
        self.register_buffer(
            "running_var", ops.ones(shape, device=device, dtype=dtype) if track else None
        )
        self.register_buffer(
            "num_batches_tracked", ops.zeros((), dtype=int64, device=device) if track else None
        )

    def reset_running_stats(self) -> None:
        """Forget what was tracked."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forget what was tracked; weights of one, biases of zero."""
        self.reset_running_stats()
        super().reset_parameters()

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any
    ) -> None:
        """Version 1 did not count batches: without a count the present one stays."""
        key = f"{prefix}num_batches_tracked"
        old = local_metadata.get("version", 1) < self._version
        if old and self.num_batches_tracked is not None and key not in state_dict:
            state_dict[key] = self.num_batches_tracked
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_Tracking):
    """Normalise each channel over the batch (Ioffe & Szegedy, 2015).

    In training, batch statistics are used and, with `track_running_stats`, running ones updated
    (the running variance is unbiased); in evaluation the running ones are used. `momentum` None
    means a cumulative average.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        factor: Any = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / self.num_batches_tracked.double()
        use_batch = self.training or (self.running_mean is None and self.running_var is None)
        track = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if track else None,
            self.running_var if track else None,
            self.weight,
            self.bias,
            use_batch,
            factor,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of [N, C] or [N, C, L]."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.ndim}D input)")


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of [N, C, H, W]."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim != 4:
            raise ValueError(f"expected 4D input (got {input.ndim}D input)")


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of [N, C, D, H, W]."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim != 5:
            raise ValueError(f"expected 5D input (got {input.ndim}D input)")


class _InstanceNorm(_Tracking):
    """Normalise each channel of each sample (Ulyanov et al., 2016).

    Without parameters and running statistics unless asked for. An input without a batch
    dimension is one sample.
    """

    _spatial: int

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        )

    def _check_input_dim(self, input: Tensor) -> None:
        low = self._spatial + 1
        if input.ndim not in (low, low + 1):
            raise ValueError(f"expected {low}D or {low + 1}D input (got {input.ndim}D input)")

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        channels = input.shape[-1 - self._spatial]
        if channels != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={input.ndim - 1 - self._spatial} to match "
                    f"num_features ({self.num_features}), but got: {channels}."
                )
            warnings.warn(
                f"input's size at dim={input.ndim - 1 - self._spatial} does not match "
                "num_features. You can silence this warning by not passing in num_features, "
                "which is not used because affine=False",
                stacklevel=2,
            )
        if input.ndim == self._spatial + 1:
            return self._normalised(input.unsqueeze(0)).squeeze(0)
        return self._normalised(input)

    def _normalised(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of [N, C, L] or [C, L]."""

    _spatial = 1


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of [N, C, H, W] or [C, H, W]."""

    _spatial = 2


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of [N, C, D, H, W] or [C, D, H, W]."""

    _spatial = 3
