"""PyTorch's samples of all its modules: strided, twice differentiated, copied, compiled, refused.

A few samples of each here, all of them by `make exhaustive`.
"""

from __future__ import annotations

import pytest

from . import torch_module_forms

pytestmark = pytest.mark.oracle

DELIBERATE = {
    ("compiled", "nn.GaussianNLLLoss"): "whether variances are positive is asked of their values",
    ("compiled", "nn.CTCLoss"): "lengths that are tensors decide about shapes",
}
"""What differs on purpose: graphs break there."""


def _names() -> list[str]:
    try:
        _, database = torch_module_forms.module_database()
    except ImportError:
        return []
    return list(dict.fromkeys(info.name for info in database))


NAMES = _names()


def _checked(form: str, name: str, limit: int | None) -> None:
    if (form, name) in DELIBERATE:
        pytest.skip(DELIBERATE[form, name])
    found = torch_module_forms.check(form, name, limit)
    assert not found, "\n".join(found)[:2000]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["strided", "twice", "copies"])
def test_form(form: str, name: str) -> None:
    _checked(form, name, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", torch_module_forms.FORMS)
def test_form_of_all_samples(form: str, name: str) -> None:
    _checked(form, name, 60)


@pytest.mark.parametrize("name", NAMES)
def test_refused(name: str) -> None:
    assert torch_module_forms.refusals(name) == []
