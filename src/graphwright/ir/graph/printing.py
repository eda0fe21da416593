"""A graph as runnable Python source, as annotated source, and as a table."""

from __future__ import annotations

import keyword
import math
import operator
import sys
import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from graphwright.ir.graph.node import DICTS, LISTS, Node
from graphwright.nn.module import Module
from graphwright.runtime._core import OpFunction
from graphwright.runtime.dispatch import dispatch
from graphwright.runtime.ops.table import TABLE, Op
from graphwright.runtime.record import Record, field
from graphwright.runtime.symbolic.places import WHOLE, text_at
from graphwright.runtime.symbolic.symint import SymInt
from graphwright.runtime.tensor.device import device as Device

if TYPE_CHECKING:
    from graphwright.ir.graph.graph import Graph

_INFIX = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/",
    operator.floordiv: "//", operator.mod: "%", operator.matmul: "@", operator.lt: "<",
    operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.eq: "==", operator.ne: "!=",
    operator.and_: "&", operator.or_: "|", operator.xor: "^", operator.lshift: "<<",
    operator.rshift: ">>", operator.pow: "**",
}
_PREFIX = {operator.neg: "-", operator.pos: "+", operator.invert: "~"}


class BoundOps:
    """What `ops` is in a graph's code: its functions hand their arguments to `dispatch`.

    A graph holds arguments in their final form, which the ops' public wrappers make of what users
    write, and which some of them do not take themselves. Capture reads them as attributes, which
    are there from when the code that names them is written.
    """


class BoundOp:
    """Runs an op on bound arguments; those that are left out have the schema's defaults."""

    def __init__(self, op: Op) -> None:
        self.__gw_op__, self.__name__ = op, op.name

    def __call__(self, *args: Any, **named: Any) -> Any:
        rest = self.__gw_op__.schema.params[len(args):]
        bound = (*args, *[named.get(param.name, param.default) for param in rest])
        return dispatch(self.__gw_op__, bound)


_OPS = BoundOps()


class PythonCode(Record, frozen=False):
    """Python text that defines `forward`, and the names that it needs around it."""

    src: str
    globals: dict[str, Any] = field(default_factory=dict)


def source_of(
    graph: Graph, symbols: dict[str, tuple[int, int]], *, annotate: bool = False
) -> PythonCode:
    """The graph as a function `forward(self, ...)`.

    Args:
        symbols: size symbol -> (index of a placeholder, place in it).
        annotate: add the users' source lines, and the shapes and dtypes, as comments.
    """
    printer = _Printer(graph)
    arguments = [node.name for node in graph.placeholders]
    lines = printer.head()
    lines += [f"    {line}" for line in _symbol_lines(symbols, arguments)]
    where: object = None
    last_use = _last_uses(graph)
    for node in graph.nodes:
        stack = node.meta.get("stack")
        if annotate and stack is not None and stack != where:
            where = stack
            filename, lineno, text = stack
            lines.append(f"    # {filename}:{lineno}: {text}")
        statement = printer.statement(node)
        if statement is None:
            continue
        dead = "; ".join(f"del {n.name}" for n in last_use.get(node, ()))
        note = f"  # {describe(node.meta['val'])}" if annotate and "val" in node.meta else ""
        lines.append(f"    {statement}{'; ' + dead if dead and not annotate else ''}{note}")
    if len(lines) == 1:
        lines.append("    pass")
    if annotate:
        for name, inner in printer.inner.items():
            lines += ["", f"# {name}", inner.readable().rstrip("\n")]
    return PythonCode("\n".join(lines) + "\n", printer.names)


def table_of(graph: Graph) -> str:
    """The graph as a table: kind, name, target, args, kwargs, value."""
    printer = _Printer(graph)
    rows = [("op", "name", "target", "args", "kwargs", "value")]
    for node in graph.nodes:
        target = node.target if isinstance(node.target, str) else printer.callee(node.target)
        value = describe(node.meta["val"]) if "val" in node.meta else ""
        rows.append((node.op, node.name, target, printer.value(node.args),
                     printer.value(node.kwargs), value))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = ["  ".join("-" * width for width in widths)]
    text = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
            for row in rows]
    return "\n".join(text[:1] + rule + text[1:])


def describe(value: Any) -> str:
    """A value's type in short: float32[3, s0], i64 sizes as their expression, (a, b)."""
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(describe, value))})"
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        name = getattr(value.dtype, "name", str(value.dtype))
        return f"{name}[{', '.join(map(str, value.shape))}]"
    return str(value)


def _symbol_lines(symbols: dict[str, tuple[int, int]], arguments: list[str]) -> list[str]:
    return [
        f"{name} = {text_at(arguments[index], place)}"
        for name, (index, place) in symbols.items() if (name, place) != (arguments[index], WHOLE)
    ]


def _last_uses(graph: Graph) -> dict[Node, list[Node]]:
    """Which values each node uses for the last time."""
    last: dict[Node, Node] = {}
    for node in graph.nodes:
        for operand in node.all_input_nodes:
            last[operand] = node
        if not node.users and node.op not in ("placeholder", "output"):
            last[node] = node
    uses: dict[Node, list[Node]] = {}
    for operand, node in last.items():
        if node.op != "output":
            uses.setdefault(node, []).append(operand)
    return uses


class _Printer:
    """Prints values as source; collects in `names` the objects that it refers to by name.

    Other objects get none of the names that the graph's nodes have. `inner` are the graphs in the
    graph: those of branches and loops.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.names: dict[str, Any] = {}
        self.inner: dict[str, Any] = {}
        self.taken = {node.name for node in graph.nodes}

    def head(self) -> list[str]:
        """The lines up to the first statement."""
        nodes = self.graph.placeholders
        signature = self.graph.signature
        if signature is not None:
            given = ", ".join(signature.names)
            return [
                f"def forward({', '.join(['self', *signature.names])}):",
                f"    {''.join([f'{node.name}, ' for node in nodes])}= "
                f"{self.named('signature', signature)}.flatten([{given}])",
            ]
        arguments = [self.parameter(node) for node in sorted(nodes, key=_rank)]
        starred = [f"    {node.name} = {str(node.target).lstrip('*')}" for node in nodes
                   if _rank(node) and str(node.target).lstrip("*") != node.name]
        return [f"def forward({', '.join(['self', *arguments])}):", *starred]

    def parameter(self, node: Node) -> str:
        """A placeholder as a parameter: its name, with its default if it has one."""
        if str(node.target).startswith("*"):
            return str(node.target)
        return f"{node.name}={self.value(node.args[0])}" if node.args else node.name

    def statement(self, node: Node) -> str | None:
        """The node as a statement; None for a placeholder."""
        if node.op == "placeholder":
            return None
        if node.op == "output":
            signature, value = self.graph.signature, self.value(node.args[0])
            if signature is not None and signature.results is not None:
                value = f"{self.named('signature', signature)}.result({value})"
            return f"return {value}"
        return f"{node.name} = {self.expression(node)}"

    def expression(self, node: Node) -> str:
        target = node.target
        if isinstance(target, str):
            if node.op == "get_attr":
                return self.attribute(target)
            if node.op == "call_method":
                owner, *rest = node.args
                return f"{self.owner(owner)}.{target}({self.arguments(rest, node.kwargs)})"
            return f"{self.attribute(target)}({self.arguments(node.args, node.kwargs)})"
        if isinstance(target, Op):
            return self.op_call(target, node.args)
        operands = node.args
        if not node.kwargs and len(operands) == 2:
            if target in _INFIX:
                return f"{self.operand(operands[0])} {_INFIX[target]} {self.operand(operands[1])}"
            if target is operator.getitem:
                return f"{self.owner(operands[0])}[{self.index(operands[1])}]"
            if target is getattr and _is_name(operands[1]):
                return f"{self.owner(operands[0])}.{operands[1]}"
        if not node.kwargs and len(operands) == 1 and target in _PREFIX:
            return f"{_PREFIX[target]}{self.operand(operands[0])}"
        return f"{self.callee(target)}({self.arguments(operands, node.kwargs)})"

    def op_call(self, op: Op, args: tuple[Any, ...]) -> str:
        """The call of an op: defaults at the end are left out, keyword-only ones named."""
        params = op.schema.params
        shown = [
            f"{param.name}={self.value(arg)}" if param.kwonly else self.value(arg)
            for param, arg in zip(params, _without_defaults(args, params), strict=False)
        ]
        return f"{self.op(op)}({', '.join(shown)})"

    def op(self, op: Op) -> str:
        """An op of the table by its name there, another one by a fresh name."""
        if TABLE.get(op.name) is not op:
            name = self.named(op.name, op)
            control = getattr(op, "control", None)
            for place, graph in enumerate(() if control is None else control.graphs):
                self.inner[f"{name}, graph {place}"] = graph
            return name
        self.names["ops"] = _OPS
        if op.name not in vars(_OPS):
            setattr(_OPS, op.name, BoundOp(op))
        return f"ops.{op.name}"

    def attribute(self, path: str) -> str:
        text = "self"
        for part in path.split("."):
            text = f"{text}.{part}" if _is_name(part) else f"getattr({text}, {part!r})"
        return text

    def arguments(self, args: Iterable[Any], kwargs: dict[str, Any]) -> str:
        return ", ".join([*map(self.value, args),
                          *(f"{key}={self.value(item)}" for key, item in kwargs.items())])

    def operand(self, value: Any) -> str:
        text = self.value(value)
        simple = isinstance(value, Node) or text.replace(".", "").isalnum()
        return text if simple else f"({text})"

    def owner(self, value: Any) -> str:
        return value.name if isinstance(value, Node) else f"({self.value(value)})"

    def index(self, value: Any) -> str:
        if type(value) is tuple and value:
            return ", ".join(map(self.index, value)) + ("," if len(value) == 1 else "")
        if isinstance(value, slice):
            parts = [value.start, value.stop] + ([value.step] if value.step is not None else [])
            return ":".join("" if part is None else self.value(part) for part in parts)
        return "..." if value is Ellipsis else self.value(value)

    def value(self, value: Any) -> str:
        kind = type(value)
        if kind is float and not math.isfinite(value):
            return f'float("{value}")'
        if kind in (bool, int, float, str, bytes, type(None), complex, Node, SymInt):
            return repr(value)
        if kind is tuple:
            return f"({', '.join(map(self.value, value))}{',' if len(value) == 1 else ''})"
        if kind in LISTS:
            return f"[{', '.join(map(self.value, value))}]"
        if kind in DICTS:
            return "{" + ", ".join(f"{k!r}: {self.value(v)}" for k, v in value.items()) + "}"
        if kind is slice:
            return f"slice({self.value(value.start)}, {self.value(value.stop)}, " \
                   f"{self.value(value.step)})"
        if value is Ellipsis:
            return "..."
        return self.object(value)

    def object(self, value: Any) -> str:
        """A name for any other object: a dtype's own, a callable's path, or a fresh one."""
        if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, OpFunction, type)):
            return self.callee(value)
        if isinstance(value, Device):
            self.names["device"] = Device
            return f'device("{value}")'
        if isinstance(value, Module) and hasattr(value, "readable"):
            name = self.named(value._get_name(), value)
            self.inner[name] = value
            return name
        name = getattr(value, "name", None) or type(value).__name__.lower()
        return self.named(str(name), value)

    def callee(self, target: Callable[..., Any]) -> str:
        """`module.function` if that is how to find it, otherwise a fresh name."""
        if isinstance(target, Op):
            return self.op(target)
        module = getattr(target, "__module__", None)
        name = getattr(target, "__qualname__", type(target).__name__)
        if module in ("builtins", "_operator"):
            module = module.replace("_operator", "operator")
            found = getattr(sys.modules[module], name, None)
        else:
            found, name, module = _public_path(target, module, name)
        root = "" if module is None else module.partition(".")[0]
        if found is not target or root in self.taken:
            return self.named(name.rpartition(".")[2].strip("<>"), target)
        if module == "builtins":
            return str(name)
        self.names[root] = sys.modules[root]
        return f"{module}.{name}"

    def named(self, name: str, value: Any) -> str:
        """`name`, or `name_1` and so on where that already means something else."""
        base = "".join(c if c.isalnum() else "_" for c in name) or "value"
        candidate, count = base, 0
        while candidate in self.taken or self.names.get(candidate, value) is not value:
            count += 1
            candidate = f"{base}_{count}"
        self.names[candidate] = value
        return candidate


def _is_name(value: Any) -> bool:
    """Whether a value is a string that can stand behind a dot."""
    return isinstance(value, str) and value.isidentifier() and not keyword.iskeyword(value)


def _rank(node: Node) -> int:
    """Where a placeholder stands among the parameters: *args and **kwargs are the last."""
    return str(node.target)[:2].count("*")


_SPACES = tuple([f"graphwright{space}" for space in (
    "", ".nn.functional", ".nn.init", ".linalg", ".fft", ".special")])


def _public_path(target: Any, module: str | None, name: str) -> tuple[Any, str, str]:
    """The object found at the shortest package path that leads to `target`.

    Functions of this library are looked for where users find them.
    """
    parts = (module or "").split(".")
    spaces = _SPACES if parts[0] == "graphwright" else ()
    for path in (*spaces, *[".".join(parts[:length + 1]) for length in range(len(parts))]):
        found: Any = sys.modules.get(path)
        for attribute in name.split("."):
            found = getattr(found, attribute, None)
        if found is target:
            return target, name, path
    return None, name, module or ""


def _without_defaults(args: tuple[Any, ...], params: tuple[Any, ...]) -> tuple[Any, ...]:
    end = len(args)
    while end and _is_default(args[end - 1], params[end - 1].default):
        end -= 1
    return args[:end]


def _is_default(arg: Any, default: Any) -> bool:
    return arg is default or (type(arg) in (int, float, str) and type(arg) is type(default)
                              and repr(arg) == repr(default))
