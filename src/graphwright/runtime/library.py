"""Ops of the user's own, after `torch.library`: one node of a graph, whatever they do inside.

    @gw.library.custom_op("mylib::sine", mutates_args=())
    def sine(x: gw.Tensor) -> gw.Tensor:
        return gw.from_numpy(np.sin(x.numpy()))

    sine.register_fake(lambda x: gw.empty_like(x))
    sine.register_autograd(lambda ctx, grad: grad * ctx.cosine, setup_context=...)

Compiled code calls the function as it is; the fake implementation tells it what comes out.
It is also `gw.ops.mylib.sine`.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from types import UnionType
from typing import Any, NoReturn

from graphwright.runtime import _core, control
from graphwright.runtime._core import TensorBase
from graphwright.runtime.autograd.function import Function, FunctionContext
from graphwright.runtime.device import device as Device
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.dtypes import dtype as DType
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.fake import FakeTensor
from graphwright.runtime.naming import missing
from graphwright.runtime.ops.spec import TensorSpec
from graphwright.runtime.ops.table import Op, unlisted
from graphwright.runtime.tensor import Tensor

__all__ = ["CustomOp", "custom_op", "ops", "register_autograd", "register_fake"]

_REGISTRY: dict[str, CustomOp] = {}
_PLAIN = (int, float, bool, str, complex, DType, Device)
FAMILY = "custom"


def _parts(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    return typing.get_origin(annotation), typing.get_args(annotation)


def _parameter_type(name: str, annotation: Any) -> str:
    """The schema's type of a parameter. Raises ValueError for annotations that have none."""
    if annotation is inspect.Parameter.empty:
        raise ValueError(f"custom_op: parameter {name} must have a type annotation")
    origin, inner = _parts(annotation)
    if origin in (typing.Union, UnionType):
        some = [one for one in inner if one is not type(None)]
        if len(some) == 1 and len(some) < len(inner):
            kind = _parameter_type(name, some[0])
            return "Tensor?" if kind == "Tensor" else kind
        if all(one in _PLAIN for one in some):
            return "object"
    if annotation is Tensor:
        return "Tensor"
    if origin in (list, Sequence) and inner == (Tensor,):
        return "Tensor[]"
    if annotation in _PLAIN or (origin in (list, Sequence) and inner[0] in _PLAIN):
        return "object"
    raise ValueError(f"custom_op: parameter {name} has unsupported type {annotation}")


def _result_count(annotation: Any) -> int | None:
    """How many tensors come out, as a tuple; -1 for one alone, None for a list of any number."""
    origin, inner = _parts(annotation)
    if annotation is inspect.Signature.empty:
        raise ValueError("custom_op: no return type annotation was provided")
    if annotation is Tensor:
        return -1
    if annotation is None or annotation is type(None):
        return 0
    if origin is tuple and inner and all(one is Tensor for one in inner):
        return len(inner)
    if origin in (list, Sequence) and inner == (Tensor,):
        return None
    raise ValueError(f"custom_op: unsupported return type {annotation}")


class CustomOp:
    """What `custom_op` makes of a function: called like it, by position or by name.

    Raises RuntimeError for arguments that do not fit its parameters, for results that are no
    tensors or share memory with an argument, and in backward where it has no gradient.
    """

    def __init__(
        self, name: str, function: Callable[..., Any], mutates_args: str | Iterable[str]
    ) -> None:
        if name.count("::") != 1 or not all(name.split("::")):
            raise ValueError(f"custom_op: expected a name 'namespace::name', got {name!r}")
        self.name = name
        self.__name__ = self.__qualname__ = name.partition("::")[2]
        self.__doc__ = function.__doc__
        self._function = function
        self._fake: Callable[..., Any] | None = None
        self._backward: Callable[..., Any] | None = None
        self._setup: Callable[..., Any] | None = None
        hints = typing.get_type_hints(function)
        signature = inspect.signature(function)
        self._signature = signature
        self._types = [
            _parameter_type(p.name, hints.get(p.name, p.annotation))
            for p in signature.parameters.values()
        ]
        self._count = _result_count(hints.get("return", signature.return_annotation))
        everything = tuple(signature.parameters)
        by_name = [p.kind is p.KEYWORD_ONLY for p in signature.parameters.values()]
        self._positional = len(everything) - sum(by_name)
        self.mutates = everything if mutates_args == "unknown" else tuple(mutates_args)
        unknown = [given for given in self.mutates if given not in everything]
        if unknown:
            raise ValueError(
                f"custom_op: {unknown} in mutates_args were not found in the signature {signature}"
            )
        listed = ", ".join(
            f"{kind} {given}" for kind, given in zip(self._types, everything, strict=True)
        )
        outputs = ["out"] if self._count == -1 else [f"out{i}" for i in range(self._count or 0)]
        saved = [g for g, kind in zip(everything, self._types, strict=True) if kind != "object"]
        self._op: Op = unlisted(
            f"{name}({listed})",
            meta=self._spec,
            vjp=self._gradient,
            saves=(*saved, *outputs),
            decompose=None,
            call=self,
            eager=self._run,
            family=FAMILY,
        )
        self._recorded: Any = type(
            self.__name__, (Function,), {"forward": self._forward, "backward": self._reverse}
        )

    @property
    def default(self) -> CustomOp:
        """The op itself, as the one overload that it has."""
        return self

    @property
    def in_graphs(self) -> bool:
        """Whether a call can be a node of a graph: its results' types are known beforehand."""
        return self._fake is not None and not self.mutates and self._count is not None

    def __repr__(self) -> str:
        return f"<CustomOp({self.name})>"

    # -- what is registered

    def register_fake(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Say what comes out: a function that makes empty tensors of the results' types."""
        self._fake = fn
        return fn

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Give the gradient: `backward(ctx, *grads)` has one for each parameter, or None.

        `setup_context(ctx, inputs, output)` keeps on `ctx` what it needs; where parameters
        are by name only, it has those as `keyword_only_inputs`, and they get no gradient.
        """
        self._backward, self._setup = backward, setup_context

    # -- calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values = self._bound(args, kwargs)
        if self.mutates or self._count in (None, 0):
            return self._write(values)
        tensors = [t for t in _leaves(values) if isinstance(t, TensorBase)]
        tracer = _core.tracer()
        fake = any(type(t) is FakeTensor for t in tensors)
        eager = getattr(tracer, "fused_kernels", tracer is None and not fake)
        if eager and _core.grad_enabled() and any(t.requires_grad for t in tensors):
            return self._recorded.apply(*values)
        return dispatch(self._op, values)

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise RuntimeError(f"{self.name}(): {error}") from None
        bound.apply_defaults()
        values = list(bound.arguments.values())
        for place, (kind, value) in enumerate(zip(self._types, values, strict=True)):
            if kind == "Tensor[]" and isinstance(value, list | tuple):
                values[place] = value = tuple(value)
            parts = value if kind == "Tensor[]" and isinstance(value, tuple) else (value,)
            absent = value is None and kind in ("Tensor?", "object")
            if kind != "object" and not absent and not all(
                isinstance(part, TensorBase) for part in parts
            ):
                raise RuntimeError(
                    f"{self.name}() expected a value of type '{kind}' for argument "
                    f"'{list(self._signature.parameters)[place]}' but instead found type "
                    f"'{type(value).__name__}'"
                )
        return tuple(values)

    def _call(self, function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        """A function of the same parameters, without gradients."""
        count = self._positional
        named = dict(zip(self._op.names[count:], values[count:], strict=True))
        return _core.with_grad_mode(False, function, *values[:count], **named)

    def _write(self, values: tuple[Any, ...]) -> Any:
        """A call that writes arguments, or gives a list: never a node."""
        out = self._call(self._function, values)
        for given, value in zip(self._signature.parameters, values, strict=True):
            for tensor in _leaves((value,)) if given in self.mutates else ():
                if isinstance(tensor, TensorBase):
                    _core.bump_version(tensor)
        return out

    def _run(self, *values: Any) -> Any:
        """The function itself, on real tensors."""
        out = self._call(self._function, values)
        outputs = (out,) if self._count == -1 else out
        if not isinstance(outputs, tuple) or not all(isinstance(t, TensorBase) for t in outputs):
            raise RuntimeError(f"{self.name}(): expected tensors to come out, got {out!r}")
        if self._count not in (-1, len(outputs)):
            raise RuntimeError(
                f"{self.name}(): expected {self._count} tensors, got {len(outputs)}"
            )
        memory = [t._storage for t in _leaves(values) if isinstance(t, TensorBase)]
        if any(t._storage is one for t in outputs for one in memory):
            raise RuntimeError(
                f"{self.name}(): the output of this custom operator must not also be an input or "
                "share its memory; clone() it"
            )
        return out

    def _spec(self, *values: Any) -> Any:
        """The results' types, from the fake implementation."""
        if self._fake is None:
            raise DataDependent(
                f"{self.name}: there was no fake implementation registered; see register_fake"
            )
        tracer = _core.set_tracer(None)
        try:
            out = self._call(self._fake, values)
        finally:
            _core.set_tracer(tracer)
        outputs = (out,) if self._count == -1 else tuple(out)
        specs = tuple(TensorSpec(t.shape, t.stride(), t.dtype, t.device) for t in outputs)
        return specs[0] if self._count == -1 else specs

    # -- gradients

    def _forward(self, ctx: FunctionContext, *values: Any) -> Any:
        out = dispatch(self._op, values)
        self._keep(ctx, values, out)
        return out

    def _keep(self, ctx: FunctionContext, inputs: tuple[Any, ...], out: Any) -> None:
        if self._setup is None:
            return
        count = self._positional
        named = dict(zip(self._op.names[count:], inputs[count:], strict=True))
        more = {"keyword_only_inputs": named} if named else {}
        self._setup(ctx=ctx, inputs=inputs[:count], output=out, **more)

    def _reverse(self, ctx: Any, *grads: Any) -> Any:
        if self._backward is None:
            raise RuntimeError(
                f"Trying to backward through {self.name} but no autograd formula was registered. "
                "Please use register_autograd to add one."
            )
        found = self._backward(ctx, *grads)
        results = tuple(found) if isinstance(found, tuple | list) else (found,)
        return results + (None,) * (len(self._op.names) - self._positional)

    def _gradient(self, saved: Any, *grads: Any) -> tuple[Any, ...]:
        """The op's gradient in a graph: what the context keeps is found again."""
        inputs = tuple(getattr(saved, name) for name in self._op.names)
        needs = [saved.needs.get(name, False) for name in self._op.names]
        count = self._count or 0
        out = saved.out if count == -1 else tuple(getattr(saved, f"out{i}") for i in range(count))
        context = _Kept()
        context.needs_input_grad = tuple(needs)
        self._keep(context, inputs, out)
        results = self._reverse(context, *grads)
        return tuple(results[slot] for slot, _ in self._op.tensor_slots)


class _Kept(FunctionContext):
    """A context that is asked in the graph in which it is made."""

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        return self._to_save


def _leaves(values: tuple[Any, ...]) -> list[Any]:
    """The values, and those in lists."""
    found: list[Any] = []
    for value in values:
        found += value if isinstance(value, list | tuple) else [value]
    return found


def _namespace(name: str) -> types.ModuleType:
    """`gw.ops.NAME`, which is empty until an op of that namespace is made."""
    if name.startswith("__"):
        raise missing("graphwright.ops", name)
    made = ops.__dict__[name] = types.ModuleType(f"graphwright.ops.{name}")
    made.__dict__["__getattr__"] = functools.partial(_no_op, made.__name__)
    if name == "higher_order":
        vars(made).update(cond=control.cond, while_loop=control.while_loop_with)
    return made


def _no_op(namespace: str, name: str) -> NoReturn:
    raise missing(namespace, name)


def _load_library(path: Any) -> NoReturn:
    """Raises OSError: libraries of operators for PyTorch need its C++ library."""
    raise OSError(f"ops.load_library: graphwright has no C++ library of PyTorch's, which {path} "
                  "needs. library.custom_op makes an op of a function in any library")


ops = types.ModuleType("graphwright.ops", "The user's own ops: `gw.ops.NAMESPACE.NAME`.")
ops.__dict__.update(__getattr__=_namespace, load_library=_load_library)


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: Any = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make an op of a function, or decorate it.

    `name` is "namespace::name". Annotations say what goes in (tensors, tensors or None, lists of
    tensors, numbers, bools, strings, dtypes, devices) and out (a tensor, a tuple or list of them,
    None); ValueError for others. `mutates_args` names the arguments that are written, or is
    "unknown". An op that writes, or gives a list, ends a graph. `device_types`, `schema` and
    `tags` change nothing. The op is found as `gw.ops.namespace.name`, too.
    """
    def define(function: Callable[..., Any]) -> CustomOp:
        made = _REGISTRY[name] = CustomOp(name, function, mutates_args)
        if name in _EARLY_FAKES:
            made.register_fake(_EARLY_FAKES.pop(name))
        setattr(getattr(ops, name.partition("::")[0]), made.__name__, made)
        return made

    return define if fn is None else define(fn)


_EARLY_FAKES: dict[str, Callable[..., Any]] = {}


def _found(op: str | CustomOp) -> CustomOp:
    if isinstance(op, CustomOp):
        return op
    if op not in _REGISTRY:
        raise RuntimeError(f"there is no custom op '{op}'")
    return _REGISTRY[op]


def register_fake(op: str | CustomOp, func: Callable[..., Any] | None = None, /) -> Any:
    """`CustomOp.register_fake` of the op of that name, which may be made later; a decorator too.
    """
    if func is None:
        return functools.partial(register_fake, op)
    if isinstance(op, str) and op not in _REGISTRY:
        _EARLY_FAKES[op] = func
        return func
    return _found(op).register_fake(func)


def register_autograd(
    op: str | CustomOp,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
) -> None:
    """`CustomOp.register_autograd` of the op of that name."""
    _found(op).register_autograd(backward, setup_context=setup_context)
