"""ONNX models as modules: files, tensors, the steps of a graph, and what operators compute."""
