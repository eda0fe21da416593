"""Loops behind a graph break: their iterators were there before the frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured
from ..captured import same as alike

X = gw.tensor([[1.0, -2.0, 3.0], [4.0, 0.5, -6.0]])
RANGES = (range(12), range(3, 40, 4), range(9, -9, -2), range(1), range(0))


def stops_early(x: Any, numbers: Any) -> Any:
    for number in numbers:
        x = gw.tanh(x) * number
        if (x > 100).all():
            break
        x = x + 0.5
    else:
        x = x - 1
    return x


def keeps_numbers(x: Any, numbers: Any) -> Any:
    seen, total = [], 0
    for number in numbers:
        seen.append(number)
        total += number * 2
        if x.sum() > 1000:
            return x, seen
        x = x + total
    return x, seen, total


def skips(x: Any, numbers: Any) -> Any:
    for number in numbers:
        if x.sum() < -100:
            continue
        x = x * 2 if number % 3 else x - number
    return x


@pytest.mark.parametrize("numbers", RANGES, ids=str)
@pytest.mark.parametrize("program", [stops_early, keeps_numbers, skips])
def test_the_body_of_a_loop_is_one_graph(program: Any, numbers: range) -> None:
    """One before the first branch, one from there to the next, and one of the end; others where
    numbers that the loop carries along come to vary, or a branch of Python's is the other one."""
    captured = Captured(program)
    for _ in range(2):
        assert captured.agrees(X, numbers)
    assert set(captured.breaks) <= {"GB0001"}
    assert captured.graphs <= (4 if program is stops_early else 7)


def test_any_number_of_passes() -> None:
    captured = Captured(stops_early)
    for count in (5, 7, 30, 2):
        assert captured.agrees(X, range(count))
    assert len(captured.record.recompiles) <= 5


def taken(x: Any, numbers: Any) -> Any:
    number = next(numbers)
    return x * number, number, number + 1, number is not None


def taken_or_else(x: Any, numbers: Any) -> Any:
    number = next(numbers, "none")
    return (x + 1, number) if number == "none" else (x * number, number)


def taken_twice(x: Any, numbers: Any) -> Any:
    return x * next(numbers), next(numbers)


def taken_by_others(x: Any, numbers: Any) -> Any:
    pairs = zip(numbers, "ab", strict=False)
    first = next(pairs)
    return x + first[0], first, list(pairs)


def taken_and_numbered(x: Any, numbers: Any) -> Any:
    y = x * 2
    for place, number in enumerate(numbers, 3):
        if y.sum() > 0:
            y = y * number + place
    return y


def taken_before_an_error(x: Any, numbers: Any) -> Any:
    y = x * next(numbers)
    raise ValueError(tuple(y.shape))


def summed(x: Any, numbers: Any) -> Any:
    return x + sum(numbers)


def outcome(function: Callable[..., Any], numbers: Any) -> Any:
    """The result or the error, and what the iterator still gives."""
    try:
        found = function(X, numbers)
    except (ValueError, StopIteration) as error:
        found = (type(error), str(error))
    return found, list(numbers)


@pytest.mark.parametrize("program", [
    taken, taken_or_else, taken_twice, taken_by_others, taken_and_numbered,
    taken_before_an_error, summed,
])
def test_an_iterator_goes_on_where_plain_python_leaves_it(program: Any) -> None:
    captured = Captured(program)
    for numbers in (range(4), range(5, 9), range(-2, 9, 3), range(1, 2), range(3, 3), range(6)):
        plain, ours = outcome(program, iter(numbers)), outcome(captured, iter(numbers))
        assert repr(ours) == repr(plain)


def test_the_iterator_stays_the_same_object() -> None:
    def given_back(x: Any, numbers: Any) -> Any:
        return x + next(numbers), numbers, [numbers], numbers is iter(numbers)

    captured = Captured(given_back, fullgraph=True)
    for first in (3, 5, 8):
        numbers = iter(range(first, 9))
        result, own, (held,), is_own = captured(X, numbers)
        assert own is held is numbers
        assert is_own
        assert list(numbers) == list(range(first + 1, 9))
        assert result[0, 0] == 1 + first
    assert captured.graphs == 1


def test_one_iterator_at_two_places() -> None:
    def both(x: Any, numbers: Any, others: Any) -> Any:
        return x * next(numbers) + next(others)

    captured = Captured(both)
    for _ in range(2):
        for same in (True, False, True):
            results = []
            for function in (both, captured):
                numbers = iter(range(3, 9))
                others = numbers if same else iter(range(20, 22))
                results.append((function(X, numbers, others), list(numbers), list(others)))
            assert repr(results[0]) == repr(results[1])


def test_what_waits_for_the_graph_comes_before_the_next_number() -> None:
    """A step of an optimiser may raise: then the loop has not gone on."""
    def train(weight: Any, opt: Any, count: int) -> Any:
        losses = []
        for number in range(count):
            opt.zero_grad()
            loss = (weight * number).sin().sum()
            loss.backward()
            losses.append(loss.item())
            if losses[-1] > 100:
                break
            opt.step()
        return losses

    results = []
    captured = Captured(train)
    for function in (train, captured):
        weight = gw.nn.Parameter(X.clone())
        opt = gw.optim.SGD([weight], lr=0.1)
        results.append([function(weight, opt, 5), function(weight, opt, 7), weight.detach()])
    assert repr(results[0]) == repr(results[1])


def test_numbers_that_are_to_be_constants() -> None:
    captured = Captured(stops_early, dynamic=False)
    assert captured.agrees(X, range(4))
    assert "GB0017" in captured.breaks


# iterators over lists, tuples and dicts, and enumerations and zips of such


def over_items(x: Any, items: Any) -> Any:
    for item in items:
        x = x * item
        print(end="")
        x = x + item
    return x


def over_pairs(x: Any, pairs: Any) -> Any:
    for first, second in pairs:
        x = x * second
        print(end="")
        x = x + (1 if isinstance(first, str) else first)
    return x


TENSORS = [gw.full((2, 3), float(i)) for i in range(1, 7)]
NAMED = {f"k{i}": tensor for i, tensor in enumerate(TENSORS)}


@pytest.mark.parametrize(
    ("program", "make"),
    [
        (over_items, lambda: TENSORS),
        (over_items, lambda: tuple(TENSORS)),
        (over_pairs, lambda: enumerate(TENSORS)),
        (over_pairs, lambda: zip(range(6), NAMED.values(), strict=False)),
    ],
    ids=["list", "tuple", "enumerate", "zip"],
)
def test_the_body_of_a_loop_over_a_container_is_one_graph(program: Any, make: Any) -> None:
    """One before the first break, one from each to the next, and one of the end; one more where
    the number comes to vary."""
    captured = Captured(lambda x: program(x, make()))
    for _ in range(2):
        assert gw.allclose(captured(X), program(X, make()))
    assert set(captured.breaks) == {"GB0003"}
    assert captured.graphs <= 4


def over_names(x: Any) -> Any:
    for _, item in NAMED.items():
        x = x * item
        print(end="")
        x = x + item.sum()
    for value in NAMED.values():
        x = x - value
        print(end="")
    return x


def test_the_bodies_of_loops_over_a_dict_are_graphs() -> None:
    captured = Captured(over_names)
    for _ in range(2):
        assert captured.agrees(X)
    assert set(captured.breaks) == {"GB0003"}
    assert captured.graphs <= 6


def test_modules_of_a_list_share_the_graph_of_the_loop() -> None:
    """Whatever their number."""

    class Block(gw.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = gw.nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            print(end="")
            return self.linear(x)

    counts = []
    for number in (3, 12):
        blocks = gw.nn.ModuleList([Block() for _ in range(number)])

        def function(x: Any, blocks: Any = blocks) -> Any:
            for place, block in enumerate(blocks):
                x = block(x).relu()
                x = x + (place >= 0)
            return x

        captured = Captured(function)
        assert captured.agrees(X)
        assert captured.agrees(X)
        counts.append((captured.graphs, set(captured.breaks)))
    assert counts[0][1] == counts[1][1] == {"GB0003"}
    assert counts[1][0] <= counts[0][0] + 2


# what happens to the container or the iterator meanwhile


def grows(x: Any, items: Any) -> Any:
    for item in items:
        print(end="")
        x = x + item
        if len(items) < 9:
            items.append(item * 2)
    return x, items


def is_replaced(x: Any, items: Any) -> Any:
    for place, item in enumerate(items):
        print(end="")
        x = x * 2 + item
        items[place] = x
        if place + 1 < len(items):
            items[place + 1] = items[place + 1] + 1
    return x, items


def changes_a_dict(x: Any, items: Any) -> Any:
    table = dict(enumerate(items))
    try:
        for key in table:
            print(end="")
            table[len(table) + key] = x
            x = x + 1
    except RuntimeError as error:
        return str(error), x
    return x


def is_asked_elsewhere(x: Any, items: Any) -> Any:
    left = iter(items)
    for item in left:
        print(end="")
        x = x + item
        x = x * next(left, 5.0)
    return x, list(left)


def is_zipped_with_itself(x: Any, items: Any) -> Any:
    left = iter(items)
    for first, second in zip(left, left, strict=False):
        print(end="")
        x = x * first + second
    return x, list(left)


def is_left_and_resumed(x: Any, items: Any) -> Any:
    left, seen = iter(items), []
    for item in left:
        print(end="")
        x = x + item
        if len(seen) == 1:
            break
        seen.append(item)
    for item in left:
        x = x * item
    return x, seen, list(left)


def of_another_kind(x: Any, items: Any) -> Any:
    for item in map(lambda item: item * 2, items):
        print(end="")
        x = x + item
    return x


@pytest.mark.parametrize("program", [
    grows, is_replaced, changes_a_dict, is_asked_elsewhere, is_zipped_with_itself,
    is_left_and_resumed, of_another_kind,
])  # fmt: skip
@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_loops_do_what_python_does(program: Any, count: int) -> None:
    captured = Captured(program)
    for _ in range(3):
        results = []
        for run in (program, captured):
            given = [gw.full((2, 3), float(i)) for i in range(count)]
            results.append(run(X, given))
        assert alike(*results)
