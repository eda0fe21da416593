"""Drivers that are there, are not, or are too old; and the tests that need one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
ON_DRIVER = Path(__file__).parent / "on_driver"


def run(code: str, library: str, **settings: str) -> str:
    """What a program prints, in a process with that driver."""
    environment = {**os.environ, "GRAPHWRIGHT_LIBCUDA": library, **settings}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("path", sorted(ON_DRIVER.glob("test_*.py")), ids=lambda path: path.stem)
def test_on_a_driver(path: Path, fake_driver: str) -> None:
    environment = {**os.environ, "GRAPHWRIGHT_LIBCUDA": fake_driver, "FAKE_DRIVER": fake_driver}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider",
               str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


ASK = """
import graphwright as gw
print(gw.cuda.is_available(), gw.cuda.device_count())
try:
    gw.ones(2).cuda()
except AssertionError as error:
    print(error)
try:
    gw.zeros(2, device="cuda")
except RuntimeError as error:
    print(error)
"""


@pytest.mark.parametrize(("settings", "why"), [
    ({"FAKE_DEVICES": "0"}, "the CUDA driver finds no device"),
    ({"FAKE_VERSION": "11080"},
     "the CUDA driver is too old: it is of CUDA 11.8, and CUDA 12.0 is needed"),
    ({"FAKE_CAPABILITY": "75"},
     "the device fake GPU 0 is too old: it has compute capability 7.5, and 8.0 is needed"),
    ({"FAKE_MISSING": "cuLaunchKernel"}, "the CUDA driver lacks the function cuLaunchKernel"),
], ids=["no device", "old driver", "old device", "missing function"])
def test_what_cannot_be_used_is_absent_for_a_reason(
    settings: dict[str, str], why: str, fake_driver: str
) -> None:
    lines = run(ASK, fake_driver, **settings).splitlines()
    absent = (f"graphwright has no CUDA devices: {why}; tensors are on the CPU (device='cpu'), or "
              "on 'meta' without data")
    assert lines == ["False 0", absent, f"full(): {absent}"]


@pytest.mark.parametrize("library", ["", "/nowhere/libcuda.so.1"], ids=["off", "not found"])
def test_without_a_driver_gpus_are_absent(library: str) -> None:
    lines = run(ASK, library).splitlines()
    assert lines[0] == "False 0"
    assert lines[1].startswith("graphwright has no CUDA devices: ")
    assert ("GRAPHWRIGHT_LIBCUDA does not open: /nowhere" in lines[1]) == bool(library)


FORK = """
import os
import graphwright as gw
x = gw.ones(2, device="cuda")
read, write = os.pipe()
if os.fork() == 0:
    try:
        gw.zeros(2, device="cuda")
    except RuntimeError as error:
        os.write(write, str(error).encode())
    del x
    os._exit(0)
os.wait()
print(os.read(read, 1000).decode())
print(x.tolist())
"""


def test_a_forked_process_cannot_use_the_gpu(fake_driver: str) -> None:
    lines = run(FORK, fake_driver).splitlines()
    assert lines[0].endswith("Cannot re-initialize CUDA in forked subprocess. To use CUDA with "
                             "multiprocessing, you must use the 'spawn' start method")
    assert lines[1] == "[1.0, 1.0]"


FAULT = """
import ctypes, os
import graphwright as gw
from graphwright.runtime import _core
lib = ctypes.CDLL(os.environ["GRAPHWRIGHT_LIBCUDA"])
fault = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint,
                         ctypes.c_void_p, ctypes.c_int)(lambda name, *rest: name == b"k9")
lib.fake_set_launch(fault)
x = gw.zeros(2, device="cuda")
programs = []
for i in range(10):
    ptx = b".visible .entry k%d(\\n.param .u64 x\\n)" % i
    kernel = _core.CudaKernel(f"k{i}", cubin=None, ptx=ptx, shared=0, num_warps=1,
                              signature=["*fp32"])
    programs.append(_core.CudaProgram([(kernel, (1, 1, 1), [("buffer", 0)])], 1))
for attempt in (lambda: [program.run((x,)) for program in programs], x.tolist,
                gw.cuda.synchronize, lambda: gw.ones(2, device="cuda")):
    try:
        attempt()
        print("fine")
    except RuntimeError as error:
        print(error, end="|")
del x
"""


def test_a_faulty_kernel_ends_the_use_of_the_gpu(fake_driver: str) -> None:
    first, *later = run(FAULT, fake_driver).split("|")
    assert first.startswith("fine\nCUDA error: an illegal memory access was encountered "
                            "(CUDA_ERROR_ILLEGAL_ADDRESS, 700) in cuStreamSynchronize.\n")
    assert "newest first: k9, k8, k7, k6, k5, k4, k3, k2. Kernels run later" in first
    assert "set GRAPHWRIGHT_CUDA_SYNC=1" in first
    assert [text.removeprefix("full(): ") for text in later] == [
        first.removeprefix("fine\n"), first.removeprefix("fine\n"), ""]


def test_waiting_for_each_kernel_finds_the_faulty_one(fake_driver: str) -> None:
    first = run(FAULT, fake_driver, GRAPHWRIGHT_CUDA_SYNC="1").split("|")[0]
    assert first.startswith("CUDA error: an illegal memory access was encountered "
                            "(CUDA_ERROR_ILLEGAL_ADDRESS, 700) in the launch of k9.\n")
    assert "GRAPHWRIGHT_CUDA_SYNC" not in first


EXACT = """
import ctypes, os
import graphwright as gw
lib = ctypes.CDLL(os.environ["GRAPHWRIGHT_LIBCUDA"])
lib.fake_used.restype = ctypes.c_size_t
x = gw.zeros(3, 5, device="cuda")
print(lib.fake_used(0), gw.cuda.memory_allocated(), gw.cuda.memory_reserved())
y = x.clone()
x.record_stream(gw.cuda.Stream())
del x
print(lib.fake_used(0), y.tolist() == [[0.0] * 5] * 3)
del y
print(lib.fake_used(0), gw.cuda.memory_reserved(), gw.cuda.memory_stats()["active.all.current"])
"""


def test_tensors_can_be_allocations_of_the_driver(fake_driver: str) -> None:
    lines = run(EXACT, fake_driver, GRAPHWRIGHT_CUDA_CACHING="0").splitlines()
    assert lines == ["60 60 60", "60 True", "0 0 0"]


TIMES = """
import timeit
import graphwright as gw
from graphwright.runtime import _core
x = gw.zeros(1024, device="cuda")
ptx = b".visible .entry k(\\n.param .u64 x,\\n.param .u32 n,\\n.param .u64 s\\n)"
kernel = _core.CudaKernel("k", cubin=None, ptx=ptx, shared=0, num_warps=4,
                          signature=["*fp32", "i32", "scratch"])
launch = (kernel, (("scalar", 1), 1, 1), [("buffer", 0), ("scalar", 0)])
args = (x,), (1024,)
for count in (1, 33):
    program = _core.CudaProgram([launch] * count, 1, 1, [("ceildiv", ("scalar", 0), 128)])
    call = lambda: program.run(*args)
    print(min(timeit.repeat(call, number=5000, repeat=20)) / 5000 * 1e9)
"""


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="takes times")
def test_the_host_pays_little_for_a_launch(fake_driver: str) -> None:
    """On a driver whose launches do nothing: 0.5 us a call, 0.05 us for each further kernel."""
    one, many = map(float, run(TIMES, fake_driver, FAKE_NULL="1").splitlines())
    assert one < 500 and (many - one) / 32 < 50, (one, many)
