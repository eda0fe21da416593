"""Tensors on GPUs: how they are copied, and what runs ops on them."""
