"""Kernels on a GPU against a copy of the same bytes, and products, attention and a GPT block
against PyTorch on the same GPU.

Each case is timed by events of its stream, in turns with the others, after memory larger than the
second-level cache was written; its result is checked first. Without a GPU there is nothing to
measure: the row says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from statistics import median, quantiles
from types import ModuleType
from typing import Any, NamedTuple

import graphwright as gw
from benchmarks import peers
from benchmarks.result import Result, Wrong
from graphwright import nn

GROUP = "gpu"
F = nn.functional


class Sizes(NamedTuple):
    """How large the cases are; `SMALL` is for tests, where a GPU is simulated."""

    elements: int = 64 << 20
    columns: int = 4096
    products: tuple[int, ...] = (4096, 8192)
    tokens: int = 4096
    width: int = 2048
    heads: int = 16
    cache: int = 256 << 20
    rounds: int = 15


SMALL = Sizes(1 << 12, 128, (64,), 64, 64, 4, 1 << 12, 2)
COPY_LIMIT, PRODUCT_LIMIT, ATTENTION_LIMIT = 1 / 0.9, 1 / 0.85, 1 / 0.8


class Timed(NamedTuple):
    """Milliseconds: the median, and the distance between the quartiles over it."""

    median: float
    spread: float


def in_turns(
    cases: Mapping[str, Callable[[], object]], device: ModuleType, flush: Callable[[], object],
    rounds: int,
) -> dict[str, Timed]:
    """Time cases by the events of a library's stream; `device` is its module for GPUs."""
    samples: dict[str, list[float]] = {name: [] for name in cases}
    for case in cases.values():
        case()
    for _ in range(rounds):
        for name, case in cases.items():
            start, end = (device.Event(enable_timing=True) for _ in range(2))
            flush()
            start.record()
            case()
            end.record()
            device.synchronize()
            samples[name].append(start.elapsed_time(end))
    return {name: _timed(values) for name, values in samples.items()}


def _timed(values: list[float]) -> Timed:
    first, _, third = quantiles(values, n=4)
    middle = median(values)
    return Timed(middle, (third - first) / middle if middle else 0.0)


def check(name: str, got: Any, want: Any, tolerance: float) -> None:
    """Compare with the CPU's result, which is relative to its greatest number.

    Raises Wrong where it differs more.
    """
    error = (got.cpu().double() - want.double()).abs().max().item()
    limit = tolerance * max(want.double().abs().max().item(), 1e-30)
    if not error <= limit:
        raise Wrong(f"{name}: largest error {error:.2e}, allowed {limit:.2e}")


# -- kernels that memory bounds -------------------------------------------------------------------

def _softmax(x: Any) -> Any:
    return F.softmax(x, dim=-1)


def _layer_norm(x: Any) -> Any:
    return F.layer_norm(x, (x.shape[-1],))


def _rms_norm(x: Any) -> Any:
    return F.rms_norm(x, (x.shape[-1],))


def _gelu_chain(x: Any) -> Any:
    return F.gelu(x * 0.5 + 1.0) * x


def _cross_entropy(x: Any) -> Any:
    return F.cross_entropy(x, gw.zeros(x.shape[0], dtype=gw.int64, device=x.device))


ROW_KERNELS = {"pointwise chain with gelu": _gelu_chain, "softmax": _softmax,
               "layer norm": _layer_norm, "RMS norm": _rms_norm, "cross entropy": _cross_entropy}


def bandwidth(sizes: Sizes) -> Iterator[Result]:
    """Row and pointwise kernels, in float32 and bfloat16."""
    flush = _flusher(sizes)
    rows = sizes.elements // sizes.columns
    for dtype, tolerance in ((gw.float32, 1e-4), (gw.bfloat16, 3e-2)):
        x = gw.randn(rows, sizes.columns).to(dtype)
        there = x.cuda()
        for name, function in ROW_KERNELS.items():
            title = f"{name}, {rows}x{sizes.columns} {dtype.name}"
            compiled = gw.compile(function)
            out = compiled(there)
            check(title, out[:8] if out.ndim else out, function(x[:8]) if out.ndim else
                  function(x), tolerance)
            moved = x.numel() + out.numel()
            source = gw.empty(moved // 2, dtype=dtype, device="cuda")
            target = gw.empty_like(source)
            timings = in_turns({"copy": partial(target.copy_, source),
                                "graphwright": partial(compiled, there)},
                               gw.cuda, flush, sizes.rounds)
            copy = timings["copy"].median
            rate = moved * x.element_size() / max(copy, 1e-9) / 1e6
            yield Result(GROUP, title, "x copy", COPY_LIMIT,
                         timings["graphwright"].median / max(copy, 1e-9),
                         note=f"a copy reached {rate:.0f} GB/s",
                         spread=timings["graphwright"].spread)


def _flusher(sizes: Sizes) -> Callable[[], object]:
    memory = gw.empty(sizes.cache, dtype=gw.uint8, device="cuda")
    return memory.zero_


# -- products and attention, beside PyTorch -------------------------------------------------------

def _torch() -> ModuleType | None:
    """PyTorch, where it is installed and sees the GPU."""
    found = peers.torch()
    return found if found is not None and found.cuda.is_available() else None


def _beside_torch(
    title: str, target: float, call: Callable[[ModuleType], Callable[..., Any]],
    arguments: list[Any], sizes: Sizes, tolerance: float, compiled: bool = False,
) -> Result:
    """Time a function of either library on the same numbers; it is the same call of both."""
    there = [x.cuda() for x in arguments]
    run = gw.compile(call(gw))
    wide = [x.float() for x in arguments]
    check(title, run(*there), call(gw)(*wide), tolerance)
    ours = in_turns({"graphwright": lambda: run(*there)}, gw.cuda, _flusher(sizes), sizes.rounds)
    mine = ours["graphwright"]
    torch = _torch()
    if torch is None:
        return Result(GROUP, title, "ms", None, mine.median, note="PyTorch is not there",
                      spread=mine.spread)
    given = [torch.from_dlpack(x) for x in there]
    other = call(torch)
    cases = {"torch eager": lambda: other(*given)}
    if compiled:
        fast = torch.compile(other)
        cases["torch.compile"] = lambda: fast(*given)
    memory = torch.empty(sizes.cache, dtype=torch.uint8, device="cuda")
    theirs = in_turns(cases, torch.cuda, memory.zero_, sizes.rounds)
    best = min(timing.median for timing in theirs.values())
    return Result(GROUP, title, "x torch", target, mine.median / best,
                  {name: timing.median / best for name, timing in theirs.items()},
                  f"the best of PyTorch took {best:.3f} ms", mine.spread)


def products(sizes: Sizes) -> Iterator[Result]:
    """Square matrix products."""
    for n in sizes.products:
        for dtype, tolerance in ((gw.bfloat16, 2e-2), (gw.float16, 4e-3), (gw.float32, 1e-4)):
            a, b = (gw.randn(n, n).to(dtype) for _ in range(2))
            yield _beside_torch(f"matrix product {n}, {dtype.name}", PRODUCT_LIMIT,
                                lambda library: library.matmul, [a, b], sizes, tolerance)


def _attention(library: ModuleType, causal: bool) -> Callable[..., Any]:
    def run(q: Any, k: Any, v: Any) -> Any:
        return library.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return run


def attention(sizes: Sizes) -> Iterator[Result]:
    """Scaled dot product attention of 128 columns a head."""
    for causal in (False, True):
        given = [gw.randn(1, sizes.heads, sizes.tokens, 128).bfloat16() for _ in range(3)]
        title = f"attention of {sizes.tokens} tokens{', causal' if causal else ''}, bfloat16"
        yield _beside_torch(title, ATTENTION_LIMIT, partial(_attention, causal=causal), given,
                            sizes, 3e-2)


def block(sizes: Sizes) -> Iterator[Result]:
    """A block of a GPT: norms, attention and the two layers behind it."""
    width, heads = sizes.width, sizes.heads
    x = gw.randn(1, sizes.tokens, width).bfloat16()
    weights = [(gw.randn(*shape) / width ** 0.5).bfloat16()
               for shape in ((width, 3 * width), (width, width), (width, 4 * width),
                             (4 * width, width))]

    def call(library: ModuleType) -> Callable[..., Any]:
        functional = library.nn.functional

        def run(x: Any, qkv: Any, out: Any, up: Any, down: Any) -> Any:
            a = functional.layer_norm(x, (width,)) @ qkv
            q, k, v = (part.view(1, -1, heads, width // heads).transpose(1, 2)
                       for part in a.chunk(3, -1))
            a = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + a.transpose(1, 2).reshape(x.shape) @ out
            return x + functional.gelu(functional.layer_norm(x, (width,)) @ up) @ down
        return run

    yield _beside_torch(f"GPT block of width {width}, {sizes.tokens} tokens, bfloat16", 1.0, call,
                        [x, *weights], sizes, 5e-2, compiled=True)


def run(sizes: Sizes | None = None) -> list[Result]:
    """All rows; those that are wrong say so."""
    sizes = sizes or Sizes()
    if not gw.cuda.is_available():
        return [Result(GROUP, "kernels on a GPU", "", None, None, note="there is no GPU")]
    results: list[Result] = []
    for part in (bandwidth, products, attention, block):
        try:
            results += part(sizes)
        except Wrong as wrong:
            results.append(Result(GROUP, part.__name__, "", None, None, note=str(wrong)))
    return results
