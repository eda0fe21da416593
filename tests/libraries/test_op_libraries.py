"""`gw.library.Library`, `define` and `impl`: ops declared by schema strings, kernels by key."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import graphwright as gw
from graphwright import _C
from graphwright.library import Library


@pytest.fixture
def lib() -> Iterator[Library]:
    """A library of the namespace `declared`, with `scaled(Tensor x, int n=2) -> Tensor`."""
    made = Library("declared", "DEF")
    made.define("scaled(Tensor x, int n=2) -> Tensor")
    made.impl("scaled", lambda x, n: x * n, "CPU")
    yield made
    made._destroy()


def _graphs(function: Callable[..., Any], *args: Any) -> list[list[str]]:
    """The targets of the nodes of each graph of a compiled call."""
    found: list[list[str]] = []

    def backend(module: Any, inputs: Any) -> Any:
        found.append([str(node.target) for node in module.graph.nodes if node.op[:4] == "call"])
        return module

    gw.compile(function, backend=backend)(*args)
    return found


# -- the same as in PyTorch, in values and types of errors

def _outcome(call: Callable[[], Any]) -> Any:
    try:
        found = call()
    except Exception as error:
        return next(kind.__name__ for kind in type(error).__mro__
                    if kind.__module__ == "builtins")
    return found.tolist() if hasattr(found, "tolist") else str(found)


def _walk(torch: Any) -> dict[str, Any]:
    """What declarations, registrations and calls come to."""
    library, ones = torch.library, torch.ones(2)
    lib = library.Library("walked", "DEF")
    ops = torch.ops.walked
    steps: dict[str, Callable[[], Any]] = {
        "declare": lambda: lib.define("f(Tensor x, int n=2, *, float? a=None) -> Tensor"),
        "declare again": lambda: lib.define("f(Tensor x) -> Tensor"),
        "a second DEF": lambda: library.Library("walked", "DEF"),
        "no kernel": lambda: ops.f(ones),
        "kernel": lambda: lib.impl("f", lambda x, n=2, *, a=None: x * n + (a or 0), "CPU"),
        "call": lambda: ops.f(ones),
        "by name": lambda: ops.f(x=ones, n=4, a=1),
        "default overload": lambda: ops.f.default(ones, 3),
        "overloads": lambda: ops.f.overloads(),
        "schema": lambda: ops.f.default._schema,
        "name": lambda: ops.f.default.name(),
        "float for int": lambda: ops.f(ones, 2.5),
        "int for Tensor": lambda: ops.f(3),
        "nothing": lambda: ops.f(),
        "too much": lambda: ops.f(ones, 1, 2, 3),
        "unknown name": lambda: ops.f(ones, m=2),
        "meta without rule": lambda: ops.f(torch.ones(2, device="meta")),
        "rule": lambda: lib.impl("f", lambda x, n=2, *, a=None: x.new_empty(3), "Meta"),
        "meta": lambda: tuple(ops.f(torch.ones(2, device="meta")).shape),
        "key that is none": lambda: lib.impl("f", lambda x: x, "Nonsense"),
        "absent device": lambda: lib.impl("f", lambda x: 1 / 0, "CUDA"),
        "after it": lambda: ops.f(ones),
        "no callable": lambda: lib.impl("f", 3, "CPU"),
        "kind": lambda: library.Library("walked", "OTHER"),
        "reserved": lambda: library.Library("prim", "DEF"),
        "IMPL declares": lambda: library.Library("walked", "IMPL").define("g(Tensor x) -> Tensor"),
        "key of a library": lambda: library.Library("walked", "IMPL", "Nonsense"),
        "no schema": lambda: lib.define("what"),
        "no result": lambda: lib.define("g(Tensor x)"),
        "no type": lambda: lib.define("g(Tensr x) -> Tensor"),
        "alias analysis": lambda: lib.define("g(Tensor x) -> Tensor", alias_analysis="NONE"),
        "overload": lambda: lib.define("o.a(Tensor x) -> Tensor"),
        "other overload": lambda: lib.define("o.b(Tensor x, int n) -> Tensor"),
        "kernel of one": lambda: lib.impl("o.b", lambda x, n: x + n, "CPU"),
        "chosen": lambda: ops.o(ones, 4),
        "named": lambda: ops.o.b(ones, 5),
        "both": lambda: ops.o.overloads(),
        "no overload": lambda: ops.o.c,
        "no op": lambda: ops.nothing,
        "define": lambda: library.define("walked::d", "(Tensor x) -> Tensor", lib=lib),
        "define without namespace": lambda: library.define("d", "(Tensor x) -> Tensor"),
        "define with name": lambda: library.define("walked::e", "e(Tensor x) -> Tensor"),
        "define of no name": lambda: library.define(3, "(Tensor x) -> Tensor"),
        "impl": lambda: library.impl("walked::d", ("cpu", "cuda"), lambda x: x + 5, lib=lib),
        "impl called": lambda: ops.d(ones),
        "impl of no device": lambda: library.impl("walked::d", "nonsense", lambda x: x, lib=lib),
        "writes": lambda: lib.define("w(Tensor(a!) x, Tensor y) -> ()"),
        "writing": lambda: lib.impl("w", lambda x, y: x.add_(y) and None, "CPU"),
        "written": lambda: (ops.w(held, ones), held._version),
        "results": lambda: lib.define("r(Tensor x, int[] d, str s='a') -> (Tensor, int)"),
        "resulting": lambda: lib.impl("r", lambda x, d, s="a": (x, len([*d, s])), "CPU"),
        "got": lambda: ops.r(ones, [1, 2])[1],
        "wrong result": lambda: lib.define("v(Tensor x) -> Tensor"),
        "wrong kernel": lambda: lib.impl("v", lambda x: 3, "CPU"),
        "wrong call": lambda: ops.v(ones),
        "destroyed": lambda: lib._destroy() or ops.f(ones),
    }
    held = torch.zeros(2)
    return {name: _outcome(step) for name, step in steps.items()}


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
def test_it_behaves_as_in_pytorch() -> None:
    """Values, and the built-in type of each error."""
    torch = pytest.importorskip("torch")
    assert _walk(gw) == _walk(torch)


def test_schemas_of_annotations() -> None:
    """The text that PyTorch writes; what has no form raises ValueError."""
    def typed(
        x: gw.Tensor, n: int = 3, f: float | None = None, *, s: str = "a'b", t: gw.dtype = gw.int8,
        many: list[gw.Tensor] | None = None,
    ) -> tuple[gw.Tensor, gw.Tensor]:
        raise NotImplementedError

    written = "SymInt n=3, float? f=None, *, str s=\"a'b\", ScalarType t=int8, Tensor[]? many=None"
    infer = gw.library.infer_schema
    assert infer(typed, mutates_args=()) == f"(Tensor x, {written}) -> (Tensor, Tensor)"
    assert infer(typed, mutates_args={"x"}, op_name="f").startswith("f(Tensor(a0!) x, SymInt")
    with pytest.raises(ValueError, match="must have a type annotation"):
        infer(lambda x: x, mutates_args=())
    with pytest.raises(ValueError, match="not found in the signature"):
        infer(typed, mutates_args={"y"})

    def several(*x: gw.Tensor) -> None:
        raise NotImplementedError

    with pytest.raises(ValueError, match="varargs"):
        infer(several, mutates_args=())


# -- gradients, and graphs

def test_without_a_formula_the_kernel_is_recorded(lib: Library) -> None:
    """Eagerly; compiled behind a break, with the same gradient. A formula makes it a node."""
    lib.impl("scaled", lambda x, n: gw.empty_like(x), "Meta")

    def loss(x: Any) -> Any:
        return (gw.ops.declared.scaled(x + 1, 3) + 1).sum()

    def grad(function: Any) -> list[float]:
        x = gw.ones(2, requires_grad=True)
        function(x).backward()
        return list(x.grad.tolist())

    assert len(_graphs(loss, gw.ones(2))) == 1
    assert len(_graphs(loss, gw.ones(2, requires_grad=True))) > 1
    assert grad(loss) == grad(gw.compile(loss)) == [3.0, 3.0]
    gw.library.register_autograd("declared::scaled", lambda ctx, grad: (grad * 10, None))
    assert len(_graphs(loss, gw.ones(2, requires_grad=True))) == 1
    assert grad(loss) == grad(gw.compile(loss)) == [10.0, 10.0]


def test_a_kernel_of_other_ops_is_compiled_as_those(lib: Library) -> None:
    """CompositeImplicitAutograd, and no key at all: one graph, with gradients, no shape rule."""
    lib.define("parts(Tensor x) -> Tensor")
    lib.impl("parts", lambda x: (x * 3).relu())
    compiled = gw.compile(lambda x: gw.ops.declared.parts(x) + 1, fullgraph=True)
    x = gw.ones(2, requires_grad=True)
    compiled(x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_autograd_and_autocast_kernels(lib: Library) -> None:
    """They are called where recording or autocast is on, and left out below a guard."""
    class Tenfold(gw.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, n: int) -> Any:
            with _C._AutoDispatchBelowAutograd():
                return gw.ops.declared.scaled(x, n)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 10, None

    lib.impl("scaled", Tenfold.apply, "Autograd")
    x = gw.ones(2, requires_grad=True)
    gw.compile(lambda x: gw.ops.declared.scaled(x, 3) + 1)(x).sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]
    cast = _C.DispatchKeySet(_C.DispatchKey.AutocastCPU)

    def lower(x: Any, n: int) -> Any:
        with _C._ExcludeDispatchKeyGuard(cast):
            return gw.ops.declared.scaled(x.bfloat16(), n)

    lib.impl("scaled", lower, "AutocastCPU")
    assert gw.ops.declared.scaled(gw.ones(2)).dtype is gw.float32
    with gw.autocast("cpu"):
        assert gw.ops.declared.scaled(gw.ones(2)).dtype is gw.bfloat16


def test_sets_of_keys_and_guards() -> None:
    key = _C.DispatchKey
    both = _C.DispatchKeySet(key.AutocastCUDA) | _C.DispatchKeySet(key.AutocastXPU)
    assert both.has(key.AutocastXPU) and not both.has(key.CPU)
    assert both - _C.DispatchKeySet(key.AutocastXPU) == _C.DispatchKeySet(key.AutocastCUDA)
    with _C._ExcludeDispatchKeyGuard(both):
        assert gw.ones(2).sum().item() == 2.0
    with pytest.raises(NotImplementedError, match="cannot leave out the dispatch keys CPU"):
        _C._ExcludeDispatchKeyGuard(_C.DispatchKeySet(key.CPU)).__enter__()
    with pytest.raises(TypeError, match="expected a DispatchKey"):
        _C.DispatchKeySet(3)


def test_a_library_ends_with_its_object() -> None:
    made = Library("brief", "DEF")
    made.define("f(Tensor x) -> Tensor")
    assert hasattr(gw.ops.brief, "f")
    del made
    gc.collect()
    assert not hasattr(gw.ops.brief, "f")


def test_kernels_of_custom_ops_by_device() -> None:
    """`device_types` and `register_kernel`: those of absent devices are never called."""
    @gw.library.custom_op("tests::placed", mutates_args=(), device_types="cuda")
    def placed(x: gw.Tensor) -> gw.Tensor:
        raise AssertionError("no such device")

    with pytest.raises(NotImplementedError, match="kernels are registered for CUDA"):
        placed(gw.ones(2))
    gw.library.register_kernel("tests::placed", "cpu", lambda x: x + 5)
    assert placed(gw.ones(2)).tolist() == [6.0, 6.0]
    with pytest.raises(RuntimeError, match="Expected one of cpu"):
        placed.register_kernel("nonsense", lambda x: x)


def test_what_libraries_are_refused(lib: Library) -> None:
    with pytest.raises(NotImplementedError, match="own ops cannot be declared or overridden"):
        Library("aten", "IMPL").impl("add", lambda x, y: x, "CPU")
    with pytest.raises(RuntimeError, match="not of the namespace"):
        lib.impl("others::scaled", lambda x: x)
    with pytest.raises(NotImplementedError, match="no key sets"):
        lib.impl("scaled", lambda x: x, "CPU", with_keyset=True)
    with pytest.raises(NotImplementedError, match="no kernels for all ops"):
        lib.fallback(lambda x: x)
    with pytest.raises(NotImplementedError, match="never be called"):
        gw.library.fallthrough_kernel()


# -- the op table as torch.ops.aten

def test_ops_by_their_aten_names() -> None:
    """An overload is the function of the op; compiled, it is one node of that function."""
    aten = gw.ops.aten
    x = gw.tensor([-1.0, 2.0])
    assert aten.add.Tensor is gw.add and aten.relu.default is gw.relu
    assert aten.sum.dim_IntList(x, [0], True).tolist() == [1.0]
    assert aten.div.Tensor_mode(x, 2, rounding_mode="floor").tolist() == [-1.0, 1.0]
    assert aten.mul(self=x, other=2).tolist() == [-2.0, 4.0]
    assert aten.add_.Tensor(x.clone(), 1).tolist() == [0.0, 3.0]
    assert {"default", "Tensor", "Scalar", "out"} == set(aten.add.overloads())

    def function(x: Any) -> Any:
        return aten.relu.default(aten.mul.Tensor(x, 2)) + aten.sub(x, 1)

    assert len(_graphs(function, x)) == 1
    assert gw.compile(function, fullgraph=True)(x).tolist() == function(x).tolist()


def test_aten_names_that_do_not_exist() -> None:
    with pytest.raises(AttributeError, match=r"ops\.aten' has no attribute 'nonsense'"):
        _ = gw.ops.aten.nonsense
    with pytest.raises(AttributeError, match=r"no overload 'nonsense': its parameters are input"):
        _ = gw.ops.aten.add.nonsense
    with pytest.raises(AttributeError, match="no schemas of ATen's"):
        _ = gw.ops.aten.add._schema
    with pytest.raises(AttributeError, match="no prims of PyTorch's"):
        _ = gw.ops.prims.add
