"""Sizes and ints that vary: static at first, symbolic once they have changed."""

from __future__ import annotations

import pytest

import graphwright as gw
from graphwright.capture.frame import dynamic_marks

from ..captured import Captured


def flatten(x):
    y = x.reshape(x.shape[0] * x.shape[1])
    return y + x.shape[0]


def branches(x):
    return x * 2 if x.shape[0] > 4 else x + 1


def repeated(x, n):
    if n > 3:
        return x * n
    return x + n


def test_a_changed_size_becomes_symbolic():
    captured = Captured(flatten)
    for n in (3, 5, 7, 9, 2, 64):
        assert captured.agrees(gw.ones(n, 4))
    assert captured.graphs == 2
    reason = captured.record.recompiles[0].reasons[0]
    assert reason == "x.shape[0]: expected 3, got 5"


def test_lengths_2_to_64_take_two_compiles():
    captured = Captured(lambda x: gw.softmax(x @ x.T, dim=-1).sum(0))
    for n in range(2, 65, 3):
        assert captured.agrees(gw.ones(n, 4))
    assert captured.graphs == 2


def test_each_number_of_dims_learns_for_itself():
    """Calls with and without a batch dimension take turns: two compiles each."""
    captured = Captured(lambda x: (x * 2).sum(-1))
    for n in range(2, 65, 6):
        assert captured.agrees(gw.ones(n, 4)) and captured.agrees(gw.ones(2, n, 4))
    assert captured.graphs == 4


def test_dynamic_from_the_start():
    captured = Captured(flatten, dynamic=True)
    for n in (3, 5, 7):
        assert captured.agrees(gw.ones(n, 4)) and captured.agrees(gw.ones(n, n + 1))
    assert captured.graphs == 1


def test_tensors_equal_to_symbolic_sizes():
    def function(last, x):
        n = x.shape[0]
        return x * (last == n - 1), n != last, last[None] == n

    captured = Captured(function, dynamic=True)
    for n in (3, 5, 7):
        assert captured.agrees(gw.tensor(n - 1), gw.ones(n))
    assert (captured.graphs, captured.breaks) == (1, [])


def test_never_dynamic():
    captured = Captured(flatten, dynamic=False)
    for n in (3, 5, 7):
        assert captured.agrees(gw.ones(n, 4))
    assert captured.graphs == 3


def test_zero_and_one_are_special():
    captured = Captured(flatten)
    for n in (3, 5, 1, 0, 8, 1, 0):
        assert captured.agrees(gw.ones(n, 4))
    assert captured.graphs == 4


def test_branches_on_sizes_are_guards():
    captured = Captured(branches)
    for n in (3, 4, 6, 9, 2, 5):
        assert captured.agrees(gw.ones(n, 4))
    assert captured.graphs == 3


def test_unused_arguments_have_no_guard():
    captured = Captured(lambda x, unused: x * 2)
    for n in (1, 2, 3):
        assert captured.agrees(gw.ones(3), gw.ones(n))
    assert captured.agrees(gw.ones(3), None)
    assert captured.graphs == 1


def test_int_arguments():
    captured = Captured(repeated)
    for n in (5, 6, 7, 9):
        assert captured.agrees(gw.ones(3), n)
    assert captured.graphs == 2
    for n in (2, 3, -4, 2):
        assert captured.agrees(gw.ones(3), n)
    assert captured.graphs == 3


def test_int_argument_as_a_size():
    captured = Captured(lambda x, n: gw.zeros(n, 2).sum(1) + x)
    for n in (4, 5, 6, 7):
        assert captured.agrees(gw.ones(1), n)
    assert captured.graphs == 2


def test_symbolic_sizes_are_returned_as_ints():
    captured = Captured(lambda x: (x + 1, x.shape[0] * 2 + x.shape[1] // 3, x.shape))
    for n in (3, 5, 7):
        result = captured(gw.ones(n, 9))
        assert result[1:] == (n * 2 + 3, (n, 9))
        assert type(result[1]) is int
    assert captured.graphs == 2


def test_loops_over_symbolic_sizes():
    def rows(x):
        total = x[0]
        for i in range(1, x.shape[0]):
            total = total + x[i]
        return total

    captured = Captured(rows)
    for n in (3, 5, 4, 5, 3):
        assert captured.agrees(gw.ones(n, 4))


def test_transposed_inputs_under_symbolic_sizes():
    captured = Captured(lambda x: x.contiguous() + 1)
    for n in (3, 5, 7):
        assert captured.agrees(gw.ones(4, n).T)
        assert captured.agrees(gw.ones(n, 4))


@pytest.mark.parametrize("n", [2, 3, 8])
def test_strided_inputs(n):
    captured = Captured(lambda x: x * 2)
    for rows in (n, n + 1, n + 2):
        assert captured.agrees(gw.ones(rows, 8)[:, ::2])


def test_a_break_keeps_symbolic_sizes():
    def broken(x):
        n = x.shape[0] * 2
        print(end="")
        return x * n

    captured = Captured(broken)
    for n in (3, 5, 7, 9, 11):
        assert captured.agrees(gw.ones(n, 4))
    assert captured.graphs <= 4


def test_an_argument_named_like_a_size_symbol():
    def program(s0, n):
        return s0.sum() > n

    captured = Captured(program)
    for n in (2, 3, 4):
        assert captured.agrees(gw.ones(2), n)


class Counting:
    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        self.calls += 1
        return x + self.calls


def test_a_counter_becomes_symbolic():
    counting = Counting()
    captured = Captured(lambda x: counting(x) * 2)
    for n in range(1, 30):
        assert captured(gw.zeros(2))[0].item() == 2 * n
    assert counting.calls == 29
    assert captured.graphs <= 4


def compiled_sizes(function, sizes, mark, **options):
    """Graphs and recompiles of calls with tensors of these sizes, the first one marked."""
    compiled = gw.compile(function, backend="eager", **options)
    for number, size in enumerate(sizes):
        x = gw.ones(size, 4)
        if number == 0:
            mark(x)
        assert gw.equal(compiled(x), function(x))
    stats = gw.compiler.stats(compiled)
    return stats.graphs, stats.recompiles


def test_marked_dynamic_from_the_start():
    def mark(x):
        gw.compiler.mark_dynamic(x, 0)

    assert compiled_sizes(lambda x: x.sum(0) * 2, range(2, 65, 7), mark) == (1, 0)
    assert compiled_sizes(lambda x: x.sum(0) * 2, (5, 6, 7), mark, dynamic=False) == (1, 0)
    assert compiled_sizes(lambda x: x * 2, (5, 6, 1, 0), mark) == (3, 2)


def test_bounds_of_marks_are_guards():
    def mark(x):
        gw.compiler.mark_dynamic(x, -2, min=4, max=8)

    assert compiled_sizes(lambda x: x * 2, (5, 4, 8, 6), mark) == (1, 0)
    assert compiled_sizes(lambda x: x * 2, (5, 9, 3, 12), mark) == (2, 1)
    x = gw.ones(3, 4)
    with pytest.raises(ValueError, match=r"size 3 of dimension 0 is not within \[4, None\]"):
        gw.compiler.mark_dynamic(x, 0, min=4)
    with pytest.raises(IndexError, match="dimension 2"):
        gw.compiler.mark_dynamic(x, 2)
    with pytest.raises(TypeError, match="not of list"):
        gw.compiler.mark_dynamic([x], 0)


def test_a_mark_that_the_program_cannot_keep_is_told():
    compiled = gw.compile(lambda x: x.reshape(3, 4) + 1, backend="eager")
    x = gw.ones(12)
    gw.compiler.mark_dynamic(x, 0)
    with pytest.warns(RuntimeWarning, match=r"x.shape\[0\] was marked dynamic.* to be 12"):
        compiled(x)


def test_marked_static():
    compiled = gw.compile(lambda x: x * 2, backend="eager", dynamic=True)
    for size in (2, 3, 4):
        x = gw.ones(size, 4)
        gw.compiler.mark_static(x, 0)
        compiled(x)
    assert gw.compiler.stats(compiled).graphs == 3


def test_marks_die_with_their_tensors():
    x = gw.ones(3)
    gw.compiler.mark_dynamic(x, 0)
    gw.compiler.mark_static(x)
    assert dynamic_marks.marks_of(x).static == {0} and not dynamic_marks.marks_of(x).dynamic
    key = id(x)
    del x
    assert key not in dynamic_marks._marks


def test_sizes_of_unused_arguments_do_not_matter():
    captured = Captured(lambda x, y, z: x + 1)
    for n in range(2, 9):
        assert captured.agrees(gw.ones(3), gw.ones(n, n), [gw.ones(n)] * n)
    assert captured.graphs == 1


def test_models_of_many_lengths_take_two_compiles():
    layer = gw.nn.Linear(8, 8)

    def attention(x):
        q = layer(x)
        weights = gw.softmax(q @ q.transpose(-2, -1) / 8**0.5, dim=-1)
        return (weights @ x).mean(-2)

    def split(x):
        half = x.shape[0] // 2
        return gw.cat([x[half:], x[:half]]) + gw.arange(x.shape[0]).unsqueeze(1)

    for function in (attention, split):
        captured = Captured(function)
        for n in range(2, 65):
            assert captured.agrees(gw.ones(n, 8))
        assert captured.graphs <= 2, captured.record.recompiles


def test_a_number_of_pieces_is_all_that_taking_apart_assumes():
    def pieces(x):
        first, second = x.chunk(2)
        return first.sum(0), second * 2, x.split(x.shape[0] // 2 + 1)[1], x[x.shape[0] // 3 :]

    captured = Captured(pieces)
    for n in range(5, 40):
        assert captured.agrees(gw.arange(n * 2.0).reshape(n, 2))
    assert captured.graphs <= 2, captured.record.recompiles

    sections = Captured(lambda x: x.tensor_split(3))
    for n in range(6, 40):
        assert sections.agrees(gw.arange(float(n)))
    assert sections.graphs <= 4, sections.record.recompiles


def test_a_permutation_is_specialised_to_its_bits():
    captured = Captured(lambda x: x[gw.randperm(x.shape[0])])
    for n in (5, 6, 7, 4, 9, 15, 12):
        gw.manual_seed(n)
        plain = captured.function(gw.arange(n))
        gw.manual_seed(n)
        assert captured(gw.arange(n)).tolist() == plain.tolist()
    assert captured.graphs == 3, captured.record.recompiles
