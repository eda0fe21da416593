"""Functions and methods of ops: how they bind their arguments, and what they are as objects."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import pickle
import pydoc
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw
from graphwright.runtime._core import OpFunction, OpMethod
from graphwright.runtime.ops import functions, methods
from graphwright.runtime.ops.op_names import METHODS, NAMES

X = gw.arange(6.0).reshape(2, 3)
MISSING = "missing 1 required positional argument: "


def test_all_are_made_from_their_names() -> None:
    assert all(type(getattr(functions, name)) is OpFunction for name in NAMES)
    assert all(type(vars(methods.TensorMethods)[name]) is OpMethod for name in METHODS.split())
    assert gw.arccos is gw.acos and gw.Tensor.arccos is gw.Tensor.acos
    assert gw.swapaxes is not gw.transpose      # its parameters have other names


ALIKE: dict[str, list[Callable[[], Any]]] = {
    "by position, by name, by NumPy's name": [
        lambda: gw.sum(X, 1, True), lambda: gw.sum(input=X, dim=1, keepdim=True),
        lambda: gw.sum(X, axis=1, keepdims=True), lambda: X.sum(-1, True),
        lambda: X.sum(**{"".join(("d", "im")): [1], "keepdim": True}),
    ],
    "sizes one by one and in a sequence": [
        lambda: X.permute(1, 0), lambda: X.permute([1, 0]), lambda: X.permute(dims=(1, -2)),
        lambda: gw.permute(X, gw.Size([1, 0])), lambda: gw.permute(X, (-1, 0)),
    ],
    "several ints, or one sequence of them": [
        lambda: X.flip(0, 1), lambda: X.flip((0, 1)), lambda: gw.flip(X, [0, -1]),
    ],
    "tensors in a list and in a tuple": [
        lambda: gw.cat([X, X], -1), lambda: gw.cat((X, X), 1), lambda: gw.concat([X, X], axis=1),
    ],
    "operands one by one and in a list": [
        lambda: gw.einsum("ij,ij->i", X, X), lambda: gw.einsum("ij,ij->i", [X, X]),
    ],
    "one number for both of two": [
        lambda: gw.nn.functional.unfold(X[None, None], 2),
        lambda: gw.nn.functional.unfold(X[None, None], (2, 2)),
        lambda: gw.nn.functional.unfold(X[None, None], [2]),
    ],
    "another tensor in the place of dim": [
        lambda: gw.max(X, X), lambda: gw.max(X, other=X), lambda: X.max(X), lambda: X + 0,
    ],
    "a word of Python": [
        lambda: X.clone().uniform_(2, 2), lambda: X.clone().uniform_(**{"from": 2.0, "to": 2.0}),
        lambda: gw.full((2, 3), 2.0),
    ],
    "a result with a dtype, place and order": [
        lambda: gw.zeros(2, 3, dtype=gw.int32), lambda: gw.zeros((2, 3), dtype=gw.int32),
        lambda: gw.zeros(size=[2, 3], dtype=gw.int32, device="cpu", layout=gw.strided),
        lambda: gw.zeros_like(X, dtype=gw.int32, memory_format=gw.preserve_format),
        lambda: gw.zeros(2, 3, out=gw.ones(2, 3, dtype=gw.int32)),
    ],
}  # fmt: skip


@pytest.mark.parametrize("case", ALIKE)
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_calls_that_mean_the_same(case: str, compiled: bool) -> None:
    first, *rest = ALIKE[case]
    wanted = first()
    for call in rest:
        found = gw.compile(call)() if compiled else call()
        assert found.dtype is wanted.dtype and gw.equal(found, wanted)


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "nothing": (lambda: gw.sum(), TypeError, rf"sum\(\) {MISSING}'input'"),  # type: ignore
    "one of two": (lambda: gw.add(X), TypeError, rf"add\(\) {MISSING}'other'"),  # type: ignore
    "no size": (lambda: X.permute(), TypeError, rf"permute\(\) {MISSING}'dims'"),
    "no self": (lambda: gw.Tensor.add(), TypeError, MISSING),  # type: ignore
    "too many": (lambda: gw.sum(X, 0, True, 3), TypeError,  # type: ignore
                 "takes from 1 to 3 positional arguments but 4 were given"),
    "too many of one": (lambda: gw.relu(X, X), TypeError,  # type: ignore
                        "takes 1 positional argument but 2 were given"),
    "a keyword that is none": (lambda: gw.relu(X, out=X), TypeError,  # type: ignore
                               r"relu\(\) got an unexpected keyword argument 'out'"),
    "out of a method": (lambda: X.add(X, out=X), TypeError, "unexpected keyword"),  # type: ignore
    "twice": (lambda: gw.sum(X, 0, dim=0), TypeError, "multiple values for argument 'dim'"),
    "by both names": (lambda: gw.sum(X, 0, axis=0), TypeError,  # type: ignore[call-overload]
                      "values for both 'dim' and 'axis'"),
    "None": (lambda: gw.max(X, None), TypeError, "must be given a value, not None"),  # type: ignore
    "from alone": (lambda: X.clone().random_(**{"from": 3}), TypeError, "goes with 'from'"),
    "a tensor beside keepdim": (lambda: gw.max(X, X, True), TypeError, "'dim'"),  # type: ignore
    "a dim out of range": (lambda: gw.sum(X, 2), IndexError, r"range of \[-2, 1\], but got 2"),
    "a dim twice": (lambda: gw.sum(X, (0, -2)), RuntimeError, "dim 0 appears multiple times"),
    "a text as dim": (lambda: gw.sum(X, "a"), TypeError, "dim must be int"),  # type: ignore
    "a dim of no tensor": (lambda: gw.sum(3, 0), TypeError, "must be Tensor"),  # type: ignore
    "no list": (lambda: gw.cat(X), TypeError, "tuple or list of Tensors"),  # type: ignore
    "an empty list": (lambda: gw.stack([]), RuntimeError, "non-empty"),
    "a layout": (lambda: gw.zeros(2, layout=gw.sparse_coo), TypeError, "layout"),
    "no format": (lambda: gw.zeros_like(X, memory_format=3), TypeError,  # type: ignore
                  "memory_format"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case: str) -> None:
    call, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message):
        call()


def test_a_device_of_the_block_is_where_factories_make_tensors() -> None:
    with gw.device("meta"):
        assert gw.zeros(2).device.type == "meta" and gw.zeros_like(X).device.type == "cpu"
        assert gw.zeros(2, device="cpu").device.type == "cpu"
    assert gw.ones(2, requires_grad=True).requires_grad


def test_signatures_and_help() -> None:
    assert str(inspect.signature(gw.add)) == "(input, other, *, alpha=1, out=None)"
    assert str(inspect.signature(X.sum)) == "(dim=None, keepdim=False, *, dtype=None)"
    assert str(inspect.signature(gw.Tensor.permute)) == "(self, *dims)"
    assert str(inspect.signature(gw.swapaxes)) == "(input, axis0, axis1)"
    assert "*, dtype=None, device=None, out=None, layout=None" in str(inspect.signature(gw.full))
    text = pydoc.plain(pydoc.render_doc(gw.std))
    assert "std(input, dim=None" in text and "correction" in text
    assert gw.Tensor.add.__doc__ == gw.add.__doc__
    assert str(gw.Tensor.add_.__doc__).startswith("In place: writes what `add` gives")


def test_as_objects() -> None:
    for one in (gw.add, gw.Tensor.add, gw.swapaxes):
        assert pickle.loads(pickle.dumps(one)) is one and copy.deepcopy(one) is one
        assert weakref.ref(one)() is one and one in {one} and inspect.isroutine(one)
    assert (gw.add.__name__, gw.Tensor.add.__name__, X.add.__self__) == ("add", "add", X)

    @functools.wraps(gw.add)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return gw.add(*args, **kwargs)

    assert wrapped.__name__ == "add" and inspect.signature(wrapped) == inspect.signature(gw.add)


def test_a_function_is_no_method_of_the_class_that_has_it() -> None:
    class Layer(gw.nn.Module):
        function = gw.relu

        def forward(self, x: Any) -> Any:
            return self.function(x) + gw.Tensor.exp(x) + getattr(x, "mul")(2)  # noqa: B009

    wanted = gw.relu(X) + X.exp() + 2 * X
    assert gw.equal(Layer()(X), wanted)
    assert gw.allclose(gw.compile(Layer(), fullgraph=True)(X), wanted)


def test_capture_knows_them_by_identity() -> None:
    table = {gw.add: 1, gw.mul: 2}

    def function(x: Any, op: Any) -> Any:
        return op(x, x) + table[op], op is gw.add, op.__name__

    compiled = gw.compile(function, fullgraph=True)
    for op in (gw.add, gw.mul):
        found, wanted = compiled(X, op), function(X, op)
        assert gw.equal(found[0], wanted[0]) and found[1:] == wanted[1:]
    assert gw.equal(gw.compile(gw.add)(X, X), X + X)


def test_a_class_with_a_say_sees_the_function_and_what_it_was_given() -> None:
    class Logged:
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return func, kwargs

    one: Any = Logged()
    assert gw.add(one, 2)[0] is gw.add and gw.cat((X, one))[0] is gw.cat
    assert gw.sum(one, dim=0) == (gw.sum, {"dim": 0})
    assert gw.add(X, X, out=one) == (gw.add, {"out": one})


def test_a_traceback_leads_from_the_call_to_the_rule() -> None:
    with pytest.raises(RuntimeError) as caught:
        gw.add(X, gw.ones(7))
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[0] == test_a_traceback_leads_from_the_call_to_the_rule.__name__


def test_a_door_is_called_in_the_place_of_the_function() -> None:
    seen: list[Any] = []
    function = OpFunction(gw.relu.__gw_op__, "relu", "relu", __name__)  # type: ignore[attr-defined]
    function.door = lambda *args, **kwargs: seen.append((args, kwargs))
    function(1, 2, a=3)
    function.door = None
    assert seen == [((1, 2), {"a": 3})] and gw.equal(function(X), X)


def test_calls_keep_nothing() -> None:
    def calls() -> None:
        gw.sum(X, dim=-1, keepdim=True)
        gw.cat([X, X], -1)
        X.permute(1, -2).flip(0, 1)
        gw.zeros_like(X, memory_format=gw.contiguous_format)
        for name in ("too many", "by both names", "a dim out of range", "an empty list"):
            with pytest.raises((TypeError, IndexError, RuntimeError)):
                REFUSED[name][0]()

    def alive() -> int:
        gc.collect()
        return len(gc.get_objects())

    for _ in range(20):
        calls()
    before = alive()
    for _ in range(200):
        calls()
    assert alive() - before < 100


@pytest.mark.parametrize("call", [
    lambda x, out: gw.add(x, 2, x, nothing=1),
    lambda x, out: gw.add(x, 2, x, alpha=5),
    lambda x, out: gw.add(x, 2, x, input=x),
    lambda x, out: x.add(2, x, out=out),
])
def test_an_older_overload_takes_out_of_a_function_alone(call: Any) -> None:
    """What it would not use is refused, where numbers stand by position."""
    x, out = gw.ones(2), gw.zeros(2)
    with pytest.raises(TypeError, match=r"takes no argument '.*' beside so many by position"):
        call(x, out)
    assert out.tolist() == [0.0, 0.0]
    with pytest.warns(UserWarning, match="alpha by position"):
        assert gw.add(x, 2, x, out=out) is out and out.tolist() == [3.0, 3.0]
