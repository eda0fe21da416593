"""Samples of every op: arguments, and what NumPy computes from them in float64."""

from .complex_numbers import COMPLEX_NUMBERS
from .composite import COMPOSITES
from .contractions import CONTRACTIONS
from .creation import CREATION
from .functions import FUNCTIONS
from .indexing import INDEXING
from .linalg import LINALG
from .nn import NN
from .nn_functions import NN_FUNCTIONS
from .nn_windows import WINDOWS
from .orders import ORDERS
from .pointwise import POINTWISE
from .products import PRODUCTS
from .reductions import REDUCTIONS
from .sample import Arr, Bad, OpErrors, OpSamples, Sample
from .scans import SCANS
from .shapes import SHAPES
from .statistics import STATISTICS
from .views import VIEWS

ENTRIES: tuple[OpSamples | OpErrors, ...] = (
    *POINTWISE,
    *FUNCTIONS,
    *REDUCTIONS,
    *STATISTICS,
    *SCANS,
    *ORDERS,
    *VIEWS,
    *SHAPES,
    *CONTRACTIONS,
    *PRODUCTS,
    *LINALG,
    *INDEXING,
    *COMPLEX_NUMBERS,
    *COMPOSITES,
    *CREATION,
    *NN,
    *NN_FUNCTIONS,
    *WINDOWS,
)
ALL: dict[str, OpSamples] = {e.name: e for e in ENTRIES if isinstance(e, OpSamples)}
ERRORS: tuple[tuple[str, Bad], ...] = tuple((e.name, bad) for e in ENTRIES for bad in e.errors)

__all__ = ["ALL", "ERRORS", "Arr", "Bad", "OpErrors", "OpSamples", "Sample"]
