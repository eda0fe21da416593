"""Measuring, charts and self-contained pages: what benchmarks, examples and the CLI report with."""
