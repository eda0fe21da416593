"""`Tracer` and `symbolic_trace`: a program is run once on proxies, which record a graph."""

from __future__ import annotations

import functools
import inspect
import math
import sys
import warnings
from collections.abc import Callable, Mapping
from types import FunctionType, MethodType, ModuleType
from typing import Any, TypeVar

from graphwright.fx.interception import LOCK, Interception, library_doors, twin
from graphwright.fx.proxy import ParameterProxy, Proxy, Scope, TracerBase, tracer_of
from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node, has_side_effect
from graphwright.ir.graph.signature import Signature
from graphwright.nn.module import Module
from graphwright.nn.parameter import Parameter
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.runtime.torch_check import _assert
from graphwright.utils import CAPTURE
from graphwright.utils._pytree import TreeSpec, tree_flatten, tree_map, tree_unflatten

__all__ = ["PH", "PHBase", "PHWithMeta", "ProxyableClassMeta", "Tracer", "is_fx_symbolic_tracing",
           "is_fx_tracing", "symbolic_trace", "wrap"]

F = TypeVar("F", bound=Callable[..., Any] | str)

_module_call = twin(Module.__call__)
_module_getattr = twin(Module.__getattr__)
_wrapped: dict[tuple[int, str], dict[str, Any]] = {}
_proxyable: set[type] = set()
_depth = 0


def is_fx_tracing() -> bool:
    """Whether a program is being traced symbolically."""
    return _depth > 0


is_fx_symbolic_tracing = is_fx_tracing


class PHBase:
    """Stands in `concrete_args` for a value that is not known."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


class PHWithMeta(PHBase):
    """A `PH` whose attributes the placeholder's node gets, too."""

    def __init__(self, ph_key: str | None = None) -> None:
        self.ph_key = ph_key


class ProxyableClassMeta(type):
    """A class of this metaclass is a node where it is made from proxies."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        _proxyable.add(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        tracer = tracer_of(cls, args, kwargs) if is_fx_tracing() else None
        if tracer is not None:
            return tracer.create_proxy("call_function", cls, args, kwargs)
        return super().__call__(*args, **kwargs)


class Tracer(TracerBase):
    """Records a graph of what a function or module does.

    Override its methods to change what becomes a node. Layers of the library are calls of
    submodules, other modules are looked into: see `is_leaf_module`.

    Args:
        autowrap_modules: modules whose functions are recorded where they are given proxies.
        autowrap_functions: further such functions.
        param_shapes_constant: read the shapes of parameters while tracing.

    Attributes:
        root: the module that is traced; for a function one that holds its constants.
    """

    root: Module
    tensor_attrs: dict[Any, str]

    def __init__(
        self, autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        super().__init__()
        found = [value for module in autowrap_modules for name, value in vars(module).items()
                 if callable(value) and not name.startswith("_")]
        self._autowrapped = {id(value): value for value in (*found, *autowrap_functions)}
        self._autowrap_modules = autowrap_modules
        self.param_shapes_constant = param_shapes_constant
        self.root_module_name = ""
        self._paths: dict[int, str] | None = None
        self._parameters: dict[int, str] = {}
        self._buffers: dict[int, str] = {}
        self._counts: dict[str, int] = {}

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether calls of a module are nodes: those of the library's layers but Sequential."""
        inside = m.__module__.startswith("graphwright.nn.")
        return inside and type(m).__name__ != "Sequential"

    def path_of_module(self, mod: Module) -> str:
        """Where a module is below the root. Raises: NameError if it is not there."""
        paths = self._paths
        if paths is None:
            paths = {id(module): path for path, module in self.root.named_modules()}
        try:
            return paths[id(mod)]
        except KeyError:
            raise NameError(
                f"{type(mod).__name__} is called but is no submodule of the traced module; "
                "assign it to an attribute in __init__") from None

    def call_module(
        self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """What a call of a submodule is: a node, or what `forward(*args, **kwargs)` gives."""
        path = self.path_of_module(m)
        if self.is_leaf_module(m, path):
            self.module_stack[path] = (path, type(m))
            try:
                return self.create_proxy("call_module", path, args, kwargs)
            finally:
                del self.module_stack[path]
        outer, self.scope = self.scope, Scope(path, type(m))
        key = path if path not in self.module_stack else f"{path}@{len(self.module_stack)}"
        self.module_stack[key] = (path, type(m))
        try:
            return forward(*args, **kwargs)
        finally:
            self.scope = outer
            del self.module_stack[key]

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """What reading an attribute of a module is: of a parameter its node, else the value."""
        path = None
        if isinstance(attr_val, Parameter):
            path = self._parameters.get(id(attr_val))
        elif self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            path = self._buffers.get(id(attr_val))
        if path is None:
            return attr_val
        if path not in parameter_proxy_cache:
            make = None
            if self.param_shapes_constant and isinstance(attr_val, Parameter):
                def make(node: Node) -> Proxy:
                    return ParameterProxy(self, node, path, attr_val)
            parameter_proxy_cache[path] = self.create_proxy(
                "get_attr", path, (), {}, proxy_factory_fn=make)
        return parameter_proxy_cache[path]

    def create_arg(self, a: Any) -> Any:
        """A value as an argument of a node: tensors and modules by their paths below the root.

        Raises: NameError for a parameter that is not below the root, NotImplementedError for a
            value of a type that graphs do not hold.
        """
        if isinstance(a, Parameter):
            path = self._parameters.get(id(a))
            if path is None:
                raise NameError("a parameter is used that the traced module does not have")
            return self.create_node("get_attr", path, (), {})
        if isinstance(a, Module):
            return self.create_node("get_attr", self.path_of_module(a), (), {})
        if isinstance(a, Tensor):
            return self.create_node("get_attr", self._path_of_tensor(a), (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            items = tuple([self.create_arg(item) for item in a])
            return self.create_node("call_function", type(a), items, {})
        if type(a) in _proxyable:
            path = self.get_fresh_qualname(f"_{type(a).__name__}_constant_")
            setattr(self.root, path, a)
            return self.create_node("get_attr", path, (), {})
        return super().create_arg(a)

    def _path_of_tensor(self, tensor: Tensor) -> str:
        path = self._buffers.get(id(tensor)) or self.tensor_attrs.get(tensor)
        if path is None:
            path = self.tensor_attrs[tensor] = self.get_fresh_qualname("_tensor_constant")
            setattr(self.root, path, tensor)
        return path

    def get_fresh_qualname(self, prefix: str) -> str:
        """`prefix` with the first number that makes it no attribute of the root."""
        number = self._counts.get(prefix, 0)
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        self._counts[prefix] = number
        return f"{prefix}{number}"

    def trace(
        self, root: Module | Callable[..., Any], concrete_args: Any = None
    ) -> Graph:
        """The graph of a module's call, or of a function.

        Args:
            concrete_args: values for arguments, by name, that are not to be traced; containers
                with `PH` in them say how an argument is nested.

        Raises: TraceError where the program needs a value that is not known.
        """
        graph: Graph = CAPTURE.run_eagerly(self._trace, root, concrete_args)
        return graph

    def _trace(self, root: Module | Callable[..., Any], concrete_args: Any) -> Graph:
        global _depth
        with LOCK, Interception() as doors:
            _depth += 1
            try:
                function = self._take_root(root)
                self.graph = Graph(tracer_cls=type(self))
                names = function.__globals__
                annotations = getattr(inspect.unwrap(function), "__annotations__", {})
                doors.exchange(library_doors())
                run, args = self.create_args_for_root(
                    function, isinstance(root, Module), concrete_args)
                self._enter(doors, names)
                result = self.create_arg(run(*args))
                self.create_node("output", "output", (result,), {}, "output",
                                 annotations.get("return"))
            finally:
                _depth -= 1
                self._paths = None
        return self.graph

    def _take_root(self, root: Module | Callable[..., Any]) -> FunctionType:
        """Set `root` and what is looked up in it. Returns: the function to run.

        Raises: TypeError for what is neither a module nor a Python function.
        """
        if isinstance(root, Module):
            self.root = root
            self.root_module_name = root._get_name()
            function: Any = getattr(type(root), self.traced_func_name)
            if isinstance(function, property):
                bound: Any = getattr(root, self.traced_func_name)
                function = bound.__func__ if isinstance(bound, MethodType) else bound
            self._paths = {id(module): path for path, module in root.named_modules()}
        else:
            self.root, function = Module(), root
        if not isinstance(function, FunctionType):
            raise TypeError(f"only Python functions and modules can be traced, not {function!r}")
        self._parameters = {id(value): path for path, value in self.root.named_parameters()}
        self._buffers = {id(value): path for path, value in self.root.named_buffers()}
        self.tensor_attrs = {
            value: f"{path}.{name}" if path else name
            for path, module in self.root.named_modules() for name, value in vars(module).items()
            if isinstance(value, Tensor)}
        return function

    def _enter(self, doors: Interception, names: dict[str, Any]) -> None:
        """Follow calls and attributes of modules, and functions that programs say are leaves."""
        cache: dict[str, Any] = {}

        def read(module: Module, name: str) -> Any:
            return self.getattr(name, _module_getattr(module, name), cache)

        def call(module: Module, *args: Any, **kwargs: Any) -> Any:
            forward = getattr(module, "forward", None)
            doors.replace_all(getattr(forward, "__globals__", {}), self._autowrapped)
            return self.call_module(module, functools.partial(_module_call, module), args, kwargs)

        doors.handle(Module.__getattr__, read)  # type: ignore[arg-type]
        for function in self._calls():
            doors.handle(function, call)
        for (_, name), space in list(_wrapped.items()):
            doors.replace(space, name)
        for space in (names, *map(vars, self._autowrap_modules)):
            doors.replace_all(space, self._autowrapped)

    def _calls(self) -> list[FunctionType]:
        """`Module.__call__`, and the copies of it in classes whose calls are compiled."""
        found = [Module.__call__]
        for kind in {type(module) for module in self.root.modules()}:
            function = getattr(kind.__call__, "__wrapped__", None)
            if getattr(function, "__code__", None) == _module_call.__code__:
                found.append(function)  # type: ignore[arg-type]
        return found  # type: ignore[return-value]

    def create_args_for_root(
        self, root_fn: FunctionType, is_module: bool, concrete_args: Any = None
    ) -> tuple[Callable[..., Any], list[Any]]:
        """Add the placeholders. Returns: a function to run, and the proxies to run it on."""
        function = inspect.unwrap(root_fn)
        code = function.__code__
        first = 1 if is_module else 0
        count = code.co_argcount + code.co_kwonlyargcount
        if count < first:
            raise RuntimeError("a module whose forward takes itself by *args cannot be traced")
        names = list(code.co_varnames[first:count])
        starred = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
        given = [self.root] if is_module else []
        if isinstance(concrete_args, tuple):
            if starred and not names:
                return root_fn, [*given, *[self._of_place(f"input_{number}", value, (), None)
                                           for number, value in enumerate(concrete_args)]]
            if len(names) != len(concrete_args):
                raise RuntimeError(f"the function takes {len(names)} arguments, concrete_args has "
                                   f"{len(concrete_args)}")
            concrete_args = dict(zip(names, concrete_args, strict=True))
        signature = inspect.signature(function)
        args = [self._placeholder(name, signature, concrete_args or {}, function)
                for name in names]
        if starred or code.co_kwonlyargcount:
            rest = list(code.co_varnames[count:])
            if code.co_flags & inspect.CO_VARARGS:
                args.append(self.create_proxy("placeholder", f"*{rest.pop(0)}", (), {}))
            if code.co_flags & inspect.CO_VARKEYWORDS:
                args.append(self.create_proxy("placeholder", f"**{rest.pop(0)}", (), {}))
            root_fn = _positional(root_fn, first + len(args))
        leaves, structure = tree_flatten(tuple(args))
        if all(child.is_leaf() for child in structure.children_specs):
            return root_fn, [*given, *args]
        return self._flat(root_fn, given, tuple(names), structure), leaves

    def _flat(
        self, function: Callable[..., Any], given: list[Any], names: tuple[str, ...],
        structure: TreeSpec,
    ) -> Callable[..., Any]:
        """`function` of the leaves of its arguments, returning the leaves of its result."""

        def run(*leaves: Any) -> Any:
            found = function(*given, *tree_unflatten(leaves, structure))
            results, spec = tree_flatten(found)
            self.graph.signature = Signature(names, structure, spec)
            return results

        return run

    def _placeholder(
        self, name: str, signature: inspect.Signature, concrete_args: Mapping[str, Any],
        function: FunctionType,
    ) -> Any:
        default = signature.parameters[name].default
        args = () if default is inspect.Parameter.empty else (default,)
        kind = function.__annotations__.get(name)
        if name not in concrete_args:
            return self.create_proxy("placeholder", name, args, {}, type_expr=kind)
        number = 0

        def leaf(value: Any) -> Any:
            nonlocal number
            number += 1
            return self._of_place(f"{name}_{number}", value, args, name)

        return tree_map(leaf, concrete_args[name])

    def _of_place(
        self, name: str, value: Any, default: tuple[Any, ...], argument: str | None
    ) -> Any:
        """A placeholder for a part of an argument: its proxy for `PH`, else the value, which
        calls of the graph then have to give again."""
        proxy = self.create_proxy("placeholder", name, default, {})
        if isinstance(value, PHBase):
            for key, about in vars(value).items():
                setattr(proxy.node, key, about)
            return proxy
        if argument is None:
            return proxy
        expected = f"{argument} was {value!r} when the graph was traced, and is now another value"
        if value is None:
            self.create_proxy("call_function", _assert_is_none, (proxy, expected), {})
        elif isinstance(value, bool | int | float | complex | str):
            self.create_proxy("call_function", _assert, (proxy == value, expected), {})
        else:
            warnings.warn(
                f"the graph assumes the {type(value).__name__} that concrete_args gives for "
                f"{argument}; calls with another one are not noticed", stacklevel=2)
        return value


def _positional(function: FunctionType, count: int) -> FunctionType:
    """The function with all of its parameters positional, `*args` and `**kwargs` as one each."""
    flags = function.__code__.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    code = function.__code__.replace(
        co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=flags)
    return FunctionType(code, function.__globals__, function.__name__, None, function.__closure__)


def wrap(fn_or_name: F) -> F:
    """Record calls of a function of the calling module, in place of what the function does.

    A decorator, or a call at the top level of a module with a function or its name there, such as
    `wrap("len")`.

    Raises: RuntimeError for what is neither, NotImplementedError elsewhere than at top level.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(f"wrap takes a function or the name of one, not {fn_or_name!r}")
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    _wrapped[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name


def symbolic_trace(
    root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None
) -> GraphModule:
    """The graph of a module's call, or of a function, as a module.

    The program runs once on proxies; see `Tracer.trace` for the arguments and errors. Submodules
    of the library become calls, all else is looked into.

    Example::

        traced = symbolic_trace(lambda x: gw.relu(x) + 1)
        traced.code     # def forward(self, x): ...
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else getattr(
        root, "__name__", "GraphModule")
    return GraphModule(tracer.root, graph, name)


@has_side_effect
@wrap
def _assert_is_none(value: Any, message: str) -> None:
    """Raises: AssertionError unless the value is None."""
    assert value is None, message
