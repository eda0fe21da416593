"""The ops whose functions take `out=`, as in PyTorch; read when the wrappers are generated."""

_NAMES = """
    abs acos acosh add addbmm addcdiv addcmul addmm addmv addr all amax amin aminmax angle any
    arange argmax argmin asin asinh atan atan2 atanh avg_pool2d avg_pool3d baddbmm bernoulli
    bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor bmm
    bucketize cat ceil clamp clamp_max clamp_min column_stack complex conj_physical copysign cos
    cosh cross cummax cummin cumprod cumsum deg2rad diag diff digamma div dot dstack empty entr eq
    erf erfc erfcx erfinv exp exp2 expm1 eye float_power floor floor_divide fmax fmin fmod frac
    frexp full gammainc gammaincc gather gcd ge gelu gt hardshrink heaviside histc hstack hypot i0
    i0e i1 i1e igamma igammac index_add index_copy index_reduce index_select inner isin isneginf
    isposinf kron kthvalue lcm ldexp le lerp lgamma linear linspace log log10 log1p log2 log_ndtr
    log_softmax logaddexp logaddexp2 logcumsumexp logical_and logical_not logical_or logical_xor
    logit logsigmoid logspace logsumexp lt masked_select matmul matrix_norm matrix_power max
    maximum mean median min minimum mm mode msort mul multi_dot multinomial mv mvlgamma nan_to_num
    nanmean nanmedian nanquantile nansum ndtr ndtri ne neg nextafter nonzero norm normal normalize
    ones outer polar polygamma pow prod quantile rad2deg rand randint randn randperm reciprocal
    remainder renorm round rsqrt scatter scatter_add scatter_reduce searchsorted sgn sigmoid sign
    signbit sin sinc sinh slice_scatter softmax softplus softshrink sort special_entr sqrt square
    stack std sub sum take take_along_dim tan tanh tensordot topk tril triu trunc var vdot vecdot
    vector_norm vstack where xlog1py xlogy zeros zeta
"""

OUT_FORMS = frozenset(_NAMES.split())
