"""Handwritten digits, eagerly and compiled: training, inference, and a page that shows how it ran.

    python examples/digits.py [--epochs 20] [--out out/digits] [--backend auto]

Scikit-learn ships 1,797 real images of handwritten digits (8 x 8 pixels, 16 grey levels). Two
models with dropout learn them, an MLP and a small CNN, each twice from the same seed: eagerly and
compiled. The losses of both runs are compared step by step, then the predictions on the test
images, then the times. Graph, loops and kernels are written out beside an HTML page.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.datasets import load_digits

import graphwright as gw
import graphwright.nn.functional as F
from graphwright import nn
from graphwright.cli.doctor import lines as environment
from graphwright.report.charts import bars, lines
from graphwright.report.measure import Timing, format_seconds, in_turns
from graphwright.report.page import Page

BATCH = 64
COMPARED_STEPS = 100
LOSS_TOLERANCE = 1e-4
SEED = 1
SAMPLES = 20


class MLP(nn.Module):
    """64 pixels -> 256 -> 128 -> 10 classes, with dropout.

    Both models are smooth (GELU, average pooling): where rounding moves a value across ReLU's
    kink, or swaps two nearly equal candidates of a maximum, trainings drift apart for good.
    """

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(64, 256)
        self.second = nn.Linear(256, 128)
        self.out = nn.Linear(128, 10)
        self.dropout = nn.Dropout(0.2)

    def forward(self, images: gw.Tensor) -> gw.Tensor:
        x = images.flatten(1)
        x = self.dropout(F.gelu(self.hidden(x)))
        x = self.dropout(F.gelu(self.second(x)))
        return self.out(x)


class CNN(nn.Module):
    """Two convolutions and average pooling, then a linear classifier, with dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.GELU(),
            nn.Conv2d(16, 32, 3, padding=1), nn.GELU(), nn.AvgPool2d(2),
        )
        self.dropout = nn.Dropout(0.25)
        self.out = nn.Linear(32 * 4 * 4, 10)

    def forward(self, images: gw.Tensor) -> gw.Tensor:
        return self.out(self.dropout(self.features(images).flatten(1)))


def loss_of(model: nn.Module, images: gw.Tensor, labels: gw.Tensor) -> gw.Tensor:
    """The mean cross entropy of the model's answers: what is compiled for training."""
    return F.cross_entropy(model(images), labels)


@dataclass
class Data:
    """Images (N, 1, 8, 8) float32 in [0, 1] and labels (N,) int64."""

    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray

    def batches(self, epoch: int) -> Iterator[tuple[gw.Tensor, gw.Tensor]]:
        """Full batches of the training images in an order of the epoch's own."""
        order = np.random.default_rng((SEED, epoch)).permutation(len(self.train_labels))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            chosen = order[start:start + BATCH]
            yield (gw.from_numpy(self.train_images[chosen]),
                   gw.from_numpy(self.train_labels[chosen]))


def load() -> Data:
    """The digits, shuffled by a fixed seed: 1,437 images to learn from, 360 to test with."""
    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32)[:, None]
    labels = digits.target.astype(np.int64)
    order = np.random.default_rng(SEED).permutation(len(labels))
    images, labels = images[order], labels[order]
    split = 1437
    return Data(images[:split], labels[:split], images[split:], labels[split:])


@dataclass
class Run:
    """One training run: the model, the function that was trained through, and what it showed."""

    name: str
    model: nn.Module
    loss: Callable[[nn.Module, gw.Tensor, gw.Tensor], gw.Tensor]
    infer: Callable[[gw.Tensor], gw.Tensor]
    losses: list[float] = field(default_factory=list)
    epochs: int = 0
    first_call: float = 0.0
    accuracy: float = 0.0
    predictions: np.ndarray | None = None
    timings: dict[str, Timing] = field(default_factory=dict)


def train(run: Run, data: Data, epochs: int, progress: Progress) -> None:
    """Train with Adam; every step's loss is kept."""
    gw.manual_seed(SEED)
    optimizer = gw.optim.Adam(run.model.parameters(), lr=2e-3)
    run.model.train()
    steps = epochs * (len(data.train_labels) // BATCH)
    task = progress.add_task(run.name, total=steps, loss="")
    for epoch in range(epochs):
        run.epochs += 1
        for images, labels in data.batches(epoch):
            start = time.perf_counter()
            optimizer.zero_grad()
            loss = run.loss(run.model, images, labels)
            loss.backward()
            optimizer.step()
            run.losses.append(loss.item())
            run.first_call = run.first_call or time.perf_counter() - start
            progress.update(task, advance=1, loss=f"loss {run.losses[-1]:.4f}")


def evaluate(run: Run, data: Data) -> None:
    """Predictions and accuracy on the test images."""
    run.model.eval()
    with gw.no_grad():
        scores = run.infer(gw.from_numpy(data.test_images))
    run.predictions = scores.numpy().argmax(axis=1)
    run.accuracy = float((run.predictions == data.test_labels).mean())


def build(kind: type[nn.Module], backend: str) -> tuple[Run, Run]:
    """The same freshly initialised model twice: to run eagerly, and to run compiled."""
    gw.manual_seed(SEED)
    eager, compiled = kind(), kind()
    compiled.load_state_dict(eager.state_dict())
    return (
        Run(f"{kind.__name__} eager", eager, loss_of, eager),
        Run(f"{kind.__name__} compiled", compiled, gw.compile(loss_of, backend=backend),
            gw.compile(compiled, backend=backend)),
    )


def step_of(run: Run, images: gw.Tensor, labels: gw.Tensor) -> Callable[[], None]:
    """A training step as a call without arguments."""
    optimizer = gw.optim.Adam(run.model.parameters(), lr=1e-5)

    def step() -> None:
        optimizer.zero_grad()
        run.loss(run.model, images, labels).backward()
        optimizer.step()

    return step


def infer_of(run: Run, images: gw.Tensor) -> Callable[[], gw.Tensor]:
    """Inference without gradients as a call without arguments."""

    def infer() -> gw.Tensor:
        with gw.no_grad():
            return run.infer(images)

    return infer


def measure(pair: tuple[Run, Run], data: Data) -> None:
    """Time a training step and inference at batch 1 and 256, both runs taking turns."""
    images, labels = next(data.batches(0))
    for run in pair:
        run.model.train()
    record(pair, "training step", {r.name: step_of(r, images, labels) for r in pair})
    for run in pair:
        run.model.eval()
    for size in (1, 256):
        batch = gw.from_numpy(data.test_images[:size].copy())
        record(pair, f"batch {size}", {r.name: infer_of(r, batch) for r in pair})


def record(pair: tuple[Run, Run], what: str, cases: dict[str, Callable[[], object]]) -> None:
    """Keep the timings of cases measured in turns with their runs."""
    timings = in_turns(cases, seconds=0.5)
    for run in pair:
        run.timings[what] = timings[run.name]


def check(pair: tuple[Run, Run]) -> float:
    """The largest relative difference of the first losses; raises where the runs disagree."""
    eager, compiled = pair
    first = slice(0, COMPARED_STEPS)
    a, b = np.array(eager.losses[first]), np.array(compiled.losses[first])
    worst = float(np.max(np.abs(a - b) / np.abs(a)))
    if worst > LOSS_TOLERANCE:
        raise SystemExit(f"{compiled.name}: losses differ from eager by {worst:.1e} relative")
    return worst


def row(run: Run) -> list[str]:
    """The run's line in the table."""
    stats = gw.compiler.stats(run.loss) if run.loss is not loss_of else None
    counts = [str(n) for n in (stats.graphs, stats.breaks, stats.kernels)] if stats else ["-"] * 3
    return [
        run.name, f"{run.accuracy:.1%}",
        *(format_seconds(timing.median) for timing in run.timings.values()),
        *counts, format_seconds(run.first_call),
    ]


def epoch_means(run: Run) -> list[float]:
    """The mean of the losses in each epoch."""
    return [sum(part) / len(part) for part in np.array_split(run.losses, run.epochs)]


HEADERS = ["run", "accuracy", "train step", "batch 1", "batch 256",
           "graphs", "breaks", "kernels", "first step"]


def write_page(
    runs: list[Run], worst: dict[str, float], dumps: dict[str, str], data: Data, out: Path
) -> Path:
    """The HTML page: tables, charts with the tables behind them, images, and the dumps."""
    page = Page("graphwright on handwritten digits")
    page.paragraph(
        "1,797 real images of handwritten digits; each model is trained twice from the same seed, "
        "eagerly and compiled, dropout included. Largest relative difference of the losses over "
        f"the first {COMPARED_STEPS} steps: "
        + ", ".join(f"{name} {value:.1e}" for name, value in worst.items()) + "."
    )
    page.table(HEADERS, [row(run) for run in runs])
    page.heading("Time")
    groups = [f"{run.name.split()[0]} {what}" for run in runs[::2] for what in run.timings]
    page.chart(bars(groups, {
        label: [timing.ratio for run in runs[offset::2] for timing in run.timings.values()]
        for offset, label in enumerate(("eager", "compiled"))
    }, title="Time per call divided by eager's, lower is better; quartiles", unit="x eager"))
    page.heading("Test images, and what the compiled CNN sees in them")
    answers = runs[-1].predictions
    assert answers is not None
    page.images(
        (image[0].tolist(), f"{answer}" if answer == label else f"{answer}, not {label}")
        for image, label, answer in zip(
            data.test_images[:SAMPLES], data.test_labels, answers, strict=False))
    page.heading("Loss")
    page.chart(lines({run.name: epoch_means(run) for run in runs}, title="Mean loss of each epoch",
                     x="epoch", y="cross entropy", log=True))
    page.heading("How the training functions were compiled")
    page.links({f"{name}: source, graphs, passes, kernels, memory plan and times, linked with "
                "each other": f"{name.lower()}.html" for name in worst})
    for name, text in dumps.items():
        page.dump(name, text)
    page.heading("Environment")
    page.table(["what", "found"], environment(), texts=True)
    return page.write(out / "report.html")


def write_viewer(run: Run, data: Data, out: Path) -> None:
    """Write the page about how the run's loss is compiled, once more and apart from it."""
    images, labels = next(data.batches(0))
    explanation = gw.explain(run.loss)(run.model.train(), images, labels)
    explanation.save(out / f"{run.name.split()[0].lower()}.html")


def write_dumps(runs: list[Run], out: Path) -> dict[str, str]:
    """Write graph, loops and kernels of each compiled loss; file name to text."""
    texts: dict[str, str] = {}
    for run in runs[1::2]:
        for stage, text in gw.compiler.dump(run.loss).items():
            name = f"{run.name.split()[0].lower()}.{stage}.txt"
            texts[name] = text
            out.mkdir(parents=True, exist_ok=True)
            (out / name).write_text(text, encoding="utf-8")
    return texts


def show(console: Console, runs: list[Run]) -> None:
    """Print the table."""
    table = Table(title="Handwritten digits: 1,437 training and 360 test images")
    for header in HEADERS:
        table.add_column(header, justify="left" if header == "run" else "right")
    for run in runs:
        table.add_row(*row(run))
    console.print(table)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--out", type=Path, default=Path("out/digits"))
    parser.add_argument("--backend", default="auto", choices=["auto", "llvm", "c", "eager"])
    arguments = parser.parse_args()
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    data = load()
    runs: list[Run] = []
    worst: dict[str, float] = {}
    columns = (TextColumn("{task.description:>12}"), BarColumn(),
               TextColumn("{task.completed}/{task.total} steps"),
               TextColumn("{task.fields[loss]}"), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        for kind in (MLP, CNN):
            pair = build(kind, arguments.backend)
            for run in pair:
                train(run, data, arguments.epochs, progress)
                evaluate(run, data)
            worst[kind.__name__] = check(pair)
            if not np.array_equal(pair[0].predictions, pair[1].predictions):
                raise SystemExit(f"{kind.__name__}: eager and compiled predictions differ")
            runs.extend(pair)
    for pair in zip(runs[::2], runs[1::2], strict=True):
        measure(pair, data)
    show(console, runs)
    for name, value in worst.items():
        console.print(f"{name}: losses of the first {COMPARED_STEPS} steps agree within "
                      f"{value:.1e} relative; predictions on the test images are the same")
    if runs[2].accuracy < 0.97:
        raise SystemExit(f"the CNN's test accuracy is {runs[2].accuracy:.1%}, below 97 %")
    dumps = write_dumps(runs, arguments.out)
    for run in runs[1::2]:
        write_viewer(run, data, arguments.out)
    page = write_page(runs, worst, dumps, data, arguments.out)
    console.print(f"Graph, loops and kernels: {arguments.out}/*.txt\nPage: {page}")


if __name__ == "__main__":
    main()
