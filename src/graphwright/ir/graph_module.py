"""`GraphModule`: a graph with the constants it refers to, callable."""

from __future__ import annotations

import copy
import linecache
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from typing import Any

from graphwright.ir.graph import Graph
from graphwright.ir.lint import check
from graphwright.ir.printing import Source, source_of
from graphwright.runtime.symbolic.places import value_at

_serial = count()
_dead: list[str] = []  # file names of sources whose functions are gone


class GraphModule:
    """A graph, and the tensors and submodules that its `get_attr` and `call_module` nodes name.

    Args:
        root: where those are found: a mapping from path to object, or an object whose attributes
            the paths lead through.
        graph: the graph; it can be changed afterwards, then call `recompile`.

    Attributes:
        meta: facts about the whole graph. Keys in use: "shape_env", "symbols" (size symbol ->
            (placeholder index, place in it: see `runtime.symbolic.places`)),
            "rng_ops" (how many random ops it runs), "layouts" (strides that its first results
            have for the user; None: any).
    """

    def __init__(self, root: Any, graph: Graph) -> None:
        self.attrs: dict[str, Any] = dict(root) if isinstance(root, Mapping) else {}
        self.graph = graph
        self.meta: dict[str, Any] = {}
        self._forward: Callable[..., Any] | None = None
        if not isinstance(root, Mapping):
            self._take_attributes(root)

    @property
    def symbols(self) -> dict[str, tuple[int, int]]:
        """Size symbol -> (placeholder index, place in it)."""
        symbols: dict[str, tuple[int, int]] = self.meta.get("symbols", {})
        return symbols

    @property
    def code(self) -> str:
        """The graph as Python source; what calling the module runs."""
        return self._source().text

    @property
    def forward(self) -> Callable[..., Any]:
        """The function that runs the graph."""
        if self._forward is None:
            self._forward = _compile(self._source()).__get__(self)
        return self._forward

    def __call__(self, *args: Any) -> Any:
        return self.forward(*args)

    def recompile(self) -> None:
        """Forget the code made from the graph as it was before."""
        self._forward = None

    def readable(self) -> str:
        """The source with the users' lines and the shapes and dtypes as comments."""
        return source_of(self.graph, self.symbols, annotate=True).text

    def tabular(self) -> str:
        """The graph as a table."""
        return str(self.graph)

    def print_readable(self) -> None:
        """Print `readable()`."""
        print(self.readable())

    def print_tabular(self) -> None:
        """Print `tabular()`."""
        print(self.tabular())

    def lint(self, after: str = "") -> None:
        """Raises: GraphError if the graph is malformed; `after` names the pass to blame."""
        check(self.graph, self.attrs, after)

    def attr(self, path: str) -> Any:
        """The constant or submodule at `path`. Raises: AttributeError if there is none."""
        try:
            return self.attrs[path]
        except KeyError:
            raise AttributeError(f"the graph module has no attribute {path!r}") from None

    def add_attr(self, base: str, value: Any) -> str:
        """Hold `value` under `base` or a name made from it; the name it got."""
        name, number = base, 0
        while name in self.attrs and self.attrs[name] is not value:
            number += 1
            name = f"{base}_{number}"
        self.attrs[name] = value
        return name

    def bind_sizes(self, args: tuple[Any, ...]) -> dict[str, Any]:
        """The values of the size symbols for these arguments."""
        return {name: value_at(args[index], place)
                for name, (index, place) in self.symbols.items()}

    def copy(self) -> GraphModule:
        """A copy with its own graph, which shares the constants."""
        result = GraphModule(self.attrs, self.graph.copy()[0])
        result.meta = dict(self.meta)
        return result

    def __copy__(self) -> GraphModule:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        memo[id(self)] = result = self.copy()
        result.attrs = copy.deepcopy(self.attrs, memo)
        return result

    def __getattr__(self, name: str) -> Any:
        attrs = self.__dict__.get("attrs", {})
        if name in attrs:
            return attrs[name]
        if any(path.startswith(name + ".") for path in attrs):
            return _Folder(attrs, name + ".")
        raise AttributeError(f"GraphModule has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"GraphModule({len(self.graph.nodes)} nodes)"

    def __str__(self) -> str:
        return self.readable()

    def _source(self) -> Source:
        return source_of(self.graph, self.symbols)

    def _take_attributes(self, root: Any) -> None:
        for node in self.graph.nodes:
            if node.op in ("get_attr", "call_module"):
                value = root
                for part in str(node.target).split("."):
                    value = getattr(value, part)
                self.attrs[str(node.target)] = value


class _Folder:
    """The attributes whose paths begin with `prefix`, so that `self.block.weight` works."""

    def __init__(self, attrs: Mapping[str, Any], prefix: str) -> None:
        self._attrs, self._prefix = attrs, prefix

    def __getattr__(self, name: str) -> Any:
        path = self._prefix + name
        if path in self._attrs:
            return self._attrs[path]
        if any(key.startswith(path + ".") for key in self._attrs):
            return _Folder(self._attrs, path + ".")
        raise AttributeError(f"GraphModule has no attribute {path!r}")


def _forget_dead_sources() -> None:
    """Let go of the lines of functions that have died.

    Not when they die: that may be while another, such as a debugger, walks over the cache.
    """
    with suppress(IndexError):
        while True:
            linecache.cache.pop(_dead.pop(), None)


def _compile(source: Source) -> Any:
    """The function `forward` of the source; tracebacks through it show its lines."""
    _forget_dead_sources()
    filename = f"<graph {next(_serial)}>"
    linecache.cache[filename] = (len(source.text), None, source.text.splitlines(True), filename)
    names = dict(source.names)
    exec(compile(source.text, filename, "exec"), names)
    forward = names["forward"]
    weakref.finalize(forward, _dead.append, filename).atexit = False
    return forward
