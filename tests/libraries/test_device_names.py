"""What device-independent scripts ask before they choose a device, and other small names."""

from __future__ import annotations

from typing import Any

import pytest

import graphwright as gw

pytestmark = pytest.mark.usefixtures("no_gpu")


@pytest.mark.parametrize("name", ["cuda", "mps", "xpu", "accelerator"])
def test_there_are_no_accelerators(name: str) -> None:
    module = getattr(gw, name)
    assert not module.is_available()
    assert module.device_count() == 0
    assert module.synchronize() is None


def test_what_needs_a_gpu_is_refused() -> None:
    with pytest.raises(AssertionError, match="no CUDA devices"):
        gw.cuda.get_device_name(0)
    with pytest.raises(AssertionError, match="no CUDA devices"):
        gw.ones(2).cuda()
    assert gw.cuda.max_memory_allocated() == 0
    assert gw.version.cuda is None


@pytest.mark.parametrize("device", ["cuda", "cuda:1", "mps", "xpu", "hpu", "xla", "npu"])
@pytest.mark.parametrize("call", [
    lambda device: gw.ones(2).to(device),
    lambda device: gw.nn.Linear(2, 2).to(device),
    lambda device: gw.nn.Linear(2, 2, device=device),
    lambda device: gw.tensor([1.0], device=device),
    lambda device: gw.randperm(3, device=device),
    lambda device: gw.ones(2).new_zeros(2, device=device),
    lambda device: gw.Generator(device),
    lambda device: gw.compile(lambda x: x.to(device) + 1)(gw.ones(2)),
], ids=["to", "module", "layer", "tensor", "randperm", "new_zeros", "Generator", "compiled"])
def test_other_devices_are_refused_by_what_there_is_instead(call: Any, device: str) -> None:
    """NotImplementedError, a RuntimeError, where something would be made there."""
    name = device.partition(":")[0].upper()
    text = rf"graphwright has no {name} devices: ([^;]*; )?tensors are on the CPU \(device='cpu'\)"
    with pytest.raises(RuntimeError, match=text):
        call(device)


def test_a_number_is_a_gpu_and_all_cpus_are_one() -> None:
    with pytest.raises(RuntimeError, match="has no CUDA devices"):
        gw.ones(2).to(0)
    x = gw.ones(2, requires_grad=True)
    moved = x.to("cpu:1")
    assert moved.device == gw.device("cpu") and moved is not x
    moved.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    assert gw.nn.Linear(2, 2).to("cpu:0").weight.is_leaf
    assert x.to("cpu:0", gw.float64).dtype is gw.float64


@pytest.mark.parametrize("name", ["Stream", "Event", "CUDAGraph"])
def test_classes_of_a_gpu_name_types_but_make_nothing(name: str) -> None:
    kind = getattr(gw.cuda, name)
    assert isinstance(kind, type) and kind | None
    with pytest.raises(RuntimeError, match=f"{name} requires a CUDA"):
        kind()


def test_blocks_that_choose_nothing_of_a_gpu() -> None:
    with gw.cuda.stream(None), gw.cuda.device(-1), gw.cuda.device_of(gw.ones(1)):
        gw.cuda.set_stream(None)
    with pytest.raises(RuntimeError, match="no CUDA devices"), gw.cuda.device(0):
        pass


def test_mixed_precision_for_gpus_is_deprecated_and_off() -> None:
    from graphwright.cuda.amp import GradScaler, autocast, custom_fwd

    with pytest.warns(FutureWarning, match="amp.autocast") as noted:
        mixed = autocast()
    assert [w.category for w in noted] == [FutureWarning, UserWarning]
    with mixed:
        assert (gw.ones(2, 2) @ gw.ones(2, 2)).dtype == gw.float32
    with pytest.warns(UserWarning, match="Disabling") as noted:
        scaler = GradScaler()
    assert [w.category for w in noted] == [FutureWarning, UserWarning]
    assert not scaler.is_enabled() and scaler.scale(gw.ones(1)).item() == 1.0
    with pytest.warns(FutureWarning, match="custom_fwd"):
        custom_fwd(lambda ctx, x: x)
    assert issubclass(GradScaler, gw.amp.GradScaler) and issubclass(autocast, gw.autocast)


def test_mixed_precision_of_the_cpu_has_its_older_names() -> None:
    from graphwright.cpu.amp import GradScaler, autocast

    with pytest.warns(FutureWarning, match="cpu.amp.autocast"), autocast():
        assert (gw.ones(2, 2) @ gw.ones(2, 2)).dtype == gw.bfloat16
    with pytest.warns(FutureWarning, match="cpu.amp.GradScaler"):
        scaler = GradScaler(init_scale=4.0)
    assert scaler.scale(gw.ones(1)).item() == 4.0


def test_debug_mode_of_deterministic_algorithms() -> None:
    for mode in (1, 2, 0):
        gw.set_deterministic_debug_mode(mode)
        assert gw.get_deterministic_debug_mode() == mode
        assert gw.is_deterministic_algorithms_warn_only_enabled() == (mode == 1)
    with pytest.raises(RuntimeError, match="debug_mode"):
        gw.set_deterministic_debug_mode("sometimes")


def test_variable_makes_leaves_that_share_memory() -> None:
    data = gw.ones(2)
    made = gw.autograd.Variable(data, requires_grad=True)
    assert made.is_leaf and made.requires_grad and not data.requires_grad
    assert made.data_ptr() == data.data_ptr()
    assert isinstance(data, gw.autograd.Variable)
    with pytest.raises(TypeError, match="tensor"):
        gw.autograd.Variable([1.0])


def test_the_order_of_dims_in_memory() -> None:
    assert gw.ones(2, 3, 4).permute(2, 0, 1).dim_order() == (1, 2, 0)


@pytest.mark.parametrize("dtype", [gw.bool, gw.uint8, gw.int16, gw.bfloat16, gw.complex64])
def test_make_tensor(dtype: gw.dtype) -> None:
    made = gw.testing.make_tensor(2, 3, dtype=dtype, noncontiguous=True)
    assert (made.shape, made.dtype, made.stride()) == ((2, 3), dtype, (6, 2))
    assert (gw.testing.make_tensor((50,), dtype=dtype, exclude_zero=True) != 0).all()


def test_sdpa_kernel_takes_backends_and_changes_nothing() -> None:
    q = gw.randn(1, 2, 3, 4)
    with gw.nn.attention.sdpa_kernel(gw.nn.attention.SDPBackend.MATH):
        inside = gw.nn.functional.scaled_dot_product_attention(q, q, q)
    gw.testing.assert_close(inside, gw.nn.functional.scaled_dot_product_attention(q, q, q))


def test_marks_of_scripts_leave_code_as_it_is() -> None:
    @gw.jit.script
    def gelu(x: gw.Tensor) -> gw.Tensor:
        return x * 0.5 * (1 + gw.erf(x / 2**0.5))

    class Layer(gw.nn.Module):
        scale: gw.jit.Final[int] = 2

        @gw.jit.ignore
        def described(self) -> str:
            return "a layer"

        @gw.jit.ignore(drop=True)
        def dropped(self) -> int:
            return 1

        @gw.jit.export
        def forward(self, x: gw.Tensor) -> gw.Tensor:
            gw._assert(x.dim() == 2, f"expected two dimensions, got {x.shape}")
            if not gw.jit.is_scripting() and not gw.jit.is_tracing():
                x = gelu(x)
            return x * self.scale

    layer = gw.jit.script(Layer())
    assert layer.described() == "a layer" and layer.dropped() == 1
    compiled = gw.compile(layer)
    for call in (layer, compiled):
        for rows in (2, 3, 4):
            x = gw.randn(rows, 3)
            assert gw.allclose(call(x), gw.nn.functional.gelu(x) * 2)
        with pytest.raises(AssertionError, match=r"got graphwright.Size\(\[2\]\)"):
            call(gw.ones(2))
    assert gw.compiler.stats(compiled).graphs == 2


@pytest.mark.parametrize(
    "pair", [("a", "a"), (1.0, gw.ones(())), (gw.ones(()), None), (object(), 1)]
)
def test_assert_close_compares_tensors_and_numbers_only(pair: tuple[object, object]) -> None:
    with pytest.raises(TypeError, match="No comparison pair"):
        gw.testing.assert_close(*pair)


def test_assert_close_goes_through_containers() -> None:
    gw.testing.assert_close({"a": [gw.ones(2), None]}, {"a": [gw.ones(2), None]})
    with pytest.raises(AssertionError, match="Mismatched elements: 1 / 2"):
        gw.testing.assert_close([gw.tensor([1.0, 2.0])], [gw.tensor([1.0, 3.0])])


def test_orders_that_are_not_unique() -> None:
    single = gw.ones(1, 2, 3, 4)
    formats = [gw.contiguous_format, gw.channels_last]
    assert single.dim_order() == single.dim_order(ambiguity_check=formats) == (0, 1, 2, 3)
    assert gw.ones(2, 3, 4, 5).dim_order(ambiguity_check=True) == (0, 1, 2, 3)
    with pytest.raises(RuntimeError, match="unique dim order"):
        single.dim_order(ambiguity_check=True)
    with pytest.raises(TypeError, match="ambiguity_check"):
        single.dim_order(ambiguity_check="none")


def test_names_of_types_and_functions() -> None:
    assert gw.typename(gw.ones(1)) == "graphwright.FloatTensor" and gw.typename(3) == "int"
    assert gw.typename(gw.nn.Linear) == gw.typename(gw.nn.Linear(1, 1))
    assert gw.typename(len) == "len" and gw.typename([1]) == "list"


def test_asarray_and_the_history_of_tensors() -> None:
    leaf = gw.ones(2, requires_grad=True)
    made = leaf * 2
    assert gw.asarray(made) is made is gw.asarray(made, requires_grad=True)
    assert gw.asarray(made, copy=True, requires_grad=True).grad_fn is not None
    plain = gw.asarray(made, requires_grad=False)
    assert not plain.requires_grad and plain.data_ptr() == made.data_ptr()
    assert gw.asarray([1.0], requires_grad=True).is_leaf
