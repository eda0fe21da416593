"""Graph breaks: the parts before and after are compiled, the result is that of plain Python."""

from __future__ import annotations

import contextlib
import linecache
import traceback

import pytest

import graphwright as gw
from graphwright.capture.breaks import BREAKS
from graphwright.capture.exc import GraphBreakError

from ..captured import Captured, check, same

X = gw.ones(3, 4)
SEEN = []


def effect(*values):
    """Stands for something that capture cannot know."""
    print(*values, end="")


def with_print(x):
    y = x + 1
    print(end="")
    return y * 2


def branch(x):
    y = x * 2
    if y.sum() > 0:
        return y + 1
    return y - 1


def branch_in_callee(x):
    return branch(-x) * branch(x)


def boolean_operators(x):
    y = x.sum() > 0 and x.sum() < 1000
    return y or x, not (x.sum() > 0)


def conditional_expression(x):
    return (x * 2) if x.sum() > 0 else (x * 3)


def break_in_loop(x):
    for i in range(3):
        x = x + i
        print(end="")
    return x * 2


def break_in_nested_loops(x):
    out = []
    for i in [1, 2]:
        for j in (x, x + 1):
            print(end="")
            out.append(j * i)
        out.append(x)
    return out


def break_in_enumerate(x):
    for i, (a, b) in enumerate(zip([x, x + 1], range(2), strict=False)):
        x = x + i * a + b
        print(end="")
    return x


def break_in_dict_loop(x):
    total = x
    for key, value in {"a": x, "b": 2}.items():
        total = total + value
        print(end="")
        total = total * len(key)
    return total


def grow_while_iterating(x):
    values = [x]
    for v in values:
        print(end="")
        if len(values) < 3:
            values.append(v + 1)
    return values


def while_on_tensor(x):
    steps = 0
    while x.sum() < 100:
        x = x.abs() * 2 + 1
        steps += 1
    return x, steps


def callee(x):
    y = x + 1
    print(end="")
    return y * 3


def break_in_callee(x):
    a = x * 2
    b = callee(a)
    return b - 1


def break_two_levels_down(x):
    def middle(v):
        return break_in_callee(v) + 1

    return middle(x) * 2


def item(x):
    v = int(x.sum().item())
    return x * v


def break_with_values_on_stack(x):
    return (x + 1) * len([print(end=""), x]) + x.max().item()


def keyword_call(x):
    return gw.sum(x, dim=int(x[0, 0].item()) % 2) + x.sum()


def break_with_closure(x):
    scale = x * 2

    def inner(y):
        return y * scale

    print(end="")
    scale = scale + 1
    return inner(x)


def break_in_comprehension(x):
    return [callee(x * i) for i in range(2)]


def captured_argument(x, k):
    def bump(v):
        nonlocal k
        k += 1
        return v + k

    x = bump(x)
    print(end="")
    return bump(x), k


def break_keeps_identity(x):
    shared = [x]
    pair = (shared, shared)
    print(end="")
    pair[0].append(1)
    return pair[1], shared is pair[0], x is shared[0]


def unpacking_break(x):
    a, b = x[:2].sum(dim=1).tolist()
    return x * a + b


def attribute_break(x):
    x.note = 3 if False else None
    return x


class Holder:
    def __init__(self):
        self.count = 0
        self.log = []


def side_effects_before_break(x, holder):
    holder.count += 1
    holder.log.append(x * holder.count)
    print(end="")
    holder.count += 10
    return holder.log[-1] + holder.count


PROGRAMS = [
    (with_print, ["GB0003"], 2),
    (branch, ["GB0001"], 2),
    (branch_in_callee, None, None),
    (boolean_operators, None, None),
    (conditional_expression, ["GB0001"], 2),
    (break_in_loop, None, None),
    (break_in_nested_loops, None, None),
    (break_in_enumerate, None, None),
    (break_in_dict_loop, None, None),
    (grow_while_iterating, None, None),
    (while_on_tensor, None, None),
    (break_in_callee, None, 4),
    (break_two_levels_down, None, None),
    (item, ["GB0002"], 2),
    (break_with_values_on_stack, None, None),
    (keyword_call, None, None),
    (break_with_closure, ["GB0003"], 2),
    (break_in_comprehension, None, None),
    (break_keeps_identity, None, None),
    (unpacking_break, ["GB0002"], 2),
]


def named(value: object) -> str:
    """A test's name that is the same in every process."""
    return getattr(value, "__name__", str(value))


@pytest.mark.parametrize(("program", "codes", "graphs"), PROGRAMS, ids=named)
def test_break(program, codes, graphs):
    captured = check(program, X, breaks=codes)
    assert captured.breaks
    if graphs is not None:
        assert captured.graphs == graphs


@pytest.mark.parametrize(("program", "codes", "graphs"), PROGRAMS, ids=named)
def test_other_values_take_the_other_way(program, codes, graphs):
    captured = Captured(program)
    for value in (X, -X, X * 50, -X):
        assert captured.agrees(value)


def test_captured_argument():
    captured = Captured(captured_argument)
    for k in (1, 1, 5):
        assert captured.agrees(X, k)


def test_long_loops_do_not_recurse():
    def long(x, n):
        for _ in range(n):
            x = x + 1
            effect()
        return x

    captured = Captured(long)
    assert captured.agrees(X, 3000)
    assert captured.graphs <= 5


def test_side_effects_come_before_the_break():
    plain, compiled = Holder(), Holder()
    captured = Captured(side_effects_before_break)
    for _ in range(3):
        expected = side_effects_before_break(X, plain)
        assert same(captured(X, compiled), expected)
        assert same(vars(plain), vars(compiled))


def test_exceptions_are_those_of_python():
    def wrong(x):
        y = x + 1
        return y @ gw.ones(7, 3)

    captured = Captured(wrong)
    with pytest.raises(RuntimeError) as plain:
        wrong(X)
    for _ in range(2):
        with pytest.raises(RuntimeError) as compiled:
            captured(X)
        assert str(compiled.value) == str(plain.value)
        lines = [frame.line for frame in traceback.extract_tb(compiled.value.__traceback__)]
        assert "return y @ gw.ones(7, 3)" in lines


def test_raise_has_the_users_line():
    def refuse(x):
        y = x * 2
        if y.shape[0] == 3:
            raise ValueError("three rows")
        return y

    captured = Captured(refuse)
    for _ in range(2):
        with pytest.raises(ValueError, match="three rows") as error:
            captured(X)
        frames = traceback.extract_tb(error.value.__traceback__)
        assert frames[-1].line == 'raise ValueError("three rows")'
        assert frames[-1].name == "refuse"


def test_exception_after_the_break():
    def late(x):
        y = x + 1
        print(end="")
        z = y * 2
        return z[17]

    captured = Captured(late)
    for _ in range(2):
        with pytest.raises(IndexError) as error:
            captured(X)
        assert traceback.extract_tb(error.value.__traceback__)[-1].line is not None
        lines = [f.line for f in traceback.extract_tb(error.value.__traceback__)]
        assert "return z[17]" in lines


def test_callees_of_a_plain_frame_are_captured():
    def guarded(x):
        try:
            return with_print(x)
        finally:
            print(end="")

    captured = check(guarded, X, breaks=None)
    assert captured.graphs == 2


def test_frames_that_look_at_themselves_are_not_cut():
    def looks(x):
        y = x + 1
        return dir(), y

    check(looks, X, breaks=["GB0016"], graphs=0)


def test_methods_that_are_called_as_such_builtins_cut_nothing():
    class Model:
        def eval(self):
            return self

    model = Model()

    def evaluates(x):
        y = x + 1
        print(end="")
        return model.eval(), y * 2

    check(evaluates, X, breaks=["GB0003"], graphs=2)


def test_super_after_a_break():
    class Base:
        def scale(self, x):
            return x * 2

    class Derived(Base):
        def scale(self, x):
            print(end="")
            return super().scale(x) + 1

    derived = Derived()
    assert Captured(lambda x: derived.scale(x) * 3).agrees(X)


def test_fullgraph_names_the_line():
    captured = Captured(with_print, fullgraph=True)
    with pytest.raises(GraphBreakError) as error:
        captured(X)
    text = str(error.value)
    assert "GB0003" in text and 'print(end="")' in text and __file__ in text
    assert "Why:" in text and "What to do:" in text


def test_records_name_the_users_line():
    captured = check(branch, X, breaks=["GB0001"])
    place = captured.record.breaks[0].location
    assert place.source == "if y.sum() > 0:"
    assert linecache.getline(place.file, place.line).strip() == place.source


def test_registry_is_complete():
    for code, kind in BREAKS.items():
        assert code == kind.code and kind.title and kind.advice


def test_errors_inside_of_the_graph_have_the_users_line():
    def look_up(x, index):
        y = x * 2
        z = y + 1
        return z[index] + 1

    captured = Captured(look_up)
    captured(gw.ones(4), gw.tensor([1, 2]))
    with pytest.raises(IndexError) as error:
        captured(gw.ones(4), gw.tensor([1, 7]))
    lines = [frame.line for frame in traceback.extract_tb(error.value.__traceback__)]
    assert "return z[index] + 1" in lines


def test_handlers_see_errors_of_values():
    def guarded(x, index):
        try:
            return x[index] * 2
        except IndexError:
            return x * 3

    captured = Captured(guarded)
    for index in ([0, 1], [0, 7]):
        assert captured.agrees(gw.ones(4), gw.tensor(index))

    def suppressed(x, index):
        y = x + 1
        with contextlib.suppress(IndexError):
            y = guarded_look_up(x, index)
        return y

    captured = Captured(suppressed)
    for index in ([0, 1], [0, 7]):
        assert captured.agrees(gw.ones(4), gw.tensor(index))


def guarded_look_up(x, index):
    return x[index] * 2


def test_grad_mode_survives_an_error_in_the_graph():
    def look_up(x, index):
        with gw.no_grad():
            return x[index]

    captured = Captured(look_up)
    captured(gw.ones(4), gw.tensor([1]))
    assert captured.graphs == 1
    with pytest.raises(IndexError):
        captured(gw.ones(4), gw.tensor([9]))
    assert gw.is_grad_enabled()
