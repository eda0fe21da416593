"""Programs: launches of compiled kernels over tensors and numbers, in one call."""

from __future__ import annotations

import struct
from typing import Any

import pytest

import graphwright as gw
from graphwright.runtime import _core

TYPES = {"*fp32": "u64", "scratch": "u64", "i8": "u8", "i16": "u16", "i32": "u32", "i64": "u64",
         "u8": "u8", "u64": "u64", "fp16": "b16", "bf16": "b16", "fp32": "f32", "fp64": "f64",
         "tensordesc": "b64"}
ADD = """
  .reg .b64 %out, %a, %b, %at; .reg .b32 %n, %i, %t; .reg .f32 %x, %y; .reg .pred %p;
  ld.param.u64 %out, [p0]; ld.param.u64 %a, [p1]; ld.param.u64 %b, [p2]; ld.param.u32 %n, [p3];
  mov.u32 %i, %ctaid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, 128, %t;
  setp.ge.s32 %p, %i, %n; @%p bra DONE;
  mad.wide.u32 %at, %i, 4, %a; ld.global.f32 %x, [%at];
  mad.wide.u32 %at, %i, 4, %b; ld.global.f32 %y, [%at]; add.f32 %x, %x, %y;
  mad.wide.u32 %at, %i, 4, %out; st.global.f32 [%at], %x;
DONE:
"""


def kernel(name: str, *signature: str, shared: int = 0, warps: int = 4, cubin: Any = None,
           body: str = "") -> Any:
    parameters = ", ".join(f".param .{TYPES[kind]} p{i}" for i, kind in enumerate(signature))
    ptx = f".version 8.0\n.target sm_80\n.visible .entry {name}({parameters}) {{ {body} ret; }}"
    return _core.CudaKernel(name, cubin=cubin, ptx=ptx, shared=shared, num_warps=warps,
                            signature=signature)


def test_a_program_runs_after_what_its_stream_has(gpu: Any) -> None:
    add = kernel("add", "*fp32", "*fp32", "*fp32", "i32", body=ADD)
    n, blocks = ("scalar", 0), ("scalar", 1)
    program = _core.CudaProgram(
        [(add, (blocks, 1, 1), [("arena", 0), ("buffer", 0), ("buffer", 1), n]),
         (add, (blocks, 1, 1), [("buffer", 2), ("arena", 0), ("buffer", 1), n])],
        buffers=3, scalars=1, derived=[("ceildiv", n, 128), ("mul", n, 4)], arena=("scalar", 2))
    x, y = gw.arange(1000, dtype=gw.float32).cuda(), gw.ones(1000).cuda()
    out = gw.empty(1000, device="cuda")
    before = gw.cuda.memory_allocated()
    program.run((x, y, out), (1000,))
    assert gpu.launches == [] and gw.cuda.memory_allocated() == before
    assert gw.equal(out.cpu(), gw.arange(1000, dtype=gw.float32) + 2)
    assert [call[:4] for call in gpu.launches] == [("add", (8, 1, 1), (128, 1, 1), 0)] * 2
    view = out[10:20]
    program.run((x[5:15], y[:10], view), (10,))
    assert view.tolist() == [float(i) for i in range(7, 17)]


def test_parameters_lie_as_the_kernel_has_them(gpu: Any) -> None:
    kinds = ("i8", "fp64", "fp16", "*fp32", "bf16", "i32", "scratch", "i16", "fp32", "u8", "i64")
    every = kernel("every", *kinds, shared=1024, warps=8)
    x = gw.zeros(4, device="cuda")
    program = _core.CudaProgram(
        [(every, (2, 3, 4), [-1, 0.1, 1.5, ("buffer", 0, 8), ("scalar", 0), ("scalar", 1), -2,
                             2.5, 255, 1 << 40])], buffers=1, scalars=2)
    program.run((x,), (1.0, -7))
    gw.cuda.synchronize()
    ((name, grid, block, shared, raw, _),) = gpu.launches
    assert (name, grid, block, shared) == ("every", (2, 3, 4), (256, 1, 1), 1024)
    places = every.parameters
    assert [offset for offset, _ in places] == [0, 8, 16, 24, 32, 36, 40, 48, 52, 56, 64]
    formats = ("<b", "<d", "<e", "<Q", "<H", "<i", "<Q", "<h", "<f", "<B", "<q")
    found = [struct.unpack_from(form, raw, offset)[0]
             for form, (offset, _) in zip(formats, places, strict=True)]
    assert found == [-1, 0.1, 1.5, x.data_ptr() + 8, 0x3F80, -7, 0, -2, 2.5, 255, 1 << 40]


def test_an_empty_grid_is_no_launch(gpu: Any) -> None:
    program = _core.CudaProgram([(kernel("k"), (("scalar", 0), 1, 1), [])], 0, 1)
    program.run((), (0,))
    program.run((), (3,))
    gw.cuda.synchronize()
    assert [call.grid[0] for call in gpu.launches] == [3]


def test_a_kernel_for_another_gpu_is_made_from_its_text(gpu: Any) -> None:
    program = _core.CudaProgram([(kernel("k", cubin=b"\177ELF..."), (1, 1, 1), [])], 0)
    program.run(())
    gw.cuda.synchronize()
    assert len(gpu.launches) == 1
    only = _core.CudaKernel("k", cubin=b"\177ELF", ptx=None, shared=0, num_warps=1, signature=[])
    with pytest.raises(RuntimeError, match="k was compiled for another GPU, and there is no PTX"):
        only.load(0)


def test_every_derivation(gpu: Any) -> None:
    a, b = ("scalar", 0), ("scalar", 1)
    derived = [("add", a, b), ("sub", a, b), ("mul", a, b), ("floordiv", a, b), ("ceildiv", a, b),
               ("min", a, b), ("max", a, ("scalar", 6))]
    seen = kernel("seen", *["i64"] * 7)
    program = _core.CudaProgram(
        [(seen, (1, 1, 1), [("scalar", i) for i in range(2, 9)])], 0, 2, derived)
    program.run((), (17, 5))
    program.run((), (-17, 5))
    gw.cuda.synchronize()
    values = [struct.unpack("<7q", call.parameters) for call in gpu.launches]
    assert values == [(22, 12, 85, 3, 4, 5, 17), (-12, -22, -85, -4, -3, -17, -3)]
    with pytest.raises(OverflowError, match="quotient by a number below 1"):
        program.run((), (1, 0))


def test_what_a_program_refuses(gpu: Any) -> None:
    take = kernel("take", "*fp32", "i32")
    x, far = gw.zeros(4, device="cuda"), gw.zeros(4, device="cuda:1")

    def program(arguments: Any, grid: Any = (1, 1, 1), **more: Any) -> Any:
        return _core.CudaProgram([(take, grid, arguments)], 2, 1, **more)

    for error, text, build in (
        (TypeError, "takes 2 arguments, but 1 are given", lambda: program([None])),
        (IndexError, "no buffer 2", lambda: program([("buffer", 2), 1])),
        (IndexError, "no scalar 1", lambda: program([None, ("scalar", 1)])),
        (TypeError, "cannot have a scalar", lambda: program([("scalar", 0), 1])),
        (TypeError, "cannot have an address", lambda: program([None, ("buffer", 0)])),
        (OverflowError, "4294967296 does not fit", lambda: program([None, 1 << 32])),
        (TypeError, "a float is no value", lambda: program([None, 1.5])),
        (ValueError, "no kind of operand", lambda: program([None, ("size", 0)])),
        (ValueError, "not derived by 'pow'", lambda: program([None, 1], derived=[("pow", 1, 2)])),
        (NotImplementedError, "type 'tensordesc'", lambda: kernel("k", "tensordesc")),
        (ValueError, "1 to 32 warps", lambda: kernel("k", warps=0)),
    ):
        with pytest.raises(error, match=text):
            build()
    good = program([("buffer", 0), ("scalar", 0)], (("scalar", 0), 1, 1))
    for error, text, args in (
        (TypeError, "2 buffers and 1 scalars, but 1 and 0 are given", ((x,),)),
        (TypeError, "buffer 1 of the program is no tensor on a GPU", ((x, gw.ones(2)), (1,))),
        (RuntimeError, "buffer 1 of the program is on cuda:1", ((x, far), (1,))),
        (OverflowError, "does not fit a parameter of type i32", ((x, x), (1 << 40,))),
        (ValueError, "cannot run on a grid of -1 in its dimension 0", ((x, x), (-1,))),
        (TypeError, "a number of a program is an int or a float", ((x, x), ("1",))),
        (TypeError, "a float is no value of a parameter of type i32", ((x, x), (1.0,))),
    ):
        with pytest.raises(error, match=text):
            good.run(*args)
    assert gpu.launches == []


def test_many_launches_of_many_parameters(gpu: Any) -> None:
    """More than the call's own room on the stack has."""
    wide = kernel("wide", *["i64"] * 30)
    arguments = [("scalar", i % 100) for i in range(30)]
    program = _core.CudaProgram([(wide, (1, 1, 1), arguments)] * 200, 0, 100)
    program.run((), tuple(range(100)))
    gw.cuda.synchronize()
    assert len(gpu.launches) == 200
    assert {call.parameters for call in gpu.launches} == {struct.pack("<30q", *range(30))}


def test_a_kernel_runs_on_each_gpu(gpu: Any) -> None:
    program = _core.CudaProgram([(kernel("k", "*fp32"), (1, 1, 1), [("buffer", 0)])], 1)
    for device in ("cuda:0", "cuda:1", "cuda:0"):
        program.run((gw.zeros(1, device=device),))
    gw.cuda.synchronize(0)
    gw.cuda.synchronize(1)
    assert len(gpu.launches) == 3


def test_a_launch_that_the_driver_refuses_names_the_kernel(gpu: Any) -> None:
    program = _core.CudaProgram([(kernel("big"), (1, 1, 1), [])], 0)
    program.run(())
    gpu.fail("cuLaunchKernel", 1)
    with pytest.raises(RuntimeError, match=r"CUDA error: .* in the launch of big"):
        program.run(())
    program.run(())
