"""Graph, Node, GraphModule, Interpreter: structure, editing, printing, running."""

import copy
import operator

import pytest

import graphwright as gw
from graphwright.ir import Graph, GraphError, GraphModule, Interpreter, lint


def double_plus(graph: Graph) -> GraphModule:
    """2*x + y."""
    x, y = graph.placeholder("x"), graph.placeholder("y")
    twice = graph.call_function(operator.mul, (x, 2))
    total = graph.call_function(operator.add, (twice, y))
    graph.output((total,))
    return GraphModule({}, graph)


def test_names_are_unique_and_deterministic() -> None:
    graph = Graph()
    x = graph.placeholder("x")
    nodes = [graph.call_function(operator.add, (x, i)) for i in range(3)]
    assert [n.name for n in nodes] == ["add", "add_1", "add_2"]
    assert graph.placeholder("x").name == "x_1"
    assert graph.call_method("sum", (x,)).name == "sum_1"
    assert graph.call_function(len, (x,), name="L['a']").name == "L_a_"
    assert graph.call_module("myLayer.0", (x,)).name == "my_layer_0"


def test_code_is_runnable_text() -> None:
    module = double_plus(Graph())
    assert module.code == (
        "def forward(self, x, y):\n"
        "    mul = x * 2; del x\n"
        "    add = mul + y; del mul; del y\n"
        "    return (add,)\n"
    )
    assert module(3, 4) == (10,)
    assert Interpreter(module).run(3, 4) == (10,)


def test_functions_named_like_nodes_keep_apart() -> None:
    def whole(x: gw.Tensor) -> gw.Tensor:
        return x * 2

    graph = Graph()
    x = graph.placeholder("graphwright")
    inner = graph.call_function(whole, (x,))
    graph.output((graph.call_function(gw.neg, (inner,)),))
    module = GraphModule({}, graph)
    assert "whole = whole_1(graphwright)" in module.code
    assert module(gw.ones(2))[0].tolist() == [-2.0, -2.0]


def test_users_follow_edits() -> None:
    module = double_plus(Graph())
    graph = module.graph
    x, y, mul, add, _ = graph.nodes
    assert list(x.users) == [mul] and add.all_input_nodes == [mul, y]
    with graph.inserting_after(mul):
        neg = graph.call_function(operator.neg, (mul,))
    mul.replace_all_uses_with(neg, lambda user: user is not neg)
    assert list(mul.users) == [neg] and list(neg.users) == [add]
    assert [n.name for n in graph.nodes] == ["x", "y", "mul", "neg", "add", "output"]
    module.recompile()
    assert module(3, 4) == (-2,)
    with pytest.raises(RuntimeError, match="node mul is still used by neg"):
        graph.erase_node(mul)


def test_erasing_while_iterating() -> None:
    graph = Graph()
    x = graph.placeholder("x")
    for i in range(4):
        graph.call_function(operator.add, (x, i))
    graph.output(x)
    for node in graph.nodes:
        if node.op == "call_function":
            graph.erase_node(node)
    assert len(graph.nodes) == 2 and lint(graph) == []


def test_modules_methods_attributes_and_slices() -> None:
    graph = Graph()
    x = graph.placeholder("x")
    table = graph.get_attr("block.0.table")
    graph.output(
        graph.call_module("head", (graph.call_method("index", (table, x)),
                                   graph.call_function(operator.getitem, (table, slice(1, None)))))
    )
    module = GraphModule({"block.0.table": [5, 6, 7], "head": lambda a, b: (a, b)}, graph)
    assert "getattr(self.block, '0').table" in module.code and "[1:]" in module.code
    assert module(6) == (1, [6, 7]) == Interpreter(module).run(6)


def test_lint_names_the_node() -> None:
    module = double_plus(Graph())
    _, _, mul, _, out = module.graph.nodes
    out.prepend(mul)
    assert lint(module.graph) == ["node add: uses mul before it is computed"]
    with pytest.raises(GraphError, match="after scramble"):
        module.lint("scramble")
    graph = Graph()
    graph.get_attr("missing")
    assert lint(graph, gw.nn.Module()) == [
        "node missing: the module has no attribute 'missing'",
        "the graph must end in its one output; it has 0",
    ]


def test_copies_are_independent() -> None:
    module = double_plus(Graph())
    twin = copy.deepcopy(module)
    next(n for n in twin.graph.nodes if n.name == "add").replace_input_with(
        *list(twin.graph.nodes)[1::-1])
    assert twin(3, 4) == (9,) and module(3, 4) == (10,)


def test_interpreter_errors_name_the_node() -> None:
    with pytest.raises(TypeError) as caught:
        Interpreter(double_plus(Graph())).run("a", 1)
    assert caught.value.__notes__ == ["while running node add of the graph"]


def test_table() -> None:
    lines = double_plus(Graph()).tabular().splitlines()
    assert lines[0].split() == ["op", "name", "target", "args", "kwargs", "value"]
    assert lines[4].split() == ["call_function", "mul", "operator.mul", "(x,", "2)", "{}"]


def test_dead_code() -> None:
    module = double_plus(Graph())
    out = module.graph.output_node()
    out.args = (module.graph.placeholders[0],)
    assert module.graph.eliminate_dead_code(lambda node: False) is True
    assert module.code == "def forward(self, x, y):\n    return x\n"


def test_arguments_are_edited_in_place() -> None:
    graph = Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    call = graph.call_function(max, (x,), {"key": 1})
    call.insert_arg(0, y)
    call.update_arg(1, 7)
    call.update_kwarg("key", None)
    assert (call.args, call.kwargs) == ((y, 7), {"key": None})
    assert list(y.users) == [call] and not x.users
    with pytest.raises(IndexError):
        call.update_arg(2, x)


def test_nodes_are_found_by_kind_and_target() -> None:
    graph = double_plus(Graph()).graph
    assert [n.name for n in graph.find_nodes(op="call_function")] == ["mul", "add"]
    assert [n.name for n in graph.find_nodes(op="call_function", target=operator.add)] == ["add"]
    assert graph.find_nodes(op="call_method", target="sum") == []


def test_dead_code_keeps_writes_and_modules_unless_told_otherwise() -> None:
    graph = Graph()
    x = graph.placeholder("x")
    graph.call_method("sum", (x,))
    graph.call_method("add_", (x, 1))
    graph.call_function(operator.setitem, (x, 0, 1))
    graph.call_method("__len__", (x,))
    graph.call_module("layer", (x,))
    graph.output((x,))
    assert graph.eliminate_dead_code() is True
    assert graph.eliminate_dead_code() is False
    assert [n.name for n in graph.nodes] == ["x", "add_", "setitem", "layer", "output"]


def test_dead_code_keeps_the_modes_of_captured_operations() -> None:
    def backend(module: GraphModule, examples: object) -> GraphModule:
        module.graph.eliminate_dead_code()
        return module

    @gw.compile(backend=backend)
    def f(x: gw.Tensor) -> tuple[gw.Tensor, gw.Tensor]:
        with gw.no_grad():
            fixed = x * 2
        with gw.autocast("cpu"):
            product = x @ x
        return fixed, product

    fixed, product = f(gw.ones(2, 2, requires_grad=True))
    assert not fixed.requires_grad and product.requires_grad
    assert product.dtype is gw.bfloat16


def test_a_graph_checks_itself() -> None:
    graph = double_plus(Graph()).graph
    graph.lint()
    graph.find_nodes(op="call_function")[0].append(graph.placeholders[1])
    with pytest.raises(GraphError, match="a placeholder comes after another kind of node"):
        graph.lint()


def test_a_graph_for_networkx() -> None:
    found = double_plus(Graph()).graph.to_networkx()
    assert list(found.nodes)[-1] == "output"
    assert found.nodes["mul"]["op"] == "call_function" and found.nodes["mul"]["target"] == "mul"
    assert [*found.predecessors("add")][:1] == ["mul"]
