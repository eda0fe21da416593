"""`cond` and `while_loop` on tensors: graphs within the graph.

The functions that they are given are run through one after the other, each into a graph of its
own. What these read from outside, operands and closures alike, becomes their arguments. A function
that does more than compute tensors ends the graph before the call, which then runs as Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from graphwright._higher_order_ops import cond_and_while
from graphwright.amp import state as amp
from graphwright.capture.exc import BackendFailed, unsupported
from graphwright.capture.guards.constant_tensors import KNOWN
from graphwright.capture.trackers.base import Clock, VariableTracker
from graphwright.capture.trackers.callables.functions import CellVariable
from graphwright.capture.trackers.classes.named_tuples import NamedTupleVariable
from graphwright.capture.trackers.containers.mappings import DictVariable
from graphwright.capture.trackers.containers.sequences import ListVariable, TupleVariable
from graphwright.capture.trackers.numbers.symint import SymIntVariable
from graphwright.capture.trackers.tensors.checkpointing import written
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.capture.trackers.values.exceptions import Raised
from graphwright.ir import control_flow
from graphwright.ir.branches import functional
from graphwright.ir.control import contiguous_like
from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node, map_leaves
from graphwright.ir.joint.joint import dense_like
from graphwright.ir.lowered_graph import CannotLower
from graphwright.ir.passes.algebra import same_sizes
from graphwright.ir.passes.normalise import ON_THE_TAPE
from graphwright.ir.pieces import is_cut
from graphwright.ir.trace import bind_symbols
from graphwright.runtime import _core
from graphwright.runtime.errors import describe
from graphwright.runtime.symbolic.expr import Sym
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor.generator import ReservedDraws
from graphwright.runtime.tensor.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.capture.vm.translator import Translator

Args = list[VariableTracker]
Kwargs = dict[str, VariableTracker]
CODE = "GB0026"


class _Part:
    """What one function became.

    graph: its operations, on nodes of the graph around it. structure: how its result is nested,
    with the constants in it. leaves: the tensors of the result. random: whether it draws.
    """

    def __init__(
        self, name: str, graph: Graph, structure: Any, leaves: list[TensorVariable], random: bool
    ) -> None:
        self.name, self.graph, self.structure = name, graph, structure
        self.leaves, self.random = leaves, random
        self.carried = list(graph.placeholders)

    def free(self) -> dict[Node, None]:
        """The nodes of the outer graph whose values the branch reads, in order."""
        return {operand: None for node in self.graph.nodes for operand in node.all_input_nodes
                if operand.graph is not self.graph}

    def results(self) -> list[Any]:
        """The fake tensors of the result."""
        return [leaf.present().fake for leaf in self.leaves]


def captured_cond(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`cond(pred, true_fn, false_fn, operands)`: a node where `pred` is a tensor."""
    given = _bound(cond_and_while.cond, args, kwargs)
    pred = None if given is None else given["pred"].realize()
    if given is None or not isinstance(pred, TensorVariable) or KNOWN in pred.node.meta:
        return _plainly(tx, cond_and_while.cond, args, kwargs)
    operands = given["operands"].realize()
    if pred.present().fake.numel() != 1 or not isinstance(operands, TupleVariable | ListVariable):
        return _plainly(tx, cond_and_while.cond, args, kwargs)
    parts = [_part(tx, f"cond_{name}", given[f"{name}_fn"], operands.items)
             for name in ("true", "false")]
    _check_alike(parts[0], parts[1], "cond: the branches give")
    for part in parts:
        _own_results(tx, part)
    for pair in zip(*[part.leaves for part in parts], strict=True):
        strides = [leaf.fake.stride() for leaf in pair]
        dense = dense_like(pair[0].fake).stride()
        if not all(same_sizes(dense, each) for each in strides):
            for leaf in pair:
                _make_contiguous(tx, leaf)
    free = {node: None for part in parts for node in part.free()}
    graphs, more = _closed(tx, parts, list(free))
    return _call(tx, control_flow.cond, [pred, *graphs, tx.tuple_of(more)], parts)


def captured_loop(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """`while_loop(cond_fn, body_fn, carried_inputs)`: a node where it carries tensors."""
    given = _bound(cond_and_while.while_loop, args, kwargs)
    carried = None if given is None else given["carried_inputs"].realize()
    if given is None or not isinstance(carried, TupleVariable | ListVariable):
        return _plainly(tx, cond_and_while.while_loop, args, kwargs)
    start: list[TensorVariable] = []
    structure = tuple([_structure(tx, item, start) for item in carried.items])
    if not start:
        return _plainly(tx, cond_and_while.while_loop, args, kwargs)
    test = _part(tx, "while_cond", given["cond_fn"], structure, start)
    if test.structure != "tensor" or test.results()[0].numel() != 1:
        _refuse("while_loop", "a condition that is no tensor of one element")
    body = _part(tx, "while_body", given["body_fn"], structure, start)
    before = _Part("", Graph(), ("tuple", structure), start, False)
    if len(structure) == 1 and not isinstance(body.structure, tuple):
        body.structure = ("tuple", (body.structure,))
    body.structure = _as_tuple(body.structure)
    _check_alike(before, body, "while_loop: the body is given and gives")
    for part in (test, body):
        _own_results(tx, part, copied=part.carried)
    for leaf in body.leaves:
        _make_contiguous(tx, leaf)
    free = {node: None for part in (test, body) for node in part.free()}
    graphs, more = _closed(tx, [test, body], list(free))
    arguments = [*graphs, tx.tuple_of(list(start)), tx.tuple_of(more)]
    return _call(tx, control_flow.while_loop, arguments, [body, test])


def _no_versions(tx: Translator, args: Args, kwargs: Kwargs) -> VariableTracker:
    """Functions that run in the frame itself are seen to write in place."""
    return tx.constant([])


CONTROL_FLOW = {
    cond_and_while.cond: captured_cond,
    cond_and_while.while_loop: captured_loop,
    cond_and_while.versions: _no_versions,
}


def _bound(function: Any, args: Args, kwargs: Kwargs) -> Kwargs | None:
    """The arguments by name, with defaults; None where they do not fit."""
    names = function.__code__.co_varnames[:function.__code__.co_argcount]
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    if len(args) > len(names) or len(given) < len(args) + len(kwargs) or set(given) - set(names):
        return None
    if "operands" in names:
        given.setdefault("operands", TupleVariable([]))
    return given if set(given) == set(names) else None


def _plainly(
    tx: Translator, function: Any, args: Args, kwargs: Kwargs
) -> VariableTracker:
    """What Python does, which refuses wrong arguments and knows what is decided already."""
    return tx.plain_function(function).call(tx, args, kwargs)


def _refuse(name: str, what: str) -> NoReturn:
    unsupported(CODE, f"{name} with {what}")


# -- one function


def _part(
    tx: Translator, name: str, function: VariableTracker, operands: Any,
    carried: Sequence[TensorVariable] | None = None,
) -> _Part:
    """Run a function into a graph of its own, on the operands.

    With `carried`, `operands` is a structure that is filled with arguments like these tensors.
    """
    output, what = tx.output, name.partition("_")[0].replace("while", "while_loop")
    leaves: list[TensorVariable] = []
    random, output.fake_mode.random = output.fake_mode.random, False
    with output.subgraph() as graph:
        given = list(operands)
        if carried is not None:
            stand_ins = iter([output.stand_in(contiguous_like(one.present().fake))
                              for one in carried])
            given = [_rebuilt(tx, item, stand_ins) for item in operands]
        with _unchanged(tx, what):
            try:
                result = function.realize().call(tx, given, {}).realize()
            except Raised as raised:
                _refuse(what, f"a function that raises {raised.value.cls.__name__}")
            structure = _structure(tx, result, leaves)
        for node in graph.nodes:
            _check_node(node, what)
    part = _Part(name, graph, structure, leaves, output.fake_mode.random)
    output.fake_mode.random = random or part.random
    if part.random and _core.grad_enabled() and _needs_grad(part):
        _refuse(what, "a function that draws random numbers and needs gradients")
    if part.random and output.recomputed:
        _refuse(what, "a function that draws random numbers, within checkpoint()")
    return part


def _needs_grad(part: _Part) -> bool:
    return any(node.meta["val"].requires_grad for node in (*part.free(), *part.carried))


def _check_node(node: Node, what: str) -> None:
    if node.target is ReservedDraws:
        _refuse(what, "a function that draws from a generator")
    if node.target in ON_THE_TAPE:
        _refuse(what, "a function that computes gradients")
    if is_cut(node):
        _refuse(what, "a module that has backward hooks")


@contextmanager
def _unchanged(tx: Translator, what: str) -> Iterator[None]:
    """A break where something outside is another after the block than before."""
    output = tx.output
    if _core.levels():
        _refuse(what, "a tensor as condition, under vmap")
    before, memory, made = _state(tx), output.memory_versions(), Clock.made
    with output.side_effects.touching() as touched:
        yield
    if any(_is_outside(value, made) for value in touched) or _state(tx) != before:
        _refuse(what, "a function that changes what is outside of it")
    now = output.memory_versions()
    if any(now[storage] != version for storage, version in memory.items()):
        _refuse(what, "a function that changes a tensor in place that it did not make")


def _is_outside(value: VariableTracker | None, made: int) -> bool:
    """Whether what changed was there when there were so many trackers; None stands for globals."""
    if value is None or value.source is not None or value.number <= made:
        return True
    return isinstance(value, CellVariable) and value.push_cell is not None


def _state(tx: Translator) -> tuple[Any, ...]:
    output = tx.output
    return (written(output), len(output.assumptions), len(output.draws), _core.grad_enabled(),
            amp.current(),
            [len(part) for part in vars(output.tape).values() if isinstance(part, list | dict)])


# -- results


def _structure(tx: Translator, value: VariableTracker, leaves: list[TensorVariable]) -> Any:
    """How a value is nested, with its constants; its tensors are added to `leaves`."""
    value = value.realize()
    kind = value.python_type()
    if isinstance(value, TensorVariable):
        leaves.append(value)
        return "tensor"
    if isinstance(value, NamedTupleVariable):
        return (kind, tuple([_structure(tx, item, leaves) for item in value.items]))
    if isinstance(value, TupleVariable | ListVariable) and kind in (tuple, list):
        return (kind.__name__, tuple([_structure(tx, item, leaves) for item in value.items]))
    if isinstance(value, DictVariable) and kind is dict:
        return ("dict", tuple([(key, _structure(tx, item, leaves))
                               for key, (_, item) in value.entries.items()]))
    if isinstance(value, ConstantVariable) and kind in (int, float, bool, str, type(None)):
        return ("constant", kind, value.value)
    _refuse("cond or while_loop", f"{value.describe()} as a result or operand")


def _rebuilt(tx: Translator, structure: Any, leaves: Iterator[VariableTracker]) -> VariableTracker:
    """The value of that structure."""
    if structure == "tensor":
        return next(leaves)
    kind, *rest = structure
    if kind == "constant":
        return tx.constant(rest[1])
    if kind == "dict":
        return DictVariable({key: (tx.constant(key), _rebuilt(tx, item, leaves))
                             for key, item in rest[0]})
    items = [_rebuilt(tx, item, leaves) for item in rest[0]]
    if kind == "list":
        return ListVariable(items)
    return TupleVariable(items) if kind == "tuple" else NamedTupleVariable(items, kind)


def _as_tuple(structure: Any) -> Any:
    return ("tuple", structure[1]) if structure[0] == "list" else structure


def _check_alike(one: _Part, two: _Part, what: str) -> None:
    """Raise RuntimeError to the program's caller unless both have results of the same types."""
    def fail(first: Any, second: Any) -> NoReturn:
        raise BackendFailed(RuntimeError(f"{what} {first} and {second}"))

    if one.structure != two.structure:
        if _without_values(one.structure) == _without_values(two.structure):
            _refuse(what.partition(":")[0], "numbers that are not the same in both functions")
        fail(_shown(one.structure), _shown(two.structure))
    for first, second in zip(one.results(), two.results(), strict=True):
        alike = first.dtype is second.dtype and first.device == second.device
        if not alike or len(first.shape) != len(second.shape) or not all(
                a == b for a, b in zip(first.shape, second.shape, strict=True)):
            fail(describe(first), describe(second))


def _without_values(structure: Any) -> Any:
    """A structure with a number's type in the place of its value."""
    if structure == "tensor" or structure[0] == "constant":
        return structure[:2]
    if structure[0] == "dict":
        return "dict", [(key, _without_values(item)) for key, item in structure[1]]
    return structure[0], [*map(_without_values, structure[1])]


def _shown(structure: Any) -> str:
    """A structure as Python would write it."""
    if structure == "tensor":
        return "a tensor"
    kind, *rest = structure
    if kind == "constant":
        return repr(rest[1])
    if kind == "dict":
        return f"{{{', '.join([f'{key!r}: {_shown(item)}' for key, item in rest[0]])}}}"
    items = ", ".join(map(_shown, rest[0]))
    if kind == "list":
        return f"[{items}]"
    return f"({items})" if kind == "tuple" else f"{kind.__name__}({items})"


def _own_results(tx: Translator, part: _Part, copied: Sequence[Node] = ()) -> None:
    """A break unless the results are tensors of the graph's own, each with its own memory.

    Those that are arguments of the graph among `copied`, or views of them, are copied.
    """
    seen = {id(node.meta["val"]._storage) for node in (*part.free(), *part.carried)}
    free = {id(node.meta["val"]._storage) for node in copied}
    for place, leaf in enumerate(part.leaves):
        leaf = leaf.present()
        storage = id(leaf.fake._storage)
        if storage in free or (copied and storage in seen):
            leaf = _added(tx, part.graph, "clone", leaf)
        elif leaf.node.graph is not part.graph or storage in seen:
            _refuse(part.name.partition("_")[0], "a function that returns what it is given, or a "
                    "view of that, or one tensor twice; return a clone() of it")
        seen.add(id(leaf.fake._storage))
        part.leaves[place] = TensorVariable(leaf.node, leaf.fake, Tensor)


def _make_contiguous(tx: Translator, leaf: TensorVariable) -> None:
    if not leaf.fake.is_contiguous():
        made = _added(tx, leaf.node.graph, "contiguous", leaf)
        leaf.node, leaf.fake = made.node, made.fake


def _added(tx: Translator, graph: Graph, method: str, leaf: TensorVariable) -> TensorVariable:
    """A tensor's method, called at the end of a graph."""
    with tx.output.subgraph(graph):
        made = tx.output.run(tx, "call_method", method, [leaf], {})
    assert isinstance(made, TensorVariable)
    return made


# -- from graphs of nodes outside to graphs with arguments


def _closed(
    tx: Translator, parts: Sequence[_Part], free: Sequence[Node]
) -> tuple[list[VariableTracker], Args]:
    """The parts as functional modules, which take `free` and the sizes that they name besides
    what they carry; and trackers of these arguments."""
    symbols = _unbound([part.graph for part in parts], [*free, *parts[0].carried])
    sizes = [SymInt(tx.output.shape_env.symbols[name], tx.output.shape_env) for name in symbols]
    needs_grad = _core.grad_enabled() and any(map(_needs_grad, parts))
    modules: list[VariableTracker] = []
    for part in parts:
        graph = part.graph
        arguments = {}
        last = part.carried[-1] if part.carried else None
        with graph.inserting_after(last):
            for node in free:
                arguments[node] = graph.placeholder(node.name)
                arguments[node].meta["val"] = node.meta["val"]
            for name, size in zip(symbols, sizes, strict=True):
                graph.placeholder(name).meta["val"] = size
        for node in graph.nodes:
            for operand in node.all_input_nodes:
                if operand in arguments:
                    node.replace_input_with(operand, arguments[operand])
        graph.output(tuple([leaf.node for leaf in part.leaves]))
        module = GraphModule({}, graph)
        module.meta["shape_env"] = tx.output.shape_env
        bind_symbols(module)
        module.lint()
        inputs = [node.meta["val"] for node in graph.placeholders]
        try:
            made = functional(module, inputs, needs_grad)
        except CannotLower as reason:
            _refuse(part.name.partition("_")[0], f"a function of which {reason}")
        made._name = part.name
        modules.append(tx.constant(made))
    given: Args = [TensorVariable(node, node.meta["val"], Tensor) for node in free]
    return modules, [*given, *map(SymIntVariable, sizes)]


def _unbound(graphs: Sequence[Graph], arguments: Sequence[Node]) -> list[str]:
    """The size symbols that graphs name and that none of their arguments has as a size."""
    names: dict[str, None] = {}

    def note(leaf: Any) -> Any:
        sizes = (*leaf.shape, *leaf.stride()) if isinstance(leaf, Tensor) else (leaf,)
        for size in sizes:
            if isinstance(size, SymInt):
                names.update(dict.fromkeys(sorted(s.name for s in size.expr.symbols())))
        return leaf

    for graph in graphs:
        for node in graph.nodes:
            map_leaves((node.args, node.kwargs, node.meta.get("val")), note)
    map_leaves([node.meta["val"] for node in arguments], note)
    bound = {size.expr.name for node in arguments for size in node.meta["val"].shape
             if isinstance(size, SymInt) and isinstance(size.expr, Sym)}
    return [name for name in names if name not in bound]


def _call(
    tx: Translator, target: Callable[..., Any], arguments: Args, parts: Sequence[_Part]
) -> VariableTracker:
    """The node, and its results as the first part nests them."""
    random, tx.output.fake_mode.random = tx.output.fake_mode.random, False
    result = tx.output.run(tx, "call_function", target, arguments, {})
    tx.output.fake_mode.random |= random
    assert isinstance(result, TupleVariable)
    return _rebuilt(tx, parts[0].structure, iter(result.items))
