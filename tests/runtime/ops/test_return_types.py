"""An op with several results returns a named tuple of its own name, with PyTorch's fields."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import graphwright as gw
from graphwright.runtime.ops.return_types import FIELDS

CALLS: dict[str, Any] = {
    "aminmax": lambda x: gw.aminmax(x, dim=0),
    "cummax": lambda x: gw.cummax(x, 0),
    "frexp": gw.frexp,
    "kthvalue": lambda x: gw.kthvalue(x, 1),
    "linalg_eig": gw.linalg.eig,
    "linalg_eigh": lambda x: gw.linalg.eigh(x + x.T),
    "linalg_lu": gw.linalg.lu,
    "linalg_qr": gw.linalg.qr,
    "linalg_slogdet": gw.linalg.slogdet,
    "linalg_svd": gw.linalg.svd,
    "max": lambda x: gw.max(x, 0),
    "median": lambda x: gw.median(x, 0),
    "min": lambda x: x.min(dim=-1, keepdim=True),
    "mode": gw.mode,
    "nanmedian": lambda x: gw.nanmedian(x, 0),
    "qr": gw.qr,
    "slogdet": gw.slogdet,
    "sort": gw.sort,
    "svd": gw.svd,
    "topk": lambda x: gw.topk(x, 2),
}


def _matrix() -> gw.Tensor:
    return gw.tensor([[3.0, 1.0, 0.5], [1.0, 4.0, 0.0], [0.25, 0.0, 5.0]])


@pytest.mark.parametrize("name", CALLS)
def test_results_are_of_the_ops_own_class(name: str) -> None:
    result = CALLS[name](_matrix())
    assert type(result) is getattr(gw.return_types, name)
    assert type(result).__name__ == name
    assert type(result).__module__ == "graphwright.return_types"
    assert [getattr(result, field) for field in FIELDS[name]] == list(result)


def test_compiled_code_returns_the_same_class() -> None:
    compiled = gw.compile(lambda x: gw.max(x * 2, 0))
    assert type(compiled(_matrix())) is gw.return_types.max


def test_results_can_be_pickled() -> None:
    result = pickle.loads(pickle.dumps(gw.max(_matrix(), 0)))
    assert type(result) is gw.return_types.max
    assert result.indices.tolist() == [0, 1, 2]


def test_results_print_a_line_for_each_field() -> None:
    result = gw.max(gw.tensor([[1.0, 2.0]]), 1)
    assert repr(result) == (
        "graphwright.return_types.max(\nvalues=tensor([2.]),\nindices=tensor([1]))")


def test_other_names_do_not_exist() -> None:
    with pytest.raises(AttributeError, match="no attribute 'add'"):
        _ = gw.return_types.add


@pytest.mark.oracle
def test_names_and_fields_are_those_of_torch() -> None:
    torch = pytest.importorskip("torch")
    theirs = {
        name: kind.__match_args__
        for name, kind in vars(torch.return_types).items()
        if isinstance(kind, type) and not name.endswith("_out") and issubclass(kind, tuple)
        and hasattr(kind, "n_sequence_fields") and not name.startswith("_")
    }
    assert theirs == FIELDS
