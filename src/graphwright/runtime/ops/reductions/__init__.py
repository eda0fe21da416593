"""Ops that make one number of many: sums, moments, norms, quantiles, histograms."""
