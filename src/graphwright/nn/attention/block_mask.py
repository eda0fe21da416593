"""Masks of attention as functions of positions, and which blocks of the matrix they leave.

A mask_mod is a function of four 0-d integer tensors (batch, head, query, key) that gives a 0-d
bool tensor: whether the query looks at the key. `create_mask` calls it once for all positions, by
vmap. A `BlockMask` says, for each block of rows, which blocks of columns have anything in them.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable
from typing import Any, NoReturn

from graphwright.runtime.batching.vmap import vmap
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor import dtypes
from graphwright.runtime.tensor.tensor import Tensor

Mod = Callable[..., Any]
Pair = tuple[Tensor | None, Tensor | None]
DEFAULT_BLOCK = 128
WHOLE = 1 << 30
"""The block size of a mask without any blocks to leave out."""


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """The mask_mod of no mask: True."""
    return ops.ones((), dtype=dtypes.bool, device=batch.device)


def sliced_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> NoReturn:
    """The mask_mod of a part of a BlockMask, whose positions are others. Raises: RuntimeError."""
    raise RuntimeError(
        "Cannot use mask_mod from a sliced BlockMask: positions count from the slice's start. Set "
        "its mask_mod to one that adds the offset to the mask_mod of the whole mask"
    )


def _check_callable(mask_mods: tuple[Mod, ...]) -> None:
    if not all(callable(each) for each in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")


def or_masks(*mask_mods: Mod) -> Mod:
    """The mask_mod that holds where one of these does. Raises RuntimeError for no functions."""
    _check_callable(mask_mods)

    def or_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = ops.zeros((), dtype=dtypes.bool, device=b.device)
        for each in mask_mods:
            result = result | each(b, h, q_idx, kv_idx)
        return result

    return or_mask


def and_masks(*mask_mods: Mod) -> Mod:
    """The mask_mod that holds where all of these do. Raises RuntimeError for no functions."""
    _check_callable(mask_mods)

    def and_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = ops.ones((), dtype=dtypes.bool, device=b.device)
        for each in mask_mods:
            result = result & each(b, h, q_idx, kv_idx)
        return result

    return and_mask


def for_all(function: Mod, scored: bool) -> Mod:
    """A mod of scalars as a function of whole ranges: [B], [H], [Q] and [KV] to [B, H, Q, KV].

    scored: whether its first argument is a score, [B, H, Q, KV].
    """
    first = (0,) if scored else ()
    for place in (3, 2, 1, 0):
        dims = tuple([0 if place == each else None for each in range(4)])
        function = vmap(function, (*first, *dims))
    return function


def takes_score(function: Mod) -> bool:
    """Whether a function is a score_mod, of five arguments without default; a mask_mod has four.

    Raises: AssertionError for one with another number.
    """
    count = sum(parameter.default is inspect.Parameter.empty
                for parameter in inspect.signature(function).parameters.values())
    if count not in (4, 5):
        raise AssertionError(f"Expected 4 or 5 positional args, got {count}")
    return count == 5


def positions(*sizes: int, device: Any) -> list[Tensor]:
    """The numbers from 0 below each size."""
    return [ops.arange(size, device=device) for size in sizes]


def create_mask(
    mod_fn: Mod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None
) -> Tensor:
    """The mask of a mask_mod, or where a score_mod does not give -inf: bool [B, H, Q_LEN, KV_LEN].

    B and H are 1 where they are None. Raises AssertionError for a function that is neither.
    """
    where = "cpu" if device is None else device
    sizes = (1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN)
    places = positions(*sizes, device=where)
    if not takes_score(mod_fn):
        result: Tensor = for_all(mod_fn, scored=False)(*places)
        return result
    scores = for_all(mod_fn, scored=True)(ops.zeros(sizes, device=where), *places)
    return ops.logical_not(ops.isneginf(scores))


def create_block_mask(
    mask_mod: Mod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = DEFAULT_BLOCK,
    _compile: bool = False,
    separate_full_blocks: bool = True,
) -> BlockMask:
    """The BlockMask of a mask_mod for queries [B, H, Q_LEN, E] and keys of KV_LEN.

    Args:
        B, H: None: the mask is the same for all.
        BLOCK_SIZE: rows and columns of a block.
        _compile: without effect.
        separate_full_blocks: list blocks in which the mask holds everywhere apart.

    Raises: AssertionError for a function that does not take four arguments.
    """
    if takes_score(mask_mod):
        raise AssertionError(f"create-block_mask requires a mask_mod function! Got {mask_mod}")
    rows, columns = _pair(BLOCK_SIZE)
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    held = ops.constant_pad_nd(mask, (0, -KV_LEN % columns, 0, -Q_LEN % rows), False)
    held = held.view(*held.shape[:2], held.shape[2] // rows, rows, -1, columns)
    counts = held.sum((3, 5))
    full = counts == rows * columns if separate_full_blocks else ops.zeros_like(counts) > 0
    partial = (counts > 0) & ~full
    counts, indices = _listed(partial)
    whole: Pair = _listed(full) if separate_full_blocks else (None, None)
    return BlockMask.from_kv_blocks(
        counts, indices, *whole, BLOCK_SIZE=(rows, columns), mask_mod=mask_mod,
        seq_lengths=(Q_LEN, KV_LEN))


def _pair(size: int | tuple[int, int]) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (size[0], size[1])


def _listed(blocks: Tensor) -> tuple[Tensor, Tensor]:
    """How many of each row's blocks are there, and the numbers of all blocks, those first."""
    numbers = blocks.to(dtypes.int32)
    order = ops.argsort(numbers, dim=-1, descending=True, stable=True)
    return numbers.sum(-1).to(dtypes.int32), order.to(dtypes.int32)


def _dense(counts: Tensor, indices: Tensor, columns: int) -> Tensor:
    """What `_listed` lists, as int32 of 0 and 1: [..., rows, columns]."""
    listed = ops.arange(indices.shape[-1], device=counts.device) < counts.unsqueeze(-1)
    blank = ops.zeros((*indices.shape[:-1], columns + 1), dtype=dtypes.int32, device=counts.device)
    beyond = ops.where(listed, indices.to(dtypes.int64), columns)
    return blank.scatter(-1, beyond, 1)[..., :columns].contiguous()


def _transposed(counts: Tensor | None, indices: Tensor | None) -> Pair:
    if counts is None or indices is None:
        return None, None
    return _listed(_dense(counts, indices, indices.shape[-1]).mT)


class BlockMask:
    """Which blocks of an attention matrix have to be computed, and the mask within them.

    Attributes:
        kv_num_blocks: int32 [B, H, rows]: how many blocks of each row of blocks are neither empty
            nor full.
        kv_indices: int32 [B, H, rows, columns]: their numbers, then those of the others.
        full_kv_num_blocks, full_kv_indices: the same of the full ones; None: none is known.
        q_num_blocks, q_indices, full_q_num_blocks, full_q_indices: the same by columns.
        BLOCK_SIZE: rows and columns of a block. seq_lengths: those of the whole matrix.
        mask_mod: whether a query looks at a key, in the blocks that are not full.
    """

    dq_write_order: Tensor | None = None
    dq_write_order_full: Tensor | None = None
    dq_kv_order: Tensor | None = None
    dq_kv_order_spt: bool | None = None

    _TENSORS = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices",
                "q_num_blocks", "q_indices", "full_q_num_blocks", "full_q_indices")

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None,
        q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int] = (DEFAULT_BLOCK, DEFAULT_BLOCK),
        mask_mod: Mod = noop_mask,
    ) -> None:
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        for kind, one, other in (("kv", full_kv_num_blocks, full_kv_indices),
                                 ("q", full_q_num_blocks, full_q_indices)):
            if (one is None) != (other is None):
                raise AssertionError(f"full_{kind}_num_blocks and full_{kind}_indices must be "
                                     "both provided or omitted")
        self.seq_lengths = seq_lengths
        self.kv_num_blocks, self.kv_indices = kv_num_blocks, kv_indices
        self.full_kv_num_blocks, self.full_kv_indices = full_kv_num_blocks, full_kv_indices
        self.q_num_blocks, self.q_indices = q_num_blocks, q_indices
        self.full_q_num_blocks, self.full_q_indices = full_q_num_blocks, full_q_indices
        self.BLOCK_SIZE = BLOCK_SIZE
        self.mask_mod = mask_mod

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = DEFAULT_BLOCK,
        mask_mod: Mod | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:
        """The mask of blocks listed by rows; those by columns follow if `compute_q_blocks`.

        Raises: RuntimeError for indices of fewer than two dims, AssertionError for one of the
            lists of full blocks without the other.
        """
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        size = _pair(BLOCK_SIZE)
        if seq_lengths is None:
            seq_lengths = (kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1])
        some: Pair = (None, None)
        full: Pair = (None, None)
        if compute_q_blocks:
            some = _transposed(kv_num_blocks, kv_indices)
            full = _transposed(full_kv_num_blocks, full_kv_indices)
        return cls(
            seq_lengths, kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices,
            *some, *full, BLOCK_SIZE=size, mask_mod=mask_mod or noop_mask)

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """The attributes: lengths, tensors, what CUDA kernels would need, block size, mask_mod.

        flatten: lengths and block size as two numbers each.
        """
        lengths = self.seq_lengths if flatten else (self.seq_lengths,)
        size = self.BLOCK_SIZE if flatten else (self.BLOCK_SIZE,)
        return (
            *lengths, *[getattr(self, name) for name in self._TENSORS], self.dq_write_order,
            self.dq_write_order_full, self.dq_kv_order, self.dq_kv_order_spt, *size, self.mask_mod)

    @property
    def shape(self) -> tuple[int, ...]:
        """[B, H, Q_LEN, KV_LEN]."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """The number of elements of the whole mask."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """The percentage of elements in empty blocks."""
        blocks = self.kv_num_blocks.sum().item()
        if self.full_kv_num_blocks is not None:
            blocks += self.full_kv_num_blocks.sum().item()
        return 100 * (1 - blocks * math.prod(self.BLOCK_SIZE) / self.numel())

    def to_dense(self) -> Tensor:
        """int32 [B, H, rows, columns]: 1 for blocks that are not empty."""
        columns = self.kv_indices.shape[-1]
        dense = _dense(self.kv_num_blocks, self.kv_indices, columns)
        if self.full_kv_num_blocks is None or self.full_kv_indices is None:
            return dense
        return dense | _dense(self.full_kv_num_blocks, self.full_kv_indices, columns)

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """A picture of at most `grid_size` cells for each batch and head, the first `limit` ones.

        -1 shows each block. A cell is full, empty, or in between.
        """
        dense = self.to_dense()
        *batches, rows, columns = dense.shape
        most = (rows, columns) if grid_size == -1 else _pair(grid_size)
        steps = [max(1, -(-size // cells))
                 for size, cells in zip((rows, columns), most, strict=True)]
        pictures: list[str] = []
        for number, place in enumerate(itertools.product(*map(range, batches))):
            if number == limit:
                pictures += ["...", "To print out more, set BlockMask.to_string(limit=N)",
                             "You can also index (BlockMask[batch, head]) to choose a specific "
                             "batch or head"]
                break
            lines = [f"{place}"]
            for row in range(0, rows, steps[0]):
                cells = [dense[(*place, slice(row, row + steps[0]),
                                slice(column, column + steps[1]))].float().mean().item()
                         for column in range(0, columns, steps[1])]
                lines.append("".join(["██" if cell == 1 else "░░" if cell else "  "
                                      for cell in cells]))
            pictures.append("\n".join(lines) + "\n")
        return "\n".join(pictures)

    def to(self, device: Any) -> BlockMask:
        """The mask with its tensors on a device."""
        tensors = [getattr(self, name) for name in self._TENSORS]
        moved = [None if each is None else each.to(device) for each in tensors]
        return BlockMask(self.seq_lengths, *moved, self.BLOCK_SIZE, self.mask_mod)  # type: ignore

    def __getitem__(self, index: Any) -> BlockMask:
        """The mask of some batches, heads and rows of blocks; numbers keep their dim.

        Its mask_mod has to be set before it is used: see `sliced_mask`.
        """
        given = index if isinstance(index, tuple) else (index,)
        given = (*given, slice(None), slice(None), slice(None))[:3]
        ndim = self.kv_num_blocks.dim()
        chosen = tuple([slice(one, one + 1 or None) if isinstance(one, int) else one
                        for one in given[:ndim]])
        counts, indices = self.full_kv_num_blocks, self.full_kv_indices
        return BlockMask.from_kv_blocks(
            self.kv_num_blocks[chosen], self.kv_indices[chosen],
            None if counts is None else counts[chosen],
            None if indices is None else indices[chosen], self.BLOCK_SIZE,
            sliced_mask, self.seq_lengths, self.q_indices is not None)

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        """The upper left part of the mask, for shorter queries and keys."""
        rows = -(-new_q_len // self.BLOCK_SIZE[0])
        columns = -(-new_kv_len // self.BLOCK_SIZE[1])

        def cut(counts: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
            dense = _dense(counts, indices, indices.shape[-1])
            return _listed(dense[..., :rows, :columns])

        full: Pair = (self.full_kv_num_blocks, self.full_kv_indices)
        if full[0] is not None and full[1] is not None:
            full = cut(full[0], full[1])
        return BlockMask.from_kv_blocks(
            *cut(self.kv_num_blocks, self.kv_indices), *full, BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=self.mask_mod, seq_lengths=(new_q_len, new_kv_len),
            compute_q_blocks=self.q_indices is not None)

    def __str__(self) -> str:
        return (f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n"
                f"{self.to_string().strip()}\n)")

    def __repr__(self) -> str:
        shapes = [f"    {name}={None if each is None else each.shape},\n"
                  for name in self._TENSORS for each in (getattr(self, name),)]
        return (
            f"BlockMask(\n{''.join(shapes)}    BLOCK_SIZE={self.BLOCK_SIZE},\n"
            f"    shape={self.shape},\n    sparsity={self.sparsity():.2f}%,\n"
            f"    mask_mod={getattr(self.mask_mod, '__name__', self.mask_mod)}\n)")
