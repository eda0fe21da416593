"""Which functions go into graphs as they are, which are inlined, and which never are."""

from __future__ import annotations

import os
import sysconfig
import types
import weakref
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from graphwright.capture.guards.text import function_module
from graphwright.compat.compiler_marks import EXPORTS
from graphwright.ir.graph.printing import BoundOp
from graphwright.library import AtenOp, CustomOp
from graphwright.runtime import _core
from graphwright.runtime.ops.table import Op

F = TypeVar("F", bound=Callable[..., Any])

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(_core.__file__))) + os.sep
_STDLIB = sysconfig.get_path("stdlib") + os.sep
_SITE = sysconfig.get_path("purelib") + os.sep
_OPERATION_MODULES = ("graphwright.runtime.ops", "graphwright.runtime.batching.boundary")
_INLINED_STDLIB = frozenset(
    [
        "contextlib.py", "functools.py", "dataclasses.py", "copy.py", "operator.py", "types.py",
        "typing.py", "enum.py", os.path.join("collections", "__init__.py"), "_collections_abc.py",
        "heapq.py", "os.py", "weakref.py", "inspect.py",
    ]
)
_CONVERSIONS = frozenset(["tensor", "as_tensor", "asarray", "is_tensor", "numel"])
_EFFECTS = frozenset(["manual_seed", "seed", "set_rng_state", "set_default_dtype", "from_numpy"])
DISABLED = "__gw_disable__"
"""Functions whose `__dict__` has this stay out of graphs."""
_marked: set[int] = set()
_kept: list[Any] = []


def allow_in_graph(function: F) -> F:
    """Put calls of `function` into graphs without looking inside; it must accept fake tensors.

    Forgotten when the function ends; one without weak references lives on.
    """
    _marked.add(id(function))
    try:
        weakref.finalize(function, _marked.discard, id(function)).atexit = False
    except TypeError:
        _kept.append(function)
    return function


def is_operation(value: Any) -> bool:
    """Whether a call of `value` becomes one node of the graph."""
    kind = type(value)
    if issubclass(kind, Op | AtenOp | BoundOp | _core.OpFunction) or id(value) in _marked:
        return True
    if kind is CustomOp:
        return bool(value.in_graphs)
    if kind not in (types.FunctionType, types.BuiltinFunctionType):
        return False
    if getattr(value, "__gw_op__", None) is not None:
        return True
    module = function_module(value)
    if module == "graphwright.runtime.tensor.from_data":
        return value.__name__ in _CONVERSIONS
    return module.startswith(_OPERATION_MODULES) and value.__name__ not in _EFFECTS


def is_disabled(function: Any) -> bool:
    """Whether `gw.compiler.disable` was applied to the function."""
    return bool(getattr(function, "__dict__", {}).get(DISABLED, False))


@lru_cache(maxsize=4096)
def may_inline(filename: str) -> bool:
    """Whether functions of a file are user code, or library code that is safe to interpret."""
    if filename.startswith(_PACKAGE):
        return filename.removeprefix(_PACKAGE).startswith(_INLINED_OF_PACKAGE)
    if filename.startswith("<frozen "):
        return f"{filename[len('<frozen ') : -1]}.py" in _INLINED_STDLIB
    if filename.startswith("<"):
        return True
    if filename.startswith(_SITE):
        return not any(part in _EXCLUDED for part in filename[len(_SITE) :].split(os.sep))
    if filename.startswith(_STDLIB):
        return os.path.relpath(filename, _STDLIB) in _INLINED_STDLIB
    return True


_INLINED_OF_PACKAGE = (
    "_C.py", "_dynamo/_trace_wrapped_higher_order_op.py", "_higher_order_ops/associative_scan.py",
    "_higher_order_ops/cond_and_while.py",
    "_lowrank.py", "accelerator.py", "amp/grad_scaler.py", "ao/quantization.py", "autograd/",
    "backends.py", "capture/vm/polyfills.py", "compat/compiler_marks.py", "compat/foreach.py",
    "compat/recurrent_signatures.py", "compat/switches.py", "compat/torch_signatures.py",
    "compat/typed_constructors.py", "cuda/",
    "distributed/", "distributions/", "export/exported_program.py", "func/",
    "ir/graph/module.py", "ir/graph/signature.py",
    "jit/marks.py", "masked.py", "mps.py", "nn/", "onnx/", "optim/", "profiler/labels.py",
    "runtime/batching/vmap.py", "runtime/cuda/devices.py", "runtime/errors.py", "runtime/ops/",
    "runtime/symbolic/functions.py", "runtime/tape/", "runtime/tensor/finfo.py",
    "runtime/tensor/multi_tensor.py", "runtime/tensor/promotion.py",
    "runtime/tensor/tensor_queries.py", "runtime/torch_check.py", "runtime/trees.py", "signal/",
    "utils/_pytree.py", "utils/checkpoint.py", "xpu.py",
)  # fmt: skip
_EXCLUDED = frozenset(
    [
        "numpy", "torch", "jax", "scipy", "pytest", "_pytest", "pluggy", "rich", "bytecode",
        "llvmlite", "networkx", "cffi", "hypothesis", "matplotlib", "pandas", "sklearn", "triton",
    ]
)


_BOOKKEEPING = frozenset(
    [
        "parameter.py", "state.py", "traversal.py", "lazy.py", "init.py",
        "parameter_containers.py", "module.py", "hooks.py",
    ]
)
"""Files of `nn` whose functions make, find, copy and name parameters, and `module.py`: a module's
call leads to hooks and `forward`, which are captured themselves."""
_OF_LENGTHS = frozenset(["rnn.py", "rnn_steps.py"])
_READING_LENGTHS = frozenset(["ctc_loss", "_lengths"])
"""What `nn` does with sequences of given lengths, which may be other work for each lengths.

Where a call is inlined, none of these runs as a frame.
"""


@lru_cache(maxsize=4096)
def may_capture(filename: str, name: str) -> bool:
    """Whether frames of a function of a file are worth translating when they run under the hook.

    Of the layers what computes is: calls and forward passes, not how they are made and found.
    """
    if filename.startswith(_PACKAGE):
        inside = filename.removeprefix(_PACKAGE).split(os.sep)
        if inside[0] != "nn" or inside[-1] in _BOOKKEEPING:
            return False
        if inside[-1] in _OF_LENGTHS or name in _READING_LENGTHS:
            return False
        return name == "__call__" or not name.startswith(("__", "reset_", "<"))
    if filename.startswith(("<frozen", "<graph", _STDLIB)) and not filename.startswith(_SITE):
        return False
    return may_inline(filename)


def is_compiling() -> bool:
    """True inside of captured code and of strict exports, False in plain Python."""
    return bool(_core.modes() & 8) or EXPORTS.running > 0
