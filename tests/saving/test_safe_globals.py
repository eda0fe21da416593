"""Classes that the user allows in torch files: by name, for a while, and nothing besides."""

from __future__ import annotations

import enum
import io
import pickle
from collections import OrderedDict, defaultdict, namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from tests.saving.torch_files import DATA, archive, call, name, program, value

import graphwright as gw
from graphwright import serialization
from graphwright.serialization import RefusedObject, safe_globals


@dataclass
class Config:
    """A plain object."""

    size: int
    weight: Any = None


class Slotted:
    """One whose attributes are slots."""

    __slots__ = ("a", "b")


class Counted(dict[str, int]):
    """A dict with a state that it sets itself."""

    def __setstate__(self, state: Any) -> None:
        self.restored = state


class Colour(enum.Enum):
    """One that is made by a call."""

    RED = 1


class Sub(gw.Tensor):
    """A class of tensors."""


Pair = namedtuple("Pair", "x y")


@pytest.fixture(autouse=True)
def nothing_allowed() -> Iterator[None]:
    serialization.clear_safe_globals()
    yield
    serialization.clear_safe_globals()


def _saved(state: Any) -> io.BytesIO:
    buffer = io.BytesIO()
    gw.save(state, buffer, format="torch")
    buffer.seek(0)
    return buffer


def test_the_list() -> None:
    assert serialization.get_safe_globals() == []
    serialization.add_safe_globals([Config, (Pair, "other.Pair")])
    assert serialization.get_safe_globals() == [Config, (Pair, "other.Pair")]
    with safe_globals([Colour]):
        assert serialization.get_safe_globals()[-1] is Colour
    assert Colour not in serialization.get_safe_globals()
    serialization.clear_safe_globals()
    assert serialization.get_safe_globals() == []
    for entry in (3, "os.system", (Config,), (Config, 3)):
        with pytest.raises(TypeError, match="safe globals are functions or classes"):
            serialization.add_safe_globals([entry])  # type: ignore[list-item]


def test_objects_of_an_allowed_class_are_saved_and_loaded() -> None:
    slotted = Slotted()
    slotted.a, slotted.b = 1, [gw.ones(1)]
    counted = Counted(x=1)
    counted.restored = "state"
    groups = defaultdict(list, a=[1])
    state = {"config": Config(3, gw.ones(2)), "slots": slotted, "counted": counted,
             "pair": Pair(1, gw.zeros(1)), "colour": Colour.RED, "class": Config,
             "groups": groups, "same": [slotted, slotted]}  # fmt: skip
    allowed = [Config, Slotted, Counted, Pair, Colour, defaultdict, list]
    with safe_globals(allowed):
        file = _saved(state)
        found = gw.load(file)
    assert type(found["config"]) is Config and found["config"].weight.tolist() == [1, 1]
    assert found["slots"].a == 1 and found["same"][0] is found["same"][1] is found["slots"]
    assert type(found["counted"]) is Counted and found["counted"]["x"] == 1
    assert found["counted"].restored == {"restored": "state"}
    assert found["pair"].y.tolist() == [0] and found["colour"] is Colour.RED
    assert found["class"] is Config and found["groups"]["new"] == []
    file.seek(0)
    with pytest.raises(RefusedObject, match=r"Config', which is not on the list"):
        gw.load(file)
    with pytest.raises(TypeError, match=r"obj\['config'\] is .*Config, which cannot be saved"):
        _saved(state)


def test_what_makes_an_object_has_to_be_allowed_too() -> None:
    class Made:
        def __reduce__(self) -> Any:
            return print, ("made",)

    with safe_globals([Made]), pytest.raises(TypeError, match="built-in function print"):
        _saved([Made()])


def test_a_class_of_tensors() -> None:
    tensor = gw.ones(2).as_subclass(Sub)
    tensor.tag = "x"
    with safe_globals([Sub]):
        file = _saved({"x": tensor})
        found = gw.load(file)["x"]
    assert type(found) is Sub and found.tag == "x" and found.tolist() == [1, 1]
    file.seek(0)
    with pytest.raises(RefusedObject, match="Sub"):
        gw.load(file)


def test_files_may_know_a_class_by_another_name() -> None:
    made = program(call("old.place.Config", value(3)))
    with safe_globals([(Config, "old.place.Config")]):
        assert gw.load(io.BytesIO(archive(made))) == Config(3)


def test_allowing_a_class_allows_nothing_of_its_module() -> None:
    with safe_globals([Config]):
        for wanted in ("pickle", "Config.__init__", "Config.__init__.__globals__", "io.BytesIO"):
            made = program(name(f"{__name__}.{wanted}"))
            with pytest.raises(RefusedObject, match="not on the list"):
                gw.load(io.BytesIO(archive(made)))


@pytest.mark.parametrize("wanted", ["os.system", "posix.system", "sys.exit", "nt.system"])
def test_some_modules_are_never_allowed(wanted: str) -> None:
    with safe_globals([(print, wanted)]), pytest.raises(RefusedObject, match="which no file may"):
        gw.load(io.BytesIO(archive(program(call(wanted, value("x"))))))


@pytest.mark.parametrize("protocol", [2, 4])
def test_objects_as_pickle_writes_them(protocol: int) -> None:
    state = [Config(3), Pair(1, 2), Colour.RED, defaultdict(int, a=1), OrderedDict(a=Config(1))]
    content = archive(pickle.dumps(state, protocol))
    with safe_globals([Config, Pair, Colour, defaultdict, int]):
        assert gw.load(io.BytesIO(content)) == state


def test_what_a_file_wants_is_listed() -> None:
    unsafe = serialization.get_unsafe_globals_in_checkpoint
    sequential = "torch.nn.modules.container.Sequential"
    assert sequential in unsafe(DATA / "refused_model.pt")
    with pytest.raises(RefusedObject, match=r"the layout 'torch\.sparse_coo'"):
        unsafe(DATA / "refused_sparse.pt")
    assert unsafe(DATA / "tensors.pt") == []
    content = archive(pickle.dumps({"a": [Config(3), Config], "b": Colour.RED, "c": Counted(x=1)}))
    found = [f"{__name__}.{kind}" for kind in ("Config", "Colour", "Counted")]
    assert unsafe(io.BytesIO(content)) == found
    with safe_globals([Config]):
        assert unsafe(io.BytesIO(content)) == found[1:]
    assert unsafe(io.BytesIO(archive(program(call("os.system", value("true")))))) == ["os.system"]
    with pytest.raises(ValueError, match="no zip archive"):
        unsafe(DATA / "refused_legacy.pt")


@pytest.mark.oracle
def test_pytorch_loads_the_same_objects() -> None:
    torch = pytest.importorskip("torch")
    with safe_globals([Config, Colour]):
        file = _saved([Config(3, gw.ones(2)), Colour.RED])
    with torch.serialization.safe_globals([Config, Colour]):
        found = torch.load(file, weights_only=True)
    assert found[0].size == 3 and found[0].weight.tolist() == [1, 1] and found[1] is Colour.RED
