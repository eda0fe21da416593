"""The layers of published convolutional networks, eagerly, against PyTorch eager.

`python -m benchmarks.conv_layers [--threads N] [TEXT..]` times the layers whose name holds one of
the texts: forward, and the gradients of input and weight. The results are compared first. A figure
is the least time of calls that take turns, so that other work on the machine disturbs it little.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import graphwright as gw
from benchmarks import peers

Call = Callable[[], object]
SAMPLE_SECONDS = 1e-3
ROUNDS = 12


class Layer(NamedTuple):
    """A convolution of [images, channels, height, width]."""

    images: int
    ins: int
    size: int
    outs: int
    kernel: int
    stride: int = 1
    padding: int = 0
    groups: int = 1
    dilation: int = 1

    def __str__(self) -> str:
        kind = "depthwise " if self.groups == self.ins > 1 else ""
        kind = f"{self.groups} groups " if not kind and self.groups > 1 else kind
        stride = f" stride {self.stride}" if self.stride > 1 else ""
        dilation = f" dilation {self.dilation}" if self.dilation > 1 else ""
        return (
            f"{kind}{self.kernel}x{self.kernel}{stride}{dilation} {self.ins}->{self.outs} on "
            f"{self.images}x{self.size}x{self.size}"
        )


LAYERS: dict[str, list[Layer]] = {
    "resnet": [
        Layer(1, 3, 224, 64, 7, 2, 3), Layer(1, 64, 56, 64, 3, 1, 1),
        Layer(1, 64, 56, 128, 3, 2, 1), Layer(1, 64, 56, 128, 1, 2),
        Layer(1, 128, 28, 128, 3, 1, 1),
        Layer(1, 256, 14, 256, 3, 1, 1), Layer(1, 512, 7, 512, 3, 1, 1), Layer(1, 64, 56, 256, 1),
        Layer(1, 1024, 14, 256, 1), Layer(1, 512, 7, 2048, 1), Layer(8, 64, 16, 64, 3, 1, 1),
        Layer(8, 256, 4, 256, 3, 1, 1), Layer(8, 512, 2, 512, 3, 1, 1),
        Layer(8, 128, 8, 256, 1, 2),
    ],
    "mobilenet": [
        Layer(1, 3, 224, 32, 3, 2, 1), Layer(1, 32, 112, 32, 3, 1, 1, 32),
        Layer(1, 96, 112, 96, 3, 2, 1, 96), Layer(1, 144, 56, 144, 3, 1, 1, 144),
        Layer(1, 576, 14, 576, 3, 1, 1, 576), Layer(1, 960, 7, 960, 3, 1, 1, 960),
        Layer(1, 32, 112, 16, 1), Layer(1, 24, 56, 144, 1), Layer(1, 576, 14, 96, 1),
        Layer(1, 160, 7, 960, 1), Layer(1, 320, 7, 1280, 1), Layer(2, 72, 16, 72, 3, 2, 1, 72),
        Layer(2, 240, 4, 240, 5, 1, 2, 240), Layer(2, 40, 4, 240, 1), Layer(2, 240, 4, 40, 1),
        Layer(1, 240, 14, 240, 5, 2, 2, 240), Layer(32, 64, 8, 64, 3, 1, 1, 64),
    ],
    "efficientnet": [
        Layer(1, 144, 56, 144, 5, 2, 2, 144), Layer(1, 672, 14, 672, 5, 1, 2, 672),
        Layer(1, 1152, 7, 1152, 5, 1, 2, 1152), Layer(1, 192, 7, 1152, 1),
    ],
    "convnext": [
        Layer(1, 3, 224, 96, 4, 4), Layer(1, 96, 56, 96, 7, 1, 3, 96),
        Layer(1, 384, 14, 384, 7, 1, 3, 384), Layer(1, 768, 7, 768, 7, 1, 3, 768),
        Layer(1, 96, 56, 192, 2, 2), Layer(2, 3, 32, 32, 4, 4), Layer(2, 32, 16, 32, 7, 1, 3, 32),
        Layer(1, 3, 224, 192, 16, 16),
    ],
    "vgg": [
        Layer(1, 3, 224, 64, 3, 1, 1), Layer(1, 64, 112, 128, 3, 1, 1),
        Layer(1, 512, 14, 512, 3, 1, 1),
    ],
    "unet": [
        Layer(1, 1, 64, 32, 3, 1, 1), Layer(1, 32, 64, 32, 3, 1, 1),
        Layer(1, 128, 16, 256, 3, 1, 1), Layer(1, 32, 64, 2, 1),
    ],
    "cifar": [
        Layer(32, 3, 32, 32, 3, 1, 1), Layer(32, 32, 16, 64, 3, 1, 1),
        Layer(32, 64, 8, 64, 3, 1, 1),
    ],
    "others": [
        Layer(1, 128, 28, 128, 3, 1, 1, 32), Layer(1, 64, 28, 64, 3, 1, 2, 1, 2),
        Layer(1, 96, 28, 96, 3, 1, 2, 96, 2), Layer(1, 256, 14, 256, 3, 1, 1, 8),
    ],
}  # fmt: skip


def tensors(lib: Any, layer: Layer) -> tuple[Any, Any, Any]:
    """Input, weight and the output's gradient, the same in both libraries."""
    random = np.random.default_rng(0)
    taps = layer.ins // layer.groups * layer.kernel**2
    reach = layer.dilation * (layer.kernel - 1) + 1
    out = (layer.size + 2 * layer.padding - reach) // layer.stride + 1
    shapes = ((layer.images, layer.ins, layer.size, layer.size),
              (layer.outs, layer.ins // layer.groups, layer.kernel, layer.kernel),
              (layer.images, layer.outs, out, out))  # fmt: skip
    x, w, g = (lib.from_numpy(random.standard_normal(s, dtype=np.float32)) for s in shapes)
    return x, w / math.sqrt(taps), g


def calls(lib: Any, layer: Layer) -> dict[str, Call]:
    """What is timed."""
    x, w, g = tensors(lib, layer)
    options = {"stride": layer.stride, "padding": layer.padding, "dilation": layer.dilation,
               "groups": layer.groups}  # fmt: skip
    conv, grad = lib.nn.functional.conv2d, lib.autograd.grad
    x_leaf, w_leaf = (t.detach().clone().requires_grad_() for t in (x, w))
    of_x, of_w = conv(x_leaf, w, **options), conv(x, w_leaf, **options)
    return {
        "forward": lambda: conv(x, w, **options),
        "input": lambda: grad(of_x, x_leaf, g, retain_graph=True)[0],
        "weight": lambda: grad(of_w, w_leaf, g, retain_graph=True)[0],
    }


def in_turns(pair: list[Call]) -> list[float]:
    """The least time of each of two calls in seconds."""
    best, repeats = [math.inf, math.inf], []
    for call in pair:
        call()
        start = time.process_time()
        call()
        repeats.append(1 + int(SAMPLE_SECONDS / (time.process_time() - start)))
    for _ in range(ROUNDS):
        for i, call in enumerate(pair):
            start = time.process_time()
            for _ in range(repeats[i]):
                call()
            best[i] = min(best[i], (time.process_time() - start) / repeats[i])
    return best


def differs(own: Any, peer: Any) -> bool:
    a, b = (np.asarray(t.detach().numpy()) for t in (own, peer))
    return a.shape != b.shape or not np.allclose(a, b, rtol=1e-3, atol=1e-3)


def figures(layer: Layer) -> Iterator[tuple[str, float, float, bool]]:
    """What, own and PyTorch's seconds, and whether the results differ."""
    own, peer = calls(gw, layer), calls(peers.torch(), layer)
    for what, call in own.items():
        wrong = differs(call(), peer[what]())
        seconds = in_turns([call, peer[what]])
        yield what, seconds[0], seconds[1], wrong


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.conv_layers")
    parser.add_argument("texts", nargs="*", default=[])
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    gw.set_num_threads(arguments.threads)
    if peers.torch() is None:
        raise SystemExit("PyTorch is not installed: there is nothing to compare with")
    ratios: dict[str, list[float]] = {}
    print("own us, PyTorch us, ratio: forward | gradient of input | of weight")
    for model, layers in LAYERS.items():
        for layer in layers:
            name = f"{model}: {layer}"
            if arguments.texts and not any(text in name for text in arguments.texts):
                continue
            parts = []
            for what, own, peer, wrong in figures(layer):
                ratios.setdefault(what, []).append(own / peer)
                parts.append(
                    f"{own * 1e6:8.0f} {peer * 1e6:8.0f} {own / peer:5.2f}"
                    + (" WRONG" if wrong else "")
                )
            print(" | ".join(parts), name, flush=True)
    for what, found in ratios.items():
        middle = math.exp(sum(map(math.log, found)) / len(found))
        print(
            f"{what}: mean ratio {middle:.2f}, worst {max(found):.2f}, "
            f"{sum(r > 1 for r in found)} of {len(found)} slower"
        )


if __name__ == "__main__":
    main()
