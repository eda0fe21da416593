"""Activations, and dropout."""
