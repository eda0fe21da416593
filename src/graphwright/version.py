"""What this build is, under `torch.version`'s names: there is no CUDA, HIP or XPU."""

from __future__ import annotations

__version__ = "0.1.0"

debug = False
cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
git_version = "unknown"
