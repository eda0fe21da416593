"""Samples of views and of composites over them."""

from __future__ import annotations

import numpy as np

from .sample import Arr, OpSamples, S

_A = Arr((2, 3, 4))

VIEWS = (
    OpSamples(
        "view",
        (S(Arr((3, 4)), (4, 3)), S(_A, (6, -1)), S(Arr(()), (1, 1)), S(Arr((0, 3)), (0, 5))),
        lambda x, size: x.reshape(size),
        layouts=False,
        torch="view",
    ),
    OpSamples(
        "reshape",
        (S(Arr((3, 4)), (4, 3)), S(_A, (6, -1)), S(_A, (24,)), S(Arr((0, 3)), (3, 0))),
        lambda x, size: x.reshape(size),
    ),
    OpSamples(
        "expand",
        (
            S(Arr((3, 1)), (3, 4)),
            S(Arr((3,)), (2, 3)),
            S(Arr(()), (2, 2)),
            S(Arr((1, 4)), (5, -1)),
        ),
        None,
        torch="expand",
    ),
    OpSamples(
        "permute",
        (S(_A, (2, 0, 1)), S(Arr((3, 4)), (-1, 0)), S(Arr(()), ())),
        lambda x, dims: np.transpose(x, dims),
    ),
    OpSamples("transpose", (S(_A, 0, -1), S(Arr((3, 4)), 0, 1)), np.swapaxes),
    OpSamples("t", (S(Arr((3, 4))), S(Arr((3,)))), np.transpose),
    OpSamples("unsqueeze", (S(_A, 0), S(_A, -1), S(_A, 1), S(Arr(()), 0)), np.expand_dims),
    OpSamples(
        "squeeze",
        (S(Arr((1, 3, 1))), S(Arr((1, 3, 1)), 0), S(Arr((1, 3, 1)), 1), S(Arr((1, 3, 1)), (0, 2))),
        None,
    ),
    OpSamples(
        "slice",
        (
            S(_A, 1, 1, 3),
            S(_A, 2, -3, None),
            S(_A, 2, 0, 4, 2),
            S(Arr((5,)), 0, 4, 2),
            S(_A, 0, 0, 9),
        ),
        None,
        torch="",
    ),
    OpSamples("select", (S(_A, 1, 2), S(_A, -1, -4), S(Arr((3,)), 0, 1)), None),
    OpSamples("narrow", (S(_A, 2, 1, 2), S(_A, 1, -2, 2)), None),
    OpSamples(
        "as_strided",
        (S(Arr((4, 6)), (3, 2), (6, 2), 1), S(Arr((12,)), (3, 3), (1, 1), 2)),
        None,
        layouts=False,
    ),
    OpSamples(
        "diagonal",
        (S(Arr((3, 4))), S(Arr((3, 4)), 1), S(Arr((4, 3)), -2), S(_A, 0, 1, 2)),
        None,
    ),
    OpSamples("alias", (S(_A),), None, torch=""),
    OpSamples("detach", (S(_A),), None, grad=False, torch="detach"),
    OpSamples("flatten", (S(_A), S(_A, 1), S(_A, 0, 1), S(Arr(()))), None),
    OpSamples("unflatten", (S(Arr((2, 6)), 1, (3, -1)),), None, torch="unflatten"),
    OpSamples("movedim", (S(_A, 0, 2), S(_A, (0, 1), (2, 0))), np.moveaxis),
    OpSamples("unbind", (S(Arr((3, 4))), S(Arr((3, 4)), 1)), None),
    OpSamples("split", (S(Arr((5, 2)), 2), S(Arr((2, 5)), [1, 4], 1), S(Arr((4,)), 2)), None),
    OpSamples("unsafe_split", (S(Arr((5, 2)), 2), S(Arr((2, 5)), 3, 1)), None),
    OpSamples("chunk", (S(Arr((5, 2)), 2), S(Arr((2, 6)), 3, -1)), None),
    OpSamples(
        "view_as", (S(Arr((3, 4)), Arr((4, 3), grad=False)),), None, layouts=False, torch="view_as"
    ),
    OpSamples("expand_as", (S(Arr((3, 1)), Arr((2, 3, 4), grad=False)),), None, torch="expand_as"),
    OpSamples("reshape_as", (S(Arr((3, 4)), Arr((12,), grad=False)),), None, torch="reshape_as"),
    OpSamples("repeat", (S(Arr((2, 3)), (2, 1, 2)), S(Arr((3,)), (4,))), np.tile, torch="repeat"),
    OpSamples(
        "roll",
        (S(Arr((5, 2)), 2, 0), S(Arr((2, 5)), -1, 1), S(_A, (1, 2), (0, 2)), S(_A, 5)),
        np.roll,
    ),
    OpSamples(
        "slice_backward",
        (S(Arr((2, 2)), (2, 5), 1, 1, 3, 1), S(Arr((2, 2)), (2, 5), 1, 0, 4, 2)),
        None,
        torch="",
    ),
    OpSamples("select_backward", (S(Arr((2,)), (2, 5), 1, -2),), None, torch=""),
    OpSamples("diagonal_backward", (S(Arr((3,)), (3, 4), 1, 0, 1),), None, torch=""),
)
