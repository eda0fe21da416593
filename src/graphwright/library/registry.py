"""Where ops of the user's own are declared, and what is registered for them.

An op is declared by a function with annotations (`custom_op`) or by a schema string (`define`,
`Library.define`); both make the same `CustomOp`. What is registered for a name may come first.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from graphwright.library.custom import CustomOp
from graphwright.library.declaration import infer_schema, parse_schema
from graphwright.library.keys import device_keys, fallthrough_kernel, known_key
from graphwright.library.namespaces import OpOverloads, put, remove

_REGISTRY: dict[str, CustomOp] = {}
_KERNELS: dict[str, dict[str, Callable[..., Any]]] = {}
"""The kernels of each op by dispatch key, of those that are not declared yet, too."""
_DEFINING: set[str] = set()
"""The namespaces that a library of kind DEF has."""
_RESERVED = ("prim",)
_OWN = ("aten", "prims")
_KINDS = ("DEF", "IMPL", "FRAGMENT")


def _split_name(name: str, asker: str) -> tuple[str, str]:
    namespace, _, rest = name.partition("::")
    if name.count("::") != 1 or not namespace or not rest:
        raise ValueError(f"{asker}: expected a name 'namespace::name', got {name!r}")
    return namespace, rest


def _kernels_of(name: str) -> dict[str, Callable[..., Any]]:
    return _KERNELS.setdefault(name, {})


def _declare(
    schema: str, namespace: str, isolated: bool = False, doc: str | None = None
) -> CustomOp:
    parsed = parse_schema(schema, namespace)
    overload = f".{parsed.overload_name}" if parsed.overload_name else ""
    name = parsed.name + overload
    if name in _REGISTRY and not isolated:
        raise RuntimeError(
            f"Tried to register an operator ({parsed}) with the same name and overload name "
            "multiple times."
        )
    if name in _REGISTRY:
        _KERNELS[name] = {}
    made = _REGISTRY[name] = CustomOp(parsed, _kernels_of(name), isolated, doc)
    put(made)
    return made


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

    `name` is "namespace::name". Annotations say what goes in and comes out (see `infer_schema`;
    ValueError for what has no form), or `schema` does, as "(Tensor x, int n=1) -> Tensor".
    `mutates_args` names the arguments that are written, or is "unknown". An op that writes, or
    gives a list, ends a graph. `device_types` are those that the function is for, all by default.
    `tags` change nothing. The op is found as `gw.ops.namespace.name`, too.
    """
    def define(function: Callable[..., Any]) -> CustomOp:
        namespace, own = _split_name(name, "custom_op")
        found = schema or infer_schema(function, mutates_args=mutates_args)
        made = _declare(own + found, namespace, isolated=True, doc=function.__doc__)
        made.register_kernel(device_types, function)
        return made

    return define if fn is None else define(fn)


def _name_of(op: Any) -> str:
    if isinstance(op, CustomOp):
        return op.name()
    if isinstance(op, OpOverloads):
        return op.__name__.replace(".", "::")
    return str(op).removesuffix(".default")


def _found(op: str | CustomOp) -> CustomOp:
    name = _name_of(op)
    if name not in _REGISTRY:
        raise RuntimeError(f"there is no custom op '{name}'")
    return _REGISTRY[name]


def register_fake(
    op: str | CustomOp, func: Callable[..., Any] | None = None, /, *, lib: Any = None,
    allow_override: bool = False,
) -> Any:
    """`CustomOp.register_fake` of the op of that name, which may be made later; a decorator too.

    `lib` is the library that it is registered with, and ends with; `allow_override` changes
    nothing: a second one replaces the first.
    """
    if func is None:
        return functools.partial(register_fake, op, lib=lib)
    if lib is not None:
        lib.impl(op, func, "Meta")
    else:
        _kernels_of(_name_of(op))["Meta"] = func
    return func


impl_abstract = register_fake


def register_autograd(
    op: str | CustomOp,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Any = None,
) -> None:
    """`CustomOp.register_autograd` of the op of that name. `lib` changes nothing."""
    _found(op).register_autograd(backward, setup_context=setup_context)


def register_kernel(
    op: str | CustomOp, device_types: Any, func: Callable[..., Any] | None = None, /, *,
    lib: Any = None,
) -> Any:
    """`CustomOp.register_kernel` of the op of that name, which may be made later."""
    if func is None:
        return functools.partial(register_kernel, op, device_types, lib=lib)
    for key in device_keys(device_types):
        if lib is not None:
            lib.impl(op, func, key)
        else:
            _kernels_of(_name_of(op))[key] = func
    return func


class Library:
    """Declarations and kernels of ops of one namespace, which end when it ends.

    Args:
        ns: the namespace.
        kind: "DEF", which a namespace has once, "FRAGMENT", which may declare as well, or "IMPL",
            which only registers kernels.
        dispatch_key: the key of its kernels, unless `impl` gives one.

    Raises:
        ValueError: another kind, or a reserved namespace.
        RuntimeError: a second DEF of a namespace, or a dispatch key that does not exist.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in _KINDS:
            raise ValueError(f"Unsupported kind: {kind}. Known are {', '.join(_KINDS)}")
        if ns in _RESERVED:
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with "
                             "another name.")
        if kind == "DEF" and (ns in _DEFINING or ns in _OWN):
            raise RuntimeError(
                f"Only a single library of kind DEF can declare the namespace {ns}; use FRAGMENT "
                "to declare more, IMPL to register kernels"
            )
        known_key(dispatch_key)
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._ops: list[CustomOp] = []
        self._registered: list[tuple[str, str, Callable[..., Any]]] = []
        if kind == "DEF":
            _DEFINING.add(ns)
        self._end = weakref.finalize(
            self, _end, ns if kind == "DEF" else None, self._ops, self._registered
        )
        self._end.atexit = False

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(
        self, schema: str, alias_analysis: str = "", *, tags: Any = ()
    ) -> str:
        """Declare an op, "name(Tensor x, int n=1) -> Tensor". Returns its name.

        `alias_analysis` and `tags` change nothing. Raises RuntimeError for a schema that is
        malformed, an op that exists, and in a library of kind IMPL; NotImplementedError in the
        namespace of graphwright's own ops.
        """
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        name = schema.partition("(")[0].partition(".")[0].strip()
        if self.kind == "IMPL":
            raise RuntimeError(f'define("{name}"): a library of kind IMPL declares no ops')
        _refuse_own(self.ns)
        self._ops.append(_declare(schema, self.ns))
        return name

    def impl(
        self, op_name: Any, fn: Callable[..., Any], dispatch_key: Any = "", *,
        with_keyset: bool = False, allow_override: bool = False,
    ) -> None:
        """Register a kernel of an op of the namespace, under a dispatch key.

        Args:
            op_name: its name, perhaps with ".overload", or the op. It may be declared later.
            fn: the kernel, or `fallthrough_kernel` for none.
            dispatch_key: "CPU", "Meta", "Autograd", ...; "" is the library's own, or where that
                has none CompositeImplicitAutograd. Kernels for what does not exist here, such as
                CUDA, are never called.

        Raises:
            TypeError: `fn` cannot be called.
            RuntimeError: the key does not exist, or the op is of another namespace.
            NotImplementedError: the op is graphwright's own, or `with_keyset`.
        """
        if not callable(fn):
            raise TypeError(
                f"Input function is required to be a callable but found type {type(fn)}"
            )
        key = known_key(dispatch_key or self.dispatch_key)
        name = _name_of(op_name)
        namespace = name.partition("::")[0] if "::" in name else self.ns
        if namespace != self.ns:
            raise RuntimeError(f"impl: {name} is not of the namespace {self.ns}")
        if with_keyset:
            raise NotImplementedError("impl: graphwright passes no key sets to kernels")
        _refuse_own(self.ns)
        full = name if "::" in name else f"{self.ns}::{name}"
        if fn is fallthrough_kernel:
            _kernels_of(full).pop(key, None)
            return
        _kernels_of(full)[key] = fn
        self._registered.append((full, key, fn))

    def _register_fake(
        self, op_name: str, fn: Callable[..., Any], _stacklevel: int = 1, **_: Any
    ) -> None:
        self.impl(op_name, fn, "Meta")

    def fallback(self, fn: Callable[..., Any], dispatch_key: str = "", **_: Any) -> None:
        """Raises NotImplementedError: no kernel stands in for those of all ops."""
        raise NotImplementedError("Library.fallback: graphwright has no kernels for all ops")

    def _destroy(self) -> None:
        """End it now."""
        self._end()


def _refuse_own(namespace: str) -> None:
    if namespace in _OWN:
        raise NotImplementedError(
            f"graphwright's own ops cannot be declared or overridden, as {namespace}:: would; "
            "declare an op in a namespace of your own"
        )


def _end(
    defining: str | None, ops: list[CustomOp],
    registered: list[tuple[str, str, Callable[..., Any]]],
) -> None:
    """What happens when a library ends: its ops and kernels are forgotten."""
    for name, key, kernel in registered:
        if _kernels_of(name).get(key) is kernel:
            del _KERNELS[name][key]
    for op in ops:
        if _REGISTRY.get(op.name()) is op:
            del _REGISTRY[op.name()]
            remove(op)
    _DEFINING.discard(defining or "")


_FOR_GOOD: dict[str, Library] = {}
"""The libraries of what `define` and `impl` are given no library for."""


def _library(namespace: str, lib: Library | None) -> Library:
    if lib is not None:
        return lib
    if namespace not in _FOR_GOOD:
        _FOR_GOOD[namespace] = Library(namespace, "FRAGMENT")
    return _FOR_GOOD[namespace]


def define(
    qualname: Any, schema: str, *, lib: Library | None = None, tags: Any = ()
) -> Any:
    """Declare an op of the name "namespace::name" with a schema "(Tensor x) -> Tensor".

    With a `Library` as first argument it decorates a function, which is the op's kernel. Raises
    ValueError for a name or schema of another form.
    """
    if isinstance(qualname, Library):
        def declare(function: Callable[..., Any]) -> Callable[..., Any]:
            name = qualname.define(schema, tags=tags)
            qualname.impl(name, function)
            return function

        return declare
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got "
                         f"{type(qualname)}")
    namespace, name = _split_name(qualname, "define")
    if not schema.lstrip().startswith("("):
        raise ValueError('define(qualname, schema, ...): expected schema to look like e.g. '
                         f'"(Tensor x) -> Tensor" but got "{schema}"')
    _library(namespace, lib).define(name + schema, tags=tags)
    return None


def impl(
    qualname: Any, types: Any, func: Any = None, *, lib: Library | None = None
) -> Any:
    """Register a kernel of the op "namespace::name" for types of devices, "cpu" or several of
    them, or "default" for all; or of `impl(lib, name, dispatch_key)`. Decorates without `func`.

    Raises RuntimeError for a type of device or a dispatch key that does not exist.
    """
    if isinstance(qualname, Library):
        def register_in(function: Callable[..., Any]) -> Callable[..., Any]:
            qualname.impl(types, function, func or "")
            return function

        return register_in
    name = _name_of(qualname)
    namespace, _ = _split_name(name, "impl")
    keys = device_keys(types)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for key in keys:
            _library(namespace, lib).impl(name, function, key)
        return function

    if func is None:
        return register
    register(func)
    return None
