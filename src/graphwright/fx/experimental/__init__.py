"""What libraries ask of `torch.fx.experimental`."""
