"""Operations with symbolic numbers: in the graph the numbers are 0-d tensors, inputs of it.

Only where a 0-d tensor gives the very same result as the number, with a dtype that changes the
result's no more than the number does. Operations that take no tensor in the number's place are
written as some that do: `add(x, y, alpha=a)` as `x + y * a`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from graphwright.capture.effects.data_dependent_errors import is_in_place, name_of
from graphwright.capture.exc import unsupported
from graphwright.capture.guards.scalar_sources import ScalarSource
from graphwright.capture.guards.source import ConstSource
from graphwright.capture.trackers.base import VariableTracker
from graphwright.capture.trackers.numbers.size_quotients import QuotientVariable
from graphwright.capture.trackers.numbers.symbolic_floats import FloatVariable
from graphwright.capture.trackers.tensors.tensor import TensorVariable
from graphwright.capture.trackers.tensors.tensor_item import ItemRead, NumberRead
from graphwright.capture.trackers.values.constant import ConstantVariable
from graphwright.runtime.ops.functions import empty, empty_like, ones_like, pow_number, pow_number_
from graphwright.runtime.ops.kernels import HALVES
from graphwright.runtime.ops.table import TABLE, Kind, Op
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.finfo import finfo
from graphwright.runtime.tensor.promotion import result_dtype

if TYPE_CHECKING:
    from graphwright.capture.vm.object_protocols import Values

Given = dict[str, VariableTracker]
Kwargs = dict[str, VariableTracker]
_OPERATORS = frozenset(
    [
        *("add", "iadd", "sub", "isub", "mul", "imul", "truediv", "itruediv"),
        *("pow", "ipow", "floordiv", "ifloordiv", "mod", "imod"),
        *("lt", "le", "gt", "ge", "eq", "ne", "floor_divide", "rsub"),
    ]
)
_EXACT = frozenset(
    [
        *("add", "iadd", "sub", "isub", "mul", "imul", "multiply", "subtract"),
        *("lt", "le", "gt", "ge", "eq", "ne"),
    ]
)

_BY_RULE = frozenset(
    ["pow", "ipow", "float_power", "where", "clamp", "clip", "clamp_min", "clamp_max"]
)
"""Where a tensor is another thing than the number, but for what the rules below make of it."""
_PRODUCTS = frozenset(["mul", "multiply"])
_DIVISIONS = frozenset(["truediv", "div", "divide", "true_divide"])
"""Half types take a number that comes first as it is, but round a tensor there."""


def scalar_arguments(
    tx: Values, target: Any, args: list[VariableTracker], kwargs: Kwargs
) -> tuple[list[VariableTracker], Kwargs]:
    """The arguments of an operation on two operands, with symbolic numbers made inputs."""
    found = _operands(target, args, kwargs)
    if found is None:
        return args, kwargs
    operands, rest = found
    for arg in operands:
        if type(arg) is ConstantVariable and not isinstance(arg.value, (int, float, complex)):
            unsupported("GB0007", f"TypeError: {name_of(target)} with {arg.describe()}")
    tensors = [arg for arg in operands if isinstance(arg, TensorVariable)]
    if name_of(target) in _EXACT and {tensor.fake.dtype for tensor in tensors} == {dtypes.int64}:
        reads = [isinstance(arg, ItemRead) and arg.as_integer(tx) for arg in operands]
        operands = [read or arg for read, arg in zip(reads, operands, strict=True)]
    single = _beside(tensors)
    if single is not None and tensors[0] is not operands[0] and tensors[0].fake.dtype in HALVES:
        if name_of(target) in _PRODUCTS:
            operands = operands[::-1]
        elif name_of(target) in _DIVISIONS:
            single = None
    unknown = isinstance(operands[0], NumberRead) or any(map(_varies, operands))
    if unknown and name_of(target) in _BY_RULE:
        return operands, rest
    if single is not None:
        operands = [arg.in_graph(tx, single) or arg for arg in operands]
    return operands, rest


def _operands(
    target: Any, args: list[VariableTracker], kwargs: Kwargs
) -> tuple[list[VariableTracker], Kwargs] | None:
    """Both operands of an operation that takes numbers where it takes tensors, and its other
    arguments but for those that are as usual; None: of another operation."""
    if len(args) == 2 and not kwargs and name_of(target) in _OPERATORS:
        return args, {}
    entry = entry_of(target)
    if entry is None or entry.name in _FILLING:
        return None
    if entry.kind is not Kind.POINTWISE and entry.name not in _OPERATORS:
        return None
    params = entry.schema.params
    if len(params) < 2 or not params[0].is_tensor or params[1].type != "Operand":
        return None
    given = dict(zip(entry.names, args, strict=False)) | kwargs
    if len(args) > len(params) or not set(entry.names[:2]) <= set(given) <= set(entry.names):
        return None
    operands = [given.pop(name) for name in entry.names[:2]]
    usual = {param.name: param.default for param in params}
    rest = {name: value for name, value in given.items() if not _is(value, usual[name])}
    return None if "alpha" in rest else (operands, rest)


def _is(value: VariableTracker, usual: Any) -> bool:
    """Whether an argument is the default, of the same type."""
    if type(value) is not ConstantVariable:
        return False
    return type(value.value) is type(usual) and bool(value.value == usual)


def entry_of(target: Any) -> Any:
    """The operation that a target is, without the underscore of in-place forms; None: another."""
    name = name_of(getattr(target, "__gw_op__", target))
    return TABLE.get(name)


def _beside(tensors: list[TensorVariable]) -> bool | None:
    """Whether float32 beside the tensors is the same as a number, or float64; None: neither."""
    singles = {_wants_single(tensor) for tensor in tensors}
    return singles.pop() if len(singles) == 1 else None


def _wants_single(arg: TensorVariable) -> bool | None:
    dtype = arg.fake.dtype
    if dtype is dtypes.float64 or (dtype.is_floating_point and arg.fake.ndim):
        return False
    default = dtypes.get_default_dtype()
    if dtype is dtypes.float32 or (_is_integral(dtype) and default is dtypes.float32):
        return True
    return None


def _is_integral(dtype: dtypes.dtype) -> bool:
    return not dtype.is_floating_point and not dtype.is_complex


def rule_for(kind: str, target: Any) -> tuple[tuple[str, ...], tuple[str, ...], Rule] | None:
    """The names of an operation's arguments, those that are numbers, and what is run instead."""
    name = name_of(target)
    return _RULES.get((kind, name)) or _RULES.get(("", name))


def with_scalars(
    tx: Values, kind: str, target: Any, args: list[VariableTracker], kwargs: Kwargs
) -> VariableTracker | None:
    """The result of another operation with symbolic numbers; None: no rule applies."""
    names, numbers, rule = rule_for(kind, target) or _NO_RULE
    if rule in _OF_NUMBERS_ONLY:
        args, kwargs = _numbers_read(names, numbers, args, kwargs)
    if not any(_varies(value.realize()) for value in (*args, *kwargs.values())):
        return None
    given = dict(zip(names, (arg.realize() for arg in args), strict=False))
    given.update({key: value.realize() for key, value in kwargs.items()})
    if len(args) > len(names) or not set(given) <= set(names):
        return None
    if not any(_varies(given.get(number)) for number in numbers):
        return None
    call = _Call(kind, target, given, numbers)
    fits = name_of(target) not in _FILLING or call.holds_numbers(tx)
    return rule(tx, call) if fits else None


def numbers_read(
    entry: Op, args: list[VariableTracker], kwargs: Kwargs
) -> tuple[list[VariableTracker], Kwargs]:
    """The arguments, with the numbers of 0-d tensors where an operation takes numbers only."""
    numbers = tuple([param.name for param in entry.schema.params if param.type in _NUMBERS])
    return _numbers_read(entry.names, numbers, args, kwargs) if numbers else (args, kwargs)


def _numbers_read(
    names: tuple[str, ...], numbers: tuple[str, ...], args: list[VariableTracker], kwargs: Kwargs
) -> tuple[list[VariableTracker], Kwargs]:
    named = dict(zip(names, args, strict=False))
    read = [_number_of(arg) if name in numbers else arg for name, arg in named.items()]
    given = {name: _number_of(arg) if name in numbers else arg for name, arg in kwargs.items()}
    return [*read, *args[len(read) :]], given


def _number_of(value: VariableTracker) -> VariableTracker:
    """The item of a 0-d tensor of floats that no gradient is recorded of; others as they are."""
    value = value.realize()
    if not isinstance(value, TensorVariable):
        return value
    fake = value.present().fake
    plain = not fake.ndim and fake.dtype.is_floating_point and not fake.requires_grad
    return ItemRead(value) if plain else value


def _varies(value: VariableTracker | None) -> bool:
    """Whether it is a float that is known when running only."""
    if isinstance(value, NumberRead):
        return value.kind is float
    return isinstance(value, (FloatVariable, QuotientVariable))


def _is_held(tx: Values, number: VariableTracker | None, dtype: dtypes.dtype) -> bool:
    """Whether a floating point dtype has a symbolic number in its range."""
    if isinstance(number, ItemRead):
        return number.tensor.fake.dtype.itemsize <= dtype.itemsize
    if isinstance(number, NumberRead):
        return dtype.itemsize == 8
    if not isinstance(number, FloatVariable) or dtype.itemsize == 8:
        return True
    if issubclass(number.python_type(), numpy.generic):
        return numpy.dtype(number.python_type()).itemsize <= dtype.itemsize
    largest = finfo(dtype).max
    return number.lies_between(tx, -largest, largest)


def in_range(tx: Values, number: VariableTracker | None, dtype: dtypes.dtype) -> bool:
    """As `_is_held`, but taken for granted of float32 and numbers that no guard compares."""
    guarded = isinstance(number, FloatVariable) and number.guardable
    return (dtype.itemsize >= 4 and not guarded) or _is_held(tx, number, dtype)


class _Call:
    """A call of an operation: its arguments by name, in their order, and which are numbers."""

    def __init__(self, kind: str, target: Any, given: Given, numbers: tuple[str, ...]) -> None:
        self.kind = kind
        self.target = target
        self.given = given
        self.numbers = numbers

    def run(self, tx: Values, given: Given) -> VariableTracker:
        """The same operation with other arguments."""
        first = next(iter(given))
        rest = {name: value for name, value in given.items() if name != first}
        return tx.output.run(tx, self.kind, self.target, [given[first]], rest)

    def is_in_place(self) -> bool:
        """Whether the operation writes to its first argument."""
        return self.target is operator.ipow or is_in_place(self.target)

    def holds_numbers(self, tx: Values) -> bool:
        """Whether the filled tensor's dtype holds the numbers: by their types, or by guards."""
        filled = self._filled_dtype()
        if not filled.is_floating_point or filled.itemsize < 4:
            return False
        numbers = [self.given.get(number) for number in self.numbers]
        return all(_is_held(tx, number, filled) for number in numbers if _varies(number))

    def has_in_range(self, tx: Values, dtype: dtypes.dtype) -> bool:
        """Whether the dtype of the result holds the symbolic numbers."""
        numbers = [self.given.get(number) for number in self.numbers]
        return all(in_range(tx, number, dtype) for number in numbers if _varies(number))

    def _filled_dtype(self) -> dtypes.dtype:
        dtype = self.given["dtype"].as_constant() if "dtype" in self.given else None
        own = self.given.get("input")
        if dtype is None and isinstance(own, TensorVariable):
            dtype = own.fake.dtype
        return dtype or dtypes.get_default_dtype()

    def rest(self, *names: str) -> Given:
        """The arguments without those named."""
        return {name: value for name, value in self.given.items() if name not in names}


Rule = Callable[["Values", _Call], VariableTracker | None]


def _with_tensors(tx: Values, call: _Call) -> VariableTracker | None:
    """The operation takes tensors in place of its numbers."""
    tensors = [v for v in call.given.values() if isinstance(v, TensorVariable)]
    kept = [v for v in tensors if v.fake.dtype is not dtypes.bool] or tensors
    single = _beside(kept)
    if single is None or not call.has_in_range(tx, result_dtype((*[v.fake for v in kept], 0.5))):
        return None
    given = dict(call.given)
    for name in call.numbers:
        value = given.get(name)
        if value is not None and not isinstance(value, TensorVariable):
            made = _scalar(tx, value, single)
            if made is None:
                return None
            given[name] = made
    return call.run(tx, given)


def _scalar(tx: Values, value: VariableTracker, single: bool) -> VariableTracker | None:
    """The 0-d tensor of a number; None of what may be left out."""
    if type(value) is ConstantVariable:
        if type(value.value) not in (int, float):
            return value if value.value is None else None
        return tx.output.float_input(value.value, ScalarSource(ConstSource(value.value), single))
    return value.in_graph(tx, single)


def _rounds_each_step(value: VariableTracker) -> bool:
    """Whether several operations round as one: those on half precision do when they end."""
    wide = (dtypes.float32, dtypes.float64)
    return isinstance(value, TensorVariable) and value.fake.dtype in wide


def _in_steps(tx: Values, call: _Call) -> TensorVariable | None:
    """The input, if several operations are as one and its dtype holds the numbers."""
    own = call.given["input"]
    if not isinstance(own, TensorVariable) or not _rounds_each_step(own):
        return None
    return own if call.has_in_range(tx, own.fake.dtype) else None


def _scaled(tx: Values, call: _Call) -> VariableTracker | None:
    """`input + other * alpha`."""
    own, other = _in_steps(tx, call), call.given.get("other")
    if own is None or not isinstance(other, TensorVariable):
        return None
    if own.fake.dtype is not other.fake.dtype:
        return None
    scaled = tx.output.run(tx, "call_method", "mul", [other, call.given["alpha"]], {})
    return call.run(tx, {"input": own, "other": scaled})


def _scaled_product(tx: Values, call: _Call) -> VariableTracker | None:
    """`input + value * tensor1 * tensor2`, or `/ tensor2`."""
    own, one, other = _in_steps(tx, call), call.given.get("tensor1"), call.given.get("tensor2")
    if own is None or one is None or other is None:
        return None
    method = "mul" if name_of(call.target) == "addcmul" else "div"
    scaled = tx.output.run(tx, "call_method", "mul", [one, call.given["value"]], {})
    product = tx.output.run(tx, "call_method", method, [scaled, other], {})
    in_place = "add_" if call.is_in_place() else "add"
    return tx.output.run(tx, "call_method", in_place, [own, product], {})


def _filled(tx: Values, call: _Call) -> VariableTracker | None:
    """An empty tensor of that kind, filled."""
    name = name_of(call.target).replace("full", "empty")
    given = call.rest("fill_value")
    if "requires_grad" in given:
        return None
    first = next(iter(given))
    rest = {key: value for key, value in given.items() if key != first}
    if call.kind == "call_method":
        made = tx.output.run(tx, "call_method", name, [given[first]], rest)
    else:
        made = tx.output.run(tx, "call_function", _EMPTY[name], [given[first]], rest)
    return tx.output.run(tx, "call_method", "fill_", [made, call.given["fill_value"]], {})


def _number_tensor(tx: Values, call: _Call) -> VariableTracker | None:
    """A new 0-d tensor of the number; NumPy's have dtypes of their own."""
    rest = call.rest("data")
    given = rest["dtype"].as_constant() if "dtype" in rest else None
    if given is not None and _is_integral(given) and given is not dtypes.bool:
        return None    # which refuses some numbers
    kind = call.given["data"].python_type()
    numpys = issubclass(kind, numpy.generic)
    default = dtypes.from_numpy_dtype(kind) if numpys else dtypes.get_default_dtype()
    if not numpys and default not in (dtypes.float32, dtypes.float64):
        return None
    single = not rest and default is dtypes.float32
    scalar = call.given["data"].in_graph(tx, single)
    if scalar is None:
        return None
    rest.setdefault("dtype", tx.constant(default))
    made = tx.output.run(tx, "call_method", "to", [scalar], rest)
    return tx.output.run(tx, "call_method", "clone", [made], {})


def _weighted(tx: Values, call: _Call) -> VariableTracker | None:
    """`lerp`, whose weight has the dtype of the others."""
    own = _in_steps(tx, call)
    if own is None:
        return None
    weight = call.given["weight"].in_graph(tx, own.fake.dtype is dtypes.float32)
    return None if weight is None else call.run(tx, {**call.given, "weight": weight})


def _index_added(tx: Values, call: _Call) -> VariableTracker | None:
    """`index_add` of the source times alpha."""
    own, source = call.given["input"], call.given.get("source")
    if not isinstance(own, TensorVariable) or not isinstance(source, TensorVariable):
        return None
    if own.fake.dtype is not source.fake.dtype or not _rounds_each_step(own):
        return None
    scaled = tx.output.run(tx, "call_method", "mul", [source, call.given["alpha"]], {})
    return call.run(tx, {**call.rest("alpha"), "source": scaled})


def _padded(tx: Values, call: _Call) -> VariableTracker | None:
    """The number where a padded mask is not set."""
    own, run = call.given["input"], tx.output.run
    mode = call.given.get("mode")
    if not _rounds_each_step(own) or not (mode is None or _is(mode, "constant")):
        return None
    assert isinstance(own, TensorVariable)
    if not _is_held(tx, call.given["value"], own.fake.dtype):
        return None
    rest = call.rest("value")
    kind = {"dtype": tx.constant(dtypes.bool)}
    inside = run(tx, "call_function", ones_like, [own], kind)
    mask = call.run(tx, {**rest, "input": inside})
    return run(tx, "call_method", "where", [call.run(tx, rest), mask, call.given["value"]], {})


def _is_in(tx: Values, call: _Call) -> VariableTracker | None:
    """A comparison with the one number, whose result is contiguous."""
    own, invert = call.given["elements"], call.given.get("invert", tx.constant(False))
    if not _rounds_each_step(own) or type(invert) is not ConstantVariable:
        return None
    method = "ne" if invert.value is True else "eq"
    result = tx.output.run(tx, "call_method", method, [own, call.given["test_elements"]], {})
    return tx.output.run(tx, "call_method", "contiguous", [result], {})


def _leaky(tx: Values, call: _Call) -> VariableTracker | None:
    """`where(input > 0, input, input * negative_slope)`."""
    own, run = _in_steps(tx, call), tx.output.run
    if own is None:
        return None
    scaled = run(tx, "call_method", "mul", [own, call.given["negative_slope"]], {})
    positive = run(tx, "call_method", "gt", [own, tx.constant(0)], {})
    result = run(tx, "call_method", "where", [own, positive, scaled], {})
    return run(tx, "call_method", "copy_", [own, result], {}) if call.is_in_place() else result


def _attention(tx: Values, call: _Call) -> VariableTracker | None:
    """Attention of the queries times the scale."""
    query = call.given["query"]
    if not _rounds_each_step(query):
        return None
    scaled = tx.output.run(tx, "call_method", "mul", [query, call.given["scale"]], {})
    return call.run(tx, {**call.given, "query": scaled, "scale": tx.constant(1.0)})


def _scattered(tx: Values, call: _Call) -> VariableTracker | None:
    """A scatter of a symbolic number, as the scatter of a tensor of the index's shape."""
    own, index = call.given["input"], call.given["index"]
    name = next(name for name in call.numbers if name in call.given)
    if not isinstance(own, TensorVariable) or not isinstance(index, TensorVariable):
        return None
    value = call.given[name]
    dtype = own.fake.dtype
    if dtype not in (dtypes.float32, dtypes.float64) or not _is_held(tx, value, dtype):
        return None
    scalar = value.in_graph(tx, dtype is dtypes.float32)
    if scalar is None:
        return None
    source = tx.output.run(tx, "call_method", "expand_as", [scalar, index], {})
    return call.run(tx, {**call.rest(name), "src": source})


def _raised(tx: Values, call: _Call) -> VariableTracker | None:
    """A power by a tensor that says that it stands for a number.

    Gradients of a power by 0 depend on nothing, which guards hold on to.
    """
    own, number = call.given["input"], call.given["exponent"]
    if not isinstance(own, TensorVariable):
        return _raised_number(tx, call)
    if own.fake.dtype.is_complex:
        return None
    result = result_dtype((own.fake, 0.5))
    if result in HALVES and not _is_held(tx, number, result):
        return None
    if isinstance(number, FloatVariable) and own.fake.requires_grad and number.equals(tx, 0.0):
        return None
    exponent = number.in_graph(tx, False)
    if exponent is None:
        return None
    run = pow_number_ if call.is_in_place() else pow_number
    return tx.output.run(tx, "call_function", run, [own, exponent], {})


def _raised_number(tx: Values, call: _Call) -> VariableTracker | None:
    """Powers of a number, which are contiguous."""
    exponent = call.given["exponent"]
    single = _beside([exponent]) if isinstance(exponent, TensorVariable) else None
    base = None if single is None else call.given["input"].in_graph(tx, single)
    if base is None:
        return None
    result = call.run(tx, {"input": base, "exponent": exponent})
    return tx.output.run(tx, "call_method", "contiguous", [result], {})


def _raised_in_float64(tx: Values, call: _Call) -> VariableTracker | None:
    """A power in float64."""
    if call.is_in_place():
        return None
    given, double = dict(call.given), tx.constant(dtypes.float64)
    for name, value in call.given.items():
        if isinstance(value, TensorVariable):
            if value.fake.dtype.is_complex:
                return None
            given[name] = tx.output.run(tx, "call_method", "to", [value, double], {})
    return _raised(tx, _Call("call_method", "pow", given, call.numbers))


def _spread(tx: Values, call: _Call) -> VariableTracker | None:
    """`variance` that divides by the count, times `count / (count - correction)`."""
    own, run = call.given["input"], tx.output.run
    if not _rounds_each_step(own) or "dim" not in call.given:
        return None
    assert isinstance(own, TensorVariable)
    sizes = [own.fake.shape[d] for d in call.given["dim"].as_constant()]
    count = tx.wrap_plain(math.prod(sizes))
    left = tx.operate(operator.sub, count, call.given["correction"])
    scalar = left.in_graph(tx, own.fake.dtype is dtypes.float32)
    if scalar is None:
        return None
    plain = call.run(tx, {**call.given, "correction": tx.constant(0)})
    total = run(tx, "call_method", "mul", [plain, count], {})
    freedom = run(tx, "call_method", "clamp", [scalar, tx.constant(0.0)], {})
    return run(tx, "call_method", "div", [total, freedom], {})


_EMPTY: dict[str, Any] = {"empty": empty, "empty_like": empty_like}
_NUMBERS = frozenset(["Scalar", "Scalar?", "float", "float?"])
_FILLING = frozenset(["masked_fill", "fill", "full", "full_like", "new_full"])
_NO_RULE: tuple[tuple[str, ...], tuple[str, ...], Rule] = ((), (), _with_tensors)
_CLAMP = (("input", "min", "max"), ("min", "max"), _with_tensors)
_WHERE = ("input", "other")
_ADDED = (("input", "other", "alpha"), ("alpha",), _scaled)
_PRODUCT = (("input", "tensor1", "tensor2", "value"), ("value",), _scaled_product)
_POWER = ("input", "exponent")
_KINDS = ("dtype", "device", "layout", "requires_grad")
_RULES: dict[tuple[str, str], tuple[tuple[str, ...], tuple[str, ...], Rule]] = {
    ("", "clamp"): _CLAMP,
    ("", "clip"): _CLAMP,
    ("", "clamp_min"): (("input", "min"), ("min",), _with_tensors),
    ("", "clamp_max"): (("input", "max"), ("max",), _with_tensors),
    ("call_function", "where"): (("condition", *_WHERE), _WHERE, _with_tensors),
    ("call_method", "where"): (("input", "condition", "other"), _WHERE, _with_tensors),
    ("", "masked_fill"): (("input", "mask", "value"), ("value",), _with_tensors),
    ("", "fill"): (("input", "value"), ("value",), _with_tensors),
    ("", "lerp"): (("input", "end", "weight"), ("weight",), _weighted),
    ("", "add"): _ADDED,
    ("", "sub"): _ADDED,
    ("", "addcmul"): _PRODUCT,
    ("", "addcdiv"): _PRODUCT,
    ("", "pow"): (_POWER, _POWER, _raised),
    ("", "ipow"): (_POWER, _POWER, _raised),
    ("", "float_power"): (_POWER, _POWER, _raised_in_float64),
    ("", "full"): (("size", "fill_value", *_KINDS), ("fill_value",), _filled),
    ("", "full_like"): (("input", "fill_value", *_KINDS), ("fill_value",), _filled),
    ("", "new_full"): (("input", "size", "fill_value", *_KINDS), ("fill_value",), _filled),
    ("", "tensor"): (("data", "dtype", "device"), ("data",), _number_tensor),
    ("", "scaled_dot_product_attention"): (
        ("query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa"),
        ("scale",), _attention),
    ("", "scatter"): (("input", "dim", "index", "src", "value", "reduce"), ("src", "value"),
                      _scattered),
    ("", "index_add"): (("input", "dim", "index", "source", "alpha"), ("alpha",), _index_added),
    ("", "pad"): (("input", "pad", "mode", "value"), ("value",), _padded),
    ("", "constant_pad_nd"): (("input", "pad", "value"), ("value",), _padded),
    ("", "variance"): (("input", "dim", "correction", "keepdim"), ("correction",), _spread),
    ("", "isin"): (("elements", "test_elements", "assume_unique", "invert"), ("test_elements",),
                   _is_in),
    ("", "leaky_relu"): (("input", "negative_slope"), ("negative_slope",), _leaky),
}
_OF_NUMBERS_ONLY = (
    _scaled, _scaled_product, _filled, _index_added, _padded, _leaky, _attention,
)  # fmt: skip
