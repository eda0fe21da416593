"""The ops whose functions take `out=`, as in PyTorch."""

_NAMES = """
    abs acos acosh add addbmm addcdiv addcmul addmm addmv addr alias_copy all amax amin aminmax
    angle any arange argmax argmin as_strided_copy asin asinh atan atan2 atanh avg_pool2d
    avg_pool3d baddbmm bernoulli bitwise_and bitwise_left_shift bitwise_not bitwise_or
    bitwise_right_shift bitwise_xor bmm bucketize cat ceil cholesky
    cholesky_inverse cholesky_solve clamp clamp_max clamp_min column_stack complex
    conj_physical copysign cos cosh cross cummax cummin cumprod cumsum deg2rad diag
    diagonal_copy diff digamma div dot dstack empty entr eq erf erfc erfcx erfinv exp exp2
    expand_copy expm1 eye fft_fft fft_fft2 fft_fftfreq fft_fftn fft_hfft fft_hfft2 fft_hfftn
    fft_ifft fft_ifft2 fft_ifftn fft_ihfft fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2
    fft_irfftn fft_rfft fft_rfft2 fft_rfftfreq fft_rfftn float_power floor floor_divide fmax
    fmin fmod frac frexp full gammainc gammaincc gather gcd ge gelu geqrf gt hardshrink
    heaviside histc histogram hstack hypot i0 i0e i1 i1e igamma igammac index_add index_copy
    index_reduce index_select inner isin isneginf isposinf kron kthvalue lcm ldexp le lerp
    lgamma linalg_cholesky linalg_cholesky_ex linalg_cond linalg_cross linalg_det linalg_eig
    linalg_eigh linalg_eigvals linalg_eigvalsh linalg_householder_product linalg_inv
    linalg_inv_ex linalg_ldl_factor linalg_ldl_factor_ex linalg_ldl_solve linalg_lstsq
    linalg_lu linalg_lu_factor linalg_lu_factor_ex linalg_lu_solve linalg_matrix_norm
    linalg_matrix_rank linalg_multi_dot linalg_norm linalg_pinv linalg_qr linalg_slogdet
    linalg_solve linalg_solve_ex linalg_solve_triangular linalg_svd linalg_svdvals
    linalg_tensorinv linalg_tensorsolve linalg_vecdot linalg_vector_norm linear linspace log
    log10 log1p log2 log_ndtr log_softmax logaddexp logaddexp2 logcumsumexp logical_and
    logical_not logical_or logical_xor logit logsigmoid logspace logsumexp lt lu lu_solve
    lu_unpack masked_select matmul matrix_norm matrix_power max maximum mean median min minimum
    mm mode msort mul multi_dot multinomial mv mvlgamma nan_to_num nanmean nanmedian
    nanquantile nansum narrow_copy ndtr ndtri ne neg nextafter nonzero nonzero_static norm
    normal normalize ones ormqr outer permute_copy polar polygamma pow prod qr quantile rad2deg
    rand randint randn randperm range reciprocal remainder renorm round rsqrt scatter
    scatter_add scatter_reduce searchsorted sgn sigmoid sign signbit sin sinc sinh
    slice_scatter softmax softplus softshrink sort special_airy_ai special_bessel_j0
    special_bessel_j1 special_bessel_y0 special_bessel_y1 special_chebyshev_polynomial_t
    special_chebyshev_polynomial_u special_chebyshev_polynomial_v
    special_chebyshev_polynomial_w special_entr special_erfcx special_hermite_polynomial_h
    special_hermite_polynomial_he special_i0e special_i1 special_i1e
    special_laguerre_polynomial_l special_legendre_polynomial_p special_log_ndtr
    special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0
    special_modified_bessel_k1 special_ndtr special_ndtri special_scaled_modified_bessel_k0
    special_scaled_modified_bessel_k1 special_shifted_chebyshev_polynomial_t
    special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v
    special_shifted_chebyshev_polynomial_w special_spherical_bessel_j0 special_xlog1py
    special_zeta split_with_sizes_copy sqrt square squeeze_copy stack std sub sum svd t_copy
    take take_along_dim tan tanh tensordot topk transpose_copy triangular_solve tril triu trunc
    unbind_copy unfold_copy unsqueeze_copy var vdot vecdot vector_norm view_copy vstack where
    xlog1py xlogy zeros zeta
"""

OUT_FORMS = frozenset(_NAMES.split())
