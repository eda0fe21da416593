"""Where a value comes from.

A `Source` is the provenance of one Python value that a frame reads: an argument, a global, an
attribute of another source. One object yields everything that depends on provenance:

- `name()` is how guards and recompile reasons spell it (`L['self'].layers[0].weight`);
- `emit(cg)` pushes the instructions that read the value again in translated code;
- `loads(program)` adds the loads with which a guard program reads it, without running user code.

Sources are immutable and compare by structure, so they serve as dictionary keys.
"""

from __future__ import annotations

import abc
import weakref
from collections.abc import Callable
from typing import Any, Protocol

from graphwright.capture import _eval_frame
from graphwright.capture.guards.text import class_name
from graphwright.capture.trackers.values.namespaces import flags_of
from graphwright.runtime.record import Record
from graphwright.runtime.symbolic.places import text_at, value_at

_HEAP_TYPE = 1 << 9


class Reloader(Protocol):
    """The part of a bytecode writer that sources need; each method pushes one value."""

    def load_local(self, name: str) -> None: ...

    def load_global(self, name: str) -> None: ...

    def load_deref(self, name: str) -> None:
        """Push the contents of a cell or free variable."""

    def load_const(self, value: object) -> None: ...

    def load_attr(self, name: str) -> None:
        """Replace the top of the stack by its attribute."""

    def subscript(self) -> None:
        """Replace the two values on top, container and key, by `container[key]`."""

    def begin_call(self, function: Callable[..., object]) -> None:
        """Push what a call of this function needs below its arguments."""

    def end_call(self, n_args: int) -> None:
        """Replace the function and its `n_args` positional arguments by the result."""


class LoadWriter(Protocol):
    """The part of a guard program's assembler that sources need."""

    def root(self, op: str, *operands: object) -> int:
        """Add a load that reads no other value; return the number of its register."""

    def chain(self, op: str, base: Source, *operands: object) -> int:
        """Add a load from the value of `base`; return the number of its register."""

    def compute(self, function: object, operands: tuple[Source, ...], op: str = "compute") -> int:
        """Add a call of a function of numbers that is written in C, and no load if it raises.

        For the op "cached" the first operand is a cached function, and `function` a pair: the key
        that is looked up, and what a call would give where nothing is kept.
        """

    def slot(self, name: str) -> int:
        """The index of an argument slot of the guarded code."""

    def free(self, name: str) -> int:
        """The index of a free variable of the guarded code."""


class Source(Record):
    """Provenance of one value. Abstract; see the module's docstring.

    makes_objects: whether each read gives another object.
    read_first: whether it is read before the graph runs, since later it may give another value.
    in_frame_only: whether translated code alone can read it. everywhere: whether all frames do.
    """

    __slots__ = ("_hash",)
    makes_objects = False
    read_first = False
    in_frame_only = everywhere = False

    def name(self) -> str:
        """The expression a user would write, with `L[...]` for locals and `G[...]` for globals."""
        raise NotImplementedError

    def emit(self, cg: Reloader) -> None:
        """Push the value, read again in the translated frame."""
        raise NotImplementedError

    def loads(self, program: LoadWriter) -> int:
        """Add the load of this value to a guard program; return its register."""
        raise NotImplementedError

    def require_comparable(self) -> None:
        """A break where no guard can look at the value, since the next call has another."""

    @property
    def root(self) -> Source:
        """The source at the start of the chain."""
        return self

    def __str__(self) -> str:
        return self.name()


class LocalSource(Source):
    """An argument of the captured frame, as it was bound at entry."""

    local: str

    def name(self) -> str:
        return f"L[{self.local!r}]"

    def emit(self, cg: Reloader) -> None:
        cg.load_local(self.local)

    def loads(self, program: LoadWriter) -> int:
        return program.root("slot", program.slot(self.local))


class GlobalSource(Source):
    """A global of the captured function, or the builtin of that name where there is no global."""

    variable: str

    def name(self) -> str:
        return f"G[{self.variable!r}]"

    def emit(self, cg: Reloader) -> None:
        cg.load_global(self.variable)

    def loads(self, program: LoadWriter) -> int:
        return program.root("global", self.variable)


class CellSource(Source):
    """The contents of a free variable of the captured function."""

    variable: str

    def name(self) -> str:
        return f"C[{self.variable!r}]"

    def emit(self, cg: Reloader) -> None:
        cg.load_deref(self.variable)

    def loads(self, program: LoadWriter) -> int:
        return program.root("free", program.free(self.variable))


class ConstSource(Source, eq=False):
    """An object known when capturing: the translated code holds it, and so does the guard.

    Compares by identity of the object. `label` is its spelling in guards.
    """

    value: object
    label: str = ""

    def name(self) -> str:
        return self.label or repr(self.value)

    def emit(self, cg: Reloader) -> None:
        cg.load_const(self.value)

    def loads(self, program: LoadWriter) -> int:
        return program.root("const", self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConstSource) and other.value is self.value

    def __hash__(self) -> int:
        return hash((ConstSource, id(self.value)))


class ClassSource(ConstSource, eq=False):
    """A class known when capturing, which neither the guard nor the code keeps alive.

    `value` is a weak reference to it; there is one for each class. Make it with `of`.
    """

    @classmethod
    def of(cls, value: type) -> ClassSource:
        """The source of a class."""
        if TEMPLATES and value in TEMPLATES:
            return TEMPLATES[value]
        return cls(weakref.ref(value), class_name(value))

    def emit(self, cg: Reloader) -> None:
        if flags_of(self.value()) & _HEAP_TYPE:  # type: ignore[operator]
            cg.begin_call(self.value)  # type: ignore[arg-type]
            cg.end_call(0)
        else:
            cg.load_const(self.value())  # type: ignore[operator]

    def loads(self, program: LoadWriter) -> int:
        return program.root("class", self.value)


TEMPLATES: weakref.WeakKeyDictionary[type, ClassSource] = weakref.WeakKeyDictionary()
"""The sources of classes that translated frames make: see `templates`."""


class ModuleSource(Source):
    """A module found in `sys.modules`, as an import statement would find it."""

    everywhere = True
    module: str

    def name(self) -> str:
        return f"sys.modules[{self.module!r}]"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(_eval_frame.loaded_module)
        cg.load_const(self.module)
        cg.end_call(1)

    def loads(self, program: LoadWriter) -> int:
        return program.root("module", self.module)


class RegistrationsSource(Source):
    """`abc.get_cache_token()`: changes whenever a class is registered with an abstract one."""

    def name(self) -> str:
        return "abc.get_cache_token()"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(abc.get_cache_token)
        cg.end_call(0)

    def loads(self, program: LoadWriter) -> int:
        return program.root("registrations", 0)


class ForeignGlobalSource(Source):
    """A global seen by an inlined function: `function.__globals__[name]`, else the builtin."""

    function: Source
    variable: str

    @property
    def root(self) -> Source:
        return self.function.root

    def name(self) -> str:
        return f"{self.function.name()}.__globals__[{self.variable!r}]"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(_eval_frame.function_global)
        self.function.emit(cg)
        cg.load_const(self.variable)
        cg.end_call(2)

    def loads(self, program: LoadWriter) -> int:
        return program.chain("function_global", self.function, self.variable)


class DerivedSource(Source):
    """A value that is reached from that of another source, `base`."""

    base: Source

    @property
    def root(self) -> Source:
        return self.base.root


class AttrSource(DerivedSource):
    """`base.attr` where reading it runs no Python code.

    Covers module globals, instance `__dict__` entries, slots, C members, plain class attributes,
    and attributes of classes. For what a descriptor or `__getattr__` computes, use the sources
    that it reads: `ClassAttrSource`, `InstanceAttrSource`, `ItemSource`.
    """

    attr: str

    def name(self) -> str:
        return f"{self.base.name()}.{self.attr}"

    def emit(self, cg: Reloader) -> None:
        self.base.emit(cg)
        cg.load_attr(self.attr)

    def loads(self, program: LoadWriter) -> int:
        return program.chain("attr", self.base, self.attr)


class GradientSource(DerivedSource):
    """`base.grad` of a tensor, read without the warning that no leaf is asked for it."""

    def name(self) -> str:
        return f"{self.base.name()}.grad"

    def emit(self, cg: Reloader) -> None:
        self.base.emit(cg)
        cg.load_attr("_grad")

    def loads(self, program: LoadWriter) -> int:
        return program.chain("attr", self.base, "_grad")


class InstanceAttrSource(DerivedSource):
    """The entry of the instance's own `__dict__`, whatever its class defines."""

    attr: str

    def name(self) -> str:
        return f"{self.base.name()}.__dict__[{self.attr!r}]"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(_eval_frame.instance_attribute)
        self.base.emit(cg)
        cg.load_const(self.attr)
        cg.end_call(2)

    def loads(self, program: LoadWriter) -> int:
        return program.chain("instance_attr", self.base, self.attr)


class InstanceDictSource(DerivedSource):
    """The instance's own `__dict__`, whatever its class defines."""

    def name(self) -> str:
        return f"{self.base.name()}.__dict__"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(_eval_frame.instance_dict)
        self.base.emit(cg)
        cg.end_call(1)

    def loads(self, program: LoadWriter) -> int:
        return program.chain("instance_dict", self.base)


class ClassAttrSource(DerivedSource):
    """What the MRO of `type(base)` holds under a name, unbound: functions, descriptors, values."""

    attr: str

    def name(self) -> str:
        return f"type({self.base.name()}).__mro__[{self.attr!r}]"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(_eval_frame.class_attribute)
        self.base.emit(cg)
        cg.load_const(self.attr)
        cg.end_call(2)

    def loads(self, program: LoadWriter) -> int:
        return program.chain("class_attr", self.base, self.attr)


class MroSource(DerivedSource):
    """What the MRO of the class `base` holds under a name, unbound.

    `after` is a class of the MRO: the search starts behind it, as `super()` does.
    """

    attr: str
    after: type | None = None

    def name(self) -> str:
        start = f" after {self.after.__qualname__}" if self.after else ""
        return f"{self.base.name()}.__mro__[{self.attr!r}{start}]"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(_eval_frame.mro_attribute)
        self.base.emit(cg)
        cg.load_const(self.attr)
        cg.load_const(self.after)
        cg.end_call(3)

    def loads(self, program: LoadWriter) -> int:
        return program.chain("mro_attr", self.base, self.attr, self.after)


class SubclassesSource(DerivedSource):
    """`type.__subclasses__(base)`: the direct subclasses of a class, in a new list."""

    makes_objects = True

    def name(self) -> str:
        return f"{self.base.name()}.__subclasses__()"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(type.__subclasses__)
        self.base.emit(cg)
        cg.end_call(1)

    def loads(self, program: LoadWriter) -> int:
        return program.chain("subclasses", self.base)


class ItemSource(DerivedSource):
    """`base[key]` of a list or tuple by index, or of a dict by a constant key."""

    key: object

    def name(self) -> str:
        return f"{self.base.name()}[{self.key!r}]"

    def emit(self, cg: Reloader) -> None:
        self.base.emit(cg)
        cg.load_const(self.key)
        cg.subscript()

    def loads(self, program: LoadWriter) -> int:
        return program.chain("item", self.base, self.key)


class OwnItemSource(ItemSource):
    """What a dict or list of a user's class keeps, whatever its own `__getitem__` gives."""

    kind: type

    def name(self) -> str:
        return f"{self.kind.__name__}.__getitem__({self.base.name()}, {self.key!r})"

    def emit(self, cg: Reloader) -> None:
        kind: Any = self.kind
        cg.begin_call(kind.__getitem__)
        self.base.emit(cg)
        cg.load_const(self.key)
        cg.end_call(2)


class KeySource(DerivedSource):
    """The key at a position of a dict, where it is no constant: the guard names no object."""

    position: int

    def name(self) -> str:
        return f"list({self.base.name()})[{self.position}]"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(_eval_frame.dict_key)
        self.base.emit(cg)
        cg.load_const(self.position)
        cg.end_call(2)

    def loads(self, program: LoadWriter) -> int:
        return program.chain("dict_key", self.base, self.position)


class ValueSource(DerivedSource):
    """The value of the key at a position of a dict."""

    position: int

    def name(self) -> str:
        return f"list({self.base.name()}.values())[{self.position}]"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(_eval_frame.dict_value)
        self.base.emit(cg)
        cg.load_const(self.position)
        cg.end_call(2)

    def loads(self, program: LoadWriter) -> int:
        return program.chain("dict_value", self.base, self.position)


class TypeSource(DerivedSource):
    """`type(base)`."""

    def name(self) -> str:
        return f"type({self.base.name()})"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(type)
        self.base.emit(cg)
        cg.end_call(1)

    def loads(self, program: LoadWriter) -> int:
        return program.chain("type", self.base)


class CodeSource(DerivedSource):
    """`base.__code__` of a Python function."""

    def name(self) -> str:
        return f"{self.base.name()}.__code__"

    def emit(self, cg: Reloader) -> None:
        self.base.emit(cg)
        cg.load_attr("__code__")

    def loads(self, program: LoadWriter) -> int:
        return program.chain("code", self.base)


class DefaultsSource(DerivedSource):
    """`base.__defaults__[index]` of a Python function."""

    index: int

    def name(self) -> str:
        return f"{self.base.name()}.__defaults__[{self.index}]"

    def emit(self, cg: Reloader) -> None:
        self.base.emit(cg)
        cg.load_attr("__defaults__")
        cg.load_const(self.index)
        cg.subscript()

    def loads(self, program: LoadWriter) -> int:
        return program.chain("default", self.base, self.index)


class KwDefaultsSource(DerivedSource):
    """`base.__kwdefaults__[key]` of a Python function."""

    key: str

    def name(self) -> str:
        return f"{self.base.name()}.__kwdefaults__[{self.key!r}]"

    def emit(self, cg: Reloader) -> None:
        self.base.emit(cg)
        cg.load_attr("__kwdefaults__")
        cg.load_const(self.key)
        cg.subscript()

    def loads(self, program: LoadWriter) -> int:
        return program.chain("kwdefault", self.base, self.key)


class ClosureSource(DerivedSource):
    """`base.__closure__[index].cell_contents` of a Python function."""

    index: int

    def name(self) -> str:
        return f"{self.base.name()}.__closure__[{self.index}].cell_contents"

    def emit(self, cg: Reloader) -> None:
        self.base.emit(cg)
        cg.load_attr("__closure__")
        cg.load_const(self.index)
        cg.subscript()
        cg.load_attr("cell_contents")

    def loads(self, program: LoadWriter) -> int:
        return program.chain("closure", self.base, self.index)


class SizeSource(DerivedSource):
    """`base.shape[dim]` or `base.stride(dim)` of a tensor, a Python int: what is at a place."""

    place: int

    def name(self) -> str:
        return text_at(self.base.name(), self.place)

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(value_at)
        self.base.emit(cg)
        cg.load_const(self.place)
        cg.end_call(2)

    def loads(self, program: LoadWriter) -> int:
        return program.chain("size", self.base, self.place)


class LengthSource(DerivedSource):
    """`len(base)` of a builtin container."""

    def name(self) -> str:
        return f"len({self.base.name()})"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(len)
        self.base.emit(cg)
        cg.end_call(1)

    def loads(self, program: LoadWriter) -> int:
        return program.chain("length", self.base)


def readable(source: Source) -> str:
    """A node name made from a source: `L['self'].fc.weight` -> `self_fc_weight`.

    Names of the form `s0` are those of size symbols.
    """
    text = source.name().replace("L['", "").replace(".__dict__['_parameters']", "")
    text = text.replace(".__dict__['_modules']", "").replace(".__dict__['_buffers']", "")
    words = "".join(char if char.isalnum() else " " for char in text).split()
    name = "_".join(words) or "input"
    return f"{name}_input" if name[:1] == "s" and name[1:].isdigit() else name
