"""Code without tensors is looked at once and then runs as plain Python, also beside tensors."""

from __future__ import annotations

import gc
import pickle
import random
import time
from typing import Any

import pytest
from tests.capture.captured import Captured, same

import graphwright as gw
from graphwright.capture import _eval_frame
from graphwright.capture.frame.budget import MOST_WITHOUT_TENSORS
from graphwright.capture.frame.frontend import GraphBreakError

is_constant = _eval_frame.is_constant
X = gw.tensor([1.0, 2.0, 3.0])
MODEL: Any = None
SETTINGS: dict[str, Any] = {"factor": 2}


class Point:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def size(self) -> Any:
        return self.x * self.x + self.y * self.y


def masked_sum(n: int) -> int:
    total = 0
    for i in range(n):
        total += i & 3
    return total


def generated(n: int) -> int:
    def pairs():
        for i in range(n):
            yield i, i * 2

    return sum(a + b for a, b in pairs())


def nested(n: int) -> dict[int, list[int]]:
    return {i: [j for j in range(i % 5)] for i in range(n)}


def counted(n: int) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for i in range(n):
        key = f"{i % 7}"
        counts[key] = counts.get(key, 0) + 1
    return sorted(counts.items())


def points(n: int) -> int:
    return sum(Point(i, i + 1).size() for i in range(n))


def called(n: int) -> int:
    return sum(masked_sum(i % 9) for i in range(n))


def caught(n: int) -> int:
    found = 0
    for i in range(n):
        try:
            [].index(i)
        except ValueError:
            found += 1
    return found


def unknown_calls(n: int) -> list[str]:
    return [time.strftime("%Y", (2000 + i, 1, 1, 0, 0, 0, 0, 1, 0)) for i in range(n)]


def unknown_calls_and_others(n: int) -> tuple[list[str], int]:
    return unknown_calls(n), masked_sum(n)


PROGRAMS = [masked_sum, generated, nested, counted, points, called, caught, unknown_calls]


@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.parametrize("sizes", [(3, 4, 5), (20_000, 3, 20_001)])
def test_one_translation_serves_every_number(function, sizes):
    captured = Captured(function)
    for n in (*sizes, *sizes):
        assert captured.agrees(n)
    assert captured.compiled.misses == 1
    assert captured.graphs == 0
    assert not captured.record.recompiles


def test_nothing_is_hooked_while_it_runs():
    captured = Captured(unknown_calls_and_others)
    before = _eval_frame.frame_counts()
    for n in (3, 4, 5):
        assert captured.agrees(n)
    assert _eval_frame.frame_counts() == before


def test_long_loops_stop_the_translation_early():
    captured = Captured(masked_sum)
    assert captured.agrees(50_000)
    assert captured.breaks == ["GB0018"]
    assert str(MOST_WITHOUT_TENSORS) in captured.record.breaks[0].detail


# what makes such code be looked at again


def double(value: Any) -> Any:
    return value * 2


def of_items(values: Any) -> Any:
    total = 0
    for value in values:
        total = total + value
    return total


def of_mapping(values: Any) -> Any:
    return values["a"] * 2


def of_attribute(point: Any) -> Any:
    return point.size()


def applied(function: Any) -> Any:
    return function(3)


def of_keyword(n: int, *, scale: Any = 1) -> Any:
    return n * scale


def _number(n):
    return n + 1


def _tensor(n):
    return gw.ones(n) + 1


def _numbers(n):
    yield from range(n)


@pytest.mark.parametrize(
    ("function", "plain", "with_tensors"),
    [
        (double, (3,), (X,)),
        (double, ("a",), (X,)),
        (of_items, ([1, 2],), ([X, X],)),
        (of_items, ((1, 2),), ((1, X),)),
        (of_mapping, ({"a": 1},), ({"a": X},)),
        (of_attribute, (Point(1, 2),), (Point(X, X),)),
        (of_items, ([Point(1, 2).x],), ([Point(X, 2).x],)),
        (applied, (_number,), (_tensor,)),
    ],
)
def test_tensors_are_captured_after_plain_calls(function, plain, with_tensors):
    captured = Captured(function)
    for _ in range(10):
        assert captured.agrees(*plain)
    assert captured.graphs == 0
    assert captured.agrees(*with_tensors)
    assert captured.agrees(*with_tensors)
    assert captured.graphs == 1
    misses = captured.compiled.misses
    assert captured.agrees(*plain)
    assert captured.compiled.misses == misses


def test_keywords_count_as_arguments():
    captured = Captured(of_keyword)
    for _ in range(10):
        assert captured.agrees(2, scale=3)
    assert captured.agrees(2, scale=X)
    assert captured.graphs == 1


def test_other_types_without_tensors_need_no_translation(monkeypatch):
    captured = Captured(double)
    translated = []
    attempt = type(captured.frontend)._attempt
    monkeypatch.setattr(
        type(captured.frontend), "_attempt",
        lambda self, *args: translated.append(args) or attempt(self, *args),
    )
    for value in (1, 1.5, "a", [1], (2,), [[1], "b"], 1j, b"c", [Point(1, 2)]):
        assert captured.agrees(value)
    assert len(translated) == 1


def test_functions_that_name_the_package_are_captured_when_they_use_it():
    def seldom(n):
        return gw.ones(n) * 2 if n > 3 else n

    captured = Captured(seldom)
    for n in (1, 2, 1, 3):
        assert captured.agrees(n)
    assert captured.graphs == 0
    assert captured.agrees(5)
    assert captured.graphs == 1


def test_functions_that_are_called_count_too():
    def seldom(n):
        return _tensor(n) if n > 3 else n

    captured = Captured(seldom)
    assert captured.agrees(1)
    assert captured.agrees(5)
    assert captured.graphs == 1


def test_functions_of_the_package_in_c_count_too():
    captured = Captured(lambda n: is_constant(n) if n > 3 else n)
    assert captured.agrees(1)
    assert captured.agrees(5)
    assert captured.compiled.misses == 2


def predicted(n):
    return n if MODEL is None else MODEL.weight * n


def scaled(n):
    return n * SETTINGS["factor"]


def test_globals_that_get_tensors_later(monkeypatch):
    captured = Captured(predicted)
    for n in range(10):
        assert captured.agrees(n)
    assert captured.compiled.misses == 1
    monkeypatch.setitem(globals(), "MODEL", gw.nn.Linear(3, 2))
    assert captured.agrees(1)
    assert captured.graphs == 1


def test_containers_in_globals_that_get_tensors_later(monkeypatch):
    captured = Captured(scaled)
    for n in range(10):
        assert captured.agrees(n)
    assert captured.compiled.misses == 1
    monkeypatch.setitem(SETTINGS, "factor", X)
    assert captured.agrees(1)
    assert captured.graphs == 1


def test_generators_of_other_functions_are_looked_at():
    def tensors(n):
        for _ in range(n):
            yield gw.ones(2)

    compiled = Captured(of_items)
    for n in (2, 3, 4):
        assert compiled(_numbers(n)) == of_items(_numbers(n))
    assert compiled.compiled.misses == 1
    assert same(compiled(tensors(2)), of_items(tensors(2)))
    assert compiled.compiled.misses == 2


def test_tensors_without_operations_are_guarded():
    def maybe(x, active):
        return x * 2 if active else x

    captured = Captured(maybe)
    for _ in range(20):
        assert captured.agrees(X, False)
    assert captured.compiled.misses == 1
    assert captured.agrees(X, True)
    assert captured.graphs == 1
    assert not captured.record.recompiles


# variables that get tensors later


class Model:
    weight: Any = None

    def scaled(self, n: Any) -> Any:
        return n if self.weight is None else self.weight * n


def of_class(n):
    return n if Model.weight is None else Model.weight * n


def of_method(n):
    return Model().scaled(n)


@pytest.mark.parametrize("function", [of_class, of_method])
def test_class_attributes_that_get_tensors_later(function, monkeypatch):
    captured = Captured(function)
    for n in range(5):
        assert captured.agrees(n)
    assert captured.compiled.misses == 1
    monkeypatch.setattr(Model, "weight", X)
    assert captured.agrees(1)
    assert captured.graphs == 1


def test_closures_that_get_tensors_later():
    weight = None

    def scaled_by_weight(n):
        return n if weight is None else weight * n

    captured = Captured(scaled_by_weight)
    for n in range(5):
        assert captured.agrees(n)
    assert captured.compiled.misses == 1
    weight = X
    assert captured.agrees(1)
    assert captured.graphs == 1


def replaced(n):
    return helper(n)


def helper(n):
    return n


def test_functions_in_globals_that_are_replaced_later(monkeypatch):
    captured = Captured(replaced)
    assert captured.agrees(1)
    monkeypatch.setitem(globals(), "helper", lambda n: _tensor(n))
    assert captured.agrees(1)
    assert captured.graphs == 1


def test_tensors_are_captured_after_any_number_of_types():
    captured = Captured(double)
    for i in range(200):
        value = type(f"Kind{i}", (Point,), {"__mul__": lambda self, n: n})(1, 2)
        assert captured.agrees(value)
    assert captured.agrees(X)
    assert captured.graphs == 1


def test_keys_of_other_classes_in_globals_are_not_compared():
    class Key(str):
        __hash__ = str.__hash__

        def __eq__(self, other):
            raise AssertionError("the search runs no code of the program's")

    names: dict[Any, Any] = {"__builtins__": __builtins__, Key("other"): 1}
    exec("def read(n): return data + n", names)
    names["data"] = 1
    captured = Captured(names["read"])
    for n in range(3):
        assert captured.agrees(n)
    names["data"] = X
    assert captured.agrees(1)
    assert captured.graphs == 1


def test_places_that_end_with_a_reset_are_survived():
    captured = Captured(applied)
    ended, codes = [], []     # a code at the address of one that ended would be taken for it

    class Ends:
        def __del__(self):
            captured.compiled.reset()
            ended.append(self.__class__)

    def function(i, **held):
        names = {"__builtins__": __builtins__, **held}
        exec(f"def read(n): return data + n + {i}", names)
        codes.append(names["read"].__code__)
        return names.pop("read")

    assert captured(function(1, data=1, ends=Ends())) == 5
    gc.collect()
    assert not ended
    assert captured(function(2, data=2)) == 7
    gc.collect()
    assert ended
    assert captured(function(3, data=3)) == 9


# long loops beside tensors


def before_and_behind(x, n):
    y = x.sin()
    total = 0
    for i in range(n):
        total += i & 3
    return (y + total).cos()


def in_callee(x, n):
    y = x.sin() * 2
    total = masked_sum(n)
    return (y + total).cos() * 3


def test_the_graph_ends_before_a_long_loop():
    captured = Captured(before_and_behind)
    for n in (20_000, 20_000, 30_000, 40_000):
        assert captured.agrees(X, n)
    assert captured.ops == [1]
    assert captured.breaks == ["GB0018", "GB0018"]
    assert captured.compiled.misses == 1


def test_what_follows_a_call_that_loops_is_compiled():
    captured = Captured(in_callee, dynamic=True)
    for n in (20_000, 20_000, 30_000, 40_000):
        assert captured.agrees(X, n)
    assert captured.ops == [2, 3]


def test_short_loops_belong_to_the_graph():
    captured = Captured(before_and_behind)
    assert captured.agrees(X, 500)
    assert captured.ops == [3]
    assert not captured.breaks


def test_loops_over_operations_are_unrolled_however_long():
    def rounds(x):
        for _ in range(600):
            x = gw.sin(x) + gw.cos(x) * 0.5
        return x

    captured = Captured(rounds)
    assert captured.agrees(X)
    assert captured.ops == [2400]
    assert not captured.breaks


def test_one_graph_is_made_of_long_loops_where_it_has_to_be():
    captured = Captured(before_and_behind, fullgraph=True)
    assert captured.agrees(X, 3_000)
    assert captured.ops == [3]
    plain = Captured(masked_sum, fullgraph=True)
    assert plain.agrees(20_000)
    with pytest.raises(GraphBreakError, match="GB0003"):
        Captured(lambda n: print(end="") or n, fullgraph=True)(1)


def test_full_graphs_are_checked_in_every_call():
    def seldom(n, data):
        return pickle.loads(data) if n > 3 else n

    captured = Captured(seldom, fullgraph=True)
    for _ in range(3):
        assert captured.agrees(1, b"")
    with pytest.raises(GraphBreakError, match="GB0004"):
        captured(5, pickle.dumps(2))


def test_explain_says_why():
    text = str(gw.explain(masked_sum)(50_000))
    assert "GB0018" in text
    assert "without a tensor operation" in text


def test_random_plain_programs_have_one_translation():
    seed = random.randrange(10**6)
    print("seed", seed)
    draw = random.Random(seed)
    captured = [Captured(function) for function in PROGRAMS]
    for _ in range(60):
        assert draw.choice(captured).agrees(draw.randrange(2_000))
    assert all(one.compiled.misses <= 1 for one in captured)
