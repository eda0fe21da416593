"""Drivers that are there, are not, are too old, or fail; each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]


def run(code: str, library: str, **settings: str) -> str:
    """What a program prints, in a process with that driver."""
    environment = {**os.environ, "GRAPHWRIGHT_LIBCUDA": library, **settings}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT,
                          env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def library(simulated_driver: Any) -> str:
    """The path of the simulated driver."""
    return str(simulated_driver.path)


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
    ({"GPU_SIM_DEVICES": "0"}, "the CUDA driver finds no device"),
    ({"GPU_SIM_VERSION": "11080"},
     "the CUDA driver is too old: it is of CUDA 11.8, and CUDA 12.0 is needed"),
    ({"GPU_SIM_ARCH": "75"},
     "the device simulated GPU 0 (sm_75) is too old: it has compute capability 7.5, and 8.0 is "
     "needed"),
    ({"GPU_SIM_FAIL": "without cuLaunchKernel:0:-1:500"},
     "the CUDA driver lacks the function cuLaunchKernel"),
], ids=["no device", "old driver", "old device", "missing function"])
def test_what_cannot_be_used_is_absent_for_a_reason(
    settings: dict[str, str], why: str, library: str
) -> None:
    lines = run(ASK, library, **settings).splitlines()
    absent = (f"graphwright has no CUDA devices: {why}; tensors are on the CPU (device='cpu'), or "
              "on 'meta' without data")
    assert lines == ["False 0", absent, f"full(): {absent}"]


@pytest.mark.parametrize(("library", "why"), [
    ("", "GRAPHWRIGHT_LIBCUDA is empty, which switches GPUs off"),
    ("/nowhere/libcuda.so.1", "the CUDA driver could not be opened (/nowhere/libcuda.so.1: cannot "
     "open shared object file: No such file or directory)"),
], ids=["off", "not found"])
def test_without_a_driver_gpus_are_absent(library: str, why: str) -> None:
    lines = run(ASK, library).splitlines()
    assert lines[0] == "False 0"
    assert lines[1] == (f"graphwright has no CUDA devices: {why}; tensors are on the CPU "
                        "(device='cpu'), or on 'meta' without data")


REPORT = """
import sys
from graphwright.cli.main import main
from graphwright.utils import collect_env
sys.argv = ["graphwright", "doctor"]
main(["doctor"])
print(collect_env.get_pretty_env_info())
"""


@pytest.mark.parametrize(("settings", "gpu"), [
    ({"GPU_SIM_DEVICES": "2", "GPU_SIM_ARCH": "90"},
     "simulated GPU 0 (sm_90) (compute capability 9.0, 8.0 GiB), simulated GPU 1 (sm_90) (compute "
     "capability 9.0, 8.0 GiB); the driver is of CUDA 13.0"),
    ({"GPU_SIM_DEVICES": "0"}, "none: the CUDA driver finds no device"),
    ({"GPU_SIM_VERSION": "11080"},
     "none: the CUDA driver is too old: it is of CUDA 11.8, and CUDA 12.0 is needed"),
], ids=["two", "no device", "old driver"])
def test_reports_name_the_gpus_or_why_there_are_none(
    settings: dict[str, str], gpu: str, library: str
) -> None:
    lines = run(REPORT, library, **settings).splitlines()
    assert [line.split(None, 1)[1] for line in lines if line.startswith("GPU")] == [gpu, gpu]
    assert f"Is CUDA available: {gpu.startswith('simulated')}" in lines


def test_the_system_s_driver_is_opened_where_none_is_named(library: str) -> None:
    folder = str(Path(library).parent)
    environment = {name: text for name, text in os.environ.items()
                   if name != "GRAPHWRIGHT_LIBCUDA"}
    code = """
import sys
import graphwright as gw
opened = lambda: any("libcuda" in line for line in open("/proc/self/maps"))
x = gw.ones(3) * 2
gw.manual_seed(1)
before = opened()
print(before, gw.cuda.is_available(), opened())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={**environment, "LD_LIBRARY_PATH": folder}, check=True)
    assert done.stdout.split() == ["False", "True", "True"]


FORK = """
import os
import graphwright as gw
x = gw.ones(2, device="cuda")
pinned, mark, other = gw.ones(2).pin_memory(), gw.cuda.Event(), gw.cuda.Stream()
mark.record()
x.record_stream(other)
read, write = os.pipe()
if os.fork() == 0:
    for attempt in (lambda: gw.zeros(2, device="cuda"), x.tolist, lambda: x.cpu(), x.clone,
                    lambda: gw.ones(2).cuda(), gw.cuda.synchronize, mark.query, mark.wait,
                    other.synchronize, lambda: gw.ones(2).pin_memory(), gw.cuda.init,
                    gw.cuda.memory_allocated, lambda: print(x)):
        try:
            attempt()
            text = "no error"
        except Exception as error:
            text = f"{type(error).__name__} {error}".replace("\\n", " ")
        os.write(write, text.encode() + b"\\n")
    del x, pinned, mark, other
    gw.manual_seed(3)
    text = (gw.ones(2) + gw.rand(2)).shape, gw.cuda.is_available(), gw.cuda.is_initialized()
    os.write(write, repr(text).encode())
    os._exit(0)
os.wait()
os.close(write)
print(open(read).read())
print(x.tolist(), mark.query() in (True, False), pinned.tolist())
"""
REFUSED = ("Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you "
           "must use the 'spawn' start method")


def test_a_forked_process_cannot_use_the_gpu(library: str) -> None:
    """Nor does it touch the driver where objects end there; the parent process goes on."""
    *refused, seen, after = run(FORK, library).splitlines()
    assert [line for line in refused if REFUSED not in line] == []
    assert len(refused) == 13 and all(line.startswith("RuntimeError") for line in refused)
    assert seen == "(graphwright.Size([2]), True, False)"
    assert after == "[1.0, 1.0] True [1.0, 1.0]"


WORKERS = """
import graphwright as gw
from graphwright.utils.data import DataLoader, TensorDataset
x = gw.ones(2, device="cuda")
loader = DataLoader(TensorDataset(gw.arange(8).reshape(4, 2)), batch_size=2, num_workers=2,
                    pin_memory=True, multiprocessing_context="fork")
for (batch,) in loader:
    print(batch.is_pinned(), batch.to("cuda", non_blocking=True).tolist())
"""


def test_forked_workers_make_batches_for_the_gpu(library: str) -> None:
    lines = run(WORKERS, library).splitlines()
    assert lines == ["True [[0, 1], [2, 3]]", "True [[4, 5], [6, 7]]"]


FAULT = """
import graphwright as gw
from graphwright.runtime import _core
from tests.gpu_sim.fake_driver import FakeDriver
driver = FakeDriver.shared()
driver.fail("kernel", 700, skip=9)
x = gw.zeros(2, device="cuda")
programs = []
for i in range(10):
    ptx = ".version 8.0 .target sm_80 .visible .entry k%d(.param .u64 x) { ret; }" % i
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


def test_a_faulty_kernel_ends_the_use_of_the_gpu(library: str) -> None:
    first, *later = run(FAULT, library).split("|")
    assert first.startswith("fine\nCUDA error: an illegal memory access was encountered "
                            "(CUDA_ERROR_ILLEGAL_ADDRESS, 700) in cuStreamSynchronize.\n")
    assert "newest first: k9, k8, k7, k6, k5, k4, k3, k2. Kernels run later" in first
    assert "set GRAPHWRIGHT_CUDA_SYNC=1" in first
    assert [text.removeprefix("full(): ") for text in later] == [
        first.removeprefix("fine\n"), first.removeprefix("fine\n"), ""]


def test_waiting_for_each_kernel_finds_the_faulty_one(library: str) -> None:
    first = run(FAULT, library, GRAPHWRIGHT_CUDA_SYNC="1").split("|")[0]
    assert first.startswith("CUDA error: an illegal memory access was encountered "
                            "(CUDA_ERROR_ILLEGAL_ADDRESS, 700) in the launch of k9.\n")
    assert "GRAPHWRIGHT_CUDA_SYNC" not in first


EXACT = """
import graphwright as gw
from tests.gpu_sim.fake_driver import FakeDriver
driver = FakeDriver.shared()
x = gw.zeros(3, 5, device="cuda")
print(driver.used(0), gw.cuda.memory_allocated(), gw.cuda.memory_reserved())
y = x.clone()
x.record_stream(gw.cuda.Stream())
del x
print(driver.used(0), y.tolist() == [[0.0] * 5] * 3)
del y
print(driver.used(0), gw.cuda.memory_reserved(), gw.cuda.memory_stats()["active.all.current"])
"""


def test_tensors_can_be_allocations_of_the_driver(library: str) -> None:
    lines = run(EXACT, library, GRAPHWRIGHT_CUDA_CACHING="0").splitlines()
    assert lines == ["60 60 60", "60 True", "0 0 0"]
