"""NumPy's arrays: those that the frame makes of what is known, those from outside, and tensors'.

An array that the frame makes of constants is a real one, kept while translating: NumPy computes
with it at once, and a tensor made of it is a constant input of the graph. One that was there
before may become a tensor, as an input; where the program looks at its values, and it is small and
has held the same so far, they are constants that guards compare. A tensor may become an array,
after the graph. What else a program does with these two looks at values, and ends the graph.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy

from graphwright.capture import _eval_frame
from graphwright.capture.exc import unsupported
from graphwright.capture.guards.source import (
    AttrSource,
    ConstSource,
    DerivedSource,
    ItemSource,
    LoadWriter,
    Reloader,
    Source,
)
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.containers.sequences import TupleVariable
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.values.constant import fold
from graphwright.capture.trackers.values.exceptions import Raised
from graphwright.capture.trackers.values.operator_tables import PLAIN
from graphwright.runtime.fake.fake_tensor import fake_like
from graphwright.runtime.ops.strides import dense_order
from graphwright.runtime.record import Record
from graphwright.runtime.tensor import from_data
from graphwright.runtime.tensor.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.capture.emit.reconstruct import Reconstructor
    from graphwright.capture.vm.object_protocols import Values
    from graphwright.capture.vm.output_graph import OutputGraph
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]


class ArrayVariable(VariableTracker):
    """Abstract: a NumPy array. The tensor that `as_tensor` returns shares its memory."""

    mutable = True

    def python_type(self) -> type:
        return numpy.ndarray

    def has_tensor(self) -> bool:
        return False

    def describe(self) -> str:
        return "an array"

    def as_tensor(self, tx: Values, shared: bool = True) -> VariableTracker:
        """A tensor that shares its memory; it may be a copy if not `shared`."""
        raise NotImplementedError

    def as_index(self, tx: Translator) -> VariableTracker:
        """As tensors take arrays in subscripts: a tensor whose layout says nothing."""
        return tx.output.run(tx, "call_method", "contiguous", [self.as_tensor(tx, False)], {})


class _Layout(Record):
    """How a tensor over an array lay in memory when it was made: an array keeps its layout."""

    shape: tuple[Any, ...]
    strides: tuple[Any, ...]

    @classmethod
    def of(cls, tensor: TensorVariable) -> _Layout:
        return cls(tuple(tensor.fake.shape), tuple(tensor.fake.stride()))

    def check(self, tensor: TensorVariable) -> None:
        """A break where the tensor was given another layout since, as by `unsqueeze_`."""
        if _Layout.of(tensor) != self:
            unsupported("GB0008", "an array over whose memory a tensor changed its layout")


class _Memory:
    """What arrays that are views of one another share: the tensors made over it.

    tensors: with the versions they had then.
    """

    def __init__(self) -> None:
        self.tensors: list[tuple[Any, int]] = []

    def check_read(self) -> None:
        """A break where a tensor over the memory was written."""
        if any(fake._storage._version != version for fake, version in self.tensors):
            unsupported("GB0008", "an array whose memory was written as a tensor's")

    def check_apart(self) -> None:
        """A break where there is a tensor over the memory at all."""
        if self.tensors:
            unsupported("GB0008", "an array whose memory is a tensor's, too")


class _OutsideMemory(_Memory):
    """That of a copy of what an array from outside holds, which stands for it where it is read."""

    def __init__(self, output: OutputGraph, owner: OutsideArray) -> None:
        super().__init__()
        self.output = output
        self.owner = owner

    def check_read(self) -> None:
        """A break behind any write, as arguments may share the array's memory."""
        output = self.output
        if output.mutated_inputs() or output.side_effects.calls or output.recomputed:
            unsupported("GB0008", f"the values of {self.owner.describe()} behind a write")

    def check_apart(self) -> None:
        unsupported("GB0008", "a write to an array from outside, or a view of it")


class KnownArray(ArrayVariable):
    """An array that the frame has made, whose values are known while it is captured."""

    def __init__(self, array: Any, memory: _Memory) -> None:
        self.array = array
        self.memory = memory

    def read(self) -> Any:
        """The array, to be read now."""
        self.memory.check_read()
        return self.array

    def written(self) -> Any:
        """The array, to be written now."""
        self.memory.check_apart()
        return self.array

    def as_tensor(self, tx: Values, shared: bool = True) -> VariableTracker:
        array = self.read()
        if shared:
            self.memory.check_apart()
        if dense_order(array.shape, _steps(array)) is None:
            unsupported("GB0008", "a tensor over an array with gaps")
        kept = fold(from_data.from_numpy, array.copy(order="K"))
        source = ConstSource(kept, "array")
        constant = tx.output.add_input(kept, fake_like(kept), source, Tensor)
        made = tx.output.run(tx, "call_method", "clone", [constant], {})
        assert isinstance(made, TensorVariable)
        if shared:
            self.memory.tensors.append((made.fake, made.fake._storage._version))
        return made

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name in _METHODS or name in _WRITING:
            return ArrayMethod(self, name)
        if name not in _FACTS:
            unsupported("GB0008", f"attribute {name!r} of an array")
        return result_of(tx, getattr(self.read(), name), [self])

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        return evaluated(tx, _subscript, [self, key], {})

    def setitem(self, tx: Translator, key: VariableTracker, value: VariableTracker) -> None:
        place, new = known(key), known(value)
        fold(self.written().__setitem__, place, new)

    def length(self, tx: Translator) -> VariableTracker:
        return tx.constant(fold(len, self.array))

    def truth(self, tx: Translator) -> bool:
        return bool(fold(bool, self.read()))

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        return bool(fold(self.read().__contains__, known(item)))

    def iterate(self, tx: Translator) -> VariableTracker:
        rows = [result_of(tx, row, [self]) for row in fold(list, self.read())]
        return tx.iterator_over(rows)

    def reconstruct(self, cg: Reconstructor) -> None:
        if type(self.array) is not numpy.ndarray or self.array.base is not None:
            unsupported("GB0015", "a view of an array is needed after the graph")
        self.memory.check_apart()
        cg.builder.begin_call(_copied)
        cg.builder.load_const(self.array.copy(order="K"))
        cg.builder.end_call(1)


def _copied(array: Any) -> Any:
    """A new array for each call of the translated frame."""
    return array.copy(order="K")


_eval_frame.skip_code(_copied.__code__)


def _subscript(array: Any, key: Any) -> Any:
    return array[key]


def _steps(array: Any) -> tuple[int, ...]:
    """The strides in elements."""
    return tuple(step // max(array.itemsize, 1) for step in array.strides)


class ArrayMethod(VariableTracker):
    """A bound method of an array."""

    def __init__(self, owner: KnownArray | OutsideArray, name: str) -> None:
        self.owner = owner
        self.method = name

    def python_type(self) -> type:
        return types.BuiltinMethodType

    def parts(self) -> Iterable[VariableTracker]:
        return [self.owner]

    def call(self, tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
        if self.method in _WRITING:
            self.owner.written()
        return evaluated(tx, getattr(numpy.ndarray, self.method), [self.owner, *args], kwargs)

    def reconstruct(self, cg: Reconstructor) -> None:
        cg.push(self.owner)
        cg.builder.load_attr(self.method)


_METHODS = frozenset(
    [
        *("sum", "mean", "max", "min", "prod", "std", "var", "any", "all", "argmax", "argmin"),
        *("astype", "copy", "reshape", "ravel", "flatten", "transpose", "squeeze", "swapaxes"),
        *("tolist", "item", "argsort", "cumsum", "cumprod", "dot", "clip", "round", "repeat"),
        *("nonzero", "take", "diagonal", "trace", "searchsorted"),
    ]
)
_WRITING = frozenset(["fill", "sort"])
_FACTS = frozenset(["shape", "dtype", "ndim", "size", "itemsize", "nbytes", "T", "real", "imag"])


def known(value: VariableTracker) -> Any:
    """The value of constants and of arrays that the frame made, and of sequences of them."""
    value = value.realize()
    if isinstance(value, OutsideArray):
        value = value.values()
    if isinstance(value, KnownArray):
        return value.read()
    if value.is_constant():
        return value.as_constant()
    kind = value.python_type()
    if issubclass(kind, (list, tuple)):
        items = [known(item) for item in value.parts()]
        return items if kind is list else tuple(items)
    return value.as_constant()


def evaluated(
    tx: Values, function: Callable[..., Any], args: Args, kwargs: Kwargs
) -> VariableTracker:
    """`function(*args, **kwargs)`, which NumPy computes while translating.

    A result that NumPy warns of is a break: each run is to warn.
    """
    values = [known(arg) for arg in args]
    keywords = {key: known(value) for key, value in kwargs.items()}
    if "out" in keywords or (type(function) is numpy.ufunc and len(values) > function.nin):
        unsupported("GB0004", f"{function.__name__}() with out=")
    try:
        with numpy.errstate(divide="raise", over="raise", invalid="raise"):
            found = fold(_unless_warned, function, values, keywords)
    except Raised:
        if any(isinstance(part, OutsideArray) for part in _flat(_realized(args, kwargs))):
            unsupported("GB0007", f"{function.__name__} of an array from outside, which fails")
        raise
    except _Warned as warned:
        unsupported("GB0004", f"{function.__name__} of an array, which warns: {warned}")
    return result_of(tx, found, _realized(args, kwargs))


def _realized(args: Args, kwargs: Kwargs) -> Args:
    return [value.realize() for value in (*args, *kwargs.values())]


class _Warned(Exception):
    """NumPy found a value to warn of."""


def _unless_warned(function: Any, values: list[Any], keywords: dict[str, Any]) -> Any:
    try:
        return function(*values, **keywords)
    except FloatingPointError as error:
        raise _Warned(str(error)) from error


KNOWN = (numpy.generic, int, float, complex, bool, numpy.dtype, numpy.finfo, numpy.iinfo)
_LARGEST = 1 << 26


def result_of(tx: Values, value: Any, inputs: Iterable[VariableTracker]) -> VariableTracker:
    """The tracker of what NumPy gave for these."""
    given = {part: _copy_of(part) for part in _flat(inputs)}
    arrays = [known for known in given.values() if known is not None]
    if type(value) in (tuple, list):
        items = [result_of(tx, item, arrays) for item in value]
        return tx.tuple_of(items) if type(value) is tuple else tx.constant(items)
    if isinstance(value, KNOWN):
        return tx.constant(value)
    if type(value) is not numpy.ndarray or value.nbytes > _LARGEST or value.dtype.hasobject:
        unsupported("GB0004", f"a result of NumPy that is a {type(value).__name__}")
    for part, array in given.items():
        if array is None:
            continue
        if value is array.array:
            return part
        if numpy.may_share_memory(value, array.array):
            return KnownArray(value, array.memory)
    return KnownArray(value if value.base is None else value.copy(order="K"), _Memory())


def _copy_of(value: VariableTracker) -> KnownArray | None:
    """The array that NumPy computes with; None of what is none."""
    if isinstance(value, OutsideArray):
        return value.values()
    return value if isinstance(value, KnownArray) else None


def _flat(values: Iterable[VariableTracker]) -> list[VariableTracker]:
    found: list[VariableTracker] = []
    for value in values:
        value = value.realize()
        found += _flat(value.parts()) if isinstance(value, TupleVariable) else [value]
    return found


def array_operation(
    tx: Values, function: Callable[..., Any], args: Args
) -> VariableTracker | None:
    """An operator on arrays that the frame made; None where there is none."""
    if not any(isinstance(arg, (KnownArray, OutsideArray)) for arg in args):
        return None
    first = args[0]
    if function in PLAIN and isinstance(first, (KnownArray, OutsideArray)):
        first.written()
    return evaluated(tx, function, args, {})


# arrays from outside


class ArrayTensorSource(DerivedSource):
    """`from_numpy(base)`: guards look at the array."""

    makes_objects = in_frame_only = True

    def name(self) -> str:
        return f"from_numpy({self.base.name()})"

    def emit(self, cg: Reloader) -> None:
        cg.begin_call(from_data.from_numpy)
        self.base.emit(cg)
        cg.end_call(1)

    def loads(self, program: LoadWriter) -> int:
        raise NotImplementedError("guards look at the array")

    def require_comparable(self) -> None:
        unsupported("GB0008", "a write beside an array's memory")


_eval_frame.skip_code(from_data.from_numpy.__code__)


class ContentsSource(DerivedSource):
    """What an array of numbers holds, as bytes: for guards."""

    def name(self) -> str:
        return f"{self.base.name()}.tobytes()"

    def emit(self, cg: Reloader) -> None:
        raise NotImplementedError("guards alone look at what an array holds")

    def loads(self, program: LoadWriter) -> int:
        return program.chain("contents", self.base)


class OutsideArray(ArrayVariable):
    """An array that was there before: its layout is guarded once it becomes a tensor, and what
    it holds once the program looks."""

    def __init__(self, output: OutputGraph, value: Any, source: Source) -> None:
        self.output = output
        self.array = value
        self.source = source
        self._values: KnownArray | None = None
        self._tensor: TensorVariable | None = None
        self._layout: _Layout | None = None
        self._given = False

    def describe(self) -> str:
        return f"the array {self.source}"

    def values(self) -> KnownArray:
        """A copy to be read, of what it holds in this frame: nothing in it may have written."""
        output, state, array = self.output, self.output.state, self.array
        assert self.source is not None
        plain = array.dtype.kind in "biufc" and array.dtype.isbuiltin and array.dtype.isnative
        small = array.nbytes <= _LARGEST_READ
        if not (plain and small) or dense_order(array.shape, _steps(array)) is None:
            unsupported("GB0008", f"the values of {self.describe()}")
        if self._values is None:
            memory = _OutsideMemory(output, self)
            memory.check_read()
            contents = array.tobytes()
            if not isinstance(self.source, ConstSource):
                if state.contents_vary(contents, self.source):
                    unsupported("GB0008", f"the values of {self.describe()}, which have varied")
                output.guards.id_match(AttrSource(self.source, "dtype"), array.dtype)
                output.guards.equals(AttrSource(self.source, "shape"), array.shape)
                output.guards.equals(AttrSource(self.source, "strides"), array.strides)
                output.guards.equals(ContentsSource(self.source), contents)
            copy = array.copy(order="K")
            copy.setflags(write=False)
            self._values = KnownArray(copy, memory)
        return self._values

    def written(self) -> Any:
        unsupported("GB0008", f"a write to {self.describe()}")

    def as_tensor(self, tx: Values, shared: bool = True) -> VariableTracker:
        """The input, or another tensor over its memory once the frame has got the input."""
        if self._tensor is None:
            self._tensor = self._input(tx.output)
            self._layout = _Layout.of(self._tensor)
        assert self._layout is not None
        self._layout.check(self._tensor)
        if shared and self._given:
            return tx.output.run(tx, "call_method", "detach", [self._tensor], {})
        self._given = self._given or shared
        return self._tensor

    def _input(self, output: OutputGraph) -> TensorVariable:
        assert self.source is not None
        if not self.array.flags.writeable:    # of which from_numpy() is to warn in each call
            unsupported("GB0008", "a tensor over an array that is not writable")
        try:
            tensor = from_data.from_numpy(self.array)
        except (TypeError, ValueError) as error:
            unsupported("GB0007", f"{type(error).__name__}: {error}")
        source = ArrayTensorSource(self.source)
        places = output.state.dynamic_places(tensor, source)
        if not self.array.flags.c_contiguous:
            places = ()
        shape = AttrSource(self.source, "shape")
        sizes = {place: ItemSource(shape, place) for place in places}
        fake = fake_like(tensor, output.shape_env, places, sizes)
        self._guard(output, shape, places)
        return output.add_input(tensor, fake, source, Tensor)

    def _guard(self, output: OutputGraph, shape: Source, places: tuple[int, ...]) -> None:
        """The dtype, the sizes that do not vary, and how the array lies in memory."""
        assert self.source is not None
        flags = AttrSource(self.source, "flags")
        output.guards.id_match(AttrSource(self.source, "dtype"), self.array.dtype)
        output.guards.equals(AttrSource(flags, "writeable"), True)
        if not places:
            output.guards.equals(shape, self.array.shape)
            output.guards.equals(AttrSource(self.source, "strides"), self.array.strides)
            return
        output.guards.length(shape, self.array.ndim)
        for dim in set(range(self.array.ndim)) - set(places):
            output.guards.equals(ItemSource(shape, dim), self.array.shape[dim])
        output.guards.equals(AttrSource(flags, "c_contiguous"), True)

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        assert self.source is not None
        if name == "dtype":
            return tx.output.wrap(self.array.dtype, AttrSource(self.source, "dtype"))
        if name in _OF_TENSORS:
            return fact_of(tx, self, name)
        if name in _METHODS or name in _WRITING:
            return ArrayMethod(self, name)
        if name not in _FACTS:
            unsupported("GB0008", f"attribute {name!r} of {self.describe()}")
        return result_of(tx, getattr(self.values().read(), name), [self])

    def length(self, tx: Translator) -> VariableTracker:
        return self.as_tensor(tx, shared=False).length(tx)

    def getitem(self, tx: Translator, key: VariableTracker) -> VariableTracker:
        return self.values().getitem(tx, key)

    def truth(self, tx: Translator) -> bool:
        return self.values().truth(tx)

    def contains(self, tx: Translator, item: VariableTracker) -> bool:
        return self.values().contains(tx, item)

    def iterate(self, tx: Translator) -> VariableTracker:
        return self.values().iterate(tx)


_LARGEST_READ = 4096


def wrap_array(output: OutputGraph, value: Any, source: Source) -> VariableTracker:
    """An array read from somewhere."""
    if not isinstance(source, ConstSource):
        output.guards.type_match(source, type(value))
    return OutsideArray(output, value, source)


# the memory of tensors


class TensorArray(ArrayVariable):
    """`tensor.numpy()`: made once the graph has run."""

    def __init__(self, tensor: TensorVariable) -> None:
        self.tensor = tensor
        self.layout = _Layout.of(tensor)

    def parts(self) -> Iterable[VariableTracker]:
        return [self.tensor]

    def as_tensor(self, tx: Values, shared: bool = True) -> VariableTracker:
        self.layout.check(self.tensor)
        return tx.output.run(tx, "call_method", "detach", [self.tensor], {})

    def getattr(self, tx: Translator, name: str) -> VariableTracker:
        if name == "dtype":
            return tx.constant(self.tensor.fake.dtype.numpy)
        return fact_of(tx, self, name)

    def length(self, tx: Translator) -> VariableTracker:
        return self.as_tensor(tx).length(tx)

    def reconstruct(self, cg: Reconstructor) -> None:
        self.layout.check(self.tensor)

        def method() -> None:
            cg.push(self.tensor)
            cg.builder.load_attr("numpy")

        cg.builder.begin_call_with(method)
        cg.builder.end_call(0)


_OF_TENSORS = ("shape", "ndim", "size")


def fact_of(tx: Translator, array: ArrayVariable, name: str) -> VariableTracker:
    """`shape`, `ndim` or `size` of an array, by those of the tensor over its memory."""
    if name not in _OF_TENSORS:
        unsupported("GB0008", f"attribute {name!r} of {array.describe()}")
    tensor = array.as_tensor(tx, shared=False)
    if name == "size":
        return tensor.call_method(tx, "numel", [], {})
    found = tensor.getattr(tx, name)
    return tx.tuple_of(found.unpack(tx)) if name == "shape" else found


def to_numpy(tx: Translator, tensor: TensorVariable) -> VariableTracker | None:
    """`tensor.numpy()`; None where the graph has to end."""
    fake = tensor.present().fake
    plain = fake.dtype.numpy.kind in "biufc" and not fake.requires_grad
    apart = tensor.memory is None and tx.side_effects.earlier is None
    return TensorArray(tensor) if plain and apart else None
