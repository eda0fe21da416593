"""The passes, one per file; `graphwright.ir.pipeline.PASSES` has them in order."""
