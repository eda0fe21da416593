"""Ops along one dim: running sums, orders, searches."""
