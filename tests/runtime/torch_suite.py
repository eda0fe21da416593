"""PyTorch's own samples of its operators, run through graphwright and compared.

`torch.testing._internal` describes some seven hundred operators (OpInfo): sample arguments for
every dtype, and arguments that must be refused. `check(name)` runs those of one operator and
returns what differs: values, shapes, dtypes, strides, gradients, the in-place and the method
form, the compiled function, the type of the exception.

    python -m tests.runtime.torch_suite add nn.functional.pad.reflect --dtypes float32,int64
"""

from __future__ import annotations

import argparse
import functools
import itertools
import sys
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

import graphwright as gw

TOLERANCES = {"float16": 3e-3, "bfloat16": 3e-2, "float32": 5e-5, "complex64": 5e-5}
LOOSE = {("matrix_exp", "float32"): 1e-3}
"""Where PyTorch's values are farther off than the tolerance; ours are made in float64."""
RANDOM = frozenset(
    {
        *("rand", "randn", "randint", "rand_like", "randn_like", "randint_like", "randperm"),
        *("normal", "bernoulli", "multinomial", "poisson", "cauchy", "exponential"),
        *("geometric", "log_normal", "uniform", "nn.functional.rrelu"),
        *("nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d"),
        *("nn.functional.alpha_dropout", "nn.functional.feature_alpha_dropout"),
        *("nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d"),
    }
)
UNINITIALISED = frozenset(
    {
        *("empty", "empty_like", "empty_strided", "empty_permuted"),
        *("new_empty", "new_empty_strided"),
        *("resize_", "resize_as_"),
    }
)


TIES = frozenset({"argsort", "kthvalue", "median", "mode", "nanmedian", "sort", "topk"})
"""Which of several equal values is found first is not laid down."""


class NotComparable(Exception):
    """A sample that uses something that graphwright does not have on purpose."""


class Difference(NamedTuple):
    """One finding: the kind of comparison, the sample and what was seen."""

    kind: str
    dtype: str
    sample: str
    seen: str

    def __str__(self) -> str:
        return f"  [{self.kind}] {self.dtype} {self.sample}\n      {self.seen}"


def torch_database() -> tuple[Any, list[Any]]:
    """The torch module and its operator descriptions; ImportError where not installed."""
    import torch

    if "expecttest" not in sys.modules:
        try:
            import expecttest  # noqa: F401
        except ImportError:
            stub = types.ModuleType("expecttest")
            stub.TestCase = object  # type: ignore[attr-defined]
            sys.modules["expecttest"] = stub
    from torch.testing._internal.common_methods_invocations import op_db

    return torch, op_db


def full_name(info: Any) -> str:
    """`name.variant`, as in the command line."""
    return f"{info.name}.{info.variant_test_name}" if info.variant_test_name else str(info.name)


def translated(function: Any) -> Any:
    """A lambda of PyTorch's test code with `graphwright` for its global `torch`."""
    names = {**function.__globals__, "torch": gw}
    return types.FunctionType(
        function.__code__, names, "translated", function.__defaults__, function.__closure__
    )


def is_lambda(function: Any) -> bool:
    """Whether PyTorch's tests wrap the operator in a function of their own."""
    return isinstance(function, types.FunctionType) and "<lambda>" in function.__qualname__


def ours(info: Any) -> Callable[..., Any] | None:
    """graphwright's function for an operator; None where there is none."""
    found = _named(info)
    if is_lambda(info.op) and found is not None:
        return translated(info.op)  # type: ignore[no-any-return]
    return found


def _named(info: Any) -> Callable[..., Any] | None:
    if info.name.startswith(("_", "torch.")) and not info.name.startswith("__"):
        return None
    found: Any = gw
    for part in info.name.split("."):
        found = getattr(found, part, None)
    if callable(found):
        return found  # type: ignore[no-any-return]
    for name in (info.name, f"{info.name}_"):
        if "." not in name and callable(getattr(gw.Tensor, name, None)):
            return getattr(gw.Tensor, name)  # type: ignore[no-any-return]
    return None


# -- conversion


def our_dtype(dtype: Any) -> Any:
    """The dtype of the same name; NotComparable where there is none."""
    found = getattr(gw, str(dtype).removeprefix("torch."), None)
    if found is None:
        raise NotComparable(str(dtype))
    return found


def _array(torch: Any, flat: Any) -> np.ndarray[Any, Any]:
    if flat.dtype is torch.bfloat16:
        return np.asarray(flat.view(torch.int16).numpy().view(ml_dtypes.bfloat16))
    return np.asarray(flat.numpy())


def to_ours(torch: Any, value: Any, shared: dict[Any, Any] | None = None) -> Any:
    """The same argument for graphwright: memory layout and requires_grad are kept.

    `shared`: tensors and memory already made: an argument given twice stays one tensor, and
    arguments that share memory still do.
    """
    shared = {} if shared is None else shared
    if isinstance(value, torch.Tensor):
        known = shared.get(id(value))
        if known is None:
            known = shared[id(value)] = _tensor_to_ours(torch, value, shared)
        return known
    if isinstance(value, torch.dtype):
        return our_dtype(value)
    if isinstance(value, torch.device):
        return gw.device(str(value))
    if isinstance(value, torch.memory_format | torch.layout | torch.Generator):
        raise NotComparable(str(value))
    if isinstance(value, torch.Size):
        return tuple(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(to_ours(torch, v, shared) for v in value))
    if isinstance(value, list | tuple):
        return type(value)(to_ours(torch, v, shared) for v in value)
    if isinstance(value, dict):
        return {k: to_ours(torch, v, shared) for k, v in value.items()}
    if isinstance(value, types.FunctionType | types.BuiltinFunctionType | torch.nn.Module):
        raise NotComparable(repr(value))
    return value


def _tensor_to_ours(torch: Any, value: Any, shared: dict[Any, Any]) -> Any:
    if value.ndim > 32:
        raise NotComparable("NumPy has no arrays of so many dims")
    if value.layout is not torch.strided or value.is_quantized or value.device.type != "cpu":
        raise NotComparable(str(value.layout))
    dtype, strides, offset = our_dtype(value.dtype), value.stride(), value.storage_offset()
    place = value.untyped_storage().data_ptr(), dtype
    memory = shared.get(place)
    with torch.no_grad(), gw.no_grad():
        if memory is None:
            plain = value.detach().resolve_conj().resolve_neg()
            reach = value.untyped_storage().nbytes() // value.element_size()
            if plain.data_ptr() == value.data_ptr():
                flat = torch.as_strided(plain, (reach,), (1,), 0).clone()
            else:
                flat, strides, offset = plain.flatten().clone(), plain.contiguous().stride(), 0
            memory = gw.from_numpy(_array(torch, flat).copy())
            if plain.data_ptr() == value.data_ptr() and reach:
                shared[place] = memory
        tensor = memory.as_strided(tuple(value.shape), tuple(strides), offset)
    assert tensor.dtype is dtype
    return tensor.detach().requires_grad_() if value.requires_grad else tensor


def _leaves(torch: Any, value: Any) -> list[Any]:
    if isinstance(value, torch.Tensor | gw.Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return [leaf for v in value for leaf in _leaves(torch, v)]
    if isinstance(value, dict):
        return [leaf for v in value.values() for leaf in _leaves(torch, v)]
    return []


def _numbers(torch: Any, tensor: Any) -> np.ndarray[Any, Any]:
    if isinstance(tensor, torch.Tensor):
        tensor = tensor.detach().resolve_conj().resolve_neg()
        if tensor._is_zerotensor():
            tensor = torch.zeros(tensor.shape, dtype=tensor.dtype)
        array = _array(torch, tensor.contiguous())
    else:
        array = tensor.detach().numpy()
    return array.astype(np.float64) if array.dtype == ml_dtypes.bfloat16 else array


def describe(value: Any) -> str:
    """A short text of an argument or result."""
    if hasattr(value, "stride") and hasattr(value, "dtype"):
        name = str(value.dtype).split(".")[-1]
        order = "" if value.is_contiguous() else f"/{list(value.stride())}"
        return f"{name}{list(value.shape)}{order}"
    if isinstance(value, list | tuple):
        return "(" + ", ".join(describe(v) for v in value) + ")"
    if isinstance(value, dict):
        return ", ".join(f"{k}={describe(v)}" for k, v in value.items())
    return repr(value)


# -- comparison


def compare(torch: Any, got: Any, want: Any, tolerance: float, values: bool) -> Iterator[str]:
    """What differs between a result of ours and PyTorch's."""
    if not isinstance(want, torch.Tensor | list | tuple | dict):
        if type(want) in (int, float, bool, complex) and values:
            same = np.allclose(got, want, rtol=tolerance, atol=tolerance, equal_nan=True)
            if type(got) is not type(want) or not same:
                yield f"value: {got!r}, torch {want!r}"
        return
    mine, theirs = _leaves(torch, got), _leaves(torch, want)
    if len(mine) != len(theirs):
        yield f"value: {len(mine)} tensors, torch {len(theirs)}"
        return
    for a, b in zip(mine, theirs, strict=True):
        if isinstance(a, torch.Tensor):
            yield "value: a torch tensor came back"
            return
        name = str(b.dtype).split(".")[-1]
        if a.dtype.name != name or tuple(a.shape) != tuple(b.shape):
            yield f"value: {describe(a)}, torch {describe(b)}"
            continue
        layout = zip(a.stride(), b.stride(), b.shape, strict=True)
        if b.numel() and any(s != t for s, t, n in layout if n != 1):
            yield f"strides: {a.stride()}, torch {b.stride()} of {list(b.shape)}"
        if values:
            own = max(tolerance, TOLERANCES.get(name, 0.0))
            yield from _compare_values(_numbers(torch, a), _numbers(torch, b), own)


def _compare_values(a: Any, b: Any, tolerance: float) -> Iterator[str]:
    if a.dtype.kind in "biu":
        wrong = a != b
    else:
        with np.errstate(all="ignore"):
            wrong = ~np.isclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
    if wrong.any():
        place = tuple(int(i[0]) for i in np.nonzero(wrong)) if a.ndim else ()
        seen = f"at {place} {a[place]!r}, torch {b[place]!r}"
        yield f"value: {int(wrong.sum())} of {a.size} differ, {seen}"


def outcome(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """(result, None) or (None, exception)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args, **kwargs), None
        except NotComparable:
            raise
        except Exception as error:
            return None, error


def _without_dropout(name: str, sample: Any) -> None:
    """Attention without its random part, which cannot be compared."""
    if name == "nn.functional.multi_head_attention_forward":
        sample.args = (*sample.args[:9], 0.0, *sample.args[10:])
    elif "dropout_p" in sample.kwargs:
        sample.kwargs = {**sample.kwargs, "dropout_p": 0.0}


class Checker:
    """Runs the samples of one operator."""

    def __init__(self, torch: Any, info: Any, limit: int, compiled: bool) -> None:
        self.torch, self.info, self.limit, self.compiled = torch, info, limit, compiled
        self.function = ours(info)
        self.differences: list[Difference] = []
        self.counts: Counter[str] = Counter()
        self.random = info.name in RANDOM
        self.values = not self.random and info.name not in UNINITIALISED
        self.exact: Any = None

    def note(self, kind: str, dtype: str, sample: Any, seen: str) -> None:
        text = describe((sample.input, *sample.args)) + (
            f" {describe(sample.kwargs)}" if sample.kwargs else ""
        )
        self.differences.append(Difference(kind, dtype, text, seen[:300]))

    def samples(self, dtype: Any, requires_grad: bool) -> Iterator[Any]:
        """The first samples, plain and with strided tensors."""
        self.torch.manual_seed(0)
        found = self.info.sample_inputs("cpu", dtype, requires_grad=requires_grad)
        for sample in itertools.islice(found, self.limit):
            _without_dropout(self.info.name, sample)
            yield sample
            if not requires_grad:
                strided, error = outcome(sample.noncontiguous)
                if error is None:
                    yield strided

    def _ours(self, sample: Any) -> tuple[list[Any], dict[str, Any]]:
        shared: dict[Any, Any] = {}
        args = [to_ours(self.torch, v, shared) for v in (sample.input, *sample.args)]
        return args, {k: to_ours(self.torch, v, shared) for k, v in sample.kwargs.items()}

    def run(self, dtype: Any) -> None:
        """All comparisons for one dtype."""
        name = str(dtype).split(".")[-1]
        tolerance = max(TOLERANCES.get(name, 1e-9), LOOSE.get((self.info.name, name), 0.0))
        for sample in self.samples(dtype, False):
            try:
                self._values(sample, name, tolerance)
            except NotComparable:
                self.counts["not comparable"] += 1
        if self.info.supports_autograd and self.values and name in ("float64", "complex128"):
            for sample in self.samples(dtype, True):
                try:
                    self._gradients(sample, name)
                except NotComparable:
                    self.counts["not comparable"] += 1

    def _values(self, sample: Any, dtype: str, tolerance: float) -> None:
        assert self.function is not None
        args, kwargs = self._ours(sample)
        want, theirs = outcome(self.info.op, sample.input, *sample.args, **sample.kwargs)
        if theirs is not None:
            return
        self.counts["samples"] += 1
        for leaf in _leaves(self.torch, want):
            our_dtype(leaf.dtype)
        self.exact = self._in_float64(sample, dtype)
        got, error = outcome(self.function, *args, **kwargs)
        if error is not None:
            self.note("raised", dtype, sample, f"{type(error).__name__}: {error}")
            return
        for seen in self._compared(got, want, tolerance):
            self.note(seen.split(":")[0], dtype, sample, seen)
        self._method(sample, dtype, want, tolerance)
        self._inplace(sample, dtype, tolerance)
        if self.compiled and not self.random:
            self._compiled(sample, dtype, want, tolerance)

    def _compared(self, got: Any, want: Any, tolerance: float) -> Iterator[str]:
        """What differs; positions of equal values are free, and so is being more exact."""
        if self.info.name not in TIES:
            for seen in compare(self.torch, got, want, tolerance, self.values):
                if not seen.startswith("value:") or not self._more_exact(got, want, tolerance):
                    yield seen
            return
        theirs, mine = _leaves(self.torch, want), _leaves(self.torch, got)
        yield from compare(self.torch, mine, theirs, tolerance, False)
        if len(mine) == len(theirs) and self.info.name != "argsort":
            yield from compare(self.torch, mine[0], theirs[0], tolerance, self.values)

    def _more_exact(self, got: Any, want: Any, tolerance: float) -> bool:
        """Whether a result of half precision is PyTorch's of float64, rounded once."""
        mine, theirs = _leaves(self.torch, got), _leaves(self.torch, want)
        exact = _leaves(self.torch, self.exact)
        if not len(mine) == len(theirs) == len(exact) or self.exact is None:
            return False
        for a, b, wide in zip(mine, theirs, exact, strict=True):
            rounded = wide.to(b.dtype)
            if any(compare(self.torch, a, rounded, tolerance, self.values)):
                return False
        return True

    def _in_float64(self, sample: Any, dtype: str) -> Any:
        """PyTorch's result for the arguments of half precision in float64; None for others."""
        torch = self.torch
        if dtype not in ("float16", "bfloat16"):
            return None

        def widened(value: Any) -> Any:
            half = isinstance(value, torch.Tensor) and value.dtype in (
                torch.float16, torch.bfloat16
            )
            return value.double() if half else value

        wide = sample.transform(widened)
        return outcome(self.info.op, wide.input, *wide.args, **wide.kwargs)[0]

    def _method(self, sample: Any, dtype: str, want: Any, tolerance: float) -> None:
        theirs = self.info.method_variant
        if theirs is None or not isinstance(sample.input, self.torch.Tensor):
            return
        want, error = outcome(theirs, sample.input, *sample.args, **sample.kwargs)
        if error is not None:
            return
        args, kwargs = self._ours(sample)
        if is_lambda(theirs):
            method = functools.partial(translated(theirs), args[0])
        else:
            method = getattr(args[0], theirs.__name__, None)
        if method is None:
            self.note("method", dtype, sample, f"Tensor.{theirs.__name__} is missing")
            return
        got, error = outcome(method, *args[1:], **kwargs)
        if error is not None:
            self.note("method", dtype, sample, f"{type(error).__name__}: {error}")
            return
        for seen in self._compared(got, want, tolerance):
            self.note("method", dtype, sample, seen)

    def _inplace(self, sample: Any, dtype: str, tolerance: float) -> None:
        theirs = self.info.inplace_variant
        if theirs is None or not isinstance(sample.input, self.torch.Tensor):
            return
        args, kwargs = self._ours(sample)
        target = sample.input.detach().clone()
        mine = to_ours(self.torch, target)
        want, refused = outcome(theirs, target, *sample.args, **sample.kwargs)
        if is_lambda(theirs):
            method = functools.partial(translated(theirs), mine)
        elif isinstance(theirs, functools.partial):
            method = functools.partial(self.function, mine, **theirs.keywords)  # type: ignore[arg-type]
        else:
            method = getattr(mine, theirs.__name__, None)
        if method is None:
            self.note("inplace", dtype, sample, f"{theirs.__name__} is missing")
            return
        got, error = outcome(method, *args[1:], **kwargs)
        if refused is not None or error is not None:
            if (refused is None) != (error is None):
                self.note("inplace", dtype, sample, f"{error!r}, torch {refused!r}")
            return
        if got is not mine:
            self.note("inplace", dtype, sample, "did not return its tensor")
        for seen in self._compared(got, want, tolerance):
            self.note("inplace", dtype, sample, seen)

    def _compiled(self, sample: Any, dtype: str, want: Any, tolerance: float) -> None:
        args, kwargs = self._ours(sample)
        function = self.function
        assert function is not None

        def wrapped(*given: Any, **named: Any) -> Any:
            return function(*given, **named)

        got, error = outcome(gw.compile(wrapped), *args, **kwargs)
        gw.compiler.reset()
        if error is not None:
            self.note("compiled", dtype, sample, f"{type(error).__name__}: {error}")
            return
        for seen in self._compared(got, want, 4 * tolerance):
            if not seen.startswith("strides"):
                self.note("compiled", dtype, sample, seen)

    def _gradients(self, sample: Any, dtype: str) -> None:
        torch = self.torch
        args, kwargs = self._ours(sample)
        want, error = outcome(self.info.op, sample.input, *sample.args, **sample.kwargs)
        got, mine = outcome(self.function, *args, **kwargs)  # type: ignore[arg-type]
        if error is not None or mine is not None:
            return
        theirs = [t for t in _leaves(torch, want) if t.requires_grad]
        outputs = [t for t in _leaves(torch, got) if t.requires_grad]
        if len(theirs) != len(outputs):
            self.note("gradient", dtype, sample, f"{len(outputs)} of {len(theirs)} outputs")
            return
        if not theirs:
            return
        self.counts["gradients"] += 1
        rng = np.random.default_rng(0)
        weights = [rng.uniform(0.5, 1.5, tuple(t.shape)) for t in theirs]
        given = [
            torch.from_numpy(np.asarray(w)).to(t.dtype)
            for w, t in zip(weights, theirs, strict=True)
        ]
        leaves = [t for t in _leaves(torch, (sample.input, sample.args, sample.kwargs))]
        leaves = [t for t in leaves if t.requires_grad]
        wanted, refused = outcome(torch.autograd.grad, theirs, leaves, given, allow_unused=True)
        own = [t for t in _leaves(torch, (args, kwargs)) if t.requires_grad]
        cotangents = [
            gw.tensor(np.asarray(w)).to(t.dtype) for w, t in zip(weights, outputs, strict=True)
        ]
        grads, error = outcome(gw.autograd.grad, outputs, own, cotangents, allow_unused=True)
        if refused is not None:
            return
        if error is not None:
            self.note("gradient", dtype, sample, f"{type(error).__name__}: {error}")
            return
        for a, b in zip(grads, wanted, strict=True):
            if a is None or b is None:
                nonzero = a if b is None else b
                if nonzero is not None and bool((nonzero != 0).any()):
                    self.note("gradient", dtype, sample, f"{a}, torch {b}")
                continue
            for seen in compare(torch, a, b, 1e-7, True):
                if not seen.startswith("strides"):
                    self.note("gradient", dtype, sample, seen)

    def errors(self) -> None:
        """Arguments that PyTorch refuses must raise the same type."""
        if self.info.error_inputs_func is None:
            return
        for refused in self.info.error_inputs("cpu"):
            sample = refused.sample_input
            try:
                args, kwargs = self._ours(sample)
            except NotComparable:
                continue
            _, want = outcome(self.info.op, sample.input, *sample.args, **sample.kwargs)
            if want is None:
                continue
            self.counts["errors"] += 1
            _, error = outcome(self.function, *args, **kwargs)  # type: ignore[arg-type]
            expected = RuntimeError if isinstance(want, NotImplementedError) else type(want)
            if error is None:
                self.note("error", "", sample, f"accepted, torch {want!r}")
            elif not isinstance(error, expected):
                self.note("error", "", sample, f"{error!r}, torch {want!r}")


def check(
    name: str,
    dtypes: tuple[str, ...] = ("float32", "float64", "int64", "bool"),
    limit: int = 40,
    compiled: bool = False,
) -> list[Difference]:
    """What differs for the operator of that full name. KeyError where there is none."""
    torch, database = torch_database()
    info = next(i for i in database if full_name(i) == name)
    checker = Checker(torch, info, limit, compiled)
    if checker.function is None:
        return [Difference("missing", "", "", f"graphwright has no {info.name}")]
    supported = {str(d).split(".")[-1]: d for d in info.supported_dtypes("cpu")}
    for dtype in dtypes:
        if dtype in supported:
            checker.run(supported[dtype])
    checker.errors()
    return checker.differences


ALL_DTYPES = (
    *("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16"),
    *("float32", "float64", "complex64", "complex128"),
)


def main() -> int:
    """The command line; 1 where something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.runtime.torch_suite")
    parser.add_argument("names", nargs="+", help="operator names, `prefix*`, or `all`")
    parser.add_argument("--dtypes", default="float32,float64,int64,bool", help="or `all`")
    parser.add_argument("--limit", type=int, default=40, help="samples per dtype")
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--show", type=int, default=8, help="differences shown per operator")
    options = parser.parse_args()
    _, database = torch_database()
    names = [full_name(i) for i in database]
    chosen = [
        n for n in names
        for wanted in options.names
        if wanted == "all" or n == wanted or n.split(".")[0] == wanted
        or (wanted.endswith("*") and n.startswith(wanted[:-1]))
    ]
    dtypes = ALL_DTYPES if options.dtypes == "all" else tuple(options.dtypes.split(","))
    failing = missing = 0
    for name in dict.fromkeys(chosen):
        found = check(name, dtypes, options.limit, options.compiled)
        absent = bool(found) and found[0].kind == "missing"
        missing += absent
        failing += bool(found) and not absent
        kinds = ", ".join(f"{k} {n}" for k, n in Counter(d.kind for d in found).items())
        print(f"{name}: {kinds or 'ok'}", flush=True)
        for difference in found[: 0 if absent else options.show]:
            print(difference)
    print(f"{len(set(chosen))} operators: {failing} differ, {missing} missing")
    return 1 if failing or missing else 0


if __name__ == "__main__":
    sys.exit(main())
