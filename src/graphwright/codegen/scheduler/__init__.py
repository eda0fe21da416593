"""The scheduler: groups loop-level nodes into kernels and writes their loop nests."""
