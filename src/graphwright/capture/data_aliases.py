"""`tensor.data`: a second name of a tensor's memory, whose writes no tape and no version sees.

The alias of an argument is an argument of the graph itself, read as `tensor.data` when the graph
starts. From there on it stands for the tensor too, as long as nothing is recorded for gradients of
that. Otherwise a graph must not write under one name what it uses under the other, nor what
gradients will be computed from: the frame breaks between the two. An assignment to `.data` waits
for the end of the graph, which goes on with what was assigned; where operations on the tensor are
recorded, it cannot be used under its own name from there on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from graphwright.capture.exc import Unsupported, unsupported
from graphwright.capture.source import DerivedSource, LoadWriter, Reloader
from graphwright.capture.variables.base import VariableTracker
from graphwright.capture.variables.tensor import TensorVariable
from graphwright.runtime.fake import FakeTensor, make_fake
from graphwright.runtime.tensor import Tensor

if TYPE_CHECKING:
    from graphwright.capture.output_graph import OutputGraph
    from graphwright.capture.translator import Translator


class DataSource(DerivedSource):
    """`base.data` of a tensor: guards look at the tensor itself."""

    makes_objects = True

    def name(self) -> str:
        return f"{self.base.name()}.data"

    def emit(self, cg: Reloader) -> None:
        self.base.emit(cg)
        cg.load_attr("data")

    def loads(self, program: LoadWriter) -> int:
        return self.base.loads(program)


class _Pair:
    """A tensor and its alias, and how often each was written before.

    written: how often the alias was, up to now. recorded: whether gradients will be computed from
    either.
    """

    def __init__(self, owner: TensorVariable, alias: TensorVariable) -> None:
        self.owner = owner
        self.alias = alias
        self.written = alias.fake._version
        self.recorded = False
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
    """The `.data` of the tensors of one frame."""

    def __init__(self, output: OutputGraph) -> None:
        self.output = output
        self._pairs: dict[int, _Pair] = {}
        self._views: dict[int, Any] = {}
        self._known: dict[TensorVariable, TensorVariable] = {}

    def read(self, tx: Translator, owner: TensorVariable) -> VariableTracker:
        """`owner.data`."""
        assigned = tx.side_effects.attribute(owner, "data")
        if assigned is not None:
            return assigned
        if owner.source is None:
            alias = self.output.run(tx, "call_method", "detach", [owner], {})
            assert isinstance(alias, TensorVariable)
            self._pairs[id(alias.fake._storage)] = _Pair(owner, alias)
            return alias
        if owner not in self._known:
            tx.side_effects.refuse_after_calls(tensors=True)
            self._known[owner] = owner.memory = self._input(owner)
            pair = _Pair(owner, self._known[owner])
            for tensor in (owner, self._known[owner]):
                self._pairs[id(tensor.fake._storage)] = pair
            self.check([owner])
        alias = self._known[owner]
        return TensorVariable(alias.node, alias.fake, Tensor, alias.source)

    def _input(self, owner: TensorVariable) -> TensorVariable:
        fake = owner.fake
        alias = make_fake(fake.shape, fake.stride(), fake.dtype, fake.device, False)
        real = self.output.real_inputs()[owner.node].data
        assert owner.source is not None
        return self.output.add_input(real, alias, DataSource(owner.source), Tensor)

    def assign(self, tx: Translator, owner: TensorVariable, value: VariableTracker) -> None:
        """`owner.data = value`."""
        value = value.realize()
        known = self._known.get(owner)
        if known is not None and value.source == known.source and not owner.rebound:
            return
        plain = isinstance(value, TensorVariable) and not value.fake.requires_grad
        if not plain or owner.source is None or value.as_example().dtype is not owner.fake.dtype:
            unsupported("GB0004", f"assignment of {value.describe()} to .data")
        tx.side_effects.store_attribute(owner, "data", value)
        assert isinstance(value, TensorVariable)
        owner.memory, owner.rebound = value, True

    def check(self, args: Sequence[VariableTracker], result: Any = None) -> None:
        """A break before a write under one name of what is used under the other.

        args, result: those of the operation that was added to the graph.
        """
        if not self._pairs:
            return
        self._note_views(args, result)
        first = args[0] if args else None
        of_view = isinstance(first, TensorVariable) and id(first.fake) in self._views
        for pair in self._touched(args):
            owner, alias = pair.owner, pair.alias
            written = alias.fake._version != pair.written
            pair.written = alias.fake._version
            by_name = alias.source is not None and (first is owner or of_view)
            if pair.is_torn() or (written and (by_name or pair.recorded)):
                _refuse(owner)
            pair.recorded |= _is_recorded(result, alias.fake)

    def _touched(self, args: Sequence[VariableTracker]) -> list[_Pair]:
        """The pairs whose memory an operation may read or write."""
        parts = [part.realize() for arg in args for part in (arg, *arg.parts())]
        found = [self._pairs.get(id(part.present().fake._storage))
                 for part in parts if isinstance(part, TensorVariable)]
        return list(dict.fromkeys(pair for pair in found if pair is not None))

    def _note_views(self, args: Sequence[VariableTracker], result: Any) -> None:
        """Remember the views of tensors that their `.data` stood for."""
        owner = args[0] if args else None
        if not self._known or not isinstance(owner, TensorVariable):
            return
        present = owner.present()
        if (owner.memory is present and not owner.rebound) or id(present.fake) in self._views:
            for made in result if isinstance(result, (tuple, list)) else (result,):
                if getattr(made, "_storage", None) is present.fake._storage:
                    self._views[id(made)] = made

    def check_leaves(self, value: TensorVariable) -> None:
        """A break before a view leaves the frame as one of `.data` and not of the tensor."""
        if id(value.fake) in self._views:
            reason = Unsupported("GB0004", "a view of a tensor whose .data was read leaves")
            reason.blame(value.born)
            raise reason


def _refuse(owner: TensorVariable) -> NoReturn:
    unsupported("GB0004", f"a write to {owner.describe()} beside its use under the other name, "
                ".data or its own")


def _is_recorded(result: Any, alias: FakeTensor) -> bool:
    """Whether a result with other memory than the alias leads to gradients."""
    return any(
        bool(getattr(made, "requires_grad", False)) and made._storage is not alias._storage
        for made in (result if isinstance(result, (tuple, list)) else (result,))
    )
