"""Layers over sequences: attention and recurrence."""
