"""Special functions that NumPy lacks."""
