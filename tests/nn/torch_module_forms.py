"""PyTorch's samples of its modules in further forms: see `FORMS`.

Each form takes the two modules of a sample, with one state, and the arguments for both, and
yields what differs. `refusals` tries the samples that must be refused.

    python -m tests.nn.torch_module_forms compiled nn.Linear nn.LSTM
"""

from __future__ import annotations

import copy
import itertools
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import graphwright as gw

from ..runtime.torch_suite import NotComparable, _leaves, _numbers, compare, describe, to_ours
from .torch_modules import RANDOM, _argument, _grads, _Pairs, _without_dropout, module_database


class Case(NamedTuple):
    """Two modules with one state, and a pair of arguments for each."""

    torch: Any
    mine: Any
    theirs: Any
    pairs: _Pairs
    args: tuple[tuple[Any, ...], tuple[Any, ...]]
    kwargs: tuple[dict[str, Any], dict[str, Any]]

    def call(self, own: Any = None) -> tuple[Any, Any]:
        """(our result, PyTorch's); `own` in place of our module."""
        got = (self.mine if own is None else own)(*self.args[1], **self.kwargs[1])
        return got, self.theirs(*self.args[0], **self.kwargs[0])

    def leaves(self) -> tuple[list[Any], list[Any]]:
        """(ours, PyTorch's): inputs that require gradients and parameters."""
        own = [b for _, b in self.pairs.leaves] + list(self.mine.parameters())
        return own, [a for a, _ in self.pairs.leaves] + list(self.theirs.parameters())


def _floating(torch: Any, value: Any) -> list[Any]:
    return [t for t in _leaves(torch, value) if t.dtype.is_floating_point]


def _cotangents(library: Any, tensors: list[Any]) -> list[Any]:
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(0.5, 1.5, tuple(t.shape)) for t in tensors]
    return [library.tensor(a).to(t.dtype) for a, t in zip(arrays, tensors, strict=True)]


def _differing(torch: Any, found: Any, wanted: Any, tolerance: float) -> Iterator[str]:
    """What differs between gradients, None and zeros being the same."""
    for a, b in zip(found, wanted, strict=True):
        if (a is None) != (b is None):
            if _numbers(torch, b if a is None else a).any():
                yield f"gradient: {a}, torch {b}"
        elif a is not None:
            for seen in compare(torch, a, b, tolerance, True):
                if not seen.startswith("strides"):
                    yield f"gradient {seen}"


def _gradients(case: Case, got: Any, want: Any) -> Iterator[str]:
    torch, (own, theirs) = case.torch, case.leaves()
    mine, reference = _floating(torch, got), _floating(torch, want)
    found = _grads(gw, mine, own, _cotangents(gw, mine))
    wanted = _grads(torch, reference, theirs, _cotangents(torch, reference))
    yield from _differing(torch, found, wanted, 1e-7)


def plain(case: Case) -> Iterator[str]:
    """Results (also their strides) and gradients."""
    got, want = case.call()
    yield from compare(case.torch, got, want, 1e-8, True)
    yield from _gradients(case, got, want)


def compiled(case: Case) -> Iterator[str]:
    """Results, gradients and state of the module compiled into one graph."""
    got, want = case.call(gw.compile(case.mine, fullgraph=True))
    for seen in compare(case.torch, got, want, 1e-8, True):
        if not seen.startswith("strides"):
            yield seen
    yield from _gradients(case, got, want)
    for name, value in case.theirs.state_dict().items():
        for seen in compare(case.torch, case.mine.state_dict()[name], value, 1e-9, True):
            yield f"state {name} {seen}"
    gw.compiler.reset()


def twice(case: Case) -> Iterator[str]:
    """Gradients of gradients, where PyTorch has them."""
    outcomes: list[Any] = []
    sides = zip((gw, case.torch), case.call(), case.leaves(), strict=True)
    for library, result, leaves in sides:
        outputs = [t for t in _floating(case.torch, result) if t.requires_grad]
        if not outputs or not leaves:
            return
        weights = _cotangents(library, outputs)
        first = library.autograd.grad(
            outputs, leaves, weights, create_graph=True, allow_unused=True
        )
        again = [g for g in first if g is not None and g.requires_grad]
        if not again:
            outcomes.append([None] * len(leaves))
            continue
        weights = _cotangents(library, again)
        try:
            outcomes.append(library.autograd.grad(again, leaves, weights, allow_unused=True))
        except RuntimeError as error:
            if library is gw and "cannot be differentiated twice" not in str(error):
                raise
            return
    yield from _differing(case.torch, outcomes[0], outcomes[1], 1e-6)


def copies(case: Case) -> Iterator[str]:
    """Copies, deep copies and pickled modules compute the same; members have PyTorch's names."""
    mine, theirs = case.mine.eval(), case.theirs.eval()
    result = mine(*case.args[1], **case.kwargs[1])
    twins = (copy.copy(mine), copy.deepcopy(mine), pickle.loads(pickle.dumps(mine)))
    for twin in twins:
        other = twin(*case.args[1], **case.kwargs[1])
        pairs = zip(_leaves(case.torch, result), _leaves(case.torch, other), strict=True)
        same = all(gw.allclose(a, b, equal_nan=True) for a, b in pairs)
        if repr(twin) != repr(mine) or not same:
            yield f"a copy differs: {twin!r}"
    for walk in ("named_modules", "named_parameters", "named_buffers"):
        names = [[name for name, _ in getattr(m, walk)()] for m in (mine, theirs)]
        if names[0] != names[1]:
            yield f"{walk}: {names[0]}, torch {names[1]}"


FORMS: dict[str, Callable[[Case], Iterator[str]]] = {
    "plain": plain, "strided": plain, "twice": twice, "copies": copies, "compiled": compiled,
}  # fmt: skip
"""What is compared; "strided" gives every tensor with gaps between its elements."""


def _with_gaps(torch: Any, value: Any, kept: list[Any]) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_with_gaps(torch, v, kept) for v in value)
    if not isinstance(value, torch.Tensor) or not value.ndim:
        return value
    wide = value.detach().repeat_interleave(2, dim=-1)[..., ::2]
    kept.append(wide.requires_grad_(value.requires_grad))
    return wide


def _case(torch: Any, info: Any, sample: Any, training: bool, strided: bool) -> Case:
    given = sample.constructor_input
    args = list(given.args)
    kwargs = _without_dropout(info, args, dict(given.kwargs))
    own = {k: _argument(torch, v) for k, v in kwargs.items() if k != "device"}
    torch.manual_seed(0)
    theirs = info.module_cls(*args, **kwargs).to(torch.float64)
    kind = getattr(gw.nn, info.name.removeprefix("nn."))
    mine = kind(*[_argument(torch, a) for a in args], **own).to(gw.float64)
    inputs, pairs, kept = sample.forward_input, _Pairs(torch), []  # type: ignore[var-annotated]
    positional = [_with_gaps(torch, a, kept) if strided else a for a in inputs.args]
    both = [pairs(a) for a in positional]
    named = {k: pairs(v) for k, v in inputs.kwargs.items()}
    sides = [
        (tuple(p[i] for p in both), {k: p[i] for k, p in named.items()}) for i in range(2)
    ]
    if info.is_lazy:
        theirs(*sides[0][0], **sides[0][1])
        mine(*sides[1][0], **sides[1][1])
    mine.load_state_dict({k: to_ours(torch, v) for k, v in theirs.state_dict().items()})
    theirs.train(training)
    mine.train(training)
    return Case(
        torch, mine, theirs, pairs, (sides[0][0], sides[1][0]), (sides[0][1], sides[1][1])
    )


def check(form: str, name: str, limit: int | None = None) -> list[str]:
    """What differs for a module such as `nn.Linear` in one of `FORMS`."""
    torch, database = module_database()
    info = next(i for i in database if i.name == name)
    found: list[str] = []
    if any(part in name for part in RANDOM) or (form == "twice" and not info.supports_gradgrad):
        return found
    torch.backends.mha.set_fastpath_enabled(False)
    for training in (True, False):
        torch.manual_seed(0)
        samples = info.module_inputs_func(
            info, device="cpu", dtype=torch.float64, requires_grad=True, training=training
        )
        for sample in itertools.islice(samples, limit):
            given = sample.constructor_input
            text = f"{describe(given.args)} {describe(given.kwargs)} training={training}"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    case = _case(torch, info, sample, training, form == "strided")
                    found += [f"{text}: {seen}" for seen in FORMS[form](case)]
                except NotComparable:
                    continue
    return found


def refusals(name: str) -> list[str]:
    """What our module of that name accepts, or refuses by another type of exception."""
    torch, database = module_database()
    info = next(i for i in database if i.name == name)
    found: list[str] = []
    for training in (True, False) if info.module_error_inputs_func else ():
        for refused in info.module_error_inputs_func(
            info, device="cpu", dtype=torch.float32, requires_grad=False, training=training
        ):
            sample = refused.module_error_input
            want = _refused(info.module_cls, sample, training, lambda value: value)
            kind = getattr(gw.nn, name.removeprefix("nn."))
            got = _refused(kind, sample, training, lambda value: _argument(torch, value))
            if want is not None and not isinstance(got, type(want)):
                found.append(f"{got!r}, torch {want!r}")
    return found


def _refused(
    kind: Any, sample: Any, training: bool, converted: Callable[[Any], Any]
) -> Exception | None:
    made, called = sample.constructor_input, sample.forward_input
    kwargs = {k: converted(v) for k, v in made.kwargs.items() if k != "device"}
    try:
        module = kind(*map(converted, made.args), **kwargs).train(training)
        if called is not None:
            module(*map(converted, called.args), **dict(called.kwargs))
    except Exception as error:
        return error
    return None


def main() -> int:
    """The command line: a form and names of modules, by default all; 1 where something differs."""
    _, database = module_database()
    form, *names = sys.argv[1:]
    failing = 0
    for name in names or list(dict.fromkeys(i.name for i in database)):
        found = refusals(name) if form == "refusals" else check(form, name)
        failing += bool(found)
        print(f"{name}: {len(found) or 'ok'}", flush=True)
        for difference in found[:3]:
            print("   ", difference[:500])
    return 1 if failing else 0


if __name__ == "__main__":
    sys.exit(main())
