"""The adaptive softmax: few units for rare classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from graphwright.nn import functional as F
from graphwright.nn.containers import ModuleList, Sequential
from graphwright.nn.layers.linear import Linear
from graphwright.nn.module import Module
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor


class _ASMoutput(NamedTuple):
    """The targets' log probabilities [N], and minus their mean."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log probabilities of `n_classes`, sorted by falling frequency, in clusters.

    Classes below cutoffs[0] and one unit per cluster are in `head`; the i-th cluster, from
    cutoffs[i] on, has a projection to in_features / div_value**(i+1) features in `tail`.
    Grave et al., "Efficient softmax approximation for GPUs", 2017.

    Raises ValueError unless `cutoffs` are increasing integers between 1 and n_classes - 1.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        given = list(cutoffs)
        if not given:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            given != sorted(set(given))
            or given[0] <= 0
            or given[-1] > n_classes - 1
            or any(int(c) != c for c in given)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an "
                "increasing order, where each value is between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*given, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = given[0]
        self.n_clusters = len(given)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:], strict=False)):
            width = int(in_features // div_value ** (i + 1))
            self.tail.append(
                Sequential(
                    Linear(in_features, width, False, device, dtype),
                    Linear(width, high - low, False, device, dtype),
                )
            )

    def reset_parameters(self) -> None:
        """Draw new initial values."""
        self.head.reset_parameters()
        for layer in self.tail.modules():
            if isinstance(layer, Linear):
                layer.reset_parameters()

    def forward(self, input: Tensor, target: Tensor) -> _ASMoutput:
        """(output, loss) of input [N, in_features] and targets [N], or of one row and a number.

        Raises RuntimeError for other shapes and targets that are no class.
        """
        self._check(input, target)
        single = target.ndim == 0
        rows, wanted = (input.unsqueeze(0), target.unsqueeze(0)) if single else (input, target)
        if wanted.numel() and not (int(wanted.min()) >= 0 and int(wanted.max()) < self.n_classes):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{int(wanted.min())}, {int(wanted.max())}] were found. "
            )
        head = F.log_softmax(self.head(rows), dim=1)
        units = wanted
        extra = ops.zeros_like(head[:, 0])
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:], strict=False)):
            inside = ((wanted >= low) & (wanted < high)).nonzero().reshape(-1)
            if not inside.numel():
                continue
            part = F.log_softmax(self.tail[i](rows.index_select(0, inside)), dim=1)
            chosen = part.gather(1, (wanted.index_select(0, inside) - low).unsqueeze(1))
            extra = extra.index_copy(0, inside, chosen.squeeze(1).to(extra.dtype))
            units = units.index_fill(0, inside, self.shortlist_size + i)
        output = extra + head.gather(1, units.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output.squeeze(0) if single else output, loss)

    def _check(self, input: Tensor, target: Tensor) -> None:
        if target.ndim > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if target.ndim == 1 and input.shape[0] != target.shape[0]:
            raise RuntimeError(
                "Input and target should have the same size in the batch dimension."
            )
        if input.ndim != target.ndim + 1:
            raise RuntimeError(
                f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but "
                f"found inputs with size {input.size()}"
            )

    def log_prob(self, input: Tensor) -> Tensor:
        """The log probabilities [N, n_classes] of all classes for input [N, in_features]."""
        head = self.head(input)
        shared = F.log_softmax(head, dim=1)
        parts = [shared[:, : self.shortlist_size]]
        for i in range(self.n_clusters):
            inner = F.log_softmax(self.tail[i](input), dim=1)
            place = self.shortlist_size + i
            parts.append(inner + shared[:, place : place + 1])
        return ops.cat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class [N] of each row."""
        head = self.head(input)
        best = ops.argmax(head, 1)
        rest = best >= self.shortlist_size
        if not bool(rest.any()):
            return best
        return ops.where(rest, ops.argmax(self.log_prob(input), 1), best)
