"""Jacobians and Hessians, and derivatives along directions: `jvp`."""

from __future__ import annotations

from typing import Any

from graphwright import autograd
from graphwright.func.tracking import (
    Func,
    Transform,
    chosen_places,
    connected,
    detached,
    gradients_of,
    needs_graph,
    require_tensors,
    tracked,
    with_aux,
    without_history,
)
from graphwright.runtime.batching import boundary
from graphwright.runtime.batching.vmap import vmap
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tape.forward_mode import pushing
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.runtime.trees import leaves_of, of_kind, rebuilt, tensors_of
from graphwright.utils._pytree import tree_structure


class _Split:
    """`func` as a function of the leaves of the arguments at `places`, and back again."""

    def __init__(
        self, func: Func, argnums: int | tuple[int, ...], args: tuple[Any, ...], has_aux: bool
    ) -> None:
        self.func, self.args, self.has_aux = func, args, has_aux
        self.single = isinstance(argnums, int)
        self.places = chosen_places(argnums, len(args))
        self.chosen = tuple(args[place] for place in self.places)
        self.aux: Any = None
        self.out: Any = None

    def __call__(self, *leaves: Tensor) -> tuple[Tensor, ...]:
        """The output's leaves."""
        given = list(self.args)
        for place, value in zip(
            self.places, rebuilt(self.chosen, iter(leaves)), strict=True
        ):
            given[place] = value
        out = self.func(*given)
        of = "jacobian(f)(*args)"
        self.out, self.aux = with_aux(out, of) if self.has_aux else (out, None)
        require_tensors(self.out, of)
        return tuple(tensors_of(self.out))

    def shaped(self, rows: Any, outer: bool) -> Any:
        """rows[output leaf][input leaf] in the structures of output and arguments."""
        parts = []
        for row in rows:
            inputs = rebuilt(self.chosen, iter(row))
            parts.append(_Part(inputs[0] if self.single else inputs))
        result = _filled(self.out, iter(parts))
        aux = self.aux if outer else detached(self.aux)
        return (result, aux) if self.has_aux else result


class _Part:
    """What stands for one leaf of an output: a structure that is not looked into."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _filled(value: Any, parts: Any) -> Any:
    """`value` with what the next of `parts` holds in place of each tensor."""
    if isinstance(value, Tensor):
        return next(parts).value
    if isinstance(value, dict):
        return {key: _filled(part, parts) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return of_kind(value, [_filled(part, parts) for part in value])
    return value


def jacrev(
    func: Func,
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Func:
    """A function that computes the Jacobians of `func`, row by row (reverse mode).

    Args:
        func: a function of tensors, or of structures of them.
        argnums: the index, or indices, of the arguments that Jacobians are taken of.
        has_aux: `func` returns `(output, more)`.
        chunk_size: how many rows are computed at once; all if None.

    Returns: a function with the arguments of `func` that returns Jacobians of shape
    `(*output, *argument)`: in the structure of the output, and within it in that of the
    arguments at `argnums`; `(Jacobians, more)` with `has_aux`.

    Raises:
        RuntimeError: (by that function) there is no such argument.

    Example:
        >>> gw.func.jacrev(lambda x: x**2)(gw.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """

    def by_rows(outputs: list[Tensor], inputs: list[Tensor], outer: bool) -> Any:
        return [_jacobians(out, inputs, outer, chunk_size) for out in outputs]

    return _differentiated(func, argnums, has_aux, by_rows)


def _differentiated(func: Func, argnums: Any, has_aux: bool, jacobians: Func) -> Func:
    """`func`'s Jacobians, of which `jacobians(outputs, inputs, outer)` gives those of tensors."""

    def wrapped(*args: Any) -> Any:
        split = _Split(func, argnums, args, has_aux)
        home = boundary.depth()
        outer = needs_graph(args, home)
        with Transform(home):
            inputs = tracked(tensors_of(split.chosen))
            outputs = list(split(*inputs))
        outer = outer or connected(outputs, inputs)
        with Transform(home):
            found = jacobians(outputs, inputs, outer)
        return split.shaped(found if outer else detached(found), outer)

    return wrapped


def _jacobians(out: Tensor, inputs: list[Tensor], outer: bool, chunk_size: Any) -> list[Tensor]:
    """The Jacobian of one tensor by each of the inputs: a row for each of its elements."""
    shape, count = tuple(out.shape), out.numel()
    if not out.requires_grad or not count:
        return [t.new_zeros((*shape, *t.shape)) for t in inputs]
    basis = ops.eye(count, dtype=out.dtype, device=out.device).reshape((count, *shape))

    def row(cotangent: Tensor) -> Any:
        return gradients_of([out], inputs, [cotangent], outer)

    found = vmap(row, chunk_size=chunk_size)(basis)
    return [g.reshape((*shape, *t.shape)) for g, t in zip(found, inputs, strict=True)]


def jvp(
    func: Func, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> Any:
    """Value of `func` and its Jacobian-vector product, by differentiating twice in reverse mode.

    Args:
        func: a function of tensors, or of structures of them.
        primals: its arguments, a tuple.
        tangents: a tangent for each primal, of the same structure and shapes.
        strict: an output that does not depend on the primals is an error; its product is 0 if
            False.
        has_aux: `func` returns `(output, more)`.

    Returns: `(output, product)`, each of the structure of the output; `(output, product,
    more)` with `has_aux`.

    Raises:
        RuntimeError: primals and tangents do not correspond, or an output does not depend on
            the primals with `strict`.

    Example:
        >>> gw.func.jvp(gw.sin, (gw.tensor([0.0]),), (gw.tensor([2.0]),))
        (tensor([0.]), tensor([2.]))
    """
    tuples = isinstance(primals, tuple) and isinstance(tangents, tuple)
    if not tuples or len(primals) != len(tangents):
        raise RuntimeError("jvp: primals and tangents must be tuples of the same length")
    vectors = tensors_of(tangents)
    split = _Split(func, tuple(range(len(primals))), primals, has_aux)
    leaves = tensors_of(primals)
    if [v.shape for v in vectors] != [t.shape for t in leaves]:
        raise RuntimeError("jvp: tangents must have the shapes of the primals")
    home = boundary.depth()
    outer = needs_graph((primals, tangents), home)
    with Transform(home):
        inputs = tracked(leaves)
        outputs = list(split(*inputs))
        if strict and not all(_depends(out, inputs) for out in outputs):
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the "
                "inputs. This is not allowed with strict=True."
            )
    outer = outer or connected(outputs, inputs)
    with Transform(home):
        probes = tracked([ops.zeros_like(without_history(out)) for out in outputs])
        rows = pushing(gradients_of, outputs, inputs, probes, True)
        products = gradients_of(rows, probes, vectors, outer)
    found = (outputs, products) if outer else (detached(outputs), detached(products))
    shaped = [rebuilt(split.out, iter(leaves)) for leaves in found]
    aux = split.aux if outer else detached(split.aux)
    return (*shaped, aux) if has_aux else tuple(shaped)


def _depends(out: Tensor, inputs: list[Tensor]) -> bool:
    if not out.requires_grad:
        return False
    found = autograd.grad(
        [out], inputs, [ops.zeros_like(out)], retain_graph=True, allow_unused=True
    )
    return any(g is not None for g in found)


def linearize(func: Func, *primals: Any) -> tuple[Any, Func]:
    """Value of `func` and its Jacobian there, as a function of tangents.

    Args:
        func: a function of tensors, or of structures of them.
        primals: its arguments.

    Returns: `(output, f)`; `f(*tangents)` returns the Jacobian times the tangents.

    Raises:
        RuntimeError: (by `f`) the tangents do not have the structure, shapes and dtypes of
            the primals.

    Example:
        >>> out, f = gw.func.linearize(gw.sin, gw.tensor([0.0]))
        >>> f(gw.tensor([2.0]))
        tensor([2.])
    """
    value = func(*primals)

    def pushed(*tangents: Any) -> Any:
        if tree_structure(tangents) != tree_structure(primals):
            raise RuntimeError(
                f"Expected the tangents {tree_structure(tangents)} to have the same argspec as "
                f"the primals {tree_structure(primals)}"
            )
        pairs = zip(leaves_of(tangents), leaves_of(primals), strict=True)
        for place, (tangent, primal) in enumerate(pairs):
            if (tangent.shape, tangent.dtype) != (primal.shape, primal.dtype):
                raise RuntimeError(
                    f"tangent:{place}, {describe(tangent)}, does not match the primal, "
                    f"{describe(primal)}"
                )
        return jvp(func, primals, tangents)[1]

    return value, pushed


def jacfwd(
    func: Func,
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    randomness: str = "error",
) -> Func:
    """A function that computes the Jacobians of `func`, column by column (forward mode).

    A column is a `jvp`: for more outputs than inputs.

    Args:
        func: a function of tensors, or of structures of them.
        argnums: the index, or indices, of the arguments that Jacobians are taken of.
        has_aux: `func` returns `(output, more)`.
        chunk_size: how many columns are computed at once; all of an argument if None.
        randomness: as for `vmap`: "error", "same" or "different".

    Returns: a function as that of `jacrev`.

    Raises:
        RuntimeError: `randomness` is unknown, or (by that function) `func` cannot be
            differentiated twice.

    Example:
        >>> gw.func.jacfwd(lambda x: x**2)(gw.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    if randomness not in ("error", "same", "different"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same', "
            f"got {randomness}"
        )

    def by_columns(outputs: list[Tensor], inputs: list[Tensor], outer: bool) -> Any:
        probes = tracked([ops.zeros_like(without_history(out)) for out in outputs])
        rows = pushing(gradients_of, outputs, inputs, probes, True)
        pairs = zip(rows, inputs, strict=True)
        columns = [_columns(row, tensor, probes, outer, chunk_size) for row, tensor in pairs]
        return [list(of_output) for of_output in zip(*columns, strict=True)]

    return _differentiated(func, argnums, has_aux, by_columns)


def _columns(
    row: Tensor, tensor: Tensor, probes: list[Tensor], outer: bool, chunk_size: int | None
) -> list[Tensor]:
    """The Jacobians by `tensor` of all outputs.

    `row` is the sum over the outputs of its gradient for `probes`, which it is linear in: the
    gradient of a part of it by the probes is the column of that part.
    """
    shape, count = tuple(tensor.shape), tensor.numel()
    if not row.requires_grad or not count:
        return [probe.new_zeros((*probe.shape, *shape)) for probe in probes]
    basis = ops.eye(count, dtype=row.dtype, device=row.device).reshape((count, *shape))

    def column(tangent: Tensor) -> Any:
        return gradients_of([row], probes, [tangent], outer)

    found = vmap(column, chunk_size=chunk_size)(basis)
    return [ops.movedim(c, 0, -1).reshape((*p.shape, *shape))
            for c, p in zip(found, probes, strict=True)]  # fmt: skip


def hessian(func: Func, argnums: int | tuple[int, ...] = 0) -> Func:
    """A function that computes the second derivatives of `func`: `jacrev` of `jacrev`.

    Args:
        func: a function of tensors, or of structures of them.
        argnums: the index, or indices, of the arguments that derivatives are taken of.

    Returns: a function with the arguments of `func` that returns Hessians of shape `(*output,
    *argument, *argument)`.

    Example:
        >>> gw.func.hessian(lambda x: (x**3).sum())(gw.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    return jacrev(jacrev(func, argnums), argnums)
