"""`tensor.data`: a second name of a tensor's memory, whose writes no tape and no version sees.

The alias of an argument is an argument of the graph itself, read as `tensor.data` when the graph
starts. So a graph must not write under one name what it uses under the other: the frame breaks
between the two. An assignment to `.data` waits for the end of the graph, and the tensor cannot be
used under its own name from there on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphwright.capture.exc import unsupported
from graphwright.capture.source import DerivedSource, LoadWriter, Reloader
from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.tensor import TensorVariable
from graphwright.runtime.fake import make_fake
from graphwright.runtime.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.capture.output_graph import OutputGraph
    from graphwright.capture.translator import Translator


class DataSource(DerivedSource):
    """`base.data` of a tensor: guards look at the tensor itself."""

    def name(self) -> str:
        return f"{self.base.name()}.data"

    def emit(self, cg: Reloader) -> None:
        self.base.emit(cg)
        cg.load_attr("data")

    def loads(self, program: LoadWriter) -> int:
        return self.base.loads(program)


class _Pair:
    """A tensor and its alias, and how often each was written before."""

    def __init__(self, owner: TensorVariable, alias: TensorVariable) -> None:
        self.owner = owner
        self.alias = alias
        self.versions = self._versions()

    def _versions(self) -> tuple[int, int]:
        return self.owner.fake._version, self.alias.fake._version

    def is_torn(self) -> bool:
        """Whether the frame writes under one name what it uses under the other."""
        by_owner, by_alias = (
            now != before for now, before in zip(self._versions(), self.versions, strict=True)
        )
        if self.alias.source is None:
            return by_alias and bool(self.owner.fake.requires_grad)
        return bool((by_owner and self.alias.node.users) or (by_alias and self.owner.node.users))


class DataAliases:
    """The `.data` of the tensors of one frame.

    rebound: tensors that got other memory.
    """

    def __init__(self, output: OutputGraph) -> None:
        self.output = output
        self.rebound: set[VariableTracker] = set()
        self._pairs: list[_Pair] = []
        self._known: dict[TensorVariable, TensorVariable] = {}

    def read(self, tx: Translator, owner: TensorVariable) -> VariableTracker:
        """`owner.data`."""
        assigned = tx.side_effects.attribute(owner, "data")
        if assigned is not None:
            return assigned
        if owner.source is None:
            alias = self.output.run(tx, "call_method", "detach", [owner], {})
            assert isinstance(alias, TensorVariable)
            self._pairs.append(_Pair(owner, alias))
            return alias
        if owner not in self._known:
            tx.side_effects.refuse_after_calls(tensors=True)
            self._known[owner] = self._input(owner)
            self._pairs.append(_Pair(owner, self._known[owner]))
            self.check()
        return self._known[owner]

    def _input(self, owner: TensorVariable) -> TensorVariable:
        fake = owner.fake
        alias = make_fake(fake.shape, fake.stride(), fake.dtype, fake.device, False)
        real = self.output.real_inputs()[owner.node].data
        assert owner.source is not None
        return self.output.add_input(real, alias, DataSource(owner.source), Tensor)

    def assign(self, tx: Translator, owner: TensorVariable, value: VariableTracker) -> None:
        """`owner.data = value`."""
        value = value.realize()
        if value is self._known.get(owner) and owner not in self.rebound:
            return
        plain = isinstance(value, TensorVariable) and not value.fake.requires_grad
        if not plain or owner.source is None or value.as_example().dtype is not owner.fake.dtype:
            unsupported("GB0004", f"assignment of {value.describe()} to .data")
        tx.side_effects.store_attribute(owner, "data", value)
        self.rebound.add(owner)

    def require_memory(self, owner: TensorVariable) -> None:
        """A break before a use of a tensor that got other memory in this frame."""
        if owner in self.rebound:
            unsupported("GB0004", f"a use of {owner.describe()} after an assignment to its .data")

    def check(self) -> None:
        """A break before a write under one name of what is used under the other."""
        for pair in self._pairs:
            if pair.is_torn():
                what = pair.owner.describe()
                unsupported("GB0004", f"a write to {what} beside its use under the other name, "
                            ".data or its own")
