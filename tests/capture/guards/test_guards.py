"""Guard programs: each kind of guard holds where it should, and only there."""

from __future__ import annotations

import collections
import gc
import weakref

import pytest

from graphwright.capture import _eval_frame
from graphwright.capture.guards import guards
from graphwright.capture.guards.guards import GuardBuilder, TensorLayout
from graphwright.capture.guards.source import (
    AttrSource,
    GlobalSource,
    InstanceAttrSource,
    ItemSource,
    SizeSource,
    Source,
)
from graphwright.capture.guards.text import describe
from graphwright.runtime import _core
from graphwright.runtime.symbolic.expr import Sym, floordiv, maximum, minimum
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.device import device

from ..checked import X, Y, checked, two

NAN = float("nan")
CONSTANTS = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2**40,
    2**100,
    0.0,
    -0.0,
    1.0,
    NAN,
    float("inf"),
    1j,
    complex(0, -0.0),
    "",
    "a",
    b"a",
    ...,
    (),
    (1,),
    (1.0,),
    (True,),
    ((1, (2,)),),
    range(3),
    range(1, 3),
    range(0, 3, 2),
    slice(1, None),
    slice(None),
    slice(1.0, None),
    frozenset(),
    frozenset({1}),
    frozenset({True}),
    frozenset({"a", (1,)}),
    NotImplemented,
]


@pytest.mark.parametrize("index", range(len(CONSTANTS)))
def test_constants_equal_only_themselves(index):
    holds = checked("equals", X, CONSTANTS[index])
    assert [holds(other) for other in CONSTANTS] == [i == index for i in range(len(CONSTANTS))]


def test_equal_constants_need_not_be_one_object():
    assert checked("equals", X, 10**20)(int("1" + "0" * 20))
    assert checked("equals", X, "ab")("".join(["a", "b"]))
    assert checked("equals", X, (1, "ab", 2.5))((1, "".join(["a", "b"]), 2.5))
    assert checked("equals", X, frozenset({1, 2}))(frozenset({2, 1}))


@pytest.mark.parametrize(
    "value", [[], {}, object(), (1, []), type("I", (int,), {})(1), slice([], 1)]
)
def test_other_values_are_not_constants(value):
    with pytest.raises(TypeError, match="cannot be guarded"):
        GuardBuilder().equals(X, value)


def test_type():
    class Sub(int): ...

    holds = checked("type_match", X, int)
    assert holds(3) and not holds(True) and not holds(Sub()) and not holds(3.0)
    assert holds.why(3.0) == "type(L['x']): expected int, got float"


def test_identity():
    class Thing: ...

    thing, other = Thing(), Thing()
    holds = checked("id_match", X, thing)
    assert holds(thing) and not holds(other)
    weak = weakref.ref(thing)
    del thing
    assert weak() is None, "a guard keeps its object alive"
    assert holds.program.is_dead() and not holds(None) and not holds(Thing())


def test_identity_of_what_has_no_weak_reference():
    items = [1]
    holds = checked("id_match", X, items)
    assert holds(items) and not holds([1]) and not holds.program.is_dead()


def test_cycle_through_a_guard_is_collected():
    class Thing: ...

    thing = Thing()
    box = [thing]
    thing.program = checked("id_match", X, box).program
    weak = weakref.ref(thing)
    del thing, box
    gc.collect()
    assert weak() is None


@pytest.mark.parametrize(
    "value",
    [
        [1, 2],
        (1, 2),
        {1: 0, 2: 0},
        {1, 2},
        frozenset({1, 2}),
        "ab",
        b"ab",
        collections.deque([1, 2]),
        collections.OrderedDict(a=1, b=2),
        range(2),
        bytearray(2),
    ],
)
def test_length(value):
    assert checked("length", X, 2)(value) and not checked("length", X, 3)(value)
    assert checked("length", X, 3).why(value) == "len(L['x']): expected 3, got 2"


def test_length_runs_no_python():
    class Liar:
        def __len__(self):
            raise AssertionError

    assert not checked("length", X, 2)(Liar())


def test_dict_keys_and_their_order():
    holds = checked("dict_keys", X, ["a", 1, (2, "b")])
    assert holds({"a": 0, 1: 0, (2, "b"): 0})
    assert not holds({1: 0, "a": 0, (2, "b"): 0})
    assert not holds({"a": 0, 1.0: 0, (2, "b"): 0}) and not holds({"a": 0, True: 0, (2, "b"): 0})
    assert not holds({"a": 0, 1: 0}) and not holds(["a", 1, (2, "b")])
    moved = collections.OrderedDict.fromkeys(["a", 1, (2, "b")])
    assert holds(moved)
    moved.move_to_end("a")
    assert not holds(moved)


def test_dict_keys_by_identity():
    class Key: ...

    key = Key()
    holds = checked("dict_keys", X, [key])
    assert holds({key: 1}) and not holds({Key(): 1})


def test_set_members():
    holds = checked("set_members", X, {1, "a"})
    assert holds({"a", 1}) and holds(frozenset({1, "a"}))
    assert not holds({1.0, "a"}) and not holds({1}) and not holds([1, "a"])


def test_truth():
    full, empty = checked("truth", X, True), checked("truth", X, False)
    for value in ([1], (1,), {1: 1}, "a", 1, 0.5, {1}):
        assert full(value) and not empty(value)
    for value in ([], (), {}, "", 0, 0.0, None):
        assert empty(value) and not full(value)

    class Liar:
        def __bool__(self):
            raise AssertionError

    assert not full(Liar()) and not empty(Liar())


def test_not_none_and_present():
    assert checked("not_none", X)(0) and not checked("not_none", X)(None)
    assert checked("present", ItemSource(X, "k"))({"k": None})
    assert not checked("present", ItemSource(X, "k"))({})
    assert checked("missing", ItemSource(X, "k"))({})
    assert not checked("missing", ItemSource(X, "k"))({"k": None})


def test_aliases():
    a, b = [1], [1]
    assert checked("same_object", X, Y)(a, a) and not checked("same_object", X, Y)(a, b)
    apart = checked("no_alias", [X, Y, ItemSource(X, 0)])
    assert apart(a, b) and not apart(a, a) and not apart([b], b)


def tensor(*shape, strides=None, dtype="float32", requires_grad=False):
    t = (
        _core.empty(_core.TensorBase, shape, dtypes.BY_NAME[dtype])
        if strides is None
        else _core.empty_strided(_core.TensorBase, shape, strides, dtypes.BY_NAME[dtype])
    )
    t.requires_grad = requires_grad
    return t


def layout(
    sizes=(2, 3), strides=(3, 1), dtype="float32", requires_grad=False, cls=_core.TensorBase
):
    return TensorLayout(cls, dtypes.BY_NAME[dtype], device("cpu"), sizes, strides, requires_grad)


def test_tensor():
    holds = checked("tensor_match", X, layout())
    assert holds(tensor(2, 3))
    assert holds.why(tensor(2, 4)) == "L['x'].shape[1]: expected 3, got 4"
    assert holds.why(tensor(2, 3, 1)) == "L['x'].ndim: expected 2, got 3"
    assert "dtype: expected graphwright.float32, got graphwright.float64" in holds.why(
        tensor(2, 3, dtype="float64")
    )
    assert "requires_grad" in holds.why(tensor(2, 3, requires_grad=True))
    assert "stride" in holds.why(tensor(2, 3, strides=(1, 2)))
    assert (
        holds.why(None)
        == "type(L['x']): expected graphwright.runtime._core.TensorBase, got NoneType"
    )

    class Sub(_core.TensorBase): ...

    assert not holds(_core.empty(Sub, (2, 3), dtypes.BY_NAME["float32"]))
    assert not holds(
        _core.meta(_core.TensorBase, (2, 3), (3, 1), dtypes.BY_NAME["float32"], device("meta"))
    )


def test_strides_of_single_rows():
    """They address nothing, but can be read."""
    odd = tensor(1, 3, strides=(99, 1))
    assert not checked("tensor_match", X, layout((1, 3), (3, 1)))(odd)
    assert not checked("tensor_match", X, layout((1, None), "contiguous"))(odd)
    assert checked("tensor_match", X, layout((1, None), "contiguous"))(tensor(1, 3))
    assert checked("tensor_match", X, layout((None, 0), "contiguous"))(tensor(3, 0))


def test_symbolic_sizes():
    holds = checked("tensor_match", X, layout((None, 3), "contiguous"))
    assert holds(tensor(2, 3)) and holds(tensor(77, 3))
    assert not holds(tensor(1, 3)) and not holds(tensor(0, 3)), "0 and 1 are special"
    assert not holds(tensor(4, 3, strides=(1, 4)))
    transposed = checked("tensor_match", X, layout((None, None), ("order", (1, 0))))
    assert transposed(tensor(4, 3, strides=(1, 4))) and not transposed(tensor(4, 3))


def test_shape_relations():
    s, t = Sym("s0", 2), Sym("s1", 2)
    symbols = {"s0": SizeSource(X, 0), "s1": Y}

    def relation(op, lhs, rhs):
        return checked("shape_relation", op, lhs, rhs, symbols)

    eight = tensor(8, 3)
    assert relation("==", s, t)(eight, 8) and not relation("==", s, t)(eight, 9)
    assert relation("==", floordiv(s, 3) * 2 + 1, 5)(eight, 0)
    assert relation("<", s % 3, 3)(eight, 0) and relation("==", s % 3, 2)(eight, 0)
    assert relation("==", minimum(s, t), 4)(eight, 4) and relation("==", maximum(s, t), 8)(
        eight, 4
    )
    assert relation("<=", s - t, -1)(eight, 9) and not relation("<=", s - t, -1)(eight, 8)
    assert relation("==", floordiv(t, 3), -3)(eight, -7), "division rounds down"
    assert not relation("==", s, t)(eight, 8.0) and not relation("==", s, t)(3, 8)
    assert not relation("==", s, t)(eight, True) and not relation(">", t, 0)(eight, 2**70)
    assert not relation(">", t * t, 0)(eight, 2**40), "an overflow does not pass"
    why = relation("==", s, t).why(eight, 9)
    assert "s0" in why and "8, 9" in why


def test_overlap():
    base = tensor(10)
    first = _core.as_view(_core.TensorBase, base, (4,), (1,), 0)
    second = _core.as_view(_core.TensorBase, base, (4,), (1,), 4)
    third = _core.as_view(_core.TensorBase, base, (3,), (2,), 3)
    apart = checked("no_overlap", [X], [Y])
    assert apart(first, second) and not apart(first, third) and not apart(third, second)
    assert apart(first, tensor(4)) and not apart(base, first) and not apart(first, first)
    assert not apart(first, None)


@pytest.mark.parametrize("count", [4, 12, 40])
@pytest.mark.parametrize("step", [1, -1])
def test_overlap_among_many(count, step):
    """Those that are only read may overlap, whichever of them come first in memory."""
    base = tensor(16 * count)
    parts = [_core.as_view(_core.TensorBase, base, (8,), (1,), 16 * n)
             for n in range(count)][::step]
    across = _core.as_view(_core.TensorBase, base, (16,), (1,), 20)
    nothing = _core.as_view(_core.TensorBase, base, (0,), (1,), 2)
    sources = [ItemSource(X, n) for n in range(count + 2)]
    for written in (1, count // 2, count):
        apart = checked("no_overlap", sources[:written], sources[written:])
        assert apart([*parts, nothing, tensor(1)])
        touched = [n for n in range(count) if parts[n].data_ptr() - base.data_ptr() in (64, 128)]
        assert apart([*parts, nothing, across]) == (min(touched) >= written)
        assert not apart([*parts, nothing, None])


def test_grad_mode_and_modes():
    holds = checked("grad_mode", True)
    assert holds(0)
    before = _core.grad_enabled()
    _core.set_grad_enabled(False)
    try:
        assert not holds(0) and checked("grad_mode", False)(0)
    finally:
        _core.set_grad_enabled(before)
    modes = checked("modes", 0)
    assert modes(0)
    _core.set_modes(2)
    try:
        assert not modes(0) and checked("modes", 2)(0)
    finally:
        _core.set_modes(0)


def test_sentences_are_readable():
    builder = GuardBuilder()
    builder.type_match(X, int)
    builder.equals(AttrSource(X, "training"), True)
    builder.id_match(GlobalSource("two"), two)
    builder.length(ItemSource(X, "k"), 2)
    builder.dict_keys(X, ["a"])
    builder.missing(InstanceAttrSource(X, "forward"))
    builder.tensor_match(Y, layout((None, 3), "contiguous", requires_grad=True))
    builder.shape_relation("<", Sym("s0", 2), 5, {"s0": SizeSource(Y, 0)})
    builder.no_alias([X, Y])
    builder.grad_mode(True)
    assert [guard.sentence() for guard in builder.guards] == [
        "type(L['x']) is int",
        "L['x'].training == True",
        "G['two'] is <function two>",
        "len(L['x']['k']) == 2",
        "list(L['x']) == ['a']",
        "L['x'].__dict__['forward'] does not exist",
        "L['y'] is TensorBase(graphwright.float32, cpu, [*, 3], contiguous, requires_grad)",
        "s0 < 5  where s0 = L['y'].shape[0]",
        "(L['x'], L['y']) are different objects",
        "grad mode is on",
    ]


def test_each_guard_is_kept_once():
    builder = GuardBuilder()
    for _ in range(2):
        builder.type_match(X, int)
        builder.equals(X, 1)
        builder.equals(X, True)
    assert len(builder.guards) == 3


def test_a_source_is_loaded_once_and_late():
    deep: Source = AttrSource(AttrSource(X, "a"), "b")
    builder = GuardBuilder()
    builder.type_match(deep, int)
    builder.equals(deep, 1)
    builder.equals(X, 1)
    asm = guards.Assembler(two.__code__)
    for guard in builder.guards:
        asm.check(guard.kind.value, guard.sources, guard.payload)
    ops = [instruction[0] for instruction in asm._instructions]
    assert ops == ["slot", "attr", "attr", "check type", "check equals", "check equals"]


def test_inputs_are_fetched():
    builder = GuardBuilder()
    builder.type_match(X, list)
    program = guards.compile(builder.guards, two.__code__, [Y, ItemSource(X, 0), SizeSource(Y, 1)])
    t = tensor(2, 7)
    assert program.inputs(two, ([5], t)) == (t, 5, 7)
    with pytest.raises(RuntimeError, match="do not hold"):
        program.inputs(two, (5, t))


@pytest.mark.parametrize(
    "instructions",
    [
        [("slot", 0, 7)],
        [("slot", 9, 0)],
        [("nonsense",)],
        [("check is", 0)],
        [("check type", 0, 3)],
        [5],
        [("check equals", 0, 1)],
        [("check relation", [], [("+",)])],
        [("check distinct", [0], 0)],
    ],
)
def test_malformed_programs_are_refused(instructions):
    with pytest.raises((ValueError, TypeError, AttributeError)):
        _eval_frame.GuardProgram(instructions, 1, [], [], 2)


@pytest.mark.parametrize("wrap", [lambda n: n, lambda n: (n,), range, lambda n: slice(n, 2)])
def test_numbers_that_python_refuses_to_write(wrap):
    number = 10**5000
    holds = checked("equals", X, wrap(number))
    assert holds(wrap(number + 0)) and not holds(wrap(number + 1))
    assert "..." in describe(wrap(number)) and len(describe(wrap(number))) < 200
