"""Linear algebra under PyTorch's names: `graphwright.linalg`.

Every function is an op of the table, so that it is differentiated and compiled like any other.
Decompositions run through NumPy's LAPACK, in compiled code as steps between kernels.
"""

from __future__ import annotations

from graphwright.runtime.errors import LinAlgError
from graphwright.runtime.ops.functions import linalg_cholesky as cholesky
from graphwright.runtime.ops.functions import linalg_cholesky_ex as cholesky_ex
from graphwright.runtime.ops.functions import linalg_cond as cond
from graphwright.runtime.ops.functions import linalg_cross as cross
from graphwright.runtime.ops.functions import linalg_det as det
from graphwright.runtime.ops.functions import linalg_diagonal as diagonal
from graphwright.runtime.ops.functions import linalg_eig as eig
from graphwright.runtime.ops.functions import linalg_eigh as eigh
from graphwright.runtime.ops.functions import linalg_eigvals as eigvals
from graphwright.runtime.ops.functions import linalg_eigvalsh as eigvalsh
from graphwright.runtime.ops.functions import linalg_householder_product as householder_product
from graphwright.runtime.ops.functions import linalg_inv as inv
from graphwright.runtime.ops.functions import linalg_inv_ex as inv_ex
from graphwright.runtime.ops.functions import linalg_ldl_factor as ldl_factor
from graphwright.runtime.ops.functions import linalg_ldl_factor_ex as ldl_factor_ex
from graphwright.runtime.ops.functions import linalg_ldl_solve as ldl_solve
from graphwright.runtime.ops.functions import linalg_lstsq as lstsq
from graphwright.runtime.ops.functions import linalg_lu as lu
from graphwright.runtime.ops.functions import linalg_lu_factor as lu_factor
from graphwright.runtime.ops.functions import linalg_lu_factor_ex as lu_factor_ex
from graphwright.runtime.ops.functions import linalg_lu_solve as lu_solve
from graphwright.runtime.ops.functions import linalg_matrix_norm as matrix_norm
from graphwright.runtime.ops.functions import linalg_matrix_rank as matrix_rank
from graphwright.runtime.ops.functions import linalg_multi_dot as multi_dot
from graphwright.runtime.ops.functions import linalg_norm as norm
from graphwright.runtime.ops.functions import linalg_pinv as pinv
from graphwright.runtime.ops.functions import linalg_qr as qr
from graphwright.runtime.ops.functions import linalg_slogdet as slogdet
from graphwright.runtime.ops.functions import linalg_solve as solve
from graphwright.runtime.ops.functions import linalg_solve_ex as solve_ex
from graphwright.runtime.ops.functions import linalg_solve_triangular as solve_triangular
from graphwright.runtime.ops.functions import linalg_svd as svd
from graphwright.runtime.ops.functions import linalg_svdvals as svdvals
from graphwright.runtime.ops.functions import linalg_tensorinv as tensorinv
from graphwright.runtime.ops.functions import linalg_tensorsolve as tensorsolve
from graphwright.runtime.ops.functions import linalg_vander as vander
from graphwright.runtime.ops.functions import linalg_vecdot as vecdot
from graphwright.runtime.ops.functions import linalg_vector_norm as vector_norm
from graphwright.runtime.ops.functions import matmul, matrix_exp, matrix_power

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]
