"""`__torch_function__`: subclasses of Tensor, other classes and modes that override functions."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

import graphwright as gw
from graphwright import overrides
from graphwright.capture.exc import GraphBreakError

DISABLED = gw._C.DisableTorchFunctionSubclass
PLAIN = gw.arange(6.0).reshape(2, 3)


class Kept(gw.Tensor):
    """A subclass without anything of its own."""


class Further(Kept):
    """A subclass of a subclass."""


class Logging(gw.Tensor):
    """Notes the name of each function that it is given to."""

    seen: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        cls.seen.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs)


class Diagonal:
    """No tensor: a multiple of the identity, which knows only some functions."""

    known: ClassVar[dict[Any, Callable[..., Any]]] = {}

    def __init__(self, size: int, value: float) -> None:
        self.size, self.value = size, value

    def whole(self) -> gw.Tensor:
        return self.value * gw.eye(self.size)

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if func not in cls.known or not all(issubclass(t, gw.Tensor | Diagonal) for t in types):
            return NotImplemented
        return cls.known[func](*args, **(kwargs or {}))


Diagonal.known = {
    gw.mean: lambda input, **options: (input.value / input.size, options),
    gw.mm: lambda a, b: gw.mm(*(x.whole() if isinstance(x, Diagonal) else x for x in (a, b))),
    gw.cat: lambda tensors, dim=0: ("cat", len(tensors), dim),
    gw.nn.functional.linear: lambda input, weight, bias=None: "linear",
}

KEEPING: dict[str, Callable[[Any], Any]] = {
    "method": lambda x: x.add(1),
    "operator": lambda x: x - 1,
    "reflected operator": lambda x: 2 / x,
    "operator of a plain tensor": lambda x: gw.ones(3) * x,
    "function": lambda x: gw.sin(x),
    "function of a list": lambda x: gw.cat([PLAIN, x]),
    "function of nn": lambda x: gw.nn.functional.softmax(x, -1),
    "layer": lambda x: gw.nn.Linear(3, 2)(x),
    "comparison": lambda x: x > 1,
    "item": lambda x: x[0],
    "mask": lambda x: x[x > 2],
    "view": lambda x: x.view(3, 2),
    "property": lambda x: x.T,
    "detach": lambda x: x.detach(),
    "data": lambda x: x.data,
    "dtype": lambda x: x.double(),
    "like": lambda x: gw.zeros_like(x),
    "new": lambda x: x.new_zeros(2),
    "composite": lambda x: gw.nn.functional.cross_entropy(x, gw.tensor([0, 1])),
    "einsum": lambda x: gw.einsum("ij,kj->ik", x, x),
}


@pytest.mark.parametrize("name", KEEPING)
def test_results_keep_the_subclass(name: str) -> None:
    with gw.random.fork_rng():
        gw.manual_seed(0)
        result = KEEPING[name](PLAIN.as_subclass(Kept))
        gw.manual_seed(0)
        assert type(result) is Kept
        assert gw.equal(result.as_subclass(gw.Tensor), KEEPING[name](PLAIN))


def test_several_results_and_numbers() -> None:
    x = PLAIN.as_subclass(Kept)
    values, indices = x.max(1)
    assert type(values) is type(indices) is Kept and type(x.max(1)) is gw.return_types.max
    assert [type(row) for row in x] == [Kept, Kept] == [type(part) for part in x.unbind()]
    assert x.tolist() == PLAIN.tolist() and type(x.sum().item()) is float
    assert repr(x[0]) == "Kept([0., 1., 2.])"


def test_in_place_operations_give_the_same_object() -> None:
    x = gw.ones(3).as_subclass(Kept)
    same = x
    x += 1
    x[0] = 5
    assert x is same is x.mul_(2) and x.tolist() == [10.0, 4.0, 4.0]


def test_the_more_derived_class_decides_and_unrelated_ones_do_not_mix() -> None:
    kept, further = gw.ones(2).as_subclass(Kept), gw.ones(2).as_subclass(Further)
    for both in (kept + further, further + kept, gw.stack([kept, further])):
        assert type(both) is Further
    with pytest.raises(TypeError, match=r"no implementation.*graphwright\.add.*Logging"):
        gw.add(kept, gw.ones(2).as_subclass(Logging))


def test_gradients_go_through_subclasses() -> None:
    leaf = Kept([1.0, 2.0]).requires_grad_()
    loss = (leaf * leaf).sum()
    assert type(loss) is Kept and not loss.is_leaf
    loss.backward()
    assert leaf.grad.tolist() == [2.0, 4.0] and type(leaf.grad) is gw.Tensor
    plain = gw.ones(2, requires_grad=True)
    (first,) = gw.autograd.grad((plain.as_subclass(Kept) ** 3).sum(), plain, create_graph=True)
    (second,) = gw.autograd.grad(first.sum(), plain)
    assert second.tolist() == [6.0, 6.0]


def test_backward_asks_no_class() -> None:
    x = gw.ones(2).as_subclass(Logging).requires_grad_()
    loss = (x * x).sum()
    del Logging.seen[:]
    gw.autograd.backward([loss])
    assert Logging.seen == []


def test_an_override_sees_the_functions_as_they_were_called() -> None:
    x = PLAIN.as_subclass(Logging)
    del Logging.seen[:]
    x + 1, x.sum(dim=0), gw.exp(x), x[0], gw.nn.functional.gelu(x), x.T, -x, x.add_(0)
    assert Logging.seen == ["add", "sum", "exp", "__getitem__", "gelu", "__get__", "neg", "add_"]


def test_methods_are_the_functions_of_the_base_class() -> None:
    class Asked(gw.Tensor):
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return func, types, args[1:], kwargs

    x = PLAIN.as_subclass(Asked)
    assert x.sum(0, keepdim=True) == (gw.Tensor.sum, (Asked,), (0,), {"keepdim": True})
    assert gw.add(x, 1, alpha=2) == (gw.add, (Asked,), (1,), {"alpha": 2})
    assert (x @ 3)[0] is gw.Tensor.matmul


def test_own_methods_of_a_subclass_stay() -> None:
    class Own(Kept):
        def sum(self, *args: Any, **kwargs: Any) -> Any:
            return "own"

    x = PLAIN.as_subclass(Own)
    assert x.sum() == "own" and type(gw.sum(x)) is Own


def test_disabled_overrides() -> None:
    class Plain(gw.Tensor):
        __torch_function__ = gw._C._disabled_torch_function_impl

    assert type(PLAIN.as_subclass(Plain) + 1) is gw.Tensor
    x = PLAIN.as_subclass(Kept)
    with DISABLED():
        assert type(x + 1) is type(x[0]) is gw.Tensor
    assert type(x + 1) is Kept


def test_copies_and_pickles_keep_the_subclass() -> None:
    x = Kept([1.0, 2.0])
    for made in (copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))):
        assert type(made) is Kept and made.tolist() == [1.0, 2.0] and type(made + 1) is Kept


def test_parameters_of_subclasses() -> None:
    layer = gw.nn.Linear(2, 2)
    layer.weight = gw.nn.Parameter(gw.ones(2, 2).as_subclass(Kept))
    assert isinstance(layer.weight, gw.nn.Parameter) and isinstance(layer.weight, Kept)
    assert [name for name, _ in layer.named_parameters()] == ["weight", "bias"]
    assert type(layer.weight * 2) is Kept
    optimizer = gw.optim.SGD(layer.parameters(), 0.5)
    layer(gw.ones(1, 2)).sum().backward()
    optimizer.step()
    assert layer.weight.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert isinstance(copy.deepcopy(layer).weight, Kept)

    class Own(gw.nn.Parameter):
        pass

    assert type(Own(gw.ones(2))) is Own and type(Own(gw.ones(2)) + 1) is gw.Tensor


def test_classes_end_with_their_tensors() -> None:
    class Short(gw.Tensor):
        pass

    parameter = gw.nn.Parameter(gw.ones(2).as_subclass(Short))
    other = gw.nn.Parameter(gw.ones(2).as_subclass(Short))
    assert type(parameter) is type(other) and type(parameter + 1) is Short
    ended = weakref.ref(Short)
    del Short, parameter, other
    gc.collect()
    assert ended() is None


def test_other_classes_override_functions() -> None:
    diagonal = Diagonal(2, 3.0)
    assert gw.mean(diagonal) == (1.5, {})
    assert gw.mean(diagonal, dim=1) == (1.5, {"dim": 1})
    assert gw.mm(diagonal, gw.ones(2, 2)).tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert gw.cat([gw.ones(2), diagonal], dim=1) == ("cat", 2, 1)
    assert gw.nn.functional.linear(diagonal, gw.ones(2, 2)) == "linear"
    for refused in (lambda: gw.exp(diagonal), lambda: gw.sum(diagonal, 0)):
        with pytest.raises(TypeError, match=r"no implementation found.*Diagonal"):
            refused()


@pytest.mark.oracle
def test_functions_of_pytorch_know_no_tensors_of_ours() -> None:
    torch = pytest.importorskip("torch")
    theirs: Any = torch.ones(2, 3)
    for ours in (PLAIN, PLAIN.as_subclass(Kept)):
        for mixed in (lambda t: theirs + t, lambda t: t + theirs, lambda t: torch.add(theirs, t)):
            with pytest.raises(TypeError):
                mixed(ours)


def test_functions_of_libraries_can_be_overridden() -> None:
    def scaled(x: Any, by: float = 2.0) -> Any:
        if overrides.has_torch_function((x,)):
            return overrides.handle_torch_function(scaled, (x,), x, by=by)
        return x * by

    wrapped = overrides.wrap_torch_function(lambda x: (x,))(lambda x: x * 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(Diagonal.known, scaled, lambda x, by: ("scaled", by))
        patch.setitem(Diagonal.known, wrapped, lambda x: "wrapped")
        assert scaled(Diagonal(2, 1.0), 4.0) == ("scaled", 4.0) and scaled(5) == 10
        assert wrapped(Diagonal(2, 1.0)) == "wrapped" and wrapped(5) == 15


class Noting(overrides.TorchFunctionMode):
    """Notes the name of each function, and the names of its arguments."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self.seen.append(" ".join([func.__name__, *(kwargs or {})]))
        return func(*args, **(kwargs or {}))


def test_modes_see_every_operation() -> None:
    with Noting() as outer:
        gw.ones(2) + 1
        with Noting() as inner:
            gw.relu(PLAIN)
    gw.zeros(3)
    assert outer.seen == ["ones", "add", "relu"] and inner.seen == ["relu"]


def test_modes_do_not_see_how_gradients_are_computed() -> None:
    class Squared(gw.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: gw.Tensor) -> gw.Tensor:
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: gw.Tensor) -> gw.Tensor:
            return grad.exp()

    x = gw.ones(2, requires_grad=True)
    x.register_hook(lambda grad: grad.sin())
    y = Squared.apply(x).sum()
    with Noting() as mode:
        y.backward()
        gw.neg(PLAIN)
    assert mode.seen == ["neg"]


def test_a_mode_without_an_answer_is_named() -> None:
    class Declining(overrides.TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return NotImplemented

    with pytest.raises(TypeError, match=r"graphwright\.add.*the mode Declining"), Declining():
        gw.add(PLAIN, 1)
    with pytest.raises(RuntimeError, match="empty mode stack"):
        Declining().__exit__(None, None, None)


def test_functions_are_asked_about_with_their_out() -> None:
    class Telling:
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return func.__name__, len(args), sorted(kwargs or {})

    told: Any = Telling()
    assert gw.add(PLAIN, 1, out=told) == ("add", 2, ["out"])
    assert gw.aminmax(PLAIN, out=(told, told)) == ("aminmax", 1, ["out"])
    assert gw.add(told, 1, out=gw.empty(2, 3)) == ("add", 2, ["out"])
    target = gw.empty(2, 3).as_subclass(Logging)
    Logging.seen.clear()
    assert gw.add(PLAIN, 1, out=target) is target and Logging.seen == ["add"]
    assert target.tolist() == (PLAIN + 1).tolist()
    plain = gw.empty(2, 3)
    with Noting() as mode:
        assert gw.add(PLAIN, 1, out=plain) is plain
    assert mode.seen == ["add out"]


def test_comparisons_ask_other_classes() -> None:
    class Same:
        answer: Any = "asked"

        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return cls.answer

    other: Any = Same()
    assert [PLAIN.__eq__(other), PLAIN.__ne__(other)] == ["asked", "asked"]
    Same.answer = NotImplemented
    assert PLAIN.__eq__(other) is PLAIN.__ne__(other) is NotImplemented


def test_indices_of_a_class_with_a_say_decide_about_subscripts() -> None:
    x, rows = gw.arange(6.0).reshape(3, 2), gw.tensor([0, 2]).as_subclass(Kept)
    for key in (rows, (rows, 1), gw.tensor([True, False, True]).as_subclass(Kept)):
        assert type(x[key]) is Kept
    assert x[rows].tolist() == [[0.0, 1.0], [4.0, 5.0]]
    x[rows] = 7.0
    assert x.tolist() == [[7.0, 7.0], [2.0, 3.0], [7.0, 7.0]]
    seen: list[Any] = []

    class Noting:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any, kwargs: Any = None) -> str:
            seen.append(func)
            return "noted"

    assert x[Noting()] == x[0, Noting()] == "noted"
    x[Noting()] = 1.0
    x[0] = Noting()
    get, put = gw.Tensor.__getitem__, gw.Tensor.__setitem__
    assert seen == [get, get, put, put]


def test_functions_of_libraries_run_where_no_class_has_a_say() -> None:
    assert overrides.handle_torch_function(gw.add, (PLAIN,), PLAIN, 1).tolist() == (
        PLAIN + 1).tolist()


def test_facts_about_functions() -> None:
    assert overrides.is_tensor_like(Diagonal(1, 1.0)) and not overrides.is_tensor_like(1)
    assert overrides.is_tensor_method_or_property(gw.Tensor.add)
    assert not overrides.is_tensor_method_or_property(gw.add)
    assert overrides.resolve_name(gw.Tensor.add) == "graphwright.Tensor.add"
    assert overrides.resolve_name(gw.nn.functional.relu) == "graphwright.nn.functional.relu"
    assert gw.add in overrides.get_overridable_functions()[gw]
    assert gw.ones in overrides.get_ignored_functions()


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "an argument": lambda x: x.as_subclass(Kept) * 2,
    "a constructor": lambda x: Kept(x) + 1,
    "another class": lambda x: gw.mm(x, Diagonal(3, 2.0)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_functions_leave_overrides_to_python(name: str) -> None:
    plain = PROGRAMS[name](PLAIN)
    compiled = gw.compile(PROGRAMS[name])
    for _ in range(2):
        result = compiled(PLAIN)
        assert type(result) is type(plain) and result.tolist() == plain.tolist()


def test_compiled_functions_of_subclasses() -> None:
    compiled = gw.compile(lambda x: x * 2 + 1)
    x = PLAIN.as_subclass(Kept)
    assert type(compiled(PLAIN)) is gw.Tensor and type(compiled(x)) is Kept
    with pytest.raises(GraphBreakError, match="GB0014"):
        gw.compile(lambda x: x * 3, fullgraph=True)(x)
