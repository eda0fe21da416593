"""The benchmark suite: correctness first, then medians of cases measured in turns.

    python -m benchmarks                   run everything, write out/benchmarks/{json,md,html}
    python -m benchmarks kernels calls     only these groups
    python -m benchmarks --update-docs     also write benchmarks/results, and from it the pages
    python -m benchmarks --render          only write the pages from benchmarks/results
    python -m benchmarks.eager_large       every kind of op on large tensors, against PyTorch
"""
