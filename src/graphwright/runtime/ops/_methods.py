"""The op methods of Tensor.

Generated from the op table by `python -m graphwright.runtime.ops.generate`; do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graphwright.runtime._core import TensorBase
from graphwright.runtime.dispatch import dispatch as _dispatch
from graphwright.runtime.dispatch import refuse_bound
from graphwright.runtime.ops.normalise import (
    as_size,
    as_tensors,
    varargs,
    wrap_dim,
    wrap_dim_optional,
    wrap_dims,
    wrap_dims_exact,
    wrap_dims_optional,
    wrap_permutation,
)
from graphwright.runtime.ops.table import TABLE
from graphwright.runtime.ops.table import op as _op

if TYPE_CHECKING:
    from graphwright.runtime.dtypes import dtype as DType
    from graphwright.runtime.tensor import Tensor
_abs = _op("abs")
_abs_ = _op("abs_")
_add = _op("add")
_add_ = _op("add_")
_addcdiv = _op("addcdiv")
_addcdiv_ = _op("addcdiv_")
_addcmul = _op("addcmul")
_addcmul_ = _op("addcmul_")
_addmm = _op("addmm")
_all = _op("all")
_allclose = _op("allclose")
_amax = _op("amax")
_amin = _op("amin")
_aminmax = _op("aminmax")
_any = _op("any")
_argmax = _op("argmax")
_argmin = _op("argmin")
_argsort = _op("argsort")
_argwhere = _op("argwhere")
_as_strided = _op("as_strided")
_atan2 = _op("atan2")
_atan2_ = _op("atan2_")
_bincount = _op("bincount")
_bitwise_and = _op("bitwise_and")
_bitwise_and_ = _op("bitwise_and_")
_bitwise_not = _op("bitwise_not")
_bitwise_not_ = _op("bitwise_not_")
_bitwise_or = _op("bitwise_or")
_bitwise_or_ = _op("bitwise_or_")
_bitwise_xor = _op("bitwise_xor")
_bitwise_xor_ = _op("bitwise_xor_")
_bmm = _op("bmm")
_ceil = _op("ceil")
_ceil_ = _op("ceil_")
_chunk = _op("chunk")
_clamp = _op("clamp")
_clamp_ = _op("clamp_")
_clamp_max = _op("clamp_max")
_clamp_min = _op("clamp_min")
_clone = _op("clone")
_copy_ = _op("copy_")
_corrcoef = _op("corrcoef")
_cos = _op("cos")
_cos_ = _op("cos_")
_count_nonzero = _op("count_nonzero")
_cov = _op("cov")
_cummax = _op("cummax")
_cummin = _op("cummin")
_cumprod = _op("cumprod")
_cumprod_ = _op("cumprod_")
_cumsum = _op("cumsum")
_cumsum_ = _op("cumsum_")
_diagonal = _op("diagonal")
_diff = _op("diff")
_dist = _op("dist")
_div = _op("div")
_div_ = _op("div_")
_dot = _op("dot")
_eq = _op("eq")
_equal = _op("equal")
_erf = _op("erf")
_erf_ = _op("erf_")
_exp = _op("exp")
_exp_ = _op("exp_")
_expand = _op("expand")
_expand_as = _op("expand_as")
_expm1 = _op("expm1")
_expm1_ = _op("expm1_")
_fill_ = _op("fill_")
_flatten = _op("flatten")
_flip = _op("flip")
_floor = _op("floor")
_floor_ = _op("floor_")
_floor_divide = _op("floor_divide")
_fmod = _op("fmod")
_fmod_ = _op("fmod_")
_gather = _op("gather")
_ge = _op("ge")
_gt = _op("gt")
_hardshrink = _op("hardshrink")
_histc = _op("histc")
_histogram = _op("histogram")
_index_put = _op("index_put")
_index_put_ = _op("index_put_")
_index_select = _op("index_select")
_isclose = _op("isclose")
_isfinite = _op("isfinite")
_isinf = _op("isinf")
_isnan = _op("isnan")
_kthvalue = _op("kthvalue")
_le = _op("le")
_lerp = _op("lerp")
_lerp_ = _op("lerp_")
_log = _op("log")
_log1p = _op("log1p")
_log1p_ = _op("log1p_")
_log2 = _op("log2")
_log2_ = _op("log2_")
_log_ = _op("log_")
_log_softmax = _op("log_softmax")
_logcumsumexp = _op("logcumsumexp")
_logical_and = _op("logical_and")
_logical_not = _op("logical_not")
_logical_or = _op("logical_or")
_logical_xor = _op("logical_xor")
_logsumexp = _op("logsumexp")
_lt = _op("lt")
_masked_fill = _op("masked_fill")
_masked_fill_ = _op("masked_fill_")
_masked_select = _op("masked_select")
_matmul = _op("matmul")
_max = _op("max")
_maximum = _op("maximum")
_mean = _op("mean")
_median = _op("median")
_min = _op("min")
_minimum = _op("minimum")
_mm = _op("mm")
_mode = _op("mode")
_movedim = _op("movedim")
_msort = _op("msort")
_mul = _op("mul")
_mul_ = _op("mul_")
_mv = _op("mv")
_nanmean = _op("nanmean")
_nanmedian = _op("nanmedian")
_nanquantile = _op("nanquantile")
_nansum = _op("nansum")
_narrow = _op("narrow")
_ne = _op("ne")
_neg = _op("neg")
_neg_ = _op("neg_")
_nonzero = _op("nonzero")
_norm = _op("norm")
_normal_ = _op("normal_")
_outer = _op("outer")
_permute = _op("permute")
_pow = _op("pow")
_pow_ = _op("pow_")
_prelu = _op("prelu")
_prod = _op("prod")
_put = _op("put")
_put_ = _op("put_")
_quantile = _op("quantile")
_reciprocal = _op("reciprocal")
_reciprocal_ = _op("reciprocal_")
_relu = _op("relu")
_relu_ = _op("relu_")
_remainder = _op("remainder")
_remainder_ = _op("remainder_")
_renorm = _op("renorm")
_renorm_ = _op("renorm_")
_repeat = _op("repeat")
_reshape = _op("reshape")
_reshape_as = _op("reshape_as")
_roll = _op("roll")
_round = _op("round")
_round_ = _op("round_")
_rsqrt = _op("rsqrt")
_rsqrt_ = _op("rsqrt_")
_select = _op("select")
_sigmoid = _op("sigmoid")
_sigmoid_ = _op("sigmoid_")
_sign = _op("sign")
_sign_ = _op("sign_")
_sin = _op("sin")
_sin_ = _op("sin_")
_softmax = _op("softmax")
_sort = _op("sort")
_split = _op("split")
_sqrt = _op("sqrt")
_sqrt_ = _op("sqrt_")
_square = _op("square")
_squeeze = _op("squeeze")
_std = _op("std")
_sub = _op("sub")
_sub_ = _op("sub_")
_sum = _op("sum")
_sum_to_size = _op("sum_to_size")
_t = _op("t")
_take = _op("take")
_take_along_dim = _op("take_along_dim")
_tan = _op("tan")
_tan_ = _op("tan_")
_tanh = _op("tanh")
_tanh_ = _op("tanh_")
_topk = _op("topk")
_trace = _op("trace")
_transpose = _op("transpose")
_tril = _op("tril")
_triu = _op("triu")
_trunc = _op("trunc")
_trunc_ = _op("trunc_")
_unbind = _op("unbind")
_unflatten = _op("unflatten")
_uniform_ = _op("uniform_")
_unique = _op("unique")
_unique_consecutive = _op("unique_consecutive")
_unsqueeze = _op("unsqueeze")
_var = _op("var")
_view = _op("view")
_view_as = _op("view_as")
_zero_ = _op("zero_")


class TensorMethods(TensorBase):
    """Mixin of Tensor."""

    __slots__ = ()

    def abs(self) -> Any:
        return _dispatch(_abs, (self,))

    def abs_(self) -> Any:
        return _dispatch(_abs_, (self,))

    def add(self, other: Tensor | float, *, alpha: float = 1) -> Any:
        return _dispatch(_add, (self, other, alpha))

    def add_(self, other: Tensor | float, *, alpha: float = 1) -> Any:
        return _dispatch(_add_, (self, other, alpha))

    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Any:
        return _dispatch(_addcdiv, (self, tensor1, tensor2, value))

    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Any:
        return _dispatch(_addcdiv_, (self, tensor1, tensor2, value))

    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Any:
        return _dispatch(_addcmul, (self, tensor1, tensor2, value))

    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: float = 1) -> Any:
        return _dispatch(_addcmul_, (self, tensor1, tensor2, value))

    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Any:
        return _dispatch(_addmm, (self, mat1, mat2, beta, alpha))

    def all(self, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
        try:
            _bound = (self, wrap_dims_exact(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_all, (self, dim, keepdim), _error) from None
        return _dispatch(_all, _bound)

    def allclose(
        self,
        other: Tensor,
        rtol: float = 1e-05,
        atol: float = 1e-08,
        equal_nan: bool = False,
    ) -> Any:
        return _dispatch(_allclose, (self, other, rtol, atol, equal_nan))

    def amax(self, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
        try:
            _bound = (self, wrap_dims_optional(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_amax, (self, dim, keepdim), _error) from None
        return _dispatch(_amax, _bound)

    def amin(self, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
        try:
            _bound = (self, wrap_dims_optional(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_amin, (self, dim, keepdim), _error) from None
        return _dispatch(_amin, _bound)

    def aminmax(self, *, dim: int | None = None, keepdim: bool = False) -> Any:
        try:
            _bound = (self, wrap_dim_optional(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_aminmax, (self, dim, keepdim), _error) from None
        return _dispatch(_aminmax, _bound)

    def any(self, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Any:
        try:
            _bound = (self, wrap_dims_exact(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_any, (self, dim, keepdim), _error) from None
        return _dispatch(_any, _bound)

    def argmax(self, dim: int | None = None, keepdim: bool = False) -> Any:
        try:
            _bound = (self, wrap_dim_optional(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_argmax, (self, dim, keepdim), _error) from None
        return _dispatch(_argmax, _bound)

    def argmin(self, dim: int | None = None, keepdim: bool = False) -> Any:
        try:
            _bound = (self, wrap_dim_optional(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_argmin, (self, dim, keepdim), _error) from None
        return _dispatch(_argmin, _bound)

    def argsort(self, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
        try:
            _bound = (self, wrap_dim(dim, self.ndim), descending, stable)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_argsort, (self, dim, descending, stable), _error) from None
        return _dispatch(_argsort, _bound)

    def argwhere(self) -> Any:
        return _dispatch(_argwhere, (self,))

    def as_strided(
        self,
        size: int | Sequence[int],
        stride: int | Sequence[int],
        storage_offset: int | None = None,
    ) -> Any:
        return _dispatch(_as_strided, (self, as_size(size), as_size(stride), storage_offset))

    def atan2(self, other: Tensor | float) -> Any:
        return _dispatch(_atan2, (self, other))

    def atan2_(self, other: Tensor | float) -> Any:
        return _dispatch(_atan2_, (self, other))

    def bincount(self, weights: Tensor | None = None, minlength: int = 0) -> Any:
        return _dispatch(_bincount, (self, weights, minlength))

    def bitwise_and(self, other: Tensor | float) -> Any:
        return _dispatch(_bitwise_and, (self, other))

    def bitwise_and_(self, other: Tensor | float) -> Any:
        return _dispatch(_bitwise_and_, (self, other))

    def bitwise_not(self) -> Any:
        return _dispatch(_bitwise_not, (self,))

    def bitwise_not_(self) -> Any:
        return _dispatch(_bitwise_not_, (self,))

    def bitwise_or(self, other: Tensor | float) -> Any:
        return _dispatch(_bitwise_or, (self, other))

    def bitwise_or_(self, other: Tensor | float) -> Any:
        return _dispatch(_bitwise_or_, (self, other))

    def bitwise_xor(self, other: Tensor | float) -> Any:
        return _dispatch(_bitwise_xor, (self, other))

    def bitwise_xor_(self, other: Tensor | float) -> Any:
        return _dispatch(_bitwise_xor_, (self, other))

    def bmm(self, mat2: Tensor) -> Any:
        return _dispatch(_bmm, (self, mat2))

    def ceil(self) -> Any:
        return _dispatch(_ceil, (self,))

    def ceil_(self) -> Any:
        return _dispatch(_ceil_, (self,))

    def chunk(self, chunks: int, dim: int = 0) -> Any:
        try:
            _bound = (self, chunks, wrap_dim(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_chunk, (self, chunks, dim), _error) from None
        return _dispatch(_chunk, _bound)

    def clamp(self, min: Tensor | float | None = None, max: Tensor | float | None = None) -> Any:
        return _dispatch(_clamp, (self, min, max))

    def clamp_(self, min: Tensor | float | None = None, max: Tensor | float | None = None) -> Any:
        return _dispatch(_clamp_, (self, min, max))

    def clamp_max(self, max: Tensor | float) -> Any:
        return _dispatch(_clamp_max, (self, max))

    def clamp_min(self, min: Tensor | float) -> Any:
        return _dispatch(_clamp_min, (self, min))

    def clone(self) -> Any:
        return _dispatch(_clone, (self,))

    def copy_(self, src: Tensor) -> Any:
        return _dispatch(_copy_, (self, src))

    def corrcoef(self) -> Any:
        return _dispatch(_corrcoef, (self,))

    def cos(self) -> Any:
        return _dispatch(_cos, (self,))

    def cos_(self) -> Any:
        return _dispatch(_cos_, (self,))

    def count_nonzero(self, dim: int | Sequence[int] | None = None) -> Any:
        try:
            _bound = (self, wrap_dims(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_count_nonzero, (self, dim), _error) from None
        return _dispatch(_count_nonzero, _bound)

    def cov(
        self,
        *,
        correction: int = 1,
        fweights: Tensor | None = None,
        aweights: Tensor | None = None,
    ) -> Any:
        return _dispatch(_cov, (self, correction, fweights, aweights))

    def cummax(self, dim: int) -> Any:
        try:
            _bound = (self, wrap_dim(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_cummax, (self, dim), _error) from None
        return _dispatch(_cummax, _bound)

    def cummin(self, dim: int) -> Any:
        try:
            _bound = (self, wrap_dim(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_cummin, (self, dim), _error) from None
        return _dispatch(_cummin, _bound)

    def cumprod(self, dim: int, *, dtype: DType | None = None) -> Any:
        try:
            _bound = (self, wrap_dim(dim, self.ndim), dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_cumprod, (self, dim, dtype), _error) from None
        return _dispatch(_cumprod, _bound)

    def cumprod_(self, dim: int, *, dtype: DType | None = None) -> Any:
        try:
            _bound = (self, wrap_dim(dim, self.ndim), dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_cumprod_, (self, dim, dtype), _error) from None
        return _dispatch(_cumprod_, _bound)

    def cumsum(self, dim: int, *, dtype: DType | None = None) -> Any:
        try:
            _bound = (self, wrap_dim(dim, self.ndim), dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_cumsum, (self, dim, dtype), _error) from None
        return _dispatch(_cumsum, _bound)

    def cumsum_(self, dim: int, *, dtype: DType | None = None) -> Any:
        try:
            _bound = (self, wrap_dim(dim, self.ndim), dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_cumsum_, (self, dim, dtype), _error) from None
        return _dispatch(_cumsum_, _bound)

    def diagonal(self, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
        try:
            _bound = (self, offset, wrap_dim(dim1, self.ndim), wrap_dim(dim2, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_diagonal, (self, offset, dim1, dim2), _error) from None
        return _dispatch(_diagonal, _bound)

    def diff(
        self,
        n: int = 1,
        dim: int = -1,
        prepend: Tensor | None = None,
        append: Tensor | None = None,
    ) -> Any:
        try:
            _bound = (self, n, wrap_dim(dim, self.ndim), prepend, append)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_diff, (self, n, dim, prepend, append), _error) from None
        return _dispatch(_diff, _bound)

    def dist(self, other: Tensor, p: float = 2) -> Any:
        return _dispatch(_dist, (self, other, p))

    def div(self, other: Tensor | float, *, rounding_mode: str | None = None) -> Any:
        return _dispatch(_div, (self, other, rounding_mode))

    def div_(self, other: Tensor | float, *, rounding_mode: str | None = None) -> Any:
        return _dispatch(_div_, (self, other, rounding_mode))

    def dot(self, other: Tensor) -> Any:
        return _dispatch(_dot, (self, other))

    def eq(self, other: Tensor | float) -> Any:
        return _dispatch(_eq, (self, other))

    def equal(self, other: Tensor) -> Any:
        return _dispatch(_equal, (self, other))

    def erf(self) -> Any:
        return _dispatch(_erf, (self,))

    def erf_(self) -> Any:
        return _dispatch(_erf_, (self,))

    def exp(self) -> Any:
        return _dispatch(_exp, (self,))

    def exp_(self) -> Any:
        return _dispatch(_exp_, (self,))

    def expand(self, *size: Any) -> Any:
        return _dispatch(_expand, (self, as_size(varargs(size))))

    def expand_as(self, other: Tensor) -> Any:
        return _dispatch(_expand_as, (self, other))

    def expm1(self) -> Any:
        return _dispatch(_expm1, (self,))

    def expm1_(self) -> Any:
        return _dispatch(_expm1_, (self,))

    def fill_(self, value: Tensor | float) -> Any:
        return _dispatch(_fill_, (self, value))

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Any:
        try:
            _bound = (self, wrap_dim(start_dim, self.ndim), wrap_dim(end_dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_flatten, (self, start_dim, end_dim), _error) from None
        return _dispatch(_flatten, _bound)

    def flip(self, dims: int | Sequence[int] | None) -> Any:
        try:
            _bound = (self, wrap_dims(dims, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_flip, (self, dims), _error) from None
        return _dispatch(_flip, _bound)

    def floor(self) -> Any:
        return _dispatch(_floor, (self,))

    def floor_(self) -> Any:
        return _dispatch(_floor_, (self,))

    def floor_divide(self, other: Tensor | float) -> Any:
        return _dispatch(_floor_divide, (self, other))

    def fmod(self, other: Tensor | float) -> Any:
        return _dispatch(_fmod, (self, other))

    def fmod_(self, other: Tensor | float) -> Any:
        return _dispatch(_fmod_, (self, other))

    def gather(self, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Any:
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index, sparse_grad)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_gather, (self, dim, index, sparse_grad), _error) from None
        return _dispatch(_gather, _bound)

    def ge(self, other: Tensor | float) -> Any:
        return _dispatch(_ge, (self, other))

    def gt(self, other: Tensor | float) -> Any:
        return _dispatch(_gt, (self, other))

    def hardshrink(self, lambd: float = 0.5) -> Any:
        return _dispatch(_hardshrink, (self, lambd))

    def histc(self, bins: int = 100, min: float = 0, max: float = 0) -> Any:
        return _dispatch(_histc, (self, bins, min, max))

    def histogram(
        self,
        bins: Any,
        *,
        range: Any = None,
        weight: Tensor | None = None,
        density: bool = False,
    ) -> Any:
        return _dispatch(_histogram, (self, bins, range, weight, density))

    def index_put(
        self,
        indices: Sequence[Tensor | None],
        values: Tensor,
        accumulate: bool = False,
    ) -> Any:
        return _dispatch(_index_put, (self, as_tensors(indices, "index_put"), values, accumulate))

    def index_put_(
        self,
        indices: Sequence[Tensor | None],
        values: Tensor,
        accumulate: bool = False,
    ) -> Any:
        return _dispatch(
            _index_put_, (self, as_tensors(indices, "index_put_"), values, accumulate)
        )

    def index_select(self, dim: int, index: Tensor) -> Any:
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_index_select, (self, dim, index), _error) from None
        return _dispatch(_index_select, _bound)

    def isclose(
        self,
        other: Tensor,
        rtol: float = 1e-05,
        atol: float = 1e-08,
        equal_nan: bool = False,
    ) -> Any:
        return _dispatch(_isclose, (self, other, rtol, atol, equal_nan))

    def isfinite(self) -> Any:
        return _dispatch(_isfinite, (self,))

    def isinf(self) -> Any:
        return _dispatch(_isinf, (self,))

    def isnan(self) -> Any:
        return _dispatch(_isnan, (self,))

    def kthvalue(self, k: int, dim: int = -1, keepdim: bool = False) -> Any:
        try:
            _bound = (self, k, wrap_dim(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_kthvalue, (self, k, dim, keepdim), _error) from None
        return _dispatch(_kthvalue, _bound)

    def le(self, other: Tensor | float) -> Any:
        return _dispatch(_le, (self, other))

    def lerp(self, end: Tensor, weight: Tensor | float) -> Any:
        return _dispatch(_lerp, (self, end, weight))

    def lerp_(self, end: Tensor, weight: Tensor | float) -> Any:
        return _dispatch(_lerp_, (self, end, weight))

    def log(self) -> Any:
        return _dispatch(_log, (self,))

    def log1p(self) -> Any:
        return _dispatch(_log1p, (self,))

    def log1p_(self) -> Any:
        return _dispatch(_log1p_, (self,))

    def log2(self) -> Any:
        return _dispatch(_log2, (self,))

    def log2_(self) -> Any:
        return _dispatch(_log2_, (self,))

    def log_(self) -> Any:
        return _dispatch(_log_, (self,))

    def log_softmax(self, dim: int, dtype: DType | None = None) -> Any:
        try:
            _bound = (self, wrap_dim(dim, self.ndim), dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_log_softmax, (self, dim, dtype), _error) from None
        return _dispatch(_log_softmax, _bound)

    def logcumsumexp(self, dim: int) -> Any:
        try:
            _bound = (self, wrap_dim(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_logcumsumexp, (self, dim), _error) from None
        return _dispatch(_logcumsumexp, _bound)

    def logical_and(self, other: Tensor | float) -> Any:
        return _dispatch(_logical_and, (self, other))

    def logical_not(self) -> Any:
        return _dispatch(_logical_not, (self,))

    def logical_or(self, other: Tensor | float) -> Any:
        return _dispatch(_logical_or, (self, other))

    def logical_xor(self, other: Tensor | float) -> Any:
        return _dispatch(_logical_xor, (self, other))

    def logsumexp(self, dim: int | Sequence[int] | None, keepdim: bool = False) -> Any:
        try:
            _bound = (self, wrap_dims(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_logsumexp, (self, dim, keepdim), _error) from None
        return _dispatch(_logsumexp, _bound)

    def lt(self, other: Tensor | float) -> Any:
        return _dispatch(_lt, (self, other))

    def masked_fill(self, mask: Tensor, value: Tensor | float) -> Any:
        return _dispatch(_masked_fill, (self, mask, value))

    def masked_fill_(self, mask: Tensor, value: Tensor | float) -> Any:
        return _dispatch(_masked_fill_, (self, mask, value))

    def masked_select(self, mask: Tensor) -> Any:
        return _dispatch(_masked_select, (self, mask))

    def matmul(self, other: Tensor) -> Any:
        return _dispatch(_matmul, (self, other))

    def max(self, dim: Any = None, keepdim: bool = False) -> Any:
        return _dispatch(_max, (self, dim, keepdim))

    def maximum(self, other: Tensor | float) -> Any:
        return _dispatch(_maximum, (self, other))

    def mean(
        self,
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        *,
        dtype: DType | None = None,
    ) -> Any:
        try:
            _bound = (self, wrap_dims(dim, self.ndim), keepdim, dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_mean, (self, dim, keepdim, dtype), _error) from None
        return _dispatch(_mean, _bound)

    def median(self, dim: int | None = None, keepdim: bool = False) -> Any:
        try:
            _bound = (self, wrap_dim_optional(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_median, (self, dim, keepdim), _error) from None
        return _dispatch(_median, _bound)

    def min(self, dim: Any = None, keepdim: bool = False) -> Any:
        return _dispatch(_min, (self, dim, keepdim))

    def minimum(self, other: Tensor | float) -> Any:
        return _dispatch(_minimum, (self, other))

    def mm(self, mat2: Tensor) -> Any:
        return _dispatch(_mm, (self, mat2))

    def mode(self, dim: int = -1, keepdim: bool = False) -> Any:
        try:
            _bound = (self, wrap_dim(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_mode, (self, dim, keepdim), _error) from None
        return _dispatch(_mode, _bound)

    def movedim(self, source: Any, destination: Any) -> Any:
        return _dispatch(_movedim, (self, source, destination))

    def msort(self) -> Any:
        return _dispatch(_msort, (self,))

    def mul(self, other: Tensor | float) -> Any:
        return _dispatch(_mul, (self, other))

    def mul_(self, other: Tensor | float) -> Any:
        return _dispatch(_mul_, (self, other))

    def mv(self, vec: Tensor) -> Any:
        return _dispatch(_mv, (self, vec))

    def nanmean(
        self,
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        *,
        dtype: DType | None = None,
    ) -> Any:
        try:
            _bound = (self, wrap_dims(dim, self.ndim), keepdim, dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_nanmean, (self, dim, keepdim, dtype), _error) from None
        return _dispatch(_nanmean, _bound)

    def nanmedian(self, dim: int | None = None, keepdim: bool = False) -> Any:
        try:
            _bound = (self, wrap_dim_optional(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_nanmedian, (self, dim, keepdim), _error) from None
        return _dispatch(_nanmedian, _bound)

    def nanquantile(
        self,
        q: Any,
        dim: Any = None,
        keepdim: bool = False,
        *,
        interpolation: str = "linear",
    ) -> Any:
        return _dispatch(_nanquantile, (self, q, dim, keepdim, interpolation))

    def nansum(
        self,
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        *,
        dtype: DType | None = None,
    ) -> Any:
        try:
            _bound = (self, wrap_dims(dim, self.ndim), keepdim, dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_nansum, (self, dim, keepdim, dtype), _error) from None
        return _dispatch(_nansum, _bound)

    def narrow(self, dim: int, start: int, length: int) -> Any:
        try:
            _bound = (self, wrap_dim(dim, self.ndim), start, length)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_narrow, (self, dim, start, length), _error) from None
        return _dispatch(_narrow, _bound)

    def ne(self, other: Tensor | float) -> Any:
        return _dispatch(_ne, (self, other))

    def neg(self) -> Any:
        return _dispatch(_neg, (self,))

    def neg_(self) -> Any:
        return _dispatch(_neg_, (self,))

    def nonzero(self, *, as_tuple: bool = False) -> Any:
        return _dispatch(_nonzero, (self, as_tuple))

    def norm(
        self,
        p: Any = "fro",
        dim: Any = None,
        keepdim: bool = False,
        dtype: DType | None = None,
    ) -> Any:
        return _dispatch(_norm, (self, p, dim, keepdim, dtype))

    def normal_(self, mean: float = 0.0, std: float = 1.0) -> Any:
        return _dispatch(_normal_, (self, mean, std))

    def outer(self, vec2: Tensor) -> Any:
        return _dispatch(_outer, (self, vec2))

    def permute(self, *dims: Any) -> Any:
        try:
            _bound = (self, wrap_permutation(varargs(dims), self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_permute, (self, dims), _error) from None
        return _dispatch(_permute, _bound)

    def pow(self, exponent: Tensor | float) -> Any:
        return _dispatch(_pow, (self, exponent))

    def pow_(self, exponent: Tensor | float) -> Any:
        return _dispatch(_pow_, (self, exponent))

    def prelu(self, weight: Tensor) -> Any:
        return _dispatch(_prelu, (self, weight))

    def prod(
        self,
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        *,
        dtype: DType | None = None,
    ) -> Any:
        try:
            _bound = (self, wrap_dims(dim, self.ndim), keepdim, dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_prod, (self, dim, keepdim, dtype), _error) from None
        return _dispatch(_prod, _bound)

    def put(self, index: Tensor, source: Tensor, accumulate: bool = False) -> Any:
        return _dispatch(_put, (self, index, source, accumulate))

    def put_(self, index: Tensor, source: Tensor, accumulate: bool = False) -> Any:
        return _dispatch(_put_, (self, index, source, accumulate))

    def quantile(
        self,
        q: Any,
        dim: Any = None,
        keepdim: bool = False,
        *,
        interpolation: str = "linear",
    ) -> Any:
        return _dispatch(_quantile, (self, q, dim, keepdim, interpolation))

    def reciprocal(self) -> Any:
        return _dispatch(_reciprocal, (self,))

    def reciprocal_(self) -> Any:
        return _dispatch(_reciprocal_, (self,))

    def relu(self) -> Any:
        return _dispatch(_relu, (self,))

    def relu_(self) -> Any:
        return _dispatch(_relu_, (self,))

    def remainder(self, other: Tensor | float) -> Any:
        return _dispatch(_remainder, (self, other))

    def remainder_(self, other: Tensor | float) -> Any:
        return _dispatch(_remainder_, (self, other))

    def renorm(self, p: float, dim: int, maxnorm: float) -> Any:
        try:
            _bound = (self, p, wrap_dim(dim, self.ndim), maxnorm)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_renorm, (self, p, dim, maxnorm), _error) from None
        return _dispatch(_renorm, _bound)

    def renorm_(self, p: float, dim: int, maxnorm: float) -> Any:
        try:
            _bound = (self, p, wrap_dim(dim, self.ndim), maxnorm)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_renorm_, (self, p, dim, maxnorm), _error) from None
        return _dispatch(_renorm_, _bound)

    def repeat(self, *repeats: Any) -> Any:
        return _dispatch(_repeat, (self, as_size(varargs(repeats))))

    def reshape(self, *shape: Any) -> Any:
        return _dispatch(_reshape, (self, as_size(varargs(shape))))

    def reshape_as(self, other: Tensor) -> Any:
        return _dispatch(_reshape_as, (self, other))

    def roll(self, shifts: int, dim: int) -> Any:
        try:
            _bound = (self, shifts, wrap_dim(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_roll, (self, shifts, dim), _error) from None
        return _dispatch(_roll, _bound)

    def round(self, *, decimals: int = 0) -> Any:
        return _dispatch(_round, (self, decimals))

    def round_(self, *, decimals: int = 0) -> Any:
        return _dispatch(_round_, (self, decimals))

    def rsqrt(self) -> Any:
        return _dispatch(_rsqrt, (self,))

    def rsqrt_(self) -> Any:
        return _dispatch(_rsqrt_, (self,))

    def select(self, dim: int, index: int) -> Any:
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_select, (self, dim, index), _error) from None
        return _dispatch(_select, _bound)

    def sigmoid(self) -> Any:
        return _dispatch(_sigmoid, (self,))

    def sigmoid_(self) -> Any:
        return _dispatch(_sigmoid_, (self,))

    def sign(self) -> Any:
        return _dispatch(_sign, (self,))

    def sign_(self) -> Any:
        return _dispatch(_sign_, (self,))

    def sin(self) -> Any:
        return _dispatch(_sin, (self,))

    def sin_(self) -> Any:
        return _dispatch(_sin_, (self,))

    def softmax(self, dim: int, dtype: DType | None = None) -> Any:
        try:
            _bound = (self, wrap_dim(dim, self.ndim), dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_softmax, (self, dim, dtype), _error) from None
        return _dispatch(_softmax, _bound)

    def sort(self, dim: int = -1, descending: bool = False, stable: Any = False) -> Any:
        try:
            _bound = (self, wrap_dim(dim, self.ndim), descending, stable)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_sort, (self, dim, descending, stable), _error) from None
        return _dispatch(_sort, _bound)

    def split(self, split_size: Any, dim: int = 0) -> Any:
        try:
            _bound = (self, split_size, wrap_dim(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_split, (self, split_size, dim), _error) from None
        return _dispatch(_split, _bound)

    def sqrt(self) -> Any:
        return _dispatch(_sqrt, (self,))

    def sqrt_(self) -> Any:
        return _dispatch(_sqrt_, (self,))

    def square(self) -> Any:
        return _dispatch(_square, (self,))

    def squeeze(self, dim: int | Sequence[int] | None = None) -> Any:
        try:
            _bound = (self, wrap_dims(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_squeeze, (self, dim), _error) from None
        return _dispatch(_squeeze, _bound)

    def std(
        self,
        dim: Any = None,
        unbiased: Any = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> Any:
        return _dispatch(_std, (self, dim, unbiased, keepdim, correction))

    def sub(self, other: Tensor | float, *, alpha: float = 1) -> Any:
        return _dispatch(_sub, (self, other, alpha))

    def sub_(self, other: Tensor | float, *, alpha: float = 1) -> Any:
        return _dispatch(_sub_, (self, other, alpha))

    def sum(
        self,
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        *,
        dtype: DType | None = None,
    ) -> Any:
        try:
            _bound = (self, wrap_dims(dim, self.ndim), keepdim, dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_sum, (self, dim, keepdim, dtype), _error) from None
        return _dispatch(_sum, _bound)

    def sum_to_size(self, *size: Any) -> Any:
        return _dispatch(_sum_to_size, (self, as_size(varargs(size))))

    def t(self) -> Any:
        return _dispatch(_t, (self,))

    def take(self, index: Tensor) -> Any:
        return _dispatch(_take, (self, index))

    def take_along_dim(self, indices: Tensor, dim: int | None = None) -> Any:
        return _dispatch(_take_along_dim, (self, indices, dim))

    def tan(self) -> Any:
        return _dispatch(_tan, (self,))

    def tan_(self) -> Any:
        return _dispatch(_tan_, (self,))

    def tanh(self) -> Any:
        return _dispatch(_tanh, (self,))

    def tanh_(self) -> Any:
        return _dispatch(_tanh_, (self,))

    def topk(self, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
        try:
            _bound = (self, k, wrap_dim(dim, self.ndim), largest, sorted)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_topk, (self, k, dim, largest, sorted), _error) from None
        return _dispatch(_topk, _bound)

    def trace(self) -> Any:
        return _dispatch(_trace, (self,))

    def transpose(self, dim0: int, dim1: int) -> Any:
        try:
            _bound = (self, wrap_dim(dim0, self.ndim), wrap_dim(dim1, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_transpose, (self, dim0, dim1), _error) from None
        return _dispatch(_transpose, _bound)

    def tril(self, diagonal: int = 0) -> Any:
        return _dispatch(_tril, (self, diagonal))

    def triu(self, diagonal: int = 0) -> Any:
        return _dispatch(_triu, (self, diagonal))

    def trunc(self) -> Any:
        return _dispatch(_trunc, (self,))

    def trunc_(self) -> Any:
        return _dispatch(_trunc_, (self,))

    def unbind(self, dim: int = 0) -> Any:
        try:
            _bound = (self, wrap_dim(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_unbind, (self, dim), _error) from None
        return _dispatch(_unbind, _bound)

    def unflatten(self, dim: int, sizes: int | Sequence[int]) -> Any:
        try:
            _bound = (self, wrap_dim(dim, self.ndim), as_size(sizes))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_unflatten, (self, dim, sizes), _error) from None
        return _dispatch(_unflatten, _bound)

    def uniform_(self, low: float = 0.0, high: float = 1.0) -> Any:
        return _dispatch(_uniform_, (self, low, high))

    def unique(
        self,
        sorted: bool = True,
        return_inverse: bool = False,
        return_counts: bool = False,
        dim: int | None = None,
    ) -> Any:
        try:
            _bound = (
                self,
                sorted,
                return_inverse,
                return_counts,
                wrap_dim_optional(dim, self.ndim),
            )
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(
                _unique,
                (
                    self,
                    sorted,
                    return_inverse,
                    return_counts,
                    dim,
                ),
                _error,
            ) from None
        return _dispatch(_unique, _bound)

    def unique_consecutive(
        self,
        return_inverse: bool = False,
        return_counts: bool = False,
        dim: int | None = None,
    ) -> Any:
        try:
            _bound = (self, return_inverse, return_counts, wrap_dim_optional(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(
                _unique_consecutive,
                (
                    self,
                    return_inverse,
                    return_counts,
                    dim,
                ),
                _error,
            ) from None
        return _dispatch(_unique_consecutive, _bound)

    def unsqueeze(self, dim: int) -> Any:
        try:
            _bound = (self, wrap_dim(dim, self.ndim + 1))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_unsqueeze, (self, dim), _error) from None
        return _dispatch(_unsqueeze, _bound)

    def var(
        self,
        dim: Any = None,
        unbiased: Any = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> Any:
        return _dispatch(_var, (self, dim, unbiased, keepdim, correction))

    def view(self, *size: Any) -> Any:
        return _dispatch(_view, (self, as_size(varargs(size))))

    def view_as(self, other: Tensor) -> Any:
        return _dispatch(_view_as, (self, other))

    def zero_(self) -> Any:
        return _dispatch(_zero_, (self,))

    absolute = abs
    absolute_ = abs_
    arctan2 = atan2
    arctan2_ = atan2_
    clip = clamp
    clip_ = clamp_
    divide = div
    divide_ = div_
    fix = trunc
    fix_ = trunc_
    ger = outer
    greater = gt
    greater_equal = ge
    less = lt
    less_equal = le
    moveaxis = movedim
    multiply = mul
    multiply_ = mul_
    negative = neg
    negative_ = neg_
    not_equal = ne
    subtract = sub
    subtract_ = sub_

    def swapaxes(self, axis0: int, axis1: int) -> Any:
        try:
            _bound = (self, wrap_dim(axis0, self.ndim), wrap_dim(axis1, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            raise refuse_bound(_transpose, (self, axis0, axis1), _error) from None
        return _dispatch(_transpose, _bound)
    swapdims = transpose
    true_divide = div
    true_divide_ = div_
    unsafe_chunk = chunk
    unsafe_split = split


for _name, _method in list(vars(TensorMethods).items()):
    if _name in TABLE:
        _method.__gw_op__ = _op(_name)

for _name, _entry in (
    ("swapaxes", _transpose),
):
    vars(TensorMethods)[_name].__gw_op__ = _entry
