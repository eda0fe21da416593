"""The functions of `nn.functional`, one module for each kind."""
