"""Memory for time: backward computes a part of the forward anew instead of keeping it.

Chen et al., 2016: https://arxiv.org/abs/1604.06174
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from weakref import ref

from graphwright.amp import state as amp
from graphwright.autograd.grad_mode import enable_grad
from graphwright.autograd.graph import saved_tensors_hooks
from graphwright.cuda.generators import get_rng_state, set_rng_state
from graphwright.runtime import _core
from graphwright.runtime._core import TensorBase
from graphwright.runtime.cuda.devices import index_of
from graphwright.runtime.tape.engine import backward as run_backward
from graphwright.runtime.tape.function import Function
from graphwright.runtime.tape.saved import metadata
from graphwright.runtime.tensor.generator import restore_rng, rng_states
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.utils import CAPTURE
from graphwright.utils._pytree import tree_leaves

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


class CheckpointError(RuntimeError):
    """The second forward differed from the first."""


class _Surroundings:
    """Autocast as it was at construction, and the random numbers that generators' states lead to,
    those of GPUs too."""

    def __init__(self, preserve: bool) -> None:
        self._states = rng_states() if preserve else None
        self._casts = amp.current()

    def __enter__(self) -> None:
        self._other_casts = amp.current()
        amp.set_autocast(self._casts)
        if self._states is not None:
            self._outside = rng_states()
            restore_rng(self._states)

    def __exit__(self, *exc: object) -> None:
        amp.set_autocast(self._other_casts)
        if self._states is not None:
            restore_rng(self._outside)


def _uncaptured(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that the compiler leaves alone, with all that it calls.

    So it is for both forwards: compiled code saves other tensors than Python's.
    """

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        return CAPTURE.run_outside(function, *args, **kwargs)

    run.__dict__["__gw_disable__"] = True
    return run


def noop_context_fn() -> Contexts:
    """The contexts of the two forwards where none are given."""
    return nullcontext(), nullcontext()


class set_checkpoint_early_stop:
    """Within it, `checkpoint` follows this in place of its own `early_stop`."""

    chosen: bool | None = None

    def __init__(self, enable: bool) -> None:
        self._enable = enable

    def __enter__(self) -> None:
        kind = set_checkpoint_early_stop
        self._previous, kind.chosen = kind.chosen, self._enable

    def __exit__(self, *exc: object) -> None:
        set_checkpoint_early_stop.chosen = self._previous


@_uncaptured
def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """`function(*args, **kwargs)`, keeping nothing of it for backward but its arguments.

    Backward runs it again, with the same autocast and random numbers (`preserve_rng_state`), and
    only as far as needed (`early_stop`). `use_reentrant=False`, the recommended form, works with
    all of autograd; True needs a tensor among `args` that requires grad and takes no `kwargs`
    (ValueError). `context_fn` gives the contexts of the two forwards. CheckpointError where the
    second forward saves other tensors than the first (unless `determinism_check="none"`). A
    compiled function has `function` in its graph, and recomputes it in its backward, unless
    it changes anything outside of itself or there are options that Python has to follow: then the
    graph ends, and what runs is not compiled.
    """
    use_reentrant = _is_reentrant("checkpoint", use_reentrant, 4)
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of 'default' or 'none', got {determinism_check}"
        )
    if use_reentrant:
        if kwargs:
            raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
        if context_fn is not noop_context_fn:
            raise ValueError("Passing `context_fn` is only supported when use_reentrant=False.")
        if not any(isinstance(arg, TensorBase) and arg.requires_grad for arg in args):
            warnings.warn("None of the inputs have requires_grad=True. Gradients will be None",
                          stacklevel=3)
        return _Reentrant.apply(function, preserve_rng_state, *args)
    forward, again = context_fn()
    chosen = set_checkpoint_early_stop.chosen
    frame = _Frame(
        lambda: function(*args, **kwargs),
        again,
        preserve_rng_state,
        determinism_check != "none",
        early_stop if chosen is None else chosen,
    )
    if not _core.grad_enabled():
        return function(*args, **kwargs)
    with forward, saved_tensors_hooks(frame.pack, frame.unpack):
        return function(*args, **kwargs)


def _is_reentrant(name: str, given: bool | None, stacklevel: int) -> bool:
    """Which form is used; where the program does not say it, with a warning of its line."""
    if given is None:
        warnings.warn(
            f"{name}: the use_reentrant parameter should be passed explicitly; "
            "use_reentrant=False is recommended. The default is True.", stacklevel=stacklevel)
    return True if given is None else given


class _Holder:
    """Stands for a saved tensor until it has been recomputed."""

    __slots__ = ("__weakref__", "number", "spec", "tensor")

    def __init__(self, number: int, tensor: Any) -> None:
        self.number = number
        self.spec = metadata(tensor)
        self.tensor: Any = None


class _Stop(BaseException):
    """All that is needed has been computed."""


class _Frame:
    """One checkpointed call: what it saves, and how that is recomputed."""

    def __init__(
        self,
        run: Callable[[], Any],
        context: AbstractContextManager[Any],
        preserve: bool,
        checked: bool,
        early_stop: bool,
    ) -> None:
        self._run, self._context = run, context
        self._surroundings = _Surroundings(preserve)
        self._checked, self._early_stop = checked, early_stop
        self._holders: list[Any] = []

    def pack(self, tensor: Any) -> _Holder:
        """Keep a place, not the tensor."""
        holder = _Holder(len(self._holders), tensor)
        self._holders.append(ref(holder))
        return holder

    def unpack(self, holder: _Holder) -> Any:
        """The tensor; the whole call is run again where it is not there yet."""
        if holder.tensor is None:
            self._recompute()
        tensor = holder.tensor
        if tensor is None:
            raise CheckpointError(
                "checkpoint: a different number of tensors was saved during the original forward "
                f"and recomputation. Number of tensors saved during forward: "
                f"{len(self._holders)}"
            )
        if not _core.grad_enabled():
            holder.tensor = None
        return tensor

    def _recompute(self) -> None:
        count = 0

        def keep(tensor: Any) -> Any:
            nonlocal count
            number, count = count, count + 1
            if number >= len(self._holders):
                raise CheckpointError(
                    "checkpoint: trying to save more tensors during recomputation than during "
                    "the original forward pass."
                )
            holder = self._holders[number]()
            if holder is not None:
                if self._checked and metadata(tensor) != holder.spec:
                    raise CheckpointError(
                        "checkpoint: Recomputed values for the following tensors have different "
                        f"metadata than during the forward pass: tensor {number}: "
                        f"{holder.spec} then, {metadata(tensor)} now"
                    )
                holder.tensor = tensor.detach()
            if self._early_stop and count == len(self._holders):
                raise _Stop
            return tensor.detach()

        hooks = saved_tensors_hooks(keep, lambda tensor: tensor)
        try:
            with self._surroundings, self._context, hooks, enable_grad():
                CAPTURE.run_outside(self._run)
        except _Stop:
            pass


class _Reentrant(Function):
    """The older form: a backward within backward."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve: bool, *args: Any) -> Any:
        ctx.function, ctx.surroundings = function, _Surroundings(preserve)
        ctx.args = tuple(None if isinstance(arg, TensorBase) else arg for arg in args)
        ctx.places = [i for i, arg in enumerate(args) if isinstance(arg, TensorBase)]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        args = list(ctx.args)
        for place, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[place] = tensor.detach()
            args[place].requires_grad = tensor.requires_grad
        with ctx.surroundings, enable_grad():
            out = CAPTURE.run_outside(ctx.function, *args)
        outputs = (out,) if isinstance(out, TensorBase) else tuple(out)
        kept = [
            (tensor, g)
            for tensor, g in zip(outputs, grads, strict=True)
            if isinstance(tensor, TensorBase) and tensor.requires_grad
        ]
        if not kept:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        run_backward([tensor for tensor, _ in kept], [g for _, g in kept])
        return None, None, *(
            arg.grad if isinstance(arg, TensorBase) else None for arg in args
        )


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """The indices of the GPUs that tensors among the arguments lie on, and the states of their
    generators."""
    tensors = (leaf for leaf in tree_leaves(args) if isinstance(leaf, Tensor))
    devices = sorted({index_of(tensor.device) for tensor in tensors
                      if tensor.device.type == "cuda"})
    return devices, [get_rng_state(device) for device in devices]


def set_device_states(
    devices: Sequence[int], states: Sequence[Any], *, device_type: str | None = None
) -> None:
    """Put back what `get_device_states` returned. Raises AssertionError where there is no GPU."""
    for device, state in zip(devices, states, strict=True):
        set_rng_state(state, device)


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **kwargs: Any,
) -> Any:
    """A chain of modules or functions, checkpointed in `segments` parts but for the last.

    `kwargs`: `preserve_rng_state`.
    """
    use_reentrant = _is_reentrant("checkpoint_sequential", use_reentrant, 3)
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    chain = list(functions)
    size = len(chain) // segments
    end = -1
    for start in range(0, size * (segments - 1), size):
        end = start + size - 1
        input = checkpoint(
            _segment(chain[start : end + 1]),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve,
        )
    return _segment(chain[end + 1 :])(input)


def _segment(functions: Sequence[Callable[..., Any]]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        for function in functions:
            value = function(value)
        return value

    return run
