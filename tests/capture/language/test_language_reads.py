"""Numbers that are read from tensors: the graph goes on, and they are read at its end."""

from __future__ import annotations

import math
from typing import Any

import pytest

import graphwright as gw

from ..captured import Captured
from ..programs import Programs, sound, whole

whole_program = Programs()
broken_program = Programs()


@whole_program
def returned(x: Any) -> Any:
    count = (x > 0).sum()
    return x.sum().item(), float(x[0, 0]), int(count), bool((x > 0).any()), not count


@whole_program
def one_object(x: Any) -> Any:
    loss = x.sum().item()
    return loss, [loss], loss is loss, isinstance(loss, float), type(loss) is float, loss is None


@whole_program
def as_it_was_when_it_was_read(x: Any) -> Any:
    first = x[0, 0].item()
    x.zero_()
    second = x[0, 0].item()
    return first, second, x


@whole_program
def kept_in_a_log(x: Any) -> Any:
    log = []
    for _ in range(3):
        x = x * 1.5
        log.append(x.mean().item())
    return {"mean": sum(log) / len(log), "log": log}, x


@whole_program
def arithmetic(x: Any) -> Any:
    number, whole_number = x.sum().item(), (x > 0).sum().item()
    return (
        number + 1, 2 - number, number * whole_number / 3, -number, abs(number), +whole_number,
        number > 2, number == 4.5, whole_number != 3, not number, float(whole_number),
        math.isnan(number), math.isfinite(number), math.isinf(whole_number * 1.0),
    )


@whole_program
def beside_tensors(x: Any) -> Any:
    largest, count = x.max().item(), (x > 0).sum().item()
    floats = x.double() * largest, x[0, 0] * largest
    return x / largest, largest - x, x * count, x > largest, floats


@whole_program
def integers_beside_integers(x: Any) -> Any:
    whole_numbers = (x * 9).long()
    largest, some = whole_numbers.max().item(), (x > 0).any().item()
    shifted = whole_numbers - largest
    shifted += whole_numbers[0, 0].int().item()
    return shifted, largest * whole_numbers, whole_numbers < largest, whole_numbers + some


@whole_program
def truth_beside_floats(x: Any) -> Any:
    return x * (x > 9).any().item(), x.double() + bool((x > 0).all())


@whole_program
def floats_where_numbers_are_taken(x: Any) -> Any:
    largest = x.max().item()
    filled = gw.full((2,), largest), gw.full_like(x, largest), x.masked_fill(x > 0, largest)
    return filled, x.clamp(max=largest), gw.where(x > 0, largest, x)


@whole_program
def of_one_element(x: Any) -> Any:
    return x[:1, :1].item(), x[:1, :1] * x[:1].sum(1).item()


@whole_program
def tensors_of_tensors(x: Any) -> Any:
    parts = gw.tensor([x[0, 0], x.sum(), x[:1, 1]])
    mixed = gw.tensor((x.mean(), 1, 2.5)), gw.tensor([x.double().sum(), 1])
    kinds = gw.tensor([(x > 0).any(), (x > 9).all()]), gw.tensor([x.sum()], dtype=gw.float64)
    x.zero_()
    return parts, mixed, kinds, parts.is_leaf, parts.requires_grad


@broken_program
def tensors_that_are_checked(x: Any) -> Any:
    return gw.tensor([x.sum() * 0], dtype=gw.int64), gw.tensor([[x.sum(), 1], [2, x[0, 0]]])


@broken_program
def branch(x: Any) -> Any:
    if x.sum().item() > 0:
        return x + 1
    return x - 1


@broken_program
def loop(x: Any) -> Any:
    rounds = 0
    while x.abs().max().item() > 0.5:
        x = x / 2
        rounds += 1
    return x, rounds


@broken_program
def identity(x: Any) -> Any:
    found = (x > 0).any().item()
    return found is True, bool(x[0, 0] > 100) is False, found == 1, found is None


@broken_program
def key(x: Any) -> Any:
    return {x.sum().item(): "sum"}, [1, 2, 3][int((x > 0).sum()) % 3]


@broken_program
def size(x: Any) -> Any:
    return x[: (x > 100).sum().item()], gw.ones(int((x[0] > 100).sum()))


@broken_program
def no_whole_part(x: Any) -> Any:
    return int((x - math.inf).max())


@broken_program
def division_by_what_was_read(x: Any) -> Any:
    return 1 / (x * 0).sum().item()


@broken_program
def several_elements(x: Any) -> Any:
    return x.item()


@broken_program
def truth_beside_integers(x: Any) -> Any:
    some, whole_numbers = (x > 0).any().item(), (x * 9).long()
    return whole_numbers.int() * some, whole_numbers // some, whole_numbers.short() + some


@broken_program
def floats_where_few_numbers_fit(x: Any) -> Any:
    largest, wide = x.max().item(), x.double().max().item()
    return x.half().masked_fill(x > 0, largest), gw.full_like(x, wide), gw.full((2,), wide)


@broken_program
def half_and_whole_numbers(x: Any) -> Any:
    total = x.sum().item()
    return x.half() * total, x.long() * total, x.long() * x.long().sum().item(), (x > 0) * total


@pytest.mark.parametrize("program", whole_program.all)
def test_whole(program: Any) -> None:
    whole(program, gw.randn(3, 4))


@pytest.mark.parametrize("program", broken_program.all)
def test_sound(program: Any) -> None:
    sound(program, gw.randn(3, 4))


def test_the_number_of_each_call() -> None:
    captured = whole(arithmetic, gw.ones(3, 4))
    for value in (-1.0, 2.0, math.inf, math.nan):
        x = gw.full((3, 4), value)
        assert repr(captured(x)) == repr(arithmetic(x))
    assert captured.graphs == 1


def test_what_was_read_has_no_gradient() -> None:
    def program(x: Any) -> Any:
        return (x / x.max().item()).sum(), x.sum().item()

    captured = whole(program, gw.randn(3))
    x = gw.tensor([1.0, 2.0, 4.0], requires_grad=True)
    loss, total = captured(x)
    loss.backward()
    assert x.grad.tolist() == [0.25] * 3 and total == 7.0


def test_ints_that_no_float_can_hold() -> None:
    def program(x: Any) -> Any:
        product = number = x.item()
        for _ in range(17):
            product = product * number
        try:
            return product / 2.0
        except OverflowError:
            return "too large"

    captured = Captured(program)
    for x in (gw.tensor(1 << 61), gw.tensor(2)):
        assert captured(x) == program(x)
