"""Where the windows of convolutions and pooling lie."""

from __future__ import annotations

from collections.abc import Sequence

from graphwright import Tensor
from graphwright.nn import functional as F


def _pads_of(
    sizes: Sequence[int], kernel: Sequence[int], strides: Sequence[int],
    dilations: Sequence[int], pads: Sequence[int] | None, auto_pad: str,
) -> tuple[list[int], list[int]]:  # fmt: skip
    """How much to pad each dim before and behind, from the pads given or as `auto_pad` says."""
    rank = len(sizes)
    if auto_pad == "VALID":
        return [0] * rank, [0] * rank
    if auto_pad in ("NOTSET", ""):
        pads = pads or [0] * (2 * rank)
        return list(pads[:rank]), list(pads[rank:])
    before, behind = [], []
    for n, k, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True):
        total = max((-(-n // stride) - 1) * stride + (k - 1) * dilation + 1 - n, 0)
        less, more = total // 2, total - total // 2
        before.append(less if auto_pad == "SAME_UPPER" else more)
        behind.append(more if auto_pad == "SAME_UPPER" else less)
    return before, behind


def padded(x: Tensor, before: Sequence[int], behind: Sequence[int], value: float = 0) -> Tensor:
    """x with elements before and behind its last dims; negative numbers crop."""
    flat: list[int] = []
    for first, last in zip(reversed(before), reversed(behind), strict=True):
        flat += [first, last]
    return F.pad(x, flat, "constant", value) if any(flat) else x


class Windows:
    """The windows of an operator.

    Attributes:
        kernel, strides, dilations: of each dim.
        before, behind: how much to pad; `behind` without what `ceil_mode` adds.
        extra: how much more to pad behind, so that a last window that is not full counts.
        symmetric: the padding, where it is the same before and behind and crops nothing.
    """

    def __init__(
        self, sizes: Sequence[int], *, kernel_shape: list[int], strides: list[int] | None = None,
        dilations: list[int] | None = None, pads: list[int] | None = None,
        auto_pad: str = "NOTSET", ceil_mode: int = 0,
    ) -> None:  # fmt: skip
        rank = len(sizes)
        self.kernel = kernel_shape
        self.strides = strides or [1] * rank
        self.dilations = dilations or [1] * rank
        self.before, self.behind = _pads_of(
            sizes, kernel_shape, self.strides, self.dilations, pads, auto_pad
        )
        alike = self.before == self.behind and all(n >= 0 for n in self.before)
        self.symmetric = self.before if alike else None
        self.extra = [0] * rank
        if ceil_mode and auto_pad in ("NOTSET", ""):
            self.extra = [self._extra(i, n) for i, n in enumerate(sizes)]

    def _extra(self, dim: int, n: int) -> int:
        stride = self.strides[dim]
        span = (self.kernel[dim] - 1) * self.dilations[dim] + 1
        whole = n + self.before[dim] + self.behind[dim]
        count = -(-(whole - span) // stride) + 1
        if (count - 1) * stride >= n + self.before[dim]:
            count -= 1  # a window that lies in the padding alone
        return int(max(0, (count - 1) * stride + span - whole))

    @property
    def plain(self) -> bool:
        """Whether symmetric padding by at most half a window does."""
        return self.symmetric is not None and not any(self.extra) and all(
            2 * pad <= k for pad, k in zip(self.symmetric, self.kernel, strict=True)
        )

    def of(self, x: Tensor, value: float) -> Tensor:
        """The windows of (N, C, sizes...), padded: (N, C, windows..., kernel...)."""
        ends = [b + e for b, e in zip(self.behind, self.extra, strict=True)]
        return self.cut(padded(x, self.before, ends, value))

    def cut(self, x: Tensor) -> Tensor:
        """The windows of a tensor that is padded already."""
        for dim, (k, stride, d) in enumerate(
            zip(self.kernel, self.strides, self.dilations, strict=True)
        ):
            x = x.unfold(dim + 2, (k - 1) * d + 1, stride)[..., ::d]
        return x
