"""What models hand around: outputs that are dicts and tuples at once, shapes, compiled modules."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured
from ..programs import Programs, whole

program = Programs()


class Output(collections.OrderedDict[str, Any]):
    """Fields by attribute, by name and by place."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value is not None:
                self[field.name] = value

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return dict(self.items())[key]
        return tuple(self[name] for name in self)[key]

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        super().__setattr__(key, value)


@dataclasses.dataclass
class States(Output):
    """The output of a model."""

    last: Any = None
    pooled: Any = None
    hidden: Any = None


class Doubling(dict[str, Any]):
    """A dict that gives twice what it holds."""

    def __getitem__(self, key: str) -> Any:
        return super().__getitem__(key) * 2


def read_output(output: Any) -> Any:
    names = [name for name in output]
    return output.last + 1, output["last"], output[0], output[1][0], len(output), names


def change_output(output: Any) -> Any:
    output["pooled"] = output.last * 2
    return output.pooled, list(output)


def add_doubled(values: Any) -> Any:
    values["c"] = values["a"] + 1
    return values["c"], values.get("a"), "b" in values


@pytest.mark.parametrize("function", [read_output, change_output], ids=lambda f: f.__name__)
def test_an_output_is_an_argument(function: Any) -> None:
    whole(function, States(last=gw.arange(3.0), hidden=(gw.ones(2),)))


def test_a_dict_that_reads_its_items_otherwise_is_an_argument() -> None:
    whole(add_doubled, Doubling(a=gw.arange(3.0), b=1))


def test_the_order_of_an_output_is_guarded() -> None:
    captured = Captured(lambda output: (list(output), output[0] + 1), fullgraph=True)
    first, second = States(last=gw.zeros(2)), States(last=gw.zeros(2))
    first["pooled"] = second["pooled"] = gw.ones(2)
    second.move_to_end("last")
    assert captured(first)[0] == ["last", "pooled"]
    names, result = captured(second)
    assert names == ["pooled", "last"]
    assert result.tolist() == [2.0, 2.0]


@program
def shape_as_a_key(x: Any) -> Any:
    cache: dict[Any, Any] = {}
    for tensor in (x, x + 1, x[:2]):
        if tensor.shape not in cache:
            cache[tensor.shape] = tensor * 2
    return cache, cache[x.shape] + 1


@program
def one_object_is_the_shape(x: Any) -> Any:
    y = x + 1
    return x.shape is x.shape, x.size() is x.shape, y.shape is y.shape, y.shape is x


@program
def new_tensors_of_a_shape(x: Any) -> Any:
    return x.new(x.size()).shape, x.new(x.shape[:1]).shape, x.new((2, 3)), x.new_ones(x.shape)


@program
def kinds_of_values(x: Any) -> Any:
    values = (x, 1, "a", [x], None, gw.float32, gw.Tensor)
    return x + 1, [gw.is_tensor(value) for value in values]


@program
def tensors_beside_other_values(x: Any) -> Any:
    others: tuple[Any, ...] = ("a", None, [1], (1,), {}, {1}, int, len)
    found = collections.deque(["start", x, None])
    unequal = [x != other for other in others], None in [x, None], "start" in found
    return x + 1, [x == other for other in others], [other == x for other in others], unequal


@pytest.mark.parametrize("function", program.all, ids=lambda f: f.__name__)
def test_values_of_models_in_one_graph(function: Any) -> None:
    whole(function, gw.arange(12.0).reshape(3, 4))


def test_a_shape_stays_the_same_object_behind_a_break() -> None:
    def program(x: Any) -> Any:
        shape = x.shape
        print(end="")
        return shape is x.shape, shape

    captured, x = Captured(program), gw.ones(2, 3)
    assert captured(x) == program(x) == (True, (2, 3))


def test_a_cache_by_shape_lives_from_call_to_call() -> None:
    cache: dict[Any, Any] = {}

    def program(x: Any) -> Any:
        if x.shape not in cache:
            cache[x.shape] = x * 2
        return x + cache[x.shape]

    captured = Captured(program, fullgraph=True, dynamic=False)
    for _ in range(2):
        for size in (2, 3):
            assert captured(gw.ones(size)).tolist() == [3.0] * size
    assert list(cache) == [(2,), (3,)]


class Counting(gw.nn.Module):
    """A layer that counts its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = gw.nn.Parameter(gw.tensor([2.0]))
        self.calls = 0

    def forward(self, x: Any) -> Any:
        self.calls += 1
        return x * self.weight * self.calls


def test_a_compiled_module_is_inlined_where_a_compiled_frame_calls_it() -> None:
    layer = Counting()
    inner = gw.compile(layer, backend="eager")

    def program(x: Any) -> Any:
        y = inner(x)
        inner.calls += 1
        return y + inner.weight, layer.calls, inner.calls, isinstance(inner, Counting)

    captured, x = Captured(program, fullgraph=True), gw.ones(2)
    for step in range(3):
        y, *counts = captured(x)
        assert y.tolist() == [2.0 * (2 * step + 1) + 2.0] * 2
        assert counts == [2 * step + 2, 2 * step + 2, True]
        assert layer.calls == inner.calls == 2 * step + 2


def test_equal_dicts_are_compared_key_by_key_in_order() -> None:
    """A value whose comparison fails is reached before a key that is missing later."""

    def program(x: Any, y: Any) -> Any:
        left = {"a": x, "b": 1}
        return left == {"a": y, "c": 1}

    captured, x = Captured(program), gw.ones(2)
    with pytest.raises(RuntimeError, match="ambiguous"):
        captured(x, x + 1)
    assert captured(x, x) is program(x, x) is False


@pytest.mark.parametrize("pair", [(1.5, 0.0), (1, 0), (1.5, 0), ("a", 1)], ids=str)
def test_divmod_fails_in_its_own_words(pair: Any) -> None:
    def program(x: Any, a: Any, b: Any) -> Any:
        try:
            divmod(a, b)
        except (TypeError, ZeroDivisionError) as error:
            return x + 1, str(error)

    captured = Captured(program)
    assert captured.agrees(gw.ones(1), *pair) and captured.breaks == []


def test_divmod_takes_no_tensors() -> None:
    captured = Captured(lambda x: divmod(x, 2))
    with pytest.raises(TypeError, match="divmod"):
        captured(gw.ones(2))
