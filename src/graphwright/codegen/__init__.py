"""codegen: from functional graphs of primitives to native kernels."""
