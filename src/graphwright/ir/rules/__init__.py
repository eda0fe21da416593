"""Rewrite rules on graphs: patterns, where they occur, and what replaces them."""
