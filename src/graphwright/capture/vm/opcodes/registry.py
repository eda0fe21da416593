"""Which handler runs an instruction on which version of Python."""

from __future__ import annotations

from collections.abc import Callable

from graphwright.capture.vm.translator import Handler

Version = tuple[int, int]

PY311, PY312, PY313 = (3, 11), (3, 12), (3, 13)
VERSIONS: tuple[Version, ...] = (PY311, PY312, PY313)
_TABLES: dict[Version, dict[str, Handler]] = {version: {} for version in VERSIONS}


def opcode(*names: str, only: tuple[Version, ...] = VERSIONS) -> Callable[[Handler], Handler]:
    """Register the handler of these instructions, on some versions or all."""

    def register(handler: Handler) -> Handler:
        for version in only:
            for name in names:
                _TABLES[version][name] = handler
        return handler

    return register


def handlers_for(version: Version) -> dict[str, Handler]:
    """The table of one version; of the newest known one where the version is newer."""
    return _TABLES.get(version, _TABLES[VERSIONS[-1]])
