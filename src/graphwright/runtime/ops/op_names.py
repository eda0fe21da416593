"""The names of the ops, by the modules of this folder that define them.

Written by tools/op_names.py; do not edit.
"""

from __future__ import annotations

FAMILIES = {
    "activations.dropout": """
        alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout feature_alpha_dropout_
        feature_dropout feature_dropout_ native_dropout
    """,
    "activations.piecewise": """
        celu celu_ celu_backward elu elu_ elu_backward hardshrink hardshrink_backward hardsigmoid
        hardsigmoid_ hardsigmoid_backward hardswish hardswish_ hardswish_backward hardtanh
        hardtanh_ hardtanh_backward leaky_relu leaky_relu_ leaky_relu_backward prelu relu_backward
        rrelu rrelu_ selu selu_ selu_backward sloped sloped_backward softshrink softshrink_backward
        threshold threshold_ threshold_backward
    """,
    "activations.smooth": """
        gated gelu gelu_backward glu logsigmoid logsigmoid_backward mish mish_ mish_backward silu
        silu_ silu_backward softplus softplus_backward
    """,
    "creation.arange_and_windows": """
        arange bartlett_window blackman_window hamming_window hann_window kaiser_window range
    """,
    "creation.fill": """
        empty empty_like empty_permuted empty_strided full full_like ones ones_like scalar_tensor
        zeros zeros_like
    """,
    "creation.linspace": "linspace logspace",
    "creation.matrices": "eye tril_indices triu_indices vander",
    "fft.functions": """
        fft_fft fft_fft2 fft_fftfreq fft_fftn fft_fftshift fft_hfft fft_hfft2 fft_hfftn fft_ifft
        fft_ifft2 fft_ifftn fft_ifftshift fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2
        fft_irfftn fft_rfft fft_rfft2 fft_rfftfreq fft_rfftn
    """,
    "fft.stft": "istft stft",
    "fft.transforms": "fft_c2c fft_c2r fft_r2c",
    "indexing.advanced_indexing": "index index_put index_put_ put put_",
    "indexing.embedding": "embedding embedding_backward embedding_bag_parts embedding_renorm_",
    "indexing.index_writes": """
        index_add index_add_ index_copy index_copy_ index_fill index_fill_ index_reduce
        index_reduce_
    """,
    "indexing.masks": "masked_scatter masked_scatter_ masked_select",
    "indexing.scatter": """
        scatter scatter_ scatter_add scatter_add_ scatter_combined scatter_extreme scatter_reduce
        scatter_reduce_ scatter_src scatter_src_ scatter_value scatter_value_
    """,
    "indexing.select": "constant_pad gather index_select take take_along_dim",
    "inplace": "copy copy_ fill fill_ zero_",
    "linalg.factors": """
        cholesky cholesky_factor cholesky_inverse cholesky_solve linalg_cholesky linalg_eigh
        linalg_eigvalsh linalg_qr linalg_svd linalg_svdvals qr qr_factors singular_factors
        symmetric_eigen
    """,
    "linalg.forms": """
        first_bad_minor geqrf inverse linalg_cholesky_ex linalg_householder_product linalg_inv_ex
        linalg_solve_ex orgqr ormqr qr_reflections triangular_solve
    """,
    "linalg.functions": """
        general_eigen linalg_eig linalg_eigvals linalg_tensorinv linalg_tensorsolve linalg_vander
        matrix_exp svd
    """,
    "linalg.ldl": "ldl_factors linalg_ldl_factor linalg_ldl_factor_ex linalg_ldl_solve",
    "linalg.least_squares": "linalg_cond linalg_lstsq linalg_matrix_rank linalg_pinv pinverse",
    "linalg.lu": """
        linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve lu lu_factors lu_solve
        lu_unpack order_of_pivots
    """,
    "linalg.solvers": """
        cofactors cofactors_backward det linalg_det linalg_inv linalg_slogdet linalg_solve
        linalg_solve_triangular logdet sign_and_log_det slogdet solve_matrix
    """,
    "losses.ctc": "ctc_loss_parts",
    "losses.elementwise": """
        binary_cross_entropy binary_cross_entropy_with_logits cross_entropy kl_div l1_loss mse_loss
        nll_loss nll_loss_backward smooth_l1_loss
    """,
    "losses.margin": """
        cosine_embedding_loss gaussian_nll_loss hinge_embedding_loss huber_loss margin_ranking_loss
        multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss poisson_nll_loss
        soft_margin_loss triplet_margin_loss
    """,
    "norms.batch_norm": """
        batch_norm batch_norm_backward batch_norm_train instance_norm local_response_norm
    """,
    "norms.layer_norm": """
        group_norm group_norm_backward layer_norm layer_norm_backward layer_norm_gradients
        native_layer_norm rms_norm
    """,
    "norms.softmax": "log_softmax log_softmax_backward softmax softmax_backward",
    "optim.adaptive": """
        adadelta_step_ adagrad_step_ adamax_step_ asgd_step_ nadam_step_ radam_step_ rmsprop_step_
        rprop_step_
    """,
    "optim.sgd_adam": "adam_step_ sgd_step_",
    "pointwise.arithmetic": "add add_ div div_ mul mul_ sub sub_",
    "pointwise.binary": """
        bitwise_left_shift bitwise_left_shift_ bitwise_right_shift bitwise_right_shift_ copysign
        copysign_ fmax fmin gcd gcd_ heaviside heaviside_ hypot hypot_ lcm lcm_ logaddexp
        logaddexp2 nextafter nextafter_ special_xlog1py xlogy xlogy_
    """,
    "pointwise.compare": """
        atan2 atan2_ bitwise_and bitwise_and_ bitwise_or bitwise_or_ bitwise_xor bitwise_xor_ clamp
        clamp_ eq eq_ fmod fmod_ ge ge_ gt gt_ le le_ logical_and logical_and_ logical_or
        logical_or_ logical_xor logical_xor_ lt lt_ maximum minimum ne ne_ remainder remainder_
        where
    """,
    "pointwise.complex_numbers": """
        abs abs_ angle complex conj conj_physical conj_physical_ conjugated imag polar real
        resolve_conj resolve_neg sgn sgn_ view_as_complex view_as_real
    """,
    "pointwise.composite": """
        allclose clamp_max clamp_max_ clamp_min clamp_min_ equal float_power float_power_
        floor_divide floor_divide_ isclose masked_fill masked_fill_ rsub square square_
    """,
    "pointwise.copies": "clone contiguous to_dtype",
    "pointwise.functions": """
        acos acos_ acosh acosh_ asin asin_ asinh asinh_ atan atan_ atanh atanh_ cosh cosh_ deg2rad
        deg2rad_ exp2 exp2_ frac frac_ isneginf isposinf isreal log10 log10_ logit logit_
        logit_backward nan_to_num nan_to_num_ positive rad2deg rad2deg_ signbit sinc sinc_ sinh
        sinh_
    """,
    "pointwise.powers": "pow pow_ pow_number pow_number_",
    "pointwise.rounding": "ceil ceil_ floor floor_ round round_ trunc trunc_",
    "pointwise.scaling": """
        addcdiv addcdiv_ addcmul addcmul_ frexp frexp_parts ldexp ldexp_ lerp lerp_
    """,
    "pointwise.special": """
        digamma digamma_ erfc erfc_ erfinv erfinv_ i0 i0_ lgamma lgamma_ mvlgamma mvlgamma_
        polygamma special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0
        special_bessel_y1 special_entr special_erfcx special_i0e special_i1 special_i1e
        special_log_ndtr special_modified_bessel_i0 special_modified_bessel_i1
        special_modified_bessel_k0 special_modified_bessel_k1 special_ndtr special_ndtri
        special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1
        special_spherical_bessel_j0
    """,
    "pointwise.special_binary": """
        igamma igamma_ igammac igammac_ special_chebyshev_polynomial_t
        special_chebyshev_polynomial_u special_chebyshev_polynomial_v
        special_chebyshev_polynomial_w special_hermite_polynomial_h special_hermite_polynomial_he
        special_laguerre_polynomial_l special_legendre_polynomial_p
        special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u
        special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w special_zeta
    """,
    "pointwise.unary": """
        bitwise_not bitwise_not_ cos cos_ erf erf_ exp exp_ expm1 expm1_ isfinite isinf isnan log
        log1p log1p_ log2 log2_ log_ logical_not logical_not_ neg neg_ normal_cdf reciprocal
        reciprocal_ relu relu_ rsqrt rsqrt_ sigmoid sigmoid_ sigmoid_backward sign sign_ sin sin_
        sqrt sqrt_ tan tan_ tanh tanh_ tanh_backward
    """,
    "products.addmm": "addbmm addbmm_ addmm addmm_ addmv addmv_ addr addr_ baddbmm baddbmm_",
    "products.cdist": "cdist pair_distances",
    "products.chains": "chain_matmul linalg_multi_dot matrix_power",
    "products.contractions": "bmm broadcast_matmul matmul mm",
    "products.distances": "cosine_similarity pairwise_distance pdist",
    "products.einsum": "einsum einsum_nest",
    "products.grouped": "grouped_mm grouped_product",
    "products.linear": "bilinear linear",
    "products.scaled": "_scaled_mm",
    "products.tensordot": "inner kron tensordot",
    "products.vectors": "cross dot linalg_cross linalg_diagonal linalg_vecdot mv outer vdot",
    "random.distributions": "bernoulli binomial multinomial normal poisson",
    "random.draws": """
        philox_uniform rand rand_like randint randint_like randn randn_like random_bits
        random_scaled randperm rng_uniform
    """,
    "random.gamma": "standard_gamma standard_gamma_grad",
    "random.inplace": """
        bernoulli_ cauchy_ exponential_ geometric_ log_normal_ normal_ random_ uniform_
    """,
    "reductions.extrema": "all amax amin aminmax any argmax argmin max min",
    "reductions.folds": "deviation mean prod sum sum_to_size variance",
    "reductions.histogramdd": "histogramdd histogramdd_counts",
    "reductions.histograms": "bincount histc histogram histogram_counts histogram_edges",
    "reductions.norms": """
        dist linalg_matrix_norm linalg_norm linalg_vector_norm logsumexp norm p_norm renorm renorm_
    """,
    "reductions.quantiles": "nanquantile quantile",
    "reductions.segments": "segment_numbers segment_reduce",
    "reductions.statistics": """
        corrcoef count_nonzero cov nanmean nansum std std_mean trace var var_mean
    """,
    "scans.cumulative": """
        cummax cummin cumprod cumprod_ cumsum cumsum_ logcumsumexp running_max running_min
    """,
    "scans.differences": "cumulative_trapezoid diff gradient trapezoid",
    "scans.distinct": "unique unique_consecutive",
    "scans.searching": """
        argwhere bucketize isin nonzero nonzero_static one_hot search_positions searchsorted
    """,
    "scans.sorting": """
        argsort kth_position kthvalue median median_position median_value mode mode_position msort
        nanmedian sort topk topk_positions
    """,
    "sequences.attention": "attention_backward fused_attention scaled_dot_product_attention",
    "sequences.recurrent": "recurrence recurrence_backward",
    "value_checks": "require_values",
    "views.basic": """
        alias detach expand permute select select_at slice squeeze transpose unsqueeze view
        view_dtype
    """,
    "views.combinations": "cartesian_prod combinations meshgrid",
    "views.copies": """
        alias_copy as_strided_copy detach_copy diagonal_copy expand_copy narrow_copy permute_copy
        select_copy slice_copy split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy
        unbind_copy unfold_copy unsqueeze_copy view_as_complex_copy view_as_real_copy view_copy
    """,
    "views.gradients": "diagonal_backward select_backward slice_backward",
    "views.join": """
        atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cat column_stack dstack
        hstack stack vstack
    """,
    "views.rearrange": """
        flip fliplr flipud repeat repeat_interleave repeat_positions roll rot90 tile
    """,
    "views.scatter": """
        as_strided_scatter diagonal_scatter select_scatter slice_scatter view_scatter
    """,
    "views.shape": """
        _unsafe_view adjoint broadcast_to expand_as flatten mH mT matrix_H movedim narrow numpy_T
        ravel reshape reshape_as t unflatten view_as
    """,
    "views.split": """
        chunk dsplit hsplit split split_with_sizes tensor_split unbind unsafe_split vsplit
    """,
    "views.strided": "as_strided diagonal unfold",
    "views.triangles": "diag diag_embed diagflat fill_diagonal_ tril tril_ triu triu_",
    "windows.conv": """
        conv1d conv2d conv3d conv_input_grad conv_transpose1d conv_transpose2d conv_transpose3d
        conv_weight_grad convolution
    """,
    "windows.interpolate": "interpolate resample resample_backward resample_table",
    "windows.pad": "constant_pad_nd pad",
    "windows.pixels": "channel_shuffle pixel_shuffle pixel_unshuffle",
    "windows.pooling": """
        avg_pool avg_pool1d avg_pool2d avg_pool3d avg_pool_backward max_pool1d
        max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d
        max_pool3d_with_indices max_pool_backward max_pool_with_indices max_unpool scatter_planes
    """,
    "windows.pooling_adaptive": """
        adaptive_avg_pool adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
        adaptive_avg_pool_backward adaptive_max_pool adaptive_max_pool1d adaptive_max_pool2d
        adaptive_max_pool3d
    """,
    "windows.sampling": """
        affine_grid_generator fractional_max_pool grid_sample grid_sampler grid_sampler_2d
        grid_sampler_3d
    """,
    "windows.unfold": "col2im im2col",
}

METHODS = """
    abs abs_ acos acos_ acosh acosh_ add add_ addbmm addbmm_ addcdiv addcdiv_ addcmul addcmul_
    addmm addmm_ addmv addmv_ addr addr_ adjoint all allclose amax amin aminmax angle any argmax
    argmin argsort argwhere as_strided as_strided_scatter asin asin_ asinh asinh_ atan atan2 atan2_
    atan_ atanh atanh_ baddbmm baddbmm_ bernoulli bernoulli_ bincount bitwise_and bitwise_and_
    bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or bitwise_or_
    bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_ bmm broadcast_to cauchy_ ceil
    ceil_ cholesky cholesky_inverse cholesky_solve chunk clamp clamp_ clamp_max clamp_max_
    clamp_min clamp_min_ clone conj conj_physical conj_physical_ copy_ copysign copysign_ corrcoef
    cos cos_ cosh cosh_ count_nonzero cov cross cummax cummin cumprod cumprod_ cumsum cumsum_
    deg2rad deg2rad_ det diag diag_embed diagflat diagonal diagonal_scatter diff digamma digamma_
    dist div div_ dot dsplit eq eq_ equal erf erf_ erfc erfc_ erfinv erfinv_ exp exp2 exp2_ exp_
    expand expand_as expm1 expm1_ exponential_ fill_ fill_diagonal_ flatten flip fliplr flipud
    float_power float_power_ floor floor_ floor_divide floor_divide_ fmax fmin fmod fmod_ frac
    frac_ frexp gather gcd gcd_ ge ge_ geometric_ geqrf gt gt_ hardshrink heaviside heaviside_
    histc histogram hsplit hypot hypot_ i0 i0_ igamma igamma_ igammac igammac_ index_add index_add_
    index_copy index_copy_ index_fill index_fill_ index_put index_put_ index_reduce index_reduce_
    index_select inner inverse isclose isfinite isinf isnan isneginf isposinf isreal istft kron
    kthvalue lcm lcm_ ldexp ldexp_ le le_ lerp lerp_ lgamma lgamma_ log log10 log10_ log1p log1p_
    log2 log2_ log_ log_normal_ log_softmax logaddexp logaddexp2 logcumsumexp logdet logical_and
    logical_and_ logical_not logical_not_ logical_or logical_or_ logical_xor logical_xor_ logit
    logit_ logsumexp lt lt_ lu lu_solve masked_fill masked_fill_ masked_scatter masked_scatter_
    masked_select matmul matrix_exp matrix_power max maximum mean median min minimum mm mode
    movedim msort mul mul_ multinomial mv mvlgamma mvlgamma_ nan_to_num nan_to_num_ nanmean
    nanmedian nanquantile nansum narrow narrow_copy ne ne_ neg neg_ nextafter nextafter_ nonzero
    nonzero_static norm normal_ orgqr ormqr outer permute pinverse positive pow pow_ prelu prod put
    put_ qr quantile rad2deg rad2deg_ random_ ravel reciprocal reciprocal_ relu relu_ remainder
    remainder_ renorm renorm_ repeat repeat_interleave reshape reshape_as resolve_conj resolve_neg
    roll rot90 round round_ rsqrt rsqrt_ scatter scatter_ scatter_add scatter_add_ scatter_reduce
    scatter_reduce_ select select_scatter sgn sgn_ sigmoid sigmoid_ sign sign_ signbit sin sin_
    sinc sinc_ sinh sinh_ slice_scatter slogdet softmax sort split split_with_sizes sqrt sqrt_
    square square_ squeeze std stft sub sub_ sum sum_to_size svd t take take_along_dim tan tan_
    tanh tanh_ tensor_split tile topk trace transpose triangular_solve tril tril_ triu triu_ trunc
    trunc_ unbind unflatten unfold uniform_ unique unique_consecutive unsafe_split unsqueeze var
    vdot view view_as vsplit xlogy xlogy_ zero_
"""
"""The ops that are methods of Tensor."""

INTERNAL = """
    _scaled_mm _unsafe_view abs_ acos_ acosh_ adadelta_step_ adagrad_step_ adam_step_ adamax_step_
    adaptive_avg_pool adaptive_avg_pool2d adaptive_avg_pool3d adaptive_avg_pool_backward
    adaptive_max_pool adaptive_max_pool2d adaptive_max_pool3d add_ addbmm_ addcdiv_ addcmul_ addmm_
    addmv_ addr_ alias alpha_dropout_ asgd_step_ asin_ asinh_ atan2_ atan_ atanh_
    attention_backward avg_pool avg_pool2d avg_pool3d avg_pool_backward baddbmm_ batch_norm
    batch_norm_backward batch_norm_train bernoulli_ binary_cross_entropy
    binary_cross_entropy_with_logits bitwise_and_ bitwise_left_shift_ bitwise_not_ bitwise_or_
    bitwise_right_shift_ bitwise_xor_ broadcast_matmul cauchy_ ceil_ celu_ celu_backward
    cholesky_factor clamp_ clamp_max_ clamp_min_ cofactors cofactors_backward col2im conj_physical_
    conjugated constant_pad contiguous conv_input_grad conv_weight_grad copy copy_ copysign_ cos_
    cosh_ cosine_embedding_loss cross_entropy ctc_loss_parts cumprod_ cumsum_ deg2rad_ deviation
    diagonal_backward digamma_ div_ dropout_ einsum_nest elu elu_ elu_backward embedding_backward
    embedding_bag_parts eq_ erf_ erfc_ erfinv_ exp2_ exp_ expand_as expm1_ exponential_
    feature_alpha_dropout_ feature_dropout_ fft_c2c fft_c2r fft_fft fft_fft2 fft_fftfreq fft_fftn
    fft_fftshift fft_hfft fft_hfft2 fft_hfftn fft_ifft fft_ifft2 fft_ifftn fft_ifftshift fft_ihfft
    fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn fft_r2c fft_rfft fft_rfft2 fft_rfftfreq
    fft_rfftn fill_ fill_diagonal_ first_bad_minor float_power_ floor_ floor_divide_ fmod_ frac_
    fractional_max_pool frexp_parts fused_attention gated gaussian_nll_loss gcd_ ge_ gelu
    gelu_backward general_eigen geometric_ glu grid_sample group_norm group_norm_backward
    grouped_mm grouped_product gt_ hardshrink_backward hardsigmoid hardsigmoid_
    hardsigmoid_backward hardswish hardswish_ hardswish_backward hardtanh hardtanh_
    hardtanh_backward heaviside_ hinge_embedding_loss histogram_counts histogram_edges
    histogramdd_counts huber_loss hypot_ i0_ igamma_ igammac_ im2col index index_add_ index_copy_
    index_fill_ index_put_ index_reduce_ instance_norm interpolate kl_div kth_position l1_loss
    layer_norm layer_norm_backward layer_norm_gradients lcm_ ldexp_ ldl_factors le_ leaky_relu
    leaky_relu_ leaky_relu_backward lerp_ lgamma_ linalg_cholesky linalg_cholesky_ex linalg_cond
    linalg_cross linalg_det linalg_diagonal linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh
    linalg_householder_product linalg_inv linalg_inv_ex linalg_ldl_factor linalg_ldl_factor_ex
    linalg_ldl_solve linalg_lstsq linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve
    linalg_matrix_norm linalg_matrix_rank linalg_multi_dot linalg_norm linalg_pinv linalg_qr
    linalg_slogdet linalg_solve linalg_solve_ex linalg_solve_triangular linalg_svd linalg_svdvals
    linalg_tensorinv linalg_tensorsolve linalg_vander linalg_vecdot linalg_vector_norm linear
    local_response_norm log10_ log1p_ log2_ log_ log_normal_ log_softmax_backward logical_and_
    logical_not_ logical_or_ logical_xor_ logit_ logit_backward logsigmoid logsigmoid_backward lt_
    lu_factors mH mT margin_ranking_loss masked_fill_ masked_scatter_ matrix_H
    max_pool2d_with_indices max_pool3d_with_indices max_pool_backward max_pool_with_indices
    max_unpool median_position median_value mish mish_ mish_backward mode_position mse_loss mul_
    multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss mvlgamma_ nadam_step_
    nan_to_num_ native_dropout native_layer_norm ne_ neg_ nextafter_ nll_loss nll_loss_backward
    normal_ normal_cdf numpy_T one_hot order_of_pivots p_norm pad pair_distances philox_uniform
    poisson_nll_loss pow_ pow_number pow_number_ put_ qr_factors qr_reflections rad2deg_
    radam_step_ random_ random_bits random_scaled reciprocal_ recurrence recurrence_backward relu_
    relu_backward remainder_ renorm_ repeat repeat_positions require_values resample
    resample_backward resample_table reshape_as rms_norm rmsprop_step_ rng_uniform round_
    rprop_step_ rrelu_ rsqrt_ running_max running_min scaled_dot_product_attention scatter_
    scatter_add_ scatter_combined scatter_extreme scatter_planes scatter_reduce_ scatter_src
    scatter_src_ scatter_value scatter_value_ search_positions segment_numbers select_at
    select_backward selu_ selu_backward sgd_step_ sgn_ sigmoid_ sigmoid_backward sign_
    sign_and_log_det silu silu_ silu_backward sin_ sinc_ singular_factors sinh_ slice
    slice_backward sloped sloped_backward smooth_l1_loss soft_margin_loss softmax_backward softplus
    softplus_backward softshrink softshrink_backward solve_matrix special_airy_ai special_bessel_j0
    special_bessel_j1 special_bessel_y0 special_bessel_y1 special_chebyshev_polynomial_t
    special_chebyshev_polynomial_u special_chebyshev_polynomial_v special_chebyshev_polynomial_w
    special_entr special_erfcx special_hermite_polynomial_h special_hermite_polynomial_he
    special_i0e special_i1 special_i1e special_laguerre_polynomial_l special_legendre_polynomial_p
    special_log_ndtr special_modified_bessel_i0 special_modified_bessel_i1
    special_modified_bessel_k0 special_modified_bessel_k1 special_ndtr special_ndtri
    special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1
    special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u
    special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w
    special_spherical_bessel_j0 special_xlog1py special_zeta sqrt_ square_ standard_gamma
    standard_gamma_grad sub_ symmetric_eigen tan_ tanh_ tanh_backward threshold_ threshold_backward
    to_dtype topk_positions tril_ triplet_margin_loss triu_ trunc_ unfold uniform_ variance view_as
    view_dtype view_scatter xlogy_ zero_
"""
"""The ops that are no public functions."""

NAMES = {name: family for family, names in FAMILIES.items() for name in names.split()}
"""The module that defines each op."""
