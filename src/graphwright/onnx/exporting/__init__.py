"""Programs as ONNX files: `preparing` makes a functional graph of ops that have an ONNX form,
`translation` writes it as nodes, `verifying` runs them, `writing` publishes the file."""
