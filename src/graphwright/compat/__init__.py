"""PyTorch's switches without effect, its older names, and its devices that are not here."""
