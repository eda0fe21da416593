"""One real use of each library that is no collection of models.

A use is given `compile`, which returns its argument, or what `torch.compile` makes of it, and
returns the tensors, numbers and lists that are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .case import Draw

Compile = Callable[[Any], Any]
Results = dict[str, Any]


@dataclass(frozen=True)
class Use:
    """A use: its name, what it does, the package, and the function that does it."""

    name: str
    title: str
    package: str
    run: Callable[[Draw, Compile], Results]

    @property
    def kind(self) -> str:
        """The package, under which the row is written."""
        return self.package


def classifier(draw: Draw, inputs: int = 8, classes: int = 3) -> Any:
    """A network of two layers with drawn weights."""
    from torch import nn

    from .weights import fill

    model = nn.Sequential(nn.Linear(inputs, 16), nn.Tanh(), nn.Linear(16, classes))
    fill(model, draw)
    return model


def labelled(draw: Draw, rows: int = 60, columns: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Rows of three classes that a linear rule decides."""
    values = draw.normal("rows", rows, columns)
    return values, (values @ draw.normal("rule", columns, 3)).argmax(axis=1)


def attributions(draw: Draw, compile: Compile) -> Results:
    """What each pixel has to do with a class, by five methods."""
    import torch
    from captum.attr import (
        DeepLift,
        GuidedBackprop,
        IntegratedGradients,
        LayerGradCam,
        Occlusion,
        Saliency,
    )
    from torch import nn

    from .weights import fill

    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, padding=1),
        nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5),
    ).eval()  # fmt: skip
    fill(model, draw)
    images = torch.from_numpy(draw.normal("images", 2, 3, 12, 12))
    call = compile(model)
    integrated, error = IntegratedGradients(call).attribute(
        images, target=1, n_steps=16, return_convergence_delta=True)
    return {
        "integrated gradients": integrated, "convergence": error,
        "saliency": Saliency(call).attribute(images, target=2),
        "occlusion": Occlusion(call).attribute(images, target=3, sliding_window_shapes=(3, 4, 4),
                                               strides=(3, 4, 4)),
        "guided backprop": GuidedBackprop(model).attribute(images, target=1),
        "deep lift": DeepLift(model).attribute(images, target=1),
        "grad cam": LayerGradCam(call, model[3]).attribute(images, target=1),
    }


def skorch_fit(draw: Draw, compile: Compile) -> Results:
    """A scikit-learn classifier, fitted in a pipeline and cross-validated by it."""
    import torch
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from skorch import NeuralNetClassifier

    rows, classes = labelled(draw)

    def net() -> Any:
        return NeuralNetClassifier(
            compile(classifier(draw)), criterion=torch.nn.CrossEntropyLoss, max_epochs=5, lr=0.5,
            batch_size=20, iterator_train__shuffle=False, train_split=None, verbose=0,
        )

    fitted = make_pipeline(StandardScaler(), net()).fit(rows, classes)
    last = fitted[-1]
    return {
        "losses": torch.tensor(last.history[:, "train_loss"]),
        "probabilities": torch.from_numpy(fitted.predict_proba(rows)),
        "scores": torch.from_numpy(cross_val_score(net(), rows, classes, cv=3)),
    }


def metrics(draw: Draw, compile: Compile) -> Results:
    """Metrics that are updated by batches, and functions of whole tensors."""
    import torch
    from torchmetrics import MetricCollection, functional
    from torchmetrics.classification import (
        MulticlassAccuracy,
        MulticlassAUROC,
        MulticlassConfusionMatrix,
        MulticlassF1Score,
    )
    from torchmetrics.image import StructuralSimilarityIndexMeasure
    from torchmetrics.regression import PearsonCorrCoef, R2Score
    from torchmetrics.retrieval import RetrievalNormalizedDCG

    scores = torch.from_numpy(draw.normal("scores", 3, 20, 4)).softmax(-1)
    truth = torch.from_numpy(draw.integers("truth", 4, 3, 20))
    collection = MetricCollection({
        "accuracy": MulticlassAccuracy(4), "f1": MulticlassF1Score(4),
        "auroc": MulticlassAUROC(4), "confusion": MulticlassConfusionMatrix(4),
    })
    for batch, labels in zip(scores, truth, strict=True):
        collection.update(batch, labels)
    found = dict(collection.compute())
    first, second = torch.from_numpy(draw.normal("pairs", 2, 50))
    images = torch.from_numpy(draw.normal("images", 2, 1, 3, 16, 16)).sigmoid()
    found["pearson"] = PearsonCorrCoef()(first, second)
    found["r2"] = R2Score()(first, second)
    found["similarity"] = StructuralSimilarityIndexMeasure(data_range=1.0)(images[0], images[1])
    found["gain"] = RetrievalNormalizedDCG()(
        scores[0, :, 0], truth[0] > 1, indexes=torch.arange(20) // 5)
    cosine = compile(functional.pairwise_cosine_similarity)
    found["cosine"] = cosine(scores[0], scores[1])
    error = compile(functional.mean_squared_error)
    guess = first.clone().requires_grad_()
    error(guess, second).backward()
    found["gradient of the squared error"] = guess.grad
    return found


def rearranged(draw: Draw, compile: Compile) -> Results:
    """Patches of images by einops' functions and layers, and their gradients."""
    import torch
    from einops import einsum, pack, rearrange, reduce, repeat, unpack
    from einops.layers.torch import EinMix, Rearrange, Reduce
    from torch import nn

    from .weights import fill

    class Patches(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cut = Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=4, q=4)
            self.mix = EinMix("b t c -> b t d", weight_shape="c d", bias_shape="d", c=48, d=16)
            self.mean = Reduce("b t d -> b d", "mean")

        def forward(self, images: Any) -> Any:
            tokens = self.mix(self.cut(images))
            heads = rearrange(tokens, "b t (h d) -> b h t d", h=4)
            weights = einsum(heads, heads, "b h i d, b h j d -> b h i j").softmax(-1)
            mixed = rearrange(weights @ heads, "b h t d -> b t (h d)")
            both, shapes = pack([self.mean(mixed), self.mean(tokens)], "b *")
            parts = unpack(both, shapes, "b *")
            return reduce(mixed, "b (t two) d -> b t d", "max", two=2), repeat(
                parts[0] - parts[1], "b d -> b d copies", copies=2)

    model = Patches()
    fill(model, draw)
    images = torch.from_numpy(draw.normal("images", 2, 3, 8, 8)).requires_grad_()
    tokens, means = compile(model)(images)
    (tokens.square().mean() + means.sin().mean()).backward()
    return {"tokens": tokens, "means": means, "gradient": images.grad,
            **{f"gradient of {name}": value.grad for name, value in model.named_parameters()}}


def written_on(draw: Draw, compile: Compile) -> Results:
    """A decoder of x-transformers: loss, gradients, and tokens that it goes on with."""
    import torch
    from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

    from .weights import fill

    model = TransformerWrapper(
        num_tokens=64, max_seq_len=32,
        attn_layers=Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, rotary_pos_emb=True,
                            ff_glu=True, use_rmsnorm=True),
    ).eval()
    fill(model, draw)
    tokens = torch.from_numpy(draw.integers("tokens", 64, 2, 12))
    wrapped = AutoregressiveWrapper(model)
    loss = compile(wrapped)(tokens)
    loss.backward()
    with torch.no_grad():
        following = wrapped.generate(tokens[:, :5], 8, temperature=0.0)
    return {"loss": loss, "tokens": following,
            **{f"gradient of {name}": value.grad for name, value in model.named_parameters()
               if value.grad is not None}}


def lion_steps(draw: Draw, compile: Compile) -> Results:
    """Steps of the Lion optimiser."""
    import torch
    from lion_pytorch import Lion

    rows, classes = map(torch.from_numpy, labelled(draw))
    model = classifier(draw)
    call = compile(model)
    optimiser = Lion(model.parameters(), lr=1e-2, weight_decay=1e-2)
    losses = []
    for _ in range(8):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(call(rows), classes)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return {"losses": torch.tensor(losses), **dict(model.named_parameters())}


def integrated(draw: Draw, compile: Compile) -> Results:
    """A neural differential equation: its path, and gradients through it and by the adjoint."""
    import torch
    from torch import nn
    from torchdiffeq import odeint, odeint_adjoint

    from .weights import fill

    class Field(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))

        def forward(self, time: Any, state: Any) -> Any:
            return self.layers(state) * torch.cos(time)

    times = torch.linspace(0.0, 1.0, 5)
    found: Results = {}
    for name, solve, method in (("dopri5", odeint, "dopri5"), ("rk4", odeint, "rk4"),
                                ("adjoint", odeint_adjoint, "dopri5")):
        model = Field()
        fill(model, draw)
        start = torch.from_numpy(draw.normal("start", 3, 2)).requires_grad_()
        path = solve(compile(model), start, times, method=method, rtol=1e-5, atol=1e-6)
        path.square().sum().backward()
        found |= {f"path of {name}": path, f"gradient of the start by {name}": start.grad}
        found |= {f"gradient of {key} by {name}": value.grad
                  for key, value in model.named_parameters()}
    return found


def lightning_fit(draw: Draw, compile: Compile) -> Results:
    """Two epochs of Lightning's trainer with a schedule, validation, and clipped gradients."""
    import warnings

    import pytorch_lightning as lightning
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    class Task(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.model = classifier(draw)
            self.call = compile(self.model)
            self.losses: list[float] = []

        def training_step(self, batch: Any, index: int) -> Any:
            rows, classes = batch
            loss = torch.nn.functional.cross_entropy(self.call(rows), classes)
            self.losses.append(loss.item())
            self.log("loss", loss)
            return loss

        def validation_step(self, batch: Any, index: int) -> None:
            rows, classes = batch
            found = self.call(rows).argmax(-1)
            self.log("accuracy", (found == classes).float().mean())

        def configure_optimizers(self) -> Any:
            optimiser = torch.optim.AdamW(self.parameters(), lr=1e-2)
            return [optimiser], [torch.optim.lr_scheduler.StepLR(optimiser, 1, gamma=0.5)]

    rows, classes = map(torch.from_numpy, labelled(draw))
    data = DataLoader(TensorDataset(rows, classes), batch_size=15)
    task = Task()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = lightning.Trainer(
            max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False, gradient_clip_val=0.5,
            num_sanity_val_steps=0, log_every_n_steps=1,
        )
        trainer.fit(task, data, data)
    return {"losses": torch.tensor(task.losses),
            "accuracy": trainer.callback_metrics["accuracy"],
            "rate": torch.tensor(trainer.optimizers[0].param_groups[0]["lr"]),
            **dict(task.model.named_parameters())}


USES: dict[str, Use] = {
    use.name: use
    for use in (
        Use("captum_attributions", "attributions by six methods", "captum", attributions),
        Use("einops_patches", "functions and layers, with gradients", "einops", rearranged),
        Use("lightning_fit", "a fit of two epochs", "pytorch-lightning", lightning_fit),
        Use("lion_steps", "eight steps of the optimiser", "lion-pytorch", lion_steps),
        Use("skorch_fit", "a fit in a pipeline, and cross-validation", "skorch", skorch_fit),
        Use("torchdiffeq_paths", "odeint and odeint_adjoint, with gradients", "torchdiffeq",
            integrated),
        Use("torchmetrics_scores", "metrics over batches, and functions", "torchmetrics",
            metrics),
        Use("x_transformers_decoder", "a decoder's loss, gradients and tokens", "x-transformers",
            written_on),
    )
}
