"""`utils._pytree`: containers as lists of leaves and structures."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

import pytest

import graphwright as gw
from graphwright.utils import _pytree

Point = namedtuple("Point", "x y")

TREES: list[Any] = [
    3,
    None,
    [1, (2, [3])],
    {"b": 1, "a": [2, 3]},
    OrderedDict(z=1, a=2),
    Point([1, 2], {"k": 3}),
    deque([1, 2], maxlen=4),
    [],
]


@pytest.mark.parametrize("tree", TREES)
def test_taken_apart_and_put_together(tree: Any) -> None:
    leaves, spec = _pytree.tree_flatten(tree)
    again = _pytree.tree_unflatten(leaves, spec)
    assert again == tree and type(again) is type(tree)
    assert spec.num_leaves == len(leaves) and _pytree.tree_structure(again) == spec


def test_kinds_of_containers_are_kept() -> None:
    counts = defaultdict(list, a=[1], b=[2])
    doubled = _pytree.tree_map(lambda n: 2 * n, counts)
    assert doubled == {"a": [2], "b": [4]} and doubled.default_factory is list
    assert _pytree.tree_map(lambda n: n, deque([1], maxlen=2)).maxlen == 2
    assert type(_pytree.tree_map(lambda n: n, Point(1, 2))) is Point


def test_map_over_several_trees() -> None:
    assert _pytree.tree_map(lambda a, b: a + b, {"x": [1, 2]}, {"x": [10, 20]}) == {"x": [11, 22]}
    with pytest.raises(ValueError, match="structures"):
        _pytree.tree_map(lambda a, b: a, [1, 2], [1, [2]])
    with pytest.raises(ValueError, match="2 leaves"):
        _pytree.tree_unflatten([1], _pytree.tree_structure([0, 0]))


def test_choosing_leaves() -> None:
    tree = [1, "a", (2.0, gw.ones(2))]
    assert _pytree.tree_map_only(int, lambda n: -n, tree)[:2] == [-1, "a"]
    assert _pytree.tree_map_only((int, float), str, tree)[2][0] == "2.0"
    assert _pytree.tree_map_only(lambda x: x == "a", lambda _: 0, tree)[1] == 0
    assert _pytree.tree_any(lambda x: x == "a", tree) and not _pytree.tree_all(callable, tree)
    assert _pytree.tree_all_only(int, lambda n: n > 0, tree)
    assert _pytree.tree_leaves([(1, 2), 3], is_leaf=lambda x: isinstance(x, tuple)) == [(1, 2), 3]
    assert _pytree.arg_tree_leaves(1, [2], k=3) == [1, 2, 3]


def test_classes_of_ones_own() -> None:
    class Pair:
        def __init__(self, first: Any, second: Any) -> None:
            self.parts = [first, second]

    _pytree.register_pytree_node(Pair, lambda p: (p.parts, None), lambda parts, _: Pair(*parts))
    try:
        assert _pytree.tree_map(lambda n: n + 1, [Pair(1, [2])])[0].parts == [2, [3]]
        with pytest.raises(ValueError, match="already"):
            _pytree.register_pytree_node(Pair, lambda p: (p.parts, None), lambda parts, _: None)
    finally:
        del _pytree.SUPPORTED_NODES[Pair]


def test_in_compiled_code() -> None:
    def total(tree: Any) -> Any:
        return sum(_pytree.tree_leaves(_pytree.tree_map(lambda t: t * 2, tree)))

    tree = {"a": gw.ones(2), "b": [gw.ones(2)]}
    assert gw.compile(total)(tree).tolist() == [4.0, 4.0]


def test_paths_of_leaves() -> None:
    tree = {"a": [1, Point(2, 3)], "b": deque([4])}
    pairs, spec = _pytree.tree_flatten_with_path(tree)
    assert [(_pytree.keystr(path), leaf) for path, leaf in pairs] == [
        ("['a'][0]", 1), ("['a'][1].x", 2), ("['a'][1].y", 3), ("['b'][0]", 4)]
    assert spec == _pytree.tree_structure(tree)
    assert all(_pytree.key_get(tree, path) == leaf for path, leaf in pairs)
    named = _pytree.tree_map_with_path(lambda path, x: f"{_pytree.keystr(path)}={x}", tree)
    assert named["a"][1] == Point("['a'][1].x=2", "['a'][1].y=3")
    assert _pytree.tree_leaves_with_path(5) == [((), 5)]


def test_registered_containers_have_paths_where_they_say_keys() -> None:
    class Box:
        def __init__(self, inside: Any) -> None:
            self.inside = inside

    _pytree.register_pytree_node(
        Box, lambda box: ([box.inside], None), lambda parts, _: Box(*parts))
    try:
        assert _pytree.tree_map(lambda n: n + 1, Box([1])).inside == [2]
        with pytest.raises(ValueError, match="flatten_with_keys_fn for type"):
            _pytree.tree_leaves_with_path(Box(1))
    finally:
        del _pytree.SUPPORTED_NODES[Box]
    assert _pytree._get_node_type(Point(1, 2)) in _pytree.SUPPORTED_NODES
    assert _pytree.is_namedtuple(Point) and not _pytree.is_namedtuple((1, 2))
    assert _pytree.tree_unflatten([1], _pytree.LeafSpec()) == 1


def test_structures_as_text() -> None:
    """PyTorch's own text, there and back; factories and classes are plain or registered ones."""
    pair = namedtuple("pair", "a b")
    _pytree._register_namedtuple(pair, serialized_type_name="tests.pair")
    tree = [1, (2, OrderedDict(x=deque([3], maxlen=2))), defaultdict(list, q=[4]), pair(5, {})]
    structure = _pytree.tree_structure(tree)
    text = _pytree.treespec_dumps(structure)
    assert _pytree.treespec_loads(text) == structure
    leaf = '{"type": null, "context": null, "children_spec": []}'
    assert _pytree.treespec_dumps(_pytree.tree_structure({"a": 1})) == (
        '[1, {"type": "builtins.dict", "context": "[\\"a\\"]", "children_spec": [' + leaf + "]}]"
    )
    with pytest.raises(ValueError, match=r"no factory os\.system"):
        _pytree.treespec_loads(text.replace("builtins\", \"default_factory_name\": \"list",
                                           "os\", \"default_factory_name\": \"system"))
    with pytest.raises(ValueError, match="Unknown protocol 7"):
        _pytree.treespec_loads("[7, {}]")
    with pytest.raises(NotImplementedError, match="not registered"):
        _pytree.treespec_loads('[1, {"type": "no.such", "context": "null", "children_spec": []}]')
    with pytest.raises(TypeError, match="PyTreeSpec"):
        _pytree.treespec_dumps(3)  # type: ignore[arg-type]
    other = namedtuple("other", "a")
    with pytest.raises(NotImplementedError, match="_register_namedtuple"):
        _pytree.treespec_dumps(_pytree.tree_structure(other(1)))
