"""`CustomOp`: an op of the user's own, with its kernels, shape rule and gradient."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from graphwright.amp.autocast import is_autocast_enabled
from graphwright.library.declaration import Argument, FunctionSchema
from graphwright.library.keys import AUTOGRAD, BELOW, KERNELS, device_keys
from graphwright.runtime import _core
from graphwright.runtime._core import TensorBase
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.errors import DataDependent
from graphwright.runtime.fake.fake_tensor import FakeTensor, WithoutData
from graphwright.runtime.ops.table import Op, unlisted
from graphwright.runtime.ops.tensor_spec import TensorSpec
from graphwright.runtime.tape.function import Function, FunctionContext

__all__ = ["CustomOp"]

FAMILY = "custom"


def _result_count(returns: tuple[str, ...]) -> int | None:
    """How many tensors come out, as a tuple; -1 for one alone, None where others come out."""
    if any([one != "Tensor" for one in returns]):
        return None
    return -1 if len(returns) == 1 else len(returns)


def _rank(argument: Argument) -> str:
    """The type in the op's own schema."""
    return argument.type if argument.type in ("Tensor", "Tensor?", "Tensor[]") else "object"


class CustomOp:
    """An op with the declaration `schema`: called by position or by name.

    `kernels` are functions by dispatch key, which may be registered later. `isolated`: gradients
    come of the formula alone, and no result may share memory with an argument; otherwise, without
    a formula, what a kernel does is recorded for gradients where it is called.

    Raises RuntimeError for arguments that do not fit the declaration, for results that do not, and
    in backward where an isolated op has no formula; NotImplementedError without a kernel.
    """

    def __init__(
        self, schema: FunctionSchema, kernels: dict[str, Callable[..., Any]],
        isolated: bool = False, doc: str | None = None,
    ) -> None:
        self._schema = schema
        self.kernels = kernels
        self.isolated = isolated
        self.__name__ = self.__qualname__ = schema.name.partition("::")[2]
        self.__doc__ = doc
        self._backward: Callable[..., Any] | None = None
        self._setup: Callable[..., Any] | None = None
        self._count = _result_count(schema.returns)
        self._types = [_rank(argument) for argument in schema.arguments]
        names = [argument.name for argument in schema.arguments]
        self._positional = sum([not argument.kwarg_only for argument in schema.arguments])
        listed = ", ".join(
            f"{kind} {given}" for kind, given in zip(self._types, names, strict=True)
        )
        outputs = ["out"] if self._count == -1 else [f"out{i}" for i in range(self._count or 0)]
        saved = [g for g, kind in zip(names, self._types, strict=True) if kind != "object"]
        self._op: Op = unlisted(
            f"{schema.name}({listed})",
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

    def name(self) -> str:
        """"namespace::name", with ".overload" where it has one."""
        overload = self._schema.overload_name
        return self._schema.name + (f".{overload}" if overload else "")

    @property
    def namespace(self) -> str:
        """The namespace."""
        return self._schema.name.partition("::")[0]

    @property
    def default(self) -> CustomOp:
        """The op itself, as the one overload that it has."""
        return self

    def overloads(self) -> list[str]:
        """The names of its overloads: the one."""
        return [self._schema.overload_name or "default"]

    @property
    def in_graphs(self) -> bool:
        """Whether a call can be a node of a graph: its results' types are known beforehand."""
        known = self._shapes is not None or self._is_implicit
        mutable = self._schema.is_mutable or self._count in (None, 0)
        modes = any([key in self.kernels for key in (*AUTOGRAD, "AutocastCPU")])
        return known and not mutable and not modes

    @property
    def _shapes(self) -> Callable[..., Any] | None:
        """What computes the results' types, on tensors without data."""
        explicit = None if self.isolated else self.kernels.get("CompositeExplicitAutograd")
        return self.kernels.get("Meta", explicit)

    @property
    def _is_implicit(self) -> bool:
        """Whether its one kernel is written in ops that have shapes and gradients themselves."""
        known = set(self.kernels).intersection((*KERNELS, "Meta"))
        return known == {"CompositeImplicitAutograd"}

    def __repr__(self) -> str:
        return f"<CustomOp({self.name()})>"

    # -- what is registered

    def register_fake(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Say what comes out: a function that makes empty tensors of the results' types."""
        self.kernels["Meta"] = fn
        return fn

    def register_kernel(
        self, device_types: Any, fn: Callable[..., Any] | None = None, /
    ) -> Callable[..., Any]:
        """Say what computes it on tensors of some devices ("cpu", a list of them, None for all).

        A decorator, too. Kernels of devices that do not exist are never called. RuntimeError for
        what is no type of a device.
        """
        if fn is None:
            return functools.partial(self.register_kernel, device_types)
        for key in device_keys(device_types):
            self.kernels[key] = fn
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
        tensors = [t for t in _leaves(values) if isinstance(t, TensorBase)]
        recorded = _core.grad_enabled() and any([t.requires_grad for t in tensors])
        kernel = self._of_mode(tensors)
        if kernel is not None:
            return self._checked(self._called(kernel, values))
        formula = self.isolated or self._backward is not None
        tracer = _core.tracer()
        fake = any([type(t) is FakeTensor for t in tensors])
        eager = getattr(tracer, "fused_kernels", tracer is None and not fake)
        if not formula and (self._is_implicit or eager):
            return self._checked(self._called(self._kernel(tensors), values))
        if self._schema.is_mutable or self._count in (None, 0):
            return self._write(values, self._kernel(tensors))
        if eager and recorded:
            return self._recorded.apply(*values)
        if recorded and not formula:
            raise DataDependent(
                f"{self.name()}: what its kernel does is recorded for gradients, as no autograd "
                "formula is registered; see register_autograd"
            )
        return dispatch(self._op, values)

    def _of_mode(self, tensors: list[Any]) -> Callable[..., Any] | None:
        """The kernel for autograd or autocast, where there is one and that is on."""
        if "AutocastCPU" in self.kernels and is_autocast_enabled("cpu"):
            return self.kernels["AutocastCPU"]
        if tensors and not BELOW.autograd:
            return next((self.kernels[key] for key in AUTOGRAD if key in self.kernels), None)
        return None

    def _kernel(self, tensors: list[Any]) -> Callable[..., Any]:
        """What computes it on such tensors. Raises NotImplementedError where nothing does."""
        backend = "Meta" if any([t.device.type == "meta" for t in tensors]) else "CPU"
        found = [self.kernels[key] for key in KERNELS if key in self.kernels]
        if backend == "Meta":
            found = [found[-1]] if self._is_implicit else [self._shapes] if self._shapes else []
        if not found:
            raise NotImplementedError(
                f"Could not run '{self.name()}' with arguments from the '{backend}' backend: "
                f"kernels are registered for {', '.join(sorted(self.kernels)) or 'nothing'}"
            )
        return found[0]

    def accepts(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether the arguments fit the declaration."""
        try:
            self._bound(args, kwargs)
        except RuntimeError:
            return False
        return True

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments in the declaration's order, as kernels get them."""
        arguments = self._schema.arguments
        if len(args) > self._positional:
            raise RuntimeError(
                f"{self.name()}() expected at most {self._positional} argument(s) but received "
                f"{len(args)} argument(s). Declaration: {self._schema}"
            )
        values = []
        for place, argument in enumerate(arguments):
            if place < len(args):
                value = args[place]
            elif argument.name in kwargs:
                value = kwargs[argument.name]
            elif argument.has_default_value():
                values.append(argument.default_value)
                continue
            else:
                raise RuntimeError(
                    f"{self.name()}() is missing value for argument '{argument.name}'. "
                    f"Declaration: {self._schema}"
                )
            try:
                value = argument.accepted(value)
            except TypeError:
                raise RuntimeError(
                    f"{self.name()}() Expected a value of type '{argument.type}' for argument "
                    f"'{argument.name}' but instead found type '{type(value).__name__}'. "
                    f"Position: {place}. Declaration: {self._schema}"
                ) from None
            values.append(tuple(value) if self._types[place] == "Tensor[]" else value)
        unknown = set(kwargs) - {argument.name for argument in arguments[len(args) :]}
        if unknown:
            raise RuntimeError(
                f"Unknown keyword argument '{sorted(unknown)[0]}' for operator '{self.name()}'. "
                f"Schema: {self._schema}"
            )
        return tuple(values)

    def _called(self, function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        """A function of the same parameters."""
        count = self._positional
        named = dict(zip(self._op.names[count:], values[count:], strict=True))
        return function(*values[:count], **named)

    def _write(self, values: tuple[Any, ...], kernel: Callable[..., Any]) -> Any:
        """A call that writes arguments, or whose results are not known: never a node."""
        out = self._checked(_core.with_grad_mode(False, self._called, kernel, values))
        for argument, value in zip(self._schema.arguments, values, strict=True):
            for tensor in _leaves((value,)) if argument.is_write else ():
                if isinstance(tensor, TensorBase):
                    _core.bump_version(tensor)
        return out

    def _checked(self, out: Any) -> Any:
        """The results. Raises RuntimeError where tensors do not come out as declared."""
        returns = self._schema.returns
        outputs = (out,) if len(returns) == 1 else () if out is None else out
        if isinstance(outputs, list):
            outputs = out = tuple(outputs)
        fits = isinstance(outputs, tuple) and len(outputs) == len(returns)
        if not fits or not all(
            [isinstance(t, TensorBase) for t, kind in zip(outputs, returns, strict=True)
             if kind == "Tensor"]
        ):
            raise RuntimeError(
                f"{self.name()}(): expected {', '.join(returns) or 'None'} to come out, got "
                f"{out!r}"
            )
        return out

    def _run(self, *values: Any) -> Any:
        """The kernel, on real tensors."""
        tensors = [t for t in _leaves(values) if isinstance(t, TensorBase)]
        kernel = self._kernel(tensors)
        out = self._checked(_core.with_grad_mode(False, self._called, kernel, values))
        outputs = (out,) if self._count == -1 else out
        memory = [t._storage for t in tensors]
        if any(t._storage is one for t in outputs for one in memory):
            raise RuntimeError(
                f"{self.name()}(): the output of this custom operator must not also be an input "
                "or share its memory; clone() it"
            )
        return out

    def _spec(self, *values: Any) -> Any:
        """The results' types, from the fake implementation."""
        shapes = self._shapes
        if shapes is None:
            raise DataDependent(
                f"{self.name()}: there was no fake implementation registered; see register_fake"
            )
        tracer = _core.set_tracer(WithoutData())
        try:
            out = self._checked(_core.with_grad_mode(False, self._called, shapes, values))
        finally:
            _core.set_tracer(tracer)
        outputs = (out,) if self._count == -1 else out
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
                f"Trying to backward through {self.name()} but no autograd formula was "
                "registered. Please use register_autograd to add one."
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
