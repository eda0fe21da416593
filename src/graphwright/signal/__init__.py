"""Signal processing, after `torch.signal`: `graphwright.signal.windows`."""

from graphwright.signal import windows

__all__ = ["windows"]
