"""Every op of the table as an ONNX model: what onnxruntime computes from it, and which ops there
is no ONNX form for."""

from __future__ import annotations

import random
import zlib
from typing import Any

import pytest
from tests.onnx.export.samples import calls
from tests.runtime.samples import ALL, OpSamples

import graphwright as gw
from graphwright.export import Dim
from graphwright.onnx import OnnxExporterError

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
pytest.importorskip("onnxruntime", reason="models are run by onnxruntime")

LACKING = frozenset({
    "adaptive_max_pool", "adaptive_max_pool1d", "adaptive_max_pool3d", "as_strided_scatter",
    "avg_pool_backward", "cholesky", "cholesky_factor", "cholesky_inverse", "cholesky_solve",
    "cofactors", "cofactors_backward", "cummax", "cummin", "cumprod", "digamma",
    "embedding_bag_parts", "erfinv", "first_bad_minor", "frexp", "frexp_parts",
    "fused_attention", "gcd", "general_eigen", "geqrf", "grouped_product", "histc",
    "histogram", "histogram_counts", "histogram_edges", "i0", "igamma", "igammac", "inverse",
    "lcm", "ldl_factors", "lgamma", "linalg_cholesky", "linalg_cholesky_ex", "linalg_cond",
    "linalg_eig", "linalg_eigh", "linalg_eigvals", "linalg_eigvalsh", "linalg_inv",
    "linalg_inv_ex", "linalg_ldl_factor", "linalg_ldl_factor_ex", "linalg_ldl_solve",
    "linalg_lstsq", "linalg_lu", "linalg_lu_factor", "linalg_lu_factor_ex", "linalg_lu_solve",
    "linalg_matrix_rank", "linalg_pinv", "linalg_qr", "linalg_slogdet", "linalg_solve",
    "linalg_solve_ex", "linalg_solve_triangular", "linalg_svd", "linalg_svdvals",
    "linalg_tensorinv", "linalg_tensorsolve", "linalg_vander", "logcumsumexp", "logdet", "lu",
    "lu_factors", "lu_solve", "lu_unpack", "masked_scatter", "matrix_exp", "max_unpool",
    "median_position", "mode", "mode_position", "mvlgamma", "nanmedian", "nextafter",
    "nonzero_static", "order_of_pivots", "pinverse", "polygamma", "qr", "qr_factors",
    "qr_reflections", "repeat_positions", "resample_backward", "running_max", "running_min",
    "segment_numbers", "segment_reduce", "sign_and_log_det", "singular_factors", "slogdet",
    "solve_matrix", "special_airy_ai", "special_bessel_j0", "special_bessel_j1",
    "special_bessel_y0", "special_bessel_y1", "special_chebyshev_polynomial_t",
    "special_chebyshev_polynomial_u", "special_chebyshev_polynomial_v",
    "special_chebyshev_polynomial_w", "special_erfcx", "special_hermite_polynomial_h",
    "special_hermite_polynomial_he", "special_i0e", "special_i1", "special_i1e",
    "special_laguerre_polynomial_l", "special_legendre_polynomial_p", "special_log_ndtr",
    "special_modified_bessel_i0", "special_modified_bessel_i1", "special_modified_bessel_k0",
    "special_modified_bessel_k1", "special_ndtri", "special_scaled_modified_bessel_k0",
    "special_scaled_modified_bessel_k1", "special_shifted_chebyshev_polynomial_t",
    "special_shifted_chebyshev_polynomial_u", "special_shifted_chebyshev_polynomial_v",
    "special_shifted_chebyshev_polynomial_w", "special_spherical_bessel_j0", "special_zeta",
    "standard_gamma_grad", "svd", "symmetric_eigen", "triangular_solve",
})  # fmt: skip
"""Ops without an ONNX form, for none of their samples."""
SINCE_26 = frozenset({"cumprod", "linalg_vander"})
"""Those of them that have one in opset 26."""
PARTLY = frozenset({
    "adaptive_max_pool2d", "avg_pool", "isin", "linalg_matrix_norm", "matrix_power",
})  # fmt: skip
"""Ops that have one for some arguments, or from opset 22 on."""
FIXED = frozenset({"as_strided", "as_strided_copy", "conv1d", "conv2d"})
"""Ops that have one for sizes that are static: of memory by strides, of padding "same"."""
DRAWING = frozenset({
    "bernoulli", "multinomial", "normal", "rand", "rand_like", "randint", "randint_like", "randn",
    "randn_like", "random_bits", "random_scaled", "randperm",
})  # fmt: skip
"""Ops that draw numbers, so that no two runs agree."""
BY_VALUES = frozenset({
    "allclose", "argwhere", "bincount", "binomial", "equal", "masked_select", "nonzero", "poisson",
    "standard_gamma", "unique", "unique_consecutive",
})  # fmt: skip
"""Ops that no graph holds, as the type of their result depends on values, or is a number."""
UNDEFINED = frozenset({"empty", "empty_like", "searchsorted"})
"""Ops whose samples have no defined result: memory as it is, a sequence that is not sorted."""
NESTED = frozenset({"histogramdd"})
"""Ops whose result is nested, which gw.export does not record."""

ENTRIES = [one for one in ALL.values() if one.name not in UNDEFINED | NESTED]


def _today(entries: list[OpSamples]) -> list[OpSamples]:
    """A tenth of the ops; another for each release of the samples."""
    seed = zlib.crc32(" ".join(one.name for one in entries).encode())
    print(f"seed {seed}")
    return random.Random(seed).sample(entries, len(entries) // 10)


def _check(entry: OpSamples, opset: int | None, dtype: Any, dynamic: bool) -> None:
    for call, tensors in calls(entry, dtype):
        try:
            call(*tensors)
        except (RuntimeError, NotImplementedError, TypeError):
            continue        # eager execution has no such kernel for halves
        shapes = [{dim: Dim.AUTO for dim, size in enumerate(one.shape) if size > 1}
                  for one in tensors]
        try:
            made = gw.onnx.export(call, tuple(tensors), opset_version=opset,
                                  dynamic_shapes=shapes if dynamic else None)
        except OnnxExporterError as error:
            _check_refusal(entry.name, str(error), dynamic, dtype)
        else:
            assert made.verified_by == "onnxruntime" or dtype is not gw.float32
            assert entry.name not in LACKING | DRAWING | BY_VALUES
            onnx.checker.check_model(made.model_proto, full_check=True)


def _check_refusal(name: str, text: str, dynamic: bool, dtype: Any) -> None:
    if "have no ONNX form" in text:
        assert name in LACKING | PARTLY | (FIXED if dynamic else set()), text
    elif "draws random numbers" in text:
        assert name in DRAWING, text
    elif "depends on the values of tensors" in text:
        assert name in BY_VALUES, text
    elif "would hold only where" in text:
        assert dynamic, text
    else:
        lacks_kernel = "onnxruntime cannot run it" in text and dtype is not gw.float32
        too_small = "onnxruntime refuses to run the file" in text and name == "scatter_planes"
        assert lacks_kernel or (too_small and dynamic), text


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("entry", _today(ENTRIES), ids=lambda entry: entry.name)
@pytest.mark.filterwarnings("ignore:range is deprecated")
def test_ops_as_onnx_models(entry: OpSamples, dynamic: bool) -> None:
    _check(entry, None, gw.float32, dynamic)


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
@pytest.mark.filterwarnings("ignore:range is deprecated")
def test_all_ops_at_all_opsets(entry: OpSamples) -> None:
    for opset in range(18, 27):
        if opset < 26 or entry.name not in SINCE_26:
            _check(entry, opset, gw.float32, False)
    _check(entry, None, gw.float32, True)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [gw.float16, gw.float64], ids=str)
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
@pytest.mark.filterwarnings("ignore:range is deprecated")
def test_all_ops_of_other_dtypes(entry: OpSamples, dtype: Any) -> None:
    _check(entry, None, dtype, False)
