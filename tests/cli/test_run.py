"""`graphwright run`: as under Python, but that `import torch` gives graphwright."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SURVEY = '''"""About it."""
import sys
main = sys.modules["__main__"]
names = ("__name__", "__doc__", "__file__", "__package__", "__cached__")
print(sys.argv, sys.path[0], main.__dict__ is globals(), [globals()[name] for name in names])
print(__spec__ and __spec__.name, sorted(name for name in globals() if name.startswith("__")))
print(len(sys.stdin.read()))
class Kept:
    pass
import pickle
assert isinstance(pickle.loads(pickle.dumps(Kept())), Kept)
raise SystemExit(7)
'''


def python(folder: Path, *words: str, text: str = "in") -> tuple[int, str, str]:
    """The exit status, what was printed, and the errors of a program that runs in `folder`."""
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=folder,
                          input=text, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    return done.returncode, done.stdout, done.stderr


def run(folder: Path, *words: str, text: str = "in") -> tuple[int, str, str]:
    return python(folder, "-m", "graphwright", "run", *words, text=text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    for name in ("script.py", "package/__main__.py"):
        (tmp_path / name).write_text(SURVEY)
    with zipfile.ZipFile(tmp_path / "program.zip", "w") as archive:
        archive.writestr("__main__.py", SURVEY)
    return tmp_path


@pytest.mark.parametrize("words", [
    ("script.py", "--compile", "-m", "x"), ("-m", "package", "a"), ("package", "a"),
    ("program.zip",), ("-", "b"),
], ids=lambda words: words[0] if words[0] != "-" else "standard input")
def test_a_program_sees_what_python_would_show_it(folder: Path, words: tuple[str, ...]) -> None:
    text = SURVEY if words[0] == "-" else "in"
    assert run(folder, *words, text=text) == python(folder, *words, text=text)


def test_an_exception_is_shown_without_frames_of_the_runner(tmp_path: Path) -> None:
    (tmp_path / "fails.py").write_text("def f():\n    return 1 / 0\n\n\nf()\n")
    assert run(tmp_path, "fails.py") == python(tmp_path, "fails.py")
    (tmp_path / "syntax.py").write_text("x = = 1\n")
    assert run(tmp_path, "syntax.py") == python(tmp_path, "syntax.py")


def test_an_interrupted_program_ends_as_under_python(tmp_path: Path) -> None:
    (tmp_path / "stops.py").write_text("import atexit\natexit.register(print, 'last')\n"
                                       "raise KeyboardInterrupt\n")
    status, printed, errors = run(tmp_path, "stops.py")
    assert (status, printed) == (-signal.SIGINT, "last\n")
    assert errors.endswith("raise KeyboardInterrupt\nKeyboardInterrupt\n")
    assert errors.count("File ") == 1


@pytest.mark.parametrize(("words", "status", "told"), [
    (("nope.py",), 2, "cannot open nope.py: No such file or directory"),
    (("empty",), 1, "empty has no __main__.py"),
    (("-m", "no_such.module"), 1, "there is no module no_such.module to run"),
    ((), 2, "run: no program was given"),
    (("--torch-version", "new", "script.py"), 2, "'new' is not the version of a PyTorch release"),
])
def test_what_cannot_be_run_is_told_in_a_line(
    folder: Path, words: tuple[str, ...], status: int, told: str
) -> None:
    (folder / "empty").mkdir()
    found, printed, errors = run(folder, *words)
    assert (found, printed) == (status, "")
    assert errors.startswith(f"graphwright: {told}") and "Traceback" not in errors


TRAINED = '''
import sys, torch
from torch import nn

class Block(nn.Module):
    def __init__(self, factor, width):
        super().__init__()
        self.factor, self.linear = factor, nn.Linear(width, width)

    def forward(self, x):
        return torch.relu(self.linear(x)) * self.factor + x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(i, 8) for i in range(4)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x

class Own(nn.Module):
    def __call__(self, x):
        return super().__call__(x) + 1

    def forward(self, x):
        return x * 2

@torch.jit.script
def scaled(x):
    return x * 3

assert scaled(torch.ones(2)).tolist() == [3.0, 3.0]
torch.manual_seed(0)
net, x = Net(), torch.randn(4, 8)
print(net(x).sum().item(), Net()(x).shape, Own()(torch.ones(2)))
print([block(x).shape for block in net.blocks], Block(2, 3)(torch.ones(5, 3)).shape)
torch.nope if hasattr(torch, "nope") else None
if sys.argv[1:]:
    for kind in (Net, Block, nn.Linear, nn.ReLU, Own):
        print(kind.__name__, torch.compiler.stats(kind.__call__))
    print("script", torch.compiler.stats(scaled))
'''


def test_compile_compiles_each_class_once_where_plain_code_calls_it(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(TRAINED)
    status, printed, errors = run(tmp_path, "--compile", "--report", "net.py", "stats")
    assert status == 0, errors
    shown = dict(line.split(" ", 1) for line in printed.splitlines()[-6:])
    # Instances share code: one version for the first block, for other factors, for other widths.
    assert shown["Net"].startswith("Stats(graphs=1, breaks=0, fallbacks=0, recompiles=0")
    assert shown["Block"].startswith("Stats(graphs=3, breaks=0, fallbacks=0, recompiles=2")
    assert shown["Own"].startswith("Stats(graphs=1, breaks=0")
    assert shown["script"].startswith("Stats(graphs=1, breaks=0")
    # What only compiled code calls is part of its graph.
    assert shown["Linear"].startswith("Stats(graphs=0, breaks=0")
    line = TRAINED.partition("torch.nope")[0].count("\n") + 1
    assert errors.endswith("asked for, and not in graphwright:\n"
                           f"  torch.nope: {tmp_path / 'net.py'}:{line}\n")
    plain = run(tmp_path, "net.py")
    assert plain[0] == 0 and plain[1].splitlines()[1:] == printed.splitlines()[1:2]
    eager, compiled = (float(text.split()[0]) for text in (plain[1], printed))
    assert eager == pytest.approx(compiled, rel=1e-5)
