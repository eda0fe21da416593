"""Measuring, charts and self-contained pages, for benchmarks, examples and the CLI."""
