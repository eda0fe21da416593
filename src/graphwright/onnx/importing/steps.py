"""A graph as a list of steps, and how one runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.errors import InvalidModel
from graphwright.onnx.importing.opsets import (
    BOOL,
    EITHER,
    FLOAT,
    IN_PYTHON,
    INT,
    INTS,
    STRINGS,
    TENSOR,
    VALUE,
    Operator,
)
from graphwright.onnx.importing.values import Narrow, Numbers, Sizes, as_tensor

REFUSALS = (ArithmeticError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)
"""What operators raise for inputs that they cannot take."""


_TITLES = {
    list: "a sequence", dict: "a map", np.ndarray: "strings", type(None): "an empty optional",
}  # fmt: skip


class Step:
    """One node of a graph, with all that is known of it before it runs.

    Attributes:
        title: for messages: the operator and the node's name.
        inputs: names of values, None for an input that is left out.
        known: for each input that is a small constant its numbers, else None.
        outputs: names, "" for those that nobody reads.
        attributes: keywords of the function; subgraphs are Graphs.
        bodies: the keywords among them that are Graphs.
        sizes: the rule on sizes, if the operator has one.
        ended: names of values whose lifetime ends with this step.
        plain: whether the inputs are tensors at first, then numbers that stand in `attributes`:
            then the step is a call of the function and nothing else.
    """

    __slots__ = (
        "attributes", "bodies", "ended", "inputs", "kinds", "known", "operator", "outputs",
        "plain", "sizes", "title",
    )  # fmt: skip

    def __init__(
        self, title: str, operator: Operator, inputs: list[str | None], outputs: list[str],
        attributes: dict[str, Any], sizes: Callable[..., Any] | None,
    ) -> None:  # fmt: skip
        self.title = title
        self.operator = operator
        self.inputs = inputs
        self.outputs = outputs
        self.attributes = attributes
        self.bodies = [name for name, value in attributes.items() if isinstance(value, Graph)]
        self.known: list[Any] = [None] * len(inputs)
        self.sizes = sizes
        self.ended: tuple[str, ...] = ()
        self.kinds = _kinds_of_inputs(operator, len(inputs), title)
        self.plain = False

    def gives_tensors(self, tensors: set[str]) -> bool:
        """Whether all outputs are tensors for sure, as `tensors`, names of values, are."""
        operator = self.operator
        if self.bodies or not operator.gives_tensors(self.attributes):
            return False
        if operator.moves and self.inputs[0] not in tensors:
            return False
        pairs = list(zip(self.inputs, self.kinds, strict=True))
        if any(kind in (VALUE, EITHER) and name not in tensors for name, kind in pairs if name):
            return False
        unknown = [name for name, known in zip(self.inputs, self.known, strict=True)
                   if name is not None and known is None]
        if self.sizes is None or any(name in tensors for name in unknown):
            return True
        return not unknown and self.known_result() is None

    def make_plain(self, tensors: set[str]) -> None:
        """Make the step plain if what is known of its inputs lets it.

        Args:
            tensors: names of values that are tensors for sure.
        """
        leading = 0
        while leading < len(self.inputs) and self.inputs[leading] in tensors and (
            self.kinds[leading] in (TENSOR, EITHER, VALUE)
        ):
            leading += 1
        if self.operator.variadic and leading < len(self.inputs):
            return
        numbers: dict[str, Any] = {}
        for place in range(leading, len(self.inputs)):
            known, kind = self.known[place], self.kinds[place]
            if self.inputs[place] is None:
                continue
            if known is None or kind not in IN_PYTHON:
                return
            numbers[self.operator.names[place]] = converted(None, known, kind)
        self.inputs, self.kinds = self.inputs[:leading], self.kinds[:leading]
        self.known, self.sizes = self.known[:leading], None
        self.attributes = {**self.attributes, **numbers}
        self.plain = True

    @property
    def returns_one(self) -> bool:
        """Whether the function returns one value, not a tuple of some."""
        return self.operator.returns_one and len(self.outputs) == 1

    def run(self, values: dict[str, Any]) -> None:
        """Compute the node from `values`, name -> value, and enter its outputs there."""
        given = [None if name is None else values[name] for name in self.inputs]
        result: Any = self._by_sizes(given) if self.sizes is not None else None
        if result is None:
            result = self._by_function(given, values)
        enter(result, self.outputs, values)
        for name in self.ended:
            del values[name]

    def known_result(self) -> Sizes | None:
        """The result of the rule on sizes, if there is one and all inputs are constants."""
        if self.sizes is None or self.bodies:
            return None
        if any(name is not None and known is None
               for name, known in zip(self.inputs, self.known, strict=True)):
            return None
        return self._by_sizes(list(self.known))

    def _by_sizes(self, given: list[Any]) -> Sizes | None:
        """The result of the rule on sizes, if it has one for inputs that are all sizes."""
        assert self.sizes is not None
        inputs: list[Any] = []
        for value, known in zip(given, self.known, strict=True):
            if value is None or (isinstance(value, Sizes) and not isinstance(value, Numbers)):
                inputs.append(value)
            elif known is not None and not isinstance(known, Numbers):
                inputs.append(known)
            else:
                return None
        result: Sizes | None = self.sizes(*inputs, **self.attributes)
        return result

    def _by_function(self, given: list[Any], values: dict[str, Any]) -> Any:
        operator = self.operator
        if operator.moves and not operator.variadic and isinstance(given[0], np.ndarray):
            strings: np.ndarray = given[0].reshape(-1)
            places = gw.arange(strings.size).reshape(list(given[0].shape))
            return _at(strings, self._by_function([places, *given[1:]], values))
        arguments = [
            None if name is None else converted(value, known, kind)
            for name, value, known, kind in zip(
                self.inputs, given, self.known, self.kinds, strict=True
            )
        ]
        attributes = self.attributes
        if self.bodies:
            bound = {name: BoundGraph(attributes[name], values) for name in self.bodies}
            attributes = {**attributes, **bound}
        result = operator.function(*arguments, **attributes)
        if operator.moves and isinstance(given[0], Narrow):
            return _narrowed(result, given[0].kind)
        return result


def enter(result: Any, outputs: Sequence[str], values: dict[str, Any]) -> None:
    """Enter what a function returned, one value or a tuple of several, under the names."""
    results = result if isinstance(result, tuple) else (result,)
    if len(results) < len(outputs):
        raise ValueError(f"{len(outputs)} outputs are named, there are {len(results)}")
    for name, value in zip(outputs, results, strict=False):
        values[name] = value


class Graph:
    """A graph, or the body of a control operator or of a function.

    Attributes:
        name: of the graph.
        inputs: names of the values that a call gives, in order.
        outputs: names of the results.
        steps: in the order in which they run.
        parts: the steps, or what runs several of them at once.
        known: for each output that is a small constant its numbers, else None.
    """

    __slots__ = ("inputs", "known", "name", "outputs", "parts", "steps")

    def __init__(self, name: str) -> None:
        self.name = name
        self.inputs: list[str] = []
        self.outputs: list[str] = []
        self.steps: list[Step] = []
        self.parts: list[Any] = []
        self.known: list[Any] = []

    def run(self, values: dict[str, Any]) -> tuple[Any, ...]:
        """The outputs; `values` has the inputs and whatever else the graph reads by name."""
        for part in self.parts:
            part.run(values)
        return tuple([None if name == "" else values[name] for name in self.outputs])


class BoundGraph:
    """A body in a running graph: a function of the body's inputs.

    No two graphs of a model have names in common, so that the body's values stand beside those of
    the graph around it.
    """

    __slots__ = ("graph", "values")

    def __init__(self, graph: Graph, values: dict[str, Any]) -> None:
        self.graph = graph
        self.values = values

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        if len(inputs) != len(self.graph.inputs):
            raise InvalidModel(
                f"the body {self.graph.name!r} has {len(self.graph.inputs)} inputs, and is given "
                f"{len(inputs)}"
            )
        for name, value in zip(self.graph.inputs, inputs, strict=True):
            self.values[name] = value
        return self.graph.run(self.values)

    def known_output(self, position: int, value: Any) -> bool:
        """Whether an output, whose value a call returned, is true; without reading a constant."""
        known = self.graph.known[position]
        return bool(converted(value, known, BOOL))

    @property
    def n_outputs(self) -> int:
        """How many outputs the body has."""
        return len(self.graph.outputs)


def converted(value: Any, known: Any, kind: int) -> Any:
    """A value as a parameter of a kind takes it; `known` is its value in Python, or None."""
    if kind == TENSOR:
        return value if isinstance(value, Tensor) else _tensor_of(value)
    if kind == VALUE or (value is None and known is None):
        return value
    if kind == EITHER:
        return value if isinstance(value, np.ndarray) else _tensor_of(value)
    if kind == STRINGS:
        return _strings_of(value)
    sizes = value if known is None else known
    if kind == INTS:
        found = sizes.values if isinstance(sizes, Sizes) else _tensor_of(value).tolist()
        return list(found) if isinstance(found, list) else [found]
    if isinstance(sizes, Sizes):
        number: Any = sizes.values[0]
    else:
        number = value if isinstance(value, bool) else _tensor_of(value).item()
    if kind == FLOAT:
        return float(number)
    if kind == BOOL:
        return bool(number)
    assert kind == INT
    return number if isinstance(value, Sizes) else int(number)


def _tensor_of(value: Any) -> Any:
    if type(value) in _TITLES:
        raise TypeError(f"a tensor is needed, not {_TITLES[type(value)]}")
    return as_tensor(value)


def _at(strings: np.ndarray, places: Any) -> Any:
    """Strings at what an operator made of their places."""
    if isinstance(places, tuple):
        return tuple([_at(strings, part) for part in places])
    found = np.empty(tuple(places.shape), dtype=object)
    found[...] = strings[places.numpy()]
    return found


def _strings_of(value: Any) -> np.ndarray:
    if not isinstance(value, np.ndarray):
        raise TypeError(f"strings are needed, not {_TITLES.get(type(value), 'a tensor')}")
    return value


def _narrowed(result: Any, kind: int) -> Any:
    if isinstance(result, Tensor):
        return Narrow(result, kind)
    if isinstance(result, (tuple, list)):
        return type(result)([_narrowed(value, kind) for value in result])
    return result


def _kinds_of_inputs(operator: Operator, count: int, title: str) -> tuple[int, ...]:
    kinds = operator.kinds
    if operator.variadic:
        return kinds[:-1][:count] + kinds[-1:] * max(0, count - len(kinds) + 1)
    if count > len(kinds):
        raise InvalidModel(f"{title}: {count} inputs, where the operator takes {len(kinds)}")
    return kinds[:count]
