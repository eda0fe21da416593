"""Identities: what a rule shows to be one of its inputs is replaced by it.

Before::

    mul = ops.mul(x, 1.0)
    permute = ops.permute(mul, (1, 0))
    permute_1 = ops.permute(permute, (1, 0))
    relu = ops.relu(permute_1)

After::

    relu = ops.relu(x)

A rule is a function of a node; it returns the node to use instead, or None. Only identities that
hold for every float, -0.0 and nan included, are here: x * 1, but not x + 0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from graphwright.ir.graph.module import GraphModule
from graphwright.ir.graph.node import Node, map_nodes
from graphwright.runtime.fake.fake_tensor import fake_kernel
from graphwright.runtime.ops.table import Op

Rule = Callable[[GraphModule, Node], Node | None]


def simplify(module: GraphModule, exposed: Collection[Node] = ()) -> None:
    """See the module's docstring.

    A graph that reads memory by position (`as_strided`) is left alone: rules may change strides.

    Args:
        exposed: values that the caller may write to before gradients read them: what has memory
            of its own is not replaced by one of these or by a view of one.
    """
    if any(isinstance(node.target, Op) and node.target.name == "as_strided"
           for node in module.graph.nodes):
        return
    for node in module.graph.nodes:
        if not isinstance(node.target, Op):
            continue
        for rule in RULES.get(node.target.name, ()):
            other = rule(module, node)
            if other is None or (_has_own_memory(node) and _base(other) in exposed):
                continue
            if rule in RELAYOUT or same_type(other, node):
                node.replace_all_uses_with(other)
                break


_MAYBE_ALIAS = frozenset({"to_dtype", "contiguous"})
"""Ops that give their input itself where it has the type and the layout already."""


def _has_own_memory(node: Node) -> bool:
    op = node.target
    return isinstance(op, Op) and not op.is_view and op.name not in _MAYBE_ALIAS


def _base(node: Node) -> Node:
    """What a node is a view of in the end."""
    while isinstance(node.target, Op) and not _has_own_memory(node):
        source = node.args[0]
        assert isinstance(source, Node)
        node = source
    return node


def same_type(one: Node, two: Node) -> bool:
    """Whether two nodes' values agree in shape, strides, dtype and device; assumes nothing."""
    a, b = one.meta["val"], two.meta["val"]
    return bool(hasattr(a, "dtype") and hasattr(b, "dtype") and a.dtype is b.dtype
                and a.device == b.device and same_sizes(a.shape, b.shape)
                and same_sizes(a.stride(), b.stride()))


def same_sizes(one: tuple[Any, ...], two: tuple[Any, ...]) -> bool:
    """Whether sizes or strides are equal as expressions; nothing is guarded."""
    return len(one) == len(two) and all(
        getattr(x, "expr", x) == getattr(y, "expr", y) for x, y in zip(one, two, strict=True))


def _number(value: Any) -> float | None:
    """The number that an argument is: a Python number, or a tensor filled with one."""
    if isinstance(value, Node) and isinstance(value.target, Op) and value.target.name == "full":
        value = value.args[1]
    return value if isinstance(value, (int, float)) else None


def _neutral(number: float, *, both_sides: bool = False) -> Rule:
    def rule(module: GraphModule, node: Node) -> Node | None:
        one, two = node.args[:2]
        if isinstance(one, Node) and _number(two) == number:
            return one
        if both_sides and isinstance(two, Node) and _number(one) == number:
            return two
        return None
    return rule


def _add_zero(module: GraphModule, node: Node) -> Node | None:
    if node.meta["val"].dtype.is_floating_point:
        return None
    return _neutral(0, both_sides=True)(module, node)


def _first(module: GraphModule, node: Node) -> Node | None:
    """For ops that do nothing where the type stays the same."""
    return node.args[0] if isinstance(node.args[0], Node) else None


def _copy(module: GraphModule, node: Node) -> Node | None:
    """A copy is its original, in a graph without mutation, where it is not a result."""
    source = _first(module, node)
    if source is None or any(user.op == "output" for user in node.users):
        return None
    return source


def _double_negation(module: GraphModule, node: Node) -> Node | None:
    inner = node.args[0]
    if isinstance(inner, Node) and inner.target is node.target:
        return _first(module, inner)
    return None


def _same_branches(module: GraphModule, node: Node) -> Node | None:
    return node.args[1] if node.args[1] is node.args[2] else None


def _identity_permutation(module: GraphModule, node: Node) -> Node | None:
    return _first(module, node) if list(node.args[1]) == sorted(node.args[1]) else None


def _joined_permutation(module: GraphModule, node: Node) -> Node | None:
    inner = node.args[0]
    if not (isinstance(inner, Node) and inner.target is node.target):
        return None
    dims = tuple([inner.args[1][d] for d in node.args[1]])
    if dims == tuple(range(len(dims))):
        return _first(module, inner)
    return _insert(module, node, node.target, (inner.args[0], dims))


def _joined_view(module: GraphModule, node: Node) -> Node | None:
    """view(view(x)) is view(x), where x is contiguous."""
    inner = node.args[0]
    if not (isinstance(inner, Node) and inner.target is node.target):
        return None
    source = inner.args[0]
    if not source.meta["val"].is_contiguous():
        return None
    if same_type(source, node):
        return _first(module, inner)
    return _insert(module, node, node.target, (source, node.args[1]))


def _insert(module: GraphModule, node: Node, op: Any, args: tuple[Any, ...]) -> Node:
    with module.graph.inserting_before(node):
        new = module.graph.call_function(op, args)
    new.meta = dict(node.meta)
    new.meta["val"] = fake_kernel(op, map_nodes(args, lambda n: n.meta["val"]))
    return new


def _full_slice(module: GraphModule, node: Node) -> Node | None:
    return _first(module, node) if node.args[4] == 1 else None


def _untransposed(module: GraphModule, node: Node) -> Node | None:
    inner, *dims = node.args
    if inner.target is node.target and set(inner.args[1:]) == set(dims):
        return _first(module, inner)
    return None


def _transposed_product(module: GraphModule, node: Node) -> Node | None:
    """transpose(mm(a, b)) is mm(transpose(b), transpose(a)), contiguous without a copy."""
    product, *dims = node.args
    promised = module.graph.output_node().args[0][:len(module.meta.get("layouts", ()))]
    if node in promised:
        return None
    if not (isinstance(product.target, Op) and product.target.name == "mm"
            and len(product.users) == 1 and set(dims) == {0, 1}):
        return None
    a, b = product.args
    turned = [_insert(module, node, node.target, (x, *dims)) for x in (b, a)]
    turned = [_untransposed(module, x) or x for x in turned]
    return _insert(module, node, product.target, tuple(turned))


RELAYOUT: tuple[Rule, ...] = (_transposed_product,)
"""Rules whose result may have other strides than the node: the same values in other places."""

RULES: dict[str, tuple[Rule, ...]] = {
    "mul": (_neutral(1, both_sides=True),),
    "div": (lambda m, n: _neutral(1)(m, n) if n.args[2] is None else None,),
    "pow": (_neutral(1),),
    "add": (_add_zero,),
    "sub": (_neutral(0),),
    "neg": (_double_negation,),
    "to_dtype": (_first,),
    "clone": (_copy,),
    "contiguous": (_copy,),
    "where": (_same_branches,),
    "permute": (_identity_permutation, _joined_permutation),
    "transpose": (_untransposed, _transposed_product),
    "view": (_first, _joined_view),
    "expand": (_first,),
    "slice": (_full_slice,),
}
