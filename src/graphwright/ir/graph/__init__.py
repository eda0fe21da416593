"""A graph: its nodes, how it runs and prints, and how parts of it are found and replaced."""
