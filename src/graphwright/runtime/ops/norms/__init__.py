"""Normalisations, and softmax."""
