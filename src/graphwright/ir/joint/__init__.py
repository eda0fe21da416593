"""The joint graph of forward and backward: traced, split, and related to eager's tape."""
