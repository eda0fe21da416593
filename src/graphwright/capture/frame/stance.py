"""The stance: what happens, in the whole process, to calls that have no compiled code yet."""

from __future__ import annotations

from types import TracebackType

from graphwright.capture import _eval_frame

STANCES = ("default", "force_eager", "eager_on_recompile", "fail_on_recompile")
_IN_C = {"force_eager": 1, "fail_on_recompile": 2}
_present = ["default"]


class RecompileError(RuntimeError):
    """A call under the stance "fail_on_recompile" that no compiled version fits."""


def stance() -> str:
    """The present one of `STANCES`."""
    return _present[0]


class set_stance:
    """Say what happens to calls that no compiled version of a function fits.

    Takes effect at once, for all threads; as a context manager, until its block ends.

    Args:
        stance: "default": compile. "force_eager": run everything as plain Python, compiled
            functions too. "eager_on_recompile": a function without compiled code is compiled;
            one that has some uses it where it fits, and is plain Python elsewhere.
            "fail_on_recompile": the same, but raise RecompileError with the reasons.

    Raises:
        ValueError: an unknown stance.
    """

    def __init__(self, stance: str) -> None:
        if stance not in STANCES:
            raise ValueError(f"unknown stance '{stance}'; there are {', '.join(STANCES)}")
        self.previous = _present[0]
        _set(stance)

    def __enter__(self) -> set_stance:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _set(self.previous)


def _set(stance: str) -> None:
    _present[0] = stance
    _eval_frame.set_stance(_IN_C.get(stance, 0))
