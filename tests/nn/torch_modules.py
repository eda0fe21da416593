"""PyTorch's own descriptions of its modules (ModuleInfo), built in both libraries and compared.

`check(name)` builds every sample of a module, gives ours PyTorch's state_dict, and returns what
differs: the text of the module, the names of its state, results and gradients.

    python -m tests.nn.torch_modules nn.Linear nn.MultiheadAttention
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import graphwright as gw

from ..runtime.torch_suite import (
    NotComparable,
    _leaves,
    _numbers,
    compare,
    describe,
    to_ours,
    torch_database,
)

RANDOM = ("FractionalMaxPool",)


def module_database() -> tuple[Any, list[Any]]:
    """The torch module and its module descriptions; ImportError where not installed."""
    torch, _ = torch_database()
    from torch.testing._internal.common_modules import module_db

    return torch, module_db


def _without_dropout(info: Any, arguments: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    names = inspect.signature(info.module_cls.__init__).parameters
    position = list(names).index("dropout") - 1 if "dropout" in names else -1
    if position < 0:
        return kwargs
    if position < len(arguments):
        arguments[position] = 0.0
        return kwargs
    return {**kwargs, "dropout": 0.0}


def _argument(torch: Any, value: Any) -> Any:
    """A constructor argument of ours: tensors, and functions of the same name."""
    if callable(value) and getattr(value, "__module__", "").startswith("torch"):
        found = getattr(gw.nn.functional, getattr(value, "__name__", "?"), None)
        if found is None and isinstance(value, torch.nn.Module):
            raise NotComparable(repr(value))
        return found
    if callable(value) and not isinstance(value, type | torch.dtype):
        raise NotComparable(repr(value))
    return to_ours(torch, value)


def _grads(library: Any, out: list[Any], leaves: list[Any], weights: list[Any]) -> Any:
    pairs = [(t, w) for t, w in zip(out, weights, strict=True) if t.requires_grad]
    if not pairs or not leaves:
        return [None] * len(leaves)
    tensors, cotangents = zip(*pairs, strict=True)
    return library.autograd.grad(tensors, leaves, cotangents, allow_unused=True)


class _Pairs:
    """Arguments for both libraries: tensors as leaves, one object where they were one."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.known: dict[int, tuple[Any, Any]] = {}
        self.leaves: list[tuple[Any, Any]] = []

    def __call__(self, value: Any) -> tuple[Any, Any]:
        if isinstance(value, list | tuple):
            pairs = [self(v) for v in value]
            return type(value)(p[0] for p in pairs), type(value)(p[1] for p in pairs)
        if not isinstance(value, self.torch.Tensor):
            return value, to_ours(self.torch, value)
        if id(value) not in self.known:
            leaf = value.detach().requires_grad_(value.requires_grad)
            pair = leaf, to_ours(self.torch, leaf)
            self.known[id(value)] = pair
            if value.requires_grad:
                self.leaves.append(pair)
        return self.known[id(value)]


def _differences(torch: Any, info: Any, sample: Any, training: bool) -> Iterator[str]:
    given = sample.constructor_input
    args = list(given.args)
    kwargs = _without_dropout(info, args, given.kwargs)
    kind = getattr(gw.nn, info.name.removeprefix("nn."), None)
    if kind is None:
        yield "missing"
        return
    own_args = [_argument(torch, a) for a in args]
    own_kwargs = {k: _argument(torch, v) for k, v in kwargs.items()}
    torch.manual_seed(0)
    theirs = info.module_cls(*args, **kwargs).to(torch.float64)
    own_kwargs.pop("device", None)
    mine = kind(*own_args, **own_kwargs).to(gw.float64)
    if repr(mine).replace("graphwright.", "torch.") != repr(theirs):
        yield f"repr: {mine!r}, torch {theirs!r}"
    if list(mine.state_dict()) != list(theirs.state_dict()):
        yield f"state: {list(mine.state_dict())}, torch {list(theirs.state_dict())}"
        return
    mine.load_state_dict({k: to_ours(torch, v) for k, v in theirs.state_dict().items()})
    theirs.train(training)
    mine.train(training)
    inputs = sample.forward_input
    pair = _Pairs(torch)
    positional = [pair(a) for a in inputs.args]
    named = {k: pair(v) for k, v in inputs.kwargs.items()}
    want = theirs(*(a for a, _ in positional), **{k: a for k, (a, _) in named.items()})
    got = mine(*(b for _, b in positional), **{k: b for k, (_, b) in named.items()})
    yield from compare(torch, got, want, 1e-8, True)
    results = [t for t in _leaves(torch, want) if t.dtype.is_floating_point]
    own_results = [t for t in _leaves(torch, got) if t.dtype.is_floating_point]
    rng = np.random.default_rng(0)
    weights = [rng.uniform(0.5, 1.5, tuple(t.shape)) for t in results]
    leaves = [a for a, _ in pair.leaves] + list(theirs.parameters())
    own_leaves = [b for _, b in pair.leaves] + list(mine.parameters())
    wanted = _grads(torch, results, leaves, [torch.tensor(w) for w in weights])
    found = _grads(gw, own_results, own_leaves, [gw.tensor(w) for w in weights])
    for a, b in zip(found, wanted, strict=True):
        if (a is None) != (b is None):
            zero = _numbers(torch, b if a is None else a)
            if zero.any():
                yield f"gradient: {a}, torch {b}"
        elif a is not None:
            yield from (f"gradient {d}" for d in compare(torch, a, b, 1e-7, True)
                        if not d.startswith("strides"))  # fmt: skip
    for name, value in theirs.state_dict().items():
        yield from (f"state {name} {d}" for d in compare(torch, mine.state_dict()[name],
                                                         value, 1e-9, True))  # fmt: skip


def check(name: str) -> list[str]:
    """What differs for a module such as `nn.Linear`. KeyError where there is none."""
    torch, database = module_database()
    info = next(i for i in database if i.name == name)
    if any(part in name for part in RANDOM):
        return []
    torch.backends.mha.set_fastpath_enabled(False)
    found = []
    for training in (True, False):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.manual_seed(0)
            samples = info.module_inputs_func(
                info, device="cpu", dtype=torch.float64, requires_grad=True, training=training
            )
            for sample in samples:
                given = sample.constructor_input
                text = f"{describe(given.args)} {describe(given.kwargs)} training={training}"
                try:
                    found += [f"{text}: {d}" for d in _differences(torch, info, sample, training)]
                except NotComparable:
                    continue
                except Exception as error:
                    found.append(f"{text}: {type(error).__name__}: {error}")
    return found


def main() -> int:
    """The command line; 1 where something differs."""
    _, database = module_database()
    names = sys.argv[1:] or list(dict.fromkeys(i.name for i in database))
    failing = 0
    for name in names:
        found = check(name)
        failing += bool(found)
        print(f"{name}: {len(found) or 'ok'}", flush=True)
        for difference in found[:3]:
            print("   ", difference[:500])
    return 1 if failing else 0


if __name__ == "__main__":
    sys.exit(main())
