"""The layers: one module for each kind."""
