"""A small GPT that learns the language of Python's own manual, character by character.

    python examples/char_gpt.py [--steps 500] [--out out/char_gpt] [--backend auto] [--logdir DIR]

Python ships the reference that `help()` shows, 465,000 characters of prose and code. A
transformer with causal attention learns to continue it: a first stretch eagerly, then the whole
training compiled, from the same seed. The losses of both are compared step by step. The trained
model is saved, loaded into a fresh one, and asked to go on writing. With --logdir, losses, rates,
the distribution of weights, the graph and the text are logged for TensorBoard.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
from rich.console import Console
from rich.panel import Panel
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import graphwright as gw
import graphwright.nn.functional as F
from graphwright import nn
from graphwright.nn.utils import clip_grad_norm_
from graphwright.optim.lr_scheduler import OneCycleLR
from graphwright.report.measure import format_seconds
from graphwright.utils.tensorboard import SummaryWriter

SEED = 1
CONTEXT = 64
BATCH = 32
COMPARED_STEPS = 25
LOSS_TOLERANCE = 1e-3


class Block(nn.Module):
    """Causal self-attention and a two-layer network, each after a norm, each added on."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: gw.Tensor) -> gw.Tensor:
        batch, length, width = x.shape
        parts = self.qkv(self.norm_1(x)).view(batch, length, 3, self.heads, -1)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm_2(x))))


class GPT(nn.Module):
    """Characters (batch, length) int64 -> scores of the next one (batch, length, symbols)."""

    def __init__(self, symbols: int, width: int = 96, heads: int = 4, depth: int = 3) -> None:
        super().__init__()
        self.characters = nn.Embedding(symbols, width)
        self.positions = nn.Parameter(gw.randn(CONTEXT, width) * 0.02)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, symbols, bias=False)
        nn.init.normal_(self.characters.weight, std=0.02)
        self.head.weight = self.characters.weight

    def forward(self, tokens: gw.Tensor) -> gw.Tensor:
        x = self.characters(tokens) + self.positions[: tokens.shape[1]]
        return self.head(self.norm(self.blocks(x)))


def loss_of(model: nn.Module, tokens: gw.Tensor, following: gw.Tensor) -> gw.Tensor:
    """The mean cross entropy of the next characters: what is compiled for training."""
    return F.cross_entropy(model(tokens).flatten(0, 1), following.flatten())


@dataclass
class Text:
    """The manual as numbers, the last tenth held out."""

    symbols: str
    train: np.ndarray
    held_out: np.ndarray

    def batch(self, step: int) -> tuple[gw.Tensor, gw.Tensor]:
        """The excerpts of a step, and the same shifted by one character."""
        return excerpts(self.train, np.random.default_rng((SEED, step)))


def read() -> Text:
    """All topics of Python's manual, in the order of their names."""
    text = "\n\n".join(topics[name] for name in sorted(topics))
    symbols = "".join(sorted(set(text)))
    numbers = {symbol: number for number, symbol in enumerate(symbols)}
    tokens = np.array([numbers[symbol] for symbol in text], np.int64)
    split = len(tokens) * 9 // 10
    return Text(symbols, tokens[:split], tokens[split:])


def excerpts(tokens: np.ndarray, rng: np.random.Generator) -> tuple[gw.Tensor, gw.Tensor]:
    """BATCH random excerpts of CONTEXT characters, and what follows each character."""
    starts = rng.integers(len(tokens) - CONTEXT - 1, size=BATCH)
    rows = starts[:, None] + np.arange(CONTEXT + 1)
    chosen = tokens[rows]
    return gw.from_numpy(chosen[:, :-1].copy()), gw.from_numpy(chosen[:, 1:].copy())


@dataclass
class Run:
    """One training run and what it showed."""

    name: str
    model: GPT
    loss: Callable[[nn.Module, gw.Tensor, gw.Tensor], gw.Tensor]
    losses: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def step_seconds(self) -> float:
        """The median time of a step, the first ones left out."""
        return float(np.median(self.seconds[3:]))


def train(
    run: Run, text: Text, steps: int, total: int, progress: Progress, logdir: Path | None,
) -> None:
    """`steps` steps of AdamW on a schedule of `total`; every loss and time is kept."""
    writer = SummaryWriter(logdir / run.name) if logdir is not None else None
    optimizer = gw.optim.AdamW(run.model.parameters(), lr=4e-3, weight_decay=0.01)
    schedule = OneCycleLR(optimizer, max_lr=4e-3, total_steps=total)
    task = progress.add_task(run.name, total=steps, loss="")
    for step in range(steps):
        tokens, following = text.batch(step)
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = run.loss(run.model, tokens, following)
        loss.backward()
        clip_grad_norm_(run.model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        run.losses.append(loss.item())
        run.seconds.append(time.perf_counter() - start)
        if writer is not None:
            writer.add_scalar("loss", run.losses[-1], step)
            writer.add_scalar("learning rate", schedule.get_last_lr()[0], step)
        progress.update(task, advance=1, loss=f"loss {run.losses[-1]:.3f}")
    if writer is not None:
        for name, parameter in run.model.named_parameters():
            writer.add_histogram(f"weights/{name}", parameter, steps)
        writer.close()


def compare(eager: Run, compiled: Run) -> float:
    """The largest relative difference of the first losses; raises where the runs disagree."""
    count = min(len(eager.losses), len(compiled.losses))
    a, b = np.array(eager.losses[:count]), np.array(compiled.losses[:count])
    worst = float(np.max(np.abs(a - b) / a))
    if worst > LOSS_TOLERANCE:
        raise SystemExit(f"losses differ from eager by {worst:.1e} relative")
    return worst


def held_out_loss(run: Run, text: Text, batches: int = 10) -> float:
    """The mean loss on excerpts that were not trained on."""
    rng = np.random.default_rng(SEED)
    with gw.no_grad():
        found = [loss_of(run.model, *excerpts(text.held_out, rng)).item() for _ in range(batches)]
    return float(np.mean(found))


def beginning(text: Text) -> str:
    """CONTEXT characters of the held-out text, from the beginning of a sentence."""
    held_out = "".join(text.symbols[number] for number in text.held_out)
    start = held_out.index("\nThe ") + 1
    return held_out[start:start + CONTEXT]


def write(model: nn.Module, text: Text, prompt: str, count: int, backend: str) -> str:
    """`count` characters after `prompt`, each drawn from the model's ten likeliest."""
    numbers = [text.symbols.index(symbol) for symbol in prompt]
    forward = gw.compile(model, backend=backend)
    rng = np.random.default_rng(SEED)
    with gw.no_grad():
        for _ in range(count):
            window = np.array([numbers[-CONTEXT:]], np.int64)
            scores = forward(gw.from_numpy(window)).numpy()[0, -1] / 0.8
            likeliest = np.argsort(scores)[-10:]
            weights = np.exp(scores[likeliest] - scores[likeliest].max())
            numbers.append(int(rng.choice(likeliest, p=weights / weights.sum())))
    return "".join(text.symbols[number] for number in numbers[len(prompt):])


def show(console: Console, runs: list[Run], held_out: float) -> None:
    """Print the table."""
    table = Table(title=f"A GPT of {sum(p.numel() for p in runs[0].model.parameters()):,} weights")
    for header in ("run", "steps", "first loss", "last loss", "held out", "first step", "step"):
        table.add_column(header, justify="left" if header == "run" else "right")
    for run in runs:
        trained = run is runs[-1]
        table.add_row(
            run.name, str(len(run.losses)), f"{run.losses[0]:.3f}",
            f"{np.mean(run.losses[-10:]):.3f}", f"{held_out:.3f}" if trained else "-",
            format_seconds(run.seconds[0]), format_seconds(run.step_seconds),
        )
    console.print(table)


def build(text: Text) -> GPT:
    """The same freshly initialised model every time."""
    gw.manual_seed(SEED)
    return GPT(len(text.symbols))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--out", type=Path, default=Path("out/char_gpt"))
    parser.add_argument("--backend", default="auto", choices=["auto", "llvm", "c", "eager"])
    parser.add_argument("--logdir", type=Path, help="a folder of logs for TensorBoard")
    arguments = parser.parse_args()
    console = Console()
    if not console.is_terminal:
        console = Console(width=110)
    text = read()
    eager = Run("eager", build(text), loss_of)
    compiled = Run("compiled", build(text), gw.compile(loss_of, backend=arguments.backend))
    columns = (TextColumn("{task.description:>9}"), BarColumn(),
               TextColumn("{task.completed}/{task.total} steps"),
               TextColumn("{task.fields[loss]}"), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        train(eager, text, min(COMPARED_STEPS, arguments.steps), arguments.steps, progress,
              arguments.logdir)
        train(compiled, text, arguments.steps, arguments.steps, progress, arguments.logdir)
    worst = compare(eager, compiled)
    arguments.out.mkdir(parents=True, exist_ok=True)
    file = arguments.out / "model.safetensors"
    gw.save({"model": compiled.model.state_dict(), "symbols": text.symbols}, file)
    loaded = GPT(len(text.symbols))
    loaded.load_state_dict(gw.load(file)["model"])
    prompt = beginning(text)
    written = write(loaded, text, prompt, 400, arguments.backend)
    console.print(Panel(prompt, title="the text begins"), markup=False)
    console.print(Panel(written, title="the model goes on"), markup=False)
    if arguments.logdir is not None:
        with SummaryWriter(arguments.logdir / compiled.name) as writer:
            writer.add_graph(compiled.model, text.batch(0)[0])
            writer.add_text("written", written, arguments.steps)
    show(console, [eager, compiled], held_out_loss(compiled, text))
    ratio = compiled.step_seconds / eager.step_seconds
    console.print(f"Losses of the first {len(eager.losses)} steps agree within {worst:.1e} "
                  f"relative; a compiled step takes {ratio:.2f} times as long as an eager one. "
                  f"Weights: {file}")
    if np.mean(compiled.losses[-10:]) > 0.7 * compiled.losses[0]:
        raise SystemExit("the loss has not fallen")


if __name__ == "__main__":
    main()
