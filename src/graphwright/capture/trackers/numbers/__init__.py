"""Symbolic numbers: integers and floats that differ from call to call, and operations on them."""
