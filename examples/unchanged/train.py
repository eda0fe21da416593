"""A small vision transformer learns to tell drawn shapes apart.

An ordinary PyTorch program: worker processes that draw the images, mixed precision, a learning
rate that warms up and decays, checkpoints, and a run that goes on from one.

    python train.py                                   with PyTorch
    graphwright run --compile train.py                without

The images, the order of the samples and the first weights come from formulas and not from a random
generator, so that two libraries with different generators print the same losses, within 1 %.
"""

import argparse
import pathlib
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

SIZE = 24
SHAPES = ("disc", "square", "ring", "cross", "stripes", "corner")


def scattered(*numbers):
    """A number in [0, 1) that is different for each list of integers and looks random."""
    state = 2166136261
    for number in numbers:
        state = (state ^ (number & 0xFFFFFFFF)) * 16777619 & 0xFFFFFFFF
        state ^= state >> 15
    return (state * 2654435761 & 0xFFFFFFFF) / 2**32


class Shapes(Dataset):
    """Grey images of SIZE x SIZE with one shape each, and its number."""

    def __init__(self, count, first=0):
        self.count, self.first = count, first
        self.rows, self.columns = torch.meshgrid(
            torch.arange(SIZE, dtype=torch.float32), torch.arange(SIZE, dtype=torch.float32),
            indexing="ij")

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        key = self.first + index
        label = key % len(SHAPES)
        radius = 4 + 4 * scattered(key, 1)
        low, high = radius + 1, SIZE - radius - 2
        y = self.rows - (low + (high - low) * scattered(key, 2))
        x = self.columns - (low + (high - low) * scattered(key, 3))
        distance, box = (y * y + x * x).sqrt(), torch.maximum(y.abs(), x.abs())
        inside = box <= radius
        drawn = (
            distance <= radius,
            inside,
            (distance <= radius) & (distance >= radius * 0.6),
            inside & (torch.minimum(y.abs(), x.abs()) <= radius * 0.25),
            inside & (torch.floor(y / 2) % 2 == 0),
            inside & ((y <= -radius * 0.4) | (x <= -radius * 0.4)),
        )[label]
        grain = torch.sin(self.rows * (12.9 + key % 7) + self.columns * 78.2 + key * 3.7) * 0.3
        return (drawn.float() * (0.5 + 0.5 * scattered(key, 4)) + grain).unsqueeze(0), label


class Order(torch.utils.data.Sampler):
    """Every index once, in another order in each epoch."""

    def __init__(self, count):
        self.count, self.epoch = count, 0

    def __len__(self):
        return self.count

    def __iter__(self):
        return iter(sorted(range(self.count), key=lambda i: scattered(i, self.epoch, 9)))


class Classifier(nn.Module):
    """Patches by a convolution, transformer layers, and the mean of what they say."""

    def __init__(self, width=96, layers=3, heads=4, patch=4):
        super().__init__()
        self.patches = nn.Conv2d(1, width, patch, stride=patch)
        self.places = nn.Parameter(torch.zeros(1, (SIZE // patch) ** 2, width))
        layer = nn.TransformerEncoderLayer(
            width, heads, 2 * width, dropout=0.0, activation="gelu", batch_first=True,
            norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, len(SHAPES))

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2) + self.places
        return self.head(self.norm(self.layers(x)).mean(1))


@torch.no_grad()
def set_weights(model):
    """Weights of the usual size that no random generator is needed for."""
    for number, (name, weight) in enumerate(model.named_parameters()):
        if weight.dim() > 1:
            fan_in = weight[0].numel()
            steps = torch.arange(weight.numel(), dtype=torch.float64)
            wave = torch.sin(steps * 12.9898 + steps * steps * 0.00731 + number * 4.1414)
            weight.copy_((wave / fan_in**0.5).to(torch.float32).view_as(weight))
        elif name.endswith("bias"):
            weight.zero_()


def evaluate(model, loader):
    """The share of images whose shape is recognised."""
    model.eval()
    right = total = 0
    with torch.inference_mode():
        for images, labels in loader:
            right += (model(images).argmax(1) == labels).sum().item()
            total += len(labels)
    return right / total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--samples", type=int, default=3072)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--full-precision", action="store_true", help="no mixed precision")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("checkpoints"))
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    options = parser.parse_args()

    order = Order(options.samples)
    loader = DataLoader(Shapes(options.samples), options.batch, sampler=order, drop_last=True,
                        num_workers=options.workers, persistent_workers=options.workers > 0)
    held_out = DataLoader(Shapes(512, first=10**6), 128, num_workers=options.workers)

    model = Classifier()
    set_weights(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    steps = len(loader) * options.epochs
    scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, [
        torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=20),
        torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(1, steps - 20)),
    ], milestones=[20])
    mixed = not options.full_precision
    scaler = torch.amp.GradScaler("cpu", enabled=mixed)
    first = 0
    last = options.out / "last.pt"
    if options.resume:
        saved = torch.load(last, map_location="cpu")
        for name, part in (("model", model), ("optimizer", optimizer), ("scheduler", scheduler),
                           ("scaler", scaler)):
            part.load_state_dict(saved[name])
        first = saved["epoch"]
        print(f"going on after epoch {first}")

    options.out.mkdir(parents=True, exist_ok=True)
    for epoch in range(first, options.epochs):
        order.epoch = epoch
        model.train()
        start, total = time.perf_counter(), torch.zeros(())
        for images, labels in loader:
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=mixed):
                loss = F.cross_entropy(model(images), labels, label_smoothing=0.05)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            scheduler.step()
            total += loss.detach().float()
        seconds = time.perf_counter() - start
        print(f"epoch {epoch + 1}: loss {total.item() / len(loader):.4f}, "
              f"held out {evaluate(model, held_out):.1%}, {seconds:.1f} s", flush=True)
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                    "scheduler": scheduler.state_dict(), "scaler": scaler.state_dict(),
                    "epoch": epoch + 1}, last)


if __name__ == "__main__":
    main()
