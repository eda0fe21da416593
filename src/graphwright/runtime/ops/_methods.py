"""The op methods of Tensor.

Generated from the op table by `python -m graphwright.runtime.ops.generate`; do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graphwright.runtime._core import TensorBase
from graphwright.runtime.dispatch import dispatch as _dispatch
from graphwright.runtime.dispatch import not_bound
from graphwright.runtime.ops.argument_forms import (
    as_size,
    as_tensors,
    by_word,
    given_dim,
    refuse_none,
    refuse_surplus,
    same_as,
    spread,
    varargs,
    wrap_dim,
    wrap_dim_optional,
    wrap_dims,
    wrap_dims_exact,
    wrap_dims_given,
    wrap_dims_optional,
    wrap_lone_dim,
    wrap_permutation,
)
from graphwright.runtime.ops.deprecated_overloads import number_behind, number_first
from graphwright.runtime.ops.schema import REQUIRED
from graphwright.runtime.ops.table import TABLE
from graphwright.runtime.ops.table import op as _op
from graphwright.runtime.tensor.memory_format import in_format

if TYPE_CHECKING:
    from builtins import complex as Number

    from graphwright.runtime.tensor.dtypes import dtype as DType
    from graphwright.runtime.tensor.tensor import Tensor
_abs = _op("abs")
_abs_ = _op("abs_")
_acos = _op("acos")
_acos_ = _op("acos_")
_acosh = _op("acosh")
_acosh_ = _op("acosh_")
_add = _op("add")
_add_ = _op("add_")
_addbmm = _op("addbmm")
_addbmm_ = _op("addbmm_")
_addcdiv = _op("addcdiv")
_addcdiv_ = _op("addcdiv_")
_addcmul = _op("addcmul")
_addcmul_ = _op("addcmul_")
_addmm = _op("addmm")
_addmm_ = _op("addmm_")
_addmv = _op("addmv")
_addmv_ = _op("addmv_")
_addr = _op("addr")
_addr_ = _op("addr_")
_adjoint = _op("adjoint")
_all = _op("all")
_allclose = _op("allclose")
_amax = _op("amax")
_amin = _op("amin")
_aminmax = _op("aminmax")
_angle = _op("angle")
_any = _op("any")
_argmax = _op("argmax")
_argmin = _op("argmin")
_argsort = _op("argsort")
_argwhere = _op("argwhere")
_as_strided = _op("as_strided")
_as_strided_scatter = _op("as_strided_scatter")
_asin = _op("asin")
_asin_ = _op("asin_")
_asinh = _op("asinh")
_asinh_ = _op("asinh_")
_atan = _op("atan")
_atan2 = _op("atan2")
_atan2_ = _op("atan2_")
_atan_ = _op("atan_")
_atanh = _op("atanh")
_atanh_ = _op("atanh_")
_baddbmm = _op("baddbmm")
_baddbmm_ = _op("baddbmm_")
_bernoulli = _op("bernoulli")
_bernoulli_ = _op("bernoulli_")
_bincount = _op("bincount")
_bitwise_and = _op("bitwise_and")
_bitwise_and_ = _op("bitwise_and_")
_bitwise_left_shift = _op("bitwise_left_shift")
_bitwise_left_shift_ = _op("bitwise_left_shift_")
_bitwise_not = _op("bitwise_not")
_bitwise_not_ = _op("bitwise_not_")
_bitwise_or = _op("bitwise_or")
_bitwise_or_ = _op("bitwise_or_")
_bitwise_right_shift = _op("bitwise_right_shift")
_bitwise_right_shift_ = _op("bitwise_right_shift_")
_bitwise_xor = _op("bitwise_xor")
_bitwise_xor_ = _op("bitwise_xor_")
_bmm = _op("bmm")
_broadcast_to = _op("broadcast_to")
_cauchy_ = _op("cauchy_")
_ceil = _op("ceil")
_ceil_ = _op("ceil_")
_cholesky = _op("cholesky")
_cholesky_inverse = _op("cholesky_inverse")
_cholesky_solve = _op("cholesky_solve")
_chunk = _op("chunk")
_clamp = _op("clamp")
_clamp_ = _op("clamp_")
_clamp_max = _op("clamp_max")
_clamp_max_ = _op("clamp_max_")
_clamp_min = _op("clamp_min")
_clamp_min_ = _op("clamp_min_")
_clone = _op("clone")
_conj = _op("conj")
_conj_physical = _op("conj_physical")
_conj_physical_ = _op("conj_physical_")
_copy_ = _op("copy_")
_copysign = _op("copysign")
_copysign_ = _op("copysign_")
_corrcoef = _op("corrcoef")
_cos = _op("cos")
_cos_ = _op("cos_")
_cosh = _op("cosh")
_cosh_ = _op("cosh_")
_count_nonzero = _op("count_nonzero")
_cov = _op("cov")
_cross = _op("cross")
_cummax = _op("cummax")
_cummin = _op("cummin")
_cumprod = _op("cumprod")
_cumprod_ = _op("cumprod_")
_cumsum = _op("cumsum")
_cumsum_ = _op("cumsum_")
_deg2rad = _op("deg2rad")
_deg2rad_ = _op("deg2rad_")
_det = _op("det")
_diag = _op("diag")
_diag_embed = _op("diag_embed")
_diagflat = _op("diagflat")
_diagonal = _op("diagonal")
_diagonal_scatter = _op("diagonal_scatter")
_diff = _op("diff")
_digamma = _op("digamma")
_digamma_ = _op("digamma_")
_dist = _op("dist")
_div = _op("div")
_div_ = _op("div_")
_dot = _op("dot")
_dsplit = _op("dsplit")
_eq = _op("eq")
_eq_ = _op("eq_")
_equal = _op("equal")
_erf = _op("erf")
_erf_ = _op("erf_")
_erfc = _op("erfc")
_erfc_ = _op("erfc_")
_erfinv = _op("erfinv")
_erfinv_ = _op("erfinv_")
_exp = _op("exp")
_exp2 = _op("exp2")
_exp2_ = _op("exp2_")
_exp_ = _op("exp_")
_expand = _op("expand")
_expand_as = _op("expand_as")
_expm1 = _op("expm1")
_expm1_ = _op("expm1_")
_exponential_ = _op("exponential_")
_fill_ = _op("fill_")
_fill_diagonal_ = _op("fill_diagonal_")
_flatten = _op("flatten")
_flip = _op("flip")
_fliplr = _op("fliplr")
_flipud = _op("flipud")
_float_power = _op("float_power")
_float_power_ = _op("float_power_")
_floor = _op("floor")
_floor_ = _op("floor_")
_floor_divide = _op("floor_divide")
_floor_divide_ = _op("floor_divide_")
_fmax = _op("fmax")
_fmin = _op("fmin")
_fmod = _op("fmod")
_fmod_ = _op("fmod_")
_frac = _op("frac")
_frac_ = _op("frac_")
_frexp = _op("frexp")
_gather = _op("gather")
_gcd = _op("gcd")
_gcd_ = _op("gcd_")
_ge = _op("ge")
_ge_ = _op("ge_")
_geometric_ = _op("geometric_")
_geqrf = _op("geqrf")
_gt = _op("gt")
_gt_ = _op("gt_")
_hardshrink = _op("hardshrink")
_heaviside = _op("heaviside")
_heaviside_ = _op("heaviside_")
_histc = _op("histc")
_histogram = _op("histogram")
_hsplit = _op("hsplit")
_hypot = _op("hypot")
_hypot_ = _op("hypot_")
_i0 = _op("i0")
_i0_ = _op("i0_")
_igamma = _op("igamma")
_igamma_ = _op("igamma_")
_igammac = _op("igammac")
_igammac_ = _op("igammac_")
_index_add = _op("index_add")
_index_add_ = _op("index_add_")
_index_copy = _op("index_copy")
_index_copy_ = _op("index_copy_")
_index_fill = _op("index_fill")
_index_fill_ = _op("index_fill_")
_index_put = _op("index_put")
_index_put_ = _op("index_put_")
_index_reduce = _op("index_reduce")
_index_reduce_ = _op("index_reduce_")
_index_select = _op("index_select")
_inner = _op("inner")
_inverse = _op("inverse")
_isclose = _op("isclose")
_isfinite = _op("isfinite")
_isinf = _op("isinf")
_isnan = _op("isnan")
_isneginf = _op("isneginf")
_isposinf = _op("isposinf")
_isreal = _op("isreal")
_istft = _op("istft")
_kron = _op("kron")
_kthvalue = _op("kthvalue")
_lcm = _op("lcm")
_lcm_ = _op("lcm_")
_ldexp = _op("ldexp")
_ldexp_ = _op("ldexp_")
_le = _op("le")
_le_ = _op("le_")
_lerp = _op("lerp")
_lerp_ = _op("lerp_")
_lgamma = _op("lgamma")
_lgamma_ = _op("lgamma_")
_log = _op("log")
_log10 = _op("log10")
_log10_ = _op("log10_")
_log1p = _op("log1p")
_log1p_ = _op("log1p_")
_log2 = _op("log2")
_log2_ = _op("log2_")
_log_ = _op("log_")
_log_normal_ = _op("log_normal_")
_log_softmax = _op("log_softmax")
_logaddexp = _op("logaddexp")
_logaddexp2 = _op("logaddexp2")
_logcumsumexp = _op("logcumsumexp")
_logdet = _op("logdet")
_logical_and = _op("logical_and")
_logical_and_ = _op("logical_and_")
_logical_not = _op("logical_not")
_logical_not_ = _op("logical_not_")
_logical_or = _op("logical_or")
_logical_or_ = _op("logical_or_")
_logical_xor = _op("logical_xor")
_logical_xor_ = _op("logical_xor_")
_logit = _op("logit")
_logit_ = _op("logit_")
_logsumexp = _op("logsumexp")
_lt = _op("lt")
_lt_ = _op("lt_")
_lu = _op("lu")
_lu_solve = _op("lu_solve")
_masked_fill = _op("masked_fill")
_masked_fill_ = _op("masked_fill_")
_masked_scatter = _op("masked_scatter")
_masked_scatter_ = _op("masked_scatter_")
_masked_select = _op("masked_select")
_matmul = _op("matmul")
_matrix_exp = _op("matrix_exp")
_matrix_power = _op("matrix_power")
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
_multinomial = _op("multinomial")
_mv = _op("mv")
_mvlgamma = _op("mvlgamma")
_mvlgamma_ = _op("mvlgamma_")
_nan_to_num = _op("nan_to_num")
_nan_to_num_ = _op("nan_to_num_")
_nanmean = _op("nanmean")
_nanmedian = _op("nanmedian")
_nanquantile = _op("nanquantile")
_nansum = _op("nansum")
_narrow = _op("narrow")
_narrow_copy = _op("narrow_copy")
_ne = _op("ne")
_ne_ = _op("ne_")
_neg = _op("neg")
_neg_ = _op("neg_")
_nextafter = _op("nextafter")
_nextafter_ = _op("nextafter_")
_nonzero = _op("nonzero")
_nonzero_static = _op("nonzero_static")
_norm = _op("norm")
_normal_ = _op("normal_")
_orgqr = _op("orgqr")
_ormqr = _op("ormqr")
_outer = _op("outer")
_permute = _op("permute")
_pinverse = _op("pinverse")
_positive = _op("positive")
_pow = _op("pow")
_pow_ = _op("pow_")
_prelu = _op("prelu")
_prod = _op("prod")
_put = _op("put")
_put_ = _op("put_")
_qr = _op("qr")
_quantile = _op("quantile")
_rad2deg = _op("rad2deg")
_rad2deg_ = _op("rad2deg_")
_random_ = _op("random_")
_ravel = _op("ravel")
_reciprocal = _op("reciprocal")
_reciprocal_ = _op("reciprocal_")
_relu = _op("relu")
_relu_ = _op("relu_")
_remainder = _op("remainder")
_remainder_ = _op("remainder_")
_renorm = _op("renorm")
_renorm_ = _op("renorm_")
_repeat = _op("repeat")
_repeat_interleave = _op("repeat_interleave")
_reshape = _op("reshape")
_reshape_as = _op("reshape_as")
_resolve_conj = _op("resolve_conj")
_resolve_neg = _op("resolve_neg")
_roll = _op("roll")
_rot90 = _op("rot90")
_round = _op("round")
_round_ = _op("round_")
_rsqrt = _op("rsqrt")
_rsqrt_ = _op("rsqrt_")
_scatter = _op("scatter")
_scatter_ = _op("scatter_")
_scatter_add = _op("scatter_add")
_scatter_add_ = _op("scatter_add_")
_scatter_reduce = _op("scatter_reduce")
_scatter_reduce_ = _op("scatter_reduce_")
_select = _op("select")
_select_scatter = _op("select_scatter")
_sgn = _op("sgn")
_sgn_ = _op("sgn_")
_sigmoid = _op("sigmoid")
_sigmoid_ = _op("sigmoid_")
_sign = _op("sign")
_sign_ = _op("sign_")
_signbit = _op("signbit")
_sin = _op("sin")
_sin_ = _op("sin_")
_sinc = _op("sinc")
_sinc_ = _op("sinc_")
_sinh = _op("sinh")
_sinh_ = _op("sinh_")
_slice_scatter = _op("slice_scatter")
_slogdet = _op("slogdet")
_softmax = _op("softmax")
_sort = _op("sort")
_split = _op("split")
_split_with_sizes = _op("split_with_sizes")
_sqrt = _op("sqrt")
_sqrt_ = _op("sqrt_")
_square = _op("square")
_square_ = _op("square_")
_squeeze = _op("squeeze")
_std = _op("std")
_stft = _op("stft")
_sub = _op("sub")
_sub_ = _op("sub_")
_sum = _op("sum")
_sum_to_size = _op("sum_to_size")
_svd = _op("svd")
_t = _op("t")
_take = _op("take")
_take_along_dim = _op("take_along_dim")
_tan = _op("tan")
_tan_ = _op("tan_")
_tanh = _op("tanh")
_tanh_ = _op("tanh_")
_tensor_split = _op("tensor_split")
_tile = _op("tile")
_topk = _op("topk")
_trace = _op("trace")
_transpose = _op("transpose")
_triangular_solve = _op("triangular_solve")
_tril = _op("tril")
_tril_ = _op("tril_")
_triu = _op("triu")
_triu_ = _op("triu_")
_trunc = _op("trunc")
_trunc_ = _op("trunc_")
_unbind = _op("unbind")
_unflatten = _op("unflatten")
_unfold = _op("unfold")
_uniform_ = _op("uniform_")
_unique = _op("unique")
_unique_consecutive = _op("unique_consecutive")
_unsafe_split = _op("unsafe_split")
_unsqueeze = _op("unsqueeze")
_var = _op("var")
_vdot = _op("vdot")
_view = _op("view")
_view_as = _op("view_as")
_vsplit = _op("vsplit")
_xlogy = _op("xlogy")
_xlogy_ = _op("xlogy_")
_zero_ = _op("zero_")


class TensorMethods(TensorBase):
    """Mixin of Tensor."""

    __slots__ = ()

    def abs(self) -> Any:
        """Absolute value of each element; of complex numbers `sqrt(re^2 + im^2)`.

        The gradient at 0 is 0.

        Args:
            input: a tensor of any shape.

        Returns: a tensor of the dtype of `input`; of complex numbers that of their parts.

        Raises:
            NotImplementedError: `input` is of bool.

        Example:
            >>> gw.abs(gw.tensor([-1.0, 2.0]))
            tensor([1., 2.])
            >>> gw.abs(gw.tensor([3 + 4j]))
            tensor([5.])
        """
        return _dispatch(_abs, (self,))

    def abs_(self) -> Any:
        """In place: writes what `abs` gives into the tensor, and returns it."""
        return _dispatch(_abs_, (self,))

    def acos(self) -> Any:
        """Inverse cosine in radians, from 0 to pi; nan for real numbers beyond -1 and 1.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.acos(gw.tensor([1.0, -1.0]))
            tensor([0.0000, 3.1416])
        """
        return _dispatch(_acos, (self,))

    def acos_(self) -> Any:
        """In place: writes what `acos` gives into the tensor, and returns it."""
        return _dispatch(_acos_, (self,))

    def acosh(self) -> Any:
        """Inverse hyperbolic cosine, `y = log(x + sqrt(x^2 - 1))`; nan for real numbers below 1.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.acosh(gw.tensor([1.0, 2.0]))
            tensor([0.0000, 1.3170])
        """
        return _dispatch(_acosh, (self,))

    def acosh_(self) -> Any:
        """In place: writes what `acosh` gives into the tensor, and returns it."""
        return _dispatch(_acosh_, (self,))

    def add(self, other: Tensor | Number, *older: Any, alpha: Number = 1) -> Any:
        """Sum, `input + alpha * other`, elementwise and broadcast; the operator `+`.

        Args:
            input, other: tensors or numbers that broadcast to one shape.
            alpha: the number that `other` is multiplied by.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            RuntimeError: the shapes do not broadcast, or `alpha` is a float and the result of
                integers.

        Example:
            >>> gw.add(gw.tensor([1, 2]), gw.tensor([3, 4]), alpha=10)
            tensor([31, 42])
        """
        if older:
            return number_first(_add, (self, other, *older), method=True)
        return _dispatch(_add, (self, other, alpha))

    def add_(self, other: Tensor | Number, *older: Any, alpha: Number = 1) -> Any:
        """In place: writes what `add` gives into the tensor, and returns it."""
        if older:
            return number_first(_add_, (self, other, *older), method=True)
        return _dispatch(_add_, (self, other, alpha))

    def addbmm(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *older: Any,
        beta: Number = 1,
        alpha: Number = 1,
    ) -> Any:
        """Summed products and a term: `beta * input + alpha * sum(bmm(batch1, batch2), 0)`.

        Args:
            input: the term, broadcast to `(n, m)`; not read if `beta` is 0.
            batch1: `(b, n, k)`, of the dtype of `input`.
            batch2: `(b, k, m)`, of the dtype of `input`.
            beta: factor of the term; cut to an int for integers.
            alpha: factor of the sum; cut to an int for integers.

        Returns: a tensor of shape `(n, m)`.

        Raises:
            RuntimeError: shapes or dtypes do not match.

        Example:
            >>> gw.addbmm(gw.zeros(1, 1), gw.ones(5, 2, 3), gw.ones(5, 3, 1))
            tensor([[15.],
                    [15.]])
        """
        if older:
            return number_first(_addbmm, (self, batch1, batch2, *older), method=True)
        return _dispatch(_addbmm, (self, batch1, batch2, beta, alpha))

    def addbmm_(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *older: Any,
        beta: Number = 1,
        alpha: Number = 1,
    ) -> Any:
        """In place: writes what `addbmm` gives into the tensor, and returns it."""
        if older:
            return number_first(_addbmm_, (self, batch1, batch2, *older), method=True)
        return _dispatch(_addbmm_, (self, batch1, batch2, beta, alpha))

    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *older: Any, value: Number = 1) -> Any:
        """Sum with a quotient, `input + value * tensor1 / tensor2`, elementwise and broadcast.

        Args:
            input: the tensor that is added to.
            tensor1, tensor2: tensors that broadcast with `input`.
            value: the number that the quotient is multiplied by.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            RuntimeError: `tensor1` and `tensor2` are of integers, or the shapes do not broadcast.

        Example:
            >>> gw.addcdiv(gw.tensor([1.0]), gw.tensor([2.0]), gw.tensor([4.0]), value=0.5)
            tensor([1.2500])
        """
        if older:
            return number_first(_addcdiv, (self, tensor1, tensor2, *older), method=True)
        return _dispatch(_addcdiv, (self, tensor1, tensor2, value))

    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *older: Any, value: Number = 1) -> Any:
        """In place: writes what `addcdiv` gives into the tensor, and returns it."""
        if older:
            return number_first(_addcdiv_, (self, tensor1, tensor2, *older), method=True)
        return _dispatch(_addcdiv_, (self, tensor1, tensor2, value))

    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *older: Any, value: Number = 1) -> Any:
        """Sum with a product, `input + value * tensor1 * tensor2`, elementwise and broadcast.

        Args:
            input: the tensor that is added to.
            tensor1, tensor2: tensors that broadcast with `input`.
            value: the number that the product is multiplied by.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: all tensors are of bool.
            RuntimeError: the shapes do not broadcast.

        Example:
            >>> gw.addcmul(gw.tensor([1.0]), gw.tensor([2.0]), gw.tensor([4.0]), value=0.5)
            tensor([5.])
        """
        if older:
            return number_first(_addcmul, (self, tensor1, tensor2, *older), method=True)
        return _dispatch(_addcmul, (self, tensor1, tensor2, value))

    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *older: Any, value: Number = 1) -> Any:
        """In place: writes what `addcmul` gives into the tensor, and returns it."""
        if older:
            return number_first(_addcmul_, (self, tensor1, tensor2, *older), method=True)
        return _dispatch(_addcmul_, (self, tensor1, tensor2, value))

    def addmm(
        self,
        mat1: Tensor,
        mat2: Tensor,
        *older: Any,
        beta: Number = 1,
        alpha: Number = 1,
    ) -> Any:
        """Product of matrices with a term added: `beta * input + alpha * (mat1 @ mat2)`.

        Args:
            input: the term, broadcast to `(n, m)`; not read if `beta` is 0.
            mat1: `(n, k)`, of the dtype of `input`.
            mat2: `(k, m)`, of the dtype of `input`.
            beta: factor of the term; cut to an int for integers.
            alpha: factor of the product; cut to an int for integers.

        Returns: a tensor of shape `(n, m)`.

        Raises:
            RuntimeError: shapes or dtypes do not match.

        Example:
            >>> gw.addmm(gw.ones(2), gw.eye(2), gw.eye(2), alpha=3)
            tensor([[4., 1.],
                    [1., 4.]])
        """
        if older:
            return number_first(_addmm, (self, mat1, mat2, *older), method=True)
        return _dispatch(_addmm, (self, mat1, mat2, beta, alpha))

    def addmm_(
        self,
        mat1: Tensor,
        mat2: Tensor,
        *older: Any,
        beta: Number = 1,
        alpha: Number = 1,
    ) -> Any:
        """In place: writes what `addmm` gives into the tensor, and returns it."""
        if older:
            return number_first(_addmm_, (self, mat1, mat2, *older), method=True)
        return _dispatch(_addmm_, (self, mat1, mat2, beta, alpha))

    def addmv(
        self,
        mat: Tensor,
        vec: Tensor,
        *older: Any,
        beta: Number = 1,
        alpha: Number = 1,
    ) -> Any:
        """Matrix times vector with a term added: `beta * input + alpha * (mat @ vec)`.

        Args:
            input: the term, broadcast to `(n,)`; not read if `beta` is 0.
            mat: `(n, k)`, of the dtype of `input`.
            vec: `(k,)`, of the dtype of `input`.
            beta: factor of the term; cut to an int for integers.
            alpha: factor of the product; cut to an int for integers.

        Returns: a tensor of shape `(n,)`.

        Raises:
            RuntimeError: shapes or dtypes do not match.

        Example:
            >>> gw.addmv(gw.ones(2), gw.eye(2), gw.ones(2))
            tensor([2., 2.])
        """
        if older:
            return number_first(_addmv, (self, mat, vec, *older), method=True)
        return _dispatch(_addmv, (self, mat, vec, beta, alpha))

    def addmv_(
        self,
        mat: Tensor,
        vec: Tensor,
        *older: Any,
        beta: Number = 1,
        alpha: Number = 1,
    ) -> Any:
        """In place: writes what `addmv` gives into the tensor, and returns it."""
        if older:
            return number_first(_addmv_, (self, mat, vec, *older), method=True)
        return _dispatch(_addmv_, (self, mat, vec, beta, alpha))

    def addr(
        self,
        vec1: Tensor,
        vec2: Tensor,
        *older: Any,
        beta: Number = 1,
        alpha: Number = 1,
    ) -> Any:
        """Outer product with a term added: `beta * input + alpha * outer(vec1, vec2)`.

        Args:
            input: the term, broadcast to `(n, m)`; not read if `beta` is 0. Dtypes are promoted.
            vec1: `(n,)`.
            vec2: `(m,)`.
            beta: factor of the term; an int for integers.
            alpha: factor of the product; an int for integers.

        Returns: a tensor of shape `(n, m)`.

        Raises:
            RuntimeError: shapes do not match, or a factor is float for integers.

        Example:
            >>> gw.addr(gw.zeros(2, 2), gw.tensor([1.0, 2.0]), gw.tensor([3.0, 4.0]))
            tensor([[3., 4.],
                    [6., 8.]])
        """
        if older:
            return number_first(_addr, (self, vec1, vec2, *older), method=True)
        return _dispatch(_addr, (self, vec1, vec2, beta, alpha))

    def addr_(
        self,
        vec1: Tensor,
        vec2: Tensor,
        *older: Any,
        beta: Number = 1,
        alpha: Number = 1,
    ) -> Any:
        """In place: writes what `addr` gives into the tensor, and returns it."""
        if older:
            return number_first(_addr_, (self, vec1, vec2, *older), method=True)
        return _dispatch(_addr_, (self, vec1, vec2, beta, alpha))

    def adjoint(self) -> Any:
        """Conjugate transpose of matrices: the last two dims swapped, elements conjugated.

        Args:
            input: a tensor of no or at least two dims.

        Returns: a view of a real `input`, else a new tensor.

        Raises:
            RuntimeError: `input` has one dim.

        Example:
            >>> gw.adjoint(gw.tensor([[1 + 2j, 3 + 1j]]))
            tensor([[1.-2.j],
                    [3.-1.j]])
        """
        return _dispatch(_adjoint, (self,))

    def all(
        self,
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
    ) -> Any:
        """Whether all elements are not zero, of all or along some dims. NaN is not zero.

        Args:
            input: a tensor of any shape and dtype.
            dim: the dim or dims to look along; all if None, none if empty.
            keepdim: keep each of these dims with size 1.

        Returns: a bool tensor (uint8 for uint8) of the shape of `input` without `dim`; True where
            there are no elements.

        Raises:
            IndexError: `input` has no such dim.

        Example:
            >>> gw.all(gw.tensor([[1, 1], [0, 3]]), 1)
            tensor([ True, False])
        """
        if surplus is not ...:
            refuse_surplus("all")
        if axis is not ...:
            dim = same_as("all", "dim", dim, None, "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("all", "keepdim", keepdim, False, "keepdims", keepdims)
        try:
            _bound = (self, wrap_dims_exact(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_all, (self, dim, keepdim), _error)
        return _dispatch(_all, _bound)

    def allclose(
        self,
        other: Tensor,
        rtol: float = 1e-05,
        atol: float = 1e-08,
        equal_nan: bool = False,
    ) -> Any:
        """Whether all elements of two tensors are close: see `isclose`.

        Args:
            input, other: tensors of one dtype that broadcast to one shape.
            rtol: the tolerance relative to `other`, at least 0.
            atol: the absolute tolerance, at least 0.
            equal_nan: whether two nan are close.

        Returns: a Python bool.

        Raises:
            RuntimeError: the dtypes differ, the shapes do not broadcast, a tolerance is negative.

        Example:
            >>> gw.allclose(gw.tensor([1.0, 2.0]), gw.tensor([1.000001, 2.0]))
            True
        """
        return _dispatch(_allclose, (self, other, rtol, atol, equal_nan))

    def amax(
        self,
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
    ) -> Any:
        """Greatest of the elements, of all or along some dims; NaN if one is NaN.

        Elements that share the maximum share its gradient evenly.

        Args:
            input: a real or bool tensor of any shape.
            dim: the dim or dims to compare along; all if None or empty.
            keepdim: keep each of these dims with size 1.

        Returns: a tensor of the dtype of `input`, of its shape without `dim`.

        Raises:
            NotImplementedError: `input` is complex.
            IndexError: `input` has no such dim, or a dim is empty.
            RuntimeError: `input` has no elements and no dim is given.

        Example:
            >>> gw.amax(gw.tensor([[1, 5], [7, 2]]), 1)
            tensor([5, 7])
        """
        if surplus is not ...:
            refuse_surplus("amax")
        if axis is not ...:
            dim = same_as("amax", "dim", dim, None, "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("amax", "keepdim", keepdim, False, "keepdims", keepdims)
        try:
            _bound = (self, wrap_dims_optional(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_amax, (self, dim, keepdim), _error)
        return _dispatch(_amax, _bound)

    def amin(
        self,
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
    ) -> Any:
        """Least of the elements, of all or along some dims; NaN if one is NaN.

        Elements that share the minimum share its gradient evenly.

        Args:
            input: a real or bool tensor of any shape.
            dim: the dim or dims to compare along; all if None or empty.
            keepdim: keep each of these dims with size 1.

        Returns: a tensor of the dtype of `input`, of its shape without `dim`.

        Raises:
            NotImplementedError: `input` is complex.
            IndexError: `input` has no such dim, or a dim is empty.
            RuntimeError: `input` has no elements and no dim is given.

        Example:
            >>> gw.amin(gw.tensor([[1, 5], [7, 2]]), 1)
            tensor([1, 2])
        """
        if surplus is not ...:
            refuse_surplus("amin")
        if axis is not ...:
            dim = same_as("amin", "dim", dim, None, "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("amin", "keepdim", keepdim, False, "keepdims", keepdims)
        try:
            _bound = (self, wrap_dims_optional(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_amin, (self, dim, keepdim), _error)
        return _dispatch(_amin, _bound)

    def aminmax(
        self,
        *,
        dim: int | None = None,
        keepdim: bool = False,
        axis: Any = ...,
        keepdims: Any = ...,
    ) -> Any:
        """Least and greatest of the elements, of all or along one dim; NaN if one is NaN.

        Args:
            input: a real or bool tensor of any shape.
            dim: the dim to compare along; all if None.
            keepdim: keep that dim with size 1.

        Returns: the named tuple `(min, max)` of tensors of the dtype of `input`.

        Raises:
            NotImplementedError: `input` is complex.
            IndexError: `input` has no such dim, or that dim is empty.
            RuntimeError: `input` has no elements and no dim is given.

        Example:
            >>> gw.aminmax(gw.tensor([[1, 5], [7, 2]]), dim=1)
            graphwright.return_types.aminmax(
            min=tensor([1, 2]),
            max=tensor([5, 7]))
        """
        if axis is not ...:
            dim = same_as("aminmax", "dim", dim, None, "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("aminmax", "keepdim", keepdim, False, "keepdims", keepdims)
        try:
            _bound = (self, wrap_dim_optional(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_aminmax, (self, dim, keepdim), _error)
        return _dispatch(_aminmax, _bound)

    def angle(self) -> Any:
        """Angle of each element in the complex plane, in radians from -pi to pi.

        It is 0 for real numbers that are not negative, pi for negative ones, nan for nan.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Returns: a tensor of the dtype of `input`; of complex numbers that of their parts.

        Example:
            >>> gw.angle(gw.tensor([1j, -1 + 0j]))
            tensor([1.5708, 3.1416])
        """
        return _dispatch(_angle, (self,))

    def any(
        self,
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
    ) -> Any:
        """Whether any element is not zero, of all or along some dims. NaN is not zero.

        Args:
            input: a tensor of any shape and dtype.
            dim: the dim or dims to look along; all if None, none if empty.
            keepdim: keep each of these dims with size 1.

        Returns: a bool tensor (uint8 for uint8) of the shape of `input` without `dim`; False where
            there are no elements.

        Raises:
            IndexError: `input` has no such dim.

        Example:
            >>> gw.any(gw.tensor([[0, 0], [0, 3]]), 1)
            tensor([False,  True])
        """
        if surplus is not ...:
            refuse_surplus("any")
        if axis is not ...:
            dim = same_as("any", "dim", dim, None, "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("any", "keepdim", keepdim, False, "keepdims", keepdims)
        try:
            _bound = (self, wrap_dims_exact(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_any, (self, dim, keepdim), _error)
        return _dispatch(_any, _bound)

    def argmax(
        self,
        dim: int | None = None,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
    ) -> Any:
        """Position of the greatest element, of all or along one dim: the first of several.

        NaN counts as the greatest.

        Args:
            input: a real tensor of any shape.
            dim: the dim to search; None searches all elements in row-major order.
            keepdim: keep that dim with size 1.

        Returns: an int64 tensor of the shape of `input` without `dim`.

        Raises:
            RuntimeError: `input` is bool or complex.
            IndexError: `input` has no such dim, or there are no elements to search.

        Example:
            >>> gw.argmax(gw.tensor([[1, 5], [7, 2]]), 1)
            tensor([1, 0])
        """
        if surplus is not ...:
            refuse_surplus("argmax")
        if axis is not ...:
            dim = same_as("argmax", "dim", dim, None, "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("argmax", "keepdim", keepdim, False, "keepdims", keepdims)
        try:
            _bound = (self, wrap_dim_optional(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_argmax, (self, dim, keepdim), _error)
        return _dispatch(_argmax, _bound)

    def argmin(
        self,
        dim: int | None = None,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
    ) -> Any:
        """Position of the least element, of all or along one dim: the first of several.

        NaN counts as the least.

        Args:
            input: a real tensor of any shape.
            dim: the dim to search; None searches all elements in row-major order.
            keepdim: keep that dim with size 1.

        Returns: an int64 tensor of the shape of `input` without `dim`.

        Raises:
            RuntimeError: `input` is bool or complex.
            IndexError: `input` has no such dim, or there are no elements to search.

        Example:
            >>> gw.argmin(gw.tensor([[1, 5], [7, 2]]), 1)
            tensor([0, 1])
        """
        if surplus is not ...:
            refuse_surplus("argmin")
        if axis is not ...:
            dim = same_as("argmin", "dim", dim, None, "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("argmin", "keepdim", keepdim, False, "keepdims", keepdims)
        try:
            _bound = (self, wrap_dim_optional(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_argmin, (self, dim, keepdim), _error)
        return _dispatch(_argmin, _bound)

    def argsort(
        self,
        dim: int = -1,
        descending: bool = False,
        stable: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
    ) -> Any:
        """Positions that sort the elements along one dim; NaN counts as the greatest.

        Args:
            input: a real or bool tensor of any shape.
            dim: the dim to sort along.
            descending: from the greatest to the least.
            stable: keep the order of equal elements, which is kept in any case.

        Returns: an int64 tensor of the shape of `input`.

        Raises:
            IndexError: `input` has no such dim.
            NotImplementedError: `input` is complex.

        Example:
            >>> gw.argsort(gw.tensor([3.0, 1.0, 2.0]))
            tensor([1, 2, 0])
        """
        if surplus is not ...:
            refuse_surplus("argsort")
        if axis is not ...:
            dim = same_as("argsort", "dim", dim, -1, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), descending, stable)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_argsort, (self, dim, descending, stable), _error)
        return _dispatch(_argsort, _bound)

    def argwhere(self) -> Any:
        """Positions of the elements that are not zero, in row-major order.

        Args:
            input: a tensor of any shape and dtype.

        Returns: an int64 tensor with a row for each such element and a column for each dim of
            `input`: its shape depends on values.

        Example:
            >>> gw.argwhere(gw.tensor([[0, 1], [2, 0]]))
            tensor([[0, 1],
                    [1, 0]])
        """
        return _dispatch(_argwhere, (self,))

    def as_strided(
        self,
        size: Sequence[int],
        stride: Sequence[int],
        storage_offset: int | None = None,
    ) -> Any:
        """View of a tensor's storage with given sizes, strides and offset.

        Elements may overlap; a gradient of the view is added up where they do.

        Args:
            input: the tensor whose storage is viewed.
            size: the sizes of the view.
            stride: its strides, counted in elements.
            storage_offset: the position of its first element in the storage; that of `input` if
                None.

        Returns: a view of the storage of `input`.

        Raises:
            RuntimeError: `size` and `stride` differ in length, the offset is negative, or the view
                reaches out of the storage.

        Example:
            >>> gw.as_strided(gw.arange(6), (2, 3), (1, 2))
            tensor([[0, 2, 4],
                    [1, 3, 5]])
        """
        try:
            _bound = (self, as_size(size), as_size(stride), storage_offset)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_as_strided, (self, size, stride, storage_offset), _error)
        return _dispatch(_as_strided, _bound)

    def as_strided_scatter(
        self,
        src: Tensor,
        size: Sequence[int],
        stride: Sequence[int],
        storage_offset: int | None = None,
    ) -> Any:
        """Copy in which the view `as_strided` holds other values.

        Args:
            input: a tensor of any shape.
            src: the values, of shape `size`.
            size: the sizes of the view.
            stride: its strides, counted in elements.
            storage_offset: the position of its first element in the storage; that of `input` if
                None.

        Returns: a new tensor of the shape and dtype of `input`.

        Raises:
            RuntimeError: the shape of `src` is not `size`, or the view reaches out of the storage.

        Example:
            >>> gw.as_strided_scatter(gw.zeros(4), gw.ones(2), (2,), (2,))
            tensor([1., 0., 1., 0.])
        """
        try:
            _bound = (self, src, as_size(size), as_size(stride), storage_offset)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(
                _as_strided_scatter,
                (
                    self,
                    src,
                    size,
                    stride,
                    storage_offset,
                ),
                _error,
            )
        return _dispatch(_as_strided_scatter, _bound)

    def asin(self) -> Any:
        """Inverse sine in radians, from -pi/2 to pi/2; nan for real numbers beyond -1 and 1.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.asin(gw.tensor([0.0, 1.0]))
            tensor([0.0000, 1.5708])
        """
        return _dispatch(_asin, (self,))

    def asin_(self) -> Any:
        """In place: writes what `asin` gives into the tensor, and returns it."""
        return _dispatch(_asin_, (self,))

    def asinh(self) -> Any:
        """Inverse hyperbolic sine, `y = log(x + sqrt(x^2 + 1))`.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.asinh(gw.tensor([0.0, 1.0]))
            tensor([0.0000, 0.8814])
        """
        return _dispatch(_asinh, (self,))

    def asinh_(self) -> Any:
        """In place: writes what `asinh` gives into the tensor, and returns it."""
        return _dispatch(_asinh_, (self,))

    def atan(self) -> Any:
        """Inverse tangent in radians, from -pi/2 to pi/2.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.atan(gw.tensor([0.0, 1.0]))
            tensor([0.0000, 0.7854])
        """
        return _dispatch(_atan, (self,))

    def atan2(self, other: Tensor) -> Any:
        """Angle of the point (`other`, `input`) in radians, from -pi to pi, broadcast.

        Args:
            input, other: tensors that broadcast to one shape.

        Returns: a tensor of the broadcast shape, in the promoted dtype;
        integers and bool give the default dtype.

        Raises:
            NotImplementedError: the promoted dtype is complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: an operand is a number.

        Example:
            >>> gw.atan2(gw.tensor([1.0, 1.0]), gw.tensor([1.0, -1.0]))
            tensor([0.7854, 2.3562])
        """
        return _dispatch(_atan2, (self, other))

    def atan2_(self, other: Tensor) -> Any:
        """In place: writes what `atan2` gives into the tensor, and returns it."""
        return _dispatch(_atan2_, (self, other))

    def atan_(self) -> Any:
        """In place: writes what `atan` gives into the tensor, and returns it."""
        return _dispatch(_atan_, (self,))

    def atanh(self) -> Any:
        """Inverse hyperbolic tangent, `y = log((1 + x) / (1 - x)) / 2`; nan for real `|x| > 1`.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.atanh(gw.tensor([0.0, 0.5]))
            tensor([0.0000, 0.5493])
        """
        return _dispatch(_atanh, (self,))

    def atanh_(self) -> Any:
        """In place: writes what `atanh` gives into the tensor, and returns it."""
        return _dispatch(_atanh_, (self,))

    def baddbmm(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *older: Any,
        beta: Number = 1,
        alpha: Number = 1,
    ) -> Any:
        """Products of a batch with a term added: `beta * input + alpha * bmm(batch1, batch2)`.

        Args:
            input: the term, broadcast to `(b, n, m)`; not read if `beta` is 0.
            batch1: `(b, n, k)`, of the dtype of `input`.
            batch2: `(b, k, m)`, of the dtype of `input`.
            beta: factor of the term; cut to an int for integers.
            alpha: factor of the products; cut to an int for integers.

        Returns: a tensor of shape `(b, n, m)`.

        Raises:
            RuntimeError: shapes or dtypes do not match.

        Example:
            >>> gw.baddbmm(gw.zeros(1), gw.ones(5, 2, 3), gw.ones(5, 3, 4)).shape
            graphwright.Size([5, 2, 4])
        """
        if older:
            return number_first(_baddbmm, (self, batch1, batch2, *older), method=True)
        return _dispatch(_baddbmm, (self, batch1, batch2, beta, alpha))

    def baddbmm_(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *older: Any,
        beta: Number = 1,
        alpha: Number = 1,
    ) -> Any:
        """In place: writes what `baddbmm` gives into the tensor, and returns it."""
        if older:
            return number_first(_baddbmm_, (self, batch1, batch2, *older), method=True)
        return _dispatch(_baddbmm_, (self, batch1, batch2, beta, alpha))

    def bernoulli(self, p: float | None = None, *, generator: Any = None) -> Any:
        """Random 0 or 1 of the Bernoulli distribution, 1 with the probability that is given.

        Args:
            input: a floating-point tensor of probabilities between 0 and 1.
            p: one probability in place of the elements of `input`; those if None.
            generator: the generator that draws; the default one if None.

        Raises:
            NotImplementedError: `input` is not a floating-point tensor.
            RuntimeError: a probability is not between 0 and 1.

        Example:
            >>> gw.bernoulli(gw.tensor([0.0, 1.0]))
            tensor([0., 1.])
        """
        return _dispatch(_bernoulli, (self, p, generator))

    def bernoulli_(self, p: Any = 0.5, *, generator: Any = None) -> Any:
        """Fill with random 0 or 1, 1 with probability `p`.

        Args:
            input: a tensor of any real dtype.
            p: a number between 0 and 1, or a floating-point tensor that broadcasts to `input`.
            generator: the generator that draws; the default one if None.

        Returns: `input`.

        Raises:
            NotImplementedError: `input` is complex.
            RuntimeError: `p` is not between 0 and 1, or a tensor of another dtype or shape.

        Example:
            >>> gw.empty(2).bernoulli_(gw.tensor([0.0, 1.0]))
            tensor([0., 1.])
        """
        return _dispatch(_bernoulli_, (self, p, generator))

    def bincount(self, weights: Tensor | None = None, minlength: int = 0) -> Any:
        """How often each of the numbers 0, 1, 2, ... occurs in a vector.

        Args:
            input: a vector of integers, none negative.
            weights: a vector of the same length: how much each element counts; 1 if None.
            minlength: the least length of the result.

        Returns: a vector whose length is the greatest element plus 1, or `minlength`: int64
            without weights, float32 for float32 weights, else float64.

        Raises:
            RuntimeError: `input` is no vector of such integers, the length of `weights` differs,
                or `minlength` is negative.

        Example:
            >>> gw.bincount(gw.tensor([0, 1, 1, 3]))
            tensor([1, 2, 0, 1])
        """
        return _dispatch(_bincount, (self, weights, minlength))

    def bitwise_and(self, other: Tensor | Number) -> Any:
        """And of the bits of integers, of bool logical and; broadcast; the operator `&`.

        Args:
            input, other: tensors that broadcast to one shape; one of them may be a number.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is floating-point or complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: both operands are numbers.

        Example:
            >>> gw.bitwise_and(gw.tensor([5, 3]), 6)
            tensor([4, 2])
        """
        return _dispatch(_bitwise_and, (self, other))

    def bitwise_and_(self, other: Tensor | Number) -> Any:
        """In place: writes what `bitwise_and` gives into the tensor, and returns it."""
        return _dispatch(_bitwise_and_, (self, other))

    def bitwise_left_shift(self, other: Tensor | Number) -> Any:
        """Bits of `input` shifted left by `other` places, broadcast; the operator `<<`.

        It is `input * 2^other` modulo the range of the dtype; 0 where `other` is negative.

        Args:
            input, other: tensors that broadcast to one shape; one of them may be a number.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is bool, floating-point or complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: both operands are numbers.

        Example:
            >>> gw.bitwise_left_shift(gw.tensor([1, 3]), 2)
            tensor([ 4, 12])
        """
        return _dispatch(_bitwise_left_shift, (self, other))

    def bitwise_left_shift_(self, other: Tensor | Number) -> Any:
        """In place: writes what `bitwise_left_shift` gives into the tensor, and returns it."""
        return _dispatch(_bitwise_left_shift_, (self, other))

    def bitwise_not(self) -> Any:
        """Each integer with all its bits inverted, logical not of bool; the operator `~`.

        Args:
            input: a tensor of any shape.

        Raises:
            NotImplementedError: the dtype of `input` is floating-point or complex.

        Example:
            >>> gw.bitwise_not(gw.tensor([0, 5]))
            tensor([-1, -6])
        """
        return _dispatch(_bitwise_not, (self,))

    def bitwise_not_(self) -> Any:
        """In place: writes what `bitwise_not` gives into the tensor, and returns it."""
        return _dispatch(_bitwise_not_, (self,))

    def bitwise_or(self, other: Tensor | Number) -> Any:
        """Or of the bits of integers, of bool logical or; broadcast; the operator `|`.

        Args:
            input, other: tensors that broadcast to one shape; one of them may be a number.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is floating-point or complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: both operands are numbers.

        Example:
            >>> gw.bitwise_or(gw.tensor([5, 3]), 6)
            tensor([7, 7])
        """
        return _dispatch(_bitwise_or, (self, other))

    def bitwise_or_(self, other: Tensor | Number) -> Any:
        """In place: writes what `bitwise_or` gives into the tensor, and returns it."""
        return _dispatch(_bitwise_or_, (self, other))

    def bitwise_right_shift(self, other: Tensor | Number) -> Any:
        """Bits of `input` shifted right by `other` places, broadcast; the operator `>>`.

        It is `floor(input / 2^other)`.

        Args:
            input, other: tensors that broadcast to one shape; one of them may be a number.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is bool, floating-point or complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: both operands are numbers.

        Example:
            >>> gw.bitwise_right_shift(gw.tensor([9, -9]), 1)
            tensor([ 4, -5])
        """
        return _dispatch(_bitwise_right_shift, (self, other))

    def bitwise_right_shift_(self, other: Tensor | Number) -> Any:
        """In place: writes what `bitwise_right_shift` gives into the tensor, and returns it."""
        return _dispatch(_bitwise_right_shift_, (self, other))

    def bitwise_xor(self, other: Tensor | Number) -> Any:
        """Exclusive or of the bits of integers, of bool logical xor; broadcast; the operator `^`.

        Args:
            input, other: tensors that broadcast to one shape; one of them may be a number.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is floating-point or complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: both operands are numbers.

        Example:
            >>> gw.bitwise_xor(gw.tensor([5, 3]), 6)
            tensor([3, 5])
        """
        return _dispatch(_bitwise_xor, (self, other))

    def bitwise_xor_(self, other: Tensor | Number) -> Any:
        """In place: writes what `bitwise_xor` gives into the tensor, and returns it."""
        return _dispatch(_bitwise_xor_, (self, other))

    def bmm(self, mat2: Tensor) -> Any:
        """Products of the matrices of two batches, one by one.

        Args:
            input: `(b, n, k)`; any dtype but bool.
            mat2: `(b, k, m)`, of the dtype of `input`.

        Returns: a tensor of shape `(b, n, m)`.

        Raises:
            RuntimeError: a tensor has not 3 dims, or shapes or dtypes do not match.

        Example:
            >>> gw.bmm(gw.ones(5, 2, 3), gw.ones(5, 3, 4)).shape
            graphwright.Size([5, 2, 4])
        """
        return _dispatch(_bmm, (self, mat2))

    def broadcast_to(self, *size_: Any, size: Any = None) -> Any:
        """View broadcast to a shape: dims of size 1 are repeated, new ones put in front.

        Args:
            input: a tensor of any shape.
            size: the sizes of the result, from the last dim on; -1 keeps a size.

        Returns: a view of `input`.

        Raises:
            RuntimeError: `input` does not broadcast to that shape.

        Example:
            >>> gw.broadcast_to(gw.tensor([1, 2]), (2, 2))
            tensor([[1, 2],
                    [1, 2]])
        """
        return _dispatch(_broadcast_to, (self, as_size(varargs(size_, size))))

    def cauchy_(self, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None) -> Any:
        """Fill with random numbers of a Cauchy distribution, `median + sigma tan(pi (u - 1/2))`.

        Args:
            input: a floating-point tensor of any shape.
            median: the median.
            sigma: the half width at half maximum, above 0.
            generator: the generator that draws; the default one if None.

        Returns: `input`.

        Raises:
            NotImplementedError: `input` is not a floating-point tensor.
            RuntimeError: `sigma` is not above 0.

        Example:
            >>> gw.empty(2, 3).cauchy_().shape
            graphwright.Size([2, 3])
        """
        return _dispatch(_cauchy_, (self, median, sigma, generator))

    def ceil(self) -> Any:
        """Least integer that is at least each element; integers are unchanged.

        The gradient is zero.

        Args:
            input: a tensor of any shape.

        Raises:
            NotImplementedError: the dtype of `input` is bool or complex.

        Example:
            >>> gw.ceil(gw.tensor([1.5, -0.5]))
            tensor([2., -0.])
        """
        return _dispatch(_ceil, (self,))

    def ceil_(self) -> Any:
        """In place: writes what `ceil` gives into the tensor, and returns it."""
        return _dispatch(_ceil_, (self,))

    def cholesky(self, upper: bool = False) -> Any:
        """Cholesky factor of Hermitian positive-definite matrices: `linalg.cholesky`.

        Args:
            input: float32, float64 or complex, `(*, n, n)`.
            upper: return the upper triangular `U` with `input = U^H U`; by default the lower `L`
                with `input = L L^H`.

        Returns: a tensor of the shape of `input`.

        Raises:
            LinAlgError: a matrix is not positive-definite.
            RuntimeError: the matrices are not square, or of integers.

        Example:
            >>> gw.cholesky(gw.tensor([[4.0, 2.0], [2.0, 5.0]]))
            tensor([[2., 0.],
                    [1., 2.]])
        """
        return _dispatch(_cholesky, (self, upper))

    def cholesky_inverse(self, upper: bool = False) -> Any:
        """Inverse of matrices that are given by their Cholesky factors.

        Args:
            L: float32, float64 or complex factor, `(*, n, n)`: `A = L L^H`, or `A = L^H L` where
                `upper`.
            upper: whether the factor is upper triangular.

        Returns: the inverse of `A`, of the shape of `L`.

        Raises:
            RuntimeError: the matrices are not square, or of integers.

        Example:
            >>> gw.cholesky_inverse(gw.tensor([[2.0, 0.0], [0.0, 1.0]]))
            tensor([[0.2500, 0.0000],
                    [0.0000, 1.0000]])
        """
        return _dispatch(_cholesky_inverse, (self, upper))

    def cholesky_solve(self, L: Tensor, upper: bool = False) -> Any:
        """Solution `X` of `A X = B`, where `A` is given by its Cholesky factor.

        Args:
            B: right sides, `(*, n, k)`.
            L: factor of the dtype of `B`, `(*, n, n)`: `A = L L^H`, or `A = L^H L` where `upper`.
            upper: whether the factor is upper triangular.

        Returns: a tensor of the shape of `B` with the broadcast batch dims.

        Raises:
            LinAlgError: the factor has a 0 on its diagonal.
            RuntimeError: shapes or dtypes do not match.

        Example:
            >>> gw.cholesky_solve(gw.tensor([[4.0], [2.0]]), gw.tensor([[2.0, 0.0], [0.0, 1.0]]))
            tensor([[1.],
                    [2.]])
        """
        return _dispatch(_cholesky_solve, (self, L, upper))

    def chunk(self, chunks: int, dim: int = 0, surplus: Any = ..., axis: Any = ...) -> Any:
        """Views of consecutive parts of one dim, of equal size but for the last.

        There may be fewer parts than asked for: each has the size of the dim by `chunks`, rounded
        up.

        Args:
            input: a tensor of at least one dim.
            chunks: how many parts at most.
            dim: the dim that is split.

        Returns: a tuple of views of `input`.

        Raises:
            RuntimeError: `input` has no dims, or `chunks` is not positive.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.chunk(gw.arange(5), 2)
            (tensor([0, 1, 2]), tensor([3, 4]))
        """
        if surplus is not ...:
            refuse_surplus("chunk")
        if axis is not ...:
            dim = same_as("chunk", "dim", dim, 0, "axis", axis)
        try:
            _bound = (self, chunks, wrap_dim(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_chunk, (self, chunks, dim), _error)
        return _dispatch(_chunk, _bound)

    def clamp(self, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Any:
        """Each element, but at least `min` and at most `max`: `y = min(max(x, min), max)`.

        Where the bounds cross, the result is `max`. The gradient goes to `input` between the
        bounds, else to a bound that is a tensor.

        Args:
            input: a tensor of any shape.
            min: the lower bound, a number or a tensor that broadcasts with `input`; none if None.
            max: the upper bound, in the same way.

        Returns: a tensor of the broadcast shape, in the dtype promoted with the bounds.

        Raises:
            NotImplementedError: the promoted dtype is complex, or bool with a number as bound.
            RuntimeError: both bounds are None, or the shapes do not broadcast.
            TypeError: one bound is a number, the other a tensor with dims.

        Example:
            >>> gw.clamp(gw.tensor([-2.0, 0.5, 3.0]), 0, 1)
            tensor([0.0000, 0.5000, 1.0000])
        """
        return _dispatch(_clamp, (self, min, max))

    def clamp_(
        self,
        min: Tensor | Number | None = None,
        max: Tensor | Number | None = None,
    ) -> Any:
        """In place: writes what `clamp` gives into the tensor, and returns it."""
        return _dispatch(_clamp_, (self, min, max))

    def clamp_max(self, max: Tensor | Number) -> Any:
        """Each element, but at most `max`: `y = min(x, max)`, broadcast.

        Args:
            input: a tensor of any shape.
            max: the upper bound, a number or a tensor that broadcasts with `input`.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is complex, or bool with a number as bound.
            RuntimeError: the shapes do not broadcast.

        Example:
            >>> gw.clamp_max(gw.tensor([-1.0, 2.0]), 1.5)
            tensor([-1.0000,  1.5000])
        """
        return _dispatch(_clamp_max, (self, max))

    def clamp_max_(self, max: Tensor | Number) -> Any:
        """In place: writes what `clamp_max` gives into the tensor, and returns it."""
        return _dispatch(_clamp_max_, (self, max))

    def clamp_min(self, min: Tensor | Number) -> Any:
        """Each element, but at least `min`: `y = max(x, min)`, broadcast.

        Args:
            input: a tensor of any shape.
            min: the lower bound, a number or a tensor that broadcasts with `input`.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is complex, or bool with a number as bound.
            RuntimeError: the shapes do not broadcast.

        Example:
            >>> gw.clamp_min(gw.tensor([-1.0, 2.0]), 0)
            tensor([0., 2.])
        """
        return _dispatch(_clamp_min, (self, min))

    def clamp_min_(self, min: Tensor | Number) -> Any:
        """In place: writes what `clamp_min` gives into the tensor, and returns it."""
        return _dispatch(_clamp_min_, (self, min))

    def clone(self, *, memory_format: Any = None) -> Any:
        """Copy of a tensor in memory of its own, through which gradients flow.

        Args:
            input: a tensor of any shape and dtype.
            memory_format: the order of dims in memory; that of `input` if None.

        Example:
            >>> x = gw.zeros(2)
            >>> y = gw.clone(x)
            >>> y[0] = 1.0
            >>> x, y
            (tensor([0., 0.]), tensor([1., 0.]))
        """
        if memory_format is not None:
            return in_format("clone", _dispatch(_clone, (self,)), memory_format)
        return _dispatch(_clone, (self,))

    def conj(self) -> Any:
        """Complex conjugate of each element, computed rather than marked.

        Args:
            input: a tensor of any shape and dtype.

        Returns: a tensor of the dtype of `input`; a real tensor itself.

        Example:
            >>> gw.conj(gw.tensor([3 + 4j]))
            tensor([3.-4.j])
        """
        return _dispatch(_conj, (self,))

    def conj_physical(self) -> Any:
        """Complex conjugate of each element, computed rather than marked.

        Args:
            input: a tensor of any shape and dtype.

        Returns: a tensor of the dtype of `input`; a real tensor itself.

        Example:
            >>> gw.conj_physical(gw.tensor([3 + 4j]))
            tensor([3.-4.j])
        """
        return _dispatch(_conj_physical, (self,))

    def conj_physical_(self) -> Any:
        """In place: writes what `conj_physical` gives into the tensor, and returns it."""
        return _dispatch(_conj_physical_, (self,))

    def copy_(self, src: Tensor) -> Any:
        return _dispatch(_copy_, (self, src))

    def copysign(self, other: Tensor | Number) -> Any:
        """Absolute value of `input` with the sign of `other`, elementwise and broadcast.

        The sign of -0.0 counts.

        Args:
            input: a tensor.
            other: a tensor that broadcasts with `input`, or a number.

        Returns: a tensor of the broadcast shape, in the promoted dtype;
        integers and bool give the default dtype.

        Raises:
            NotImplementedError: the promoted dtype is complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: `input` is a number.

        Example:
            >>> gw.copysign(gw.tensor([1.0, -2.0]), -3.0)
            tensor([-1., -2.])
        """
        return _dispatch(_copysign, (self, other))

    def copysign_(self, other: Tensor | Number) -> Any:
        """In place: writes what `copysign` gives into the tensor, and returns it."""
        return _dispatch(_copysign_, (self, other))

    def corrcoef(self) -> Any:
        """Pearson's correlation coefficients of variables, one per row: `C_ij / sqrt(C_ii C_jj)`.

        Args:
            input: a tensor of at most two dims, as of `cov`: each column is an observation.

        Returns: a matrix with one row and one column per variable, in [-1, 1]; no dims for one
            variable.

        Raises:
            RuntimeError: `input` has more than two dims or is bool.

        Example:
            >>> gw.corrcoef(gw.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
            tensor([[ 1., -1.],
                    [-1.,  1.]])
        """
        return _dispatch(_corrcoef, (self,))

    def cos(self) -> Any:
        """Cosine of each element, an angle in radians.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.cos(gw.tensor([0.0, 1.0]))
            tensor([1.0000, 0.5403])
        """
        return _dispatch(_cos, (self,))

    def cos_(self) -> Any:
        """In place: writes what `cos` gives into the tensor, and returns it."""
        return _dispatch(_cos_, (self,))

    def cosh(self) -> Any:
        """Hyperbolic cosine, `y = (e^x + e^(-x)) / 2`.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.cosh(gw.tensor([0.0, 1.0]))
            tensor([1.0000, 1.5431])
        """
        return _dispatch(_cosh, (self,))

    def cosh_(self) -> Any:
        """In place: writes what `cosh` gives into the tensor, and returns it."""
        return _dispatch(_cosh_, (self,))

    def count_nonzero(
        self,
        dim: int | Sequence[int] | None = None,
        surplus: Any = ...,
        axis: Any = ...,
    ) -> Any:
        """How many elements are not zero, of all or along some dims. NaN is not zero.

        Args:
            input: a tensor of any shape and dtype.
            dim: the dim or dims to count along; all if None.

        Returns: an int64 tensor of the shape of `input` without `dim`.

        Raises:
            IndexError: `input` has no such dim.

        Example:
            >>> gw.count_nonzero(gw.tensor([[0, 1], [2, 3]]), 0)
            tensor([1, 2])
        """
        if surplus is not ...:
            refuse_surplus("count_nonzero")
        if axis is not ...:
            dim = same_as("count_nonzero", "dim", dim, None, "axis", axis)
        try:
            _bound = (self, wrap_dims(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_count_nonzero, (self, dim), _error)
        return _dispatch(_count_nonzero, _bound)

    def cov(
        self,
        *,
        correction: int = 1,
        fweights: Tensor | None = None,
        aweights: Tensor | None = None,
    ) -> Any:
        """Covariance matrix of variables, one per row, of which each column is an observation.

        `C_ij = sum_k w_k (x_ik - m_i) conj(x_jk - m_j) / (sum_k w_k - correction)` with the
        weighted means m; with `aweights` a, the correction is multiplied by `sum w a / sum w`.

        Args:
            input: a tensor of at most two dims, converted to the default dtype if of integers; a
                vector is one variable.
            correction: what is subtracted from the number of observations.
            fweights: how often each observation counts: integers, one per column; 1 if None.
            aweights: floating point weights, one per column; 1 if None.

        Returns: a matrix with one row and one column per variable; no dims for one variable.

        Raises:
            RuntimeError: `input` has more dims or is bool, or weights have a wrong length or dtype
                or are negative.

        Example:
            >>> gw.cov(gw.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
            tensor([[ 1., -1.],
                    [-1.,  1.]])
        """
        return _dispatch(_cov, (self, correction, fweights, aweights))

    def cross(
        self,
        other: Tensor,
        dim: int | None = None,
        surplus: Any = ...,
        axis: Any = ...,
    ) -> Any:
        """Cross products of vectors of 3 elements.

        Args:
            input: any dtype but bool, of size 3 in `dim`.
            other: of the dtype and number of dims of `input`; the other dims are broadcast.
            dim: the dim of the vectors; the first of size 3 if None.

        Returns: a tensor of the broadcast shape.

        Raises:
            RuntimeError: there is no dim of size 3, or numbers of dims or dtypes differ.

        Example:
            >>> gw.cross(gw.tensor([1, 0, 0]), gw.tensor([0, 1, 0]))
            tensor([0, 0, 1])
        """
        if surplus is not ...:
            refuse_surplus("cross")
        if axis is not ...:
            dim = same_as("cross", "dim", dim, None, "axis", axis)
        return _dispatch(_cross, (self, other, dim))

    def cummax(self, dim: Any = REQUIRED, axis: Any = ...) -> Any:
        """Running maximum along one dim, and where it was found: the last place of several.

        Once an element is NaN, so are all maxima from it on.

        Args:
            input: a real or bool tensor of any shape.
            dim: the dim to compare along.

        Returns: the named tuple `(values, indices)` of tensors of the shape of `input`; the
            indices are int64.

        Raises:
            IndexError: `input` has no such dim.
            NotImplementedError: `input` is complex.

        Example:
            >>> gw.cummax(gw.tensor([1, 3, 2, 3]), 0)
            graphwright.return_types.cummax(
            values=tensor([1, 3, 3, 3]),
            indices=tensor([0, 1, 1, 3]))
        """
        if axis is not ...:
            dim = same_as("cummax", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_cummax, (self, dim), _error)
        return _dispatch(_cummax, _bound)

    def cummin(self, dim: Any = REQUIRED, axis: Any = ...) -> Any:
        """Running minimum along one dim, and where it was found: the last place of several.

        Once an element is NaN, so are all minima from it on.

        Args:
            input: a real or bool tensor of any shape.
            dim: the dim to compare along.

        Returns: the named tuple `(values, indices)` of tensors of the shape of `input`; the
            indices are int64.

        Raises:
            IndexError: `input` has no such dim.
            NotImplementedError: `input` is complex.

        Example:
            >>> gw.cummin(gw.tensor([3, 1, 2, 1]), 0)
            graphwright.return_types.cummin(
            values=tensor([3, 1, 1, 1]),
            indices=tensor([0, 1, 1, 3]))
        """
        if axis is not ...:
            dim = same_as("cummin", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_cummin, (self, dim), _error)
        return _dispatch(_cummin, _bound)

    def cumprod(self, dim: Any = REQUIRED, axis: Any = ..., *, dtype: DType | None = None) -> Any:
        """Running product along one dim: `y_i = x_0 ... x_i`.

        Args:
            input: a tensor of any shape; integers and bool are multiplied as int64.
            dim: the dim to multiply along.
            dtype: what `input` is converted to first; nothing if None.

        Returns: a tensor of the shape of `input`.

        Raises:
            IndexError: `input` has no such dim.
            NotImplementedError: `dtype` is bool.

        Example:
            >>> gw.cumprod(gw.tensor([1, 2, 3, 4]), 0)
            tensor([ 1,  2,  6, 24])
        """
        if axis is not ...:
            dim = same_as("cumprod", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_cumprod, (self, dim, dtype), _error)
        return _dispatch(_cumprod, _bound)

    def cumprod_(self, dim: Any = REQUIRED, axis: Any = ..., *, dtype: DType | None = None) -> Any:
        """In place: writes what `cumprod` gives into the tensor, and returns it."""
        if axis is not ...:
            dim = same_as("cumprod_", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_cumprod_, (self, dim, dtype), _error)
        return _dispatch(_cumprod_, _bound)

    def cumsum(self, dim: Any = REQUIRED, axis: Any = ..., *, dtype: DType | None = None) -> Any:
        """Running sum along one dim: `y_i = x_0 + ... + x_i`.

        Args:
            input: a tensor of any shape; integers and bool are summed as int64.
            dim: the dim to sum along.
            dtype: what `input` is converted to first; nothing if None.

        Returns: a tensor of the shape of `input`.

        Raises:
            IndexError: `input` has no such dim.
            NotImplementedError: `dtype` is bool.

        Example:
            >>> gw.cumsum(gw.tensor([1, 2, 3]), 0)
            tensor([1, 3, 6])
        """
        if axis is not ...:
            dim = same_as("cumsum", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_cumsum, (self, dim, dtype), _error)
        return _dispatch(_cumsum, _bound)

    def cumsum_(self, dim: Any = REQUIRED, axis: Any = ..., *, dtype: DType | None = None) -> Any:
        """In place: writes what `cumsum` gives into the tensor, and returns it."""
        if axis is not ...:
            dim = same_as("cumsum_", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_cumsum_, (self, dim, dtype), _error)
        return _dispatch(_cumsum_, _bound)

    def deg2rad(self) -> Any:
        """Degrees in radians, `y = x * pi / 180`.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Raises:
            NotImplementedError: the dtype of `input` is complex.

        Example:
            >>> gw.deg2rad(gw.tensor([180, 90]))
            tensor([3.1416, 1.5708])
        """
        return _dispatch(_deg2rad, (self,))

    def deg2rad_(self) -> Any:
        """In place: writes what `deg2rad` gives into the tensor, and returns it."""
        return _dispatch(_deg2rad_, (self,))

    def det(self) -> Any:
        """Determinant of square matrices, through an LU factorisation.

        Args:
            input: float32, float64 or complex, `(*, n, n)`.

        Returns: a tensor of shape `(*)`.

        Raises:
            RuntimeError: the matrices are not square, or of integers.

        Example:
            >>> gw.det(gw.tensor([[2.0, 1.0], [1.0, 3.0]]))
            tensor(5.)
        """
        return _dispatch(_det, (self,))

    def diag(self, diagonal: int = 0) -> Any:
        """Matrix with a vector on a diagonal; of a matrix, a copy of a diagonal.

        Args:
            input: a tensor of one or two dims.
            diagonal: which diagonal: 0 is the main one, positive ones lie above it.

        Returns: a new matrix with 0 elsewhere, or a new vector.

        Raises:
            RuntimeError: `input` has another number of dims.

        Example:
            >>> gw.diag(gw.tensor([1, 2]))
            tensor([[1, 0],
                    [0, 2]])
        """
        return _dispatch(_diag, (self, diagonal))

    def diag_embed(self, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
        """Matrices with the rows of the last dim on a diagonal and 0 elsewhere.

        Args:
            input: a tensor of shape (..., n).
            offset: which diagonal: 0 is the main one, positive ones lie above it.
            dim1, dim2: the places of the rows and columns of the matrices in the result.

        Returns: a new tensor with one more dim; the matrices have the size `n + |offset|`.

        Raises:
            RuntimeError: `dim1` and `dim2` are one dim.
            IndexError: a place is out of range.

        Example:
            >>> gw.diag_embed(gw.tensor([1, 2]), 1)
            tensor([[0, 1, 0],
                    [0, 0, 2],
                    [0, 0, 0]])
        """
        return _dispatch(_diag_embed, (self, offset, dim1, dim2))

    def diagflat(self, offset: int = 0) -> Any:
        """Matrix with all elements, in row-major order, on a diagonal and 0 elsewhere.

        Args:
            input: a tensor of any shape.
            offset: which diagonal: 0 is the main one, positive ones lie above it.

        Returns: a new matrix of the size `input.numel() + |offset|`.

        Example:
            >>> gw.diagflat(gw.tensor([[1, 2]]))
            tensor([[1, 0],
                    [0, 2]])
        """
        return _dispatch(_diagflat, (self, offset))

    def diagonal(self, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
        """View of a diagonal of the matrices that two dims span, in a new last dim.

        Args:
            input: a tensor of at least two dims.
            offset: which diagonal: 0 is the main one, positive ones lie above it.
            dim1, dim2: the dims of the rows and of the columns.

        Returns: a view of `input` without the two dims, and with one for the diagonal.

        Raises:
            RuntimeError: `dim1` and `dim2` are one dim.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.diagonal(gw.tensor([[1, 2], [3, 4]]))
            tensor([1, 4])
        """
        try:
            _bound = (self, offset, wrap_dim(dim1, self.ndim), wrap_dim(dim2, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_diagonal, (self, offset, dim1, dim2), _error)
        return _dispatch(_diagonal, _bound)

    def diagonal_scatter(self, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
        """Copy in which a diagonal of the matrices that two dims span holds other values.

        Args:
            input: a tensor of at least two dims.
            src: the values, of the shape of `diagonal`; converted to the dtype of `input`.
            offset: which diagonal: 0 is the main one, positive ones lie above it.
            dim1, dim2: the dims of the rows and of the columns.

        Returns: a new tensor of the shape and dtype of `input`.

        Raises:
            RuntimeError: `src` has another shape than the diagonal, or `dim1` and `dim2` are one
                dim.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.diagonal_scatter(gw.zeros(2, 2), gw.ones(2))
            tensor([[1., 0.],
                    [0., 1.]])
        """
        try:
            _bound = (self, src, offset, wrap_dim(dim1, self.ndim), wrap_dim(dim2, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_diagonal_scatter, (self, src, offset, dim1, dim2), _error)
        return _dispatch(_diagonal_scatter, _bound)

    def diff(
        self,
        n: int = 1,
        dim: int = -1,
        prepend: Tensor | None = None,
        append: Tensor | None = None,
        surplus: Any = ...,
        axis: Any = ...,
    ) -> Any:
        """Differences of neighbours along one dim, `x_{i+1} - x_i`, taken `n` times.

        Args:
            input: a tensor of at least one dim; of bools, the differences are exclusive ors.
            n: how many times, at least 0.
            dim: the dim along which elements are neighbours.
            prepend: a tensor put before `input` along `dim`, equal in its other sizes; none if
                None.
            append: the same, put behind it.

        Returns: a tensor of the dtype of `input`, shorter by `n` along `dim`; 0 is the least size.

        Raises:
            RuntimeError: `input` has no dims, `n` is negative, or the shapes do not match.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.diff(gw.tensor([1, 4, 9, 16]), n=2)
            tensor([2, 2])
        """
        if surplus is not ...:
            refuse_surplus("diff")
        if axis is not ...:
            dim = same_as("diff", "dim", dim, -1, "axis", axis)
        try:
            _bound = (self, n, wrap_dim(dim, self.ndim), prepend, append)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_diff, (self, n, dim, prepend, append), _error)
        return _dispatch(_diff, _bound)

    def digamma(self) -> Any:
        """Derivative of `lgamma`, `y = gamma'(x) / gamma(x)`; -inf at 0, nan at -1, -2 ...

        Computed by its recurrence and asymptotic series (DLMF 5.11.2).

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Raises:
            NotImplementedError: the dtype of `input` is complex.

        Example:
            >>> gw.digamma(gw.tensor([1.0, 2.0]))
            tensor([-0.5772,  0.4228])
        """
        return _dispatch(_digamma, (self,))

    def digamma_(self) -> Any:
        """In place: writes what `digamma` gives into the tensor, and returns it."""
        return _dispatch(_digamma_, (self,))

    def dist(self, other: Tensor, p: Number = 2) -> Any:
        """Norm of the difference of two tensors: `(sum |input - other|^p)^(1/p)`.

        Args:
            input: a floating point or complex tensor.
            other: a tensor that broadcasts with it.
            p: the order of the norm, as of `norm`.

        Returns: a real tensor without dims.

        Raises:
            RuntimeError: the difference has integers, or one is bool.
            TypeError: `p` is a word.

        Example:
            >>> gw.dist(gw.tensor([1.0, 2.0]), gw.tensor([4.0, 6.0]))
            tensor(5.)
        """
        return _dispatch(_dist, (self, other, p))

    def div(self, other: Tensor | Number, *, rounding_mode: str | None = None) -> Any:
        """Quotient, `input / other`, elementwise and broadcast; the operator `/`.

        Args:
            input, other: tensors or numbers that broadcast to one shape.
            rounding_mode: "floor" rounds down, "trunc" towards 0; not rounded if None.

        Returns: a tensor of the broadcast shape, in the promoted dtype; without rounding, integers
        and bool give the default dtype.

        Raises:
            NotImplementedError: rounded quotients of bool or of complex numbers.
            RuntimeError: the shapes do not broadcast; the mode has another name; an integer is
                divided by zero with rounding.

        Example:
            >>> gw.div(gw.tensor([7, -7]), 2)
            tensor([ 3.5000, -3.5000])
            >>> gw.div(gw.tensor([7, -7]), 2, rounding_mode="floor")
            tensor([ 3, -4])
        """
        return _dispatch(_div, (self, other, rounding_mode))

    def div_(self, other: Tensor | Number, *, rounding_mode: str | None = None) -> Any:
        """In place: writes what `div` gives into the tensor, and returns it."""
        return _dispatch(_div_, (self, other, rounding_mode))

    def dot(self, tensor: Tensor) -> Any:
        """Sum of the products of two vectors' elements, without conjugation.

        Args:
            input: `(n,)`; any dtype but bool.
            tensor: `(n,)`, of the dtype of `input`.

        Returns: a tensor without dims.

        Raises:
            RuntimeError: a tensor is no vector, or lengths or dtypes differ.

        Example:
            >>> gw.dot(gw.tensor([1, 2]), gw.tensor([3, 4]))
            tensor(11)
        """
        return _dispatch(_dot, (self, tensor))

    def dsplit(
        self,
        *indices_or_sections_: Any,
        indices_or_sections: int | Sequence[int] | None = None,
        sections: int | Sequence[int] | None = None,
        indices: int | Sequence[int] | None = None,
    ) -> Any:
        """Views of parts of the third dim: as `tensor_split`, of equal sections.

        Args:
            input: a tensor of at least three dims.
            indices_or_sections: an int, the number of sections; or the positions where new parts
                begin.
            sections, indices: the same by name; exactly one of the three is given.

        Returns: a tuple of views of `input`.

        Raises:
            RuntimeError: `input` has fewer dims, or the number of sections does not divide the
                dim.
            TypeError: none or several of the three are given.

        Example:
            >>> gw.dsplit(gw.tensor([[[1, 2], [3, 4]]]), 2)
            (tensor([[[1],
                     [3]]]), tensor([[[2],
                     [4]]]))
        """
        if indices_or_sections_:
            indices_or_sections = spread("dsplit", indices_or_sections_, indices_or_sections, None)
        return _dispatch(_dsplit, (self, indices_or_sections, sections, indices))

    def eq(self, other: Tensor | Number) -> Any:
        """Whether two elements are equal, broadcast; the operator `==`.

        Args:
            input: a tensor.
            other: a tensor that broadcasts with `input`, or a number.

        Returns: a bool tensor of the broadcast shape.

        Raises:
            RuntimeError: the shapes do not broadcast.
            TypeError: `input` is a number.

        Example:
            >>> gw.eq(gw.tensor([1, 2, 3]), 2)
            tensor([False,  True, False])
        """
        return _dispatch(_eq, (self, other))

    def eq_(self, other: Tensor | Number) -> Any:
        """In place: writes what `eq` gives into the tensor, and returns it."""
        return _dispatch(_eq_, (self, other))

    def equal(self, other: Tensor) -> Any:
        """Whether two tensors have one shape and equal elements.

        Args:
            input, other: tensors; their dtypes may differ, and nan equals nothing.

        Returns: a Python bool.

        Example:
            >>> gw.equal(gw.tensor([1.0, 2.0]), gw.tensor([1, 2]))
            True
        """
        return _dispatch(_equal, (self, other))

    def erf(self) -> Any:
        """Error function, `y = 2 / sqrt(pi)` times the integral of `e^(-t^2)` from 0 to `x`.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Raises:
            NotImplementedError: the dtype of `input` is complex.

        Example:
            >>> gw.erf(gw.tensor([0.0, 1.0]))
            tensor([0.0000, 0.8427])
        """
        return _dispatch(_erf, (self,))

    def erf_(self) -> Any:
        """In place: writes what `erf` gives into the tensor, and returns it."""
        return _dispatch(_erf_, (self,))

    def erfc(self) -> Any:
        """Complementary error function, `y = 1 - erf(x)`, accurate for large `x`.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Raises:
            NotImplementedError: the dtype of `input` is complex.

        Example:
            >>> gw.erfc(gw.tensor([0.0, 1.0]))
            tensor([1.0000, 0.1573])
        """
        return _dispatch(_erfc, (self,))

    def erfc_(self) -> Any:
        """In place: writes what `erfc` gives into the tensor, and returns it."""
        return _dispatch(_erfc_, (self,))

    def erfinv(self) -> Any:
        """Inverse of the error function: `erf(y) = x`; inf at 1, nan beyond -1 and 1.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Raises:
            NotImplementedError: the dtype of `input` is complex.

        Example:
            >>> gw.erfinv(gw.tensor([0.0, 0.5]))
            tensor([0.0000, 0.4769])
        """
        return _dispatch(_erfinv, (self,))

    def erfinv_(self) -> Any:
        """In place: writes what `erfinv` gives into the tensor, and returns it."""
        return _dispatch(_erfinv_, (self,))

    def exp(self) -> Any:
        """Exponential function of each element, `y = e^x`.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.exp(gw.tensor([0.0, 1.0]))
            tensor([1.0000, 2.7183])
        """
        return _dispatch(_exp, (self,))

    def exp2(self) -> Any:
        """Power of two, `y = 2^x`.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.exp2(gw.tensor([1, 3]))
            tensor([2., 8.])
        """
        return _dispatch(_exp2, (self,))

    def exp2_(self) -> Any:
        """In place: writes what `exp2` gives into the tensor, and returns it."""
        return _dispatch(_exp2_, (self,))

    def exp_(self) -> Any:
        """In place: writes what `exp` gives into the tensor, and returns it."""
        return _dispatch(_exp_, (self,))

    def expand(self, *size_: Any, size: Any = None) -> Any:
        """View in which dims of size 1 are repeated without a copy, and new dims put in front.

        Args:
            input: a tensor of any shape.
            size: the sizes of the result, from the last dim on; -1 keeps a size.

        Returns: a view of `input` with stride 0 along the dims that are repeated.

        Raises:
            RuntimeError: there are fewer sizes than dims, or a size differs from that of a dim
                that is not 1.

        Example:
            >>> gw.tensor([[1], [2]]).expand(-1, 3).stride()
            (1, 0)
        """
        return _dispatch(_expand, (self, as_size(varargs(size_, size))))

    def expand_as(self, other: Tensor) -> Any:
        """View of a tensor expanded to the shape of another one: `input.expand(other.shape)`.

        Args:
            input: a tensor.
            other: the tensor whose shape is taken.

        Returns: a view of `input`.

        Raises:
            RuntimeError: as `expand`.

        Example:
            >>> gw.tensor([1, 2]).expand_as(gw.ones(2, 2))
            tensor([[1, 2],
                    [1, 2]])
        """
        return _dispatch(_expand_as, (self, other))

    def expm1(self) -> Any:
        """Exponential function minus 1, `y = e^x - 1`, accurate for small `x`.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.expm1(gw.tensor([0.0, 1.0]))
            tensor([0.0000, 1.7183])
        """
        return _dispatch(_expm1, (self,))

    def expm1_(self) -> Any:
        """In place: writes what `expm1` gives into the tensor, and returns it."""
        return _dispatch(_expm1_, (self,))

    def exponential_(self, lambd: float = 1.0, *, generator: Any = None) -> Any:
        """Fill with random numbers of the exponential distribution, `-log(1 - u) / lambd`.

        Args:
            input: a floating-point tensor of any shape.
            lambd: the rate, above 0.
            generator: the generator that draws; the default one if None.

        Returns: `input`.

        Raises:
            NotImplementedError: `input` is not a floating-point tensor.
            RuntimeError: `lambd` is not above 0.

        Example:
            >>> gw.all(gw.empty(9).exponential_() >= 0)
            tensor(True)
        """
        return _dispatch(_exponential_, (self, lambd, generator))

    def fill_(self, value: Tensor | Number) -> Any:
        """In place: writes what `fill` gives into the tensor, and returns it."""
        return _dispatch(_fill_, (self, value))

    def fill_diagonal_(self, fill_value: Number, wrap: bool = False) -> Any:
        """Write a number to the main diagonal, in place.

        Args:
            input: a tensor of at least two dims; of more than two, all of one size.
            fill_value: the number.
            wrap: of a matrix with more rows than columns, go on with a diagonal below, one row
                left out.

        Returns: `input`.

        Raises:
            RuntimeError: `input` has fewer than two dims, or more of different sizes.

        Example:
            >>> gw.zeros(2, 3).fill_diagonal_(5)
            tensor([[5., 0., 0.],
                    [0., 5., 0.]])
        """
        return _dispatch(_fill_diagonal_, (self, fill_value, wrap))

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Any:
        """Tensor with the dims from `start_dim` to `end_dim` merged into one.

        Args:
            input: a tensor of any shape; one without dims becomes a vector.
            start_dim: the first dim that is merged.
            end_dim: the last one.

        Returns: `input` where nothing is to do, a view where its strides allow one, else a copy.

        Raises:
            RuntimeError: `start_dim` comes after `end_dim`.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.flatten(gw.ones(2, 3, 4), 1).shape
            graphwright.Size([2, 12])
        """
        try:
            _bound = (self, wrap_dim(start_dim, self.ndim), wrap_dim(end_dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_flatten, (self, start_dim, end_dim), _error)
        return _dispatch(_flatten, _bound)

    def flip(self, *dims_: Any, dims: Any = None) -> Any:
        """Copy with the elements in reverse order along some dims.

        Args:
            input: a tensor of any shape.
            dims: the dims that are reversed.

        Returns: a new tensor of the shape of `input`.

        Raises:
            RuntimeError: a dim is named twice.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.flip(gw.tensor([[1, 2], [3, 4]]), (0, 1))
            tensor([[4, 3],
                    [2, 1]])
        """
        return _dispatch(_flip, (self, as_size(varargs(dims_, dims))))

    def fliplr(self) -> Any:
        """Copy with the elements in reverse order along the second dim.

        Args:
            input: a tensor of at least two dims.

        Returns: a new tensor of the shape of `input`.

        Raises:
            RuntimeError: `input` has fewer dims.

        Example:
            >>> gw.fliplr(gw.tensor([[1, 2], [3, 4]]))
            tensor([[2, 1],
                    [4, 3]])
        """
        return _dispatch(_fliplr, (self,))

    def flipud(self) -> Any:
        """Copy with the elements in reverse order along the first dim.

        Args:
            input: a tensor of at least one dim.

        Returns: a new tensor of the shape of `input`.

        Raises:
            RuntimeError: `input` has no dims.

        Example:
            >>> gw.flipud(gw.tensor([[1, 2], [3, 4]]))
            tensor([[3, 4],
                    [1, 2]])
        """
        return _dispatch(_flipud, (self,))

    def float_power(self, exponent: Tensor | Number) -> Any:
        """Power computed in double precision, `input^exponent`, elementwise and broadcast.

        Args:
            input, exponent: tensors that broadcast to one shape; one of them may be a number.

        Returns: a float64 tensor of the broadcast shape, complex128 if an operand is complex.

        Raises:
            RuntimeError: the shapes do not broadcast.
            TypeError: both operands are numbers.

        Example:
            >>> gw.float_power(gw.tensor([1, 3]), 2)
            tensor([1., 9.], dtype=graphwright.float64)
        """
        return _dispatch(_float_power, (self, exponent))

    def float_power_(self, exponent: Tensor | Number) -> Any:
        """In-place `float_power`: each element becomes `input^exponent`.

        Args:
            input: a tensor of float64 or complex128.
            exponent: a number, or a tensor that broadcasts to the shape of `input`.

        Returns: `input`.

        Raises:
            RuntimeError: `input` has another dtype, or `exponent` does not broadcast to its shape.

        Example:
            >>> gw.tensor([1.0, 3.0], dtype=gw.float64).float_power_(2)
            tensor([1., 9.], dtype=graphwright.float64)
        """
        return _dispatch(_float_power_, (self, exponent))

    def floor(self) -> Any:
        """Greatest integer that is at most each element; integers are unchanged.

        The gradient is zero.

        Args:
            input: a tensor of any shape.

        Raises:
            NotImplementedError: the dtype of `input` is bool or complex.

        Example:
            >>> gw.floor(gw.tensor([1.5, -1.5]))
            tensor([ 1., -2.])
        """
        return _dispatch(_floor, (self,))

    def floor_(self) -> Any:
        """In place: writes what `floor` gives into the tensor, and returns it."""
        return _dispatch(_floor_, (self,))

    def floor_divide(self, other: Tensor | Number) -> Any:
        """Quotient rounded down, `floor(input / other)`, broadcast; the operator `//`.

        Args:
            input, other: tensors or numbers that broadcast to one shape.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is bool or complex.
            RuntimeError: the shapes do not broadcast; an integer is divided by zero; in backward,
                always.

        Example:
            >>> gw.floor_divide(gw.tensor([7, -7]), 2)
            tensor([ 3, -4])
        """
        return _dispatch(_floor_divide, (self, other))

    def floor_divide_(self, other: Tensor | Number) -> Any:
        """In place: writes what `floor_divide` gives into the tensor, and returns it."""
        return _dispatch(_floor_divide_, (self, other))

    def fmax(self, other: Tensor) -> Any:
        """Greater of two elements, broadcast; where one is nan the other.

        Where they are equal `input` has all of the gradient.

        Args:
            input, other: tensors that broadcast to one shape.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: an operand is a number.

        Example:
            >>> gw.fmax(gw.tensor([1.0, float("nan")]), gw.tensor([3.0, 4.0]))
            tensor([3., 4.])
        """
        return _dispatch(_fmax, (self, other))

    def fmin(self, other: Tensor) -> Any:
        """Lesser of two elements, broadcast; where one is nan the other.

        Where they are equal `input` has all of the gradient.

        Args:
            input, other: tensors that broadcast to one shape.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: an operand is a number.

        Example:
            >>> gw.fmin(gw.tensor([1.0, float("nan")]), gw.tensor([3.0, 4.0]))
            tensor([1., 4.])
        """
        return _dispatch(_fmin, (self, other))

    def fmod(self, other: Tensor | Number) -> Any:
        """Remainder of division, `input - other * trunc(input / other)`, broadcast.

        It is 0 or has the sign of `input`. An integer divided by zero raises RuntimeError, a float
        gives nan.

        Args:
            input: a tensor.
            other: a tensor that broadcasts with `input`, or a number.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            RuntimeError: the shapes do not broadcast.
            TypeError: `input` is a number.

        Example:
            >>> gw.fmod(gw.tensor([7, -7]), 3)
            tensor([ 1, -1])
        """
        return _dispatch(_fmod, (self, other))

    def fmod_(self, other: Tensor | Number) -> Any:
        """In place: writes what `fmod` gives into the tensor, and returns it."""
        return _dispatch(_fmod_, (self, other))

    def frac(self) -> Any:
        """Fraction of each element, `x - trunc(x)`, of the sign of `x`.

        Args:
            input: a tensor of any shape.

        Raises:
            NotImplementedError: the dtype of `input` is bool, integer or complex.

        Example:
            >>> gw.frac(gw.tensor([-1.5, 2.25]))
            tensor([-0.5000,  0.2500])
        """
        return _dispatch(_frac, (self,))

    def frac_(self) -> Any:
        """In place: writes what `frac` gives into the tensor, and returns it."""
        return _dispatch(_frac_, (self,))

    def frexp(self) -> Any:
        """Mantissa and exponent of each element: `input = mantissa * 2^exponent`.

        The absolute value of the mantissa is in [0.5, 1), or 0 where the element is.

        Args:
            input: a floating-point tensor of any shape.

        Returns: a named tuple (mantissa, exponent), of the dtype of `input` and of int32.

        Raises:
            NotImplementedError: `input` is not a floating-point tensor.

        Example:
            >>> mantissa, exponent = gw.frexp(gw.tensor([6.0, -0.5]))
            >>> mantissa, exponent
            (tensor([ 0.7500, -0.5000]), tensor([3, 0], dtype=graphwright.int32))
        """
        return _dispatch(_frexp, (self,))

    def gather(
        self,
        dim: Any = REQUIRED,
        index: Any = REQUIRED,
        axis: Any = ...,
        *,
        sparse_grad: bool = False,
    ) -> Any:
        """Tensor of the elements at given positions: along `dim`, `out[i] = input[index[i]]`.

        Args:
            input: a tensor of any shape.
            dim: the dim that positions are along; in other dims, each element stays in its place.
            index: an int32 or int64 tensor of positions, none negative. It has as many dims as
                `input`, and no greater sizes but along `dim`.
            sparse_grad: without effect: gradients are dense.

        Returns: a new tensor of the shape of `index` and the dtype of `input`.

        Raises:
            IndexError: a position is out of range, or `input` has no such dim.
            RuntimeError: the shapes do not match, or `index` has another dtype.

        Example:
            >>> gw.gather(gw.tensor([[1, 2], [3, 4]]), 1, gw.tensor([[0], [1]]))
            tensor([[1],
                    [4]])
        """
        if axis is not ...:
            dim = same_as("gather", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index, sparse_grad)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_gather, (self, dim, index, sparse_grad), _error)
        return _dispatch(_gather, _bound)

    def gcd(self, other: Tensor) -> Any:
        """Greatest common divisor of two integers, at least 0, broadcast; gcd(0, 0) is 0.

        Args:
            input, other: tensors that broadcast to one shape.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is bool, floating-point or complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: an operand is a number.

        Example:
            >>> gw.gcd(gw.tensor([12, 5]), gw.tensor([18, 0]))
            tensor([6, 5])
        """
        return _dispatch(_gcd, (self, other))

    def gcd_(self, other: Tensor) -> Any:
        """In place: writes what `gcd` gives into the tensor, and returns it."""
        return _dispatch(_gcd_, (self, other))

    def ge(self, other: Tensor | Number) -> Any:
        """Whether `input >= other`, elementwise and broadcast; the operator `>=`.

        Args:
            input: a tensor.
            other: a tensor that broadcasts with `input`, or a number.

        Returns: a bool tensor of the broadcast shape.

        Raises:
            NotImplementedError: the promoted dtype is complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: `input` is a number.

        Example:
            >>> gw.ge(gw.tensor([1, 2, 3]), 2)
            tensor([False,  True,  True])
        """
        return _dispatch(_ge, (self, other))

    def ge_(self, other: Tensor | Number) -> Any:
        """In place: writes what `ge` gives into the tensor, and returns it."""
        return _dispatch(_ge_, (self, other))

    def geometric_(self, p: float, *, generator: Any = None) -> Any:
        """Fill with random numbers of trials up to the first success, at least 1.

        Args:
            input: a tensor of integers or floating-point numbers.
            p: the probability of success, above 0 and below 1.
            generator: the generator that draws; the default one if None.

        Returns: `input`.

        Raises:
            NotImplementedError: `input` is of bool or complex.
            RuntimeError: `p` is not above 0 and below 1.

        Example:
            >>> gw.all(gw.empty(9).geometric_(0.5) >= 1)
            tensor(True)
        """
        return _dispatch(_geometric_, (self, p, generator))

    def geqrf(self) -> Any:
        """QR decomposition in LAPACK's form: Householder vectors below the diagonal, `R` above it.

        The diagonal is that of `R`.

        Args:
            input: float32, float64 or complex, `(*, m, n)`.

        Returns: `(a, tau)` of shapes `(*, m, n)` and `(*, min(m, n))`, as `orgqr` and `ormqr` take
        them.

        Raises:
            RuntimeError: `input` has less than 2 dims or holds integers; the op has no derivative.

        Example:
            >>> a, tau = gw.geqrf(gw.randn(5, 3))
            >>> a.shape, tau.shape
            (graphwright.Size([5, 3]), graphwright.Size([3]))
        """
        return _dispatch(_geqrf, (self,))

    def gt(self, other: Tensor | Number) -> Any:
        """Whether `input > other`, elementwise and broadcast; the operator `>`.

        Args:
            input: a tensor.
            other: a tensor that broadcasts with `input`, or a number.

        Returns: a bool tensor of the broadcast shape.

        Raises:
            NotImplementedError: the promoted dtype is complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: `input` is a number.

        Example:
            >>> gw.gt(gw.tensor([1, 2, 3]), 2)
            tensor([False, False,  True])
        """
        return _dispatch(_gt, (self, other))

    def gt_(self, other: Tensor | Number) -> Any:
        """In place: writes what `gt` gives into the tensor, and returns it."""
        return _dispatch(_gt_, (self, other))

    def hardshrink(self, lambd: float = 0.5) -> Any:
        """Each element whose absolute value is above `lambd`, 0 in place of the others.

        Args:
            input: a floating-point tensor of any shape.
            lambd: the bound.

        Raises:
            NotImplementedError: `input` is not a floating-point tensor.

        Example:
            >>> gw.hardshrink(gw.tensor([-1.0, 0.3, 2.0]))
            tensor([-1.,  0.,  2.])
        """
        return _dispatch(_hardshrink, (self, lambd))

    def heaviside(self, values: Tensor) -> Any:
        """Step function: 0 for `x < 0` and nan, 1 for `x > 0`, `values` at 0; broadcast.

        Args:
            input: a tensor of any shape.
            values: a tensor of the dtype of `input` that broadcasts with it.

        Raises:
            NotImplementedError: `input` is complex.
            RuntimeError: the dtypes differ, or the shapes do not broadcast; in backward, always.

        Example:
            >>> gw.heaviside(gw.tensor([-1.0, 0.0, 2.0]), gw.tensor(0.5))
            tensor([0.0000, 0.5000, 1.0000])
        """
        return _dispatch(_heaviside, (self, values))

    def heaviside_(self, values: Tensor) -> Any:
        """In place: writes what `heaviside` gives into the tensor, and returns it."""
        return _dispatch(_heaviside_, (self, values))

    def histc(self, bins: int = 100, min: Number = 0, max: Number = 0) -> Any:
        """How many elements fall into each of equally wide bins.

        Args:
            input: a floating point tensor of any shape.
            bins: the number of bins, above 0.
            min, max: the range of the bins, which elements outside of do not count; if equal, the
                range of the elements.

        Returns: a tensor of the dtype of `input` of shape `(bins,)`; the last bin includes `max`.

        Raises:
            NotImplementedError: `input` is not floating point.
            RuntimeError: `bins` is not positive, `max` is below `min`, or the range is not finite.

        Example:
            >>> gw.histc(gw.tensor([1.0, 2.0, 1.0]), 4, 0, 3)
            tensor([0., 2., 1., 0.])
        """
        return _dispatch(_histc, (self, bins, min, max))

    def histogram(
        self,
        bins: Any = 100,
        *,
        range: Any = None,
        weight: Tensor | None = None,
        density: bool = False,
    ) -> Any:
        """How many elements fall into each bin, and the edges of the bins.

        Each bin includes its left edge; the last one includes both.

        Args:
            input: a float32 or float64 tensor of any shape.
            bins: the number of equally wide bins, or a vector of increasing edges of the dtype of
                `input`.
            range: the two outer edges of equally wide bins; those of the elements if None.
            weight: a tensor of the shape and dtype of `input`: how much each element counts; 1 if
                None.
            density: divide by the sum and the widths of the bins, so that the integral is 1.

        Returns: the named tuple `(hist, bin_edges)` of vectors of the dtype of `input`.

        Raises:
            NotImplementedError: `input` has another dtype.
            RuntimeError: shapes or dtypes do not match, `bins` is not positive, or the range is
                decreasing or not finite.
            TypeError: `range` is given together with edges.

        Example:
            >>> gw.histogram(gw.tensor([1.0, 2.0, 1.0]), 3, range=(0.0, 3.0)).hist
            tensor([0., 2., 1.])
        """
        return _dispatch(_histogram, (self, bins, range, weight, density))

    def hsplit(
        self,
        *indices_or_sections_: Any,
        indices_or_sections: int | Sequence[int] | None = None,
        sections: int | Sequence[int] | None = None,
        indices: int | Sequence[int] | None = None,
    ) -> Any:
        """Views of parts of the second or the only dim: as `tensor_split`, of equal sections.

        Args:
            input: a tensor of at least one dim.
            indices_or_sections: an int, the number of sections; or the positions where new parts
                begin.
            sections, indices: the same by name; exactly one of the three is given.

        Returns: a tuple of views of `input`.

        Raises:
            RuntimeError: `input` has no dims, or the number of sections does not divide the dim.
            TypeError: none or several of the three are given.

        Example:
            >>> gw.hsplit(gw.tensor([[1, 2], [3, 4]]), 2)
            (tensor([[1],
                    [3]]), tensor([[2],
                    [4]]))
        """
        if indices_or_sections_:
            indices_or_sections = spread("hsplit", indices_or_sections_, indices_or_sections, None)
        return _dispatch(_hsplit, (self, indices_or_sections, sections, indices))

    def hypot(self, other: Tensor) -> Any:
        """Hypotenuse, `sqrt(input^2 + other^2)`, elementwise and broadcast, without overflow.

        Args:
            input, other: tensors that broadcast to one shape.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is bool, integer or complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: an operand is a number.

        Example:
            >>> gw.hypot(gw.tensor([3.0]), gw.tensor([4.0]))
            tensor([5.])
        """
        return _dispatch(_hypot, (self, other))

    def hypot_(self, other: Tensor) -> Any:
        """In place: writes what `hypot` gives into the tensor, and returns it."""
        return _dispatch(_hypot_, (self, other))

    def i0(self) -> Any:
        """Modified Bessel function of the first kind and order 0 (DLMF 10.25).

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Raises:
            NotImplementedError: the dtype of `input` is complex.

        Example:
            >>> gw.i0(gw.tensor([0.0, 1.0]))
            tensor([1.0000, 1.2661])
        """
        return _dispatch(_i0, (self,))

    def i0_(self) -> Any:
        """In place: writes what `i0` gives into the tensor, and returns it."""
        return _dispatch(_i0_, (self,))

    def igamma(self, other: Tensor) -> Any:
        """Regularised lower incomplete gamma function `P(input, other)`, broadcast (DLMF 8.2.4).

        It is the integral of `t^(a - 1) e^(-t) / gamma(a)` from 0 to `other`, a being `input`.
        The gradient with respect to `input` raises NotImplementedError.

        Args:
            input, other: tensors that broadcast to one shape.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is bool, integer or complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: an operand is a number.

        Example:
            >>> gw.igamma(gw.tensor([3.0]), gw.tensor([1.0]))
            tensor([0.0803])
        """
        return _dispatch(_igamma, (self, other))

    def igamma_(self, other: Tensor) -> Any:
        """In place: writes what `igamma` gives into the tensor, and returns it."""
        return _dispatch(_igamma_, (self, other))

    def igammac(self, other: Tensor) -> Any:
        """Regularised upper incomplete gamma function `Q(input, other)`, broadcast (DLMF 8.2.4).

        It is `1 - igamma(input, other)`. The gradient with respect to `input` raises
        NotImplementedError.

        Args:
            input, other: tensors that broadcast to one shape.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is bool, integer or complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: an operand is a number.

        Example:
            >>> gw.igammac(gw.tensor([3.0]), gw.tensor([1.0]))
            tensor([0.9197])
        """
        return _dispatch(_igammac, (self, other))

    def igammac_(self, other: Tensor) -> Any:
        """In place: writes what `igammac` gives into the tensor, and returns it."""
        return _dispatch(_igammac_, (self, other))

    def index_add(
        self,
        dim: Any = REQUIRED,
        index: Any = REQUIRED,
        source: Any = REQUIRED,
        axis: Any = ...,
        *,
        alpha: Number = 1,
    ) -> Any:
        """Copy to whose slices at given positions of one dim others are added, times `alpha`.

        Args:
            input: a tensor of any shape.
            dim: the dim.
            index: an int32 or int64 vector of positions, which may repeat; none negative.
            source: the slices, one along `dim` for each position, of the dtype of `input`.
            alpha: the factor.

        Returns: a new tensor of the shape of `input`.

        Raises:
            IndexError: a position is out of range, or `index` is no vector.
            RuntimeError: the shape or dtype of `source` does not match, or `index` has another
                dtype.

        Example:
            >>> gw.index_add(gw.zeros(3), 0, gw.tensor([0, 2, 0]), gw.ones(3), alpha=2)
            tensor([4., 0., 2.])
        """
        if axis is not ...:
            dim = same_as("index_add", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index, source, alpha)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_index_add, (self, dim, index, source, alpha), _error)
        return _dispatch(_index_add, _bound)

    def index_add_(
        self,
        dim: Any = REQUIRED,
        index: Any = REQUIRED,
        source: Any = REQUIRED,
        axis: Any = ...,
        *,
        alpha: Number = 1,
    ) -> Any:
        """In place: writes what `index_add` gives into the tensor, and returns it."""
        if axis is not ...:
            dim = same_as("index_add_", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index, source, alpha)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_index_add_, (self, dim, index, source, alpha), _error)
        return _dispatch(_index_add_, _bound)

    def index_copy(
        self,
        dim: Any = REQUIRED,
        index: Any = REQUIRED,
        source: Any = REQUIRED,
        axis: Any = ...,
    ) -> Any:
        """Copy whose slices at given positions of one dim are other slices.

        Args:
            input: a tensor of any shape.
            dim: the dim.
            index: an int64 vector of positions, none negative; of several slices for one position
                the last counts.
            source: the slices, one along `dim` for each position, of the dtype of `input`.

        Returns: a new tensor of the shape of `input`.

        Raises:
            IndexError: a position is out of range, or `source` has another number of slices.
            RuntimeError: the other sizes or a dtype do not match.

        Example:
            >>> gw.index_copy(gw.zeros(3), 0, gw.tensor([0, 2]), gw.tensor([1.0, 2.0]))
            tensor([1., 0., 2.])
        """
        if axis is not ...:
            dim = same_as("index_copy", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index, source)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_index_copy, (self, dim, index, source), _error)
        return _dispatch(_index_copy, _bound)

    def index_copy_(
        self,
        dim: Any = REQUIRED,
        index: Any = REQUIRED,
        source: Any = REQUIRED,
        axis: Any = ...,
    ) -> Any:
        """In place: writes what `index_copy` gives into the tensor, and returns it."""
        if axis is not ...:
            dim = same_as("index_copy_", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index, source)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_index_copy_, (self, dim, index, source), _error)
        return _dispatch(_index_copy_, _bound)

    def index_fill(
        self,
        dim: Any = REQUIRED,
        index: Any = REQUIRED,
        value: Any = REQUIRED,
        axis: Any = ...,
    ) -> Any:
        """Copy whose slices at given positions of one dim are filled with a number.

        Args:
            input: a tensor of any shape.
            dim: the dim.
            index: an int64 vector of positions; negative ones count from the end.
            value: a number, or a tensor without dims.

        Returns: a new tensor of the shape and dtype of `input`.

        Raises:
            IndexError: a position is out of range, or `index` has another dtype or more dims.
            RuntimeError: `value` has dims, or the dtype of `input` does not hold it.

        Example:
            >>> gw.index_fill(gw.zeros(3), 0, gw.tensor([0, 2]), 5)
            tensor([5., 0., 5.])
        """
        if axis is not ...:
            dim = same_as("index_fill", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index, value)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_index_fill, (self, dim, index, value), _error)
        return _dispatch(_index_fill, _bound)

    def index_fill_(
        self,
        dim: Any = REQUIRED,
        index: Any = REQUIRED,
        value: Any = REQUIRED,
        axis: Any = ...,
    ) -> Any:
        """In place: writes what `index_fill` gives into the tensor, and returns it."""
        if axis is not ...:
            dim = same_as("index_fill_", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index, value)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_index_fill_, (self, dim, index, value), _error)
        return _dispatch(_index_fill_, _bound)

    def index_put(
        self,
        indices: Sequence[Tensor | None],
        values: Tensor,
        accumulate: bool = False,
    ) -> Any:
        """Copy in which the elements at given positions are other values: `out[indices] = values`.

        Args:
            input: a tensor of any shape.
            indices: an integer or bool tensor, or None for all positions, for each dim from the
                first one on; they broadcast with one another. Negative positions count from the
                end.
            values: a tensor of the dtype of `input` that broadcasts to `input[indices]`.
            accumulate: add the values, where positions repeat each of them; else the last one
                counts.

        Returns: a new tensor of the shape of `input`.

        Raises:
            IndexError: a position is out of range, there are more indices than dims, or one has
                another dtype.
            RuntimeError: `values` has another dtype or does not broadcast.

        Example:
            >>> gw.index_put(gw.zeros(3), (gw.tensor([0, 2]),), gw.tensor([1.0, 2.0]))
            tensor([1., 0., 2.])
        """
        return _dispatch(_index_put, (self, as_tensors(indices, "index_put"), values, accumulate))

    def index_put_(
        self,
        indices: Sequence[Tensor | None],
        values: Tensor,
        accumulate: bool = False,
    ) -> Any:
        """In place: writes what `index_put` gives into the tensor, and returns it."""
        return _dispatch(
            _index_put_, (self, as_tensors(indices, "index_put_"), values, accumulate)
        )

    def index_reduce(
        self,
        dim: Any = REQUIRED,
        index: Any = REQUIRED,
        source: Any = REQUIRED,
        reduce: Any = REQUIRED,
        axis: Any = ...,
        *,
        include_self: bool = True,
    ) -> Any:
        """Copy whose slices at given positions of one dim are reduced with other slices.

        Args:
            input: a tensor of any shape.
            dim: the dim.
            index: an int32 or int64 vector of positions, which may repeat; none negative.
            source: the slices, one along `dim` for each position, of the dtype of `input`.
            reduce: "prod", "mean", "amax" or "amin".
            include_self: the slices of `input` take part.

        Returns: a new tensor of the shape of `input`.

        Raises:
            IndexError: a position is out of range, or `index` is no vector.
            RuntimeError: the shape or dtype of `source` does not match, or `reduce` is another
                word.

        Example:
            >>> gw.index_reduce(gw.ones(2), 0, gw.tensor([0, 0]), gw.tensor([2.0, 3.0]), "prod")
            tensor([6., 1.])
        """
        if axis is not ...:
            dim = same_as("index_reduce", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index, source, reduce, include_self)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(
                _index_reduce,
                (
                    self,
                    dim,
                    index,
                    source,
                    reduce,
                    include_self,
                ),
                _error,
            )
        return _dispatch(_index_reduce, _bound)

    def index_reduce_(
        self,
        dim: Any = REQUIRED,
        index: Any = REQUIRED,
        source: Any = REQUIRED,
        reduce: Any = REQUIRED,
        axis: Any = ...,
        *,
        include_self: bool = True,
    ) -> Any:
        """In place: writes what `index_reduce` gives into the tensor, and returns it."""
        if axis is not ...:
            dim = same_as("index_reduce_", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index, source, reduce, include_self)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(
                _index_reduce_,
                (
                    self,
                    dim,
                    index,
                    source,
                    reduce,
                    include_self,
                ),
                _error,
            )
        return _dispatch(_index_reduce_, _bound)

    def index_select(self, dim: Any = REQUIRED, index: Any = REQUIRED, axis: Any = ...) -> Any:
        """Copy of the slices at given positions of one dim.

        Args:
            input: a tensor of any shape.
            dim: the dim.
            index: an int32 or int64 vector of positions, none negative.

        Returns: a new tensor with one slice along `dim` for each position.

        Raises:
            IndexError: a position is out of range, `index` is no vector, or `input` has no such
                dim.
            RuntimeError: `index` has another dtype.

        Example:
            >>> gw.index_select(gw.tensor([[1, 2], [3, 4]]), 1, gw.tensor([1, 0]))
            tensor([[2, 1],
                    [4, 3]])
        """
        if axis is not ...:
            dim = same_as("index_select", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_index_select, (self, dim, index), _error)
        return _dispatch(_index_select, _bound)

    def inner(self, other: Tensor) -> Any:
        """Sum of products along the last dims; the product where one tensor has no dims.

        Args:
            input: `(*, k)`.
            other: `(+, k)`, of the dtype of `input`.

        Returns: a tensor of shape `(*, +)`.

        Raises:
            RuntimeError: the last sizes or the dtypes differ.

        Example:
            >>> gw.inner(gw.ones(2, 3), gw.ones(4, 3)).shape
            graphwright.Size([2, 4])
        """
        return _dispatch(_inner, (self, other))

    def inverse(self) -> Any:
        """Inverse of square matrices: `linalg.inv`.

        Args:
            input: float32, float64 or complex, `(*, n, n)`.

        Returns: a tensor of the shape of `input`.

        Raises:
            LinAlgError: a matrix is singular.
            RuntimeError: the matrices are not square, or of integers.

        Example:
            >>> gw.inverse(gw.tensor([[2.0, 0.0], [0.0, 4.0]]))
            tensor([[0.5000, 0.0000],
                    [0.0000, 0.2500]])
        """
        return _dispatch(_inverse, (self,))

    def isclose(
        self,
        other: Tensor,
        rtol: float = 1e-05,
        atol: float = 1e-08,
        equal_nan: bool = False,
    ) -> Any:
        """Whether two elements are close: equal, or `|input - other| <= atol + rtol * |other|`.

        Args:
            input, other: tensors of one dtype that broadcast to one shape.
            rtol: the tolerance relative to `other`, at least 0.
            atol: the absolute tolerance, at least 0.
            equal_nan: whether two nan are close.

        Returns: a bool tensor of the broadcast shape.

        Raises:
            RuntimeError: the dtypes differ, the shapes do not broadcast, a tolerance is negative.

        Example:
            >>> gw.isclose(gw.tensor([1.0, 2.0]), gw.tensor([1.000001, 2.1]))
            tensor([ True, False])
        """
        return _dispatch(_isclose, (self, other, rtol, atol, equal_nan))

    def isfinite(self) -> Any:
        """Whether each element is neither infinite nor nan; of complex numbers, both parts.

        Args:
            input: a tensor of any shape.

        Returns: a bool tensor of the shape of `input`.

        Example:
            >>> gw.isfinite(gw.tensor([1.0, float("inf")]))
            tensor([ True, False])
        """
        return _dispatch(_isfinite, (self,))

    def isinf(self) -> Any:
        """Whether each element is inf or -inf; of complex numbers, whether a part is.

        Args:
            input: a tensor of any shape.

        Returns: a bool tensor of the shape of `input`.

        Example:
            >>> gw.isinf(gw.tensor([1.0, float("-inf")]))
            tensor([False,  True])
        """
        return _dispatch(_isinf, (self,))

    def isnan(self) -> Any:
        """Whether each element is nan; of complex numbers, whether a part is.

        Args:
            input: a tensor of any shape.

        Returns: a bool tensor of the shape of `input`.

        Example:
            >>> gw.isnan(gw.tensor([1.0, float("nan")]))
            tensor([False,  True])
        """
        return _dispatch(_isnan, (self,))

    def isneginf(self) -> Any:
        """Whether each element is -inf.

        Args:
            input: a tensor of any shape.

        Returns: a bool tensor of the shape of `input`.

        Raises:
            NotImplementedError: the dtype of `input` is complex.

        Example:
            >>> gw.isneginf(gw.tensor([float("-inf"), float("inf")]))
            tensor([ True, False])
        """
        return _dispatch(_isneginf, (self,))

    def isposinf(self) -> Any:
        """Whether each element is inf.

        Args:
            input: a tensor of any shape.

        Returns: a bool tensor of the shape of `input`.

        Raises:
            NotImplementedError: the dtype of `input` is complex.

        Example:
            >>> gw.isposinf(gw.tensor([float("-inf"), float("inf")]))
            tensor([False,  True])
        """
        return _dispatch(_isposinf, (self,))

    def isreal(self) -> Any:
        """Whether each element has the imaginary part 0, as all elements of real tensors have.

        Args:
            input: a tensor of any shape and dtype.

        Returns: a bool tensor of the shape of `input`.

        Example:
            >>> gw.isreal(gw.tensor([1 + 0j, 1j]))
            tensor([ True, False])
        """
        return _dispatch(_isreal, (self,))

    def istft(
        self,
        n_fft: int,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: Tensor | None = None,
        center: bool = True,
        normalized: bool = False,
        onesided: Any = None,
        length: int | None = None,
        return_complex: bool = False,
    ) -> Any:
        """Signal whose short-time Fourier transform is `input`: the inverse of `stft`.

        Frames are added up where they overlap, and divided by the sum of the squared windows
        (Griffin and Lim, 1984).

        Args:
            input: complex, `(frequencies, frames)` or `(N, frequencies, frames)`.
            n_fft: the length of a frame.
            hop_length: the distance between frames; `n_fft // 4` if None.
            win_length: the length of the window; `n_fft` if None.
            window: weights, `(win_length,)`; ones if None.
            center: `stft` padded the signal, so that `n_fft // 2` elements are cut off at both
                ends.
            normalized: `stft` divided by `sqrt(n_fft)`.
            onesided: `input` has the `n_fft // 2 + 1` frequencies from 0; if None, unless it has
                `n_fft`.
            length: the length of the result, cut or filled up with zeros; all if None.
            return_complex: return a complex signal, which needs all frequencies.

        Returns: a tensor of shape `(L,)` or `(N, L)`.

        Raises:
            RuntimeError: the frequencies do not fit `n_fft`, or the windows leave an element out.

        Example:
            >>> spectrum = gw.stft(gw.ones(100), n_fft=20, return_complex=True)
            >>> gw.istft(spectrum, n_fft=20).shape
            graphwright.Size([100])
        """
        return _dispatch(
            _istft,
            (
                self,
                n_fft,
                hop_length,
                win_length,
                window,
                center,
                normalized,
                onesided,
                length,
                return_complex,
            ),
        )

    def kron(self, other: Tensor) -> Any:
        """Kronecker product: each element of `input` times the whole of `other`, as blocks.

        Args:
            input: `(a, b, ...)`; the shape that has less dims gets ones in front.
            other: `(c, d, ...)`; dtypes are promoted.

        Returns: a tensor of shape `(a * c, b * d, ...)`.

        Example:
            >>> gw.kron(gw.eye(2), gw.tensor([[1.0, 2.0]]))
            tensor([[1., 2., 0., 0.],
                    [0., 0., 1., 2.]])
        """
        return _dispatch(_kron, (self, other))

    def kthvalue(
        self,
        k: int,
        dim: int = -1,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
    ) -> Any:
        """The `k`-th least element along one dim, counted from 1, and where it is.

        Args:
            input: a real tensor of any shape; NaN counts as the greatest.
            k: which one in ascending order: from 1 to the size of the dim.
            dim: the dim to search.
            keepdim: keep that dim with size 1.

        Returns: the named tuple `(values, indices)` of the shape of `input` without `dim`; the
            indices are int64.

        Raises:
            RuntimeError: `k` is out of range.
            IndexError: `input` has no such dim, or that dim is empty.
            NotImplementedError: `input` is bool or complex.

        Example:
            >>> gw.kthvalue(gw.tensor([3.0, 1.0, 2.0]), 2)
            graphwright.return_types.kthvalue(
            values=tensor(2.),
            indices=tensor(2))
        """
        if surplus is not ...:
            refuse_surplus("kthvalue")
        if axis is not ...:
            dim = same_as("kthvalue", "dim", dim, -1, "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("kthvalue", "keepdim", keepdim, False, "keepdims", keepdims)
        try:
            _bound = (self, k, wrap_dim(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_kthvalue, (self, k, dim, keepdim), _error)
        return _dispatch(_kthvalue, _bound)

    def lcm(self, other: Tensor) -> Any:
        """Least common multiple of two integers, at least 0, broadcast; 0 where one of them is 0.

        Args:
            input, other: tensors that broadcast to one shape.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is bool, floating-point or complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: an operand is a number.

        Example:
            >>> gw.lcm(gw.tensor([4, 5]), gw.tensor([6, 0]))
            tensor([12,  0])
        """
        return _dispatch(_lcm, (self, other))

    def lcm_(self, other: Tensor) -> Any:
        """In place: writes what `lcm` gives into the tensor, and returns it."""
        return _dispatch(_lcm_, (self, other))

    def ldexp(self, other: Tensor) -> Any:
        """Product with a power of two, `input * 2^other`, elementwise and broadcast.

        Args:
            input: a tensor; integers and bool give the default dtype.
            other: a tensor of exponents that broadcasts with `input`.

        Returns: a tensor of the broadcast shape.

        Raises:
            NotImplementedError: `input` is floating-point and `other` of bool.
            RuntimeError: the shapes do not broadcast.
            TypeError: one of them is a number.

        Example:
            >>> gw.ldexp(gw.tensor([1.0, 3.0]), gw.tensor([2, -1]))
            tensor([4.0000, 1.5000])
        """
        return _dispatch(_ldexp, (self, other))

    def ldexp_(self, other: Tensor) -> Any:
        """In place: writes what `ldexp` gives into the tensor, and returns it."""
        return _dispatch(_ldexp_, (self, other))

    def le(self, other: Tensor | Number) -> Any:
        """Whether `input <= other`, elementwise and broadcast; the operator `<=`.

        Args:
            input: a tensor.
            other: a tensor that broadcasts with `input`, or a number.

        Returns: a bool tensor of the broadcast shape.

        Raises:
            NotImplementedError: the promoted dtype is complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: `input` is a number.

        Example:
            >>> gw.le(gw.tensor([1, 2, 3]), 2)
            tensor([ True,  True, False])
        """
        return _dispatch(_le, (self, other))

    def le_(self, other: Tensor | Number) -> Any:
        """In place: writes what `le` gives into the tensor, and returns it."""
        return _dispatch(_le_, (self, other))

    def lerp(self, end: Tensor, weight: Tensor | Number) -> Any:
        """Linear interpolation, `input + weight * (end - input)`, elementwise and broadcast.

        A weight of 1 gives `end` exactly.

        Args:
            input: a floating-point or complex tensor.
            end: a tensor of the dtype of `input` that broadcasts with it.
            weight: a number, or a tensor of that dtype; without dims, of any that casts to it.

        Returns: a tensor of the broadcast shape, in the dtype of `input`.

        Raises:
            NotImplementedError: `input` is of integers or bool.
            RuntimeError: the dtypes differ, or the shapes do not broadcast.

        Example:
            >>> gw.lerp(gw.tensor([0.0, 2.0]), gw.tensor([4.0, 4.0]), 0.25)
            tensor([1.0000, 2.5000])
        """
        return _dispatch(_lerp, (self, end, weight))

    def lerp_(self, end: Tensor, weight: Tensor | Number) -> Any:
        """In place: writes what `lerp` gives into the tensor, and returns it."""
        return _dispatch(_lerp_, (self, end, weight))

    def lgamma(self) -> Any:
        """Logarithm of the absolute value of the gamma function; inf at 0, -1, -2 ...

        Computed by Stirling's series and Chebyshev polynomials (DLMF 5.11.1).

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Raises:
            NotImplementedError: the dtype of `input` is complex.

        Example:
            >>> gw.lgamma(gw.tensor([4.0, 0.5]))
            tensor([1.7918, 0.5724])
        """
        return _dispatch(_lgamma, (self,))

    def lgamma_(self) -> Any:
        """In place: writes what `lgamma` gives into the tensor, and returns it."""
        return _dispatch(_lgamma_, (self,))

    def log(self) -> Any:
        """Natural logarithm of each element; -inf at 0, nan for negative real numbers.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.log(gw.tensor([1.0, 2.0]))
            tensor([0.0000, 0.6931])
        """
        return _dispatch(_log, (self,))

    def log10(self) -> Any:
        """Logarithm to base 10; -inf at 0, nan for negative real numbers.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.log10(gw.tensor([1, 100]))
            tensor([0., 2.])
        """
        return _dispatch(_log10, (self,))

    def log10_(self) -> Any:
        """In place: writes what `log10` gives into the tensor, and returns it."""
        return _dispatch(_log10_, (self,))

    def log1p(self) -> Any:
        """Natural logarithm of `1 + x`, accurate for small `x`.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.log1p(gw.tensor([0.0, 1.0]))
            tensor([0.0000, 0.6931])
        """
        return _dispatch(_log1p, (self,))

    def log1p_(self) -> Any:
        """In place: writes what `log1p` gives into the tensor, and returns it."""
        return _dispatch(_log1p_, (self,))

    def log2(self) -> Any:
        """Logarithm to base 2; -inf at 0, nan for negative real numbers.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.log2(gw.tensor([1, 8]))
            tensor([0., 3.])
        """
        return _dispatch(_log2, (self,))

    def log2_(self) -> Any:
        """In place: writes what `log2` gives into the tensor, and returns it."""
        return _dispatch(_log2_, (self,))

    def log_(self) -> Any:
        """In place: writes what `log` gives into the tensor, and returns it."""
        return _dispatch(_log_, (self,))

    def log_normal_(self, mean: float = 1.0, std: float = 2.0, *, generator: Any = None) -> Any:
        """Fill with random numbers whose logarithms are normally distributed.

        Args:
            input: a floating-point tensor of any shape.
            mean: the mean of the logarithms.
            std: the standard deviation of the logarithms, above 0.
            generator: the generator that draws; the default one if None.

        Returns: `input`.

        Raises:
            NotImplementedError: `input` is not a floating-point tensor.
            RuntimeError: `std` is not above 0.

        Example:
            >>> gw.all(gw.empty(9).log_normal_() > 0)
            tensor(True)
        """
        return _dispatch(_log_normal_, (self, mean, std, generator))

    def log_softmax(self, dim: Any = REQUIRED, dtype: DType | None = None, axis: Any = ...) -> Any:
        """Logarithm of softmax along a dim: `x_i - log(sum_j exp(x_j))`, without forming softmax.

        Args:
            input: floating point.
            dim: the dim whose exponentials sum up to 1.
            dtype: what `input` is converted to first; nothing if None.

        Returns: a tensor of the shape of `input`.

        Raises:
            IndexError: `input` has no such dim.
            NotImplementedError: `input` holds integers and `dtype` is None.

        Example:
            >>> gw.log_softmax(gw.tensor([0.0, 0.0]), 0)
            tensor([-0.6931, -0.6931])
        """
        if axis is not ...:
            dim = same_as("log_softmax", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_log_softmax, (self, dim, dtype), _error)
        return _dispatch(_log_softmax, _bound)

    def logaddexp(self, other: Tensor) -> Any:
        """Logarithm of a sum, `log(e^input + e^other)`, broadcast, without overflow.

        Args:
            input, other: tensors that broadcast to one shape.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is bool or integer.
            RuntimeError: the shapes do not broadcast.
            TypeError: an operand is a number.

        Example:
            >>> gw.logaddexp(gw.tensor([0.0, 1000.0]), gw.tensor([0.0, 1000.0]))
            tensor([6.9315e-01, 1.0007e+03])
        """
        return _dispatch(_logaddexp, (self, other))

    def logaddexp2(self, other: Tensor) -> Any:
        """Logarithm to base 2 of a sum, `log2(2^input + 2^other)`, broadcast, without overflow.

        Args:
            input, other: tensors that broadcast to one shape.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is bool, integer or complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: an operand is a number.

        Example:
            >>> gw.logaddexp2(gw.tensor([0.0, 1000.0]), gw.tensor([0.0, 1000.0]))
            tensor([1.0000e+00, 1.0010e+03])
        """
        return _dispatch(_logaddexp2, (self, other))

    def logcumsumexp(self, dim: Any = REQUIRED, axis: Any = ...) -> Any:
        """Logarithm of the running sum of exponentials: `y_i = log(exp(x_0) + ... + exp(x_i))`.

        Args:
            input: a floating point or complex tensor of any shape.
            dim: the dim to sum along.

        Returns: a tensor of the shape and dtype of `input`.

        Raises:
            IndexError: `input` has no such dim.
            NotImplementedError: `input` has integers or bools.

        Example:
            >>> gw.logcumsumexp(gw.zeros(3), 0)
            tensor([0.0000, 0.6931, 1.0986])
        """
        if axis is not ...:
            dim = same_as("logcumsumexp", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_logcumsumexp, (self, dim), _error)
        return _dispatch(_logcumsumexp, _bound)

    def logdet(self) -> Any:
        """Logarithm of the determinant of square matrices: NaN where the determinant is negative.

        Args:
            input: float32, float64 or complex, `(*, n, n)`.

        Returns: a tensor of shape `(*)`; -inf for a singular matrix.

        Raises:
            RuntimeError: the matrices are not square, or of integers.

        Example:
            >>> gw.logdet(gw.eye(3))
            tensor(0.)
        """
        return _dispatch(_logdet, (self,))

    def logical_and(self, other: Tensor) -> Any:
        """Whether both elements are other than 0, broadcast.

        Args:
            input, other: tensors that broadcast to one shape.

        Returns: a bool tensor of the broadcast shape.

        Raises:
            RuntimeError: the shapes do not broadcast.
            TypeError: an operand is a number.

        Example:
            >>> gw.logical_and(gw.tensor([0, 1, 1]), gw.tensor([1, 0, 2]))
            tensor([False, False,  True])
        """
        return _dispatch(_logical_and, (self, other))

    def logical_and_(self, other: Tensor) -> Any:
        """In place: writes what `logical_and` gives into the tensor, and returns it."""
        return _dispatch(_logical_and_, (self, other))

    def logical_not(self) -> Any:
        """Whether each element is 0 or False.

        Args:
            input: a tensor of any shape.

        Returns: a bool tensor of the shape of `input`.

        Example:
            >>> gw.logical_not(gw.tensor([0, 2]))
            tensor([ True, False])
        """
        return _dispatch(_logical_not, (self,))

    def logical_not_(self) -> Any:
        """In place: writes what `logical_not` gives into the tensor, and returns it."""
        return _dispatch(_logical_not_, (self,))

    def logical_or(self, other: Tensor) -> Any:
        """Whether one or both elements are other than 0, broadcast.

        Args:
            input, other: tensors that broadcast to one shape.

        Returns: a bool tensor of the broadcast shape.

        Raises:
            RuntimeError: the shapes do not broadcast.
            TypeError: an operand is a number.

        Example:
            >>> gw.logical_or(gw.tensor([0, 1, 1]), gw.tensor([1, 0, 2]))
            tensor([True, True, True])
        """
        return _dispatch(_logical_or, (self, other))

    def logical_or_(self, other: Tensor) -> Any:
        """In place: writes what `logical_or` gives into the tensor, and returns it."""
        return _dispatch(_logical_or_, (self, other))

    def logical_xor(self, other: Tensor) -> Any:
        """Whether just one of two elements is other than 0, broadcast.

        Args:
            input, other: tensors that broadcast to one shape.

        Returns: a bool tensor of the broadcast shape.

        Raises:
            RuntimeError: the shapes do not broadcast.
            TypeError: an operand is a number.

        Example:
            >>> gw.logical_xor(gw.tensor([0, 1, 1]), gw.tensor([1, 0, 2]))
            tensor([ True,  True, False])
        """
        return _dispatch(_logical_xor, (self, other))

    def logical_xor_(self, other: Tensor) -> Any:
        """In place: writes what `logical_xor` gives into the tensor, and returns it."""
        return _dispatch(_logical_xor_, (self, other))

    def logit(self, eps: float | None = None) -> Any:
        """Log-odds of each probability, `y = log(z / (1 - z))`: the inverse of `sigmoid`.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.
            eps: `z` is `input` clamped to [eps, 1 - eps]; if None `z` is `input`, and `y` is nan
                beyond [0, 1].

        Raises:
            NotImplementedError: `input` is complex.

        Example:
            >>> gw.logit(gw.tensor([0.5, 0.9]))
            tensor([0.0000, 2.1972])
            >>> gw.logit(gw.tensor([0.0, 1.0]), eps=0.1)
            tensor([-2.1972,  2.1972])
        """
        return _dispatch(_logit, (self, eps))

    def logit_(self, eps: float | None = None) -> Any:
        """In place: writes what `logit` gives into the tensor, and returns it."""
        return _dispatch(_logit_, (self, eps))

    def logsumexp(
        self,
        dim: Any = REQUIRED,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
    ) -> Any:
        """Logarithm of the sum of exponentials along some dims: `log(sum exp(x))`.

        The maximum is taken out first, so that nothing overflows.

        Args:
            input: a tensor of any shape; integers and bool are converted to the default dtype.
            dim: the dim or dims to sum along, at least one.
            keepdim: keep each of these dims with size 1.

        Returns: a tensor of the shape of `input` without `dim`.

        Raises:
            IndexError: `input` has no such dim.
            RuntimeError: `dim` is empty, or names a dim twice.

        Example:
            >>> gw.logsumexp(gw.zeros(2, 2), 1)
            tensor([0.6931, 0.6931])
        """
        if surplus is not ...:
            refuse_surplus("logsumexp")
        if axis is not ...:
            dim = same_as("logsumexp", "dim", dim, REQUIRED, "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("logsumexp", "keepdim", keepdim, False, "keepdims", keepdims)
        try:
            _bound = (self, wrap_dims_given(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_logsumexp, (self, dim, keepdim), _error)
        return _dispatch(_logsumexp, _bound)

    def lt(self, other: Tensor | Number) -> Any:
        """Whether `input < other`, elementwise and broadcast; the operator `<`.

        Args:
            input: a tensor.
            other: a tensor that broadcasts with `input`, or a number.

        Returns: a bool tensor of the broadcast shape.

        Raises:
            NotImplementedError: the promoted dtype is complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: `input` is a number.

        Example:
            >>> gw.lt(gw.tensor([1, 2, 3]), 2)
            tensor([ True, False, False])
        """
        return _dispatch(_lt, (self, other))

    def lt_(self, other: Tensor | Number) -> Any:
        """In place: writes what `lt` gives into the tensor, and returns it."""
        return _dispatch(_lt_, (self, other))

    def lu(self, pivot: bool = True, get_infos: bool = False) -> Any:
        """LU factorisation in one matrix, of singular matrices too.

        Args:
            A: float32, float64 or complex, `(*, m, n)`.
            pivot: exchange rows; must be True.
            get_infos: return `info` as well.

        Returns: `(LU, pivots)` as `linalg.lu_factor` has them; with `get_infos` also int32 `(*)`,
        0 or the index (from 1) of the first zero on the diagonal of `U`.

        Raises:
            RuntimeError: `A` has less than 2 dims or holds integers, or `pivot` is False.

        Example:
            >>> gw.lu(gw.tensor([[0.0, 1.0], [2.0, 0.0]]))[1]
            tensor([2, 2], dtype=graphwright.int32)
        """
        return _dispatch(_lu, (self, pivot, get_infos))

    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Any:
        """Solution `X` of `A X = input`, where `A` is given by its LU factors: `linalg.lu_solve`.

        Args:
            input: right sides, `(*, n, k)`.
            LU_data: factors of the dtype of `input`, `(*, n, n)`.
            LU_pivots: int32, `(*, n)`.

        Returns: a tensor of the shape of `input` with the broadcast batch dims.

        Raises:
            RuntimeError: shapes or dtypes do not match.

        Example:
            >>> LU, pivots = gw.lu(gw.tensor([[0.0, 1.0], [2.0, 0.0]]))
            >>> gw.lu_solve(gw.tensor([[1.0], [2.0]]), LU, pivots)
            tensor([[1.],
                    [1.]])
        """
        return _dispatch(_lu_solve, (self, LU_data, LU_pivots))

    def masked_fill(self, mask: Tensor, value: Tensor | Number) -> Any:
        """Elements of `input`, replaced by `value` where the mask holds; broadcast.

        Args:
            input: a tensor of any shape.
            mask: a bool tensor that broadcasts with `input`.
            value: a number or a tensor without dims, converted to the dtype of `input`.

        Returns: a tensor of the broadcast shape, in the dtype of `input`.

        Raises:
            RuntimeError: the mask is not of bool, the shapes do not broadcast, or the dtype of
                `input` does not hold `value`.

        Example:
            >>> gw.masked_fill(gw.zeros(3), gw.tensor([True, False, True]), 2)
            tensor([2., 0., 2.])
        """
        return _dispatch(_masked_fill, (self, mask, value))

    def masked_fill_(self, mask: Tensor, value: Tensor | Number) -> Any:
        """In place: writes what `masked_fill` gives into the tensor, and returns it."""
        return _dispatch(_masked_fill_, (self, mask, value))

    def masked_scatter(self, mask: Tensor, source: Tensor) -> Any:
        """Copy in which the n-th element where a mask is true is the n-th element of `source`.

        Args:
            input: a tensor of any shape.
            mask: a bool tensor that broadcasts with it.
            source: a tensor of the same dtype, with at least as many elements as are true.

        Returns: a new tensor of the broadcast shape of `input` and `mask`.

        Raises:
            RuntimeError: `mask` is not bool or does not broadcast, or `source` has another dtype
                or too few elements.

        Example:
            >>> mask = gw.tensor([True, False, True])
            >>> gw.masked_scatter(gw.zeros(3), mask, gw.tensor([1.0, 2.0]))
            tensor([1., 0., 2.])
        """
        return _dispatch(_masked_scatter, (self, mask, source))

    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Any:
        """In place: writes what `masked_scatter` gives into the tensor, and returns it."""
        return _dispatch(_masked_scatter_, (self, mask, source))

    def masked_select(self, mask: Tensor) -> Any:
        """Vector of the elements where a mask is true, in row-major order.

        Args:
            input: a tensor of any shape.
            mask: a bool tensor that broadcasts with it.

        Returns: a new vector of the dtype of `input`; its length depends on values.

        Raises:
            RuntimeError: `mask` is not bool, or does not broadcast.

        Example:
            >>> gw.masked_select(gw.tensor([1, 2, 3]), gw.tensor([True, False, True]))
            tensor([1, 3])
        """
        return _dispatch(_masked_select, (self, mask))

    def matmul(self, other: Tensor) -> Any:
        """Product of matrices, vectors, or batches of matrices; `input @ other`.

        Args:
            input: `(*, n, k)`, or `(k,)`; any dtype but bool.
            other: `(*, k, m)`, or `(k,)`, of the dtype of `input`.

        Returns: a tensor of shape `(*, n, m)`, where the batch dims are broadcast; a vector on the
        left lacks n, one on the right lacks m.

        Raises:
            RuntimeError: a tensor has no dims, or shapes or dtypes do not match.

        Example:
            >>> gw.matmul(gw.ones(5, 1, 2, 3), gw.ones(4, 3, 2)).shape
            graphwright.Size([5, 4, 2, 2])
        """
        return _dispatch(_matmul, (self, other))

    def matrix_exp(self) -> Any:
        """Matrix exponential, the sum of `A^k / k!`.

        Scaling and squaring with a Pade approximant (Higham, 2005), in double precision.

        Args:
            A: floating point or complex, `(*, n, n)`.

        Returns: a tensor of the shape of `A`.

        Raises:
            RuntimeError: the matrices are not square, or of integers.

        Example:
            >>> gw.matrix_exp(gw.tensor([[0.0, 1.0], [0.0, 0.0]]))
            tensor([[1., 1.],
                    [0., 1.]])
        """
        return _dispatch(_matrix_exp, (self,))

    def matrix_power(self, n: int) -> Any:
        """Square matrices multiplied n times by themselves, by repeated squaring.

        Args:
            input: `(*, k, k)`.
            n: the power; 0 gives the unit matrix, a negative one the power of the inverse.

        Returns: a tensor of the shape of `input`.

        Raises:
            LinAlgError: `n` is negative and a matrix is singular.
            RuntimeError: the matrices are not square, or hold integers while `n` is negative.

        Example:
            >>> gw.matrix_power(gw.tensor([[1, 1], [0, 1]]), 5)
            tensor([[1, 5],
                    [0, 1]])
        """
        return _dispatch(_matrix_power, (self, n))

    def max(
        self,
        dim: Any = ...,
        keepdim: Any = ...,
        axis: Any = ...,
        other: Any = ...,
        keepdims: Any = ...,
    ) -> Any:
        """Greatest element of all, along one dim with its position, or elementwise of two tensors.

        NaN counts as the greatest. Of all elements the gradient is shared evenly among those that
        are the maximum; along a dim the element at the position gets it.

        Args:
            input: a real or bool tensor of any shape.
            dim: the dim to compare along; None compares all elements; a tensor is the other
                operand of `maximum`.
            keepdim: keep that dim with size 1.

        Returns: a tensor without dims where `dim` is None; the named tuple `(values, indices)`
            where it is an int, with int64 indices; the elementwise maximum where it is a tensor.

        Raises:
            NotImplementedError: `input` is complex.
            IndexError: `input` has no such dim, or that dim is empty.
            RuntimeError: `input` has no elements and `dim` is None.

        Example:
            >>> gw.max(gw.tensor([[1, 5], [7, 2]]), 1)
            graphwright.return_types.max(
            values=tensor([5, 7]),
            indices=tensor([1, 0]))
        """
        if axis is not ...:
            dim = same_as("max", "dim", dim, ..., "axis", axis)
        if other is not ...:
            dim = same_as("max", "dim", dim, ..., "other", other)
        if keepdims is not ...:
            keepdim = same_as("max", "keepdim", keepdim, ..., "keepdims", keepdims)
        if dim is ...:
            dim = None
        elif dim is None:
            refuse_none("max", "dim")
        if keepdim is ...:
            keepdim = False
        elif dim.__class__ is not int:
            dim = given_dim("max", dim)
        return _dispatch(_max, (self, dim, keepdim))

    def maximum(self, other: Tensor) -> Any:
        """Greater of two elements, broadcast; nan where one of them is.

        Where they are equal each has half of the gradient.

        Args:
            input, other: tensors that broadcast to one shape.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: an operand is a number.

        Example:
            >>> gw.maximum(gw.tensor([1, 5]), gw.tensor([3, 4]))
            tensor([3, 5])
        """
        return _dispatch(_maximum, (self, other))

    def mean(
        self,
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
        *,
        dtype: DType | None = None,
    ) -> Any:
        """Arithmetic mean of the elements, of all or along some dims.

        Args:
            input: a floating point or complex tensor of any shape.
            dim: the dim or dims to average over; all if None.
            keepdim: keep each of these dims with size 1.
            dtype: what `input` is converted to first; nothing if None.

        Returns: a tensor of the shape of `input` without `dim`; NaN where there are no elements.

        Raises:
            RuntimeError: `input` has integers or bools and no `dtype` is given, or a dim is named
                twice.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.mean(gw.tensor([[1.0, 2.0], [3.0, 6.0]]), 1)
            tensor([1.5000, 4.5000])
        """
        if surplus is not ...:
            refuse_surplus("mean")
        if axis is not ...:
            dim = same_as("mean", "dim", dim, None, "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("mean", "keepdim", keepdim, False, "keepdims", keepdims)
        try:
            _bound = (self, wrap_dims(dim, self.ndim), keepdim, dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_mean, (self, dim, keepdim, dtype), _error)
        return _dispatch(_mean, _bound)

    def median(
        self,
        dim: Any = ...,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
    ) -> Any:
        """Median of all elements, or along one dim with its position; NaN if one is NaN.

        Of an even number of elements it is the lower one of the two in the middle.

        Args:
            input: a real tensor of any shape.
            dim: the dim to search; all elements if None.
            keepdim: keep that dim with size 1.

        Returns: a tensor without dims where `dim` is None, NaN of no elements (of integers, the
            least int64 converted); else the named tuple `(values, indices)` with int64 indices.

        Raises:
            IndexError: `input` has no such dim, or that dim is empty.
            NotImplementedError: `input` is bool or complex.

        Example:
            >>> gw.median(gw.tensor([4.0, 1.0, 3.0, 2.0]))
            tensor(2.)
        """
        if surplus is not ...:
            refuse_surplus("median")
        if axis is not ...:
            dim = same_as("median", "dim", dim, ..., "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("median", "keepdim", keepdim, False, "keepdims", keepdims)
        if dim is ...:
            dim = None
        elif dim is None:
            refuse_none("median", "dim")
        try:
            _bound = (self, wrap_dim_optional(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_median, (self, dim, keepdim), _error)
        return _dispatch(_median, _bound)

    def min(
        self,
        dim: Any = ...,
        keepdim: Any = ...,
        axis: Any = ...,
        other: Any = ...,
        keepdims: Any = ...,
    ) -> Any:
        """Least element of all, along one dim with its position, or elementwise of two tensors.

        NaN counts as the least. Of all elements the gradient is shared evenly among those that are
        the minimum; along a dim the element at the position gets it.

        Args:
            input: a real or bool tensor of any shape.
            dim: the dim to compare along; None compares all elements; a tensor is the other
                operand of `minimum`.
            keepdim: keep that dim with size 1.

        Returns: a tensor without dims where `dim` is None; the named tuple `(values, indices)`
            where it is an int, with int64 indices; the elementwise minimum where it is a tensor.

        Raises:
            NotImplementedError: `input` is complex.
            IndexError: `input` has no such dim, or that dim is empty.
            RuntimeError: `input` has no elements and `dim` is None.

        Example:
            >>> gw.min(gw.tensor([[1, 5], [7, 2]]), 1)
            graphwright.return_types.min(
            values=tensor([1, 2]),
            indices=tensor([0, 1]))
        """
        if axis is not ...:
            dim = same_as("min", "dim", dim, ..., "axis", axis)
        if other is not ...:
            dim = same_as("min", "dim", dim, ..., "other", other)
        if keepdims is not ...:
            keepdim = same_as("min", "keepdim", keepdim, ..., "keepdims", keepdims)
        if dim is ...:
            dim = None
        elif dim is None:
            refuse_none("min", "dim")
        if keepdim is ...:
            keepdim = False
        elif dim.__class__ is not int:
            dim = given_dim("min", dim)
        return _dispatch(_min, (self, dim, keepdim))

    def minimum(self, other: Tensor) -> Any:
        """Lesser of two elements, broadcast; nan where one of them is.

        Where they are equal each has half of the gradient.

        Args:
            input, other: tensors that broadcast to one shape.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: an operand is a number.

        Example:
            >>> gw.minimum(gw.tensor([1, 5]), gw.tensor([3, 4]))
            tensor([1, 4])
        """
        return _dispatch(_minimum, (self, other))

    def mm(self, mat2: Tensor) -> Any:
        """Product of two matrices.

        Args:
            input: `(n, k)`; any dtype but bool.
            mat2: `(k, m)`, of the dtype of `input`.

        Returns: a tensor of shape `(n, m)`.

        Raises:
            RuntimeError: a tensor is no matrix, or shapes or dtypes do not match.

        Example:
            >>> gw.mm(gw.tensor([[1, 2], [3, 4]]), gw.tensor([[1], [1]]))
            tensor([[3],
                    [7]])
        """
        return _dispatch(_mm, (self, mat2))

    def mode(
        self,
        dim: int = -1,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
    ) -> Any:
        """The most frequent element along one dim, and its last position; of several the least.

        Args:
            input: a real or bool tensor of any shape.
            dim: the dim to search.
            keepdim: keep that dim with size 1.

        Returns: the named tuple `(values, indices)` of the shape of `input` without `dim`; the
            indices are int64.

        Raises:
            IndexError: `input` has no such dim, or that dim is empty.
            NotImplementedError: `input` is complex.

        Example:
            >>> gw.mode(gw.tensor([1, 3, 3, 2, 2]))
            graphwright.return_types.mode(
            values=tensor(2),
            indices=tensor(4))
        """
        if surplus is not ...:
            refuse_surplus("mode")
        if axis is not ...:
            dim = same_as("mode", "dim", dim, -1, "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("mode", "keepdim", keepdim, False, "keepdims", keepdims)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_mode, (self, dim, keepdim), _error)
        return _dispatch(_mode, _bound)

    def movedim(self, source: int | Sequence[int], destination: int | Sequence[int]) -> Any:
        """View with dims moved to other places; the rest keep their order.

        Args:
            input: a tensor of any shape.
            source: the dim or dims that move.
            destination: where each goes; as many.

        Returns: a view of `input`.

        Raises:
            RuntimeError: the numbers of dims differ, or one is named twice.
            TypeError: one is an int and the other a sequence.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.movedim(gw.ones(2, 3, 4), 0, -1).shape
            graphwright.Size([3, 4, 2])
        """
        return _dispatch(_movedim, (self, source, destination))

    def msort(self) -> Any:
        """The elements sorted along the first dim in ascending order: `sort(input, 0).values`.

        Args:
            input: a real or bool tensor of any shape.

        Returns: a tensor of the shape and dtype of `input`.

        Raises:
            NotImplementedError: `input` is complex.

        Example:
            >>> gw.msort(gw.tensor([[3, 1], [2, 4]]))
            tensor([[2, 1],
                    [3, 4]])
        """
        return _dispatch(_msort, (self,))

    def mul(self, other: Tensor | Number) -> Any:
        """Product, `input * other`, elementwise and broadcast; the operator `*`.

        Args:
            input, other: tensors or numbers that broadcast to one shape.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            RuntimeError: the shapes do not broadcast.

        Example:
            >>> gw.mul(gw.tensor([1, 2]), 0.5)
            tensor([0.5000, 1.0000])
        """
        return _dispatch(_mul, (self, other))

    def mul_(self, other: Tensor | Number) -> Any:
        """In place: writes what `mul` gives into the tensor, and returns it."""
        return _dispatch(_mul_, (self, other))

    def multinomial(
        self,
        num_samples: int,
        replacement: bool = False,
        *,
        generator: Any = None,
    ) -> Any:
        """Indices drawn at random with the elements of each row as weights.

        Args:
            input: a floating-point tensor of weights, of shape [n] or [m, n], of any sum above 0.
            num_samples: the number of indices for each row.
            replacement: whether an index may be drawn again.
            generator: the generator that draws; the default one if None.

        Returns: an int64 tensor of shape [num_samples] or [m, num_samples].

        Raises:
            RuntimeError: `input` has another dtype or number of dims; a weight is negative or not
                finite, or all of a row are 0; `num_samples` is below 1, or above n without
                replacement.

        Example:
            >>> gw.multinomial(gw.tensor([0.0, 2.0]), 3, replacement=True)
            tensor([1, 1, 1])
        """
        return _dispatch(_multinomial, (self, num_samples, replacement, generator))

    def mv(self, vec: Tensor) -> Any:
        """Product of a matrix and a vector.

        Args:
            input: `(n, k)`; any dtype but bool.
            vec: `(k,)`, of the dtype of `input`.

        Returns: a tensor of shape `(n,)`.

        Raises:
            RuntimeError: shapes or dtypes do not match.

        Example:
            >>> gw.mv(gw.tensor([[1, 2], [3, 4]]), gw.tensor([1, 1]))
            tensor([3, 7])
        """
        return _dispatch(_mv, (self, vec))

    def mvlgamma(self, p: int) -> Any:
        """Logarithm of the multivariate gamma function of dimension `p` (DLMF 35.3).

        It is `p (p - 1) / 4 log(pi)` and the sum of `lgamma(x - i / 2)` over i from 0 to p - 1.

        Args:
            input: a tensor of any shape; integers give the default dtype.
            p: the dimension, at least 1.

        Raises:
            NotImplementedError: `input` is of bool or complex.
            RuntimeError: `p` is below 1.

        Example:
            >>> gw.mvlgamma(gw.tensor([3.0]), 2)
            tensor([1.5502])
        """
        return _dispatch(_mvlgamma, (self, p))

    def mvlgamma_(self, p: int) -> Any:
        """In place: writes what `mvlgamma` gives into the tensor, and returns it."""
        return _dispatch(_mvlgamma_, (self, p))

    def nan_to_num(
        self,
        nan: float | None = None,
        posinf: float | None = None,
        neginf: float | None = None,
    ) -> Any:
        """Elements of `input`, those that are nan or infinite replaced by numbers.

        Args:
            input: a tensor of any shape; integers and bool are unchanged, of complex numbers both
                parts are replaced.
            nan: what replaces nan; 0 if None.
            posinf: what replaces inf; the greatest number of the dtype if None.
            neginf: what replaces -inf; the least number of the dtype if None.

        Raises:
            RuntimeError: `input` is complex and requires a gradient.

        Example:
            >>> gw.nan_to_num(gw.tensor([float("nan"), float("inf"), 1.0]), posinf=9.0)
            tensor([0., 9., 1.])
        """
        return _dispatch(_nan_to_num, (self, nan, posinf, neginf))

    def nan_to_num_(
        self,
        nan: float | None = None,
        posinf: float | None = None,
        neginf: float | None = None,
    ) -> Any:
        """In place: writes what `nan_to_num` gives into the tensor, and returns it."""
        return _dispatch(_nan_to_num_, (self, nan, posinf, neginf))

    def nanmean(
        self,
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
        *,
        dtype: DType | None = None,
    ) -> Any:
        """Mean of the elements that are not NaN, of all or along some dims.

        Args:
            input: a floating point tensor of any shape.
            dim: the dim or dims to average over; all if None.
            keepdim: keep each of these dims with size 1.
            dtype: what `input` is converted to first; nothing if None.

        Returns: a tensor of the shape of `input` without `dim`; NaN where all elements are.

        Raises:
            RuntimeError: `input` is complex, or has integers or bools.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.nanmean(gw.tensor([1.0, float("nan"), 3.0]))
            tensor(2.)
        """
        if surplus is not ...:
            refuse_surplus("nanmean")
        if axis is not ...:
            dim = same_as("nanmean", "dim", dim, None, "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("nanmean", "keepdim", keepdim, False, "keepdims", keepdims)
        try:
            _bound = (self, wrap_dims(dim, self.ndim), keepdim, dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_nanmean, (self, dim, keepdim, dtype), _error)
        return _dispatch(_nanmean, _bound)

    def nanmedian(
        self,
        dim: Any = ...,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
    ) -> Any:
        """Median of all elements that are not NaN, or along one dim with its position.

        Of an even number of elements it is the lower one of the two in the middle; where all are
        NaN, so is the result.

        Args:
            input: a real tensor of any shape.
            dim: the dim to search; all elements if None.
            keepdim: keep that dim with size 1.

        Returns: a tensor without dims where `dim` is None; else the named tuple `(values,
            indices)` with int64 indices.

        Raises:
            IndexError: `input` has no such dim, or that dim is empty.
            NotImplementedError: `input` is bool or complex.

        Example:
            >>> gw.nanmedian(gw.tensor([3.0, 1.0, float("nan")]))
            tensor(1.)
        """
        if surplus is not ...:
            refuse_surplus("nanmedian")
        if axis is not ...:
            dim = same_as("nanmedian", "dim", dim, ..., "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("nanmedian", "keepdim", keepdim, False, "keepdims", keepdims)
        if dim is ...:
            dim = None
        elif dim is None:
            refuse_none("nanmedian", "dim")
        try:
            _bound = (self, wrap_dim_optional(dim, self.ndim), keepdim)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_nanmedian, (self, dim, keepdim), _error)
        return _dispatch(_nanmedian, _bound)

    def nanquantile(
        self,
        q: Tensor | Number,
        dim: Any = None,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
        *,
        interpolation: str = "linear",
    ) -> Any:
        """The `q`-th quantiles of the elements that are not NaN, of all or along one dim.

        Otherwise as `quantile`; where all elements are NaN, so is the result.

        Args:
            input: a float32 or float64 tensor with elements.
            q: a probability in [0, 1], or a vector of several, of the dtype of `input`.
            dim: the dim to sort along; all elements if None.
            keepdim: keep that dim with size 1.
            interpolation: "linear", "lower", "higher", "nearest" or "midpoint".

        Returns: a tensor of the shape of `input` without `dim`, with the dim of a vector `q`
            first.

        Raises:
            RuntimeError: `q` lies outside of [0, 1] or has another dtype, `input` has no elements
                or another dtype, or the interpolation is unknown.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.nanquantile(gw.tensor([1.0, float("nan"), 3.0]), 0.5)
            tensor(2.)
        """
        if surplus is not ...:
            refuse_surplus("nanquantile")
        if axis is not ...:
            dim = same_as("nanquantile", "dim", dim, None, "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("nanquantile", "keepdim", keepdim, False, "keepdims", keepdims)
        return _dispatch(_nanquantile, (self, q, dim, keepdim, interpolation))

    def nansum(
        self,
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
        *,
        dtype: DType | None = None,
    ) -> Any:
        """Sum of the elements that are not NaN, of all or along some dims.

        Args:
            input: a real or bool tensor of any shape; integers and bool are summed as int64.
            dim: the dim or dims to sum along; all if None.
            keepdim: keep each of these dims with size 1.
            dtype: what `input` is converted to first; nothing if None.

        Returns: a tensor of the shape of `input` without `dim`.

        Raises:
            RuntimeError: `input` is complex.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.nansum(gw.tensor([1.0, float("nan"), 3.0]))
            tensor(4.)
        """
        if surplus is not ...:
            refuse_surplus("nansum")
        if axis is not ...:
            dim = same_as("nansum", "dim", dim, None, "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("nansum", "keepdim", keepdim, False, "keepdims", keepdims)
        try:
            _bound = (self, wrap_dims(dim, self.ndim), keepdim, dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_nansum, (self, dim, keepdim, dtype), _error)
        return _dispatch(_nansum, _bound)

    def narrow(
        self,
        dim: Any = REQUIRED,
        start: Any = REQUIRED,
        length: Any = REQUIRED,
        axis: Any = ...,
    ) -> Any:
        """View of `length` positions of one dim from `start` on.

        Args:
            input: a tensor of at least one dim.
            dim: the dim.
            start: the first position, an int or an integer tensor without dims; negative ones
                count from the end.
            length: how many positions, at least 0.

        Returns: a view of `input`.

        Raises:
            RuntimeError: the positions exceed the dim, or `length` is negative.
            IndexError: `start` is out of range, or `input` has no such dim.

        Example:
            >>> gw.narrow(gw.arange(5), 0, 1, 3)
            tensor([1, 2, 3])
        """
        if axis is not ...:
            dim = same_as("narrow", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), start, length)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_narrow, (self, dim, start, length), _error)
        return _dispatch(_narrow, _bound)

    def narrow_copy(
        self,
        dim: Any = REQUIRED,
        start: Any = REQUIRED,
        length: Any = REQUIRED,
        axis: Any = ...,
    ) -> Any:
        """Copy of `narrow`: `length` positions of one dim from `start` on.

        Args:
            input: a tensor of at least one dim.
            dim: the dim.
            start: the first position, an int or an integer tensor without dims; negative ones
                count from the end.
            length: how many positions, at least 0.

        Returns: a new tensor.

        Raises:
            RuntimeError: the positions exceed the dim, `length` is negative, or `input` has no
                such dim.
            IndexError: `start` is out of range.

        Example:
            >>> gw.narrow_copy(gw.arange(5), 0, 1, 3)
            tensor([1, 2, 3])
        """
        if axis is not ...:
            dim = same_as("narrow_copy", "dim", dim, REQUIRED, "axis", axis)
        return _dispatch(_narrow_copy, (self, dim, start, length))

    def ne(self, other: Tensor | Number) -> Any:
        """Whether two elements differ, broadcast; the operator `!=`.

        Args:
            input: a tensor.
            other: a tensor that broadcasts with `input`, or a number.

        Returns: a bool tensor of the broadcast shape.

        Raises:
            RuntimeError: the shapes do not broadcast.
            TypeError: `input` is a number.

        Example:
            >>> gw.ne(gw.tensor([1, 2, 3]), 2)
            tensor([ True, False,  True])
        """
        return _dispatch(_ne, (self, other))

    def ne_(self, other: Tensor | Number) -> Any:
        """In place: writes what `ne` gives into the tensor, and returns it."""
        return _dispatch(_ne_, (self, other))

    def neg(self) -> Any:
        """Negative of each element, `y = -x`; the operator `-`.

        Args:
            input: a tensor of any shape and any dtype but bool; unsigned integers wrap.

        Raises:
            RuntimeError: `input` is of bool.

        Example:
            >>> gw.neg(gw.tensor([1, -2]))
            tensor([-1,  2])
        """
        return _dispatch(_neg, (self,))

    def neg_(self) -> Any:
        """In place: writes what `neg` gives into the tensor, and returns it."""
        return _dispatch(_neg_, (self,))

    def nextafter(self, other: Tensor) -> Any:
        """Number next to `input` in the direction of `other` that its dtype holds, broadcast.

        Args:
            input, other: tensors that broadcast to one shape.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            NotImplementedError: the promoted dtype is not a floating-point one.
            RuntimeError: the shapes do not broadcast.

        Example:
            >>> gw.nextafter(gw.tensor([1.0]), gw.tensor([2.0])) - 1
            tensor([1.1921e-07])
        """
        return _dispatch(_nextafter, (self, other))

    def nextafter_(self, other: Tensor) -> Any:
        """In place: writes what `nextafter` gives into the tensor, and returns it."""
        return _dispatch(_nextafter_, (self, other))

    def nonzero(self, *, as_tuple: bool = False) -> Any:
        """Positions of the elements that are not zero, in row-major order.

        Args:
            input: a tensor of any shape and dtype.
            as_tuple: return a vector for each dim, by which `input` can be indexed.

        Returns: an int64 tensor with a row for each such element and a column for each dim of
            `input`, or its columns as a tuple; one without dims counts as a vector then.

        Example:
            >>> gw.nonzero(gw.tensor([[0, 1], [2, 0]]), as_tuple=True)
            (tensor([0, 1]), tensor([1, 0]))
        """
        return _dispatch(_nonzero, (self, as_tuple))

    def nonzero_static(self, *, size: int, fill_value: int = -1) -> Any:
        """Positions of the first `size` elements that are not zero, in row-major order.

        Unlike that of `nonzero`, the shape of the result does not depend on values.

        Args:
            input: a tensor of any shape and dtype.
            size: the number of rows of the result, at least 0.
            fill_value: what is in the rows that are left over.

        Returns: an int64 tensor of shape `(size, input.ndim)`.

        Raises:
            RuntimeError: `size` is negative.

        Example:
            >>> gw.nonzero_static(gw.tensor([0, 1, 1]), size=3)
            tensor([[ 1],
                    [ 2],
                    [-1]])
        """
        return _dispatch(_nonzero_static, (self, size, fill_value))

    def norm(
        self,
        p: Number | str | None = "fro",
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        dtype: DType | None = None,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
    ) -> Any:
        """Norm of the elements, of all or along some dims: `(sum |x|^p)^(1/p)`.

        Args:
            input: a floating point or complex tensor of any shape.
            p: the order: a number, of which inf and -inf are the greatest and least size and 0
                counts what is not zero; "fro", None: as 2; "nuc": the sum of a matrix's singular
                values.
            dim: the dim or dims; all if None. "nuc" takes two.
            keepdim: keep each of these dims with size 1.
            dtype: what `input` is converted to first; nothing if None.

        Returns: a real tensor of the shape of `input` without `dim`.

        Raises:
            RuntimeError: `input` has integers or bools, `p` is another word, or "nuc" is not given
                two dims.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.norm(gw.tensor([[3.0, 4.0], [0.0, -2.0]]), dim=1)
            tensor([5., 2.])
        """
        if surplus is not ...:
            refuse_surplus("norm")
        if axis is not ...:
            dim = same_as("norm", "dim", dim, None, "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("norm", "keepdim", keepdim, False, "keepdims", keepdims)
        return _dispatch(_norm, (self, p, dim, keepdim, dtype))

    def normal_(self, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Any:
        """Fill with random numbers of a normal distribution, `mean + std * randn`.

        Args:
            input: a floating-point or complex tensor of any shape.
            mean: the mean.
            std: the standard deviation, at least 0.
            generator: the generator that draws; the default one if None.

        Returns: `input`.

        Raises:
            NotImplementedError: `input` is of integers or bool.
            RuntimeError: `std` is negative.

        Example:
            >>> gw.empty(2).normal_(3.0, 0.0)
            tensor([3., 3.])
        """
        return _dispatch(_normal_, (self, mean, std, generator))

    def orgqr(self, input2: Tensor) -> Any:
        """First n columns of a product of Householder reflections: `linalg.householder_product`.

        Args:
            input: `(*, m, n)` with m >= n, as `geqrf` returns it.
            input2: the factors tau, `(*, k)` with k <= n.

        Returns: a tensor of the shape of `input`.

        Raises:
            RuntimeError: shapes or dtypes do not match, or m < n.

        Example:
            >>> a, tau = gw.geqrf(gw.randn(5, 3))
            >>> gw.orgqr(a, tau).shape
            graphwright.Size([5, 3])
        """
        return _dispatch(_orgqr, (self, input2))

    def ormqr(
        self,
        input2: Tensor,
        input3: Tensor,
        left: bool = True,
        transpose: bool = False,
    ) -> Any:
        """Product of a matrix with the `Q` of a QR decomposition, without forming `Q`.

        Args:
            input: `(*, m, k)`: Householder vectors, as `geqrf` returns them.
            input2: the factors tau, `(*, k)`.
            input3: the matrix, `(*, m, n)`, or `(*, n, m)` where `left` is False.
            left: compute `Q input3`; `input3 Q` if False.
            transpose: use `Q^H` instead of `Q`.

        Returns: a tensor of the shape of `input3`.

        Raises:
            RuntimeError: shapes or dtypes do not match.

        Example:
            >>> a, tau = gw.geqrf(gw.randn(5, 3))
            >>> gw.ormqr(a, tau, gw.randn(5, 2)).shape
            graphwright.Size([5, 2])
        """
        return _dispatch(_ormqr, (self, input2, input3, left, transpose))

    def outer(self, vec2: Tensor) -> Any:
        """Outer product of two vectors: `out[i, j] = input[i] * vec2[j]`.

        Args:
            input: `(n,)`.
            vec2: `(m,)`; dtypes are promoted.

        Returns: a tensor of shape `(n, m)`.

        Raises:
            RuntimeError: a tensor is no vector.

        Example:
            >>> gw.outer(gw.tensor([1, 2]), gw.tensor([3, 4]))
            tensor([[3, 4],
                    [6, 8]])
        """
        return _dispatch(_outer, (self, vec2))

    def permute(self, *dims_: Any, dims: Any = None) -> Any:
        """View with the dims in another order.

        Args:
            input: a tensor of any shape.
            dims: the dims of `input` in their new order, each once.

        Returns: a view of `input`.

        Raises:
            RuntimeError: a dim is missing or named twice.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.permute(gw.ones(2, 3, 4), (2, 0, 1)).shape
            graphwright.Size([4, 2, 3])
        """
        try:
            _bound = (self, wrap_permutation(varargs(dims_, dims), self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_permute, (self, dims), _error)
        return _dispatch(_permute, _bound)

    def pinverse(self, rcond: float = 1e-15) -> Any:
        """Moore-Penrose pseudo-inverse: `linalg.pinv` with `rtol=rcond`.

        Args:
            input: float32, float64 or complex, `(*, m, n)`.
            rcond: singular values up to this fraction of the largest are taken for 0.

        Returns: a tensor of shape `(*, n, m)`.

        Raises:
            RuntimeError: `input` has less than 2 dims, or holds integers.

        Example:
            >>> gw.pinverse(gw.tensor([[2.0, 0.0], [0.0, 0.0]]))
            tensor([[0.5000, 0.0000],
                    [0.0000, 0.0000]])
        """
        return _dispatch(_pinverse, (self, rcond))

    def positive(self) -> Any:
        """The tensor itself; the operator `+` of one operand.

        Args:
            input: a tensor of any shape.

        Raises:
            RuntimeError: `input` is of bool.

        Example:
            >>> gw.positive(gw.tensor([-1, 2]))
            tensor([-1,  2])
        """
        return _dispatch(_positive, (self,))

    def pow(self, exponent: Tensor | Number) -> Any:
        """Power, `input^exponent`, elementwise and broadcast; the operator `**`.

        Args:
            input, exponent: tensors that broadcast to one shape; one of them may be a number.

        Returns: a tensor of the broadcast shape, in the promoted dtype. Integers to negative
        exponents in a tensor are rounded towards 0.

        Raises:
            NotImplementedError: the promoted dtype is bool.
            RuntimeError: the shapes do not broadcast; integers to a negative power.
            TypeError: both operands are numbers.

        Example:
            >>> gw.pow(gw.tensor([2.0, 3.0]), 2)
            tensor([4., 9.])
            >>> gw.pow(2, gw.tensor([1, 10]))
            tensor([   2, 1024])
        """
        return _dispatch(_pow, (self, exponent))

    def pow_(self, exponent: Tensor | Number) -> Any:
        """In place: writes what `pow` gives into the tensor, and returns it."""
        return _dispatch(_pow_, (self, exponent))

    def prelu(self, weight: Tensor) -> Any:
        """Leaky relu of a learned slope, `y = x` for `x > 0`, else `weight x`.

        The definition is that of He et al., "Delving deep into rectifiers", 2015.

        Args:
            input: a floating-point tensor of shape [N, C, ...] or any other.
            weight: a tensor of the dtype of `input` with one element, or of shape [C].

        Raises:
            NotImplementedError: `input` is not a floating-point tensor.
            RuntimeError: `weight` has another dtype, more than one dim, or not 1 or C elements.

        Example:
            >>> gw.prelu(gw.tensor([-2.0, 3.0]), gw.tensor(0.25))
            tensor([-0.5000,  3.0000])
        """
        return _dispatch(_prelu, (self, weight))

    def prod(
        self,
        dim: Any = ...,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
        *,
        dtype: DType | None = None,
    ) -> Any:
        """Product of the elements, of all or along one dim.

        Args:
            input: a tensor of any shape; integers and bool are multiplied as int64.
            dim: the dim to multiply along; all if None.
            keepdim: keep that dim with size 1.
            dtype: what `input` is converted to first; nothing if None.

        Returns: a tensor of the shape of `input` without `dim`; 1 where there are no elements.

        Raises:
            IndexError: `input` has no such dim.
            TypeError: `dim` is a sequence.

        Example:
            >>> gw.prod(gw.tensor([[1, 2], [3, 4]]), 0)
            tensor([3, 8])
        """
        if surplus is not ...:
            refuse_surplus("prod")
        if axis is not ...:
            dim = same_as("prod", "dim", dim, ..., "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("prod", "keepdim", keepdim, False, "keepdims", keepdims)
        if dim is ...:
            dim = None
        elif dim is None:
            refuse_none("prod", "dim")
        try:
            _bound = (self, wrap_lone_dim(dim, self.ndim), keepdim, dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_prod, (self, dim, keepdim, dtype), _error)
        return _dispatch(_prod, _bound)

    def put(self, index: Tensor, source: Tensor, accumulate: bool = False) -> Any:
        """Copy in which the elements at positions of the flattened tensor are other values.

        Args:
            input: a tensor of any shape.
            index: an int64 tensor of positions in row-major order; negative ones count from the
                end.
            source: as many values, of the dtype of `input`.
            accumulate: add the values, where positions repeat each of them; else the last one
                counts.

        Returns: a new tensor of the shape of `input`.

        Raises:
            IndexError: a position is out of range, or the numbers of elements differ.
            RuntimeError: a dtype is another one.

        Example:
            >>> gw.put(gw.zeros(2, 2), gw.tensor([1, -1]), gw.tensor([5.0, 6.0]))
            tensor([[0., 5.],
                    [0., 6.]])
        """
        return _dispatch(_put, (self, index, source, accumulate))

    def put_(self, index: Tensor, source: Tensor, accumulate: bool = False) -> Any:
        """In place: writes what `put` gives into the tensor, and returns it."""
        return _dispatch(_put_, (self, index, source, accumulate))

    def qr(self, some: bool = True) -> Any:
        """QR decomposition `input = Q R`: `linalg.qr`.

        Args:
            input: float32, float64 or complex, `(*, m, n)`.
            some: `Q` has min(m, n) columns; m if False.

        Returns: `(Q, R)`.

        Raises:
            RuntimeError: `input` has less than 2 dims, or holds integers.

        Example:
            >>> Q, R = gw.qr(gw.randn(5, 3), some=False)
            >>> Q.shape, R.shape
            (graphwright.Size([5, 5]), graphwright.Size([5, 3]))
        """
        return _dispatch(_qr, (self, some))

    def quantile(
        self,
        q: Tensor | Number,
        dim: Any = None,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
        *,
        interpolation: str = "linear",
    ) -> Any:
        """The `q`-th quantiles of the elements, of all or along one dim; NaN if one is NaN.

        Of n sorted elements, the quantile lies at place `q (n - 1)`; between two elements
        `interpolation` decides.

        Args:
            input: a float32 or float64 tensor with elements.
            q: a probability in [0, 1], or a vector of several, of the dtype of `input`.
            dim: the dim to sort along; all elements if None.
            keepdim: keep that dim with size 1.
            interpolation: "linear"; "lower" or "higher": that of the two elements; "nearest": the
                nearer one; "midpoint": their mean.

        Returns: a tensor of the shape of `input` without `dim`, with the dim of a vector `q`
            first.

        Raises:
            RuntimeError: `q` lies outside of [0, 1] or has another dtype, `input` has no elements
                or another dtype, or the interpolation is unknown.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.quantile(gw.tensor([1.0, 2.0, 3.0, 4.0]), gw.tensor([0.25, 0.5]))
            tensor([1.7500, 2.5000])
        """
        if surplus is not ...:
            refuse_surplus("quantile")
        if axis is not ...:
            dim = same_as("quantile", "dim", dim, None, "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("quantile", "keepdim", keepdim, False, "keepdims", keepdims)
        return _dispatch(_quantile, (self, q, dim, keepdim, interpolation))

    def rad2deg(self) -> Any:
        """Radians in degrees, `y = x * 180 / pi`.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Raises:
            NotImplementedError: the dtype of `input` is complex.

        Example:
            >>> gw.rad2deg(gw.tensor([1.0, 3.0]))
            tensor([ 57.2958, 171.8873])
        """
        return _dispatch(_rad2deg, (self,))

    def rad2deg_(self) -> Any:
        """In place: writes what `rad2deg` gives into the tensor, and returns it."""
        return _dispatch(_rad2deg_, (self,))

    def random_(
        self,
        from_: Any = Ellipsis,
        to: Any = Ellipsis,
        *,
        generator: Any = None,
        **words: Any,
    ) -> Any:
        """Fill with random integers of the uniform distribution on [from_, to).

        Without bounds they are from 0 to the greatest integer that the dtype holds exactly.

        Args:
            input: a tensor of any real dtype.
            from_: the least integer, also by the name `from`; given alone, the bound above.
            to: the bound above, which is never drawn; None stands for all that the dtype holds.
            generator: the generator that draws; the default one if None.

        Returns: `input`.

        Raises:
            NotImplementedError: `input` is complex.
            RuntimeError: the bounds cross, or the dtype does not hold the integers.
            TypeError: a bound is not an integer.

        Example:
            >>> gw.empty(2).random_(3, 4)
            tensor([3., 3.])
        """
        if words:
            from_ = by_word("random_", "from", from_, Ellipsis, words, to)
        return _dispatch(_random_, (self, from_, to, generator))

    def ravel(self) -> Any:
        """Vector of all elements in row-major order.

        Args:
            input: a tensor of any shape.

        Returns: a view of a contiguous `input`, else a copy.

        Example:
            >>> gw.ravel(gw.tensor([[1, 2], [3, 4]]))
            tensor([1, 2, 3, 4])
        """
        return _dispatch(_ravel, (self,))

    def reciprocal(self) -> Any:
        """Reciprocal of each element, `y = 1 / x`; inf at 0.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.reciprocal(gw.tensor([2, 4]))
            tensor([0.5000, 0.2500])
        """
        return _dispatch(_reciprocal, (self,))

    def reciprocal_(self) -> Any:
        """In place: writes what `reciprocal` gives into the tensor, and returns it."""
        return _dispatch(_reciprocal_, (self,))

    def relu(self) -> Any:
        """Rectified linear unit, `y = max(x, 0)`.

        The gradient is 0 for `x <= 0` and 1 above.

        Args:
            input: a tensor of any shape.

        Raises:
            NotImplementedError: the dtype of `input` is bool or complex.

        Example:
            >>> gw.relu(gw.tensor([-1.0, 2.0]))
            tensor([0., 2.])
        """
        return _dispatch(_relu, (self,))

    def relu_(self) -> Any:
        """In place: writes what `relu` gives into the tensor, and returns it."""
        return _dispatch(_relu_, (self,))

    def remainder(self, other: Tensor | Number) -> Any:
        """Remainder of division, `input - other * floor(input / other)`; the operator `%`.

        It is 0 or has the sign of `other`. An integer divided by zero raises RuntimeError, a float
        gives nan.

        Args:
            input, other: tensors that broadcast to one shape; one of them may be a number.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            RuntimeError: the shapes do not broadcast.
            TypeError: both operands are numbers.

        Example:
            >>> gw.remainder(gw.tensor([7, -7]), 3)
            tensor([1, 2])
        """
        return _dispatch(_remainder, (self, other))

    def remainder_(self, other: Tensor | Number) -> Any:
        """In place: writes what `remainder` gives into the tensor, and returns it."""
        return _dispatch(_remainder_, (self, other))

    def renorm(
        self,
        p: Number,
        dim: Any = REQUIRED,
        maxnorm: Any = REQUIRED,
        axis: Any = ...,
    ) -> Any:
        """Copy in which each slice along a dim whose norm exceeds `maxnorm` is scaled down to it.

        Args:
            input: a floating point or complex tensor of at least two dims.
            p: the order of the norm, above 0.
            dim: the dim whose slices `input.select(dim, i)` are measured.
            maxnorm: the greatest norm that is allowed, at least 0.

        Returns: a contiguous tensor of the shape and dtype of `input`.

        Raises:
            RuntimeError: `input` has integers, bools or fewer than two dims, `p` is not positive,
                or `maxnorm` is negative.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.renorm(gw.tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1.0)
            tensor([[0.6000, 0.8000],
                    [0.3000, 0.4000]])
        """
        if axis is not ...:
            dim = same_as("renorm", "dim", dim, REQUIRED, "axis", axis)
        return _dispatch(_renorm, (self, p, dim, maxnorm))

    def renorm_(
        self,
        p: Number,
        dim: Any = REQUIRED,
        maxnorm: Any = REQUIRED,
        axis: Any = ...,
    ) -> Any:
        """In place: writes what `renorm` gives into the tensor, and returns it."""
        if axis is not ...:
            dim = same_as("renorm_", "dim", dim, REQUIRED, "axis", axis)
        return _dispatch(_renorm_, (self, p, dim, maxnorm))

    def repeat(self, *repeats_: Any, repeats: Any = None) -> Any:
        """Copy with the whole tensor repeated along each dim.

        Args:
            input: a tensor of any shape.
            repeats: how often along each dim; dims of size 1 are put in front where there are
                more.

        Returns: a new tensor; its sizes are those of `input` times `repeats`.

        Raises:
            RuntimeError: there are fewer numbers than dims, or one is negative.

        Example:
            >>> gw.tensor([1, 2]).repeat(2, 2)
            tensor([[1, 2, 1, 2],
                    [1, 2, 1, 2]])
        """
        return _dispatch(_repeat, (self, as_size(varargs(repeats_, repeats))))

    def repeat_interleave(
        self,
        repeats: int | Tensor,
        dim: int | None = None,
        surplus: Any = ...,
        axis: Any = ...,
        *,
        output_size: int | None = None,
    ) -> Any:
        """Copy in which each position along one dim follows itself some times.

        Of one argument, the numbers 0, 1, 2, ..., each as often as the vector says.

        Args:
            input: a tensor of any shape; the vector of `repeats` where that is not given.
            repeats: how often, an int for all or an int32 or int64 vector with one for each
                position.
            dim: the dim; if None, all elements are one row.
            output_size: the size of the result along the dim, if known: it is not counted then.

        Returns: a new tensor.

        Raises:
            RuntimeError: `repeats` is negative, or has another dtype or length, or `output_size`
                is not its sum.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.repeat_interleave(gw.tensor([1, 2]), gw.tensor([2, 1]))
            tensor([1, 1, 2])
        """
        if surplus is not ...:
            refuse_surplus("repeat_interleave")
        if axis is not ...:
            dim = same_as("repeat_interleave", "dim", dim, None, "axis", axis)
        if repeats is None:
            refuse_none("repeat_interleave", "repeats")
        return _dispatch(_repeat_interleave, (self, repeats, dim, output_size))

    def reshape(self, *shape_: Any, shape: Any = None) -> Any:
        """Tensor of another shape with the same elements in row-major order: a view if possible.

        Args:
            input: a tensor of any shape.
            shape: the new sizes; one may be -1, which the others decide.

        Returns: a view of `input` where its strides allow one, else a copy.

        Raises:
            RuntimeError: the sizes do not have as many elements, or more than one is -1.

        Example:
            >>> gw.reshape(gw.arange(6), (2, -1))
            tensor([[0, 1, 2],
                    [3, 4, 5]])
        """
        return _dispatch(_reshape, (self, as_size(varargs(shape_, shape))))

    def reshape_as(self, other: Tensor) -> Any:
        """Tensor with the shape of another one: `input.reshape(other.shape)`.

        Args:
            input: a tensor.
            other: the tensor whose shape is taken.

        Returns: a view of `input` where its strides allow one, else a copy.

        Raises:
            RuntimeError: the numbers of elements differ.

        Example:
            >>> gw.arange(4).reshape_as(gw.ones(2, 2))
            tensor([[0, 1],
                    [2, 3]])
        """
        return _dispatch(_reshape_as, (self, other))

    def resolve_conj(self) -> Any:
        """The tensor itself: conjugates are computed at once, never marked on a view.

        Args:
            input: a tensor of any shape and dtype.

        Raises:
            TypeError: `input` is not a tensor.

        Example:
            >>> gw.resolve_conj(gw.tensor([1, 2]))
            tensor([1, 2])
        """
        return _dispatch(_resolve_conj, (self,))

    def resolve_neg(self) -> Any:
        """The tensor itself: negatives are computed at once, never marked on a view.

        Args:
            input: a tensor of any shape and dtype.

        Raises:
            TypeError: `input` is not a tensor.

        Example:
            >>> gw.resolve_neg(gw.tensor([1, 2]))
            tensor([1, 2])
        """
        return _dispatch(_resolve_neg, (self,))

    def roll(self, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None) -> Any:
        """Copy with the elements moved along some dims; what leaves at the end enters in front.

        Args:
            input: a tensor of any shape.
            shifts: by how many positions, an int or one for each dim; negative ones move back.
            dims: the dim or dims; if None, all elements are one row, and there is one shift.

        Returns: a new tensor of the shape of `input`.

        Raises:
            RuntimeError: there are more shifts than dims, or fewer.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.roll(gw.tensor([[1, 2, 3], [4, 5, 6]]), 1, 1)
            tensor([[3, 1, 2],
                    [6, 4, 5]])
        """
        return _dispatch(_roll, (self, shifts, dims))

    def rot90(self, k: int = 1, dims: int | Sequence[int] = (0, 1)) -> Any:
        """Copy turned by quarters in the plane of two dims, from the first one towards the second.

        Args:
            input: a tensor of at least two dims.
            k: how many quarter turns; negative ones turn back.
            dims: the two dims.

        Returns: a tensor with the two sizes swapped where `k` is odd.

        Raises:
            RuntimeError: `input` has fewer dims or no such dim, or the dims are not two different
                ones.

        Example:
            >>> gw.rot90(gw.tensor([[1, 2], [3, 4]]))
            tensor([[2, 4],
                    [1, 3]])
        """
        return _dispatch(_rot90, (self, k, dims))

    def round(self, *, decimals: int = 0) -> Any:
        """Nearest integer of each element, or nearest multiple of `10^-decimals`; halves to even.

        The gradient is zero.

        Args:
            input: a tensor of any shape; integers are unchanged.
            decimals: how many decimal places to keep; negative ones round to tens, hundreds ...

        Raises:
            NotImplementedError: `input` is of bool or complex, or of integers with `decimals`.

        Example:
            >>> gw.round(gw.tensor([0.5, 1.5, 2.6]))
            tensor([0., 2., 3.])
            >>> gw.round(gw.tensor([1.234]), decimals=1)
            tensor([1.2000])
        """
        return _dispatch(_round, (self, decimals))

    def round_(self, *, decimals: int = 0) -> Any:
        """In place: writes what `round` gives into the tensor, and returns it."""
        return _dispatch(_round_, (self, decimals))

    def rsqrt(self) -> Any:
        """Reciprocal of the square root, `y = 1 / sqrt(x)`; inf at 0.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.rsqrt(gw.tensor([4.0, 0.25]))
            tensor([0.5000, 2.0000])
        """
        return _dispatch(_rsqrt, (self,))

    def rsqrt_(self) -> Any:
        """In place: writes what `rsqrt` gives into the tensor, and returns it."""
        return _dispatch(_rsqrt_, (self,))

    def scatter(
        self,
        dim: Any = REQUIRED,
        index: Any = REQUIRED,
        src: Tensor | Number | None = None,
        value: Tensor | Number | None = None,
        axis: Any = ...,
        *,
        reduce: str | None = None,
    ) -> Any:
        """Copy in which elements are replaced by others: along `dim`, `out[index[i]] = src[i]`.

        Args:
            input: a tensor of any shape.
            dim: the dim that positions are along; in other dims, each element stays in its place.
            index: an int32 or int64 tensor of positions, none negative. It has as many dims as
                `input`, and no greater sizes but along `dim`. Of several values for one position
                the last counts.
            src: the values: a tensor of the dtype of `input`, no smaller than `index`, or a
                number.
            value: a number, in place of `src`.
            reduce: "add" or "multiply": combine with the elements, not replace them; such a result
                has no gradient.

        Returns: a new tensor of the shape of `input`.

        Raises:
            IndexError: a position is out of range, or `input` has no such dim.
            RuntimeError: the shapes or dtypes do not match, or `reduce` is another word.
            TypeError: both `src` and `value` are given, or neither.

        Example:
            >>> gw.scatter(gw.zeros(3), 0, gw.tensor([0, 2]), gw.tensor([1.0, 2.0]))
            tensor([1., 0., 2.])
        """
        if axis is not ...:
            dim = same_as("scatter", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index, src, value, reduce)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_scatter, (self, dim, index, src, value, reduce), _error)
        return _dispatch(_scatter, _bound)

    def scatter_(
        self,
        dim: Any = REQUIRED,
        index: Any = REQUIRED,
        src: Tensor | Number | None = None,
        value: Tensor | Number | None = None,
        axis: Any = ...,
        *,
        reduce: str | None = None,
    ) -> Any:
        """Replace elements by others, in place: along `dim`, `input[index[i]] = src[i]`.

        Args:
            input: a tensor of any shape.
            dim: the dim that positions are along; in other dims, each element stays in its place.
            index: an int32 or int64 tensor of positions, as of `scatter`.
            src: the values: a tensor of the dtype of `input`, no smaller than `index`, or a
                number.
            value: a number, in place of `src`.
            reduce: "add" or "multiply": combine with the elements, not replace them.

        Returns: `input`.

        Raises:
            IndexError: a position is out of range, or `input` has no such dim.
            RuntimeError: the shapes or dtypes do not match, or `reduce` is another word.
            TypeError: both `src` and `value` are given, or neither.

        Example:
            >>> gw.zeros(3).scatter_(0, gw.tensor([0, 2]), 5)
            tensor([5., 0., 5.])
        """
        if axis is not ...:
            dim = same_as("scatter_", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index, src, value, reduce)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_scatter_, (self, dim, index, src, value, reduce), _error)
        return _dispatch(_scatter_, _bound)

    def scatter_add(
        self,
        dim: Any = REQUIRED,
        index: Any = REQUIRED,
        src: Any = REQUIRED,
        axis: Any = ...,
    ) -> Any:
        """Copy to whose elements others are added: along `dim`, `out[index[i]] += src[i]`.

        Args:
            input: a tensor of any shape.
            dim: the dim that positions are along; in other dims, each element stays in its place.
            index: an int32 or int64 tensor of positions, which may repeat; none negative. It has
                as many dims as `input`, and no greater sizes but along `dim`.
            src: the values: a tensor of the dtype of `input`, no smaller than `index`.

        Returns: a new tensor of the shape of `input`.

        Raises:
            IndexError: a position is out of range, or `input` has no such dim.
            RuntimeError: the shapes or dtypes do not match.

        Example:
            >>> gw.scatter_add(gw.zeros(3), 0, gw.tensor([0, 2, 0]), gw.ones(3))
            tensor([2., 0., 1.])
        """
        if axis is not ...:
            dim = same_as("scatter_add", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index, src)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_scatter_add, (self, dim, index, src), _error)
        return _dispatch(_scatter_add, _bound)

    def scatter_add_(
        self,
        dim: Any = REQUIRED,
        index: Any = REQUIRED,
        src: Any = REQUIRED,
        axis: Any = ...,
    ) -> Any:
        """In place: writes what `scatter_add` gives into the tensor, and returns it."""
        if axis is not ...:
            dim = same_as("scatter_add_", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index, src)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_scatter_add_, (self, dim, index, src), _error)
        return _dispatch(_scatter_add_, _bound)

    def scatter_reduce(
        self,
        dim: Any = REQUIRED,
        index: Any = REQUIRED,
        src: Any = REQUIRED,
        reduce: Any = REQUIRED,
        axis: Any = ...,
        *,
        include_self: bool = True,
    ) -> Any:
        """Copy with elements reduced with others: along `dim`, `out[index[i]]` with `src[i]`.

        Args:
            input: a tensor of any shape.
            dim: the dim that positions are along; in other dims, each element stays in its place.
            index: an int32 or int64 tensor of positions, which may repeat; none negative. It has
                as many dims as `input`, and no greater sizes but along `dim`.
            src: the values: a tensor of the dtype of `input`, no smaller than `index`.
            reduce: "sum", "prod", "mean", "amax" or "amin"; the mean of integers is rounded down.
            include_self: the elements of `input` take part.

        Returns: a new tensor of the shape of `input`.

        Raises:
            IndexError: a position is out of range, or `input` has no such dim.
            RuntimeError: the shapes or dtypes do not match, or `reduce` is another word.

        Example:
            >>> gw.scatter_reduce(gw.ones(2), 0, gw.tensor([0, 0]), gw.tensor([2.0, 3.0]), "sum")
            tensor([6., 1.])
        """
        if axis is not ...:
            dim = same_as("scatter_reduce", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index, src, reduce, include_self)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(
                _scatter_reduce,
                (
                    self,
                    dim,
                    index,
                    src,
                    reduce,
                    include_self,
                ),
                _error,
            )
        return _dispatch(_scatter_reduce, _bound)

    def scatter_reduce_(
        self,
        dim: Any = REQUIRED,
        index: Any = REQUIRED,
        src: Any = REQUIRED,
        reduce: Any = REQUIRED,
        axis: Any = ...,
        *,
        include_self: bool = True,
    ) -> Any:
        """In place: writes what `scatter_reduce` gives into the tensor, and returns it."""
        if axis is not ...:
            dim = same_as("scatter_reduce_", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index, src, reduce, include_self)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(
                _scatter_reduce_,
                (
                    self,
                    dim,
                    index,
                    src,
                    reduce,
                    include_self,
                ),
                _error,
            )
        return _dispatch(_scatter_reduce_, _bound)

    def select(self, dim: Any = REQUIRED, index: Any = REQUIRED, axis: Any = ...) -> Any:
        """View of the slice at one position of a dim: `input[..., index, ...]`.

        Args:
            input: a tensor of at least one dim.
            dim: the dim, which the result lacks.
            index: the position; negative ones count from the end.

        Returns: a view of `input`.

        Raises:
            IndexError: `input` has no such dim, or the dim no such position.

        Example:
            >>> gw.select(gw.tensor([[1, 2], [3, 4]]), 1, -1)
            tensor([2, 4])
        """
        if axis is not ...:
            dim = same_as("select", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), index)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_select, (self, dim, index), _error)
        return _dispatch(_select, _bound)

    def select_scatter(
        self,
        src: Tensor,
        dim: Any = REQUIRED,
        index: Any = REQUIRED,
        axis: Any = ...,
    ) -> Any:
        """Copy in which the slice at one position of a dim holds other values.

        Args:
            input: a tensor of at least one dim.
            src: the values, of the shape of `input` without `dim`; converted to its dtype.
            dim: the dim.
            index: the position; negative ones count from the end.

        Returns: a new tensor of the shape and dtype of `input`.

        Raises:
            RuntimeError: `src` has another shape than the slice.
            IndexError: `input` has no such dim, or the dim no such position.

        Example:
            >>> gw.select_scatter(gw.zeros(2, 2), gw.ones(2), 0, 1)
            tensor([[0., 0.],
                    [1., 1.]])
        """
        if axis is not ...:
            dim = same_as("select_scatter", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, src, wrap_dim(dim, self.ndim), index)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_select_scatter, (self, src, dim, index), _error)
        return _dispatch(_select_scatter, _bound)

    def sgn(self) -> Any:
        """Direction of each element: `x / abs(x)` of complex numbers, `sign` of real ones; 0 at 0.

        Args:
            input: a tensor of any shape and dtype.

        Example:
            >>> gw.sgn(gw.tensor([3 + 4j, 0]))
            tensor([0.6000+0.8000j, 0.0000+0.0000j])
        """
        return _dispatch(_sgn, (self,))

    def sgn_(self) -> Any:
        """In place: writes what `sgn` gives into the tensor, and returns it."""
        return _dispatch(_sgn_, (self,))

    def sigmoid(self) -> Any:
        """Logistic function, `y = 1 / (1 + e^(-x))`, between 0 and 1.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.sigmoid(gw.tensor([0.0, 1.0]))
            tensor([0.5000, 0.7311])
        """
        return _dispatch(_sigmoid, (self,))

    def sigmoid_(self) -> Any:
        """In place: writes what `sigmoid` gives into the tensor, and returns it."""
        return _dispatch(_sigmoid_, (self,))

    def sign(self) -> Any:
        """Sign of each element: -1, 0 or 1; 0 for nan.

        The gradient is zero.

        Args:
            input: a tensor of any shape.

        Raises:
            NotImplementedError: the dtype of `input` is complex.

        Example:
            >>> gw.sign(gw.tensor([-3.0, 0.0, 2.0]))
            tensor([-1.,  0.,  1.])
        """
        return _dispatch(_sign, (self,))

    def sign_(self) -> Any:
        """In place: writes what `sign` gives into the tensor, and returns it."""
        return _dispatch(_sign_, (self,))

    def signbit(self) -> Any:
        """Whether each element has a negative sign, which -0.0 has too.

        Args:
            input: a tensor of any shape.

        Returns: a bool tensor of the shape of `input`.

        Raises:
            NotImplementedError: the dtype of `input` is complex.

        Example:
            >>> gw.signbit(gw.tensor([-0.0, 1.0]))
            tensor([ True, False])
        """
        return _dispatch(_signbit, (self,))

    def sin(self) -> Any:
        """Sine of each element, an angle in radians.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.sin(gw.tensor([0.0, 1.0]))
            tensor([0.0000, 0.8415])
        """
        return _dispatch(_sin, (self,))

    def sin_(self) -> Any:
        """In place: writes what `sin` gives into the tensor, and returns it."""
        return _dispatch(_sin_, (self,))

    def sinc(self) -> Any:
        """Normalised sinc function, `y = sin(pi x) / (pi x)`, 1 at 0.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.sinc(gw.tensor([0.0, 0.5]))
            tensor([1.0000, 0.6366])
        """
        return _dispatch(_sinc, (self,))

    def sinc_(self) -> Any:
        """In place: writes what `sinc` gives into the tensor, and returns it."""
        return _dispatch(_sinc_, (self,))

    def sinh(self) -> Any:
        """Hyperbolic sine, `y = (e^x - e^(-x)) / 2`.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.sinh(gw.tensor([0.0, 1.0]))
            tensor([0.0000, 1.1752])
        """
        return _dispatch(_sinh, (self,))

    def sinh_(self) -> Any:
        """In place: writes what `sinh` gives into the tensor, and returns it."""
        return _dispatch(_sinh_, (self,))

    def slice_scatter(
        self,
        src: Tensor,
        dim: int = 0,
        start: int | None = None,
        end: int | None = None,
        step: int | None = 1,
        surplus: Any = ...,
        axis: Any = ...,
    ) -> Any:
        """Copy in which every `step`-th position of one dim holds other values.

        Args:
            input: a tensor of at least one dim.
            src: the values, of the shape of `input[start:end:step]` along `dim`; converted to the
                dtype of `input`.
            dim: the dim.
            start: the first position; 0 if None. Negative ones count from the end.
            end: the position behind the last one; the size of the dim if None.
            step: the distance of positions, above 0; 1 if None.

        Returns: a new tensor of the shape and dtype of `input`.

        Raises:
            RuntimeError: `src` has another shape than the slice.
            IndexError: `input` has no such dim.
            ValueError: `step` is not positive.

        Example:
            >>> gw.slice_scatter(gw.zeros(4), gw.ones(2), 0, 1, 3)
            tensor([0., 1., 1., 0.])
        """
        if surplus is not ...:
            refuse_surplus("slice_scatter")
        if axis is not ...:
            dim = same_as("slice_scatter", "dim", dim, 0, "axis", axis)
        try:
            _bound = (self, src, wrap_dim(dim, self.ndim), start, end, step)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_slice_scatter, (self, src, dim, start, end, step), _error)
        return _dispatch(_slice_scatter, _bound)

    def slogdet(self) -> Any:
        """Sign and logarithm of the absolute value of the determinant: `linalg.slogdet`.

        Args:
            input: float32, float64 or complex, `(*, n, n)`.

        Returns: `(sign, logabsdet)`, both of shape `(*)`; a singular matrix has 0 and -inf.

        Raises:
            RuntimeError: the matrices are not square, or of integers.

        Example:
            >>> gw.slogdet(gw.tensor([[0.0, 1.0], [1.0, 0.0]])).sign
            tensor(-1.)
        """
        return _dispatch(_slogdet, (self,))

    def softmax(self, dim: Any = REQUIRED, dtype: DType | None = None, axis: Any = ...) -> Any:
        """Exponentials divided by their sum along a dim: `exp(x_i) / sum_j exp(x_j)`.

        The maximum is subtracted first, so that no exponential overflows.

        Args:
            input: floating point.
            dim: the dim whose elements sum up to 1.
            dtype: what `input` is converted to first; nothing if None.

        Returns: a tensor of the shape of `input`.

        Raises:
            IndexError: `input` has no such dim.
            NotImplementedError: `input` holds integers and `dtype` is None.

        Example:
            >>> gw.softmax(gw.tensor([1.0, 1.0, 1.0, 1.0]), 0)
            tensor([0.2500, 0.2500, 0.2500, 0.2500])
        """
        if axis is not ...:
            dim = same_as("softmax", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_softmax, (self, dim, dtype), _error)
        return _dispatch(_softmax, _bound)

    def sort(
        self,
        dim: int = -1,
        descending: bool = False,
        stable: Any = False,
        surplus: Any = ...,
        axis: Any = ...,
    ) -> Any:
        """The elements sorted along one dim, and where each came from; NaN counts as the greatest.

        Args:
            input: a real or bool tensor of any shape.
            dim: the dim to sort along.
            descending: from the greatest to the least.
            stable: keep the order of equal elements, which is kept in any case.

        Returns: the named tuple `(values, indices)` of tensors of the shape of `input`; the
            indices are int64.

        Raises:
            IndexError: `input` has no such dim.
            NotImplementedError: `input` is complex.

        Example:
            >>> gw.sort(gw.tensor([3.0, 1.0, 2.0]))
            graphwright.return_types.sort(
            values=tensor([1., 2., 3.]),
            indices=tensor([1, 2, 0]))
        """
        if surplus is not ...:
            refuse_surplus("sort")
        if axis is not ...:
            dim = same_as("sort", "dim", dim, -1, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), descending, stable)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_sort, (self, dim, descending, stable), _error)
        return _dispatch(_sort, _bound)

    def split(
        self,
        split_size: int | Sequence[int],
        dim: int = 0,
        surplus: Any = ...,
        axis: Any = ...,
    ) -> Any:
        """Views of consecutive parts of one dim, of a given size or of given sizes.

        Args:
            input: a tensor of at least one dim.
            split_size: the size of each part, of which the last may be less; or the sizes of all.
            dim: the dim that is split.

        Returns: a tuple of views of `input`.

        Raises:
            RuntimeError: `input` has no dims, a size is negative, 0 for a dim with elements, or
                sizes do not sum to that of the dim.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.split(gw.arange(5), 2)
            (tensor([0, 1]), tensor([2, 3]), tensor([4]))
        """
        if surplus is not ...:
            refuse_surplus("split")
        if axis is not ...:
            dim = same_as("split", "dim", dim, 0, "axis", axis)
        try:
            _bound = (self, split_size, wrap_dim(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_split, (self, split_size, dim), _error)
        return _dispatch(_split, _bound)

    def split_with_sizes(
        self,
        split_sizes: Sequence[int],
        dim: int = 0,
        surplus: Any = ...,
        axis: Any = ...,
    ) -> Any:
        """Views of consecutive parts of one dim, of given sizes.

        Args:
            input: a tensor of at least one dim.
            split_sizes: the size of each part.
            dim: the dim that is split.

        Returns: a tuple of views of `input`.

        Raises:
            RuntimeError: `input` has no dims, a size is negative, or they do not sum to that of
                the dim.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.split_with_sizes(gw.arange(5), (2, 3))
            (tensor([0, 1]), tensor([2, 3, 4]))
        """
        if surplus is not ...:
            refuse_surplus("split_with_sizes")
        if axis is not ...:
            dim = same_as("split_with_sizes", "dim", dim, 0, "axis", axis)
        try:
            _bound = (self, as_size(split_sizes), wrap_dim(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_split_with_sizes, (self, split_sizes, dim), _error)
        return _dispatch(_split_with_sizes, _bound)

    def sqrt(self) -> Any:
        """Square root of each element; nan for negative real numbers.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.sqrt(gw.tensor([4, 9]))
            tensor([2., 3.])
        """
        return _dispatch(_sqrt, (self,))

    def sqrt_(self) -> Any:
        """In place: writes what `sqrt` gives into the tensor, and returns it."""
        return _dispatch(_sqrt_, (self,))

    def square(self) -> Any:
        """Square of each element, `y = x^2`.

        Args:
            input: a tensor of any shape; bool gives int64.

        Example:
            >>> gw.square(gw.tensor([-2, 3]))
            tensor([4, 9])
        """
        return _dispatch(_square, (self,))

    def square_(self) -> Any:
        """In place: writes what `square` gives into the tensor, and returns it."""
        return _dispatch(_square_, (self,))

    def squeeze(self, *dim_: Any, dim: Any = ..., axis: Any = ...) -> Any:
        """View without dims of size 1.

        Args:
            input: a tensor of any shape.
            dim: the dim or dims that go where they have size 1; all if None, none if empty.

        Returns: a view of `input`.

        Raises:
            IndexError: `input` has no such dim.
            RuntimeError: a dim is named twice.

        Example:
            >>> gw.squeeze(gw.ones(1, 2, 1), 0).shape
            graphwright.Size([2, 1])
        """
        if dim_:
            dim = spread("squeeze", dim_, dim, ...)
        if axis is not ...:
            dim = same_as("squeeze", "dim", dim, ..., "axis", axis)
        if dim is ...:
            dim = None
        elif dim is None:
            refuse_none("squeeze", "dim")
        return _dispatch(_squeeze, (self, dim))

    def std(
        self,
        dim: Any = None,
        unbiased: Any = ...,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
        *,
        correction: Number | None = None,
    ) -> Any:
        """Standard deviation of the elements, of all or along some dims: the square root of `var`.

        Args:
            input: a floating point or complex tensor of any shape.
            dim: the dim or dims; all if None. A bool here is `unbiased`.
            unbiased: True for `correction=1`, False for `correction=0`; use `correction` if None.
            keepdim: keep each of these dims with size 1.
            correction: what is subtracted from the number of elements, as in `var`; 1 if None.

        Returns: a real tensor of the shape of `input` without `dim`.

        Raises:
            RuntimeError: `input` has integers or bools.
            TypeError: both `unbiased` and `correction` are given.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.std(gw.tensor([1.0, 2.0, 3.0, 4.0]), correction=0)
            tensor(1.1180)
        """
        if surplus is not ...:
            refuse_surplus("std")
        if axis is not ...:
            dim = same_as("std", "dim", dim, None, "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("std", "keepdim", keepdim, False, "keepdims", keepdims)
        if unbiased is ...:
            unbiased = None
        elif unbiased is None:
            refuse_none("std", "unbiased")
        return _dispatch(_std, (self, dim, unbiased, keepdim, correction))

    def stft(
        self,
        n_fft: int,
        hop_length: int | None = None,
        win_length: int | None = None,
        window: Tensor | None = None,
        center: bool = True,
        pad_mode: str = "reflect",
        normalized: bool = False,
        onesided: Any = None,
        return_complex: Any = None,
        align_to_window: Any = None,
    ) -> Any:
        """Short-time Fourier transform: spectra of overlapping, weighted frames of a signal.

        `out[f, t] = sum_n window[n] * x[t * hop_length + n] * exp(-2 pi i f n / n_fft)`.

        Args:
            input: floating point or complex, `(L,)` or `(N, L)`.
            n_fft: the length of a frame.
            hop_length: the distance between frames; `n_fft // 4` if None.
            win_length: the length of the window, in the middle of the frame; `n_fft` if None.
            window: weights, `(win_length,)`; ones if None.
            center: pad `n_fft // 2` elements at both ends, so that frame t is centred at `t *
                hop_length`.
            pad_mode: how `center` pads, as for `F.pad`.
            normalized: divide by `sqrt(n_fft)`.
            onesided: only the `n_fft // 2 + 1` frequencies from 0; the default for real signals
                and windows.
            return_complex: return complex numbers; pairs of real ones in a last dim if False. Must
                be given for real signals.
            align_to_window: not used.

        Returns: a tensor of shape `(*, frequencies, frames)`.

        Raises:
            RuntimeError: sizes do not fit the signal, or `onesided` is asked of a complex one.

        Example:
            >>> gw.stft(gw.ones(100), n_fft=20, return_complex=True).shape
            graphwright.Size([11, 21])
        """
        return _dispatch(
            _stft,
            (
                self,
                n_fft,
                hop_length,
                win_length,
                window,
                center,
                pad_mode,
                normalized,
                onesided,
                return_complex,
                align_to_window,
            ),
        )

    def sub(self, other: Tensor | Number, *older: Any, alpha: Number = 1) -> Any:
        """Difference, `input - alpha * other`, elementwise and broadcast; the operator `-`.

        Args:
            input, other: tensors or numbers that broadcast to one shape.
            alpha: the number that `other` is multiplied by.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            RuntimeError: the shapes do not broadcast, or `alpha` is a float and the result of
                integers; an operand is of bool.

        Example:
            >>> gw.sub(gw.tensor([5.0, 6.0]), 2)
            tensor([3., 4.])
        """
        if older:
            return number_first(_sub, (self, other, *older), method=True)
        return _dispatch(_sub, (self, other, alpha))

    def sub_(self, other: Tensor | Number, *older: Any, alpha: Number = 1) -> Any:
        """In place: writes what `sub` gives into the tensor, and returns it."""
        if older:
            return number_first(_sub_, (self, other, *older), method=True)
        return _dispatch(_sub_, (self, other, alpha))

    def sum(
        self,
        dim: int | Sequence[int] | None = None,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
        *,
        dtype: DType | None = None,
    ) -> Any:
        """Sum of the elements, of all or along some dims.

        Args:
            input: a tensor of any shape; integers and bool are summed as int64.
            dim: the dim or dims to sum along; all if None.
            keepdim: keep each of these dims with size 1.
            dtype: what `input` is converted to first; nothing if None.

        Returns: a tensor of the shape of `input` without `dim`.

        Raises:
            IndexError: `input` has no such dim.
            RuntimeError: a dim is named twice.

        Example:
            >>> gw.sum(gw.tensor([[1, 2], [3, 4]]), 0)
            tensor([4, 6])
        """
        if surplus is not ...:
            refuse_surplus("sum")
        if axis is not ...:
            dim = same_as("sum", "dim", dim, None, "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("sum", "keepdim", keepdim, False, "keepdims", keepdims)
        try:
            _bound = (self, wrap_dims(dim, self.ndim), keepdim, dtype)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_sum, (self, dim, keepdim, dtype), _error)
        return _dispatch(_sum, _bound)

    def sum_to_size(self, *size_: Any, size: Any = None) -> Any:
        """Sum over the dims that broadcasting `size` to the shape of `input` would expand.

        It is the gradient of that broadcast. Shapes are compared from their last dim on.

        Args:
            input: a tensor of any shape.
            size: the shape of the result: each size is that of `input` or 1; fewer dims are
                allowed.

        Returns: a tensor of shape `size`; `input` itself where nothing is summed.

        Raises:
            RuntimeError: `size` does not broadcast to the shape of `input`.

        Example:
            >>> gw.sum_to_size(gw.ones(2, 3), (1, 3))
            tensor([[2., 2., 2.]])
        """
        return _dispatch(_sum_to_size, (self, as_size(varargs(size_, size))))

    def svd(self, some: bool = True, compute_uv: bool = True) -> Any:
        """Singular value decomposition `input = U diag(S) V^H`; newer code uses `linalg.svd`.

        Args:
            input: float32, float64 or complex, `(*, m, n)`.
            some: `U` and `V` have min(m, n) columns; square if False.
            compute_uv: compute `U` and `V`; they are zeros if False.

        Returns: `(U, S, V)`: `V`, not its adjoint; `S` is real and descending.

        Raises:
            RuntimeError: `input` has less than 2 dims, or holds integers.

        Example:
            >>> gw.svd(gw.tensor([[3.0, 0.0], [0.0, 4.0]])).S
            tensor([4., 3.])
        """
        return _dispatch(_svd, (self, some, compute_uv))

    def t(self) -> Any:
        """View of a matrix transposed; of a vector or a tensor without dims, a view as it is.

        Args:
            input: a tensor of at most two dims.

        Returns: a view of `input`.

        Raises:
            RuntimeError: `input` has more dims.

        Example:
            >>> gw.t(gw.tensor([[1, 2], [3, 4]]))
            tensor([[1, 3],
                    [2, 4]])
        """
        return _dispatch(_t, (self,))

    def take(self, index: Tensor) -> Any:
        """Tensor of the elements at positions of the flattened tensor.

        Args:
            input: a tensor of any shape.
            index: an int64 tensor of positions in row-major order; negative ones count from the
                end.

        Returns: a new tensor of the shape of `index` and the dtype of `input`.

        Raises:
            IndexError: a position is out of range.
            RuntimeError: `index` has another dtype.

        Example:
            >>> gw.take(gw.tensor([[1, 2], [3, 4]]), gw.tensor([0, -1]))
            tensor([1, 4])
        """
        return _dispatch(_take, (self, index))

    def take_along_dim(
        self,
        indices: Tensor,
        dim: int | None = None,
        surplus: Any = ...,
        axis: Any = ...,
    ) -> Any:
        """Tensor of the elements at given positions along one dim, as `gather`, but broadcast.

        It takes what `argsort`, `argmax` with `keepdim` and their like return.

        Args:
            input: a tensor of any shape.
            indices: an int32 or int64 tensor of positions, which broadcasts with `input` but along
                `dim`; negative ones count from the end.
            dim: the dim; if None, all elements are one row.

        Returns: a new tensor of the broadcast shape, with the size of `indices` along `dim`.

        Raises:
            IndexError: a position is out of range, or `input` has no such dim.
            RuntimeError: the numbers of dims differ, the shapes do not broadcast, or `indices` has
                another dtype.

        Example:
            >>> gw.take_along_dim(gw.tensor([[3, 1], [2, 4]]), gw.tensor([[1], [0]]), 1)
            tensor([[1],
                    [2]])
        """
        if surplus is not ...:
            refuse_surplus("take_along_dim")
        if axis is not ...:
            dim = same_as("take_along_dim", "dim", dim, None, "axis", axis)
        return _dispatch(_take_along_dim, (self, indices, dim))

    def tan(self) -> Any:
        """Tangent of each element, an angle in radians.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.tan(gw.tensor([0.0, 1.0]))
            tensor([0.0000, 1.5574])
        """
        return _dispatch(_tan, (self,))

    def tan_(self) -> Any:
        """In place: writes what `tan` gives into the tensor, and returns it."""
        return _dispatch(_tan_, (self,))

    def tanh(self) -> Any:
        """Hyperbolic tangent of each element, between -1 and 1.

        Args:
            input: a tensor of any shape; integers and bool give the default dtype.

        Example:
            >>> gw.tanh(gw.tensor([0.0, 1.0]))
            tensor([0.0000, 0.7616])
        """
        return _dispatch(_tanh, (self,))

    def tanh_(self) -> Any:
        """In place: writes what `tanh` gives into the tensor, and returns it."""
        return _dispatch(_tanh_, (self,))

    def tensor_split(
        self,
        indices_or_sections: int | Sequence[int] | Tensor | None = None,
        dim: int = 0,
        surplus: Any = ...,
        axis: Any = ...,
        *,
        sections: int | Sequence[int] | None = None,
        indices: int | Sequence[int] | Tensor | None = None,
    ) -> Any:
        """Views of consecutive parts of one dim, split at positions or into sections.

        The sizes of sections differ by at most 1; the first ones are longer.

        Args:
            input: a tensor of at least one dim.
            indices_or_sections: an int, the number of sections; or a sequence of the positions
                where new parts begin; or an int64 tensor with either.
            dim: the dim that is split.
            sections, indices: the same by name; exactly one of the three is given.

        Returns: a tuple of views of `input`; parts may be empty.

        Raises:
            TypeError: none or several of the three are given.
            RuntimeError: `input` has no dims, or the number of sections is not positive.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.tensor_split(gw.arange(5), (1, 3))
            (tensor([0]), tensor([1, 2]), tensor([3, 4]))
        """
        if surplus is not ...:
            refuse_surplus("tensor_split")
        if axis is not ...:
            dim = same_as("tensor_split", "dim", dim, 0, "axis", axis)
        try:
            _bound = (self, indices_or_sections, wrap_dim(dim, self.ndim), sections, indices)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(
                _tensor_split,
                (
                    self,
                    indices_or_sections,
                    dim,
                    sections,
                    indices,
                ),
                _error,
            )
        return _dispatch(_tensor_split, _bound)

    def tile(self, *dims_: Any, dims: Any = None) -> Any:
        """Copy with the whole tensor repeated along each dim; as `repeat`, but for fewer numbers.

        Args:
            input: a tensor of any shape.
            dims: how often along each dim, from the last one on; the others once.

        Returns: a new tensor.

        Raises:
            RuntimeError: a number is negative.

        Example:
            >>> gw.tile(gw.tensor([[1, 2], [3, 4]]), (2,))
            tensor([[1, 2, 1, 2],
                    [3, 4, 3, 4]])
        """
        return _dispatch(_tile, (self, as_size(varargs(dims_, dims))))

    def topk(
        self,
        k: int,
        dim: int = -1,
        largest: bool = True,
        sorted: bool = True,
        surplus: Any = ...,
        axis: Any = ...,
    ) -> Any:
        """The `k` greatest or least elements along one dim, in order, and where they are.

        Args:
            input: a real tensor of any shape; NaN counts as the greatest.
            k: how many, at most the size of the dim.
            dim: the dim to search.
            largest: the greatest in descending order; else the least in ascending order.
            sorted: return them in order, which is done in any case.

        Returns: the named tuple `(values, indices)`, of size `k` along `dim`; the indices are
            int64.

        Raises:
            RuntimeError: `k` is negative or exceeds the size of the dim.
            IndexError: `input` has no such dim.
            NotImplementedError: `input` is bool or complex.

        Example:
            >>> gw.topk(gw.tensor([3.0, 1.0, 2.0]), 2)
            graphwright.return_types.topk(
            values=tensor([3., 2.]),
            indices=tensor([0, 2]))
        """
        if surplus is not ...:
            refuse_surplus("topk")
        if axis is not ...:
            dim = same_as("topk", "dim", dim, -1, "axis", axis)
        try:
            _bound = (self, k, wrap_dim(dim, self.ndim), largest, sorted)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_topk, (self, k, dim, largest, sorted), _error)
        return _dispatch(_topk, _bound)

    def trace(self) -> Any:
        """Sum of the elements on the diagonal of a matrix.

        Args:
            input: a tensor of two dims, square or not; integers are summed as int64.

        Returns: a tensor without dims.

        Raises:
            RuntimeError: `input` does not have two dims.
            NotImplementedError: `input` is bool.

        Example:
            >>> gw.trace(gw.tensor([[1, 2], [3, 4]]))
            tensor(5)
        """
        return _dispatch(_trace, (self,))

    def transpose(self, dim0: int, dim1: int) -> Any:
        """View with two dims swapped.

        Args:
            input: a tensor of any shape.
            dim0, dim1: the two dims.

        Returns: a view of `input`.

        Raises:
            IndexError: `input` has no such dim.

        Example:
            >>> gw.transpose(gw.tensor([[1, 2], [3, 4]]), 0, 1)
            tensor([[1, 3],
                    [2, 4]])
        """
        try:
            _bound = (self, wrap_dim(dim0, self.ndim), wrap_dim(dim1, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_transpose, (self, dim0, dim1), _error)
        return _dispatch(_transpose, _bound)

    def triangular_solve(
        self,
        A: Tensor,
        upper: bool = True,
        transpose: bool = False,
        unitriangular: bool = False,
    ) -> Any:
        """Solution `X` of `A X = input` with triangular `A`; successor: `linalg.solve_triangular`.

        Args:
            input: right sides, `(*, n, k)`.
            A: of the dtype of `input`, `(*, n, n)`; only the named triangle is read.
            upper: whether `A` is upper triangular rather than lower.
            transpose: solve `A^H X = input` instead.
            unitriangular: take the diagonal of `A` for ones.

        Returns: `(solution, cloned_coefficient)`: `X` and `A`.

        Raises:
            LinAlgError: a matrix has a 0 on its diagonal.
            RuntimeError: shapes or dtypes do not match, or `A` is not square.

        Example:
            >>> A = gw.tensor([[2.0, 1.0], [0.0, 1.0]])
            >>> gw.triangular_solve(gw.tensor([[4.0], [2.0]]), A).solution
            tensor([[1.],
                    [2.]])
        """
        return _dispatch(_triangular_solve, (self, A, upper, transpose, unitriangular))

    def tril(self, diagonal: int = 0) -> Any:
        """Lower triangle of matrices: what lies above a diagonal is 0.

        Args:
            input: a tensor of shape (..., rows, columns).
            diagonal: the last diagonal that is kept: 0 is the main one, positive ones lie above
                it.

        Returns: a new tensor of the shape and dtype of `input`.

        Raises:
            RuntimeError: `input` has fewer than two dims.

        Example:
            >>> gw.tril(gw.tensor([[1, 2], [3, 4]]))
            tensor([[1, 0],
                    [3, 4]])
        """
        return _dispatch(_tril, (self, diagonal))

    def tril_(self, diagonal: int = 0) -> Any:
        """In place: writes what `tril` gives into the tensor, and returns it."""
        return _dispatch(_tril_, (self, diagonal))

    def triu(self, diagonal: int = 0) -> Any:
        """Upper triangle of matrices: what lies below a diagonal is 0.

        Args:
            input: a tensor of shape (..., rows, columns).
            diagonal: the first diagonal that is kept: 0 is the main one, positive ones lie above
                it.

        Returns: a new tensor of the shape and dtype of `input`.

        Raises:
            RuntimeError: `input` has fewer than two dims.

        Example:
            >>> gw.triu(gw.tensor([[1, 2], [3, 4]]), 1)
            tensor([[0, 2],
                    [0, 0]])
        """
        return _dispatch(_triu, (self, diagonal))

    def triu_(self, diagonal: int = 0) -> Any:
        """In place: writes what `triu` gives into the tensor, and returns it."""
        return _dispatch(_triu_, (self, diagonal))

    def trunc(self) -> Any:
        """Each element without its fraction, rounded towards 0; integers are unchanged.

        The gradient is zero.

        Args:
            input: a tensor of any shape.

        Raises:
            NotImplementedError: the dtype of `input` is bool or complex.

        Example:
            >>> gw.trunc(gw.tensor([1.5, -1.5]))
            tensor([ 1., -1.])
        """
        return _dispatch(_trunc, (self,))

    def trunc_(self) -> Any:
        """In place: writes what `trunc` gives into the tensor, and returns it."""
        return _dispatch(_trunc_, (self,))

    def unbind(self, dim: int = 0, surplus: Any = ..., axis: Any = ...) -> Any:
        """Views of the slices at each position of one dim.

        Args:
            input: a tensor of at least one dim.
            dim: the dim, which the results lack.

        Returns: a tuple of views of `input`, as many as the dim has positions.

        Raises:
            IndexError: `input` has no such dim.

        Example:
            >>> gw.unbind(gw.tensor([[1, 2], [3, 4]]))
            (tensor([1, 2]), tensor([3, 4]))
        """
        if surplus is not ...:
            refuse_surplus("unbind")
        if axis is not ...:
            dim = same_as("unbind", "dim", dim, 0, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_unbind, (self, dim), _error)
        return _dispatch(_unbind, _bound)

    def unflatten(self, dim: Any = REQUIRED, sizes: Any = REQUIRED, axis: Any = ...) -> Any:
        """View with one dim split into several.

        Args:
            input: a tensor of any shape.
            dim: the dim that is split.
            sizes: the sizes of the new dims; one may be -1, which the others decide.

        Returns: a view of `input`.

        Raises:
            RuntimeError: `sizes` is empty, or its product is not the size of the dim.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.unflatten(gw.ones(2, 6), 1, (2, -1)).shape
            graphwright.Size([2, 2, 3])
        """
        if axis is not ...:
            dim = same_as("unflatten", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim), as_size(sizes))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_unflatten, (self, dim, sizes), _error)
        return _dispatch(_unflatten, _bound)

    def unfold(self, dimension: int, size: int, step: int) -> Any:
        """View of the windows of a given size along one dim, in a new last dim.

        Args:
            input: a tensor of any shape.
            dimension: the dim that windows slide along; it then counts them.
            size: the size of windows, at most that of the dim.
            step: the distance of windows, above 0.

        Returns: a view of `input` with one dim more, where windows may overlap.

        Raises:
            RuntimeError: `size` exceeds the dim or is negative, or `step` is not positive.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.arange(5).unfold(0, 3, 1)
            tensor([[0, 1, 2],
                    [1, 2, 3],
                    [2, 3, 4]])
        """
        try:
            _bound = (self, wrap_dim(dimension, self.ndim), size, step)
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_unfold, (self, dimension, size, step), _error)
        return _dispatch(_unfold, _bound)

    def uniform_(
        self,
        from_: float = 0.0,
        to: float = 1.0,
        *,
        generator: Any = None,
        **words: Any,
    ) -> Any:
        """Fill with random numbers of the uniform distribution on [from_, to).

        Args:
            input: a floating-point or complex tensor of any shape.
            from_: the lower bound, also by the name `from`.
            to: the upper bound.
            generator: the generator that draws; the default one if None.

        Returns: `input`.

        Raises:
            NotImplementedError: `input` is of integers or bool.
            RuntimeError: `from_` is above `to`, or the dtype does not hold the bounds.

        Example:
            >>> gw.empty(2).uniform_(3.0, 3.0)
            tensor([3., 3.])
        """
        if words:
            from_ = by_word("uniform_", "from", from_, 0.0, words, to)
        return _dispatch(_uniform_, (self, from_, to, generator))

    def unique(
        self,
        sorted: bool = True,
        return_inverse: bool = False,
        return_counts: bool = False,
        dim: int | None = None,
        surplus: Any = ...,
        axis: Any = ...,
    ) -> Any:
        """The distinct elements in ascending order, or the distinct slices along one dim.

        Each NaN is distinct from all others.

        Args:
            input: a real or bool tensor of any shape.
            sorted: sort them, which is done in any case.
            return_inverse: also return where each element, or slice, went.
            return_counts: also return how often each one occurs.
            dim: the dim whose slices are compared, in lexicographic order; elements if None.

        Returns: a vector, or a tensor of another size along `dim`; with the flags a tuple of it
            and
            int64 tensors: positions of the shape of `input` (a vector for `dim`), a vector of
            counts. Its shape depends on values.

        Raises:
            IndexError: `input` has no such dim.
            RuntimeError: another dim than `dim` is empty.
            NotImplementedError: `input` is complex.

        Example:
            >>> gw.unique(gw.tensor([3, 1, 3]), return_counts=True)
            (tensor([1, 3]), tensor([1, 2]))
        """
        if surplus is not ...:
            refuse_surplus("unique")
        if axis is not ...:
            dim = same_as("unique", "dim", dim, None, "axis", axis)
        try:
            _bound = (
                self,
                sorted,
                return_inverse,
                return_counts,
                wrap_dim_optional(dim, self.ndim),
            )
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_unique, (self, sorted, return_inverse, return_counts, dim), _error)
        return _dispatch(_unique, _bound)

    def unique_consecutive(
        self,
        return_inverse: bool = False,
        return_counts: bool = False,
        dim: int | None = None,
        surplus: Any = ...,
        axis: Any = ...,
    ) -> Any:
        """The elements, or the slices along one dim, without those equal to their predecessor.

        Args:
            input: a real or bool tensor of any shape.
            return_inverse: also return where each element, or slice, went.
            return_counts: also return the length of each run of equal ones.
            dim: the dim whose slices are compared; elements in row-major order if None.

        Returns: a vector, or a tensor of another size along `dim`; with the flags a tuple of it
            and
            int64 tensors: positions of the shape of `input` (a vector for `dim`), a vector of
                counts.

        Raises:
            IndexError: `input` has no such dim.
            RuntimeError: another dim than `dim` is empty.
            NotImplementedError: `input` is complex.

        Example:
            >>> gw.unique_consecutive(gw.tensor([3, 3, 1, 3]))
            tensor([3, 1, 3])
        """
        if surplus is not ...:
            refuse_surplus("unique_consecutive")
        if axis is not ...:
            dim = same_as("unique_consecutive", "dim", dim, None, "axis", axis)
        try:
            _bound = (self, return_inverse, return_counts, wrap_dim_optional(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(
                _unique_consecutive,
                (
                    self,
                    return_inverse,
                    return_counts,
                    dim,
                ),
                _error,
            )
        return _dispatch(_unique_consecutive, _bound)

    def unsafe_split(
        self,
        split_size: int,
        dim: int = 0,
        surplus: Any = ...,
        axis: Any = ...,
    ) -> Any:
        """As `split` with one size: views of parts of `split_size` positions of one dim.

        Args:
            input: a tensor of at least one dim.
            split_size: the size of each part, of which the last may be less.
            dim: the dim that is split.

        Returns: a tuple of views of `input`.

        Raises:
            RuntimeError: `input` has no dims, or the size is negative, or 0 for a dim with
                elements.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.unsafe_split(gw.arange(5), 3)
            (tensor([0, 1, 2]), tensor([3, 4]))
        """
        if surplus is not ...:
            refuse_surplus("unsafe_split")
        if axis is not ...:
            dim = same_as("unsafe_split", "dim", dim, 0, "axis", axis)
        try:
            _bound = (self, split_size, wrap_dim(dim, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_unsafe_split, (self, split_size, dim), _error)
        return _dispatch(_unsafe_split, _bound)

    def unsqueeze(self, dim: Any = REQUIRED, axis: Any = ...) -> Any:
        """View with a new dim of size 1.

        Args:
            input: a tensor of any shape.
            dim: the place of the new dim in the result, from `-input.ndim - 1` to `input.ndim`.

        Returns: a view of `input`.

        Raises:
            IndexError: the place is out of range.

        Example:
            >>> gw.unsqueeze(gw.tensor([1, 2]), 1)
            tensor([[1],
                    [2]])
        """
        if axis is not ...:
            dim = same_as("unsqueeze", "dim", dim, REQUIRED, "axis", axis)
        try:
            _bound = (self, wrap_dim(dim, self.ndim + 1))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_unsqueeze, (self, dim), _error)
        return _dispatch(_unsqueeze, _bound)

    def var(
        self,
        dim: Any = None,
        unbiased: Any = ...,
        keepdim: bool = False,
        surplus: Any = ...,
        axis: Any = ...,
        keepdims: Any = ...,
        *,
        correction: Number | None = None,
    ) -> Any:
        """Variance of all elements or along some dims: `sum |x - mean|^2 / (n - correction)`.

        Args:
            input: a floating point or complex tensor of any shape.
            dim: the dim or dims; all if None. A bool here is `unbiased`.
            unbiased: True for `correction=1`, False for `correction=0`; use `correction` if None.
            keepdim: keep each of these dims with size 1.
            correction: what is subtracted from the number n of elements; 1 if None.

        Returns: a real tensor of the shape of `input` without `dim`. With a warning, NaN or inf
            where `n - correction` is not positive.

        Raises:
            RuntimeError: `input` has integers or bools.
            TypeError: both `unbiased` and `correction` are given.
            IndexError: `input` has no such dim.

        Example:
            >>> gw.var(gw.tensor([[1.0, 3.0], [2.0, 2.0]]), 1)
            tensor([2., 0.])
        """
        if surplus is not ...:
            refuse_surplus("var")
        if axis is not ...:
            dim = same_as("var", "dim", dim, None, "axis", axis)
        if keepdims is not ...:
            keepdim = same_as("var", "keepdim", keepdim, False, "keepdims", keepdims)
        if unbiased is ...:
            unbiased = None
        elif unbiased is None:
            refuse_none("var", "unbiased")
        return _dispatch(_var, (self, dim, unbiased, keepdim, correction))

    def vdot(self, other: Tensor) -> Any:
        """Inner product of two vectors: `sum(conj(input) * other)`.

        Args:
            input: `(n,)`, conjugated; any dtype but bool.
            other: `(n,)`, of the dtype of `input`.

        Returns: a tensor without dims.

        Raises:
            RuntimeError: a tensor is no vector, or lengths or dtypes differ.

        Example:
            >>> gw.vdot(gw.tensor([1j, 2]), gw.tensor([1j, 1]))
            tensor(3.+0.j)
        """
        return _dispatch(_vdot, (self, other))

    def view(self, *size_: Any, size: Any = None) -> Any:
        """View of a tensor with another shape, over the same elements in row-major order.

        As a method it also takes a dtype, whose elements the same bytes are read as.

        Args:
            input: a tensor of any shape.
            size: the new sizes; one may be -1, which the others decide.

        Returns: a view of `input` that shares its memory.

        Raises:
            RuntimeError: the sizes do not have as many elements, or the strides of `input` allow
                no such view: `reshape` copies then.

        Example:
            >>> gw.arange(6).view(2, 3)
            tensor([[0, 1, 2],
                    [3, 4, 5]])
        """
        return _dispatch(_view, (self, as_size(varargs(size_, size))))

    def view_as(self, other: Tensor) -> Any:
        """View of a tensor with the shape of another one: `input.view(other.shape)`.

        Args:
            input: a tensor.
            other: the tensor whose shape is taken.

        Returns: a view of `input`.

        Raises:
            RuntimeError: as `view`.

        Example:
            >>> gw.arange(4).view_as(gw.ones(2, 2))
            tensor([[0, 1],
                    [2, 3]])
        """
        return _dispatch(_view_as, (self, other))

    def vsplit(
        self,
        *indices_or_sections_: Any,
        indices_or_sections: int | Sequence[int] | None = None,
        sections: int | Sequence[int] | None = None,
        indices: int | Sequence[int] | None = None,
    ) -> Any:
        """Views of parts of the first dim: as `tensor_split`, of equal sections.

        Args:
            input: a tensor of at least two dims.
            indices_or_sections: an int, the number of sections; or the positions where new parts
                begin.
            sections, indices: the same by name; exactly one of the three is given.

        Returns: a tuple of views of `input`.

        Raises:
            RuntimeError: `input` has fewer dims, or the number of sections does not divide the
                dim.
            TypeError: none or several of the three are given.

        Example:
            >>> gw.vsplit(gw.tensor([[1, 2], [3, 4]]), 2)
            (tensor([[1, 2]]), tensor([[3, 4]]))
        """
        if indices_or_sections_:
            indices_or_sections = spread("vsplit", indices_or_sections_, indices_or_sections, None)
        return _dispatch(_vsplit, (self, indices_or_sections, sections, indices))

    def xlogy(self, other: Tensor | Number) -> Any:
        """Product with a logarithm, `input * log(other)`, broadcast; 0 where `input` is 0.

        It is nan where `other` is nan.

        Args:
            input, other: tensors that broadcast to one shape; one of them may be a number.

        Returns: a tensor of the broadcast shape, in the promoted dtype;
        integers and bool give the default dtype.

        Raises:
            NotImplementedError: the promoted dtype is complex.
            RuntimeError: the shapes do not broadcast.
            TypeError: both operands are numbers.

        Example:
            >>> gw.xlogy(gw.tensor([0.0, 2.0]), gw.tensor([0.0, 3.0]))
            tensor([0.0000, 2.1972])
        """
        return _dispatch(_xlogy, (self, other))

    def xlogy_(self, other: Tensor | Number) -> Any:
        """In place: writes what `xlogy` gives into the tensor, and returns it."""
        return _dispatch(_xlogy_, (self, other))

    def zero_(self) -> Any:
        """Set every element to 0, in place.

        Args:
            input: the tensor that is changed and returned.

        Example:
            >>> gw.ones(3).zero_()
            tensor([0., 0., 0.])
        """
        return _dispatch(_zero_, (self,))

    absolute = abs
    absolute_ = abs_
    arccos = acos
    arccos_ = acos_
    arccosh = acosh
    arccosh_ = acosh_
    arcsin = asin
    arcsin_ = asin_
    arcsinh = asinh
    arcsinh_ = asinh_
    arctan = atan
    arctan2 = atan2
    arctan2_ = atan2_
    arctan_ = atan_
    arctanh = atanh
    arctanh_ = atanh_
    clip = clamp
    clip_ = clamp_
    divide = div
    divide_ = div_
    fix = trunc
    fix_ = trunc_
    ger = outer
    greater = gt
    greater_ = gt_
    greater_equal = ge
    greater_equal_ = ge_
    less = lt
    less_ = lt_
    less_equal = le
    less_equal_ = le_
    moveaxis = movedim
    multiply = mul
    multiply_ = mul_
    negative = neg
    negative_ = neg_
    not_equal = ne
    not_equal_ = ne_

    def subtract(self, other: Tensor | Number, *older: Any, alpha: Number = 1) -> Any:
        """Difference, `input - alpha * other`, elementwise and broadcast; the operator `-`.

        Args:
            input, other: tensors or numbers that broadcast to one shape.
            alpha: the number that `other` is multiplied by.

        Returns: a tensor of the broadcast shape, in the promoted dtype.

        Raises:
            RuntimeError: the shapes do not broadcast, or `alpha` is a float and the result of
                integers; an operand is of bool.

        Example:
            >>> gw.sub(gw.tensor([5.0, 6.0]), 2)
            tensor([3., 4.])
        """
        if older:
            return number_behind(_sub, "subtract", (self, other, *older))
        return _dispatch(_sub, (self, other, alpha))

    def subtract_(self, other: Tensor | Number, *older: Any, alpha: Number = 1) -> Any:
        """In place: writes what `sub` gives into the tensor, and returns it."""
        if older:
            return number_behind(_sub_, "subtract_", (self, other, *older))
        return _dispatch(_sub_, (self, other, alpha))

    def swapaxes(self, axis0: int, axis1: int) -> Any:
        """View with two dims swapped.

        Args:
            input: a tensor of any shape.
            dim0, dim1: the two dims.

        Returns: a view of `input`.

        Raises:
            IndexError: `input` has no such dim.

        Example:
            >>> gw.transpose(gw.tensor([[1, 2], [3, 4]]), 0, 1)
            tensor([[1, 3],
                    [2, 4]])
        """
        try:
            _bound = (self, wrap_dim(axis0, self.ndim), wrap_dim(axis1, self.ndim))
        except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
            return not_bound(_transpose, (self, axis0, axis1), _error)
        return _dispatch(_transpose, _bound)
    swapdims = transpose
    true_divide = div
    true_divide_ = div_
    unsafe_chunk = chunk
    unsafe_split_with_sizes = split_with_sizes


for _name, _method in list(vars(TensorMethods).items()):
    if _name in TABLE:
        _method.__gw_op__ = _op(_name)

for _name, _entry in (
    ("subtract", _sub),
    ("subtract_", _sub_),
    ("swapaxes", _transpose),
):
    vars(TensorMethods)[_name].__gw_op__ = _entry
