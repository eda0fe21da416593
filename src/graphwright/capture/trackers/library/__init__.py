"""The standard library: its modules, texts, and functions."""
