"""Lists and dicts that nobody can change: what the arguments of nodes are held in.

A change in place would pass by the record of who uses what; new arguments are assigned instead.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NoReturn, TypeVar

from graphwright.utils._pytree import register_pytree_node

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(
        f"a {type(self).__name__} cannot be changed: assign a changed copy instead, "
        "as in node.args = (..., [*items, more])"
    )


class immutable_list(list[T]):
    """A list that cannot be changed and can be hashed. Raises TypeError where one tries."""

    __delitem__ = __iadd__ = __imul__ = __setitem__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self),)


class immutable_dict(dict[K, T]):
    """A dict that cannot be changed and can be hashed. Raises TypeError where one tries."""

    __delitem__ = __ior__ = __setitem__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self.items()),)


register_pytree_node(
    immutable_list, lambda x: (list(x), None), lambda parts, _: immutable_list(parts)
)
register_pytree_node(
    immutable_dict,
    lambda x: (list(x.values()), list(x)),
    lambda parts, keys: immutable_dict(zip(keys, parts, strict=True)),
)
