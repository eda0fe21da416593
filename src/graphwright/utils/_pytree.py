"""Nested containers as flat lists of leaves, after `torch.utils._pytree`.

Lists, tuples, named tuples, dicts, ordered and default dicts and deques are containers, and so is
every class that `register_pytree_node` names; anything else, None too, is a leaf.
"""

from __future__ import annotations

import json
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

PyTree = Any
Context = Any
FlattenFunc = Callable[[Any], tuple[list[Any], Any]]
UnflattenFunc = Callable[[Iterable[Any], Any], Any]
IsLeaf = Callable[[Any], bool] | None


class SequenceKey(NamedTuple):
    """Where a part of a list or tuple is."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"


class MappingKey(NamedTuple):
    """Where a part of a dict is."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


class GetAttrKey(NamedTuple):
    """Where a part of a named tuple, or of another object, is."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


KeyEntry = SequenceKey | MappingKey | GetAttrKey
KeyPath = tuple[Any, ...]
FlattenWithKeysFunc = Callable[[Any], tuple[list[tuple[Any, Any]], Any]]


class NodeDef(NamedTuple):
    """How a container is decomposed: (children, context), and put together from both.

    flatten_with_keys_fn: ((key, child) pairs, context); None where nothing says the keys.
    """

    flatten_fn: FlattenFunc
    unflatten_fn: UnflattenFunc
    flatten_with_keys_fn: FlattenWithKeysFunc | None = None


class NodeText(NamedTuple):
    """How a container's class and context are written; None: the context is JSON as it is."""

    name: str
    to_dumpable: Callable[[Any], Any] | None = None
    from_dumpable: Callable[[Any], Any] | None = None


SUPPORTED_NODES: dict[type, NodeDef] = {}
_TEXTS: dict[Any, NodeText] = {}


def register_pytree_node(
    cls: Any,
    flatten_fn: FlattenFunc,
    unflatten_fn: UnflattenFunc,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Any], Any] | None = None,
    from_dumpable_context: Callable[[Any], Any] | None = None,
    flatten_with_keys_fn: FlattenWithKeysFunc | None = None,
) -> None:
    """Make instances of `cls` containers. Raises ValueError for a class that is one already.

    For `treespec_dumps`, `serialized_type_name` is what the text calls the class;
    `to_dumpable_context` gives what JSON can hold of a context, `from_dumpable_context` the
    context again: both or none. Without them the context itself is written as JSON.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be "
                         "None or registered.")
    SUPPORTED_NODES[cls] = NodeDef(flatten_fn, unflatten_fn, flatten_with_keys_fn)
    if serialized_type_name is not None:
        _TEXTS[cls] = NodeText(serialized_type_name, to_dumpable_context, from_dumpable_context)


_register_pytree_node = register_pytree_node


def _is_namedtuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


is_namedtuple_instance = _is_namedtuple_instance = _is_namedtuple


def is_namedtuple_class(cls: type) -> bool:
    """Whether a class makes named tuples."""
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_namedtuple(obj: Any) -> bool:
    """Whether an object is a named tuple, or a class of them."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def _get_node_type(tree: Any) -> Any:
    """The class under which a container is registered: `namedtuple` for every named tuple."""
    return namedtuple if _is_namedtuple(tree) else type(tree)


def _dict_flatten(mapping: Any) -> tuple[list[Any], Any]:
    return list(mapping.values()), list(mapping.keys())


def _dict_flatten_with_keys(mapping: Any) -> tuple[list[tuple[Any, Any]], Any]:
    return [(MappingKey(key), value) for key, value in mapping.items()], list(mapping.keys())


def _dict_unflatten(values: Iterable[Any], context: Any) -> dict[Any, Any]:
    return dict(zip(context, values, strict=True))


def _numbered(sequence: Any) -> list[tuple[Any, Any]]:
    return [(SequenceKey(index), part) for index, part in enumerate(sequence)]


def _dumpable_default(context: Any) -> dict[str, Any]:
    factory, keys = context
    return {
        "default_factory_module": factory.__module__,
        "default_factory_name": factory.__qualname__,
        "dict_context": keys,
    }


def _default_again(text: dict[str, Any]) -> Any:
    """The context of a defaultdict. Raises ValueError unless its factory is a plain container or
    number: a text makes nothing else callable."""
    module, name = text["default_factory_module"], text["default_factory_name"]
    factory = next((one for one in _FACTORIES
                    if (one.__module__, one.__qualname__) == (module, name)), None)
    if factory is None:
        raise ValueError(f"a text of a structure makes no factory {module}.{name}")
    return factory, text["dict_context"]


_FACTORIES = (list, dict, tuple, set, int, float, str, bool, OrderedDict)
_TUPLES: dict[type, str] = {}


def _register_namedtuple(cls: type, *, serialized_type_name: str) -> None:
    """Let texts of structures call a class of named tuples by that name."""
    _TUPLES[cls] = serialized_type_name


def _name_of_tuple(cls: type) -> str:
    if cls not in _TUPLES:
        raise NotImplementedError(
            f"Can't serialize TreeSpec of namedtuple class {cls} because we didn't register a "
            "serialized_type_name. Please register using `_register_namedtuple`."
        )
    return _TUPLES[cls]


def _tuple_of_name(name: str) -> type:
    found = next((cls for cls, known in _TUPLES.items() if known == name), None)
    if found is None:
        raise NotImplementedError(
            f"Can't deserialize TreeSpec of namedtuple class {name}: it is not registered."
        )
    return found


register_pytree_node(
    list, lambda x: (x, None), lambda parts, _: list(parts),
    flatten_with_keys_fn=lambda x: (_numbered(x), None), serialized_type_name="builtins.list",
)
register_pytree_node(
    tuple, lambda x: (list(x), None), lambda parts, _: tuple(parts),
    flatten_with_keys_fn=lambda x: (_numbered(x), None), serialized_type_name="builtins.tuple",
)
register_pytree_node(
    dict, _dict_flatten, _dict_unflatten, flatten_with_keys_fn=_dict_flatten_with_keys,
    serialized_type_name="builtins.dict",
)
register_pytree_node(
    OrderedDict, _dict_flatten,
    lambda parts, keys: OrderedDict(zip(keys, parts, strict=True)),
    flatten_with_keys_fn=_dict_flatten_with_keys, serialized_type_name="collections.OrderedDict",
)
register_pytree_node(
    defaultdict,
    lambda x: (list(x.values()), (x.default_factory, list(x.keys()))),
    lambda parts, about: defaultdict(about[0], zip(about[1], parts, strict=True)),
    flatten_with_keys_fn=lambda x: (
        _dict_flatten_with_keys(x)[0], (x.default_factory, list(x.keys()))),
    serialized_type_name="collections.defaultdict", to_dumpable_context=_dumpable_default,
    from_dumpable_context=_default_again,
)
register_pytree_node(
    deque, lambda x: (list(x), x.maxlen), lambda parts, size: deque(parts, maxlen=size),
    flatten_with_keys_fn=lambda x: (_numbered(x), x.maxlen),
    serialized_type_name="collections.deque",
)
register_pytree_node(
    namedtuple,
    lambda x: (list(x), type(x)), lambda parts, kind: kind(*parts),
    flatten_with_keys_fn=lambda x: (
        [(GetAttrKey(name), part) for name, part in zip(x._fields, x, strict=True)], type(x)),
    serialized_type_name="collections.namedtuple", to_dumpable_context=_name_of_tuple,
    from_dumpable_context=_tuple_of_name,
)


def _node(value: Any, is_leaf: IsLeaf) -> NodeDef | None:
    """How `value` is decomposed; None for a leaf."""
    if is_leaf is not None and is_leaf(value):
        return None
    return SUPPORTED_NODES.get(_get_node_type(value))


class TreeSpec:
    """The structure of a container without its leaves. `type` is None for a leaf itself."""

    def __init__(
        self, type: Any, context: Any = None, children_specs: Sequence[TreeSpec] = ()
    ) -> None:
        self.type, self.context = type, context
        self.children_specs = tuple(children_specs)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TreeSpec)
            and (self.type, self.context) == (other.type, other.context)
            and self.children_specs == other.children_specs
        )

    def __hash__(self) -> int:
        return hash((self.type, self.children_specs))

    def __repr__(self) -> str:
        if self.type is None:
            return "*"
        inner = ", ".join(map(repr, self.children_specs))
        return f"TreeSpec({self.type.__name__}, {self.context}, [{inner}])"

    @property
    def num_leaves(self) -> int:
        """How many leaves there are below."""
        if self.type is None:
            return 1
        return sum(child.num_leaves for child in self.children_specs)

    @property
    def num_children(self) -> int:
        """How many parts there are right below."""
        return len(self.children_specs)

    def is_leaf(self) -> bool:
        """Whether this stands for a leaf."""
        return self.type is None

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """`tree_unflatten` of this structure."""
        return tree_unflatten(leaves, self)


class LeafSpec(TreeSpec):
    """The structure of a leaf."""

    def __init__(self) -> None:
        super().__init__(None)


_LEAF = LeafSpec()
PyTreeSpec = TreeSpec


def tree_is_leaf(tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Whether `tree` is no container, or one that `is_leaf` takes for a leaf."""
    return _node(tree, is_leaf) is None


def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """(leaves from left to right, structure)."""
    node = _node(tree, is_leaf)
    if node is None:
        return [tree], _LEAF
    children, context = node.flatten_fn(tree)
    parts = [tree_flatten(child, is_leaf) for child in children]
    leaves = [leaf for some, _ in parts for leaf in some]
    return leaves, TreeSpec(_get_node_type(tree), context, tuple(spec for _, spec in parts))


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """The container of that structure. Raises ValueError for another number of leaves."""
    given = list(leaves)
    if len(given) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten: the structure has {treespec.num_leaves} leaves, got {len(given)}"
        )
    return _built(iter(given), treespec)


def _built(leaves: Any, spec: TreeSpec) -> Any:
    if spec.type is None:
        return next(leaves)
    parts = [_built(leaves, child) for child in spec.children_specs]
    return SUPPORTED_NODES[spec.type].unflatten_fn(parts, spec.context)


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """All leaves, from left to right."""
    return tree_flatten(tree, is_leaf)[0]


tree_iter = tree_leaves


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> TreeSpec:
    """The structure."""
    return tree_flatten(tree, is_leaf)[1]


def _leaves_like(spec: TreeSpec, tree: Any, is_leaf: IsLeaf) -> list[Any]:
    """The leaves of `tree`. Raises ValueError unless it has this structure."""
    leaves, own = tree_flatten(tree, is_leaf)
    if own != spec:
        raise ValueError(f"the structures of the trees differ: {spec} and {own}")
    return leaves


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """A container of `func` of each leaf, and of those of `rests` at its place.

    Raises ValueError where one of `rests` has another structure.
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [_leaves_like(spec, rest, is_leaf) for rest in rests]
    return tree_unflatten(map(func, leaves, *others), spec)


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """`func` called on each leaf; returns `tree`."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _chooses(types: Any) -> Callable[[Any], bool]:
    """What `tree_map_only` takes: a type, several, or a function that says whether."""
    if isinstance(types, type | tuple) or not callable(types):
        return lambda leaf: isinstance(leaf, types)
    return types


def tree_map_only(
    types: Any, func: Callable[[Any], Any], tree: Any, is_leaf: IsLeaf = None
) -> Any:
    """`tree_map` that changes only leaves of some types, or those that a function chooses."""
    chosen = _chooses(types)
    return tree_map(lambda leaf: func(leaf) if chosen(leaf) else leaf, tree, is_leaf=is_leaf)


def tree_flatten_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None
) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """((path, leaf) from left to right, structure); a path is a tuple of keys.

    Raises ValueError for a container whose registration says no keys.
    """
    return list(_with_paths((), tree, is_leaf)), tree_structure(tree, is_leaf)


def _with_paths(path: KeyPath, tree: Any, is_leaf: IsLeaf) -> Iterator[tuple[KeyPath, Any]]:
    node = _node(tree, is_leaf)
    if node is None:
        yield path, tree
        return
    if node.flatten_with_keys_fn is None:
        raise ValueError(f"Did not find a flatten_with_keys_fn for type: {type(tree)}. Give one "
                         "to register_pytree_node")
    for key, child in node.flatten_with_keys_fn(tree)[0]:
        yield from _with_paths((*path, key), child, is_leaf)


def tree_leaves_with_path(tree: Any, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """(path, leaf) of all leaves, from left to right."""
    return list(_with_paths((), tree, is_leaf))


def tree_map_with_path(
    func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None
) -> Any:
    """`tree_map` of a function that is given the path of each leaf first."""
    leaves, spec = tree_flatten_with_path(tree, is_leaf)
    others = [_leaves_like(spec, rest, is_leaf) for rest in rests]
    paths = [path for path, _ in leaves]
    return tree_unflatten(map(func, paths, [leaf for _, leaf in leaves], *others), spec)


def keystr(kp: KeyPath) -> str:
    """A path as it is written behind a name: `[0]['a'].b`."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What lies at a path below an object."""
    for key in kp:
        obj = getattr(obj, key.name) if isinstance(key, GetAttrKey) else obj[key[0]]
    return obj


def tree_map_only_(
    types: Any, func: Callable[[Any], Any], tree: Any, is_leaf: IsLeaf = None
) -> Any:
    """`func` called on the leaves that `tree_map_only` would change; returns `tree`."""
    tree_map_only(types, func, tree, is_leaf)
    return tree


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Whether `pred` holds for all leaves."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Whether `pred` holds for some leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(types: Any, pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether `pred` holds for all leaves of some types."""
    chosen = _chooses(types)
    return all(pred(leaf) for leaf in tree_leaves(tree) if chosen(leaf))


def tree_any_only(types: Any, pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether `pred` holds for some leaf of some types."""
    chosen = _chooses(types)
    return any(pred(leaf) for leaf in tree_leaves(tree) if chosen(leaf))


def arg_tree_leaves(*args: Any, **kwargs: Any) -> Sequence[Any]:
    """The leaves of all arguments."""
    return tree_leaves((args, kwargs))


_PROTOCOL = 1
"""The version of the text of structures, which is PyTorch's."""


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """The structure as JSON, which `treespec_loads` and PyTorch read.

    Raises TypeError for what is no structure, ValueError for a protocol other than 1,
    NotImplementedError for a class that was registered without `serialized_type_name`.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError("Expected `treespec` to be an instance of PyTreeSpec but got item of type "
                        f"{type(treespec)}.")
    if protocol not in (None, _PROTOCOL):
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [{_PROTOCOL}]")
    return json.dumps([_PROTOCOL, _as_json(treespec)])


def _as_json(spec: TreeSpec) -> dict[str, Any]:
    if spec.type is None:
        return {"type": None, "context": None, "children_spec": []}
    text = _TEXTS.get(spec.type)
    if text is None:
        raise NotImplementedError(
            f"No registered serialization name for {spec.type} found. Please update your "
            "register_pytree_node call with a `serialized_type_name` kwarg."
        )
    dump = text.to_dumpable or json.dumps
    return {
        "type": text.name,
        "context": dump(spec.context),
        "children_spec": [_as_json(child) for child in spec.children_specs],
    }


def treespec_loads(serialized: str) -> TreeSpec:
    """The structure that `treespec_dumps` wrote, here or in PyTorch.

    Raises ValueError for text that is no JSON (json.JSONDecodeError) or of another protocol,
    NotImplementedError for a class that is not registered.
    """
    protocol, spec = json.loads(serialized)
    if protocol != _PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [{_PROTOCOL}]")
    return _from_json(spec)


def _from_json(written: dict[str, Any]) -> TreeSpec:
    name = written["type"]
    if name is None:
        return _LEAF
    found = next(((cls, text) for cls, text in _TEXTS.items() if text.name == name), None)
    if found is None:
        raise NotImplementedError(f"Deserializing {name} in pytree is not registered.")
    cls, text = found
    load = text.from_dumpable or json.loads
    children = [_from_json(child) for child in written["children_spec"]]
    return TreeSpec(cls, load(written["context"]), children)
