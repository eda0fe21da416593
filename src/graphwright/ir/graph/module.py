"""`GraphModule`: a graph with the constants and submodules it refers to, callable."""

from __future__ import annotations

import copy
import linecache
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from itertools import count
from typing import Any, Self

from graphwright.ir.graph.graph import Graph
from graphwright.ir.graph.lint import check, follow
from graphwright.ir.graph.printing import PythonCode, describe, source_of
from graphwright.nn.module import Module
from graphwright.nn.parameter import Parameter
from graphwright.runtime.symbolic.places import values_of
from graphwright.runtime.tensor.tensor import Tensor

_serial = count()
_dead: list[str] = []  # file names of sources whose functions are gone


class GraphModule(Module):
    """A graph as a module, with what its `get_attr` and `call_module` nodes name.

    Calling it runs `code`, which is made from the graph at the first call and after `recompile`.

    Args:
        root: where the named values are found, and copied from: a mapping from path to value, or
            a module (or other object) whose attributes the paths lead through. Tensors that are
            no parameters become buffers.
        graph: the graph; it can be changed afterwards, then call `recompile`.
        class_name: what it is called when it is printed.

    Attributes:
        meta: facts about the whole graph. Keys in use: "shape_env", "symbols" (size symbol ->
            (placeholder index, place in it: see `runtime.symbolic.places`)),
            "rng_ops" (how many random ops it runs), "layouts" (strides that its first results
            have for the user; None: any).

    Raises: RuntimeError if the graph names a path that a mapping lacks, AttributeError if it is
        not found in a module.
    """

    meta: dict[str, Any]
    _graph: Graph
    _run: Callable[..., Any] | None
    _replaced: Callable[..., Any] | None
    _name: str

    __call__ = Module.__call__  # a captured graph runs, whatever a program puts into its place

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """A module without a graph yet, for subclasses that hold what graphs name themselves."""
        made = super().__new__(cls)
        made.__dict__.update(meta={}, _name=cls.__name__, _run=None, _replaced=None)
        return made

    def __init__(self, root: Any, graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        state = self.__dict__
        state["_name"] = class_name
        if isinstance(root, Module):
            state["training"] = root.training
        self.graph = graph
        for node in graph.nodes:
            if node.op in ("get_attr", "call_module"):
                self._take(root, str(node.target))

    @property
    def graph(self) -> Graph:
        """The graph that calls run."""
        return self._graph

    @graph.setter
    def graph(self, graph: Graph) -> None:
        state = self.__dict__
        state["_graph"], state["_run"] = graph, None
        graph.owning_module = self

    @property
    def symbols(self) -> dict[str, tuple[int, int]]:
        """Size symbol -> (placeholder index, place in it)."""
        symbols: dict[str, tuple[int, int]] = self.meta.get("symbols", {})
        return symbols

    @property
    def code(self) -> str:
        """The graph as Python source; what calling the module runs."""
        return self._source().src

    @property
    def forward(self) -> Callable[..., Any]:
        """The function that runs the graph, or what was assigned in its place."""
        if self._replaced is not None:
            return self._replaced
        return (self._run or self.prepare()).__get__(self)

    @forward.setter
    def forward(self, function: Callable[..., Any]) -> None:
        self.__dict__["_replaced"] = function

    def prepare(self) -> Callable[..., Any]:
        """What a call runs, made of the code if there is nothing yet."""
        run = self._run
        if run is None:
            run = self.__dict__["_run"] = _compile(self._source())
        return run

    def recompile(self) -> None:
        """Forget the code made from the graph as it was before."""
        self.__dict__["_run"] = None

    def readable(self) -> str:
        """The source with the users' lines and the shapes and dtypes as comments."""
        return source_of(self.graph, self.symbols, annotate=True).src

    def tabular(self) -> str:
        """The graph as a table."""
        return str(self.graph)

    def print_readable(self, print_output: bool = True) -> str:
        """Print `readable()` if `print_output`, and return it."""
        text = self.readable()
        if print_output:
            print(text)
        return text

    def print_tabular(self) -> None:
        """Print `tabular()`."""
        print(self.tabular())

    def lint(self, after: str = "") -> None:
        """Raises: GraphError if the graph is malformed; `after` names the pass to blame."""
        check(self.graph, self, after)

    def attr(self, path: str) -> Any:
        """The constant or submodule at `path`. Raises: AttributeError if there is none."""
        return follow(self, path)

    def add_attr(self, base: str, value: Any) -> str:
        """Hold `value` under `base` or a name made from it; the name it got."""
        name, number = base, 0
        while getattr(self, name, value) is not value:
            number += 1
            name = f"{base}_{number}"
        self.hold(name, value)
        return name

    def add_submodule(self, target: str, m: Module) -> bool:
        """Put a module at the path `target`. False if what is on the way is no module."""
        owner = self._owner_of(target)
        if owner is None or isinstance(getattr(owner, target.rpartition(".")[2], m), Tensor):
            return False
        setattr(owner, target.rpartition(".")[2], m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Remove the module at the path `target`. False if there is none."""
        parent, _, name = target.rpartition(".")
        try:
            owner = self.get_submodule(parent)
        except AttributeError:
            return False
        if not isinstance(getattr(owner, name, None), Module):
            return False
        delattr(owner, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove the submodules that no node names and that are in none that a node calls."""
        named = [node for node in self.graph.nodes if node.op in ("get_attr", "call_module")]
        around = {path for node in named for path in _ways_to(str(node.target))}
        called = {str(node.target) for node in named if node.op == "call_module"}
        for path in [path for path, _ in self.named_modules()]:
            if path not in around and called.isdisjoint(_ways_to(path)):
                self.delete_submodule(path)

    def bind_sizes(self, args: tuple[Any, ...]) -> dict[str, Any]:
        """The values of the size symbols for these arguments."""
        return values_of(self.symbols, args)

    def copy(self) -> GraphModule:
        """A copy with its own graph, which shares the constants."""
        result = GraphModule(self, self.graph.copy()[0], self._name)
        result.meta.update(self.meta)
        return result

    def __copy__(self) -> GraphModule:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        memo[id(self)] = result = type(self).__new__(type(self))
        state = self.__getstate__()
        facts = state.pop("meta")
        result.__setstate__({**copy.deepcopy(state, memo), "meta": dict(facts)})
        return result

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_run": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._graph.owning_module = self

    def _get_name(self) -> str:
        return self._name

    def __str__(self) -> str:
        return f"{self!r}\n\n{self.readable()}"

    def _repr_html_(self) -> str:
        notebook = import_module("graphwright.report.notebook")
        html: str = notebook.graph_html(self.graph, describe, self.readable(), self._name)
        return html

    def _source(self) -> PythonCode:
        return source_of(self.graph, self.symbols)

    def _take(self, root: Any, path: str) -> None:
        """Hold what `root` has at `path`, unless the submodule that has it is held already."""
        if isinstance(root, Mapping):
            if path not in root:
                raise RuntimeError(f"the graph names {path!r}, which the mapping has not")
            self.hold(path, root[path])
            return
        parent, _, name = path.rpartition(".")
        owner = follow(root, parent) if parent else root
        if not self._shares(root, parent):
            hidden = name in getattr(owner, "_non_persistent_buffers_set", ())
            self.hold(path, getattr(owner, name), persistent=not hidden)

    def _shares(self, root: Any, path: str) -> bool:
        """Whether a submodule on a path of `root` is this module's, too."""
        here: Any = self
        for part in path.split(".") if path else ():
            here, root = getattr(here, part, None), getattr(root, part)
            if here is None or here is root:
                return here is root
        return False

    def hold(self, path: str, value: Any, persistent: bool = True) -> None:
        """Make `value` the attribute at `path`; a tensor that is no parameter as a buffer."""
        owner, name = self._owner_of(path), path.rpartition(".")[2]
        if owner is None:
            raise RuntimeError(f"{path!r} leads through what is no module")
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            owner.register_buffer(name, value, persistent)
        else:
            setattr(owner, name, value)

    def _owner_of(self, path: str) -> Module | None:
        """The module that a path's last name is of, made where missing; None for no module."""
        owner: Module = self
        for part in path.split(".")[:-1]:
            if not hasattr(owner, part):
                setattr(owner, part, Module())
            owner = getattr(owner, part)
            if not isinstance(owner, Module):
                return None
        return owner


def _ways_to(path: str) -> list[str]:
    """A dotted path and those that lead to it, the empty one first."""
    parts = path.split(".")
    return [".".join(parts[:length]) for length in range(len(parts) + 1)]


def _forget_dead_sources() -> None:
    """Release the lines of functions that have died.

    Not when they die: that may be while another, such as a debugger, walks over the cache.
    """
    with suppress(IndexError):
        while True:
            linecache.cache.pop(_dead.pop(), None)


def _compile(source: PythonCode) -> Any:
    """The function `forward` of the source; tracebacks through it show its lines."""
    _forget_dead_sources()
    filename = f"<graph {next(_serial)}>"
    linecache.cache[filename] = (len(source.src), None, source.src.splitlines(True), filename)
    names = dict(source.globals)
    exec(compile(source.src, filename, "exec"), names)
    forward = names["forward"]
    weakref.finalize(forward, _dead.append, filename).atexit = False
    return forward
