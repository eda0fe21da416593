"""Classes: those from outside, those that the frame makes, and the special kinds of them."""
