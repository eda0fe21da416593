"""What a benchmark reports."""

from __future__ import annotations

from dataclasses import dataclass, field


class Wrong(Exception):
    """A case computed a wrong result: it is listed and not timed."""


@dataclass
class Result:
    """One measured target.

    Attributes:
        group: the module of the suite.
        name: what was measured.
        unit: of every value: "us", "ms", "s", "KB", "MB", of the machine "Gflop/s" and "GB/s", or
            what it is divided by: "x copy", "x sgemm", "x torch eager", "x best peer", "x eager",
            "x before", "x plain" (the same code uncompiled), "x roofline" (the least time that the
            machine allows), "x" (named in the row).
        target: the value that is to be undercut; None where there is only a figure.
        value: graphwright's figure; None where the result was wrong.
        peers: the same figure for eager and for peers that are installed.
        note: what a reader has to know (sizes, what was compared).
        spread: of graphwright's samples, the distance between the quartiles over the median; None
            where each sample was a process of its own, or it was not recorded.
    """

    group: str
    name: str
    unit: str
    target: float | None
    value: float | None
    peers: dict[str, float] = field(default_factory=dict)
    note: str = ""
    spread: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None without a target."""
        if self.value is None:
            return False
        return None if self.target is None else self.value <= self.target
