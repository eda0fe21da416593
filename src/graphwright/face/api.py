"""`compile` and `explain`: the front door."""

from __future__ import annotations

import contextlib
import copy
import functools
import types
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

from graphwright.capture._eval_frame import CompiledFunction, run_unhooked
from graphwright.capture.frame.code_owner import is_library
from graphwright.capture.frame.diagnostics import place
from graphwright.capture.frame.frontend import Frontend
from graphwright.capture.frame.python_support import hook_problem
from graphwright.capture.frame.record import CaptureRecord, Location
from graphwright.capture.frame.stance import set_stance
from graphwright.capture.guards.text import class_module
from graphwright.face import logs, native_backends, notices
from graphwright.face.explain import Explanation
from graphwright.ir.graph.module import GraphModule
from graphwright.nn import Module
from graphwright.utils import CAPTURE

F = TypeVar("F", bound=Callable[..., Any])
BackendLike = str | Callable[[GraphModule, Sequence[Any]], Callable[..., Any]]
OPTIONS: dict[str, Any] = {
    "recompile_limit": 8, "strict": False, "blas": True, "packed_weights": "auto",
    "activation_memory_budget": 1.0, "max_autotune": False}
"""The keys of `options`, and their defaults."""
OF_BACKENDS = ("strict", "blas", "packed_weights", "activation_memory_budget", "max_autotune")
"""Those that named backends take."""
MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
AUTOTUNING = ("max-autotune-no-cudagraphs", "max-autotune")
"""The modes that set the option "max_autotune"."""
ALIASES = {"inductor": "auto", "aot_eager": "eager"}
"""PyTorch's names of backends, by what they are here."""


def _run_eagerly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    with set_stance("force_eager"):
        return run_unhooked(function, *args, **kwargs)


CAPTURE.run_outside, CAPTURE.run_eagerly = run_unhooked, _run_eagerly


class Compilation:
    """One use of `compile`: the front end, its record, and the functions it made.

    A callable that `compile` returned leads to its `Compilation` through `compilation_of`.
    """

    def __init__(
        self, backend: BackendLike, fullgraph: bool, dynamic: bool | None,
        settings: dict[str, Any] | None = None,
    ) -> None:
        self.backend = backend
        self.fullgraph = fullgraph
        self.dynamic = dynamic
        self.settings = checked_options(settings or {})
        self.record = CaptureRecord(watch=notices.watch)
        if not logs.attach(self.record):
            notices.attach(self.record, self.name)
        run = lookup(backend, self.settings)
        self.frontend = Frontend(run, fullgraph=fullgraph, dynamic=dynamic,
                                 record=self.record, limit=self.settings["recompile_limit"])
        self.functions: list[CompiledFunction] = []
        self.label = ""
        _ALIVE.add(self)

    def name(self) -> str:
        """The name of the function, or the class of the module, that was compiled."""
        return self.label or (self.functions[0].__qualname__ if self.functions else "")

    def compile(self, function: types.FunctionType) -> CompiledFunction:
        """The dispatcher for a plain Python function."""
        compiled = self.frontend.compile(function)
        compiled.__dict__["__gw_compilation__"] = self
        self.functions.append(compiled)
        return compiled

    def reset(self) -> None:
        """Forget what was compiled and recorded."""
        for function in self.functions:
            function.reset()

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments that make the same compilation again."""
        return {"backend": self.backend, "fullgraph": self.fullgraph, "dynamic": self.dynamic,
                "options": self.settings}


_ALIVE: weakref.WeakSet[Compilation] = weakref.WeakSet()


def compilations() -> list[Compilation]:
    """Those that exist now. Other threads may make more meanwhile, which disturbs who iterates;
    a lock would be one that finalizers, which may come at any time, must not ask for."""
    while True:
        with contextlib.suppress(RuntimeError):
            return list(_ALIVE)


def lookup(
    backend: BackendLike, settings: Mapping[str, Any] = OPTIONS
) -> native_backends.Backend:
    """The backend that a name or a callable means, with these `settings`.

    Raises:
        ValueError: a name that is not among `native_backends.BACKENDS` and `ALIASES`, or a
            callable with an option that is for named ones.
        TypeError: neither a name nor a callable.
    """
    changed = {name: settings[name] for name in OF_BACKENDS if settings[name] != OPTIONS[name]}
    if isinstance(backend, str):
        found = native_backends.BACKENDS.get(ALIASES.get(backend, backend))
        if found is None:
            known = sorted((*native_backends.BACKENDS, *ALIASES))
            raise ValueError(f"unknown backend '{backend}'; there are {', '.join(known)}, or give "
                             "a callable")
        return functools.partial(found, **changed) if changed else found
    if not callable(backend):
        raise TypeError(f"backend must be a name or a callable, not {type(backend).__name__}")
    if changed:
        raise ValueError(f'the option "{next(iter(changed))}" needs a named backend, not a '
                         'callable')
    return backend


@overload
def compile(model: F, *, fullgraph: bool = ..., dynamic: bool | None = ...,
            backend: BackendLike = ..., mode: str | None = ...,
            options: dict[str, Any] | None = ..., disable: bool = ...) -> F: ...


@overload
def compile(model: None = None, *, fullgraph: bool = ..., dynamic: bool | None = ...,
            backend: BackendLike = ..., mode: str | None = ...,
            options: dict[str, Any] | None = ..., disable: bool = ...) -> Callable[[F], F]: ...


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: BackendLike = "auto",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """Compile a function, method, callable object, `nn.Module` or class; also a decorator.

    Nothing happens until the first call. Each call checks guards on all that the compiled code
    relies on; where one fails, the function is captured again for what it now sees. A function
    that works on no tensors is left to Python; docs/graph_breaks.md says when it is captured
    after all.

    Args:
        model: what to compile. None: return a decorator with the options given.
        fullgraph: raise an error where the graph would break, instead of running that part as
            plain Python.
        dynamic: None: a size is static at first and symbolic once it has changed; True: symbolic
            from the start; False: always static.
        backend: "auto", "llvm", "c", "eager", or a callable
            `(GraphModule, example_inputs) -> callable`, the example inputs being fake tensors.
            Of PyTorch's names, "inductor" is "auto" and "aot_eager" is "eager".
        mode: one of `MODES`, PyTorch's names. The two of "max-autotune" set the option
            "max_autotune"; the others have no effect: each compiles the same code.
        options: "recompile_limit": how many versions one code object may have, 8 by default;
            what needs more runs as plain Python, after one warning. "strict": whether to round
            as eager execution does, False by default: half types after every operation, not only
            where they are stored. `+ - * /`, sqrt, comparisons and casts of floats are then
            bit-equal to eager ones (docs/numerics.md). "blas": False takes matrix products and
            convolutions from the kernels that packages have, for the same bits (docs/package.md).
            "packed_weights": where nothing is differentiated, parameters are kept a second time in
            the form that products read fastest: "auto" within the limit of the process, a number
            of bytes in as many, False not at all (docs/performance.md).
            "activation_memory_budget": how much memory the values that are saved for gradients
            may take, from 0.0 to 1.0, as a part of what eager execution saves; 1.0 by default.
            Below, more is recomputed in the backward; 0.0 saves as little as possible.
            "max_autotune": whether to measure, when a graph is compiled, which kernels make each
            matrix product of known sizes fastest: a library's, own ones, or own ones on packed
            parameters. What was measured is kept on disk. False by default.
        disable: return `model` as it is.

    Returns:
        A callable with the same signature. A module gives a module of the same class that shares
        parameters, buffers and state_dict keys with the original. A class is changed and
        returned: calls of its instances are compiled. Another object is called by the `__call__`
        that its class has now.

    Raises:
        TypeError: `model` is not callable, or a class with no `__call__` in Python, or `options`
            are no mapping.
        ValueError: an unknown backend, mode or option, or one with a value that it cannot have.

    Example:
        >>> gw.compile(lambda x: x.sin() + 1, backend="eager")(gw.tensor([0.0]))
        tensor([1.])
    """
    if mode is not None and mode not in MODES:
        raise ValueError(f"unknown mode '{mode}'; there are {', '.join(MODES)}")
    settings = checked_options(options or {})
    settings["max_autotune"] |= mode in AUTOTUNING
    if disable:
        return model if model is not None else lambda function: function
    if model is None:
        return functools.partial(compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend,
                                 mode=mode, options=options)
    lookup(backend, settings)
    if hook_problem() is not None:
        native_backends.warn_once(f"graphwright: everything runs eagerly: {hook_problem()}")
        return model
    return compile_callable(model, Compilation(backend, fullgraph, dynamic, settings))


def checked_options(options: dict[str, Any]) -> dict[str, Any]:
    """All of `OPTIONS`, with the values given.

    Raises:
        ValueError: another key, or a value that an option cannot have.
    """
    if not isinstance(options, Mapping):
        raise TypeError(
            f"compile(): argument 'options' must be dict, not {type(options).__name__}"
        )
    unknown = [key for key in options if key not in OPTIONS]
    if unknown:
        raise ValueError(
            f"compile(): unknown options {', '.join(map(repr, unknown))}; valid keys are "
            f"{', '.join(map(repr, OPTIONS))}"
        )
    settings = {**OPTIONS, **options}
    limit = settings["recompile_limit"]
    if type(limit) is not int or limit < 1:
        raise ValueError(f"recompile_limit must be a positive int, not {limit!r}")
    for name in ("strict", "blas", "max_autotune"):
        if type(settings[name]) is not bool:
            raise ValueError(f"{name} must be True or False, not {settings[name]!r}")
    packed = settings["packed_weights"]
    if packed != "auto" and packed is not False and (type(packed) is not int or packed < 0):
        raise ValueError(
            f'packed_weights must be "auto", False or a number of bytes, not {packed!r}')
    budget = settings["activation_memory_budget"]
    if type(budget) not in (int, float) or not 0 <= budget <= 1:
        raise ValueError(
            f"activation_memory_budget must be a number from 0 to 1, not {budget!r}")
    return settings


def compile_callable(model: Any, compilation: Compilation) -> Any:
    """`compile` by the kind of callable."""
    if isinstance(model, CompiledFunction):
        function: Any = model.__wrapped__
        return compilation.compile(function)
    if type(model) is types.FunctionType and not is_library(model.__code__.co_filename):
        return compilation.compile(model)
    if isinstance(model, staticmethod | classmethod):
        return type(model)(compile_callable(model.__func__, compilation))
    if isinstance(model, type):
        type.__setattr__(model, "__call__", compilation.compile(call_of(model)))
        return model
    if type(model) is types.MethodType:
        return types.MethodType(compile_callable(model.__func__, compilation), model.__self__)
    if isinstance(model, Module):
        return optimized_module(model, compilation)
    if not callable(model):
        raise TypeError(
            f"compile() takes a function, a callable object, a module or a class, not {model!r}")
    call: Any = type(model).__call__
    if isinstance(model, types.FunctionType) or not isinstance(call, types.FunctionType):
        return compilation.compile(calling(model))
    return types.MethodType(compilation.compile(call), model)


def calling(function: Any) -> Any:
    """A Python function that calls a builtin, a partial or a function of this package: what a
    partial holds is read, and guarded, as is all that the call reads."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    named = function
    while isinstance(named, functools.partial):
        named = named.func
    functools.update_wrapper(call, named)
    call.__wrapped__ = function  # type: ignore[attr-defined]
    call.__code__ = call.__code__.replace(co_name=call.__name__, co_qualname=call.__qualname__)
    return call


def call_of(kind: type) -> types.FunctionType:
    """The Python function behind calls of instances of `kind`."""
    call: Any = kind.__call__
    if isinstance(call, CompiledFunction):
        call = call.__wrapped__
    if not isinstance(call, types.FunctionType):
        raise TypeError(f"compile() takes classes whose instances are callable through a Python "
                        f"function; those of {kind} are not")
    return call


class OptimizedModule:
    """Mixed into the class of a compiled module, which shares the original's attributes."""

    _original: Module
    _compilation: Compilation

    @property
    def _orig_mod(self) -> Module:
        """The module that was compiled, under PyTorch's name."""
        return self._original

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return compile(copy.deepcopy(self._original, memo), **self._compilation.options)

    def __reduce__(self) -> Any:
        return functools.partial(compile, **self._compilation.options), (self._original,)


def optimized_module(module: Module, compilation: Compilation) -> Module:
    """A module of a subclass of `module`'s class, over the same attributes.

    Parameters, buffers, hooks, the training flag and whatever else is set on either are one and
    the same, so that state_dict keys, optimisers and `isinstance` see no difference.
    """
    if isinstance(module, OptimizedModule):
        module = module._original
    kind = type(module)
    compilation.label = kind.__qualname__
    call = compilation.compile(call_of(kind))
    namespace = {
        "_original": module,
        "_compilation": compilation,
        "__call__": staticmethod(functools.partial(call, module)),
        "__module__": class_module(kind),
        "__qualname__": kind.__qualname__,
        "__doc__": kind.__doc__,
    }
    optimized: Module = object.__new__(type(kind.__name__, (OptimizedModule, kind), namespace))
    object.__setattr__(optimized, "__dict__", module.__dict__)
    return optimized


def compilation_of(compiled: Any) -> Compilation:
    """What stands behind a callable that `compile` returned.

    Raises:
        TypeError: `compile` did not return it.
    """
    found = getattr(compiled, "_compilation", None)
    while found is None and compiled is not None:
        found = getattr(compiled, "__dict__", {}).get("__gw_compilation__")
        compiled = getattr(compiled, "__func__", getattr(compiled, "func", None))
    if not isinstance(found, Compilation):
        raise TypeError("this was not returned by graphwright.compile")
    return found


def explain(function: Callable[..., Any], **options: Any) -> Callable[..., Explanation]:
    """Diagnostics of one call of a function that is compiled apart from anything else.

    Args:
        function: anything that `compile` takes; a compiled callable is taken by what it
            wraps.
        options: as for `compile`.

    Returns: a callable with the function's signature that returns an `Explanation`, which
    prints as text: graphs, graph breaks with reasons and advice, recompiles, and how many guards
    there are; `text(guards=True)` has each guard. What the function raises is raised.

    Example:
        >>> report = gw.explain(lambda x: x.sin() + 1, backend="eager")(gw.ones(2))
        >>> len(report.graphs)
        1
    """

    def call(*args: Any, **kwargs: Any) -> Explanation:
        explained = Explained(function, **options)
        explained(*args, **kwargs)
        return explained.explanation()

    return call


class Explained:
    """A function that is compiled apart from anything else; `explanation()` says what happened.

    The explanation can be asked for at any time, also after a call that raised. `guards`: whether
    they are timed, see `CaptureRecord.measured`.
    """

    def __init__(self, function: Any, guards: str = "each", **options: Any) -> None:
        with notices.explaining():
            self.compiled = compile(function, **options)
        self.subject = subject_of(function)
        self.record = CaptureRecord()
        self._root: types.CodeType | None = None
        self._called = {self.subject}
        problem = hook_problem()
        if problem is not None:
            self.record.skip(self.subject, problem)
            return
        compilation = compilation_of(self.compiled)
        self.record = compilation.record
        self.record.measured = guards
        self._root = getattr(compilation.functions[0].__wrapped__, "__code__", None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result of the compiled function."""
        if self._root is not None:
            self._called.add(place(self._root))
        with notices.explaining():
            return self.compiled(*args, **kwargs)

    def explanation(self, error: BaseException | None = None) -> Explanation:
        """What happened so far; `error` is what the last call raised."""
        return Explanation.of(self.record, self.subject, self._called, error)


def subject_of(function: Any) -> Location:
    """The user's function or module behind a callable: its name, file and line.

    A module has those of its `forward`. What is not written in Python has a name alone.
    """
    inner = {CompiledFunction: "__wrapped__", functools.partial: "func",
             types.MethodType: "__func__"}
    while type(function) in inner:
        function = getattr(function, inner[type(function)])
    if isinstance(function, OptimizedModule):
        function = function._original
    if isinstance(function, staticmethod | classmethod):
        function = function.__func__
    kind = function if isinstance(function, type) else type(function)
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", kind.__qualname__)
    if not isinstance(code, types.CodeType):
        method = "forward" if issubclass(kind, Module) else "__call__"
        code = getattr(getattr(kind, method, None), "__code__", None)
        name = f"{kind.__qualname__}.{method}" if code is not None else name
    if not isinstance(code, types.CodeType):
        return Location("", 0, name)
    return Location(code.co_filename, code.co_firstlineno, name)
