"""Random programs of views, in-place writes and gradients, the same for two tensor libraries."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

Step = tuple[Any, ...]

SHAPES = ((4, 3), (6,), (2, 3, 2), (3, 3))


class Machine:
    """Runs the steps of a program with `lib` (graphwright or torch); keeps what it saw."""

    def __init__(self, lib: Any) -> None:
        self.lib = lib
        self.tensors: list[Any] = []
        self.leaves: list[Any] = []

    def make(self, shape: tuple[int, ...], requires_grad: bool, seed: int) -> None:
        values = np.random.default_rng(seed).uniform(0.5, 1.5, shape)
        tensor = self.lib.tensor(values.tolist(), dtype=self.lib.float64)
        if requires_grad:
            tensor.requires_grad_()
        self.leaves.append(tensor)
        self.tensors.append(tensor)

    def run(self, step: Step) -> str:
        """What the step gave: an error's type or a description of the tensor."""
        name, number, *rest = step
        target = self.tensors[number]
        try:
            if name == "no_grad":
                with self.lib.no_grad():
                    result = self.apply(rest[0], target, rest[1:])
            else:
                result = self.apply(name, target, rest)
        except (RuntimeError, IndexError) as error:
            return "IndexError" if isinstance(error, IndexError) else "RuntimeError"
        return self.keep(result)

    def keep(self, result: Any) -> str:
        found = list(result) if isinstance(result, list | tuple) else [result]
        for tensor in found:
            if not any(tensor is known for known in self.tensors):
                self.tensors.append(tensor)
        return " ".join(map(describe, found))

    def apply(self, name: str, target: Any, rest: Any) -> Any:
        if name == "piece":
            return target[(*[slice(None)] * rest[0], slice(*rest[1:]))]
        if name in ("mul_", "add_", "copy_", "sub_", "lt_", "ge_"):
            return getattr(target, name)(self.tensors[rest[0]])
        if name in ("mul", "add"):
            return getattr(target, name)(self.tensors[rest[0]])
        if name == "setitem":
            target[rest[0]] = self.tensors[rest[1]] if rest[2] else 0.5
            return target
        if name == "mask":
            target[target > rest[0]] = 0.25
            return target
        if name == "exp_then":
            return target.exp()
        return getattr(target, name)(*rest)

    def gradients(self, weights: list[float]) -> str | list[Any]:
        """The leaves' gradients of a weighted sum of all tensors; or the error's type."""
        total = None
        try:
            for tensor, weight in zip(self.tensors, weights, strict=False):
                if tensor.requires_grad:
                    part = (tensor * tensor).sum() * weight
                    total = part if total is None else total + part
            if total is not None and total.requires_grad:
                total.backward()
        except RuntimeError:
            return "RuntimeError"
        return [None if t.grad is None else np.asarray(t.grad.numpy()) for t in self.leaves]


def describe(tensor: Any) -> str:
    """Shape, strides, and how the tensor stands on the tape."""
    try:
        node = tensor.grad_fn is not None
    except RuntimeError:
        return f"{tuple(tensor.shape)} {_real_strides(tensor)} stale"
    state = f"requires_grad={tensor.requires_grad} leaf={tensor.is_leaf} node={node}"
    return f"{tuple(tensor.shape)} {_real_strides(tensor)} {state}"


def _real_strides(tensor: Any) -> list[int]:
    return [s for s, n in zip(tensor.stride(), tensor.shape, strict=True) if n != 1]


def undefined(step: Step, tensors: list[Any]) -> bool:
    """Whether an element is both read and written, where neither library refuses that."""
    rest = step[3:] if step[0] == "no_grad" else step[2:]
    name = step[2] if step[0] == "no_grad" else step[0]
    if name != "setitem" or not rest[2]:
        return False
    target, source = tensors[step[1]], tensors[rest[1]]
    return bool(target.untyped_storage().data_ptr() == source.untyped_storage().data_ptr())


VIEWS: tuple[Callable[[random.Random, tuple[int, ...]], Step], ...] = (
    lambda rng, shape: ("select", d := rng.randrange(len(shape)), rng.randrange(shape[d])),
    lambda rng, shape: ("narrow", d := rng.randrange(len(shape)), 0, max(shape[d] - 1, 1)),
    lambda rng, shape: (
        "piece", d := rng.randrange(len(shape)), rng.randrange(-shape[d] - 1, shape[d] + 2),
        rng.choice([None, *range(-shape[d], shape[d] + 2)]), rng.choice([1, 1, 2])),
    lambda rng, shape: ("transpose", 0, len(shape) - 1),
    lambda rng, shape: ("unsqueeze", rng.randrange(len(shape) + 1)),
    lambda rng, shape: ("reshape", (-1,)),
    lambda rng, shape: ("diagonal",) if len(shape) > 1 else ("view", -1),
    lambda rng, shape: ("unbind", rng.randrange(len(shape))),
    lambda rng, shape: ("split", 2, rng.randrange(len(shape))),
    lambda rng, shape: ("chunk", 2),
    lambda rng, shape: ("detach",),
    lambda rng, shape: ("unfold", 0, min(2, shape[0]), 1),
    lambda rng, shape: ("expand", (2, *shape)),
)
WRITES = ("mul_", "add_", "copy_", "sub_", "mul", "add", "setitem", "setitem", "mask", "fill_",
          "zero_", "exp_", "neg_", "exp_then", "sigmoid_", "lt_", "ge_")


def next_step(rng: random.Random, shapes: list[tuple[int, ...]]) -> Step:
    """A step for tensors of these shapes."""
    number = rng.randrange(len(shapes))
    shape = shapes[number]
    if shape and 0 not in shape and rng.random() < 0.5:
        name, *rest = rng.choice(VIEWS)(rng, shape)
        step = (name, number, *rest)
    else:
        step = _write(rng, number, shapes)
    if rng.random() < 0.12 and step[0] != "expand":
        return ("no_grad", number, step[0], *step[2:])
    return step


def _write(rng: random.Random, number: int, shapes: list[tuple[int, ...]]) -> Step:
    name = rng.choice(WRITES)
    shape = shapes[number]
    same = [i for i, s in enumerate(shapes) if s == shape and i != number] or [number]
    if name in ("mul_", "add_", "copy_", "sub_", "mul", "add", "lt_", "ge_"):
        return (name, number, rng.choice(same))
    if name == "setitem" and shape and shape[0]:
        place = rng.randrange(shape[0])
        fitting = [i for i, s in enumerate(shapes) if s == shape[1:]]
        if fitting and rng.random() < 0.6:
            return (name, number, place, rng.choice(fitting), True)
        return (name, number, place, 0, False)
    if name == "mask":
        return (name, number, 1.0)
    if name == "fill_":
        return (name, number, 0.75)
    return ("exp_then", number) if name == "setitem" else (name, number)


# PyTorch sends zeros on to what was overwritten, and finds what that had saved modified; here
# no gradient goes there at all.
OVERWRITING = {"fill_", "zero_", "copy_", "setitem", "mask", "lt_", "ge_"}


def compare(seed: int, ours: Any, theirs: Any, steps: int = 12) -> str:
    """Run one program in both libraries; the first difference, or an empty string."""
    rng = random.Random(seed)
    machines = Machine(ours), Machine(theirs)
    for n in range(3):
        shape, tracked = rng.choice(SHAPES), rng.random() < 0.5
        for machine in machines:
            machine.make(shape, tracked, seed * 10 + n)
    history: list[Step] = []
    for _ in range(steps):
        shapes = [tuple(t.shape) for t in machines[1].tensors]
        step = next_step(rng, shapes)
        if undefined(step, machines[1].tensors):
            continue
        history.append(step)
        seen = [machine.run(step) for machine in machines]
        if seen[0] != seen[1]:
            return f"seed {seed}: {history}\n  ours   {seen[0]}\n  theirs {seen[1]}"
        for a, b in zip(machines[0].tensors, machines[1].tensors, strict=True):
            if describe(a) != describe(b):
                return f"seed {seed}: {history}\n  ours   {describe(a)}\n  theirs {describe(b)}"
            if not np.allclose(a.detach().numpy(), b.detach().numpy(), equal_nan=True):
                return f"seed {seed}: {history}: values differ"
    weights = [rng.uniform(0.5, 1.5) for _ in machines[0].tensors]
    return _compare_gradients(seed, history, *(m.gradients(weights) for m in machines))


def _compare_gradients(seed: int, history: list[Step], ours: Any, theirs: Any) -> str:
    if isinstance(theirs, str) and any(OVERWRITING & set(map(str, step)) for step in history):
        return ""
    if isinstance(ours, str) or isinstance(theirs, str):
        return "" if ours == theirs else f"seed {seed}: {history}\n  {ours}\n  {theirs}"
    for n, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if (a is None) != (b is None) or (
            a is not None and not np.allclose(a, b, equal_nan=True)
        ):
            return f"seed {seed}: {history}\n  gradient {n}\n  ours   {a}\n  theirs {b}"
    return ""
