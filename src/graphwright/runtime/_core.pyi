"""The C core: tensors, memory, modes, random numbers, threads, products, native code."""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, Self, SupportsIndex, TypeVar, final, overload

import numpy as np
from numpy.typing import NDArray

from graphwright.runtime.tensor.device import device as Device
from graphwright.runtime.tensor.dtypes import dtype as DType

ABI_VERSION: int
_C_API: object

@final
class Storage:
    @property
    def nbytes(self) -> int: ...
    @property
    def _grad(self) -> Any: ...
    @property
    def _version(self) -> int: ...
    def data_ptr(self) -> int: ...

@final
class Size(tuple[int, ...]):
    """The sizes of a tensor; slices, sums and multiples are Sizes too."""

    def numel(self) -> int: ...
    @classmethod
    def _set_root(cls, name: str, /) -> None:
        """What reprs call the package."""
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> int: ...
    @overload
    def __getitem__(self, index: slice, /) -> Size: ...
    def __add__(self, other: tuple[Any, ...], /) -> Size: ...
    def __radd__(self, other: tuple[Any, ...], /) -> Size: ...
    def __mul__(self, count: SupportsIndex, /) -> Size: ...
    def __rmul__(self, count: SupportsIndex, /) -> Size: ...

class TensorBase:
    requires_grad: bool
    grad: Any
    grad_fn: Any
    output_nr: int
    _extra: Any
    @property
    def dtype(self) -> DType: ...
    @property
    def device(self) -> Device: ...
    @property
    def shape(self) -> Size: ...
    @property
    def ndim(self) -> int: ...
    @property
    def is_leaf(self) -> bool: ...
    @property
    def is_fake(self) -> bool: ...
    @property
    def _version(self) -> int: ...
    @property
    def _nd(self) -> NDArray[Any]: ...
    @property
    def _storage(self) -> Storage: ...
    @property
    def _base(self) -> Any: ...
    def stride(self, dim: int | None = None) -> Any: ...
    def size(self, dim: int | None = None) -> Any: ...
    def storage_offset(self) -> int: ...
    def numel(self) -> int: ...
    def item(self) -> Any: ...
    def dim(self) -> int: ...
    def element_size(self) -> int: ...
    def data_ptr(self) -> int: ...
    def is_contiguous(self, memory_format: Any = ...) -> bool: ...
    def is_inference(self) -> bool: ...
    def _is_view(self) -> bool: ...
    @property
    def is_cpu(self) -> bool: ...
    @property
    def is_cuda(self) -> bool: ...
    @property
    def is_meta(self) -> bool: ...
    @property
    def is_sparse(self) -> bool: ...
    @property
    def is_sparse_csr(self) -> bool: ...
    @property
    def is_quantized(self) -> bool: ...
    @property
    def is_nested(self) -> bool: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def retains_grad(self) -> bool: ...
    def get_device(self) -> int: ...
    def ndimension(self) -> int: ...
    def nelement(self) -> int: ...

_T = TypeVar("_T", bound=TensorBase)
_Result = TypeVar("_Result")

def set_default_dtype(dtype: DType, /) -> None: ...
def result_dtype(*operands: Any) -> DType | None: ...
def register_dtype(
    code: int, dtype: DType, numpy_dtype: np.dtype[Any], floating: bool, /
) -> None: ...
def register_float8(code: int, format: tuple[int, int, int, int, int], /) -> None: ...
def register_device_class(cls: type, /) -> None: ...
def from_ndarray(cls: type[_T], array: NDArray[Any], dtype: DType, /) -> _T: ...
def empty(cls: type[_T], shape: Sequence[int], dtype: DType, /) -> _T: ...
def empty_strided(
    cls: type[_T], shape: Sequence[int], strides: Sequence[int], dtype: DType, /
) -> _T: ...
def as_view(
    cls: type[_T],
    base: TensorBase,
    shape: Sequence[Any],
    strides: Sequence[Any],
    offset: Any,
    dtype: DType = ...,
    /,
) -> _T: ...
def detach(cls: type[_T], tensor: TensorBase, /) -> _T: ...
def unversioned(cls: type[_T], tensor: TensorBase, counted: TensorBase = ..., /) -> _T: ...
def to_dlpack(tensor: TensorBase, versioned: bool, copied: bool, /) -> Any: ...
def from_dlpack(cls: type[_T], capsule: Any, /) -> _T: ...
def become(tensor: TensorBase, source: TensorBase, /) -> None: ...

@final
class SharedMemory:
    """The first bytes of a file, mapped; it takes over the descriptor."""

    def __new__(cls, fd: int, nbytes: int, keep: bool) -> SharedMemory: ...
    @property
    def fd(self) -> int: ...
    @property
    def nbytes(self) -> int: ...

def shared_tensor(cls: type[_T], memory: SharedMemory, offset: int, nbytes: int, /) -> _T: ...
def shared_place(storage: Storage, /) -> tuple[SharedMemory, int] | None: ...
def owns_alone(tensor: TensorBase, /) -> bool: ...
def find_holders(objects: list[Any], found: dict[int, list[Any]], /) -> None: ...
def relocate(
    tensors: tuple[TensorBase, ...], memory: SharedMemory, offset: int, /
) -> None: ...
def check_may_write(tensor: TensorBase, /) -> None: ...
def bump_version(tensor: TensorBase, /) -> None: ...
def set_node_naming(hook: Callable[[Any], None], /) -> None: ...
def meta(
    cls: type[_T],
    shape: Sequence[Any],
    strides: Sequence[Any],
    dtype: DType,
    device: Device,
    fake: bool = False,
) -> _T: ...
def memory_stats() -> dict[str, int]: ...
def empty_cache() -> None: ...
def set_cache_limit(nbytes: int, /) -> int: ...
def grad_enabled() -> bool: ...
def set_grad_enabled(enabled: bool | None, /) -> bool: ...
def user_disabled_grad() -> bool: ...
def modes() -> int: ...
def set_modes(bits: int, /) -> int: ...
def place() -> Any: ...
def set_place(device: Any, /) -> None: ...
def tracer() -> Any: ...
def set_tracer(tracer: Any, /) -> Any: ...
def levels() -> tuple[Any, ...]: ...
def mark_overriding(tensor: _T, /) -> _T: ...
def set_levels(levels: tuple[Any, ...], /) -> None: ...
def keeping_modes(
    function: Callable[..., _Result], /, *args: Any, **kwargs: Any
) -> _Result: ...
def saved_modes() -> Any:
    """All that `keeping_modes` puts back, as it is, for `call_in_modes`."""
def call_in_modes(
    saved: Any, function: Callable[..., _Result], /, *args: Any, **kwargs: Any
) -> _Result:
    """`function(*args, **kwargs)` in saved modes; the thread's own are put back afterwards."""
def with_grad_mode(
    mode: bool | None, function: Callable[..., _Result], /, *args: Any, **kwargs: Any
) -> _Result: ...
def unrecorded(
    function: Callable[..., _Result], /, *args: Any, **kwargs: Any
) -> _Result:
    """`function(*args, **kwargs)`, meanwhile without gradients and without autocast."""
def dispatch_flags(args: tuple[Any, ...], /) -> int: ...
def philox_words(out: NDArray[np.uint32], seed: int, offset: int, /) -> None: ...
def philox_uniform(out: NDArray[np.float32], seed: int, offset: int, /) -> None: ...
def seed() -> int: ...
def manual_seed(seed: int, /) -> None: ...
def reserve_offset(n: int, /) -> int: ...
def rng_state() -> tuple[int, int]: ...
def set_rng_state(seed: int, offset: int, /) -> None: ...
def num_threads() -> int: ...
def set_num_threads(n: int, /) -> int: ...
def copy_bytes(dst: Any, src: Any, /) -> None: ...
def set_blas(path: str | None, /) -> None: ...
def has_blas() -> bool: ...
def has_bfloat16_products() -> bool: ...
def contract(
    cls: type,
    operands: tuple[Any, ...],
    sizes: tuple[int, ...],
    steps: tuple[tuple[int, ...], ...],
    strides: tuple[int, ...],
    /,
) -> Any: ...
def variance(
    cls: type,
    input: Any,
    dims: tuple[int, ...],
    correction: float,
    keepdim: bool,
    root: bool,
    /,
) -> Any: ...
def two_norm(cls: type, input: Any, dims: tuple[int, ...], keepdim: bool, /) -> Any: ...
def softmax_columns(cls: type, input: Any, dim: int, log: bool, /) -> Any: ...
def softmax_columns_backward(
    cls: type, grad: Any, result: Any, dim: int, log: bool, /
) -> Any: ...
def softmax_rows(x: NDArray[Any], out: NDArray[Any], /) -> None: ...
def log_softmax_rows(x: NDArray[Any], out: NDArray[Any], /) -> None: ...
def softmax_backward_rows(
    grad: NDArray[Any], result: NDArray[Any], out: NDArray[Any], /
) -> None: ...
def log_softmax_backward_rows(
    grad: NDArray[Any], result: NDArray[Any], out: NDArray[Any], /
) -> None: ...
def layer_norm_rows(
    x: NDArray[Any],
    weight: NDArray[Any] | None,
    bias: NDArray[Any] | None,
    eps: float,
    out: NDArray[Any],
    mean: NDArray[Any],
    rstd: NDArray[Any],
    /,
) -> None: ...
def rms_norm_rows(x: Any, weight: Any, eps: float, out: Any, /) -> None: ...
def layer_norm_backward_rows(
    grad: NDArray[Any],
    x: NDArray[Any],
    weight: NDArray[Any] | None,
    mean: NDArray[Any],
    rstd: NDArray[Any],
    out: NDArray[Any],
    /,
) -> None: ...
def attention(
    query: NDArray[Any],
    key: NDArray[Any],
    value: NDArray[Any],
    mask: NDArray[Any] | None,
    causal: bool,
    scale: float,
    out: NDArray[Any],
    logsum: NDArray[Any],
    /,
) -> None: ...
def attention_backward(
    grad: NDArray[Any],
    query: NDArray[Any],
    key: NDArray[Any],
    value: NDArray[Any],
    mask: NDArray[Any] | None,
    out: NDArray[Any],
    logsum: NDArray[Any],
    causal: bool,
    scale: float,
    to_query: NDArray[Any],
    to_key: NDArray[Any],
    to_value: NDArray[Any],
    /,
) -> None: ...
def recurrence(
    mode: str,
    gates: NDArray[Any],
    hidden: NDArray[Any],
    cell: NDArray[Any],
    weight: NDArray[Any],
    bias: NDArray[Any],
    out: NDArray[Any],
    cells: NDArray[Any],
    kept: NDArray[Any],
    /,
) -> None: ...
def recurrence_backward(
    mode: str,
    grad: NDArray[Any],
    hidden: NDArray[Any],
    cell: NDArray[Any],
    weight: NDArray[Any],
    out: NDArray[Any],
    cells: NDArray[Any],
    kept: NDArray[Any],
    to_gates: NDArray[Any],
    to_own: NDArray[Any],
    to_hidden: NDArray[Any],
    to_cell: NDArray[Any],
    /,
) -> None: ...
def gemm(
    a: NDArray[Any],
    b: NDArray[Any],
    out: NDArray[Any],
    transa: bool = False,
    transb: bool = False,
    alpha: float = 1.0,
    beta: float = 0.0,
    /,
) -> None: ...

def convolve(
    part: int,
    a: NDArray[Any],
    b: NDArray[Any],
    bias: NDArray[Any] | None,
    out: NDArray[Any],
    geometry: tuple[int, ...],
    /,
) -> None: ...
def pool_windows(
    part: int,
    input: NDArray[Any],
    output: NDArray[Any],
    extra: NDArray[Any] | None,
    bounds: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    steps: tuple[int, int, int],
    /,
) -> None: ...
def plane_places(
    part: int, values: NDArray[Any], indices: NDArray[Any], output: NDArray[Any], /
) -> None: ...
def resample(
    transposed: bool,
    x: NDArray[Any],
    index: NDArray[Any],
    weight: NDArray[Any],
    out: NDArray[Any],
    /,
) -> None: ...
def sgd_step(
    param: TensorBase,
    grad: TensorBase,
    buffer: TensorBase | None,
    first: bool,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
    maximize: bool,
    /,
) -> bool: ...
def adam_step(
    param: TensorBase,
    grad: TensorBase,
    exp_avg: TensorBase,
    exp_avg_sq: TensorBase,
    max_exp_avg_sq: TensorBase | None,
    step: float,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
    decoupled: bool,
    /,
) -> bool: ...
def subscript(cls: type[_T], tensor: TensorBase, key: Any, /) -> _T | None: ...
def assign(cls: type[_T], tensor: TensorBase, key: Any, value: Any, /) -> bool: ...
def set_view_hook(hook: Any, /) -> None: ...
def mark_multi_view(view: TensorBase, /) -> None: ...
def mark_overwritten(view: TensorBase, /) -> None: ...
def view_origin(tensor: TensorBase, /) -> int: ...

class OutOfRange(IndexError, RuntimeError): ...
class OutOfMemoryError(MemoryError, RuntimeError): ...

def copy_strided(dst: TensorBase, src: TensorBase, /) -> None: ...
def pick(
    kind: int,
    domain: tuple[int, ...],
    memory: TensorBase,
    memory_strides: tuple[int, ...],
    values: TensorBase,
    value_strides: tuple[int, ...],
    indices: tuple[tuple[TensorBase, tuple[int, ...], int, int], ...],
    wrap: bool,
    /,
) -> tuple[int, int] | None: ...

def rule_step(
    name: str,
    param: TensorBase,
    grad: TensorBase,
    state0: TensorBase | None,
    state1: TensorBase | None,
    state2: TensorBase | None,
    numbers: tuple[float, ...],
    weight_decay: float,
    maximize: bool,
    /,
) -> bool: ...
@final
class CodeObject:
    def address(self, symbol: str, /) -> int: ...
    def name_at(self, address: int, /) -> str | None: ...

def load_object(elf: bytes | bytearray | memoryview, /) -> CodeObject: ...

@final
class Launcher:
    """A compiled graph as a callable.

    `outputs` holds (dtype, shape, strides or None for C-contiguous), or (dtype, ndim, None)
    where `shapes` tells. `arena_bytes` is -1 where `shapes` tells. `symbols` holds
    (input index, dim), dim -1 for the value of an int. `messages` are texts
    with {value} and {bound}. Pointers are passed as inputs, constants, outputs, arena.
    A single output comes alone with `single`, else in a tuple. Without `blas` matrix products are
    made by own kernels alone.

    Raises on a call:
        TypeError: for a wrong number of inputs, or one without data on the CPU.
        IndexError: what the native code reported, by one of `messages`.
        ValueError: if an input to be written is read-only.
    """

    def __new__(
        cls_,
        *,
        run: int,
        shapes: int,
        keepalive: object,
        n_inputs: int,
        outputs: list[tuple[DType, tuple[int, ...] | int, tuple[int, ...] | None]],
        arena_bytes: int,
        symbols: list[tuple[int, int]],
        rng_ops: int,
        mutated: list[int],
        messages: Sequence[str],
        cls: type[TensorBase],
        release_gil: bool,
        single: bool = False,
        constants: Sequence[TensorBase] = (),
        label: str = "graph",
        blas: bool = True,
    ) -> Launcher: ...
    @property
    def n_inputs(self) -> int: ...
    @property
    def n_outputs(self) -> int: ...
    @property
    def single(self) -> bool: ...
    @property
    def keepalive(self) -> Any: ...
    @property
    def label(self) -> str: ...
    def __call__(self, *inputs: TensorBase | int) -> Any: ...

class OpBase:
    run: Callable[..., Any]
    is_inplace: bool

class OpFunction:
    door: Callable[..., Any] | None
    def __new__(cls, op: OpBase, name: str, qualname: str, module: str) -> Self: ...
    @property
    def __gw_op__(self) -> OpBase: ...
    @property
    def __name__(self) -> str: ...
    @property
    def __qualname__(self) -> str: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class OpMethod(OpFunction): ...

def set_binding_hooks(
    describe: Callable[[OpFunction], tuple[Any, ...]],
    not_bound: Callable[..., Any],
    with_out: Callable[..., Any],
    older: Callable[..., Any],
    check_placement: Callable[..., None],
    in_format: Callable[..., Any],
    document: Callable[[OpFunction], str],
    signature: Callable[[OpFunction], Any],
) -> None: ...
def dispatch(op: OpBase, args: tuple[Any, ...], /) -> Any: ...
def compute_out(
    op: OpBase, args: tuple[Any, ...], out: TensorBase | tuple[Any, ...], /
) -> Any: ...
def set_override_hook(hook: Callable[..., Any], /) -> None: ...
def overrides_enabled() -> bool: ...
def set_overrides_enabled(enabled: bool, /) -> bool: ...
def set_dispatch_hooks(modes: Callable[..., Any], failed: Callable[..., Any], /) -> None: ...
def set_record_classes(
    node: type,
    saved: type,
    spec: type,
    context: type,
    fit: Callable[..., Any],
    anomaly: object,
    packing: object,
    /,
) -> None: ...
def plain_gradients(node: Any, grads: list[Any], /) -> Any: ...
def next_sequence() -> int: ...
def skip_sequence(count: int, /) -> None: ...
def versions(values: tuple[Any, ...], /) -> bytes: ...
def same_versions(
    values: tuple[Any, ...], versions: bytes, places: tuple[int, ...], /
) -> bool: ...
def gradient_edges(
    values: tuple[Any, ...], places: tuple[int, ...], /
) -> tuple[tuple[Any, int] | None, ...]: ...
def is_private(gradient: TensorBase, leaf: TensorBase, references: int, /) -> bool: ...
def sampling_gradients(
    cls: type[TensorBase],
    grad: TensorBase,
    input: TensorBase,
    grid: TensorBase,
    mode: int | str,
    padding: int | str,
    align_corners: bool,
    to_input: bool,
    to_grid: bool,
    /,
) -> tuple[Any, Any] | None: ...

class NodeBase:
    edges: Any
    args: Any
    needing: Any
    op: Any
    outputs: Any
    saved_outputs: Any
    hooks: Any
    prehooks: Any
    output_hooks: Any
    sequence: int
    @property
    def output_count(self) -> int: ...
    def forget(self) -> bool: ...

def literal(cls: type[TensorBase], data: Any, dtype: DType | None, /) -> Any: ...
def convert_into(out: TensorBase, source: TensorBase, /) -> bool: ...

@final
class Native:
    """The kernel in C of an op, called by name, with what it falls back on."""

    fallback: Callable[..., Any]
    def __new__(
        cls,
        tensor: type[TensorBase],
        name: str,
        fallback: Callable[..., Any],
        results: type[tuple[Any, ...]] = ...,
    ) -> Any: ...
    def __call__(self, *args: Any) -> Any: ...
    @staticmethod
    def has(name: str, /) -> bool: ...

class GeneratorBase:
    """Seed and offset of a stream of random numbers."""

    def draw(self, count: int = 1) -> tuple[int, int]: ...
    def _get(self) -> tuple[int, int]: ...
    def _set(self, seed: int, offset: int) -> None: ...

@final
class Quiet:
    """Calls a function while a context variable has a value."""

    function: Callable[..., Any]
    def __new__(
        cls, function: Callable[..., Any], variable: ContextVar[Any], value: Any
    ) -> Any: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

@final
class Pointwise:
    """An eager kernel whose plain calls run the loops of `source`, a ufunc or a name."""

    def __new__(
        cls_,
        cls: type[TensorBase],
        source: Any,
        operands: int,
        dtypes: Sequence[DType],
        fallback: Callable[..., Any],
        rest: tuple[Any, ...] = (),
        to_bool: bool = False,
        masked: bool = False,
        costly: bool = False,
        inplace: bool = False,
        tensors: int = 0,
        numbers: int = 0,
        promotes: bool = False,
        to_float: bool = False,
        held: int = 0,
        exact: int = -1,
        powers: bool = False,
    ) -> Pointwise: ...
    @property
    def fallback(self) -> Callable[..., Any]: ...
    def __call__(self, *args: Any) -> Any: ...

@final
class Reduction:
    """The eager kernel of name(input, dim, keepdim), or with a dtype after these."""

    def __new__(
        cls_,
        cls: type[TensorBase],
        name: str,
        dtypes: Sequence[DType],
        fallback: Callable[..., Any],
        dtype: bool = False,
        needs_elements: bool = False,
        truths: bool = False,
    ) -> Reduction: ...
    def __call__(self, *args: Any) -> Any: ...

Span = tuple[int, Any, int, int, int, int, Any, Any, Any, int]
"""(kind, name, start, end, number of the parent or -1, bytes, shapes, result's shape, stack,
address of a kernel)."""
MemoryEvent = tuple[int, int, int, int, int]
"""(time, bytes, live bytes, address, number of the span or -1)."""

def start_profile(flags: int, /) -> None: ...
def stop_profile() -> tuple[
    int, int, list[tuple[int, int, list[Span], list[MemoryEvent], int]]
]: ...
def is_profiling() -> bool: ...
def begin_span(name: str, kind: int, /) -> int | None: ...
def end_span(begun: int | None, /) -> None: ...
