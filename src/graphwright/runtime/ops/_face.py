"""The op functions: what `ops` means in rules.

Generated from the op table by `python -m graphwright.runtime.ops.generate`; do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from graphwright.runtime._core import place
from graphwright.runtime.dispatch import dispatch as _dispatch
from graphwright.runtime.dispatch import not_bound
from graphwright.runtime.ops.argument_forms import (
    as_pair,
    as_size,
    as_size_optional,
    as_tensors,
    by_word,
    given_dim,
    one_by_one,
    refuse_none,
    refuse_surplus,
    same_as,
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
from graphwright.runtime.ops.out import with_out
from graphwright.runtime.ops.schema import REQUIRED
from graphwright.runtime.ops.table import TABLE
from graphwright.runtime.ops.table import op as _op
from graphwright.runtime.tensor.memory_format import check_placement, in_format

if TYPE_CHECKING:
    from builtins import complex as Number

    from graphwright.runtime.tensor.device import device as Device
    from graphwright.runtime.tensor.dtypes import dtype as DType
    from graphwright.runtime.tensor.tensor import Tensor
__scaled_mm = _op("_scaled_mm")
__unsafe_view = _op("_unsafe_view")
_abs = _op("abs")
_abs_ = _op("abs_")
_acos = _op("acos")
_acos_ = _op("acos_")
_acosh = _op("acosh")
_acosh_ = _op("acosh_")
_adadelta_step_ = _op("adadelta_step_")
_adagrad_step_ = _op("adagrad_step_")
_adam_step_ = _op("adam_step_")
_adamax_step_ = _op("adamax_step_")
_adaptive_avg_pool = _op("adaptive_avg_pool")
_adaptive_avg_pool1d = _op("adaptive_avg_pool1d")
_adaptive_avg_pool2d = _op("adaptive_avg_pool2d")
_adaptive_avg_pool3d = _op("adaptive_avg_pool3d")
_adaptive_avg_pool_backward = _op("adaptive_avg_pool_backward")
_adaptive_max_pool = _op("adaptive_max_pool")
_adaptive_max_pool1d = _op("adaptive_max_pool1d")
_adaptive_max_pool2d = _op("adaptive_max_pool2d")
_adaptive_max_pool3d = _op("adaptive_max_pool3d")
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
_affine_grid_generator = _op("affine_grid_generator")
_alias = _op("alias")
_alias_copy = _op("alias_copy")
_all = _op("all")
_allclose = _op("allclose")
_alpha_dropout = _op("alpha_dropout")
_alpha_dropout_ = _op("alpha_dropout_")
_amax = _op("amax")
_amin = _op("amin")
_aminmax = _op("aminmax")
_angle = _op("angle")
_any = _op("any")
_arange = _op("arange")
_argmax = _op("argmax")
_argmin = _op("argmin")
_argsort = _op("argsort")
_argwhere = _op("argwhere")
_as_strided = _op("as_strided")
_as_strided_copy = _op("as_strided_copy")
_as_strided_scatter = _op("as_strided_scatter")
_asgd_step_ = _op("asgd_step_")
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
_atleast_1d = _op("atleast_1d")
_atleast_2d = _op("atleast_2d")
_atleast_3d = _op("atleast_3d")
_attention_backward = _op("attention_backward")
_avg_pool = _op("avg_pool")
_avg_pool1d = _op("avg_pool1d")
_avg_pool2d = _op("avg_pool2d")
_avg_pool3d = _op("avg_pool3d")
_avg_pool_backward = _op("avg_pool_backward")
_baddbmm = _op("baddbmm")
_baddbmm_ = _op("baddbmm_")
_bartlett_window = _op("bartlett_window")
_batch_norm = _op("batch_norm")
_batch_norm_backward = _op("batch_norm_backward")
_batch_norm_train = _op("batch_norm_train")
_bernoulli = _op("bernoulli")
_bernoulli_ = _op("bernoulli_")
_bilinear = _op("bilinear")
_binary_cross_entropy = _op("binary_cross_entropy")
_binary_cross_entropy_with_logits = _op("binary_cross_entropy_with_logits")
_bincount = _op("bincount")
_binomial = _op("binomial")
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
_blackman_window = _op("blackman_window")
_block_diag = _op("block_diag")
_bmm = _op("bmm")
_broadcast_matmul = _op("broadcast_matmul")
_broadcast_tensors = _op("broadcast_tensors")
_broadcast_to = _op("broadcast_to")
_bucketize = _op("bucketize")
_cartesian_prod = _op("cartesian_prod")
_cat = _op("cat")
_cauchy_ = _op("cauchy_")
_cdist = _op("cdist")
_ceil = _op("ceil")
_ceil_ = _op("ceil_")
_celu = _op("celu")
_celu_ = _op("celu_")
_celu_backward = _op("celu_backward")
_chain_matmul = _op("chain_matmul")
_channel_shuffle = _op("channel_shuffle")
_cholesky = _op("cholesky")
_cholesky_factor = _op("cholesky_factor")
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
_cofactors = _op("cofactors")
_cofactors_backward = _op("cofactors_backward")
_col2im = _op("col2im")
_column_stack = _op("column_stack")
_combinations = _op("combinations")
_complex = _op("complex")
_conj = _op("conj")
_conj_physical = _op("conj_physical")
_conj_physical_ = _op("conj_physical_")
_conjugated = _op("conjugated")
_constant_pad = _op("constant_pad")
_constant_pad_nd = _op("constant_pad_nd")
_contiguous = _op("contiguous")
_conv1d = _op("conv1d")
_conv2d = _op("conv2d")
_conv3d = _op("conv3d")
_conv_input_grad = _op("conv_input_grad")
_conv_transpose1d = _op("conv_transpose1d")
_conv_transpose2d = _op("conv_transpose2d")
_conv_transpose3d = _op("conv_transpose3d")
_conv_weight_grad = _op("conv_weight_grad")
_convolution = _op("convolution")
_copy = _op("copy")
_copy_ = _op("copy_")
_copysign = _op("copysign")
_copysign_ = _op("copysign_")
_corrcoef = _op("corrcoef")
_cos = _op("cos")
_cos_ = _op("cos_")
_cosh = _op("cosh")
_cosh_ = _op("cosh_")
_cosine_embedding_loss = _op("cosine_embedding_loss")
_cosine_similarity = _op("cosine_similarity")
_count_nonzero = _op("count_nonzero")
_cov = _op("cov")
_cross = _op("cross")
_cross_entropy = _op("cross_entropy")
_ctc_loss_parts = _op("ctc_loss_parts")
_cummax = _op("cummax")
_cummin = _op("cummin")
_cumprod = _op("cumprod")
_cumprod_ = _op("cumprod_")
_cumsum = _op("cumsum")
_cumsum_ = _op("cumsum_")
_cumulative_trapezoid = _op("cumulative_trapezoid")
_deg2rad = _op("deg2rad")
_deg2rad_ = _op("deg2rad_")
_det = _op("det")
_detach = _op("detach")
_detach_copy = _op("detach_copy")
_deviation = _op("deviation")
_diag = _op("diag")
_diag_embed = _op("diag_embed")
_diagflat = _op("diagflat")
_diagonal = _op("diagonal")
_diagonal_backward = _op("diagonal_backward")
_diagonal_copy = _op("diagonal_copy")
_diagonal_scatter = _op("diagonal_scatter")
_diff = _op("diff")
_digamma = _op("digamma")
_digamma_ = _op("digamma_")
_dist = _op("dist")
_div = _op("div")
_div_ = _op("div_")
_dot = _op("dot")
_dropout = _op("dropout")
_dropout_ = _op("dropout_")
_dsplit = _op("dsplit")
_dstack = _op("dstack")
_einsum = _op("einsum")
_einsum_nest = _op("einsum_nest")
_elu = _op("elu")
_elu_ = _op("elu_")
_elu_backward = _op("elu_backward")
_embedding = _op("embedding")
_embedding_backward = _op("embedding_backward")
_embedding_bag_parts = _op("embedding_bag_parts")
_embedding_renorm_ = _op("embedding_renorm_")
_empty = _op("empty")
_empty_like = _op("empty_like")
_empty_permuted = _op("empty_permuted")
_empty_strided = _op("empty_strided")
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
_expand_copy = _op("expand_copy")
_expm1 = _op("expm1")
_expm1_ = _op("expm1_")
_exponential_ = _op("exponential_")
_eye = _op("eye")
_feature_alpha_dropout = _op("feature_alpha_dropout")
_feature_alpha_dropout_ = _op("feature_alpha_dropout_")
_feature_dropout = _op("feature_dropout")
_feature_dropout_ = _op("feature_dropout_")
_fft_c2c = _op("fft_c2c")
_fft_c2r = _op("fft_c2r")
_fft_fft = _op("fft_fft")
_fft_fft2 = _op("fft_fft2")
_fft_fftfreq = _op("fft_fftfreq")
_fft_fftn = _op("fft_fftn")
_fft_fftshift = _op("fft_fftshift")
_fft_hfft = _op("fft_hfft")
_fft_hfft2 = _op("fft_hfft2")
_fft_hfftn = _op("fft_hfftn")
_fft_ifft = _op("fft_ifft")
_fft_ifft2 = _op("fft_ifft2")
_fft_ifftn = _op("fft_ifftn")
_fft_ifftshift = _op("fft_ifftshift")
_fft_ihfft = _op("fft_ihfft")
_fft_ihfft2 = _op("fft_ihfft2")
_fft_ihfftn = _op("fft_ihfftn")
_fft_irfft = _op("fft_irfft")
_fft_irfft2 = _op("fft_irfft2")
_fft_irfftn = _op("fft_irfftn")
_fft_r2c = _op("fft_r2c")
_fft_rfft = _op("fft_rfft")
_fft_rfft2 = _op("fft_rfft2")
_fft_rfftfreq = _op("fft_rfftfreq")
_fft_rfftn = _op("fft_rfftn")
_fill = _op("fill")
_fill_ = _op("fill_")
_fill_diagonal_ = _op("fill_diagonal_")
_first_bad_minor = _op("first_bad_minor")
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
_fractional_max_pool = _op("fractional_max_pool")
_frexp = _op("frexp")
_frexp_parts = _op("frexp_parts")
_full = _op("full")
_full_like = _op("full_like")
_fused_attention = _op("fused_attention")
_gated = _op("gated")
_gather = _op("gather")
_gaussian_nll_loss = _op("gaussian_nll_loss")
_gcd = _op("gcd")
_gcd_ = _op("gcd_")
_ge = _op("ge")
_ge_ = _op("ge_")
_gelu = _op("gelu")
_gelu_backward = _op("gelu_backward")
_general_eigen = _op("general_eigen")
_geometric_ = _op("geometric_")
_geqrf = _op("geqrf")
_glu = _op("glu")
_gradient = _op("gradient")
_grid_sample = _op("grid_sample")
_grid_sampler = _op("grid_sampler")
_grid_sampler_2d = _op("grid_sampler_2d")
_grid_sampler_3d = _op("grid_sampler_3d")
_group_norm = _op("group_norm")
_group_norm_backward = _op("group_norm_backward")
_grouped_mm = _op("grouped_mm")
_grouped_product = _op("grouped_product")
_gt = _op("gt")
_gt_ = _op("gt_")
_hamming_window = _op("hamming_window")
_hann_window = _op("hann_window")
_hardshrink = _op("hardshrink")
_hardshrink_backward = _op("hardshrink_backward")
_hardsigmoid = _op("hardsigmoid")
_hardsigmoid_ = _op("hardsigmoid_")
_hardsigmoid_backward = _op("hardsigmoid_backward")
_hardswish = _op("hardswish")
_hardswish_ = _op("hardswish_")
_hardswish_backward = _op("hardswish_backward")
_hardtanh = _op("hardtanh")
_hardtanh_ = _op("hardtanh_")
_hardtanh_backward = _op("hardtanh_backward")
_heaviside = _op("heaviside")
_heaviside_ = _op("heaviside_")
_hinge_embedding_loss = _op("hinge_embedding_loss")
_histc = _op("histc")
_histogram = _op("histogram")
_histogram_counts = _op("histogram_counts")
_histogram_edges = _op("histogram_edges")
_histogramdd = _op("histogramdd")
_histogramdd_counts = _op("histogramdd_counts")
_hsplit = _op("hsplit")
_hstack = _op("hstack")
_huber_loss = _op("huber_loss")
_hypot = _op("hypot")
_hypot_ = _op("hypot_")
_i0 = _op("i0")
_i0_ = _op("i0_")
_igamma = _op("igamma")
_igamma_ = _op("igamma_")
_igammac = _op("igammac")
_igammac_ = _op("igammac_")
_im2col = _op("im2col")
_imag = _op("imag")
_index = _op("index")
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
_instance_norm = _op("instance_norm")
_interpolate = _op("interpolate")
_inverse = _op("inverse")
_isclose = _op("isclose")
_isfinite = _op("isfinite")
_isin = _op("isin")
_isinf = _op("isinf")
_isnan = _op("isnan")
_isneginf = _op("isneginf")
_isposinf = _op("isposinf")
_isreal = _op("isreal")
_istft = _op("istft")
_kaiser_window = _op("kaiser_window")
_kl_div = _op("kl_div")
_kron = _op("kron")
_kth_position = _op("kth_position")
_kthvalue = _op("kthvalue")
_l1_loss = _op("l1_loss")
_layer_norm = _op("layer_norm")
_layer_norm_backward = _op("layer_norm_backward")
_layer_norm_gradients = _op("layer_norm_gradients")
_lcm = _op("lcm")
_lcm_ = _op("lcm_")
_ldexp = _op("ldexp")
_ldexp_ = _op("ldexp_")
_ldl_factors = _op("ldl_factors")
_le = _op("le")
_le_ = _op("le_")
_leaky_relu = _op("leaky_relu")
_leaky_relu_ = _op("leaky_relu_")
_leaky_relu_backward = _op("leaky_relu_backward")
_lerp = _op("lerp")
_lerp_ = _op("lerp_")
_lgamma = _op("lgamma")
_lgamma_ = _op("lgamma_")
_linalg_cholesky = _op("linalg_cholesky")
_linalg_cholesky_ex = _op("linalg_cholesky_ex")
_linalg_cond = _op("linalg_cond")
_linalg_cross = _op("linalg_cross")
_linalg_det = _op("linalg_det")
_linalg_diagonal = _op("linalg_diagonal")
_linalg_eig = _op("linalg_eig")
_linalg_eigh = _op("linalg_eigh")
_linalg_eigvals = _op("linalg_eigvals")
_linalg_eigvalsh = _op("linalg_eigvalsh")
_linalg_householder_product = _op("linalg_householder_product")
_linalg_inv = _op("linalg_inv")
_linalg_inv_ex = _op("linalg_inv_ex")
_linalg_ldl_factor = _op("linalg_ldl_factor")
_linalg_ldl_factor_ex = _op("linalg_ldl_factor_ex")
_linalg_ldl_solve = _op("linalg_ldl_solve")
_linalg_lstsq = _op("linalg_lstsq")
_linalg_lu = _op("linalg_lu")
_linalg_lu_factor = _op("linalg_lu_factor")
_linalg_lu_factor_ex = _op("linalg_lu_factor_ex")
_linalg_lu_solve = _op("linalg_lu_solve")
_linalg_matrix_norm = _op("linalg_matrix_norm")
_linalg_matrix_rank = _op("linalg_matrix_rank")
_linalg_multi_dot = _op("linalg_multi_dot")
_linalg_norm = _op("linalg_norm")
_linalg_pinv = _op("linalg_pinv")
_linalg_qr = _op("linalg_qr")
_linalg_slogdet = _op("linalg_slogdet")
_linalg_solve = _op("linalg_solve")
_linalg_solve_ex = _op("linalg_solve_ex")
_linalg_solve_triangular = _op("linalg_solve_triangular")
_linalg_svd = _op("linalg_svd")
_linalg_svdvals = _op("linalg_svdvals")
_linalg_tensorinv = _op("linalg_tensorinv")
_linalg_tensorsolve = _op("linalg_tensorsolve")
_linalg_vander = _op("linalg_vander")
_linalg_vecdot = _op("linalg_vecdot")
_linalg_vector_norm = _op("linalg_vector_norm")
_linear = _op("linear")
_linspace = _op("linspace")
_local_response_norm = _op("local_response_norm")
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
_log_softmax_backward = _op("log_softmax_backward")
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
_logit_backward = _op("logit_backward")
_logsigmoid = _op("logsigmoid")
_logsigmoid_backward = _op("logsigmoid_backward")
_logspace = _op("logspace")
_logsumexp = _op("logsumexp")
_lt = _op("lt")
_lt_ = _op("lt_")
_lu = _op("lu")
_lu_factors = _op("lu_factors")
_lu_solve = _op("lu_solve")
_lu_unpack = _op("lu_unpack")
_mH = _op("mH")
_mT = _op("mT")
_margin_ranking_loss = _op("margin_ranking_loss")
_masked_fill = _op("masked_fill")
_masked_fill_ = _op("masked_fill_")
_masked_scatter = _op("masked_scatter")
_masked_scatter_ = _op("masked_scatter_")
_masked_select = _op("masked_select")
_matmul = _op("matmul")
_matrix_H = _op("matrix_H")
_matrix_exp = _op("matrix_exp")
_matrix_power = _op("matrix_power")
_max = _op("max")
_max_pool1d = _op("max_pool1d")
_max_pool1d_with_indices = _op("max_pool1d_with_indices")
_max_pool2d = _op("max_pool2d")
_max_pool2d_with_indices = _op("max_pool2d_with_indices")
_max_pool3d = _op("max_pool3d")
_max_pool3d_with_indices = _op("max_pool3d_with_indices")
_max_pool_backward = _op("max_pool_backward")
_max_pool_with_indices = _op("max_pool_with_indices")
_max_unpool = _op("max_unpool")
_maximum = _op("maximum")
_mean = _op("mean")
_median = _op("median")
_median_position = _op("median_position")
_median_value = _op("median_value")
_meshgrid = _op("meshgrid")
_min = _op("min")
_minimum = _op("minimum")
_mish = _op("mish")
_mish_ = _op("mish_")
_mish_backward = _op("mish_backward")
_mm = _op("mm")
_mode = _op("mode")
_mode_position = _op("mode_position")
_movedim = _op("movedim")
_mse_loss = _op("mse_loss")
_msort = _op("msort")
_mul = _op("mul")
_mul_ = _op("mul_")
_multi_margin_loss = _op("multi_margin_loss")
_multilabel_margin_loss = _op("multilabel_margin_loss")
_multilabel_soft_margin_loss = _op("multilabel_soft_margin_loss")
_multinomial = _op("multinomial")
_mv = _op("mv")
_mvlgamma = _op("mvlgamma")
_mvlgamma_ = _op("mvlgamma_")
_nadam_step_ = _op("nadam_step_")
_nan_to_num = _op("nan_to_num")
_nan_to_num_ = _op("nan_to_num_")
_nanmean = _op("nanmean")
_nanmedian = _op("nanmedian")
_nanquantile = _op("nanquantile")
_nansum = _op("nansum")
_narrow = _op("narrow")
_narrow_copy = _op("narrow_copy")
_native_dropout = _op("native_dropout")
_native_layer_norm = _op("native_layer_norm")
_ne = _op("ne")
_ne_ = _op("ne_")
_neg = _op("neg")
_neg_ = _op("neg_")
_nextafter = _op("nextafter")
_nextafter_ = _op("nextafter_")
_nll_loss = _op("nll_loss")
_nll_loss_backward = _op("nll_loss_backward")
_nonzero = _op("nonzero")
_nonzero_static = _op("nonzero_static")
_norm = _op("norm")
_normal = _op("normal")
_normal_ = _op("normal_")
_normal_cdf = _op("normal_cdf")
_numpy_T = _op("numpy_T")
_one_hot = _op("one_hot")
_ones = _op("ones")
_ones_like = _op("ones_like")
_order_of_pivots = _op("order_of_pivots")
_orgqr = _op("orgqr")
_ormqr = _op("ormqr")
_outer = _op("outer")
_p_norm = _op("p_norm")
_pad = _op("pad")
_pair_distances = _op("pair_distances")
_pairwise_distance = _op("pairwise_distance")
_pdist = _op("pdist")
_permute = _op("permute")
_permute_copy = _op("permute_copy")
_philox_uniform = _op("philox_uniform")
_pinverse = _op("pinverse")
_pixel_shuffle = _op("pixel_shuffle")
_pixel_unshuffle = _op("pixel_unshuffle")
_poisson = _op("poisson")
_poisson_nll_loss = _op("poisson_nll_loss")
_polar = _op("polar")
_polygamma = _op("polygamma")
_positive = _op("positive")
_pow = _op("pow")
_pow_ = _op("pow_")
_pow_number = _op("pow_number")
_pow_number_ = _op("pow_number_")
_prelu = _op("prelu")
_prod = _op("prod")
_put = _op("put")
_put_ = _op("put_")
_qr = _op("qr")
_qr_factors = _op("qr_factors")
_qr_reflections = _op("qr_reflections")
_quantile = _op("quantile")
_rad2deg = _op("rad2deg")
_rad2deg_ = _op("rad2deg_")
_radam_step_ = _op("radam_step_")
_rand = _op("rand")
_rand_like = _op("rand_like")
_randint = _op("randint")
_randint_like = _op("randint_like")
_randn = _op("randn")
_randn_like = _op("randn_like")
_random_ = _op("random_")
_random_bits = _op("random_bits")
_random_scaled = _op("random_scaled")
_randperm = _op("randperm")
_range = _op("range")
_ravel = _op("ravel")
_real = _op("real")
_reciprocal = _op("reciprocal")
_reciprocal_ = _op("reciprocal_")
_recurrence = _op("recurrence")
_recurrence_backward = _op("recurrence_backward")
_relu = _op("relu")
_relu_ = _op("relu_")
_relu_backward = _op("relu_backward")
_remainder = _op("remainder")
_remainder_ = _op("remainder_")
_renorm = _op("renorm")
_renorm_ = _op("renorm_")
_repeat = _op("repeat")
_repeat_interleave = _op("repeat_interleave")
_repeat_positions = _op("repeat_positions")
_require_values = _op("require_values")
_resample = _op("resample")
_resample_backward = _op("resample_backward")
_resample_table = _op("resample_table")
_reshape = _op("reshape")
_reshape_as = _op("reshape_as")
_resolve_conj = _op("resolve_conj")
_resolve_neg = _op("resolve_neg")
_rms_norm = _op("rms_norm")
_rmsprop_step_ = _op("rmsprop_step_")
_rng_uniform = _op("rng_uniform")
_roll = _op("roll")
_rot90 = _op("rot90")
_round = _op("round")
_round_ = _op("round_")
_rprop_step_ = _op("rprop_step_")
_rrelu = _op("rrelu")
_rrelu_ = _op("rrelu_")
_rsqrt = _op("rsqrt")
_rsqrt_ = _op("rsqrt_")
_rsub = _op("rsub")
_running_max = _op("running_max")
_running_min = _op("running_min")
_scalar_tensor = _op("scalar_tensor")
_scaled_dot_product_attention = _op("scaled_dot_product_attention")
_scatter = _op("scatter")
_scatter_ = _op("scatter_")
_scatter_add = _op("scatter_add")
_scatter_add_ = _op("scatter_add_")
_scatter_combined = _op("scatter_combined")
_scatter_extreme = _op("scatter_extreme")
_scatter_planes = _op("scatter_planes")
_scatter_reduce = _op("scatter_reduce")
_scatter_reduce_ = _op("scatter_reduce_")
_scatter_src = _op("scatter_src")
_scatter_src_ = _op("scatter_src_")
_scatter_value = _op("scatter_value")
_scatter_value_ = _op("scatter_value_")
_search_positions = _op("search_positions")
_searchsorted = _op("searchsorted")
_segment_numbers = _op("segment_numbers")
_segment_reduce = _op("segment_reduce")
_select = _op("select")
_select_at = _op("select_at")
_select_backward = _op("select_backward")
_select_copy = _op("select_copy")
_select_scatter = _op("select_scatter")
_selu = _op("selu")
_selu_ = _op("selu_")
_selu_backward = _op("selu_backward")
_sgd_step_ = _op("sgd_step_")
_sgn = _op("sgn")
_sgn_ = _op("sgn_")
_sigmoid = _op("sigmoid")
_sigmoid_ = _op("sigmoid_")
_sigmoid_backward = _op("sigmoid_backward")
_sign = _op("sign")
_sign_ = _op("sign_")
_sign_and_log_det = _op("sign_and_log_det")
_signbit = _op("signbit")
_silu = _op("silu")
_silu_ = _op("silu_")
_silu_backward = _op("silu_backward")
_sin = _op("sin")
_sin_ = _op("sin_")
_sinc = _op("sinc")
_sinc_ = _op("sinc_")
_singular_factors = _op("singular_factors")
_sinh = _op("sinh")
_sinh_ = _op("sinh_")
_slice = _op("slice")
_slice_backward = _op("slice_backward")
_slice_copy = _op("slice_copy")
_slice_scatter = _op("slice_scatter")
_slogdet = _op("slogdet")
_sloped = _op("sloped")
_sloped_backward = _op("sloped_backward")
_smooth_l1_loss = _op("smooth_l1_loss")
_soft_margin_loss = _op("soft_margin_loss")
_softmax = _op("softmax")
_softmax_backward = _op("softmax_backward")
_softplus = _op("softplus")
_softplus_backward = _op("softplus_backward")
_softshrink = _op("softshrink")
_softshrink_backward = _op("softshrink_backward")
_solve_matrix = _op("solve_matrix")
_sort = _op("sort")
_special_airy_ai = _op("special_airy_ai")
_special_bessel_j0 = _op("special_bessel_j0")
_special_bessel_j1 = _op("special_bessel_j1")
_special_bessel_y0 = _op("special_bessel_y0")
_special_bessel_y1 = _op("special_bessel_y1")
_special_chebyshev_polynomial_t = _op("special_chebyshev_polynomial_t")
_special_chebyshev_polynomial_u = _op("special_chebyshev_polynomial_u")
_special_chebyshev_polynomial_v = _op("special_chebyshev_polynomial_v")
_special_chebyshev_polynomial_w = _op("special_chebyshev_polynomial_w")
_special_entr = _op("special_entr")
_special_erfcx = _op("special_erfcx")
_special_hermite_polynomial_h = _op("special_hermite_polynomial_h")
_special_hermite_polynomial_he = _op("special_hermite_polynomial_he")
_special_i0e = _op("special_i0e")
_special_i1 = _op("special_i1")
_special_i1e = _op("special_i1e")
_special_laguerre_polynomial_l = _op("special_laguerre_polynomial_l")
_special_legendre_polynomial_p = _op("special_legendre_polynomial_p")
_special_log_ndtr = _op("special_log_ndtr")
_special_modified_bessel_i0 = _op("special_modified_bessel_i0")
_special_modified_bessel_i1 = _op("special_modified_bessel_i1")
_special_modified_bessel_k0 = _op("special_modified_bessel_k0")
_special_modified_bessel_k1 = _op("special_modified_bessel_k1")
_special_ndtr = _op("special_ndtr")
_special_ndtri = _op("special_ndtri")
_special_scaled_modified_bessel_k0 = _op("special_scaled_modified_bessel_k0")
_special_scaled_modified_bessel_k1 = _op("special_scaled_modified_bessel_k1")
_special_shifted_chebyshev_polynomial_t = _op("special_shifted_chebyshev_polynomial_t")
_special_shifted_chebyshev_polynomial_u = _op("special_shifted_chebyshev_polynomial_u")
_special_shifted_chebyshev_polynomial_v = _op("special_shifted_chebyshev_polynomial_v")
_special_shifted_chebyshev_polynomial_w = _op("special_shifted_chebyshev_polynomial_w")
_special_spherical_bessel_j0 = _op("special_spherical_bessel_j0")
_special_xlog1py = _op("special_xlog1py")
_special_zeta = _op("special_zeta")
_split = _op("split")
_split_copy = _op("split_copy")
_split_with_sizes = _op("split_with_sizes")
_split_with_sizes_copy = _op("split_with_sizes_copy")
_sqrt = _op("sqrt")
_sqrt_ = _op("sqrt_")
_square = _op("square")
_square_ = _op("square_")
_squeeze = _op("squeeze")
_squeeze_copy = _op("squeeze_copy")
_stack = _op("stack")
_standard_gamma = _op("standard_gamma")
_standard_gamma_grad = _op("standard_gamma_grad")
_std = _op("std")
_std_mean = _op("std_mean")
_stft = _op("stft")
_sub = _op("sub")
_sub_ = _op("sub_")
_sum = _op("sum")
_sum_to_size = _op("sum_to_size")
_svd = _op("svd")
_symmetric_eigen = _op("symmetric_eigen")
_t = _op("t")
_t_copy = _op("t_copy")
_take = _op("take")
_take_along_dim = _op("take_along_dim")
_tan = _op("tan")
_tan_ = _op("tan_")
_tanh = _op("tanh")
_tanh_ = _op("tanh_")
_tanh_backward = _op("tanh_backward")
_tensor_split = _op("tensor_split")
_tensordot = _op("tensordot")
_threshold = _op("threshold")
_threshold_ = _op("threshold_")
_threshold_backward = _op("threshold_backward")
_tile = _op("tile")
_to_dtype = _op("to_dtype")
_topk = _op("topk")
_topk_positions = _op("topk_positions")
_trace = _op("trace")
_transpose = _op("transpose")
_transpose_copy = _op("transpose_copy")
_trapezoid = _op("trapezoid")
_triangular_solve = _op("triangular_solve")
_tril = _op("tril")
_tril_ = _op("tril_")
_tril_indices = _op("tril_indices")
_triplet_margin_loss = _op("triplet_margin_loss")
_triu = _op("triu")
_triu_ = _op("triu_")
_triu_indices = _op("triu_indices")
_trunc = _op("trunc")
_trunc_ = _op("trunc_")
_unbind = _op("unbind")
_unbind_copy = _op("unbind_copy")
_unflatten = _op("unflatten")
_unfold = _op("unfold")
_unfold_copy = _op("unfold_copy")
_uniform_ = _op("uniform_")
_unique = _op("unique")
_unique_consecutive = _op("unique_consecutive")
_unsafe_split = _op("unsafe_split")
_unsqueeze = _op("unsqueeze")
_unsqueeze_copy = _op("unsqueeze_copy")
_vander = _op("vander")
_var = _op("var")
_var_mean = _op("var_mean")
_variance = _op("variance")
_vdot = _op("vdot")
_view = _op("view")
_view_as = _op("view_as")
_view_as_complex = _op("view_as_complex")
_view_as_complex_copy = _op("view_as_complex_copy")
_view_as_real = _op("view_as_real")
_view_as_real_copy = _op("view_as_real_copy")
_view_copy = _op("view_copy")
_view_dtype = _op("view_dtype")
_view_scatter = _op("view_scatter")
_vsplit = _op("vsplit")
_vstack = _op("vstack")
_where = _op("where")
_xlogy = _op("xlogy")
_xlogy_ = _op("xlogy_")
_zero_ = _op("zero_")
_zeros = _op("zeros")
_zeros_like = _op("zeros_like")


def _require(requires_grad: bool, out: Any) -> Any:
    if requires_grad:
        out.requires_grad = True
    return out


def _scaled_mm(
    input: Tensor,
    mat2: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype: DType | None = None,
    use_fast_accum: bool = False,
) -> Any:
    return _dispatch(
        __scaled_mm, (input, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum)
    )


def _unsafe_view(input: Tensor, size: Sequence[int]) -> Any:
    try:
        _bound = (input, as_size(size))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(__unsafe_view, (input, size), _error)
    return _dispatch(__unsafe_view, _bound)


def abs(input: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input,)
    if out is not None:
        return with_out(_abs, _bound, out)
    return _dispatch(_abs, _bound)


def abs_(input: Tensor) -> Any:
    """In place: writes what `abs` gives into the tensor, and returns it."""
    return _dispatch(_abs_, (input,))


def acos(input: Tensor, *, out: Any = None) -> Any:
    """Inverse cosine in radians, from 0 to pi; nan for real numbers beyond -1 and 1.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.acos(gw.tensor([1.0, -1.0]))
        tensor([0.0000, 3.1416])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_acos, _bound, out)
    return _dispatch(_acos, _bound)


def acos_(input: Tensor) -> Any:
    """In place: writes what `acos` gives into the tensor, and returns it."""
    return _dispatch(_acos_, (input,))


def acosh(input: Tensor, *, out: Any = None) -> Any:
    """Inverse hyperbolic cosine, `y = log(x + sqrt(x^2 - 1))`; nan for real numbers below 1.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.acosh(gw.tensor([1.0, 2.0]))
        tensor([0.0000, 1.3170])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_acosh, _bound, out)
    return _dispatch(_acosh, _bound)


def acosh_(input: Tensor) -> Any:
    """In place: writes what `acosh` gives into the tensor, and returns it."""
    return _dispatch(_acosh_, (input,))


def adadelta_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    square_avg: Tensor,
    acc_delta: Tensor,
    lr: float,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> Any:
    return _dispatch(
        _adadelta_step_,
        (
            param,
            grad,
            step,
            square_avg,
            acc_delta,
            lr,
            rho,
            eps,
            weight_decay,
            maximize,
        ),
    )


def adagrad_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    total: Tensor,
    lr: float,
    lr_decay: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> Any:
    return _dispatch(
        _adagrad_step_, (param, grad, step, total, lr, lr_decay, eps, weight_decay, maximize)
    )


def adam_step_(
    param: Tensor,
    grad: Tensor,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    max_exp_avg_sq: Tensor | None,
    step: Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
    decoupled: bool,
) -> Any:
    return _dispatch(
        _adam_step_,
        (
            param,
            grad,
            exp_avg,
            exp_avg_sq,
            max_exp_avg_sq,
            step,
            lr,
            beta1,
            beta2,
            eps,
            weight_decay,
            maximize,
            decoupled,
        ),
    )


def adamax_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    exp_avg: Tensor,
    exp_inf: Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> Any:
    return _dispatch(
        _adamax_step_,
        (
            param,
            grad,
            step,
            exp_avg,
            exp_inf,
            lr,
            beta1,
            beta2,
            eps,
            weight_decay,
            maximize,
        ),
    )


def adaptive_avg_pool(input: Tensor, output_size: Sequence[int]) -> Any:
    try:
        _bound = (input, as_size(output_size))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_adaptive_avg_pool, (input, output_size), _error)
    return _dispatch(_adaptive_avg_pool, _bound)


def adaptive_avg_pool1d(input: Tensor, output_size: int | Sequence[int]) -> Any:
    """Mean of the windows of 1D signals, as many as `output_size` says.

    Window i of m over n elements is `[i * n // m, ceil((i + 1) * n / m))`.

    Args:
        input: floating point, `(N, C, L)`, or `(C, L)`.
        output_size: the number of windows, an int or one per dim.

    Returns: a tensor of the shape of `input`, but `output_size` elements in the pooled dims.

    Raises:
        NotImplementedError: `input` holds integers.
        RuntimeError: `input` has another number of dims, or `output_size` does not fit.

    Example:
        >>> F.adaptive_avg_pool1d(gw.ones(1, 2, 5), 3).shape
        graphwright.Size([1, 2, 3])
    """
    return _dispatch(_adaptive_avg_pool1d, (input, output_size))


def adaptive_avg_pool2d(input: Tensor, output_size: int | Sequence[int | None]) -> Any:
    """Mean of the windows of 2D signals, as many as `output_size` says.

    Window i of m over n elements is `[i * n // m, ceil((i + 1) * n / m))`.

    Args:
        input: floating point, `(N, C, H, W)`, or `(C, H, W)`.
        output_size: the number of windows, an int or one per dim; None keeps a dim's size.

    Returns: a tensor of the shape of `input`, but `output_size` elements in the pooled dims.

    Raises:
        NotImplementedError: `input` holds integers.
        RuntimeError: `input` has another number of dims, or `output_size` does not fit.

    Example:
        >>> F.adaptive_avg_pool2d(gw.ones(1, 2, 5, 5), 3).shape
        graphwright.Size([1, 2, 3, 3])
    """
    return _dispatch(_adaptive_avg_pool2d, (input, output_size))


def adaptive_avg_pool3d(input: Tensor, output_size: int | Sequence[int | None]) -> Any:
    """Mean of the windows of 3D signals, as many as `output_size` says.

    Window i of m over n elements is `[i * n // m, ceil((i + 1) * n / m))`.

    Args:
        input: floating point, `(N, C, D, H, W)`, or `(C, D, H, W)`.
        output_size: the number of windows, an int or one per dim; None keeps a dim's size.

    Returns: a tensor of the shape of `input`, but `output_size` elements in the pooled dims.

    Raises:
        NotImplementedError: `input` holds integers.
        RuntimeError: `input` has another number of dims, or `output_size` does not fit.

    Example:
        >>> F.adaptive_avg_pool3d(gw.ones(1, 2, 5, 5, 5), 3).shape
        graphwright.Size([1, 2, 3, 3, 3])
    """
    return _dispatch(_adaptive_avg_pool3d, (input, output_size))


def adaptive_avg_pool_backward(grad: Tensor, input_size: Sequence[int], ndim: int) -> Any:
    try:
        _bound = (grad, as_size(input_size), ndim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_adaptive_avg_pool_backward, (grad, input_size, ndim), _error)
    return _dispatch(_adaptive_avg_pool_backward, _bound)


def adaptive_max_pool(input: Tensor, output_size: Sequence[int]) -> Any:
    try:
        _bound = (input, as_size(output_size))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_adaptive_max_pool, (input, output_size), _error)
    return _dispatch(_adaptive_max_pool, _bound)


def adaptive_max_pool1d(input: Tensor, output_size: int | Sequence[int]) -> Any:
    """Maximum of the windows of 1D signals, as many as `output_size` says, and its index.

    Window i of m over n elements is `[i * n // m, ceil((i + 1) * n / m))`.

    Args:
        input: floating point, `(N, C, L)`, or `(C, L)`; none of these 0 but N.
        output_size: the number of windows, an int or one per dim.

    Returns: `(values, indices)`, both of the shape of `input`, but `output_size` elements in
    the pooled dims. The indices are int64: positions in the flattened dims that are pooled.

    Raises:
        NotImplementedError: `input` holds integers.
        RuntimeError: `input` has another number of dims or no elements, or `output_size` does
            not fit.

    Example:
        >>> F.adaptive_max_pool1d_with_indices(gw.ones(1, 2, 5), 3)[1].shape
        graphwright.Size([1, 2, 3])
    """
    return _dispatch(_adaptive_max_pool1d, (input, output_size))


def adaptive_max_pool2d(input: Tensor, output_size: int | Sequence[int | None]) -> Any:
    """Maximum of the windows of 2D signals, as many as `output_size` says, and its index.

    Window i of m over n elements is `[i * n // m, ceil((i + 1) * n / m))`.

    Args:
        input: floating point, `(N, C, H, W)`, or `(C, H, W)`; none of these 0 but N.
        output_size: the number of windows, an int or one per dim; None keeps a dim's size.

    Returns: `(values, indices)`, both of the shape of `input`, but `output_size` elements in
    the pooled dims. The indices are int64: positions in the flattened dims that are pooled.

    Raises:
        NotImplementedError: `input` holds integers.
        RuntimeError: `input` has another number of dims or no elements, or `output_size` does
            not fit.

    Example:
        >>> F.adaptive_max_pool2d_with_indices(gw.ones(1, 2, 5, 5), 3)[1].shape
        graphwright.Size([1, 2, 3, 3])
    """
    return _dispatch(_adaptive_max_pool2d, (input, output_size))


def adaptive_max_pool3d(input: Tensor, output_size: int | Sequence[int | None]) -> Any:
    """Maximum of the windows of 3D signals, as many as `output_size` says, and its index.

    Window i of m over n elements is `[i * n // m, ceil((i + 1) * n / m))`.

    Args:
        input: floating point, `(N, C, D, H, W)`, or `(C, D, H, W)`; none of these 0 but N.
        output_size: the number of windows, an int or one per dim; None keeps a dim's size.

    Returns: `(values, indices)`, both of the shape of `input`, but `output_size` elements in
    the pooled dims. The indices are int64: positions in the flattened dims that are pooled.

    Raises:
        NotImplementedError: `input` holds integers.
        RuntimeError: `input` has another number of dims or no elements, or `output_size` does
            not fit.

    Example:
        >>> F.adaptive_max_pool3d_with_indices(gw.ones(1, 2, 5, 5, 5), 3)[1].shape
        graphwright.Size([1, 2, 3, 3, 3])
    """
    return _dispatch(_adaptive_max_pool3d, (input, output_size))


def add(
    input: Tensor | Number,
    other: Tensor | Number,
    *older: Any,
    alpha: Number = 1,
    out: Any = None,
) -> Any:
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
        return number_first(_add, (input, other, *older), out)
    _bound = (input, other, alpha)
    if out is not None:
        return with_out(_add, _bound, out)
    return _dispatch(_add, _bound)


def add_(input: Tensor, other: Tensor | Number, *older: Any, alpha: Number = 1) -> Any:
    """In place: writes what `add` gives into the tensor, and returns it."""
    if older:
        return number_first(_add_, (input, other, *older))
    return _dispatch(_add_, (input, other, alpha))


def addbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *older: Any,
    beta: Number = 1,
    alpha: Number = 1,
    out: Any = None,
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
        return number_first(_addbmm, (input, batch1, batch2, *older), out)
    _bound = (input, batch1, batch2, beta, alpha)
    if out is not None:
        return with_out(_addbmm, _bound, out)
    return _dispatch(_addbmm, _bound)


def addbmm_(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *older: Any,
    beta: Number = 1,
    alpha: Number = 1,
) -> Any:
    """In place: writes what `addbmm` gives into the tensor, and returns it."""
    if older:
        return number_first(_addbmm_, (input, batch1, batch2, *older))
    return _dispatch(_addbmm_, (input, batch1, batch2, beta, alpha))


def addcdiv(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *older: Any,
    value: Number = 1,
    out: Any = None,
) -> Any:
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
        return number_first(_addcdiv, (input, tensor1, tensor2, *older), out)
    _bound = (input, tensor1, tensor2, value)
    if out is not None:
        return with_out(_addcdiv, _bound, out)
    return _dispatch(_addcdiv, _bound)


def addcdiv_(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *older: Any,
    value: Number = 1,
) -> Any:
    """In place: writes what `addcdiv` gives into the tensor, and returns it."""
    if older:
        return number_first(_addcdiv_, (input, tensor1, tensor2, *older))
    return _dispatch(_addcdiv_, (input, tensor1, tensor2, value))


def addcmul(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *older: Any,
    value: Number = 1,
    out: Any = None,
) -> Any:
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
        return number_first(_addcmul, (input, tensor1, tensor2, *older), out)
    _bound = (input, tensor1, tensor2, value)
    if out is not None:
        return with_out(_addcmul, _bound, out)
    return _dispatch(_addcmul, _bound)


def addcmul_(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *older: Any,
    value: Number = 1,
) -> Any:
    """In place: writes what `addcmul` gives into the tensor, and returns it."""
    if older:
        return number_first(_addcmul_, (input, tensor1, tensor2, *older))
    return _dispatch(_addcmul_, (input, tensor1, tensor2, value))


def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *older: Any,
    beta: Number = 1,
    alpha: Number = 1,
    out: Any = None,
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
        return number_first(_addmm, (input, mat1, mat2, *older), out)
    _bound = (input, mat1, mat2, beta, alpha)
    if out is not None:
        return with_out(_addmm, _bound, out)
    return _dispatch(_addmm, _bound)


def addmm_(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *older: Any,
    beta: Number = 1,
    alpha: Number = 1,
) -> Any:
    """In place: writes what `addmm` gives into the tensor, and returns it."""
    if older:
        return number_first(_addmm_, (input, mat1, mat2, *older))
    return _dispatch(_addmm_, (input, mat1, mat2, beta, alpha))


def addmv(
    input: Tensor,
    mat: Tensor,
    vec: Tensor,
    *older: Any,
    beta: Number = 1,
    alpha: Number = 1,
    out: Any = None,
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
        return number_first(_addmv, (input, mat, vec, *older), out)
    _bound = (input, mat, vec, beta, alpha)
    if out is not None:
        return with_out(_addmv, _bound, out)
    return _dispatch(_addmv, _bound)


def addmv_(
    input: Tensor,
    mat: Tensor,
    vec: Tensor,
    *older: Any,
    beta: Number = 1,
    alpha: Number = 1,
) -> Any:
    """In place: writes what `addmv` gives into the tensor, and returns it."""
    if older:
        return number_first(_addmv_, (input, mat, vec, *older))
    return _dispatch(_addmv_, (input, mat, vec, beta, alpha))


def addr(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *older: Any,
    beta: Number = 1,
    alpha: Number = 1,
    out: Any = None,
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
        return number_first(_addr, (input, vec1, vec2, *older), out)
    _bound = (input, vec1, vec2, beta, alpha)
    if out is not None:
        return with_out(_addr, _bound, out)
    return _dispatch(_addr, _bound)


def addr_(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *older: Any,
    beta: Number = 1,
    alpha: Number = 1,
) -> Any:
    """In place: writes what `addr` gives into the tensor, and returns it."""
    if older:
        return number_first(_addr_, (input, vec1, vec2, *older))
    return _dispatch(_addr_, (input, vec1, vec2, beta, alpha))


def adjoint(input: Tensor) -> Any:
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
    return _dispatch(_adjoint, (input,))


def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Any:
    """Grid of points for `grid_sampler`: affine maps of the points of an image.

    Args:
        theta: maps, floating point: `(N, 2, 3)`, or `(N, 3, 4)` for volumes.
        size: the image's: `(N, C, H, W)`, or `(N, C, D, H, W)`.
        align_corners: -1 and 1 are the centres of the outermost elements; their edges if
            False.

    Returns: a tensor of shape `(N, H, W, 2)` or `(N, D, H, W, 3)`.

    Raises:
        RuntimeError: shapes do not match, or a size is less than 1.

    Example:
        >>> theta = gw.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> gw.affine_grid_generator(theta, (1, 1, 1, 2), False)
        tensor([[[[-0.5000,  0.0000],
                  [ 0.5000,  0.0000]]]])
    """
    try:
        _bound = (theta, as_size(size), align_corners)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_affine_grid_generator, (theta, size, align_corners), _error)
    return _dispatch(_affine_grid_generator, _bound)


def alias(input: Tensor) -> Any:
    return _dispatch(_alias, (input,))


def alias_copy(input: Tensor, *, out: Any = None) -> Any:
    """Copy of all elements.

    Args:
        input: a tensor of any shape.

    Returns: a new tensor.

    Example:
        >>> gw.alias_copy(gw.tensor([1, 2]))
        tensor([1, 2])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_alias_copy, _bound, out)
    return _dispatch(_alias_copy, _bound)


def all(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    out: Any = None,
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
        _bound = (input, wrap_dims_exact(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_all, (input, dim, keepdim), _error)
    if out is not None:
        return with_out(_all, _bound, out)
    return _dispatch(_all, _bound)


def allclose(
    input: Tensor,
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
    return _dispatch(_allclose, (input, other, rtol, atol, equal_nan))


def alpha_dropout(input: Tensor, p: float, train: bool) -> Any:
    """Dropout that keeps mean and variance of activations that `selu` gives.

    Dropped elements become the lower end of `selu`, then all are scaled and shifted to mean 0
    and variance 1: Klambauer et al., "Self-normalizing neural networks", 2017.

    Args:
        input: a floating-point tensor of any shape.
        p: the probability to drop an element, between 0 and 1.
        train: whether anything is dropped; `input` itself is returned if not.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor and `train` holds.
        RuntimeError: `p` is not between 0 and 1.

    Example:
        >>> gw.alpha_dropout(gw.ones(1, 3), 0.5, False)
        tensor([[1., 1., 1.]])
    """
    return _dispatch(_alpha_dropout, (input, p, train))


def alpha_dropout_(input: Tensor, p: float, train: bool) -> Any:
    return _dispatch(_alpha_dropout_, (input, p, train))


def amax(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    out: Any = None,
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
        _bound = (input, wrap_dims_optional(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_amax, (input, dim, keepdim), _error)
    if out is not None:
        return with_out(_amax, _bound, out)
    return _dispatch(_amax, _bound)


def amin(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    out: Any = None,
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
        _bound = (input, wrap_dims_optional(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_amin, (input, dim, keepdim), _error)
    if out is not None:
        return with_out(_amin, _bound, out)
    return _dispatch(_amin, _bound)


def aminmax(
    input: Tensor,
    *,
    dim: int | None = None,
    keepdim: bool = False,
    axis: Any = ...,
    keepdims: Any = ...,
    out: Any = None,
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
        _bound = (input, wrap_dim_optional(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_aminmax, (input, dim, keepdim), _error)
    if out is not None:
        return with_out(_aminmax, _bound, out)
    return _dispatch(_aminmax, _bound)


def angle(input: Tensor, *, out: Any = None) -> Any:
    """Angle of each element in the complex plane, in radians from -pi to pi.

    It is 0 for real numbers that are not negative, pi for negative ones, nan for nan.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Returns: a tensor of the dtype of `input`; of complex numbers that of their parts.

    Example:
        >>> gw.angle(gw.tensor([1j, -1 + 0j]))
        tensor([1.5708, 3.1416])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_angle, _bound, out)
    return _dispatch(_angle, _bound)


def any(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    out: Any = None,
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
        _bound = (input, wrap_dims_exact(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_any, (input, dim, keepdim), _error)
    if out is not None:
        return with_out(_any, _bound, out)
    return _dispatch(_any, _bound)


def arange(
    start: Number | None = None,
    end: Any = ...,
    step: Number = 1,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Vector of the numbers from `start` up to `end`, which is excluded: `start + i * step`.

    Args:
        start: the first number; 0 if None. Alone it is `end`.
        end: where to stop.
        step: the distance of numbers, not 0.
        dtype: that of the result; if None, int64, or the default dtype where one is a float.
        device: where the result is made; the default device if None.

    Returns: a vector of `ceil((end - start) / step)` numbers.

    Raises:
        RuntimeError: `step` is 0 or leads away from `end`, or a number is not finite.
        NotImplementedError: `dtype` is bool or complex.

    Example:
        >>> gw.arange(1, 10, 3)
        tensor([1, 4, 7])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("arange", layout, pin_memory)
    if end is ...:
        end = None
    elif end is None:
        refuse_none("arange", "end")
    _bound = (start, end, step, dtype, device)
    if out is not None:
        return with_out(_arange, _bound, out)
    return _require(requires_grad, _dispatch(_arange, _bound))


def argmax(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    out: Any = None,
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
        _bound = (input, wrap_dim_optional(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_argmax, (input, dim, keepdim), _error)
    if out is not None:
        return with_out(_argmax, _bound, out)
    return _dispatch(_argmax, _bound)


def argmin(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    out: Any = None,
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
        _bound = (input, wrap_dim_optional(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_argmin, (input, dim, keepdim), _error)
    if out is not None:
        return with_out(_argmin, _bound, out)
    return _dispatch(_argmin, _bound)


def argsort(
    input: Tensor,
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
        _bound = (input, wrap_dim(dim, input.ndim), descending, stable)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_argsort, (input, dim, descending, stable), _error)
    return _dispatch(_argsort, _bound)


def argwhere(input: Tensor) -> Any:
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
    return _dispatch(_argwhere, (input,))


def as_strided(
    input: Tensor,
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
        _bound = (input, as_size(size), as_size(stride), storage_offset)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_as_strided, (input, size, stride, storage_offset), _error)
    return _dispatch(_as_strided, _bound)


def as_strided_copy(
    input: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
    *,
    out: Any = None,
) -> Any:
    """Copy of `as_strided`: a tensor's storage read with given sizes, strides and offset.

    Args:
        input: the tensor whose storage is read.
        size: the sizes of the result.
        stride: the strides to read with, counted in elements.
        storage_offset: the position of the first element; that of `input` if None.

    Returns: a new contiguous tensor.

    Raises:
        RuntimeError: as `as_strided`.

    Example:
        >>> gw.as_strided_copy(gw.arange(6), (2, 3), (1, 2))
        tensor([[0, 2, 4],
                [1, 3, 5]])
    """
    try:
        _bound = (input, as_size(size), as_size(stride), storage_offset)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_as_strided_copy, (input, size, stride, storage_offset), _error)
    if out is not None:
        return with_out(_as_strided_copy, _bound, out)
    return _dispatch(_as_strided_copy, _bound)


def as_strided_scatter(
    input: Tensor,
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
        _bound = (input, src, as_size(size), as_size(stride), storage_offset)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _as_strided_scatter,
            (
                input,
                src,
                size,
                stride,
                storage_offset,
            ),
            _error,
        )
    return _dispatch(_as_strided_scatter, _bound)


def asgd_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    average: Tensor,
    eta: Tensor,
    mu: Tensor,
    lr: float,
    lambd: float,
    alpha: float,
    t0: float,
    weight_decay: float,
    maximize: bool,
) -> Any:
    return _dispatch(
        _asgd_step_,
        (
            param,
            grad,
            step,
            average,
            eta,
            mu,
            lr,
            lambd,
            alpha,
            t0,
            weight_decay,
            maximize,
        ),
    )


def asin(input: Tensor, *, out: Any = None) -> Any:
    """Inverse sine in radians, from -pi/2 to pi/2; nan for real numbers beyond -1 and 1.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.asin(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 1.5708])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_asin, _bound, out)
    return _dispatch(_asin, _bound)


def asin_(input: Tensor) -> Any:
    """In place: writes what `asin` gives into the tensor, and returns it."""
    return _dispatch(_asin_, (input,))


def asinh(input: Tensor, *, out: Any = None) -> Any:
    """Inverse hyperbolic sine, `y = log(x + sqrt(x^2 + 1))`.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.asinh(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8814])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_asinh, _bound, out)
    return _dispatch(_asinh, _bound)


def asinh_(input: Tensor) -> Any:
    """In place: writes what `asinh` gives into the tensor, and returns it."""
    return _dispatch(_asinh_, (input,))


def atan(input: Tensor, *, out: Any = None) -> Any:
    """Inverse tangent in radians, from -pi/2 to pi/2.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.atan(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7854])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_atan, _bound, out)
    return _dispatch(_atan, _bound)


def atan2(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_atan2, _bound, out)
    return _dispatch(_atan2, _bound)


def atan2_(input: Tensor, other: Tensor) -> Any:
    """In place: writes what `atan2` gives into the tensor, and returns it."""
    return _dispatch(_atan2_, (input, other))


def atan_(input: Tensor) -> Any:
    """In place: writes what `atan` gives into the tensor, and returns it."""
    return _dispatch(_atan_, (input,))


def atanh(input: Tensor, *, out: Any = None) -> Any:
    """Inverse hyperbolic tangent, `y = log((1 + x) / (1 - x)) / 2`; nan for real `|x| > 1`.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.atanh(gw.tensor([0.0, 0.5]))
        tensor([0.0000, 0.5493])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_atanh, _bound, out)
    return _dispatch(_atanh, _bound)


def atanh_(input: Tensor) -> Any:
    """In place: writes what `atanh` gives into the tensor, and returns it."""
    return _dispatch(_atanh_, (input,))


def atleast_1d(input: Tensor) -> Any:
    """A tensor without dims as a vector; others as they are.

    Args:
        input: a tensor of any shape; several, or a sequence of them, give a tuple.

    Returns: `input`, or a view of it.

    Example:
        >>> gw.atleast_1d(gw.tensor(3))
        tensor([3])
    """
    return _dispatch(_atleast_1d, (input,))


def atleast_2d(input: Tensor) -> Any:
    """A tensor of fewer than two dims as a matrix, with dims of size 1 in front.

    Args:
        input: a tensor of any shape; several, or a sequence of them, give a tuple.

    Returns: `input`, or a view of it.

    Example:
        >>> gw.atleast_2d(gw.tensor([1, 2]))
        tensor([[1, 2]])
    """
    return _dispatch(_atleast_2d, (input,))


def atleast_3d(input: Tensor) -> Any:
    """A tensor of fewer than three dims with dims of size 1 added.

    A matrix gets one behind, a vector one on either side.

    Args:
        input: a tensor of any shape; several, or a sequence of them, give a tuple.

    Returns: `input`, or a view of it.

    Example:
        >>> gw.atleast_3d(gw.tensor([1, 2])).shape
        graphwright.Size([1, 2, 1])
    """
    return _dispatch(_atleast_3d, (input,))


def attention_backward(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    out: Tensor,
    levels: Tensor,
    is_causal: bool,
    scale: float,
) -> Any:
    return _dispatch(
        _attention_backward, (grad, query, key, value, attn_mask, out, levels, is_causal, scale)
    )


def avg_pool(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: Any,
) -> Any:
    try:
        _bound = (
            input,
            as_size(kernel_size),
            as_size(stride),
            as_size(padding),
            ceil_mode,
            count_include_pad,
            divisor_override,
        )
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _avg_pool,
            (
                input,
                kernel_size,
                stride,
                padding,
                ceil_mode,
                count_include_pad,
                divisor_override,
            ),
            _error,
        )
    return _dispatch(_avg_pool, _bound)


def avg_pool1d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """Mean of each window of 1D signals.

    Args:
        input: `(N, C, L)`, or `(C, L)`.
        kernel_size: the size of a window, an int or one per dim.
        stride: the step between windows, an int or one per dim; `kernel_size` if None.
        padding: zeros at both ends of each dim, at most half a window.
        ceil_mode: round the number of windows up, not down.
        count_include_pad: padding counts as elements of the mean.

    Returns: a tensor of the shape of `input`, but `(size + 2 * padding - kernel_size) //
    stride + 1` elements in each pooled dim.

    Raises:
        RuntimeError: `input` has another number of dims, `padding` is too great, no window
            fits, or a size is less than 1.

    Example:
        >>> F.avg_pool1d(gw.ones(1, 2, 5), 2).shape
        graphwright.Size([1, 2, 2])
    """
    return _dispatch(
        _avg_pool1d, (input, kernel_size, stride, padding, ceil_mode, count_include_pad)
    )


def avg_pool2d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Any = None,
) -> Any:
    """Mean of each window of 2D signals.

    Args:
        input: `(N, C, H, W)`, or `(C, H, W)`.
        kernel_size: the size of a window, an int or one per dim.
        stride: the step between windows, an int or one per dim; `kernel_size` if None.
        padding: zeros at both ends of each dim, at most half a window.
        ceil_mode: round the number of windows up, not down.
        count_include_pad: padding counts as elements of the mean.
        divisor_override: what sums are divided by; the number of elements if None.

    Returns: a tensor of the shape of `input`, but `(size + 2 * padding - kernel_size) //
    stride + 1` elements in each pooled dim.

    Raises:
        RuntimeError: `input` has another number of dims, `padding` is too great, no window
            fits, or a size is less than 1.

    Example:
        >>> F.avg_pool2d(gw.ones(1, 2, 5, 5), 2).shape
        graphwright.Size([1, 2, 2, 2])
    """
    _bound = (
        input,
        kernel_size,
        stride,
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
    )
    if out is not None:
        return with_out(_avg_pool2d, _bound, out)
    return _dispatch(_avg_pool2d, _bound)


def avg_pool3d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: Any = None,
) -> Any:
    """Mean of each window of 3D signals.

    Args:
        input: `(N, C, D, H, W)`, or `(C, D, H, W)`.
        kernel_size: the size of a window, an int or one per dim.
        stride: the step between windows, an int or one per dim; `kernel_size` if None.
        padding: zeros at both ends of each dim, at most half a window.
        ceil_mode: round the number of windows up, not down.
        count_include_pad: padding counts as elements of the mean.
        divisor_override: what sums are divided by; the number of elements if None.

    Returns: a tensor of the shape of `input`, but `(size + 2 * padding - kernel_size) //
    stride + 1` elements in each pooled dim.

    Raises:
        RuntimeError: `input` has another number of dims, `padding` is too great, no window
            fits, or a size is less than 1.

    Example:
        >>> F.avg_pool3d(gw.ones(1, 2, 5, 5, 5), 2).shape
        graphwright.Size([1, 2, 2, 2, 2])
    """
    _bound = (
        input,
        kernel_size,
        stride,
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
    )
    if out is not None:
        return with_out(_avg_pool3d, _bound, out)
    return _dispatch(_avg_pool3d, _bound)


def avg_pool_backward(
    grad: Tensor,
    input_size: Sequence[int],
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: Any,
) -> Any:
    try:
        _bound = (
            grad,
            as_size(input_size),
            as_size(kernel_size),
            as_size(stride),
            as_size(padding),
            ceil_mode,
            count_include_pad,
            divisor_override,
        )
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _avg_pool_backward,
            (
                grad,
                input_size,
                kernel_size,
                stride,
                padding,
                ceil_mode,
                count_include_pad,
                divisor_override,
            ),
            _error,
        )
    return _dispatch(_avg_pool_backward, _bound)


def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *older: Any,
    beta: Number = 1,
    alpha: Number = 1,
    out: Any = None,
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
        return number_first(_baddbmm, (input, batch1, batch2, *older), out)
    _bound = (input, batch1, batch2, beta, alpha)
    if out is not None:
        return with_out(_baddbmm, _bound, out)
    return _dispatch(_baddbmm, _bound)


def baddbmm_(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *older: Any,
    beta: Number = 1,
    alpha: Number = 1,
) -> Any:
    """In place: writes what `baddbmm` gives into the tensor, and returns it."""
    if older:
        return number_first(_baddbmm_, (input, batch1, batch2, *older))
    return _dispatch(_baddbmm_, (input, batch1, batch2, beta, alpha))


def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Bartlett (triangular) window: `w_i = 1 - |2 i / N - 1|`.

    Args:
        window_length: the number of elements.
        periodic: N is the length, for windows that follow one another; else the length less 1,
            and the window is symmetric.
        dtype: that of the result, floating point; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a vector.

    Raises:
        RuntimeError: the length is negative, or `dtype` is not floating point.

    Example:
        >>> gw.bartlett_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("bartlett_window", layout, pin_memory)
    return _require(
        requires_grad, _dispatch(_bartlett_window, (window_length, periodic, dtype, device))
    )


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Any:
    return _dispatch(
        _batch_norm, (input, weight, bias, running_mean, running_var, training, momentum, eps)
    )


def batch_norm_backward(
    grad: Tensor,
    input: Tensor,
    weight: Tensor | None,
    mean: Tensor,
    rstd: Tensor,
) -> Any:
    return _dispatch(_batch_norm_backward, (grad, input, weight, mean, rstd))


def batch_norm_train(input: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float) -> Any:
    return _dispatch(_batch_norm_train, (input, weight, bias, eps))


def bernoulli(
    input: Tensor,
    p: float | None = None,
    *,
    generator: Any = None,
    out: Any = None,
) -> Any:
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
    _bound = (input, p, generator)
    if out is not None:
        return with_out(_bernoulli, _bound, out)
    return _dispatch(_bernoulli, _bound)


def bernoulli_(input: Tensor, p: Any = 0.5, *, generator: Any = None) -> Any:
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
    return _dispatch(_bernoulli_, (input, p, generator))


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    """Bilinear map: `y[o] = sum_ij input1[i] * weight[o, i, j] * input2[j] + bias[o]`.

    Args:
        input1: `(*, a)`.
        input2: `(*, b)`.
        weight: `(m, a, b)`.
        bias: `(m,)`; none if None.

    Returns: a tensor of shape `(*, m)`.

    Raises:
        RuntimeError: shapes do not match.

    Example:
        >>> gw.bilinear(gw.ones(5, 2), gw.ones(5, 3), gw.ones(4, 2, 3)).shape
        graphwright.Size([5, 4])
    """
    return _dispatch(_bilinear, (input1, input2, weight, bias))


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Any:
    return _dispatch(_binary_cross_entropy, (input, target, weight, reduction))


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: str = "mean",
) -> Any:
    return _dispatch(
        _binary_cross_entropy_with_logits, (input, target, weight, pos_weight, reduction)
    )


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Any:
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
    return _dispatch(_bincount, (input, weights, minlength))


def binomial(count: Tensor, prob: Tensor, generator: Any = None) -> Any:
    """Random numbers of binomial distributions: successes among `count` trials.

    Args:
        count: a tensor of float32 or float64, the numbers of trials, at least 0.
        prob: a tensor of the dtype of `count` that broadcasts with it, the probabilities.
        generator: the generator that draws; the default one if None.

    Returns: a tensor of whole numbers, of the broadcast shape and that dtype.

    Raises:
        NotImplementedError: the dtype is a half-precision one.
        RuntimeError: the dtypes differ or are not floating-point; a number of trials or a
            probability is out of range.

    Example:
        >>> gw.binomial(gw.tensor([10.0, 3.0]), gw.tensor([1.0, 0.0]))
        tensor([10.,  0.])
    """
    return _dispatch(_binomial, (count, prob, generator))


def bitwise_and(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_bitwise_and, _bound, out)
    return _dispatch(_bitwise_and, _bound)


def bitwise_and_(input: Tensor, other: Tensor | Number) -> Any:
    """In place: writes what `bitwise_and` gives into the tensor, and returns it."""
    return _dispatch(_bitwise_and_, (input, other))


def bitwise_left_shift(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_bitwise_left_shift, _bound, out)
    return _dispatch(_bitwise_left_shift, _bound)


def bitwise_left_shift_(input: Tensor, other: Tensor | Number) -> Any:
    """In place: writes what `bitwise_left_shift` gives into the tensor, and returns it."""
    return _dispatch(_bitwise_left_shift_, (input, other))


def bitwise_not(input: Tensor, *, out: Any = None) -> Any:
    """Each integer with all its bits inverted, logical not of bool; the operator `~`.

    Args:
        input: a tensor of any shape.

    Raises:
        NotImplementedError: the dtype of `input` is floating-point or complex.

    Example:
        >>> gw.bitwise_not(gw.tensor([0, 5]))
        tensor([-1, -6])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_bitwise_not, _bound, out)
    return _dispatch(_bitwise_not, _bound)


def bitwise_not_(input: Tensor) -> Any:
    """In place: writes what `bitwise_not` gives into the tensor, and returns it."""
    return _dispatch(_bitwise_not_, (input,))


def bitwise_or(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_bitwise_or, _bound, out)
    return _dispatch(_bitwise_or, _bound)


def bitwise_or_(input: Tensor, other: Tensor | Number) -> Any:
    """In place: writes what `bitwise_or` gives into the tensor, and returns it."""
    return _dispatch(_bitwise_or_, (input, other))


def bitwise_right_shift(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_bitwise_right_shift, _bound, out)
    return _dispatch(_bitwise_right_shift, _bound)


def bitwise_right_shift_(input: Tensor, other: Tensor | Number) -> Any:
    """In place: writes what `bitwise_right_shift` gives into the tensor, and returns it."""
    return _dispatch(_bitwise_right_shift_, (input, other))


def bitwise_xor(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_bitwise_xor, _bound, out)
    return _dispatch(_bitwise_xor, _bound)


def bitwise_xor_(input: Tensor, other: Tensor | Number) -> Any:
    """In place: writes what `bitwise_xor` gives into the tensor, and returns it."""
    return _dispatch(_bitwise_xor_, (input, other))


def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Blackman window: `w_i = 0.42 - 0.5 cos(2 pi i / N) + 0.08 cos(4 pi i / N)`.

    Args:
        window_length: the number of elements.
        periodic: N is the length, for windows that follow one another; else the length less 1,
            and the window is symmetric.
        dtype: that of the result, floating point; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a vector.

    Raises:
        RuntimeError: the length is negative, or `dtype` is not floating point.

    Example:
        >>> gw.blackman_window(4)[1:]
        tensor([0.3400, 1.0000, 0.3400])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("blackman_window", layout, pin_memory)
    return _require(
        requires_grad, _dispatch(_blackman_window, (window_length, periodic, dtype, device))
    )


def block_diag(tensors: Sequence[Tensor]) -> Any:
    """Block diagonal matrix of several matrices; what lies outside of the blocks is 0.

    Args:
        tensors: tensors of at most two dims, one argument each; vectors are rows. Their dtypes
            are promoted to a common one.

    Returns: a new matrix; its sizes are the sums of theirs.

    Raises:
        RuntimeError: a tensor has more dims.

    Example:
        >>> gw.block_diag(gw.tensor([[1, 2]]), gw.tensor([3]))
        tensor([[1, 2, 0],
                [0, 0, 3]])
    """
    return _dispatch(_block_diag, (as_tensors(tensors, "block_diag"),))


def bmm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, mat2)
    if out is not None:
        return with_out(_bmm, _bound, out)
    return _dispatch(_bmm, _bound)


def broadcast_matmul(input: Tensor, other: Tensor) -> Any:
    return _dispatch(_broadcast_matmul, (input, other))


def broadcast_tensors(tensors: Sequence[Tensor]) -> Any:
    """Views of tensors, all expanded to their common shape.

    Args:
        tensors: tensors that broadcast with one another, one argument each.

    Returns: a tuple of views of one shape.

    Raises:
        RuntimeError: the shapes do not broadcast.

    Example:
        >>> gw.broadcast_tensors(gw.tensor([[1], [2]]), gw.tensor([3, 4]))
        (tensor([[1, 1],
                [2, 2]]), tensor([[3, 4],
                [3, 4]]))
    """
    return _dispatch(_broadcast_tensors, (as_tensors(tensors, "broadcast_tensors"),))


def broadcast_to(input: Tensor, size: Sequence[int]) -> Any:
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
    try:
        _bound = (input, as_size(size))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_broadcast_to, (input, size), _error)
    return _dispatch(_broadcast_to, _bound)


def bucketize(
    input: Tensor | Number,
    boundaries: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    out: Any = None,
) -> Any:
    """Number of the bucket of each value, between boundaries in ascending order.

    Bucket i lies between `boundaries[i - 1]` and `boundaries[i]`, which belongs to it, unless
    `right`.

    Args:
        input: a number or tensor of values.
        boundaries: a vector in ascending order.
        out_int32: return int32, not int64.
        right: a boundary belongs to the bucket behind it.

    Returns: an int64 or int32 tensor of the shape of `input`.

    Raises:
        RuntimeError: `boundaries` is no vector.
        NotImplementedError: both are bool, or one is complex.

    Example:
        >>> gw.bucketize(gw.tensor([3, 6, 9]), gw.tensor([1, 3, 5]))
        tensor([1, 3, 3])
    """
    _bound = (input, boundaries, out_int32, right)
    if out is not None:
        return with_out(_bucketize, _bound, out)
    return _dispatch(_bucketize, _bound)


def cartesian_prod(tensors: Sequence[Tensor]) -> Any:
    """All ways to take one element of each vector, as the rows of a matrix.

    Args:
        tensors: vectors of one dtype, one argument each.

    Returns: a matrix with a column for each vector; a single vector as it is.

    Raises:
        RuntimeError: a tensor is no vector, or the dtypes differ.

    Example:
        >>> gw.cartesian_prod(gw.tensor([1, 2]), gw.tensor([3, 4]))
        tensor([[1, 3],
                [1, 4],
                [2, 3],
                [2, 4]])
    """
    return _dispatch(_cartesian_prod, (as_tensors(tensors, "cartesian_prod"),))


def cat(
    tensors: Sequence[Tensor],
    dim: int = 0,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Tensors joined along one dim.

    Args:
        tensors: tensors of the same sizes but along `dim`, at least one; empty vectors are
            left out. Their dtypes are promoted to a common one.
        dim: the dim they are joined along.

    Returns: a new tensor; its size along `dim` is the sum of theirs.

    Raises:
        ValueError: there are no tensors.
        RuntimeError: the sizes do not match, or a tensor has no dims.
        IndexError: the tensors have no such dim.

    Example:
        >>> gw.cat([gw.tensor([[1, 2]]), gw.tensor([[3, 4]])], 1)
        tensor([[1, 2, 3, 4]])
    """
    if surplus is not ...:
        refuse_surplus("cat")
    if axis is not ...:
        dim = same_as("cat", "dim", dim, 0, "axis", axis)
    _bound = (as_tensors(tensors, "cat"), dim)
    if out is not None:
        return with_out(_cat, _bound, out)
    return _dispatch(_cat, _bound)


def cauchy_(
    input: Tensor,
    median: float = 0.0,
    sigma: float = 1.0,
    *,
    generator: Any = None,
) -> Any:
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
    return _dispatch(_cauchy_, (input, median, sigma, generator))


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = None) -> Any:
    """Distances between all pairs of rows of two batches: `out[i, j] = ||x1[i] - x2[j]||_p`.

    Args:
        x1: float32 or float64, `(*, n, k)`.
        x2: of the dtype of `x1`, `(*, m, k)`; the batch dims are broadcast.
        p: order of the norm, from 0 (the number of elements that differ) to inf.
        compute_mode: whether 2-norms may come from a matrix product, which rounds differently:
            "use_mm_for_euclid_dist_if_necessary" (with more than 25 rows; also if None),
            "use_mm_for_euclid_dist" or "donot_use_mm_for_euclid_dist".

    Returns: a tensor of shape `(*, n, m)`.

    Raises:
        RuntimeError: shapes or dtypes do not match, or `p` is negative.
        ValueError: `compute_mode` is unknown.

    Example:
        >>> gw.cdist(gw.tensor([[0.0, 0.0]]), gw.tensor([[3.0, 4.0], [0.0, 1.0]]))
        tensor([[5., 1.]])
    """
    return _dispatch(_cdist, (x1, x2, p, compute_mode))


def ceil(input: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input,)
    if out is not None:
        return with_out(_ceil, _bound, out)
    return _dispatch(_ceil, _bound)


def ceil_(input: Tensor) -> Any:
    """In place: writes what `ceil` gives into the tensor, and returns it."""
    return _dispatch(_ceil_, (input,))


def celu(input: Tensor, alpha: float = 1.0) -> Any:
    """Continuously differentiable elu, `y = x` for `x > 0`, else `alpha (e^(x / alpha) - 1)`.

    The definition is that of Barron, "Continuously differentiable exponential linear units",
    2017.

    Args:
        input: a floating-point tensor of any shape.
        alpha: the scale, not 0.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.
        RuntimeError: `alpha` is 0.

    Example:
        >>> gw.celu(gw.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.6321,  0.0000,  1.0000])
    """
    return _dispatch(_celu, (input, alpha))


def celu_(input: Tensor, alpha: float = 1.0) -> Any:
    """In place: writes what `celu` gives into the tensor, and returns it."""
    return _dispatch(_celu_, (input, alpha))


def celu_backward(grad: Tensor, input: Tensor, alpha: float) -> Any:
    return _dispatch(_celu_backward, (grad, input, alpha))


def chain_matmul(*matrices: Any) -> Any:
    """Product of a chain of matrices: `linalg.multi_dot` of matrices given one by one.

    Args:
        matrices: one or more tensors of 2 dims and one dtype.

    Returns: the product.

    Raises:
        RuntimeError: there is none, one is no matrix, or shapes or dtypes do not match.
        TypeError: an argument is no tensor.

    Example:
        >>> gw.chain_matmul(gw.ones(2, 3), gw.ones(3, 4), gw.ones(4, 1)).shape
        graphwright.Size([2, 1])
    """
    return _dispatch(_chain_matmul, (matrices,))


def channel_shuffle(input: Tensor, groups: int) -> Any:
    """Channels in another order: those of all groups first, second, and so on.

    The C channels are seen as `(groups, C / groups)` and transposed (Zhang et al.,
    "ShuffleNet", 2018).

    Args:
        input: `(N, C, *)`, of at least 3 dims.
        groups: the number of groups, a divisor of C.

    Returns: a tensor of the shape of `input`.

    Raises:
        RuntimeError: `groups` is less than 1 or no divisor, or `input` has less than 3 dims.

    Example:
        >>> gw.channel_shuffle(gw.tensor([[[0], [1], [2], [3]]]), 2).flatten()
        tensor([0, 2, 1, 3])
    """
    return _dispatch(_channel_shuffle, (input, groups))


def cholesky(input: Tensor, upper: bool = False, *, out: Any = None) -> Any:
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
    _bound = (input, upper)
    if out is not None:
        return with_out(_cholesky, _bound, out)
    return _dispatch(_cholesky, _bound)


def cholesky_factor(A: Tensor) -> Any:
    return _dispatch(_cholesky_factor, (A,))


def cholesky_inverse(L: Tensor, upper: bool = False, *, out: Any = None) -> Any:
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
    _bound = (L, upper)
    if out is not None:
        return with_out(_cholesky_inverse, _bound, out)
    return _dispatch(_cholesky_inverse, _bound)


def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False, *, out: Any = None) -> Any:
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
    _bound = (B, L, upper)
    if out is not None:
        return with_out(_cholesky_solve, _bound, out)
    return _dispatch(_cholesky_solve, _bound)


def chunk(input: Tensor, chunks: int, dim: int = 0, surplus: Any = ..., axis: Any = ...) -> Any:
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
        _bound = (input, chunks, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_chunk, (input, chunks, dim), _error)
    return _dispatch(_chunk, _bound)


def clamp(
    input: Tensor,
    min: Tensor | Number | None = None,
    max: Tensor | Number | None = None,
    *,
    out: Any = None,
) -> Any:
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
    _bound = (input, min, max)
    if out is not None:
        return with_out(_clamp, _bound, out)
    return _dispatch(_clamp, _bound)


def clamp_(
    input: Tensor,
    min: Tensor | Number | None = None,
    max: Tensor | Number | None = None,
) -> Any:
    """In place: writes what `clamp` gives into the tensor, and returns it."""
    return _dispatch(_clamp_, (input, min, max))


def clamp_max(input: Tensor, max: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, max)
    if out is not None:
        return with_out(_clamp_max, _bound, out)
    return _dispatch(_clamp_max, _bound)


def clamp_max_(input: Tensor, max: Tensor | Number) -> Any:
    """In place: writes what `clamp_max` gives into the tensor, and returns it."""
    return _dispatch(_clamp_max_, (input, max))


def clamp_min(input: Tensor, min: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, min)
    if out is not None:
        return with_out(_clamp_min, _bound, out)
    return _dispatch(_clamp_min, _bound)


def clamp_min_(input: Tensor, min: Tensor | Number) -> Any:
    """In place: writes what `clamp_min` gives into the tensor, and returns it."""
    return _dispatch(_clamp_min_, (input, min))


def clone(input: Tensor, *, memory_format: Any = None) -> Any:
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
        return in_format("clone", _dispatch(_clone, (input,)), memory_format)
    return _dispatch(_clone, (input,))


def cofactors(A: Tensor) -> Any:
    return _dispatch(_cofactors, (A,))


def cofactors_backward(grad: Tensor, A: Tensor) -> Any:
    return _dispatch(_cofactors_backward, (grad, A))


def col2im(
    input: Tensor,
    output_size: int | Sequence[int],
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int],
    padding: int | Sequence[int],
    stride: int | Sequence[int],
) -> Any:
    try:
        _bound = (
            input,
            as_pair(output_size),
            as_pair(kernel_size),
            as_pair(dilation),
            as_pair(padding),
            as_pair(stride),
        )
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _col2im,
            (
                input,
                output_size,
                kernel_size,
                dilation,
                padding,
                stride,
            ),
            _error,
        )
    return _dispatch(_col2im, _bound)


def column_stack(tensors: Sequence[Tensor], *, out: Any = None) -> Any:
    """Tensors joined along the second dim; vectors as columns of a matrix.

    Args:
        tensors: tensors whose other sizes are equal, at least one.

    Returns: a new tensor of at least two dims.

    Raises:
        RuntimeError: there are no tensors, or their shapes do not match.

    Example:
        >>> gw.column_stack((gw.tensor([1, 2]), gw.tensor([3, 4])))
        tensor([[1, 3],
                [2, 4]])
    """
    _bound = (as_tensors(tensors, "column_stack"),)
    if out is not None:
        return with_out(_column_stack, _bound, out)
    return _dispatch(_column_stack, _bound)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Any:
    """All ways to choose `r` elements of a vector, in their order, as the rows of a matrix.

    Args:
        input: a vector.
        r: how many are chosen, at least 0.
        with_replacement: an element may be chosen more than once.

    Returns: a matrix of `r` columns; an empty vector for `r = 0`.

    Raises:
        RuntimeError: `input` is no vector, or `r` is negative.

    Example:
        >>> gw.combinations(gw.tensor([1, 2, 3]))
        tensor([[1, 2],
                [1, 3],
                [2, 3]])
    """
    return _dispatch(_combinations, (input, r, with_replacement))


def complex(real: Tensor, imag: Tensor, *, out: Any = None) -> Any:
    """Complex numbers of the given parts, `real + i imag`, broadcast.

    Args:
        real, imag: tensors of one dtype, float32 or float64, that broadcast to one shape.

    Returns: a complex64 or complex128 tensor of the broadcast shape.

    Raises:
        RuntimeError: the dtypes differ or are others, or the shapes do not broadcast.

    Example:
        >>> gw.complex(gw.tensor([1.0]), gw.tensor([2.0]))
        tensor([1.+2.j])
    """
    _bound = (real, imag)
    if out is not None:
        return with_out(_complex, _bound, out)
    return _dispatch(_complex, _bound)


def conj(input: Tensor) -> Any:
    """Complex conjugate of each element, computed rather than marked.

    Args:
        input: a tensor of any shape and dtype.

    Returns: a tensor of the dtype of `input`; a real tensor itself.

    Example:
        >>> gw.conj(gw.tensor([3 + 4j]))
        tensor([3.-4.j])
    """
    return _dispatch(_conj, (input,))


def conj_physical(input: Tensor, *, out: Any = None) -> Any:
    """Complex conjugate of each element, computed rather than marked.

    Args:
        input: a tensor of any shape and dtype.

    Returns: a tensor of the dtype of `input`; a real tensor itself.

    Example:
        >>> gw.conj_physical(gw.tensor([3 + 4j]))
        tensor([3.-4.j])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_conj_physical, _bound, out)
    return _dispatch(_conj_physical, _bound)


def conj_physical_(input: Tensor) -> Any:
    """In place: writes what `conj_physical` gives into the tensor, and returns it."""
    return _dispatch(_conj_physical_, (input,))


def conjugated(input: Tensor) -> Any:
    return _dispatch(_conjugated, (input,))


def constant_pad(input: Tensor, pad: Sequence[int], value: Number = 0) -> Any:
    try:
        _bound = (input, as_size(pad), value)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_constant_pad, (input, pad, value), _error)
    return _dispatch(_constant_pad, _bound)


def constant_pad_nd(input: Tensor, pad: Sequence[int], value: Number = 0) -> Any:
    """Padding of the last dims with a constant: `F.pad` of mode "constant".

    Args:
        input: a tensor.
        pad: `(left, right, top, bottom, ...)`: what is added before and after, the last dim
            first; negative numbers cut off.
        value: the constant.

    Returns: a tensor with `pad` more elements in the last dims.

    Raises:
        RuntimeError: `pad` has an odd length or too many numbers, or gives a negative size.

    Example:
        >>> gw.constant_pad_nd(gw.tensor([1, 2]), (1, 2), 9)
        tensor([9, 1, 2, 9, 9])
    """
    try:
        _bound = (input, as_size(pad), value)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_constant_pad_nd, (input, pad, value), _error)
    return _dispatch(_constant_pad_nd, _bound)


def contiguous(input: Tensor) -> Any:
    return _dispatch(_contiguous, (input,))


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Any:
    """Cross-correlation of 1D signals with kernels, summed over input channels.

    Args:
        input: `(N, C, L)`, or `(C, L)`.
        weight: kernels of the dtype of `input`: the output channels K, C / groups, and the
            kernel's sizes.
        bias: `(K,)`; none if None.
        stride: the step between windows, an int or one per dim.
        padding: zeros at both ends of each dim, an int or one per dim; "valid": none; "same": as
            many as keep the sizes, for stride 1.
        dilation: the step between the elements of a window, an int or one per dim.
        groups: the number of groups that channels are split into; outputs of a group see its
            inputs only.

    Returns: `(N, K, ...)` with `(size + 2 * padding - dilation * (kernel - 1) - 1) // stride
    + 1` elements in each dim.

    Raises:
        RuntimeError: shapes, dtypes or groups do not match, a kernel does not fit into the
            padded input, or a stride or dilation is less than 1.

    Example:
        >>> gw.conv1d(gw.ones(1, 2, 5), gw.ones(4, 2, 3)).shape
        graphwright.Size([1, 4, 3])
    """
    return _dispatch(_conv1d, (input, weight, bias, stride, padding, dilation, groups))


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Any:
    """Cross-correlation of 2D signals with kernels, summed over input channels.

    Args:
        input: `(N, C, H, W)`, or `(C, H, W)`.
        weight: kernels of the dtype of `input`: the output channels K, C / groups, and the
            kernel's sizes.
        bias: `(K,)`; none if None.
        stride: the step between windows, an int or one per dim.
        padding: zeros at both ends of each dim, an int or one per dim; "valid": none; "same": as
            many as keep the sizes, for stride 1.
        dilation: the step between the elements of a window, an int or one per dim.
        groups: the number of groups that channels are split into; outputs of a group see its
            inputs only.

    Returns: `(N, K, ...)` with `(size + 2 * padding - dilation * (kernel - 1) - 1) // stride
    + 1` elements in each dim.

    Raises:
        RuntimeError: shapes, dtypes or groups do not match, a kernel does not fit into the
            padded input, or a stride or dilation is less than 1.

    Example:
        >>> gw.conv2d(gw.ones(1, 2, 5, 5), gw.ones(4, 2, 3, 3)).shape
        graphwright.Size([1, 4, 3, 3])
    """
    return _dispatch(_conv2d, (input, weight, bias, stride, padding, dilation, groups))


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | str = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Any:
    """Cross-correlation of 3D signals with kernels, summed over input channels.

    Args:
        input: `(N, C, D, H, W)`, or `(C, D, H, W)`.
        weight: kernels of the dtype of `input`: the output channels K, C / groups, and the
            kernel's sizes.
        bias: `(K,)`; none if None.
        stride: the step between windows, an int or one per dim.
        padding: zeros at both ends of each dim, an int or one per dim; "valid": none; "same": as
            many as keep the sizes, for stride 1.
        dilation: the step between the elements of a window, an int or one per dim.
        groups: the number of groups that channels are split into; outputs of a group see its
            inputs only.

    Returns: `(N, K, ...)` with `(size + 2 * padding - dilation * (kernel - 1) - 1) // stride
    + 1` elements in each dim.

    Raises:
        RuntimeError: shapes, dtypes or groups do not match, a kernel does not fit into the
            padded input, or a stride or dilation is less than 1.

    Example:
        >>> gw.conv3d(gw.ones(1, 2, 5, 5, 5), gw.ones(4, 2, 3, 3, 3)).shape
        graphwright.Size([1, 4, 3, 3, 3])
    """
    return _dispatch(_conv3d, (input, weight, bias, stride, padding, dilation, groups))


def conv_input_grad(
    grad: Tensor,
    weight: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Any:
    try:
        _bound = (
            grad,
            weight,
            as_size(size),
            as_size(stride),
            as_size(padding),
            as_size(dilation),
            groups,
        )
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _conv_input_grad,
            (
                grad,
                weight,
                size,
                stride,
                padding,
                dilation,
                groups,
            ),
            _error,
        )
    return _dispatch(_conv_input_grad, _bound)


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Any:
    """Transposed 1D convolution: the gradient of `conv1d` by its input.

    Each element of `input` adds its kernel, times its value, to a window of the output.

    Args:
        input: `(N, C, L)`, or `(C, L)`.
        weight: kernels of the dtype of `input`: the input channels C, K / groups for K output
            channels, and the kernel's sizes.
        bias: `(K,)`; none if None.
        stride: the step between windows of the output, an int or one per dim.
        padding: what is cut off at both ends of each dim of the output, an int or one per dim.
        output_padding: what is added at the end of each dim of the output; less than the
            stride or the dilation.
        groups: the number of groups that channels are split into.
        dilation: the step between the elements of a window, an int or one per dim.

    Returns: `(N, K, ...)` with `(size - 1) * stride - 2 * padding + dilation * (kernel - 1) +
    output_padding + 1` elements in each dim.

    Raises:
        RuntimeError: shapes, dtypes or groups do not match, or `output_padding` is too great.

    Example:
        >>> gw.conv_transpose1d(gw.ones(1, 2, 3), gw.ones(2, 4, 3)).shape
        graphwright.Size([1, 4, 5])
    """
    return _dispatch(
        _conv_transpose1d, (input, weight, bias, stride, padding, output_padding, groups, dilation)
    )


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Any:
    """Transposed 2D convolution: the gradient of `conv2d` by its input.

    Each element of `input` adds its kernel, times its value, to a window of the output.

    Args:
        input: `(N, C, H, W)`, or `(C, H, W)`.
        weight: kernels of the dtype of `input`: the input channels C, K / groups for K output
            channels, and the kernel's sizes.
        bias: `(K,)`; none if None.
        stride: the step between windows of the output, an int or one per dim.
        padding: what is cut off at both ends of each dim of the output, an int or one per dim.
        output_padding: what is added at the end of each dim of the output; less than the
            stride or the dilation.
        groups: the number of groups that channels are split into.
        dilation: the step between the elements of a window, an int or one per dim.

    Returns: `(N, K, ...)` with `(size - 1) * stride - 2 * padding + dilation * (kernel - 1) +
    output_padding + 1` elements in each dim.

    Raises:
        RuntimeError: shapes, dtypes or groups do not match, or `output_padding` is too great.

    Example:
        >>> gw.conv_transpose2d(gw.ones(1, 2, 3, 3), gw.ones(2, 4, 3, 3)).shape
        graphwright.Size([1, 4, 5, 5])
    """
    return _dispatch(
        _conv_transpose2d, (input, weight, bias, stride, padding, output_padding, groups, dilation)
    )


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Any:
    """Transposed 3D convolution: the gradient of `conv3d` by its input.

    Each element of `input` adds its kernel, times its value, to a window of the output.

    Args:
        input: `(N, C, D, H, W)`, or `(C, D, H, W)`.
        weight: kernels of the dtype of `input`: the input channels C, K / groups for K output
            channels, and the kernel's sizes.
        bias: `(K,)`; none if None.
        stride: the step between windows of the output, an int or one per dim.
        padding: what is cut off at both ends of each dim of the output, an int or one per dim.
        output_padding: what is added at the end of each dim of the output; less than the
            stride or the dilation.
        groups: the number of groups that channels are split into.
        dilation: the step between the elements of a window, an int or one per dim.

    Returns: `(N, K, ...)` with `(size - 1) * stride - 2 * padding + dilation * (kernel - 1) +
    output_padding + 1` elements in each dim.

    Raises:
        RuntimeError: shapes, dtypes or groups do not match, or `output_padding` is too great.

    Example:
        >>> gw.conv_transpose3d(gw.ones(1, 2, 3, 3, 3), gw.ones(2, 4, 3, 3, 3)).shape
        graphwright.Size([1, 4, 5, 5, 5])
    """
    return _dispatch(
        _conv_transpose3d, (input, weight, bias, stride, padding, output_padding, groups, dilation)
    )


def conv_weight_grad(
    grad: Tensor,
    input: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Any:
    try:
        _bound = (
            grad,
            input,
            as_size(size),
            as_size(stride),
            as_size(padding),
            as_size(dilation),
            groups,
        )
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _conv_weight_grad,
            (
                grad,
                input,
                size,
                stride,
                padding,
                dilation,
                groups,
            ),
            _error,
        )
    return _dispatch(_conv_weight_grad, _bound)


def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Any:
    """Cross-correlation of signals with kernels, or its transpose, of 1 to 3 dims.

    It is `conv1d`, `conv2d` and `conv3d`, and their transposes, with all arguments given.

    Args:
        input: `(N, C, *)`, of 3 to 5 dims.
        weight: kernels of the dtype of `input`: `(K, C / groups, *)`, or `(C, K / groups, *)`
            where `transposed`.
        bias: `(K,)`; none if None.
        stride: the step between windows, one int for each dim.
        padding: zeros at both ends of each dim; what is cut off the output where
            `transposed`.
        dilation: the step between the elements of a window, for each dim.
        transposed: compute the transpose.
        output_padding: what is added at the end of each dim of the output where `transposed`.
        groups: the number of groups that channels are split into.

    Returns: a tensor `(N, K, *)`.

    Raises:
        RuntimeError: shapes, dtypes or groups do not match, or a kernel does not fit.

    Example:
        >>> args = (1,), (0,), (1,), False, (0,), 1
        >>> gw.convolution(gw.ones(1, 2, 5), gw.ones(4, 2, 3), None, *args).shape
        graphwright.Size([1, 4, 3])
    """
    try:
        _bound = (
            input,
            weight,
            bias,
            as_size(stride),
            as_size(padding),
            as_size(dilation),
            transposed,
            as_size(output_padding),
            groups,
        )
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _convolution,
            (
                input,
                weight,
                bias,
                stride,
                padding,
                dilation,
                transposed,
                output_padding,
                groups,
            ),
            _error,
        )
    return _dispatch(_convolution, _bound)


def copy(input: Tensor, src: Tensor) -> Any:
    return _dispatch(_copy, (input, src))


def copy_(input: Tensor, src: Tensor) -> Any:
    return _dispatch(_copy_, (input, src))


def copysign(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_copysign, _bound, out)
    return _dispatch(_copysign, _bound)


def copysign_(input: Tensor, other: Tensor | Number) -> Any:
    """In place: writes what `copysign` gives into the tensor, and returns it."""
    return _dispatch(_copysign_, (input, other))


def corrcoef(input: Tensor) -> Any:
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
    return _dispatch(_corrcoef, (input,))


def cos(input: Tensor, *, out: Any = None) -> Any:
    """Cosine of each element, an angle in radians.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.cos(gw.tensor([0.0, 1.0]))
        tensor([1.0000, 0.5403])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_cos, _bound, out)
    return _dispatch(_cos, _bound)


def cos_(input: Tensor) -> Any:
    """In place: writes what `cos` gives into the tensor, and returns it."""
    return _dispatch(_cos_, (input,))


def cosh(input: Tensor, *, out: Any = None) -> Any:
    """Hyperbolic cosine, `y = (e^x + e^(-x)) / 2`.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.cosh(gw.tensor([0.0, 1.0]))
        tensor([1.0000, 1.5431])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_cosh, _bound, out)
    return _dispatch(_cosh, _bound)


def cosh_(input: Tensor) -> Any:
    """In place: writes what `cosh` gives into the tensor, and returns it."""
    return _dispatch(_cosh_, (input,))


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    reduction: str = "mean",
) -> Any:
    return _dispatch(_cosine_embedding_loss, (input1, input2, target, margin, reduction))


def cosine_similarity(
    x1: Tensor,
    x2: Tensor,
    dim: int = 1,
    eps: float = 1e-08,
    surplus: Any = ...,
    axis: Any = ...,
) -> Any:
    """Cosine of the angle between vectors: `x1 . x2 / (max(||x1||, eps) * max(||x2||, eps))`.

    Args:
        x1: floating point.
        x2: floating point; shapes are broadcast, dtypes promoted.
        dim: the dim of the vectors in the broadcast shape.
        eps: least length that is divided by.

    Returns: a tensor of the broadcast shape without `dim`.

    Raises:
        IndexError: there is no such dim.
        RuntimeError: the common dtype is not floating point, or `eps` is negative.

    Example:
        >>> gw.cosine_similarity(gw.tensor([[1.0, 0.0]]), gw.tensor([[0.0, 2.0], [3.0, 0.0]]))
        tensor([0., 1.])
    """
    if surplus is not ...:
        refuse_surplus("cosine_similarity")
    if axis is not ...:
        dim = same_as("cosine_similarity", "dim", dim, 1, "axis", axis)
    return _dispatch(_cosine_similarity, (x1, x2, dim, eps))


def count_nonzero(
    input: Tensor,
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
        _bound = (input, wrap_dims(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_count_nonzero, (input, dim), _error)
    return _dispatch(_count_nonzero, _bound)


def cov(
    input: Tensor,
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
    return _dispatch(_cov, (input, correction, fweights, aweights))


def cross(
    input: Tensor,
    other: Tensor,
    dim: int | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
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
    _bound = (input, other, dim)
    if out is not None:
        return with_out(_cross, _bound, out)
    return _dispatch(_cross, _bound)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    return _dispatch(
        _cross_entropy, (input, target, weight, ignore_index, reduction, label_smoothing)
    )


def ctc_loss_parts(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int,
) -> Any:
    return _dispatch(_ctc_loss_parts, (log_probs, targets, input_lengths, target_lengths, blank))


def cummax(input: Tensor, dim: Any = REQUIRED, axis: Any = ..., *, out: Any = None) -> Any:
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
        _bound = (input, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_cummax, (input, dim), _error)
    if out is not None:
        return with_out(_cummax, _bound, out)
    return _dispatch(_cummax, _bound)


def cummin(input: Tensor, dim: Any = REQUIRED, axis: Any = ..., *, out: Any = None) -> Any:
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
        _bound = (input, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_cummin, (input, dim), _error)
    if out is not None:
        return with_out(_cummin, _bound, out)
    return _dispatch(_cummin, _bound)


def cumprod(
    input: Tensor,
    dim: Any = REQUIRED,
    axis: Any = ...,
    *,
    dtype: DType | None = None,
    out: Any = None,
) -> Any:
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
        _bound = (input, wrap_dim(dim, input.ndim), dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_cumprod, (input, dim, dtype), _error)
    if out is not None:
        return with_out(_cumprod, _bound, out)
    return _dispatch(_cumprod, _bound)


def cumprod_(
    input: Tensor,
    dim: Any = REQUIRED,
    axis: Any = ...,
    *,
    dtype: DType | None = None,
) -> Any:
    """In place: writes what `cumprod` gives into the tensor, and returns it."""
    if axis is not ...:
        dim = same_as("cumprod_", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim), dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_cumprod_, (input, dim, dtype), _error)
    return _dispatch(_cumprod_, _bound)


def cumsum(
    input: Tensor,
    dim: Any = REQUIRED,
    axis: Any = ...,
    *,
    dtype: DType | None = None,
    out: Any = None,
) -> Any:
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
        _bound = (input, wrap_dim(dim, input.ndim), dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_cumsum, (input, dim, dtype), _error)
    if out is not None:
        return with_out(_cumsum, _bound, out)
    return _dispatch(_cumsum, _bound)


def cumsum_(
    input: Tensor,
    dim: Any = REQUIRED,
    axis: Any = ...,
    *,
    dtype: DType | None = None,
) -> Any:
    """In place: writes what `cumsum` gives into the tensor, and returns it."""
    if axis is not ...:
        dim = same_as("cumsum_", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim), dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_cumsum_, (input, dim, dtype), _error)
    return _dispatch(_cumsum_, _bound)


def cumulative_trapezoid(
    y: Tensor,
    x: Any = ...,
    *,
    dx: Number | None = None,
    dim: int = -1,
    axis: Any = ...,
) -> Any:
    """Running integral along one dim by the trapezoidal rule; see `trapezoid`.

    Args:
        y: a tensor of values.
        x: the places of the values: a vector, or a tensor that broadcasts with `y`; evenly
            spaced if None.
        dx: the spacing of places where `x` is None; 1 if None.
        dim: the dim to integrate along.

    Returns: a tensor of the shape of `y`, shorter by 1 along `dim`.

    Raises:
        RuntimeError: `y` or `x` is bool, or `x` has another number of places than `y` along
            `dim`.
        TypeError: both `x` and `dx` are given.
        IndexError: `y` has no such dim.

    Example:
        >>> gw.cumulative_trapezoid(gw.tensor([1.0, 5.0, 10.0]))
        tensor([ 3.0000, 10.5000])
    """
    if axis is not ...:
        dim = same_as("cumulative_trapezoid", "dim", dim, -1, "axis", axis)
    if x is ...:
        x = None
    elif x is None:
        refuse_none("cumulative_trapezoid", "x")
    return _dispatch(_cumulative_trapezoid, (y, x, dx, dim))


def deg2rad(input: Tensor, *, out: Any = None) -> Any:
    """Degrees in radians, `y = x * pi / 180`.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is complex.

    Example:
        >>> gw.deg2rad(gw.tensor([180, 90]))
        tensor([3.1416, 1.5708])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_deg2rad, _bound, out)
    return _dispatch(_deg2rad, _bound)


def deg2rad_(input: Tensor) -> Any:
    """In place: writes what `deg2rad` gives into the tensor, and returns it."""
    return _dispatch(_deg2rad_, (input,))


def det(input: Tensor) -> Any:
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
    return _dispatch(_det, (input,))


def detach(input: Tensor) -> Any:
    """View through which no gradient flows.

    Args:
        input: a tensor of any shape.

    Returns: a view of `input` that does not require a gradient.

    Example:
        >>> gw.detach(gw.ones(2, requires_grad=True)).requires_grad
        False
    """
    return _dispatch(_detach, (input,))


def detach_copy(input: Tensor) -> Any:
    """Copy of all elements that does not require a gradient.

    Args:
        input: a tensor of any shape.

    Returns: a new tensor.

    Example:
        >>> gw.detach_copy(gw.ones(2, requires_grad=True)).requires_grad
        False
    """
    return _dispatch(_detach_copy, (input,))


def deviation(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    correction: Number = 1,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
) -> Any:
    if surplus is not ...:
        refuse_surplus("deviation")
    if axis is not ...:
        dim = same_as("deviation", "dim", dim, None, "axis", axis)
    if keepdims is not ...:
        keepdim = same_as("deviation", "keepdim", keepdim, False, "keepdims", keepdims)
    try:
        _bound = (input, wrap_dims(dim, input.ndim), correction, keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_deviation, (input, dim, correction, keepdim), _error)
    return _dispatch(_deviation, _bound)


def diag(input: Tensor, diagonal: int = 0, *, out: Any = None) -> Any:
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
    _bound = (input, diagonal)
    if out is not None:
        return with_out(_diag, _bound, out)
    return _dispatch(_diag, _bound)


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
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
    return _dispatch(_diag_embed, (input, offset, dim1, dim2))


def diagflat(input: Tensor, offset: int = 0) -> Any:
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
    return _dispatch(_diagflat, (input, offset))


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
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
        _bound = (input, offset, wrap_dim(dim1, input.ndim), wrap_dim(dim2, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_diagonal, (input, offset, dim1, dim2), _error)
    return _dispatch(_diagonal, _bound)


def diagonal_backward(grad: Tensor, size: Sequence[int], offset: int, dim1: int, dim2: int) -> Any:
    try:
        _bound = (grad, as_size(size), offset, dim1, dim2)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_diagonal_backward, (grad, size, offset, dim1, dim2), _error)
    return _dispatch(_diagonal_backward, _bound)


def diagonal_copy(
    input: Tensor,
    offset: int = 0,
    dim1: int = 0,
    dim2: int = 1,
    *,
    out: Any = None,
) -> Any:
    """Copy of `diagonal`: a diagonal of the matrices that two dims span, in a new last dim.

    Args:
        input: a tensor of at least two dims.
        offset: which diagonal: 0 is the main one, positive ones lie above it.
        dim1, dim2: the dims of the rows and of the columns.

    Returns: a new contiguous tensor.

    Raises:
        RuntimeError: `dim1` and `dim2` are one dim.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.diagonal_copy(gw.tensor([[1, 2], [3, 4]]))
        tensor([1, 4])
    """
    try:
        _bound = (input, offset, wrap_dim(dim1, input.ndim), wrap_dim(dim2, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_diagonal_copy, (input, offset, dim1, dim2), _error)
    if out is not None:
        return with_out(_diagonal_copy, _bound, out)
    return _dispatch(_diagonal_copy, _bound)


def diagonal_scatter(
    input: Tensor,
    src: Tensor,
    offset: int = 0,
    dim1: int = 0,
    dim2: int = 1,
) -> Any:
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
        _bound = (input, src, offset, wrap_dim(dim1, input.ndim), wrap_dim(dim2, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_diagonal_scatter, (input, src, offset, dim1, dim2), _error)
    return _dispatch(_diagonal_scatter, _bound)


def diff(
    input: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
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
        _bound = (input, n, wrap_dim(dim, input.ndim), prepend, append)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_diff, (input, n, dim, prepend, append), _error)
    if out is not None:
        return with_out(_diff, _bound, out)
    return _dispatch(_diff, _bound)


def digamma(input: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input,)
    if out is not None:
        return with_out(_digamma, _bound, out)
    return _dispatch(_digamma, _bound)


def digamma_(input: Tensor) -> Any:
    """In place: writes what `digamma` gives into the tensor, and returns it."""
    return _dispatch(_digamma_, (input,))


def dist(input: Tensor, other: Tensor, p: Number = 2) -> Any:
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
    return _dispatch(_dist, (input, other, p))


def div(
    input: Tensor | Number,
    other: Tensor | Number,
    *,
    rounding_mode: str | None = None,
    out: Any = None,
) -> Any:
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
    _bound = (input, other, rounding_mode)
    if out is not None:
        return with_out(_div, _bound, out)
    return _dispatch(_div, _bound)


def div_(input: Tensor, other: Tensor | Number, *, rounding_mode: str | None = None) -> Any:
    """In place: writes what `div` gives into the tensor, and returns it."""
    return _dispatch(_div_, (input, other, rounding_mode))


def dot(input: Tensor, tensor: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, tensor)
    if out is not None:
        return with_out(_dot, _bound, out)
    return _dispatch(_dot, _bound)


def dropout(input: Tensor, p: float, train: bool) -> Any:
    """Elements dropped at random: 0 with probability `p`, else `x / (1 - p)`.

    Hinton et al., "Improving neural networks by preventing co-adaptation", 2012.

    Args:
        input: a floating-point tensor of any shape.
        p: the probability to drop an element, between 0 and 1.
        train: whether anything is dropped; `input` itself is returned if not.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor and `train` holds.
        RuntimeError: `p` is not between 0 and 1.

    Example:
        >>> gw.dropout(gw.ones(1, 3), 0.5, False)
        tensor([[1., 1., 1.]])
    """
    return _dispatch(_dropout, (input, p, train))


def dropout_(input: Tensor, p: float, train: bool) -> Any:
    return _dispatch(_dropout_, (input, p, train))


def dsplit(
    input: Tensor,
    indices_or_sections: int | Sequence[int] | None = None,
    *,
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
    return _dispatch(_dsplit, (input, indices_or_sections, sections, indices))


def dstack(tensors: Sequence[Tensor], *, out: Any = None) -> Any:
    """Tensors joined along the third dim, after `atleast_3d`.

    Args:
        tensors: tensors whose other sizes are equal, at least one.

    Returns: a new tensor of at least three dims.

    Raises:
        RuntimeError: there are no tensors, or their shapes do not match.

    Example:
        >>> gw.dstack((gw.tensor([1, 2]), gw.tensor([3, 4])))
        tensor([[[1, 3],
                 [2, 4]]])
    """
    _bound = (as_tensors(tensors, "dstack"),)
    if out is not None:
        return with_out(_dstack, _bound, out)
    return _dispatch(_dstack, _bound)


def einsum(equation: Any, *operands: Any) -> Any:
    """Sum of products in Einstein's notation: labels that the output lacks are summed over.

    The order of contractions of many operands is chosen by the sizes.

    Args:
        equation: labels of each operand and of the output, such as "ij,jk->ik"; "..." stands
            for dims that are broadcast; a label twice in one operand is a diagonal. Without
            "->" the output has the labels that occur once, in alphabetical order. Instead,
            operands and lists of label numbers may alternate, the output's list last.
        operands: one tensor for each term, or a list of them, of one dtype.

    Returns: a tensor with the dims of the output's labels.

    Raises:
        RuntimeError: the equation does not fit the operands, or sizes of a label differ.
        TypeError: the equation is no string.

    Example:
        >>> gw.einsum("ij,jk->ki", gw.tensor([[1, 2], [3, 4]]), gw.tensor([[1], [1]]))
        tensor([[3, 7]])
        >>> gw.einsum("ii", gw.eye(3))
        tensor(3.)
    """
    return _dispatch(_einsum, (equation, one_by_one(equation, operands)))


def einsum_nest(operands: Sequence[Tensor], equation: Any) -> Any:
    return _dispatch(_einsum_nest, (as_tensors(operands, "einsum_nest"), equation))


def elu(input: Tensor, alpha: float = 1.0) -> Any:
    """Exponential linear unit, `y = x` for `x > 0`, else `alpha * (e^x - 1)`.

    The definition is that of Clevert et al., "Fast and accurate deep network learning by
    exponential linear units", 2016.

    Args:
        input: a floating-point tensor of any shape.
        alpha: the scale below 0.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.

    Example:
        >>> F.elu(gw.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.6321,  0.0000,  1.0000])
    """
    return _dispatch(_elu, (input, alpha))


def elu_(input: Tensor, alpha: float = 1.0) -> Any:
    """In place: writes what `elu` gives into the tensor, and returns it."""
    return _dispatch(_elu_, (input, alpha))


def elu_backward(grad: Tensor, input: Tensor, alpha: float) -> Any:
    return _dispatch(_elu_backward, (grad, input, alpha))


def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """Rows of a table at given positions.

    Args:
        weight: the table, of shape (rows, columns).
        indices: an int32 or int64 tensor of positions of any shape.
        padding_idx: the row that gets no gradient; none if negative.
        scale_grad_by_freq: divide the gradient of a row by how often it is read.
        sparse: without effect: gradients are dense.

    Returns: a new tensor of the shape of `indices` with a last dim of `columns`.

    Raises:
        IndexError: a position is out of range.
        RuntimeError: `weight` is no matrix, or `indices` has another dtype.

    Example:
        >>> gw.embedding(gw.tensor([[1.0, 2.0], [3.0, 4.0]]), gw.tensor([1, 0]))
        tensor([[3., 4.],
                [1., 2.]])
    """
    return _dispatch(_embedding, (weight, indices, padding_idx, scale_grad_by_freq, sparse))


def embedding_backward(
    grad: Tensor,
    indices: Tensor,
    rows: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> Any:
    return _dispatch(_embedding_backward, (grad, indices, rows, padding_idx, scale_grad_by_freq))


def embedding_bag_parts(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    per_sample_weights: Tensor | None,
    mode: str,
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> Any:
    return _dispatch(
        _embedding_bag_parts,
        (
            weight,
            indices,
            offsets,
            per_sample_weights,
            mode,
            padding_idx,
            scale_grad_by_freq,
        ),
    )


def embedding_renorm_(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Any:
    """Scale rows of a table whose norm is too great, in place.

    Args:
        weight: the table, floating point, `(V, D)`; it is changed and returned.
        indices: the rows that are looked at, int32 or int64.
        max_norm: the norm that greater rows are scaled to.
        norm_type: order of the norm.

    Raises:
        RuntimeError: an index is out of range.

    Example:
        >>> gw.embedding_renorm_(gw.tensor([[3.0, 4.0], [6.0, 8.0]]), gw.tensor([1]), 5.0, 2.0)
        tensor([[3., 4.],
                [3., 4.]])
    """
    return _dispatch(_embedding_renorm_, (weight, indices, max_norm, norm_type))


def empty(
    *size_: Any,
    size: Any = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    memory_format: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Tensor whose elements are whatever is in its memory.

    Args:
        size: the shape: a sequence, or one argument per size.
        dtype: that of the result; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a contiguous tensor.

    Raises:
        RuntimeError: a size is negative.

    Example:
        >>> gw.empty(2, 3).shape
        graphwright.Size([2, 3])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("empty", layout, pin_memory)
    _bound = (as_size(varargs(size_, size)), dtype, device)
    if out is not None:
        return with_out(_empty, _bound, out)
    if memory_format is not None:
        _made = _dispatch(_empty, _bound)
        return _require(requires_grad, in_format("empty", _made, memory_format))
    return _require(requires_grad, _dispatch(_empty, _bound))


def empty_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    memory_format: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Tensor of the shape of another one, to be filled; at first its elements are 0.

    Args:
        input: the tensor whose shape, order of strides and dtype are taken.
        dtype: that of the result; that of `input` if None.
        device: where the result is made; that of `input` if None.

    Returns: a new dense tensor.

    Example:
        >>> gw.empty_like(gw.tensor([3, 4])).shape
        graphwright.Size([2])
    """
    if layout is not None or pin_memory:
        check_placement("empty_like", layout, pin_memory)
    if memory_format is not None:
        _made = _dispatch(_empty_like, (input, dtype, device))
        return _require(requires_grad, in_format("empty_like", _made, memory_format))
    return _require(requires_grad, _dispatch(_empty_like, (input, dtype, device)))


def empty_permuted(
    size: Sequence[int],
    physical_layout: Sequence[int],
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Dense tensor whose dims have a given order in memory, to be filled.

    Args:
        size: the shape.
        physical_layout: the dims from the outermost to the innermost in memory.
        dtype: that of the result; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a new tensor.

    Raises:
        RuntimeError: `physical_layout` is no permutation of the dims.

    Example:
        >>> gw.empty_permuted((2, 3), (1, 0)).stride()
        (1, 2)
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("empty_permuted", layout, pin_memory)
    try:
        _bound = (as_size(size), as_size(physical_layout), dtype, device)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_empty_permuted, (size, physical_layout, dtype, device), _error)
    return _require(requires_grad, _dispatch(_empty_permuted, _bound))


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Tensor with given strides, whose elements are whatever is in its memory.

    Args:
        size: the shape.
        stride: the strides, counted in elements, none negative.
        dtype: that of the result; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a new tensor.

    Raises:
        RuntimeError: the lengths differ, or a size or stride is negative.

    Example:
        >>> gw.empty_strided((2, 3), (1, 2)).stride()
        (1, 2)
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("empty_strided", layout, pin_memory)
    try:
        _bound = (as_size(size), as_size(stride), dtype, device)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_empty_strided, (size, stride, dtype, device), _error)
    return _require(requires_grad, _dispatch(_empty_strided, _bound))


def eq(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_eq, _bound, out)
    return _dispatch(_eq, _bound)


def eq_(input: Tensor, other: Tensor | Number) -> Any:
    """In place: writes what `eq` gives into the tensor, and returns it."""
    return _dispatch(_eq_, (input, other))


def equal(input: Tensor, other: Tensor) -> Any:
    """Whether two tensors have one shape and equal elements.

    Args:
        input, other: tensors; their dtypes may differ, and nan equals nothing.

    Returns: a Python bool.

    Example:
        >>> gw.equal(gw.tensor([1.0, 2.0]), gw.tensor([1, 2]))
        True
    """
    return _dispatch(_equal, (input, other))


def erf(input: Tensor, *, out: Any = None) -> Any:
    """Error function, `y = 2 / sqrt(pi)` times the integral of `e^(-t^2)` from 0 to `x`.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is complex.

    Example:
        >>> gw.erf(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8427])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_erf, _bound, out)
    return _dispatch(_erf, _bound)


def erf_(input: Tensor) -> Any:
    """In place: writes what `erf` gives into the tensor, and returns it."""
    return _dispatch(_erf_, (input,))


def erfc(input: Tensor, *, out: Any = None) -> Any:
    """Complementary error function, `y = 1 - erf(x)`, accurate for large `x`.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is complex.

    Example:
        >>> gw.erfc(gw.tensor([0.0, 1.0]))
        tensor([1.0000, 0.1573])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_erfc, _bound, out)
    return _dispatch(_erfc, _bound)


def erfc_(input: Tensor) -> Any:
    """In place: writes what `erfc` gives into the tensor, and returns it."""
    return _dispatch(_erfc_, (input,))


def erfinv(input: Tensor, *, out: Any = None) -> Any:
    """Inverse of the error function: `erf(y) = x`; inf at 1, nan beyond -1 and 1.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is complex.

    Example:
        >>> gw.erfinv(gw.tensor([0.0, 0.5]))
        tensor([0.0000, 0.4769])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_erfinv, _bound, out)
    return _dispatch(_erfinv, _bound)


def erfinv_(input: Tensor) -> Any:
    """In place: writes what `erfinv` gives into the tensor, and returns it."""
    return _dispatch(_erfinv_, (input,))


def exp(input: Tensor, *, out: Any = None) -> Any:
    """Exponential function of each element, `y = e^x`.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.exp(gw.tensor([0.0, 1.0]))
        tensor([1.0000, 2.7183])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_exp, _bound, out)
    return _dispatch(_exp, _bound)


def exp2(input: Tensor, *, out: Any = None) -> Any:
    """Power of two, `y = 2^x`.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.exp2(gw.tensor([1, 3]))
        tensor([2., 8.])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_exp2, _bound, out)
    return _dispatch(_exp2, _bound)


def exp2_(input: Tensor) -> Any:
    """In place: writes what `exp2` gives into the tensor, and returns it."""
    return _dispatch(_exp2_, (input,))


def exp_(input: Tensor) -> Any:
    """In place: writes what `exp` gives into the tensor, and returns it."""
    return _dispatch(_exp_, (input,))


def expand(input: Tensor, size: Sequence[int]) -> Any:
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
    try:
        _bound = (input, as_size(size))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_expand, (input, size), _error)
    return _dispatch(_expand, _bound)


def expand_as(input: Tensor, other: Tensor) -> Any:
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
    return _dispatch(_expand_as, (input, other))


def expand_copy(input: Tensor, size: Sequence[int], *, out: Any = None) -> Any:
    """Copy of `expand`: dims of size 1 are repeated, and new dims put in front.

    Args:
        input: a tensor of any shape.
        size: the sizes of the result, from the last dim on; -1 keeps a size.

    Returns: a new contiguous tensor.

    Raises:
        RuntimeError: as `expand`.

    Example:
        >>> gw.expand_copy(gw.tensor([1, 2]), (2, 2))
        tensor([[1, 2],
                [1, 2]])
    """
    try:
        _bound = (input, as_size(size))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_expand_copy, (input, size), _error)
    if out is not None:
        return with_out(_expand_copy, _bound, out)
    return _dispatch(_expand_copy, _bound)


def expm1(input: Tensor, *, out: Any = None) -> Any:
    """Exponential function minus 1, `y = e^x - 1`, accurate for small `x`.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.expm1(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 1.7183])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_expm1, _bound, out)
    return _dispatch(_expm1, _bound)


def expm1_(input: Tensor) -> Any:
    """In place: writes what `expm1` gives into the tensor, and returns it."""
    return _dispatch(_expm1_, (input,))


def exponential_(input: Tensor, lambd: float = 1.0, *, generator: Any = None) -> Any:
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
    return _dispatch(_exponential_, (input, lambd, generator))


def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Matrix with 1 on the main diagonal and 0 elsewhere.

    Args:
        n: the number of rows.
        m: the number of columns; `n` if None.
        dtype: that of the result; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a new matrix.

    Raises:
        RuntimeError: a number is negative.

    Example:
        >>> gw.eye(2, 3)
        tensor([[1., 0., 0.],
                [0., 1., 0.]])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("eye", layout, pin_memory)
    _bound = (n, m, dtype, device)
    if out is not None:
        return with_out(_eye, _bound, out)
    return _require(requires_grad, _dispatch(_eye, _bound))


def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Any:
    """Alpha dropout of whole channels: see `alpha_dropout`.

    Dropped channels become the lower end of `selu`.

    Args:
        input: a floating-point tensor of shape [N, C, ...].
        p: the probability to drop a channel, between 0 and 1.
        train: whether anything is dropped; `input` itself is returned if not.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor and `train` holds.
        RuntimeError: `p` is not in [0, 1], or in training `input` has less than two dims.

    Example:
        >>> gw.feature_alpha_dropout(gw.ones(1, 3), 0.5, False)
        tensor([[1., 1., 1.]])
    """
    return _dispatch(_feature_alpha_dropout, (input, p, train))


def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Any:
    return _dispatch(_feature_alpha_dropout_, (input, p, train))


def feature_dropout(input: Tensor, p: float, train: bool) -> Any:
    """Channels dropped at random: all 0 with probability `p`, else divided by `1 - p`.

    Tompson et al., "Efficient object localization using convolutional networks", 2015.

    Args:
        input: a floating-point tensor of shape [N, C, ...].
        p: the probability to drop a channel, between 0 and 1.
        train: whether anything is dropped; `input` itself is returned if not.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor and `train` holds.
        RuntimeError: `p` is not in [0, 1], or in training `input` has less than two dims.

    Example:
        >>> gw.feature_dropout(gw.ones(1, 3), 0.5, False)
        tensor([[1., 1., 1.]])
    """
    return _dispatch(_feature_dropout, (input, p, train))


def feature_dropout_(input: Tensor, p: float, train: bool) -> Any:
    return _dispatch(_feature_dropout_, (input, p, train))


def fft_c2c(input: Tensor, dims: Any, scale: float, forward: bool, inner: Any = ()) -> Any:
    return _dispatch(_fft_c2c, (input, dims, scale, forward, inner))


def fft_c2r(
    input: Tensor,
    dim: Any = REQUIRED,
    size: Any = REQUIRED,
    scale: Any = REQUIRED,
    axis: Any = ...,
) -> Any:
    if axis is not ...:
        dim = same_as("fft_c2r", "dim", dim, REQUIRED, "axis", axis)
    return _dispatch(_fft_c2r, (input, dim, size, scale))


def fft_fft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Discrete Fourier transform.

    `X[k] = sum_j x[j] * exp(-2 pi i j k / n)`.

    Args:
        input: real or complex; integers are taken as the default dtype.
        n: the length of the transform, for which `input` is cut or filled up with zeros;
            that of `input` if None.
        dim: the dim that is transformed.
        norm: the factor of the result:
            1 by "backward" or None, 1 / sqrt(n) by "ortho", 1 / n by "forward".

    Returns: a complex tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `n` is less than 1, `norm` is unknown, or `input` is
            of half precision.

    Example:
        >>> gw.fft.fft(gw.tensor([0.0, 1.0, 2.0, 3.0]))
        tensor([ 6.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    """
    if surplus is not ...:
        refuse_surplus("fft_fft")
    if axis is not ...:
        dim = same_as("fft_fft", "dim", dim, -1, "axis", axis)
    _bound = (input, n, dim, norm)
    if out is not None:
        return with_out(_fft_fft, _bound, out)
    return _dispatch(_fft_fft, _bound)


def fft_fft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2,
    -1),
    norm: str | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Discrete Fourier transform, along two dims.

    It is `fft.fft` along the last of these dims, `fft.fft` along the others.

    Args:
        input: real or complex; integers are taken as the default dtype.
        s: the length of the transform along each of these dims, as `n` of `fft.fft` and
            `fft.fft`; -1 is their None, as is None for all.
        dim: the two dims.
        norm: the factor of the result, with n the product of the lengths:
            1 by "backward" or None, 1 / sqrt(n) by "ortho", 1 / n by "forward".

    Returns: a complex tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `s` and `dim` differ in length, a dim is named twice, a length is less
            than 1, `norm` is unknown, or `input` is of half precision.

    Example:
        >>> gw.fft.fft2(gw.ones(4, 6)).shape
        graphwright.Size([4, 6])
    """
    if surplus is not ...:
        refuse_surplus("fft_fft2")
    if axis is not ...:
        dim = same_as("fft_fft2", "dim", dim, (-2, -1), "axis", axis)
    _bound = (input, s, dim, norm)
    if out is not None:
        return with_out(_fft_fft2, _bound, out)
    return _dispatch(_fft_fft2, _bound)


def fft_fftfreq(
    n: int,
    d: float = 1.0,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Frequencies of the elements of `fft.fft`, in cycles per unit of `d`.

    `[0, 1, ..., (n - 1) // 2, -(n // 2), ..., -1] / (n * d)`.

    Args:
        n: the length of the transform.
        d: the distance between samples.
        dtype: floating point or complex; the default dtype if None.
        device: the CPU.

    Returns: a tensor of shape `(n,)`.

    Raises:
        RuntimeError: `dtype` is that of integers.

    Example:
        >>> gw.fft.fftfreq(5)
        tensor([ 0.0000,  0.2000,  0.4000, -0.4000, -0.2000])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("fft_fftfreq", layout, pin_memory)
    _bound = (n, d, dtype, device)
    if out is not None:
        return with_out(_fft_fftfreq, _bound, out)
    return _require(requires_grad, _dispatch(_fft_fftfreq, _bound))


def fft_fftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Discrete Fourier transform, along several dims.

    It is `fft.fft` along the last of these dims, `fft.fft` along the others.

    Args:
        input: real or complex; integers are taken as the default dtype.
        s: the length of the transform along each of these dims, as `n` of `fft.fft` and
            `fft.fft`; -1 is their None, as is None for all.
        dim: the dims that are transformed; the last `len(s)` if None, all without `s`.
        norm: the factor of the result, with n the product of the lengths:
            1 by "backward" or None, 1 / sqrt(n) by "ortho", 1 / n by "forward".

    Returns: a complex tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `s` and `dim` differ in length, a dim is named twice, a length is less
            than 1, `norm` is unknown, or `input` is of half precision.

    Example:
        >>> gw.fft.fftn(gw.ones(4, 6)).shape
        graphwright.Size([4, 6])
    """
    if surplus is not ...:
        refuse_surplus("fft_fftn")
    if axis is not ...:
        dim = same_as("fft_fftn", "dim", dim, None, "axis", axis)
    _bound = (input, s, dim, norm)
    if out is not None:
        return with_out(_fft_fftn, _bound, out)
    return _dispatch(_fft_fftn, _bound)


def fft_fftshift(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    surplus: Any = ...,
    axis: Any = ...,
) -> Any:
    """Spectrum with frequency 0 in the middle: rolled by `n // 2` along the dims.

    Args:
        input: a tensor.
        dim: the dim or dims that are rolled; all if None.

    Returns: a tensor of the shape of `input`.

    Raises:
        IndexError: `input` has no such dim.

    Example:
        >>> gw.fft.fftshift(gw.tensor([0, 1, 2, -2, -1]))
        tensor([-2, -1,  0,  1,  2])
    """
    if surplus is not ...:
        refuse_surplus("fft_fftshift")
    if axis is not ...:
        dim = same_as("fft_fftshift", "dim", dim, None, "axis", axis)
    return _dispatch(_fft_fftshift, (input, dim))


def fft_hfft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Fourier transform of a Hermitian signal, of which half is given.

    The spectrum of a signal with `x[-j] = conj(x[j])` is real.

    Args:
        input: the `n // 2 + 1` elements from 0; integers are taken as the default dtype.
        n: the length of the result, for which `input` is cut or filled up with zeros;
            2 (m - 1) of m elements if None.
        dim: the dim that is transformed.
        norm: the factor of the result:
            1 by "backward" or None, 1 / sqrt(n) by "ortho", 1 / n by "forward".

    Returns: a real tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `n` is less than 1, `norm` is unknown, or `input` is
            of half precision.

    Example:
        >>> gw.fft.hfft(gw.tensor([0.0, 1.0, 2.0, 3.0]))
        tensor([ 9., -4.,  0., -1.,  0., -4.])
    """
    if surplus is not ...:
        refuse_surplus("fft_hfft")
    if axis is not ...:
        dim = same_as("fft_hfft", "dim", dim, -1, "axis", axis)
    _bound = (input, n, dim, norm)
    if out is not None:
        return with_out(_fft_hfft, _bound, out)
    return _dispatch(_fft_hfft, _bound)


def fft_hfft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2,
    -1),
    norm: str | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Fourier transform of a Hermitian signal, of which half is given, along two dims.

    It is `fft.hfft` along the last of these dims, `fft.fft` along the others.

    Args:
        input: the `n // 2 + 1` elements from 0; integers are taken as the default dtype.
        s: the length of the result along each of these dims, as `n` of `fft.hfft` and
            `fft.fft`; -1 is their None, as is None for all.
        dim: the two dims.
        norm: the factor of the result, with n the product of the lengths:
            1 by "backward" or None, 1 / sqrt(n) by "ortho", 1 / n by "forward".

    Returns: a real tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `s` and `dim` differ in length, a dim is named twice, a length is less
            than 1, `norm` is unknown, or `input` is of half precision.

    Example:
        >>> gw.fft.hfft2(gw.ones(4, 6)).shape
        graphwright.Size([4, 10])
    """
    if surplus is not ...:
        refuse_surplus("fft_hfft2")
    if axis is not ...:
        dim = same_as("fft_hfft2", "dim", dim, (-2, -1), "axis", axis)
    _bound = (input, s, dim, norm)
    if out is not None:
        return with_out(_fft_hfft2, _bound, out)
    return _dispatch(_fft_hfft2, _bound)


def fft_hfftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Fourier transform of a Hermitian signal, of which half is given, along several dims.

    It is `fft.hfft` along the last of these dims, `fft.fft` along the others.

    Args:
        input: the `n // 2 + 1` elements from 0; integers are taken as the default dtype.
        s: the length of the result along each of these dims, as `n` of `fft.hfft` and
            `fft.fft`; -1 is their None, as is None for all.
        dim: the dims that are transformed; the last `len(s)` if None, all without `s`.
        norm: the factor of the result, with n the product of the lengths:
            1 by "backward" or None, 1 / sqrt(n) by "ortho", 1 / n by "forward".

    Returns: a real tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `s` and `dim` differ in length, a dim is named twice, a length is less
            than 1, `norm` is unknown, or `input` is of half precision.

    Example:
        >>> gw.fft.hfftn(gw.ones(4, 6)).shape
        graphwright.Size([4, 10])
    """
    if surplus is not ...:
        refuse_surplus("fft_hfftn")
    if axis is not ...:
        dim = same_as("fft_hfftn", "dim", dim, None, "axis", axis)
    _bound = (input, s, dim, norm)
    if out is not None:
        return with_out(_fft_hfftn, _bound, out)
    return _dispatch(_fft_hfftn, _bound)


def fft_ifft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Inverse discrete Fourier transform.

    `x[j] = 1 / n * sum_k X[k] * exp(2 pi i j k / n)`.

    Args:
        input: real or complex; integers are taken as the default dtype.
        n: the length of the transform, for which `input` is cut or filled up with zeros;
            that of `input` if None.
        dim: the dim that is transformed.
        norm: the factor of the result:
            1 / n by "backward" or None, 1 / sqrt(n) by "ortho", 1 by "forward".

    Returns: a complex tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `n` is less than 1, `norm` is unknown, or `input` is
            of half precision.

    Example:
        >>> gw.fft.ifft(gw.tensor([4.0, 0.0, 0.0, 0.0]))
        tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    if surplus is not ...:
        refuse_surplus("fft_ifft")
    if axis is not ...:
        dim = same_as("fft_ifft", "dim", dim, -1, "axis", axis)
    _bound = (input, n, dim, norm)
    if out is not None:
        return with_out(_fft_ifft, _bound, out)
    return _dispatch(_fft_ifft, _bound)


def fft_ifft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2,
    -1),
    norm: str | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Inverse discrete Fourier transform, along two dims.

    It is `fft.ifft` along the last of these dims, `fft.ifft` along the others.

    Args:
        input: real or complex; integers are taken as the default dtype.
        s: the length of the transform along each of these dims, as `n` of `fft.ifft` and
            `fft.ifft`; -1 is their None, as is None for all.
        dim: the two dims.
        norm: the factor of the result, with n the product of the lengths:
            1 / n by "backward" or None, 1 / sqrt(n) by "ortho", 1 by "forward".

    Returns: a complex tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `s` and `dim` differ in length, a dim is named twice, a length is less
            than 1, `norm` is unknown, or `input` is of half precision.

    Example:
        >>> gw.fft.ifft2(gw.ones(4, 6)).shape
        graphwright.Size([4, 6])
    """
    if surplus is not ...:
        refuse_surplus("fft_ifft2")
    if axis is not ...:
        dim = same_as("fft_ifft2", "dim", dim, (-2, -1), "axis", axis)
    _bound = (input, s, dim, norm)
    if out is not None:
        return with_out(_fft_ifft2, _bound, out)
    return _dispatch(_fft_ifft2, _bound)


def fft_ifftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Inverse discrete Fourier transform, along several dims.

    It is `fft.ifft` along the last of these dims, `fft.ifft` along the others.

    Args:
        input: real or complex; integers are taken as the default dtype.
        s: the length of the transform along each of these dims, as `n` of `fft.ifft` and
            `fft.ifft`; -1 is their None, as is None for all.
        dim: the dims that are transformed; the last `len(s)` if None, all without `s`.
        norm: the factor of the result, with n the product of the lengths:
            1 / n by "backward" or None, 1 / sqrt(n) by "ortho", 1 by "forward".

    Returns: a complex tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `s` and `dim` differ in length, a dim is named twice, a length is less
            than 1, `norm` is unknown, or `input` is of half precision.

    Example:
        >>> gw.fft.ifftn(gw.ones(4, 6)).shape
        graphwright.Size([4, 6])
    """
    if surplus is not ...:
        refuse_surplus("fft_ifftn")
    if axis is not ...:
        dim = same_as("fft_ifftn", "dim", dim, None, "axis", axis)
    _bound = (input, s, dim, norm)
    if out is not None:
        return with_out(_fft_ifftn, _bound, out)
    return _dispatch(_fft_ifftn, _bound)


def fft_ifftshift(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    surplus: Any = ...,
    axis: Any = ...,
) -> Any:
    """Inverse of `fft.fftshift`: rolled by `(n + 1) // 2` along the dims.

    Args:
        input: a tensor.
        dim: the dim or dims that are rolled; all if None.

    Returns: a tensor of the shape of `input`.

    Raises:
        IndexError: `input` has no such dim.

    Example:
        >>> gw.fft.ifftshift(gw.tensor([-2, -1, 0, 1, 2]))
        tensor([ 0,  1,  2, -2, -1])
    """
    if surplus is not ...:
        refuse_surplus("fft_ifftshift")
    if axis is not ...:
        dim = same_as("fft_ifftshift", "dim", dim, None, "axis", axis)
    return _dispatch(_fft_ifftshift, (input, dim))


def fft_ihfft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Inverse of `fft.hfft`: half the Hermitian signal of a real spectrum.

    The other elements are conjugates of these `n // 2 + 1`.

    Args:
        input: real; integers are taken as the default dtype.
        n: the length of the spectrum, for which `input` is cut or filled up with zeros;
            that of `input` if None.
        dim: the dim that is transformed.
        norm: the factor of the result:
            1 / n by "backward" or None, 1 / sqrt(n) by "ortho", 1 by "forward".

    Returns: a complex tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `n` is less than 1, `norm` is unknown, or `input` is
            complex or of half precision.

    Example:
        >>> gw.fft.ihfft(gw.tensor([4.0, 0.0, 0.0, 0.0])).real
        tensor([1., 1., 1.])
    """
    if surplus is not ...:
        refuse_surplus("fft_ihfft")
    if axis is not ...:
        dim = same_as("fft_ihfft", "dim", dim, -1, "axis", axis)
    _bound = (input, n, dim, norm)
    if out is not None:
        return with_out(_fft_ihfft, _bound, out)
    return _dispatch(_fft_ihfft, _bound)


def fft_ihfft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2,
    -1),
    norm: str | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Inverse of `fft.hfft`: half the Hermitian signal of a real spectrum, along two dims.

    It is `fft.ihfft` along the last of these dims, `fft.ifft` along the others.

    Args:
        input: real; integers are taken as the default dtype.
        s: the length of the spectrum along each of these dims, as `n` of `fft.ihfft` and
            `fft.ifft`; -1 is their None, as is None for all.
        dim: the two dims.
        norm: the factor of the result, with n the product of the lengths:
            1 / n by "backward" or None, 1 / sqrt(n) by "ortho", 1 by "forward".

    Returns: a complex tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `s` and `dim` differ in length, a dim is named twice, a length is less
            than 1, `norm` is unknown, or `input` is complex or of half precision.

    Example:
        >>> gw.fft.ihfft2(gw.ones(4, 6)).shape
        graphwright.Size([4, 4])
    """
    if surplus is not ...:
        refuse_surplus("fft_ihfft2")
    if axis is not ...:
        dim = same_as("fft_ihfft2", "dim", dim, (-2, -1), "axis", axis)
    _bound = (input, s, dim, norm)
    if out is not None:
        return with_out(_fft_ihfft2, _bound, out)
    return _dispatch(_fft_ihfft2, _bound)


def fft_ihfftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Inverse of `fft.hfft`: half the Hermitian signal of a real spectrum, along several dims.

    It is `fft.ihfft` along the last of these dims, `fft.ifft` along the others.

    Args:
        input: real; integers are taken as the default dtype.
        s: the length of the spectrum along each of these dims, as `n` of `fft.ihfft` and
            `fft.ifft`; -1 is their None, as is None for all.
        dim: the dims that are transformed; the last `len(s)` if None, all without `s`.
        norm: the factor of the result, with n the product of the lengths:
            1 / n by "backward" or None, 1 / sqrt(n) by "ortho", 1 by "forward".

    Returns: a complex tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `s` and `dim` differ in length, a dim is named twice, a length is less
            than 1, `norm` is unknown, or `input` is complex or of half precision.

    Example:
        >>> gw.fft.ihfftn(gw.ones(4, 6)).shape
        graphwright.Size([4, 4])
    """
    if surplus is not ...:
        refuse_surplus("fft_ihfftn")
    if axis is not ...:
        dim = same_as("fft_ihfftn", "dim", dim, None, "axis", axis)
    _bound = (input, s, dim, norm)
    if out is not None:
        return with_out(_fft_ihfftn, _bound, out)
    return _dispatch(_fft_ihfftn, _bound)


def fft_irfft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Inverse of `fft.rfft`: the real signal of a half spectrum.

    The imaginary parts of the frequencies 0 and `n / 2` are taken for 0.

    Args:
        input: the `n // 2 + 1` frequencies from 0; integers are taken as the default dtype.
        n: the length of the result, for which `input` is cut or filled up with zeros;
            2 (m - 1) of m frequencies if None.
        dim: the dim that is transformed.
        norm: the factor of the result:
            1 / n by "backward" or None, 1 / sqrt(n) by "ortho", 1 by "forward".

    Returns: a real tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `n` is less than 1, `norm` is unknown, or `input` is
            of half precision.

    Example:
        >>> gw.fft.irfft(gw.tensor([6.0, -2 + 2j, -2.0]))
        tensor([0., 1., 2., 3.])
    """
    if surplus is not ...:
        refuse_surplus("fft_irfft")
    if axis is not ...:
        dim = same_as("fft_irfft", "dim", dim, -1, "axis", axis)
    _bound = (input, n, dim, norm)
    if out is not None:
        return with_out(_fft_irfft, _bound, out)
    return _dispatch(_fft_irfft, _bound)


def fft_irfft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2,
    -1),
    norm: str | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Inverse of `fft.rfft`: the real signal of a half spectrum, along two dims.

    It is `fft.irfft` along the last of these dims, `fft.ifft` along the others.

    Args:
        input: the `n // 2 + 1` frequencies from 0; integers are taken as the default dtype.
        s: the length of the result along each of these dims, as `n` of `fft.irfft` and
            `fft.ifft`; -1 is their None, as is None for all.
        dim: the two dims.
        norm: the factor of the result, with n the product of the lengths:
            1 / n by "backward" or None, 1 / sqrt(n) by "ortho", 1 by "forward".

    Returns: a real tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `s` and `dim` differ in length, a dim is named twice, a length is less
            than 1, `norm` is unknown, or `input` is of half precision.

    Example:
        >>> gw.fft.irfft2(gw.ones(4, 6)).shape
        graphwright.Size([4, 10])
    """
    if surplus is not ...:
        refuse_surplus("fft_irfft2")
    if axis is not ...:
        dim = same_as("fft_irfft2", "dim", dim, (-2, -1), "axis", axis)
    _bound = (input, s, dim, norm)
    if out is not None:
        return with_out(_fft_irfft2, _bound, out)
    return _dispatch(_fft_irfft2, _bound)


def fft_irfftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Inverse of `fft.rfft`: the real signal of a half spectrum, along several dims.

    It is `fft.irfft` along the last of these dims, `fft.ifft` along the others.

    Args:
        input: the `n // 2 + 1` frequencies from 0; integers are taken as the default dtype.
        s: the length of the result along each of these dims, as `n` of `fft.irfft` and
            `fft.ifft`; -1 is their None, as is None for all.
        dim: the dims that are transformed; the last `len(s)` if None, all without `s`.
        norm: the factor of the result, with n the product of the lengths:
            1 / n by "backward" or None, 1 / sqrt(n) by "ortho", 1 by "forward".

    Returns: a real tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `s` and `dim` differ in length, a dim is named twice, a length is less
            than 1, `norm` is unknown, or `input` is of half precision.

    Example:
        >>> gw.fft.irfftn(gw.ones(4, 6)).shape
        graphwright.Size([4, 10])
    """
    if surplus is not ...:
        refuse_surplus("fft_irfftn")
    if axis is not ...:
        dim = same_as("fft_irfftn", "dim", dim, None, "axis", axis)
    _bound = (input, s, dim, norm)
    if out is not None:
        return with_out(_fft_irfftn, _bound, out)
    return _dispatch(_fft_irfftn, _bound)


def fft_r2c(input: Tensor, dim: Any = REQUIRED, scale: Any = REQUIRED, axis: Any = ...) -> Any:
    if axis is not ...:
        dim = same_as("fft_r2c", "dim", dim, REQUIRED, "axis", axis)
    return _dispatch(_fft_r2c, (input, dim, scale))


def fft_rfft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Fourier transform of a real signal, the non-negative frequencies.

    The other frequencies are conjugates of these `n // 2 + 1`.

    Args:
        input: real; integers are taken as the default dtype.
        n: the length of the signal, for which `input` is cut or filled up with zeros;
            that of `input` if None.
        dim: the dim that is transformed.
        norm: the factor of the result:
            1 by "backward" or None, 1 / sqrt(n) by "ortho", 1 / n by "forward".

    Returns: a complex tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `n` is less than 1, `norm` is unknown, or `input` is
            complex or of half precision.

    Example:
        >>> gw.fft.rfft(gw.tensor([0.0, 1.0, 2.0, 3.0]))
        tensor([ 6.+0.j, -2.+2.j, -2.+0.j])
    """
    if surplus is not ...:
        refuse_surplus("fft_rfft")
    if axis is not ...:
        dim = same_as("fft_rfft", "dim", dim, -1, "axis", axis)
    _bound = (input, n, dim, norm)
    if out is not None:
        return with_out(_fft_rfft, _bound, out)
    return _dispatch(_fft_rfft, _bound)


def fft_rfft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2,
    -1),
    norm: str | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Fourier transform of a real signal, the non-negative frequencies, along two dims.

    It is `fft.rfft` along the last of these dims, `fft.fft` along the others.

    Args:
        input: real; integers are taken as the default dtype.
        s: the length of the signal along each of these dims, as `n` of `fft.rfft` and
            `fft.fft`; -1 is their None, as is None for all.
        dim: the two dims.
        norm: the factor of the result, with n the product of the lengths:
            1 by "backward" or None, 1 / sqrt(n) by "ortho", 1 / n by "forward".

    Returns: a complex tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `s` and `dim` differ in length, a dim is named twice, a length is less
            than 1, `norm` is unknown, or `input` is complex or of half precision.

    Example:
        >>> gw.fft.rfft2(gw.ones(4, 6)).shape
        graphwright.Size([4, 4])
    """
    if surplus is not ...:
        refuse_surplus("fft_rfft2")
    if axis is not ...:
        dim = same_as("fft_rfft2", "dim", dim, (-2, -1), "axis", axis)
    _bound = (input, s, dim, norm)
    if out is not None:
        return with_out(_fft_rfft2, _bound, out)
    return _dispatch(_fft_rfft2, _bound)


def fft_rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Frequencies of the elements of `fft.rfft`, in cycles per unit of `d`.

    `[0, 1, ..., n // 2] / (n * d)`.

    Args:
        n: the length of the signal.
        d: the distance between samples.
        dtype: floating point or complex; the default dtype if None.
        device: the CPU.

    Returns: a tensor of shape `(n // 2 + 1,)`.

    Raises:
        RuntimeError: `dtype` is that of integers.

    Example:
        >>> gw.fft.rfftfreq(4)
        tensor([0.0000, 0.2500, 0.5000])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("fft_rfftfreq", layout, pin_memory)
    _bound = (n, d, dtype, device)
    if out is not None:
        return with_out(_fft_rfftfreq, _bound, out)
    return _require(requires_grad, _dispatch(_fft_rfftfreq, _bound))


def fft_rfftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Fourier transform of a real signal, the non-negative frequencies, along several dims.

    It is `fft.rfft` along the last of these dims, `fft.fft` along the others.

    Args:
        input: real; integers are taken as the default dtype.
        s: the length of the signal along each of these dims, as `n` of `fft.rfft` and
            `fft.fft`; -1 is their None, as is None for all.
        dim: the dims that are transformed; the last `len(s)` if None, all without `s`.
        norm: the factor of the result, with n the product of the lengths:
            1 by "backward" or None, 1 / sqrt(n) by "ortho", 1 / n by "forward".

    Returns: a complex tensor.

    Raises:
        IndexError: `input` has no such dim.
        RuntimeError: `s` and `dim` differ in length, a dim is named twice, a length is less
            than 1, `norm` is unknown, or `input` is complex or of half precision.

    Example:
        >>> gw.fft.rfftn(gw.ones(4, 6)).shape
        graphwright.Size([4, 4])
    """
    if surplus is not ...:
        refuse_surplus("fft_rfftn")
    if axis is not ...:
        dim = same_as("fft_rfftn", "dim", dim, None, "axis", axis)
    _bound = (input, s, dim, norm)
    if out is not None:
        return with_out(_fft_rfftn, _bound, out)
    return _dispatch(_fft_rfftn, _bound)


def fill(input: Tensor, value: Tensor | Number) -> Any:
    """Copy of a tensor with every element set to one value.

    Args:
        input: a tensor of any shape and dtype.
        value: a number, or a tensor without dims.

    Returns: a tensor of the shape and dtype of `input`.

    Raises:
        RuntimeError: `value` has dims.
        TypeError: `value` is neither.

    Example:
        >>> gw.fill(gw.zeros(3), 2)
        tensor([2., 2., 2.])
    """
    return _dispatch(_fill, (input, value))


def fill_(input: Tensor, value: Tensor | Number) -> Any:
    """In place: writes what `fill` gives into the tensor, and returns it."""
    return _dispatch(_fill_, (input, value))


def fill_diagonal_(input: Tensor, fill_value: Number, wrap: bool = False) -> Any:
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
    return _dispatch(_fill_diagonal_, (input, fill_value, wrap))


def first_bad_minor(A: Tensor) -> Any:
    return _dispatch(_first_bad_minor, (A,))


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Any:
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
        _bound = (input, wrap_dim(start_dim, input.ndim), wrap_dim(end_dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_flatten, (input, start_dim, end_dim), _error)
    return _dispatch(_flatten, _bound)


def flip(input: Tensor, dims: Sequence[int]) -> Any:
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
    try:
        _bound = (input, as_size(dims))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_flip, (input, dims), _error)
    return _dispatch(_flip, _bound)


def fliplr(input: Tensor) -> Any:
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
    return _dispatch(_fliplr, (input,))


def flipud(input: Tensor) -> Any:
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
    return _dispatch(_flipud, (input,))


def float_power(input: Tensor | Number, exponent: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, exponent)
    if out is not None:
        return with_out(_float_power, _bound, out)
    return _dispatch(_float_power, _bound)


def float_power_(input: Tensor, exponent: Tensor | Number) -> Any:
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
    return _dispatch(_float_power_, (input, exponent))


def floor(input: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input,)
    if out is not None:
        return with_out(_floor, _bound, out)
    return _dispatch(_floor, _bound)


def floor_(input: Tensor) -> Any:
    """In place: writes what `floor` gives into the tensor, and returns it."""
    return _dispatch(_floor_, (input,))


def floor_divide(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_floor_divide, _bound, out)
    return _dispatch(_floor_divide, _bound)


def floor_divide_(input: Tensor, other: Tensor | Number) -> Any:
    """In place: writes what `floor_divide` gives into the tensor, and returns it."""
    return _dispatch(_floor_divide_, (input, other))


def fmax(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_fmax, _bound, out)
    return _dispatch(_fmax, _bound)


def fmin(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_fmin, _bound, out)
    return _dispatch(_fmin, _bound)


def fmod(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_fmod, _bound, out)
    return _dispatch(_fmod, _bound)


def fmod_(input: Tensor, other: Tensor | Number) -> Any:
    """In place: writes what `fmod` gives into the tensor, and returns it."""
    return _dispatch(_fmod_, (input, other))


def frac(input: Tensor, *, out: Any = None) -> Any:
    """Fraction of each element, `x - trunc(x)`, of the sign of `x`.

    Args:
        input: a tensor of any shape.

    Raises:
        NotImplementedError: the dtype of `input` is bool, integer or complex.

    Example:
        >>> gw.frac(gw.tensor([-1.5, 2.25]))
        tensor([-0.5000,  0.2500])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_frac, _bound, out)
    return _dispatch(_frac, _bound)


def frac_(input: Tensor) -> Any:
    """In place: writes what `frac` gives into the tensor, and returns it."""
    return _dispatch(_frac_, (input,))


def fractional_max_pool(
    input: Tensor,
    samples: Tensor,
    kernel_size: Sequence[int],
    output_size: Sequence[int],
) -> Any:
    try:
        _bound = (input, samples, as_size(kernel_size), as_size(output_size))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _fractional_max_pool,
            (
                input,
                samples,
                kernel_size,
                output_size,
            ),
            _error,
        )
    return _dispatch(_fractional_max_pool, _bound)


def frexp(input: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input,)
    if out is not None:
        return with_out(_frexp, _bound, out)
    return _dispatch(_frexp, _bound)


def frexp_parts(input: Tensor) -> Any:
    return _dispatch(_frexp_parts, (input,))


def full(
    size: Sequence[int],
    fill_value: Number,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Tensor filled with one number.

    Args:
        size: the shape.
        fill_value: the number, also a tensor without dims.
        dtype: that of the result; if None, int64, bool, or the default dtype for a float,
            complex for a complex number.
        device: where the result is made; the default device if None.

    Returns: a contiguous tensor.

    Raises:
        RuntimeError: a size is negative, or the dtype does not hold the number.

    Example:
        >>> gw.full((2, 2), 7)
        tensor([[7, 7],
                [7, 7]])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("full", layout, pin_memory)
    try:
        _bound = (as_size(size), fill_value, dtype, device)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_full, (size, fill_value, dtype, device), _error)
    if out is not None:
        return with_out(_full, _bound, out)
    return _require(requires_grad, _dispatch(_full, _bound))


def full_like(
    input: Tensor,
    fill_value: Number,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    memory_format: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Tensor of the shape of another one, filled with one number.

    Args:
        input: the tensor whose shape, order of strides and dtype are taken.
        fill_value: the number, also a tensor without dims.
        dtype: that of the result; that of `input` if None.
        device: where the result is made; that of `input` if None.

    Returns: a new dense tensor.

    Raises:
        RuntimeError: the dtype does not hold the number.

    Example:
        >>> gw.full_like(gw.ones(3), 7)
        tensor([7., 7., 7.])
    """
    if layout is not None or pin_memory:
        check_placement("full_like", layout, pin_memory)
    if memory_format is not None:
        _made = _dispatch(_full_like, (input, fill_value, dtype, device))
        return _require(requires_grad, in_format("full_like", _made, memory_format))
    return _require(requires_grad, _dispatch(_full_like, (input, fill_value, dtype, device)))


def fused_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    is_causal: bool,
    scale: float,
) -> Any:
    return _dispatch(_fused_attention, (query, key, value, attn_mask, is_causal, scale))


def gated(input: Tensor, gate: Tensor) -> Any:
    return _dispatch(_gated, (input, gate))


def gather(
    input: Tensor,
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    axis: Any = ...,
    *,
    sparse_grad: bool = False,
    out: Any = None,
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
        _bound = (input, wrap_dim(dim, input.ndim), index, sparse_grad)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_gather, (input, dim, index, sparse_grad), _error)
    if out is not None:
        return with_out(_gather, _bound, out)
    return _dispatch(_gather, _bound)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor,
    full: bool = False,
    eps: float = 1e-06,
    reduction: str = "mean",
) -> Any:
    return _dispatch(_gaussian_nll_loss, (input, target, var, full, eps, reduction))


def gcd(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_gcd, _bound, out)
    return _dispatch(_gcd, _bound)


def gcd_(input: Tensor, other: Tensor) -> Any:
    """In place: writes what `gcd` gives into the tensor, and returns it."""
    return _dispatch(_gcd_, (input, other))


def ge(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_ge, _bound, out)
    return _dispatch(_ge, _bound)


def ge_(input: Tensor, other: Tensor | Number) -> Any:
    """In place: writes what `ge` gives into the tensor, and returns it."""
    return _dispatch(_ge_, (input, other))


def gelu(input: Tensor, *, approximate: str = "none", out: Any = None) -> Any:
    """Gaussian error linear unit, `y = x Phi(x)`, Phi the standard normal distribution.

    Hendrycks and Gimpel, "Gaussian error linear units", 2016.

    Args:
        input: a floating-point tensor of any shape.
        approximate: "none", or "tanh" for `x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.
        RuntimeError: `approximate` has another value.

    Example:
        >>> F.gelu(gw.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.1587,  0.0000,  0.8413])
    """
    _bound = (input, approximate)
    if out is not None:
        return with_out(_gelu, _bound, out)
    return _dispatch(_gelu, _bound)


def gelu_backward(grad: Tensor, input: Tensor, approximate: str) -> Any:
    return _dispatch(_gelu_backward, (grad, input, approximate))


def general_eigen(A: Tensor) -> Any:
    return _dispatch(_general_eigen, (A,))


def geometric_(input: Tensor, p: float, *, generator: Any = None) -> Any:
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
    return _dispatch(_geometric_, (input, p, generator))


def geqrf(input: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input,)
    if out is not None:
        return with_out(_geqrf, _bound, out)
    return _dispatch(_geqrf, _bound)


def glu(input: Tensor, dim: int = -1, surplus: Any = ..., axis: Any = ...) -> Any:
    """Gated linear unit, `a * sigmoid(b)` for the halves a, b of `input` along a dim.

    Dauphin et al., "Language modeling with gated convolutional networks", 2016.

    Args:
        input: a floating-point tensor with at least one dim.
        dim: the dim that is halved, of even size.

    Returns: a tensor of half the size in `dim`.

    Raises:
        IndexError: `input` has no such dim.
        NotImplementedError: `input` is not a floating-point tensor.
        RuntimeError: the size of `dim` is odd, or `input` has no dims.

    Example:
        >>> F.glu(gw.tensor([1.0, 2.0, 0.0, 0.0]))
        tensor([0.5000, 1.0000])
    """
    if surplus is not ...:
        refuse_surplus("glu")
    if axis is not ...:
        dim = same_as("glu", "dim", dim, -1, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_glu, (input, dim), _error)
    return _dispatch(_glu, _bound)


def gradient(
    input: Tensor,
    *,
    spacing: Any = None,
    dim: int | Sequence[int] | None = None,
    edge_order: int = 1,
    axis: Any = ...,
) -> Any:
    """Numerical derivatives of samples along each dim, by finite differences.

    Inside it is the central difference, of second order, which is exact for parabolas also
    with uneven spacing; at both edges it is a one-sided one.

    Args:
        input: a tensor of samples; integers are converted to the default dtype.
        spacing: the distance of samples: a number for all dims, or a list with a number or a
            vector of places for each dim; 1 if None.
        dim: the dim or dims; all if None.
        edge_order: 1 or 2, the order of the one-sided differences.

    Returns: a tuple with a tensor of the shape of `input` for each dim.

    Raises:
        RuntimeError: a dim has fewer than `edge_order + 1` samples or is named twice,
            `edge_order` is another number, `input` is bool or uint8, or the spacing does not
            suit the dims.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.gradient(gw.tensor([1.0, 4.0, 9.0, 16.0]))
        (tensor([3., 4., 6., 7.]),)
    """
    if axis is not ...:
        dim = same_as("gradient", "dim", dim, None, "axis", axis)
    return _dispatch(_gradient, (input, spacing, dim, edge_order))


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str,
    padding_mode: str,
    align_corners: bool,
) -> Any:
    return _dispatch(_grid_sample, (input, grid, mode, padding_mode, align_corners))


def grid_sampler(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Any:
    """Values of images at the points of a grid: `F.grid_sample` with numbered modes.

    Args:
        input: floating point, `(N, C, H, W)` or `(N, C, D, H, W)`.
        grid: points of the dtype of `input`, `(N, h, w, 2)` or `(N, d, h, w, 3)`: x, y (and z)
            from -1 to 1, the first along W.
        interpolation_mode: 0 bilinear, 1 nearest, 2 bicubic (4 dims only).
        padding_mode: what lies outside: 0 zeros, 1 the border, 2 the image reflected.
        align_corners: -1 and 1 are the centres of the outermost elements; their edges if False.

    Returns: a tensor of shape `(N, C, h, w)` or `(N, C, d, h, w)`.

    Raises:
        RuntimeError: shapes or dtypes do not match.
        ValueError: there is no such mode.

    Example:
        >>> image = gw.tensor([[[[0.0, 1.0], [2.0, 3.0]]]])
        >>> gw.grid_sampler(image, gw.zeros(1, 1, 1, 2), 0, 0, False)
        tensor([[[[1.5000]]]])
    """
    return _dispatch(_grid_sampler, (input, grid, interpolation_mode, padding_mode, align_corners))


def grid_sampler_2d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Any:
    """Values of images at the points of a grid: `F.grid_sample` with numbered modes.

    Args:
        input: floating point, `(N, C, H, W)` or `(N, C, D, H, W)`.
        grid: points of the dtype of `input`, `(N, h, w, 2)` or `(N, d, h, w, 3)`: x, y (and z)
            from -1 to 1, the first along W.
        interpolation_mode: 0 bilinear, 1 nearest, 2 bicubic (4 dims only).
        padding_mode: what lies outside: 0 zeros, 1 the border, 2 the image reflected.
        align_corners: -1 and 1 are the centres of the outermost elements; their edges if False.

    Returns: a tensor of shape `(N, C, h, w)` or `(N, C, d, h, w)`.

    Raises:
        RuntimeError: shapes or dtypes do not match.
        ValueError: there is no such mode.

    Example:
        >>> image = gw.tensor([[[[0.0, 1.0], [2.0, 3.0]]]])
        >>> gw.grid_sampler(image, gw.zeros(1, 1, 1, 2), 0, 0, False)
        tensor([[[[1.5000]]]])
    """
    return _dispatch(
        _grid_sampler_2d, (input, grid, interpolation_mode, padding_mode, align_corners)
    )


def grid_sampler_3d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Any:
    """Values of images at the points of a grid: `F.grid_sample` with numbered modes.

    Args:
        input: floating point, `(N, C, H, W)` or `(N, C, D, H, W)`.
        grid: points of the dtype of `input`, `(N, h, w, 2)` or `(N, d, h, w, 3)`: x, y (and z)
            from -1 to 1, the first along W.
        interpolation_mode: 0 bilinear, 1 nearest, 2 bicubic (4 dims only).
        padding_mode: what lies outside: 0 zeros, 1 the border, 2 the image reflected.
        align_corners: -1 and 1 are the centres of the outermost elements; their edges if False.

    Returns: a tensor of shape `(N, C, h, w)` or `(N, C, d, h, w)`.

    Raises:
        RuntimeError: shapes or dtypes do not match.
        ValueError: there is no such mode.

    Example:
        >>> image = gw.tensor([[[[0.0, 1.0], [2.0, 3.0]]]])
        >>> gw.grid_sampler(image, gw.zeros(1, 1, 1, 2), 0, 0, False)
        tensor([[[[1.5000]]]])
    """
    return _dispatch(
        _grid_sampler_3d, (input, grid, interpolation_mode, padding_mode, align_corners)
    )


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Any:
    return _dispatch(_group_norm, (input, num_groups, weight, bias, eps))


def group_norm_backward(
    grad: Tensor,
    input: Tensor,
    num_groups: int,
    weight: Tensor | None,
    eps: float,
) -> Any:
    return _dispatch(_group_norm_backward, (grad, input, num_groups, weight, eps))


def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: DType | None = None,
) -> Any:
    """Matrix products of groups of rows (or of a shared dim), one product for each group.

    Args:
        mat_a: float32, float16 or bfloat16, of any layout, `(n, k)` or `(g, n, k)`.
        mat_b: of the dtype of `mat_a`, `(k, m)` or `(g, k, m)`.
        offs: int32, `(g,)`: where each group ends in the dim that has no batch: rows of
            `mat_a`, columns of `mat_b`, or the shared dim where both have 2 dims. None for two
            tensors of 3 dims, and only for those. What lies behind the last end is left out.
        bias: must be None.
        out_dtype: None, or the dtype of `mat_a`.

    Returns: a contiguous tensor: `(n, m)`, or `(g, n, m)` where the numbers of dims are the
    same.

    Raises:
        RuntimeError: shapes, dtypes or `offs` do not match, or `bias` is given.

    Example:
        >>> ends = gw.tensor([1, 4], dtype=gw.int32)
        >>> F.grouped_mm(gw.ones(4, 2), gw.ones(2, 2, 3), offs=ends).shape
        graphwright.Size([4, 3])
    """
    return _dispatch(_grouped_mm, (mat_a, mat_b, offs, bias, out_dtype))


def grouped_product(
    mat_a: Tensor,
    mat_b: Tensor,
    offs: Tensor | None,
    columns_a: bool = False,
    columns_b: bool = False,
) -> Any:
    return _dispatch(_grouped_product, (mat_a, mat_b, offs, columns_a, columns_b))


def gt(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_gt, _bound, out)
    return _dispatch(_gt, _bound)


def gt_(input: Tensor, other: Tensor | Number) -> Any:
    """In place: writes what `gt` gives into the tensor, and returns it."""
    return _dispatch(_gt_, (input, other))


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Hamming window: `w_i = alpha - beta cos(2 pi i / N)`, with N as of `hann_window`.

    Args:
        window_length: the number of elements.
        periodic: N is the length, for windows that follow one another; else the window is
            symmetric.
        alpha, beta: the two coefficients.
        dtype: that of the result, floating point; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a vector.

    Raises:
        RuntimeError: the length is negative, or `dtype` is not floating point.

    Example:
        >>> gw.hamming_window(4)
        tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("hamming_window", layout, pin_memory)
    return _require(
        requires_grad, _dispatch(_hamming_window,
        (
            window_length,
            periodic,
            alpha,
            beta,
            dtype,
            device),
        ),
    )


def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Hann window: `w_i = (1 - cos(2 pi i / N)) / 2`, with N the length, or the length less 1.

    Args:
        window_length: the number of elements.
        periodic: N is the length, for windows that follow one another; else the window is
            symmetric.
        dtype: that of the result, floating point; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a vector.

    Raises:
        RuntimeError: the length is negative, or `dtype` is not floating point.

    Example:
        >>> gw.hann_window(4)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("hann_window", layout, pin_memory)
    return _require(
        requires_grad, _dispatch(_hann_window, (window_length, periodic, dtype, device))
    )


def hardshrink(input: Tensor, lambd: float = 0.5, *, out: Any = None) -> Any:
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
    _bound = (input, lambd)
    if out is not None:
        return with_out(_hardshrink, _bound, out)
    return _dispatch(_hardshrink, _bound)


def hardshrink_backward(grad: Tensor, input: Tensor, lambd: float) -> Any:
    return _dispatch(_hardshrink_backward, (grad, input, lambd))


def hardsigmoid(input: Tensor) -> Any:
    return _dispatch(_hardsigmoid, (input,))


def hardsigmoid_(input: Tensor) -> Any:
    return _dispatch(_hardsigmoid_, (input,))


def hardsigmoid_backward(grad: Tensor, input: Tensor) -> Any:
    return _dispatch(_hardsigmoid_backward, (grad, input))


def hardswish(input: Tensor) -> Any:
    return _dispatch(_hardswish, (input,))


def hardswish_(input: Tensor) -> Any:
    return _dispatch(_hardswish_, (input,))


def hardswish_backward(grad: Tensor, input: Tensor) -> Any:
    return _dispatch(_hardswish_backward, (grad, input))


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """Elements limited to a range: `min(max(x, min_val), max_val)`.

    Args:
        input: a real tensor of any shape.
        min_val: the lower limit.
        max_val: the upper limit.

    Example:
        >>> F.hardtanh(gw.tensor([-2.0, 0.5, 2.0]))
        tensor([-1.0000,  0.5000,  1.0000])
    """
    return _dispatch(_hardtanh, (input, min_val, max_val))


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """In place: writes what `hardtanh` gives into the tensor, and returns it."""
    return _dispatch(_hardtanh_, (input, min_val, max_val))


def hardtanh_backward(grad: Tensor, input: Tensor, min_val: float, max_val: float) -> Any:
    return _dispatch(_hardtanh_backward, (grad, input, min_val, max_val))


def heaviside(input: Tensor, values: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, values)
    if out is not None:
        return with_out(_heaviside, _bound, out)
    return _dispatch(_heaviside, _bound)


def heaviside_(input: Tensor, values: Tensor) -> Any:
    """In place: writes what `heaviside` gives into the tensor, and returns it."""
    return _dispatch(_heaviside_, (input, values))


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    reduction: str = "mean",
) -> Any:
    return _dispatch(_hinge_embedding_loss, (input, target, margin, reduction))


def histc(
    input: Tensor,
    bins: int = 100,
    min: Number = 0,
    max: Number = 0,
    *,
    out: Any = None,
) -> Any:
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
    _bound = (input, bins, min, max)
    if out is not None:
        return with_out(_histc, _bound, out)
    return _dispatch(_histc, _bound)


def histogram(
    input: Tensor,
    bins: Any = 100,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: bool = False,
    out: Any = None,
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
    _bound = (input, bins, range, weight, density)
    if out is not None:
        return with_out(_histogram, _bound, out)
    return _dispatch(_histogram, _bound)


def histogram_counts(input: Tensor, edges: Tensor, weight: Tensor | None, density: bool) -> Any:
    return _dispatch(_histogram_counts, (input, edges, weight, density))


def histogram_edges(input: Tensor, bins: int, range: Any) -> Any:
    return _dispatch(_histogram_edges, (input, bins, range))


def histogramdd(
    input: Tensor,
    bins: Any,
    range: Any = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Any:
    """How many points fall into each bin of a grid, and the edges of the bins along each dim.

    Args:
        input: a float32 or float64 tensor of shape (..., D): points of D coordinates.
        bins: the number of equally wide bins of each dim: an int for all, or a sequence of D
            ints; or a sequence of D vectors of increasing edges.
        range: the outer edges, `2 D` numbers; those of the coordinates if None.
        weight: a tensor of the shape (...) and dtype of `input`: how much each point counts; 1
            if None.
        density: divide by the sum and the volumes of the bins, so that the integral is 1.

    Returns: the named tuple `(hist, bin_edges)`: a tensor of D dims, and D vectors.

    Raises:
        NotImplementedError: `input` has another dtype.
        RuntimeError: `input` has fewer than two dims, or shapes, dtypes, the number of `bins`
            or of `range` do not match.

    Example:
        >>> gw.histogramdd(gw.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), [2, 2]).hist
        tensor([[0., 1.],
                [1., 1.]])
    """
    return _dispatch(_histogramdd, (input, bins, range, weight, density))


def histogramdd_counts(input: Tensor, edges: Sequence[Tensor], weight: Tensor | None) -> Any:
    return _dispatch(_histogramdd_counts, (input, as_tensors(edges, "histogramdd_counts"), weight))


def hsplit(
    input: Tensor,
    indices_or_sections: int | Sequence[int] | None = None,
    *,
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
    return _dispatch(_hsplit, (input, indices_or_sections, sections, indices))


def hstack(tensors: Sequence[Tensor], *, out: Any = None) -> Any:
    """Tensors joined along the second dim; vectors along their only one.

    Args:
        tensors: tensors whose other sizes are equal, at least one.

    Returns: a new tensor.

    Raises:
        RuntimeError: there are no tensors, or their shapes do not match.

    Example:
        >>> gw.hstack((gw.tensor([1, 2]), gw.tensor([3])))
        tensor([1, 2, 3])
    """
    _bound = (as_tensors(tensors, "hstack"),)
    if out is not None:
        return with_out(_hstack, _bound, out)
    return _dispatch(_hstack, _bound)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Any:
    return _dispatch(_huber_loss, (input, target, reduction, delta))


def hypot(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_hypot, _bound, out)
    return _dispatch(_hypot, _bound)


def hypot_(input: Tensor, other: Tensor) -> Any:
    """In place: writes what `hypot` gives into the tensor, and returns it."""
    return _dispatch(_hypot_, (input, other))


def i0(input: Tensor, *, out: Any = None) -> Any:
    """Modified Bessel function of the first kind and order 0 (DLMF 10.25).

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is complex.

    Example:
        >>> gw.i0(gw.tensor([0.0, 1.0]))
        tensor([1.0000, 1.2661])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_i0, _bound, out)
    return _dispatch(_i0, _bound)


def i0_(input: Tensor) -> Any:
    """In place: writes what `i0` gives into the tensor, and returns it."""
    return _dispatch(_i0_, (input,))


def igamma(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_igamma, _bound, out)
    return _dispatch(_igamma, _bound)


def igamma_(input: Tensor, other: Tensor) -> Any:
    """In place: writes what `igamma` gives into the tensor, and returns it."""
    return _dispatch(_igamma_, (input, other))


def igammac(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_igammac, _bound, out)
    return _dispatch(_igammac, _bound)


def igammac_(input: Tensor, other: Tensor) -> Any:
    """In place: writes what `igammac` gives into the tensor, and returns it."""
    return _dispatch(_igammac_, (input, other))


def im2col(
    input: Tensor,
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int],
    padding: int | Sequence[int],
    stride: int | Sequence[int],
) -> Any:
    try:
        _bound = (
            input,
            as_pair(kernel_size),
            as_pair(dilation),
            as_pair(padding),
            as_pair(stride),
        )
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_im2col, (input, kernel_size, dilation, padding, stride), _error)
    return _dispatch(_im2col, _bound)


def imag(input: Tensor) -> Any:
    """Imaginary part of each element.

    Args:
        input: a complex tensor of any shape.

    Returns: a real view of `input`.

    Raises:
        RuntimeError: `input` is not complex.

    Example:
        >>> gw.imag(gw.tensor([3 + 4j]))
        tensor([4.])
    """
    return _dispatch(_imag, (input,))


def index(input: Tensor, indices: Sequence[Tensor | None]) -> Any:
    return _dispatch(_index, (input, as_tensors(indices, "index")))


def index_add(
    input: Tensor,
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    source: Any = REQUIRED,
    axis: Any = ...,
    *,
    alpha: Number = 1,
    out: Any = None,
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
        _bound = (input, wrap_dim(dim, input.ndim), index, source, alpha)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_index_add, (input, dim, index, source, alpha), _error)
    if out is not None:
        return with_out(_index_add, _bound, out)
    return _dispatch(_index_add, _bound)


def index_add_(
    input: Tensor,
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
        _bound = (input, wrap_dim(dim, input.ndim), index, source, alpha)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_index_add_, (input, dim, index, source, alpha), _error)
    return _dispatch(_index_add_, _bound)


def index_copy(
    input: Tensor,
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    source: Any = REQUIRED,
    axis: Any = ...,
    *,
    out: Any = None,
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
        _bound = (input, wrap_dim(dim, input.ndim), index, source)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_index_copy, (input, dim, index, source), _error)
    if out is not None:
        return with_out(_index_copy, _bound, out)
    return _dispatch(_index_copy, _bound)


def index_copy_(
    input: Tensor,
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    source: Any = REQUIRED,
    axis: Any = ...,
) -> Any:
    """In place: writes what `index_copy` gives into the tensor, and returns it."""
    if axis is not ...:
        dim = same_as("index_copy_", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim), index, source)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_index_copy_, (input, dim, index, source), _error)
    return _dispatch(_index_copy_, _bound)


def index_fill(
    input: Tensor,
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
        _bound = (input, wrap_dim(dim, input.ndim), index, value)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_index_fill, (input, dim, index, value), _error)
    return _dispatch(_index_fill, _bound)


def index_fill_(
    input: Tensor,
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    value: Any = REQUIRED,
    axis: Any = ...,
) -> Any:
    """In place: writes what `index_fill` gives into the tensor, and returns it."""
    if axis is not ...:
        dim = same_as("index_fill_", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim), index, value)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_index_fill_, (input, dim, index, value), _error)
    return _dispatch(_index_fill_, _bound)


def index_put(
    input: Tensor,
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
    return _dispatch(_index_put, (input, as_tensors(indices, "index_put"), values, accumulate))


def index_put_(
    input: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool = False,
) -> Any:
    """In place: writes what `index_put` gives into the tensor, and returns it."""
    return _dispatch(_index_put_, (input, as_tensors(indices, "index_put_"), values, accumulate))


def index_reduce(
    input: Tensor,
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    source: Any = REQUIRED,
    reduce: Any = REQUIRED,
    axis: Any = ...,
    *,
    include_self: bool = True,
    out: Any = None,
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
        _bound = (input, wrap_dim(dim, input.ndim), index, source, reduce, include_self)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _index_reduce,
            (
                input,
                dim,
                index,
                source,
                reduce,
                include_self,
            ),
            _error,
        )
    if out is not None:
        return with_out(_index_reduce, _bound, out)
    return _dispatch(_index_reduce, _bound)


def index_reduce_(
    input: Tensor,
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
        _bound = (input, wrap_dim(dim, input.ndim), index, source, reduce, include_self)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _index_reduce_,
            (
                input,
                dim,
                index,
                source,
                reduce,
                include_self,
            ),
            _error,
        )
    return _dispatch(_index_reduce_, _bound)


def index_select(
    input: Tensor,
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
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
        _bound = (input, wrap_dim(dim, input.ndim), index)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_index_select, (input, dim, index), _error)
    if out is not None:
        return with_out(_index_select, _bound, out)
    return _dispatch(_index_select, _bound)


def inner(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_inner, _bound, out)
    return _dispatch(_inner, _bound)


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
) -> Any:
    return _dispatch(
        _instance_norm,
        (
            input,
            weight,
            bias,
            running_mean,
            running_var,
            use_input_stats,
            momentum,
            eps,
        ),
    )


def interpolate(
    input: Tensor,
    size: Sequence[int],
    mode: str,
    align_corners: bool,
    scale_factors: Any,
    antialias: bool,
) -> Any:
    try:
        _bound = (input, as_size(size), mode, align_corners, scale_factors, antialias)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _interpolate,
            (
                input,
                size,
                mode,
                align_corners,
                scale_factors,
                antialias,
            ),
            _error,
        )
    return _dispatch(_interpolate, _bound)


def inverse(input: Tensor) -> Any:
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
    return _dispatch(_inverse, (input,))


def isclose(
    input: Tensor,
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
    return _dispatch(_isclose, (input, other, rtol, atol, equal_nan))


def isfinite(input: Tensor) -> Any:
    """Whether each element is neither infinite nor nan; of complex numbers, both parts.

    Args:
        input: a tensor of any shape.

    Returns: a bool tensor of the shape of `input`.

    Example:
        >>> gw.isfinite(gw.tensor([1.0, float("inf")]))
        tensor([ True, False])
    """
    return _dispatch(_isfinite, (input,))


def isin(
    elements: Tensor | Number,
    test_elements: Tensor | Number,
    *,
    assume_unique: bool = False,
    invert: bool = False,
    out: Any = None,
) -> Any:
    """Whether each element is among the test elements.

    Args:
        elements: a real tensor, or a number.
        test_elements: a real tensor, or a number where `elements` is a tensor.
        assume_unique: both hold each value only once; the result is the same.
        invert: whether each element is not among them.

    Returns: a bool tensor of the shape of `elements`.

    Raises:
        TypeError: both are numbers.
        RuntimeError: one is bool or complex.

    Example:
        >>> gw.isin(gw.tensor([1, 2, 3]), gw.tensor([2, 4]))
        tensor([False,  True, False])
    """
    _bound = (elements, test_elements, assume_unique, invert)
    if out is not None:
        return with_out(_isin, _bound, out)
    return _dispatch(_isin, _bound)


def isinf(input: Tensor) -> Any:
    """Whether each element is inf or -inf; of complex numbers, whether a part is.

    Args:
        input: a tensor of any shape.

    Returns: a bool tensor of the shape of `input`.

    Example:
        >>> gw.isinf(gw.tensor([1.0, float("-inf")]))
        tensor([False,  True])
    """
    return _dispatch(_isinf, (input,))


def isnan(input: Tensor) -> Any:
    """Whether each element is nan; of complex numbers, whether a part is.

    Args:
        input: a tensor of any shape.

    Returns: a bool tensor of the shape of `input`.

    Example:
        >>> gw.isnan(gw.tensor([1.0, float("nan")]))
        tensor([False,  True])
    """
    return _dispatch(_isnan, (input,))


def isneginf(input: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input,)
    if out is not None:
        return with_out(_isneginf, _bound, out)
    return _dispatch(_isneginf, _bound)


def isposinf(input: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input,)
    if out is not None:
        return with_out(_isposinf, _bound, out)
    return _dispatch(_isposinf, _bound)


def isreal(input: Tensor) -> Any:
    """Whether each element has the imaginary part 0, as all elements of real tensors have.

    Args:
        input: a tensor of any shape and dtype.

    Returns: a bool tensor of the shape of `input`.

    Example:
        >>> gw.isreal(gw.tensor([1 + 0j, 1j]))
        tensor([ True, False])
    """
    return _dispatch(_isreal, (input,))


def istft(
    input: Tensor,
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
            input,
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


def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Kaiser window: `w_i = I0(beta sqrt(1 - (2 i / N - 1)^2)) / I0(beta)`.

    I0 is the modified Bessel function of the first kind of order 0.

    Args:
        window_length: the number of elements.
        periodic: N is the length, for windows that follow one another; else the length less 1,
            and the window is symmetric.
        beta: the shape: the greater, the narrower.
        dtype: that of the result, floating point; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a vector.

    Raises:
        RuntimeError: the length is negative, or `dtype` is not floating point.

    Example:
        >>> gw.kaiser_window(4, beta=1.0)
        tensor([0.7898, 0.9450, 1.0000, 0.9450])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("kaiser_window", layout, pin_memory)
    return _require(
        requires_grad, _dispatch(_kaiser_window, (window_length, periodic, beta, dtype, device))
    )


def kl_div(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    return _dispatch(_kl_div, (input, target, reduction, log_target))


def kron(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_kron, _bound, out)
    return _dispatch(_kron, _bound)


def kth_position(input: Tensor, k: int, dim: Any = REQUIRED, axis: Any = ...) -> Any:
    if axis is not ...:
        dim = same_as("kth_position", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, k, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_kth_position, (input, k, dim), _error)
    return _dispatch(_kth_position, _bound)


def kthvalue(
    input: Tensor,
    k: int,
    dim: int = -1,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    out: Any = None,
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
        _bound = (input, k, wrap_dim(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_kthvalue, (input, k, dim, keepdim), _error)
    if out is not None:
        return with_out(_kthvalue, _bound, out)
    return _dispatch(_kthvalue, _bound)


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Any:
    return _dispatch(_l1_loss, (input, target, reduction))


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Any:
    """Elements less their mean, divided by their standard deviation, over the last dims.

    `y = (x - mean) / sqrt(var + eps) * weight + bias`, with the biased variance (Ba et al.,
    "Layer normalization", 2016).

    Args:
        input: floating point, `(*, *normalized_shape)`.
        normalized_shape: the sizes of the last dims, which are normalised together.
        weight: factors of shape `normalized_shape`; 1 if None.
        bias: terms of shape `normalized_shape`; 0 if None.
        eps: added to the variance.

    Returns: a tensor of the shape of `input`.

    Raises:
        NotImplementedError: `input` holds integers.
        RuntimeError: shapes do not match.

    Example:
        >>> F.layer_norm(gw.tensor([[1.0, 3.0], [2.0, 6.0]]), (2,))
        tensor([[-1.0000,  1.0000],
                [-1.0000,  1.0000]])
    """
    try:
        _bound = (input, as_size(normalized_shape), weight, bias, eps)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_layer_norm, (input, normalized_shape, weight, bias, eps), _error)
    return _dispatch(_layer_norm, _bound)


def layer_norm_backward(
    grad: Tensor,
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    mean: Tensor,
    rstd: Tensor,
) -> Any:
    try:
        _bound = (grad, input, as_size(normalized_shape), weight, mean, rstd)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _layer_norm_backward,
            (
                grad,
                input,
                normalized_shape,
                weight,
                mean,
                rstd,
            ),
            _error,
        )
    return _dispatch(_layer_norm_backward, _bound)


def layer_norm_gradients(
    grad: Tensor,
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    mean: Tensor,
    rstd: Tensor,
) -> Any:
    try:
        _bound = (grad, input, as_size(normalized_shape), weight, mean, rstd)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _layer_norm_gradients,
            (
                grad,
                input,
                normalized_shape,
                weight,
                mean,
                rstd,
            ),
            _error,
        )
    return _dispatch(_layer_norm_gradients, _bound)


def lcm(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_lcm, _bound, out)
    return _dispatch(_lcm, _bound)


def lcm_(input: Tensor, other: Tensor) -> Any:
    """In place: writes what `lcm` gives into the tensor, and returns it."""
    return _dispatch(_lcm_, (input, other))


def ldexp(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_ldexp, _bound, out)
    return _dispatch(_ldexp, _bound)


def ldexp_(input: Tensor, other: Tensor) -> Any:
    """In place: writes what `ldexp` gives into the tensor, and returns it."""
    return _dispatch(_ldexp_, (input, other))


def ldl_factors(A: Tensor, hermitian: bool, strict: bool) -> Any:
    return _dispatch(_ldl_factors, (A, hermitian, strict))


def le(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_le, _bound, out)
    return _dispatch(_le, _bound)


def le_(input: Tensor, other: Tensor | Number) -> Any:
    """In place: writes what `le` gives into the tensor, and returns it."""
    return _dispatch(_le_, (input, other))


def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Any:
    """Leaky rectifier, `y = x` for `x > 0`, else `negative_slope * x`.

    Args:
        input: a floating-point tensor of any shape.
        negative_slope: the slope below 0.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.

    Example:
        >>> F.leaky_relu(gw.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.0100,  0.0000,  1.0000])
    """
    return _dispatch(_leaky_relu, (input, negative_slope))


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Any:
    """In place: writes what `leaky_relu` gives into the tensor, and returns it."""
    return _dispatch(_leaky_relu_, (input, negative_slope))


def leaky_relu_backward(grad: Tensor, input: Tensor, negative_slope: float) -> Any:
    return _dispatch(_leaky_relu_backward, (grad, input, negative_slope))


def lerp(input: Tensor, end: Tensor, weight: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, end, weight)
    if out is not None:
        return with_out(_lerp, _bound, out)
    return _dispatch(_lerp, _bound)


def lerp_(input: Tensor, end: Tensor, weight: Tensor | Number) -> Any:
    """In place: writes what `lerp` gives into the tensor, and returns it."""
    return _dispatch(_lerp_, (input, end, weight))


def lgamma(input: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input,)
    if out is not None:
        return with_out(_lgamma, _bound, out)
    return _dispatch(_lgamma, _bound)


def lgamma_(input: Tensor) -> Any:
    """In place: writes what `lgamma` gives into the tensor, and returns it."""
    return _dispatch(_lgamma_, (input,))


def linalg_cholesky(A: Tensor, *, upper: bool = False, out: Any = None) -> Any:
    """Cholesky factor `L` of Hermitian positive-definite matrices: `A = L L^H`.

    Args:
        A: float32, float64 or complex, `(*, n, n)`; the lower triangle is read, the upper one
            where `upper`.
        upper: return the upper triangular `U` with `A = U^H U`.

    Returns: a tensor of the shape of `A`.

    Raises:
        LinAlgError: a matrix is not positive-definite.
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.cholesky(gw.tensor([[4.0, 2.0], [2.0, 5.0]]))
        tensor([[2., 0.],
                [1., 2.]])
    """
    _bound = (A, upper)
    if out is not None:
        return with_out(_linalg_cholesky, _bound, out)
    return _dispatch(_linalg_cholesky, _bound)


def linalg_cholesky_ex(
    A: Tensor,
    *,
    upper: bool = False,
    check_errors: bool = False,
    out: Any = None,
) -> Any:
    """Cholesky factor together with whether there is one; no error where there is none.

    Args:
        A: float32, float64 or complex, `(*, n, n)`.
        upper: return the upper triangular factor instead of the lower.
        check_errors: raise for matrices that are not positive-definite.

    Returns: `(L, info)`: the factor, NaN where there is none; int32 of shape `(*)`, 0 or the
    order of the first leading minor that is not positive-definite.

    Raises:
        LinAlgError: a matrix is not positive-definite and `check_errors`.
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.cholesky_ex(gw.tensor([[1.0, 0.0], [0.0, -1.0]])).info
        tensor(2, dtype=graphwright.int32)
    """
    _bound = (A, upper, check_errors)
    if out is not None:
        return with_out(_linalg_cholesky_ex, _bound, out)
    return _dispatch(_linalg_cholesky_ex, _bound)


def linalg_cond(A: Tensor, p: Number | str | None = None, *, out: Any = None) -> Any:
    """Condition number `||A|| ||A^-1||` of matrices.

    Args:
        A: float32, float64 or complex, `(*, n, n)`; `(*, m, n)` for the 2-norm.
        p: the norm: None or 2 (ratio of the largest to the smallest singular value), -2 (its
            inverse), 1, -1, inf, -inf, "fro" or "nuc".

    Returns: a real tensor of shape `(*)`; inf for a singular matrix.

    Raises:
        RuntimeError: `A` has less than 2 dims, holds integers, or is not square for another
            norm than 2 and -2.

    Example:
        >>> gw.linalg.cond(gw.tensor([[2.0, 0.0], [0.0, 8.0]]))
        tensor(4.)
    """
    _bound = (A, p)
    if out is not None:
        return with_out(_linalg_cond, _bound, out)
    return _dispatch(_linalg_cond, _bound)


def linalg_cross(
    input: Tensor,
    other: Tensor,
    *,
    dim: int = -1,
    axis: Any = ...,
    out: Any = None,
) -> Any:
    """Cross products of vectors of 3 elements.

    Args:
        input: any dtype but bool, of size 3 in `dim`.
        other: of the dtype and number of dims of `input`; the other dims are broadcast.
        dim: the dim of the vectors.

    Returns: a tensor of the broadcast shape.

    Raises:
        RuntimeError: a size in `dim` is not 3, or numbers of dims or dtypes differ.

    Example:
        >>> gw.linalg.cross(gw.tensor([1, 0, 0]), gw.tensor([0, 1, 0]))
        tensor([0, 0, 1])
    """
    if axis is not ...:
        dim = same_as("linalg_cross", "dim", dim, -1, "axis", axis)
    _bound = (input, other, dim)
    if out is not None:
        return with_out(_linalg_cross, _bound, out)
    return _dispatch(_linalg_cross, _bound)


def linalg_det(A: Tensor, *, out: Any = None) -> Any:
    """Determinant of square matrices, through an LU factorisation.

    Args:
        A: float32, float64 or complex, `(*, n, n)`.

    Returns: a tensor of shape `(*)`; 1 for matrices of size 0.

    Raises:
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.det(gw.tensor([[2.0, 1.0], [1.0, 3.0]]))
        tensor(5.)
    """
    _bound = (A,)
    if out is not None:
        return with_out(_linalg_det, _bound, out)
    return _dispatch(_linalg_det, _bound)


def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """View of the diagonals of matrices: `diagonal`, by default of the last two dims.

    Args:
        A: a tensor of at least 2 dims.
        offset: how far above the main diagonal; below it if negative.
        dim1, dim2: the dims of rows and of columns.

    Returns: a view of shape `(*, k)`, where k is the length of the diagonal.

    Raises:
        IndexError: there is no such dim.

    Example:
        >>> gw.linalg.diagonal(gw.tensor([[1, 2], [3, 4]]))
        tensor([1, 4])
    """
    try:
        _bound = (A, offset, wrap_dim(dim1, A.ndim), wrap_dim(dim2, A.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_linalg_diagonal, (A, offset, dim1, dim2), _error)
    return _dispatch(_linalg_diagonal, _bound)


def linalg_eig(A: Tensor, *, out: Any = None) -> Any:
    """Eigenvalues and eigenvectors of square matrices: `A V = V diag(w)`.

    Args:
        A: float32, float64 or complex, `(*, n, n)`.

    Returns: `(eigenvalues, eigenvectors)`, both complex: `(*, n)` in no set order, and `(*, n,
    n)` with vectors of length 1 as columns.

    Raises:
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.eig(gw.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
        tensor([2.+0.j, 1.+0.j])
    """
    _bound = (A,)
    if out is not None:
        return with_out(_linalg_eig, _bound, out)
    return _dispatch(_linalg_eig, _bound)


def linalg_eigh(A: Tensor, UPLO: str = "L", *, out: Any = None) -> Any:
    """Eigenvalues and eigenvectors of symmetric or Hermitian matrices: `A = V diag(w) V^H`.

    Args:
        A: float32, float64 or complex, `(*, n, n)`; one triangle is read.
        UPLO: the triangle that is read, "L" or "U".

    Returns: `(eigenvalues, eigenvectors)`: real, ascending, `(*, n)`; and `(*, n, n)` with the
    vectors as columns, each determined up to its sign or phase.

    Raises:
        RuntimeError: `UPLO` is neither, or the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.eigh(gw.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
        tensor([1., 2.])
    """
    _bound = (A, UPLO)
    if out is not None:
        return with_out(_linalg_eigh, _bound, out)
    return _dispatch(_linalg_eigh, _bound)


def linalg_eigvals(A: Tensor, *, out: Any = None) -> Any:
    """Eigenvalues of square matrices.

    Args:
        A: float32, float64 or complex, `(*, n, n)`.

    Returns: a complex tensor of shape `(*, n)`, in no set order.

    Raises:
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.eigvals(gw.tensor([[0.0, 1.0], [-1.0, 0.0]]))
        tensor([0.+1.j, 0.-1.j])
    """
    _bound = (A,)
    if out is not None:
        return with_out(_linalg_eigvals, _bound, out)
    return _dispatch(_linalg_eigvals, _bound)


def linalg_eigvalsh(A: Tensor, UPLO: str = "L", *, out: Any = None) -> Any:
    """Eigenvalues of symmetric or Hermitian matrices.

    Args:
        A: float32, float64 or complex, `(*, n, n)`; one triangle is read.
        UPLO: the triangle that is read, "L" or "U".

    Returns: a real tensor of shape `(*, n)`, ascending along the last dim.

    Raises:
        RuntimeError: `UPLO` is neither, or the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.eigvalsh(gw.tensor([[2.0, 0.0], [0.0, 1.0]]))
        tensor([1., 2.])
    """
    _bound = (A, UPLO)
    if out is not None:
        return with_out(_linalg_eigvalsh, _bound, out)
    return _dispatch(_linalg_eigvalsh, _bound)


def linalg_householder_product(input: Tensor, tau: Tensor, *, out: Any = None) -> Any:
    """First n columns of a product of reflections `H_i = I - tau_i v_i v_i^H` (Householder).

    Args:
        input: `(*, m, n)` with m >= n: the vectors `v_i` below the diagonal, as `geqrf` returns
            them.
        tau: factors of the dtype of `input`, `(*, k)` with k <= n.

    Returns: a tensor of the shape of `input`.

    Raises:
        RuntimeError: shapes or dtypes do not match, or m < n.

    Example:
        >>> a, tau = gw.geqrf(gw.randn(5, 3))
        >>> gw.linalg.householder_product(a, tau).shape
        graphwright.Size([5, 3])
    """
    _bound = (input, tau)
    if out is not None:
        return with_out(_linalg_householder_product, _bound, out)
    return _dispatch(_linalg_householder_product, _bound)


def linalg_inv(A: Tensor, *, out: Any = None) -> Any:
    """Inverse of square matrices.

    Args:
        A: float32, float64 or complex, `(*, n, n)`.

    Returns: a tensor of the shape of `A`.

    Raises:
        LinAlgError: a matrix is singular.
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.inv(gw.tensor([[2.0, 0.0], [0.0, 4.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.2500]])
    """
    _bound = (A,)
    if out is not None:
        return with_out(_linalg_inv, _bound, out)
    return _dispatch(_linalg_inv, _bound)


def linalg_inv_ex(A: Tensor, *, check_errors: bool = False, out: Any = None) -> Any:
    """Inverse together with whether there is one; no error where there is none.

    Args:
        A: float32, float64 or complex, `(*, n, n)`.
        check_errors: raise for singular matrices.

    Returns: `(inverse, info)`: NaN where there is no inverse; int32 of shape `(*)`, 0 or the
    index (from 1) of the first zero on the diagonal of the factor U.

    Raises:
        LinAlgError: a matrix is singular and `check_errors`.
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.inv_ex(gw.tensor([[1.0, 0.0], [0.0, 0.0]])).info
        tensor(2, dtype=graphwright.int32)
    """
    _bound = (A, check_errors)
    if out is not None:
        return with_out(_linalg_inv_ex, _bound, out)
    return _dispatch(_linalg_inv_ex, _bound)


def linalg_ldl_factor(A: Tensor, *, hermitian: bool = False, out: Any = None) -> Any:
    """LDL factorisation of symmetric or Hermitian matrices, for `linalg.ldl_solve`.

    The pivots are those of Bunch and Kaufman (1977). There is no derivative.

    Args:
        A: float32, float64 or complex, `(*, n, n)`; the lower triangle is read.
        hermitian: factorise `A = L D L^H`; `A = L D L^T` if False.

    Returns: `(LD, pivots)`: both factors in one matrix; int32 `(*, n)`.

    Raises:
        LinAlgError: `D` has a zero on its diagonal.
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.ldl_factor(gw.tensor([[4.0, 2.0], [2.0, 5.0]])).pivots
        tensor([1, 2], dtype=graphwright.int32)
    """
    _bound = (A, hermitian)
    if out is not None:
        return with_out(_linalg_ldl_factor, _bound, out)
    return _dispatch(_linalg_ldl_factor, _bound)


def linalg_ldl_factor_ex(
    A: Tensor,
    *,
    hermitian: bool = False,
    check_errors: bool = False,
    out: Any = None,
) -> Any:
    """LDL factorisation of symmetric or Hermitian matrices, and where `D` has a zero first.

    The pivots are those of Bunch and Kaufman (1977). There is no derivative.

    Args:
        A: float32, float64 or complex, `(*, n, n)`; the lower triangle is read.
        hermitian: factorise `A = L D L^H`; `A = L D L^T` if False.
        check_errors: raise where `D` has a zero on its diagonal.

    Returns: `(LD, pivots, info)`: both factors in one matrix; int32 `(*, n)`; int32 `(*)`, 0 or
    the index (from 1) of the first zero.

    Raises:
        LinAlgError: `D` has a zero on its diagonal and `check_errors`.
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.ldl_factor_ex(gw.tensor([[4.0, 2.0], [2.0, 5.0]])).LD
        tensor([[4.0000, 0.0000],
                [0.5000, 4.0000]])
    """
    _bound = (A, hermitian, check_errors)
    if out is not None:
        return with_out(_linalg_ldl_factor_ex, _bound, out)
    return _dispatch(_linalg_ldl_factor_ex, _bound)


def linalg_ldl_solve(
    LD: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    hermitian: bool = False,
    out: Any = None,
) -> Any:
    """Solution `X` of `A X = B`, where `A` is given by `linalg.ldl_factor`.

    Args:
        LD: factors, `(*, n, n)`.
        pivots: integers, `(*, n)`.
        B: right sides of the dtype of `LD`, `(*, n, k)`; the batch dims are broadcast.
        hermitian: the same as in the factorisation.

    Returns: a tensor of the shape of `B` with the broadcast batch dims.

    Raises:
        LinAlgError: `D` is singular.
        RuntimeError: shapes or dtypes do not match, or the pivots are out of range.

    Example:
        >>> LD, pivots = gw.linalg.ldl_factor(gw.tensor([[4.0, 0.0], [0.0, 2.0]]))
        >>> gw.linalg.ldl_solve(LD, pivots, gw.tensor([[4.0], [4.0]]))
        tensor([[1.],
                [2.]])
    """
    _bound = (LD, pivots, B, hermitian)
    if out is not None:
        return with_out(_linalg_ldl_solve, _bound, out)
    return _dispatch(_linalg_ldl_solve, _bound)


def linalg_lstsq(
    A: Tensor,
    B: Tensor,
    rcond: float | None = None,
    *,
    driver: str | None = None,
    out: Any = None,
) -> Any:
    """Least-squares solution: the `X` of the least norm that minimises `||A X - B||`.

    Args:
        A: float32, float64 or complex, `(*, m, n)`.
        B: right sides of the dtype of `A`: `(*, m, k)`, or `(*, m)` for one.
        rcond: singular values up to this fraction of the largest are taken for 0; by default
            eps of the dtype times max(m, n).
        driver: None, "gels", "gelsy", "gelsd" or "gelss"; says which of the further results are
            computed. "gelsy" if None.

    Returns: `(solution, residuals, rank, singular_values)`: `(*, n, k)`; the squared residuals
    `(*, k)` where m > n and the driver is not "gelsy"; the rank unless it is "gels"; the
    singular values for "gelsd" and "gelss". What is not computed is empty.

    Raises:
        RuntimeError: shapes or dtypes do not match, or `driver` is unknown.

    Example:
        >>> A = gw.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
        >>> gw.linalg.lstsq(A, gw.tensor([[1.0], [3.0], [5.0]])).solution.round(decimals=3)
        tensor([[1.],
                [2.]])
    """
    _bound = (A, B, rcond, driver)
    if out is not None:
        return with_out(_linalg_lstsq, _bound, out)
    return _dispatch(_linalg_lstsq, _bound)


def linalg_lu(A: Tensor, *, pivot: bool = True, out: Any = None) -> Any:
    """LU factorisation with exchange of rows: `A = P L U`.

    Args:
        A: float32, float64 or complex, `(*, m, n)`.
        pivot: exchange rows; must be True.

    Returns: `(P, L, U)`: a permutation matrix `(*, m, m)`, lower triangular with ones on the
    diagonal `(*, m, k)`, upper triangular `(*, k, n)`, where k = min(m, n).

    Raises:
        RuntimeError: `A` has less than 2 dims or holds integers, or `pivot` is False.

    Example:
        >>> gw.linalg.lu(gw.tensor([[0.0, 1.0], [2.0, 0.0]])).U
        tensor([[2., 0.],
                [0., 1.]])
    """
    _bound = (A, pivot)
    if out is not None:
        return with_out(_linalg_lu, _bound, out)
    return _dispatch(_linalg_lu, _bound)


def linalg_lu_factor(A: Tensor, *, pivot: bool = True, out: Any = None) -> Any:
    """LU factorisation in one matrix, for `linalg.lu_solve`.

    Args:
        A: float32, float64 or complex, `(*, m, n)`.
        pivot: exchange rows; must be True.

    Returns: `(LU, pivots)`: `L` below the diagonal and `U` on and above it; int32 `(*, min(m,
    n))`, the row (from 1) that each row was exchanged with.

    Raises:
        LinAlgError: `U` has a zero on its diagonal.
        RuntimeError: `A` has less than 2 dims or holds integers, or `pivot` is False.

    Example:
        >>> gw.linalg.lu_factor(gw.tensor([[0.0, 1.0], [2.0, 0.0]])).LU
        tensor([[2., 0.],
                [0., 1.]])
    """
    _bound = (A, pivot)
    if out is not None:
        return with_out(_linalg_lu_factor, _bound, out)
    return _dispatch(_linalg_lu_factor, _bound)


def linalg_lu_factor_ex(
    A: Tensor,
    *,
    pivot: bool = True,
    check_errors: bool = False,
    out: Any = None,
) -> Any:
    """LU factorisation in one matrix, with whether `U` has zeros on its diagonal.

    Args:
        A: float32, float64 or complex, `(*, m, n)`.
        pivot: exchange rows; must be True.
        check_errors: raise where `U` has a zero on its diagonal.

    Returns: `(LU, pivots, info)`: `L` below the diagonal and `U` on and above it; int32 `(*,
    min(m, n))`, the row (from 1) that each row was exchanged with; int32 `(*)`, 0 or the
    index (from 1) of the first zero.

    Raises:
        LinAlgError: `U` has a zero on its diagonal and `check_errors`.
        RuntimeError: `A` has less than 2 dims or holds integers, or `pivot` is False.

    Example:
        >>> gw.linalg.lu_factor_ex(gw.tensor([[0.0, 1.0], [2.0, 0.0]])).pivots
        tensor([2, 2], dtype=graphwright.int32)
    """
    _bound = (A, pivot, check_errors)
    if out is not None:
        return with_out(_linalg_lu_factor_ex, _bound, out)
    return _dispatch(_linalg_lu_factor_ex, _bound)


def linalg_lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    adjoint: bool = False,
    out: Any = None,
) -> Any:
    """Solution `X` of `A X = B`, where `A` is given by `linalg.lu_factor`.

    Args:
        LU: factors, `(*, n, n)`.
        pivots: int32, `(*, n)`.
        B: right sides of the dtype of `LU`, `(*, n, k)`, or `(*, k, n)` where `left` is False.
        left: solve `A X = B`; `X A = B` if False.
        adjoint: use `A^H` instead of `A`.

    Returns: a tensor of the shape of `B` with the broadcast batch dims.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> LU, pivots = gw.linalg.lu_factor(gw.tensor([[0.0, 1.0], [2.0, 0.0]]))
        >>> gw.linalg.lu_solve(LU, pivots, gw.tensor([[1.0], [2.0]]))
        tensor([[1.],
                [1.]])
    """
    _bound = (LU, pivots, B, left, adjoint)
    if out is not None:
        return with_out(_linalg_lu_solve, _bound, out)
    return _dispatch(_linalg_lu_solve, _bound)


def linalg_matrix_norm(
    A: Tensor,
    ord: Number | str = "fro",
    dim: int | Sequence[int] = (-2,
    -1),
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    dtype: DType | None = None,
    out: Any = None,
) -> Any:
    """Norm of matrices.

    Args:
        A: floating point or complex, of at least 2 dims.
        ord: "fro": root of the sum of squares; "nuc": sum of the singular values; 2, -2: the
            greatest, the least singular value; 1, -1: the greatest, the least sum of a
            column's moduli; inf, -inf: of a row's.
        dim: the two dims of the matrices.
        keepdim: keep each of these dims with size 1.
        dtype: the dtype that is computed in; that of `A` if None.

    Returns: a real tensor of the shape of `A` without `dim`.

    Raises:
        IndexError: `A` has no such dim.
        RuntimeError: `A` has less than 2 dims or holds integers, or `ord` is unknown.

    Example:
        >>> gw.linalg.matrix_norm(gw.tensor([[1.0, -2.0], [3.0, 4.0]]), ord=1)
        tensor(6.)
    """
    if surplus is not ...:
        refuse_surplus("linalg_matrix_norm")
    if axis is not ...:
        dim = same_as("linalg_matrix_norm", "dim", dim, (-2, -1), "axis", axis)
    if keepdims is not ...:
        keepdim = same_as("linalg_matrix_norm", "keepdim", keepdim, False, "keepdims", keepdims)
    _bound = (A, ord, dim, keepdim, dtype)
    if out is not None:
        return with_out(_linalg_matrix_norm, _bound, out)
    return _dispatch(_linalg_matrix_norm, _bound)


def linalg_matrix_rank(
    A: Tensor,
    tol: Any = ...,
    hermitian: bool = False,
    *,
    atol: Tensor | Number | None = None,
    rtol: Tensor | Number | None = None,
    out: Any = None,
) -> Any:
    """Number of singular values above `max(atol, rtol * largest)`.

    Args:
        A: float32, float64 or complex, `(*, m, n)`.
        tol: an older form: an absolute tolerance alone, which overrides the other two.
        hermitian: `A` is Hermitian, so that its eigenvalues serve.
        atol: absolute tolerance, number or tensor; 0 if None.
        rtol: relative tolerance, number or tensor; if None, eps of the dtype times max(m, n),
            or 0 where `atol` is given and not 0.

    Returns: an int64 tensor of shape `(*)`.

    Raises:
        RuntimeError: `A` has less than 2 dims, holds integers, or is not square where
            `hermitian`.

    Example:
        >>> gw.linalg.matrix_rank(gw.tensor([[1.0, 2.0], [2.0, 4.0]]))
        tensor(1)
    """
    if tol is ...:
        tol = None
    elif tol is None:
        refuse_none("linalg_matrix_rank", "tol")
    _bound = (A, tol, hermitian, atol, rtol)
    if out is not None:
        return with_out(_linalg_matrix_rank, _bound, out)
    return _dispatch(_linalg_matrix_rank, _bound)


def linalg_multi_dot(tensors: Sequence[Tensor], *, out: Any = None) -> Any:
    """Product of a chain of matrices, in the order that takes the fewest multiplications.

    The order is found by dynamic programming (Cormen et al., matrix-chain multiplication).

    Args:
        tensors: two or more matrices of one dtype; the first and the last may be vectors.

    Returns: the product; a vector at an end leaves its dim out.

    Raises:
        RuntimeError: there are less than 2 tensors, or shapes or dtypes do not match.

    Example:
        >>> gw.linalg.multi_dot([gw.ones(2, 3), gw.ones(3, 4), gw.ones(4)])
        tensor([12., 12.])
    """
    _bound = (as_tensors(tensors, "linalg_multi_dot"),)
    if out is not None:
        return with_out(_linalg_multi_dot, _bound, out)
    return _dispatch(_linalg_multi_dot, _bound)


def linalg_norm(
    A: Tensor,
    ord: Number | str | None = None,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    dtype: DType | None = None,
    out: Any = None,
) -> Any:
    """Norm of vectors or of matrices: `linalg.vector_norm` or `linalg.matrix_norm`.

    Args:
        A: floating point or complex.
        ord: the order; if None, the 2-norm of all elements (of those along `dim`).
        dim: one dim for vectors, two for matrices; if None, `A` itself is the vector or
            matrix where `ord` is given.
        keepdim: keep each of these dims with size 1.
        dtype: the dtype that is computed in; that of `A` if None.

    Returns: a real tensor of the shape of `A` without `dim`.

    Raises:
        IndexError: `A` has no such dim.
        RuntimeError: `A` holds integers, `ord` is unknown, or `A` is neither vector nor
            matrix where `ord` is given without `dim`.

    Example:
        >>> gw.linalg.norm(gw.tensor([[3.0, 0.0], [0.0, 4.0]]))
        tensor(5.)
    """
    if surplus is not ...:
        refuse_surplus("linalg_norm")
    if axis is not ...:
        dim = same_as("linalg_norm", "dim", dim, None, "axis", axis)
    if keepdims is not ...:
        keepdim = same_as("linalg_norm", "keepdim", keepdim, False, "keepdims", keepdims)
    _bound = (A, ord, dim, keepdim, dtype)
    if out is not None:
        return with_out(_linalg_norm, _bound, out)
    return _dispatch(_linalg_norm, _bound)


def linalg_pinv(
    A: Tensor,
    rcond: Any = ...,
    hermitian: bool = False,
    *,
    atol: Tensor | Number | None = None,
    rtol: Tensor | Number | None = None,
    out: Any = None,
) -> Any:
    """Moore-Penrose pseudo-inverse, through the singular value decomposition.

    Singular values that are not above `max(atol, rtol * largest)` are taken for 0. The
    derivative is that of Golub and Pereyra (1973).

    Args:
        A: float32, float64 or complex, `(*, m, n)`.
        rcond: an older name of `rtol`, which it overrides.
        hermitian: `A` is Hermitian, so that its eigenvalues serve.
        atol: absolute tolerance, number or tensor; 0 if None.
        rtol: relative tolerance, number or tensor; if None, eps of the dtype times max(m, n),
            or 0 where `atol` is given and not 0.

    Returns: a tensor of shape `(*, n, m)`.

    Raises:
        RuntimeError: `A` has less than 2 dims, holds integers, or is not square where
            `hermitian`.

    Example:
        >>> gw.linalg.pinv(gw.tensor([[2.0, 0.0], [0.0, 0.0]]))
        tensor([[0.5000, 0.0000],
                [0.0000, 0.0000]])
    """
    if rcond is ...:
        rcond = None
    elif rcond is None:
        refuse_none("linalg_pinv", "rcond")
    _bound = (A, rcond, hermitian, atol, rtol)
    if out is not None:
        return with_out(_linalg_pinv, _bound, out)
    return _dispatch(_linalg_pinv, _bound)


def linalg_qr(A: Tensor, mode: str = "reduced", *, out: Any = None) -> Any:
    """QR decomposition `A = Q R`: `Q` has orthonormal columns, `R` is upper triangular.

    Args:
        A: float32, float64 or complex, `(*, m, n)`.
        mode: "reduced" (k = min(m, n) columns in `Q`), "complete" (m columns), or "r" (only
            `R`; `Q` is empty).

    Returns: `(Q, R)` of shapes `(*, m, k)` and `(*, k, n)`.

    Raises:
        RuntimeError: `mode` is unknown, or `A` has less than 2 dims or holds integers; in
            backward, the derivative of the mode is not defined ("r", and "complete" with m >
            n).

    Example:
        >>> Q, R = gw.linalg.qr(gw.randn(5, 3))
        >>> Q.shape, R.shape
        (graphwright.Size([5, 3]), graphwright.Size([3, 3]))
    """
    _bound = (A, mode)
    if out is not None:
        return with_out(_linalg_qr, _bound, out)
    return _dispatch(_linalg_qr, _bound)


def linalg_slogdet(A: Tensor, *, out: Any = None) -> Any:
    """Sign and logarithm of the modulus of the determinant: `det = sign * exp(logabsdet)`.

    Args:
        A: float32, float64 or complex, `(*, n, n)`.

    Returns: `(sign, logabsdet)`, both of shape `(*)`; `sign` has modulus 1 and the dtype of
    `A`, `logabsdet` is real. A singular matrix has 0 and -inf.

    Raises:
        RuntimeError: the matrices are not square, or of integers.

    Example:
        >>> gw.linalg.slogdet(gw.tensor([[0.0, 1.0], [1.0, 0.0]])).sign
        tensor(-1.)
    """
    _bound = (A,)
    if out is not None:
        return with_out(_linalg_slogdet, _bound, out)
    return _dispatch(_linalg_slogdet, _bound)


def linalg_solve(A: Tensor, B: Tensor, *, left: bool = True, out: Any = None) -> Any:
    """Solution `X` of `A X = B`, or of `X A = B`, with square `A`.

    Args:
        A: float32, float64 or complex, `(*, n, n)`.
        B: of the dtype of `A`: `(*, n, k)`, or `(*, n)` for one right side per matrix; `(*, k,
            n)` where `left` is False. The batch dims are broadcast.
        left: solve `A X = B`; `X A = B` if False.

    Returns: a tensor of the shape of `B` with the broadcast batch dims.

    Raises:
        LinAlgError: a matrix is singular.
        RuntimeError: shapes or dtypes do not match, or `A` is not square.

    Example:
        >>> gw.linalg.solve(gw.tensor([[2.0, 0.0], [0.0, 4.0]]), gw.tensor([2.0, 2.0]))
        tensor([1.0000, 0.5000])
    """
    _bound = (A, B, left)
    if out is not None:
        return with_out(_linalg_solve, _bound, out)
    return _dispatch(_linalg_solve, _bound)


def linalg_solve_ex(
    A: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    check_errors: bool = False,
    out: Any = None,
) -> Any:
    """Solution of `A X = B` together with whether there is one; no error where there is none.

    Args:
        A: float32, float64 or complex, `(*, n, n)`.
        B: right sides of the dtype of `A`, as for `linalg.solve`.
        left: solve `A X = B`; `X A = B` if False.
        check_errors: raise for singular matrices.

    Returns: `(result, info)`: NaN where `A` is singular; int32 of shape `(*)`, 0 or the index
    (from 1) of the first zero on the diagonal of the factor U.

    Raises:
        LinAlgError: a matrix is singular and `check_errors`.
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> gw.linalg.solve_ex(gw.tensor([[1.0, 0.0], [0.0, 0.0]]), gw.ones(2)).info
        tensor(2, dtype=graphwright.int32)
    """
    _bound = (A, B, left, check_errors)
    if out is not None:
        return with_out(_linalg_solve_ex, _bound, out)
    return _dispatch(_linalg_solve_ex, _bound)


def linalg_solve_triangular(
    A: Tensor,
    B: Tensor,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
    out: Any = None,
) -> Any:
    """Solution `X` of `A X = B`, or of `X A = B`, with triangular `A`.

    Args:
        A: float32, float64 or complex, `(*, n, n)`; only the named triangle is read.
        B: of the dtype of `A`, `(*, n, k)`, or `(*, k, n)` where `left` is False; the batch
            dims are broadcast.
        upper: whether `A` is upper triangular rather than lower.
        left: solve `A X = B`; `X A = B` if False.
        unitriangular: take the diagonal of `A` for ones.

    Returns: a tensor of the shape of `B` with the broadcast batch dims.

    Raises:
        LinAlgError: a matrix has a 0 on its diagonal.
        RuntimeError: shapes or dtypes do not match, or `A` is not square.

    Example:
        >>> A = gw.tensor([[2.0, 0.0], [1.0, 1.0]])
        >>> gw.linalg.solve_triangular(A, gw.tensor([[2.0], [3.0]]), upper=False)
        tensor([[1.],
                [2.]])
    """
    _bound = (A, B, upper, left, unitriangular)
    if out is not None:
        return with_out(_linalg_solve_triangular, _bound, out)
    return _dispatch(_linalg_solve_triangular, _bound)


def linalg_svd(A: Tensor, full_matrices: bool = True, *, out: Any = None) -> Any:
    """Singular value decomposition `A = U diag(S) Vh`.

    Args:
        A: float32, float64 or complex, `(*, m, n)`.
        full_matrices: square `U` and `Vh`; with min(m, n) columns and rows if False.

    Returns: `(U, S, Vh)`: `S` is real, `(*, min(m, n))`, descending; vectors are determined up
    to sign or phase.

    Raises:
        RuntimeError: `A` has less than 2 dims, or holds integers.

    Example:
        >>> U, S, Vh = gw.linalg.svd(gw.tensor([[3.0, 0.0], [0.0, 4.0]]))
        >>> S
        tensor([4., 3.])
    """
    _bound = (A, full_matrices)
    if out is not None:
        return with_out(_linalg_svd, _bound, out)
    return _dispatch(_linalg_svd, _bound)


def linalg_svdvals(A: Tensor, *, out: Any = None) -> Any:
    """Singular values of matrices.

    Args:
        A: float32, float64 or complex, `(*, m, n)`.

    Returns: a real tensor of shape `(*, min(m, n))`, descending along the last dim.

    Raises:
        RuntimeError: `A` has less than 2 dims, or holds integers.

    Example:
        >>> gw.linalg.svdvals(gw.tensor([[3.0, 0.0], [0.0, 4.0]]))
        tensor([4., 3.])
    """
    _bound = (A,)
    if out is not None:
        return with_out(_linalg_svdvals, _bound, out)
    return _dispatch(_linalg_svdvals, _bound)


def linalg_tensorinv(A: Tensor, ind: int = 2, *, out: Any = None) -> Any:
    """Inverse of `A` as a map of tensors, with respect to `tensordot(..., ind)`.

    Args:
        A: float32, float64 or complex; the product of its first `ind` sizes is that of the
            others.
        ind: the number of leading dims that are the result's, greater than 0.

    Returns: a tensor of shape `A.shape[ind:] + A.shape[:ind]`.

    Raises:
        LinAlgError: the map has no inverse.
        RuntimeError: `ind` is out of range, or the products of sizes differ.

    Example:
        >>> gw.linalg.tensorinv(gw.eye(6).reshape(2, 3, 6)).shape
        graphwright.Size([6, 2, 3])
    """
    _bound = (A, ind)
    if out is not None:
        return with_out(_linalg_tensorinv, _bound, out)
    return _dispatch(_linalg_tensorinv, _bound)


def linalg_tensorsolve(
    A: Tensor,
    B: Tensor,
    dims: Sequence[int] | None = None,
    *,
    out: Any = None,
) -> Any:
    """Solution `X` of `tensordot(A, X, X.ndim) = B`.

    Args:
        A: float32, float64 or complex, of shape `B.shape + X.shape`; both products of sizes are
            the same.
        B: of the dtype of `A`.
        dims: dims of `A` that are moved to its end first; none if None.

    Returns: a tensor of shape `A.shape[B.ndim:]`.

    Raises:
        LinAlgError: the equation has no unique solution.
        RuntimeError: the products of sizes differ.

    Example:
        >>> gw.linalg.tensorsolve(gw.eye(6).reshape(2, 3, 6), gw.ones(2, 3))
        tensor([1., 1., 1., 1., 1., 1.])
    """
    try:
        _bound = (A, B, as_size_optional(dims))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_linalg_tensorsolve, (A, B, dims), _error)
    if out is not None:
        return with_out(_linalg_tensorsolve, _bound, out)
    return _dispatch(_linalg_tensorsolve, _bound)


def linalg_vander(x: Tensor, *, N: int | None = None) -> Any:
    """Vandermonde matrices: the powers `x^0, x^1, ..., x^(N-1)` along a new last dim.

    Args:
        x: `(*, n)`; integers are taken as int64.
        N: the number of powers, greater than 1; n if None.

    Returns: a tensor of shape `(*, n, N)`.

    Raises:
        RuntimeError: `N` is less than 2, or `x` is bool, float16 or bfloat16.

    Example:
        >>> gw.linalg.vander(gw.tensor([2, 3]), N=3)
        tensor([[1, 2, 4],
                [1, 3, 9]])
    """
    return _dispatch(_linalg_vander, (x, N))


def linalg_vecdot(x: Tensor, y: Tensor, *, dim: int = -1, axis: Any = ..., out: Any = None) -> Any:
    """Inner products of vectors along a dim: `sum(conj(x) * y, dim)`.

    Args:
        x: floating point or complex, conjugated.
        y: of the dtype of `x`; both are broadcast.
        dim: the dim of the vectors.

    Returns: a tensor of the broadcast shape without `dim`.

    Raises:
        IndexError: there is no such dim.
        RuntimeError: the tensors hold integers, or dtypes differ, or shapes are not
            broadcastable.

    Example:
        >>> gw.linalg.vecdot(gw.tensor([[1.0, 2.0], [3.0, 4.0]]), gw.tensor([1.0, 1.0]))
        tensor([3., 7.])
    """
    if axis is not ...:
        dim = same_as("linalg_vecdot", "dim", dim, -1, "axis", axis)
    _bound = (x, y, dim)
    if out is not None:
        return with_out(_linalg_vecdot, _bound, out)
    return _dispatch(_linalg_vecdot, _bound)


def linalg_vector_norm(
    x: Tensor,
    ord: Number = 2,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    dtype: DType | None = None,
    out: Any = None,
) -> Any:
    """Norm of vectors: `sum(|x|^ord)^(1 / ord)`.

    Args:
        x: floating point or complex.
        ord: the order: any number; inf: the greatest modulus; -inf: the least; 0: the number
            of elements other than 0.
        dim: the dim or dims of the vectors; all if None.
        keepdim: keep each of these dims with size 1.
        dtype: the dtype that is computed in; that of `x` if None.

    Returns: a real tensor of the shape of `x` without `dim`.

    Raises:
        IndexError: `x` has no such dim.
        RuntimeError: `x` holds integers.

    Example:
        >>> gw.linalg.vector_norm(gw.tensor([3.0, 4.0]))
        tensor(5.)
    """
    if surplus is not ...:
        refuse_surplus("linalg_vector_norm")
    if axis is not ...:
        dim = same_as("linalg_vector_norm", "dim", dim, None, "axis", axis)
    if keepdims is not ...:
        keepdim = same_as("linalg_vector_norm", "keepdim", keepdim, False, "keepdims", keepdims)
    _bound = (x, ord, dim, keepdim, dtype)
    if out is not None:
        return with_out(_linalg_vector_norm, _bound, out)
    return _dispatch(_linalg_vector_norm, _bound)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Any = None) -> Any:
    """Affine map of the last dim: `y = input @ weight.T + bias`.

    Args:
        input: `(*, k)`.
        weight: `(m, k)`, of the dtype of `input`; or `(k,)`, for one output without dim.
        bias: `(m,)`, of the dtype of `input`; none if None.

    Returns: a tensor of shape `(*, m)`.

    Raises:
        RuntimeError: shapes or dtypes do not match.

    Example:
        >>> F.linear(gw.tensor([[1.0, 2.0]]), gw.tensor([[1.0, 1.0], [0.0, 2.0]]), gw.ones(2))
        tensor([[4., 5.]])
    """
    _bound = (input, weight, bias)
    if out is not None:
        return with_out(_linear, _bound, out)
    return _dispatch(_linear, _bound)


def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Vector of evenly spaced numbers from `start` to `end`, both included.

    Args:
        start, end: the first and the last number: numbers, or tensors without dims.
        steps: how many.
        dtype: that of the result; the default dtype if None, complex where an end is. Of an
            integer dtype, ends and numbers are rounded towards 0.
        device: where the result is made; the default device if None.

    Returns: a vector. No gradient reaches the ends.

    Raises:
        RuntimeError: `steps` is negative, an end has dims, or the dtype does not hold it.

    Example:
        >>> gw.linspace(0, 1, 5)
        tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("linspace", layout, pin_memory)
    _bound = (start, end, steps, dtype, device)
    if out is not None:
        return with_out(_linspace, _bound, out)
    return _require(requires_grad, _dispatch(_linspace, _bound))


def local_response_norm(
    input: Tensor,
    size: int,
    alpha: float = 0.0001,
    beta: float = 0.75,
    k: float = 1.0,
) -> Any:
    """Each element divided by the strength of its neighbours across channels.

    `y = x / (k + alpha * m)**beta`, where m is the mean of the squares of `size` neighbouring
    channels, zeros beyond the border (Krizhevsky et al., 2012).

    Args:
        input: `(N, C, *)`, of at least 3 dims.
        size: the number of channels that are averaged.
        alpha: factor of the mean.
        beta: exponent.
        k: term added.

    Returns: a tensor of the shape of `input`.

    Raises:
        ValueError: `input` has less than 3 dims.

    Example:
        >>> F.local_response_norm(gw.ones(1, 4, 2), size=2).shape
        graphwright.Size([1, 4, 2])
    """
    return _dispatch(_local_response_norm, (input, size, alpha, beta, k))


def log(input: Tensor, *, out: Any = None) -> Any:
    """Natural logarithm of each element; -inf at 0, nan for negative real numbers.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.log(gw.tensor([1.0, 2.0]))
        tensor([0.0000, 0.6931])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_log, _bound, out)
    return _dispatch(_log, _bound)


def log10(input: Tensor, *, out: Any = None) -> Any:
    """Logarithm to base 10; -inf at 0, nan for negative real numbers.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.log10(gw.tensor([1, 100]))
        tensor([0., 2.])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_log10, _bound, out)
    return _dispatch(_log10, _bound)


def log10_(input: Tensor) -> Any:
    """In place: writes what `log10` gives into the tensor, and returns it."""
    return _dispatch(_log10_, (input,))


def log1p(input: Tensor, *, out: Any = None) -> Any:
    """Natural logarithm of `1 + x`, accurate for small `x`.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.log1p(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 0.6931])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_log1p, _bound, out)
    return _dispatch(_log1p, _bound)


def log1p_(input: Tensor) -> Any:
    """In place: writes what `log1p` gives into the tensor, and returns it."""
    return _dispatch(_log1p_, (input,))


def log2(input: Tensor, *, out: Any = None) -> Any:
    """Logarithm to base 2; -inf at 0, nan for negative real numbers.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.log2(gw.tensor([1, 8]))
        tensor([0., 3.])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_log2, _bound, out)
    return _dispatch(_log2, _bound)


def log2_(input: Tensor) -> Any:
    """In place: writes what `log2` gives into the tensor, and returns it."""
    return _dispatch(_log2_, (input,))


def log_(input: Tensor) -> Any:
    """In place: writes what `log` gives into the tensor, and returns it."""
    return _dispatch(_log_, (input,))


def log_normal_(
    input: Tensor,
    mean: float = 1.0,
    std: float = 2.0,
    *,
    generator: Any = None,
) -> Any:
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
    return _dispatch(_log_normal_, (input, mean, std, generator))


def log_softmax(
    input: Tensor,
    dim: Any = REQUIRED,
    dtype: DType | None = None,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
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
        _bound = (input, wrap_dim(dim, input.ndim), dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_log_softmax, (input, dim, dtype), _error)
    if out is not None:
        return with_out(_log_softmax, _bound, out)
    return _dispatch(_log_softmax, _bound)


def log_softmax_backward(grad: Tensor, out: Tensor, dim: Any = REQUIRED, axis: Any = ...) -> Any:
    if axis is not ...:
        dim = same_as("log_softmax_backward", "dim", dim, REQUIRED, "axis", axis)
    return _dispatch(_log_softmax_backward, (grad, out, dim))


def logaddexp(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_logaddexp, _bound, out)
    return _dispatch(_logaddexp, _bound)


def logaddexp2(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_logaddexp2, _bound, out)
    return _dispatch(_logaddexp2, _bound)


def logcumsumexp(input: Tensor, dim: Any = REQUIRED, axis: Any = ..., *, out: Any = None) -> Any:
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
        _bound = (input, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_logcumsumexp, (input, dim), _error)
    if out is not None:
        return with_out(_logcumsumexp, _bound, out)
    return _dispatch(_logcumsumexp, _bound)


def logdet(input: Tensor) -> Any:
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
    return _dispatch(_logdet, (input,))


def logical_and(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_logical_and, _bound, out)
    return _dispatch(_logical_and, _bound)


def logical_and_(input: Tensor, other: Tensor) -> Any:
    """In place: writes what `logical_and` gives into the tensor, and returns it."""
    return _dispatch(_logical_and_, (input, other))


def logical_not(input: Tensor, *, out: Any = None) -> Any:
    """Whether each element is 0 or False.

    Args:
        input: a tensor of any shape.

    Returns: a bool tensor of the shape of `input`.

    Example:
        >>> gw.logical_not(gw.tensor([0, 2]))
        tensor([ True, False])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_logical_not, _bound, out)
    return _dispatch(_logical_not, _bound)


def logical_not_(input: Tensor) -> Any:
    """In place: writes what `logical_not` gives into the tensor, and returns it."""
    return _dispatch(_logical_not_, (input,))


def logical_or(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_logical_or, _bound, out)
    return _dispatch(_logical_or, _bound)


def logical_or_(input: Tensor, other: Tensor) -> Any:
    """In place: writes what `logical_or` gives into the tensor, and returns it."""
    return _dispatch(_logical_or_, (input, other))


def logical_xor(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_logical_xor, _bound, out)
    return _dispatch(_logical_xor, _bound)


def logical_xor_(input: Tensor, other: Tensor) -> Any:
    """In place: writes what `logical_xor` gives into the tensor, and returns it."""
    return _dispatch(_logical_xor_, (input, other))


def logit(input: Tensor, eps: float | None = None, *, out: Any = None) -> Any:
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
    _bound = (input, eps)
    if out is not None:
        return with_out(_logit, _bound, out)
    return _dispatch(_logit, _bound)


def logit_(input: Tensor, eps: float | None = None) -> Any:
    """In place: writes what `logit` gives into the tensor, and returns it."""
    return _dispatch(_logit_, (input, eps))


def logit_backward(grad: Tensor, input: Tensor, eps: float | None) -> Any:
    return _dispatch(_logit_backward, (grad, input, eps))


def logsigmoid(input: Tensor, *, out: Any = None) -> Any:
    """Logarithm of the logistic function, `y = -log(1 + e^(-x))`, without overflow.

    Args:
        input: a floating-point tensor of any shape.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.

    Example:
        >>> F.logsigmoid(gw.tensor([0.0, 1.0]))
        tensor([-0.6931, -0.3133])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_logsigmoid, _bound, out)
    return _dispatch(_logsigmoid, _bound)


def logsigmoid_backward(grad: Tensor, input: Tensor) -> Any:
    return _dispatch(_logsigmoid_backward, (grad, input))


def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Vector of numbers whose logarithms are evenly spaced: from `base^start` to `base^end`.

    Args:
        start, end: the first and the last exponent: numbers, or tensors without dims.
        steps: how many.
        base: the base.
        dtype: that of the result; the default dtype if None, complex where an end is.
        device: where the result is made; the default device if None.

    Returns: a vector. No gradient reaches the ends.

    Raises:
        RuntimeError: `steps` is negative, an end has dims, or the dtype does not hold it.

    Example:
        >>> gw.logspace(0, 2, 3)
        tensor([  1.,  10., 100.])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("logspace", layout, pin_memory)
    _bound = (start, end, steps, base, dtype, device)
    if out is not None:
        return with_out(_logspace, _bound, out)
    return _require(requires_grad, _dispatch(_logspace, _bound))


def logsumexp(
    input: Tensor,
    dim: Any = REQUIRED,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    out: Any = None,
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
        _bound = (input, wrap_dims_given(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_logsumexp, (input, dim, keepdim), _error)
    if out is not None:
        return with_out(_logsumexp, _bound, out)
    return _dispatch(_logsumexp, _bound)


def lt(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_lt, _bound, out)
    return _dispatch(_lt, _bound)


def lt_(input: Tensor, other: Tensor | Number) -> Any:
    """In place: writes what `lt` gives into the tensor, and returns it."""
    return _dispatch(_lt_, (input, other))


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, *, out: Any = None) -> Any:
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
    _bound = (A, pivot, get_infos)
    if out is not None:
        return with_out(_lu, _bound, out)
    return _dispatch(_lu, _bound)


def lu_factors(A: Tensor, pivot: bool, strict: bool = False) -> Any:
    return _dispatch(_lu_factors, (A, pivot, strict))


def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, LU_data, LU_pivots)
    if out is not None:
        return with_out(_lu_solve, _bound, out)
    return _dispatch(_lu_solve, _bound)


def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
    *,
    out: Any = None,
) -> Any:
    """Factors `P`, `L` and `U` from the one matrix and the pivots of an LU factorisation.

    Args:
        LU_data: factors in one matrix, `(*, m, n)`.
        LU_pivots: int32, `(*, min(m, n))`.
        unpack_data: compute `L` and `U`; they are empty if False.
        unpack_pivots: compute the permutation matrix `P`; it is empty if False.

    Returns: `(P, L, U)` with `A = P L U`, as `linalg.lu` returns them.

    Raises:
        RuntimeError: `LU_data` has less than 2 dims or holds integers, or a pivot is out of
            range.

    Example:
        >>> LU, pivots = gw.linalg.lu_factor(gw.tensor([[0.0, 1.0], [2.0, 0.0]]))
        >>> gw.lu_unpack(LU, pivots).P
        tensor([[0., 1.],
                [1., 0.]])
    """
    _bound = (LU_data, LU_pivots, unpack_data, unpack_pivots)
    if out is not None:
        return with_out(_lu_unpack, _bound, out)
    return _dispatch(_lu_unpack, _bound)


def mH(input: Tensor) -> Any:
    return _dispatch(_mH, (input,))


def mT(input: Tensor) -> Any:
    return _dispatch(_mT, (input,))


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    reduction: str = "mean",
) -> Any:
    return _dispatch(_margin_ranking_loss, (input1, input2, target, margin, reduction))


def masked_fill(input: Tensor, mask: Tensor, value: Tensor | Number) -> Any:
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
    return _dispatch(_masked_fill, (input, mask, value))


def masked_fill_(input: Tensor, mask: Tensor, value: Tensor | Number) -> Any:
    """In place: writes what `masked_fill` gives into the tensor, and returns it."""
    return _dispatch(_masked_fill_, (input, mask, value))


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Any:
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
    return _dispatch(_masked_scatter, (input, mask, source))


def masked_scatter_(input: Tensor, mask: Tensor, source: Tensor) -> Any:
    """In place: writes what `masked_scatter` gives into the tensor, and returns it."""
    return _dispatch(_masked_scatter_, (input, mask, source))


def masked_select(input: Tensor, mask: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, mask)
    if out is not None:
        return with_out(_masked_select, _bound, out)
    return _dispatch(_masked_select, _bound)


def matmul(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_matmul, _bound, out)
    return _dispatch(_matmul, _bound)


def matrix_H(input: Tensor) -> Any:
    return _dispatch(_matrix_H, (input,))


def matrix_exp(A: Tensor) -> Any:
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
    return _dispatch(_matrix_exp, (A,))


def matrix_power(input: Tensor, n: int, *, out: Any = None) -> Any:
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
    _bound = (input, n)
    if out is not None:
        return with_out(_matrix_power, _bound, out)
    return _dispatch(_matrix_power, _bound)


def max(
    input: Tensor,
    dim: Any = ...,
    keepdim: Any = ...,
    axis: Any = ...,
    other: Any = ...,
    keepdims: Any = ...,
    *,
    out: Any = None,
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
    _bound = (input, dim, keepdim)
    if out is not None:
        return with_out(_max, _bound, out)
    return _dispatch(_max, _bound)


def max_pool1d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Any:
    """Maximum of each window of 1D signals.

    Args:
        input: `(N, C, L)`, or `(C, L)`.
        kernel_size: the size of a window, an int or one per dim.
        stride: the step between windows, an int or one per dim; `kernel_size` if None.
        padding: what is added at both ends of each dim, of value -inf; at most half a window.
        dilation: the step between the elements of a window, an int or one per dim.
        ceil_mode: round the number of windows up, not down.

    Returns: a tensor of the shape of `input`, but
    `(size + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1` elements in each
    pooled dim.

    Raises:
        RuntimeError: `input` has another number of dims, `padding` is too great, no window
            fits, or a size is less than 1.

    Example:
        >>> gw.max_pool1d(gw.ones(1, 2, 5), 2).shape
        graphwright.Size([1, 2, 2])
    """
    return _dispatch(_max_pool1d, (input, kernel_size, stride, padding, dilation, ceil_mode))


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Any:
    """Maximum of each window of 1D signals, with its index.

    Args:
        input: `(N, C, L)`, or `(C, L)`.
        kernel_size: the size of a window, an int or one per dim.
        stride: the step between windows, an int or one per dim; `kernel_size` if None.
        padding: what is added at both ends of each dim, of value -inf; at most half a window.
        dilation: the step between the elements of a window, an int or one per dim.
        ceil_mode: round the number of windows up, not down.

    Returns: `(values, indices)`, both of the shape of `input`, but
    `(size + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1` elements in each
    pooled dim. The indices are int64: positions in the flattened dims that are pooled.

    Raises:
        RuntimeError: `input` has another number of dims, `padding` is too great, no window
            fits, or a size is less than 1.

    Example:
        >>> F.max_pool1d_with_indices(gw.ones(1, 2, 5), 2)[1].shape
        graphwright.Size([1, 2, 2])
    """
    return _dispatch(
        _max_pool1d_with_indices, (input, kernel_size, stride, padding, dilation, ceil_mode)
    )


def max_pool2d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Any:
    """Maximum of each window of 2D signals.

    Args:
        input: `(N, C, H, W)`, or `(C, H, W)`.
        kernel_size: the size of a window, an int or one per dim.
        stride: the step between windows, an int or one per dim; `kernel_size` if None.
        padding: what is added at both ends of each dim, of value -inf; at most half a window.
        dilation: the step between the elements of a window, an int or one per dim.
        ceil_mode: round the number of windows up, not down.

    Returns: a tensor of the shape of `input`, but
    `(size + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1` elements in each
    pooled dim.

    Raises:
        RuntimeError: `input` has another number of dims, `padding` is too great, no window
            fits, or a size is less than 1.

    Example:
        >>> gw.max_pool2d(gw.ones(1, 2, 5, 5), 2).shape
        graphwright.Size([1, 2, 2, 2])
    """
    return _dispatch(_max_pool2d, (input, kernel_size, stride, padding, dilation, ceil_mode))


def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Any:
    """Maximum of each window of 2D signals, with its index.

    Args:
        input: `(N, C, H, W)`, or `(C, H, W)`.
        kernel_size: the size of a window, an int or one per dim.
        stride: the step between windows, an int or one per dim; `kernel_size` if None.
        padding: what is added at both ends of each dim, of value -inf; at most half a window.
        dilation: the step between the elements of a window, an int or one per dim.
        ceil_mode: round the number of windows up, not down.

    Returns: `(values, indices)`, both of the shape of `input`, but
    `(size + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1` elements in each
    pooled dim. The indices are int64: positions in the flattened dims that are pooled.

    Raises:
        RuntimeError: `input` has another number of dims, `padding` is too great, no window
            fits, or a size is less than 1.

    Example:
        >>> F.max_pool2d_with_indices(gw.ones(1, 2, 5, 5), 2)[1].shape
        graphwright.Size([1, 2, 2, 2])
    """
    return _dispatch(
        _max_pool2d_with_indices, (input, kernel_size, stride, padding, dilation, ceil_mode)
    )


def max_pool3d(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Any:
    """Maximum of each window of 3D signals.

    Args:
        input: `(N, C, D, H, W)`, or `(C, D, H, W)`.
        kernel_size: the size of a window, an int or one per dim.
        stride: the step between windows, an int or one per dim; `kernel_size` if None.
        padding: what is added at both ends of each dim, of value -inf; at most half a window.
        dilation: the step between the elements of a window, an int or one per dim.
        ceil_mode: round the number of windows up, not down.

    Returns: a tensor of the shape of `input`, but
    `(size + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1` elements in each
    pooled dim.

    Raises:
        RuntimeError: `input` has another number of dims, `padding` is too great, no window
            fits, or a size is less than 1.

    Example:
        >>> gw.max_pool3d(gw.ones(1, 2, 5, 5, 5), 2).shape
        graphwright.Size([1, 2, 2, 2, 2])
    """
    return _dispatch(_max_pool3d, (input, kernel_size, stride, padding, dilation, ceil_mode))


def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Any:
    """Maximum of each window of 3D signals, with its index.

    Args:
        input: `(N, C, D, H, W)`, or `(C, D, H, W)`.
        kernel_size: the size of a window, an int or one per dim.
        stride: the step between windows, an int or one per dim; `kernel_size` if None.
        padding: what is added at both ends of each dim, of value -inf; at most half a window.
        dilation: the step between the elements of a window, an int or one per dim.
        ceil_mode: round the number of windows up, not down.

    Returns: `(values, indices)`, both of the shape of `input`, but
    `(size + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1` elements in each
    pooled dim. The indices are int64: positions in the flattened dims that are pooled.

    Raises:
        RuntimeError: `input` has another number of dims, `padding` is too great, no window
            fits, or a size is less than 1.

    Example:
        >>> F.max_pool3d_with_indices(gw.ones(1, 2, 5, 5, 5), 2)[1].shape
        graphwright.Size([1, 2, 2, 2, 2])
    """
    return _dispatch(
        _max_pool3d_with_indices, (input, kernel_size, stride, padding, dilation, ceil_mode)
    )


def max_pool_backward(
    grad: Tensor,
    indices: Tensor,
    input_size: Sequence[int],
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Any:
    try:
        _bound = (
            grad,
            indices,
            as_size(input_size),
            as_size(kernel_size),
            as_size(stride),
            as_size(padding),
            as_size(dilation),
        )
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _max_pool_backward,
            (
                grad,
                indices,
                input_size,
                kernel_size,
                stride,
                padding,
                dilation,
            ),
            _error,
        )
    return _dispatch(_max_pool_backward, _bound)


def max_pool_with_indices(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
) -> Any:
    try:
        _bound = (
            input,
            as_size(kernel_size),
            as_size(stride),
            as_size(padding),
            as_size(dilation),
            ceil_mode,
        )
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _max_pool_with_indices,
            (
                input,
                kernel_size,
                stride,
                padding,
                dilation,
                ceil_mode,
            ),
            _error,
        )
    return _dispatch(_max_pool_with_indices, _bound)


def max_unpool(input: Tensor, indices: Tensor, output_size: Sequence[int], ndim: int) -> Any:
    try:
        _bound = (input, indices, as_size(output_size), ndim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_max_unpool, (input, indices, output_size, ndim), _error)
    return _dispatch(_max_unpool, _bound)


def maximum(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_maximum, _bound, out)
    return _dispatch(_maximum, _bound)


def mean(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    dtype: DType | None = None,
    out: Any = None,
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
        _bound = (input, wrap_dims(dim, input.ndim), keepdim, dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_mean, (input, dim, keepdim, dtype), _error)
    if out is not None:
        return with_out(_mean, _bound, out)
    return _dispatch(_mean, _bound)


def median(
    input: Tensor,
    dim: Any = ...,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    out: Any = None,
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
        _bound = (input, wrap_dim_optional(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_median, (input, dim, keepdim), _error)
    if out is not None:
        return with_out(_median, _bound, out)
    return _dispatch(_median, _bound)


def median_position(
    input: Tensor,
    dim: Any = REQUIRED,
    skip_nan: Any = REQUIRED,
    axis: Any = ...,
) -> Any:
    if axis is not ...:
        dim = same_as("median_position", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim), skip_nan)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_median_position, (input, dim, skip_nan), _error)
    return _dispatch(_median_position, _bound)


def median_value(input: Tensor, skip_nan: bool) -> Any:
    return _dispatch(_median_value, (input, skip_nan))


def meshgrid(tensors: Sequence[Tensor], *, indexing: str | None = None) -> Any:
    """The coordinates of a grid: for each vector its values at all points.

    Args:
        tensors: vectors of one dtype, or tensors without dims, one argument each or in a
            sequence.
        indexing: "ij": dim i of the grid belongs to vector i; "xy": the first two dims are
            swapped. "ij" if None.

    Returns: a tuple with an expanded view of each vector, all of the shape of the grid.

    Raises:
        RuntimeError: there are no tensors, one has more dims, dtypes differ, or `indexing` is
            unknown.

    Example:
        >>> gw.meshgrid(gw.tensor([1, 2]), gw.tensor([3, 4]), indexing="ij")
        (tensor([[1, 1],
                [2, 2]]), tensor([[3, 4],
                [3, 4]]))
    """
    return _dispatch(_meshgrid, (as_tensors(tensors, "meshgrid"), indexing))


def min(
    input: Tensor,
    dim: Any = ...,
    keepdim: Any = ...,
    axis: Any = ...,
    other: Any = ...,
    keepdims: Any = ...,
    *,
    out: Any = None,
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
    _bound = (input, dim, keepdim)
    if out is not None:
        return with_out(_min, _bound, out)
    return _dispatch(_min, _bound)


def minimum(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_minimum, _bound, out)
    return _dispatch(_minimum, _bound)


def mish(input: Tensor) -> Any:
    return _dispatch(_mish, (input,))


def mish_(input: Tensor) -> Any:
    return _dispatch(_mish_, (input,))


def mish_backward(grad: Tensor, input: Tensor) -> Any:
    return _dispatch(_mish_backward, (grad, input))


def mm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, mat2)
    if out is not None:
        return with_out(_mm, _bound, out)
    return _dispatch(_mm, _bound)


def mode(
    input: Tensor,
    dim: int = -1,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    out: Any = None,
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
        _bound = (input, wrap_dim(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_mode, (input, dim, keepdim), _error)
    if out is not None:
        return with_out(_mode, _bound, out)
    return _dispatch(_mode, _bound)


def mode_position(input: Tensor, dim: Any = REQUIRED, axis: Any = ...) -> Any:
    if axis is not ...:
        dim = same_as("mode_position", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_mode_position, (input, dim), _error)
    return _dispatch(_mode_position, _bound)


def movedim(input: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Any:
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
    return _dispatch(_movedim, (input, source, destination))


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Any:
    return _dispatch(_mse_loss, (input, target, reduction))


def msort(input: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input,)
    if out is not None:
        return with_out(_msort, _bound, out)
    return _dispatch(_msort, _bound)


def mul(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_mul, _bound, out)
    return _dispatch(_mul, _bound)


def mul_(input: Tensor, other: Tensor | Number) -> Any:
    """In place: writes what `mul` gives into the tensor, and returns it."""
    return _dispatch(_mul_, (input, other))


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Any:
    return _dispatch(_multi_margin_loss, (input, target, p, margin, weight, reduction))


def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Any:
    return _dispatch(_multilabel_margin_loss, (input, target, reduction))


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Any:
    return _dispatch(_multilabel_soft_margin_loss, (input, target, weight, reduction))


def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Any = None,
    out: Any = None,
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
    _bound = (input, num_samples, replacement, generator)
    if out is not None:
        return with_out(_multinomial, _bound, out)
    return _dispatch(_multinomial, _bound)


def mv(input: Tensor, vec: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, vec)
    if out is not None:
        return with_out(_mv, _bound, out)
    return _dispatch(_mv, _bound)


def mvlgamma(input: Tensor, p: int, *, out: Any = None) -> Any:
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
    _bound = (input, p)
    if out is not None:
        return with_out(_mvlgamma, _bound, out)
    return _dispatch(_mvlgamma, _bound)


def mvlgamma_(input: Tensor, p: int) -> Any:
    """In place: writes what `mvlgamma` gives into the tensor, and returns it."""
    return _dispatch(_mvlgamma_, (input, p))


def nadam_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    mu_product: Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    momentum_decay: float,
    decoupled: bool,
    maximize: bool,
) -> Any:
    return _dispatch(
        _nadam_step_,
        (
            param,
            grad,
            step,
            exp_avg,
            exp_avg_sq,
            mu_product,
            lr,
            beta1,
            beta2,
            eps,
            weight_decay,
            momentum_decay,
            decoupled,
            maximize,
        ),
    )


def nan_to_num(
    input: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    out: Any = None,
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
    _bound = (input, nan, posinf, neginf)
    if out is not None:
        return with_out(_nan_to_num, _bound, out)
    return _dispatch(_nan_to_num, _bound)


def nan_to_num_(
    input: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Any:
    """In place: writes what `nan_to_num` gives into the tensor, and returns it."""
    return _dispatch(_nan_to_num_, (input, nan, posinf, neginf))


def nanmean(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    dtype: DType | None = None,
    out: Any = None,
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
        _bound = (input, wrap_dims(dim, input.ndim), keepdim, dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_nanmean, (input, dim, keepdim, dtype), _error)
    if out is not None:
        return with_out(_nanmean, _bound, out)
    return _dispatch(_nanmean, _bound)


def nanmedian(
    input: Tensor,
    dim: Any = ...,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    out: Any = None,
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
        _bound = (input, wrap_dim_optional(dim, input.ndim), keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_nanmedian, (input, dim, keepdim), _error)
    if out is not None:
        return with_out(_nanmedian, _bound, out)
    return _dispatch(_nanmedian, _bound)


def nanquantile(
    input: Tensor,
    q: Tensor | Number,
    dim: Any = None,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    interpolation: str = "linear",
    out: Any = None,
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
    _bound = (input, q, dim, keepdim, interpolation)
    if out is not None:
        return with_out(_nanquantile, _bound, out)
    return _dispatch(_nanquantile, _bound)


def nansum(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    dtype: DType | None = None,
    out: Any = None,
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
        _bound = (input, wrap_dims(dim, input.ndim), keepdim, dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_nansum, (input, dim, keepdim, dtype), _error)
    if out is not None:
        return with_out(_nansum, _bound, out)
    return _dispatch(_nansum, _bound)


def narrow(
    input: Tensor,
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
        _bound = (input, wrap_dim(dim, input.ndim), start, length)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_narrow, (input, dim, start, length), _error)
    return _dispatch(_narrow, _bound)


def narrow_copy(
    input: Tensor,
    dim: Any = REQUIRED,
    start: Any = REQUIRED,
    length: Any = REQUIRED,
    axis: Any = ...,
    *,
    out: Any = None,
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
    _bound = (input, dim, start, length)
    if out is not None:
        return with_out(_narrow_copy, _bound, out)
    return _dispatch(_narrow_copy, _bound)


def native_dropout(input: Tensor, p: float) -> Any:
    return _dispatch(_native_dropout, (input, p))


def native_layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> Any:
    try:
        _bound = (input, as_size(normalized_shape), weight, bias, eps)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _native_layer_norm,
            (
                input,
                normalized_shape,
                weight,
                bias,
                eps,
            ),
            _error,
        )
    return _dispatch(_native_layer_norm, _bound)


def ne(input: Tensor, other: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_ne, _bound, out)
    return _dispatch(_ne, _bound)


def ne_(input: Tensor, other: Tensor | Number) -> Any:
    """In place: writes what `ne` gives into the tensor, and returns it."""
    return _dispatch(_ne_, (input, other))


def neg(input: Tensor, *, out: Any = None) -> Any:
    """Negative of each element, `y = -x`; the operator `-`.

    Args:
        input: a tensor of any shape and any dtype but bool; unsigned integers wrap.

    Raises:
        RuntimeError: `input` is of bool.

    Example:
        >>> gw.neg(gw.tensor([1, -2]))
        tensor([-1,  2])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_neg, _bound, out)
    return _dispatch(_neg, _bound)


def neg_(input: Tensor) -> Any:
    """In place: writes what `neg` gives into the tensor, and returns it."""
    return _dispatch(_neg_, (input,))


def nextafter(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_nextafter, _bound, out)
    return _dispatch(_nextafter, _bound)


def nextafter_(input: Tensor, other: Tensor) -> Any:
    """In place: writes what `nextafter` gives into the tensor, and returns it."""
    return _dispatch(_nextafter_, (input, other))


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Any:
    return _dispatch(_nll_loss, (input, target, weight, ignore_index, reduction))


def nll_loss_backward(
    grad: Tensor,
    size: Sequence[int],
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
) -> Any:
    try:
        _bound = (grad, as_size(size), target, weight, ignore_index, reduction)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _nll_loss_backward,
            (
                grad,
                size,
                target,
                weight,
                ignore_index,
                reduction,
            ),
            _error,
        )
    return _dispatch(_nll_loss_backward, _bound)


def nonzero(input: Tensor, *, as_tuple: bool = False, out: Any = None) -> Any:
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
    _bound = (input, as_tuple)
    if out is not None:
        return with_out(_nonzero, _bound, out)
    return _dispatch(_nonzero, _bound)


def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1, out: Any = None) -> Any:
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
    _bound = (input, size, fill_value)
    if out is not None:
        return with_out(_nonzero_static, _bound, out)
    return _dispatch(_nonzero_static, _bound)


def norm(
    input: Tensor,
    p: Number | str | None = "fro",
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: DType | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    out: Any = None,
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
    _bound = (input, p, dim, keepdim, dtype)
    if out is not None:
        return with_out(_norm, _bound, out)
    return _dispatch(_norm, _bound)


def normal(
    mean: Tensor | Number,
    std: Tensor | Number = 1.0,
    size: Sequence[int] | None = None,
    *,
    generator: Any = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Random numbers of normal distributions, `mean + std * randn`.

    Gradients flow to `mean` and `std`.

    Args:
        mean: a number or a tensor.
        std: a number or a tensor that broadcasts with `mean`, at least 0.
        size: the shape where both are numbers, else it is not read.
        generator: the generator that draws; the default one if None.
        dtype: the dtype where both are numbers; the default dtype if None.
        device: where the result is; the default device if None.

    Returns: a tensor of shape `size`, or of the broadcast shape and dtype of the first tensor.

    Raises:
        RuntimeError: a standard deviation is negative, or the shapes do not broadcast.
        TypeError: both are numbers and there is no size.

    Example:
        >>> gw.normal(gw.zeros(2, 1), gw.ones(3)).shape
        graphwright.Size([2, 3])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("normal", layout, pin_memory)
    try:
        _bound = (mean, std, as_size_optional(size), generator, dtype, device)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_normal, (mean, std, size, generator, dtype, device), _error)
    if out is not None:
        return with_out(_normal, _bound, out)
    return _require(requires_grad, _dispatch(_normal, _bound))


def normal_(input: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Any:
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
    return _dispatch(_normal_, (input, mean, std, generator))


def normal_cdf(input: Tensor) -> Any:
    return _dispatch(_normal_cdf, (input,))


def numpy_T(input: Tensor) -> Any:
    return _dispatch(_numpy_T, (input,))


def one_hot(input: Tensor, num_classes: int = -1) -> Any:
    """Classes as vectors of zeros with a 1 at the class.

    Args:
        input: classes, int64, `(*)`.
        num_classes: the number C of classes; one more than the greatest class if -1.

    Returns: an int64 tensor of shape `(*, C)`.

    Raises:
        RuntimeError: a class is negative or not less than `num_classes`, or `input` is not
            int64.

    Example:
        >>> F.one_hot(gw.tensor([0, 2]))
        tensor([[1, 0, 0],
                [0, 0, 1]])
    """
    return _dispatch(_one_hot, (input, num_classes))


def ones(
    *size_: Any,
    size: Any = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Tensor filled with 1.

    Args:
        size: the shape: a sequence, or one argument per size.
        dtype: that of the result; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a contiguous tensor.

    Raises:
        RuntimeError: a size is negative.

    Example:
        >>> gw.ones(2, 3)
        tensor([[1., 1., 1.],
                [1., 1., 1.]])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("ones", layout, pin_memory)
    _bound = (as_size(varargs(size_, size)), dtype, device)
    if out is not None:
        return with_out(_ones, _bound, out)
    return _require(requires_grad, _dispatch(_ones, _bound))


def ones_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    memory_format: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Tensor of the shape of another one, filled with 1.

    Args:
        input: the tensor whose shape, order of strides and dtype are taken.
        dtype: that of the result; that of `input` if None.
        device: where the result is made; that of `input` if None.

    Returns: a new dense tensor.

    Example:
        >>> gw.ones_like(gw.tensor([3, 4]))
        tensor([1, 1])
    """
    if layout is not None or pin_memory:
        check_placement("ones_like", layout, pin_memory)
    if memory_format is not None:
        _made = _dispatch(_ones_like, (input, dtype, device))
        return _require(requires_grad, in_format("ones_like", _made, memory_format))
    return _require(requires_grad, _dispatch(_ones_like, (input, dtype, device)))


def order_of_pivots(pivots: Tensor, rows: int) -> Any:
    return _dispatch(_order_of_pivots, (pivots, rows))


def orgqr(input: Tensor, input2: Tensor) -> Any:
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
    return _dispatch(_orgqr, (input, input2))


def ormqr(
    input: Tensor,
    input2: Tensor,
    input3: Tensor,
    left: bool = True,
    transpose: bool = False,
    *,
    out: Any = None,
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
    _bound = (input, input2, input3, left, transpose)
    if out is not None:
        return with_out(_ormqr, _bound, out)
    return _dispatch(_ormqr, _bound)


def outer(input: Tensor, vec2: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, vec2)
    if out is not None:
        return with_out(_outer, _bound, out)
    return _dispatch(_outer, _bound)


def p_norm(
    input: Tensor,
    ord: float,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: DType | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
) -> Any:
    if surplus is not ...:
        refuse_surplus("p_norm")
    if axis is not ...:
        dim = same_as("p_norm", "dim", dim, None, "axis", axis)
    if keepdims is not ...:
        keepdim = same_as("p_norm", "keepdim", keepdim, False, "keepdims", keepdims)
    try:
        _bound = (input, ord, wrap_dims(dim, input.ndim), keepdim, dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_p_norm, (input, ord, dim, keepdim, dtype), _error)
    return _dispatch(_p_norm, _bound)


def pad(
    input: Tensor,
    pad: Sequence[int],
    mode: str = "constant",
    value: Number | None = None,
) -> Any:
    """Padding of the last dims: constant, reflected, replicated or circular.

    Args:
        input: a tensor; of `n + 1` or `n + 2` dims where the mode is not constant and n dims
            (1 to 3) are padded.
        pad: `(left, right, top, bottom, ...)`: what is added before and after, the last dim
            first; negative numbers cut off.
        mode: "constant", "reflect" (the border element is not repeated), "replicate" (it is),
            or "circular".
        value: the constant; 0 if None.

    Returns: a tensor with `pad` more elements in the last dims.

    Raises:
        NotImplementedError: `mode` is unknown, or the number of dims is not supported by it.
        RuntimeError: `pad` has an odd length or too many numbers, is not less than the size
            ("reflect"), is more than it ("circular"), or leaves nothing; `value` is given for
            another mode.

    Example:
        >>> F.pad(gw.tensor([[1, 2, 3]]), (2, 1), mode="reflect")
        tensor([[3, 2, 1, 2, 3, 2]])
    """
    try:
        _bound = (input, as_size(pad), mode, value)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_pad, (input, pad, mode, value), _error)
    return _dispatch(_pad, _bound)


def pair_distances(x1: Tensor, x2: Tensor, p: float, compute_mode: str | None) -> Any:
    return _dispatch(_pair_distances, (x1, x2, p, compute_mode))


def pairwise_distance(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    eps: float = 1e-06,
    keepdim: bool = False,
    surplus: Any = ...,
    keepdims: Any = ...,
) -> Any:
    """Distances between the vectors of two tensors, one by one: `||x1 - x2 + eps||_p`.

    Args:
        x1: `(*, k)`.
        x2: `(*, k)`; shapes are broadcast, dtypes promoted.
        p: order of the norm along the last dim.
        eps: added to each difference.
        keepdim: keep the last dim with size 1.

    Returns: a tensor of the broadcast shape without its last dim.

    Raises:
        RuntimeError: the shapes are not broadcastable.

    Example:
        >>> gw.pairwise_distance(gw.zeros(2), gw.tensor([3.0, 4.0]), eps=0.0)
        tensor(5.)
    """
    if surplus is not ...:
        refuse_surplus("pairwise_distance")
    if keepdims is not ...:
        keepdim = same_as("pairwise_distance", "keepdim", keepdim, False, "keepdims", keepdims)
    return _dispatch(_pairwise_distance, (x1, x2, p, eps, keepdim))


def pdist(input: Tensor, p: float = 2.0) -> Any:
    """Distances between all pairs of rows: `||input[i] - input[j]||_p` for i < j.

    Args:
        input: float32 or float64, `(n, k)`.
        p: order of the norm, not negative.

    Returns: a tensor of shape `(n * (n - 1) / 2,)`, in the order (0, 1), (0, 2), ..., (1, 2),
    ...

    Raises:
        RuntimeError: `input` has not 2 dims, is not floating point, or `p` is negative.

    Example:
        >>> gw.pdist(gw.tensor([[0.0], [1.0], [3.0]]))
        tensor([1., 3., 2.])
    """
    return _dispatch(_pdist, (input, p))


def permute(input: Tensor, dims: Sequence[int]) -> Any:
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
        _bound = (input, wrap_permutation(dims, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_permute, (input, dims), _error)
    return _dispatch(_permute, _bound)


def permute_copy(input: Tensor, dims: Sequence[int], *, out: Any = None) -> Any:
    """Copy of `permute`: the dims in another order.

    Args:
        input: a tensor of any shape.
        dims: the dims of `input` in their new order, each once.

    Returns: a new contiguous tensor.

    Raises:
        RuntimeError: a dim is missing or named twice.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.permute_copy(gw.ones(2, 3, 4), (2, 0, 1)).stride()
        (6, 3, 1)
    """
    try:
        _bound = (input, wrap_permutation(dims, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_permute_copy, (input, dims), _error)
    if out is not None:
        return with_out(_permute_copy, _bound, out)
    return _dispatch(_permute_copy, _bound)


def philox_uniform(
    size: Sequence[int],
    dtype: DType,
    device: Device | str | None,
    place: Tensor,
    index: int,
) -> Any:
    try:
        _bound = (as_size(size), dtype, device, place, index)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_philox_uniform, (size, dtype, device, place, index), _error)
    return _dispatch(_philox_uniform, _bound)


def pinverse(input: Tensor, rcond: float = 1e-15) -> Any:
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
    return _dispatch(_pinverse, (input, rcond))


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Any:
    """Channels moved into space: `(*, C * r**2, H, W)` becomes `(*, C, H * r, W * r)`.

    Shi et al., "Real-time single image and video super-resolution" (2016).

    Args:
        input: a tensor of at least 3 dims.
        upscale_factor: the factor r.

    Returns: a tensor of the dtype of `input`.

    Raises:
        RuntimeError: the channels are not a multiple of r**2, r is less than 1, or `input`
            has less than 3 dims.

    Example:
        >>> gw.pixel_shuffle(gw.tensor([[[0]], [[1]], [[2]], [[3]]]), 2)
        tensor([[[0, 1],
                 [2, 3]]])
    """
    return _dispatch(_pixel_shuffle, (input, upscale_factor))


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Any:
    """Space moved into channels: `(*, C, H * r, W * r)` becomes `(*, C * r**2, H, W)`.

    Args:
        input: a tensor of at least 3 dims.
        downscale_factor: the factor r.

    Returns: a tensor of the dtype of `input`.

    Raises:
        RuntimeError: height or width is not a multiple of r, r is less than 1, or `input` has
            less than 3 dims.

    Example:
        >>> gw.pixel_unshuffle(gw.tensor([[[0, 1], [2, 3]]]), 2).flatten()
        tensor([0, 1, 2, 3])
    """
    return _dispatch(_pixel_unshuffle, (input, downscale_factor))


def poisson(input: Tensor, generator: Any = None) -> Any:
    """Random numbers of Poisson distributions with the rates that are given.

    Args:
        input: a floating-point tensor of rates, at least 0.
        generator: the generator that draws; the default one if None.

    Returns: a tensor of whole numbers, of the shape and dtype of `input`.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.
        RuntimeError: a rate is negative or nan.

    Example:
        >>> gw.poisson(gw.tensor([0.0, 0.0]))
        tensor([0., 0.])
    """
    return _dispatch(_poisson, (input, generator))


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-08,
    reduction: str = "mean",
) -> Any:
    return _dispatch(_poisson_nll_loss, (input, target, log_input, full, eps, reduction))


def polar(abs: Tensor, angle: Tensor, *, out: Any = None) -> Any:
    """Complex numbers of the given polar coordinates, `abs * e^(i angle)`, broadcast.

    Args:
        abs, angle: tensors of one dtype, float32 or float64, that broadcast; angles in radians.

    Returns: a complex64 or complex128 tensor of the broadcast shape.

    Raises:
        RuntimeError: the dtypes differ or are others, or the shapes do not broadcast.

    Example:
        >>> gw.polar(gw.tensor([2.0]), gw.tensor([0.0]))
        tensor([2.+0.j])
    """
    _bound = (abs, angle)
    if out is not None:
        return with_out(_polar, _bound, out)
    return _dispatch(_polar, _bound)


def polygamma(n: int, input: Tensor, *, out: Any = None) -> Any:
    """Derivative of order `n` of `digamma`, `(-1)^(n+1) n! zeta(n + 1, x)` (DLMF 25.11.12).

    Args:
        n: the order, at least 0; order 0 is `digamma` itself.
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: `input` is complex.
        RuntimeError: `n` is negative.

    Example:
        >>> gw.polygamma(1, gw.tensor([1.0, 2.0]))
        tensor([1.6449, 0.6449])
    """
    _bound = (n, input)
    if out is not None:
        return with_out(_polygamma, _bound, out)
    return _dispatch(_polygamma, _bound)


def positive(input: Tensor) -> Any:
    """The tensor itself; the operator `+` of one operand.

    Args:
        input: a tensor of any shape.

    Raises:
        RuntimeError: `input` is of bool.

    Example:
        >>> gw.positive(gw.tensor([-1, 2]))
        tensor([-1,  2])
    """
    return _dispatch(_positive, (input,))


def pow(
    input: Any = REQUIRED,
    exponent: Any = REQUIRED,
    self: Any = ...,
    *,
    out: Any = None,
) -> Any:
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
    if self is not ...:
        input = same_as("pow", "input", input, REQUIRED, "self", self)
    _bound = (input, exponent)
    if out is not None:
        return with_out(_pow, _bound, out)
    return _dispatch(_pow, _bound)


def pow_(input: Tensor, exponent: Tensor | Number) -> Any:
    """In place: writes what `pow` gives into the tensor, and returns it."""
    return _dispatch(_pow_, (input, exponent))


def pow_number(input: Tensor, exponent: Tensor) -> Any:
    return _dispatch(_pow_number, (input, exponent))


def pow_number_(input: Tensor, exponent: Tensor) -> Any:
    return _dispatch(_pow_number_, (input, exponent))


def prelu(input: Tensor, weight: Tensor) -> Any:
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
    return _dispatch(_prelu, (input, weight))


def prod(
    input: Tensor,
    dim: Any = ...,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    dtype: DType | None = None,
    out: Any = None,
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
        _bound = (input, wrap_lone_dim(dim, input.ndim), keepdim, dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_prod, (input, dim, keepdim, dtype), _error)
    if out is not None:
        return with_out(_prod, _bound, out)
    return _dispatch(_prod, _bound)


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Any:
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
    return _dispatch(_put, (input, index, source, accumulate))


def put_(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Any:
    """In place: writes what `put` gives into the tensor, and returns it."""
    return _dispatch(_put_, (input, index, source, accumulate))


def qr(input: Tensor, some: bool = True, *, out: Any = None) -> Any:
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
    _bound = (input, some)
    if out is not None:
        return with_out(_qr, _bound, out)
    return _dispatch(_qr, _bound)


def qr_factors(A: Tensor, mode: str) -> Any:
    return _dispatch(_qr_factors, (A, mode))


def qr_reflections(input: Tensor) -> Any:
    return _dispatch(_qr_reflections, (input,))


def quantile(
    input: Tensor,
    q: Tensor | Number,
    dim: Any = None,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    interpolation: str = "linear",
    out: Any = None,
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
    _bound = (input, q, dim, keepdim, interpolation)
    if out is not None:
        return with_out(_quantile, _bound, out)
    return _dispatch(_quantile, _bound)


def rad2deg(input: Tensor, *, out: Any = None) -> Any:
    """Radians in degrees, `y = x * 180 / pi`.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is complex.

    Example:
        >>> gw.rad2deg(gw.tensor([1.0, 3.0]))
        tensor([ 57.2958, 171.8873])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_rad2deg, _bound, out)
    return _dispatch(_rad2deg, _bound)


def rad2deg_(input: Tensor) -> Any:
    """In place: writes what `rad2deg` gives into the tensor, and returns it."""
    return _dispatch(_rad2deg_, (input,))


def radam_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
    maximize: bool,
) -> Any:
    return _dispatch(
        _radam_step_,
        (
            param,
            grad,
            step,
            exp_avg,
            exp_avg_sq,
            lr,
            beta1,
            beta2,
            eps,
            weight_decay,
            decoupled,
            maximize,
        ),
    )


def rand(
    *size_: Any,
    size: Any = None,
    generator: Any = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Random numbers of the uniform distribution on [0, 1).

    They are made of words of Philox4x32-10: Salmon et al., "Parallel random numbers", 2011.

    Args:
        size: the shape, as one sequence or as several integers.
        generator: the generator that draws; the default one if None.
        dtype: a floating-point or complex dtype; the default dtype if None.
        device: where the result is; the default device if None.

    Raises:
        NotImplementedError: `dtype` is bool or an integer dtype.
        RuntimeError: a size is negative.

    Example:
        >>> gw.rand(2, 3).shape
        graphwright.Size([2, 3])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("rand", layout, pin_memory)
    _bound = (as_size(varargs(size_, size)), generator, dtype, device)
    if out is not None:
        return with_out(_rand, _bound, out)
    return _require(requires_grad, _dispatch(_rand, _bound))


def rand_like(
    input: Tensor,
    *,
    generator: Any = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    memory_format: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Tensor of the shape of `input` with uniform numbers on [0, 1): see `rand`.

    Args:
        input: a tensor of any shape.
        generator: the generator that draws; the default one if None.
        dtype: a floating-point or complex dtype; that of `input` if None.
        device: where the result is; the device of `input` if None.

    Raises:
        NotImplementedError: the dtype is bool or an integer one.

    Example:
        >>> gw.rand_like(gw.zeros(2, 3)).shape
        graphwright.Size([2, 3])
    """
    if layout is not None or pin_memory:
        check_placement("rand_like", layout, pin_memory)
    if memory_format is not None:
        _made = _dispatch(_rand_like, (input, generator, dtype, device))
        return _require(requires_grad, in_format("rand_like", _made, memory_format))
    return _require(requires_grad, _dispatch(_rand_like, (input, generator, dtype, device)))


def randint(
    low: int | None = None,
    high: Any = None,
    size: Any = None,
    *,
    generator: Any = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Random integers of the uniform distribution on [low, high).

    The calls are `randint(high, size)` and `randint(low, high, size)`.

    Args:
        low: the least integer; 0 if it is not given.
        high: the bound above, which is never drawn.
        size: the shape, a sequence of integers.
        generator: the generator that draws; the default one if None.
        dtype: a real dtype that holds the bounds; int64 if None.
        device: where the result is; the default device if None.

    Raises:
        NotImplementedError: `dtype` is complex.
        RuntimeError: `low` is not below `high`, or the dtype does not hold the integers.
        TypeError: there is no size, or a bound is not an integer.

    Example:
        >>> gw.randint(3, 4, (2,))
        tensor([3, 3])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("randint", layout, pin_memory)
    _bound = (low, high, size, generator, dtype, device)
    if out is not None:
        return with_out(_randint, _bound, out)
    return _require(requires_grad, _dispatch(_randint, _bound))


def randint_like(
    input: Tensor,
    low: Any = None,
    high: Any = None,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    memory_format: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Tensor of the shape of `input` with random integers on [low, high): see `randint`.

    Args:
        input: a tensor of any shape.
        low: the least integer; where it is given alone, the bound above.
        high: the bound above, which is never drawn.
        dtype: a real dtype that holds the bounds; that of `input` if None.
        device: where the result is; the device of `input` if None.

    Raises:
        NotImplementedError: the dtype is complex.
        RuntimeError: `low` is not below `high`, or the dtype does not hold the integers.
        TypeError: there is no bound.

    Example:
        >>> gw.randint_like(gw.zeros(2), 3, 4)
        tensor([3., 3.])
    """
    if layout is not None or pin_memory:
        check_placement("randint_like", layout, pin_memory)
    if memory_format is not None:
        _made = _dispatch(_randint_like, (input, low, high, dtype, device))
        return _require(requires_grad, in_format("randint_like", _made, memory_format))
    return _require(requires_grad, _dispatch(_randint_like, (input, low, high, dtype, device)))


def randn(
    *size_: Any,
    size: Any = None,
    generator: Any = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Random numbers of the standard normal distribution, by the transform of Box and Muller.

    Of complex numbers, the variance of each part is 1/2.

    Args:
        size: the shape, as one sequence or as several integers.
        generator: the generator that draws; the default one if None.
        dtype: a floating-point or complex dtype; the default dtype if None.
        device: where the result is; the default device if None.

    Raises:
        NotImplementedError: `dtype` is bool or an integer dtype.
        RuntimeError: a size is negative.

    Example:
        >>> gw.randn(2, 3).shape
        graphwright.Size([2, 3])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("randn", layout, pin_memory)
    _bound = (as_size(varargs(size_, size)), generator, dtype, device)
    if out is not None:
        return with_out(_randn, _bound, out)
    return _require(requires_grad, _dispatch(_randn, _bound))


def randn_like(
    input: Tensor,
    *,
    generator: Any = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    memory_format: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Tensor of the shape of `input` with standard normal numbers: see `randn`.

    Args:
        input: a tensor of any shape.
        generator: the generator that draws; the default one if None.
        dtype: a floating-point or complex dtype; that of `input` if None.
        device: where the result is; the device of `input` if None.

    Raises:
        NotImplementedError: the dtype is bool or an integer one.

    Example:
        >>> gw.randn_like(gw.zeros(2, 3)).shape
        graphwright.Size([2, 3])
    """
    if layout is not None or pin_memory:
        check_placement("randn_like", layout, pin_memory)
    if memory_format is not None:
        _made = _dispatch(_randn_like, (input, generator, dtype, device))
        return _require(requires_grad, in_format("randn_like", _made, memory_format))
    return _require(requires_grad, _dispatch(_randn_like, (input, generator, dtype, device)))


def random_(
    input: Tensor,
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
    return _dispatch(_random_, (input, from_, to, generator))


def random_bits(size: Sequence[int], generator: Any, device: Device | str | None) -> Any:
    try:
        _bound = (as_size(size), generator, device)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_random_bits, (size, generator, device), _error)
    return _dispatch(_random_bits, _bound)


def random_scaled(
    size: Sequence[int],
    low: int,
    width: int,
    generator: Any,
    device: Device | str | None,
) -> Any:
    try:
        _bound = (as_size(size), low, width, generator, device)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_random_scaled, (size, low, width, generator, device), _error)
    return _dispatch(_random_scaled, _bound)


def randperm(
    n: int,
    *,
    generator: Any = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Random permutation of the integers from 0 to n - 1.

    Args:
        n: the number of integers, at least 0.
        generator: the generator that draws; the default one if None.
        dtype: a dtype that holds n - 1; int64 if None.
        device: where the result is; the default device if None.

    Returns: a tensor of shape [n].

    Raises:
        RuntimeError: `n` is negative, or the dtype does not hold n - 1.

    Example:
        >>> gw.randperm(4).sort().values
        tensor([0, 1, 2, 3])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("randperm", layout, pin_memory)
    _bound = (n, generator, dtype, device)
    if out is not None:
        return with_out(_randperm, _bound, out)
    return _require(requires_grad, _dispatch(_randperm, _bound))


def range(
    start: Number,
    end: Number,
    step: Number = 1,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Vector of the numbers from `start` to `end`, both included; deprecated, use `arange`.

    Args:
        start: the first number.
        end: the last one, if a step meets it.
        step: the distance of numbers, not 0.
        dtype: that of the result; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a vector of `floor((end - start) / step) + 1` numbers, with a UserWarning.

    Raises:
        RuntimeError: `step` is 0 or leads away from `end`, or a number is not finite.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"): print(gw.range(0, 3))
        tensor([0., 1., 2., 3.])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("range", layout, pin_memory)
    _bound = (start, end, step, dtype, device)
    if out is not None:
        return with_out(_range, _bound, out)
    return _require(requires_grad, _dispatch(_range, _bound))


def ravel(input: Tensor) -> Any:
    """Vector of all elements in row-major order.

    Args:
        input: a tensor of any shape.

    Returns: a view of a contiguous `input`, else a copy.

    Example:
        >>> gw.ravel(gw.tensor([[1, 2], [3, 4]]))
        tensor([1, 2, 3, 4])
    """
    return _dispatch(_ravel, (input,))


def real(input: Tensor) -> Any:
    """Real part of each element.

    Args:
        input: a tensor of any shape and dtype.

    Returns: a view of a complex tensor; a real tensor itself.

    Example:
        >>> gw.real(gw.tensor([3 + 4j]))
        tensor([3.])
    """
    return _dispatch(_real, (input,))


def reciprocal(input: Tensor, *, out: Any = None) -> Any:
    """Reciprocal of each element, `y = 1 / x`; inf at 0.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.reciprocal(gw.tensor([2, 4]))
        tensor([0.5000, 0.2500])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_reciprocal, _bound, out)
    return _dispatch(_reciprocal, _bound)


def reciprocal_(input: Tensor) -> Any:
    """In place: writes what `reciprocal` gives into the tensor, and returns it."""
    return _dispatch(_reciprocal_, (input,))


def recurrence(
    mode: str,
    gates: Tensor,
    hidden: Tensor,
    cell: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
) -> Any:
    return _dispatch(_recurrence, (mode, gates, hidden, cell, weight, bias))


def recurrence_backward(
    grad: Tensor,
    last: Tensor | None,
    mode: str,
    gates: Tensor,
    hidden: Tensor,
    cell: Tensor | None,
    weight: Tensor,
    bias: Tensor | None,
    out: Tensor,
    cells: Tensor,
    kept: Tensor,
) -> Any:
    return _dispatch(
        _recurrence_backward,
        (
            grad,
            last,
            mode,
            gates,
            hidden,
            cell,
            weight,
            bias,
            out,
            cells,
            kept,
        ),
    )


def relu(input: Tensor) -> Any:
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
    return _dispatch(_relu, (input,))


def relu_(input: Tensor) -> Any:
    """In place: writes what `relu` gives into the tensor, and returns it."""
    return _dispatch(_relu_, (input,))


def relu_backward(grad: Tensor, input: Tensor) -> Any:
    return _dispatch(_relu_backward, (grad, input))


def remainder(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_remainder, _bound, out)
    return _dispatch(_remainder, _bound)


def remainder_(input: Tensor, other: Tensor | Number) -> Any:
    """In place: writes what `remainder` gives into the tensor, and returns it."""
    return _dispatch(_remainder_, (input, other))


def renorm(
    input: Tensor,
    p: Number,
    dim: Any = REQUIRED,
    maxnorm: Any = REQUIRED,
    axis: Any = ...,
    *,
    out: Any = None,
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
    _bound = (input, p, dim, maxnorm)
    if out is not None:
        return with_out(_renorm, _bound, out)
    return _dispatch(_renorm, _bound)


def renorm_(
    input: Tensor,
    p: Number,
    dim: Any = REQUIRED,
    maxnorm: Any = REQUIRED,
    axis: Any = ...,
) -> Any:
    """In place: writes what `renorm` gives into the tensor, and returns it."""
    if axis is not ...:
        dim = same_as("renorm_", "dim", dim, REQUIRED, "axis", axis)
    return _dispatch(_renorm_, (input, p, dim, maxnorm))


def repeat(input: Tensor, repeats: Sequence[int]) -> Any:
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
    try:
        _bound = (input, as_size(repeats))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_repeat, (input, repeats), _error)
    return _dispatch(_repeat, _bound)


def repeat_interleave(
    input: Tensor,
    repeats: Any = ...,
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
    if repeats is ...:
        repeats = None
    elif repeats is None:
        refuse_none("repeat_interleave", "repeats")
    return _dispatch(_repeat_interleave, (input, repeats, dim, output_size))


def repeat_positions(repeats: Tensor, output_size: int | None = None) -> Any:
    return _dispatch(_repeat_positions, (repeats, output_size))


def require_values(input: Tensor, ok: Tensor, message: str) -> Any:
    return _dispatch(_require_values, (input, ok, message))


def resample(
    input: Tensor,
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    weight: Any = REQUIRED,
    axis: Any = ...,
) -> Any:
    if axis is not ...:
        dim = same_as("resample", "dim", dim, REQUIRED, "axis", axis)
    return _dispatch(_resample, (input, dim, index, weight))


def resample_backward(
    grad: Tensor,
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    weight: Any = REQUIRED,
    size: Any = REQUIRED,
    axis: Any = ...,
) -> Any:
    if axis is not ...:
        dim = same_as("resample_backward", "dim", dim, REQUIRED, "axis", axis)
    return _dispatch(_resample_backward, (grad, dim, index, weight, size))


def resample_table(
    mode: str,
    size: int,
    count: int,
    align_corners: bool,
    factor: Any,
    antialias: bool,
    double: bool,
    of_bytes: bool,
) -> Any:
    return _dispatch(
        _resample_table, (mode, size, count, align_corners, factor, antialias, double, of_bytes)
    )


def reshape(input: Tensor, shape: Sequence[int]) -> Any:
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
    try:
        _bound = (input, as_size(shape))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_reshape, (input, shape), _error)
    return _dispatch(_reshape, _bound)


def reshape_as(input: Tensor, other: Tensor) -> Any:
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
    return _dispatch(_reshape_as, (input, other))


def resolve_conj(input: Tensor) -> Any:
    """The tensor itself: conjugates are computed at once, never marked on a view.

    Args:
        input: a tensor of any shape and dtype.

    Raises:
        TypeError: `input` is not a tensor.

    Example:
        >>> gw.resolve_conj(gw.tensor([1, 2]))
        tensor([1, 2])
    """
    return _dispatch(_resolve_conj, (input,))


def resolve_neg(input: Tensor) -> Any:
    """The tensor itself: negatives are computed at once, never marked on a view.

    Args:
        input: a tensor of any shape and dtype.

    Raises:
        TypeError: `input` is not a tensor.

    Example:
        >>> gw.resolve_neg(gw.tensor([1, 2]))
        tensor([1, 2])
    """
    return _dispatch(_resolve_neg, (input,))


def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Any:
    try:
        _bound = (input, as_size(normalized_shape), weight, eps)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_rms_norm, (input, normalized_shape, weight, eps), _error)
    return _dispatch(_rms_norm, _bound)


def rmsprop_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    square_avg: Tensor,
    momentum_buffer: Tensor | None,
    grad_avg: Tensor | None,
    lr: float,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    maximize: bool,
) -> Any:
    return _dispatch(
        _rmsprop_step_,
        (
            param,
            grad,
            step,
            square_avg,
            momentum_buffer,
            grad_avg,
            lr,
            alpha,
            eps,
            weight_decay,
            momentum,
            maximize,
        ),
    )


def rng_uniform(
    size: Sequence[int],
    dtype: DType,
    device: Device | str | None,
    rng_index: int,
) -> Any:
    try:
        _bound = (as_size(size), dtype, device, rng_index)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_rng_uniform, (size, dtype, device, rng_index), _error)
    return _dispatch(_rng_uniform, _bound)


def roll(
    input: Tensor,
    shifts: int | Sequence[int],
    dims: int | Sequence[int] | None = None,
) -> Any:
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
    return _dispatch(_roll, (input, shifts, dims))


def rot90(input: Tensor, k: int = 1, dims: int | Sequence[int] = (0, 1)) -> Any:
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
    return _dispatch(_rot90, (input, k, dims))


def round(input: Tensor, *, decimals: int = 0, out: Any = None) -> Any:
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
    _bound = (input, decimals)
    if out is not None:
        return with_out(_round, _bound, out)
    return _dispatch(_round, _bound)


def round_(input: Tensor, *, decimals: int = 0) -> Any:
    """In place: writes what `round` gives into the tensor, and returns it."""
    return _dispatch(_round_, (input, decimals))


def rprop_step_(
    param: Tensor,
    grad: Tensor,
    step: Tensor,
    previous: Tensor,
    step_size: Tensor,
    shrink: float,
    grow: float,
    smallest: float,
    largest: float,
    maximize: bool,
) -> Any:
    return _dispatch(
        _rprop_step_,
        (
            param,
            grad,
            step,
            previous,
            step_size,
            shrink,
            grow,
            smallest,
            largest,
            maximize,
        ),
    )


def rrelu(
    input: Tensor,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
) -> Any:
    """Leaky relu of random slope, `y = x` for `x > 0`, else `a x`.

    In training `a` is drawn for each element from [lower, upper), else it is their mean.

    Args:
        input: a floating-point tensor of any shape.
        lower, upper: the bounds of the slope.
        training: whether the slope is drawn.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.
        RuntimeError: `lower` is above `upper`, or one of them is not finite.

    Example:
        >>> gw.rrelu(gw.tensor([-1.0, 1.0]), 0.1, 0.3)
        tensor([-0.2000,  1.0000])
    """
    return _dispatch(_rrelu, (input, lower, upper, training))


def rrelu_(
    input: Tensor,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
) -> Any:
    """In place: writes what `rrelu` gives into the tensor, and returns it."""
    return _dispatch(_rrelu_, (input, lower, upper, training))


def rsqrt(input: Tensor, *, out: Any = None) -> Any:
    """Reciprocal of the square root, `y = 1 / sqrt(x)`; inf at 0.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.rsqrt(gw.tensor([4.0, 0.25]))
        tensor([0.5000, 2.0000])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_rsqrt, _bound, out)
    return _dispatch(_rsqrt, _bound)


def rsqrt_(input: Tensor) -> Any:
    """In place: writes what `rsqrt` gives into the tensor, and returns it."""
    return _dispatch(_rsqrt_, (input,))


def rsub(input: Tensor, other: Tensor | Number, *older: Any, alpha: Number = 1) -> Any:
    """Reversed difference, `other - alpha * input`, elementwise and broadcast.

    Args:
        input: a tensor.
        other: a number, or a tensor that broadcasts with `input`.
        alpha: the number that `input` is multiplied by.

    Returns: a tensor of the broadcast shape, in the promoted dtype.

    Raises:
        RuntimeError: the shapes do not broadcast, or an operand is of bool.
        TypeError: `input` is a number.

    Example:
        >>> gw.rsub(gw.tensor([1, 2]), 10, alpha=2)
        tensor([8, 6])
    """
    if older:
        return number_behind(_rsub, "rsub", (input, other, *older))
    return _dispatch(_rsub, (input, other, alpha))


def running_max(input: Tensor, dim: Any = REQUIRED, axis: Any = ...) -> Any:
    if axis is not ...:
        dim = same_as("running_max", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_running_max, (input, dim), _error)
    return _dispatch(_running_max, _bound)


def running_min(input: Tensor, dim: Any = REQUIRED, axis: Any = ...) -> Any:
    if axis is not ...:
        dim = same_as("running_min", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_running_min, (input, dim), _error)
    return _dispatch(_running_min, _bound)


def scalar_tensor(
    s: Number,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Tensor without dims that holds a number.

    Args:
        s: the number.
        dtype: that of the result; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a new tensor.

    Raises:
        RuntimeError: the dtype does not hold the number.

    Example:
        >>> gw.scalar_tensor(3)
        tensor(3.)
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("scalar_tensor", layout, pin_memory)
    return _require(requires_grad, _dispatch(_scalar_tensor, (s, dtype, device)))


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Attention: `softmax(query @ key^T * scale + mask) @ value`.

    Vaswani et al., "Attention is all you need" (2017). Eligible calls run as one fused kernel.

    Args:
        query: floating point, `(*, n, d)`.
        key: `(*, m, d)`, of the dtype of `query`.
        value: `(*, m, e)`, of the dtype of `query`.
        attn_mask: broadcastable to `(*, n, m)`: bool, True where a query may attend to a key;
            or terms of the dtype of `query`, added to the scores. None: no mask.
        dropout_p: probability with which each weight is set to 0; the others are scaled up.
        is_causal: query i attends to the keys up to i only.
        scale: factor of the scores; `1 / sqrt(d)` if None.
        enable_gqa: `key` and `value` may have less heads (third dim from the end) than `query`:
            each serves a group of queries' heads.

    Returns: a tensor of shape `(*, n, e)`; zeros for a query that a bool mask lets attend to no
    key.

    Raises:
        RuntimeError: shapes or dtypes do not match, or a mask is given with `is_causal`.

    Example:
        >>> q, k, v = gw.ones(1, 2, 4), gw.ones(1, 3, 4), gw.ones(1, 3, 5)
        >>> F.scaled_dot_product_attention(q, k, v).shape
        graphwright.Size([1, 2, 5])
    """
    return _dispatch(
        _scaled_dot_product_attention,
        (
            query,
            key,
            value,
            attn_mask,
            dropout_p,
            is_causal,
            scale,
            enable_gqa,
        ),
    )


def scatter(
    input: Tensor,
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    src: Tensor | Number | None = None,
    value: Tensor | Number | None = None,
    axis: Any = ...,
    *,
    reduce: str | None = None,
    out: Any = None,
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
        _bound = (input, wrap_dim(dim, input.ndim), index, src, value, reduce)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_scatter, (input, dim, index, src, value, reduce), _error)
    if out is not None:
        return with_out(_scatter, _bound, out)
    return _dispatch(_scatter, _bound)


def scatter_(
    input: Tensor,
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
        _bound = (input, wrap_dim(dim, input.ndim), index, src, value, reduce)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_scatter_, (input, dim, index, src, value, reduce), _error)
    return _dispatch(_scatter_, _bound)


def scatter_add(
    input: Tensor,
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    src: Any = REQUIRED,
    axis: Any = ...,
    *,
    out: Any = None,
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
        _bound = (input, wrap_dim(dim, input.ndim), index, src)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_scatter_add, (input, dim, index, src), _error)
    if out is not None:
        return with_out(_scatter_add, _bound, out)
    return _dispatch(_scatter_add, _bound)


def scatter_add_(
    input: Tensor,
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    src: Any = REQUIRED,
    axis: Any = ...,
) -> Any:
    """In place: writes what `scatter_add` gives into the tensor, and returns it."""
    if axis is not ...:
        dim = same_as("scatter_add_", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim), index, src)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_scatter_add_, (input, dim, index, src), _error)
    return _dispatch(_scatter_add_, _bound)


def scatter_combined(
    input: Tensor,
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    src: Any = REQUIRED,
    reduce: Any = REQUIRED,
    axis: Any = ...,
) -> Any:
    if axis is not ...:
        dim = same_as("scatter_combined", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim), index, src, reduce)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_scatter_combined, (input, dim, index, src, reduce), _error)
    return _dispatch(_scatter_combined, _bound)


def scatter_extreme(
    input: Tensor,
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    src: Any = REQUIRED,
    reduce: Any = REQUIRED,
    include_self: bool = True,
    axis: Any = ...,
) -> Any:
    if axis is not ...:
        dim = same_as("scatter_extreme", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim), index, src, reduce, include_self)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _scatter_extreme,
            (
                input,
                dim,
                index,
                src,
                reduce,
                include_self,
            ),
            _error,
        )
    return _dispatch(_scatter_extreme, _bound)


def scatter_planes(input: Tensor, indices: Tensor, output_size: Sequence[int], ndim: int) -> Any:
    try:
        _bound = (input, indices, as_size(output_size), ndim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_scatter_planes, (input, indices, output_size, ndim), _error)
    return _dispatch(_scatter_planes, _bound)


def scatter_reduce(
    input: Tensor,
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    src: Any = REQUIRED,
    reduce: Any = REQUIRED,
    axis: Any = ...,
    *,
    include_self: bool = True,
    out: Any = None,
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
        _bound = (input, wrap_dim(dim, input.ndim), index, src, reduce, include_self)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _scatter_reduce,
            (
                input,
                dim,
                index,
                src,
                reduce,
                include_self,
            ),
            _error,
        )
    if out is not None:
        return with_out(_scatter_reduce, _bound, out)
    return _dispatch(_scatter_reduce, _bound)


def scatter_reduce_(
    input: Tensor,
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
        _bound = (input, wrap_dim(dim, input.ndim), index, src, reduce, include_self)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _scatter_reduce_,
            (
                input,
                dim,
                index,
                src,
                reduce,
                include_self,
            ),
            _error,
        )
    return _dispatch(_scatter_reduce_, _bound)


def scatter_src(
    input: Tensor,
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    src: Any = REQUIRED,
    axis: Any = ...,
) -> Any:
    if axis is not ...:
        dim = same_as("scatter_src", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim), index, src)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_scatter_src, (input, dim, index, src), _error)
    return _dispatch(_scatter_src, _bound)


def scatter_src_(
    input: Tensor,
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    src: Any = REQUIRED,
    axis: Any = ...,
) -> Any:
    if axis is not ...:
        dim = same_as("scatter_src_", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim), index, src)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_scatter_src_, (input, dim, index, src), _error)
    return _dispatch(_scatter_src_, _bound)


def scatter_value(
    input: Tensor,
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    value: Any = REQUIRED,
    axis: Any = ...,
) -> Any:
    if axis is not ...:
        dim = same_as("scatter_value", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim), index, value)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_scatter_value, (input, dim, index, value), _error)
    return _dispatch(_scatter_value, _bound)


def scatter_value_(
    input: Tensor,
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    value: Any = REQUIRED,
    axis: Any = ...,
) -> Any:
    if axis is not ...:
        dim = same_as("scatter_value_", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim), index, value)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_scatter_value_, (input, dim, index, value), _error)
    return _dispatch(_scatter_value_, _bound)


def search_positions(
    sequence: Tensor,
    values: Tensor | Number,
    out_int32: bool,
    right: bool,
    sorter: Tensor | None,
) -> Any:
    return _dispatch(_search_positions, (sequence, values, out_int32, right, sorter))


def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor | Number,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
    out: Any = None,
) -> Any:
    """Where each value would go into a sorted sequence, so that it stays sorted.

    At the place `i` found, `sequence[i - 1] < value <= sequence[i]`; with `right`,
    `sequence[i - 1] <= value < sequence[i]`.

    Args:
        sorted_sequence: a vector in ascending order, or a tensor of such rows: its last dim.
        input: a number or tensor of values; any shape for a vector, else the shape of
            `sorted_sequence` but for the last dim.
        out_int32: return int32, not int64.
        right: find the place behind equal elements, not the one before.
        side: "left" or "right", the same as a word; `right` decides if None.
        sorter: an int64 tensor of the shape of `sorted_sequence` that sorts it, if it is not
            sorted.

    Returns: an int64 or int32 tensor of the shape of `input`.

    Raises:
        RuntimeError: the shapes do not match, `side` contradicts `right` or is unknown, or
            `sorter` has another dtype or positions out of range.
        NotImplementedError: both are bool, or one is complex.

    Example:
        >>> gw.searchsorted(gw.tensor([1, 3, 5]), gw.tensor([3, 6]))
        tensor([1, 3])
    """
    _bound = (sorted_sequence, input, out_int32, right, side, sorter)
    if out is not None:
        return with_out(_searchsorted, _bound, out)
    return _dispatch(_searchsorted, _bound)


def segment_numbers(bounds: Tensor, size: int, whole: bool) -> Any:
    return _dispatch(_segment_numbers, (bounds, size, whole))


def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Number | None = None,
) -> Any:
    """Reduction of consecutive segments of different lengths along one dim.

    Args:
        data: a floating point tensor of any shape.
        reduce: "sum", "mean", "prod", "max" or "min".
        lengths: an int32 or int64 tensor of the lengths of segments along its last dim, with
            the dims of `data` before `axis` in front.
        indices: not supported; None.
        offsets: where segments begin, and where the last one ends: one more than there are
            segments; used in place of `lengths`.
        axis: the dim that is segmented: the last of `lengths` or `offsets`.
        unsafe: do not check that the lengths sum to the size of the dim.
        initial: what each reduction starts from; if None, an empty segment gives 0 ("sum"), 1
            ("prod"), NaN ("mean"), -inf ("max") or inf ("min").

    Returns: a tensor of the dtype of `data` with one element per segment along `axis`.

    Raises:
        NotImplementedError: `data` is not floating point.
        RuntimeError: neither `lengths` nor `offsets` is given, their shape or dtype does not
            suit, segments lie outside of the dim, or lengths do not sum to its size.

    Example:
        >>> data = gw.tensor([1.0, 2.0, 3.0, 4.0])
        >>> gw.segment_reduce(data, "sum", lengths=gw.tensor([1, 3]))
        tensor([1., 9.])
    """
    try:
        _bound = (
            data,
            reduce,
            lengths,
            indices,
            offsets,
            wrap_dim(axis, data.ndim),
            unsafe,
            initial,
        )
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _segment_reduce,
            (
                data,
                reduce,
                lengths,
                indices,
                offsets,
                axis,
                unsafe,
                initial,
            ),
            _error,
        )
    return _dispatch(_segment_reduce, _bound)


def select(input: Tensor, dim: Any = REQUIRED, index: Any = REQUIRED, axis: Any = ...) -> Any:
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
        _bound = (input, wrap_dim(dim, input.ndim), index)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_select, (input, dim, index), _error)
    return _dispatch(_select, _bound)


def select_at(input: Tensor, dim: Any = REQUIRED, index: Any = REQUIRED, axis: Any = ...) -> Any:
    if axis is not ...:
        dim = same_as("select_at", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim), index)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_select_at, (input, dim, index), _error)
    return _dispatch(_select_at, _bound)


def select_backward(
    grad: Tensor,
    size: Sequence[int],
    dim: Any = REQUIRED,
    index: Any = REQUIRED,
    axis: Any = ...,
) -> Any:
    if axis is not ...:
        dim = same_as("select_backward", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (grad, as_size(size), dim, index)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_select_backward, (grad, size, dim, index), _error)
    return _dispatch(_select_backward, _bound)


def select_copy(input: Tensor, dim: Any = REQUIRED, index: Any = REQUIRED, axis: Any = ...) -> Any:
    """Copy of `select`: the slice at one position of a dim.

    Args:
        input: a tensor of at least one dim.
        dim: the dim, which the result lacks.
        index: the position; negative ones count from the end.

    Returns: a new contiguous tensor.

    Raises:
        IndexError: `input` has no such dim, or the dim no such position.

    Example:
        >>> gw.select_copy(gw.tensor([[1, 2], [3, 4]]), 1, -1)
        tensor([2, 4])
    """
    if axis is not ...:
        dim = same_as("select_copy", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim), index)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_select_copy, (input, dim, index), _error)
    return _dispatch(_select_copy, _bound)


def select_scatter(
    input: Tensor,
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
        _bound = (input, src, wrap_dim(dim, input.ndim), index)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_select_scatter, (input, src, dim, index), _error)
    return _dispatch(_select_scatter, _bound)


def selu(input: Tensor) -> Any:
    """Self-normalising activation, `y = s x` for `x > 0`, else `s a (e^x - 1)`.

    a = 1.6732632 and s = 1.0507010 are of Klambauer et al., "Self-normalizing neural networks",
    2017.

    Args:
        input: a floating-point tensor of any shape.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.

    Example:
        >>> gw.selu(gw.tensor([-1.0, 0.0, 1.0]))
        tensor([-1.1113,  0.0000,  1.0507])
    """
    return _dispatch(_selu, (input,))


def selu_(input: Tensor) -> Any:
    """In place: writes what `selu` gives into the tensor, and returns it."""
    return _dispatch(_selu_, (input,))


def selu_backward(grad: Tensor, input: Tensor) -> Any:
    return _dispatch(_selu_backward, (grad, input))


def sgd_step_(
    param: Tensor,
    grad: Tensor,
    momentum_buffer: Tensor | None,
    first: bool,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
    maximize: bool,
) -> Any:
    return _dispatch(
        _sgd_step_,
        (
            param,
            grad,
            momentum_buffer,
            first,
            lr,
            momentum,
            dampening,
            weight_decay,
            nesterov,
            maximize,
        ),
    )


def sgn(input: Tensor, *, out: Any = None) -> Any:
    """Direction of each element: `x / abs(x)` of complex numbers, `sign` of real ones; 0 at 0.

    Args:
        input: a tensor of any shape and dtype.

    Example:
        >>> gw.sgn(gw.tensor([3 + 4j, 0]))
        tensor([0.6000+0.8000j, 0.0000+0.0000j])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_sgn, _bound, out)
    return _dispatch(_sgn, _bound)


def sgn_(input: Tensor) -> Any:
    """In place: writes what `sgn` gives into the tensor, and returns it."""
    return _dispatch(_sgn_, (input,))


def sigmoid(input: Tensor, *, out: Any = None) -> Any:
    """Logistic function, `y = 1 / (1 + e^(-x))`, between 0 and 1.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.sigmoid(gw.tensor([0.0, 1.0]))
        tensor([0.5000, 0.7311])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_sigmoid, _bound, out)
    return _dispatch(_sigmoid, _bound)


def sigmoid_(input: Tensor) -> Any:
    """In place: writes what `sigmoid` gives into the tensor, and returns it."""
    return _dispatch(_sigmoid_, (input,))


def sigmoid_backward(grad: Tensor, output: Tensor) -> Any:
    return _dispatch(_sigmoid_backward, (grad, output))


def sign(input: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input,)
    if out is not None:
        return with_out(_sign, _bound, out)
    return _dispatch(_sign, _bound)


def sign_(input: Tensor) -> Any:
    """In place: writes what `sign` gives into the tensor, and returns it."""
    return _dispatch(_sign_, (input,))


def sign_and_log_det(A: Tensor) -> Any:
    return _dispatch(_sign_and_log_det, (A,))


def signbit(input: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input,)
    if out is not None:
        return with_out(_signbit, _bound, out)
    return _dispatch(_signbit, _bound)


def silu(input: Tensor) -> Any:
    return _dispatch(_silu, (input,))


def silu_(input: Tensor) -> Any:
    return _dispatch(_silu_, (input,))


def silu_backward(grad: Tensor, input: Tensor) -> Any:
    return _dispatch(_silu_backward, (grad, input))


def sin(input: Tensor, *, out: Any = None) -> Any:
    """Sine of each element, an angle in radians.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.sin(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 0.8415])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_sin, _bound, out)
    return _dispatch(_sin, _bound)


def sin_(input: Tensor) -> Any:
    """In place: writes what `sin` gives into the tensor, and returns it."""
    return _dispatch(_sin_, (input,))


def sinc(input: Tensor, *, out: Any = None) -> Any:
    """Normalised sinc function, `y = sin(pi x) / (pi x)`, 1 at 0.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.sinc(gw.tensor([0.0, 0.5]))
        tensor([1.0000, 0.6366])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_sinc, _bound, out)
    return _dispatch(_sinc, _bound)


def sinc_(input: Tensor) -> Any:
    """In place: writes what `sinc` gives into the tensor, and returns it."""
    return _dispatch(_sinc_, (input,))


def singular_factors(A: Tensor, full_matrices: bool) -> Any:
    return _dispatch(_singular_factors, (A, full_matrices))


def sinh(input: Tensor, *, out: Any = None) -> Any:
    """Hyperbolic sine, `y = (e^x - e^(-x)) / 2`.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.sinh(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 1.1752])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_sinh, _bound, out)
    return _dispatch(_sinh, _bound)


def sinh_(input: Tensor) -> Any:
    """In place: writes what `sinh` gives into the tensor, and returns it."""
    return _dispatch(_sinh_, (input,))


def slice(
    input: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int | None = 1,
    surplus: Any = ...,
    axis: Any = ...,
) -> Any:
    if surplus is not ...:
        refuse_surplus("slice")
    if axis is not ...:
        dim = same_as("slice", "dim", dim, 0, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim), start, end, step)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_slice, (input, dim, start, end, step), _error)
    return _dispatch(_slice, _bound)


def slice_backward(
    grad: Tensor,
    size: Sequence[int],
    dim: Any = REQUIRED,
    start: Any = REQUIRED,
    end: Any = REQUIRED,
    step: Any = REQUIRED,
    axis: Any = ...,
) -> Any:
    if axis is not ...:
        dim = same_as("slice_backward", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (grad, as_size(size), dim, start, end, step)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_slice_backward, (grad, size, dim, start, end, step), _error)
    return _dispatch(_slice_backward, _bound)


def slice_copy(
    input: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int | None = 1,
    surplus: Any = ...,
    axis: Any = ...,
) -> Any:
    """Copy of every `step`-th position of one dim from `start` to `end`, which is excluded.

    Args:
        input: a tensor of at least one dim.
        dim: the dim that is sliced.
        start: the first position; 0 if None. Negative ones count from the end.
        end: the position behind the last one; the size of the dim if None.
        step: the distance of positions, above 0; 1 if None.

    Returns: a new contiguous tensor.

    Raises:
        IndexError: `input` has no such dim.
        ValueError: `step` is not positive.

    Example:
        >>> gw.slice_copy(gw.arange(6), 0, 1, 6, 2)
        tensor([1, 3, 5])
    """
    if surplus is not ...:
        refuse_surplus("slice_copy")
    if axis is not ...:
        dim = same_as("slice_copy", "dim", dim, 0, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim), start, end, step)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_slice_copy, (input, dim, start, end, step), _error)
    return _dispatch(_slice_copy, _bound)


def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int | None = 1,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
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
        _bound = (input, src, wrap_dim(dim, input.ndim), start, end, step)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_slice_scatter, (input, src, dim, start, end, step), _error)
    if out is not None:
        return with_out(_slice_scatter, _bound, out)
    return _dispatch(_slice_scatter, _bound)


def slogdet(input: Tensor) -> Any:
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
    return _dispatch(_slogdet, (input,))


def sloped(input: Tensor, slope: Tensor) -> Any:
    return _dispatch(_sloped, (input, slope))


def sloped_backward(grad: Tensor, input: Tensor, slope: Tensor) -> Any:
    return _dispatch(_sloped_backward, (grad, input, slope))


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    return _dispatch(_smooth_l1_loss, (input, target, reduction, beta))


def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Any:
    return _dispatch(_soft_margin_loss, (input, target, reduction))


def softmax(
    input: Tensor,
    dim: Any = REQUIRED,
    dtype: DType | None = None,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
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
        _bound = (input, wrap_dim(dim, input.ndim), dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_softmax, (input, dim, dtype), _error)
    if out is not None:
        return with_out(_softmax, _bound, out)
    return _dispatch(_softmax, _bound)


def softmax_backward(grad: Tensor, out: Tensor, dim: Any = REQUIRED, axis: Any = ...) -> Any:
    if axis is not ...:
        dim = same_as("softmax_backward", "dim", dim, REQUIRED, "axis", axis)
    return _dispatch(_softmax_backward, (grad, out, dim))


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0, *, out: Any = None) -> Any:
    """Smooth relu, `y = log(1 + e^(beta x)) / beta`.

    Args:
        input: a floating-point tensor of any shape.
        beta: the steepness.
        threshold: where `beta x` is above it, `y` is `x`.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.

    Example:
        >>> F.softplus(gw.tensor([0.0, 1.0]))
        tensor([0.6931, 1.3133])
    """
    _bound = (input, beta, threshold)
    if out is not None:
        return with_out(_softplus, _bound, out)
    return _dispatch(_softplus, _bound)


def softplus_backward(grad: Tensor, input: Tensor, beta: float, threshold: float) -> Any:
    return _dispatch(_softplus_backward, (grad, input, beta, threshold))


def softshrink(input: Tensor, lambd: float = 0.5, *, out: Any = None) -> Any:
    """Each element moved towards 0 by `lambd`: `y = sign(x) max(|x| - lambd, 0)`.

    Args:
        input: a floating-point tensor of any shape.
        lambd: the distance, at least 0.

    Raises:
        NotImplementedError: `input` is not a floating-point tensor.
        RuntimeError: `lambd` is negative or infinite.

    Example:
        >>> F.softshrink(gw.tensor([-1.0, 0.3, 2.0]))
        tensor([-0.5000,  0.0000,  1.5000])
    """
    _bound = (input, lambd)
    if out is not None:
        return with_out(_softshrink, _bound, out)
    return _dispatch(_softshrink, _bound)


def softshrink_backward(grad: Tensor, input: Tensor, lambd: float) -> Any:
    return _dispatch(_softshrink_backward, (grad, input, lambd))


def solve_matrix(A: Tensor, B: Tensor) -> Any:
    return _dispatch(_solve_matrix, (A, B))


def sort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    stable: Any = False,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
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
        _bound = (input, wrap_dim(dim, input.ndim), descending, stable)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_sort, (input, dim, descending, stable), _error)
    if out is not None:
        return with_out(_sort, _bound, out)
    return _dispatch(_sort, _bound)


def special_airy_ai(input: Tensor, *, out: Any = None) -> Any:
    """Airy function Ai (DLMF 9.2).

    Its result never requires a gradient.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is half-precision or complex.

    Example:
        >>> gw.special.airy_ai(gw.tensor([1.0, 2.0]))
        tensor([0.1353, 0.0349])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_airy_ai, _bound, out)
    return _dispatch(_special_airy_ai, _bound)


def special_bessel_j0(input: Tensor, *, out: Any = None) -> Any:
    """Bessel function of the first kind and order 0 (DLMF 10.2).

    Its result never requires a gradient.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is half-precision or complex.

    Example:
        >>> gw.special.bessel_j0(gw.tensor([1.0, 2.0]))
        tensor([0.7652, 0.2239])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_bessel_j0, _bound, out)
    return _dispatch(_special_bessel_j0, _bound)


def special_bessel_j1(input: Tensor, *, out: Any = None) -> Any:
    """Bessel function of the first kind and order 1 (DLMF 10.2).

    Its result never requires a gradient.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is half-precision or complex.

    Example:
        >>> gw.special.bessel_j1(gw.tensor([1.0, 2.0]))
        tensor([0.4401, 0.5767])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_bessel_j1, _bound, out)
    return _dispatch(_special_bessel_j1, _bound)


def special_bessel_y0(input: Tensor, *, out: Any = None) -> Any:
    """Bessel function of the second kind and order 0; nan for `x < 0` (DLMF 10.2).

    Its result never requires a gradient.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is half-precision or complex.

    Example:
        >>> gw.special.bessel_y0(gw.tensor([1.0, 2.0]))
        tensor([0.0883, 0.5104])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_bessel_y0, _bound, out)
    return _dispatch(_special_bessel_y0, _bound)


def special_bessel_y1(input: Tensor, *, out: Any = None) -> Any:
    """Bessel function of the second kind and order 1; nan for `x < 0` (DLMF 10.2).

    Its result never requires a gradient.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is half-precision or complex.

    Example:
        >>> gw.special.bessel_y1(gw.tensor([1.0, 2.0]))
        tensor([-0.7812, -0.1070])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_bessel_y1, _bound, out)
    return _dispatch(_special_bessel_y1, _bound)


def special_chebyshev_polynomial_t(
    input: Tensor | Number,
    n: Tensor | Number,
    *,
    out: Any = None,
) -> Any:
    """Chebyshev polynomial of the first kind, `T_n(cos a) = cos(n a)`.

    Orders up to 65536 are computed by the three-term recurrence (DLMF 18.9). They are
    truncated to integers; negative ones give 0. The result never requires a gradient.

    Args:
        input, n: tensors that broadcast to one shape; one of them may be a number.

    Returns: a tensor of the broadcast shape, in the promoted dtype;
    integers and bool give the default dtype.

    Raises:
        NotImplementedError: the promoted dtype is half-precision or complex.
        RuntimeError: the shapes do not broadcast.
        TypeError: both operands are numbers.

    Example:
        >>> gw.special.chebyshev_polynomial_t(gw.tensor([0.75]), 2)
        tensor([0.1250])
    """
    _bound = (input, n)
    if out is not None:
        return with_out(_special_chebyshev_polynomial_t, _bound, out)
    return _dispatch(_special_chebyshev_polynomial_t, _bound)


def special_chebyshev_polynomial_u(
    input: Tensor | Number,
    n: Tensor | Number,
    *,
    out: Any = None,
) -> Any:
    """Chebyshev polynomial of the second kind, `U_n(cos a) = sin((n + 1) a) / sin(a)`.

    Orders up to 65536 are computed by the three-term recurrence (DLMF 18.9). They are
    truncated to integers; negative ones give 0. The result never requires a gradient.

    Args:
        input, n: tensors that broadcast to one shape; one of them may be a number.

    Returns: a tensor of the broadcast shape, in the promoted dtype;
    integers and bool give the default dtype.

    Raises:
        NotImplementedError: the promoted dtype is half-precision or complex.
        RuntimeError: the shapes do not broadcast.
        TypeError: both operands are numbers.

    Example:
        >>> gw.special.chebyshev_polynomial_u(gw.tensor([0.75]), 2)
        tensor([1.2500])
    """
    _bound = (input, n)
    if out is not None:
        return with_out(_special_chebyshev_polynomial_u, _bound, out)
    return _dispatch(_special_chebyshev_polynomial_u, _bound)


def special_chebyshev_polynomial_v(
    input: Tensor | Number,
    n: Tensor | Number,
    *,
    out: Any = None,
) -> Any:
    """Chebyshev polynomial of the third kind, `V_n(cos a) = cos((n + 1/2) a) / cos(a / 2)`.

    Orders up to 65536 are computed by the three-term recurrence (DLMF 18.9). They are
    truncated to integers; negative ones give 0. The result never requires a gradient.

    Args:
        input, n: tensors that broadcast to one shape; one of them may be a number.

    Returns: a tensor of the broadcast shape, in the promoted dtype;
    integers and bool give the default dtype.

    Raises:
        NotImplementedError: the promoted dtype is half-precision or complex.
        RuntimeError: the shapes do not broadcast.
        TypeError: both operands are numbers.

    Example:
        >>> gw.special.chebyshev_polynomial_v(gw.tensor([0.75]), 2)
        tensor([-0.2500])
    """
    _bound = (input, n)
    if out is not None:
        return with_out(_special_chebyshev_polynomial_v, _bound, out)
    return _dispatch(_special_chebyshev_polynomial_v, _bound)


def special_chebyshev_polynomial_w(
    input: Tensor | Number,
    n: Tensor | Number,
    *,
    out: Any = None,
) -> Any:
    """Chebyshev polynomial of the fourth kind, `W_n(cos a) = sin((n + 1/2) a) / sin(a / 2)`.

    Orders up to 65536 are computed by the three-term recurrence (DLMF 18.9). They are
    truncated to integers; negative ones give 0. The result never requires a gradient.

    Args:
        input, n: tensors that broadcast to one shape; one of them may be a number.

    Returns: a tensor of the broadcast shape, in the promoted dtype;
    integers and bool give the default dtype.

    Raises:
        NotImplementedError: the promoted dtype is half-precision or complex.
        RuntimeError: the shapes do not broadcast.
        TypeError: both operands are numbers.

    Example:
        >>> gw.special.chebyshev_polynomial_w(gw.tensor([0.75]), 2)
        tensor([2.7500])
    """
    _bound = (input, n)
    if out is not None:
        return with_out(_special_chebyshev_polynomial_w, _bound, out)
    return _dispatch(_special_chebyshev_polynomial_w, _bound)


def special_entr(input: Tensor, *, out: Any = None) -> Any:
    """Entropy of each element, `y = -x log(x)`; 0 at 0, -inf below.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is complex.

    Example:
        >>> gw.special.entr(gw.tensor([0.0, 0.5]))
        tensor([0.0000, 0.3466])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_entr, _bound, out)
    return _dispatch(_special_entr, _bound)


def special_erfcx(input: Tensor, *, out: Any = None) -> Any:
    """Scaled complementary error function, `y = e^(x^2) erfc(x)`.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is half-precision or complex.

    Example:
        >>> gw.special.erfcx(gw.tensor([0.0, 1.0]))
        tensor([1.0000, 0.4276])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_erfcx, _bound, out)
    return _dispatch(_special_erfcx, _bound)


def special_hermite_polynomial_h(
    input: Tensor | Number,
    n: Tensor | Number,
    *,
    out: Any = None,
) -> Any:
    """Hermite polynomial of physics, `H_2(x) = 4x^2 - 2`.

    Orders up to 65536 are computed by the three-term recurrence (DLMF 18.9). They are
    truncated to integers; negative ones give 0. The result never requires a gradient.

    Args:
        input, n: tensors that broadcast to one shape; one of them may be a number.

    Returns: a tensor of the broadcast shape, in the promoted dtype;
    integers and bool give the default dtype.

    Raises:
        NotImplementedError: the promoted dtype is half-precision or complex.
        RuntimeError: the shapes do not broadcast.
        TypeError: both operands are numbers.

    Example:
        >>> gw.special.hermite_polynomial_h(gw.tensor([0.75]), 2)
        tensor([0.2500])
    """
    _bound = (input, n)
    if out is not None:
        return with_out(_special_hermite_polynomial_h, _bound, out)
    return _dispatch(_special_hermite_polynomial_h, _bound)


def special_hermite_polynomial_he(
    input: Tensor | Number,
    n: Tensor | Number,
    *,
    out: Any = None,
) -> Any:
    """Hermite polynomial of probability, `He_2(x) = x^2 - 1`.

    Orders up to 65536 are computed by the three-term recurrence (DLMF 18.9). They are
    truncated to integers; negative ones give 0. The result never requires a gradient.

    Args:
        input, n: tensors that broadcast to one shape; one of them may be a number.

    Returns: a tensor of the broadcast shape, in the promoted dtype;
    integers and bool give the default dtype.

    Raises:
        NotImplementedError: the promoted dtype is half-precision or complex.
        RuntimeError: the shapes do not broadcast.
        TypeError: both operands are numbers.

    Example:
        >>> gw.special.hermite_polynomial_he(gw.tensor([0.75]), 2)
        tensor([-0.4375])
    """
    _bound = (input, n)
    if out is not None:
        return with_out(_special_hermite_polynomial_he, _bound, out)
    return _dispatch(_special_hermite_polynomial_he, _bound)


def special_i0e(input: Tensor, *, out: Any = None) -> Any:
    """Exponentially scaled modified Bessel function of order 0, `y = e^(-|x|) i0(x)`.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is complex.

    Example:
        >>> gw.special.i0e(gw.tensor([0.0, 1.0]))
        tensor([1.0000, 0.4658])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_i0e, _bound, out)
    return _dispatch(_special_i0e, _bound)


def special_i1(input: Tensor, *, out: Any = None) -> Any:
    """Modified Bessel function of the first kind and order 1 (DLMF 10.25).

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is complex.

    Example:
        >>> gw.special.i1(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 0.5652])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_i1, _bound, out)
    return _dispatch(_special_i1, _bound)


def special_i1e(input: Tensor, *, out: Any = None) -> Any:
    """Exponentially scaled modified Bessel function of order 1, `y = e^(-|x|) i1(x)`.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is complex.

    Example:
        >>> gw.special.i1e(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 0.2079])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_i1e, _bound, out)
    return _dispatch(_special_i1e, _bound)


def special_laguerre_polynomial_l(
    input: Tensor | Number,
    n: Tensor | Number,
    *,
    out: Any = None,
) -> Any:
    """Laguerre polynomial, `L_2(x) = (x^2 - 4x + 2) / 2`.

    Orders up to 65536 are computed by the three-term recurrence (DLMF 18.9). They are
    truncated to integers; negative ones give 0. The result never requires a gradient.

    Args:
        input, n: tensors that broadcast to one shape; one of them may be a number.

    Returns: a tensor of the broadcast shape, in the promoted dtype;
    integers and bool give the default dtype.

    Raises:
        NotImplementedError: the promoted dtype is half-precision or complex.
        RuntimeError: the shapes do not broadcast.
        TypeError: both operands are numbers.

    Example:
        >>> gw.special.laguerre_polynomial_l(gw.tensor([0.75]), 2)
        tensor([-0.2188])
    """
    _bound = (input, n)
    if out is not None:
        return with_out(_special_laguerre_polynomial_l, _bound, out)
    return _dispatch(_special_laguerre_polynomial_l, _bound)


def special_legendre_polynomial_p(
    input: Tensor | Number,
    n: Tensor | Number,
    *,
    out: Any = None,
) -> Any:
    """Legendre polynomial, `P_2(x) = (3x^2 - 1) / 2`.

    Orders up to 65536 are computed by the three-term recurrence (DLMF 18.9). They are
    truncated to integers; negative ones give 0. The result never requires a gradient.

    Args:
        input, n: tensors that broadcast to one shape; one of them may be a number.

    Returns: a tensor of the broadcast shape, in the promoted dtype;
    integers and bool give the default dtype.

    Raises:
        NotImplementedError: the promoted dtype is half-precision or complex.
        RuntimeError: the shapes do not broadcast.
        TypeError: both operands are numbers.

    Example:
        >>> gw.special.legendre_polynomial_p(gw.tensor([0.75]), 2)
        tensor([0.3438])
    """
    _bound = (input, n)
    if out is not None:
        return with_out(_special_legendre_polynomial_p, _bound, out)
    return _dispatch(_special_legendre_polynomial_p, _bound)


def special_log_ndtr(input: Tensor, *, out: Any = None) -> Any:
    """Logarithm of the standard normal distribution function, accurate far below 0.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is half-precision or complex.

    Example:
        >>> gw.special.log_ndtr(gw.tensor([0.0, -10.0]))
        tensor([ -0.6931, -53.2313])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_log_ndtr, _bound, out)
    return _dispatch(_special_log_ndtr, _bound)


def special_modified_bessel_i0(input: Tensor, *, out: Any = None) -> Any:
    """Modified Bessel function of the first kind and order 0 (DLMF 10.25).

    Its result never requires a gradient.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is half-precision or complex.

    Example:
        >>> gw.special.modified_bessel_i0(gw.tensor([1.0, 2.0]))
        tensor([1.2661, 2.2796])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_modified_bessel_i0, _bound, out)
    return _dispatch(_special_modified_bessel_i0, _bound)


def special_modified_bessel_i1(input: Tensor, *, out: Any = None) -> Any:
    """Modified Bessel function of the first kind and order 1 (DLMF 10.25).

    Its result never requires a gradient.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is half-precision or complex.

    Example:
        >>> gw.special.modified_bessel_i1(gw.tensor([1.0, 2.0]))
        tensor([0.5652, 1.5906])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_modified_bessel_i1, _bound, out)
    return _dispatch(_special_modified_bessel_i1, _bound)


def special_modified_bessel_k0(input: Tensor, *, out: Any = None) -> Any:
    """Modified Bessel function of the second kind and order 0 (DLMF 10.25).

    Its result never requires a gradient.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is half-precision or complex.

    Example:
        >>> gw.special.modified_bessel_k0(gw.tensor([1.0, 2.0]))
        tensor([0.4210, 0.1139])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_modified_bessel_k0, _bound, out)
    return _dispatch(_special_modified_bessel_k0, _bound)


def special_modified_bessel_k1(input: Tensor, *, out: Any = None) -> Any:
    """Modified Bessel function of the second kind and order 1 (DLMF 10.25).

    Its result never requires a gradient.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is half-precision or complex.

    Example:
        >>> gw.special.modified_bessel_k1(gw.tensor([1.0, 2.0]))
        tensor([0.6019, 0.1399])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_modified_bessel_k1, _bound, out)
    return _dispatch(_special_modified_bessel_k1, _bound)


def special_ndtr(input: Tensor, *, out: Any = None) -> Any:
    """Standard normal distribution function, `y = erfc(-x / sqrt(2)) / 2`.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is complex.

    Example:
        >>> gw.special.ndtr(gw.tensor([0.0, 1.96]))
        tensor([0.5000, 0.9750])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_ndtr, _bound, out)
    return _dispatch(_special_ndtr, _bound)


def special_ndtri(input: Tensor, *, out: Any = None) -> Any:
    """Quantile of the standard normal distribution: the inverse of `ndtr`.

    It is -inf at 0, inf at 1 and nan beyond them.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is half-precision or complex.

    Example:
        >>> gw.special.ndtri(gw.tensor([0.5, 0.975]))
        tensor([0.0000, 1.9600])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_ndtri, _bound, out)
    return _dispatch(_special_ndtri, _bound)


def special_scaled_modified_bessel_k0(input: Tensor, *, out: Any = None) -> Any:
    """Exponentially scaled modified Bessel function, `y = e^x k0(x)`.

    Its result never requires a gradient.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is half-precision or complex.

    Example:
        >>> gw.special.scaled_modified_bessel_k0(gw.tensor([1.0, 2.0]))
        tensor([1.1445, 0.8416])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_scaled_modified_bessel_k0, _bound, out)
    return _dispatch(_special_scaled_modified_bessel_k0, _bound)


def special_scaled_modified_bessel_k1(input: Tensor, *, out: Any = None) -> Any:
    """Exponentially scaled modified Bessel function, `y = e^x k1(x)`.

    Its result never requires a gradient.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is half-precision or complex.

    Example:
        >>> gw.special.scaled_modified_bessel_k1(gw.tensor([1.0, 2.0]))
        tensor([1.6362, 1.0335])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_scaled_modified_bessel_k1, _bound, out)
    return _dispatch(_special_scaled_modified_bessel_k1, _bound)


def special_shifted_chebyshev_polynomial_t(
    input: Tensor | Number,
    n: Tensor | Number,
    *,
    out: Any = None,
) -> Any:
    """Shifted Chebyshev polynomial of the first kind, `T_n(2x - 1)`.

    Orders up to 65536 are computed by the three-term recurrence (DLMF 18.9). They are
    truncated to integers; negative ones give 0. The result never requires a gradient.

    Args:
        input, n: tensors that broadcast to one shape; one of them may be a number.

    Returns: a tensor of the broadcast shape, in the promoted dtype;
    integers and bool give the default dtype.

    Raises:
        NotImplementedError: the promoted dtype is half-precision or complex.
        RuntimeError: the shapes do not broadcast.
        TypeError: both operands are numbers.

    Example:
        >>> gw.special.shifted_chebyshev_polynomial_t(gw.tensor([0.75]), 2)
        tensor([-0.5000])
    """
    _bound = (input, n)
    if out is not None:
        return with_out(_special_shifted_chebyshev_polynomial_t, _bound, out)
    return _dispatch(_special_shifted_chebyshev_polynomial_t, _bound)


def special_shifted_chebyshev_polynomial_u(
    input: Tensor | Number,
    n: Tensor | Number,
    *,
    out: Any = None,
) -> Any:
    """Shifted Chebyshev polynomial of the second kind, `U_n(2x - 1)`.

    Orders up to 65536 are computed by the three-term recurrence (DLMF 18.9). They are
    truncated to integers; negative ones give 0. The result never requires a gradient.

    Args:
        input, n: tensors that broadcast to one shape; one of them may be a number.

    Returns: a tensor of the broadcast shape, in the promoted dtype;
    integers and bool give the default dtype.

    Raises:
        NotImplementedError: the promoted dtype is half-precision or complex.
        RuntimeError: the shapes do not broadcast.
        TypeError: both operands are numbers.

    Example:
        >>> gw.special.shifted_chebyshev_polynomial_u(gw.tensor([0.75]), 2)
        tensor([0.])
    """
    _bound = (input, n)
    if out is not None:
        return with_out(_special_shifted_chebyshev_polynomial_u, _bound, out)
    return _dispatch(_special_shifted_chebyshev_polynomial_u, _bound)


def special_shifted_chebyshev_polynomial_v(
    input: Tensor | Number,
    n: Tensor | Number,
    *,
    out: Any = None,
) -> Any:
    """Shifted Chebyshev polynomial of the third kind, `V_n(2x - 1)`.

    Orders up to 65536 are computed by the three-term recurrence (DLMF 18.9). They are
    truncated to integers; negative ones give 0. The result never requires a gradient.

    Args:
        input, n: tensors that broadcast to one shape; one of them may be a number.

    Returns: a tensor of the broadcast shape, in the promoted dtype;
    integers and bool give the default dtype.

    Raises:
        NotImplementedError: the promoted dtype is half-precision or complex.
        RuntimeError: the shapes do not broadcast.
        TypeError: both operands are numbers.

    Example:
        >>> gw.special.shifted_chebyshev_polynomial_v(gw.tensor([0.75]), 2)
        tensor([-1.])
    """
    _bound = (input, n)
    if out is not None:
        return with_out(_special_shifted_chebyshev_polynomial_v, _bound, out)
    return _dispatch(_special_shifted_chebyshev_polynomial_v, _bound)


def special_shifted_chebyshev_polynomial_w(
    input: Tensor | Number,
    n: Tensor | Number,
    *,
    out: Any = None,
) -> Any:
    """Shifted Chebyshev polynomial of the fourth kind, `W_n(2x - 1)`.

    Orders up to 65536 are computed by the three-term recurrence (DLMF 18.9). They are
    truncated to integers; negative ones give 0. The result never requires a gradient.

    Args:
        input, n: tensors that broadcast to one shape; one of them may be a number.

    Returns: a tensor of the broadcast shape, in the promoted dtype;
    integers and bool give the default dtype.

    Raises:
        NotImplementedError: the promoted dtype is half-precision or complex.
        RuntimeError: the shapes do not broadcast.
        TypeError: both operands are numbers.

    Example:
        >>> gw.special.shifted_chebyshev_polynomial_w(gw.tensor([0.75]), 2)
        tensor([1.])
    """
    _bound = (input, n)
    if out is not None:
        return with_out(_special_shifted_chebyshev_polynomial_w, _bound, out)
    return _dispatch(_special_shifted_chebyshev_polynomial_w, _bound)


def special_spherical_bessel_j0(input: Tensor, *, out: Any = None) -> Any:
    """Spherical Bessel function of order 0, `y = sin(x) / x`, 1 at 0.

    Its result never requires a gradient.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Raises:
        NotImplementedError: the dtype of `input` is half-precision or complex.

    Example:
        >>> gw.special.spherical_bessel_j0(gw.tensor([1.0, 2.0]))
        tensor([0.8415, 0.4546])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_special_spherical_bessel_j0, _bound, out)
    return _dispatch(_special_spherical_bessel_j0, _bound)


def special_xlog1py(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Any:
    """Product with a logarithm, `input * log(1 + other)`, broadcast; 0 where `input` is 0.

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
        >>> gw.special.xlog1py(gw.tensor([0.0, 2.0]), gw.tensor([-1.0, 3.0]))
        tensor([0.0000, 2.7726])
    """
    _bound = (input, other)
    if out is not None:
        return with_out(_special_xlog1py, _bound, out)
    return _dispatch(_special_xlog1py, _bound)


def special_zeta(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Any:
    """Hurwitz zeta function, the sum of `(other + k)^(-input)` over k from 0 on, broadcast.

    It is inf at `input` 1 and nan below (DLMF 25.11). The gradient with respect to `input`
    raises NotImplementedError.

    Args:
        input, other: tensors that broadcast to one shape; one of them may be a number.

    Returns: a tensor of the broadcast shape, in the promoted dtype;
    integers and bool give the default dtype.

    Raises:
        NotImplementedError: the promoted dtype is half-precision or complex.
        RuntimeError: the shapes do not broadcast.
        TypeError: both operands are numbers.

    Example:
        >>> gw.special.zeta(gw.tensor([2.0]), gw.tensor([1.0]))
        tensor([1.6449])
    """
    _bound = (input, other)
    if out is not None:
        return with_out(_special_zeta, _bound, out)
    return _dispatch(_special_zeta, _bound)


def split(
    input: Any = REQUIRED,
    split_size: Any = REQUIRED,
    dim: int = 0,
    surplus: Any = ...,
    tensor: Any = ...,
    split_size_or_sections: Any = ...,
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
    if tensor is not ...:
        input = same_as("split", "input", input, REQUIRED, "tensor", tensor)
    if split_size_or_sections is not ...:
        split_size = same_as(
            "split", "split_size", split_size, REQUIRED,
            "split_size_or_sections", split_size_or_sections,
        )
    if axis is not ...:
        dim = same_as("split", "dim", dim, 0, "axis", axis)
    try:
        _bound = (input, split_size, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_split, (input, split_size, dim), _error)
    return _dispatch(_split, _bound)


def split_copy(
    input: Tensor,
    split_size: int,
    dim: int = 0,
    surplus: Any = ...,
    axis: Any = ...,
) -> Any:
    """Copies of the parts that `split` makes: `split_size` positions of one dim each.

    Args:
        input: a tensor of at least one dim.
        split_size: the size of each part.
        dim: the dim that is split.

    Returns: a tuple of new tensors.

    Raises:
        RuntimeError: as `split`.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.split_copy(gw.arange(5), 3)
        (tensor([0, 1, 2]), tensor([3, 4]))
    """
    if surplus is not ...:
        refuse_surplus("split_copy")
    if axis is not ...:
        dim = same_as("split_copy", "dim", dim, 0, "axis", axis)
    try:
        _bound = (input, split_size, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_split_copy, (input, split_size, dim), _error)
    return _dispatch(_split_copy, _bound)


def split_with_sizes(
    input: Tensor,
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
        _bound = (input, as_size(split_sizes), wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_split_with_sizes, (input, split_sizes, dim), _error)
    return _dispatch(_split_with_sizes, _bound)


def split_with_sizes_copy(
    input: Tensor,
    split_sizes: Sequence[int],
    dim: int = 0,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Copies of the parts that `split_with_sizes` makes, one for each size.

    Args:
        input: a tensor of at least one dim.
        split_sizes: the size of each part, which sum to that of the dim.
        dim: the dim that is split.

    Returns: a tuple of new tensors.

    Raises:
        RuntimeError: a size is negative, or they sum to another number.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.split_with_sizes_copy(gw.arange(5), (2, 3))
        (tensor([0, 1]), tensor([2, 3, 4]))
    """
    if surplus is not ...:
        refuse_surplus("split_with_sizes_copy")
    if axis is not ...:
        dim = same_as("split_with_sizes_copy", "dim", dim, 0, "axis", axis)
    try:
        _bound = (input, as_size(split_sizes), wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_split_with_sizes_copy, (input, split_sizes, dim), _error)
    if out is not None:
        return with_out(_split_with_sizes_copy, _bound, out)
    return _dispatch(_split_with_sizes_copy, _bound)


def sqrt(input: Tensor, *, out: Any = None) -> Any:
    """Square root of each element; nan for negative real numbers.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.sqrt(gw.tensor([4, 9]))
        tensor([2., 3.])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_sqrt, _bound, out)
    return _dispatch(_sqrt, _bound)


def sqrt_(input: Tensor) -> Any:
    """In place: writes what `sqrt` gives into the tensor, and returns it."""
    return _dispatch(_sqrt_, (input,))


def square(input: Tensor, *, out: Any = None) -> Any:
    """Square of each element, `y = x^2`.

    Args:
        input: a tensor of any shape; bool gives int64.

    Example:
        >>> gw.square(gw.tensor([-2, 3]))
        tensor([4, 9])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_square, _bound, out)
    return _dispatch(_square, _bound)


def square_(input: Tensor) -> Any:
    """In place: writes what `square` gives into the tensor, and returns it."""
    return _dispatch(_square_, (input,))


def squeeze(input: Tensor, dim: Any = ..., axis: Any = ...) -> Any:
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
    if axis is not ...:
        dim = same_as("squeeze", "dim", dim, ..., "axis", axis)
    if dim is ...:
        dim = None
    elif dim is None:
        refuse_none("squeeze", "dim")
    return _dispatch(_squeeze, (input, dim))


def squeeze_copy(input: Tensor, dim: Any = ..., axis: Any = ..., *, out: Any = None) -> Any:
    """Copy of `squeeze`: without dims of size 1.

    Args:
        input: a tensor of any shape.
        dim: the dim or dims that go where they have size 1; all if None.

    Returns: a new contiguous tensor.

    Raises:
        IndexError: `input` has no such dim.

    Example:
        >>> gw.squeeze_copy(gw.ones(1, 2, 1)).shape
        graphwright.Size([2])
    """
    if axis is not ...:
        dim = same_as("squeeze_copy", "dim", dim, ..., "axis", axis)
    if dim is ...:
        dim = None
    elif dim is None:
        refuse_none("squeeze_copy", "dim")
    _bound = (input, dim)
    if out is not None:
        return with_out(_squeeze_copy, _bound, out)
    return _dispatch(_squeeze_copy, _bound)


def stack(
    tensors: Sequence[Tensor],
    dim: int = 0,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Tensors of one shape joined along a new dim.

    Args:
        tensors: tensors of equal shape, at least one.
        dim: the place of the new dim in the result.

    Returns: a new tensor with one more dim, of their number.

    Raises:
        RuntimeError: there are no tensors, or their shapes differ.
        IndexError: the place is out of range.

    Example:
        >>> gw.stack((gw.tensor([1, 2]), gw.tensor([3, 4])), 1)
        tensor([[1, 3],
                [2, 4]])
    """
    if surplus is not ...:
        refuse_surplus("stack")
    if axis is not ...:
        dim = same_as("stack", "dim", dim, 0, "axis", axis)
    _bound = (as_tensors(tensors, "stack"), dim)
    if out is not None:
        return with_out(_stack, _bound, out)
    return _dispatch(_stack, _bound)


def standard_gamma(concentration: Tensor, generator: Any = None) -> Any:
    return _dispatch(_standard_gamma, (concentration, generator))


def standard_gamma_grad(concentration: Tensor, sample: Tensor) -> Any:
    return _dispatch(_standard_gamma_grad, (concentration, sample))


def std(
    input: Tensor,
    dim: Any = None,
    unbiased: Any = ...,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    correction: Number | None = None,
    out: Any = None,
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
    _bound = (input, dim, unbiased, keepdim, correction)
    if out is not None:
        return with_out(_std, _bound, out)
    return _dispatch(_std, _bound)


def std_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: Any = ...,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    correction: Number | None = None,
) -> Any:
    """Standard deviation and mean of all elements or along some dims: `std` and `mean`.

    Args:
        input: a floating point or complex tensor of any shape.
        dim: the dim or dims; all if None. A bool here is `unbiased`.
        unbiased: True for `correction=1`, False for `correction=0`; use `correction` if None.
        keepdim: keep each of these dims with size 1.
        correction: what is subtracted from the number of elements, as in `var`; 1 if None.

    Returns: a tuple of the standard deviation and the mean.

    Raises:
        RuntimeError: `input` has integers or bools.
        TypeError: both `unbiased` and `correction` are given.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.std_mean(gw.tensor([[1.0, 3.0], [2.0, 2.0]]), 1)
        (tensor([1.4142, 0.0000]), tensor([2., 2.]))
    """
    if surplus is not ...:
        refuse_surplus("std_mean")
    if axis is not ...:
        dim = same_as("std_mean", "dim", dim, None, "axis", axis)
    if keepdims is not ...:
        keepdim = same_as("std_mean", "keepdim", keepdim, False, "keepdims", keepdims)
    if unbiased is ...:
        unbiased = None
    elif unbiased is None:
        refuse_none("std_mean", "unbiased")
    return _dispatch(_std_mean, (input, dim, unbiased, keepdim, correction))


def stft(
    input: Tensor,
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
            input,
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


def sub(
    input: Tensor | Number,
    other: Tensor | Number,
    *older: Any,
    alpha: Number = 1,
    out: Any = None,
) -> Any:
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
        return number_first(_sub, (input, other, *older), out)
    _bound = (input, other, alpha)
    if out is not None:
        return with_out(_sub, _bound, out)
    return _dispatch(_sub, _bound)


def sub_(input: Tensor, other: Tensor | Number, *older: Any, alpha: Number = 1) -> Any:
    """In place: writes what `sub` gives into the tensor, and returns it."""
    if older:
        return number_first(_sub_, (input, other, *older))
    return _dispatch(_sub_, (input, other, alpha))


def sum(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    dtype: DType | None = None,
    out: Any = None,
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
        _bound = (input, wrap_dims(dim, input.ndim), keepdim, dtype)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_sum, (input, dim, keepdim, dtype), _error)
    if out is not None:
        return with_out(_sum, _bound, out)
    return _dispatch(_sum, _bound)


def sum_to_size(input: Tensor, size: Sequence[int]) -> Any:
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
    try:
        _bound = (input, as_size(size))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_sum_to_size, (input, size), _error)
    return _dispatch(_sum_to_size, _bound)


def svd(input: Tensor, some: bool = True, compute_uv: bool = True, *, out: Any = None) -> Any:
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
    _bound = (input, some, compute_uv)
    if out is not None:
        return with_out(_svd, _bound, out)
    return _dispatch(_svd, _bound)


def symmetric_eigen(A: Tensor, UPLO: str) -> Any:
    return _dispatch(_symmetric_eigen, (A, UPLO))


def t(input: Tensor) -> Any:
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
    return _dispatch(_t, (input,))


def t_copy(input: Tensor, *, out: Any = None) -> Any:
    """Copy of `t`: a matrix transposed; a vector as it is.

    Args:
        input: a tensor of at most two dims.

    Returns: a new contiguous tensor.

    Raises:
        RuntimeError: `input` has more dims.

    Example:
        >>> gw.t_copy(gw.tensor([[1, 2], [3, 4]]))
        tensor([[1, 3],
                [2, 4]])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_t_copy, _bound, out)
    return _dispatch(_t_copy, _bound)


def take(input: Tensor, index: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, index)
    if out is not None:
        return with_out(_take, _bound, out)
    return _dispatch(_take, _bound)


def take_along_dim(
    input: Tensor,
    indices: Tensor,
    dim: int | None = None,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
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
    _bound = (input, indices, dim)
    if out is not None:
        return with_out(_take_along_dim, _bound, out)
    return _dispatch(_take_along_dim, _bound)


def tan(input: Tensor, *, out: Any = None) -> Any:
    """Tangent of each element, an angle in radians.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.tan(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 1.5574])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_tan, _bound, out)
    return _dispatch(_tan, _bound)


def tan_(input: Tensor) -> Any:
    """In place: writes what `tan` gives into the tensor, and returns it."""
    return _dispatch(_tan_, (input,))


def tanh(input: Tensor, *, out: Any = None) -> Any:
    """Hyperbolic tangent of each element, between -1 and 1.

    Args:
        input: a tensor of any shape; integers and bool give the default dtype.

    Example:
        >>> gw.tanh(gw.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])
    """
    _bound = (input,)
    if out is not None:
        return with_out(_tanh, _bound, out)
    return _dispatch(_tanh, _bound)


def tanh_(input: Tensor) -> Any:
    """In place: writes what `tanh` gives into the tensor, and returns it."""
    return _dispatch(_tanh_, (input,))


def tanh_backward(grad: Tensor, output: Tensor) -> Any:
    return _dispatch(_tanh_backward, (grad, output))


def tensor_split(
    input: Tensor,
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
        _bound = (input, indices_or_sections, wrap_dim(dim, input.ndim), sections, indices)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _tensor_split,
            (
                input,
                indices_or_sections,
                dim,
                sections,
                indices,
            ),
            _error,
        )
    return _dispatch(_tensor_split, _bound)


def tensordot(a: Tensor, b: Tensor, dims: Any = 2, *, out: Any = None) -> Any:
    """Sum of products along chosen dims of both tensors.

    Args:
        a: any dtype but bool.
        b: of the dtype of `a`.
        dims: n, for the last n dims of `a` and the first n of `b`; or two lists, the dims of
            `a` and those of `b`, pair by pair.

    Returns: a tensor whose shape is the other dims of `a`, then those of `b`.

    Raises:
        RuntimeError: the sizes of a pair differ and neither is 1, a dim is named twice, or
            dtypes differ.

    Example:
        >>> gw.tensordot(gw.ones(2, 3, 4), gw.ones(3, 4, 5), 2).shape
        graphwright.Size([2, 5])
        >>> gw.tensordot(gw.ones(2, 3), gw.ones(4, 2), ([0], [1])).shape
        graphwright.Size([3, 4])
    """
    _bound = (a, b, dims)
    if out is not None:
        return with_out(_tensordot, _bound, out)
    return _dispatch(_tensordot, _bound)


def threshold(input: Tensor, threshold: Number, value: Number) -> Any:
    """Each element that is above the threshold, `value` in place of the others.

    Args:
        input: a tensor of any shape.
        threshold: the number that elements are compared with.
        value: what replaces elements that are not above it; its fraction is dropped where
            `input` is of integers.

    Raises:
        NotImplementedError: `input` is of bool or complex.

    Example:
        >>> gw.threshold(gw.tensor([-1.0, 0.5, 2.0]), 0.5, 9.0)
        tensor([9., 9., 2.])
    """
    return _dispatch(_threshold, (input, threshold, value))


def threshold_(input: Tensor, threshold: Number, value: Number) -> Any:
    """In place: writes what `threshold` gives into the tensor, and returns it."""
    return _dispatch(_threshold_, (input, threshold, value))


def threshold_backward(grad: Tensor, input: Tensor, threshold: Number) -> Any:
    return _dispatch(_threshold_backward, (grad, input, threshold))


def tile(input: Tensor, dims: Sequence[int]) -> Any:
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
    try:
        _bound = (input, as_size(dims))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_tile, (input, dims), _error)
    return _dispatch(_tile, _bound)


def to_dtype(input: Tensor, dtype: DType) -> Any:
    return _dispatch(_to_dtype, (input, dtype))


def topk(
    input: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
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
        _bound = (input, k, wrap_dim(dim, input.ndim), largest, sorted)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_topk, (input, k, dim, largest, sorted), _error)
    if out is not None:
        return with_out(_topk, _bound, out)
    return _dispatch(_topk, _bound)


def topk_positions(
    input: Tensor,
    k: int,
    dim: Any = REQUIRED,
    largest: Any = REQUIRED,
    axis: Any = ...,
) -> Any:
    if axis is not ...:
        dim = same_as("topk_positions", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, k, wrap_dim(dim, input.ndim), largest)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_topk_positions, (input, k, dim, largest), _error)
    return _dispatch(_topk_positions, _bound)


def trace(input: Tensor) -> Any:
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
    return _dispatch(_trace, (input,))


def transpose(input: Tensor, dim0: int, dim1: int) -> Any:
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
        _bound = (input, wrap_dim(dim0, input.ndim), wrap_dim(dim1, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_transpose, (input, dim0, dim1), _error)
    return _dispatch(_transpose, _bound)


def transpose_copy(input: Tensor, dim0: int, dim1: int, *, out: Any = None) -> Any:
    """Copy of `transpose`: two dims swapped.

    Args:
        input: a tensor of any shape.
        dim0, dim1: the two dims.

    Returns: a new contiguous tensor.

    Raises:
        IndexError: `input` has no such dim.

    Example:
        >>> gw.transpose_copy(gw.tensor([[1, 2], [3, 4]]), 0, 1)
        tensor([[1, 3],
                [2, 4]])
    """
    try:
        _bound = (input, wrap_dim(dim0, input.ndim), wrap_dim(dim1, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_transpose_copy, (input, dim0, dim1), _error)
    if out is not None:
        return with_out(_transpose_copy, _bound, out)
    return _dispatch(_transpose_copy, _bound)


def trapezoid(
    y: Tensor,
    x: Any = ...,
    *,
    dx: Number | None = None,
    dim: int = -1,
    axis: Any = ...,
) -> Any:
    """Integral along one dim, by the trapezoidal rule: `sum (y_i + y_i+1) (x_i+1 - x_i) / 2`.

    Args:
        y: a tensor of values.
        x: the places of the values: a vector, or a tensor that broadcasts with `y`; evenly
            spaced if None.
        dx: the spacing of places where `x` is None; 1 if None.
        dim: the dim to integrate along.

    Returns: a tensor of the shape of `y` without `dim`.

    Raises:
        RuntimeError: `y` or `x` is bool, or `x` has another number of places than `y` along
            `dim`.
        TypeError: both `x` and `dx` are given.
        IndexError: `y` has no such dim.

    Example:
        >>> gw.trapezoid(gw.tensor([1.0, 5.0, 10.0]), dx=2)
        tensor(21.)
    """
    if axis is not ...:
        dim = same_as("trapezoid", "dim", dim, -1, "axis", axis)
    if x is ...:
        x = None
    elif x is None:
        refuse_none("trapezoid", "x")
    return _dispatch(_trapezoid, (y, x, dx, dim))


def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    *,
    out: Any = None,
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
    _bound = (input, A, upper, transpose, unitriangular)
    if out is not None:
        return with_out(_triangular_solve, _bound, out)
    return _dispatch(_triangular_solve, _bound)


def tril(input: Tensor, diagonal: int = 0, *, out: Any = None) -> Any:
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
    _bound = (input, diagonal)
    if out is not None:
        return with_out(_tril, _bound, out)
    return _dispatch(_tril, _bound)


def tril_(input: Tensor, diagonal: int = 0) -> Any:
    """In place: writes what `tril` gives into the tensor, and returns it."""
    return _dispatch(_tril_, (input, diagonal))


def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Rows and columns of the elements of a lower triangle, in row-major order.

    Args:
        row, col: the sizes of the matrix.
        offset: the last diagonal of the triangle: 0 is the main one, positive ones lie above
            it.
        dtype: int32 or int64; int64 if None.
        device: where the result is made; the default device if None.

    Returns: a matrix of two rows, by which a matrix can be indexed.

    Raises:
        RuntimeError: a size is negative, or `dtype` is another one.

    Example:
        >>> gw.tril_indices(2, 2)
        tensor([[0, 1, 1],
                [0, 0, 1]])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("tril_indices", layout, pin_memory)
    return _require(requires_grad, _dispatch(_tril_indices, (row, col, offset, dtype, device)))


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-06,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    return _dispatch(
        _triplet_margin_loss, (anchor, positive, negative, margin, p, eps, swap, reduction)
    )


def triu(input: Tensor, diagonal: int = 0, *, out: Any = None) -> Any:
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
    _bound = (input, diagonal)
    if out is not None:
        return with_out(_triu, _bound, out)
    return _dispatch(_triu, _bound)


def triu_(input: Tensor, diagonal: int = 0) -> Any:
    """In place: writes what `triu` gives into the tensor, and returns it."""
    return _dispatch(_triu_, (input, diagonal))


def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Rows and columns of the elements of an upper triangle, in row-major order.

    Args:
        row, col: the sizes of the matrix.
        offset: the first diagonal of the triangle: 0 is the main one, positive ones lie above
            it.
        dtype: int32 or int64; int64 if None.
        device: where the result is made; the default device if None.

    Returns: a matrix of two rows, by which a matrix can be indexed.

    Raises:
        RuntimeError: a size is negative, or `dtype` is another one.

    Example:
        >>> gw.triu_indices(2, 2)
        tensor([[0, 0, 1],
                [0, 1, 1]])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("triu_indices", layout, pin_memory)
    return _require(requires_grad, _dispatch(_triu_indices, (row, col, offset, dtype, device)))


def trunc(input: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input,)
    if out is not None:
        return with_out(_trunc, _bound, out)
    return _dispatch(_trunc, _bound)


def trunc_(input: Tensor) -> Any:
    """In place: writes what `trunc` gives into the tensor, and returns it."""
    return _dispatch(_trunc_, (input,))


def unbind(input: Tensor, dim: int = 0, surplus: Any = ..., axis: Any = ...) -> Any:
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
        _bound = (input, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_unbind, (input, dim), _error)
    return _dispatch(_unbind, _bound)


def unbind_copy(
    input: Tensor,
    dim: int = 0,
    surplus: Any = ...,
    axis: Any = ...,
    *,
    out: Any = None,
) -> Any:
    """Copies of the slices at each position of one dim.

    Args:
        input: a tensor of at least one dim.
        dim: the dim, which the results lack.

    Returns: a tuple of new tensors.

    Raises:
        IndexError: `input` has no such dim.

    Example:
        >>> gw.unbind_copy(gw.tensor([[1, 2], [3, 4]]))
        (tensor([1, 2]), tensor([3, 4]))
    """
    if surplus is not ...:
        refuse_surplus("unbind_copy")
    if axis is not ...:
        dim = same_as("unbind_copy", "dim", dim, 0, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_unbind_copy, (input, dim), _error)
    if out is not None:
        return with_out(_unbind_copy, _bound, out)
    return _dispatch(_unbind_copy, _bound)


def unflatten(input: Tensor, dim: Any = REQUIRED, sizes: Any = REQUIRED, axis: Any = ...) -> Any:
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
        _bound = (input, wrap_dim(dim, input.ndim), as_size(sizes))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_unflatten, (input, dim, sizes), _error)
    return _dispatch(_unflatten, _bound)


def unfold(input: Tensor, dimension: int, size: int, step: int) -> Any:
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
        _bound = (input, wrap_dim(dimension, input.ndim), size, step)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_unfold, (input, dimension, size, step), _error)
    return _dispatch(_unfold, _bound)


def unfold_copy(input: Tensor, dimension: int, size: int, step: int, *, out: Any = None) -> Any:
    """Copy of `Tensor.unfold`: the windows of a given size along one dim, in a new last dim.

    Args:
        input: a tensor of any shape.
        dimension: the dim that windows slide along; it then counts them.
        size: the size of windows, at most that of the dim.
        step: the distance of windows, above 0.

    Returns: a new contiguous tensor.

    Raises:
        RuntimeError: `size` exceeds the dim or is negative, or `step` is not positive.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.unfold_copy(gw.arange(4), 0, 3, 1)
        tensor([[0, 1, 2],
                [1, 2, 3]])
    """
    try:
        _bound = (input, wrap_dim(dimension, input.ndim), size, step)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_unfold_copy, (input, dimension, size, step), _error)
    if out is not None:
        return with_out(_unfold_copy, _bound, out)
    return _dispatch(_unfold_copy, _bound)


def uniform_(
    input: Tensor,
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
    return _dispatch(_uniform_, (input, from_, to, generator))


def unique(
    input: Tensor,
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
            input,
            sorted,
            return_inverse,
            return_counts,
            wrap_dim_optional(dim, input.ndim),
        )
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_unique, (input, sorted, return_inverse, return_counts, dim), _error)
    return _dispatch(_unique, _bound)


def unique_consecutive(
    input: Tensor,
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
        _bound = (input, return_inverse, return_counts, wrap_dim_optional(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(
            _unique_consecutive,
            (
                input,
                return_inverse,
                return_counts,
                dim,
            ),
            _error,
        )
    return _dispatch(_unique_consecutive, _bound)


def unsafe_split(
    input: Tensor,
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
        _bound = (input, split_size, wrap_dim(dim, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_unsafe_split, (input, split_size, dim), _error)
    return _dispatch(_unsafe_split, _bound)


def unsqueeze(input: Tensor, dim: Any = REQUIRED, axis: Any = ...) -> Any:
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
        _bound = (input, wrap_dim(dim, input.ndim + 1))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_unsqueeze, (input, dim), _error)
    return _dispatch(_unsqueeze, _bound)


def unsqueeze_copy(input: Tensor, dim: Any = REQUIRED, axis: Any = ..., *, out: Any = None) -> Any:
    """Copy with a new dim of size 1.

    Args:
        input: a tensor of any shape.
        dim: the place of the new dim in the result.

    Returns: a new contiguous tensor.

    Raises:
        IndexError: the place is out of range.

    Example:
        >>> gw.unsqueeze_copy(gw.tensor([1, 2]), 1)
        tensor([[1],
                [2]])
    """
    if axis is not ...:
        dim = same_as("unsqueeze_copy", "dim", dim, REQUIRED, "axis", axis)
    try:
        _bound = (input, wrap_dim(dim, input.ndim + 1))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_unsqueeze_copy, (input, dim), _error)
    if out is not None:
        return with_out(_unsqueeze_copy, _bound, out)
    return _dispatch(_unsqueeze_copy, _bound)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Any:
    """Vandermonde matrix of a vector: its columns are powers of the elements.

    Args:
        x: a vector; integers and bool give int64.
        N: the number of columns; the length of `x` if None.
        increasing: the powers 0, 1, ..., N - 1; else in reverse order.

    Returns: a matrix of shape `(len(x), N)`.

    Raises:
        RuntimeError: `x` is no vector, or `N` is negative.

    Example:
        >>> gw.vander(gw.tensor([1, 2, 3]))
        tensor([[1, 1, 1],
                [4, 2, 1],
                [9, 3, 1]])
    """
    return _dispatch(_vander, (x, N, increasing))


def var(
    input: Tensor,
    dim: Any = None,
    unbiased: Any = ...,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    correction: Number | None = None,
    out: Any = None,
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
    _bound = (input, dim, unbiased, keepdim, correction)
    if out is not None:
        return with_out(_var, _bound, out)
    return _dispatch(_var, _bound)


def var_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: Any = ...,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
    *,
    correction: Number | None = None,
) -> Any:
    """Variance and mean of the elements, of all or along some dims: `var` and `mean`.

    Args:
        input: a floating point or complex tensor of any shape.
        dim: the dim or dims; all if None. A bool here is `unbiased`.
        unbiased: True for `correction=1`, False for `correction=0`; use `correction` if None.
        keepdim: keep each of these dims with size 1.
        correction: what is subtracted from the number of elements, as in `var`; 1 if None.

    Returns: a tuple of the variance and the mean.

    Raises:
        RuntimeError: `input` has integers or bools.
        TypeError: both `unbiased` and `correction` are given.
        IndexError: `input` has no such dim.

    Example:
        >>> gw.var_mean(gw.tensor([[1.0, 3.0], [2.0, 2.0]]), 1)
        (tensor([2., 0.]), tensor([2., 2.]))
    """
    if surplus is not ...:
        refuse_surplus("var_mean")
    if axis is not ...:
        dim = same_as("var_mean", "dim", dim, None, "axis", axis)
    if keepdims is not ...:
        keepdim = same_as("var_mean", "keepdim", keepdim, False, "keepdims", keepdims)
    if unbiased is ...:
        unbiased = None
    elif unbiased is None:
        refuse_none("var_mean", "unbiased")
    return _dispatch(_var_mean, (input, dim, unbiased, keepdim, correction))


def variance(
    input: Tensor,
    dim: int | Sequence[int] | None = None,
    correction: Number = 1,
    keepdim: bool = False,
    surplus: Any = ...,
    axis: Any = ...,
    keepdims: Any = ...,
) -> Any:
    if surplus is not ...:
        refuse_surplus("variance")
    if axis is not ...:
        dim = same_as("variance", "dim", dim, None, "axis", axis)
    if keepdims is not ...:
        keepdim = same_as("variance", "keepdim", keepdim, False, "keepdims", keepdims)
    try:
        _bound = (input, wrap_dims(dim, input.ndim), correction, keepdim)
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_variance, (input, dim, correction, keepdim), _error)
    return _dispatch(_variance, _bound)


def vdot(input: Tensor, other: Tensor, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_vdot, _bound, out)
    return _dispatch(_vdot, _bound)


def view(input: Tensor, size: Sequence[int]) -> Any:
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
    try:
        _bound = (input, as_size(size))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_view, (input, size), _error)
    return _dispatch(_view, _bound)


def view_as(input: Tensor, other: Tensor) -> Any:
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
    return _dispatch(_view_as, (input, other))


def view_as_complex(input: Tensor) -> Any:
    """View of pairs of real numbers as complex numbers: the inverse of `view_as_real`.

    Args:
        input: a float32 or float64 tensor of shape [..., 2]; the stride of the last dim is 1,
            the others and the storage offset are even.

    Returns: a complex tensor of shape [...] that shares memory with `input`.

    Raises:
        RuntimeError: `input` has another dtype, shape or strides.

    Example:
        >>> gw.view_as_complex(gw.tensor([[1.0, 2.0]]))
        tensor([1.+2.j])
    """
    return _dispatch(_view_as_complex, (input,))


def view_as_complex_copy(input: Tensor) -> Any:
    """Copy of `view_as_complex`: pairs of real numbers in the last dim as complex numbers.

    Args:
        input: a floating point tensor whose last dim has size 2.

    Returns: a new complex tensor without the last dim.

    Raises:
        RuntimeError: the dtype or the last dim does not suit.

    Example:
        >>> gw.view_as_complex_copy(gw.tensor([[1.0, 2.0]]))
        tensor([1.+2.j])
    """
    return _dispatch(_view_as_complex_copy, (input,))


def view_as_real(input: Tensor) -> Any:
    """View of a complex tensor as real and imaginary parts.

    Args:
        input: a complex tensor of shape [...].

    Returns: a real tensor of shape [..., 2] that shares memory with `input`.

    Raises:
        RuntimeError: `input` is not complex.

    Example:
        >>> gw.view_as_real(gw.tensor([1 + 2j]))
        tensor([[1., 2.]])
    """
    return _dispatch(_view_as_real, (input,))


def view_as_real_copy(input: Tensor) -> Any:
    """Copy of `view_as_real`: real and imaginary parts of complex numbers in a new last dim.

    Args:
        input: a complex tensor of any shape.

    Returns: a new real tensor with one more dim, of size 2.

    Raises:
        RuntimeError: `input` is not complex.

    Example:
        >>> gw.view_as_real_copy(gw.tensor([1 + 2j]))
        tensor([[1., 2.]])
    """
    return _dispatch(_view_as_real_copy, (input,))


def view_copy(input: Tensor, size: Any, *, out: Any = None) -> Any:
    """Copy of `view`: the elements of `input` in another shape, or read as another dtype.

    Args:
        input: a tensor of any shape.
        size: the new sizes, of which one may be -1, or a dtype.

    Returns: a new tensor.

    Raises:
        RuntimeError: as `view`.

    Example:
        >>> gw.view_copy(gw.arange(4), (2, 2))
        tensor([[0, 1],
                [2, 3]])
    """
    _bound = (input, size)
    if out is not None:
        return with_out(_view_copy, _bound, out)
    return _dispatch(_view_copy, _bound)


def view_dtype(input: Tensor, dtype: DType) -> Any:
    return _dispatch(_view_dtype, (input, dtype))


def view_scatter(input: Tensor, src: Tensor, views: Any) -> Any:
    return _dispatch(_view_scatter, (input, src, views))


def vsplit(
    input: Tensor,
    indices_or_sections: int | Sequence[int] | None = None,
    *,
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
    return _dispatch(_vsplit, (input, indices_or_sections, sections, indices))


def vstack(tensors: Sequence[Tensor], *, out: Any = None) -> Any:
    """Tensors joined along the first dim; vectors as rows of a matrix.

    Args:
        tensors: tensors whose other sizes are equal, at least one.

    Returns: a new tensor of at least two dims.

    Raises:
        RuntimeError: there are no tensors, or their shapes do not match.

    Example:
        >>> gw.vstack((gw.tensor([1, 2]), gw.tensor([3, 4])))
        tensor([[1, 2],
                [3, 4]])
    """
    _bound = (as_tensors(tensors, "vstack"),)
    if out is not None:
        return with_out(_vstack, _bound, out)
    return _dispatch(_vstack, _bound)


def where(
    condition: Tensor,
    input: Any = ...,
    other: Tensor | Number | None = None,
    *,
    out: Any = None,
) -> Any:
    """Elements of `input` where the condition holds, of `other` elsewhere, broadcast.

    Args:
        condition: a bool tensor; uint8 is taken with a warning, and holds where it is not 0.
        input, other: tensors or numbers; with both None the indices where the condition holds.

    Returns: a tensor of the broadcast shape, in the promoted dtype of `input` and `other`;
    without them int64 tensors, one for each dim, as of `nonzero(condition, as_tuple=True)`.

    Raises:
        RuntimeError: the condition is of another dtype, or the shapes do not broadcast.
        TypeError: just one of `input` and `other` is None.

    Example:
        >>> gw.where(gw.tensor([True, False]), gw.tensor([1, 2]), 0)
        tensor([1, 0])
    """
    if input is ...:
        input = None
    elif input is None:
        refuse_none("where", "input")
    _bound = (condition, input, other)
    if out is not None:
        return with_out(_where, _bound, out)
    return _dispatch(_where, _bound)


def xlogy(input: Tensor | Number, other: Tensor | Number, *, out: Any = None) -> Any:
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
    _bound = (input, other)
    if out is not None:
        return with_out(_xlogy, _bound, out)
    return _dispatch(_xlogy, _bound)


def xlogy_(input: Tensor, other: Tensor | Number) -> Any:
    """In place: writes what `xlogy` gives into the tensor, and returns it."""
    return _dispatch(_xlogy_, (input, other))


def zero_(input: Tensor) -> Any:
    """Set every element to 0, in place.

    Args:
        input: the tensor that is changed and returned.

    Example:
        >>> gw.ones(3).zero_()
        tensor([0., 0., 0.])
    """
    return _dispatch(_zero_, (input,))


def zeros(
    *size_: Any,
    size: Any = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
    out: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Tensor filled with 0.

    Args:
        size: the shape: a sequence, or one argument per size.
        dtype: that of the result; the default dtype if None.
        device: where the result is made; the default device if None.

    Returns: a contiguous tensor.

    Raises:
        RuntimeError: a size is negative.

    Example:
        >>> gw.zeros(2, 3)
        tensor([[0., 0., 0.],
                [0., 0., 0.]])
    """
    if device is None:
        device = place()
    if layout is not None or pin_memory:
        check_placement("zeros", layout, pin_memory)
    _bound = (as_size(varargs(size_, size)), dtype, device)
    if out is not None:
        return with_out(_zeros, _bound, out)
    return _require(requires_grad, _dispatch(_zeros, _bound))


def zeros_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    memory_format: Any = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """Tensor of the shape of another one, filled with 0.

    Args:
        input: the tensor whose shape, order of strides and dtype are taken.
        dtype: that of the result; that of `input` if None.
        device: where the result is made; that of `input` if None.

    Returns: a new dense tensor.

    Example:
        >>> gw.zeros_like(gw.tensor([1, 2]))
        tensor([0, 0])
    """
    if layout is not None or pin_memory:
        check_placement("zeros_like", layout, pin_memory)
    if memory_format is not None:
        _made = _dispatch(_zeros_like, (input, dtype, device))
        return _require(requires_grad, in_format("zeros_like", _made, memory_format))
    return _require(requires_grad, _dispatch(_zeros_like, (input, dtype, device)))


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
concat = cat
concatenate = cat
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
row_stack = vstack


def subtract(
    input: Tensor | Number,
    other: Tensor | Number,
    *older: Any,
    alpha: Number = 1,
    out: Any = None,
) -> Any:
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
        return number_behind(_sub, "subtract", (input, other, *older), out)
    _bound = (input, other, alpha)
    if out is not None:
        return with_out(_sub, _bound, out)
    return _dispatch(_sub, _bound)


def subtract_(input: Tensor, other: Tensor | Number, *older: Any, alpha: Number = 1) -> Any:
    """In place: writes what `sub` gives into the tensor, and returns it."""
    if older:
        return number_behind(_sub_, "subtract_", (input, other, *older))
    return _dispatch(_sub_, (input, other, alpha))


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Any:
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
        _bound = (input, wrap_dim(axis0, input.ndim), wrap_dim(axis1, input.ndim))
    except (AttributeError, IndexError, RuntimeError, TypeError) as _error:
        return not_bound(_transpose, (input, axis0, axis1), _error)
    return _dispatch(_transpose, _bound)
swapdims = transpose
trapz = trapezoid
true_divide = div
true_divide_ = div_
unsafe_chunk = chunk
unsafe_split_with_sizes = split_with_sizes


__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "adaptive_avg_pool1d",
    "adaptive_max_pool1d",
    "add",
    "addbmm",
    "addcdiv",
    "addcmul",
    "addmm",
    "addmv",
    "addr",
    "adjoint",
    "affine_grid_generator",
    "alias_copy",
    "all",
    "allclose",
    "alpha_dropout",
    "amax",
    "amin",
    "aminmax",
    "angle",
    "any",
    "arange",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "as_strided",
    "as_strided_copy",
    "as_strided_scatter",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "avg_pool1d",
    "baddbmm",
    "bartlett_window",
    "bernoulli",
    "bilinear",
    "bincount",
    "binomial",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "blackman_window",
    "block_diag",
    "bmm",
    "broadcast_tensors",
    "broadcast_to",
    "bucketize",
    "cartesian_prod",
    "cat",
    "cdist",
    "ceil",
    "celu",
    "chain_matmul",
    "channel_shuffle",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "chunk",
    "clamp",
    "clamp_max",
    "clamp_min",
    "clip",
    "clone",
    "column_stack",
    "combinations",
    "complex",
    "concat",
    "concatenate",
    "conj",
    "conj_physical",
    "constant_pad_nd",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "convolution",
    "copysign",
    "corrcoef",
    "cos",
    "cosh",
    "cosine_similarity",
    "count_nonzero",
    "cov",
    "cross",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_trapezoid",
    "deg2rad",
    "det",
    "detach",
    "detach_copy",
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "diagonal_copy",
    "diagonal_scatter",
    "diff",
    "digamma",
    "dist",
    "div",
    "divide",
    "dot",
    "dropout",
    "dsplit",
    "dstack",
    "einsum",
    "embedding",
    "embedding_renorm_",
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "eq",
    "equal",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expand",
    "expand_copy",
    "expm1",
    "eye",
    "feature_alpha_dropout",
    "feature_dropout",
    "fill",
    "fix",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frac",
    "frexp",
    "full",
    "full_like",
    "gather",
    "gcd",
    "ge",
    "geqrf",
    "ger",
    "gradient",
    "greater",
    "greater_equal",
    "grid_sampler",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "gt",
    "hamming_window",
    "hann_window",
    "hardshrink",
    "heaviside",
    "histc",
    "histogram",
    "histogramdd",
    "hsplit",
    "hstack",
    "hypot",
    "i0",
    "igamma",
    "igammac",
    "imag",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_reduce",
    "index_select",
    "inner",
    "inverse",
    "isclose",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "istft",
    "kaiser_window",
    "kron",
    "kthvalue",
    "lcm",
    "ldexp",
    "le",
    "lerp",
    "less",
    "less_equal",
    "lgamma",
    "linspace",
    "log",
    "log1p",
    "log2",
    "log10",
    "log_softmax",
    "logaddexp",
    "logaddexp2",
    "logcumsumexp",
    "logdet",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "logspace",
    "logsumexp",
    "lt",
    "lu",
    "lu_solve",
    "lu_unpack",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "matmul",
    "matrix_exp",
    "matrix_power",
    "max",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool3d",
    "maximum",
    "mean",
    "median",
    "meshgrid",
    "min",
    "minimum",
    "mm",
    "mode",
    "moveaxis",
    "movedim",
    "msort",
    "mul",
    "multinomial",
    "multiply",
    "mv",
    "mvlgamma",
    "nan_to_num",
    "nanmean",
    "nanmedian",
    "nanquantile",
    "nansum",
    "narrow",
    "narrow_copy",
    "ne",
    "neg",
    "negative",
    "nextafter",
    "nonzero",
    "nonzero_static",
    "norm",
    "normal",
    "not_equal",
    "ones",
    "ones_like",
    "orgqr",
    "ormqr",
    "outer",
    "pairwise_distance",
    "pdist",
    "permute",
    "permute_copy",
    "pinverse",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson",
    "polar",
    "polygamma",
    "positive",
    "pow",
    "prelu",
    "prod",
    "put",
    "qr",
    "quantile",
    "rad2deg",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "range",
    "ravel",
    "real",
    "reciprocal",
    "relu",
    "remainder",
    "renorm",
    "repeat_interleave",
    "reshape",
    "resolve_conj",
    "resolve_neg",
    "roll",
    "rot90",
    "round",
    "row_stack",
    "rrelu",
    "rsqrt",
    "rsub",
    "scalar_tensor",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "searchsorted",
    "segment_reduce",
    "select",
    "select_copy",
    "select_scatter",
    "selu",
    "sgn",
    "sigmoid",
    "sign",
    "signbit",
    "sin",
    "sinc",
    "sinh",
    "slice_copy",
    "slice_scatter",
    "slogdet",
    "softmax",
    "sort",
    "split",
    "split_copy",
    "split_with_sizes",
    "split_with_sizes_copy",
    "sqrt",
    "square",
    "squeeze",
    "squeeze_copy",
    "stack",
    "std",
    "std_mean",
    "stft",
    "sub",
    "subtract",
    "sum",
    "sum_to_size",
    "svd",
    "swapaxes",
    "swapdims",
    "t",
    "t_copy",
    "take",
    "take_along_dim",
    "tan",
    "tanh",
    "tensor_split",
    "tensordot",
    "threshold",
    "tile",
    "topk",
    "trace",
    "transpose",
    "transpose_copy",
    "trapezoid",
    "trapz",
    "triangular_solve",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
    "true_divide",
    "trunc",
    "unbind",
    "unbind_copy",
    "unflatten",
    "unfold_copy",
    "unique",
    "unique_consecutive",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "unsqueeze",
    "unsqueeze_copy",
    "vander",
    "var",
    "var_mean",
    "vdot",
    "view",
    "view_as_complex",
    "view_as_complex_copy",
    "view_as_real",
    "view_as_real_copy",
    "view_copy",
    "vsplit",
    "vstack",
    "where",
    "xlogy",
    "zeros",
    "zeros_like",
]

for _name, _function in list(globals().items()):
    if _name in TABLE:
        _op(_name).call = _op(_name).public = _function
        _function.__gw_op__ = _op(_name)

for _name, _entry in (
    ("subtract", _sub),
    ("subtract_", _sub_),
    ("swapaxes", _transpose),
):
    globals()[_name].__gw_op__ = _entry
