"""How many instructions the translation of a frame may take."""

from __future__ import annotations

from graphwright.capture.exc import SkipFrame, Unsupported
from graphwright.capture.trackers.base import Clock

MOST_STEPS = 300_000
MOST_WITHOUT_TENSORS = 50_000


class Budget:
    """Counts instructions, all of them and those since the frame last met a tensor.

    Loops over tensor operations are unrolled up to the limit of all instructions. Python that
    works on something else is interpreted far slower than it runs, and its results are no better:
    the graph ends before it.

    patience: the most instructions without a tensor. idle_step: the step of the captured frame
    in which the last tensor was met, -1 for none. native_step: the first one behind it before
    which the graph can end.
    """

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self.steps = 0
        self.idle_step = self.native_step = -1
        self._idle_since = self._began = 0

    def meet_tensor(self) -> None:
        """A tensor operation, or a tensor that the graph gets."""
        self._idle_since, self.idle_step = self.steps, Clock.step

    def idle_since(self, began: int) -> int | None:
        """How many instructions there were after the first `began`; None if one met a tensor."""
        return self.steps - began if self._idle_since <= began else None

    def begin_step(self, step: int) -> None:
        """An instruction of the captured frame begins: what it calls counts as its own."""
        Clock.step = step
        self._began = self.steps

    def end_step(self, step: int, native: bool) -> None:
        """The same instruction has ended; `native`: the graph could have ended before it."""
        if native and self.native_step <= self.idle_step < step:
            self.native_step = step

    def count(self) -> None:
        """One more instruction."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise SkipFrame(Unsupported("GB0018", f"more than {MOST_STEPS} instructions"))
        if self.steps - self._idle_since > self.patience:
            self._refuse()

    def _refuse(self) -> None:
        """A break before the call that took the instructions, or else before the loop did."""
        reason = Unsupported("GB0018", f"{self.patience} instructions without a tensor operation")
        if 2 * (self.steps - self._began) < self.patience and self.native_step > self.idle_step:
            reason.blame(self.native_step)
        raise reason
