r"""Create (or refresh) a virtual environment and build graphwright into it.

    python tools/environment.py .venv --extras dev,bench [--rebuild] \
        [--libraries .venv-libraries [--listed tools/ecosystem.txt]]

Stamps in the environment remember what was installed and built: a second call with nothing changed
returns at once, one with other extras compiles nothing again. Needs only the standard library,
Python 3.11+ and a C compiler.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD_TOOLS = ["setuptools>=77", "wheel", "numpy>=2.0"]


def digest(extras: str) -> str:
    """What decides whether the environment is up to date: extras, packaging and C sources."""
    sha = hashlib.sha256(f"{extras} {sys.version} {ROOT}".encode())
    sources = [ROOT / "pyproject.toml", ROOT / "setup.py"]
    for suffix in ("c", "h"):
        sources += sorted((ROOT / "src").rglob(f"*.{suffix}"))
    for path in sources:
        sha.update(path.read_bytes())
    return sha.hexdigest()


def requirements(extras: str) -> list[str]:
    """What the extras need, as pyproject.toml has it."""
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [need for extra in extras.split(",") if extra
            for need in known["optional-dependencies"][extra]]


def run(*command: str) -> None:
    """Run a command in the project's root; stop with its exit status where it fails."""
    finished = subprocess.run(command, cwd=ROOT, check=False)
    if finished.returncode:
        print(f"failed: {' '.join(command)}", file=sys.stderr)
        raise SystemExit(finished.returncode)


def ensure(folder: Path, extras: str, rebuild: bool = False) -> Path:
    """The environment's python, after installing graphwright (editable) with `extras`."""
    python = folder / "bin" / "python"
    stamp = folder / f"graphwright-{extras.replace(',', '-')}.stamp"
    built, sources = folder / "graphwright-built.stamp", digest("")
    wanted = digest(extras)
    if not rebuild and stamp.exists() and stamp.read_text() == wanted:
        return python
    if not python.exists():
        print(f"creating {folder}", flush=True)
        venv.create(folder, with_pip=True)
    pip = (str(python), "-m", "pip", "--disable-pip-version-check", "install", "-q")
    if not rebuild and built.exists() and built.read_text() == sources:
        if extras:
            print(f"installing what is needed for {extras}", flush=True)
            run(*pip, *requirements(extras))
    else:
        print("installing the build tools, building, installing the dependencies", flush=True)
        run(*pip, *BUILD_TOOLS)
        run(str(python), "setup.py", "-q", "build_ext", "--inplace")
        run(*pip, "--no-build-isolation", "-e", f".[{extras}]" if extras else ".")
        built.write_text(sources)
    stamp.write_text(wanted)
    return python


def ensure_libraries(python: Path, folder: Path, listed: Path) -> None:
    """The libraries that a file pins, in a folder of their own, without what they ask for."""
    stamp, wanted = folder / "libraries.stamp", f"{sys.version}\n{listed.read_text()}"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"installing the libraries of {listed.name} into {folder}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    run(str(python), "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-deps",
        "--target", str(folder), "-r", str(listed))
    stamp.write_text(wanted)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--extras", default="")
    parser.add_argument("--rebuild", action="store_true")
    parser.add_argument("--libraries", type=Path, metavar="FOLDER",
                        help="also install what a file lists, into this folder")
    parser.add_argument("--listed", type=Path, default=Path("tools/ecosystem.txt"),
                        help="the file, by default tools/ecosystem.txt")
    arguments = parser.parse_args()
    if sys.version_info < (3, 11):  # noqa: UP036 - says so instead of failing later
        raise SystemExit("graphwright needs Python 3.11 or newer: make PYTHON=python3.12 ...")
    folder = arguments.folder if arguments.folder.is_absolute() else ROOT / arguments.folder
    python = ensure(folder, arguments.extras, arguments.rebuild)
    if arguments.libraries is not None:
        ensure_libraries(python, ROOT / arguments.libraries, ROOT / arguments.listed)


if __name__ == "__main__":
    main()
