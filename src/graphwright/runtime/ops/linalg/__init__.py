"""Factorisations, solvers, and functions of matrices."""
