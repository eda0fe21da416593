"""Which ops autocast runs in which dtype: PyTorch's lists for CPUs and for GPUs, as data.

Ops that stand in no list run in the dtypes of their arguments, or are made of ops that do stand
in one. In-place ops and results written into `out=` keep their dtypes. float64 stays float64.
Source: the operator lists of PyTorch's documentation of `torch.amp`, "CPU Op-Specific Behavior"
and "CUDA Op-Specific Behavior", and of its header ATen/autocast_mode.h.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Args = tuple[Any, ...]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True)
class Policy:
    """The lists of a kind of device.

    lower: products, which gain most: they run in autocast's dtype.
    float32: what loses too much in 16 bits, or has no kernel for them: these run in float32.
    float32_unless_given: these too, unless the call names a dtype.
    float32_where: ops that run in float32 for some of their arguments only.
    widest: what puts tensors together: in the widest of their dtypes.
    as_given: ops that run in the dtypes of their arguments in all their parts, for which being
        made of products is a detail.
    refused: ops that raise RuntimeError, with what is to be used instead.
    """

    lower: frozenset[str]
    float32: frozenset[str]
    widest: frozenset[str]
    as_given: frozenset[str]
    float32_unless_given: frozenset[str] = frozenset()
    float32_where: dict[str, Callable[[Args], bool]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


CPU = Policy(
    lower=_names(
        """
        addbmm addmm baddbmm bmm conv1d conv2d conv3d conv_transpose1d conv_transpose2d
        conv_transpose3d convolution linalg_vecdot linear matmul mm prelu
        scaled_dot_product_attention
        """
    ),
    float32=_names(
        """
        adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d fractional_max_pool max_pool3d
        max_unpool grid_sample grid_sampler grid_sampler_2d grid_sampler_3d

        binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss cross_entropy
        ctc_loss_parts hinge_embedding_loss huber_loss kl_div l1_loss margin_ranking_loss mse_loss
        multi_margin_loss multilabel_margin_loss nll_loss poisson_nll_loss smooth_l1_loss
        soft_margin_loss triplet_margin_loss

        cdist nanquantile polar prod quantile trace view_as_complex

        cholesky cholesky_inverse cholesky_solve geqrf linalg_cholesky linalg_cholesky_ex
        linalg_cond linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh
        linalg_householder_product linalg_inv linalg_inv_ex linalg_lstsq linalg_matrix_rank
        linalg_pinv linalg_qr linalg_solve linalg_svd linalg_svdvals linalg_tensorinv
        linalg_tensorsolve lu_solve orgqr ormqr pinverse qr svd triangular_solve

        fft_fft fft_fft2 fft_fftn fft_hfft fft_ifft fft_ifft2 fft_ifftn fft_ihfft fft_irfft
        fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftn
        """
    ),
    widest=_names("cat index_copy stack"),
    as_given=_names("adaptive_avg_pool adaptive_avg_pool_backward addmv dot mv vdot"),
    float32_where={"pad": lambda args: args[2] in ("reflect", "replicate")},
)

CUDA = Policy(
    lower=_names(
        """
        addbmm addmm addmv addr baddbmm bmm chain_matmul conv1d conv2d conv3d conv_transpose1d
        conv_transpose2d conv_transpose3d convolution linalg_multi_dot linalg_vecdot linear matmul
        mm mv prelu scaled_dot_product_attention
        """
    ),
    float32=_names(
        """
        acos asin cosh erfinv exp expm1 log log10 log1p log2 pow reciprocal rsqrt sinh softplus tan

        cdist cosine_similarity dist group_norm layer_norm logsumexp native_layer_norm pdist renorm
        rms_norm

        binary_cross_entropy_with_logits cosine_embedding_loss cross_entropy hinge_embedding_loss
        huber_loss kl_div l1_loss margin_ranking_loss mse_loss multi_margin_loss
        multilabel_margin_loss nll_loss poisson_nll_loss smooth_l1_loss soft_margin_loss
        triplet_margin_loss
        """
    ),
    float32_unless_given=_names(
        "cumprod cumsum linalg_matrix_norm linalg_vector_norm log_softmax norm prod softmax sum"
    ),
    widest=_names(
        """
        addcdiv addcmul atan2 bilinear cross dot grid_sampler index_put scatter_add tensordot vdot
        """
    ),
    as_given=_names("adaptive_avg_pool adaptive_avg_pool_backward"),
    float32_where={"interpolate": lambda args: args[2] != "area"},
    refused={
        "binary_cross_entropy": "it is unsafe to autocast: use binary_cross_entropy_with_logits, "
        "or BCEWithLogitsLoss, in place of a sigmoid before it",
    },
)

BY_DEVICE = {"cpu": CPU, "cuda": CUDA}
