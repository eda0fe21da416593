"""Training steps of which one line takes most of the time: which one?

    graphwright profile examples/slow_step.py

docs/profiling.md shows how to find it.
"""

import graphwright as gw
import graphwright.nn.functional as F
from graphwright import nn

gw.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(),
                      nn.Linear(256, 10))
optimizer = gw.optim.SGD(model.parameters(), lr=0.01)
x, y = gw.randn(64, 64), gw.randint(0, 10, (64,))

for _ in range(10):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    largest = gw.linalg.svdvals(model[2].weight).max()
    loss = loss + 0.1 * F.relu(largest - 1)
    loss.backward()
    optimizer.step()

print(f"loss {float(loss):.3f}")
