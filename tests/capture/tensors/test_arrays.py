"""NumPy's arrays in frames: made of constants, read from outside, and the memory of tensors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphwright as gw

from ..captured import Captured
from ..pictures import picture

OFFSETS = np.array([0.25, 0.5, 1.0])


def positions(x: Any) -> Any:
    """The table of a transformer."""
    place, width = np.arange(3)[:, None], np.arange(4)[None]
    angle = place / np.power(10000, 2 * (width // 2) / 4)
    angle[:, 0::2] = np.sin(angle[:, 0::2])
    angle[:, 1::2] = np.cos(angle[:, 1::2])
    return x + gw.tensor(angle, dtype=gw.float32)


def masked(x: Any) -> Any:
    mask = np.tril(np.ones((3, 3)))
    return gw.from_numpy(mask).float() @ x, x.masked_fill(x > np.pi, -np.inf)


def indexed(x: Any) -> Any:
    order = np.zeros(3, dtype=np.int64)
    for place in range(3):
        order[place] = 2 - place
    x = x.clone()
    x[np.array([0, 1])] = 5.0
    return x[order], x[:, np.argsort([3, 1, 2, 0])]


def read(x: Any) -> Any:
    table = np.array([[1, 5], [2, 3]])
    rows = [int(row.max()) for row in table]
    facts = table.shape, table.tolist(), len(table), table.sum(), table[0, 1], 5 in table
    return x * rows[0], facts


def given_back(x: Any) -> Any:
    made = np.linspace(0, 1, 5)
    made += 1
    return x + 1, made, np.eye(2, dtype=np.float32), [made]


def new_tensors(x: Any) -> Any:
    made = np.arange(3, dtype=np.int32)
    first = x.new_tensor(made)
    made += 1
    return first, x.new_tensor(made, dtype=gw.int64), x.new_tensor(made, dtype=None) + 1


PROGRAMS = [positions, masked, indexed, read, given_back, new_tensors]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("backend", ["eager", "c"])
def test_arrays_of_constants_are_computed_while_translating(program: Any, backend: str) -> None:
    x = gw.arange(12.0).reshape(3, 4)
    compiled = gw.compile(program, backend=backend, fullgraph=True)
    for _ in range(2):
        assert picture(compiled(x)) == picture(program(x))


def test_each_call_makes_new_arrays() -> None:
    def program(x: Any) -> Any:
        made = np.zeros(2)
        return x + gw.tensor(made), made

    compiled = gw.compile(program, backend="eager", fullgraph=True)
    first = compiled(gw.ones(2))
    first[1][:] = 7
    first[0].fill_(9)
    second = compiled(gw.ones(2))
    assert second[1].tolist() == [0, 0] and second[0].tolist() == [1, 1]


@pytest.mark.parametrize(
    "write",
    [
        lambda array, tensor: array.__setitem__(0, 5.0),
        lambda array, tensor: tensor.add_(1),
        lambda array, tensor: array.fill(2.0),
    ],
)
def test_memory_under_two_names_is_left_to_python(write: Callable[..., Any]) -> None:
    def program(x: Any) -> Any:
        array = np.zeros(3)
        tensor = gw.from_numpy(array)
        write(array, tensor)
        return x + tensor, array * 2, array

    captured = Captured(program)
    assert picture(captured(gw.ones(3))) == picture(program(gw.ones(3)))
    assert captured.breaks


def from_outside(x: Any, array: Any) -> Any:
    tensor = gw.from_numpy(array)
    scaled = gw.as_tensor(array, dtype=gw.float64) + gw.tensor(array)
    return x * tensor.sum(), scaled, array.shape, len(array), array.dtype, array.ndim


def test_an_array_from_outside_is_an_input() -> None:
    captured = Captured(from_outside, fullgraph=True)
    for count in (3, 5, 6, 9):
        array = np.arange(count * 2, dtype=np.float32).reshape(count, 2)
        assert picture(captured(gw.ones(2), array)) == picture(from_outside(gw.ones(2), array))
    assert captured.graphs == 2
    for array in (np.arange(6).reshape(3, 2), np.ones((2, 3)).T, np.float32(OFFSETS)):
        assert picture(captured(gw.ones(2), array)) == picture(from_outside(gw.ones(2), array))


def test_what_an_array_holds_is_no_guard() -> None:
    compiled = gw.compile(lambda x: x + gw.from_numpy(OFFSETS), backend="eager", fullgraph=True)
    before = OFFSETS.copy()
    try:
        assert compiled(gw.zeros(3)).tolist() == before.tolist()
        OFFSETS[1] = 9.0
        assert compiled(gw.zeros(3)).tolist() == OFFSETS.tolist()
    finally:
        OFFSETS[:] = before


def test_writes_reach_the_array() -> None:
    def program(x: Any, array: Any) -> Any:
        tensor = gw.from_numpy(array)
        tensor.add_(x)
        return tensor * 2

    captured = Captured(program)
    for _ in range(3):
        ours, plain = np.zeros(3), np.zeros(3)
        found = captured(gw.ones(3), ours)
        assert picture(found) == picture(program(gw.ones(3), plain))
        assert ours.tolist() == plain.tolist()


def test_the_memory_of_a_result_is_an_array() -> None:
    def program(x: Any) -> Any:
        y = (x * 2).sum(1)
        array = y.detach().cpu().numpy()
        y += 1
        return array, y, gw.from_numpy(array) + 1, array.shape, array.dtype

    captured = Captured(program, fullgraph=True)
    x = gw.arange(6.0).reshape(2, 3)
    assert picture(captured(x)) == picture(program(x))
    array, tensor, *_ = captured(x)
    array[0] = -1
    assert tensor[0].item() == -1


def test_numpy_of_what_needs_gradients_raises() -> None:
    compiled = gw.compile(lambda x: (x * 2).numpy(), backend="eager")
    with pytest.raises(RuntimeError, match="requires grad"):
        compiled(gw.ones(2, requires_grad=True))


def test_what_numpy_warns_of_or_refuses() -> None:
    def divides(x: Any) -> Any:
        return x + 1, np.array([1.0]) / np.array([0.0])

    def refuses(x: Any) -> Any:
        try:
            return x + gw.tensor(np.arange(3) + np.arange(4))
        except ValueError as error:
            return x - 1, type(error)

    for _ in range(2):
        with pytest.warns(RuntimeWarning):
            assert math.isinf(Captured(divides)(gw.ones(1))[1][0])
    captured = Captured(refuses)
    assert picture(captured(gw.ones(3))) == picture(refuses(gw.ones(3)))


def _twice(x: Any, array: Any) -> Any:
    first, second = gw.from_numpy(array), gw.from_numpy(array)
    first.add_(1).unsqueeze_(0)
    return first * 2, second * 2, first is second, x + second


def _twice_of_constants(x: Any, array: Any) -> Any:
    made = np.zeros(3)
    first, second = gw.from_numpy(made), gw.from_numpy(made[1:])
    first.add_(1)
    return x + first, second * 2


def _other_layout(x: Any, array: Any) -> Any:
    y = x * 2
    flat = y.numpy()
    y.unsqueeze_(0)
    return flat, flat.shape, y


def _shape_of_before(x: Any, array: Any) -> Any:
    gw.from_numpy(array).unsqueeze_(0)
    return x * array.shape[0], array.ndim


def _transposed_index(x: Any, array: Any) -> Any:
    places = np.array([[0, 1], [1, 2]])
    return x[places.T], x[places.T].stride()


def _version(x: Any, array: Any) -> Any:
    tensor = gw.from_numpy(array)
    tensor.add_(1)
    return tensor, tensor._version


@pytest.mark.parametrize(
    "program",
    [_twice, _twice_of_constants, _other_layout, _shape_of_before, _transposed_index, _version],
    ids=lambda program: program.__name__.strip("_"),
)
def test_tensors_over_an_array_are_objects_of_their_own(program: Any) -> None:
    captured = Captured(program)
    for _ in range(2):
        ours, plain = np.zeros(3), np.zeros(3)
        assert picture(captured(gw.ones(3), ours)) == picture(program(gw.ones(3), plain))
        assert ours.tolist() == plain.tolist()


@pytest.mark.parametrize("backend", ["eager", "c"])
def test_what_the_graph_saved_is_the_tensor_that_is_given_back(backend: str) -> None:
    def program(w: Any, array: Any) -> Any:
        tensor = gw.from_numpy(array)
        return (w * tensor).sum(), tensor

    w = gw.ones(3, dtype=gw.float64, requires_grad=True)
    loss, tensor = gw.compile(program, backend=backend, fullgraph=True)(w, np.ones(3))
    tensor.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_arrays_that_are_not_writable_warn_where_python_does() -> None:
    def copies(x: Any, array: Any) -> Any:
        return x + gw.tensor(array)

    compiled = gw.compile(copies, backend="eager")
    array = np.ones(3)
    for writable in (True, False):
        array.flags.writeable = writable
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*not writable")
            assert compiled(gw.ones(3), array).tolist() == [2, 2, 2]


TABLE = np.array([[10.0, 13.0], [16.0, 30.0], [33.0, 23.0]])
ORDER = np.array([2, 0, 1])


def boxes(x: Any) -> Any:
    parts = [x * width + height for width, height in TABLE]
    return gw.stack(parts), TABLE.max(), float(TABLE[1, 0]), 16 in TABLE


def scaled(x: Any) -> Any:
    table = TABLE / TABLE.sum(1, keepdims=True) - TABLE.mean()
    return x + gw.from_numpy(table.T[:, ORDER]).float().sum(), table, np.sqrt(TABLE[0]).tolist()


def itself(x: Any) -> Any:
    return x + 1, np.asarray(TABLE) is TABLE, TABLE.real is TABLE, TABLE[0] is TABLE[0]


@pytest.mark.parametrize("program", [boxes, scaled, itself])
def test_what_an_array_holds_is_read_once(program: Any) -> None:
    captured = Captured(program, fullgraph=True)
    for _ in range(2):
        assert picture(captured(gw.ones(3))) == picture(program(gw.ones(3)))
    assert captured.graphs == 1


def test_an_array_that_holds_something_else_is_seen() -> None:
    """Where what it holds has varied, that is left to Python: one version of the function, and one
    of what it does behind the break, are for nothing."""
    def read(x: Any, table: Any) -> Any:
        return x * table[1] + len(table), table.sum()

    captured, table = Captured(read), np.array([1.0, 2.0, 3.0])
    for step in range(6):
        assert picture(captured(gw.ones(3), table)) == picture(read(gw.ones(3), table))
        table[step % 3] -= 1.5
    reasons = [reason for entry in captured.record.recompiles for reason in entry.reasons]
    assert len([reason for reason in reasons if "table.tobytes()" in reason]) == 2, reasons
    for other in (table.astype(np.float32), table[::-1], np.arange(4), np.array([0.0, -0.0])):
        for _ in range(2):
            assert picture(captured(gw.ones(3), other)) == picture(read(gw.ones(3), other))


@pytest.mark.parametrize("write", [
    lambda x, table: x.add_(1),
    lambda x, table: gw.from_numpy(table).mul_(2),
    lambda x, table: table.fill(7.0),
    lambda x, table: table.__setitem__(0, 7.0),
    lambda x, table: table.__iadd__(1),
    lambda x, table: table[:2].fill(7.0),
    lambda x, table: np.asarray(table).sort(),
])
def test_writes_to_an_array_that_was_read(write: Callable[..., Any]) -> None:
    """The argument is over the same memory."""
    def run(x: Any, table: Any) -> Any:
        first, part = table[1] * 2, table[1:]
        write(x, table)
        return x * 2, first, table[1] * 3, part.sum(), table.max()

    captured, results = Captured(run), []
    for function in (run, captured):
        for start in (3.0, 3.0, 5.0):
            table = np.array([start, 2.0, 1.0])
            results.append((picture(function(gw.from_numpy(table), table)), table.tolist()))
    assert results[:3] == results[3:]


def test_views_of_an_array_from_outside_are_python_s() -> None:
    def part(x: Any, table: Any) -> Any:
        return x + table[0], table[1:]

    captured, table = Captured(part), np.arange(4.0)
    for _ in range(2):
        view = captured(gw.ones(3), table)[1]
        view += 1
        assert np.shares_memory(view, table)
    assert table.tolist() == [0.0, 3.0, 4.0, 5.0]
