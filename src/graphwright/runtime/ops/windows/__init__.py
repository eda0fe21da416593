"""Sliding windows: convolution, pooling, padding, and images in other sizes."""
