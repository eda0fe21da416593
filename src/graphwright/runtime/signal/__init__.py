"""Signal processing, after `torch.signal`: `graphwright.signal.windows`."""

from graphwright.runtime.signal import windows

__all__ = ["windows"]
