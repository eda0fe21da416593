"""Samples of every op: arguments, and what NumPy computes from them in float64."""

from .composite import COMPOSITES
from .contractions import CONTRACTIONS
from .creation import CREATION
from .functions import FUNCTIONS
from .indexing import INDEXING
from .nn import NN
from .pointwise import POINTWISE
from .reductions import REDUCTIONS
from .sample import Arr, Bad, OpErrors, OpSamples, Sample
from .views import VIEWS

ENTRIES: tuple[OpSamples | OpErrors, ...] = (
    *POINTWISE,
    *FUNCTIONS,
    *REDUCTIONS,
    *VIEWS,
    *CONTRACTIONS,
    *INDEXING,
    *COMPOSITES,
    *CREATION,
    *NN,
)
ALL: dict[str, OpSamples] = {e.name: e for e in ENTRIES if isinstance(e, OpSamples)}
ERRORS: tuple[tuple[str, Bad], ...] = tuple((e.name, bad) for e in ENTRIES for bad in e.errors)

__all__ = ["ALL", "ERRORS", "Arr", "Bad", "OpErrors", "OpSamples", "Sample"]
