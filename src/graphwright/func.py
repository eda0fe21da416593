"""Functions of functions, after `torch.func`: gradients of plain functions of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphwright import autograd
from graphwright.autograd.forward_ad import reaches_others
from graphwright.nn.layers.batch_norm import _BatchNorm
from graphwright.nn.module import Module
from graphwright.nn.utils.stateless import functional_call
from graphwright.runtime.batching import boundary
from graphwright.runtime.batching.vmap import stack_module_state, vmap
from graphwright.runtime.errors import describe
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tape.forward_mode import pushing
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.runtime.trees import leaves_of, of_kind, rebuilt, tensors_of
from graphwright.utils._pytree import tree_structure

_Func = Callable[..., Any]

__all__ = [
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]


def _tracked(value: Any) -> Any:
    """The same structure with tensors that gradients can be taken of.

    Where the outer computation differentiates too, they stay connected to it. Raises ValueError
    for what is no tensor.
    """
    for leaf in leaves_of(value):
        if not isinstance(leaf, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(leaf)}")

    def track(tensor: Tensor) -> Tensor:
        own = boundary.own(tensor) if boundary.depth() else tensor
        if own.requires_grad:
            return own.view_as(own)
        return _without_history(own).requires_grad_()

    return rebuilt(value, iter([track(t) for t in tensors_of(value)]))


def _with_aux(out: Any, of: str) -> tuple[Any, Any]:
    """The output and what was returned beside it. Raises RuntimeError for anything but a pair."""
    if not isinstance(out, tuple) or len(out) != 2:
        raise RuntimeError(
            f"{of}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return out


def _require_tensors(out: Any, of: str) -> None:
    """Raise RuntimeError where a function gives anything but tensors."""
    for leaf in leaves_of(out):
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"{of}: expected f(*primals) to return only tensors, got unsupported type "
                f"{type(leaf)}"
            )


def _without_history(tensor: Tensor) -> Tensor:
    """The same values as a leaf. Under vmap, that of the innermost level alone."""
    return boundary.without_history(tensor) if boundary.depth() else tensor.detach()


class _Transform:
    """Within it gradients are recorded, whatever the levels of vmap below `home` do."""

    def __init__(self, home: int) -> None:
        self.home = home
        self.mode = autograd.enable_grad()

    def __enter__(self) -> None:
        if self.home:
            boundary.begin_transform(self.home)
        self.mode.__enter__()

    def __exit__(self, *exc: Any) -> None:
        self.mode.__exit__(*exc)
        if self.home:
            boundary.end_transform(self.home)


def _gradients(outputs: list[Tensor], inputs: list[Tensor], cotangents: Any, outer: bool) -> Any:
    kept = [i for i, out in enumerate(outputs) if out.requires_grad]
    if not kept:
        return [ops.zeros_like(_without_history(t)) for t in inputs]
    grads = autograd.grad(
        [outputs[i] for i in kept],
        inputs,
        None if cotangents is None else [cotangents[i] for i in kept],
        create_graph=outer,
        retain_graph=True,
        allow_unused=True,
    )
    return [ops.zeros_like(t) if g is None else g for g, t in zip(grads, inputs, strict=True)]


def _connected(outputs: list[Tensor], inputs: list[Tensor]) -> bool:
    """Whether what is computed from tensors of the outside, such as parameters, is recorded."""
    return autograd.is_grad_enabled() and any(reaches_others(out, inputs) for out in outputs)


def _needs_graph(value: Any, home: int) -> bool:
    """Whether a gradient of it is recorded at the level `home` of vmap, or further within."""
    if not autograd.is_grad_enabled():
        return False
    if not home and not boundary.depth():
        return any(t.requires_grad for t in tensors_of(value))
    return any(boundary.is_recorded(t, home) for t in tensors_of(value))


def grad_and_value(
    func: _Func, argnums: int | tuple[int, ...] = 0, has_aux: bool = False
) -> _Func:
    """A function that computes the gradients of `func` and its value. It may be nested.

    Args:
        func: a function whose result is a tensor without dims.
        argnums: the index, or indices, of the arguments that gradients are taken of.
        has_aux: `func` returns `(value, more)`.

    Returns: a function with the arguments of `func` that returns `(gradients, value)`, where
    gradients have the structure of the arguments at `argnums`; `(gradients, (value, more))`
    with `has_aux`.

    Raises:
        RuntimeError: (by that function) the value is no tensor without dims.

    Example:
        >>> gw.func.grad_and_value(lambda x: x**3)(gw.tensor(2.0))
        (tensor(12.), tensor(8.))
    """

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        places = _places(argnums, len(args))
        home = boundary.depth()
        outer = _needs_graph(args, home)
        given = list(args)
        with _Transform(home):
            for place in places:
                given[place] = _tracked(args[place])
            out = func(*given, **kwargs)
            value, aux = _with_aux(out, "grad_and_value(f)(*args)") if has_aux else (out, None)
            if not isinstance(value, Tensor):
                raise RuntimeError(
                    f"Expected the function to return a tensor, got {type(value).__name__}"
                )
            if value.ndim:
                raise RuntimeError(
                    "Expected the function to return a scalar tensor, got tensor with "
                    f"{value.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            inputs = tensors_of([given[place] for place in places])
            grads = iter(_gradients([value], inputs, None, True))
        outer = outer or _connected([value], inputs)
        shaped = tuple(rebuilt(args[place], grads) for place in places)
        if not outer:
            shaped, aux = _detached(shaped), _detached(aux)
            value = _without_history(value)
        result = shaped[0] if isinstance(argnums, int) else shaped
        return result, ((value, aux) if has_aux else value)

    return wrapped


def _detached(value: Any) -> Any:
    return rebuilt(value, iter([_without_history(t) for t in tensors_of(value)]))


def grad(func: _Func, argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> _Func:
    """A function that computes the gradients of `func`.

    Args:
        func: a function whose result is a tensor without dims.
        argnums: the index, or indices, of the arguments that gradients are taken of.
        has_aux: `func` returns `(value, more)`.

    Returns: a function with the arguments of `func` that returns the gradients, in the
    structure of the arguments at `argnums`; `(gradients, more)` with `has_aux`.

    Raises:
        RuntimeError: (by that function) the value is no tensor without dims.

    Example:
        >>> gw.func.grad(lambda x: (x**2).sum())(gw.tensor([1.0, 2.0]))
        tensor([2., 4.])
    """
    both = grad_and_value(func, argnums, has_aux)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return wrapped


def vjp(func: _Func, *primals: Any, has_aux: bool = False) -> Any:
    """Value of `func` and a function of its vector-Jacobian products (reverse mode).

    Args:
        func: a function of tensors, or of structures of them.
        primals: its arguments.
        has_aux: `func` returns `(output, more)`.

    Returns: `(output, f)`, or `(output, f, more)` with `has_aux`. `f(cotangents)`, whose
    argument has the structure of the output, returns the products: a tuple, one for each
    primal.

    Raises:
        RuntimeError: the output is no tensor, or cotangents do not have its structure.

    Example:
        >>> out, f = gw.func.vjp(gw.sin, gw.tensor([0.0]))
        >>> f(gw.tensor([2.0]))
        (tensor([2.]),)
    """
    home = boundary.depth()
    with _Transform(home):
        inputs = _tracked(primals)
        out = func(*inputs)
        value, aux = _with_aux(out, "vjp(f, *primals)") if has_aux else (out, None)
    _require_tensors(value, "vjp(f, *primals)")
    structure = tree_structure(value)

    reached = _connected(tensors_of(value), tensors_of(inputs))

    def pull_back(cotangents: Any) -> Any:
        """The products. Raises RuntimeError unless cotangents are like the output."""
        if tree_structure(cotangents) != structure:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of "
                f"outputs to the function. cotangents: {tree_structure(cotangents)}, primal "
                f"output: {structure}"
            )
        outer = _needs_graph((primals, cotangents), home)
        outer = outer or (reached and autograd.is_grad_enabled())
        with _Transform(home):
            given = tensors_of(cotangents)
            grads = _gradients(tensors_of(value), tensors_of(inputs), given, outer)
        shaped = rebuilt(primals, iter(grads))
        return shaped if outer else _detached(shaped)

    if reached or _needs_graph(primals, home):
        shown = value
    else:
        shown, aux = _detached(value), _detached(aux)
    return (shown, pull_back, aux) if has_aux else (shown, pull_back)


def _places(argnums: int | tuple[int, ...], count: int) -> tuple[int, ...]:
    """The arguments that `argnums` names, of `count`, each once. Raises RuntimeError otherwise."""
    places = (argnums,) if isinstance(argnums, int) else argnums
    if not isinstance(places, tuple) or not all(isinstance(place, int) for place in places):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    for place in places:
        if not -count <= place < count:
            raise RuntimeError(f"Got argnum={place}, but only {count} positional inputs")
    found = tuple(place % count for place in places)
    if not found or len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique and not none, got {argnums}")
    return found


class _Split:
    """`func` as a function of the leaves of the arguments at `places`, and back again."""

    def __init__(
        self, func: _Func, argnums: int | tuple[int, ...], args: tuple[Any, ...], has_aux: bool
    ) -> None:
        self.func, self.args, self.has_aux = func, args, has_aux
        self.single = isinstance(argnums, int)
        self.places = _places(argnums, len(args))
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
        self.out, self.aux = _with_aux(out, of) if self.has_aux else (out, None)
        _require_tensors(self.out, of)
        return tuple(tensors_of(self.out))

    def shaped(self, rows: Any, outer: bool) -> Any:
        """rows[output leaf][input leaf] in the structures of output and arguments."""
        parts = []
        for row in rows:
            inputs = rebuilt(self.chosen, iter(row))
            parts.append(_Part(inputs[0] if self.single else inputs))
        result = _filled(self.out, iter(parts))
        aux = self.aux if outer else _detached(self.aux)
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
    func: _Func,
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> _Func:
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


def _differentiated(func: _Func, argnums: Any, has_aux: bool, jacobians: _Func) -> _Func:
    """`func`'s Jacobians, of which `jacobians(outputs, inputs, outer)` gives those of tensors."""

    def wrapped(*args: Any) -> Any:
        split = _Split(func, argnums, args, has_aux)
        home = boundary.depth()
        outer = _needs_graph(args, home)
        with _Transform(home):
            inputs = _tracked(tensors_of(split.chosen))
            outputs = list(split(*inputs))
        outer = outer or _connected(outputs, inputs)
        with _Transform(home):
            found = jacobians(outputs, inputs, outer)
        return split.shaped(found if outer else _detached(found), outer)

    return wrapped


def _jacobians(out: Tensor, inputs: list[Tensor], outer: bool, chunk_size: Any) -> list[Tensor]:
    """The Jacobian of one tensor by each of the inputs: a row for each of its elements."""
    shape, count = tuple(out.shape), out.numel()
    if not out.requires_grad or not count:
        return [t.new_zeros((*shape, *t.shape)) for t in inputs]
    basis = ops.eye(count, dtype=out.dtype).reshape((count, *shape))

    def row(cotangent: Tensor) -> Any:
        return _gradients([out], inputs, [cotangent], outer)

    found = vmap(row, chunk_size=chunk_size)(basis)
    return [g.reshape((*shape, *t.shape)) for g, t in zip(found, inputs, strict=True)]


def jvp(
    func: _Func, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
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
    outer = _needs_graph((primals, tangents), home)
    with _Transform(home):
        inputs = _tracked(leaves)
        outputs = list(split(*inputs))
        if strict and not all(_depends(out, inputs) for out in outputs):
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the "
                "inputs. This is not allowed with strict=True."
            )
    outer = outer or _connected(outputs, inputs)
    with _Transform(home):
        probes = _tracked([ops.zeros_like(_without_history(out)) for out in outputs])
        rows = pushing(_gradients, outputs, inputs, probes, True)
        products = _gradients(rows, probes, vectors, outer)
    found = (outputs, products) if outer else (_detached(outputs), _detached(products))
    shaped = [rebuilt(split.out, iter(leaves)) for leaves in found]
    aux = split.aux if outer else _detached(split.aux)
    return (*shaped, aux) if has_aux else tuple(shaped)


def _depends(out: Tensor, inputs: list[Tensor]) -> bool:
    if not out.requires_grad:
        return False
    found = autograd.grad(
        [out], inputs, [ops.zeros_like(out)], retain_graph=True, allow_unused=True
    )
    return any(g is not None for g in found)


def linearize(func: _Func, *primals: Any) -> tuple[Any, _Func]:
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
    func: _Func,
    argnums: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    randomness: str = "error",
) -> _Func:
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
        probes = _tracked([ops.zeros_like(_without_history(out)) for out in outputs])
        rows = pushing(_gradients, outputs, inputs, probes, True)
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
    basis = ops.eye(count, dtype=row.dtype).reshape((count, *shape))

    def column(tangent: Tensor) -> Any:
        return _gradients([row], probes, [tangent], outer)

    found = vmap(column, chunk_size=chunk_size)(basis)
    return [ops.movedim(c, 0, -1).reshape((*p.shape, *shape))
            for c, p in zip(found, probes, strict=True)]  # fmt: skip


def hessian(func: _Func, argnums: int | tuple[int, ...] = 0) -> _Func:
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


def functionalize(func: _Func, *, remove: str = "mutations") -> _Func:
    """The function itself: captured graphs are free of in-place changes whatever their source.

    Args:
        func: a function.
        remove: "mutations" or "mutations_and_views".

    Returns: `func`.

    Raises:
        RuntimeError: `remove` is neither.

    Example:
        >>> gw.func.functionalize(gw.sin)(gw.tensor(0.0))
        tensor(0.)
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}"
        )
    return func


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Batch normalisations of a module made to use the batch's statistics, in place.

    Under `vmap` running statistics, which all examples share, cannot be updated by each of
    them.

    Args:
        root: a Module; it and all modules within are changed.

    Returns: `root`.

    Example:
        >>> gw.func.replace_all_batch_norm_modules_(nn.BatchNorm1d(2)).running_mean is None
        True
    """
    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
