"""A training step with one graph break, planted here so that you can find and fix it.

    graphwright explain examples/broken.py:step

docs/debugging.md goes through it.
"""

import graphwright as gw
from graphwright import nn

gw.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 4))


def clipped(prediction):
    """Predictions scaled so that none is above 1."""
    largest = prediction.abs().max()
    if largest > 1:
        prediction = prediction / largest
    return prediction


def step(x, y):
    """The loss of a batch."""
    prediction = clipped(model(x))
    return nn.functional.mse_loss(prediction, y)


def example_inputs():
    """The arguments that the command line calls `step` with."""
    return gw.randn(8, 16), gw.randn(8, 4)


if __name__ == "__main__":
    print(gw.explain(step)(*example_inputs()))
