"""Functions, methods, generators, and whatever else is called."""
