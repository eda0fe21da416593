"""Samples of ops that split, join, rearrange and repeat, and of views as copies."""

from __future__ import annotations

import numpy as np

from .sample import Arr, OpSamples, S

_A, _M, _V = Arr((2, 3, 4)), Arr((3, 4)), Arr((3,))


def _plain(name: str, *samples: object) -> OpSamples:
    return OpSamples(name, samples, None)  # type: ignore[arg-type]


def _no_double(name: str, *samples: object) -> OpSamples:
    return OpSamples(name, samples, None, torch="")  # type: ignore[arg-type]


SHAPES = (
    OpSamples("flip", (S(_A, (0, 2)), S(_V, (0,)), S(_M, ())), np.flip),
    OpSamples("fliplr", (S(_M),), np.fliplr),
    OpSamples("flipud", (S(_M),), np.flipud),
    OpSamples("rot90", (S(_M), S(_M, 2), S(_A, -1, (1, 2))), np.rot90, strides=False),
    OpSamples("tile", (S(_M, (2,)), S(_V, (2, 2))), np.tile),
    _plain("repeat_interleave", S(_M, 2), S(_M, 3, dim=1), S(_V, 2, 0)),
    _no_double("repeat_positions", S(Arr((3,), 2, 2, "int"), 6)),
    _plain("diag", S(_M, 1), S(_V), S(_V, -2)),
    _plain("diagflat", S(_M), S(_V, 1)),
    _plain("diag_embed", S(_M), S(_M, -1), S(_M, 2, 0, 1), S(_M, 0, 2, 0)),
    _plain("adjoint", S(_M), S(_A), S(Arr(()))),
    _no_double("mT", S(_A)),
    _no_double("mH", S(_A)),
    _no_double("matrix_H", S(_M)),
    _no_double("numpy_T", S(_A)),
    OpSamples("ravel", (S(_A), S(Arr(()))), np.ravel),
    OpSamples("broadcast_to", (S(Arr((3, 1)), (2, 3, 4)),), np.broadcast_to, strides=False),
    _plain("unsqueeze_copy", S(_M, 1)),
    _plain("split_with_sizes", S(Arr((2, 5)), (1, 4), 1)),
    _plain("tensor_split", S(Arr((5, 2)), 3), S(Arr((2, 5)), (1, 3), 1)),
    _plain("hsplit", S(_M, 2), S(_V, (1,))),
    _plain("vsplit", S(_M, 3)),
    _plain("dsplit", S(_A, (1, 2))),
    _plain("hstack", S((_M, Arr((3, 1)))), S((_V, Arr((2,))))),
    _plain("vstack", S((_M, Arr((4,)))), S((_V, _V))),
    _plain("dstack", S((_M, _M)), S((_V, _V))),
    _plain("column_stack", S((_V, _M))),
    _plain("atleast_1d", S(Arr(())), S(_M)),
    _plain("atleast_2d", S(Arr(())), S(_V)),
    _plain("atleast_3d", S(_V), S(_M), S(Arr(()))),
    _no_double("block_diag", S((_M, Arr((2,)), Arr(())))),
    _no_double("broadcast_tensors", S((Arr((3, 1)), Arr((4,))))),
    _no_double("cartesian_prod", S((_V, Arr((2,))))),
    _no_double("meshgrid", S((_V, Arr((2,)))), S((_V, Arr((2,))), indexing="xy")),
    _plain("combinations", S(Arr((4,))), S(Arr((4,)), 3, True)),
    OpSamples(
        "unfold", (S(Arr((7,)), 0, 3, 2), S(_M, 1, 2, 1), S(Arr(()), 0, 1, 1)), None,
        torch="unfold",
    ),
    _plain("alias_copy", S(_M)),
    OpSamples("detach_copy", (S(_M),), None, grad=False),
    OpSamples("as_strided_copy", (S(Arr((4, 6)), (3, 2), (6, 2), 1),), None, layouts=False),
    _plain("diagonal_copy", S(_M, 1)),
    _plain("expand_copy", S(Arr((3, 1)), (3, 4))),
    _plain("narrow_copy", S(_A, 2, 1, 2)),
    _plain("permute_copy", S(_A, (2, 0, 1))),
    _plain("select_copy", S(_A, 1, 2)),
    _plain("slice_copy", S(_A, 2, 0, 4, 2)),
    _plain("split_copy", S(Arr((5, 2)), 2)),
    _plain("split_with_sizes_copy", S(Arr((5, 2)), (2, 3))),
    _plain("squeeze_copy", S(Arr((1, 3, 1)), 0)),
    _plain("t_copy", S(_M)),
    _plain("transpose_copy", S(_A, 0, 2)),
    _plain("unbind_copy", S(_M, 1)),
    _plain("unfold_copy", S(_M, 1, 2, 1)),
    OpSamples("view_copy", (S(_M, (4, 3)),), None, layouts=False),
    _plain("slice_scatter", S(_M, Arr((3, 2)), 1, 1, 3), S(_M, Arr((2, 4)), 0, 0, 3, 2)),
    _plain("select_scatter", S(_M, Arr((3,)), 1, -2)),
    _plain("diagonal_scatter", S(_M, Arr((3,)), 1), S(_A, Arr((4, 2)), 0, 0, 1)),
    OpSamples(
        "as_strided_scatter", (S(_M, Arr((2, 2)), (2, 2), (4, 1), 1),), None, layouts=False
    ),
)
