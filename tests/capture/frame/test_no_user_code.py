"""Capture itself runs no code of the user's: only the program does, as often as plainly."""

from __future__ import annotations

import abc
import collections
import enum
import sys
import types
import typing

import pytest

import graphwright as gw

from ..captured import Captured

X = gw.tensor([1.0, 2.0])
LOG: list[object] = []


class Spy:
    """Tells of each attribute that is read, of `__class__` too."""

    def __getattribute__(self, name):
        LOG.append(name)
        return object.__getattribute__(self, name)


class Posing:
    @property
    def __class__(self):
        LOG.append("__class__")
        return dict


class SpyModule(types.ModuleType):
    def __getattribute__(self, name):
        LOG.append(name)
        return types.ModuleType.__getattribute__(self, name)


class VeiledModule(types.ModuleType):
    @property
    def __dict__(self):
        LOG.append("__dict__")
        return {}


class Meta(type):
    def __getattribute__(cls, name):
        LOG.append(name)
        return type.__getattribute__(cls, name)


class Spied(metaclass=Meta):
    pass


class Equal(type):
    """Says what its classes are equal to, and how they are hashed."""

    def __eq__(cls, other):
        LOG.append(other)
        return cls is other

    def __hash__(cls):
        LOG.append("hash")
        return 0


class Named(type):
    @property
    def __module__(cls):
        LOG.append("module")
        return 1 / 0


class OfNamed(metaclass=Named):
    pass


class Shade(enum.Enum):
    DARK = 1

    def __repr__(self):
        LOG.append("repr")
        return "dark"


class Unhashed(Equal):
    __hash__ = None


class OfEqual(metaclass=Equal):
    pass


class OfUnhashed(metaclass=Unhashed):
    pass


class Telling:
    """A container whose own methods tell of their calls, and say other than its base."""

    def __iter__(self):
        LOG.append("iter")
        return iter(["other"])

    def __len__(self):
        LOG.append("len")
        return 10**6

    def __getitem__(self, key):
        LOG.append("getitem")
        raise KeyError(key)


KINDS = [dict, collections.OrderedDict, list, tuple, set, frozenset, collections.deque]
TELLING = [type(f"Telling_{kind.__name__}", (Telling, kind), {})([(1, 2)]) for kind in KINDS]


class Number(int):
    def __repr__(self):
        LOG.append("repr")
        return "number"


class Callable:
    def __call__(self):
        return None

    def __getattribute__(self, name):
        LOG.append(name)
        return object.__getattribute__(self, name)


UNNAMED = types.ModuleType.__new__(types.ModuleType)
VALUES = [
    *(Spy(), Posing(), SpyModule("spied"), VeiledModule("veiled"), Spied, Number(3), UNNAMED),
    *(types.MethodType(Callable(), 1), Spied(), {Spy(): 1}, [Posing()]),
    *(OfEqual, OfEqual(), OfUnhashed, OfUnhashed(), OfNamed, OfNamed(), Shade.DARK),
    *TELLING,
]


def passes_on(x, value):
    return x + 1, [value]


def compares(x, value):
    return x + 1, value is None, (value, 1)


@pytest.mark.filterwarnings("ignore:.*the most there may be:RuntimeWarning")
@pytest.mark.parametrize("function", [passes_on, compares])
def test_values_are_looked_at_by_their_type(function):
    captured = Captured(function)
    LOG.clear()
    for value in (*VALUES, 3, None, *VALUES):
        captured(X, value)
    assert LOG == []


class SpyError(Exception):
    """Tells of what is read of it: of its traceback, arguments and context too."""

    def __getattribute__(self, name):
        LOG.append(name)
        return Exception.__getattribute__(self, name)


def test_what_a_frame_lets_go_of_is_looked_at_by_its_type():
    def lets_go(x, first, second):
        held = [first, second]
        y = x + 1
        first = second = None
        held.clear()
        return y

    def handles(x, box):
        y = x + 1
        try:
            box.pop()
        except IndexError:
            return y
        box.clear()
        return y

    captured, replaced = Captured(lets_go), Captured(handles)
    LOG.clear()
    for make in (Spy, Posing, SpyError):
        captured(X, make(), make())
        replaced(X, [make(), make()])
    assert LOG == []


@pytest.mark.filterwarnings("ignore:.*the most there may be:RuntimeWarning")
@pytest.mark.parametrize("cls", [OfEqual, OfUnhashed])
def test_classes_with_an_equality_of_their_own_are_used_as_plainly(cls):
    def uses(x, value):
        class Derived(cls):
            member = 3

        return x + 1, isinstance(value, cls), Derived().member, type(value).__name__

    captured = Captured(uses)
    LOG.clear()
    for value in (cls(), 3, cls()):
        assert captured(X, value)[1:] == (type(value) is cls, 3, type(value).__name__)
    assert LOG == []


def test_classes_whose_module_is_computed_are_made_as_plainly():
    captured = Captured(lambda x: (x + 1, type(OfNamed()) is OfNamed))
    LOG.clear()
    assert captured(X)[1]
    assert LOG == []


class OwnDict(type):
    @property
    def __dict__(cls):
        LOG.append("__dict__")


class Refusing(type):
    @property
    def __module__(cls):
        raise AttributeError("no module")


class HasOwnDict(metaclass=OwnDict):
    held = 3


class InstanceDict:
    __dict__ = HasOwnDict.__class__.__dict__["__dict__"]


class HasNoModule(metaclass=Refusing):
    held = 4


def made_of(x, cls):
    return x + cls.held, isinstance(cls(), cls), getattr(cls, "__module__", "none")


def asked(x, cls):
    return x * 2, cls.__dict__, getattr(cls, "other", None)


@pytest.mark.parametrize("program", [made_of, asked])
@pytest.mark.parametrize("cls", [HasOwnDict, HasNoModule], ids=lambda cls: cls.__qualname__)
def test_what_a_metaclass_computes_is_asked_by_the_program_alone(program, cls):
    outcomes = []
    for function in (program, captured := Captured(program), captured):
        LOG.clear()
        tensor, *rest = function(X, cls)
        outcomes.append([tensor.tolist(), *map(str, rest), list(LOG)])
    assert outcomes[1:] == outcomes[:1] * 2


def test_an_instance_is_looked_at_past_what_its_class_computes_as_its_dict():
    made = InstanceDict()
    made.k = 2
    captured = Captured(lambda x, thing: (x * thing.k, thing))
    LOG.clear()
    assert captured(X, made)[0].tolist() == [2.0, 4.0]
    assert LOG == []


def test_what_cannot_be_written_is_told_without_its_own_words():
    def writes(x, value):
        value.other = x
        return x + 1, value.other

    captured = Captured(writes)
    LOG.clear()
    assert captured(X, Shade.DARK)[1] is X
    del Shade.DARK.other
    assert LOG == []


class OwnNew:
    def __new__(cls, x, *rest):
        return object.__new__(cls, *rest)


class OwnInit:
    def __init__(self, x, *rest):
        object.__init__(self, *rest)


class Both(OwnNew, OwnInit):
    pass


@pytest.mark.parametrize("cls", [OwnNew, OwnInit, Both])
@pytest.mark.parametrize("args", [(1,), (1, 2)])
def test_object_refuses_arguments_that_nobody_takes(cls, args):
    def makes(x):
        try:
            return x + 1, type(cls(*args))
        except TypeError as error:
            return x + 1, str(error)

    captured = Captured(makes)
    for _ in range(3):
        assert captured(X)[1] == makes(X)[1]


def test_mro_of_a_class():
    captured = Captured(lambda x, cls: (x + 1, cls.mro()))
    for cls in (OwnNew, Both, OwnNew, int):
        assert captured(X, cls)[1] == cls.mro()


class Key:
    """Has the hash of a name, and tells of comparisons with it."""

    def __hash__(self):
        return hash("there")

    def __eq__(self, other):
        LOG.append(other)
        return False


class Holder:
    there = 1


def test_keys_of_an_instance_dict_that_are_no_strings():
    def reads(x, holder):
        return x + 1, holder.there

    holder = Holder()
    vars(holder)[Key()] = 0
    captured = Captured(reads)
    for _ in range(3):
        LOG.clear()
        reads(X, holder)
        plain = list(LOG)
        LOG.clear()
        assert captured(X, holder)[1] == 1
        assert plain == LOG


def test_an_object_is_told_by_its_type_before_any_attribute_is_read() -> None:
    class Watched:
        def __init__(self) -> None:
            self.asked: list[str] = []

        def __getattr__(self, name: str) -> object:
            self.asked.append(name)
            raise AttributeError(name)

    compiled = gw.compile(lambda x, owner: (x + 1, owner in [None, 2]), backend="eager")
    owner = Watched()
    for _ in range(2):
        assert compiled(gw.ones(1), owner)[1] is False
    assert owner.asked == []


def test_attributes_are_read_without_asking_what_class_an_object_says_it_is():
    posing = Posing()
    posing.factor = 2
    LOG.clear()
    assert Captured(lambda x: x * posing.factor)(X).tolist() == [2.0, 4.0]
    assert LOG == []


def test_texts_that_guards_compare_with_are_not_interned():
    text = "".join(["two", " words"])
    captured = Captured(lambda x, t: (x + 1, len(t)))
    assert captured.agrees(X, text) and captured.agrees(X, text + "!")
    assert sys.intern("".join(["two", " words"])) is not text


class Watching(type):
    """Says itself what the namespaces of its classes are, and tells who asks."""

    @property
    def __dict__(cls):
        LOG.append("__dict__")
        return type.__dict__["__dict__"].__get__(cls)


class WatchingEnum(Watching, enum.EnumMeta):
    pass


class Failure(ValueError, metaclass=Watching):
    note = 3

    def __init__(self, code):
        super().__init__(code)
        self.code = code

    def __str__(self):
        return "failure"


class Pair(collections.namedtuple("Pair", "first second"), metaclass=Watching):
    scale = 2

    def total(self):
        return self.first + self.second


class Tint(enum.Enum, metaclass=WatchingEnum):
    LIGHT = 2


class Zero(metaclass=Watching):
    def __call__(self):
        return 0


class WatchedText(str, metaclass=Watching):
    __slots__ = ()


def fails(x):
    try:
        raise Failure(4)
    except Failure as error:
        return x * error.code + error.note, str(error), repr(error)


def pairs(x):
    pair = Pair(x, 2)
    return pair.total() * pair.scale + pair.first, pair._fields


def tints(x):
    return x * Tint.LIGHT.value, Tint.LIGHT.name


def defaults(x):
    return x + collections.defaultdict(Zero())["absent"]


def texts(x):
    return x + 1, WatchedText("abc").upper()


@pytest.mark.filterwarnings("ignore:.*the most there may be:RuntimeWarning")
@pytest.mark.parametrize("function", [fails, pairs, tints, defaults, texts])
def test_namespaces_are_read_past_what_metaclasses_say_of_them(function):
    captured, plain = Captured(function), function(X)
    LOG.clear()
    for _ in range(2):
        assert str(captured(X)) == str(plain)
    assert LOG == []


def test_messages_do_not_call_what_shows_an_object():
    name = object.__new__(typing.NewType)       # cannot be shown before it is complete
    Captured(typing.NewType.__init__, tensorless=True)(name, "Name", int)
    assert name.__name__ == "Name" and name(3) == 3


@pytest.mark.parametrize("asked_by", ["itself", "subclass", "registered"])
def test_abstract_classes_are_asked_where_the_program_asks(asked_by):
    state = []

    class Base(abc.ABC):  # noqa: B024
        pass

    class Hooked(Base if asked_by == "subclass" else abc.ABC):
        @classmethod
        def __subclasshook__(cls, kind):
            return bool(state)

    if asked_by == "registered":
        Base.register(Hooked)

    def program(x, value, kind):
        y = x + 1
        state.append(1)
        found = isinstance(value, kind), issubclass(type(value), kind)
        state.clear()
        return y, found

    kind = Hooked if asked_by == "itself" else Base
    captured = Captured(program)
    for value in (UNNAMED, UNNAMED, Number(3)):
        assert captured(X, value, kind)[1] == (True, True)
