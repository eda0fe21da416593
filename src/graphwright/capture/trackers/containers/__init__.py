"""Containers and iterators."""
