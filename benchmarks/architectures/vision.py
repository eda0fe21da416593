"""Networks of convolutions for images and point clouds."""

from __future__ import annotations

from itertools import pairwise
from typing import Any


def convolved(lib: Any, fan_in: int, fan_out: int, kernel: int, stride: int = 1, groups: int = 1,
              activation: str | None = "ReLU") -> list[Any]:
    """A convolution that keeps the size but for its stride, batch norm, and an activation."""
    nn = lib.nn
    layers = [nn.Conv2d(fan_in, fan_out, kernel, stride, kernel // 2, groups=groups, bias=False),
              nn.BatchNorm2d(fan_out)]
    return layers + ([] if activation is None else [getattr(nn, activation)()])


def resnet18(lib: Any, *, width: int = 64, classes: int = 1000) -> Any:
    """He et al. 2016: images [N, 3, H, W] to [N, classes]."""
    nn = lib.nn

    class Residual(nn.Module):
        def __init__(self, fan_in: int, fan_out: int, stride: int) -> None:
            super().__init__()
            self.body = nn.Sequential(*convolved(lib, fan_in, fan_out, 3, stride),
                                      *convolved(lib, fan_out, fan_out, 3, activation=None))
            self.around = nn.Identity()
            if stride != 1 or fan_in != fan_out:
                self.around = nn.Sequential(
                    *convolved(lib, fan_in, fan_out, 1, stride, activation=None))

        def forward(self, x: Any) -> Any:
            return (self.body(x) + self.around(x)).relu()

    widths = [width, *(width << stage for stage in range(4) for _ in range(2))]
    stages = [Residual(fan_in, fan_out, 1 if fan_in == fan_out else 2)
              for fan_in, fan_out in pairwise(widths)]
    return nn.Sequential(
        *convolved(lib, 3, width, 7, 2), nn.MaxPool2d(3, 2, 1), *stages,
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * width, classes))


INVERTED = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
            (6, 160, 3, 2), (6, 320, 1, 1))
"""MobileNetV2: expansion, channels, blocks and the first one's stride of each stage."""
SCALED = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
          (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3))
"""EfficientNet-B0: the same, and the kernel's size."""


def inverted_residual(
    lib: Any, fan_in: int, fan_out: int, expansion: int, stride: int, kernel: int,
    activation: str, squeezed: int,
) -> Any:
    """Sandler et al. 2018: wide, depthwise, narrow. squeezed: the channels of squeeze and
    excitation (Hu et al. 2018) within it; 0 for none."""
    nn = lib.nn
    wide = fan_in * expansion

    class Excited(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gate = nn.Sequential(
                nn.AdaptiveAvgPool2d(1), nn.Conv2d(wide, squeezed, 1), nn.SiLU(),
                nn.Conv2d(squeezed, wide, 1), nn.Sigmoid())

        def forward(self, x: Any) -> Any:
            return x * self.gate(x)

    class InvertedResidual(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            first = convolved(lib, fan_in, wide, 1, activation=activation) * (expansion > 1)
            self.body = nn.Sequential(
                *first, *convolved(lib, wide, wide, kernel, stride, wide, activation),
                *([Excited()] if squeezed else []),
                *convolved(lib, wide, fan_out, 1, activation=None))

        def forward(self, x: Any) -> Any:
            y = self.body(x)
            return x + y if stride == 1 and fan_in == fan_out else y

    return InvertedResidual()


def mobilenet_v2(lib: Any, *, stages: tuple[tuple[int, ...], ...] = INVERTED, last: int = 1280,
                 classes: int = 1000) -> Any:
    """Sandler et al. 2018: images [N, 3, H, W] to [N, classes]."""
    return _inverted(lib, [(*stage, 3) for stage in stages], "ReLU6", False, last, classes)


def efficientnet(lib: Any, *, stages: tuple[tuple[int, ...], ...] = SCALED, last: int = 1280,
                 classes: int = 1000) -> Any:
    """Tan & Le 2019: images [N, 3, H, W] to [N, classes]."""
    return _inverted(lib, stages, "SiLU", True, last, classes)


def _inverted(lib: Any, stages: Any, activation: str, excited: bool, last: int, classes: int
              ) -> Any:
    nn = lib.nn
    layers, fan_in = convolved(lib, 3, 32, 3, 2, activation=activation), 32
    for expansion, fan_out, count, stride, kernel in stages:
        for number in range(count):
            layers.append(inverted_residual(
                lib, fan_in, fan_out, expansion, stride if number == 0 else 1, kernel, activation,
                fan_in // 4 if excited else 0))
            fan_in = fan_out
    return nn.Sequential(*layers, *convolved(lib, fan_in, last, 1, activation=activation),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(last, classes))


def unet(lib: Any, *, width: int = 32, depth: int = 3) -> Any:
    """Ronneberger et al. 2015, with padding and batch norm: images [N, 3, H, W] to masks
    [N, 1, H, W]."""
    nn = lib.nn

    def twice(fan_in: int, fan_out: int) -> Any:
        return nn.Sequential(*convolved(lib, fan_in, fan_out, 3),
                             *convolved(lib, fan_out, fan_out, 3))

    class UNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            widths = [width << level for level in range(depth + 1)]
            self.down = nn.ModuleList(
                twice(fan_in, fan_out)
                for fan_in, fan_out in pairwise([3, *widths]))
            self.up = nn.ModuleList(
                nn.ConvTranspose2d(2 * w, w, 2, 2) for w in reversed(widths[:-1]))
            self.merge = nn.ModuleList(twice(2 * w, w) for w in reversed(widths[:-1]))
            self.out = nn.Conv2d(width, 1, 1)

        def forward(self, x: Any) -> Any:
            skips = []
            for level, block in enumerate(self.down):
                x = block(x if level == 0 else nn.functional.max_pool2d(x, 2))
                skips.append(x)
            skips.pop()
            for up, merge in zip(self.up, self.merge, strict=True):
                x = merge(lib.cat((skips.pop(), up(x)), 1))
            return self.out(x).sigmoid()

    return UNet()


def convnext_block(lib: Any, *, width: int = 96) -> Any:
    """Liu et al. 2022: [N, width, H, W] to the same."""
    nn = lib.nn

    class ConvNextBlock(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.dwconv = nn.Conv2d(width, width, 7, padding=3, groups=width)
            self.norm = nn.LayerNorm(width, eps=1e-6)
            self.pwconv1, self.pwconv2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.gamma = nn.Parameter(lib.ones(width))

        def forward(self, x: Any) -> Any:
            y = self.norm(self.dwconv(x).permute(0, 2, 3, 1))
            y = self.gamma * self.pwconv2(nn.functional.gelu(self.pwconv1(y)))
            return x + y.permute(0, 3, 1, 2)

    return ConvNextBlock()


def diffusion_block(lib: Any, *, width: int = 128, groups: int = 32, steps: int = 512,
                    heads: int = 4) -> Any:
    """Ho et al. 2020, Rombach et al. 2022: a residual block with the embedding of a time step,
    and self-attention over all pixels: ([N, width, H, W], [N, steps]) to [N, width, H, W]."""
    nn, functional = lib.nn, lib.nn.functional

    class DiffusionBlock(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.GroupNorm(groups, width), nn.GroupNorm(groups, width)
            self.conv1 = nn.Conv2d(width, width, 3, padding=1)
            self.conv2 = nn.Conv2d(width, width, 3, padding=1)
            self.time = nn.Linear(steps, width)
            self.norm, self.qkv = nn.GroupNorm(groups, width), nn.Conv2d(width, 3 * width, 1)
            self.proj = nn.Conv2d(width, width, 1)

        def forward(self, x: Any, time: Any) -> Any:
            y = self.conv1(functional.silu(self.norm1(x)))
            y = y + self.time(functional.silu(time))[:, :, None, None]
            x = x + self.conv2(functional.silu(self.norm2(y)))
            batch, _, high, wide = x.shape
            parts = self.qkv(self.norm(x)).view(batch, 3, heads, width // heads, high * wide)
            q, k, v = parts.transpose(3, 4).unbind(1)
            mixed = functional.scaled_dot_product_attention(q, k, v)
            return x + self.proj(mixed.transpose(2, 3).reshape(batch, width, high, wide))

    return DiffusionBlock()


def point_cloud(lib: Any, *, widths: tuple[int, ...] = (64, 64, 64, 128, 1024),
                classes: int = 40) -> Any:
    """Qi et al. 2017 (PointNet without its transforms): points [N, 3, P] to [N, classes]."""
    nn = lib.nn

    class PointNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.points = nn.Sequential(*(
                layer for fan_in, fan_out in pairwise((3, *widths))
                for layer in (nn.Conv1d(fan_in, fan_out, 1), nn.BatchNorm1d(fan_out), nn.ReLU())))
            last = widths[-1]
            self.head = nn.Sequential(
                nn.Linear(last, last // 2), nn.BatchNorm1d(last // 2), nn.ReLU(),
                nn.Linear(last // 2, last // 4), nn.BatchNorm1d(last // 4), nn.ReLU(),
                nn.Linear(last // 4, classes))

        def forward(self, x: Any) -> Any:
            return self.head(self.points(x).amax(2))

    return PointNet()
