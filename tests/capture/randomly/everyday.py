"""Random statements of the kind that models and training loops are made of."""

from __future__ import annotations

from .modelling import Modelling


class Everyday(Modelling):
    """Sizes, settings, modes, layers, hooks, losses and optimisers, numbers and texts."""

    def statement(self, indent: int) -> None:
        raise NotImplementedError

    def shaped(self, indent: int) -> None:
        """Arithmetic on sizes, and what keeps the shape by way of another one."""
        a, b, n = self.a_tensor(), self.a_tensor(), self.number(1)
        self.emit(indent, f"{self.bound('tensors', 't', indent)} = " + self.pick(
            f"{a}.view({a}.size(0), -1)", f"{a} * {a}.shape[-1] ** -0.5", f"({a} @ {b}.T) @ {b}",
            f"{a} + gw.arange({a}.size(1))", f"{a} - {a}.mean(-1, keepdim=True)",
            f"gw.cat([{a}, {b}], dim=-1)[:, :{a}.shape[1]]",
            f"{a}[..., None].expand(*{a}.shape, 2)[..., 0]",
            f"gw.nn.functional.pad({a}, (1, 1))[:, 1:-1]",
            f"{a}.reshape({a}.numel()).view_as({a})",
            f"gw.stack([row * i for i, row in enumerate({a})])", f"{a}[:{a}.shape[0] // 2 * 2]",
            f"gw.full_like({a}, {n})", f"{a}.new_zeros({a}.size()) + {b}",
            f"gw.cat([{a}[:1], {a}[1:]])", f"{a}.index_select(0, gw.arange(len({a})).flip(0))",
            f"gw.stack({a}.unbind(1), dim=-1)", f"{a} * ({a}.shape[0] * {a}.shape[1] - {n})",
            f"{a}.roll({n}, 0)", f"{a}[:, gw.tensor([1, 0, 3, 2])]",
            f"{a}.masked_fill({b} > {n}, 0.5)",
            f"{a}.T.contiguous().T", f"sum({a}[i:i + 1] for i in range({a}.shape[0])) + {b}",
            f"gw.einsum('ij,kj->ik', {a}, {b}) @ {a}",
            f"{a}.split([1, {a}.shape[1] - 1], 1)[1].sum() + {b}",
        ))
        if self.rarely(0.4):
            rows, columns = self.fresh("u"), self.fresh("u")
            self.emit(indent, f"{rows}, {columns} = {a}.shape")
            self.emit(indent, f"{self.an_object()}.log.append({rows} * 2 + {columns})")

    def typed(self, indent: int) -> None:
        """Other dtypes, reductions, and results that are no floats."""
        a, b = self.a_tensor(), self.a_tensor()
        if self.rarely(0.5):
            return self.emit(indent, f"{self.an_object()}.log.append(" + self.pick(
                f"{a}.argmax(-1)", f"{a}.dtype", f"{a}.topk(2).indices", f"{a}.bool().all()",
                f"{a}.int() // 2", f"{a}.double().sum(0)", f"({a} > 0).sum().item() % 5",
                f"{a}.sort(-1)", f"{a}.max(0)[1]", f"{a}.cumsum(1)[:, -1:]", f"{a}.std(0)",
                f"{a}.unique() is None", f"{a}.is_contiguous()", f"{a}.stride()",
                f"float({a}[0, 0]) == {a}[0, 0].item()", f"{a}.requires_grad", f"{a}.size()",
                f"gw.equal({a}, {b})", f"{a}.nonzero()", f"{a}.element_size()", f"{a}.half()",
                f"gw.promote_types({a}.dtype, {b}.dtype)", f"{a}.ndim + {a}.dim()",
                f"str({a}.shape)",
            ) + ")")
        self.emit(indent, f"{self.bound('tensors', 't', indent)} = " + self.pick(
            f"{a}.to(gw.float64) + {b}", f"{a}.to({b}.dtype)", f"{a}.type_as({b})", f"{a}.float()",
            f"{a}.bfloat16().float()", f"({a} > {b}).to({a}.dtype)",
            f"({a} * 4).round().long() + {b}",
            f"gw.zeros(3, 4, dtype=gw.int64) + {a}", f"gw.where({a} > 0, 1.0, {b})",
            f"{a} * gw.tensor(2)", f"{a} + gw.tensor([1, 2, 3, 4])", f"{a}.to('cpu')",
        ))

    def layered(self, indent: int) -> None:
        """Functions that models call, with options from settings."""
        a, b = self.a_tensor(), self.a_tensor()
        functional = "gw.nn.functional"
        self.emit(indent, f"{self.bound('tensors', 't', indent)} = " + self.pick(
            f"gw.softmax({a}, dim=-1)", f"{functional}.layer_norm({a}, {a}.shape[1:])",
            f"{functional}.gelu({a})", f"getattr({functional}, SETTINGS.activation)({a})",
            f"TABLE[mode]({a}, dim=-1).unsqueeze(-1) + {b}", f"{functional}.normalize({a}, dim=1)",
            f"{functional}.scaled_dot_product_attention({a}, {b}, {b})", f"{a} * SETTINGS.factor",
            f"{functional}.dropout({a}, SETTINGS.rate, training=net.training)",
            f"{functional}.mse_loss({a}, {b}, reduction=mode) + {a}", f"chosen({a})",
            f"{functional}.cross_entropy({a}, gw.arange({a}.shape[0]) % 4) * {b}", f"{a} * rate",
            f"scaled({a})", f"configured({a}, **CONFIG['options'])",
            f"{a}.clamp(-rate, CONFIG['most'])",
            f"{functional}.embedding(gw.tensor([0, 2, 1]), net.linear.weight) + {a}[:3]",
            f"({a} if mode == 'mean' else {b}) * 2", f"Squared.apply({a}) + {b}",
            f"gw.randn_like({a}) * {b}", f"{a}.lerp({b}, rate)", f"hidden({a}, state=pack)",
        ))

    def configure(self, indent: int) -> None:
        """Settings read into the log, or changed for the calls to come."""
        a, n = self.a_tensor(), self.number(1)
        log = f"{self.an_object()}.log"
        self.emit(indent, self.pick(
            f"SETTINGS.factor = {n} % 3", "SETTINGS.rate = 0.25", f"CONFIG['most'] = {n} % 3 + 1",
            f"CONFIG['options']['by'] = {n} % 2", "SETTINGS.activation = 'tanh'",
            f"scaled.turn({n} % 4)",
            f"{log}.append(f'{{mode}}:{{rate:.2f}}:{{n}}')",
            f"{log}.append(mode.upper()[:{n} % 4])",
            f"{log}.append(round(rate * {n}, 2))", f"{log}.append(math.sqrt(abs({n})))",
            f"{log}.append(int(rate * {a}.shape[0]) + {n} // 2)",
            f"{log}.append(dict(CONFIG['options'], m=mode))",
            f"{log}.append(mode in ('mean', 'sum') and flag)",
            f"{log}.append((flag, {n} / 4, -rate))",
            f"{log}.append([mode] * ({n} % 3))", f"{log}.append('%s %d' % (mode, {n}))",
            "TABLE['last'] = TABLE[mode]", f"{log}.append(sorted(TABLE))",
            f"{log}.append(SETTINGS.notes)",
            "SETTINGS.notes.append(mode)",
            f"{log}.append(isinstance(n, int) and not isinstance(n, bool))",
            f"{log}.append(max(rate, {n}, key=abs))", f"{log}.append(mode.join(['a', 'b']))",
        ))

    def in_mode(self, indent: int) -> None:
        """A block in which operations mean something else."""
        self.emit(indent, "with " + self.pick(
            "gw.autocast('cpu', dtype=gw.bfloat16)", "gw.set_grad_enabled(flag)",
            "gw.inference_mode()",
            "gw.no_grad(), gw.autocast('cpu', enabled=flag)",
            "gw.set_grad_enabled(not gw.is_grad_enabled())",
            "gw.enable_grad()",
        ) + ":")
        self.block(indent + 1)
        name = self.bound("tensors", "t", indent)
        self.emit(indent, f"{name} = net.linear({self.a_tensor()}.float()).float()")

    def train(self, indent: int) -> None:
        """A few steps of an optimiser on the module."""
        a, b, name = self.a_tensor(), self.a_tensor(), self.fresh("opt")
        self.emit(indent, f"{name} = " + self.pick(
            "gw.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)",
            "gw.optim.SGD(net.parameters(), lr=rate)",
            "gw.optim.Adam(net.parameters(), lr=0.01)", "gw.optim.AdamW(net.linear.parameters())",
            "OPTIMIZERS[0]",
            "OPTIMIZERS[0]",
        ))
        self.emit(indent, f"for {self.fresh('j')} in range({self.random.randint(1, 2)}):")
        self.emit(indent + 1, f"{name}.zero_grad()")
        loss = self.fresh("loss")
        self.emit(indent + 1, f"{loss} = " + self.pick(
            f"gw.nn.functional.mse_loss(net({a}.detach()), {b}.detach())",
            f"net({a}.detach()).pow(2).mean()",
            f"(net({a}.detach()) - {b}.detach()).abs().sum() * rate", f"net({a}).square().sum()",
        ))
        self.emit(indent + 1, f"{loss}.backward()")
        if self.rarely(0.3):
            self.emit(indent + 1, "gw.nn.utils.clip_grad_norm_(net.parameters(), 1.0)")
        if self.rarely(0.3):
            self.loops += 1
            self.statement(indent + 1)
            self.loops -= 1
        self.emit(indent + 1, f"{name}.step()")
        self.emit(indent + 1, f"{self.an_object()}.log.append({loss}.detach())")

    def hook(self, indent: int) -> None:
        """Hooks of the module or of a tensor, kept or taken off again."""
        name, log, a = self.fresh("h"), f"{self.an_object()}.log", self.a_tensor()
        self.emit(indent, f"{name} = " + self.pick(
            f"net.register_forward_hook(lambda m, i, o: {log}.append(len(i)))",
            "net.register_forward_hook(lambda m, i, o: o * 2)",
            "net.linear.register_forward_pre_hook(lambda m, i: (i[0] + 1,))",
            f"net.layers[0].register_forward_hook(noting({log}))",
        ))
        self.emit(indent, f"{self.bound('tensors', 't', indent)} = net({a})")
        self.block(indent, 1)
        if self.rarely(0.7):
            self.emit(indent, f"{name}.remove()")
        if self.rarely(0.3):
            leaf = self.fresh("w")
            self.emit(indent, f"{leaf} = {a}.detach().clone().requires_grad_()")
            self.emit(indent, f"{leaf}.register_hook(lambda g: g * 2)")
            self.emit(indent, f"({leaf} * {self.tensor(2)}).sum().backward()")
            self.emit(indent, f"{log}.append({leaf}.grad)")

    def rewire(self, indent: int) -> None:
        """The module's parts are changed, shared, or replaced."""
        log, a = f"{self.an_object()}.log", self.a_tensor()
        self.emit(indent, self.pick(
            "net.layers[0].weight = net.linear.weight", "net.linear.bias = None",
            "net.linear.weight = gw.nn.Parameter(net.linear.weight.detach() * 2)",
            "net.named['tanh'] = gw.nn.ReLU()", "net.layers.append(gw.nn.Tanh())",
            "net.scale = rate",
            "net.linear.weight.data.mul_(0.5)", "net.seen.fill_(n % 3)",
            "net.linear.bias.data[0] = rate",
            "net.register_buffer('more', gw.ones(4))", "del net.named['tanh']",
            "net.apply(lambda m: m.eval())",
            f"net.layers[0].in_features = {self.number(1)} % 5", "net.half().float()",
            "net.requires_grad_(flag)",
            "gw.nn.init.zeros_(net.linear.bias)", "net.load_state_dict(net.state_dict())",
        ))
        self.emit(indent,
        f"{log}.append({self.pick('len(list(net.parameters()))', 'len(net.state_dict())')})")
        self.emit(indent, f"{self.bound('tensors', 't', indent)} = net({a})")
