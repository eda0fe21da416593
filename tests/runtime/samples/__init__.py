"""Samples of every op: arguments, and what NumPy computes from them in float64."""

from .composite import COMPOSITES
from .contractions import CONTRACTIONS
from .creation import CREATION
from .indexing import INDEXING
from .nn import NN
from .pointwise import POINTWISE
from .reductions import REDUCTIONS
from .sample import Arr, OpSamples, Sample
from .views import VIEWS

ALL: dict[str, OpSamples] = {
    entry.name: entry
    for entry in (
        *POINTWISE,
        *REDUCTIONS,
        *VIEWS,
        *CONTRACTIONS,
        *INDEXING,
        *COMPOSITES,
        *CREATION,
        *NN,
    )
}

__all__ = ["ALL", "Arr", "OpSamples", "Sample"]
