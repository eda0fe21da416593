"""`autograd.grad` and `backward` in the frame: the tape of fake tensors runs along with the graph.

A gradient is one node of the graph; `backward` is that node, and what it adds to `.grad` of the
leaves. Both need to know where the history of tensors from outside begins: those must be leaves,
for `grad` without hooks, which is guarded. Hooks that `backward` meets run as code of the frame
(`gradient_hooks`). Tensors made in the frame that require gradients never leave it.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from graphwright.autograd import forward_ad
from graphwright.capture.effects.frame_autograd import leaves_of
from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import AttrSource, GradientSource, Source
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.sequences import ListVariable, TupleVariable
from graphwright.capture.trackers.effects.context import without_gradients
from graphwright.capture.trackers.effects.deferred_calls import HandleVariable, refuse_hooks
from graphwright.capture.trackers.tensors.autograd_function import APPLY, apply_function
from graphwright.capture.trackers.tensors.backward_hooks import refuse_watches
from graphwright.capture.trackers.tensors.checkpointing import forget_reread, refuse_reread
from graphwright.capture.trackers.tensors.gradient_hooks import (
    gradients_by_hooks,
    hook_made,
    hooked,
    hooks_of_leaf,
    is_frozen,
    is_retained,
    require_recorded,
    run_afterwards,
)
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.nn.parameter import Buffer, Parameter
from graphwright.runtime import _core
from graphwright.runtime.fake.fake_tensor import FakeTensor
from graphwright.runtime.ops.functions import empty_like
from graphwright.runtime.ops.strides import is_dense
from graphwright.runtime.tape import engine
from graphwright.runtime.tensor.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
LARGE_GRADIENT = 1 << 16
"""Bytes from which the time to let a gradient go early is worth its memory."""
_GRAD = tuple(inspect.signature(engine.grad).parameters)
_BACKWARD = tuple(inspect.signature(engine.backward).parameters)
_METHOD = ("self", "gradient", "retain_graph", "create_graph", "inputs")


def grad(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`autograd.grad(...)`."""
    given = _bound(_GRAD, args, kwargs)
    for name in ("outputs", "inputs", "grad_outputs"):
        if name in given:
            given[name] = _counted(tx, given[name].realize())
    outputs = _tensors(given.get("outputs"))
    chosen = _tensors(given.get("inputs"))
    outside = [value for value in chosen if value.source is not None]
    if outside:
        for leaf in _leaves(tx, outputs):
            require_leaf(tx, leaf)
    refuse_hooks(tx)
    refuse_watches(tx.output, "which autograd.grad() may meet")
    for hook in tx.output.tape.hooks:
        hook.refuse("which autograd.grad() may meet")
    result = tx.output.run(tx, "call_function", engine.grad, [], given)
    _note_differentiated(tx, given)
    return result


def _counted(tx: Translator, value: VariableTracker) -> VariableTracker:
    """An iterable of tensors, which may be a generator or a view of a dict, as a tuple."""
    if isinstance(value, TensorVariable) or value.is_constant():
        return value
    return tx.tuple_of(value.unpack(tx))


def _note_differentiated(tx: Translator, given: Kwargs) -> None:
    """Gradients were computed; those of the same operations will not be, unless they are kept."""
    tx.output.tape.differentiated = True
    kept = [given[name] for name in ("retain_graph", "create_graph") if name in given]
    if not any(option.as_constant() for option in kept):
        forget_reread(tx.output)


def backward(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`autograd.backward(tensors, ...)`."""
    return _backward(tx, _bound(_BACKWARD, args, kwargs))


def backward_method(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`tensor.backward(...)`."""
    given = _bound(_METHOD, args, kwargs)
    if "gradient" in given:
        given["grad_tensors"] = given.pop("gradient")
    return _backward(tx, {"tensors": given.pop("self"), **given})


def _backward(tx: Translator, given: Kwargs) -> VariableTracker:
    if _core.levels():
        unsupported("GB0007", "backward() within vmap")
    for name in ("create_graph", "inputs"):
        if name in given and given[name].as_constant():
            unsupported("GB0004", f"backward() with {name}")
    roots = _tensors(given["tensors"])
    leaves = _leaves(tx, roots)
    for leaf in leaves:
        require_leaf(tx, leaf, alone=False)
    if any(tensor.hidden is not None for tensor in roots):
        unsupported("GB0004", "backward() of a tensor whose requires_grad was switched off")
    require_recorded(leaves)
    if not leaves:
        unsupported("GB0004", "backward() of a tensor with no leaf that requires grad")
    options = {"allow_unused": tx.constant(True)}
    for name, option in (("grad_tensors", "grad_outputs"), ("retain_graph", "retain_graph")):
        if name in given:
            options[option] = given[name]
    refuse_hooks(tx)
    refuse_watches(tx.output, "which backward() may meet")
    if tx.output.tape.hooks or any(_has_hooks(tx, leaf) for leaf in leaves):
        return _backward_by_hooks(tx, given, leaves)
    wanted: list[VariableTracker] = list(leaves)
    grads = tx.output.run(
        tx, "call_function", engine.grad, [tx.tuple_of(list(roots)), tx.tuple_of(wanted)], options
    )
    _note_differentiated(tx, given)
    known = {id(root.fake._storage) for root in _tensors(given.get("grad_tensors"))}
    for leaf, found in zip(leaves, grads.unpack(tx), strict=True):
        if isinstance(found, TensorVariable):
            _accumulate(tx, leaf, found, known)
    return tx.constant(None)


def _has_hooks(tx: Translator, leaf: TensorVariable) -> bool:
    """Whether hooks see its gradient, or did when the frame began: until it ends, a pass in the
    graph finds those that it has removed.
    """
    if any(hooks_of_leaf(tx, leaf, name) for name in ("hooks", "accumulate_hooks")):
        return True
    extra = tx.output.real_inputs()[leaf.node]._autograd if leaf.source is not None else None
    return extra is not None and bool(extra.hooks)


def _backward_by_hooks(
    tx: Translator, given: Kwargs, leaves: list[TensorVariable]
) -> VariableTracker:
    """`backward()` where hooks see gradients on the way."""
    roots = _tensors(given["tensors"])
    none = tx.constant(None)
    option = given.get("grad_tensors", none).realize()
    several = isinstance(option, (TupleVariable, ListVariable))
    grads = list(option.items) if several else [option] * len(roots)    # type: ignore[attr-defined]
    retain = "retain_graph" in given and bool(given["retain_graph"].as_constant())
    found = gradients_by_hooks(tx, roots, leaves, grads, retain)
    known = {id(root.fake._storage) for root in _tensors(given.get("grad_tensors"))}
    for leaf, grad in found:
        for function in hooks_of_leaf(tx, leaf, "hooks"):
            known.add(id(grad.as_example()._storage))
            grad = hooked(tx, function, grad)
        if tx.output.tape.hooks:
            known.add(id(grad.as_example()._storage))
        assert isinstance(grad, TensorVariable)
        _accumulate(tx, leaf, grad, known)
        run_afterwards(tx, leaf)
    _note_differentiated(tx, given)
    return none


def _accumulate(
    tx: Translator, leaf: TensorVariable, found: TensorVariable, known: set[int]
) -> None:
    """Add to `leaf.grad`, unless a hook has frozen it; `known`: memory that others may hold."""
    if is_frozen(leaf):
        return
    current = leaf.getattr(tx, "grad").realize()
    if isinstance(current, TensorVariable):
        if current.fake.requires_grad:
            unsupported("GB0004", "backward() where .grad has a history")
        with without_gradients(tx):
            tx.output.run(tx, "call_method", "add_", [current, found], {})
        return
    private = found.fake._base is None and found.fake.stride() == leaf.fake.stride()
    if not private or id(found.fake._storage) in known:
        found = _laid_out(tx, found, leaf)
    known.add(id(found.fake._storage))
    store_gradient(tx, leaf, found)


def _laid_out(tx: Translator, found: TensorVariable, leaf: TensorVariable) -> TensorVariable:
    """A copy of a gradient, with the strides of the leaf where those are of a dense tensor."""
    strides = leaf.fake.stride()
    if found.fake.stride() == strides or not is_dense(leaf.fake.shape, strides):
        made = tx.output.run(tx, "call_method", "clone", [found], {})
    else:
        own = tx.output.run(tx, "call_method", "detach", [leaf], {})
        made = tx.output.run(tx, "call_function", empty_like, [own], {})
        made = tx.output.run(tx, "call_method", "copy_", [made, found], {})
    assert isinstance(made, TensorVariable)
    return made


def store_gradient(tx: Translator, owner: TensorVariable, value: VariableTracker) -> None:
    """`owner.grad = value`."""
    value = value.realize()
    if isinstance(value, TensorVariable):
        same = value.fake.dtype is owner.fake.dtype and value.fake.shape == owner.fake.shape
        if not same or value is owner:
            unsupported("GB0007", f"assignment of {value.describe()} to .grad")
    elif not isinstance(value, ConstantVariable) or value.value is not None:
        unsupported("GB0007", f"assignment of {value.describe()} to .grad")
    if owner.source is None and owner not in tx.side_effects.created:
        if not tx.output.tape.is_made_leaf(owner.fake):
            unsupported("GB0008", "assignment to .grad of a tensor made in the frame")
        tx.side_effects.track_new(owner)
    tx.side_effects.store_attribute(owner, "grad", value)
    if isinstance(value, ConstantVariable) and owner.source is not None:
        _forget_early(tx, owner.source, owner.fake)


def _forget_early(tx: Translator, source: Source, leaf: FakeTensor) -> None:
    """Let a large gradient go before the graph runs, as the frame does: others need its memory.

    Where the graph fails, the frame runs again and drops it again: so nothing may have read it.
    """
    size, tape = leaf.numel(), tx.output.tape
    large = type(size) is int and size * leaf.dtype.itemsize >= LARGE_GRADIENT
    if large and tx.output.n_ops == 0 and not tape.gradients_read:
        tape.forgotten[source] = None


def gradient_of(tx: Translator, owner: TensorVariable) -> VariableTracker:
    """`owner.grad`."""
    tx.side_effects.refuse_after_calls(tensors=True)
    pending = tx.side_effects.attribute(owner, "grad")
    if pending is not None:
        return pending.realize()
    if owner.source is not None:
        tx.output.tape.gradients_read = True
        real = tx.output.real_inputs()[owner.node]
        if real._grad is None and real.requires_grad:
            _check_expected(tx, owner.source, real)
        return tx.output.wrap_attribute(owner, GradientSource(owner.source), "_grad")
    if not owner.fake.is_leaf and not is_retained(tx, owner):
        unsupported("GB0008", "attribute 'grad' of a tensor made in the frame")
    return tx.constant(None)


def _check_expected(tx: Translator, source: Source, real: Tensor) -> None:
    """A break before a tensor is asked for a gradient that it will not get, as it warns."""
    if real.is_leaf:
        tx.guards.equals(AttrSource(source, "grad_fn"), None)
    elif real.retains_grad:
        tx.guards.equals(AttrSource(source, "retains_grad"), True)
    else:
        unsupported("GB0008", "attribute 'grad' of a tensor that is no leaf")


def hook_method(
    tx: Translator, name: str, owner: TensorVariable, args: Args, kwargs: Kwargs
) -> VariableTracker:
    """`owner.register_hook(function)` or `owner.retain_grad()`, of a tensor made in the frame."""
    expected = name == "register_hook"
    if len(args) != expected or kwargs or not owner.fake.requires_grad:
        unsupported("GB0004", f"Tensor.{name}() changes the autograd tape")
    hook_made(tx, owner, args[0] if expected else None)
    return HandleVariable() if expected else tx.constant(None)


def require_gradient(
    tx: Translator, owner: TensorVariable, args: Args, kwargs: Kwargs
) -> VariableTracker:
    """`owner.requires_grad_(...)`."""
    given = _bound(("self", "requires_grad"), [owner, *args], kwargs)
    wanted = given.get("requires_grad", tx.constant(True)).realize()
    if not wanted.is_constant() or type(wanted.as_constant()) is not bool:
        unsupported("GB0007", f"requires_grad_({wanted.describe()})")
    if owner.source is not None:
        tx.output.recording.switch(tx, owner, wanted.as_constant())
        return owner
    if owner.fake.grad_fn is not None and wanted.as_constant():
        return owner
    if owner.fake.requires_grad is not wanted.as_constant():
        refuse_reread(tx.output, owner.fake)
    result = tx.output.run(tx, "call_method", "requires_grad_", [owner, *args], kwargs)
    tx.output.tape.note_leaf(owner.fake)
    return result


def detached_as(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`_core.detach(cls, tensor)`, of which parameters and buffers are made."""
    cls, tensor = (arg.realize() for arg in args)
    kind = getattr(cls, "value", None)
    if kind not in (Tensor, Parameter, Buffer) or not isinstance(tensor, TensorVariable):
        unsupported("GB0004", f"detach({cls.describe()}, {tensor.describe()})")
    made = tx.output.run(tx, "call_method", "detach", [tensor], {})
    assert isinstance(made, TensorVariable)
    made.cls = kind
    return made


def require_leaf(
    tx: Translator, tensor: TensorVariable, alone: bool = True
) -> None:
    """A break unless nothing is known to the tape before `tensor`; a guard that it stays so.

    alone: whether it may have no hooks either.
    """
    if tensor.source is None:
        return
    real = tx.output.real_inputs()[tensor.node]
    if real.grad_fn is not None or real._base is not None:
        unsupported("GB0004", f"a gradient that flows from {tensor.describe()} out of the frame")
    for attribute in ("grad_fn", "_base"):
        tx.guards.equals(AttrSource(tensor.source, attribute), None)
    if real._autograd is None:
        tx.guards.equals(AttrSource(tensor.source, "_extra"), None)
    elif alone or real._autograd.accumulator is not None:
        unsupported("GB0004", f"a gradient that hooks of {tensor.describe()} see")


def _leaves(tx: Translator, roots: list[TensorVariable]) -> list[TensorVariable]:
    found = leaves_of([root.fake for root in roots])
    return [tx.output.variable_of(fake) for fake in found.values()]


def reaches_others(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`forward_ad.reaches_others(value, inputs)`, by the history of fake tensors."""
    value, inputs = (arg.realize() for arg in args)
    known = [tensor.fake for tensor in _tensors(inputs)]
    found = leaves_of([tensor.fake for tensor in _tensors(value)])
    return tx.constant(bool(found.keys() - {id(fake) for fake in known}))


def _tensors(value: VariableTracker | None) -> list[TensorVariable]:
    """The tensors among one, a sequence of some, or nothing."""
    if value is None:
        return []
    value = value.realize()
    several = isinstance(value, (TupleVariable, ListVariable))
    items = [item.realize() for item in value.items] if several else [value]  # type: ignore[attr-defined]
    return [item for item in items if isinstance(item, TensorVariable)]


def _bound(names: tuple[str, ...], args: Args, kwargs: Kwargs) -> Kwargs:
    """Arguments by name; a break where Python would raise."""
    bound = dict(zip(names, args, strict=False))
    if len(args) > len(names) or bound.keys() & kwargs.keys() or kwargs.keys() - set(names):
        unsupported("GB0007", "TypeError: wrong arguments of a function of autograd")
    if names[0] not in bound | kwargs:
        unsupported("GB0007", "TypeError: wrong arguments of a function of autograd")
    return {**bound, **kwargs}


DIFFERENTIATION: dict[Any, Any] = {
    engine.grad: grad,
    engine.backward: backward,
    _core.detach: detached_as,
    forward_ad.reaches_others: reaches_others,
    APPLY: apply_function,
}
