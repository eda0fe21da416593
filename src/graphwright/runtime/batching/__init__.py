"""Vectorised `vmap`: ops on tensors that stand for one example of a batch.

`levels` holds the calls of vmap that are running, `tensor` the tensor of one example, `engine`
what dispatch hands such tensors to, and the other files the rules, one file for each kind of op.
"""
