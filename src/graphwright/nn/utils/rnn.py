"""Sequences of different lengths: padded, and packed step by step, after `torch.nn.utils.rnn`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from graphwright.runtime.errors import describe, require_kind, require_tensor, tensors_of
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.from_data import tensor as make_tensor
from graphwright.runtime.tensor.tensor import Tensor


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """A batch of sequences, longest first, stored step after step without padding.

    Attributes:
        data: [total steps, *]; the first `batch_sizes[0]` rows are the first elements.
        batch_sizes: int64 [longest]; how many sequences are that long.
        sorted_indices, unsorted_indices: int64 [batch] or None: the order by length and back.

    `batch_sizes` is on the CPU, whatever the device of the others.
    """

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if batch_sizes is None:
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same sequences with `data.to(*args, **kwargs)`; itself where that is the data."""
        return self._with(self.data.to(*args, **kwargs))

    def _with(self, data: Tensor) -> PackedSequence:
        if data is self.data:
            return self
        order = [None if t is None else t.to(data.device) for t in self[2:]]
        return type(self)(data, self.batch_sizes, *order)

    def double(self) -> PackedSequence:
        """The same sequences in float64."""
        return self.to(dtypes.float64)

    def float(self) -> PackedSequence:
        """The same sequences in float32."""
        return self.to(dtypes.float32)

    def half(self) -> PackedSequence:
        """The same sequences in float16."""
        return self.to(dtypes.float16)

    def bfloat16(self) -> PackedSequence:
        """The same sequences in bfloat16."""
        return self.to(dtypes.bfloat16)

    def long(self) -> PackedSequence:
        """The same sequences in int64."""
        return self.to(dtypes.int64)

    def int(self) -> PackedSequence:
        """The same sequences in int32."""
        return self.to(dtypes.int32)

    def short(self) -> PackedSequence:
        """The same sequences in int16."""
        return self.to(dtypes.int16)

    def char(self) -> PackedSequence:
        """The same sequences in int8."""
        return self.to(dtypes.int8)

    def byte(self) -> PackedSequence:
        """The same sequences in uint8."""
        return self.to(dtypes.uint8)

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same sequences on the CPU."""
        return self.to(*args, device="cpu", **kwargs)

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same sequences on a GPU. Raises RuntimeError where there is none."""
        return self._with(self.data.cuda(*args, **kwargs))

    def pin_memory(self) -> PackedSequence:
        """A copy with data in pinned memory. Raises as `Tensor.pin_memory`."""
        return type(self)(self.data.pin_memory(), *self[1:])

    def is_pinned(self) -> bool:
        """False: memory is never page-locked."""
        return self.data.is_pinned()

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a GPU."""
        return self.data.device.type == "cuda"


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes another, int64 [n]; None for None."""
    if permutation is None:
        return None
    require_tensor("invert_permutation", "permutation", permutation)
    order = ops.arange(0, permutation.numel(), device=permutation.device)
    inverse: Tensor = ops.zeros_like(permutation).scatter(0, permutation, order)
    return inverse


def _check_lengths(lengths: Any, batch: int, longest: int) -> list[int]:
    if isinstance(lengths, Tensor):
        if lengths.ndim != 1:
            raise RuntimeError(
                f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.ndim}D "
                f"{lengths.device} {lengths.dtype} tensor"
            )
        listed = lengths.to(dtypes.int64).tolist()
    else:
        listed = [int(n) for n in lengths]
    if len(listed) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(listed)} "
            f"(batch_size={batch})"
        )
    if listed and min(listed) <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    if listed and max(listed) > longest:
        raise RuntimeError(
            f"Expected all lengths to be at most the padded length {longest}, "
            f"but got {max(listed)}"
        )
    return listed


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack a padded batch: [longest, batch, *], or [batch, longest, *] if `batch_first`.

    `lengths` (a list or an int64 tensor) must be decreasing where `enforce_sorted`; otherwise
    the sequences are sorted first. Raises RuntimeError where lengths do not fit.
    """
    require_tensor("pack_padded_sequence", "input", input)
    if input.ndim < 2:
        raise RuntimeError(
            f"pack_padded_sequence(): input must have at least 2 dims, got {describe(input)}"
        )
    batch = input.shape[0 if batch_first else 1]
    listed = _check_lengths(lengths, batch, input.shape[1 if batch_first else 0])
    sorted_indices = None
    if not enforce_sorted:
        order = sorted(range(batch), key=lambda i: -listed[i])
        listed = [listed[i] for i in order]
        sorted_indices = make_tensor(order, dtype=dtypes.int64, device=input.device)
        input = ops.index_select(input, 0 if batch_first else 1, sorted_indices)
    elif any(a < b for a, b in itertools.pairwise(listed)):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
            "You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
            "sidestep this requirement if you do not need ONNX exportability."
        )
    steps = ops.transpose(input, 0, 1) if batch_first else input
    sizes = [sum(n > t for n in listed) for t in range(listed[0] if listed else 0)]
    data = ops.cat(_prefixes(steps, sizes))
    return PackedSequence(data, make_tensor(sizes, dtype=dtypes.int64), sorted_indices)


def _prefixes(steps: Tensor, sizes: list[int]) -> list[Tensor]:
    """The first `sizes[t]` rows of each step; steps of equal size in one piece."""
    parts, start = [], 0
    while start < len(sizes):
        stop = start
        while stop < len(sizes) and sizes[stop] == sizes[start]:
            stop += 1
        block = steps[start:stop, : sizes[start]]
        parts.append(ops.reshape(block, (-1, *block.shape[2:])))
        start = stop
    return parts


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """(padded batch in the original order, lengths int64 [batch] on the CPU): inverse of packing.

    Raises ValueError where `total_length` is less than the longest sequence.
    """
    require_kind("pad_packed_sequence", "sequence", sequence, PackedSequence)
    sizes = sequence.batch_sizes.tolist()
    longest = len(sizes)
    if total_length is not None:
        if total_length < longest:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in "
                f"input, but got total_length={total_length} and max sequence length being "
                f"{longest}"
            )
        longest = total_length
    padded = _padded(sequence.data, sizes, longest, padding_value)
    counts = [0] * (sizes[0] if sizes else 0)
    for size in sizes:
        for i in range(size):
            counts[i] += 1
    lengths = make_tensor(counts, dtype=dtypes.int64)
    if batch_first:
        padded = ops.transpose(padded, 0, 1)
    if sequence.unsorted_indices is not None:
        padded = ops.index_select(padded, 0 if batch_first else 1, sequence.unsorted_indices)
        lengths = ops.index_select(lengths, 0, sequence.unsorted_indices.cpu())
    return padded, lengths


def _padded(data: Tensor, sizes: list[int], longest: int, value: float) -> Tensor:
    """[longest, batch, *] from packed rows."""
    batch, rest = (sizes[0] if sizes else 0), tuple(data.shape[1:])
    blocks, start, t = [], 0, 0
    while t < len(sizes):
        size, count = sizes[t], 0
        while t < len(sizes) and sizes[t] == size:
            t, count = t + 1, count + 1
        rows = data[start : start + count * size]
        start += count * size
        block = ops.reshape(rows, (count, size, *rest))
        if size < batch:
            filler = data.new_full((count, batch - size, *rest), value)
            block = ops.cat([block, filler], 1)
        blocks.append(block)
    if longest > len(sizes):
        blocks.append(data.new_full((longest - len(sizes), batch, *rest), value))
    result: Tensor = ops.cat(blocks)
    return result


def _sequences(name: str, sequences: Any) -> list[Tensor]:
    """The sequences, each of at least one dim; a tensor's are its rows."""
    rows = list(sequences) if isinstance(sequences, Tensor) else sequences
    listed = tensors_of(name, "sequences", rows)
    if any(sequence.ndim == 0 for sequence in listed):
        raise RuntimeError(f"{name}(): a sequence must have at least 1 dim, got one without")
    return listed


def pad_sequence(
    sequences: Sequence[Tensor] | Tensor,
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Stack sequences [length_i, *] to [longest, batch, *] (or batch first), padded.

    RuntimeError for no sequences and for a side that is neither "right" nor "left".
    """
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    listed = _sequences("pad_sequence", sequences)
    if not listed:
        raise RuntimeError("received an empty list of sequences")
    longest = max(s.shape[0] for s in listed)
    rows = []
    for sequence in listed:
        missing = longest - sequence.shape[0]
        filler = sequence.new_full((missing, *sequence.shape[1:]), padding_value)
        parts = [sequence, filler] if padding_side == "right" else [filler, sequence]
        rows.append(ops.cat(parts) if missing else sequence)
    stacked: Tensor = ops.stack(rows, 0 if batch_first else 1)
    return stacked


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """The sequences of a padded batch, each of its own length."""
    require_tensor("unpad_sequence", "padded_sequences", padded_sequences)
    require_tensor("unpad_sequence", "lengths", lengths)
    rows = padded_sequences if batch_first else ops.transpose(padded_sequences, 0, 1)
    return [ops.clone(rows[i, :n]).contiguous() for i, n in enumerate(lengths.tolist())]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack a list of sequences [length_i, *], longest first unless not `enforce_sorted`."""
    listed = _sequences("pack_sequence", sequences)
    lengths = [s.shape[0] for s in listed]
    return pack_padded_sequence(pad_sequence(listed), lengths, False, enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a packed batch, in the original order."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
