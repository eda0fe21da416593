"""Handles by which hooks are taken off again."""

from __future__ import annotations

import itertools
from typing import Any

_ids = itertools.count()


class RemovableHandle:
    """What `register_*_hook` returns; `remove()` (or leaving a `with` block) removes it."""

    def __init__(self, hooks: dict[int, Any]) -> None:
        self.id = next(_ids)
        self._hooks = hooks

    def remove(self) -> None:
        """Take the hook off; does nothing if it is off already."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()
