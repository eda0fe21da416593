"""`import graphwright.as_torch`: `import torch` means graphwright, in a process that asked.

Each script runs in a process of its own, as the stand-in holds for a whole process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graphwright.torch_version import TorchVersion

WHY = "graphwright, which stands in for PyTorch here, lacks it"


def run(code: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True,
                          env={**os.environ, **environment}, timeout=120)


SURVEY = '''
import importlib.metadata, importlib.util, json, sys
import graphwright
from graphwright import as_torch
found_before = importlib.util.find_spec("torch") is not None
import torch
import torch.nn.functional as F, torch.optim.lr_scheduler, torch.utils.data, torch.utils._pytree
import torch.backends.cudnn as cudnn
from torch import nn, fft, compiler
import torch.compiler, torch.nn.modules.conv

def error(run):
    try:
        run()
    except Exception as raised:
        return [type(raised).__name__, str(raised)]

names = ["torch.nope", "torch.nn.functional.nope", "torch.fft.nope", "torch.compiler.nope",
         "torch.nn.modules.conv.nope", "torch.utils._pytree.nope"]
imports = ["import torch.nope", "import torch.nn.nope", "from torch import nope",
           "from torch.nn.functional import nope", "from torch.nope import x",
           "import torch.cli", "import torch.runtime"]
errors = {name: error(lambda: eval(name)) for name in names}
errors |= {line: error(lambda: exec(line)) for line in imports}
probe = hasattr(torch.nn, "probe")      # the line that the report is to name
print(json.dumps({
    "same": [torch is graphwright, F is graphwright.nn.functional, nn is graphwright.nn,
             fft is graphwright.fft, torch.compiler is compiler is graphwright.compiler,
             torch.utils._pytree is graphwright.utils._pytree, cudnn is torch.backends.cudnn],
    "found": [found_before, importlib.util.find_spec("torch") is not None,
              importlib.util.find_spec("torch.nn") is not None,
              importlib.util.find_spec("torch.nope2") is None],
    "versions": [torch.__version__, torch.version.__version__, importlib.metadata.version("torch"),
                 importlib.metadata.distribution("torch").metadata["Name"],
                 importlib.metadata.packages_distributions()["torch"]],
    "printed": [str(torch.float32), repr(torch.zeros(2, 3).shape), torch.zeros(2).type(),
                repr(torch.tensor([1.5], dtype=torch.float64)), str(torch.channels_last)],
    "errors": errors,
    "probe": probe,
    "report": as_torch.report(),
    "text": str(as_torch.report()),
}))
'''


@pytest.fixture(scope="module")
def survey() -> dict[str, Any]:
    done = run(SURVEY)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_torch_is_graphwright_and_its_modules_are_the_same_objects(survey: Any) -> None:
    assert all(survey["same"])


def test_libraries_find_a_distribution_with_the_version(survey: Any) -> None:
    assert all(survey["found"])
    version = "2.13.0+graphwright"
    assert survey["versions"] == [version, version, version, "torch", ["torch"]]


def test_values_print_as_those_of_torch(survey: Any) -> None:
    assert survey["printed"] == ["torch.float32", "torch.Size([2, 3])", "torch.FloatTensor",
                                 "tensor([1.5000], dtype=torch.float64)", "torch.channels_last"]


@pytest.mark.parametrize(("asked", "kind", "text"), [
    ("torch.nope", "AttributeError", "module 'torch' has no attribute 'nope'"),
    ("torch.nn.functional.nope", "AttributeError",
     "module 'torch.nn.functional' has no attribute 'nope'"),
    ("torch.fft.nope", "AttributeError", "module 'torch.fft' has no attribute 'nope'"),
    ("torch.compiler.nope", "AttributeError", "module 'torch.compiler' has no attribute 'nope'"),
    ("torch.nn.modules.conv.nope", "AttributeError",
     "module 'torch.nn.modules.conv' has no attribute 'nope'"),
    ("torch.utils._pytree.nope", "AttributeError",
     "module 'torch.utils._pytree' has no attribute 'nope'"),
    ("import torch.nope", "ModuleNotFoundError", "No module named 'torch.nope'"),
    ("import torch.nn.nope", "ModuleNotFoundError", "No module named 'torch.nn.nope'"),
    ("from torch.nope import x", "ModuleNotFoundError", "No module named 'torch.nope'"),
    ("import torch.cli", "ModuleNotFoundError", "No module named 'torch.cli'"),
    ("import torch.runtime", "ModuleNotFoundError", "No module named 'torch.runtime'"),
    ("from torch import nope", "ImportError", "cannot import name 'nope' from 'torch'"),
    ("from torch.nn.functional import nope", "ImportError",
     "cannot import name 'nope' from 'torch.nn.functional'"),
])
def test_a_name_that_is_missing_is_told(survey: Any, asked: str, kind: str, text: str) -> None:
    assert survey["errors"][asked] == [kind, f"{text}: {WHY}"]


def test_the_report_lists_names_and_places_of_what_was_asked_for(survey: Any) -> None:
    report = survey["report"]
    assert not survey["probe"]
    line = SURVEY.partition("probe = ")[0].count("\n") + 1
    assert report["torch.nn.probe"] == [f"<string>:{line}"]
    assert {"torch.nope", "torch.cli", "torch.nn.nope", "torch.nn.functional.nope",
            "torch.nope2"} <= set(report)
    assert not {"torch.fft", "torch.compiler", "torch.nn.modules"} & set(report)
    assert f"  torch.nn.probe: <string>:{line}\n" in survey["text"]


def test_nothing_changes_for_programs_that_do_not_ask() -> None:
    done = run("import sys; before = [*sys.meta_path]; import graphwright as gw; "
               "print(sys.meta_path == before, 'torch' in sys.modules, gw.float32, "
               "gw.__version__, gw.zeros(1).shape)")
    assert done.stdout.split() == ["True", "False", "graphwright.float32", "0.1.0",
                                   "graphwright.Size([1])"], done.stderr


def test_another_version_is_set_by_the_environment_or_a_call() -> None:
    code = ("import graphwright.as_torch as stand_in, torch; print(torch.__version__); "
            "stand_in.install('2.8'); print(torch.__version__, torch.__version__ < (2, 9))")
    done = run(code, GRAPHWRIGHT_TORCH_VERSION="2.9.1")
    assert done.stdout.split() == ["2.9.1", "2.8", "True"], done.stderr
    done = run("import graphwright.as_torch", GRAPHWRIGHT_TORCH_VERSION="new")
    assert done.stderr.endswith(
        "ValueError: 'new' is not the version of a PyTorch release, such as '2.13.0'\n")


def test_a_torch_that_is_imported_already_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("")
    done = run("import torch, graphwright.as_torch", PYTHONPATH=os.pathsep.join(
        [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]))
    assert done.stderr.splitlines()[-1] == (
        "ImportError: import graphwright.as_torch: torch is imported already, from "
        f"{tmp_path / 'torch.py'}. Import graphwright.as_torch before anything that imports torch")


def test_a_test_suite_runs_by_the_plugin(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import torch\ndef test_name(): assert torch.__name__ == 'torch'\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "graphwright.as_torch", "-p",
         "no:cacheprovider", str(tmp_path)], capture_output=True, text=True, cwd=tmp_path)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_spawned_processes_have_it_too(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        "import graphwright.as_torch, torch, multiprocessing as mp\n"
        "def child(queue): queue.put(torch.__version__)\n"
        "if __name__ == '__main__':\n"
        "    context = mp.get_context('spawn'); queue = context.Queue()\n"
        "    process = context.Process(target=child, args=(queue,)); process.start()\n"
        "    print(queue.get()); process.join()\n".replace("graphwright.as_torch, torch",
                                                           "torch"))
    done = subprocess.run([sys.executable, "-m", "graphwright", "run", str(script)],
                          capture_output=True, text=True)
    assert done.stdout == "2.13.0+graphwright\n", done.stderr


def test_the_stand_in_costs_little_over_graphwright() -> None:
    done = run("import graphwright, time; begin = time.process_time(); "
               "import graphwright.as_torch, torch; print(time.process_time() - begin)")
    assert float(done.stdout) < 0.03


def test_versions_compare_by_their_numbers() -> None:
    version = TorchVersion("2.13.0+graphwright")
    assert version == "2.13" and version == (2, 13, 0) and version != "2.13.1"
    assert version > "2.9" and version >= (2, 4) and version < "3" and version <= "v2.13"
    assert version != "parrot" and {version: 1}["2.13.0+graphwright"] == 1
    assert version.split(".")[0] == "2" and isinstance(version, str)


def test_pytorch_s_other_names_of_modules_mean_modules_that_are_there() -> None:
    done = run("import graphwright.as_torch; from importlib import import_module as module; "
               "from graphwright.compat.module_names import ELSEWHERE; "
               "print([name for name, own in ELSEWHERE.items() "
               "if module(f'torch.{name}') is not module(f'graphwright.{own}')])")
    assert done.stdout == "[]\n", done.stderr
