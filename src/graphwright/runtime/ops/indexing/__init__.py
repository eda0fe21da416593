"""Ops that read and write by position or by a mask."""
