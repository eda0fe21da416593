"""Eager ops: small ones over NumPy's own time, large ones against PyTorch eager.

A small op's figure is its time less NumPy's for the same arithmetic, in microseconds. A large
op's figure is its time over PyTorch's; without PyTorch there is only the time in milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import graphwright as gw
from benchmarks import peers
from benchmarks.result import Result, Wrong
from graphwright.report.measure import in_turns

Function = Callable[..., Any]
SMALL = 100
LARGE = 4 << 20

WITHOUT_GRADIENT, WITH_GRADIENT = 3.0, 5.0
OF_TORCH = 1.5


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).random(shape, dtype=np.float32) + np.float32(0.1)


# name, the op in a library of PyTorch's names, the same in NumPy
SMALL_OPS: list[tuple[str, Function, Function]] = [
    ("x + y", lambda lib, x, y: x + y, lambda x, y: x + y),
    ("x * 2", lambda lib, x, y: x * 2.0, lambda x, y: x * np.float32(2.0)),
    ("relu(x)", lambda lib, x, y: lib.relu(x), lambda x, y: np.maximum(x, 0)),
    ("exp(x)", lambda lib, x, y: lib.exp(x), lambda x, y: np.exp(x)),
    ("x.sum()", lambda lib, x, y: x.sum(), lambda x, y: x.sum()),
]


def functional(name: str) -> Function:
    """An op under nn.functional, with the arguments of the case after the library."""
    return lambda lib, *args: getattr(lib.nn.functional, name)(*args)


def named(name: str, *rest: Any) -> Function:
    """An op of that name; `rest` are its last arguments."""
    return lambda lib, *args: getattr(lib, name)(*args, *rest)


Shape = tuple[int, ...]
FLAT: Shape = (LARGE,)
TABLE: Shape = (2048, 2048)
ROW: Shape = (2048,)
HEADS: Shape = (4, 8, 256, 64)

LARGE_OPS: list[tuple[str, Function, list[Shape]]] = [
    *((name, named(name), [FLAT]) for name in ("exp", "log", "tanh", "sigmoid", "erf", "relu")),
    ("gelu", functional("gelu"), [FLAT]),
    *((name, named(name), [FLAT, FLAT]) for name in ("add", "mul", "div", "pow")),
    ("x ** 2", lambda lib, x: x**2, [FLAT]),
    ("where(x > 0.5, x, y)", lambda lib, x, y: lib.where(x > 0.5, x, y), [FLAT, FLAT]),
    ("clamp", named("clamp", 0.2, 0.7), [FLAT]),
    ("to float16 and back", lambda lib, x: x.to(lib.float16).to(lib.float32), [FLAT]),
    ("clone", named("clone"), [FLAT]),
    ("2048x2048 + row", named("add"), [TABLE, ROW]),
    ("x.T + y.T", lambda lib, x, y: x.T + y.T, [TABLE, TABLE]),
    ("x[:, ::2] * 2", lambda lib, x: x[:, ::2] * 2.0, [TABLE]),
    *((name, named(name), [FLAT]) for name in ("sum", "mean", "amax", "argmax", "var")),
    *((f"{name}, dim {dim}", named(name, dim), [TABLE])
      for name in ("sum", "mean", "amax", "softmax") for dim in (0, 1)),
    ("layer norm", lambda lib, x, w: lib.nn.functional.layer_norm(x, ROW, w, w), [TABLE, ROW]),
    ("batch norm", lambda lib, x, w: lib.nn.functional.batch_norm(x, None, None, w, w, True),
     [TABLE, ROW]),
    ("attention 4x8x256x64", functional("scaled_dot_product_attention"), [HEADS] * 3),
    ("max pooling 2x2, 8x32x64x64", lambda lib, x: lib.nn.functional.max_pool2d(x, 2),
     [(8, 32, 64, 64)]),
]


def chain(lib: Any, x: Any, y: Any) -> Any:
    """Twelve ops, of which the backward is timed."""
    z = lib.relu(x * y + x) * 2.0
    z = lib.tanh(lib.exp(z * -0.1) - y)
    return lib.sqrt(z * z + 1.0).sum()


def chain_reference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """d chain / dx, written out."""
    product = x * y + x
    a = np.exp(np.maximum(product, 0) * -0.2)
    z = np.tanh(a - y)
    return z / np.sqrt(z * z + 1) * (1 - z * z) * a * -0.2 * (product > 0) * (y + 1)


def leaf(lib: Any, array: np.ndarray) -> Any:
    return lib.from_numpy(array.copy()).requires_grad_()


def check(name: str, result: Any, reference: np.ndarray) -> None:
    """Raise Wrong unless a tensor agrees with the reference."""
    if not np.allclose(result.detach().numpy(), reference, rtol=1e-4, atol=1e-4):
        raise Wrong(f"eager {name}")


def small_op(name: str, op: Function, reference: Function, gradient: bool) -> Result:
    """One op on few elements, over NumPy's time."""
    a, b = random(SMALL), random(SMALL)[::-1].copy()
    x, y = leaf(gw, a) if gradient else gw.from_numpy(a), gw.from_numpy(b)
    check(name, op(gw, x, y), reference(a, b))
    timings = in_turns({"graphwright": lambda: op(gw, x, y), "NumPy": lambda: reference(a, b)},
                       seconds=0.3)
    torch = peers.torch()
    if torch is not None:
        t = leaf(torch, a) if gradient else torch.from_numpy(a)
        u = torch.from_numpy(b)
        timings |= peers.in_turns({"torch eager": lambda: op(torch, t, u)})
    base = timings.pop("NumPy").median * 1e6
    over = {label: timing.median * 1e6 - base for label, timing in timings.items()}
    what = "recorded for gradients" if gradient else "no gradient"
    return Result("eager", f"{name}, {SMALL} elements, {what}, over NumPy's time", "us",
                  WITH_GRADIENT if gradient else WITHOUT_GRADIENT, over.pop("graphwright"), over,
                  f"NumPy took {base:.2f} us", timings["graphwright"].spread)


def against_torch(name: str, timings: dict[str, Any], target: float) -> Result:
    """The ratio to PyTorch where it was timed, else milliseconds without a target."""
    own = timings["graphwright"].median
    if "torch eager" not in timings:
        return Result("eager", name, "ms", None, own * 1e3,
                      spread=timings["graphwright"].spread)
    peer = timings["torch eager"].median
    return Result("eager", name, "x torch eager", target, own / peer, {"torch eager": 1.0},
                  f"graphwright took {own * 1e3:.3f} ms", timings["graphwright"].spread)


def large_op(name: str, op: Function, shapes: list[Shape]) -> Result:
    """One op on millions of elements; its correctness is that of its float64 self."""
    arrays = [random(*shape) for shape in shapes]
    tensors = [gw.from_numpy(array) for array in arrays]
    wide = [gw.from_numpy(array.astype(np.float64)) for array in arrays]
    result, exact = op(gw, *tensors), op(gw, *wide)
    tolerance = 2e-3 if "float16" in name else 2e-4
    if not np.allclose(result.numpy(), exact.numpy(), rtol=tolerance, atol=tolerance):
        raise Wrong(f"eager {name}")
    timings = in_turns({"graphwright": lambda: op(gw, *tensors)}, seconds=0.3)
    torch = peers.torch()
    if torch is not None:
        others = [torch.from_numpy(array) for array in arrays]
        timings |= peers.in_turns({"torch eager": lambda: op(torch, *others)})
    return against_torch(f"{name}, {arrays[0].size / 1e6:.1f} M float32", timings, OF_TORCH)


def backward_of(lib: Any, array: np.ndarray, other: np.ndarray) -> tuple[Any, Callable[[], None]]:
    """The leaf of the chain, and its backward, which can be called again and again."""
    x = leaf(lib, array)
    loss = chain(lib, x, lib.from_numpy(other))

    def backward() -> None:
        x.grad = None
        loss.backward(retain_graph=True)

    return x, backward


def backward() -> Result:
    """The backward of twelve small ops."""
    a, b = random(SMALL), random(SMALL)[::-1].copy()
    x, run = backward_of(gw, a, b)
    run()
    check("backward", x.grad, chain_reference(a.astype(np.float64), b.astype(np.float64)))
    timings = in_turns({"graphwright": run}, seconds=0.5)
    torch = peers.torch()
    if torch is not None:
        timings |= peers.in_turns({"torch eager": backward_of(torch, a, b)[1]})
    return against_torch(f"backward of 12 ops, {SMALL} elements", timings, 1.0)


def run() -> list[Result]:
    """All eager figures; the training step is in the group of that name."""
    results: list[Result] = []
    cases: list[Callable[[], Result]] = [
        *(lambda c=c, g=g: small_op(*c, gradient=g)  # type: ignore[misc]
          for g in (False, True) for c in SMALL_OPS),
        backward,
        *(lambda c=c: large_op(*c) for c in LARGE_OPS),
    ]
    for case in cases:
        try:
            results.append(case())
        except Wrong as wrong:
            results.append(Result("eager", str(wrong), "", None, None, note=str(wrong)))
    return results
