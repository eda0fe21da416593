"""Programs for GPUs: tiles of fused kernels, scheduled from lowered graphs."""
