"""Ops that make tensors of numbers."""
