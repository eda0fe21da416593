"""Tensors without data: fake ones, which traces run on, and those of the meta device."""
