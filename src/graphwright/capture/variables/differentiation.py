"""`autograd.grad` and `backward` in the frame: the tape of fake tensors runs along with the graph.

A gradient is one node of the graph; `backward` is that node, and what it adds to `.grad` of the
leaves. Both need to know where the history of tensors from outside begins: those must be leaves
without hooks, which is guarded. Tensors made in the frame that require gradients never leave it.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from graphwright.capture.exc import unsupported
from graphwright.capture.source import AttrSource
from graphwright.capture.tape import leaves_of
from graphwright.capture.variables.autograd_function import APPLY, apply_function
from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.checkpointing import forget_reread
from graphwright.capture.variables.constant import ConstantVariable
from graphwright.capture.variables.deferred import refuse_hooks
from graphwright.capture.variables.sequences import ListVariable, TupleVariable
from graphwright.capture.variables.tensor import TensorVariable
from graphwright.runtime import _core
from graphwright.runtime.autograd import engine, forward_ad
from graphwright.runtime.nn.parameter import Buffer, Parameter
from graphwright.runtime.ops._face import empty_like
from graphwright.runtime.ops.strides import is_dense
from graphwright.runtime.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.capture.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
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
        require_leaf(tx, leaf)
    if not leaves:
        unsupported("GB0004", "backward() of what needs no gradient")
    options = {"allow_unused": tx.constant(True)}
    for name, option in (("grad_tensors", "grad_outputs"), ("retain_graph", "retain_graph")):
        if name in given:
            options[option] = given[name]
    refuse_hooks(tx)
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


def _accumulate(
    tx: Translator, leaf: TensorVariable, found: TensorVariable, known: set[int]
) -> None:
    """Add to `leaf.grad`; `known`: the memory that something else may hold."""
    current = leaf.getattr(tx, "grad").realize()
    if isinstance(current, TensorVariable):
        if current.fake.requires_grad:
            unsupported("GB0004", "backward() where .grad has a history")
        mode = _core.grad_enabled()
        tx.output.set_grad_mode(tx, False)
        tx.output.run(tx, "call_method", "add_", [current, found], {})
        tx.output.set_grad_mode(tx, mode)
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


def gradient_of(tx: Translator, owner: TensorVariable) -> VariableTracker:
    """`owner.grad`."""
    tx.side_effects.refuse_after_calls(tensors=True)
    pending = tx.side_effects.attribute(owner, "grad")
    if pending is not None:
        return pending.realize()
    if owner.source is not None:
        return tx.output.wrap_attribute(owner, AttrSource(owner.source, "grad"), "grad")
    if not owner.fake.is_leaf:
        unsupported("GB0008", "attribute 'grad' of a tensor made in the frame")
    return tx.constant(None)


def require_gradient(
    tx: Translator, owner: TensorVariable, args: Args, kwargs: Kwargs
) -> VariableTracker:
    """`owner.requires_grad_(...)`, of a tensor made in the frame."""
    if owner.source is not None:
        unsupported("GB0004", "Tensor.requires_grad_() of a tensor from outside of the frame")
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


def require_leaf(tx: Translator, tensor: TensorVariable) -> None:
    """A break unless nothing is known to the tape before `tensor`; a guard that it stays so."""
    if tensor.source is None:
        return
    real = tx.output.real_inputs()[tensor.node]
    if real.grad_fn is not None or real._base is not None:
        unsupported("GB0004", f"a gradient that {tensor.describe()} hands on outside of the frame")
    if real._autograd is not None:
        unsupported("GB0004", f"a gradient that hooks of {tensor.describe()} see")
    for attribute in ("grad_fn", "_base", "_extra"):
        tx.guards.equals(AttrSource(tensor.source, attribute), None)


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
