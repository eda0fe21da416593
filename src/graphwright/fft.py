"""Discrete Fourier transforms under PyTorch's names: `graphwright.fft`.

Every function is an op of the table, differentiated like any other. Complex tensors have no
native code, so that compiled graphs run the transforms as steps between kernels.
"""

from __future__ import annotations

from graphwright.runtime.ops.functions import fft_fft as fft
from graphwright.runtime.ops.functions import fft_fft2 as fft2
from graphwright.runtime.ops.functions import fft_fftfreq as fftfreq
from graphwright.runtime.ops.functions import fft_fftn as fftn
from graphwright.runtime.ops.functions import fft_fftshift as fftshift
from graphwright.runtime.ops.functions import fft_hfft as hfft
from graphwright.runtime.ops.functions import fft_hfft2 as hfft2
from graphwright.runtime.ops.functions import fft_hfftn as hfftn
from graphwright.runtime.ops.functions import fft_ifft as ifft
from graphwright.runtime.ops.functions import fft_ifft2 as ifft2
from graphwright.runtime.ops.functions import fft_ifftn as ifftn
from graphwright.runtime.ops.functions import fft_ifftshift as ifftshift
from graphwright.runtime.ops.functions import fft_ihfft as ihfft
from graphwright.runtime.ops.functions import fft_ihfft2 as ihfft2
from graphwright.runtime.ops.functions import fft_ihfftn as ihfftn
from graphwright.runtime.ops.functions import fft_irfft as irfft
from graphwright.runtime.ops.functions import fft_irfft2 as irfft2
from graphwright.runtime.ops.functions import fft_irfftn as irfftn
from graphwright.runtime.ops.functions import fft_rfft as rfft
from graphwright.runtime.ops.functions import fft_rfft2 as rfft2
from graphwright.runtime.ops.functions import fft_rfftfreq as rfftfreq
from graphwright.runtime.ops.functions import fft_rfftn as rfftn

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]
