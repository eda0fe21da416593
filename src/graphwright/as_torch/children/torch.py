"""`import torch` in a spawned process: the stand-in, as in its parent."""

import sys

import graphwright

sys.modules["torch"] = graphwright

import graphwright.as_torch  # noqa: E402
