"""A sample of every module of `nn` with a forward pass of tensors: how it is built and called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import graphwright as gw

from ..runtime.samples.sample import Arr

nn = gw.nn


@dataclass(frozen=True)
class ModuleSample:
    """`build()` makes the module; `inputs` are its arguments, Arr standing for tensors."""

    id: str
    build: Callable[[], Any]
    inputs: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)

    def arguments(self, leaf: Callable[[Arr, Any], Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with `leaf(arr, values)` in place of each Arr."""
        def made(value: Any, place: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(made(item, f"{place}.{i}") for i, item in enumerate(value))
            if not isinstance(value, Arr):
                return value
            return leaf(value, value.values(f"{self.id}{place}"))

        return (tuple(made(value, i) for i, value in enumerate(self.inputs)),
                {name: made(value, name) for name, value in self.kwargs.items()})


def floats(*shape: int) -> Arr:
    return Arr(shape)


def shares(*shape: int) -> Arr:
    """Numbers between 0 and 1."""
    return Arr(shape, 0.02, 0.98)


def indices(high: int, *shape: int) -> Arr:
    return Arr(shape, 0, high, "index")


def signs(*shape: int) -> Arr:
    """Numbers that only their sign is read of."""
    return Arr(shape, grad=False)


def _sample(name: str, *inputs: Any, of: tuple[Any, ...] = (), form: str = "", **kwargs: Any
            ) -> ModuleSample:
    kind = getattr(nn, name)
    return ModuleSample(f"{name} {form}".strip(), lambda: kind(*of, **kwargs), inputs)


def _activations() -> list[ModuleSample]:
    plain = """
        CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh Identity LeakyReLU LogSigmoid
        Mish PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid Softplus Softshrink Softsign Tanh Tanhshrink
        Dropout AlphaDropout
    """
    return [
        *(_sample(name, floats(3, 4)) for name in plain.split()),
        *(_sample(name, floats(3, 4), of=(-1,)) for name in ("LogSoftmax", "Softmax", "Softmin")),
        _sample("Softmax2d", floats(2, 3, 2, 2)),
        _sample("Threshold", floats(3, 4), of=(0.1, 0.5)),
        _sample("GELU", floats(3, 4), form="tanh", approximate="tanh"),
        _sample("Dropout1d", floats(2, 3, 4)),
        _sample("Dropout2d", floats(2, 3, 2, 2)),
        _sample("Dropout3d", floats(2, 3, 2, 2, 2)),
        _sample("FeatureAlphaDropout", floats(2, 3, 2, 2)),
    ]


_SPACES = ((6,), (5, 6), (4, 3, 4))
"""Sizes of planes of 1, 2 and 3 dims."""


def _of_planes(ndim: int) -> list[ModuleSample]:
    d, space = f"{ndim}d", _SPACES[ndim - 1]
    x = floats(2, 4, *space)
    twice = tuple(2 * n for n in space)
    low = tuple(n // 2 for n in space)
    return [
        _sample(f"AdaptiveAvgPool{d}", x, of=(2,)),
        _sample(f"AdaptiveMaxPool{d}", x, of=(2,)),
        _sample(f"AvgPool{d}", x, of=(2, 1, 1)),
        _sample(f"MaxPool{d}", x, of=(2, 1, 1)),
        _sample(f"MaxPool{d}", x, of=(2,), form="with indices", return_indices=True),
        _sample(f"LPPool{d}", floats(2, 4, *space), of=(2, 2)),
        _sample(f"MaxUnpool{d}", floats(2, 4, *low),
                Arr((2, 4, *low), 0, 1, "index"), of=(2,)),
        _sample(f"BatchNorm{d}", x, of=(4,)),
        _sample(f"InstanceNorm{d}", x, of=(4,), affine=True, track_running_stats=True),
        _sample(f"Conv{d}", x, of=(4, 6, 3), padding=1, stride=2),
        _sample(f"Conv{d}", x, of=(4, 4, 2), form="groups", groups=2, padding="same",
                padding_mode="circular"),
        _sample(f"ConvTranspose{d}", x, of=(4, 3, 2), stride=2, output_padding=1),
        *(_sample(f"{kind}Pad{d}", x, of=(1, *value)) for kind, value in (
            ("Circular", ()), ("Constant", (0.5,)), ("Reflection", ()), ("Replication", ()),
            ("Zero", ()))),
        _sample("Upsample", x, form=f"nearest {d}", size=twice),
        _sample("Upsample", x, form=f"linear {d}", scale_factor=1.5, align_corners=True,
                mode=("linear", "bilinear", "trilinear")[ndim - 1]),
    ]


def _layers() -> list[ModuleSample]:
    image = floats(2, 4, 4, 6)
    return [
        *(sample for ndim in (1, 2, 3) for sample in _of_planes(ndim)),
        *(_sample(f"FractionalMaxPool{n}d", floats(2, 3, *(6,) * n), of=(2,), output_size=3)
          for n in (2, 3)),
        _sample("Upsample", image, form="cubic", size=(5, 7), mode="bicubic"),
        _sample("UpsamplingBilinear2d", image, scale_factor=2),
        _sample("UpsamplingNearest2d", image, scale_factor=2),
        _sample("Bilinear", floats(5, 3), floats(5, 4), of=(3, 4, 2)),
        _sample("ChannelShuffle", image, of=(2,)),
        _sample("CosineSimilarity", floats(3, 4), floats(3, 4)),
        _sample("PairwiseDistance", floats(3, 4), floats(3, 4)),
        _sample("Embedding", indices(7, 2, 5), of=(7, 3), padding_idx=1),
        _sample("Embedding", indices(7, 2, 5), of=(7, 3), form="normed", max_norm=1.0,
                scale_grad_by_freq=True),
        *(_sample("EmbeddingBag", indices(7, 9), Arr((3,), 0, 1, "index"), of=(7, 3), form=mode,
                  mode=mode) for mode in ("sum", "mean", "max")),
        _sample("Flatten", image),
        _sample("Unflatten", floats(2, 6), of=(1, (2, 3))),
        _sample("Fold", floats(2, 12, 12), of=((4, 5), (2, 2))),
        _sample("Unfold", image, of=((2, 3),), padding=1),
        _sample("GroupNorm", image, of=(2, 4)),
        _sample("LayerNorm", floats(3, 5), of=(5,)),
        _sample("RMSNorm", floats(3, 5), of=(5,)),
        _sample("LocalResponseNorm", image, of=(2,)),
        _sample("CrossMapLRN2d", image, of=(3,)),
        _sample("BatchNorm2d", image, of=(4,), form="momentum of None", momentum=None),
        _sample("Linear", floats(2, 3), of=(3, 5)),
        _sample("PixelShuffle", image, of=(2,)),
        _sample("PixelUnshuffle", image, of=(2,)),
        ModuleSample("Sequential", lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True)),
                     (floats(2, 3),)),
    ]


def _recurrent() -> list[ModuleSample]:
    steps = floats(4, 3, 5)
    found = []
    for name in ("RNN", "LSTM", "GRU"):
        found += [
            _sample(name, steps, of=(5, 4)),
            _sample(name, steps, of=(5, 4), form="deep", num_layers=2, bidirectional=True,
                    batch_first=True, dropout=0.5),
            _sample(f"{name}Cell", floats(3, 5), of=(5, 4)),
        ]
    return [
        *found,
        _sample("LSTM", steps, of=(5, 4), form="projected", proj_size=2),
        _sample("RNN", steps, of=(5, 4), form="relu", nonlinearity="relu"),
        *(ModuleSample(f"{name} packed", lambda name=name: _Packed(getattr(nn, name)(5, 4)),
                       (steps,)) for name in ("LSTM", "GRU")),
    ]


class _Packed(nn.Module):
    """A recurrent module of sequences of lengths 2, 4 and 1, as one packed sequence."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self.module = module

    def forward(self, steps: Any) -> Any:
        packed = nn.utils.rnn.pack_padded_sequence(
            steps, gw.tensor([2, 4, 1]), enforce_sorted=False)
        output, state = self.module(packed)
        padded, _ = nn.utils.rnn.pad_packed_sequence(output)
        return padded, state


def _attention() -> list[ModuleSample]:
    x, memory = floats(2, 3, 8), floats(2, 4, 8)
    encoder = dict(dim_feedforward=6, batch_first=True)
    return [
        _sample("MultiheadAttention", x, x, x, of=(8, 2), batch_first=True),
        _sample("MultiheadAttention", x, memory, memory, of=(8, 2), form="of keys and values",
                add_bias_kv=True, add_zero_attn=True, batch_first=True, dropout=0.2),
        _sample("TransformerEncoderLayer", x, of=(8, 2), **encoder),
        _sample("TransformerEncoderLayer", x, of=(8, 2), form="gelu", norm_first=True,
                activation="gelu", **encoder),
        _sample("TransformerDecoderLayer", x, memory, of=(8, 2), **encoder),
        ModuleSample("TransformerEncoder", lambda: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(8, 2, **encoder), 2), (x,), {"is_causal": False}),
        ModuleSample("TransformerEncoder causal", lambda: _Causal(nn.TransformerEncoder(
            nn.TransformerEncoderLayer(8, 2, **encoder), 1)), (x,)),
        ModuleSample("TransformerDecoder", lambda: nn.TransformerDecoder(
            nn.TransformerDecoderLayer(8, 2, **encoder), 1), (x, memory)),
        _sample("Transformer", x, memory, of=(8, 2, 1, 1), **encoder),
    ]


class _Causal(nn.Module):
    """An encoder under a causal mask."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, x: Any) -> Any:
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], device=x.device)
        return self.encoder(x, mask=mask, is_causal=True)


def _losses() -> list[ModuleSample]:
    x, y, classes = floats(3, 4), floats(3, 4), indices(4, 3)
    ones = Arr((3,), grad=False)
    return [
        *(_sample(name, x, y) for name in ("HuberLoss", "L1Loss", "MSELoss", "SmoothL1Loss")),
        _sample("BCELoss", shares(3, 4), shares(3, 4)),
        _sample("BCEWithLogitsLoss", x, shares(3, 4)),
        _sample("CTCLoss", Arr((6, 2, 4), -3.0, -0.1), Arr((2, 2), 1, 4, "index"), (6, 5),
                (2, 1)),
        _sample("CosineEmbeddingLoss", x, y, ones),
        *(_sample("CrossEntropyLoss", x, classes, form=form, **options) for form, options in (
            ("", {}), ("smoothed", {"label_smoothing": 0.1}),
            ("summed", {"reduction": "sum", "ignore_index": 1}))),
        _sample("CrossEntropyLoss", x, shares(3, 4), form="of probabilities",
                label_smoothing=0.1),
        _sample("CrossEntropyLoss", floats(2, 4, 3), indices(4, 2, 3), form="of planes"),
        _sample("GaussianNLLLoss", x, y, shares(3, 4)),
        _sample("HingeEmbeddingLoss", x, signs(3, 4)),
        _sample("KLDivLoss", x, shares(3, 4), reduction="batchmean"),
        _sample("MarginRankingLoss", floats(3), floats(3), signs(3)),
        _sample("MultiLabelMarginLoss", x, indices(4, 3, 4)),
        _sample("MultiLabelSoftMarginLoss", x, shares(3, 4)),
        _sample("MultiMarginLoss", x, classes),
        _sample("NLLLoss", x, classes),
        _sample("NLLLoss", floats(2, 4, 3), indices(4, 2, 3), form="of planes"),
        _sample("PoissonNLLLoss", x, shares(3, 4)),
        _sample("SoftMarginLoss", x, signs(3, 4)),
        _sample("TripletMarginLoss", x, y, floats(3, 4)),
        _sample("TripletMarginWithDistanceLoss", x, y, floats(3, 4)),
        _sample("LinearCrossEntropyLoss", floats(5, 8), indices(4, 5), of=(8, 4)),
        _sample("AdaptiveLogSoftmaxWithLoss", floats(5, 8), indices(12, 5), of=(8, 12, [3, 7])),
    ]


SAMPLES = [*_activations(), *_layers(), *_recurrent(), *_attention(), *_losses()]
WITHOUT_SAMPLE = frozenset({
    *("Container", "DataParallel", "LazyModuleMixin", "Module", "ModuleDict", "ModuleList"),
    *("NLLLoss2d", "ParameterDict", "ParameterList", "RNNBase", "RNNCellBase", "SyncBatchNorm"),
})
"""Containers and bases, which compute nothing themselves; lazy modules become those they are
named after; the old name of NLLLoss; and what needs several processes."""
