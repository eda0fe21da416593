"""Pruning: parameters multiplied by masks of zeros and ones, after `torch.nn.utils.prune`.

A pruned parameter `name` is kept as the parameter `name_orig` and the buffer `name_mask`;
`module.name` is their product, made anew before every forward pass by a hook, which is the
pruning method itself. `remove` makes it a parameter again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from graphwright.nn.module import Module
from graphwright.runtime.errors import require_kind, require_tensor
from graphwright.runtime.ops import functions as ops
from graphwright.runtime.tensor.tensor import Tensor

Amount = int | float


class BasePruningMethod(ABC):
    """A way of choosing what to prune; subclasses give `compute_mask` and `PRUNING_TYPE`.

    `PRUNING_TYPE`: "unstructured" chooses among the elements that are left, "structured" among
    slices along `self.dim` that are not all zero, "global" among all elements.
    """

    PRUNING_TYPE = "unstructured"
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        """The hook before the forward pass."""
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for the importances `t`; zeros of `default_mask` stay zeros."""

    def apply_mask(self, module: Module) -> Tensor:
        """The parameter times its mask."""
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(original.dtype) * original

    @classmethod
    def apply(
        cls,
        module: Module,
        name: str,
        *args: Any,
        importance_scores: Tensor | None = None,
        **kwargs: Any,
    ) -> BasePruningMethod:
        """Prune `module.name` by this method, besides what was pruned before.

        Raises AssertionError where scores of another shape are given.
        """
        require_kind(cls.__name__, "module", module, Module)
        if importance_scores is not None:
            require_tensor(cls.__name__, "importance_scores", importance_scores)
        method = cls(*args, **kwargs)
        method._tensor_name = name
        former = next((h for _, h in _hooks(module) if h._tensor_name == name), None)
        weight = getattr(module, name)
        if importance_scores is not None and importance_scores.shape != weight.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, "
                f"got {importance_scores.shape} vs {weight.shape}"
            )
        scores = weight if importance_scores is None else importance_scores
        if former is None:
            hook, mask = method, ops.ones_like(weight)
        else:
            hook = _joined(former, method)
            mask = getattr(module, name + "_mask").detach().clone()
        mask = hook.compute_mask(scores.detach(), mask)
        if former is None:
            module.register_parameter(name + "_orig", module._parameters.pop(name))
        else:
            _remove_hook(module, name)
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, hook.apply_mask(module))
        module.register_forward_pre_hook(hook)
        return hook

    def prune(
        self,
        t: Tensor,
        default_mask: Tensor | None = None,
        importance_scores: Tensor | None = None,
    ) -> Tensor:
        """`t` pruned once, without a module. Raises ValueError for scores of another shape."""
        if importance_scores is not None and importance_scores.shape != t.shape:
            raise ValueError("importance_scores should have the same shape as tensor t")
        scores = t if importance_scores is None else importance_scores
        default = ops.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default)

    def remove(self, module: Module) -> None:
        """Make the product the parameter, for good."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if name in module.__dict__:
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        assert original is not None
        original.data = weight.data
        del module._buffers[name + "_mask"]
        module.register_parameter(name, original)


class PruningContainer(BasePruningMethod):
    """Several methods of one parameter; each chooses from what the former ones have left."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        methods = args[0] if len(args) == 1 and isinstance(args[0], Iterable) else args
        for number, method in enumerate(methods):
            if number == 0:
                self._tensor_name = method._tensor_name
                self._pruning_methods = (method,)
            else:
                self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add one. Raises TypeError for what is none, ValueError for that of another parameter."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found "
                f"'{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: int) -> BasePruningMethod:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of the last method, chosen from what `default_mask` keeps."""
        return _next_mask(self._pruning_methods[-1], t, default_mask)


def _next_mask(method: BasePruningMethod, t: Tensor, mask: Tensor) -> Tensor:
    """The mask of a further method. Raises AttributeError for an unknown PRUNING_TYPE."""
    mask = mask.to(t.dtype)
    kind = method.PRUNING_TYPE
    if kind == "unstructured":
        kept = mask == 1
        new = mask.clone()
        new[kept] = method.compute_mask(t[kept], mask[kept]).to(t.dtype)
        return new
    if kind == "global":
        return method.compute_mask(t, mask)
    if kind != "structured":
        raise AttributeError(f"Unrecognized PRUNING_TYPE {kind}")
    dim = method.dim % t.ndim  # type: ignore[attr-defined]
    others = [d for d in range(t.ndim) if d != dim]
    kept = ops.nonzero(ops.sum(mask, others)).reshape(-1)
    part = method.compute_mask(ops.index_select(t, dim, kept), ops.index_select(mask, dim, kept))
    return ops.index_copy(mask, dim, kept, part.to(mask.dtype))


def _joined(former: BasePruningMethod, method: BasePruningMethod) -> PruningContainer:
    """The container of what has pruned a parameter so far, and one method more."""
    name = method._tensor_name
    container = PruningContainer()
    container._tensor_name = name
    methods = former if isinstance(former, PruningContainer) else (former,)
    container._pruning_methods = (*methods, method)
    return container


def _hooks(module: Module) -> list[tuple[int, BasePruningMethod]]:
    require_kind("prune", "module", module, Module)
    hooks = module._forward_pre_hooks.items()
    return [(key, hook) for key, hook in hooks if isinstance(hook, BasePruningMethod)]


def _remove_hook(module: Module, name: str) -> BasePruningMethod | None:
    for key, hook in _hooks(module):
        if hook._tensor_name == name:
            del module._forward_pre_hooks[key]
            return hook
    return None


class Identity(BasePruningMethod):
    """Prunes nothing, but makes the parameter a product with a mask of ones."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _Some(BasePruningMethod):
    """Prunes `amount`: a number of elements or slices, or a share of them."""

    def __init__(self, amount: Amount) -> None:
        _validate_amount(amount)
        self.amount = amount


class RandomUnstructured(_Some):
    """Prunes elements at random."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return _without_least(ops.rand_like(t), default_mask, self.amount)


class L1Unstructured(_Some):
    """Prunes the elements with the smallest magnitude."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return _without_least(ops.abs(t), default_mask, self.amount)


def _without_least(scores: Tensor, mask: Tensor, amount: Amount) -> Tensor:
    """The mask with zeros where the scores are smallest."""
    count = _count(amount, scores.numel())
    new = mask.clone().contiguous()
    if count:
        least = ops.topk(scores.reshape(-1), count, largest=False).indices
        new.view(-1)[least] = 0
    return new


class RandomStructured(_Some):
    """Prunes slices along `dim` at random."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Amount, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        _validate_dims(t, self.dim)
        scores = ops.rand((t.shape[self.dim],), device=t.device)
        return _without_slices(scores, default_mask, self.amount, self.dim)


class LnStructured(_Some):
    """Prunes the slices along `dim` with the smallest norm of order `n`."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Amount, n: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.n, self.dim = n, dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        _validate_dims(t, self.dim)
        others = [d for d in range(t.ndim) if d != self.dim % t.ndim]
        return _without_slices(
            ops.norm(t, self.n, others), default_mask, self.amount, self.dim
        )


def _without_slices(scores: Tensor, mask: Tensor, amount: Amount, dim: int) -> Tensor:
    """The mask times zeros for the slices with the smallest scores."""
    count = _count(amount, len(scores))
    if not count:
        return mask
    kept = ops.zeros_like(scores, dtype=mask.dtype)
    kept[ops.topk(scores, len(scores) - count).indices] = 1
    shape = [1] * mask.ndim
    shape[dim] = -1
    return mask * kept.reshape(shape)


class CustomFromMask(BasePruningMethod):
    """Prunes what a given mask leaves out."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        require_tensor("CustomFromMask", "mask", mask)
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise ValueError(
                f"the mask has shape {list(self.mask.shape)}, the parameter "
                f"{list(default_mask.shape)}"
            )
        return default_mask * self.mask.to(default_mask.dtype)


def _validate_amount(amount: Any) -> None:
    """Raise TypeError for what is no number, ValueError for one that is out of range."""
    if not isinstance(amount, int | float):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (isinstance(amount, float) and amount > 1.0):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
            "integer"
        )


def _count(amount: Amount, total: int) -> int:
    """How many of `total` are meant. Raises ValueError where there are fewer."""
    if isinstance(amount, int) and amount > total:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to prune={total}"
        )
    return amount if isinstance(amount, int) else round(amount * total)


def _validate_dims(t: Tensor, dim: int) -> None:
    if t.ndim <= 1:
        raise ValueError(
            f"Structured pruning can only be applied to multidimensional tensors. Found tensor "
            f"of shape {list(t.shape)} with {t.ndim} dims"
        )
    if not -t.ndim <= dim < t.ndim:
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def identity(module: Module, name: str) -> Module:
    """Make `module.name` a product with a mask of ones."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: Amount) -> Module:
    """Prune elements of `module.name` at random; `amount` of them, or that share."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Module, name: str, amount: Amount, importance_scores: Tensor | None = None
) -> Module:
    """Prune the elements of `module.name` that are smallest, or whose scores are."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: Amount, dim: int) -> Module:
    """Prune slices of `module.name` along `dim` at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module,
    name: str,
    amount: Amount,
    n: Any,
    dim: int,
    importance_scores: Tensor | None = None,
) -> Module:
    """Prune the slices of `module.name` along `dim` whose norm of order `n` is smallest."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune what `mask` leaves out of `module.name`."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: Mapping[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune (module, name) pairs by comparing all their elements with one another.

    Raises TypeError where the method is not unstructured, or for what is no sequence of pairs.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    pairs = list(parameters)
    given = importance_scores or {}
    if not isinstance(given, Mapping):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    scores = [given.get(pair, getattr(*pair)).detach() for pair in pairs]
    masks = [
        getattr(module, name + "_mask", ops.ones_like(getattr(module, name)))
        for module, name in pairs
    ]
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    flat = [ops.cat([part.reshape(-1) for part in parts]) for parts in (scores, masks)]
    new = _next_mask(method, *flat)
    start = 0
    for (module, name), mask in zip(pairs, masks, strict=True):
        custom_from_mask(module, name, new[start : start + mask.numel()].reshape(mask.shape))
        start += mask.numel()


def remove(module: Module, name: str) -> Module:
    """Make what is left of `module.name` an ordinary parameter. ValueError if never pruned."""
    hook = _remove_hook(module, name)
    if hook is None:
        raise ValueError(
            f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
        )
    hook.remove(module)
    return module


def is_pruned(module: Module) -> bool:
    """Whether a parameter of the module, or of one below it, is pruned."""
    require_kind("is_pruned", "module", module, Module)
    return any(bool(_hooks(part)) for part in module.modules())
