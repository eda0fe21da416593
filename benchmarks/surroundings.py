"""What surrounds ops, on few elements: attributes, indexing, creation, modules, losses, steps.

A case makes its call in a library of PyTorch's names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Call = Callable[[], object]

# name: what is evaluated, of the library m, x [10, 10], v [10], i [3] indices, mask [10, 10]
EXPRESSIONS = {
    "attribute": (
        "x.shape", "x.shape[0]", "x.dtype", "x.device", "x.ndim", "x.size()", "x.size(0)",
        "x.numel()", "x.dim()", "x.stride()", "x.T", "x.is_contiguous()", "x.requires_grad",
        "x.grad", "x.is_leaf", "x.data", "x.detach()", "s.item()", "float(s)", "int(s)",
        "bool(s)", "v.tolist()", "x.tolist()", "len(x)", "repr(v)", "repr(x)", "x.numpy()",
        "list(v)", "x.float()", "x.double()", "x.to(m.float64)", "x.to('cpu')", "x.contiguous()",
        "x.view(100)", "x.view(-1)", "x.reshape(5, 20)", "x.t()", "x.transpose(0, 1)",
        "x.permute(1, 0)", "x.unsqueeze(0)", "x.squeeze()", "x.flatten()", "x.expand(3, 10, 10)",
        "x.clone()", "x.type(m.int64)", "hash(x)", "m.is_tensor(x)",
    ),
    "operator": (
        "x + y", "x - y", "x * y", "x / y", "x @ y", "x ** 2", "-x", "x + 1", "1 + x", "2 * x",
        "1 / x", "x > 0", "x == y", "~mask", "mask & mask", "x // 2",
        "x % 2", "abs(x)", "v @ v", "x @ v", "v @ x",
    ),
    "index": (
        "x[0]", "x[0, 1]", "x[:, 1]", "x[1:3]", "x[1:3, 2:4]", "x[::2]", "x[...]", "x[None]",
        "x[..., 0]", "x[-1]", "x[mask]", "x[i]", "x[:, i]", "x[i, i]", "x[i, 1]", "x[[0, 1]]",
        "x[s0]", "x.__setitem__(0, 1.0)", "x.__setitem__((0, 1), 1.0)",
        "x.__setitem__(0, v)", "x.__setitem__(mask, 1.0)", "x.__setitem__(i, 1.0)",
        "x.__setitem__((slice(None), 1), v)", "x.__setitem__(slice(1, 3), 0.5)",
    ),
    "in place": (
        "x.add_(1.0)", "x.mul_(1.0)", "x.zero_()", "x.fill_(1.0)", "x.copy_(y)", "x.add_(y)",
        "x.clamp_(0, 1)", "x.uniform_()", "x.normal_()", "x.relu_()", "x.sub_(y, alpha=0.1)",
        "x.div_(2.0)", "x.masked_fill_(mask, 0.0)", "x.addcmul_(y, y, value=0.1)",
        "x.lerp_(y, 0.1)",
    ),
    "create": (
        "m.tensor([1, 2, 3])", "m.tensor(1.0)", "m.tensor([[1.0, 2.0], [3.0, 4.0]])",
        "m.tensor(a)", "m.as_tensor(a)", "m.from_numpy(a)", "m.zeros(10, 10)", "m.zeros((10, 10))",
        "m.ones(10)", "m.empty(10, 10)", "m.full((10,), 2.0)", "m.arange(10)",
        "m.arange(0, 1, 0.1)", "m.linspace(0, 1, 10)", "m.eye(5)", "m.zeros_like(x)",
        "m.ones_like(x)", "m.empty_like(x)", "m.full_like(x, 2.0)", "m.rand_like(x)",
        "m.randn_like(x)", "m.rand(10, 10)", "m.randn(10, 10)", "m.randint(0, 10, (10,))",
        "m.randperm(10)", "m.bernoulli(p)", "m.normal(0.0, 1.0, (10,))", "m.multinomial(p, 2)",
        "x.new_zeros(3)", "x.new_tensor([1.0])",
        "m.nn.functional.one_hot(i, 10)", "m.manual_seed(0)",
    ),
    "joining": (
        "m.cat([x, y])", "m.cat([x, y], 1)", "m.stack([x, y])", "m.stack([v, v, v])",
        "m.stack([s, s, s])", "m.split(x, 5)", "m.chunk(x, 2)", "x.unbind()", "m.hstack([x, y])",
        "m.vstack([x, y])", "m.where(mask, x, y)", "m.where(mask, x, 0.0)", "m.meshgrid(v, v)",
        "m.broadcast_tensors(x, v)",
    ),
    "functional": (
        "F.linear(x, y, v)", "F.linear(x, y)", "F.relu(x)", "F.gelu(x)", "F.softmax(x, -1)",
        "F.log_softmax(x, -1)", "F.dropout(x, 0.5)", "F.dropout(x, 0.5, False)",
        "F.layer_norm(x, (10,))", "F.layer_norm(x, (10,), v, v)", "F.mse_loss(x, y)",
        "F.l1_loss(x, y)", "F.cross_entropy(x, k)", "F.nll_loss(x, k)", "F.smooth_l1_loss(x, y)",
        "F.binary_cross_entropy_with_logits(x, p)", "F.kl_div(x, p)", "F.embedding(i, x)",
        "F.normalize(x)", "F.cosine_similarity(x, y)", "F.pad(x, (1, 1))", "F.one_hot(i)",
        "F.scaled_dot_product_attention(q, q, q)", "F.conv2d(g, w)", "F.conv1d(g1, w1)",
        "F.max_pool2d(g, 2)", "F.avg_pool2d(g, 2)", "F.adaptive_avg_pool2d(g, 1)",
        "F.interpolate(g, scale_factor=2)", "F.batch_norm(x, v, p[0], training=False)",
        "m.einsum('ij,jk->ik', x, y)", "m.einsum('bij,bjk->bik', q, q)", "m.matmul(q, q)",
        "m.bmm(q, q)", "m.outer(v, v)", "m.dot(v, v)", "m.mv(x, v)", "m.addmm(y, x, y)",
        "m.norm(x)", "x.norm()", "m.linalg.vector_norm(x)", "m.topk(x, 3)", "m.sort(x)",
        "m.argsort(x)", "m.median(x)", "m.median(x, 1)", "m.max(x)", "m.max(x, 1)",
        "m.argmax(x, 1)", "m.cumsum(x, 0)", "m.gather(x, 1, kk)", "m.scatter(x, 1, kk, y)",
        "x.scatter_add(1, kk, y)", "m.index_select(x, 0, i)", "m.take_along_dim(x, kk, 1)",
        "m.tril(x)", "m.triu(x)", "m.flip(x, (0,))", "m.roll(x, 1)", "m.var(x)", "m.std(x, 1)",
        "m.nonzero(mask)", "m.unique(i)", "m.isclose(x, y)", "m.allclose(x, y)", "m.equal(x, y)",
        "m.all(mask)", "m.any(mask)", "m.bincount(i)", "m.searchsorted(v, v)", "m.clamp(x, 0, 1)",
        "m.is_grad_enabled()",
    ),
}


def names(m: Any) -> dict[str, Any]:
    """What the expressions use."""
    rng = np.random.default_rng(0)

    def floats(*shape: int) -> Any:
        return m.from_numpy(rng.random(shape, dtype=np.float32) - np.float32(0.5))

    x = floats(10, 10)
    return {
        "m": m, "F": m.nn.functional, "x": x, "y": floats(10, 10), "v": floats(10),
        "i": m.tensor([1, 5, 7]), "mask": x > 0, "s": m.tensor(1.5), "s0": m.tensor(3),
        "a": rng.random((3, 3)), "p": floats(10, 10) + 0.5, "k": m.tensor([1, 0] * 5),
        "kk": m.from_numpy(rng.integers(0, 10, (10, 3))), "q": floats(2, 6, 8),
        "g": floats(1, 3, 8, 8), "w": floats(4, 3, 3, 3), "g1": floats(1, 3, 8),
        "w1": floats(4, 3, 3),
    }  # fmt: skip


def expression(text: str) -> Callable[[Any], Call]:
    """The maker of a call that evaluates an expression."""

    def make(m: Any) -> Call:
        call: Call = eval(f"lambda: {text}", names(m))
        call()
        return call

    return make


# name: how the module is made, the shape of its input
MODULES: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "Identity": (lambda nn: nn.Identity(), (10, 10)),
    "Linear": (lambda nn: nn.Linear(10, 10), (10, 10)),
    "ReLU": (lambda nn: nn.ReLU(), (10, 10)),
    "GELU": (lambda nn: nn.GELU(), (10, 10)),
    "Softmax": (lambda nn: nn.Softmax(-1), (10, 10)),
    "Flatten": (lambda nn: nn.Flatten(), (10, 2, 5)),
    "Conv1d": (lambda nn: nn.Conv1d(3, 4, 3), (1, 3, 8)),
    "Conv2d": (lambda nn: nn.Conv2d(3, 4, 3, padding=1), (1, 3, 8, 8)),
    "MaxPool2d": (lambda nn: nn.MaxPool2d(2), (1, 3, 8, 8)),
    "LayerNorm": (lambda nn: nn.LayerNorm(10), (10, 10)),
    "BatchNorm1d": (lambda nn: nn.BatchNorm1d(10), (10, 10)),
    "BatchNorm1d, evaluated": (lambda nn: nn.BatchNorm1d(10).eval(), (10, 10)),
    "GroupNorm": (lambda nn: nn.GroupNorm(2, 4), (2, 4, 5)),
    "Dropout": (lambda nn: nn.Dropout(0.5), (10, 10)),
    "Dropout, evaluated": (lambda nn: nn.Dropout(0.5).eval(), (10, 10)),
    "Sequential of 4": (
        lambda nn: nn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 10), nn.Tanh()),
        (10, 10),
    ),
    "MultiheadAttention": (lambda nn: Several(nn.MultiheadAttention(8, 2), 3), (5, 2, 8)),
    "TransformerEncoderLayer": (
        lambda nn: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (2, 5, 8),
    ),
    "LSTM": (lambda nn: nn.LSTM(8, 8), (4, 2, 8)),
    "GRU": (lambda nn: nn.GRU(8, 8), (4, 2, 8)),
    "RNN": (lambda nn: nn.RNN(8, 8), (4, 2, 8)),
    "LSTMCell": (lambda nn: nn.LSTMCell(8, 8), (2, 8)),
}  # fmt: skip


class Several:
    """A module that is called with its input several times over."""

    def __init__(self, module: Any, times: int) -> None:
        self.module = module
        self.times = times

    def __call__(self, x: Any) -> Any:
        return self.module(*[x] * self.times)


def first(out: Any) -> Any:
    return out if hasattr(out, "backward") else first(out[0])


def module(name: str, *, gradient: bool, backward: bool = False) -> Callable[[Any], Call]:
    """The maker of a module's call, without recording, recorded, or with its backward."""
    create, shape = MODULES[name]

    def make(m: Any) -> Call:
        made = create(m.nn)
        x = m.from_numpy(np.random.default_rng(0).random(shape, dtype=np.float32))
        x = x.requires_grad_(backward)
        with m.no_grad():
            gradient_of_output = m.ones_like(first(made(x)))

        def forward() -> object:
            return made(x)

        def without_recording() -> object:
            with m.no_grad():
                return made(x)

        def both() -> object:
            return first(made(x)).backward(gradient_of_output)

        return both if backward else forward if gradient else without_recording

    return make


def embedding(m: Any) -> Call:
    """The rows of ten indices."""
    made, indices = m.nn.Embedding(20, 8), m.arange(10)
    return lambda: made(indices)


def loss(name: str, *, classes: bool = False) -> Callable[[Any], Call]:
    """The maker of a loss with its backward."""

    def make(m: Any) -> Call:
        values = names(m)
        x = values["x"].requires_grad_()
        target = values["k"] if classes else values["p"]
        function = getattr(m.nn.functional, name)
        return lambda: function(x, target).backward()

    return make


OPTIMISERS: dict[str, dict[str, Any]] = {
    "SGD": {"lr": 1e-3}, "Adam": {"lr": 1e-3}, "AdamW": {"lr": 1e-3},
    "RMSprop": {"lr": 1e-3}, "Adagrad": {"lr": 1e-3},
}  # fmt: skip


def step(name: str) -> Callable[[Any], Call]:
    """The maker of an optimiser's step on four small parameters."""

    def make(m: Any) -> Call:
        rng = np.random.default_rng(0)
        parameters = []
        for shape in ((10, 10), (10,), (10, 10), (10,)):
            parameter = m.nn.Parameter(m.from_numpy(rng.random(shape, dtype=np.float32)))
            parameter.grad = m.from_numpy(rng.random(shape, dtype=np.float32))
            parameters.append(parameter)
        optimiser = getattr(m.optim, name)(parameters, **OPTIMISERS[name])
        optimiser.step()
        return lambda: optimiser.step()

    return make


def backward_of_chain(m: Any) -> Call:
    """Ten multiplications and a sum, forward and backward."""
    x = names(m)["x"].requires_grad_()

    def run() -> object:
        y = x
        for _ in range(10):
            y = y * x
        return y.sum().backward()

    return run


def zero_grad(m: Any) -> Call:
    """Dropping the gradients of a small model."""
    made = m.nn.Sequential(*[m.nn.Linear(4, 4) for _ in range(4)])
    return lambda: made.zero_grad()


def without_gradient(m: Any) -> Call:
    """Entering and leaving no_grad."""

    def run() -> None:
        with m.no_grad():
            pass

    return run


CASES: dict[str, Callable[[Any], Call]] = {
    **{f"{group}: {text}": expression(text)
       for group, texts in EXPRESSIONS.items() for text in texts},
    **{f"module: {name}": module(name, gradient=False) for name in MODULES},
    **{f"module, recorded: {name}": module(name, gradient=True) for name in MODULES},
    **{f"module, with backward: {name}": module(name, gradient=True, backward=True)
       for name in MODULES},
    "module: Embedding": embedding,
    "loss: cross_entropy": loss("cross_entropy", classes=True),
    "loss: mse_loss": loss("mse_loss"),
    "loss: binary_cross_entropy_with_logits": loss("binary_cross_entropy_with_logits"),
    **{f"step: {name}": step(name) for name in OPTIMISERS},
    "backward: 10 multiplications": backward_of_chain,
    "zero_grad of 8 parameters": zero_grad,
    "with no_grad()": without_gradient,
}  # fmt: skip
