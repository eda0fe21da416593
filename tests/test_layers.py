"""The layers import downwards only:
runtime <- the libraries <- ir <- (capture | codegen | fx) <- the face."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import networkx
import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src"
LIBRARIES = {
    *("_higher_order_ops", "_lowrank", "accelerator", "amp", "autograd", "backends"),
    *("compat", "cpu", "cuda", "distributed", "distributions", "fft", "func", "functional"),
    *("library", "linalg", "masked", "mps", "mtia", "multiprocessing", "nn", "optim"),
    *("overrides", "profiler", "quasirandom", "random", "return_types", "saving"),
    *("serialization", "signal", "special", "testing", "types", "utils", "version", "xpu"),
}
"""Public modules that are written with ops alone."""
BELOW_IR = {"runtime", *LIBRARIES}
ALLOWED = {
    "runtime": {"runtime"},
    **dict.fromkeys(LIBRARIES, BELOW_IR),
    "ir": {*BELOW_IR, "ir"},
    "capture": {*BELOW_IR, "ir", "capture"},
    "codegen": {*BELOW_IR, "ir", "codegen"},
    "fx": {*BELOW_IR, "ir", "fx"},
}
PHASES = ("runtime", "ir", "capture", "codegen")
MODULES = sorted((SOURCE / "graphwright").rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> set[str]:
    """Modules of ours that the file names in imports that run when it is imported."""
    tree = ast.parse(path.read_text())
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    names: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                names.add(full if full in KNOWN else str(node.module))
    return {name for name in names if name.split(".")[0] == "graphwright"}


KNOWN = {module_name(path) for path in MODULES}


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_layers_import_downwards_only(path: Path) -> None:
    layer = path.relative_to(SOURCE / "graphwright").parts[0].removesuffix(".py")
    if layer not in ALLOWED:
        return
    for name in imports(path):
        parts = name.split(".")
        assert len(parts) > 1, f"{path} imports the package's face"
        assert parts[1] in ALLOWED[layer], f"{path} imports {name}"


def test_no_import_cycles() -> None:
    graph = networkx.DiGraph()
    for path in MODULES:
        own = module_name(path)
        graph.add_edges_from((own, name) for name in imports(path) if name != own)
    cycles = [sorted(group) for group in networkx.strongly_connected_components(graph)
              if len(group) > 1]
    assert cycles == []


LARGEST_KNOT = 77
"""Modules that cannot be read one after the other: each leads to all others of them."""


def test_the_largest_knot_does_not_grow() -> None:
    """Imports for annotations, in functions and by string are counted as well."""
    graph = networkx.DiGraph()
    for path in MODULES:
        own = module_name(path)
        for node in ast.walk(ast.parse(path.read_text())):
            names: list[str] = []
            if isinstance(node, ast.ImportFrom):
                full = [f"{node.module}.{alias.name}" for alias in node.names]
                names = [name if name in KNOWN else str(node.module) for name in full]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                names = [node.value] if "." in node.value else []
            graph.add_edges_from((own, name) for name in names if name in KNOWN - {own})
    knots = sorted(networkx.strongly_connected_components(graph), key=len, reverse=True)
    print(f"largest knots: {[len(knot) for knot in knots[:5]]}; of the first:", *sorted(knots[0]))
    assert len(knots[0]) <= LARGEST_KNOT


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_the_links_at_the_root_are_never_imported() -> None:
    code = "import graphwright, sys; print([m for m in LAYERS if m in sys.modules])"
    assert run(code.replace("LAYERS", str(sorted(PHASES)))).strip() == "[]"


HEAVY = ("llvmlite", "cffi", "networkx", "rich", "bytecode", "triton", "torch", "jax", "cupy",
         "safetensors", "scipy", "matplotlib")


def test_heavy_libraries_are_imported_when_first_needed() -> None:
    code = f"import graphwright, sys; print([m for m in {HEAVY} if m in sys.modules])"
    assert run(code).strip() == "[]"


FIRST_CALL = """
import sys
import graphwright as gw
before = set(sys.modules)
compiled = gw.compile(gw.nn.Sequential(gw.nn.Linear(4, 4), gw.nn.ReLU()), backend="llvm")
with gw.no_grad():
    compiled(gw.ones(2, 4))
print([m for m in NAMES if m in set(sys.modules) - before])
"""


def test_a_warm_first_call_imports_nothing_that_only_builds_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GRAPHWRIGHT_CACHE_DIR", str(tmp_path))
    emitter = "graphwright.codegen.emit.llvm"
    names = (*HEAVY, emitter, "dataclasses", "pathlib", "subprocess", "tempfile")
    assert emitter in run(FIRST_CALL.replace("NAMES", str(names)))
    assert run(FIRST_CALL.replace("NAMES", str(names))).strip() == "[]"


@pytest.mark.parametrize("name", PHASES)
def test_the_root_shows_the_pipeline(name: str) -> None:
    link = SOURCE.parent / name
    assert link.is_symlink()
    assert link.readlink() == Path("src/graphwright") / name
